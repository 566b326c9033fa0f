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
use super::value::operands;
use crate::tree::rename::Renaming;
use crate::types::constant;
use crate::types::expression::{Binary, Expression, ExpressionKind, Unary, Variable};
use crate::types::program::{LocalId, Program};
use crate::types::value::{Type, Value};
use indexmap::{IndexMap, IndexSet};
use std::cell::RefCell;
use std::collections::{BTreeSet, HashMap};

/// A value that a local holds stands for it if it has no more operands; so a chain of steps that
/// count up one number stays short to compare.
const LONG: usize = 24;

/// The index of a value among [`Known::values`].
type Id = usize;

/// What is known.
///
/// Each condition and value is stored once, with the places that it reads, so a place that gets a
/// value is put into only those conditions that read it, and whether a condition is known is one
/// look-up. What is learnt can be taken back: [`Known::mark`] and [`Known::back`].
#[derive(Clone)]
pub struct Known<'a> {
    program: &'a Program,
    /// All conditions and values that were ever known.
    values: IndexSet<Expression>,
    /// Which of them read a place.
    readers: HashMap<Expression, Vec<Id>>,
    /// Conditions that hold.
    facts: BTreeSet<Id>,
    /// The values that stand for places, by place.
    same: IndexMap<Expression, Id>,
    /// What was changed, to be taken back.
    changes: Vec<Change>,
}

/// One change of what is known.
#[derive(Clone)]
enum Change {
    /// A condition holds from here on.
    Learnt(Id),
    /// It may hold no more.
    Forgotten(Id),
    /// A value stands for a place, for which another one may have stood.
    Stands(Expression, Option<Id>),
}

impl<'a> Known<'a> {
    /// Nothing.
    pub fn nothing(program: &'a Program) -> Known<'a> {
        Known {
            program,
            values: IndexSet::new(),
            readers: HashMap::new(),
            facts: BTreeSet::new(),
            same: IndexMap::new(),
            changes: Vec::new(),
        }
    }

    /// How much has been learnt: [`Known::back`] returns to this state.
    pub fn mark(&self) -> usize {
        self.changes.len()
    }

    /// Takes back all that was learnt and forgotten since a mark.
    pub fn back(&mut self, mark: usize) {
        for change in self.changes.drain(mark..).rev() {
            match change {
                Change::Learnt(fact) => drop(self.facts.remove(&fact)),
                Change::Forgotten(fact) => drop(self.facts.insert(fact)),
                Change::Stands(place, Some(value)) => drop(self.same.insert(place, value)),
                Change::Stands(place, None) => drop(self.same.swap_remove(&place)),
            }
        }
    }

    /// Learns what a local holds as long as this is of use: a long value is not looked into.
    pub fn hold(&mut self, local: LocalId, value: &Expression) {
        let value = self.reduced(value);
        if operands(&value) <= LONG {
            self.stand(Expression::local(local, value.result.clone()), value);
        }
    }

    /// Learns that a condition holds.
    pub fn learn(&mut self, condition: &Expression) {
        let condition = self.reduced(condition);
        self.learn_reduced(condition);
    }

    /// The same of a condition in which stands already what stands for its parts.
    fn learn_reduced(&mut self, condition: Expression) {
        match &*condition.kind {
            ExpressionKind::Constant(_) => return,
            ExpressionKind::Binary(Binary::And, one, other) => {
                // The second was reduced where the first holds.
                self.learn_reduced(one.clone());
                return self.learn_reduced(other.clone());
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
        self.holds(condition);
    }

    /// Adds a condition to those that hold.
    fn holds(&mut self, condition: Expression) {
        let fact = self.known(condition);
        if self.facts.insert(fact) {
            self.changes.push(Change::Learnt(fact));
        }
    }

    /// Removes a condition from those that hold.
    fn holds_no_more(&mut self, fact: Id) {
        if self.facts.remove(&fact) {
            self.changes.push(Change::Forgotten(fact));
        }
    }

    /// Puts a value into the place of another, or of none.
    fn set(&mut self, place: Expression, value: Option<Id>) {
        let before = match value {
            Some(value) => self.same.insert(place.clone(), value),
            None => self.same.swap_remove(&place),
        };
        self.changes.push(Change::Stands(place, before));
    }

    /// The index of a value, which is stored if it is new.
    fn known(&mut self, value: Expression) -> Id {
        if let Some(id) = self.values.get_index_of(&value) {
            return id;
        }
        let id = self.values.len();
        let mut places = Vec::new();
        read_places(&value, &mut places);
        for place in places {
            let readers = self.readers.entry(place).or_default();
            if readers.last() != Some(&id) {
                readers.push(id);
            }
        }
        self.values.insert(value);
        id
    }

    /// From here on a value stands for a place, also in what is known.
    fn stand(&mut self, place: Expression, value: Expression) {
        let value = self.known(value);
        if let Some(reading) = self.readers.get(&place).cloned() {
            let mut one = Known::nothing(self.program);
            let by = one.known(self.values[value].clone());
            one.same.insert(place.clone(), by);
            for reader in &reading {
                if self.facts.contains(reader) {
                    let fact = one.reduced(&self.values[*reader]);
                    self.holds_no_more(*reader);
                    self.holds(fact);
                }
            }
            let held = self.same.iter().filter(|(_, held)| reading.contains(held));
            let held: Vec<(Expression, Id)> = held.map(|(of, held)| (of.clone(), *held)).collect();
            for (of, held) in held {
                let held = one.reduced(&self.values[held]);
                let held = self.known(held);
                self.set(of, Some(held));
            }
        }
        if !self.same.contains_key(&place) {
            self.set(place, Some(value));
        }
    }

    /// Forgets what concerns this.
    pub fn forget(&mut self, concerns: impl Fn(&Expression) -> bool) {
        let facts = self.facts.iter().copied();
        let facts: Vec<Id> = facts.filter(|fact| concerns(&self.values[*fact])).collect();
        facts.into_iter().for_each(|fact| self.holds_no_more(fact));
        let same = self.same.iter();
        let same = same.filter(|(of, value)| concerns(of) || concerns(&self.values[**value]));
        let same: Vec<Expression> = same.map(|(of, _)| of.clone()).collect();
        same.into_iter().for_each(|of| self.set(of, None));
    }

    /// A value that is found with less, or the same.
    pub fn given(&mut self, value: &Expression) -> Expression {
        let reduced = self.reduced(value);
        match size(&reduced) < size(value) {
            true => reduced,
            false => value.clone(),
        }
    }

    /// Whether a condition holds, if that is known.
    pub fn truth(&mut self, condition: &Expression) -> Option<bool> {
        self.reduced(condition).truth()
    }

    /// A value where some more condition holds, which is reduced.
    fn where_it_holds(&mut self, condition: Expression, value: &Expression) -> Expression {
        let mark = self.mark();
        self.learn_reduced(condition);
        let value = self.reduced(value);
        self.back(mark);
        value
    }

    /// A chain of `and` or of `or`, each part of which is looked at where those before it do not
    /// settle it.
    fn chain(&mut self, operator: Binary, value: &Expression) -> Expression {
        let settles = operator == Binary::Or;
        let mut parts = Vec::new();
        let mut at = value;
        while let ExpressionKind::Binary(other, one, last) = &*at.kind
            && *other == operator
        {
            parts.push(last);
            at = one;
        }
        let mark = self.mark();
        let mut made = self.reduced(at);
        let mut last = made.clone();
        for part in parts.into_iter().rev() {
            match made.truth().or_else(|| self.settled(&made)) {
                Some(truth) if truth == settles => {
                    made = Expression::number(u64::from(truth), Type::Bool);
                    break;
                }
                Some(_) => {
                    made = self.reduced(part);
                    last = made.clone();
                }
                None => {
                    let open = if settles { negated(last) } else { last };
                    self.learn_reduced(open);
                    last = self.reduced(part);
                    made = joined(operator, &made, last.clone());
                }
            }
        }
        self.back(mark);
        made
    }

    /// What stands for a place.
    fn stands_for(&self, value: &Expression) -> Option<&Expression> {
        let is_place = rank(value).is_some() || is_local(value);
        let id = self.same.get(value).filter(|_| is_place)?;
        Some(&self.values[*id])
    }

    /// A value in which stands what stands for its parts.
    pub fn reduced(&mut self, value: &Expression) -> Expression {
        if let Some(other) = self.stands_for(value).cloned() {
            return self.reduced(&other);
        }
        let made = match &*value.kind {
            ExpressionKind::Binary(operator @ (Binary::And | Binary::Or), ..) => {
                self.chain(*operator, value)
            }
            ExpressionKind::If(asked, one, other) => self.chosen(asked, one, other),
            ExpressionKind::Unary(Unary::Not, inner) => negated(self.reduced(inner)),
            ExpressionKind::Binary(operator, one, other) => {
                let (one, other) = (self.reduced(one), self.reduced(other));
                counted(*operator, one, other, value.result.clone())
            }
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
    fn parts(&mut self, value: &Expression) -> Expression {
        let known = RefCell::new(self);
        let replaced = |part: &Expression| match std::ptr::eq(part, value) {
            true => None,
            false => Some(known.borrow_mut().reduced(part)),
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
        if self.is_fact(condition) {
            return Some(true);
        }
        self.is_fact(&negated(condition.clone())).then_some(false)
    }

    /// Whether a condition is among those that hold, whichever side stands first.
    fn is_fact(&self, condition: &Expression) -> bool {
        let is = |condition: &Expression| {
            let fact = self.values.get_index_of(condition);
            fact.is_some_and(|fact| self.facts.contains(&fact))
        };
        is(condition) || mirrored(condition).is_some_and(|other| is(&other))
    }

    /// One of two values.
    fn chosen(&mut self, asked: &Expression, one: &Expression, other: &Expression) -> Expression {
        let asked = self.reduced(asked);
        match asked.truth() {
            Some(true) => return self.reduced(one),
            Some(false) => return self.reduced(other),
            None => {}
        }
        let one = self.where_it_holds(asked.clone(), one);
        let other = self.where_it_holds(negated(asked.clone()), other);
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
}

/// An operator of two reduced numbers.
fn counted(operator: Binary, one: Expression, other: Expression, result: Type) -> Expression {
    if one == other && opposite(operator).is_some() {
        let truth = matches!(operator, Binary::Equal | Binary::AtMost | Binary::AtLeast);
        return Expression::number(u64::from(truth), result);
    }
    let plain = Expression::binary(operator, one.clone(), other.clone(), result.clone());
    let Some(width) = modular(&one.result).filter(|width| modular(&other.result) == Some(*width))
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

/// The condition with its sides turned: but of sequence numbers that are half a range apart each is
/// before the other.
fn mirrored(of: &Expression) -> Option<Expression> {
    match &*of.kind {
        ExpressionKind::Binary(operator, left, right)
            if matches!(operator, Binary::Equal | Binary::Unequal)
                || opposite(*operator).is_some() && !matches!(left.result, Type::Sequence(_)) =>
        {
            let (right, left) = (right.clone(), left.clone());
            let operator = operator.mirrored();
            Some(Expression::binary(operator, right, left, Type::Bool))
        }
        _ => None,
    }
}

fn is_local(value: &Expression) -> bool {
    matches!(*value.kind, ExpressionKind::Read(Variable::Local(_)))
}

/// Adds the places that a value reads, for which another value may stand.
fn read_places(value: &Expression, places: &mut Vec<Expression>) {
    let is_constant = matches!(*value.kind, ExpressionKind::Constant(_));
    if !is_constant && (rank(value).is_some() || is_local(value)) {
        places.push(value.clone());
    }
    for part in value.parts() {
        read_places(part, places);
    }
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
        let mut known = Known::nothing(&program);
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
