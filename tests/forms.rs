//! All forms in which `loom bench ensemble` counts a stack send the same frames and deliver the
//! same messages, on random traffic of three members.
//!
//! In: the stacks and the bypass of `bench/ensemble`, and the driver `forms/traffic.c`. Out: the
//! first line in which a form differs from FUNC, with its seed. `SEED=n` chooses one seed,
//! `SEEDS=n` so many.

use stackloom::tool::bench::ensemble::forms::{Form, STACKS};
use std::collections::BTreeMap;
use std::env::var;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Seeds that are tried, if nothing else is said.
const SEEDS: u64 = 40;

#[test]
fn all_forms_of_a_stack_do_the_same() {
    let seeds = seeds();
    for (stack, _) in STACKS {
        let expected = Said::of(stack, Form::Func, &bench(), seeds);
        assert!(expected.does_enough(), "{stack}: too little happens");
        let forms = Form::ALL.into_iter().filter(|form| form.is_of(stack));
        for form in forms.filter(|form| *form != Form::Func) {
            let said = Said::of(stack, form, &bench(), seeds);
            let difference = expected.difference(&said);
            assert_eq!(
                difference,
                None,
                "{stack}: {} differs from FUNC",
                form.name()
            );
        }
    }
}

/// Each condition of the guard of the bypass is needed.
#[test]
fn a_bypass_without_a_condition_differs() {
    let conditions = [
        ("is_next && member->early.span == 0 ?", "is_next ?"),
        (
            "sl_set_has(stack->bottom_session[0].failed, 256, frame[4])",
            "false",
        ),
        (
            "sl_load_little32(frame) != stack->bottom_session[0].view",
            "false",
        ),
        ("!is_edged && window->span < 1024", "window->span < 1024"),
        ("frame[6] == 0 && frame[12] == 0", "frame[6] == 0"),
    ];
    let seeds = (1, SEEDS);
    let (stack, _) = STACKS[0];
    let expected = Said::of(stack, Form::Func, &bench(), seeds);
    let text = fs::read_to_string(bench().join("hand.c")).expect("a bypass");
    for (condition, planted) in conditions {
        assert!(text.contains(condition), "{condition}");
        let folder = tempfile::tempdir().expect("a folder");
        for entry in fs::read_dir(bench()).expect("a folder can be listed") {
            let path = entry.expect("a file").path();
            let name = path.file_name().expect("a file has a name");
            fs::copy(&path, folder.path().join(name)).expect("a copy");
        }
        let faulty = text.replace(condition, planted);
        fs::write(folder.path().join("hand.c"), faulty).expect("a file is written");
        let said = Said::of(stack, Form::Hand, folder.path(), seeds);
        let difference = expected.difference(&said);
        assert!(
            difference.is_some(),
            "without `{condition}` all is the same"
        );
    }
}

/// The first seed, and how many there are.
fn seeds() -> (u64, u64) {
    let number = |name: &str| var(name).ok().and_then(|text| text.parse().ok());
    let seeds = match (number("SEED"), number("SEEDS")) {
        (Some(seed), many) => (seed, many.unwrap_or(1)),
        (None, many) => (1, many.unwrap_or(SEEDS)),
    };
    println!("seeds {} to {}", seeds.0, seeds.0 + seeds.1 - 1);
    seeds
}

fn bench() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("bench/ensemble")
}

/// All that the members of a form say.
struct Said {
    text: String,
}

impl Said {
    fn of(stack: &str, form: Form, folder: &Path, (seed, count): (u64, u64)) -> Said {
        let work = tempfile::tempdir().expect("a folder");
        let driver = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/forms/traffic.c");
        let program = work.path().join("program");
        let built = form.build((stack, folder), &driver, work.path(), &program);
        let built = built.map_err(|failure| failure.message);
        let program = built.expect("the form is compiled").program;
        let words = [seed, count].map(|word| word.to_string());
        let done = Command::new(program).args(words).output();
        let done = done.expect("the program runs");
        assert!(done.status.success(), "{stack}, {}: {done:?}", form.name());
        Said {
            text: String::from_utf8(done.stdout).expect("text"),
        }
    }

    /// Returns true if members repair, drop, deliver and are told something.
    fn does_enough(&self) -> bool {
        let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
        for line in self.text.lines() {
            let kinds = [
                "frame of",
                "delivered to",
                "is told has_failed",
                "mnak.repeated",
                "bottom.other_view",
                "bottom.origin_failed",
            ];
            for kind in kinds.into_iter().filter(|kind| line.contains(kind)) {
                *counts.entry(kind).or_default() += 1;
            }
        }
        println!("{counts:?}");
        counts.len() == 6 || self.text.matches("seed ").count() < 10
    }

    /// The first line that differs, and its seed.
    fn difference(&self, other: &Said) -> Option<String> {
        let mut seed = "";
        let mut others = other.text.lines();
        for line in self.text.lines() {
            if line.starts_with("seed ") {
                seed = line;
            }
            let found = others.next().unwrap_or("nothing");
            if found != line {
                return Some(format!("{seed}: `{found}`, and not `{line}`"));
            }
        }
        others.next().map(|line| format!("`{line}` behind all"))
    }
}
