//! The whole compiler on one page: start reading here.
//!
//! Texts come in, by way of a [`Library`] that knows where a `use` is looked for; the two files of
//! C go out, or the mistakes. Nothing here touches a file.

mod analysis;
mod back_end;
mod estelle;
mod esterel;
mod limit;
mod links;

pub use analysis::{Analysed, SHARE, analyse};
pub use back_end::{Passes, Variant, lowered, printed, unwoven};
pub use estelle::{Specified, estelle, estelle_c, estelle_ir};
pub use esterel::{Reactive, esterel, esterel_c, esterel_ir};
pub use limit::GivenUp;

use crate::back::c::Printed;
use crate::c::assumed::Assumed;
use crate::c::record::Record;
use crate::diagnostic::{Diagnostic, Id, Severity, merged};
use crate::ir::Module;
use crate::optimise;
use crate::profile::{self, Profile, recorded};
use crate::reactive::{self, handlers::Budget};
use crate::source::{Sources, Span};
use crate::tree::Forest;
use crate::tree::rewrites::Rewrites;
use crate::tree::text::Names;
use crate::tree::ways::{Way, called, counted, ways};
use crate::types::load::{self, Files, Library};
use crate::types::program::Program;
use crate::types::{check_layers, check_stack, warnings};
use std::collections::BTreeSet;

/// What was read, and what is wrong with it.
pub struct Checked {
    /// How large the processes of an instance may be.
    pub budget: Budget,
    /// What is done so that the stack runs faster.
    pub rewrites: Rewrites,
    /// The passes of the stack IR that run.
    pub passes: Passes,
    /// What is known of its traffic then.
    pub profile: Profile,
    /// Whether what it never saw is cut.
    pub specialised: bool,
    /// True if a central scheduler takes each event off the agenda.
    pub scheduled: bool,
    /// Why the stack is not compiled as options ask, with the option, if that was found.
    pub unfit: Option<String>,
    /// The paths that it gives up to keep within a limit of its text.
    pub given_up: Option<GivenUp>,
    /// Whether it counts which ways it takes, and does nothing faster.
    pub records: bool,
    /// All texts.
    pub sources: Sources,
    /// Their trees.
    pub files: Files,
    /// Mistakes and warnings, in the order of the flow.
    pub diagnostics: Vec<Diagnostic>,
}

/// A stack, from its checked program to its C.
pub struct Compiled {
    /// The checked program: its meaning is what the reference interpreter makes of it.
    pub program: Program,
    /// Its trees, of which the stack IR is made.
    pub forest: Forest,
    /// What was cut of them.
    pub cut: Vec<Way>,
    /// The host gets no buffers for frames, since no recorded frame stood in one.
    pub elsewhere: bool,
    /// The stack IR behind all passes.
    pub module: Module,
    /// The C.
    pub code: Printed,
}

/// Reads a file, or the files of a folder, and all that they use.
pub fn read(root: Vec<(String, String)>, library: &dyn Library) -> Checked {
    let mut sources = Sources::new();
    let (files, diagnostics) = load::load(&mut sources, root, library);
    Checked {
        budget: Budget::default(),
        rewrites: Rewrites::ALL,
        passes: Passes::ALL,
        profile: Profile::Default,
        specialised: false,
        scheduled: false,
        unfit: None,
        given_up: None,
        records: false,
        sources,
        files,
        diagnostics,
    }
}

/// The stacks that the file itself declares.
pub fn stacks(checked: &Checked) -> Vec<String> {
    let root = checked.files.unit(checked.files.root());
    let names = root.stacks.iter().map(|stack| stack.name.text.clone());
    names.collect()
}

/// Finds all that is wrong with what was read: each layer by itself, then each stack. The stacks
/// that are right, and their trees.
pub fn check(checked: &mut Checked) -> Vec<(Program, Forest)> {
    if refused(&checked.diagnostics) {
        return Vec::new();
    }
    let (layers, alone) = check_layers(&checked.sources, &checked.files);
    checked.report(alone);
    let stacks = stacks(checked).into_iter();
    let stacks: Vec<(Program, Forest)> = stacks
        .filter_map(|stack| checked_trees(checked, &stack))
        .collect();
    // What stands in a stack was explored with all that it is given there.
    let stand = stacks.iter().flat_map(|(program, _)| &program.entities);
    let stand: BTreeSet<&String> = stand.map(|entity| &entity.layer).collect();
    let open = layers
        .iter()
        .filter(|layer| !stand.contains(&layer.entities[0].layer));
    for layer in open {
        checked.report(reactive::handlers::wrong_anywhere(layer, checked.budget));
    }
    checked.warn();
    stacks
}

/// The checked program of a stack, and its trees: one for each reaction, not yet woven.
pub fn trees(checked: &mut Checked, stack: &str) -> Option<(Program, Forest)> {
    match refused(&checked.diagnostics) {
        true => None,
        false => {
            let trees = checked_trees(checked, stack);
            checked.warn();
            trees
        }
    }
}

/// How many nodes all trees of a stack may have before they are woven. The largest of our own has
/// two thousand; with more than this, what is found out about all of them together takes minutes.
const MOST_NODES: usize = 40_000;

fn too_large(span: Span, stack: &str, nodes: usize) -> Diagnostic {
    let title = format!(
        "the stack `{stack}` is too large: its layers have {nodes} tests and steps together"
    );
    let label = format!("at most {MOST_NODES} are allowed");
    Diagnostic::error(Id::HandlerTooLarge, title, span, label)
        .help("divide it into two stacks, each with some of the links")
}

/// The same of a stack in texts of which something else may be wrong.
fn checked_trees(checked: &mut Checked, stack: &str) -> Option<(Program, Forest)> {
    let (program, diagnostics) = check_stack(&checked.sources, &checked.files, stack);
    checked.report(diagnostics);
    let mut program = program?;
    let settled = reactive::handlers::settle(&mut program, checked.budget);
    match settled.and_then(|()| reactive::lower(&program)) {
        Ok(forest) if forest.arena.len() > MOST_NODES => {
            let root = checked.files.unit(checked.files.root());
            let own = root.stacks.iter().find(|one| one.name.is(stack));
            let span = own.map_or(checked.sources.span(root.files[0]), |own| own.name.span);
            checked.report(vec![too_large(span, stack, forest.arena.len())]);
            None
        }
        Ok(forest) => Some((program, forest)),
        Err(diagnostics) => {
            checked.report(diagnostics);
            None
        }
    }
}

/// The trees of a stack, short along the fast path; fields that rewrites keep are added to it.
pub fn woven(program: &mut Program, forest: Forest, rewrites: Rewrites) -> Forest {
    optimise::rewritten(program, forest, rewrites)
}

/// Compiles a stack to C; all names of the C begin with `name`.
pub fn compile(checked: &mut Checked, stack: &str, name: &str) -> Option<Compiled> {
    if checked.records {
        return recording(checked, stack, name);
    }
    let Known {
        mut program,
        forest,
        profile,
        cut,
    } = known(checked, stack)?;
    program.name = name.to_string();
    let assumed = match &profile {
        Profile::Recorded(recorded) if checked.specialised => Some(Assumed {
            profiles: recorded.names().to_vec(),
            extent: recorded.extent(),
            cut: cut.len(),
            elsewhere: recorded
                .stood_elsewhere(program.links.iter().map(|link| link.name.as_str())),
        }),
        _ => None,
    };
    let variant = match (&assumed, checked.scheduled) {
        (Some(assumed), _) => Variant::Specialised(assumed),
        (None, true) => Variant::Scheduled,
        (None, false) => Variant::Plain,
    };
    let compiled = checked.compiled(
        (program, forest),
        variant,
        (checked.rewrites, checked.passes),
    );
    Some(Compiled {
        cut,
        elsewhere: assumed.is_some_and(|assumed| assumed.elsewhere),
        ..compiled
    })
}

/// The trees of a stack with what is known of its traffic; not yet woven.
pub struct Known {
    /// The checked program; with counters of what was cut.
    pub program: Program,
    /// Its trees.
    pub forest: Forest,
    /// What is known.
    pub profile: Profile,
    /// What was cut.
    pub cut: Vec<Way>,
}

/// Finds what is known of the traffic of a stack, and cuts what was never seen, if that is asked.
pub fn known(checked: &mut Checked, stack: &str) -> Option<Known> {
    let (mut program, forest) = trees(checked, stack)?;
    let profile = checked.profile.clone().of(&program, &forest, stack);
    let profile = profile
        .map_err(|why| checked.unfit = Some(format!("--profile: {why}")))
        .ok()?;
    let (forest, cut) = match &profile {
        Profile::Recorded(recorded) if checked.specialised => {
            let (forest, taken) = recorded.shared(&forest);
            let taken = taken.into_iter();
            let never = taken.filter(|(_, count)| *count == 0).map(|(way, _)| way);
            let (names, sources) = (Names::new(&program), &checked.sources);
            let named = |way: Way| counter(&called(sources, &names, &forest, way));
            let cut = reactive::cut::cut(&mut program, &forest, &never.collect(), &named);
            match cut {
                Ok(cut) => cut,
                Err(diagnostics) => {
                    checked.report(diagnostics);
                    return None;
                }
            }
        }
        _ => (profile::known(forest, &profile), Vec::new()),
    };
    if let Some(bytes) = checked.passes.text_limit() {
        let stack = (&program, &forest);
        let given_up = limit::given_up(bytes, stack, &profile, (checked.rewrites, checked.passes));
        let given_up = given_up.map_err(|why| checked.unfit = Some(why)).ok()?;
        program.left_out.clone_from(&given_up.paths);
        checked.given_up = Some(given_up);
    }
    Some(Known {
        program,
        forest,
        profile,
        cut,
    })
}

/// The counter of what would have gone a way that is cut.
fn counter(way: &str) -> String {
    let words = way.split(|letter: char| !letter.is_ascii_alphanumeric());
    let words = words.filter(|word| !word.is_empty());
    Vec::from_iter(["cut"].into_iter().chain(words)).join("_")
}

/// A stack that counts which ways it takes, and writes that down.
fn recording(checked: &mut Checked, stack: &str, name: &str) -> Option<Compiled> {
    let (mut program, forest) = trees(checked, stack)?;
    let begins = recorded::begins(&program, &forest, stack);
    let names = Names::new(&program);
    program.name = name.to_string();
    let all = ways(&forest).into_iter();
    let record = Record {
        begins,
        ways: all
            .map(|way| called(&checked.sources, &names, &forest, way))
            .collect(),
    };
    let variant = Variant::Recording(&record);
    let chosen = (Rewrites::NONE, checked.passes);
    Some(checked.compiled((program, counted(&forest)), variant, chosen))
}

/// Compiles a stack without any rewrite or pass, from its trees.
pub fn unoptimised(checked: &Checked, trees: (Program, Forest)) -> Compiled {
    checked.compiled(trees, Variant::Plain, (Rewrites::NONE, Passes::NONE))
}

/// The checked programs in which the layers of a file run: alone, or in a stack, which gives values
/// to parameters.
pub fn programs(checked: &Checked, stack: Option<&str>) -> Vec<Program> {
    let (sources, files) = (&checked.sources, &checked.files);
    match stack {
        None => check_layers(sources, files).0,
        Some(stack) => check_stack(sources, files, stack).0.into_iter().collect(),
    }
}

/// Whether nothing is built because of these.
pub fn refused(diagnostics: &[Diagnostic]) -> bool {
    let mut diagnostics = diagnostics.iter();
    diagnostics.any(|diagnostic| diagnostic.severity == Severity::Error)
}

impl Checked {
    /// Makes C of a stack by its trees.
    fn compiled(
        &self,
        (mut program, forest): (Program, Forest),
        variant: Variant<'_>,
        chosen: (Rewrites, Passes),
    ) -> Compiled {
        let forest = unwoven(&mut program, forest, chosen.0);
        let stack = (&self.sources, &program, &forest);
        let (module, code) = printed(stack, variant, chosen);
        Compiled {
            program,
            forest,
            cut: Vec::new(),
            elsewhere: false,
            module,
            code,
        }
    }

    /// Adds warnings, if nothing is refused: a part that is wrong may be where a name is used.
    fn warn(&mut self) {
        if !refused(&self.diagnostics) {
            let found = warnings(&self.sources, &self.files);
            self.report(found);
        }
    }

    /// Adds diagnostics that were not found before.
    fn report(&mut self, found: Vec<Diagnostic>) {
        let told = std::mem::take(&mut self.diagnostics);
        self.diagnostics = merged(told.into_iter().chain(found).collect());
    }
}
