//! What happens in an instant: a function for each state, and one for each part that several ways
//! have in common, or that would make a function long.
//!
//! In: an automaton. Out: functions, those that are called above those that call. Each answers the
//! next state, so that a way that has ended needs no `else`:
//!
//! ```c
//! static int ABRO_state_2(void) {
//!     if (ABRO_given.R) {
//!         return 1;
//!     }
//!     if (ABRO_given.A) {
//!         ABRO_emitted.O = true;
//!         return 3;
//!     }
//!     return 2;
//! }
//! ```

use super::Emitter;
use super::expression::{Writing, has_fractions};
use crate::c::tree::{Expression as C, Function, Item, Statement, atom, call, only_if};
use crate::c::walk::each;
use crate::tree::automaton::{Automaton, Node, NodeId, Question, StateId};
use crate::types::process::Fault;
use std::collections::{BTreeMap, BTreeSet};

/// What is no longer than this may stand twice.
const SHORT: usize = 4;

/// What is longer than this becomes several functions.
const LONG: usize = 50;

/// A tree of more nodes than this is not described.
const MANY: usize = 500;

/// Which nodes begin functions.
struct Parts {
    /// The first state that begins at a node.
    states: BTreeMap<NodeId, usize>,
    /// The names of those functions.
    names: BTreeMap<NodeId, String>,
    /// By node: how many lines it takes where it stands.
    lines: Vec<usize>,
}

impl Emitter<'_> {
    /// All functions of parts and states, in their order, and the table of the states.
    pub(super) fn functions(&self) -> Vec<Item> {
        let parts = Parts::new(self);
        let shared = parts.names.keys().copied();
        let shared = shared.filter(|root| !parts.states.contains_key(root));
        let states = self.automaton.states.iter().copied().enumerate();
        let states = states.filter(|(at, root)| parts.states[root] == *at);
        let functions: Vec<Function> = shared
            .chain(states.map(|(_, root)| root))
            .map(|root| Function {
                comment: match parts.states.get(&root) {
                    Some(state) => self.says(*state),
                    None => String::new(),
                },
                result: "static int".to_string(),
                name: parts.names[&root].clone(),
                parameters: Vec::new(),
                body: Body::of(self, &parts, root),
            })
            .collect();
        let mut items: Vec<Item> = called_early(&functions)
            .map(|function| {
                let body = Vec::new();
                Item::Prototype(Function {
                    body,
                    ..function.clone()
                })
            })
            .collect();
        items.extend(functions.into_iter().map(Item::Function));
        items.push(Item::Text(self.table(&parts)));
        items
    }

    /// What is to be known of a state.
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
            asked => format!("{name}: {} matter.", listed(asked)),
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
            match self.automaton.node(node) {
                Node::Test {
                    question,
                    then,
                    otherwise,
                } => {
                    if let Question::Given(signal) = question {
                        let name = self.module.processes.signal(*signal).name.clone();
                        if !names.contains(&name) {
                            names.push(name);
                        }
                    }
                    open.extend([*then, *otherwise]);
                }
                Node::Act { next, .. } => open.push(*next),
                Node::Leaf(_) | Node::Twice(_) => {}
            }
        }
        Some(names)
    }

    /// The functions of the states, by their numbers.
    fn table(&self, parts: &Parts) -> String {
        let states = self.automaton.states.iter();
        let lines: String = states
            .map(|root| format!("    {},\n", parts.names[root]))
            .collect();
        format!(
            "static int (*const {}[])(void) = {{\n{lines}}};",
            self.own("states")
        )
    }
}

/// Functions that are called above the place where they stand.
fn called_early(functions: &[Function]) -> impl Iterator<Item = &Function> {
    let mut called = BTreeSet::new();
    functions.iter().filter(move |function| {
        each(&function.body, &mut |statement| {
            if let Statement::Return(Some(C::Call(name, _))) = statement {
                called.insert(name);
            }
        });
        called.contains(&function.name)
    })
}

/// `A, B and C`
fn listed(names: &[String]) -> String {
    match names {
        [all @ .., last] if !all.is_empty() => format!("{} and {last}", all.join(", ")),
        names => names.concat(),
    }
}

impl Parts {
    fn new(emitter: &Emitter) -> Parts {
        let automaton = emitter.automaton;
        let mut ways = vec![0_u32; automaton.nodes.len()];
        for node in &automaton.nodes {
            for next in next(node) {
                ways[next.at()] += 1;
            }
        }
        let mut parts = Parts {
            states: BTreeMap::new(),
            names: BTreeMap::new(),
            lines: Vec::with_capacity(automaton.nodes.len()),
        };
        for (state, root) in automaton.states.iter().enumerate() {
            let name = || emitter.own(&format!("state_{state}"));
            parts.names.entry(*root).or_insert_with(name);
            parts.states.entry(*root).or_insert(state);
        }
        for (at, ways) in ways.into_iter().enumerate() {
            let node = NodeId(at as u32);
            let lines = parts.lines_of(automaton, node);
            parts.lines.push(lines);
            let shared = ways > 1 && lines > SHORT;
            if (shared || lines > LONG) && !parts.names.contains_key(&node) {
                let number = parts.names.len() + 1 - parts.states.len();
                let name = emitter.own(&format!("part_{number}"));
                parts.names.insert(node, name);
            }
        }
        parts
    }

    /// The function that is called for a node; what is short stands where it is needed.
    fn called(&self, node: NodeId) -> Option<&String> {
        let name = self.names.get(&node)?;
        (self.lines[node.at()] > SHORT).then_some(name)
    }

    /// How many lines a node takes in a function that it does not begin.
    fn lines_of(&self, automaton: &Automaton, node: NodeId) -> usize {
        let of = |next: NodeId| match self.called(next) {
            Some(_) => 1,
            None => self.lines[next.at()],
        };
        match automaton.node(node) {
            Node::Test {
                then, otherwise, ..
            } => 2 + of(*then) + of(*otherwise),
            Node::Act { next, .. } => 1 + of(*next),
            Node::Leaf(_) | Node::Twice(_) => 1,
        }
    }
}

fn next(node: &Node) -> Vec<NodeId> {
    match node {
        Node::Test {
            then, otherwise, ..
        } => vec![*then, *otherwise],
        Node::Act { next, .. } => vec![*next],
        Node::Leaf(_) | Node::Twice(_) => Vec::new(),
    }
}

/// A function of a state or a part.
struct Body<'e> {
    parts: &'e Parts,
    writing: Writing<'e>,
    root: NodeId,
}

impl<'e> Body<'e> {
    fn of(emitter: &'e Emitter<'e>, parts: &'e Parts, root: NodeId) -> Vec<Statement> {
        let mut body = Body {
            parts,
            writing: Writing::new(emitter),
            root,
        };
        body.block(root)
    }

    /// From a node to the end of the instant.
    fn block(&mut self, mut at: NodeId) -> Vec<Statement> {
        let automaton = self.writing.emitter.automaton;
        let mut statements = Vec::new();
        loop {
            if at != self.root
                && let Some(name) = self.parts.called(at)
            {
                statements.push(Statement::Return(Some(call(name.clone(), Vec::new()))));
                return statements;
            }
            self.writing.node = Some(at);
            match automaton.node(at) {
                Node::Test {
                    question,
                    then,
                    otherwise,
                } => {
                    let asked = self.question(*question, &mut statements);
                    if then == otherwise {
                        at = *then;
                        continue;
                    }
                    if self.leads(*then, *otherwise) {
                        statements.push(only_if(asked, self.acts(*then, *otherwise)));
                        at = *otherwise;
                        continue;
                    }
                    if self.leads(*otherwise, *then) {
                        let condition = self.opposite(*question, asked);
                        statements.push(only_if(condition, self.acts(*otherwise, *then)));
                        at = *then;
                        continue;
                    }
                    // The longer way goes on below, unless both are much the same.
                    let lines = |node: NodeId| self.parts.lines[node.at()];
                    let turned = lines(*then) > 2 * lines(*otherwise);
                    let (condition, inner, rest) = match turned {
                        true => (self.opposite(*question, asked), *otherwise, *then),
                        false => (asked, *then, *otherwise),
                    };
                    statements.push(only_if(condition, self.block(inner)));
                    at = rest;
                }
                Node::Act { act, next } => {
                    self.writing.act(*act, &mut statements);
                    at = *next;
                }
                Node::Leaf(state) => {
                    statements.push(Statement::Return(Some(atom(state.0.to_string()))));
                    return statements;
                }
                Node::Twice(signal) => {
                    statements.push(self.writing.fails(&Fault::Twice(*signal)));
                    return statements;
                }
            }
        }
    }

    /// Whether one way comes to the other, and only does something before.
    fn leads(&self, mut from: NodeId, to: NodeId) -> bool {
        while from != to {
            match self.writing.emitter.automaton.node(from) {
                Node::Act { next, .. } if self.parts.called(from).is_none() => from = *next,
                _ => return false,
            }
        }
        true
    }

    /// What is done on the way.
    fn acts(&mut self, mut from: NodeId, to: NodeId) -> Vec<Statement> {
        let mut statements = Vec::new();
        while from != to
            && let Node::Act { act, next } = self.writing.emitter.automaton.node(from)
        {
            self.writing.node = Some(from);
            self.writing.act(*act, &mut statements);
            from = *next;
        }
        statements
    }

    fn question(&mut self, question: Question, before: &mut Vec<Statement>) -> C {
        match question {
            Question::Given(signal) => self.writing.emitter.of_signal("given", signal),
            Question::Data(data) => self.writing.computed(data, before),
        }
    }

    fn opposite(&self, question: Question, asked: C) -> C {
        match question {
            Question::Data(data) if has_fractions(self.writing.emitter.expression(data)) => {
                C::Unary("!", Box::new(asked))
            }
            Question::Given(_) | Question::Data(_) => asked.negated(),
        }
    }
}
