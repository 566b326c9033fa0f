//! Facts that hold behind guards.
//!
//! In: bits that guards have decided. Out: values that are constant because of them, and bits whose
//! other outcome contradicts one of them.
//!
//! Two numbers are related by three bits: whether the one is less than the other, without and with
//! sign, and whether they are equal. All comparisons are asked and learnt of these.

use crate::ir::definitions::Definitions;
use crate::ir::evaluate::{arithmetic, compared};
use crate::ir::op::{Arithmetic, Compare, Op};
use crate::ir::types::ones;
use crate::ir::{Instruction, Value};
use std::collections::{BTreeMap, HashMap};

/// Facts on the way to a place in a function.
#[derive(Clone, Debug, Default)]
pub struct Facts {
    /// Bits as guards have decided them, in order.
    bits: Vec<(Value, bool)>,
    /// Values that are constant because of that.
    numbers: BTreeMap<Value, u64>,
    /// Values that are equal to others, which are no constants.
    same: BTreeMap<Value, Value>,
    /// By relation and two values: whether it holds.
    relations: BTreeMap<(Relation, Value, Value), bool>,
    /// They contradict each other: no way leads to this place.
    contradict: bool,
}

/// A relation of two numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Relation {
    /// They are equal; the value with the smaller number stands first.
    Equal,
    /// The first is less, without sign.
    Below,
    /// The first is less, with sign.
    Less,
}

/// A comparison as a relation: the relation, its values, and whether the comparison is its
/// opposite.
fn relation(how: Compare, one: Value, other: Value) -> ((Relation, Value, Value), bool) {
    let equal = (Relation::Equal, one.min(other), one.max(other));
    match how {
        Compare::Eq => (equal, false),
        Compare::Ne => (equal, true),
        Compare::Ult => ((Relation::Below, one, other), false),
        Compare::Ule => ((Relation::Below, other, one), true),
        Compare::Slt => ((Relation::Less, one, other), false),
        Compare::Sle => ((Relation::Less, other, one), true),
    }
}

/// Values that have been asked under the same facts.
type Asked = HashMap<Value, Option<u64>>;

impl Facts {
    /// A guard decides a bit.
    pub fn learn(&mut self, definitions: &Definitions<'_>, bit: Value, holds: bool) {
        self.bits.push((bit, holds));
        self.note(definitions, bit, holds);
    }

    /// A bit follows from the facts.
    pub fn note(&mut self, definitions: &Definitions<'_>, bit: Value, holds: bool) {
        let mut open = vec![(bit, holds)];
        while let Some((bit, holds)) = open.pop() {
            let before = self.numbers.insert(bit, holds.into());
            self.contradict |= before.is_some_and(|before| (before != 0) != holds);
            let Some(Instruction { op, operands, .. }) = definitions.get(bit) else {
                continue;
            };
            let mut others = |neutral: u64| {
                let numbers = [0, 1].map(|at| self.number(definitions, operands[at]));
                let undecided = numbers.iter().position(|number| *number != Some(neutral));
                let is_one = numbers.contains(&Some(neutral));
                open.extend(undecided.filter(|_| is_one).map(|at| (operands[at], holds)));
            };
            match op {
                Op::Not => open.push((operands[0], !holds)),
                Op::Arithmetic(Arithmetic::And) if !holds => others(1),
                Op::Arithmetic(Arithmetic::Or) if holds => others(0),
                Op::Arithmetic(Arithmetic::And | Arithmetic::Or) => {
                    open.extend(operands.iter().map(|operand| (*operand, holds)));
                }
                Op::Select => {
                    let way = self.number(definitions, operands[0]);
                    open.extend(way.map(|way| (operands[if way == 0 { 2 } else { 1 }], holds)));
                }
                Op::Compare(how) => {
                    self.relate(definitions, *how, (operands[0], operands[1]), holds);
                }
                _ => {}
            }
        }
    }

    fn relate(
        &mut self,
        definitions: &Definitions<'_>,
        how: Compare,
        (one, other): (Value, Value),
        holds: bool,
    ) {
        let before = self.related(how, one, other);
        self.contradict |= before.is_some_and(|before| before != holds);
        let (relation, is_opposite) = relation(how, one, other);
        self.relations.insert(relation, holds != is_opposite);
        if self.related(Compare::Eq, one, other) == Some(true) {
            match [one, other].map(|value| definitions.constant(value)) {
                [_, Some(number)] => self.numbers.insert(one, number),
                [Some(number), None] => self.numbers.insert(other, number),
                [None, None] => {
                    let (one, other) = (self.same(one), self.same(other));
                    if one != other {
                        self.same.insert(one.max(other), one.min(other));
                    }
                    None
                }
            };
        }
    }

    /// The value in the place of a value that is equal to it.
    pub fn same(&self, mut value: Value) -> Value {
        while let Some(other) = self.same.get(&value) {
            value = *other;
        }
        value
    }

    /// The outcome of a comparison that the relations decide.
    fn related(&self, how: Compare, one: Value, other: Value) -> Option<bool> {
        use Relation::{Below, Equal, Less};
        let ((relation, one, other), is_opposite) = relation(how, one, other);
        let known = |relation: Relation, one: Value, other: Value| {
            self.relations.get(&(relation, one, other)).copied()
        };
        let are_equal = known(Equal, one.min(other), one.max(other));
        let either = |relation| {
            let ways = [(one, other), (other, one)];
            match ways.map(|(one, other)| known(relation, one, other)) {
                [Some(true), _] | [_, Some(true)] => Some(false),
                [Some(false), Some(false)] => Some(true),
                _ => None,
            }
        };
        let holds = match relation {
            Equal => are_equal.or(either(Below)).or(either(Less)),
            Below | Less => known(relation, one, other)
                .or((known(relation, other, one) == Some(true)).then_some(false))
                .or((are_equal == Some(true)).then_some(false)),
        };
        holds.map(|holds| holds != is_opposite)
    }

    /// A comparison says whether one number is less than another that is known not to be less:
    /// whether they differ.
    pub fn is_not_above(&self, instruction: &Instruction) -> bool {
        let Op::Compare(how @ (Compare::Ult | Compare::Slt)) = instruction.op else {
            return false;
        };
        self.related(how, instruction.operands[1], instruction.operands[0]) == Some(false)
    }

    /// The number that a value is because of the facts.
    pub fn number(&self, definitions: &Definitions<'_>, value: Value) -> Option<u64> {
        self.ask(definitions, &mut Asked::new(), value)
    }

    /// The outcome of a bit, if the other contradicts a guard.
    pub fn decided(&self, definitions: &Definitions<'_>, bit: Value) -> Option<bool> {
        if let Some(number) = self.number(definitions, bit) {
            return Some(number != 0);
        }
        [true, false]
            .into_iter()
            .find(|holds| self.refutes(definitions, bit, !holds))
    }

    /// A guard would have left, were a bit this.
    fn refutes(&self, definitions: &Definitions<'_>, bit: Value, holds: bool) -> bool {
        let mut assumed = self.clone();
        assumed.learn(definitions, bit, holds);
        if assumed.contradict {
            return true;
        }
        let mut asked = Asked::new();
        self.bits.iter().any(|(guard, holds)| {
            let found = assumed.computed(definitions, &mut asked, *guard);
            found.is_some_and(|number| (number != 0) != *holds)
        })
    }

    fn ask(&self, definitions: &Definitions<'_>, asked: &mut Asked, value: Value) -> Option<u64> {
        if let Some(number) = self.numbers.get(&value) {
            return Some(*number);
        }
        if let Some(known) = asked.get(&value) {
            return *known;
        }
        let found = self.computed(definitions, asked, value);
        asked.insert(value, found);
        found
    }

    /// The number that the operation of a value gives.
    fn computed(
        &self,
        definitions: &Definitions<'_>,
        asked: &mut Asked,
        value: Value,
    ) -> Option<u64> {
        let Instruction { op, operands, .. } = definitions.get(value)?;
        let mut ask = |at: usize| self.ask(definitions, asked, operands[at]);
        match op {
            Op::Number(_, number) => Some(*number),
            Op::Not => ask(0).map(|number| number ^ 1),
            Op::ZeroExtend(_) => ask(0),
            Op::Truncate(bits) => ask(0).map(|number| number & ones(*bits)),
            Op::Select => match ask(0) {
                Some(0) => ask(2),
                Some(_) => ask(1),
                None => ask(1).filter(|number| Some(*number) == ask(2)),
            },
            Op::Arithmetic(how) => {
                let bits = definitions.bits(value)?;
                match (how, ask(0), ask(1)) {
                    (_, Some(one), Some(other)) => arithmetic(*how, one, other, bits),
                    (Arithmetic::And, Some(0), _) | (Arithmetic::And, _, Some(0)) => Some(0),
                    (Arithmetic::Or, Some(one), _) | (Arithmetic::Or, _, Some(one)) => {
                        Some(one).filter(|one| *one == ones(bits))
                    }
                    _ => None,
                }
            }
            Op::Compare(how) => {
                let numbers = ask(0).zip(ask(1));
                let bits = definitions.bits(operands[0]);
                let compared = numbers
                    .zip(bits)
                    .map(|((one, other), bits)| compared(*how, one, other, bits));
                let related = || self.related(*how, operands[0], operands[1]);
                compared.or_else(related).map(u64::from)
            }
            _ => None,
        }
    }
}
