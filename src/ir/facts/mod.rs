//! Facts: ranges of numbers, and inequalities between them and lengths.
//!
//! In: a function with a graph. Out: at each instruction, a [`Facts`] that proves inequalities.
//!
//! Each number is a sum ([`Linear`]) of numbers that are not known: values of which nothing is
//! known but their width, lengths of messages, starts of messages. `pull %m, %n` gives a message of
//! the length of `%m` minus `%n`; `add` gives a sum where it cannot wrap. Facts are sums that are 0
//! or more: from branches, exits, cases, `umin`, and operations behind which they hold as these
//! need them. A fact with one atom narrows the range of it. To prove a sum, its least value by
//! ranges is asked, then that of the sum minus a fact or two that share an atom with it (the idea
//! of the octagons of Miné 2006 and ABCD, Bodik 2000, with a bounded search in place of closure).
//!
//! A walk over the tree of dominators keeps the facts in a stack: they hold below the edge that
//! brings them. Where ways meet, facts of the first are kept that can be proved on all others.
//!
//! ```text
//! b0(%m: msg):
//!   %n = length %m
//!   %short = ult %n, 20
//!   branch %short, b1, b2
//! b2:                        ; length %m - 20 >= 0
//!   %m2 = pull %m, 20        ; its length is length %m - 20
//! ```
//!
//! Assumes: rules 1 to 5; buffers are shorter than 2 GiB. Cost: linear; a proof takes a bounded
//! number of steps.

mod facts_evaluate;
mod facts_needs;
pub mod linear;

pub use facts_needs::Need;
pub use linear::{Atom, Linear};

use super::definitions::Definitions;
use super::graph::Graph;
use super::op::Compare;
use super::types::{ones, signed};
use super::{BlockId, Edge, Function, Module, Op, Terminator, Type, Value};
use rustc_hash::FxHashMap;

/// The facts at a place.
pub struct Facts<'f> {
    module: &'f Module,
    function: &'f Function,
    graph: &'f Graph,
    definitions: Definitions<'f>,
    /// By value: the block that defines it.
    defined_in: Vec<BlockId>,
    /// By value: its sums.
    known: Vec<Known>,
    /// By value: the first that is the same.
    same: Vec<Value>,
    first: FxHashMap<(Op, Vec<Value>), Value>,
    /// By atom: its least and its greatest value.
    ranges: Vec<(i128, i128)>,
    /// Ranges that were narrowed, with what they were before.
    narrowed: Vec<(Atom, (i128, i128))>,
    /// Sums of several atoms that are 0 or more.
    facts: Vec<Linear>,
    /// By atom: the facts in which it is.
    of_atom: Vec<Vec<usize>>,
    /// By block: how many facts and narrowed ranges there are at its end.
    ends: Vec<(usize, usize)>,
    /// By block that several ways lead to: the facts of all ways so far.
    joins: Vec<Option<Join>>,
}

/// A value as sums: itself if it is a number, else its length and start if it has them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Known {
    number: Option<Linear>,
    length: Option<Linear>,
    start: Option<Linear>,
}

/// Facts that all ways to a block have in common so far.
#[derive(Clone, Debug, Default)]
struct Join {
    /// By parameter: its sums; none where they differ.
    given: Vec<Known>,
    /// By parameter: the least and greatest number, or length.
    ranges: Vec<(i128, i128)>,
    /// Sums that are 0 or more.
    facts: Vec<Linear>,
}

/// The greatest length of a message.
const LENGTH: i128 = i32::MAX as i128;
/// A proof takes at most so many steps,
const STEPS: u32 = 48;
/// uses at most so many facts,
const DEPTH: u32 = 3;
/// and looks at so many facts of an atom, the last first.
const TRIED: usize = 8;
/// At a join so many facts of the first way are tried on others.
const JOINED: usize = 24;

impl<'f> Facts<'f> {
    /// Walks through a function, and shows what is known before each instruction, and before the
    /// terminator, whose index is the number of instructions.
    pub fn walk(
        module: &'f Module,
        function: &'f Function,
        graph: &'f Graph,
        show: &mut dyn FnMut(&Facts<'f>, BlockId, usize),
    ) {
        let mut facts = Facts::of(module, function, graph);
        let below = graph.below();
        let mut open = vec![Step::Enter(BlockId(0))];
        while let Some(step) = open.pop() {
            match step {
                Step::Enter(block) => {
                    open.push(Step::Leave(facts.facts.len(), facts.narrowed.len()));
                    facts.block(block, show);
                    open.extend(below[block.at()].iter().rev().map(|one| Step::Enter(*one)));
                }
                Step::Leave(count, narrowed) => facts.forget(count, narrowed),
            }
        }
    }

    /// The least and the greatest value of a number, or the length of a message or view.
    pub fn range(&self, value: Value) -> (u64, u64) {
        let known = &self.known[value.at()];
        let sum = known.number.as_ref().or(known.length.as_ref());
        let (least, most) = sum.map_or((0, i128::from(u64::MAX)), |sum| {
            (self.least(sum), self.greatest(sum))
        });
        let within = |number: i128| number.clamp(0, i128::from(u64::MAX)) as u64;
        (within(least), within(most))
    }

    /// A value that is a number, as a sum.
    pub fn number(&self, value: Value) -> Linear {
        let known = self.known[value.at()].number.clone();
        known.unwrap_or_else(|| Linear::atom(Atom::number(self.same[value.at()])))
    }

    /// The length of a message or view, as a sum.
    pub fn length(&self, value: Value) -> Linear {
        let known = self.known[value.at()].length.clone();
        known.unwrap_or_else(|| Linear::atom(Atom::length(self.same[value.at()])))
    }

    /// The start of a message in its buffer, as a sum.
    pub fn start(&self, value: Value) -> Linear {
        let known = self.known[value.at()].start.clone();
        known.unwrap_or_else(|| Linear::atom(Atom::start(self.same[value.at()])))
    }

    /// Returns true if a sum is known to be 0 or more; none is not.
    pub fn proves(&self, sum: Option<&Linear>) -> bool {
        let mut steps = STEPS;
        sum.is_some_and(|sum| self.search(sum, DEPTH, &mut steps))
    }

    fn search(&self, goal: &Linear, depth: u32, steps: &mut u32) -> bool {
        if self.least(goal) >= 0 {
            return true;
        }
        if depth == 0 {
            return false;
        }
        for (atom, factor) in &goal.parts {
            for fact in self.of_atom[atom.at()].iter().rev().take(TRIED) {
                let fact = &self.facts[*fact];
                let own = fact.factor(*atom);
                if own.signum() != factor.signum() || factor % own != 0 {
                    continue;
                }
                let Some(rest) = steps.checked_sub(1) else {
                    return false;
                };
                *steps = rest;
                let next = goal.plus(fact, -(factor / own));
                if next.is_some_and(|next| self.search(&next, depth - 1, steps)) {
                    return true;
                }
            }
        }
        false
    }

    /// The least value of a sum by the ranges of its atoms.
    fn least(&self, sum: &Linear) -> i128 {
        let parts = sum.parts.iter().map(|(atom, factor)| {
            let (least, most) = self.ranges[atom.at()];
            factor.saturating_mul(if *factor > 0 { least } else { most })
        });
        parts.fold(sum.constant, i128::saturating_add)
    }

    fn greatest(&self, sum: &Linear) -> i128 {
        let turned = Linear::default().minus(sum);
        turned.map_or(i128::MAX, |turned| -self.least(&turned))
    }

    fn of(module: &'f Module, function: &'f Function, graph: &'f Graph) -> Facts<'f> {
        let values = function.values.len();
        let mut defined_in = vec![BlockId(0); values];
        for (id, block) in function.all_blocks() {
            let results = block.instructions.iter().flat_map(|one| &one.results);
            for value in block.parameters.iter().chain(results) {
                defined_in[value.at()] = id;
            }
        }
        let mut ranges = Vec::with_capacity(3 * values);
        for definition in &function.values {
            let most = definition
                .of
                .bits()
                .map_or(0, |bits| i128::from(ones(bits)));
            ranges.extend([(0, most), (0, LENGTH), (0, LENGTH)]);
        }
        Facts {
            module,
            function,
            graph,
            definitions: Definitions::of(function),
            defined_in,
            known: vec![Known::default(); values],
            same: (0..values as u32).map(Value).collect(),
            first: FxHashMap::default(),
            ranges,
            narrowed: Vec::new(),
            facts: Vec::new(),
            of_atom: vec![Vec::new(); 3 * values],
            ends: vec![(0, 0); function.blocks.len()],
            joins: vec![None; function.blocks.len()],
        }
    }

    fn block(&mut self, id: BlockId, show: &mut dyn FnMut(&Facts<'f>, BlockId, usize)) {
        let function = self.function;
        let block = function.block(id);
        if let Some(join) = self.joins[id.at()].take() {
            self.join(&block.parameters, join);
        } else if let Some(above) = self.graph.dominator[id.at()] {
            let terminator = &function.block(above).terminator;
            let edges = terminator.edges().into_iter().enumerate();
            for (at, edge) in edges.filter(|(_, edge)| edge.block == id) {
                self.edge(terminator, at);
                self.give(terminator, at, edge);
            }
        }
        for (at, instruction) in block.instructions.iter().enumerate() {
            show(self, id, at);
            self.instruction(instruction);
        }
        show(self, id, block.instructions.len());
        self.ends[id.at()] = (self.facts.len(), self.narrowed.len());
        for (at, edge) in block.terminator.edges().into_iter().enumerate() {
            if self.graph.before[edge.block.at()].len() > 1 {
                let (count, narrowed) = self.ends[id.at()];
                self.edge(&block.terminator, at);
                self.arrive(&block.terminator, at, edge);
                self.forget(count, narrowed);
            }
        }
    }

    /// Adds the facts of an edge.
    fn edge(&mut self, terminator: &Terminator, at: usize) {
        match terminator {
            Terminator::Branch { condition, .. } => self.bit(*condition, at == 0),
            Terminator::Switch { value, cases, .. } => {
                let number = self.number(*value);
                if let Some((case, ..)) = cases.get(at) {
                    let case = Linear::constant(i128::from(*case));
                    self.add(number.minus(&case));
                    self.add(case.minus(&number));
                } else {
                    let mut cases: Vec<u64> = cases.iter().map(|(case, ..)| *case).collect();
                    cases.sort_unstable();
                    for case in &cases {
                        self.differs(&number, i128::from(*case));
                    }
                    for case in cases.iter().rev() {
                        self.differs(&number, i128::from(*case));
                    }
                }
            }
            Terminator::Try {
                attempt, operands, ..
            } if at == 0 => self.succeeded(attempt, operands),
            _ => {}
        }
    }

    /// A bit is known.
    fn bit(&mut self, bit: Value, holds: bool) {
        for (bit, holds) in self.definitions.implied(bit, holds) {
            let number = self.number(bit);
            if holds {
                self.add(Some(number.and(-1)));
            } else {
                self.add(Linear::default().minus(&number));
            }
            if let Some(instruction) = self.definitions.get(bit)
                && let Op::Compare(how) = instruction.op
            {
                self.compared(how, &instruction.operands, holds);
            }
        }
    }

    /// A comparison is known.
    fn compared(&mut self, how: Compare, operands: &[Value], holds: bool) {
        let Some(bits) = self.function.type_of(operands[0]).bits() else {
            return;
        };
        let [one, other] = [operands[0], operands[1]].map(|value| self.number(value));
        if matches!(how, Compare::Slt | Compare::Sle) {
            let most = i128::from(signed(ones(bits) >> 1, bits));
            let mut both = [&one, &other].into_iter();
            if both.any(|sum| self.greatest(sum) > most) {
                return;
            }
        }
        match (how, holds) {
            (Compare::Eq, true) | (Compare::Ne, false) => {
                self.add(one.minus(&other));
                self.add(other.minus(&one));
            }
            (Compare::Eq, false) | (Compare::Ne, true) => {
                if other.parts.is_empty() {
                    self.differs(&one, other.constant);
                } else if one.parts.is_empty() {
                    self.differs(&other, one.constant);
                }
            }
            (Compare::Ult | Compare::Slt, true) => {
                self.add(other.minus(&one).map(|sum| sum.and(-1)));
            }
            (Compare::Ult | Compare::Slt, false) => self.add(one.minus(&other)),
            (Compare::Ule | Compare::Sle, true) => self.add(other.minus(&one)),
            (Compare::Ule | Compare::Sle, false) => {
                self.add(one.minus(&other).map(|sum| sum.and(-1)));
            }
        }
    }

    /// A sum is not this number: that says something if it is the least or greatest.
    fn differs(&mut self, sum: &Linear, number: i128) {
        let number = Linear::constant(number);
        if self.least(sum) == number.constant {
            self.add(sum.minus(&number).map(|sum| sum.and(-1)));
        } else if self.greatest(sum) == number.constant {
            self.add(number.minus(sum).map(|sum| sum.and(-1)));
        }
    }

    /// From here on a sum is 0 or more; nothing is known of none.
    fn add(&mut self, sum: Option<Linear>) {
        let Some(sum) = sum else { return };
        let (least, most) = (self.least(&sum), self.greatest(&sum));
        for (atom, factor) in &sum.parts {
            let (low, high) = self.ranges[atom.at()];
            // All others at their greatest, this one has to give the rest.
            let own = factor.saturating_mul(if *factor > 0 { high } else { low });
            let rest = most.saturating_sub(own);
            let range = if *factor > 0 {
                (
                    low.max(
                        (-rest).div_euclid(*factor) + i128::from((-rest).rem_euclid(*factor) > 0),
                    ),
                    high,
                )
            } else {
                (low, high.min(rest.div_euclid(-factor)))
            };
            if range != (low, high) {
                self.narrowed.push((*atom, (low, high)));
                self.ranges[atom.at()] = range;
            }
        }
        if least < 0 && sum.parts.len() > 1 {
            for (atom, _) in &sum.parts {
                self.of_atom[atom.at()].push(self.facts.len());
            }
            self.facts.push(sum);
        }
    }

    /// Forgets facts and ranges behind the first so many.
    fn forget(&mut self, count: usize, narrowed: usize) {
        while self.facts.len() > count {
            let fact = self.facts.pop().expect("there are more facts");
            for (atom, _) in fact.parts {
                self.of_atom[atom.at()].pop();
            }
        }
        for (atom, range) in self.narrowed.drain(narrowed..).rev() {
            self.ranges[atom.at()] = range;
        }
    }

    /// The parameters of a block behind its only edge are the arguments and results.
    fn give(&mut self, terminator: &Terminator, at: usize, edge: &Edge) {
        let parameters = &self.function.block(edge.block).parameters;
        let given = self.given(terminator, at, edge);
        for (parameter, known) in parameters.iter().zip(given) {
            self.known[parameter.at()] = known;
        }
        for (argument, parameter) in edge.arguments.iter().zip(parameters) {
            self.same[parameter.at()] = self.same[argument.at()];
        }
    }

    /// Returns the values that an edge gives the parameters of its block.
    fn given(&mut self, terminator: &Terminator, at: usize, edge: &Edge) -> Vec<Known> {
        let arguments = edge.arguments.iter();
        let mut given: Vec<Known> = arguments.map(|value| self.whole(*value)).collect();
        let parameters = &self.function.block(edge.block).parameters;
        if let Terminator::Try {
            attempt, operands, ..
        } = terminator
        {
            let results = &parameters[edge.arguments.len()..];
            given.extend(self.outcome(attempt, operands, at == 0, results));
        }
        given
    }

    /// All that is known of a value, as sums.
    fn whole(&self, value: Value) -> Known {
        match self.function.type_of(value) {
            Type::Int(_) => Known {
                number: Some(self.number(value)),
                ..Known::default()
            },
            Type::View => Known {
                length: Some(self.length(value)),
                ..Known::default()
            },
            Type::Message => Known {
                number: None,
                length: Some(self.length(value)),
                start: Some(self.start(value)),
            },
            Type::Bytes(_) | Type::Instance(_) | Type::Float(_) | Type::Opaque(_) => {
                Known::default()
            }
        }
    }

    /// One of several ways to a block.
    fn arrive(&mut self, terminator: &Terminator, at: usize, edge: &Edge) {
        let given = self.given(terminator, at, edge);
        let sums = given
            .iter()
            .map(|one| one.number.as_ref().or(one.length.as_ref()));
        let ranges =
            sums.map(|sum| sum.map_or((0, i128::MAX), |sum| (self.least(sum), self.greatest(sum))));
        let ranges: Vec<(i128, i128)> = ranges.collect();
        let parameters = &self.function.block(edge.block).parameters;
        let Some(mut join) = self.joins[edge.block.at()].take() else {
            let facts = self.candidates(edge.block, parameters, &given);
            self.joins[edge.block.at()] = Some(Join {
                given,
                ranges,
                facts,
            });
            return;
        };
        join.facts.retain(|fact| {
            let mut fact = Some(fact.clone());
            for (parameter, known) in parameters.iter().zip(&given) {
                for (atom, sum) in atoms(*parameter, known) {
                    fact = fact.and_then(|fact| fact.replaced(atom, sum));
                }
            }
            self.proves(fact.as_ref())
        });
        for (known, given) in join.given.iter_mut().zip(given) {
            for (known, given) in [
                (&mut known.number, given.number),
                (&mut known.length, given.length),
                (&mut known.start, given.start),
            ] {
                if *known != given {
                    *known = None;
                }
            }
        }
        for (range, other) in join.ranges.iter_mut().zip(ranges) {
            *range = (range.0.min(other.0), range.1.max(other.1));
        }
        self.joins[edge.block.at()] = Some(join);
    }

    /// Facts of the first way to a block that may hold on others, with the parameters in place of
    /// the arguments.
    fn candidates(&self, block: BlockId, parameters: &[Value], given: &[Known]) -> Vec<Linear> {
        let above = self.graph.dominator[block.at()].unwrap_or(BlockId(0));
        let (count, narrowed) = self.ends[above.at()];
        let mut found: Vec<Option<Linear>> = Vec::new();
        for (parameter, known) in parameters.iter().zip(given) {
            for (atom, sum) in atoms(*parameter, known) {
                let own = Linear::atom(atom);
                if sum.parts.is_empty() {
                    continue;
                }
                found.extend([own.minus(sum), sum.minus(&own)]);
                if let [(only, 1)] = sum.parts[..] {
                    let same = own.clone().and(-sum.constant);
                    let facts = self.of_atom[only.at()].iter().rev().take(TRIED);
                    found.extend(facts.map(|fact| self.facts[*fact].replaced(only, &same)));
                }
            }
        }
        let facts = self.facts[count.min(self.facts.len())..].iter().rev();
        found.extend(facts.take(JOINED).map(|fact| Some(fact.clone())));
        let ranges = self.narrowed[narrowed.min(self.narrowed.len())..]
            .iter()
            .rev();
        for (atom, _) in ranges.take(JOINED) {
            let (least, most) = self.ranges[atom.at()];
            let own = Linear::atom(*atom);
            found.push(Linear::constant(most).minus(&own));
            found.push(Some(own.and(-least)));
        }
        let exists = |(atom, _): &(Atom, i128)| {
            let defined = self.defined_in[atom.value().at()];
            let is_parameter = defined == block && parameters.contains(&atom.value());
            is_parameter || defined != block && self.graph.dominates(defined, block)
        };
        let mut found: Vec<Linear> = found.into_iter().flatten().collect();
        found.retain(|fact| fact.parts.iter().all(exists));
        found
    }

    /// All ways to a block have come together.
    fn join(&mut self, parameters: &[Value], join: Join) {
        for ((parameter, known), range) in parameters.iter().zip(join.given).zip(join.ranges) {
            let atom = match self.function.type_of(*parameter) {
                Type::Int(_) if known.number.is_none() => Some(Atom::number(*parameter)),
                Type::Message | Type::View if known.length.is_none() => {
                    Some(Atom::length(*parameter))
                }
                _ => None,
            };
            if let Some(atom) = atom {
                let (least, most) = self.ranges[atom.at()];
                self.ranges[atom.at()] = (least.max(range.0), most.min(range.1));
            }
            self.known[parameter.at()] = known;
        }
        for fact in join.facts {
            self.add(Some(fact));
        }
    }
}

/// A walk enters blocks, and leaves them with as many facts and narrowed ranges as before.
enum Step {
    Enter(BlockId),
    Leave(usize, usize),
}

/// The atoms of a parameter, with what they are.
fn atoms(parameter: Value, known: &Known) -> impl Iterator<Item = (Atom, &Linear)> {
    let number = known
        .number
        .as_ref()
        .map(|sum| (Atom::number(parameter), sum));
    let length = known
        .length
        .as_ref()
        .map(|sum| (Atom::length(parameter), sum));
    let start = known
        .start
        .as_ref()
        .map(|sum| (Atom::start(parameter), sum));
    number.into_iter().chain(length).chain(start)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::build::Builder;
    use crate::ir::{Probability, Role};

    #[test]
    fn a_test_of_a_length_holds_behind_it_alone() {
        let module = Module::default();
        let mut build = Builder::new("f", "", Role::Plain, &[(Type::View, "")]);
        let length = build.value(&module, Op::Length, &[build.parameter(0)]);
        let least = build.number(&module, 32, 20);
        let short = build.value(&module, Op::Compare(Compare::Ult), &[length, least]);
        let (then, otherwise) = build.branch(short, Probability::EVEN);
        for block in [then, otherwise] {
            build.go_to(block);
            build.end(Terminator::Return(Vec::new()));
        }
        let function = build.finish(Vec::new());
        let graph = Graph::of(&function).expect("no cycle");
        let mut found = Vec::new();
        Facts::walk(&module, &function, &graph, &mut |facts, block, _| {
            if block != BlockId(0) {
                found.push(facts.range(length));
            }
        });
        assert_eq!(found, [(0, 19), (20, i32::MAX as u64)]);
    }
}
