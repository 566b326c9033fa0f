//! Tests whose outcome an earlier test on the same way has settled: they are gone (HIPPCO 4.3).
//!
//! In: trees. Out: the same, without tests that, on all ways to them, can go but one way: the same
//! was asked before, or its opposite, or a value was written or compared, and nothing has changed
//! since what is asked.
//!
//! ```text
//! if state == open { … }              if state == open { …
//! if state == sent or late { … }  =>      if late { … } } else { if state == sent or late { … } }
//! ```
//!
//! Where ways meet, what is known is what is known on each of them; no node is made twice, so that
//! what meets stays together. That much is known on the fast path is what `extend` is for.
//!
//! Assumes: what a step changes is what it says. Ensures: the same outputs and state. Cost: none.

use super::depends::is_of_message;
use super::simpler::{opposite, simpler};
use super::states::is_found_at_will;
use super::unasked::forget;
use super::value::{Looks, named};
use crate::tree::rename::Renaming;
use crate::tree::walk::{children, decided, reachable, with_children};
use crate::tree::{Action, Forest, Node, NodeId};
use crate::types::expression::{Binary, Expression, ExpressionKind, Unary, Variable};
use crate::types::program::{LocalId, Program};
use crate::types::statement::{Attempt, Search};
use crate::types::value::Type;
use rustc_hash::FxHashMap;
use std::collections::BTreeSet;

/// So much is known at most; what was learnt first is forgotten.
const MOST: usize = 64;

/// Trees without tests that are settled.
pub fn prune(program: &Program, mut forest: Forest) -> Forest {
    for at in 0..forest.trees.len() {
        forest.trees[at].root = pruned(program, &mut forest, at);
    }
    forget(program, &forest)
}

/// The root of a tree without them.
fn pruned(program: &Program, forest: &mut Forest, tree: usize) -> NodeId {
    let root = forest.trees[tree].root;
    let nodes = reachable(forest, root);
    let nothing = Known {
        program,
        facts: Vec::new(),
    };
    let mut known = FxHashMap::from_iter([(root, nothing)]);
    let mut given = FxHashMap::default();
    for id in nodes.iter().rev() {
        // Nothing leads there any more.
        let Some(here) = known.remove(id) else {
            continue;
        };
        let node = here.given(forest.arena.node(*id));
        for (child, there) in here.ways(&node) {
            match known.get_mut(&child) {
                Some(other) => other.meet(&there),
                None => drop(known.insert(child, there)),
            }
        }
        given.insert(*id, node);
    }
    let mut new: FxHashMap<NodeId, NodeId> = FxHashMap::default();
    for id in nodes {
        let Some(node) = given.remove(&id) else {
            continue;
        };
        let made = match decided(program, &node) {
            Some(way) => new[&way],
            None => {
                let made = forest.arena.add(with_children(node, |child| new[&child]));
                forest.asks_as(made, id);
                if let Some(origin) = forest.origins.get(&id).copied() {
                    forest.origins.entry(made).or_insert(origin);
                }
                made
            }
        };
        new.insert(id, made);
    }
    new[&root]
}

/// What is known where a node begins.
#[derive(Clone)]
struct Known<'a> {
    program: &'a Program,
    facts: Vec<Fact>,
}

/// An expression that has a value.
#[derive(Clone, PartialEq)]
struct Fact {
    of: Expression,
    value: Expression,
    /// What it depends on.
    looks: Looks,
    locals: BTreeSet<LocalId>,
    is_of_message: bool,
}

impl<'a> Known<'a> {
    /// A node in whose test stands what is known.
    fn given(&self, node: &Node) -> Node {
        let mut node = node.clone();
        match &mut node {
            Node::Test {
                condition: value, ..
            }
            | Node::Case { value, .. } => *value = self.value(value),
            Node::Try { .. } | Node::Act { .. } | Node::Leaf { .. } => {}
        }
        node
    }

    /// A value in which stands what is known.
    fn value(&self, value: &Expression) -> Expression {
        if self.facts.is_empty() || !is_found_at_will(self.program, value) {
            return value.clone();
        }
        let replaced = |part: &Expression| {
            let fact = self.facts.iter().find(|fact| fact.of == *part);
            fact.map(|fact| fact.value.clone())
        };
        let renaming = Renaming {
            local: &|local| local,
            instance: &|instance| instance,
            replaced: &replaced,
        };
        match renaming.expression(value) {
            same if same == *value => same,
            other => simpler(self.program, other),
        }
    }

    /// The ways behind a node, and what is known there.
    fn ways(self, node: &Node) -> Vec<(NodeId, Known<'a>)> {
        if let Some(way) = decided(self.program, node) {
            return vec![(way, self)];
        }
        match node {
            Node::Test {
                condition,
                then,
                otherwise,
                ..
            } => {
                let way = |holds| self.clone().behind(condition, holds);
                vec![(*then, way(true)), (*otherwise, way(false))]
            }
            Node::Case {
                value,
                cases,
                otherwise,
            } => {
                let ways = cases.iter().map(|(case, _, to)| {
                    let mut there = self.clone();
                    there.learn(value, Expression::number(*case, value.result.clone()));
                    (*to, there)
                });
                let mut ways: Vec<_> = ways.collect();
                ways.push((*otherwise, self));
                ways
            }
            Node::Try {
                attempt,
                bind,
                done,
                failed,
                ..
            } => {
                let there = self.tried(attempt, *bind);
                vec![(*done, there.clone()), (*failed, there)]
            }
            Node::Act { action, .. } => {
                let mut inside = children(node);
                let next = inside.pop().expect("a step leads on");
                let inside = inside.into_iter().map(|child| (child, self.nothing()));
                let mut ways: Vec<_> = inside.collect();
                ways.push((next, self.after(action)));
                ways
            }
            Node::Leaf { .. } => {
                let families = children(node).into_iter();
                families.map(|child| (child, self.nothing())).collect()
            }
        }
    }

    /// What is known where no more is.
    fn nothing(&self) -> Known<'a> {
        Known {
            program: self.program,
            facts: Vec::new(),
        }
    }

    /// What is known where ways meet.
    fn meet(&mut self, other: &Known) {
        self.facts.retain(|fact| other.facts.contains(fact));
    }

    /// What is known behind a test that went one way.
    fn behind(mut self, condition: &Expression, holds: bool) -> Known<'a> {
        if Looks::of(self.program, condition).changes {
            return self.nothing();
        }
        self.settle(condition, holds);
        self
    }

    /// Learns that a condition holds, or not.
    fn settle(&mut self, condition: &Expression, holds: bool) {
        let truth = |holds: bool| Expression::number(u64::from(holds), Type::Bool);
        match &*condition.kind {
            ExpressionKind::Unary(Unary::Not, inner) => self.settle(inner, !holds),
            ExpressionKind::Binary(Binary::And, one, other) if holds => {
                self.settle(one, true);
                self.settle(other, true);
            }
            ExpressionKind::Binary(Binary::Or, one, other) if !holds => {
                self.settle(one, false);
                self.settle(other, false);
            }
            ExpressionKind::Binary(operator, one, other) => {
                self.learn(condition, truth(holds));
                if let Some(opposite) = opposite(*operator) {
                    let opposite =
                        Expression::binary(opposite, one.clone(), other.clone(), Type::Bool);
                    self.learn(&opposite, truth(!holds));
                }
                let is_constant = matches!(*other.kind, ExpressionKind::Constant(_));
                let is_equal =
                    holds && *operator == Binary::Equal || !holds && *operator == Binary::Unequal;
                if is_equal && is_constant && one.result == other.result {
                    self.learn(one, other.clone());
                }
            }
            _ => self.learn(condition, truth(holds)),
        }
    }

    /// Learns the value of an expression, if it stays what it is.
    fn learn(&mut self, of: &Expression, value: Expression) {
        let looks = Looks::of(self.program, of);
        if looks.changes || looks.calls_c || matches!(*of.kind, ExpressionKind::Constant(_)) {
            return;
        }
        if self.facts.len() == MOST {
            self.facts.remove(0);
        }
        self.facts.push(Fact {
            of: of.clone(),
            value,
            looks,
            locals: named(|naming| drop(naming.expression(of))),
            is_of_message: is_of_message(of),
        });
    }

    /// What is known behind what was tried, whether it failed or not.
    fn tried(mut self, attempt: &Attempt, bind: Option<LocalId>) -> Known<'a> {
        if !only_looks(attempt) {
            return self.nothing();
        }
        let is_peek = matches!(attempt, Attempt::Peek(..));
        self.forget(|fact| {
            let is_bound = bind.is_some_and(|bind| fact.locals.contains(&bind));
            is_bound || is_peek && fact.is_of_message
        });
        self
    }

    /// What is known behind a step.
    fn after(mut self, action: &Action) -> Known<'a> {
        match action {
            Action::Let(local, value) => {
                let value = self.value(value);
                self.forget(|fact| fact.locals.contains(local));
                self.holds(&Variable::Local(*local), value);
            }
            Action::Assign(place, value) => {
                let value = self.value(value);
                match whole(place) {
                    Variable::Field(_, kind, field) => {
                        self.forget(|fact| fact.looks.at(*kind, *field));
                    }
                    Variable::Local(local) => self.forget(|fact| fact.locals.contains(local)),
                    Variable::Element(..) | Variable::Part(..) => unreachable!("a whole is none"),
                }
                self.holds(place, value);
            }
            Action::Sum { bind, .. }
            | Action::Scan { bind, .. }
            | Action::Mark(bind)
            | Action::Precede(bind, _) => self.forget(|fact| fact.locals.contains(bind)),
            Action::StartTimer(_, kind, timer, _) | Action::StopTimer(_, kind, timer) => {
                self.forget(|fact| fact.looks.timers.contains(&(*kind, *timer)));
            }
            Action::SetAttribute(..)
            | Action::Strip(..)
            | Action::StripRest(..)
            | Action::Push { .. } => self.forget(|fact| fact.is_of_message),
            Action::Count(_)
            | Action::Pass(_)
            | Action::Begin
            | Action::Put(_)
            | Action::Wait(_) => {}
            Action::Do(_)
            | Action::Drop(..)
            | Action::DropAll(..)
            | Action::Consume(_)
            | Action::End(..)
            | Action::Free(..)
            | Action::Loop(_)
            | Action::Turn
            | Action::Answer(_)
            | Action::AtOnce => return self.nothing(),
        }
        self
    }

    fn forget(&mut self, changes: impl Fn(&Fact) -> bool) {
        self.facts.retain(|fact| !changes(fact));
    }

    /// Learns that a place holds what was written to it, if that is a constant.
    fn holds(&mut self, place: &Variable, value: Expression) {
        if matches!(place, Variable::Field(..) | Variable::Local(_))
            && matches!(*value.kind, ExpressionKind::Constant(_))
        {
            let read = ExpressionKind::Read(place.clone());
            self.learn(&Expression::new(read, value.result.clone()), value);
        }
    }
}

/// The field or local that a place is, or is a part of.
fn whole(place: &Variable) -> &Variable {
    match place {
        Variable::Field(..) | Variable::Local(_) => place,
        Variable::Element(of, _) | Variable::Part(of, ..) => whole(of),
    }
}

/// Returns true if an attempt only reads.
fn only_looks(attempt: &Attempt) -> bool {
    match attempt {
        Attempt::Instance(steps) => steps
            .iter()
            .all(|step| matches!(step, Search::Find(_) | Search::Standing(..))),
        Attempt::Peek(..) => true,
        _ => false,
    }
}
