//! Disarms a cache: it holds nothing behind a write to what it depends on.
//!
//! In: a module with a new cache. Out: the same, with `disarm` behind each write to what the
//! function of the cache reads. Of a cache of instances, that of the instance is disarmed whose
//! field is written, or that begins.
//!
//! A function of a cache may ask whether its instance is found by some keys. One that is created
//! with the same keys is found in its place from then on. So before, the cache of the instance is
//! disarmed that is found by these keys.
//!
//! ```text
//! try create s %port -> b1, b2     =>     try find s %port -> f(%o), c
//!                                         f: disarm s.expected %o; jump c
//!                                         c: try create s %port -> b1, b2
//! ```

use crate::ir::effects::{Effects, Resource};
use crate::ir::function::Definition;
use crate::ir::{
    Attempt, Block, BlockId, CacheId, Edge, Function, Instruction, KindId, Lives, Module, Op,
    Probability, Terminator, Type, Value,
};
use crate::source::Span;
use std::collections::BTreeSet;

/// Disarms a cache in all functions of a module.
pub fn disarm(module: &mut Module, id: CacheId) {
    let cache = &module.caches[id.at()];
    let effects = Effects::of_functions(module);
    let disarming = Disarming {
        id,
        kind: cache.kind,
        reads: effects[cache.remembers.at()].reads.clone(),
    };
    let searches = cache.kind.filter(|kind| module.searches(id, *kind));
    for at in 0..module.functions.len() {
        let mut function = module.functions[at].clone();
        let mut changed = disarming.instructions(module, &mut function);
        changed |= disarming.attempts(module, &mut function);
        if let Some(kind) = searches {
            changed |= disarming.creates(&mut function, kind);
        }
        if changed {
            module.functions[at] = function;
        }
    }
}

/// Returns true if each write to what the function of a cache of instances reads names the one
/// instance whose field is written.
pub fn names_instances(module: &Module, reads: &BTreeSet<Resource>, kind: KindId) -> bool {
    let names = |function: &Function, effects: &Effects, operands: &[Value]| {
        let is_own = |value: &&Value| matches!(function.type_of(**value), Type::Instance(_));
        let own: BTreeSet<&Value> = operands.iter().filter(is_own).collect();
        effects.writes.is_disjoint(reads) || own.len() == 1
    };
    module.kinds[kind.at()].lives == Lives::Created
        && module.functions.iter().all(|function| {
            let mut instructions = function.instructions();
            instructions.all(|one| {
                let effects = Effects::of(module, &one.op);
                names(function, &effects, &one.operands)
            }) && function.blocks.iter().all(|block| match &block.terminator {
                Terminator::Try {
                    attempt, operands, ..
                } => {
                    let effects = Effects::of_attempt(module, attempt);
                    matches!(attempt, Attempt::Create(_)) || names(function, &effects, operands)
                }
                _other => true,
            })
        })
}

/// A cache that is disarmed.
struct Disarming {
    id: CacheId,
    kind: Option<KindId>,
    /// Everything that its function reads.
    reads: BTreeSet<Resource>,
}

impl Disarming {
    /// The operation, for an instance if the cache is one of instances.
    fn operation(&self, instance: Option<Value>, span: Option<Span>) -> Instruction {
        Instruction {
            op: Op::Disarm(self.id),
            operands: instance
                .filter(|_| self.kind.is_some())
                .into_iter()
                .collect(),
            results: Vec::new(),
            span,
        }
    }

    /// Effects change what the cache depends on.
    fn is_stale(&self, effects: &Effects) -> bool {
        !effects.writes.is_disjoint(&self.reads)
    }

    /// Disarms behind instructions. True if there was one that writes.
    fn instructions(&self, module: &Module, function: &mut Function) -> bool {
        let mut changed = false;
        for block in &mut function.blocks {
            let mut all = Vec::new();
            for instruction in std::mem::take(&mut block.instructions) {
                let disarmed = match &instruction.op {
                    Op::Begin(of) if Some(*of) == self.kind => Some(instruction.results.first()),
                    // An instance without a state has no cache.
                    Op::Free(_) if self.kind.is_some() => None,
                    op => {
                        let is_stale = self.is_stale(&Effects::of(module, op));
                        is_stale.then(|| instance(&function.values, &instruction.operands))
                    }
                };
                let disarms = disarmed.map(|one| self.operation(one.copied(), instruction.span));
                changed |= disarms.is_some();
                all.push(instruction);
                all.extend(disarms);
            }
            block.instructions = all;
        }
        changed
    }

    /// Disarms behind attempts that succeed. True if there was one that writes.
    fn attempts(&self, module: &Module, function: &mut Function) -> bool {
        let mut written: Vec<(BlockId, Option<Value>)> = Vec::new();
        for (id, block) in function.all_blocks() {
            let Terminator::Try {
                attempt, operands, ..
            } = &block.terminator
            else {
                continue;
            };
            match attempt {
                Attempt::Create(of) if Some(*of) == self.kind => written.push((id, None)),
                _ if self.is_stale(&Effects::of_attempt(module, attempt)) => {
                    written.push((id, instance(&function.values, operands).copied()));
                }
                _other => {}
            }
        }
        for (id, instance) in &written {
            let own = behind_attempt(function, *id);
            let block = &mut function.blocks[own.at()];
            let instance = instance.or(block.parameters.last().copied());
            let operation = self.operation(instance, block.span);
            block.instructions.insert(0, operation);
        }
        !written.is_empty()
    }

    /// Before an instance is created, disarms that which has the same keys.
    fn creates(&self, function: &mut Function, kind: KindId) -> bool {
        let blocks = function.all_blocks();
        let creates = blocks.filter_map(|(id, block)| match &block.terminator {
            Terminator::Try {
                attempt, operands, ..
            } if *attempt == Attempt::Create(kind) => Some((id, operands.clone())),
            _other => None,
        });
        let creates: Vec<(BlockId, Vec<Value>)> = creates.collect();
        for (id, keys) in &creates {
            if let Some(disarms) = found_before(function, kind, (*id, keys)) {
                let block = &mut function.blocks[disarms.at()];
                let operation = self.operation(block.parameters.last().copied(), block.span);
                block.instructions.insert(0, operation);
                continue;
            }
            let found = function.define(Type::Instance(kind));
            let next = function.blocks.len() as u32;
            let (disarms, create) = (BlockId(next), BlockId(next + 1));
            let block = &mut function.blocks[id.at()];
            let span = block.span;
            let searches = Terminator::Try {
                attempt: Attempt::Find(kind),
                operands: keys.clone(),
                likely: Probability(50_000),
                done: Edge::to(disarms),
                failed: Edge::to(create),
            };
            let creates = std::mem::replace(&mut block.terminator, searches);
            let new = |parameters, instructions, terminator| Block {
                parameters,
                instructions,
                terminator,
                span,
            };
            let operation = self.operation(Some(found), span);
            let goes = Terminator::Jump(Edge::to(create));
            let disarms = new(vec![found], vec![operation], goes);
            function.blocks.push(disarms);
            function.blocks.push(new(Vec::new(), Vec::new(), creates));
        }
        !creates.is_empty()
    }
}

/// The block in which the instance is disarmed that has the keys of one that is created right
/// behind.
fn found_before(
    function: &Function,
    kind: KindId,
    (create, keys): (BlockId, &[Value]),
) -> Option<BlockId> {
    let mut blocks = function.blocks.iter();
    blocks.find_map(|block| match &block.terminator {
        Terminator::Try {
            attempt: Attempt::Find(of),
            operands,
            done,
            failed,
            ..
        } => {
            let is_before = *of == kind && operands == keys && failed.block == create;
            let behind = function.block(done.block);
            let disarms = behind.instructions.first();
            let disarms = disarms.is_some_and(|one| matches!(one.op, Op::Disarm(_)));
            (is_before && disarms).then_some(done.block)
        }
        _other => None,
    })
}

/// The first instance among operands.
fn instance<'o>(values: &[Definition], operands: &'o [Value]) -> Option<&'o Value> {
    let is_instance = |value: &&Value| matches!(values[value.at()].of, Type::Instance(_));
    operands.iter().find(is_instance)
}

/// The block behind an attempt that ends a block and succeeds; a new one, if others lead there,
/// too.
fn behind_attempt(function: &mut Function, id: BlockId) -> BlockId {
    let Terminator::Try { done, .. } = &function.block(id).terminator else {
        panic!("an attempt ends the block");
    };
    let done = done.clone();
    let edges = function.blocks.iter();
    let edges = edges.flat_map(|block| block.terminator.edges());
    if edges.filter(|edge| edge.block == done.block).count() == 1 {
        return done.block;
    }
    let made = function.block(done.block).parameters[done.arguments.len()..].to_vec();
    let made = made.into_iter().map(|value| {
        let of = function.type_of(value);
        function.define(of)
    });
    let made: Vec<Value> = made.collect();
    let span = function.block(id).span;
    let own = BlockId(function.blocks.len() as u32);
    function.blocks.push(Block {
        parameters: made.clone(),
        instructions: Vec::new(),
        terminator: Terminator::Jump(Edge {
            block: done.block,
            arguments: [done.arguments, made].concat(),
        }),
        span,
    });
    if let Terminator::Try { done, .. } = &mut function.blocks[id.at()].terminator {
        *done = Edge::to(own);
    }
    own
}
