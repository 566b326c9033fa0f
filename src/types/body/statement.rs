//! Statements: blocks, tests, loops and assignments.
//!
//! `else` takes the place of the rest of its block. So each block collects what is known at the
//! ends of its `else`s, and joins it with what is known at its own end.

use super::super::expression::{ExpressionKind, Instance};
use super::super::program::{KindId, LocalId, Role, TimerId};
use super::super::statement::{Block, Dropped, Likely, Output, Statement, StatementKind};
use super::super::value::Type;
use super::access::Meaning;
use super::external::Use;
use super::flow::{Flow, Way};
use super::mentions;
use super::words::{Body, Place};
use crate::diagnostic::{Diagnostic, Id};
use crate::source::Span;
use crate::syntax::loom::ast;

/// What is known at the end of an `else`, and the ways that part there.
pub(super) struct Exit {
    flow: Flow,
    failed: Way,
    went_on: Way,
}

/// How often, in percent.
pub(super) fn percent(likely: Option<&ast::Likely>) -> Likely {
    likely.map(|likely| f64::from(likely.millionths) / 10_000.0)
}

/// Where something is missing at the end of a block.
pub(super) fn last_brace(block: Span) -> Span {
    Span {
        start: block.end.saturating_sub(1).max(block.start),
        ..block
    }
}

impl Body<'_, '_> {
    /// Statements one after the other; what they introduce ends with them.
    pub fn block(&mut self, source: &ast::Block) -> Block {
        let words = self.words.len();
        let mut exits = Vec::new();
        let mut block = Vec::new();
        for (at, statement) in source.statements.iter().enumerate() {
            let introduced = self.words.len();
            let waits = self.note_waits_behind(&source.statements[at + 1..]);
            let told = self.context.diagnostics.len();
            let chosen = self.for_each_joint(statement);
            let meant = chosen.as_ref().unwrap_or(statement);
            let check = |body: &mut Self| body.statement(meant, &mut exits);
            let (kind, before) = self.ahead(check);
            if self.context.diagnostics.len() > told {
                self.blame(told, mentions::in_statement(statement));
            }
            if let ast::StatementKind::Let { name, value, .. } = &statement.kind {
                self.note_origins(introduced, name, value);
            }
            block.extend(before);
            match kind {
                Some(kind) => block.push(Statement {
                    kind,
                    span: statement.span,
                }),
                None => self.lose_sight_of(statement),
            }
            if waits {
                block.extend(self.keep_words(introduced, statement.span));
            }
        }
        for exit in exits {
            let flow = std::mem::take(&mut self.flow);
            self.flow = flow.join(&exit.went_on, exit.flow, &exit.failed);
        }
        let introduced = self.words[words..].iter().map(|word| word.local);
        let introduced: Vec<LocalId> = introduced.collect();
        self.check_gone(introduced.into_iter(), last_brace(source.span));
        self.leave_words(words);
        block
    }

    /// A statement, behind what its values need to be done.
    pub fn with_before(
        &mut self,
        span: Span,
        check: impl FnOnce(&mut Self) -> Option<StatementKind>,
    ) -> Block {
        let (kind, mut block) = self.ahead(check);
        block.extend(kind.map(|kind| Statement { kind, span }));
        block
    }

    /// Something that is checked, and what is done before because of it.
    pub fn ahead<T>(&mut self, check: impl FnOnce(&mut Self) -> T) -> (T, Block) {
        let perhaps = std::mem::take(&mut self.perhaps);
        let around = self.before.replace(Block::new());
        let checked = check(self);
        let before = std::mem::replace(&mut self.before, around);
        self.perhaps = perhaps;
        (checked, before.unwrap_or_default())
    }

    /// What takes the place of the rest of the block, from what is known when it does.
    pub fn exit(
        &mut self,
        otherwise: &ast::Block,
        failing: Flow,
        ways: (Way, Way),
        exits: &mut Vec<Exit>,
    ) -> Block {
        let success = std::mem::replace(&mut self.flow, failing);
        let block = self.block(otherwise);
        let flow = std::mem::replace(&mut self.flow, success);
        let (failed, went_on) = ways;
        exits.push(Exit {
            flow,
            failed,
            went_on,
        });
        block
    }

    /// The two ways that part at a test.
    pub fn ways(&self, condition: Span) -> (Way, Way) {
        let text = self.text(condition);
        let short = text.len() <= 48 && !text.contains('\n');
        let way = |shown: String, long: &str| Way {
            span: condition,
            text: if short { shown } else { long.to_string() },
        };
        (
            way(format!("when `{text}`"), "when this holds"),
            way(format!("unless `{text}`"), "unless this holds"),
        )
    }

    fn statement(
        &mut self,
        source: &ast::Statement,
        exits: &mut Vec<Exit>,
    ) -> Option<StatementKind> {
        let span = source.span;
        self.note_call_of_c(&source.kind);
        match &source.kind {
            ast::StatementKind::Let {
                name,
                value,
                otherwise,
            } => self.let_statement(name, value, otherwise.as_ref(), span, exits),
            ast::StatementKind::Require {
                condition,
                likely,
                otherwise,
            } => self.require(condition, likely.as_ref(), otherwise, exits),
            ast::StatementKind::Assign {
                place,
                operator,
                value,
                otherwise,
            } => {
                let failing = self.flow.clone();
                let assigned = self.assign(place, *operator, value, span)?;
                self.or_otherwise(assigned, value, otherwise.as_ref(), failing, exits)
            }
            ast::StatementKind::Call { call, otherwise } => {
                self.call_statement(call, otherwise.as_ref(), span, exits)
            }
            ast::StatementKind::If {
                branches,
                otherwise,
            } => Some(self.if_statement(branches, otherwise.as_ref())),
            ast::StatementKind::Match {
                subject,
                cases,
                otherwise,
            } => self.match_statement(subject, cases, otherwise.as_ref()),
            ast::StatementKind::For { name, over, body } => self.for_statement(name, over, body),
            ast::StatementKind::Return(value) => self.return_statement(value, span),
            ast::StatementKind::Yield(value) => self.yield_statement(value, span),
            ast::StatementKind::Emit { .. }
            | ast::StatementKind::Await(_)
            | ast::StatementKind::Run { .. }
            | ast::StatementKind::Every { .. }
            | ast::StatementKind::Loop(_)
            | ast::StatementKind::Repeat { .. }
            | ast::StatementKind::Trap { .. }
            | ast::StatementKind::Exit(_)
            | ast::StatementKind::Pause => self.react(source),
            _ if !matches!(self.place, Place::Handler(_)) => self.handlers_alone(span),
            ast::StatementKind::Send(output) => self.send(output, span),
            ast::StatementKind::Deliver(output) => self.deliver(output, span),
            ast::StatementKind::Tell {
                target,
                event,
                arguments,
                with,
            } => self.tell(target, event, arguments, with, span),
            ast::StatementKind::Drop { what, reason } => self.drop_statement(what, reason, span),
            ast::StatementKind::Consume(name) => self.consume(name, span),
            ast::StatementKind::Count(name) => self.count(name),
            ast::StatementKind::Again => Some(StatementKind::Output(Output::Again)),
            ast::StatementKind::End(name) => self.end_statement(name.as_ref(), span),
            ast::StatementKind::Start { timer, after } => self.start(timer, after),
            ast::StatementKind::Stop(timer) => self.stop(timer),
        }
    }

    /// Where a call of a function in C may be all of the value that the statement is about.
    fn note_call_of_c(&mut self, statement: &ast::StatementKind) {
        match statement {
            ast::StatementKind::Let {
                value,
                otherwise: None,
                ..
            } => self.calls_c_alone(value.span, Use::Bound),
            ast::StatementKind::Require {
                condition: value, ..
            }
            | ast::StatementKind::Assign {
                value,
                operator: None,
                ..
            }
            | ast::StatementKind::Match { subject: value, .. } => {
                self.calls_c_alone(value.span, Use::Read);
            }
            _ => {}
        }
    }

    /// Refuses what only handlers do.
    pub fn handlers_alone(&mut self, span: Span) -> Option<StatementKind> {
        let title = "only handlers can do this";
        let label = "has a side effect";
        let refused = Diagnostic::error(Id::NotHere, title, span, label);
        self.report(refused.why("Functions and filters compute values, and have no side effects."));
        None
    }

    fn consume(&mut self, name: &ast::Name, span: Span) -> Option<StatementKind> {
        let message = self.owned_message(name)?;
        self.give_away(message, span);
        Some(StatementKind::Consume(message))
    }

    fn count(&mut self, name: &ast::Name) -> Option<StatementKind> {
        let count = self.context.count(self.scope.entity, &name.text);
        Some(StatementKind::Count(count))
    }

    fn start(&mut self, timer: &ast::Path, after: &ast::Expression) -> Option<StatementKind> {
        let after = self.expect(after, &Type::Time);
        let span = timer.span;
        let (instance, kind, timer) = self.timer(timer)?;
        if instance == Instance::Own {
            self.check_alive(instance, "this instance", span);
        }
        Some(StatementKind::StartTimer(instance, kind, timer, after))
    }

    fn stop(&mut self, timer: &ast::Path) -> Option<StatementKind> {
        let (instance, kind, timer) = self.timer(timer)?;
        Some(StatementKind::StopTimer(instance, kind, timer))
    }

    fn require(
        &mut self,
        condition: &ast::Expression,
        likely: Option<&ast::Likely>,
        otherwise: &ast::Block,
        exits: &mut Vec<Exit>,
    ) -> Option<StatementKind> {
        let (holds, fails) = self.ways(condition.span);
        let condition = self.question(condition);
        let before = self.flow.clone();
        self.assume(&condition, false);
        let failing = std::mem::replace(&mut self.flow, before);
        self.assume(&condition, true);
        let otherwise = self.exit(otherwise, failing, (fails, holds), exits);
        Some(StatementKind::Require {
            condition,
            likely: percent(likely),
            otherwise,
        })
    }

    fn drop_statement(
        &mut self,
        what: &ast::Expression,
        reason: &ast::Name,
        span: Span,
    ) -> Option<StatementKind> {
        let dropped = match self.meaning(what, None) {
            Some(Meaning::Message(message)) => {
                self.give_away(message, span);
                Some(Dropped::Message(message))
            }
            Some(Meaning::Value(value)) if value.result == Type::Nothing => return None,
            Some(Meaning::Value(value)) => match (*value.kind, value.result) {
                (ExpressionKind::Read(place), of) if of.holds_messages() => {
                    self.forget(&place);
                    Some(Dropped::Container(place))
                }
                _ => None,
            },
            Some(Meaning::Unknown) => return None,
            _ => None,
        };
        let Some(dropped) = dropped else {
            let title = "only messages, and containers of messages, can be dropped";
            let label = "not a message";
            self.report(Diagnostic::error(Id::TypeMismatch, title, what.span, label));
            return None;
        };
        let reason = self.context.reason(self.scope.entity, &reason.text);
        Some(StatementKind::Drop(dropped, reason))
    }

    /// The message of this name.
    fn owned_message(&mut self, name: &ast::Name) -> Option<LocalId> {
        let source = ast::Expression {
            kind: ast::ExpressionKind::Name(name.clone()),
            span: name.span,
        };
        let meaning = self.meaning(&source, None)?;
        if let Meaning::Message(message) = meaning {
            return Some(message);
        }
        if !matches!(meaning, Meaning::Unknown) {
            let title = format!("`{name}` is not a message");
            let label = "expected a message";
            self.report(Diagnostic::error(Id::TypeMismatch, title, name.span, label));
        }
        None
    }

    fn end_statement(&mut self, name: Option<&ast::Name>, span: Span) -> Option<StatementKind> {
        let (instance, kind) = match name {
            None => (Instance::Own, self.scope.kind),
            Some(name) => {
                let local = self.local(&name.text);
                match local.map(|local| (local, self.local_kind(local).clone())) {
                    Some((local, Type::Instance(kind))) => (Instance::Local(local), kind),
                    Some((_, Type::Nothing)) => return None,
                    _ => {
                        self.unknown("instance called", name, &[]);
                        return None;
                    }
                }
            }
        };
        if self.context.program.kinds[kind.at()].role == Role::Record {
            let title = "an entity cannot end";
            let refused = Diagnostic::error(Id::NotHere, title, span, "ends the entity");
            self.report(
                refused
                    .why("Only children and sessions end; an entity lives as long as its stack."),
            );
            return None;
        }
        let what = name.map_or("this instance".to_string(), |name| format!("`{name}`"));
        self.check_alive(instance, &what, span);
        self.flow.ended.push((instance, span));
        Some(StatementKind::End(instance, kind))
    }

    fn return_statement(&mut self, value: &ast::Expression, span: Span) -> Option<StatementKind> {
        if self.place != Place::Function {
            let title = "`return` cannot be used here";
            let refused = Diagnostic::error(Id::NotHere, title, span, "not in a function");
            self.report(
                refused.help("in a handler, `require … else {}` skips the rest of the block"),
            );
            return None;
        }
        let result = self.result.clone();
        self.calls_c_alone(value.span, Use::Read);
        let value = self.expect(value, &result);
        self.flow.dead = true;
        Some(StatementKind::Return(value))
    }

    fn yield_statement(&mut self, value: &ast::Expression, span: Span) -> Option<StatementKind> {
        if !matches!(self.place, Place::Filter(_)) || self.result == Type::Nothing {
            let title = "`yield` cannot be used here";
            let label = "not in a filter that rewrites";
            self.report(Diagnostic::error(Id::NotHere, title, span, label));
            return None;
        }
        let result = self.result.clone();
        Some(StatementKind::Yield(self.expect(value, &result)))
    }

    /// The timer of this name: `retry`, or `j.expiry` of an instance that was found.
    pub fn timer(&mut self, path: &ast::Path) -> Option<(Instance, KindId, TimerId)> {
        let mut source: Option<ast::Expression> = None;
        for name in &path.names {
            let kind = match source {
                None => ast::ExpressionKind::Name(name.clone()),
                Some(of) => ast::ExpressionKind::Field {
                    of: Box::new(of),
                    name: name.clone(),
                },
            };
            let span = path.span;
            source = Some(ast::Expression { kind, span });
        }
        match self.meaning(&source?, None) {
            Some(Meaning::Timer(instance, kind, timer)) => Some((instance, kind, timer)),
            Some(Meaning::Unknown) => None,
            _ => {
                let title = format!("`{path}` is not a timer");
                let refused = Diagnostic::error(Id::TypeMismatch, title, path.span, "not a timer");
                self.report(refused.help("declare a timer in the instance, such as `timer retry`"));
                None
            }
        }
    }
}
