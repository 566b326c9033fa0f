//! What a handler's code reads and writes, as far as lowering has to know.

use crate::types::expression::{Expression, ExpressionKind, Instance, Query, Variable};
use crate::types::program::{FieldId, KindId, LocalId, Program};
use crate::types::statement::{
    Attempt, Dropped, Operation, Output, Search, Source, Statement, StatementKind, TellTarget,
};

/// The fields that a block writes, containers included.
pub fn written(block: &[Statement]) -> Vec<(KindId, FieldId)> {
    let mut fields = Vec::new();
    for statement in block {
        if let Some(field) = written_itself(statement).and_then(field_of)
            && !fields.contains(&field)
        {
            fields.push(field);
        }
        for inner in statement.blocks() {
            fields.extend(written(inner));
        }
    }
    fields
}

/// The variable that a statement changes, without its blocks.
fn written_itself(statement: &Statement) -> Option<&Variable> {
    match &statement.kind {
        StatementKind::Assign(variable, _)
        | StatementKind::Drain {
            queue: variable, ..
        }
        | StatementKind::Drop(Dropped::Container(variable), _) => Some(variable),
        StatementKind::Attempt { attempt, .. } => written_by_attempt(attempt),
        StatementKind::Do(operation) => match operation {
            Operation::ReplaceWindow(variable, ..)
            | Operation::ReplaceValue(variable, ..)
            | Operation::Release(variable, _)
            | Operation::Begin(variable, _)
            | Operation::Clear(variable)
            | Operation::Xor(variable, _) => Some(variable),
            Operation::Skip(..)
            | Operation::Cut(..)
            | Operation::Rewrite(..)
            | Operation::Call(..) => None,
        },
        StatementKind::Output(output) => output.message().and_then(taken_from),
        StatementKind::Let(_, value) => match &*value.kind {
            ExpressionKind::Query(Query::InsertSet(of, _) | Query::Release(of, _)) => Some(of),
            _ => None,
        },
        StatementKind::Require { .. }
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
        | StatementKind::Yield(_) => None,
    }
}

fn written_by_attempt(attempt: &Attempt) -> Option<&Variable> {
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

/// Whether a block lets anything happen outside its instance.
pub fn has_outputs(block: &[Statement]) -> bool {
    block.iter().any(|statement| {
        let itself = match &statement.kind {
            StatementKind::Output(_) | StatementKind::End(..) => true,
            StatementKind::Attempt {
                attempt: Attempt::Instance(steps),
                ..
            } => steps.iter().any(|s| matches!(s, Search::Create(..))),
            _ => false,
        };
        itself || statement.blocks().into_iter().any(|b| has_outputs(b))
    })
}

/// Whether a block calls what is written in C, before its outputs are made.
pub fn calls_c(program: &Program, block: &[Statement]) -> bool {
    let called = |part: &Expression| match &*part.kind {
        ExpressionKind::Call(id, _) => program.functions[id.at()].calls_c,
        _ => false,
    };
    block.iter().any(|statement| {
        let later = matches!(
            &statement.kind,
            StatementKind::For { body, .. } | StatementKind::Drain { body, .. } if has_outputs(body)
        );
        matches!(&statement.kind, StatementKind::Do(Operation::Call(..)))
            || itself(statement).into_iter().any(|one| any(one, &called))
            || !later
                && statement
                    .blocks()
                    .into_iter()
                    .any(|inner| calls_c(program, inner))
    })
}

/// Whether something goes down through a joint.
pub fn goes_below(block: &[Statement]) -> bool {
    block.iter().any(|statement| {
        let itself = match &statement.kind {
            StatementKind::Output(Output::Send { .. }) => true,
            StatementKind::Output(Output::Tell { target, .. }) => {
                matches!(target, TellTarget::Below(_))
            }
            _ => false,
        };
        itself || statement.blocks().into_iter().any(|b| goes_below(b))
    })
}

/// Header fields that are read where the bytes of the header may be gone: in what is sent, since a
/// new header may be written over the old one, and after a message has been given away.
pub fn late_header_reads(block: &[Statement]) -> Vec<Expression> {
    let mut found = Vec::new();
    late_in(block, false, &mut found);
    found
}

/// Whether the message may be gone behind the block. What takes the place of the rest of a block
/// says nothing about that rest, only about what is behind the block.
fn late_in(block: &[Statement], mut gone: bool, found: &mut Vec<Expression>) -> bool {
    let mut gone_outside = false;
    for statement in block {
        let sends = matches!(
            &statement.kind,
            StatementKind::Output(Output::Send { .. }) | StatementKind::For { .. }
        );
        if gone || sends {
            for expression in itself(statement) {
                header_reads(expression, found);
            }
        }
        gone |= gives_away(statement);
        let mut behind = false;
        for inner in statement.blocks() {
            behind |= late_in(inner, gone, found);
        }
        match &statement.kind {
            StatementKind::Attempt { .. } | StatementKind::Require { .. } => {
                gone_outside |= behind;
            }
            _ => gone |= behind,
        }
    }
    gone || gone_outside
}

fn gives_away(statement: &Statement) -> bool {
    match &statement.kind {
        StatementKind::Drop(..) | StatementKind::Consume(_) => true,
        StatementKind::Output(output) => output.message().is_some(),
        StatementKind::Attempt { attempt, .. } => matches!(
            attempt,
            Attempt::Push(..)
                | Attempt::InsertWindow(..)
                | Attempt::InsertStream(..)
                | Attempt::AppendStream(..)
                | Attempt::Message(_)
                | Attempt::ShareWindow(..)
                | Attempt::Restore(..)
        ),
        StatementKind::Do(operation) => matches!(operation, Operation::ReplaceWindow(..)),
        _ => false,
    }
}

fn header_reads(expression: &Expression, found: &mut Vec<Expression>) {
    let reads_header = matches!(
        &*expression.kind,
        ExpressionKind::Header(..)
            | ExpressionKind::HeaderPresent(..)
            | ExpressionKind::OptionsHold(_)
    );
    if reads_header && !found.contains(expression) {
        found.push(expression.clone());
    }
    for part in expression.parts() {
        header_reads(part, found);
    }
}

/// What the block of a loop reads of fields, containers, headers and messages from outside, each
/// once; not what depends on the turn.
pub fn outer_reads(block: &[Statement], turn: Option<LocalId>) -> Vec<Expression> {
    let mut found = all_reads(block);
    let inside = inside(block, turn);
    found.retain(|read| !depends_on(read, &inside));
    found
}

/// The fields of which every turn of a loop reads another part.
pub fn fields_by_turn(block: &[Statement], turn: Option<LocalId>) -> Vec<(KindId, FieldId)> {
    let inside = inside(block, turn);
    let mut fields = Vec::new();
    for read in all_reads(block) {
        if let ExpressionKind::Read(variable) = &*read.kind
            && depends_on(&read, &inside)
        {
            fields.extend(field_of(variable));
        }
    }
    fields.extend(copied(block));
    fields
}

/// The fields whose bytes become messages.
fn copied(block: &[Statement]) -> Vec<(KindId, FieldId)> {
    let mut fields = Vec::new();
    for statement in block {
        if let StatementKind::Output(output) = &statement.kind
            && let Some(Source::NewFrom(variable, _)) = output.message()
        {
            fields.extend(field_of(variable));
        }
        for inner in statement.blocks() {
            fields.extend(copied(inner));
        }
    }
    fields
}

fn inside(block: &[Statement], turn: Option<LocalId>) -> Vec<LocalId> {
    let mut locals = bound(block);
    locals.extend(turn);
    locals
}

fn depends_on(read: &Expression, inside: &[LocalId]) -> bool {
    any(read, &|part| match &*part.kind {
        ExpressionKind::Attribute(local, _)
        | ExpressionKind::Length(local)
        | ExpressionKind::Peeked(local, ..)
        | ExpressionKind::Read(Variable::Local(local)) => inside.contains(local),
        ExpressionKind::Read(variable) => is_of(variable, inside),
        ExpressionKind::Query(query) => match query {
            Query::IsEmpty(variable)
            | Query::Has(variable, _)
            | Query::First(variable)
            | Query::Covers(variable, ..)
            | Query::Ready(variable, _)
            | Query::Begin(variable)
            | Query::End(variable)
            | Query::InsertSet(variable, _)
            | Query::Release(variable, _) => is_of(variable, inside),
            Query::Running(instance, ..) | Query::Ended(instance, _) => {
                is_one_of(*instance, inside)
            }
            // What it looks for stands among its parts.
            Query::Exists(..) => false,
        },
        _ => false,
    })
}

/// Whether a variable belongs to one of these instances.
fn is_of(variable: &Variable, locals: &[LocalId]) -> bool {
    match variable {
        Variable::Field(instance, ..) => is_one_of(*instance, locals),
        Variable::Local(local) => locals.contains(local),
        Variable::Element(inner, _) | Variable::Part(inner, ..) => is_of(inner, locals),
    }
}

fn is_one_of(instance: Instance, locals: &[LocalId]) -> bool {
    matches!(instance, Instance::Local(local) if locals.contains(&local))
}

/// The locals that a block binds by attempts.
fn bound(block: &[Statement]) -> Vec<LocalId> {
    let mut locals = Vec::new();
    for statement in block {
        if let StatementKind::Attempt {
            bind: Some(local), ..
        } = &statement.kind
        {
            locals.push(*local);
        }
        statement
            .blocks()
            .into_iter()
            .for_each(|inner| locals.extend(bound(inner)));
    }
    locals
}

fn all_reads(block: &[Statement]) -> Vec<Expression> {
    let mut found = Vec::new();
    for statement in block {
        for expression in itself(statement) {
            state_reads(expression, &mut found);
        }
        for inner in statement.blocks() {
            for read in all_reads(inner) {
                if !found.contains(&read) {
                    found.push(read);
                }
            }
        }
    }
    found
}

fn state_reads(expression: &Expression, found: &mut Vec<Expression>) {
    let outer = match &*expression.kind {
        ExpressionKind::Read(variable) => field_of(variable).is_some(),
        ExpressionKind::Attribute(message, _) | ExpressionKind::Length(message) => {
            *message != LocalId::MESSAGE
        }
        ExpressionKind::Query(query) => !matches!(query, Query::InsertSet(..) | Query::Release(..)),
        ExpressionKind::Header(..)
        | ExpressionKind::HeaderPresent(..)
        | ExpressionKind::OptionsHold(_)
        | ExpressionKind::Peeked(..)
        | ExpressionKind::PeekedPresent(..) => true,
        _ => false,
    };
    if outer && !found.contains(expression) {
        found.push(expression.clone());
    }
    for part in expression.parts() {
        state_reads(part, found);
    }
}

/// Whether an expression, or a part of it, is so.
pub fn any(expression: &Expression, holds: &dyn Fn(&Expression) -> bool) -> bool {
    holds(expression) || expression.parts().into_iter().any(|part| any(part, holds))
}

/// Whether a block calls a function that asks whether a queue is empty.
pub fn asks_by_call(program: &Program, block: &[Statement], queue: (KindId, FieldId)) -> bool {
    holds_anywhere(block, &|part| match &*part.kind {
        ExpressionKind::Call(function, _) => {
            let body = program.functions[function.at()].body.as_ref();
            body.is_some_and(|body| {
                let asks = |part: &Expression| match &*part.kind {
                    ExpressionKind::Query(Query::IsEmpty(of)) => field_of(of) == Some(queue),
                    _ => false,
                };
                holds_anywhere(body, &asks) || asks_by_call(program, body, queue)
            })
        }
        _ => false,
    })
}

fn holds_anywhere(block: &[Statement], holds: &dyn Fn(&Expression) -> bool) -> bool {
    block.iter().any(|statement| {
        let mut blocks = statement.blocks().into_iter();
        itself(statement).into_iter().any(|value| any(value, holds))
            || blocks.any(|block| holds_anywhere(block, holds))
    })
}

/// The expressions that stand in a statement itself, not in its blocks.
fn itself(statement: &Statement) -> Vec<&Expression> {
    match &statement.kind {
        StatementKind::Output(output) => output.values(),
        _ => statement.values(),
    }
}
