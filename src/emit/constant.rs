//! Constants: in, a value and its type; out, how it is written in C.

use super::Stack;
use super::layout::c_type;
use super::scope::Scope;
use crate::c::tree::{Expression as C, atom};
use crate::types::value::{Type, Value};
use crate::types::writing::Writing;

impl Scope<'_> {
    /// A constant.
    pub fn constant(&self, value: &Value, kind: &Type) -> C {
        match (value, kind) {
            (Value::Number(number), Type::Enum(id)) => {
                let own = &self.stack.program.enums[id.at()];
                let at = own.names.iter().position(|(_, value)| value == number);
                match at {
                    Some(at) if *number <= i32::MAX as u64 => {
                        atom(&self.stack.names.enums[id.at()][at])
                    }
                    Some(_) | None => atom(self.stack.number_text(*number, kind)),
                }
            }
            (Value::Number(number), Type::Bool) => {
                atom(if *number == 0 { "false" } else { "true" })
            }
            (Value::Number(number), Type::Signed(_)) => signed_constant(*number as i64),
            (Value::Number(number), Type::Time) => atom(number.to_string()),
            (Value::Number(number), Type::Optional(inner)) => {
                self.constant(&Value::Number(*number), inner)
            }
            (Value::Number(number), _) => atom(self.stack.number_text(*number, kind)),
            (Value::Bytes(bytes), Type::BoundedBytes(_)) if !bytes.is_empty() => {
                let all: Vec<String> = bytes.iter().map(u8::to_string).collect();
                let members = vec![
                    ("length".to_string(), atom(bytes.len().to_string())),
                    ("at".to_string(), atom(format!("{{{}}}", all.join(", ")))),
                ];
                C::Struct(c_type(self.stack, kind), members)
            }
            (Value::Bytes(bytes), _) if bytes.iter().all(|byte| *byte == 0) => self.zero(kind),
            (Value::Bytes(bytes), _) => {
                let bytes: Vec<String> = bytes.iter().map(u8::to_string).collect();
                let all = atom(format!("{{{}}}", bytes.join(", ")));
                C::Struct(c_type(self.stack, kind), vec![("at".to_string(), all)])
            }
            (Value::None, Type::Optional(inner)) => self.constant(&Value::Number(0), inner),
            (Value::None, _) => atom("0"),
            (Value::Record(values), Type::Record(id)) => {
                let fields = self.stack.program.records[id.at()].fields.iter();
                let fields = fields.zip(values).flat_map(|(field, value)| {
                    let name = super::names::c_name(&field.name);
                    match (&field.kind, value) {
                        (_, Value::None) => vec![],
                        (_, Value::Bytes(all)) if all.iter().all(|one| *one == 0) => vec![],
                        (Type::Optional(inner), value) => vec![
                            (format!("has_{name}"), atom("true")),
                            (name, self.constant(value, inner)),
                        ],
                        (kind, value) => vec![(name, self.constant(value, kind))],
                    }
                });
                C::Struct(c_type(self.stack, kind), fields.collect())
            }
            (Value::Record(_), _) => unreachable!("a record's value is of a record's type"),
        }
    }
}

fn signed_constant(number: i64) -> C {
    match number {
        i64::MIN => atom("INT64_MIN"),
        number if number < 0 => C::Unary("-", Box::new(atom(number.unsigned_abs().to_string()))),
        number => atom(number.to_string()),
    }
}

impl Stack<'_> {
    /// An unsigned number as its writer wrote it; one that was computed, as its size suggests.
    pub fn number_text(&self, number: u64, kind: &Type) -> String {
        match self.program.writings.of(kind, number) {
            Some(Writing::Hexadecimal(digits)) => format!("{number:#0width$x}", width = digits + 2),
            // What is no `int` would be a signed number of 64 bits.
            Some(Writing::Decimal) if number > i32::MAX as u64 => format!("{number}U"),
            Some(Writing::Decimal) => number.to_string(),
            None => number_text(number),
        }
    }
}

/// Small and round numbers as people count, masks and large ones as they look on the wire.
pub fn number_text(number: u64) -> String {
    let all_ones = number >= 255 && number.wrapping_add(1).is_power_of_two();
    let round = number <= i32::MAX as u64 && number.is_multiple_of(1000);
    if !all_ones && (number <= 0xffff || round) {
        number.to_string()
    } else {
        format!("{number:#x}")
    }
}
