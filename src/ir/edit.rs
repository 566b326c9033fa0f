//! Changes of a function as a whole: values in the place of others, and what nobody reaches or uses
//! is gone.

use super::function::{Function, Terminator};
use super::ids::{BlockId, Value};

/// Puts values in the place of others: `by` has one for each value, itself where it stays. The
/// other values stay defined.
pub fn substitute(function: &mut Function, by: &[Value]) {
    let change = |value: &mut Value| *value = by[value.at()];
    for block in &mut function.blocks {
        for instruction in &mut block.instructions {
            instruction.operands.iter_mut().for_each(change);
        }
        change_operands(&mut block.terminator, &mut { change });
    }
}

/// As [`substitute`], where a value in `by` may stand for one that stands for another.
pub fn substitute_in_turn(function: &mut Function, mut by: Vec<Value>) {
    for at in 0..by.len() {
        let mut last = by[at];
        while by[last.at()] != last {
            last = by[last.at()];
        }
        by[at] = last;
    }
    substitute(function, &by);
}

/// Changes all values that a terminator uses: its own, and those of its edges.
pub fn change_operands(end: &mut Terminator, change: &mut dyn FnMut(&mut Value)) {
    match end {
        Terminator::Jump(_) | Terminator::Never => {}
        Terminator::Branch { condition, .. } => change(condition),
        Terminator::Switch { value, .. } | Terminator::Take(value) => change(value),
        Terminator::Try { operands, .. }
        | Terminator::Return(operands)
        | Terminator::Tail(_, operands) => operands.iter_mut().for_each(&mut *change),
    }
    match end {
        Terminator::Jump(edge) => edge.arguments.iter_mut().for_each(change),
        Terminator::Branch {
            then, otherwise, ..
        } => {
            let edges = [then, otherwise].into_iter();
            edges.flat_map(|edge| &mut edge.arguments).for_each(change);
        }
        Terminator::Switch {
            cases, otherwise, ..
        } => {
            let cases = cases.iter_mut().map(|(_, _, edge)| edge);
            let edges = cases.chain([otherwise]);
            edges.flat_map(|edge| &mut edge.arguments).for_each(change);
        }
        Terminator::Try { done, failed, .. } => {
            let edges = [done, failed].into_iter();
            edges.flat_map(|edge| &mut edge.arguments).for_each(change);
        }
        Terminator::Return(_) | Terminator::Tail(..) | Terminator::Take(_) | Terminator::Never => {}
    }
}

/// All values that a terminator uses, to be changed: its own, and those of its edges.
pub fn operands_mut(end: &mut Terminator) -> Vec<&mut Value> {
    match end {
        Terminator::Jump(edge) => edge.arguments.iter_mut().collect(),
        Terminator::Branch {
            condition,
            then,
            otherwise,
            ..
        } => {
            let edges = [then, otherwise].into_iter();
            let edges = edges.flat_map(|edge| &mut edge.arguments);
            [condition].into_iter().chain(edges).collect()
        }
        Terminator::Switch {
            value,
            cases,
            otherwise,
        } => {
            let cases = cases
                .iter_mut()
                .flat_map(|(_, _, edge)| &mut edge.arguments);
            let edges = cases.chain(&mut otherwise.arguments);
            [value].into_iter().chain(edges).collect()
        }
        Terminator::Try {
            operands,
            done,
            failed,
            ..
        } => {
            let edges = done.arguments.iter_mut().chain(&mut failed.arguments);
            operands.iter_mut().chain(edges).collect()
        }
        Terminator::Return(operands) | Terminator::Tail(_, operands) => {
            operands.iter_mut().collect()
        }
        Terminator::Take(mark) => vec![mark],
        Terminator::Never => Vec::new(),
    }
}

/// Removes blocks that are not reached, and values that nothing defines any more. Blocks keep their
/// order.
pub fn compact(function: &mut Function) {
    let mut reached = vec![false; function.blocks.len()];
    let mut open = vec![BlockId(0)];
    while let Some(id) = open.pop() {
        if !std::mem::replace(&mut reached[id.at()], true) {
            let edges = function.block(id).terminator.edges();
            open.extend(edges.into_iter().map(|edge| edge.block));
        }
    }
    let mut places = vec![BlockId(0); function.blocks.len()];
    let mut next = 0;
    for (at, is_reached) in reached.iter().enumerate() {
        places[at] = BlockId(next);
        next += u32::from(*is_reached);
    }
    let mut keep = reached.iter();
    function
        .blocks
        .retain(|_| *keep.next().expect("each block is known"));
    for block in &mut function.blocks {
        for edge in block.terminator.edges_mut() {
            edge.block = places[edge.block.at()];
        }
    }
    renumber_values(function);
}

/// Gives values the numbers of the order in which they are defined.
fn renumber_values(function: &mut Function) {
    let mut by: Vec<Option<Value>> = vec![None; function.values.len()];
    let mut values = Vec::new();
    let old = std::mem::take(&mut function.values);
    let mut define = |value: Value| {
        values.push(old[value.at()].clone());
        by[value.at()] = Some(Value(values.len() as u32 - 1));
    };
    for block in &function.blocks {
        block.parameters.iter().copied().for_each(&mut define);
        for instruction in &block.instructions {
            instruction.results.iter().copied().for_each(&mut define);
        }
    }
    function.values = values;
    let change = |value: &mut Value| {
        *value = by[value.at()].expect("what is used is defined");
    };
    for block in &mut function.blocks {
        block.parameters.iter_mut().for_each(change);
        for instruction in &mut block.instructions {
            instruction.operands.iter_mut().for_each(change);
            instruction.results.iter_mut().for_each(change);
        }
        change_operands(&mut block.terminator, &mut { change });
    }
}

/// Returns a text that two functions share if they differ in nothing but names and places.
pub fn shape(function: &Function) -> String {
    let mut plain = function.clone();
    compact(&mut plain);
    plain.name.clear();
    plain.owner.clear();
    plain.span = None;
    plain.values.iter_mut().for_each(|value| value.hint.clear());
    for block in &mut plain.blocks {
        block.span = None;
        let all = block.instructions.iter_mut();
        all.for_each(|one| one.span = None);
    }
    format!("{plain:?}")
}
