//! Expressions: in, one of them; out, its value, behind all that has to be asked before.
//!
//! Checks for a missing value and for a zero divisor come before the operation. The second operand
//! of `and` and `or` is evaluated only where the first does not decide, if that makes a
//! difference.

use super::code::Code;
use super::known::Read;
use super::memory::Record;
use super::outside::type_of;
use crate::ir::op::{Arithmetic, Compare, Floating};
use crate::ir::{Edge, Op, Terminator, Type as Plain, Value};
use crate::syntax::esterel::ast::{Binary, Unary};
use crate::types::esterel::{Combine, Expression, ExpressionKind as Kind, Type};
use crate::types::process::{Fault, SignalId};

impl Code<'_, '_> {
    /// The value of an expression.
    pub fn value(&mut self, expression: &Expression) -> Value {
        match &*expression.kind {
            Kind::Boolean(truth) => self.bit(*truth),
            Kind::Integer(number) => self.word(u64::from(*number as u32)),
            Kind::Real(text) => self.op(real(text, expression.result), &[]),
            Kind::Text(text) => {
                let Plain::Opaque(of) = type_of(Type::Text) else {
                    unreachable!("texts are an opaque type");
                };
                self.op(Op::Text(of, text.clone()), &[])
            }
            Kind::Constant(constant) => {
                let lower = &mut *self.lower;
                let known = &lower.source.constants[*constant as usize];
                let module = &mut lower.module;
                let id = lower.outside.constant(module, &known.name, known.kind);
                self.op(Op::Foreign(id, Vec::new()), &[])
            }
            Kind::Variable(variable) => {
                let place = self.region(Record::Variable, variable.0);
                self.load(place)
            }
            Kind::Value(signal) => {
                match self.lower.is_sensor(*signal) {
                    true => self.sense(*signal),
                    false => self.ask(Read::Now(*signal)),
                }
                let place = self.region(Record::Value, signal.0);
                self.load(place)
            }
            Kind::Before(signal) => {
                self.ask(Read::Before(*signal));
                let place = self.region(Record::Before, signal.0);
                self.load(place)
            }
            Kind::Call(function, operands) => {
                let operands = operands.iter().map(|one| self.value(one));
                let operands: Vec<Value> = operands.collect();
                self.called(*function, &operands)
            }
            Kind::Unary(Unary::Not, operand) => {
                let operand = self.value(operand);
                self.op(Op::Not, &[operand])
            }
            Kind::Unary(Unary::Negate, operand) => {
                let operand = self.value(operand);
                match expression.result {
                    Type::Integer => {
                        let zero = self.word(0);
                        self.op(Op::Arithmetic(Arithmetic::Sub), &[zero, operand])
                    }
                    _fraction => self.op(Op::Float(Floating::Neg), &[operand]),
                }
            }
            Kind::Binary(operator, one, other) => self.operation(*operator, one, other),
        }
    }

    /// A function of C.
    fn called(&mut self, function: u32, operands: &[Value]) -> Value {
        let lower = &mut *self.lower;
        let known = &lower.source.functions[function as usize];
        let result = Some(known.result);
        let module = &mut lower.module;
        let id = lower
            .outside
            .function(module, &known.name, &known.parameters, result);
        self.op(Op::Foreign(id, Vec::new()), operands)
    }

    /// A value that may not be there yet.
    fn ask(&mut self, read: Read) {
        if self.lower.known.is_there(self.node, read) {
            return;
        }
        let (record, signal) = match read {
            Read::Now(signal) => (Record::Known, signal),
            Read::Before(signal) => (Record::KnownBefore, signal),
        };
        let known = self.region(record, signal.0);
        let known = self.load(known);
        let unknown = self.op(Op::Not, &[known]);
        self.fails_if(unknown, &Fault::Unset(signal));
    }

    /// A sensor is read, if it was not yet in this instant.
    pub fn sense(&mut self, signal: SignalId) {
        let here = (self.build.here(), signal);
        if !self.sensed.contains(&here) {
            let id = self.lower.senses[&signal];
            self.all(Op::Call(id), &[]);
            self.sensed.push(here);
        }
    }

    fn operation(&mut self, operator: Binary, one: &Expression, other: &Expression) -> Value {
        let left = self.value(one);
        let of = one.result;
        match operator {
            Binary::And | Binary::Or if self.matters(other) => {
                return self.decided(operator, left, other);
            }
            Binary::Divide | Binary::Modulo if of == Type::Integer => {
                let right = self.divisor(other);
                let how = if operator == Binary::Divide {
                    Arithmetic::Sdiv
                } else {
                    Arithmetic::Srem
                };
                return self.op(Op::Arithmetic(how), &[left, right]);
            }
            _ => {}
        }
        let right = self.value(other);
        self.combined(operator, of, left, right)
    }

    /// The result of an operator on two values of a type, none of which may be a divisor of 0.
    fn combined(&mut self, operator: Binary, of: Type, one: Value, other: Value) -> Value {
        let op = match (operator, of) {
            (Binary::Equal | Binary::Unequal, _) => {
                let equal = self.equal(of, one, other);
                return match operator {
                    Binary::Equal => equal,
                    _unequal => self.op(Op::Not, &[equal]),
                };
            }
            (Binary::Greater, of) => return self.combined(Binary::Less, of, other, one),
            (Binary::AtLeast, of) => return self.combined(Binary::AtMost, of, other, one),
            (Binary::And, _) => Op::Arithmetic(Arithmetic::And),
            (Binary::Or, _) => Op::Arithmetic(Arithmetic::Or),
            (operator, Type::Float | Type::Double) => Op::Float(match operator {
                Binary::Add => Floating::Add,
                Binary::Subtract => Floating::Sub,
                Binary::Multiply => Floating::Mul,
                Binary::Less => Floating::Lt,
                Binary::AtMost => Floating::Le,
                _divide => Floating::Div,
            }),
            (Binary::Less, _) => Op::Compare(Compare::Slt),
            (Binary::AtMost, _) => Op::Compare(Compare::Sle),
            (Binary::Add, _) => Op::Arithmetic(Arithmetic::Add),
            (Binary::Subtract, _) => Op::Arithmetic(Arithmetic::Sub),
            (Binary::Multiply, _) => Op::Arithmetic(Arithmetic::Mul),
            (Binary::Divide | Binary::Modulo, _) => {
                unreachable!("divisors are asked, and nothing that combines divides")
            }
        };
        self.op(op, &[one, other])
    }

    fn equal(&mut self, of: Type, one: Value, other: Value) -> Value {
        match of {
            Type::Boolean | Type::Integer | Type::Text => self.compare(Compare::Eq, one, other),
            Type::Float | Type::Double => self.op(Op::Float(Floating::Eq), &[one, other]),
            Type::User(kind) => {
                let lower = &mut *self.lower;
                let name = format!("_eq_{}", lower.source.types[kind as usize]);
                let module = &mut lower.module;
                let result = Some(Type::Boolean);
                let id = lower.outside.function(module, &name, &[of, of], result);
                self.op(Op::Foreign(id, Vec::new()), &[one, other])
            }
        }
    }

    /// `and` and `or`: the second operand is not computed where the first decides.
    fn decided(&mut self, operator: Binary, left: Value, other: &Expression) -> Value {
        let hint = if operator == Binary::And {
            "both"
        } else {
            "either"
        };
        let join = self.build.block(&[(Plain::BIT, hint)]);
        let open = match operator {
            Binary::And => left,
            _or => self.op(Op::Not, &[left]),
        };
        let decides = self.when(open);
        let right = self.value(other);
        for (from, value) in [(None, right), (Some(decides), left)] {
            if let Some(from) = from {
                self.build.go_to(from);
            }
            self.build.end(Terminator::Jump(Edge {
                block: join,
                arguments: vec![value],
            }));
        }
        self.build.go_to(join);
        self.build.parameter_of(join, 0)
    }

    /// A divisor that is not 0.
    fn divisor(&mut self, divisor: &Expression) -> Value {
        let fault = Fault::DividedByZero(self.data);
        match &*divisor.kind {
            Kind::Integer(0) => {
                let always = self.bit(true);
                self.fails_if(always, &fault);
                // Nobody comes here.
                self.word(1)
            }
            Kind::Integer(number) => self.word(u64::from(*number as u32)),
            _ => {
                let divisor = self.value(divisor);
                let zero = self.word(0);
                let is_zero = self.compare(Compare::Eq, divisor, zero);
                self.fails_if(is_zero, &fault);
                divisor
            }
        }
    }

    /// It makes a difference whether an expression is evaluated.
    fn matters(&self, expression: &Expression) -> bool {
        let asks = |read: Read| !self.lower.known.is_there(self.node, read);
        let own = match &*expression.kind {
            Kind::Call(..) => true,
            Kind::Value(signal) => self.lower.is_sensor(*signal) || asks(Read::Now(*signal)),
            Kind::Before(signal) => asks(Read::Before(*signal)),
            Kind::Binary(Binary::Divide | Binary::Modulo, one, other) => {
                let is_safe = matches!(&*other.kind, Kind::Integer(number) if *number != 0);
                one.result == Type::Integer && !is_safe
            }
            Kind::Binary(Binary::Equal | Binary::Unequal, one, _) => {
                matches!(one.result, Type::User(_))
            }
            _ => false,
        };
        let mut operands = expression.kind.operands().into_iter();
        own || operands.any(|one| self.matters(one))
    }

    /// The value that a signal has, combined with another.
    pub fn with(&mut self, signal: SignalId, value: Value) -> Value {
        let channel = self.lower.source.channels[signal.at()].as_ref();
        let channel = channel.expect("what has a value carries one");
        let (kind, combine) = (channel.kind, channel.combine);
        let Some(combine) = combine else {
            return value;
        };
        let place = self.region(Record::Value, signal.0);
        let has = self.load(place);
        match combine {
            Combine::Operator(operator) => self.combined(operator, kind, has, value),
            Combine::Function(function) => self.called(function, &[has, value]),
        }
    }
}

/// A constant with a fraction.
fn real(text: &str, of: Type) -> Op {
    match of {
        Type::Float => {
            let number: f32 = text.parse().unwrap_or_default();
            Op::Real(32, number.to_bits().into())
        }
        _double => {
            let number: f64 = text.parse().unwrap_or_default();
            Op::Real(64, number.to_bits())
        }
    }
}
