//! Slots, as the layers that they stand for.
//!
//! In: a stack as it is written. Out: the same stack without slots, and what it uses besides:
//!
//! ```text
//! slot repair by noise { off            slot_frames as repair {
//!                        parity } {         key 0 off as repair_off
//!     tunnel { port messages }              key 1 parity as repair_parity
//! }                                         key 15 noise as repair_noise
//!                                       }
//!                                       slot_ways(ways = [repair_off, repair_parity],
//!                                                 control = repair_noise, frames = repair,
//!                                                 layers = 2)
//!                                       as repair_ways { tunnel { port messages } }
//! ```

use super::ast;
use crate::source::Span;

/// The label of the policy.
const CONTROL: u64 = 15;

/// The files of the library in which the layers of slots are.
const FILES: [&str; 4] = ["slot_frames", "slot_ways", "off", "by_hand"];

/// Replaces the slots of a stack by layers; returns what the stack uses for them.
pub fn without_slots(stack: &mut ast::Stack) -> impl Iterator<Item = ast::Use> + use<> {
    let mut first = None;
    let nodes = std::mem::take(&mut stack.nodes);
    for node in nodes {
        let mut above = Vec::new();
        let node = expanded(node, &mut above, &mut first);
        stack.nodes.push(node);
        stack.nodes.extend(above);
    }
    first.into_iter().flat_map(|span: Span| {
        FILES.map(|file| ast::Use {
            path: ast::Path {
                names: vec![name("boost", span), name(file, span)],
                span,
            },
            span,
        })
    })
}

/// A node without slots; the tops of those that were in it stand behind it.
fn expanded(node: ast::Node, behind: &mut Vec<ast::Node>, first: &mut Option<Span>) -> ast::Node {
    let (notes, key, span) = (node.notes, node.key, node.span);
    let ast::NodeKind::Slot(slot) = node.kind else {
        let above = node.above.into_iter();
        let above = above.map(|above| expanded(above, behind, first)).collect();
        let kind = node.kind;
        return ast::Node {
            notes,
            key,
            kind,
            above,
            span,
        };
    };
    first.get_or_insert(slot.name.span);
    let place = slot.name.span;
    let mut labelled = Vec::new();
    let mut ways = Vec::new();
    for (number, variant) in slot.variants.iter().enumerate() {
        let (node, name) = standing(&slot, variant, number as u64);
        ways.push(value(name));
        labelled.push(node);
    }
    let by_hand = ast::LayerUse {
        layer: name("by_hand", place),
        arguments: Vec::new(),
        alias: None,
    };
    let policy = slot.policy.as_ref().unwrap_or(&by_hand);
    let (control, policy) = standing(&slot, policy, CONTROL);
    labelled.push(control);
    let list = ast::Expression {
        kind: ast::ExpressionKind::List(ways),
        span: place,
    };
    let top = ast::LayerUse {
        layer: name("slot_ways", place),
        arguments: vec![
            argument("ways", list),
            argument("control", value(policy)),
            argument("frames", value(slot.name.clone())),
            argument("layers", number(slot.variants.len() as u64, place)),
        ],
        alias: Some(name(&format!("{}_ways", slot.name), place)),
    };
    let mut inner = Vec::new();
    let above = node.above.into_iter();
    let above = above.map(|above| expanded(above, &mut inner, first));
    let above = above.collect();
    behind.push(layer(top, None, above, span));
    behind.append(&mut inner);
    let bottom = ast::LayerUse {
        layer: name("slot_frames", place),
        arguments: Vec::new(),
        alias: Some(slot.name),
    };
    ast::Node {
        notes,
        ..layer(bottom, key, labelled, span)
    }
}

/// A layer of a slot at its label, and the name that it has in the stack.
fn standing(slot: &ast::Slot, wanted: &ast::LayerUse, label: u64) -> (ast::Node, ast::Name) {
    let span = wanted.alias.as_ref().unwrap_or(&wanted.layer).span;
    let own = || name(&format!("{}_{}", slot.name, wanted.layer), span);
    let called = wanted.alias.clone().unwrap_or_else(own);
    let key = number(label, span);
    let wanted = ast::LayerUse {
        alias: Some(called.clone()),
        ..wanted.clone()
    };
    (layer(wanted, Some(key), Vec::new(), span), called)
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
