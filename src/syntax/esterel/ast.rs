//! The tree of an Esterel text.

use crate::source::Span;

/// A name, and where it is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Name {
    /// The name.
    pub text: String,
    /// Where.
    pub span: Span,
}

/// A file: modules in order of writing.
#[derive(Clone, Debug, Default)]
pub struct File {
    /// Its modules.
    pub modules: Vec<Module>,
}

/// A module.
#[derive(Clone, Debug)]
pub struct Module {
    /// Its name.
    pub name: Name,
    /// What it declares, in order of writing.
    pub declarations: Vec<Declaration>,
    /// What it does.
    pub body: Statement,
}

/// What a module declares.
#[derive(Clone, Debug)]
pub enum Declaration {
    /// `type T`: one that C knows.
    Type(Name),
    /// `constant N = 10 : integer`: without a value, C has it.
    Constant {
        /// Its name.
        name: Name,
        /// Its value.
        value: Option<Expression>,
        /// Its type.
        kind: Name,
    },
    /// `function F(integer) : boolean`: in C.
    Function {
        /// Its name.
        name: Name,
        /// The types of its parameters.
        parameters: Vec<Name>,
        /// The type of its result.
        result: Name,
    },
    /// `procedure P(T)(integer)`: in C.
    Procedure {
        /// Its name.
        name: Name,
        /// The types of the variables that it is given.
        references: Vec<Name>,
        /// The types of the values that it is given.
        values: Vec<Name>,
    },
    /// `task K(T)(integer)`: in C, and takes its time.
    Task(Name),
    /// `input A`, `output B : integer`, `inputoutput C`.
    Signal(Direction, SignalDeclaration),
    /// `sensor S : integer`.
    Sensor {
        /// Its name.
        name: Name,
        /// The type of its value.
        kind: Name,
    },
    /// `relation A # B`: never together.
    Exclusive(Vec<Name>),
    /// `relation A => B`: never the first without the second.
    Implies(Name, Name),
}

/// Where a signal of the interface comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// The environment gives it.
    Input,
    /// It is told the environment.
    Output,
    /// Both.
    InputOutput,
    /// A task returns it.
    Return,
}

/// A signal that is declared.
#[derive(Clone, Debug)]
pub struct SignalDeclaration {
    /// Its name.
    pub name: Name,
    /// Its value at the beginning.
    pub initial: Option<Expression>,
    /// The type of its value; none if it is pure.
    pub kind: Option<Name>,
    /// What combines the values of one instant.
    pub combine: Option<Name>,
}

/// A variable that is declared.
#[derive(Clone, Debug)]
pub struct VariableDeclaration {
    /// Its name.
    pub name: Name,
    /// Its value at the beginning.
    pub initial: Option<Expression>,
    /// Its type.
    pub kind: Name,
}

/// A statement.
#[derive(Clone, Debug)]
pub struct Statement {
    /// What it does.
    pub kind: Box<StatementKind>,
    /// Where it is written.
    pub span: Span,
}

/// What a statement does.
#[derive(Clone, Debug)]
pub enum StatementKind {
    /// `nothing`
    Nothing,
    /// `pause`
    Pause,
    /// `halt`
    Halt,
    /// `emit S(e)`
    Emit(Name, Option<Expression>),
    /// `sustain S(e)`
    Sustain(Name, Option<Expression>),
    /// `present SE then p else q end`, `present case SE do p … else q end`
    Present {
        /// What is asked, in order, where, and what is done then.
        cases: Vec<(Presence, Span, Option<Statement>)>,
        /// What is done otherwise.
        otherwise: Option<Statement>,
    },
    /// `if e then p elsif f then q else r end`
    If {
        /// What is asked, in order, and what is done then.
        cases: Vec<(Expression, Option<Statement>)>,
        /// What is done otherwise.
        otherwise: Option<Statement>,
    },
    /// `p; q`
    Sequence(Vec<Statement>),
    /// `p || q`
    Parallel(Vec<Statement>),
    /// `loop p end`
    Loop(Statement),
    /// `loop p each D`
    LoopEach(Statement, Delay),
    /// `every D do p end`
    Every(Delay, Statement),
    /// `repeat e times p end`
    Repeat {
        /// Whether it runs at least once.
        positive: bool,
        /// How often.
        count: Expression,
        /// What is repeated.
        body: Statement,
    },
    /// `await D do p end`, `await case D do p … end`
    Await(Vec<DelayCase>),
    /// `abort p when D do q end`
    Abort {
        /// Whether the body runs a last time.
        weak: bool,
        /// The body.
        body: Statement,
        /// What ends it.
        cases: Vec<DelayCase>,
    },
    /// `do p upto D`
    Upto(Statement, Delay),
    /// `do p watching D timeout q end`
    Watching(Statement, DelayCase),
    /// `suspend p when D`
    Suspend(Statement, Delay),
    /// `trap T in p handle T do q end`
    Trap {
        /// The ways to exit it.
        ways: Vec<SignalDeclaration>,
        /// The body.
        body: Statement,
        /// What is done then.
        handlers: Vec<(Presence, Statement)>,
    },
    /// `exit T(e)`
    Exit(Name, Option<Expression>),
    /// `signal S in p end`
    Signal(Vec<SignalDeclaration>, Statement),
    /// `var X : integer in p end`
    Variable(Vec<VariableDeclaration>, Statement),
    /// `X := e`
    Assign(Name, Expression),
    /// `call P(X)(e)`
    Call {
        /// The procedure.
        procedure: Name,
        /// The variables that it is given.
        references: Vec<Name>,
        /// The values that it is given.
        values: Vec<Expression>,
    },
    /// `run N / M [signal A/B]`
    Run {
        /// The module.
        module: Name,
        /// What its names stand for here.
        renamings: Vec<Renaming>,
    },
    /// `exec K(X)(e) return R`
    Exec(Name),
}

/// What a name of a module that is run stands for.
#[derive(Clone, Debug)]
pub struct Renaming {
    /// What kind of name.
    pub kind: RenamingKind,
    /// What it stands for here.
    pub actual: Actual,
    /// The name in the module.
    pub formal: Name,
}

/// What kind of name is given a meaning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum RenamingKind {
    Signal,
    Type,
    Constant,
    Function,
    Procedure,
    Task,
}

/// What a name stands for.
#[derive(Clone, Debug)]
pub enum Actual {
    /// Another name, or a sign of an operator.
    Name(Name),
    /// A value.
    Value(Expression),
}

/// A delay, and what is done when it is over.
#[derive(Clone, Debug)]
pub struct DelayCase {
    /// The delay.
    pub delay: Delay,
    /// What is done.
    pub then: Option<Statement>,
}

/// What is waited for.
#[derive(Clone, Debug)]
pub struct Delay {
    /// How often it must come.
    pub count: Option<Expression>,
    /// Whether the instant of the beginning counts.
    pub immediate: bool,
    /// What must come.
    pub test: Presence,
    /// Where it is written.
    pub span: Span,
}

/// What is asked of signals.
#[derive(Clone, Debug)]
pub enum Presence {
    /// A signal is present; `tick` always is.
    Now(Name),
    /// It was in the instant before.
    Before(Name),
    /// Not so.
    Not(Box<Presence>),
    /// Both.
    And(Box<Presence>, Box<Presence>),
    /// One of them.
    Or(Box<Presence>, Box<Presence>),
}

/// An expression.
#[derive(Clone, Debug)]
pub struct Expression {
    /// What it computes.
    pub kind: Box<ExpressionKind>,
    /// Where it is written.
    pub span: Span,
}

/// What an expression computes.
#[derive(Clone, Debug)]
pub enum ExpressionKind {
    /// `12`
    Integer(u64),
    /// `1.5`, `1.5f`: as it is written, without the `f`.
    Real(String),
    /// `"text"`: what is between the quotes.
    Text(String),
    /// `true`, `false`
    Boolean(bool),
    /// A variable or constant.
    Name(Name),
    /// `?S`: the value of a signal.
    Value(Name),
    /// `pre(?S)`: that of the instant before.
    Before(Name),
    /// `??T`: the value of a trap.
    Exited(Name),
    /// `F(a, b)`
    Call(Name, Vec<Expression>),
    /// One operand.
    Unary(Unary, Expression),
    /// Two operands.
    Binary(Binary, Expression, Expression),
}

/// Operators of one operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum Unary {
    Not,
    Negate,
}

/// Operators of two operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum Binary {
    Or,
    And,
    Equal,
    Unequal,
    Less,
    AtMost,
    Greater,
    AtLeast,
    Add,
    Subtract,
    Multiply,
    Divide,
    Modulo,
}
