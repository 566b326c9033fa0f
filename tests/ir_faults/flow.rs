//! Faults of rules 5, 6, 9, 11, 12 and 13: borrows, ranges, lifetimes, caches, outputs.
//!
//! In: the module of `world.rs`. Out: the same with one fault.

use crate::world::*;
use stackloom::ir::op::{Arithmetic, Compare, Event, Order, Piece, Target};
use stackloom::ir::{
    Attempt, Cache, LinkId, Module, Op, OpaqueId, Region, Role, Stored, Terminator, Type,
};

/// A reaction to a message with room for what it does.
fn reacts(module: &mut Module, write: impl FnOnce(&mut Body<'_>)) {
    plant(module, Role::Reaction, &[MESSAGE, BIT], write);
}

/// A function that is given a session.
fn with_session(module: &mut Module, write: impl FnOnce(&mut Body<'_>)) {
    plant(module, Role::Plain, &[SESSION, WORD], write);
}

fn hears() -> Event {
    let target = Target::Function(HEARS);
    let arguments = 3;
    Event { target, arguments }
}

/// A frame leaves by the link.
pub fn leaves(body: &mut Body<'_>, message: stackloom::ir::Value) {
    let target = Target::Link(LinkId(0));
    let arguments = 1;
    body.all(Op::Output(vec![Event { target, arguments }]), &[message]);
}

/// Each breaks one rule.
pub const FAULTS: &[Fault] = &[
    (5, "a view is read when its message was pushed", |module| {
        reacts(module, |body| {
            let view = body.one(Op::Look, &[body.p(0)]);
            let pushed = body.push_bytes(body.p(0), 8);
            body.read_two(view, 0);
            body.consumes(pushed);
        });
    }),
    (5, "a view is read when its message was written", |module| {
        reacts(module, |body| {
            let view = body.one(Op::Look, &[body.p(0)]);
            let (at, number) = (body.word(0), body.n(16, 1));
            body.all(Op::Write(TWO), &[body.p(0), at, number]);
            body.read_two(view, 0);
            body.consumes(body.p(0));
        });
    }),
    (5, "a view is read when its message was dropped", |module| {
        reacts(module, |body| {
            let view = body.one(Op::Look, &[body.p(0)]);
            body.all(Op::Consume, &[body.p(0)]);
            body.read_two(view, 0);
            body.returns(&[]);
        });
    }),
    (
        5,
        "a view is read when its message was rewritten",
        |module| {
            reacts(module, |body| {
                let view = body.one(Op::Look, &[body.p(0)]);
                let rewritten = body.one(Op::Rewrite(SUM), &[body.p(0)]);
                body.read_two(view, 0);
                body.consumes(rewritten);
            });
        },
    ),
    (
        5,
        "a view that a function is given is read when its message was pushed",
        |module| {
            plant(module, Role::Reaction, &[MESSAGE, VIEW], |body| {
                let pushed = body.push_bytes(body.p(0), 8);
                body.read_two(body.p(1), 0);
                body.consumes(pushed);
            });
        },
    ),
    (
        5,
        "a view is read when its message was pushed on one way",
        |module| {
            reacts(module, |body| {
                let view = body.one(Op::Look, &[body.p(0)]);
                let otherwise = body.when(body.p(1));
                let join = body.build.block(&[(MESSAGE, "either")]);
                let pushed = body.push_bytes(body.p(0), 8);
                body.jump(join, &[pushed]);
                body.build.go_to(otherwise);
                body.jump(join, &[body.p(0)]);
                body.build.go_to(join);
                body.read_two(view, 0);
                body.consumes(body.build.parameter_of(join, 0));
            });
        },
    ),
    (
        5,
        "bytes behind a header are read when they were written",
        |module| {
            reacts(module, |body| {
                let view = body.one(Op::Look, &[body.p(0)]);
                let eight = body.word(8);
                let pulled = body.one(Op::Pull, &[body.p(0), eight]);
                let (at, number) = (body.word(0), body.n(16, 1));
                body.all(Op::Write(TWO), &[pulled, at, number]);
                body.read_two(view, 8);
                body.consumes(pulled);
            });
        },
    ),
    (5, "a view waits without its message", |module| {
        reacts(module, |body| {
            let view = body.one(Op::Look, &[body.p(0)]);
            let (new, failed) = body.attempt(Attempt::New, &[]);
            let zero = body.word(0);
            body.all(Op::Queue(Order::Back, vec![hears()]), &[zero, new[0], view]);
            body.consumes(body.p(0));
            body.build.go_to(failed);
            body.consumes(body.p(0));
        });
    }),
    (
        5,
        "a loop captures a view of the message that it carries",
        |module| {
            reacts(module, |body| {
                let view = body.one(Op::Look, &[body.p(0)]);
                let count = body.n(64, 2);
                let carried = body.one(Op::Loop(CAPTURES, 4), &[count, view, body.p(0)]);
                body.consumes(carried);
            });
        },
    ),
    (6, "a view is read without a test", |module| {
        plant(module, Role::Plain, &[VIEW], |body| {
            body.read_two(body.p(0), 0);
            body.returns(&[]);
        });
    }),
    (6, "a view is read one byte too far", |module| {
        plant(module, Role::Plain, &[VIEW], |body| {
            let (length, least) = (body.one(Op::Length, &[body.p(0)]), body.word(20));
            let short = body.compare(Compare::Ult, length, least);
            let long = body.when(short);
            body.returns(&[]);
            body.build.go_to(long);
            body.read_two(body.p(0), 19);
            body.returns(&[]);
        });
    }),
    (
        6,
        "a message is pulled by a number that it holds",
        |module| {
            reacts(module, |body| {
                let (length, least) = (body.one(Op::Length, &[body.p(0)]), body.word(2));
                let short = body.compare(Compare::Ult, length, least);
                let long = body.when(short);
                body.consumes(body.p(0));
                body.build.go_to(long);
                let view = body.one(Op::Look, &[body.p(0)]);
                let number = body.read_two(view, 0);
                let number = body.one(Op::ZeroExtend(32), &[number]);
                let pulled = body.one(Op::Pull, &[body.p(0), number]);
                body.consumes(pulled);
            });
        },
    ),
    (6, "a test of one way holds on one way only", |module| {
        plant(module, Role::Plain, &[VIEW, BIT], |body| {
            let (length, least) = (body.one(Op::Length, &[body.p(0)]), body.word(2));
            let otherwise = body.when(body.p(1));
            let join = body.build.block(&[]);
            let long = body.compare(Compare::Ule, least, length);
            let short = body.when(long);
            body.jump(join, &[]);
            body.then_returns(short, &[]);
            body.build.go_to(otherwise);
            body.jump(join, &[]);
            body.build.go_to(join);
            body.read_two(body.p(0), 0);
            body.returns(&[]);
        });
    }),
    (6, "a sum that may wrap is tested", |module| {
        plant(module, Role::Plain, &[VIEW, WORD], |body| {
            let two = body.word(2);
            let end = body.add(body.p(1), two);
            let length = body.one(Op::Length, &[body.p(0)]);
            let fits = body.compare(Compare::Ule, end, length);
            let otherwise = body.when(fits);
            body.one(Op::Read(BITS_OF_TWO), &[body.p(0), body.p(1)]);
            body.returns(&[]);
            body.then_returns(otherwise, &[]);
        });
    }),
    (6, "a kernel runs over bytes behind a view", |module| {
        plant(module, Role::Plain, &[VIEW], |body| {
            let (length, four) = (body.one(Op::Length, &[body.p(0)]), body.word(4));
            let end = body.add(length, four);
            let zero = body.word(0);
            let pieces = vec![Piece::Bytes];
            body.all(Op::Run(SUM, pieces), &[body.p(0), zero, end]);
            body.returns(&[]);
        });
    }),
    (6, "an empty message is written", |module| {
        plant(module, Role::Plain, &[], |body| {
            let (new, failed) = body.attempt(Attempt::New, &[]);
            let (at, number) = (body.word(0), body.n(16, 1));
            body.all(Op::Write(TWO), &[new[0], at, number]);
            body.consumes(new[0]);
            body.then_returns(failed, &[]);
        });
    }),
    (9, "a divisor may be 0", |module| {
        plant(module, Role::Plain, &[WORD, WORD], |body| {
            body.one(Op::Arithmetic(Arithmetic::Udiv), &[body.p(0), body.p(1)]);
            body.returns(&[]);
        });
    }),
    (9, "an index may be out of range", |module| {
        with_session(module, |body| {
            body.all(Op::Load(SLOTS), &[body.p(0), body.p(1)]);
            body.returns(&[]);
        });
    }),
    (9, "an instance is named by any number", |module| {
        plant(module, Role::Plain, &[WORD], |body| {
            body.all(Op::At(SESSIONS), &[body.p(0)]);
            body.returns(&[]);
        });
    }),
    (9, "bytes are read behind the last", |module| {
        plant(module, Role::Plain, &[Type::Bytes(4)], |body| {
            let at = body.word(3);
            body.all(Op::Get(TWO), &[body.p(0), at]);
            body.returns(&[]);
        });
    }),
    (
        5,
        "a text is stored behind a write to its place",
        |module| {
            let [one, other] = texts(module);
            plant(module, Role::Plain, &[], |body| {
                let layer = body.one(Op::Instance(LAYER, 0), &[]);
                let held = body.one(Op::Load(one), &[layer]);
                let text = body.one(Op::Text(OpaqueId(0), "new".to_string()), &[]);
                body.all(Op::Store(one), &[layer, text]);
                body.all(Op::Store(other), &[layer, held]);
                body.returns(&[]);
            });
        },
    ),
    (11, "a session is loaded when it was freed", |module| {
        with_session(module, |body| {
            body.all(Op::Free(SESSIONS), &[body.p(0)]);
            body.all(Op::Load(OTHER), &[body.p(0)]);
            body.returns(&[]);
        });
    }),
    (11, "a session is loaded when another was freed", |module| {
        plant(module, Role::Plain, &[SESSION, SESSION], |body| {
            body.all(Op::Free(SESSIONS), &[body.p(1)]);
            body.all(Op::Load(OTHER), &[body.p(0)]);
            body.returns(&[]);
        });
    }),
    (11, "a child is loaded when a session was freed", |module| {
        plant(module, Role::Plain, &[SESSION, CHILD], |body| {
            body.all(Op::Free(SESSIONS), &[body.p(0)]);
            body.all(Op::Load(CHILD_COUNT), &[body.p(1)]);
            body.returns(&[]);
        });
    }),
    (
        11,
        "a session is loaded behind a call that frees it",
        |module| {
            with_session(module, |body| {
                body.all(Op::Call(ENDS), &[body.p(0)]);
                body.all(Op::Load(OTHER), &[body.p(0)]);
                body.returns(&[]);
            });
        },
    ),
    (11, "a session was freed on one way", |module| {
        plant(module, Role::Plain, &[SESSION, BIT], |body| {
            let otherwise = body.when(body.p(1));
            let join = body.build.block(&[]);
            body.all(Op::Free(SESSIONS), &[body.p(0)]);
            body.jump(join, &[]);
            body.build.go_to(otherwise);
            body.jump(join, &[]);
            body.build.go_to(join);
            body.all(Op::Load(OTHER), &[body.p(0)]);
            body.returns(&[]);
        });
    }),
    (
        11,
        "a turn has a session that the last one freed",
        |module| {
            plant(module, Role::Plain, &[TIME, SESSION], |body| {
                body.all(Op::Loop(ENDING, 4), &[body.p(0), body.p(1)]);
                body.returns(&[]);
            });
        },
    ),
    (11, "an event that waits carries a session", |module| {
        add(module, "told", Role::Reaction, &[SESSION], |body| {
            body.returns(&[]);
            vec![]
        });
        with_session(module, |body| {
            let told = body.module.named("told").expect("it was added");
            let target = Target::Function(told);
            let arguments = 1;
            let event = Event { target, arguments };
            body.all(Op::Queue(Order::Back, vec![event]), &[body.p(0)]);
            body.returns(&[]);
        });
    }),
    (12, "a store leaves a cache old", |module| {
        with_session(module, |body| {
            body.all(Op::Store(COUNT), &[body.p(0), body.p(1)]);
            body.returns(&[]);
        });
    }),
    (12, "a cache is disarmed before the store", |module| {
        with_session(module, |body| {
            body.all(Op::Disarm(CACHE), &[body.p(0)]);
            body.all(Op::Store(COUNT), &[body.p(0), body.p(1)]);
            body.returns(&[]);
        });
    }),
    (12, "the cache of another session is disarmed", |module| {
        plant(module, Role::Plain, &[SESSION, SESSION, WORD], |body| {
            body.all(Op::Store(COUNT), &[body.p(0), body.p(2)]);
            body.all(Op::Disarm(CACHE), &[body.p(1)]);
            body.returns(&[]);
        });
    }),
    (12, "a cache is disarmed on one way", |module| {
        plant(module, Role::Plain, &[SESSION, WORD, BIT], |body| {
            body.all(Op::Store(COUNT), &[body.p(0), body.p(1)]);
            let otherwise = body.when(body.p(2));
            body.all(Op::Disarm(CACHE), &[body.p(0)]);
            body.returns(&[]);
            body.then_returns(otherwise, &[]);
        });
    }),
    (12, "a cache is read while it is old", |module| {
        with_session(module, |body| {
            body.all(Op::Store(COUNT), &[body.p(0), body.p(1)]);
            body.all(Op::Load(Region::Valid(CACHE)), &[body.p(0)]);
            body.all(Op::Disarm(CACHE), &[body.p(0)]);
            body.returns(&[]);
        });
    }),
    (12, "a new session has the cache of an old one", |module| {
        plant(module, Role::Plain, &[WORD], |body| {
            let (_, failed) = body.attempt(Attempt::Create(SESSIONS), &[body.p(0)]);
            body.returns(&[]);
            body.then_returns(failed, &[]);
        });
    }),
    (12, "a cache is stored", |module| {
        plant(module, Role::Plain, &[SESSION, BIT], |body| {
            body.all(Op::Store(Region::Valid(CACHE)), &[body.p(0), body.p(1)]);
            body.returns(&[]);
        });
    }),
    (12, "a cache remembers the time", |module| {
        add(module, "planted", Role::Pure, &[SESSION], |body| {
            let now = body.one(Op::Load(Region::Now), &[]);
            body.returns(&[now]);
            vec![TIME]
        });
        let remembers = module.named("planted").expect("it was added");
        module.caches.push(Cache {
            name: "time".to_string(),
            kind: Some(SESSIONS),
            remembers,
        });
    }),
    (
        12,
        "a cache of each session depends on the layer",
        |module| {
            module.kinds[LAYER.at()].fields[0].stored = Stored::Value(WORD);
            add(module, "whole", Role::Pure, &[SESSION], |body| {
                let layer = body.one(Op::Instance(LAYER, 0), &[]);
                let count = body.one(Op::Load(LAYER_COUNT), &[layer]);
                body.returns(&[count]);
                vec![WORD]
            });
            let remembers = module.named("whole").expect("it was added");
            module.caches.push(Cache {
                name: "whole".to_string(),
                kind: Some(SESSIONS),
                remembers,
            });
            plant(module, Role::Plain, &[WORD], |body| {
                let layer = body.one(Op::Instance(LAYER, 0), &[]);
                body.all(Op::Store(LAYER_COUNT), &[layer, body.p(0)]);
                body.returns(&[]);
            });
        },
    ),
    (13, "an output stands alone", |module| {
        reacts(module, |body| {
            leaves(body, body.p(0));
            body.returns(&[]);
        });
    }),
    (13, "an output stands where nothing goes on", |module| {
        reacts(module, |body| {
            let on = body.one(Op::GoesOn(1), &[]);
            let otherwise = body.when(on);
            body.consumes(body.p(0));
            body.build.go_to(otherwise);
            leaves(body, body.p(0));
            body.returns(&[]);
        });
    }),
    (13, "an output stands behind another", |module| {
        plant(module, Role::Reaction, &[MESSAGE, MESSAGE], |body| {
            let on = body.one(Op::GoesOn(1), &[]);
            let otherwise = body.when(on);
            leaves(body, body.p(0));
            leaves(body, body.p(1));
            body.returns(&[]);
            body.build.go_to(otherwise);
            body.all(Op::Consume, &[body.p(0)]);
            body.consumes(body.p(1));
        });
    }),
];

/// Hands an event on, with the view of its message.
pub fn hands_on(body: &mut Body<'_>, index: stackloom::ir::Value) {
    let view = body.one(Op::Look, &[body.p(0)]);
    body.end(Terminator::Tail(hears(), vec![index, body.p(0), view]));
}
