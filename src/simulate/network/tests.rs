//! A network of nodes that do next to nothing: what is sent at a port is a frame, and back.

use super::application::{Application, Grants, Heard, Step};
use super::driven::{Address, Driven, Intake, Output, Told};
use super::link::Faults;
use super::link::noise::BitErrors;
use super::outcome::Outcome;
use super::{End, Link, Network, Plan, Stuck, Watch};
use crate::simulate::value::Datum;
use std::collections::VecDeque;

/// A node with a port on each link; a planted fault may make it miscount.
#[derive(Default)]
struct Wire {
    ready: VecDeque<Output>,
    came: u64,
    went: u64,
    last: usize,
    /// How many frames it forgets to count.
    miscounts: u64,
    /// Whether it answers each frame by itself, for ever.
    babbles: bool,
}

impl Driven for Wire {
    fn input(&mut self, link: usize, frame: &[u8], _now_ns: u64) -> Intake {
        self.came += 1;
        let bytes = frame.to_vec();
        self.ready.push_back(match self.babbles {
            true => Output::Frame { link, bytes },
            false => Output::Deliver {
                port: link,
                session: 0,
                bytes,
            },
        });
        self.went += u64::from(self.babbles);
        Intake::Taken
    }

    fn next(&mut self) -> Option<Output> {
        let output = self.ready.pop_front();
        if let Some(Output::Deliver { port, .. }) = &output {
            self.last = *port;
        }
        output
    }

    fn deadline_ns(&self) -> Option<u64> {
        None
    }

    fn expire(&mut self, _now_ns: u64) {}

    fn send(&mut self, to: Address, bytes: &[u8], _now_ns: u64) -> bool {
        self.went += 1;
        let (link, bytes) = (to.port, bytes.to_vec());
        self.ready.push_back(Output::Frame { link, bytes });
        true
    }

    fn answer(&mut self, bytes: &[u8], now_ns: u64) -> bool {
        let to = Address {
            port: self.last,
            session: 0,
            attributes: None,
        };
        self.send(to, bytes, now_ns)
    }

    fn hears_carrier(&self) -> bool {
        true
    }

    fn carrier(&mut self, link: usize, up: bool, _now_ns: u64) {
        self.ready.push_back(Output::Notice {
            port: link,
            session: 0,
            told: Told::Notice(0),
            arguments: vec![Datum::of_bool(up)],
        });
    }

    fn counters(&self) -> Vec<(String, u64)> {
        let came = self.came - self.miscounts.min(self.came);
        let counters = [
            ("frames_in", came),
            ("frames_out", self.went),
            ("delivered", came),
        ];
        counters
            .map(|(name, value)| (name.to_string(), value))
            .to_vec()
    }

    fn buffers(&self) -> usize {
        1
    }

    fn take_buffers(&mut self) -> usize {
        1
    }
}

/// Writes down when which frame passed where.
#[derive(Default)]
struct Log(Vec<(u64, usize, bool, Vec<u8>)>);

impl Watch for Log {
    fn frame(&mut self, now_ns: u64, node: usize, _link: usize, is_out: bool, bytes: &[u8]) {
        self.0.push((now_ns, node, is_out, bytes.to_vec()));
    }

    fn goes_on(&mut self, _now_ns: u64, _frames: u64) -> bool {
        true
    }
}

fn script(name: &str, node: usize, steps: Vec<Step>) -> Application {
    Application {
        name: name.to_string(),
        node,
        port: 0,
        grants: Grants::default(),
        steps,
    }
}

fn send(count: u64) -> Step {
    Step::Send {
        count,
        least: 4,
        most: 90,
        every_ns: 1_000_000,
        attributes: None,
    }
}

/// Nodes on one link, all with the same faults.
fn plan(applications: Vec<Application>, faults: Faults, seed: u64) -> Plan {
    let nodes = applications.iter().map(|one| one.node).max().unwrap_or(0) + 1;
    let end = |node| End {
        node,
        link: 0,
        faults: faults.clone(),
    };
    Plan {
        seed,
        links: vec![Link {
            name: "air".to_string(),
            ends: (0..nodes).map(end).collect(),
        }],
        applications,
        until_ns: None,
        sample_ns: None,
    }
}

fn run(plan: Plan, mut change: impl FnMut(usize, &mut Wire)) -> (Result<Outcome, Stuck>, Log) {
    let count = plan.links[0].ends.len();
    let stacks = (0..count).map(|node| {
        let mut wire = Wire::default();
        change(node, &mut wire);
        let wire: Box<dyn Driven> = Box::new(wire);
        (format!("node{node}"), wire, 1)
    });
    let mut log = Log::default();
    let mut network = Network::new(stacks.collect(), plan);
    let ran = network.run(&mut log);
    (ran.map(|()| network.outcome()), log)
}

fn all_faults() -> Faults {
    Faults {
        delay_ns: 3_000_000,
        jitter_ns: 500_000,
        rate: Some(2_000_000),
        loss: 0.1,
        burst: 2.0,
        duplicate: 0.1,
        reorder: 0.1,
        corrupt: 0.05,
        bit_errors: BitErrors::constant(1e-4),
        ..Faults::default()
    }
}

#[test]
fn what_is_sent_is_echoed_and_adds_up() {
    let expects = Step::Expect {
        count: 50,
        heard: None,
        within_ns: 1_000_000_000,
    };
    let scripts = vec![
        script("one", 0, vec![send(50), expects]),
        script("other", 1, vec![Step::Echo]),
    ];
    let faults = Faults {
        delay_ns: 2_000_000,
        ..Faults::default()
    };
    let (outcome, _) = run(plan(scripts, faults, 1), |_, _| {});
    let outcome = outcome.expect("it ends");
    assert!(
        outcome.failures.is_empty() && outcome.mismatches.is_empty(),
        "{outcome:?}"
    );
    let [one, other] = &outcome.applications[..] else {
        panic!("two applications");
    };
    assert_eq!((one.sent, one.answered, one.missing), (50, 50, 0));
    assert_eq!((other.delivered, other.disordered), (50, 0));
    assert_eq!(other.latency.expect("it came").median_ns, 2_000_000);
    assert_eq!(one.round_trip.expect("it came back").most_ns, 4_000_000);
}

#[test]
fn the_same_seed_does_the_same_and_another_does_not() {
    let scripts = || {
        vec![
            script("one", 0, vec![send(500)]),
            script("other", 1, vec![Step::Echo]),
        ]
    };
    let log = |seed| run(plan(scripts(), all_faults(), seed), |_, _| {}).1.0;
    assert_eq!(log(5), log(5));
    assert_ne!(log(5), log(6));
}

#[test]
fn all_faults_at_once_add_up_for_any_seed() {
    for seed in 0..20 {
        let scripts = vec![
            script("one", 0, vec![send(300)]),
            script("other", 1, vec![Step::Echo, send(300)]),
            script("third", 2, vec![]),
        ];
        let (outcome, _) = run(plan(scripts, all_faults(), seed), |_, _| {});
        let outcome = outcome.expect("it ends");
        assert!(
            outcome.mismatches.is_empty(),
            "{seed}: {:?}",
            outcome.mismatches
        );
        for one in &outcome.applications[..2] {
            assert!(one.missing < one.sent && one.delivered > 0, "{one:?}");
        }
        let one = &outcome.applications[0];
        assert!(
            one.answered > 0 && one.damaged > 0 && one.disordered > 0,
            "{one:?}"
        );
    }
}

#[test]
fn what_one_sends_on_a_bus_comes_to_all_others() {
    let scripts = vec![
        script("one", 0, vec![send(10)]),
        script("other", 1, vec![]),
        script("third", 2, vec![]),
    ];
    let (outcome, _) = run(plan(scripts, Faults::default(), 1), |_, _| {});
    let outcome = outcome.expect("it ends");
    let came: Vec<u64> = outcome
        .applications
        .iter()
        .map(|one| one.delivered)
        .collect();
    assert_eq!(came, [0, 10, 10]);
    assert_eq!(outcome.ways.len(), 6);
}

#[test]
fn what_does_not_come_in_time_is_a_failure() {
    let expects = Step::Expect {
        count: 3,
        heard: None,
        within_ns: 1_500_000,
    };
    let scripts = vec![
        script("one", 0, vec![send(2)]),
        script("other", 1, vec![expects]),
    ];
    let (outcome, _) = run(plan(scripts, Faults::default(), 1), |_, _| {});
    let failures = outcome.expect("it ends").failures;
    assert_eq!(
        failures,
        ["other: expected 3 messages, but 2 arrived in time"]
    );
}

#[test]
fn a_run_that_is_cut_off_knows_what_is_under_way() {
    let scripts = vec![script("one", 0, vec![send(10)]), script("other", 1, vec![])];
    let faults = Faults {
        delay_ns: 4_500_000,
        ..Faults::default()
    };
    let mut plan = plan(scripts, faults, 1);
    plan.until_ns = Some(6_000_000);
    let (outcome, _) = run(plan, |_, _| {});
    let outcome = outcome.expect("it ends");
    assert!(outcome.mismatches.is_empty(), "{outcome:?}");
    let way = &outcome.ways[0];
    assert_eq!(
        (way.counts.sent, way.counts.arrived, way.under_way),
        (7, 2, 5)
    );
}

#[test]
fn a_node_that_miscounts_is_found() {
    let scripts = vec![script("one", 0, vec![send(5)]), script("other", 1, vec![])];
    let (outcome, _) = run(plan(scripts, Faults::default(), 1), |node, wire| {
        wire.miscounts = node as u64;
    });
    let wrong = "node node1: 5 frames came to it, and it counted 4";
    assert_eq!(outcome.expect("it ends").mismatches, [wrong]);
}

#[test]
fn what_would_never_end_at_one_time_is_stopped() {
    let scripts = vec![script("one", 0, vec![send(1)]), script("other", 1, vec![])];
    let (outcome, _) = run(plan(scripts, Faults::default(), 1), |_, wire| {
        wire.babbles = true;
    });
    assert_eq!(outcome.map(|_| ()), Err(Stuck::Instant { now_ns: 0 }));
}

#[test]
fn an_outage_is_told_to_who_hears_no_one_any_more() {
    let expects = |up: bool, count| Step::Expect {
        count,
        heard: Some(Heard {
            name: "carrier".to_string(),
            told: Told::Notice(0),
            arguments: vec![(0, Datum::of_bool(up))],
        }),
        within_ns: 100,
    };
    let scripts = vec![
        script("one", 0, vec![expects(false, 1), expects(true, 1)]),
        script("other", 1, vec![expects(false, 1)]),
    ];
    let mut plan = plan(scripts, Faults::default(), 1);
    plan.links[0].ends[1].faults.outages_ns = vec![10..30, 30..50, 70..80];
    let (outcome, _) = run(plan, |_, _| {});
    let outcome = outcome.expect("it ends");
    let wrong = "other: expected 1 carrier, but 0 arrived in time";
    assert_eq!(outcome.failures, [wrong]);
    assert_eq!(outcome.applications[0].notices, 4);
    assert_eq!(
        outcome.applications[1].notices, 0,
        "it is heard no more, but hears"
    );
}
