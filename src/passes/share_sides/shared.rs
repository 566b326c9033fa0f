//! Compares the blocks of two sides of a branch.
//!
//! In: a block of the side that stays, and the first block of the side that goes. Out: pairs of
//! blocks, each behind those that lead to it, and which value stands for which. Behind the first,
//! two blocks are a pair if all edges to one of them come from pairs whose other block has the same
//! edge to the other.

use crate::ir::graph::Graph;
use crate::ir::{
    Block, BlockId, Edge, Function, Instruction, Op, Probability, Terminator, Type, Value,
};
use std::collections::BTreeMap;
use std::ops::Range;

/// A function whose blocks are compared.
pub struct Compared<'f> {
    /// The function.
    pub function: &'f Function,
    /// Its graph.
    pub graph: Graph,
    /// By block: its place in the order of the graph.
    places: Vec<usize>,
    /// By value: the operation, if it is constant.
    constants: Vec<Option<&'f Op>>,
}

impl<'f> Compared<'f> {
    /// Prepares a function.
    pub fn of(function: &'f Function) -> Compared<'f> {
        let graph = Graph::of(function).expect("the verifier passes acyclic graphs alone");
        let mut places = vec![0; function.blocks.len()];
        for (place, id) in graph.order.iter().enumerate() {
            places[id.at()] = place;
        }
        let mut constants = vec![None; function.values.len()];
        for one in function.instructions().filter(|one| one.op.is_constant()) {
            constants[one.results[0].at()] = Some(&one.op);
        }
        Compared {
            function,
            graph,
            places,
            constants,
        }
    }
}

/// Two blocks that begin with the same instructions. Constants do not count: a block may have them
/// anywhere.
#[derive(Clone, Debug)]
pub struct Pair {
    /// The block that stays.
    pub kept: BlockId,
    /// The instructions of the block that stays that are the same as in the other.
    pub of_kept: Range<usize>,
    /// The block that goes.
    pub gone: BlockId,
    /// Behind so many of its instructions it differs.
    pub of_gone: usize,
    /// True if all the rest of the blocks is the same, too.
    pub ends: bool,
}

/// Blocks that both sides of a branch have.
pub struct Shared<'c, 'f> {
    /// The function of both sides.
    pub compared: &'c Compared<'f>,
    /// The blocks. The first pair is where the side that goes begins.
    pub pairs: Vec<Pair>,
    /// By value of a block that goes: the value that stands for it.
    pub in_place: BTreeMap<Value, Value>,
    /// The parameters of the first block.
    pub parameters: &'f [Value],
    /// By parameter of the first block: its value on the side that goes.
    pub bound: BTreeMap<Value, Value>,
}

/// Edges from one pair to another: the block that would go, and the number of edges. None if edges
/// to the same block lead to different ones on the side that goes.
type Met = Option<(BlockId, usize)>;

impl<'c, 'f> Shared<'c, 'f> {
    /// Compares a block of the side that stays, without its first instructions, with the first of
    /// the side that goes, and all that follows. None if they have nothing in common.
    pub fn of(
        compared: &'c Compared<'f>,
        (first, skipped): (BlockId, usize),
        gone: BlockId,
    ) -> Option<Shared<'c, 'f>> {
        let block = |id: BlockId| compared.function.block(id);
        let parameters = &block(first).parameters[..];
        let mut shared = Shared {
            compared,
            pairs: Vec::new(),
            in_place: BTreeMap::new(),
            parameters: if skipped == 0 { parameters } else { &[] },
            bound: BTreeMap::new(),
        };
        if !block(gone).parameters.is_empty() {
            return None;
        }
        let pair = shared.pair((first, skipped), gone)?;
        let mut met: BTreeMap<usize, Met> = BTreeMap::new();
        shared.follow(pair, &mut met);
        while let Some((place, found)) = met.pop_first() {
            let kept = compared.graph.order[place];
            let Some((gone, edges)) = found else { continue };
            let all = [kept, gone].map(|id| compared.graph.before[id.at()].len());
            if all != [edges; 2] || !shared.take_parameters(kept, gone) {
                continue;
            }
            match shared.pair((kept, 0), gone) {
                Some(pair) => shared.follow(pair, &mut met),
                None => shared.give_parameters_back(gone),
            }
        }
        Some(shared)
    }

    /// Adds a pair, and notes where its edges lead.
    fn follow(&mut self, pair: Pair, met: &mut BTreeMap<usize, Met>) {
        if pair.ends {
            for (kept, gone) in self.edges(&pair) {
                if kept.block != gone.block {
                    let one = met.entry(self.compared.places[kept.block.at()]);
                    let one = one.or_insert(Some((gone.block, 0)));
                    *one = one.filter(|(known, _)| *known == gone.block);
                    *one = one.map(|(known, edges)| (known, edges + 1));
                }
            }
        }
        self.pairs.push(pair);
    }

    fn block(&self, id: BlockId) -> &'f Block {
        self.compared.function.block(id)
    }

    /// The edges of both blocks of a pair.
    pub fn edges(&self, pair: &Pair) -> Vec<(&'f Edge, &'f Edge)> {
        let [kept, gone] = [pair.kept, pair.gone].map(|id| self.block(id).terminator.edges());
        kept.into_iter().zip(gone).collect()
    }

    /// Returns true if two edges lead to blocks that are a pair.
    pub fn is_inside(&self, (kept, gone): (&Edge, &Edge)) -> bool {
        let mut pairs = self.pairs.iter();
        pairs.any(|pair| (pair.kept, pair.gone) == (kept.block, gone.block))
    }

    /// Returns true if two edges need no branch between them: they lead to one block, or to a pair,
    /// and give it the same.
    pub fn is_one(&self, edges: (&Edge, &Edge)) -> bool {
        let (kept, gone) = edges;
        let mut given = kept.arguments.iter().zip(&gone.arguments);
        (kept.block == gone.block || self.is_inside(edges))
            && given.all(|(kept, gone)| match self.in_place.get(gone) {
                Some(own) => own == kept,
                None => self.is_known(*kept, *gone) || self.bound.get(kept) == Some(gone),
            })
    }

    /// Returns true if two values are one, or the same constant.
    fn is_known(&self, kept: Value, gone: Value) -> bool {
        let [own, other] = [kept, gone].map(|one| self.compared.constants[one.at()]);
        kept == gone || own.is_some() && own == other
    }

    fn take_parameters(&mut self, kept: BlockId, gone: BlockId) -> bool {
        let [kept, gone] = [kept, gone].map(|id| &self.block(id).parameters);
        let same = self.have_same_types(kept, gone);
        if same {
            let pairs = gone.iter().copied().zip(kept.iter().copied());
            self.in_place.extend(pairs);
        }
        same
    }

    fn give_parameters_back(&mut self, gone: BlockId) {
        for parameter in &self.block(gone).parameters {
            self.in_place.remove(parameter);
        }
    }

    fn have_same_types(&self, ones: &[Value], others: &[Value]) -> bool {
        let [ones, others] = [ones, others].map(|all| {
            let all = all.iter().map(|one| self.compared.function.type_of(*one));
            all.collect::<Vec<Type>>()
        });
        ones == others
    }

    /// Compares two blocks; none if they do not even begin with the same.
    fn pair(&mut self, (kept, skipped): (BlockId, usize), gone: BlockId) -> Option<Pair> {
        let [own, other] = [kept, gone].map(|id| self.block(id));
        let mut ones = computing(own).filter(|(at, _)| *at >= skipped);
        let mut others = computing(other);
        let mut pair = Pair {
            kept,
            of_kept: skipped..skipped,
            gone,
            of_gone: 0,
            ends: false,
        };
        loop {
            match (ones.next(), others.next()) {
                (Some((at, one)), Some((place, other))) if self.are_alike(one, other) => {
                    pair.of_kept.end = at + 1;
                    pair.of_gone = place + 1;
                }
                (None, None) => {
                    pair.ends = self.end_alike(&own.terminator, &other.terminator);
                    break;
                }
                _different => break,
            }
        }
        (pair.of_gone > 0 || pair.ends).then_some(pair)
    }

    /// Compares two instructions; if they are alike, the results of one stand for those of the
    /// other.
    fn are_alike(&mut self, kept: &Instruction, gone: &Instruction) -> bool {
        let alike = kept.op == gone.op
            && self.have_same_types(&kept.results, &gone.results)
            && self.are_same(&kept.operands, &gone.operands);
        if alike {
            let results = gone.results.iter().copied();
            self.in_place
                .extend(results.zip(kept.results.iter().copied()));
        }
        alike
    }

    fn end_alike(&mut self, kept: &Terminator, gone: &Terminator) -> bool {
        let numbers = |cases: &[(u64, Probability, Edge)]| -> Vec<u64> {
            cases.iter().map(|(number, ..)| *number).collect()
        };
        let alike = match (kept, gone) {
            (Terminator::Jump(_), Terminator::Jump(_))
            | (Terminator::Branch { .. }, Terminator::Branch { .. })
            | (Terminator::Return(_), Terminator::Return(_))
            | (Terminator::Take(_), Terminator::Take(_))
            | (Terminator::Never, Terminator::Never) => true,
            (Terminator::Switch { cases: own, .. }, Terminator::Switch { cases, .. }) => {
                numbers(own) == numbers(cases)
            }
            (Terminator::Try { attempt: own, .. }, Terminator::Try { attempt, .. }) => {
                own == attempt
            }
            (Terminator::Tail(own, _), Terminator::Tail(event, _)) => own == event,
            _different => false,
        };
        alike && self.are_same(&kept.operands(), &gone.operands())
    }

    fn are_same(&mut self, kept: &[Value], gone: &[Value]) -> bool {
        let bound = self.bound.clone();
        let mut both = kept.iter().zip(gone);
        let same = kept.len() == gone.len() && both.all(|(kept, gone)| self.is_same(*kept, *gone));
        if !same {
            self.bound = bound;
        }
        same
    }

    /// Returns true if one value stands for the other, is the same, or can take it as a parameter.
    fn is_same(&mut self, kept: Value, gone: Value) -> bool {
        match self.in_place.get(&gone) {
            Some(own) => *own == kept,
            None if self.parameters.contains(&kept) => {
                self.have_same_types(&[kept], &[gone])
                    && *self.bound.entry(kept).or_insert(gone) == gone
            }
            None => self.is_known(kept, gone),
        }
    }

    /// The number of instructions that would be gone, without constants, and without the branches
    /// and parameters that would be added.
    pub fn gain(&self) -> isize {
        let of_pair = |pair: &Pair| {
            let same = computing(self.block(pair.kept));
            let same = same.filter(|(at, _)| pair.of_kept.contains(at)).count();
            let edges = self.edges(pair);
            let asks = match pair.ends {
                true => edges.iter().filter(|edges| !self.is_one(**edges)).count(),
                false => 2,
            };
            (same + usize::from(pair.ends)) as isize - asks as isize
        };
        self.pairs.iter().map(of_pair).sum::<isize>() - 2 * self.parameters.len() as isize
    }
}

/// The instructions of a block without constants, each with its place.
fn computing(block: &Block) -> impl Iterator<Item = (usize, &Instruction)> {
    let all = block.instructions.iter().enumerate();
    all.filter(|(_, one)| !one.op.is_constant())
}
