//! The fast path of a handler whose ways meet again: there they stay apart (HIPPCO 4.2).
//!
//! In: a tree whose turns stand one behind the other, and put what they let happen on the agenda.
//! Out: the same, but what mostly happens is a path of its own: what turns told each other there is
//! known, so nobody asks for it; and it is known what is due at its end, so that it stands in a
//! leaf, as in trees without turns. Where a process may be in many states, it is mostly in one in
//! which it does not wait for what came, if that is so on most ways. Where the path is left,
//! what is known is noted, what is due is put on the agenda, and the tree goes on as it was.
//!
//! ```text
//! begin                                   begin is due
//! let valid = false                       valid is known
//! if acceptable { let valid = true }  =>  if not acceptable { let valid = false … as it was }
//! if valid { put [deliver] }              let it happen: [deliver]
//! turn, at once, leaf []                  leaf [deliver]
//! ```
//!
//! Assumes: nothing but `put` and what stands around it looks at the agenda within an instant.
//! Ensures: the same outputs in the same order, the same state. Cost: [`Limits::nodes`] nodes for
//! each tree.

use super::simpler::simpler;
use super::states::is_found_at_will;
use crate::tree::rename::Renaming;
use crate::tree::walk::{begins, children, reachable, ways, with_children};
use crate::tree::{Action, Forest, Node, NodeId, Output, Probability, Reaction, Tree};
use crate::types::constant::fold_number;
use crate::types::expression::{Binary, Expression, ExpressionKind, Variable};
use crate::types::program::{Event, LocalId, Program};
use crate::types::value::Type;
use rustc_hash::FxHashMap;
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

/// How often a process is in one of most of its states, if nobody says how often it is in which.
const STAYS: Probability = Probability(990_000);

/// Limits on the length of fast paths.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Which trees are extended.
    pub trees: Trees,
    /// So many nodes a path may have, with all its ways.
    pub nodes: usize,
    /// What is reached less often leaves the path; more does where there are not nodes enough.
    pub least: f64,
    /// A way that is taken no more often than this leaves it.
    pub rare: f64,
}

/// The trees that are extended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trees {
    /// All of them.
    All,
    /// Those of reactions that have a woven copy, or stand in one: to messages, and to `again`.
    OfWoven,
    /// Those of all other reactions.
    OfOthers,
}

impl Trees {
    fn have(self, reaction: Reaction) -> bool {
        let (Reaction::Arrive { event, .. } | Reaction::Handle { event, .. }) = reaction;
        let is_woven = matches!(event, Event::Send | Event::Deliver | Event::Again);
        match self {
            Trees::All => true,
            Trees::OfWoven => is_woven,
            Trees::OfOthers => !is_woven,
        }
    }
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            trees: Trees::All,
            nodes: 600,
            least: 0.004,
            rare: 0.05,
        }
    }
}

/// Trees with fast paths.
pub fn extend(program: &Program, forest: Forest, limits: Limits) -> Forest {
    let mut extending = Extending {
        program,
        forest,
        limits,
        asked: FxHashMap::default(),
        left: 0,
    };
    for at in 0..extending.forest.trees.len() {
        let Tree { reaction, root, .. } = extending.forest.trees[at];
        if !limits.trees.have(reaction) {
            continue;
        }
        let nodes = reachable(&extending.forest, root);
        let begins = |node: &NodeId| begins(extending.forest.arena.node(*node));
        if nodes.iter().any(begins) {
            extending.ask(&nodes);
            let path = extending.within_limits(root, limits);
            extending.forest.trees[at].root = path.unwrap_or(root);
        }
    }
    extending.forest
}

struct Extending<'a> {
    program: &'a Program,
    forest: Forest,
    limits: Limits,
    /// The locals that each node, or what is behind it, asks for.
    asked: FxHashMap<NodeId, BTreeSet<LocalId>>,
    /// Nodes that the tree at hand may still get.
    left: usize,
}

/// What is known on a path.
#[derive(Clone, Default)]
struct Known {
    /// Numbers that locals hold, which nobody has noted.
    values: BTreeMap<LocalId, Expression>,
    /// Numbers that fields hold since they were written.
    fields: Vec<(Variable, Expression)>,
    /// Steps that concern the agenda, and are still to be done.
    due: Vec<Action>,
}

impl Extending<'_> {
    /// Finds what nodes ask for, children first.
    fn ask(&mut self, nodes: &[NodeId]) {
        for id in nodes {
            let node = self.forest.arena.node(*id);
            let mut asked = BTreeSet::new();
            for child in children(node) {
                asked.extend(self.asked[&child].iter().copied());
            }
            match node {
                Node::Act {
                    action: Action::Let(local, value),
                    ..
                } => {
                    asked.remove(local);
                    asked.extend(named(|naming| drop(naming.expression(value))));
                }
                Node::Act {
                    action: Action::Mark(local),
                    ..
                } => drop(asked.remove(local)),
                other => asked.extend(named(|naming| drop(naming.node(other)))),
            }
            self.asked.insert(*id, asked);
        }
    }

    /// The path from the root of a tree. What is reached least leaves it first, until there are
    /// nodes enough.
    fn within_limits(&mut self, root: NodeId, limits: Limits) -> Option<NodeId> {
        self.limits = limits;
        loop {
            self.left = limits.nodes;
            let path = self.path(root, Known::default(), 1.0);
            if self.left > 0 || self.limits.least > 1.0 {
                return path;
            }
            self.limits.least *= 2.0;
        }
    }

    /// The path from a node of the tree as it was, which is reached so often; none if it comes to
    /// no end of its own.
    fn path(&mut self, from: NodeId, mut known: Known, mass: f64) -> Option<NodeId> {
        let mut steps = Vec::new();
        let mut at = from;
        let end = loop {
            at = self.decided(at, &known);
            if mass < self.limits.least || self.left == 0 {
                return None;
            }
            self.left -= 1;
            match known.node(self.forest.arena.node(at)) {
                Node::Act { action, next } => {
                    if let Some(outputs) = self.due_at_the_end(&action, next, &known) {
                        break self.forest.arena.add(Node::Leaf { outputs });
                    }
                    if !known.step(action, &mut steps) {
                        return None;
                    }
                    at = next;
                }
                Node::Leaf { .. } => return None,
                case @ Node::Case { .. } => {
                    let made = self.staying(case, at, &known, mass)?;
                    self.forest.asks_as(made, at);
                    break made;
                }
                two => {
                    let made = self.ways(two, &known, mass)?;
                    self.forest.asks_as(made, at);
                    break made;
                }
            }
        };
        let steps = steps.into_iter().rev();
        Some(steps.fold(end, |next, action| {
            self.forest.arena.add(Node::Act { action, next })
        }))
    }

    /// A node behind which there are two ways, one of which comes to an end of its own.
    fn ways(&mut self, mut node: Node, known: &Known, mass: f64) -> Option<NodeId> {
        let mut known = known.clone();
        match &mut node {
            Node::Test { condition, .. } => *condition = simpler(self.program, condition.clone()),
            Node::Try { .. } => known.fields.clear(),
            Node::Case { .. } | Node::Act { .. } | Node::Leaf { .. } => {
                unreachable!("it has not two ways")
            }
        }
        let rare = self.limits.rare;
        let mut ends = false;
        let mut shares = ways(&node).into_iter();
        let made = with_children(node, |to| {
            let (_, share) = shares.next().expect("each child is a way");
            let path = match share <= rare {
                true => None,
                false => self.path(to, known.clone(), mass * share),
            };
            ends |= path.is_some();
            path.unwrap_or_else(|| {
                let to = self.decided(to, &known);
                self.left_at(to, &known)
            })
        });
        ends.then(|| self.forest.arena.add(made))
    }

    /// The common way of many: where a process stays as it is, for it waits for nothing that came,
    /// if it does so on most of these ways.
    fn staying(&mut self, case: Node, at: NodeId, known: &Known, mass: f64) -> Option<NodeId> {
        let shares = ways(&case);
        let Node::Case {
            value,
            cases,
            otherwise,
        } = case
        else {
            unreachable!("it has many ways");
        };
        if !is_found_at_will(self.program, &value) {
            return None;
        }
        let stays = self.decided(otherwise, known);
        let mut goes: BTreeMap<NodeId, bool> = BTreeMap::new();
        for (to, _) in &shares {
            goes.entry(*to)
                .or_insert_with(|| self.decided(*to, known) != stays);
        }
        let leaves = shares.iter().filter(|(to, _)| goes[to]);
        let leaving: f64 = leaves.map(|(_, share)| share).sum();
        if leaving >= 0.5 {
            return None;
        }
        let leaves = cases.iter().filter(|(.., to)| goes[to]);
        let asked = leaves.map(|(state, ..)| {
            let state = Expression::number(*state, value.result.clone());
            Expression::binary(Binary::Unequal, value.clone(), state, Type::Bool)
        });
        let both = |one, other| Expression::binary(Binary::And, one, other, Type::Bool);
        let condition = asked.reduce(both)?;
        let is_said = cases
            .iter()
            .any(|(_, share, _)| *share != Probability::EVEN);
        let likely = match is_said {
            true => Probability(((1.0 - leaving) * 1e6) as u32),
            false => STAYS,
        };
        let then = self.path(otherwise, known.clone(), mass)?;
        let otherwise = self.left_at(at, known);
        Some(self.forest.arena.add(Node::Test {
            condition,
            likely,
            then,
            otherwise,
        }))
    }

    /// The node behind tests whose outcome is known, or does not matter.
    fn decided(&self, from: NodeId, known: &Known) -> NodeId {
        self.behind(from, known, &mut FxHashMap::default())
    }

    /// The same, where it may have been found for nodes that lie behind it.
    fn behind(&self, from: NodeId, known: &Known, found: &mut FxHashMap<NodeId, NodeId>) -> NodeId {
        if let Some(end) = found.get(&from) {
            return *end;
        }
        let next = match self.forest.arena.node(from) {
            Node::Test {
                condition,
                then,
                otherwise,
                ..
            } => {
                let condition = simpler(self.program, known.given(condition));
                match condition.truth() {
                    Some(true) => Some(*then),
                    Some(false) => Some(*otherwise),
                    None => self.same(&condition, [*then, *otherwise], known, found),
                }
            }
            Node::Case {
                value,
                cases,
                otherwise,
            } => match fold_number(self.program, &known.given(value)) {
                Some(number) => {
                    let case = cases.iter().find(|(case, ..)| *case == number);
                    Some(case.map_or(*otherwise, |(.., to)| *to))
                }
                None => {
                    let cases = cases.iter().map(|(.., to)| *to);
                    self.same(value, cases.chain([*otherwise]), known, found)
                }
            },
            Node::Try { .. } | Node::Act { .. } | Node::Leaf { .. } => None,
        };
        let end = next.map_or(from, |next| self.behind(next, known, found));
        found.insert(from, end);
        end
    }

    /// Where all ways lead to, if that is one node, and nothing is done where it is asked which.
    fn same(
        &self,
        asked: &Expression,
        ways: impl IntoIterator<Item = NodeId>,
        known: &Known,
        found: &mut FxHashMap<NodeId, NodeId>,
    ) -> Option<NodeId> {
        if !is_found_at_will(self.program, asked) {
            return None;
        }
        let mut all = ways.into_iter().map(|way| self.behind(way, known, found));
        let first = all.next()?;
        all.all(|other| other == first).then_some(first)
    }

    /// What is due, where nothing follows but that it happens.
    fn due_at_the_end(&self, action: &Action, next: NodeId, known: &Known) -> Option<Vec<Output>> {
        let Node::Act {
            action: Action::AtOnce,
            next,
        } = self.forest.arena.node(next)
        else {
            return None;
        };
        let nothing = Node::Leaf {
            outputs: Vec::new(),
        };
        let ends = *action == Action::Turn && *self.forest.arena.node(*next) == nothing;
        (ends && known.due.first() == Some(&Action::Begin)).then(|| known.in_order())
    }

    /// The tree as it was, behind what it asks for and what is still to be done.
    fn left_at(&mut self, node: NodeId, known: &Known) -> NodeId {
        let asked = &self.asked[&node];
        let values = known.values.iter();
        let noted = values.filter(|(local, _)| asked.contains(local));
        let noted = noted.map(|(local, value)| Action::Let(*local, value.clone()));
        let mut steps: Vec<Action> = noted.collect();
        let mut marks = asked.clone();
        let due = known.due.iter().rev().filter(|action| match action {
            Action::Precede(first, mark) => {
                marks.extend([*first, *mark]);
                true
            }
            Action::Let(mark, value) => {
                let is_asked = marks.contains(mark);
                if is_asked {
                    marks.extend(named(|naming| drop(naming.expression(value))));
                }
                is_asked
            }
            Action::Mark(mark) => marks.contains(mark),
            _puts_or_begins => true,
        });
        let due: Vec<Action> = due.cloned().collect();
        steps.extend(due.into_iter().rev());
        steps.into_iter().rev().fold(node, |next, action| {
            self.forest.arena.add(Node::Act { action, next })
        })
    }
}

impl Known {
    /// A step on the path; false if it cannot be taken there.
    fn step(&mut self, action: Action, steps: &mut Vec<Action>) -> bool {
        match &action {
            Action::Begin | Action::Mark(_) | Action::Precede(..) => self.due.push(action),
            Action::Put(outputs) => {
                if !outputs.iter().all(may_wait) {
                    return false;
                }
                self.due.push(action);
            }
            Action::Turn
            | Action::AtOnce
            | Action::Wait(_)
            | Action::Answer(_)
            | Action::Loop(_) => return false,
            Action::Let(_, value) if self.is_of_marks(value) => self.due.push(action),
            Action::Let(local, value) => {
                let is_due = self.due.iter().any(|due| {
                    let named = named(|naming| drop(naming.action(due)));
                    named.contains(local)
                });
                if is_due {
                    return false;
                }
                let is_number = matches!(value.result, Type::Bool | Type::Unsigned(_));
                if is_number && matches!(*value.kind, ExpressionKind::Constant(_)) {
                    self.values.insert(*local, value.clone());
                } else {
                    self.values.remove(local);
                    steps.push(action);
                }
            }
            Action::Assign(Variable::Field(instance, kind, field), value) => {
                let of = (*kind, *field);
                self.fields.retain(|(known, _)| match known {
                    Variable::Field(_, kind, field) => (*kind, *field) != of,
                    Variable::Local(_) | Variable::Element(..) | Variable::Part(..) => true,
                });
                if matches!(*value.kind, ExpressionKind::Constant(_)) {
                    let place = Variable::Field(*instance, *kind, *field);
                    self.fields.push((place, value.clone()));
                }
                steps.push(action);
            }
            Action::Assign(..) | Action::Do(_) | Action::End(..) | Action::Free(..) => {
                self.fields.clear();
                steps.push(action);
            }
            _another_step => steps.push(action),
        }
        true
    }

    /// Whether a value is made of marks, which are known where all that is due is.
    fn is_of_marks(&self, value: &Expression) -> bool {
        let marks = self.due.iter().filter_map(|due| match due {
            Action::Mark(mark) | Action::Let(mark, _) => Some(*mark),
            _binds_none => None,
        });
        let names = named(|naming| drop(naming.expression(value)));
        marks.into_iter().any(|mark| names.contains(&mark))
    }

    /// A node in which stands what is known.
    fn node(&self, node: &Node) -> Node {
        self.named(|naming| naming.node(node))
    }

    /// A value in which stands what is known.
    fn given(&self, value: &Expression) -> Expression {
        self.named(|naming| naming.expression(value))
    }

    /// What comes of something whose reads of what is known become what they give.
    fn named<T>(&self, of: impl Fn(&Renaming) -> T) -> T {
        let replaced = |expression: &Expression| match &*expression.kind {
            ExpressionKind::Read(Variable::Local(local)) => self.values.get(local).cloned(),
            ExpressionKind::Read(variable) => {
                let known = self.fields.iter().find(|(other, _)| other == variable);
                known.map(|(_, value)| value.clone())
            }
            _of_another_kind => None,
        };
        of(&Renaming {
            local: &|local| local,
            instance: &|instance| instance,
            replaced: &replaced,
        })
    }

    /// What is due, the first one first.
    fn in_order(&self) -> Vec<Output> {
        let mut all = Vec::new();
        let mut marks: BTreeMap<LocalId, usize> = BTreeMap::new();
        for action in &self.due {
            match action {
                Action::Mark(mark) => drop(marks.insert(*mark, all.len())),
                Action::Put(outputs) => all.extend(outputs.iter().cloned()),
                Action::Let(mark, value) => drop(marks.insert(*mark, place(value, &marks))),
                Action::Precede(first, mark) => {
                    let later = all.split_off(marks[mark]);
                    let (at, count) = (marks[first], later.len());
                    all.splice(at..at, later);
                    marks.insert(*first, at + count);
                }
                _begins => {}
            }
        }
        all
    }
}

/// How many outputs stand before what a value is made of.
fn place(value: &Expression, marks: &BTreeMap<LocalId, usize>) -> usize {
    match &*value.kind {
        ExpressionKind::Read(Variable::Local(mark)) => marks[mark],
        ExpressionKind::Binary(Binary::Add, one, other) => place(one, marks) + place(other, marks),
        ExpressionKind::Binary(Binary::Subtract, one, other) => {
            place(one, marks) - place(other, marks)
        }
        other => unreachable!("{other:?} says nothing about marks"),
    }
}

/// Whether an output is the same if it is made later.
fn may_wait(output: &Output) -> bool {
    match output {
        Output::One { arguments, .. } => arguments.iter().all(|argument| {
            let kind = &*argument.kind;
            matches!(
                kind,
                ExpressionKind::Constant(_) | ExpressionKind::Read(Variable::Local(_))
            )
        }),
        Output::Many(_) | Output::Every { .. } => false,
    }
}

/// The locals that something names.
fn named(of: impl Fn(&Renaming)) -> BTreeSet<LocalId> {
    let all = RefCell::new(BTreeSet::new());
    let local = |local| {
        all.borrow_mut().insert(local);
        local
    };
    of(&Renaming {
        local: &local,
        instance: &|instance| instance,
        replaced: &|_| None,
    });
    all.into_inner()
}
