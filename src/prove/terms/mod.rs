//! Terms of SMT-LIB, each made once: two terms that are built alike are the same index, so much is
//! equal without a solver (hash-consing; Ershov, "On programming of arithmetic operations", 1958).
//!
//! In: operators and the terms that they are given. Out: indices of an arena. Numbers are
//! bit-vectors, a bit is one of width 1. `terms_numbers.rs`, `terms_logic.rs` and
//! `terms_memory.rs` build terms in a simple form, such as `(+ x 3)` for `x + 5 - 2`.

mod terms_logic;
mod terms_memory;
mod terms_numbers;

use std::collections::{BTreeSet, HashMap};

/// A term of an arena.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Term(pub u32);

/// The sort of a term.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Sort {
    /// A number of so many bits.
    Bits(u32),
    /// A state or value without structure.
    Token,
    /// An array: bits of the index, bits of an element; an element without bits is a token.
    Array(u32, Option<u32>),
    /// By buffer, an array of bytes.
    Memory,
}

impl Sort {
    /// The bytes of one buffer.
    pub const CONTENT: Sort = Sort::Array(32, Some(8));

    /// The sort of an element of an array.
    pub fn element(self) -> Sort {
        match self {
            Sort::Array(_, Some(bits)) => Sort::Bits(bits),
            Sort::Array(_, None) => Sort::Token,
            Sort::Memory => Sort::CONTENT,
            Sort::Bits(_) | Sort::Token => panic!("{self:?} has no elements"),
        }
    }
}

/// Operators that the solver knows.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Operator {
    /// A constant and multiples of the operands.
    Sum(u64, Vec<u64>),
    /// An operator of bit-vectors, by its name.
    Named(&'static str),
    /// A comparison of bit-vectors, by its name; a bit.
    Compares(&'static str),
    /// All bits are 1; operands are distinct and sorted.
    And,
    /// A bit turned.
    Not,
    /// Two terms are equal; a bit.
    Equal,
    /// Bits from the first down to the second.
    Extract(u32, u32),
    /// So many bits more.
    ZeroExtend(u32),
    /// So many copies of the highest bit more.
    SignExtend(u32),
    /// Numbers side by side.
    Concat,
    /// The second if the first is 1, else the third.
    If,
    /// An element of an array.
    Select,
    /// An array with another element.
    Store,
}

/// A term: its operator and operands.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Node {
    /// A number of 64 bits at most.
    Number(u64),
    /// A number of more bits, by its bytes.
    Bytes(Vec<u8>),
    /// Something that may be anything, by its name.
    Input(String),
    /// An operator that the solver knows.
    Built(Operator, Vec<Term>),
    /// A function of which only that it is one is known, by its name.
    Applied(String, Vec<Term>),
}

/// All terms.
#[derive(Default)]
pub struct Terms {
    nodes: Vec<(Node, Sort)>,
    known: HashMap<(Node, Sort), Term>,
    /// Elements of arrays that were asked for.
    pub(super) selected: HashMap<(Term, Term), Term>,
}

impl Terms {
    /// Returns the number of terms.
    pub fn count(&self) -> usize {
        self.nodes.len()
    }

    /// Returns the node of a term.
    pub fn node(&self, term: Term) -> &Node {
        &self.nodes[term.0 as usize].0
    }

    /// Returns the sort of a term.
    pub fn sort(&self, term: Term) -> Sort {
        self.nodes[term.0 as usize].1
    }

    /// Returns the width of a number.
    pub fn bits(&self, term: Term) -> u32 {
        match self.sort(term) {
            Sort::Bits(bits) => bits,
            other => panic!("{other:?} is no number"),
        }
    }

    /// Returns the term with this node.
    pub fn make(&mut self, node: Node, sort: Sort) -> Term {
        let key = (node, sort);
        if let Some(known) = self.known.get(&key) {
            return *known;
        }
        let term = Term(self.nodes.len() as u32);
        self.nodes.push(key.clone());
        self.known.insert(key, term);
        term
    }

    pub(super) fn built(&mut self, operator: Operator, operands: Vec<Term>, sort: Sort) -> Term {
        self.make(Node::Built(operator, operands), sort)
    }

    /// Returns something that may be anything.
    pub fn input(&mut self, name: &str, sort: Sort) -> Term {
        self.make(Node::Input(name.to_string()), sort)
    }

    /// Returns the result of a function of which nothing is known.
    pub fn applied(&mut self, name: &str, operands: &[Term], sort: Sort) -> Term {
        self.make(Node::Applied(name.to_string(), operands.to_vec()), sort)
    }

    /// Returns the operands of a term.
    pub fn operands(&self, term: Term) -> &[Term] {
        match self.node(term) {
            Node::Built(_, operands) | Node::Applied(_, operands) => operands,
            Node::Number(_) | Node::Bytes(_) | Node::Input(_) => &[],
        }
    }

    /// Returns the operands of a term with this operator.
    pub(super) fn is(&self, term: Term, operator: &Operator) -> Option<&[Term]> {
        match self.node(term) {
            Node::Built(own, operands) if own == operator => Some(operands),
            _other => None,
        }
    }

    /// Returns all terms of which some are made, and these, operands first.
    pub fn below(&self, roots: &[Term]) -> BTreeSet<Term> {
        let mut found: BTreeSet<Term> = roots.iter().copied().collect();
        let mut open = roots.to_vec();
        while let Some(term) = open.pop() {
            for operand in self.operands(term) {
                if found.insert(*operand) {
                    open.push(*operand);
                }
            }
        }
        found
    }
}
