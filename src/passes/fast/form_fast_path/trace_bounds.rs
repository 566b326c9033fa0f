//! Bounds: bytes of a frame that are there on each path on which the guard is not left.
//!
//! In: a path, and how far a read reaches. Out: whether the frame is so long, by the bits that the
//! guard has decided (a small part of Bodik, Gupta and Sarkar, "ABCD: Eliminating Array Bounds
//! Checks on Demand", 2000). On the side of a diamond only bits count that were decided before it,
//! since the side is evaluated even if control does not come there.
//!
//! ```text
//! exit ipv4.too_short (ult %length, 20)                      %length >= 20
//! %1 = sub %length, 20
//! %2 = sub (zext i32 (read.be16 %frame, 2)), 20
//! exit ipv4.bad_length (ult %1, %2)                          %length >= 20 + %2
//! exit tcp.too_short (ult %2, 20)                            %length >= 40
//! ```

use super::message::View;
use super::path::Path;
use super::trace::Trace;
use crate::ir::op::{Arithmetic, Compare, Op};
use crate::ir::{Type, Value};
use std::collections::BTreeSet;

/// The depth to which a bound is derived from bounds of other values.
const DEPTH: u32 = 4;

impl Trace<'_> {
    /// Returns true if the first `end` bytes of a view are there.
    pub fn is_in_frame(&self, path: &Path, view: &View, end: u64) -> bool {
        if let Some(length) = self.folded.number(view.length) {
            return end <= length;
        }
        let (Some(begin), Some(frame)) = (self.folded.number(view.at), view.base) else {
            return false;
        };
        let mut writes = [None, Some(frame)].into_iter();
        let is_written = writes.any(|one| path.rewritten.contains(&one));
        let length = path.found.get(&(Op::Length, vec![frame]));
        let least = length.map_or(0, |length| self.least(path, *length, DEPTH));
        !is_written && begin + end <= least
    }

    /// Returns a lower bound of a value, by the bits that are decided: `x >= c + n` follows from
    /// `x - c >= n` if `x >= c`.
    fn least(&self, path: &Path, value: Value, depth: u32) -> u64 {
        if let Some(number) = self.folded.number(value) {
            return number;
        }
        if depth == 0 || !self.is_of_frame(value) {
            return 0;
        }
        // By `c`: lower bounds `n` of `x - c`.
        let mut bounds = Vec::new();
        for (bit, holds) in path.before.as_deref().unwrap_or(&path.bits) {
            let (greater, less) = match self.folded.op(*bit) {
                Some((Op::Compare(Compare::Ult), of)) if !holds => (of[0], of[1]),
                Some((Op::Compare(Compare::Ule), of)) if *holds => (of[1], of[0]),
                _other => continue,
            };
            if let Some(less_by) = self.distance(value, greater) {
                bounds.push((less_by, self.least(path, less, depth - 1)));
            }
        }
        bounds.sort_unstable();
        let mut least = 0;
        for (less_by, bound) in bounds {
            // With more taken away than is known to be there, the difference may have wrapped.
            if less_by <= least {
                least = least.max(less_by + bound);
            }
        }
        least
    }

    /// Returns the sum of the constants that are taken away from `x` for a value.
    fn distance(&self, x: Value, mut value: Value) -> Option<u64> {
        let mut all: u64 = 0;
        while value != x {
            let Some((Op::Arithmetic(Arithmetic::Sub), of)) = self.folded.op(value) else {
                return None;
            };
            all = all.checked_add(self.folded.number(of[1])?)?;
            value = of[0];
        }
        Some(all)
    }

    /// Returns true for a value that hangs on the frame alone. Other passes move exits that ask the
    /// state behind reads of the frame.
    fn is_of_frame(&self, value: Value) -> bool {
        let mut open = vec![value];
        let mut seen = BTreeSet::new();
        while let Some(value) = open.pop() {
            if !seen.insert(value) {
                continue;
            }
            match self.folded.op(value) {
                Some((
                    Op::Number(..)
                    | Op::Length
                    | Op::Look
                    | Op::Read(_)
                    | Op::ZeroExtend(_)
                    | Op::Arithmetic(_),
                    of,
                )) => open.extend(of),
                Some(_) => return false,
                None if matches!(self.build.type_of(value), Type::Message | Type::View) => {}
                None => return false,
            }
        }
        true
    }
}
