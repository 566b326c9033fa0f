//! Removes the blocks of one side that another side has.

use super::shared::{Pair, Shared};
use crate::ir::edit::{change_operands, compact, substitute};
use crate::ir::graph::Graph;
use crate::ir::{Block, BlockId, Edge, Function, Instruction, Op, Probability, Terminator, Value};
use std::collections::{BTreeMap, BTreeSet};

/// Returns the function in which shared blocks of the sides of a branch stand once; none if a value
/// that is not constant would be used where it is not computed. Other rules may be broken: one side
/// may have used up a message before.
pub fn stand_once(shared: &Shared, branch: BlockId) -> Option<Function> {
    let compared = shared.compared.function;
    let mut function = compared.clone();
    let Terminator::Branch {
        condition,
        likely,
        then,
        otherwise,
    } = &compared.block(branch).terminator
    else {
        unreachable!("blocks of sides of a branch are compared");
    };
    let first = &shared.pairs[0];
    let asks = Asks {
        condition: *condition,
        likely: *likely,
        is_then_gone: then.block == first.gone,
    };
    for pair in &shared.pairs {
        match pair.ends {
            true => ask_on_edges(shared, pair, &asks, &mut function),
            false => ask_behind(shared, pair, &asks, &mut function),
        }
    }
    let entry = entry(first, &mut function);
    let leads = Edge {
        block: entry,
        arguments: given(shared, branch, &mut function)?,
    };
    let kept = if asks.is_then_gone { otherwise } else { then };
    function.blocks[branch.at()].terminator = match *kept == leads {
        true => Terminator::Jump(leads),
        false => asks.leads(kept.clone(), leads),
    };
    let mut by: Vec<Value> = (0..function.values.len() as u32).map(Value).collect();
    for (gone, kept) in &shared.in_place {
        by[gone.at()] = *kept;
    }
    substitute(&mut function, &by);
    repeat_constants(&mut function).then(|| {
        compact(&mut function);
        function
    })
}

/// The bit of the branch, which is asked again where the sides differ.
struct Asks {
    condition: Value,
    likely: Probability,
    is_then_gone: bool,
}

impl Asks {
    fn leads(&self, kept: Edge, gone: Edge) -> Terminator {
        let (then, otherwise) = match self.is_then_gone {
            true => (gone, kept),
            false => (kept, gone),
        };
        Terminator::Branch {
            condition: self.condition,
            likely: self.likely,
            then,
            otherwise,
        }
    }
}

/// Puts the branch behind what both blocks of a pair do; each goes on with its own rest.
fn ask_behind(shared: &Shared, pair: &Pair, asks: &Asks, function: &mut Function) {
    let rest = |id: BlockId, from: usize| {
        let block = shared.compared.function.block(id);
        Block {
            parameters: Vec::new(),
            instructions: block.instructions[from..].to_vec(),
            ..block.clone()
        }
    };
    let own = pair.of_kept.end;
    let first = BlockId(function.blocks.len() as u32);
    let rests = [rest(pair.kept, own), rest(pair.gone, pair.of_gone)];
    function.blocks.extend(rests);
    let block = &mut function.blocks[pair.kept.at()];
    block.instructions.truncate(own);
    block.terminator = asks.leads(Edge::to(first), Edge::to(BlockId(first.0 + 1)));
}

/// Puts the branch on edges of a pair that lead elsewhere, or give something else.
fn ask_on_edges(shared: &Shared, pair: &Pair, asks: &Asks, function: &mut Function) {
    for (at, edges) in shared.edges(pair).into_iter().enumerate() {
        if shared.is_one(edges) {
            continue;
        }
        let (kept, gone) = edges;
        // The results of an attempt pass through the block that asks.
        let target = &shared.compared.function.block(kept.block).parameters;
        let results = target[kept.arguments.len()..].to_vec();
        let results = results.into_iter().map(|one| {
            let of = function.type_of(one);
            function.define(of)
        });
        let results: Vec<Value> = results.collect();
        let with = |edge: &Edge, block: BlockId| Edge {
            block,
            arguments: edge.arguments.iter().chain(&results).copied().collect(),
        };
        let is_inside = shared.is_inside(edges);
        let other = if is_inside { kept.block } else { gone.block };
        let asking = Block {
            parameters: results.clone(),
            instructions: Vec::new(),
            terminator: asks.leads(with(kept, kept.block), with(gone, other)),
            span: None,
        };
        let id = BlockId(function.blocks.len() as u32);
        function.blocks.push(asking);
        let terminator = &mut function.blocks[pair.kept.at()].terminator;
        *terminator.edges_mut().swap_remove(at) = Edge::to(id);
    }
}

/// The block in which what is shared begins: behind the instructions of one side alone.
fn entry(first: &Pair, function: &mut Function) -> BlockId {
    if first.of_kept.start == 0 {
        return first.kept;
    }
    let id = BlockId(function.blocks.len() as u32);
    let block = &mut function.blocks[first.kept.at()];
    let instructions = block.instructions.split_off(first.of_kept.start);
    let to = Terminator::Jump(Edge::to(id));
    let terminator = std::mem::replace(&mut block.terminator, to);
    let span = block.span;
    function.blocks.push(Block {
        parameters: Vec::new(),
        instructions,
        terminator,
        span,
    });
    id
}

/// The arguments of the side that goes for the first shared block; zero for a parameter that this
/// side does not need.
fn given(shared: &Shared, branch: BlockId, function: &mut Function) -> Option<Vec<Value>> {
    let parameters = shared.parameters.iter();
    let given = parameters.map(|parameter| match shared.bound.get(parameter) {
        Some(value) => Some(*value),
        None => {
            let of = function.type_of(*parameter);
            let zero = Op::zero(of)?;
            let value = function.define(of);
            let zero = Instruction::new(zero, &[], &[value]);
            function.blocks[branch.at()].instructions.push(zero);
            Some(value)
        }
    });
    given.collect()
}

/// Repeats constants in blocks that use them and are reached without their definition. Returns
/// false if another value is used like this.
fn repeat_constants(function: &mut Function) -> bool {
    let graph = Graph::of(function).expect("sides of a branch do not lead back to it");
    let mut homes: Vec<Option<BlockId>> = vec![None; function.values.len()];
    let mut constants: BTreeMap<Value, Op> = BTreeMap::new();
    for (id, block) in function.all_blocks() {
        let results = block.instructions.iter().flat_map(|one| &one.results);
        for value in block.parameters.iter().chain(results) {
            homes[value.at()] = Some(id);
        }
        let all = block.instructions.iter();
        let all = all.filter(|one| one.op.is_constant());
        constants.extend(all.map(|one| (one.results[0], one.op.clone())));
    }
    for id in graph.order.iter().copied() {
        let block = function.block(id);
        let operands = block.instructions.iter().flat_map(|one| &one.operands);
        let uses = operands.copied().chain(block.terminator.uses());
        let is_missing =
            |value: &Value| homes[value.at()].is_none_or(|home| !graph.dominates(home, id));
        let missing: BTreeSet<Value> = uses.filter(is_missing).collect();
        let mut by: BTreeMap<Value, Value> = BTreeMap::new();
        let mut instructions = Vec::new();
        for value in missing {
            let Some(constant) = constants.get(&value) else {
                return false;
            };
            let copy = function.define(function.type_of(value));
            instructions.push(Instruction::new(constant.clone(), &[], &[copy]));
            by.insert(value, copy);
        }
        let change = |value: &mut Value| *value = by.get(value).copied().unwrap_or(*value);
        let block = &mut function.blocks[id.at()];
        let operands = block.instructions.iter_mut();
        operands.flat_map(|one| &mut one.operands).for_each(change);
        change_operands(&mut block.terminator, &mut { change });
        instructions.append(&mut block.instructions);
        block.instructions = instructions;
    }
    true
}
