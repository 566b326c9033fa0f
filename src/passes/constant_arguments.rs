//! Interprocedural constant propagation: a parameter that is the same constant at each call, or for
//! each event, is that constant within the function.
//!
//! In: a module. Out: functions without such parameters, and calls and events without what they
//! gave. A parameter that a function passes on is known with the parameter (the pass-through jump
//! functions of Callahan, Cooper, Kennedy and Torczon, "Interprocedural constant propagation",
//! 1986). Parameters of functions that a host or a kernel starts stay, and so do those that a loop
//! carries from turn to turn.
//!
//! ```text
//! tail udp.send(4, %m)             tail udp.send(%m)
//! event fn udp.send(%i, %m)        event fn udp.send(%m): %i = number i32 4
//! ```
//!
//! Assumes: rules 1 to 5 of the verifier. Cost: linear in the functions, each as often as more is
//! known of a parameter that it passes on.

use super::dead_parameters::{Removed, fixed, given};
use crate::ir::definitions::Definitions;
use crate::ir::edit::{compact, substitute};
use crate::ir::function::Definition;
use crate::ir::op::Op;
use crate::ir::{Function, Instruction, Module, Value};

/// Propagates constants through all functions of a module.
pub fn run(module: &mut Module) {
    let known = known(module);
    let mut removed = Removed::none(module);
    for (at, known) in known.into_iter().enumerate() {
        let function = &mut module.functions[at];
        for (place, known) in known.into_iter().enumerate() {
            if let Known::Always(op) = known {
                put(function, place, op);
                removed.parameters[at][place] = true;
            }
        }
    }
    removed.take_out(module);
    module.functions.iter_mut().for_each(compact);
}

/// A parameter, as far as is known.
#[derive(Clone, Debug, PartialEq)]
enum Known {
    /// Nobody has given anything yet.
    Nothing,
    /// Always this constant.
    Always(Op),
    /// Several values.
    Varies,
}

/// By function: its parameters.
fn known(module: &mut Module) -> Vec<Vec<Known>> {
    let fixed = fixed(module);
    let mut known: Vec<Vec<Known>> = Vec::new();
    for (function, fixed) in module.functions.iter().zip(&fixed) {
        let parameters = function.parameters().iter().zip(fixed);
        let first =
            parameters.map(
                |(value, fixed)| match *fixed || function.type_of(*value).is_linear() {
                    true => Known::Varies,
                    false => Known::Nothing,
                },
            );
        known.push(first.collect());
    }
    // A function is looked at again if more is known of its parameters. Most are given by functions
    // behind it, so these come first.
    let mut open = vec![true; module.functions.len()];
    while open.contains(&true) {
        for (at, function) in module.functions.iter().enumerate().rev() {
            if !std::mem::take(&mut open[at]) {
                continue;
            }
            let definitions = Definitions::of(function);
            given(function, &mut |id, place, value| {
                let new = of(function, &definitions, &known[at], value);
                open[id.at()] |= meet(&mut known[id.at()][place], new);
            });
        }
    }
    known
}

/// A value of a function of whose parameters this is known.
fn of(function: &Function, definitions: &Definitions<'_>, known: &[Known], value: Value) -> Known {
    match definitions.get(value).map(|one| &one.op) {
        Some(op @ (Op::Number(..) | Op::Bytes(_) | Op::Instance(..))) => Known::Always(op.clone()),
        Some(_) => Known::Varies,
        None => {
            let place = function.parameters().iter().position(|one| *one == value);
            place.map_or(Known::Varies, |place| known[place].clone())
        }
    }
}

fn meet(known: &mut Known, new: Known) -> bool {
    let met = match (&*known, new) {
        (_, Known::Nothing) | (Known::Varies, _) => return false,
        (Known::Nothing, new) => new,
        (Known::Always(old), Known::Always(new)) if *old == new => return false,
        (Known::Always(_), _) => Known::Varies,
    };
    *known = met;
    true
}

/// A constant takes the place of a parameter within a function.
fn put(function: &mut Function, place: usize, op: Op) {
    let parameter = function.parameters()[place];
    let definition: Definition = function.values[parameter.at()].clone();
    let mut by: Vec<Value> = (0..function.values.len() as u32).map(Value).collect();
    let constant = Value(by.len() as u32);
    by[parameter.at()] = constant;
    substitute(function, &by);
    function.values.push(definition);
    let instruction = Instruction {
        op,
        operands: Vec::new(),
        results: vec![constant],
        span: None,
    };
    function.blocks[0].instructions.insert(0, instruction);
}
