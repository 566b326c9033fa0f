//! TCP with one line of it changed, so that it says what it must not; and what the layer that
//! watches it (`layers/check/segments.loom`) says of that.
//!
//! In: a line of a process of TCP, and what stands there instead. Out: whether the watcher names
//! what is wrong. Debug, alone: SECONDS.

use crate::end::{Talk, load_over};
use crate::goodput::SETTINGS;
use crate::line::{ADDRESSES, Line};
use stackloom::simulate::network::link::Faults;
use std::path::Path;

/// No more happens than this, for what is wrong need not come to an end.
const STEPS: usize = 2_000;

#[test]
fn a_window_that_is_taken_back_is_seen() {
    let fault = ("receive", "edge = next + spare()", "edge = next");
    assert_seen("segments.renounces", fault);
}

#[test]
fn what_goes_beyond_the_window_is_seen() {
    let fault = ("window", "return min(offered, ", "return max(offered, ");
    assert_seen("segments.beyond_window", fault);
}

#[test]
fn a_number_that_is_left_out_is_seen() {
    let fault = ("emission", "next + length +", "next + 1 + length +");
    assert_seen("segments.gap", fault);
}

/// One end sends to another that is slow to read, both with this fault of a process.
#[track_caller]
fn assert_seen(mistake: &str, (process, right, wrong): (&str, &str, &str)) {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let folder = tempfile::tempdir().expect("a folder");
    let to = folder.path().join("transport/tcp");
    std::fs::create_dir_all(&to).expect("a folder of its own");
    for file in std::fs::read_dir(root.join("layers/transport/tcp")).expect("TCP") {
        let file = file.expect("a process");
        let mut text = std::fs::read_to_string(file.path()).expect("its text");
        if file.file_name() == *format!("{process}.loom") {
            assert_eq!(text.matches(right).count(), 1, "the line that changes");
            text = text.replace(right, wrong);
        }
        std::fs::write(to.join(file.file_name()), text).expect("its place");
    }
    let program = Box::leak(Box::new(load_over(folder.path(), "tests/tcp/line.loom")));
    let faults = Faults {
        delay_ns: 1_000_000,
        ..Faults::default()
    };
    let mut line = Line::start(program, SETTINGS, &faults, 1);
    let [ours, theirs] = Talk::pair(400_000, 0, 50_000);
    line.ends[1].listen(7, theirs, 0);
    assert!(line.ends[0].call((ADDRESSES[1], 7), ours, 0));
    let steps = (0..STEPS).take_while(|_| line.step()).count();
    let mistakes = line.ends.each_ref().map(|end| end.mistakes());
    let mut named = mistakes.iter().flatten();
    assert!(
        named.any(|one| one.ends_with(mistake)),
        "{steps} steps: {mistakes:?}"
    );
}
