//! Declarations and calls of the functions of a module: in, the effects of a function; out, its
//! parameters in C.
//!
//! A function that touches the stack takes `struct STACK *stack` first; one that looks at settings
//! alone takes `const struct STACK_settings *settings`; any other neither. One result is returned,
//! several as a struct whose members are `r0`, `r1`, ...

use super::Stack;
use super::types;
use crate::c::tree::{Expression as C, atom, call};
use crate::ir::effects::{self, Effects, Resource};
use crate::ir::op::{Op, Region};
use crate::ir::{FunctionId, Module, Role, Terminator, Type};

/// The part of a stack that a function touches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Reach {
    /// Nothing.
    Nothing,
    /// Values set at the start.
    Settings,
    /// Anything.
    Stack,
}

/// Returns the part of the stack that each function touches; a function calls only earlier ones.
pub fn reaches(module: &Module) -> Vec<Reach> {
    let mut all = vec![Reach::Nothing; module.functions.len()];
    for (at, function) in module.functions.iter().enumerate() {
        let own = match function.role {
            Role::Reaction | Role::Fast | Role::Entry => Reach::Stack,
            Role::Plain | Role::Pure => {
                let blocks = function.blocks.iter();
                let ends = blocks.map(|block| of_end(&block.terminator));
                let inside = function
                    .instructions()
                    .map(|one| of_op(module, &all, &one.op));
                inside.chain(ends).max().unwrap_or(Reach::Nothing)
            }
        };
        all[at] = own;
    }
    // The settings are judged before there is a stack.
    if let Some(judge) = module.settings_hold {
        all[judge.at()] = Reach::Settings;
    }
    all
}

fn of_end(end: &Terminator) -> Reach {
    match end {
        Terminator::Try { .. } | Terminator::Tail(..) | Terminator::Take(_) => Reach::Stack,
        Terminator::Jump(_)
        | Terminator::Branch { .. }
        | Terminator::Switch { .. }
        | Terminator::Return(_)
        | Terminator::Never => Reach::Nothing,
    }
}

fn of_op(module: &Module, known: &[Reach], op: &Op) -> Reach {
    let own = match op {
        // Their C uses the stack, though they have no effect on it in the IR.
        Op::Exit(_) => Reach::Stack,
        // A host's function in C gets the pointer that the host has set; others do not.
        Op::Foreign(id, places)
            if !module.foreigns[id.0 as usize].home.is_host() && places.is_empty() =>
        {
            Reach::Nothing
        }
        _other => {
            let effects = Effects::of(module, op);
            let touched = effects.reads.iter().chain(&effects.writes);
            touched.map(of_resource).max().unwrap_or(Reach::Nothing)
        }
    };
    let called = effects::called(module, op).into_iter();
    called
        .map(|function| known[function.at()])
        .fold(own, Reach::max)
}

fn of_resource(resource: &Resource) -> Reach {
    match resource {
        Resource::Bytes | Resource::Yielded | Resource::Control => Reach::Nothing,
        Resource::Region(Region::Setting(_)) => Reach::Settings,
        _other => Reach::Stack,
    }
}

/// The C type that a function returns: `void`, that of its result, or a struct of its own.
pub fn result(stack: &Stack<'_>, id: FunctionId) -> String {
    let results = &stack.module.function(id).results;
    match &results[..] {
        [] if stack.module.function(id).role == Role::Fast => "bool".to_string(),
        [] => "void".to_string(),
        [only] if !returns_struct(results) => types::local(stack, *only),
        _several => format!("struct {}_results", stack.names.functions[id.at()]),
    }
}

/// Results of these types are a struct: there are several, or a view, which is two.
pub fn returns_struct(results: &[Type]) -> bool {
    results.len() > 1 || results.contains(&Type::View)
}

/// A function of a kernel yields words: it takes `struct words *words` last.
pub fn yields(stack: &Stack<'_>, id: FunctionId) -> bool {
    stack.effects[id.at()].writes.contains(&Resource::Yielded)
}

/// The parameters of a function under these names, one for each of the IR.
pub fn parameters(stack: &Stack<'_>, id: FunctionId, names: &[String]) -> Vec<String> {
    let name = &stack.names.stack;
    let mut all = match stack.reach[id.at()] {
        Reach::Nothing => Vec::new(),
        Reach::Settings => vec![format!("const struct {name}_settings *settings")],
        Reach::Stack => vec![format!("struct {name} *stack")],
    };
    let function = stack.module.function(id);
    for (value, name) in function.parameters().iter().zip(names) {
        all.extend(types::parameters(stack, function.type_of(*value), name));
    }
    all
}

/// A call of a function from one that reaches as far as `within`; of a view two arguments are
/// given, and of a message its address.
pub fn called(stack: &Stack<'_>, within: Reach, id: FunctionId, arguments: Vec<C>) -> C {
    let mut all = match (stack.reach[id.at()], within) {
        (Reach::Nothing, _) => Vec::new(),
        (Reach::Settings, Reach::Stack) => vec![atom("stack").behind("settings").address()],
        (Reach::Settings, Reach::Nothing | Reach::Settings) => vec![atom("settings")],
        (Reach::Stack, _) => vec![atom("stack")],
    };
    all.extend(arguments);
    call(stack.names.functions[id.at()].clone(), all)
}
