//! The prover agrees with each pass, and finds planted faults.
//!
//! In: `passes/PASS.ir`, a module before and behind each pass; the smallest stack; and the wrong
//! variants of `passes/planted.rs`. Out: `prove/verdicts.txt`, a line for each function that a pass
//! has changed, and `prove/faults.txt`, a line for each fault. With BLESS=1 both are written anew.
//! All of it needs Z3, as `packages.txt` says; without it these tests fail.

#[path = "prove/cases.rs"]
mod cases;
#[allow(dead_code, reason = "other tests use the rest")]
#[path = "passes/planted.rs"]
mod planted;
#[allow(dead_code, reason = "other tests use the rest")]
#[path = "passes/random.rs"]
mod random;

use stackloom::ir::Module;
use stackloom::ir::text::read;
use stackloom::passes::fast::form_fast_path;
use stackloom::passes::{PASSES, Pass};
use stackloom::prove::{Asked, Judged, Solver, Verdict, prove};
use stackloom::tool::prove::z3;
use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

const BECOMES: &str = "\n; becomes\n\n";

/// Seconds for each question.
const TIMEOUT: u64 = 20;

/// A fault is tried on so many random modules.
const RANDOM: u64 = 8;

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests")
}

fn solver() -> Box<Solver<'static>> {
    z3::solver(TIMEOUT).unwrap_or_else(|failure| panic!("{}", failure.message))
}

fn module(text: &str) -> Module {
    read(text).unwrap_or_else(|mistake| panic!("{mistake}\n{text}"))
}

fn compared(before: &Module, after: &Module, solver: &mut Solver<'_>) -> Vec<Judged> {
    let asked = Asked {
        timeout_ms: 1000 * TIMEOUT,
        states: &[],
    };
    prove(before, after, asked, solver, &mut |_| true)
}

fn word(verdict: &Verdict) -> String {
    match verdict {
        Verdict::SameTerms => "proved by terms".to_string(),
        Verdict::Solved => "proved by Z3".to_string(),
        Verdict::Differs(..) => "differs".to_string(),
        Verdict::Undecided(why) => format!("undecided: {why}"),
    }
}

/// Compares a text with a file, or writes the file.
fn is_blessed(name: &str, text: &str) {
    let path = folder().join("prove").join(name);
    if env::var_os("BLESS").is_some() {
        fs::create_dir_all(folder().join("prove")).expect("a folder can be made");
        return fs::write(&path, text).expect("a file can be written");
    }
    let expected = fs::read_to_string(&path).expect("the file is there");
    assert_eq!(text, expected, "{name}");
}

/// The modules of the file of a pass.
fn modules(pass: &Pass) -> (Module, Module) {
    let path = folder().join("passes").join(format!("{}.ir", pass.name));
    let text = fs::read_to_string(path).expect("each pass has a file");
    let (before, after) = text.split_once(BECOMES).expect("it has two parts");
    (module(before), module(after))
}

#[test]
fn no_function_differs_behind_its_pass() {
    let mut solver = solver();
    let mut text = String::new();
    for pass in PASSES {
        let (before, after) = modules(&pass);
        for Judged {
            function, verdict, ..
        } in compared(&before, &after, &mut *solver)
        {
            assert!(!matches!(verdict, Verdict::Differs(..)), "{verdict:?}");
            text += &format!("{}: {function}: {}\n", pass.name, word(&verdict));
        }
    }
    is_blessed("verdicts.txt", &text);
}

/// The modules on which a fault is tried: one that has much, that of its pass, and random ones.
fn tried(name: &str) -> Vec<Module> {
    let pass = PASSES.iter().find(|pass| pass.name == name);
    let pass = pass.unwrap_or_else(|| panic!("there is no pass {name}"));
    let random = (0..RANDOM).map(random::module);
    [planted::small(), modules(pass).0]
        .into_iter()
        .chain(random)
        .collect()
}

#[test]
fn planted_faults_are_found() {
    let mut solver = solver();
    let mut text = String::new();
    for (name, mistake, finder, variant) in planted::FAULTS {
        let pass = PASSES.iter().find(|pass| pass.name == *name);
        let pass = pass.unwrap_or_else(|| panic!("there is no pass {name}"));
        let mut found = "no function differs".to_string();
        for before in tried(name) {
            let mut after = before.clone();
            variant(&mut after, pass.run);
            if stackloom::ir::verify::verify(&after).is_err() {
                found = "refused by the verifier".to_string();
                break;
            }
            let judged = compared(&before, &after, &mut *solver);
            let is_wrong = |one: &&Judged| matches!(one.verdict, Verdict::Differs(..));
            if let Some(one) = judged.iter().find(is_wrong) {
                found = format!("{} differs", one.function);
                break;
            }
            let is_open = |one: &&Judged| matches!(one.verdict, Verdict::Undecided(_));
            if let Some(one) = judged.iter().find(is_open) {
                found = format!("{}: {}", one.function, word(&one.verdict));
            }
        }
        text += &format!("{name}: {mistake}: {finder:?}; prover: {found}\n");
    }
    is_blessed("faults.txt", &text);
}

#[test]
fn the_right_passes_find_nothing_in_the_module_of_faults() {
    let mut solver = solver();
    let mut before = planted::small();
    for pass in PASSES {
        let mut after = before.clone();
        (pass.run)(&mut after);
        for Judged {
            function, verdict, ..
        } in compared(&before, &after, &mut *solver)
        {
            let differs = matches!(verdict, Verdict::Differs(..));
            assert!(!differs, "{}: {function}: {verdict:?}", pass.name);
        }
        if pass.name == "straighten" {
            form_fast_path::run(&mut after);
        }
        before = after;
    }
}

#[test]
fn a_counterexample_names_inputs_and_results() {
    let text = "stack small\nfn f(%a: i32) -> i32 {\n  return (add %a, 1)\n}\n";
    let (before, after) = (module(text), module(&text.replace("1)", "2)")));
    let judged = compared(&before, &after, &mut *solver());
    let [
        Judged {
            verdict: Verdict::Differs(found),
            ..
        },
    ] = &judged[..]
    else {
        panic!("{judged:?}");
    };
    let lines = &found.lines;
    assert!(lines[0].starts_with("argument 0 = 0x"), "{lines:?}");
    let is_result = |line: &String| line.starts_with("result 0: ") && line.contains(" before, ");
    assert!(lines.iter().any(is_result), "{lines:?}");
}

/// A module with one reaction to frames, which has these lines.
fn reaction(lines: &str) -> Module {
    let text = "stack small\n\nheadroom 64\n\nstarts starts\n\nkind layer of small {\n  \
                field round: i32\n}\n\nlink wire {\n  arrives arrives\n}\n\n\
                fn starts() of small {\n  return\n}\n\n\
                event fn later(%n: i32) of small {\n  \
                store layer.round (instance layer 0), %n\n  return\n}\n\n\
                event fn arrives(%m: msg) of small {\n";
    module(&format!("{text}{lines}}}\n"))
}

fn verdict(before: &str, after: &str) -> Verdict {
    let judged = compared(&reaction(before), &reaction(after), &mut *solver());
    let mut all = judged.into_iter();
    let one = all.find(|one| one.function == "arrives");
    one.expect("the reaction has changed").verdict
}

#[test]
fn the_order_of_events_and_outputs_is_compared() {
    let tail = "tail link wire(%m)\n";
    let first = format!("queue.front later(1)\nqueue.front later(2)\n{tail}");
    let second = format!("queue.front later(2)\nqueue.front later(1)\n{tail}");
    let found = verdict(&first, &second);
    assert!(matches!(found, Verdict::Differs(_)), "{found:?}");
    let together = format!("queue.front later(2), later(1)\n{tail}");
    assert_eq!(verdict(&first, &together), Verdict::SameTerms);
    let queued = "queue.front later(1)\nqueue.front link wire(%m)\nreturn\n";
    let handed = "queue.front later(1)\ntail link wire(%m)\n";
    let found = verdict(queued, handed);
    let Verdict::Differs(found) = found else {
        panic!("{found:?}");
    };
    // The next event is the same, but an event from the agenda takes a step more.
    let is_step = |line: &String| line == "steps: 0x2 before, 0x1 behind";
    assert!(found.lines.iter().any(is_step), "{found:?}");
    assert_eq!(found.parts.len(), 1, "{found:?}");
    let behind = "queue.front link wire(%m)\nqueue.front later(1)\nreturn\n";
    let found = verdict(queued, behind);
    assert!(matches!(found, Verdict::Differs(_)), "{found:?}");
}

fn loom(arguments: &[&str]) -> (Option<i32>, String, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_loom"))
        .args(arguments)
        .output()
        .expect("loom runs");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (
        output.status.code(),
        text(&output.stdout),
        text(&output.stderr),
    )
}

/// Small stacks, which take a few seconds together.
const SMALL: &[&str] = &[
    "bench/swap.loom",
    "examples/ping/ping.loom",
    "examples/radio/radio.loom",
    "examples/radio/two_ways.loom",
    "examples/stop_and_wait/stop_and_wait.loom",
    "examples/tagged/tagged.loom",
    "tests/c_agrees/stacks/coders.loom",
    "tests/c_agrees/stacks/cut.loom",
    "tests/c_agrees/stacks/families.loom",
    "tests/c_agrees/stacks/freeing.loom",
    "tests/c_agrees/stacks/letters.loom",
    "tests/c_agrees/stacks/nothing.loom",
    "tests/c_agrees/stacks/numbered.loom",
    "tests/c_agrees/stacks/passing.loom",
    "tests/c_agrees/stacks/staying.loom",
    "tests/c_agrees/stacks/taking.loom",
    "tests/c_agrees/stacks/watching.loom",
];

#[test]
fn small_stacks_are_proved() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    for stack in SMALL {
        let path = root.join(stack).display().to_string();
        let (status, table, says) = loom(&["prove", &path, "--timeout", "20"]);
        assert_eq!(status, Some(0), "{stack}\n{table}{says}");
        let rows = table.lines().take_while(|line| !line.is_empty());
        assert_eq!(rows.count(), 1 + PASSES.len(), "{stack}\n{table}");
        let assumed = "It assumes that events and outputs find room";
        assert!(table.contains(assumed), "{stack}\n{table}");
    }
}

#[test]
fn a_missing_solver_is_said() {
    let output = Command::new(env!("CARGO_BIN_EXE_loom"))
        .args(["prove", "none.loom"])
        .env("PATH", "")
        .output()
        .expect("loom runs");
    assert_eq!(output.status.code(), Some(2));
    let says = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(says.contains("install the Debian package `z3`"), "{says}");
}
