//! Counters of fast paths: how many frames took each fast path, and how many left it at each exit.
//!
//! In: the stacks of `paths/three.loom` and `paths/twice.loom`, and frames that leave at different
//! exits. Out: the counters that `paths/host.c` prints, compared with the frames that were sent.

use stackloom::pipeline::{self, Checked};
use stackloom::tool::library::Folders;
use std::path::{Path, PathBuf};
use std::process::Command;

const FLAGS: [&str; 10] = [
    "-std=c11",
    "-O2",
    "-Wall",
    "-Wextra",
    "-Wpedantic",
    "-Wconversion",
    "-Wshadow",
    "-Werror",
    "-o",
    "host",
];

/// Frames for the layer `counted`, and the exits at which they leave its fast path; none if they
/// take it. They do so in this order, however often, and the exits are in the order of the guards.
const FRAMES: [(&str, Option<&str>); 8] = [
    ("41000064aa", None),
    ("4100", Some("stack.header")),
    ("51000030aa", Some("LAYER.bad_version")),
    ("42000030aa", Some("LAYER.bad_kind")),
    ("41070030aa", Some("LAYER.wrong")),
    ("41090064aa", Some("LAYER.header")),
    ("41000010aa", Some("LAYER.too_small")),
    ("41000fffaa", Some("LAYER.too_large")),
];

/// A stack in C.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Files {
    c: String,
    h: String,
}

/// The C of a stack.
fn compiled(path: &str, stack: &str) -> Files {
    let text = std::fs::read_to_string(path).expect("the stacks are there");
    let library = Folders {
        search: vec![PathBuf::from("layers")],
    };
    let mut checked: Checked = pipeline::read(vec![(path.to_string(), text)], &library);
    let compiled = pipeline::compile(&mut checked, stack, stack);
    let code = compiled.expect("the stack is right").code;
    Files {
        c: code.c,
        h: code.h,
    }
}

/// Returns the lines that the host of a stack prints when it has these frames.
fn printed(name: &str, stack: &str, files: &Files, frames: &[String]) -> Vec<String> {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::create_dir_all(&folder).expect("a folder to compile in");
    let host = include_str!("paths/host.c");
    let host = host.replace("STACK", stack);
    let mut host = host.replace("UPPER", &stack.to_uppercase());
    if stack == "heard" {
        host += include_str!("paths/heard.c");
    }
    let files = [
        (format!("{stack}.c"), &files.c),
        (format!("{stack}.h"), &files.h),
        ("host.c".to_string(), &host),
    ];
    for (name, text) in &files {
        std::fs::write(folder.join(name), text).expect("written");
    }
    let compiled = Command::new("gcc")
        .args(FLAGS)
        .args([&files[0].0, "host.c"])
        .current_dir(&folder)
        .status();
    assert!(compiled.expect("there is gcc").success());
    let ran = Command::new(folder.join("host")).args(frames).output();
    let ran = ran.expect("it runs");
    assert!(ran.status.success(), "{frames:?}");
    let text = String::from_utf8(ran.stdout).expect("names are text");
    text.lines().map(String::from).collect()
}

/// The lines for these layers, each of which had the frames of [`FRAMES`] so many times; so many
/// frames came elsewhere.
fn expected(layers: &[(&str, usize)], elsewhere: usize) -> Vec<String> {
    let mut all = Vec::new();
    let mut frames_in = elsewhere;
    for (layer, times) in layers {
        let lines = FRAMES.iter().map(|(_, exit)| match exit {
            None => format!("taken {layer}_arrive: {times}"),
            Some(exit) => {
                let exit = exit.replace("LAYER", layer);
                format!("left {layer}_arrive {exit}: {times}")
            }
        });
        all.extend(lines);
        frames_in += FRAMES.len() * times;
    }
    all.push(format!("frames_in: {frames_in}"));
    all
}

/// All frames by a link, so many times, in buffers of the stack (`:`) or in memory of the host
/// (`@`).
fn by(link: u32, place: char, times: usize) -> Vec<String> {
    let all = (0..times).flat_map(|_| FRAMES);
    let all = all.map(|(bytes, _)| format!("{link}{place}{bytes}"));
    all.collect()
}

#[test]
fn each_exit_is_counted_under_its_name() {
    let one = compiled("tests/paths/three.loom", "one");
    let found = printed("paths one", "one", &one, &by(0, ':', 1));
    assert_eq!(found, expected(&[("counted", 1)], 0));
}

#[test]
fn a_frame_that_tries_a_fast_path_in_two_places_is_counted_once() {
    let heard = compiled("tests/paths/three.loom", "heard");
    for (name, place) in [("paths lent", ':'), ("paths in place", '@')] {
        let found = printed(name, "heard", &heard, &by(0, place, 2));
        assert_eq!(found, expected(&[("counted", 2)], 0), "{name}");
    }
}

#[test]
fn each_fast_path_has_counters_of_its_own() {
    let three = compiled("tests/paths/three.loom", "three");
    let frames = [by(0, ':', 1), by(1, '@', 2), by(2, ':', 1)].concat();
    let found = printed("paths three", "three", &three, &frames);
    assert_eq!(found, expected(&[("west", 1), ("east", 2)], FRAMES.len()));
}

#[test]
fn exits_of_a_layer_that_stands_twice_are_counted_by_its_two_names() {
    let twice = compiled("tests/paths/twice.loom", "twice");
    let frames = [
        ("stack.header", &["", "0100", "0200", "0200"][..]),
        ("split.expected", &["01070009", "02070009", "02070009"]),
        ("taken", &["01000009", "02000009"]),
        ("first.too_small", &["01000001"]),
        ("split.unknown", &["03000001"]),
        ("second.too_small", &["02000001", "02000001"]),
    ];
    let sent = frames.iter().flat_map(|(_, sent)| *sent);
    let sent: Vec<String> = sent.map(|bytes| format!("0:{bytes}")).collect();
    let found = printed("paths twice", "twice", &twice, &sent);
    for (exit, frames) in frames {
        let line = match exit {
            "taken" => format!("taken split_arrive: {}", frames.len()),
            _ => format!("left split_arrive {exit}: {}", frames.len()),
        };
        assert!(found.contains(&line), "{line} is not in {found:#?}");
    }
    assert!(found.contains(&format!("frames_in: {}", sent.len())));
}

#[test]
fn an_exit_that_is_counted_as_another_is_found() {
    let right = compiled("tests/paths/three.loom", "one");
    let lines = right.h.lines().map(str::trim);
    let constants = lines.filter(|line| line.starts_with("ONE_PATH_COUNTED_ARRIVE_"));
    let constants = constants.filter_map(|line| line.split_once(','));
    let constants: Vec<&str> = constants.map(|(constant, _)| constant).collect();
    assert_eq!(constants.len(), FRAMES.len() - 1);
    for at in 1..constants.len() {
        let [one, other] = [constants[at - 1], constants[at]];
        let [noted, instead] = [one, other].map(|exit| format!("note_exit(stack, {exit});"));
        let wrong = Files {
            c: right.c.replacen(&noted, &instead, 1),
            ..right.clone()
        };
        assert_ne!(wrong.c, right.c, "{one} stands nowhere");
        let found = printed(&format!("paths wrong {at}"), "one", &wrong, &by(0, ':', 1));
        assert_ne!(found, expected(&[("counted", 1)], 0), "{one} is {other}");
    }
}

#[test]
fn a_stack_without_fast_paths_has_no_counters_of_them() {
    let radio = compiled("examples/radio/radio.loom", "radio");
    assert!(!radio.c.contains("radio_path") && !radio.h.contains("radio_path"));
    assert!(!radio.c.contains("note_exit"));
}
