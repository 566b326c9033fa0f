//! The ways of a fast function: how control comes from its begin to each commit; and the function
//! without some of them.
//!
//! In: a fast function. Out: the blocks that commit, the share of runs of the guard that come there
//! by the probabilities of branches and attempts, and the blocks on the way. An exit has no
//! probability: the shares are those of runs that leave at none.

use crate::ir::edit::compact;
use crate::ir::graph::Graph;
use crate::ir::{
    Block, BlockId, Edge, Function, Instruction, Op, Probability, Terminator, Type, Value,
};
use std::collections::BTreeMap;

/// A way that is taken in a smaller share of runs is rare.
pub const RARE: Probability = Probability(50_000);

/// The ways of a fast function.
pub struct Ways<'f> {
    /// The function.
    pub function: &'f Function,
    /// Its blocks in an order in which control goes through them.
    pub graph: Graph,
    /// By block: a commit stands in it, or behind it.
    pub commits: Vec<bool>,
    /// By block: a commit stands in it, or before it.
    done: Vec<bool>,
}

impl<'f> Ways<'f> {
    /// Finds the ways of a function.
    pub fn of(function: &'f Function) -> Ways<'f> {
        let graph = Graph::of(function).expect("the verifier passes acyclic graphs alone");
        let has = |id: BlockId| function.block(id).commit().is_some();
        let next = |id: BlockId| {
            let edges = function.block(id).terminator.edges().into_iter();
            edges.map(|edge| edge.block).collect::<Vec<_>>()
        };
        let mut commits = vec![false; function.blocks.len()];
        for id in graph.order.iter().rev() {
            commits[id.at()] = has(*id) || next(*id).iter().any(|one| commits[one.at()]);
        }
        let mut done = vec![false; function.blocks.len()];
        for id in &graph.order {
            done[id.at()] |= has(*id);
            let is_done = done[id.at()];
            next(*id).iter().for_each(|one| done[one.at()] |= is_done);
        }
        Ways {
            function,
            graph,
            commits,
            done,
        }
    }

    /// Returns true if a block stands in the guard: a commit stands behind it alone.
    pub fn is_in_guard(&self, id: BlockId) -> bool {
        self.commits[id.at()] && !self.done[id.at()]
    }

    /// Both ways behind a block, if both commit, and the shares of runs that take them.
    pub fn fork(&self, id: BlockId) -> Option<[(BlockId, Probability); 2]> {
        let end = &self.function.block(id).terminator;
        let (Terminator::Branch { likely, .. } | Terminator::Try { likely, .. }) = end else {
            return None;
        };
        let edges = end.edges();
        let ways = [(edges[0].block, *likely), (edges[1].block, likely.other())];
        let commits = |(way, _): &(BlockId, Probability)| self.commits[way.at()];
        ways.iter().all(commits).then_some(ways)
    }

    /// The edge of a block that is rare.
    pub fn rare(&self, id: BlockId) -> Option<usize> {
        let ways = self.fork(id)?;
        ways.iter().position(|(_, share)| *share < RARE)
    }

    /// The blocks on each way to another, with that.
    pub fn before(&self, leaf: BlockId) -> Vec<BlockId> {
        let before = self.graph.order.iter().copied();
        before
            .filter(|id| self.graph.dominates(*id, leaf))
            .collect()
    }

    /// The blocks with commits, each with the share of runs of the guard that come there.
    pub fn leaves(&self) -> Vec<(BlockId, f64)> {
        let mut shares = vec![0.0; self.function.blocks.len()];
        shares[0] = 1.0;
        let mut leaves = Vec::new();
        for id in &self.graph.order {
            let share = shares[id.at()];
            let block = self.function.block(*id);
            if block.commit().is_some() {
                leaves.push((*id, share));
                continue;
            }
            let ways = self.fork(*id);
            for edge in block.terminator.edges() {
                let of_way = ways.iter().flatten().find(|(way, _)| *way == edge.block);
                let own = of_way.map_or(1.0, |(_, share)| f64::from(share.0) / 1e6);
                shares[edge.block.at()] += share * own;
            }
        }
        leaves
    }

    /// The edge of a block behind which none of some commits stands.
    pub fn not_to(&self, id: BlockId, most: &BTreeMap<BlockId, f64>) -> Option<usize> {
        let ways = self.fork(id)?.map(|(way, _)| way);
        let is_left = |way: &BlockId| {
            let behind = self.function.behind(*way);
            !behind.iter().any(|id| most.contains_key(id))
        };
        ways.iter().position(is_left)
    }
}

/// A fast function without ways of its guard: `leaving` says which edge of a block leaves. None if
/// something is tried before it, or no edge leaves.
pub fn without(
    function: &Function,
    leaving: impl Fn(&Ways<'_>, BlockId) -> Option<usize>,
) -> Option<Function> {
    if function.fast.is_some() {
        return None;
    }
    let ways = Ways::of(function);
    let mut hot = function.clone();
    let blocks = ways.graph.order.iter().copied();
    let edges = blocks.filter(|id| ways.is_in_guard(*id));
    let edges = edges.filter_map(|id| Some((id, leaving(&ways, id)?)));
    let edges: Vec<(BlockId, usize)> = edges.collect();
    for (id, edge) in &edges {
        if !asks(&mut hot, &function.name, *id, *edge) {
            let exit = exit(&mut hot, &function.name, *id, *edge);
            let end = &mut hot.blocks[id.at()].terminator;
            *end.edges_mut().swap_remove(*edge) = exit;
        }
    }
    compact(&mut hot);
    (!edges.is_empty()).then_some(hot)
}

/// Leaves in the place of an edge of a branch. False if the block ends in something else.
fn asks(hot: &mut Function, name: &str, id: BlockId, edge: usize) -> bool {
    let Terminator::Branch {
        condition,
        then,
        otherwise,
        ..
    } = &hot.block(id).terminator
    else {
        return false;
    };
    let (condition, stays) = match edge {
        0 => (*condition, otherwise.clone()),
        _ => (*condition, then.clone()),
    };
    let leaves = match edge {
        0 => condition,
        _ => hot.define(Type::BIT),
    };
    let block = &mut hot.blocks[id.at()];
    if leaves != condition {
        block
            .instructions
            .push(step(Op::Not, &[condition], &[leaves]));
    }
    let exit = step(Op::Exit(name.to_string()), &[leaves], &[]);
    block.instructions.push(exit);
    block.terminator = Terminator::Jump(stays);
    true
}

fn step(op: Op, operands: &[Value], results: &[Value]) -> Instruction {
    Instruction {
        op,
        operands: operands.to_vec(),
        results: results.to_vec(),
        span: None,
    }
}

/// A new block that leaves, in the place of that behind an edge; returns the edge to it.
fn exit(hot: &mut Function, name: &str, from: BlockId, edge: usize) -> Edge {
    let one = hot.define(Type::BIT);
    let edge = hot.blocks[from.at()].terminator.edges()[edge].clone();
    let made = hot.block(edge.block).parameters[edge.arguments.len()..].to_vec();
    let parameters = made.into_iter().map(|value| {
        let of = hot.type_of(value);
        hot.define(of)
    });
    let parameters = parameters.collect();
    hot.blocks.push(Block {
        parameters,
        instructions: vec![
            step(Op::Number(1, 1), &[], &[one]),
            step(Op::Exit(name.to_string()), &[one], &[]),
        ],
        terminator: Terminator::Never,
        span: None,
    });
    Edge::to(BlockId(hot.blocks.len() as u32 - 1))
}
