//! The verifier takes a time that grows with the length of a function, not with its square.
//!
//! In: functions of 20,000 instructions and more. Out: the seconds that they take.

use crate::world::*;
use stackloom::ir::op::{Arithmetic, Compare};
use stackloom::ir::verify::{Strictness, verify_with};
use stackloom::ir::{Module, Op, Role};
use std::time::Instant;

/// Tests, reads, stores and joins: eight blocks deep and wide by turns.
fn long(module: &mut Module, turns: usize) {
    let parameters = [MESSAGE, SESSION, WORD];
    plant(module, Role::Reaction, &parameters, |body| {
        let (mut message, mut number) = (body.p(0), body.p(2));
        let session = body.p(1);
        let gone = body.build.block(&[(MESSAGE, "gone")]);
        for _turn in 0..turns {
            let view = body.one(Op::Look, &[message]);
            let (length, four) = (body.one(Op::Length, &[message]), body.word(4));
            let long = body.compare(Compare::Ule, four, length);
            let (then, short) = body.build.branch(long, stackloom::ir::Probability::EVEN);
            body.build.go_to(short);
            body.jump(gone, &[message]);
            body.build.go_to(then);
            let read = body.read_two(view, 2);
            let read = body.one(Op::ZeroExtend(32), &[read]);
            number = body.one(Op::Arithmetic(Arithmetic::Xor), &[number, read]);
            body.all(Op::Store(COUNT), &[session, number]);
            body.all(Op::Disarm(CACHE), &[session]);
            let even = body.one(Op::Truncate(1), &[number]);
            let otherwise = body.when(even);
            let join = body.build.block(&[(WORD, "either")]);
            let more = body.add(number, four);
            body.jump(join, &[more]);
            body.build.go_to(otherwise);
            body.jump(join, &[number]);
            body.build.go_to(join);
            number = body.build.parameter_of(join, 0);
            message = body.one(Op::Pull, &[message, four]);
        }
        body.jump(gone, &[message]);
        body.build.go_to(gone);
        body.consumes(body.build.parameter_of(gone, 0));
    });
}

fn seconds(turns: usize, strictness: Strictness) -> f64 {
    let mut module = module();
    long(&mut module, turns);
    let count = planted(&mut module).instructions().count();
    assert!(count >= 12 * turns, "{count} instructions");
    let before = Instant::now();
    let found = verify_with(&module, strictness);
    let seconds = before.elapsed().as_secs_f64();
    assert_eq!(found, Ok(()));
    println!("{count} instructions: {seconds} s");
    seconds
}

/// The best of three is taken, as the machine has other work to do.
#[test]
fn a_function_of_20_000_instructions_is_verified_at_once() {
    for ranges in [false, true] {
        let best = |turns: usize| {
            let all = [(); 3].map(|()| seconds(turns, Strictness { ranges }));
            all.into_iter().fold(f64::MAX, f64::min)
        };
        let (quarter, whole) = (best(400), best(1_600));
        let most = if cfg!(debug_assertions) { 10.0 } else { 0.5 };
        assert!(whole < most, "{whole} s");
        let is_linear = whole < 10.0 * quarter;
        assert!(is_linear, "{quarter} s, four times as long {whole} s");
    }
}
