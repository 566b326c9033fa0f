//! Caches guards: what a fast function asks of its session alone is asked once, and again only when
//! a field that it asks has been written (memoisation with invalidation; guards of the bypass of
//! Ensemble 4.1).
//!
//! In: a module with fast functions. Out: exits whose conditions hang on the fields and keys of the
//! instance that a fast function finds, and on values set at the start, are one pure function of
//! that instance. A cache of each instance remembers that none of them leaves; a store to a field
//! that they read disarms it. A key of the instance stands for the part of a frame by which the
//! instance is found. Exits that ask a field that fast functions write themselves stay.
//!
//! ```text
//! exit a (ne (load s.state %i), 4)        branch (load valid s.steady %i), go, ask @ 99%
//! exit b (load s.closing %i)         =>   ask: %1 = call s.steady(%i); exit s.steady (not %1)
//!                                              recompute s.steady %i, %1; jump go
//!                                         go:
//! store s.closing %j, 1                   store s.closing %j, 1; disarm s.steady %j
//! ```

use crate::ir::build::Builder;
use crate::ir::definitions::Definitions;
use crate::ir::effects::{Effects, Resource, may_trap};
use crate::ir::graph::Graph;
use crate::ir::op::{Arithmetic, Op};
use crate::ir::{
    Attempt, Block, BlockId, Cache, CacheId, Edge, Function, FunctionId, Instruction, KindId,
    Module, Probability, Region, Role, Terminator, Type, Value,
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
        let has_cache = module.functions[at]
            .instructions()
            .any(|one| matches!(one.op, Op::Load(Region::Valid(_))));
        if is_fast && !has_cache {
            cache(module, &written, at);
        }
    }
}

/// All that fast functions write behind their commits.
fn written(module: &Module) -> BTreeSet<Resource> {
    let fast = module.functions.iter();
    let fast = fast.filter(|function| function.role == Role::Fast);
    let instructions = fast.flat_map(Function::instructions);
    let effects = instructions.map(|one| Effects::of(module, &one.op));
    effects.flat_map(|effects| effects.writes).collect()
}

/// The place where a function finds an instance.
struct Found {
    /// The block that ends in the search.
    block: BlockId,
    /// The block behind it, with the instance as its last parameter.
    done: BlockId,
    /// The function leaves where no instance is found: exits before the search are as good behind
    /// it.
    only_found: bool,
    instance: Value,
    kind: KindId,
    /// By the value by which it was found: its key.
    keys: BTreeMap<Value, Op>,
}

fn found(module: &Module, function: &Function) -> Option<Found> {
    let mut blocks = function.all_blocks();
    blocks.find_map(|(id, block)| match &block.terminator {
        Terminator::Try {
            attempt: Attempt::Find(kind),
            operands,
            done,
            failed,
            ..
        } => {
            let failed = &function.block(failed.block).terminator;
            let keys = &module.kinds[kind.at()].keys;
            let keys = operands.iter().zip(keys);
            let keys = keys.map(|(value, key)| (*value, Op::Load(Region::Field(*kind, *key))));
            Some(Found {
                block: id,
                done: done.block,
                only_found: matches!(failed, Terminator::Never),
                instance: *function.block(done.block).parameters.last()?,
                kind: *kind,
                keys: keys.collect(),
            })
        }
        _ => None,
    })
}

/// Caches the guards of one fast function.
fn cache(module: &mut Module, written: &BTreeSet<Resource>, at: usize) {
    let function = module.functions[at].clone();
    let Some(found) = found(module, &function) else {
        return;
    };
    let hoisted = Hoisted {
        module,
        function: &function,
        definitions: Definitions::of(&function),
        found: &found,
        written,
    };
    let exits = hoisted.exits();
    if exits.len() < FEWEST {
        return;
    }
    let name = format!("{}.steady", module.kinds[found.kind.at()].name);
    let name = module.free_name(&name);
    let mut asks = hoisted.function(&name, &exits);
    fold::fold(&mut asks);
    let removed = exits.values().flat_map(|(places, _)| places);
    let removed: BTreeSet<(BlockId, usize)> = removed.copied().collect();
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
    let effects = Effects::of_functions(module);
    let reads = effects[asked.at()].reads.clone();
    for other in 0..module.functions.len() {
        let mut function = module.functions[other].clone();
        if disarm(&mut function, &reads, (id, found.kind)) {
            module.functions[other] = function;
        }
    }
    let mut function = module.functions[fast.at()].clone();
    fold::fold(&mut function);
    value_numbering::number(module, &effects, &mut function);
    dead_code::clean(module, &effects, &mut function);
    module.functions[fast.at()] = function;
}

/// Exits that become a function of the instance.
struct Hoisted<'h> {
    module: &'h Module,
    function: &'h Function,
    definitions: Definitions<'h>,
    found: &'h Found,
    written: &'h BTreeSet<Resource>,
}

/// Exits by what they ask: the places where they stand, and the bit that leaves at one of them.
type Exits = BTreeMap<String, (Vec<(BlockId, usize)>, Value)>;

impl Hoisted<'_> {
    /// The exits that hang on the instance alone, and that stand on all ways to the search or
    /// behind it: they are *anticipated* there (code motion; Morel and Renvoise, 1979).
    fn exits(&self) -> Exits {
        let graph = Graph::of(self.function);
        let graph = graph.expect("the verifier passes acyclic graphs alone");
        let mut all = Exits::new();
        // By block: what is asked there or on all ways behind it; none of a block that only leaves.
        let mut asked: Vec<Option<BTreeSet<String>>> = vec![None; self.function.blocks.len()];
        for id in graph.order.iter().rev() {
            let block = self.function.block(*id);
            let is_before = graph.dominates(*id, self.found.block);
            if !is_before && !graph.dominates(self.found.done, *id) {
                continue;
            }
            let edges = block.terminator.edges().into_iter();
            let behind = edges.filter_map(|edge| asked[edge.block.at()].clone());
            let met = behind.reduce(|one, other| one.intersection(&other).cloned().collect());
            let ends = block.terminator.edges().is_empty();
            let leaves = matches!(block.terminator, Terminator::Never);
            let mut own = met.or((ends && !leaves).then(BTreeSet::new));
            for (at, instruction) in block.instructions.iter().enumerate() {
                let bit = matches!(instruction.op, Op::Exit(_)).then(|| instruction.operands[0]);
                let bit = bit.filter(|bit| self.is_of_instance(*bit, &mut 0));
                let stays = |bit: &Value| {
                    is_before && (!self.found.only_found || self.protects(*bit, &graph))
                };
                let Some(bit) = bit.filter(|bit| !stays(bit)) else {
                    continue;
                };
                let what = self.what(bit);
                let exit = all.entry(what.clone()).or_insert((Vec::new(), bit));
                exit.0.push((*id, at));
                own.get_or_insert_with(BTreeSet::new).insert(what);
            }
            asked[id.at()] = own;
        }
        let anticipated = asked[self.found.done.at()].take().unwrap_or_default();
        all.retain(|what, (places, _)| {
            let mut places = places.iter();
            let is_before = places.any(|(id, _)| graph.dominates(*id, self.found.block));
            is_before || anticipated.contains(what)
        });
        all
    }

    /// An exit before the search keeps an operation before it from a trap, such as a division by 0:
    /// it stays there.
    fn protects(&self, bit: Value, graph: &Graph) -> bool {
        let asked = self.parts(bit);
        let before = self.function.all_blocks();
        let mut before = before.filter(|(id, _)| graph.dominates(*id, self.found.block));
        before.any(|(_, block)| {
            let mut trapping = block.instructions.iter().filter(|one| may_trap(&one.op));
            trapping.any(|one| {
                let mut operands = one.operands.iter();
                operands.any(|operand| !self.parts(*operand).is_disjoint(&asked))
            })
        })
    }

    /// The keys, loads and answers on which a value hangs.
    fn parts(&self, value: Value) -> BTreeSet<Value> {
        let mut parts = BTreeSet::new();
        let mut seen = BTreeSet::new();
        let mut open = vec![value];
        while let Some(value) = open.pop() {
            if !seen.insert(value) {
                continue;
            }
            match self.definitions.get(value) {
                _ if self.found.keys.contains_key(&value) => {
                    parts.insert(value);
                }
                Some(one) if matches!(one.op, Op::Load(_) | Op::Ask(..)) => {
                    parts.insert(value);
                }
                Some(one) => open.extend(&one.operands),
                None => {}
            }
        }
        parts
    }

    /// A text for what a value is: values with the same text are the same.
    fn what(&self, value: Value) -> String {
        if value == self.found.instance {
            return "own".to_string();
        }
        if let Some(key) = self.found.keys.get(&value) {
            return format!("{key:?}");
        }
        let instruction = self.definitions.get(value);
        let instruction = instruction.expect("it hangs on the instance alone");
        let at = instruction.results.iter().position(|one| *one == value);
        let operands = instruction.operands.iter().map(|one| self.what(*one));
        let operands: Vec<String> = operands.collect();
        format!("{:?}.{at:?}({})", instruction.op, operands.join(","))
    }

    /// A value hangs on the instance, its keys and values set at the start alone. `seen` bounds the
    /// work for values that are used again and again.
    fn is_of_instance(&self, value: Value, seen: &mut usize) -> bool {
        *seen += 1;
        if *seen > 200 {
            return false;
        }
        if self.found.keys.contains_key(&value) {
            return true;
        }
        let Some(instruction) = self.definitions.get(value) else {
            return false;
        };
        let op = &instruction.op;
        let operands = &instruction.operands;
        match op {
            Op::Load(Region::Field(kind, _)) => {
                *kind == self.found.kind && operands[..] == [self.found.instance] && self.stays(op)
            }
            Op::Ask(_, place) => {
                let is_own = place.kind == self.found.kind;
                let mut operands = operands.iter().skip(1);
                is_own
                    && instruction.operands[0] == self.found.instance
                    && operands.all(|one| self.is_of_instance(*one, seen))
                    && self.stays(op)
            }
            Op::Load(Region::Setting(_)) => true,
            Op::Call(id) => {
                Effects::of_function(self.module, *id).only_read_settings()
                    && operands.iter().all(|one| self.is_of_instance(*one, seen))
            }
            op => op.is_total() && operands.iter().all(|one| self.is_of_instance(*one, seen)),
        }
    }

    /// Fast functions do not write what an operation reads.
    fn stays(&self, op: &Op) -> bool {
        let effects = Effects::of(self.module, op);
        let mut reads = effects.reads.iter();
        reads.all(|one| !self.written.contains(one))
    }

    /// `instance -> i1`: whether none of the exits is taken.
    fn function(&self, name: &str, exits: &Exits) -> Function {
        let instance = Type::Instance(self.found.kind);
        let owner = &self.function.owner;
        let mut build = Builder::new(name, owner, Role::Pure, &[(instance, "own")]);
        let mut known = BTreeMap::from([(self.found.instance, build.parameter(0))]);
        let mut stays = build.number(self.module, 1, 1);
        for (_, bit) in exits.values() {
            let leaves = self.copied(&mut build, &mut known, *bit);
            let not = build.value(self.module, Op::Not, &[leaves]);
            let and = Op::Arithmetic(Arithmetic::And);
            stays = build.value(self.module, and, &[stays, not]);
        }
        build.end(Terminator::Return(vec![stays]));
        build.finish(vec![Type::BIT])
    }

    /// A value of the fast function, computed of the instance.
    fn copied(
        &self,
        build: &mut Builder,
        known: &mut BTreeMap<Value, Value>,
        value: Value,
    ) -> Value {
        if let Some(known) = known.get(&value) {
            return *known;
        }
        let copy = match self.found.keys.get(&value) {
            Some(key) => {
                let own = build.parameter(0);
                build.value(self.module, key.clone(), &[own])
            }
            None => {
                let instruction = self.definitions.get(value);
                let instruction = instruction.expect("it hangs on the instance alone");
                let operands = instruction.operands.iter();
                let operands: Vec<Value> = operands
                    .map(|one| self.copied(build, known, *one))
                    .collect();
                let results = build.op(self.module, instruction.op.clone(), &operands);
                let at = instruction.results.iter().position(|one| *one == value);
                results[at.expect("it is a result")]
            }
        };
        known.insert(value, copy);
        copy
    }
}

/// Asks the cache where the instance has been found, in the place of exits.
fn ask(
    function: &mut Function,
    found: &Found,
    removed: &BTreeSet<(BlockId, usize)>,
    (cache, asked, name): (CacheId, FunctionId, &str),
) {
    for (at, block) in function.blocks.iter_mut().enumerate() {
        let id = BlockId(at as u32);
        let mut place = 0;
        block.instructions.retain(|_| {
            place += 1;
            !removed.contains(&(id, place - 1))
        });
    }
    let span = function.block(found.done).span;
    let mut define = |of: Type| {
        function.values.push(crate::ir::function::Definition {
            of,
            hint: String::new(),
        });
        Value(function.values.len() as u32 - 1)
    };
    let [valid, stays, leaves] = [Type::BIT; 3].map(&mut define);
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

/// Disarms a cache behind each write to what it reads, and in new instances. True if there was one.
fn disarm(
    function: &mut Function,
    reads: &BTreeSet<Resource>,
    (cache, kind): (CacheId, KindId),
) -> bool {
    let mut changed = false;
    let disarms = |instance: Value, span| Instruction {
        op: Op::Disarm(cache),
        operands: vec![instance],
        results: Vec::new(),
        span,
    };
    // Behind an attempt: the instance, or none where the attempt gives it.
    let mut at_begin: Vec<(BlockId, Option<Value>)> = Vec::new();
    for block in &mut function.blocks {
        let mut all = Vec::new();
        for instruction in std::mem::take(&mut block.instructions) {
            let written = match &instruction.op {
                Op::Store(region) => Some(Resource::Region(*region)),
                Op::Change(_, place) => Some(Resource::Container(*place)),
                _ => None,
            };
            let instance = match &instruction.op {
                Op::Begin(of) if *of == kind => Some(instruction.results[0]),
                _ if written.is_some_and(|one| reads.contains(&one)) => {
                    Some(instruction.operands[0])
                }
                _ => None,
            };
            let span = instruction.span;
            all.push(instruction);
            all.extend(instance.map(|instance| disarms(instance, span)));
            changed |= instance.is_some();
        }
        block.instructions = all;
        if let Terminator::Try {
            attempt,
            operands,
            done,
            ..
        } = &block.terminator
        {
            match (attempt, attempt.place()) {
                (Attempt::Create(of), _) if *of == kind => {
                    at_begin.push((done.block, None));
                }
                (_, Some(place)) if reads.contains(&Resource::Container(place)) => {
                    at_begin.push((done.block, Some(operands[0])));
                }
                _ => {}
            }
        }
    }
    changed |= !at_begin.is_empty();
    for (id, instance) in at_begin {
        let block = &mut function.blocks[id.at()];
        let made = block.parameters.last().copied();
        let instance = instance.or(made).expect("an attempt gives an instance");
        let span = block.span;
        block.instructions.insert(0, disarms(instance, span));
    }
    changed
}
