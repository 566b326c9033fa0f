//! Control states in which nothing is ever found: what would be done there is gone (HIPPCO 5.1).
//!
//! In: all trees of a stack. Out: the same, without tests that have but one outcome, and without
//! ways of a `match`, for all that their fields can hold. A field can hold what it begins with, and
//! constants that are written to it where anything leads: so what is written only in a state in
//! which nothing is found does not count, and may be what led to another one.
//!
//! ```text
//! nobody listens: `listen` is never written
//!
//! match state { shut { … } listen { … } sent { … } }  =>  match state { shut { … } sent { … } }
//! ```
//!
//! Assumes: all that writes a field stands in the trees, but for what a host writes where it
//! accepts. Ensures: the same outputs and state. Cost: none.

use super::simpler::simpler;
use super::unasked::forget;
use super::value::Looks;
use crate::tree::rename::Renaming;
use crate::tree::walk::{decided, reachable, remade};
use crate::tree::{Action, Forest, Node};
use crate::types::constant::{fold_number, width};
use crate::types::expression::{Expression, ExpressionKind, Variable};
use crate::types::program::{FieldId, KindId, Program};
use crate::types::value::Type;
use indexmap::IndexSet;
use rustc_hash::FxHashMap;
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

/// What fields may hold, in the order in which it was found; those that may hold anything are not
/// among them.
type Held = BTreeMap<(KindId, FieldId), IndexSet<u64>>;

/// Trees without what is done in states in which nothing is ever found.
pub fn prune(program: &Program, forest: &Forest) -> Forest {
    let (_, pruned) = settled(program, forest);
    forget(program, &pruned)
}

/// A control state in which nothing is ever found.
#[derive(Clone, Debug, PartialEq)]
pub struct Never {
    /// Of instances of this kind.
    pub kind: KindId,
    /// The field that would say so.
    pub field: FieldId,
    /// What it would hold.
    pub value: u64,
    /// How many nodes are there for it alone.
    pub nodes: usize,
}

/// The values of enums that fields never hold.
pub fn never(program: &Program, forest: &Forest) -> Vec<Never> {
    let (held, _) = settled(program, forest);
    let size = |forest: &Forest| {
        let roots = forest.trees.iter().map(|tree| tree.root);
        let nodes = roots.flat_map(|root| reachable(forest, root));
        nodes.collect::<BTreeSet<_>>().len()
    };
    let whole = size(forest);
    let mut all = Vec::new();
    for ((kind, field), values) in held {
        let Type::Enum(id) = program.kinds[kind.at()].fields[field.at()].kind else {
            continue;
        };
        let known: BTreeSet<u64> = program.enums[id.at()]
            .names
            .iter()
            .map(|one| one.1)
            .collect();
        for value in known
            .iter()
            .copied()
            .filter(|value| !values.contains(value))
        {
            let others = known.iter().copied().filter(|other| *other != value);
            let held = Held::from([((kind, field), others.collect())]);
            let without = States::new(program, held).without(forest);
            all.push(Never {
                kind,
                field,
                value,
                nodes: whole - size(&without),
            });
        }
    }
    all
}

/// What fields may hold, and the trees without what is done where they hold anything else.
fn settled(program: &Program, forest: &Forest) -> (Held, Forest) {
    let mut states = States::new(program, first(program));
    loop {
        let pruned = states.without(forest);
        let held = states.with_written(&pruned);
        if held == states.held {
            return (held, pruned);
        }
        states.held = held;
    }
}

/// What fields begin with.
fn first(program: &Program) -> Held {
    let listening = program.ports.iter().filter_map(|port| port.listens);
    let by_hosts: Vec<(KindId, FieldId)> = listening.flat_map(|how| how.fields()).collect();
    let mut held = Held::new();
    for (at, kind) in program.kinds.iter().enumerate() {
        for (place, field) in kind.fields.iter().enumerate() {
            let place = (KindId(at as u32), FieldId(place as u32));
            let first = match &field.initial {
                Some(initial) => fold_number(program, initial),
                None => Some(0),
            };
            let is_number = width(program, &field.kind).is_some();
            if let Some(first) = first.filter(|_| is_number && !by_hosts.contains(&place)) {
                held.insert(place, IndexSet::from([first]));
            }
        }
    }
    held
}

struct States<'a> {
    program: &'a Program,
    held: Held,
    /// What expressions give. Fields only come to hold more, so of each expression only what is new
    /// is asked.
    given: RefCell<FxHashMap<Expression, Given>>,
}

/// What an expression gives.
struct Given {
    /// The field that it looks at; none if what it gives is not known.
    of: Option<(KindId, FieldId)>,
    /// So many of the values that the field may hold were asked.
    asked: usize,
    /// What it gives for these.
    values: BTreeSet<u64>,
}

impl<'a> States<'a> {
    fn new(program: &'a Program, held: Held) -> States<'a> {
        States {
            program,
            held,
            given: RefCell::default(),
        }
    }

    /// Trees without ways on which nothing comes.
    fn without(&self, forest: &Forest) -> Forest {
        remade(forest, |arena, node| {
            let node = self.pruned(node);
            decided(self.program, &node).unwrap_or_else(|| arena.add(node))
        })
    }

    /// A node without ways on which nothing comes.
    fn pruned(&self, mut node: Node) -> Node {
        match &mut node {
            Node::Test { condition, .. } if is_found_at_will(self.program, condition) => {
                let known = replaced(condition, &|part| self.only(part));
                *condition = simpler(self.program, known);
            }
            Node::Case {
                value,
                cases,
                otherwise,
            } => {
                if let Some(possible) = self.possible(value) {
                    cases.retain(|(case, ..)| possible.contains(case));
                    if cases.len() == possible.len()
                        && let Some((.., last)) = cases.pop()
                    {
                        *otherwise = last;
                    }
                }
            }
            Node::Test { .. } | Node::Try { .. } | Node::Act { .. } | Node::Leaf { .. } => {}
        }
        node
    }

    /// The truth of a condition, whatever fields hold.
    fn only(&self, condition: &Expression) -> Option<Expression> {
        let possible = match condition.result {
            Type::Bool => self.possible(condition)?,
            _ => return None,
        };
        let only = possible.first().filter(|_| possible.len() == 1)?;
        Some(Expression::number(*only, Type::Bool))
    }

    /// What an expression may give that looks at one such field, and at nothing else.
    fn possible(&self, expression: &Expression) -> Option<BTreeSet<u64>> {
        let mut all = self.given.borrow_mut();
        if !all.contains_key(expression) {
            let given = Given {
                of: first_field(expression),
                asked: 0,
                values: BTreeSet::new(),
            };
            all.insert(expression.clone(), given);
        }
        let given = all.get_mut(expression)?;
        let place = given.of?;
        let values = self.held.get(&place)?;
        for value in values.iter().skip(given.asked) {
            let held = |part: &Expression| match &*part.kind {
                ExpressionKind::Read(Variable::Field(_, kind, field))
                    if (*kind, *field) == place =>
                {
                    Some(Expression::number(*value, part.result.clone()))
                }
                _ => None,
            };
            match fold_number(self.program, &replaced(expression, &held)) {
                Some(number) => drop(given.values.insert(number)),
                None => given.of = None,
            }
        }
        given.asked = values.len();
        given.of.map(|_| given.values.clone())
    }

    /// What fields may hold when what trees write is added.
    fn with_written(&self, forest: &Forest) -> Held {
        let mut held = self.held.clone();
        let roots = forest.trees.iter().map(|tree| tree.root);
        let nodes: BTreeSet<_> = roots.flat_map(|root| reachable(forest, root)).collect();
        for node in nodes {
            if let Node::Act { action, .. } = forest.arena.node(node)
                && let Action::Assign(Variable::Field(_, kind, field), value) = action
                && let Some(values) = held.get_mut(&(*kind, *field))
            {
                match fold_number(self.program, value) {
                    Some(value) => drop(values.insert(value)),
                    None => drop(held.remove(&(*kind, *field))),
                }
            }
        }
        held
    }
}

/// The first of the fields that an expression looks at.
fn first_field(expression: &Expression) -> Option<(KindId, FieldId)> {
    let read = RefCell::new(BTreeSet::new());
    let note = |part: &Expression| {
        if let ExpressionKind::Read(Variable::Field(_, kind, field)) = &*part.kind {
            read.borrow_mut().insert((*kind, *field));
        }
        None
    };
    replaced(expression, &note);
    read.into_inner().pop_first()
}

/// An expression in which others stand for its parts.
fn replaced(
    expression: &Expression,
    replaced: &dyn Fn(&Expression) -> Option<Expression>,
) -> Expression {
    let renaming = Renaming {
        local: &|local| local,
        instance: &|instance| instance,
        replaced,
    };
    renaming.expression(expression)
}

/// Whether it does not matter how often a value is found.
pub fn is_found_at_will(program: &Program, value: &Expression) -> bool {
    let looks = Looks::of(program, value);
    !looks.changes && !looks.calls_c
}
