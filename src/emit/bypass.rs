//! The fast path of what a frame starts, in a function of its own: a bypass (Ensemble 4.1).
//!
//! In: the function of a tree that tests first and then does (`optimise::bypass`). Out: the same,
//! with a guard. Where the path is left it says so, nothing has been done, and the function of the
//! whole tree begins. What the guard asks is said in [`guard`].

use super::Stack;
use super::ahead;
use super::apart::Part;
use super::external;
use super::guard;
use super::narrow::Read;
use super::settle::name_of;
use super::tree::function;
use super::uses::facts;
use crate::c::tree::{Expression as C, Function, Statement as S, atom};
use crate::tree::rewrites::Rewrites;
use crate::tree::walk::reachable;
use crate::tree::{Action, Forest, Node, NodeId, Output, Reaction};
use crate::types::program::{Kind, KindId, Population, Program};
use crate::types::statement::{Attempt, Search};
use crate::types::value::Type;
use std::collections::{BTreeMap, BTreeSet};

/// The function of the bypass of a reaction, if it has one; `apart` are parts of the whole tree.
pub fn function_of(
    stack: &Stack,
    reaction: Reaction,
    apart: &BTreeMap<NodeId, Part>,
) -> Option<Function> {
    let mut bypasses = stack.forest.bypasses.iter();
    let tree = bypasses.find(|tree| tree.reaction == reaction)?;
    let name = format!("{}_bypass", stack.names.reactions[&reaction]);
    if stack.names.taken.has(&name) || !ahead::is_short(stack, tree) {
        return None;
    }
    let facts = facts(stack, &tree.parameters, tree.root);
    let (path, _) = function(stack, tree, &facts, apart, None);
    Some(Function {
        comment: format!(
            "The fast path of {}, or where it is left: then nothing has been done.",
            path.name
        ),
        result: format!("static inline {}", result(stack)),
        name,
        ..path
    })
}

/// The same with a guard; functions read of a message what `read` says.
pub fn guarded(function: &mut Function, read: &BTreeMap<String, Read>, rewrites: Rewrites) {
    let message = message_of(function);
    let body = std::mem::take(&mut function.body);
    function.body = guard::guarded(&message, read, body, rewrites);
}

/// What a bypass calls its frame.
pub fn message_of(function: &Function) -> String {
    let message = function.parameters.iter().find_map(|parameter| {
        let of_message = parameter.split_once("_message ");
        of_message.map(|_| name_of(parameter).to_string())
    });
    message.expect("a frame is a message")
}

/// Whether nothing waits on the agenda before the leaves of the bypass of a reaction.
pub fn puts_nothing(stack: &Stack, reaction: Reaction) -> bool {
    let mut bypasses = stack.forest.bypasses.iter();
    let tree = bypasses.find(|tree| tree.reaction == reaction);
    let nodes = tree.map(|tree| reachable(stack.forest, tree.root));
    let is_call = |output: &Output| external::is_call(stack, output);
    let mut nodes = nodes.into_iter().flatten();
    nodes.all(|node| match stack.forest.arena.node(node) {
        Node::Act { action, .. } => match action {
            Action::Wait(_) | Action::Put(_) => false,
            Action::Answer(outputs) => !outputs.iter().any(is_call),
            _puts_nothing => true,
        },
        Node::Leaf { .. } | Node::Test { .. } | Node::Case { .. } | Node::Try { .. } => true,
    })
}

/// The kinds of whose instances fast paths look for one by all their keys.
pub fn looked_for(program: &Program, forest: &Forest) -> BTreeSet<KindId> {
    let trees = forest.bypasses.iter();
    let nodes = trees.flat_map(|tree| reachable(forest, tree.root));
    let steps = nodes.flat_map(|node| match forest.arena.node(node) {
        Node::Try {
            attempt: Attempt::Instance(steps),
            ..
        } => steps.as_slice(),
        _ => &[],
    });
    let kinds = steps.filter_map(|step| match step {
        Search::Find(target) => Some(target.kind),
        Search::Create(..) | Search::Soonest(..) | Search::Standing(..) => None,
    });
    kinds
        .filter(|kind| is_one_of_many(&program.kinds[kind.at()]))
        .collect()
}

/// Whether one instance of many is found by keys that all have.
fn is_one_of_many(kind: &Kind) -> bool {
    let is_static = matches!(kind.population, Population::Static(_));
    let mut keys = kind.keys.iter();
    let has_all = keys.all(|key| !matches!(key.kind, Type::Optional(_)));
    !is_static && !kind.keys.is_empty() && has_all && kind.capacity > 1
}

/// Takes names away from a bypass that nobody reads any more.
pub fn forget_unread(function: &mut Function) {
    if is_bypass(function) {
        guard::forget_unread(&mut function.body);
    }
}

/// Whether a function is a bypass.
pub fn is_bypass(function: &Function) -> bool {
    function.result.ends_with("_path")
}

/// What a bypass returns.
pub fn result(stack: &Stack) -> String {
    format!("enum {}_path", stack.names.stack)
}

/// Where the path is left.
pub fn exit(condition: C) -> S {
    S::If {
        condition,
        then: vec![returned(false)],
        otherwise: Vec::new(),
    }
}

/// Whether a path is left here.
pub fn is_exit(statement: &S) -> bool {
    matches!(statement, S::If { then, otherwise, .. }
        if *then == [returned(false)] && otherwise.is_empty())
}

/// Where the path is left, or has come to its end: which of these is said when all are known, in
/// `exits`.
pub fn returned(done: bool) -> S {
    S::Return(Some(atom(if done { "true" } else { "false" })))
}
