//! A stack that runs, as its host sees it: the C interface, for both interpreters.
//!
//! In: frames, an application's messages and notices, time. Out: frames, messages and notices, a
//! deadline, counters. What an event does is the business of a [`Control`]; the agenda, its
//! budget, and the order of all events are here.
//!
//! ```text
//! input, send, open, notice, expire
//!   put an event on the agenda ──► step: take the last event
//!                                   │ Control::handle gives outputs, in order
//!                                   │ all but the first wait; the first is handled at once
//!                                   └ until there is none, or it left the stack
//! ```

use super::expression::{Evaluation, Moment};
use super::externs::Externs;
use super::operation::datums;
use super::state::{Emitted, Goal, Limits, Pending, State, arrival};
use super::value::Datum;
use crate::types::program::{
    AttributeId, EntityId, Event, KindId, LinkId, NoticeId, Place, Population, PortId, Program,
    Role, SessionIndex,
};
use std::sync::Arc;

/// What an interpreter has to say.
pub trait Control<'p> {
    /// Handles an event that stays in the stack. Returns what follows, in order.
    fn handle(&self, state: &mut State<'p>, event: Pending) -> Vec<Pending>;

    /// Whether instances of a kind handle an event.
    fn handles(&self, kind: KindId, index: u32, event: Event) -> bool;

    /// Where a notice goes that comes to a place from below, in order.
    fn notice_from_below(&self, state: &State<'p>, place: Place, event: Event) -> Vec<Goal>;
}

/// What becomes of a message that an application sends: all of it. The generated C has the same
/// numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It is taken.
    Sent,
    /// It is not taken now.
    Later,
    /// It is dropped, for a reason that is counted.
    Refused,
}

impl Outcome {
    /// All of them, in the order of their numbers.
    pub const ALL: [Outcome; 3] = [Outcome::Sent, Outcome::Later, Outcome::Refused];
}

/// A running stack.
#[derive(Clone, Debug)]
pub struct Stack<'p, C> {
    pub(super) control: C,
    pub(super) state: State<'p>,
    /// Whether an application's function is being called.
    pub(super) calling: bool,
    /// The names of all counters, in the order of [`Program::counters`].
    counters: Vec<Arc<str>>,
}

impl<'p, C: Control<'p>> Stack<'p, C> {
    /// Starts a stack, if its settings go together. `config` has a value for each entry of
    /// [`Program::config`], `externs` all that the program calls in C.
    pub fn start(
        control: C,
        program: &'p Program,
        externs: &'p Externs<'p>,
        config: Vec<Datum>,
        limits: Limits,
        now_ns: u64,
    ) -> Option<Stack<'p, C>> {
        assert_eq!(
            externs.missing(program),
            Vec::<&str>::new(),
            "what is written in C is supplied by whoever starts a stack"
        );
        let state = State::new(program, externs, config, limits, now_ns);
        let counters = program.counters().into_iter();
        let mut stack = Stack {
            control,
            state,
            calling: false,
            counters: counters
                .map(|(what, name)| format!("{}{name}", what.prefix()).into())
                .collect(),
        };
        let mut conditions = program.config.iter().flat_map(|one| &one.constraints);
        if !conditions.all(|one| stack.evaluation(&mut Moment::default()).is_true(one)) {
            return None;
        }
        let mut events = stack.populate();
        for link in 0..program.links.len() {
            events.extend(stack.told_of_link(LinkId(link as u32), true));
        }
        if !stack.can_work(stack.state.loaded(&events)) {
            return None;
        }
        stack.state.wait(events);
        Some(stack)
    }

    /// Returns true if a stack can work within its limits, where so many events wait at the start.
    /// Behind a callback two frames may leave, besides the output of its step.
    fn can_work(&self, at_start: usize) -> bool {
        let (limits, program) = (&self.state.limits, self.state.program);
        let calls = program.ports.iter().any(|port| port.calls.is_some())
            || program.links.iter().any(|link| link.calls.is_some());
        limits.buffers > limits.reserve
            && limits.outputs >= if calls { 3 } else { 1 }
            && limits.events >= at_start.max(1)
            && limits.budget > 0
    }

    /// What the functions that ports and links call were called with, since this was asked.
    pub fn called(&mut self) -> Vec<Emitted> {
        std::mem::take(&mut self.state.called)
    }

    /// Frames that came in by a link: how many of them were taken. The host copies each into a
    /// buffer of the stack first, as far as there are any, and keeps those that are not taken.
    pub fn input(&mut self, link: LinkId, frames: &[Vec<u8>], now_ns: u64) -> usize {
        if self.calling {
            return 0;
        }
        let copied = self.state.lend_buffers(frames.len());
        // What a link calls may hand over frames, too, but not in these buffers.
        self.state.lent -= copied;
        self.begin_call(now_ns);
        let mut taken = 0;
        while taken < copied && self.state.agenda.is_empty() && self.may_go_on() {
            if frames[taken].len() > self.state.limits.room {
                break;
            }
            let mut message = self.state.blank(&frames[taken]);
            message.came_in = true;
            self.state.fates.frames_in += 1;
            taken += 1;
            let event = Pending {
                message: Some(message),
                ..Pending::new(arrival(self.state.program, link))
            };
            self.state.wait(vec![event]);
            self.run();
        }
        self.state.lent += copied - taken;
        taken
    }

    /// A message of an application. What can never be taken is refused, whatever waits.
    pub fn send(
        &mut self,
        (port, session): (PortId, u32),
        attributes: &[(AttributeId, Datum)],
        bytes: &[u8],
        now_ns: u64,
    ) -> Outcome {
        self.begin_call(now_ns);
        if !(self.state.program.ports[port.at()].passes && self.is_open(port, session)) {
            self.state.fates.no_session += 1;
            return Outcome::Refused;
        }
        if bytes.len() > self.state.limits.longest(port) {
            self.state.fates.too_long += 1;
            return Outcome::Refused;
        }
        let goes_on = self.calling || self.may_go_on();
        if !self.takes(1) || !goes_on {
            return Outcome::Later;
        }
        let Some(mut message) = self.state.host_message(bytes) else {
            return Outcome::Later;
        };
        for (attribute, value) in attributes {
            message.attributes[attribute.at()] = value.clone();
        }
        let (kind, index) = self.below(port, session);
        let event = Event::Send;
        let event = Pending {
            message: Some(message),
            ..Pending::new(Goal::Handle { kind, index, event })
        };
        self.watched(event)
    }

    /// What an application sends goes on its way: whether it is dropped on that. Functions of the
    /// host that are called then may send something else.
    fn watched(&mut self, mut event: Pending) -> Outcome {
        self.state.sends += 1;
        let number = Some(self.state.sends);
        let outer = std::mem::replace(&mut self.state.sending, number);
        if let Some(message) = &mut event.message {
            message.sent = number;
        }
        self.tell(event, true);
        match std::mem::replace(&mut self.state.sending, outer) {
            Some(_) => Outcome::Sent,
            None => Outcome::Refused,
        }
    }

    /// Opens a conversation with these keys; those that are [`Datum::Absent`] are the stack's to
    /// find. None if there is such a conversation already, or no room for it.
    pub fn open(&mut self, port: PortId, keys: Vec<Datum>, now_ns: u64) -> Option<u32> {
        self.begin_call(now_ns);
        let program = self.state.program;
        let kind = program.ports[port.at()].opens?;
        let index = self.created(kind, keys)?;
        let event = Event::Start;
        let mut events = Vec::new();
        for standing in program.living_with(kind) {
            let (kind, index) = (standing.kind, standing.index(index));
            if self.control.handles(kind, index, event) {
                events.push(Pending::new(Goal::Handle { kind, index, event }));
            }
        }
        let down = program.ports[port.at()].down.iter();
        for notice in down.filter(|notice| program.notices[notice.at()].name == "open") {
            events.extend(self.downward(port, index, *notice, Vec::new()));
        }
        self.state.wait_last(events);
        self.run();
        Some(index)
    }

    /// Listens with these keys: the listener. It has at most so many sessions that the application
    /// has not accepted. None if there is such a listener already, or no room for it.
    pub fn listen(
        &mut self,
        port: PortId,
        keys: Vec<Datum>,
        backlog: u32,
        now_ns: u64,
    ) -> Option<u32> {
        self.begin_call(now_ns);
        let how = self.state.program.ports[port.at()].listens?;
        let (kind, event) = (how.listener, Event::Start);
        let index = self.created(kind, keys)?;
        self.state
            .set_field(kind, index, how.backlog, u64::from(backlog));
        if self.control.handles(kind, index, event) {
            let start = Pending::new(Goal::Handle { kind, index, event });
            self.state.wait_last(vec![start]);
        }
        self.run();
        Some(index)
    }

    /// Ends a listener; the sessions that it made stay, and those that wait are still accepted.
    pub fn unlisten(&mut self, port: PortId, listener: u32, now_ns: u64) {
        self.begin_call(now_ns);
        let Some(how) = self.state.program.ports[port.at()].listens else {
            return;
        };
        let (kind, index, event) = (how.listener, listener, Event::End);
        if self.state.is_live(kind, index) {
            self.state.unlink(kind, index);
            let end = Pending::new(Goal::Handle { kind, index, event });
            self.state.wait_last(vec![end]);
            self.run();
        }
    }

    /// The keys of a conversation that is open.
    pub fn keys(&self, port: PortId, session: u32) -> Option<&[Datum]> {
        let kind = self.state.program.ports[port.at()].opens?;
        let lives = self.state.is_live(kind, session);
        lives.then(|| &self.state.kinds[kind.at()].keys[session as usize][..])
    }

    /// A notice of an application: it comes behind all that waits.
    pub fn notice(
        &mut self,
        (port, session): (PortId, u32),
        notice: NoticeId,
        arguments: Vec<Datum>,
        now_ns: u64,
    ) {
        self.begin_call(now_ns);
        let is_open = self.is_open(port, session);
        if let Some(event) = self.downward(port, session, notice, arguments) {
            self.tell(event, is_open);
        }
    }

    /// An application tells something, if that is for one that is there: behind all that waits.
    /// While it is called, that happens at once if nothing waits, and what comes of it when its
    /// function has returned.
    fn tell(&mut self, event: Pending, is_open: bool) {
        let at_once = self.calling && self.state.agenda.is_empty() && self.has_room();
        self.state.steps += u32::from(at_once);
        match is_open {
            true if at_once => self.step(event),
            true => {
                self.state.wait_last(vec![event]);
                self.run();
            }
            false => {}
        }
    }

    /// What the host is to do next; it gives the buffer of an output back at once.
    pub fn next_output(&mut self) -> Option<Emitted> {
        let output = self.state.outputs.pop_front()?;
        match &output {
            Emitted::Frame { .. } | Emitted::Deliver { .. } => self.state.give_back(),
            Emitted::Accepted { port, listener, .. } => self.state.taken(*port, *listener),
            Emitted::Notice { bytes, .. } => {
                bytes.iter().for_each(|_| self.state.give_back());
            }
        }
        Some(output)
    }

    /// When [`Stack::expire`] is to be called; never if none. At once, if events wait.
    pub fn deadline_ns(&self) -> Option<u64> {
        match self.state.agenda.is_empty() {
            true => self.state.timers.deadline_ns(),
            false => Some(self.state.now_ns),
        }
    }

    /// Time has passed: runs what waits, then every timer whose deadline has come.
    pub fn expire(&mut self, now_ns: u64) {
        self.begin_call(now_ns);
        while self.state.agenda.is_empty() && self.may_go_on() {
            let deadline_ns = self.state.timers.deadline_ns();
            if deadline_ns.is_none_or(|deadline_ns| deadline_ns > now_ns) {
                return;
            }
            let first = self.state.timers.first().copied();
            let (kind, index, timer) = first.expect("a deadline is that of a timer");
            self.state.timers.stop(&(kind, index, timer));
            let event = Event::Timer(timer);
            let goal = Goal::Handle { kind, index, event };
            self.state.wait(vec![Pending::new(goal)]);
            self.run();
        }
    }

    /// All counters by name, as in the generated C.
    pub fn counters(&self) -> Vec<(Arc<str>, u64)> {
        let fates = &self.state.fates;
        let frames = [
            fates.frames_in,
            fates.frames_out,
            fates.delivered,
            fates.consumed,
            fates.merged,
            self.state.held(),
        ];
        let dropped = [0, 0, fates.agenda_full];
        let unsent = [fates.too_long, fates.no_session, fates.agenda_full_unsent];
        let in_order: [&[u64]; 6] = [
            &frames,
            &fates.dropped,
            &dropped,
            &fates.unsent,
            &unsent,
            &fates.counts,
        ];
        let values = in_order.into_iter().flatten().copied();
        self.counters.iter().cloned().zip(values).collect()
    }

    /// All that the stack has.
    pub fn state(&self) -> &State<'p> {
        &self.state
    }

    /// Whether every frame that came in has exactly one fate.
    pub fn adds_up(&self) -> bool {
        let fates = &self.state.fates;
        let dropped: u64 = fates.dropped.iter().sum::<u64>() + fates.agenda_full;
        let gone = fates.delivered + fates.consumed + fates.merged + dropped;
        fates.frames_in == gone + self.state.held()
    }

    /// Makes all instances that always exist. Returns their starts, kinds in the order of their
    /// table.
    fn populate(&mut self) -> Vec<Pending> {
        let mut starts = Vec::new();
        for (place, kind) in self.state.program.kinds.iter().enumerate() {
            let id = KindId(place as u32);
            let Population::Static(instances) = &kind.population else {
                continue;
            };
            for (index, instance) in instances.iter().enumerate() {
                let keys = datums(self.state.program, id, &instance.keys);
                let keys = keys.collect();
                let index = index as u32;
                self.evaluation(&mut Moment::default())
                    .begin(id, index, keys);
                if self.control.handles(id, index, Event::Start) {
                    let goal = Goal::Handle {
                        kind: id,
                        index,
                        event: Event::Start,
                    };
                    starts.push(Pending::new(goal));
                }
            }
        }
        starts
    }

    /// A call of the host begins: first comes what the last one left. A call from inside of an
    /// application's function belongs to the one that is going on.
    pub(super) fn begin_call(&mut self, now_ns: u64) {
        if self.calling {
            return;
        }
        self.state.now_ns = now_ns;
        self.state.steps = 0;
        self.run();
    }

    /// Whether so many events of an application are taken; one that is called adds to what waits,
    /// and leaves a place for what it gives back.
    fn takes(&self, events: usize) -> bool {
        let state = &self.state;
        match self.calling {
            true => state.loaded(&state.agenda) + events < state.limits.events,
            false => state.agenda.is_empty(),
        }
    }

    /// Whether another step may be taken: no function of an application is being called, the
    /// budget of the call allows it, and there is room for what the host is to do then.
    fn may_go_on(&self) -> bool {
        !self.calling && self.has_room()
    }

    /// Whether the budget of the call allows another step, and its answer has room.
    fn has_room(&self) -> bool {
        let limits = &self.state.limits;
        self.state.steps < limits.budget && self.state.outputs.len() < limits.outputs
    }

    /// Handles what is on the agenda, as far as may be.
    pub(super) fn run(&mut self) {
        while self.may_go_on() {
            let Some(event) = self.state.agenda.pop() else {
                break;
            };
            self.state.steps += 1;
            self.step(event);
        }
        if !self.calling {
            self.let_leave();
        }
    }

    fn step(&mut self, event: Pending) {
        let mut next = Some(event);
        while let Some(event) = next.take() {
            match event.goal {
                Goal::Frame(_) => self.state.answer(event),
                Goal::Port(port, ..) => self.surface(port, event),
                Goal::Handle {
                    kind,
                    index,
                    event: what,
                } if !self.state.is_due(kind, index, what) => {
                    // What it was for has ended meanwhile.
                    if let Some(message) = event.message {
                        self.state.consume(message);
                    }
                }
                Goal::Arrive { entity, index, .. } if self.comes_from_nowhere(entity, index) => {
                    if let Some(message) = event.message {
                        self.state.consume(message);
                    }
                }
                Goal::Arrive { .. } | Goal::Handle { .. } => {
                    let mut outputs = self.control.handle(&mut self.state, event);
                    if !outputs.is_empty() {
                        next = Some(outputs.remove(0));
                        self.state.wait(outputs);
                    }
                }
            }
        }
    }

    /// Whether the session has ended to which something comes from below; at a multiplexor, that
    /// from which it comes.
    fn comes_from_nowhere(&self, entity: EntityId, index: Option<u32>) -> bool {
        let session = self.state.program.entities[entity.at()].session;
        let named = self.state.program.stands_on(session).unwrap_or(session);
        index.is_some_and(|index| !self.state.is_live(named, index))
    }

    /// A new instance of a kind that a port opens, with the keys that it was not given.
    fn created(&mut self, kind: KindId, mut keys: Vec<Datum>) -> Option<u32> {
        // A start for each kind that stands on it, and the notice that it is open.
        if !self.takes(self.state.program.living_with(kind).len() + 1) {
            return None;
        }
        for (at, key) in self.state.program.kinds[kind.at()].keys.iter().enumerate() {
            if keys[at] != Datum::Absent {
                continue;
            }
            let default = key.default.as_ref()?;
            let given = default.given.iter().map(|key| keys[key.at()].clone());
            let given = given.collect();
            let mut instant = Moment::default();
            let found = self
                .evaluation(&mut instant)
                .call_with(default.function, given);
            keys[at] = match found {
                Datum::Optional(found) => *found?,
                found => found,
            };
        }
        if !keys.is_empty() && self.state.find(kind, &keys).is_some() {
            return None;
        }
        if let (Some(below), Some(Datum::Number(index))) =
            (self.state.program.stands_on(kind), keys.last())
            && !(*index <= u64::from(u32::MAX) && self.state.is_live(below, *index as u32))
        {
            return None;
        }
        self.evaluation(&mut Moment::default()).create(kind, keys)
    }

    /// Where a notice of an application goes: the record's handler, or else the session's.
    fn downward(
        &self,
        port: PortId,
        session: u32,
        notice: NoticeId,
        arguments: Vec<Datum>,
    ) -> Option<Pending> {
        let event = Event::Notice(notice);
        let (kind, index) = self.below(port, session);
        let entity = self.state.program.kinds[kind.at()].entity;
        let record = self.state.program.entities[entity.at()].record;
        let (kind, index) = match self.control.handles(record, 0, event) {
            true => (record, 0),
            false => (kind, index),
        };
        let handled = self.control.handles(kind, index, event);
        handled.then(|| Pending {
            arguments,
            ..Pending::new(Goal::Handle { kind, index, event })
        })
    }

    /// The session on which a port stands.
    fn below(&self, port: PortId, session: u32) -> (KindId, u32) {
        match self.state.program.ports[port.at()].below {
            Place::Entity { entity, index, .. } => {
                let kind = self.state.program.entities[entity.at()].session;
                match index {
                    SessionIndex::Only(only) => (kind, only),
                    SessionIndex::Same => (kind, session),
                    SessionIndex::Label(label) => {
                        let below = self.state.program.sessions_below(kind);
                        let below = below.expect("it has labels");
                        let is_one = session < below;
                        (
                            kind,
                            if is_one {
                                label * below + session
                            } else {
                                u32::MAX
                            },
                        )
                    }
                    SessionIndex::Keyed => panic!("a port stands on a session of its own"),
                }
            }
            Place::Link(_) | Place::Port(_) => panic!("a port stands on a session"),
        }
    }

    fn is_open(&self, port: PortId, session: u32) -> bool {
        let (kind, index) = self.below(port, session);
        debug_assert_eq!(self.state.program.kinds[kind.at()].role, Role::Session);
        let always = self.state.program.ports[port.at()].opens.is_none();
        self.state.is_live(kind, index) && (!always || session == 0)
    }

    fn evaluation<'a>(&'a mut self, instant: &'a mut Moment) -> Evaluation<'a, 'p> {
        let state = &mut self.state;
        Evaluation { state, instant }
    }
}
