//! Rules 3, 15 and 18: types, loops, probabilities.
//!
//! In: a function with a graph. Out: breaches. `signature.rs` has the types of operations; here
//! stand the rest, which are no types of operands: numbers of the operations themselves.

use super::breach::{Breach, Rule, Scope, Spot};
use crate::ir::op::{Bits, Change, Number};
use crate::ir::signature::{arguments, outcomes, results};
use crate::ir::types::ones;
use crate::ir::{
    Attempt, Instruction, KindId, Lives, Module, Op, Region, Terminator, TimerId, Type,
};

/// Checks types, loops and probabilities.
pub fn check(scope: &Scope<'_>) -> Vec<Breach> {
    let mut breaches = Vec::new();
    let mut check = |rule: Rule, spot: Spot, found: Result<(), String>| {
        if let Err(message) = found {
            breaches.push(scope.breach(rule, spot, message));
        }
    };
    let widths = scope.function.values.iter().map(|value| value.of);
    if widths
        .filter_map(Type::bits)
        .any(|bits| !(1..=64).contains(&bits))
    {
        let message = "a number has 1 to 64 bits".to_string();
        check(Rule::Types, (scope.graph.order[0], 0), Err(message));
    }
    let mut values = scope.function.values.iter().map(|value| value.of);
    let is_known = |of: Type| match of {
        Type::Float(bits) => [32, 64].contains(&bits),
        Type::Opaque(of) => of.at() < scope.module.opaques.len(),
        _other => true,
    };
    if !values.all(is_known) {
        let message = "a value has a type that is not there".to_string();
        check(Rule::Types, (scope.graph.order[0], 0), Err(message));
    }
    for (spot, instruction) in scope.instructions() {
        let rule = match instruction.op {
            Op::Loop(..) => Rule::Loops,
            _ => Rule::Types,
        };
        check(rule, spot, operation(scope, instruction));
    }
    for (spot, terminator) in scope.terminators() {
        check(Rule::Types, spot, end(scope, terminator));
        check(Rule::Probabilities, spot, probabilities(terminator));
    }
    breaches
}

fn operation(scope: &Scope<'_>, instruction: &Instruction) -> Result<(), String> {
    numbers(scope.module, &instruction.op)?;
    let operands = scope.types(&instruction.operands);
    let expected = results(scope.module, &instruction.op, &operands)?;
    expect(
        expected == scope.types(&instruction.results),
        "the results have other types",
    )
}

/// The numbers in an operation lie in the tables of the module, and have a meaning.
fn numbers(module: &Module, op: &Op) -> Result<(), String> {
    match op {
        Op::Instance(kind, at) => {
            let known = module.kinds.get(kind.at());
            let exists = known.is_some_and(|known| {
                let root = &module.kinds[module.root(*kind).at()];
                *at < known.capacity && root.lives == Lives::Always
            });
            expect(exists, "no such instance exists from the start")
        }
        Op::Get(number) | Op::Put(number) | Op::Write(number) => whole(*number),
        Op::Read(bits) => part(*bits),
        Op::Store(Region::Setting(_) | Region::Now) => {
            Err("settings and the time are not stored".to_string())
        }
        Op::Store(Region::Field(kind, field)) => {
            let known = module.kinds.get(kind.at());
            let is_key = known.is_some_and(|kind| kind.keys.contains(field));
            expect(
                !is_key,
                "a key is set when an instance is created or begins",
            )
        }
        Op::Drop(reason) | Op::Change(Change::DropAll(reason), _) => {
            let known = reason.at() < module.reasons.len();
            expect(known, "there is no such reason")
        }
        Op::At(kind) | Op::Ended(kind) | Op::Begin(kind) | Op::End(kind) | Op::Free(kind) => {
            kind_exists(module, *kind)
        }
        Op::StartTimer(kind, timer) | Op::StopTimer(kind, timer) | Op::TimerRuns(kind, timer) => {
            timer_exists(module, *kind, *timer)
        }
        Op::Count(counter) | Op::CountBy(counter) => {
            let known = counter.at() < module.counters.len();
            expect(known, "there is no such counter")
        }
        Op::Loop(_, most) => expect(*most >= 1, "a loop has one turn or more"),
        _ => Ok(()),
    }
}

fn whole(number: Number) -> Result<(), String> {
    let fits = (1..=8).contains(&number.bytes);
    expect(fits, "a number in bytes has 1 to 8 of them")
}

fn part(bits: Bits) -> Result<(), String> {
    let fits = (1..=64).contains(&bits.width) && bits.skip < 8;
    expect(fits, "a number of 1 to 64 bits begins in its first byte")
}

fn kind_exists(module: &Module, kind: KindId) -> Result<(), String> {
    let known = kind.at() < module.kinds.len();
    expect(known, "there is no such kind")
}

fn timer_exists(module: &Module, kind: KindId, timer: TimerId) -> Result<(), String> {
    let kind = module.kinds.get(kind.at());
    let known = kind.is_some_and(|kind| timer.at() < kind.timers.len());
    expect(known, "the kind has no such timer")
}

fn end(scope: &Scope<'_>, terminator: &Terminator) -> Result<(), String> {
    match terminator {
        Terminator::Jump(_) | Terminator::Never => Ok(()),
        Terminator::Branch { condition, .. } => {
            let is_bit = scope.function.type_of(*condition) == Type::BIT;
            expect(is_bit, "a branch asks a bit")
        }
        Terminator::Switch { value, cases, .. } => {
            let bits = scope.function.type_of(*value).bits();
            let bits = bits.ok_or("a switch asks a number")?;
            let mut numbers: Vec<u64> = cases.iter().map(|(number, ..)| *number).collect();
            numbers.sort_unstable();
            let distinct = numbers.windows(2).all(|two| two[0] != two[1]);
            expect(distinct, "the numbers of a switch are distinct")?;
            let fit = numbers.iter().all(|number| *number <= ones(bits));
            expect(fit, "the numbers of a switch have its width")
        }
        Terminator::Try {
            attempt, operands, ..
        } => {
            match attempt {
                Attempt::Live(kind) | Attempt::Find(kind) => kind_exists(scope.module, *kind)?,
                Attempt::Standing(kind) | Attempt::Create(kind) => {
                    kind_exists(scope.module, *kind)?;
                }
                Attempt::Soonest(kind, timer) => timer_exists(scope.module, *kind, *timer)?,
                _ => {}
            }
            outcomes(scope.module, attempt, &scope.types(operands)).map(|_types| ())
        }
        Terminator::Return(values) => {
            let same = scope.types(values) == scope.function.results;
            expect(same, "a return gives the results of the function")
        }
        Terminator::Tail(event, values) => {
            let expected = arguments(scope.module, event.target)?;
            let same = scope.types(values) == expected && event.arguments as usize == values.len();
            expect(same, "an event has the arguments of its target")
        }
        Terminator::Take(mark) => {
            let is_word = scope.function.type_of(*mark) == Type::WORD;
            expect(is_word, "a mark is an i32")
        }
    }
}

fn probabilities(terminator: &Terminator) -> Result<(), String> {
    let sum: u64 = match terminator {
        Terminator::Branch { likely, .. } | Terminator::Try { likely, .. } => likely.0.into(),
        Terminator::Switch { cases, .. } => {
            let cases = cases.iter().map(|(_, likely, _)| u64::from(likely.0));
            cases.sum()
        }
        _other => 0,
    };
    expect(sum <= 1_000_000, "probabilities are 1 at most in all")
}

fn expect(holds: bool, else_says: &str) -> Result<(), String> {
    if holds {
        Ok(())
    } else {
        Err(else_says.to_string())
    }
}
