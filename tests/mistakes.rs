//! One mistake, one error: each layer and example, broken in one place, is refused in few words.
//!
//! In: the layers, the examples, and a seed, which is printed. Out: how often a mistake was told
//! once, and the texts of which most was said. `SEED=n` breaks them elsewhere, `COUNT=n` breaks
//! each of them so many times in all ways, `WORST=n` prints so many of the worst, and `ONLY=name`
//! breaks one file alone.

#[path = "fixture/cores.rs"]
mod cores;
#[path = "mistakes/mutations.rs"]
mod mutations;
#[allow(dead_code, reason = "other tests choose more")]
#[path = "agree/random.rs"]
mod random;

use cores::on_all_cores;
use random::Random;
use stackloom::diagnostic::render;
use stackloom::pipeline::{self, Checked};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// How often a mistake is told at most.
const MOST: usize = 6;

/// Without `COUNT`, a file is broken in one of so many ways, each file in others.
const SELDOM: usize = 4;

/// Of so many mistakes, out of 1, one error tells; of a few so many, for chance has its part.
const ONCE: f64 = 0.94;
const ONCE_OF_FEW: f64 = 0.9;

/// A file, with the files that stand beside it in its unit.
struct Unit {
    name: String,
    text: String,
    beside: Vec<(String, String)>,
    library: BTreeMap<String, String>,
}

/// A text that was broken, and what was said of it.
struct Outcome {
    said: String,
    text: String,
    count: usize,
    kind: mutations::Kind,
}

#[test]
fn one_mistake_is_one_error() {
    let (seed, count) = (number("SEED").unwrap_or(1), number("COUNT"));
    println!("SEED={seed} COUNT={}", count.unwrap_or(0));
    let mut random = Random(seed);
    let mut broken = Vec::new();
    let units = units();
    for (at, unit) in units.iter().enumerate() {
        for (kind, turn) in mutations::KINDS.into_iter().zip(at..) {
            let times = count.unwrap_or(u64::from(turn % SELDOM == 0));
            for _ in 0..times {
                let text = mutations::broken(&unit.text, kind, &mut random);
                broken.extend(text.map(|(text, said)| (unit, kind, text, said)));
            }
        }
    }
    let mut outcomes = on_all_cores(broken, |(unit, kind, text, said)| {
        let checked = unit.check(&text);
        Outcome {
            said: format!("{}: {said}", unit.name),
            text: render(&checked.diagnostics, &checked.sources, false),
            count: checked.diagnostics.len(),
            kind,
        }
    });
    outcomes.sort_by(|one, other| one.said.cmp(&other.said));
    report(outcomes);
}

fn report(mut outcomes: Vec<Outcome>) {
    for kind in mutations::KINDS {
        let of = outcomes.iter().filter(|it| it.kind == kind);
        let mut often = BTreeMap::new();
        of.for_each(|it| *often.entry(it.count).or_insert(0) += 1);
        println!("{kind:?}: {often:?}");
    }
    outcomes.retain(|it| it.count > 0);
    let once = outcomes.iter().filter(|it| it.count == 1).count();
    let share = once as f64 / outcomes.len().max(1) as f64;
    println!("{once} of {} are told once", outcomes.len());
    outcomes.sort_by_key(|it| std::cmp::Reverse(it.count));
    let shown = number("WORST").unwrap_or(0) as usize;
    for outcome in outcomes.iter().take(shown) {
        println!(
            "=====\n{} times: {}\n{}",
            outcome.count, outcome.said, outcome.text
        );
    }
    let worst = outcomes.first().map_or(0, |it| it.count);
    let said = outcomes.first().map_or("", |it| &it.said);
    assert!(worst <= MOST, "{worst} times: {said}");
    let least = number("COUNT").map_or(ONCE_OF_FEW, |_| ONCE);
    assert!(share >= least, "{:.1} of 100 are told once", share * 100.0);
}

impl Unit {
    /// What is said of the unit with another text in place of this one.
    fn check(&self, text: &str) -> Checked {
        let mut root = self.beside.clone();
        root.push((self.name.clone(), text.to_string()));
        root.sort();
        let mut checked = pipeline::read(root, &self.library);
        pipeline::check(&mut checked);
        checked
    }
}

fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok()?.parse().ok()
}

/// All files, each with what is checked together with it.
fn units() -> Vec<Unit> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut paths = Vec::new();
    for folder in ["layers", "examples"] {
        collect(&root.join(folder), &mut paths);
    }
    paths.sort();
    let texts: BTreeMap<PathBuf, String> = paths
        .iter()
        .map(|path| {
            (
                path.clone(),
                fs::read_to_string(path).expect("it can be read"),
            )
        })
        .collect();
    let name = |path: &Path| {
        let name = path.strip_prefix(root).expect("it is below the root");
        name.display().to_string()
    };
    let layers = root.join("layers");
    let mut library = BTreeMap::new();
    for (path, text) in &texts {
        if let Ok(known) = path.strip_prefix(&layers) {
            library.insert(known.display().to_string(), text.clone());
        }
    }
    let only = std::env::var("ONLY").unwrap_or_default();
    let mut units = Vec::new();
    for (path, text) in &texts {
        if !name(path).contains(&only) {
            continue;
        }
        let folder = path.parent().expect("a file stands in a folder");
        let own = folder.file_name().expect("a folder has a name");
        let shares =
            folder.starts_with(&layers) && folder.join(own).with_extension("loom").exists();
        let others = texts
            .iter()
            .filter(|(other, _)| other.parent() == Some(folder));
        let others: Vec<_> = others.filter(|(other, _)| *other != path).collect();
        let mut beside = Vec::new();
        let mut library = library.clone();
        for (other, text) in others {
            if shares {
                beside.push((name(other), text.clone()));
            }
            let file = other.file_name().expect("a file has a name");
            library.insert(file.to_string_lossy().into_owned(), text.clone());
        }
        units.push(Unit {
            name: name(path),
            text: text.clone(),
            beside,
            library,
        });
    }
    assert!(
        units.len() > 10 || !only.is_empty(),
        "the walk found little"
    );
    units
}

fn collect(folder: &Path, paths: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("a folder can be listed") {
        let path = entry.expect("a folder can be listed").path();
        match path.is_dir() {
            true => collect(&path, paths),
            false if path.extension().is_some_and(|ending| ending == "loom") => paths.push(path),
            false => {}
        }
    }
}
