//! Modules that break no rule, rules 6 and 9 included.
//!
//! In: the module of `world.rs`. Out: the same with a function as lowering and passes make them.

use crate::flow::{hands_on, leaves};
use crate::structure::sums;
use crate::world::*;
use stackloom::ir::op::{Arithmetic, Bits, Compare, Piece};
use stackloom::ir::{Attempt, Edge, Module, Op, Probability, Role, Terminator, Type, Value};

/// A sentence, and what is planted.
pub type Good = (&'static str, Plant);

/// Goes on where a message has so many bytes; elsewhere it is dropped.
fn at_least(body: &mut Body<'_>, message: Value, bytes: u64) {
    let (length, least) = (body.one(Op::Length, &[message]), body.word(bytes));
    let short = body.compare(Compare::Ult, length, least);
    let long = body.when(short);
    body.all(Op::Drop(BAD), &[message]);
    body.returns(&[]);
    body.build.go_to(long);
}

/// The first bytes of a message as a view, and the rest.
fn strip(body: &mut Body<'_>, message: Value, bytes: Value) -> (Value, Value) {
    let zero = body.word(0);
    let whole = body.one(Op::Look, &[message]);
    let header = body.one(Op::SubView, &[whole, zero, bytes]);
    (header, body.one(Op::Pull, &[message, bytes]))
}

/// None of them breaks a rule.
pub const MODULES: &[Good] = &[
    ("nothing is planted", |_module| {}),
    ("a message is dropped on both ways", sums),
    (
        "a header is stripped, and read when the rest was written",
        |module| {
            plant(module, Role::Reaction, &[MESSAGE], |body| {
                at_least(body, body.p(0), 20);
                let bytes = body.word(8);
                let rest = body.one(Op::Pull, &[body.p(0), bytes]);
                let header = body.one(Op::Before, &[rest, bytes]);
                body.read_two(header, 6);
                let (at, number) = (body.word(10), body.n(16, 1));
                body.all(Op::Write(TWO), &[rest, at, number]);
                body.read_two(header, 0);
                body.consumes(rest);
            });
        },
    ),
    ("a header says how long it is", header_with_length),
    ("bytes that were pushed are written", |module| {
        plant(module, Role::Reaction, &[MESSAGE], |body| {
            let pushed = body.push_bytes(body.p(0), 8);
            let (at, number) = (body.word(6), body.n(16, 1));
            body.all(Op::Write(TWO), &[pushed, at, number]);
            let view = body.one(Op::Look, &[pushed]);
            let length = body.one(Op::Length, &[pushed]);
            let zero = body.word(0);
            let pieces = vec![Piece::Zeros(4), Piece::Bytes];
            let sum = body.one(Op::Run(SUM, pieces), &[view, zero, length]);
            body.all(Op::Write(TWO), &[pushed, zero, sum]);
            body.consumes(pushed);
        });
    }),
    ("a message is cut to the lesser of two numbers", |module| {
        plant(module, Role::Reaction, &[MESSAGE, WORD], |body| {
            let length = body.one(Op::Length, &[body.p(0)]);
            let less = body.one(Op::Arithmetic(Arithmetic::Umin), &[length, body.p(1)]);
            let cut = body.one(Op::Cut, &[body.p(0), less]);
            body.consumes(cut);
        });
    }),
    ("a test of both ways holds where they meet", both_ways),
    (
        "a number of either way is at most the length",
        either_number,
    ),
    ("stripped bytes are restored", restored),
    ("an event is handed on with a view", |module| {
        plant(module, Role::Reaction, &[MESSAGE, WORD], |body| {
            hands_on(body, body.p(1));
        });
    }),
    ("a loop carries a message and a number", |module| {
        plant(module, Role::Reaction, &[MESSAGE, WORD], |body| {
            let count = body.n(64, 3);
            let carried = body.one(Op::Loop(CARRIES, 4), &[count, body.p(0)]);
            body.all(Op::Loop(TURN, 4), &[count, body.p(1)]);
            body.consumes(carried);
        });
    }),
    ("indices and divisors are tested", indices),
    ("a session is freed, and another found", |module| {
        plant(module, Role::Plain, &[WORD], |body| {
            let (found, failed) = body.attempt(Attempt::Live(SESSIONS), &[body.p(0)]);
            body.all(Op::Call(ENDS), &[found[0]]);
            let (again, none) = body.attempt(Attempt::Live(SESSIONS), &[body.p(0)]);
            body.all(Op::Load(OTHER), &[again[0]]);
            body.returns(&[]);
            body.then_returns(failed, &[]);
            body.then_returns(none, &[]);
        });
    }),
    (
        "a cache is disarmed behind stores and in a new session",
        caches,
    ),
    ("a fast function has guards, a commit and an output", fast),
    ("a switch has cases", |module| {
        plant(module, Role::Plain, &[Type::Int(8)], |body| {
            let blocks = [(); 3].map(|()| body.build.block(&[]));
            let case = |at: usize| (at as u64, Probability(300_000), Edge::to(blocks[at]));
            let cases = vec![case(0), case(1)];
            let otherwise = Edge::to(blocks[2]);
            let value = body.p(0);
            body.end(Terminator::Switch {
                value,
                cases,
                otherwise,
            });
            for block in blocks {
                body.then_returns(block, &[]);
            }
        });
    }),
];

/// A header of 4 bits of words, at least 20 bytes, and options behind its fixed part.
fn header_with_length(module: &mut Module) {
    plant(module, Role::Reaction, &[MESSAGE], |body| {
        at_least(body, body.p(0), 20);
        let zero = body.word(0);
        let whole = body.one(Op::Look, &[body.p(0)]);
        let words = Bits {
            skip: 4,
            width: 4,
            big: true,
        };
        let words = body.one(Op::Read(words), &[whole, zero]);
        let none = body.n(2, 0);
        let bytes = body.one(Op::Concat, &[words, none]);
        let bytes = body.one(Op::ZeroExtend(32), &[bytes]);
        let (length, least) = (body.one(Op::Length, &[body.p(0)]), body.word(20));
        let too_short = body.compare(Compare::Ult, bytes, least);
        let too_long = body.compare(Compare::Ult, length, bytes);
        let wrong = body.one(Op::Arithmetic(Arithmetic::Or), &[too_short, too_long]);
        let right = body.when(wrong);
        body.all(Op::Drop(BAD), &[body.p(0)]);
        body.returns(&[]);
        body.build.go_to(right);
        let (header, rest) = strip(body, body.p(0), bytes);
        let options = body.one(Op::Arithmetic(Arithmetic::Sub), &[bytes, least]);
        body.one(Op::SubView, &[header, least, options]);
        body.read_two(header, 18);
        body.consumes(rest);
    });
}

fn both_ways(module: &mut Module) {
    plant(module, Role::Plain, &[VIEW, BIT], |body| {
        let length = body.one(Op::Length, &[body.p(0)]);
        let (two, four) = (body.word(2), body.word(4));
        let otherwise = body.when(body.p(1));
        let join = body.build.block(&[]);
        let mut ends = Vec::new();
        let here = body.build.here();
        for (block, least) in [(here, two), (otherwise, four)] {
            if block != here {
                body.build.go_to(block);
            }
            let long = body.compare(Compare::Ule, least, length);
            ends.push(body.when(long));
            body.jump(join, &[]);
        }
        for end in ends {
            body.then_returns(end, &[]);
        }
        body.build.go_to(join);
        body.read_two(body.p(0), 0);
        body.returns(&[]);
    });
}

fn either_number(module: &mut Module) {
    plant(module, Role::Reaction, &[MESSAGE, WORD], |body| {
        let length = body.one(Op::Length, &[body.p(0)]);
        let fits = body.compare(Compare::Ule, body.p(1), length);
        let otherwise = body.when(fits);
        let join = body.build.block(&[(WORD, "bytes")]);
        body.jump(join, &[body.p(1)]);
        body.build.go_to(otherwise);
        body.jump(join, &[length]);
        body.build.go_to(join);
        let bytes = body.build.parameter_of(join, 0);
        let pulled = body.one(Op::Pull, &[body.p(0), bytes]);
        body.consumes(pulled);
    });
}

fn restored(module: &mut Module) {
    plant(module, Role::Reaction, &[MESSAGE], |body| {
        at_least(body, body.p(0), 8);
        let start = body.one(Op::Start, &[body.p(0)]);
        let bytes = body.word(8);
        let (_, rest) = strip(body, body.p(0), bytes);
        let (whole, failed) = body.attempt(Attempt::Restore, &[rest, start]);
        let view = body.one(Op::Look, &[whole[0]]);
        body.read_two(view, 6);
        body.consumes(whole[0]);
        body.build.go_to(failed);
        body.consumes(body.build.parameter_of(failed, 0));
    });
}

fn indices(module: &mut Module) {
    plant(module, Role::Plain, &[SESSION, WORD], |body| {
        let four = body.word(4);
        let index = body.one(Op::Arithmetic(Arithmetic::Urem), &[body.p(1), four]);
        body.all(Op::Load(SLOTS), &[body.p(0), index]);
        let child = body.one(Op::Index, &[body.p(0)]);
        body.all(Op::At(CHILDREN), &[child]);
        let zero = body.word(0);
        let some = body.compare(Compare::Ne, body.p(1), zero);
        let none = body.when(some);
        body.one(Op::Arithmetic(Arithmetic::Udiv), &[four, body.p(1)]);
        body.returns(&[]);
        body.then_returns(none, &[]);
    });
}

fn caches(module: &mut Module) {
    plant(module, Role::Plain, &[WORD], |body| {
        let (made, failed) = body.attempt(Attempt::Create(SESSIONS), &[body.p(0)]);
        let session = made[0];
        let zero = body.word(0);
        body.all(Op::Store(COUNT), &[session, zero]);
        body.all(Op::Disarm(CACHE), &[session]);
        let count = body.one(Op::Call(COUNTED), &[session]);
        body.all(Op::Recompute(CACHE), &[session, count]);
        body.all(Op::Store(OTHER), &[session, zero]);
        let index = body.one(Op::Index, &[session]);
        let (same, gone) = body.attempt(Attempt::Live(SESSIONS), &[index]);
        body.all(Op::Store(COUNT), &[session, body.p(0)]);
        body.all(Op::Disarm(CACHE), &[same[0]]);
        body.returns(&[]);
        body.then_returns(gone, &[]);
        body.then_returns(failed, &[]);
    });
}

fn fast(module: &mut Module) {
    let parameters = [MESSAGE, SESSION];
    plant(module, Role::Fast, &parameters, |body| {
        let on = body.one(Op::GoesOn(1), &[]);
        let off = body.one(Op::Not, &[on]);
        body.all(Op::Exit("busy".to_string()), &[off]);
        let count = body.one(Op::Call(COUNTED), &[body.p(1)]);
        body.all(Op::Recompute(CACHE), &[body.p(1), count]);
        let free = body.one(Op::HasBuffer, &[]);
        let none = body.one(Op::Not, &[free]);
        body.all(Op::Exit("full".to_string()), &[none]);
        body.all(Op::Commit, &[]);
        leaves(body, body.p(0));
        let (reply, failed) = body.attempt(Attempt::New, &[]);
        body.consumes(reply[0]);
        body.build.go_to(failed);
        body.end(Terminator::Never);
    });
}
