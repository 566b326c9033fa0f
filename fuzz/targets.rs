//! What must hold of the compiler whatever text it is given.
//!
//! In: any bytes. Out: nothing, or a panic that says what does not hold.

use stackloom::diagnostic::render;
use stackloom::pipeline::{self, refused};
use stackloom::source::Sources;
use stackloom::syntax::loom;
use stackloom::tool::library;
use stackloom::tree::check;
use std::collections::BTreeMap;

/// How long a text may be: no command reads a longer one.
const LONGEST: usize = 256 << 10;

/// Every text has a tree, and every mistake a place. What is right is right when it was formatted,
/// and formatting it again changes nothing.
pub fn parser(bytes: &[u8]) {
    let Some(text) = text_of(bytes) else { return };
    let mut sources = Sources::new();
    let id = sources.add("text.loom", text);
    let (tree, diagnostics) = loom::parse(id, &sources);
    render(&diagnostics, &sources, false);
    if refused(&diagnostics) {
        return;
    }
    let formatted = loom::format(&tree, text);
    let id = sources.add("formatted.loom", formatted.as_str());
    let (tree, diagnostics) = loom::parse(id, &sources);
    let says = render(&diagnostics, &sources, false);
    assert!(!refused(&diagnostics), "formatting made a mistake:\n{says}");
    let again = loom::format(&tree, &formatted);
    assert!(
        formatted == again,
        "formatted twice:\n{formatted}\nand\n{again}"
    );
}

/// Every text is refused with a reason, or each of its stacks becomes trees that the checker finds
/// nothing wrong with, and C.
pub fn pipeline(bytes: &[u8]) {
    let Some(text) = text_of(bytes) else { return };
    let library: BTreeMap<String, String> = library::standard();
    let root = vec![("text.loom".to_string(), text.to_string())];
    let mut checked = pipeline::read(root, &library);
    pipeline::check(&mut checked);
    render(&checked.diagnostics, &checked.sources, false);
    if refused(&checked.diagnostics) {
        return;
    }
    for stack in pipeline::stacks(&checked) {
        let compiled = pipeline::compile(&mut checked, &stack, "fuzzed");
        let compiled = compiled.unwrap_or_else(|| panic!("`{stack}` is lost without a reason"));
        let wrong = check::check(&compiled.program, &compiled.forest);
        assert!(wrong.is_empty(), "the trees of `{stack}`: {wrong:?}");
        assert!(compiled.code.c.contains("fuzzed_input"), "no C");
    }
}

fn text_of(bytes: &[u8]) -> Option<&str> {
    let text = std::str::from_utf8(bytes).ok()?;
    (text.len() <= LONGEST).then_some(text)
}
