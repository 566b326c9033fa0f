//! Each pass changes a small module as expected, and leaves the rest of it alone.
//!
//! In: `passes/PASS.ir`: a module, a line `; becomes`, and the same module behind the pass. With
//! BLESS=1 the second is written anew. Random modules show a host the same behind each pass, behind
//! each pair of passes, and behind all; `SEED=n` asks for one seed alone, and `SEEDS=n` for more.

#[path = "passes/faults.rs"]
mod faults;
#[path = "passes/planted.rs"]
mod planted;
#[path = "passes/random.rs"]
mod random;

use stackloom::ir::text::{read, write};
use stackloom::ir::verify::verify;
use stackloom::ir::{Function, Module, Role};
use stackloom::passes::{PASSES, Pass};
use std::cell::RefCell;
use std::collections::BTreeSet;
use std::env;
use std::fs;
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
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

#[test]
fn a_pass_gives_no_name_that_is_taken() {
    let names = |module: &Module| -> BTreeSet<String> {
        let all = module.functions.iter();
        all.map(|one| one.name.clone()).collect()
    };
    let mut given = BTreeSet::new();
    for pass in PASSES {
        let text = fs::read_to_string(file(pass.name)).expect("each pass has a file");
        let (before, _) = text.split_once(BECOMES).expect("it has two parts");
        let module = good(pass.name, before);
        let after = behind(&module, &pass, pass.name);
        for name in names(&after).difference(&names(&module)) {
            let taken = format!("{before}\npure fn {name}() of small {{\n  return\n}}\n");
            let module = good(pass.name, &taken);
            let other = behind(&module, &pass, &format!("{}, {name} is taken", pass.name));
            assert!(names(&other).contains(&format!("{name}.2")), "{name}");
            given.insert(pass.name);
        }
    }
    let expected = [
        "cache-guards",
        "expect-header",
        "form-fast-path",
        "hot-path",
        "rare-ways",
        "test-liveness-once",
    ];
    assert_eq!(given, BTreeSet::from(expected));
}

/// So many random modules are tried where nothing is said.
const MODULES: u64 = 6;

/// Seeds of random modules.
fn seeds() -> Range<u64> {
    match (number("SEED"), number("SEEDS")) {
        (Some(seed), count) => seed..seed + count.unwrap_or(1),
        (None, count) => 0..count.unwrap_or(MODULES),
    }
}

fn number(name: &str) -> Option<u64> {
    let value = env::var(name).ok();
    value.map(|value| value.parse().expect("SEED and SEEDS are numbers"))
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

/// Tries passes on a module: each pass, each pass behind each other one, and all passes in order.
/// `doing` always has the names of those that run.
fn try_passes(module: Module, doing: &RefCell<String>) {
    if let Err(breaches) = verify(&module) {
        panic!("{}\n{}", breaches[0], write(&module));
    }
    let expected = random::shown(&module);
    let same_behind = |before: &Module, pass: &Pass, name: &str| {
        doing.replace(name.to_string());
        let after = behind(before, pass, name);
        if after != *before {
            let shown = random::shown(&after);
            let mut lines = shown.iter().zip(&expected);
            let first = lines.position(|(own, other)| own != other);
            assert!(shown == expected, "line {first:?}\n{}", write(&after));
        }
        after
    };
    for first in &PASSES {
        let once = same_behind(&module, first, first.name);
        // Behind a pass that has changed nothing, each does what it does alone.
        let others = PASSES.iter().filter(|_| once != module);
        for second in others {
            same_behind(&once, second, &format!("{}, {}", first.name, second.name));
        }
    }
    let all = PASSES.iter();
    all.fold(module, |module, pass| {
        same_behind(&module, pass, &format!("all to {}", pass.name))
    });
}

/// The same; prints the name of the module, and of the passes that go wrong.
fn tried(name: &str, module: Module) {
    println!("{name}");
    let doing = RefCell::default();
    let done = catch_unwind(AssertUnwindSafe(|| try_passes(module, &doing)));
    if let Err(wrong) = done {
        println!("{name}, behind {}", doing.borrow());
        resume_unwind(wrong);
    }
}

#[test]
fn random_modules_show_the_same_behind_each_pass_and_each_pair() {
    for seed in seeds() {
        tried(&format!("SEED={seed}"), random::module(seed));
    }
}

#[test]
fn the_module_of_faults_shows_the_same_behind_each_pass_and_each_pair() {
    tried("faults.ir", planted::small());
}

#[test]
fn fewer_paths_show_the_same() {
    let form = PASSES.iter().find(|pass| pass.name == "form-fast-path");
    let form = form.expect("there is such a pass");
    let paths = |module: &Module| {
        let fast = module.functions.iter();
        let fast = fast.filter(|one| one.role == Role::Fast && one.name != "answers.fast");
        let commits = |one: &Function| one.blocks.iter().filter(|it| it.commit().is_some()).count();
        fast.map(commits).max().unwrap_or(0)
    };
    let mut seen = BTreeSet::new();
    let random = seeds().map(|seed| (format!("SEED={seed}"), random::module(seed)));
    for (name, module) in random.chain([("faults.ir".to_string(), planted::small())]) {
        println!("{name}");
        let expected = random::shown(&module);
        for most in [0, 1, 2] {
            let fewer = Module {
                fast_paths: Some(most),
                ..module.clone()
            };
            let after = behind(&fewer, form, &name);
            assert!(paths(&after) <= most as usize, "{name}: {}", write(&after));
            assert_eq!(random::shown(&after), expected, "{name}, {most} paths");
            seen.insert(paths(&after));
        }
    }
    assert_eq!(seen, BTreeSet::from([0, 1, 2]));
}

#[test]
fn a_path_that_is_left_out_shows_the_same() {
    let form = PASSES.iter().find(|pass| pass.name == "form-fast-path");
    let form = form.expect("there is such a pass");
    let commits = |module: &Module, fast: &str| {
        let fast = module.named(fast).map(|id| module.function(id));
        let blocks = fast.into_iter().flat_map(|one| &one.blocks);
        blocks.filter(|block| block.commit().is_some()).count()
    };
    let (mut some, mut all) = (0, 0);
    let random = seeds().map(|seed| (format!("SEED={seed}"), random::module(seed)));
    for (name, module) in random.chain([("faults.ir".to_string(), planted::small())]) {
        println!("{name}");
        let expected = random::shown(&module);
        let whole = behind(&module, form, &name);
        let reactions = module.functions.iter().filter(|one| one.fast.is_none());
        for reaction in reactions {
            let fast = format!("{}.fast", reaction.name);
            let paths = commits(&whole, &fast);
            for left in 0..paths {
                let fewer = Module {
                    left_out: vec![(reaction.name.clone(), left as u32)],
                    ..module.clone()
                };
                let after = behind(&fewer, form, &name);
                let fewer = commits(&after, &fast);
                assert!(fewer < paths, "{name}, {fast}: {}", write(&after));
                assert_eq!(
                    random::shown(&after),
                    expected,
                    "{name}, {fast} without {left}"
                );
                match fewer {
                    0 => all += 1,
                    _ => some += 1,
                }
            }
        }
    }
    assert!(
        some > 0 && all > 0,
        "{some} and {all} fast functions lose a path"
    );
}
