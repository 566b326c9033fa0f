//! Constants: in, a value and its type; out, how it is written in C.

use super::layout::c_type;
use super::scope::Scope;
use crate::c::tree::{Expression as C, atom};
use crate::types::value::{Type, Value};

/// Numbers of 16 bits from here on are types more often than counts (IEEE 802.3, 3.2.6).
const LEAST_TYPE: u64 = 0x0600;

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
                    Some(_) | None => atom(number_text(*number)),
                }
            }
            (Value::Number(number), Type::Bool) => {
                atom(if *number == 0 { "false" } else { "true" })
            }
            (Value::Number(number), Type::Signed(_)) => signed_constant(*number as i64),
            (Value::Number(number), Type::Time) => atom(number.to_string()),
            (Value::Number(number), Type::Unsigned(16)) if *number >= LEAST_TYPE => {
                atom(format!("{number:#06x}"))
            }
            (Value::Number(number), _) => atom(number_text(*number)),
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

/// All ones in so many bits.
pub fn mask(width: u32) -> String {
    let ones = if width >= 64 {
        u64::MAX
    } else {
        (1 << width) - 1
    };
    format!("{ones:#x}")
}

/// Small and round numbers as people count, masks and large ones as they look on the wire.
pub fn number_text(number: u64) -> String {
    let all_ones = number >= 255 && number.wrapping_add(1).is_power_of_two();
    if !all_ones && (number <= 0xffff || number.is_multiple_of(1000)) {
        number.to_string()
    } else {
        format!("{number:#x}")
    }
}
