//! What a tree puts on the agenda in its midst: in, outputs; out, events that wait, in order.

use super::Running;
use crate::simulate::value::Datum;
use crate::tree::Action;
use crate::types::program::LocalId;

impl<'p> Running<'_, 'p> {
    pub(super) fn on_agenda(&mut self, action: &'p Action) {
        match action {
            Action::Wait(outputs) => {
                self.outputs(outputs);
                let events = std::mem::take(&mut self.events);
                self.state.wait(events);
            }
            Action::Answer(outputs) => {
                self.outputs(outputs);
                for event in std::mem::take(&mut self.events) {
                    if self.state.calls(&event) {
                        self.state.let_others_go(event);
                    } else {
                        self.state.answer(event);
                        self.state.steps += 1;
                    }
                }
            }
            Action::Begin => self.since = self.state.agenda.len(),
            Action::Put(outputs) => {
                self.outputs(outputs);
                if self.turns == 0 {
                    self.state.agenda.append(&mut self.events);
                }
            }
            Action::Mark(mark) => {
                let waiting = self.state.agenda.len() as u64;
                self.instant.locals[mark.at()] = Datum::Number(waiting);
            }
            Action::Precede(first, mark) => self.precede(*first, *mark),
            Action::Turn => self.state.agenda[self.since..].reverse(),
            Action::AtOnce => {
                if self.state.agenda.len() > self.since {
                    self.events.extend(self.state.agenda.pop());
                    self.at_once = true;
                }
            }
            other => unreachable!("{other:?} puts nothing on the agenda"),
        }
    }

    /// What was put on the agenda since a mark comes before what was put there since another one.
    fn precede(&mut self, first: LocalId, mark: LocalId) {
        let number = |local: LocalId| self.instant.locals[local.at()].number() as usize;
        let (from, since) = (number(first), number(mark));
        let all = &mut self.state.agenda[from..];
        all.rotate_left(since - from);
        let behind = (all.len() - (since - from) + from) as u64;
        self.instant.locals[first.at()] = Datum::Number(behind);
    }
}
