//! Types of values that the text does not say, as reading and writing both find them.
//!
//! In: a function, the types of the parameters of its blocks, and somebody who is told what the
//! rules of `signature.rs` make of each instruction. The reader takes that, or says what is wrong;
//! the writer compares it with what it knows, and marks where they differ. Blocks are visited in
//! an order in which each stands behind those that lead to it, so operands are known.

use super::expected::{Known, ended, operands};
use crate::ir::signature::{Typed, results};
use crate::ir::{Function, Module, Op, Terminator, Type, Value};

/// An instruction: the index of its block, and its own.
pub type Place = (usize, usize);

/// Hears each type that is inferred, and says which type holds.
pub trait Judge {
    /// The reason not to go on.
    type Wrong;

    /// Returns true for a constant whose type the text need not say.
    fn is_open(&self, value: Value) -> bool;

    /// The type of such a constant, for which nothing or this was inferred.
    fn literal(&mut self, value: Value, inferred: Known) -> Result<Type, Self::Wrong>;

    /// The types of the results of an instruction.
    fn results(
        &mut self,
        place: Place,
        inferred: Typed<Vec<Type>>,
    ) -> Result<Vec<Type>, Self::Wrong>;
}

/// Finds the type of each value.
pub fn infer<J: Judge>(
    module: &Module,
    function: &Function,
    judge: &mut J,
) -> Result<Vec<Known>, J::Wrong> {
    let mut known = vec![None; function.values.len()];
    for value in function.blocks.iter().flat_map(|block| &block.parameters) {
        set(&mut known, *value, function.type_of(*value));
    }
    for at in order(function) {
        let block = &function.blocks[at];
        for (index, instruction) in block.instructions.iter().enumerate() {
            let own = instruction.results.first();
            if own.is_some_and(|value| judge.is_open(*value)) {
                continue;
            }
            let types = types(&known, &instruction.operands);
            let expected = operands(module, &instruction.op, &types);
            literals(&mut known, &instruction.operands, &expected, judge)?;
            let inferred = inferred(module, &instruction.op, &known, &instruction.operands);
            let types = judge.results((at, index), inferred)?;
            for (value, of) in instruction.results.iter().zip(types) {
                set(&mut known, *value, of);
            }
        }
        let uses = block.terminator.uses();
        let expected = of_end(module, function, &block.terminator);
        literals(&mut known, &uses, &expected, judge)?;
    }
    Ok(known)
}

fn set(known: &mut [Known], value: Value, of: Type) {
    if let Some(known) = known.get_mut(value.at()) {
        *known = Some(of);
    }
}

fn types(known: &[Known], operands: &[Value]) -> Vec<Known> {
    let known = |value: &Value| known.get(value.at()).copied().flatten();
    operands.iter().map(known).collect()
}

/// Settles the constants among operands.
fn literals<J: Judge>(
    known: &mut [Known],
    operands: &[Value],
    expected: &[Known],
    judge: &mut J,
) -> Result<(), J::Wrong> {
    for (at, value) in operands.iter().enumerate() {
        if judge.is_open(*value) {
            let of = judge.literal(*value, expected.get(at).copied().flatten())?;
            set(known, *value, of);
        }
    }
    Ok(())
}

fn inferred(module: &Module, op: &Op, known: &[Known], operands: &[Value]) -> Typed<Vec<Type>> {
    let types: Option<Vec<Type>> = types(known, operands).into_iter().collect();
    let types = types.ok_or("the type of an operand is not known here")?;
    if let Op::Get(format) | Op::Put(format) | Op::Write(format) = op
        && !(1..=8).contains(&format.bytes)
    {
        return Err("a number fills 1 to 8 bytes".to_string());
    }
    results(module, op, &types)
}

/// The types that the values have to have which a terminator uses, its own first.
fn of_end(module: &Module, function: &Function, terminator: &Terminator) -> Vec<Known> {
    let mut expected = ended(module, &function.results, terminator);
    expected.resize(terminator.operands().len(), None);
    for edge in terminator.edges() {
        let block = function.blocks.get(edge.block.at());
        let parameters = block.map_or(&[][..], |block| &block.parameters);
        for at in 0..edge.arguments.len() {
            expected.push(parameters.get(at).map(|value| function.type_of(*value)));
        }
    }
    expected
}

/// The blocks, each behind those that lead to it as far as there are no cycles.
fn order(function: &Function) -> Vec<usize> {
    let count = function.blocks.len();
    let (mut seen, mut order) = (vec![false; count], Vec::new());
    for root in (0..count).rev() {
        visit(function, root, &mut seen, &mut order);
    }
    order.reverse();
    order
}

/// Adds a block and what it leads to, each before those that lead to it.
fn visit(function: &Function, root: usize, seen: &mut [bool], order: &mut Vec<usize>) {
    if std::mem::replace(&mut seen[root], true) {
        return;
    }
    let targets = |at: usize| -> Vec<usize> {
        let edges = function.blocks[at].terminator.edges();
        let targets = edges.iter().map(|edge| edge.block.at());
        targets.filter(|to| *to < function.blocks.len()).collect()
    };
    let mut open = vec![(root, targets(root))];
    while let Some((at, rest)) = open.last_mut() {
        let Some(next) = rest.pop() else {
            order.push(*at);
            open.pop();
            continue;
        };
        if !std::mem::replace(&mut seen[next], true) {
            open.push((next, targets(next)));
        }
    }
}
