//! Which words a function mentions: in, its tree; out, every name that stands for a value or is
//! called. Locals are among them, so this says what a function may read, not what it does.

use crate::syntax::loom::ast;
use std::collections::BTreeSet;

/// All words that stand for values, but for the function's parameters.
pub(super) fn mentioned(source: &ast::Function) -> BTreeSet<String> {
    let mut words = BTreeSet::new();
    match &source.body {
        ast::FunctionBody::Promised | ast::FunctionBody::External => {}
        ast::FunctionBody::Expression(value) => expression(value, &mut words),
        ast::FunctionBody::Block(statements) => block(statements, &mut words),
    }
    for parameter in &source.parameters {
        words.remove(&parameter.name.text);
    }
    words
}

fn block(source: &ast::Block, words: &mut BTreeSet<String>) {
    for statement in &source.statements {
        self::statement(statement, words);
    }
}

/// Statements that functions may not have are refused elsewhere.
fn statement(source: &ast::Statement, words: &mut BTreeSet<String>) {
    let (values, blocks) = parts(&source.kind);
    values
        .into_iter()
        .for_each(|value| expression(value, words));
    blocks.into_iter().for_each(|inner| block(inner, words));
}

/// The values and the blocks of a statement of a function.
fn parts(source: &ast::StatementKind) -> (Vec<&ast::Expression>, Vec<&ast::Block>) {
    match source {
        ast::StatementKind::Let {
            value, otherwise, ..
        } => (vec![value], otherwise.iter().collect()),
        ast::StatementKind::Require {
            condition,
            otherwise,
            ..
        } => (vec![condition], vec![otherwise]),
        ast::StatementKind::Assign {
            place,
            value,
            otherwise,
            ..
        } => (vec![place, value], otherwise.iter().collect()),
        ast::StatementKind::Call { call, otherwise } => (vec![call], otherwise.iter().collect()),
        ast::StatementKind::If {
            branches,
            otherwise,
        } => {
            let conditions = branches.iter().map(|branch| &branch.condition).collect();
            let blocks = branches.iter().map(|branch| &branch.body).chain(otherwise);
            (conditions, blocks.collect())
        }
        ast::StatementKind::Match {
            subject,
            cases,
            otherwise,
        } => {
            let blocks = cases.iter().map(|case| &case.body).chain(otherwise);
            (vec![subject], blocks.collect())
        }
        ast::StatementKind::For { over, body, .. } => match over {
            ast::ForRange::Numbers { from, to, .. } => (vec![from, to], vec![body]),
            ast::ForRange::Elements(elements) => (vec![elements], vec![body]),
        },
        ast::StatementKind::Return(value) | ast::StatementKind::Yield(value) => {
            (vec![value], Vec::new())
        }
        ast::StatementKind::Send(_)
        | ast::StatementKind::Deliver(_)
        | ast::StatementKind::Tell { .. }
        | ast::StatementKind::Drop { .. }
        | ast::StatementKind::Consume(_)
        | ast::StatementKind::Count(_)
        | ast::StatementKind::Again
        | ast::StatementKind::End(_)
        | ast::StatementKind::Start { .. }
        | ast::StatementKind::Stop(_)
        | ast::StatementKind::Emit { .. }
        | ast::StatementKind::Await(_)
        | ast::StatementKind::Run { .. }
        | ast::StatementKind::Every { .. }
        | ast::StatementKind::Loop(_)
        | ast::StatementKind::Repeat { .. }
        | ast::StatementKind::Trap { .. }
        | ast::StatementKind::Exit(_)
        | ast::StatementKind::Pause => (Vec::new(), Vec::new()),
    }
}

fn expression(source: &ast::Expression, words: &mut BTreeSet<String>) {
    match &source.kind {
        ast::ExpressionKind::Name(name) => {
            words.insert(name.text.clone());
        }
        ast::ExpressionKind::Field { of, .. } => expression(of, words),
        ast::ExpressionKind::Call {
            function,
            arguments,
        } => {
            expression(function, words);
            arguments.iter().for_each(|value| expression(value, words));
        }
        ast::ExpressionKind::Index { of, index } => {
            expression(of, words);
            expression(index, words);
        }
        ast::ExpressionKind::Group(inner) | ast::ExpressionKind::Share(inner) => {
            expression(inner, words);
        }
        ast::ExpressionKind::Unary { operand, .. } | ast::ExpressionKind::Cast { operand, .. } => {
            expression(operand, words);
        }
        ast::ExpressionKind::Binary { left, right, .. } => {
            expression(left, words);
            expression(right, words);
        }
        ast::ExpressionKind::Else { value, otherwise } => {
            expression(value, words);
            expression(otherwise, words);
        }
        ast::ExpressionKind::Through { data, filter } => {
            expression(data, words);
            expression(filter, words);
        }
        ast::ExpressionKind::If {
            condition,
            then,
            otherwise,
            ..
        } => {
            expression(condition, words);
            expression(then, words);
            expression(otherwise, words);
        }
        ast::ExpressionKind::Find(key) | ast::ExpressionKind::Create(key) => {
            key.keys.iter().for_each(|value| expression(value, words));
        }
        ast::ExpressionKind::New { arguments, .. } => {
            arguments.iter().for_each(|value| expression(value, words));
        }
        ast::ExpressionKind::Number(_)
        | ast::ExpressionKind::Duration(_)
        | ast::ExpressionKind::Boolean(_)
        | ast::ExpressionKind::None
        | ast::ExpressionKind::Now => {}
    }
}
