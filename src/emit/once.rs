//! Names that say nothing: a local and the step behind the one that binds it come in; out goes
//! whether its value may stand where it is read.
//!
//! It may if that is the one place, on the very next step, with nothing done in between.

use super::tree::Body;
use super::walk::{each, has_effects};
use crate::tree::{Action, Node, NodeId};
use crate::types::expression::{Binary, Expression, ExpressionKind as Kind, Variable};
use crate::types::program::LocalId;
use crate::types::value::Type;
use std::collections::BTreeSet;

impl Body<'_> {
    /// Whether the value of a local is read but once, by what stands at `next`.
    pub fn stands_in(&self, local: LocalId, next: NodeId) -> bool {
        let one = |times: Option<&u32>| times == Some(&1);
        let is_plain = matches!(
            self.scope.kind(local),
            Type::Unsigned(_)
                | Type::Signed(_)
                | Type::Bool
                | Type::Sequence(_)
                | Type::Time
                | Type::Enum(_)
        );
        is_plain
            && one(self.facts.bound.get(&local))
            && one(self.facts.readers.get(&local))
            && self.is_read_at(local, next)
    }

    fn is_read_at(&self, local: LocalId, next: NodeId) -> bool {
        let mut node = next;
        loop {
            if self.apart.contains_key(&node) {
                return false;
            }
            let read = match self.stack.forest.arena.node(node) {
                Node::Act {
                    action: Action::Let(_, value),
                    next,
                } if times(value, local) == 0 && !has_effects(self.stack, value) => {
                    node = *next;
                    continue;
                }
                Node::Act { action, .. } => self.read_by(action),
                Node::Test { condition, .. } => Some(condition),
                Node::Case { value, .. } => Some(value),
                Node::Try { .. } | Node::Leaf { .. } => None,
            };
            return read.is_some_and(|value| times(value, local) == 1);
        }
    }

    /// What a step reads once before it does anything.
    fn read_by<'n>(&self, action: &'n Action) -> Option<&'n Expression> {
        match action {
            Action::Let(local, value) => {
                let optional = matches!(self.scope.kind(*local), Type::Optional(_));
                (!optional).then_some(value)
            }
            Action::SetAttribute(_, attribute, value) => {
                let kind = &self.stack.program.attributes[attribute.at()].kind;
                (!matches!(kind, Type::Optional(_))).then_some(value)
            }
            Action::Assign(Variable::Field(..), value) => {
                (!matches!(value.result, Type::Optional(_))).then_some(value)
            }
            Action::StartTimer(_, _, _, after) => Some(after),
            _ => None,
        }
    }
}

/// Whether a value asks for more than one attribute. In a condition compilers read neighbours as
/// one word, and keep the message in memory to have them so: a name stands in between.
pub fn reads_several_attributes(value: &Expression) -> bool {
    let mut read = BTreeSet::new();
    each(value, &mut |part| {
        if let Kind::Attribute(_, attribute) = &*part.kind {
            read.insert(*attribute);
        }
    });
    read.len() > 1
}

/// How often the C of an expression mentions a local, or more.
fn times(expression: &Expression, local: LocalId) -> u32 {
    let mut count = 0;
    each(expression, &mut |part| match &*part.kind {
        Kind::Read(Variable::Local(read)) if *read == local => count += 1,
        // What these ask for is written twice.
        Kind::Binary(Binary::ShiftLeft | Binary::ShiftRight, _, by) => count += times(by, local),
        Kind::Else(optional, _) => count += times(optional, local),
        Kind::Binary(_, a, b) if matches!(a.result, Type::Optional(_)) => {
            count += times(a, local) + times(b, local);
        }
        _ => {}
    });
    count
}
