//! The graph of a function's blocks: predecessors, an order in which each block stands behind those
//! that lead to it, dominators.
//!
//! Graphs have no cycles, so one pass in order finds everything. Blocks above another are found in
//! the logarithm of its depth: beside its dominator each block has a jump to one further up (Myers,
//! "An applicative random-access stack", 1983).

use super::function::Function;
use super::ids::BlockId;

/// The order and the dominators of a graph.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Graph {
    /// By block: the blocks that lead to it, one for each edge.
    pub before: Vec<Vec<BlockId>>,
    /// All blocks that are reached, each behind those that lead to it.
    pub order: Vec<BlockId>,
    /// By block: the nearest block on all ways to it; none of the first, and of those that are not
    /// reached.
    pub dominator: Vec<Option<BlockId>>,
    /// By block: how many dominate it.
    depth: Vec<u32>,
    /// By block: one that dominates it, further up than its dominator; itself, of the first.
    jump: Vec<BlockId>,
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
        let blocks = function.blocks.len();
        let mut graph = Graph {
            before,
            order,
            dominator: vec![None; blocks],
            depth: vec![0; blocks],
            jump: vec![BlockId(0); blocks],
        };
        for at in 1..graph.order.len() {
            let id = graph.order[at];
            let before = graph.before[id.at()].iter().copied();
            let Some(above) = before.reduce(|one, other| graph.meet(one, other)) else {
                continue;
            };
            graph.dominator[id.at()] = Some(above);
            graph.depth[id.at()] = graph.depth[above.at()] + 1;
            let (near, far) = (
                graph.jump[above.at()],
                graph.jump[graph.jump[above.at()].at()],
            );
            let [own, first, second] = [above, near, far].map(|block| graph.depth[block.at()]);
            let alike = own - first == first - second;
            graph.jump[id.at()] = if alike { far } else { above };
        }
        Ok(graph)
    }

    /// Returns true if all ways to a block lead through another, or it is that block.
    pub fn dominates(&self, one: BlockId, other: BlockId) -> bool {
        let depth = self.depth[one.at()];
        self.depth[other.at()] >= depth && self.at_depth(other, depth) == one
    }

    /// The blocks that each block dominates directly, in the order of the graph. A walk from the
    /// first block, each followed by those below it, is such an order, too.
    pub fn below(&self) -> Vec<Vec<BlockId>> {
        let mut below = vec![Vec::new(); self.dominator.len()];
        for id in &self.order {
            if let Some(above) = self.dominator[id.at()] {
                below[above.at()].push(*id);
            }
        }
        below
    }

    /// The block at a depth that dominates a block, or is it.
    fn at_depth(&self, mut block: BlockId, depth: u32) -> BlockId {
        while self.depth[block.at()] > depth {
            let jump = self.jump[block.at()];
            block = if self.depth[jump.at()] >= depth {
                jump
            } else {
                self.dominator[block.at()].expect("all ways begin at the first block")
            };
        }
        block
    }

    /// The nearest block that dominates two.
    fn meet(&self, one: BlockId, other: BlockId) -> BlockId {
        let depth = self.depth[one.at()].min(self.depth[other.at()]);
        let [mut one, mut other] = [one, other].map(|block| self.at_depth(block, depth));
        while one != other {
            let jumps = [one, other].map(|block| self.jump[block.at()]);
            [one, other] = if jumps[0] == jumps[1] {
                [one, other].map(|block| self.dominator[block.at()].expect("they have one above"))
            } else {
                jumps
            };
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
    fn dominators_are_the_blocks_on_all_ways() {
        let mut random = fastrand::Rng::with_seed(7);
        for _round in 0..100 {
            let count = random.u32(2..40);
            let mut build = Builder::new("f", "", Role::Plain, &[(super::super::Type::BIT, "")]);
            let condition = build.parameter(0);
            for _block in 1..count {
                build.block(&[]);
            }
            for block in 0..count {
                build.go_to(BlockId(block));
                let later = |random: &mut fastrand::Rng| {
                    Edge::to(BlockId(random.u32(block + 1..count.min(block + 6))))
                };
                build.end(if block + 1 == count {
                    Terminator::Return(Vec::new())
                } else {
                    Terminator::Branch {
                        condition,
                        likely: Probability::EVEN,
                        then: Edge::to(BlockId(block + 1)),
                        otherwise: later(&mut random),
                    }
                });
            }
            let function = build.finish(Vec::new());
            let graph = Graph::of(&function).expect("edges lead to later blocks");
            for without in (0..count).map(BlockId) {
                let mut reached = vec![false; count as usize];
                reached[0] = without != BlockId(0);
                for (id, block) in function.all_blocks() {
                    for edge in block.terminator.edges() {
                        reached[edge.block.at()] |= reached[id.at()] && edge.block != without;
                    }
                }
                for other in (0..count).map(BlockId) {
                    assert_eq!(graph.dominates(without, other), !reached[other.at()]);
                }
            }
        }
    }

    #[test]
    fn a_block_that_leads_to_itself_is_found() {
        let mut build = Builder::new("f", "", Role::Plain, &[]);
        build.end(Terminator::Jump(Edge::to(BlockId(0))));
        let function = build.finish(Vec::new());
        assert_eq!(Graph::of(&function), Err(Cycle(BlockId(0))));
    }
}
