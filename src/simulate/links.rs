//! Links that go down and up: in, what the host says of one; out, events for who hears it.

use super::stack::{Control, Stack};
use super::state::Pending;
use super::value::Datum;
use crate::types::program::{Event, LinkId};

impl<'p, C: Control<'p>> Stack<'p, C> {
    /// A link went down, or up again. What waits already is handled first.
    pub fn carrier(&mut self, link: LinkId, up: bool, now_ns: u64) {
        self.begin_call(now_ns);
        let told = self.told_of_link(link, up);
        self.state.agenda.reverse();
        self.state.wait(told.into_iter().rev().collect());
        self.state.agenda.reverse();
        self.run();
    }

    /// That a link is down or up, to who hears it.
    pub(super) fn told_of_link(&self, link: LinkId, up: bool) -> Vec<Pending> {
        let link = &self.state.program.links[link.at()];
        let notice = link.carrier.into_iter();
        let goals = notice.flat_map(|notice| {
            let event = Event::Notice(notice);
            let place = link.above;
            self.control.notice_from_below(&self.state, place, event)
        });
        let told = goals.map(|goal| Pending {
            arguments: vec![Datum::of_bool(up)],
            ..Pending::new(goal)
        });
        told.collect()
    }
}
