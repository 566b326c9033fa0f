//! What a computation reads and writes of what at most one branch changes in an instant.

use crate::types::expression::{Expression, ExpressionKind, Instance, Query, Variable};
use crate::types::fields::{changed_for, field_of, read_by};
use crate::types::program::{FieldId, KindId, LocalId, Program, TimerId};
use crate::types::statement::{Statement, StatementKind};
use std::collections::BTreeSet;

/// What at most one branch changes in an instant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Owned {
    Field(KindId, FieldId),
    Timer(KindId, TimerId),
    /// The message that an event brings.
    Message,
    /// The instance itself, which ends once.
    Life,
}

/// What a computation reads and writes.
pub(super) struct Found<'a> {
    pub program: &'a Program,
    pub kind: KindId,
    pub reads: BTreeSet<Owned>,
    pub writes: BTreeSet<Owned>,
    /// The locals that hold what events bring.
    pub messages: &'a [LocalId],
    /// Whether it looks at a message that may be taken beside it.
    pub looks: bool,
    /// Whether finding a value does something.
    pub does: bool,
}

impl Found<'_> {
    pub fn block(&mut self, block: &[Statement]) {
        for statement in block {
            self.statement(statement);
        }
    }

    pub fn statement(&mut self, statement: &Statement) {
        for variable in statement.changes() {
            self.writes.extend(owned(variable));
        }
        for variable in statement.looks_into() {
            self.reads.extend(owned(variable));
        }
        match &statement.kind {
            StatementKind::StartTimer(Instance::Own, kind, timer, _)
            | StatementKind::StopTimer(Instance::Own, kind, timer) => {
                self.writes.insert(Owned::Timer(*kind, *timer));
            }
            StatementKind::End(Instance::Own, _) => {
                self.writes.insert(Owned::Life);
            }
            StatementKind::Output(output) => {
                for value in output.values() {
                    self.expression(value);
                }
            }
            _ => {}
        }
        for value in statement.values() {
            self.expression(value);
        }
        for block in statement.blocks() {
            self.block(block);
        }
    }

    pub fn expression(&mut self, expression: &Expression) {
        if let Some(variable) = read_by(expression) {
            self.reads.extend(owned(variable));
        }
        if let Some(variable) = changed_for(expression) {
            self.writes.extend(owned(variable));
            self.does = true;
        }
        match &*expression.kind {
            ExpressionKind::Query(Query::Running(Instance::Own, kind, timer)) => {
                self.reads.insert(Owned::Timer(*kind, *timer));
            }
            ExpressionKind::Attribute(local, _)
            | ExpressionKind::Length(local)
            | ExpressionKind::Through(_, _, local)
            | ExpressionKind::Read(Variable::Local(local)) => {
                self.looks |= self.messages.contains(local);
            }
            ExpressionKind::Call(function, _) => {
                let function = &self.program.functions[function.at()];
                // What it reads of the header cannot be read ahead for it.
                self.looks |= function.reads_header;
                self.does |= function.calls_c;
                if let Some(body) = &function.body
                    && (function.kind == Some(self.kind) || function.kind.is_none())
                {
                    // Its locals are others; a message is among the arguments.
                    let messages = std::mem::take(&mut self.messages);
                    self.block(body);
                    self.messages = messages;
                }
            }
            _ => {}
        }
        for part in expression.parts() {
            self.expression(part);
        }
    }
}

fn owned(variable: &Variable) -> Option<Owned> {
    let of_own = |mut variable: &Variable| loop {
        match variable {
            Variable::Field(instance, ..) => break *instance == Instance::Own,
            Variable::Local(_) => break false,
            Variable::Element(inner, _) | Variable::Part(inner, ..) => variable = inner,
        }
    };
    let (kind, field) = field_of(variable)?;
    of_own(variable).then_some(Owned::Field(kind, field))
}
