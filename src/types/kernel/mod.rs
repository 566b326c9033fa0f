//! What processes do, in the few statements of [`Processes`].
//!
//! In: the block of all that a kind does. Out: its statements, and a table of what they compute:
//! steps that no other process sees happen one by one, and the choices between them.
//!
//! ```text
//! require number > last else {…}      If (require number > last)
//! emit valid                            then  Sequence [Emit valid, Do (last = number)]
//! last = number                         else  …
//! ```
//!
//! A step waits for the fields that it reads until nothing beside it can write them any more, and
//! one that writes a field for all others that can (DESIGN 3.3: in an instant at most one process
//! writes a field; readers see the value after the write). The same holds of timers, and of a
//! message: whoever looks at it does so before it is taken.

mod found;

use crate::diagnostic::{Diagnostic, Id};
use crate::source::Span;
use crate::types::context::Context;
use crate::types::expression::{Binary, Expression, ExpressionKind, Unary, Variable};
use crate::types::process::{
    Carries, Case, Count, Data, DataId, Delay, Presence, Processes, Role, Signal, SignalId,
    Statement as Kernel, StatementId,
};
use crate::types::program::{FieldId, KindId, LocalId, Program};
use crate::types::reactive::Computation;
use crate::types::statement::{Block, Likely, React, Statement, StatementKind, Wait};
use crate::types::value::Type;
use found::{Found, Owned};
use std::collections::{BTreeMap, BTreeSet};

/// Lowers what a kind does, into its processes.
pub fn lower(context: &mut Context, kind: KindId, root: &Block, span: Span) {
    let table = &mut context.program.kinds[kind.at()];
    let mut reactive = table.reactive.take().expect("who has processes reacts");
    let signals: Vec<SignalId> = reactive
        .processes
        .signals()
        .filter(|signal| reactive.processes.signal(*signal).role == Role::Local)
        .collect();
    let values = reactive.values.iter();
    let values = values.map(|(signal, field, _)| (*field, *signal)).collect();
    let brought = reactive.events.iter().flat_map(|(_, _, locals)| locals);
    let is_message = |local: &LocalId| reactive.locals[local.at()].kind == Type::Message;
    let messages = brought.copied().filter(is_message).collect();
    let mut lowering = Lowering {
        program: context.program,
        diagnostics: context.diagnostics,
        processes: std::mem::take(&mut reactive.processes),
        computations: Vec::new(),
        kind,
        values,
        messages,
        owned: BTreeMap::new(),
    };
    let body = lowering.block(root, span);
    let local = Kernel::Local {
        signals,
        begin: None,
        body,
    };
    let root = lowering.processes.add(local, span);
    lowering.processes.root = Some(root);
    let (_, start, _) = &reactive.events[0];
    lowering.processes.start = Some(*start);
    let owned = lowering.owned.iter();
    let fields = owned.filter_map(|(owned, signal)| match owned {
        Owned::Field(_, field) => Some((*field, *signal)),
        Owned::Timer(..) | Owned::Message | Owned::Life => None,
    });
    reactive.fields = fields.collect();
    reactive.computations = lowering.computations;
    reactive.processes = lowering.processes;
    context.program.kinds[kind.at()].reactive = Some(reactive);
}

struct Lowering<'a> {
    program: &'a Program,
    diagnostics: &'a mut Vec<Diagnostic>,
    processes: Processes,
    computations: Vec<Computation>,
    kind: KindId,
    /// The fields that hold values of signals.
    values: BTreeMap<FieldId, SignalId>,
    /// The locals that hold the messages that events bring.
    messages: Vec<LocalId>,
    /// The signals that stand for what is owned.
    owned: BTreeMap<Owned, SignalId>,
}

impl Lowering<'_> {
    fn block(&mut self, block: &[Statement], span: Span) -> StatementId {
        let mut all = Vec::new();
        let mut rest = block;
        while let Some((first, behind)) = rest.split_first() {
            if may_fail(first) {
                if block_is_plain(std::slice::from_ref(first)) && block_is_plain(behind) {
                    all.push(self.steps(rest.to_vec(), first.span));
                } else {
                    all.push(self.choice_of_rest(first, behind));
                }
                break;
            }
            all.push(self.statement(first));
            rest = behind;
        }
        match all[..] {
            [only] => only,
            _ => self.processes.add(Kernel::Sequence(all), span),
        }
    }

    /// What may fail, and the rest of its block, of which something else takes the place then.
    fn choice_of_rest(&mut self, statement: &Statement, behind: &[Statement]) -> StatementId {
        let span = statement.span;
        let then = self.block(behind, span);
        match &statement.kind {
            StatementKind::Require {
                condition,
                otherwise,
                ..
            } => {
                let otherwise = self.block(otherwise, span);
                self.condition(condition, statement, then, otherwise)
            }
            StatementKind::Attempt { otherwise, .. } => {
                let otherwise = self.block(otherwise, span);
                self.choice(without_blocks(statement), then, otherwise)
            }
            other => unreachable!("what may fail, not {other:?}"),
        }
    }

    fn statement(&mut self, statement: &Statement) -> StatementId {
        let span = statement.span;
        match &statement.kind {
            StatementKind::React(react) => self.react(react, span),
            _ if block_is_plain(std::slice::from_ref(statement)) => {
                self.steps(vec![statement.clone()], span)
            }
            StatementKind::If {
                condition,
                then,
                otherwise,
                ..
            } => {
                let then = self.block(then, span);
                let otherwise = self.block(otherwise, span);
                self.condition(condition, statement, then, otherwise)
            }
            StatementKind::Match {
                value,
                cases,
                otherwise,
            } => {
                let mut node = self.block(otherwise, span);
                for (constant, likely, block) in cases.iter().rev() {
                    let then = self.block(block, span);
                    let constant = Expression::number(*constant, value.result.clone());
                    let equal =
                        Expression::binary(Binary::Equal, value.clone(), constant, Type::Bool);
                    let kind = StatementKind::If {
                        condition: equal,
                        likely: *likely,
                        then: Block::new(),
                        otherwise: Block::new(),
                    };
                    node = self.choice(Statement { kind, span }, then, node);
                }
                node
            }
            _of_one_instant => {
                let title = "a process statement is not allowed here";
                let mistake = Diagnostic::error(Id::NotHere, title, span, "inside this statement");
                self.diagnostics.push(mistake.help(
                    "a `for` cannot emit, test or await signals; test a signal before it, with \
                    `let`",
                ));
                self.processes.add(Kernel::Nothing, span)
            }
        }
    }

    /// A condition, in which signals may be asked.
    fn condition(
        &mut self,
        condition: &Expression,
        statement: &Statement,
        then: StatementId,
        otherwise: StatementId,
    ) -> StatementId {
        let span = statement.span;
        if let Some(holds) = condition.truth() {
            return if holds { then } else { otherwise };
        }
        if let Some(test) = presence(condition) {
            return self.processes.add(
                Kernel::Present {
                    test,
                    then,
                    otherwise,
                },
                span,
            );
        }
        match &*condition.kind {
            ExpressionKind::Unary(Unary::Not, inner) if inner.asks() => {
                self.condition(inner, statement, otherwise, then)
            }
            ExpressionKind::Binary(Binary::And, one, other) if condition.asks() => {
                let then = self.condition(other, statement, then, otherwise);
                self.condition(one, statement, then, otherwise)
            }
            ExpressionKind::Binary(Binary::Or, one, other) if condition.asks() => {
                let otherwise = self.condition(other, statement, then, otherwise);
                self.condition(one, statement, then, otherwise)
            }
            _ => {
                let mut asked = without_blocks(statement);
                if let StatementKind::If { condition: own, .. }
                | StatementKind::Require { condition: own, .. } = &mut asked.kind
                {
                    *own = condition.clone();
                }
                self.choice(asked, then, otherwise)
            }
        }
    }

    fn choice(
        &mut self,
        statement: Statement,
        then: StatementId,
        otherwise: StatementId,
    ) -> StatementId {
        let span = statement.span;
        let condition = self.data(Computation::Choice(statement), span);
        let choice = Kernel::If {
            condition,
            then,
            otherwise,
        };
        self.processes.add(choice, span)
    }

    /// Steps, as one computation; one of them that fails leaves out only those behind it.
    fn steps(&mut self, block: Block, span: Span) -> StatementId {
        let steps = match block.iter().any(may_fail) {
            false => block,
            true => vec![Statement {
                kind: StatementKind::If {
                    condition: Expression::number(1, Type::Bool),
                    likely: None,
                    then: block,
                    otherwise: Block::new(),
                },
                span,
            }],
        };
        let data = self.data(Computation::Steps(steps), span);
        self.processes.add(Kernel::Do(data), span)
    }

    fn react(&mut self, react: &React, span: Span) -> StatementId {
        let statement = match react {
            React::Emit(signal, value) => {
                let value = value.clone();
                let value = value.map(|value| self.data(Computation::Value(value), span));
                Kernel::Emit(*signal, value)
            }
            React::Pause => Kernel::Pause,
            React::Loop(body) => Kernel::Loop(self.block(body, span)),
            React::Parallel(branches) => {
                let branches = branches.iter();
                let branches: Vec<_> = branches.map(|branch| self.block(branch, span)).collect();
                match branches[..] {
                    [only] => return only,
                    _ => Kernel::Parallel(branches),
                }
            }
            React::Trap { level, body } => {
                let body = self.block(body, span);
                let way = self.signal(format!("trap {level}"), Role::Exit, span);
                self.name_exits(body, *level, way);
                Kernel::Trap {
                    level: *level,
                    handlers: vec![(way, None)],
                    body,
                }
            }
            React::Exit(level) => Kernel::Exit {
                level: *level,
                way: SignalId(u32::MAX),
                value: None,
            },
            React::Suspend { signals, body } => Kernel::Suspend {
                test: Presence::any(signals),
                immediate: false,
                body: self.block(body, span),
            },
            React::Abort { weak, cases, body } => {
                let cases: Vec<Case> = cases.iter().map(|case| self.wait(case)).collect();
                let body = match body {
                    Some(body) => self.block(body, span),
                    None => self.processes.halt(span),
                };
                let weak = *weak;
                Kernel::Abort { weak, cases, body }
            }
            React::Take(_) => {
                let message = self.owned(Owned::Message, span);
                let data = Data {
                    reads: vec![message],
                    writes: Vec::new(),
                    span,
                };
                self.processes.data.push(data);
                let itself = StatementKind::React(Box::new(react.clone()));
                let itself = Statement { kind: itself, span };
                self.computations.push(Computation::Steps(vec![itself]));
                Kernel::Do(DataId(self.computations.len() as u32 - 1))
            }
        };
        self.processes.add(statement, span)
    }

    /// The exits of a trap get its way.
    fn name_exits(&mut self, id: StatementId, of: u32, new: SignalId) {
        if let Kernel::Exit { level, way, .. } = &mut self.processes.statements[id.at()].statement
            && *level == of
            && *way == SignalId(u32::MAX)
        {
            *way = new;
        }
        for part in self.processes.statement(id).parts() {
            self.name_exits(part, of, new);
        }
    }

    fn wait(&mut self, wait: &Wait) -> Case {
        let span = wait.span;
        let mut test = Presence::any(&wait.signals);
        let mut guard = wait.guard.clone();
        if let Some(asked) = guard.as_ref().filter(|guard| guard.asks()) {
            let (signals, values) = parted(asked);
            test = signals.into_iter().fold(test, Presence::and);
            guard = values;
        }
        if guard.as_ref().is_some_and(Expression::asks) {
            let title = "this wait tests a signal and a value at the same time";
            let mistake = Diagnostic::error(Id::NotHere, title, span, "the wait");
            let help = "combine the tests with `and`, or test the signal with `if` after the wait";
            self.diagnostics.push(mistake.help(help));
            guard = None;
        }
        let guard = guard.map(|guard| {
            let nothing = self.data(Computation::Steps(Block::new()), span);
            let asked = asked(guard, wait.likely, span);
            Count {
                begin: nothing,
                down: nothing,
                over: self.data(Computation::Choice(asked), span),
            }
        });
        let times = wait.times.as_ref();
        let times = times.map(|(times, left)| self.counted(times, left, span));
        Case {
            delay: Delay {
                test,
                count: times.or(guard),
                immediate: wait.now,
                span,
            },
            then: self.block(&wait.then, wait.span),
        }
    }

    /// What comes so often before it counts.
    fn counted(&mut self, times: &Expression, left: &Variable, span: Span) -> Count {
        let word = times.result.clone();
        let read = Expression::new(ExpressionKind::Read(left.clone()), word.clone());
        let one = Expression::number(1, word.clone());
        let zero = Expression::number(0, word.clone());
        let less = Expression::binary(Binary::Subtract, read.clone(), one, word);
        let assign = |value: Expression| {
            let kind = StatementKind::Assign(left.clone(), value);
            Computation::Steps(vec![Statement { kind, span }])
        };
        let over = Expression::binary(Binary::Equal, read, zero, Type::Bool);
        Count {
            begin: self.data(assign(times.clone()), span),
            down: self.data(assign(less), span),
            over: self.data(Computation::Choice(asked(over, None, span)), span),
        }
    }

    fn signal(&mut self, name: String, role: Role, span: Span) -> SignalId {
        self.processes.signals.push(Signal {
            name,
            role,
            value: Carries::Nothing,
            previous: false,
            previous_value: false,
            span,
        });
        SignalId(self.processes.signals.len() as u32 - 1)
    }

    /// The signal that stands for what at most one branch changes.
    fn owned(&mut self, owned: Owned, span: Span) -> SignalId {
        if let Some(signal) = self.owned.get(&owned) {
            return *signal;
        }
        let (name, role) = match owned {
            Owned::Field(kind, field) => {
                let field = &self.program.kinds[kind.at()].fields[field.at()];
                (field.name.clone(), Role::Field)
            }
            Owned::Timer(kind, timer) => {
                let timer = &self.program.kinds[kind.at()].timers[timer.at()];
                (timer.clone(), Role::Field)
            }
            Owned::Message => ("message".to_string(), Role::Look),
            Owned::Life => ("end".to_string(), Role::Field),
        };
        let signal = self.signal(name, role, span);
        self.owned.insert(owned, signal);
        signal
    }

    fn data(&mut self, computation: Computation, span: Span) -> DataId {
        let mut found = Found {
            program: self.program,
            kind: self.kind,
            reads: BTreeSet::new(),
            writes: BTreeSet::new(),
            messages: &self.messages,
            looks: false,
            does: false,
        };
        match &computation {
            Computation::Steps(block) => found.block(block),
            Computation::Choice(statement) => found.statement(statement),
            Computation::Value(value) => found.expression(value),
        }
        let Found {
            reads,
            writes,
            looks,
            does,
            ..
        } = found;
        let mut settled = Vec::new();
        for owned in &reads {
            settled.push(match owned {
                Owned::Field(_, field) if self.values.contains_key(field) => self.values[field],
                _ => self.owned(*owned, span),
            });
        }
        let writes = writes.into_iter();
        let mut writes: Vec<SignalId> = writes.map(|owned| self.owned(owned, span)).collect();
        if looks {
            writes.push(self.owned(Owned::Message, span));
        }
        self.processes.data.push(Data {
            reads: settled,
            writes,
            span,
        });
        let id = DataId(self.computations.len() as u32);
        if let Computation::Choice(statement) = &computation
            && (does || matches!(statement.kind, StatementKind::Attempt { .. }))
        {
            self.processes.risky.insert(id);
        }
        self.computations.push(computation);
        id
    }
}

fn may_fail(statement: &Statement) -> bool {
    let kind = &statement.kind;
    matches!(
        kind,
        StatementKind::Attempt { .. } | StatementKind::Require { .. }
    )
}

/// Whether a block is done without processes: nothing is emitted or awaited, no signal is asked.
fn block_is_plain(block: &[Statement]) -> bool {
    block.iter().all(|statement| {
        let reacts = matches!(statement.kind, StatementKind::React(_));
        let mut outputs = match &statement.kind {
            StatementKind::Output(output) => output.values(),
            _ => Vec::new(),
        };
        outputs.extend(statement.values());
        let blocks = statement.blocks();
        !reacts
            && !outputs.into_iter().any(Expression::asks)
            && blocks.into_iter().all(|block| block_is_plain(block))
    })
}

/// A condition that asks of nothing but signals.
fn presence(condition: &Expression) -> Option<Presence> {
    Some(match &*condition.kind {
        ExpressionKind::Signal(presence) => presence.clone(),
        ExpressionKind::Unary(Unary::Not, inner) => Presence::Not(Box::new(presence(inner)?)),
        ExpressionKind::Binary(Binary::And, one, other) => presence(one)?.and(presence(other)?),
        ExpressionKind::Binary(Binary::Or, one, other) => {
            Presence::Or(Box::new(presence(one)?), Box::new(presence(other)?))
        }
        _of_values => return None,
    })
}

/// What a condition asks of signals alone, and the rest of what must hold besides.
fn parted(condition: &Expression) -> (Vec<Presence>, Option<Expression>) {
    if let Some(presence) = presence(condition) {
        return (vec![presence], None);
    }
    let ExpressionKind::Binary(Binary::And, one, other) = &*condition.kind else {
        return (Vec::new(), Some(condition.clone()));
    };
    let ((mut signals, one), (others, other)) = (parted(one), parted(other));
    signals.extend(others);
    let rest = match (one, other) {
        (Some(one), Some(other)) => Some(Expression::binary(Binary::And, one, other, Type::Bool)),
        (one, other) => one.or(other),
    };
    (signals, rest)
}

/// A question, as a statement with nothing in its blocks.
fn asked(condition: Expression, likely: Likely, span: Span) -> Statement {
    let kind = StatementKind::If {
        condition,
        likely,
        then: Block::new(),
        otherwise: Block::new(),
    };
    Statement { kind, span }
}

/// The same statement, with nothing in its blocks.
fn without_blocks(statement: &Statement) -> Statement {
    let mut bare = statement.clone();
    for block in bare.blocks_mut() {
        block.clear();
    }
    bare
}
