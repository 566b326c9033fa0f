//! Policies of slots, as the layers that they stand for.
//!
//! In: what a slot says behind `by`, and the policies that its file sees. Out: the layers, from the
//! bottom to the top:
//!
//! ```text
//! policy noise(most: u32 = 25) {
//!     monitor errors
//!     decision counting(most = most)         slot repair by noise(most = 8)
//!     signal spp                               -> station, spp, counting(most = 8), errors
//!     peer station
//! }
//! ```

use crate::diagnostic::{Diagnostic, Id};
use crate::source::Span;
use crate::syntax::loom::ast::{self, Expression, ExpressionKind};
use crate::types::names::suggest;
use std::collections::BTreeMap;

/// The signalling of a slot whose policy has none.
const AT_ONCE: &str = "at_once";

/// Returns the layers of a slot's policy, from the bottom to the top. A name that is no policy is
/// that of a layer.
pub fn layers_of(
    slot: &ast::Slot,
    policies: &BTreeMap<String, ast::Policy>,
    diagnostics: &mut Vec<Diagnostic>,
) -> Vec<ast::LayerUse> {
    let Some(wanted) = &slot.policy else {
        return vec![at_once(slot.name.span)];
    };
    let Some(policy) = policies.get(&wanted.layer.text) else {
        return vec![wanted.clone()];
    };
    let given = given(policy, wanted, diagnostics);
    let signal = policy.signal.clone();
    let signal = signal.unwrap_or_else(|| at_once(wanted.layer.span));
    let parts = [
        policy.peer.clone(),
        Some(signal),
        policy.decision.clone(),
        policy.monitor.clone(),
    ];
    let mut layers: Vec<ast::LayerUse> = parts.into_iter().flatten().collect();
    for argument in layers.iter_mut().flat_map(|layer| &mut layer.arguments) {
        replace(&mut argument.value, &given);
    }
    layers
}

fn at_once(span: Span) -> ast::LayerUse {
    let text = AT_ONCE.to_string();
    ast::LayerUse {
        layer: ast::Name { text, span },
        arguments: Vec::new(),
        alias: None,
    }
}

/// The values of a policy's parameters.
fn given(
    policy: &ast::Policy,
    wanted: &ast::LayerUse,
    diagnostics: &mut Vec<Diagnostic>,
) -> BTreeMap<String, Expression> {
    let mut given = BTreeMap::new();
    let known: Vec<&str> = policy.parameters.iter().map(|it| &*it.name.text).collect();
    for argument in &wanted.arguments {
        let name = &argument.name;
        if !known.contains(&name.text.as_str()) {
            let title = format!("the policy `{}` has no parameter `{name}`", policy.name);
            let unknown = Diagnostic::error(Id::UnknownParameter, title, name.span, "");
            diagnostics.push(suggest(unknown, &name.text, &known));
        }
        given.insert(name.text.clone(), argument.value.clone());
    }
    for parameter in &policy.parameters {
        let name = &parameter.name;
        match (&parameter.default, given.contains_key(&name.text)) {
            (_, true) => {}
            (Some(default), false) => drop(given.insert(name.text.clone(), default.clone())),
            (None, false) => {
                let title = format!("the parameter `{name}` is missing");
                let place = wanted.layer.span;
                diagnostics.push(
                    Diagnostic::error(Id::MissingParameter, title, place, "missing here")
                        .label(parameter.span, "no default")
                        .help(format!("set `{name} = …` in the parentheses of the policy")),
                );
            }
        }
    }
    given
}

/// Puts the values of parameters for their names.
fn replace(value: &mut Expression, given: &BTreeMap<String, Expression>) {
    match &mut value.kind {
        ExpressionKind::Name(name) => {
            if let Some(known) = given.get(&name.text) {
                *value = known.clone();
            }
        }
        ExpressionKind::Group(inner)
        | ExpressionKind::Unary { operand: inner, .. }
        | ExpressionKind::Cast { operand: inner, .. } => replace(inner, given),
        ExpressionKind::Binary { left, right, .. } => {
            replace(left, given);
            replace(right, given);
        }
        ExpressionKind::If {
            condition,
            then,
            otherwise,
            ..
        } => {
            for part in [condition, then, otherwise] {
                replace(part, given);
            }
        }
        ExpressionKind::Call { arguments, .. } => {
            for argument in arguments {
                replace(argument, given);
            }
        }
        ExpressionKind::Number(_)
        | ExpressionKind::Duration(_)
        | ExpressionKind::Boolean(_)
        | ExpressionKind::None
        | ExpressionKind::Now
        | ExpressionKind::Field { .. }
        | ExpressionKind::Index { .. }
        | ExpressionKind::Else { .. }
        | ExpressionKind::Through { .. }
        | ExpressionKind::Find(_)
        | ExpressionKind::Create(_)
        | ExpressionKind::FindByTimer { .. }
        | ExpressionKind::New { .. }
        | ExpressionKind::Share(_)
        | ExpressionKind::List(_) => {}
    }
}
