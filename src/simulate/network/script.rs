//! What scripts do in a network, and what comes up to them.
//!
//! In: a script whose time has come, or a message for an application. Out: the messages it sends,
//! and when it is to go on.

use super::application::{Amount, Heard, Running, Step, Telling};
use super::driven::{Address, Told};
use super::{Event, Network, Stuck, Watch};
use crate::simulate::value::Datum;

/// The result of a write of bytes to a stream.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Written {
    /// Its stack has taken some.
    Some,
    /// There is no credit.
    Nothing,
    /// Its stack does not take them.
    Refused,
}

/// What a script does after a step.
enum Then {
    /// The next one, at once.
    On,
    /// The same one once more, when its node has done what it caused.
    Again,
    /// It goes on at this time.
    At(u64),
    /// It goes on when its port grants more.
    Granted,
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
                Then::Again => {}
                Then::Over => return Ok(()),
                Then::Granted => {
                    running.awaits_grant = true;
                    return self.settle(node, watch);
                }
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
            Step::Tell(telling) => self.say(application, telling),
            Step::Open(conversation) => {
                running.session = stack.open(conversation, now_ns);
                (running.credit, running.stream) = (0, None);
                running.conversations += 1;
                if let Some(session) = running.session {
                    self.streams.forget((node, port, session));
                }
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
                running.conversations += 1;
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
                let sizes = (least, most);
                return self.send_next(application, (count, every_ns), sizes, attributes);
            }
            Step::Stream {
                amount,
                least,
                most,
            } => return self.stream(application, amount, (least, most)),
            Step::Expect { .. } => return running.expects(now_ns),
        }
        Then::On
    }

    /// Says a notice, and sets when it is said again.
    pub(super) fn say(&mut self, application: usize, telling: Telling) {
        let running = &mut self.applications[application];
        let notice = running.chosen(telling);
        if let Some(session) = running.session {
            let stack = &mut self.nodes[running.script.node].stack;
            stack.tell(notice, session, self.now_ns);
        }
        if let Some(every_ns) = telling.every_ns {
            let again = Event::Tell(application, telling, running.conversations);
            self.schedule(self.now_ns.saturating_add(every_ns), again);
        }
    }

    /// A turn of a step that sends messages: the next one, or more of it.
    fn send_next(
        &mut self,
        application: usize,
        (count, every_ns): (u64, u64),
        (least, most): (usize, usize),
        attributes: Option<usize>,
    ) -> Then {
        let now_ns = self.now_ns;
        let running = &mut self.applications[application];
        if running.turns == count && running.rest == 0 {
            running.turns = 0;
            return Then::On;
        }
        let in_bytes = running.script.grants.in_bytes;
        if running.rest == 0 {
            running.turns += 1;
            let length = self.length(least, most);
            match in_bytes {
                true => self.applications[application].rest = length as u64,
                false => _ = self.send(application, length, attributes),
            }
        }
        if in_bytes {
            let written = self.write(application, most, attributes);
            let running = &mut self.applications[application];
            match written {
                Written::Some if running.rest > 0 => return Then::Again,
                Written::Nothing => return Then::Granted,
                Written::Some | Written::Refused => running.rest = 0,
            }
        }
        let is_last = self.applications[application].turns == count;
        // There is a pause from one message to the next, and none behind the last.
        let pause_ns = if is_last { 0 } else { every_ns };
        Then::At(now_ns.saturating_add(pause_ns))
    }

    /// A turn of a step that sends what is granted.
    fn stream(
        &mut self,
        application: usize,
        amount: Amount,
        (least, most): (usize, usize),
    ) -> Then {
        let now_ns = self.now_ns;
        let running = &mut self.applications[application];
        if running.turns == 0 {
            running.turns = 1;
            match amount {
                Amount::Bytes(bytes) => running.rest = bytes,
                Amount::Time(time_ns) => {
                    let until_ns = now_ns.saturating_add(time_ns);
                    (running.rest, running.until_ns) = (u64::MAX, Some(until_ns));
                    running.set += 1;
                    let end = Event::Script(application, running.set);
                    self.schedule(until_ns, end);
                }
            }
        }
        let running = &mut self.applications[application];
        if running.rest == 0 || running.until_ns.is_some_and(|until_ns| now_ns >= until_ns) {
            running.fails_without_grant();
            (running.turns, running.rest, running.until_ns) = (0, 0, None);
            return Then::On;
        }
        let written = match running.script.grants.in_bytes {
            true => self.write(application, most, None),
            false if running.credit == 0 => Written::Nothing,
            false => {
                let length = self.length(least, most);
                match self.send(application, length, None) {
                    true => {
                        let running = &mut self.applications[application];
                        running.rest = running.rest.saturating_sub(length as u64);
                        Written::Some
                    }
                    false => Written::Refused,
                }
            }
        };
        match written {
            Written::Some => Then::Again,
            Written::Nothing | Written::Refused => Then::Granted,
        }
    }

    fn length(&mut self, least: usize, most: usize) -> usize {
        match least == most {
            true => least,
            false => self.sizes.usize(least..=most),
        }
    }

    /// Sends a message; false if it is not taken.
    fn send(&mut self, application: usize, length: usize, attributes: Option<usize>) -> bool {
        let running = &mut self.applications[application];
        let to = running.address(attributes);
        let bytes = self.ledger.compose(length);
        let stack = &mut self.nodes[running.script.node].stack;
        self.busy_ns = self.now_ns;
        let was_sent = stack.send(to, bytes, self.now_ns);
        if was_sent {
            running.credit = running.credit.saturating_sub(1);
            running.tally.sent += 1;
            self.ledger.sent(application, length, self.now_ns);
        } else {
            running.tally.refused += 1;
        }
        was_sent
    }

    /// Sends as many bytes of a step as there is credit for, and no more than `most`.
    fn write(&mut self, application: usize, most: usize, attributes: Option<usize>) -> Written {
        let running = &mut self.applications[application];
        let mut length = running.rest.min(most as u64);
        if running.script.grants.sends.is_some() {
            length = length.min(running.credit);
        }
        if length == 0 {
            return Written::Nothing;
        }
        let to = running.address(attributes);
        let streams = &mut self.streams;
        let begin = || streams.begin(application, self.now_ns);
        let stream = *running.stream.get_or_insert_with(begin);
        let bytes = self.streams.compose(stream, length as usize);
        self.busy_ns = self.now_ns;
        let stack = &mut self.nodes[running.script.node].stack;
        if !stack.send(to, bytes, self.now_ns) {
            running.tally.refused += length;
            return Written::Refused;
        }
        self.streams.sent(stream, length as usize);
        running.tally.sent += length;
        running.rest -= length;
        running.credit = running.credit.saturating_sub(length);
        Written::Some
    }

    /// A message comes up.
    pub(super) fn deliver(&mut self, place: (usize, usize, u32), bytes: &[u8]) {
        let (node, port, session) = place;
        let now_ns = self.now_ns;
        self.busy_ns = now_ns;
        let stack = &mut self.nodes[node].stack;
        stack.read(port, session, bytes.len(), now_ns);
        let Some(at) = self.application(node, port, session) else {
            return;
        };
        let running = &mut self.applications[at];
        let in_bytes = running.script.grants.in_bytes;
        match in_bytes {
            true => self.recognise_bytes(at, place, bytes),
            false => match self.ledger.recognise(bytes) {
                None => running.tally.damaged += 1,
                Some(number) => {
                    let (sent, length) = (self.ledger.message(number), bytes.len() as u64);
                    running.take(number, sent, sent.by == at, length, now_ns);
                    if sent.by != at {
                        self.ledger.is_known(number);
                    }
                }
            },
        }
        let running = &mut self.applications[at];
        if running.echoes && !self.nodes[node].stack.answer(bytes, now_ns) {
            running.tally.refused += if in_bytes { bytes.len() as u64 } else { 1 };
        }
        self.wake_satisfied(at);
    }

    /// Bytes of a stream come up.
    fn recognise_bytes(&mut self, application: usize, place: (usize, usize, u32), bytes: &[u8]) {
        let arrival = self.streams.read(place, bytes);
        let running = &mut self.applications[application];
        let Some(number) = arrival.stream else {
            running.tally.damaged += arrival.damaged;
            return;
        };
        let stream = self.streams.stream(number);
        let is_own = stream.by == application;
        running.take_bytes(stream, arrival, is_own, self.now_ns);
        if !is_own {
            self.streams.is_known(number, arrival.new);
        }
    }

    /// An application is told something.
    pub(super) fn tell(&mut self, place: (usize, usize, u32), told: Told, arguments: Vec<Datum>) {
        let (node, port, session) = place;
        if told == Told::Accepted {
            self.streams.forget(place);
        }
        if let Some(at) = self.application(node, port, session) {
            self.applications[at].hear(session, told, arguments);
            self.wake_satisfied(at);
            self.wake_granted(at);
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

    /// A script that waited for credit goes on.
    fn wake_granted(&mut self, application: usize) {
        let running = &mut self.applications[application];
        if running.awaits_grant && running.credit > 0 {
            running.awaits_grant = false;
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
    /// Returns the address to which it sends.
    fn address(&self, attributes: Option<usize>) -> Address {
        Address {
            port: self.script.port,
            session: self.session.unwrap_or(u32::MAX),
            attributes,
        }
    }

    /// Nothing could be streamed, for there was never any credit.
    fn fails_without_grant(&mut self) {
        if !self.was_granted {
            let text = "it streamed nothing: its port never told `grant_sends`";
            self.failures.push(text.to_string());
        }
    }

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
            let what = self.what(&heard);
            let text = format!("expected {count} {what}, but {came} arrived in time");
            self.failures.push(text);
        }
        Then::On
    }

    /// Returns the name of the notice that it waits for, or else the unit of its counts.
    pub(super) fn what<'w>(&self, heard: &'w Option<Heard>) -> &'w str {
        let unit = self.script.grants.unit();
        heard.as_ref().map_or(unit, |heard| &heard.name)
    }
}
