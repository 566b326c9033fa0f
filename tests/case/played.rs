//! The sections `out` and `wire`: a script, played in every way in which a stack can run.
//!
//! In: the sections `config`, `host` and `in`, and a program. Out: what the host saw, which must be
//! the same from the reference interpreter, the trees, the woven trees and the compiled C.

use crate::compiled::Compiled;
use crate::externs::supplied;
use crate::format::Case;
use crate::play::play;
use crate::run::{difference, interpreted};
use crate::script::{self, Beginning};
use crate::wire;
use stackloom::emit;
use stackloom::reactive;
use stackloom::simulate::reference::Reference;
use stackloom::simulate::stack::Stack;
use stackloom::simulate::trace::Trace;
use stackloom::simulate::trees::Trees;
use stackloom::source::Sources;
use stackloom::tree::Forest;
use stackloom::types::program::Program;
use stackloom::weave;

/// How the C is compiled, if all that is asked for is that it does the same.
const USUALLY: [(&str, &str); 1] = [("gcc", "-O0")];

/// And when every way is asked for.
const EVERY_WAY: [(&str, &str); 4] = [
    ("gcc", "-O0"),
    ("gcc", "-O2"),
    ("clang-16", "-O0"),
    ("clang-16", "-O2"),
];

/// The texts of the two sections.
pub struct Played {
    /// What the host saw.
    pub out: String,
    /// What went over the links.
    pub wire: String,
}

/// Plays the script of a case, of this name, to a program.
pub fn played(
    name: &str,
    case: &Case,
    sources: &Sources,
    program: &Program,
) -> Result<Played, String> {
    let text = |kind: &str| case.text(kind).unwrap_or_default();
    // A case may call its stack what no C can be called.
    let mut program = program.clone();
    if case.text("source").is_some() {
        program.name = "played".to_string();
    }
    let program = &program;
    if let [function, ..] = supplied(program).missing(program)[..] {
        return Err(format!(
            "`{function}` is written in C, and not in tests/c_agrees/externs.c"
        ));
    }
    let plain = reactive::lower(program).map_err(|_| "the trees were refused")?;
    let (woven, _) = weave::weave(program, plain.clone(), weave::Limits::default());
    let code = emit::c(sources, program, &woven);
    let mut stacks = case.sections.iter().filter(|one| one.kind == "stack");
    let place = stacks.next().map_or(name, |stack| &stack.name);
    let every_way = std::env::var_os("EVERY_WAY").is_some();
    let ways = if every_way { &EVERY_WAY[..] } else { &USUALLY };
    let compiled = Compiled::new(&format!("{place}/woven"), program, &code, ways);
    let beginning = script::beginning(program, text("config"), text("host"), compiled.limits)?;
    // Woven, a chain of handlers is one step of the budget: then they agree with each other only.
    let by_steps = beginning.limits.budget != compiled.limits.budget;
    let forest = by_steps.then_some(&woven);
    let (trace, played) = expected(program, forest, beginning, text("in"))?;
    let expected = match by_steps {
        true => interpreted(Trees::new(program, &woven), program, &trace),
        false => interpreted(Reference::new(program), program, &trace),
    };
    let mut runs = vec![(
        "the woven trees".to_string(),
        interpreted(Trees::new(program, &woven), program, &trace),
    )];
    if !by_steps {
        runs.push((
            "the trees".to_string(),
            interpreted(Trees::new(program, &plain), program, &trace),
        ));
    }
    // What only interpreters can be given, the C is not asked for.
    let own = (trace.limits.reserve, trace.limits.outputs);
    let as_in_c = own == (compiled.limits.reserve, compiled.limits.outputs);
    let mut run = |compiled: &Compiled<'_>, how: &str| {
        for way in compiled.ways().filter(|_| as_in_c) {
            let (ran, said) = compiled.run(way, std::slice::from_ref(&trace));
            let ran = ran.into_iter().next().expect("one trace is one run");
            runs.push((format!("{said}{how} C of {way}"), ran));
        }
    };
    run(&compiled, "the");
    if every_way && !by_steps {
        let code = emit::c(sources, program, &plain);
        let place = format!("{place}/plain");
        run(&Compiled::new(&place, program, &code, ways), "the unwoven");
    }
    for (who, run) in runs {
        if let Some(difference) = difference(&expected, &run) {
            let script = script::written(program, &trace, compiled.limits);
            return Err(format!("{who} does otherwise\n{difference}\n{script}"));
        }
    }
    Ok(played)
}

/// What comes of the script, by the reference or by these trees.
fn expected(
    program: &Program,
    forest: Option<&Forest>,
    beginning: Beginning,
    script: &str,
) -> Result<(Trace, Played), String> {
    let mut trace = Trace {
        config: beginning.config,
        limits: beginning.limits,
        start_ns: beginning.start_ns,
        steps: Vec::new(),
    };
    let (config, limits, start_ns) = (trace.config.clone(), trace.limits, trace.start_ns);
    let lines = script::lines(program, script)?;
    let reference = Reference::new(program);
    let started = Stack::start(
        reference,
        program,
        supplied(program),
        config.clone(),
        limits,
        start_ns,
    );
    let Some(mut stack) = started else {
        let out = "the stack refuses to start\n".to_string();
        let wire = String::new();
        return Ok((trace, Played { out, wire }));
    };
    let state = stack.state().clone();
    let played = match forest {
        None => play(program, &mut stack, start_ns, lines),
        Some(forest) => {
            let trees = Trees::new(program, forest);
            let stack = Stack::start(trees, program, supplied(program), config, limits, start_ns);
            let mut stack = stack.expect("the settings were right a moment ago");
            play(program, &mut stack, start_ns, lines)
        }
    };
    let wire = wire::dump(program, &state, &played.steps, &played.seen);
    trace.steps = played.steps;
    let out = played.text;
    Ok((trace, Played { out, wire }))
}
