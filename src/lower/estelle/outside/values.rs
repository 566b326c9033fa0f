//! Values that cross the border to C: in, a type of the source; out, its shape, its name in
//! comments, and what C has given as a value that is checked.
//!
//! | type | C |
//! |---|---|
//! | `integer`, subranges, enumerations, `char` | `int32_t`, the ordinal number |
//! | `boolean` | `bool` |
//! | `real` | `double` |

use super::super::Fault;
use super::super::code::Code;
use super::super::code::evaluate::Computed;
use super::super::memory::is_boolean;
use crate::ir::interface::Shape;
use crate::ir::op::Arithmetic;
use crate::ir::{Type as Plain, Value};
use crate::types::estelle::program::{Program, Type, TypeId};

/// A number of C.
pub const NUMBER: Shape = Shape::Number {
    bits: 32,
    signed: true,
};

/// The shape of a type; none of one that does not cross the border.
pub fn shape(program: &Program, of: TypeId) -> Option<Shape> {
    match &program.types[of.index()] {
        _boolean if is_boolean(program, of) => Some(Shape::Bool),
        Type::Real => Some(Shape::Float(64)),
        Type::Integer
        | Type::Char
        | Type::Boolean
        | Type::Enumeration { .. }
        | Type::Subrange { .. } => Some(NUMBER),
        Type::Array { .. } | Type::Record { .. } | Type::Set(_) | Type::External(_) => None,
    }
}

/// Writes a type as Pascal does.
pub fn written(program: &Program, of: TypeId) -> String {
    match &program.types[of.index()] {
        Type::Integer => "integer".to_string(),
        Type::Real => "real".to_string(),
        Type::Boolean => "boolean".to_string(),
        Type::Char => "char".to_string(),
        Type::Enumeration { values, .. } => format!("({})", values.join(", ")),
        Type::Subrange { of, low, high } => {
            let [low, high] = [low, high].map(|one| constant(program, *of, *one));
            format!("{low}..{high}")
        }
        Type::Array { index, element, .. } => {
            let [index, element] = [index, element].map(|one| written(program, *one));
            format!("array [{index}] of {element}")
        }
        Type::Record { .. } => "record".to_string(),
        Type::Set(of) => format!("set of {}", written(program, *of)),
        Type::External(name) => name.clone(),
    }
}

/// Writes a value of an ordinal type.
fn constant(program: &Program, of: TypeId, number: i64) -> String {
    match &program.types[of.index()] {
        Type::Enumeration { values, .. } => values[number as usize].clone(),
        Type::Boolean => (number != 0).to_string(),
        Type::Char => match u8::try_from(number).map(char::from) {
            Ok(letter) if letter.is_ascii_graphic() && letter != '\'' => format!("'{letter}'"),
            _other => format!("chr({number})"),
        },
        _number => number.to_string(),
    }
}

impl Code<'_, '_> {
    /// A value of a type that C has given: one out of its range is a fault.
    pub(super) fn checked(&mut self, given: Value, of: TypeId) -> Computed {
        match self.build.type_of(given) {
            Plain::BIT => {
                let (low, high) = self.program().bounds(of).unwrap_or((0, 1));
                if (low, high) != (0, 1) {
                    let only = self.bit(low != 0);
                    let other = self.arithmetic(Arithmetic::Xor, given, only);
                    self.fails_if(other, Fault::Range);
                }
                Computed::Bit(given)
            }
            Plain::Float(_) => {
                self.finite(given, Fault::Range);
                Computed::Real(given)
            }
            _number => {
                let any = Computed::Ordinal(given, i32::MIN.into(), i32::MAX.into());
                self.fitting(any, of)
            }
        }
    }
}
