//! Splits guards: an exit that leaves for one of several reasons is an exit for each, so that each
//! can stand where it decides most.
//!
//! ```text
//! exit a (or %x, (not (and %y, %z)))      exit a %x
//!                                    =>   exit a (not %y)
//!                                         exit a (not %z)
//! ```

use crate::ir::definitions::Definitions;
use crate::ir::function::Definition;
use crate::ir::op::{Arithmetic, Op};
use crate::ir::{Function, Instruction, Type, Value};

/// An exit is split into so many at most.
const PARTS: usize = 16;

/// Splits the guards of a function.
pub fn split(function: &Function) -> Function {
    let definitions = Definitions::of(function);
    let mut new = function.clone();
    for block in &mut new.blocks {
        let mut all = Vec::new();
        for instruction in std::mem::take(&mut block.instructions) {
            if !matches!(instruction.op, Op::Exit(_)) {
                all.push(instruction);
                continue;
            }
            for (bit, leaves) in reasons(&definitions, instruction.operands[0]) {
                let mut exit = instruction.clone();
                exit.operands = vec![bit];
                if !leaves {
                    let not = Value(new.values.len() as u32);
                    new.values.push(Definition {
                        of: Type::BIT,
                        hint: String::new(),
                    });
                    all.push(Instruction {
                        op: Op::Not,
                        operands: vec![bit],
                        results: vec![not],
                        span: instruction.span,
                    });
                    exit.operands = vec![not];
                }
                all.push(exit);
            }
        }
        block.instructions = all;
    }
    new
}

/// Bits of which one is what it says if and only if a bit is set.
fn reasons(definitions: &Definitions<'_>, bit: Value) -> Vec<(Value, bool)> {
    let mut found = Vec::new();
    let mut open = vec![(bit, true)];
    while let Some((bit, holds)) = open.pop() {
        let instruction = definitions.get(bit);
        match instruction.map(|one| (&one.op, &one.operands[..])) {
            Some((Op::Not, [of])) => open.push((*of, !holds)),
            Some((Op::Arithmetic(how), [one, other]))
                if found.len() < PARTS
                    && *how
                        == if holds {
                            Arithmetic::Or
                        } else {
                            Arithmetic::And
                        } =>
            {
                open.extend([(*other, holds), (*one, holds)]);
            }
            _ => found.push((bit, holds)),
        }
    }
    found
}
