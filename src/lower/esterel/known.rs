//! What has a value, wherever a value is read.
//!
//! In: an automaton. Out: for each node, which signals have a value when it is come to, on
//! whichever way; and which signals need a flag that says so, because a read cannot be sure.
//!
//! Facts go from the roots to the leaves and on to the roots of the next states, until they stay:
//! what holds at a node is what holds on all ways to it.

use crate::syntax::esterel::ast::Binary;
use crate::tree::automaton::{Act, Automaton, Node, NodeId, Question};
use crate::types::esterel::{Data, Expression, ExpressionKind, Module};
use crate::types::process::{DataId, Role, SignalId};
use fixedbitset::FixedBitSet;
use std::collections::BTreeSet;

/// A value that is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Read {
    /// That of now.
    Now(SignalId),
    /// That of the instant before.
    Before(SignalId),
}

/// Which values are there.
#[derive(Debug)]
pub struct Known {
    signals: usize,
    /// By node; what was never come to has all.
    facts: Vec<FixedBitSet>,
    /// What needs a flag.
    flags: FixedBitSet,
    sensors: FixedBitSet,
}

impl Known {
    /// Follows all ways.
    pub fn new(module: &Module, automaton: &Automaton) -> Known {
        let signals = module.processes.signals.len();
        let mut all = FixedBitSet::with_capacity(2 * signals);
        all.insert_range(..);
        let mut sensors = FixedBitSet::with_capacity(2 * signals);
        for signal in module.processes.signals() {
            if module.processes.signal(signal).role == Role::Sensor {
                sensors.insert(signal.at());
            }
        }
        let mut known = Known {
            signals,
            facts: vec![all; automaton.nodes.len()],
            flags: FixedBitSet::with_capacity(2 * signals),
            sensors,
        };
        known.follow(module, automaton);
        known.find_flags(module, automaton);
        known
    }

    /// Whether a value is there for certain; at the beginning, before all nodes, never.
    pub fn is_there(&self, node: Option<NodeId>, read: Read) -> bool {
        let at = self.at(read);
        self.sensors.contains(at) || node.is_some_and(|node| self.facts[node.at()].contains(at))
    }

    /// Whether there is a flag that says if a value is there.
    pub fn has_flag(&self, read: Read) -> bool {
        self.flags.contains(self.at(read))
    }

    fn at(&self, read: Read) -> usize {
        match read {
            Read::Now(signal) => signal.at(),
            Read::Before(signal) => self.signals + signal.at(),
        }
    }

    fn follow(&mut self, module: &Module, automaton: &Automaton) {
        let mut first = self.sensors.clone();
        if let Some(begin) = module.begin {
            self.after(module, Act::Do(begin), &mut first);
        }
        let mut seen = FixedBitSet::with_capacity(automaton.nodes.len());
        // Children stand before those that lead to them.
        let mut open = BTreeSet::new();
        let mut reached = vec![(automaton.states[0], first)];
        loop {
            for (node, facts) in reached.drain(..) {
                let own = &mut self.facts[node.at()];
                if !own.is_subset(&facts) || !seen.put(node.at()) {
                    own.intersect_with(&facts);
                    open.insert(node);
                }
            }
            let Some(node) = open.pop_last() else { break };
            reached = self.goes_on(module, automaton, node);
        }
    }

    /// What comes next, and what holds there.
    fn goes_on(
        &self,
        module: &Module,
        automaton: &Automaton,
        node: NodeId,
    ) -> Vec<(NodeId, FixedBitSet)> {
        let mut facts = self.facts[node.at()].clone();
        match automaton.node(node) {
            Node::Test {
                question,
                then,
                otherwise,
            } => {
                if let Question::Data(data) = question {
                    self.was_read(module, *data, &mut facts);
                }
                let mut given = facts.clone();
                if let Question::Given(signal) = question {
                    given.insert(signal.at());
                }
                vec![(*then, given), (*otherwise, facts)]
            }
            Node::Act { act, next } => {
                self.after(module, *act, &mut facts);
                vec![(*next, facts)]
            }
            Node::Leaf(state) => vec![(automaton.states[state.at()], facts)],
            Node::Twice(_) => Vec::new(),
        }
    }

    fn after(&self, module: &Module, act: Act, facts: &mut FixedBitSet) {
        match act {
            Act::Emit { signal, value, .. } => {
                if let Some(data) = value {
                    self.was_read(module, data, facts);
                }
                facts.insert(signal.at());
            }
            Act::Keep(signal) => {
                // Who simulates may have no value for a sensor yet, and takes its flag back.
                let is_there = facts.contains(signal.at()) && !self.sensors.contains(signal.at());
                facts.set(self.signals + signal.at(), is_there);
            }
            Act::Do(data) => {
                self.was_read(module, data, facts);
                if let Data::Begin(all) = &module.data[data.at()] {
                    for (signal, value) in all {
                        facts.set(signal.at(), value.is_some());
                        facts.set(self.signals + signal.at(), value.is_some());
                    }
                }
            }
        }
    }

    /// Where it goes on, all that was read was there.
    fn was_read(&self, module: &Module, data: DataId, facts: &mut FixedBitSet) {
        for expression in module.data[data.at()].expressions() {
            let mut open = vec![expression];
            while let Some(one) = open.pop() {
                match &*one.kind {
                    ExpressionKind::Value(signal) => facts.insert(signal.at()),
                    ExpressionKind::Before(signal) => facts.insert(self.signals + signal.at()),
                    // The second operand may not have been read.
                    ExpressionKind::Binary(Binary::And | Binary::Or, one, _) => open.push(one),
                    other => open.extend(other.operands()),
                }
            }
        }
    }

    fn find_flags(&mut self, module: &Module, automaton: &Automaton) {
        if let Some(data) = module.begin {
            self.unsure(module, data, None);
        }
        let nodes = || (0..automaton.nodes.len() as u32).map(NodeId);
        for node in nodes() {
            match automaton.node(node) {
                Node::Test {
                    question: Question::Data(data),
                    ..
                } => self.unsure(module, *data, Some(node)),
                Node::Act { act, .. } => match act {
                    Act::Do(data) => self.unsure(module, *data, Some(node)),
                    Act::Emit { value, .. } => {
                        if let Some(data) = value {
                            self.unsure(module, *data, Some(node));
                        }
                    }
                    Act::Keep(_) => {}
                },
                Node::Test { .. } | Node::Leaf(_) | Node::Twice(_) => {}
            }
        }
        for signal in module.processes.signals() {
            let declared = module.processes.signal(signal);
            // A simulator without a value for a sensor clears this flag.
            if declared.role == Role::Sensor && declared.previous_value {
                self.flags.insert(self.at(Read::Before(signal)));
            }
        }
        // What is kept takes its flag along.
        for node in nodes() {
            if let Node::Act {
                act: Act::Keep(signal),
                ..
            } = automaton.node(node)
                && self.has_flag(Read::Before(*signal))
                && !self.is_there(Some(node), Read::Now(*signal))
            {
                self.flags.insert(signal.at());
            }
        }
    }

    fn unsure(&mut self, module: &Module, data: DataId, node: Option<NodeId>) {
        for read in reads(&module.data[data.at()]) {
            if !self.is_there(node, read) {
                let at = self.at(read);
                self.flags.insert(at);
            }
        }
    }
}

/// The values that are read.
pub fn reads(data: &Data) -> Vec<Read> {
    let mut found = Vec::new();
    let mut open: Vec<&Expression> = data.expressions();
    while let Some(one) = open.pop() {
        match &*one.kind {
            ExpressionKind::Value(signal) => found.push(Read::Now(*signal)),
            ExpressionKind::Before(signal) => found.push(Read::Before(*signal)),
            other => open.extend(other.operands()),
        }
    }
    found
}
