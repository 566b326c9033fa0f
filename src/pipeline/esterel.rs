//! The way from a text of Esterel to C.
//!
//! In: a text. Out: a module with its automaton, its stack IR, and its two files of C.

use super::refused;
use crate::back::c::esterel::{Outside, Printed, print};
use crate::diagnostic::Diagnostic;
use crate::lower::esterel::{Lowered, lower};
use crate::passes::{PASSES, verified};
use crate::reactive;
use crate::source::Sources;
use crate::syntax;
use crate::tree::automaton::Automaton;
use crate::types::esterel;

/// A module of Esterel and the automaton of its processes.
pub struct Reactive {
    /// The checked module: its meaning is what the reference interpreter makes of it.
    pub module: esterel::Module,
    /// Its state trees.
    pub automaton: Automaton,
}

/// Compiles a module of an Esterel text to state trees, of at most so many nodes: the one with a
/// name, or the last. What is wrong comes beside it.
pub fn esterel(
    sources: &mut Sources,
    text: (String, String),
    main: Option<&str>,
    budget: usize,
) -> (Option<Reactive>, Vec<Diagnostic>) {
    let file = sources.add(text.0, text.1);
    let (tree, mut diagnostics) = syntax::esterel::parse(file, sources);
    if refused(&diagnostics) {
        return (None, diagnostics);
    }
    let (module, found) = esterel::check(&tree, main, sources.span(file).before());
    diagnostics.extend(found);
    let Some(module) = module else {
        return (None, diagnostics);
    };
    match reactive::explore::explore(&module.processes, budget) {
        Ok((automaton, twice)) => {
            diagnostics.extend(esterel::never_set(
                &module,
                &automaton.computed(automaton.states.iter().copied()),
            ));
            if refused(&diagnostics) {
                return (None, diagnostics);
            }
            let warnings = twice
                .iter()
                .map(|signal| reactive::explore::may_be_twice(&module.processes, *signal));
            diagnostics.extend(warnings);
            (Some(Reactive { module, automaton }), diagnostics)
        }
        Err(refusal) => {
            let whole = sources.span(file).before();
            diagnostics.push(refusal.diagnostic(&module.processes, &module.name, whole));
            (None, diagnostics)
        }
    }
}

/// The passes of a module of Esterel, in their order. A state stays a function of its own, so
/// nothing is expanded where it is called. What a signal was given in an instant is known only
/// behind `value-numbering`, so constants are computed before it and behind it.
const OF_INSTANTS: [&str; 10] = [
    "fold",
    "value-numbering",
    "fold",
    "straighten",
    "value-numbering",
    "dead-fields",
    "dead-parameters",
    "dead-code",
    "sink",
    "fold-identical",
];

/// The stack IR of a module of Esterel, behind the passes.
pub fn esterel_ir(module: &esterel::Module, automaton: &Automaton) -> Lowered {
    let lowered = lower(module, automaton);
    let named = |name: &str| {
        let mut passes = PASSES.into_iter();
        let pass = passes.find(|pass| pass.name == name);
        pass.expect("each of these is a pass")
    };
    Lowered {
        module: verified(lowered.module, &OF_INSTANTS.map(named)),
        ..lowered
    }
}

/// The C of a module of Esterel; `file` is where it is written.
pub fn esterel_c(
    file: &str,
    module: &esterel::Module,
    automaton: &Automaton,
    outside: Outside<'_>,
) -> Printed {
    print(file, module, &esterel_ir(module, automaton), outside)
}
