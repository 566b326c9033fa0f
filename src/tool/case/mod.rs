//! Cases: facts about layers and stacks, each in a file that shows it.
//!
//! In: the text of a case. Its first line is the fact, as a sentence; then come its sections, each
//! behind a line `=== NAME`: what goes in, and what must come out ([`sections`] lists them). Out:
//! the same case with what does come out, so that a case that holds is the same text.
//!
//! ```text
//! format     the text, and its sections
//! sections   what each section means
//! subject    the texts of a case, compiled as far as the sections need it
//! script     what a host does; play does it, played in every way and compared (run)
//! wire       frames, header by header (parts)
//! esterel    the sections of modules of Esterel
//! ```

pub mod esterel;
pub mod format;
pub mod parts;
pub mod play;
pub mod played;
pub mod run;
pub mod script;
pub mod sections;
pub mod subject;
pub mod wire;

use crate::passes::{PASSES, Pass};
use crate::simulate::externs::Externs;
use crate::simulate::trace::Trace;
use crate::source::Sources;
use crate::types::load::Library;
use crate::types::program::Program;
use format::Case;
use play::Played;
use run::Run;
use script::{Beginning, Line};
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::rc::Rc;
use subject::{Compiled, Subject, Texts};

/// What is around a case: files, and whatever else can run a stack.
pub trait Surroundings {
    /// The name and the text of a file that the case of this path names.
    fn file(&self, case: &Path, path: &str) -> Result<(String, String), String>;

    /// Where a `use` is looked for, behind the files in the case.
    fn library(&self) -> &dyn Library;

    /// What is written in C, as interpreters have it.
    fn externs<'p>(&self, program: &'p Program) -> Externs<'p>;

    /// Plays lines to the compiled C of a stack, since what it calls is written in C: none if
    /// nobody has that C.
    fn compiled(&self, playing: &InC<'_>, lines: Vec<Line>) -> Result<Option<Played>, String>;

    /// Returns the passes of the stack IR behind which woven trees are played.
    fn passes(&self) -> Vec<Pass> {
        PASSES.to_vec()
    }

    /// What else makes the same of a trace, or should.
    fn others(&self, playing: &Playing<'_>) -> Vec<(String, Run)>;
}

/// A stack that calls what interpreters do not have.
pub struct InC<'case> {
    /// All texts.
    pub sources: &'case Sources,
    /// The stack.
    pub stack: &'case Compiled,
    /// How it begins.
    pub beginning: &'case Beginning,
}

/// A stack, and what is played to it.
pub struct Playing<'case> {
    /// The file that the stack is in.
    pub place: &'case Path,
    /// All texts.
    pub sources: &'case Sources,
    /// The stack.
    pub stack: &'case Compiled,
    /// Whether the case gives it another budget than usual: that counts steps of woven trees.
    pub by_steps: bool,
    /// What is played.
    pub trace: &'case Trace,
}

/// Cases with the same around them. What stands in a file is compiled once for all of them.
pub struct Cases<'around> {
    around_it: &'around dyn Surroundings,
    compiled: RefCell<BTreeMap<Texts, Rc<Subject>>>,
    /// Warnings about stacks of cases that show none.
    warnings: RefCell<BTreeSet<String>>,
}

impl Cases<'_> {
    /// None was seen so far.
    pub fn new(around_it: &dyn Surroundings) -> Cases<'_> {
        Cases {
            around_it,
            compiled: RefCell::default(),
            warnings: RefCell::default(),
        }
    }

    /// What was warned of in cases that show no warnings, each text once.
    pub fn warnings(&self) -> Vec<String> {
        self.warnings.take().into_iter().collect()
    }

    fn warned(&self, text: &str) {
        if !text.trim().is_empty() {
            self.warnings.borrow_mut().insert(text.trim().to_string());
        }
    }

    /// The text of a case as it must be: what goes in as it is, what comes out as it comes out.
    pub fn blessed(&self, path: &Path, text: &str) -> Result<String, String> {
        let mut case = Case::read(text)?;
        sections::fill(path, &mut case, self)?;
        Ok(case.to_string())
    }

    /// What a case is about. Where it stands alone no other case will be about the same.
    fn subject(&self, texts: Texts, stands_alone: bool) -> Rc<Subject> {
        let compile = |texts| Rc::new(Subject::new(texts, self.around_it.library()));
        if stands_alone {
            return compile(texts);
        }
        let mut compiled = self.compiled.borrow_mut();
        let subject = compiled.entry(texts);
        Rc::clone(subject.or_insert_with_key(|texts| compile(texts.clone())))
    }
}

/// The first line in which a case differs from what it must be.
pub fn difference(written: &str, right: &str) -> String {
    let (mut ours, mut theirs) = (written.lines(), right.lines());
    for line in 1.. {
        match (ours.next(), theirs.next()) {
            (None, None) => break,
            (our, their) if our == their => {}
            (our, their) => {
                let show = |text: Option<&str>| text.unwrap_or("(the end)").to_string();
                return format!(
                    "line {line}\n  expected {}\n  actual   {}",
                    show(our),
                    show(their)
                );
            }
        }
    }
    "the last line has no newline".to_string()
}
