//! What happened in a network, and whether all of it adds up.
//!
//! In: a network that has run. Out: its nodes, ways and applications in numbers, what their
//! scripts expected in vain, and each sum that is wrong: then it is the simulator, or a stack,
//! that loses count.

use super::application::{Amount, Running, Step, Tally};
use super::link::Counts;
use super::{Event, Network};

/// What happened.
#[derive(Clone, Debug, serde::Serialize)]
pub struct Outcome {
    /// When it ended.
    pub time_ns: u64,
    /// Frames that left a node.
    pub frames: u64,
    /// Each node.
    pub nodes: Vec<NodeOutcome>,
    /// Each way of each link.
    pub ways: Vec<WayOutcome>,
    /// Each application that sent or was sent anything.
    pub applications: Vec<ApplicationOutcome>,
    /// What scripts expected, and did not come to pass.
    pub failures: Vec<String>,
    /// What does not add up.
    pub mismatches: Vec<String>,
}

/// What happened at a node.
#[derive(Clone, Debug, serde::Serialize)]
pub struct NodeOutcome {
    /// Its name.
    pub name: String,
    /// Frames that came to it.
    pub given: u64,
    /// Those for which it had no buffer.
    pub refused: u64,
    /// Those that were longer than its buffers.
    pub cut: u64,
    /// Frames that it sent.
    pub taken: u64,
    /// Buffers at the start.
    pub buffers: usize,
    /// Buffers at the end.
    pub free_buffers: usize,
    /// What it counted itself.
    pub counters: Vec<(String, u64)>,
}

/// What happened on a way.
#[derive(Clone, Debug, serde::Serialize)]
pub struct WayOutcome {
    /// The link.
    pub link: String,
    /// The node where it begins.
    pub from: String,
    /// The node where it ends.
    pub to: String,
    /// The fates of its frames.
    pub counts: Counts,
    /// Frames that are still under way.
    pub under_way: u64,
}

/// The outcome of an application, counted in messages, or in bytes where credit counts bytes.
#[derive(Clone, Debug, serde::Serialize)]
pub struct ApplicationOutcome {
    /// Its name.
    pub name: String,
    /// Its node.
    #[serde(skip)]
    pub node: usize,
    /// The unit of the counts: `messages` or `bytes`.
    pub unit: &'static str,
    /// Messages that it sent.
    pub sent: u64,
    /// Messages that its stack did not take.
    pub refused: u64,
    /// Messages of its own that came up nowhere else.
    pub missing: u64,
    /// Different messages of others that came.
    pub delivered: u64,
    /// Different messages of its own that came back.
    pub answered: u64,
    /// Messages that came once more.
    pub repeated: u64,
    /// Messages that came behind a newer one of the same sender.
    pub disordered: u64,
    /// Messages that nobody sent so.
    pub damaged: u64,
    /// What it was told.
    pub notices: u64,
    /// Bytes of what was delivered.
    pub bytes: u64,
    /// From when the first of it was sent until the last came.
    pub took_ns: u64,
    /// Bits in a second, from when the first message was sent until the last one came.
    pub throughput: u64,
    /// How long messages were under way, if any came.
    pub latency: Option<Span>,
    /// How long answers took, if any came.
    pub round_trip: Option<Span>,
}

/// Times: the least, the one in the middle, and the most.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Span {
    /// The least.
    pub least_ns: u64,
    /// As many are below as above.
    pub median_ns: u64,
    /// The most.
    pub most_ns: u64,
}

impl Span {
    /// Of all these.
    pub fn of(mut times_ns: Vec<u64>) -> Option<Span> {
        let middle = times_ns.len().checked_sub(1)? / 2;
        let (below, median_ns, above) = times_ns.select_nth_unstable(middle);
        let median_ns = *median_ns;
        Some(Span {
            least_ns: below.iter().copied().min().unwrap_or(median_ns),
            median_ns,
            most_ns: above.iter().copied().max().unwrap_or(median_ns),
        })
    }
}

impl Outcome {
    /// The counter of a node; none if it has none of this name.
    pub fn counter(&self, node: usize, name: &str) -> Option<u64> {
        let counters = &self.nodes[node].counters;
        let found = counters.iter().find(|(known, _)| plain(known) == name);
        found.map(|(_, value)| *value)
    }
}

/// The name of a counter as people write it.
pub(super) fn plain(counter: &str) -> &str {
    counter.strip_prefix("count ").unwrap_or(counter)
}

impl Network<'_> {
    /// What happened. The stacks are of no use any more then.
    pub fn outcome(&mut self) -> Outcome {
        let mut under_way = vec![0; self.lanes.len()];
        for scheduled in &self.events {
            if let Event::Arrive(lane, _) = &scheduled.0.event {
                under_way[*lane] += 1;
            }
        }
        let mut mismatches = Vec::new();
        let mut ways = Vec::new();
        for (lane, under_way) in self.lanes.iter().zip(under_way) {
            let way = WayOutcome {
                link: self.links[lane.link].name.clone(),
                from: self.nodes[lane.from].name.clone(),
                to: self.nodes[lane.to.0].name.clone(),
                counts: lane.way.counts(),
                under_way,
            };
            if let Some(wrong) = lane.way.mismatch(under_way) {
                let WayOutcome { link, from, to, .. } = &way;
                mismatches.push(format!("link {link}, from {from} to {to}: {wrong}"));
            }
            ways.push(way);
        }
        let mut nodes = Vec::new();
        for node in &mut self.nodes {
            let outcome = NodeOutcome {
                name: node.name.clone(),
                given: node.given,
                refused: node.refused,
                cut: node.cut,
                taken: node.taken,
                buffers: node.stack.buffers(),
                free_buffers: node.stack.take_buffers(),
                counters: node.stack.counters(),
            };
            let wrong = outcome.mismatch();
            mismatches.extend(wrong.map(|wrong| format!("node {}: {wrong}", outcome.name)));
            nodes.push(outcome);
        }
        let failures = self.applications.iter().flat_map(Running::in_vain);
        Outcome {
            time_ns: self.now_ns,
            frames: self.frames,
            failures: failures.collect(),
            applications: self.application_outcomes(),
            nodes,
            ways,
            mismatches,
        }
    }

    fn application_outcomes(&self) -> Vec<ApplicationOutcome> {
        let missing = self.ledger.missing();
        let mut outcomes = Vec::new();
        for (at, running) in self.applications.iter().enumerate() {
            let tally = &running.tally;
            let missing = match running.script.grants.in_bytes {
                true => self.streams.missing(at).1,
                false => missing.get(&at).map_or(0, |(_, missing)| *missing),
            };
            outcomes.push(ApplicationOutcome {
                name: running.script.name.clone(),
                node: running.script.node,
                unit: running.script.grants.unit(),
                sent: tally.sent,
                refused: tally.refused,
                missing,
                delivered: tally.delivered,
                answered: tally.answered,
                repeated: tally.repeated,
                disordered: tally.disordered,
                damaged: tally.damaged,
                notices: tally.notices,
                bytes: tally.bytes,
                took_ns: tally.took_ns(),
                throughput: tally.throughput(),
                latency: Span::of(tally.latencies_ns.clone()),
                round_trip: Span::of(tally.round_trips_ns.clone()),
            });
        }
        outcomes
    }
}

impl NodeOutcome {
    /// What does not add up, if anything.
    pub fn mismatch(&self) -> Option<String> {
        let counter = |name: &str| {
            let found = self.counters.iter().find(|(known, _)| known == name);
            found.map_or(0, |(_, value)| *value)
        };
        let (came, went) = (counter("frames_in"), counter("frames_out"));
        let (given, taken) = (self.given - self.refused, self.taken);
        if came != given {
            return Some(format!("{given} frames came to it, and it counted {came}"));
        }
        if went != taken {
            return Some(format!("{taken} frames left it, and it counted {went}"));
        }
        let fates = ["delivered", "consumed", "merged", "held"].map(counter);
        let dropped = self.counters.iter().filter(|(name, _)| {
            let is_of_own = name.starts_with("unsent ") || name.starts_with("count ");
            name.contains('.') && !is_of_own
        });
        let dropped: u64 = dropped.map(|(_, value)| value).sum();
        let fates = fates.iter().sum::<u64>() + dropped;
        (came != fates).then(|| format!("{came} frames came in, and {fates} had a fate"))
    }
}

impl Tally {
    fn took_ns(&self) -> u64 {
        self.last_ns.saturating_sub(self.first_ns.unwrap_or(0))
    }

    fn throughput(&self) -> u64 {
        let took_ns = self.took_ns();
        let bits = u128::from(self.bytes) * 8 * 1_000_000_000;
        let each_second = bits.checked_div(u128::from(took_ns)).unwrap_or(0);
        u64::try_from(each_second).unwrap_or(u64::MAX)
    }
}

impl Running {
    /// What it expected in vain, with its name.
    fn in_vain(&self) -> Vec<String> {
        let mut failures = self.failures.clone();
        if let Some(Step::Stream { amount, .. }) = self.script.steps.get(self.at) {
            match amount {
                Amount::Bytes(bytes) => failures.push(format!(
                    "it was to stream {bytes} bytes, and {} were left when the run ended{}",
                    self.rest,
                    if self.was_granted {
                        ""
                    } else {
                        ": its port never told `grant_sends`"
                    }
                )),
                Amount::Time(_) => {}
            }
        }
        if let (Some(Step::Expect { count, heard, .. }), Some(_)) =
            (self.script.steps.get(self.at), self.until_ns)
        {
            let (came, what) = (self.came(heard), self.what(heard));
            failures.push(format!(
                "it expected {count} {what}, and {came} had come when the run ended"
            ));
        }
        let name = &self.script.name;
        let failures = failures.into_iter();
        failures.map(|reason| format!("{name}: {reason}")).collect()
    }
}
