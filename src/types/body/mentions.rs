//! Which words a function, a statement or a value mentions: in, its tree; out, every name that
//! stands for a value or is called, `header.NAME` for a field of the header, and `.NAME` for one of
//! an instance. This says what may be read, not what is done.

use crate::syntax::loom::ast;
use std::collections::BTreeSet;

/// All words that stand for values, but for the function's parameters and what it names itself.
pub(super) fn mentioned(source: &ast::Function) -> BTreeSet<String> {
    let mut words = BTreeSet::new();
    match &source.body {
        ast::FunctionBody::Promised | ast::FunctionBody::External | ast::FunctionBody::Runtime => {}
        ast::FunctionBody::Expression(value) => expression(value, &mut words),
        ast::FunctionBody::Block(statements) => block(statements, &mut words),
    }
    for parameter in &source.parameters {
        words.remove(&parameter.name.text);
    }
    words
}

/// All words that a statement mentions, but for those of the blocks in it.
pub(super) fn in_statement(source: &ast::Statement) -> BTreeSet<String> {
    let mut words = BTreeSet::new();
    for value in values(&source.kind) {
        expression(value, &mut words);
    }
    match &source.kind {
        ast::StatementKind::Send(output) | ast::StatementKind::Deliver(output) => {
            let joint = output.to.iter().filter_map(|joint| joint.number.as_ref());
            joint.for_each(|number| expression(number, &mut words));
            expression(&output.message, &mut words);
            settings(&output.with, &mut words);
        }
        ast::StatementKind::Tell {
            target,
            arguments,
            with,
            ..
        } => {
            if let ast::TellTarget::Named(joint) = target {
                joint
                    .number
                    .iter()
                    .for_each(|it| expression(it, &mut words));
            }
            arguments.iter().for_each(|it| expression(it, &mut words));
            settings(with, &mut words);
        }
        ast::StatementKind::Start { after, .. } => expression(after, &mut words),
        _ => {}
    }
    words
}

/// All words that a value mentions.
pub(super) fn in_value(source: &ast::Expression) -> BTreeSet<String> {
    let mut words = BTreeSet::new();
    expression(source, &mut words);
    words
}

fn settings(sources: &[ast::Setting], words: &mut BTreeSet<String>) {
    for setting in sources {
        words.insert(format!("header.{}", setting.name));
        match &setting.value {
            ast::SettingValue::Value(value) => expression(value, words),
            ast::SettingValue::Fields(fields) => settings(fields, words),
        }
        setting
            .condition
            .iter()
            .for_each(|it| expression(it, words));
    }
}

/// Behind a `let`, its name is that of a local.
fn block(source: &ast::Block, words: &mut BTreeSet<String>) {
    let mut own = BTreeSet::new();
    for statement in source.statements.iter().rev() {
        if let ast::StatementKind::Let { name, .. } = &statement.kind {
            own.remove(&name.text);
        }
        self::statement(statement, &mut own);
    }
    words.append(&mut own);
}

/// Statements that functions may not have are refused elsewhere.
fn statement(source: &ast::Statement, words: &mut BTreeSet<String>) {
    let mut inner = BTreeSet::new();
    for within in source.kind.blocks() {
        block(within, &mut inner);
    }
    if let ast::StatementKind::For { name, .. } = &source.kind {
        inner.remove(&name.text);
    }
    words.append(&mut inner);
    for value in values(&source.kind) {
        expression(value, words);
    }
}

/// The values in a statement of a function.
fn values(source: &ast::StatementKind) -> Vec<&ast::Expression> {
    match source {
        ast::StatementKind::Let { value, .. }
        | ast::StatementKind::Require {
            condition: value, ..
        }
        | ast::StatementKind::Call { call: value, .. }
        | ast::StatementKind::Match { subject: value, .. }
        | ast::StatementKind::Return(value)
        | ast::StatementKind::Yield(value) => vec![value],
        ast::StatementKind::Assign { place, value, .. } => vec![place, value],
        ast::StatementKind::If { branches, .. } => {
            branches.iter().map(|branch| &branch.condition).collect()
        }
        ast::StatementKind::For { over, .. } => match over {
            ast::ForRange::Numbers { from, to, .. } => vec![from, to],
            ast::ForRange::Elements(elements) => vec![elements],
        },
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
        | ast::StatementKind::Pause => Vec::new(),
    }
}

fn expression(source: &ast::Expression, words: &mut BTreeSet<String>) {
    match &source.kind {
        ast::ExpressionKind::Name(name) => {
            words.insert(name.text.clone());
        }
        ast::ExpressionKind::List(joints) => {
            joints.iter().for_each(|joint| expression(joint, words));
        }
        ast::ExpressionKind::Field { of, name } => {
            if matches!(&of.kind, ast::ExpressionKind::Name(of) if of.is("header")) {
                words.insert(format!("header.{name}"));
            } else {
                words.insert(format!(".{name}"));
            }
            expression(of, words);
        }
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
        ast::ExpressionKind::Find(key)
        | ast::ExpressionKind::Create(key)
        | ast::ExpressionKind::FindByTimer { key, .. } => {
            words.insert(key.kind.text.clone());
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
