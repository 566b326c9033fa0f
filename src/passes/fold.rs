//! Constant folding and algebraic identities; branches on constants become jumps.
//!
//! In: a function. Out: each instruction whose result is known is a constant; one that gives what
//! it is given is gone from its uses; a branch or switch that always goes one way is a jump.
//!
//! ```text
//! %2 = add %1, 0           uses of %2 are uses of %1
//! %3 = not (eq %1, %2)     %3 = ne %1, %2
//! branch 1, b1, b2         jump b1
//! ```

use crate::ir::edit::{change_operands, compact, substitute};
use crate::ir::evaluate::{arithmetic, compared};
use crate::ir::facts::linear::{Atom, Linear};
use crate::ir::graph::Graph;
use crate::ir::op::{Arithmetic, Compare, Op};
use crate::ir::types::{ones, signed};
use crate::ir::{Edge, Function, Module, Probability, Terminator, Type, Value};
use rustc_hash::FxHashMap;

/// Folds all functions of a module.
pub fn run(module: &mut Module) {
    for function in &mut module.functions {
        fold(function);
    }
}

/// A simpler form of an instruction.
pub enum Simpler {
    /// Its result is this number.
    Constant(u64),
    /// Its result is this value.
    Same(Value),
    /// Another operation gives it.
    Instead(Op, Vec<Value>),
}

use Simpler::{Constant, Instead, Same};

/// A case of a switch: its number, its share, and the edge.
type Case = (u64, Probability, Edge);

/// The depth to which sums of sums are collected.
const DEPTH: u32 = 4;

/// Folds a function.
pub fn fold(function: &mut Function) {
    let graph = Graph::of(function).expect("the verifier passes acyclic graphs alone");
    let mut by: Vec<Value> = (0..function.values.len() as u32).map(Value).collect();
    let mut known = Facts::default();
    for id in graph.order {
        let mut block = std::mem::take(&mut function.blocks[id.at()].instructions);
        block.retain_mut(|instruction| {
            for operand in &mut instruction.operands {
                *operand = by[operand.at()];
            }
            if let Op::Loop(..) = instruction.op
                && known.number(instruction.operands[0]) == Some(0)
            {
                let carried = instruction.operands.len() - instruction.results.len();
                let carried = &instruction.operands[carried..];
                for (result, value) in instruction.results.iter().zip(carried) {
                    by[result.at()] = *value;
                }
                return false;
            }
            let [result] = instruction.results[..] else {
                return true;
            };
            while let Some(simpler) =
                known.simpler(function, &instruction.op, &instruction.operands)
            {
                match simpler {
                    Constant(number) => {
                        let bits = function.type_of(result).bits();
                        let bits = bits.expect("only numbers are folded");
                        instruction.op = Op::Number(bits, number & ones(bits));
                        instruction.operands.clear();
                    }
                    Same(value) => {
                        by[result.at()] = value;
                        return false;
                    }
                    Instead(op, operands) => {
                        instruction.op = op;
                        instruction.operands = operands;
                    }
                }
            }
            let operands = instruction.operands.clone();
            known.learn(result, (instruction.op.clone(), operands));
            true
        });
        let own = &mut function.blocks[id.at()];
        own.instructions = block;
        change_operands(&mut own.terminator, &mut |operand| {
            *operand = by[operand.at()];
        });
        let end = std::mem::replace(&mut own.terminator, Terminator::Never);
        function.blocks[id.at()].terminator = known.end(function, end);
    }
    substitute(function, &by);
    compact(function);
}

/// By value: the operation that gives it, and its operands.
#[derive(Default)]
pub struct Facts(FxHashMap<Value, (Op, Vec<Value>)>);

impl Facts {
    /// An operation gives a value.
    pub fn learn(&mut self, value: Value, by: (Op, Vec<Value>)) {
        self.0.insert(value, by);
    }

    /// Removes the facts of a value that was removed.
    pub fn forget(&mut self, value: Value) {
        self.0.remove(&value);
    }

    /// The operation that gives a value.
    pub fn op(&self, value: Value) -> Option<&(Op, Vec<Value>)> {
        self.0.get(&value)
    }

    /// The number that a value always is.
    pub fn number(&self, value: Value) -> Option<u64> {
        self.op(value)?.0.number()
    }

    /// A simpler form of an operation.
    pub fn simpler(&self, function: &Function, op: &Op, operands: &[Value]) -> Option<Simpler> {
        let bits = |value: Value| function.type_of(value).bits();
        match op {
            Op::Arithmetic(how) => {
                self.arithmetic(*how, bits(operands[0])?, operands[0], operands[1])
            }
            Op::Compare(how) => {
                let (one, other) = (operands[0], operands[1]);
                match bits(one) {
                    Some(bits) => self
                        .compared(*how, bits, one, other)
                        .or_else(|| self.compared_extended(function, *how, bits, [one, other])),
                    None if one == other => Some(Constant(u64::from(*how == Compare::Eq))),
                    None => None,
                }
            }
            Op::Not => self.turned(bits(operands[0])?, operands[0]),
            Op::Select => self.selected(function, operands),
            Op::ZeroExtend(to) => {
                let (of, from) = (operands[0], bits(operands[0])?);
                match (self.number(of), self.op(of)) {
                    (Some(number), _) => Some(Constant(number)),
                    _ if from == *to => Some(Same(of)),
                    (_, Some((Op::ZeroExtend(_), inner))) => {
                        Some(Instead(Op::ZeroExtend(*to), inner.clone()))
                    }
                    _ => None,
                }
            }
            Op::SignExtend(to) => {
                let (of, from) = (operands[0], bits(operands[0])?);
                match self.number(of) {
                    Some(number) => Some(Constant(signed(number, from) as u64)),
                    None => (from == *to).then_some(Same(of)),
                }
            }
            Op::Truncate(to) => self.truncated(function, *to, operands[0]),
            Op::Concat => self.concatenated(function, operands),
            Op::Resize(to) => {
                let same = function.type_of(operands[0]) == Type::Bytes(*to);
                same.then_some(Same(operands[0]))
            }
            Op::Push | Op::Pull if self.number(operands[1]) == Some(0) => Some(Same(operands[0])),
            Op::Index => match self.op(operands[0])? {
                (Op::At(_), parts) => Some(Same(parts[0])),
                (Op::Instance(_, index), _) => Some(Constant(u64::from(*index))),
                _other => None,
            },
            _other => None,
        }
    }

    /// Returns what a sum or a difference comes to once its terms are collected: a constant, or one
    /// of the terms.
    fn collected(&self, how: Arithmetic, most: u64, parts: [Value; 2]) -> Option<Simpler> {
        let factor = if how == Arithmetic::Add { 1 } else { -1 };
        let [one, other] = parts.map(|part| self.terms(part, DEPTH));
        let sum = one?.plus(&other?, factor)?;
        // Sums wrap.
        let constant = sum.constant as u64 & most;
        match sum.parts[..] {
            [] => Some(Constant(constant)),
            [(term, 1)] if constant == 0 => Some(Same(term.value())),
            _ => None,
        }
    }

    /// Returns a value as a sum of the values that are given to its sums and differences.
    fn terms(&self, value: Value, depth: u32) -> Option<Linear> {
        if let Some(number) = self.number(value) {
            return Some(Linear::constant(number.into()));
        }
        match self.op(value) {
            Some((Op::Arithmetic(how @ (Arithmetic::Add | Arithmetic::Sub)), parts))
                if depth > 0 =>
            {
                let factor = if *how == Arithmetic::Add { 1 } else { -1 };
                let other = self.terms(parts[1], depth - 1)?;
                self.terms(parts[0], depth - 1)?.plus(&other, factor)
            }
            _ => Some(Linear::atom(Atom::number(value))),
        }
    }

    fn arithmetic(&self, how: Arithmetic, bits: u8, one: Value, other: Value) -> Option<Simpler> {
        use Arithmetic::{Add, And, Ashr, Lshr, Mul, Or, Shl, Sub, Udiv, Umax, Umin, Urem, Xor};
        let most = ones(bits);
        match (self.number(one), self.number(other)) {
            (Some(one), Some(other)) => return arithmetic(how, one, other, bits).map(Constant),
            (Some(_), None) if matches!(how, Add | Mul | And | Or | Xor | Umin | Umax) => {
                return Some(Instead(Op::Arithmetic(how), vec![other, one]));
            }
            (Some(0), None) if matches!(how, Shl | Lshr | Ashr) => return Some(Constant(0)),
            _ => {}
        }
        if let Some(number) = self.number(other) {
            let same = match how {
                Add | Sub | Or | Xor | Shl | Lshr | Ashr | Umax => number == 0,
                Mul | Udiv => number == 1,
                And | Umin => number == most,
                _other => false,
            };
            if same {
                return Some(Same(one));
            }
            match (how, number) {
                (And | Mul | Umin, 0) | (Urem, 1) => return Some(Constant(0)),
                (Shl | Lshr, number) if number >= u64::from(bits) => return Some(Constant(0)),
                (Or | Umax, number) if number == most => return Some(Constant(most)),
                (Xor, number) if number == most => {
                    return Some(Instead(Op::Not, vec![one]));
                }
                _ => {}
            }
        }
        match how {
            Add | Sub => self.collected(how, most, [one, other]),
            Xor if one == other => Some(Constant(0)),
            And | Or | Umin | Umax if one == other => Some(Same(one)),
            _ => None,
        }
    }

    fn compared(&self, how: Compare, bits: u8, one: Value, other: Value) -> Option<Simpler> {
        if one == other {
            let holds = matches!(how, Compare::Eq | Compare::Ule | Compare::Sle);
            return Some(Constant(u64::from(holds)));
        }
        match (self.number(one), self.number(other)) {
            (Some(one), Some(other)) => Some(Constant(u64::from(compared(how, one, other, bits)))),
            (Some(_), None) if matches!(how, Compare::Eq | Compare::Ne) => {
                Some(Instead(Op::Compare(how), vec![other, one]))
            }
            (None, Some(bit)) if bits == 1 && matches!(how, Compare::Eq | Compare::Ne) => {
                Some(match (how == Compare::Eq) == (bit == 1) {
                    true => Same(one),
                    false => Instead(Op::Not, vec![one]),
                })
            }
            (None, Some(0)) if how == Compare::Ult => Some(Constant(0)),
            (Some(0), None) if how == Compare::Ult => {
                Some(Instead(Op::Compare(Compare::Ne), vec![other, one]))
            }
            (None, Some(0)) if how == Compare::Ule => {
                Some(Instead(Op::Compare(Compare::Eq), vec![one, other]))
            }
            (None, Some(number)) if how == Compare::Ule && number == ones(bits) => {
                Some(Constant(1))
            }
            (Some(0), None) if how == Compare::Ule => Some(Constant(1)),
            (Some(number), None) if how == Compare::Ult && number == ones(bits) => {
                Some(Constant(0))
            }
            _ => self.compared_least(how, bits, one, other),
        }
    }

    /// A comparison of the lesser of a value and a constant with another constant: that of the
    /// value, if the first constant does not decide it.
    fn compared_least(&self, how: Compare, bits: u8, one: Value, other: Value) -> Option<Simpler> {
        let least = |value: Value| match self.op(value)? {
            (Op::Arithmetic(Arithmetic::Umin), of) => Some((of[0], self.number(of[1])?)),
            _other => None,
        };
        if !matches!(how, Compare::Ult | Compare::Ule) {
            return None;
        }
        match (
            least(one),
            self.number(other),
            self.number(one),
            least(other),
        ) {
            (Some((value, most)), Some(number), ..) => {
                Some(match compared(how, most, number, bits) {
                    true => Constant(1),
                    false => Instead(Op::Compare(how), vec![value, other]),
                })
            }
            (_, _, Some(number), Some((value, most))) => {
                Some(match compared(how, number, most, bits) {
                    true => Instead(Op::Compare(how), vec![one, value]),
                    false => Constant(0),
                })
            }
            _ => None,
        }
    }

    /// The least and the greatest number, by sign, of a value that is extended from fewer bits.
    fn extended(&self, function: &Function, value: Value) -> Option<[u64; 2]> {
        let (op, of) = self.op(value)?;
        let most = ones(function.type_of(*of.first()?).bits()?);
        match op {
            Op::ZeroExtend(_) => Some([0, most]),
            Op::SignExtend(bits) => Some([!(most >> 1) & ones(*bits), most >> 1]),
            _other => None,
        }
    }

    /// A comparison of a number with a value that is extended from fewer bits, if the number is
    /// beyond all values of these.
    fn compared_extended(
        &self,
        function: &Function,
        how: Compare,
        bits: u8,
        [one, other]: [Value; 2],
    ) -> Option<Simpler> {
        // Values that are extended with their sign are in order as signed numbers only.
        let is_signed = !matches!(how, Compare::Ult | Compare::Ule);
        let ends = |value: Value| match &self.op(value)?.0 {
            Op::SignExtend(_) if !is_signed => None,
            _other => self.extended(function, value),
        };
        let (holds, number, ends) = match (self.number(one), self.number(other)) {
            (None, Some(number)) => {
                let ends = ends(one)?;
                (
                    ends.map(|end| compared(how, end, number, bits)),
                    number,
                    ends,
                )
            }
            (Some(number), None) => {
                let ends = ends(other)?;
                (
                    ends.map(|end| compared(how, number, end, bits)),
                    number,
                    ends,
                )
            }
            _other => return None,
        };
        (is_beyond(number, ends, bits) && holds[0] == holds[1])
            .then_some(Constant(u64::from(holds[0])))
    }

    fn turned(&self, bits: u8, of: Value) -> Option<Simpler> {
        let (op, operands) = self.op(of)?;
        let turned =
            |how: Compare, operands: [Value; 2]| Some(Instead(Op::Compare(how), operands.to_vec()));
        match (op, &operands[..]) {
            (Op::Number(_, number), _) => Some(Constant(!number & ones(bits))),
            (Op::Not, [inner]) => Some(Same(*inner)),
            (Op::Compare(how), &[one, other]) => match how {
                Compare::Eq => turned(Compare::Ne, [one, other]),
                Compare::Ne => turned(Compare::Eq, [one, other]),
                Compare::Ult => turned(Compare::Ule, [other, one]),
                Compare::Ule => turned(Compare::Ult, [other, one]),
                Compare::Slt => turned(Compare::Sle, [other, one]),
                Compare::Sle => turned(Compare::Slt, [other, one]),
            },
            _ => None,
        }
    }

    fn selected(&self, function: &Function, operands: &[Value]) -> Option<Simpler> {
        let &[condition, one, other] = operands else {
            return None;
        };
        match self.number(condition) {
            Some(0) => return Some(Same(other)),
            Some(_) => return Some(Same(one)),
            None if one == other => return Some(Same(one)),
            None => {}
        }
        if let Some((Op::Not, inner)) = self.op(condition) {
            return Some(Instead(Op::Select, vec![inner[0], other, one]));
        }
        if function.type_of(one) != Type::BIT {
            return None;
        }
        match (self.number(one), self.number(other)) {
            (Some(1), Some(0)) => Some(Same(condition)),
            (Some(0), Some(1)) => Some(Instead(Op::Not, vec![condition])),
            (Some(1), None) => Some(Instead(
                Op::Arithmetic(Arithmetic::Or),
                vec![condition, other],
            )),
            (None, Some(0)) => Some(Instead(
                Op::Arithmetic(Arithmetic::And),
                vec![condition, one],
            )),
            _ => None,
        }
    }

    fn truncated(&self, function: &Function, to: u8, of: Value) -> Option<Simpler> {
        let from = function.type_of(of).bits()?;
        if from == to {
            return Some(Same(of));
        }
        match self.op(of)? {
            (Op::Number(_, number), _) => Some(Constant(number & ones(to))),
            (Op::ZeroExtend(_), inner) => {
                let inner_bits = function.type_of(inner[0]).bits()?;
                Some(match inner_bits.cmp(&to) {
                    std::cmp::Ordering::Equal => Same(inner[0]),
                    std::cmp::Ordering::Less => Instead(Op::ZeroExtend(to), inner.clone()),
                    std::cmp::Ordering::Greater => Instead(Op::Truncate(to), inner.clone()),
                })
            }
            (Op::Truncate(_), inner) => Some(Instead(Op::Truncate(to), inner.clone())),
            _other => None,
        }
    }

    fn concatenated(&self, function: &Function, operands: &[Value]) -> Option<Simpler> {
        if let [only] = operands {
            return Some(Same(*only));
        }
        let mut joined: u128 = 0;
        for operand in operands {
            let bits = function.type_of(*operand).bits()?;
            joined = joined << bits | u128::from(self.number(*operand)?);
        }
        Some(Constant(joined as u64))
    }

    fn end(&self, function: &Function, end: Terminator) -> Terminator {
        match end {
            Terminator::Branch {
                condition,
                likely,
                then,
                otherwise,
            } => {
                if then == otherwise {
                    return Terminator::Jump(then);
                }
                match (self.number(condition), self.op(condition)) {
                    (Some(0), _) => Terminator::Jump(otherwise),
                    (Some(_), _) => Terminator::Jump(then),
                    (None, Some((Op::Not, inner))) => Terminator::Branch {
                        condition: inner[0],
                        likely: likely.other(),
                        then: otherwise,
                        otherwise: then,
                    },
                    _ => Terminator::Branch {
                        condition,
                        likely,
                        then,
                        otherwise,
                    },
                }
            }
            Terminator::Switch {
                value,
                cases,
                otherwise,
            } => match self.number(value) {
                Some(number) => {
                    let case = cases.into_iter().find(|(case, _, _)| *case == number);
                    Terminator::Jump(case.map_or(otherwise, |(_, _, edge): (_, _, Edge)| edge))
                }
                None => self.possible_cases(function, (value, cases), otherwise),
            },
            other => other,
        }
    }

    /// A switch without the cases that a value cannot have which is extended from fewer bits.
    fn possible_cases(
        &self,
        function: &Function,
        (value, mut cases): (Value, Vec<Case>),
        otherwise: Edge,
    ) -> Terminator {
        let bits = function.type_of(value).bits();
        if let (Some(bits), Some(ends)) = (bits, self.extended(function, value)) {
            cases.retain(|(case, _, _)| !is_beyond(*case, ends, bits));
        }
        match cases.is_empty() {
            true => Terminator::Jump(otherwise),
            false => Terminator::Switch {
                value,
                cases,
                otherwise,
            },
        }
    }
}

/// Returns true for a number that is less than the first of two, or greater than the last.
fn is_beyond(number: u64, ends: [u64; 2], bits: u8) -> bool {
    compared(Compare::Slt, number, ends[0], bits) || compared(Compare::Slt, ends[1], number, bits)
}
