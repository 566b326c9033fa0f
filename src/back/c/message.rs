//! Messages: in, the attributes of a module; out, the struct of a message, and the functions that
//! give attributes their defaults.

use super::Stack;
use super::types;
use crate::c::tree::{Expression as C, Function, Item, Line, Statement as S, assign, atom};
use crate::ir::{Attribute, Op, Type};

/// The struct of a message.
pub fn structure(stack: &Stack<'_>) -> Item {
    let name = &stack.names.stack;
    let buffer = format!("struct {name}_buffer *buffer");
    let own = [
        (8, "uint8_t *data", "where its bytes begin"),
        (4, "uint32_t length", "how many there are"),
        (8, &*buffer, "the buffer they are in"),
        (
            1,
            "bool came_in",
            "whether it is a frame that came in by a link",
        ),
    ];
    let line = |text: &str, comment: String| Line {
        text: text.to_string(),
        comment,
    };
    let own = own.map(|(width, text, comment)| (width, line(text, comment.to_string())));
    let attributes = named(stack).map(|(attribute, member)| {
        let owner = attribute.name.split('.').next().unwrap_or_default();
        let text = format!("{} {member}", types::stored(stack, attribute.of));
        let comment = format!("an attribute of {owner}");
        (alignment(attribute.of), line(&text, comment))
    });
    // Wide members stand first, so that no room is lost between them.
    let mut members: Vec<(u8, Line)> = own.into_iter().chain(attributes).collect();
    members.sort_by_key(|(width, _)| std::cmp::Reverse(*width));
    Item::Struct {
        comment: "A message, which alone has its buffer, and what travels beside it.".to_string(),
        name: format!("{name}_message"),
        members: members.into_iter().map(|(_, line)| line).collect(),
    }
}

/// The alignment of a member, in bytes.
fn alignment(of: Type) -> u8 {
    match of {
        Type::Int(bits) => types::stored_bits(bits) / 8,
        Type::Float(bits) => bits / 8,
        Type::Bytes(_) => 1,
        _ => 8,
    }
}

/// The attributes, each with its member.
fn named<'s>(stack: &'s Stack<'_>) -> impl Iterator<Item = (&'s Attribute, &'s String)> {
    stack.module.attributes.iter().zip(&stack.names.attributes)
}

/// The functions that make a message of a buffer, and that forget marks, by their names.
pub fn functions(stack: &Stack<'_>) -> Vec<(String, Item)> {
    let all = [blank(stack), unmark(stack)];
    let named = all.map(|function| (function.name.clone(), Item::Function(function)));
    named.to_vec()
}

fn blank(stack: &Stack<'_>) -> Function {
    let name = &stack.names.stack;
    let kind = format!("struct {name}_message");
    let data = crate::c::tree::binary("+", atom("buffer").behind("bytes"), atom("HEADROOM"));
    let own = [("data", data), ("buffer", atom("buffer"))];
    let own = own.map(|(member, value)| (member.to_string(), value));
    let given = named(stack).filter(|(attribute, _)| !is_zero(&attribute.default));
    let given = given.map(|(attribute, member)| (member.clone(), default(stack, attribute)));
    let fields = own.into_iter().chain(given).collect();
    Function {
        comment: "A message without bytes, in a buffer that has been taken for it.".to_string(),
        result: format!("static inline {kind}"),
        name: "blank".to_string(),
        parameters: vec![format!("struct {name}_buffer *buffer")],
        body: vec![S::Return(Some(C::Struct(kind, fields)))],
    }
}

fn unmark(stack: &Stack<'_>) -> Function {
    let marks = named(stack).filter(|(attribute, _)| attribute.is_mark);
    let reset = marks.map(|(attribute, member)| {
        let place = atom("message").behind(member);
        assign(place, default(stack, attribute))
    });
    let function = Function {
        comment: "A copy of a message: nothing that was stripped from the other can be restored \
            of it."
            .to_string(),
        result: "static inline void".to_string(),
        name: "unmark".to_string(),
        parameters: vec![format!("struct {}_message *message", stack.names.stack)],
        body: reset.collect(),
    };
    super::with_all_used(function)
}

fn is_zero(default: &Op) -> bool {
    match default {
        Op::Number(_, number) => *number == 0,
        Op::Bytes(bytes) => bytes.iter().all(|byte| *byte == 0),
        other => unreachable!("{other:?} is no constant"),
    }
}

fn default(stack: &Stack<'_>, attribute: &Attribute) -> C {
    match &attribute.default {
        Op::Number(1, number) => atom(if *number == 1 { "true" } else { "false" }),
        Op::Number(_, number) if *number > i32::MAX as u64 => atom(format!("{number}U")),
        Op::Number(_, number) => atom(number.to_string()),
        Op::Bytes(bytes) => {
            let all: Vec<String> = bytes.iter().map(u8::to_string).collect();
            let at = atom(format!("{{{}}}", all.join(", ")));
            let fields = vec![("at".to_string(), at)];
            C::Struct(types::local(stack, attribute.of), fields)
        }
        other => unreachable!("{other:?} is no constant"),
    }
}
