//! Applications: small scripts that send, wait, expect and echo.
//!
//! In: steps, and the messages that come up. Out: what is to be sent when, and a [`Tally`] of what
//! came: how often, in which order, how long after it was sent.
//!
//! ```text
//! open (port = 7)  send 100 of 4..64 bytes every 10 ms  stream 60 s  expect 100 within 5 s  close
//! ```

use super::driven::Told;
use super::ledger::Sent;
use super::stream::{Arrival, Stream};
use crate::simulate::value::Datum;
use fastrand::Rng;

/// One step of a script.
#[derive(Clone, Debug, PartialEq)]
pub enum Step {
    /// Opens one of the conversations that its node has prepared.
    Open(usize),
    /// Listens for one of them.
    Listen(usize),
    /// Ends the conversation.
    Close,
    /// Lets time pass.
    Wait {
        /// How much.
        time_ns: u64,
    },
    /// Sends messages.
    Send {
        /// How many.
        count: u64,
        /// Bytes of the shortest.
        least: usize,
        /// Bytes of the longest.
        most: usize,
        /// From one to the next.
        every_ns: u64,
        /// Which of the attributes that its node has prepared stand beside each.
        attributes: Option<usize>,
    },
    /// Sends as much as its port grants.
    Stream {
        /// For how long, or how much.
        amount: Amount,
        /// Bytes of the shortest message; where credit counts bytes, the most at once.
        least: usize,
        /// Bytes of the longest.
        most: usize,
    },
    /// Says one of the notices that its node has prepared.
    Tell(Telling),
    /// From now on, sends back what comes.
    Echo,
    /// Waits until so many more messages, or notices, have come.
    Expect {
        /// How many.
        count: u64,
        /// Which notices; messages if none.
        heard: Option<Heard>,
        /// For how long.
        within_ns: u64,
    },
}

/// A notice to say, once or again and again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Telling {
    /// The first of the notices that it may be.
    pub first: usize,
    /// The number of notices to choose from.
    pub choices: usize,
    /// From one to the next, from now on; none if it is said once.
    pub every_ns: Option<u64>,
}

/// The amount that a script streams.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Amount {
    /// All that is granted in this time.
    Time(u64),
    /// So many bytes.
    Bytes(u64),
}

/// The notices by which a port grants credit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Grants {
    /// The place of `grant_sends` among the notices that come up; none if it has none.
    pub sends: Option<usize>,
    /// True if credit counts bytes, so that the bytes of a message may come up in other pieces.
    pub in_bytes: bool,
}

impl Grants {
    /// Returns the unit in which messages are counted.
    pub fn unit(self) -> &'static str {
        if self.in_bytes { "bytes" } else { "messages" }
    }
}

/// A notice that a script waits for.
#[derive(Clone, Debug, PartialEq)]
pub struct Heard {
    /// What it is called.
    pub name: String,
    /// Which one it is.
    pub told: Told,
    /// Those of its arguments that have to be so, by their places.
    pub arguments: Vec<(usize, Datum)>,
}

impl Heard {
    /// Whether it is this one.
    fn is(&self, told: Told, arguments: &[Datum]) -> bool {
        let mut known = self.arguments.iter();
        self.told == told && known.all(|(at, value)| arguments.get(*at) == Some(value))
    }
}

/// A script at a port.
#[derive(Clone, Debug, PartialEq)]
pub struct Application {
    /// What it is called: the node and the port.
    pub name: String,
    /// On which node.
    pub node: usize,
    /// At which port.
    pub port: usize,
    /// The grants of its port.
    pub grants: Grants,
    /// What it does.
    pub steps: Vec<Step>,
}

/// A script that runs.
#[derive(Debug)]
pub struct Running {
    pub(super) script: Application,
    /// The step that is next.
    pub(super) at: usize,
    /// How often that step was taken.
    pub(super) turns: u64,
    /// Grows with each time that is set for it; a time that was set before does not count.
    pub(super) set: u64,
    /// Until when it waits for messages.
    pub(super) until_ns: Option<u64>,
    /// The conversation; that of a port which opens none is always there.
    pub(super) session: Option<u32>,
    pub(super) echoes: bool,
    /// Grows when a conversation begins or ends, and with it what is said again and again.
    pub(super) conversations: u64,
    /// Chooses among notices.
    choice: Rng,
    /// Credit that its port granted and that it has not used yet.
    pub(super) credit: u64,
    /// True if it was ever granted anything.
    pub(super) was_granted: bool,
    /// True while it waits for more credit.
    pub(super) awaits_grant: bool,
    /// Bytes of the step that are still to be sent.
    pub(super) rest: u64,
    /// Its stream of bytes, once it has one.
    pub(super) stream: Option<usize>,
    /// Messages that it has already been satisfied by.
    expected: u64,
    /// Notices that some step waits for, and none was satisfied by yet.
    heard: Vec<(Told, Vec<Datum>)>,
    pub(super) tally: Tally,
    /// Messages that came, by their number.
    seen: Bits,
    /// Its own messages that came back.
    returned: Bits,
    /// The newest that came, of each application.
    newest: Vec<Option<usize>>,
    /// What did not come to pass.
    pub(super) failures: Vec<String>,
}

/// The counts of an application: messages, or bytes where credit counts bytes.
#[derive(Clone, Debug, Default)]
pub struct Tally {
    /// Messages that it sent.
    pub sent: u64,
    /// Messages that its stack did not take.
    pub refused: u64,
    /// Different messages of others that came.
    pub delivered: u64,
    /// Different messages of its own that came back.
    pub answered: u64,
    /// Messages that came once more.
    pub repeated: u64,
    /// Messages that came behind a newer one of the same sender.
    pub disordered: u64,
    /// Messages that are not as anybody sent them.
    pub damaged: u64,
    /// Bytes of what was delivered.
    pub bytes: u64,
    /// When the first of those was sent.
    pub first_ns: Option<u64>,
    /// When the last of those came.
    pub last_ns: u64,
    /// How long each was under way.
    pub latencies_ns: Vec<u64>,
    /// How long each answer took.
    pub round_trips_ns: Vec<u64>,
    /// What it was told.
    pub notices: u64,
}

/// A set of numbers that begin at 0.
#[derive(Clone, Debug, Default)]
struct Bits(Vec<u64>);

impl Bits {
    /// Adds a number; false if it was there.
    fn insert(&mut self, number: usize) -> bool {
        let (word, bit) = (number / 64, 1_u64 << (number % 64));
        if self.0.len() <= word {
            self.0.resize(word + 1, 0);
        }
        let is_new = self.0[word] & bit == 0;
        self.0[word] |= bit;
        is_new
    }
}

impl Running {
    /// At its first step, with a conversation if its port needs none to be opened.
    pub(super) fn new(script: Application, seed: u64) -> Running {
        let opens = |step: &Step| matches!(step, Step::Open(_) | Step::Listen(_));
        let session = (!script.steps.iter().any(opens)).then_some(0);
        Running {
            script,
            at: 0,
            turns: 0,
            set: 0,
            until_ns: None,
            session,
            echoes: false,
            conversations: 0,
            choice: Rng::with_seed(seed),
            credit: 0,
            was_granted: false,
            awaits_grant: false,
            rest: 0,
            stream: None,
            expected: 0,
            heard: Vec::new(),
            tally: Tally::default(),
            seen: Bits::default(),
            returned: Bits::default(),
            newest: Vec::new(),
            failures: Vec::new(),
        }
    }

    /// The next of several notices. A single one takes no random number.
    pub(super) fn chosen(&mut self, telling: Telling) -> usize {
        match telling.choices {
            1 => telling.first,
            choices => telling.first + self.choice.usize(..choices),
        }
    }

    /// Whether it has nothing left to do.
    pub(super) fn is_over(&self) -> bool {
        self.at >= self.script.steps.len()
    }

    /// How many came of what a step waits for, and no other step was satisfied by.
    pub(super) fn came(&self, heard: &Option<Heard>) -> u64 {
        match heard {
            None => self.tally.delivered + self.tally.answered - self.expected,
            Some(heard) => {
                let came = self.heard.iter();
                came.filter(|(told, given)| heard.is(*told, given)).count() as u64
            }
        }
    }

    /// A step is satisfied by so many.
    pub(super) fn satisfy(&mut self, heard: &Option<Heard>, mut count: u64) {
        let Some(heard) = heard else {
            self.expected += count;
            return;
        };
        self.heard.retain(|(told, given)| {
            let is_taken = count > 0 && heard.is(*told, given);
            count -= u64::from(is_taken);
            !is_taken
        });
    }

    /// Whether it waits, and need not any more.
    pub(super) fn is_satisfied(&self) -> bool {
        match self.script.steps.get(self.at) {
            Some(Step::Expect { count, heard, .. }) => {
                self.until_ns.is_some() && self.came(heard) >= *count
            }
            Some(_) | None => false,
        }
    }

    /// Returns true if its actions at one time might never end.
    pub(super) fn is_endless(&self) -> bool {
        matches!(
            self.script.steps.get(self.at),
            Some(Step::Stream {
                amount: Amount::Time(_),
                ..
            })
        )
    }

    /// It is told something in a conversation.
    pub(super) fn hear(&mut self, session: u32, told: Told, arguments: Vec<Datum>) {
        self.tally.notices += 1;
        let is_grant = self.script.grants.sends.map(Told::Notice) == Some(told);
        if let (true, Some(Datum::Number(more))) = (is_grant, arguments.first())
            && self.session == Some(session)
        {
            self.credit = self.credit.saturating_add(*more);
            self.was_granted |= *more > 0;
        }
        let mut steps = self.script.steps.iter();
        let is_awaited = steps.any(|step| match step {
            Step::Expect { heard, .. } => heard.iter().any(|one| one.is(told, &arguments)),
            Step::Open(_)
            | Step::Listen(_)
            | Step::Close
            | Step::Wait { .. }
            | Step::Send { .. }
            | Step::Stream { .. }
            | Step::Tell(_)
            | Step::Echo => false,
        });
        if is_awaited {
            self.heard.push((told, arguments));
        }
    }

    /// Bytes of a stream came: `own` if they were sent from here.
    pub(super) fn take_bytes(&mut self, of: Stream, arrival: Arrival, own: bool, now_ns: u64) {
        self.tally.repeated += arrival.repeated;
        self.tally.damaged += arrival.damaged;
        if own {
            self.tally.answered += arrival.new;
        } else if arrival.new > 0 {
            self.tally.delivered += arrival.new;
            self.tally.bytes += arrival.new;
            let first_ns = self.tally.first_ns.get_or_insert(of.began_ns);
            *first_ns = of.began_ns.min(*first_ns);
            self.tally.last_ns = now_ns;
        }
    }

    /// A message came: `own` if it was sent from here.
    pub(super) fn take(&mut self, number: usize, sent: Sent, own: bool, length: u64, now_ns: u64) {
        let took_ns = now_ns - sent.at_ns;
        if own {
            if self.returned.insert(number) {
                self.tally.answered += 1;
                self.tally.round_trips_ns.push(took_ns);
            } else {
                self.tally.repeated += 1;
            }
            return;
        }
        if !self.seen.insert(number) {
            self.tally.repeated += 1;
            return;
        }
        if self.newest.len() <= sent.by {
            self.newest.resize(sent.by + 1, None);
        }
        let newest = &mut self.newest[sent.by];
        self.tally.disordered += u64::from(newest.is_some_and(|newest| newest > number));
        *newest = (*newest).max(Some(number));
        self.tally.delivered += 1;
        self.tally.bytes += length;
        let first_ns = self.tally.first_ns.get_or_insert(sent.at_ns);
        *first_ns = sent.at_ns.min(*first_ns);
        self.tally.last_ns = now_ns;
        self.tally.latencies_ns.push(took_ns);
    }
}
