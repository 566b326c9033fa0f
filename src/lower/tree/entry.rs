//! The functions of reactions: in, trees; out, the functions that events start, with their
//! parameters, and the test whether the instance is still there.
//!
//! A reaction is given the index of its instance, unless that is fixed; its message; a view for
//! each header that it reads and has not stripped; the parts of its arguments.

use super::live::free_headers;
use crate::ir::build::Builder;
use crate::ir::{Attempt, Op, Probability, Role, Terminator, Type as Plain, Value};
use crate::lower::Lower;
use crate::lower::code::{Code, Name};
use crate::lower::shapes::parts;
use crate::source::Span;
use crate::tree::{Index, Reaction, Tree};
use crate::types::program::{Event, HeaderId, KindId, Population, Program};
use crate::types::value::Type;
use std::collections::BTreeSet;

/// The function of a reaction.
#[derive(Clone, Debug)]
pub struct Entry {
    /// Its place in the module.
    pub function: crate::ir::FunctionId,
    /// True if its first argument is an index.
    pub has_index: bool,
    /// The headers of which it is given views, in order.
    pub headers: BTreeSet<HeaderId>,
}

impl<'a> Lower<'a> {
    /// Gives each reaction a function that has its parameters and no body yet.
    pub fn declare_reactions(&mut self) {
        let forest = self.forest;
        for tree in &forest.trees {
            let function = crate::ir::FunctionId(self.reactions.len() as u32);
            let entry = Entry {
                function,
                has_index: tree.parameters.instance.is_some(),
                headers: BTreeSet::new(),
            };
            self.reactions.insert(tree.reaction, entry);
        }
        // A reaction is given what those read to which it hands its message on.
        let mut changed = true;
        while changed {
            changed = false;
            for tree in &forest.trees {
                let mut headers = free_headers(self, tree.root);
                if tree.parameters.message.is_none() {
                    headers.clear();
                }
                let entry = self.reactions.get_mut(&tree.reaction);
                let entry = entry.expect("each tree has a function");
                changed |= entry.headers != headers;
                entry.headers = headers;
            }
        }
        for (at, tree) in forest.trees.iter().enumerate() {
            let entry = self.reactions[&tree.reaction].clone();
            let (name, owner) = self.name(tree.reaction);
            let name = self.unique(&name);
            let parameters = self.parameters(tree, &entry);
            let parameters = parameters.iter().map(|(of, hint)| (*of, hint.as_str()));
            let parameters: Vec<(Plain, &str)> = parameters.collect();
            let mut build = Builder::new(&name, &owner, Role::Reaction, &parameters);
            build.end(Terminator::Never);
            let mut function = build.finish(Vec::new());
            function.kept = is_kept(tree.reaction);
            let id = self.add(function);
            assert_eq!(id.at(), at, "reactions stand in the order of their trees");
            self.reactions
                .get_mut(&tree.reaction)
                .expect("it is there")
                .function = id;
        }
    }

    /// The function of a reaction: one for just this instance, or one for any.
    pub fn entry_of(&self, reaction: Reaction) -> Option<&Entry> {
        self.reactions.get(&reaction)
    }

    /// The types and hints of what a reaction is given.
    pub fn parameters(&self, tree: &Tree, entry: &Entry) -> Vec<(Plain, String)> {
        let local = |id: crate::types::program::LocalId| &self.forest.locals[id.at()];
        let mut all = Vec::new();
        if let Some(instance) = tree.parameters.instance {
            all.push((Plain::WORD, local(instance).name.clone()));
        }
        if let Some(message) = tree.parameters.message {
            all.push((Plain::Message, local(message).name.clone()));
        }
        for header in &entry.headers {
            let name = &self.program.headers[header.at()].name;
            all.push((Plain::View, format!("{name}_header")));
        }
        for argument in &tree.parameters.arguments {
            let local = local(*argument);
            let values = parts(self.program, &local.kind).into_iter();
            all.extend(values.map(|of| (of, local.name.clone())));
        }
        all
    }

    /// A name for the function of a reaction, and its layer.
    fn name(&self, reaction: Reaction) -> (String, String) {
        let program = self.program;
        let (subject, event, owner, index) = match reaction {
            Reaction::Arrive {
                entity,
                index,
                event,
                ..
            } => {
                let owner = program.entities[entity.at()].name.clone();
                let name = match event {
                    Event::Deliver => "arrive".to_string(),
                    other => event_name(program, KindId(0), other),
                };
                (owner.clone(), name, owner, index)
            }
            Reaction::Handle { kind, index, event } => {
                let subject = self.module.kinds[kind.at()].name.clone();
                let owner = self.module.kinds[kind.at()].owner.clone();
                (subject, event_name(program, kind, event), owner, index)
            }
        };
        let several = match reaction {
            Reaction::Handle { kind, .. } => program.kinds[kind.at()].capacity > 1,
            Reaction::Arrive { entity, .. } => {
                let session = program.entities[entity.at()].session;
                program.kinds[session.at()].capacity > 1
            }
        };
        let name = match index {
            Index::Only(only) if several => format!("{subject}.{only}.{event}"),
            Index::Label(label) => format!("{subject}.{label}.{event}"),
            Index::Only(_) | Index::Any => format!("{subject}.{event}"),
        };
        (name, owner)
    }
}

impl Code<'_, '_> {
    /// Binds what a reaction is given. If its instance is gone, it only consumes its message.
    pub fn begin(&mut self, tree: &Tree, entry: &Entry) {
        let mut at = 0;
        let mut next = |code: &Self| {
            at += 1;
            code.build.parameter(at - 1)
        };
        let index = entry.has_index.then(|| next(self));
        let message = tree.parameters.message.map(|local| (local, next(self)));
        let headers: Vec<(HeaderId, Value)> = entry
            .headers
            .iter()
            .map(|header| (*header, next(self)))
            .collect();
        if let Some((local, index)) = tree.parameters.instance.zip(index) {
            self.bind(Name::Local(local), vec![index]);
        }
        if let Some((local, message)) = message {
            self.bind(Name::Local(local), vec![message]);
        }
        for (header, view) in headers {
            self.bind(Name::Header(header), vec![view]);
        }
        for argument in &tree.parameters.arguments {
            let count = parts(self.lower.program, &self.locals[argument.at()].kind).len();
            let values = (0..count).map(|_| next(self)).collect();
            self.bind(Name::Local(*argument), values);
        }
        if let Some(index) = index {
            self.require_live(tree, index, message.map(|(_, message)| message));
        }
    }

    /// Goes on only if the instance of a reaction is there; at its end, only if none has begun in
    /// its slot since.
    fn require_live(&mut self, tree: &Tree, index: Value, message: Option<Value>) {
        let Some(kind) = self.kind_of_index(tree) else {
            return;
        };
        let attempt = Attempt::Live(self.lower.kind(kind));
        let (done, failed) = self.attempt_op(attempt, &[index], Probability::ONE);
        self.build.go_to(failed);
        self.end_without(message);
        self.build.go_to(done);
        let instance = self.build.parameter_of(done, 0);
        self.environment.instances.insert((index, kind.0), instance);
        let is_end = matches!(
            tree.reaction,
            Reaction::Handle {
                event: Event::End,
                ..
            }
        );
        if is_end && !self.is_label(tree.reaction) {
            let ended = self.value_of(Op::Ended(self.lower.kind(kind)), &[instance]);
            let (one, other) = self.build.branch(ended, Probability::ONE);
            self.build.go_to(other);
            self.end_without(message);
            self.build.go_to(one);
        }
    }

    fn end_without(&mut self, message: Option<Value>) {
        if let Some(message) = message {
            self.op(Op::Consume, &[message]);
        }
        self.build.end(Terminator::Return(Vec::new()));
    }

    fn is_label(&self, reaction: Reaction) -> bool {
        matches!(
            reaction,
            Reaction::Handle {
                index: Index::Label(_),
                ..
            }
        )
    }

    /// The kind of the instance whose index a reaction is given, if it comes and goes.
    fn kind_of_index(&self, tree: &Tree) -> Option<KindId> {
        let local = tree.parameters.instance?;
        let Type::Instance(kind) = self.locals[local.at()].kind else {
            return None;
        };
        (!self.lower.is_always(kind)).then_some(kind)
    }
}

/// Returns true if an event has a place on the agenda that no other takes: the start or the end of
/// an instance.
fn is_kept(reaction: Reaction) -> bool {
    matches!(
        reaction,
        Reaction::Handle {
            event: Event::Start | Event::End,
            ..
        }
    )
}

fn event_name(program: &Program, kind: KindId, event: Event) -> String {
    match event {
        Event::Send => "send".to_string(),
        Event::Deliver => "deliver".to_string(),
        Event::Notice(notice) => program.notices[notice.at()].name.clone(),
        Event::Timer(timer) => format!("on_{}", program.kinds[kind.at()].timers[timer.at()]),
        Event::Start => "on_start".to_string(),
        Event::End => "on_end".to_string(),
        Event::Again => "again".to_string(),
    }
}

/// The label of each instance of a kind that has labels.
pub fn labels(program: &Program, kind: KindId) -> u32 {
    match &program.kinds[kind.at()].population {
        Population::Labelled(all) => all.len() as u32,
        Population::Static(_) | Population::Dynamic { .. } => 0,
    }
}

/// The handler or finder of a reaction in the sources; none of one that the compiler adds.
pub fn place(program: &Program, reaction: Reaction) -> Option<Span> {
    let handler = |kind: KindId, event: Event| {
        let mut handlers = program.handlers.iter();
        let own = handlers.find(|one| one.kind == kind && one.event == event);
        own.map(|handler| handler.span)
    };
    match reaction {
        Reaction::Handle { kind, event, .. } => handler(kind, event),
        Reaction::Arrive { entity, event, .. } => {
            let own = &program.entities[entity.at()];
            let finder = own.finders.iter().find(|finder| finder.event == event);
            let finder = finder.map(|finder| finder.span);
            finder.or_else(|| handler(own.session, event))
        }
    }
}
