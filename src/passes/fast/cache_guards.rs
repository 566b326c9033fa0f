//! Caches guards: what a fast function asks of its session alone is asked once, and again only when
//! a field that it asks has been written (memoisation with invalidation; guards of the bypass of
//! Ensemble 4.1).
//!
//! In: fast functions that ask their sessions first (`order_guards/hoist.rs`). Out: those exits are
//! one pure function of the instance. A cache of each instance remembers that none of them leaves;
//! a store to a field that they read disarms it.
//!
//! ```text
//! exit a (ne (load s.state %i), 4)        branch (load valid s.steady %i), go, ask @ 99%
//! exit b (load s.closing %i)         =>   ask: %1 = call s.steady(%i); exit s.steady (not %1)
//!                                              recompute s.steady %i, %1; jump go
//!                                         go:
//! store s.closing %j, 1                   store s.closing %j, 1; disarm s.steady %j
//! ```

use super::disarm::disarm;
use super::session::{Found, Session, written};
use crate::ir::build::Builder;
use crate::ir::effects::{Effects, Resource};
use crate::ir::op::{Arithmetic, Op};
use crate::ir::{
    Block, BlockId, Cache, CacheId, Edge, Function, FunctionId, Instruction, Module, Probability,
    Region, Role, Terminator, Type, Value,
};
use crate::passes::{dead_code, fold, value_numbering};
use std::collections::{BTreeMap, BTreeSet};

/// With fewer exits than this no cache pays for itself.
const FEWEST: usize = 3;

/// Caches the guards of all fast functions.
pub fn run(module: &mut Module) {
    let written = written(module);
    for at in 0..module.functions.len() {
        let is_fast = module.functions[at].role == Role::Fast;
        let is_hot = is_tried_for_frames(module, FunctionId(at as u32));
        let has_cache = module.functions[at]
            .instructions()
            .any(|one| matches!(one.op, Op::Load(Region::Valid(_))));
        if is_fast && !has_cache && !is_hot {
            cache(module, &written, at);
        }
    }
}

/// A function is tried before the fast function of a link: `expect_header` holds all that it asks.
fn is_tried_for_frames(module: &Module, id: FunctionId) -> bool {
    let mut links = module.links.iter();
    links.any(|link| {
        module
            .tried(link.arrives)
            .iter()
            .skip(1)
            .any(|one| *one == id)
    })
}

/// Caches the guards of one fast function.
fn cache(module: &mut Module, written: &BTreeSet<Resource>, at: usize) {
    let function = module.functions[at].clone();
    let Some(session) = Session::of(module, &function, written) else {
        return;
    };
    let exits = exits(&session);
    if exits.len() < FEWEST {
        return;
    }
    let found = session.found.clone();
    let name = format!("{}.steady", module.kinds[found.kind.at()].name);
    let name = module.free_name(&name);
    let mut asks = asks(&session, &name, exits.values());
    fold::fold(&mut asks);
    let removed: BTreeSet<usize> = exits.into_keys().collect();
    let id = CacheId(module.caches.len() as u32);
    let asked = FunctionId(at as u32);
    let fast = FunctionId(module.functions.len() as u32);
    let kind = Some(found.kind);
    module.caches.push(Cache {
        name: name.clone(),
        kind,
        remembers: asked,
    });
    // The function that is asked stands before the fast function, which calls it.
    module.functions[at] = asks;
    let mut function = function;
    ask(&mut function, &found, &removed, (id, asked, &name));
    module.functions.push(function);
    for other in &mut module.functions {
        if other.fast == Some(asked) {
            other.fast = Some(fast);
        }
    }
    disarm(module, id);
    let effects = Effects::of_functions(module);
    let mut function = module.functions[fast.at()].clone();
    fold::fold(&mut function);
    value_numbering::number(module, &effects, &mut function);
    dead_code::clean(module, &effects, &mut function);
    module.functions[fast.at()] = function;
}

/// The exits behind the search that hang on the instance alone: the index of their instruction, and
/// the bit that leaves.
fn exits(session: &Session<'_>) -> BTreeMap<usize, Value> {
    let done = session.function.block(session.found.done);
    let all = done.instructions.iter().enumerate();
    let all = all.filter(|(_, one)| matches!(one.op, Op::Exit(_)));
    let all = all.map(|(at, one)| (at, one.operands[0]));
    all.filter(|(_, bit)| session.is_of_instance(*bit))
        .collect()
}

/// `instance -> i1`: whether none of the exits is taken.
fn asks<'b>(session: &Session<'_>, name: &str, bits: impl Iterator<Item = &'b Value>) -> Function {
    let instance = Type::Instance(session.found.kind);
    let owner = &session.function.owner;
    let mut build = Builder::new(name, owner, Role::Pure, &[(instance, "own")]);
    let mut known = BTreeMap::from([(session.found.instance, build.parameter(0))]);
    let mut stays = build.number(session.module, 1, 1);
    for bit in bits {
        let leaves = copied(session, &mut build, &mut known, *bit);
        let not = build.value(session.module, Op::Not, &[leaves]);
        let and = Op::Arithmetic(Arithmetic::And);
        stays = build.value(session.module, and, &[stays, not]);
    }
    build.end(Terminator::Return(vec![stays]));
    build.finish(vec![Type::BIT])
}

/// A value of the fast function, computed of the instance.
fn copied(
    session: &Session<'_>,
    build: &mut Builder,
    known: &mut BTreeMap<Value, Value>,
    value: Value,
) -> Value {
    if let Some(known) = known.get(&value) {
        return *known;
    }
    let copy = match session.found.keys.get(&value) {
        Some(key) => {
            let own = build.parameter(0);
            build.value(session.module, key.clone(), &[own])
        }
        None => {
            let instruction = session.definitions.get(value);
            let instruction = instruction.expect("it hangs on the instance alone");
            let operands = instruction.operands.iter();
            let operands: Vec<Value> = operands
                .map(|one| copied(session, build, known, *one))
                .collect();
            let results = build.op(session.module, instruction.op.clone(), &operands);
            let at = instruction.results.iter().position(|one| *one == value);
            results[at.expect("it is a result")]
        }
    };
    known.insert(value, copy);
    copy
}

/// Asks the cache where the instance has been found, in the place of exits.
fn ask(
    function: &mut Function,
    found: &Found,
    removed: &BTreeSet<usize>,
    (cache, asked, name): (CacheId, FunctionId, &str),
) {
    let mut places = 0..;
    function.blocks[found.done.at()]
        .instructions
        .retain(|_| !removed.contains(&places.next().expect("there is always a next place")));
    let span = function.block(found.done).span;
    let [valid, stays, leaves] = [Type::BIT; 3].map(|of| function.define(of));
    let step = |op: Op, operands: &[Value], results: &[Value]| Instruction {
        op,
        operands: operands.to_vec(),
        results: results.to_vec(),
        span,
    };
    let instance = found.instance;
    let next = function.blocks.len() as u32;
    let (asks, goes) = (BlockId(next), BlockId(next + 1));
    let done = &mut function.blocks[found.done.at()];
    let load = step(Op::Load(Region::Valid(cache)), &[instance], &[valid]);
    let instructions = std::mem::replace(&mut done.instructions, vec![load]);
    let terminator = std::mem::replace(
        &mut done.terminator,
        Terminator::Branch {
            condition: valid,
            likely: Probability(990_000),
            then: Edge::to(goes),
            otherwise: Edge::to(asks),
        },
    );
    let block = |instructions: Vec<Instruction>, terminator: Terminator| Block {
        parameters: Vec::new(),
        instructions,
        terminator,
        span,
    };
    let asking = vec![
        step(Op::Call(asked), &[instance], &[stays]),
        step(Op::Not, &[stays], &[leaves]),
        step(Op::Exit(name.to_string()), &[leaves], &[]),
        step(Op::Recompute(cache), &[instance, stays], &[]),
    ];
    function
        .blocks
        .push(block(asking, Terminator::Jump(Edge::to(goes))));
    function.blocks.push(block(instructions, terminator));
}
