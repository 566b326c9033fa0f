//! Which fields a statement changes, and which it reads: in, statements; out, variables. What its
//! blocks do is not among them.

use super::expression::{Expression, ExpressionKind, Query, Variable};
use super::program::{FieldId, KindId};
use super::statement::{Attempt, Dropped, Operation, Source, Statement, StatementKind, Term};

impl Statement {
    /// The variables that it changes, containers included.
    pub fn changes(&self) -> Vec<&Variable> {
        let mut all: Vec<&Variable> = self.changed().into_iter().collect();
        for value in self.values() {
            add_changed(value, &mut all);
        }
        all
    }

    /// The one that it changes itself, and not for the sake of a value.
    fn changed(&self) -> Option<&Variable> {
        match &self.kind {
            StatementKind::Assign(variable, _)
            | StatementKind::Drain {
                queue: variable, ..
            }
            | StatementKind::Drop(Dropped::Container(variable), _) => Some(variable),
            StatementKind::Attempt { attempt, .. } => changed_by(attempt),
            StatementKind::Do(operation) => match operation {
                Operation::ReplaceWindow(variable, ..)
                | Operation::ReplaceValue(variable, ..)
                | Operation::Release(variable, _)
                | Operation::Begin(variable, _)
                | Operation::Clear(variable)
                | Operation::Add(variable, ..)
                | Operation::Scale(variable, _) => Some(variable),
                Operation::Skip(..)
                | Operation::Cut(..)
                | Operation::Rewrite(..)
                | Operation::Call(..) => None,
            },
            StatementKind::Output(output) => output.message().and_then(taken_from),
            StatementKind::Let(..)
            | StatementKind::Require { .. }
            | StatementKind::If { .. }
            | StatementKind::Match { .. }
            | StatementKind::For { .. }
            | StatementKind::Drop(Dropped::Message(_), _)
            | StatementKind::Consume(_)
            | StatementKind::Count(_)
            | StatementKind::StartTimer(..)
            | StatementKind::StopTimer(..)
            | StatementKind::End(..)
            | StatementKind::Return(_)
            | StatementKind::Yield(_)
            | StatementKind::React(_)
            | StatementKind::Ordered(_) => None,
        }
    }

    /// The containers that it only looks into, to take from them what stays there.
    pub fn looks_into(&self) -> Vec<&Variable> {
        let source = match &self.kind {
            StatementKind::Attempt {
                attempt: Attempt::ShareWindow(variable, _),
                ..
            } => return vec![variable],
            StatementKind::Do(Operation::Add(_, _, Term::Bytes(variable))) => {
                return vec![variable];
            }
            StatementKind::Attempt {
                attempt:
                    Attempt::Push(_, source)
                    | Attempt::InsertWindow(_, _, source)
                    | Attempt::Message(source),
                ..
            }
            | StatementKind::Do(Operation::ReplaceWindow(_, _, source)) => Some(source),
            StatementKind::Output(output) => output.message(),
            _no_source => None,
        };
        match source {
            Some(Source::SliceStream(variable, ..) | Source::NewFrom(variable, _)) => {
                vec![variable]
            }
            _of_no_field => Vec::new(),
        }
    }
}

/// What is changed where a value is found.
fn add_changed<'a>(value: &'a Expression, all: &mut Vec<&'a Variable>) {
    all.extend(changed_for(value));
    for part in value.parts() {
        add_changed(part, all);
    }
}

/// What an expression itself changes, without its operands.
pub fn changed_for(expression: &Expression) -> Option<&Variable> {
    match &*expression.kind {
        ExpressionKind::Query(Query::InsertSet(of, _) | Query::Release(of, _)) => Some(of),
        _of_no_change => None,
    }
}

fn changed_by(attempt: &Attempt) -> Option<&Variable> {
    match attempt {
        Attempt::Pop(variable)
        | Attempt::PopValue(variable)
        | Attempt::Push(variable, _)
        | Attempt::PushValue(variable, _)
        | Attempt::InsertWindow(variable, ..)
        | Attempt::TakeWindow(variable, _)
        | Attempt::InsertValue(variable, ..)
        | Attempt::TakeValue(variable, _)
        | Attempt::InsertStream(variable, ..)
        | Attempt::AppendStream(variable, _) => Some(variable),
        Attempt::Message(source) => taken_from(source),
        Attempt::Instance(_)
        | Attempt::Value(_)
        | Attempt::ShareWindow(..)
        | Attempt::Peek(..)
        | Attempt::Restore(..)
        | Attempt::Pad(..)
        | Attempt::Rewrite(..) => None,
    }
}

/// The field that a variable is, or is a part of.
pub fn field_of(variable: &Variable) -> Option<(KindId, FieldId)> {
    match variable {
        Variable::Field(_, kind, field) => Some((*kind, *field)),
        Variable::Local(_) => None,
        Variable::Element(inner, _) | Variable::Part(inner, ..) => field_of(inner),
    }
}

fn taken_from(source: &Source) -> Option<&Variable> {
    match source {
        Source::TakeStream(variable, _) => Some(variable),
        Source::Local(_)
        | Source::New
        | Source::NewFrom(..)
        | Source::Share(_)
        | Source::Piece(..)
        | Source::SliceStream(..) => None,
    }
}

/// The fields that an expression itself reads, without its operands.
pub fn read_by(expression: &Expression) -> Option<&Variable> {
    match &*expression.kind {
        ExpressionKind::Read(variable)
        | ExpressionKind::Query(
            Query::IsEmpty(variable)
            | Query::Has(variable, _)
            | Query::First(variable)
            | Query::Covers(variable, ..)
            | Query::Ready(variable, _)
            | Query::Begin(variable)
            | Query::End(variable)
            | Query::InsertSet(variable, _)
            | Query::Release(variable, _),
        ) => Some(variable),
        _of_no_field => None,
    }
}
