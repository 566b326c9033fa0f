//! Blocks and their ends: a graph of blocks becomes statements in each other.
//!
//! A block stands in the block that dominates it: where the edge is, if there is but one, and else
//! behind it. So control falls from a block to the first join behind it; to any other it goes by a
//! label (Ramsey, "Beyond Relooper", 2022; graphs have no cycles here).

use super::super::prototype;
use super::Printer;
use super::plan::Standing;
use super::printer_attempts::Attempted;
use super::printer_bytes::Headers;
use super::printer_values::unasked;
use super::value::Given;
use crate::c::tree::{Expression as C, Statement as S, assign, atom, call_statement, leaves};
use crate::ir::op::Attempt;
use crate::ir::{Block, BlockId, Edge, Op, Role, Terminator, Type, Value};
use std::collections::BTreeMap;

impl Printer<'_> {
    /// The statements of the whole function.
    pub fn body(&mut self) -> Vec<S> {
        self.tree(BlockId(0), None)
    }

    /// A block and all that it dominates; control falls to `follow` at the end.
    fn tree(&mut self, id: BlockId, follow: Option<BlockId>) -> Vec<S> {
        let below = self.plan.below[id.at()].clone();
        let is_join = |block: &BlockId| self.plan.standing[block.at()] == Standing::Join;
        let joins: Vec<BlockId> = below.into_iter().filter(is_join).collect();
        let mut out = Vec::new();
        for join in &joins {
            self.open_join(*join, &mut out);
        }
        self.pointers.push(BTreeMap::new());
        out.extend(self.block(id, joins.first().copied().or(follow)));
        for (at, join) in joins.iter().enumerate() {
            let next = joins.get(at + 1).copied().or(follow);
            let inside = self.tree(*join, next);
            let label = self.labels[join.at()].as_ref();
            if let Some((label, 1..)) = label {
                out.push(S::Label(label.clone()));
            }
            out.extend(inside);
        }
        self.pointers.pop();
        out
    }

    /// The variables of a join are declared before the blocks that set them.
    fn open_join(&mut self, id: BlockId, out: &mut Vec<S>) {
        let function = self.function;
        for parameter in &function.block(id).parameters {
            let own = self.plan.variable[parameter.at()];
            match function.type_of(*parameter) {
                Type::Message if own != *parameter => {
                    let held = self.given[own.at()].clone();
                    let held = held.expect("a variable is there before the join that keeps it");
                    self.hold(*parameter, held);
                }
                _ => self.declare(*parameter, "joined", out),
            }
        }
        let label = self.local("next");
        self.labels[id.at()] = Some((label, 0));
    }

    /// The statements of a block, and of those that stand in it.
    fn block(&mut self, id: BlockId, follow: Option<BlockId>) -> Vec<S> {
        let function = self.function;
        let block = function.block(id);
        let mut out = Vec::new();
        self.headers = Headers::of(block);
        for instruction in &block.instructions {
            self.instruction(instruction, &mut out);
        }
        self.end(block, follow, &mut out);
        out
    }

    fn end(&mut self, block: &Block, follow: Option<BlockId>, out: &mut Vec<S>) {
        match &block.terminator {
            Terminator::Jump(edge) => {
                let then = self.edge(edge, &[], follow);
                out.extend(then);
            }
            Terminator::Branch {
                condition,
                then,
                otherwise,
                ..
            } => {
                let condition = self.code(*condition, out);
                let then = self.edge(then, &[], follow);
                let otherwise = self.edge(otherwise, &[], follow);
                either(condition, then, otherwise, out);
            }
            Terminator::Switch {
                value,
                cases,
                otherwise,
            } => {
                let bits = self.function.type_of(*value).bits().unwrap_or(32);
                let value = self.code(*value, out);
                let cases = cases.iter().map(|(number, _, edge)| {
                    let label = super::number::Number::literal(bits.max(2), *number).code;
                    (vec![label], self.edge(edge, &[], follow))
                });
                let cases: Vec<(Vec<C>, Vec<S>)> = cases.collect();
                let otherwise = self.edge(otherwise, &[], follow);
                out.push(S::Switch {
                    value,
                    cases,
                    otherwise: (!otherwise.is_empty()).then_some(otherwise),
                });
            }
            Terminator::Try {
                attempt,
                operands,
                done,
                failed,
                ..
            } => {
                let results = self.results_behind(done);
                let back = self.results_behind(failed);
                let is_sure = self.is_never(failed);
                let tried = match attempt {
                    Attempt::New if is_sure => self.taken_buffer(results[0]),
                    _other => self.attempt(attempt, operands, (&results, &back), out),
                };
                let Attempted {
                    condition,
                    first,
                    results,
                    back,
                } = tried;
                let mut then = first;
                then.extend(self.edge(done, &results, follow));
                if is_sure && *attempt == Attempt::New {
                    return out.extend(then);
                }
                let otherwise = self.edge(failed, &back, follow);
                either(condition, then, otherwise, out);
            }
            Terminator::Return(values) => self.leave(values, out),
            Terminator::Tail(event, arguments) => {
                self.tail(event, arguments, out);
                out.push(self.done());
            }
            Terminator::Take(mark) => {
                let mark = self.code(*mark, out);
                out.push(call_statement("take", vec![atom("stack"), mark]));
                out.push(self.done());
            }
            Terminator::Never if leaves(out) => {}
            Terminator::Never => {
                out.push(call_statement("sl_known", vec![atom("false")]));
                // clang asks for a value behind it.
                let results = &self.function.results;
                if self.function.role == Role::Fast {
                    out.push(S::Return(Some(atom("false"))));
                } else if prototype::returns_struct(results) {
                    let kind = prototype::result(self.stack, self.id);
                    out.push(S::Return(Some(atom(format!("({kind}){{0}}")))));
                } else if !results.is_empty() {
                    out.push(S::Return(Some(atom("0"))));
                }
            }
        }
    }

    /// Returns true if control never goes along an edge.
    fn is_never(&self, edge: &Edge) -> bool {
        let block = self.function.block(edge.block);
        let mut all = block.instructions.iter();
        all.all(|one| one.op == Op::Consume) && matches!(block.terminator, Terminator::Never)
    }

    /// The parameters behind an edge that an attempt gives.
    fn results_behind(&self, edge: &Edge) -> Vec<Value> {
        let parameters = &self.function.block(edge.block).parameters;
        parameters[edge.arguments.len()..].to_vec()
    }

    /// Control goes along an edge: parameters get their values, and the block stands here, or is
    /// reached.
    fn edge(&mut self, edge: &Edge, results: &[Given], follow: Option<BlockId>) -> Vec<S> {
        let function = self.function;
        let parameters = &function.block(edge.block).parameters;
        let mut out = Vec::new();
        self.pointers.push(BTreeMap::new());
        let standing = self.plan.standing[edge.block.at()];
        let (given, made) = parameters.split_at(edge.arguments.len());
        match standing {
            Standing::Nested => {
                for (parameter, result) in made.iter().zip(results) {
                    self.hold(*parameter, result.clone());
                }
                out.extend(self.tree(edge.block, follow));
            }
            Standing::Copied => {
                for (parameter, argument) in given.iter().zip(&edge.arguments) {
                    if self.plan.is_used(*parameter) {
                        let held = self.value(*argument, &mut out);
                        self.bind(*parameter, held, "given", &mut out);
                    }
                }
                for (parameter, result) in made.iter().zip(results) {
                    self.hold(*parameter, result.clone());
                }
                out.extend(self.block(edge.block, follow));
            }
            Standing::Join => {
                for (parameter, argument) in given.iter().zip(&edge.arguments) {
                    if self.plan.is_used(*parameter) {
                        let held = self.value(*argument, &mut out);
                        self.set(*parameter, held, &mut out);
                    }
                }
                for (parameter, result) in made.iter().zip(results) {
                    if self.plan.is_used(*parameter) {
                        self.set(*parameter, result.clone(), &mut out);
                    }
                }
                if Some(edge.block) != follow {
                    let label = self.labels[edge.block.at()].as_mut();
                    let (label, used) = label.expect("a join is opened by what dominates it");
                    *used += 1;
                    out.push(S::Goto(label.clone()));
                }
            }
        }
        self.pointers.pop();
        out
    }

    /// The variables of a value get what another has.
    fn set(&mut self, parameter: Value, held: Given, out: &mut Vec<S>) {
        let place = self.given[parameter.at()].clone();
        let place = place.expect("the variables of a join are declared");
        match (place, held) {
            (place, held) if place == held => {}
            (Given::Number(place), Given::Number(held)) => {
                out.push(assign(place.code, held.code));
            }
            (Given::Plain(place), Given::Plain(held)) => out.push(assign(place, held)),
            (Given::Message(place), Given::Message(held)) => {
                out.push(assign(place.whole(), held.whole()));
            }
            (
                Given::View { data, length },
                Given::View {
                    data: from,
                    length: of,
                },
            ) => {
                out.push(assign(data, from));
                out.extend((length != unasked()).then(|| assign(length, of)));
            }
            (place, held) => panic!("{held:?} does not fit in {place:?}"),
        }
    }

    /// The function ends: a fast function has done everything.
    fn done(&self) -> S {
        let is_fast = self.function.role == Role::Fast;
        S::Return(is_fast.then(|| atom("true")))
    }

    /// The guard leaves by an exit of this name if a bit is 1.
    pub fn exit(&mut self, name: &str, bit: Value, out: &mut Vec<S>) {
        if self.has_room(bit) {
            return;
        }
        let condition = self.code(bit, out);
        let mut leaves: Vec<S> = self.stack.paths.leave(self.id, name).into_iter().collect();
        leaves.push(S::Return(Some(atom("false"))));
        if condition == atom("true") {
            return out.extend(leaves);
        }
        out.push(S::If {
            condition,
            then: leaves,
            otherwise: Vec::new(),
        });
    }

    /// The guard leaves unless so many steps have room, and it has: a function that is tried first
    /// begins with room for all that it may do.
    fn has_room(&self, leaves: Value) -> bool {
        let op = |value: Value| self.definitions.get(value);
        let not = op(leaves).filter(|one| one.op == Op::Not);
        let asked = not.and_then(|not| op(not.operands[0]));
        asked.is_some_and(|one| matches!(one.op, Op::GoesOn(_))) && self.stack.runs_alone(self.id)
    }

    /// The function returns.
    fn leave(&mut self, values: &[Value], out: &mut Vec<S>) {
        let types = self.function.results.clone();
        match (values, self.results.clone()) {
            ([], _) => out.push(self.done()),
            ([only], None) => {
                let held = self.value(*only, out);
                let code = match (held, types[0]) {
                    (Given::Number(number), _) => number.code,
                    (held, of) => held.stored(of),
                };
                out.push(S::Return(Some(code)));
            }
            (several, results) => {
                let mut members = Vec::new();
                for (at, value) in several.iter().enumerate() {
                    let name = format!("r{at}");
                    match self.value(*value, out) {
                        Given::Number(number) => members.push((name, number.code)),
                        Given::View { data, length } => {
                            members.push((name.clone(), data));
                            members.push((format!("{name}_length"), length));
                        }
                        held => members.push((name, held.stored(types[at]))),
                    }
                }
                let results = results.expect("several results are a struct");
                out.push(S::Return(Some(C::Struct(results, members))));
            }
        }
    }
}

/// Appends an `if`. A branch that leaves the function stands inside it, and the other one behind.
fn either(condition: C, then: Vec<S>, otherwise: Vec<S>, out: &mut Vec<S>) {
    let shorter = |one: &[S], other: &[S]| size(one) <= size(other);
    let guards_then = leaves(&then) && (!leaves(&otherwise) || shorter(&then, &otherwise));
    let (condition, inside, behind) = if then == otherwise {
        // Either way comes to the same; the condition may still do something, or have a name.
        if condition != atom("true") && condition != atom("false") {
            out.push(S::Do(condition.cast("void")));
        }
        out.extend(then);
        return;
    } else if guards_then && !otherwise.is_empty() {
        (condition, then, otherwise)
    } else if leaves(&otherwise) {
        (condition.negated(), otherwise, then)
    } else if then.is_empty() {
        (condition.negated(), otherwise, Vec::new())
    } else {
        out.push(S::If {
            condition,
            then,
            otherwise,
        });
        return;
    };
    out.push(S::If {
        condition,
        then: inside,
        otherwise: Vec::new(),
    });
    out.extend(behind);
}

/// The number of statements, those within others too.
fn size(statements: &[S]) -> usize {
    let inside = statements.iter().map(|one| {
        let blocks = one.blocks().into_iter().map(size);
        1 + blocks.sum::<usize>()
    });
    inside.sum()
}
