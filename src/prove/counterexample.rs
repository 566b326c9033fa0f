//! Counterexamples: inputs for which two functions differ, and the parts that differ.
//!
//! In: the numbers that a solver gives for terms. Out: lines for people, and the arguments of the
//! functions, of which a host can make a call.
//!
//! ```text
//! argument 0 = 0x5
//! side.near[0x0] = 0x7
//! result 0: 0x6 before, 0x5 behind
//! ```

use super::outcome::{Outcome, Part, Way};
use super::symbolic::{Message, Symbolic};
use super::terms::{Node, Operator, Sort, Term, Terms};
use crate::ir::{AttributeId, Module};
use std::collections::BTreeMap;

/// At most so many inputs are shown.
const MOST_INPUTS: usize = 60;

/// A counterexample: inputs for which two functions differ.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Counterexample {
    /// The parts that differ.
    pub parts: Vec<Part>,
    /// Inputs, outcomes and parts, for people.
    pub lines: Vec<String>,
    /// The arguments of the function before.
    pub arguments: Vec<Argument>,
    /// The time at which it runs, in nanoseconds, if it asks for that.
    pub now_ns: Option<u64>,
    /// The state in which it runs, as an index among those that are known to be reached; none if
    /// it differs in none of them, or if none is known.
    pub state: Option<usize>,
}

/// An argument of a counterexample.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Argument {
    /// A number, or the index of an instance.
    Number(u64),
    /// A message: its bytes, and those of its attributes that are numbers of 64 bits at most.
    Message(Vec<u8>, BTreeMap<AttributeId, u64>),
    /// A view, or a value without a number.
    Other,
}

/// A message of a counterexample has this many bytes at most.
pub const MOST_LENGTH: u64 = 1500;

/// Parts that may differ, and the terms of which the solver is asked.
pub struct Differing {
    parts: Vec<(Part, Term, Term, Term)>,
    ways: [Vec<Way>; 2],
    given: Vec<Symbolic>,
    now: Term,
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
        (given, now): (&[Symbolic], Term),
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
        asked.extend(given.iter().flat_map(Symbolic::terms));
        asked.retain(|term| matches!(terms.sort(*term), Sort::Bits(_)));
        asked.sort();
        asked.dedup();
        Differing {
            parts,
            ways,
            given: given.to_vec(),
            now,
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

/// Returns the counterexample for the numbers of all terms that were asked for.
pub fn described(
    terms: &Terms,
    module: &Module,
    differing: &Differing,
    found: &[Option<u64>],
) -> Counterexample {
    let pairs = differing.asked.iter().copied().zip(found.iter().copied());
    let known: BTreeMap<Term, Option<u64>> = pairs.collect();
    let number = |term: Term| {
        let asked = known.get(&term).copied().flatten();
        terms.constant(term).or(asked)
    };
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
        let taken = taken.find(|(condition, ..)| number(*condition) == Some(1));
        if let Some((_, word, given)) = taken {
            let given: Vec<String> = given.iter().map(|one| text(*one)).collect();
            lines.push(format!("{side}: {word}({})", given.join(", ")));
        } else {
            lines.push(format!("{side}: left"));
        }
    }
    let given = differing.given.iter();
    Counterexample {
        parts,
        lines,
        arguments: given
            .map(|one| argument(terms, one, (&differing.inputs, &number)))
            .collect(),
        now_ns: number(differing.now),
        state: None,
    }
}

type Numbers<'n> = &'n dyn Fn(Term) -> Option<u64>;

fn argument(terms: &Terms, given: &Symbolic, (inputs, number): (&[Term], Numbers<'_>)) -> Argument {
    match given {
        Symbolic::Plain(term) => number(*term).map_or(Argument::Other, Argument::Number),
        Symbolic::View(..) => Argument::Other,
        Symbolic::Message(message) => {
            let attributes = message.attributes.iter().enumerate();
            let attributes = attributes.filter_map(|(at, term)| {
                let of = AttributeId(at as u32);
                Some((of, number(*term)?))
            });
            let bytes = bytes(terms, message, (inputs, number));
            Argument::Message(bytes, attributes.collect())
        }
    }
}

/// Returns the bytes of a message; those on which nothing depends are zero.
fn bytes(terms: &Terms, message: &Message, (inputs, number): (&[Term], Numbers<'_>)) -> Vec<u8> {
    let length = number(message.length).unwrap_or(0).min(MOST_LENGTH);
    let start = number(message.start).unwrap_or(0);
    let mut bytes = vec![0; length as usize];
    for input in inputs {
        let Node::Built(Operator::Select, operands) = terms.node(*input) else {
            continue;
        };
        let Node::Built(Operator::Select, outer) = terms.node(operands[0]) else {
            continue;
        };
        let is_first = matches!(terms.node(outer[0]), Node::Input(_));
        if !is_first || number(outer[1]) != number(message.buffer) {
            continue;
        }
        let place = number(operands[1]).and_then(|at| at.checked_sub(start));
        let byte = place.and_then(|at| bytes.get_mut(at as usize));
        if let (Some(byte), Some(value)) = (byte, number(*input)) {
            *byte = value as u8;
        }
    }
    bytes
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
