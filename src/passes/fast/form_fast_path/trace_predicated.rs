//! If-conversion: a pure function whose ways differ in values alone is evaluated without a branch
//! (Allen, Kennedy, Porterfield and Warren, "Conversion of Control Dependence", 1983).
//!
//! Each block has a predicate, the bit that says whether control comes there; a parameter of a
//! block is a choice among what its edges give, by their predicates. Everything is evaluated, so
//! an operation that may trap stands only where control always comes, or where the guard has proven
//! that it does not (`trace_bounds.rs`).

use super::path::{Key, Known, Path};
use super::trace::{SELDOM, Trace};
use crate::ir::effects::{Effects, may_trap};
use crate::ir::graph::Graph;
use crate::ir::op::{Arithmetic, Op};
use crate::ir::{
    Block, BlockId, Edge, FunctionId, Instruction, Probability, Terminator, Type, Value,
};
use std::collections::BTreeMap;

/// A function of more operations is not converted.
const LONGEST: usize = 60;

/// A share is that of an edge that is an exit.
fn is_seldom(share: Probability) -> bool {
    u64::from(share.0) < SELDOM
}

/// A way to a block: the bit that says whether control takes it, and what it gives.
type Way = (Option<Value>, Vec<Key>);

impl Trace<'_> {
    /// Evaluates a pure function without a branch; its results. None, and nothing is known more
    /// than before, if that cannot be. Unless control is `sure` to come there, nothing in it traps.
    pub fn predicated(
        &mut self,
        path: &mut Path,
        (id, arguments): (FunctionId, &[Key]),
        sure: bool,
    ) -> Option<Vec<Key>> {
        let function = self.module.function(id);
        if function.instructions().count() > LONGEST {
            return None;
        }
        let mut inside = path.clone();
        inside.enter(id, function.parameters(), arguments);
        let graph = Graph::of(function).expect("the verifier passes acyclic graphs alone");
        let mut ways: BTreeMap<BlockId, Vec<Way>> = BTreeMap::new();
        let mut returns: Vec<Way> = Vec::new();
        for at in graph.order {
            let block = function.block(at);
            let bit = match ways.remove(&at) {
                None => None,
                Some(all) => self.meet(&mut inside, at, all)?,
            };
            for instruction in &block.instructions {
                let sure = sure && bit.is_none();
                if self.expands(&mut inside, instruction, sure) {
                    continue;
                }
                if !sure && !self.is_safe(&mut inside, instruction) {
                    return None;
                }
                self.instruction(&mut inside, instruction);
            }
            let mut goes = |path: &Path, edge: &Edge, bit: Option<Value>| {
                let given = edge.arguments.iter().map(|one| path.key(*one)).collect();
                ways.entry(edge.block).or_default().push((bit, given));
            };
            match &block.terminator {
                Terminator::Jump(edge) => goes(&inside, edge, bit),
                Terminator::Branch {
                    condition,
                    then,
                    otherwise,
                    ..
                } => {
                    let holds = inside.now(inside.key(*condition))?;
                    let not = self.evaluate(&mut inside, Op::Not, &[holds]);
                    for (edge, own) in [(then, holds), (otherwise, not)] {
                        let bit = match bit {
                            Some(bit) => self.both(&mut inside, bit, own),
                            None => own,
                        };
                        goes(&inside, edge, Some(bit));
                    }
                }
                Terminator::Return(values) => {
                    let values = values.iter().map(|one| inside.key(*one)).collect();
                    returns.push((bit, values));
                }
                Terminator::Never => {}
                Terminator::Switch { .. }
                | Terminator::Try { .. }
                | Terminator::Tail(..)
                | Terminator::Take(_) => return None,
            }
        }
        let results = self.chosen(&mut inside, returns)?;
        (inside.function, inside.frame) = (path.function, path.frame);
        *path = inside;
        Some(results)
    }

    /// A branch behind one side of which another is decided, whose other side they share: `a and b`
    /// of which the second part alone says how likely it is. Both parts are asked at once, if the
    /// second is safe to be asked always. The path that goes on, and the block where.
    pub fn short_circuit(
        &mut self,
        path: &Path,
        at: BlockId,
        bit: Value,
    ) -> Option<(Path, BlockId)> {
        let function = self.module.function(path.function);
        let Terminator::Branch {
            then,
            otherwise,
            likely,
            ..
        } = &function.block(at).terminator
        else {
            return None;
        };
        let known = self.folded.number(bit).is_some() || path.bits.contains_key(&bit);
        if known || *likely != Probability::EVEN {
            return None;
        }
        let sides = [(then, otherwise, true), (otherwise, then, false)];
        sides.into_iter().find_map(|(side, shared, holds)| {
            let block = function.block(side.block);
            let Terminator::Branch {
                condition,
                likely,
                then,
                otherwise,
            } = &block.terminator
            else {
                return None;
            };
            let (leaves, seldom) = match (then == shared, otherwise == shared) {
                (false, true) => (then, *likely),
                (true, false) => (otherwise, likely.other()),
                _both => return None,
            };
            if !is_seldom(seldom) || !block.parameters.is_empty() {
                return None;
            }
            let mut inside = path.clone();
            self.always(&mut inside, &block.instructions)?;
            let second = inside.now(inside.key(*condition))?;
            let parts = [(bit, holds), (second, leaves == then)].map(|(bit, holds)| match holds {
                true => bit,
                false => self.evaluate(&mut inside, Op::Not, &[bit]),
            });
            let both = self.both(&mut inside, parts[0], parts[1]);
            let name = self.naming.of(function, leaves.block, *condition);
            self.exit(&mut inside, name, both, false);
            let next = self.follow(&mut inside, shared, &[]);
            Some((inside, next))
        })
    }

    /// Evaluates instructions that need not be reached; none if one of them changes something, or
    /// may trap.
    fn always(&mut self, path: &mut Path, instructions: &[Instruction]) -> Option<()> {
        for instruction in instructions {
            if self.expands(path, instruction, false) {
                continue;
            }
            if let Some((id, arguments, results)) = self.traced(path, instruction) {
                let values = self.predicated(path, (id, &arguments), false)?;
                let values = results.iter().zip(values);
                values.for_each(|(one, value)| path.alias(*one, value));
                continue;
            }
            let is_pure = Effects::of(self.module, &instruction.op).are_none();
            if !is_pure || !self.is_safe(path, instruction) {
                return None;
            }
            self.instruction(path, instruction);
        }
        Some(())
    }

    /// The ways to a block meet: its parameters, and the bit that says whether control comes
    /// there.
    fn meet(&mut self, path: &mut Path, at: BlockId, ways: Vec<Way>) -> Option<Option<Value>> {
        let mut bits = ways.iter().map(|(bit, _)| *bit);
        let mut bit = bits.next()?;
        for other in bits {
            bit = match (bit, other) {
                (Some(one), Some(other)) => {
                    Some(self.evaluate(path, Op::Arithmetic(Arithmetic::Or), &[one, other]))
                }
                _always => None,
            };
        }
        let bit = bit.filter(|bit| self.folded.number(*bit) != Some(1));
        let given = self.chosen(path, ways)?;
        let function = self.module.function(path.function);
        path.receive(&function.block(at).parameters, &given);
        Some(bit)
    }

    /// Of what several ways give, that of the one that is taken.
    fn chosen(&mut self, path: &mut Path, ways: Vec<Way>) -> Option<Vec<Key>> {
        let mut ways = ways.into_iter().rev();
        let (_, mut given) = ways.next()?;
        for (bit, others) in ways {
            let bit = bit?;
            for (own, other) in given.iter_mut().zip(others) {
                if path.first(*own) == path.first(other) {
                    continue;
                }
                let (one, two) = (path.now(other)?, path.now(*own)?);
                let value = self.evaluate(path, Op::Select, &[bit, one, two]);
                *own = path.own(Known::Now(value));
            }
        }
        Some(given)
    }

    fn both(&mut self, path: &mut Path, one: Value, other: Value) -> Value {
        self.evaluate(path, Op::Arithmetic(Arithmetic::And), &[one, other])
    }

    /// Returns true if an operation may be evaluated where control does not come: it cannot trap.
    /// Bytes are there if the view has a constant length, or the frame is proven to be so long.
    pub fn is_safe(&mut self, path: &mut Path, instruction: &Instruction) -> bool {
        let op = &instruction.op;
        let numbers = |trace: &Self, path: &Path, at: usize| {
            let value = path.now(path.key(instruction.operands[at]))?;
            trace.folded.number(value)
        };
        match op {
            Op::Read(bits) => {
                let Known::View(view) = path.known(path.key(instruction.operands[0])) else {
                    return false;
                };
                let end = numbers(self, path, 1).map(|at| at + u64::from(bits.bytes()));
                end.is_some_and(|end| self.is_in_frame(path, view, end))
            }
            Op::At(_) => {
                let Some(index) = path.now(path.key(instruction.operands[0])) else {
                    return false;
                };
                let of_instance = |(index, of): &(Op, Vec<Value>)| {
                    *index == Op::Index && matches!(self.build.type_of(of[0]), Type::Instance(_))
                };
                path.found.contains_key(&(op.clone(), vec![index]))
                    || self.folded.op(index).is_some_and(of_instance)
            }
            // An index may be in range only on the ways that lead there.
            Op::Load(_) | Op::Ask(..) => instruction.operands.len() <= 1,
            // A push is owed, and the guard only computes where the message begins.
            Op::Push => true,
            Op::Call(_) | Op::Loop(..) | Op::Foreign(..) => false,
            _ => !may_trap(op),
        }
    }

    /// Returns true if a function changes nothing, and gives a result for all arguments.
    pub fn is_total(&self, id: FunctionId) -> bool {
        let function = self.module.function(id);
        let stops =
            |block: &Block| matches!(block.terminator, Terminator::Try { .. } | Terminator::Never);
        let is_total = |one: &Instruction| match one.op {
            Op::Load(_) | Op::Ask(..) => one.operands.len() <= 1,
            Op::Call(_) | Op::Loop(..) | Op::Foreign(..) => false,
            _ => !may_trap(&one.op),
        };
        self.effects[id.at()].are_none()
            && !function.blocks.iter().any(stops)
            && function.instructions().all(is_total)
    }
}
