//! Rules about paths: what is bound where it is read, and each message moved exactly once.
//!
//! Nodes are shared, so a node is checked once, for what all paths to it have in common. Parents
//! stand behind their children in the arena: a walk from the last node to the first meets every
//! path to a node before the node.

use super::Checked;
use super::types::moves_message;
use crate::tree::uses::{Uses, marks};
use crate::tree::{Action, Goal, Loop, Node, NodeId, Output, Range, Reaction, walk};
use crate::types::expression::{Expression, Instance};
use crate::types::program::{Event, HeaderId, KindId, LocalId};
use crate::types::statement::{Attempt, Search};
use crate::types::value::Type;
use std::collections::{BTreeMap, BTreeSet};

/// What is known on all paths to a node.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Known {
    /// Locals that hold a value.
    bound: BTreeSet<LocalId>,
    /// Messages that are still to be moved.
    pub owned: BTreeSet<LocalId>,
    /// Instances that were looked for and found, and whether they were made there.
    pub found: BTreeMap<LocalId, (KindId, bool)>,
    /// Whether what was put on the agenda has still to turn.
    pub begun: bool,
    /// In a turn of what.
    pub inside: Inside,
    /// Messages that belong to what is around a loop: they can be read, not moved.
    lent: BTreeSet<LocalId>,
    /// Headers that can be read.
    headers: BTreeSet<HeaderId>,
    /// All headers can be read: they came with the message.
    brought: bool,
}

/// Of what something is a part.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Inside {
    /// Of a tree, and of no turn.
    #[default]
    Tree,
    /// Of a turn of a loop without outputs.
    Loop,
    /// Of a turn of a family.
    Family,
}

/// The walk through one tree, or through the body of one of its loops.
pub struct Flow<'a, 'c> {
    checked: &'c mut Checked<'a>,
    known: BTreeMap<NodeId, Known>,
}

impl<'a> Flow<'a, '_> {
    /// Checks all paths of a tree. What is known where it begins.
    pub fn check(checked: &mut Checked<'a>) -> Known {
        let tree = checked.tree;
        let event = match tree.reaction {
            Reaction::Arrive { event, .. } | Reaction::Handle { event, .. } => event,
        };
        let mut start = Known {
            brought: event == Event::Deliver && matches!(tree.reaction, Reaction::Handle { .. }),
            ..Known::default()
        };
        let given = &tree.parameters;
        start.bound.extend(given.instance);
        start.bound.extend(&given.arguments);
        start.owned.extend(given.message);
        walk_from(checked, tree.root, start.clone());
        start
    }

    fn node(&mut self, id: NodeId, mut known: Known) {
        let forest = self.checked.forest;
        match forest.arena.node(id) {
            Node::Test {
                condition,
                then,
                otherwise,
                ..
            } => {
                self.uses(id, &mut known, &Uses::of(condition));
                self.reach(*then, id, known.clone());
                self.reach(*otherwise, id, known);
            }
            Node::Case {
                value,
                cases,
                otherwise,
            } => {
                self.uses(id, &mut known, &Uses::of(value));
                for (_, _, node) in cases {
                    self.reach(*node, id, known.clone());
                }
                self.reach(*otherwise, id, known);
            }
            Node::Try {
                attempt,
                bind,
                done,
                failed,
                ..
            } => {
                self.attempt(id, known, (attempt, *bind), (*done, *failed));
            }
            Node::Act { action, next } => {
                self.action(id, &mut known, action);
                known.begun &= *action != Action::Turn;
                known.begun |= *action == Action::Begin;
                self.reach(*next, id, known);
            }
            Node::Leaf { outputs } => {
                self.outputs(id, &mut known, outputs);
                for message in known.owned {
                    let name = self.checked.name(message);
                    self.checked
                        .violated(Some(id), format!("the message {name} is forgotten"));
                }
            }
        }
    }

    fn attempt(
        &mut self,
        id: NodeId,
        mut known: Known,
        (attempt, bind): (&Attempt, Option<LocalId>),
        (done, failed): (NodeId, NodeId),
    ) {
        let mut uses = Uses::default();
        uses.attempt(attempt);
        let moved = std::mem::take(&mut uses.moved);
        self.uses(id, &mut known, &uses);
        let mut succeeded = known.clone();
        let moves = Uses {
            moved,
            ..Uses::default()
        };
        self.uses(id, &mut succeeded, &moves);
        if let Some(local) = bind {
            self.bind(id, &mut succeeded, local);
            if let Attempt::Instance(steps) = attempt {
                let found = steps.iter().map(|step| match step {
                    Search::Find(target) => (target.kind, false),
                    Search::Soonest(kind, ..) | Search::Standing(kind, _) => (*kind, false),
                    Search::Create(kind, ..) => (*kind, true),
                });
                succeeded.found.extend(found.map(|found| (local, found)));
            }
        }
        self.reach(done, id, succeeded);
        self.reach(failed, id, known);
    }

    fn action(&mut self, id: NodeId, known: &mut Known, action: &'a Action) {
        let mut uses = Uses::default();
        uses.locals.extend(marks(action));
        let mut bound = None;
        match action {
            Action::Let(local, value) => {
                bound_to(&mut uses, value);
                bound = Some(*local);
            }
            Action::Assign(variable, value) => {
                uses.variable(variable);
                uses.expression(value);
            }
            Action::SetAttribute(message, _, value) | Action::StripRest(message, value) => {
                uses.messages.push(*message);
                uses.expression(value);
            }
            Action::Strip(message, header) => {
                uses.messages.push(*message);
                known.headers.insert(*header);
            }
            Action::Push {
                message,
                values,
                below,
                ..
            } => {
                uses.messages.push(*message);
                let values = values.iter().map(|(_, value)| value).chain(below);
                values.for_each(|value| uses.expression(value));
            }
            Action::Sum {
                bind,
                message,
                arguments,
                ..
            }
            | Action::Scan {
                bind,
                message,
                arguments,
                ..
            } => {
                uses.messages.push(*message);
                uses.expressions(arguments);
                bound = Some(*bind);
            }
            Action::Do(operation) => uses.operation(operation),
            Action::Drop(message, _) | Action::Consume(message) => uses.moved.push(*message),
            Action::DropAll(container, _) => uses.variable(container),
            Action::StartTimer(instance, kind, _, after) => {
                uses.instance(*instance, *kind);
                uses.expression(after);
            }
            Action::StopTimer(instance, kind, _)
            | Action::End(instance, kind)
            | Action::Free(instance, kind) => uses.instance(*instance, *kind),
            Action::Loop(turns) => self.turns(id, known, turns, Inside::Loop),
            Action::Wait(outputs) | Action::Put(outputs) => self.outputs(id, known, outputs),
            Action::Answer(outputs) => self.outputs(id, known, outputs),
            Action::Count(_) | Action::Pass(_) | Action::Begin | Action::Turn | Action::AtOnce => {}
            Action::Mark(first) | Action::Precede(first, _) => bound = Some(*first),
        }
        self.uses(id, known, &uses);
        bound
            .into_iter()
            .for_each(|local| self.bind(id, known, local));
    }

    fn outputs(&mut self, id: NodeId, known: &mut Known, outputs: &'a [Output]) {
        for output in outputs {
            match output {
                Output::One {
                    goal,
                    message,
                    arguments,
                } => {
                    let mut uses = Uses::default();
                    uses.expressions(arguments);
                    uses.moved.extend(*message);
                    uses.locals.extend(instance_of(*goal));
                    self.uses(id, known, &uses);
                }
                Output::Many(turns) => self.turns(id, known, turns, Inside::Family),
                Output::Every {
                    on,
                    local,
                    goal,
                    arguments,
                    ..
                } => {
                    let mut around = Uses::default();
                    if let Some(Instance::Local(on)) = on {
                        around.locals.push(*on);
                    }
                    self.uses(id, known, &around);
                    let mut each = known.clone();
                    self.bind(id, &mut each, *local);
                    let mut uses = Uses::default();
                    uses.expressions(arguments);
                    uses.locals.extend(instance_of(*goal));
                    self.uses(id, &mut each, &uses);
                }
            }
        }
    }

    /// A turn of a loop reads what is around it, and moves its own messages.
    fn turns(&mut self, id: NodeId, known: &mut Known, turns: &'a Loop, inside: Inside) {
        let mut uses = Uses::default();
        match &turns.range {
            Range::Numbers { from, to, .. } => {
                uses.expression(from);
                uses.expression(to);
            }
            Range::Queue(queue, _) => uses.variable(queue),
        }
        self.uses(id, known, &uses);
        let mut turn = known.clone();
        turn.inside = inside;
        let around = std::mem::take(&mut turn.owned);
        turn.lent.extend(around);
        self.bind(id, &mut turn, turns.local);
        walk_from(self.checked, turns.body, turn);
    }

    fn uses(&mut self, id: NodeId, known: &mut Known, uses: &Uses) {
        for local in &uses.locals {
            if !known.bound.contains(local) {
                let name = self.checked.name(*local);
                self.checked
                    .violated(Some(id), format!("{name} is read and not bound"));
            }
        }
        for (instance, kind) in &uses.instances {
            self.checked.is_instance(id, *instance, *kind);
            if let Instance::Local(local) = instance
                && !known.bound.contains(local)
            {
                let name = self.checked.name(*local);
                self.checked
                    .violated(Some(id), format!("the instance {name} is not bound"));
            }
        }
        for header in &uses.headers {
            if !known.brought && !known.headers.contains(header) {
                let name = &self.checked.program.headers[header.at()].name;
                let sentence = format!("the header of {name} is read and not stripped");
                self.checked.violated(Some(id), sentence);
            }
        }
        for message in &uses.messages {
            if !known.owned.contains(message) && !known.lent.contains(message) {
                let name = self.checked.name(*message);
                self.checked
                    .violated(Some(id), format!("the message {name} is not here"));
            }
        }
        for message in &uses.moved {
            if !known.owned.remove(message) {
                let name = self.checked.name(*message);
                let sentence = format!("the message {name} moves and is not here");
                self.checked.violated(Some(id), sentence);
            }
        }
    }

    fn bind(&mut self, id: NodeId, known: &mut Known, local: LocalId) {
        let fresh = match self.checked.local(local) {
            Some(Type::Message) => known.owned.insert(local),
            Some(_) => {
                known.bound.insert(local);
                true
            }
            None => false,
        };
        if !fresh {
            let name = self.checked.name(local);
            self.checked
                .violated(Some(id), format!("{name} is bound over a message"));
        }
    }

    /// A path leads to a node; what is known there is what all of them know.
    fn reach(&mut self, node: NodeId, from: NodeId, known: Known) {
        if let Some(ways) = &mut self.checked.ways {
            ways.entry(from).or_default().push(known.clone());
        }
        let Some(other) = self.known.get_mut(&node) else {
            self.known.insert(node, known);
            return;
        };
        let differ = other.owned != known.owned;
        other.bound.retain(|local| known.bound.contains(local));
        other
            .headers
            .retain(|header| known.headers.contains(header));
        other.brought &= known.brought;
        other
            .found
            .retain(|local, _| known.found.contains_key(local));
        let unlike: Vec<LocalId> = other
            .owned
            .symmetric_difference(&known.owned)
            .copied()
            .collect();
        if differ {
            other.owned.retain(|message| known.owned.contains(message));
            let names: Vec<String> = unlike
                .iter()
                .map(|local| self.checked.name(*local))
                .collect();
            let names = names.join(", ");
            let sentence = format!("paths meet of which only some have the message {names}");
            self.checked.violated(Some(from), sentence);
        }
    }
}

/// Checks all paths from a node on.
fn walk_from(checked: &mut Checked<'_>, root: NodeId, start: Known) {
    let nodes = walk::reachable(checked.forest, root);
    let mut flow = Flow {
        checked,
        known: BTreeMap::from([(root, start)]),
    };
    for id in nodes.into_iter().rev() {
        // What is not known here is the body of a loop, which is walked by itself.
        if let Some(known) = flow.known.remove(&id) {
            flow.node(id, known);
        }
    }
}

/// A value that is bound is read, or, if it is a message, moves.
fn bound_to(uses: &mut Uses, value: &Expression) {
    match moves_message(value) {
        Some(message) => uses.moved.push(message),
        None => uses.expression(value),
    }
}

fn instance_of(goal: Goal) -> Option<LocalId> {
    match goal {
        Goal::Port(_, Instance::Local(local), _)
        | Goal::Reaction(_, Some(Instance::Local(local))) => Some(local),
        Goal::Frame(_) | Goal::Port(..) | Goal::Reaction(..) => None,
    }
}
