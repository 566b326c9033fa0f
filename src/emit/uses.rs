//! What a node reads and binds: locals, and headers that were stripped before.

use super::Stack;
use super::function;
use super::walk;
use crate::tree::uses::marks;
use crate::tree::walk::children;
use crate::tree::{Action, Goal, Loop, Node, NodeId, Output, Parameters, Range};
use crate::types::expression::{Expression, ExpressionKind as Kind, Instance, Query, Variable};
use crate::types::program::{HeaderId, LocalId};
use crate::types::statement::{Attempt, Operation, Search, Source, Term};
use std::collections::{BTreeMap, BTreeSet};

/// What code needs from the code before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Need {
    /// The value of a local.
    Local(LocalId),
    /// The bytes of a header.
    Header(HeaderId),
}

/// What one node reads and binds.
#[derive(Clone, Debug, Default)]
pub struct Uses {
    /// What it reads.
    pub reads: BTreeSet<Need>,
    /// What it binds.
    pub binds: BTreeSet<Need>,
}

/// Collects what a node itself uses.
struct Collector<'a> {
    stack: &'a Stack<'a>,
    own: Option<LocalId>,
    uses: Uses,
}

impl Collector<'_> {
    fn local(&mut self, local: LocalId) {
        if local != LocalId::MESSAGE {
            self.uses.reads.insert(Need::Local(local));
        }
    }

    fn bind(&mut self, local: LocalId) {
        self.uses.binds.insert(Need::Local(local));
    }

    fn instance(&mut self, instance: Instance) {
        if let Instance::Local(local) = instance {
            self.local(local);
        }
    }

    fn variable(&mut self, variable: &Variable) {
        match walk::base(variable) {
            Variable::Field(instance, ..) => self.instance(*instance),
            Variable::Local(local) => self.local(*local),
            Variable::Element(..) | Variable::Part(..) => unreachable!("a base is no part"),
        }
        let mut inner = Vec::new();
        walk::indices(variable, &mut |expression| inner.push(expression.clone()));
        inner.iter().for_each(|expression| self.itself(expression));
    }

    fn expression(&mut self, expression: &Expression) {
        let mut parts = Vec::new();
        walk::each(expression, &mut |part| parts.push(part.clone()));
        parts.iter().for_each(|part| self.itself(part));
    }

    /// What an expression reads, without its parts.
    fn itself(&mut self, expression: &Expression) {
        if let Some(variable) = walk::variable(expression) {
            match walk::base(variable) {
                Variable::Field(instance, ..) => self.instance(*instance),
                Variable::Local(local) => self.local(*local),
                Variable::Element(..) | Variable::Part(..) => {}
            }
        }
        match &*expression.kind {
            Kind::Key(instance, ..)
            | Kind::Query(Query::Running(instance, ..) | Query::Ended(instance, _)) => {
                self.instance(*instance);
            }
            Kind::Header(header, _)
            | Kind::HeaderPresent(header, _)
            | Kind::OptionsHold(header) => {
                self.uses.reads.insert(Need::Header(*header));
            }
            Kind::Peeked(local, ..)
            | Kind::PeekedPresent(local, ..)
            | Kind::Attribute(local, _)
            | Kind::Length(local)
            | Kind::Through(_, _, local) => self.local(*local),
            Kind::Call(id, given) => {
                let called = &self.stack.program.functions[id.at()];
                let reads = function::reads(self.stack, *id);
                if let Some(header) = reads.header {
                    self.uses.reads.insert(Need::Header(header));
                }
                if given.len() == called.arguments() && reads.own {
                    self.own.into_iter().for_each(|own| self.local(own));
                }
            }
            _ => {}
        }
    }

    fn expressions(&mut self, list: &[Expression]) {
        list.iter()
            .for_each(|expression| self.expression(expression));
    }

    fn source(&mut self, source: &Source) {
        match source {
            Source::Local(local) | Source::Share(local) => self.local(*local),
            Source::New => {}
            Source::NewFrom(variable, length) | Source::TakeStream(variable, length) => {
                self.variable(variable);
                self.expression(length);
            }
            Source::Piece(local, at, length) => {
                self.local(*local);
                self.expression(at);
                self.expression(length);
            }
            Source::SliceStream(variable, at, length) => {
                self.variable(variable);
                self.expression(at);
                self.expression(length);
            }
        }
    }

    fn attempt(&mut self, attempt: &Attempt) {
        match attempt {
            Attempt::Instance(steps) => steps.iter().for_each(|step| match step {
                Search::Find(target) => {
                    self.expressions(&target.keys);
                    target.condition.iter().for_each(|c| self.expression(c));
                }
                Search::Soonest(_, _, keys) => self.expressions(keys),
                Search::Standing(_, on) => self.instance(*on),
                Search::Create(_, keys, listener) => {
                    self.expressions(keys);
                    listener.iter().for_each(|one| self.instance(*one));
                }
            }),
            Attempt::Value(value) => self.expression(value),
            Attempt::Pop(variable) | Attempt::PopValue(variable) => self.variable(variable),
            Attempt::Push(variable, source) => {
                self.variable(variable);
                self.source(source);
            }
            Attempt::PushValue(variable, value)
            | Attempt::TakeWindow(variable, value)
            | Attempt::ShareWindow(variable, value) => {
                self.variable(variable);
                self.expression(value);
            }
            Attempt::TakeValue(variable, number) => {
                self.variable(variable);
                self.expression(number);
            }
            Attempt::InsertValue(variable, number, value) => {
                self.variable(variable);
                self.expression(number);
                self.expression(value);
            }
            Attempt::InsertWindow(variable, number, source) => {
                self.variable(variable);
                self.expression(number);
                self.source(source);
            }
            Attempt::InsertStream(variable, at, message) => {
                self.variable(variable);
                self.expression(at);
                self.local(*message);
            }
            Attempt::AppendStream(variable, message) => {
                self.variable(variable);
                self.local(*message);
            }
            Attempt::Peek(message, _) | Attempt::Restore(message, _) => self.local(*message),
            Attempt::Pad(message, bytes) => {
                self.local(*message);
                self.expression(bytes);
            }
            Attempt::Rewrite(message, _, arguments) => {
                self.local(*message);
                self.expressions(arguments);
            }
            Attempt::Message(source) => self.source(source),
        }
    }

    fn operation(&mut self, operation: &Operation) {
        match operation {
            Operation::Skip(message, bytes) | Operation::Cut(message, bytes) => {
                self.local(*message);
                self.expression(bytes);
            }
            Operation::ReplaceValue(variable, number, value) => {
                self.variable(variable);
                self.expression(number);
                self.expression(value);
            }
            Operation::ReplaceWindow(variable, number, source) => {
                self.variable(variable);
                self.expression(number);
                self.source(source);
            }
            Operation::Release(variable, to) | Operation::Begin(variable, to) => {
                self.variable(variable);
                self.expression(to);
            }
            Operation::Clear(variable) => self.variable(variable),
            Operation::Add(variable, factor, term) => {
                self.variable(variable);
                self.expression(factor);
                match term {
                    Term::Data(message) => self.local(*message),
                    Term::Bytes(other) => self.variable(other),
                }
            }
            Operation::Scale(variable, factor) => {
                self.variable(variable);
                self.expression(factor);
            }
            Operation::Rewrite(message, _, arguments) => {
                self.local(*message);
                self.expressions(arguments);
            }
            Operation::Call(function, arguments) => {
                let result = crate::types::value::Type::Nothing;
                let call = Kind::Call(*function, arguments.clone());
                self.expression(&Expression::new(call, result));
            }
        }
    }

    fn action(&mut self, action: &Action) {
        match action {
            Action::Let(local, value) => {
                self.expression(value);
                self.bind(*local);
            }
            Action::Assign(variable, value) => {
                self.variable(variable);
                self.expression(value);
            }
            Action::SetAttribute(message, _, value) | Action::StripRest(message, value) => {
                self.local(*message);
                self.expression(value);
            }
            Action::Strip(message, header) => {
                self.local(*message);
                self.uses.binds.insert(Need::Header(*header));
            }
            Action::Push {
                message,
                header,
                values,
                below,
            } => {
                self.local(*message);
                let values = values.iter().map(|(_, value)| value).chain(below);
                self.pushed(*header, &values.collect::<Vec<_>>());
            }
            Action::Sum {
                bind,
                message,
                arguments,
                ..
            }
            | Action::Scan {
                bind,
                message,
                arguments,
                ..
            } => {
                self.local(*message);
                if let Action::Sum { header, .. } = action {
                    self.uses.reads.insert(Need::Header(*header));
                }
                self.expressions(arguments);
                self.bind(*bind);
            }
            Action::Do(operation) => self.operation(operation),
            Action::Drop(message, _) | Action::Consume(message) => self.local(*message),
            Action::DropAll(variable, _) => self.variable(variable),
            Action::Count(_) | Action::Pass(_) | Action::Begin | Action::Turn | Action::AtOnce => {}
            Action::Mark(first) | Action::Precede(first, _) => {
                marks(action).into_iter().for_each(|mark| self.local(mark));
                self.bind(*first);
            }
            Action::StartTimer(instance, _, _, after) => {
                self.instance(*instance);
                self.expression(after);
            }
            Action::StopTimer(instance, ..)
            | Action::End(instance, _)
            | Action::Free(instance, _) => self.instance(*instance),
            Action::Loop(turns) => self.turns(turns),
            Action::Wait(outputs) | Action::Put(outputs) | Action::Answer(outputs) => {
                self.outputs(outputs);
            }
        }
    }

    /// What a header that is pushed reads of its own it has just written; a function reads another.
    fn pushed(&mut self, header: HeaderId, values: &[&Expression]) {
        values.iter().for_each(|value| self.expression(value));
        self.uses.reads.remove(&Need::Header(header));
        values.iter().for_each(|value| self.called(value));
    }

    /// The headers that functions read which a value calls.
    fn called(&mut self, value: &Expression) {
        if let Kind::Call(id, _) = &*value.kind {
            let header = function::reads(self.stack, *id).header;
            self.uses.reads.extend(header.map(Need::Header));
        }
        value.parts().into_iter().for_each(|part| self.called(part));
    }

    fn turns(&mut self, turns: &Loop) {
        match &turns.range {
            Range::Numbers { from, to, .. } => {
                self.expression(from);
                self.expression(to);
            }
            Range::Queue(queue, _) => self.variable(queue),
        }
        self.bind(turns.local);
    }

    fn outputs(&mut self, outputs: &[Output]) {
        for output in outputs {
            match output {
                Output::One {
                    goal,
                    message,
                    arguments,
                } => {
                    match goal {
                        Goal::Port(_, instance, _) | Goal::Reaction(_, Some(instance)) => {
                            self.instance(*instance);
                        }
                        Goal::Frame(_) | Goal::Reaction(_, None) | Goal::Otherwise => {}
                    }
                    message.iter().for_each(|local| self.local(*local));
                    self.expressions(arguments);
                }
                Output::Many(turns) => self.turns(turns),
                Output::Every {
                    on,
                    local,
                    arguments,
                    ..
                } => {
                    on.iter().for_each(|on| self.instance(*on));
                    self.expressions(arguments);
                    self.bind(*local);
                }
            }
        }
    }
}

/// What a node itself reads and binds, in a tree with these parameters.
pub fn uses(stack: &Stack, parameters: &Parameters, node: &Node) -> Uses {
    let mut collector = Collector {
        stack,
        own: parameters.instance,
        uses: Uses::default(),
    };
    match node {
        Node::Test { condition, .. } => collector.expression(condition),
        Node::Case { value, .. } => collector.expression(value),
        Node::Try { attempt, bind, .. } => {
            collector.attempt(attempt);
            bind.iter().for_each(|local| collector.bind(*local));
        }
        Node::Act { action, .. } => collector.action(action),
        Node::Leaf { outputs } => collector.outputs(outputs),
    }
    collector.uses
}

/// Facts about the nodes of one tree.
#[derive(Clone, Debug, Default)]
pub struct Facts {
    /// What stands at a node needs from before.
    pub needs: BTreeMap<NodeId, BTreeSet<Need>>,
    /// How many nodes bind a local.
    pub bound: BTreeMap<LocalId, u32>,
    /// What any node reads.
    pub read: BTreeSet<Need>,
    /// How many nodes read a local.
    pub readers: BTreeMap<LocalId, u32>,
    /// Nodes from here on, shared ones counted once for each way to them, up to a hundred.
    pub size: BTreeMap<NodeId, u32>,
    /// Where all ways from a node meet again; none where only the end follows.
    pub join: BTreeMap<NodeId, Option<NodeId>>,
    /// Where a node goes on that leaves a bypass on its other way.
    pub stays: BTreeMap<NodeId, NodeId>,
}

/// The facts about all nodes below a root.
pub fn facts(stack: &Stack, parameters: &Parameters, root: NodeId) -> Facts {
    let mut facts = Facts::default();
    let nodes = crate::tree::walk::reachable(stack.forest, root);
    let all = nodes.iter().map(|id| {
        let node = stack.forest.arena.node(*id);
        (*id, node, uses(stack, parameters, node))
    });
    let mut all: Vec<(NodeId, &Node, Uses)> = all.collect();
    forget_unread(stack, &mut all);
    for (id, node, own) in all {
        let mut needs: BTreeSet<Need> = BTreeSet::new();
        let mut size = 1;
        for child in children(node) {
            needs.extend(&facts.needs[&child]);
            size += facts.size[&child];
        }
        for bound in &own.binds {
            needs.remove(bound);
            if let Need::Local(local) = bound {
                *facts.bound.entry(*local).or_default() += 1;
            }
        }
        needs.extend(&own.reads);
        for read in &own.reads {
            if let Need::Local(local) = read {
                *facts.readers.entry(*local).or_default() += 1;
            }
        }
        facts.read.extend(&own.reads);
        facts.needs.insert(id, needs);
        facts.size.insert(id, size.min(100));
        let join = join_of(stack, &facts, node);
        facts.join.insert(id, join);
        facts
            .stays
            .extend(stays(stack, node).map(|next| (id, next)));
    }
    facts
}

/// What is bound for nobody who reads it reads nothing.
fn forget_unread(stack: &Stack, all: &mut [(NodeId, &Node, Uses)]) {
    let mut read: BTreeSet<Need> = BTreeSet::new();
    loop {
        let count = read.len();
        for (_, node, own) in all.iter() {
            if bound_alone(stack, node).is_none_or(|local| read.contains(&Need::Local(local))) {
                read.extend(&own.reads);
            }
        }
        if read.len() == count {
            break;
        }
    }
    for (_, node, own) in all {
        if bound_alone(stack, node).is_some_and(|local| !read.contains(&Need::Local(local))) {
            own.reads.clear();
        }
    }
}

/// The local that a node binds, where it does nothing else.
fn bound_alone(stack: &Stack, node: &Node) -> Option<LocalId> {
    match node {
        Node::Act {
            action: Action::Let(local, value),
            ..
        } if !super::walk::has_effects(stack, value) => Some(*local),
        _ => None,
    }
}

fn is_end(stack: &Stack, node: NodeId) -> bool {
    matches!(stack.forest.arena.node(node), Node::Leaf { outputs } if outputs.is_empty())
}

/// Where a bypass goes on behind a node, the other way of which leaves it.
fn stays(stack: &Stack, node: &Node) -> Option<NodeId> {
    let leaves = |way: NodeId| match stack.forest.arena.node(way) {
        Node::Leaf { outputs } => matches!(
            outputs[..],
            [Output::One {
                goal: Goal::Otherwise,
                ..
            }]
        ),
        _ => false,
    };
    match node {
        Node::Test {
            then, otherwise, ..
        } if leaves(*then) != leaves(*otherwise) => match leaves(*then) {
            true => Some(*otherwise),
            false => Some(*then),
        },
        _ => None,
    }
}

/// Where all ways from a node meet first.
fn join_of(stack: &Stack, facts: &Facts, node: &Node) -> Option<NodeId> {
    let ways: Vec<NodeId> = match node {
        Node::Test {
            then, otherwise, ..
        } => vec![*then, *otherwise],
        Node::Case {
            cases, otherwise, ..
        } => cases
            .iter()
            .map(|(_, _, node)| *node)
            .chain([*otherwise])
            .collect(),
        Node::Try { done, failed, .. } => vec![*done, *failed],
        Node::Act { next, .. } => vec![*next],
        Node::Leaf { .. } => return None,
    };
    let mut meeting = Some(ways[0]).filter(|node| !is_end(stack, *node));
    for way in &ways[1..] {
        meeting = meet(stack, facts, meeting?, *way);
    }
    meeting
}

/// Children stand before their parents, so the later of two nodes is not behind the other.
fn meet(stack: &Stack, facts: &Facts, one: NodeId, other: NodeId) -> Option<NodeId> {
    let (mut one, mut other) = (one, other);
    while one != other {
        let later = if one > other { &mut one } else { &mut other };
        let join = facts.join.get(later).copied().flatten();
        *later = join.or_else(|| facts.stays.get(later).copied())?;
    }
    Some(one).filter(|node| !is_end(stack, *node))
}
