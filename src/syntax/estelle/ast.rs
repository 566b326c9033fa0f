//! The syntax tree of an Estelle specification (ISO 9074), with Pascal (ISO 7185) in its bodies.
//!
//! The tree keeps names as they are written. Pascal does not distinguish letter case, so two names
//! are the same if their [`Name::key`]s are equal.

use crate::source::Span;
use std::cmp::Ordering;

/// A name as it is written.
#[derive(Clone, Debug)]
pub struct Name {
    /// The text, in the letter case of the source.
    pub text: String,
    /// Its place.
    pub span: Span,
}

impl Name {
    /// Returns the name in lower case, by which names are compared.
    pub fn key(&self) -> String {
        self.text.to_lowercase()
    }
}

/// A specification: the only unit of a file.
#[derive(Clone, Debug)]
pub struct Specification {
    /// Its name.
    pub name: Name,
    /// `systemprocess` or `systemactivity`, if the specification itself is a system.
    pub attribute: Option<(Attribute, Span)>,
    /// The discipline of interaction points that name none: `default individual queue`.
    pub default_queue: Option<(Queue, Span)>,
    /// The unit of delays: `timescale milliseconds`.
    pub timescale: Option<(Timescale, Span)>,
    /// Declarations, initialisation and transitions.
    pub body: Body,
}

/// The attribute of a module (ISO 9074, 5.2): how it runs together with other modules.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Attribute {
    /// `systemprocess`: a system whose children run in the same step.
    SystemProcess,
    /// `systemactivity`: a system of which one module runs in a step.
    SystemActivity,
    /// `process`: all children run in the same step.
    Process,
    /// `activity`: one child runs in a step.
    Activity,
}

/// The discipline of the queue of an interaction point.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Queue {
    /// `individual queue`: a queue of its own.
    Individual,
    /// `common queue`: the queue that all such points of an instance share.
    Common,
}

/// The unit of delays.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Timescale {
    /// `hours`
    Hours,
    /// `minutes`
    Minutes,
    /// `seconds`: the default.
    Seconds,
    /// `milliseconds`
    Milliseconds,
    /// `microseconds`
    Microseconds,
}

/// The content of a specification or of a module body.
#[derive(Clone, Default, Debug)]
pub struct Body {
    /// Declarations in the order of the source.
    pub declarations: Vec<Declaration>,
    /// All clauses of `initialize` and `trans`, outer before inner.
    pub clauses: Vec<Clause>,
    /// The word `initialize`, if the body has one.
    pub initialize_span: Option<Span>,
    /// The alternatives behind `initialize`.
    pub initialize: Vec<Transition>,
    /// The transitions behind `trans`, in the order of the source.
    pub transitions: Vec<Transition>,
}

/// A declaration of a body.
#[derive(Clone, Debug)]
pub enum Declaration {
    /// `const N = 4`
    Constant(Constant),
    /// `type T = …`
    Type(TypeDeclaration),
    /// `var a, b: T`
    Variable(Variables),
    /// `state idle, open`
    States(Vec<Name>),
    /// `stateset busy = [open, closing]`
    StateSet(Name, Vec<Name>),
    /// `channel C(user, provider); by user: …`
    Channel(Channel),
    /// `module M process (n: integer); ip … export … end`
    Header(Header),
    /// `body B for M; … end` or `body B for M; external`
    Body(ModuleBody),
    /// `modvar a: M`
    ModuleVariable(ModuleVariables),
    /// `ip p: C(user)`: internal interaction points.
    Points(Points),
    /// A function or a procedure.
    Routine(Routine),
}

/// A constant.
#[derive(Clone, Debug)]
pub struct Constant {
    /// Its name.
    pub name: Name,
    /// Its value.
    pub value: ConstantValue,
}

/// The value of a constant.
#[derive(Clone, Debug)]
pub enum ConstantValue {
    /// `= 4`
    Given(Expression),
    /// `= any integer`: the command line gives it (`--set`).
    Any(Type),
}

/// A type with a name.
#[derive(Clone, Debug)]
pub struct TypeDeclaration {
    /// Its name.
    pub name: Name,
    /// Its definition; none for `= ..`, a type that C code defines.
    pub definition: Option<Type>,
}

/// Several variables, parameters or fields of one type: `a, b: T`.
#[derive(Clone, Debug)]
pub struct Variables {
    /// Their names.
    pub names: Vec<Name>,
    /// Their type.
    pub kind: Type,
}

/// A Pascal type.
#[derive(Clone, Debug)]
pub struct Type {
    /// Its kind.
    pub kind: TypeKind,
    /// Its place.
    pub span: Span,
}

/// The kinds of Pascal types.
#[derive(Clone, Debug)]
pub enum TypeKind {
    /// A type by its name, also `integer`, `real`, `boolean` and `char`.
    Named(Name),
    /// `(red, green)`
    Enumeration(Vec<Name>),
    /// `0..7`
    Subrange(Box<Expression>, Box<Expression>),
    /// `array [T, U] of V`
    Array {
        /// Its index types, outer first.
        indices: Vec<Type>,
        /// The type of an element.
        element: Box<Type>,
        /// `packed`
        is_packed: bool,
    },
    /// `record … end`
    Record(Fields),
    /// `set of T`
    Set(Box<Type>),
}

/// The fields of a record, or of one variant.
#[derive(Clone, Default, Debug)]
pub struct Fields {
    /// The fields that always exist.
    pub fixed: Vec<Variables>,
    /// `case tag: T of …`
    pub variants: Option<Box<Variants>>,
}

/// The variant part of a record.
#[derive(Clone, Debug)]
pub struct Variants {
    /// The field that selects a variant, if it has a name.
    pub tag: Option<Name>,
    /// The type of the tag.
    pub kind: Name,
    /// Its variants: the values of the tag, and the fields.
    pub cases: Vec<(Vec<Expression>, Fields)>,
}

/// A channel: two roles, and the interactions that each sends.
#[derive(Clone, Debug)]
pub struct Channel {
    /// Its name.
    pub name: Name,
    /// Its two roles.
    pub roles: [Name; 2],
    /// Groups of interactions.
    pub groups: Vec<By>,
}

/// `by user, provider: DATA(n: integer); …`
#[derive(Clone, Debug)]
pub struct By {
    /// The roles that send these interactions: one or two.
    pub roles: Vec<Name>,
    /// The interactions.
    pub interactions: Vec<Interaction>,
}

/// An interaction of a channel.
#[derive(Clone, Debug)]
pub struct Interaction {
    /// Its name.
    pub name: Name,
    /// Its parameters.
    pub parameters: Vec<Variables>,
}

/// Interaction points of one channel and role: `p, q: array [T] of C(user) individual queue`.
#[derive(Clone, Debug)]
pub struct Points {
    /// Their names.
    pub names: Vec<Name>,
    /// The index types of an array of points; empty for single points.
    pub indices: Vec<Type>,
    /// The channel.
    pub channel: Name,
    /// The role that this module plays.
    pub role: Name,
    /// The discipline of the queue, if it is written.
    pub queue: Option<(Queue, Span)>,
}

/// A module header: the outside of a module.
#[derive(Clone, Debug)]
pub struct Header {
    /// Its name.
    pub name: Name,
    /// Its attribute.
    pub attribute: Option<(Attribute, Span)>,
    /// Parameters, which `init` gives by value.
    pub parameters: Vec<Variables>,
    /// External interaction points.
    pub points: Vec<Points>,
    /// Variables that the parent may read and write.
    pub exports: Vec<Variables>,
}

/// A module body: the inside of a module.
#[derive(Clone, Debug)]
pub struct ModuleBody {
    /// Its name.
    pub name: Name,
    /// The header that it belongs to.
    pub header: Name,
    /// Its content; none for `external`, a body that C code defines.
    pub content: Option<Body>,
}

/// `modvar a, b: array [T] of M`
#[derive(Clone, Debug)]
pub struct ModuleVariables {
    /// Their names.
    pub names: Vec<Name>,
    /// The index types of an array of module variables; empty for single ones.
    pub indices: Vec<Type>,
    /// The header of the modules that they refer to.
    pub header: Name,
}

/// A function or a procedure.
#[derive(Clone, Debug)]
pub struct Routine {
    /// Its name.
    pub name: Name,
    /// `pure`: it reads its parameters only, and writes only its own variables.
    pub is_pure: bool,
    /// True for `function`, false for `procedure`.
    pub is_function: bool,
    /// Its parameters.
    pub parameters: Vec<Parameters>,
    /// The type of its result. A function whose `forward` was before has none.
    pub result: Option<Name>,
    /// Its body.
    pub body: RoutineBody,
}

/// Parameters of a routine: `var a, b: T`.
#[derive(Clone, Debug)]
pub struct Parameters {
    /// `var`: the routine writes the variable of its caller.
    pub is_reference: bool,
    /// Names and type.
    pub variables: Variables,
}

/// The body of a routine.
#[derive(Clone, Debug)]
pub enum RoutineBody {
    /// `primitive`: C code defines it.
    Primitive,
    /// `forward`: its block follows later.
    Forward,
    /// Its block.
    Block(Block),
}

/// Declarations, and statements between `begin` and `end`.
#[derive(Clone, Debug)]
pub struct Block {
    /// Constants, types, variables and routines only.
    pub declarations: Vec<Declaration>,
    /// The statements.
    pub statements: Vec<Statement>,
    /// The words `begin` to `end`.
    pub span: Span,
}

/// The number of a clause in [`Body::clauses`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct ClauseId(pub u32);

/// A clause of a transition. Clauses nest; an inner one belongs to one outer clause.
#[derive(Clone, Debug)]
pub struct Clause {
    /// Its kind, with its parts.
    pub kind: ClauseKind,
    /// Its place.
    pub span: Span,
    /// The clause around it.
    pub parent: Option<ClauseId>,
}

/// The kinds of clauses.
#[derive(Clone, Debug)]
pub enum ClauseKind {
    /// `from idle, open`: states and sets of states.
    From(Vec<Name>),
    /// `to open`; none for `to same`.
    To(Option<Name>),
    /// `when p.DATA(n)`
    When(When),
    /// `provided n > 0`
    Provided(Expression),
    /// `provided otherwise`: none of these earlier `provided` clauses with the same clauses around.
    Otherwise(Vec<ClauseId>),
    /// `priority 2`
    Priority(Expression),
    /// `delay(2, 5)`
    Delay {
        /// The least time, in units of the timescale.
        least: Expression,
        /// The most time.
        most: Most,
    },
    /// `any i: 1..4 do`
    Any(Domain),
}

/// The upper bound of a delay.
#[derive(Clone, Debug)]
pub enum Most {
    /// `delay(2)`: the same as the lower one.
    Same,
    /// `delay(2, *)`: none.
    Unbounded,
    /// `delay(2, 5)`
    Given(Expression),
}

/// `when p[i].DATA(n, m)`
#[derive(Clone, Debug)]
pub struct When {
    /// The interaction point, of this module.
    pub point: Name,
    /// Its indices.
    pub indices: Vec<Expression>,
    /// The interaction.
    pub interaction: Name,
    /// Its parameters; if they are not written, none.
    pub parameters: Option<Vec<Name>>,
}

/// Names that take all values of an ordinal type: `i, j: 1..4; k: colour`.
pub type Domain = Vec<Variables>;

/// A transition, or an alternative of `initialize`.
#[derive(Clone, Debug)]
pub struct Transition {
    /// Its clauses, outer first.
    pub clauses: Vec<ClauseId>,
    /// `name resend:`
    pub name: Option<Name>,
    /// Its block.
    pub block: Block,
}

/// A reference to a module: `m`, `m[i]`.
#[derive(Clone, Debug)]
pub struct ModuleReference {
    /// The module variable, or a name bound by `all`, `forone` or `exist`.
    pub name: Name,
    /// Its indices.
    pub indices: Vec<Expression>,
    /// Its place.
    pub span: Span,
}

/// A reference to an interaction point: `p`, `p[i]`, `m.p[i]`.
#[derive(Clone, Debug)]
pub struct PointReference {
    /// The module, if it is a child.
    pub module: Option<ModuleReference>,
    /// The name of the point.
    pub name: Name,
    /// Its indices.
    pub indices: Vec<Expression>,
    /// Its place.
    pub span: Span,
}

/// A statement.
#[derive(Clone, Debug)]
pub struct Statement {
    /// Its kind, with its parts.
    pub kind: StatementKind,
    /// Its place.
    pub span: Span,
}

/// The kinds of statements.
#[derive(Clone, Debug)]
pub enum StatementKind {
    /// Nothing.
    Empty,
    /// `begin … end`
    Compound(Vec<Statement>),
    /// `a := b`; also `f := b`, the result of the function `f`.
    Assign(Expression, Expression),
    /// `p(a, b)`
    Call(Name, Vec<Expression>),
    /// `if … then … else …`
    If(Expression, Box<Statement>, Option<Box<Statement>>),
    /// `case … of 1, 2: …; 3: … end`
    Case(Expression, Vec<(Vec<Expression>, Statement)>),
    /// `while … do …`
    While(Expression, Box<Statement>),
    /// `repeat … until …`
    Repeat(Vec<Statement>, Expression),
    /// `for i := a to b do …`
    For {
        /// The control variable.
        variable: Name,
        /// Its first value.
        from: Expression,
        /// Its last value.
        to: Expression,
        /// `downto`
        is_down: bool,
        /// The statement.
        body: Box<Statement>,
    },
    /// `with r, s do …`
    With(Vec<Expression>, Box<Statement>),
    /// `init m with B(a, b)`
    Init(ModuleReference, Name, Vec<Expression>),
    /// `release m`
    Release(ModuleReference),
    /// `terminate m`
    Terminate(ModuleReference),
    /// `connect p to m.q`
    Connect(PointReference, PointReference),
    /// `disconnect p`, `disconnect m`. A single name may be a point or a module.
    Disconnect(PointReference),
    /// `attach p to m.q`
    Attach(PointReference, PointReference),
    /// `detach p`, `detach m`. A single name may be a point or a module.
    Detach(PointReference),
    /// `output p.DATA(a, b)`
    Output(PointReference, Name, Vec<Expression>),
    /// `all i: 1..4 do …`, `all m: M do …`
    All(Domain, Box<Statement>),
    /// `forone i: 1..4 suchthat … do … otherwise …`
    ForOne {
        /// The names and their types, or one name and a module header.
        domain: Domain,
        /// The condition.
        condition: Expression,
        /// The statement for one that satisfies it.
        body: Box<Statement>,
        /// The statement if none satisfies it.
        otherwise: Option<Box<Statement>>,
    },
}

/// An expression, and also a variable to which a statement assigns.
#[derive(Clone, Debug)]
pub struct Expression {
    /// Its kind.
    pub kind: ExpressionKind,
    /// Its place.
    pub span: Span,
}

/// The kinds of expressions.
#[derive(Clone, Debug)]
pub enum ExpressionKind {
    /// `12`
    Integer(i64),
    /// `1.5e3`
    Real(f64),
    /// `'text'`, with `''` already replaced; of length one, a `char`.
    Text(String),
    /// A constant, variable, parameter, enumeration value, or a function without arguments.
    Name(Name),
    /// `f(a, b)`
    Call(Name, Vec<Expression>),
    /// `a[i, j]`
    Index(Box<Expression>, Vec<Expression>),
    /// `r.f`, `m.exported`, `m[i].exported`
    Field(Box<Expression>, Name),
    /// `not a`, `-a`, `+a`
    Unary(UnaryOperator, Box<Expression>),
    /// `a + b`
    Binary(BinaryOperator, Box<Expression>, Box<Expression>),
    /// `[1, 3..5]`
    Set(Vec<(Expression, Option<Expression>)>),
    /// `exist i: 1..4 suchthat …`
    Exist(Domain, Box<Expression>),
}

/// Operators with one operand.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum UnaryOperator {
    /// `not`
    Not,
    /// `-`
    Minus,
    /// `+`
    Plus,
}

/// Operators with two operands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum BinaryOperator {
    /// `+`: sum, union of sets
    Add,
    /// `-`: difference, also of sets
    Subtract,
    /// `*`: product, intersection of sets
    Multiply,
    /// `/`: quotient of reals
    Divide,
    /// `div`
    Div,
    /// `mod`
    Mod,
    /// `and`
    And,
    /// `or`
    Or,
    /// `=`
    Equal,
    /// `<>`
    Unequal,
    /// `<`
    Less,
    /// `<=`: also subset
    LessOrEqual,
    /// `>`
    Greater,
    /// `>=`: also superset
    GreaterOrEqual,
    /// `in`
    In,
}

impl BinaryOperator {
    /// Returns the outcome of a comparison, given the order of its operands: none if they have
    /// none, as with a real that is no number. The result is none for other operators.
    pub fn holds(self, order: Option<Ordering>) -> Option<bool> {
        match self {
            BinaryOperator::Equal => Some(order == Some(Ordering::Equal)),
            BinaryOperator::Unequal => Some(order != Some(Ordering::Equal)),
            BinaryOperator::Less => Some(order == Some(Ordering::Less)),
            BinaryOperator::LessOrEqual => Some(order.is_some_and(Ordering::is_le)),
            BinaryOperator::Greater => Some(order == Some(Ordering::Greater)),
            BinaryOperator::GreaterOrEqual => Some(order.is_some_and(Ordering::is_ge)),
            BinaryOperator::Add
            | BinaryOperator::Subtract
            | BinaryOperator::Multiply
            | BinaryOperator::Divide
            | BinaryOperator::Div
            | BinaryOperator::Mod
            | BinaryOperator::And
            | BinaryOperator::Or
            | BinaryOperator::In => None,
        }
    }
}
