//! How numbers are written: literals of the sources come in, their base is asked for by `emit`.
//!
//! A value does not know how it was written: 2048 and 0x0800 are one number, one constant and one
//! node of a tree. What is written is kept beside the program, by type and value; a number that is
//! written both as digits and as bits is shown as bits.

use super::value::Type;
use std::collections::BTreeMap;

/// The literals of a program.
#[derive(Clone, Debug, Default)]
pub struct Writings(BTreeMap<(Type, u64), Writing>);

/// How a number is written. What comes first is preferred.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Writing {
    /// As bits: in so many hexadecimal digits at least.
    Hexadecimal(usize),
    /// As people count.
    Decimal,
}

impl Writings {
    /// A literal of this type has this value and text.
    pub fn note(&mut self, kind: &Type, value: u64, text: &str) {
        self.add(kind, value, Writing::of(text));
    }

    /// The same literal is taken for one of another type.
    pub fn adapt(&mut self, from: &Type, to: &Type, value: u64) {
        if let Some(writing) = self.of(from, value) {
            self.add(to, value, writing);
        }
    }

    /// How a number of this type is written, if anywhere.
    pub fn of(&self, kind: &Type, value: u64) -> Option<Writing> {
        self.0.get(&(kind.clone(), value)).copied()
    }

    fn add(&mut self, kind: &Type, value: u64, writing: Writing) {
        let known = self.0.entry((kind.clone(), value)).or_insert(writing);
        *known = writing.min(*known);
    }
}

impl Writing {
    fn of(text: &str) -> Writing {
        let digits = text.chars().filter(|letter| *letter != '_').count();
        match text.get(..2) {
            Some("0x") => Writing::Hexadecimal(digits - 2),
            Some("0b") => Writing::Hexadecimal((digits - 2).div_ceil(4)),
            Some(_) | None => Writing::Decimal,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_keeps_its_base_and_its_digits() {
        let (short, long) = (Type::Unsigned(8), Type::Unsigned(16));
        let mut writings = Writings::default();
        writings.note(&short, 17, "17");
        writings.note(&long, 0x800, "0x0800");
        writings.note(&short, 5, "0b0000_0101");
        assert_eq!(writings.of(&short, 17), Some(Writing::Decimal));
        assert_eq!(writings.of(&long, 0x800), Some(Writing::Hexadecimal(4)));
        assert_eq!(writings.of(&short, 5), Some(Writing::Hexadecimal(2)));
        assert_eq!(writings.of(&long, 17), None);
    }

    #[test]
    fn bits_are_preferred_and_go_with_the_literal_to_its_type() {
        let (short, long) = (Type::Unsigned(8), Type::Unsigned(16));
        let mut writings = Writings::default();
        writings.note(&long, 17, "17");
        writings.note(&short, 17, "0x11");
        writings.adapt(&short, &long, 17);
        writings.note(&long, 17, "17");
        assert_eq!(writings.of(&long, 17), Some(Writing::Hexadecimal(2)));
    }
}
