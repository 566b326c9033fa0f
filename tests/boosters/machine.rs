//! The two machines of the signalling protocol (Boosters 1999, section 4.5): the booster encodes
//! what one end sends, and the debooster decodes it at the other end.
//!
//! In: a state and an input. Out: the next state, a change of the epoch, and a message to send. The
//! two tables are functions of nothing else, so that processes in Loom can be compared with them.
//!
//! ```text
//! booster     insert, or BOOST     IDLE -> RUN_BOOST, sends START until STARTED
//!             STARTED              RUN_BOOST -> RUN_BOOST_SILENT
//!             remove               -> TERMINATING, sends ABORT until IDLE
//!             ABORT                -> IDLE, answers IDLE
//! debooster   insert               sends BOOST until START
//!             START                -> RUN_DEBOOST, answers STARTED
//!             remove               -> TERMINATING, sends ABORT until IDLE
//!             ABORT                -> IDLE, answers IDLE
//! ```
//!
//! The paper's machines have no epochs. Here the booster counts its insertions in an epoch, each
//! message bears one, and each answer bears that of its question. The debooster adopts the epoch of
//! START and ABORT. A message of another epoch is ignored, except for a newer START or ABORT.

/// A state of the booster (Figure 5).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Booster {
    Idle,
    RunBoost,
    RunBoostSilent,
    Terminating,
}

/// A state of the debooster (Figure 6).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Debooster {
    Idle,
    /// `IDLE` of the paper while the policy wishes the booster. The paper has no state for it:
    /// there the policy sends BOOST whenever it runs.
    Asking,
    RunDeboost,
    Terminating,
}

/// The word of a message. PREPARE changes no state, and is left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Word {
    Boost,
    Start,
    Started,
    Abort,
    Idle,
}

/// The epoch of a message, beside that of the machine that gets it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Age {
    Older,
    Same,
    Newer,
}

/// An input of a machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Input {
    /// The local policy wishes the booster.
    Insert,
    /// The local policy wishes no booster.
    Remove,
    /// The timer of the state expires.
    Retry,
    /// A message comes.
    Got(Word, Age),
    /// BOOST of this epoch comes, and the booster's policy refuses it.
    Refused,
}

/// A change of a machine's epoch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Epoch {
    Stays,
    /// A new one begins.
    Advances,
    /// That of the message.
    Adopted,
}

/// A transition. The message bears the epoch that the machine has behind it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step<State> {
    pub next: State,
    pub epoch: Epoch,
    pub send: Option<Word>,
}

/// Goes to a state and sends nothing.
fn to<State>(next: State) -> Option<Step<State>> {
    let epoch = Epoch::Stays;
    Some(Step {
        next,
        epoch,
        send: None,
    })
}

/// Goes to a state, or stays in it, and sends a message.
fn send<State>(word: Word, next: State) -> Option<Step<State>> {
    to(next).map(|step| Step {
        send: Some(word),
        ..step
    })
}

/// Does so with another epoch.
fn with<State>(epoch: Epoch, step: Option<Step<State>>) -> Option<Step<State>> {
    step.map(|step| Step { epoch, ..step })
}

/// Returns the transition of the booster, or none if it ignores the input.
pub fn booster(state: Booster, input: Input) -> Option<Step<Booster>> {
    use {Age::Same, Booster as In, Epoch::Advances, Input::*};
    match (state, input) {
        (In::Idle, Insert | Got(Word::Boost, Same)) => with(Advances, to(In::RunBoost)),
        (In::Idle, Refused) => send(Word::Idle, In::Idle),
        (In::RunBoost, Retry) => send(Word::Start, In::RunBoost),
        (In::RunBoost, Got(Word::Started, Same)) => to(In::RunBoostSilent),
        (In::RunBoost | In::RunBoostSilent, Remove) => to(In::Terminating),
        (In::Terminating, Retry) => send(Word::Abort, In::Terminating),
        (In::Terminating, Got(Word::Idle, Same)) => to(In::Idle),
        (_, Got(Word::Abort, Same)) => send(Word::Idle, In::Idle),
        _ => None,
    }
}

/// Returns the transition of the debooster, or none if it ignores the input.
pub fn debooster(state: Debooster, input: Input) -> Option<Step<Debooster>> {
    use {Age::Newer, Age::Same, Debooster as In, Epoch::Adopted, Input::*};
    match (state, input) {
        (In::Idle, Insert) => to(In::Asking),
        (In::Asking, Retry) => send(Word::Boost, In::Asking),
        (In::Asking, Remove | Got(Word::Idle, Same)) => to(In::Idle),
        (_, Got(Word::Start, Newer)) => with(Adopted, send(Word::Started, In::RunDeboost)),
        (In::RunDeboost, Got(Word::Start, Same)) => send(Word::Started, In::RunDeboost),
        (In::RunDeboost, Remove) => to(In::Terminating),
        (In::Terminating, Retry) => send(Word::Abort, In::Terminating),
        (In::Terminating, Got(Word::Idle, Same)) => to(In::Idle),
        (_, Got(Word::Abort, Same | Newer)) => with(Adopted, send(Word::Idle, In::Idle)),
        _ => None,
    }
}

/// The debooster as the paper draws it: the policy sends BOOST whenever it runs in IDLE.
pub fn debooster_without_asking(state: Debooster, input: Input) -> Option<Step<Debooster>> {
    match (state, input) {
        (Debooster::Idle, Input::Insert) => send(Word::Boost, Debooster::Idle),
        _ => debooster(state, input),
    }
}
