//! The agenda: in, events that follow from others or come from the host; out, what waits, the next
//! event last. What has no place on it is lost, and counted.

use super::state::{Goal, Pending, State};
use crate::types::program::{Event, PortId};

impl State<'_> {
    /// Puts events on the agenda, so that they are handled in this order before all that waits.
    pub fn wait(&mut self, events: Vec<Pending>) {
        let mut waiting = Vec::new();
        for event in events {
            match self.can_wait(event.goal, &waiting) {
                true => waiting.push(event),
                false => self.lose(event),
            }
        }
        self.agenda.extend(waiting.into_iter().rev());
    }

    /// Whether there is a place on the agenda for an event, behind others of its instant.
    pub fn can_wait(&self, goal: Goal, others: &[Pending]) -> bool {
        self.is_kept(goal) || self.loaded(&self.agenda) + self.loaded(others) < self.limits.events
    }

    /// How many of these events take one of the places for all.
    pub fn loaded(&self, events: &[Pending]) -> usize {
        let usual = events.iter().filter(|event| !self.is_kept(event.goal));
        usual.count()
    }

    /// Whether a place is kept for an event: the start or the end of an instance, or what tells an
    /// application of a session that it has not opened.
    fn is_kept(&self, goal: Goal) -> bool {
        let opened = |port: PortId| self.program.listened(port).and_then(|how| how.opened);
        match goal {
            Goal::Handle { event, .. } => matches!(event, Event::Start | Event::End),
            Goal::Port(port, _, Event::Notice(notice)) => opened(port) == Some(notice),
            Goal::Port(_, _, event) => event == Event::Start,
            Goal::Arrive { .. } | Goal::Frame(_) => false,
        }
    }

    /// There is no place on the agenda for this: it is lost, and counted.
    pub fn lose(&mut self, event: Pending) {
        let came_in = event
            .message
            .as_ref()
            .is_some_and(|message| message.came_in);
        self.fates.agenda_full += u64::from(came_in);
        self.fates.agenda_full_unsent += u64::from(!came_in);
        if let Some(message) = event.message {
            self.refuse(&message);
            self.forget(message);
        }
    }

    /// Whether an event calls a function of an application.
    pub fn calls(&self, event: &Pending) -> bool {
        match event.goal {
            Goal::Port(_, _, Event::Start) => false,
            Goal::Port(port, ..) => self.program.ports[port.at()].calls.is_some(),
            Goal::Arrive { .. } | Goal::Handle { .. } | Goal::Frame(_) => false,
        }
    }

    /// What calls a function of an application lets all go before it that is under way.
    pub fn let_others_go(&mut self, event: Pending) {
        self.wait_last(vec![Pending {
            waited: true,
            ..event
        }]);
    }

    /// Puts events behind all that waits, in this order.
    pub fn wait_last(&mut self, events: Vec<Pending>) {
        for event in events {
            match self.can_wait(event.goal, &[]) {
                true => self.agenda.insert(0, event),
                false => self.lose(event),
            }
        }
    }
}
