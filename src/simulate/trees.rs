//! The interpreter of state trees.
//!
//! In: a [`Forest`], and an event. Out: what follows from it, in order: the outputs of the leaf
//! that is reached. It runs what lowering, weaving and rewriting have made, as the generated C
//! does; that this is what the program means is checked against the reference interpreter.

mod agenda;
mod goal;

use super::expression::{Evaluation, Moment};
use super::function::turns;
use super::header;
use super::message::Message;
use super::operation::Tried;
use super::stack::Control;
use super::state::{Goal, Pending, State};
use super::value::Datum;
use crate::tree::{Action, Forest, Index, Loop, Node, NodeId, Output, Range, Reaction, Tree};
use crate::types::expression::Expression;
use crate::types::program::{
    Event, HeaderFieldId, HeaderId, KindId, LocalId, Place, Program, SessionIndex, Shape,
};
use crate::types::value::Type;
use std::collections::BTreeMap;
use std::rc::Rc;

/// Runs a forest.
#[derive(Debug)]
pub struct Trees<'f> {
    forest: &'f Forest,
    program: &'f Program,
    by_reaction: BTreeMap<Reaction, &'f Tree>,
}

impl<'f> Trees<'f> {
    /// Runs this forest of this program.
    pub fn new(program: &'f Program, forest: &'f Forest) -> Trees<'f> {
        let trees = forest.trees.iter();
        Trees {
            forest,
            program,
            by_reaction: trees.map(|tree| (tree.reaction, tree)).collect(),
        }
    }

    /// The tree that reacts, and the index that it is given.
    fn tree(&self, goal: Goal) -> Option<(&'f Tree, u32)> {
        let (fixed, any, index) = match goal {
            Goal::Arrive {
                entity,
                joint,
                index,
                event,
            } => {
                let reaction = |index| Reaction::Arrive {
                    entity,
                    joint,
                    index,
                    event,
                };
                let fixed = index.map(|index| reaction(Index::Only(index)));
                (fixed, reaction(Index::Any), index.unwrap_or(0))
            }
            Goal::Handle { kind, index, event } => {
                let reaction = |index| Reaction::Handle { kind, index, event };
                if let Some((label, below)) = self.program.label_of(kind, index) {
                    let own = self.by_reaction.get(&reaction(Index::Label(label)));
                    let any = self.by_reaction.get(&reaction(Index::Any));
                    let own = own.map(|tree| (*tree, below));
                    return own.or(any.map(|tree| (*tree, index)));
                }
                (
                    Some(reaction(Index::Only(index))),
                    reaction(Index::Any),
                    index,
                )
            }
            Goal::Frame(_) | Goal::Port(..) => return None,
        };
        let fixed = fixed.and_then(|fixed| self.by_reaction.get(&fixed));
        let tree = fixed.or_else(|| self.by_reaction.get(&any))?;
        Some((tree, index))
    }
}

impl<'p> Trees<'p> {
    /// Runs a tree: what follows at once.
    fn run(
        &self,
        state: &mut State<'p>,
        tree: &'p Tree,
        index: u32,
        event: Pending,
    ) -> Vec<Pending> {
        let mut running = Running {
            forest: self.forest,
            state,
            instant: Moment::default(),
            events: Vec::new(),
            at_once: false,
            turns: 0,
            since: 0,
        };
        running.begin(tree, index, event);
        let outputs = running.run(tree.root);
        running.outputs(outputs);
        if running.at_once {
            return running.events;
        }
        running.state.wait(running.events);
        Vec::new()
    }
}

impl<'p> Control<'p> for Trees<'p> {
    fn handle(&self, state: &mut State<'p>, event: Pending) -> Vec<Pending> {
        let Some((tree, index)) = self.tree(event.goal) else {
            let is_timer = matches!(
                event.goal,
                Goal::Handle {
                    event: Event::Timer(_),
                    ..
                }
            );
            assert!(is_timer, "whatever a tree lets happen has a tree");
            return Vec::new();
        };
        self.run(state, tree, index, event)
    }

    fn handles(&self, kind: KindId, index: u32, event: Event) -> bool {
        self.tree(Goal::Handle { kind, index, event }).is_some()
    }

    fn notice_from_below(&self, state: &State<'p>, place: Place, event: Event) -> Vec<Goal> {
        let Place::Entity {
            entity,
            index,
            joint,
        } = place
        else {
            return Vec::new();
        };
        let table = &self.program.entities[entity.at()];
        let sessions = match (table.shape, index) {
            (Shape::Worker | Shape::Router, SessionIndex::Only(only)) => only..only + 1,
            (Shape::Worker | Shape::Router | Shape::Multiplexor, _) => {
                0..self.program.kinds[table.session.at()].capacity
            }
        };
        let found = Goal::Arrive {
            entity,
            joint,
            index: None,
            event,
        };
        let record = Goal::Handle {
            kind: table.record,
            index: 0,
            event,
        };
        for goal in [found, record] {
            if self.tree(goal).is_some() {
                return vec![goal];
            }
        }
        let session = |index| Goal::Handle {
            kind: table.session,
            index,
            event,
        };
        sessions
            .filter(|index| state.is_live(table.session, *index))
            .map(session)
            .filter(|goal| self.tree(*goal).is_some())
            .collect()
    }
}

/// A tree that runs.
struct Running<'a, 'p> {
    forest: &'p Forest,
    state: &'a mut State<'p>,
    instant: Moment,
    /// What follows, in order.
    events: Vec<Pending>,
    /// Whether the first of them is handled at once: not where the leaf begins with a family, all
    /// of which waits, each turn for a step of its own.
    at_once: bool,
    /// How many loops it is in.
    turns: u32,
    /// How many events waited before this instant.
    since: usize,
}

impl<'p> Running<'_, 'p> {
    /// Binds what the tree is given.
    fn begin(&mut self, tree: &'p Tree, index: u32, event: Pending) {
        match tree.reaction {
            // The session of a label binds itself.
            Reaction::Handle {
                index: Index::Label(_),
                ..
            } => {}
            Reaction::Handle { kind, .. } => {
                self.instant.own.insert(kind, index);
            }
            Reaction::Arrive { entity, .. } => {
                let program = self.state.program;
                let session = program.entities[entity.at()].session;
                let named = program.stands_on(session).unwrap_or(session);
                self.instant.own.insert(named, index);
            }
        }
        if let Some(local) = tree.parameters.instance {
            self.bind(local, Datum::Number(u64::from(index)));
        }
        if let (Some(local), Some(message)) = (tree.parameters.message, event.message) {
            self.instant.headers.extend(message.stripped.clone());
            self.bind(local, Datum::Message(Box::new(message)));
        }
        for (local, value) in tree.parameters.arguments.iter().zip(event.arguments) {
            self.bind(*local, value);
        }
    }

    /// Goes from a node to a leaf: its outputs.
    fn run(&mut self, root: NodeId) -> &'p [Output] {
        let mut at = root;
        loop {
            at = match self.forest.arena.node(at) {
                Node::Test {
                    condition,
                    then,
                    otherwise,
                    ..
                } => match self.evaluation().is_true(condition) {
                    true => *then,
                    false => *otherwise,
                },
                Node::Case {
                    value,
                    cases,
                    otherwise,
                } => {
                    let value = self.evaluation().number(value);
                    let case = cases.iter().find(|(case, _, _)| *case == value);
                    case.map_or(*otherwise, |(_, _, node)| *node)
                }
                Node::Try {
                    attempt,
                    bind,
                    done,
                    failed,
                    ..
                } => match self.evaluation().attempt(attempt) {
                    Tried::Failed => *failed,
                    Tried::Done => *done,
                    Tried::Found(value) => self.bound(*bind, value, *done),
                    Tried::Created(_, index) => {
                        self.bound(*bind, Datum::Number(u64::from(index)), *done)
                    }
                },
                Node::Act { action, next } => {
                    self.act(action);
                    *next
                }
                Node::Leaf { outputs } => {
                    if self.turns == 0 {
                        self.at_once |= matches!(outputs.first(), Some(Output::One { .. }));
                    }
                    return outputs;
                }
            }
        }
    }

    fn bound(&mut self, bind: Option<LocalId>, value: Datum, next: NodeId) -> NodeId {
        if let Some(local) = bind {
            self.bind(local, value);
        }
        next
    }

    fn act(&mut self, action: &'p Action) {
        match action {
            Action::Let(..) | Action::Assign(..) | Action::SetAttribute(..) => self.write(action),
            Action::Strip(..)
            | Action::StripRest(..)
            | Action::Push { .. }
            | Action::Sum { .. }
            | Action::Scan { .. } => self.act_on_bytes(action),
            Action::StartTimer(instance, kind, ..)
            | Action::StopTimer(instance, kind, _)
            | Action::End(instance, kind)
            | Action::Free(instance, kind) => {
                let index = self.evaluation().index(*instance, *kind);
                self.act_on_instance(action, *kind, index);
            }
            Action::Do(operation) => self.evaluation().operate(operation),
            Action::Drop(message, reason) => {
                let message = self.instant.locals[message.at()].take_message();
                self.state.discard(message, *reason);
            }
            Action::DropAll(container, reason) => {
                self.evaluation().discard_all(container, *reason);
            }
            Action::Consume(message) => {
                let message = self.instant.locals[message.at()].take_message();
                self.state.consume(message);
            }
            Action::Count(counter) => self.state.count(*counter, 1),
            Action::Pass(way) => self.state.pass(*way),
            Action::Loop(turns) => {
                self.turns(turns);
                assert!(
                    self.events.is_empty(),
                    "a loop's body ends in an empty leaf"
                );
            }
            Action::Wait(_)
            | Action::Answer(_)
            | Action::Begin
            | Action::Put(_)
            | Action::Mark(_)
            | Action::Precede(..)
            | Action::Turn
            | Action::AtOnce => self.on_agenda(action),
        }
    }

    fn write(&mut self, action: &'p Action) {
        match action {
            Action::Let(local, value) => {
                self.evaluation().bind(*local, value);
                self.name_own(*local);
            }
            Action::Assign(variable, value) => {
                let value = self.evaluation().value(value);
                self.evaluation().write(variable, value);
            }
            Action::SetAttribute(message, attribute, value) => {
                let value = self.evaluation().value(value);
                self.evaluation().message_mut(*message).attributes[attribute.at()] = value;
            }
            other => unreachable!("{other:?} writes nothing"),
        }
    }

    fn act_on_bytes(&mut self, action: &'p Action) {
        match action {
            Action::Strip(message, header) => self.strip(*message, *header),
            Action::StripRest(message, count) => {
                let count = self.evaluation().number(count);
                self.evaluation().message_mut(*message).skip(count);
            }
            Action::Push {
                message,
                header,
                values,
                below,
            } => {
                let below = below.as_ref();
                self.instant.below = below.map(|below| self.evaluation().number(below) as u32);
                self.push(*message, *header, values);
            }
            Action::Sum {
                bind,
                message,
                header,
                field,
                arguments,
            } => {
                let sum = self.sum(*message, *header, *field, arguments);
                self.bind(*bind, Datum::Number(sum));
            }
            Action::Scan {
                bind,
                message,
                filter,
                arguments,
            } => {
                let arguments = self.evaluation().values(arguments);
                let data = self.evaluation().message(*message).data().to_vec();
                let result = self.evaluation().run_filter(*filter, arguments, &data).0;
                self.bind(
                    *bind,
                    result.expect("a filter that is scanned has a result"),
                );
            }
            other => unreachable!("{other:?} touches no bytes"),
        }
    }

    fn act_on_instance(&mut self, action: &'p Action, kind: KindId, index: u32) {
        match action {
            Action::StartTimer(_, _, timer, after) => {
                let after_ns = self.evaluation().number(after);
                let deadline_ns = self.state.now_ns.wrapping_add(after_ns);
                self.state.timers.start((kind, index, *timer), deadline_ns);
            }
            Action::StopTimer(_, _, timer) => self.state.timers.stop(&(kind, index, *timer)),
            // What stands on it has an end of its own.
            Action::End(..) => self.state.unlink(kind, index),
            Action::Free(..) => self.state.free(kind, index),
            other => unreachable!("{other:?} is about no instance"),
        }
    }

    /// The fixed part of a header is taken off.
    fn strip(&mut self, local: LocalId, id: HeaderId) {
        let program = self.state.program;
        let mut entities = program.entities.iter();
        let mark = entities.find(|entity| entity.header == Some(id));
        let mark = mark.and_then(|entity| entity.mark);
        let mut evaluation = self.evaluation();
        let message = evaluation.message_mut(local);
        if let Some(mark) = mark {
            message.attributes[mark.at()] = Datum::some(Datum::Number(message.start() as u64));
        }
        let bytes: Rc<[u8]> = message.data().into();
        message.skip(u64::from(program.headers[id.at()].least));
        message.stripped = Some((id, bytes.clone()));
        self.instant.headers.insert(id, bytes);
    }

    fn push(&mut self, local: LocalId, id: HeaderId, given: &'p [(HeaderFieldId, Expression)]) {
        let values = header::given(&mut self.evaluation(), id, given);
        let mut message = self.instant.locals[local.at()].take_message();
        header::push(&mut self.evaluation(), id, &values, &mut message);
        self.instant.locals[local.at()] = Datum::Message(Box::new(message));
    }

    fn sum(
        &mut self,
        local: LocalId,
        id: HeaderId,
        field: HeaderFieldId,
        arguments: &'p [Expression],
    ) -> u64 {
        let bytes = self.instant.headers.get(&id);
        let bytes = bytes.expect("a header is summed that was stripped").clone();
        let length = header::length(&mut self.evaluation(), id, &bytes);
        let data = self.evaluation().message(local).data().to_vec();
        self.instant.whole_length = (length + data.len()) as u64;
        let arguments = self.evaluation().values(arguments);
        header::sum(
            &mut self.evaluation(),
            (id, field),
            arguments,
            &bytes[..length],
            &data,
        )
    }

    /// All turns of a loop, with their outputs.
    fn turns(&mut self, turns_of: &'p Loop) {
        self.turns += 1;
        match &turns_of.range {
            Range::Numbers {
                from,
                to,
                at_most,
                clamped,
            } => {
                let (first, taken, beyond) = turns(&mut self.evaluation(), (from, to), *at_most);
                if let Some(counter) = clamped {
                    self.state.count(*counter, beyond);
                }
                for n in 0..taken {
                    let number = super::value::fit(&from.result, first.wrapping_add(n));
                    self.bind(turns_of.local, Datum::Number(number));
                    let outputs = self.run(turns_of.body);
                    self.outputs(outputs);
                }
            }
            Range::Queue(queue, at_most) => {
                for _ in 0..*at_most {
                    let Some(item) = self.evaluation().queue(queue).pop() else {
                        break;
                    };
                    self.bind(turns_of.local, item);
                    let outputs = self.run(turns_of.body);
                    self.outputs(outputs);
                }
            }
        }
        self.turns -= 1;
    }

    /// Outputs as events, families turn by turn.
    fn outputs(&mut self, outputs: &'p [Output]) {
        for output in outputs {
            match output {
                Output::One {
                    goal,
                    message,
                    arguments,
                } => {
                    let goal = self.goal(*goal);
                    let arguments = self.evaluation().values(arguments);
                    let taken = message.map(|local| self.instant.locals[local.at()].take_message());
                    self.follows(goal, taken, arguments);
                }
                Output::Many(turns_of) => self.turns(turns_of),
                Output::Every {
                    kind,
                    on,
                    local,
                    goal,
                    arguments,
                } => {
                    let of = self.state.program.stands_on(*kind);
                    let of = on.zip(of);
                    let below = of.map(|(on, below)| self.evaluation().index(on, below));
                    for index in self.state.live(*kind).collect::<Vec<_>>() {
                        if below.is_some() && self.state.session_below(*kind, index) != below {
                            continue;
                        }
                        self.bind(*local, Datum::Number(u64::from(index)));
                        let goal = self.goal(*goal);
                        let arguments = self.evaluation().values(arguments);
                        self.follows(goal, None, arguments);
                    }
                }
            }
        }
    }

    /// An event follows, unless there is no room on the agenda: then its buffer is free for what
    /// follows behind it.
    fn follows(&mut self, goal: Goal, message: Option<Message>, arguments: Vec<Datum>) {
        let event = Pending {
            goal,
            message,
            arguments,
            waited: false,
        };
        let at_once = usize::from(self.at_once);
        let is_first = self.at_once && self.events.is_empty();
        match is_first || self.state.can_wait(goal, &self.events[at_once..]) {
            true => self.events.push(event),
            false => self.state.lose(event),
        }
    }

    fn bind(&mut self, local: LocalId, value: Datum) {
        self.instant.locals[local.at()] = value;
        self.name_own(local);
    }

    /// What functions mean by their own instance is the one of their kind that was bound last;
    /// what lives with it has the same index.
    fn name_own(&mut self, local: LocalId) {
        if let Type::Instance(kind) = self.forest.locals[local.at()].kind {
            let index = self.instant.locals[local.at()].number() as u32;
            let program = self.state.program;
            let root = program.lives_with(kind);
            let below = index % program.kinds[root.at()].capacity;
            let living = program.living_with(root).into_iter();
            let unlabelled = living.filter(|standing| standing.label.is_none());
            let own = &mut self.instant.own;
            own.extend(unlabelled.map(|standing| (standing.kind, below)));
            own.insert(kind, index);
        }
    }

    fn evaluation(&mut self) -> Evaluation<'_, 'p> {
        Evaluation {
            state: self.state,
            instant: &mut self.instant,
        }
    }
}
