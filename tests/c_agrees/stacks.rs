//! Stacks of the repository, from their text to their C.

use stackloom::diagnostic::render;
use stackloom::emit;
use stackloom::pipeline::{self, Compiled};
use stackloom::reactive::handlers::Budget;
use stackloom::tool::library::Folders;
use std::path::Path;

/// The first stack of a file, by its path in the repository: woven, and with all joints as calls.
pub fn built(path: &str) -> [Compiled; 2] {
    budgeted(path, Budget::default())
}

/// The same, with processes of a certain size.
pub fn budgeted(path: &str, budget: Budget) -> [Compiled; 2] {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join(path);
    let text = std::fs::read_to_string(file).expect("the file is in the repository");
    let search = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join("layers")];
    let mut checked = pipeline::read(vec![(path.to_string(), text)], &Folders { search });
    checked.budget = budget;
    let stacks = pipeline::stacks(&checked);
    let name = stacks.first().expect("there is a stack in it");
    let woven = pipeline::compile(&mut checked, name, name);
    match woven.zip(pipeline::trees(&mut checked, name)) {
        Some((woven, (program, forest))) => {
            let emitted = emit::c(&checked.sources, &program, &forest, checked.rewrites);
            let calls = Vec::new();
            let plain = Compiled {
                program,
                forest,
                calls,
                emitted,
            };
            [woven, plain]
        }
        None => panic!("{}", render(&checked.diagnostics, &checked.sources, false)),
    }
}
