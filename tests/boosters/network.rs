//! Two machines and the link between them.
//!
//! In: a state of both, and of the messages under way. Out: all states that may follow. The
//! policies may wish anything at any time, and the link loses any message.

use crate::faults::{self, Fault};
use crate::machine::{self, Age, Booster, Debooster, Epoch, Input, Step, Word};

/// The most messages under way in a direction; more are lost.
const MOST: usize = 2;

/// A message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Message {
    pub word: Word,
    pub epoch: u8,
}

/// The messages under way in a direction, the oldest first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Channel([Option<Message>; MOST]);

impl Channel {
    pub fn messages(&self) -> impl Iterator<Item = Message> {
        self.0.into_iter().flatten()
    }

    pub fn is_empty(&self) -> bool {
        self.0[0].is_none()
    }

    fn without(&self, place: usize) -> Channel {
        let others = self.messages().enumerate().filter(|(at, _)| *at != place);
        others.map(|(_, message)| message).collect()
    }
}

impl FromIterator<Message> for Channel {
    fn from_iter<T: IntoIterator<Item = Message>>(messages: T) -> Channel {
        let mut messages = messages.into_iter();
        Channel([messages.next(), messages.next()])
    }
}

/// One of the machines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    Booster,
    Debooster,
}

/// A state of both machines and of the link.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct State {
    pub booster: Booster,
    pub debooster: Debooster,
    /// The epoch of each: the booster's, and the newest that the debooster knows.
    pub epochs: [u8; 2],
    /// Messages to the debooster, and to the booster.
    pub forward: Channel,
    pub back: Channel,
    /// True if the booster's timer runs.
    pub timer: bool,
}

impl State {
    /// Nothing was ever boosted.
    pub const FIRST: State = State {
        booster: Booster::Idle,
        debooster: Debooster::Idle,
        epochs: [0; 2],
        forward: Channel([None; MOST]),
        back: Channel([None; MOST]),
        timer: true,
    };

    fn epoch(&self, end: End) -> u8 {
        self.epochs[end as usize]
    }

    /// Returns the messages under way to an end.
    fn channel(&self, end: End) -> &Channel {
        match end {
            End::Booster => &self.back,
            End::Debooster => &self.forward,
        }
    }

    /// Returns the state without one of these messages.
    fn without(&self, end: End, place: usize) -> State {
        let left = self.channel(end).without(place);
        match end {
            End::Booster => State {
                back: left,
                ..*self
            },
            End::Debooster => State {
                forward: left,
                ..*self
            },
        }
    }

    /// Sends a message from an end.
    fn send(&mut self, from: End, message: Message) {
        let channel = match from {
            End::Booster => &mut self.forward,
            End::Debooster => &mut self.back,
        };
        *channel = channel.messages().chain([message]).collect();
    }

    /// Returns true if nothing happens any more unless a policy wishes something.
    pub fn is_silent(&self) -> bool {
        let booster = match self.booster {
            Booster::Idle | Booster::RunBoostSilent => true,
            Booster::RunBoost => !self.timer,
            Booster::Terminating => false,
        };
        let debooster = match self.debooster {
            Debooster::Idle | Debooster::RunDeboost => true,
            Debooster::Asking | Debooster::Terminating => false,
        };
        booster && debooster && self.forward.is_empty() && self.back.is_empty()
    }

    /// Returns true if both ends are boosted in the same epoch, or both are not.
    pub fn agrees(&self) -> bool {
        match (self.booster, self.debooster) {
            (Booster::Idle, Debooster::Idle) => true,
            (Booster::RunBoostSilent, Debooster::RunDeboost) => self.epochs[0] == self.epochs[1],
            _ => false,
        }
    }
}

/// An input at an end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct At {
    pub end: End,
    pub input: Input,
    /// True if the link repeats the message that came.
    pub again: bool,
}

/// Something that happens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// Loses a message on its way to an end.
    Lost(End, Message),
    /// Happens at an end, which may send a word.
    At(At, Option<Word>),
}

impl Event {
    /// Returns true for a wish, which may never come.
    pub fn is_wish(self) -> bool {
        match self {
            Event::Lost(..) => false,
            Event::At(at, _) => matches!(at.input, Input::Insert | Input::Remove),
        }
    }
}

/// The faults of the link besides losses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Link {
    /// Keeps their order.
    Ordered,
    /// Reorders and repeats them, and keeps none for more swaps than this.
    Wild { lifetime: u8 },
}

/// The answer of the booster's policy to BOOST.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    Never,
    Sometimes,
    Always,
}

/// The protocol that is explored.
#[derive(Clone, Copy, Debug)]
pub struct Protocol {
    /// The number of epochs, if messages bear one.
    pub epochs: Option<u8>,
    /// True if the debooster has a state for its wish.
    pub asks: bool,
    pub refusal: Refusal,
    pub link: Link,
    pub fault: Option<Fault>,
}

impl Protocol {
    /// The machines of the paper, on a link that keeps the order.
    pub const PAPER: Protocol = Protocol {
        epochs: None,
        asks: false,
        refusal: Refusal::Never,
        link: Link::Ordered,
        fault: None,
    };

    /// The machines with so many epochs, on a link that keeps the order.
    pub const fn with_epochs(epochs: u8) -> Protocol {
        let epochs = Some(epochs);
        Protocol {
            epochs,
            asks: true,
            refusal: Refusal::Sometimes,
            ..Protocol::PAPER
        }
    }

    /// Returns all that may happen in a state, and the states that follow.
    pub fn follow(&self, state: &State) -> Vec<(Event, State)> {
        let mut found = Vec::new();
        for end in [End::Booster, End::Debooster] {
            for input in [Input::Insert, Input::Remove, Input::Retry] {
                let at = At {
                    end,
                    input,
                    again: false,
                };
                found.extend(self.react(state, at, state.epoch(end)));
            }
            for (place, message) in state.channel(end).messages().enumerate() {
                let without = state.without(end, place);
                found.push((Event::Lost(end, message), without));
                if self.link == Link::Ordered && place > 0 {
                    continue;
                }
                let ways = [(false, without), (true, *state)];
                let ways = ways
                    .into_iter()
                    .filter(|(again, _)| !again || self.link != Link::Ordered);
                for (again, before) in ways {
                    for input in self.inputs(state, end, message) {
                        let at = At { end, input, again };
                        let ignored = (Event::At(at, None), before);
                        found.push(self.react(&before, at, message.epoch).unwrap_or(ignored));
                    }
                }
            }
        }
        found
    }

    /// Returns what a message may be to the end that gets it.
    fn inputs(&self, state: &State, end: End, message: Message) -> Vec<Input> {
        let age = self.age(state, end, message);
        let got = Input::Got(message.word, age);
        let is_question =
            state.booster == Booster::Idle && got == Input::Got(Word::Boost, Age::Same);
        match self.refusal {
            Refusal::Sometimes if is_question => vec![got, Input::Refused],
            Refusal::Always if is_question => vec![Input::Refused],
            Refusal::Never | Refusal::Sometimes | Refusal::Always => vec![got],
        }
    }

    /// Returns the epoch of a message beside that of an end. Without epochs, a START in IDLE is
    /// new, and all else is of the present.
    fn age(&self, state: &State, end: End, message: Message) -> Age {
        let Some(epochs) = self.epochs else {
            let is_idle = matches!(state.debooster, Debooster::Idle | Debooster::Asking);
            return if message.word == Word::Start && is_idle {
                Age::Newer
            } else {
                Age::Same
            };
        };
        match (message.epoch + epochs - state.epoch(end)) % epochs {
            0 => Age::Same,
            ahead if ahead <= epochs / 2 => Age::Newer,
            _ => Age::Older,
        }
    }

    /// Applies the transition of an end, if it has one.
    fn react(&self, state: &State, at: At, epoch: u8) -> Option<(Event, State)> {
        let mut next = *state;
        let (change, send) = match at.end {
            End::Booster => {
                let is_retry = state.booster == Booster::RunBoost && at.input == Input::Retry;
                if is_retry && !state.timer {
                    return None;
                }
                next.timer = !is_retry || self.fault != Some(Fault::TimerNotRestarted);
                let step = self.booster(state.booster, at.input)?;
                next.booster = step.next;
                (step.epoch, step.send)
            }
            End::Debooster => {
                let step = self.debooster(state.debooster, at.input)?;
                next.debooster = step.next;
                (step.epoch, step.send)
            }
        };
        let own = &mut next.epochs[at.end as usize];
        match (change, self.epochs) {
            (Epoch::Advances, Some(epochs)) => *own = (*own + 1) % epochs,
            (Epoch::Adopted, _) => *own = epoch,
            (Epoch::Stays, _) | (Epoch::Advances, None) => {}
        }
        if let Some(word) = send {
            let message = Message { word, epoch: *own };
            next.send(at.end, message);
        }
        if next.epochs[0] != state.epochs[0] {
            self.forget(&mut next);
        }
        Some((Event::At(at, send), next))
    }

    /// Removes messages that are older than the link keeps them.
    fn forget(&self, state: &mut State) {
        if let (Some(epochs), Link::Wild { lifetime }) = (self.epochs, self.link) {
            let newest = state.epochs[0];
            let lives = |message: &Message| (newest + epochs - message.epoch) % epochs <= lifetime;
            for channel in [&mut state.forward, &mut state.back] {
                *channel = channel.messages().filter(lives).collect();
            }
        }
    }

    fn booster(&self, state: Booster, input: Input) -> Option<Step<Booster>> {
        match self.fault {
            None => machine::booster(state, input),
            Some(fault) => faults::booster(fault, state, input),
        }
    }

    fn debooster(&self, state: Debooster, input: Input) -> Option<Step<Debooster>> {
        let own = match self.asks {
            true => machine::debooster,
            false => machine::debooster_without_asking,
        };
        match self.fault {
            None => own(state, input),
            Some(fault) => faults::debooster(fault, own, state, input),
        }
    }
}
