//! Trees -> the fields that hold a control state, and how often each of their states is visited.
//!
//! In: trees, and how often each is run. Out: for each field to which nothing but constants is ever
//! written the share of instants that begin in each of its values: those that `match` and tests on
//! it meet. States follow one another as trees write them, from the birth of an instance to its end
//! (HIPPCO 3.2).

use super::visits::{Flow, visits};
use crate::tree::rename::Renaming;
use crate::tree::walk::{reachable, ways};
use crate::tree::{Action, Forest, Node, NodeId, Probability};
use crate::types::constant::fold_number;
use crate::types::expression::{Binary, Expression, ExpressionKind, Unary, Variable};
use crate::types::program::{FieldId, KindId, Program};
use std::collections::{BTreeMap, BTreeSet};

/// With more values than this a field is no control state.
const MOST: usize = 256;

/// A field that holds a control state.
#[derive(Clone, Debug)]
pub struct Register {
    /// Of instances of this kind.
    pub kind: KindId,
    /// The field.
    pub field: FieldId,
    /// What it holds, in ascending order.
    pub values: Vec<u64>,
    /// The share of instants that begin in each of them.
    pub shares: Vec<f64>,
    /// What it begins with: one of the values.
    begins: usize,
    /// The trees that ask for it or write it.
    trees: BTreeSet<usize>,
}

/// All registers; nothing is known of their states yet.
pub fn registers(program: &Program, forest: &Forest) -> Vec<Register> {
    let mut written: BTreeMap<(KindId, FieldId), Option<BTreeSet<u64>>> = BTreeMap::new();
    let mut trees: BTreeMap<(KindId, FieldId), BTreeSet<usize>> = BTreeMap::new();
    for (at, tree) in forest.trees.iter().enumerate() {
        for id in reachable(forest, tree.root) {
            let node = forest.arena.node(id);
            for field in fields(node) {
                trees.entry(field).or_default().insert(at);
            }
            if let Node::Act { action, .. } = node
                && let Action::Assign(Variable::Field(_, kind, field), value) = action
            {
                let known = written
                    .entry((*kind, *field))
                    .or_insert(Some(BTreeSet::new()));
                match (known.as_mut(), fold_number(program, value)) {
                    (Some(values), Some(value)) => drop(values.insert(value)),
                    _no_constant => *known = None,
                }
            }
        }
    }
    let all = written.into_iter().filter_map(|((kind, field), values)| {
        let initial = match &program.kinds[kind.at()].fields[field.at()].initial {
            Some(initial) => fold_number(program, initial)?,
            None => 0,
        };
        let mut values = values?;
        values.insert(initial);
        let values: Vec<u64> = values.into_iter().collect();
        let begins = values.binary_search(&initial).ok()?;
        (1 < values.len() && values.len() <= MOST).then(|| Register {
            kind,
            field,
            shares: vec![1.0 / values.len() as f64; values.len()],
            values,
            begins,
            trees: trees.remove(&(kind, field)).unwrap_or_default(),
        })
    });
    all.collect()
}

/// The fields that a node names.
fn fields(node: &Node) -> Vec<(KindId, FieldId)> {
    let found = std::cell::RefCell::new(Vec::new());
    Renaming {
        local: &|local| local,
        instance: &|instance| instance,
        replaced: &|expression| {
            if let ExpressionKind::Read(Variable::Field(_, kind, field)) = &*expression.kind {
                found.borrow_mut().push((*kind, *field));
            }
            None
        },
    }
    .node(node);
    let mut found = found.into_inner();
    if let Node::Act { action, .. } = node
        && let Action::Assign(Variable::Field(_, kind, field), _) = action
    {
        found.push((*kind, *field));
    }
    found
}

impl Register {
    /// Finds how often its states are visited, where the trees run so often.
    pub fn visit(&mut self, program: &Program, forest: &Forest, runs: &[f64]) {
        let all: f64 = self.trees.iter().map(|at| runs[*at]).sum();
        if all <= 0.0 {
            return;
        }
        let mut flow: Vec<Flow> = Vec::new();
        for at in self.trees.iter().filter(|at| runs[**at] > 0.0) {
            let nodes = reachable(forest, forest.trees[*at].root);
            for from in 0..self.values.len() {
                for (to, share) in self
                    .after(program, forest, &nodes, from)
                    .into_iter()
                    .enumerate()
                {
                    if share > 0.0 {
                        flow.push((from, to, share * runs[*at] / all));
                    }
                }
            }
        }
        let mut begin = vec![0.0; self.values.len()];
        begin[self.begins] = 1.0;
        let counts = visits(&begin, &flow);
        let sum: f64 = counts.iter().sum();
        self.shares = counts.into_iter().map(|count| count / sum).collect();
    }

    /// How often a tree leaves it in each state, when it begins in one; less than once where the
    /// instance ends.
    fn after(&self, program: &Program, forest: &Forest, nodes: &[NodeId], from: usize) -> Vec<f64> {
        let mut after = vec![0.0; self.values.len()];
        let mut here: BTreeMap<NodeId, BTreeMap<usize, f64>> = BTreeMap::new();
        let root = *nodes.last().expect("a tree has a node");
        here.insert(root, BTreeMap::from([(from, 1.0)]));
        for id in nodes.iter().rev() {
            for (state, mass) in here.remove(id).unwrap_or_default() {
                let node = forest.arena.node(*id);
                match node {
                    Node::Leaf { .. } => after[state] += mass,
                    Node::Act { action, next } => {
                        let next_state = match action {
                            Action::End(_, kind) if *kind == self.kind => continue,
                            Action::Assign(Variable::Field(_, kind, field), value)
                                if (*kind, *field) == (self.kind, self.field) =>
                            {
                                fold_number(program, value)
                                    .and_then(|value| self.values.binary_search(&value).ok())
                                    .unwrap_or(state)
                            }
                            _another => state,
                        };
                        *here
                            .entry(*next)
                            .or_default()
                            .entry(next_state)
                            .or_default() += mass;
                    }
                    Node::Test { .. } | Node::Case { .. } | Node::Try { .. } => {
                        for (way, share) in self.ways(program, node, state) {
                            if share > 0.0 {
                                let there = here.entry(way).or_default();
                                *there.entry(state).or_default() += mass * share;
                            }
                        }
                    }
                }
            }
        }
        after
    }

    /// The ways from a node in a state.
    fn ways(&self, program: &Program, node: &Node, state: usize) -> Vec<(NodeId, f64)> {
        let known = |expression: &Expression| match &*expression.kind {
            ExpressionKind::Read(Variable::Field(_, kind, field))
                if (*kind, *field) == (self.kind, self.field) =>
            {
                let value = self.values[state];
                Some(Expression::number(value, expression.result.clone()))
            }
            _another => None,
        };
        let renaming = Renaming {
            local: &|local| local,
            instance: &|instance| instance,
            replaced: &known,
        };
        match node {
            Node::Test {
                condition,
                then,
                otherwise,
                ..
            } => match fold_number(program, &renaming.expression(condition)) {
                Some(0) => vec![(*otherwise, 1.0)],
                Some(_) => vec![(*then, 1.0)],
                None => ways(node),
            },
            Node::Case {
                value,
                cases,
                otherwise,
            } => match fold_number(program, &renaming.expression(value)) {
                Some(number) => {
                    let case = cases.iter().find(|(value, ..)| *value == number);
                    vec![(case.map_or(*otherwise, |(.., to)| *to), 1.0)]
                }
                None => ways(node),
            },
            Node::Try { .. } | Node::Act { .. } | Node::Leaf { .. } => ways(node),
        }
    }
}

/// A node with shares for its ways where nobody has said any and a register decides.
pub fn annotated(program: &Program, registers: &[Register], node: Node) -> Node {
    match node {
        Node::Test {
            condition,
            likely: Probability::EVEN,
            then,
            otherwise,
        } => {
            let likely = truth(program, registers, &condition);
            Node::Test {
                likely: likely.map_or(Probability::EVEN, probability),
                condition,
                then,
                otherwise,
            }
        }
        Node::Case {
            value,
            mut cases,
            otherwise,
        } if cases
            .iter()
            .all(|(_, likely, _)| *likely == Probability::EVEN) =>
        {
            if let Some(register) = of(registers, &value) {
                for (value, likely, _) in &mut cases {
                    let found = register.values.binary_search(value);
                    *likely = probability(found.map_or(0.0, |at| register.shares[at]));
                }
            }
            Node::Case {
                value,
                cases,
                otherwise,
            }
        }
        other => other,
    }
}

/// The register that an expression reads.
fn of<'a>(registers: &'a [Register], value: &Expression) -> Option<&'a Register> {
    let ExpressionKind::Read(Variable::Field(_, kind, field)) = &*value.kind else {
        return None;
    };
    registers
        .iter()
        .find(|register| (register.kind, register.field) == (*kind, *field))
}

/// How often a condition holds, as far as registers say; they are taken to be independent.
fn truth(program: &Program, registers: &[Register], condition: &Expression) -> Option<f64> {
    match &*condition.kind {
        ExpressionKind::Unary(Unary::Not, one) => {
            truth(program, registers, one).map(|share| 1.0 - share)
        }
        ExpressionKind::Binary(operator @ (Binary::And | Binary::Or), one, other) => {
            let (one, other) = (
                truth(program, registers, one),
                truth(program, registers, other),
            );
            if one.is_none() && other.is_none() {
                return None;
            }
            let (one, other) = (one.unwrap_or(0.5), other.unwrap_or(0.5));
            Some(match operator {
                Binary::And => one * other,
                _or => 1.0 - (1.0 - one) * (1.0 - other),
            })
        }
        ExpressionKind::Binary(_, one, other) => {
            let (register, _) =
                [(one, other), (other, one)]
                    .into_iter()
                    .find_map(|(read, with)| {
                        let constant = fold_number(program, with);
                        of(registers, read).zip(constant)
                    })?;
            Some(register.share(program, condition))
        }
        ExpressionKind::Read(_) => Some(of(registers, condition)?.share(program, condition)),
        _of_another_kind => None,
    }
}

impl Register {
    /// How often a condition holds that asks for nothing else.
    fn share(&self, program: &Program, condition: &Expression) -> f64 {
        let holds = |value: u64| {
            let known = |expression: &Expression| match &*expression.kind {
                ExpressionKind::Read(Variable::Field(..)) => {
                    Some(Expression::number(value, expression.result.clone()))
                }
                _another => None,
            };
            let renaming = Renaming {
                local: &|local| local,
                instance: &|instance| instance,
                replaced: &known,
            };
            fold_number(program, &renaming.expression(condition)).is_some_and(|found| found != 0)
        };
        let shares = self.values.iter().zip(&self.shares);
        shares
            .filter(|(value, _)| holds(**value))
            .map(|(_, share)| share)
            .sum()
    }
}

/// A share as a probability, but never quite that of which nothing is known.
fn probability(share: f64) -> Probability {
    let millionths = (share.clamp(0.0, 1.0) * 1e6).round() as u32;
    match Probability(millionths) {
        Probability::EVEN => Probability(millionths + 1),
        other => other,
    }
}
