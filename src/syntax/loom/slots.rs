//! Slots, as the layers that they stand for.
//!
//! In: a stack as it is written. Out: the same stack without slots, and what it uses besides:
//!
//! ```text
//! slot repair by noise { off            slot_frames as repair {
//!                        parity } {         key 0 off as repair_off
//!     tunnel { port messages }              key 1 parity as repair_parity
//! }                                         key 15 noise as repair_noise
//!                                       }   // or the layers of `noise`, on each other
//!                                       slot_ways(ways = [repair_off, repair_parity],
//!                                                 control = repair_noise, frames = repair,
//!                                                 layers = 2, digest = 0x3d1f_0b1c)
//!                                       as repair_ways { tunnel { port messages } }
//! ```
//!
//! A slot with a key of its own sends frames of its first layer as they are:
//!
//! ```text
//! key 1 slot repair(key = 2) { off       key 1 slot_plain as repair_plain { off as repair_off }
//!                              parity }  key 2 slot_frames(keyed = true) as repair {
//!                                            key 1 parity as repair_parity ..
//! ```

use super::ast;
use crate::source::{Sources, Span};
use std::collections::BTreeSet;

/// The label of the policy.
const CONTROL: u64 = 15;

/// The files of the library in which the layers of slots are.
const FILES: [[&str; 2]; 6] = [
    ["boost", "slot_bare"],
    ["boost", "slot_frames"],
    ["boost", "slot_plain"],
    ["boost", "slot_ways"],
    ["boost", "off"],
    ["policy", "at_once"],
];

/// The layer at the top of a slot, and how its name in the stack ends.
const TOP: &str = "slot_ways";
const TOP_ENDS: &str = "_ways";

/// Returns whether a layer is there for slots alone: nobody writes it in a stack.
pub fn is_part_of_slots(layer: &str) -> bool {
    let mut files = FILES.iter().map(|[_, file]| *file);
    layer != "off" && files.any(|file| file == layer)
}

/// The slot of which this is the top: a layer, and its name in the stack.
pub fn slot_below<'a>(layer: &str, name: &'a str) -> Option<&'a str> {
    name.strip_suffix(TOP_ENDS).filter(|_| layer == TOP)
}

/// The names of all slots in nodes, in the order of writing.
pub fn slot_names(nodes: &[ast::Node]) -> Vec<ast::Name> {
    let mut names = Vec::new();
    for node in nodes {
        if let ast::NodeKind::Slot(slot) = &node.kind {
            names.push(slot.name.clone());
        }
        names.extend(slot_names(&node.above));
    }
    names
}

/// Replaces the slots of a stack by layers; returns what the stack uses for them. `policy` gives
/// the layers of a slot's policy, from the bottom to the top, and is told whether the slot stands
/// at a key of the layer below.
pub fn without_slots(
    stack: &mut ast::Stack,
    sources: &Sources,
    policy: impl FnMut(&ast::Slot, bool) -> Vec<ast::LayerUse>,
) -> Vec<ast::Use> {
    let mut expansion = Expansion {
        sources,
        policy,
        behind: Vec::new(),
        first: None,
        taken: BTreeSet::new(),
    };
    let nodes = std::mem::take(&mut stack.nodes);
    for node in nodes {
        let nodes = expansion.nodes(node);
        stack.nodes.extend(nodes);
        stack.nodes.append(&mut expansion.behind);
    }
    let Some(span) = expansion.first else {
        return Vec::new();
    };
    let path = |file: [&str; 2]| ast::Path {
        names: file.map(|part| name(part, span)).to_vec(),
        span,
    };
    let uses = FILES.map(|file| ast::Use {
        path: path(file),
        span,
    });
    uses.to_vec()
}

struct Expansion<'s, Policy> {
    sources: &'s Sources,
    policy: Policy,
    /// The tops of slots, which stand behind the node in which the slots are.
    behind: Vec<ast::Node>,
    /// The place of the first slot.
    first: Option<Span>,
    /// The names of the slots so far.
    taken: BTreeSet<String>,
}

impl<Policy> Expansion<'_, Policy>
where
    Policy: FnMut(&ast::Slot, bool) -> Vec<ast::LayerUse>,
{
    /// A node without slots. A slot with a key of its own becomes two nodes.
    fn nodes(&mut self, node: ast::Node) -> Vec<ast::Node> {
        let ast::NodeKind::Slot(mut slot) = node.kind else {
            let above = node.above.into_iter();
            let above = above.flat_map(|above| self.nodes(above)).collect();
            return vec![ast::Node { above, ..node }];
        };
        let (notes, key, span) = (node.notes, node.key, node.span);
        self.first.get_or_insert(slot.name.span);
        // A name that is written twice is told once, and not of each layer that the slot becomes.
        while !self.taken.insert(slot.name.text.clone()) {
            slot.name.text.push('_');
        }
        let mut labelled = Vec::new();
        let mut ways = Vec::new();
        for (label, variant) in (0..).zip(&slot.variants) {
            let (node, name) = on_each_other(&slot, variant, label);
            ways.push(value(name));
            labelled.push(node);
        }
        let policy = (self.policy)(&slot, key.is_some());
        let (policy, control) = on_each_other(&slot, &policy, CONTROL);
        labelled.push(policy);
        let top = self.top(&slot, ways, control);
        let outer = std::mem::take(&mut self.behind);
        let above = node.above.into_iter();
        let above = above.flat_map(|above| self.nodes(above)).collect();
        let inner = std::mem::replace(&mut self.behind, outer);
        self.behind.push(layer(top, None, above, span));
        self.behind.extend(inner);
        let mut bottoms = bottoms(slot, key, labelled, span);
        bottoms[0].notes = notes;
        bottoms
    }

    /// The router on the layers of a slot.
    fn top(
        &self,
        slot: &ast::Slot,
        ways: Vec<ast::Expression>,
        control: ast::Name,
    ) -> ast::LayerUse {
        let place = slot.name.span;
        let list = ast::Expression {
            kind: ast::ExpressionKind::List(ways),
            span: place,
        };
        ast::LayerUse {
            layer: name(TOP, place),
            arguments: vec![
                argument("ways", list),
                argument("control", value(control)),
                argument("frames", value(slot.name.clone())),
                argument("layers", number(slot.variants.len() as u64, place)),
                argument("digest", number(self.digest(slot).into(), place)),
            ],
            alias: Some(name(&format!("{}{TOP_ENDS}", slot.name), place)),
        }
    }

    /// A number for the list of a slot's layers, as it is written: both ends need the same list.
    /// This is FNV-1a of the names and parameters, without blanks.
    fn digest(&self, slot: &ast::Slot) -> u32 {
        let mut written = String::new();
        for variant in &slot.variants {
            for (place, layer) in variant.iter().enumerate() {
                if place > 0 {
                    written.push('>');
                }
                written.push_str(&layer.layer.text);
                for argument in &layer.arguments {
                    written.push(',');
                    written.push_str(self.sources.slice(argument.span));
                }
            }
            written.push(';');
        }
        let bytes = written.bytes().filter(|byte| !byte.is_ascii_whitespace());
        bytes.fold(0x811c_9dc5, |sum: u32, byte| {
            (sum ^ u32::from(byte)).wrapping_mul(0x0100_0193)
        })
    }
}

/// Layers on each other, the lowest at a label of the slot's frames, and the name of the highest.
fn on_each_other(slot: &ast::Slot, layers: &[ast::LayerUse], label: u64) -> (ast::Node, ast::Name) {
    let mut nodes = Vec::new();
    let mut highest = slot.name.clone();
    for (place, layer) in layers.iter().enumerate() {
        let label = (place == 0).then_some(label);
        let (node, name) = standing(slot, layer, label);
        nodes.push(node);
        highest = name;
    }
    let mut nodes = nodes.into_iter().rev();
    let top = nodes.next().expect("a slot and a policy have layers");
    let node = nodes.fold(top, |above, below| ast::Node {
        above: vec![above],
        ..below
    });
    (node, highest)
}

/// The bottoms of a slot's layers: one node, or two if the slot has a key of its own.
fn bottoms(
    slot: ast::Slot,
    key: Option<ast::Expression>,
    mut labelled: Vec<ast::Node>,
    span: Span,
) -> Vec<ast::Node> {
    let is_key = |argument: &ast::Argument| argument.name.is("key");
    let (mut own, arguments): (Vec<_>, Vec<_>) = slot.arguments.into_iter().partition(is_key);
    let (one_sided, mut arguments): (Vec<_>, Vec<_>) = arguments
        .into_iter()
        .partition(|argument| argument.one_sided().is_some());
    // No slot has any other; that is told where its policy is found.
    arguments.retain(|argument| argument.name.is("protected") || argument.name.is("one_sided"));
    let is_bare = one_sided
        .iter()
        .any(|argument| argument.one_sided() == Some(true));
    let bottom = if is_bare { "slot_bare" } else { "slot_frames" };
    let place = slot.name.span;
    let plain_name = name(&format!("{}_plain", slot.name), place);
    let frames = |arguments| ast::LayerUse {
        layer: name(bottom, place),
        arguments,
        alias: Some(slot.name),
    };
    // A key of its own beside none is told where its policy is found.
    let Some(own) = own.pop().filter(|_| key.is_some()) else {
        return vec![layer(frames(arguments), key, labelled, span)];
    };
    let yes = ast::Expression {
        kind: ast::ExpressionKind::Boolean(true),
        span: own.span,
    };
    if !is_bare {
        arguments.push(argument("keyed", yes));
    }
    let plain = ast::LayerUse {
        layer: name("slot_plain", place),
        arguments: Vec::new(),
        alias: Some(plain_name),
    };
    let first = ast::Node {
        key: None,
        ..labelled.remove(0)
    };
    vec![
        layer(plain, key, vec![first], span),
        layer(frames(arguments), Some(own.value), labelled, span),
    ]
}

/// A layer of a slot, at a label of the slot's frames or on another layer, and the name that it
/// has in the stack.
fn standing(
    slot: &ast::Slot,
    wanted: &ast::LayerUse,
    label: Option<u64>,
) -> (ast::Node, ast::Name) {
    let span = wanted.alias.as_ref().unwrap_or(&wanted.layer).span;
    let own = || name(&format!("{}_{}", slot.name, wanted.layer), span);
    let called = wanted.alias.clone().unwrap_or_else(own);
    let key = label.map(|label| number(label, span));
    let wanted = ast::LayerUse {
        alias: Some(called.clone()),
        ..wanted.clone()
    };
    (layer(wanted, key, Vec::new(), span), called)
}

fn layer(
    wanted: ast::LayerUse,
    key: Option<ast::Expression>,
    above: Vec<ast::Node>,
    span: Span,
) -> ast::Node {
    ast::Node {
        notes: ast::Notes::default(),
        key,
        kind: ast::NodeKind::Layer(wanted),
        above,
        span,
    }
}

fn name(text: &str, span: Span) -> ast::Name {
    let text = text.to_string();
    ast::Name { text, span }
}

fn number(number: u64, span: Span) -> ast::Expression {
    let kind = ast::ExpressionKind::Number(number);
    ast::Expression { kind, span }
}

fn value(name: ast::Name) -> ast::Expression {
    let span = name.span;
    ast::Expression {
        kind: ast::ExpressionKind::Name(name),
        span,
    }
}

fn argument(parameter: &str, value: ast::Expression) -> ast::Argument {
    let span = value.span;
    ast::Argument {
        name: name(parameter, span),
        value,
        span,
    }
}
