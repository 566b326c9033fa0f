//! Programs at random: the trees of each do what it says, under sets of rewrites, and so does its
//! C, on traffic much of which goes the fast path.
//!
//! In: seeds. Out: the first difference, with its seed, the shortest trace that shows it, and a
//! program that is shorter, if one is found in which the same is wrong. `SEED=n` runs one program
//! alone, `SEEDS=n` so many, each built in all ways.

#[path = "generated/agreement.rs"]
mod agreement;
#[path = "c_agrees/compared.rs"]
mod compared;
#[path = "c_agrees/compiled.rs"]
mod compiled;
#[path = "c_agrees/externs.rs"]
mod externs;
#[path = "c_agrees/glue.rs"]
mod glue;
#[path = "c_agrees/harder.rs"]
mod harder;
#[path = "agree/headers.rs"]
mod headers;
#[path = "generated/layer.rs"]
mod layer;
#[path = "generated/process.rs"]
mod process;
#[path = "agree/profiles.rs"]
mod profiles;
#[path = "generated/program.rs"]
mod program;
#[path = "agree/random.rs"]
mod random;
#[path = "c_agrees/run.rs"]
mod run;
#[path = "generated/scope.rs"]
mod scope;
#[path = "generated/seldom.rs"]
mod seldom;
#[path = "agree/sets.rs"]
mod sets;
#[path = "generated/shorter.rs"]
mod shorter;
#[path = "generated/statement.rs"]
mod statement;
#[path = "agree/traffic.rs"]
mod traffic;
#[path = "generated/trains.rs"]
mod trains;
#[path = "c_agrees/unguarded.rs"]
mod unguarded;
#[path = "generated/value.rs"]
mod value;
#[path = "generated/wanted.rs"]
mod wanted;
#[path = "generated/went.rs"]
mod went;

use compared::differing;
use compiled::Compiled;
use random::Random;
use run::interpreted;
use shorter::shortened;
use stackloom::back::c::print;
use stackloom::diagnostic::render;
use stackloom::pipeline::{self, Checked, Compiled as Built, Variant};
use stackloom::profile::Profile;
use stackloom::reactive::handlers::Budget;
use stackloom::simulate::reference::Reference;
use stackloom::simulate::state::Limits;
use stackloom::simulate::trace::Trace;
use stackloom::simulate::trees::Trees;
use stackloom::tool::case::run::difference;
use stackloom::tool::layout::limits;
use stackloom::tool::library::Folders;
use stackloom::tree::check::check;
use stackloom::tree::rewrites::{ORDER, Rewrites};
use stackloom::tree::text::compact;
use stackloom::types::program::Program;
use std::any::Any;
use std::collections::BTreeMap;
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use unguarded::without_guards;
use went::Went;

/// How the C is compiled.
const WAY: (&str, &str) = ("clang-16", "-O0");

/// Calls of a trace, before others follow them.
const LENGTH: usize = 60;

/// Traces of a program.
const TRACES: u64 = 4;

/// A file without a name has this one.
const FILE: &str = "generated.loom";

/// The stack of each program.
const STACK: &str = "generated";

/// What becomes of a program before it runs.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Form {
    /// Its trees, after some sets of rewrites.
    Trees,
    /// C, as it is mostly built.
    Woven,
    /// C of trees that are not woven.
    Plain,
    /// C of processes that stay apart.
    Apart,
    /// C as if nothing was known of its traffic.
    Raw,
    /// C by what was recorded, and the same without what was never seen.
    Recorded,
    Specialised,
    /// C after a set of rewrites.
    Rewritten(Rewrites),
}

/// What is wrong with a program.
struct Fault {
    /// A word by which the same fault is known.
    kind: String,
    /// All of it.
    told: String,
}

#[test]
fn programs_at_random_do_what_they_say() {
    let mut went = Went::default();
    let (mut refused, mut wrong) = (BTreeMap::new(), Vec::new());
    let seeds = seeds();
    for seed in seeds.clone() {
        let text = program::program(seed);
        for form in forms(seed) {
            match tried(&text, seed, form) {
                Ok(one) => went.add(one),
                Err(fault) if fault.kind == REFUSED => _ = refused.insert(seed, fault.told),
                Err(fault) => {
                    println!("{}", told(&text, seed, form, &fault));
                    wrong.push((seed, form));
                }
            }
        }
    }
    let count = seeds.end - seeds.start;
    println!(
        "{count} programs from SEED={}, {} refused: {went:?}",
        seeds.start,
        refused.len()
    );
    assert_eq!(wrong, [], "these do something else");
    let told = Vec::from_iter(refused.values().map(String::as_str));
    assert!(told.len() as u64 <= count / 20, "{}", told.join("\n"));
    if count >= PROGRAMS {
        assert!(went.fast > 10, "there are fast functions: {went:?}");
        assert!(went.first > 5, "some are tried before others: {went:?}");
        assert!(went.caches > 5, "some guards are asked once: {went:?}");
    }
}

#[test]
fn a_path_that_does_not_heed_what_it_asks_is_found() {
    let found = (FIRST..FIRST + PROGRAMS).find_map(|seed| {
        let text = program::program(seed);
        let mut built = built(&text, seed, Form::Woven).ok()?;
        without_guards(&mut built.module);
        let sources = read(&text).sources;
        let code = print(&built.module, &sources, Variant::Plain);
        (code.c != built.code.c).then_some(())?;
        built.code = code;
        let agrees = || c_agrees((&built, seed), Form::Woven, "planted");
        let tried = catch_unwind(AssertUnwindSafe(agrees));
        tried.unwrap_or_else(|panic| Err(panicked(&*panic))).err()
    });
    let told = found.expect("it is found in none").told;
    assert!(told.contains("SEED="), "it does not even compile: {told}");
}

/// So many programs are tried where nothing is said, from this one on.
const PROGRAMS: u64 = 18;
const FIRST: u64 = 7;

fn seeds() -> Range<u64> {
    match (number("SEED"), number("SEEDS")) {
        (Some(seed), count) => seed..seed + count.unwrap_or(1),
        (None, count) => FIRST..FIRST + count.unwrap_or(PROGRAMS),
    }
}

fn number(name: &str) -> Option<u64> {
    let value = std::env::var(name).ok();
    value.map(|value| value.parse().expect("a seed is a number"))
}

/// In what forms a program is tried: in all, where it is said which or how many.
fn forms(seed: u64) -> Vec<Form> {
    let sets = sets::sets();
    let rewritten = Form::Rewritten(sets[seed as usize % sets.len()]);
    let others = [
        Form::Plain,
        Form::Apart,
        Form::Raw,
        Form::Recorded,
        Form::Specialised,
        rewritten,
    ];
    let all = [&[Form::Trees, Form::Woven][..], &others].concat();
    match (number("SEED"), number("SEEDS")) {
        (None, None) if seed.is_multiple_of(4) => {
            vec![Form::Trees, others[seed as usize / 4 % others.len()]]
        }
        (None, None) => vec![Form::Trees, Form::Woven],
        _ => all,
    }
}

/// A fault of the generator: the program is none.
const REFUSED: &str = "refused";

/// Whether all is right with a program.
fn tried(text: &str, seed: u64, form: Form) -> Result<Went, Fault> {
    let tried = catch_unwind(AssertUnwindSafe(|| match form {
        Form::Trees => trees_agree(text, seed).map(|()| Went::default()),
        _ => c_agrees((&built(text, seed, form)?, seed), form, "generated"),
    }));
    tried.unwrap_or_else(|panic| Err(panicked(&*panic)))
}

fn panicked(panic: &dyn Any) -> Fault {
    let said = panic.downcast_ref::<String>().cloned();
    let said = said.or_else(|| panic.downcast_ref::<&str>().map(|said| said.to_string()));
    let told = said.unwrap_or_default();
    let kind = told.chars().take(20).collect();
    Fault { kind, told }
}

/// What is said of a fault: the program is made short, and then told.
fn told(text: &str, seed: u64, form: Form, fault: &Fault) -> String {
    let is_same = |text: &str| match tried(text, seed, form) {
        Err(other) => other.kind == fault.kind,
        Ok(_) => false,
    };
    let tries = if form == Form::Trees { 400 } else { 150 };
    let short = shortened(text, tries, is_same);
    let fault = tried(&short, seed, form).err();
    let told = fault.map_or("not the same again".to_string(), |fault| fault.told);
    format!("SEED={seed} {form:?}\n{told}\n=== source\n{short}")
}

fn read(text: &str) -> Checked {
    let search = vec![PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("layers")];
    let library = Folders { search };
    pipeline::read(vec![(FILE.to_string(), text.to_string())], &library)
}

fn refused(checked: &Checked) -> Fault {
    let told = render(&checked.diagnostics, &checked.sources, false);
    let (kind, unfit) = (REFUSED.to_string(), &checked.unfit);
    let told = format!("{told}{unfit:?}");
    Fault { kind, told }
}

fn trees_agree(text: &str, seed: u64) -> Result<(), Fault> {
    let mut checked = read(text);
    let trees = pipeline::trees(&mut checked, STACK);
    let (mut program, plain) = trees.ok_or_else(|| refused(&checked))?;
    let plain_program = program.clone();
    let mut forests = Vec::new();
    for set in sets_of_trees(seed) {
        let forest = compact(&pipeline::woven(&mut program, plain.clone(), set));
        if forests.iter().all(|(_, one)| *one != forest) {
            forests.push((set, forest));
        }
    }
    for (set, forest) in &forests {
        if let Some(wrong) = check(&program, forest).first() {
            let (kind, told) = ("rules".to_string(), format!("{set}: {wrong}"));
            return Err(Fault { kind, told });
        }
    }
    for at in 0..TRACES {
        let trace = trace(&plain_program, (seed, at), Limits::default());
        let reference = interpreted(Reference::new(&program), &program, &trace);
        for (set, forest) in &forests {
            let run = interpreted(Trees::new(&program, forest), &program, &trace);
            if let Some(told) = difference(&reference, &run) {
                let (kind, told) = ("trees".to_string(), format!("trace {at}, {set}:\n{told}"));
                return Err(Fault { kind, told });
            }
        }
    }
    Ok(())
}

/// All rewrites, none, and a few others.
fn sets_of_trees(seed: u64) -> Vec<Rewrites> {
    let mut random = Random(seed);
    let mut sets = vec![Rewrites::NONE, Rewrites::ALL];
    for _ in 0..3 {
        let some = ORDER.into_iter().filter(|_| random.percent(50));
        let some = some.map(|one| Rewrites::only(one.rewrite));
        sets.push(some.fold(Rewrites::NONE, Rewrites::and));
    }
    sets
}

/// A trace of a program: what two ends say to each other, much of it along the fast path.
fn trace(program: &Program, (seed, at): (u64, u64), mut limits: Limits) -> Trace {
    let seed = 16 * seed + at;
    let mut random = Random(seed);
    if at == 1 {
        limits.buffers = limits.reserve + 1 + random.below(12) as u32;
    }
    if at == 2 {
        limits.budget = 1 + random.below(6) as u32;
    }
    let trace = traffic::trace(program, seed, LENGTH, limits);
    let trace = trains::with_trains(program, trace, &mut random);
    match at {
        3 => harder::harder(program, trace, &mut random),
        _ => trace,
    }
}

fn c_agrees((built, seed): (&Built, u64), form: Form, folder: &str) -> Result<Went, Fault> {
    let place = format!("{folder}/{seed}");
    let code = (&built.module, &built.code);
    let compiled = Compiled::new(&place, &built.program, code, &[WAY]);
    let usual = limits(&built.module);
    let traces = (0..TRACES).map(|at| (at, trace(&built.program, (seed, at), usual.clone())));
    let traces = Vec::from_iter(traces);
    let by_program = form != Form::Specialised;
    if let Some(found) = differing(built, &compiled, &traces, by_program) {
        let (kind, told) = (found.who().to_string(), found.told(FILE));
        return Err(Fault { kind, told });
    }
    Ok(Went::of(&built.module))
}

fn built(text: &str, seed: u64, form: Form) -> Result<Built, Fault> {
    let mut checked = read(text);
    let trees = pipeline::trees(&mut checked, STACK);
    let (program, forest) = trees.ok_or_else(|| refused(&checked))?;
    match form {
        Form::Trees | Form::Woven => {}
        Form::Plain => {
            return Ok(pipeline::unoptimised(&checked, (program, forest)));
        }
        Form::Apart => {
            checked.budget = Budget {
                together: 0,
                ..Budget::default()
            }
        }
        Form::Raw => checked.profile = Profile::Raw,
        Form::Recorded | Form::Specialised => {
            let traces = [(seed, 4), (seed, 8)];
            let traces = traces.map(|one| trace(&program, one, Limits::default()));
            let recorded = profiles::of_traces(&program, &forest, &traces);
            checked.profile = Profile::Recorded(recorded);
            checked.specialised = form == Form::Specialised;
        }
        Form::Rewritten(set) => checked.rewrites = set,
    }
    pipeline::compile(&mut checked, STACK, STACK).ok_or_else(|| refused(&checked))
}
