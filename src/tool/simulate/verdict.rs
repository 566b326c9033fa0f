//! What people read of a run, and whether it has failed.
//!
//! In: the outcome of a network and its promises. Out: a page, or a line of JSON; and a failure,
//! with the command that repeats the run, if something did not add up or was not kept.

use super::promise::Promise;
use crate::simulate::network::outcome::{
    ApplicationOutcome, NodeOutcome, Outcome, Span, WayOutcome,
};
use crate::tool::failure::Failure;
use crate::tool::host::Report;
use crate::tool::page::{grouped, rate_text, table, time_text};
use serde_json::{Value, json};

/// What came of a run.
pub struct Verdict<'run> {
    /// What was simulated.
    pub network: String,
    /// With which seed.
    pub seed: u64,
    /// What happened.
    pub outcome: Outcome,
    /// What has to hold.
    pub promises: &'run [Promise],
    /// Whether each node can hold messages.
    pub holders: &'run [bool],
    /// Whether it was stopped before its end.
    pub stopped: bool,
    /// The command that does the same again.
    pub again: String,
}

impl Verdict<'_> {
    /// What people read.
    pub fn page(&self) -> String {
        let outcome = &self.outcome;
        let head = format!(
            "simulated   {}: {}, {} frames, seed {}\n",
            self.network,
            time_text(outcome.time_ns),
            grouped(outcome.frames),
            self.seed
        );
        let mut page = head;
        let sections = [
            ways(&outcome.ways),
            nodes(&outcome.nodes),
            counters(&outcome.nodes),
            applications("messages", &outcome.applications),
            applications("bytes", &outcome.applications),
            self.kept(),
        ];
        for section in sections.iter().filter(|section| !section.is_empty()) {
            page.push('\n');
            page += section;
        }
        page
    }

    /// A line for one of many runs.
    pub fn line(&self) -> String {
        let broken = self.broken();
        match broken.is_empty() {
            true => format!("seed {}: passed\n", self.seed),
            false => format!("seed {}: {}\n", self.seed, broken.join("; ")),
        }
    }

    /// Each promise, and what became of it.
    fn kept(&self) -> String {
        let mut text = String::new();
        for promise in self.promises {
            match promise.broken(&self.outcome) {
                None => text += &format!("passed      {}\n", promise.words),
                Some(seen) => text += &format!("failed      {}: {seen}\n", promise.words),
            }
        }
        text
    }

    /// One line of JSON.
    pub fn to_json(&self) -> String {
        let promises = self.promises.iter().map(|promise| {
            let seen = promise.broken(&self.outcome);
            json!({"promise": promise.words, "kept": seen.is_none(), "seen": seen})
        });
        let reports = self.outcome.nodes.iter().map(|node| {
            let report = report(node);
            let mut value = serde_json::to_value(&report).unwrap_or_default();
            value["name"] = json!(node.name);
            value["refused"] = json!(node.refused);
            value["cut"] = json!(node.cut);
            value["buffers"] = json!(node.buffers);
            value["free_buffers"] = json!(node.free_buffers);
            value
        });
        let broken = self.broken();
        json!({
            "network": self.network,
            "seed": self.seed,
            "time_ns": self.outcome.time_ns,
            "frames": self.outcome.frames,
            "nodes": reports.collect::<Vec<Value>>(),
            "ways": self.outcome.ways,
            "applications": self.outcome.applications,
            "promises": promises.collect::<Vec<Value>>(),
            "failures": broken,
            "again": self.again,
        })
        .to_string()
    }

    /// Whether the run has failed.
    pub fn judge(&self) -> Result<(), Failure> {
        let broken = self.broken();
        match broken.is_empty() {
            true => Ok(()),
            false => Err(Failure::refused(format!(
                "the run failed:\n  {}\nThis command repeats it:\n  {}",
                broken.join("\n  "),
                self.again
            ))),
        }
    }

    /// All that is wrong.
    fn broken(&self) -> Vec<String> {
        let outcome = &self.outcome;
        let mut broken = outcome.mismatches.clone();
        for (node, holds) in outcome.nodes.iter().zip(self.holders) {
            let (free, all) = (node.free_buffers, node.buffers);
            if !holds && free != all && !self.stopped {
                let name = &node.name;
                broken.push(format!(
                    "node {name}: only {free} of {all} buffers are free at the end"
                ));
            }
        }
        if self.stopped {
            broken.push("the run did not end".to_string());
        }
        broken.extend(outcome.failures.iter().cloned());
        for promise in self.promises {
            let seen = promise.broken(outcome);
            broken.extend(seen.map(|seen| format!("{}: {seen}", promise.words)));
        }
        broken
    }
}

fn report(node: &NodeOutcome) -> Report {
    let counters = node.counters.iter();
    let counters: Vec<_> = counters
        .map(|(name, value)| (name.as_str(), *value))
        .collect();
    Report::new(&counters)
}

fn ways(ways: &[WayOutcome]) -> String {
    let heads = [
        "link",
        "frames",
        "too long",
        "queue full",
        "outage",
        "lost",
        "overtaken",
        "twice",
        "corrupted",
        "bit errors",
        "damaged",
        "arrived",
        "in flight",
    ];
    let mut rows = vec![heads.map(String::from).to_vec()];
    for way in ways {
        let counts = &way.counts;
        let title = format!("  {}: {} to {}", way.link, way.from, way.to);
        let numbers = [
            counts.sent,
            counts.too_long,
            counts.queue_full,
            counts.outage,
            counts.lost,
            counts.reordered,
            counts.duplicated,
            counts.corrupted,
            counts.bit_errors,
            counts.damaged,
            counts.arrived,
            way.under_way,
        ];
        let numbers = numbers.into_iter().map(grouped);
        rows.push([title].into_iter().chain(numbers).collect());
    }
    table(&rows)
}

fn nodes(nodes: &[NodeOutcome]) -> String {
    let heads = [
        "node",
        "in",
        "out",
        "delivered",
        "consumed",
        "merged",
        "held",
        "dropped",
        "no room",
        "cut",
        "buffers",
    ];
    let mut rows = vec![heads.map(String::from).to_vec()];
    for node in nodes {
        let report = report(node);
        let numbers = [
            report.frames_in,
            report.frames_out,
            report.delivered,
            report.consumed,
            report.merged,
            report.held,
            report.dropped.values().sum(),
            node.refused,
            node.cut,
        ];
        let numbers = numbers.into_iter().map(grouped);
        let buffers = format!("{} of {}", node.free_buffers, node.buffers);
        let row = [format!("  {}", node.name)].into_iter().chain(numbers);
        rows.push(row.chain([buffers]).collect());
    }
    table(&rows)
}

/// What the layers counted: drops, messages of their own that were not sent, and the rest.
fn counters(nodes: &[NodeOutcome]) -> String {
    let mut rows = vec![["counted", ""].map(String::from).to_vec()];
    for node in nodes {
        let report = report(node);
        let dropped = report.dropped.iter().map(|it| ("dropped ", it));
        let unsent = report.unsent.iter().map(|it| ("unsent ", it));
        let counts = report.counts.iter().map(|it| ("", it));
        for (what, (name, count)) in dropped.chain(unsent).chain(counts) {
            rows.push(vec![
                format!("  {}: {what}{name}", node.name),
                grouped(*count),
            ]);
        }
    }
    match rows.len() {
        1 => String::new(),
        _ => table(&rows),
    }
}

/// Those that count in a unit.
fn applications(unit: &str, applications: &[ApplicationOutcome]) -> String {
    let heads = [
        unit,
        "sent",
        "refused",
        "missing",
        "delivered",
        "answered",
        "repeated",
        "out of order",
        "damaged",
        "latency",
        "round trip",
        "time",
        "throughput",
    ];
    let mut rows = vec![heads.map(String::from).to_vec()];
    let shown = |one: &&ApplicationOutcome| one.unit == unit && one.did_anything();
    for one in applications.iter().filter(shown) {
        let numbers = [
            one.sent,
            one.refused,
            one.missing,
            one.delivered,
            one.answered,
            one.repeated,
            one.disordered,
            one.damaged,
        ];
        let numbers = numbers.into_iter().map(grouped);
        let throughput = match one.throughput {
            0 => String::new(),
            throughput => rate_text(throughput),
        };
        let took = match unit == "bytes" && one.took_ns > 0 {
            true => time_text(one.took_ns),
            false => String::new(),
        };
        let times = [span(one.latency), span(one.round_trip), took, throughput];
        let row = [format!("  {}", one.name)].into_iter().chain(numbers);
        rows.push(row.chain(times).collect());
    }
    match rows.len() {
        1 => String::new(),
        _ => table(&rows),
    }
}

/// The least, the middle and the most.
fn span(span: Option<Span>) -> String {
    let Some(span) = span else {
        return String::new();
    };
    let times = [span.least_ns, span.median_ns, span.most_ns];
    if times == [times[0]; 3] {
        return time_text(times[0]);
    }
    times.map(time_text).join(" / ")
}

impl ApplicationOutcome {
    fn did_anything(&self) -> bool {
        let numbers = [
            self.sent,
            self.refused,
            self.delivered,
            self.answered,
            self.damaged,
        ];
        numbers.iter().any(|number| *number > 0)
    }
}
