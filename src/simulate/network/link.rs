//! One way of a link: what it does to the frames that are sent along it.
//!
//! In: a frame and the time. Out: when the frame arrives, once, twice or never, and in what state.
//! Every frame is counted under each thing that happens to it, so that the counts add up:
//!
//! ```text
//! too long ─ waits for the rate (queue full) ─ outage ─ lost ─ damaged ─ delay ─ arrives
//!                                                                   └ overtaken, twice
//! ```
//!
//! The order is kept, but for frames that are overtaken: such a frame waits until the next one has
//! passed, or for [`PATIENCE_NS`]. Each way takes its chances from a generator of its own, so what
//! happens on one link does not depend on another.

pub mod noise;

use fastrand::Rng;
use noise::{BitErrors, Noise};
use std::collections::VecDeque;
use std::ops::Range;

/// How long a frame waits to be overtaken.
pub const PATIENCE_NS: u64 = 100_000_000;

/// What a way does to frames; by default they arrive at once, unharmed.
#[derive(Clone, Debug, PartialEq)]
pub struct Faults {
    /// How long a frame is under way at least, behind its last bit.
    pub delay_ns: u64,
    /// How much longer it may be.
    pub jitter_ns: u64,
    /// Bits in a second; without, a frame takes no time to send.
    pub rate: Option<u64>,
    /// How many frames wait for the rate at most, the one that is being sent among them.
    pub queue: usize,
    /// Longer frames are lost.
    pub mtu: Option<usize>,
    /// The share of frames that are lost.
    pub loss: f64,
    /// How many are lost in a row, in the mean.
    pub burst: f64,
    /// The share of frames that arrive twice.
    pub duplicate: f64,
    /// The share of frames that the next one overtakes.
    pub reorder: f64,
    /// The share of frames of which one byte is changed.
    pub corrupt: f64,
    /// The rates of bit errors over time.
    pub bit_errors: BitErrors,
    /// The fate of frames that were changed on the way.
    pub damaged: Damaged,
    /// From when until when all that is sent is lost.
    pub outages_ns: Vec<Range<u64>>,
}

/// The fate of frames that were changed on the way.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Damaged {
    /// They arrive as they are.
    #[default]
    Deliver,
    /// The far end finds that they are damaged, and they are lost.
    Drop,
}

impl Default for Faults {
    fn default() -> Faults {
        Faults {
            delay_ns: 0,
            jitter_ns: 0,
            rate: None,
            queue: 64,
            mtu: None,
            loss: 0.0,
            burst: 1.0,
            duplicate: 0.0,
            reorder: 0.0,
            corrupt: 0.0,
            bit_errors: BitErrors::default(),
            damaged: Damaged::Deliver,
            outages_ns: Vec::new(),
        }
    }
}

/// What happened to the frames of a way.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct Counts {
    /// Frames that were sent.
    pub sent: u64,
    /// Lost because they were longer than the way carries.
    pub too_long: u64,
    /// Lost because too many waited already.
    pub queue_full: u64,
    /// Lost in an outage.
    pub outage: u64,
    /// Lost by chance.
    pub lost: u64,
    /// Copies that were made.
    pub duplicated: u64,
    /// Frames that another overtook.
    pub reordered: u64,
    /// Frames of which a byte was changed.
    pub corrupted: u64,
    /// Frames with bits that were turned over.
    pub bit_errors: u64,
    /// Frames and copies that the far end lost because they were damaged.
    pub damaged: u64,
    /// Frames and copies that arrived.
    pub arrived: u64,
}

/// A frame under way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Flight {
    /// When it arrives.
    pub at_ns: u64,
    /// The number of the frame on this way.
    pub number: u64,
    /// Whether it is the copy.
    pub is_copy: bool,
    /// True if it was changed on the way.
    pub is_damaged: bool,
    /// Its bytes, as they arrive.
    pub bytes: Vec<u8>,
}

/// One way of a link.
#[derive(Debug)]
pub struct Way {
    faults: Faults,
    chance: Rng,
    counts: Counts,
    /// When the frames that wait will have been sent.
    sending: VecDeque<u64>,
    free_ns: u64,
    /// When the last frame arrives.
    last_ns: u64,
    /// Whether the frames of now are being lost.
    in_burst: bool,
    noise: Noise,
    /// The frame that waits to be overtaken.
    late: Option<Flight>,
    seen: Seen,
}

/// What the far end sees, which counts anew what `Counts` says.
#[derive(Debug, Default)]
struct Seen {
    first_sent_ns: u64,
    last_arrived_ns: u64,
    bits: u64,
    newest: u64,
    overtaken: u64,
}

impl Way {
    /// A way with these faults and chances of its own.
    pub fn new(faults: Faults, seed: u64) -> Way {
        let mut chance = Rng::with_seed(seed);
        let noise = Noise::new(faults.bit_errors.clone(), seed, &mut chance);
        Way {
            faults,
            chance,
            counts: Counts::default(),
            sending: VecDeque::new(),
            free_ns: 0,
            last_ns: 0,
            in_burst: false,
            noise,
            late: None,
            seen: Seen::default(),
        }
    }

    /// What happened so far.
    pub fn counts(&self) -> Counts {
        self.counts
    }

    /// Sends a frame: those that arrive of now on are added to `flights`. If it waits to be
    /// overtaken, the answer is when [`Way::release`] is to be called.
    pub fn send(&mut self, frame: &[u8], now_ns: u64, flights: &mut Vec<Flight>) -> Option<u64> {
        if self.counts.sent == 0 {
            self.seen.first_sent_ns = now_ns;
        }
        self.counts.sent += 1;
        let number = self.counts.sent;
        if self.faults.mtu.is_some_and(|mtu| frame.len() > mtu) {
            self.counts.too_long += 1;
            return None;
        }
        let Some(sent_ns) = self.transmit(frame.len(), now_ns) else {
            self.counts.queue_full += 1;
            return None;
        };
        let bits = 8 * frame.len() as u64;
        if self
            .faults
            .outages_ns
            .iter()
            .any(|one| one.contains(&now_ns))
        {
            self.counts.outage += 1;
            return None;
        }
        if self.loses() {
            self.counts.lost += 1;
            self.noise.skip(bits);
            return None;
        }
        let jitter_ns = match self.faults.jitter_ns {
            0 => 0,
            most_ns => self.chance.u64(0..=most_ns),
        };
        let at_ns = (sent_ns + self.faults.delay_ns + jitter_ns).max(self.last_ns);
        let bytes = self.damaged(frame, sent_ns);
        let mut flight = Flight {
            at_ns,
            number,
            is_copy: false,
            is_damaged: bytes != frame,
            bytes,
        };
        if self.late.is_none() && self.happens(self.faults.reorder) {
            flight.at_ns += PATIENCE_NS;
            return Some(self.late.insert(flight).at_ns);
        }
        self.last_ns = at_ns;
        self.arrive(flight, flights);
        if let Some(mut late) = self.late.take() {
            late.at_ns = at_ns;
            self.counts.reordered += 1;
            self.arrive(late, flights);
        }
        None
    }

    /// Nobody overtook the frame that waited for it.
    pub fn release(&mut self, now_ns: u64, flights: &mut Vec<Flight>) {
        if let Some(late) = self.late.take_if(|late| late.at_ns <= now_ns) {
            self.last_ns = self.last_ns.max(late.at_ns);
            self.arrive(late, flights);
        }
    }

    /// A frame has arrived; false if the far end drops it, because it is damaged.
    pub fn arrived(&mut self, flight: &Flight) -> bool {
        let seen = &mut self.seen;
        let is_dropped = flight.is_damaged && self.faults.damaged == Damaged::Drop;
        self.counts.damaged += u64::from(is_dropped);
        self.counts.arrived += u64::from(!is_dropped);
        seen.last_arrived_ns = seen.last_arrived_ns.max(flight.at_ns);
        if !flight.is_copy {
            seen.bits += 8 * flight.bytes.len() as u64;
            seen.overtaken += u64::from(flight.number < seen.newest);
            seen.newest = seen.newest.max(flight.number);
        }
        !is_dropped
    }

    /// Whether what was counted is what was seen, with so many frames still under way: what is
    /// wrong, if anything.
    pub fn mismatch(&self, under_way: u64) -> Option<&'static str> {
        let (counts, seen) = (&self.counts, &self.seen);
        let under_way = under_way + u64::from(self.late.is_some());
        let lost = counts.outage + counts.lost + counts.damaged;
        let gone = counts.too_long + counts.queue_full + lost;
        if counts.sent + counts.duplicated != gone + counts.arrived + under_way {
            return Some("a frame has no fate or two");
        }
        if seen.overtaken > counts.reordered
            || (under_way == 0 && seen.overtaken < counts.reordered)
        {
            return Some("not as many frames were overtaken as it counted");
        }
        let took_ns = u128::from(seen.last_arrived_ns.saturating_sub(seen.first_sent_ns));
        let too_fast = self.faults.rate.is_some_and(|rate| {
            let carried = u128::from(rate) * took_ns / 1_000_000_000;
            u128::from(seen.bits) > carried + 1
        });
        too_fast.then_some("more bits arrived than its rate carries")
    }

    /// When a frame that comes now will have been sent; none if too many wait.
    fn transmit(&mut self, length: usize, now_ns: u64) -> Option<u64> {
        let Some(rate) = self.faults.rate else {
            return Some(now_ns);
        };
        while self.sending.front().is_some_and(|sent| *sent <= now_ns) {
            self.sending.pop_front();
        }
        if self.sending.len() >= self.faults.queue {
            return None;
        }
        let takes_ns = takes_ns(length, rate);
        self.free_ns = self.free_ns.max(now_ns).saturating_add(takes_ns);
        self.sending.push_back(self.free_ns);
        Some(self.free_ns)
    }

    /// Whether the next frame is lost: chances that come in bursts, as long as they should be in
    /// the mean, and as often as the whole share asks for (Gilbert 1960).
    fn loses(&mut self) -> bool {
        let (loss, burst) = (self.faults.loss, self.faults.burst);
        let lost = match self.in_burst {
            true => self.happens(1.0 - 1.0 / burst),
            false if loss >= 1.0 => true,
            false if burst <= 1.0 => self.happens(loss),
            false => self.happens(loss / (burst * (1.0 - loss))),
        };
        self.in_burst = lost && burst > 1.0;
        lost
    }

    fn happens(&mut self, share: f64) -> bool {
        // A chance that is no chance takes no number, so the others stay as they were.
        share > 0.0 && self.chance.f64() < share
    }

    /// The bytes as they arrive, of a frame whose last bit is sent at a time.
    fn damaged(&mut self, frame: &[u8], sent_ns: u64) -> Vec<u8> {
        let mut bytes = frame.to_vec();
        if !bytes.is_empty() && self.happens(self.faults.corrupt) {
            self.counts.corrupted += 1;
            let place = self.chance.usize(..bytes.len());
            bytes[place] ^= self.chance.u8(1..);
        }
        let rate = self.faults.rate;
        let takes_ns = rate.map_or(0, |rate| takes_ns(bytes.len(), rate));
        let from_ns = sent_ns.saturating_sub(takes_ns);
        let chance = &mut self.chance;
        let is_flipped = self.noise.flip(&mut bytes, from_ns, rate, chance);
        self.counts.bit_errors += u64::from(is_flipped);
        bytes
    }

    /// Lets a frame arrive, perhaps twice.
    fn arrive(&mut self, flight: Flight, flights: &mut Vec<Flight>) {
        let copy = self.happens(self.faults.duplicate).then(|| Flight {
            is_copy: true,
            ..flight.clone()
        });
        self.counts.duplicated += u64::from(copy.is_some());
        flights.push(flight);
        flights.extend(copy);
    }
}

/// Returns the time that so many bytes take to send, in nanoseconds.
fn takes_ns(length: usize, rate: u64) -> u64 {
    let bits = 8 * length as u128;
    let takes_ns = (bits * 1_000_000_000).div_ceil(u128::from(rate));
    u64::try_from(takes_ns).unwrap_or(u64::MAX / 4)
}

#[cfg(test)]
mod tests;
