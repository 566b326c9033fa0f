//! The module in which faults are planted, and a short form of the builder.
//!
//! In: types of parameters, and what the body does. Out: a function at the end of the module.

use stackloom::ir::build::Builder;
use stackloom::ir::interface::{Link, Opaque, Room};
use stackloom::ir::op::{Arithmetic, Bits, Compare, Number, Place};
use stackloom::ir::signature::outcomes;
use stackloom::ir::{
    Attempt, Attribute, BlockId, Cache, CacheId, CounterId, Edge, Field, FieldId, Function,
    FunctionId, Kernel, KernelId, Kind, KindId, Lives, Module, Op, OpaqueId, Probability, ReasonId,
    Region, Role, Setting, Stored, Terminator, Timer, TimerId, Type, Value,
};

/// Plants something in a module.
pub type Plant = fn(&mut Module);
/// A rule, a sentence, and what breaks the rule.
pub type Fault = (u8, &'static str, Plant);

pub const BIT: Type = Type::BIT;
pub const WORD: Type = Type::WORD;
pub const TIME: Type = Type::TIME;
pub const MESSAGE: Type = Type::Message;
pub const VIEW: Type = Type::View;
pub const SESSION: Type = Type::Instance(KindId(1));
pub const CHILD: Type = Type::Instance(KindId(2));

/// The kind `layer`, of which there is always one.
pub const LAYER: KindId = KindId(0);
/// The kind `session`: a key, a count, four slots, a queue of messages, and another number.
pub const SESSIONS: KindId = KindId(1);
/// The kind `child`, which lives with a session.
pub const CHILDREN: KindId = KindId(2);
pub const LAYER_COUNT: Region = Region::Field(LAYER, FieldId(0));
pub const KEY: Region = Region::Field(SESSIONS, FieldId(0));
pub const COUNT: Region = Region::Field(SESSIONS, FieldId(1));
pub const SLOTS: Region = Region::Field(SESSIONS, FieldId(2));
pub const OTHER: Region = Region::Field(SESSIONS, FieldId(4));
pub const CHILD_COUNT: Region = Region::Field(CHILDREN, FieldId(0));
pub const RETRY: TimerId = TimerId(0);
pub const QUEUE: Place = Place {
    kind: SESSIONS,
    field: FieldId(3),
};
pub const BAD: ReasonId = ReasonId(0);
pub const SEEN: CounterId = CounterId(0);
/// Remembers the count of a session.
pub const CACHE: CacheId = CacheId(0);
pub const SUM: KernelId = KernelId(0);
/// The reaction of the link: `msg`.
pub const ARRIVES: FunctionId = FunctionId(0);
/// The pure function of the cache.
pub const COUNTED: FunctionId = FunctionId(1);
pub const STEPS: FunctionId = FunctionId(3);
/// `i32 -> i32`.
pub const PLAIN: FunctionId = FunctionId(5);
/// Turns of a loop: `i32, i32 -> i1, i32`.
pub const TURN: FunctionId = FunctionId(6);
/// Ends and frees a session.
pub const ENDS: FunctionId = FunctionId(7);
/// `i32, msg, view`: a reaction.
pub const HEARS: FunctionId = FunctionId(8);
/// `i32, inst session -> i1`: turns of a loop that may free the session.
pub const ENDING: FunctionId = FunctionId(9);
/// `i32, msg -> i1, msg`: turns of a loop that carries a message.
pub const CARRIES: FunctionId = FunctionId(10);
/// `i32, view, msg -> i1, msg`: the same with a view that it captures.
pub const CAPTURES: FunctionId = FunctionId(11);
/// Two bytes, most significant first.
pub const TWO: Number = Number {
    bytes: 2,
    big: true,
};
pub const BITS_OF_TWO: Bits = Bits {
    skip: 0,
    width: 16,
    big: true,
};

/// Adds two fields of texts to the layer.
pub fn texts(module: &mut Module) -> [Region; 2] {
    module.opaques.push(Opaque {
        name: "string".to_string(),
        room: Some(Room {
            name: "ROOM".to_string(),
            bytes: 8,
        }),
    });
    ["first", "second"].map(|name| {
        let fields = &mut module.kinds[LAYER.at()].fields;
        fields.push(Field {
            name: name.to_string(),
            stored: Stored::Value(Type::Opaque(OpaqueId(0))),
            dimensions: Vec::new(),
        });
        Region::Field(LAYER, FieldId(fields.len() as u32 - 1))
    })
}

/// The module without anything planted.
pub fn module() -> Module {
    let mut module = Module {
        name: "world".to_string(),
        reasons: vec!["bad".to_string()],
        counters: vec!["seen".to_string()],
        ..Module::default()
    };
    module.settings.push(Setting {
        name: "size".to_string(),
        of: WORD,
    });
    module.attributes.push(Attribute {
        name: "mark".to_string(),
        of: WORD,
        default: Op::Number(32, 0),
        is_mark: true,
    });
    module.kinds = kinds();
    let arrives = ARRIVES;
    module.links.push(Link {
        name: "wire".to_string(),
        calls: None,
        gathers: false,
        arrives,
        in_place: false,
        carrier: None,
    });
    add(&mut module, "arrives", Role::Reaction, &[MESSAGE], |body| {
        body.all(Op::Consume, &[body.p(0)]);
        body.returns(&[]);
        vec![]
    });
    add(&mut module, "counted", Role::Pure, &[SESSION], |body| {
        let count = body.one(Op::Load(COUNT), &[body.p(0)]);
        body.returns(&[count]);
        vec![WORD]
    });
    kernel(&mut module);
    add(&mut module, "plain", Role::Plain, &[WORD], |body| {
        body.returns(&[body.p(0)]);
        vec![WORD]
    });
    add(&mut module, "turn", Role::Pure, &[WORD, WORD], |body| {
        let on = body.n(1, 1);
        body.returns(&[on, body.p(1)]);
        vec![BIT, WORD]
    });
    add(&mut module, "ends", Role::Plain, &[SESSION], |body| {
        body.all(Op::End(SESSIONS), &[body.p(0)]);
        body.all(Op::Free(SESSIONS), &[body.p(0)]);
        body.returns(&[]);
        vec![]
    });
    more(&mut module);
    module.caches.push(Cache {
        name: "count".to_string(),
        kind: Some(SESSIONS),
        remembers: COUNTED,
    });
    module
}

fn more(module: &mut Module) {
    let parameters = [WORD, MESSAGE, VIEW];
    add(module, "hears", Role::Reaction, &parameters, |body| {
        body.all(Op::Consume, &[body.p(1)]);
        body.returns(&[]);
        vec![]
    });
    add(module, "ending", Role::Plain, &[WORD, SESSION], |body| {
        let on = body.n(1, 0);
        body.all(Op::Free(SESSIONS), &[body.p(1)]);
        body.returns(&[on]);
        vec![BIT]
    });
    add(module, "carries", Role::Plain, &[WORD, MESSAGE], |body| {
        let on = body.n(1, 1);
        body.returns(&[on, body.p(1)]);
        vec![BIT, MESSAGE]
    });
    let parameters = [WORD, VIEW, MESSAGE];
    add(module, "captures", Role::Plain, &parameters, |body| {
        let on = body.n(1, 1);
        body.returns(&[on, body.p(2)]);
        vec![BIT, MESSAGE]
    });
}

fn kinds() -> Vec<Kind> {
    let field = |name: &str, stored: Stored, dimensions: &[u32]| Field {
        name: name.to_string(),
        stored,
        dimensions: dimensions.to_vec(),
    };
    let kind = |name: &str, capacity: u32, lives: Lives, fields: Vec<Field>| Kind {
        name: name.to_string(),
        owner: "layer".to_string(),
        capacity,
        lives,
        keys: Vec::new(),
        fields,
        timers: Vec::new(),
        stands_on: None,
        ended: None,
    };
    let word = Stored::Value(WORD);
    let count = field("count", word.clone(), &[]);
    let fields = vec![
        field("port", word.clone(), &[]),
        count.clone(),
        field("slots", word.clone(), &[4]),
        field("waiting", Stored::Queue(vec![MESSAGE], 4), &[]),
        field("other", word, &[]),
    ];
    let mut session = kind("session", 8, Lives::Created, fields);
    session.keys.push(FieldId(0));
    session.timers.push(Timer {
        name: "retry".to_string(),
        expires: None,
    });
    session.ended = Some(BAD);
    vec![
        kind("layer", 1, Lives::Always, vec![count.clone()]),
        session,
        kind("child", 8, Lives::With(SESSIONS), vec![count]),
    ]
}

/// A sum of words of two bytes.
fn kernel(module: &mut Module) {
    let word = Type::Int(16);
    add(module, "begins", Role::Pure, &[WORD], |body| {
        let sum = body.n(16, 0);
        body.returns(&[sum]);
        vec![Type::Int(16)]
    });
    let parameters = [word, WORD, WORD, WORD, word];
    add(module, "steps", Role::Pure, &parameters, |body| {
        let sum = body.add(body.p(0), body.p(4));
        body.all(Op::Yield, &[sum]);
        body.returns(&[sum]);
        vec![Type::Int(16)]
    });
    add(
        module,
        "finishes",
        Role::Pure,
        &[word, WORD, WORD],
        |body| {
            body.returns(&[body.p(0)]);
            vec![Type::Int(16)]
        },
    );
    module.kernels.push(Kernel {
        name: "sum".to_string(),
        unit: 2,
        big: true,
        parameters: Vec::new(),
        begins: FunctionId(2),
        steps: STEPS,
        tail: None,
        finishes: FunctionId(4),
    });
}

/// Adds a function, whose body gives the types of its results.
pub fn add(
    module: &mut Module,
    name: &str,
    role: Role,
    parameters: &[Type],
    write: impl FnOnce(&mut Body<'_>) -> Vec<Type>,
) {
    let named: Vec<(Type, &str)> = parameters
        .iter()
        .map(|of| (*of, if *of == MESSAGE { "m" } else { "" }))
        .collect();
    let build = Builder::new(name, "layer", role, &named);
    let mut body = Body { module, build };
    let results = write(&mut body);
    let function = body.build.finish(results);
    module.functions.push(function);
}

/// Plants a function without results.
pub fn plant(
    module: &mut Module,
    role: Role,
    parameters: &[Type],
    write: impl FnOnce(&mut Body<'_>),
) {
    add(module, "planted", role, parameters, |body| {
        write(body);
        Vec::new()
    });
}

/// The function that was planted last.
pub fn planted(module: &mut Module) -> &mut Function {
    module.functions.last_mut().expect("a function is planted")
}

/// A function that is being written.
pub struct Body<'m> {
    pub module: &'m Module,
    pub build: Builder,
}

impl Body<'_> {
    pub fn p(&self, at: usize) -> Value {
        self.build.parameter(at)
    }

    pub fn all(&mut self, op: Op, operands: &[Value]) -> Vec<Value> {
        self.build.op(self.module, op, operands)
    }

    pub fn one(&mut self, op: Op, operands: &[Value]) -> Value {
        self.build.value(self.module, op, operands)
    }

    pub fn n(&mut self, bits: u8, number: u64) -> Value {
        self.build.number(self.module, bits, number)
    }

    pub fn word(&mut self, number: u64) -> Value {
        self.n(32, number)
    }

    pub fn add(&mut self, one: Value, other: Value) -> Value {
        self.one(Op::Arithmetic(Arithmetic::Add), &[one, other])
    }

    pub fn compare(&mut self, how: Compare, one: Value, other: Value) -> Value {
        self.one(Op::Compare(how), &[one, other])
    }

    /// Goes on in the first of two ways; the second block is returned.
    pub fn when(&mut self, condition: Value) -> BlockId {
        let (then, otherwise) = self.build.branch(condition, Probability::EVEN);
        self.build.go_to(then);
        otherwise
    }

    /// Goes on where an attempt succeeds: its results, and the block behind its failure.
    pub fn attempt(&mut self, attempt: Attempt, operands: &[Value]) -> (Vec<Value>, BlockId) {
        let build = &mut self.build;
        let types: Vec<Type> = operands.iter().map(|one| build.type_of(*one)).collect();
        let results = outcomes(self.module, &attempt, &types).expect("the operands fit");
        let (done, failed) = build.attempt(self.module, attempt, operands, Probability::EVEN);
        build.go_to(done);
        let all = 0..results.0.len();
        let results = all.map(|at| build.parameter_of(done, at)).collect();
        (results, failed)
    }

    pub fn end(&mut self, terminator: Terminator) {
        self.build.end(terminator);
    }

    pub fn jump(&mut self, block: BlockId, arguments: &[Value]) {
        let arguments = arguments.to_vec();
        self.end(Terminator::Jump(Edge { block, arguments }));
    }

    pub fn returns(&mut self, values: &[Value]) {
        self.end(Terminator::Return(values.to_vec()));
    }

    pub fn push_bytes(&mut self, message: Value, bytes: u64) -> Value {
        let count = self.word(bytes);
        self.one(Op::Push, &[message, count])
    }

    pub fn read_two(&mut self, view: Value, at: u64) -> Value {
        let at = self.word(at);
        self.one(Op::Read(BITS_OF_TWO), &[view, at])
    }

    /// Consumes a message, and returns.
    pub fn consumes(&mut self, message: Value) {
        self.all(Op::Consume, &[message]);
        self.returns(&[]);
    }

    /// A block that has not ended returns these values.
    pub fn then_returns(&mut self, block: BlockId, values: &[Value]) {
        self.build.go_to(block);
        self.returns(values);
    }
}
