//! Local variables as values: fields of locals that one function alone uses become SSA values
//! (register promotion).
//!
//! Before: all locals are fields. After: a field is left if several functions use it, as a loop and
//! its turns do, or if a load may come before all stores, as from one turn to the next. Cost:
//! linear in blocks times promoted fields.
//!
//! ```text
//! store locals.n %i                       b1: jump b3(%i)
//! b1: jump b3                         =>  b2: jump b3(%j)
//! b2: store locals.n %j; jump b3          b3(%n): return %n
//! b3: %n = load locals.n; return %n
//! ```

use crate::ir::edit::substitute_in_turn;
use crate::ir::graph::Graph;
use crate::ir::{
    BlockId, FieldId, Function, KindId, Module, Op, Region, Stored, Terminator, Type, Value,
};
use std::collections::{BTreeMap, BTreeSet};

/// Promotes the fields of kinds that hold locals.
pub fn promote(module: &mut Module, locals: &[KindId]) {
    let mut users: BTreeMap<Region, BTreeSet<usize>> = BTreeMap::new();
    for (at, function) in module.functions.iter().enumerate() {
        for region in function.instructions().filter_map(|one| used(&one.op)) {
            users.entry(region).or_default().insert(at);
        }
    }
    for at in 0..module.functions.len() {
        let own = users.iter().filter(|(region, users)| {
            is_local(module, locals, **region) && users.len() == 1 && users.contains(&at)
        });
        let own: BTreeSet<Region> = own.map(|(region, _)| *region).collect();
        let types = own.iter().map(|region| (*region, type_of(module, *region)));
        let types: BTreeMap<Region, Type> = types.collect();
        if !types.is_empty() {
            Promotion::new(&mut module.functions[at], types).run();
        }
    }
    locals.iter().for_each(|kind| remove_unused(module, *kind));
}

/// Removes the fields of a kind that no function uses.
fn remove_unused(module: &mut Module, kind: KindId) {
    let functions = module.functions.iter();
    let all = functions.flat_map(|function| function.instructions());
    let used: BTreeSet<FieldId> = all
        .filter_map(|one| match used(&one.op) {
            Some(Region::Field(of, field)) if of == kind => Some(field),
            _other => None,
        })
        .collect();
    let places: BTreeMap<FieldId, FieldId> = used
        .iter()
        .enumerate()
        .map(|(at, field)| (*field, FieldId(at as u32)))
        .collect();
    let fields = std::mem::take(&mut module.kinds[kind.at()].fields);
    let kept = fields.into_iter().enumerate();
    let kept = kept.filter(|(at, _)| used.contains(&FieldId(*at as u32)));
    module.kinds[kind.at()].fields = kept.map(|(_, field)| field).collect();
    let blocks = module.functions.iter_mut().flat_map(|one| &mut one.blocks);
    for instruction in blocks.flat_map(|block| &mut block.instructions) {
        if let Op::Load(Region::Field(of, field)) | Op::Store(Region::Field(of, field)) =
            &mut instruction.op
            && *of == kind
        {
            *field = places[field];
        }
    }
}

/// The field that an operation loads or stores.
fn used(op: &Op) -> Option<Region> {
    match op {
        Op::Load(region) | Op::Store(region) => Some(*region),
        _other => None,
    }
}

/// Returns true for a field of locals that is one value.
fn is_local(module: &Module, locals: &[KindId], region: Region) -> bool {
    match region {
        Region::Field(kind, field) => {
            locals.contains(&kind) && module.field(kind, field).dimensions.is_empty()
        }
        Region::Setting(_) | Region::Now | Region::Valid(_) | Region::Cached(..) => false,
    }
}

/// The type of a field that is one value.
fn type_of(module: &Module, region: Region) -> Type {
    let Region::Field(kind, field) = region else {
        unreachable!("locals are fields");
    };
    match module.field(kind, field).stored {
        Stored::Value(of) => of,
        _ => unreachable!("locals are values"),
    }
}

/// The fields of one function.
struct Promotion<'f> {
    function: &'f mut Function,
    types: BTreeMap<Region, Type>,
    graph: Graph,
}

impl<'f> Promotion<'f> {
    fn new(function: &'f mut Function, types: BTreeMap<Region, Type>) -> Promotion<'f> {
        let graph = Graph::of(function).expect("a function that was built has no cycle");
        Promotion {
            function,
            types,
            graph,
        }
    }

    fn run(mut self) {
        self.keep_unset();
        if self.types.is_empty() {
            return;
        }
        let live = self.live();
        let mut by: Vec<Value> = (0..self.function.values.len() as u32).map(Value).collect();
        let mut behind: Vec<BTreeMap<Region, Value>> =
            vec![BTreeMap::new(); self.function.blocks.len()];
        let mut given: Vec<Vec<Region>> = vec![Vec::new(); self.function.blocks.len()];
        for at in self.graph.order.clone().into_iter().map(BlockId::at) {
            let mut known = BTreeMap::new();
            for region in &live[at] {
                let before = self.graph.before[at].iter();
                let values: BTreeSet<Value> = before.map(|one| behind[one.at()][region]).collect();
                let value = match values.len() {
                    1 => values.into_iter().next().expect("there is one"),
                    _several => {
                        let own = self.function.define(self.types[region]);
                        by.push(own);
                        self.function.blocks[at].parameters.push(own);
                        given[at].push(*region);
                        own
                    }
                };
                known.insert(*region, value);
            }
            self.rewrite(at, &mut known, &mut by);
            behind[at] = known;
        }
        for (at, known) in behind.iter().enumerate() {
            for edge in self.function.blocks[at].terminator.edges_mut() {
                let regions = given[edge.block.at()].iter();
                edge.arguments.extend(regions.map(|region| known[region]));
            }
        }
        substitute_in_turn(self.function, by);
    }

    /// Removes loads and stores of a block.
    fn rewrite(&mut self, at: usize, known: &mut BTreeMap<Region, Value>, by: &mut [Value]) {
        let instructions = std::mem::take(&mut self.function.blocks[at].instructions);
        let mut kept = Vec::new();
        for instruction in instructions {
            let region = used(&instruction.op).filter(|region| self.types.contains_key(region));
            match (region, &instruction.op) {
                (Some(region), Op::Load(_)) => by[instruction.results[0].at()] = known[&region],
                (Some(region), _store) => {
                    let value = instruction.operands.last().expect("a store has a value");
                    known.insert(region, *value);
                }
                (None, _) => kept.push(instruction),
            }
        }
        self.function.blocks[at].instructions = kept;
    }

    /// Keeps the fields of which a load may come before all stores.
    fn keep_unset(&mut self) {
        let mut set: Vec<BTreeSet<Region>> = vec![BTreeSet::new(); self.function.blocks.len()];
        let mut unset = BTreeSet::new();
        for at in self.graph.order.iter().map(|id| id.at()) {
            let mut before = self.graph.before[at].iter().map(|one| &set[one.at()]);
            let mut known = before.next().cloned().unwrap_or_default();
            before.for_each(|other| known.retain(|region| other.contains(region)));
            for instruction in &self.function.blocks[at].instructions {
                let region = used(&instruction.op).filter(|one| self.types.contains_key(one));
                match (region, &instruction.op) {
                    (Some(region), Op::Load(_)) if !known.contains(&region) => {
                        unset.insert(region);
                    }
                    (Some(region), Op::Store(_)) => {
                        known.insert(region);
                    }
                    (_, _) => {}
                }
            }
            set[at] = known;
        }
        self.types.retain(|region, _| !unset.contains(region));
    }

    /// By block: the fields that are loaded there or behind it before they are stored again.
    fn live(&self) -> Vec<BTreeSet<Region>> {
        let mut live: Vec<BTreeSet<Region>> = vec![BTreeSet::new(); self.function.blocks.len()];
        for at in self.graph.order.iter().rev().map(|id| id.at()) {
            let block = &self.function.blocks[at];
            let edges = block.terminator.edges().into_iter();
            let mut own: BTreeSet<Region> = edges
                .flat_map(|edge| live[edge.block.at()].iter().copied())
                .collect();
            for instruction in block.instructions.iter().rev() {
                let region = used(&instruction.op).filter(|one| self.types.contains_key(one));
                match (region, &instruction.op) {
                    (Some(region), Op::Load(_)) => {
                        own.insert(region);
                    }
                    (Some(region), _store) => {
                        own.remove(&region);
                    }
                    (None, _) => {}
                }
            }
            assert!(
                !matches!(block.terminator, Terminator::Try { .. }),
                "Estelle needs no operation that may fail"
            );
            live[at] = own;
        }
        live
    }
}
