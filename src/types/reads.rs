//! What an expression reads of messages: in, an expression of the checked program; out, its
//! operands, and the attributes that it surely reads.
//!
//! What stands behind an `else` is not sure to be read: a layer writes it there because it may be
//! missing.

use super::expression::{Expression, ExpressionKind, Variable};
use super::program::{AttributeId, FunctionId, LocalId, Program};
use super::statement::Block;

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
        _ => {
            for part in expression.parts() {
                reads(program, part, found);
            }
        }
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
        for expression in statement.values() {
            reads(program, expression, found);
        }
        for block in statement.blocks() {
            reads_of_block(program, block, found);
        }
    }
}
