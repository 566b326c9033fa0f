//! Statements of Pascal: in, a list of them; out, the operations that do the same, in order.

use super::super::Fault;
use super::super::memory::{INTEGERS, Scalar, bounds, count};
use super::Code;
use super::evaluate::{Computed, known};
use crate::ir::op::{Arithmetic, Compare};
use crate::ir::{Edge, Op, Probability, Terminator, Value};
use crate::types::estelle::program::{
    BinaryOperator as Binary, Domain, Expression, ExpressionKind, FrameId, Place, Statement,
    StatementKind as Kind, Type, TypeId,
};

impl Code<'_, '_> {
    /// Does statements one after the other.
    pub fn statements(&mut self, all: &[Statement]) {
        for statement in all {
            self.at(statement.span);
            self.statement(&statement.kind);
        }
    }

    fn statement(&mut self, kind: &Kind) {
        match kind {
            Kind::Assign(place, value) => self.assign(place, value),
            Kind::Call(routine, arguments) => {
                self.routine(*routine, arguments);
            }
            Kind::If(condition, then, otherwise) => {
                let condition = self.condition(condition);
                self.either(
                    condition,
                    |code| code.statements(then),
                    |code| code.statements(otherwise),
                );
            }
            Kind::Case(value, cases) => self.case(value, cases),
            Kind::While(condition, body) => self.repeated(|code| {
                let holds = code.condition(condition);
                code.ends_unless(holds);
                code.statements(body);
            }),
            Kind::Repeat(body, until) => self.repeated(|code| {
                code.statements(body);
                let holds = code.condition(until);
                let goes_on = code.op(Op::Not, &[holds]);
                code.ends_unless(goes_on);
            }),
            Kind::For {
                variable,
                from,
                to,
                is_down,
                body,
            } => self.counted((variable, *is_down), (from, to), body),
            Kind::With(frame, local, place, body) => {
                let bound = self.reference(place);
                let key = (self.which, *frame, *local);
                let before = self.environment.insert(key, bound);
                self.statements(body);
                match before {
                    Some(before) => self.environment.insert(key, before),
                    None => self.environment.remove(&key),
                };
            }
            Kind::All(domain, body) => {
                let stopped = self.each(domain, &mut |code| code.statements(body));
                self.hand_on(stopped);
            }
            Kind::ForOne {
                domain,
                condition,
                body,
                otherwise,
            } => {
                let found = self.one_that(domain, condition);
                self.either(
                    found,
                    |code| code.statements(body),
                    |code| code.statements(otherwise),
                );
            }
            Kind::Init(..)
            | Kind::Release(_)
            | Kind::Terminate(_)
            | Kind::Connect(..)
            | Kind::DisconnectPoint(_)
            | Kind::DisconnectModule(_)
            | Kind::Attach(..)
            | Kind::DetachPoint(_)
            | Kind::DetachModule(_)
            | Kind::Output(..) => self.structure(kind),
        }
    }

    fn assign(&mut self, place: &Place, value: &Expression) {
        let is_whole = matches!(
            self.program().types[place.type_id.index()],
            Type::Array { .. } | Type::Record { .. }
        );
        match (&value.kind, is_whole) {
            (ExpressionKind::Text(text), true) => {
                let to = self.locate(place);
                self.store_text(&to, text);
            }
            (ExpressionKind::Read(from), true) => {
                let to = self.locate(place);
                let from = self.locate(from);
                self.copy(&to, &from);
            }
            (_, _) => {
                let to = self.locate(place);
                let value = self.value(value);
                self.store(&to, value);
            }
        }
    }

    fn case(&mut self, value: &Expression, cases: &[(Vec<i64>, Vec<Statement>)]) {
        let value = self.value(value);
        let number = self.number(value);
        let behind = self.build.block(&[]);
        let wrong = self.build.block(&[]);
        let here = self.build.here();
        let mut edges = Vec::new();
        for (numbers, body) in cases {
            let block = self.build.block(&[]);
            let likely = Probability(0);
            edges.extend(
                numbers
                    .iter()
                    .map(|number| (u64::from(*number as u32), likely, Edge::to(block))),
            );
            self.build.go_to(block);
            self.statements(body);
            self.jump(behind);
        }
        self.build.go_to(here);
        self.build.end(Terminator::Switch {
            value: number,
            cases: edges,
            otherwise: Edge::to(wrong),
        });
        self.build.go_to(wrong);
        let fault = self.word(Fault::Case.number());
        self.stops(fault);
        self.build.go_to(behind);
    }

    /// Runs turns until one ends the loop; more turns than the limit are a fault.
    fn repeated(&mut self, body: impl FnOnce(&mut Code<'_, '_>)) {
        let most = self.lower.loop_limit();
        let count = self.word(most.into());
        let limit = Fault::LoopLimit.number();
        let stopped = self.turns((count, most), limit, &[], |code, _, _| body(code));
        let Some(number) = stopped else {
            let always = self.bit(true);
            self.fails_if(always, Fault::LoopLimit);
            return;
        };
        self.fails_with(number);
    }

    /// Ends the loop of this turn, without a fault, unless a bit is 1.
    fn ends_unless(&mut self, holds: Value) {
        let (yes, no) = self.build.branch(holds, Probability::EVEN);
        self.build.go_to(no);
        let done = self.word(0);
        self.stops(done);
        self.build.go_to(yes);
    }

    /// `for`: the bounds are evaluated once. The range of the variable is asked if a turn is done.
    fn counted(
        &mut self,
        (variable, is_down): (&Place, bool),
        (from, to): (&Expression, &Expression),
        body: &[Statement],
    ) {
        let from = self.value(from);
        let to = self.value(to);
        let ((from_low, from_high), (to_low, to_high)) = (known(&from), known(&to));
        let is_bit = matches!(from, Computed::Bit(_));
        let (from, to) = (self.number(from), self.number(to));
        let (last, first, least, widest) = match is_down {
            false => (to, from, to_low - from_high, to_high - from_low),
            true => (from, to, from_low - to_high, from_high - to_low),
        };
        let bits = match INTEGERS.0 <= least && widest < INTEGERS.1 {
            true => 32,
            false => 64,
        };
        let [last, first] = [last, first].map(|one| match bits {
            32 => one,
            _wide => self.op(Op::SignExtend(64), &[one]),
        });
        let most = (widest + 1).clamp(1, u32::MAX.into()) as u32;
        let between = self.arithmetic(Arithmetic::Sub, last, first);
        let [zero, one, limit] =
            [0, 1, u64::from(most)].map(|one| self.op(Op::Number(bits, one), &[]));
        let mut count = self.arithmetic(Arithmetic::Add, between, one);
        if least < -1 {
            count = self.arithmetic(Arithmetic::Smax, count, zero);
        }
        let count = self.arithmetic(Arithmetic::Umin, count, limit);
        let low = from_low.min(to_low);
        let high = from_high.max(to_high);
        let stopped = self.turns((count, most), 0, &[from], |code, turn, own| {
            let how = match is_down {
                false => Arithmetic::Add,
                true => Arithmetic::Sub,
            };
            let number = code.arithmetic(how, own[0], turn);
            let at = code.locate(variable);
            let value = match is_bit {
                true => Computed::Bit(code.op(Op::Truncate(1), &[number])),
                false => Computed::Ordinal(number, low, high),
            };
            code.store(&at, value);
            code.statements(body);
        });
        self.hand_on(stopped);
    }

    /// Runs code for each value of a domain, with the names bound; the number that stopped it.
    pub fn each(
        &mut self,
        domain: &Domain,
        does: &mut dyn FnMut(&mut Code<'_, '_>),
    ) -> Option<Value> {
        match domain {
            Domain::Ordinals(frame, all) => self.each_value(*frame, all, does),
            Domain::Children(frame, local, header) => {
                self.each_child((*frame, *local), *header, does)
            }
        }
    }

    fn each_value(
        &mut self,
        frame: FrameId,
        all: &[(usize, TypeId)],
        does: &mut dyn FnMut(&mut Code<'_, '_>),
    ) -> Option<Value> {
        let Some(((local, of), rest)) = all.split_first() else {
            unreachable!("a domain has a name");
        };
        let length = count(self.program(), *of);
        let turns = self.word(length.into());
        self.turns((turns, length), 0, &[], |code, turn, _| {
            let (low, high) = bounds(code.program(), *of);
            let first = code.word(low);
            let number = code.arithmetic(Arithmetic::Add, first, turn);
            code.bind(frame, *local, (number, low, high));
            match rest.is_empty() {
                true => does(code),
                false => {
                    let stopped = code.each_value(frame, rest, does);
                    // The number also stops the outer loops.
                    code.hand_on(stopped);
                }
            }
        })
    }

    /// Stores an ordinal number to a local variable.
    pub fn bind(&mut self, frame: FrameId, local: usize, (number, low, high): (Value, i64, i64)) {
        let storage = self.local(frame, local);
        let is_bit = storage.leaves[0].scalar == Scalar::Bit;
        let value = match is_bit {
            true => Computed::Bit(self.op(Op::Truncate(1), &[number])),
            false => Computed::Ordinal(number, low, high),
        };
        let at = self.local_place(storage);
        self.store(&at, value);
    }

    /// Compares two texts of one length.
    pub fn compared_texts(
        &mut self,
        operator: Binary,
        one: &Expression,
        other: &Expression,
    ) -> Value {
        let (one, other) = (self.bytes(one), self.bytes(other));
        let mut less = self.bit(false);
        let mut same = self.bit(true);
        for (one, other) in one.into_iter().zip(other) {
            let is_less = self.compare(Compare::Ult, one, other);
            let is_less = self.arithmetic(Arithmetic::And, same, is_less);
            less = self.arithmetic(Arithmetic::Or, less, is_less);
            let is_same = self.compare(Compare::Eq, one, other);
            same = self.arithmetic(Arithmetic::And, same, is_same);
        }
        let at_most = self.arithmetic(Arithmetic::Or, less, same);
        match operator {
            Binary::Equal => same,
            Binary::Less => less,
            Binary::LessOrEqual => at_most,
            Binary::Unequal => self.op(Op::Not, &[same]),
            Binary::Greater => self.op(Op::Not, &[at_most]),
            _at_least => self.op(Op::Not, &[less]),
        }
    }

    /// The characters of a text, as numbers of 32 bits.
    fn bytes(&mut self, text: &Expression) -> Vec<Value> {
        match &text.kind {
            ExpressionKind::Text(bytes) => {
                let bytes = bytes.iter();
                bytes.map(|byte| self.word(i64::from(*byte))).collect()
            }
            ExpressionKind::Read(place) => {
                let at = self.locate(place);
                self.characters(&at)
            }
            other => unreachable!("{other:?} is no text"),
        }
    }
}
