//! What the host is told: in, events that leave the stack; out, frames, messages and notices, which
//! wait until the host takes them.

use super::state::{Emitted, Goal, Pending, State};
use crate::types::program::{Event, PortId};

impl State<'_> {
    /// Whether another step may be taken behind one more answer: nothing waits, the budget of the
    /// call allows it, and there is room for its own.
    pub fn goes_on(&self) -> bool {
        let limits = &self.limits;
        let has_room = self.outputs.len() + 1 < limits.outputs;
        self.agenda.is_empty() && self.steps < limits.budget && has_room
    }

    /// A frame leaves, or an application is told, by the host.
    pub fn answer(&mut self, event: Pending) {
        let answer = self.told(event);
        self.outputs.extend(answer);
    }

    /// What the host, or an application, learns of an event that leaves the stack.
    pub fn told(&mut self, event: Pending) -> Option<Emitted> {
        match event.goal {
            Goal::Frame(link) => {
                let message = event.message.expect("a frame is a message");
                self.fates.frames_out += 1;
                self.fates.consumed += u64::from(message.came_in);
                let bytes = message.data().to_vec();
                Some(Emitted::Frame { link, bytes })
            }
            Goal::Port(port, session, what) => self.surfaces((port, session), what, event),
            Goal::Arrive { .. } | Goal::Handle { .. } => unreachable!("it stays in the stack"),
        }
    }

    /// What the host learns instead of an event that comes to an application: that a session is to
    /// be accepted; or nothing, of one that the application has not heard of.
    pub fn instead(
        &mut self,
        (port, session): (PortId, u32),
        event: Event,
        pending: &Pending,
    ) -> Option<Option<Emitted>> {
        let how = self.program.ports[port.at()].listens;
        let opened = how.and_then(|how| how.opened).map(Event::Notice);
        if (event == Event::Start || Some(event) == opened)
            && let Some(accepted) = self.accepted(port, session)
        {
            return Some(Some(accepted));
        }
        let is_unknown = pending.message.is_none() && self.is_unknown(port, session);
        (event == Event::Start || is_unknown).then_some(None)
    }

    /// A message or notice comes to an application.
    fn surfaces(
        &mut self,
        (port, session): (PortId, u32),
        event: Event,
        pending: Pending,
    ) -> Option<Emitted> {
        if !pending.waited
            && let Some(instead) = self.instead((port, session), event, &pending)
        {
            return instead;
        }
        let Pending {
            message, arguments, ..
        } = pending;
        let came_in = message.as_ref().is_some_and(|message| message.came_in);
        self.fates.delivered += u64::from(came_in);
        Some(match (event, message) {
            (Event::Notice(notice), message) => Emitted::Notice {
                port,
                session,
                notice,
                arguments,
                bytes: message.map(|message| message.data().to_vec()),
            },
            (_, message) => {
                let message = message.expect("what is delivered is a message");
                let listed = self.program.ports[port.at()].attributes.iter();
                let attributes = listed.map(|id| (*id, message.attribute(*id).clone()));
                Emitted::Deliver {
                    port,
                    session,
                    bytes: message.data().to_vec(),
                    attributes: attributes.collect(),
                }
            }
        })
    }
}
