//! Expressions: in, one of the source; out, its value, with the bounds that are known of it.
//!
//! A sum that cannot leave the range of `integer` is computed in 32 bits; any other in 64 bits, and
//! checked. `and` and `or` evaluate their right operand only if needed.

use super::super::memory::{INTEGERS, bounds, is_boolean};
use super::super::{Fault, Which};
use super::Code;
use crate::ir::op::{Arithmetic, Compare, Floating};
use crate::ir::{Op, Probability, Type as Plain, Value};
use crate::types::estelle::program::{
    Argument, BinaryOperator as Binary, Domain, Expression, ExpressionKind as Kind, Predefined,
    RoutineId, Type, TypeId, UnaryOperator as Unary,
};

/// A value that was computed.
#[derive(Clone, Debug)]
pub enum Computed {
    /// An ordinal number of 32 bits, and its bounds.
    Ordinal(Value, i64, i64),
    /// A boolean, as a bit.
    Bit(Value),
    /// A real number.
    Real(Value),
    /// A set.
    Set(Members),
}

/// A set that was computed.
#[derive(Clone, Debug)]
pub struct Members {
    /// Its words: bit `n` of word `w` is 1 if `w * SET_WORD + n` is a member.
    pub words: Vec<Value>,
    /// The least and the greatest number that may be a member.
    pub bounds: (i64, i64),
}

/// The number with which a turn says that it has found what a loop looks for.
const FOUND: i64 = -1;

/// The number with which a turn says that nothing is left.
pub const DONE: i64 = -2;

impl Code<'_, '_> {
    /// Computes an expression that is no array and no record.
    pub fn value(&mut self, expression: &Expression) -> Computed {
        match &expression.kind {
            Kind::Ordinal(number) => match is_boolean(self.program(), expression.type_id) {
                true => Computed::Bit(self.bit(*number != 0)),
                false => Computed::Ordinal(self.word(*number), *number, *number),
            },
            Kind::Real(number) => Computed::Real(self.op(Op::Real(64, number.to_bits()), &[])),
            Kind::Text(_) => unreachable!("texts are assigned and compared as a whole"),
            Kind::Read(place) => {
                let at = self.locate(place);
                self.load(&at)
            }
            Kind::Unary(operator, operand) => self.unary(*operator, operand),
            Kind::Binary(operator, one, other) => self.binary(*operator, one, other),
            Kind::ToReal(number) => match &number.kind {
                Kind::Ordinal(number) => {
                    let bits = (*number as f64).to_bits();
                    Computed::Real(self.op(Op::Real(64, bits), &[]))
                }
                _varies => {
                    let value = self.value(number);
                    let number = self.number(value);
                    Computed::Real(self.op(Op::Float(Floating::FromInt), &[number]))
                }
            },
            Kind::Call(routine, arguments) => self.function(*routine, arguments),
            Kind::Predefined(function, operand) => self.predefined(*function, operand),
            Kind::Set(items) => self.set(items, expression.type_id),
            Kind::Exist(domain, condition) => self.exist(domain, condition),
        }
    }

    /// Computes a boolean.
    pub fn condition(&mut self, expression: &Expression) -> Value {
        let value = self.value(expression);
        self.plain(value)
    }

    /// The value of one field: a bit, a number of 32 bits, or a real number.
    pub fn plain(&mut self, value: Computed) -> Value {
        match value {
            Computed::Ordinal(value, ..) | Computed::Bit(value) | Computed::Real(value) => value,
            Computed::Set(_) => unreachable!("a set has words"),
        }
    }

    /// The ordinal number of 32 bits of a value.
    pub fn number(&mut self, value: Computed) -> Value {
        match value {
            Computed::Ordinal(value, ..) => value,
            Computed::Bit(value) => self.op(Op::ZeroExtend(32), &[value]),
            Computed::Real(_) | Computed::Set(_) => unreachable!("the checker demands an ordinal"),
        }
    }

    /// The number, which lies between two bounds, or else the function ends with a fault.
    pub fn within(&mut self, value: Computed, (low, high): (i64, i64)) -> Value {
        let (known_low, known_high) = known(&value);
        let number = self.number(value);
        if self.is_trusted((known_low, known_high)) {
            return number;
        }
        if known_low < low {
            let least = self.word(low);
            let below = self.compare(Compare::Slt, number, least);
            self.fails_if(below, Fault::Range);
        }
        if known_high > high {
            let most = self.word(high);
            let above = self.compare(Compare::Slt, most, number);
            self.fails_if(above, Fault::Range);
        }
        number
    }

    /// Returns true for a value with these bounds that is not checked: a subrange in the kernel,
    /// which is correct.
    pub fn is_trusted(&self, (low, high): (i64, i64)) -> bool {
        self.which == Which::Kernel && high - low < INTEGERS.1
    }

    fn unary(&mut self, operator: Unary, operand: &Expression) -> Computed {
        let value = self.value(operand);
        match (operator, value) {
            (Unary::Not, value) => {
                let bit = self.plain(value);
                Computed::Bit(self.op(Op::Not, &[bit]))
            }
            (Unary::Plus, value) => value,
            (Unary::Minus, Computed::Real(value)) => {
                Computed::Real(self.op(Op::Float(Floating::Neg), &[value]))
            }
            (Unary::Minus, value) => {
                let (low, high) = known(&value);
                let zero = self.word(0);
                let number = self.number(value);
                let result = self.arithmetic(Arithmetic::Sub, zero, number);
                Computed::Ordinal(result, -high, -low)
            }
        }
    }

    fn binary(&mut self, operator: Binary, one: &Expression, other: &Expression) -> Computed {
        match operator {
            Binary::And | Binary::Or => {
                let left = self.condition(one);
                let is_and = operator == Binary::And;
                let bit = self.choice(
                    (left, Plain::BIT),
                    |code| match is_and {
                        true => code.condition(other),
                        false => code.bit(true),
                    },
                    |code| match is_and {
                        true => code.bit(false),
                        false => code.condition(other),
                    },
                );
                Computed::Bit(bit)
            }
            Binary::In => self.member(one, other),
            _other if self.is_text(one.type_id) || self.is_text(other.type_id) => {
                Computed::Bit(self.compared_texts(operator, one, other))
            }
            _other => {
                let (left, right) = (self.value(one), self.value(other));
                match (left, right) {
                    (Computed::Real(left), Computed::Real(right)) => {
                        self.reals(operator, left, right)
                    }
                    (Computed::Set(left), Computed::Set(right)) => {
                        self.sets(operator, &left, &right)
                    }
                    (left, right) => self.ordinals(operator, left, right),
                }
            }
        }
    }

    fn is_text(&self, of: TypeId) -> bool {
        matches!(self.program().types[of.index()], Type::Array { .. })
    }

    fn ordinals(&mut self, operator: Binary, one: Computed, other: Computed) -> Computed {
        let (known_one, known_other) = (known(&one), known(&other));
        if let (Computed::Bit(one), Computed::Bit(other)) = (&one, &other)
            && matches!(operator, Binary::Equal | Binary::Unequal)
        {
            let how = match operator {
                Binary::Equal => Compare::Eq,
                _unequal => Compare::Ne,
            };
            return Computed::Bit(self.compare(how, *one, *other));
        }
        let (one, other) = (self.number(one), self.number(other));
        let compared = match operator {
            Binary::Equal => Some((Compare::Eq, one, other)),
            Binary::Unequal => Some((Compare::Ne, one, other)),
            Binary::Less => Some((Compare::Slt, one, other)),
            Binary::LessOrEqual => Some((Compare::Sle, one, other)),
            Binary::Greater => Some((Compare::Slt, other, one)),
            Binary::GreaterOrEqual => Some((Compare::Sle, other, one)),
            Binary::Add
            | Binary::Subtract
            | Binary::Multiply
            | Binary::Div
            | Binary::Mod
            | Binary::Divide
            | Binary::And
            | Binary::Or
            | Binary::In => None,
        };
        if let Some((how, one, other)) = compared {
            return Computed::Bit(self.compare(how, one, other));
        }
        match operator {
            Binary::Div => self.quotient((one, known_one), (other, known_other)),
            Binary::Mod => self.remainder((one, known_one), (other, known_other)),
            _sum => self.sum(operator, (one, known_one), (other, known_other)),
        }
    }

    /// A sum, a difference or a product.
    fn sum(
        &mut self,
        operator: Binary,
        (one, (one_low, one_high)): (Value, (i64, i64)),
        (other, (other_low, other_high)): (Value, (i64, i64)),
    ) -> Computed {
        let (how, low, high) = match operator {
            Binary::Add => (Arithmetic::Add, one_low + other_low, one_high + other_high),
            Binary::Subtract => (Arithmetic::Sub, one_low - other_high, one_high - other_low),
            _multiply => {
                let ends = [
                    one_low * other_low,
                    one_low * other_high,
                    one_high * other_low,
                    one_high * other_high,
                ];
                let least = ends.into_iter().min().unwrap_or(0);
                let most = ends.into_iter().max().unwrap_or(0);
                (Arithmetic::Mul, least, most)
            }
        };
        if INTEGERS.0 <= low && high <= INTEGERS.1 {
            return Computed::Ordinal(self.arithmetic(how, one, other), low, high);
        }
        let [one, other] = [one, other].map(|value| self.op(Op::SignExtend(64), &[value]));
        let wide = self.arithmetic(how, one, other);
        let offset = self.op(Op::Number(64, INTEGERS.1 as u64), &[]);
        let moved = self.arithmetic(Arithmetic::Add, wide, offset);
        let most = self.op(Op::Number(64, 2 * INTEGERS.1 as u64), &[]);
        let beyond = self.compare(Compare::Ult, most, moved);
        self.fails_if(beyond, Fault::Overflow);
        let number = self.op(Op::Truncate(32), &[wide]);
        Computed::Ordinal(number, low.max(INTEGERS.0), high.min(INTEGERS.1))
    }

    /// `div`: towards zero.
    fn quotient(
        &mut self,
        (one, (low, high)): (Value, (i64, i64)),
        (other, divisor): (Value, (i64, i64)),
    ) -> Computed {
        if divisor.0 <= 0 && divisor.1 >= 0 {
            let zero = self.word(0);
            let is_zero = self.compare(Compare::Eq, other, zero);
            self.fails_if(is_zero, Fault::Division);
        }
        let how = match low >= 0 && divisor.0 >= 0 {
            true => Arithmetic::Udiv,
            false => Arithmetic::Sdiv,
        };
        let result = self.arithmetic(how, one, other);
        let most = low.abs().max(high.abs());
        Computed::Ordinal(result, -most, most)
    }

    /// `mod`: of a positive divisor, and never negative.
    fn remainder(
        &mut self,
        (one, (low, _)): (Value, (i64, i64)),
        (other, divisor): (Value, (i64, i64)),
    ) -> Computed {
        let zero = self.word(0);
        if divisor.0 <= 0 {
            let wrong = self.compare(Compare::Sle, other, zero);
            self.fails_if(wrong, Fault::Division);
        }
        let how = match low >= 0 && divisor.0 >= 0 {
            true => Arithmetic::Urem,
            false => Arithmetic::Srem,
        };
        let mut result = self.arithmetic(how, one, other);
        if low < 0 {
            let is_negative = self.compare(Compare::Slt, result, zero);
            let sum = self.arithmetic(Arithmetic::Add, result, other);
            result = self.op(Op::Select, &[is_negative, sum, result]);
        }
        Computed::Ordinal(result, 0, (divisor.1 - 1).max(0))
    }

    fn reals(&mut self, operator: Binary, one: Value, other: Value) -> Computed {
        let (how, operands, is_turned) = match operator {
            Binary::Add => (Floating::Add, [one, other], false),
            Binary::Subtract => (Floating::Sub, [one, other], false),
            Binary::Multiply => (Floating::Mul, [one, other], false),
            Binary::Divide => (Floating::Div, [one, other], false),
            Binary::Equal => (Floating::Eq, [one, other], false),
            Binary::Unequal => (Floating::Eq, [one, other], true),
            Binary::Less => (Floating::Lt, [one, other], false),
            Binary::LessOrEqual => (Floating::Le, [one, other], false),
            Binary::Greater => (Floating::Lt, [other, one], false),
            Binary::GreaterOrEqual => (Floating::Le, [other, one], false),
            Binary::Div | Binary::Mod | Binary::And | Binary::Or | Binary::In => {
                unreachable!("the checker demands integers, booleans or sets")
            }
        };
        if how == Floating::Div {
            let zero = self.op(Op::Real(64, 0), &[]);
            let is_zero = self.op(Op::Float(Floating::Eq), &[other, zero]);
            self.fails_if(is_zero, Fault::Division);
        }
        let result = self.op(Op::Float(how), &operands);
        match (self.build.type_of(result), is_turned) {
            (Plain::Float(_), _) => {
                self.finite(result, Fault::Overflow);
                Computed::Real(result)
            }
            (_, false) => Computed::Bit(result),
            (_, true) => Computed::Bit(self.op(Op::Not, &[result])),
        }
    }

    fn predefined(&mut self, function: Predefined, operand: &Expression) -> Computed {
        let value = self.value(operand);
        match function {
            Predefined::Ord => {
                let (low, high) = known(&value);
                Computed::Ordinal(self.number(value), low, high)
            }
            Predefined::Chr => Computed::Ordinal(self.within(value, (0, 255)), 0, 255),
            Predefined::Succ | Predefined::Pred => {
                let (least, most) = self.whole_range(operand.type_id);
                let bit = matches!(value, Computed::Bit(_));
                let (low, high) = known(&value);
                let step = if function == Predefined::Succ { 1 } else { -1 };
                let by = self.word(step);
                if (least, most) == INTEGERS {
                    let number = self.number(value);
                    return self.sum(Binary::Add, (number, (low, high)), (by, (step, step)));
                }
                let allowed = (least.max(least - step), most.min(most - step));
                let number = self.within(value, allowed);
                let number = self.arithmetic(Arithmetic::Add, number, by);
                match bit {
                    true => Computed::Bit(self.op(Op::Truncate(1), &[number])),
                    false => Computed::Ordinal(number, low + step, high + step),
                }
            }
            Predefined::Odd => {
                let number = self.number(value);
                Computed::Bit(self.op(Op::Truncate(1), &[number]))
            }
            Predefined::Sqr => match value {
                Computed::Real(value) => self.reals(Binary::Multiply, value, value),
                value => {
                    let bounds = known(&value);
                    let number = self.number(value);
                    self.sum(Binary::Multiply, (number, bounds), (number, bounds))
                }
            },
            Predefined::Abs => self.absolute(value),
            Predefined::Trunc | Predefined::Round => {
                let Computed::Real(value) = value else {
                    unreachable!("the checker demands a real number");
                };
                let is_rounded = function == Predefined::Round;
                Computed::Ordinal(self.whole(value, is_rounded), INTEGERS.0, INTEGERS.1)
            }
        }
    }

    fn absolute(&mut self, value: Computed) -> Computed {
        if let Computed::Real(value) = value {
            let zero = self.op(Op::Real(64, 0), &[]);
            let is_negative = self.op(Op::Float(Floating::Lt), &[value, zero]);
            let negated = self.op(Op::Float(Floating::Neg), &[value]);
            return Computed::Real(self.op(Op::Select, &[is_negative, negated, value]));
        }
        let (low, high) = known(&value);
        let number = self.number(value);
        let zero = self.word(0);
        let is_negative = self.compare(Compare::Slt, number, zero);
        let negated = self.arithmetic(Arithmetic::Sub, zero, number);
        let number = self.op(Op::Select, &[is_negative, negated, number]);
        Computed::Ordinal(number, 0, low.abs().max(high.abs()))
    }

    /// The bounds of an ordinal type, for a subrange those of the type of which it is one.
    fn whole_range(&self, of: TypeId) -> (i64, i64) {
        match &self.program().types[of.index()] {
            Type::Subrange { of, .. } => bounds(self.program(), *of),
            _other => bounds(self.program(), of),
        }
    }

    /// `exist`: true if one of the domain satisfies the condition.
    fn exist(&mut self, domain: &Domain, condition: &Expression) -> Computed {
        let stopped = self.each(domain, &mut |code| {
            let holds = code.condition(condition);
            code.stop_where(holds);
        });
        Computed::Bit(self.found(stopped))
    }

    /// Stops the loop of this turn where a bit is 1: it has found what it looks for.
    pub fn stop_where(&mut self, holds: Value) {
        let found = self.word(FOUND);
        let (yes, no) = self.build.branch(holds, Probability::EVEN);
        self.build.go_to(yes);
        self.stops(found);
        self.build.go_to(no);
    }

    /// The bit that says if a loop has found what it looks for; a fault of a turn is handed on.
    pub fn found(&mut self, stopped: Option<Value>) -> Value {
        let Some(number) = stopped else {
            return self.bit(false);
        };
        let found = self.word(FOUND);
        let is_found = self.compare(Compare::Eq, number, found);
        let zero = self.word(0);
        let fault = self.op(Op::Select, &[is_found, zero, number]);
        self.fails_with(fault);
        is_found
    }

    /// Calls a function of the source.
    fn function(&mut self, routine: RoutineId, arguments: &[Argument]) -> Computed {
        let results = self.routine(routine, arguments);
        let of = self.program().routines[routine.index()].result;
        let of = of.expect("a function has a result");
        match &self.program().types[of.index()] {
            _boolean if is_boolean(self.program(), of) => Computed::Bit(results[0]),
            Type::Real => Computed::Real(results[0]),
            Type::Set(element) => {
                let bounds = bounds(self.program(), *element);
                Computed::Set(Members {
                    words: results,
                    bounds,
                })
            }
            _ordinal => {
                let (low, high) = bounds(self.program(), of);
                Computed::Ordinal(results[0], low, high)
            }
        }
    }
}

/// The bounds that are known of an ordinal value.
pub fn known(value: &Computed) -> (i64, i64) {
    match value {
        Computed::Ordinal(_, low, high) => (*low, *high),
        Computed::Bit(_) => (0, 1),
        Computed::Real(_) | Computed::Set(_) => (0, 0),
    }
}
