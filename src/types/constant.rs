//! Constants: in, a checked expression; out, its value, if it has one before the stack is started.
//!
//! Numbers are computed as in a running stack: in 64 bits, cut to the width of their type after
//! each operation (signed ones sign-extended), so that a constant never differs from what the
//! same expression would give later.

use super::expression::{Binary, Expression, ExpressionKind, Unary, Variable};
use super::program::{FunctionId, LocalId, Program};
use super::statement::{Block, StatementKind};
use super::value::{Type, Value};

/// The value of an expression, if it reads nothing but constants.
pub fn fold(program: &Program, expression: &Expression) -> Option<Value> {
    Folder {
        program,
        locals: Vec::new(),
    }
    .value(expression)
}

/// The number that a constant expression gives.
pub fn fold_number(program: &Program, expression: &Expression) -> Option<u64> {
    number(&fold(program, expression)?)
}

/// Bits of a number of this type; `None` of what is no number.
pub fn width(program: &Program, of: &Type) -> Option<u8> {
    match of {
        Type::Unsigned(width) | Type::Signed(width) | Type::Sequence(width) => Some(*width),
        Type::Bool => Some(1),
        Type::Time => Some(64),
        Type::Enum(id) => Some(program.enums[id.at()].width),
        Type::Bytes(_)
        | Type::BoundedBytes(_)
        | Type::UnboundedBytes
        | Type::Record(_)
        | Type::Optional(_)
        | Type::Message
        | Type::Queue(..)
        | Type::Window(..)
        | Type::Stream(..)
        | Type::Array(..)
        | Type::Set(_)
        | Type::Instance(_)
        | Type::Header(_)
        | Type::Abstract(_)
        | Type::Nothing => None,
    }
}

/// Cuts a number to its type: signed ones are extended by their sign.
pub fn cut(program: &Program, of: &Type, value: u64) -> u64 {
    let Some(width) = width(program, of) else {
        return value;
    };
    let unused = 64 - u32::from(width.clamp(1, 64));
    if matches!(of, Type::Signed(_)) {
        ((value << unused) as i64 >> unused) as u64
    } else {
        value << unused >> unused
    }
}

fn number(value: &Value) -> Option<u64> {
    match value {
        Value::Number(number) => Some(*number),
        Value::Bytes(_) | Value::None | Value::Record(_) => None,
    }
}

struct Folder<'a> {
    program: &'a Program,
    /// What is known of the locals of the function that is called.
    locals: Vec<(LocalId, Value)>,
}

impl Folder<'_> {
    fn value(&self, expression: &Expression) -> Option<Value> {
        let result = &expression.result;
        let cut = |value| Some(Value::Number(cut(self.program, result, value)));
        match expression.kind.as_ref() {
            ExpressionKind::Constant(value) => Some(value.clone()),
            ExpressionKind::Read(Variable::Local(local)) => self.local(*local),
            ExpressionKind::Unary(Unary::Not, operand) => cut(u64::from(!self.truth(operand)?)),
            ExpressionKind::Unary(Unary::Negate, operand) => {
                cut(self.number(operand)?.wrapping_neg())
            }
            ExpressionKind::Unary(Unary::Complement, operand) => cut(!self.number(operand)?),
            ExpressionKind::Unary(Unary::Inverse, operand) => {
                cut(u64::from(inverse(self.number(operand)? as u8)))
            }
            ExpressionKind::Binary(operator, left, right) => {
                cut(self.binary(*operator, left, right)?)
            }
            ExpressionKind::If(condition, then, otherwise) => match self.truth(condition)? {
                true => self.value(then),
                false => self.value(otherwise),
            },
            ExpressionKind::Some(operand) | ExpressionKind::Unwrap(operand) => self.value(operand),
            ExpressionKind::Present(operand) => cut(u64::from(self.value(operand)? != Value::None)),
            ExpressionKind::Else(operand, otherwise) => match self.value(operand)? {
                Value::None => self.value(otherwise),
                value => Some(value),
            },
            ExpressionKind::Cast(operand) => cut(self.number(operand)?),
            ExpressionKind::BytesLength(operand) => match self.value(operand)? {
                Value::Bytes(bytes) => cut(bytes.len() as u64),
                Value::Number(_) | Value::None | Value::Record(_) => None,
            },
            ExpressionKind::ByteAt(operand, index) => match self.value(operand)? {
                Value::Bytes(bytes) => {
                    let index = usize::try_from(self.number(index)?).ok()?;
                    cut(u64::from(*bytes.get(index)?))
                }
                Value::Number(_) | Value::None | Value::Record(_) => None,
            },
            ExpressionKind::Bounded(operand) => self.value(operand),
            ExpressionKind::Call(function, arguments) => self.call(*function, arguments),
            ExpressionKind::Least(left, right) => match self.less(left, right)? {
                true => self.value(left),
                false => self.value(right),
            },
            ExpressionKind::Greatest(left, right) => match self.less(left, right)? {
                true => self.value(right),
                false => self.value(left),
            },
            ExpressionKind::Read(_)
            | ExpressionKind::Config(_)
            | ExpressionKind::Key(..)
            | ExpressionKind::Header(..)
            | ExpressionKind::Peeked(..)
            | ExpressionKind::HeaderPresent(..)
            | ExpressionKind::PeekedPresent(..)
            | ExpressionKind::OptionsHold(_)
            | ExpressionKind::Attribute(..)
            | ExpressionKind::Length(_)
            | ExpressionKind::WholeLength
            | ExpressionKind::Below
            | ExpressionKind::Now
            | ExpressionKind::Signal(_)
            | ExpressionKind::Query(_)
            | ExpressionKind::Through(..) => None,
        }
    }

    fn number(&self, expression: &Expression) -> Option<u64> {
        number(&self.value(expression)?)
    }

    fn truth(&self, expression: &Expression) -> Option<bool> {
        Some(self.number(expression)? != 0)
    }

    fn local(&self, local: LocalId) -> Option<Value> {
        let known = self.locals.iter().rev().find(|(name, _)| *name == local);
        known.map(|(_, value)| value.clone())
    }

    /// Whether the left operand comes before the right in the order of their type.
    fn less(&self, left: &Expression, right: &Expression) -> Option<bool> {
        if let Type::Unsigned(width) = left.result {
            let most = u64::MAX >> (64 - width.clamp(1, 64));
            if self.number(right) == Some(0) || self.number(left) == Some(most) {
                return Some(false); // whatever the other is
            }
        }
        let (a, b) = (self.number(left)?, self.number(right)?);
        if matches!(left.result, Type::Signed(_)) {
            return Some((a as i64) < b as i64);
        }
        if let Type::Sequence(width) = left.result {
            let distance = cut(self.program, &left.result, b.wrapping_sub(a));
            return Some(distance != 0 && distance < 1 << (width - 1));
        }
        if let Type::Enum(id) = left.result {
            let names = &self.program.enums[id.at()].names;
            let place = |value| names.iter().position(|(_, named)| *named == value);
            return Some(place(a).unwrap_or(names.len()) < place(b).unwrap_or(names.len()));
        }
        Some(a < b)
    }

    fn binary(&self, operator: Binary, left: &Expression, right: &Expression) -> Option<u64> {
        let equal = || Some(self.value(left)? == self.value(right)?);
        let numbers = || Some((self.number(left)?, self.number(right)?));
        let signed = matches!(left.result, Type::Signed(_));
        Some(match operator {
            Binary::Or => u64::from(self.truth(left)? || self.truth(right)?),
            Binary::And => u64::from(self.truth(left)? && self.truth(right)?),
            Binary::Equal => u64::from(equal()?),
            Binary::Unequal => u64::from(!equal()?),
            Binary::Less => u64::from(self.less(left, right)?),
            Binary::AtMost => u64::from(!self.less(right, left)?),
            Binary::Greater => u64::from(self.less(right, left)?),
            Binary::AtLeast => u64::from(!self.less(left, right)?),
            Binary::BitOr => numbers().map(|(a, b)| a | b)?,
            Binary::BitXor => numbers().map(|(a, b)| a ^ b)?,
            Binary::BitAnd => numbers().map(|(a, b)| a & b)?,
            Binary::ShiftLeft => numbers().map(|(a, b)| shift(b, |by| a.checked_shl(by)))?,
            Binary::ShiftRight if signed => {
                numbers().map(|(a, b)| (a as i64 >> b.min(63)) as u64)?
            }
            Binary::ShiftRight => numbers().map(|(a, b)| shift(b, |by| a.checked_shr(by)))?,
            Binary::Add => numbers().map(|(a, b)| a.wrapping_add(b))?,
            Binary::Subtract => numbers().map(|(a, b)| a.wrapping_sub(b))?,
            Binary::Multiply => numbers().map(|(a, b)| a.wrapping_mul(b))?,
            Binary::Divide if signed => {
                let (a, b) = numbers()?;
                (b != 0).then(|| (a as i64).wrapping_div(b as i64) as u64)?
            }
            Binary::Remainder if signed => {
                let (a, b) = numbers()?;
                (b != 0).then(|| (a as i64).wrapping_rem(b as i64) as u64)?
            }
            Binary::Divide => numbers().and_then(|(a, b)| a.checked_div(b))?,
            Binary::Remainder => numbers().and_then(|(a, b)| a.checked_rem(b))?,
        })
    }

    /// Functions of one expression, or of `let`s and a `return`.
    fn call(&self, function: FunctionId, arguments: &[Expression]) -> Option<Value> {
        let function = &self.program.functions[function.at()];
        let body: &Block = function.body.as_ref()?;
        let mut inner = Folder {
            program: self.program,
            locals: Vec::new(),
        };
        for (place, argument) in arguments.iter().enumerate() {
            let value = self.value(argument)?;
            inner.locals.push((LocalId(place as u32), value));
        }
        for statement in body {
            if let StatementKind::Return(value) = &statement.kind {
                return inner.value(value);
            }
            let StatementKind::Let(local, value) = &statement.kind else {
                return None;
            };
            let value = inner.value(value)?;
            inner.locals.push((*local, value));
        }
        None
    }
}

fn shift(by: u64, shifted: impl Fn(u32) -> Option<u64>) -> u64 {
    u32::try_from(by).ok().and_then(shifted).unwrap_or(0)
}

/// Multiplies two bytes in GF(256), the field modulo 0x11b, bit by bit. The C has tables instead,
/// so comparing both tests both.
pub fn product(one: u8, other: u8) -> u8 {
    let mut sum = 0;
    let mut shifted = one;
    for bit in 0..8 {
        if other >> bit & 1 == 1 {
            sum ^= shifted;
        }
        let carry = shifted >> 7;
        shifted = (shifted << 1) ^ (carry * 0x1b);
    }
    sum
}

/// Returns the inverse of a byte in GF(256), or 0 for 0: its 254th power.
pub fn inverse(of: u8) -> u8 {
    (0..254).fold(1, |power, _| product(power, of))
}

#[cfg(test)]
mod tests {
    use super::{inverse, product};

    #[test]
    fn products_are_those_of_the_standard() {
        assert_eq!(product(0x57, 0x83), 0xc1);
        assert_eq!(product(0x57, 0x13), 0xfe);
    }

    #[test]
    fn a_number_times_its_inverse_is_one() {
        assert_eq!(inverse(0), 0);
        for number in 1..=255 {
            assert_eq!(product(number, inverse(number)), 1);
        }
    }
}
