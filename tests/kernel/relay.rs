//! A relay on a cable: it loses, repeats, reorders and delays the frames of both ways.
//!
//! In: a device, what is to happen to frames, a seed. Out: a device to which it happens, and
//! whether it did.

use super::lane::Lane;
use stackloom::simulate::network::link::Faults;
use stackloom::tool::device::Device;
use std::io;
use std::os::fd::BorrowedFd;

/// A device behind a bad cable.
pub struct Relay {
    device: Box<dyn Device + Send>,
    /// From us, and to us.
    ways: [Lane; 2],
}

impl Relay {
    /// A cable that does this to frames, on each way by chances of its own.
    pub fn new(device: Box<dyn Device + Send>, faults: &Faults, seed: u64) -> Relay {
        Relay {
            device,
            ways: [0, 1].map(|way| Lane::new(faults, 2 * seed + way)),
        }
    }

    /// Whether it did what it was told, as far as chance allows: what is wrong, if anything.
    pub fn mismatch(&self) -> Option<String> {
        self.ways.iter().find_map(Lane::mismatch)
    }

    /// Lets frames go out to the device for which it is time.
    fn flush(&mut self, now_ns: u64) -> io::Result<()> {
        while let Some(flight) = self.ways[0].next(now_ns) {
            self.device.send(&flight.bytes, now_ns)?;
        }
        Ok(())
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

/// Sends frames along a way that was told one thing, and does another.
fn told(told: &Faults, does: &Faults) -> Option<String> {
    let mut lane = Lane::pretending(told, does, 1);
    for now_ms in 0..5_000 {
        lane.send(&[1], now_ms * 1_000_000);
        while lane.next(now_ms * 1_000_000).is_some() {}
    }
    while let Some(due_ns) = lane.due_ns() {
        lane.next(due_ns);
    }
    lane.mismatch()
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
