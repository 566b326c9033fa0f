//! Stacks of the repository, from their text to their C.

use stackloom::back::c::{Printed, Variant, print};
use stackloom::diagnostic::render;
use stackloom::emit::{self, Assumed, Emitted};
use stackloom::lower::lower;
use stackloom::pipeline::{self, Back, Checked, Compiled};
use stackloom::reactive::handlers::Budget;
use stackloom::tool::compiler;
use stackloom::tool::library::Folders;
use stackloom::tree::rewrites::Rewrites;
use stackloom::types::program::Program;
use std::path::Path;

/// The first stack of a file, by its path in the repository: woven, and with all joints as calls.
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

/// The same, woven for frames that are mostly as long as the one before.
#[allow(dead_code)]
pub fn alike(path: &str) -> Compiled {
    woven(path, |program| {
        program.links.iter_mut().for_each(|link| link.alike = true);
        None
    })
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
    let (sources, rewrites) = (&checked.sources, checked.back.rewrites(checked.rewrites));
    let forest = pipeline::woven(&mut program, forest, rewrites);
    let emitted = match &assumed {
        Some(assumed) => emit::specialised(sources, &program, &forest, (rewrites, assumed)),
        None => emit::c(sources, &program, &forest, rewrites),
    };
    let variant = assumed
        .as_ref()
        .map_or(Variant::Plain, Variant::Specialised);
    let emitted = checked.back.of_emitted(
        (sources, &program, &forest),
        variant,
        (checked.rewrites, checked.passes),
        emitted,
    );
    Compiled {
        program,
        forest,
        calls: Vec::new(),
        cut: Vec::new(),
        emitted,
    }
}

/// The same, with processes of a certain size.
pub fn budgeted(path: &str, budget: Budget) -> [Compiled; 2] {
    let mut checked = read(path);
    checked.budget = budget;
    let name = first(&checked);
    let woven = pipeline::compile(&mut checked, &name, &name);
    match woven.zip(pipeline::trees(&mut checked, &name)) {
        Some((woven, (program, forest))) => {
            let emitted = emit::c(&checked.sources, &program, &forest, checked.rewrites);
            let stack = (&checked.sources, &program, &forest);
            let chosen = (Rewrites::NONE, checked.passes);
            let emitted = checked
                .back
                .of_emitted(stack, Variant::Plain, chosen, emitted);
            let calls = Vec::new();
            let plain = Compiled {
                program,
                forest,
                calls,
                cut: Vec::new(),
                emitted,
            };
            [woven, plain]
        }
        None => panic!("{}", said(&checked)),
    }
}

/// The same by way of the stack IR: its woven trees behind all passes, and its plain trees behind
/// none.
#[allow(dead_code)]
pub fn by_stack_ir(path: &str) -> [Compiled; 2] {
    let mut checked = read(path);
    checked.back = Back::Ir;
    let name = first(&checked);
    let woven = pipeline::compile(&mut checked, &name, &name).expect("it was right a moment ago");
    let [_, plain] = built(path);
    let module = lower(&plain.program, &plain.forest);
    let Printed { c, h } = print(&module, &checked.sources, Variant::Plain);
    let emitted = Emitted {
        c,
        h,
        paths: Vec::new(),
        ..plain.emitted
    };
    [woven, Compiled { emitted, ..plain }]
}

/// The file, read.
pub fn read(path: &str) -> Checked {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join(path);
    let text = std::fs::read_to_string(file).expect("the file is in the repository");
    let search = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join("layers")];
    let mut checked = pipeline::read(vec![(path.to_string(), text)], &Folders { search });
    checked.back = compiler::back().expect("LOOM_BACK is `emit` or `ir`");
    checked
}

/// The name of its first stack.
pub fn first(checked: &Checked) -> String {
    let stacks = pipeline::stacks(checked);
    stacks.first().expect("there is a stack in it").clone()
}

fn said(checked: &Checked) -> String {
    render(&checked.diagnostics, &checked.sources, false)
}
