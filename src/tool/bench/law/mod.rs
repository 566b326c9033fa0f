//! The law of passes: no rewrite and no pass makes a workload longer than without it, beyond 2 %.
//!
//! In: all stacks of `bench/` whose steps can be counted, and the exceptions of `bench/law.toml`.
//! Out: for each stack a table of what each rewrite and pass changes, in percent of the
//! instructions without it; and each breach of the law. A pass that leaves the C as it is takes no
//! count.
//!
//! ```text
//! workloads    stacks, their drivers, and modes of these
//! ablation     a stack with all rewrites and passes, and with each off in turn
//! exceptions   known breaches, each with its reason
//! ```

pub mod ablation;
pub mod exceptions;
pub mod workloads;

use super::ratchet;
use super::table;
use crate::tool::counting;
use crate::tool::failure::{Failure, Status};
use crate::tool::progress;
use crate::tool::terminal::{note, result};
use ablation::{Ablation, Effect, Off, Places};
use exceptions::{Exceptions, LIMIT, Verdict};
use serde::Serialize;
use std::fmt::Write as _;
use std::path::Path;
use workloads::Subject;

/// Options of `loom bench law`.
#[derive(clap::Args, Debug)]
pub struct Selection {
    /// `law` only: stacks, such as `traffic-offloaded` [default: all]
    #[arg(long, value_name = "NAME,NAME", value_delimiter = ',')]
    stacks: Vec<String>,
    /// `law` only: rewrites and passes, named as in `--without` of `loom build` [default: all]
    #[arg(long, value_name = "NAME,NAME", value_delimiter = ',')]
    passes: Vec<String>,
}

impl Selection {
    /// Returns true if something is chosen, which is of use to `law` alone.
    pub fn is_made(&self) -> bool {
        !self.stacks.is_empty() || !self.passes.is_empty()
    }

    /// Returns the chosen stacks with their chosen workloads, and what is off in turn.
    fn chosen(
        &self,
        workloads: &[String],
        folder: &Path,
    ) -> Result<(Vec<Subject>, Vec<Off>), Failure> {
        let subjects = workloads::subjects(folder);
        let mut subjects = picked("stack", subjects, &self.stacks, |one| &one.name)?;
        let known = subjects.iter().flat_map(|one| &one.workloads);
        picked("workload", known.collect(), workloads, |one| one.name)?;
        for subject in &mut subjects {
            let is_chosen =
                |name: &str| workloads.is_empty() || workloads.iter().any(|w| w == name);
            subject.workloads.retain(|one| is_chosen(one.name));
        }
        subjects.retain(|one| !one.workloads.is_empty());
        let offs = picked("rewrite or pass", Off::each(), &self.passes, |one| {
            &one.name
        })?;
        Ok((subjects, offs))
    }
}

/// Returns those of these names, or all if none is given.
fn picked<T>(
    what: &str,
    all: Vec<T>,
    names: &[String],
    name_of: impl Fn(&T) -> &str,
) -> Result<Vec<T>, Failure> {
    let is_known = |name: &&String| all.iter().any(|one| name_of(one) == *name);
    if let Some(wrong) = names.iter().find(|name| !is_known(name)) {
        let mut known: Vec<&str> = Vec::new();
        for name in all.iter().map(&name_of) {
            if !known.contains(&name) {
                known.push(name);
            }
        }
        let known = known.join(", ");
        let says = format!("there is no {what} `{wrong}`, but {known}");
        return Err(Failure::environment(says));
    }
    let is_chosen = |one: &T| names.is_empty() || names.iter().any(|name| name == name_of(one));
    Ok(all.into_iter().filter(is_chosen).collect())
}

/// All that was found.
#[derive(Serialize)]
struct Report {
    bench: &'static str,
    machine: String,
    date: String,
    rows: Vec<Row>,
    breaches: Vec<String>,
}

/// The effect of one rewrite or pass on one workload.
#[derive(Serialize)]
struct Row {
    stack: String,
    #[serde(flatten)]
    effect: Effect,
    /// By how much the pass makes the workload longer, in percent of the count without it.
    percent: f64,
}

/// Counts the chosen stacks in a source tree, prints the tables, and fails at a breach if that is
/// asked for.
pub fn run(
    folder: &Path,
    choice: &Selection,
    workloads: &[String],
    keep: Option<&Path>,
    (is_json, is_strict): (bool, bool),
) -> Result<(), Failure> {
    let (subjects, offs) = choice.chosen(workloads, folder)?;
    let exceptions = Exceptions::read(folder)?;
    if !counting::can_count() {
        return Err(undecided("nothing was counted"));
    }
    let work = tempfile::tempdir()?;
    let spinner = progress::spinner("bench");
    let places = Places {
        folder,
        keep: keep.unwrap_or(work.path()),
        work: work.path(),
        say: &|text| spinner.set_message(text.to_string()),
    };
    let found: Result<Vec<Ablation>, Failure> = subjects
        .iter()
        .map(|subject| ablation::measured(&places, subject, &offs))
        .collect();
    spinner.finish_and_clear();
    let found = found?;
    let tools = ratchet::tools();
    let is_comparable = exceptions.tools.as_ref().is_none_or(|own| *own == tools);
    if !is_comparable {
        note(format_args!(
            "figures are not compared: bench/law.toml was recorded with {}, and here is {tools}",
            exceptions.tools.as_deref().unwrap_or_default()
        ));
    }
    let breaches = match is_comparable {
        true => breaches(&exceptions, &found),
        false => Vec::new(),
    };
    let judged = is_comparable.then_some(&exceptions);
    print(is_json, &found, judged, &breaches)?;
    match (is_strict, is_comparable, &breaches[..]) {
        (true, false, _) => Err(undecided("no figure was compared")),
        (true, true, [_, ..]) => Err(Failure::refused(format!(
            "the law of passes is broken: {}",
            breaches.join("; ")
        ))),
        _ => Ok(()),
    }
}

fn undecided(says: &str) -> Failure {
    Failure {
        status: Status::Undecided,
        message: says.to_string(),
    }
}

/// Returns a sentence for each breach.
fn breaches(exceptions: &Exceptions, found: &[Ablation]) -> Vec<String> {
    let sentences = found.iter().flat_map(|one| {
        let effects = one.effects.iter();
        effects.filter_map(|effect| exceptions.breach(&one.stack, effect))
    });
    sentences.collect()
}

fn print(
    is_json: bool,
    found: &[Ablation],
    exceptions: Option<&Exceptions>,
    breaches: &[String],
) -> Result<(), Failure> {
    let (machine, date) = (counting::machine(), counting::date());
    if is_json {
        let rows = found.iter().flat_map(|one| {
            let row = |effect: &Effect| Row {
                stack: one.stack.clone(),
                percent: effect.percent(),
                effect: effect.clone(),
            };
            one.effects.iter().map(row)
        });
        let report = Report {
            bench: "law",
            machine,
            date,
            rows: rows.collect(),
            breaches: breaches.to_vec(),
        };
        let text = serde_json::to_string(&report);
        let text = text.expect("numbers and names can be written as JSON");
        return result(format_args!("{text}\n"));
    }
    let tables = found.iter().map(|one| of_stack(one, exceptions));
    let tables = tables.collect::<String>();
    let mut text = format!("law on {machine}, {date}\n\n{tables}");
    text += "change of instructions by a rewrite or pass, in percent of those without it";
    if exceptions.is_some() {
        let legend = "it\nbreaks the law (!), unless bench/law.toml has it (*)";
        write!(text, ": above {LIMIT:.0} {legend}").expect("a string takes every line");
    }
    text += "\n";
    for breach in breaches {
        writeln!(text, "{breach}").expect("a string takes every line");
    }
    result(text)
}

/// Returns the table of a stack: a row for each rewrite and pass that changes its C.
fn of_stack(one: &Ablation, exceptions: Option<&Exceptions>) -> String {
    let (stack, effects) = (&one.stack, &one.effects);
    let heads = one.counts.iter().map(|(name, _)| name.to_string());
    let heads: Vec<String> = [stack.clone()].into_iter().chain(heads).collect();
    let counts = one
        .counts
        .iter()
        .map(|(_, count)| table::spaced(count.round()));
    let all = ["with all".to_string()].into_iter().chain(counts).collect();
    let mut rows: Vec<Vec<String>> = vec![all];
    let mut idle = Vec::new();
    for own in effects.chunk_by(|one, next| one.pass == next.pass) {
        let pass = &own[0].pass;
        if own.iter().all(|effect| effect.is_same_code) {
            idle.push(pass.as_str());
            continue;
        }
        let cells = own.iter().map(|effect| {
            let sign = match exceptions.map(|all| all.verdict(stack, effect)) {
                None | Some(Verdict::Kept | Verdict::Stale) => " ",
                Some(Verdict::Known) => "*",
                Some(Verdict::Broken | Verdict::Worse) => "!",
            };
            let percent = (10.0 * effect.percent()).round() / 10.0;
            match percent == 0.0 {
                true => format!("0{sign}"),
                false => format!("{percent:+.1}{sign}"),
            }
        });
        rows.push([pass.clone()].into_iter().chain(cells).collect());
    }
    let mut text = table::figures(&heads, &rows);
    if !idle.is_empty() {
        let idle = idle.join(", ");
        writeln!(text, "the same C without: {idle}").expect("a string takes every line");
    }
    text + "\n"
}
