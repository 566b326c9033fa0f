//! Numbers with a fraction, texts, and values of opaque types: in, operations; out, C.
//!
//! A comparison of numbers with a fraction has a name of its own: what is no number is neither less
//! than another nor at least as large, so such a comparison is never turned round.

use super::Printer;
use super::value::Given;
use crate::c::printer;
use crate::c::tree::{Expression as C, Statement as S, atom, binary, call_statement};
use crate::ir::op::Floating;
use crate::ir::{OpaqueId, Value};

/// A constant with a fraction, as short as it can be read again.
pub fn literal(bits: u8, number: u64) -> C {
    let text = match bits {
        32 => format!("{:?}f", f32::from_bits(number as u32)),
        _ => format!("{:?}", f64::from_bits(number)),
    };
    atom(text)
}

/// A text as a literal of C.
pub fn quoted(text: &str) -> String {
    let mut quoted = String::from("\"");
    for one in text.chars() {
        match one {
            '"' | '\\' => quoted.extend(['\\', one]),
            // Two of them begin a trigraph.
            '?' => quoted += "\\?",
            '\n' => quoted += "\\n",
            one if one.is_control() => {
                let mut bytes = [0; 4];
                for byte in one.encode_utf8(&mut bytes).bytes() {
                    quoted += &format!("\\{byte:03o}");
                }
            }
            one => quoted.push(one),
        }
    }
    quoted + "\""
}

/// The other sign. Two signs in a row would be another operator.
fn negative(operand: C) -> C {
    let text = printer::expression(&operand);
    let operand = match text.starts_with('-') {
        true => atom(format!("({text})")),
        false => operand,
    };
    C::Unary("-", Box::new(operand))
}

impl Printer<'_> {
    /// An operation on numbers with a fraction.
    pub fn floating(&mut self, how: Floating, operands: &[Value], out: &mut Vec<S>) -> Given {
        let one = self.plain(operands[0], out);
        let (sign, word) = match how {
            Floating::Neg => return Given::Plain(negative(one)),
            Floating::Add => ("+", None),
            Floating::Sub => ("-", None),
            Floating::Mul => ("*", None),
            Floating::Div => ("/", None),
            Floating::Eq => ("==", Some("equal")),
            Floating::Lt => ("<", Some("less")),
            Floating::Le => ("<=", Some("at_most")),
        };
        let other = self.plain(operands[1], out);
        let code = binary(sign, one, other);
        match word {
            None => Given::Plain(code),
            Some(word) => {
                let compared = self.keep(word, "bool", code, out);
                Given::Number(super::number::Number::bit(compared))
            }
        }
    }

    /// A place gets a value of an opaque type. A text is where it begins.
    pub fn assigned(&self, of: OpaqueId, place: C, value: C) -> S {
        let copy = self.stack.names.opaques[of.at()].copy.clone();
        let place = match self.stack.module.opaques[of.at()].room {
            Some(_) => place,
            None => place.address(),
        };
        call_statement(copy, vec![place, value])
    }
}
