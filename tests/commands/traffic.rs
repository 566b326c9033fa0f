//! bench traffic: its report, its recorded figures, and that the scripted client and the tests of
//! the TCP by hand find planted faults.

use super::shell::{Said, Shell};
use serde_json::Value;
use std::path::Path;
use std::process::Command;

/// All that our stack and the floor are compiled of; the sources of other peers are not there.
const FILES: [&str; 11] = [
    "traffic.loom",
    "traffic.c",
    "traffic/client.c",
    "traffic/client.h",
    "peers/floor/build.sh",
    "peers/floor/stack.c",
    "peers/floor/stack.h",
    "peers/floor/traffic.c",
    "peers/floor/wheel.h",
    "peers/floor/loads.h",
    "peers/floor/words.h",
];

const WORKLOADS: [&str; 14] = [
    "base", "lengths", "two", "hundred", "thousand", "order", "options", "window", "send", "echo",
    "rr", "rr100", "rrbig", "churn",
];

fn source(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("bench")
        .join(name);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn shell() -> Shell {
    let shell = Shell::new();
    for name in FILES {
        shell.write(&format!("bench/{name}"), source(name));
    }
    shell
}

/// Changes a file of the bench.
fn plant(shell: &Shell, name: &str, from: &str, to: &str) {
    let text = shell.read(&format!("bench/{name}"));
    assert!(text.contains(from), "{name} has no `{from}`");
    shell.write(&format!("bench/{name}"), text.replacen(from, to, 1));
}

fn traffic(shell: &Shell, words: &[&str]) -> Said {
    shell.loom(&[&["bench", "traffic", "--units", "20"], words].concat())
}

fn counts_here(said: &Said) -> bool {
    let counts = !said.note.contains("valgrind is not installed");
    if !counts {
        println!("skipped: {}", said.note);
    }
    counts
}

/// It takes 7 seconds, most of them to compile our stack.
#[test]
fn our_stack_and_the_floor_are_counted_and_what_is_missing_is_said() {
    let shell = shell();
    let only = "stackloom-off-O2,floor-off-O2,lwip-off-O2";
    let words = ["--json", "--workloads", "rr", "--only", only];
    let said = traffic(&shell, &[&words[..], &["--record"]].concat());
    if !counts_here(&said) {
        return;
    }
    assert_eq!(said.status, Some(0), "{said:?}");
    assert!(
        said.note.contains("no row for lwip lwip-off-O2"),
        "{said:?}"
    );
    let report: Value = serde_json::from_str(&said.result).expect("JSON");
    let rows = report["rows"].as_array().expect("rows are a list");
    let value = |who: &str, unit: &str| {
        let is_meant = |row: &&Value| row["who"] == who && row["unit"] == unit;
        let row = rows.iter().find(is_meant).expect("there is such a row");
        row["value"].as_f64().expect("a number")
    };
    assert_eq!(rows.len(), 4, "{report}");
    let count = |who: &str| value(who, "instructions");
    assert!((50.0..10_000.0).contains(&count("floor")), "{report}");
    assert!(count("stackloom") > count("floor"), "{report}");
    let frames = |who: &str| value(who, "frames");
    assert_eq!(frames("stackloom"), frames("floor"), "{report}");
    let recorded = shell.read("bench/figures.toml");
    assert!(recorded.contains("tools = \"gcc "), "{recorded}");
    let begin = "[traffic.stackloom-off-O2]\nrr = ";
    assert!(recorded.contains(begin), "{recorded}");
    assert!(!recorded.contains("floor"), "{recorded}");
}

#[test]
fn a_count_that_differs_is_found() {
    let shell = shell();
    let words = [
        "--strict",
        "--workloads",
        "base,echo",
        "--only",
        "floor-off-O2",
    ];
    let said = traffic(&shell, &[&words[1..], &["--json"]].concat());
    if !counts_here(&said) {
        return;
    }
    let report: Value = serde_json::from_str(&said.result).expect("JSON");
    let rows = report["rows"].as_array().expect("rows are a list").iter();
    let counts = rows.filter(|row| row["unit"] == "instructions");
    let counts: Vec<f64> = counts
        .map(|row| row["value"].as_f64().expect("a number"))
        .collect();
    let [base, echo] = counts[..] else {
        panic!("there are two workloads: {report}");
    };
    let recorded = |tools: &str, echo: f64| {
        let text = format!("{tools}[traffic.floor-off-O2]\nbase = {base}\necho = {echo}\n");
        shell.write("bench/figures.toml", text);
        traffic(&shell, &words)
    };
    let said = recorded("", echo);
    assert_eq!(said.status, Some(0), "{said:?}");
    assert!(said.result.contains("2 of 2 goals are met"), "{said:?}");
    // One instruction more for each unit, or less.
    for echo in [echo - 1.0, echo + 1.0] {
        let said = recorded("", echo);
        assert_eq!(said.status, Some(1), "{said:?}");
        let says = "missed goals: traffic floor-off-O2 echo, as recorded";
        assert!(said.note.contains(says), "{said:?}");
        assert!(said.result.contains("1 of 2 goals are met"), "{said:?}");
    }
    let said = recorded("tools = \"gcc 1\"\n", echo);
    let says = "bench/figures.toml was recorded with gcc 1, and here is gcc";
    assert!(said.note.contains(says), "{said:?}");
    assert_eq!(said.status, Some(3), "{said:?}");
}

#[test]
fn systems_that_are_not_given_the_same_bytes_are_not_compared() {
    let shell = shell();
    let takes = "floor_consumed(to, length);";
    plant(
        &shell,
        "peers/floor/traffic.c",
        takes,
        &format!("received += SUMS;\n    {takes}"),
    );
    let words = ["--workloads", "base", "--only", "floor-off-O2,floor-on-O2"];
    let said = traffic(&shell, &words);
    if !counts_here(&said) {
        return;
    }
    assert_eq!(said.status, Some(1), "{said:?}");
    let says = "floor floor-on-O2, base: bytes to the application";
    assert!(said.note.contains(says), "{said:?}");
}

#[test]
fn what_is_chosen_is_known_and_of_this_bench() {
    let shell = shell();
    for (words, says) in [
        (
            ["--workloads", "base,basis"],
            "there is no workload `basis`; the workloads are base",
        ),
        (
            ["--only", "floor"],
            "there is no program `floor`; the programs are stackloom-off-O2",
        ),
        (["--units", "0"], "0 is not in 1..=100000"),
    ] {
        let said = shell.loom(&[&["bench", "traffic"], &words[..]].concat());
        assert_eq!(said.status, Some(2), "{said:?}");
        assert!(said.note.contains(says), "{said:?}");
    }
    let said = shell.loom(&["bench", "udp", "--units", "1"]);
    assert_eq!(said.status, Some(2), "{said:?}");
    assert!(
        said.note.contains("only to `loom bench traffic`"),
        "{said:?}"
    );
}

/// Compiles C files of the bench into a program; all of it is checked.
fn compiled(shell: &Shell, program: &str, words: &[&str]) {
    let mut gcc = Command::new("gcc");
    gcc.current_dir(shell.path("bench"));
    gcc.args([
        "-std=gnu11",
        "-Wall",
        "-Wextra",
        "-Werror",
        "-O0",
        "-g",
        "-o",
    ]);
    gcc.arg(shell.path(program));
    gcc.args(["-fsanitize=address,undefined", "-fno-sanitize-recover=all"]);
    let done = gcc.args(words).output().expect("gcc runs");
    assert!(
        done.status.success(),
        "{}",
        String::from_utf8_lossy(&done.stderr)
    );
}

/// Runs a program; what it says if it fails.
fn ran(shell: &Shell, program: &str, words: &[&str]) -> Result<String, String> {
    let done = Command::new(shell.path(program)).args(words).output();
    let done = done.expect("it runs");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    match done.status.success() {
        true => Ok(text(&done.stdout)),
        false => Err(text(&done.stdout) + &text(&done.stderr)),
    }
}

const VERIFIED: [&str; 2] = ["-DSUMS=1", "-DVERIFY"];

fn verified_floor(shell: &Shell) {
    let floor = [
        "peers/floor/stack.c",
        "peers/floor/traffic.c",
        "traffic/client.c",
    ];
    compiled(shell, "floor", &[&VERIFIED[..], &floor[..]].concat());
}

/// It takes 9 seconds, most of them to compile our stack.
#[test]
fn our_stack_sends_and_delivers_what_it_should() {
    let shell = shell();
    let words = [
        "build",
        "bench/traffic.loom:summed",
        "--name",
        "traffic_stack",
        "-o",
        "c",
    ];
    let said = shell.loom(&words);
    assert_eq!(said.status, Some(0), "{said:?}");
    let files = [
        "-I../c",
        "../c/traffic_stack.c",
        "traffic.c",
        "traffic/client.c",
    ];
    compiled(&shell, "ours", &[&VERIFIED[..], &files[..]].concat());
    for workload in WORKLOADS {
        let said = ran(&shell, "ours", &[workload, "30"]);
        let said = said.unwrap_or_else(|says| panic!("{workload}: {says}"));
        assert!(said.starts_with("messages 3"), "{workload}: {said}");
    }
}

#[test]
fn the_floor_sends_and_delivers_what_it_should_and_planted_faults_are_found() {
    let shell = shell();
    verified_floor(&shell);
    for workload in WORKLOADS {
        let said = ran(&shell, "floor", &[workload, "30"]);
        let said = said.unwrap_or_else(|says| panic!("{workload}: {says}"));
        assert!(said.starts_with("messages 3"), "{workload}: {said}");
    }
    let stack = "peers/floor/stack.c";
    for (from, to, workload, says) in [
        (
            "folded(summed(tcp, whole - 20) + load32(frame + 12)",
            "0xffff + 0 * folded(summed(tcp, whole - 20) + load32(frame + 12)",
            "base",
            "a wrong bit is not found",
        ),
        (
            "memcpy(out + 36, &second, 2);",
            "memcpy(out + 36, &second, 1);",
            "base",
            "a sum of a frame",
        ),
        (
            "c->next += length;\n    if (c->todo & WAITS)",
            "c->next += length, data += 1;\n    if (c->todo & WAITS)",
            "rr",
            "is given wrong text",
        ),
        (
            "begin_segment(own, c, at, length, flags);",
            "begin_segment(own, c, at + (length > 0), length, flags);",
            "rr",
            "not the next",
        ),
        (
            "summed_to(out + FLOOR_HEADERS, c->outgoing + place, length)",
            "summed_to(out + FLOOR_HEADERS, c->outgoing, length)",
            "rr",
            "text that leaves is wrong",
        ),
    ] {
        let before = shell.read(&format!("bench/{stack}"));
        plant(&shell, stack, from, to);
        verified_floor(&shell);
        let said = ran(&shell, "floor", &[workload, "200"]).expect_err("the fault is found");
        assert!(said.contains(says), "{to}: {said}");
        shell.write(&format!("bench/{stack}"), before);
    }
}

#[test]
fn the_floor_handles_what_the_workloads_do_not_need() {
    let shell = shell();
    shell.write("bench/peers/floor/check.c", source("peers/floor/check.c"));
    compiled(
        &shell,
        "check",
        &["peers/floor/stack.c", "peers/floor/check.c"],
    );
    let said = ran(&shell, "check", &[]).unwrap_or_else(|says| panic!("{says}"));
    assert!(said.starts_with("all as it should be"), "{said}");
    plant(
        &shell,
        "peers/floor/stack.c",
        "c->duplicates == 3",
        "c->duplicates == 4",
    );
    compiled(
        &shell,
        "check",
        &["peers/floor/stack.c", "peers/floor/check.c"],
    );
    let said = ran(&shell, "check", &[]).expect_err("the fault is found");
    assert!(said.contains("line "), "{said}");
}
