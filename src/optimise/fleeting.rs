//! Fields that are not worth writing at the end of a path.
//!
//! In: all trees. Out: the fields that each of them writes before it reads them.

use super::value::looks;
use super::value::{Looks, Seen};
use crate::tree::walk::{children, reachable};
use crate::tree::{Action, Forest, Node, NodeId};
use crate::types::expression::{Expression, ExpressionKind, Instance, Variable};
use crate::types::program::{FieldId, KindId, LocalId, Program};
use crate::types::value::Value;
use rustc_hash::FxHashMap;
use std::collections::BTreeSet;

/// A field of a kind.
pub type Place = (KindId, FieldId);

/// A field that is read, if a local holds; without one, in any case.
pub type Reading = (Seen, Option<LocalId>);

/// What is read first from each node on.
pub type Readings = FxHashMap<NodeId, BTreeSet<Reading>>;

/// Fields that each tree writes before it reads them, and that nobody else reads.
pub fn fleeting(program: &Program, forest: &Forest) -> BTreeSet<Place> {
    let mut read = Readings::default();
    let mut kept = read_beside_trees(program);
    let mut written = BTreeSet::new();
    for tree in &forest.trees {
        for id in reachable(forest, tree.root) {
            if read.contains_key(&id) {
                continue;
            }
            let node = forest.arena.node(id);
            written.extend(written_by(node).map(|(_, kind, field)| (kind, field)));
            let first = read_from(program, node, &read);
            read.insert(id, first);
        }
        let first = read[&tree.root].iter();
        kept.extend(first.map(|((_, kind, field), _)| (*kind, *field)));
    }
    written.difference(&kept).copied().collect()
}

/// The field that a node writes as a whole.
pub fn written_by(node: &Node) -> Option<(Instance, KindId, FieldId)> {
    match node {
        Node::Act {
            action: Action::Assign(Variable::Field(instance, kind, field), _),
            ..
        } => Some((*instance, *kind, *field)),
        _ => None,
    }
}

/// What is read first from a node on, of which that is known behind it.
pub fn read_from(program: &Program, node: &Node, read: &Readings) -> BTreeSet<Reading> {
    let mut first = behind(node, read);
    if let Some((instance, kind, field)) = written_by(node) {
        first.retain(|(seen, _)| *seen != (Some(instance), kind, field));
    }
    let looks = looks(program, node).fields.into_iter();
    first.extend(looks.map(|seen| (seen, None)));
    first
}

/// What is read behind a node. So a signal's value is not read where the signal, a local, is not
/// there: what was written only where it is comes back to that.
fn behind(node: &Node, read: &Readings) -> BTreeSet<Reading> {
    let mut all = BTreeSet::new();
    match node {
        Node::Test {
            condition,
            then,
            otherwise,
            ..
        } if let Some(local) = local(condition) => {
            let if_it_holds = |(seen, holds): &Reading| (*seen, holds.or(Some(local)));
            all.extend(read[then].iter().map(if_it_holds));
            let others = read[otherwise].iter();
            all.extend(others.filter(|(_, holds)| *holds != Some(local)));
        }
        _ => {
            for child in children(node) {
                all.extend(read[&child].iter().copied());
            }
        }
    }
    let Some((bound, value)) = bound(node) else {
        return all;
    };
    let is_bound = |(_, holds): &Reading| *holds == Some(bound);
    let of_it: Vec<Reading> = all.iter().copied().filter(is_bound).collect();
    all.retain(|reading| !is_bound(reading));
    if value != Some(false) {
        all.extend(of_it.into_iter().map(|(seen, _)| (seen, None)));
    }
    all
}

/// The local that a condition is.
fn local(condition: &Expression) -> Option<LocalId> {
    match &*condition.kind {
        ExpressionKind::Read(Variable::Local(local)) => Some(*local),
        _ => None,
    }
}

/// The local that a node binds, and whether it is then known to hold.
fn bound(node: &Node) -> Option<(LocalId, Option<bool>)> {
    match node {
        Node::Act { action, .. } => match action {
            Action::Let(local, value) => Some((*local, known(value))),
            Action::Sum { bind, .. } | Action::Scan { bind, .. } => Some((*bind, None)),
            Action::Mark(local) => Some((*local, None)),
            _binds_nothing => None,
        },
        Node::Try { bind, .. } => bind.map(|local| (local, None)),
        Node::Test { .. } | Node::Case { .. } | Node::Leaf { .. } => None,
    }
}

fn known(value: &Expression) -> Option<bool> {
    match &*value.kind {
        ExpressionKind::Constant(Value::Number(number)) => Some(*number != 0),
        _ => None,
    }
}

/// What is read where an instance is made, its keys that nobody gives and its first values, and
/// where one is accepted.
fn read_beside_trees(program: &Program) -> BTreeSet<Place> {
    let mut looks = Looks::default();
    for kind in &program.kinds {
        let initial = kind
            .fields
            .iter()
            .filter_map(|field| field.initial.as_ref());
        initial.for_each(|value| looks.add(program, value));
        let defaults = kind.keys.iter().filter_map(|key| key.default.as_ref());
        defaults.for_each(|default| looks.call(program, default.function, &[]));
    }
    let seen = looks.fields.into_iter();
    let seen = seen.map(|(_, kind, field)| (kind, field));
    let listening = program.ports.iter().filter_map(|port| port.listens);
    seen.chain(listening.flat_map(|how| how.fields())).collect()
}
