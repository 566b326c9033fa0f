//! The forms in which the Ensemble paper compares a stack: in, a stack of
//! `bench/ensemble/ensemble.loom`; out, a program of it and of a driver.
//!
//! ```text
//! HAND   FUNC, and a bypass in C beside it: bench/ensemble/hand.c, for four layers
//! MACH   what `loom build` makes
//! IMP    no rewrite or pass; a scheduler takes each event off the agenda and calls its reaction
//! FUNC   no rewrite or pass; each reaction is a C function that calls the next one
//! ```
//!
//! In all forms but MACH, gcc inlines only functions that are declared `inline`: those of the
//! runtime, of ports and links, and of the bypass, but no reaction.

use crate::passes::Passes;
use crate::tool::bench::programs::WHOLE;
use crate::tool::compiler::Options;
use crate::tool::counting;
use crate::tool::failure::{Failure, about};
use crate::tree::rewrites::Rewrites;
use std::path::{Path, PathBuf};

/// The name in files, and of the folder in `bench`.
pub const NAME: &str = "ensemble";

/// The stacks, by the number of their layers with the port, as in the paper.
pub const STACKS: [(&str, u32); 2] = [("four", 4), ("ten", 10)];

/// Flags with which gcc inlines no reaction.
const APART: &str = "-O3 -march=haswell -flto -fno-inline-functions -fno-inline-small-functions \
                     -fno-inline-functions-called-once -fno-partial-inlining";

/// The macro with which a driver calls the bypass of `hand.c`.
const BY_HAND: &str = "-DHAND";

/// A form of a stack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// A bypass by hand beside the layers.
    Hand,
    /// The C of `loom build`.
    Mach,
    /// A central scheduler.
    Imp,
    /// Functions that call each other.
    Func,
}

/// A form of a stack that was compiled.
pub struct Built {
    /// The C of the stack.
    pub source: PathBuf,
    /// The C that is compiled: that of the stack, or of the bypass, which includes it.
    pub unit: PathBuf,
    /// The program.
    pub program: PathBuf,
}

impl Form {
    /// All forms, in the order of the paper's table 1b.
    pub const ALL: [Form; 4] = [Form::Hand, Form::Mach, Form::Imp, Form::Func];

    /// The name in the paper.
    pub fn name(self) -> &'static str {
        match self {
            Form::Hand => "HAND",
            Form::Mach => "MACH",
            Form::Imp => "IMP",
            Form::Func => "FUNC",
        }
    }

    /// Returns true if there is such a form of a stack.
    pub fn is_of(self, stack: &str) -> bool {
        match self {
            Form::Hand => stack == STACKS[0].0,
            Form::Mach | Form::Imp | Form::Func => true,
        }
    }

    /// The flags for gcc.
    pub fn flags(self) -> &'static str {
        match self {
            Form::Mach => WHOLE,
            Form::Hand | Form::Imp | Form::Func => APART,
        }
    }

    fn options(self, folder: &Path) -> Options {
        let search = vec![folder.to_path_buf()];
        match self {
            Form::Mach => Options {
                search,
                ..Options::default()
            },
            Form::Hand | Form::Imp | Form::Func => Options {
                search,
                rewrites: Rewrites::NONE,
                passes: Passes::NONE,
                scheduled: self == Form::Imp,
                ..Options::default()
            },
        }
    }

    /// Compiles a stack of `folder` in this form, with a driver.
    pub fn build(
        self,
        (stack, folder): (&str, &Path),
        driver: &Path,
        work: &Path,
        output: &Path,
    ) -> Result<Built, Failure> {
        let work = work.join(format!("{stack}-{}", self.name()));
        std::fs::create_dir_all(&work).map_err(about(&work))?;
        let path = folder.join(format!("{NAME}.loom:{stack}"));
        let (source, _) = counting::written(&path, NAME, self.options(folder), &work)?;
        let mut flags: Vec<&str> = self.flags().split_whitespace().collect();
        let unit = match self {
            Form::Hand => {
                flags.push(BY_HAND);
                let [from, to] = [folder, &work].map(|folder| folder.join("hand.c"));
                std::fs::copy(&from, &to).map_err(about(&from))?;
                to
            }
            Form::Mach | Form::Imp | Form::Func => source.clone(),
        };
        counting::compile_driven(&unit, driver, &flags, output)?;
        Ok(Built {
            source,
            unit,
            program: output.to_path_buf(),
        })
    }
}
