//! Modules built by hand, and what a host sees of them.

use super::values::Held;
use super::{Host, Machine, Output};
use crate::ir::build::Builder;
use crate::ir::interface::{
    Conversation, Foreign, Link, Listening, Named, Notice, Numbered, Opening, Port, Shape,
};
use crate::ir::op::{
    Arithmetic, Attempt, Bits, Change, Compare, Event, Number, Op, Order, Piece, Place, Question,
    Region, Target, Told,
};
use crate::ir::{
    Attribute, AttributeId, Block, BlockId, Cache, CacheId, Edge, Field, FieldId, FunctionId,
    Kernel, KernelId, Kind, KindId, LinkId, Lives, Module, PortId, Probability, ReasonId, Role,
    Stored, Terminator, Timer, TimerId, Type, Value,
};
use crate::simulate::stack::Outcome;
use crate::simulate::state::Limits;
use crate::simulate::value::Datum;
use std::rc::Rc;

/// Nobody outside of the stack is called.
struct Alone;

impl Host for Alone {
    fn function(&self, _: &Machine<'_>, foreign: &Foreign, _given: &mut [Datum]) -> Datum {
        panic!("{} is not called", foreign.name)
    }

    fn application(&self, _machine: &mut Machine<'_>, function: &str, _output: &Output) -> u64 {
        panic!("{function} is not called")
    }

    fn leaving(&self, _machine: &mut Machine<'_>, function: &str, _frame: &Output) {
        panic!("{function} is not called")
    }
}

const LIKELY: Probability = Probability::EVEN;

fn started(module: &Module, limits: Limits) -> Machine<'_> {
    let machine = Machine::start(module, Rc::new(Alone), Vec::new(), limits, 0);
    machine.expect("the stack starts")
}

fn small() -> Limits {
    Limits {
        buffers: 4,
        reserve: 1,
        room: 64,
        events: 3,
        outputs: 4,
        ..Limits::default()
    }
}

fn outputs(machine: &mut Machine<'_>) -> Vec<Output> {
    std::iter::from_fn(|| machine.next_output()).collect()
}

/// The bytes of frames that left.
fn frames(machine: &mut Machine<'_>) -> Vec<Vec<u8>> {
    let all = outputs(machine).into_iter();
    all.map(|output| match output {
        Output::Frame { bytes, .. } => bytes,
        other => panic!("a frame is expected, not {other:?}"),
    })
    .collect()
}

/// The numbers that come first in notices.
fn told(machine: &mut Machine<'_>) -> Vec<u64> {
    let all = outputs(machine).into_iter();
    all.map(|output| match output {
        Output::Notice { arguments, .. } => arguments[0].number().expect("a number"),
        other => panic!("a notice is expected, not {other:?}"),
    })
    .collect()
}

fn counter(machine: &Machine<'_>, at: usize) -> u64 {
    machine.counters()[at]
}

const CONSUMED: usize = 3;
const HELD: usize = 5;

fn number(bits: u8) -> Named {
    Named {
        name: String::new(),
        shape: Shape::Number {
            bits,
            signed: false,
        },
    }
}

fn notice(name: &str, handled: Option<FunctionId>) -> Notice {
    Notice {
        name: name.to_string(),
        message: false,
        parameters: vec![number(32)],
        handled,
    }
}

/// A port over the only instance of a kind, to which `count` comes up.
fn port(kind: KindId) -> Port {
    Port {
        name: "top".to_string(),
        calls: None,
        session: Conversation {
            kind,
            index: Numbered::Only(0),
        },
        sends: None,
        longest: 64,
        is_copied: false,
        opens: None,
        listens: None,
        attributes: Vec::new(),
        up: vec![notice("count", None)],
        down: Vec::new(),
        grants: None,
    }
}

fn kind(name: &str, capacity: u32, lives: Lives, fields: Vec<Stored>) -> Kind {
    let fields = fields.into_iter().enumerate().map(|(at, stored)| Field {
        name: format!("field_{at}"),
        stored,
        dimensions: Vec::new(),
    });
    Kind {
        name: name.to_string(),
        owner: String::new(),
        capacity,
        lives,
        keys: Vec::new(),
        fields: fields.collect(),
        timers: Vec::new(),
        stands_on: None,
        ended: None,
    }
}

const ONE: KindId = KindId(0);

fn field(at: u32) -> Region {
    Region::Field(ONE, FieldId(at))
}

fn place(at: u32) -> Place {
    let (kind, field) = (ONE, FieldId(at));
    Place { kind, field }
}

fn count_told() -> Event {
    Event {
        target: Target::Port(PortId(0), Told::Notice(0)),
        arguments: 2,
    }
}

fn to_link() -> Event {
    Event {
        target: Target::Link(LinkId(0)),
        arguments: 1,
    }
}

impl Module {
    fn add(&mut self, build: Builder, results: &[Type]) -> FunctionId {
        self.functions.push(build.finish(results.to_vec()));
        FunctionId(self.functions.len() as u32 - 1)
    }

    fn link(&mut self, arrives: FunctionId) {
        self.links.push(Link {
            name: "wire".to_string(),
            calls: None,
            gathers: false,
            arrives,
            in_place: false,
            carrier: None,
        });
    }

    /// The only instance of the first kind begins.
    fn begins(&mut self) {
        let mut build = Builder::new("starts", "", Role::Entry, &[]);
        let zero = build.number(self, 32, 0);
        build.op(self, Op::Begin(ONE), &[zero]);
        build.end(Terminator::Return(Vec::new()));
        self.starts = Some(self.add(build, &[]));
    }
}

#[test]
fn a_link_gets_its_frames_back() {
    let mut module = Module::default();
    let mut build = Builder::new("arrives", "", Role::Reaction, &[(Type::Message, "m")]);
    let message = build.parameter(0);
    let view = build.value(&module, Op::Look, &[message]);
    let zero = build.number(&module, 32, 0);
    let bits = Bits {
        skip: 4,
        width: 8,
        big: true,
    };
    let middle = build.value(&module, Op::Read(bits), &[view, zero]);
    let one = build.number(&module, 32, 1);
    let less = build.value(&module, Op::Pull, &[message, one]);
    let byte = Number {
        bytes: 1,
        big: true,
    };
    build.op(&module, Op::Write(byte), &[less, zero, middle]);
    build.end(Terminator::Tail(to_link(), vec![less]));
    let arrives = module.add(build, &[]);
    module.link(arrives);
    let mut machine = started(&module, small());
    let free = machine.free_buffers();
    let frame = vec![0x12, 0x34, 0x56];
    assert_eq!(machine.input(LinkId(0), &[frame.clone(), frame], 1), 2);
    assert_eq!(frames(&mut machine), [[0x23, 0x56], [0x23, 0x56]]);
    assert_eq!(machine.counters()[..2], [2, 2]);
    assert!(machine.adds_up());
    assert_eq!(machine.free_buffers(), free);
}

#[test]
fn a_timer_runs_again_and_again() {
    let mut module = Module::default();
    let mut clock = kind("clock", 1, Lives::Always, vec![Stored::Value(Type::WORD)]);
    clock.timers = vec![Timer {
        name: "tick".to_string(),
        expires: None,
    }];
    module.kinds.push(clock);
    module.ports.push(port(ONE));
    let start = |build: &mut Builder, module: &Module, of: Value| {
        let now = build.value(module, Op::Load(Region::Now), &[]);
        let ten = build.number(module, 64, 10);
        let deadline = build.value(module, Op::Arithmetic(Arithmetic::Add), &[now, ten]);
        build.op(module, Op::StartTimer(ONE, TimerId(0)), &[of, deadline]);
    };
    let mut build = Builder::new("tick", "", Role::Reaction, &[(Type::WORD, "index")]);
    let index = build.parameter(0);
    let (live, gone) = build.attempt(&module, Attempt::Live(ONE), &[index], LIKELY);
    build.go_to(gone);
    build.end(Terminator::Return(Vec::new()));
    build.go_to(live);
    let of = build.parameter_of(live, 0);
    start(&mut build, &module, of);
    let count = build.value(&module, Op::Load(field(0)), &[of]);
    let one = build.number(&module, 32, 1);
    let count = build.value(&module, Op::Arithmetic(Arithmetic::Add), &[count, one]);
    build.op(&module, Op::Store(field(0)), &[of, count]);
    build.end(Terminator::Tail(count_told(), vec![index, count]));
    module.kinds[0].timers[0].expires = Some(module.add(build, &[]));
    let mut build = Builder::new("starts", "", Role::Entry, &[]);
    let zero = build.number(&module, 32, 0);
    let of = build.value(&module, Op::Begin(ONE), &[zero]);
    start(&mut build, &module, of);
    build.end(Terminator::Return(Vec::new()));
    module.starts = Some(module.add(build, &[]));
    let mut machine = started(&module, small());
    assert_eq!(machine.deadline_ns(), Some(10));
    machine.expire(9);
    assert!(told(&mut machine).is_empty());
    machine.expire(15);
    machine.expire(25);
    assert_eq!(told(&mut machine), [1, 2]);
    assert_eq!(machine.deadline_ns(), Some(35));
}

/// Frames wait in a queue of two until an application asks for the first, which then leaves.
fn storing() -> Module {
    let mut module = Module::default();
    let queue = Stored::Queue(vec![Type::Message], 2);
    module
        .kinds
        .push(kind("store", 1, Lives::Always, vec![queue]));
    module.reasons.push("store.full".to_string());
    let mut build = Builder::new("arrives", "", Role::Reaction, &[(Type::Message, "m")]);
    let of = build.value(&module, Op::Instance(ONE, 0), &[]);
    let message = build.parameter(0);
    let push = Attempt::PushItem(place(0));
    let (done, full) = build.attempt(&module, push, &[of, message], LIKELY);
    build.go_to(done);
    build.end(Terminator::Return(Vec::new()));
    build.go_to(full);
    let back = build.parameter_of(full, 0);
    build.op(&module, Op::Drop(ReasonId(0)), &[back]);
    build.end(Terminator::Return(Vec::new()));
    let arrives = module.add(build, &[]);
    module.link(arrives);
    let asked = [(Type::WORD, "index"), (Type::WORD, "how_many")];
    let mut build = Builder::new("asks", "", Role::Reaction, &asked);
    let of = build.value(&module, Op::Instance(ONE, 0), &[]);
    let (some, none) = build.attempt(&module, Attempt::Pop(place(0)), &[of], LIKELY);
    build.go_to(some);
    let first = build.parameter_of(some, 0);
    build.end(Terminator::Tail(to_link(), vec![first]));
    build.go_to(none);
    build.end(Terminator::Return(Vec::new()));
    let asks = module.add(build, &[]);
    let mut top = port(ONE);
    top.down.push(notice("ask", Some(asks)));
    module.ports.push(top);
    module.begins();
    module
}

#[test]
fn messages_wait_in_a_queue_and_those_beyond_are_dropped() {
    let module = storing();
    let mut machine = started(&module, small());
    let all: Vec<Vec<u8>> = (1..=3).map(|n| vec![n]).collect();
    assert_eq!(machine.input(LinkId(0), &all, 1), 3);
    assert_eq!(counter(&machine, HELD), 2);
    assert_eq!(counter(&machine, HELD + 1), 1, "one was dropped");
    assert!(machine.adds_up());
    for _ in 0..3 {
        let asked = vec![Held::Number(1)];
        machine.notice((PortId(0), 0), 0, asked, 2);
    }
    assert_eq!(frames(&mut machine), [[1], [2]]);
    assert_eq!(counter(&machine, CONSUMED), 2);
    assert_eq!(counter(&machine, HELD), 0);
    assert!(machine.adds_up());
}

#[test]
fn what_an_application_sends_may_be_refused() {
    let mut module = storing();
    let arrives = Event {
        target: Target::Function(module.links[0].arrives),
        arguments: 1,
    };
    let sent = [(Type::WORD, "index"), (Type::Message, "m")];
    let mut build = Builder::new("sends", "", Role::Reaction, &sent);
    let message = build.parameter(1);
    build.end(Terminator::Tail(arrives, vec![message]));
    module.ports[0].sends = Some(module.add(build, &[]));
    let mut machine = started(&module, small());
    let mut send = |session: u32, bytes: &[u8]| {
        let outcome = machine.send((PortId(0), session), Vec::new(), bytes, 1);
        (outcome, machine.counters()[HELD + 5..HELD + 9].to_vec())
    };
    assert_eq!(send(0, b"a"), (Outcome::Sent, vec![0, 0, 0, 0]));
    assert_eq!(send(1, b"a"), (Outcome::Refused, vec![0, 0, 1, 0]));
    assert_eq!(send(0, &[0; 65]), (Outcome::Refused, vec![0, 1, 1, 0]));
    assert_eq!(send(0, b"b"), (Outcome::Sent, vec![0, 1, 1, 0]));
    assert_eq!(send(0, b"c"), (Outcome::Refused, vec![1, 1, 1, 0]));
    assert_eq!(machine.free_buffers(), 1);
    assert!(machine.adds_up());
}

/// Sessions by a number of 16 bits, and what stands on them.
fn conversing() -> Module {
    let mut module = Module::default();
    let queue = Stored::Queue(vec![Type::Message], 2);
    let fields = vec![Stored::Value(Type::Int(16)), queue];
    let mut session = kind("session", 2, Lives::Created, fields);
    session.keys = vec![FieldId(0)];
    session.ended = Some(ReasonId(0));
    module.kinds.push(session);
    let above = kind(
        "above",
        2,
        Lives::With(ONE),
        vec![Stored::Value(Type::WORD)],
    );
    module.kinds.push(above);
    module.reasons.push("session.ended".to_string());

    let ends = ends(&mut module);
    let close = closes(&mut module, ends);
    let sends = keeps(&mut module);
    let opens = opens(&mut module);
    let mut top = port(ONE);
    top.session.index = Numbered::From(0, 2);
    top.sends = Some(sends);
    top.down.push(notice("close", Some(close)));
    top.opens = Some(Opening {
        kind: ONE,
        keys: vec![(number(16), true)],
        opens,
        closes: None,
        events: 2,
    });
    module.ports.push(top);
    module
}

/// Frees a session that has ended.
fn ends(module: &mut Module) -> FunctionId {
    let mut build = Builder::new("ends", "", Role::Reaction, &[(Type::WORD, "index")]);
    let index = build.parameter(0);
    let (live, gone) = build.attempt(module, Attempt::Live(ONE), &[index], LIKELY);
    build.go_to(live);
    let of = build.parameter_of(live, 0);
    build.op(module, Op::Free(ONE), &[of]);
    build.end(Terminator::Return(Vec::new()));
    build.go_to(gone);
    build.end(Terminator::Return(Vec::new()));
    build.keep();
    module.add(build, &[])
}

/// Ends a session.
fn closes(module: &mut Module, ends: FunctionId) -> FunctionId {
    let told = [(Type::WORD, "index"), (Type::WORD, "how")];
    let mut build = Builder::new("close", "", Role::Reaction, &told);
    let index = build.parameter(0);
    let of = build.value(module, Op::At(ONE), &[index]);
    build.op(module, Op::End(ONE), &[of]);
    let (function, arguments) = (Target::Function(ends), 1);
    let event = Event {
        target: function,
        arguments,
    };
    build.op(module, Op::Queue(Order::Back, vec![event]), &[index]);
    build.end(Terminator::Return(Vec::new()));
    module.add(build, &[])
}

/// Keeps a message that an application sends, if there is room.
fn keeps(module: &mut Module) -> FunctionId {
    let sent = [(Type::WORD, "index"), (Type::Message, "m")];
    let mut build = Builder::new("sends", "", Role::Reaction, &sent);
    let (index, message) = (build.parameter(0), build.parameter(1));
    let of = build.value(module, Op::At(ONE), &[index]);
    let push = Attempt::PushItem(place(1));
    let (done, full) = build.attempt(module, push, &[of, message], LIKELY);
    build.go_to(done);
    build.end(Terminator::Return(Vec::new()));
    build.go_to(full);
    let back = build.parameter_of(full, 0);
    build.op(module, Op::Consume, &[back]);
    build.end(Terminator::Return(Vec::new()));
    module.add(build, &[])
}

/// Opens a session by the key that is given, or by 7.
fn opens(module: &mut Module) -> FunctionId {
    let given = [(Type::BIT, "has"), (Type::Int(16), "key")];
    let mut build = Builder::new("opens", "", Role::Entry, &given);
    let (has, key) = (build.parameter(0), build.parameter(1));
    let seven = build.number(module, 16, 7);
    let key = build.value(module, Op::Select, &[has, key, seven]);
    let no = build.number(module, 1, 0);
    let zero = build.number(module, 32, 0);
    let (found, fresh) = build.attempt(module, Attempt::Find(ONE), &[key], LIKELY);
    build.go_to(found);
    build.end(Terminator::Return(vec![no, zero]));
    build.go_to(fresh);
    let (made, full) = build.attempt(module, Attempt::Create(ONE), &[key], LIKELY);
    build.go_to(full);
    build.end(Terminator::Return(vec![no, zero]));
    build.go_to(made);
    let of = build.parameter_of(made, 0);
    let index = build.value(module, Op::Index, &[of]);
    build.op(module, Op::Begin(KindId(1)), &[index]);
    let yes = build.number(module, 1, 1);
    build.end(Terminator::Return(vec![yes, index]));
    module.add(build, &[Type::BIT, Type::WORD])
}

#[test]
fn sessions_are_made_found_ended_and_freed() {
    let module = conversing();
    let mut machine = started(&module, small());
    let port = PortId(0);
    let key = |number: u64| [Some(vec![Held::Number(number)])];
    assert_eq!(machine.open(port, &key(7), 1), Some(0));
    assert_eq!(machine.open(port, &[None], 1), None, "7 is taken");
    assert_eq!(machine.open(port, &key(8), 1), Some(1));
    assert_eq!(machine.open(port, &key(9), 1), None, "all slots are taken");
    let free = machine.free_buffers();
    let sent = machine.send((port, 0), Vec::new(), b"left", 1);
    assert_eq!(sent, Outcome::Sent);
    assert!(machine.memory.is_live(KindId(1), 0));
    machine.notice((port, 0), 0, vec![Held::Number(0)], 1);
    assert!(!machine.memory.is_live(ONE, 0) && !machine.memory.is_live(KindId(1), 0));
    assert_eq!(machine.free_buffers(), free, "what was left is dropped");
    assert_eq!(counter(&machine, HELD + 5), 1, "and counted");
    let refused = machine.send((port, 0), Vec::new(), b"late", 1);
    assert_eq!(refused, Outcome::Refused);
    assert_eq!(machine.open(port, &[None], 1), Some(0));
}

#[test]
fn a_listener_counts_the_sessions_that_wait() {
    let mut module = conversing();
    let word = || Stored::Value(Type::WORD);
    let bit = || Stored::Value(Type::BIT);
    let session = &mut module.kinds[0].fields;
    for stored in [bit(), bit(), word()] {
        session.push(Field {
            name: format!("field_{}", session.len()),
            stored,
            dimensions: Vec::new(),
        });
    }
    module
        .kinds
        .push(kind("listener", 1, Lives::Always, vec![word(), word()]));
    module.listening.push(Listening {
        port: PortId(0),
        listener: KindId(2),
        backlog: FieldId(0),
        waiting: FieldId(1),
        session: ONE,
        waits: FieldId(2),
        unknown: FieldId(3),
        made_by: FieldId(4),
        opened: Some(0),
    });
    let mut build = Builder::new("starts", "", Role::Entry, &[]);
    let zero = build.number(&module, 32, 0);
    build.op(&module, Op::Begin(KindId(2)), &[zero]);
    build.end(Terminator::Return(Vec::new()));
    module.starts = Some(module.add(build, &[]));
    let mut machine = started(&module, small());
    machine.open(PortId(0), &[None], 1);
    for (field, number) in [(2, 1), (3, 1), (4, 0)] {
        machine.memory.set_field(ONE, 0, FieldId(field), number);
    }
    machine.memory.set_field(KindId(2), 0, FieldId(1), 1);
    let arguments = vec![Held::Number(0), Held::Number(5)];
    let event = super::agenda::Pending::new(count_told().target, arguments);
    machine.answer(event.clone());
    machine.answer(event);
    let all = outputs(&mut machine);
    let keys = vec![Held::Number(7)];
    let accepted = Output::Accepted {
        port: PortId(0),
        session: 0,
        listener: Some(0),
        keys,
    };
    assert_eq!(all[0], accepted);
    assert!(matches!(all[1], Output::Notice { session: 0, .. }));
    assert_eq!(machine.memory.field(KindId(2), 0, FieldId(1)), 0);
}

#[test]
fn a_loop_carries_its_values_and_takes_so_many_turns_at_most() {
    let mut module = Module::default();
    let parameters = [
        (Type::WORD, "turn"),
        (Type::WORD, "most"),
        (Type::WORD, "sum"),
    ];
    let mut build = Builder::new("turn", "", Role::Pure, &parameters);
    let [turn, most, sum] = [0, 1, 2].map(|at| build.parameter(at));
    let sum = build.value(&module, Op::Arithmetic(Arithmetic::Add), &[sum, turn]);
    let below = Op::Compare(crate::ir::op::Compare::Ult);
    let goes_on = build.value(&module, below, &[sum, most]);
    build.end(Terminator::Return(vec![goes_on, sum]));
    let body = module.add(build, &[Type::BIT, Type::WORD]);
    let parameters = [(Type::TIME, "count"), (Type::WORD, "most")];
    let mut build = Builder::new("sum", "", Role::Pure, &parameters);
    let (count, most) = (build.parameter(0), build.parameter(1));
    let zero = build.number(&module, 32, 0);
    let sum = build.value(&module, Op::Loop(body, 5), &[count, most, zero]);
    build.end(Terminator::Return(vec![sum]));
    let sum = module.add(build, &[Type::WORD]);
    let mut machine = started(&module, small());
    let mut of = |count, most| machine.call(sum, vec![Held::Number(count), Held::Number(most)]);
    assert_eq!(of(3, 99), [Held::Number(3)]);
    assert_eq!(of(u64::MAX, 99), [Held::Number(10)], "five turns");
    assert_eq!(of(5, 3), [Held::Number(3)], "it stops at once");
}

/// The sum of words of 16 bits, with what goes beyond those added again; a last byte alone is the
/// higher one. Each word comes out turned.
fn sum16(module: &mut Module) -> KernelId {
    let mut build = Builder::new("begins", "", Role::Pure, &[(Type::WORD, "length")]);
    let length = build.parameter(0);
    build.end(Terminator::Return(vec![length]));
    let begins = module.add(build, &[Type::WORD]);
    let names = ["sum", "length", "place", "missing"].map(|name| (Type::WORD, name));
    let parameters = [&names[..], &[(Type::Int(16), "word")]].concat();
    let mut build = Builder::new("steps", "", Role::Plain, &parameters);
    let (sum, word) = (build.parameter(0), build.parameter(4));
    let turned = build.value(module, Op::Not, &[word]);
    build.op(module, Op::Yield, &[turned]);
    let wide = build.value(module, Op::ZeroExtend(32), &[word]);
    let sum = build.value(module, Op::Arithmetic(Arithmetic::Add), &[sum, wide]);
    build.end(Terminator::Return(vec![sum]));
    let steps = module.add(build, &[Type::WORD]);
    let parameters = &names[..3];
    let mut build = Builder::new("finishes", "", Role::Pure, parameters);
    let sum = build.parameter(0);
    let low = build.value(module, Op::Truncate(16), &[sum]);
    let sixteen = build.number(module, 32, 16);
    let high = build.value(module, Op::Arithmetic(Arithmetic::Lshr), &[sum, sixteen]);
    let high = build.value(module, Op::Truncate(16), &[high]);
    let sum = build.value(module, Op::Arithmetic(Arithmetic::Add), &[low, high]);
    build.end(Terminator::Return(vec![sum]));
    let finishes = module.add(build, &[Type::Int(16)]);
    module.kernels.push(Kernel {
        name: "sum16".to_string(),
        unit: 2,
        big: true,
        parameters: Vec::new(),
        begins,
        steps,
        tail: None,
        finishes,
    });
    KernelId(0)
}

#[test]
fn a_kernel_sums_pieces_and_rewrites_a_message() {
    let mut module = Module::default();
    let kernel = sum16(&mut module);
    let attribute = Attribute {
        name: "sum".to_string(),
        of: Type::Int(16),
        default: Op::Number(16, 0),
        is_mark: false,
    };
    module.attributes.push(attribute);
    let mut build = Builder::new("arrives", "", Role::Reaction, &[(Type::Message, "m")]);
    let message = build.parameter(0);
    let view = build.value(&module, Op::Look, &[message]);
    let zero = build.number(&module, 32, 0);
    let length = build.value(&module, Op::Length, &[view]);
    let pieces = vec![Piece::Zeros(2), Piece::Bytes];
    let run = Op::Run(kernel, pieces);
    let sum = build.value(&module, run, &[view, zero, length]);
    let id = AttributeId(0);
    let message = build.value(&module, Op::With(id), &[message, sum]);
    let message = build.value(&module, Op::Rewrite(kernel), &[message]);
    let sum = build.value(&module, Op::Attribute(id), &[message]);
    let number = Number {
        bytes: 2,
        big: true,
    };
    build.op(&module, Op::Write(number), &[message, zero, sum]);
    build.end(Terminator::Tail(to_link(), vec![message]));
    let arrives = module.add(build, &[]);
    module.link(arrives);
    let mut machine = started(&module, small());
    machine.input(LinkId(0), &[vec![0xff, 0xff, 0x00, 0x02, 0x80]], 1);
    // 7 bytes + 0 + 0xffff + 0x0002 + 0x8000, and the carry.
    assert_eq!(frames(&mut machine), [[0x80, 0x09, 0xff, 0xfd, 0x7f]]);
}

/// Events that a loop makes: as many as a frame has bytes.
fn making() -> Module {
    let mut module = Module::default();
    module.kinds.push(kind("maker", 1, Lives::Always, vec![]));
    module.ports.push(port(ONE));
    module.begins();
    let mut build = Builder::new("turn", "", Role::Plain, &[(Type::WORD, "turn")]);
    let turn = build.parameter(0);
    let zero = build.number(&module, 32, 0);
    let queue = Op::Queue(Order::Made, vec![count_told()]);
    build.op(&module, queue, &[zero, turn]);
    let yes = build.number(&module, 1, 1);
    build.end(Terminator::Return(vec![yes]));
    let body = module.add(build, &[Type::BIT]);
    let mut build = Builder::new("arrives", "", Role::Reaction, &[(Type::Message, "m")]);
    let message = build.parameter(0);
    let mark = build.value(&module, Op::Waiting, &[]);
    let length = build.value(&module, Op::Length, &[message]);
    let count = build.value(&module, Op::ZeroExtend(64), &[length]);
    build.op(&module, Op::Consume, &[message]);
    build.op(&module, Op::Loop(body, 9), &[count]);
    let since = build.value(&module, Op::Waiting, &[]);
    let ten = build.number(&module, 32, 10);
    let zero = build.number(&module, 32, 0);
    let queue = Op::Queue(Order::Made, vec![count_told()]);
    build.op(&module, queue, &[zero, ten]);
    build.op(&module, Op::Precede, &[mark, since]);
    build.op(&module, Op::Turn, &[mark]);
    build.end(Terminator::Take(mark));
    let arrives = module.add(build, &[]);
    module.link(arrives);
    module
}

#[test]
fn events_are_handled_in_the_order_in_which_they_are_made() {
    let module = making();
    let mut machine = started(&module, small());
    machine.input(LinkId(0), &[vec![0; 2]], 1);
    assert_eq!(told(&mut machine), [10, 0, 1], "the last goes first");
    machine.input(LinkId(0), &[vec![0; 5]], 1);
    assert_eq!(told(&mut machine), [0, 1, 2], "no more have a place");
    assert_eq!(counter(&machine, HELD + 6), 3, "agenda full");
    assert!(machine.adds_up());
}

#[test]
fn a_step_takes_one_event_and_what_is_handed_on() {
    let module = making();
    let limits = Limits {
        budget: 2,
        ..small()
    };
    let mut machine = started(&module, limits);
    machine.input(LinkId(0), &[vec![0; 2]], 1);
    assert_eq!(told(&mut machine), [10, 0]);
    assert_eq!(machine.deadline_ns(), Some(1));
    machine.expire(2);
    assert_eq!(told(&mut machine), [1]);
    assert_eq!(machine.deadline_ns(), None);
}

#[test]
fn stripped_bytes_are_restored_in_a_message_and_not_in_its_copy() {
    let mut module = Module::default();
    module.link(FunctionId(0));
    module.attributes.push(Attribute {
        name: "mark".to_string(),
        of: Type::WORD,
        default: Op::Number(32, 99),
        is_mark: true,
    });
    let id = AttributeId(0);
    let mut build = Builder::new("arrives", "", Role::Reaction, &[(Type::Message, "m")]);
    let message = build.parameter(0);
    let start = build.value(&module, Op::Start, &[message]);
    let two = build.number(&module, 32, 2);
    let message = build.value(&module, Op::With(id), &[message, start]);
    let message = build.value(&module, Op::Pull, &[message, two]);
    let (shared, none) = build.attempt(&module, Attempt::Share, &[message], LIKELY);
    build.go_to(none);
    build.op(&module, Op::Consume, &[message]);
    build.end(Terminator::Return(Vec::new()));
    build.go_to(shared);
    let copy = build.parameter_of(shared, 0);
    let mark = build.value(&module, Op::Attribute(id), &[copy]);
    let (wrong, right) = build.attempt(&module, Attempt::Restore, &[copy, mark], LIKELY);
    build.go_to(wrong);
    build.end(Terminator::Never);
    build.go_to(right);
    let copy = build.parameter_of(right, 0);
    let events = vec![to_link()];
    build.op(&module, Op::Queue(Order::Front, events), &[copy]);
    let mark = build.value(&module, Op::Attribute(id), &[message]);
    let restore = Attempt::Restore;
    let (whole, wrong) = build.attempt(&module, restore, &[message, mark], LIKELY);
    build.go_to(wrong);
    build.end(Terminator::Never);
    build.go_to(whole);
    let whole = build.parameter_of(whole, 0);
    build.end(Terminator::Tail(to_link(), vec![whole]));
    module.add(build, &[]);
    let mut machine = started(&module, small());
    machine.input(LinkId(0), &[b"head".to_vec()], 1);
    assert_eq!(frames(&mut machine), [b"head".to_vec(), b"ad".to_vec()]);
    assert_eq!(machine.counters()[..4], [1, 2, 0, 1]);
    assert!(machine.adds_up());
}

#[test]
fn bytes_go_through_a_stream() {
    let mut module = Module::default();
    let stream = Stored::Stream(16, 8);
    let fields = vec![stream, Stored::Set(4)];
    module.kinds.push(kind("data", 1, Lives::Always, fields));
    module.begins();
    let mut build = Builder::new("arrives", "", Role::Reaction, &[(Type::Message, "m")]);
    let message = build.parameter(0);
    let of = build.value(&module, Op::Instance(ONE, 0), &[]);
    let append = Attempt::AppendBytes(place(0));
    let (done, full) = build.attempt(&module, append, &[of, message], LIKELY);
    build.go_to(full);
    let back = build.parameter_of(full, 0);
    build.end(Terminator::Tail(to_link(), vec![back]));
    build.go_to(done);
    let begin = Op::Ask(Question::Begin, place(0));
    let begin = build.value(&module, begin, &[of]);
    let ready = Op::Ask(Question::Ready, place(0));
    let ready = build.value(&module, ready, &[of, begin]);
    let new = build.value(&module, Op::Change(Change::Add, place(1)), &[of, begin]);
    let (first, later) = build.branch(new, LIKELY);
    build.go_to(first);
    build.end(Terminator::Return(Vec::new()));
    build.go_to(later);
    let take = Attempt::TakeBytes(place(0));
    let (made, none) = build.attempt(&module, take, &[of, ready], LIKELY);
    build.go_to(made);
    let all = build.parameter_of(made, 0);
    build.end(Terminator::Tail(to_link(), vec![all]));
    build.go_to(none);
    build.end(Terminator::Return(Vec::new()));
    let arrives = module.add(build, &[]);
    module.link(arrives);
    let mut machine = started(&module, small());
    machine.input(LinkId(0), &[b"ab".to_vec()], 1);
    assert_eq!(counter(&machine, HELD), 1);
    let more = [b"cd".to_vec(), b"too long!".to_vec()];
    machine.input(LinkId(0), &more, 1);
    assert_eq!(
        frames(&mut machine),
        [b"abcd".to_vec(), b"too long!".to_vec()]
    );
    assert_eq!(machine.counters()[..6], [3, 2, 0, 2, 1, 0]);
    assert!(machine.adds_up());
}

/// A function whose one block has this end.
fn ending(module: &mut Module, end: impl Fn(&mut Builder, &Module)) {
    let mut build = Builder::new("arrives", "", Role::Reaction, &[(Type::Message, "m")]);
    end(&mut build, module);
    let arrives = module.add(build, &[]);
    module.link(arrives);
}

#[test]
#[should_panic(expected = "arrives b0: Return([]): %0 is a handle that nobody uses up")]
fn a_message_that_nobody_uses_up_is_a_mistake() {
    let mut module = Module::default();
    ending(&mut module, |build, _| {
        build.end(Terminator::Return(Vec::new()));
    });
    started(&module, small()).input(LinkId(0), &[Vec::new()], 1);
}

#[test]
#[should_panic(expected = "arrives b0: Consume: %0 has moved away")]
fn a_message_that_is_used_twice_is_a_mistake() {
    let mut module = Module::default();
    ending(&mut module, |build, module| {
        let message = build.parameter(0);
        build.op(module, Op::Consume, &[message]);
        build.op(module, Op::Consume, &[message]);
        build.end(Terminator::Return(Vec::new()));
    });
    started(&module, small()).input(LinkId(0), &[Vec::new()], 1);
}

#[test]
#[should_panic(expected = "the buffer of a view is free")]
fn a_view_that_outlives_its_message_is_a_mistake() {
    let mut module = Module::default();
    ending(&mut module, |build, module| {
        let message = build.parameter(0);
        let view = build.value(module, Op::Look, &[message]);
        build.op(module, Op::Consume, &[message]);
        let zero = build.number(module, 32, 0);
        build.op(module, Op::ReadBytes(1), &[view, zero]);
        build.end(Terminator::Return(Vec::new()));
    });
    started(&module, small()).input(LinkId(0), &[vec![1]], 1);
}

#[test]
#[should_panic(expected = "the cache holds [Number(5)], not [Number(6)]")]
fn a_cache_that_holds_what_was_is_a_mistake() {
    let mut module = Module::default();
    let word = Stored::Value(Type::WORD);
    module.kinds.push(kind("one", 1, Lives::Always, vec![word]));
    module.begins();
    let mut build = Builder::new("f", "", Role::Pure, &[(Type::Instance(ONE), "of")]);
    let of = build.parameter(0);
    let now = build.value(&module, Op::Load(field(0)), &[of]);
    build.end(Terminator::Return(vec![now]));
    let remembers = module.add(build, &[Type::WORD]);
    module.caches.push(Cache {
        name: "f".to_string(),
        kind: Some(ONE),
        remembers,
    });
    let cache = CacheId(0);
    let mut build = Builder::new("g", "", Role::Plain, &[]);
    let of = build.value(&module, Op::Instance(ONE, 0), &[]);
    let [five, six] = [5, 6].map(|n| build.number(&module, 32, n));
    build.op(&module, Op::Store(field(0)), &[of, five]);
    build.op(&module, Op::Recompute(cache), &[of, five]);
    let is_valid = Op::Load(Region::Valid(cache));
    build.value(&module, is_valid.clone(), &[of]);
    build.op(&module, Op::Store(field(0)), &[of, six]);
    build.value(&module, is_valid, &[of]);
    build.end(Terminator::Return(Vec::new()));
    let id = module.add(build, &[]);
    started(&module, small()).call(id, Vec::new());
}

/// A module with a function that notes a number in the cache of the second of two instances, and
/// recalls an instance by another number. It returns 7 if there is none.
fn recalling() -> (Module, FunctionId) {
    let mut module = Module::default();
    let word = Stored::Value(Type::WORD);
    module.kinds.push(kind("one", 2, Lives::Always, vec![word]));
    module.begins();
    let parameters = [(Type::Instance(ONE), "own"), (Type::WORD, "asked")];
    let mut build = Builder::new("f", "", Role::Pure, &parameters);
    let (own, asked) = (build.parameter(0), build.parameter(1));
    let held = build.value(&module, Op::Load(field(0)), &[own]);
    let is_same = build.value(&module, Op::Compare(Compare::Eq), &[held, asked]);
    build.end(Terminator::Return(vec![is_same]));
    let remembers = module.add(build, &[Type::BIT]);
    module.caches.push(Cache {
        name: "f".to_string(),
        kind: Some(ONE),
        remembers,
    });
    let parameters = [(Type::WORD, "noted"), (Type::WORD, "asked")];
    let mut build = Builder::new("g", "", Role::Plain, &parameters);
    let (noted, asked) = (build.parameter(0), build.parameter(1));
    let second = build.number(&module, 32, 1);
    let of = build.value(&module, Op::Begin(ONE), &[second]);
    let yes = build.number(&module, 1, 1);
    build.op(&module, Op::Store(field(0)), &[of, noted]);
    build.op(&module, Op::Recompute(CacheId(0)), &[of, noted, yes]);
    let recall = Attempt::Recall(CacheId(0));
    let (done, failed) = build.attempt(&module, recall, &[asked], LIKELY);
    build.go_to(failed);
    let none = build.number(&module, 32, 7);
    build.end(Terminator::Return(vec![none]));
    build.go_to(done);
    let found = build.parameter_of(done, 0);
    let found = build.value(&module, Op::Index, &[found]);
    build.end(Terminator::Return(vec![found]));
    let id = module.add(build, &[Type::WORD]);
    (module, id)
}

#[test]
fn an_instance_is_recalled_by_what_its_cache_holds() {
    let (module, id) = recalling();
    let mut machine = started(&module, small());
    let mut recalled = |noted: u64, asked: u64| {
        let given = [noted, asked].map(Held::Number).to_vec();
        machine.call(id, given)
    };
    assert_eq!(recalled(5, 5), [Held::Number(1)]);
    assert_eq!(recalled(5, 6), [Held::Number(7)]);
}

#[test]
fn edges_give_blocks_their_parameters() {
    let mut module = Module::default();
    let mut build = Builder::new("f", "", Role::Pure, &[(Type::BYTE, "of")]);
    let of = build.parameter(0);
    let join = build.block(&[(Type::BYTE, "one"), (Type::BYTE, "other")]);
    let [two, three] = [2, 3].map(|n| build.number(&module, 8, n));
    let edge = |arguments| Edge {
        block: join,
        arguments,
    };
    build.end(Terminator::Switch {
        value: of,
        cases: vec![(7, LIKELY, edge(vec![two, three]))],
        otherwise: edge(vec![three, two]),
    });
    build.go_to(join);
    let both = [0, 1].map(|at| build.parameter_of(join, at));
    let joined = build.value(&module, Op::Concat, &both);
    build.end(Terminator::Return(vec![joined]));
    let id = module.add(build, &[Type::Int(16)]);
    let Block { parameters, .. } = module.function(id).block(BlockId(1));
    assert_eq!(parameters.len(), 2);
    let mut machine = started(&module, small());
    assert_eq!(
        machine.call(id, vec![Held::Number(7)]),
        [Held::Number(0x203)]
    );
    assert_eq!(
        machine.call(id, vec![Held::Number(8)]),
        [Held::Number(0x302)]
    );
}
