//! Random modules are written and read; damaged texts are refused without a panic.
//!
//! A module here need not make sense: the text form has no opinion of types. Each run prints the
//! seed of the module that fails.

use super::canonical::canonical;
use super::expected::{attempted, operands};
use super::{opcode, read, write, write_function};
use crate::ir::function::Definition;
use crate::ir::interface::{
    AttributeOfHost, Conversation, Enum, EnumValue, Export, Foreign, Given, Home, Link, Listening,
    Memory, Named, Notice, Numbered, Opaque, Opening, Port, Room, SettingOfHost, Shape,
};
use crate::ir::op::{Bits, Change, Event, Number, Piece, Place, Target, Told};
use crate::ir::signature::results;
use crate::ir::*;
use fastrand::Rng;

/// Names, some of which are no words, or look like something else.
const NAMES: [&str; 12] = [
    "a",
    "udp",
    "udp.session",
    "session.a",
    "x.2",
    "7",
    "",
    "a b",
    "link",
    "é\"\\",
    "i32",
    "b1",
];

fn name(rng: &mut Rng) -> String {
    rng.choice(NAMES).expect("there are names").to_string()
}

fn few(rng: &mut Rng) -> u32 {
    rng.u32(..4)
}

fn many<T>(rng: &mut Rng, make: impl Fn(&mut Rng) -> T) -> Vec<T> {
    (0..few(rng)).map(|_| make(rng)).collect()
}

fn some<T>(rng: &mut Rng, make: impl Fn(&mut Rng) -> T) -> Option<T> {
    rng.bool().then(|| make(rng))
}

/// An index of a table that has some entries.
const ENTRIES: u32 = 3;

fn id(rng: &mut Rng) -> u32 {
    rng.u32(..ENTRIES)
}

fn three<T>(rng: &mut Rng, make: impl Fn(&mut Rng) -> T) -> Vec<T> {
    (0..ENTRIES).map(|_| make(rng)).collect()
}

fn type_of(rng: &mut Rng) -> Type {
    match rng.u8(..12) {
        10 => Type::Float(rng.u8(..)),
        11 => Type::Opaque(OpaqueId(id(rng))),
        0 => Type::Bytes(rng.u32(..40)),
        1 => Type::Instance(KindId(id(rng))),
        2 => Type::Message,
        3 => Type::View,
        4 | 5 => Type::Int(rng.u8(1..=64)),
        6 => Type::BIT,
        _ => Type::WORD,
    }
}

fn shape(rng: &mut Rng, depth: u32) -> Shape {
    match rng.u8(..if depth > 3 { 8 } else { 11 }) {
        6 => Shape::Float(rng.u8(..)),
        7 => Shape::Opaque(OpaqueId(rng.u32(..))),
        0 => Shape::Number {
            bits: rng.u8(..),
            signed: rng.bool(),
        },
        1 => Shape::Bytes(few(rng)),
        2 => Shape::Bounded(few(rng)),
        3 => Shape::Foreign(name(rng)),
        4 => Shape::Bool,
        5 => Shape::Time,
        8 => Shape::Optional(Box::new(shape(rng, depth + 1))),
        9 => {
            let fields = many(rng, |rng| (name(rng), shape(rng, depth + 1)));
            Shape::Record(name(rng), fields)
        }
        _ => Shape::Array(Box::new(shape(rng, depth + 1)), few(rng)),
    }
}

fn named(rng: &mut Rng) -> Named {
    Named {
        name: name(rng),
        shape: shape(rng, 0),
    }
}

fn constant(rng: &mut Rng) -> Op {
    match rng.u8(..7) {
        5 => Op::Real(rng.u8(..), rng.u64(..)),
        6 => Op::Text(OpaqueId(id(rng)), name(rng)),
        0 => Op::Bytes(many(rng, |rng| rng.u8(..))),
        1 => Op::Instance(KindId(id(rng)), few(rng)),
        2 => Op::Attribute(AttributeId(id(rng))),
        _ => Op::Number(rng.u8(..), rng.u64(..)),
    }
}

fn given(rng: &mut Rng) -> SettingOfHost {
    let named = named(rng);
    let parts = match rng.bool() {
        true => named.shape.parts().len(),
        false => 0,
    };
    let default = (0..parts).map(|_| constant(rng)).collect();
    SettingOfHost { named, default }
}

fn memory(rng: &mut Rng) -> Memory {
    Memory {
        room: few(rng),
        buffers: few(rng),
        reserve: few(rng),
        outputs: few(rng),
        events: few(rng),
        least_events: few(rng),
        kept: few(rng),
    }
}

fn function_id(rng: &mut Rng) -> FunctionId {
    FunctionId(id(rng))
}

fn field_id(rng: &mut Rng) -> FieldId {
    FieldId(id(rng))
}

fn place(rng: &mut Rng) -> Place {
    Place {
        kind: KindId(id(rng)),
        field: field_id(rng),
    }
}

fn kind(rng: &mut Rng) -> Kind {
    let stored = |rng: &mut Rng| match rng.u8(..9) {
        0 => Stored::Queue(many(rng, type_of), few(rng)),
        1 => Stored::Window(many(rng, type_of), rng.u8(..), few(rng)),
        2 => Stored::Stream(rng.u8(..), few(rng)),
        3 => Stored::Set(few(rng)),
        4 => Stored::Foreign(name(rng)),
        _ => Stored::Value(type_of(rng)),
    };
    Kind {
        name: name(rng),
        owner: name(rng),
        capacity: few(rng),
        lives: match rng.u8(..3) {
            0 => Lives::Always,
            1 => Lives::Created,
            _ => Lives::With(KindId(id(rng))),
        },
        keys: many(rng, field_id),
        fields: three(rng, |rng| Field {
            name: name(rng),
            stored: stored(rng),
            dimensions: match rng.u8(..4) {
                0 => many(rng, few),
                _ => Vec::new(),
            },
        }),
        timers: three(rng, |rng| Timer {
            name: name(rng),
            expires: some(rng, function_id),
        }),
        stands_on: some(rng, field_id),
        ended: some(rng, |rng| ReasonId(id(rng))),
    }
}

fn notice(rng: &mut Rng) -> Notice {
    Notice {
        name: name(rng),
        message: rng.bool(),
        parameters: many(rng, named),
        handled: some(rng, function_id),
    }
}

fn opening(rng: &mut Rng) -> Opening {
    Opening {
        kind: KindId(id(rng)),
        keys: many(rng, |rng| (named(rng), rng.bool())),
        opens: function_id(rng),
        closes: some(rng, function_id),
        events: few(rng),
    }
}

fn port(rng: &mut Rng) -> Port {
    Port {
        name: name(rng),
        calls: some(rng, name),
        session: Conversation {
            kind: KindId(id(rng)),
            index: match rng.bool() {
                true => Numbered::Only(few(rng)),
                false => Numbered::From(few(rng), few(rng)),
            },
        },
        sends: some(rng, function_id),
        longest: few(rng),
        is_copied: rng.bool(),
        opens: some(rng, opening),
        listens: some(rng, opening),
        attributes: many(rng, |rng| AttributeOfHost {
            named: named(rng),
            owner: name(rng),
            parts: many(rng, |rng| AttributeId(id(rng))),
        }),
        up: three(rng, notice),
        down: three(rng, notice),
        grants: some(rng, id),
    }
}

fn attribute(rng: &mut Rng) -> Attribute {
    Attribute {
        name: name(rng),
        of: type_of(rng),
        default: constant(rng),
        is_mark: rng.bool(),
    }
}

fn kernel(rng: &mut Rng) -> Kernel {
    Kernel {
        name: name(rng),
        unit: rng.u8(..),
        big: rng.bool(),
        parameters: many(rng, type_of),
        begins: function_id(rng),
        steps: function_id(rng),
        tail: some(rng, function_id),
        finishes: function_id(rng),
    }
}

fn listening(rng: &mut Rng) -> Listening {
    Listening {
        port: PortId(id(rng)),
        listener: KindId(id(rng)),
        backlog: field_id(rng),
        waiting: field_id(rng),
        session: KindId(id(rng)),
        waits: field_id(rng),
        unknown: field_id(rng),
        made_by: field_id(rng),
        opened: some(rng, id),
    }
}

/// A function without blocks.
fn head(rng: &mut Rng) -> Function {
    Function {
        name: name(rng),
        owner: name(rng),
        role: match rng.u8(..5) {
            0 => Role::Plain,
            1 => Role::Pure,
            2 => Role::Reaction,
            3 => Role::Entry,
            _ => Role::Fast,
        },
        results: many(rng, type_of),
        values: Vec::new(),
        blocks: Vec::new(),
        span: None,
        kept: rng.bool(),
        fast: None,
    }
}

fn foreign(rng: &mut Rng) -> Foreign {
    Foreign {
        name: name(rng),
        home: match rng.u8(..5) {
            0 => Home::Host,
            4 => Home::Reentrant,
            1 => Home::Runtime,
            2 => Home::Program,
            _ => Home::Constant,
        },
        parameters: many(rng, |rng| {
            let given = match rng.u8(..5) {
                4 => Given::Changed(shape(rng, 0)),
                0 => Given::Data,
                1 => Given::Rewritten,
                2 => Given::State(name(rng)),
                _ => Given::Value(shape(rng, 0)),
            };
            (name(rng), given)
        }),
        result: some(rng, |rng| shape(rng, 0)),
    }
}

fn opaque(rng: &mut Rng) -> Opaque {
    Opaque {
        name: name(rng),
        room: some(rng, |rng| Room {
            name: name(rng),
            bytes: few(rng),
        }),
    }
}

fn export(rng: &mut Rng) -> Export {
    Export {
        name: name(rng),
        parameters: many(rng, named),
        result: some(rng, |rng| shape(rng, 0)),
        calls: function_id(rng),
    }
}

fn tables(rng: &mut Rng) -> Module {
    let mut module = Module {
        name: name(rng),
        docs: many(rng, name),
        settings: three(rng, |rng| Setting {
            name: name(rng),
            of: type_of(rng),
        }),
        given: many(rng, given),
        enums: many(rng, |rng| Enum {
            name: name(rng),
            bits: rng.u8(..),
            values: many(rng, |rng| EnumValue {
                name: name(rng),
                number: rng.u64(..),
                digits: rng.u8(..3),
            }),
        }),
        attributes: three(rng, attribute),
        kinds: three(rng, kind),
        reasons: three(rng, name),
        counters: three(rng, name),
        kernels: three(rng, kernel),
        caches: three(rng, |rng| Cache {
            name: name(rng),
            kind: some(rng, |rng| KindId(id(rng))),
            remembers: function_id(rng),
        }),
        foreigns: three(rng, foreign),
        opaques: three(rng, opaque),
        watched: many(rng, place),
        exports: many(rng, export),
        links: three(rng, |rng| Link {
            name: name(rng),
            calls: some(rng, name),
            gathers: rng.bool(),
            arrives: function_id(rng),
            in_place: rng.bool(),
            carrier: some(rng, function_id),
        }),
        ports: three(rng, port),
        listening: many(rng, listening),
        settings_hold: some(rng, function_id),
        starts: some(rng, function_id),
        headroom: few(rng),
        fast_paths: some(rng, few),
        left_out: many(rng, |rng| (name(rng), few(rng))),
        memory: memory(rng),
        functions: Vec::new(),
    };
    module.functions = three(rng, head);
    module
}

fn events(rng: &mut Rng) -> Vec<Event> {
    many(rng, |rng| Event {
        target: match rng.u8(..3) {
            0 => Target::Function(function_id(rng)),
            1 => Target::Link(LinkId(id(rng))),
            _ => Target::Port(
                PortId(id(rng)),
                match rng.u8(..3) {
                    0 => Told::Message,
                    1 => Told::Started,
                    _ => Told::Notice(id(rng)),
                },
            ),
        },
        arguments: few(rng),
    })
}

/// An operation with some names: each of them can be the result.
fn op(rng: &mut Rng) -> Op {
    let kind = KindId(id(rng));
    let regions = [
        Region::Field(kind, field_id(rng)),
        Region::Setting(SettingId(id(rng))),
        Region::Now,
        Region::Valid(CacheId(id(rng))),
        Region::Cached(CacheId(id(rng)), few(rng)),
    ];
    let region = rng.choice(regions).expect("there are regions");
    let bits = Bits {
        skip: rng.u8(..8),
        width: rng.u8(1..=64),
        big: rng.bool(),
    };
    let piece = |rng: &mut Rng| match rng.bool() {
        true => Piece::Bytes,
        false => Piece::Zeros(few(rng)),
    };
    let mut all = vec![
        Op::Number(rng.u8(..70), rng.u64(..) >> rng.u8(..64)),
        Op::Bytes(many(rng, |rng| rng.u8(..3))),
        Op::Bytes(vec![0; opcode::MOST_ZEROS + few(rng) as usize]),
        Op::Instance(kind, few(rng)),
        Op::Load(region),
        Op::Store(region),
        Op::Read(bits),
        Op::Attribute(AttributeId(id(rng))),
        Op::With(AttributeId(id(rng))),
        Op::Run(KernelId(id(rng)), many(rng, piece)),
        Op::Rewrite(KernelId(id(rng))),
        Op::Drop(ReasonId(id(rng))),
        Op::Change(Change::DropAll(ReasonId(id(rng))), place(rng)),
        Op::Output(events(rng)),
        Op::Call(function_id(rng)),
        Op::Loop(function_id(rng), few(rng)),
        Op::Foreign(ForeignId(id(rng)), many(rng, place)),
        Op::Count(CounterId(id(rng))),
        Op::CountBy(CounterId(id(rng))),
        Op::Pass(few(rng)),
        Op::Exit(name(rng)),
    ];
    match rng.u8(..5) {
        0 => all.swap_remove(rng.usize(..all.len())),
        1 | 2 => of_lists(rng),
        _ => {
            let plain = rng.choice(opcode::PLAIN);
            plain.expect("there are operations").clone()
        }
    }
}

/// An operation that has one name.
fn of_lists(rng: &mut Rng) -> Op {
    let (kind, timer) = (KindId(id(rng)), TimerId(id(rng)));
    let format = Number {
        bytes: rng.u8(1..=8),
        big: rng.bool(),
    };
    let mut all = Vec::new();
    let (to, length, cache) = (rng.u8(1..=64), few(rng), CacheId(id(rng)));
    all.extend(opcode::WIDTHS.iter().map(|make| make(to)));
    all.extend(opcode::LENGTHS.iter().map(|make| make(length)));
    all.extend(opcode::FORMATS.iter().map(|make| make(format)));
    all.extend(opcode::KINDS.iter().map(|make| make(kind)));
    all.extend(opcode::TIMERS.iter().map(|make| make(kind, timer)));
    all.extend(opcode::CACHES.iter().map(|make| make(cache)));
    let place = place(rng);
    all.extend(opcode::QUESTIONS.iter().map(|one| Op::Ask(*one, place)));
    all.extend(opcode::CHANGES.iter().map(|one| Op::Change(*one, place)));
    let events = events(rng);
    all.extend(
        opcode::ORDERS
            .iter()
            .map(|one| Op::Queue(*one, events.clone())),
    );
    all.swap_remove(rng.usize(..all.len()))
}

fn attempt(rng: &mut Rng) -> Attempt {
    let (kind, timer, place) = (KindId(id(rng)), TimerId(id(rng)), place(rng));
    let mut all = opcode::PLAIN_ATTEMPTS.to_vec();
    all.extend(opcode::KIND_ATTEMPTS.iter().map(|make| make(kind)));
    all.extend(opcode::PLACE_ATTEMPTS.iter().map(|make| make(place)));
    all.extend(opcode::TIMER_ATTEMPTS.iter().map(|make| make(kind, timer)));
    let (kernel, cache) = (KernelId(id(rng)), CacheId(id(rng)));
    all.extend(opcode::CACHE_ATTEMPTS.iter().map(|make| make(cache)));
    all.extend(opcode::KERNEL_ATTEMPTS.iter().map(|make| make(kernel)));
    all.swap_remove(rng.usize(..all.len()))
}

/// A function that is being made of random parts.
struct Maker<'m> {
    module: &'m Module,
    function: Function,
    rng: &'m mut Rng,
}

impl Maker<'_> {
    fn value(&mut self, of: Type) -> Value {
        let hint = match self.rng.u8(..3) {
            0 => name(self.rng),
            _ => String::new(),
        };
        self.function.values.push(Definition { of, hint });
        Value(self.function.values.len() as u32 - 1)
    }

    fn add(&mut self, op: Op, operands: Vec<Value>, types: Vec<Type>) -> Vec<Value> {
        let results = types.into_iter();
        let results: Vec<Value> = results.map(|of| self.value(of)).collect();
        let block = self.function.blocks.last_mut().expect("a block is open");
        block.instructions.push(Instruction {
            op,
            operands,
            results: results.clone(),
            span: None,
        });
        results
    }

    /// A value of a type if one is needed: a constant, or one that was there before.
    fn operand(&mut self, needed: Option<Type>) -> Value {
        let known = self.function.values.len() as u32;
        let of = needed.unwrap_or(Type::WORD);
        if let Type::Int(bits @ 1..=64) = of
            && (self.rng.bool() || known == 0)
        {
            let number = self.rng.u64(..) & types::ones(bits);
            return self.add(Op::Number(bits, number), vec![], vec![of])[0];
        }
        let all = 0..known;
        let values = &self.function.values;
        let fits: Vec<u32> = all.filter(|at| values[*at as usize].of == of).collect();
        match fits[..] {
            [] if known == 0 => self.add(Op::Number(32, 7), vec![], vec![Type::WORD])[0],
            [] => Value(self.rng.u32(..known)),
            _ => Value(fits[self.rng.usize(..fits.len())]),
        }
    }

    fn instruction(&mut self) {
        let op = op(self.rng);
        let count = few(self.rng) as usize;
        let mut needed = operands(self.module, &op, &[Some(Type::WORD); 2]);
        if self.rng.u8(..8) == 0 {
            needed.resize(count, None);
        }
        if let Op::Queue(_, events) | Op::Output(events) = &op {
            // Each event has the operands that are its arguments; there may be more.
            let arguments: u32 = events.iter().map(|event| event.arguments).sum();
            needed.resize(arguments as usize, None);
            needed.extend(vec![None; count / 3]);
        }
        if needed.is_empty() && self.rng.bool() {
            needed.push(None);
        }
        let operands: Vec<Value> = needed.into_iter().map(|of| self.operand(of)).collect();
        let types: Vec<Type> = operands
            .iter()
            .map(|one| self.function.type_of(*one))
            .collect();
        let wrong = |rng: &mut Rng| many(rng, type_of);
        let types = match results(self.module, &op, &types) {
            Ok(types) if self.rng.u8(..20) > 0 => types,
            _ => wrong(self.rng),
        };
        self.add(op, operands, types);
    }

    fn values(&mut self, count: usize) -> Vec<Value> {
        (0..count).map(|_| self.operand(None)).collect()
    }

    fn edge(&mut self) -> Edge {
        let count = few(self.rng) as usize;
        Edge {
            block: BlockId(self.rng.u32(..4)),
            arguments: self.values(count),
        }
    }

    fn probability(&mut self) -> Probability {
        match self.rng.u8(..3) {
            0 => Probability::EVEN,
            1 => Probability(self.rng.u32(..=1_000_000)),
            _ => Probability(self.rng.u32(..)),
        }
    }

    fn terminator(&mut self) -> Terminator {
        match self.rng.u8(..8) {
            0 => Terminator::Jump(self.edge()),
            1 => Terminator::Branch {
                condition: self.operand(Some(Type::BIT)),
                likely: self.probability(),
                then: self.edge(),
                otherwise: self.edge(),
            },
            2 => Terminator::Switch {
                value: self.operand(None),
                cases: (0..few(self.rng))
                    .map(|at| (u64::from(at) << 20, self.probability(), self.edge()))
                    .collect(),
                otherwise: self.edge(),
            },
            3 => {
                let attempt = attempt(self.rng);
                let needed = attempted(self.module, &attempt).into_iter();
                let operands = needed.map(|of| self.operand(of)).collect();
                Terminator::Try {
                    attempt,
                    operands,
                    likely: self.probability(),
                    done: self.edge(),
                    failed: self.edge(),
                }
            }
            4 => {
                let count = few(self.rng) as usize;
                Terminator::Return(self.values(count))
            }
            5 => {
                let events = events(self.rng);
                let Some(event) = events.first() else {
                    return Terminator::Never;
                };
                let operands = self.values(event.arguments as usize);
                Terminator::Tail(*event, operands)
            }
            6 => Terminator::Take(self.operand(Some(Type::WORD))),
            _ => Terminator::Never,
        }
    }

    fn blocks(&mut self, mut parameters: Vec<Value>) {
        for at in 0..4 {
            if at > 0 {
                let types = many(self.rng, type_of);
                parameters = types.into_iter().map(|of| self.value(of)).collect();
            }
            let parameters = std::mem::take(&mut parameters);
            self.function.blocks.push(Block {
                parameters,
                instructions: Vec::new(),
                terminator: Terminator::Never,
                span: None,
            });
            for _ in 0..self.rng.u8(..12) {
                self.instruction();
            }
            let terminator = self.terminator();
            let block = self.function.blocks.last_mut().expect("a block is open");
            block.terminator = terminator;
        }
        self.disorder();
    }

    /// Sometimes some blocks change places, so that values are used before they are defined.
    fn disorder(&mut self) {
        if self.rng.u8(..3) == 0 {
            let (one, other) = (self.rng.usize(1..4), self.rng.usize(1..4));
            self.function.blocks.swap(one, other);
        }
        if self.rng.u8(..3) == 0 {
            let mut all = self
                .function
                .blocks
                .iter_mut()
                .map(|block| &mut block.terminator);
            let terminator = all.next().expect("there are blocks");
            for (at, edge) in terminator.edges_mut().into_iter().enumerate() {
                edge.block = BlockId(3 - at as u32 % 4);
            }
        }
    }
}

fn module(rng: &mut Rng) -> Module {
    let mut module = tables(rng);
    // Callers need to know the parameters of what they call, so these come first.
    for at in 0..module.functions.len() {
        let types = many(rng, type_of);
        let function = &mut module.functions[at];
        function.blocks = vec![Block {
            parameters: (0..types.len() as u32).map(Value).collect(),
            instructions: Vec::new(),
            terminator: Terminator::Never,
            span: None,
        }];
        let hint = String::new();
        let definitions = types.into_iter().map(|of| Definition {
            of,
            hint: hint.clone(),
        });
        function.values = definitions.collect();
    }
    for at in 0..module.functions.len() {
        let mut function = module.functions[at].clone();
        let first = function.blocks.remove(0);
        let mut maker = Maker {
            module: &module,
            function,
            rng,
        };
        maker.blocks(first.parameters);
        module.functions[at] = maker.function;
    }
    module
}

#[test]
fn every_module_comes_back() {
    for seed in 0..SEEDS {
        let module = module(&mut Rng::with_seed(seed));
        let text = write(&module);
        match read(&text) {
            Ok(back) if back == canonical(&module) => {}
            Ok(back) => panic!("seed {seed}: {}", difference(&canonical(&module), &back)),
            Err(mistake) => panic!("seed {seed}: {mistake}\n{text}"),
        }
        let again = write(&canonical(&module));
        assert_eq!(text, again, "seed {seed}: the text says the canonical form");
        let one = write_function(&module, FunctionId(1));
        assert!(
            text.contains(&one),
            "seed {seed}: a function is a part of the text"
        );
    }
}

/// The beginning of what differs between two modules.
fn difference(one: &Module, other: &Module) -> String {
    let (one, other) = (format!("{one:?}"), format!("{other:?}"));
    let same = one
        .chars()
        .zip(other.chars())
        .take_while(|(one, other)| one == other);
    let from = same.count().saturating_sub(100);
    let begin = |text: String| text.chars().skip(from).take(300).collect::<String>();
    format!("\n{}\nis read as\n{}", begin(one), begin(other))
}

#[test]
fn the_example_of_the_essay_is_read() {
    let essay = include_str!("mod.rs");
    let example = essay
        .split("//! ```text\n")
        .nth(1)
        .expect("there is an example");
    let example = example.split("//! ```\n").next().expect("the example ends");
    let lines = example.lines().map(|line| line.trim_start_matches("//!"));
    let text = lines.collect::<Vec<&str>>().join("\n");
    let module = read(&text).unwrap_or_else(|mistake| panic!("{mistake}\n{text}"));
    assert_eq!(module.functions.len(), 1);
    assert_eq!(read(&write(&module)), Ok(module));
}

/// The number of random modules.
const SEEDS: u64 = 500;

#[test]
fn a_damaged_text_is_refused_without_a_panic() {
    let mut refused = 0;
    for seed in 0..SEEDS {
        let rng = &mut Rng::with_seed(seed);
        let mut text: Vec<char> = write(&module(rng)).chars().collect();
        for _ in 0..=few(rng) {
            damage(&mut text, rng);
        }
        let text: String = text.iter().collect();
        let run = std::panic::catch_unwind(|| read(&text));
        let read = run.unwrap_or_else(|_| panic!("seed {seed} panics:\n{text}"));
        match read {
            Ok(module) => {
                let back = super::read(&write(&module));
                assert_eq!(back.as_ref(), Ok(&module), "seed {seed}:\n{text}");
            }
            Err(mistake) => {
                refused += 1;
                let lines = text.split('\n').count() as u32;
                assert!(
                    (1..=lines).contains(&mistake.line),
                    "seed {seed}: {mistake}"
                );
                assert!(!mistake.message.is_empty(), "seed {seed}");
            }
        }
    }
    assert!(refused > SEEDS / 2, "most damage is found");
}

/// Changes a text somewhere: a character, a stretch that is left out, moved or repeated.
fn damage(text: &mut Vec<char>, rng: &mut Rng) {
    let at = rng.usize(..text.len());
    let end = text.len().min(at + rng.usize(..30));
    match rng.u8(..5) {
        0 => {
            let all: Vec<char> = "()[]{}%\"#/,:;=@.0x9i\nué".chars().collect();
            text[at] = all[rng.usize(..all.len())];
        }
        1 => drop(text.drain(at..end)),
        2 => {
            let stretch: Vec<char> = text[at..end].to_vec();
            let to = rng.usize(..text.len());
            text.splice(to..to, stretch);
        }
        3 => text.truncate(at + 1),
        _ => {
            let number: String = rng.u64(..).to_string();
            let to = text[at..].iter().position(char::is_ascii_digit);
            let to = to.map_or(at, |digits| at + digits);
            text.splice(to..=to, number.chars());
        }
    }
}
