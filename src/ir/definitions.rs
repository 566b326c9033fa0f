//! The instruction that gives each value, and what follows from a bit.
//!
//! In: a function. Out: a table by value. Parameters of blocks have no instruction.

use super::function::{Function, Instruction};
use super::ids::Value;
use super::op::{Arithmetic, Bits, Compare, Op};

/// By value: the instruction of which it is a result.
pub struct Definitions<'f> {
    function: &'f Function,
    found: Vec<Option<&'f Instruction>>,
}

/// A conjunction is followed to so many parts.
const PARTS: usize = 16;

impl<'f> Definitions<'f> {
    /// Those of a function.
    pub fn of(function: &'f Function) -> Definitions<'f> {
        let mut found = vec![None; function.values.len()];
        for instruction in function.instructions() {
            for result in &instruction.results {
                found[result.at()] = Some(instruction);
            }
        }
        Definitions { function, found }
    }

    /// The instruction that gives a value; none of the parameter of a block.
    pub fn get(&self, value: Value) -> Option<&'f Instruction> {
        self.found[value.at()]
    }

    /// Returns the name that the sources give a value; empty if they give none.
    pub fn hint(&self, value: Value) -> &'f str {
        &self.function.values[value.at()].hint
    }

    /// The width of a number in bits; none of a value that is no number.
    pub fn bits(&self, value: Value) -> Option<u8> {
        self.function.type_of(value).bits()
    }

    /// The number that a value always is.
    pub fn constant(&self, value: Value) -> Option<u64> {
        self.get(value)?.op.number()
    }

    /// The offset and the bits of a number that is read at a constant offset of a message.
    pub fn place(&self, message: Value, value: Value) -> Option<(u32, Bits)> {
        let instruction = self.get(value)?;
        let Op::Read(bits) = instruction.op else {
            return None;
        };
        let view = self.get(instruction.operands[0])?;
        if view.op != Op::Look || view.operands != [message] || bits.bytes() > 8 {
            return None;
        }
        let at = self.constant(instruction.operands[1])?;
        Some((u32::try_from(at).ok()?, bits))
    }

    /// All bits that follow from a bit: the bit, the parts of a conjunction that is 1, those of a
    /// disjunction that is 0, and so on.
    pub fn implied(&self, bit: Value, holds: bool) -> Vec<(Value, bool)> {
        let mut found = vec![(bit, holds)];
        let mut next = 0;
        while let Some((bit, holds)) = found.get(next).copied() {
            next += 1;
            let Some(instruction) = self.get(bit) else {
                continue;
            };
            if found.len() >= PARTS {
                break;
            }
            let operands = &instruction.operands;
            let same = operands.iter().map(|operand| (*operand, holds));
            match &instruction.op {
                Op::Not => found.push((operands[0], !holds)),
                Op::Arithmetic(Arithmetic::And) if holds => found.extend(same),
                Op::Arithmetic(Arithmetic::Or) if !holds => found.extend(same),
                Op::Compare(how @ (Compare::Eq | Compare::Ne)) => {
                    let equal = (*how == Compare::Eq) == holds;
                    if let Some(Op::Number(1, bit)) = self.get(operands[1]).map(|one| &one.op) {
                        found.push((operands[0], (*bit == 1) == equal));
                    }
                }
                _ => {}
            }
        }
        found
    }
}
