//! Two ends of streams, and a line between them, in virtual time.
//!
//! In: a stack for both ends, what the line does to frames, a seed. Out: the two ends, after
//! everything that was going to happen.

use crate::end::End;
use crate::lane::Lane;
use stackloom::simulate::network::link::Faults;
use stackloom::tool::stack::Program;

/// Two ends at a line.
pub struct Line {
    /// The one that calls, and the one that is called.
    pub ends: [End; 2],
    /// What the first sends, and what the second.
    lanes: [Lane; 2],
    /// The time.
    pub now_ns: u64,
}

/// The addresses of the ends.
pub const ADDRESSES: [&str; 2] = ["10.0.0.1", "10.0.0.2"];

impl Line {
    /// Both ends run the same stack, each with these settings and its address.
    pub fn start(program: &'static Program, settings: &str, faults: &Faults, seed: u64) -> Line {
        let end = |address| End::start(program, &format!("{settings}, address={address}"), 0);
        Line {
            ends: ADDRESSES.map(end),
            lanes: [0, 1].map(|way| Lane::new(faults, 2 * seed + way)),
            now_ns: 0,
        }
    }

    /// Does the next thing that happens; false if nothing will.
    pub fn step(&mut self) -> bool {
        for (end, lane) in self.ends.iter_mut().zip(&mut self.lanes) {
            end.frames
                .drain(..)
                .for_each(|frame| lane.send(&frame, self.now_ns));
        }
        let lanes = self.lanes.each_ref().map(Lane::due_ns);
        let ends = self.ends.each_ref().map(End::deadline_ns);
        let Some(next_ns) = lanes.into_iter().chain(ends).flatten().min() else {
            return false;
        };
        let now_ns = self.now_ns.max(next_ns);
        self.now_ns = now_ns;
        for from in 0..2 {
            if let Some(flight) = self.lanes[from].next(now_ns) {
                let write = |room: &mut [u8]| {
                    room[..flight.bytes.len()].copy_from_slice(&flight.bytes);
                    Ok(Some(flight.bytes.len()))
                };
                self.ends[1 - from].take(write, now_ns);
                return true;
            }
        }
        let due = |end: &&mut End| end.deadline_ns().is_some_and(|due_ns| due_ns <= now_ns);
        if let Some(end) = self.ends.iter_mut().find(due) {
            end.expire(now_ns);
        }
        true
    }

    /// Nothing is left to happen: whether nothing is left at all, and the line did what it should.
    #[track_caller]
    pub fn leave(self) {
        for lane in &self.lanes {
            assert_eq!(lane.mismatch(), None, "the line");
        }
        for end in self.ends {
            assert_eq!(end.mistakes(), [""; 0], "what TCP says");
            assert!(end.report().adds_up(), "{}", end.report());
            let missing = end.missing("10.0.0.3", self.now_ns);
            assert_eq!(missing, (0, 0), "buffers and sessions");
        }
    }
}
