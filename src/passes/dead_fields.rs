//! Dead stores to fields, over the whole module: a field that each function writes before it reads
//! it holds nothing from one event to the next (interprocedural liveness; Myers, "A Precise
//! Inter-procedural Data Flow Algorithm", 1981).
//!
//! In: a module. A load is *exposed* if no store of its function to the same place stands on all
//! ways to it; a load of a called function is exposed as one of its caller, by the parameter that
//! names its instance. A field is *live* between events if a function that an event or the host
//! starts has an exposed load of it, or a table of the module names it. It is live at the end of a
//! function if it is live between events, or if a caller may read it behind the call. Out: stores
//! are gone to fields that are not live at the end of a function, and that it does not read behind
//! them.
//!
//! ```text
//! store tcp.session.pre %u, %1         gone, if all loads of `pre` stand behind such a store
//! %2 = call tcp.is_new(%u)             (reads `pre` of the instance that it is given)
//! ```

use super::dead_code;
use crate::ir::definitions::Definitions;
use crate::ir::effects::{Effects, Resource, called, called_by_attempt};
use crate::ir::graph::Graph;
use crate::ir::mergeable::{Mergeable, Numbers};
use crate::ir::{
    Attempt, Function, FunctionId, Instruction, Module, Op, Region, Role, Terminator, Type, Value,
};
use std::collections::{BTreeMap, BTreeSet};

/// The instance of which an exposed load is: that of a parameter, or any.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Of {
    Parameter(usize),
    Any,
}

/// Loads of a function that no store of it stands before.
type Exposed = BTreeSet<(Region, Of)>;

/// Removes stores that nobody reads, and all that only they needed.
pub fn run(module: &mut Module) {
    let effects = Effects::of_functions(module);
    let mut behind = Behind {
        live: live(module),
        numbers: Numbers::new(),
        calls: vec![Mergeable::new(); module.functions.len()],
    };
    // Callers stand behind what they call, and say what they read behind a call.
    for at in (0..module.functions.len()).rev() {
        let mut function = module.functions[at].clone();
        if without_dead_stores(module, &effects, (&mut behind, at), &mut function) {
            dead_code::clean(module, &effects, &mut function);
            module.functions[at] = function;
        }
    }
}

/// The fields that are read behind a function.
struct Behind {
    /// By events that come later.
    live: BTreeSet<Region>,
    /// The numbers of fields.
    numbers: Numbers<Region>,
    /// By function: those that callers may read behind a call of it.
    calls: Vec<Mergeable<()>>,
}

impl Behind {
    /// Notes the fields that are read behind a call of functions.
    fn note(&mut self, called: &[FunctionId], read: &Mergeable<()>) {
        for id in called {
            self.calls[id.at()].merge(read, &mut |_, _, _| Some(()));
        }
    }

    /// Adds the fields that an operation reads to those that are read.
    fn add(&mut self, effects: &Effects, read: &mut Mergeable<()>) {
        for resource in &effects.reads {
            if let Resource::Region(region @ Region::Field(..)) = resource {
                read.insert(self.numbers.of(*region), ());
            }
        }
    }
}

/// The fields that may be read by an event that comes later.
fn live(module: &Module) -> BTreeSet<Region> {
    let mut live = BTreeSet::new();
    for kind in &module.listening {
        let listener = [kind.backlog, kind.waiting].map(|field| (kind.listener, field));
        let session = [kind.waits, kind.unknown, kind.made_by].map(|field| (kind.session, field));
        let all = listener.into_iter().chain(session);
        live.extend(all.map(|(kind, field)| Region::Field(kind, field)));
    }
    let watched = module.watched.iter();
    live.extend(watched.map(|one| Region::Field(one.kind, one.field)));
    let mut exposed: Vec<Exposed> = Vec::new();
    for function in &module.functions {
        exposed.push(exposed_of(function, module, &exposed));
    }
    let remembered = module.caches.iter().map(|cache| cache.remembers);
    let in_kernels = module.kernels.iter().flat_map(|kernel| kernel.functions());
    let named = remembered.chain(in_kernels).chain(module.settings_hold);
    let named = named.map(|id| id.at());
    let started = module.functions.iter().enumerate();
    let started = started
        .filter(|(_, function)| matches!(function.role, Role::Reaction | Role::Entry | Role::Fast));
    let roots: BTreeSet<usize> = started.map(|(at, _)| at).chain(named).collect();
    for at in roots {
        live.extend(exposed[at].iter().map(|(region, _)| *region));
    }
    live
}

/// Places that were stored on all ways to a block, by their numbers.
type Stored = Mergeable<()>;

/// Numbers of places: regions with the values that name instance and indices.
type Places = Numbers<(Region, Vec<Value>)>;

fn exposed_of(function: &Function, module: &Module, known: &[Exposed]) -> Exposed {
    let graph = Graph::of(function).expect("the verifier passes acyclic graphs alone");
    let named = Named::of(function);
    let mut exposed = Exposed::new();
    let mut places = Places::new();
    let mut at_begin: BTreeMap<usize, Stored> = BTreeMap::new();
    for id in graph.order {
        let block = function.block(id);
        let mut stored = at_begin.remove(&id.at()).unwrap_or_default();
        for instruction in &block.instructions {
            let operands = &instruction.operands;
            match &instruction.op {
                Op::Load(region @ Region::Field(..)) => {
                    let place = places.of((*region, operands.clone()));
                    if stored.get(place).is_none() {
                        exposed.insert((*region, named.origin(operands)));
                    }
                }
                Op::Store(region @ Region::Field(..)) => {
                    let place = &operands[..operands.len() - 1];
                    stored.insert(places.of((*region, place.to_vec())), ());
                }
                Op::Foreign(_, held) => {
                    let read = held.iter();
                    let read = read.map(|one| (Region::Field(one.kind, one.field), Of::Any));
                    exposed.extend(read);
                }
                op => {
                    for id in called(module, op) {
                        let of_call = (&known[id.at()], instruction);
                        exposed.extend(named.exposed_by(of_call, (&stored, &mut places)));
                    }
                }
            }
        }
        if let Terminator::Try { attempt, .. } = &block.terminator {
            for id in called_by_attempt(module, attempt) {
                let regions = known[id.at()].iter().map(|(region, _)| (*region, Of::Any));
                exposed.extend(regions);
            }
        }
        for edge in block.terminator.edges() {
            let met = at_begin.entry(edge.block.at());
            // A place that one of both lacks was not stored on all ways.
            met.and_modify(|met| met.merge(&stored, &mut |_, _, _| None))
                .or_insert_with(|| stored.clone());
        }
    }
    exposed
}

/// The instances of a function, by their indices.
struct Named<'f> {
    function: &'f Function,
    definitions: Definitions<'f>,
    /// By an index: the instance that was found with it.
    found: BTreeMap<Value, Value>,
    /// By an instance that was found: its index.
    indices: BTreeMap<Value, Value>,
}

impl Named<'_> {
    fn of(function: &Function) -> Named<'_> {
        let mut named = Named {
            function,
            definitions: Definitions::of(function),
            found: BTreeMap::new(),
            indices: BTreeMap::new(),
        };
        for block in &function.blocks {
            for one in &block.instructions {
                if let (Op::At(_), [index], [found]) =
                    (&one.op, &one.operands[..], &one.results[..])
                {
                    named.found.entry(*index).or_insert(*found);
                }
            }
            if let Terminator::Try {
                attempt: Attempt::Live(_),
                operands,
                done,
                ..
            } = &block.terminator
            {
                let found = function.block(done.block).parameters.last();
                let found = *found.expect("an attempt gives an instance");
                named.found.insert(operands[0], found);
                named.indices.insert(found, operands[0]);
            }
        }
        named
    }

    /// The loads of a called function that are exposed in its caller.
    fn exposed_by(
        &self,
        (exposed, call): (&Exposed, &Instruction),
        (stored, places): (&Stored, &mut Places),
    ) -> Exposed {
        let passes = matches!(call.op, Op::Call(_) | Op::Loop(..));
        let all = exposed.iter().filter_map(|(region, of)| {
            let argument = match of {
                Of::Parameter(at) if passes => call.operands.get(*at),
                Of::Parameter(_) | Of::Any => None,
            };
            let Some(argument) = argument else {
                return Some((*region, Of::Any));
            };
            let instance = self.instance(*argument);
            let is_stored =
                instance.is_some_and(|one| stored.get(places.of((*region, vec![one]))).is_some());
            let of = self.parameter(*argument);
            let of = of.or_else(|| Some(self.origin(&[instance?])));
            (!is_stored).then_some((*region, of.unwrap_or(Of::Any)))
        });
        all.collect()
    }

    /// The instance that a value is, or whose index it is.
    fn instance(&self, of: Value) -> Option<Value> {
        if let Some(Op::Index) = self.definitions.get(of).map(|one| &one.op) {
            return self.definitions.get(of).map(|one| one.operands[0]);
        }
        let is_one = matches!(self.function.type_of(of), Type::Instance(_));
        is_one.then_some(of).or(self.found.get(&of).copied())
    }

    /// The parameter that names the instance of a place that has no other index.
    fn origin(&self, place: &[Value]) -> Of {
        let [instance] = place else { return Of::Any };
        let index = match self.definitions.get(*instance) {
            Some(one) if matches!(one.op, Op::At(_)) => one.operands[0],
            _ => self.indices.get(instance).copied().unwrap_or(*instance),
        };
        self.parameter(index).unwrap_or(Of::Any)
    }

    fn parameter(&self, value: Value) -> Option<Of> {
        let mut parameters = self.function.parameters().iter();
        let at = parameters.position(|one| *one == value);
        at.map(Of::Parameter)
    }
}

/// Removes stores to fields that are read neither behind them, nor by callers, nor by later events.
/// True if there were some.
fn without_dead_stores(
    module: &Module,
    effects: &[Effects],
    (behind, own): (&mut Behind, usize),
    function: &mut Function,
) -> bool {
    let graph = Graph::of(function).expect("the verifier passes acyclic graphs alone");
    let mut at_begin: Vec<Mergeable<()>> = vec![Mergeable::new(); function.blocks.len()];
    let mut changed = false;
    for id in graph.order.iter().rev() {
        let mut edges = function.block(*id).terminator.edges().into_iter();
        let first = edges.next().map(|edge| at_begin[edge.block.at()].clone());
        let mut read = first.unwrap_or_else(|| behind.calls[own].clone());
        for edge in edges {
            read.merge(&at_begin[edge.block.at()], &mut |_, _, _| Some(()));
        }
        if let Terminator::Try { attempt, .. } = &function.block(*id).terminator {
            let all = Effects::of_attempt_with_called(module, effects, attempt);
            behind.add(&all, &mut read);
            behind.note(&called_by_attempt(module, attempt), &read);
        }
        let block = &mut function.blocks[id.at()];
        let mut kept = Vec::new();
        for instruction in std::mem::take(&mut block.instructions).into_iter().rev() {
            if let Op::Store(region @ Region::Field(..)) = instruction.op
                && !behind.live.contains(&region)
                && read.get(behind.numbers.of(region)).is_none()
            {
                changed = true;
                continue;
            }
            let all = Effects::with_called(module, effects, &instruction.op);
            let called = called(module, &instruction.op);
            if matches!(instruction.op, Op::Loop(..)) {
                // Behind a turn stands the next.
                behind.add(&all, &mut read);
            }
            behind.note(&called, &read);
            behind.add(&all, &mut read);
            kept.push(instruction);
        }
        kept.reverse();
        block.instructions = kept;
        at_begin[id.at()] = read;
    }
    changed
}
