//! Local variables as values: fields of locals that one function and its loops alone use become
//! SSA values (register promotion).
//!
//! Before: all locals are fields. After: a field is left if several functions use it that are no
//! loops of one another, as a `var` parameter and its variable do. A turn of a loop is a function;
//! it is given the fields that it loads, and hands on those that it stores. A field that may be
//! loaded before it was ever stored begins as zero. Cost: linear in blocks times promoted fields.
//!
//! ```text
//! store locals.n %i                       b1: jump b3(%i)
//! b1: jump b3                         =>  b2: jump b3(%j)
//! b2: store locals.n %j; jump b3          b3(%n): return %n
//! b3: %n = load locals.n; return %n
//!
//! loop turn                           =>  %m = loop turn, %n
//! turn(%t): .. store locals.n %k          turn(%t, %n): .. return true, %k
//! ```

use crate::ir::edit::substitute_in_turn;
use crate::ir::graph::Graph;
use crate::ir::{
    BlockId, FieldId, Function, Instruction, KindId, Module, Op, Region, Stored, Terminator, Type,
    Value,
};
use std::collections::{BTreeMap, BTreeSet};

/// Fields of locals, in a fixed order.
type Fields = BTreeSet<Region>;

/// Promotes the fields of kinds that hold locals.
pub fn promote(module: &mut Module, locals: &[KindId]) {
    let loops = Loops::of(module);
    let fields = loops.private(module, locals);
    let types = fields
        .iter()
        .map(|region| (*region, type_of(module, *region)));
    let types: BTreeMap<Region, Type> = types.collect();
    loops.hand_on(module, &types);
    for function in &mut module.functions {
        let own = function.instructions().filter_map(|one| used(&one.op));
        let own = own.filter_map(|region| Some((region, *types.get(&region)?)));
        let own: BTreeMap<Region, Type> = own.collect();
        if !own.is_empty() {
            Promotion::new(function, own).run();
        }
    }
    locals.iter().for_each(|kind| remove_unused(module, *kind));
}

/// The loops of a module.
struct Loops {
    /// By turn: the function whose loop it is a turn of, which stands behind it.
    callers: BTreeMap<usize, usize>,
}

/// The fields that a turn of a loop is given.
#[derive(Clone, Debug, Default)]
struct Given {
    /// Fields that it is given alone.
    captured: Fields,
    /// Fields that it is given and hands on.
    carried: Fields,
}

impl Loops {
    fn of(module: &Module) -> Loops {
        let mut callers = BTreeMap::new();
        for (at, function) in module.functions.iter().enumerate() {
            for instruction in function.instructions() {
                if let Op::Loop(turn, _) = instruction.op {
                    let before = callers.insert(turn.at(), at);
                    assert!(before.is_none() && turn.at() < at, "a turn has one loop");
                }
            }
        }
        Loops { callers }
    }

    /// The function in which a turn stands, perhaps in several loops.
    fn root(&self, mut at: usize) -> usize {
        while let Some(caller) = self.callers.get(&at) {
            at = *caller;
        }
        at
    }

    /// Finds the fields that one function and its loops alone use.
    fn private(&self, module: &Module, locals: &[KindId]) -> Fields {
        let mut users: BTreeMap<Region, BTreeSet<usize>> = BTreeMap::new();
        for (at, function) in module.functions.iter().enumerate() {
            for region in function.instructions().filter_map(|one| used(&one.op)) {
                users.entry(region).or_default().insert(self.root(at));
            }
        }
        let own = users
            .into_iter()
            .filter(|(region, users)| users.len() == 1 && is_local(module, locals, *region));
        own.map(|(region, _)| region).collect()
    }

    /// Gives turns the fields that they load, and hands on those that they store, where these are
    /// loaded again. A field that a function loads before all stores begins as zero.
    fn hand_on(&self, module: &mut Module, types: &BTreeMap<Region, Type>) {
        let count = module.functions.len();
        let mut loads: Vec<Fields> = vec![Fields::new(); count];
        let mut stores = loads.clone();
        for at in 0..count {
            let function = &module.functions[at];
            let live = Live {
                types,
                loads: &loads,
                returned: &Fields::new(),
            };
            let before = live.of(function, &mut |_, _| {}).swap_remove(0);
            for instruction in function.instructions() {
                match instruction.op {
                    Op::Store(region) if types.contains_key(&region) => {
                        stores[at].insert(region);
                    }
                    Op::Loop(turn, _) => {
                        let inner = stores[turn.at()].clone();
                        stores[at].extend(inner);
                    }
                    _ => {}
                }
            }
            loads[at] = before;
        }
        // A caller stands behind its turns.
        let mut given = vec![Given::default(); count];
        for at in (0..count).rev() {
            let returned = given[at].carried.clone();
            let live = Live {
                types,
                loads: &loads,
                returned: &returned,
            };
            let before = live.of(&module.functions[at], &mut |turn, behind| {
                let again = &loads[turn] | behind;
                given[turn].carried = &stores[turn] & &again;
                given[turn].captured = &loads[turn] - &stores[turn];
            });
            if !self.callers.contains_key(&at) {
                begin_with_zero(&mut module.functions[at], &before[0], types);
            }
        }
        for (turn, caller) in &self.callers {
            take(&mut module.functions[*turn], &given[*turn], types);
            surround(&mut module.functions[*caller], *turn, &given[*turn], types);
        }
    }
}

/// Fields that are loaded before they are stored again.
struct Live<'l> {
    types: &'l BTreeMap<Region, Type>,
    /// By turn of a loop: the fields that it loads before it stores them.
    loads: &'l [Fields],
    /// The fields that are loaded behind the function.
    returned: &'l Fields,
}

impl Live<'_> {
    /// By block: the fields that are live at its beginning. `visit` is told those behind each loop.
    fn of(&self, function: &Function, visit: &mut dyn FnMut(usize, &Fields)) -> Vec<Fields> {
        let graph = Graph::of(function).expect("a function that was built has no cycle");
        let mut live: Vec<Fields> = vec![Fields::new(); function.blocks.len()];
        for at in graph.order.iter().rev().map(|id| id.at()) {
            let block = &function.blocks[at];
            let edges = block.terminator.edges().into_iter();
            let mut own: Fields = edges
                .flat_map(|edge| live[edge.block.at()].iter().copied())
                .collect();
            match block.terminator {
                Terminator::Return(_) => own.extend(self.returned),
                Terminator::Try { .. } => unreachable!("Estelle needs no attempts"),
                _ => {}
            }
            for instruction in block.instructions.iter().rev() {
                match instruction.op {
                    Op::Load(region) if self.types.contains_key(&region) => {
                        own.insert(region);
                    }
                    Op::Store(region) => {
                        own.remove(&region);
                    }
                    Op::Loop(turn, _) => {
                        visit(turn.at(), &own);
                        own.extend(self.loads.get(turn.at()).into_iter().flatten());
                    }
                    _ => {}
                }
            }
            live[at] = own;
        }
        live
    }
}

/// Stores zero to fields where a function begins.
fn begin_with_zero(function: &mut Function, fields: &Fields, types: &BTreeMap<Region, Type>) {
    let mut first = Vec::new();
    for region in fields {
        let value = function.define(types[region]);
        let zero = Op::zero(types[region]).expect("locals are numbers");
        first.push(Instruction::new(zero, &[], &[value]));
        first.extend(store(function, *region, value));
    }
    function.blocks[0].instructions.splice(0..0, first);
}

/// A turn gets parameters for fields, and more results.
fn take(function: &mut Function, given: &Given, types: &BTreeMap<Region, Type>) {
    let mut first = Vec::new();
    let before = function.blocks[0].parameters.len() - (function.results.len() - 1);
    for (at, region) in given.captured.iter().enumerate() {
        let value = function.define(types[region]);
        function.blocks[0].parameters.insert(before + at, value);
        first.extend(store(function, *region, value));
    }
    for region in &given.carried {
        let value = function.define(types[region]);
        function.blocks[0].parameters.push(value);
        function.results.push(types[region]);
        first.extend(store(function, *region, value));
    }
    function.blocks[0].instructions.splice(0..0, first);
    for at in 0..function.blocks.len() {
        if !matches!(function.blocks[at].terminator, Terminator::Return(_)) {
            continue;
        }
        for region in &given.carried {
            let (value, loads) = load(function, *region, types[region]);
            let block = &mut function.blocks[at];
            block.instructions.extend(loads);
            if let Terminator::Return(values) = &mut block.terminator {
                values.push(value);
            }
        }
    }
}

/// The caller of a loop loads fields before it, and stores what the loop hands on.
fn surround(function: &mut Function, turn: usize, given: &Given, types: &BTreeMap<Region, Type>) {
    let is_call = |one: &Instruction| matches!(one.op, Op::Loop(id, _) if id.at() == turn);
    let mut blocks = function.blocks.iter().enumerate();
    let found = blocks.find_map(|(block, one)| {
        let at = one.instructions.iter().position(is_call)?;
        Some((block, at))
    });
    let (block, at) = found.expect("the caller has the loop");
    let mut call = function.blocks[block].instructions[at].clone();
    let captured = call.operands.len() - call.results.len();
    let (mut before, mut behind) = (Vec::new(), Vec::new());
    for (place, region) in given.captured.iter().enumerate() {
        let (value, loads) = load(function, *region, types[region]);
        before.extend(loads);
        call.operands.insert(captured + place, value);
    }
    for region in &given.carried {
        let (value, loads) = load(function, *region, types[region]);
        before.extend(loads);
        call.operands.push(value);
        let result = function.define(types[region]);
        call.results.push(result);
        behind.extend(store(function, *region, result));
    }
    let all = before.into_iter().chain([call]).chain(behind);
    function.blocks[block].instructions.splice(at..=at, all);
}

/// The instance that holds a field of locals.
fn holder(function: &mut Function, region: Region) -> Instruction {
    let Region::Field(kind, _) = region else {
        unreachable!("locals are fields");
    };
    let only = function.define(Type::Instance(kind));
    Instruction::new(Op::Instance(kind, 0), &[], &[only])
}

/// Loads a field of locals.
fn load(function: &mut Function, region: Region, of: Type) -> (Value, [Instruction; 2]) {
    let holder = holder(function, region);
    let value = function.define(of);
    let load = Instruction::new(Op::Load(region), &holder.results, &[value]);
    (value, [holder, load])
}

/// Stores to a field of locals.
fn store(function: &mut Function, region: Region, value: Value) -> [Instruction; 2] {
    let holder = holder(function, region);
    let store = Instruction::new(Op::Store(region), &[holder.results[0], value], &[]);
    [holder, store]
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
        let live = Live {
            types: &self.types,
            loads: &[],
            returned: &Fields::new(),
        };
        let live = live.of(self.function, &mut |_, _| {});
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
}
