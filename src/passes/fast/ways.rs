//! The ways of a fast function: how control comes from its begin to each commit.
//!
//! In: a fast function. Out: the blocks that commit, the share of runs of the guard that come there
//! by the probabilities of branches and attempts, and the blocks on the way. An exit has no
//! probability: the shares are those of runs that leave at none.

use crate::ir::graph::Graph;
use crate::ir::{BlockId, Function, Probability, Terminator};
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
