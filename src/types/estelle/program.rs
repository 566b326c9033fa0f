//! A checked Estelle specification: every name is resolved, every expression has a type.
//!
//! All tables are flat; numbers refer from one to another. The tables keep the order of the source,
//! so that the same source gives the same numbers. Constants are folded into literals, `any`
//! clauses are expanded into one transition for each value, and sets of states into states.

use crate::source::Span;

pub use crate::syntax::estelle::ast::{Attribute, BinaryOperator, Queue, UnaryOperator};

/// Makes types of numbers that refer to entries of one table.
macro_rules! numbers {
    ($($(#[$text:meta])* $name:ident;)*) => {
        $(
            $(#[$text])*
            #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
            pub struct $name(pub u32);

            impl $name {
                /// Returns the number as an index of its table.
                pub fn index(self) -> usize {
                    self.0 as usize
                }
            }
        )*
    };
}

numbers! {
    /// A channel of [`Program::channels`].
    ChannelId;
    /// A module header of [`Program::headers`].
    HeaderId;
    /// A module body of [`Program::bodies`].
    BodyId;
    /// A routine of [`Program::routines`].
    RoutineId;
    /// A list of local variables of [`Program::frames`].
    FrameId;
    /// A block of transitions of [`Program::blocks`].
    BlockId;
    /// A state of [`Body::states`].
    StateId;
}

/// A type of [`Program::types`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct TypeId(pub u32);

impl TypeId {
    /// `integer`
    pub const INTEGER: TypeId = TypeId(0);
    /// `real`
    pub const REAL: TypeId = TypeId(1);
    /// `boolean`
    pub const BOOLEAN: TypeId = TypeId(2);
    /// `char`
    pub const CHAR: TypeId = TypeId(3);

    /// Returns the number as an index of its table.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// A checked specification.
#[derive(Clone, Debug)]
pub struct Program {
    /// The name of the specification.
    pub name: String,
    /// The length of the unit of delays, in nanoseconds.
    pub unit_ns: u64,
    /// All types; equal types that are written twice are two types, as Pascal demands. The first
    /// four are `integer`, `real`, `boolean` and `char`.
    pub types: Vec<Type>,
    /// All channels.
    pub channels: Vec<Channel>,
    /// All module headers.
    pub headers: Vec<Header>,
    /// All module bodies. The first one is the specification itself.
    pub bodies: Vec<Body>,
    /// All functions and procedures.
    pub routines: Vec<Routine>,
    /// The local variables of routines and of blocks of transitions.
    pub frames: Vec<Vec<Variable>>,
    /// The blocks of transitions.
    pub blocks: Vec<Block>,
}

/// The greatest `integer`; the least one is its negative.
pub const MAXINT: i64 = 2_147_483_647;

impl Program {
    /// Returns the first and the last ordinal number of an ordinal type; none for other types.
    pub fn bounds(&self, of: TypeId) -> Option<(i64, i64)> {
        match &self.types[of.index()] {
            Type::Integer => Some((-MAXINT, MAXINT)),
            Type::Boolean => Some((0, 1)),
            Type::Char => Some((0, 255)),
            Type::Enumeration { values, .. } => Some((0, values.len() as i64 - 1)),
            Type::Subrange { low, high, .. } => Some((*low, *high)),
            Type::Real
            | Type::Array { .. }
            | Type::Record { .. }
            | Type::Set(_)
            | Type::External(_) => None,
        }
    }

    /// The specification itself, as the body of the outermost module.
    pub const ROOT: BodyId = BodyId(0);
}

/// A type.
#[derive(Clone, Debug)]
pub enum Type {
    /// `integer`: -2147483647 to 2147483647 (`maxint`); a result beyond these is a fault.
    Integer,
    /// `real`: IEEE double.
    Real,
    /// `boolean`
    Boolean,
    /// `char`: 0 to 255.
    Char,
    /// `(red, green)`
    Enumeration {
        /// The name of the type, or empty.
        name: String,
        /// The names of the values, of ordinal numbers 0, 1, ….
        values: Vec<String>,
    },
    /// `low..high` of an ordinal type.
    Subrange {
        /// The ordinal type, itself no subrange.
        of: TypeId,
        /// The ordinal number of the first value.
        low: i64,
        /// The ordinal number of the last value.
        high: i64,
    },
    /// An array with one index; several indices are arrays of arrays. A string is a packed array of
    /// `char` with an index from 1.
    Array {
        /// The type of the index.
        index: TypeId,
        /// The type of an element.
        element: TypeId,
        /// `packed`
        is_packed: bool,
    },
    /// A record. All fields of all variants have their own place and number.
    Record {
        /// The fields, also those of variants and the tags.
        fields: Vec<Field>,
    },
    /// `set of T`: at most 256 values, of ordinal numbers 0 to 255.
    Set(TypeId),
    /// `type T = ..`: a type that C code defines. Only assigned, passed on and compared by `=`.
    External(String),
}

/// A field of a record.
#[derive(Clone, Debug)]
pub struct Field {
    /// Its name.
    pub name: String,
    /// Its type.
    pub kind: TypeId,
    /// For a field of a variant: the field that is the tag, and the tag values with this field. An
    /// access while the tag has another value is a fault. A tag without a name has no field, and
    /// its variants no condition.
    pub variant: Option<(usize, Vec<i64>)>,
}

/// A channel.
#[derive(Clone, Debug)]
pub struct Channel {
    /// Its name.
    pub name: String,
    /// The names of its two roles.
    pub roles: [String; 2],
    /// Its interactions.
    pub interactions: Vec<Interaction>,
}

/// An interaction.
#[derive(Clone, Debug)]
pub struct Interaction {
    /// Its name.
    pub name: String,
    /// Its parameters.
    pub parameters: Vec<Variable>,
    /// For each role of the channel: true if it sends this interaction.
    pub sent_by: [bool; 2],
}

/// A variable, a parameter or a field of an interaction.
#[derive(Clone, Debug)]
pub struct Variable {
    /// Its name, as it is declared.
    pub name: String,
    /// Its type.
    pub kind: TypeId,
    /// True for a `var` parameter and for the record of `with`: another name of a variable.
    pub is_reference: bool,
    /// The place of its declaration.
    pub span: Span,
}

/// Interaction points of one declaration: one, or an array.
#[derive(Clone, Debug)]
pub struct Points {
    /// Their name.
    pub name: String,
    /// The index types, outer first; empty for a single point.
    pub indices: Vec<TypeId>,
    /// The number of points: the product of the sizes of the index types, or 1.
    pub count: u32,
    /// The channel.
    pub channel: ChannelId,
    /// The role of this module: 0 or 1, an index of [`Channel::roles`].
    pub role: usize,
    /// The discipline of the queue.
    pub queue: Queue,
}

/// A module header.
#[derive(Clone, Debug)]
pub struct Header {
    /// Its name.
    pub name: String,
    /// Its attribute.
    pub attribute: Option<Attribute>,
    /// Parameters of `init`.
    pub parameters: Vec<Variable>,
    /// External interaction points.
    pub points: Vec<Points>,
    /// Variables that the parent reads and writes.
    pub exports: Vec<Variable>,
}

/// A module body, or the specification.
#[derive(Clone, Debug)]
pub struct Body {
    /// Its name.
    pub name: String,
    /// Its header; none for the specification.
    pub header: Option<HeaderId>,
    /// Its attribute: that of its header, or of the specification.
    pub attribute: Option<Attribute>,
    /// The body that declares this one; none for the specification.
    pub parent: Option<BodyId>,
    /// True if C code defines the body. It then has no content.
    pub is_external: bool,
    /// The names of the states. A body without `state` has none, and no control state.
    pub states: Vec<String>,
    /// The variables of an instance: first the parameters of the header, then its exported
    /// variables, then the body's own.
    pub variables: Vec<Variable>,
    /// The interaction points of an instance: first those of the header, then internal ones.
    pub points: Vec<Points>,
    /// Its module variables.
    pub module_variables: Vec<ModuleVariable>,
    /// Alternatives of `initialize`; empty if the body has none. They have no `from`, `when`,
    /// `delay` or `priority`.
    pub initialize: Vec<Transition>,
    /// The transitions, in the order of the source; `any` is expanded in ascending order.
    pub transitions: Vec<Transition>,
    /// The place of its declaration.
    pub span: Span,
}

/// Module variables of one declaration: one, or an array.
#[derive(Clone, Debug)]
pub struct ModuleVariable {
    /// The name.
    pub name: String,
    /// The index types, outer first; empty for a single one.
    pub indices: Vec<TypeId>,
    /// The number of variables: the product of the sizes of the index types, or 1.
    pub count: u32,
    /// The header of the modules that they refer to.
    pub header: HeaderId,
}

/// A transition, or an alternative of `initialize`.
#[derive(Clone, Debug)]
pub struct Transition {
    /// The name that the source gives, or `NAME` of none: `t3`, counted in the body from 1.
    pub name: String,
    /// The states of `from`, in ascending order; empty if it has no `from` and may fire in all.
    pub from: Vec<StateId>,
    /// The state of `to`; none for the same.
    pub to: Option<StateId>,
    /// The interaction that it takes.
    pub when: Option<When>,
    /// The condition of `provided`. `otherwise` is the negation of a disjunction here.
    pub provided: Option<Expression>,
    /// The priority: 0 is the highest. None is lower than all.
    pub priority: Option<u64>,
    /// The delay.
    pub delay: Option<Delay>,
    /// The block. Several transitions share one if `any` was expanded.
    pub block: BlockId,
    /// The values of the names of `any`: the first locals of the block's frame. Clauses read them.
    pub any: Vec<i64>,
    /// The place of the transition: from its name or innermost clause to its block.
    pub span: Span,
}

/// `when p[2].DATA(n)`
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct When {
    /// The points, an index of [`Body::points`].
    pub points: usize,
    /// The point in an array of points: row-major, from 0.
    pub element: u32,
    /// The interaction, an index of [`Channel::interactions`]. Its parameters are the locals of the
    /// block's frame behind those of `any`, also if the source does not name them.
    pub interaction: usize,
}

/// `delay(least, most)` in units of the timescale. Both are integers.
#[derive(Clone, Debug)]
pub struct Delay {
    /// The least time.
    pub least: Expression,
    /// The most time.
    pub most: Most,
}

/// The upper bound of a delay.
#[derive(Clone, Debug)]
pub enum Most {
    /// The same as the lower bound.
    Same,
    /// None: the transition may wait for ever.
    Unbounded,
    /// A bound.
    Given(Expression),
}

/// The block of a transition.
#[derive(Clone, Debug)]
pub struct Block {
    /// The locals: the names of `any`, the parameters of the interaction, the own variables of the
    /// block, and names that statements bind.
    pub frame: FrameId,
    /// The statements.
    pub statements: Vec<Statement>,
}

/// A function or a procedure.
#[derive(Clone, Debug)]
pub struct Routine {
    /// Its name.
    pub name: String,
    /// The body in whose scope it stands; its variables of a module are those of this body.
    pub body: BodyId,
    /// `pure`
    pub is_pure: bool,
    /// The number of parameters: the first locals of its frame.
    pub parameters: usize,
    /// For a function: its result, the local behind the parameters.
    pub result: Option<TypeId>,
    /// The locals: parameters, result, own variables, and names that statements bind. A nested
    /// routine reads the frames of those around it; as there is no recursion, a frame is active
    /// at most once in an instance.
    pub frame: FrameId,
    /// The statements; none for `primitive`, a routine that C code defines.
    pub statements: Option<Vec<Statement>>,
    /// The place of its declaration.
    pub span: Span,
}

/// An expression.
#[derive(Clone, Debug)]
pub struct Expression {
    /// Its kind, with the operands.
    pub kind: ExpressionKind,
    /// The type of its value. A variable of a subrange has that subrange as its type; results of
    /// operators have `integer`, `real`, `boolean` or a set.
    pub type_id: TypeId,
    /// Its place.
    pub span: Span,
}

impl Expression {
    /// Returns a literal of an ordinal type.
    pub fn ordinal(value: i64, type_id: TypeId, span: Span) -> Expression {
        let kind = ExpressionKind::Ordinal(value);
        Expression {
            kind,
            type_id,
            span,
        }
    }
}

/// The kinds of expressions.
#[derive(Clone, Debug)]
pub enum ExpressionKind {
    /// A value of an ordinal type: its ordinal number.
    Ordinal(i64),
    /// A real number.
    Real(f64),
    /// A string of two or more bytes.
    Text(Vec<u8>),
    /// The value of a variable.
    Read(Place),
    /// An operator; `Plus` is removed. Operands of mixed integer and real are converted by
    /// [`ExpressionKind::ToReal`].
    Unary(UnaryOperator, Box<Expression>),
    /// An operator. `and` and `or` evaluate the right operand only if needed. \[d\]
    Binary(BinaryOperator, Box<Expression>, Box<Expression>),
    /// An integer as a real.
    ToReal(Box<Expression>),
    /// A call of a function.
    Call(RoutineId, Vec<Argument>),
    /// A call of a predefined function.
    Predefined(Predefined, Box<Expression>),
    /// A set: single values and ranges.
    Set(Vec<(Expression, Option<Expression>)>),
    /// `exist i: 1..4 suchthat …`
    Exist(Domain, Box<Expression>),
}

/// The predefined functions of Pascal.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Predefined {
    /// `ord`
    Ord,
    /// `chr`
    Chr,
    /// `succ`
    Succ,
    /// `pred`
    Pred,
    /// `abs` of an integer or a real
    Abs,
    /// `sqr` of an integer or a real
    Sqr,
    /// `odd`
    Odd,
    /// `trunc`
    Trunc,
    /// `round`
    Round,
}

/// An argument of a call.
#[derive(Clone, Debug)]
pub enum Argument {
    /// A value.
    Value(Expression),
    /// The variable of a `var` parameter.
    Reference(Place),
}

/// A variable, or a part of one.
#[derive(Clone, Debug)]
pub struct Place {
    /// The variable.
    pub root: Root,
    /// The steps to the part, outer first.
    pub steps: Vec<Step>,
    /// The type of the part.
    pub type_id: TypeId,
    /// Its place in the source.
    pub span: Span,
}

/// A variable.
#[derive(Clone, Debug)]
pub enum Root {
    /// A variable of the instance: an index of [`Body::variables`].
    Module(usize),
    /// A local: an index of the list of a frame.
    Local(FrameId, usize),
    /// An exported variable of a child: an index of [`Header::exports`].
    Exported(ModuleReference, usize),
}

/// A step into a variable.
#[derive(Clone, Debug)]
pub enum Step {
    /// An element of an array. The value of the index is one of the index type; any other is a
    /// fault.
    Index(Expression),
    /// A field of a record.
    Field(usize),
}

/// A child module.
#[derive(Clone, Debug)]
pub struct ModuleReference {
    /// The variable that refers to it.
    pub variable: ReferenceVariable,
    /// The header of the module.
    pub header: HeaderId,
    /// Its place in the source.
    pub span: Span,
}

/// A variable that refers to a module.
#[derive(Clone, Debug)]
pub enum ReferenceVariable {
    /// A module variable, an index of [`Body::module_variables`], and its indices.
    Variable(usize, Vec<Expression>),
    /// A name that `all`, `forone` or `exist` binds: a local of a frame.
    Bound(FrameId, usize),
}

/// An interaction point, of this module or of a child.
#[derive(Clone, Debug)]
pub struct PointReference {
    /// The child; none for this module.
    pub module: Option<ModuleReference>,
    /// The points: an index of [`Body::points`], or for a child of [`Header::points`].
    pub points: usize,
    /// The indices.
    pub indices: Vec<Expression>,
    /// Its place in the source.
    pub span: Span,
}

/// The names that `all`, `forone` or `exist` binds.
#[derive(Clone, Debug)]
pub enum Domain {
    /// Locals of a frame, and the ordinal type of each. The last one varies fastest.
    Ordinals(FrameId, Vec<(usize, TypeId)>),
    /// A local that refers to each child with this header, in the order in which this module
    /// initialised them.
    Children(FrameId, usize, HeaderId),
}

/// A statement.
#[derive(Clone, Debug)]
pub struct Statement {
    /// Its kind, with the parts.
    pub kind: StatementKind,
    /// Its place.
    pub span: Span,
}

/// The kinds of statements. Compound and empty statements are dissolved.
#[derive(Clone, Debug)]
pub enum StatementKind {
    /// An assignment. A value beyond the range of the place is a fault.
    Assign(Place, Expression),
    /// A call of a procedure.
    Call(RoutineId, Vec<Argument>),
    /// `if`
    If(Expression, Vec<Statement>, Vec<Statement>),
    /// `case`: ordinal numbers, and statements. A value without a case is a fault.
    Case(Expression, Vec<(Vec<i64>, Vec<Statement>)>),
    /// `while`
    While(Expression, Vec<Statement>),
    /// `repeat`
    Repeat(Vec<Statement>, Expression),
    /// `for`: both bounds are evaluated once, before.
    For {
        /// The control variable.
        variable: Place,
        /// Its first value.
        from: Expression,
        /// Its last value.
        to: Expression,
        /// `downto`
        is_down: bool,
        /// The statements.
        body: Vec<Statement>,
    },
    /// `with`: a local that is a reference to the record. Steps into its fields use the local.
    With(FrameId, usize, Place, Vec<Statement>),
    /// `init m with B(…)`
    Init(ModuleReference, BodyId, Vec<Expression>),
    /// `release m`
    Release(ModuleReference),
    /// `terminate m`
    Terminate(ModuleReference),
    /// `connect p to q`
    Connect(PointReference, PointReference),
    /// `disconnect p`
    DisconnectPoint(PointReference),
    /// `disconnect m`: all its external points.
    DisconnectModule(ModuleReference),
    /// `attach p to m.q`
    Attach(PointReference, PointReference),
    /// `detach p`
    DetachPoint(PointReference),
    /// `detach m`: all its external points.
    DetachModule(ModuleReference),
    /// `output p.DATA(…)`: the interaction, an index of [`Channel::interactions`].
    Output(PointReference, usize, Vec<Expression>),
    /// `all … do`
    All(Domain, Vec<Statement>),
    /// `forone … suchthat … do … otherwise …`
    ForOne {
        /// The names.
        domain: Domain,
        /// The condition.
        condition: Expression,
        /// The statements for one that satisfies it, by choice.
        body: Vec<Statement>,
        /// The statements if none does.
        otherwise: Vec<Statement>,
    },
}
