//! The agenda: in, events that follow from others or come from the host; out, what waits, the next
//! event last. What has no place on it is lost, and counted.

use super::messages::Messages;
use super::values::Held;
use crate::ir::interface::Listening;
use crate::ir::op::{Order, Target, Told};
use crate::ir::{KindId, Module, PortId};

/// An event that waits.
#[derive(Clone, Debug, PartialEq)]
pub struct Pending {
    /// Its target.
    pub target: Target,
    /// Its arguments.
    pub arguments: Vec<Held>,
    /// It has let all go before it that was under way.
    pub waited: bool,
}

impl Pending {
    /// An event.
    pub fn new(target: Target, arguments: Vec<Held>) -> Pending {
        Pending {
            target,
            arguments,
            waited: false,
        }
    }
}

/// Events that wait.
#[derive(Clone, Debug)]
pub struct Agenda<'m> {
    module: &'m Module,
    /// The last is the next.
    pub waiting: Vec<Pending>,
    /// The places for all events but those for which places are kept.
    most: usize,
}

impl<'m> Agenda<'m> {
    /// An agenda on which nothing waits.
    pub fn new(module: &'m Module, most: usize) -> Agenda<'m> {
        Agenda {
            module,
            waiting: Vec::new(),
            most,
        }
    }

    /// Puts events there, as far as they have a place.
    pub fn queue(&mut self, order: Order, events: Vec<Pending>, messages: &mut Messages) {
        match order {
            Order::Front => {
                let mut admitted = Vec::new();
                self.admit(events, &mut admitted, messages);
                self.waiting.extend(admitted.into_iter().rev());
            }
            Order::Back => {
                for event in events {
                    match self.can_wait(event.target, &[]) {
                        true => self.waiting.insert(0, event),
                        false => self.lose(event, messages),
                    }
                }
            }
            Order::Made => {
                for event in events {
                    match self.can_wait(event.target, &[]) {
                        true => self.waiting.push(event),
                        false => self.lose(event, messages),
                    }
                }
            }
        }
    }

    /// Those of these events that have a place, behind others of their instant.
    pub fn admit(
        &mut self,
        events: Vec<Pending>,
        admitted: &mut Vec<Pending>,
        messages: &mut Messages,
    ) {
        for event in events {
            match self.can_wait(event.target, admitted) {
                true => admitted.push(event),
                false => self.lose(event, messages),
            }
        }
    }

    /// Counts the events that take one of the places for all.
    pub fn loaded(&self) -> usize {
        self.usual(&self.waiting)
    }

    /// Counts the messages that came in and wait here.
    pub fn held(&self) -> u64 {
        let arguments = self.waiting.iter().flat_map(|event| &event.arguments);
        let handles = arguments.filter_map(Held::as_message);
        handles.filter(|handle| handle.came_in).count() as u64
    }

    /// Moves the events put there since the second mark before those put there since the first,
    /// which then begin at the result.
    pub fn precede(&mut self, from: usize, since: usize) -> usize {
        let all = &mut self.waiting[from..];
        all.rotate_left(since - from);
        all.len() - (since - from) + from
    }

    fn can_wait(&self, target: Target, others: &[Pending]) -> bool {
        self.is_kept(target) || self.loaded() + self.usual(others) < self.most
    }

    fn usual(&self, events: &[Pending]) -> usize {
        let usual = events.iter().filter(|event| !self.is_kept(event.target));
        usual.count()
    }

    /// A place is kept for the start and the end of an instance, and for what tells an application
    /// of a session that it has not opened.
    fn is_kept(&self, target: Target) -> bool {
        match target {
            Target::Function(function) => self.module.function(function).kept,
            Target::Port(_, Told::Started) => true,
            Target::Port(port, Told::Notice(notice)) => is_opened(self.module, port, notice),
            Target::Port(_, Told::Message) | Target::Link(_) => false,
        }
    }

    /// There is no place for this: it is lost, and counted.
    fn lose(&self, event: Pending, messages: &mut Messages) {
        let message = event.arguments.into_iter().find_map(|held| match held {
            Held::Message(handle) => Some(*handle),
            _plain => None,
        });
        let came_in = message.as_ref().is_some_and(|message| message.came_in);
        messages.fates.agenda_full += u64::from(came_in);
        messages.fates.agenda_full_unsent += u64::from(!came_in);
        if let Some(message) = message {
            messages.refuse(&message);
            messages.forget(message);
        }
    }
}

/// Finds the table of waiting sessions by the kind of its listeners or sessions.
pub fn listening(module: &Module, kind: KindId) -> Option<Listening> {
    let mut all = module.listening.iter();
    let how = all.find(|how| how.listener == kind || how.session == kind);
    how.copied()
}

/// Finds the table of waiting sessions of a port that listens by itself.
pub fn listens(module: &Module, port: PortId) -> Option<Listening> {
    let mut all = module.listening.iter();
    all.find(|how| how.port == port).copied()
}

/// Finds the table of waiting sessions of a port, which listens itself, or shares its sessions with
/// one that does.
pub fn listened(module: &Module, port: PortId) -> Option<Listening> {
    let opens = module.ports[port.at()].opens.as_ref()?;
    listening(module, opens.kind)
}

/// A notice is the one in whose place sessions of a port are accepted.
fn is_opened(module: &Module, port: PortId, notice: u32) -> bool {
    let how = listened(module, port);
    let opened = how.and_then(|how| Some((how.port, how.opened?)));
    opened.is_some_and(|(by, opened)| {
        let name = |port: PortId, at: u32| &module.ports[port.at()].up[at as usize].name;
        name(by, opened) == name(port, notice)
    })
}
