//! Instructions of one way through a reaction.
//!
//! In: a reaction, and decisions that were made on a way through a copy of it, by their places in
//! the sources. Out: the instructions of the reaction, and of all that follows it within the stack,
//! if the same is decided there. A branch at another place goes the likelier way.

use super::{Cost, FUNCTION, of_end, of_instruction};
use crate::ir::op::{Event, Target};
use crate::ir::{BlockId, Function, FunctionId, Module, Op, Probability, Terminator};
use crate::source::Span;
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// A decision: its place in the sources, and the edge that is taken.
pub type Decision = (Span, usize);

/// A way is followed through so many blocks at most.
const LONGEST: usize = 20_000;

/// A call is followed into so many others at most.
const DEEPEST: usize = 20;

/// Returns the instructions of a reaction if these decisions are made on its way.
pub fn of_way(module: &Module, reaction: FunctionId, decisions: &[Decision]) -> f64 {
    let mut way = Way::new(module);
    for (span, edge) in decisions {
        way.decided.entry(*span).or_default().push_back(*edge);
    }
    way.follow(reaction);
    way.end()
}

/// Returns the instructions from the begin of a block to the end of a fast function, and of all
/// that follows it within the stack, along likelier edges. A reaction in which one of these
/// decisions was made is part of the fast function, so it does not count once more.
pub fn from_block(
    module: &Module,
    (function, block): (&Function, BlockId),
    decisions: &[Decision],
) -> f64 {
    let places: BTreeSet<Span> = decisions.iter().map(|(place, _)| *place).collect();
    let mut way = Way::new(module);
    for (at, one) in module.functions.iter().enumerate() {
        let mut spans = one.blocks.iter().filter_map(|block| block.span);
        if spans.any(|span| places.contains(&span)) {
            way.seen.insert(FunctionId(at as u32));
        }
    }
    way.blocks(function, block, 0);
    way.end()
}

/// A way that is followed.
struct Way<'m> {
    module: &'m Module,
    /// The decisions that were not made yet; the last of each place is made again.
    decided: BTreeMap<Span, VecDeque<usize>>,
    /// Blocks that may still be followed.
    left: usize,
    /// Reactions that follow.
    open: VecDeque<FunctionId>,
    /// Reactions that followed: each counts once, since events may go round.
    seen: BTreeSet<FunctionId>,
    cost: Cost,
}

impl<'m> Way<'m> {
    fn new(module: &'m Module) -> Way<'m> {
        Way {
            module,
            decided: BTreeMap::new(),
            left: LONGEST,
            open: VecDeque::new(),
            seen: BTreeSet::new(),
            cost: Cost::default(),
        }
    }

    /// Follows what follows, and returns all instructions.
    fn end(mut self) -> f64 {
        while let Some(next) = self.open.pop_front() {
            self.blocks(self.module.function(next), BlockId(0), 0);
        }
        self.cost.instructions
    }

    fn blocks(&mut self, function: &Function, begin: BlockId, depth: usize) {
        self.cost += FUNCTION;
        let mut next = Some(begin);
        while let Some(at) = next.filter(|_| self.left > 0) {
            self.left -= 1;
            let block = function.block(at);
            for one in &block.instructions {
                self.cost += of_instruction(one);
                match &one.op {
                    Op::Call(called) if depth < DEEPEST => {
                        let called = self.module.function(*called);
                        self.blocks(called, BlockId(0), depth + 1);
                    }
                    Op::Queue(_, events) | Op::Output(events) => {
                        events.iter().for_each(|event| self.follows(event));
                    }
                    _other => {}
                }
            }
            let end = &block.terminator;
            self.cost += of_end(end);
            if let Terminator::Tail(event, _) = end {
                self.follows(event);
            }
            let edges = end.edges();
            let edge = self.decision(block.span).unwrap_or_else(|| likelier(end));
            let edge = edges.get(edge).or(edges.first());
            next = edge.map(|edge| edge.block);
        }
    }

    fn follows(&mut self, event: &Event) {
        if let Target::Function(id) = event.target {
            self.follow(id);
        }
    }

    fn follow(&mut self, id: FunctionId) {
        if self.seen.insert(id) {
            self.open.push_back(id);
        }
    }

    /// The next decision at a place.
    fn decision(&mut self, place: Option<Span>) -> Option<usize> {
        let decided = self.decided.get_mut(&place?)?;
        match decided.len() {
            1 => decided.front().copied(),
            _ => decided.pop_front(),
        }
    }
}

/// The likelier edge of the end of a block.
fn likelier(end: &Terminator) -> usize {
    match end {
        Terminator::Branch { likely, .. } | Terminator::Try { likely, .. } => {
            usize::from(*likely < Probability::EVEN)
        }
        Terminator::Switch { cases, .. } => {
            let shares = cases.iter().map(|(_, share, _)| share.0);
            let most = shares.clone().max().unwrap_or(0);
            let listed: u32 = shares.clone().sum();
            match Probability(listed).other().0 > most {
                true => cases.len(),
                false => shares.clone().position(|share| share == most).unwrap_or(0),
            }
        }
        Terminator::Jump(_)
        | Terminator::Return(_)
        | Terminator::Tail(..)
        | Terminator::Take(_)
        | Terminator::Never => 0,
    }
}
