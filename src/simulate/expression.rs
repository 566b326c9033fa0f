//! The value of an expression, for both interpreters.
//!
//! In: an expression of the checked program or of a state tree, and the [`Moment`] in which it
//! stands. Out: its value. Operators wrap at the width of the result; `and`, `or`, `if` and `else`
//! evaluate what they need. Functions and filters are in [`super::function`].

use super::header;
use super::message::Message;
use super::options;
use super::state::State;
use super::value::{Datum, Locals, compare, fit, width};
use crate::types::constant::inverse;
use crate::types::expression::{
    Binary, Expression, ExpressionKind as Kind, Instance, Query, Unary, Variable,
};
use crate::types::program::{FieldId, HeaderFieldId, HeaderId, KindId, LocalId};
use crate::types::value::{Type, Value};
use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::rc::Rc;

/// What an expression can name besides the state of the stack.
#[derive(Clone, Debug, Default)]
pub struct Moment {
    /// The instance that code of a kind means by its own.
    pub own: BTreeMap<KindId, u32>,
    /// The session below that this is about, where a multiplexor stands on such as come and go; or
    /// that a header asks.
    pub below: Option<u32>,
    /// What the locals hold.
    pub locals: Locals,
    /// Headers that were stripped, or are being written, from their first byte on.
    pub headers: BTreeMap<HeaderId, Rc<[u8]>>,
    /// The message whose header is being read or written: [`LocalId::MESSAGE`].
    pub message: Option<Message>,
    /// Bytes of that header and of what follows it.
    pub whole_length: u64,
    /// Where the option of a header begins whose rules are judged.
    pub option: Option<usize>,
}

impl Moment {
    /// The same moment in a function or filter, which has locals of its own.
    pub fn inside(&self, locals: Locals) -> Moment {
        Moment {
            own: self.own.clone(),
            below: self.below,
            locals,
            headers: self.headers.clone(),
            message: self.message.clone(),
            whole_length: self.whole_length,
            option: self.option,
        }
    }
}

/// A running stack, and the instant in which something is evaluated.
#[derive(Debug)]
pub struct Evaluation<'a, 'p> {
    /// The stack.
    pub state: &'a mut State<'p>,
    /// The instant.
    pub instant: &'a mut Moment,
}

/// The beginning of a variable, and the steps from there.
struct Path {
    root: Root,
    steps: Vec<usize>,
}

#[derive(Clone, Copy)]
enum Root {
    Field(KindId, u32, FieldId),
    Local(LocalId),
}

impl Evaluation<'_, '_> {
    /// The value of an expression.
    pub fn value(&mut self, expression: &Expression) -> Datum {
        match &*expression.kind {
            Kind::Constant(value) => self.constant(value, &expression.result),
            Kind::Config(config) => self.state.config[config.at()].clone(),
            Kind::Read(variable) => self.read(variable),
            Kind::Key(instance, kind, key) => {
                let index = self.index(*instance, *kind) as usize;
                self.state.kinds[kind.at()].keys[index][key.at()].clone()
            }
            Kind::Header(header, field) => {
                let bytes = self.stripped(*header);
                self.header_field(*header, *field, &bytes, &expression.result)
            }
            Kind::Peeked(local, header, field) => {
                let bytes = self.peeked(*local);
                self.header_field(*header, *field, &bytes, &expression.result)
            }
            Kind::HeaderPresent(header, field) => {
                let bytes = self.stripped(*header);
                Datum::of_bool(header::is_present(self, *header, *field, &bytes))
            }
            Kind::PeekedPresent(local, header, field) => {
                let bytes = self.peeked(*local);
                Datum::of_bool(header::is_present(self, *header, *field, &bytes))
            }
            Kind::OptionsHold(header) => self.options_hold(*header),
            Kind::Attribute(message, attribute) => {
                self.message(*message).attribute(*attribute).clone()
            }
            Kind::Length(message) => Datum::Number(self.message(*message).length() as u64),
            Kind::WholeLength => Datum::Number(self.instant.whole_length),
            Kind::Below => Datum::Number(u64::from(self.session_below())),
            Kind::Now => Datum::Number(self.state.now_ns),
            Kind::Signal(_) => unreachable!("signals are settled before values are computed"),
            Kind::Unary(operator, operand) => self.unary(*operator, operand, &expression.result),
            Kind::Binary(operator, left, right) => {
                self.binary(*operator, left, right, &expression.result)
            }
            Kind::If(condition, then, otherwise) => {
                let chosen = if self.is_true(condition) {
                    then
                } else {
                    otherwise
                };
                self.value(chosen)
            }
            Kind::Some(value) => Datum::some(self.value(value)),
            Kind::Unwrap(value) => self.optional(value).expect("a test has seen it there"),
            Kind::Present(value) => Datum::of_bool(self.optional(value).is_some()),
            Kind::Else(value, other) => {
                let value = self.optional(value);
                value.unwrap_or_else(|| self.value(other))
            }
            Kind::Cast(value) => Datum::Number(fit(&expression.result, self.number(value))),
            Kind::BytesLength(bytes) => Datum::Number(self.bytes(bytes).len() as u64),
            Kind::ByteAt(bytes, index) => self.byte_at(bytes, index),
            Kind::Bounded(bytes) => self.value(bytes),
            Kind::Call(function, arguments) => self.call(*function, arguments),
            Kind::Least(left, right) => self.chosen(Ordering::Less, left, right),
            Kind::Greatest(left, right) => self.chosen(Ordering::Greater, left, right),
            Kind::Query(query) => self.query(query, &expression.result),
            Kind::Through(filter, arguments, message) => {
                let arguments = self.values(arguments);
                let data = self.message(*message).data().to_vec();
                let result = self.run_filter(*filter, arguments, &data).0;
                result.expect("a filter that is used as a value has a result")
            }
        }
    }

    /// Whether the options of a header keep their rules.
    fn options_hold(&mut self, header: HeaderId) -> Datum {
        let bytes = self.stripped(header);
        Datum::of_bool(options::hold(self, header, &bytes))
    }

    /// A byte of bounded bytes, which is there.
    fn byte_at(&mut self, bytes: &Expression, index: &Expression) -> Datum {
        let index = self.number(index) as usize;
        Datum::Number(u64::from(self.bytes(bytes)[index]))
    }

    /// Bytes, as many as there are.
    fn bytes(&mut self, expression: &Expression) -> Vec<u8> {
        match self.value(expression) {
            Datum::Bytes(bytes) => bytes,
            other => panic!("the checker has seen bytes here, not {other:?}"),
        }
    }

    /// The bytes of a header that was stripped, or is written.
    fn stripped(&self, header: HeaderId) -> Rc<[u8]> {
        let bytes = self.instant.headers.get(&header);
        let bytes = bytes.expect("a header is read where one was stripped");
        bytes.clone()
    }

    /// The bytes of a header that was peeked at.
    fn peeked(&self, local: LocalId) -> Rc<[u8]> {
        match &self.instant.locals[local.at()] {
            Datum::Header(bytes) => bytes.clone(),
            other => panic!("a peek has found a header, not {other:?}"),
        }
    }

    /// The values of expressions, in order.
    pub fn values(&mut self, expressions: &[Expression]) -> Vec<Datum> {
        let mut values = Vec::new();
        for expression in expressions {
            values.push(self.value(expression));
        }
        values
    }

    /// The number that an expression is.
    pub fn number(&mut self, expression: &Expression) -> u64 {
        self.value(expression).number()
    }

    /// Whether a condition holds.
    pub fn is_true(&mut self, condition: &Expression) -> bool {
        self.number(condition) != 0
    }

    /// The value of an optional, if it is there.
    pub fn optional(&mut self, expression: &Expression) -> Option<Datum> {
        match self.value(expression) {
            Datum::Optional(value) => value.map(|value| *value),
            other => panic!("the checker has seen an optional here, not {other:?}"),
        }
    }

    /// The session below that is asked: of a multiplexor the one that this is about, else the one
    /// with the index of its own session.
    fn session_below(&self) -> u32 {
        let own = self.instant.own.values().next();
        let known = self.instant.below.or(own.copied());
        known.expect("the checker has seen a session below")
    }

    /// The index of an instance among those of its kind.
    pub fn index(&self, instance: Instance, kind: KindId) -> u32 {
        match instance {
            Instance::Own => self.instant.own.get(&kind).copied().unwrap_or(0),
            Instance::Entity => 0,
            Instance::Local(local) => self.instant.locals[local.at()].number() as u32,
            Instance::Only(index) => index,
        }
    }

    /// A message that a local holds, or whose header is being read or written.
    pub fn message(&self, local: LocalId) -> &Message {
        if local == LocalId::MESSAGE {
            let message = self.instant.message.as_ref();
            return message.expect("a header is read or written with its message");
        }
        self.instant.locals[local.at()].message()
    }

    /// A variable's value.
    pub fn read(&mut self, variable: &Variable) -> Datum {
        if *variable == Variable::Local(LocalId::MESSAGE) {
            return Datum::Message(Box::new(self.message(LocalId::MESSAGE).clone()));
        }
        let path = self.path(variable);
        if let Some(byte) = self.byte(&path) {
            return Datum::Number(u64::from(*byte));
        }
        self.place(&path).clone()
    }

    /// Binds a local to a value. A message moves there from the local that held it.
    pub fn bind(&mut self, local: LocalId, expression: &Expression) {
        let value = match (&*expression.kind, &expression.result) {
            (Kind::Read(Variable::Local(from)), Type::Message) => {
                std::mem::replace(&mut self.instant.locals[from.at()], Datum::Absent)
            }
            _ => self.value(expression),
        };
        self.instant.locals[local.at()] = value;
    }

    /// Writes a variable.
    pub fn write(&mut self, variable: &Variable, value: Datum) {
        let path = self.path(variable);
        if let Some(byte) = self.byte(&path) {
            *byte = value.number() as u8;
            return;
        }
        *self.place(&path) = value;
    }

    /// A variable to be changed where it stands.
    pub fn variable(&mut self, variable: &Variable) -> &mut Datum {
        let path = self.path(variable);
        self.place(&path)
    }

    /// A field of a header, out of the bytes from the header's start on.
    fn header_field(
        &mut self,
        header: HeaderId,
        field: HeaderFieldId,
        bytes: &[u8],
        result: &Type,
    ) -> Datum {
        if matches!(result, Type::Optional(_)) {
            let present = header::is_present(self, header, field, bytes);
            let value = present.then(|| Box::new(header::read(self, header, field, bytes)));
            return Datum::Optional(value);
        }
        header::read(self, header, field, bytes)
    }

    fn constant(&self, value: &Value, kind: &Type) -> Datum {
        Datum::of(self.state.program, value, kind)
    }

    fn unary(&mut self, operator: Unary, operand: &Expression, result: &Type) -> Datum {
        let number = self.number(operand);
        Datum::Number(match operator {
            Unary::Not => u64::from(number == 0),
            Unary::Negate => fit(result, number.wrapping_neg()),
            Unary::Complement => fit(result, !number),
            Unary::Inverse => u64::from(inverse(number as u8)),
        })
    }

    fn binary(
        &mut self,
        operator: Binary,
        left: &Expression,
        right: &Expression,
        result: &Type,
    ) -> Datum {
        let order = |evaluation: &mut Self| evaluation.order(left, right);
        let truth = match operator {
            Binary::Or => self.is_true(left) || self.is_true(right),
            Binary::And => self.is_true(left) && self.is_true(right),
            Binary::Equal => self.value(left) == self.value(right),
            Binary::Unequal => self.value(left) != self.value(right),
            Binary::Less => order(self) == Ordering::Less,
            Binary::AtMost => order(self) != Ordering::Greater,
            Binary::Greater => order(self) == Ordering::Greater,
            Binary::AtLeast => order(self) != Ordering::Less,
            Binary::BitOr
            | Binary::BitXor
            | Binary::BitAnd
            | Binary::ShiftLeft
            | Binary::ShiftRight
            | Binary::Add
            | Binary::Subtract
            | Binary::Multiply
            | Binary::Divide
            | Binary::Remainder => return self.arithmetic(operator, left, right, result),
        };
        Datum::of_bool(truth)
    }

    fn arithmetic(
        &mut self,
        operator: Binary,
        left: &Expression,
        right: &Expression,
        result: &Type,
    ) -> Datum {
        let (one, other) = (self.number(left), self.number(right));
        let signed = matches!(result, Type::Signed(_));
        let bits = u64::from(width(self.state.program, result));
        let shift = |shifted: fn(u64, u32) -> u64| {
            if other < bits {
                shifted(one, other as u32)
            } else {
                0
            }
        };
        let number = match operator {
            Binary::BitOr => one | other,
            Binary::BitXor => one ^ other,
            Binary::BitAnd => one & other,
            Binary::ShiftLeft => shift(|one, by| one << by),
            Binary::ShiftRight if signed => shift(|one, by| (one as i64 >> by) as u64),
            Binary::ShiftRight => shift(|one, by| one >> by),
            Binary::Add => one.wrapping_add(other),
            Binary::Subtract => one.wrapping_sub(other),
            Binary::Multiply => one.wrapping_mul(other),
            Binary::Divide if signed => (one as i64).wrapping_div(other as i64) as u64,
            Binary::Divide => one / other,
            Binary::Remainder if signed => (one as i64).wrapping_rem(other as i64) as u64,
            Binary::Remainder => one % other,
            Binary::Or
            | Binary::And
            | Binary::Equal
            | Binary::Unequal
            | Binary::Less
            | Binary::AtMost
            | Binary::Greater
            | Binary::AtLeast => unreachable!("operators that tell a truth stand above"),
        };
        Datum::Number(fit(result, number))
    }

    fn order(&mut self, left: &Expression, right: &Expression) -> Ordering {
        let (one, other) = (self.number(left), self.number(right));
        compare(self.state.program, &left.result, one, other)
    }

    fn chosen(&mut self, wanted: Ordering, left: &Expression, right: &Expression) -> Datum {
        let (one, other) = (self.number(left), self.number(right));
        let order = compare(self.state.program, &left.result, one, other);
        Datum::Number(if order == wanted { one } else { other })
    }

    fn query(&mut self, query: &Query, result: &Type) -> Datum {
        match query {
            Query::IsEmpty(queue) => match self.variable(queue) {
                Datum::Queue(queue) => Datum::of_bool(queue.is_empty()),
                other => panic!("the checker has seen a queue here, not {other:?}"),
            },
            Query::Has(container, number) => {
                let number = self.number(number) as u32;
                Datum::of_bool(match self.variable(container) {
                    Datum::Window(window) => window.has(number),
                    Datum::Set(set) => set.has(number),
                    other => panic!("the checker has seen a window or set here, not {other:?}"),
                })
            }
            Query::First(window) => match self.variable(window) {
                Datum::Window(window) => {
                    let first = window.first().map(u64::from).map(Datum::Number);
                    Datum::Optional(first.map(Box::new))
                }
                other => panic!("the checker has seen a window here, not {other:?}"),
            },
            Query::Covers(stream, at, length) => {
                let (at, length) = (self.number(at), self.number(length));
                let ready = u64::from(self.stream(stream).ready(at as u32));
                Datum::of_bool(ready >= length)
            }
            Query::Ready(stream, at) => {
                let at = self.number(at) as u32;
                let ready = u64::from(self.stream(stream).ready(at));
                Datum::Number(fit(result, ready))
            }
            Query::Begin(stream) => Datum::Number(u64::from(self.stream(stream).begin())),
            Query::End(stream) => Datum::Number(u64::from(self.stream(stream).end())),
            Query::Running(instance, kind, timer) => {
                let id = (*kind, self.index(*instance, *kind), *timer);
                Datum::of_bool(self.state.timers.is_running(&id))
            }
            Query::Release(stream, to) => {
                let to = self.number(to) as u32;
                Datum::Number(u64::from(self.release_bytes(stream, to)))
            }
            Query::Exists(kind, keys) => {
                let keys = self.values(keys);
                Datum::of_bool(self.state.find(*kind, &keys).is_some())
            }
            Query::GoesOn => Datum::of_bool(self.state.goes_on()),
            Query::Ended(instance, kind) => {
                let index = self.index(*instance, *kind);
                Datum::of_bool(!self.state.kinds[kind.at()].found.contains(&index))
            }
            Query::InsertSet(set, number) => {
                let number = self.number(number);
                match self.variable(set) {
                    Datum::Set(set) => {
                        let element = u32::try_from(number);
                        Datum::of_bool(element.is_ok_and(|element| set.insert(element)))
                    }
                    other => panic!("the checker has seen a set here, not {other:?}"),
                }
            }
        }
    }

    fn path(&mut self, variable: &Variable) -> Path {
        let (inner, step) = match variable {
            Variable::Field(instance, kind, field) => {
                let root = Root::Field(*kind, self.index(*instance, *kind), *field);
                return Path {
                    root,
                    steps: Vec::new(),
                };
            }
            Variable::Local(local) => {
                let root = Root::Local(*local);
                return Path {
                    root,
                    steps: Vec::new(),
                };
            }
            Variable::Element(array, index) => (array, self.number(index) as usize),
            Variable::Part(record, _, field) => (record, field.at()),
        };
        let mut path = self.path(inner);
        path.steps.push(step);
        path
    }

    fn place(&mut self, path: &Path) -> &mut Datum {
        let root = match path.root {
            Root::Field(kind, index, field) => {
                &mut self.state.kinds[kind.at()].fields[index as usize][field.at()]
            }
            Root::Local(local) => &mut self.instant.locals[local.at()],
        };
        path.steps.iter().fold(root, |place, step| match place {
            Datum::Array(data) | Datum::Record(data) => &mut data[*step],
            Datum::Optional(Some(whole)) => match &mut **whole {
                Datum::Record(data) => &mut data[*step],
                other => panic!("the checker has seen a record here, not {other:?}"),
            },
            other => panic!("the checker has seen an array or record here, not {other:?}"),
        })
    }

    /// The byte that a path ends in, where it ends in an element of bytes.
    fn byte(&mut self, path: &Path) -> Option<&mut u8> {
        let (last, steps) = path.steps.split_last()?;
        let root = path.root;
        let steps = steps.to_vec();
        match self.place(&Path { root, steps }) {
            Datum::Bytes(bytes) => Some(&mut bytes[*last]),
            Datum::Absent
            | Datum::Number(_)
            | Datum::Optional(_)
            | Datum::Record(_)
            | Datum::Array(_)
            | Datum::Message(_)
            | Datum::Header(_)
            | Datum::Queue(_)
            | Datum::Window(_)
            | Datum::Stream(_)
            | Datum::Set(_) => None,
        }
    }
}
