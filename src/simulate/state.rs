//! The state of a running stack, which both interpreters share.
//!
//! In: what handlers do to instances, messages, timers and counters. Out: what the host sees.
//! Nothing here knows statements or trees. Every message that was made ends in one of the methods
//! that say what became of it; each of them gives the message's buffer back.

use super::externs::Externs;
use super::message::Message;
use super::pool::Slots;
use super::process::reference::Reference as Control;
use super::timers::Timers;
use super::value::{Datum, Pieces};
use crate::types::program::{
    AttributeId, CountId, EntityId, Event, KindId, LinkId, NoticeId, Place, PortId, Program,
    ReasonId, SessionIndex, Shape, TimerId,
};
use std::collections::{BTreeMap, VecDeque};

/// What a stack may use; the generated C has the same numbers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Messages at a time.
    pub buffers: u32,
    /// Buffers that frames and an application's messages leave for the stack's own.
    pub reserve: u32,
    /// Bytes of a frame, and of a message that a layer makes, at most.
    pub room: usize,
    /// By port: bytes of an application's message at most; `room` where nothing is said.
    pub longest: Vec<usize>,
    /// Steps of the agenda in one call of the host.
    pub budget: u32,
    /// Events that can wait, without those that begin or end the life of an instance.
    pub events: usize,
    /// Outputs that can wait for the host.
    pub outputs: usize,
}

impl Limits {
    /// Returns how many bytes a message of an application can have at a port.
    pub fn longest(&self, port: PortId) -> usize {
        self.longest.get(port.at()).copied().unwrap_or(self.room)
    }
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            buffers: 256,
            reserve: 8,
            room: 1 << 16,
            longest: Vec::new(),
            budget: 4096,
            events: 256,
            outputs: 64,
        }
    }
}

/// An event that waits, and what it carries.
#[derive(Clone, Debug, PartialEq)]
pub struct Pending {
    /// Where it goes.
    pub goal: Goal,
    /// The message that goes with it.
    pub message: Option<Message>,
    /// Its other arguments.
    pub arguments: Vec<Datum>,
    /// Whether it has let all go before it that was under way.
    pub waited: bool,
}

impl Pending {
    /// An event that carries nothing.
    pub fn new(goal: Goal) -> Pending {
        Pending {
            goal,
            message: None,
            arguments: Vec::new(),
            waited: false,
        }
    }
}

/// Where an event goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Goal {
    /// A frame leaves.
    Frame(LinkId),
    /// To the application, in the conversation with this index.
    Port(PortId, u32, Event),
    /// To an entity, from below: its finder or its joint says to which session.
    Arrive {
        /// The entity.
        entity: EntityId,
        /// Through which of its joints below.
        joint: u32,
        /// Which session, where the joint says so.
        index: Option<u32>,
        /// Deliver or a notice.
        event: Event,
    },
    /// To an instance.
    Handle {
        /// Its kind.
        kind: KindId,
        /// Which one.
        index: u32,
        /// The event.
        event: Event,
    },
}

/// What the host is given.
#[derive(Clone, Debug, PartialEq)]
pub enum Emitted {
    /// A frame that leaves by a link.
    Frame {
        /// The link.
        link: LinkId,
        /// Its bytes.
        bytes: Vec<u8>,
    },
    /// A message for an application.
    Deliver {
        /// The port.
        port: PortId,
        /// The conversation.
        session: u32,
        /// Its bytes.
        bytes: Vec<u8>,
        /// The attributes that the port lists.
        attributes: Vec<(AttributeId, Datum)>,
    },
    /// A session that a listener made is an application's from now on.
    Accepted {
        /// The port.
        port: PortId,
        /// The conversation.
        session: u32,
        /// Its listener; none if that has ended.
        listener: Option<u32>,
        /// Its keys.
        keys: Vec<Datum>,
    },
    /// A notice for an application.
    Notice {
        /// The port.
        port: PortId,
        /// The conversation.
        session: u32,
        /// The notice.
        notice: NoticeId,
        /// Its arguments.
        arguments: Vec<Datum>,
        /// The message that it carries, if it does.
        bytes: Option<Vec<u8>>,
    },
}

/// What was counted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Fates {
    /// Frames that came in by links.
    pub frames_in: u64,
    /// Frames that left by links.
    pub frames_out: u64,
    /// Messages that came in and were delivered to an application.
    pub delivered: u64,
    /// Messages that came in and have done their duty.
    pub consumed: u64,
    /// Messages that came in and are part of another.
    pub merged: u64,
    /// Messages that came in and were dropped, by reason.
    pub dropped: Vec<u64>,
    /// Messages of our own that were dropped, by reason.
    pub unsent: Vec<u64>,
    /// Messages that came in and were dropped because the agenda was full.
    pub agenda_full: u64,
    /// Messages of our own, and events without one, that were lost because the agenda was full.
    pub agenda_full_unsent: u64,
    /// Messages of applications that were longer than any buffer.
    pub too_long: u64,
    /// Messages of applications in conversations that are not there.
    pub no_session: u64,
    /// What `count` counts.
    pub counts: Vec<u64>,
}

/// The instances of one kind.
#[derive(Clone, Debug)]
pub struct Instances<'p> {
    /// Their slots; not used by sessions that live and end with those below.
    pub slots: Slots,
    /// Which ones have a state.
    pub live: Vec<bool>,
    /// Those that can be found, in the order in which they came into being.
    pub found: Vec<u32>,
    /// Their keys.
    pub keys: Vec<Vec<Datum>>,
    /// Their fields.
    pub fields: Vec<Vec<Datum>>,
    /// Their processes, once they have started; those of the reference alone.
    pub processes: BTreeMap<u32, Control<'p>>,
}

/// A running stack.
#[derive(Clone, Debug)]
pub struct State<'p> {
    /// What runs.
    pub program: &'p Program,
    /// What it may use.
    pub limits: Limits,
    /// What was set at the start.
    pub config: Vec<Datum>,
    /// All instances.
    pub kinds: Vec<Instances<'p>>,
    /// The timers that run.
    pub timers: Timers<(KindId, u32, TimerId)>,
    /// Events that wait; the last is the next.
    pub agenda: Vec<Pending>,
    /// How many steps this call has taken.
    pub steps: u32,
    /// What the host has not taken yet.
    pub outputs: VecDeque<Emitted>,
    /// What functions were called with that ports and links call, since this was asked.
    pub called: Vec<Emitted>,
    /// What was counted.
    pub fates: Fates,
    /// How often ways were taken, of trees that count them.
    pub passed: BTreeMap<u32, u64>,
    /// The time of the instant.
    pub now_ns: u64,
    /// What is written in C, from whoever runs the stack.
    pub externs: &'p Externs<'p>,
    /// How many messages applications have sent.
    pub sends: u64,
    /// The number of the one that is being sent, 0 if it has a copy; none if it was dropped.
    pub sending: Option<u64>,
    /// Buffers that are free.
    buffers: u32,
    /// Buffers that the host has for frames that are still to be taken.
    pub lent: usize,
    /// Bytes before a message that comes in.
    headroom: usize,
}

impl<'p> State<'p> {
    /// A stack of which no instance exists yet.
    pub fn new(
        program: &'p Program,
        externs: &'p Externs<'p>,
        config: Vec<Datum>,
        limits: Limits,
        now_ns: u64,
    ) -> State<'p> {
        let buffers = limits.buffers;
        let kinds = program.kinds.iter().map(|kind| Instances {
            slots: Slots::new(kind.capacity),
            live: vec![false; kind.capacity as usize],
            found: Vec::new(),
            keys: vec![Vec::new(); kind.capacity as usize],
            fields: vec![Vec::new(); kind.capacity as usize],
            processes: BTreeMap::new(),
        });
        let headers = program.headers.iter();
        State {
            program,
            limits,
            config,
            kinds: kinds.collect(),
            timers: Timers::default(),
            agenda: Vec::new(),
            steps: 0,
            outputs: VecDeque::new(),
            called: Vec::new(),
            fates: Fates {
                dropped: vec![0; program.reasons.len()],
                unsent: vec![0; program.reasons.len()],
                counts: vec![0; program.counts.len()],
                ..Fates::default()
            },
            passed: BTreeMap::new(),
            now_ns,
            externs,
            sends: 0,
            sending: None,
            buffers,
            lent: 0,
            headroom: headers.map(|header| header.most as usize).sum(),
        }
    }

    /// The host takes buffers for frames, as far as there are any: for how many it has one then.
    pub fn lend_buffers(&mut self, frames: usize) -> usize {
        while self.lent < frames && self.buffers > self.limits.reserve {
            self.buffers -= 1;
            self.lent += 1;
        }
        self.lent.min(frames)
    }

    /// A message of an application, if it leaves enough buffers for the stack's own.
    pub fn host_message(&mut self, bytes: &[u8]) -> Option<Message> {
        if self.buffers <= self.limits.reserve {
            return None;
        }
        self.message(bytes)
    }

    /// A new message, if a buffer is free.
    pub fn message(&mut self, bytes: &[u8]) -> Option<Message> {
        self.buffers = self.buffers.checked_sub(1)?;
        Some(self.blank(bytes))
    }

    /// A message in a buffer that is taken, with the attributes of all that nobody gave any. What
    /// has no default is zero, which nobody reads where the checker has seen all of the stack.
    pub fn blank(&self, bytes: &[u8]) -> Message {
        let attributes = self.program.attributes.iter();
        let begin = attributes.map(|attribute| match &attribute.default {
            Some(value) => Datum::of(self.program, value, &attribute.kind),
            None => Datum::empty(self.program, &attribute.kind),
        });
        Message::new(self.headroom, bytes, begin.collect())
    }

    /// Whether a buffer is free that could hold a message whose data were so long, behind all that
    /// stands before it.
    pub fn has_room(&self, message: &Message, length: usize) -> bool {
        self.buffers > 0 && self.fits(message, length as u64)
    }

    /// Whether the buffer of a message has room for so many bytes of data behind all that stands
    /// before it.
    pub fn fits(&self, message: &Message, length: u64) -> bool {
        message.start() as u64 + length <= (self.headroom + self.limits.room) as u64
    }

    /// A second handle of a message, which is of our own.
    pub fn share(&mut self, message: &Message) -> Option<Message> {
        self.buffers = self.buffers.checked_sub(1)?;
        let mut other = message.clone();
        other.came_in = false;
        other.sent = None;
        self.forget_marks(&mut other);
        self.is_copied(message.sent);
        Some(other)
    }

    /// A copy stands in a buffer of its own, without what was stripped from the other.
    pub fn forget_marks(&self, message: &mut Message) {
        for mark in self
            .program
            .entities
            .iter()
            .filter_map(|entity| entity.mark)
        {
            message.attributes[mark.at()] = Datum::Optional(None);
        }
    }

    /// A message is gone without a fate: it was of our own, or its fate is another's.
    pub fn forget(&mut self, message: Message) {
        drop(message);
        self.buffers += 1;
    }

    /// The host has given the buffer of an output back.
    pub fn give_back(&mut self) {
        self.buffers += 1;
    }

    /// A message has done its duty.
    pub fn consume(&mut self, message: Message) {
        self.fates.consumed += u64::from(message.came_in);
        self.forget(message);
    }

    /// A message is dropped.
    pub fn discard(&mut self, message: Message, reason: ReasonId) {
        self.count_drop(u64::from(message.came_in), !message.came_in, reason);
        self.refuse(&message);
        self.forget(message);
    }

    /// A message is dropped: if an application sends it in this call, it is refused.
    pub fn refuse(&mut self, message: &Message) {
        if message.sent.is_some() && message.sent == self.sending {
            self.sending = None;
        }
    }

    /// A message of which there is a copy is not refused any more, if an application sends it:
    /// that copy may go on.
    pub fn is_copied(&mut self, sent: Option<u64>) {
        if sent.is_some() && sent == self.sending {
            self.sending = Some(0);
        }
    }

    /// All that a container holds is dropped; what holds no messages holds nothing to drop.
    pub fn discard_all(&mut self, container: &mut Datum, reason: ReasonId) {
        match container {
            Datum::Queue(queue) => {
                while let Some(item) = queue.pop() {
                    self.discard_item(item, reason);
                }
            }
            Datum::Window(window) => {
                while let Some(item) = window.first().and_then(|first| window.take(first)) {
                    self.discard_item(item, reason);
                }
            }
            Datum::Stream(stream) => {
                let holds = stream.bytes.begin() != stream.bytes.end();
                self.count_drop(stream.came_in, stream.came_in == 0 && holds, reason);
                stream.came_in = 0;
                stream.bytes.restart(stream.bytes.begin());
            }
            Datum::Array(data) | Datum::Record(data) => {
                data.iter_mut()
                    .for_each(|datum| self.discard_all(datum, reason));
            }
            Datum::Absent
            | Datum::Number(_)
            | Datum::Bytes(_)
            | Datum::Optional(_)
            | Datum::Message(_)
            | Datum::Header(_)
            | Datum::Set(_) => {}
        }
    }

    /// A stream was released: what came in and is no longer in it has done its duty.
    pub fn settle(&mut self, stream: &mut Pieces) {
        if stream.bytes.begin() == stream.bytes.end() {
            self.fates.consumed += stream.came_in;
            stream.came_in = 0;
        }
    }

    /// Counts.
    pub fn count(&mut self, counter: CountId, times: u64) {
        self.fates.counts[counter.at()] += times;
    }

    /// Notes that a way was taken.
    pub fn pass(&mut self, way: u32) {
        *self.passed.entry(way).or_default() += 1;
    }

    /// Counts an output that was left out because no buffer was free.
    pub fn count_no_buffer(&mut self, entity: EntityId) {
        if let Some(counter) = self.program.entities[entity.at()].no_buffer {
            self.count(counter, 1);
        }
    }

    /// The instance that was found last with these keys. One with a label is there as long as what
    /// it stands on.
    pub fn find(&self, kind: KindId, keys: &[Datum]) -> Option<u32> {
        let instances = &self.kinds[kind.at()];
        let has_keys = |index: &u32| instances.keys[*index as usize] == keys;
        match self.program.sessions_below(kind) {
            Some(_) => self.live(kind).find(has_keys),
            None => instances.found.iter().rev().copied().find(has_keys),
        }
    }

    /// Those that have a state, in order of index.
    pub fn live(&self, kind: KindId) -> impl Iterator<Item = u32> + '_ {
        let live = &self.kinds[self.program.lives_with(kind).at()].live;
        let all = 0..self.program.kinds[kind.at()].capacity;
        all.filter(|index| live[*index as usize % live.len()])
    }

    /// The session below a session of a multiplexor, where those come and go.
    pub fn session_below(&self, kind: KindId, index: u32) -> Option<u32> {
        self.program.stands_on(kind)?;
        let keys = &self.kinds[kind.at()].keys[index as usize];
        keys.last().map(|key| key.number() as u32)
    }

    /// The first session of this kind that stands on one below.
    pub fn first_on(&self, kind: KindId, below: u32) -> Option<u32> {
        let mut live = self.live(kind);
        live.find(|index| self.session_below(kind, *index) == Some(below))
    }

    /// Whether an event of an instance is still due: it lives, and where this is its end, it has
    /// not begun anew.
    pub fn is_due(&self, kind: KindId, index: u32, event: Event) -> bool {
        let begun = self.kinds[kind.at()].found.contains(&index);
        self.is_live(kind, index) && !(event == Event::End && begun)
    }

    /// Whether an instance has a state. Any index may be asked for.
    pub fn is_live(&self, kind: KindId, index: u32) -> bool {
        let live = &self.kinds[self.program.lives_with(kind).at()].live;
        let lives = |index: u32| live.get(index as usize).copied().unwrap_or(false);
        match self.program.label_of(kind, index) {
            Some((_, below)) => index < self.program.kinds[kind.at()].capacity && lives(below),
            None => lives(index),
        }
    }

    /// An instance is found no more, and its timers stop.
    pub fn unlink(&mut self, kind: KindId, index: u32) {
        self.waits_no_more(kind, index);
        self.kinds[kind.at()].found.retain(|found| *found != index);
        self.stop_timers(kind, index);
    }

    fn stop_timers(&mut self, kind: KindId, index: u32) {
        for timer in 0..self.program.kinds[kind.at()].timers.len() {
            self.timers.stop(&(kind, index, TimerId(timer as u32)));
        }
    }

    /// What is left in an instance that has ended is dropped. Its slot is free again when all that
    /// live with it have ended: then also what came to those since, and timers stop that were
    /// started by it.
    pub fn free(&mut self, kind: KindId, index: u32) {
        if self.program.lives_with(kind) != kind {
            return self.empty(kind, index);
        }
        for standing in self.program.living_with(kind) {
            let at = standing.index(index) as usize;
            self.stop_timers(standing.kind, standing.index(index));
            self.empty(standing.kind, standing.index(index));
            let instances = &mut self.kinds[standing.kind.at()];
            instances.fields[at].clear();
            instances.live[at] = false;
        }
        let slots = &mut self.kinds[kind.at()].slots;
        if slots.has(index) {
            slots.give(index);
        }
    }

    fn empty(&mut self, kind: KindId, index: u32) {
        let mut fields = std::mem::take(&mut self.kinds[kind.at()].fields[index as usize]);
        let reason = self.program.ended(self.program.kinds[kind.at()].entity);
        for field in &mut fields {
            match reason {
                Some(reason) => self.discard_all(field, reason),
                None => assert_eq!(messages(field), 0, "an end drops what is still held"),
            }
        }
        self.kinds[kind.at()].fields[index as usize] = fields;
    }

    /// How many messages that came in are held.
    pub fn held(&self) -> u64 {
        let instances = self
            .kinds
            .iter()
            .flat_map(|kind| kind.fields.iter().flatten());
        let agenda = self
            .agenda
            .iter()
            .filter_map(|event| event.message.as_ref());
        let waiting = agenda.filter(|message| message.came_in).count() as u64;
        instances.map(held).sum::<u64>() + waiting
    }

    fn discard_item(&mut self, item: Datum, reason: ReasonId) {
        if let Datum::Message(message) = item {
            self.discard(*message, reason);
        }
    }

    fn count_drop(&mut self, came_in: u64, own: bool, reason: ReasonId) {
        self.fates.dropped[reason.at()] += came_in;
        self.fates.unsent[reason.at()] += u64::from(own);
    }
}

/// Where a frame arrives.
pub fn arrival(program: &Program, link: LinkId) -> Goal {
    let Place::Entity {
        entity,
        index,
        joint,
    } = program.links[link.at()].above
    else {
        panic!("a link carries a stack");
    };
    let index = match (program.entities[entity.at()].shape, index) {
        (Shape::Worker | Shape::Router, SessionIndex::Only(only)) => Some(only),
        (
            Shape::Worker | Shape::Router,
            SessionIndex::Same | SessionIndex::Keyed | SessionIndex::Label(_),
        ) => Some(0),
        (Shape::Multiplexor, _) => None,
    };
    let event = Event::Deliver;
    Goal::Arrive {
        entity,
        joint,
        index,
        event,
    }
}

fn held(datum: &Datum) -> u64 {
    match datum {
        Datum::Message(message) => u64::from(message.came_in),
        Datum::Queue(queue) => queue.items().map(held).sum(),
        Datum::Window(window) => window.items().map(held).sum(),
        Datum::Stream(stream) => stream.came_in,
        // All items of an array have one type.
        Datum::Array(data) if matches!(data.first(), Some(Datum::Number(_))) => 0,
        Datum::Array(data) | Datum::Record(data) => data.iter().map(held).sum(),
        Datum::Absent
        | Datum::Number(_)
        | Datum::Bytes(_)
        | Datum::Optional(_)
        | Datum::Header(_)
        | Datum::Set(_) => 0,
    }
}

/// How many messages a field holds, whoever made them.
fn messages(datum: &Datum) -> usize {
    match datum {
        Datum::Message(_) => 1,
        Datum::Queue(queue) => queue.items().map(messages).sum(),
        Datum::Window(window) => window.items().map(messages).sum(),
        Datum::Array(data) | Datum::Record(data) => data.iter().map(messages).sum(),
        Datum::Absent
        | Datum::Number(_)
        | Datum::Bytes(_)
        | Datum::Optional(_)
        | Datum::Header(_)
        | Datum::Stream(_)
        | Datum::Set(_) => 0,
    }
}
