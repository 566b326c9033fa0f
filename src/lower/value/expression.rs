//! Every kind of expression: in, an expression; out, the parts of its value.

use super::lazy::{is_option_in_reach, is_total};
use crate::ir::op::{Arithmetic, Attempt, Compare, Number, Op, Place, Question};
use crate::ir::{Probability, Region, Value};
use crate::lower::code::{Code, Name};
use crate::lower::shapes::{self, constant};
use crate::lower::tables;
use crate::types::expression::{Expression, ExpressionKind as Kind, Instance, Query, Variable};
use crate::types::program::{AttributeId, KindId, LocalId, Population};
use crate::types::value::Type;

impl Code<'_, '_> {
    /// The parts of the value of an expression.
    pub fn value(&mut self, expression: &Expression) -> Vec<Value> {
        match &*expression.kind {
            Kind::Constant(value) => {
                let parts = constant(self.lower.program, value, &expression.result);
                self.constants(parts)
            }
            Kind::Config(id) => {
                let loads: Vec<Op> = tables::settings(self.lower.program, id.at()).collect();
                self.constants(loads)
            }
            Kind::Read(variable) => self.read(variable),
            Kind::Key(instance, kind, key) => self.key(*instance, *kind, key.at()),
            Kind::Header(header, field) => self.stripped_value(*header, *field, &expression.result),
            Kind::Peeked(local, header, field) => {
                let view = self.named(Name::Local(*local))[0];
                self.header_value(*header, *field, view, &expression.result)
            }
            Kind::HeaderPresent(header, field) => {
                vec![self.stripped_presence(*header, *field)]
            }
            Kind::PeekedPresent(local, header, field) => {
                let view = self.named(Name::Local(*local))[0];
                vec![self.is_present(*header, *field, view)]
            }
            Kind::OptionsHold(header) => {
                let view = self.named(Name::Header(*header))[0];
                vec![self.options_hold(*header, view)]
            }
            Kind::Attribute(message, attribute) => self.attribute(*message, *attribute),
            Kind::Length(message) => vec![self.length(*message)],
            Kind::WholeLength => self.named(Name::WholeLength).to_vec(),
            Kind::Below => self.named(Name::Below).to_vec(),
            Kind::Now => vec![self.load(Region::Now, &[])],
            Kind::Signal(_) => unreachable!("signals are settled before trees are made"),
            Kind::Unary(operator, operand) => vec![self.unary(*operator, operand)],
            Kind::Binary(operator, one, other) => {
                vec![self.binary(*operator, one, other, &expression.result)]
            }
            Kind::If(condition, then, otherwise) => self.conditional(condition, then, otherwise),
            Kind::Some(value) => {
                let mut parts = vec![self.bit(true)];
                parts.extend(self.value(value));
                parts
            }
            Kind::Unwrap(value) => self.value(value).split_off(1),
            Kind::Present(value) => vec![self.value(value)[0]],
            Kind::Else(value, other) => self.value_or(value, other),
            Kind::Cast(value) => vec![self.cast(value, &expression.result)],
            Kind::BytesLength(bytes) => {
                let length = self.value(bytes)[0];
                vec![self.as_type(length, &expression.result)]
            }
            Kind::ByteAt(bytes, index) => vec![self.byte_at(bytes, index)],
            Kind::Bounded(bytes) => self.bounded(bytes, &expression.result),
            Kind::Call(function, arguments) => self.call(*function, arguments),
            Kind::Least(one, other) => vec![self.chosen(false, one, other)],
            Kind::Greatest(one, other) => vec![self.chosen(true, one, other)],
            Kind::Query(query) => self.query(query, &expression.result),
            Kind::Through(filter, arguments, message) => {
                let data = self.data(*message);
                self.run_filter(*filter, arguments, data)
            }
        }
    }

    /// The only part of the value of an expression.
    pub fn plain(&mut self, expression: &Expression) -> Value {
        let parts = self.value(expression);
        assert_eq!(parts.len(), 1, "{expression:?} has one part");
        parts[0]
    }

    /// The value of an expression as a length or index.
    pub fn word_value(&mut self, expression: &Expression) -> Value {
        let value = self.plain(expression);
        self.resized(value, 32)
    }

    /// A length that is given as any number: what a message can have at most, if it is more.
    pub fn clamped(&mut self, expression: &Expression, most: Value) -> Value {
        let value = self.plain(expression);
        let bits = self.build.type_of(value).bits().unwrap_or(32);
        if bits <= 32 {
            let value = self.resized(value, 32);
            return self.arithmetic(Arithmetic::Umin, value, most);
        }
        let most = self.resized(most, bits);
        let least = self.arithmetic(Arithmetic::Umin, value, most);
        self.resized(least, 32)
    }

    /// The parts of the values of expressions, one behind the other.
    pub fn values(&mut self, expressions: &[Expression]) -> Vec<Value> {
        let mut all = Vec::new();
        for expression in expressions {
            all.extend(self.value(expression));
        }
        all
    }

    /// The length of a message.
    pub fn length(&mut self, message: LocalId) -> Value {
        let message = self.meant(message);
        match self.known(Name::Length(message)) {
            Some(length) => length[0],
            None => {
                let message = self.message(message);
                self.value_of(Op::Length, &[message])
            }
        }
    }

    /// The data of a message, as a view.
    pub fn data(&mut self, message: LocalId) -> Value {
        let message = self.meant(message);
        match self.known(Name::Data(message)) {
            Some(data) => data[0],
            None => {
                let message = self.message(message);
                self.value_of(Op::Look, &[message])
            }
        }
    }

    /// The parts of an attribute of a message.
    pub fn attribute(&mut self, message: LocalId, attribute: AttributeId) -> Vec<Value> {
        let message = self.meant(message);
        if let Some(known) = self.known(Name::Attribute(message, attribute)) {
            return known.to_vec();
        }
        let message = self.message(message);
        let parts = self.lower.attribute(attribute).into_iter();
        let parts = parts.map(|part| self.value_of(Op::Attribute(part), &[message]));
        parts.collect()
    }

    /// The parts of a key; of an instance that is always there they are constants.
    fn key(&mut self, instance: Instance, kind: KindId, key: usize) -> Vec<Value> {
        let program = self.lower.program;
        let table = &program.kinds[kind.at()];
        let of = &table.keys[key].kind;
        let index = match (instance, table.capacity) {
            (Instance::Only(index), _) => Some(index),
            (_, 1) => Some(0),
            (Instance::Own | Instance::Entity | Instance::Local(_), _) => None,
        };
        if let (Population::Static(all), Some(index)) = (&table.population, index) {
            let parts = constant(program, &all[index as usize].keys[key], of);
            return self.constants(parts);
        }
        let first = tables::first_key(program, kind, key);
        let count = shapes::parts(program, of).len();
        let owner = self.instance(instance, kind);
        self.load_parts(kind, first, count, &[owner])
    }

    /// Loads parts of a field that stand one behind the other.
    pub fn load_parts(
        &mut self,
        kind: KindId,
        first: crate::ir::FieldId,
        count: usize,
        operands: &[Value],
    ) -> Vec<Value> {
        let kind = self.lower.kind(kind);
        let all = (first.0..first.0 + count as u32).map(crate::ir::FieldId);
        let loaded = all.map(|field| self.load(Region::Field(kind, field), operands));
        loaded.collect()
    }

    fn conditional(
        &mut self,
        condition: &Expression,
        then: &Expression,
        otherwise: &Expression,
    ) -> Vec<Value> {
        let bit = self.plain(condition);
        let program = self.lower.program;
        let can_be_read = is_total(program, then) || is_option_in_reach(program, then);
        if can_be_read && is_total(program, otherwise) {
            let (then, otherwise) = (self.value(then), self.value(otherwise));
            return self.select(bit, &then, &otherwise);
        }
        self.choose(bit, |code| code.value(then), |code| code.value(otherwise))
    }

    fn value_or(&mut self, value: &Expression, other: &Expression) -> Vec<Value> {
        let parts = self.value(value);
        let (has, known) = (parts[0], parts[1..].to_vec());
        if is_total(self.lower.program, other) {
            let other = self.value(other);
            return self.select(has, &known, &other);
        }
        self.choose(has, |_| known, |code| code.value(other))
    }

    fn byte_at(&mut self, bytes: &Expression, index: &Expression) -> Value {
        let parts = self.value(bytes);
        let index = self.word_value(index);
        let byte = Number {
            bytes: 1,
            big: true,
        };
        let last = parts.last().copied().expect("bytes have parts");
        self.value_of(Op::Get(byte), &[last, index])
    }

    /// Fixed or bounded bytes with another bound.
    fn bounded(&mut self, bytes: &Expression, result: &Type) -> Vec<Value> {
        let parts = self.value(bytes);
        let (length, data) = match (&bytes.result, &parts[..]) {
            (Type::Bytes(length), [data]) => (self.word(*length), *data),
            (_, [length, data]) => (*length, *data),
            _ => unreachable!("bytes have one part or two"),
        };
        let Type::BoundedBytes(most) = result else {
            unreachable!("bounded bytes have a bound");
        };
        let data = match self.build.type_of(data) {
            crate::ir::Type::Bytes(own) if own == *most => data,
            _ => self.value_of(Op::Resize(*most), &[data]),
        };
        vec![length, data]
    }

    /// A container, and the operands that say where it is.
    pub fn container(&mut self, variable: &Variable) -> (Place, Vec<Value>) {
        let Variable::Field(instance, kind, field) = variable else {
            panic!("a container is a field: {variable:?}");
        };
        let owner = self.instance(*instance, *kind);
        let place = Place {
            kind: self.lower.kind(*kind),
            field: self.lower.field(*kind, *field),
        };
        (place, vec![owner])
    }

    /// Asks a container.
    fn ask(&mut self, question: Question, variable: &Variable, rest: &[Value]) -> Vec<Value> {
        let (place, mut operands) = self.container(variable);
        operands.extend(rest);
        self.op(Op::Ask(question, place), &operands)
    }

    fn query(&mut self, query: &Query, result: &Type) -> Vec<Value> {
        match query {
            Query::IsEmpty(queue) => self.ask(Question::IsEmpty, queue, &[]),
            Query::Has(container, number) => {
                let number = self.word_value(number);
                self.ask(Question::Has, container, &[number])
            }
            Query::First(window) => {
                let parts = self.ask(Question::First, window, &[]);
                let Type::Optional(number) = result else {
                    unreachable!("the first number of a window may be missing");
                };
                vec![parts[0], self.as_type(parts[1], number)]
            }
            Query::Covers(stream, at, length) => {
                let (at, length) = (self.word_value(at), self.plain(length));
                let bits = self.build.type_of(length).bits().unwrap_or(32).max(32);
                let ready = self.ask(Question::Ready, stream, &[at])[0];
                let (ready, length) = (self.resized(ready, bits), self.resized(length, bits));
                vec![self.compare(Compare::Ule, length, ready)]
            }
            Query::Ready(stream, at) => {
                let at = self.word_value(at);
                let ready = self.ask(Question::Ready, stream, &[at])[0];
                vec![self.as_type(ready, result)]
            }
            Query::Begin(stream) => {
                let begin = self.ask(Question::Begin, stream, &[])[0];
                vec![self.as_type(begin, result)]
            }
            Query::End(stream) => {
                let end = self.ask(Question::End, stream, &[])[0];
                vec![self.as_type(end, result)]
            }
            Query::Running(instance, kind, timer) => {
                let owner = self.instance(*instance, *kind);
                let timer = crate::ir::TimerId(timer.0);
                let asked = Op::TimerRuns(self.lower.kind(*kind), timer);
                vec![self.value_of(asked, &[owner])]
            }
            Query::Exists(kind, keys) => {
                let keys = self.values(keys);
                let attempt = Attempt::Find(self.lower.kind(*kind));
                vec![self.succeeds(attempt, &keys)]
            }
            Query::Ended(instance, kind) => {
                let owner = self.instance(*instance, *kind);
                vec![self.value_of(Op::Ended(self.lower.kind(*kind)), &[owner])]
            }
            Query::GoesOn => vec![self.value_of(Op::GoesOn(1), &[])],
            Query::InsertSet(set, number) => {
                let number = self.word_value(number);
                self.change(crate::ir::op::Change::Add, set, &[number])
            }
            Query::Release(stream, to) => {
                let to = self.word_value(to);
                let freed = self.change(crate::ir::op::Change::ReleaseBytes, stream, &[to])[0];
                vec![self.as_type(freed, result)]
            }
        }
    }

    /// Changes a container.
    pub fn change(
        &mut self,
        how: crate::ir::op::Change,
        variable: &Variable,
        rest: &[Value],
    ) -> Vec<Value> {
        let (place, mut operands) = self.container(variable);
        operands.extend(rest);
        self.op(Op::Change(how, place), &operands)
    }

    /// A bit: something that is tried succeeds.
    fn succeeds(&mut self, attempt: Attempt, operands: &[Value]) -> Value {
        let (done, failed) = self.attempt_op(attempt, operands, Probability::EVEN);
        let before = self.environment.clone();
        let mut ways = Vec::new();
        for (block, holds) in [(done, true), (failed, false)] {
            self.build.go_to(block);
            let mut way = crate::lower::code::Way::new(block, before.clone());
            way.results = vec![self.bit(holds)];
            ways.push(way);
        }
        self.meet(ways, |_| true)[0]
    }
}
