//! Removes guards that follow from guards before them (correlated branches; Mueller and Whalley,
//! "Avoiding Conditional Branches by Code Replication", 1995).
//!
//! In: fast functions. Out: the same, without exits and branches that the exits and branches above
//! them decide. A condition that they decide in part is computed of the rest.
//!
//! ```text
//! exit a (eq %s, 0)                      exit a (eq %s, 0)
//! exit b (or (eq %s, 0), %x)       =>    exit b %x
//! exit c (slt 0, %n)                     exit c (slt 0, %n)
//! exit d (slt %n, 0)                     exit d (ne %n, 0)
//! exit e (ult %n, %m)                    exit e (ult 0, %m)
//! ```
//!
//! A bit is decided if the other outcome contradicts a guard above (`facts.rs`). Guards write
//! nothing, so a condition may be computed again where it is asked.

use super::facts::Facts;
use crate::ir::definitions::Definitions;
use crate::ir::graph::Graph;
use crate::ir::op::{Compare, Op};
use crate::ir::{BlockId, Function, Instruction, Terminator, Type, Value};
use crate::source::Span;
use std::collections::BTreeMap;

/// A condition is simplified in so many of its operations at most.
const LARGEST: usize = 100;

/// Removes implied guards of a function, and computes conditions of what no guard above decides.
pub fn simplified(function: &Function) -> Function {
    let graph = Graph::of(function).expect("the verifier passes acyclic graphs alone");
    let below = graph.below();
    let mut work = Work {
        old: function,
        definitions: Definitions::of(function),
        new: function.clone(),
    };
    let only = only_edges(function);
    let mut open = vec![(BlockId(0), Facts::default())];
    while let Some((id, mut facts)) = open.pop() {
        if !work.block(id, &mut facts) {
            continue;
        }
        for next in &below[id.at()] {
            let mut facts = facts.clone();
            if let Some((bit, holds)) = only[next.at()] {
                facts.learn(&work.definitions, bit, holds);
            }
            open.push((*next, facts));
        }
    }
    work.new
}

/// By block: the condition under which the one edge to it is taken, if that is an edge of a branch.
fn only_edges(function: &Function) -> Vec<Option<(Value, bool)>> {
    let edges = function.edges_into();
    let mut only = vec![None; function.blocks.len()];
    for (_, block) in function.all_blocks() {
        if let Terminator::Branch {
            condition,
            then,
            otherwise,
            ..
        } = &block.terminator
        {
            only[then.block.at()] = Some((*condition, true));
            only[otherwise.block.at()] = Some((*condition, false));
        }
    }
    let both = only.into_iter().zip(edges);
    both.map(|(only, edges)| only.filter(|_| edges == 1))
        .collect()
}

/// A function that is being rewritten.
struct Work<'f> {
    old: &'f Function,
    definitions: Definitions<'f>,
    new: Function,
}

impl Work<'_> {
    /// Simplifies the conditions of a block, and learns from its exits. False if it always leaves.
    fn block(&mut self, id: BlockId, facts: &mut Facts) -> bool {
        let old = self.old.block(id);
        let mut all = Vec::new();
        for instruction in &old.instructions {
            let mut instruction = instruction.clone();
            if matches!(instruction.op, Op::Exit(_)) {
                let bit = instruction.operands[0];
                let leaves = self.condition(facts, bit, instruction.span, &mut all);
                instruction.operands = vec![leaves];
                if facts.decided(&self.definitions, bit) == Some(true) {
                    all.push(instruction);
                    self.new.blocks[id.at()].instructions = all;
                    self.new.blocks[id.at()].terminator = Terminator::Never;
                    return false;
                }
                let is_implied = facts.decided(&self.definitions, bit).is_some();
                facts.learn(&self.definitions, bit, false);
                if is_implied {
                    continue;
                }
            } else if !instruction.op.is_total() {
                self.operands(facts, &mut instruction, &mut all);
            }
            all.push(instruction);
        }
        if let Terminator::Branch { condition, .. } = &old.terminator {
            let simpler = self.condition(facts, *condition, old.span, &mut all);
            if let Terminator::Branch { condition, .. } = &mut self.new.blocks[id.at()].terminator {
                *condition = simpler;
            }
        }
        self.new.blocks[id.at()].instructions = all;
        true
    }

    /// A bit, computed of what the facts do not decide; new instructions go behind `all`.
    fn condition(
        &mut self,
        facts: &mut Facts,
        bit: Value,
        span: Option<Span>,
        all: &mut Vec<Instruction>,
    ) -> Value {
        let mut simpler = Simpler {
            work: self,
            facts,
            span,
            all,
            refutes: true,
            known: BTreeMap::new(),
            seen: 0,
        };
        let value = simpler.value(bit);
        match self.definitions.get(bit) {
            Some(one) if value == bit && facts.is_not_above(one) => {
                let operands = one.operands.clone();
                self.instruction(Op::Compare(Compare::Ne), operands, (Type::BIT, span), all)
            }
            _ => value,
        }
    }

    /// The operands of an operation that has an effect, computed of what the facts do not decide.
    fn operands(
        &mut self,
        facts: &mut Facts,
        instruction: &mut Instruction,
        all: &mut Vec<Instruction>,
    ) {
        let mut simpler = Simpler {
            work: self,
            facts,
            span: instruction.span,
            all,
            refutes: false,
            known: BTreeMap::new(),
            seen: 0,
        };
        for operand in &mut instruction.operands {
            *operand = simpler.value(*operand);
        }
    }

    fn instruction(
        &mut self,
        op: Op,
        operands: Vec<Value>,
        (of, span): (Type, Option<Span>),
        all: &mut Vec<Instruction>,
    ) -> Value {
        let value = self.new.define(of);
        all.push(Instruction {
            op,
            operands,
            results: vec![value],
            span,
        });
        value
    }
}

/// A condition that is being simplified.
struct Simpler<'s, 'f> {
    work: &'s mut Work<'f>,
    facts: &'s mut Facts,
    span: Option<Span>,
    all: &'s mut Vec<Instruction>,
    /// Bits are refuted, too, and not only computed.
    refutes: bool,
    /// By value: the same, simplified.
    known: BTreeMap<Value, Value>,
    seen: usize,
}

impl Simpler<'_, '_> {
    fn value(&mut self, value: Value) -> Value {
        if let Some(known) = self.known.get(&value) {
            return *known;
        }
        self.seen += 1;
        let of = self.work.old.type_of(value);
        let instruction = self.work.definitions.get(value);
        let Some(instruction) = instruction.filter(|_| self.seen < LARGEST) else {
            return value;
        };
        let number = match of {
            _ if matches!(instruction.op, Op::Number(..)) => None,
            Type::BIT if self.refutes => {
                let decided = self.facts.decided(&self.work.definitions, value);
                if let Some(holds) = decided {
                    self.facts.note(&self.work.definitions, value, holds);
                }
                decided.map(u64::from)
            }
            Type::Int(_) => self.facts.number(&self.work.definitions, value),
            _ => None,
        };
        let simpler = match (number, of) {
            (Some(number), Type::Int(bits)) => self.put(Op::Number(bits, number), Vec::new(), of),
            _ if self.facts.same(value) != value => self.facts.same(value),
            _ if !instruction.op.is_total() => value,
            _ => {
                let operands = instruction.operands.iter();
                let operands: Vec<Value> = operands.map(|one| self.value(*one)).collect();
                match operands == instruction.operands || instruction.results.len() != 1 {
                    true => value,
                    false => self.put(instruction.op.clone(), operands, of),
                }
            }
        };
        self.known.insert(value, simpler);
        simpler
    }

    fn put(&mut self, op: Op, operands: Vec<Value>, of: Type) -> Value {
        let context = (of, self.span);
        self.work.instruction(op, operands, context, self.all)
    }
}
