//! Counterexamples, for people: inputs for which two functions differ, and the parts that differ.
//!
//! In: the numbers that a solver gives for terms. Out: lines.
//!
//! ```text
//! argument 0 = 0x5
//! side.near[0x0] = 0x7
//! result 0: 0x6 before, 0x5 behind
//! ```

use super::outcome::{Outcome, Part, Way};
use super::terms::{Node, Operator, Sort, Term, Terms};
use crate::ir::Module;
use std::collections::BTreeMap;

/// At most so many inputs are shown.
const MOST_INPUTS: usize = 60;

/// Parts that may differ, and the terms of which the solver is asked.
pub struct Differing {
    parts: Vec<(Part, Term, Term, Term)>,
    ways: [Vec<Way>; 2],
    inputs: Vec<Term>,
    /// All terms that are asked for.
    pub asked: Vec<Term>,
}

impl Differing {
    /// Returns the terms that describe a difference.
    pub fn new(
        terms: &Terms,
        pairs: &BTreeMap<Part, (Term, Term)>,
        differs: &BTreeMap<Part, Term>,
        outcomes: [&Outcome; 2],
    ) -> Differing {
        let all = pairs.iter();
        let parts = all.map(|(part, (own, than))| (*part, differs[part], *own, *than));
        let parts: Vec<(Part, Term, Term, Term)> = parts.collect();
        let ways = outcomes.map(|one| one.ways.clone());
        let mut roots: Vec<Term> = Vec::new();
        roots.extend(parts.iter().flat_map(|(_, _, own, than)| [*own, *than]));
        roots.extend(outcomes.iter().map(|one| one.left));
        roots.extend(ways.iter().flatten().map(|(condition, ..)| *condition));
        let below = terms.below(&roots).into_iter();
        let inputs: Vec<Term> = below.filter(|term| is_input(terms, *term)).collect();
        let mut asked: Vec<Term> = inputs.clone();
        for input in &inputs {
            asked.extend(indices(terms, *input));
        }
        for (_, bit, own, than) in &parts {
            asked.extend([*bit, *own, *than]);
        }
        for (condition, _, given) in ways.iter().flatten() {
            asked.push(*condition);
            asked.extend(given);
        }
        asked.retain(|term| matches!(terms.sort(*term), Sort::Bits(_)));
        asked.sort();
        asked.dedup();
        Differing {
            parts,
            ways,
            inputs,
            asked,
        }
    }
}

/// Returns true for a number that a function does not compute itself.
fn is_input(terms: &Terms, term: Term) -> bool {
    let is_number = matches!(terms.sort(term), Sort::Bits(bits) if bits <= 64);
    let is_given = match terms.node(term) {
        Node::Input(_) | Node::Applied(..) => true,
        Node::Built(Operator::Select, _) => true,
        Node::Number(_) | Node::Bytes(_) | Node::Built(..) => false,
    };
    is_number && is_given
}

fn indices(terms: &Terms, input: Term) -> Vec<Term> {
    match terms.node(input) {
        Node::Built(Operator::Select, operands) => {
            let array = operands[0];
            let outer = match terms.node(array) {
                Node::Built(Operator::Select, inner) => Some(inner[1]),
                _other => None,
            };
            outer.into_iter().chain([operands[1]]).collect()
        }
        _other => Vec::new(),
    }
}

/// Returns the parts that differ, and lines that describe inputs and parts.
pub fn described(
    terms: &Terms,
    module: &Module,
    differing: &Differing,
    found: &[Option<u64>],
) -> (Vec<Part>, Vec<String>) {
    let pairs = differing.asked.iter().copied().zip(found.iter().copied());
    let known: BTreeMap<Term, Option<u64>> = pairs.collect();
    let number = |term: Term| known.get(&term).copied().flatten();
    let text = |term: Term| number(term).map_or("?".to_string(), |one| format!("{one:#x}"));
    let mut lines = Vec::new();
    for input in differing.inputs.iter().take(MOST_INPUTS) {
        let name = match terms.node(*input) {
            Node::Input(name) | Node::Applied(name, _) => name.clone(),
            _select => selected(terms, *input, &text),
        };
        lines.push(format!("{name} = {}", text(*input)));
    }
    lines.sort();
    lines.dedup();
    if differing.inputs.len() > MOST_INPUTS {
        lines.push("and more inputs".to_string());
    }
    let mut parts = Vec::new();
    for (part, bit, own, than) in &differing.parts {
        if number(*bit).unwrap_or(1) == 0 {
            continue;
        }
        parts.push(*part);
        let name = part.name(module);
        lines.push(match (number(*own), number(*than)) {
            (Some(own), Some(than)) => format!("{name}: {own:#x} before, {than:#x} behind"),
            _state => format!("{name}: differs"),
        });
    }
    for (side, ways) in ["before", "behind"].iter().zip(&differing.ways) {
        let mut taken = ways.iter();
        let taken = taken.find(|(condition, ..)| is_taken(terms, *condition, &number));
        if let Some((_, word, given)) = taken {
            let given: Vec<String> = given.iter().map(|one| text(*one)).collect();
            lines.push(format!("{side}: {word}({})", given.join(", ")));
        } else {
            lines.push(format!("{side}: left"));
        }
    }
    (parts, lines)
}

fn is_taken(terms: &Terms, condition: Term, number: &dyn Fn(Term) -> Option<u64>) -> bool {
    let known = terms.constant(condition).or_else(|| number(condition));
    known == Some(1)
}

/// Returns the name of an element: `side.near[0x0]`, or a byte of a buffer.
fn selected(terms: &Terms, input: Term, text: &dyn Fn(Term) -> String) -> String {
    let Node::Built(_, operands) = terms.node(input) else {
        return String::new();
    };
    let (array, index) = (operands[0], text(operands[1]));
    match terms.node(array) {
        Node::Input(name) | Node::Applied(name, _) => format!("{name}[{index}]"),
        Node::Built(Operator::Select, inner) => {
            format!("byte {index} of buffer {}", text(inner[1]))
        }
        _changed => format!("element {index}"),
    }
}
