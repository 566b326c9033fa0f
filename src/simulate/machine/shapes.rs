//! Values of a host as parts, and back.
//!
//! In: a value and its [`Shape`]. Out: the plain values of which it consists, in the order of
//! [`Shape::parts`]; or the other way round. A number that has a sign is extended by it outside of
//! the stack, and masked inside.
//!
//! ```
//! use stackloom::ir::interface::Shape;
//! use stackloom::simulate::machine::shapes::{datum, parts};
//! use stackloom::simulate::value::Datum;
//!
//! let shape = Shape::Optional(Box::new(Shape::Number { bits: 8, signed: true }));
//! let given = Datum::some(Datum::Number((-1_i64) as u64));
//! assert_eq!(parts(&shape, &given).len(), 2);
//! assert_eq!(datum(&shape, &parts(&shape, &given)), given);
//! ```

use super::values::Held;
use crate::ir::interface::Shape;
use crate::ir::types::{ones, signed};
use crate::simulate::value::Datum;

/// The parts of a value.
pub fn parts(shape: &Shape, datum: &Datum) -> Vec<Held> {
    match (shape, datum) {
        (Shape::Number { bits, .. }, Datum::Number(number)) => {
            vec![Held::Number(number & ones(*bits))]
        }
        (Shape::Bool, Datum::Number(number)) => vec![Held::bit(*number != 0)],
        (Shape::Time | Shape::Float(_), Datum::Number(number)) => vec![Held::Number(*number)],
        (Shape::Opaque(_), Datum::Bytes(bytes)) => vec![Held::bytes(bytes)],
        (Shape::Bytes(length), Datum::Bytes(bytes)) => vec![filled(bytes, *length)],
        (Shape::Bounded(most), Datum::Bytes(bytes)) => {
            let length = bytes.len().min(*most as usize);
            vec![Held::word(length), filled(bytes, *most)]
        }
        (Shape::Optional(of), Datum::Optional(None)) => {
            let none = of.parts().into_iter().map(Held::zero);
            std::iter::once(Held::bit(false)).chain(none).collect()
        }
        (Shape::Optional(of), Datum::Optional(Some(datum))) => {
            [vec![Held::bit(true)], parts(of, datum)].concat()
        }
        (Shape::Record(_, fields), Datum::Record(data)) => {
            let fields = fields.iter().zip(data);
            fields
                .flat_map(|((_, shape), datum)| parts(shape, datum))
                .collect()
        }
        (Shape::Array(of, _), Datum::Array(data)) => {
            data.iter().flat_map(|datum| parts(of, datum)).collect()
        }
        (Shape::Foreign(_), _) => Vec::new(),
        (shape, datum) => panic!("a value of the shape {shape:?} is expected, not {datum:?}"),
    }
}

/// The value that has these parts.
pub fn datum(shape: &Shape, parts: &[Held]) -> Datum {
    let mut rest = parts.iter();
    let datum = joined(shape, &mut rest);
    assert_eq!(rest.len(), 0, "all parts belong to the value");
    datum
}

/// The values of several shapes, whose parts stand behind one another.
pub fn data<'s>(shapes: impl IntoIterator<Item = &'s Shape>, parts: &[Held]) -> Vec<Datum> {
    let mut rest = parts.iter();
    let shapes = shapes.into_iter();
    shapes.map(|shape| joined(shape, &mut rest)).collect()
}

fn joined<'h>(shape: &Shape, rest: &mut impl Iterator<Item = &'h Held>) -> Datum {
    match shape {
        Shape::Number { bits, signed: true } => {
            Datum::Number(signed(number(rest.next()), *bits) as u64)
        }
        Shape::Number { .. } | Shape::Bool | Shape::Time | Shape::Float(_) => {
            Datum::Number(number(rest.next()))
        }
        Shape::Bytes(_) | Shape::Opaque(_) => Datum::Bytes(bytes(rest.next())),
        Shape::Bounded(_) => {
            let length = number(rest.next()) as usize;
            let mut bytes = bytes(rest.next());
            bytes.truncate(length);
            Datum::Bytes(bytes)
        }
        Shape::Optional(of) => {
            let is_there = number(rest.next()) != 0;
            let value = joined(of, rest);
            Datum::Optional(is_there.then(|| Box::new(value)))
        }
        Shape::Record(_, fields) => {
            let fields = fields.iter().map(|(_, shape)| joined(shape, rest));
            Datum::Record(fields.collect())
        }
        Shape::Array(of, length) => {
            let elements = (0..*length).map(|_| joined(of, rest));
            Datum::Array(elements.collect())
        }
        Shape::Foreign(_) => Datum::Bytes(Vec::new()),
    }
}

fn filled(bytes: &[u8], length: u32) -> Held {
    let mut bytes = bytes.to_vec();
    bytes.resize(length as usize, 0);
    Held::Bytes(bytes.into())
}

fn number(part: Option<&Held>) -> u64 {
    match part {
        Some(Held::Number(number)) => *number,
        other => panic!("a part is a number, not {other:?}"),
    }
}

fn bytes(part: Option<&Held>) -> Vec<u8> {
    match part {
        Some(Held::Bytes(bytes)) => bytes.to_vec(),
        other => panic!("a part is bytes, not {other:?}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn goes_both_ways(shape: &Shape, given: &Datum) {
        let parts = parts(shape, given);
        assert_eq!(parts.len(), shape.parts().len());
        assert_eq!(datum(shape, &parts), *given);
    }

    #[test]
    fn values_of_all_shapes_go_both_ways() {
        let (bits, signed) = (16, false);
        let port = Shape::Number { bits, signed };
        goes_both_ways(&port, &Datum::Number(80));
        let name = Shape::Bounded(4);
        goes_both_ways(&name, &Datum::Bytes(b"ab".to_vec()));
        let fields = vec![("a".to_string(), port), ("b".to_string(), name)];
        let both = Shape::Record("both".to_string(), fields);
        let given = Datum::Record(vec![Datum::Number(1), Datum::Bytes(Vec::new())]);
        goes_both_ways(&both, &given);
        goes_both_ways(&Shape::Optional(Box::new(both)), &Datum::Optional(None));
        let all = Shape::Array(Box::new(Shape::Bytes(2)), 2);
        let two = Datum::Bytes(vec![1, 2]);
        goes_both_ways(&all, &Datum::Array(vec![two.clone(), two]));
    }
}
