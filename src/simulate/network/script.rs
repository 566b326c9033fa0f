//! What scripts do in a network, and what comes up to them.
//!
//! In: a script whose time has come, or a message for an application. Out: the messages it sends,
//! and when it is to go on.

use super::application::{Heard, Running, Step};
use super::driven::{Address, Told};
use super::{Event, Network, Stuck, Watch};
use crate::simulate::value::Datum;

/// What a script does after a step.
enum Then {
    /// The next one, at once.
    On,
    /// It goes on at this time.
    At(u64),
    /// It is over.
    Over,
}

impl Network<'_> {
    /// Takes the steps of a script, until it waits.
    pub(super) fn advance(
        &mut self,
        application: usize,
        watch: &mut dyn Watch,
    ) -> Result<(), Stuck> {
        loop {
            let then = self.step(application);
            let running = &mut self.applications[application];
            let node = running.script.node;
            match then {
                Then::On => running.at += 1,
                Then::Over => return Ok(()),
                Then::At(at_ns) => {
                    running.set += 1;
                    let set = running.set;
                    self.schedule(at_ns, Event::Script(application, set));
                    return self.settle(node, watch);
                }
            }
            self.settle(node, watch)?;
        }
    }

    /// One step, or one turn of it.
    fn step(&mut self, application: usize) -> Then {
        let now_ns = self.now_ns;
        let running = &mut self.applications[application];
        let Some(step) = running.script.steps.get(running.at) else {
            return Then::Over;
        };
        let (node, port) = (running.script.node, running.script.port);
        let stack = &mut self.nodes[node].stack;
        match *step {
            Step::Tell(notice) => {
                if let Some(session) = running.session {
                    stack.tell(notice, session, now_ns);
                }
            }
            Step::Open(conversation) => {
                running.session = stack.open(conversation, now_ns);
                if running.session.is_none() {
                    return running.fails("its stack refuses to open this session");
                }
            }
            Step::Listen(conversation) => {
                if !stack.listen(conversation, now_ns) {
                    return running.fails("its stack refuses to listen so");
                }
            }
            Step::Close => {
                if let Some(session) = running.session {
                    stack.close(port, session, now_ns);
                }
            }
            Step::Echo => running.echoes = true,
            Step::Wait { time_ns } => {
                running.at += 1;
                return Then::At(now_ns.saturating_add(time_ns));
            }
            Step::Send {
                count,
                least,
                most,
                every_ns,
                attributes,
            } => {
                if running.turns == count {
                    running.turns = 0;
                    return Then::On;
                }
                running.turns += 1;
                let is_last = running.turns == count;
                self.send(application, (least, most), attributes);
                // There is a pause from one message to the next, and none behind the last.
                let pause_ns = if is_last { 0 } else { every_ns };
                return Then::At(now_ns.saturating_add(pause_ns));
            }
            Step::Expect { .. } => return running.expects(now_ns),
        }
        Then::On
    }

    fn send(
        &mut self,
        application: usize,
        (least, most): (usize, usize),
        attributes: Option<usize>,
    ) {
        let length = match least == most {
            true => least,
            false => self.sizes.usize(least..=most),
        };
        let running = &mut self.applications[application];
        let (node, port) = (running.script.node, running.script.port);
        let bytes = self.ledger.compose(length);
        let stack = &mut self.nodes[node].stack;
        let to = Address {
            port,
            session: running.session.unwrap_or(u32::MAX),
            attributes,
        };
        self.busy_ns = self.now_ns;
        if stack.send(to, bytes, self.now_ns) {
            running.tally.sent += 1;
            self.ledger.sent(application, length, self.now_ns);
        } else {
            running.tally.refused += 1;
        }
    }

    /// A message comes up.
    pub(super) fn deliver(&mut self, place: (usize, usize, u32), bytes: &[u8]) {
        let (node, port, session) = place;
        let now_ns = self.now_ns;
        self.busy_ns = now_ns;
        self.nodes[node].stack.read(port, session, now_ns);
        let Some(at) = self.application(node, port, session) else {
            return;
        };
        let running = &mut self.applications[at];
        match self.ledger.recognise(bytes) {
            None => running.tally.damaged += 1,
            Some(number) => {
                let (sent, length) = (self.ledger.message(number), bytes.len() as u64);
                running.take(number, sent, sent.by == at, length, now_ns);
                if sent.by != at {
                    self.ledger.is_known(number);
                }
            }
        }
        if running.echoes && !self.nodes[node].stack.answer(bytes, now_ns) {
            running.tally.refused += 1;
        }
        self.wake_satisfied(at);
    }

    /// An application is told something.
    pub(super) fn tell(&mut self, place: (usize, usize, u32), told: Told, arguments: Vec<Datum>) {
        let (node, port, session) = place;
        if let Some(at) = self.application(node, port, session) {
            self.applications[at].hear(told, arguments);
            self.wake_satisfied(at);
        }
    }

    /// A script that waited for what has come goes on.
    fn wake_satisfied(&mut self, application: usize) {
        let running = &mut self.applications[application];
        if running.is_satisfied() {
            running.set += 1;
            let set = running.set;
            self.schedule(self.now_ns, Event::Script(application, set));
        }
    }

    /// Who reads what comes up there: whoever opened the conversation, or else whoever has none.
    pub(super) fn application(&self, node: usize, port: usize, session: u32) -> Option<usize> {
        let mut sits = (0..self.applications.len()).filter(|at| {
            let script = &self.applications[*at].script;
            (script.node, script.port) == (node, port)
        });
        let of = |at: &usize| self.applications[*at].session;
        let opened = sits.clone().find(|at| of(at) == Some(session));
        opened
            .or_else(|| sits.clone().find(|at| of(at).is_none()))
            .or_else(|| sits.next())
    }
}

impl Running {
    /// The script cannot go on.
    fn fails(&mut self, reason: &str) -> Then {
        self.failures.push(reason.to_string());
        self.at = self.script.steps.len();
        Then::Over
    }

    /// Waits for messages or notices, or finds that they came, or that it waited too long.
    fn expects(&mut self, now_ns: u64) -> Then {
        let Some(Step::Expect {
            count,
            heard,
            within_ns,
        }) = self.script.steps.get(self.at).cloned()
        else {
            return Then::On;
        };
        let until_ns = *self
            .until_ns
            .get_or_insert(now_ns.saturating_add(within_ns));
        let came = self.came(&heard);
        if came < count && now_ns < until_ns {
            return Then::At(until_ns);
        }
        self.until_ns = None;
        self.satisfy(&heard, came.min(count));
        if came < count {
            let what = what(&heard);
            let text = format!("expected {count} {what}, but {came} arrived in time");
            self.failures.push(text);
        }
        Then::On
    }
}

/// What a script waits for, in its words.
pub(super) fn what(heard: &Option<Heard>) -> &str {
    heard.as_ref().map_or("messages", |heard| &heard.name)
}
