//! Whether the C of a stack does in traces what its trees do, and these what the program says.
//!
//! In: a stack that was compiled, and traces. Out: the first difference, and the shortest trace
//! that shows it.

use crate::compiled::Compiled;
use crate::run::interpreted;
use stackloom::pipeline::Compiled as Built;
use stackloom::simulate::reference::Reference;
use stackloom::simulate::state::Limits;
use stackloom::simulate::trace::Trace;
use stackloom::simulate::trees::Trees;
use stackloom::tool::case::run::{Run, difference};
use stackloom::tool::case::script;
use stackloom::tool::layout::limits;

/// A trace after which a host could tell two apart.
pub struct Differing<'b> {
    built: &'b Built,
    compiled: &'b Compiled<'b>,
    /// How the C was compiled; none: the trees do not what the program says.
    way: Option<String>,
    seed: u64,
    trace: &'b Trace,
    /// What a sanitizer said.
    said: String,
}

/// The first of these traces, each with its seed, in which something differs. Trees are compared
/// with the program where they are to do what that says.
pub fn differing<'b>(
    built: &'b Built,
    compiled: &'b Compiled<'b>,
    traces: &'b [(u64, Trace)],
    by_program: bool,
) -> Option<Differing<'b>> {
    let differing = |way: Option<&str>, (seed, trace): &'b (u64, Trace), said: String| Differing {
        built,
        compiled,
        way: way.map(str::to_string),
        seed: *seed,
        trace,
        said,
    };
    let mut expected = Vec::new();
    for one in traces {
        let run = of_trees(built, &one.1);
        // Woven, a chain of handlers is one step of the budget.
        let is_same = one.1.limits.budget == Limits::default().budget;
        if by_program && is_same && difference(&of_program(built, &one.1), &run).is_some() {
            return Some(differing(None, one, String::new()));
        }
        expected.push(run);
    }
    let all: Vec<Trace> = traces.iter().map(|(_, trace)| trace.clone()).collect();
    for way in compiled.ways() {
        let (runs, said) = compiled.run(way, &all);
        let mut pairs = runs.iter().zip(&expected);
        if let Some(at) = pairs.position(|(run, expected)| run != expected) {
            return Some(differing(Some(way), &traces[at], said));
        }
    }
    None
}

fn of_program(built: &Built, trace: &Trace) -> Run {
    interpreted(Reference::new(&built.program), &built.program, trace)
}

fn of_trees(built: &Built, trace: &Trace) -> Run {
    let trees = Trees::new(&built.program, &built.forest);
    interpreted(trees, &built.program, trace)
}

impl Differing<'_> {
    /// Who does something else.
    pub fn who(&self) -> &str {
        self.way.as_deref().unwrap_or("trees")
    }

    /// What differs in a trace, if it does.
    fn difference(&self, trace: &Trace) -> Option<String> {
        let trees = of_trees(self.built, trace);
        match &self.way {
            None => difference(&of_program(self.built, trace), &trees),
            Some(way) => {
                let (runs, _) = self.compiled.run(way, std::slice::from_ref(trace));
                difference(&trees, &runs[0])
            }
        }
    }

    /// The difference, with the shortest trace that shows it.
    pub fn told(&self, path: &str) -> String {
        let (who, seed) = (self.who(), self.seed);
        if self.difference(self.trace).is_none() {
            return format!("{who}, SEED={seed}: not the same again\n{}", self.said);
        }
        let short = self
            .trace
            .shortened(|trace| self.difference(trace).is_some());
        let difference = self.difference(&short).expect("it differs");
        let usual = limits(&self.built.module);
        let script = script::written(&self.built.program, &short, &usual);
        format!(
            "{who}, SEED={seed}\n{difference}\n{}\n\
             To replay, save this under tests/cases, and EVERY_WAY=1 cargo test --test cases\n\n\
             All ways to run it do the same.\n\n=== stack {path}\n\n{script}\n=== out\n",
            self.said
        )
    }
}
