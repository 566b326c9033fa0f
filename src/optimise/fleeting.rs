//! Fields that are not worth writing at the end of a path.
//!
//! In: all trees. Out: the fields that each of them writes before it reads them.

use super::bypass::looks;
use super::value::{Looks, Seen};
use crate::tree::walk::{children, reachable};
use crate::tree::{Action, Forest, Node, NodeId};
use crate::types::expression::Variable;
use crate::types::program::{FieldId, KindId, Program};
use std::collections::{BTreeSet, HashMap};

/// A field of a kind.
pub type Place = (KindId, FieldId);

/// Fields that each tree writes before it reads them, and that nobody else reads.
pub fn fleeting(program: &Program, forest: &Forest) -> BTreeSet<Place> {
    let mut read: HashMap<NodeId, BTreeSet<Seen>> = HashMap::new();
    let mut kept = read_beside_trees(program);
    let mut written = BTreeSet::new();
    for tree in &forest.trees {
        for id in reachable(forest, tree.root) {
            if read.contains_key(&id) {
                continue;
            }
            let node = forest.arena.node(id);
            let mut first = BTreeSet::new();
            for child in children(node) {
                first.extend(read[&child].iter().copied());
            }
            if let Node::Act {
                action: Action::Assign(Variable::Field(instance, kind, field), _),
                ..
            } = node
            {
                first.remove(&(Some(*instance), *kind, *field));
                written.insert((*kind, *field));
            }
            first.extend(looks(program, node).fields);
            read.insert(id, first);
        }
        let first = read[&tree.root].iter();
        kept.extend(first.map(|(_, kind, field)| (*kind, *field)));
    }
    written.difference(&kept).copied().collect()
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
