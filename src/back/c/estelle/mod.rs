//! Specifications of Estelle as C.
//!
//! In: a module that was lowered. Out: `NAME.c` and `NAME.h`: freestanding C without I/O, threads
//! and heap. A program gives the memory (`NAME_size`), starts the specification, and lets its
//! systems take steps.
//!
//! ```text
//! file.rs       NAME.c
//! header.rs     NAME.h
//! called.rs     the functions of a module that a program needs
//! ```

mod called;
mod file;
mod header;

use super::names::{Names, Reserved};
use super::{Stack, Variant, host};
use crate::c::tree::atom;
use crate::ir::Module;
use crate::lower::estelle::outside::Contract;
use crate::source::Sources;
use crate::types::estelle::program::Program;
use file::File;
use header::{Header, calls_host};

/// The two files.
#[derive(Clone, Debug)]
pub struct Printed {
    /// `NAME.c`
    pub c: String,
    /// `NAME.h`
    pub h: String,
}

/// Prints a specification; `file` is where it is written, and `module` its stack IR.
pub fn print(file: &str, program: &Program, module: &Module) -> Printed {
    let sources = Sources::new();
    let size = format!("{}_size", module.name);
    let mut reserved: Vec<&str> = vec![&size];
    let set_user = format!("{}_set_user", module.name);
    reserved.extend(module.exports.iter().map(|one| one.name.as_str()));
    host::reserved().for_each(|name| reserved.push(name));
    let members: &[&str] = match calls_host(module) {
        true => {
            reserved.push(&set_user);
            &["now_ns", "user"]
        }
        false => &["now_ns"],
    };
    let reserved = Reserved {
        file: &reserved,
        members,
    };
    let mut names = Names::new(module, reserved);
    for (kind, own) in module.kinds.iter().zip(&mut names.kinds) {
        own.is_only = kind.capacity == 1;
    }
    let mut stack = Stack::named(module, &sources, Variant::Plain, names);
    stack.user = atom("stack").behind("user");
    let header = Header {
        file,
        contract: &Contract::of(program),
        stack: &stack,
    };
    Printed {
        c: File { header: &header }.text(),
        h: header.text(),
    }
}
