//! Rule 12: caches hold what their functions would give.
//!
//! In: a function with a graph, and the effects of all. Out: breaches. A walk in order keeps the
//! stale caches: their function reads something that was written since they were computed. They are
//! stale until they are disarmed or computed again, and until then nobody looks: there stands no
//! load, no call that loads, no output, and no end of the function.
//!
//! A cache of an instance depends on fields of that instance, so a store to another instance leaves
//! it alone. Two values are the same instance if one is found by the index of the other.

use super::breach::{Breach, Rule, Scope, Spot};
use crate::ir::definitions::Definitions;
use crate::ir::effects::{Effects, Resource, called};
use crate::ir::{
    Attempt, CacheId, Edge, Function, FunctionId, Instruction, KindId, Lives, Module, Op, Region,
    Role, Terminator, Type, Value,
};
use rustc_hash::FxHashMap;
use std::collections::{BTreeMap, BTreeSet};

/// By resource: the caches that depend on it, and whether on that of their own instance alone.
pub type Dependences = BTreeMap<Resource, Vec<(CacheId, bool)>>;

/// Finds the resources on which caches depend, and caches that depend on others than may be.
pub fn dependences(module: &Module, effects: &[Effects]) -> (Dependences, Vec<Breach>) {
    let mut dependences = Dependences::new();
    let mut breaches = Vec::new();
    for (at, cache) in module.caches.iter().enumerate() {
        let id = CacheId(at as u32);
        let function = module.function(cache.remembers);
        let mut wrong = |message: &str| {
            let message = format!("the cache {}: {message}", cache.name);
            breaches.push(Breach::of_module(Rule::Caches, message));
        };
        if function.role != Role::Pure {
            wrong("its function is not pure");
        }
        let of_instance = cache.kind.map(Type::Instance);
        let first = function.parameters().first();
        if of_instance.is_some() && first.map(|value| function.type_of(*value)) != of_instance {
            wrong("its function is not given the instance");
            continue;
        }
        let held = module.cached(id);
        if !held
            .iter()
            .all(|of| matches!(of, Type::Int(_) | Type::Bytes(_)))
        {
            wrong("it holds what is not kept");
        }
        let own = cache.kind.is_some_and(|kind| {
            let root = module.root(kind);
            reads_own(module, cache.remembers, root)
        });
        for resource in &effects[cache.remembers.at()].reads {
            match resource {
                Resource::Region(Region::Setting(_)) | Resource::Bytes => {}
                Resource::Region(Region::Now)
                | Resource::Buffers
                | Resource::Agenda
                | Resource::Outputs
                | Resource::Counters
                | Resource::Foreign
                | Resource::Yielded
                | Resource::Control => wrong("it depends on what changes all the time"),
                Resource::Region(_)
                | Resource::Container(_)
                | Resource::Instances(_)
                | Resource::Timers => {
                    dependences.entry(*resource).or_default().push((id, own));
                }
            }
        }
    }
    (dependences, breaches)
}

/// Returns true if a function reads no other instances than those that it is given, of kinds that
/// live with this one.
fn reads_own(module: &Module, id: FunctionId, root: KindId) -> bool {
    let function = module.function(id);
    let same = Identities::of(function);
    let parameters = function.parameters().iter();
    let given: BTreeSet<Value> = parameters.map(|value| same.of_value(*value)).collect();
    let is_own = |value: &Value| match function.type_of(*value) {
        Type::Instance(kind) if module.root(kind) == root => given.contains(&same.of_value(*value)),
        Type::Instance(_) => false,
        _ => true,
    };
    // Of an instance that is found, only the index is asked: whether it is the own one.
    let mut attempts = function.blocks.iter();
    attempts.all(|block| match &block.terminator {
        Terminator::Try { attempt, .. } => *attempt == Attempt::Find(root),
        _other => true,
    }) && function.instructions().all(|instruction| {
        let mut calls = called(module, &instruction.op).into_iter();
        let is_own = instruction.op == Op::Index || instruction.operands.iter().all(is_own);
        is_own && calls.all(|id| reads_own(module, id, root))
    })
}

/// Checks that caches are disarmed before anybody looks.
pub fn check(scope: &Scope<'_>, dependences: &Dependences) -> Vec<Breach> {
    if scope.module.caches.is_empty() {
        return Vec::new();
    }
    let mut walk = Walk {
        scope,
        dependences,
        same: Identities::of(scope.function),
        stale: Stale::new(),
        breaches: Vec::new(),
    };
    let mut at_begin = vec![Stale::new(); scope.function.blocks.len()];
    for id in &scope.graph.order {
        let block = scope.function.block(*id);
        walk.stale = std::mem::take(&mut at_begin[id.at()]);
        for (at, instruction) in block.instructions.iter().enumerate() {
            walk.instruction((*id, at), instruction);
        }
        let spot = (*id, block.instructions.len());
        match &block.terminator {
            Terminator::Return(_) | Terminator::Tail(..) | Terminator::Take(_) => {
                walk.looks(spot, |_| true);
            }
            _ => {}
        }
        if let Terminator::Try {
            attempt, operands, ..
        } = &block.terminator
        {
            match attempt {
                Attempt::Recall(id) => walk.looks(spot, |cache| cache == *id),
                Attempt::Create(kind) => walk.creates(spot, *kind, operands),
                _other => {}
            }
        }
        for (at, edge) in block.terminator.edges().into_iter().enumerate() {
            let before = walk.stale.clone();
            if let Terminator::Try {
                attempt, operands, ..
            } = &block.terminator
                && at == 0
            {
                walk.attempt(spot, attempt, operands, scope.results(edge));
            }
            walk.handed(edge);
            at_begin[edge.block.at()].extend(std::mem::replace(&mut walk.stale, before));
        }
    }
    walk.breaches
}

/// Stale caches, each with its instance.
type Stale = BTreeSet<(CacheId, Option<Value>)>;

struct Walk<'s> {
    scope: &'s Scope<'s>,
    dependences: &'s Dependences,
    same: Identities,
    stale: Stale,
    breaches: Vec<Breach>,
}

impl Walk<'_> {
    fn instruction(&mut self, spot: Spot, instruction: &Instruction) {
        let module = self.scope.module;
        let operands = &instruction.operands;
        match &instruction.op {
            Op::Load(Region::Valid(id) | Region::Cached(id, _)) => {
                self.looks(spot, |cache| cache == *id);
            }
            Op::Store(Region::Valid(_) | Region::Cached(..)) => {
                self.say(spot, "a cache is changed by `recompute` and `disarm`");
            }
            Op::Output(_) => self.looks(spot, |_| true),
            Op::Disarm(id) | Op::Recompute(id) => {
                self.wrote(spot, &Effects::of(module, &instruction.op), operands);
                let instance = self.instance(*id, operands.first().copied());
                self.stale.remove(&(*id, instance));
                return;
            }
            _ => {}
        }
        for id in called(module, &instruction.op) {
            let reads = &self.scope.effects[id.at()].reads;
            let caches = reads.iter().filter_map(|resource| match resource {
                Resource::Region(Region::Valid(id) | Region::Cached(id, _)) => Some(*id),
                _ => None,
            });
            let caches: BTreeSet<CacheId> = caches.collect();
            self.looks(spot, |cache| caches.contains(&cache));
        }
        let instances = match instruction.op {
            Op::Begin(_) => &instruction.results,
            _ => operands,
        };
        self.wrote(spot, &Effects::of(module, &instruction.op), instances);
        match instruction.op {
            Op::Begin(kind) => self.begins(kind, &instruction.results),
            Op::Free(kind) => {
                let stale = std::mem::take(&mut self.stale).into_iter();
                let is_gone = |(id, instance): &(CacheId, Option<Value>)| {
                    let own = module.caches[id.at()].kind;
                    own.is_some_and(|own| module.root(own) == module.root(kind))
                        && *instance == self.instance(*id, operands.first().copied())
                };
                self.stale = stale.filter(|one| !is_gone(one)).collect();
            }
            _ => {}
        }
    }

    fn attempt(&mut self, spot: Spot, attempt: &Attempt, operands: &[Value], results: &[Value]) {
        let effects = Effects::of_attempt(self.scope.module, attempt);
        match attempt {
            Attempt::Create(kind) => {
                self.wrote(spot, &effects, results);
                self.begins(*kind, results);
            }
            _ => self.wrote(spot, &effects, operands),
        }
    }

    /// The caches of a new instance are stale: another had its slot before.
    fn begins(&mut self, kind: KindId, instance: &[Value]) {
        let module = self.scope.module;
        for (at, cache) in module.caches.iter().enumerate() {
            let lives =
                |own: KindId| own == kind || module.kinds[own.at()].lives == Lives::With(kind);
            if cache.kind.is_some_and(lives) {
                let id = CacheId(at as u32);
                let instance = self.instance(id, instance.first().copied());
                self.stale.insert((id, instance));
            }
        }
    }

    /// An instance is created. The one that was found by its keys is found no more, so right before
    /// it is looked for, and its caches are disarmed that depend on that.
    fn creates(&mut self, spot: Spot, kind: KindId, keys: &[Value]) {
        let scope = self.scope;
        let found = Resource::Instances(kind);
        let depends = self.dependences.get(&found).into_iter().flatten();
        let depends = depends.filter(|(id, own)| *own && scope.module.searches(*id, kind));
        for (id, _) in depends.copied().collect::<Vec<_>>() {
            let mut blocks = scope.function.blocks.iter();
            let disarms = blocks.any(|block| match &block.terminator {
                Terminator::Try {
                    attempt,
                    operands,
                    done,
                    failed,
                    ..
                } => {
                    let behind = scope.function.block(done.block);
                    let is_disarmed = behind.instructions.iter().any(|one| {
                        one.op == Op::Disarm(id) && behind.parameters.ends_with(&one.operands)
                    });
                    *attempt == Attempt::Find(kind)
                        && operands == keys
                        && is_disarmed
                        && [failed.block] == [spot.0]
                        && behind.terminator == Terminator::Jump(failed.clone())
                }
                _other => false,
            });
            if !disarms {
                let name = &scope.module.caches[id.at()].name;
                let message = format!(
                    "the cache {name} of an instance with the same keys is not disarmed before"
                );
                self.say(spot, &message);
            }
        }
    }

    /// Something was written of the instance among these values.
    fn wrote(&mut self, spot: Spot, effects: &Effects, values: &[Value]) {
        let module = self.scope.module;
        let instances = values
            .iter()
            .filter_map(|value| self.kind(*value).map(|kind| (*value, kind)));
        let instances: Vec<(Value, KindId)> = instances.collect();
        for resource in &effects.writes {
            for (id, own) in self.dependences.get(resource).into_iter().flatten() {
                let of = module.caches[id.at()].kind;
                let Some(of) = of.filter(|kind| module.kinds[kind.at()].capacity > 1) else {
                    self.stale.insert((*id, None));
                    continue;
                };
                match instances[..] {
                    [(instance, kind)] if *own && module.root(kind) == module.root(of) => {
                        self.stale.insert((*id, Some(self.same.of_value(instance))));
                    }
                    // Timers are one resource, but those of other kinds are others.
                    [_] if *own && *resource == Resource::Timers => {}
                    _ => {
                        let name = &module.caches[id.at()].name;
                        self.say(
                            spot,
                            &format!("nothing tells which of the caches {name} is stale"),
                        );
                    }
                }
            }
        }
    }

    /// Somebody may look at caches.
    fn looks(&mut self, spot: Spot, at: impl Fn(CacheId) -> bool) {
        let found = self.stale.iter().find(|(id, _)| at(*id));
        if let Some((id, _)) = found {
            let name = &self.scope.module.caches[id.at()].name;
            self.say(spot, &format!("the cache {name} is stale here"));
        }
    }

    /// A value goes on under the name of a parameter.
    fn handed(&mut self, edge: &Edge) {
        let parameters = &self.scope.function.block(edge.block).parameters;
        for (value, parameter) in edge.arguments.iter().zip(parameters) {
            let from = Some(self.same.of_value(*value));
            let to = Some(self.same.of_value(*parameter));
            let stale = std::mem::take(&mut self.stale).into_iter();
            self.stale = stale
                .map(|(id, one)| (id, if one == from { to } else { one }))
                .collect();
        }
    }

    /// The instance that a cache stands for; none if there is but one.
    fn instance(&self, id: CacheId, value: Option<Value>) -> Option<Value> {
        let kinds = &self.scope.module.kinds;
        let kind = self.scope.module.caches[id.at()].kind;
        let several = kind.is_some_and(|kind| kinds[kind.at()].capacity > 1);
        value
            .filter(|_| several)
            .map(|value| self.same.of_value(value))
    }

    fn kind(&self, value: Value) -> Option<KindId> {
        match self.scope.function.type_of(value) {
            Type::Instance(kind) => Some(kind),
            _ => None,
        }
    }

    fn say(&mut self, spot: Spot, message: &str) {
        let breach = self.scope.breach(Rule::Caches, spot, message.to_string());
        self.breaches.push(breach);
    }
}

/// By value: one that stands for all values that are the same instance, or its index.
struct Identities(Vec<Value>);

impl Identities {
    fn of(function: &Function) -> Identities {
        let definitions = Definitions::of(function);
        let mut same: Vec<Value> = (0..function.values.len() as u32).map(Value).collect();
        let edges = function.edges_into();
        for block in &function.blocks {
            if let Terminator::Try {
                attempt: Attempt::Live(_),
                operands,
                done,
                ..
            } = &block.terminator
                && edges[done.block.at()] == 1
                && let Some(found) = function.block(done.block).parameters.last()
            {
                same[found.at()] = operands[0];
            }
        }
        let mut constants: FxHashMap<&Op, Value> = FxHashMap::default();
        for (at, one) in same.iter_mut().enumerate() {
            let value = Value(at as u32);
            match definitions.get(value) {
                Some(Instruction { op, operands, .. }) if is_index(op) => *one = operands[0],
                Some(Instruction { op, .. }) if op.is_constant() => {
                    *one = *constants.entry(op).or_insert(value);
                }
                _ => {}
            }
        }
        Identities(same)
    }

    fn of_value(&self, mut value: Value) -> Value {
        while self.0[value.at()] != value {
            value = self.0[value.at()];
        }
        value
    }
}

fn is_index(op: &Op) -> bool {
    matches!(op, Op::At(_) | Op::Index)
}
