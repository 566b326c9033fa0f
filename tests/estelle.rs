//! The Estelle specifications of `examples/estelle`: their canonical form, their traces, properties
//! of their runs, and the rule of a computation step.
//!
//! `tests/estelle/traces` holds the trace of each for the choice `first` and three seeds. `BLESS=1`
//! writes them anew. `SEEDS=n` runs the properties for so many seeds, if fifty are too few.

#[path = "estelle/acceptor.rs"]
mod acceptor;
#[path = "estelle/compiled.rs"]
mod compiled;
#[path = "fixture/cores.rs"]
mod cores;
#[path = "estelle/faults.rs"]
mod faults;
#[path = "estelle/generated.rs"]
mod generated;
#[path = "estelle/outside.rs"]
mod outside;
#[path = "estelle/properties.rs"]
mod properties;
#[path = "estelle/random/mod.rs"]
mod random;
#[path = "estelle/remote.rs"]
mod remote;
#[path = "estelle/rule.rs"]
mod rule;
#[path = "estelle/runs.rs"]
mod runs;
#[path = "estelle/speed.rs"]
mod speed;

use runs::{EXAMPLES, Trace, program, root, run};
use stackloom::simulate::estelle::{Bounds, Choice, Course, Limits, Report, explore};
use stackloom::types::estelle::program::Program;
use std::{env, fs};

/// The length of a run.
const COURSE: Course = Course::of_steps(100_000);

/// The choices of the expected traces.
const SHOWN: [Choice; 4] = [
    Choice::First,
    Choice::Seed(1),
    Choice::Seed(2),
    Choice::Seed(3),
];

/// Runs a program for many seeds.
fn seeded(program: &Program) -> impl Iterator<Item = Trace> {
    let count = env::var("SEEDS").map_or(50, |count| count.parse().expect("a number"));
    (1..=count).map(|seed| run(program, Choice::Seed(seed), COURSE))
}

#[test]
fn specifications_are_in_their_canonical_form() {
    for example in &EXAMPLES {
        let name = example.name;
        assert_eq!(
            runs::formatted(name),
            runs::text(name),
            "run `loom fmt {name}.stl`"
        );
    }
}

#[test]
fn traces_are_the_expected_ones() {
    let mut differing = Vec::new();
    for example in &EXAMPLES {
        let program = program(example.name, example.constants);
        let shown = SHOWN.map(|choice| {
            let title = match choice {
                Choice::First => "first".to_string(),
                Choice::Seed(seed) => format!("seed {seed}"),
            };
            format!("--- {title}\n{}", run(&program, choice, COURSE).text())
        });
        let shown = shown.concat();
        let path = format!("{}/tests/estelle/traces/{}.txt", root(), example.name);
        if env::var_os("BLESS").is_some() {
            fs::write(&path, &shown).expect("the trace is written");
        }
        let expected = fs::read_to_string(&path).unwrap_or_default();
        let different = shown.lines().zip(expected.lines()).find(|(a, b)| a != b);
        if let Some((shown, expected)) = different {
            differing.push(format!("{path}:\n  {expected}\n  {shown}"));
        } else if shown != expected {
            differing.push(format!("{path} has another length"));
        }
    }
    assert!(
        differing.is_empty(),
        "BLESS=1 writes anew\n{}",
        differing.join("\n")
    );
}

#[test]
fn every_selection_keeps_the_rule_of_a_step() {
    let mut checked = 0;
    for example in &EXAMPLES {
        let program = program(example.name, example.constants);
        for choice in SHOWN {
            let trace = run(&program, choice, COURSE);
            for dump in trace.situations() {
                let json = serde_json::to_value(dump).expect("a situation becomes JSON");
                let breach = rule::breach_of_offers(&program, &json);
                let breach = breach.or_else(|| rule::breach(&json));
                assert_eq!(breach, None, "{}\n{json}", trace.title);
                checked += 1;
            }
        }
    }
    assert!(checked > 1000, "only {checked} situations");
}

#[test]
fn the_ball_of_pingpong_crosses_the_net() {
    let program = program("pingpong", &[]);
    properties::pingpong(&run(&program, Choice::First, COURSE));
    seeded(&program).for_each(|trace| properties::pingpong(&trace));
}

#[test]
fn the_alternating_bit_delivers_all_in_order() {
    let program = program("alternating", &[]);
    properties::alternating(&run(&program, Choice::First, COURSE));
    seeded(&program).for_each(|trace| properties::alternating(&trace));
}

#[test]
fn inres_transfers_over_any_medium() {
    let with = |quality| {
        program(
            "inres",
            &[("quality", quality), ("items", "3"), ("tries", "4")],
        )
    };
    let perfect = with("perfect");
    properties::inres_perfect(&run(&perfect, Choice::First, COURSE));
    seeded(&perfect).for_each(|trace| properties::inres_perfect(&trace));
    let dead = with("dead");
    properties::inres_dead(&run(&dead, Choice::First, COURSE));
    seeded(&dead).for_each(|trace| properties::inres_dead(&trace));
    seeded(&with("lossy")).for_each(|trace| properties::inres(&trace));
}

#[test]
fn the_stations_of_abracadabra_agree() {
    let program = program("abracadabra", &[("losses", "3")]);
    properties::abracadabra(&run(&program, Choice::First, COURSE));
    seeded(&program).for_each(|trace| properties::abracadabra(&trace));
}

#[test]
fn the_sliding_window_delivers_all_in_order() {
    let program = program("sliding", &[]);
    properties::sliding(&run(&program, Choice::First, COURSE));
    seeded(&program).for_each(|trace| properties::sliding(&trace));
}

#[test]
fn transport_reassembles_what_it_segments() {
    let program = program("transport0", &[]);
    properties::transport0(&run(&program, Choice::First, COURSE));
    seeded(&program).for_each(|trace| properties::transport0(&trace));
}

#[test]
fn sessions_exchange_legal_units() {
    for aborts in ["false", "true"] {
        let program = program("session", &[("aborts", aborts)]);
        properties::session(&run(&program, Choice::First, COURSE));
        seeded(&program).for_each(|trace| properties::session(&trace));
    }
}

#[test]
fn one_module_of_the_server_takes_each_request() {
    let program = program("server", &[("clients", "2"), ("requests", "5")]);
    properties::server(&run(&program, Choice::First, COURSE));
    seeded(&program).for_each(|trace| properties::server(&trace));
}

#[test]
fn the_generalised_stack_has_its_size_and_its_steps() {
    for (v, h, requests) in [(1, 1, 1), (1, 4, 5), (2, 2, 4), (3, 1, 7), (4, 4, 2)] {
        let constants = [v, h, requests, 2].map(|number: u64| number.to_string());
        let names = ["v", "h", "requests", "work"].into_iter();
        let constants = names.zip(constants.iter().map(String::as_str));
        let program = program("gpi", &constants.collect::<Vec<_>>());
        let trace = run(&program, Choice::First, COURSE);
        properties::gpi(&trace, v, requests as i64);
        let tree = &trace.situations().next().expect("it has a step").tree;
        let leaves = tree
            .children
            .iter()
            .filter(|child| child.children.is_empty());
        assert_eq!(
            leaves.count() as u64,
            (3 + 2 * h) * v,
            "b = m - 1, height 2"
        );
        let steps = 2 * requests + 4 * h + 2 + requests % 2;
        assert_eq!(trace.end().steps, steps, "{}", trace.title);
        if h < 3 {
            seeded(&program).for_each(|trace| properties::gpi(&trace, v, requests as i64));
        }
    }
}

#[test]
fn delays_end_within_their_bounds() {
    let program = program("clock", &[]);
    let first = run(&program, Choice::First, COURSE);
    properties::clock(&first);
    assert_eq!(first.times("clock.range", "due"), [2]);
    assert_eq!(first.times("clock.open", "due"), [1]);
    let mut ranges = Vec::new();
    for trace in seeded(&program) {
        properties::clock(&trace);
        ranges.extend(trace.times("clock.range", "due"));
    }
    assert!(
        (2..=5).all(|time| ranges.contains(&time)),
        "seeds reach all times"
    );
}

#[test]
fn attributes_say_which_modules_fire_in_a_step() {
    let program = program("attributes", &[]);
    properties::attributes(&run(&program, Choice::First, COURSE));
    seeded(&program).for_each(|trace| properties::attributes(&trace));
}

/// Explores all choices: none leads to a deadlock or a fault.
fn explored(name: &str, constants: &[(&str, &str)]) -> Report {
    let program = program(name, constants);
    let bounds = Bounds {
        situations: 2_000_000,
        limits: Limits::default(),
    };
    let report = explore(&program, None, bounds, &mut |_, _| true);
    let report = report.expect("no part of the examples is in C");
    assert!(report.is_complete, "{name}: {report}");
    assert_eq!(report.deadlocks, 0, "{name}: {report}");
    assert!(report.findings.is_empty(), "{name}: {report}");
    report
}

#[test]
fn no_choice_leads_to_a_deadlock_and_every_transition_fires() {
    let inres = [("quality", "lossy"), ("items", "2"), ("tries", "2")];
    let server = [("clients", "1"), ("requests", "5")];
    let reports = [
        (explored("alternating", &[]), 10_000),
        (explored("inres", &inres), 40_000),
        (explored("server", &server), 1_000),
    ];
    for (report, least) in reports {
        assert!(report.unreached.is_empty(), "{report}");
        assert!(report.situations > least, "{report}");
    }
}

#[test]
#[ignore = "it takes a minute; `make soak` runs it"]
fn no_choice_of_two_clients_leads_to_a_deadlock() {
    let report = explored("server", &[("clients", "2"), ("requests", "3")]);
    assert!(report.situations > 500_000, "{report}");
}
