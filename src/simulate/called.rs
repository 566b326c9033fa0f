//! What comes up to applications, which a port calls or which ask for it; and what leaves by links
//! that call.
//!
//! In: an event at a port. Out: an output for the host, or the function of the application is
//! called when nothing else is under way, and what it gives back is told. In: frames that wait for
//! the function of their link. Out: that is called with each, behind all else.

use super::stack::{Control, Stack};
use super::state::{Emitted, Goal, Pending};
use super::value::{Datum, fit};
use crate::types::program::PortId;

impl<'p, C: Control<'p>> Stack<'p, C> {
    /// A message or notice comes to an application: which is called, or told by the host. It is
    /// called when nothing else is under way; what is then comes next, within the same step.
    pub(super) fn surface(&mut self, port: PortId, event: Pending) {
        let is_under_way = self.calling || !self.state.agenda.is_empty();
        if self.state.calls(&event)
            && is_under_way
            && !event.waited
            && let Goal::Port(_, session, what) = event.goal
        {
            match self.state.instead((port, session), what, &event) {
                Some(instead) => self.state.outputs.extend(instead),
                None => {
                    self.state.steps -= 1;
                    self.state.let_others_go(event);
                }
            }
            return;
        }
        let carries = event.message.is_some();
        let told = self.state.told(event);
        match (told, &self.state.program.ports[port.at()].calls) {
            (Some(output @ (Emitted::Deliver { .. } | Emitted::Notice { .. })), Some(function)) => {
                self.call_application(function, output, carries);
            }
            (told, _) => self.state.outputs.extend(told),
        }
    }

    /// An application is called with what came up; what it gives back is told last, and the buffer
    /// of what it was given is free then.
    fn call_application(&mut self, function: &str, output: Emitted, carries: bool) {
        let known = self.state.externs.application(function);
        let application = known.expect("a stack is started with what its ports call");
        self.state.called.push(output.clone());
        self.calling = true;
        let more = application(&output, &mut |call| self.call(call, self.state.now_ns));
        if let Emitted::Deliver { port, session, .. } = output {
            self.grant(port, session, more);
        }
        self.calling = false;
        if carries {
            self.state.give_back();
        }
    }

    /// Links call their functions with the frames that wait for that, in order; each may call the
    /// stack, and so lets the next ones leave. The buffer of a frame is free by then.
    pub(super) fn let_leave(&mut self) {
        while let Some((at, function)) = self.next_to_leave() {
            let frame = self.state.outputs.remove(at).expect("it waits there");
            self.state.give_back();
            self.state.called.push(frame.clone());
            let known = self.state.externs.leaving(function);
            let leaves = known.expect("a stack is started with what its links call");
            leaves(&frame, &mut |call| self.call(call, self.state.now_ns));
        }
    }

    /// The first frame that waits for the function of its link: where it stands, and that.
    fn next_to_leave(&self) -> Option<(usize, &'p str)> {
        let mut waiting = self.state.outputs.iter().enumerate();
        waiting.find_map(|(at, output)| match output {
            Emitted::Frame { link, .. } => {
                let function = self.state.program.links[link.at()].calls.as_ref();
                function.map(|function| (at, function.as_str()))
            }
            Emitted::Deliver { .. } | Emitted::Notice { .. } | Emitted::Accepted { .. } => None,
        })
    }

    /// So much more may come up, as a function gave back that was called with a message: as if it
    /// had told that last.
    fn grant(&mut self, port: PortId, session: u32, more: u64) {
        let notice = self.state.program.ports[port.at()].granted(self.state.program);
        let Some(notice) = notice.filter(|_| more != 0) else {
            return;
        };
        let number = &self.state.program.notices[notice.at()].parameters[0];
        let more = vec![Datum::Number(fit(&number.kind, more))];
        self.notice((port, session), notice, more, self.state.now_ns);
    }
}
