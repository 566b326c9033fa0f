//! A stack with all rewrites and passes, and with each off in turn: the instructions of its
//! workloads.
//!
//! In: a stack and its driver, and what is off in turn. Out: the counts with all, and each effect.
//! C that is the same without a pass has the same counts, so it is neither compiled nor run.

use super::workloads::{Subject, Workload};
use crate::passes::{PASSES, Passes};
use crate::tool::bench::programs::WHOLE;
use crate::tool::compiler::Options;
use crate::tool::counting::{self, Counted};
use crate::tool::failure::{Failure, about};
use crate::tree::rewrites::Rewrites;
use serde::Serialize;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// A rewrite or pass, and all that is done without it.
pub struct Off {
    /// Its name in `--without`.
    pub name: String,
    /// All that is done with it.
    pub with: Options,
    /// The same without it.
    pub without: Options,
}

impl Off {
    /// Returns all rewrites and passes, in the order in which they run.
    pub fn each() -> Vec<Off> {
        let rewrites = Rewrites::ALL.each().map(|rewrite| Off {
            name: rewrite.about().name.to_string(),
            with: Options::default(),
            without: Options {
                rewrites: Rewrites::ALL.without(Rewrites::only(rewrite)),
                ..Options::default()
            },
        });
        let passes = PASSES.iter().map(|pass| {
            let own = Passes::named(pass.name).expect("it is the name of a pass");
            // The name of a rewrite is that of a pass only behind `ir:`.
            let prefix = match pass.name.parse::<Rewrites>() {
                Ok(_) => "ir:",
                Err(_) => "",
            };
            Off {
                name: format!("{prefix}{}", pass.name),
                with: Options::default(),
                without: Options {
                    passes: Passes::ALL.without(own),
                    ..Options::default()
                },
            }
        });
        rewrites.chain(passes).collect()
    }
}

/// The effect of a rewrite or pass on a workload.
#[derive(Clone, Debug, Serialize)]
pub struct Effect {
    /// Its name in `--without`.
    pub pass: String,
    /// The workload.
    pub workload: &'static str,
    /// Instructions of one unit with it.
    pub with: f64,
    /// Instructions without it.
    pub without: f64,
    /// The C is the same without it.
    pub is_same_code: bool,
}

impl Effect {
    /// Returns by how much the pass makes the workload longer, in percent of the count without it.
    pub fn percent(&self) -> f64 {
        100.0 * (self.with - self.without) / self.without
    }
}

/// All effects on a stack.
pub struct Ablation {
    /// Its name.
    pub stack: String,
    /// The counts of its workloads with all rewrites and passes.
    pub counts: Vec<(&'static str, f64)>,
    /// For each rewrite and pass an effect on each workload.
    pub effects: Vec<Effect>,
}

/// The folders of the sources, of the programs, and of all else that is written.
pub struct Places<'a> {
    /// `bench/`
    pub folder: &'a Path,
    /// Of programs.
    pub keep: &'a Path,
    /// Of C.
    pub work: &'a Path,
    /// Tells what is being counted.
    pub say: &'a (dyn Fn(&str) + Sync),
}

/// Counts a stack with all, and with each of these off. All have the same options `with`.
pub fn measured(places: &Places, subject: &Subject, offs: &[Off]) -> Result<Ablation, Failure> {
    let all = offs
        .first()
        .map_or_else(Options::default, |off| off.with.clone());
    let (code, source) = written(places, subject, "all", all)?;
    let counts = counts(places, subject, "all", &source)?;
    let next = AtomicUsize::new(0);
    type Found = Mutex<Option<Result<Vec<Effect>, Failure>>>;
    let found: Vec<Found> = offs.iter().map(|_| Mutex::new(None)).collect();
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..threads.min(offs.len()) {
            scope.spawn(|| {
                loop {
                    let at = next.fetch_add(1, Ordering::Relaxed);
                    let Some(off) = offs.get(at) else { break };
                    let own = effects(places, subject, off, (&code, &counts));
                    *found[at].lock().expect("no thread panics with it") = Some(own);
                }
            });
        }
    });
    let mut effects = Vec::new();
    for own in found {
        let own = own.into_inner().expect("no thread panics with it");
        effects.extend(own.expect("each was counted")?);
    }
    let names = subject.workloads.iter().map(|workload| workload.name);
    Ok(Ablation {
        stack: subject.name.clone(),
        counts: names.zip(counts).collect(),
        effects,
    })
}

/// Returns the effect of one rewrite or pass on each workload.
fn effects(
    places: &Places,
    subject: &Subject,
    off: &Off,
    (code, counts_with): (&str, &[f64]),
) -> Result<Vec<Effect>, Failure> {
    let variant = format!("without-{}", off.name.replace(':', "-"));
    let (own, source) = written(places, subject, &variant, off.without.clone())?;
    let is_same_code = own == code;
    let counts_without = match is_same_code {
        true => counts_with.to_vec(),
        false => counts(places, subject, &variant, &source)?,
    };
    let all = subject
        .workloads
        .iter()
        .zip(counts_with.iter().zip(counts_without));
    let effects = all.map(|(workload, (with, without))| Effect {
        pass: off.name.clone(),
        workload: workload.name,
        with: *with,
        without,
        is_same_code,
    });
    Ok(effects.collect())
}

/// Writes the C of a stack, and returns its text with the header and the path.
fn written(
    places: &Places,
    subject: &Subject,
    variant: &str,
    options: Options,
) -> Result<(String, PathBuf), Failure> {
    (places.say)(&format!("{} {variant}", subject.name));
    let work = places.work.join(format!("{}-{variant}", subject.name));
    std::fs::create_dir_all(&work).map_err(about(&work))?;
    let stack = places.folder.join(&subject.source);
    let (source, _) = counting::written(&stack, subject.driver, options, &work)?;
    let read = |path: &Path| std::fs::read_to_string(path).map_err(about(path));
    let text = read(&source)? + &read(&source.with_extension("h"))?;
    Ok((text, source))
}

/// Returns the instructions of one unit of each workload.
fn counts(
    places: &Places,
    subject: &Subject,
    variant: &str,
    source: &Path,
) -> Result<Vec<f64>, Failure> {
    let program = places.keep.join(format!("law-{}-{variant}", subject.name));
    let program = std::path::absolute(program)?;
    let words = subject.words.iter().map(String::as_str);
    let flags: Vec<&str> = WHOLE.split_whitespace().chain(words).collect();
    let driver = places.folder.join(format!("{}.c", subject.driver));
    counting::compile_driven(source, &driver, &flags, &program)?;
    let count = |workload: &Workload| {
        (places.say)(&format!("{} {variant}: {}", subject.name, workload.name));
        let counted = Counted {
            program: program.clone(),
            given: workload.given.clone(),
        };
        counted.instructions(&workload.mode)
    };
    subject.workloads.iter().map(count).collect()
}
