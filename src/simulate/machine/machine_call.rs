//! The calls of a host, and the work loop.
//!
//! In: frames, an application's messages and notices, time. Out: events on the agenda, which the
//! work loop takes and handles, the last first, within the budget of the call.

use super::agenda::{Pending, listens};
use super::machine_run::Ending;
use super::values::Held;
use super::{Machine, Output};
use crate::ir::interface::{Numbered, Opening};
use crate::ir::op::{Order, Target};
use crate::ir::{AttributeId, FunctionId, KindId, LinkId, PortId};
use crate::simulate::stack::Outcome;

/// The parts of a key; none of one that is left out.
pub type Key = Option<Vec<Held>>;

impl<'m> Machine<'m> {
    /// Frames that came in by a link: how many of them were taken. The host copies each into a
    /// buffer of the stack first, as far as there are any, and keeps those that are not taken.
    pub fn input(&mut self, link: LinkId, frames: &[Vec<u8>], now_ns: u64) -> usize {
        if self.calling {
            return 0;
        }
        let copied = self.messages.lend_buffers(frames.len());
        // The function of a link may hand over frames, too, but not in these buffers.
        self.messages.lent -= copied;
        self.begin_call(now_ns);
        let mut taken = 0;
        while taken < copied && self.agenda.waiting.is_empty() && self.may_go_on() {
            if frames[taken].len() > self.limits.room {
                break;
            }
            let mut message = self.messages.blank(&frames[taken]);
            message.came_in = true;
            self.messages.fates.frames_in += 1;
            taken += 1;
            let arrives = self.module.links[link.at()].arrives;
            self.queue(Order::Front, arrives, vec![Held::message(message)]);
            self.run();
        }
        self.messages.lent += copied - taken;
        taken
    }

    /// A message of an application. What can never be taken is refused, whatever waits.
    pub fn send(
        &mut self,
        (port, session): (PortId, u32),
        attributes: Vec<(AttributeId, Held)>,
        bytes: &[u8],
        now_ns: u64,
    ) -> Outcome {
        self.begin_call(now_ns);
        let sends = self.module.ports[port.at()].sends;
        let Some(sends) = sends.filter(|_| self.is_open(port, session)) else {
            self.messages.fates.no_session += 1;
            return Outcome::Refused;
        };
        let longest = self.limits.longest.get(port.at());
        if bytes.len() > longest.copied().unwrap_or(self.limits.room) {
            self.messages.fates.too_long += 1;
            return Outcome::Refused;
        }
        let goes_on = self.calling || self.may_go_on();
        if !self.takes(1) || !goes_on {
            return Outcome::Later;
        }
        let Some(mut message) = self.messages.host_message(bytes) else {
            return Outcome::Later;
        };
        for (attribute, value) in attributes {
            message.attributes[attribute.at()] = value;
        }
        // It may be dropped on its way. Functions of the host that are called meanwhile may send
        // something else.
        self.messages.sends += 1;
        let number = Some(self.messages.sends);
        let outer = std::mem::replace(&mut self.messages.sending, number);
        message.sent = number;
        let (_, index) = self.below(port, session);
        let arguments = vec![Held::Number(index.into()), Held::message(message)];
        self.tell(Pending::new(Target::Function(sends), arguments), true);
        match std::mem::replace(&mut self.messages.sending, outer) {
            Some(_) => Outcome::Sent,
            None => Outcome::Refused,
        }
    }

    /// Opens a conversation with these keys; those that are left out are the stack's to find. None
    /// if there is such a conversation already, or no room for it.
    pub fn open(&mut self, port: PortId, keys: &[Key], now_ns: u64) -> Option<u32> {
        self.begin_call(now_ns);
        let opening = self.module.ports[port.at()].opens.as_ref()?;
        let index = self.opened(opening, keys, None)?;
        self.run();
        Some(index)
    }

    /// Listens with these keys: the listener. It has at most so many sessions that the application
    /// has not accepted. None if there is such a listener already, or no room for it.
    pub fn listen(&mut self, port: PortId, keys: &[Key], backlog: u32, now_ns: u64) -> Option<u32> {
        self.begin_call(now_ns);
        let opening = self.module.ports[port.at()].listens.as_ref()?;
        let index = self.opened(opening, keys, Some(backlog))?;
        self.run();
        Some(index)
    }

    /// Ends a listener; the sessions that it made stay, and those that wait are still accepted.
    pub fn unlisten(&mut self, port: PortId, listener: u32, now_ns: u64) {
        self.begin_call(now_ns);
        let opening = self.module.ports[port.at()].listens.as_ref();
        let Some(closes) = opening.and_then(|opening| opening.closes) else {
            return;
        };
        let how = listens(self.module, port);
        if how.is_some_and(|how| self.memory.is_live(how.listener, listener)) {
            self.call(closes, vec![Held::Number(listener.into())]);
            self.run();
        }
    }

    /// A notice of an application: it comes behind all that waits.
    pub fn notice(
        &mut self,
        (port, session): (PortId, u32),
        notice: u32,
        arguments: Vec<Held>,
        now_ns: u64,
    ) {
        self.begin_call(now_ns);
        let is_open = self.is_open(port, session);
        let notice = &self.module.ports[port.at()].down[notice as usize];
        if let Some(handled) = notice.handled {
            let (_, index) = self.below(port, session);
            let index = Held::Number(index.into());
            let arguments = [vec![index], arguments].concat();
            self.tell(Pending::new(Target::Function(handled), arguments), is_open);
        }
    }

    /// A link went down, or up again. What waits already is handled first.
    pub fn carrier(&mut self, link: LinkId, up: bool, now_ns: u64) {
        self.begin_call(now_ns);
        if let Some(carrier) = self.module.links[link.at()].carrier {
            self.call(carrier, vec![Held::bit(up)]);
        }
        self.run();
    }

    /// Time has passed: runs what waits, then every timer whose deadline has come.
    pub fn expire(&mut self, now_ns: u64) {
        self.begin_call(now_ns);
        while self.agenda.waiting.is_empty() && self.may_go_on() {
            let deadline_ns = self.memory.timers.deadline_ns();
            if deadline_ns.is_none_or(|deadline_ns| deadline_ns > now_ns) {
                return;
            }
            let first = self.memory.timers.first().copied();
            let (kind, index, timer) = first.expect("a deadline is that of a timer");
            self.memory.timers.stop(&(kind, index, timer));
            match self.module.kinds[kind.at()].timers[timer.at()].expires {
                Some(expires) => {
                    let arguments = vec![Held::Number(index.into())];
                    self.queue(Order::Front, expires, arguments);
                }
                // Nothing happens, in a step of its own.
                None => self.steps += 1,
            }
            self.run();
        }
    }

    /// Takes the next output; the host gives its buffer back at once.
    pub fn next_output(&mut self) -> Option<Output> {
        let output = self.outputs.pop_front()?;
        match &output {
            Output::Frame { .. } | Output::Message { .. } => self.messages.give_back(),
            Output::Accepted { port, listener, .. } => self.taken(*port, *listener),
            Output::Notice { bytes, .. } => {
                bytes.iter().for_each(|_| self.messages.give_back());
            }
        }
        Some(output)
    }

    /// An application tells something, if that is for one that is there: behind all that waits.
    /// While it is called, that happens at once if nothing waits, and what comes of it when its
    /// function has returned.
    fn tell(&mut self, event: Pending, is_open: bool) {
        let at_once = self.calling && self.agenda.waiting.is_empty() && self.has_room();
        self.steps += u32::from(at_once);
        match is_open {
            true if at_once => self.step(event),
            true => {
                let messages = &mut self.messages;
                self.agenda.queue(Order::Back, vec![event], messages);
                self.run();
            }
            false => {}
        }
    }

    /// A new instance for a port: its index.
    fn opened(&mut self, how: &Opening, keys: &[Key], backlog: Option<u32>) -> Option<u32> {
        if !self.takes(how.events as usize) {
            return None;
        }
        let all = how.keys.iter().zip(keys);
        let mut bits = Vec::new();
        let mut parts = Vec::new();
        for ((named, may_lack), key) in all {
            match key {
                None if !may_lack => return None,
                None => parts.extend(named.shape.parts().into_iter().map(Held::zero)),
                Some(given) => parts.extend(given.iter().cloned()),
            }
            bits.extend(may_lack.then_some(Held::bit(key.is_some())));
        }
        let backlog = backlog.map(|backlog| Held::Number(backlog.into()));
        let arguments = bits.into_iter().chain(parts).chain(backlog);
        let results = self.call(how.opens, arguments.collect());
        let [made, index] = &results[..] else {
            panic!("what opens returns a bit and an index");
        };
        let index = index.number().expect("an index is a number") as u32;
        (*made == Held::bit(true)).then_some(index)
    }

    /// A call of the host begins: first comes what the last one left. A call from inside of an
    /// application's function belongs to the one that is going on.
    fn begin_call(&mut self, now_ns: u64) {
        if self.calling {
            return;
        }
        self.now_ns = now_ns;
        self.steps = 0;
        self.run();
    }

    /// Returns true if this number of events of an application is taken. An application that is
    /// called adds to what waits, and leaves a place for what it gives back.
    fn takes(&self, events: usize) -> bool {
        match self.calling {
            true => self.agenda.loaded() + events < self.limits.events,
            false => self.agenda.waiting.is_empty(),
        }
    }

    /// Another step may be taken: no function of an application is being called, the budget of the
    /// call allows it, and there is room for what the host is to do then.
    fn may_go_on(&self) -> bool {
        !self.calling && self.has_room()
    }

    /// The budget of the call allows another step, and its answer has room.
    fn has_room(&self) -> bool {
        let limits = &self.limits;
        self.steps < limits.budget && self.outputs.len() < limits.outputs
    }

    /// Handles what is on the agenda, as far as may be.
    fn run(&mut self) {
        while self.may_go_on() {
            let Some(event) = self.agenda.waiting.pop() else {
                break;
            };
            self.steps += 1;
            self.step(event);
        }
        if !self.calling {
            self.let_leave();
        }
    }

    /// Handles an event, and all that is handed on within the step.
    fn step(&mut self, event: Pending) {
        let mut next = Some(event);
        while let Some(event) = next.take() {
            match event.target {
                Target::Link(_) => self.answer(event),
                Target::Port(port, told) => self.surface((port, told), event),
                Target::Function(function) => {
                    next = match self.react(function, event.arguments) {
                        Ending::Returned(_) => None,
                        Ending::Tail(event) => Some(event),
                        Ending::Take(mark) if self.agenda.waiting.len() > mark => {
                            self.agenda.waiting.pop()
                        }
                        Ending::Take(_) => None,
                        Ending::Left => panic!("nothing runs in the place of a fast function"),
                    };
                }
            }
        }
    }

    /// Runs a reaction: its fast function first, if it has one, and one before that.
    fn react(&mut self, id: FunctionId, arguments: Vec<Held>) -> Ending {
        let Some(fast) = self.module.function(id).fast else {
            return self.run_function(id, arguments);
        };
        match self.react(fast, arguments.clone()) {
            Ending::Left => self.run_function(id, arguments),
            ending => ending,
        }
    }

    fn queue(&mut self, order: Order, function: FunctionId, arguments: Vec<Held>) {
        let event = Pending::new(Target::Function(function), arguments);
        self.agenda.queue(order, vec![event], &mut self.messages);
    }

    /// The session on which a port stands; all ones if there is none with this number.
    fn below(&self, port: PortId, session: u32) -> (KindId, u32) {
        let of = self.module.ports[port.at()].session;
        let index = match of.index {
            Numbered::Only(only) => only,
            Numbered::From(more, below) if session < below => more + session,
            Numbered::From(..) => u32::MAX,
        };
        (of.kind, index)
    }

    fn is_open(&self, port: PortId, session: u32) -> bool {
        let (kind, index) = self.below(port, session);
        let always = self.module.ports[port.at()].opens.is_none();
        self.memory.is_live(kind, index) && (!always || session == 0)
    }
}
