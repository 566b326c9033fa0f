//! The sections `out` and `wire`: a script, played in every way in which a stack can run.
//!
//! In: the sections `config`, `host` and `in`, and a program. Out: what the host saw, which must be
//! the same from the reference interpreter, the trees, the woven trees and the compiled C.

use super::format::Case;
use super::play::play;
use super::run::{self, Run, difference, interpreted};
use super::script::{self, Beginning, Line};
use super::subject::{Compiled, Subject};
use super::wire;
use super::{InC, Playing, Surroundings};
use crate::simulate::externs::Externs;
use crate::simulate::reference::Reference;
use crate::simulate::stack::Stack;
use crate::simulate::state::Limits;
use crate::simulate::trace::Trace;
use crate::simulate::trees::Trees;
use crate::source::Sources;
use crate::tree::Forest;
use crate::types::program::Program;
use std::path::Path;

/// The name of what runs behind all passes.
const OF_PASSES: &str = "the stack IR of the woven trees";

/// The texts of the two sections.
#[derive(Default)]
pub struct Played {
    /// What the host saw.
    pub out: String,
    /// What went over the links.
    pub wire: String,
}

/// Plays the script of a case to the first stack of it.
pub fn played(
    path: &Path,
    case: &Case,
    subject: &Subject,
    around_it: &dyn Surroundings,
) -> Result<Played, String> {
    let text = |kind: &str| case.text(kind).unwrap_or_default();
    let stack = subject.stacks.first();
    let stack = stack.ok_or("the case has no stack")?;
    let (program, sources) = (&stack.program, &subject.sources);
    let in_c = around_it.externs(program);
    let in_c = in_c.missing(program).first().copied();
    let usual = stack.limits();
    let mut beginning = script::beginning(program, text("config"), text("host"), usual.clone())?;
    let mut files = case.sections.iter().filter(|one| one.kind == "stack");
    let forms = Forms {
        place: files.next().map_or(path, |file| Path::new(&file.name)),
        sources,
        stack,
        usual,
        around_it,
    };
    let mut played = Played::default();
    for (life, lines) in script::lives(program, text("in"))?.into_iter().enumerate() {
        if life > 0 {
            let again = format!("{} starts anew\n", script::moment(beginning.start_ns));
            played.out.push_str(&again);
            played.wire.push_str(&again);
        }
        beginning.start_ns = match in_c {
            None => forms.play(&beginning, lines, &mut played)?,
            Some(function) => {
                let wants_wire = case.text("wire").is_some();
                forms.play_in_c(function, wants_wire, &beginning, lines, &mut played)?
            }
        };
    }
    Ok(played)
}

/// A stack in all forms in which it can run.
struct Forms<'case> {
    place: &'case Path,
    sources: &'case Sources,
    stack: &'case Compiled,
    usual: Limits,
    around_it: &'case dyn Surroundings,
}

impl Forms<'_> {
    /// Plays these lines to the C alone, since nobody else can call this function.
    fn play_in_c(
        &self,
        function: &str,
        wants_wire: bool,
        beginning: &Beginning,
        lines: Vec<Line>,
        texts: &mut Played,
    ) -> Result<u64, String> {
        let in_c = InC {
            sources: self.sources,
            stack: self.stack,
            beginning,
        };
        let played = self.around_it.compiled(&in_c, lines)?;
        let played = played.ok_or_else(|| {
            format!("`{function}` is written in C: add its source with loom test --c FILE")
        })?;
        if wants_wire {
            return Err(format!(
                "`{function}` is written in C, so the headers cannot be decoded: remove the \
                section `wire`"
            ));
        }
        texts.out.push_str(&played.text);
        Ok(played.end_ns)
    }

    /// Plays these lines to all, adds what comes out, and says when it was over.
    fn play(
        &self,
        beginning: &Beginning,
        lines: Vec<Line>,
        texts: &mut Played,
    ) -> Result<u64, String> {
        let (program, woven) = self.stack.woven();
        let plain = &self.stack.plain;
        // What is written in C may remember: each run has its own, from the beginning.
        let [
            first,
            of_forest,
            of_expected,
            of_woven,
            of_plain,
            of_module,
            of_woven_module,
        ] = &[(); 7].map(|()| self.around_it.externs(program));
        // Woven, a chain of handlers is one step of the budget: then only they can be compared.
        let by_steps = beginning.limits.budget != self.usual.budget;
        let forest = by_steps.then_some(woven);
        let (trace, end_ns) = expected(
            program,
            [first, of_forest],
            forest,
            beginning.clone(),
            lines,
            texts,
        );
        let trees =
            |forest, externs| interpreted(Trees::new(program, forest), program, externs, &trace);
        let expected = match by_steps {
            true => trees(woven, of_expected),
            false => interpreted(Reference::new(program), program, of_expected, &trace),
        };
        let mut runs = vec![("the woven trees".to_string(), trees(woven, of_woven))];
        let module = self.stack.woven_module(&self.around_it.passes());
        let run = run::played(module, program, of_woven_module, &trace);
        runs.push((OF_PASSES.to_string(), run));
        if !by_steps {
            runs.push(("the trees".to_string(), trees(plain, of_plain)));
            let of = &self.stack.program;
            let run = run::played(self.stack.module(), of, of_module, &trace);
            runs.push(("the stack IR".to_string(), run));
        }
        runs.extend(self.around_it.others(&Playing {
            place: self.place,
            sources: self.sources,
            stack: self.stack,
            by_steps,
            trace: &trace,
        }));
        for (who, run) in runs {
            let Some(difference) = difference(&expected, &run) else {
                continue;
            };
            let first = (who == OF_PASSES).then(|| self.first_wrong(&trace, &expected));
            let (behaves, difference) = match first.flatten() {
                Some((pass, difference)) => (format!("differs after {pass}"), difference),
                None => ("behaves differently".to_string(), difference),
            };
            let script = script::written(program, &trace, &self.usual);
            return Err(format!("{who} {behaves}\n{difference}\n{script}"));
        }
        Ok(end_ns)
    }

    /// Returns the first pass of the stack IR after which a trace runs otherwise than expected, and
    /// the difference.
    fn first_wrong(&self, trace: &Trace, expected: &Run) -> Option<(&'static str, String)> {
        let (program, _) = self.stack.woven();
        let passes = self.around_it.passes();
        self.stack.first_difference(&passes, |module| {
            let externs = self.around_it.externs(program);
            difference(expected, &run::played(module, program, &externs, trace))
        })
    }
}

/// What comes of these lines, by the reference or by these trees, and when they are over.
fn expected<'p>(
    program: &'p Program,
    [externs, of_forest]: [&'p Externs<'p>; 2],
    forest: Option<&Forest>,
    beginning: Beginning,
    lines: Vec<Line>,
    texts: &mut Played,
) -> (Trace, u64) {
    let mut trace = Trace {
        config: beginning.config,
        limits: beginning.limits,
        start_ns: beginning.start_ns,
        steps: Vec::new(),
    };
    let (config, limits) = (trace.config.clone(), trace.limits.clone());
    let start_ns = trace.start_ns;
    let reference = Reference::new(program);
    let started = Stack::start(
        reference,
        program,
        externs,
        config.clone(),
        limits.clone(),
        start_ns,
    );
    let Some(mut stack) = started else {
        texts.out.push_str("the stack does not start\n");
        return (trace, start_ns);
    };
    let state = stack.state().clone();
    let played = match forest {
        None => play(program, &mut stack, start_ns, lines),
        Some(forest) => {
            let trees = Trees::new(program, forest);
            let stack = Stack::start(trees, program, of_forest, config, limits, start_ns);
            let mut stack = stack.expect("the settings were right a moment ago");
            play(program, &mut stack, start_ns, lines)
        }
    };
    let wire = wire::dump(program, &state, &played.steps, &played.seen);
    texts.wire.push_str(&wire);
    texts.out.push_str(&played.text);
    trace.steps = played.steps;
    (trace, played.end_ns)
}
