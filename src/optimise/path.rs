//! A way of a bypass as a list of steps, each of which it may be left at.
//!
//! In: a node. Out: the steps to where ways part that all go on, or where something is done; and
//! steps that say the same with less, whatever else is known.

use super::bypass::{looks, only_looks, stays};
use super::depends::{is_of_length, is_safe, is_total};
use super::simpler::negated;
use crate::tree::uses::Uses;
use crate::tree::{Action, Forest, Goal, Node, NodeId, Output, Probability, Reaction};
use crate::types::expression::{Binary, Expression, ExpressionKind, Instance};
use crate::types::program::{LocalId, Program};
use crate::types::statement::{Attempt, Operation};
use crate::types::value::{Type, Value};

/// What is done on a way before it parts.
#[derive(Clone, PartialEq)]
pub struct Step {
    /// What it is.
    pub what: What,
    /// The reaction whose code begins with it.
    pub origin: Option<Reaction>,
}

/// A step of a bypass.
#[derive(Clone, PartialEq)]
pub enum What {
    /// The path is left where this does not hold; how often it does.
    Ask(Expression, Probability, NodeId),
    /// It is left where this fails.
    Try(Attempt, Option<LocalId>, Probability, NodeId),
    /// One step.
    Do(Action),
}

/// The steps from a node to where ways part that all go on, or where something is done.
pub fn steps(program: &Program, forest: &Forest, from: NodeId) -> (Vec<Step>, NodeId) {
    let (mut steps, mut at) = (Vec::new(), from);
    loop {
        let looks = looks(program, forest.arena.node(at));
        if looks.changes || looks.calls_c {
            return (steps, at);
        }
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
            Node::Act { action, next } if stays(action) => (What::Do(action.clone()), *next),
            _ => return (steps, at),
        };
        apart(what, origin, &mut steps);
        at = next;
    }
}

/// Adds a step that does something; of an `and` each half is asked by itself.
pub fn apart(what: What, origin: Option<Reaction>, steps: &mut Vec<Step>) {
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
pub fn together(steps: &mut Vec<Step>) {
    let mut at = 0;
    while at < steps.len() {
        let (before, behind) = steps.split_at_mut(at + 1);
        at += 1;
        let What::Ask(one, ..) = &mut before[at - 1].what else {
            continue;
        };
        let later = behind.iter().position(|step| match &step.what {
            What::Ask(other, ..) => is_same(one, other),
            What::Try(..) | What::Do(_) => false,
        });
        let Some(later) = later else {
            continue;
        };
        if let ExpressionKind::Binary(operator, ..) = &mut *one.kind {
            *operator = Binary::Equal;
        }
        steps.remove(at + later);
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
    let is_bound = |operator: Binary| matches!(operator, Binary::AtMost | Binary::AtLeast);
    if !is_bound(*first) || !is_bound(*second) {
        return false;
    }
    let turned = if (a, b) == (c, d) {
        *second
    } else {
        second.mirrored()
    };
    let pair = (a, b) == (c, d) || (a, b) == (d, c);
    pair && *first != turned && is_total(one) && is_total(other) && !is_of_length(one)
}

/// Headers have no variable part: that is asked instead, and no option can break a rule.
pub fn bare(steps: &mut Vec<Step>) {
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

/// What a step gives a name to.
pub fn binds(step: &Step) -> Option<LocalId> {
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

/// The locals that a value names.
pub fn locals(value: &Expression) -> Vec<LocalId> {
    let uses = Uses::of(value);
    let instances = uses.instances.into_iter();
    let instances = instances.filter_map(|(instance, _)| match instance {
        Instance::Local(local) => Some(local),
        Instance::Own | Instance::Entity | Instance::Only(_) => None,
    });
    let others = uses.locals.into_iter().chain(uses.messages);
    others.chain(uses.moved).chain(instances).collect()
}

/// Whether a step can be taken whatever else holds.
pub fn is_free(step: &Step) -> bool {
    match &step.what {
        What::Ask(condition, ..) => is_safe(condition),
        What::Do(action) => match action {
            Action::Let(_, value) => value.result == Type::Message || is_safe(value),
            Action::SetAttribute(_, _, value)
            | Action::Do(Operation::Skip(_, value) | Operation::Cut(_, value)) => is_safe(value),
            _ => false,
        },
        What::Try(..) => false,
    }
}

fn is_zero(count: &Expression) -> bool {
    matches!(*count.kind, ExpressionKind::Constant(Value::Number(0)))
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
    use crate::types::program::{HeaderFieldId, HeaderId};

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
