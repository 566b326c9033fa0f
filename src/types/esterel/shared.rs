//! Parallel branches: a variable that one of them writes, no other touches.

use super::scope::Scope;
use super::{Checker, ExpressionKind, VariableId};
use crate::diagnostic::{Diagnostic, Id};
use crate::source::Span;
use crate::syntax::esterel::ast;
use crate::types::process::{Statement, StatementId};
use std::collections::BTreeMap;
use std::ops::Range;

/// What one branch does to variables, and where first.
#[derive(Default)]
struct Touched {
    read: BTreeMap<VariableId, Span>,
    written: BTreeMap<VariableId, Span>,
}

impl Checker<'_> {
    /// `p || q`
    pub(super) fn parallel(
        &mut self,
        branches: &[ast::Statement],
        span: Span,
        scope: &Scope,
    ) -> StatementId {
        let mut all = Vec::new();
        let mut data = Vec::new();
        for branch in branches {
            let first = self.module.data.len();
            all.push(self.statement(branch, scope));
            data.push(first..self.module.data.len());
        }
        self.apart(data);
        self.add(Statement::Parallel(all), span)
    }

    /// What runs in parallel shares no variable that is written: each with the numbers of what it
    /// computes.
    pub(super) fn apart(&mut self, data: Vec<Range<usize>>) {
        let touched: Vec<Touched> = data.into_iter().map(|one| self.touched(one)).collect();
        for (at, one) in touched.iter().enumerate() {
            for (variable, written) in &one.written {
                let others = touched.iter().enumerate().filter(|(other, _)| *other != at);
                let mut places = others.filter_map(|(other, branch)| {
                    let writes = branch.written.get(variable).filter(|_| at < other);
                    writes.or_else(|| branch.read.get(variable))
                });
                if let Some(place) = places.next() {
                    self.shared(*variable, *written, *place);
                }
            }
        }
    }

    /// What the computations with these numbers do to variables.
    fn touched(&self, data: Range<usize>) -> Touched {
        let mut touched = Touched::default();
        for at in data {
            let span = self.module.processes.data[at].span;
            for variable in self.module.data[at].written() {
                touched.written.entry(variable).or_insert(span);
            }
            let mut open = self.module.data[at].expressions();
            while let Some(expression) = open.pop() {
                if let ExpressionKind::Variable(variable) = &*expression.kind {
                    touched.read.entry(*variable).or_insert(span);
                }
                open.extend(expression.kind.operands());
            }
        }
        touched
    }

    fn shared(&mut self, variable: VariableId, written: Span, touched: Span) {
        let name = self.module.variables[variable.at()].name.clone();
        let title = format!("two branches share the variable `{name}`");
        let refused = Diagnostic::error(
            Id::SharedVariable,
            title,
            written,
            "one branch writes it here",
        );
        let refused = refused.label(touched, "another branch reads or writes it here");
        self.report(refused.help("use a signal to carry the value from one branch to the other"));
    }
}
