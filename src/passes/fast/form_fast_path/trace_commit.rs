//! The end of a path: the commit, what is owed, and the rest of the reaction.

use super::path::{Diamond, Infallible, Key, Known, Owed, Path};
use super::reaction;
use super::trace::Trace;
use crate::ir::op::Op;
use crate::ir::{BlockId, Edge, Function, Probability, Terminator, Type, Value};
use std::collections::{BTreeMap, HashMap};

/// A rest of more operations than this is not copied.
const LONGEST: usize = 120;

/// The probability of an attempt that cannot fail.
const SURE: Probability = Probability(1_000_000);

/// The values of the traced code behind the commit.
type Late = HashMap<Key, Value>;

impl Trace<'_> {
    /// Commits, does what is owed, and copies what follows behind the instructions of a block.
    /// False, and nothing is built, if that is too long.
    pub fn rest(&mut self, path: Path, at: BlockId) -> bool {
        let function = self.module.function(path.function);
        let blocks = behind(function, at);
        let operations = blocks.iter().map(|id| function.block(*id));
        let operations: usize = operations.map(|block| block.instructions.len() + 1).sum();
        // The reaction to the first event comes before those to events that wait.
        let mut ends = blocks.iter().chain([&at]).map(|id| function.block(*id));
        let hands_on = ends.any(|block| match &block.terminator {
            Terminator::Tail(event, _) => reaction(event.target).is_some(),
            _other => false,
        });
        if operations > LONGEST || path.hands_on && hands_on {
            return false;
        }
        self.build.op(self.module, Op::Commit, &[]);
        let mut late = Late::new();
        self.pay(&path, &mut late, &path.owed);
        self.copy(&path, &mut late, at, &blocks);
        true
    }

    /// Emits deferred effects.
    fn pay(&mut self, path: &Path, late: &mut Late, owed: &[Owed]) {
        for owed in owed {
            let (keys, values) = match owed {
                Owed::Operation(one) => {
                    let operands = self.late_all(path, late, &one.operands);
                    self.build.set_span(one.span);
                    let results = self.build.op(self.module, one.op.clone(), &operands);
                    (&one.results[..], results)
                }
                Owed::Infallible(one) => {
                    (&one.results[..], self.infallible_attempt(path, late, one))
                }
                Owed::Diamond(diamond) => {
                    (&diamond.results[..], self.pay_sides(path, late, diamond))
                }
            };
            for (key, value) in keys.iter().zip(values) {
                late.insert(path.first(*key), value);
            }
        }
    }

    /// Emits an attempt that does not fail; returns its results.
    fn infallible_attempt(&mut self, path: &Path, late: &Late, attempt: &Infallible) -> Vec<Value> {
        let operands = self.late_all(path, late, &attempt.operands);
        self.build.set_span(attempt.span);
        let op = attempt.attempt.clone();
        let (done, failed) = self.build.attempt(self.module, op, &operands, SURE);
        self.build.go_to(failed);
        for message in self.build.parameters_of(failed) {
            self.build.op(self.module, Op::Consume, &[message]);
        }
        self.build.end(Terminator::Never);
        self.build.go_to(done);
        self.build.parameters_of(done)
    }

    /// Emits both sides of a diamond; returns the parameters of the join.
    fn pay_sides(&mut self, path: &Path, late: &Late, diamond: &Diamond) -> Vec<Value> {
        let (then, otherwise) = self.build.branch(path.equal(diamond.bit), diamond.likely);
        let mut ends = Vec::new();
        for (block, side) in [then, otherwise].into_iter().zip(&diamond.sides) {
            self.build.go_to(block);
            let mut late = late.clone();
            self.pay(path, &mut late, &side.owed);
            let given = self.late_all(path, &late, &side.given);
            ends.push((self.build.here(), given));
        }
        let given = &ends[0].1;
        let types: Vec<(Type, &str)> = given
            .iter()
            .map(|value| (self.build.type_of(*value), ""))
            .collect();
        let join = self.build.block(&types);
        for (end, arguments) in ends {
            self.build.go_to(end);
            let block = join;
            self.build.end(Terminator::Jump(Edge { block, arguments }));
        }
        self.build.go_to(join);
        self.build.parameters_of(join)
    }

    fn late_all(&self, path: &Path, late: &Late, keys: &[Key]) -> Vec<Value> {
        keys.iter().map(|key| self.late(path, late, *key)).collect()
    }

    /// A value behind the commit.
    fn late(&self, path: &Path, late: &Late, key: Key) -> Value {
        let key = path.first(key);
        if let Known::Now(value) = path.known(key) {
            return path.equal(*value);
        }
        late.get(&key)
            .copied()
            .unwrap_or_else(|| match path.known(key) {
                Known::Message(message) => message.base.expect("a message is a parameter, or made"),
                Known::View(view) => view.base.expect("a view is a parameter, or owed"),
                Known::Now(_) | Known::Later => panic!("{key:?} is owed before it is used"),
            })
    }

    /// Copies the end of a block, and all blocks behind it.
    fn copy(&mut self, path: &Path, late: &mut Late, at: BlockId, blocks: &[BlockId]) {
        let function = self.module.function(path.function);
        let mut places: BTreeMap<BlockId, BlockId> = BTreeMap::new();
        for id in blocks {
            let parameters: Vec<(Type, &str)> = function
                .block(*id)
                .parameters
                .iter()
                .map(|one| (function.type_of(*one), &function.values[one.at()].hint[..]))
                .collect();
            let place = self.build.block(&parameters);
            places.insert(*id, place);
            let own = self.build.parameters_of(place);
            for (value, own) in function.block(*id).parameters.iter().zip(own) {
                late.insert(path.key(*value), own);
            }
        }
        self.end(path, late, function, at, &places);
        for id in blocks {
            self.build.go_to(places[id]);
            for instruction in &function.block(*id).instructions {
                self.build.set_span(instruction.span);
                let operands = self.all(path, late, &instruction.operands);
                let op = instruction.op.clone();
                let results = self.build.op(self.module, op, &operands);
                for (value, own) in instruction.results.iter().zip(results) {
                    let hint = &function.values[value.at()].hint;
                    self.build.name(own, hint);
                    late.insert(path.key(*value), own);
                }
            }
            self.end(path, late, function, *id, &places);
        }
    }

    fn all(&self, path: &Path, late: &Late, values: &[Value]) -> Vec<Value> {
        let values = values.iter();
        values
            .map(|value| self.late(path, late, path.key(*value)))
            .collect()
    }

    /// The terminator of a block.
    fn end(
        &mut self,
        path: &Path,
        late: &Late,
        function: &Function,
        at: BlockId,
        places: &BTreeMap<BlockId, BlockId>,
    ) {
        let block = function.block(at);
        self.build.set_span(block.span);
        let mut end = block.terminator.clone();
        for value in crate::ir::edit::operands_mut(&mut end) {
            *value = self.late(path, late, path.key(*value));
        }
        for Edge { block, .. } in end.edges_mut() {
            *block = places[block];
        }
        self.build.end(match end {
            Terminator::Return(_) => Terminator::Return(Vec::new()),
            other => other,
        });
    }
}

/// All blocks behind one, each behind those that lead to it.
fn behind(function: &Function, at: BlockId) -> Vec<BlockId> {
    let graph = crate::ir::graph::Graph::of(function);
    let graph = graph.expect("the verifier passes acyclic graphs alone");
    let mut is_behind = vec![false; function.blocks.len()];
    let mut found = Vec::new();
    for id in graph.order {
        if id != at && !is_behind[id.at()] {
            continue;
        }
        if id != at {
            found.push(id);
        }
        for edge in function.block(id).terminator.edges() {
            is_behind[edge.block.at()] = true;
        }
    }
    found
}
