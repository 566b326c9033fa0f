//! What an expression reads of messages: in, an expression of the checked program; out, its
//! operands, and the attributes that it surely reads.
//!
//! What stands behind an `else` is not sure to be read: a layer writes it there because it may be
//! missing.

use super::expression::{Expression, ExpressionKind, Query, Variable};
use super::program::{AttributeId, FunctionId, LocalId, Program};
use super::statement::{Attempt, Block, Search, Statement, StatementKind};

/// An attribute of the message that a local holds.
pub type Read = (LocalId, AttributeId);

/// What an expression surely reads, and what the functions that it calls do.
pub fn reads(program: &Program, expression: &Expression, found: &mut Vec<Read>) {
    match expression.kind.as_ref() {
        ExpressionKind::Attribute(local, attribute) => found.push((*local, *attribute)),
        ExpressionKind::Else(value, _) => reads(program, value, found),
        ExpressionKind::Call(function, arguments) => {
            let message = arguments.last().and_then(held_message);
            if let Some(local) = message {
                let needed = needs(program, *function).into_iter();
                found.extend(needed.map(|attribute| (local, attribute)));
            }
            for argument in arguments {
                reads(program, argument, found);
            }
        }
        ExpressionKind::Through(_, arguments, _) => {
            for argument in arguments {
                reads(program, argument, found);
            }
        }
        ExpressionKind::Unary(_, operand)
        | ExpressionKind::Some(operand)
        | ExpressionKind::Unwrap(operand)
        | ExpressionKind::Present(operand)
        | ExpressionKind::Cast(operand) => reads(program, operand, found),
        ExpressionKind::Binary(_, left, right)
        | ExpressionKind::Least(left, right)
        | ExpressionKind::Greatest(left, right) => {
            reads(program, left, found);
            reads(program, right, found);
        }
        ExpressionKind::If(condition, then, otherwise) => {
            for operand in [condition, then, otherwise] {
                reads(program, operand, found);
            }
        }
        ExpressionKind::Read(variable) => reads_of_variable(program, variable, found),
        ExpressionKind::Query(query) => reads_of_query(program, query, found),
        ExpressionKind::Constant(_)
        | ExpressionKind::Config(_)
        | ExpressionKind::Key(..)
        | ExpressionKind::Header(..)
        | ExpressionKind::Peeked(..)
        | ExpressionKind::HeaderPresent(..)
        | ExpressionKind::Length(_)
        | ExpressionKind::WholeLength
        | ExpressionKind::Now => {}
    }
}

/// What an index reads.
pub fn reads_of_variable(program: &Program, variable: &Variable, found: &mut Vec<Read>) {
    match variable {
        Variable::Field(..) | Variable::Local(_) => {}
        Variable::Element(of, index) => {
            reads_of_variable(program, of, found);
            reads(program, index, found);
        }
        Variable::Part(of, _, _) => reads_of_variable(program, of, found),
    }
}

fn reads_of_query(program: &Program, query: &Query, found: &mut Vec<Read>) {
    match query {
        Query::Has(variable, value)
        | Query::Ready(variable, value)
        | Query::InsertSet(variable, value) => {
            reads_of_variable(program, variable, found);
            reads(program, value, found);
        }
        Query::Covers(variable, at, length) => {
            reads_of_variable(program, variable, found);
            reads(program, at, found);
            reads(program, length, found);
        }
        Query::IsEmpty(variable)
        | Query::First(variable)
        | Query::Begin(variable)
        | Query::End(variable) => reads_of_variable(program, variable, found),
        Query::Running(..) => {}
    }
}

/// The local whose message an argument hands over.
fn held_message(argument: &Expression) -> Option<LocalId> {
    let is_message = argument.result == super::value::Type::Message;
    if let ExpressionKind::Read(Variable::Local(local)) = argument.kind.as_ref() {
        return is_message.then_some(*local);
    }
    None
}

/// The attributes of its message that a function reads. Functions are not recursive.
fn needs(program: &Program, function: FunctionId) -> Vec<AttributeId> {
    let function = &program.functions[function.at()];
    let (Some(message), Some(body)) = (function.message, &function.body) else {
        return Vec::new();
    };
    let mut found = Vec::new();
    reads_of_block(program, body, &mut found);
    let of_message = found.into_iter().filter(|(local, _)| *local == message);
    let mut needed: Vec<_> = of_message.map(|(_, attribute)| attribute).collect();
    needed.sort_unstable();
    needed.dedup();
    needed
}

/// What the statements of a function read.
fn reads_of_block(program: &Program, block: &Block, found: &mut Vec<Read>) {
    for statement in block {
        for expression in values(statement) {
            reads(program, expression, found);
        }
        for block in blocks(statement) {
            reads_of_block(program, block, found);
        }
    }
}

/// The values that stand in a statement itself, but for those of outputs.
pub fn values(statement: &Statement) -> Vec<&Expression> {
    match &statement.kind {
        StatementKind::Let(_, value)
        | StatementKind::Assign(_, value)
        | StatementKind::StartTimer(_, _, _, value)
        | StatementKind::Return(value)
        | StatementKind::Yield(value) => vec![value],
        StatementKind::Require { condition, .. } | StatementKind::If { condition, .. } => {
            vec![condition]
        }
        StatementKind::Match { value, .. } => vec![value],
        StatementKind::For { from, to, .. } => vec![from, to],
        StatementKind::Attempt { attempt, .. } => values_of_attempt(attempt),
        StatementKind::Do(operation) => values_of_operation(operation),
        StatementKind::Drain { .. }
        | StatementKind::Output(_)
        | StatementKind::Drop(..)
        | StatementKind::Consume(_)
        | StatementKind::Count(_)
        | StatementKind::StopTimer(..)
        | StatementKind::End(..) => Vec::new(),
    }
}

fn values_of_attempt(attempt: &Attempt) -> Vec<&Expression> {
    match attempt {
        Attempt::Instance(searches) => searches
            .iter()
            .flat_map(|search| match search {
                Search::Find(target) => target.keys.iter().chain(&target.condition).collect(),
                Search::Create(_, keys) => keys.iter().collect::<Vec<_>>(),
            })
            .collect(),
        Attempt::Value(value)
        | Attempt::PushValue(_, value)
        | Attempt::InsertWindow(_, value, _)
        | Attempt::TakeWindow(_, value)
        | Attempt::ShareWindow(_, value)
        | Attempt::InsertStream(_, value, _) => vec![value],
        Attempt::Pop(_)
        | Attempt::PopValue(_)
        | Attempt::Push(..)
        | Attempt::AppendStream(..)
        | Attempt::Peek(..)
        | Attempt::Restore(..)
        | Attempt::Message(_) => Vec::new(),
    }
}

fn values_of_operation(operation: &super::statement::Operation) -> Vec<&Expression> {
    use super::statement::Operation;
    match operation {
        Operation::Skip(_, value)
        | Operation::Cut(_, value)
        | Operation::ReplaceWindow(_, value, _)
        | Operation::Release(_, value)
        | Operation::Begin(_, value) => vec![value],
        Operation::Rewrite(_, _, arguments) | Operation::Call(_, arguments) => {
            arguments.iter().collect()
        }
        Operation::Clear(_) | Operation::Xor(..) => Vec::new(),
    }
}

/// The blocks that stand in a statement.
pub fn blocks(statement: &Statement) -> Vec<&Block> {
    match &statement.kind {
        StatementKind::Attempt { otherwise, .. } | StatementKind::Require { otherwise, .. } => {
            vec![otherwise]
        }
        StatementKind::If {
            then, otherwise, ..
        } => vec![then, otherwise],
        StatementKind::Match {
            cases, otherwise, ..
        } => {
            let cases = cases.iter().map(|(_, _, block)| block);
            cases.chain([otherwise]).collect()
        }
        StatementKind::For { body, .. } | StatementKind::Drain { body, .. } => vec![body],
        StatementKind::Let(..)
        | StatementKind::Assign(..)
        | StatementKind::Do(_)
        | StatementKind::Output(_)
        | StatementKind::Drop(..)
        | StatementKind::Consume(_)
        | StatementKind::Count(_)
        | StatementKind::StartTimer(..)
        | StatementKind::StopTimer(..)
        | StatementKind::End(..)
        | StatementKind::Return(_)
        | StatementKind::Yield(_) => Vec::new(),
    }
}
