//! Shapes: the parts of which values of the checked program consist.
//!
//! In: a type or a constant of the checked program. Out: its shape; the types of its parts; the
//! constants that its parts are.

use crate::ir::interface::Shape;
use crate::ir::types::ones;
use crate::ir::{Op, Type as Plain};
use crate::types::program::Program;
use crate::types::value::{Type, Value};

/// The shape of a type of values.
///
/// # Panics
///
/// If no value has this type: a container, a message, a header.
pub fn shape(program: &Program, of: &Type) -> Shape {
    let number = |bits: u8, signed: bool| Shape::Number { bits, signed };
    match of {
        Type::Unsigned(bits) | Type::Sequence(bits) => number(*bits, false),
        Type::Signed(bits) => number(*bits, true),
        Type::Bool => Shape::Bool,
        Type::Time => Shape::Time,
        Type::Enum(id) => number(program.enums[id.at()].width, false),
        Type::Instance(_) => number(32, false),
        Type::Bytes(length) => Shape::Bytes(*length),
        Type::BoundedBytes(most) => Shape::Bounded(*most),
        Type::Record(id) if program.records[id.at()].external => {
            Shape::Foreign(program.records[id.at()].name.clone())
        }
        Type::Record(id) => {
            let fields = program.records[id.at()].fields.iter();
            let fields = fields.map(|field| (field.name.clone(), shape(program, &field.kind)));
            let name = program.records[id.at()].name.clone();
            Shape::Record(name, fields.collect())
        }
        Type::Optional(value) => Shape::Optional(Box::new(shape(program, value))),
        Type::Array(element, length) => Shape::Array(Box::new(shape(program, element)), *length),
        Type::Message
        | Type::Queue(..)
        | Type::Window(..)
        | Type::Stream(..)
        | Type::Set(_)
        | Type::Header(_)
        | Type::UnboundedBytes
        | Type::Abstract(_)
        | Type::Nothing => panic!("no value has the type {of:?}"),
    }
}

/// The types of the parts of a value.
pub fn parts(program: &Program, of: &Type) -> Vec<Plain> {
    shape(program, of).parts()
}

/// The names of the parts of a value: nothing for a plain one, `.has` and the rest for others.
pub fn part_names(of: &Shape) -> Vec<String> {
    let within = |first: &str, inner: &Shape| -> Vec<String> {
        let names = part_names(inner).into_iter();
        names.map(|name| format!("{first}{name}")).collect()
    };
    match of {
        Shape::Number { .. }
        | Shape::Bool
        | Shape::Time
        | Shape::Bytes(_)
        | Shape::Float(_)
        | Shape::Opaque(_) => vec![String::new()],
        Shape::Bounded(_) => vec![".length".to_string(), ".bytes".to_string()],
        Shape::Optional(value) => {
            let mut all = vec![".has".to_string()];
            all.extend(within("", value));
            all
        }
        Shape::Record(_, fields) => {
            let fields = fields.iter();
            let all = fields.flat_map(|(name, inner)| within(&format!(".{name}"), inner));
            all.collect()
        }
        Shape::Array(element, length) => {
            let all = 0..*length;
            all.flat_map(|at| within(&format!(".{at}"), element))
                .collect()
        }
        Shape::Foreign(_) => Vec::new(),
    }
}

/// Bits of a number's type; none of what is no number.
pub fn bits(program: &Program, of: &Type) -> Option<u8> {
    match shape_of_number(program, of)? {
        Shape::Number { bits, .. } => Some(bits),
        Shape::Bool => Some(1),
        Shape::Time => Some(64),
        _other => None,
    }
}

fn shape_of_number(program: &Program, of: &Type) -> Option<Shape> {
    match of {
        Type::Unsigned(_)
        | Type::Signed(_)
        | Type::Sequence(_)
        | Type::Bool
        | Type::Time
        | Type::Enum(_)
        | Type::Instance(_) => Some(shape(program, of)),
        _other => None,
    }
}

/// The constants that are the parts of a constant of a type. The parts of none are zero.
pub fn constant(program: &Program, value: &Value, of: &Type) -> Vec<Op> {
    match (value, of) {
        (Value::None, Type::Optional(inner)) => {
            let mut all = vec![Op::Number(1, 0)];
            all.extend(zeros(&parts(program, inner)));
            all
        }
        (value, Type::Optional(inner)) => {
            let mut all = vec![Op::Number(1, 1)];
            all.extend(constant(program, value, inner));
            all
        }
        (Value::Number(number), of) => {
            let bits = bits(program, of).expect("a number has a number's type");
            vec![Op::Number(bits, number & ones(bits))]
        }
        (Value::Bytes(bytes), Type::BoundedBytes(most)) => {
            let mut filled = bytes.clone();
            filled.resize(*most as usize, 0);
            vec![Op::Number(32, bytes.len() as u64), Op::Bytes(filled)]
        }
        (Value::Bytes(bytes), _) => vec![Op::Bytes(bytes.clone())],
        (Value::Record(values), Type::Record(id)) => {
            let fields = values.iter().zip(&program.records[id.at()].fields);
            let all = fields.flat_map(|(value, field)| constant(program, value, &field.kind));
            all.collect()
        }
        (Value::None | Value::Record(_), _) => panic!("{value:?} is no {of:?}"),
    }
}

/// Constants of these types that are zero.
pub fn zeros(types: &[Plain]) -> Vec<Op> {
    let zero = |of: &Plain| Op::zero(*of).expect("a part of a value is a number or bytes");
    types.iter().map(zero).collect()
}
