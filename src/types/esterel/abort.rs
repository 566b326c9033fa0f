//! Delays, and the statements that wait or repeat.

use super::Checker;
use super::scope::{Scope, Way};
use crate::diagnostic::{Diagnostic, Id};
use crate::source::Span;
use crate::syntax::esterel::ast::{self, Binary, DelayCase};
use crate::types::process::{Carries, Case, Delay, Role, Signal, SignalId, Statement, StatementId};

impl Checker<'_> {
    fn delay(&mut self, delay: &ast::Delay, scope: &Scope) -> Delay {
        let test = self.presence(&delay.test, scope);
        let count = delay.count.as_ref().and_then(|times| {
            let times = self.expression_of(times, super::Type::Integer, scope)?;
            Some(self.count(times, delay.span))
        });
        Delay {
            test,
            count,
            immediate: delay.immediate,
            span: delay.span,
        }
    }

    fn cases(&mut self, cases: &[DelayCase], scope: &Scope) -> Vec<Case> {
        let all = cases.iter().map(|case| {
            let delay = self.delay(&case.delay, scope);
            let then = self.optional(case.then.as_ref(), case.delay.span, scope);
            Case { delay, then }
        });
        all.collect()
    }

    /// A delay behind which nothing is done.
    fn plain(&mut self, delay: &ast::Delay, scope: &Scope) -> Vec<Case> {
        let case = DelayCase {
            delay: delay.clone(),
            then: None,
        };
        self.cases(std::slice::from_ref(&case), scope)
    }

    /// `await case D do p …`
    pub(super) fn wait(&mut self, cases: &[DelayCase], span: Span, scope: &Scope) -> StatementId {
        let cases = self.cases(cases, scope);
        self.processes().wait(cases, span)
    }

    /// `abort p when D do q`
    pub(super) fn abort(
        &mut self,
        weak: bool,
        body: &ast::Statement,
        cases: &[DelayCase],
        span: Span,
        scope: &Scope,
    ) -> StatementId {
        let body = self.statement(body, scope);
        let cases = self.cases(cases, scope);
        self.add(Statement::Abort { weak, cases, body }, span)
    }

    /// `do p upto D`: `abort p; halt when D`.
    pub(super) fn upto(
        &mut self,
        body: &ast::Statement,
        delay: &ast::Delay,
        span: Span,
        scope: &Scope,
    ) -> StatementId {
        let body = self.statement(body, scope);
        self.until(body, delay, span, scope)
    }

    fn until(
        &mut self,
        body: StatementId,
        delay: &ast::Delay,
        span: Span,
        scope: &Scope,
    ) -> StatementId {
        let halt = self.processes().halt(span);
        let body = self.add(Statement::Sequence(vec![body, halt]), span);
        let cases = self.plain(delay, scope);
        let weak = false;
        self.add(Statement::Abort { weak, cases, body }, span)
    }

    /// `loop p each D`: `loop do p upto D end`.
    pub(super) fn loop_each(
        &mut self,
        body: &ast::Statement,
        delay: &ast::Delay,
        span: Span,
        scope: &Scope,
    ) -> StatementId {
        if delay.immediate {
            let title = "`each` runs its body at once, so it cannot be `immediate`".to_string();
            let refused = Diagnostic::error(Id::InstantaneousLoop, title, delay.span, "immediate");
            self.report(refused.help("write `every immediate … do … end`, which waits first"));
        }
        let body = self.upto(body, delay, span, scope);
        self.add(Statement::Loop(body), span)
    }

    /// `every D do p end`: `await D; loop p each D`, where the second does not begin at once.
    pub(super) fn every(
        &mut self,
        delay: &ast::Delay,
        body: &ast::Statement,
        span: Span,
        scope: &Scope,
    ) -> StatementId {
        let again = ast::Delay {
            immediate: false,
            ..delay.clone()
        };
        let first = self.processes().statements.len();
        let turn = self.statement(body, scope);
        if delay.count.is_none() && self.takes_no_time(first) {
            return self.each_time(delay.immediate, &again, turn, span, scope);
        }
        let turn = self.until(turn, &again, span, scope);
        let turns = self.add(Statement::Loop(turn), span);
        let first = self.plain(delay, scope);
        let first = self.processes().wait(first, delay.span);
        self.add(Statement::Sequence(vec![first, turns]), span)
    }

    /// `every D do p end` where `p` takes no time: `loop await D; p end`, which has one place to
    /// rest. To rest in one place before the first time and in another one after it would double
    /// the states of whatever else there is.
    fn each_time(
        &mut self,
        immediate: bool,
        delay: &ast::Delay,
        turn: StatementId,
        span: Span,
        scope: &Scope,
    ) -> StatementId {
        let cases = self.plain(delay, scope);
        let wait = self.processes().wait(cases, delay.span);
        let body = self.add(Statement::Sequence(vec![wait, turn]), span);
        let turns = self.add(Statement::Loop(body), span);
        if !immediate {
            return turns;
        }
        let test = self.presence(&delay.test, scope);
        let now = Statement::Present {
            test,
            then: turn,
            otherwise: self.processes().add(Statement::Nothing, span),
        };
        let now = self.add(now, delay.span);
        self.add(Statement::Sequence(vec![now, turns]), span)
    }

    /// Whether no statement from this one on ever rests.
    fn takes_no_time(&self, first: usize) -> bool {
        let all = self.module.processes.statements[first..].iter();
        let mut rests =
            all.filter(|one| matches!(one.statement, Statement::Pause | Statement::Suspend { .. }));
        rests.next().is_none()
    }

    /// `repeat e times p end`: a loop that exits when its count is over.
    pub(super) fn repeat(
        &mut self,
        positive: bool,
        times: &ast::Expression,
        body: &ast::Statement,
        span: Span,
        scope: &Scope,
    ) -> StatementId {
        let Some(checked) = self.expression_of(times, super::Type::Integer, scope) else {
            return self.add(Statement::Nothing, span);
        };
        let counter = self.counter();
        let begin = self.data(super::Data::Assign(counter, checked), times.span);
        let begin = self.add(Statement::Do(begin), times.span);
        let over = self.way(span, scope);
        let mut inner = scope.inside();
        inner.level += 1;
        let body = self.statement(body, &inner);
        let down = self.data(super::Data::Down(counter), times.span);
        let down = self.add(Statement::Do(down), times.span);
        let exit = Statement::Exit {
            level: over.level,
            way: over.signal,
            value: None,
        };
        let exit = self.add(exit, span);
        let nothing = self.add(Statement::Nothing, span);
        let ended = self.counted(Binary::AtMost, counter);
        let ends = self.choice(ended, exit, nothing, times.span);
        let turn = self.add(Statement::Sequence(vec![body, down, ends]), span);
        let turns = self.add(Statement::Loop(turn), span);
        let trap = Statement::Trap {
            level: over.level,
            handlers: vec![(over.signal, None)],
            body: turns,
        };
        let trap = self.add(trap, span);
        let whole = match positive {
            true => trap,
            false => {
                let some = self.counted(Binary::Greater, counter);
                self.choice(some, trap, nothing, times.span)
            }
        };
        self.add(Statement::Sequence(vec![begin, whole]), span)
    }

    /// A way to exit that nobody can name.
    fn way(&mut self, span: Span, scope: &Scope) -> Way {
        let signal = SignalId(self.module.processes.signals.len() as u32);
        self.module.processes.signals.push(Signal {
            name: "over".to_string(),
            role: Role::Exit,
            value: Carries::Nothing,
            previous: false,
            previous_value: false,
            span,
        });
        self.module.channels.push(None);
        let level = scope.level;
        Way { signal, level }
    }
}
