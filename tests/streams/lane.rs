//! One way of a cable, and what becomes of frames on it.
//!
//! In: frames, when they come. Out: frames, when they go. It counts by itself what comes and goes,
//! so that a way which does not do what it was told is found.

use stackloom::simulate::network::link::{Faults, Flight, Way};
use std::collections::BTreeMap;

/// One way of the cable.
pub struct Lane {
    way: Way,
    /// What it was told to do.
    told: Faults,
    /// When the frame goes on that waits to be overtaken.
    release_ns: Option<u64>,
    /// Frames under way, by when they arrive and by their order.
    flying: BTreeMap<(u64, u64), Flight>,
    order: u64,
    /// When frames came in at one end.
    came_ns: Vec<u64>,
    /// Frames that went out at the other,
    went: u64,
    /// so many of them for the second time,
    again: u64,
    /// so many behind a later one,
    late: u64,
    /// and so many before their time.
    early: u64,
    newest: u64,
}

impl Lane {
    /// A way that does this to frames, by chances of its own.
    pub fn new(faults: &Faults, seed: u64) -> Lane {
        Lane::pretending(faults, faults, seed)
    }

    /// A way that was told one thing, and does another.
    pub fn pretending(told: &Faults, does: &Faults, seed: u64) -> Lane {
        Lane {
            way: Way::new(does.clone(), seed),
            told: told.clone(),
            release_ns: None,
            flying: BTreeMap::new(),
            order: 0,
            came_ns: Vec::new(),
            went: 0,
            again: 0,
            late: 0,
            early: 0,
            newest: 0,
        }
    }

    /// A frame comes.
    pub fn send(&mut self, frame: &[u8], now_ns: u64) {
        self.came_ns.push(now_ns);
        let mut flights = Vec::new();
        let waits = self.way.send(frame, now_ns, &mut flights);
        self.release_ns = waits.or(self.release_ns);
        self.depart(flights);
    }

    /// Whether it did what it was told, as far as chance allows: what is wrong, if anything.
    pub fn mismatch(&self) -> Option<String> {
        let came = self.came_ns.len() as u64;
        let flying = self
            .flying
            .values()
            .filter(|flight| !flight.is_copy)
            .count() as u64;
        let lost = came - (self.went - self.again) - flying;
        let all = [
            ("too early", 0.0, self.early),
            ("lost", self.told.loss, lost),
            ("repeated", self.told.duplicate, self.again),
            ("overtaken", self.told.reorder, self.late),
        ];
        let wrong = |(what, share, count): (&str, f64, u64)| {
            let expected = share * came as f64;
            // What waits for another may wait in vain, and one may wait now.
            let least = if what == "overtaken" { 0.3 } else { 1.0 } * expected;
            let spread = |count: f64| 6.0 * count.sqrt() + 1.0;
            let bounds = least - spread(least)..=expected + spread(expected);
            let is_so = bounds.contains(&(count as f64));
            (!is_so).then(|| format!("{count} of {came} were {what}, not {expected:.1}"))
        };
        all.into_iter().find_map(wrong)
    }

    /// When something is to happen next.
    pub fn due_ns(&self) -> Option<u64> {
        let first = self.flying.first_key_value().map(|((at_ns, _), _)| *at_ns);
        first.into_iter().chain(self.release_ns).min()
    }

    fn depart(&mut self, flights: Vec<Flight>) {
        for flight in flights {
            self.order += 1;
            self.flying.insert((flight.at_ns, self.order), flight);
        }
    }

    /// A frame for which it is time.
    pub fn next(&mut self, now_ns: u64) -> Option<Flight> {
        if self
            .release_ns
            .is_some_and(|release_ns| release_ns <= now_ns)
        {
            self.release_ns = None;
            let mut flights = Vec::new();
            self.way.release(now_ns, &mut flights);
            self.depart(flights);
        }
        let first = self.flying.first_entry()?;
        if first.key().0 > now_ns {
            return None;
        }
        let flight = first.remove();
        self.way.arrived(&flight);
        self.went += 1;
        self.again += u64::from(flight.is_copy);
        self.late += u64::from(!flight.is_copy && flight.number < self.newest);
        self.newest = self.newest.max(flight.number);
        let came_ns = self.came_ns[flight.number as usize - 1];
        self.early += u64::from(now_ns < came_ns + self.told.delay_ns);
        Some(flight)
    }
}
