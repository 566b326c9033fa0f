//! Diamonds: two sides of a branch that meet again become one path (hyperblock formation; Mahlke
//! et al., "Effective Compiler Support for Predicated Execution Using the Hyperblock", 1992).
//!
//! Where both ways of a branch are taken often, a path would fork, and all that follows would stand
//! in the fast function twice. If the ways meet in a block, the guard evaluates both sides without
//! a branch, as `trace_predicated.rs` does: an exit of a side leaves if control comes there, and a
//! value that differs is a choice. The effects of the sides stand behind the commit, on the sides
//! of a branch.
//!
//! ```text
//!   branch %new, b1, b2                      exit late (and %new, (not %ready))
//! b1:                                        %1 = select %new, %2, 0
//!   branch %ready, b3, b4 @ 99%              exit full (ult %room, %1)
//! b3:                                   =>   commit
//!   store tcp.first %i, %2                   branch %new, b1, b2
//!   jump b5(%2)                            b1:
//! b2: jump b5(0)                             store tcp.first %i, %2
//! b5(%1): branch (ult %room, %1), b6, b7     jump b3
//!                                          b2: jump b3
//! ```

use super::path::{
    Answer, Diamond, Infallible, Key, Known, Operation, Owed, Path, Side, StoreOwed,
};
use super::trace::{SELDOM, Trace};
use crate::ir::build::Mark;
use crate::ir::effects::Resource;
use crate::ir::graph::Graph;
use crate::ir::op::Op;
use crate::ir::{BlockId, Edge, Function, FunctionId, Probability, Region, Terminator, Value};
use std::collections::{BTreeSet, HashMap};
use std::rc::Rc;

impl Trace<'_> {
    /// Traces both sides of a branch; returns the path and the block where they meet. None, and the
    /// guard is unchanged, if they do not meet, or need a branch of their own.
    pub fn diamond(
        &mut self,
        path: &Path,
        at: BlockId,
        way: (Value, Probability),
        edges: [&Edge; 2],
    ) -> Option<(Path, BlockId)> {
        let place = (path.function, at);
        let join = self.join(path.function, at)?;
        if self.apart.contains(&place) {
            return None;
        }
        let before = self.mark();
        let met = self.sides(path, join, way, edges);
        if met.is_none() {
            self.rewind(before);
            self.apart.insert(place);
        }
        met.map(|path| (path, join))
    }

    /// Marks the end of the current block, and what was built before.
    pub fn mark(&self) -> (Mark, usize) {
        (self.build.mark(), self.exits)
    }

    /// Undoes all that was built since a mark.
    pub fn rewind(&mut self, (mark, exits): (Mark, usize)) {
        let last = self.build.function().values.len();
        self.build.rewind(&mark);
        for value in (mark.values..last).map(|at| Value(at as u32)) {
            self.folded.forget(value);
            self.origins.remove(&value);
            self.pulled.remove(&value);
        }
        self.exits = exits;
    }

    /// Returns the block in which the frequent ways behind a block meet.
    pub fn join(&mut self, id: FunctionId, at: BlockId) -> Option<BlockId> {
        let function = self.module.function(id);
        let naming = &self.naming;
        let found = self.joins.entry(id).or_insert_with(|| {
            joins(function, |edge, share| {
                share >= SELDOM && !naming.only_drops(id, edge.block)
            })
        });
        found[at.at()]
    }

    /// Traces both sides, and merges their paths.
    fn sides(
        &mut self,
        path: &Path,
        join: BlockId,
        (bit, likely): (Value, Probability),
        [then, otherwise]: [&Edge; 2],
    ) -> Option<Path> {
        let mut met = path.clone();
        let not = self.evaluate(&mut met, Op::Not, &[bit]);
        let one = self.side_of(&mut met, path, (bit, then), join)?;
        let other = self.side_of(&mut met, path, (not, otherwise), join)?;
        self.meet_sides(&mut met, join, (bit, likely), &[one, other])?;
        Some(met)
    }

    /// Returns the arguments that a side without effects gives to the join. None, and the guard is
    /// unchanged, if it has effects, or if its arguments differ from those of the others.
    pub fn quiet_side(
        &mut self,
        met: &mut Path,
        path: &Path,
        way: (Value, &Edge),
        join: BlockId,
        others: Option<&[Key]>,
    ) -> Option<Vec<Key>> {
        let before = self.mark();
        let mut behind = met.clone();
        let end = self.side_of(&mut behind, path, way, join);
        let given = end.filter(|end| end.owed.len() == path.owed.len());
        let given = given.and_then(|end| {
            let parameters = &self.module.function(path.function).block(join).parameters;
            let mut names = Names::new(path, &end);
            let given = parameters
                .iter()
                .map(|one| names.key(&mut behind, end.key(*one)));
            let given: Vec<Key> = given.collect();
            let same = |(one, other): (&Key, &Key)| {
                let numbers = behind.now(*one).zip(behind.now(*other));
                behind.first(*one) == behind.first(*other)
                    || numbers.is_some_and(|(one, other)| one == other)
            };
            let as_others = others.is_none_or(|others| given.iter().zip(others).all(same));
            as_others.then_some(given)
        });
        match given.is_some() {
            true => *met = behind,
            false => self.rewind(before),
        }
        given
    }

    /// Traces the side behind a bit to the join. Values and frames of the next side get other
    /// numbers.
    fn side_of(
        &mut self,
        met: &mut Path,
        path: &Path,
        (bit, edge): (Value, &Edge),
        join: BlockId,
    ) -> Option<Path> {
        let mut side = path.clone();
        side.numbered_behind(met);
        let under = self.under(path.under, bit);
        side.under = Some(under);
        if side.before.is_none() {
            side.before = Some(Rc::new(path.bits.clone()));
        }
        self.decide(&mut side, bit, true);
        let first = self.follow(&mut side, edge, &[]);
        let end = self.side(side, first, (path.frame, join))?;
        // The verifier follows `goes_on` on no side.
        let owed = end.owed[path.owed.len()..].iter().flat_map(Owed::each);
        let leaves =
            |owed: &Owed| matches!(owed, Owed::Operation(one) if matches!(one.op, Op::Output(_)));
        if owed.into_iter().any(leaves) {
            return None;
        }
        met.numbered_behind(&end);
        Some(end)
    }

    /// Traces a side to the join.
    fn side(
        &mut self,
        mut path: Path,
        mut at: BlockId,
        (frame, join): (u32, BlockId),
    ) -> Option<Path> {
        let mut from = 0;
        while (path.frame, at) != (frame, join) {
            (path, at, from) = self.step(path, at, from)?;
        }
        Some(path)
    }

    /// Merges the sides: the path before the branch becomes the path at the join.
    fn meet_sides(
        &mut self,
        path: &mut Path,
        join: BlockId,
        (bit, likely): (Value, Probability),
        ends: &[Path; 2],
    ) -> Option<()> {
        let before = path.clone();
        for end in ends {
            path.written.extend(&end.written);
            path.rewritten.extend(&end.rewritten);
            path.hands_on |= end.hands_on;
        }
        let mut sides = Vec::new();
        for end in ends {
            let mut names = Names::new(&before, end);
            let owed = names.all(path, &end.owed[before.owed.len()..]);
            let parameters = &self.module.function(path.function).block(join).parameters;
            let given = parameters.iter().map(|one| names.key(path, end.key(*one)));
            let given: Vec<Key> = given.collect();
            sides.push(Side { owed, given });
        }
        let [mut then, mut otherwise]: [Side; 2] = sides.try_into().expect("there are two");
        let parameters = &self.module.function(path.function).block(join).parameters;
        let given = (then.given.drain(..)).zip(otherwise.given.drain(..));
        let given: Vec<(Key, Key)> = given.collect();
        let mut results = Vec::new();
        for (parameter, (one, other)) in parameters.iter().zip(given) {
            let key = Key {
                frame: path.frame,
                value: *parameter,
            };
            if path.first(one) == path.first(other) {
                path.alias(key, one);
                continue;
            }
            if let Some(value) = self.choice(path, bit, [one, other]) {
                let own = path.own(Known::Now(value));
                path.alias(key, own);
                continue;
            }
            let moved = |key: Key| matches!(path.known(key), Known::Message(_) | Known::View(_));
            if moved(one) || moved(other) {
                return None;
            }
            let result = path.own(Known::Later);
            path.alias(key, result);
            results.push(result);
            then.given.push(one);
            otherwise.given.push(other);
        }
        self.meet_stores(path, bit, &before, ends);
        self.meet_answers(path, bit, ends);
        let is_empty = results.is_empty() && then.owed.is_empty() && otherwise.owed.is_empty();
        if !is_empty {
            path.owed.push(Owed::Diamond(Diamond {
                bit,
                likely,
                sides: [then, otherwise],
                results,
            }));
        }
        Some(())
    }

    /// Returns the value of the taken side as a `select`; none if the guard does not know both.
    fn choice(&mut self, path: &mut Path, bit: Value, keys: [Key; 2]) -> Option<Value> {
        let [one, other] = keys.map(|key| path.now(key));
        let (one, other) = (one?, other?);
        Some(match one == other {
            true => one,
            false => self.evaluate(path, Op::Select, &[bit, one, other]),
        })
    }

    /// Merges known stores: a load behind the join gives the value of the taken side.
    fn meet_stores(&mut self, path: &mut Path, bit: Value, before: &Path, ends: &[Path; 2]) {
        let changed = ends
            .iter()
            .flat_map(|end| &end.written)
            .filter_map(|one| match one {
                Resource::Region(region) => Some(*region),
                _other => None,
            });
        let changed: BTreeSet<Region> = changed.collect();
        for region in changed {
            let last = |path: &Path| {
                let mut stored = path.stored.iter().rev();
                stored.find(|one| one.region == region).cloned()
            };
            let [base, one, other] = [before, &ends[0], &ends[1]].map(last);
            let alike = |one: &Option<StoreOwed>, other: &Option<StoreOwed>| match (one, other) {
                (Some(one), Some(other)) => one.place == other.place && one.value == other.value,
                (None, None) => true,
                _one => false,
            };
            if alike(&base, &one) && alike(&base, &other) && before.owes(Resource::Region(region)) {
                continue;
            }
            path.stored.retain(|stored| stored.region != region);
            let Some(place) = one.as_ref().or(other.as_ref()).map(|one| one.place.clone()) else {
                continue;
            };
            let mut of_side = |trace: &mut Self, stored: Option<StoreOwed>, end: &Path| {
                let wrote = end.owes(Resource::Region(region));
                match stored {
                    Some(stored) if stored.place == place => end.now(stored.value),
                    None if !wrote && place.len() <= 1 => {
                        Some(trace.evaluate(path, Op::Load(region), &place))
                    }
                    _unknown => None,
                }
            };
            let values = [of_side(self, one, &ends[0]), of_side(self, other, &ends[1])];
            if let [Some(one), Some(other)] = values {
                let keys = [one, other].map(|value| path.own(Known::Now(value)));
                let value = self.choice(path, bit, keys).expect("both are known");
                let value = path.own(Known::Now(value));
                path.stored.push(StoreOwed {
                    region,
                    place,
                    value,
                });
            }
        }
    }

    /// Merges known answers of streams: a question behind the join gives that of the taken side.
    fn meet_answers(&mut self, path: &mut Path, bit: Value, ends: &[Path; 2]) {
        path.answers.clear();
        let mut met: Vec<Answer> = Vec::new();
        let all = ends.iter().flat_map(|end| end.answers.iter().rev());
        for answer in all {
            let is_same = |other: &&Answer| {
                (other.question, other.place) == (answer.question, answer.place)
                    && other.of == answer.of
            };
            if met.iter().any(|other| is_same(&other)) {
                continue;
            }
            let values = ends.each_ref().map(|end| {
                let known = end.answers.iter().rev().find(is_same);
                let asks = !end.owes(Resource::Container(answer.place)) && answer.of.len() <= 1;
                known.map(|known| end.equal(known.value)).or_else(|| {
                    asks.then(|| {
                        let op = Op::Ask(answer.question, answer.place);
                        self.evaluate(path, op, &answer.of)
                    })
                })
            });
            if let [Some(one), Some(other)] = values {
                let keys = [one, other].map(|value| path.own(Known::Now(value)));
                let value = self.choice(path, bit, keys).expect("both are known");
                met.push(Answer {
                    value,
                    ..answer.clone()
                });
            }
        }
        met.reverse();
        path.answers = met;
    }
}

/// Renames the values of a side, since both sides may define the same key.
struct Names<'p> {
    /// The path before the sides.
    before: &'p Path,
    /// The end of the side.
    end: &'p Path,
    /// By value of the side: its new name.
    renamed: HashMap<Key, Key>,
}

impl<'p> Names<'p> {
    fn new(before: &'p Path, end: &'p Path) -> Names<'p> {
        Names {
            before,
            end,
            renamed: HashMap::new(),
        }
    }

    /// Renames deferred effects of a side; the path learns what the side knew of each value.
    fn all(&mut self, path: &mut Path, owed: &[Owed]) -> Vec<Owed> {
        let owed = owed.iter().map(|owed| match owed {
            Owed::Operation(one) => Owed::Operation(Operation {
                op: one.op.clone(),
                operands: self.keys(path, &one.operands),
                results: one
                    .results
                    .iter()
                    .map(|key| self.named(path, *key))
                    .collect(),
                span: one.span,
            }),
            Owed::Infallible(one) => Owed::Infallible(Infallible {
                attempt: one.attempt.clone(),
                operands: self.keys(path, &one.operands),
                results: one
                    .results
                    .iter()
                    .map(|key| self.named(path, *key))
                    .collect(),
                span: one.span,
            }),
            Owed::Diamond(diamond) => {
                let sides = diamond.sides.each_ref().map(|side| Side {
                    owed: self.all(path, &side.owed),
                    given: self.keys(path, &side.given),
                });
                let results = diamond
                    .results
                    .iter()
                    .map(|key| self.named(path, *key))
                    .collect();
                Owed::Diamond(Diamond {
                    sides,
                    results,
                    ..*diamond
                })
            }
        });
        owed.collect()
    }

    fn keys(&mut self, path: &mut Path, keys: &[Key]) -> Vec<Key> {
        keys.iter().map(|key| self.key(path, *key)).collect()
    }

    /// The name of a value: the same, if it was there before the sides.
    fn key(&mut self, path: &mut Path, key: Key) -> Key {
        let key = self.end.first(key);
        match self.renamed.get(&key) {
            Some(own) => *own,
            None if self.before.has(key) || !self.end.has(key) => key,
            None => self.named(path, key),
        }
    }

    /// A new name for a value.
    fn named(&mut self, path: &mut Path, key: Key) -> Key {
        let key = self.end.first(key);
        let known = match self.end.now(key) {
            Some(value) => Known::Now(value),
            None => self.end.known(key).clone(),
        };
        let own = path.own(known);
        self.renamed.insert(key, own);
        own
    }
}

/// By block: the nearest block to which all frequent ways behind it lead, its postdominator along
/// frequent edges; none if there is none. `is_taken` is given an edge and its share in millionths.
fn joins(function: &Function, is_taken: impl Fn(&Edge, u64) -> bool) -> Vec<Option<BlockId>> {
    let graph = Graph::of(function).expect("the verifier passes acyclic graphs alone");
    let mut place = vec![0; function.blocks.len()];
    graph
        .order
        .iter()
        .enumerate()
        .for_each(|(at, id)| place[id.at()] = at);
    let mut joins: Vec<Option<BlockId>> = vec![None; function.blocks.len()];
    for id in graph.order.iter().rev() {
        let end = &function.block(*id).terminator;
        let shares: Vec<u64> = match end {
            Terminator::Branch { likely, .. } | Terminator::Try { likely, .. } => {
                vec![likely.0.into(), likely.other().0.into()]
            }
            _other => vec![1_000_000; end.edges().len()],
        };
        let edges = end.edges().into_iter().zip(shares);
        let taken = edges.filter(|(edge, share)| is_taken(edge, *share));
        let taken = taken.map(|(edge, _)| Some(edge.block));
        joins[id.at()] = taken
            .reduce(|one, other| {
                let (mut one, mut other) = (one, other);
                while one != other {
                    let (first, second) = (one?, other?);
                    match place[first.at()] < place[second.at()] {
                        true => one = joins[first.at()],
                        false => other = joins[second.at()],
                    }
                }
                one
            })
            .flatten();
    }
    joins
}
