//! Specifications of Estelle to the stack IR.
//!
//! In: a checked specification, and bounds for what Estelle does not bound. Out: a
//! [`Module`](ir::Module) of the IR. Links, queues and the step rule are the *kernel*: a file of
//! Pascal (`kernel/kernel.stl`), lowered by the same code as the specification.
//!
//! ```text
//! memory.rs           variables as fields
//! sizes.rs            the number of instances; module numbers and point numbers
//! kernel/             the kernel, with the numbers of a specification
//! code.rs, code/      a function that is being built: places, expressions, statements, routines,
//!                     transitions, delays
//! entries.rs          what a program calls
//! outside/            the C around a specification
//! promote.rs          locals of one function as values
//! ```

mod code;
mod entries;
mod kernel;
mod memory;
pub mod outside;
mod promote;
mod sizes;

pub use entries::{ENTRIES, Entry};
pub use kernel::{Asked, Fixed};
pub use outside::choice::{Choice, Choices};
pub use sizes::{Bounds, is_static};

use crate::ir::rename::remove_unnamed;
use crate::ir::{self, FieldId, KindId, Region, Type};
use crate::types::estelle::program::{
    BodyId, FrameId, HeaderId, Program, RoutineId, Type as Pascal, TypeId,
};
use code::delay::Clock;
use code::{Called, Code, Environment};
use memory::{Scalar, Storage, Store, is_boolean, leaves};
use outside::Contract;
use sizes::Sizes;
use std::collections::{BTreeMap, BTreeSet};

/// The only body of the kernel.
const KERNEL: BodyId = Program::ROOT;

/// The source to which code belongs.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Which {
    /// The kernel.
    Kernel,
    /// The specification.
    Specification,
}

/// A mistake of a specification that shows when it runs.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Fault {
    /// A value beyond the range of its type.
    Range = 1,
    /// A result beyond the range of `integer`.
    Overflow,
    /// `div` by zero, `mod` by zero or less.
    Division,
    /// `case` without the value.
    Case,
    /// A field of another variant than that of the tag.
    Variant,
    /// A loop has run too many turns.
    LoopLimit,
    /// A module variable refers to no module.
    UndefinedModule,
    /// No alternative of `initialize` may run.
    NoInitialise,
    /// More instances of a body than it has memory for.
    PoolFull,
    /// A queue is full.
    QueueFull,
    /// `connect` or `attach` of a point that is connected already.
    Connected,
    /// `connect` or `attach` of a point that is attached already.
    Attached,
    /// An output at a point that is attached to a child.
    AttachedOutput,
    /// The upper bound of a delay is below the lower one.
    DelayOrder,
    /// `connect` of a point to itself.
    SamePoint,
}

impl Fault {
    /// The one with the greatest number.
    const LAST: Fault = Fault::SamePoint;

    /// All, in the order of their numbers.
    const ALL: [Fault; Fault::LAST as usize] = [
        Fault::Range,
        Fault::Overflow,
        Fault::Division,
        Fault::Case,
        Fault::Variant,
        Fault::LoopLimit,
        Fault::UndefinedModule,
        Fault::NoInitialise,
        Fault::PoolFull,
        Fault::QueueFull,
        Fault::Connected,
        Fault::Attached,
        Fault::AttachedOutput,
        Fault::DelayOrder,
        Fault::SamePoint,
    ];

    /// Its number, from 1.
    pub fn number(self) -> i64 {
        self as i64
    }

    /// Returns the name of the fault with a number, as the reference interpreter counts it.
    pub fn name_of(number: i64) -> Option<&'static str> {
        let mut all = Fault::ALL.into_iter();
        let fault = all.find(|fault| fault.number() == number)?;
        Some(match fault {
            Fault::Range => "range",
            Fault::Overflow => "overflow",
            Fault::Division => "division",
            Fault::Case => "no_case",
            Fault::Variant => "tag",
            Fault::LoopLimit => "loop_limit",
            Fault::UndefinedModule => "undefined_module",
            Fault::NoInitialise => "no_initialise",
            Fault::PoolFull => "pool_full",
            Fault::QueueFull => "queue_full",
            Fault::Connected => "connected",
            Fault::Attached => "attached",
            Fault::AttachedOutput => "attached_output",
            Fault::DelayOrder => "delay_order",
            Fault::SamePoint => "same_point",
        })
    }
}

/// The kind with the tables of the kernel.
pub const MODULES: &str = "modules";

/// Turns of a loop without a bound.
const LOOP_LIMIT: u32 = 1_000_000;

/// A routine as it is lowered: for a body, with what its `var` parameters stand for.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct Key {
    which: Which,
    body: BodyId,
    routine: RoutineId,
    environment: Environment,
}

/// The fields of the kernel or of the specification.
struct Memory {
    bodies: Vec<Store>,
    locals: Store,
    /// By body and variable.
    variables: BTreeMap<(BodyId, usize), Storage>,
    /// By frame and local.
    local: BTreeMap<(FrameId, usize), Storage>,
    /// By frame and local: the module to which a name refers.
    bound: BTreeMap<(FrameId, usize), FieldId>,
}

/// A specification that is being lowered.
pub struct Lower<'a> {
    program: &'a Program,
    kernel: &'a Program,
    /// The numbers of the kernel.
    numbers: kernel::Numbers,
    /// By point: where its outputs arrive; empty if that may change.
    fixed: &'a Fixed,
    module: ir::Module,
    sizes: Sizes,
    memories: [Memory; 2],
    /// By header: the kind of exported variables, and the variables.
    exported: Vec<Option<(Store, Vec<Storage>)>>,
    /// By body: the fields of module variables, and how often each has initialised a module.
    modules: Vec<Vec<[FieldId; 2]>>,
    /// By body: the field of the state.
    states: Vec<FieldId>,
    routines: BTreeMap<Key, Called>,
    choices: Choices,
    begins: BTreeMap<BodyId, Called>,
    watches: BTreeMap<BodyId, Called>,
    clocks: BTreeMap<(BodyId, usize), Clock>,
    hooks: BTreeMap<String, Called>,
    /// By external body: the field of the transition that it has offered.
    offered: BTreeMap<BodyId, FieldId>,
    /// The functions of the host.
    contract: Contract,
    /// Names of functions.
    names: BTreeSet<String>,
    /// The first part of the specification that has no C.
    refused: Option<String>,
}

/// Lowers a specification; the result passes the verifier.
///
/// # Errors
///
/// A sentence that says what of the specification has no C yet, or which bound is too small.
pub fn lower(program: &Program, bounds: &Bounds) -> Result<ir::Module, String> {
    lower_fixed(program, bounds, &Fixed::default())
}

/// Lowers a specification of which parts never change behind its start.
///
/// # Errors
///
/// As [`lower`].
pub fn lower_fixed(
    program: &Program,
    bounds: &Bounds,
    fixed: &Fixed,
) -> Result<ir::Module, String> {
    let mut types = program.types.iter();
    if types.any(|one| matches!(one, Pascal::External(_))) {
        return Err("a type that C code defines".to_string());
    }
    let sizes = Sizes::of(program, bounds)?;
    let numbers = kernel::numbers(program, &sizes, (bounds, fixed))?;
    let kernel = kernel::kernel(&numbers);
    let mut module = ir::Module {
        name: program.name.to_lowercase(),
        ..ir::Module::default()
    };
    // The tables of the kernel come first, so that they have their name.
    let table = vec![Store::new(&mut module, MODULES, 1)];
    let own: Vec<Store> = program
        .bodies
        .iter()
        .zip(&sizes.instances)
        .map(|(body, count)| Store::new(&mut module, &body.name, (*count).max(1)))
        .collect();
    let memory = |module: &mut ir::Module, bodies: Vec<Store>, name: &str| Memory {
        locals: Store::new(module, name, 1),
        bodies,
        variables: BTreeMap::new(),
        local: BTreeMap::new(),
        bound: BTreeMap::new(),
    };
    let memories = [
        memory(&mut module, table, "scratch"),
        memory(&mut module, own, "locals"),
    ];
    let mut lower = Lower {
        program,
        kernel: &kernel,
        numbers,
        fixed,
        module,
        sizes,
        memories,
        exported: Vec::new(),
        modules: Vec::new(),
        states: Vec::new(),
        routines: BTreeMap::new(),
        choices: bounds.choices,
        begins: BTreeMap::new(),
        watches: BTreeMap::new(),
        clocks: BTreeMap::new(),
        hooks: BTreeMap::new(),
        offered: BTreeMap::new(),
        contract: Contract::of(program),
        names: BTreeSet::new(),
        refused: None,
    };
    lower.declare();
    lower.clocks();
    lower.entries();
    match lower.refused {
        None => {
            remove_unnamed(&mut lower.module);
            let locals = [Which::Kernel, Which::Specification].map(|which| lower.locals(which));
            promote::promote(&mut lower.module, &locals);
            Ok(lower.module)
        }
        Some(refused) => Err(refused),
    }
}

impl<'a> Lower<'a> {
    fn program(&self, which: Which) -> &'a Program {
        match which {
            Which::Kernel => self.kernel,
            Which::Specification => self.program,
        }
    }

    /// Notes that a part of the specification has no C.
    fn refuse(&mut self, what: impl Into<String>) {
        self.refused.get_or_insert_with(|| what.into());
    }

    /// Takes a name for a function: this one, or this one with a number.
    fn free_name(&mut self, wanted: &str) -> String {
        let name = ir::free_name(wanted, |name| self.names.contains(name));
        self.names.insert(name.clone());
        name
    }

    fn memory(&mut self, which: Which) -> (&mut ir::Module, &mut Memory) {
        (&mut self.module, &mut self.memories[which as usize])
    }

    /// Declares the fields of all instances.
    fn declare(&mut self) {
        let program = self.program;
        for (at, header) in program.headers.iter().enumerate() {
            let declared = (!header.exports.is_empty()).then(|| {
                let name = format!("{}.exports", header.name);
                let capacity = self.sizes.count_of_header[at].max(1);
                let mut store = Store::new(&mut self.module, &name, capacity);
                let variables = header
                    .exports
                    .iter()
                    .map(|one| store.variable(&mut self.module, program, (&one.name, one.kind)));
                let variables = variables.collect();
                (store, variables)
            });
            self.exported.push(declared);
        }
        for (at, body) in program.bodies.iter().enumerate() {
            let (module, memory) = self.memory(Which::Specification);
            let store = &mut memory.bodies[at];
            let bits = if body.states.len() <= 256 { 8 } else { 32 };
            let state = store.field(module, "state", (Type::Int(bits), Vec::new()));
            let modules = body.module_variables.iter().map(|one| {
                let counted = format!("{}.generation", one.name);
                [one.name.as_str(), counted.as_str()].map(|name| {
                    let dimensions = vec![one.count];
                    store.field(module, name, (Type::WORD, dimensions))
                })
            });
            let modules = modules.collect();
            self.states.push(state);
            self.modules.push(modules);
            self.variables(Which::Specification, BodyId(at as u32));
        }
        self.variables(Which::Kernel, KERNEL);
    }

    /// Declares the variables of a body that it does not export.
    fn variables(&mut self, which: Which, id: BodyId) {
        let program = self.program(which);
        let body = &program.bodies[id.index()];
        for (at, variable) in body.variables.iter().enumerate() {
            if self.export_of(which, id, at).is_none() {
                let (module, memory) = self.memory(which);
                let store = &mut memory.bodies[id.index()];
                let storage = store.variable(module, program, (&variable.name, variable.kind));
                memory.variables.insert((id, at), storage);
            }
        }
    }

    /// The header and the place among its exports, if a variable of a body is one of them.
    fn export_of(&self, which: Which, id: BodyId, at: usize) -> Option<(HeaderId, usize)> {
        let program = self.program(which);
        let id = program.bodies[id.index()].header?;
        let header = &program.headers[id.index()];
        let first = header.parameters.len();
        let range = first..first + header.exports.len();
        range.contains(&at).then(|| (id, at - first))
    }

    /// The fields of a variable of a body; and its header, if that exports it.
    fn variable(&self, which: Which, id: BodyId, at: usize) -> (Storage, Option<HeaderId>) {
        match self.export_of(which, id, at) {
            Some((header, export)) => (self.exported(header, export), Some(header)),
            None => {
                let known = &self.memories[which as usize].variables[&(id, at)];
                (known.clone(), None)
            }
        }
    }

    /// The fields of an exported variable.
    fn exported(&self, header: HeaderId, at: usize) -> Storage {
        let declared = self.exported[header.index()].as_ref();
        let (_, variables) = declared.expect("the header exports variables");
        variables[at].clone()
    }

    /// The kind of exported variables.
    fn exports(&self, header: HeaderId) -> KindId {
        let declared = self.exported[header.index()].as_ref();
        declared.expect("the header exports variables").0.kind
    }

    /// The kind of the instances of a body.
    fn body_kind(&self, which: Which, id: BodyId) -> KindId {
        self.memories[which as usize].bodies[id.index()].kind
    }

    /// The type of the parameter that is the instance; none of the kernel, which has but one.
    fn instance_type(&self, which: Which, id: BodyId) -> Option<Type> {
        match which {
            Which::Kernel => None,
            Which::Specification => Some(Type::Instance(self.body_kind(which, id))),
        }
    }

    /// The kind of local variables.
    fn locals(&self, which: Which) -> KindId {
        self.memories[which as usize].locals.kind
    }

    /// A new field of the locals, for a number of 32 bits.
    fn scratch(&mut self, which: Which, name: &str) -> FieldId {
        self.scratch_of(which, name, Type::WORD)
    }

    /// A new field of the locals.
    fn scratch_of(&mut self, which: Which, name: &str, of: Type) -> FieldId {
        let (module, memory) = self.memory(which);
        memory.locals.field(module, name, (of, Vec::new()))
    }

    /// A new variable of a type, for what must be kept while something else is computed.
    fn kept(&mut self, which: Which, of: TypeId) -> Storage {
        let program = self.program(which);
        let (module, memory) = self.memory(which);
        memory.locals.local(module, program, ("kept", of))
    }

    /// The fields of a local variable.
    fn local(&mut self, which: Which, frame: FrameId, at: usize) -> Storage {
        let program = self.program(which);
        let (module, memory) = self.memory(which);
        if let Some(known) = memory.local.get(&(frame, at)) {
            return known.clone();
        }
        let variable = &program.frames[frame.index()][at];
        let storage = memory
            .locals
            .local(module, program, (&variable.name, variable.kind));
        memory.local.insert((frame, at), storage.clone());
        storage
    }

    /// The field of the module to which a bound name refers.
    fn bound_module(&mut self, which: Which, frame: FrameId, at: usize) -> FieldId {
        if let Some(known) = self.memories[which as usize].bound.get(&(frame, at)) {
            return *known;
        }
        let name = self.program(which).frames[frame.index()][at].name.clone();
        let field = self.scratch(which, &name);
        let (_, memory) = self.memory(which);
        memory.bound.insert((frame, at), field);
        field
    }

    /// The fields of a module variable: the module, and the number of those before and it.
    fn module_fields(&self, body: BodyId, at: usize) -> [FieldId; 2] {
        self.modules[body.index()][at]
    }

    /// The field of the state.
    fn state_field(&self, body: BodyId) -> FieldId {
        self.states[body.index()]
    }

    /// Turns of a loop without a bound.
    fn loop_limit(&self) -> u32 {
        LOOP_LIMIT
    }

    /// The function that stands for a `primitive` of the kernel.
    fn hook(&self, name: &str) -> Called {
        let known = self.hooks.get(&name.to_lowercase());
        known
            .expect("primitives of the kernel are lowered before")
            .clone()
    }

    /// A function of the kernel, by its name.
    fn kernel_routine(&mut self, name: &str) -> Called {
        let all = self.kernel.routines.iter();
        let at = all.clone().position(|one| one.name == name);
        let at = at.unwrap_or_else(|| panic!("the kernel has a routine `{name}`"));
        let key = Key {
            which: Which::Kernel,
            body: KERNEL,
            routine: RoutineId(at as u32),
            environment: Environment::new(),
        };
        if let Some(known) = self.routines.get(&key) {
            return known.clone();
        }
        let called = self.lower_routine(&key);
        self.routines.insert(key, called.clone());
        called
    }

    /// A constant of the kernel, by its name.
    fn kernel_number(&self, name: &str) -> i64 {
        let known = self.numbers.get(name);
        *known.unwrap_or_else(|| panic!("the kernel has a number `{name}`")) as i64
    }

    /// A variable of the kernel, by its name: one field.
    fn kernel_variable(&self, name: &str) -> (Region, Scalar) {
        let variables = &self.kernel.bodies[KERNEL.index()].variables;
        let at = variables.iter().position(|one| one.name == name);
        let at = at.unwrap_or_else(|| panic!("the kernel has a variable `{name}`"));
        let (storage, _) = self.variable(Which::Kernel, KERNEL, at);
        (
            Region::Field(storage.kind, storage.fields[0]),
            storage.leaves[0].scalar,
        )
    }

    /// The parts in which a value of a type is handed on: a set has several.
    fn parts(&self, which: Which, of: TypeId) -> Vec<Type> {
        let program = self.program(which);
        let plain = |scalar: Scalar| match scalar {
            Scalar::Ordinal(..) => Type::WORD,
            other => other.stored(),
        };
        match is_boolean(program, of) {
            true => vec![Type::BIT],
            false => {
                let leaves = leaves(program, of);
                leaves.iter().map(|leaf| plain(leaf.scalar)).collect()
            }
        }
    }

    /// Lowers a routine.
    fn lower_routine(&mut self, key: &Key) -> Called {
        let program = self.program(key.which);
        let routine = &program.routines[key.routine.index()];
        let frame = &program.frames[routine.frame.index()];
        let values: Vec<usize> = (0..routine.parameters)
            .filter(|at| !frame[*at].is_reference && !is_whole(program, frame[*at].kind))
            .collect();
        let parameters: Vec<(Type, &str)> = values
            .iter()
            .flat_map(|at| {
                let parts = self.parts(key.which, frame[*at].kind).into_iter();
                parts.map(|of| (of, frame[*at].name.as_str()))
            })
            .collect();
        let results = routine.result.map(|of| self.parts(key.which, of));
        let results = results.unwrap_or_default();
        let name = routine.name.to_lowercase();
        let name = match key.which {
            Which::Kernel => name,
            Which::Specification => {
                let body = &program.bodies[key.body.index()].name;
                format!("{}_{name}", body.to_lowercase())
            }
        };
        let place = (key.which, key.body);
        let mut code = Code::new(self, place, &name, &parameters, results);
        code.environment = key.environment.clone();
        let mut next = 0;
        for at in values {
            next = code.keep_parameter((routine.frame, at), next);
        }
        let statements = routine.statements.as_deref().unwrap_or_default();
        code.statements(statements);
        let result = routine
            .result
            .map(|_| code.local_parts(routine.frame, routine.parameters));
        code.answer(&result.unwrap_or_default());
        code.finish()
    }
}

/// Returns true for an array or a record.
fn is_whole(program: &Program, of: TypeId) -> bool {
    matches!(
        program.types[of.index()],
        Pascal::Array { .. } | Pascal::Record { .. }
    )
}
