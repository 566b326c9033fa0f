//! TCP with lines of it changed, so that it says what it must not; and what the layer that watches
//! it (`layers/check/segments.loom`) says of that.
//!
//! In: lines of processes of TCP, and what stands there instead. Out: whether the watcher names
//! each mistake. Debug, alone: 20 s, nearly all of them to compile the stack.

use crate::end::{Talk, load_over};
use crate::goodput::SETTINGS;
use crate::line::{ADDRESSES, Line};
use stackloom::simulate::network::link::Faults;
use std::path::Path;

/// No more happens than this, for what is wrong need not come to an end.
const STEPS: usize = 20_000;

/// What the watcher says, of which process, what stands there, and what instead.
const FAULTS: [(&str, &str, &str, &str); 3] = [
    (
        "segments.renounces",
        "receive",
        "{ open } else { pre edge }",
        "{ open } else { pre edge - 1 }",
    ),
    (
        "segments.beyond_window",
        "window",
        "return min(offered, ",
        "return max(offered, ",
    ),
    (
        "segments.gap", // before the last acknowledgement
        "emission",
        "run moved(next + length + (fin as u32))",
        "run moved(next + length + 2 * (fin as u32))",
    ),
];

#[test]
fn what_tcp_must_not_say_is_seen() {
    let folder = tempfile::tempdir().expect("a folder");
    write(folder.path());
    let program = Box::leak(Box::new(load_over(folder.path(), "tests/tcp/line.loom")));
    let faults = Faults {
        delay_ns: 1_000_000,
        ..Faults::default()
    };
    let mut line = Line::start(program, SETTINGS, &faults, 1);
    let [ours, theirs] = Talk::pair(400_000, 0, 20_000);
    line.ends[1].listen(7, theirs, 0);
    assert!(line.ends[0].call((ADDRESSES[1], 7), ours, 0));
    let steps = (0..STEPS).take_while(|_| line.step()).count();
    let found = line.ends.each_ref().map(|end| end.mistakes()).concat();
    for (mistake, ..) in FAULTS {
        let is_named = found.iter().any(|one| one.ends_with(mistake));
        assert!(is_named, "{mistake} in {steps} steps: {found:?}");
    }
}

/// TCP with all of the faults.
fn write(folder: &Path) {
    let to = folder.join("transport/tcp");
    std::fs::create_dir_all(&to).expect("a folder of its own");
    let own = Path::new(env!("CARGO_MANIFEST_DIR")).join("layers/transport/tcp");
    for file in std::fs::read_dir(own).expect("TCP") {
        let file = file.expect("a process");
        let mut text = std::fs::read_to_string(file.path()).expect("its text");
        for (_, process, right, wrong) in FAULTS {
            if file.file_name() == *format!("{process}.loom") {
                assert_eq!(text.matches(right).count(), 1, "{right}");
                text = text.replace(right, wrong);
            }
        }
        std::fs::write(to.join(file.file_name()), text).expect("its place");
    }
}
