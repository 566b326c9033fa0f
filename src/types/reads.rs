//! What an expression reads of messages: in, an expression of the checked program; out, its
//! operands, and the attributes that it surely reads.
//!
//! What stands behind an `else` is not sure to be read: a layer writes it there because it may be
//! missing. But it is read where a label leaves out the key before it, and nothing is there to be
//! read if nobody in the stack sets it.

use super::expression::{Expression, ExpressionKind, Variable};
use super::program::{AttributeId, FunctionId, LocalId, Population, Program};
use super::statement::{Block, Output, StatementKind};
use super::value::Value;

/// An attribute of the message that a local holds.
pub type Read = (LocalId, AttributeId);

/// What an expression surely reads, and what the functions that it calls do.
pub fn reads(program: &Program, expression: &Expression, found: &mut Vec<Read>) {
    match expression.kind.as_ref() {
        ExpressionKind::Attribute(local, attribute) => found.push((*local, *attribute)),
        ExpressionKind::Else(value, other) => {
            reads(program, value, found);
            let mut behind = Vec::new();
            reads(program, other, &mut behind);
            let is_left_out = is_left_out(program, value);
            behind.retain(|(_, attribute)| is_left_out || !is_given(program, *attribute));
            found.extend(behind);
        }
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
        _ => {
            for part in expression.parts() {
                reads(program, part, found);
            }
        }
    }
}

/// Whether the joints above a layer leave out a key of some session that is always there.
fn is_left_out(program: &Program, value: &Expression) -> bool {
    let ExpressionKind::Key(_, kind, key) = value.kind.as_ref() else {
        return false;
    };
    match &program.kinds[kind.at()].population {
        Population::Static(all) | Population::Labelled(all) => {
            let mut keys = all.iter().filter_map(|one| one.keys.get(key.at()));
            keys.any(|value| *value == Value::None)
        }
        Population::Dynamic { .. } => false,
    }
}

/// Whether an application, or any layer, gives messages this attribute.
fn is_given(program: &Program, attribute: AttributeId) -> bool {
    let mut ports = program.ports.iter();
    let mut entities = program.entities.iter();
    let handlers = program.handlers.iter().map(|handler| &handler.body);
    let finders = program.entities.iter().flat_map(|entity| &entity.finders);
    let mut blocks = handlers.chain(finders.map(|finder| &finder.otherwise));
    ports.any(|port| port.attributes.contains(&attribute))
        || entities.any(|entity| entity.mark == Some(attribute))
        || blocks.any(|block| gives(block, attribute))
}

fn gives(block: &Block, attribute: AttributeId) -> bool {
    block.iter().any(|statement| {
        let given = match &statement.kind {
            StatementKind::Output(
                Output::Send { attributes, .. }
                | Output::Deliver { attributes, .. }
                | Output::Tell { attributes, .. },
            ) => attributes.iter().any(|(given, _)| *given == attribute),
            _ => false,
        };
        given
            || statement
                .blocks()
                .into_iter()
                .any(|block| gives(block, attribute))
    })
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
        for expression in statement.values() {
            reads(program, expression, found);
        }
        for block in statement.blocks() {
            reads_of_block(program, block, found);
        }
    }
}
