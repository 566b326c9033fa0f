//! A message that a path makes when it has passed all tests.
//!
//! In: the steps that make it, one after the other. Out: what it will be, for who asks before it is
//! there; and the steps, for where it is.
//!
//! ```text
//! make made                             test ipv4.room >= 20
//! made.ttl = 64                         make made
//! push made tcp (…)               =>    made.ttl = 64
//! test length(made) <= ipv4.room        push made tcp (…)
//! ```

use super::bypass::{Sinking, named};
use super::depends::is_of_length;
use super::owed::Owed;
use super::value::is_plain;
use crate::tree::{Action, Probability};
use crate::types::expression::{Expression, ExpressionKind, Variable};
use crate::types::header::HeaderField;
use crate::types::program::{AttributeId, LocalId, Program};

/// A message that is still to be made.
#[derive(Clone)]
pub struct Made {
    /// What holds it.
    pub local: LocalId,
    /// How often there is a buffer for it.
    pub likely: Probability,
    /// Its attributes that are set, and what is known of its bytes.
    attributes: Vec<(AttributeId, Expression)>,
    length: Option<u32>,
    /// What is done with it, in order.
    pub steps: Vec<Action>,
}

impl Made {
    /// One without bytes.
    pub fn new(local: LocalId, likely: Probability) -> Made {
        Made {
            local,
            likely,
            attributes: Vec::new(),
            length: Some(0),
            steps: Vec::new(),
        }
    }

    /// An attribute gets a value, which is the same when it is made.
    pub fn set(&mut self, attribute: AttributeId, value: Expression) {
        self.attributes.retain(|(other, _)| *other != attribute);
        self.attributes.push((attribute, value.clone()));
        let set = Action::SetAttribute(self.local, attribute, value);
        self.steps.push(set);
    }

    /// A header is put before it.
    pub fn push(&mut self, program: &Program, push: Action) {
        let size = size(program, &push);
        self.length = self.length.zip(size).map(|(one, other)| one + other);
        self.steps.push(push);
    }

    /// What an expression that asks for it itself will give, if that is known.
    pub fn value(&self, program: &Program, expression: &Expression) -> Option<Expression> {
        match &*expression.kind {
            ExpressionKind::Length(_) => {
                let length = u64::from(self.length?);
                Some(Expression::number(length, expression.result.clone()))
            }
            ExpressionKind::Attribute(_, attribute) => {
                let mut set = self.attributes.iter();
                let value = set.find(|(other, _)| other == attribute);
                let default = || {
                    let default = program.attributes[attribute.at()].default.clone();
                    default.map(|value| Expression::constant(value, expression.result.clone()))
                };
                value.map(|(_, value)| value.clone()).or_else(default)
            }
            _ => None,
        }
    }

    /// Whether an expression, but for its parts, asks for it.
    pub fn is_asked(&self, expression: &Expression) -> bool {
        match &*expression.kind {
            ExpressionKind::Length(local)
            | ExpressionKind::Attribute(local, _)
            | ExpressionKind::Peeked(local, ..)
            | ExpressionKind::PeekedPresent(local, ..)
            | ExpressionKind::Through(_, _, local) => *local == self.local,
            ExpressionKind::Read(place) => *place == Variable::Local(self.local),
            _of_parts => false,
        }
    }
}

impl Sinking<'_> {
    /// A step where a message is still to be made: what is done with it is done then.
    pub fn while_made(
        &mut self,
        action: Action,
        owed: &mut Owed,
        steps: &mut Vec<Action>,
    ) -> Option<()> {
        let made = owed.made.as_mut().expect("one is still to be made");
        let names_it = named(|all| drop(all.action(&action))).contains(&made.local);
        match action {
            Action::SetAttribute(_, attribute, value) if names_it => {
                let name = self.program.attributes[attribute.at()].name.clone();
                let value = self.standing(value, &name, steps)?;
                made.set(attribute, value);
            }
            Action::Push {
                message,
                header,
                values,
                below,
            } if names_it => {
                let fields = &self.program.headers[header.at()];
                let mut standing = Vec::new();
                for (id, value) in values {
                    let name = &fields.field(id).name;
                    standing.push((id, self.standing(value, name, steps)?));
                }
                let values = standing;
                let push = Action::Push {
                    message,
                    header,
                    values,
                    below,
                };
                made.push(self.program, push);
            }
            // The values of a header that is pushed then are those of headers that are there now.
            _ if names_it => return None,
            Action::Push { .. } | Action::Strip(..) => return None,
            other => {
                self.given(Some(other.clone()), other, owed, steps)?;
                if owed.is_done {
                    return None;
                }
            }
        }
        Some(())
    }

    /// A value that is the same when a message is made: nothing is written until then.
    fn standing(
        &mut self,
        value: Expression,
        name: &str,
        steps: &mut Vec<Action>,
    ) -> Option<Expression> {
        match is_of_length(&value) {
            true if !is_plain(&value.result) => None,
            true => Some(self.held(value, name, steps)),
            false => Some(value),
        }
    }
}

/// How many bytes a header has that is pushed, if that is said: with no option, and nothing that
/// may be missing.
fn size(program: &Program, push: &Action) -> Option<u32> {
    let Action::Push { header, values, .. } = push else {
        return None;
    };
    let header = &program.headers[header.at()];
    let is_loose = header.fields.iter().any(HeaderField::is_loose);
    let has_option = values.iter().any(|(id, _)| header.is_option(*id));
    let counter = header.counter();
    let is_whole = counter.is_none_or(|counter| {
        (header.least - header.fixed_outside(&counter)).is_multiple_of(counter.unit)
    });
    (!is_loose && !has_option && is_whole).then_some(header.least)
}
