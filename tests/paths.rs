//! Which frames went a fast path, and where the others left it, is counted by name.
//!
//! In: the stacks of `paths/three.loom`, and frames each of which leaves at another place. Out:
//! what `paths/host.c` prints of them, compared with what was sent.

use stackloom::emit::Emitted;
use stackloom::pipeline::{self, Checked};
use stackloom::tool::library::Folders;
use std::path::{Path, PathBuf};
use std::process::Command;

const FLAGS: [&str; 9] = [
    "-std=c11",
    "-O2",
    "-Wall",
    "-Wextra",
    "-Wpedantic",
    "-Wconversion",
    "-Werror",
    "-o",
    "host",
];

/// Frames for the layer of the stacks, and where they leave its path; none where they go it. They
/// do so in this order, however often.
const FRAMES: [(&str, Option<&str>); 8] = [
    ("41000064aa", None),
    ("4100", Some("too_short")),
    ("42000030aa", Some("version_kind")),
    ("51000030aa", Some("version_kind")),
    ("41070030aa", Some("free")),
    ("41000063aa", Some("place")),
    ("41000010aa", Some("place_before")),
    ("41000fffaa", Some("place_last")),
];

/// The C of a stack, compiled as its host is.
fn emitted(stack: &str) -> Emitted {
    emitted_of("tests/paths/three.loom", stack)
}

fn emitted_of(path: &str, stack: &str) -> Emitted {
    let text = std::fs::read_to_string(path).expect("the stacks are there");
    let library = Folders {
        search: vec![PathBuf::from("layers")],
    };
    let mut checked: Checked = pipeline::read(vec![(path.to_string(), text)], &library);
    let compiled = pipeline::compile(&mut checked, stack, stack);
    compiled.expect("the stack is right").emitted
}

/// What the host of a stack prints when it has these frames.
fn printed(name: &str, stack: &str, emitted: &Emitted, frames: &[String]) -> Vec<String> {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::create_dir_all(&folder).expect("a folder to compile in");
    let host = include_str!("paths/host.c");
    let host = host.replace("STACK", stack);
    let host = host.replace("UPPER", &stack.to_uppercase());
    let files = [
        (format!("{stack}.c"), &emitted.c),
        (format!("{stack}.h"), &emitted.h),
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

/// What is to be printed of these layers, each of which had the frames of [`FRAMES`], and one of
/// them so much more often; so many frames came elsewhere.
fn expected(layers: &[(&str, u64)], elsewhere: u64) -> Vec<String> {
    let mut all = vec![format!("none: {elsewhere}")];
    let mut frames_in = elsewhere;
    for (layer, times) in layers {
        all.push(format!("taken {layer}_arrive: {times}"));
        let left = |place: &str| {
            let here = FRAMES.iter().filter(|(_, left)| *left == Some(place));
            here.count() as u64 * times
        };
        let mut places: Vec<&str> = FRAMES.iter().filter_map(|(_, left)| *left).collect();
        places.dedup();
        let counted = places.into_iter().map(|place| {
            let count = left(place);
            format!("left {layer}_arrive {layer}.{place}: {count}")
        });
        all.extend(counted);
        frames_in += FRAMES.len() as u64 * times;
    }
    all.push(format!("frames_in: {frames_in}"));
    all
}

/// All frames by a link, so many times.
fn by(link: u32, times: u64) -> Vec<String> {
    let all = (0..times).flat_map(|_| FRAMES);
    all.map(|(bytes, _)| format!("{link}:{bytes}")).collect()
}

#[test]
fn what_leaves_a_path_is_counted_by_what_holds_there() {
    let one = emitted("one");
    let found = printed("paths one", "one", &one, &by(0, 1));
    assert_eq!(found, expected(&[("counted", 1)], 0));
}

#[test]
fn each_path_is_counted_and_what_comes_where_there_is_none() {
    let three = emitted("three");
    let frames = [by(0, 1), by(1, 2), by(2, 1)].concat();
    let found = printed("paths three", "three", &three, &frames);
    let elsewhere = FRAMES.len() as u64;
    assert_eq!(found, expected(&[("west", 1), ("east", 2)], elsewhere));
}

#[test]
fn what_leaves_a_layer_that_stands_twice_is_counted_by_where_it_stands() {
    let twice = emitted_of("tests/paths/twice.loom", "twice");
    // The same by both, one more by the second.
    let frames = [
        "0:0100",
        "0:0200",
        "0:0200",
        "0:01070009",
        "0:02070009",
        "0:02070009",
        "0:01000009",
        "0:02000009",
        "0:01000001",
        "0:02000001",
        "0:02000001",
        "0:03000001",
        "0:",
    ];
    let frames = frames.map(String::from);
    let found = printed("paths twice", "twice", &twice, &frames);
    let mut left = Vec::new();
    for (layer, times) in [("first", 1), ("second", 2)] {
        for place in ["too_short", "free", "place"] {
            left.push(format!("left split_arrive {layer}.{place}: {times}"));
        }
    }
    for line in &left {
        assert!(found.contains(line), "{line} is not in {found:#?}");
    }
    assert!(found.contains(&"left split_arrive split.too_short: 1".to_string()));
    assert!(found.contains(&"left split_arrive split.number: 1".to_string()));
    assert!(found.contains(&"taken split_arrive: 2".to_string()));
}

#[test]
fn a_place_that_is_counted_as_another_is_found() {
    let right = emitted("one");
    let names = right.paths[0].exits.iter();
    let names: Vec<&str> = names.map(|exit| &*exit.constant).collect();
    for at in 1..names.len() {
        let [one, other] = [names[at - 1], names[at]].map(|name| format!("return {name};"));
        let wrong = Emitted {
            c: right.c.replacen(&one, &other, 1),
            ..right.clone()
        };
        assert_ne!(wrong.c, right.c, "{one} stands nowhere");
        let found = printed(&format!("paths wrong {at}"), "one", &wrong, &by(0, 1));
        assert_ne!(found, expected(&[("counted", 1)], 0), "{one} is {other}");
    }
}

#[test]
fn what_has_no_common_path_offers_no_names_of_them() {
    let path = "examples/radio/radio.loom";
    let text = std::fs::read_to_string(path).expect("the example is there");
    let library = Folders {
        search: vec![PathBuf::from("layers")],
    };
    let mut checked = pipeline::read(vec![(path.to_string(), text)], &library);
    let emitted = pipeline::compile(&mut checked, "radio", "radio");
    let emitted = emitted.expect("the example is right").emitted;
    assert!(emitted.paths.is_empty());
    assert!(!emitted.c.contains("radio_path") && !emitted.h.contains("radio_path"));
}
