//! Applications: small scripts that send, wait, expect and echo.
//!
//! In: steps, and the messages that come up. Out: what is to be sent when, and a [`Tally`] of what
//! came: how often, in which order, how long after it was sent.
//!
//! ```text
//! open (port = 7)  send 100 of 4..64 bytes every 10 ms  expect 100 within 5 s  close
//! ```

use super::ledger::Sent;

/// One step of a script.
#[derive(Clone, Debug, PartialEq, Eq)]
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
    },
    /// From now on, sends back what comes.
    Echo,
    /// Waits until so many more messages have come.
    Expect {
        /// How many.
        count: u64,
        /// For how long.
        within_ns: u64,
    },
}

/// A script at a port.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Application {
    /// What it is called: the node and the port.
    pub name: String,
    /// On which node.
    pub node: usize,
    /// At which port.
    pub port: usize,
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
    /// Messages that it has already been satisfied by.
    pub(super) expected: u64,
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

/// What an application saw.
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
    pub(super) fn new(script: Application) -> Running {
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
            expected: 0,
            tally: Tally::default(),
            seen: Bits::default(),
            returned: Bits::default(),
            newest: Vec::new(),
            failures: Vec::new(),
        }
    }

    /// Whether it has nothing left to do.
    pub(super) fn is_over(&self) -> bool {
        self.at >= self.script.steps.len()
    }

    /// How many messages came that nobody has expected yet.
    pub(super) fn unexpected(&self) -> u64 {
        self.tally.delivered + self.tally.answered - self.expected
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
