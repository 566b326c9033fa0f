//! The graph of a function's blocks: predecessors, an order in which each block stands behind those
//! that lead to it, dominators.
//!
//! Graphs have no cycles, so one pass in order finds everything.

use super::function::Function;
use super::ids::BlockId;

/// What is known of a graph.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Graph {
    /// By block: the blocks that lead to it, one for each edge.
    pub before: Vec<Vec<BlockId>>,
    /// All blocks that are reached, each behind those that lead to it.
    pub order: Vec<BlockId>,
    /// By block: the nearest block on all ways to it; none of the first, and of those that are not
    /// reached.
    pub dominator: Vec<Option<BlockId>>,
}

/// A cycle: a block that leads to itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cycle(pub BlockId);

impl Graph {
    /// That of a function; its edges lead to blocks that it has.
    pub fn of(function: &Function) -> Result<Graph, Cycle> {
        let order = in_order(function)?;
        let mut before = vec![Vec::new(); function.blocks.len()];
        for id in &order {
            for edge in function.block(*id).terminator.edges() {
                before[edge.block.at()].push(*id);
            }
        }
        let mut graph = Graph {
            before,
            order,
            dominator: vec![None; function.blocks.len()],
        };
        let mut depth = vec![0_u32; function.blocks.len()];
        for at in 1..graph.order.len() {
            let id = graph.order[at];
            let before = &graph.before[id.at()];
            let nearest = before
                .iter()
                .copied()
                .reduce(|one, other| graph.common(&depth, one, other));
            graph.dominator[id.at()] = nearest;
            depth[id.at()] = nearest.map_or(0, |one| depth[one.at()] + 1);
        }
        Ok(graph)
    }

    /// Returns true if all ways to a block lead through another, or it is that block.
    pub fn dominates(&self, one: BlockId, other: BlockId) -> bool {
        let mut at = Some(other);
        while let Some(block) = at {
            if block == one {
                return true;
            }
            at = self.dominator[block.at()];
        }
        false
    }

    fn common(&self, depth: &[u32], mut one: BlockId, mut other: BlockId) -> BlockId {
        while one != other {
            let lower = if depth[one.at()] >= depth[other.at()] {
                &mut one
            } else {
                &mut other
            };
            *lower = self.dominator[lower.at()].expect("all ways begin at the first block");
        }
        one
    }
}

/// Blocks in an order in which each stands behind those that lead to it.
fn in_order(function: &Function) -> Result<Vec<BlockId>, Cycle> {
    #[derive(Clone, Copy, PartialEq)]
    enum State {
        New,
        Open,
        Done,
    }
    let mut states = vec![State::New; function.blocks.len()];
    let mut order = Vec::new();
    let mut open = vec![(BlockId(0), 0)];
    states[0] = State::Open;
    while let Some((id, next)) = open.pop() {
        let edges = function.block(id).terminator.edges();
        // The last edge first, so that in the end the first way stands first.
        let Some(edge) = edges.len().checked_sub(next + 1).map(|at| edges[at]) else {
            states[id.at()] = State::Done;
            order.push(id);
            continue;
        };
        open.push((id, next + 1));
        match states[edge.block.at()] {
            State::New => {
                states[edge.block.at()] = State::Open;
                open.push((edge.block, 0));
            }
            State::Open => return Err(Cycle(edge.block)),
            State::Done => {}
        }
    }
    order.reverse();
    Ok(order)
}

#[cfg(test)]
mod tests {
    use super::super::build::Builder;
    use super::super::function::{Edge, Role, Terminator};
    use super::super::{Module, Probability};
    use super::*;

    #[test]
    fn a_join_is_dominated_by_the_branch() {
        let module = Module::default();
        let mut build = Builder::new("f", "", Role::Plain, &[]);
        let bit = build.number(&module, 1, 1);
        let (then, otherwise) = build.branch(bit, Probability::EVEN);
        let join = build.block(&[]);
        for arm in [then, otherwise] {
            build.go_to(arm);
            build.end(Terminator::Jump(Edge::to(join)));
        }
        build.go_to(join);
        build.end(Terminator::Return(Vec::new()));
        let function = build.finish(Vec::new());
        let graph = Graph::of(&function).expect("no cycle");
        assert_eq!(graph.order, [BlockId(0), then, otherwise, join]);
        assert_eq!(graph.dominator[join.at()], Some(BlockId(0)));
        assert!(graph.dominates(BlockId(0), join));
        assert!(!graph.dominates(then, join));
        assert_eq!(graph.before[join.at()].len(), 2);
    }

    #[test]
    fn a_block_that_leads_to_itself_is_found() {
        let mut build = Builder::new("f", "", Role::Plain, &[]);
        build.end(Terminator::Jump(Edge::to(BlockId(0))));
        let function = build.finish(Vec::new());
        assert_eq!(Graph::of(&function), Err(Cycle(BlockId(0))));
    }
}
