//! What a layer is made of, but for its headers: types, instances, code at events.

use super::{
    BinaryOperator, Block, ByteOrder, Expression, Header, Name, Notes, Parallel, Parameter, Path,
    Type,
};
use crate::source::Span;

/// What a layer is made of.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Item {
    /// A named value.
    Constant(Constant),
    /// A named type.
    Type(TypeDefinition),
    /// An enumeration.
    Enum(Enum),
    /// Fields under one name.
    Record(Record),
    /// What travels beside a message.
    Attribute(Attribute),
    /// Bytes on the wire.
    Header(Header),
    /// What lives: the entity, a session, a child.
    Instance(Instance),
    /// A loop over the payload.
    Filter(Filter),
    /// A computation.
    Function(Function),
    /// Reactive code of the session.
    Process(Process),
    /// Which instance an event from below is for.
    Finder(Finder),
    /// What happens at an event.
    Handler(Handler),
}

/// `const everyone: u48 = 0xffff_ffff_ffff`
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Constant {
    /// Its documentation.
    pub notes: Notes,
    /// What it is called.
    pub name: Name,
    /// Its type, where the value does not tell.
    pub of: Option<Type>,
    /// Its value.
    pub value: Expression,
    /// All of it.
    pub span: Span,
}

/// `type address = u32`
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TypeDefinition {
    /// Its documentation.
    pub notes: Notes,
    /// What it is called.
    pub name: Name,
    /// What it is; a service may leave that to the layer that provides it.
    pub of: Option<Type>,
    /// `extern`: C alone knows what it is.
    pub external: bool,
    /// All of it.
    pub span: Span,
}

/// `enum kind: u8 { echo_reply = 0, echo = 8, else other }`
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Enum {
    /// Its documentation.
    pub notes: Notes,
    /// What it is called.
    pub name: Name,
    /// The type that carries it.
    pub of: Type,
    /// Its values.
    pub values: Vec<EnumValue>,
    /// The name of all other values; without it they are refused.
    pub otherwise: Option<Name>,
    /// All of it.
    pub span: Span,
}

/// `echo = 8`
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct EnumValue {
    /// Its documentation.
    pub notes: Notes,
    /// What it is called.
    pub name: Name,
    /// Its number; if none is given, one more than the value before it.
    pub number: Option<Expression>,
    /// All of it.
    pub span: Span,
}

/// `record row { sum: u32 = 0 }`
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Record {
    /// Its documentation.
    pub notes: Notes,
    /// What it is called.
    pub name: Name,
    /// What it holds.
    pub fields: Vec<Field>,
    /// All of it.
    pub span: Span,
}

/// `attribute ttl: u8 = 64`
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Attribute {
    /// Its documentation.
    pub notes: Notes,
    /// What it is called.
    pub name: Name,
    /// Its type.
    pub of: Type,
    /// What it is where nobody sets it.
    pub default: Option<Expression>,
    /// All of it.
    pub span: Span,
}

/// `notice resolve(message, next_hop: u32) down`
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Notice {
    /// Its documentation.
    pub notes: Notes,
    /// What it is called.
    pub name: Name,
    /// The word `message`, if it carries one.
    pub message: Option<Name>,
    /// What else it carries.
    pub parameters: Vec<Parameter>,
    /// Which way it goes; none: it stays in the layer.
    pub direction: Option<Direction>,
    /// All of it.
    pub span: Span,
}

/// Towards the application, or towards the link.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Direction {
    /// Towards the application.
    Up,
    /// Towards the link.
    Down,
}

/// `entity { … }`, `session(keys)[n] { … }`, `child neighbour(keys)[n] { … }`
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Instance {
    /// Its documentation.
    pub notes: Notes,
    /// Which of the three.
    pub kind: InstanceKind,
    /// What tells it from its like.
    pub keys: Vec<Parameter>,
    /// How many there may be.
    pub capacity: Option<Expression>,
    /// What it holds and does.
    pub members: Vec<Member>,
    /// Its processes run so.
    pub run: Option<Parallel>,
    /// All of it.
    pub span: Span,
}

/// The kinds of things that live.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum InstanceKind {
    /// One layer in one stack.
    Entity,
    /// One end of one conversation.
    Session,
    /// Any other, with its name.
    Child(Name),
}

/// What an instance or a process declares.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Member {
    /// A value that lives as long.
    Field(Field),
    /// A clock that expires.
    Timer(Timer),
    /// What is broadcast within an instant.
    Signal(Signal),
    /// An event that this instance can be told; instances only.
    Notice(Notice),
    /// Reactive code.
    Process(Process),
    /// What happens at an event.
    Handler(Handler),
    /// A computation.
    Function(Function),
}

/// `once largest: u16 = 536`
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Field {
    /// Its documentation.
    pub notes: Notes,
    /// Whether it is settled for good by its first write.
    pub once: bool,
    /// What it is called.
    pub name: Name,
    /// Its type.
    pub of: Type,
    /// What it is at first.
    pub start: Option<Expression>,
    /// All of it.
    pub span: Span,
}

/// `timer retry`
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Timer {
    /// Its documentation.
    pub notes: Notes,
    /// What it is called.
    pub name: Name,
    /// All of it.
    pub span: Span,
}

/// `signal advanced: u32 combine +`
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Signal {
    /// Its documentation.
    pub notes: Notes,
    /// What it is called.
    pub name: Name,
    /// The type of what it carries.
    pub of: Option<Type>,
    /// How two values of one instant become one.
    pub combine: Option<BinaryOperator>,
    /// All of it.
    pub span: Span,
}

/// `process segment_out { … }`
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Process {
    /// Its documentation.
    pub notes: Notes,
    /// What it is called.
    pub name: Name,
    /// What it is given when it is run.
    pub parameters: Vec<Parameter>,
    /// What it declares.
    pub members: Vec<Member>,
    /// What it does.
    pub body: Block,
    /// All of it.
    pub span: Span,
}

/// `on deliver find session(…) or listener(…) if … else …`
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Finder {
    /// Its documentation.
    pub notes: Notes,
    /// The event from below.
    pub event: Name,
    /// Where to look, in this order.
    pub targets: Vec<FinderTarget>,
    /// What happens if nothing is found.
    pub otherwise: Block,
    /// All of it.
    pub span: Span,
}

/// `listener(header.destination) if header.syn`
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FinderTarget {
    /// `session`, or the name of a child.
    pub kind: Name,
    /// The keys to look for.
    pub keys: Vec<Expression>,
    /// When to look at all.
    pub condition: Option<Expression>,
    /// All of it.
    pub span: Span,
}

/// `on deliver(message) if last == next { … }`
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Handler {
    /// Its documentation.
    pub notes: Notes,
    /// When.
    pub event: Event,
    /// And only if.
    pub condition: Option<Expression>,
    /// What happens.
    pub body: Block,
    /// All of it.
    pub span: Span,
}

/// `deliver(message)`, `transmit or acknowledge or timers.expired`
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Event {
    /// Any of these; at least one.
    pub names: Vec<Path>,
    /// What the code calls that which the event carries.
    pub bindings: Vec<Name>,
    /// All of it.
    pub span: Span,
}

/// `filter internet_checksum(seed: u32 = 0) reads u16 big { … }`
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Filter {
    /// Its documentation.
    pub notes: Notes,
    /// What it is called.
    pub name: Name,
    /// What it is given.
    pub parameters: Vec<Parameter>,
    /// Whether it changes what it sees.
    pub effect: FilterEffect,
    /// The unit that it sees at a time.
    pub unit: Type,
    /// Which byte of a unit comes first.
    pub order: Option<ByteOrder>,
    /// `whole`: it takes whole units only.
    pub whole: Option<Span>,
    /// What it remembers between units.
    pub fields: Vec<Field>,
    /// What it does with each `word`.
    pub each: Block,
    /// `tail`: what it does with the last one, where bytes of it are missing.
    pub tail: Option<Block>,
    /// What it does at the end.
    pub finish: Option<Block>,
    /// What it yields as a whole.
    pub result: Option<FilterResult>,
    /// All of it.
    pub span: Span,
}

/// Whether a filter changes what it sees.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FilterEffect {
    /// It does not.
    Reads,
    /// What it yields takes the place of what it saw.
    Rewrites,
}

/// `result u16 { ~fold16(sum) } where 0xffff is 0`
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FilterResult {
    /// Its type.
    pub of: Type,
    /// Its value.
    pub value: Expression,
    /// A field that holds the first is right, too, where the result is the second; or `itself`: it
    /// is right where the result over bytes in which it stands is that.
    pub same: Vec<(Expression, Expression)>,
    /// All of it.
    pub span: Span,
}

/// `fn is_near(host: u32) -> bool = …`
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Function {
    /// Its documentation.
    pub notes: Notes,
    /// What it is called.
    pub name: Name,
    /// What it is given.
    pub parameters: Vec<Parameter>,
    /// What it returns; only what is `extern` may return nothing.
    pub returns: Option<Type>,
    /// How.
    pub body: FunctionBody,
    /// All of it.
    pub span: Span,
}

impl Function {
    /// Returns true if the function is written in C: by the user, or in the runtime.
    pub fn is_in_c(&self) -> bool {
        matches!(self.body, FunctionBody::External | FunctionBody::Runtime)
    }
}

/// How a function computes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum FunctionBody {
    /// A service's: by the layer that provides it.
    Promised,
    /// `extern`: in C.
    External,
    /// `extern … in runtime`: in the C that comes with the compiler.
    Runtime,
    /// By one expression.
    Expression(Expression),
    /// By statements.
    Block(Block),
}
