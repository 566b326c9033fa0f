//! Slots: how many bytes each of their layers makes of a message, and the longest that it takes.
//!
//! In: a stack, and its file. Out: a table for each slot, found by messages that go through each
//! layer alone on a link, in the interpreter.
//!
//! ```text
//! slot repair: adds 1 byte; frames of up to 1,500 bytes
//!   bytes of a message     64     512   1,400  longest
//!    0 off                 64     512   1,400    1,500
//!    1 hamming            118     902       -      848
//! ```

use super::link_bytes::link_bytes;
use crate::pipeline;
use crate::source::Sources;
use crate::syntax::loom::{ast, parse};
use crate::tool::compiler::{Options, read_texts};
use crate::tool::failure::Failure;
use crate::tool::library;
use crate::tool::page::grouped;
use std::fmt::Write as _;
use std::path::Path;

/// Bytes of the messages that are shown.
const SIZES: [usize; 3] = [64, 512, 1400];
/// Messages of a size, for layers that add a frame to several of them.
const MESSAGES: u64 = 64;
/// Bytes of a frame at most, on a link that says nothing else.
const FRAME_BYTES: usize = 1500;
/// The name of the stack in which a layer is alone.
const ALONE: &str = "alone_on_a_link";

/// Returns the tables of all slots of a stack, which is in this file or in one beside it.
pub fn slots(file: &Path, stack: &str, options: &Options) -> Result<String, Failure> {
    let texts = library::read(file)?;
    let mut text = String::new();
    for (name, source) in &texts {
        let mut sources = Sources::new();
        let id = sources.add(name.clone(), source.clone());
        let (tree, _) = parse(id, &sources);
        let mut found = Vec::new();
        for declaration in &tree.declarations {
            match declaration {
                ast::Declaration::Stack(it) if it.name.text == stack => {
                    collect(&it.nodes, FRAME_BYTES, &mut found);
                }
                _another => {}
            }
        }
        for (slot, most) in found {
            let heads = SIZES.map(|size| format!("{:>8}", grouped(size as u64)));
            writeln!(
                text,
                "slot {}: {}; frames of up to {} bytes\n{:<27}{} {:>8}",
                slot.name,
                added(slot),
                grouped(most as u64),
                "  bytes of a message",
                heads.concat(),
                "longest"
            )
            .expect("a string takes every line");
            for (number, layers) in slot.variants.iter().enumerate() {
                let cells = row(layers, &sources, &texts, (most, options))?;
                let names = layers
                    .iter()
                    .map(|it| &*it.alias.as_ref().unwrap_or(&it.layer).text);
                let name = names.collect::<Vec<_>>().join(" > ");
                writeln!(text, "  {number:2} {name:<22}{cells}")
                    .expect("a string takes every line");
            }
            text.push('\n');
        }
    }
    Ok(text)
}

/// Finds the slots, each with the bytes of a frame of its link at most.
fn collect<'a>(nodes: &'a [ast::Node], most: usize, found: &mut Vec<(&'a ast::Slot, usize)>) {
    for node in nodes {
        let mut most = most;
        match &node.kind {
            ast::NodeKind::Slot(slot) => found.push((slot, most)),
            ast::NodeKind::Link { arguments, .. } => {
                let mut mtu = arguments.iter().filter(|argument| argument.name.is("mtu"));
                if let Some(ast::ExpressionKind::Number(mtu)) = mtu.next().map(|it| &it.value.kind)
                {
                    most = *mtu as usize;
                }
            }
            ast::NodeKind::Port { .. } | ast::NodeKind::Layer(_) => {}
        }
        collect(&node.above, most, found);
    }
}

/// Says what a slot adds to each frame.
fn added(slot: &ast::Slot) -> &'static str {
    let is_said = |name: &str| {
        let mut given = slot
            .arguments
            .iter()
            .filter(|argument| argument.name.is(name));
        given.any(|argument| argument.value.kind != ast::ExpressionKind::Boolean(false))
    };
    match (is_said("one_sided"), is_said("key"), is_said("protected")) {
        (true, ..) => "adds nothing",
        (false, true, true) => "adds 2 bytes, but none for the first layer",
        (false, true, false) => "adds 1 byte, but none for the first layer",
        (false, false, true) => "adds 2 bytes",
        (false, false, false) => "adds 1 byte",
    }
}

/// Returns the cells of layers on each other.
fn row(
    layers: &[ast::LayerUse],
    sources: &Sources,
    texts: &[(String, String)],
    (most_bytes, options): (usize, &Options),
) -> Result<String, Failure> {
    let on = layers.iter().rev();
    let stack = on.fold("port messages".to_string(), |above, layer| {
        let arguments = layer.arguments.iter();
        let arguments = arguments.map(|it| {
            let value = sources.slice(it.value.span);
            format!("{} = {value}", it.name)
        });
        let given = arguments.collect::<Vec<_>>().join(", ");
        match given.is_empty() {
            true => format!("{} {{ {above} }}", layer.layer),
            false => format!("{}({given}) {{ {above} }}", layer.layer),
        }
    });
    let mut texts = texts.to_vec();
    let (_, first) = &mut texts[0];
    *first = format!(
        "use boost.off\n{first}\nstack {ALONE} {{ link air(mtu = 65535) {{ {stack} }} }}\n"
    );
    let mut checked = read_texts(texts, options)?;
    let Some((program, _)) = pipeline::trees(&mut checked, ALONE) else {
        return Ok("  cannot stand alone on a link".to_string());
    };
    if !program.config.is_empty() {
        return Ok("  depends on a setting".to_string());
    }
    let mut cells = String::new();
    for size in SIZES {
        let cell = match link_bytes(&program, size, MESSAGES, most_bytes) {
            Some(bytes) => grouped(bytes.div_ceil(MESSAGES)),
            None => "-".to_string(),
        };
        write!(cells, "{cell:>8}").expect("a string takes every cell");
    }
    let (mut least, mut most) = (0, most_bytes + 1);
    while most - least > 1 {
        let middle = least.midpoint(most);
        match link_bytes(&program, middle, 1, most_bytes) {
            Some(_) => least = middle,
            None => most = middle,
        }
    }
    write!(cells, " {:>8}", grouped(least as u64)).expect("a string takes every cell");
    Ok(cells)
}
