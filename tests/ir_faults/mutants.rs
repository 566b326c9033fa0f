//! The verifier answers for any module, however broken: it never panics.
//!
//! In: good modules, changed at random from printed seeds. Out: nothing; many are found to be
//! broken, and some are still good.

use crate::good::MODULES;
use crate::world::module;
use fastrand::Rng;
use stackloom::ir::verify::{Strictness, verify_with};
use stackloom::ir::{BlockId, Function, Instruction, Module, Value};

/// A value that the table may have, or not.
fn value(function: &Function, random: &mut Rng) -> Value {
    Value(random.u32(0..function.values.len() as u32 + 2))
}

fn instruction(module: &Module, random: &mut Rng) -> Option<Instruction> {
    let function = random.choice(&module.functions)?;
    let block = random.choice(&function.blocks)?;
    random.choice(&block.instructions).cloned()
}

/// Changes one thing of one function.
fn mutate(module: &mut Module, random: &mut Rng) {
    let other = instruction(module, random);
    let at = random.usize(0..module.functions.len());
    let function = &mut module.functions[at];
    let (any, second) = (value(function, random), value(function, random));
    let block = random.usize(0..function.blocks.len());
    let to = BlockId(random.u32(0..function.blocks.len() as u32 + 1));
    let block = &mut function.blocks[block];
    let count = block.instructions.len();
    let edge = random.usize(0..3);
    match (random.u8(0..8), other) {
        (0, Some(other)) if count > 0 => {
            block.instructions[random.usize(0..count)].op = other.op;
        }
        (1, Some(other)) => block.instructions.insert(random.usize(0..=count), other),
        (2, _) if count > 0 => drop(block.instructions.remove(random.usize(0..count))),
        (3, _) if count > 0 => {
            let operands = &mut block.instructions[random.usize(0..count)].operands;
            if let Some(operand) = operands.first_mut() {
                *operand = any;
            }
        }
        (4, _) => block.parameters.push(any),
        (5, _) => drop(block.parameters.pop()),
        (6, _) => {
            if let Some(edge) = block.terminator.edges_mut().into_iter().nth(edge) {
                edge.block = to;
            }
        }
        _ => {
            let of = function.values.get(second.at()).map(|second| second.of);
            if let (Some(value), Some(of)) = (function.values.get_mut(any.at()), of) {
                value.of = of;
            }
        }
    }
}

#[test]
fn a_broken_module_is_no_reason_to_panic() {
    let strictness = Strictness { ranges: true };
    let mut good = 0;
    for seed in 0..4_000 {
        let mut random = Rng::with_seed(seed);
        let mut module = module();
        let (_, plant) = random.choice(MODULES).expect("there are good modules");
        plant(&mut module);
        for _change in 0..random.u32(1..4) {
            mutate(&mut module, &mut random);
        }
        let found = std::panic::catch_unwind(|| verify_with(&module, strictness));
        let found = found.unwrap_or_else(|_| panic!("seed {seed}"));
        good += usize::from(found.is_ok());
    }
    assert!((20..2_000).contains(&good), "{good} of 4,000 are good");
}
