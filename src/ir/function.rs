//! Functions: blocks, instructions, terminators.

use super::ids::{BlockId, FunctionId, KindId, Value};
use super::op::{Attempt, Event, Op};
use super::types::Type;
use crate::source::Span;
use std::collections::BTreeSet;

/// A function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Function {
    /// Its name, unique in the module.
    pub name: String,
    /// The layer for which it stands.
    pub owner: String,
    /// Its role.
    pub role: Role,
    /// True if an event for it always has a place on the agenda.
    pub kept: bool,
    /// The fast function that is tried first, of a reaction that has one.
    pub fast: Option<FunctionId>,
    /// The types of its results.
    pub results: Vec<Type>,
    /// All values; [`Value`] is an index of this table.
    pub values: Vec<Definition>,
    /// All blocks; the first is where it begins. [`BlockId`] is an index of this table.
    pub blocks: Vec<Block>,
    /// Its place in the sources.
    pub span: Option<Span>,
}

/// The role of a function: who runs it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// It is called.
    Plain,
    /// It is called, and changes nothing.
    Pure,
    /// An event starts it.
    Reaction,
    /// It is called by the host's side of the stack, outside of a reaction.
    Entry,
    /// It is tried before a reaction, and has a guard.
    Fast,
}

/// A value: its type, and a hint for its name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Definition {
    /// Its type.
    pub of: Type,
    /// A word of the source that names it; empty if there is none.
    pub hint: String,
}

/// A block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Block {
    /// The values that its edges give.
    pub parameters: Vec<Value>,
    /// Its instructions, in order.
    pub instructions: Vec<Instruction>,
    /// Its end.
    pub terminator: Terminator,
    /// The place of its end in the sources.
    pub span: Option<Span>,
}

/// An instruction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Instruction {
    /// The operation.
    pub op: Op,
    /// Its operands.
    pub operands: Vec<Value>,
    /// Its results.
    pub results: Vec<Value>,
    /// Its place in the sources.
    pub span: Option<Span>,
}

impl Instruction {
    /// Returns an instruction without a place in the sources.
    pub fn new(op: Op, operands: &[Value], results: &[Value]) -> Instruction {
        Instruction {
            op,
            operands: operands.to_vec(),
            results: results.to_vec(),
            span: None,
        }
    }
}

/// A share between 0 and 1 in units of a millionth.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Probability(pub u32);

impl Probability {
    /// One edge is as likely as the other.
    pub const EVEN: Probability = Probability(500_000);
    /// Always.
    pub const ONE: Probability = Probability(1_000_000);

    /// That of the other edge.
    pub fn other(self) -> Probability {
        Probability(1_000_000_u32.saturating_sub(self.0))
    }
}

/// An edge to a block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edge {
    /// The block.
    pub block: BlockId,
    /// Values of its first parameters. Behind a `try` the results are those of the rest.
    pub arguments: Vec<Value>,
}

impl Edge {
    /// An edge that gives nothing.
    pub fn to(block: BlockId) -> Edge {
        let arguments = Vec::new();
        Edge { block, arguments }
    }
}

/// The end of a block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Terminator {
    /// One way.
    Jump(Edge),
    /// Two ways, by a bit.
    Branch {
        /// The bit.
        condition: Value,
        /// The share of runs in which it is 1.
        likely: Probability,
        /// If it is 1.
        then: Edge,
        /// If it is 0.
        otherwise: Edge,
    },
    /// Many ways, by a number.
    Switch {
        /// The number.
        value: Value,
        /// The ways, their numbers distinct.
        cases: Vec<(u64, Probability, Edge)>,
        /// All other numbers.
        otherwise: Edge,
    },
    /// Something that may fail. Its results are the last parameters of the block behind `done`;
    /// messages that come back are those of the block behind `failed`.
    Try {
        /// The operation.
        attempt: Attempt,
        /// Its operands.
        operands: Vec<Value>,
        /// The share of runs in which it succeeds.
        likely: Probability,
        /// If it succeeds.
        done: Edge,
        /// If it fails.
        failed: Edge,
    },
    /// The function returns.
    Return(Vec<Value>),
    /// The reaction ends, and this event is handled within the same step.
    Tail(Event, Vec<Value>),
    /// The reaction ends. If something was put on the agenda since a mark, the first of it is
    /// handled within the same step.
    Take(Value),
    /// Control never comes here.
    Never,
}

impl Terminator {
    /// Its edges, in order.
    pub fn edges(&self) -> Vec<&Edge> {
        match self {
            Terminator::Jump(edge) => vec![edge],
            Terminator::Branch {
                then: one,
                otherwise: other,
                ..
            }
            | Terminator::Try {
                done: one,
                failed: other,
                ..
            } => vec![one, other],
            Terminator::Switch {
                cases, otherwise, ..
            } => {
                let cases = cases.iter().map(|(_, _, edge)| edge);
                cases.chain([otherwise]).collect()
            }
            Terminator::Return(_)
            | Terminator::Tail(..)
            | Terminator::Take(_)
            | Terminator::Never => Vec::new(),
        }
    }

    /// Its edges, to be changed.
    pub fn edges_mut(&mut self) -> Vec<&mut Edge> {
        match self {
            Terminator::Jump(edge) => vec![edge],
            Terminator::Branch {
                then: one,
                otherwise: other,
                ..
            }
            | Terminator::Try {
                done: one,
                failed: other,
                ..
            } => vec![one, other],
            Terminator::Switch {
                cases, otherwise, ..
            } => {
                let cases = cases.iter_mut().map(|(_, _, edge)| edge);
                cases.chain([otherwise]).collect()
            }
            Terminator::Return(_)
            | Terminator::Tail(..)
            | Terminator::Take(_)
            | Terminator::Never => Vec::new(),
        }
    }

    /// The values that it uses itself, without those of its edges.
    pub fn operands(&self) -> Vec<Value> {
        match self {
            Terminator::Jump(_) | Terminator::Never => Vec::new(),
            Terminator::Branch { condition, .. } => vec![*condition],
            Terminator::Switch { value, .. } | Terminator::Take(value) => vec![*value],
            Terminator::Try { operands, .. }
            | Terminator::Return(operands)
            | Terminator::Tail(_, operands) => operands.clone(),
        }
    }

    /// All values that it uses, its own first.
    pub fn uses(&self) -> Vec<Value> {
        let mut uses = self.operands();
        uses.extend(self.edges().into_iter().flat_map(|edge| &edge.arguments));
        uses
    }
}

impl Block {
    /// The index of its commit, if one stands in it.
    pub fn commit(&self) -> Option<usize> {
        self.instructions
            .iter()
            .position(|one| one.op == Op::Commit)
    }
}

impl Function {
    /// Its parameters: those of its first block.
    pub fn parameters(&self) -> &[Value] {
        &self.blocks[0].parameters
    }

    /// Returns the blocks that are reached from one, with that.
    pub fn behind(&self, first: BlockId) -> BTreeSet<BlockId> {
        let mut open = vec![first];
        let mut seen = BTreeSet::new();
        while let Some(id) = open.pop() {
            if seen.insert(id) {
                let edges = self.block(id).terminator.edges().into_iter();
                open.extend(edges.map(|edge| edge.block));
            }
        }
        seen
    }

    /// By block: the number of edges that lead to it.
    pub fn edges_into(&self) -> Vec<usize> {
        let mut edges = vec![0; self.blocks.len()];
        for edge in self.blocks.iter().flat_map(|one| one.terminator.edges()) {
            edges[edge.block.at()] += 1;
        }
        edges
    }

    /// Defines a new value without a name.
    pub fn define(&mut self, of: Type) -> Value {
        let hint = String::new();
        self.values.push(Definition { of, hint });
        Value(self.values.len() as u32 - 1)
    }

    /// The kind for whose instance it is, if it begins with the test whether the instance of its
    /// first parameter has a state. A commit may stand before.
    pub fn tests_live(&self) -> Option<KindId> {
        let block = &self.blocks[0];
        let Terminator::Try {
            attempt: Attempt::Live(kind),
            operands,
            done,
            ..
        } = &block.terminator
        else {
            return None;
        };
        let is_first = operands.first() == block.parameters.first();
        let mut before = block.instructions.iter();
        let is_bare = before.all(|one| one.op == Op::Commit) && done.arguments.is_empty();
        (is_first && is_bare).then_some(*kind)
    }

    /// Returns true if an event follows that is neither an output nor handled within the function.
    pub fn is_followed(&self) -> bool {
        let mut ends = self.blocks.iter().map(|block| &block.terminator);
        ends.any(|end| matches!(end, Terminator::Tail(..) | Terminator::Take(_)))
            || self
                .instructions()
                .any(|one| matches!(one.op, Op::Queue(..)))
    }

    /// The type of a value.
    pub fn type_of(&self, value: Value) -> Type {
        self.values[value.at()].of
    }

    /// A block.
    pub fn block(&self, id: BlockId) -> &Block {
        &self.blocks[id.at()]
    }

    /// All blocks with their indices.
    pub fn all_blocks(&self) -> impl Iterator<Item = (BlockId, &Block)> {
        let blocks = self.blocks.iter().enumerate();
        blocks.map(|(at, block)| (BlockId(at as u32), block))
    }

    /// All instructions, block by block.
    pub fn instructions(&self) -> impl Iterator<Item = &Instruction> {
        self.blocks.iter().flat_map(|block| &block.instructions)
    }
}
