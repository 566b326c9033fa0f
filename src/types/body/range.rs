//! What is known of numbers: facts that tests establish, and the range in which a number lies.
//!
//! An index, or a divisor, that can go wrong is refused; so `require i < n`, `i % n`, `max(n, 1)`
//! and the bounds of a `for` are understood. Nothing here is clever: a range comes from the type,
//! from the operators, and from comparisons of this very expression.

use super::super::expression::{
    Binary, Expression, ExpressionKind, Instance, Query, Unary, Variable,
};
use super::super::fields::read_by;
use super::super::program::{Event, FieldId, KindId, LocalId};
use super::super::scope::Named;
use super::super::value::{Type, Value};
use super::mentions;
use super::words::{Body, Place, constant_number, make, number};
use crate::diagnostic::{Diagnostic, Id};
use crate::syntax::loom::ast;

/// The least and the greatest that a number can be.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Range {
    /// The least.
    pub low: u64,
    /// The greatest.
    pub high: u64,
}

/// The largest number of so many bits.
pub(super) fn mask(width: u8) -> u64 {
    u64::MAX >> (64 - u32::from(width.clamp(1, 64)))
}

/// Bytes of the words of which data may be a multiple.
const UNITS: [u32; 3] = [8, 4, 2];

/// How far facts about facts are followed.
const DEPTH: u32 = 2;

impl Body<'_, '_> {
    /// From here on the condition holds, or does not.
    pub fn assume(&mut self, condition: &Expression, holds: bool) {
        self.flow.unsure |= condition.result == Type::Nothing;
        match (&*condition.kind, holds) {
            (ExpressionKind::Binary(Binary::And, left, right), true)
            | (ExpressionKind::Binary(Binary::Or, left, right), false) => {
                self.assume(left, holds);
                self.assume(right, holds);
            }
            (ExpressionKind::Unary(Unary::Not, inner), _) => self.assume(inner, !holds),
            (ExpressionKind::Binary(operator, left, right), _) => {
                let operator = match holds {
                    true => Some(*operator),
                    false => opposite(*operator),
                };
                let Some(operator) = operator else { return };
                let kind = ExpressionKind::Binary(operator, left.clone(), right.clone());
                self.flow.facts.push(make(kind, Type::Bool));
            }
            (ExpressionKind::Read(Variable::Local(_)), _) => {
                // A local that was set to a condition says what the condition says.
                let means = self.flow.facts.iter().find_map(|fact| {
                    let ExpressionKind::Binary(Binary::Equal, left, right) = &*fact.kind else {
                        return None;
                    };
                    (left == condition).then(|| right.clone())
                });
                if let Some(means) = means.filter(|means| means.result == Type::Bool) {
                    self.assume(&means, holds);
                }
            }
            (_, true) => self.flow.facts.push(condition.clone()),
            (_, false) => {
                let kind = ExpressionKind::Unary(Unary::Not, condition.clone());
                self.flow.facts.push(make(kind, Type::Bool));
            }
        }
    }

    /// What holds wherever the body runs: what the stack requires of its configuration, and what
    /// the header that came in has passed.
    pub fn assume_given(&mut self) {
        let config = self.context.program.config.iter();
        let config = config.flat_map(|config| config.constraints.clone());
        let mut given: Vec<Expression> = config.collect();
        let carries = match self.place {
            Place::Handler(event) | Place::Finder(event) => event == Event::Deliver,
            Place::Function => true,
            Place::Value | Place::Filter(_) => false,
        };
        if let Some(header) = self.scope.header.filter(|_| carries) {
            let fields = &self.context.program.headers[header.at()].fields;
            let always = fields.iter().filter(|field| field.present.is_none());
            given.extend(always.filter_map(|field| field.constraint.clone()));
        }
        for condition in given {
            self.assume(&condition, true);
        }
    }

    /// A local or a field has been set to this value.
    pub fn assume_value(&mut self, read: Expression, value: &Expression) {
        if value.result == Type::Nothing || read.result == Type::Message {
            return;
        }
        if let ExpressionKind::Some(_) = *value.kind {
            let kind = ExpressionKind::Present(read.clone());
            self.flow.facts.push(make(kind, Type::Bool));
        }
        if let ExpressionKind::Read(place) = &*read.kind
            && reads(value, root(place))
        {
            return;
        }
        if let Some(range) = self.range(value) {
            let whole = self.whole(&read.result);
            for (operator, bound, known) in [
                (Binary::AtLeast, range.low, whole.map(|whole| whole.low)),
                (Binary::AtMost, range.high, whole.map(|whole| whole.high)),
            ] {
                if Some(bound) != known {
                    let bound = number(bound, read.result.clone());
                    let kind = ExpressionKind::Binary(operator, read.clone(), bound);
                    self.flow.facts.push(make(kind, Type::Bool));
                }
            }
        }
        let kind = ExpressionKind::Binary(Binary::Equal, read, value.clone());
        self.flow.facts.push(make(kind, Type::Bool));
    }

    /// Whether this condition was tested, and nothing it reads was written since.
    pub fn holds(&self, condition: &Expression) -> bool {
        self.flow.facts.contains(condition)
    }

    /// This place is written: what was known of it is no longer.
    pub fn forget(&mut self, place: &Variable) {
        let facts = self.flow.facts.iter();
        let stays: Vec<Expression> = facts
            .filter(|fact| is_around(fact, place))
            .cloned()
            .collect();
        self.forget_reads(root(place));
        self.flow.facts.extend(stays);
    }

    /// The message is changed: what was known of its length is no longer.
    pub fn forget_length(&mut self, local: LocalId) {
        self.forget_reads(Root::Length(local));
    }

    /// A loop may write any field: what was known of them is no longer.
    pub fn forget_fields(&mut self, locals: &[LocalId]) {
        self.forget_reads(Root::AnyField);
        for local in locals {
            self.forget_reads(Root::Local(*local));
        }
    }

    fn forget_reads(&mut self, root: Root) {
        self.flow.facts.retain(|fact| !reads(fact, root));
    }

    /// The range of a number that is not signed; none of anything else.
    pub fn range(&self, value: &Expression) -> Option<Range> {
        self.range_within(value, DEPTH)
    }

    fn whole(&self, of: &Type) -> Option<Range> {
        let plain = matches!(
            of,
            Type::Unsigned(_) | Type::Time | Type::Sequence(_) | Type::Bool
        );
        let high = mask(self.width(of).filter(|_| plain)?);
        Some(Range { low: 0, high })
    }

    fn range_within(&self, value: &Expression, depth: u32) -> Option<Range> {
        let whole = self.whole(&value.result)?;
        let mut range = self.computed(value, whole, depth).unwrap_or(whole);
        if depth == 0 || matches!(value.result, Type::Sequence(_)) {
            return Some(range);
        }
        for fact in &self.flow.facts {
            let ExpressionKind::Binary(operator, left, right) = &*fact.kind else {
                continue;
            };
            let (operator, other) = if plain(left) == plain(value) {
                (*operator, right)
            } else if plain(right) == plain(value) {
                (operator.mirrored(), left)
            } else {
                continue;
            };
            if let Some(other) = self.range_within(plain(other), depth - 1) {
                range = range.narrowed(operator, other);
            }
        }
        Some(range)
    }

    /// The range that the operators of an expression leave.
    fn computed(&self, value: &Expression, whole: Range, depth: u32) -> Option<Range> {
        let inner = |value: &Expression| self.range_within(value, depth);
        match &*value.kind {
            ExpressionKind::Constant(Value::Number(constant)) => Some(Range {
                low: *constant,
                high: *constant,
            }),
            ExpressionKind::Cast(operand) => {
                let operand = inner(operand)?;
                (operand.high <= whole.high).then_some(operand)
            }
            ExpressionKind::BytesLength(bytes) => match bytes.result {
                Type::BoundedBytes(most) => Some(Range {
                    low: 0,
                    high: u64::from(most),
                }),
                _ => None,
            },
            ExpressionKind::Least(left, right) => {
                let (left, right) = (inner(left)?, inner(right)?);
                Some(Range {
                    low: left.low.min(right.low),
                    high: left.high.min(right.high),
                })
            }
            ExpressionKind::Greatest(left, right) => {
                let (left, right) = (inner(left)?, inner(right)?);
                Some(Range {
                    low: left.low.max(right.low),
                    high: left.high.max(right.high),
                })
            }
            ExpressionKind::If(_, left, right) | ExpressionKind::Else(left, right) => {
                let (left, right) = (inner(left)?, inner(right)?);
                Some(Range {
                    low: left.low.min(right.low),
                    high: left.high.max(right.high),
                })
            }
            // The distance of two sequence numbers says nothing of their order as numbers.
            ExpressionKind::Binary(Binary::Subtract, left, _)
                if matches!(left.result, Type::Sequence(_)) =>
            {
                None
            }
            ExpressionKind::Binary(operator, left, right) => {
                let (left_range, right_range) = (inner(left)?, inner(right)?);
                let ordered = *operator == Binary::Subtract && self.is_least(right, left);
                combined(*operator, left_range, right_range, whole, ordered)
            }
            _ => None,
        }
    }

    /// Warns of a comparison that always comes out the same, whatever comes in. What a constant
    /// or a parameter decides is a choice of whoever sets it, and a function may be another's.
    pub fn warn_of_constant(
        &mut self,
        operator: Binary,
        sides: [&Expression; 2],
        sources: [&ast::Expression; 2],
    ) {
        let words = sources.into_iter().flat_map(mentions::in_value);
        let mut named = words.filter_map(|word| self.scope.names.get(&word));
        if named.any(|named| matches!(named, Named::Value(_) | Named::Function(_))) {
            return;
        }
        // Where a layer stands in a stack, tests before this one may hang on a parameter.
        let facts = (!self.scope.alone).then(|| std::mem::take(&mut self.flow.facts));
        let decided = self.comes_out(operator, sides);
        self.flow.facts = facts.unwrap_or_else(|| std::mem::take(&mut self.flow.facts));
        let Some(holds) = decided else { return };
        let span = sources[0].span.to(sources[1].span);
        let always = if holds { "always true" } else { "never true" };
        let title = format!("`{}` is {always}", self.text(span));
        let warning = Diagnostic::warning(Id::ConstantCondition, title, span, always);
        self.report(warning.help("compare with another value, or remove the comparison"));
    }

    /// Whether a comparison holds, if that follows from what can be known of its sides.
    fn comes_out(&self, operator: Binary, [left, right]: [&Expression; 2]) -> Option<bool> {
        let holds_of_equals = matches!(operator, Binary::Equal | Binary::AtMost | Binary::AtLeast);
        if left == right {
            return Some(holds_of_equals);
        }
        if matches!(left.result, Type::Sequence(_)) {
            return None;
        }
        let (left, right) = (self.range(left)?, self.range(right)?);
        let (operator, left, right) = match operator {
            Binary::Greater | Binary::AtLeast => (operator.mirrored(), right, left),
            _that_stays => (operator, left, right),
        };
        let apart = left.high < right.low || right.high < left.low;
        let same = left.low == right.high && left.high == right.low;
        match operator {
            Binary::Less if left.high < right.low => Some(true),
            Binary::Less if left.low >= right.high => Some(false),
            Binary::AtMost if left.high <= right.low => Some(true),
            Binary::AtMost if left.low > right.high => Some(false),
            Binary::Equal | Binary::Unequal if apart || same => {
                Some(same == (operator == Binary::Equal))
            }
            _that_is_open => None,
        }
    }

    /// Whether a loop cannot change this.
    pub fn is_steady(&self, value: &Expression) -> bool {
        let mut locals = self.assignable.iter();
        !reads(value, Root::AnyField) && !locals.any(|local| reads(value, Root::Local(*local)))
    }

    /// Whether a number hangs on a parameter that nobody has given yet, since the layer is checked
    /// by itself: then its range is judged where it stands in a stack.
    pub fn is_open(&self, value: &Expression) -> bool {
        let given = |value: &Expression| reads(value, Root::Parameter);
        let bounds = |fact: &Expression| {
            let ExpressionKind::Binary(_, left, right) = &*fact.kind else {
                return false;
            };
            plain(left) == plain(value) && given(right)
                || plain(right) == plain(value) && given(left)
        };
        self.scope.alone && (given(value) || self.flow.facts.iter().any(bounds))
    }

    /// Bytes of the widest word, 8 at most, of which the data of a message is a multiple for
    /// certain.
    pub fn whole_unit(&self, message: LocalId) -> u32 {
        let length = ExpressionKind::Length(message);
        let units = UNITS.into_iter();
        let known = |unit: &u32| {
            self.flow.facts.iter().any(|fact| {
                let ExpressionKind::Binary(Binary::Equal, rest, zero) = &*fact.kind else {
                    return false;
                };
                let ExpressionKind::Binary(operator, of, by) = &*rest.kind else {
                    return false;
                };
                let by = constant_number(by).map(|by| match operator {
                    Binary::BitAnd => by.trailing_ones(),
                    Binary::Remainder => by.trailing_zeros(),
                    _says_nothing_of_multiples => 0,
                });
                *plain(of).kind == length
                    && constant_number(zero) == Some(0)
                    && by.is_some_and(|bits| 1 << bits.min(3) >= *unit)
            })
        };
        units.into_iter().find(known).unwrap_or(1)
    }

    /// From here on the data of a message is a multiple of words of so many bytes.
    pub fn assume_whole(&mut self, message: LocalId, unit: u32) {
        if unit > 1 {
            let is_multiple = Self::is_multiple(message, unit);
            self.flow.facts.push(is_multiple);
        }
    }

    /// The condition that the data of a message is a multiple of words of so many bytes.
    pub fn is_multiple(message: LocalId, unit: u32) -> Expression {
        let bytes = Type::Unsigned(32);
        let length = make(ExpressionKind::Length(message), bytes.clone());
        let last = number(u64::from(unit - 1), bytes.clone());
        let rest = Expression::binary(Binary::BitAnd, length, last, bytes.clone());
        Expression::binary(Binary::Equal, rest, number(0, bytes), Type::Bool)
    }

    /// The widest word of which the data is a multiple behind a `skip` of so many bytes.
    pub fn unit_skipped(&self, message: LocalId, count: &Expression) -> u32 {
        self.unit_behind(message, count, |unit, rest| {
            rest == (1, 0) || self.counts_whole(message, unit, rest)
        })
    }

    /// The same behind a `cut`, which leaves what there is where that is less.
    pub fn unit_cut(&self, message: LocalId, count: &Expression) -> u32 {
        let is_there = self.is_there(message, count);
        let known = self.whole_unit(message);
        self.unit_behind(message, count, |unit, rest| {
            let is_multiple = rest == (0, 0) || self.counts_whole(message, unit, rest);
            is_multiple && (is_there || known >= unit)
        })
    }

    /// The same behind a `pad`.
    pub fn unit_padded(&self, message: LocalId, count: &Expression) -> u32 {
        self.unit_behind(message, count, |unit, rest| {
            rest == (unit - 1, 0) || self.counts_whole(message, unit, rest)
        })
    }

    /// The widest word for which something holds of what a number leaves of it.
    fn unit_behind(
        &self,
        message: LocalId,
        count: &Expression,
        holds: impl Fn(u32, (u32, u32)) -> bool,
    ) -> u32 {
        let mut units = UNITS.into_iter();
        let found = units.find(|unit| {
            let rest = self.residue(message, count, (*unit, DEPTH));
            rest.is_some_and(|rest| holds(*unit, rest))
        });
        found.unwrap_or(1)
    }

    /// Whether both the message and a number of bytes that leaves this are whole words.
    fn counts_whole(&self, message: LocalId, unit: u32, rest: (u32, u32)) -> bool {
        rest.1 == 0 && self.whole_unit(message) >= unit
    }

    /// What a number leaves of so many bytes: so many times the length of the message, and so many.
    fn residue(
        &self,
        message: LocalId,
        value: &Expression,
        (unit, depth): (u32, u32),
    ) -> Option<(u32, u32)> {
        let rest = |number: u64| (number % u64::from(unit)) as u32;
        let inner = |value: &Expression| self.residue(message, value, (unit, depth));
        let with = |left: (u32, u32), right: (u32, u32), times: u32| {
            let add = |one: u32, other: u32| (one + times * other) % unit;
            (add(left.0, right.0), add(left.1, right.1))
        };
        if !matches!(value.result, Type::Unsigned(8..)) {
            return None;
        }
        match &*value.kind {
            ExpressionKind::Constant(Value::Number(number)) => Some((0, rest(*number))),
            ExpressionKind::Length(of) if *of == message => Some((1, 0)),
            ExpressionKind::Cast(operand) => inner(operand),
            ExpressionKind::Read(Variable::Local(_)) if depth > 0 => {
                self.flow.facts.iter().find_map(|fact| {
                    let ExpressionKind::Binary(Binary::Equal, read, held) = &*fact.kind else {
                        return None;
                    };
                    let held = (read == value).then_some(held)?;
                    self.residue(message, held, (unit, depth - 1))
                })
            }
            ExpressionKind::Binary(operator, left, right) => {
                let by = constant_number(right);
                match (operator, by) {
                    (Binary::Add, _) => Some(with(inner(left)?, inner(right)?, 1)),
                    (Binary::Subtract, _) => Some(with(inner(left)?, inner(right)?, unit - 1)),
                    (Binary::BitAnd, Some(mask)) if rest(mask) == unit - 1 => inner(left),
                    (Binary::Remainder, Some(by)) if by != 0 && rest(by) == 0 => inner(left),
                    (Binary::BitAnd | Binary::Multiply, Some(by)) if rest(by) == 0 => Some((0, 0)),
                    (Binary::ShiftLeft, Some(by)) if 1 << by.min(3) >= unit => Some((0, 0)),
                    _ => None,
                }
            }
            _ => None,
        }
    }

    /// Whether a message has so many bytes for certain.
    fn is_there(&self, message: LocalId, count: &Expression) -> bool {
        let length = make(ExpressionKind::Length(message), Type::Unsigned(32));
        let count = plain(count);
        let is_part = match &*count.kind {
            ExpressionKind::Binary(Binary::BitAnd | Binary::Remainder | Binary::Divide, of, _)
            | ExpressionKind::Binary(Binary::ShiftRight, of, _) => self.is_there(message, of),
            ExpressionKind::Binary(Binary::Subtract, of, less) => {
                *plain(of) == length && self.is_there(message, less)
            }
            _ => *count == length,
        };
        is_part || self.is_least(count, &length)
    }

    /// Whether a number is known to be less than another.
    pub fn is_within(&self, small: &Expression, large: &Expression) -> bool {
        let less = |fact: &Expression| {
            let ExpressionKind::Binary(operator, left, right) = &*fact.kind else {
                return false;
            };
            match operator {
                Binary::Less => plain(left) == plain(small) && plain(right) == plain(large),
                Binary::Greater => plain(left) == plain(large) && plain(right) == plain(small),
                _of_another_kind => false,
            }
        };
        let ranges = self.range(small).zip(self.range(large));
        ranges.is_some_and(|(small, large)| small.high < large.low)
            || self.flow.facts.iter().any(less)
    }

    /// Whether a test says that one number is at most the other.
    fn is_least(&self, small: &Expression, large: &Expression) -> bool {
        self.flow.facts.iter().any(|fact| {
            let ExpressionKind::Binary(operator, left, right) = &*fact.kind else {
                return false;
            };
            let (left, right) = match operator {
                Binary::Less | Binary::AtMost | Binary::Equal => (left, right),
                Binary::Greater | Binary::AtLeast => (right, left),
                Binary::Or
                | Binary::And
                | Binary::Unequal
                | Binary::BitOr
                | Binary::BitXor
                | Binary::BitAnd
                | Binary::ShiftLeft
                | Binary::ShiftRight
                | Binary::Add
                | Binary::Subtract
                | Binary::Multiply
                | Binary::Divide
                | Binary::Remainder => return false,
            };
            plain(left) == plain(small) && plain(right) == plain(large)
        })
    }
}

impl Range {
    fn narrowed(self, operator: Binary, other: Range) -> Range {
        let Range { low, high } = self;
        match operator {
            Binary::Equal => Range {
                low: low.max(other.low),
                high: high.min(other.high),
            },
            Binary::Less => Range {
                low,
                high: high.min(other.high.saturating_sub(1)),
            },
            Binary::AtMost => Range {
                low,
                high: high.min(other.high),
            },
            Binary::Greater => Range {
                low: low.max(other.low.saturating_add(1)),
                high,
            },
            Binary::AtLeast => Range {
                low: low.max(other.low),
                high,
            },
            Binary::Unequal if other.low == other.high && low == other.low => Range {
                low: low.saturating_add(1),
                high,
            },
            Binary::Unequal
            | Binary::Or
            | Binary::And
            | Binary::BitOr
            | Binary::BitXor
            | Binary::BitAnd
            | Binary::ShiftLeft
            | Binary::ShiftRight
            | Binary::Add
            | Binary::Subtract
            | Binary::Multiply
            | Binary::Divide
            | Binary::Remainder => self,
        }
    }
}

/// What an operator makes of two ranges; none if it may wrap.
fn combined(
    operator: Binary,
    left: Range,
    right: Range,
    whole: Range,
    ordered: bool,
) -> Option<Range> {
    let range = match operator {
        Binary::Add => Range {
            low: left.low.checked_add(right.low)?,
            high: left.high.checked_add(right.high)?,
        },
        Binary::Subtract if ordered || left.low >= right.high => Range {
            low: left.low.saturating_sub(right.high),
            high: left.high.saturating_sub(right.low),
        },
        Binary::Multiply => Range {
            low: left.low.checked_mul(right.low)?,
            high: left.high.checked_mul(right.high)?,
        },
        // Where tests contradict each other nobody comes, and a range may be empty.
        Binary::Divide if right.low > 0 && right.high > 0 => Range {
            low: left.low / right.high,
            high: left.high / right.low,
        },
        Binary::Remainder if right.low > 0 && right.high > 0 => Range {
            low: 0,
            high: left.high.min(right.high - 1),
        },
        Binary::BitAnd => Range {
            low: 0,
            high: left.high.min(right.high),
        },
        Binary::ShiftRight => Range {
            low: left
                .low
                .checked_shr(u32::try_from(right.high).ok()?)
                .unwrap_or(0),
            high: left
                .high
                .checked_shr(u32::try_from(right.low).ok()?)
                .unwrap_or(0),
        },
        Binary::Or
        | Binary::And
        | Binary::Equal
        | Binary::Unequal
        | Binary::Less
        | Binary::AtMost
        | Binary::Greater
        | Binary::AtLeast
        | Binary::BitOr
        | Binary::BitXor
        | Binary::ShiftLeft
        | Binary::Subtract
        | Binary::Divide
        | Binary::Remainder => return None,
    };
    (range.high <= whole.high).then_some(range)
}

/// Without what only widens.
fn plain(value: &Expression) -> &Expression {
    if let (ExpressionKind::Cast(inner), Type::Unsigned(to)) = (&*value.kind, &value.result)
        && let Type::Unsigned(from) = inner.result
        && from <= *to
    {
        return plain(inner);
    }
    value
}

fn opposite(operator: Binary) -> Option<Binary> {
    match operator {
        Binary::Equal => Some(Binary::Unequal),
        Binary::Unequal => Some(Binary::Equal),
        Binary::Less => Some(Binary::AtLeast),
        Binary::AtLeast => Some(Binary::Less),
        Binary::Greater => Some(Binary::AtMost),
        Binary::AtMost => Some(Binary::Greater),
        Binary::Or
        | Binary::And
        | Binary::BitOr
        | Binary::BitXor
        | Binary::BitAnd
        | Binary::ShiftLeft
        | Binary::ShiftRight
        | Binary::Add
        | Binary::Subtract
        | Binary::Multiply
        | Binary::Divide
        | Binary::Remainder => None,
    }
}

/// What a write may change.
#[derive(Clone, Copy)]
enum Root {
    Field(KindId, FieldId),
    AnyField,
    Local(LocalId),
    Length(LocalId),
    Parameter,
}

fn root(place: &Variable) -> Root {
    match place {
        Variable::Field(_, kind, field) => Root::Field(*kind, *field),
        Variable::Local(local) => Root::Local(*local),
        Variable::Element(inner, _) | Variable::Part(inner, ..) => root(inner),
    }
}

/// Whether the value of an expression may change with this root.
fn reads(value: &Expression, root: Root) -> bool {
    let itself = match &*value.kind {
        ExpressionKind::Length(local) => matches!(root, Root::Length(of) if of == *local),
        ExpressionKind::Key(Instance::Local(local), ..) => {
            matches!(root, Root::Local(of) if of == *local)
        }
        // A function may read any field, and a filter reads the data.
        ExpressionKind::Call(..) => !matches!(root, Root::Local(_)),
        ExpressionKind::Through(_, _, local) => matches!(root, Root::Length(of) if of == *local),
        ExpressionKind::Query(
            Query::Running(..) | Query::Exists(..) | Query::Ended(..) | Query::GoesOn,
        ) => true,
        ExpressionKind::Config(_) => matches!(root, Root::Parameter),
        _that_may_read_a_field => {
            read_by(value).is_some_and(|variable| variable_reads(variable, root))
        }
    };
    itself || value.parts().into_iter().any(|part| reads(part, root))
}

/// Whether a fact says that a record is there of which a place is a part.
fn is_around(fact: &Expression, place: &Variable) -> bool {
    let Variable::Part(record, ..) = place else {
        return false;
    };
    let itself = match &*fact.kind {
        ExpressionKind::Present(read) => *read.kind == ExpressionKind::Read((**record).clone()),
        _ => false,
    };
    itself || is_around(fact, record)
}

fn variable_reads(place: &Variable, root: Root) -> bool {
    match (place, root) {
        (Variable::Field(_, kind, field), Root::Field(of, written)) => {
            *kind == of && *field == written
        }
        (Variable::Field(..), Root::AnyField) => true,
        (Variable::Field(Instance::Local(local), ..), Root::Local(of)) => *local == of,
        (Variable::Local(local), Root::Local(of)) => *local == of,
        (Variable::Field(..) | Variable::Local(_), _) => false,
        (Variable::Element(inner, _) | Variable::Part(inner, ..), _) => variable_reads(inner, root),
    }
}
