//! Literals of C: numbers with a fraction, texts, and the sign before one.

use super::printer;
use super::tree::{Expression as C, atom};

/// A number with a fraction, as short as it can be read again.
pub fn fraction(bits: u8, number: u64) -> C {
    let text = match bits {
        32 => format!("{:?}f", f32::from_bits(number as u32)),
        _ => format!("{:?}", f64::from_bits(number)),
    };
    atom(text)
}

/// A text as a literal of C.
pub fn text(text: &str) -> C {
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
    atom(quoted + "\"")
}

/// The other sign. Two signs in a row would be another operator.
pub fn negative(operand: C) -> C {
    let text = printer::expression(&operand);
    let operand = match text.starts_with('-') {
        true => atom(format!("({text})")),
        false => operand,
    };
    C::Unary("-", Box::new(operand))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::c::printer::expression;

    #[test]
    fn literals_are_read_as_they_are_meant() {
        let shown = |code: C| expression(&code);
        assert_eq!(shown(fraction(32, 1.5_f32.to_bits().into())), "1.5f");
        assert_eq!(shown(fraction(64, 1e30_f64.to_bits())), "1e30");
        assert_eq!(shown(text("\"a\"\n??=\u{1}")), r#""\"a\"\n\?\?=\001""#);
    }
}
