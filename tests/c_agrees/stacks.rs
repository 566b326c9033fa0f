//! Stacks of the repository, from their text to their C.

use stackloom::c::assumed::Assumed;
use stackloom::diagnostic::render;
use stackloom::pipeline::{self, Checked, Compiled, Variant};
use stackloom::reactive::handlers::Budget;
use stackloom::tool::library::Folders;
use stackloom::tree::rewrites::Rewrites;
use stackloom::types::program::Program;
use std::path::Path;

/// The first stack of a file, by its path in the repository: woven, and as it was lowered.
pub fn built(path: &str) -> [Compiled; 2] {
    budgeted(path, Budget::default())
}

/// The same after these rewrites, its processes apart; other tests ask less.
#[allow(dead_code)]
pub fn rewritten(path: &str, rewrites: Rewrites) -> Compiled {
    let mut checked = read(path);
    (checked.rewrites, checked.budget.together) = (rewrites, 0);
    let name = first(&checked);
    let compiled = pipeline::compile(&mut checked, &name, &name);
    compiled.unwrap_or_else(|| panic!("{}", said(&checked)))
}

/// The same for a host that never asks for a buffer; nothing else is cut.
#[allow(dead_code)]
pub fn elsewhere(path: &str) -> Compiled {
    woven(path, |_| {
        Some(Assumed {
            elsewhere: true,
            ..Assumed::default()
        })
    })
}

/// The same, of which something is known.
fn woven(path: &str, known: impl Fn(&mut Program) -> Option<Assumed>) -> Compiled {
    let mut checked = read(path);
    let name = first(&checked);
    let Some((mut program, forest)) = pipeline::trees(&mut checked, &name) else {
        panic!("{}", said(&checked));
    };
    let assumed = known(&mut program);
    let forest = pipeline::unwoven(&mut program, forest, checked.rewrites);
    let variant = assumed
        .as_ref()
        .map_or(Variant::Plain, Variant::Specialised);
    let stack = (&checked.sources, &program, &forest);
    let (module, code) = pipeline::printed(stack, variant, (checked.rewrites, checked.passes));
    Compiled {
        program,
        forest,
        cut: Vec::new(),
        elsewhere: assumed.is_some(),
        module,
        code,
    }
}

/// The same, with processes of a certain size; and as it was lowered, behind no pass.
pub fn budgeted(path: &str, budget: Budget) -> [Compiled; 2] {
    let mut checked = read(path);
    checked.budget = budget;
    let name = first(&checked);
    let woven = pipeline::compile(&mut checked, &name, &name);
    match woven.zip(pipeline::trees(&mut checked, &name)) {
        Some((woven, trees)) => [woven, pipeline::unoptimised(&checked, trees)],
        None => panic!("{}", said(&checked)),
    }
}

/// The file, read.
pub fn read(path: &str) -> Checked {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join(path);
    let text = std::fs::read_to_string(file).expect("the file is in the repository");
    let search = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join("layers")];
    pipeline::read(vec![(path.to_string(), text)], &Folders { search })
}

/// The name of its first stack.
pub fn first(checked: &Checked) -> String {
    let stacks = pipeline::stacks(checked);
    stacks.first().expect("there is a stack in it").clone()
}

fn said(checked: &Checked) -> String {
    render(&checked.diagnostics, &checked.sources, false)
}
