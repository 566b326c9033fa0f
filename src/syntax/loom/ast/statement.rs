//! Statements: what happens at an event.

use super::{BinaryOperator, Event, Expression, Name, Notes, Path};
use crate::source::Span;

/// Statements in braces, or the one behind an `else`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Block {
    /// In the order of writing.
    pub statements: Vec<Statement>,
    /// All of it, with its braces.
    pub span: Span,
}

/// One statement.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Statement {
    /// The rules it keeps.
    pub notes: Notes,
    /// What it does.
    pub kind: StatementKind,
    /// All of it.
    pub span: Span,
}

/// What statements can do.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum StatementKind {
    /// `let n = find neighbour(a) else drop message as unknown`
    Let {
        /// What the value is called from here on.
        name: Name,
        /// The value.
        value: Expression,
        /// What takes the place of the rest of the block if there is none.
        otherwise: Option<Block>,
    },
    /// `require header.sum == sum likely 99% else drop message as corrupt`
    Require {
        /// What must hold.
        condition: Expression,
        /// How often it does.
        likely: Option<Likely>,
        /// What takes the place of the rest of the block if it does not.
        otherwise: Block,
    },
    /// `last = header.number`, `next += 1`, `message.data = message.data through stuffed() else …`
    Assign {
        /// Where to.
        place: Expression,
        /// `+` of `+=`; none: `=`.
        operator: Option<BinaryOperator>,
        /// What.
        value: Expression,
        /// What takes the place of the rest of the block if a filter finds no room.
        otherwise: Option<Block>,
    },
    /// `held.push(message) else drop message as too_many_wait`
    Call {
        /// What is called, or created.
        call: Expression,
        /// What takes the place of the rest of the block if that fails.
        otherwise: Option<Block>,
    },
    /// `if … { … } else if … { … } else { … }`
    If {
        /// The first whose condition holds.
        branches: Vec<IfBranch>,
        /// If none does.
        otherwise: Option<Block>,
    },
    /// `match header.kind { case echo { … } else { … } }`
    Match {
        /// What is compared.
        subject: Expression,
        /// With what.
        cases: Vec<MatchCase>,
        /// If it is none of them.
        otherwise: Option<Block>,
    },
    /// `for i in 0..pieces at most 64 { … }`
    For {
        /// What each is called.
        name: Name,
        /// Over what it runs.
        over: ForRange,
        /// What is done with each.
        body: Block,
    },
    /// `send message to short with { … }`
    Send(Output),
    /// `deliver message with { … }`
    Deliver(Output),
    /// `tell above resolved(message, neighbour) with { … }`
    Tell {
        /// Whom.
        target: TellTarget,
        /// The event.
        event: Name,
        /// What it carries.
        arguments: Vec<Expression>,
        /// The attributes of the message that it carries.
        with: Vec<Setting>,
    },
    /// `drop message as too_long`
    Drop {
        /// What.
        what: Expression,
        /// Why: the counter.
        reason: Name,
    },
    /// `consume message`
    Consume(Name),
    /// `count repaired`
    Count(Name),
    /// `again`
    Again,
    /// `end`, `end j`
    End(Option<Name>),
    /// `start retry after 1 s`
    Start {
        /// Which timer.
        timer: Path,
        /// How long until it expires.
        after: Expression,
    },
    /// `stop retry`
    Stop(Path),
    /// `emit advanced(bytes)`
    Emit {
        /// Which signal.
        signal: Path,
        /// What it carries.
        value: Option<Expression>,
    },
    /// `await retry`, `await { case … }`
    Await(Vec<Case>),
    /// `run a and { … } unless asleep until s { … }`
    Run {
        /// What runs.
        parallel: Parallel,
        /// While this is present, it stands still.
        unless: Option<Event>,
        /// What ends it early; perhaps nothing.
        until: Vec<Case>,
        /// Whether it runs in that instant for a last time: `until after`.
        after: bool,
    },
    /// `pause`: till the next instant, whatever begins that
    Pause,
    /// `every acknowledgement.repeated { … }`
    Every {
        /// At each of these.
        delay: Delay,
        /// Do this.
        body: Block,
    },
    /// `loop { … }`
    Loop(Block),
    /// `repeat 3 { … }`
    Repeat {
        /// How often.
        times: Expression,
        /// What.
        body: Block,
    },
    /// `trap idle { … }`
    Trap {
        /// What `exit` calls it.
        name: Name,
        /// What it can leave.
        body: Block,
    },
    /// `exit idle`
    Exit(Name),
    /// `return e`: functions only.
    Return(Expression),
    /// `yield e`: filters only.
    Yield(Expression),
}

impl StatementKind {
    /// The blocks within the statement.
    pub fn blocks(&self) -> Vec<&Block> {
        match self {
            StatementKind::Let { otherwise, .. }
            | StatementKind::Assign { otherwise, .. }
            | StatementKind::Call { otherwise, .. } => otherwise.iter().collect(),
            StatementKind::If {
                branches,
                otherwise,
            } => {
                let then = branches.iter().map(|branch| &branch.body);
                then.chain(otherwise).collect()
            }
            StatementKind::Match {
                cases, otherwise, ..
            } => {
                let cases = cases.iter().map(|case| &case.body);
                cases.chain(otherwise).collect()
            }
            StatementKind::Require {
                otherwise: body, ..
            }
            | StatementKind::For { body, .. }
            | StatementKind::Every { body, .. }
            | StatementKind::Loop(body)
            | StatementKind::Repeat { body, .. }
            | StatementKind::Trap { body, .. } => vec![body],
            StatementKind::Await(cases) => cases.iter().map(|case| &case.body).collect(),
            StatementKind::Run {
                parallel, until, ..
            } => {
                let branches = parallel.branches.iter();
                let branches = branches.filter_map(|branch| match branch {
                    ParallelBranch::Block(block) => Some(block),
                    ParallelBranch::Process { .. } => None,
                });
                branches
                    .chain(until.iter().map(|case| &case.body))
                    .collect()
            }
            StatementKind::Send(_)
            | StatementKind::Deliver(_)
            | StatementKind::Tell { .. }
            | StatementKind::Drop { .. }
            | StatementKind::Consume(_)
            | StatementKind::Count(_)
            | StatementKind::Again
            | StatementKind::End(_)
            | StatementKind::Start { .. }
            | StatementKind::Stop(_)
            | StatementKind::Emit { .. }
            | StatementKind::Pause
            | StatementKind::Exit(_)
            | StatementKind::Return(_)
            | StatementKind::Yield(_) => Vec::new(),
        }
    }
}

/// `if c likely 99% { … }`
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct IfBranch {
    /// What must hold.
    pub condition: Expression,
    /// How often it does.
    pub likely: Option<Likely>,
    /// What is done then.
    pub body: Block,
    /// All of it.
    pub span: Span,
}

/// `case echo likely 90% { … }`
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct MatchCase {
    /// The value to compare with.
    pub value: Expression,
    /// How often it is this one.
    pub likely: Option<Likely>,
    /// What is done then.
    pub body: Block,
    /// All of it.
    pub span: Span,
}

/// What a `for` runs over.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum ForRange {
    /// `from..to at most n`
    Numbers {
        /// The first.
        from: Expression,
        /// One past the last.
        to: Expression,
        /// How often the body runs at most.
        at_most: Option<Expression>,
    },
    /// `held.drain()`
    Elements(Expression),
}

/// What a `send` or a `deliver` passes on.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Output {
    /// The message.
    pub message: Expression,
    /// Through which joint, where there are several.
    pub to: Option<Joint>,
    /// Header fields and attributes.
    pub with: Vec<Setting>,
}

/// A joint: `short`, `ways[variant]`
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Joint {
    /// Its name.
    pub name: Name,
    /// Its number in a list of joints.
    pub number: Option<Expression>,
}

/// Whom a `tell` tells.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum TellTarget {
    /// `above`
    Above(Span),
    /// `below`
    Below(Span),
    /// A lower joint of a router, a side joint, or an instance that was found.
    Named(Joint),
}

/// `more = i + 1 < pieces`, `scale = { shift = shift } if connection.scales`
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Setting {
    /// The rules it keeps.
    pub notes: Notes,
    /// A header field, an option, or an attribute.
    pub name: Name,
    /// What it is to be.
    pub value: SettingValue,
    /// When it is to be there.
    pub condition: Option<Expression>,
    /// All of it.
    pub span: Span,
}

/// What a setting sets.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum SettingValue {
    /// One value.
    Value(Expression),
    /// The fields of an option.
    Fields(Vec<Setting>),
}

/// `case acknowledgement.advanced(bytes) if … likely 95% { … }`
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Case {
    /// What is waited for.
    pub delay: Delay,
    /// How often it is this one.
    pub likely: Option<Likely>,
    /// What is done then.
    pub body: Block,
    /// All of it.
    pub span: Span,
}

/// `scan.valid if window.offered > 0`: an event of a later instant, or with `now` of this one, too;
/// `3 scan.valid`: the third.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Delay {
    /// Whether the instant in which the wait begins counts.
    pub now: bool,
    /// How often it must come.
    pub times: Option<Expression>,
    /// The event.
    pub event: Event,
    /// What must hold besides.
    pub condition: Option<Expression>,
    /// All of it.
    pub span: Span,
}

/// `connection and scan and { … }`
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Parallel {
    /// At least one.
    pub branches: Vec<ParallelBranch>,
    /// All of it, without `run`.
    pub span: Span,
}

/// One of several that run at a time.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum ParallelBranch {
    /// Statements.
    Block(Block),
    /// A process that is declared elsewhere.
    Process {
        /// Which.
        name: Path,
        /// What it is given.
        arguments: Vec<Expression>,
    },
}

/// `likely 99.9%`
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Likely {
    /// How often, in millionths.
    pub millionths: u32,
    /// All of it.
    pub span: Span,
}
