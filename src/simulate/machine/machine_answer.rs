//! The way out of the stack: outputs that wait for the host, functions of applications and links
//! that are called, and sessions that wait to be accepted.
//!
//! In: events for links and ports. Out: an output, or a call when nothing else is under way; what
//! an application gives back is told last.
//!
//! ```text
//! made by a listener      it waits at its listener, which has a place less
//! opened, or just made    what tells the application is among the outputs; the place is theirs
//! the output is taken     the place is free      or the session ends before: the place is free
//! the listener ends       what waits at it waits at nobody, and is accepted all the same
//! ```

use super::agenda::{Pending, listened, listening, listens};
use super::values::{Handle, Held};
use super::{Machine, Output};
use crate::ir::interface::Listening;
use crate::ir::op::{Order, Target, Told};
use crate::ir::types::ones;
use crate::ir::{KindId, PortId};

/// No instance: all ones.
const NOBODY: u64 = u32::MAX as u64;

impl<'m> Machine<'m> {
    /// Returns true if so many more steps may be taken, each behind one more answer: nothing waits,
    /// no application is being called, the budget of the call allows it, and there is room for the
    /// answer of the last.
    pub(super) fn goes_on(&self, steps: u32) -> bool {
        let limits = &self.limits;
        let has_room = self.outputs.len() + (steps as usize) < limits.outputs;
        let is_alone = self.agenda.waiting.is_empty() && !self.calling;
        is_alone && self.steps + steps <= limits.budget && has_room
    }

    /// A frame leaves, or an application is told, by the host.
    pub(super) fn answer(&mut self, event: Pending) {
        let answer = self.told(event);
        self.outputs.extend(answer);
    }

    /// A message or notice comes to an application: which is called, or told by the host. It is
    /// called when nothing else is under way; what is then comes next, within the same step.
    pub(super) fn surface(&mut self, (port, told): (PortId, Told), event: Pending) {
        let is_under_way = self.calling || !self.agenda.waiting.is_empty();
        if self.module.calls_application(event.target) && is_under_way && !event.waited {
            match self.instead((port, session(&event)), told, &event) {
                Some(instead) => self.outputs.extend(instead),
                None => {
                    self.steps -= 1;
                    let waited = true;
                    let event = Pending { waited, ..event };
                    let messages = &mut self.messages;
                    self.agenda.queue(Order::Back, vec![event], messages);
                }
            }
            return;
        }
        let carries = event
            .arguments
            .iter()
            .any(|held| held.as_message().is_some());
        let told = self.told(event);
        match (told, &self.module.ports[port.at()].calls) {
            (Some(output @ (Output::Message { .. } | Output::Notice { .. })), Some(function)) => {
                self.call_application(function, output, carries);
            }
            (told, _) => self.outputs.extend(told),
        }
    }

    /// Returns what the host, or an application, learns of an event that leaves the stack.
    fn told(&mut self, event: Pending) -> Option<Output> {
        match event.target {
            Target::Link(link) => {
                let (_, message, _) = parted(event);
                let message = message.expect("a frame is a message");
                self.messages.fates.frames_out += 1;
                self.messages.fates.consumed += u64::from(message.came_in);
                let bytes = self.messages.leave(message);
                Some(Output::Frame { link, bytes })
            }
            Target::Port(port, told) => self.surfaces(port, told, event),
            Target::Function(_) => unreachable!("it stays in the stack"),
        }
    }

    /// Returns what the host learns instead of an event that comes to an application: that a
    /// session is to be accepted; or nothing, of one that the application has not heard of.
    fn instead(
        &mut self,
        (port, session): (PortId, u32),
        told: Told,
        event: &Pending,
    ) -> Option<Option<Output>> {
        let how = listens(self.module, port);
        let opened = how.and_then(|how| how.opened).map(Told::Notice);
        if (told == Told::Started || Some(told) == opened)
            && let Some(accepted) = self.accepted(port, session)
        {
            return Some(Some(accepted));
        }
        let mut arguments = event.arguments.iter();
        let carries = arguments.any(|held| held.as_message().is_some());
        let is_unknown = !carries && self.is_unknown(port, session);
        (told == Told::Started || is_unknown).then_some(None)
    }

    /// A message or notice comes to an application.
    fn surfaces(&mut self, port: PortId, told: Told, event: Pending) -> Option<Output> {
        if !event.waited
            && let Some(instead) = self.instead((port, session(&event)), told, &event)
        {
            return instead;
        }
        let (session, message, arguments) = parted(event);
        let came_in = message.as_ref().is_some_and(|message| message.came_in);
        self.messages.fates.delivered += u64::from(came_in);
        Some(match told {
            Told::Notice(notice) => Output::Notice {
                port,
                session,
                notice,
                arguments,
                bytes: message.map(|message| self.messages.leave(message)),
            },
            Told::Message | Told::Started => {
                let message = message.expect("what is delivered is a message");
                let attributes = message.attributes.clone();
                Output::Message {
                    port,
                    session,
                    bytes: self.messages.leave(message),
                    attributes,
                }
            }
        })
    }

    /// An application is called with what came up; what it gives back is told last, and the buffer
    /// of what it was given is free then.
    fn call_application(&mut self, function: &str, output: Output, carries: bool) {
        self.called.push(output.clone());
        self.calling = true;
        let host = self.host.clone();
        let more = host.application(self, function, &output);
        if let Output::Message { port, session, .. } = output {
            self.grant(port, session, more);
        }
        self.calling = false;
        if carries {
            self.messages.give_back();
        }
    }

    /// Grants what a function gave back that was called with a message: as if it
    /// had told that last.
    fn grant(&mut self, port: PortId, session: u32, more: u64) {
        let table = &self.module.ports[port.at()];
        let Some(notice) = table.grants.filter(|_| more != 0) else {
            return;
        };
        let parameters = table.down[notice as usize].parameters.iter();
        let mut parts = parameters.flat_map(|one| one.shape.parts());
        let bits = parts.next().and_then(|part| part.bits());
        let bits = bits.expect("what is granted is a number");
        let more = vec![Held::Number(more & ones(bits))];
        self.notice((port, session), notice, more, self.now_ns);
    }

    /// Links call their functions with the frames that wait for that, in order; each may call the
    /// stack, and so lets the next ones leave. The buffer of a frame is free by then.
    pub(super) fn let_leave(&mut self) {
        while let Some((at, function)) = self.next_to_leave() {
            let frame = self.outputs.remove(at).expect("it waits there");
            self.messages.give_back();
            self.called.push(frame.clone());
            let host = self.host.clone();
            host.leaving(self, function, &frame);
        }
    }

    /// The first frame that waits for the function of its link: where it stands, and that.
    fn next_to_leave(&self) -> Option<(usize, &'m str)> {
        let mut waiting = self.outputs.iter().enumerate();
        waiting.find_map(|(at, output)| match output {
            Output::Frame { link, .. } => {
                let function = self.module.links[link.at()].calls.as_ref();
                function.map(|function| (at, function.as_str()))
            }
            Output::Message { .. } | Output::Notice { .. } | Output::Accepted { .. } => None,
        })
    }

    /// Accepts a session that waits, and returns the output that tells the application of it.
    fn accepted(&mut self, port: PortId, session: u32) -> Option<Output> {
        let how = listens(self.module, port)?;
        if self.memory.field(how.session, session, how.waits) == 0 {
            return None;
        }
        let memory = &mut self.memory;
        memory.set_field(how.session, session, how.waits, 0);
        memory.set_field(how.session, session, how.unknown, 0);
        let listener = memory.field(how.session, session, how.made_by);
        Some(Output::Accepted {
            port,
            session,
            listener: (listener != NOBODY).then_some(listener as u32),
            keys: memory.keys(how.session, session),
        })
    }

    /// The application hears nothing of a session.
    fn is_unknown(&self, port: PortId, session: u32) -> bool {
        let how = listened(self.module, port);
        how.is_some_and(|how| self.memory.field(how.session, session, how.unknown) != 0)
    }

    /// The application has taken a session.
    pub(super) fn taken(&mut self, port: PortId, listener: Option<u32>) {
        if let (Some(how), Some(listener)) = (listens(self.module, port), listener) {
            self.give_place(how, listener);
        }
    }

    /// A session ends, or a listener.
    pub(super) fn waits_no_more(&mut self, kind: KindId, index: u32) {
        let Some(how) = listening(self.module, kind) else {
            return;
        };
        if kind == how.session {
            let listener = self.memory.field(kind, index, how.made_by);
            if self.memory.field(kind, index, how.waits) != 0 && listener != NOBODY {
                self.give_place(how, listener as u32);
            }
            self.memory.set_field(kind, index, how.waits, 0);
            return;
        }
        // It makes no more of them, and nobody waits at it.
        self.memory.set_field(kind, index, how.backlog, 0);
        for session in 0..self.module.kinds[how.session.at()].capacity {
            if self.memory.is_live(how.session, session)
                && self.memory.field(how.session, session, how.made_by) == u64::from(index)
            {
                let memory = &mut self.memory;
                memory.set_field(how.session, session, how.made_by, NOBODY);
            }
        }
        for output in &mut self.outputs {
            if let Output::Accepted { port, listener, .. } = output
                && *port == how.port
                && *listener == Some(index)
            {
                *listener = None;
            }
        }
    }

    fn give_place(&mut self, how: Listening, listener: u32) {
        let waiting = self.memory.field(how.listener, listener, how.waiting);
        let memory = &mut self.memory;
        memory.set_field(how.listener, listener, how.waiting, waiting - 1);
    }
}

/// The conversation that an event of a port is about.
fn session(event: &Pending) -> u32 {
    let session = event.arguments.first().map(Held::number);
    let session = session.expect("an application is told of a session");
    session.expect("a session is a number") as u32
}

/// The session, the message and the other arguments of an event that leaves the stack; a frame is
/// of no session.
fn parted(event: Pending) -> (u32, Option<Handle>, Vec<Held>) {
    let of_session = match event.target {
        Target::Port(..) => session(&event),
        Target::Link(_) | Target::Function(_) => 0,
    };
    let skipped = usize::from(matches!(event.target, Target::Port(..)));
    let mut message = None;
    let mut others = Vec::new();
    for held in event.arguments.into_iter().skip(skipped) {
        match held {
            Held::Message(handle) => message = Some(*handle),
            other => others.push(other),
        }
    }
    (of_session, message, others)
}
