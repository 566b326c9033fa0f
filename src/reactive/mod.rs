//! Handlers of the checked program -> state trees.
//!
//! In: a [`Program`]. Out: a [`Forest`] with one tree for each reaction that can happen, from the
//! links, ports and timers on: whatever a tree lets happen has a tree. Nothing is woven yet: each
//! leaf names the reactions that follow.
//!
//! ```text
//! on send(message) {                             handle fragment.session, send
//!     require message.length <= longest            test message.length <= longest
//!         else drop message as too_long              then  leaf [ipv4 send]
//!     send message                                   else  drop too_long, leaf []
//! }
//! ```
//!
//! Before: every name resolved, every message linear. After: each path through a tree is one way
//! through the instant; `Own` is gone; tests and steps stand in the order of the source. Assumes:
//! handlers are small, as layers are; one with more ways through it than [`MOST_NODES`] is refused.
//! Cost: proportional to the distinct ways through each handler.
//!
//! Processes come in here as well: [`explore`] finds what they do at each event in each of their
//! states, [`handlers`] makes a handler of it.

mod arrive;
mod block;
pub mod cut;
mod due;
pub mod explore;
mod family;
mod frame;
pub mod handlers;
mod joints;
mod lives;
mod meets;
mod output;
mod reads;
mod several;
mod step;
mod sums;

use crate::diagnostic::{Diagnostic, Id};
use crate::source::Span;
use crate::tree::{Action, Arena, Forest, Index, Node, NodeId, Output, Parameters, Reaction, Tree};
use crate::types::expression::{Expression, ExpressionKind, Instance, Variable};
use crate::types::lifetimes::Standing;
use crate::types::program::{
    EntityId, Event, FieldId, Handler, KeyId, KindId, Local, LocalId, Place, Population, Program,
    Role,
};
use crate::types::statement::{Block, Output as Written, StatementKind, TellTarget};
use crate::types::value::{Type, Value};
use frame::Frame;
use std::collections::{BTreeMap, BTreeSet};

/// A handler with more nodes than this has too many ways through it.
pub const MOST_NODES: usize = 20_000;

/// Makes a tree of every reaction that can happen; processes have become handlers before. A handler
/// with too many ways through it is the only thing refused.
pub fn lower(program: &Program) -> Result<Forest, Vec<Diagnostic>> {
    let mut lowering = Lowering {
        program,
        arena: Arena::default(),
        locals: Vec::new(),
        wanted: Vec::new(),
        known: BTreeSet::new(),
        place: None,
        places: BTreeMap::new(),
        told: told(program),
        budget: MOST_NODES,
        diagnostics: Vec::new(),
    };
    let mut trees = Vec::new();
    lowering.want_beginnings();
    while let Some(reaction) = lowering.wanted.pop() {
        trees.push(lowering.tree(reaction));
    }
    if !lowering.diagnostics.is_empty() {
        return Err(lowering.diagnostics);
    }
    trees.sort_by_key(|tree| (entity_of(program, tree.reaction), tree.reaction));
    Ok(Forest {
        arena: lowering.arena,
        locals: lowering.locals,
        trees,
        places: lowering.places,
        ..Forest::default()
    })
}

/// The events that a handler tells an instance, with the kind of the instance.
fn told(program: &Program) -> BTreeSet<(KindId, Event)> {
    fn add(block: &Block, told: &mut BTreeSet<(KindId, Event)>) {
        for statement in block {
            if let StatementKind::Output(Written::Tell {
                target: TellTarget::Instance(_, kind),
                event,
                ..
            }) = &statement.kind
            {
                told.insert((*kind, *event));
            }
            statement
                .blocks()
                .into_iter()
                .for_each(|block| add(block, told));
        }
    }
    let mut told = BTreeSet::new();
    let handlers = program.handlers.iter();
    let code = handlers.flat_map(|one| one.blocks.iter().chain([&one.body]));
    let finders = program.entities.iter().flat_map(|one| &one.finders);
    let code = code.chain(finders.map(|finder| &finder.otherwise));
    code.for_each(|block| add(block, &mut told));
    told
}

/// Whose reaction it is.
pub fn entity_of(program: &Program, reaction: Reaction) -> EntityId {
    match reaction {
        Reaction::Arrive { entity, .. } => entity,
        Reaction::Handle { kind, .. } => program.kinds[kind.at()].entity,
    }
}

/// The label of the sessions that a tree is for.
fn label_of(index: Index) -> Option<u32> {
    match index {
        Index::Label(label) => Some(label),
        Index::Only(_) | Index::Any => None,
    }
}

/// The handler that a kind of instances has for an event.
fn handler_of(program: &Program, kind: KindId, event: Event) -> Option<&Handler> {
    let mut handlers = program.handlers.iter();
    handlers.find(|handler| handler.kind == kind && handler.event == event)
}

/// The lowering of a whole program.
struct Lowering<'a> {
    program: &'a Program,
    arena: Arena,
    locals: Vec<Local>,
    /// Reactions that still lack their tree.
    wanted: Vec<Reaction>,
    /// Reactions that have a tree, or are wanted.
    known: BTreeSet<Reaction>,
    /// Where what is lowered now is written, and where what nodes ask is.
    place: Option<Span>,
    places: BTreeMap<NodeId, Span>,
    /// Events that a handler tells an instance, with the kind of the instance.
    told: BTreeSet<(KindId, Event)>,
    /// How many more steps the tree at hand may take.
    budget: usize,
    diagnostics: Vec<Diagnostic>,
}

impl<'a> Lowering<'a> {
    /// Wants what starts from outside: frames, ports, timers, starts.
    fn want_beginnings(&mut self) {
        let program = self.program;
        for link in &program.links {
            if let Place::Entity { .. } = link.above {
                let up = self.upward(link.above, Instance::Only(0), Event::Deliver);
                self.want_goal(up);
                if let Some(carrier) = link.carrier {
                    self.notice_arrives_at(link.above, Instance::Only(0), carrier);
                }
            }
        }
        for port in &program.ports {
            if port.passes {
                let down = self.downward(port.below, Instance::Only(0), Event::Send);
                self.want_goal(down);
            }
            for &notice in &port.down {
                self.notice_sinks_to(port.below, Instance::Only(0), notice);
            }
            if let Some(how) = port.listens {
                self.want(Reaction::Handle {
                    kind: how.listener,
                    index: Index::Any,
                    event: Event::End,
                });
            }
        }
        for handler in &program.handlers {
            let labelled = program.sessions_below(handler.kind).is_some();
            if labelled && matches!(handler.event, Event::Timer(_)) {
                // Of a timer that has expired only the index is known.
                self.want(Reaction::Handle {
                    kind: handler.kind,
                    index: Index::Any,
                    event: handler.event,
                });
            }
            if matches!(
                handler.event,
                Event::Timer(_) | Event::Start | Event::Again | Event::End
            ) {
                for index in self.indices(handler.kind) {
                    self.want(Reaction::Handle {
                        kind: handler.kind,
                        index,
                        event: handler.event,
                    });
                }
            }
        }
    }

    /// For which instances of a kind there are trees.
    fn indices(&self, kind: KindId) -> Vec<Index> {
        match &self.program.kinds[kind.at()].population {
            Population::Static(instances) => (0..instances.len() as u32).map(Index::Only).collect(),
            Population::Labelled(all) => (0..all.len() as u32).map(Index::Label).collect(),
            Population::Dynamic { .. } => vec![Index::Any],
        }
    }

    fn want(&mut self, reaction: Reaction) {
        if self.known.insert(reaction) {
            self.wanted.push(reaction);
        }
    }

    /// The tree of one reaction.
    fn tree(&mut self, reaction: Reaction) -> Tree {
        self.budget = MOST_NODES;
        self.place = None;
        let (parameters, root) = match reaction {
            Reaction::Arrive {
                entity,
                index,
                event: Event::Deliver,
                ..
            } => self.message_arrives(entity, index),
            Reaction::Arrive { entity, event, .. } => self.notice_arrives(entity, event),
            Reaction::Handle { kind, index, event } => {
                let (parameters, root) = self.handled(kind, index, event);
                let label = label_of(index);
                let first = (event == Event::End).then(|| self.program.multiplexed_on(kind, label));
                let ending = Standing {
                    kind,
                    label,
                    first: 0,
                };
                let root = match (first.flatten(), parameters.instance) {
                    (Some(above), Some(own)) => self.ends_above(above, ending, own, root),
                    (Some(_) | None, _) => root,
                };
                (parameters, root)
            }
        };
        Tree {
            reaction,
            parameters,
            root,
        }
    }

    /// An instance handles an event.
    fn handled(&mut self, kind: KindId, index: Index, event: Event) -> (Parameters, NodeId) {
        if let (Population::Static(instances) | Population::Labelled(instances), Index::Any) =
            (&self.program.kinds[kind.at()].population, index)
        {
            return self.handled_by_one_of(kind, instances.len() as u32, event);
        }
        let mut parameters = Parameters::default();
        let mut first = Vec::new();
        let own = self.own(kind, index, &mut parameters.instance, &mut first);
        let last = match event {
            Event::End => self.last_steps(kind, own),
            _ => Vec::new(),
        };
        let Some(handler) = handler_of(self.program, kind, event) else {
            assert!(event == Event::End, "what is wanted has a handler");
            let leaf = self.leaf(Vec::new());
            first.extend(last);
            return (parameters, self.steps(first, leaf));
        };
        let mut frame = Frame::of(self.program, own, self.keys(kind, index), handler);
        frame.label = label_of(index);
        let below = parameters.instance.filter(|_| frame.label.is_some());
        frame.below = below.map(Instance::Local);
        frame.ends = event == Event::End;
        if frame.ends {
            // Its outputs are due when its fields are gone.
            let fields = 0..self.program.kinds[kind.at()].fields.len() as u32;
            frame.written.extend(fields.map(|at| (kind, FieldId(at))));
        }
        self.declare(&mut frame, &handler.locals, &[]);
        let carries = self.carries_message(event);
        let mut given = handler.parameters.iter().map(|l| frame.locals[l.at()]);
        parameters.message = if carries { given.next() } else { None };
        parameters.arguments = given.collect();
        frame.message = parameters.message;
        let root = self.handler(frame, handler, last);
        (parameters, self.steps(first, root))
    }

    /// A handler's code; header fields that are read late are read first.
    fn handler(&mut self, mut frame: Frame<'a>, handler: &'a Handler, last: Vec<Action>) -> NodeId {
        let mut code = handler.blocks.iter().chain([&handler.body]);
        let goes_below = code.any(|block| reads::goes_below(block));
        let mut first = match goes_below {
            true => self.session_below(&mut frame),
            false => Vec::new(),
        };
        let late = reads::late_header_reads(&handler.body, &handler.blocks);
        first.extend(self.taken_early(&mut frame, late));
        let body = match handler.meets {
            true => self.body_that_meets(&frame, &handler.body, last, handler.span),
            false => self.body(&frame, &handler.body, last, handler.span),
        };
        self.steps(first, body)
    }

    /// Reads fields of headers before their bytes may be gone.
    fn taken_early(&mut self, frame: &mut Frame<'a>, reads: Vec<Expression>) -> Vec<Action> {
        let mut steps = Vec::new();
        for read in reads {
            let local = self.fresh(frame::name_of(self.program, &read), read.result.clone());
            let early = frame.expression(&frame::read_early(self.program, &read));
            steps.push(Action::Let(local, early));
            frame.taken.push((read, local));
        }
        steps
    }

    /// Names the session below on which its own session stands, if that is not known.
    fn session_below(&mut self, frame: &mut Frame<'a>) -> Vec<Action> {
        let below = self.program.stands_on(frame.kind);
        let Some(below) = below.filter(|_| frame.below.is_none()) else {
            return Vec::new();
        };
        let keys = &self.program.kinds[frame.kind.at()].keys;
        let last = KeyId(keys.len() as u32 - 1);
        let result = Type::Instance(below);
        let local = self.fresh(keys[last.at()].name.clone(), result.clone());
        frame.below = Some(Instance::Local(local));
        let key = ExpressionKind::Key(frame.own, frame.kind, last);
        vec![Action::Let(local, Expression::new(key, result))]
    }

    /// Gives locals their names in the tree; the first ones may have them already.
    fn declare(&mut self, frame: &mut Frame<'a>, locals: &[Local], given: &[(LocalId, LocalId)]) {
        for (at, local) in locals.iter().enumerate() {
            let known = given.iter().find(|(old, _)| old.at() == at);
            let name = match known {
                Some((_, new)) => *new,
                None => self.fresh(local.name.clone(), local.kind.clone()),
            };
            frame.locals.push(name);
        }
    }

    /// The instance that a reaction is about; where it is not fixed, a parameter holds it, or the
    /// session below, from which a step finds it.
    fn own(
        &mut self,
        kind: KindId,
        index: Index,
        holder: &mut Option<LocalId>,
        steps: &mut Vec<Action>,
    ) -> Instance {
        let table = &self.program.kinds[kind.at()];
        match index {
            Index::Only(_) if table.role == Role::Record => Instance::Entity,
            Index::Only(only) => Instance::Only(only),
            Index::Any => {
                let local = self.fresh(table.name.clone(), Type::Instance(kind));
                *holder = Some(local);
                Instance::Local(local)
            }
            Index::Label(label) => {
                let below = self.program.stands_on(kind).expect("it has labels");
                let name = self.program.kinds[below.at()].name.clone();
                let local = self.fresh(name, Type::Instance(below));
                *holder = Some(local);
                let standing = Standing {
                    kind,
                    label: Some(label),
                    first: 0,
                };
                self.instance_of(standing, Instance::Local(local), steps)
            }
        }
    }

    /// The keys of an instance that always exists.
    fn keys(&self, kind: KindId, index: Index) -> Option<&'a [Value]> {
        match (&self.program.kinds[kind.at()].population, index) {
            (Population::Static(instances), Index::Only(only)) => {
                Some(&instances[only as usize].keys)
            }
            (Population::Labelled(instances), Index::Label(label)) => {
                Some(&instances[label as usize].keys)
            }
            (Population::Static(_) | Population::Labelled(_) | Population::Dynamic { .. }, _) => {
                None
            }
        }
    }

    /// What is done behind the end handler of an instance.
    fn last_steps(&mut self, kind: KindId, own: Instance) -> Vec<Action> {
        let mut steps = Vec::new();
        self.drop_left(own, kind, self.program.left_at_end(kind), &mut steps);
        if self.program.lives_with(kind) == kind {
            // What may have come, since they ended, to the sessions that live with it.
            for above in self.program.living_with(kind).into_iter().skip(1) {
                let fields = self.program.kinds[above.kind.at()]
                    .fields
                    .iter()
                    .enumerate();
                let holding = fields.filter(|(_, field)| field.kind.holds_messages());
                let holding: Vec<_> = holding.map(|(at, _)| FieldId(at as u32)).collect();
                if !holding.is_empty() {
                    let above_own = self.instance_of(above, own, &mut steps);
                    self.drop_left(above_own, above.kind, holding, &mut steps);
                }
            }
        }
        if self.program.sessions_below(kind).is_none() {
            steps.push(Action::Free(own, kind));
        }
        steps
    }

    fn drop_left(&self, own: Instance, kind: KindId, left: Vec<FieldId>, steps: &mut Vec<Action>) {
        steps.extend(left.into_iter().map(|field| {
            let ended = self.program.ended(self.program.kinds[kind.at()].entity);
            let reason = ended.expect("who may leave messages at its end has the reason `ended`");
            Action::DropAll(Variable::Field(own, kind, field), reason)
        }));
    }

    fn carries_message(&self, event: Event) -> bool {
        match event {
            Event::Send | Event::Deliver => true,
            Event::Notice(notice) => self.program.notices[notice.at()].message,
            Event::Timer(_) | Event::Start | Event::End | Event::Again => false,
        }
    }

    fn too_large(&mut self, span: Span) {
        let mistake = Diagnostic::error(
            Id::HandlerTooLarge,
            "this handler has too many paths",
            span,
            "each test with an output after it doubles the number of paths",
        );
        self.diagnostics
            .push(mistake.help("divide the work into several instants with `again`"));
    }

    fn fresh(&mut self, name: String, kind: Type) -> LocalId {
        self.locals.push(Local { name, kind });
        LocalId(self.locals.len() as u32 - 1)
    }

    fn leaf(&mut self, outputs: Vec<Output>) -> NodeId {
        self.arena.add(Node::Leaf { outputs })
    }

    /// A node with several ways.
    fn branch(&mut self, node: Node) -> NodeId {
        let id = self.arena.add(node);
        if let Some(place) = self.place {
            self.places.entry(id).or_insert(place);
        }
        id
    }

    /// Lowers what is written there, if that is known.
    fn at<T>(&mut self, place: Option<Span>, lower: impl FnOnce(&mut Self) -> T) -> T {
        let around = self.place;
        self.place = place.or(around);
        let lowered = lower(self);
        self.place = around;
        lowered
    }

    fn act(&mut self, action: Action, next: NodeId) -> NodeId {
        self.arena.add(Node::Act { action, next })
    }

    fn steps(&mut self, steps: Vec<Action>, next: NodeId) -> NodeId {
        let steps = steps.into_iter().rev();
        steps.fold(next, |next, action| self.act(action, next))
    }
}
