//! The canonical bytes of a situation: two situations with the same bytes behave the same.
//!
//! Instances are numbered as a walk through the tree meets them. Times are counted from now. Names,
//! paths and the number of initialisations are left out: only the seed and the trace read them.

use super::situation::{Clock, InstanceId, PointId, Situation};
use super::value::Value;
use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hasher};

/// A hash of canonical bytes, wide enough to take equal hashes for equal situations.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Fingerprint(u64, u64);

impl Situation {
    /// Returns the canonical bytes.
    pub fn encode(&self) -> Vec<u8> {
        let order = self.subtree(Situation::ROOT);
        let numbers = order.iter().zip(0..).map(|(id, number)| (*id, number));
        let mut writer = Writer {
            bytes: Vec::new(),
            numbers: numbers.collect(),
        };
        for system in &self.systems {
            writer.number(u64::from(system.is_stopped));
            writer.number(system.pending.len() as u64);
            // The order of executions is a choice, so the selected transitions are a set.
            let mut pending: Vec<(u64, u64)> = system
                .pending
                .iter()
                .map(|it| (writer.numbers[&it.instance], it.transition as u64))
                .collect();
            pending.sort_unstable();
            for (instance, transition) in pending {
                writer.number(instance);
                writer.number(transition);
            }
        }
        for id in order {
            self.write(id, &mut writer);
        }
        writer.bytes
    }

    /// Returns the hash of the canonical bytes.
    pub fn fingerprint(&self) -> Fingerprint {
        let bytes = self.encode();
        let hash = |start: u8| {
            let mut hasher = DefaultHasher::new();
            hasher.write_u8(start);
            hasher.write(&bytes);
            hasher.finish()
        };
        Fingerprint(hash(0), hash(1))
    }

    fn write(&self, id: InstanceId, writer: &mut Writer) {
        let instance = self.instance(id);
        writer.number(u64::from(instance.body.0));
        writer.number(instance.children.len() as u64);
        writer.number(instance.state.map_or(0, |state| u64::from(state.0) + 1));
        for variable in &instance.variables {
            writer.value(variable);
        }
        for module in &instance.modules {
            let number = module.map(|module| writer.numbers[&module]);
            writer.optional(number);
        }
        for point in &instance.points {
            writer.point(point.connected);
            writer.point(point.below);
        }
        for queue in &instance.queues {
            writer.number(queue.len() as u64);
            for item in queue {
                writer.number(item.point as u64);
                writer.number(item.interaction as u64);
                for value in &item.values {
                    writer.value(value);
                }
            }
        }
        for clock in &instance.clocks {
            writer.clock(*clock, self.time);
        }
    }
}

struct Writer {
    bytes: Vec<u8>,
    numbers: BTreeMap<InstanceId, u64>,
}

impl Writer {
    /// Seven bits a byte, the least first.
    fn number(&mut self, mut number: u64) {
        while number >= 128 {
            self.bytes.push(number as u8 | 128);
            number >>= 7;
        }
        self.bytes.push(number as u8);
    }

    fn optional(&mut self, number: Option<u64>) {
        self.number(number.map_or(0, |number| number + 1));
    }

    fn point(&mut self, point: Option<PointId>) {
        match point {
            None => self.number(0),
            Some(PointId { instance, point }) => {
                self.number(self.numbers[&instance] + 1);
                self.number(point as u64);
            }
        }
    }

    fn clock(&mut self, clock: Option<Clock>, time: u64) {
        match clock {
            None => self.number(0),
            Some(Clock { from, until }) => {
                self.number(1);
                self.number(from.saturating_sub(time));
                self.optional(until.map(|until| until.saturating_sub(time)));
            }
        }
    }

    fn value(&mut self, value: &Value) {
        match value {
            Value::Undefined => self.bytes.push(0),
            Value::Ordinal(number) => {
                self.bytes.push(1);
                self.number((number << 1 ^ number >> 63) as u64);
            }
            Value::Real(number) => {
                self.bytes.push(2);
                self.bytes.extend(number.to_bits().to_le_bytes());
            }
            Value::Array(items) | Value::Record(items) => {
                self.bytes.push(3);
                self.number(items.len() as u64);
                for item in items {
                    self.value(item);
                }
            }
            Value::Set(set) => {
                self.bytes.push(4);
                for word in set.iter() {
                    self.bytes.extend(word.to_le_bytes());
                }
            }
        }
    }
}
