//! Modules of Esterel to C, as users of Esterel know it.
//!
//! In: a module and its automaton. Out: `NAME.c` and `NAME.h`. A state is a function that does what
//! an instant does there and answers the next state; what several ways have in common is a function
//! of its own, so that nothing is written twice.
//!
//! ```text
//! known      what has a value, wherever a value is read      names      members of the structs
//! expression, value   what is computed                       tree       what happens in an instant
//! interface  what is called from outside                     header     NAME.h
//! ```
//!
//! | name | what it is |
//! |---|---|
//! | `M`, `M_reset`, `M_error` | an instant, the beginning, what went wrong |
//! | `M_I_x`, `M_O_x`, `M_S_x` | an input, an output, a sensor |
//! | `M_given`, `M_emitted`, `M_value`, `M_known`, `M_before` | what is known of signals |
//! | `M_variable` | variables, and the counts of delays |
//! | `M_state_1`, `M_part_2` | what happens in a state, or in the rest of several instants |
//! | `M_add`, `M_same` | arithmetic that wraps, and texts |

mod expression;
mod header;
mod interface;
mod known;
mod names;
mod tree;
mod value;

use crate::c::printer;
use crate::c::tree::Item;
use crate::tree::automaton::Automaton;
use crate::types::esterel::Module;
use crate::types::process::{Role, SignalId};
use known::Known;
use names::Names;
pub use names::refused;

/// Where the C of others is declared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outside<'a> {
    /// In `NAME.h`: functions, procedures and constants of Esterel's own types.
    Declared,
    /// In a header that others write: types, too.
    Header(&'a str),
}

/// The C of a module.
#[derive(Clone, Debug)]
pub struct Emitted {
    /// `NAME.c`
    pub c: String,
    /// `NAME.h`
    pub h: String,
}

/// Emits a module; `file` is where it is written.
pub fn c(file: &str, module: &Module, automaton: &Automaton, outside: Outside) -> Emitted {
    let mut emitter = Emitter {
        file,
        module,
        automaton,
        names: Names::new(module),
        known: Known::new(module, automaton),
        outside,
        fails: true,
    };
    emitter.fails = emitter.may_fail();
    Emitted {
        c: emitter.source(),
        h: emitter.header(),
    }
}

/// What is true in C before a sensor is read in order to keep its value for the next instant; none
/// where no value is kept. Who has no value for it yet takes that back.
pub fn flag_of_kept_sensor(module: &Module, signal: SignalId) -> Option<String> {
    let declared = module.processes.signal(signal);
    let kept = declared.role == Role::Sensor && declared.previous_value;
    kept.then(|| {
        let names = Names::new(module);
        format!(
            "{}_known_before.{}",
            names.prefix,
            names.signals[signal.at()]
        )
    })
}

/// A module that is being emitted.
#[derive(Debug)]
struct Emitter<'a> {
    file: &'a str,
    module: &'a Module,
    automaton: &'a Automaton,
    names: Names,
    known: Known,
    outside: Outside<'a>,
    /// Whether an instant may go wrong.
    fails: bool,
}

impl Emitter<'_> {
    /// A name that the header offers or asks for.
    fn offered(&self, name: &str) -> String {
        format!("{}_{name}", self.module.name)
    }

    /// A name of this module's own.
    fn own(&self, name: &str) -> String {
        format!("{}_{name}", self.names.prefix)
    }

    /// Whether anything that is computed can go wrong.
    fn may_fail(&self) -> bool {
        let mut items = self.functions();
        items.push(Item::Function(self.beginning()));
        printer::file(&items).contains(&format!("{}(", self.own("fails")))
    }

    /// `NAME.c`
    fn source(&self) -> String {
        let name = &self.module.name;
        let functions = self.functions();
        let reaction = self.reaction();
        let code = [functions, reaction].concat();
        let code = [self.arithmetic(&code), code].concat();
        let include = format!("#include \"{name}.h\"\n\n#include <stddef.h>\n#include <stdint.h>");
        let comment = format!(
            "/* The module {name} of {}, compiled by Stackloom; {name}.h says how it is used. */",
            self.file
        );
        let mut items = vec![Item::Text(comment), Item::Text(include)];
        items.extend(self.records(&code));
        items.extend(code);
        printer::file(&items)
    }
}
