//! Cases of counterexamples: `loom prove` writes one for each function that differs.
//!
//! In: a stack, and a pass with a planted fault. Out: the case plays differently behind the wrong
//! pass, holds behind the right one, and says so if it shows nothing.

use super::solver;
use stackloom::ir::{Module, Op, ReasonId};
use stackloom::passes::fast::form_fast_path;
use stackloom::passes::{PASSES, Pass, verified};
use stackloom::prove::{Asked, Counterexample, Judged, Solver, Verdict, prove};
use stackloom::simulate::externs::Externs;
use stackloom::tool::case::format::Case;
use stackloom::tool::case::play::Played;
use stackloom::tool::case::run::Run;
use stackloom::tool::case::script::Line;
use stackloom::tool::case::{Cases, InC, Playing, Surroundings};
use stackloom::tool::compiler::{Options, with_stack};
use stackloom::tool::library::Folders;
use stackloom::tool::prove::case::shown;
use stackloom::tool::prove::case_text::{Shown, Subject};
use stackloom::tool::prove::lowered;
use stackloom::tool::prove::scenes::Scenes;
use stackloom::types::load::Library;
use stackloom::types::program::Program;
use std::path::{Path, PathBuf};

const STACK: &str = "examples/ping/ping.loom";

const TIMEOUT_MS: u64 = 10_000;

/// The pass that is wrong.
const PASS: &str = "form-fast-path";

/// Forms fast paths, and counts each message that is dropped for another reason.
fn wrong(module: &mut Module) {
    form_fast_path::run(module);
    let count = module.reasons.len() as u32;
    let blocks = module.functions.iter_mut().flat_map(|one| &mut one.blocks);
    for instruction in blocks.flat_map(|block| &mut block.instructions) {
        if let Op::Drop(reason) = &mut instruction.op {
            *reason = ReasonId((reason.0 + 1) % count);
        }
    }
}

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

/// The program of the stack, and its module before the pass.
fn before() -> (Program, Module) {
    let known = with_stack(&root().join(STACK), &Options::default(), lowered);
    let (_, (program, _, module)) = known.unwrap_or_else(|failure| panic!("{}", failure.message));
    let passes = PASSES.iter().take_while(|pass| pass.name != PASS);
    let module = verified(module, &passes.copied().collect::<Vec<Pass>>());
    (program, module)
}

/// The first function that differs.
fn differs(
    (before, after): (&Module, &Module),
    scenes: &Scenes,
    solver: &mut Solver<'_>,
) -> (Judged, Counterexample) {
    let asked = Asked {
        timeout_ms: TIMEOUT_MS,
        states: &scenes.states,
    };
    let judged = prove(before, after, asked, solver, &mut |_| true);
    let mut found = judged.into_iter().filter_map(|one| match &one.verdict {
        Verdict::Differs(found) => Some((one.clone(), (**found).clone())),
        Verdict::SameTerms | Verdict::Solved | Verdict::Undecided(_) => None,
    });
    found.next().expect("the prover finds the fault")
}

/// The repository, whose passes are these.
struct Repository {
    library: Folders,
    passes: Vec<Pass>,
}

impl Surroundings for Repository {
    fn file(&self, _case: &Path, path: &str) -> Result<(String, String), String> {
        let text = std::fs::read_to_string(root().join(path));
        let text = text.map_err(|error| format!("{path}: {error}"))?;
        Ok((path.to_string(), text))
    }

    fn library(&self) -> &dyn Library {
        &self.library
    }

    fn externs<'p>(&self, _program: &'p Program) -> Externs<'p> {
        Externs::default()
    }

    fn compiled(&self, _: &InC<'_>, _: Vec<Line>) -> Result<Option<Played>, String> {
        Ok(None)
    }

    fn passes(&self) -> Vec<Pass> {
        self.passes.clone()
    }

    fn others(&self, _: &Playing<'_>) -> Vec<(String, Run)> {
        Vec::new()
    }
}

fn blessed(text: &str, passes: Vec<Pass>) -> Result<String, String> {
    let library = Folders { search: Vec::new() };
    let repository = Repository { library, passes };
    Cases::new(&repository).blessed(Path::new("found.case"), text)
}

#[test]
fn a_difference_is_written_as_a_case_that_shows_it() {
    let (program, before) = before();
    let mut after = before.clone();
    wrong(&mut after);
    let mut solver = solver();
    let scenes = Scenes::of(&program, &before);
    let (judged, found) = differs((&before, &after), &scenes, &mut *solver);
    let mut made = |after: &Module| -> Shown {
        let subject = Subject {
            program: &program,
            modules: [&before, after],
            path: STACK.to_string(),
            stack: String::new(),
        };
        let known = (PASS, &judged, &found);
        shown(&subject, known, (&scenes, TIMEOUT_MS), &mut *solver)
    };
    plays_differently(&made(&after));
    // No host sees a difference between a module and itself.
    says_what_it_lacks(&made(&before));
}

fn plays_differently(made: &Shown) {
    assert!(made.differs, "{}", made.text);
    let folder = tempfile::tempdir().expect("a folder can be made");
    let says = made.write(&folder.path().join("cases"));
    let says = says.unwrap_or_else(|failure| panic!("{}", failure.message));
    let path = folder.path().join("cases").join(&made.name);
    let shows = format!("{} shows the difference", path.display());
    assert!(says.starts_with(&shows), "{says}");
    let text = std::fs::read_to_string(path).expect("the file is there");
    Case::read(&text).unwrap_or_else(|mistake| panic!("{mistake}\n{text}"));
    let held = blessed(&text, PASSES.to_vec());
    assert_eq!(held.as_deref(), Ok(&text[..]), "the right pass");
    let mut passes = PASSES.to_vec();
    for pass in &mut passes {
        if pass.name == PASS {
            pass.run = wrong;
        }
    }
    let found = blessed(&text, passes).expect_err("the wrong pass shows");
    assert!(found.contains(&format!("differs after {PASS}")), "{found}");
}

fn says_what_it_lacks(made: &Shown) {
    assert!(!made.differs, "{}", made.text);
    let first = format!("This case does not show that pass {PASS} changes ");
    assert!(made.text.starts_with(&first), "{}", made.text);
    let state = "do not set up this state of the counterexample:\n    ";
    assert!(made.text.contains(state), "{}", made.text);
    Case::read(&made.text).unwrap_or_else(|mistake| panic!("{mistake}\n{}", made.text));
}
