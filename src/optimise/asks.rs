//! What a bypass asks, asked with less: since each of its tests leaves it for the same place, and
//! nothing has been done there, all that it asks is one condition, whose parts say something of
//! each other.
//!
//! In: the tree of a bypass. Out: the same, in which conditions that others settle are gone, what
//! is equal stands for each other, steps that do nothing are gone, and so is writing what a field
//! holds anyway.
//!
//! ```text
//! if number - next >= wide { otherwise }
//! if number > next { otherwise }              if number != next { otherwise }
//! if number < next { otherwise }        =>    if wide == 0 { otherwise }
//! ```
//!
//! A condition is settled by those before it, and by those behind it if nothing can go wrong where
//! it is asked without them.
//!
//! Assumes: a bypass writes behind all tests. Ensures: the same outputs and state. Cost: the path
//! is left more often, where a header has a variable part, and where one of several things is so
//! that together rarely lead away from it.

use super::bypass::looks;
use super::depends::{concerns, is_total};
use super::found::of_instance;
use super::known::Known;
use super::latch::{Place, stands, written};
use super::path::{Step, What, apart, bare, binds, is_free, locals, put, steps, together};
use super::simpler::negated;
use super::value::{Looks, is_plain};
use crate::tree::walk::with_children;
use crate::tree::{Action, Forest, Node, NodeId};
use crate::types::expression::{Binary, Expression, ExpressionKind, Unary, Variable};
use crate::types::program::Program;
use crate::types::statement::{Attempt, Operation, Source};
use crate::types::value::Type;
use std::collections::BTreeSet;

/// What one condition says of another is looked for so often.
const ROUNDS: usize = 3;

/// A path is shortened until so many operands have been looked at, and then stays as it is, which
/// `loom explain` says: each condition is compared with all that come behind it. No fast path of
/// the library takes half of it.
const EFFORT: usize = 1 << 18;

/// What becomes of a step behind all tests.
enum Done {
    /// It changes nothing, and is left out.
    Not,
    /// It is done, and something is known behind it.
    And,
    /// It is done, and what is known behind it is not looked at.
    Last,
}

/// A bypass that asks with less, from a root of it on; and whether all of its conditions were
/// compared with each other.
pub fn shorter(program: &Program, forest: &mut Forest, root: NodeId, rare: f64) -> (NodeId, bool) {
    let mut known = Known::nothing(program);
    let mut asking = Asking {
        program,
        forest,
        rare,
        written: None,
        is_whole: true,
    };
    let root = asking.way(root, &mut known);
    asking.written = Some(written(program, asking.forest, root));
    let root = asking.way(root, &mut known);
    (root, asking.is_whole)
}

struct Asking<'a> {
    program: &'a Program,
    forest: &'a mut Forest,
    rare: f64,
    /// The fields that the path writes, once that is known.
    written: Option<BTreeSet<Place>>,
    /// True until the path has used up its [`EFFORT`].
    is_whole: bool,
}

/// Properties of a step, computed once for each round over the path.
struct Traits {
    /// The value that the step tests or binds is the same wherever on the path it is evaluated.
    stays: bool,
    /// The tested condition can be evaluated without the tests before it: it cannot fail.
    is_total: bool,
    /// The step can run without the tests before it: it cannot fail and has no effect outside.
    is_free: bool,
    /// A later condition depends on the local that the step binds, directly or through other
    /// locals.
    is_named: bool,
}

impl<'a> Asking<'a> {
    /// A way, before which something is known; behind it the same is.
    fn way(&mut self, from: NodeId, known: &mut Known<'a>) -> NodeId {
        let (mut steps, end) = steps(self.program, self.forest, from);
        bare(&mut steps);
        if self.written.is_none() {
            of_instance(self.program, &mut steps);
        }
        for step in &mut steps {
            self.narrow(step);
        }
        let before = known.mark();
        for _ in 0..ROUNDS {
            together(&mut steps);
            let asked = steps.clone();
            known.back(before);
            let traits = self.traits(&steps);
            for at in 0..steps.len() {
                self.asked(&mut steps, &traits, at, known);
                self.pass(known, &steps[at]);
            }
            if steps == asked {
                break;
            }
            for step in std::mem::take(&mut steps) {
                apart(step.what, step.origin, &mut steps);
            }
        }
        let end = self.end(end, known);
        known.back(before);
        put(self.forest, steps, end)
    }

    /// Where several things together rarely lead away from the path, each of them does: one of them
    /// is asked that costs least, for an instance alone, or for a bit of a header.
    fn narrow(&self, step: &mut Step) {
        let (What::Ask(condition, likely, _), Some(written)) = (&mut step.what, &self.written)
        else {
            return;
        };
        let all = halves(condition);
        let share = f64::from(likely.other().0) / 1e6;
        if all.len() < 2 || share > self.rare * self.rare {
            return;
        }
        let of_instance =
            |half: &&Expression| is_total(half) && stands(self.program, written, half).is_some();
        let of_header = |half: &&Expression| match &*half.kind {
            ExpressionKind::Unary(Unary::Not, bit) => {
                matches!(*bit.kind, ExpressionKind::Header(..))
            }
            _ => false,
        };
        let mut cheap = all.iter().copied().filter(of_instance);
        let cheap = cheap.next().or_else(|| all.iter().copied().find(of_header));
        if let Some(cheap) = cheap.cloned() {
            *condition = cheap;
        }
    }

    /// Adds what is known behind a step: what was asked, and what locals hold.
    fn pass(&self, known: &mut Known<'a>, step: &Step) {
        match &step.what {
            What::Ask(condition, ..) if self.stays(condition) => known.learn(condition),
            What::Do(Action::Let(local, value)) if self.stays(value) => known.hold(*local, value),
            What::Do(action) => known.forget(|value| concerns(action, value)),
            What::Ask(..) | What::Try(..) => {}
        }
    }

    /// The traits of each step.
    fn traits(&self, steps: &[Step]) -> Vec<Traits> {
        let mut named = BTreeSet::new();
        let traits = steps.iter().rev().map(|step| {
            let value = match &step.what {
                What::Ask(value, ..) | What::Do(Action::Let(_, value)) => Some(value),
                What::Try(..) | What::Do(_) => None,
            };
            let is_named = binds(step).is_some_and(|local| named.contains(&local));
            if matches!(step.what, What::Ask(..)) || is_named {
                named.extend(value.into_iter().flat_map(locals));
            }
            Traits {
                stays: value.is_some_and(|value| self.stays(value)),
                is_total: value.is_some_and(is_total),
                is_free: is_free(step),
                is_named,
            }
        });
        let mut traits: Vec<Traits> = traits.collect();
        traits.reverse();
        traits
    }

    /// Adds what is asked behind a step, of what is there already: of its length only until the
    /// message changes.
    fn learn_later(&mut self, known: &mut Known<'a>, steps: &[Step], traits: &[Traits], at: usize) {
        let mark = known.mark();
        let mut later = Vec::new();
        let mut bound = BTreeSet::new();
        let mut done: Vec<&Action> = Vec::new();
        // What stands between is done although this does not hold: it must not go wrong.
        let behind = steps.iter().zip(traits).skip(at + 1);
        for (step, traits) in behind.take_while(|(_, traits)| traits.is_free) {
            if known.effort() > EFFORT {
                self.is_whole = false;
                break;
            }
            bound.extend(binds(step));
            match &step.what {
                What::Ask(condition, ..) if traits.stays && traits.is_total => {
                    let condition = known.reduced(condition);
                    let mut named = locals(&condition).into_iter();
                    if is_total(&condition)
                        && named.all(|local| !bound.contains(&local))
                        && !done.iter().any(|one| concerns(one, &condition))
                    {
                        later.push(condition);
                    }
                }
                What::Do(Action::Let(local, value)) if traits.stays => {
                    if traits.is_named {
                        known.hold(*local, value);
                    }
                }
                What::Do(action) => {
                    done.push(action);
                    known.forget(|value| concerns(action, value));
                }
                What::Ask(..) | What::Try(..) => {}
            }
        }
        known.back(mark);
        later.iter().for_each(|condition| known.learn(condition));
    }

    /// A step in which stands what all others say.
    fn asked(&mut self, steps: &mut [Step], traits: &[Traits], at: usize, known: &mut Known<'a>) {
        let mark = known.mark();
        match &steps[at].what {
            What::Ask(condition, likely, otherwise) if traits[at].stays => {
                if traits[at].is_total {
                    self.learn_later(known, steps, traits, at);
                }
                let given = known.given(condition);
                if given.truth() != Some(false) {
                    steps[at].what = What::Ask(given, *likely, *otherwise);
                }
            }
            What::Do(Action::Do(operation)) => {
                let given = match operation {
                    Operation::Skip(message, count) if self.stays(count) => {
                        Operation::Skip(*message, known.given(count))
                    }
                    Operation::Cut(message, count) if self.stays(count) => {
                        Operation::Cut(*message, known.given(count))
                    }
                    other => other.clone(),
                };
                steps[at].what = What::Do(Action::Do(given));
            }
            What::Do(Action::Let(local, value)) if traits[at].stays && is_plain(&value.result) => {
                steps[at].what = What::Do(Action::Let(*local, known.given(value)));
            }
            What::Ask(..) | What::Try(..) | What::Do(_) => {}
        }
        known.back(mark);
    }

    /// What comes behind the last test of a way that leaves the path.
    fn end(&mut self, end: NodeId, known: &mut Known<'a>) -> NodeId {
        let origin = self.forest.origins.get(&end).copied();
        let made = match self.forest.arena.node(end).clone() {
            Node::Test {
                condition,
                likely,
                then,
                otherwise,
            } if self.stays(&condition) => {
                let condition = known.given(&condition);
                match condition.truth() {
                    Some(true) => return self.way(then, known),
                    Some(false) => return self.way(otherwise, known),
                    None => {}
                }
                let mark = known.mark();
                known.learn(&condition);
                let then = self.way(then, known);
                known.back(mark);
                known.learn(&negated(condition.clone()));
                let otherwise = self.way(otherwise, known);
                known.back(mark);
                Node::Test {
                    condition,
                    likely,
                    then,
                    otherwise,
                }
            }
            several @ (Node::Test { .. } | Node::Case { .. }) => {
                with_children(several, |child| self.way(child, known))
            }
            Node::Try {
                attempt: attempt @ Attempt::Message(Source::New),
                bind,
                likely,
                done,
                failed,
            } => Node::Try {
                attempt,
                bind,
                likely,
                done: self.end(done, known),
                failed,
            },
            act @ Node::Act { .. } if self.acts(&act) => act,
            Node::Act { action, next } => match self.done(&action, known) {
                Done::Not => return self.end(next, known),
                Done::And => Node::Act {
                    action,
                    next: self.end(next, known),
                },
                Done::Last => Node::Act { action, next },
            },
            other @ (Node::Leaf { .. } | Node::Try { .. }) => other,
        };
        let made = self.forest.arena.add(made);
        if let Some(origin) = origin {
            self.forest.origins.entry(made).or_insert(origin);
        }
        made
    }

    /// What becomes of a step behind all tests, and of what is known.
    fn done(&self, action: &Action, known: &mut Known<'a>) -> Done {
        match action {
            Action::Assign(place @ Variable::Field(_, kind, field), value) => {
                let read = ExpressionKind::Read(place.clone());
                let read = Expression::new(read, value.result.clone());
                let holds = Expression::binary(Binary::Equal, read, value.clone(), Type::Bool);
                if is_plain(&value.result) && is_held(known, &holds) {
                    return Done::Not;
                }
                known.forget_field(*kind, *field);
                Done::And
            }
            Action::Let(..) | Action::Push { .. } | Action::SetAttribute(..) => {
                known.forget(|value| concerns(action, value));
                Done::And
            }
            _ => Done::Last,
        }
    }

    /// Whether finding the values of a node does something.
    fn acts(&self, node: &Node) -> bool {
        let looks = looks(self.program, node);
        looks.changes || looks.calls_c
    }

    /// Whether a value stays what it is while nothing is written.
    fn stays(&self, value: &Expression) -> bool {
        let looks = Looks::of(self.program, value);
        !looks.changes && !looks.calls_c && value.result != Type::Message
    }
}

/// Whether a field holds what is to be written; a truth is told as such.
fn is_held(known: &mut Known, holds: &Expression) -> bool {
    let ExpressionKind::Binary(_, read, value) = &*holds.kind else {
        return false;
    };
    let truth = (read.result == Type::Bool).then(|| value.truth()).flatten();
    match truth {
        Some(truth) => known.truth(read) == Some(truth),
        None => known.truth(holds) == Some(true),
    }
}

/// What an `or` is made of.
fn halves(condition: &Expression) -> Vec<&Expression> {
    match &*condition.kind {
        ExpressionKind::Binary(Binary::Or, one, other) => [halves(one), halves(other)].concat(),
        _ => vec![condition],
    }
}
