//! Processes: statements that run in parallel and talk by signals, with Esterel's meaning.
//!
//! In: nothing, these are plain data; processes of layers and modules of Esterel become them. Out:
//! what `reactive` explores and what the reference interpreter runs as it stands.
//!
//! Only a few statements are left; all others are written with these (`await S` is an abort of
//! what never ends). What values, variables and functions do is left out: whoever makes a
//! [`Processes`] keeps it in a table of his own, and here stands a [`DataId`] and whose values are
//! read.
//!
//! ```text
//! trap T in                          Trap 0 [
//!   loop                               Loop [
//!     pause;                             Sequence [
//!     present S then exit T end            Pause
//!   end                                    Present S [Exit 0] [Nothing]
//! end                                  ]]]
//! ```
//!
//! Within an instant each signal is present or absent, once and for all; what a `present` does is
//! not begun before that is settled (Berry, The Constructive Semantics of Pure Esterel).

use crate::source::Span;
use std::collections::BTreeSet;

/// A statement, among [`Processes::statements`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct StatementId(pub u32);

/// A signal, among [`Processes::signals`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SignalId(pub u32);

/// Something that is computed, among [`Processes::data`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct DataId(pub u32);

impl StatementId {
    /// The place in its table.
    pub fn at(self) -> usize {
        self.0 as usize
    }
}

impl SignalId {
    /// The place in its table.
    pub fn at(self) -> usize {
        self.0 as usize
    }
}

impl DataId {
    /// The place in its table.
    pub fn at(self) -> usize {
        self.0 as usize
    }
}

/// Statements that begin together in the first instant, and what they speak of.
#[derive(Clone, Debug, Default)]
pub struct Processes {
    /// All statements; those that a statement holds stand before it.
    pub statements: Vec<Placed>,
    /// All signals, those of the interface first.
    pub signals: Vec<Signal>,
    /// Which inputs never come together, or only together.
    pub relations: Vec<Relation>,
    /// Where each instant has exactly one input: that of the first, which never comes again.
    pub start: Option<SignalId>,
    /// All that is computed.
    pub data: Vec<Data>,
    /// Which of it may go wrong or does something: it is computed where nothing depends on it, too.
    pub risky: BTreeSet<DataId>,
    /// What runs.
    pub root: Option<StatementId>,
}

/// A statement, and where it is written.
#[derive(Clone, Debug)]
pub struct Placed {
    /// What it does.
    pub statement: Statement,
    /// Where it is written.
    pub span: Span,
}

/// Something that is computed.
#[derive(Clone, Debug)]
pub struct Data {
    /// The signals whose values it reads: each waits until it is settled who emits them. And the
    /// fields: each waits for the branches beside this one that may still write it.
    pub reads: Vec<SignalId>,
    /// The fields that it writes.
    pub writes: Vec<SignalId>,
    /// Where it is written.
    pub span: Span,
}

/// A signal.
#[derive(Clone, Debug)]
pub struct Signal {
    /// Its name.
    pub name: String,
    /// Who emits it.
    pub role: Role,
    /// Whether it carries a value.
    pub value: Carries,
    /// Whether its status in the instant before is asked for.
    pub previous: bool,
    /// Whether its value in the instant before is asked for.
    pub previous_value: bool,
    /// Where it is declared.
    pub span: Span,
}

/// Who emits a signal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// The environment.
    Input,
    /// The environment, and the processes for themselves: an input that is emitted.
    InputEmitted,
    /// The environment: a value that can always be read, and is never present.
    Sensor,
    /// The processes, for the environment.
    Output,
    /// Both.
    InputOutput,
    /// The processes, for themselves: one for each time that its declaration is entered.
    Local,
    /// An `exit`, for the handlers of its trap.
    Exit,
    /// Whoever writes the field that it stands for. It is never asked whether it is present; in an
    /// instant at most one of the branches that run in parallel writes it, and those that read it
    /// do so behind that.
    Field,
    /// Whoever looks at the message of the instant, before it is taken.
    Look,
}

/// What a signal carries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Carries {
    /// Nothing: it is pure.
    Nothing,
    /// One value an instant.
    One,
    /// All values of an instant, combined.
    Combined,
}

/// Which inputs come together.
#[derive(Clone, Debug)]
pub enum Relation {
    /// `A # B # C`: at most one of them.
    Exclusive(Vec<SignalId>),
    /// `A => B`: with the first comes the second.
    Implies(SignalId, SignalId),
}

/// What a statement does.
#[derive(Clone, Debug)]
pub enum Statement {
    /// Ends at once.
    Nothing,
    /// Ends in the next instant.
    Pause,
    /// A signal is present, with the value that is computed.
    Emit(SignalId, Option<DataId>),
    /// Something is done.
    Do(DataId),
    /// One or the other, by the status of signals.
    Present {
        /// What is asked.
        test: Presence,
        /// Where it holds.
        then: StatementId,
        /// Where it does not.
        otherwise: StatementId,
    },
    /// One or the other, by a value.
    If {
        /// What is asked.
        condition: DataId,
        /// Where it holds.
        then: StatementId,
        /// Where it does not.
        otherwise: StatementId,
    },
    /// One after the other.
    Sequence(Vec<StatementId>),
    /// In lock-step; ends when all have.
    Parallel(Vec<StatementId>),
    /// Again and again; what it repeats takes at least one instant each time.
    Loop(StatementId),
    /// Ends when its body does, or exits it.
    Trap {
        /// How many traps stand around it.
        level: u32,
        /// The ways to exit it, each with what is done then; those of several at once go in
        /// parallel. Without a handler the trap just ends.
        handlers: Vec<(SignalId, Option<StatementId>)>,
        /// The body.
        body: StatementId,
    },
    /// Exits the trap of this level, in this way, with the value that is computed.
    Exit {
        /// How many traps stand around that trap.
        level: u32,
        /// In which way.
        way: SignalId,
        /// With which value.
        value: Option<DataId>,
    },
    /// The body is frozen in the instants in which the test holds.
    Suspend {
        /// What is asked.
        test: Presence,
        /// Whether it is asked in the instant of its beginning, too.
        immediate: bool,
        /// The body.
        body: StatementId,
    },
    /// Ends the body when something comes.
    Abort {
        /// Whether the body runs in that instant for a last time.
        weak: bool,
        /// What ends it, and what is done then. Of several at once the first counts.
        cases: Vec<Case>,
        /// The body.
        body: StatementId,
    },
    /// Signals of its body's own, which are absent again each time it begins.
    Local {
        /// The signals.
        signals: Vec<SignalId>,
        /// Gives values to them at the beginning.
        begin: Option<DataId>,
        /// The body.
        body: StatementId,
    },
}

/// What ends an abort.
#[derive(Clone, Debug)]
pub struct Case {
    /// What is waited for.
    pub delay: Delay,
    /// What is done then.
    pub then: StatementId,
}

/// What is waited for.
#[derive(Clone, Debug)]
pub struct Delay {
    /// In which instants it comes nearer.
    pub test: Presence,
    /// How often; without, once.
    pub count: Option<Count>,
    /// Whether the instant of the beginning counts.
    pub immediate: bool,
    /// Where it is written.
    pub span: Span,
}

/// A count of instants.
#[derive(Clone, Copy, Debug)]
pub struct Count {
    /// Sets it, at the beginning.
    pub begin: DataId,
    /// Takes one away.
    pub down: DataId,
    /// Whether nothing is left.
    pub over: DataId,
}

/// What is asked of the status of signals.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Presence {
    /// Nothing: `tick`.
    Always,
    /// Whether it is present.
    Now(SignalId),
    /// Whether it was present in the instant before.
    Before(SignalId),
    /// The opposite.
    Not(Box<Presence>),
    /// Both.
    And(Box<Presence>, Box<Presence>),
    /// One of them, or both.
    Or(Box<Presence>, Box<Presence>),
}

/// What goes wrong while processes run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fault {
    /// A signal that carries one value is emitted twice.
    Twice(SignalId),
    /// The value of a signal is read that has none yet.
    Unset(SignalId),
    /// A number is divided by zero.
    DividedByZero(DataId),
    /// Signals wait for each other.
    Stuck,
    /// A loop's body ends in the instant in which it begins.
    Instantaneous,
}

impl Fault {
    /// What is wrong, for people.
    pub fn says(&self, processes: &Processes) -> String {
        let name = |signal: &SignalId| &processes.signal(*signal).name;
        match self {
            Fault::Twice(signal) => format!("`{}` is emitted twice", name(signal)),
            Fault::Unset(signal) => format!("`{}` has no value yet, and it is read", name(signal)),
            Fault::DividedByZero(_) => "a number is divided by zero".to_string(),
            Fault::Stuck => "signals wait for each other".to_string(),
            Fault::Instantaneous => "a loop ends in the instant in which it begins".to_string(),
        }
    }
}

impl Processes {
    /// Adds a statement.
    pub fn add(&mut self, statement: Statement, span: Span) -> StatementId {
        self.statements.push(Placed { statement, span });
        StatementId(self.statements.len() as u32 - 1)
    }

    /// Adds what never ends.
    pub fn halt(&mut self, span: Span) -> StatementId {
        let pause = self.add(Statement::Pause, span);
        self.add(Statement::Loop(pause), span)
    }

    /// Adds what waits.
    pub fn wait(&mut self, cases: Vec<Case>, span: Span) -> StatementId {
        let body = self.halt(span);
        let weak = false;
        self.add(Statement::Abort { weak, cases, body }, span)
    }

    /// The statement with an index.
    pub fn statement(&self, id: StatementId) -> &Statement {
        &self.statements[id.at()].statement
    }

    /// Where a statement is written.
    pub fn span(&self, id: StatementId) -> Span {
        self.statements[id.at()].span
    }

    /// The signal with an index.
    pub fn signal(&self, id: SignalId) -> &Signal {
        &self.signals[id.at()]
    }

    /// All signals.
    pub fn signals(&self) -> impl Iterator<Item = SignalId> + use<> {
        (0..self.signals.len() as u32).map(SignalId)
    }
}

impl Statement {
    /// The statements that it holds.
    pub fn parts(&self) -> Vec<StatementId> {
        match self {
            Statement::Nothing
            | Statement::Pause
            | Statement::Emit(..)
            | Statement::Do(_)
            | Statement::Exit { .. } => Vec::new(),
            Statement::Present {
                then, otherwise, ..
            }
            | Statement::If {
                then, otherwise, ..
            } => vec![*then, *otherwise],
            Statement::Sequence(all) | Statement::Parallel(all) => all.clone(),
            Statement::Loop(body)
            | Statement::Suspend { body, .. }
            | Statement::Local { body, .. } => {
                vec![*body]
            }
            Statement::Trap { handlers, body, .. } => {
                let handlers = handlers.iter().filter_map(|(_, handler)| *handler);
                handlers.chain([*body]).collect()
            }
            Statement::Abort { cases, body, .. } => {
                let then = cases.iter().map(|case| case.then);
                then.chain([*body]).collect()
            }
        }
    }
}

impl Role {
    /// Whether the environment says if it is present.
    pub fn is_given(self) -> bool {
        match self {
            Role::Input | Role::InputEmitted | Role::InputOutput => true,
            Role::Sensor | Role::Output | Role::Local | Role::Exit | Role::Field | Role::Look => {
                false
            }
        }
    }

    /// Whether the environment is told that it is present.
    pub fn is_told(self) -> bool {
        match self {
            Role::Output | Role::InputOutput => true,
            Role::Input
            | Role::InputEmitted
            | Role::Sensor
            | Role::Local
            | Role::Exit
            | Role::Field
            | Role::Look => false,
        }
    }

    /// Whether processes emit it.
    pub fn is_emitted(self) -> bool {
        match self {
            Role::InputEmitted | Role::Output | Role::InputOutput | Role::Local | Role::Exit => {
                true
            }
            Role::Input | Role::Sensor | Role::Field | Role::Look => false,
        }
    }
}

impl Presence {
    /// Whether one of these signals is present.
    pub fn any(signals: &[SignalId]) -> Presence {
        let mut tests = signals.iter().map(|signal| Presence::Now(*signal));
        let first = tests.next().expect("something is waited for");
        tests.fold(first, |all, one| Presence::Or(Box::new(all), Box::new(one)))
    }

    /// Both.
    pub fn and(self, other: Presence) -> Presence {
        Presence::And(Box::new(self), Box::new(other))
    }

    /// The signals of which it asks, now or before.
    pub fn signals(&self) -> Vec<SignalId> {
        match self {
            Presence::Always => Vec::new(),
            Presence::Now(signal) | Presence::Before(signal) => vec![*signal],
            Presence::Not(inner) => inner.signals(),
            Presence::And(one, other) | Presence::Or(one, other) => {
                [one.signals(), other.signals()].concat()
            }
        }
    }

    /// Whether it holds, as far as that is known: `now` and `before` say it of a signal.
    pub fn holds(
        &self,
        now: &impl Fn(SignalId) -> Option<bool>,
        before: &impl Fn(SignalId) -> bool,
    ) -> Option<bool> {
        match self {
            Presence::Always => Some(true),
            Presence::Now(signal) => now(*signal),
            Presence::Before(signal) => Some(before(*signal)),
            Presence::Not(inner) => inner.holds(now, before).map(|holds| !holds),
            Presence::And(one, other) => match (one.holds(now, before), other.holds(now, before)) {
                (Some(false), _) | (_, Some(false)) => Some(false),
                (Some(true), Some(true)) => Some(true),
                (None, Some(true) | None) | (Some(true), None) => None,
            },
            Presence::Or(one, other) => match (one.holds(now, before), other.holds(now, before)) {
                (Some(true), _) | (_, Some(true)) => Some(true),
                (Some(false), Some(false)) => Some(false),
                (None, Some(false) | None) | (Some(false), None) => None,
            },
        }
    }
}
