//! The statements of processes: in, as they are written; out, what they do.

use crate::diagnostic::{Diagnostic, Id};
use crate::source::Span;
use crate::syntax::loom::ast;
use crate::types::body::flow::{Flow, Way};
use crate::types::body::statement::percent;
use crate::types::body::words::{Body, constant_number, make, number};
use crate::types::expression::{Binary, Expression, ExpressionKind, Variable};
use crate::types::process::SignalId;
use crate::types::scope::Named;
use crate::types::statement::{Block, React, Statement, StatementKind, Wait};
use crate::types::value::Type;

use super::{statement, whole};

impl<'a> Body<'a, '_> {
    /// The statements of processes.
    pub(in crate::types::body) fn react(
        &mut self,
        source: &ast::Statement,
    ) -> Option<StatementKind> {
        if self.reacts.is_none() {
            let title = "only processes can do this";
            let label = "the instance has no processes";
            let refused = Diagnostic::error(Id::NotHere, title, source.span, label);
            let help = match source.kind {
                ast::StatementKind::Exit(_) | ast::StatementKind::Trap { .. } => {
                    "in a handler, put the rest of the code into an `if`; a loop over several \
                    instants needs a `process`"
                }
                _ => "write it in a `process`, and `run` the process in the instance",
            };
            self.report(refused.help(help));
            return None;
        }
        let react = match &source.kind {
            ast::StatementKind::Emit { signal, value } => self.emit(signal, value.as_ref())?,
            ast::StatementKind::Await(cases) => {
                self.waits_here(source.span);
                let cases = match &cases[..] {
                    [only] if only.body.statements.is_empty() => vec![self.awaited(only)?],
                    _ => self.cases(cases),
                };
                React::Abort {
                    weak: false,
                    cases,
                    body: None,
                }
            }
            ast::StatementKind::Run {
                parallel,
                unless,
                until,
                after,
            } => {
                let ends = (unless.as_ref(), &until[..], *after);
                self.run(parallel, ends, source.span)?
            }
            ast::StatementKind::Pause => {
                self.waits_here(source.span);
                React::Pause
            }
            ast::StatementKind::Every { delay, body } => self.every(delay, body, source.span)?,
            ast::StatementKind::Loop(body) => {
                self.waits_here(source.span);
                let block = self.block(body);
                self.flow.dead = true;
                React::Loop(block)
            }
            ast::StatementKind::Repeat { times, body } => self.repeat(times, body, source.span)?,
            ast::StatementKind::Trap { name, body } => {
                let level = self.reacts().traps.len() as u32;
                self.reacts().traps.push(Some(name.text.clone()));
                let before = self.flow.clone();
                let waits = self.block_waits(body, &mut Vec::new());
                let body = self.block(body);
                self.reacts().traps.pop();
                self.after_exits(before);
                if waits {
                    self.forget_what_was_found(source.span);
                }
                React::Trap { level, body }
            }
            ast::StatementKind::Exit(name) => self.exit_statement(name)?,
            other => unreachable!("processes alone do this, not {other:?}"),
        };
        Some(StatementKind::React(Box::new(react)))
    }

    /// Behind what can be left from within: only that no message is held.
    pub(super) fn after_exits(&mut self, before: Flow) {
        self.flow = Flow {
            messages: before.messages,
            ended: std::mem::take(&mut self.flow.ended),
            past: std::mem::take(&mut self.flow.past),
            ..Flow::default()
        };
    }

    pub(super) fn emit(
        &mut self,
        path: &ast::Path,
        value: Option<&ast::Expression>,
    ) -> Option<React> {
        let signal = match self.named_path(path) {
            Some(Named::Signal(signal)) => signal,
            _ => {
                self.no_signal(path);
                return None;
            }
        };
        if path.single().is_none() {
            let title = format!("only its own process can emit `{path}`");
            let mistake =
                Diagnostic::error(Id::NotHere, title, path.span, "a signal of another process");
            self.report(
                mistake
                    .why("Only the process that declares a field or signal can write or emit it."),
            );
            return None;
        }
        let carried = self.value_of_signal(signal);
        let value = match (carried, value) {
            (None, None) => None,
            (Some((_, of)), Some(value)) => Some(self.expect(value, &of)),
            (carried, _) => {
                let title = match carried {
                    None => format!("`{path}` carries no value"),
                    Some((_, of)) => format!("`{path}` carries {}", self.describe(&of)),
                };
                self.report(Diagnostic::error(Id::WrongArguments, title, path.span, ""));
                return None;
            }
        };
        Some(React::Emit(signal, value))
    }

    pub(super) fn exit_statement(&mut self, name: &ast::Name) -> Option<React> {
        let traps = self.reacts().traps.iter();
        let found = traps
            .rev()
            .position(|trap| trap.as_deref() == Some(&name.text));
        let Some(outward) = found else {
            let title = format!("there is no trap `{name}` around this");
            self.report(Diagnostic::error(
                Id::UnknownName,
                title,
                name.span,
                "unknown",
            ));
            return None;
        };
        let level = self.reacts().traps.len() - 1 - outward;
        self.no_message_held(name.span);
        self.flow.dead = true;
        Some(React::Exit(level as u32))
    }

    fn run(
        &mut self,
        parallel: &ast::Parallel,
        (unless, until, after): (Option<&ast::Event>, &[ast::Case], bool),
        span: Span,
    ) -> Option<React> {
        let several = parallel.branches.len() > 1;
        let ends = !until.is_empty() || unless.is_some();
        if several || ends {
            self.waits_here(span);
        }
        let asleep = unless.map(|event| self.asleep(event));
        let before = self.flow.clone();
        let mut branches = Vec::new();
        for branch in &parallel.branches {
            if several {
                self.flow = before.clone();
            }
            branches.push(self.run_branch(branch, span));
            if several {
                self.no_message_held(span);
            }
        }
        if several || ends {
            self.after_exits(before);
        }
        let mut body = React::Parallel(branches);
        if let Some(signals) = asleep {
            let inner = vec![statement(body, span)];
            body = React::Suspend {
                signals: signals?,
                body: inner,
            };
        }
        if until.is_empty() {
            return Some(body);
        }
        let cases = self.cases(until);
        Some(React::Abort {
            weak: after,
            cases,
            body: Some(vec![statement(body, span)]),
        })
    }

    /// The signals of which one lets something stand still.
    fn asleep(&mut self, source: &ast::Event) -> Option<Vec<SignalId>> {
        if !source.bindings.is_empty() {
            let title = "`unless` cannot bind values";
            self.report(Diagnostic::error(
                Id::WrongArguments,
                title,
                source.span,
                "",
            ));
            return None;
        }
        let heard = source.names.iter().map(|path| Some(self.listened(path)?.0));
        heard.collect()
    }

    pub(super) fn run_branch(&mut self, branch: &ast::ParallelBranch, span: Span) -> Block {
        match branch {
            ast::ParallelBranch::Block(block) => self.block(block),
            ast::ParallelBranch::Process { name, arguments } => {
                self.run_process(name, arguments, span).unwrap_or_default()
            }
        }
    }

    /// At each of these instants the body begins, and what is left of the one before is over.
    pub(super) fn every(
        &mut self,
        delay: &ast::Delay,
        body: &ast::Block,
        span: Span,
    ) -> Option<React> {
        self.waits_here(span);
        let words = self.words.len();
        let waits = body.statements.iter().any(|one| self.waits(one));
        let heard = self.heard(&delay.event, waits)?;
        let guard = self.guard(delay.condition.as_ref());
        let mut block = self.with_message(&heard, body);
        self.words.truncate(words);
        block.splice(0..0, heard.first);
        let halt = React::Loop(vec![statement(React::Pause, span)]);
        let block = vec![whole(block, span), statement(halt, span)];
        let times = self.times(delay);
        let wait = |then| Wait {
            signals: heard.signals.clone(),
            now: false,
            times: times.clone(),
            guard: guard.clone(),
            likely: None,
            then,
            span: delay.span,
        };
        let again = React::Abort {
            weak: false,
            cases: vec![wait(Block::new())],
            body: Some(block),
        };
        let turn = React::Loop(vec![statement(again, span)]);
        let first = React::Abort {
            weak: false,
            cases: vec![Wait {
                now: delay.now,
                ..wait(vec![statement(turn, span)])
            }],
            body: None,
        };
        self.flow.dead = true;
        Some(first)
    }

    pub(super) fn repeat(
        &mut self,
        times: &ast::Expression,
        body: &ast::Block,
        span: Span,
    ) -> Option<React> {
        self.waits_here(span);
        let word = Type::Unsigned(32);
        let times = self.expect(times, &word);
        let field = self.keep("turns", &word);
        let place = self.own_field(field);
        let left = make(ExpressionKind::Read(place.clone()), word.clone());
        let level = self.reacts().traps.len() as u32;
        self.reacts().traps.push(None);
        let before = self.flow.clone();
        let turn = self.block(body);
        self.reacts().traps.pop();
        self.after_exits(before);
        let constant = constant_number(&times);
        if constant == Some(0) {
            return Some(React::Parallel(Vec::new()));
        }
        let plain = |kind: StatementKind| Statement { kind, span };
        let over = || {
            let zero = number(0, word.clone());
            plain(StatementKind::If {
                condition: Expression::binary(Binary::Equal, left.clone(), zero, Type::Bool),
                likely: None,
                then: vec![statement(React::Exit(level), span)],
                otherwise: Block::new(),
            })
        };
        let one = number(1, word.clone());
        let less = Expression::binary(Binary::Subtract, left.clone(), one, word.clone());
        let turn = vec![
            whole(turn, span),
            plain(StatementKind::Assign(place.clone(), less)),
            over(),
        ];
        let mut body = vec![plain(StatementKind::Assign(place, times))];
        body.extend(constant.is_none().then(over));
        body.push(statement(React::Loop(turn), span));
        Some(React::Trap { level, body })
    }

    /// What is waited for, and what it brings is there for the rest of the block.
    fn awaited(&mut self, source: &ast::Case) -> Option<Wait> {
        let behind = self.reacts().waits_behind;
        let heard = self.heard(&source.delay.event, behind)?;
        let guard = self.guard(source.delay.condition.as_ref());
        if let Some(guard) = &guard {
            self.assume(guard, true);
        }
        let mut then = heard.first;
        if let Some(message) = heard
            .message
            .filter(|_| !source.delay.event.bindings.is_empty())
        {
            self.own(message);
            then.insert(0, statement(React::Take(message), source.span));
        }
        Some(Wait {
            signals: heard.signals,
            now: source.delay.now,
            times: self.times(&source.delay),
            guard,
            likely: percent(source.likely.as_ref()),
            then,
            span: source.delay.span,
        })
    }

    /// What is waited for, each with what is done then.
    pub(super) fn cases(&mut self, sources: &[ast::Case]) -> Vec<Wait> {
        let before = std::mem::take(&mut self.flow);
        let mut ends: Vec<(Flow, Way)> = Vec::new();
        let mut cases = Vec::new();
        for source in sources {
            self.flow = Flow {
                ended: before.ended.clone(),
                past: before.past.clone(),
                ..Flow::default()
            };
            let words = self.words.len();
            let behind = self.reacts().waits_behind;
            let waits = source.body.statements.iter().any(|one| self.waits(one));
            let Some(heard) = self.heard(&source.delay.event, waits || behind) else {
                self.words.truncate(words);
                continue;
            };
            let guard = self.guard(source.delay.condition.as_ref());
            if let Some(guard) = &guard {
                self.assume(guard, true);
            }
            let mut then = self.with_message(&heard, &source.body);
            self.leave_words(words);
            self.reacts().waits_behind = behind;
            then.splice(0..0, heard.first);
            let way = Way {
                span: source.delay.span,
                text: "in this case".to_string(),
            };
            ends.push((std::mem::take(&mut self.flow), way));
            cases.push(Wait {
                signals: heard.signals,
                now: source.delay.now,
                times: self.times(&source.delay),
                guard,
                likely: percent(source.likely.as_ref()),
                then,
                span: source.delay.span,
            });
        }
        let mut ends = ends.into_iter();
        if let Some((mut flow, mut way)) = ends.next() {
            for (next, next_way) in ends {
                flow = flow.join(&way, next, &next_way);
                way = next_way;
            }
            self.flow = flow;
        }
        self.flow.messages.extend(before.messages);
        cases
    }

    pub(super) fn guard(&mut self, source: Option<&ast::Expression>) -> Option<Expression> {
        let (guard, before) = self.ahead(|body| source.map(|source| body.question(source)));
        if let (Some(source), false) = (source, before.is_empty()) {
            let title = "this condition cannot be evaluated during a wait";
            let mistake = Diagnostic::error(
                Id::NotHere,
                title,
                source.span,
                "needs a statement before it",
            );
            self.report(mistake.help("test it with `if` in the body of the case"));
        }
        guard
    }

    /// How often something must come, and the field that counts.
    fn times(&mut self, source: &ast::Delay) -> Option<(Expression, Variable)> {
        let times = source.times.as_ref()?;
        if let Some(condition) = &source.condition {
            let title = "a delay with a count cannot have a condition";
            let mistake = Diagnostic::error(Id::NotHere, title, condition.span, "the condition");
            self.report(mistake.help("write a `repeat` around an `await` with the condition"));
            return None;
        }
        let word = Type::Unsigned(32);
        let (value, before) = self.ahead(|body| body.expect(times, &word));
        if !before.is_empty() || constant_number(&value) == Some(0) {
            let title = "the count of a delay must be a value above zero";
            self.report(Diagnostic::error(
                Id::NotHere,
                title,
                times.span,
                "the count",
            ));
            return None;
        }
        let field = self.keep("left", &word);
        Some((value, self.own_field(field)))
    }
}
