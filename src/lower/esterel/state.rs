//! An instant: a function for each state and part.
//!
//! In: an automaton. Out: functions, those that are called before those that call; each returns the
//! next state. A way that ends early ends the function, so nothing joins but a way that only does
//! something before it comes to the other.

use super::Lower;
use super::code::Code;
use super::memory::Record;
use super::parts::Parts;
use crate::ir::{BlockId, FunctionId, Op, Role, Terminator, Type, Value};
use crate::tree::automaton::{Node, NodeId, Question, StateId};
use crate::types::process::Fault;
use std::collections::{BTreeMap, BTreeSet};

/// A tree of more nodes than this is not described.
const MANY: usize = 500;

impl Lower<'_> {
    /// The functions of parts and states; by state, its function.
    pub(super) fn states(&mut self) -> Vec<FunctionId> {
        for signal in self.source.processes.signals() {
            if self.is_sensor(signal) {
                let id = self.sensing(signal);
                self.senses.insert(signal, id);
            }
        }
        let parts = Parts::new(self.automaton);
        let mut made: BTreeMap<NodeId, FunctionId> = BTreeMap::new();
        // Children stand before those that lead to them.
        for (root, name) in &parts.names {
            if let Some(state) = parts.states.get(root) {
                let says = self.says(*state);
                self.comments.insert(self.named(name), says);
            }
            let mut instant = Instant {
                parts: &parts,
                made: &made,
                root: *root,
                code: Code::new(self, name, Role::Plain, &[]),
            };
            instant.block(*root);
            let id = instant.code.finish(vec![Type::WORD]);
            made.insert(*root, id);
        }
        let roots = self.automaton.states.iter();
        roots.map(|root| made[root]).collect()
    }

    /// Returns the comment of a state.
    fn says(&self, state: usize) -> String {
        let root = self.automaton.states[state];
        let name = match state {
            0 => "The first instant".to_string(),
            state => format!("State {state}"),
        };
        let Some(asked) = self.asked(root) else {
            return format!("{name}.");
        };
        match &asked[..] {
            [] if *self.automaton.node(root) == Node::Leaf(StateId(state as u32)) => {
                format!("{name}: nothing happens any more.")
            }
            [] => format!("{name}: nothing is waited for."),
            [one] => format!("{name}: {one} matters."),
            [all @ .., last] => format!("{name}: {} and {last} matter.", all.join(", ")),
        }
    }

    /// The inputs that a tree asks of, in the order in which it does; none of a large one.
    fn asked(&self, root: NodeId) -> Option<Vec<String>> {
        let mut names: Vec<String> = Vec::new();
        let (mut seen, mut open) = (BTreeSet::new(), vec![root]);
        while let Some(node) = open.pop() {
            if !seen.insert(node) {
                continue;
            }
            if seen.len() > MANY {
                return None;
            }
            let node = self.automaton.node(node);
            if let Node::Test {
                question: Question::Given(signal),
                ..
            } = node
            {
                let name = self.source.processes.signal(*signal).name.clone();
                if !names.contains(&name) {
                    names.push(name);
                }
            }
            open.extend(node.children());
        }
        Some(names)
    }
}

/// A function of a state or a part.
struct Instant<'i, 'c, 'a> {
    parts: &'i Parts,
    made: &'i BTreeMap<NodeId, FunctionId>,
    root: NodeId,
    code: Code<'c, 'a>,
}

impl Instant<'_, '_, '_> {
    /// From a node to the end of the instant.
    fn block(&mut self, mut at: NodeId) {
        loop {
            if at != self.root && self.parts.is_called(at) {
                let next = self.code.op(Op::Call(self.made[&at]), &[]);
                self.code.build.end(Terminator::Return(vec![next]));
                return;
            }
            self.code.node = Some(at);
            match self.code.lower.automaton.node(at) {
                Node::Test {
                    question,
                    then,
                    otherwise,
                } => at = self.test(*question, *then, *otherwise),
                Node::Act { act, next } => {
                    self.code.act(*act);
                    at = *next;
                }
                Node::Leaf(state) => return self.code.answer(u64::from(state.0)),
                Node::Twice(signal) => return self.code.fails(&Fault::Twice(*signal)),
            }
        }
    }

    /// A question, and one of the ways behind it; building goes on at the other.
    fn test(&mut self, question: Question, then: NodeId, otherwise: NodeId) -> NodeId {
        let asked = self.question(question);
        if then == otherwise {
            return then;
        }
        if self.leads(then, otherwise) {
            let behind = self.code.when(asked);
            self.acts(then, otherwise, behind);
            return otherwise;
        }
        if self.leads(otherwise, then) {
            let opposite = self.code.op(Op::Not, &[asked]);
            let behind = self.code.when(opposite);
            self.acts(otherwise, then, behind);
            return then;
        }
        // The longer way goes on below, unless both are much the same.
        let lines = |node: NodeId| self.parts.lines[node.at()];
        let (condition, inner, rest) = match lines(then) > 2 * lines(otherwise) {
            true => (self.code.op(Op::Not, &[asked]), otherwise, then),
            false => (asked, then, otherwise),
        };
        let behind = self.code.when(condition);
        self.block(inner);
        self.code.build.go_to(behind);
        rest
    }

    /// Returns true if one way leads to the other without a test between them.
    fn leads(&self, mut from: NodeId, to: NodeId) -> bool {
        while from != to {
            match self.code.lower.automaton.node(from) {
                Node::Act { next, .. } if !self.parts.is_called(from) => from = *next,
                _ => return false,
            }
        }
        true
    }

    /// Lowers the actions on the way, then jumps to this block.
    fn acts(&mut self, mut from: NodeId, to: NodeId, behind: BlockId) {
        while from != to
            && let Node::Act { act, next } = self.code.lower.automaton.node(from)
        {
            self.code.node = Some(from);
            self.code.act(*act);
            from = *next;
        }
        self.code.jump(behind);
        self.code.build.go_to(behind);
    }

    fn question(&mut self, question: Question) -> Value {
        match question {
            Question::Given(signal) => {
                let given = self.code.region(Record::Given, signal.0);
                self.code.load(given)
            }
            Question::Data(data) => self.code.computed(data),
        }
    }
}
