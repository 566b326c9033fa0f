//! Global value numbering, with loads that nothing has changed since, stores that are read again,
//! and conditions that are known from a branch.
//!
//! In: a function and the effects of all that it calls. Out: a value that was computed before, on
//! all ways, is not computed again. Each region has a *version*, another behind each operation that
//! writes it; a load is the same as one of the same place and version. Graphs have no cycles, so
//! one pass in order finds everything (Briggs, Cooper and Simpson, "Value numbering", 1997).
//!
//! ```text
//! store udp.port %u, %1        branch %c, b1, b2
//! %2 = load udp.port %u        b1: %2 = select %c, %x, %y
//! uses of %2 are uses of %1    uses of %2 are uses of %x; so does a branch on %c go one way
//! ```

use crate::ir::definitions::Definitions;
use crate::ir::edit::{compact, substitute, substitute_in_turn};
use crate::ir::effects::{Effects, Resource};
use crate::ir::graph::Graph;
use crate::ir::mergeable::{Mergeable, Numbers};
use crate::ir::op::{Attempt, Op};
use crate::ir::{
    Block, BlockId, Edge, Function, Instruction, KindId, Module, Region, Terminator, Type, Value,
};
use rustc_hash::FxHashMap;

/// Numbers the values of all functions of a module.
pub fn run(module: &mut Module) {
    let effects = Effects::of_functions(module);
    for at in 0..module.functions.len() {
        let mut function = module.functions[at].clone();
        number(module, &effects, &mut function);
        module.functions[at] = function;
    }
}

/// Regions that were written, by their number, each with that of the last time. Others have version
/// 0.
type Versions = Mergeable<u32>;

/// An operation, its operands, and the versions of what it reads.
type Key = (Op, Vec<Value>, Vec<u32>);

struct Numbering<'n> {
    module: &'n Module,
    effects: &'n [Effects],
    graph: Graph,
    /// By value: the first that is the same.
    by: Vec<Value>,
    /// By operation: the blocks that compute it, and their results.
    found: FxHashMap<Key, Vec<(BlockId, Value)>>,
    /// By block: what is known there from its edge.
    begins: FxHashMap<BlockId, (Key, Value)>,
    resources: Numbers<Resource>,
    versions: Versions,
    last: u32,
}

/// Numbers the values of a function.
pub fn number(module: &Module, effects: &[Effects], function: &mut Function) {
    let graph = Graph::of(function).expect("the verifier passes acyclic graphs alone");
    let mut numbering = Numbering {
        module,
        effects,
        by: (0..function.values.len() as u32).map(Value).collect(),
        found: FxHashMap::default(),
        begins: FxHashMap::default(),
        resources: Numbers::new(),
        versions: Versions::new(),
        last: 0,
        graph,
    };
    let mut ends: Vec<Option<Versions>> = vec![None; function.blocks.len()];
    // Each block is followed by those that it dominates, in the order of the graph. So each stands
    // behind those that lead to it, and what a block computes is known until the last of them.
    let below = numbering.graph.below();
    let mut open = vec![BlockId(0)];
    while let Some(id) = open.pop() {
        open.extend(below[id.at()].iter().rev());
        numbering.versions = numbering.joined(id, &ends);
        numbering.parameters(function, id);
        numbering.block(function, id);
        ends[id.at()] = Some(numbering.versions.clone());
    }
    substitute(function, &numbering.by);
    known_conditions(function, &numbering.graph);
    compact(function);
}

impl Numbering<'_> {
    /// The versions at the beginning of a block: where its predecessors differ, a new one.
    fn joined(&mut self, id: BlockId, ends: &[Option<Versions>]) -> Versions {
        let mut before = self.graph.before[id.at()].iter();
        let Some(first) = before.next() else {
            return Versions::new();
        };
        let end = |id: &BlockId| ends[id.at()].as_ref().expect("an order has these before");
        let mut joined = end(first).clone();
        for other in before {
            joined.merge(end(other), &mut |_, _, _| {
                self.last += 1;
                Some(self.last)
            });
        }
        joined
    }

    /// A parameter to which all edges bring the same value is that value.
    fn parameters(&mut self, function: &Function, id: BlockId) {
        let parameters = function.block(id).parameters.len();
        if id == BlockId(0) || parameters == 0 {
            return;
        }
        let edges: Vec<&Edge> = self.graph.before[id.at()]
            .iter()
            .flat_map(|before| function.block(*before).terminator.edges())
            .filter(|edge| edge.block == id)
            .collect();
        for at in 0..parameters {
            let own = function.block(id).parameters[at];
            if function.type_of(own).is_linear() {
                continue;
            }
            let mut given = edges.iter().map(|edge| edge.arguments.get(at));
            let first = given.next().flatten().map(|value| self.by[value.at()]);
            let Some(first) = first else {
                continue;
            };
            let same = |value: Option<&Value>| value.is_some_and(|one| self.by[one.at()] == first);
            if given.all(same) {
                self.by[own.at()] = first;
            }
        }
    }

    fn block(&mut self, function: &mut Function, id: BlockId) {
        if let Some((key, value)) = self.begins.remove(&id) {
            self.find(key, id, value);
        }
        let mut instructions = std::mem::take(&mut function.blocks[id.at()].instructions);
        instructions.retain_mut(|instruction| {
            for operand in &mut instruction.operands {
                *operand = self.by[operand.at()];
            }
            self.keeps(function, id, instruction)
        });
        function.blocks[id.at()].instructions = instructions;
        let Block { terminator, .. } = function.block(id);
        if let Terminator::Try {
            attempt,
            operands,
            done,
            ..
        } = terminator
        {
            let effects = Effects::of_attempt_with_called(self.module, self.effects, attempt);
            self.write(&effects);
            self.finds(function, attempt, operands, done);
        }
    }

    /// Notes the value of an instruction; false if it is known already.
    fn keeps(&mut self, function: &Function, id: BlockId, instruction: &Instruction) -> bool {
        let op = &instruction.op;
        let mut effects = Effects::with_called(self.module, self.effects, op);
        match op {
            Op::At(kind) => effects.to_mut().reads.extend(self.slots(*kind)),
            // A view may be read until something is written there: behind that it is another.
            Op::Look | Op::Before | Op::Around => {
                effects.to_mut().reads.insert(Resource::Bytes);
            }
            _other => {}
        }
        let is_value = match instruction.results[..] {
            [result] => !function.type_of(result).is_linear(),
            _ => false,
        };
        if is_value && effects.are_none() && !matches!(op, Op::Loop(..) | Op::Run(..)) {
            let result = instruction.results[0];
            let mut operands = instruction.operands.clone();
            if op.is_commutative() {
                operands.sort();
            }
            let key = self.key(op.clone(), operands, &effects);
            return match self.known(&key, id) {
                Some(first) => {
                    self.by[result.at()] = first;
                    false
                }
                None => {
                    self.find(key, id, result);
                    true
                }
            };
        }
        self.write(&effects);
        // An opaque value may alias the field that it was loaded from, or memory of a C
        // function: a later load stays.
        if let Op::Store(region) = op
            && let Some(value) = instruction.operands.last()
            && !matches!(function.type_of(*value), Type::Opaque(_))
        {
            self.stored(*region, id, &instruction.operands);
        }
        true
    }

    /// A load behind a store gives what was stored.
    fn stored(&mut self, region: Region, id: BlockId, operands: &[Value]) {
        let (value, place) = operands.split_last().expect("a store has a value");
        let load = Op::Load(region);
        let effects = Effects::of(self.module, &load);
        let key = self.key(load, place.to_vec(), &effects);
        self.find(key, id, *value);
    }

    /// Notes that a block has the result of an operation.
    fn find(&mut self, key: Key, id: BlockId, result: Value) {
        let all = self.found.entry(key).or_default();
        while all
            .pop_if(|(block, _)| !self.graph.dominates(*block, id))
            .is_some()
        {}
        all.push((id, result));
    }

    /// An instance that an attempt finds has this index, until an instance of its kind is freed.
    fn finds(&mut self, function: &Function, attempt: &Attempt, operands: &[Value], done: &Edge) {
        if let Attempt::Live(kind) = attempt
            && self.graph.before[done.block.at()].len() == 1
        {
            let result = function.block(done.block).parameters.last();
            let result = *result.expect("an attempt gives an instance");
            let mut effects = Effects::default();
            effects.reads.extend(self.slots(*kind));
            let index = self.by[operands[0].at()];
            let key = self.key(Op::At(*kind), vec![index], &effects);
            self.begins.insert(done.block, (key, result));
        }
    }

    /// The resources that are others behind each `free` of an instance of a kind.
    fn slots(&self, kind: KindId) -> [Resource; 2] {
        [kind, self.module.root(kind)].map(Resource::Instances)
    }

    fn key(&mut self, op: Op, operands: Vec<Value>, effects: &Effects) -> Key {
        let reads = effects.reads.iter();
        let numbers = reads.map(|one| self.resources.of(*one));
        let versions = numbers.map(|number| self.versions.get(number).unwrap_or(0));
        (op, operands, versions.collect())
    }

    fn known(&mut self, key: &Key, id: BlockId) -> Option<Value> {
        let all = self.found.get_mut(key)?;
        // Blocks that do not dominate this one dominate none behind it either.
        while all
            .pop_if(|(block, _)| !self.graph.dominates(*block, id))
            .is_some()
        {}
        all.first().map(|(_, value)| *value)
    }

    fn write(&mut self, effects: &Effects) {
        for resource in &effects.writes {
            self.last += 1;
            self.versions
                .insert(self.resources.of(*resource), self.last);
        }
    }
}

/// Replaces branches and selections whose condition a branch above decides.
fn known_conditions(function: &mut Function, graph: &Graph) {
    let mut facts: Vec<(BlockId, Value, bool)> = Vec::new();
    let definitions = Definitions::of(function);
    for (_, block) in function.all_blocks() {
        let Terminator::Branch {
            condition,
            then,
            otherwise,
            ..
        } = &block.terminator
        else {
            continue;
        };
        for (edge, holds) in [(then, true), (otherwise, false)] {
            if graph.before[edge.block.at()].len() == 1 {
                let all = definitions.implied(*condition, holds).into_iter();
                facts.extend(all.map(|(bit, holds)| (edge.block, bit, holds)));
            }
        }
    }
    let mut by_bit: FxHashMap<Value, Vec<(BlockId, bool)>> = FxHashMap::default();
    for (block, bit, holds) in facts {
        by_bit.entry(bit).or_default().push((block, holds));
    }
    let known = |bit: Value, at: BlockId| {
        let all = by_bit.get(&bit)?.iter();
        let mut above = all.filter(|(block, _)| graph.dominates(*block, at));
        above.next().map(|(_, holds)| *holds)
    };
    let mut taken = Vec::new();
    let mut by: Vec<Value> = (0..function.values.len() as u32).map(Value).collect();
    for (id, block) in function.all_blocks() {
        for instruction in &block.instructions {
            if let (Op::Select, [condition, one, other]) =
                (&instruction.op, &instruction.operands[..])
                && let Some(holds) = known(*condition, id)
            {
                by[instruction.results[0].at()] = if holds { *one } else { *other };
            }
        }
        if let Terminator::Branch {
            condition,
            then,
            otherwise,
            ..
        } = &block.terminator
            && let Some(holds) = known(*condition, id)
        {
            taken.push((id, if holds { then } else { otherwise }.clone()));
        }
    }
    for (id, edge) in taken {
        function.blocks[id.at()].terminator = Terminator::Jump(edge);
    }
    substitute_in_turn(function, by);
}
