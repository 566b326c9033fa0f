//! The seeds of the fuzz targets, and what is made of them, on stable Rust: the same functions that
//! a fuzzer calls (`fuzz/`).
//!
//! In: seeds; the layers, examples, cases and stacks of this repository; frames that were captured.
//! Out: the first text or frame for which something does not hold. `SEED=n` makes others of them,
//! `FUZZ=n` so many times as many, and `STACK=name` feeds one example alone. `make soak` feeds a
//! million frames to each.

#[path = "hostile/frames.rs"]
mod frames;
#[path = "fuzz/harness.rs"]
mod harness;
#[path = "agree/random.rs"]
mod random;
#[path = "../fuzz/stacks.rs"]
mod stacks;
#[path = "../fuzz/targets.rs"]
mod targets;
#[path = "fuzz/texts.rs"]
mod texts;
#[path = "c_agrees/watched.rs"]
mod watched;

use harness::Harness;
use random::Random;
use stacks::{EXAMPLES, Example};
use std::panic::catch_unwind;
use std::path::{Path, PathBuf};

/// How many frames each example sees in `make test`.
const FRAMES: usize = 2_000;

#[test]
fn every_seed_and_what_is_made_of_it_is_parsed() {
    hold("parser", targets::parser, 1_500);
}

#[test]
fn every_seed_and_what_is_made_of_it_is_refused_or_becomes_c() {
    hold("pipeline", targets::pipeline, 100);
}

/// Calls a target with all that there is, and with so many changed texts.
fn hold(target: &str, does: fn(&[u8]), count: usize) {
    let seeds = seeds(target);
    assert!(!seeds.is_empty(), "{target} has no seeds");
    let texts = texts::all();
    // Stacks are compiled by other tests: those of cases, examples, benches and tests.
    let layers = concat!(env!("CARGO_MANIFEST_DIR"), "/layers/");
    let known = |name: &str| target == "pipeline" && !name.starts_with(layers);
    let own = texts.iter().filter(|(name, _)| !known(name));
    let own = own.map(|(name, text)| (name.clone(), text.as_bytes().to_vec()));
    for (name, bytes) in seeds.into_iter().chain(own) {
        assert!(
            catch_unwind(|| does(&bytes)).is_ok(),
            "{target} breaks on {name}"
        );
    }
    let (seed, times) = (number("SEED").unwrap_or(1), number("FUZZ").unwrap_or(1));
    println!("SEED={seed}, {} texts", count * times as usize);
    let mut random = Random(seed);
    for _ in 0..count * times as usize {
        let text = texts::changed(&texts, &mut random);
        if catch_unwind(|| does(text.as_bytes())).is_err() {
            panic!("{target}, SEED={seed}, breaks on\n{text}");
        }
    }
}

#[test]
fn frames_have_one_fate_each() {
    fed(FRAMES * number("FUZZ").unwrap_or(1) as usize, false);
}

#[test]
#[ignore = "`make soak` does it, and it takes minutes"]
fn a_million_frames_have_one_fate_each() {
    fed(number("FRAMES").unwrap_or(1_000_000) as usize, true);
}

/// Feeds each example its seeds, and then so many frames.
fn fed(count: usize, shows: bool) {
    let seed = number("SEED").unwrap_or(1);
    println!("SEED={seed}, {count} frames to each");
    let only = std::env::var("STACK").ok();
    let chosen = |example: &Example| only.as_ref().is_none_or(|name| name == example.name);
    for example in EXAMPLES.iter().filter(|example| chosen(example)) {
        let harness = Harness::new(example);
        for (name, records) in seeds_of(example) {
            let said = harness.feed(&records);
            assert!(said.is_ok(), "{name}: {}", said.expect_err("it broke"));
        }
        let said = harness.hostile(records(example), seed, count, shows);
        let said = said.unwrap_or_else(|wrong| panic!("{}, SEED={seed}: {wrong}", example.path));
        println!("{}: {}", example.name, said.join(", "));
        let good = match harness.compiled.program.ports.is_empty() {
            true => "consumed ",
            false => "delivered ",
        };
        let good = said.iter().any(|line| line.starts_with(good));
        assert!(good, "{}: no frame was good for anything", example.name);
        let dropped = said.iter().filter(|line| line.contains('.')).count();
        assert!(dropped >= 1, "{}: no frame was bad", example.name);
    }
}

#[test]
fn every_stack_of_the_examples_is_fed() {
    let all = texts::all().into_iter();
    let examples =
        all.filter(|(path, _)| path.starts_with(concat!(env!("CARGO_MANIFEST_DIR"), "/examples")));
    let declared = examples.flat_map(|(path, text)| {
        let names = text.lines().filter_map(|line| line.strip_prefix("stack "));
        let names = names.map(|name| name.trim_end_matches([' ', '{']).to_string());
        names.map(|name| (path.clone(), name)).collect::<Vec<_>>()
    });
    let fed = |path: &str, name: &str| {
        let mut examples = EXAMPLES.iter();
        examples.any(|example| path.ends_with(example.path) && example.name == name)
    };
    let missing: Vec<_> = declared.filter(|(path, name)| !fed(path, name)).collect();
    assert!(missing.is_empty(), "`fuzz/stacks.rs` lacks {missing:?}");
}

#[test]
fn a_fault_in_the_c_is_found() {
    let ping = &EXAMPLES[0];
    let found = |from: &str, to: &str| {
        let faulty = Harness::faulty(ping, from, to);
        let said = faulty.hostile(records(ping), 1, 200, false);
        said.expect_err("nobody noticed")
    };
    for wrong in ["+ reason] += 0;", "+ reason] += 2;"] {
        let said = found("+ reason] += 1;", wrong);
        assert!(said.contains("the fates do not add up"), "{said}");
    }
    let kept = found("give_buffer(stack, buffer);\n}", "(void)buffer;\n}");
    let told = ["buffers are lost", "it takes no frame any more"];
    assert!(told.iter().any(|one| kept.contains(one)), "{kept}");
    let outside = found("+ reason] += 1;", "+ reason + 1000] += 1;");
    assert!(outside.contains("out of bounds"), "{outside}");
    // One byte is read that no frame has brought.
    let sum = "message->data - 8, sum);";
    let beyond = found(sum, "message->data - 8, sum + 1);");
    assert!(beyond.contains("use-after-poison"), "{beyond}");
}

/// The seeds of an example, by name: the first byte of each chooses it.
fn seeds_of(example: &Example) -> Vec<(String, Vec<u8>)> {
    let place = EXAMPLES.iter().position(|one| one.name == example.name);
    let chosen = |first: &u8| usize::from(*first) % EXAMPLES.len();
    let own = |bytes: &[u8]| bytes.first().map(chosen) == place;
    let seeds = seeds("frames").into_iter().filter(|(_, bytes)| own(bytes));
    seeds
        .map(|(name, bytes)| (name, bytes[1..].to_vec()))
        .collect()
}

/// All that its seeds bring.
fn records(example: &Example) -> Vec<u8> {
    seeds_of(example)
        .into_iter()
        .flat_map(|(_, records)| records)
        .collect()
}

/// The seeds of a target, by name.
fn seeds(target: &str) -> Vec<(String, Vec<u8>)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("fuzz/seeds")
        .join(target);
    let entries = std::fs::read_dir(folder).expect("there is a folder of seeds");
    let mut paths: Vec<PathBuf> = entries
        .map(|entry| entry.expect("an entry").path())
        .collect();
    paths.sort();
    paths
        .into_iter()
        .map(|path| {
            let bytes = std::fs::read(&path).expect("a seed can be read");
            (path.display().to_string(), bytes)
        })
        .collect()
}

fn number(name: &str) -> Option<u64> {
    let value = std::env::var(name).ok();
    value.map(|value| value.parse().expect("it is a number"))
}
