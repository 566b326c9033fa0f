//! Separates the hot path of a fast function from its long paths (superblock formation; Hwu et al.,
//! "The Superblock", 1993).
//!
//! In: fast functions. Out: before each that has long paths, a hot function with the others alone.
//! It is so small that a compiler keeps its values in registers and expands it where frames arrive.
//! An exit of it changes nothing, so the rest is tried then, and the reaction in the end.
//!
//! ```text
//! fast fn arrive.fast(%m: msg) {          fast fn arrive.hot(%m: msg) {
//!   branch (eq %type, 1), b1, b2     =>     exit arrive.fast (ne %type, 1)
//! b1: commit ..    (few operations)         commit ..
//! b2: commit ..    (many)
//!                                         fast fn arrive.fast(%m: msg), first arrive.hot {
//!                                           exit arrive.fast (eq %type, 1)
//!                                           commit ..
//! ```
//!
//! Of two paths that commit, one whose events go to reactions inside the stack alone is long. Of
//! two others, the one with more operations is long, if these are more than [`LONGEST`].

use crate::ir::edit::compact;
use crate::ir::effects::Effects;
use crate::ir::graph::Graph;
use crate::ir::op::{Event, Target};
use crate::ir::{
    Block, BlockId, Edge, Function, FunctionId, Instruction, Module, Op, Probability, Role,
    Terminator, Type, Value,
};
use crate::passes::fast::order_guards;
use std::collections::BTreeSet;

/// A way that is taken in a smaller share of runs is rare.
pub const RARE: Probability = Probability(50_000);

/// The longer of two ways stays if it has so many operations at most.
const LONGEST: usize = 160;

/// A hot function has so many operations less than the one before which it is tried.
const FEWEST: usize = 20;

/// Gives each fast function another that is tried before it, if that is much shorter.
pub fn run(module: &mut Module) {
    let all = (0..module.functions.len() as u32).map(FunctionId);
    let fast = all.filter(|id| module.function(*id).role == Role::Fast);
    let fast: Vec<FunctionId> = fast.collect();
    let effects = Effects::of_functions(module);
    for whole in fast {
        let function = module.function(whole);
        let count = |function: &Function| function.instructions().count();
        let hot = without(function, |ways, id| ways.longer(id));
        let Some(mut hot) = hot.filter(|hot| count(hot) + FEWEST <= count(function)) else {
            continue;
        };
        order_guards::order(module, &effects, &mut hot);
        // The whole function does not repeat paths of the hot one, which has left before.
        let done = Ways::of(function).kept(|ways, id| ways.longer(id));
        let rest = without(function, |ways, id| ways.only_to(id, &done));
        if let Some(mut rest) = rest {
            order_guards::order(module, &effects, &mut rest);
            module.functions[whole.at()] = rest;
        }
        try_first(module, whole, hot, "hot");
    }
}

/// Has a function tried before another, under the name of the reaction with an end.
pub fn try_first(module: &mut Module, whole: FunctionId, hot: Function, end: &str) {
    let reaction = hot.name.rsplit_once('.').map_or("", |(before, _)| before);
    let name = module.free_name(&format!("{reaction}.{end}"));
    let id = FunctionId(module.functions.len() as u32);
    module.functions.push(Function { name, ..hot });
    module.functions[whole.at()].fast = Some(id);
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

/// The ways of a fast function.
pub struct Ways<'f> {
    function: &'f Function,
    graph: Graph,
    /// By block: a commit stands in it, or behind it.
    commits: Vec<bool>,
    /// By block: a commit stands in it, or before it.
    done: Vec<bool>,
}

impl<'f> Ways<'f> {
    fn of(function: &'f Function) -> Ways<'f> {
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

    fn is_in_guard(&self, id: BlockId) -> bool {
        self.commits[id.at()] && !self.done[id.at()]
    }

    /// Both ways behind a block, if both commit, and the shares of runs that take them.
    fn fork(&self, id: BlockId) -> Option<[(BlockId, Probability); 2]> {
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

    /// The blocks that are reached without edges that leave.
    fn kept(&self, leaving: impl Fn(&Ways<'_>, BlockId) -> Option<usize>) -> BTreeSet<BlockId> {
        let mut open = vec![BlockId(0)];
        let mut seen = BTreeSet::new();
        while let Some(id) = open.pop() {
            if !seen.insert(id) {
                continue;
            }
            let leaves = self.is_in_guard(id).then(|| leaving(self, id)).flatten();
            let edges = self.function.block(id).terminator.edges().into_iter();
            let edges = edges.enumerate().filter(|(at, _)| Some(*at) != leaves);
            open.extend(edges.map(|(_, edge)| edge.block));
        }
        seen
    }

    /// The edge of a block all of whose commits are among some blocks.
    fn only_to(&self, id: BlockId, done: &BTreeSet<BlockId>) -> Option<usize> {
        let ways = self.fork(id)?.map(|(way, _)| way);
        let is_done = |way: &BlockId| {
            let behind = self.function.behind(*way);
            let mut commits = behind.iter();
            commits.all(|id| self.function.block(*id).commit().is_none() || done.contains(id))
        };
        ways.iter().position(is_done)
    }

    /// The edge of a block that leads to the longer of two ways, if that is long.
    fn longer(&self, id: BlockId) -> Option<usize> {
        let ways = self.fork(id)?.map(|(way, _)| way);
        let behind = ways.map(|way| self.function.behind(way));
        let told = behind
            .each_ref()
            .map(|all| all.iter().any(|id| self.tells(*id)));
        if told[0] != told[1] {
            return Some(usize::from(told[0]));
        }
        let operations = |id: &BlockId| self.function.block(*id).instructions.len();
        let sizes = behind.map(|all| all.iter().map(operations).sum::<usize>());
        let longer = usize::from(sizes[1] > sizes[0]);
        let is_long = sizes[longer] > LONGEST;
        is_long.then_some(longer)
    }

    /// A block has an event for a port or a link.
    fn tells(&self, id: BlockId) -> bool {
        let block = self.function.block(id);
        let is_told = |event: &Event| !matches!(event.target, Target::Function(_));
        let sent = block.instructions.iter().any(|one| match &one.op {
            Op::Output(events) | Op::Queue(_, events) => events.iter().any(is_told),
            _other => false,
        });
        sent || matches!(&block.terminator, Terminator::Tail(event, _) if is_told(event))
    }
}
