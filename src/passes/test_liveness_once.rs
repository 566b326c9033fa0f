//! Instances are tested where an event comes from the agenda alone.
//!
//! A reaction begins with a test whether its instance still has a state, since an event may wait
//! while the instance ends. In: a module. Out: the body of such a reaction is a reaction of its own
//! where somebody hands an event on to it for an instance that is known to have a state; the test
//! stays before it for events that wait.
//!
//! ```text
//! event fn udp.send(%0: i32, %m: msg) {        event fn udp.send(%0: i32, %m: msg) {
//!   try live udp.session %0 -> b1, b2            try live udp.session %0 -> b1, b2
//! b1(%u): ..                                   b1(%u): tail udp.send.live(%0, %m)
//! ```

use crate::ir::edit::compact;
use crate::ir::graph::Graph;
use crate::ir::op::{Attempt, Event, Op, Target};
use crate::ir::{
    Block, BlockId, Edge, Function, FunctionId, Instruction, KindId, Module, Terminator, Type,
    Value,
};
use std::collections::{BTreeMap, BTreeSet};

/// Tests instances of all reactions of a module once.
pub fn run(module: &mut Module) {
    let tested: BTreeMap<FunctionId, KindId> = (0..module.functions.len() as u32)
        .map(FunctionId)
        .filter_map(|id| Some((id, module.function(id).tests_live()?)))
        .collect();
    let mut changes: Vec<(FunctionId, BlockId, FunctionId)> = Vec::new();
    for (at, function) in module.functions.iter().enumerate() {
        for (block, target) in handed_on_alive(module, function, &tested) {
            changes.push((FunctionId(at as u32), block, target));
        }
    }
    let targets: BTreeSet<FunctionId> = changes.iter().map(|(_, _, target)| *target).collect();
    let first = module.functions.len() as u32;
    let bodies = targets.iter().zip(first..);
    let bodies: BTreeMap<FunctionId, FunctionId> = bodies
        .map(|(target, at)| (*target, FunctionId(at)))
        .collect();
    for (id, block, target) in changes {
        let end = &mut module.functions[id.at()].blocks[block.at()].terminator;
        if let Terminator::Tail(event, _) = end {
            event.target = Target::Function(bodies[&target]);
        }
    }
    for target in targets {
        divide(module, target, tested[&target]);
    }
}

/// The blocks at whose end a function hands an event on to a reaction that tests its instance,
/// though that is known to have a state.
fn handed_on_alive(
    module: &Module,
    function: &Function,
    tested: &BTreeMap<FunctionId, KindId>,
) -> Vec<(BlockId, FunctionId)> {
    let frees = function
        .instructions()
        .any(|one| matches!(one.op, Op::Free(_)));
    if frees {
        return Vec::new();
    }
    let graph = Graph::of(function).expect("the verifier passes acyclic graphs alone");
    let alive = alive(function);
    let mut found = Vec::new();
    for (id, block) in function.all_blocks() {
        if let Terminator::Tail(event, operands) = &block.terminator
            && let Target::Function(target) = event.target
            && let Some(kind) = tested.get(&target)
            && let Some(all) = alive.get(&operands[0])
            && all.iter().any(|(known, since)| {
                lives_as_long(module, *known, *kind) && graph.dominates(*since, id)
            })
        {
            found.push((id, target));
        }
    }
    found
}

/// By index: the kinds of instances that have a state, and from which block on.
fn alive(function: &Function) -> BTreeMap<Value, Vec<(KindId, BlockId)>> {
    let mut alive: BTreeMap<Value, Vec<(KindId, BlockId)>> = BTreeMap::new();
    let mut since: BTreeMap<Value, BlockId> = BTreeMap::new();
    for (id, block) in function.all_blocks() {
        since.extend(block.parameters.iter().map(|one| (*one, id)));
        let results = block.instructions.iter().flat_map(|one| &one.results);
        since.extend(results.map(|one| (*one, id)));
    }
    for (id, block) in function.all_blocks() {
        for instruction in &block.instructions {
            match (&instruction.op, &instruction.operands[..]) {
                (Op::At(kind), [index]) => {
                    alive.entry(*index).or_default().push((*kind, id));
                }
                (Op::Index, [instance]) => {
                    if let Type::Instance(kind) = function.type_of(*instance) {
                        let index = instruction.results[0];
                        alive
                            .entry(index)
                            .or_default()
                            .push((kind, since[instance]));
                    }
                }
                _other => {}
            }
        }
        if let Terminator::Try {
            attempt: Attempt::Live(kind),
            operands,
            done,
            failed,
            ..
        } = &block.terminator
            && done.block != failed.block
        {
            alive
                .entry(operands[0])
                .or_default()
                .push((*kind, done.block));
        }
    }
    alive
}

/// An instance of one kind has a state as long as that of another with the same index.
fn lives_as_long(module: &Module, known: KindId, kind: KindId) -> bool {
    let capacity = |kind: KindId| module.kinds[kind.at()].capacity;
    module.root(known) == module.root(kind) && capacity(known) <= capacity(kind)
}

/// Makes the body of a reaction a reaction of its own.
fn divide(module: &mut Module, id: FunctionId, kind: KindId) {
    let whole = module.functions[id.at()].clone();
    let mut body = whole.clone();
    body.name = module.free_name(&format!("{}.live", whole.name));
    tests_no_more(&mut body, kind);
    let copy = whole
        .fast
        .filter(|copy| module.function(*copy).tests_live() == Some(kind));
    body.fast = copy;
    if let Some(copy) = copy {
        tests_no_more(&mut module.functions[copy.at()], kind);
        module.functions[id.at()].fast = None;
    }
    module.functions.push(body);
    let target = FunctionId(module.functions.len() as u32 - 1);
    let own = &mut module.functions[id.at()];
    let parameters = own.blocks[0].parameters.clone();
    let arguments = parameters.len() as u32;
    let event = Event {
        target: Target::Function(target),
        arguments,
    };
    let alive = BlockId(own.blocks.len() as u32);
    let instance = own.define(Type::Instance(kind));
    own.blocks.push(Block {
        parameters: vec![instance],
        instructions: Vec::new(),
        terminator: Terminator::Tail(event, parameters),
        span: None,
    });
    if let Terminator::Try { done, .. } = &mut own.blocks[0].terminator {
        done.block = alive;
    }
    compact(own);
}

/// Replaces the test with which a function begins: its instance is known to have a state.
fn tests_no_more(function: &mut Function, kind: KindId) {
    let Terminator::Try { operands, done, .. } = &function.blocks[0].terminator else {
        unreachable!("it begins with a test");
    };
    let (index, block) = (operands[0], done.block);
    let instance = function.define(Type::Instance(kind));
    let first = &mut function.blocks[0];
    first
        .instructions
        .push(Instruction::new(Op::At(kind), &[index], &[instance]));
    first.terminator = Terminator::Jump(Edge {
        block,
        arguments: vec![instance],
    });
    compact(function);
}
