//! Messages of an application that only become part of a stream: such a message need not stand in a
//! buffer, since its bytes are copied into the stream before the call of the application returns.
//!
//! In: the tree of a reaction to `send`. Out: whether all that it does with its message is to
//! append or insert it, to drop or consume it, and to ask for its length and attributes.
//!
//! ```text
//! on send(message) { text.append(message) else drop message as full }      appended
//! on send(message) { held.push(message) else drop message as full }        stays: in a buffer
//! ```

use crate::tree::uses::Uses;
use crate::tree::walk::reachable;
use crate::tree::{Action, Forest, Node, NodeId, Output, Tree};
use crate::types::expression::{Expression, ExpressionKind as Kind};
use crate::types::program::LocalId;
use crate::types::statement::Attempt;

/// Returns true if a reaction appends its message to a stream, and does nothing else with it.
pub fn is_only_appended(forest: &Forest, tree: &Tree) -> bool {
    let Some(message) = tree.parameters.message else {
        return false;
    };
    let nodes = reachable(forest, tree.root);
    let node = |id: &NodeId| forest.arena.node(*id);
    nodes.iter().any(|id| is_appended(node(id), message))
        && nodes.iter().all(|id| leaves_bytes_alone(node(id), message))
}

fn is_appended(node: &Node, message: LocalId) -> bool {
    match node {
        Node::Try { attempt, .. } => appends(attempt, message),
        Node::Test { .. } | Node::Case { .. } | Node::Act { .. } | Node::Leaf { .. } => false,
    }
}

fn appends(attempt: &Attempt, message: LocalId) -> bool {
    matches!(
        attempt,
        Attempt::AppendStream(_, appended) | Attempt::InsertStream(_, _, appended)
            if *appended == message
    )
}

fn leaves_bytes_alone(node: &Node, message: LocalId) -> bool {
    match node {
        Node::Test { condition, .. } => asks_only(condition, message),
        Node::Case { value, .. } => asks_only(value, message),
        Node::Try { attempt, .. } => {
            let mut uses = Uses::default();
            uses.attempt(attempt);
            appends(attempt, message) || names_not(&uses, message)
        }
        Node::Act { action, .. } => acts_without(action, message),
        Node::Leaf { outputs } => outputs.iter().all(|output| sends_not(output, message)),
    }
}

/// Returns true if an expression asks at most for the length and the attributes of a message.
fn asks_only(expression: &Expression, message: LocalId) -> bool {
    let is_asked = match &*expression.kind {
        Kind::Attribute(of, _) | Kind::Length(of) => *of == message,
        _other_kinds => false,
    };
    let mut uses = Uses::default();
    uses.expression(expression);
    is_asked || names_not(&uses, message) || {
        let parts = expression.parts();
        !parts.is_empty() && parts.into_iter().all(|part| asks_only(part, message))
    }
}

fn names_not(uses: &Uses, message: LocalId) -> bool {
    !uses.messages.contains(&message) && !uses.moved.contains(&message)
}

fn sends_not(output: &Output, message: LocalId) -> bool {
    match output {
        Output::One {
            message: sent,
            arguments,
            ..
        } => *sent != Some(message) && arguments.iter().all(|one| asks_only(one, message)),
        Output::Every { arguments, .. } => arguments.iter().all(|one| asks_only(one, message)),
        Output::Many(_) => false,
    }
}

/// Returns true if an action leaves the bytes of a message alone. A loop is not looked into.
fn acts_without(action: &Action, message: LocalId) -> bool {
    match action {
        Action::Let(_, value) | Action::Assign(_, value) | Action::StartTimer(.., value) => {
            asks_only(value, message)
        }
        Action::SetAttribute(_, _, value) => asks_only(value, message),
        Action::Do(operation) => {
            let mut uses = Uses::default();
            uses.operation(operation);
            names_not(&uses, message)
        }
        Action::Push {
            message: pushed,
            values,
            below,
            ..
        } => {
            let mut all = values.iter().map(|(_, value)| value).chain(below);
            *pushed != message && all.all(|value| asks_only(value, message))
        }
        Action::Sum {
            message: read,
            arguments,
            ..
        }
        | Action::Scan {
            message: read,
            arguments,
            ..
        } => *read != message && arguments.iter().all(|one| asks_only(one, message)),
        Action::Strip(of, _) | Action::StripRest(of, _) => *of != message,
        Action::Wait(outputs) | Action::Answer(outputs) | Action::Put(outputs) => {
            outputs.iter().all(|output| sends_not(output, message))
        }
        Action::Loop(_) => false,
        Action::Drop(..)
        | Action::DropAll(..)
        | Action::Consume(_)
        | Action::Count(_)
        | Action::Pass(_)
        | Action::StopTimer(..)
        | Action::End(..)
        | Action::Free(..)
        | Action::Begin
        | Action::Mark(_)
        | Action::Precede(..)
        | Action::Turn
        | Action::AtOnce => true,
    }
}
