//! The reference interpreter: what a checked program means, statement by statement.
//!
//! In: a [`Program`], and an event. Out: what follows from it, in order. It knows nothing of trees:
//! whatever lowering, weaving and emission make of a program is checked against what is here.
//!
//! ```text
//! arrive(entity, message)                    handle(instance, event)
//!   strip and check its header                 run the handler's statements, in order
//!   find the session, or run what stands       an output is made ready where it stands,
//!   in place of one                            and follows when the handler has finished
//!   handle(session, deliver)
//! ```

use super::expression::{Evaluation, Moment};
use super::function::{Body, run_block};
use super::header;
use super::joints::Joints;
use super::layers::Instant;
use super::message::Message;
use super::operation::Tried;
use super::stack::Control;
use super::state::{Goal, Pending, State};
use super::value::Datum;
use crate::types::program::{
    EntityId, Event, Finder, Handler, KindId, LocalId, Place, Program, Shape,
};
use crate::types::reactive::Reactive;
use crate::types::statement::{Attempt, Block, Dropped, Search, StatementKind as Kind};
use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::rc::Rc;

/// Runs a program as it stands.
#[derive(Clone, Debug)]
pub struct Reference<'p> {
    joints: Joints<'p>,
}

impl<'p> Reference<'p> {
    /// For this program.
    pub fn new(program: &'p Program) -> Reference<'p> {
        Reference {
            joints: Joints::new(program),
        }
    }
}

impl<'p> Control<'p> for Reference<'p> {
    fn handle(&self, state: &mut State<'p>, event: Pending) -> Vec<Pending> {
        let Pending {
            goal,
            message,
            arguments,
            ..
        } = event;
        match goal {
            Goal::Arrive {
                entity,
                index,
                event: Event::Deliver,
                ..
            } => {
                let message = message.expect("a message is delivered");
                self.message_arrives(state, entity, index, message)
            }
            Goal::Arrive {
                entity,
                index,
                event,
                ..
            } => {
                let finder = self.joints.finder(entity, event);
                let finder = finder.expect("a notice that arrives has a finder");
                let given = given(message, arguments);
                self.found(state, (entity, index), finder, given, BTreeMap::new())
            }
            Goal::Handle { kind, index, event } => {
                let headers = match &message {
                    Some(message) => message.stripped.iter().cloned().collect(),
                    None => BTreeMap::new(),
                };
                let given = given(message, arguments);
                self.handled(state, (kind, index), event, given, headers)
            }
            Goal::Frame(_) | Goal::Port(..) => unreachable!("what leaves the stack is not handled"),
        }
    }

    fn handles(&self, kind: KindId, _index: u32, event: Event) -> bool {
        self.joints.handler(kind, event).is_some()
    }

    fn notice_from_below(&self, state: &State<'p>, place: Place, event: Event) -> Vec<Goal> {
        self.joints.notice_arrives(state, place, None, event)
    }
}

/// Headers that were stripped, from their first byte on.
type Headers = BTreeMap<crate::types::program::HeaderId, Rc<[u8]>>;

impl<'p> Reference<'p> {
    /// A message comes from below: its header is stripped, its session is found.
    fn message_arrives(
        &self,
        state: &mut State<'p>,
        entity: EntityId,
        index: Option<u32>,
        mut message: Message,
    ) -> Vec<Pending> {
        let table = &state.program.entities[entity.at()];
        let mut headers = BTreeMap::new();
        if let Some(header) = table.header {
            if let Err(reason) = strip(state, entity, index.unwrap_or(0), &mut message) {
                let reason = reason
                    .0
                    .expect("what is refused in a header has its reason");
                state.discard(message, reason);
                let own = match (table.shape, index) {
                    (Shape::Worker | Shape::Router, Some(index)) => (table.session, index),
                    (Shape::Multiplexor, _) | (_, None) => (table.record, 0),
                };
                let mut handling = self.handling(state, own, headers);
                handling.instant.below = index;
                let _ = run_block(&mut handling, &table.refused);
                return handling.finish();
            }
            let stripped = message.stripped.as_ref();
            let (_, bytes) = stripped.expect("a header was stripped");
            headers.insert(header, bytes.clone());
        }
        let given = given(Some(message), Vec::new());
        match (table.shape, index) {
            (Shape::Multiplexor, _) | (_, None) => {
                let finder = self.joints.finder(entity, Event::Deliver);
                let finder = finder.expect("a multiplexor says which session a message is for");
                self.found(state, (entity, index), finder, given, headers)
            }
            (Shape::Worker | Shape::Router, Some(index)) => {
                let session = (table.session, index);
                self.handled(state, session, Event::Deliver, given, headers)
            }
        }
    }

    /// The instance that a finder finds handles the event in the same instant.
    fn found(
        &self,
        state: &mut State<'p>,
        (entity, below): (EntityId, Option<u32>),
        finder: &'p Finder,
        given: Vec<Datum>,
        headers: Headers,
    ) -> Vec<Pending> {
        let record = state.program.entities[entity.at()].record;
        let mut handling = self.handling(state, (record, 0), headers);
        handling.give(&finder.parameters, given);
        handling.instant.below = below;
        if let (Some(local), Some(below)) = (finder.below, below) {
            handling.instant.locals[local.at()] = Datum::Number(u64::from(below));
        }
        let _ = run_block(&mut handling, &finder.before);
        for target in &finder.targets {
            if let Some(index) = handling.evaluation().find(target) {
                let given = handling.take(&finder.parameters);
                let headers = std::mem::take(&mut handling.instant.headers);
                let found = (target.kind, index);
                return self.handled(state, found, finder.event, given, headers);
            }
        }
        let _ = run_block(&mut handling, &finder.otherwise);
        handling.finish()
    }

    /// An instance handles an event. No handler: nothing happens.
    fn handled(
        &self,
        state: &mut State<'p>,
        (kind, index): (KindId, u32),
        event: Event,
        given: Vec<Datum>,
        headers: Headers,
    ) -> Vec<Pending> {
        if event == Event::End
            && let Some(first) = self.end_first(state, kind, index)
        {
            return first;
        }
        let outputs = match self.joints.handler(kind, event) {
            Some(handler) => self.run(state, handler, index, given, headers),
            None => Vec::new(),
        };
        if event == Event::End {
            state.free(kind, index);
        }
        outputs
    }

    /// A session ends when no session of a multiplexor stands on it any more: the first of those
    /// ends, and then its turn comes again.
    fn end_first(&self, state: &mut State<'p>, kind: KindId, index: u32) -> Option<Vec<Pending>> {
        let label = state.program.label_of(kind, index);
        let (label, below) = label.unzip();
        let above = state.program.multiplexed_on(kind, label)?;
        let first = state.first_on(above, below.unwrap_or(index))?;
        let event = Event::End;
        let mut outputs = Vec::new();
        for standing in state.program.living_with(above).into_iter().rev() {
            let (kind, index) = (standing.kind, standing.index(first));
            state.unlink(kind, index);
            outputs.push(Pending::new(Goal::Handle { kind, index, event }));
        }
        outputs.push(Pending::new(Goal::Handle { kind, index, event }));
        Some(outputs)
    }

    fn run(
        &self,
        state: &mut State<'p>,
        handler: &'p Handler,
        index: u32,
        given: Vec<Datum>,
        headers: Headers,
    ) -> Vec<Pending> {
        let mut handling = self.handling(state, (handler.kind, index), headers);
        handling.give(&handler.parameters, given);
        handling.instant.below = handling.state.session_below(handler.kind, index);
        handling.ends = handler.event == Event::End;
        let reactive = handling.state.program.kinds[handler.kind.at()]
            .reactive
            .as_ref();
        let hears = |reactive: &&Reactive| {
            let mut events = reactive.events.iter();
            events.any(|(event, ..)| *event == handler.event)
        };
        match reactive.filter(hears) {
            Some(reactive) => Instant::run(&mut handling, reactive, handler.event),
            None => {
                let _ = run_block(&mut handling, &handler.body);
            }
        }
        handling.finish()
    }

    fn handling<'a>(
        &'a self,
        state: &'a mut State<'p>,
        (kind, index): (KindId, u32),
        headers: Headers,
    ) -> Handling<'a, 'p> {
        let own = BTreeMap::from([(kind, index)]);
        let instant = Moment {
            own,
            headers,
            ..Moment::default()
        };
        Handling {
            joints: &self.joints,
            state,
            instant,
            kind,
            index,
            ends: false,
            outputs: Vec::new(),
            family: false,
            family_first: false,
            again: false,
        }
    }
}

/// Takes the header off a message, if it is in order; or says why not.
fn strip(
    state: &mut State<'_>,
    entity: EntityId,
    session: u32,
    message: &mut Message,
) -> Result<(), header::Refused> {
    let table = &state.program.entities[entity.at()];
    let id = table.header.expect("what is stripped is a header");
    let bytes = message.data().to_vec();
    let mut instant = Moment::default();
    match table.shape {
        Shape::Multiplexor => instant.below = Some(session),
        Shape::Worker | Shape::Router => {
            instant.own.insert(table.session, session);
        }
    }
    instant.message = Some(message.clone());
    let instant = &mut instant;
    let mut evaluation = Evaluation { state, instant };
    let extent = header::parse(&mut evaluation, id, &bytes)?;
    if let Some(mark) = table.mark {
        message.attributes[mark.at()] = Datum::some(Datum::Number(message.start() as u64));
    }
    message.skip(extent.header as u64);
    message.cut(extent.data as u64);
    header::check_sums(&mut evaluation, id, &bytes[..extent.header], message)?;
    message.stripped = Some((id, bytes.into()));
    Ok(())
}

/// What a handler is given: the message first, where there is one.
fn given(message: Option<Message>, arguments: Vec<Datum>) -> Vec<Datum> {
    let message = message.map(|message| Datum::Message(Box::new(message)));
    message.into_iter().chain(arguments).collect()
}

/// Whether statements have outputs.
fn lets_happen(block: &Block) -> bool {
    let creates = |search: &Search| matches!(search, Search::Create(..));
    block.iter().any(|statement| {
        let itself = match &statement.kind {
            Kind::Output(_) | Kind::End(..) => true,
            Kind::Attempt {
                attempt: Attempt::Instance(steps),
                ..
            } => steps.iter().any(creates),
            Kind::Attempt { .. }
            | Kind::Require { .. }
            | Kind::If { .. }
            | Kind::Match { .. }
            | Kind::For { .. }
            | Kind::Drain { .. }
            | Kind::Let(..)
            | Kind::Assign(..)
            | Kind::Do(_)
            | Kind::Drop(..)
            | Kind::Consume(_)
            | Kind::Count(_)
            | Kind::StartTimer(..)
            | Kind::StopTimer(..)
            | Kind::Return(_)
            | Kind::Yield(_)
            | Kind::React(_)
            | Kind::Ordered(_) => false,
        };
        itself || statement.blocks().into_iter().any(lets_happen)
    })
}

/// A handler that runs.
pub(super) struct Handling<'a, 'p> {
    pub(super) joints: &'a Joints<'p>,
    pub(super) state: &'a mut State<'p>,
    pub(super) instant: Moment,
    pub(super) kind: KindId,
    pub(super) index: u32,
    /// Whether this is its end: what stood on it has ended before.
    pub(super) ends: bool,
    pub(super) outputs: Vec<Pending>,
    /// Whether a family is among them: it and what follows take their places as they come.
    pub(super) family: bool,
    /// Whether a family comes before all other outputs: then all of them wait, each for a step of
    /// its own.
    pub(super) family_first: bool,
    pub(super) again: bool,
}

impl<'p> Body<'p> for Handling<'_, 'p> {
    fn evaluation(&mut self) -> Evaluation<'_, 'p> {
        Evaluation {
            state: self.state,
            instant: &mut self.instant,
        }
    }

    fn attempt(&mut self, attempt: &'p Attempt, bind: Option<LocalId>) -> bool {
        let value = match self.evaluation().attempt(attempt) {
            Tried::Failed => return false,
            Tried::Done => return true,
            Tried::Found(value) => value,
            Tried::Created(kind, index) => {
                for standing in self.state.program.living_with(kind) {
                    let index = standing.index(index);
                    self.event_of(standing.kind, index, Event::Start);
                }
                if let Some(port) = self.state.accepts_at_once(kind, index) {
                    let goal = Goal::Port(port, index, Event::Start);
                    self.push(goal, None, Vec::new());
                }
                Datum::Number(u64::from(index))
            }
        };
        if let Some(local) = bind {
            self.instant.locals[local.at()] = value;
        }
        true
    }

    fn comes_to_loop(&mut self, turn: &'p Block) {
        if lets_happen(turn) {
            self.begin_family();
        }
    }

    fn perform(&mut self, statement: &'p Kind) -> ControlFlow<()> {
        match statement {
            Kind::Drain { local, queue, body } => {
                self.comes_to_loop(body);
                for _ in 0..self.evaluation().queue(queue).capacity() {
                    let Some(item) = self.evaluation().queue(queue).pop() else {
                        break;
                    };
                    self.instant.locals[local.at()] = item;
                    run_block(self, body)?;
                }
            }
            Kind::Do(operation) => self.evaluation().operate(operation),
            Kind::Output(output) => self.output(output),
            Kind::Drop(Dropped::Message(local), reason) => {
                let message = self.instant.locals[local.at()].take_message();
                self.state.discard(message, *reason);
            }
            Kind::Drop(Dropped::Container(container), reason) => {
                self.evaluation().discard_all(container, *reason);
            }
            Kind::Consume(local) => {
                let message = self.instant.locals[local.at()].take_message();
                self.state.consume(message);
            }
            Kind::Count(counter) => self.state.count(*counter, 1),
            Kind::StartTimer(instance, kind, timer, after) => {
                let deadline_ns = self.evaluation().number(after);
                let deadline_ns = deadline_ns.wrapping_add(self.state.now_ns);
                let index = self.evaluation().index(*instance, *kind);
                self.state.timers.start((*kind, index, *timer), deadline_ns);
            }
            Kind::StopTimer(instance, kind, timer) => {
                let index = self.evaluation().index(*instance, *kind);
                self.state.timers.stop(&(*kind, index, *timer));
            }
            Kind::End(instance, kind) => {
                let index = self.evaluation().index(*instance, *kind);
                let living = self.state.program.living_with(*kind);
                let several = living.len() > 1;
                let linked = self.state.kinds[kind.at()].found.contains(&index);
                if several && !linked {
                    return ControlFlow::Continue(());
                }
                for standing in living.into_iter().rev() {
                    let (kind, index) = (standing.kind, standing.index(index));
                    self.state.unlink(kind, index);
                    let event = Event::End;
                    let goal = Goal::Handle { kind, index, event };
                    self.outputs.push(Pending::new(goal));
                }
            }
            Kind::Let(..)
            | Kind::Attempt { .. }
            | Kind::Require { .. }
            | Kind::Assign(..)
            | Kind::If { .. }
            | Kind::Match { .. }
            | Kind::For { .. }
            | Kind::Return(_)
            | Kind::Yield(_)
            | Kind::React(_)
            | Kind::Ordered(_) => unreachable!("handlers neither return nor yield"),
        }
        ControlFlow::Continue(())
    }
}

impl<'p> Handling<'_, 'p> {
    fn give(&mut self, parameters: &[LocalId], given: Vec<Datum>) {
        for (local, value) in parameters.iter().zip(given) {
            self.instant.locals[local.at()] = value;
        }
    }

    fn take(&mut self, parameters: &[LocalId]) -> Vec<Datum> {
        let locals = &mut self.instant.locals;
        let taken = parameters.iter();
        taken
            .map(|local| std::mem::replace(&mut locals[local.at()], Datum::Absent))
            .collect()
    }

    fn finish(mut self) -> Vec<Pending> {
        if self.again {
            let (kind, index, event) = (self.kind, self.index, Event::Again);
            self.outputs
                .push(Pending::new(Goal::Handle { kind, index, event }));
        }
        if self.family_first {
            self.state.wait(self.outputs);
            return Vec::new();
        }
        self.outputs
    }

    /// An event of an instance, if it handles it.
    fn event_of(&mut self, kind: KindId, index: u32, event: Event) {
        if self.joints.handler(kind, event).is_some() {
            self.outputs
                .push(Pending::new(Goal::Handle { kind, index, event }));
        }
    }
}
