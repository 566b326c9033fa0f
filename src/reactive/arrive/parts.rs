//! Parts of a header whose length varies: in, the header; out, what parts with a bound require, and
//! how many bytes they and optional fields have, as expressions.

use super::{BYTES, Parse};
use crate::types::expression::{Binary, Expression, ExpressionKind};
use crate::types::header::{Counter, HeaderField};
use crate::types::value::Type;

impl Parse<'_> {
    /// A part with a bound is as long as is counted, and no longer than its bound.
    pub(super) fn require_bound(&mut self, at: usize, field: &HeaderField, most: u32) {
        let (counter, counted, rest) = self.part(at);
        let count = &self.header.fields[counter.field.at()];
        let number = |number: u32| Expression::number(u64::from(number), BYTES);
        if rest != number(0) {
            let enough =
                Expression::binary(Binary::AtLeast, counted.clone(), rest.clone(), Type::Bool);
            self.require(enough, count);
        }
        let largest = (u64::MAX >> (64 - count.width)).saturating_mul(u64::from(counter.unit));
        if largest > u64::from(most) {
            let bytes = difference(counted, rest);
            let fits = Expression::binary(Binary::AtMost, bytes, number(most), Type::Bool);
            self.require(fits, field);
        }
    }

    /// What counts a part with a bound, the bytes that it counts, and those beside the part.
    fn part(&self, at: usize) -> (Counter, Expression, Expression) {
        let counter = self.header.part_counter(at);
        let counter = counter.expect("a part with a bound is counted");
        let counted = self.counted(counter.field.at(), counter.unit);
        let fixed = self.header.fixed_inside(&counter.ranges);
        let rest = self.bytes_of(fixed, &|place| place != at && counter.covers(place));
        (counter, counted, rest)
    }

    /// Bytes of a field that is perhaps not there, or of a part with a bound.
    pub(super) fn optional_bytes(&self, at: usize, field: &HeaderField) -> Option<Expression> {
        if field.bound().is_some() {
            let (_, counted, rest) = self.part(at);
            return Some(difference(counted, rest));
        }
        let present = self.frame.expression(field.present.as_ref()?);
        let width = Expression::number(u64::from(field.width / 8), BYTES);
        let none = Expression::number(0, BYTES);
        let bytes = ExpressionKind::If(present, width, none);
        Some(Expression::new(bytes, BYTES))
    }

    /// Some bytes, and those of the optional fields among some.
    pub(super) fn bytes_of(&self, fixed: u32, among: &dyn Fn(usize) -> bool) -> Expression {
        let fields = self.header.fields.iter().enumerate();
        let optional = fields.filter(|(at, _)| among(*at));
        let optional = optional.filter_map(|(at, field)| self.optional_bytes(at, field));
        let fixed = Expression::number(u64::from(fixed), BYTES);
        optional.fold(fixed, |all, one| {
            Expression::binary(Binary::Add, all, one, BYTES)
        })
    }
}

/// One number of bytes less another.
fn difference(one: Expression, other: Expression) -> Expression {
    match other == Expression::number(0, BYTES) {
        true => one,
        false => Expression::binary(Binary::Subtract, one, other, BYTES),
    }
}
