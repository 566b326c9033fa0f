//! Faults of rules 1 to 4, 10, 14 and above: structure, handles, guards, roles, tables.
//!
//! In: the module of `world.rs`. Out: the same with one fault.

use crate::world::*;
use stackloom::ir::interface::{Export, Shape};
use stackloom::ir::op::{Arithmetic, Event, Floating, Order, Target};
use stackloom::ir::types::Type;
use stackloom::ir::{
    Attempt, BlockId, Edge, FunctionId, Lives, Module, Op, Probability, ReasonId, Region, Role,
    SettingId, Stored, Terminator, Value,
};

fn event(target: FunctionId, arguments: u32) -> Event {
    let target = Target::Function(target);
    Event { target, arguments }
}

/// A fast function that commits and returns.
fn fast(module: &mut Module, write: impl FnOnce(&mut Body<'_>)) {
    plant(module, Role::Fast, &[SESSION], write);
}

/// A function of two blocks.
fn two_blocks(module: &mut Module) {
    plant(module, Role::Plain, &[WORD], |body| {
        let next = body.build.block(&[(WORD, "given")]);
        body.jump(next, &[body.p(0)]);
        body.then_returns(next, &[]);
    });
}

/// A reaction that drops its message in one of two ways.
fn drops(module: &mut Module, in_both: bool) {
    plant(module, Role::Reaction, &[MESSAGE, BIT], |body| {
        let otherwise = body.when(body.p(1));
        body.consumes(body.p(0));
        body.build.go_to(otherwise);
        if in_both {
            body.all(Op::Consume, &[body.p(0)]);
        }
        body.returns(&[]);
    });
}

/// Each breaks one rule.
pub const FAULTS: &[Fault] = &[
    (1, "a function has no block", |module| {
        two_blocks(module);
        planted(module).blocks.clear();
    }),
    (1, "an edge leads nowhere", |module| {
        two_blocks(module);
        planted(module).blocks[0].terminator = Terminator::Jump(Edge::to(BlockId(9)));
    }),
    (1, "a block leads to itself", |module| {
        two_blocks(module);
        let edge = Edge {
            block: BlockId(1),
            arguments: vec![Value(1)],
        };
        planted(module).blocks[1].terminator = Terminator::Jump(edge);
    }),
    (1, "a block is not reached", |module| {
        two_blocks(module);
        planted(module).blocks[0].terminator = Terminator::Return(vec![]);
    }),
    (1, "a function calls itself", |module| {
        plant(module, Role::Plain, &[WORD], |body| {
            body.all(Op::Call(PLAIN), &[body.p(0)]);
            body.returns(&[]);
        });
        let own = FunctionId(module.functions.len() as u32 - 1);
        let function = planted(module);
        function.results = vec![WORD];
        function.blocks[0].instructions[0].op = Op::Call(own);
        function.blocks[0].terminator = Terminator::Return(vec![Value(1)]);
    }),
    (1, "a loop calls a function behind it", |module| {
        plant(module, Role::Plain, &[TIME, WORD], |body| {
            body.all(Op::Loop(TURN, 4), &[body.p(0), body.p(1)]);
            body.returns(&[]);
        });
        let last = module.functions.len();
        module.functions.swap(TURN.at(), last - 1);
        let function = &mut module.functions[TURN.at()];
        function.blocks[0].instructions[0].op = Op::Loop(FunctionId(last as u32 - 1), 4);
    }),
    (2, "a value is not in the table", |module| {
        plant(module, Role::Plain, &[], |body| body.returns(&[]));
        let function = planted(module);
        function.results = vec![WORD];
        function.blocks[0].terminator = Terminator::Return(vec![Value(7)]);
    }),
    (2, "a value is defined twice", |module| {
        plant(module, Role::Plain, &[], |body| {
            body.word(1);
            body.returns(&[]);
        });
        let block = &mut planted(module).blocks[0];
        let again = block.instructions[0].clone();
        block.instructions.push(again);
    }),
    (2, "a value is used before it is defined", |module| {
        plant(module, Role::Plain, &[WORD], |body| {
            let one = body.word(1);
            body.add(body.p(0), one);
            body.returns(&[]);
        });
        planted(module).blocks[0].instructions.swap(0, 1);
    }),
    (2, "a value of one way is used on another", |module| {
        plant(module, Role::Plain, &[BIT], |body| {
            let otherwise = body.when(body.p(0));
            let one = body.word(1);
            body.returns(&[]);
            body.build.go_to(otherwise);
            body.all(Op::Not, &[one]);
            body.returns(&[]);
        });
    }),
    (2, "an edge gives too little", |module| {
        two_blocks(module);
        planted(module).blocks[0].terminator = Terminator::Jump(Edge::to(BlockId(1)));
    }),
    (2, "an edge gives another type", |module| {
        two_blocks(module);
        planted(module).values[1].of = TIME;
    }),
    (2, "nothing takes what an attempt gives", |module| {
        plant(module, Role::Plain, &[WORD], |body| {
            let (_, failed) = body.attempt(Attempt::Live(SESSIONS), &[body.p(0)]);
            body.returns(&[]);
            body.then_returns(failed, &[]);
        });
        planted(module).blocks[1].parameters.clear();
    }),
    (3, "numbers of two widths are added", |module| {
        plant(module, Role::Plain, &[WORD, TIME], |body| {
            body.add(body.p(0), body.p(0));
            body.returns(&[]);
        });
        planted(module).blocks[0].instructions[0].operands[1] = Value(1);
    }),
    (3, "a result has another type", |module| {
        plant(module, Role::Plain, &[WORD], |body| {
            body.all(Op::Not, &[body.p(0)]);
            body.returns(&[]);
        });
        planted(module).values[1].of = TIME;
    }),
    (3, "the other sign of a double is a float", |module| {
        plant(module, Role::Plain, &[], |body| {
            let half = body.one(Op::Real(64, 0.5_f64.to_bits()), &[]);
            body.all(Op::Float(Floating::Neg), &[half]);
            body.returns(&[]);
        });
        planted(module).values[1].of = Type::Float(32);
    }),
    (23, "a host calls what gives something else", |module| {
        module.exports.push(Export {
            name: "give".to_string(),
            parameters: Vec::new(),
            result: Some(Shape::Float(32)),
            calls: PLAIN,
        });
    }),
    (
        23,
        "a field is of an opaque type that is not there",
        |module| {
            texts(module);
            module.opaques.clear();
        },
    ),
    (3, "a branch asks a word", |module| {
        plant(module, Role::Plain, &[BIT], |body| {
            let otherwise = body.when(body.p(0));
            body.returns(&[]);
            body.then_returns(otherwise, &[]);
        });
        planted(module).values[0].of = WORD;
    }),
    (3, "a case stands twice in a switch", |module| {
        switch(module, [3, 3], 1)
    }),
    (3, "a case is wider than the number", |module| {
        switch(module, [3, 1 << 32], 1)
    }),
    (3, "a return gives nothing", |module| {
        plant(module, Role::Plain, &[], |body| body.returns(&[]));
        planted(module).results = vec![WORD];
    }),
    (3, "a setting is stored", |module| {
        plant(module, Role::Plain, &[WORD], |body| {
            body.all(Op::Store(Region::Setting(SettingId(0))), &[body.p(0)]);
            body.returns(&[]);
        });
    }),
    (3, "a key is stored", |module| {
        plant(module, Role::Plain, &[SESSION, WORD], |body| {
            body.all(Op::Store(KEY), &[body.p(0), body.p(1)]);
            body.returns(&[]);
        });
    }),
    (3, "a timer is not in the table", |module| {
        plant(module, Role::Plain, &[SESSION, TIME], |body| {
            let timer = stackloom::ir::TimerId(RETRY.0 + 1);
            body.all(Op::StartTimer(SESSIONS, timer), &[body.p(0), body.p(1)]);
            body.returns(&[]);
        });
    }),
    (3, "a reason is not in the table", |module| {
        plant(module, Role::Reaction, &[MESSAGE], |body| {
            body.all(Op::Drop(ReasonId(9)), &[body.p(0)]);
            body.returns(&[]);
        });
    }),
    (4, "a message is dropped twice", |module| {
        plant(module, Role::Reaction, &[MESSAGE], |body| {
            body.all(Op::Drop(BAD), &[body.p(0)]);
            body.all(Op::Drop(BAD), &[body.p(0)]);
            body.returns(&[]);
        });
    }),
    (4, "a message is forgotten", |module| {
        plant(module, Role::Reaction, &[MESSAGE], |body| body.returns(&[]));
    }),
    (4, "a message is forgotten on one way", |module| {
        drops(module, false)
    }),
    (4, "the length of a dropped message is asked", |module| {
        plant(module, Role::Reaction, &[MESSAGE], |body| {
            body.all(Op::Consume, &[body.p(0)]);
            body.all(Op::Length, &[body.p(0)]);
            body.returns(&[]);
        });
    }),
    (4, "a message is used when it was pulled", |module| {
        plant(module, Role::Reaction, &[MESSAGE, WORD], |body| {
            let pulled = body.one(Op::Pull, &[body.p(0), body.p(1)]);
            body.all(Op::Consume, &[body.p(0)]);
            body.consumes(pulled);
        });
    }),
    (
        4,
        "a message is dropped before two ways meet, on one",
        |module| {
            plant(module, Role::Reaction, &[MESSAGE, BIT], |body| {
                let otherwise = body.when(body.p(1));
                let join = body.build.block(&[]);
                body.all(Op::Consume, &[body.p(0)]);
                body.jump(join, &[]);
                body.build.go_to(otherwise);
                body.jump(join, &[]);
                body.then_returns(join, &[]);
            });
        },
    ),
    (4, "a shared message is forgotten", |module| {
        plant(module, Role::Reaction, &[MESSAGE], |body| {
            let (shared, failed) = body.attempt(Attempt::Share, &[body.p(0)]);
            body.consumes(shared[0]);
            body.build.go_to(failed);
            body.consumes(body.p(0));
        });
    }),
    (4, "a message that comes back is forgotten", |module| {
        plant(module, Role::Plain, &[SESSION, MESSAGE], |body| {
            let operands = [body.p(0), body.p(1)];
            let (_, failed) = body.attempt(Attempt::PushItem(QUEUE), &operands);
            body.returns(&[]);
            body.then_returns(failed, &[]);
        });
    }),
    (4, "a new message is forgotten", |module| {
        plant(module, Role::Plain, &[], |body| {
            let (_, failed) = body.attempt(Attempt::New, &[]);
            body.returns(&[]);
            body.then_returns(failed, &[]);
        });
    }),
    (4, "a loop captures a message", |module| {
        add(module, "takes", Role::Plain, &[WORD, MESSAGE], |body| {
            let on = body.n(1, 1);
            body.all(Op::Consume, &[body.p(1)]);
            body.returns(&[on]);
            vec![BIT]
        });
        plant(module, Role::Plain, &[TIME, MESSAGE], |body| {
            let takes = body.module.named("takes").expect("it was added");
            body.all(Op::Loop(takes, 4), &[body.p(0), body.p(1)]);
            body.returns(&[]);
        });
    }),
    (10, "a plain function commits", |module| {
        plant(module, Role::Plain, &[], |body| {
            body.all(Op::Commit, &[]);
            body.returns(&[]);
        });
    }),
    (10, "a path does not commit", |module| {
        fast(module, |body| body.returns(&[]))
    }),
    (10, "a path commits twice", |module| {
        fast(module, |body| {
            body.all(Op::Commit, &[]);
            body.all(Op::Commit, &[]);
            body.returns(&[]);
        });
    }),
    (10, "an exit stands behind a commit", |module| {
        fast(module, |body| {
            let bit = body.n(1, 0);
            body.all(Op::Commit, &[]);
            body.all(Op::Exit("late".to_string()), &[bit]);
            body.returns(&[]);
        });
    }),
    (10, "a guard stores", |module| {
        fast(module, |body| {
            let number = body.word(1);
            body.all(Op::Store(OTHER), &[body.p(0), number]);
            body.all(Op::Commit, &[]);
            body.returns(&[]);
        });
    }),
    (10, "a guard calls what writes", |module| {
        fast(module, |body| {
            let index = body.one(Op::Index, &[body.p(0)]);
            let (found, failed) = body.attempt(Attempt::Live(SESSIONS), &[index]);
            body.all(Op::Call(ENDS), &[found[0]]);
            body.all(Op::Commit, &[]);
            body.returns(&[]);
            body.build.go_to(failed);
            body.all(Op::Commit, &[]);
            body.returns(&[]);
        });
    }),
    (10, "a guard makes a message", |module| {
        fast(module, |body| {
            let (new, failed) = body.attempt(Attempt::New, &[]);
            body.all(Op::Commit, &[]);
            body.consumes(new[0]);
            body.build.go_to(failed);
            body.end(Terminator::Never);
        });
    }),
    (10, "a guard and a commit lead to one block", |module| {
        fast(module, |body| {
            let bit = body.n(1, 0);
            let otherwise = body.when(bit);
            let join = body.build.block(&[]);
            body.all(Op::Commit, &[]);
            body.jump(join, &[]);
            body.build.go_to(otherwise);
            body.jump(join, &[]);
            body.build.go_to(join);
            body.end(Terminator::Never);
        });
    }),
    (14, "a pure function counts", |module| {
        plant(module, Role::Pure, &[], |body| {
            body.all(Op::Count(SEEN), &[]);
            body.returns(&[]);
        });
    }),
    (14, "a pure function calls one that frees", |module| {
        plant(module, Role::Pure, &[SESSION], |body| {
            body.all(Op::Call(ENDS), &[body.p(0)]);
            body.returns(&[]);
        });
    }),
    (14, "a plain function hands an event on", |module| {
        plant(module, Role::Plain, &[MESSAGE], |body| {
            body.end(Terminator::Tail(event(ARRIVES, 1), vec![body.p(0)]));
        });
    }),
    (14, "an event goes to a plain function", |module| {
        plant(module, Role::Reaction, &[WORD], |body| {
            body.all(Op::Queue(Order::Back, vec![event(PLAIN, 1)]), &[body.p(0)]);
            body.returns(&[]);
        });
    }),
    (14, "a reaction is called", |module| {
        plant(module, Role::Plain, &[MESSAGE], |body| {
            body.all(Op::Call(ARRIVES), &[body.p(0)]);
            body.returns(&[]);
        });
    }),
    (14, "a plain function is tried first", |module| {
        module.functions[ARRIVES.at()].fast = Some(PLAIN);
    }),
    (14, "a fast function has other parameters", |module| {
        fast(module, |body| {
            body.all(Op::Commit, &[]);
            body.returns(&[]);
        });
        let id = FunctionId(module.functions.len() as u32 - 1);
        module.functions[ARRIVES.at()].fast = Some(id);
    }),
    (14, "a fast function is tried before itself", |module| {
        fast(module, |body| {
            body.all(Op::Commit, &[]);
            body.returns(&[]);
        });
        let id = FunctionId(module.functions.len() as u32 - 1);
        module.functions[id.at()].fast = Some(id);
    }),
    (
        14,
        "a reaction without a fast function reads in place",
        |module| {
            module.links[0].in_place = true;
        },
    ),
    (14, "a frame that may stand elsewhere is kept", |module| {
        plant(module, Role::Fast, &[MESSAGE], |body| {
            body.all(Op::Commit, &[]);
            let handed = vec![event(ARRIVES, 1)];
            body.all(Op::Queue(Order::Back, handed), &[body.p(0)]);
            body.returns(&[]);
        });
        let id = FunctionId(module.functions.len() as u32 - 1);
        module.functions[ARRIVES.at()].fast = Some(id);
        module.links[0].in_place = true;
    }),
    (14, "a function yields outside of a kernel", |module| {
        plant(module, Role::Plain, &[WORD], |body| {
            body.all(Op::Yield, &[body.p(0)]);
            body.returns(&[]);
        });
    }),
    (14, "a reaction has a result", |module| {
        add(module, "planted", Role::Reaction, &[WORD], |body| {
            body.returns(&[body.p(0)]);
            vec![WORD]
        });
    }),
    (15, "a loop has no turn", |module| {
        plant(module, Role::Plain, &[TIME, WORD], |body| {
            body.all(Op::Loop(TURN, 0), &[body.p(0), body.p(1)]);
            body.returns(&[]);
        });
    }),
    (15, "a turn does not say whether to go on", |module| {
        plant(module, Role::Plain, &[TIME, WORD], |body| {
            body.all(Op::Loop(TURN, 1), &[body.p(0), body.p(1)]);
            body.returns(&[]);
        });
        planted(module).blocks[0].instructions[0].op = Op::Loop(PLAIN, 1);
    }),
    (18, "a branch is more than certain", |module| {
        plant(module, Role::Plain, &[BIT], |body| {
            let (then, otherwise) = body.build.branch(body.p(0), Probability(1_000_001));
            body.then_returns(then, &[]);
            body.then_returns(otherwise, &[]);
        });
    }),
    (18, "cases together are more than certain", |module| {
        switch(module, [3, 4], 600_000)
    }),
    (20, "two functions have one name", |module| {
        plant(module, Role::Plain, &[], |body| body.returns(&[]));
        planted(module).name = "plain".to_string();
    }),
    (20, "two kinds have one name", |module| {
        module.kinds[0].name = "session".to_string()
    }),
    (20, "an exit has no name", |module| {
        fast(module, |body| {
            let bit = body.n(1, 0);
            body.all(Op::Exit(String::new()), &[bit]);
            body.all(Op::Commit, &[]);
            body.returns(&[]);
        });
    }),
    (22, "a kernel reads words of 3 bytes", |module| {
        module.kernels[0].unit = 3
    }),
    (22, "a step of a kernel is plain", |module| {
        module.functions[STEPS.at()].role = Role::Plain;
    }),
    (22, "a step of a kernel takes other words", |module| {
        module.kernels[0].unit = 4
    }),
    (23, "a table names no function", |module| {
        module.starts = Some(FunctionId(99))
    }),
    (23, "a kind lives with none", |module| {
        module.kinds[0].lives = Lives::With(stackloom::ir::KindId(9));
    }),
    (23, "a field holds a view", |module| {
        module.kinds[0].fields[0].stored = Stored::Value(Type::View);
    }),
    (
        23,
        "a link starts a function that takes no message",
        |module| {
            module.links[0].arrives = PLAIN;
        },
    ),
];

fn switch(module: &mut Module, numbers: [u64; 2], likely: u32) {
    plant(module, Role::Plain, &[WORD], |body| {
        let blocks = [(); 3].map(|()| body.build.block(&[]));
        let cases = numbers.iter().zip(blocks);
        let cases = cases.map(|(number, block)| (*number, Probability(likely), Edge::to(block)));
        body.end(Terminator::Switch {
            value: body.p(0),
            cases: cases.collect(),
            otherwise: Edge::to(blocks[2]),
        });
        for block in blocks {
            body.then_returns(block, &[]);
        }
    });
}

/// The other way to write a sum is no fault.
pub fn sums(module: &mut Module) {
    plant(module, Role::Pure, &[WORD], |body| {
        body.one(Op::Arithmetic(Arithmetic::Mul), &[body.p(0), body.p(0)]);
        body.returns(&[]);
    });
    drops(module, true);
    planted(module).name = "drops".to_string();
}
