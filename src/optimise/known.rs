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
use super::value::{Looks, operands};
use crate::tree::rename::Renaming;
use crate::types::constant;
use crate::types::expression::{Binary, Expression, ExpressionKind, Unary, Variable};
use crate::types::program::{FieldId, KindId, LocalId, Program};
use crate::types::value::{Type, Value};
use indexmap::IndexMap;
use rustc_hash::FxBuildHasher;
use std::cell::{OnceCell, RefCell};
use std::collections::{BTreeSet, HashMap};
use std::hash::BuildHasher;

/// A value that a local holds stands for it if it has no more operands; so a chain of steps that
/// count up one number stays short to compare.
const LONG: usize = 24;

/// A sum with more terms than this is not compared term by term: each is compared with each.
const TERMS: usize = 64;

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
    values: IndexMap<Expression, Note, FxBuildHasher>,
    /// Which of them read a place.
    readers: HashMap<Expression, Vec<Id>, FxBuildHasher>,
    /// Conditions that hold.
    facts: BTreeSet<Id>,
    /// How many of them have a topic.
    topics: HashMap<u64, usize, FxBuildHasher>,
    /// The values that stand for places, by place.
    same: IndexMap<Expression, Id, FxBuildHasher>,
    /// What was changed, to be taken back.
    changes: Vec<Change>,
    /// How many operands have been looked at or copied so far: a measure of time.
    effort: usize,
}

/// Properties of a stored value that are found once.
#[derive(Clone)]
struct Note {
    /// What it is about, see [`topic`].
    topic: u64,
    /// Whether it is a sum or another number without conditions. A stored number reads no place
    /// for which another value stands, so reducing it again gives the same.
    is_number: bool,
    /// How many operands it has.
    operands: usize,
    /// The fields that it looks at, once this was asked.
    fields: OnceCell<BTreeSet<(KindId, FieldId)>>,
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
            values: IndexMap::default(),
            readers: HashMap::default(),
            facts: BTreeSet::new(),
            topics: HashMap::default(),
            same: IndexMap::default(),
            changes: Vec::new(),
            effort: 0,
        }
    }

    /// Returns how many operands have been looked at so far. It grows with the time that was taken,
    /// and is the same on every machine.
    pub fn effort(&self) -> usize {
        self.effort
    }

    /// How much has been learnt: [`Known::back`] returns to this state.
    pub fn mark(&self) -> usize {
        self.changes.len()
    }

    /// Takes back all that was learnt and forgotten since a mark.
    pub fn back(&mut self, mark: usize) {
        for change in self.changes.split_off(mark).into_iter().rev() {
            match change {
                Change::Learnt(fact) => drop(self.remove(fact)),
                Change::Forgotten(fact) => drop(self.insert(fact)),
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
        let Expression { kind, result } = condition;
        match *kind {
            ExpressionKind::Constant(_) => {}
            ExpressionKind::Binary(Binary::And, one, other) => {
                // The second was reduced where the first holds.
                self.learn_reduced(one);
                self.learn_reduced(other);
            }
            kind => self.learn_one(Expression::new(kind, result)),
        }
    }

    /// Learns a condition that is no `and`.
    fn learn_one(&mut self, condition: Expression) {
        if let ExpressionKind::Binary(Binary::Equal, one, other) = &*condition.kind
            && one.result == other.result
        {
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
        self.holds(condition);
    }

    /// Adds a condition to those that hold.
    fn holds(&mut self, condition: Expression) {
        let fact = self.known(condition);
        if self.insert(fact) {
            self.changes.push(Change::Learnt(fact));
        }
    }

    /// Removes a condition from those that hold.
    fn holds_no_more(&mut self, fact: Id) {
        if self.remove(fact) {
            self.changes.push(Change::Forgotten(fact));
        }
    }

    /// Inserts a fact. Returns false if it was there.
    fn insert(&mut self, fact: Id) -> bool {
        let is_new = self.facts.insert(fact);
        if is_new {
            *self.topics.entry(self.values[fact].topic).or_default() += 1;
        }
        is_new
    }

    /// Removes a fact. Returns false if it was not there.
    fn remove(&mut self, fact: Id) -> bool {
        let was_there = self.facts.remove(&fact);
        if was_there {
            let topic = self.values[fact].topic;
            let count = self.topics.get_mut(&topic).expect("a fact has a topic");
            *count -= 1;
            if *count == 0 {
                self.topics.remove(&topic);
            }
        }
        was_there
    }

    /// Returns the stored value with this index.
    fn value(&self, id: Id) -> &Expression {
        let (value, _) = self.values.get_index(id).expect("it is stored");
        value
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
        let note = Note {
            topic: topic(&value),
            is_number: is_number(&value),
            operands: operands(&value),
            fields: OnceCell::new(),
        };
        self.values.insert(value, note);
        id
    }

    /// From here on a value stands for a place, also in what is known.
    fn stand(&mut self, place: Expression, value: Expression) {
        let value = self.known(value);
        if let Some(reading) = self.readers.get(&place).cloned() {
            let mut one = Known::nothing(self.program);
            let by = one.known(self.value(value).clone());
            one.same.insert(place.clone(), by);
            for reader in &reading {
                if self.facts.contains(reader) {
                    let fact = one.reduced(self.value(*reader));
                    self.holds_no_more(*reader);
                    self.holds(fact);
                }
            }
            let held = self.same.iter().filter(|(_, held)| reading.contains(held));
            let held: Vec<(Expression, Id)> = held.map(|(of, held)| (of.clone(), *held)).collect();
            for (of, held) in held {
                let held = one.reduced(self.value(held));
                let held = self.known(held);
                self.set(of, Some(held));
            }
            self.effort += one.effort;
        }
        if !self.same.contains_key(&place) {
            self.set(place, Some(value));
        }
    }

    /// Forgets what concerns this.
    pub fn forget(&mut self, concerns: impl Fn(&Expression) -> bool) {
        let facts = self.facts.iter().copied();
        let facts: Vec<Id> = facts.filter(|fact| concerns(self.value(*fact))).collect();
        facts.into_iter().for_each(|fact| self.holds_no_more(fact));
        let same = self.same.iter();
        let same = same.filter(|(of, value)| concerns(of) || concerns(self.value(**value)));
        let same: Vec<Expression> = same.map(|(of, _)| of.clone()).collect();
        same.into_iter().for_each(|of| self.set(of, None));
    }

    /// Forgets what looks at a field, of any instance of its kind.
    pub fn forget_field(&mut self, kind: KindId, field: FieldId) {
        let looks = |(value, note): (&Expression, &Note)| {
            let fields = note.fields.get_or_init(|| {
                let looks = Looks::of(self.program, value);
                looks
                    .fields
                    .iter()
                    .map(|(_, kind, field)| (*kind, *field))
                    .collect()
            });
            fields.contains(&(kind, field))
        };
        let looks = |id: Id| looks(self.values.get_index(id).expect("it is stored"));
        let is_it = |place: &Expression| {
            let ExpressionKind::Read(Variable::Field(_, other, of)) = &*place.kind else {
                return false;
            };
            (*other, *of) == (kind, field)
        };
        let facts = self.facts.iter().copied();
        let facts: Vec<Id> = facts.filter(|fact| looks(*fact)).collect();
        let same = self.same.iter();
        let same = same.filter(|(of, value)| is_it(of) || looks(**value));
        let same: Vec<Expression> = same.map(|(of, _)| of.clone()).collect();
        facts.into_iter().for_each(|fact| self.holds_no_more(fact));
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
        let mut about = topic(&made);
        let mut last = made.clone();
        for (before, part) in parts.into_iter().rev().enumerate() {
            // The parts before this one are looked up as one condition, which costs their number.
            self.effort += before;
            match made.truth().or_else(|| self.settled_about(&made, about)) {
                Some(truth) if truth == settles => {
                    made = Expression::number(u64::from(truth), Type::Bool);
                    break;
                }
                Some(_) => {
                    made = self.reduced(part);
                    about = topic(&made);
                    last = made.clone();
                }
                None => {
                    let open = if settles { negated(last) } else { last };
                    self.learn_reduced(open);
                    last = self.reduced(part);
                    made = joined(operator, made, last.clone());
                    about = match last.truth() {
                        None => topic_of_both(about, topic(&last)),
                        Some(_) => topic(&made),
                    };
                }
            }
        }
        self.back(mark);
        made
    }

    /// What stands for a place, and what is noted of it.
    fn stands_for(&self, value: &Expression) -> Option<(&Expression, &Note)> {
        let is_place = rank(value).is_some() || is_local(value);
        let id = is_place.then(|| self.same.get(value)).flatten()?;
        self.values.get_index(*id)
    }

    /// A value in which stands what stands for its parts.
    pub fn reduced(&mut self, value: &Expression) -> Expression {
        self.effort += 1;
        if let Some((other, note)) = self.stands_for(value) {
            let (other, copied, is_number) = (other.clone(), note.operands, note.is_number);
            self.effort += copied;
            return if is_number {
                other
            } else {
                self.reduced(&other)
            };
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
        if self.may_fold(&made)
            && let Some(number) = constant::fold_number(self.program, &made)
        {
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

    /// Returns false if a value of reduced parts is no constant expression: its first part is a
    /// number that did not fold.
    fn may_fold(&self, made: &Expression) -> bool {
        match &*made.kind {
            ExpressionKind::Constant(_) => false,
            ExpressionKind::Unary(_, first)
            | ExpressionKind::Binary(_, first, _)
            | ExpressionKind::If(first, ..)
            | ExpressionKind::Cast(first) => {
                let is_constant = matches!(*first.kind, ExpressionKind::Constant(_));
                is_constant || constant::width(self.program, &first.result).is_none()
            }
            _ => true,
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

    /// Returns the truth of a condition, if it is known.
    fn settled(&self, condition: &Expression) -> Option<bool> {
        self.settled_about(condition, topic(condition))
    }

    /// Returns the truth of a condition whose topic is given, if the truth is known.
    fn settled_about(&self, condition: &Expression, topic: u64) -> Option<bool> {
        if !self.topics.contains_key(&topic) {
            return None;
        }
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
            (true, Some(true), _) => self.reduced(&either(asked, other)),
            (true, Some(false), _) => self.reduced(&both(negated(asked), other)),
            (true, _, Some(true)) => self.reduced(&either(negated(asked), one)),
            (true, _, Some(false)) => self.reduced(&both(asked, one)),
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
    let width = modular(&one.result).filter(|width| modular(&other.result) == Some(*width));
    let sum = |sign| {
        let mut sum = Sum::of(width?);
        sum.add(&one, 1);
        sum.add(&other, sign);
        (sum.terms.len() <= TERMS).then_some(sum)
    };
    match operator {
        Binary::Add | Binary::Subtract if modular(&result) == width => {
            let sum = sum(if operator == Binary::Add { 1 } else { -1 });
            let value = sum.and_then(|sum| sum.value(&result));
            let plain = size(&one) + size(&other) + OPERATOR;
            if let Some(value) = value.filter(|value| size(value) < plain) {
                return value;
            }
        }
        _ if opposite(operator).is_some() && width.is_some() => {
            let is_sequence = matches!(one.result, Type::Sequence(_));
            let difference = sum(-1);
            let truth = difference.and_then(|sum| sum.compared(operator, is_sequence));
            return match truth {
                Some(truth) => Expression::number(u64::from(truth), Type::Bool),
                None => least(operator, one, other, result),
            };
        }
        _computes => {}
    }
    Expression::binary(operator, one, other, result)
}

/// A comparison of two numbers, none of which is less than 0.
fn least(operator: Binary, one: Expression, other: Expression, result: Type) -> Expression {
    let is_zero = |of: &Expression| matches!(*of.kind, ExpressionKind::Constant(Value::Number(0)));
    let (least, most) = (is_zero(&one), is_zero(&other));
    let is_unsigned = matches!(one.result, Type::Unsigned(_));
    let equal = match operator {
        Binary::Less if is_unsigned && least => Binary::Unequal,
        Binary::Greater if is_unsigned && most => Binary::Unequal,
        Binary::AtMost if is_unsigned && most => Binary::Equal,
        Binary::AtLeast if is_unsigned && least => Binary::Equal,
        _ => return Expression::binary(operator, one, other, result),
    };
    let (one, other) = if least { (other, one) } else { (one, other) };
    Expression::binary(equal, one, other, Type::Bool)
}

/// A sum of terms, modulo a power of two.
struct Sum<'e> {
    width: u8,
    terms: Vec<(&'e Expression, i64)>,
    constant: u64,
}

impl<'e> Sum<'e> {
    fn of(width: u8) -> Sum<'e> {
        Sum {
            width,
            terms: Vec::new(),
            constant: 0,
        }
    }

    /// Adds a value, as long as there are few terms.
    fn add(&mut self, value: &'e Expression, sign: i64) {
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
            _ if self.terms.len() > TERMS => {}
            _ => match self.terms.iter().position(|(term, _)| *term == value) {
                Some(at) if self.terms[at].1 == -sign => drop(self.terms.remove(at)),
                Some(at) => self.terms[at].1 += sign,
                None => self.terms.push((value, sign)),
            },
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
        let cast = |term: &&Expression| match term.result == *result {
            true => (*term).clone(),
            false => Expression::new(ExpressionKind::Cast((*term).clone()), result.clone()),
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

fn both(one: Expression, other: Expression) -> Expression {
    joined(Binary::And, one, other)
}

fn either(one: Expression, other: Expression) -> Expression {
    joined(Binary::Or, one, other)
}

/// Two conditions, the second of which may be known.
fn joined(operator: Binary, one: Expression, other: Expression) -> Expression {
    let settles = operator == Binary::Or;
    match (one.truth(), other.truth()) {
        (Some(truth), _) if truth == settles => one,
        (Some(_), _) => other,
        (_, Some(truth)) if truth == settles => other,
        (_, Some(_)) => one,
        (None, None) => Expression::binary(operator, one, other, Type::Bool),
    }
}

/// Returns what a condition is about: the same number for a condition, for the one that holds where
/// it does not, and for the one with its sides turned. So most conditions are found not to be known
/// without building any of these.
fn topic(condition: &Expression) -> u64 {
    let hash = |of: &Expression| FxBuildHasher.hash_one(of);
    match &*condition.kind {
        ExpressionKind::Unary(Unary::Not, inner) => topic(inner),
        // The negation of a truth is another one.
        ExpressionKind::Constant(_) if condition.result == Type::Bool => 0,
        ExpressionKind::Binary(Binary::And | Binary::Or, one, other) => {
            topic_of_both(topic(one), topic(other))
        }
        ExpressionKind::If(asked, one, other) => {
            topic_of_both(hash(asked), topic_of_both(topic(one), topic(other)))
        }
        ExpressionKind::Binary(_, one, other) => hash(one).wrapping_add(hash(other)),
        _ => hash(condition),
    }
}

/// The topic of two conditions of which both are to hold, or either.
fn topic_of_both(one: u64, other: u64) -> u64 {
    one.rotate_left(5).wrapping_add(other)
}

/// Returns true for a number that is made of places and other numbers, and of no condition.
fn is_number(value: &Expression) -> bool {
    let is_made_of_numbers = match &*value.kind {
        ExpressionKind::Constant(_)
        | ExpressionKind::Config(_)
        | ExpressionKind::Key(..)
        | ExpressionKind::Header(..)
        | ExpressionKind::Attribute(..)
        | ExpressionKind::Length(_)
        | ExpressionKind::Read(Variable::Field(..) | Variable::Local(_)) => true,
        ExpressionKind::Unary(Unary::Negate | Unary::Complement, one)
        | ExpressionKind::Cast(one) => is_number(one),
        ExpressionKind::Binary(_, one, other) => is_number(one) && is_number(other),
        _ => false,
    };
    is_made_of_numbers && value.result != Type::Bool
}

/// What an operator adds to the [`size`] of its operands.
const OPERATOR: usize = 3;

/// How much there is to find.
fn size(value: &Expression) -> usize {
    let parts = value.parts().into_iter().map(size).sum::<usize>();
    match &*value.kind {
        ExpressionKind::Constant(_) => 1,
        // What a condition is made of is to be seen.
        ExpressionKind::Read(Variable::Local(_)) if value.result == Type::Bool => 1000,
        ExpressionKind::Read(Variable::Local(_)) => 4,
        ExpressionKind::Unary(Unary::Not, _) => parts,
        _ => parts + OPERATOR,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::types::expression::Instance;
    use crate::types::program::{HeaderFieldId, HeaderId};

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
    fn a_condition_is_about_the_same_whichever_side_stands_first_and_where_it_does_not_hold() {
        let (one, other) = (header(0, NUMBER), field(0, NUMBER));
        let less = compared(Binary::Less, &one, &other);
        let turned = compared(Binary::Greater, &other, &one);
        assert_eq!(topic(&turned), topic(&less));
        assert_eq!(topic(&negated(less.clone())), topic(&less));
        let either = Expression::binary(Binary::Or, less.clone(), turned, Type::Bool);
        assert_eq!(topic(&negated(either.clone())), topic(&either));
        let truth = Expression::number(1, Type::Bool);
        let chosen = ExpressionKind::If(less.clone(), either.clone(), truth);
        let chosen = Expression::new(chosen, Type::Bool);
        assert_eq!(topic(&negated(chosen.clone())), topic(&chosen));
        assert_ne!(topic(&chosen), topic(&either));
        let third = compared(Binary::Less, &one, &field(1, NUMBER));
        assert_ne!(topic(&third), topic(&less));
    }

    #[test]
    fn what_looks_at_a_field_is_forgotten() {
        let program = Program::default();
        let (one, zero) = (field(0, NUMBER), Expression::number(0, NUMBER));
        let open = compared(Binary::Unequal, &one, &zero);
        let shut = compared(Binary::Equal, &field(1, NUMBER), &zero);
        let mut known = Known::nothing(&program);
        let mark = known.mark();
        known.learn(&open);
        known.learn(&shut);
        known.forget_field(KindId(0), FieldId(0));
        assert_eq!([known.truth(&open), known.truth(&shut)], [None, Some(true)]);
        known.forget_field(KindId(0), FieldId(1));
        assert_eq!(known.truth(&shut), None);
        known.back(mark);
        assert_eq!([known.truth(&open), known.truth(&shut)], [None, None]);
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
