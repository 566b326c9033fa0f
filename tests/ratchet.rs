//! Figures of generated code equal those of `bench/figures.toml`.
//!
//! In: the examples, and a stack of `loom bench tcp` and one of `loom bench udp`. Out: each figure
//! that differs: bytes of code at `-Os`, and instructions for a segment and for a datagram. Other
//! tools than the recorded ones give other figures, so these are not compared then. `make bench`
//! compares all figures, and `make record` writes them.

use std::process::Command;

/// Runs `loom bench` in the source tree, and fails if a figure differs.
fn compare(words: &[&str]) {
    let mut loom = Command::new(env!("CARGO_BIN_EXE_loom"));
    loom.current_dir(env!("CARGO_MANIFEST_DIR"));
    let done = loom.arg("bench").args(words).arg("--strict").output();
    let done = done.expect("loom runs");
    let [result, note] = [&done.stdout, &done.stderr].map(|said| String::from_utf8_lossy(said));
    let absent = ["figures are not compared", "valgrind is not installed"];
    if absent.iter().any(|said| note.contains(said)) {
        println!("skipped: {note}");
        return;
    }
    let is_complete = !note.contains("no figure is recorded") && result.contains("goals are met");
    assert!(done.status.success() && is_complete, "{note}\n{result}");
}

#[test]
fn examples_have_as_many_bytes_of_code_as_recorded() {
    compare(&["size", "--quick"]);
}

#[test]
fn a_segment_takes_as_many_instructions_as_recorded() {
    compare(&["tcp", "--alone", "--only", "stackloom-called-off-O2"]);
}

#[test]
fn a_datagram_takes_as_many_instructions_as_recorded() {
    compare(&["udp", "--alone", "--only", "stackloom-off-O2"]);
}
