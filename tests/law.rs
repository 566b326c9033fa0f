//! No rewrite and no pass makes a workload over 2 % longer than without it.
//!
//! In: two stacks of `bench/`, some of their workloads, and passes that change these much. With
//! `--ignored`, as `make soak` runs it: all stacks, workloads, rewrites and passes. Out: breaches
//! of the law that `bench/law.toml` does not have, and its rows that are not true. With other tools
//! than those of that file, the figures are not compared.

use stackloom::passes::Passes;
use stackloom::tool::bench::law::ablation::{self, Off, Places};
use stackloom::tool::bench::law::exceptions::{Exceptions, Verdict};
use stackloom::tool::bench::law::workloads::subjects;
use stackloom::tool::compiler::Options;
use stackloom::tool::counting;
use std::path::Path;
use std::process::Command;

/// Runs `loom bench law` in the source tree, and fails if the law is broken.
fn keeps_the_law(words: &[&str]) {
    let mut loom = Command::new(env!("CARGO_BIN_EXE_loom"));
    loom.current_dir(env!("CARGO_MANIFEST_DIR"));
    let done = loom.args(["bench", "law", "--strict"]).args(words).output();
    let done = done.expect("loom runs");
    let [result, note] = [&done.stdout, &done.stderr].map(|said| String::from_utf8_lossy(said));
    let absent = ["figures are not compared", "valgrind is not installed"];
    if absent.iter().any(|said| note.contains(said)) {
        println!("skipped: {note}");
        return;
    }
    println!("{result}");
    assert!(done.status.success(), "{note}\n{result}");
    assert!(result.contains("with all"), "{result}");
}

#[test]
fn no_pass_makes_a_datagram_longer() {
    let passes = "form-fast-path,expect-header,rare-ways,sink";
    keeps_the_law(&["--stacks", "udp-offloaded", "--passes", passes]);
}

#[test]
fn no_pass_makes_a_segment_or_a_connection_longer() {
    keeps_the_law(&[
        "--stacks",
        "traffic-offloaded",
        "--workloads",
        "base,churn",
        "--passes",
        "form-fast-path,hot-path",
    ]);
}

#[test]
#[ignore = "it takes an hour: `make soak` runs it"]
fn no_pass_makes_any_workload_longer() {
    keeps_the_law(&[]);
}

/// The planted pass undoes all others, so it makes each datagram longer.
#[test]
fn a_pass_that_makes_a_datagram_longer_is_found() {
    if !counting::can_count() {
        return;
    }
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("bench");
    let work = tempfile::tempdir().expect("a folder");
    let places = Places {
        folder: &folder,
        keep: work.path(),
        work: work.path(),
        say: &|_| {},
    };
    let planted = Off {
        name: "planted".to_string(),
        with: Options {
            passes: Passes::NONE,
            ..Options::default()
        },
        without: Options::default(),
    };
    let all = subjects(&folder);
    let subject = all.iter().find(|one| one.name == "udp-offloaded");
    let subject = subject.expect("the stack exists");
    let found = ablation::measured(&places, subject, &[planted]).expect("it is counted");
    let [effect] = &found.effects[..] else {
        panic!("there is one workload");
    };
    assert!(effect.percent() > 30.0, "{effect:?}");
    let exceptions = Exceptions::default();
    let verdict = exceptions.verdict("udp-offloaded", effect);
    assert_eq!(verdict, Verdict::Broken);
}
