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
//! Assumes: a bypass writes behind all tests. Ensures: the same outputs and state, and no way more
//! leaves the path. Cost: none.

use super::branches::is_of_message;
use super::bypass::{named, only_looks};
use super::known::Known;
use super::latch::{Place, stands, written};
use super::simpler::negated;
use super::value::{Looks, is_plain};
use crate::tree::walk::with_children;
use crate::tree::{Action, Forest, Goal, Node, NodeId, Output, Probability, Reaction};
use crate::types::expression::{Binary, Expression, ExpressionKind, Unary, Variable};
use crate::types::program::{AttributeId, HeaderId, LocalId, Program};
use crate::types::statement::{Attempt, Operation, Source};
use crate::types::value::{Type, Value};
use std::collections::BTreeSet;

/// What one condition says of another is looked for so often.
const ROUNDS: usize = 3;

/// What is done on a way before it parts.
#[derive(Clone)]
pub struct Step {
    /// What it is.
    pub what: What,
    /// The reaction whose code begins with it.
    pub origin: Option<Reaction>,
}

/// A step of a bypass.
#[derive(Clone)]
pub enum What {
    /// The path is left where this does not hold; how often it does.
    Ask(Expression, Probability, NodeId),
    /// It is left where this fails.
    Try(Attempt, Option<LocalId>, Probability, NodeId),
    /// One step.
    Do(Action),
}

/// A bypass that asks with less, from a root of it on.
pub fn shorter(program: &Program, forest: &mut Forest, root: NodeId, rare: f64) -> NodeId {
    let known = Known::nothing(program);
    let mut asking = Asking {
        program,
        forest,
        rare,
        written: None,
    };
    let root = asking.way(root, known.clone());
    asking.written = Some(written(program, asking.forest, root));
    asking.way(root, known)
}

struct Asking<'a> {
    program: &'a Program,
    forest: &'a mut Forest,
    rare: f64,
    /// The fields that the path writes, once that is known.
    written: Option<BTreeSet<Place>>,
}

impl<'a> Asking<'a> {
    /// A way, before which something is known.
    fn way(&mut self, from: NodeId, before: Known<'a>) -> NodeId {
        let (mut steps, end) = steps(self.forest, from);
        bare(&mut steps);
        for step in &mut steps {
            self.narrow(step);
        }
        for _ in 0..ROUNDS {
            together(&mut steps);
            for at in 0..steps.len() {
                self.asked(&mut steps, at, &before);
            }
            for step in std::mem::take(&mut steps) {
                apart(step.what, step.origin, &mut steps);
            }
        }
        let behind = self.known(&steps, steps.len(), &before);
        let end = self.end(end, behind);
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
        let of_instance = |half: &&Expression| stands(self.program, written, half).is_some();
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

    /// What is known before a step: what was asked before, and what locals hold.
    fn known(&self, steps: &[Step], at: usize, before: &Known<'a>) -> Known<'a> {
        let mut known = before.clone();
        for step in &steps[..at] {
            match &step.what {
                What::Ask(condition, ..) if self.stays(condition) => known.learn(condition),
                What::Do(Action::Let(local, value)) if self.stays(value) => {
                    known.hold(*local, value);
                }
                What::Do(action) => known.forget(|value| concerns(action, value)),
                What::Ask(..) | What::Try(..) => {}
            }
        }
        known
    }

    /// Adds what is asked behind a step, of what is there already: of its length only until the
    /// message changes.
    fn learn_later(&self, known: &mut Known<'a>, steps: &[Step], at: usize) {
        let bound: BTreeSet<LocalId> = steps[at..].iter().filter_map(binds).collect();
        let mut there = known.clone();
        let mut done: Vec<&Action> = Vec::new();
        for step in &steps[at + 1..] {
            match &step.what {
                What::Ask(condition, ..) if self.stays(condition) && is_total(condition) => {
                    let condition = there.reduced(condition);
                    let locals = named(|naming| drop(naming.expression(&condition)));
                    if locals.is_disjoint(&bound)
                        && !done.iter().any(|one| concerns(one, &condition))
                    {
                        known.learn(&condition);
                    }
                }
                What::Do(Action::Let(local, value)) if self.stays(value) => {
                    there.hold(*local, value);
                }
                What::Do(action) => {
                    done.push(action);
                    there.forget(|value| concerns(action, value));
                }
                What::Ask(..) | What::Try(..) => {}
            }
        }
    }

    /// A step in which stands what all others say.
    fn asked(&self, steps: &mut [Step], at: usize, before: &Known<'a>) {
        let mut known = self.known(steps, at, before);
        match &steps[at].what {
            What::Ask(condition, likely, otherwise) if self.stays(condition) => {
                if is_total(condition) {
                    self.learn_later(&mut known, steps, at);
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
            What::Do(Action::Let(local, value)) if self.stays(value) && is_plain(&value.result) => {
                steps[at].what = What::Do(Action::Let(*local, known.given(value)));
            }
            What::Ask(..) | What::Try(..) | What::Do(_) => {}
        }
    }

    /// What comes behind the last test of a way that leaves the path.
    fn end(&mut self, end: NodeId, mut known: Known<'a>) -> NodeId {
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
                let mut there = known.clone();
                there.learn(&condition);
                known.learn(&negated(condition.clone()));
                let then = self.way(then, there);
                let otherwise = self.way(otherwise, known);
                Node::Test {
                    condition,
                    likely,
                    then,
                    otherwise,
                }
            }
            several @ (Node::Test { .. } | Node::Case { .. }) => {
                with_children(several, |child| self.way(child, known.clone()))
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
            Node::Act { action, next } => {
                let next = match &action {
                    Action::Assign(place @ Variable::Field(_, kind, field), value) => {
                        let read = ExpressionKind::Read(place.clone());
                        let read = Expression::new(read, value.result.clone());
                        let holds =
                            Expression::binary(Binary::Equal, read, value.clone(), Type::Bool);
                        if is_plain(&value.result) && is_held(&known, &holds) {
                            return self.end(next, known);
                        }
                        let program = self.program;
                        known.forget(|fact| Looks::of(program, fact).at(*kind, *field));
                        self.end(next, known)
                    }
                    Action::Let(_, value) if !self.stays(value) => next,
                    Action::Let(..) | Action::Push { .. } | Action::SetAttribute(..) => {
                        self.end(next, known)
                    }
                    _ => next,
                };
                Node::Act { action, next }
            }
            other @ (Node::Leaf { .. } | Node::Try { .. }) => other,
        };
        let made = self.forest.arena.add(made);
        if let Some(origin) = origin {
            self.forest.origins.entry(made).or_insert(origin);
        }
        made
    }

    /// Whether a value stays what it is while nothing is written.
    fn stays(&self, value: &Expression) -> bool {
        let looks = Looks::of(self.program, value);
        !looks.changes && !looks.calls_c && value.result != Type::Message
    }
}

/// Whether a field holds what is to be written; a truth is told as such.
fn is_held(known: &Known, holds: &Expression) -> bool {
    let ExpressionKind::Binary(_, read, value) = &*holds.kind else {
        return false;
    };
    let truth = (read.result == Type::Bool).then(|| value.truth()).flatten();
    match truth {
        Some(truth) => known.truth(read) == Some(truth),
        None => known.truth(holds) == Some(true),
    }
}

/// The steps from a node to where ways part that all go on, or where something is done.
pub fn steps(forest: &Forest, from: NodeId) -> (Vec<Step>, NodeId) {
    let (mut steps, mut at) = (Vec::new(), from);
    loop {
        let origin = forest.origins.get(&at).copied();
        let (what, next) = match forest.arena.node(at) {
            Node::Test {
                condition,
                likely,
                then,
                otherwise,
            } if is_otherwise(forest, *then) => {
                let hold = negated(condition.clone());
                (What::Ask(hold, likely.other(), *then), *otherwise)
            }
            Node::Test {
                condition,
                likely,
                then,
                otherwise,
            } if is_otherwise(forest, *otherwise) => {
                (What::Ask(condition.clone(), *likely, *otherwise), *then)
            }
            Node::Try {
                attempt,
                bind,
                likely,
                done,
                failed,
            } if only_looks(attempt) && is_otherwise(forest, *failed) => {
                (What::Try(attempt.clone(), *bind, *likely, *failed), *done)
            }
            Node::Act { action, next } if is_before(action) => (What::Do(action.clone()), *next),
            _ => return (steps, at),
        };
        apart(what, origin, &mut steps);
        at = next;
    }
}

/// Adds a step that does something; of an `and` each half is asked by itself.
fn apart(what: What, origin: Option<Reaction>, steps: &mut Vec<Step>) {
    match what {
        What::Ask(condition, likely, otherwise) => match *condition.kind {
            ExpressionKind::Binary(Binary::And, one, other) => {
                apart(What::Ask(one, likely, otherwise), origin, steps);
                apart(What::Ask(other, likely, otherwise), None, steps);
            }
            ExpressionKind::Constant(Value::Number(1)) => {}
            kind => {
                let condition = Expression::new(kind, condition.result);
                let what = What::Ask(condition, likely, otherwise);
                steps.push(Step { what, origin });
            }
        },
        What::Do(Action::Do(Operation::Skip(_, count))) if is_zero(&count) => {}
        what => steps.push(Step { what, origin }),
    }
}

/// Steps, and then a node.
pub fn put(forest: &mut Forest, steps: Vec<Step>, end: NodeId) -> NodeId {
    steps.into_iter().rev().fold(end, |next, step| {
        let made = forest.arena.add(match step.what {
            What::Ask(condition, likely, otherwise) => Node::Test {
                condition,
                likely,
                then: next,
                otherwise,
            },
            What::Try(attempt, bind, likely, failed) => Node::Try {
                attempt,
                bind,
                likely,
                done: next,
                failed,
            },
            What::Do(action) => Node::Act { action, next },
        });
        if let Some(origin) = step.origin {
            forest.origins.entry(made).or_insert(origin);
        }
        made
    })
}

/// What is neither before nor behind is the same.
fn together(steps: &mut Vec<Step>) {
    for at in 0..steps.len() {
        let What::Ask(one, ..) = &steps[at].what else {
            continue;
        };
        let later = steps[at + 1..].iter().position(|step| match &step.what {
            What::Ask(other, ..) => is_same(one, other),
            _ => false,
        });
        let Some(later) = later else {
            continue;
        };
        let What::Ask(one, ..) = &mut steps[at].what else {
            unreachable!("it asks");
        };
        if let ExpressionKind::Binary(operator, ..) = &mut *one.kind {
            *operator = Binary::Equal;
        }
        steps.remove(at + 1 + later);
        return together(steps);
    }
}

/// What an `or` is made of.
fn halves(condition: &Expression) -> Vec<&Expression> {
    match &*condition.kind {
        ExpressionKind::Binary(Binary::Or, one, other) => [halves(one), halves(other)].concat(),
        _ => vec![condition],
    }
}

/// Whether two conditions say that a number is neither before nor behind another.
fn is_same(one: &Expression, other: &Expression) -> bool {
    let ExpressionKind::Binary(first, a, b) = &*one.kind else {
        return false;
    };
    let ExpressionKind::Binary(second, c, d) = &*other.kind else {
        return false;
    };
    let turned = if (a, b) == (c, d) {
        *second
    } else {
        second.mirrored()
    };
    let pair = (a, b) == (c, d) || (a, b) == (d, c);
    let either = matches!(
        (first, turned),
        (Binary::AtMost, Binary::AtLeast) | (Binary::AtLeast, Binary::AtMost)
    );
    pair && either && is_total(one) && is_total(other) && !is_of_length(one)
}

/// Whether a step changes nothing but locals and the message.
fn is_before(action: &Action) -> bool {
    matches!(
        action,
        Action::Let(..)
            | Action::SetAttribute(..)
            | Action::Strip(..)
            | Action::StripRest(..)
            | Action::Sum { .. }
            | Action::Scan { .. }
            | Action::Do(Operation::Skip(..) | Operation::Cut(..))
    )
}

/// Headers have no variable part: that is asked instead, and no option can break a rule.
fn bare(steps: &mut Vec<Step>) {
    for at in (0..steps.len()).rev() {
        let What::Do(Action::StripRest(_, rest)) = &steps[at].what else {
            continue;
        };
        let before = &steps[..at];
        let header = before.iter().rev().find_map(|step| match &step.what {
            What::Do(Action::Strip(_, header)) => Some(*header),
            _ => None,
        });
        let leaves = before.iter().find_map(|step| match &step.what {
            What::Ask(_, likely, otherwise) => Some((*likely, *otherwise)),
            _ => None,
        });
        let (Some(header), Some((likely, otherwise)), Some(asked)) = (header, leaves, none(rest))
        else {
            continue;
        };
        steps[at].what = What::Ask(asked, likely, otherwise);
        steps.retain(|step| {
            let What::Ask(condition, ..) = &step.what else {
                return true;
            };
            *condition.kind != ExpressionKind::OptionsHold(header)
        });
    }
}

/// The condition that a number of bytes that a header counts is 0.
fn none(bytes: &Expression) -> Option<Expression> {
    let (mut at, mut number) = (bytes, 0);
    loop {
        let constant = |of: &Expression| match *of.kind {
            ExpressionKind::Constant(Value::Number(number)) => Some(number),
            _ => None,
        };
        match &*at.kind {
            ExpressionKind::Header(..) => {
                let number = Expression::number(number, at.result.clone());
                let asked = Expression::binary(Binary::Equal, at.clone(), number, Type::Bool);
                return (asked.truth() != Some(false)).then_some(asked);
            }
            ExpressionKind::Cast(inner) => at = inner,
            ExpressionKind::Binary(Binary::Subtract, one, other) => {
                number += constant(other)?;
                at = one;
            }
            ExpressionKind::Binary(Binary::Add, one, other) => {
                number = number.checked_sub(constant(other)?)?;
                at = one;
            }
            ExpressionKind::Binary(Binary::Multiply, one, other) => {
                let unit = constant(other).filter(|unit| *unit != 0 && number % unit == 0)?;
                number /= unit;
                at = one;
            }
            _ => return None,
        }
    }
}

/// Whether a step of a message may change a value.
fn concerns(action: &Action, value: &Expression) -> bool {
    match action {
        Action::Let(_, bound) => bound.result == Type::Message && is_of_length(value),
        Action::Sum { .. } | Action::Scan { .. } => false,
        Action::SetAttribute(_, attribute, _) => is_of_attribute(*attribute, value),
        Action::Strip(_, header) => is_of_length(value) || is_of_header(*header, value),
        _ => is_of_length(value),
    }
}

/// Whether a value looks at a header.
fn is_of_header(header: HeaderId, value: &Expression) -> bool {
    let itself = match &*value.kind {
        ExpressionKind::Header(other, _)
        | ExpressionKind::HeaderPresent(other, _)
        | ExpressionKind::OptionsHold(other) => *other == header,
        _ => false,
    };
    let mut parts = value.parts().into_iter();
    itself || parts.any(|part| is_of_header(header, part))
}

/// Whether a value looks at an attribute of a message.
fn is_of_attribute(attribute: AttributeId, value: &Expression) -> bool {
    let itself = match &*value.kind {
        ExpressionKind::Attribute(_, other) => *other == attribute,
        ExpressionKind::Call(..) | ExpressionKind::Through(..) => true,
        _ => false,
    };
    let mut parts = value.parts().into_iter();
    itself || parts.any(|part| is_of_attribute(attribute, part))
}

/// What a step gives a name to.
fn binds(step: &Step) -> Option<LocalId> {
    match &step.what {
        What::Ask(..) => None,
        What::Try(_, bind, ..) => *bind,
        What::Do(action) => match action {
            Action::Let(bind, _) | Action::Sum { bind, .. } | Action::Scan { bind, .. } => {
                Some(*bind)
            }
            _ => None,
        },
    }
}

fn is_zero(count: &Expression) -> bool {
    matches!(*count.kind, ExpressionKind::Constant(Value::Number(0)))
}

/// Whether a value looks at a message, but not at a header that was stripped.
fn is_of_length(value: &Expression) -> bool {
    match &*value.kind {
        ExpressionKind::Header(..)
        | ExpressionKind::HeaderPresent(..)
        | ExpressionKind::OptionsHold(_) => false,
        _ if value.parts().is_empty() => is_of_message(value),
        ExpressionKind::Call(..) | ExpressionKind::Through(..) => true,
        _ => value.parts().into_iter().any(is_of_length),
    }
}

/// Whether a value can be found whatever else holds.
fn is_total(value: &Expression) -> bool {
    let itself = match &*value.kind {
        ExpressionKind::Read(Variable::Field(..) | Variable::Local(_))
        | ExpressionKind::Constant(_)
        | ExpressionKind::Config(_)
        | ExpressionKind::Key(..)
        | ExpressionKind::Header(..)
        | ExpressionKind::HeaderPresent(..)
        | ExpressionKind::Attribute(..)
        | ExpressionKind::Length(_)
        | ExpressionKind::Unary(..)
        | ExpressionKind::If(..)
        | ExpressionKind::Present(_)
        | ExpressionKind::Cast(_)
        | ExpressionKind::Least(..)
        | ExpressionKind::Greatest(..) => true,
        ExpressionKind::Binary(operator, ..) => {
            !matches!(operator, Binary::Divide | Binary::Remainder)
        }
        _ => false,
    };
    itself && value.parts().into_iter().all(is_total)
}

fn is_otherwise(forest: &Forest, node: NodeId) -> bool {
    match forest.arena.node(node) {
        Node::Leaf { outputs } => outputs.iter().any(|output| {
            matches!(
                output,
                Output::One {
                    goal: Goal::Otherwise,
                    ..
                }
            )
        }),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::types::program::HeaderFieldId;

    const MESSAGE: LocalId = LocalId(0);

    fn header(at: u32, result: Type) -> Expression {
        let kind = ExpressionKind::Header(HeaderId(0), HeaderFieldId(at));
        Expression::new(kind, result)
    }

    fn compared(operator: Binary, one: &Expression, other: &Expression) -> Expression {
        Expression::binary(operator, one.clone(), other.clone(), Type::Bool)
    }

    fn ask(condition: Expression) -> Step {
        let what = What::Ask(condition, Probability(999_000), NodeId(0));
        Step { what, origin: None }
    }

    fn act(action: Action) -> Step {
        let what = What::Do(action);
        Step { what, origin: None }
    }

    fn asked(steps: &[Step]) -> Vec<&Expression> {
        let asked = steps.iter().filter_map(|step| match &step.what {
            What::Ask(condition, ..) => Some(condition),
            What::Try(..) | What::Do(_) => None,
        });
        asked.collect()
    }

    #[test]
    fn what_is_neither_before_nor_behind_is_the_same() {
        let (one, other) = (header(0, Type::Sequence(32)), header(1, Type::Sequence(32)));
        let at_most = compared(Binary::AtMost, &one, &other);
        let same = compared(Binary::Equal, &one, &other);
        for second in [
            compared(Binary::AtLeast, &one, &other),
            compared(Binary::AtMost, &other, &one),
        ] {
            let mut steps = vec![ask(at_most.clone()), ask(second)];
            together(&mut steps);
            assert_eq!(asked(&steps), [&same]);
        }
        let mut steps = vec![ask(at_most.clone()), ask(at_most.clone())];
        together(&mut steps);
        assert_eq!(steps.len(), 2, "twice the same says nothing more");
    }

    #[test]
    fn a_header_has_no_variable_part() {
        let (words, width) = (header(2, Type::Unsigned(4)), Type::Unsigned(32));
        let number = |number| Expression::number(number, width.clone());
        let cast = Expression::new(ExpressionKind::Cast(words.clone()), width.clone());
        let bytes = Expression::binary(Binary::Multiply, cast, number(4), width.clone());
        let rest = |fixed| {
            Expression::binary(
                Binary::Subtract,
                bytes.clone(),
                number(fixed),
                width.clone(),
            )
        };
        let hold = Expression::new(ExpressionKind::OptionsHold(HeaderId(0)), Type::Bool);
        let path = |fixed| {
            let length = Expression::new(ExpressionKind::Length(MESSAGE), width.clone());
            vec![
                ask(compared(Binary::AtLeast, &length, &number(20))),
                act(Action::Strip(MESSAGE, HeaderId(0))),
                act(Action::StripRest(MESSAGE, rest(fixed))),
                ask(hold.clone()),
            ]
        };
        let mut steps = path(20);
        bare(&mut steps);
        let five = Expression::number(5, Type::Unsigned(4));
        assert_eq!(
            asked(&steps)[1..],
            [&compared(Binary::Equal, &words, &five)]
        );
        assert_eq!(steps.len(), 3, "without options none breaks a rule");
        let mut steps = path(22);
        bare(&mut steps);
        assert_eq!(steps.len(), 4, "no number of words is so long");
    }

    #[test]
    fn what_an_or_asks_that_cannot_go_wrong_is_asked_early() {
        let one = header(0, Type::Unsigned(8));
        let zero = Expression::number(0, Type::Unsigned(8));
        let remainder = Expression::binary(
            Binary::Remainder,
            zero.clone(),
            one.clone(),
            Type::Unsigned(8),
        );
        assert!(is_total(&compared(Binary::Unequal, &one, &zero)));
        assert!(!is_total(&compared(Binary::Unequal, &remainder, &zero)));
    }
}
