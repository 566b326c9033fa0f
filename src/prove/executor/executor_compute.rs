//! Symbolic execution of numbers and bytes, which have their meaning.
//!
//! In: an instruction that computes a value of its operands alone. Out: a term.

use super::{Executor, Frame};
use crate::ir::Instruction;
use crate::ir::op::Op;
use crate::prove::symbolic::Symbolic;
use crate::prove::terms::Term;

use Symbolic::Plain;

impl Executor<'_> {
    /// Returns the result of an operation on numbers.
    pub(super) fn compute(&mut self, frame: &Frame<'_>, instruction: &Instruction) -> Symbolic {
        let given: Vec<Symbolic> = instruction
            .operands
            .iter()
            .map(|one| frame.value(*one))
            .collect();
        if let (Op::Select, [Plain(condition), one, other]) = (&instruction.op, &given[..]) {
            return one.choose(self.terms, *condition, other);
        }
        let plain: Vec<Term> = given.iter().flat_map(Symbolic::terms).collect();
        let terms = &mut *self.terms;
        Plain(match &instruction.op {
            Op::Arithmetic(how) => terms.arithmetic(*how, plain[0], plain[1]),
            Op::Compare(how) => terms.compare(*how, plain[0], plain[1]),
            Op::Not if terms.bits(plain[0]) == 1 => terms.not(plain[0]),
            Op::Not => {
                let bits = terms.bits(plain[0]);
                let ones = terms.number(bits, u64::MAX);
                terms.subtract(ones, plain[0])
            }
            Op::ZeroExtend(bits) => terms.zero_extend((*bits).into(), plain[0]),
            Op::SignExtend(bits) => terms.sign_extend((*bits).into(), plain[0]),
            Op::Truncate(bits) => terms.extract(u32::from(*bits) - 1, 0, plain[0]),
            Op::Concat => terms.concat(&plain),
            Op::Index | Op::At(_) => plain[0],
            other => unreachable!("{other:?} computes no number"),
        })
    }

    /// Returns the result of an operation on bytes; nothing is known of it if it is about bytes
    /// at a place that is not constant.
    pub(super) fn compute_bytes(
        &mut self,
        frame: &mut Frame<'_>,
        instruction: &Instruction,
    ) -> Symbolic {
        let operands = &instruction.operands;
        let plain: Vec<Term> = operands.iter().map(|one| frame.plain(*one)).collect();
        let terms = &mut *self.terms;
        let at = plain.get(1).and_then(|at| terms.constant(*at));
        let found = match (&instruction.op, at) {
            (Op::Get(number), Some(at)) => terms.get(*number, plain[0], at),
            (Op::Put(number), Some(at)) => {
                let part = terms.in_bytes(*number, plain[2]);
                terms.put(plain[0], at, part)
            }
            (Op::PutBytes, Some(at)) => terms.put(plain[0], at, plain[2]),
            (Op::Resize(to), _) if *to > 0 => {
                let (own, bits) = (terms.bits(plain[0]), 8 * *to);
                Some(match own.cmp(&bits) {
                    std::cmp::Ordering::Equal => plain[0],
                    std::cmp::Ordering::Greater => terms.extract(own - 1, own - bits, plain[0]),
                    std::cmp::Ordering::Less => {
                        let zero = terms.zero(bits - own);
                        terms.concat(&[plain[0], zero])
                    }
                })
            }
            _at_a_place_that_varies => None,
        };
        match found {
            Some(term) => Plain(term),
            None => self.abstracted(frame, instruction).remove(0),
        }
    }
}
