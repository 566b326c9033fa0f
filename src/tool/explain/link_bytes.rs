//! Bytes on a link: in, a program with one link and one port; out, how many bytes its frames have
//! for messages of a size.

use crate::simulate::externs::Externs;
use crate::simulate::reference::Reference;
use crate::simulate::stack::Stack;
use crate::simulate::state::{Emitted, Limits};
use crate::simulate::trace::{Call, Driver, Step};
use crate::types::program::{PortId, Program};
use fastrand::Rng;

/// The longest that a layer holds back what it sends, and the shortest until it sends it again.
const PATIENCE_NS: u64 = 40_000_000;
/// The seed of the bytes of messages, of which none is as the one before.
const SEED: u64 = 1;

/// Returns the bytes of all frames for so many messages of a size; none if no message passes, or a
/// frame becomes too long.
pub fn link_bytes(program: &Program, size: usize, messages: u64, most_bytes: usize) -> Option<u64> {
    let limits = Limits {
        room: 1 << 16,
        ..Limits::default()
    };
    let externs = Externs::default();
    let control = Reference::new(program);
    let mut stack = Stack::start(control, program, &externs, Vec::new(), limits, 0)?;
    let mut random = Rng::with_seed(SEED);
    let mut bytes = 0;
    let mut step = |now_ns, call| {
        let step = Step {
            now_ns,
            call,
            takes: true,
        };
        let seen = stack.step(&step);
        let frames = seen.outputs.iter().filter_map(|output| match output {
            Emitted::Frame { bytes, .. } => Some(bytes.len()),
            _another_output => None,
        });
        let frames: Vec<usize> = frames.collect();
        let fits = frames.iter().all(|frame| *frame <= most_bytes);
        let sent = fits.then(|| frames.iter().sum::<usize>() as u64);
        (sent, seen.deadline_ns)
    };
    for _ in 0..messages {
        let call = Call::Send {
            port: PortId(0),
            session: 0,
            attributes: Vec::new(),
            bytes: std::iter::repeat_with(|| random.u8(..))
                .take(size)
                .collect(),
        };
        bytes += step(0, call).0?;
    }
    let mut now_ns = 0;
    loop {
        let (sent, deadline_ns) = step(now_ns, Call::Expire);
        bytes += sent?;
        match deadline_ns {
            Some(deadline_ns) if deadline_ns <= PATIENCE_NS => now_ns = deadline_ns.max(now_ns + 1),
            _none_or_late => return (bytes > 0).then_some(bytes),
        }
    }
}
