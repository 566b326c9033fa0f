//! Rules about one node: types, attempts, outputs.

use super::{Checked, argument_types, carries_message};
use crate::tree::{Action, Goal, Index, Loop, NodeId, Output, Range, Reaction, walk};
use crate::types::expression::{Expression, ExpressionKind, Instance, Variable};
use crate::types::program::{Event, FilterId, KindId, LocalId, Population, Role};
use crate::types::statement::{Attempt, Operation, Search};
use crate::types::value::Type;

impl<'a> Checked<'a> {
    /// A condition is a bool.
    pub fn is_condition(&mut self, id: NodeId, condition: &Expression) {
        if condition.result != Type::Bool {
            self.violated(Some(id), format!("a condition is {:?}", condition.result));
        }
    }

    /// A case is about a number, bool or enum.
    pub fn is_case(&mut self, id: NodeId, value: &Expression) {
        match value.result {
            Type::Unsigned(_)
            | Type::Signed(_)
            | Type::Sequence(_)
            | Type::Time
            | Type::Bool
            | Type::Instance(_)
            | Type::Enum(_) => {}
            Type::Bytes(_)
            | Type::BoundedBytes(_)
            | Type::UnboundedBytes
            | Type::Record(_)
            | Type::Optional(_)
            | Type::Message
            | Type::Queue(..)
            | Type::Window(..)
            | Type::Stream(..)
            | Type::Array(..)
            | Type::Set(_)
            | Type::Header(_)
            | Type::Abstract(_)
            | Type::Nothing => self.violated(Some(id), "a case is about a number"),
        }
    }

    /// An attempt is one, and binds what it finds.
    pub fn is_attempt(&mut self, id: NodeId, attempt: &Attempt, bind: Option<LocalId>) {
        let found = match attempt {
            Attempt::Instance(searches) => match &searches[..] {
                [Search::Find(target)] => {
                    if target.condition.is_some() {
                        self.violated(Some(id), "a condition is a test before the search");
                    }
                    Some(Type::Instance(target.kind))
                }
                [Search::Soonest(kind, ..)] => Some(Type::Instance(*kind)),
                [Search::Standing(kind, on)] => {
                    self.is_below(id, *on, *kind);
                    Some(Type::Instance(*kind))
                }
                [Search::Create(kind, ..)] => Some(Type::Instance(*kind)),
                _ => return self.violated(Some(id), "it looks for one instance at a time"),
            },
            Attempt::Value(_) => {
                return self.violated(Some(id), "an optional's value is a test and a binding");
            }
            Attempt::Pop(_)
            | Attempt::TakeWindow(..)
            | Attempt::ShareWindow(..)
            | Attempt::Message(_) => Some(Type::Message),
            Attempt::PopValue(queue) => match self.type_of(queue) {
                Some(Type::Queue(item, _)) => Some(*item),
                _ => return self.violated(Some(id), "values are popped from a queue"),
            },
            Attempt::TakeValue(window, _) => match self.type_of(window) {
                Some(Type::Window(item, ..)) => Some(*item),
                _ => return self.violated(Some(id), "values are taken from a window"),
            },
            Attempt::Peek(_, header) => Some(Type::Header(*header)),
            Attempt::Push(..)
            | Attempt::PushValue(..)
            | Attempt::InsertWindow(..)
            | Attempt::InsertValue(..)
            | Attempt::InsertStream(..)
            | Attempt::AppendStream(..)
            | Attempt::Restore(..)
            | Attempt::Pad(..) => None,
            Attempt::Rewrite(_, filter, _) => {
                self.grows(id, *filter, true);
                None
            }
        };
        let bound = bind.and_then(|local| self.local(local));
        let nothing_named = bind.is_none() && found != Some(Type::Message);
        if bound != found.as_ref() && !nothing_named {
            self.violated(
                Some(id),
                format!("what is found is {found:?}, not {bound:?}"),
            );
        }
    }

    /// What is written has the type of its place.
    pub fn is_action(&mut self, id: NodeId, action: &Action) {
        match action {
            Action::Let(local, value) => {
                let place = self.local(*local).cloned();
                self.fits(id, place, &value.result);
            }
            Action::Assign(variable, value) => {
                let place = self.type_of(variable);
                self.fits(id, place, &value.result);
            }
            Action::SetAttribute(_, attribute, value) => {
                let place = self.program.attributes[attribute.at()].kind.clone();
                self.fits(id, Some(place), &value.result);
            }
            Action::Push { header, values, .. } => {
                for (field, value) in values {
                    let header = &self.program.headers[header.at()];
                    let place = header.field(*field).kind.clone();
                    self.fits(id, Some(place), &value.result);
                }
            }
            Action::Sum {
                bind,
                header,
                field,
                ..
            } => {
                let fields = &self.program.headers[header.at()].fields;
                let sum = fields[field.at()].kind.clone();
                let place = self.local(*bind).cloned();
                self.fits(id, place, &sum);
            }
            Action::Scan { bind, filter, .. } => {
                let result = self.program.filters[filter.at()].result.as_ref();
                let place = self.local(*bind).cloned();
                match result.map(|result| result.result.clone()) {
                    Some(result) => self.fits(id, place, &result),
                    None => self.violated(Some(id), "a filter without a result is not scanned"),
                }
            }
            Action::StartTimer(_, _, _, after) => self.fits(id, Some(Type::Time), &after.result),
            Action::Loop(turns) => {
                self.is_loop(id, turns);
                self.yields_nothing(id, turns);
            }
            Action::Wait(all) | Action::Put(all) => {
                all.iter().for_each(|one| self.is_output(id, one))
            }
            Action::Answer(all) => all.iter().for_each(|one| self.is_answer(id, one)),
            Action::Do(Operation::Rewrite(_, filter, _)) => self.grows(id, *filter, false),
            Action::Do(_)
            | Action::Strip(..)
            | Action::StripRest(..)
            | Action::Drop(..)
            | Action::DropAll(..)
            | Action::Consume(_)
            | Action::Count(_)
            | Action::Pass(_)
            | Action::StopTimer(..)
            | Action::End(..)
            | Action::Begin
            | Action::Turn
            | Action::AtOnce
            | Action::Mark(_)
            | Action::Precede(..)
            | Action::Free(..) => {}
        }
    }

    /// Data is rewritten where it stands by a filter that does not grow, and by no other.
    fn grows(&mut self, id: NodeId, filter: FilterId, tried: bool) {
        let filter = &self.program.filters[filter.at()];
        if !filter.rewrites || filter.grows != tried {
            let how = if tried { "tried" } else { "run in place" };
            let name = &filter.name;
            self.violated(Some(id), format!("`{name}` is not to be {how}"));
        }
    }

    /// What follows exists, and is given what it wants.
    pub fn is_output(&mut self, id: NodeId, output: &Output) {
        match output {
            Output::One {
                goal,
                message,
                arguments,
            } => self.is_goal(id, *goal, message.is_some(), arguments),
            Output::Many(turns) => self.is_loop(id, turns),
            Output::Every {
                kind,
                on,
                local,
                goal,
                arguments,
            } => {
                on.iter().for_each(|on| self.is_below(id, *on, *kind));
                if self.local(*local) != Some(&Type::Instance(*kind)) {
                    self.violated(Some(id), "each instance is held by a local of its kind");
                }
                if let Population::Static(_) = self.program.kinds[kind.at()].population {
                    self.violated(Some(id), "instances that always exist are told one by one");
                }
                self.is_goal(id, *goal, false, arguments);
            }
        }
    }

    /// The host is told, and nothing else comes of it.
    fn is_answer(&mut self, id: NodeId, output: &Output) {
        match output {
            Output::One {
                goal: Goal::Frame(_) | Goal::Port(..),
                ..
            } => self.is_output(id, output),
            Output::One { .. } | Output::Many(_) | Output::Every { .. } => {
                self.violated(Some(id), "an answer goes to the host");
            }
        }
    }

    /// Sessions of this kind stand on such an instance.
    fn is_below(&mut self, id: NodeId, below: Instance, kind: KindId) {
        match self.program.stands_on(kind) {
            Some(on) => self.is_instance(id, below, on),
            None => self.violated(Some(id), "each of these stands on a session below"),
        }
    }

    /// An instance that a node names: it is never `Own`, and of its kind, or of one whose instances
    /// live and end with those of its kind, under the same index.
    pub fn is_instance(&mut self, id: NodeId, instance: Instance, kind: KindId) {
        let table = &self.program.kinds[kind.at()];
        let holds = match instance {
            Instance::Own => false,
            Instance::Entity => table.role == Role::Record,
            Instance::Local(local) => match self.local(local) {
                Some(Type::Instance(of)) => self.same_index(*of, kind),
                Some(_) | None => false,
            },
            Instance::Only(index) => match &table.population {
                Population::Static(instances) => (index as usize) < instances.len(),
                Population::Dynamic { .. } | Population::Labelled(_) => false,
            },
        };
        if !holds {
            let name = &table.name;
            self.violated(Some(id), format!("{instance:?} is no instance of `{name}`"));
        }
    }

    fn is_goal(&mut self, id: NodeId, goal: Goal, message: bool, arguments: &[Expression]) {
        let event = match goal {
            Goal::Frame(link) => {
                if link.at() >= self.program.links.len() || !arguments.is_empty() || !message {
                    self.violated(Some(id), "what leaves by a link is a message");
                }
                return;
            }
            Goal::Port(port, _, event) => {
                let listed = match event {
                    Event::Deliver => true,
                    Event::Notice(notice) => self.program.ports[port.at()].up.contains(&notice),
                    Event::Start => self.program.ports[port.at()].listens.is_some(),
                    Event::Send | Event::Timer(_) | Event::End | Event::Again => false,
                };
                if !listed {
                    self.violated(Some(id), "the port does not list what comes to it");
                }
                event
            }
            Goal::Reaction(reaction, instance) => {
                self.is_reaction(id, reaction, instance);
                match reaction {
                    Reaction::Arrive { event, .. } | Reaction::Handle { event, .. } => event,
                }
            }
        };
        if message != carries_message(self.program, event) {
            self.violated(Some(id), "a message goes with the events that carry one");
        }
        let given = arguments.iter().map(|argument| &argument.result);
        if given.ne(argument_types(self.program, event)) {
            self.violated(Some(id), "the arguments are not those of the event");
        }
    }

    fn is_reaction(&mut self, id: NodeId, reaction: Reaction, instance: Option<Instance>) {
        let mut trees = self.forest.trees.iter();
        let Some(tree) = trees.find(|tree| tree.reaction == reaction) else {
            return self.violated(Some(id), format!("{reaction:?} follows and has no tree"));
        };
        if tree.parameters.instance.is_some() != instance.is_some() {
            self.violated(Some(id), "an instance is given unless it is fixed");
        }
        if let (Reaction::Handle { kind, index, .. }, Some(instance)) = (reaction, instance) {
            match index {
                Index::Any => self.is_instance(id, instance, kind),
                Index::Label(_) => self.is_below(id, instance, kind),
                Index::Only(_) => self.violated(Some(id), "an index that is fixed is not given"),
            }
        }
        if let (Reaction::Arrive { entity, .. }, Some(instance)) = (reaction, instance) {
            let session = self.program.entities[entity.at()].session;
            let named = self.program.stands_on(session).unwrap_or(session);
            self.is_instance(id, instance, named);
        }
    }

    /// Whether instances of two kinds that live and end together have the same index.
    fn same_index(&self, one: KindId, other: KindId) -> bool {
        let root = |kind| self.program.lives_with(kind);
        let labelled = |kind| self.program.sessions_below(kind).is_some();
        one == other || (root(one) == root(other) && !labelled(one) && !labelled(other))
    }

    fn is_loop(&mut self, id: NodeId, turns: &Loop) {
        let local = self.local(turns.local).cloned();
        match &turns.range {
            Range::Numbers { from, to, .. } => {
                self.fits(id, local.clone(), &from.result);
                self.fits(id, local, &to.result);
            }
            Range::Queue(queue, _) => match self.type_of(queue) {
                Some(Type::Queue(item, _)) => self.fits(id, local, &item),
                _ => self.violated(Some(id), "what is drained is a queue"),
            },
        }
    }

    fn yields_nothing(&mut self, id: NodeId, turns: &Loop) {
        for node in walk::reachable(self.forest, turns.body) {
            if let crate::tree::Node::Leaf { outputs } = self.forest.arena.node(node)
                && !outputs.is_empty()
            {
                self.violated(Some(id), "a loop that is no family has an output");
            }
        }
    }

    fn fits(&mut self, id: NodeId, place: Option<Type>, value: &Type) {
        if place.as_ref() != Some(value) {
            self.violated(
                Some(id),
                format!("{value:?} is written where {place:?} stands"),
            );
        }
    }

    fn type_of(&self, variable: &Variable) -> Option<Type> {
        match variable {
            Variable::Field(_, kind, field) => {
                let fields = &self.program.kinds[kind.at()].fields;
                fields.get(field.at()).map(|field| field.kind.clone())
            }
            Variable::Local(local) => self.local(*local).cloned(),
            Variable::Element(array, _) => match self.type_of(array)? {
                Type::Array(item, _) => Some(*item),
                Type::Bytes(_) => Some(Type::Unsigned(8)),
                _ => None,
            },
            Variable::Part(_, record, field) => {
                let fields = &self.program.records[record.at()].fields;
                fields.get(field.at()).map(|field| field.kind.clone())
            }
        }
    }
}

/// Whether a message moves with this value.
pub fn moves_message(value: &Expression) -> Option<LocalId> {
    match (&*value.kind, &value.result) {
        (ExpressionKind::Read(Variable::Local(local)), Type::Message) => Some(*local),
        _ => None,
    }
}
