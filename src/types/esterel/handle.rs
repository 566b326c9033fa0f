//! Handlers of a trap, each with the exits that it is for.
//!
//! In: the ways to exit a trap, and handlers with expressions of them. Out: one statement for each
//! way. `handle T and U do p` becomes `present U then p` for `T`, and for `U` the same where `T`
//! was not exited, so that it runs once.

use super::Checker;
use super::scope::Scope;
use crate::diagnostic::{Diagnostic, Id};
use crate::source::Span;
use crate::syntax::esterel::ast::{self, Name};
use crate::types::process::{Presence, SignalId, Statement, StatementId};

impl Checker<'_> {
    /// What is done for each way to exit a trap. Each way has one handler: those of one name run in
    /// parallel, and one of an expression belongs to the first of the ways that were exited.
    pub(super) fn handlers(
        &mut self,
        ways: &[(&Name, SignalId)],
        handlers: &[(ast::Presence, ast::Statement)],
        after: &Scope,
    ) -> Vec<(SignalId, Option<StatementId>)> {
        let tests: Vec<Option<Presence>> = handlers
            .iter()
            .map(|(test, _)| self.exited(test, ways))
            .collect();
        let mut first_copies = Vec::new();
        let mut has_copy = vec![false; handlers.len()];
        let mut all = Vec::new();
        for (at, (_, way)) in ways.iter().enumerate() {
            let earlier: Vec<SignalId> = ways[..at].iter().map(|(_, way)| *way).collect();
            let mut parts = Vec::new();
            for (number, (_, body)) in handlers.iter().enumerate() {
                let Some(test) = &tests[number] else { continue };
                if let Presence::Now(only) = test
                    && only != way
                {
                    continue;
                }
                let first = self.module.data.len();
                let then = self.statement(body, after);
                if !std::mem::replace(&mut has_copy[number], true) {
                    first_copies.push(first..self.module.data.len());
                }
                parts.push(match test {
                    Presence::Now(_) => then,
                    test => self.handled(test, &earlier, then, body.span),
                });
            }
            let handler = match parts[..] {
                [] => None,
                [only] => Some(only),
                _ => {
                    let span = handlers[0].1.span;
                    Some(self.add(Statement::Parallel(parts), span))
                }
            };
            all.push((*way, handler));
        }
        self.apart(first_copies);
        all
    }

    /// A handler of an expression, where none of the earlier ways was exited.
    fn handled(
        &mut self,
        test: &Presence,
        earlier: &[SignalId],
        then: StatementId,
        span: Span,
    ) -> StatementId {
        let test = match earlier.is_empty() {
            true => test.clone(),
            false => Presence::Not(Box::new(Presence::any(earlier))).and(test.clone()),
        };
        let otherwise = self.nothing(span);
        let present = Statement::Present {
            test,
            then,
            otherwise,
        };
        self.add(present, span)
    }

    /// Which ways a handler is for; none if it names what is no trap here.
    fn exited(&mut self, test: &ast::Presence, ways: &[(&Name, SignalId)]) -> Option<Presence> {
        Some(match test {
            ast::Presence::Now(name) => {
                let way = ways.iter().rev().find(|(way, _)| way.text == name.text);
                let Some((_, way)) = way else {
                    let all: Vec<&str> = ways.iter().map(|(way, _)| way.text.as_str()).collect();
                    self.unknown("trap", name, all);
                    return None;
                };
                Presence::Now(*way)
            }
            ast::Presence::Before(name) => {
                let title = format!(
                    "`{}` is a trap, and `pre` does not apply to traps",
                    name.text
                );
                let label = "a trap is exited only in the current instant";
                self.report(Diagnostic::error(Id::NotAValue, title, name.span, label));
                return None;
            }
            ast::Presence::Not(inner) => Presence::Not(Box::new(self.exited(inner, ways)?)),
            ast::Presence::And(one, other) => {
                let one = self.exited(one, ways)?;
                one.and(self.exited(other, ways)?)
            }
            ast::Presence::Or(one, other) => {
                let one = Box::new(self.exited(one, ways)?);
                Presence::Or(one, Box::new(self.exited(other, ways)?))
            }
        })
    }
}
