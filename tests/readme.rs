//! What the first page shows is what there is: its layer is the library's, its C is what the
//! compiler makes of it, its stack is the example's.

use stackloom::pipeline;
use std::collections::BTreeMap;

const README: &str = include_str!("../README.md");
const SEQUENCER: &str = include_str!("../layers/order/sequencer.loom");
const RADIO: &str = include_str!("../examples/radio/radio.loom");
const HOST: &str = include_str!("../examples/host/host.loom");

/// The first block of the README that begins so.
fn shown(beginning: &str) -> &str {
    let start = README.find(beginning).expect("the README shows it");
    let end = README[start..].find("\n```").expect("a block ends");
    &README[start..start + end]
}

/// Code without comments at the ends of its lines, and without what stands between words.
fn words(text: &str) -> String {
    let lines = text
        .lines()
        .map(|line| line.split("//").next().unwrap_or_default());
    lines
        .flat_map(str::split_whitespace)
        .collect::<Vec<_>>()
        .join(" ")
}

#[test]
fn the_layer_is_the_one_of_the_library() {
    let layer = shown("worker sequencer");
    let own = &SEQUENCER[SEQUENCER.find("worker").expect("it is a worker")..];
    assert_eq!(words(layer), words(own));
}

#[test]
fn the_c_is_what_the_compiler_makes_of_it() {
    let library = BTreeMap::from([("order/sequencer.loom".to_string(), SEQUENCER.to_string())]);
    let root = vec![("radio.loom".to_string(), RADIO.to_string())];
    let mut checked = pipeline::read(root, &library);
    let stack = pipeline::stacks(&checked)[0].clone();
    let compiled = pipeline::compile(&mut checked, &stack, &stack).expect("it compiles");
    let c = shown("/* sequencer.loom:");
    assert!(compiled.code.c.contains(c), "{}", compiled.code.c);
}

#[test]
fn the_stack_is_the_one_of_the_example() {
    assert!(words(HOST).contains(&words(shown("stack host {"))));
}
