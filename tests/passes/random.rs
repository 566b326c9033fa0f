//! Random modules of the stack IR, and what a host sees of them.
//!
//! In: a seed. Out: a module that the verifier passes: pure and plain functions, bodies of loops,
//! and reactions that tail, queue, keep, copy, change and drop messages. A function uses only those
//! before it, so all ends. [`shown`] plays frames to a module in the interpreter of the stack IR.

use fastrand::Rng;
use stackloom::ir::build::Builder;
use stackloom::ir::interface::{
    AttributeOfHost, Conversation, Foreign, Link, Named, Notice, Numbered, Port, Shape,
};
use stackloom::ir::op::{Arithmetic, Bits, Compare, Event, Number, Order, Place, Target, Told};
use stackloom::ir::{
    Attempt, Attribute, AttributeId, BlockId, Edge, Field, FieldId, Function, FunctionId,
    Instruction, Kind, KindId, LinkId, Lives, Module, Op, PortId, Probability, ReasonId, Region,
    Role, Stored, Terminator, Type, Value,
};
use stackloom::simulate::machine::{Host, Machine, Output};
use stackloom::simulate::state::Limits;
use stackloom::simulate::value::Datum;
use std::rc::Rc;

const LAYER: KindId = KindId(0);
const PATHS: KindId = KindId(1);
/// A field that depends on most of what functions compute.
const SEEN: Region = Region::Field(LAYER, FieldId(4));
/// A queue of messages of the layer.
const QUEUE: Place = Place {
    kind: LAYER,
    field: FieldId(3),
};
const BYTE: Number = Number {
    bytes: 1,
    big: true,
};
const BITS: Bits = Bits {
    skip: 0,
    width: 8,
    big: true,
};

/// A module of a seed.
pub fn module(seed: u64) -> Module {
    let mut rng = Rng::with_seed(seed);
    let mut module = Module {
        name: "random".to_string(),
        reasons: vec!["gone".to_string(), "late".to_string()],
        kinds: kinds(),
        attributes: attributes(),
        headroom: 200,
        ports: vec![port()],
        ..Module::default()
    };
    // Links name reactions that are made last.
    for name in ["wire", "probe"] {
        module.links.push(Link {
            name: name.to_string(),
            calls: None,
            gathers: false,
            arrives: FunctionId(0),
            in_place: false,
            carrier: None,
        });
    }
    let starts = starts(&module);
    module.functions.push(starts);
    module.starts = Some(FunctionId(0));
    for at in 0..rng.u32(3..6) {
        let function = called(&module, &mut rng, &format!("pure_{at}"), Role::Pure);
        module.functions.push(function);
    }
    let turn = turn(&module, &mut rng);
    module.functions.push(turn);
    for at in 0..rng.u32(2..5) {
        let function = called(&module, &mut rng, &format!("plain_{at}"), Role::Plain);
        module.functions.push(function);
    }
    for at in 0..rng.u32(3..7) {
        let function = reaction(&module, &mut rng, &format!("reaction_{at}"));
        module.functions.push(function);
    }
    let arrives = arrives(&module, &mut rng);
    module.functions.push(arrives);
    let ends = tells(&module);
    module.functions.push(ends);
    let last = module.functions.len() as u32 - 1;
    module.links[0].arrives = FunctionId(last - 1);
    module.links[1].arrives = FunctionId(last);
    if rng.bool() {
        copy_reaction(&mut module, 0, 0);
    }
    module
}

/// Gives the reaction of a link a fast function without a guard: a copy of that of a link.
fn copy_reaction(module: &mut Module, link: usize, of: usize) {
    let [link, of] = [link, of].map(|at| module.links[at].arrives);
    let mut copy = Function {
        name: module.free_name("copy.woven"),
        role: Role::Fast,
        fast: None,
        ..module.function(of).clone()
    };
    let commit = Instruction {
        op: Op::Commit,
        operands: Vec::new(),
        results: Vec::new(),
        span: None,
    };
    copy.blocks[0].instructions.insert(0, commit);
    module.functions.push(copy);
    let fast = FunctionId(module.functions.len() as u32 - 1);
    module.functions[link.at()].fast = Some(fast);
}

fn kinds() -> Vec<Kind> {
    let field = |name: &str, stored: Stored| Field {
        name: name.to_string(),
        stored,
        dimensions: Vec::new(),
    };
    let kind = |name: &str, capacity: u32, lives: Lives, fields: Vec<Field>| Kind {
        name: name.to_string(),
        owner: "random".to_string(),
        capacity,
        lives,
        keys: Vec::new(),
        fields,
        timers: Vec::new(),
        stands_on: None,
        ended: None,
    };
    let word = || Stored::Value(Type::WORD);
    let layer = vec![
        field("near", word()),
        field("far", word()),
        field("bit", Stored::Value(Type::BIT)),
        field("queue", Stored::Queue(vec![Type::Message], 3)),
        field("seen", word()),
    ];
    let path = vec![field("name", word()), field("count", word())];
    let mut paths = kind("path", 4, Lives::Created, path);
    paths.keys = vec![FieldId(0)];
    vec![kind("layer", 1, Lives::Always, layer), paths]
}

fn attributes() -> Vec<Attribute> {
    let attribute = |name: &str, number: u64, is_mark: bool| Attribute {
        name: name.to_string(),
        of: Type::WORD,
        default: Op::Number(32, number),
        is_mark,
    };
    vec![
        attribute("listed", 7, false),
        attribute("inside", 0, false),
        attribute("marked", 9, true),
    ]
}

fn number(name: &str) -> Named {
    Named {
        name: name.to_string(),
        shape: Shape::Number {
            bits: 32,
            signed: false,
        },
    }
}

fn port() -> Port {
    Port {
        name: "top".to_string(),
        calls: None,
        session: Conversation {
            kind: LAYER,
            index: Numbered::Only(0),
        },
        sends: None,
        longest: 64,
        is_copied: false,
        opens: None,
        listens: None,
        attributes: vec![AttributeOfHost {
            named: number("listed"),
            owner: "random".to_string(),
            parts: vec![AttributeId(0)],
        }],
        up: vec![Notice {
            name: "count".to_string(),
            message: false,
            parameters: vec![number("value")],
            handled: None,
        }],
        down: Vec::new(),
        grants: None,
    }
}

/// The layer begins.
fn starts(module: &Module) -> Function {
    let mut build = Builder::new("starts", "random", Role::Entry, &[]);
    let zero = build.number(module, 32, 0);
    build.op(module, Op::Begin(LAYER), &[zero]);
    build.end(Terminator::Return(Vec::new()));
    build.finish(Vec::new())
}

/// A function that is called: numbers in and out, and in some cases a message, which it gives back.
fn called(module: &Module, rng: &mut Rng, name: &str, role: Role) -> Function {
    let mut parameters = vec![(Type::WORD, "a"); rng.usize(1..4)];
    let carries = role == Role::Plain && rng.bool();
    if carries {
        parameters.push((Type::Message, "m"));
    }
    let mut writing = Writing::new(module, rng, name, role, &parameters);
    writing.statements(2);
    writing.remember();
    let count = writing.rng.usize(1..3);
    let mut results: Vec<Value> = (1..count).map(|_| writing.word()).collect();
    results.push(writing.mixed());
    results.extend(writing.message);
    writing.build.end(Terminator::Return(results));
    let mut types = vec![Type::WORD; count];
    types.extend(carries.then_some(Type::Message));
    writing.build.finish(types)
}

/// The body of a loop: it captures two numbers, and carries one.
fn turn(module: &Module, rng: &mut Rng) -> Function {
    let parameters = [
        (Type::WORD, "t"),
        (Type::WORD, "a"),
        (Type::WORD, "b"),
        (Type::WORD, "c"),
    ];
    let mut writing = Writing::new(module, rng, "turn", Role::Pure, &parameters);
    writing.statements(1);
    let (on, sum) = (writing.bit(), writing.word());
    let own = writing.build.parameter(3);
    let sum = writing.one(Op::Arithmetic(Arithmetic::Add), &[sum, own]);
    writing.build.end(Terminator::Return(vec![on, sum]));
    writing.build.finish(vec![Type::BIT, Type::WORD])
}

fn reaction(module: &Module, rng: &mut Rng, name: &str) -> Function {
    let mut parameters = vec![(Type::WORD, "i")];
    if rng.u8(..4) > 0 {
        parameters.push((Type::Message, "m"));
    }
    parameters.extend(vec![(Type::WORD, "n"); rng.usize(..3)]);
    let mut writing = Writing::new(module, rng, name, Role::Reaction, &parameters);
    if writing.rng.bool() {
        writing.needs_a_path();
    }
    writing.statements(3);
    writing.remember();
    writing.leave();
    writing.build.finish(Vec::new())
}

fn arrives(module: &Module, rng: &mut Rng) -> Function {
    let parameters = [(Type::Message, "m")];
    let mut writing = Writing::new(module, rng, "arrives", Role::Reaction, &parameters);
    writing.statements(3);
    writing.remember();
    writing.leave();
    writing.build.finish(Vec::new())
}

/// A reaction that tells a host all fields, so that it sees what was stored.
fn tells(module: &Module) -> Function {
    let parameters = [(Type::Message, "m")];
    let mut build = Builder::new("tells", "random", Role::Reaction, &parameters);
    let layer = build.value(module, Op::Instance(LAYER, 0), &[]);
    let zero = build.number(module, 32, 0);
    let mut told = Vec::new();
    for field in [0, 1, 4] {
        let region = Region::Field(LAYER, FieldId(field));
        told.push(build.value(module, Op::Load(region), &[layer]));
    }
    let bit = build.value(module, Op::Load(Region::Field(LAYER, FieldId(2))), &[layer]);
    told.push(build.value(module, Op::ZeroExtend(32), &[bit]));
    for index in 0..4 {
        let index = build.number(module, 32, index);
        let join = build.block(&[(Type::WORD, "")]);
        let (live, gone) = build.attempt(module, Attempt::Live(PATHS), &[index], LIKELY);
        build.go_to(gone);
        build.end(jump(join, &[zero]));
        build.go_to(live);
        let path = build.parameter_of(live, 0);
        let count = build.value(module, Op::Load(Region::Field(PATHS, FieldId(1))), &[path]);
        build.end(jump(join, &[count]));
        build.go_to(join);
        told.push(build.parameter_of(join, 0));
    }
    let event = Event {
        target: Target::Port(PortId(0), Told::Notice(0)),
        arguments: 2,
    };
    let operands: Vec<Value> = told.iter().flat_map(|one| [zero, *one]).collect();
    build.op(
        module,
        Op::Queue(Order::Back, vec![event; told.len()]),
        &operands,
    );
    build.op(module, Op::Consume, &[build.parameter(0)]);
    build.end(Terminator::Return(Vec::new()));
    build.finish(Vec::new())
}

const LIKELY: Probability = Probability::EVEN;

fn jump(block: BlockId, arguments: &[Value]) -> Terminator {
    let arguments = arguments.to_vec();
    Terminator::Jump(Edge { block, arguments })
}

fn takes_message(function: &Function) -> bool {
    let mut all = function.parameters().iter();
    all.any(|one| function.type_of(*one) == Type::Message)
}

/// A function that is being written.
struct Writing<'w> {
    module: &'w Module,
    rng: &'w mut Rng,
    build: Builder,
    role: Role,
    /// Numbers of 32 bits that may be used here.
    words: Vec<Value>,
    /// The message, until it is used up.
    message: Option<Value>,
    /// An instance that has a state.
    path: Option<Value>,
}

impl<'w> Writing<'w> {
    fn new(
        module: &'w Module,
        rng: &'w mut Rng,
        name: &str,
        role: Role,
        parameters: &[(Type, &str)],
    ) -> Writing<'w> {
        let build = Builder::new(name, "random", role, parameters);
        let values = |wanted: Type| {
            let all = parameters.iter().enumerate();
            let found = all.filter(move |(_, (of, _))| *of == wanted);
            found.map(|(at, _)| build.parameter(at))
        };
        let (words, message) = (values(Type::WORD).collect(), values(Type::Message).next());
        Writing {
            module,
            rng,
            role,
            words,
            message,
            path: None,
            build,
        }
    }

    fn one(&mut self, op: Op, operands: &[Value]) -> Value {
        self.build.value(self.module, op, operands)
    }

    fn all(&mut self, op: Op, operands: &[Value]) -> Vec<Value> {
        self.build.op(self.module, op, operands)
    }

    fn number(&mut self, bits: u8, number: u64) -> Value {
        self.build.number(self.module, bits, number)
    }

    /// A number: one that is there, or a constant.
    fn word(&mut self) -> Value {
        match self.rng.choice(&self.words) {
            Some(word) if self.rng.u8(..4) > 0 => *word,
            _ => {
                let number = *self
                    .rng
                    .choice(&[0, 1, 3, 8, 64, 0xffff_ffff])
                    .expect("some");
                self.number(32, number)
            }
        }
    }

    fn bit(&mut self) -> Value {
        use Compare::{Eq, Ne, Sle, Slt, Ule, Ult};
        let how = *self
            .rng
            .choice(&[Eq, Ne, Ult, Ule, Slt, Sle])
            .expect("some");
        let (one, other) = (self.word(), self.word());
        let bit = self.one(Op::Compare(how), &[one, other]);
        match self.rng.u8(..4) {
            0 => self.one(Op::Not, &[bit]),
            _ => bit,
        }
    }

    /// A number below a power of two.
    fn below(&mut self, power: u64) -> Value {
        let (word, most) = (self.word(), self.number(32, power - 1));
        self.one(Op::Arithmetic(Arithmetic::And), &[word, most])
    }

    fn layer(&mut self) -> Value {
        self.one(Op::Instance(LAYER, 0), &[])
    }

    fn statements(&mut self, depth: u32) {
        for _statement in 0..self.rng.usize(2..7) {
            self.statement(depth);
        }
    }

    fn statement(&mut self, depth: u32) {
        let writes = self.role != Role::Pure;
        match self.rng.u8(..13) {
            0 | 1 => self.compute(),
            2 | 3 if writes => self.field(),
            4 | 5 => self.moves(),
            6 => self.attribute(),
            7 => self.call(),
            8 => self.turns(),
            9 | 10 if depth > 0 => self.branch(depth),
            11 if depth > 0 && writes => self.attempt(depth),
            12 if self.role == Role::Reaction => self.queues(),
            _ => self.compute(),
        }
    }

    fn compute(&mut self) {
        use Arithmetic::{Add, And, Lshr, Mul, Or, Shl, Smin, Sub, Umax, Umin, Urem, Xor};
        let result = match self.rng.u8(..6) {
            0 => {
                let operands = [self.bit(), self.word(), self.word()];
                self.one(Op::Select, &operands)
            }
            1 => {
                let word = self.word();
                let less = self.one(Op::Truncate(8), &[word]);
                self.one(Op::ZeroExtend(32), &[less])
            }
            2 => {
                let operands = [self.word(), self.number(32, 5)];
                self.one(Op::Arithmetic(Urem), &operands)
            }
            _ => {
                let all = [Add, And, Lshr, Mul, Or, Shl, Smin, Sub, Umax, Umin, Xor];
                let how = *self.rng.choice(&all).expect("some");
                let operands = [self.word(), self.word()];
                self.one(Op::Arithmetic(how), &operands)
            }
        };
        self.words.push(result);
    }

    /// Mixes the numbers that were computed last, so that the result depends on each of them.
    fn mixed(&mut self) -> Value {
        let last = self.words.len().saturating_sub(4);
        let last: Vec<Value> = self.words.split_off(last);
        self.words.extend(&last);
        let (mut sum, factor) = (self.word(), self.number(32, 31));
        for word in last {
            sum = self.one(Op::Arithmetic(Arithmetic::Mul), &[sum, factor]);
            sum = self.one(Op::Arithmetic(Arithmetic::Add), &[sum, word]);
        }
        sum
    }

    /// Adds what was computed to a field, so that a host sees it later.
    fn remember(&mut self) {
        if self.role != Role::Pure {
            let layer = self.layer();
            let before = self.one(Op::Load(SEEN), &[layer]);
            self.words.push(before);
            let mixed = self.mixed();
            self.all(Op::Store(SEEN), &[layer, mixed]);
        }
    }

    /// Loads or stores a field of the layer, or of an instance that has a state.
    fn field(&mut self) {
        let (instance, region) = match self.path {
            Some(path) if self.rng.bool() => (path, Region::Field(PATHS, FieldId(1))),
            _ => {
                let field = FieldId(self.rng.u32(..2));
                (self.layer(), Region::Field(LAYER, field))
            }
        };
        if self.rng.bool() {
            let word = self.one(Op::Load(region), &[instance]);
            self.words.push(word);
        } else {
            let word = self.word();
            self.all(Op::Store(region), &[instance, word]);
        }
        // Often several loads and stores of a block have the same place.
        if self.rng.u8(..3) > 0 {
            self.field();
        }
    }

    /// Moves a message, or asks it for something.
    fn moves(&mut self) {
        let Some(message) = self.message else {
            return self.compute();
        };
        match self.rng.u8(..6) {
            0 => {
                let word = self.one(Op::Length, &[message]);
                self.words.push(word);
            }
            1 => {
                let word = self.one(Op::Start, &[message]);
                self.words.push(word);
            }
            2 | 3 => {
                let (length, some) = (self.one(Op::Length, &[message]), self.below(4));
                let less = Op::Arithmetic(Arithmetic::Umin);
                let less = self.one(less, &[length, some]);
                let op = if self.rng.bool() { Op::Pull } else { Op::Cut };
                self.message = Some(self.one(op, &[message, less]));
            }
            4 if self.role == Role::Reaction => {
                let (four, zero, word) = (self.number(32, 4), self.number(32, 0), self.word());
                let pushed = self.one(Op::Push, &[message, four]);
                let word_of_bytes = Number { bytes: 4, ..BYTE };
                self.all(Op::Write(word_of_bytes), &[pushed, zero, word]);
                self.message = Some(pushed);
            }
            _ => self.reads_or_writes(message),
        }
    }

    /// Reads or writes the first byte of a message, if it has one.
    fn reads_or_writes(&mut self, message: Value) {
        let (length, zero) = (self.one(Op::Length, &[message]), self.number(32, 0));
        let some = self.one(Op::Compare(Compare::Ult), &[zero, length]);
        let (then, otherwise) = self.build.branch(some, LIKELY);
        let join = self.build.block(&[(Type::WORD, "")]);
        self.build.go_to(otherwise);
        self.build.end(jump(join, &[zero]));
        self.build.go_to(then);
        let given = if self.rng.bool() || self.role == Role::Pure {
            let view = self.one(Op::Look, &[message]);
            let byte = self.one(Op::Read(BITS), &[view, zero]);
            self.one(Op::ZeroExtend(32), &[byte])
        } else {
            let word = self.word();
            let byte = self.one(Op::Truncate(8), &[word]);
            self.all(Op::Write(BYTE), &[message, zero, byte]);
            word
        };
        self.build.end(jump(join, &[given]));
        self.build.go_to(join);
        self.words.push(self.build.parameter_of(join, 0));
    }

    fn attribute(&mut self) {
        let Some(message) = self.message else {
            return self.compute();
        };
        let attribute = AttributeId(self.rng.u32(..3));
        if self.rng.u8(..3) == 0 {
            let word = self.one(Op::Attribute(attribute), &[message]);
            self.words.push(word);
        } else {
            let word = self.word();
            self.message = Some(self.one(Op::With(attribute), &[message, word]));
        }
    }

    fn call(&mut self) {
        let (module, role) = (self.module, self.role);
        let fits = |function: &Function| match function.role {
            Role::Pure => function.name != "turn",
            Role::Plain => role != Role::Pure,
            Role::Reaction | Role::Entry | Role::Fast => false,
        };
        let has = self.message.is_some();
        let all = module.functions.iter().enumerate();
        let all = all.filter(|(_, one)| fits(one) && (has || !takes_message(one)));
        let all: Vec<usize> = all.map(|(at, _)| at).collect();
        let Some(at) = self.rng.choice(&all).copied() else {
            return self.compute();
        };
        let function = &module.functions[at];
        let parameters = function.parameters().iter();
        let arguments = parameters.map(|one| match function.type_of(*one) {
            Type::Message => self.message.take().expect("there is one"),
            _word => self.word(),
        });
        let arguments: Vec<Value> = arguments.collect();
        for result in self.all(Op::Call(FunctionId(at as u32)), &arguments) {
            match self.build.type_of(result) {
                Type::Message => self.message = Some(result),
                _word => self.words.push(result),
            }
        }
    }

    fn turns(&mut self) {
        let Some(turn) = self.module.named("turn") else {
            return self.compute();
        };
        let count = self.below(8);
        let count = self.one(Op::ZeroExtend(64), &[count]);
        let operands = [count, self.word(), self.word(), self.word()];
        let sum = self.one(Op::Loop(turn, 6), &operands);
        self.words.push(sum);
    }

    /// Two ways that meet again, unless one of them ends the reaction.
    fn branch(&mut self, depth: u32) {
        let bit = self.bit();
        let ways = self.build.branch(bit, LIKELY);
        self.meet(ways, depth, |_| {});
    }

    fn meet(&mut self, ways: (BlockId, BlockId), depth: u32, first: impl Fn(&mut Self)) {
        let (message, path) = (self.message, self.path);
        let mut parameters = vec![(Type::WORD, "")];
        parameters.extend(message.map(|_| (Type::Message, "m")));
        let join = self.build.block(&parameters);
        let words = self.words.len();
        let ends = self.role == Role::Reaction && self.rng.u8(..3) == 0;
        for (way, is_first) in [(ways.0, true), (ways.1, false)] {
            self.build.go_to(way);
            (self.message, self.path) = (message, path);
            if is_first {
                first(self);
            }
            self.statements(depth - 1);
            if is_first && ends {
                self.leave();
            } else {
                let mut arguments = vec![self.word()];
                arguments.extend(self.message);
                self.build.end(jump(join, &arguments));
            }
            self.words.truncate(words);
        }
        self.build.go_to(join);
        self.path = path;
        self.words.push(self.build.parameter_of(join, 0));
        self.message = message.map(|_| self.build.parameter_of(join, 1));
    }

    fn attempt(&mut self, depth: u32) {
        match self.rng.u8(..5) {
            0 | 1 => {
                let creates = self.rng.bool();
                let index = self.below(4);
                let attempt = match creates {
                    true => Attempt::Create(PATHS),
                    false => Attempt::Live(PATHS),
                };
                let ways = self.build.attempt(self.module, attempt, &[index], LIKELY);
                let path = self.build.parameter_of(ways.0, 0);
                self.meet(ways, depth, |writing| {
                    let count = Op::Store(Region::Field(PATHS, FieldId(1)));
                    let word = writing.word();
                    writing.all(count, &[path, word]);
                    writing.path = Some(path);
                });
            }
            2 => self.takes_out(),
            _ => self.copies(),
        }
    }

    /// A message comes out of the queue, and goes for a reason.
    fn takes_out(&mut self) {
        let layer = self.layer();
        let ways = self
            .build
            .attempt(self.module, Attempt::Pop(QUEUE), &[layer], LIKELY);
        let message = self.build.parameter_of(ways.0, 0);
        let own = self.message.take();
        let join = self.build.block(&[(Type::WORD, "")]);
        self.build.go_to(ways.0);
        let asked = AttributeId(self.rng.u32(..3));
        let attribute = self.one(Op::Attribute(asked), &[message]);
        self.all(Op::Drop(ReasonId(1)), &[message]);
        self.build.end(jump(join, &[attribute]));
        self.build.go_to(ways.1);
        let zero = self.number(32, 0);
        self.build.end(jump(join, &[zero]));
        self.build.go_to(join);
        self.words.push(self.build.parameter_of(join, 0));
        self.message = own;
    }

    /// A copy of the message is kept, or leaves.
    fn copies(&mut self) {
        let Some(message) = self.message else {
            return self.compute();
        };
        let (zero, some) = (self.number(32, 0), self.below(16));
        let (attempt, operands) = match self.rng.bool() {
            true => (Attempt::Share, vec![message]),
            false => (Attempt::Copy, vec![message, zero, some]),
        };
        let (made, full) = self.build.attempt(self.module, attempt, &operands, LIKELY);
        let join = self.build.block(&[]);
        self.build.go_to(full);
        self.build.end(jump(join, &[]));
        self.build.go_to(made);
        let copy = self.build.parameter_of(made, 0);
        if self.rng.bool() && self.role == Role::Reaction {
            let event = self.told();
            self.all(Op::Queue(Order::Front, vec![event]), &[zero, copy]);
        } else {
            let word = self.word();
            let copy = self.one(Op::With(AttributeId(1)), &[copy, word]);
            let layer = self.layer();
            let attempt = Attempt::PushItem(QUEUE);
            let ways = self
                .build
                .attempt(self.module, attempt, &[layer, copy], LIKELY);
            self.build.go_to(ways.1);
            let back = self.build.parameter_of(ways.1, 0);
            self.all(Op::Drop(ReasonId(0)), &[back]);
            self.build.end(jump(join, &[]));
            self.build.go_to(ways.0);
        }
        self.build.end(jump(join, &[]));
        self.build.go_to(join);
    }

    fn told(&self) -> Event {
        Event {
            target: Target::Port(PortId(0), Told::Message),
            arguments: 2,
        }
    }

    /// An event for a reaction before this one: with a message, or without.
    fn event(&mut self, message: Option<Value>) -> Option<(Event, Vec<Value>)> {
        let module = self.module;
        let all = module.functions.iter().enumerate();
        let all = all.filter(|(_, one)| one.role == Role::Reaction);
        let all = all.filter(|(_, one)| takes_message(one) == message.is_some());
        let all: Vec<usize> = all.map(|(at, _)| at).collect();
        let at = *self.rng.choice(&all)?;
        let function = &module.functions[at];
        let first = self.words.first().copied().filter(|_| self.rng.bool());
        let parameters = function.parameters().iter().enumerate();
        let arguments = parameters.map(|(place, one)| match function.type_of(*one) {
            Type::Message => message.expect("there is one"),
            _word if place == 0 => first.unwrap_or_else(|| self.below(4)),
            _word => self.word(),
        });
        let arguments: Vec<Value> = arguments.collect();
        let event = Event {
            target: Target::Function(FunctionId(at as u32)),
            arguments: arguments.len() as u32,
        };
        Some((event, arguments))
    }

    fn queues(&mut self) {
        let Some((event, arguments)) = self.event(None) else {
            return self.compute();
        };
        let order = if self.rng.bool() {
            Order::Front
        } else {
            Order::Back
        };
        self.all(Op::Queue(order, vec![event]), &arguments);
    }

    /// Ends the reaction: its message leaves, goes on, or is gone.
    fn leave(&mut self) {
        let zero = self.number(32, 0);
        let Some(message) = self.message.take() else {
            let end = match self.event(None) {
                Some((event, arguments)) if self.rng.bool() => Terminator::Tail(event, arguments),
                _ => Terminator::Return(Vec::new()),
            };
            return self.build.end(end);
        };
        let end = match self.rng.u8(..6) {
            0 => {
                self.all(Op::Drop(ReasonId(0)), &[message]);
                Terminator::Return(Vec::new())
            }
            1 | 2 => Terminator::Tail(self.told(), vec![zero, message]),
            3 => {
                let event = Event {
                    target: Target::Link(LinkId(0)),
                    arguments: 1,
                };
                Terminator::Tail(event, vec![message])
            }
            _ => match self.event(Some(message)) {
                Some((event, arguments)) => Terminator::Tail(event, arguments),
                None => Terminator::Tail(self.told(), vec![zero, message]),
            },
        };
        self.build.end(end);
    }

    /// The reaction goes on only where its instance has a state.
    fn needs_a_path(&mut self) {
        let index = self.build.parameter(0);
        let attempt = Attempt::Live(PATHS);
        let (live, gone) = self.build.attempt(self.module, attempt, &[index], LIKELY);
        self.build.go_to(gone);
        if let Some(message) = self.message {
            self.all(Op::Consume, &[message]);
        }
        self.build.end(Terminator::Return(Vec::new()));
        self.build.go_to(live);
        self.path = Some(self.build.parameter_of(live, 0));
    }
}

/// Nobody outside of the stack is called but an application, which only hears.
struct Alone;

impl Host for Alone {
    fn function(&self, _: &Machine<'_>, foreign: &Foreign, _given: &mut [Datum]) -> Datum {
        panic!("{} is not called", foreign.name)
    }

    fn application(&self, _machine: &mut Machine<'_>, _function: &str, _output: &Output) -> u64 {
        0
    }

    fn leaving(&self, _machine: &mut Machine<'_>, function: &str, _frame: &Output) {
        panic!("{function} is not called")
    }
}

/// All that a host sees while it gives frames to a module: outputs with the attributes that the
/// port lists, counters, and the fields that the module tells of.
pub fn shown(module: &Module) -> Vec<String> {
    let limits = Limits {
        buffers: 12,
        reserve: 1,
        room: 64,
        ..Limits::default()
    };
    let machine = Machine::start(module, Rc::new(Alone), Vec::new(), limits, 0);
    let mut machine = machine.expect("the stack starts");
    let mut shown = Vec::new();
    for round in 0..10_u64 {
        let length = [0, 1, 3, 8, 20][round as usize % 5];
        let mut rng = Rng::with_seed(round);
        let frame: Vec<u8> = (0..length).map(|_| rng.u8(..)).collect();
        for link in (0..module.links.len() as u32).map(LinkId) {
            machine.input(link, std::slice::from_ref(&frame), round);
            let mut outputs = machine.called();
            while let Some(output) = machine.next_output() {
                outputs.push(output);
            }
            for mut output in outputs {
                if let Output::Message { attributes, .. } = &mut output {
                    attributes.truncate(1);
                }
                shown.push(format!("{output:?}"));
            }
        }
        shown.push(format!("{:?}", machine.counters()));
    }
    shown
}
