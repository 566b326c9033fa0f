//! The signalling of slots as two machines: the booster sends through a layer, and the debooster of
//! the other end reads (Boosters 1999, section 4.5, with an epoch in each message and any number of
//! layers).
//!
//! In: a machine and an input. Out: the machine afterwards, and the messages that it sends. The
//! layer `spp` must do the same.
//!
//! ```text
//! booster     layer 0, silent          IDLE
//!             layer n, announces       RUN_BOOST, says BEGIN until STARTED
//!             layer n, silent          RUN_BOOST_SILENT
//!             layer 0, announces       TERMINATING, says ENDING until IDLE
//! debooster   far == wanted            IDLE, RUN_DEBOOST
//!             far != wanted            asks: says BOOST until BEGIN
//!             ends                     TERMINATING, says ABORT until ENDED
//! ```

/// The meaning of a message; the first three go to the debooster.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Word {
    Begin = 2,
    Ending = 3,
    Ended = 4,
    Boost = 6,
    Started = 7,
    Abort = 8,
    Idle = 9,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Message {
    pub word: Word,
    pub epoch: u8,
    pub layer: u8,
}

/// The most epochs that the other end may not have heard of.
const MOST_AHEAD: u8 = 3;

/// A fault of the machines, which a test must find.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The answer of the booster to ABORT is taken in any epoch.
    EndedOfAnyEpoch,
    /// BEGIN of the same epoch is taken as a new one.
    BeginOfTheSameEpoch,
    /// ABORT is not answered.
    AbortUnanswered,
    /// The epoch does not advance.
    EpochStays,
    /// It stops to say ABORT when the layer is wanted again.
    ForgetsAbort,
    /// The epoch advances although the other end has not heard of the last ones.
    RunsAhead,
}

/// The machines, with so many epochs.
#[derive(Clone, Copy, Debug)]
pub struct Machines {
    pub epochs: u8,
    pub fault: Option<Fault>,
}

/// The machine of the sender.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Booster {
    pub epoch: u8,
    pub layer: u8,
    pub announces: bool,
    /// The newest epoch that the other end is known to have heard of.
    pub heard: u8,
}

/// The machine of the receiver: the layer of the other end, and the one that is wanted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Debooster {
    pub epoch: u8,
    pub far: u8,
    pub wanted: u8,
    /// True if it has asked for another layer in this epoch.
    pub asked: bool,
    /// True if it has said ABORT in this epoch, and not heard ENDED.
    pub ends: bool,
}

impl Booster {
    /// The message that is repeated, if one is.
    pub fn repeated(&self) -> Option<Message> {
        let word = if self.layer > 0 {
            Word::Begin
        } else {
            Word::Ending
        };
        self.announces.then_some(self.says(word, self.layer))
    }

    fn says(&self, word: Word, layer: u8) -> Message {
        let epoch = self.epoch;
        Message { word, epoch, layer }
    }
}

impl Debooster {
    /// The message that is repeated, if one is.
    pub fn repeated(&self) -> Option<Message> {
        if self.ends {
            return Some(self.says(Word::Abort, 0));
        }
        (self.wanted != self.far).then(|| self.says(Word::Boost, self.wanted))
    }

    fn says(&self, word: Word, layer: u8) -> Message {
        let epoch = self.epoch;
        Message { word, epoch, layer }
    }

    /// The layer is active at the other end.
    fn follow(&mut self, layer: u8) {
        if !self.asked {
            self.wanted = layer;
        }
        self.far = layer;
    }

    fn go_on(&mut self, machines: Machines, sent: &mut Vec<Message>) {
        if self.wanted != self.far {
            self.asked = true;
            self.ends |= self.wanted == 0;
        }
        if machines.fault == Some(Fault::ForgetsAbort) {
            self.ends = self.wanted == 0 && self.far > 0;
        }
        sent.extend(self.repeated());
    }
}

impl Machines {
    /// A layer, or none, is wanted at this end.
    pub fn swap(self, booster: &mut Booster, layer: u8) -> Vec<Message> {
        let ahead = (booster.epoch + self.epochs - booster.heard) % self.epochs;
        let is_free = ahead < MOST_AHEAD || self.fault == Some(Fault::RunsAhead);
        match layer == 0 || is_free {
            true => self.become_active(booster, layer),
            false => Vec::new(),
        }
    }

    fn become_active(self, booster: &mut Booster, layer: u8) -> Vec<Message> {
        if layer == booster.layer {
            return Vec::new();
        }
        booster.layer = layer;
        booster.announces = true;
        if layer > 0 && self.fault != Some(Fault::EpochStays) {
            booster.epoch = (booster.epoch + 1) % self.epochs;
        }
        booster.repeated().into_iter().collect()
    }

    /// The decision wants a layer at the other end.
    pub fn wish(self, debooster: &mut Debooster, layer: u8) -> Vec<Message> {
        let mut sent = Vec::new();
        if layer != debooster.wanted {
            debooster.wanted = layer;
            debooster.go_on(self, &mut sent);
        }
        sent
    }

    /// A message comes to the booster.
    pub fn to_booster(self, booster: &mut Booster, message: Message) -> Vec<Message> {
        if message.epoch != booster.epoch {
            return Vec::new();
        }
        let is_for_it = message.word >= Word::Boost;
        if is_for_it {
            booster.heard = message.epoch;
        }
        match message.word {
            Word::Boost => self.become_active(booster, message.layer),
            Word::Started => {
                booster.announces &= booster.layer == 0;
                Vec::new()
            }
            Word::Abort => {
                booster.layer = 0;
                booster.announces = false;
                match self.fault {
                    Some(Fault::AbortUnanswered) => Vec::new(),
                    _ => vec![booster.says(Word::Ended, 0)],
                }
            }
            Word::Idle => {
                booster.announces &= booster.layer > 0;
                Vec::new()
            }
            Word::Begin | Word::Ending | Word::Ended => Vec::new(),
        }
    }

    /// A message comes to the debooster.
    pub fn to_debooster(self, debooster: &mut Debooster, message: Message) -> Vec<Message> {
        let mut sent = Vec::new();
        let age = (message.epoch + self.epochs - debooster.epoch) % self.epochs;
        let is_new = match self.fault {
            Some(Fault::BeginOfTheSameEpoch) => age <= self.epochs / 2,
            _ => age > 0 && age <= self.epochs / 2,
        };
        match message.word {
            Word::Begin => {
                if is_new {
                    debooster.epoch = message.epoch;
                    debooster.follow(message.layer);
                    debooster.asked = false;
                    debooster.ends = false;
                }
                if is_new || age == 0 && message.layer == debooster.far {
                    sent.push(debooster.says(Word::Started, debooster.far));
                }
                if is_new {
                    debooster.go_on(self, &mut sent);
                }
            }
            Word::Ending if is_new || age == 0 => {
                debooster.epoch = message.epoch;
                debooster.follow(0);
                debooster.asked &= !is_new;
                debooster.ends = false;
                sent.push(debooster.says(Word::Idle, 0));
                debooster.go_on(self, &mut sent);
            }
            Word::Ended if age == 0 || self.fault == Some(Fault::EndedOfAnyEpoch) => {
                if debooster.far > 0 {
                    debooster.far = 0;
                    debooster.ends = false;
                    debooster.go_on(self, &mut sent);
                }
            }
            Word::Ending | Word::Ended => {}
            Word::Boost | Word::Started | Word::Abort | Word::Idle => {}
        }
        sent
    }
}
