//! Modules of Esterel as C, as users of Esterel know it.
//!
//! In: a module that was lowered, and its source. Out: `NAME.c` and `NAME.h`. The functions of the
//! module are printed as those of a stack; all that lasts is one static struct, so the functions
//! that the header declares take no stack.
//!
//! ```text
//! names.rs    names that the user's C has, and why C cannot have a module
//! file.rs     NAME.c
//! header.rs   NAME.h
//! ```
//!
//! | name | what it is |
//! |---|---|
//! | `M`, `M_reset`, `M_error` | an instant, the beginning, what went wrong |
//! | `M_I_x`, `M_O_x`, `M_S_x` | an input, an output, a sensor |
//! | `M_memory` | all that lasts: the members of `struct M` |
//! | `given`, `emitted`, `sensed` | inputs, outputs and sensors of this instant |
//! | `value`, `known`, `before`, `known_before` | what is known of signals |
//! | `variable`, `control` | variables and counts of delays; the state, and what went wrong |
//! | `M_state_1`, `M_part_2` | what happens in a state, or in the rest of several instants |

mod file;
mod header;
mod names;

use super::names::{Names, Reserved};
use super::{Stack, Variant};
use crate::c::printer;
use crate::c::words::is_macro;
use crate::ir::Module as Ir;
use crate::lower::esterel::Lowered;
use crate::source::Sources;
use crate::types::esterel::Module;
use crate::types::process::SignalId;
use file::File;
use header::Header;
pub use names::refused;
use std::collections::BTreeMap;

/// The place of the declarations of user C.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outside<'a> {
    /// In `NAME.h`: functions, procedures and constants of Esterel's own types.
    Declared,
    /// In a header that others write: types, too.
    Header(&'a str),
}

/// The C of a module.
#[derive(Clone, Debug)]
pub struct Printed {
    /// `NAME.c`
    pub c: String,
    /// `NAME.h`
    pub h: String,
    /// By sensor whose value is kept: what is true in C if it was.
    pub kept: BTreeMap<SignalId, String>,
}

/// Prints a module; `file` is where it is written.
pub fn print(file: &str, source: &Module, lowered: &Lowered, outside: Outside<'_>) -> Printed {
    let sources = Sources::new();
    let others: Vec<&str> = names::others(source).map(|(name, _)| name).collect();
    // Macros would stand in place of members.
    let signals = source.processes.signals.iter().map(|one| &one.name);
    let variables = source.variables.iter().map(|one| &one.name);
    let macros = signals.chain(variables).filter(|name| is_macro(name));
    let members: Vec<&str> = macros.map(String::as_str).chain(others.clone()).collect();
    let reserved = Reserved {
        file: &others,
        members: &members,
    };
    let mut names = Names::new(&lowered.module, reserved);
    name_kinds(&lowered.module, &others, &mut names);
    let memory = names.taken.take(&format!("{}_memory", source.name));
    let pointer = file::pointer(&lowered.module, &others, &mut names);
    let file = File {
        header: Header {
            file,
            module: source,
            outside,
        },
        lowered,
        memory,
        pointer,
        stack: Stack::named(&lowered.module, &sources, Variant::Plain, names),
    };
    let kept = lowered.kept.iter();
    Printed {
        c: file.text(),
        h: file.header.text(),
        kept: kept
            .map(|(signal, flag)| (*signal, printer::expression(&file.place(*flag))))
            .collect(),
    }
}

/// Each kind has but one instance: a member, no array, with a short name unless others have that.
fn name_kinds(module: &Ir, others: &[&str], names: &mut Names) {
    let before = format!("{}_", module.name);
    for (kind, own) in module.kinds.iter().zip(&mut names.kinds) {
        own.is_only = true;
        let short = kind.name.strip_prefix(&before);
        let short = short.filter(|short| !others.contains(short));
        own.member = short.unwrap_or(&kind.name).to_string();
    }
}
