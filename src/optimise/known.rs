//! What is known to hold, and values without it: equal things stand for each other.
//!
//! In: conditions that hold, what locals hold, and a value. Out: the same value, found with less.
//! Numbers are sums modulo their width, so that what is equal falls out of a difference.
//!
//! ```text
//! known                   value                                         gives
//! number == next          number - next < wide or wide == 0             wide != 0 or wide == 0
//! length != 0             length == 0 and number == first               false
//! ```

use super::simpler::{negated, opposite};
use crate::tree::rename::Renaming;
use crate::types::constant;
use crate::types::expression::{Binary, Expression, ExpressionKind, Unary, Variable};
use crate::types::program::{LocalId, Program};
use crate::types::value::{Type, Value};

/// What is known.
#[derive(Clone)]
pub struct Known<'a> {
    program: &'a Program,
    /// Conditions that hold.
    facts: Vec<Expression>,
    /// What stands for what.
    same: Vec<(Expression, Expression)>,
}

impl<'a> Known<'a> {
    /// Nothing.
    pub fn nothing(program: &'a Program) -> Known<'a> {
        Known {
            program,
            facts: Vec::new(),
            same: Vec::new(),
        }
    }

    /// Learns what a local holds as long as this is of use.
    pub fn hold(&mut self, local: LocalId, value: &Expression) {
        let value = self.reduced(value);
        self.stand(Expression::local(local, value.result.clone()), value);
    }

    /// Learns that a condition holds.
    pub fn learn(&mut self, condition: &Expression) {
        let condition = self.reduced(condition);
        match &*condition.kind {
            ExpressionKind::Constant(_) => return,
            ExpressionKind::Binary(Binary::And, one, other) => {
                self.learn(one);
                return self.learn(other);
            }
            ExpressionKind::Binary(Binary::Equal, one, other) if one.result == other.result => {
                match (rank(one), rank(other)) {
                    (Some(left), Some(right)) if left > right => {
                        self.stand(one.clone(), other.clone());
                    }
                    (Some(left), Some(right)) if left < right => {
                        self.stand(other.clone(), one.clone());
                    }
                    _ => {}
                }
            }
            _ => {}
        }
        self.facts.push(condition);
    }

    /// From here on one thing stands for another, also in what is known.
    fn stand(&mut self, of: Expression, by: Expression) {
        let one = Known {
            program: self.program,
            facts: Vec::new(),
            same: vec![(of, by)],
        };
        for fact in &mut self.facts {
            *fact = one.reduced(fact);
        }
        for (_, value) in &mut self.same {
            *value = one.reduced(value);
        }
        self.same.extend(one.same);
    }

    /// Forgets what concerns this.
    pub fn forget(&mut self, concerns: impl Fn(&Expression) -> bool) {
        self.facts.retain(|fact| !concerns(fact));
        self.same
            .retain(|(of, value)| !concerns(of) && !concerns(value));
    }

    /// A value that is found with less, or the same.
    pub fn given(&self, value: &Expression) -> Expression {
        let reduced = self.reduced(value);
        match size(&reduced) < size(value) {
            true => reduced,
            false => value.clone(),
        }
    }

    /// Whether a condition holds, if that is known.
    pub fn truth(&self, condition: &Expression) -> Option<bool> {
        self.reduced(condition).truth()
    }

    /// The same with some more condition.
    fn with(&self, condition: Expression) -> Known<'a> {
        let mut more = self.clone();
        more.learn(&condition);
        more
    }

    /// A value in which stands what stands for its parts.
    pub fn reduced(&self, value: &Expression) -> Expression {
        if let Some((_, other)) = self.same.iter().find(|(of, _)| of == value) {
            return self.reduced(other);
        }
        let made = match &*value.kind {
            ExpressionKind::Binary(Binary::And, one, other) => {
                let one = self.reduced(one);
                match one.truth() {
                    Some(true) => self.reduced(other),
                    Some(false) => one,
                    None => both(&one, self.with(one.clone()).reduced(other)),
                }
            }
            ExpressionKind::Binary(Binary::Or, one, other) => {
                let one = self.reduced(one);
                match one.truth() {
                    Some(false) => self.reduced(other),
                    Some(true) => one,
                    None => either(&one, self.with(negated(one.clone())).reduced(other)),
                }
            }
            ExpressionKind::If(asked, one, other) => self.chosen(asked, one, other),
            ExpressionKind::Unary(Unary::Not, inner) => negated(self.reduced(inner)),
            ExpressionKind::Binary(operator, one, other) => self.counted(
                *operator,
                self.reduced(one),
                self.reduced(other),
                value.result.clone(),
            ),
            _ => self.parts(value),
        };
        let is_constant = matches!(*made.kind, ExpressionKind::Constant(_));
        if !is_constant && let Some(number) = constant::fold_number(self.program, &made) {
            return Expression::number(number, made.result);
        }
        if made.result != Type::Bool {
            return made;
        }
        match made.truth().or_else(|| self.settled(&made)) {
            Some(truth) => Expression::number(u64::from(truth), Type::Bool),
            None => made,
        }
    }

    /// The same value of reduced parts.
    fn parts(&self, value: &Expression) -> Expression {
        let replaced = |part: &Expression| match std::ptr::eq(part, value) {
            true => None,
            false => Some(self.reduced(part)),
        };
        let renaming = Renaming {
            local: &|local| local,
            instance: &|instance| instance,
            replaced: &replaced,
        };
        renaming.expression(value)
    }

    /// Whether a condition is known.
    fn settled(&self, condition: &Expression) -> Option<bool> {
        let is = |known: &Expression| self.facts.iter().any(|fact| alike(fact, known));
        if is(condition) {
            return Some(true);
        }
        is(&negated(condition.clone())).then_some(false)
    }

    /// One of two values.
    fn chosen(&self, asked: &Expression, one: &Expression, other: &Expression) -> Expression {
        let asked = self.reduced(asked);
        let here = |holds: bool, value: &Expression| {
            let condition = match holds {
                true => asked.clone(),
                false => negated(asked.clone()),
            };
            self.with(condition).reduced(value)
        };
        match asked.truth() {
            Some(true) => return self.reduced(one),
            Some(false) => return self.reduced(other),
            None => {}
        }
        let (one, other) = (here(true, one), here(false, other));
        match (one.result == Type::Bool, one.truth(), other.truth()) {
            _ if one == other => one,
            (true, Some(true), _) => self.reduced(&either(&asked, other)),
            (true, Some(false), _) => self.reduced(&both(&negated(asked), other)),
            (true, _, Some(true)) => self.reduced(&either(&negated(asked), one)),
            (true, _, Some(false)) => self.reduced(&both(&asked, one)),
            _ => {
                let result = one.result.clone();
                Expression::new(ExpressionKind::If(asked, one, other), result)
            }
        }
    }

    /// An operator of two reduced numbers.
    fn counted(
        &self,
        operator: Binary,
        one: Expression,
        other: Expression,
        result: Type,
    ) -> Expression {
        if one == other && opposite(operator).is_some() {
            let truth = matches!(operator, Binary::Equal | Binary::AtMost | Binary::AtLeast);
            return Expression::number(u64::from(truth), result);
        }
        let plain = Expression::binary(operator, one.clone(), other.clone(), result.clone());
        let Some(width) =
            modular(&one.result).filter(|width| modular(&other.result) == Some(*width))
        else {
            return plain;
        };
        let sum = |of: &Expression, sign| {
            let mut sum = Sum::of(width);
            sum.add(of, sign);
            sum
        };
        match operator {
            Binary::Add | Binary::Subtract if modular(&result) == Some(width) => {
                match sum(&plain, 1).value(&result) {
                    Some(value) if size(&value) < size(&plain) => value,
                    _ => plain,
                }
            }
            _ if opposite(operator).is_none() => plain,
            _ => {
                let mut difference = sum(&one, 1);
                difference.add(&other, -1);
                let is_sequence = matches!(one.result, Type::Sequence(_));
                match difference.compared(operator, is_sequence) {
                    Some(truth) => Expression::number(u64::from(truth), Type::Bool),
                    None => least(operator, plain, &one, &other),
                }
            }
        }
    }
}

/// No number is less than 0.
fn least(operator: Binary, plain: Expression, one: &Expression, other: &Expression) -> Expression {
    let is_zero = |of: &Expression| matches!(*of.kind, ExpressionKind::Constant(Value::Number(0)));
    if !matches!(one.result, Type::Unsigned(_)) {
        return plain;
    }
    let operator = match operator {
        Binary::Less if is_zero(one) => Binary::Unequal,
        Binary::Greater if is_zero(other) => Binary::Unequal,
        Binary::AtMost if is_zero(other) => Binary::Equal,
        Binary::AtLeast if is_zero(one) => Binary::Equal,
        _ => return plain,
    };
    let (one, other) = match is_zero(one) {
        true => (other, one),
        false => (one, other),
    };
    Expression::binary(operator, one.clone(), other.clone(), Type::Bool)
}

/// A sum of terms, modulo a power of two.
struct Sum {
    width: u8,
    terms: Vec<(Expression, i64)>,
    constant: u64,
}

impl Sum {
    fn of(width: u8) -> Sum {
        Sum {
            width,
            terms: Vec::new(),
            constant: 0,
        }
    }

    fn add(&mut self, value: &Expression, sign: i64) {
        let is_wide = |part: &Expression| modular(&part.result) == Some(self.width);
        match &*value.kind {
            ExpressionKind::Constant(Value::Number(number)) => {
                let number = number.wrapping_mul(sign as u64);
                self.constant = self.constant.wrapping_add(number);
            }
            ExpressionKind::Binary(operator @ (Binary::Add | Binary::Subtract), one, other)
                if is_wide(one) && is_wide(other) =>
            {
                self.add(one, sign);
                let turned = if *operator == Binary::Add {
                    sign
                } else {
                    -sign
                };
                self.add(other, turned);
            }
            _ => {
                match self.terms.iter_mut().find(|(term, _)| term == value) {
                    Some((_, times)) => *times += sign,
                    None => self.terms.push((value.clone(), sign)),
                }
                self.terms.retain(|(_, times)| *times != 0);
            }
        }
    }

    /// The constant, if it is nothing else; by its sign.
    fn alone(&self) -> Option<i64> {
        let unused = 64 - u32::from(self.width);
        let number = (self.constant << unused) as i64 >> unused;
        self.terms.is_empty().then_some(number)
    }

    /// What a comparison of two numbers gives, of which this is the difference.
    fn compared(&self, operator: Binary, is_sequence: bool) -> Option<bool> {
        let difference = self.alone()?;
        match operator {
            Binary::Equal => Some(difference == 0),
            Binary::Unequal => Some(difference != 0),
            // Who is greater, the difference does not say where it may have wrapped.
            _ if !is_sequence && difference != 0 => None,
            Binary::Less => Some(difference < 0),
            Binary::AtMost => Some(difference <= 0),
            Binary::Greater => Some(difference > 0),
            Binary::AtLeast => Some(difference >= 0),
            _computes => None,
        }
    }

    /// The sum as a value of a type, if it is short.
    fn value(&self, result: &Type) -> Option<Expression> {
        let unused = 64 - u32::from(self.width);
        let constant = self.constant << unused >> unused;
        let cast = |term: &Expression| match term.result == *result {
            true => term.clone(),
            false => Expression::new(ExpressionKind::Cast(term.clone()), result.clone()),
        };
        match (&self.terms[..], constant) {
            ([], constant) => Some(Expression::number(constant, result.clone())),
            ([(term, 1)], 0) => Some(cast(term)),
            _ => None,
        }
    }
}

/// How wide a number is that counts modulo its width.
fn modular(kind: &Type) -> Option<u8> {
    match kind {
        Type::Unsigned(width) | Type::Sequence(width) => Some(*width),
        _ => None,
    }
}

/// What stands for what: the higher for the lower; none of what is computed.
fn rank(value: &Expression) -> Option<u8> {
    match &*value.kind {
        ExpressionKind::Constant(_) => Some(0),
        ExpressionKind::Config(_) | ExpressionKind::Key(..) => Some(1),
        ExpressionKind::Read(Variable::Field(..)) => Some(2),
        ExpressionKind::Header(..) => Some(3),
        _ => None,
    }
}

/// Whether two conditions are one, whichever side stands first: but of sequence numbers that are
/// half a range apart each is before the other.
fn alike(one: &Expression, other: &Expression) -> bool {
    let mirrored = |of: &Expression| match &*of.kind {
        ExpressionKind::Binary(operator, left, right)
            if matches!(operator, Binary::Equal | Binary::Unequal)
                || opposite(*operator).is_some() && !matches!(left.result, Type::Sequence(_)) =>
        {
            let (right, left) = (right.clone(), left.clone());
            let operator = operator.mirrored();
            Some(Expression::binary(operator, right, left, Type::Bool))
        }
        _ => None,
    };
    one == other || mirrored(one).is_some_and(|one| one == *other)
}

fn both(one: &Expression, other: Expression) -> Expression {
    joined(Binary::And, one, other)
}

fn either(one: &Expression, other: Expression) -> Expression {
    joined(Binary::Or, one, other)
}

/// Two conditions, the second of which may be known.
fn joined(operator: Binary, one: &Expression, other: Expression) -> Expression {
    let settles = operator == Binary::Or;
    match (one.truth(), other.truth()) {
        (Some(truth), _) if truth == settles => one.clone(),
        (Some(_), _) => other,
        (_, Some(truth)) if truth == settles => other,
        (_, Some(_)) => one.clone(),
        (None, None) => Expression::binary(operator, one.clone(), other, Type::Bool),
    }
}

/// How much there is to find.
fn size(value: &Expression) -> usize {
    let parts = value.parts().into_iter().map(size).sum::<usize>();
    match &*value.kind {
        ExpressionKind::Constant(_) => 1,
        // What a condition is made of is to be seen.
        ExpressionKind::Read(Variable::Local(_)) if value.result == Type::Bool => 1000,
        ExpressionKind::Read(Variable::Local(_)) => 4,
        ExpressionKind::Unary(Unary::Not, _) => parts,
        _ => parts + 3,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::types::expression::Instance;
    use crate::types::program::{FieldId, HeaderFieldId, HeaderId, KindId};

    fn header(at: u32, result: Type) -> Expression {
        let kind = ExpressionKind::Header(HeaderId(0), HeaderFieldId(at));
        Expression::new(kind, result)
    }

    fn field(at: u32, result: Type) -> Expression {
        let place = Variable::Field(Instance::Local(LocalId(0)), KindId(0), FieldId(at));
        Expression::new(ExpressionKind::Read(place), result)
    }

    fn compared(operator: Binary, one: &Expression, other: &Expression) -> Expression {
        Expression::binary(operator, one.clone(), other.clone(), Type::Bool)
    }

    const SEQUENCE: Type = Type::Sequence(32);
    const NUMBER: Type = Type::Unsigned(32);

    #[test]
    fn what_is_equal_stands_for_each_other() {
        let program = Program::default();
        let (number, next) = (header(0, SEQUENCE), field(0, SEQUENCE));
        let (wide, zero) = (field(1, NUMBER), Expression::number(0, NUMBER));
        let ahead = Expression::binary(Binary::Subtract, number.clone(), next.clone(), NUMBER);
        let mut known = Known::nothing(&program);
        let within = compared(Binary::Less, &ahead, &wide);
        assert_eq!(known.given(&within), within, "nothing is known");
        known.learn(&compared(Binary::Equal, &number, &next));
        let is_open = compared(Binary::Unequal, &wide, &zero);
        assert_eq!(known.given(&within), is_open);
        let shut = compared(Binary::Equal, &wide, &zero);
        let either = Expression::binary(Binary::Or, shut, within, Type::Bool);
        assert_eq!(known.truth(&either), Some(true));
        let more = Expression::number(7, NUMBER);
        let later = Expression::binary(Binary::Add, number, more, SEQUENCE);
        assert_eq!(
            known.truth(&compared(Binary::Greater, &later, &next)),
            Some(true)
        );
        assert_eq!(
            known.truth(&compared(Binary::AtMost, &later, &next)),
            Some(false)
        );
    }

    #[test]
    fn plain_numbers_that_may_have_wrapped_are_not_compared() {
        let program = Program::default();
        let (one, three) = (field(0, NUMBER), Expression::number(3, NUMBER));
        let more = Expression::binary(Binary::Add, one.clone(), three, NUMBER);
        let known = Known::nothing(&program);
        assert_eq!(known.truth(&compared(Binary::Less, &one, &more)), None);
        assert_eq!(
            known.truth(&compared(Binary::Equal, &one, &more)),
            Some(false)
        );
    }

    #[test]
    fn what_a_local_holds_is_seen_with_what_is_learnt_later() {
        let program = Program::default();
        let bit = header(1, Type::Bool);
        let cast = Expression::new(ExpressionKind::Cast(bit.clone()), NUMBER);
        let length = header(0, NUMBER);
        let sum = Expression::binary(Binary::Add, length.clone(), cast, NUMBER);
        let mut known = Known::nothing(&program);
        known.hold(LocalId(4), &sum);
        known.learn(&negated(bit));
        let local = Expression::local(LocalId(4), NUMBER);
        assert_eq!(known.reduced(&local), length);
        known.forget(|value| *value == sum);
        assert_eq!(known.reduced(&local), local);
    }
}
