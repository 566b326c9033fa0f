//! Each pass changes a small module as expected, and leaves the rest of it alone.
//!
//! In: `passes/PASS.ir`: a module, a line `; becomes`, and the same module behind the pass. With
//! BLESS=1 the second is written anew. Random modules show a host the same behind each pass, and
//! behind each pair of passes; `SEED=n` asks for one seed alone, and `SEEDS=n` for more of them.

#[path = "passes/random.rs"]
mod random;

use stackloom::ir::Module;
use stackloom::ir::text::{read, write};
use stackloom::ir::verify::verify;
use stackloom::passes::{PASSES, Pass};
use std::env;
use std::fs;
use std::path::PathBuf;

const BECOMES: &str = "\n; becomes\n\n";

fn file(pass: &str) -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/passes");
    folder.join(format!("{pass}.ir"))
}

fn good(pass: &str, text: &str) -> Module {
    let module = read(text).unwrap_or_else(|mistake| panic!("{pass}: {mistake}\n{text}"));
    if let Err(breaches) = verify(&module) {
        let breaches: Vec<String> = breaches.iter().map(ToString::to_string).collect();
        panic!("{pass}:\n{}\n{text}", breaches.join("\n"));
    }
    module
}

#[test]
fn each_pass_makes_of_its_module_what_is_expected() {
    let mut wrong = Vec::new();
    for pass in PASSES {
        let path = file(pass.name);
        let text = fs::read_to_string(&path).expect("each pass has a file");
        let (before, expected) = text.split_once(BECOMES).unwrap_or((&text, ""));
        let mut module = good(pass.name, before);
        (pass.run)(&mut module);
        let after = write(&module);
        good(pass.name, &after);
        if after == expected {
            continue;
        }
        if env::var_os("BLESS").is_some() {
            let text = format!("{}\n{BECOMES}{after}", before.trim_end());
            fs::write(&path, text).expect("a file can be written");
        } else {
            wrong.push(format!("{} becomes\n\n{after}", pass.name));
        }
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

#[test]
fn a_pass_finds_nothing_to_do_behind_itself() {
    for pass in PASSES {
        let text = fs::read_to_string(file(pass.name)).expect("each pass has a file");
        let (_, after) = text.split_once(BECOMES).expect("it has two parts");
        let mut module = good(pass.name, after);
        (pass.run)(&mut module);
        assert_eq!(write(&module), after, "{}", pass.name);
    }
}

/// Seeds of random modules.
fn seeds() -> Vec<u64> {
    match env::var("SEED") {
        Ok(seed) => vec![seed.parse().expect("SEED is a number")],
        Err(_) => {
            let count = env::var("SEEDS").map(|count| count.parse());
            (0..count.unwrap_or(Ok(6)).expect("SEEDS is a number")).collect()
        }
    }
}

/// The module behind a pass, which the verifier passes.
fn behind(module: &Module, pass: &Pass, name: &str) -> Module {
    let mut module = module.clone();
    (pass.run)(&mut module);
    if let Err(breaches) = verify(&module) {
        panic!("{name}: {}\n{}", breaches[0], write(&module));
    }
    module
}

#[test]
fn random_modules_show_the_same_behind_each_pass_and_each_pair() {
    for seed in seeds() {
        let module = random::module(seed);
        if let Err(breaches) = verify(&module) {
            panic!("seed {seed}: {}\n{}", breaches[0], write(&module));
        }
        let expected = random::shown(&module);
        let is_same = |module: &Module, name: &str| {
            let shown = random::shown(module);
            let first = shown
                .iter()
                .zip(&expected)
                .position(|(own, other)| own != other);
            assert!(
                shown == expected,
                "{name}: line {first:?}\n{}",
                write(module)
            );
        };
        for first in &PASSES {
            let name = format!("seed {seed}, {}", first.name);
            let once = behind(&module, first, &name);
            is_same(&once, &name);
            for second in &PASSES {
                let name = format!("{name}, {}", second.name);
                is_same(&behind(&once, second, &name), &name);
            }
        }
    }
}
