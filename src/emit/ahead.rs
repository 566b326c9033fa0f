//! The greatest number of steps that a fast path takes behind its first step.
//!
//! In: the bypasses of a stack. Out: how many steps each of them may take at most, behind the one
//! that a frame comes with. Whoever takes a frame sees to it that the budget of the call allows all
//! of these, and that their answers have room; so a path does not ask at each of them, and where
//! there is too little left, a frame goes the general way at once.
//!
//! ```text
//! if (!goes_on(stack)) { otherwise }
//! answer(frame)                       =>  answer(frame)               AHEAD = 1
//! ```

use super::Stack;
use super::granted::Granted;
use crate::tree::walk::{children, reachable};
use crate::tree::{Forest, Node, Tree};
use crate::types::expression::{Expression, ExpressionKind, Query};
use std::collections::HashMap;

/// A path that may take more has no function of its own: the answers of all have room at once.
const MOST: u32 = 16;

/// Returns true for the test of the step budget before a reply; a fast path does not need it.
pub fn is_asked(condition: &Expression) -> bool {
    *condition.kind == ExpressionKind::Query(Query::GoesOn)
}

/// Returns the greatest number of steps of a fast path behind its first; one of them is for what
/// an application gives back.
pub fn steps(stack: &Stack) -> u32 {
    let bypasses = stack.forest.bypasses.iter();
    let behind = bypasses.map(|tree| of(stack.forest, tree));
    let behind = behind.filter(|steps| *steps <= MOST).max();
    let granted = u32::from(Granted::all(stack).next().is_some());
    behind.map_or(0, |behind| behind + granted)
}

/// Whether a bypass takes so few that it has a function.
pub fn is_short(stack: &Stack, tree: &Tree) -> bool {
    of(stack.forest, tree) <= MOST
}

/// The same of one, but for what an application gives back.
fn of(forest: &Forest, tree: &Tree) -> u32 {
    let mut behind = HashMap::new();
    for id in reachable(forest, tree.root) {
        let node = forest.arena.node(id);
        let asks = matches!(node, Node::Test { condition, .. } if is_asked(condition));
        let most = children(node).into_iter().map(|child| behind[&child]).max();
        behind.insert(id, most.unwrap_or(0) + u32::from(asks));
    }
    behind[&tree.root]
}
