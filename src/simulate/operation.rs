//! What handlers do to instances, messages and containers, for both interpreters.
//!
//! In: attempts, operations and sources of messages, as they stand in the checked program and in
//! state trees. Out: what they bind, and whether they succeeded. What an attempt refuses stays
//! where it was.

use super::expression::{Evaluation, Moment};
use super::header;
use super::message::Message;
use super::value::{Datum, Pieces};
use crate::types::constant::product;
use crate::types::expression::{Expression, Variable};
use crate::types::program::{
    EntityId, FilterId, KindId, LocalId, Population, Program, Target, TimerId,
};
use crate::types::statement::{Attempt, Operation, Search, Source, Term};
use crate::types::value::Value;

/// What became of an attempt.
#[derive(Clone, Debug, PartialEq)]
pub enum Tried {
    /// It failed, and nothing has changed.
    Failed,
    /// It succeeded.
    Done,
    /// It succeeded, and this is what it binds.
    Found(Datum),
    /// It made an instance.
    Created(KindId, u32),
}

/// The keys that a stack writes for sessions of a kind.
pub fn datums(program: &Program, kind: KindId, keys: &[Value]) -> impl Iterator<Item = Datum> {
    let keys = keys.iter().zip(&program.kinds[kind.at()].keys);
    keys.map(|(value, key)| Datum::of(program, value, &key.kind))
}

impl Evaluation<'_, '_> {
    /// Tries something.
    pub fn attempt(&mut self, attempt: &Attempt) -> Tried {
        match attempt {
            Attempt::Instance(searches) => self.search(searches),
            Attempt::Value(value) => self.optional(value).map_or(Tried::Failed, Tried::Found),
            Attempt::Pop(queue) | Attempt::PopValue(queue) => {
                self.queue(queue).pop().map_or(Tried::Failed, Tried::Found)
            }
            Attempt::Push(queue, source) => self.push_message(queue, source),
            Attempt::PushValue(queue, value) => {
                let value = self.value(value);
                done(self.queue(queue).push(value).is_ok())
            }
            Attempt::InsertWindow(window, number, source) => {
                let number = self.number(number) as u32;
                self.insert_message(window, number, source)
            }
            Attempt::InsertValue(window, number, value) => {
                let number = self.number(number) as u32;
                let value = self.value(value);
                done(self.window(window).insert(number, value).is_ok())
            }
            Attempt::TakeWindow(window, number) | Attempt::TakeValue(window, number) => {
                let number = self.number(number) as u32;
                let taken = self.window(window).take(number);
                taken.map_or(Tried::Failed, Tried::Found)
            }
            Attempt::ShareWindow(window, number) => {
                let number = self.number(number) as u32;
                self.share_message(window, number)
            }
            Attempt::InsertStream(stream, at, message) => {
                let at = self.number(at) as u32;
                self.insert_bytes(stream, Some(at), *message)
            }
            Attempt::AppendStream(stream, message) => self.insert_bytes(stream, None, *message),
            Attempt::Peek(message, id) => {
                let bytes = self.message(*message).data().to_vec();
                let read = header::parse(self, *id, &bytes);
                read.map_or(Tried::Failed, |_| Tried::Found(Datum::Header(bytes.into())))
            }
            Attempt::Restore(message, mark) => {
                let Datum::Optional(Some(start)) = self.message(*message).attribute(*mark) else {
                    return Tried::Failed;
                };
                let start = start.number();
                done(self.message_mut(*message).restore(start))
            }
            Attempt::Pad(message, count) => {
                let count = self.number(count);
                let padded = self.message(*message).length() as u64 + count;
                let fits = self.state.fits(self.message(*message), padded);
                if fits {
                    self.message_mut(*message).pad(count);
                }
                done(fits)
            }
            Attempt::Rewrite(message, filter, arguments) => {
                let written = self.filtered(*message, *filter, arguments);
                done(
                    self.state.has_room(self.message(*message), written.len()) && {
                        self.message_mut(*message).replace(&written);
                        true
                    },
                )
            }
            Attempt::Message(source) => self.source(source).map_or(Tried::Failed, found),
        }
    }

    /// Does what cannot fail.
    pub fn operate(&mut self, operation: &Operation) {
        match operation {
            Operation::Skip(message, count) => {
                let count = self.number(count);
                self.message_mut(*message).skip(count);
            }
            Operation::Cut(message, count) => {
                let count = self.number(count);
                self.message_mut(*message).cut(count);
            }
            Operation::ReplaceWindow(window, number, source) => {
                let number = self.number(number) as u32;
                self.replace_message(window, number, source);
            }
            Operation::ReplaceValue(window, number, value) => {
                let number = self.number(number) as u32;
                let value = self.value(value);
                self.replace(window, number, value);
            }
            Operation::Release(container, to) => {
                let to = self.number(to) as u32;
                self.release(container, to);
            }
            Operation::Begin(stream, at) => {
                let at = self.number(at) as u32;
                self.stream_state(stream).bytes.restart(at);
                self.settle(stream);
            }
            Operation::Clear(container) => self.clear(container),
            Operation::Add(bytes, factor, term) => {
                let factor = self.number(factor) as u8;
                let other = match term {
                    Term::Data(message) => self.message(*message).data().to_vec(),
                    Term::Bytes(other) => self.bytes_at(other).clone(),
                };
                let both = self.bytes_at(bytes).iter_mut().zip(other);
                both.for_each(|(byte, other)| *byte ^= product(factor, other));
            }
            Operation::Scale(bytes, factor) => {
                let factor = self.number(factor) as u8;
                let bytes = self.bytes_at(bytes).iter_mut();
                bytes.for_each(|byte| *byte = product(factor, *byte));
            }
            Operation::Rewrite(message, filter, arguments) => {
                let written = self.filtered(*message, *filter, arguments);
                self.message_mut(*message).replace(&written);
            }
            Operation::Call(function, arguments) => {
                self.call(*function, arguments);
            }
        }
    }

    fn bytes_at(&mut self, place: &Variable) -> &mut Vec<u8> {
        let Datum::Bytes(bytes) = self.variable(place) else {
            panic!("the checker has seen bytes where bytes are added or multiplied");
        };
        bytes
    }

    /// The message that a source gives; none without a free buffer.
    pub fn source(&mut self, source: &Source) -> Option<Message> {
        match source {
            Source::Local(local) => Some(self.instant.locals[local.at()].take_message()),
            Source::New => self.state.message(&[]),
            Source::NewFrom(bytes, count) => {
                let count = self.number(count) as usize;
                let Datum::Bytes(bytes) = self.read(bytes) else {
                    panic!("the checker has seen bytes that a message is made from");
                };
                self.state.message(&bytes[..count.min(bytes.len())])
            }
            Source::Share(local) => {
                let message = self.message(*local).clone();
                self.state.share(&message)
            }
            Source::Piece(local, at, length) => {
                let (at, length) = (self.number(at) as usize, self.number(length) as usize);
                let message = self.message(*local);
                let (data, attributes) = (message.data(), message.attributes.clone());
                let sent = message.sent;
                let from = at.min(data.len());
                let piece = data[from..from + length.min(data.len() - from)].to_vec();
                let mut piece = self.state.message(&piece)?;
                piece.attributes = attributes;
                self.state.forget_marks(&mut piece);
                self.state.is_copied(sent);
                Some(piece)
            }
            Source::TakeStream(stream, count) => {
                let count = self.number(count) as u32;
                self.take_bytes(stream, count)
            }
            Source::SliceStream(stream, at, count) => {
                let (at, count) = (self.number(at) as u32, self.number(count) as u32);
                self.slice(stream, at, count)
            }
        }
    }

    /// A source's message; without a free buffer `no_buffer` of the entity is counted.
    pub fn source_or_count(&mut self, source: &Source, entity: EntityId) -> Option<Message> {
        let message = self.source(source);
        if message.is_none() {
            self.state.count_no_buffer(entity);
        }
        message
    }

    /// Makes an instance, and what stands on it, in their first state; none if all slots are
    /// taken.
    pub fn create(&mut self, kind: KindId, keys: Vec<Datum>) -> Option<u32> {
        let index = self.state.kinds[kind.at()].slots.take()?;
        let program = self.state.program;
        for standing in program.living_with(kind) {
            let own = match (
                &program.kinds[standing.kind.at()].population,
                standing.label,
            ) {
                (Population::Labelled(all), Some(label)) => {
                    let keys = &all[label as usize].keys;
                    let below = Datum::Number(u64::from(index));
                    datums(program, standing.kind, keys)
                        .chain([below])
                        .collect()
                }
                _ => keys.clone(),
            };
            self.begin(standing.kind, standing.index(index), own);
        }
        Some(index)
    }

    /// Makes an instance, for a listener if there is room at it.
    fn make(&mut self, kind: KindId, keys: Vec<Datum>, listener: Option<u32>) -> Option<u32> {
        if listener.is_some_and(|listener| !self.state.has_place(kind, listener)) {
            return None;
        }
        let index = self.create(kind, keys)?;
        if let Some(listener) = listener {
            self.state.waits_at(kind, index, listener);
        }
        Some(index)
    }

    /// Gives an instance its first state.
    pub fn begin(&mut self, kind: KindId, index: u32, keys: Vec<Datum>) {
        let program = self.state.program;
        let instances = &mut self.state.kinds[kind.at()];
        instances.live[index as usize] = true;
        instances.found.push(index);
        instances.keys[index as usize] = keys;
        let fields = &program.kinds[kind.at()].fields;
        let empty = fields
            .iter()
            .map(|field| Datum::empty(program, &field.kind));
        instances.fields[index as usize] = empty.collect();
        let mut instant = Moment::default();
        instant.own.insert(kind, index);
        for (place, field) in fields.iter().enumerate() {
            if let Some(initial) = &field.initial {
                let (state, instant) = (&mut *self.state, &mut instant);
                let value = Evaluation { state, instant }.value(initial);
                self.state.kinds[kind.at()].fields[index as usize][place].begin(value);
            }
        }
    }

    /// The instance that a target finds.
    pub fn find(&mut self, target: &Target) -> Option<u32> {
        let condition = target.condition.as_ref();
        if !condition.is_none_or(|condition| self.is_true(condition)) {
            return None;
        }
        let keys = self.values(&target.keys);
        self.state.find(target.kind, &keys)
    }

    /// A stream.
    pub fn stream(&mut self, stream: &Variable) -> &mut super::stream::Stream {
        &mut self.stream_state(stream).bytes
    }

    /// Drops all that a container holds.
    pub fn discard_all(&mut self, container: &Variable, reason: crate::types::program::ReasonId) {
        let mut taken = self.taken(container);
        self.state.discard_all(&mut taken, reason);
        *self.variable(container) = taken;
    }

    /// A queue.
    pub fn queue(&mut self, queue: &Variable) -> &mut super::containers::Ring<Datum> {
        match self.variable(queue) {
            Datum::Queue(queue) => queue,
            other => panic!("the checker has seen a queue here, not {other:?}"),
        }
    }

    /// A message that a local holds, to be changed.
    pub fn message_mut(&mut self, local: LocalId) -> &mut Message {
        match &mut self.instant.locals[local.at()] {
            Datum::Message(message) => message,
            other => panic!("the checker has seen a message here, not {other:?}"),
        }
    }

    /// What a filter makes of a message's data.
    fn filtered(
        &mut self,
        message: LocalId,
        filter: FilterId,
        arguments: &[Expression],
    ) -> Vec<u8> {
        let arguments = self.values(arguments);
        let data = self.message(message).data().to_vec();
        self.run_filter(filter, arguments, &data).1
    }

    fn search(&mut self, searches: &[Search]) -> Tried {
        for search in searches {
            match search {
                Search::Find(target) => {
                    if let Some(index) = self.find(target) {
                        return Tried::Found(Datum::Number(u64::from(index)));
                    }
                }
                Search::Soonest(kind, timer, keys) => {
                    let keys = self.values(keys);
                    if let Some(index) = self.soonest(*kind, *timer, &keys) {
                        return Tried::Found(Datum::Number(u64::from(index)));
                    }
                }
                Search::Standing(kind, on) => {
                    let below = self.state.program.stands_on(*kind);
                    let below = below.expect("what stands on a session has it as its key");
                    let below = self.index(*on, below);
                    if let Some(index) = self.state.first_on(*kind, below) {
                        return Tried::Found(Datum::Number(u64::from(index)));
                    }
                }
                Search::Create(kind, keys, listener) => {
                    let keys = self.values(keys);
                    let (_, how) = self.state.program.listening(*kind).unzip();
                    let by = listener.zip(how);
                    let listener = by.map(|(by, how)| self.index(by, how.listener));
                    if let Some(index) = self.make(*kind, keys, listener) {
                        return Tried::Created(*kind, index);
                    }
                }
            }
        }
        Tried::Failed
    }

    /// The instance of this kind whose timer expires first, of those that can be found and whose
    /// first keys are these.
    fn soonest(&self, kind: KindId, timer: TimerId, keys: &[Datum]) -> Option<u32> {
        let found = self.state.kinds[kind.at()].found.iter();
        let all = &self.state.kinds[kind.at()].keys;
        let alike = found.filter(|index| all[**index as usize].starts_with(keys));
        let running = alike.filter_map(|index| {
            let expires = self.state.timers.expires(&(kind, *index, timer))?;
            Some((expires, *index))
        });
        running.min().map(|(_, index)| index)
    }

    fn push_message(&mut self, queue: &Variable, source: &Source) -> Tried {
        if self.queue(queue).is_full() {
            return Tried::Failed;
        }
        let Some(message) = self.source(source) else {
            return Tried::Failed;
        };
        let pushed = self.queue(queue).push(Datum::Message(Box::new(message)));
        done(pushed.is_ok())
    }

    fn insert_message(&mut self, window: &Variable, number: u32, source: &Source) -> Tried {
        if !self.window(window).takes(number) {
            return Tried::Failed;
        }
        let Some(message) = self.source(source) else {
            return Tried::Failed;
        };
        let message = Datum::Message(Box::new(message));
        done(self.window(window).insert(number, message).is_ok())
    }

    fn share_message(&mut self, window: &Variable, number: u32) -> Tried {
        let Some(held) = self.window(window).get(number).cloned() else {
            return Tried::Failed;
        };
        self.state
            .share(held.message())
            .map_or(Tried::Failed, found)
    }

    fn replace_message(&mut self, window: &Variable, number: u32, source: &Source) {
        let entity = self.entity_of(window);
        let Some(message) = self.source_or_count(source, entity) else {
            return;
        };
        self.replace(window, number, Datum::Message(Box::new(message)));
    }

    fn replace(&mut self, window: &Variable, number: u32, item: Datum) {
        while let Some(old) = self.window(window).replace(number) {
            self.leave(old);
        }
        if let Err(refused) = self.window(window).insert(number, item) {
            self.leave(refused);
        }
    }

    /// What leaves a window has done its duty.
    fn leave(&mut self, item: Datum) {
        if let Datum::Message(message) = item {
            self.state.consume(*message);
        }
    }

    fn insert_bytes(&mut self, stream: &Variable, at: Option<u32>, local: LocalId) -> Tried {
        let message = self.message(local);
        let (data, came_in) = (message.data().to_vec(), message.came_in);
        let pieces = self.stream_state(stream);
        let at = at.unwrap_or_else(|| pieces.bytes.end());
        if !pieces.bytes.insert(at, &data) {
            return Tried::Failed;
        }
        pieces.came_in += u64::from(came_in);
        let merged = self.instant.locals[local.at()].take_message();
        self.state.forget(merged);
        Tried::Done
    }

    fn take_bytes(&mut self, stream: &Variable, count: u32) -> Option<Message> {
        let begin = self.stream_state(stream).bytes.begin();
        let mut message = self.slice(stream, begin, count)?;
        let length = message.data().len() as u32;
        let pieces = self.stream_state(stream);
        pieces.bytes.release(begin.wrapping_add(length));
        let came_in = std::mem::take(&mut pieces.came_in);
        message.came_in = came_in > 0;
        self.state.fates.merged += came_in.saturating_sub(1);
        Some(message)
    }

    /// A new message with so many bytes of a stream at a position, as far as they are there; none
    /// without a free buffer, or where none has room for them.
    fn slice(&mut self, stream: &Variable, at: u32, count: u32) -> Option<Message> {
        let bytes = &self.stream_state(stream).bytes;
        let slice = bytes.copy(at, count.min(bytes.ready(at)));
        let has_room = slice.len() <= self.state.limits.room;
        has_room.then(|| self.state.message(&slice))?
    }

    fn release(&mut self, container: &Variable, to: u32) {
        if matches!(self.variable(container), Datum::Stream(_)) {
            self.release_bytes(container, to);
            return;
        }
        while let Some(item) = self.window(container).release(to) {
            self.leave(item);
        }
    }

    /// Lets a stream begin at a position; so many bytes have left it.
    pub fn release_bytes(&mut self, stream: &Variable, to: u32) -> u32 {
        let freed = self.stream_state(stream).bytes.release(to);
        self.settle(stream);
        freed
    }

    fn clear(&mut self, container: &Variable) {
        if let Datum::Set(set) = self.variable(container) {
            set.clear();
            return;
        }
        let Variable::Field(instance, kind, field) = container else {
            panic!("the checker has seen a field that is cleared");
        };
        let program = self.state.program;
        let declared = &program.kinds[kind.at()].fields[field.at()];
        let mut cleared = Datum::empty(program, &declared.kind);
        if let Some(initial) = &declared.initial {
            let mut instant = Moment::default();
            instant.own.insert(*kind, self.index(*instance, *kind));
            let (state, instant) = (&mut *self.state, &mut instant);
            cleared.begin(Evaluation { state, instant }.value(initial));
        }
        self.write(container, cleared);
    }

    fn settle(&mut self, stream: &Variable) {
        let mut taken = self.taken(stream);
        if let Datum::Stream(pieces) = &mut taken {
            self.state.settle(pieces);
        }
        *self.variable(stream) = taken;
    }

    /// What a variable holds, taken out of it for a moment.
    fn taken(&mut self, variable: &Variable) -> Datum {
        std::mem::replace(self.variable(variable), Datum::Absent)
    }

    fn window(&mut self, window: &Variable) -> &mut super::containers::Window<Datum> {
        match self.variable(window) {
            Datum::Window(window) => window,
            other => panic!("the checker has seen a window here, not {other:?}"),
        }
    }

    fn stream_state(&mut self, stream: &Variable) -> &mut Pieces {
        match self.variable(stream) {
            Datum::Stream(stream) => stream,
            other => panic!("the checker has seen a stream here, not {other:?}"),
        }
    }

    /// Whose a variable is.
    fn entity_of(&self, variable: &Variable) -> EntityId {
        match variable {
            Variable::Field(_, kind, _) => self.state.program.kinds[kind.at()].entity,
            Variable::Element(inner, _) | Variable::Part(inner, _, _) => self.entity_of(inner),
            Variable::Local(_) => panic!("containers are fields"),
        }
    }
}

fn done(succeeded: bool) -> Tried {
    if succeeded {
        Tried::Done
    } else {
        Tried::Failed
    }
}

fn found(message: Message) -> Tried {
    Tried::Found(Datum::Message(Box::new(message)))
}
