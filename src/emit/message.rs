//! The message: what it carries becomes a struct, and what a new one begins with its fields.

use super::Stack;
use super::layout::named_members;
use super::scope::Scope;
use super::state::is_zero;
use crate::c::printer::expression;
use crate::c::tree::{Expression as C, Item, Line, atom};
use crate::types::expression::Expression;
use crate::types::program::{Attribute, AttributeId};
use crate::types::value::Type;
use std::collections::BTreeSet;

/// The struct.
pub fn layout(stack: &Stack) -> Item {
    Item::Struct {
        comment: "A message, which alone has its buffer, and what travels beside it.".to_string(),
        name: format!("{}_message", stack.names.stack),
        members: lines(stack),
    }
}

/// The names of its members.
pub fn members(stack: &Stack) -> Vec<String> {
    let name = |line: &Line| line.text.rsplit([' ', '*']).next().map(String::from);
    lines(stack).iter().filter_map(name).collect()
}

fn lines(stack: &Stack) -> Vec<Line> {
    let buffer = format!("struct {}_buffer *buffer", stack.names.stack);
    let own = [
        ("uint8_t *data", "where its bytes begin"),
        ("uint32_t length", "how many there are"),
        (&*buffer, "the buffer they are in"),
        (
            "bool came_in",
            "whether it is a frame that came in by a link",
        ),
        ("uint8_t *header", "the header that was stripped last"),
    ];
    let own = own.map(|(text, comment)| Line {
        text: text.to_string(),
        comment: comment.to_string(),
    });
    let mut members = own.to_vec();
    for (attribute, name) in stack.program.attributes.iter().zip(&stack.names.attributes) {
        let comment = format!("an attribute of {}", attribute.owner);
        members.extend(named_members(stack, &attribute.kind, name, &comment));
    }
    members
}

/// The lines by which a copy of a message has no mark of where a header stands before it.
pub fn unmarked(stack: &Stack) -> String {
    let entities = stack.program.entities.iter();
    let marks: BTreeSet<AttributeId> = entities.filter_map(|entity| entity.mark).collect();
    let line = |mark: AttributeId| {
        let name = &stack.names.attributes[mark.at()];
        format!("    message->has_{name} = false;\n")
    };
    marks.into_iter().map(line).collect()
}

/// What a new message has, as the fields of an initializer (`text/own.c`).
pub fn blank(stack: &Stack) -> String {
    let before = format!("    return (struct {}_message){{", stack.names.stack);
    initial(stack, "buffer->bytes + HEADROOM", &before)
}

/// The same of a frame (`text/borrowed.c`).
pub fn of_frame(stack: &Stack) -> String {
    let before = format!("    struct {}_message message = {{", stack.names.stack);
    initial(stack, "frame->data", &before)
}

/// What a message has whose data begins there; the fields stand under each other.
fn initial(stack: &Stack, data: &str, before: &str) -> String {
    let mut fields = vec![format!(".data = {data}"), ".buffer = buffer".to_string()];
    let attributes = stack.program.attributes.iter().zip(&stack.names.attributes);
    let defaults = defaults(stack, attributes).into_iter();
    fields.extend(defaults.map(|(name, value)| format!(".{name} = {}", expression(&value))));
    fields.join(&format!(",\n{}", " ".repeat(before.len())))
}

/// What attributes have that nobody sets, as fields of an initializer; what is zero is left out.
pub fn defaults<'a>(
    stack: &Stack,
    attributes: impl Iterator<Item = (&'a Attribute, &'a String)>,
) -> Vec<(String, C)> {
    let mut fields = Vec::new();
    let scope = Scope::new(stack, &[]);
    for (attribute, name) in attributes {
        let Some(value) = &attribute.default else {
            continue;
        };
        let value = Expression::constant(value.clone(), attribute.kind.clone());
        if is_zero(&value.kind) {
            continue;
        }
        if let Type::Optional(_) = attribute.kind {
            fields.push((format!("has_{name}"), atom("true")));
        }
        let value = match attribute.kind {
            Type::Optional(_) => scope.unwrapped(&value),
            _ => scope.stored(&value),
        };
        fields.push((name.clone(), value));
    }
    fields
}
