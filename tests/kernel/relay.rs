//! A relay on a cable: it loses, repeats, reorders and delays the frames of both ways.
//!
//! In: a device, what is to happen to frames, a seed. Out: a device to which it happens, and
//! whether it did: the relay itself counts what comes and what goes.

use stackloom::simulate::network::link::{Faults, Flight, Way};
use stackloom::tool::device::Device;
use std::collections::BTreeMap;
use std::io;
use std::os::fd::BorrowedFd;

/// A device behind a bad cable.
pub struct Relay {
    device: Box<dyn Device + Send>,
    /// What it was told to do.
    faults: Faults,
    /// From us, and to us.
    ways: [Lane; 2],
}

/// One way of the cable.
struct Lane {
    way: Way,
    delay_ns: u64,
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

impl Relay {
    /// A cable that does this to frames, on each way by chances of its own.
    pub fn new(device: Box<dyn Device + Send>, faults: &Faults, seed: u64) -> Relay {
        Relay {
            device,
            faults: faults.clone(),
            ways: [0, 1].map(|way| Lane::new(faults, 2 * seed + way)),
        }
    }

    /// Whether it did what it was told, as far as chance allows: what is wrong, if anything.
    pub fn mismatch(&self) -> Option<String> {
        let sum = |of: fn(&Lane) -> u64| self.ways.iter().map(of).sum::<u64>();
        let came = sum(|lane| lane.came_ns.len() as u64);
        let gone = came + sum(|lane| lane.again) - sum(|lane| lane.went);
        let lost = gone - sum(|lane| lane.flying.len() as u64);
        let all = [
            ("too early", 0.0, sum(|lane| lane.early)),
            ("lost", self.faults.loss, lost),
            ("repeated", self.faults.duplicate, sum(|lane| lane.again)),
            ("overtaken", self.faults.reorder, sum(|lane| lane.late)),
        ];
        let wrong = |(what, share, count): (&str, f64, u64)| {
            let expected = share * came as f64;
            // What waits for another may wait in vain; on each way one may wait now.
            let least = if what == "overtaken" { 0.3 } else { 1.0 } * expected;
            let spread = |count: f64| 6.0 * count.sqrt() + 2.0;
            let bounds = least - spread(least)..=expected + spread(expected);
            let is_so = bounds.contains(&(count as f64));
            (!is_so).then(|| format!("{count} of {came} were {what}, not {expected:.1}"))
        };
        all.into_iter().find_map(wrong)
    }

    /// Lets frames go out to the device for which it is time.
    fn flush(&mut self, now_ns: u64) -> io::Result<()> {
        while let Some(flight) = self.ways[0].next(now_ns) {
            self.device.send(&flight.bytes, now_ns)?;
        }
        Ok(())
    }
}

impl Lane {
    fn new(faults: &Faults, seed: u64) -> Lane {
        Lane {
            way: Way::new(faults.clone(), seed),
            delay_ns: faults.delay_ns,
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

    fn send(&mut self, frame: &[u8], now_ns: u64) {
        self.came_ns.push(now_ns);
        let mut flights = Vec::new();
        let waits = self.way.send(frame, now_ns, &mut flights);
        self.release_ns = waits.or(self.release_ns);
        self.depart(flights);
    }

    fn depart(&mut self, flights: Vec<Flight>) {
        for flight in flights {
            self.order += 1;
            self.flying.insert((flight.at_ns, self.order), flight);
        }
    }

    /// A frame for which it is time.
    fn next(&mut self, now_ns: u64) -> Option<Flight> {
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
        self.early += u64::from(now_ns < came_ns + self.delay_ns);
        Some(flight)
    }
}

impl Device for Relay {
    fn receive(&mut self, room: &mut [u8], now_ns: u64) -> io::Result<Option<usize>> {
        self.flush(now_ns)?;
        while let Some(length) = self.device.receive(room, now_ns)? {
            self.ways[1].send(&room[..length.min(room.len())], now_ns);
        }
        Ok(self.ways[1].next(now_ns).map(|flight| {
            let length = flight.bytes.len().min(room.len());
            room[..length].copy_from_slice(&flight.bytes[..length]);
            length
        }))
    }

    fn send(&mut self, frame: &[u8], now_ns: u64) -> io::Result<bool> {
        self.ways[0].send(frame, now_ns);
        self.flush(now_ns).map(|()| true)
    }

    fn descriptor(&self) -> Option<BorrowedFd<'_>> {
        self.device.descriptor()
    }
}

/// A device that has so many frames, and takes all.
struct Frames(usize);

impl Device for Frames {
    fn receive(&mut self, room: &mut [u8], _now_ns: u64) -> io::Result<Option<usize>> {
        let is_left = self.0 > 0;
        self.0 = self.0.saturating_sub(1);
        room[0] = self.0 as u8;
        Ok(is_left.then_some(1))
    }

    fn send(&mut self, _frame: &[u8], _now_ns: u64) -> io::Result<bool> {
        Ok(true)
    }

    fn descriptor(&self) -> Option<BorrowedFd<'_>> {
        None
    }
}

/// Sends frames both ways through a cable that was told one thing, and does another.
fn told(told: &Faults, does: &Faults) -> Option<String> {
    let mut relay = Relay::new(Box::new(Frames(5_000)), told, 1);
    relay.ways = [0, 1].map(|seed| Lane::new(does, seed));
    relay
        .ways
        .iter_mut()
        .for_each(|lane| lane.delay_ns = told.delay_ns);
    for now_ms in 0..6_000 {
        let now_ns = now_ms * 1_000_000;
        if now_ms < 5_000 {
            relay.send(&[1], now_ns).expect("it takes all");
        }
        while relay
            .receive(&mut [0; 9], now_ns)
            .expect("it has some")
            .is_some()
        {}
    }
    relay.mismatch()
}

#[test]
fn a_relay_that_does_not_do_what_it_was_told_is_found() {
    let none = Faults::default();
    let each = [
        Faults {
            loss: 0.02,
            ..none.clone()
        },
        Faults {
            duplicate: 0.02,
            ..none.clone()
        },
        Faults {
            reorder: 0.05,
            ..none.clone()
        },
        Faults {
            delay_ns: 1_000_000,
            ..none.clone()
        },
    ];
    for (at, faults) in each.iter().enumerate() {
        assert_eq!(told(faults, faults), None);
        assert!(
            told(faults, &none).is_some(),
            "{faults:?} and nothing happens"
        );
        // To be late is no fault in itself.
        assert!(
            at == 3 || told(&none, faults).is_some(),
            "{faults:?} though nobody asked"
        );
    }
}
