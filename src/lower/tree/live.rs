//! The names that are read from a node on: in, a tree; out, the names whose values a block needs.

use crate::lower::Lower;
use crate::lower::code::Name;
use crate::tree::uses::Uses;
use crate::tree::walk::{children, reachable};
use crate::tree::{Action, Goal, Loop, Node, NodeId, Output, Range};
use crate::types::expression::{Expression, ExpressionKind as Kind, Instance};
use crate::types::program::{HeaderId, LocalId};
use crate::types::statement::{Attempt, Operation, Search, Source};
use std::collections::{BTreeMap, BTreeSet};

/// By node: the names that are read from it on.
#[derive(Clone, Debug, Default)]
pub struct Live {
    nodes: BTreeMap<NodeId, BTreeSet<Name>>,
}

impl Live {
    /// Those of a tree.
    pub fn of(lower: &Lower<'_>, root: NodeId) -> Live {
        let mut live = Live::default();
        // Children come first.
        for id in reachable(lower.forest, root) {
            let node = lower.forest.arena.node(id);
            let mut names = BTreeSet::new();
            for child in children(node) {
                names.extend(&live.nodes[&child]);
            }
            for bound in bound(node) {
                names.remove(&bound);
            }
            Reads::of(lower, node).add_to(&mut names);
            live.nodes.insert(id, names);
        }
        live
    }

    /// The names that are read from a node on.
    pub fn at(&self, node: NodeId) -> &BTreeSet<Name> {
        &self.nodes[&node]
    }
}

/// The headers that a tree reads without having stripped them, beside those that `others` gives of
/// the reactions to which it hands a message on.
pub fn free_headers(lower: &Lower<'_>, root: NodeId) -> BTreeSet<HeaderId> {
    let mut free: BTreeMap<NodeId, BTreeSet<HeaderId>> = BTreeMap::new();
    for id in reachable(lower.forest, root) {
        let node = lower.forest.arena.node(id);
        let mut headers = BTreeSet::new();
        for child in children(node) {
            headers.extend(&free[&child]);
        }
        if let Node::Act {
            action: Action::Strip(_, header),
            ..
        } = node
        {
            headers.remove(header);
        }
        headers.extend(Reads::of(lower, node).headers);
        free.insert(id, headers);
    }
    free.remove(&root).unwrap_or_default()
}

/// The names that a node binds anew, so that nobody before it has to know them.
fn bound(node: &Node) -> Vec<Name> {
    match node {
        Node::Act { action, .. } => match action {
            Action::Let(local, _)
            | Action::Sum { bind: local, .. }
            | Action::Scan { bind: local, .. }
            | Action::Mark(local) => vec![Name::Local(*local)],
            Action::Strip(_, header) => vec![Name::Header(*header)],
            Action::Begin => vec![Name::Begun],
            Action::Loop(turns) => vec![Name::Local(turns.local)],
            _other => Vec::new(),
        },
        Node::Try {
            bind: Some(local), ..
        } => vec![Name::Local(*local)],
        Node::Try { .. } | Node::Test { .. } | Node::Case { .. } | Node::Leaf { .. } => Vec::new(),
    }
}

/// The names that one node reads.
#[derive(Debug, Default)]
struct Reads {
    locals: BTreeSet<LocalId>,
    headers: BTreeSet<HeaderId>,
    begun: bool,
}

impl Reads {
    fn of(lower: &Lower<'_>, node: &Node) -> Reads {
        let mut reads = Reads::default();
        match node {
            Node::Test { condition, .. } => reads.expression(lower, condition),
            Node::Case { value, .. } => reads.expression(lower, value),
            Node::Try { attempt, .. } => reads.attempt(lower, attempt),
            Node::Act { action, .. } => reads.action(lower, action),
            Node::Leaf { outputs } => reads.outputs(lower, outputs),
        }
        reads
    }

    fn add_to(self, names: &mut BTreeSet<Name>) {
        names.extend(self.locals.into_iter().map(Name::Local));
        names.extend(self.headers.into_iter().map(Name::Header));
        if self.begun {
            names.insert(Name::Begun);
        }
    }

    fn uses(&mut self, uses: Uses) {
        self.locals.extend(uses.locals);
        self.locals.extend(uses.messages);
        self.locals.extend(uses.moved);
        self.headers.extend(uses.headers);
        let instances = uses.instances.into_iter();
        self.locals
            .extend(instances.filter_map(|(instance, _)| local(instance)));
        self.locals.remove(&LocalId::MESSAGE);
    }

    fn expression(&mut self, lower: &Lower<'_>, expression: &Expression) {
        self.uses(Uses::of(expression));
        self.calls(lower, expression);
    }

    /// The headers that called functions read.
    fn calls(&mut self, lower: &Lower<'_>, expression: &Expression) {
        if let Kind::Call(id, _) = &*expression.kind
            && !lower.program.functions[id.at()].external
        {
            self.headers.extend(&lower.needs[id.at()].headers);
        }
        for part in expression.parts() {
            self.calls(lower, part);
        }
    }

    fn expressions(&mut self, lower: &Lower<'_>, all: &[Expression]) {
        all.iter().for_each(|one| self.expression(lower, one));
    }

    fn attempt(&mut self, lower: &Lower<'_>, attempt: &Attempt) {
        let mut uses = Uses::default();
        uses.attempt(attempt);
        self.uses(uses);
        for value in attempt.values() {
            self.calls(lower, value);
        }
        match attempt {
            Attempt::Instance(searches) => {
                for search in searches {
                    match search {
                        Search::Standing(_, on) => self.locals.extend(local(*on)),
                        Search::Create(_, _, listener) => {
                            self.locals.extend(listener.and_then(local));
                        }
                        Search::Find(_) | Search::Soonest(..) => {}
                    }
                }
            }
            Attempt::Push(_, source)
            | Attempt::InsertWindow(_, _, source)
            | Attempt::Message(source) => self.source(source),
            _other => {}
        }
    }

    fn source(&mut self, source: &Source) {
        match source {
            Source::Local(local) | Source::Share(local) | Source::Piece(local, ..) => {
                self.locals.insert(*local);
            }
            Source::New
            | Source::NewFrom(..)
            | Source::TakeStream(..)
            | Source::SliceStream(..) => {}
        }
    }

    fn operation(&mut self, lower: &Lower<'_>, operation: &Operation) {
        let mut uses = Uses::default();
        uses.operation(operation);
        self.uses(uses);
        if let Operation::Call(id, arguments) = operation {
            if !lower.program.functions[id.at()].external {
                self.headers.extend(&lower.needs[id.at()].headers);
            }
            self.expressions(lower, arguments);
        }
    }

    fn action(&mut self, lower: &Lower<'_>, action: &Action) {
        match action {
            Action::Let(_, value) => self.expression(lower, value),
            Action::Assign(variable, value) => {
                let mut uses = Uses::default();
                uses.variable(variable);
                self.uses(uses);
                self.expression(lower, value);
            }
            Action::SetAttribute(message, _, value) | Action::StripRest(message, value) => {
                self.locals.insert(*message);
                self.expression(lower, value);
            }
            Action::Strip(message, _) | Action::Drop(message, _) | Action::Consume(message) => {
                self.locals.insert(*message);
            }
            Action::Push {
                message,
                values,
                below,
                ..
            } => {
                self.locals.insert(*message);
                for (_, value) in values {
                    self.expression(lower, value);
                }
                below.iter().for_each(|below| self.expression(lower, below));
            }
            Action::Sum {
                message,
                header,
                arguments,
                ..
            } => {
                self.locals.insert(*message);
                self.headers.insert(*header);
                self.expressions(lower, arguments);
            }
            Action::Scan {
                message, arguments, ..
            } => {
                self.locals.insert(*message);
                self.expressions(lower, arguments);
            }
            Action::Do(operation) => self.operation(lower, operation),
            Action::DropAll(variable, _) => {
                let mut uses = Uses::default();
                uses.variable(variable);
                self.uses(uses);
            }
            Action::StartTimer(instance, _, _, after) => {
                self.locals.extend(local(*instance));
                self.expression(lower, after);
            }
            Action::StopTimer(instance, ..)
            | Action::End(instance, _)
            | Action::Free(instance, _) => self.locals.extend(local(*instance)),
            Action::Loop(turns) => self.turns(lower, turns),
            Action::Wait(outputs) | Action::Answer(outputs) | Action::Put(outputs) => {
                self.outputs(lower, outputs);
            }
            Action::Precede(first, mark) => self.locals.extend([*first, *mark]),
            Action::Turn | Action::AtOnce => self.begun = true,
            Action::Count(_) | Action::Pass(_) | Action::Begin | Action::Mark(_) => {}
        }
    }

    fn turns(&mut self, lower: &Lower<'_>, turns: &Loop) {
        match &turns.range {
            Range::Numbers { from, to, .. } => {
                self.expression(lower, from);
                self.expression(lower, to);
            }
            Range::Queue(queue, _) => {
                let mut uses = Uses::default();
                uses.variable(queue);
                self.uses(uses);
            }
        }
    }

    fn outputs(&mut self, lower: &Lower<'_>, outputs: &[Output]) {
        for output in outputs {
            match output {
                Output::One {
                    goal,
                    message,
                    arguments,
                } => {
                    self.goal(lower, goal);
                    self.locals.extend(message);
                    self.expressions(lower, arguments);
                }
                Output::Many(turns) => self.turns(lower, turns),
                Output::Every {
                    on,
                    local: each,
                    goal,
                    arguments,
                    ..
                } => {
                    self.goal(lower, goal);
                    self.expressions(lower, arguments);
                    self.locals.remove(each);
                    self.locals.extend(on.and_then(local));
                }
            }
        }
    }

    fn goal(&mut self, lower: &Lower<'_>, goal: &Goal) {
        match goal {
            Goal::Frame(_) => {}
            Goal::Port(_, instance, _) => self.locals.extend(local(*instance)),
            Goal::Reaction(reaction, instance) => {
                self.locals.extend(instance.and_then(local));
                if let Some(entry) = lower.entry_of(*reaction) {
                    self.headers.extend(&entry.headers);
                }
            }
        }
    }
}

fn local(instance: Instance) -> Option<LocalId> {
    match instance {
        Instance::Local(local) => Some(local),
        Instance::Own | Instance::Entity | Instance::Only(_) => None,
    }
}
