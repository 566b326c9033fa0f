//! What a case is about: texts, compiled as far as somebody asks.
//!
//! In: the texts, the first of which has the stacks. Out: its programs with their trees, plain and
//! woven, and their C; or all that is wrong. Cases that name the same file share one.

use crate::back::c::reserved::no_name;
use crate::back::c::{Printed, print};
use crate::diagnostic::Diagnostic;
use crate::ir::Module;
use crate::passes::{Pass, first_difference, verified};
use crate::pipeline::{self, Passes, Variant};
use crate::source::Sources;
use crate::tool::layout::{Limits, limits};
use crate::tree::Forest;
use crate::tree::rewrites::Rewrites;
use crate::types::load::{Library, Missing};
use crate::types::program::Program;
use std::cell::OnceCell;
use std::collections::BTreeMap;

/// What the texts say, and which stack of the first is meant.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Texts {
    /// Name and text: the first has the stacks, the others are for its `use`.
    pub files: Vec<(String, String)>,
    /// The stack, where the case says which: otherwise all are compiled.
    pub stack: Option<String>,
}

/// Texts that were checked.
pub struct Subject {
    /// All of them.
    pub sources: Sources,
    /// All that is wrong, and warnings.
    pub found: Vec<Diagnostic>,
    /// The stacks: none where something is wrong.
    pub stacks: Vec<Compiled>,
}

/// A stack in all forms of it.
pub struct Compiled {
    /// Checked.
    pub program: Program,
    /// Its trees, one for each reaction.
    pub plain: Forest,
    woven: OnceCell<(Program, Forest)>,
    prepared: OnceCell<(Program, Forest)>,
    module: OnceCell<Module>,
    lowered: OnceCell<Module>,
    woven_module: OnceCell<Module>,
    code: OnceCell<Printed>,
}

impl Compiled {
    /// Its trees, woven into one another along the fast path, and the program with the fields
    /// that they have beside its own.
    pub fn woven(&self) -> &(Program, Forest) {
        self.woven.get_or_init(|| {
            let mut program = self.program.clone();
            let forest = pipeline::woven(&mut program, self.plain.clone(), Rewrites::ALL);
            (program, forest)
        })
    }

    /// Returns its trees as the stack IR is made of them, and the program with their fields.
    fn prepared(&self) -> &(Program, Forest) {
        self.prepared.get_or_init(|| {
            let mut program = self.program.clone();
            let forest = pipeline::unwoven(&mut program, self.plain.clone(), Rewrites::ALL);
            (program, forest)
        })
    }

    /// Its trees in the stack IR.
    pub fn module(&self) -> &Module {
        self.module.get_or_init(|| {
            verified(
                pipeline::lowered(&self.program, &self.plain, Rewrites::NONE),
                &[],
            )
        })
    }

    /// Returns its woven trees in the stack IR, behind these passes, which are always the same.
    pub fn woven_module(&self, passes: &[Pass]) -> &Module {
        self.woven_module
            .get_or_init(|| verified(self.lowered().clone(), passes))
    }

    /// Returns the first of these passes behind which the module differs, and how, as
    /// [`first_difference`] does.
    pub fn first_difference<T>(
        &self,
        passes: &[Pass],
        difference: impl Fn(&Module) -> Option<T>,
    ) -> Option<(&'static str, T)> {
        first_difference(self.lowered().clone(), passes, difference)
    }

    /// Returns the stack IR of which its C is made, before all passes.
    pub fn lowered(&self) -> &Module {
        self.lowered.get_or_init(|| {
            let (program, forest) = self.prepared();
            pipeline::lowered(program, forest, Rewrites::ALL)
        })
    }

    /// Returns what it may use unless its host says otherwise.
    pub fn limits(&self) -> Limits {
        limits(self.lowered())
    }

    /// Returns its C as users get it.
    pub fn code(&self, sources: &Sources) -> &Printed {
        self.code.get_or_init(|| {
            let module = self.woven_module(&Passes::ALL.chosen());
            print(module, sources, Variant::Plain)
        })
    }
}

impl Subject {
    /// Checks the texts.
    pub fn new(texts: Texts, behind: &dyn Library) -> Subject {
        let mut files = texts.files;
        let library = Own {
            own: files.split_off(1).into_iter().collect(),
            behind,
        };
        let mut checked = pipeline::read(files, &library);
        let stacks = match texts.stack {
            Some(stack) => pipeline::trees(&mut checked, &stack).into_iter().collect(),
            None => pipeline::check(&mut checked),
        };
        let right = !pipeline::refused(&checked.diagnostics);
        let compiled = |(program, plain)| Compiled {
            program: nameable(program),
            plain,
            woven: OnceCell::new(),
            prepared: OnceCell::new(),
            module: OnceCell::new(),
            lowered: OnceCell::new(),
            woven_module: OnceCell::new(),
            code: OnceCell::new(),
        };
        Subject {
            sources: checked.sources,
            found: checked.diagnostics,
            stacks: stacks.into_iter().filter(|_| right).map(compiled).collect(),
        }
    }
}

/// A case may call its stack what no C can be called.
fn nameable(mut program: Program) -> Program {
    if no_name(&program.name).is_some() {
        program.name = "played".to_string();
    }
    program
}

/// The files in a case, and those around it.
struct Own<'around> {
    own: BTreeMap<String, String>,
    behind: &'around dyn Library,
}

impl Library for Own<'_> {
    fn find(&self, user: &str, path: &str) -> Result<Vec<(String, String)>, Missing> {
        let own = self.own.find(user, path);
        own.or_else(|_| self.behind.find(user, path))
    }

    fn all(&self) -> Vec<(String, Vec<(String, String)>)> {
        [self.own.all(), self.behind.all()].concat()
    }
}
