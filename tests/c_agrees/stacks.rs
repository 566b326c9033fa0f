//! Stacks of the repository, from their text to their C.

use stackloom::diagnostic::render;
use stackloom::pipeline::{self, Compiled};
use stackloom::tool::library::Folders;
use std::path::Path;

/// The first stack of a file, by its path in the repository.
pub fn built(path: &str) -> Compiled {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join(path);
    let text = std::fs::read_to_string(file).expect("the file is in the repository");
    let search = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join("layers")];
    let mut checked = pipeline::read(vec![(path.to_string(), text)], &Folders { search });
    let stacks = pipeline::stacks(&checked);
    let name = stacks.first().expect("there is a stack in it");
    match pipeline::compile(&mut checked, name, name) {
        Some(compiled) => compiled,
        None => panic!("{}", render(&checked.diagnostics, &checked.sources, false)),
    }
}
