//! A function of the module as a function of C.
//!
//! In: a function. Out: a tree of C. Blocks stand in each other as they are dominated, and a block
//! to which several edges lead stands behind them, with a label where it is not simply reached. A
//! fast function returns whether it has done everything, and is tried before its reaction:
//!
//! ```c
//! static void tunnel_arrive(struct host *stack, struct message *message) {
//!     if (!tunnel_arrive_fast(stack, message)) {
//!         tunnel_arrive_slow(stack, message);
//!     }
//! }
//! ```
//!
//! ```text
//! plan.rs                which values stand in place, which blocks are copied
//! value.rs               expressions and variables that hold values
//! number.rs              arithmetic and comparisons
//! kernel.rs              kernels over runs of bytes
//! printer_structure.rs   blocks and their ends
//! printer_values.rs      values, computed in place or under a name
//! printer_operations.rs  operations that cannot fail
//! printer_bytes.rs       numbers and bytes within others
//! printer_attempts.rs    operations that may fail
//! printer_containers.rs  queues, windows, streams, sets
//! printer_events.rs      events that wait, leave or follow
//! printer_calls.rs       calls, loops, functions in C
//! printer_kernels.rs     kernels that run
//! ```

pub mod kernel;
pub mod number;
pub mod plan;
pub mod printer_attempts;
pub mod printer_bytes;
pub mod printer_calls;
pub mod printer_containers;
pub mod printer_events;
pub mod printer_kernels;
pub mod printer_operations;
pub mod printer_structure;
pub mod printer_values;
pub mod value;

use super::names::Taken;
use super::prototype::{self, Reach};
use super::{Stack, with_all_used};
use crate::c::tree::{Function as CFunction, Statement as S, atom, binary, call, call_statement};
use crate::c::walk::without_unused;
use crate::ir::definitions::Definitions;
use crate::ir::effects::borrowed::Borrowed;
use crate::ir::{Function, FunctionId, KernelId, KindId, Role, Type, Value};
use plan::Plan;
use printer_bytes::Headers;
use std::collections::{BTreeMap, BTreeSet};
use value::{Given, Variable};

/// A function that is being printed.
pub struct Printer<'p> {
    /// The stack.
    pub stack: &'p Stack<'p>,
    /// The function.
    pub function: &'p Function,
    /// Its number.
    pub id: FunctionId,
    definitions: Definitions<'p>,
    /// Messages whose bytes are read in streams.
    borrowed: Borrowed,
    /// The part of the stack that the function touches.
    pub reach: Reach,
    /// Its plan.
    pub plan: Plan,
    /// By value: what holds it, as soon as it is computed.
    given: Vec<Option<Given>>,
    /// By scope of C, the innermost last: pointers to instances, each by its index and kind.
    pointers: Vec<BTreeMap<(Value, KindId), String>>,
    /// By block: the label of a join, and how often control goes there by it.
    labels: Vec<Option<(String, u32)>>,
    /// Names of locals.
    taken: Taken,
    /// The struct that it returns, if it has several results.
    results: Option<String>,
    /// The messages into which the block that is printed writes several times.
    headers: Headers,
}

/// Prints all functions of a module, those of kernels first.
pub fn all(stack: &Stack<'_>) -> Vec<CFunction> {
    let kernels = (0..stack.module.kernels.len() as u32).map(KernelId);
    let kernels = kernels.flat_map(|id| kernel::functions(stack, id));
    let own = (0..stack.module.functions.len() as u32).map(FunctionId);
    let own = own.flat_map(|id| match tried(stack, id) {
        Some([slow, tries]) => vec![slow, tries],
        None => vec![print(stack, id)],
    });
    kernels.chain(own).collect()
}

/// Returns the names of the functions that a compiler expands where they are called.
pub fn hot<'s>(stack: &'s Stack<'_>) -> BTreeSet<&'s str> {
    let all = (0..stack.module.functions.len() as u32).map(FunctionId);
    let hot = all.filter(|id| stack.is_expanded(*id));
    hot.map(|id| stack.names.functions[id.at()].as_str())
        .collect()
}

/// Prints a function.
pub fn print(stack: &Stack<'_>, id: FunctionId) -> CFunction {
    let function = stack.module.function(id);
    let mut taken = stack.names.inside.clone();
    let plan = Plan::of(stack, function);
    let mut names = Vec::new();
    for value in function.parameters() {
        let hint = function.values[value.at()].hint.as_str();
        let hint = if hint.is_empty() { "given" } else { hint };
        names.push(taken.take(hint));
        if function.type_of(*value) == Type::View {
            let name = names.last().expect("it was just put there");
            taken.reserve(&format!("{name}_length"));
        }
    }
    let several = prototype::returns_struct(&function.results);
    let mut printer = Printer {
        stack,
        function,
        id,
        definitions: Definitions::of(function),
        borrowed: Borrowed::of(stack.module, function),
        reach: stack.reach[id.at()],
        plan,
        given: vec![None; function.values.len()],
        pointers: Vec::new(),
        labels: vec![None; function.blocks.len()],
        taken,
        results: several.then(|| prototype::result(stack, id)),
        headers: Headers::default(),
    };
    let mut parameters = prototype::parameters(stack, id, &names);
    if prototype::yields(stack, id) {
        parameters.push("struct words *words".to_string());
    }
    printer.receive(&names);
    let mut body = printer.body();
    without_unused(&mut body);
    body.splice(0..0, stack.paths.begin(stack.module, id));
    if let Some(S::Return(None)) = body.last() {
        body.pop();
    }
    with_all_used(CFunction {
        comment: described(stack, function),
        result: match stack.is_expanded(id) {
            true => format!("static inline {}", prototype::result(stack, id)),
            false => format!("static {}", prototype::result(stack, id)),
        },
        name: stack.names.functions[id.at()].clone(),
        parameters,
        body,
    })
}

/// The place of a function in the sources: `arp.loom:41`.
fn described(stack: &Stack<'_>, function: &Function) -> String {
    function.span.map_or(String::new(), |span| {
        let line = stack.sources.line(span.file, span.start);
        let name = stack.sources.name(span.file);
        let file = name.rsplit('/').next().unwrap_or(name);
        format!("{file}:{line}")
    })
}

/// The body of a function before which another is tried, and the function that tries it first.
fn tried(stack: &Stack<'_>, id: FunctionId) -> Option<[CFunction; 2]> {
    let fast = stack.module.function(id).fast?;
    if stack.tries_apart(id) {
        return None;
    }
    let slow = stack.names.slow[id.at()].clone();
    let slow = slow.expect("a reaction with a fast function has a name for its body");
    let body = print(stack, id);
    let names = parameters(stack, id);
    let arguments: Vec<_> = names.iter().map(|name| atom(name.as_str())).collect();
    let tries = call(stack.names.functions[fast.at()].clone(), arguments.clone());
    let does = match stack.module.function(id).role {
        Role::Fast => {
            let whole = call(slow.clone(), arguments);
            S::Return(Some(binary("||", tries, whole)))
        }
        _reaction => S::If {
            condition: tries.negated(),
            then: vec![call_statement(slow.clone(), arguments)],
            otherwise: Vec::new(),
        },
    };
    let tries = CFunction {
        comment: body.comment.clone(),
        body: vec![does],
        parameters: prototype::parameters(stack, id, &values(stack, id)),
        ..body.clone()
    };
    Some([CFunction { name: slow, ..body }, tries])
}

/// The names of the values that a reaction is given.
fn values(stack: &Stack<'_>, id: FunctionId) -> Vec<String> {
    let function = stack.module.function(id);
    let mut taken = stack.names.inside.clone();
    let names = function.parameters().iter().map(|value| {
        let hint = function.values[value.at()].hint.as_str();
        taken.take(if hint.is_empty() { "given" } else { hint })
    });
    names.collect()
}

/// The names of its parameters in C.
fn parameters(stack: &Stack<'_>, id: FunctionId) -> Vec<String> {
    let declared = prototype::parameters(stack, id, &values(stack, id));
    let names = declared.iter().map(|parameter| {
        let name = parameter.rsplit([' ', '*']).next();
        name.expect("a declaration has a name").to_string()
    });
    names.collect()
}

impl<'p> Printer<'p> {
    /// The parameters hold their values.
    fn receive(&mut self, names: &[String]) {
        let parameters: Vec<Value> = self.function.parameters().to_vec();
        for (value, name) in parameters.into_iter().zip(names) {
            let given = match self.function.type_of(value) {
                Type::Int(bits) => Given::Number(number::Number::local(bits, atom(name))),
                Type::Instance(_) => Given::Number(number::Number::word(atom(name))),
                Type::Bytes(_) | Type::Float(_) | Type::Opaque(_) => Given::Plain(atom(name)),
                Type::View => Given::View {
                    data: atom(name),
                    length: atom(format!("{name}_length")),
                },
                Type::Message => Given::Message(Variable::pointer(name)),
            };
            self.given[value.at()] = Some(given);
        }
    }

    /// A name for a local: that of the source, or else a word for its operation.
    pub fn name(&mut self, value: Value, otherwise: &str) -> String {
        let hint = &self.function.values[value.at()].hint;
        let wanted = if hint.is_empty() { otherwise } else { hint };
        let wanted = wanted.to_string();
        self.taken.take(&wanted)
    }

    /// A name for a local that holds no value of the function.
    pub fn local(&mut self, wanted: &str) -> String {
        self.taken.take(wanted)
    }
}
