//! Traces that are harder on a stack than its peers would be.
//!
//! In: a trace. Out: the same with frames that nobody would send, messages that no buffer has room
//! for, and calls for conversations that do not exist.

use crate::random::Random;
use stackloom::simulate::trace::{Call, Step, Trace};
use stackloom::types::program::Program;

/// How often a call is made worse, in percent.
const OFTEN: u64 = 12;

/// A trace some of whose calls are worse.
pub fn harder(program: &Program, mut trace: Trace, random: &mut Random) -> Trace {
    let room = trace.limits.room;
    let mut all: Vec<Step> = Vec::new();
    for mut step in trace.steps {
        if random.percent(OFTEN) {
            match &mut step.call {
                Call::Input(_, frames) => frames.extend(worse(frames, random, room)),
                Call::Send { session, bytes, .. } => match random.below(4) {
                    0 => *session = strange(random),
                    _ => bytes.resize(size(random, room), 0x3c),
                },
                Call::Notice { session, .. } => *session = strange(random),
                Call::Open(..) | Call::Listen(..) | Call::Carrier(..) => all.push(step.clone()),
                Call::Unlisten(_, listener) => *listener = strange(random),
                Call::Expire => all.push(Step {
                    call: Call::Input(
                        stackloom::types::program::LinkId(random.below(program.links.len()) as u32),
                        (0..random.below(9)).map(|_| random.bytes()).collect(),
                    ),
                    ..step.clone()
                }),
            }
        }
        all.push(step);
    }
    trace.steps = all;
    trace
}

/// Lengths at which something may go wrong.
fn size(random: &mut Random, room: usize) -> usize {
    let all = [
        0,
        1,
        7,
        8,
        1471,
        1472,
        1473,
        1480,
        1500,
        1501,
        9000,
        room - 1,
        room,
        room + 1,
        20_000,
    ];
    *random.one(&all)
}

/// A conversation that hardly exists.
fn strange(random: &mut Random) -> u32 {
    *random.one(&[
        1,
        2,
        3,
        8,
        64,
        256,
        1 << 16,
        1 << 31,
        u32::MAX - 1,
        u32::MAX,
    ])
}

/// A frame that is like one of these, and wrong; or longer than all.
fn worse(frames: &[Vec<u8>], random: &mut Random, room: usize) -> Option<Vec<u8>> {
    let mut frame = frames.first()?.clone();
    match random.below(6) {
        0 => frame.resize(size(random, room).min(room), 0),
        1 => frame.resize(room + 1, 0xff),
        2 if !frame.is_empty() => frame.truncate(random.below(frame.len())),
        3 if !frame.is_empty() => {
            let (from, count) = (random.below(frame.len()), 1 + random.below(8));
            let value = *random.one(&[0, 0xff, 0x80, 1]);
            frame
                .iter_mut()
                .skip(from)
                .take(count)
                .for_each(|byte| *byte = value);
        }
        4 if !frame.is_empty() => {
            let at = random.below(frame.len().min(64));
            frame[at] = frame[at].wrapping_add(1);
        }
        _ => {}
    }
    Some(frame)
}
