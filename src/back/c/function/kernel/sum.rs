//! Kernels that add words, and to the sum what is carried out of it: the Internet checksum (RFC
//! 1071). The C of these calls `sl_sum_round`, which adds many words at once.
//!
//! ```text
//! fn step(.., %sum: i64, %length, %place, %missing, %word: i64):
//!   %both = add %sum, %word
//!   return (add %both, (zext i64 (ult %both, %word)))
//! ```

use crate::ir::definitions::Definitions;
use crate::ir::op::{Arithmetic, Compare, Op, Piece};
use crate::ir::{Function, Instruction, Kernel, KernelId, Module, Terminator, Type, Value};
use std::collections::BTreeSet;

/// Parameters of a step behind the state: the length, the place, the missing bytes and the word.
const BEHIND: usize = 4;

/// Returns true if a kernel adds words of eight bytes, the least significant first, with what is
/// carried.
pub fn adds_words(module: &Module, kernel: &Kernel) -> bool {
    let is_little = kernel.unit == 8 && !kernel.big && kernel.tail.is_none();
    let state = &module.function(kernel.begins).results;
    is_little && state[..] == [Type::Int(64)] && is_sum(module.function(kernel.steps))
}

/// The words of fewer bytes than this are added one by one (`sl_sum_rest`).
const SHORT: u64 = 64;

/// Returns the lengths of short runs of a kernel that adds words, if they are constant: those of
/// headers.
pub fn short_lengths(module: &Module, id: KernelId) -> BTreeSet<u64> {
    let mut found = BTreeSet::new();
    if !adds_words(module, &module.kernels[id.at()]) {
        return found;
    }
    for function in &module.functions {
        let all = function.instructions();
        let runs = all.filter(|one| matches!(&one.op, Op::Run(kernel, _) if *kernel == id));
        let mut runs = runs.peekable();
        if runs.peek().is_some() {
            let definitions = Definitions::of(function);
            found.extend(runs.filter_map(|run| short_length(&definitions, run)));
        }
    }
    found
}

/// The length of a run over the first bytes of a view, if it is constant, and short.
pub fn short_length(definitions: &Definitions<'_>, run: &Instruction) -> Option<u64> {
    let is_one = matches!(&run.op, Op::Run(_, pieces) if pieces[..] == [Piece::Bytes]);
    let [.., from, to] = run.operands[..] else {
        return None;
    };
    let length = definitions.constant(to)?;
    let is_short = is_one && definitions.constant(from) == Some(0) && length < SHORT;
    is_short.then_some(length)
}

fn is_sum(function: &Function) -> bool {
    let definitions = Definitions::of(function);
    let parameters = function.parameters();
    let (Some(word), [block]) = (parameters.last(), &function.blocks[..]) else {
        return false;
    };
    let state = parameters[parameters.len() - BEHIND - 1];
    let Terminator::Return(results) = &block.terminator else {
        return false;
    };
    let sum = |value: Value| added(definitions.get(value)?);
    let is_carry = |value: Value, both: Value| {
        let carry = definitions
            .get(value)
            .filter(|one| one.op == Op::ZeroExtend(64));
        let bit = carry.and_then(|one| definitions.get(one.operands[0]));
        bit.is_some_and(|bit| {
            let is_less = bit.op == Op::Compare(Compare::Ult) && bit.operands[0] == both;
            is_less && [state, *word].contains(&bit.operands[1])
        })
    };
    let is_both = |value: Value| {
        sum(value).is_some_and(|parts| parts == [state, *word] || parts == [*word, state])
    };
    let parts = results.first().and_then(|result| sum(*result));
    parts.is_some_and(|[one, other]| {
        is_both(one) && is_carry(other, one) || is_both(other) && is_carry(one, other)
    })
}

/// The two parts of a sum.
fn added(instruction: &Instruction) -> Option<[Value; 2]> {
    let parts =
        (instruction.op == Op::Arithmetic(Arithmetic::Add)).then_some(&instruction.operands);
    parts?[..].try_into().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::text::read;

    const SUM: &str = "stack small

headroom 0

kernel check() unit 8 little {
  begins begin
  steps step
  finishes finish
}

pure fn begin(%n: i32) -> i64 {
  return 0
}

pure fn step(%sum: i64, %n: i32, %place: i32, %missing: i32, %word: i64) -> i64 {
  %both = add %word, %sum
  return (add (zext i64 (ult %both, %sum)), %both)
}

pure fn finish(%sum: i64, %n: i32, %place: i32) -> i64 {
  return %sum
}
";

    fn adds(text: &str) -> bool {
        let module = read(text).unwrap_or_else(|mistake| panic!("{mistake}"));
        adds_words(&module, &module.kernels[0])
    }

    #[test]
    fn a_sum_comes_round_with_what_is_carried() {
        assert!(adds(SUM));
        assert!(!adds(&SUM.replace("ult %both, %sum", "ult %sum, %both")));
        assert!(!adds(&SUM.replace("(add (zext", "(sub (zext")));
        assert!(!adds(&SUM.replace("unit 8 little", "unit 8 big")));
    }
}
