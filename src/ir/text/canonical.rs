//! The canonical form of a module: what its text says, and no more.
//!
//! In: a module. Out: the same, its values numbered in order of definition, without values that
//! nobody defines or uses, and without spans. `read(&write(&module))` is `canonical(&module)`.

use crate::ir::{Function, Module, Terminator, Value};

/// A module in canonical form.
pub fn canonical(module: &Module) -> Module {
    let mut module = module.clone();
    module.functions.iter_mut().for_each(renumber);
    module
}

/// Brings a function into canonical form.
pub fn renumber(function: &mut Function) {
    let mut order = defined(function);
    let mut new: Vec<Option<Value>> = vec![None; function.values.len()];
    for (at, value) in order.iter().enumerate() {
        new[value.at()] = Some(Value(at as u32));
    }
    let mut renamed = |value: &mut Value| {
        let Some(place) = new.get_mut(value.at()) else {
            return;
        };
        // A value that is used and not defined is an error of some pass; it keeps its type.
        *value = *place.get_or_insert_with(|| {
            order.push(*value);
            Value(order.len() as u32 - 1)
        });
    };
    for block in &mut function.blocks {
        block.parameters.iter_mut().for_each(&mut renamed);
        for instruction in &mut block.instructions {
            instruction.results.iter_mut().for_each(&mut renamed);
            instruction.operands.iter_mut().for_each(&mut renamed);
            instruction.span = None;
        }
        let uses = uses_mut(&mut block.terminator);
        uses.into_iter().for_each(&mut renamed);
        block.span = None;
    }
    let values = order
        .iter()
        .map(|value| function.values[value.at()].clone());
    function.values = values.collect();
    function.span = None;
}

/// The values of a function, each once, in order of definition.
pub fn defined(function: &Function) -> Vec<Value> {
    let mut order = Vec::new();
    let mut known = vec![false; function.values.len()];
    for block in &function.blocks {
        let results = block.instructions.iter().flat_map(|one| &one.results);
        for value in block.parameters.iter().chain(results) {
            let known = known.get_mut(value.at());
            if known.is_some_and(|known| !std::mem::replace(known, true)) {
                order.push(*value);
            }
        }
    }
    order
}

/// The values that a terminator uses, its own first, to be changed.
pub fn uses_mut(terminator: &mut Terminator) -> Vec<&mut Value> {
    match terminator {
        Terminator::Branch {
            condition: own,
            then: one,
            otherwise: other,
            ..
        } => {
            let edges = one.arguments.iter_mut().chain(&mut other.arguments);
            [own].into_iter().chain(edges).collect()
        }
        Terminator::Switch {
            value,
            cases,
            otherwise,
        } => {
            let cases = cases.iter_mut().map(|(_, _, edge)| edge);
            let edges = cases.chain([otherwise]);
            let arguments = edges.flat_map(|edge| &mut edge.arguments);
            [value].into_iter().chain(arguments).collect()
        }
        Terminator::Try {
            operands,
            done: one,
            failed: other,
            ..
        } => {
            let edges = one.arguments.iter_mut().chain(&mut other.arguments);
            operands.iter_mut().chain(edges).collect()
        }
        Terminator::Jump(edge) => edge.arguments.iter_mut().collect(),
        Terminator::Return(values) | Terminator::Tail(_, values) => values.iter_mut().collect(),
        Terminator::Take(mark) => vec![mark],
        Terminator::Never => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::build::Builder;
    use crate::ir::op::{Arithmetic, Op};
    use crate::ir::{Role, Type};

    #[test]
    fn values_are_numbered_in_order_of_definition() {
        let module = Module::default();
        let mut build = Builder::new("f", "", Role::Pure, &[(Type::WORD, "a")]);
        let a = build.parameter(0);
        let later = build.block(&[(Type::WORD, "later")]);
        let sum = build.value(&module, Op::Arithmetic(Arithmetic::Add), &[a, a]);
        build.end(Terminator::Jump(crate::ir::Edge {
            block: later,
            arguments: vec![sum],
        }));
        build.go_to(later);
        build.end(Terminator::Return(vec![build.parameter_of(later, 0)]));
        let mut function = build.finish(vec![Type::WORD]);
        function.values.push(function.values[0].clone());
        renumber(&mut function);
        assert_eq!(function.values.len(), 3);
        assert_eq!(function.blocks[0].instructions[0].results, [Value(1)]);
        assert_eq!(function.blocks[1].parameters, [Value(2)]);
        assert_eq!(function.blocks[1].terminator.uses(), [Value(2)]);
        let once = function.clone();
        renumber(&mut function);
        assert_eq!(function, once);
    }
}
