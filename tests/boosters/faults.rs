//! Mistakes that one might make in the machines, each of which the exploration must find.
//!
//! In: the machines. Out: the same with one mistake.

use crate::machine::{self, Age, Booster, Debooster, Epoch, Input, Step, Word};

/// A mistake.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The debooster goes to IDLE for an ABORT, and does not answer.
    AbortUnanswered,
    /// The booster does so.
    IdleNotSent,
    /// The booster begins with the epoch that it had.
    EpochNotAdvanced,
    /// IDLE is taken for an answer whatever its epoch.
    IdleWithoutEpoch,
    /// STARTED is taken for an answer whatever its epoch.
    StartedWithoutEpoch,
    /// The debooster asks again after a refusal.
    AsksAfterRefusal,
    /// The timer of RUN_BOOST expires once.
    TimerNotRestarted,
}

impl Fault {
    pub const ALL: [Fault; 7] = [
        Fault::AbortUnanswered,
        Fault::IdleNotSent,
        Fault::EpochNotAdvanced,
        Fault::IdleWithoutEpoch,
        Fault::StartedWithoutEpoch,
        Fault::AsksAfterRefusal,
        Fault::TimerNotRestarted,
    ];

    /// The input that the machine sees instead.
    fn mistaken(self, input: Input) -> Input {
        match (self, input) {
            (Fault::IdleWithoutEpoch, Input::Got(Word::Idle, _)) => {
                Input::Got(Word::Idle, Age::Same)
            }
            (Fault::StartedWithoutEpoch, Input::Got(Word::Started, _)) => {
                Input::Got(Word::Started, Age::Same)
            }
            _ => input,
        }
    }
}

/// The booster with a mistake.
pub fn booster(fault: Fault, state: Booster, input: Input) -> Option<Step<Booster>> {
    let step = machine::booster(state, fault.mistaken(input))?;
    let is_answer = step.send == Some(Word::Idle) && input != Input::Refused;
    Some(match fault {
        Fault::IdleNotSent if is_answer => Step { send: None, ..step },
        Fault::EpochNotAdvanced => Step {
            epoch: Epoch::Stays,
            ..step
        },
        _ => step,
    })
}

/// The debooster with a mistake.
pub fn debooster(
    fault: Fault,
    own: fn(Debooster, Input) -> Option<Step<Debooster>>,
    state: Debooster,
    input: Input,
) -> Option<Step<Debooster>> {
    let is_refusal = state == Debooster::Asking && input == Input::Got(Word::Idle, Age::Same);
    if fault == Fault::AsksAfterRefusal && is_refusal {
        return None;
    }
    let step = own(state, fault.mistaken(input))?;
    let is_answer = step.send == Some(Word::Idle);
    Some(match fault {
        Fault::AbortUnanswered if is_answer => Step { send: None, ..step },
        _ => step,
    })
}
