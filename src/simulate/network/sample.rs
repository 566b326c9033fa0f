//! A time series of a run: what happened in each interval of virtual time.
//!
//! In: nodes and applications at the end of an interval. Out: a [`Sample`]: what each application
//! was delivered since the sample before, and by how much the counters of each node grew.

use super::application::Running;
use super::driven::Driven;
use super::outcome::plain;
use std::collections::BTreeMap;

/// The events of an interval.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Sample {
    /// When it began.
    pub from_ns: u64,
    /// When it ended.
    pub to_ns: u64,
    /// Deliveries, by the name of the application.
    pub delivered: BTreeMap<String, Delivered>,
    /// The counters that grew, by the name of the node and of the counter.
    pub counters: BTreeMap<String, BTreeMap<String, u64>>,
}

/// The deliveries to an application.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct Delivered {
    /// Messages; none where credit counts bytes, so that messages have no bounds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub messages: Option<u64>,
    /// Bytes.
    pub bytes: u64,
}

/// Takes samples.
#[derive(Debug, Default)]
pub(super) struct Sampler {
    /// The length of an interval; none if nothing is sampled.
    every_ns: Option<u64>,
    /// When the present one began.
    from_ns: u64,
    /// Deliveries before the interval: messages and bytes of each application.
    delivered: Vec<(u64, u64)>,
    /// The counters before, of each node.
    counters: Vec<BTreeMap<String, u64>>,
}

impl Sampler {
    pub(super) fn new(every_ns: Option<u64>) -> Sampler {
        Sampler {
            every_ns,
            ..Sampler::default()
        }
    }

    /// When the next interval ends that is over before something happens, if one does.
    pub(super) fn due_ns(&self, before_ns: u64) -> Option<u64> {
        let due_ns = self.from_ns.saturating_add(self.every_ns?);
        (due_ns <= before_ns).then_some(due_ns)
    }

    /// When the last interval ends, which the end of the run cuts short.
    pub(super) fn rest_ns(&self, end_ns: u64) -> Option<u64> {
        (self.every_ns.is_some() && end_ns > self.from_ns).then_some(end_ns)
    }

    /// Takes the sample of an interval that ends.
    pub(super) fn take<'s>(
        &mut self,
        to_ns: u64,
        nodes: impl Iterator<Item = (&'s str, &'s dyn Driven)>,
        applications: &[Running],
    ) -> Sample {
        let mut sample = Sample {
            from_ns: self.from_ns,
            to_ns,
            delivered: BTreeMap::new(),
            counters: BTreeMap::new(),
        };
        self.from_ns = to_ns;
        self.delivered.resize(applications.len(), (0, 0));
        for (running, before) in applications.iter().zip(&mut self.delivered) {
            let (script, tally) = (&running.script, &running.tally);
            let messages = tally.delivered - before.0;
            let delivered = Delivered {
                messages: (!script.grants.in_bytes).then_some(messages),
                bytes: tally.bytes - before.1,
            };
            *before = (tally.delivered, tally.bytes);
            sample.delivered.insert(script.name.clone(), delivered);
        }
        for (at, (name, node)) in nodes.enumerate() {
            if self.counters.len() == at {
                self.counters.push(BTreeMap::new());
            }
            let before = &mut self.counters[at];
            let mut grown = BTreeMap::new();
            for (counter, value) in node.counters() {
                let known = before.get(&counter).copied().unwrap_or(0);
                if value > known {
                    grown.insert(plain(&counter).to_string(), value - known);
                    before.insert(counter, value);
                }
            }
            if !grown.is_empty() {
                sample.counters.insert(name.to_string(), grown);
            }
        }
        sample
    }
}
