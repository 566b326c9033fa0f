//! What a module of Esterel computes: its variables, and the values of its signals.
//!
//! In: a checked [`Module`], and what C knows of it. Out: a [`Store`], which both interpreters
//! change alike. Integers wrap; a division by zero and a value that nobody has set are faults.

use super::{Computes, Fault};
use crate::syntax::esterel::ast::{Binary, Unary};
use crate::types::esterel::{
    Combine, Data, Expression, ExpressionKind as Kind, Module, TEXT, Type, VariableId,
};
use crate::types::process::{Carries, DataId, SignalId};
use std::cmp::Ordering;
use std::fmt;

/// A value.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// `boolean`
    Boolean(bool),
    /// `integer`
    Integer(i32),
    /// `float`
    Float(f32),
    /// `double`
    Double(f64),
    /// `string`
    Text(String),
    /// What only C knows: its bytes.
    User(Vec<u8>),
}

/// What is written in C.
pub trait Externs {
    /// The value of a constant, among [`Module::constants`].
    fn constant(&self, constant: u32) -> Value;
    /// What a function gives, among [`Module::functions`].
    fn function(&self, function: u32, arguments: &[Value]) -> Value;
    /// A procedure is called, among [`Module::procedures`].
    fn procedure(&self, procedure: u32, references: &mut [Value], values: &[Value]);
    /// A value of a type, among [`Module::types`], that nobody has set.
    fn empty(&self, kind: u32) -> Value;
    /// A copy of a value of such a type.
    fn assigned(&self, kind: u32, value: &Value) -> Value;
    /// Whether two values of such a type are equal.
    fn equal(&self, kind: u32, one: &Value, other: &Value) -> bool;
    /// A value of such a type, for people.
    fn text(&self, kind: u32, value: &Value) -> String;
    /// A value of such a type, as people write it.
    fn read(&self, kind: u32, text: &str) -> Value;
}

/// Nothing is written in C.
#[derive(Clone, Copy, Debug)]
pub struct Nothing;

impl Externs for Nothing {
    fn constant(&self, _: u32) -> Value {
        unreachable!("a module that needs C is not run without")
    }

    fn function(&self, _: u32, _: &[Value]) -> Value {
        unreachable!("a module that needs C is not run without")
    }

    fn procedure(&self, _: u32, _: &mut [Value], _: &[Value]) {
        unreachable!("a module that needs C is not run without")
    }

    fn empty(&self, _: u32) -> Value {
        unreachable!("a module that needs C is not run without")
    }

    fn assigned(&self, _: u32, _: &Value) -> Value {
        unreachable!("a module that needs C is not run without")
    }

    fn equal(&self, _: u32, _: &Value, _: &Value) -> bool {
        unreachable!("a module that needs C is not run without")
    }

    fn text(&self, _: u32, _: &Value) -> String {
        unreachable!("a module that needs C is not run without")
    }

    fn read(&self, _: u32, _: &str) -> Value {
        unreachable!("a module that needs C is not run without")
    }
}

/// The variables and values of a module that runs.
pub struct Store<'m> {
    module: &'m Module,
    externs: &'m dyn Externs,
    variables: Vec<Value>,
    values: Vec<Option<Value>>,
    previous: Vec<Option<Value>>,
}

impl<'m> Store<'m> {
    /// At the beginning.
    pub fn new(module: &'m Module, externs: &'m dyn Externs) -> Result<Store<'m>, Fault> {
        let mut store = Store {
            module,
            externs,
            variables: Vec::new(),
            values: vec![None; module.channels.len()],
            previous: vec![None; module.channels.len()],
        };
        store.variables = module
            .variables
            .iter()
            .map(|one| store.empty(one.kind))
            .collect();
        if let Some(begin) = module.begin {
            store.act(begin)?;
        }
        Ok(store)
    }

    /// The value of a signal, if it has one.
    pub fn value(&self, signal: SignalId) -> Option<&Value> {
        self.values[signal.at()].as_ref()
    }

    /// Sets the value of a signal or sensor; `again` combines it with the one that it has.
    pub fn give(&mut self, signal: SignalId, value: Value, again: bool) -> Result<(), Fault> {
        let channel = self.module.channels[signal.at()].as_ref();
        let channel = channel.expect("what is given a value carries one");
        let value = match (again, channel.combine) {
            (false, _) => value,
            (true, Some(Combine::Function(function))) => {
                let has = self.of(&self.values, signal)?;
                self.externs.function(function, &[has, value])
            }
            (true, Some(Combine::Operator(operator))) => {
                let has = self.of(&self.values, signal)?;
                compute(operator, has, value).expect("nothing that combines divides")
            }
            (true, None) => unreachable!("only what combines is given a second value"),
        };
        self.values[signal.at()] = Some(self.assigned(channel.kind, value));
        Ok(())
    }

    fn empty(&self, kind: Type) -> Value {
        match kind {
            Type::Boolean => Value::Boolean(false),
            Type::Integer => Value::Integer(0),
            Type::Float => Value::Float(0.0),
            Type::Double => Value::Double(0.0),
            Type::Text => Value::Text(String::new()),
            Type::User(kind) => self.externs.empty(kind),
        }
    }

    fn evaluate(&self, expression: &Expression, data: DataId) -> Result<Value, Fault> {
        let all = |operands: &[Expression]| -> Result<Vec<Value>, Fault> {
            operands
                .iter()
                .map(|one| self.evaluate(one, data))
                .collect()
        };
        Ok(match &*expression.kind {
            Kind::Boolean(truth) => Value::Boolean(*truth),
            Kind::Integer(number) => Value::Integer(*number),
            Kind::Real(text) if expression.result == Type::Float => {
                Value::Float(text.parse().expect("the lexer has read a number"))
            }
            Kind::Real(text) => Value::Double(text.parse().expect("the lexer has read a number")),
            Kind::Text(text) => Value::Text(text.clone()),
            Kind::Constant(constant) => self.externs.constant(*constant),
            Kind::Variable(variable) => self.variables[variable.at()].clone(),
            Kind::Value(signal) => self.of(&self.values, *signal)?,
            Kind::Before(signal) => self.of(&self.previous, *signal)?,
            Kind::Call(function, operands) => self.externs.function(*function, &all(operands)?),
            Kind::Unary(operator, operand) => unary(*operator, self.evaluate(operand, data)?),
            Kind::Binary(operator, one, other) => {
                let one = self.evaluate(one, data)?;
                // What is decided needs no second operand.
                match (operator, &one) {
                    (Binary::And, Value::Boolean(false)) | (Binary::Or, Value::Boolean(true)) => {
                        return Ok(one);
                    }
                    _ => {}
                }
                let other = self.evaluate(other, data)?;
                self.binary(*operator, one, other, expression, data)?
            }
        })
    }

    fn of(&self, values: &[Option<Value>], signal: SignalId) -> Result<Value, Fault> {
        values[signal.at()].clone().ok_or(Fault::Unset(signal))
    }

    fn binary(
        &self,
        operator: Binary,
        one: Value,
        other: Value,
        expression: &Expression,
        data: DataId,
    ) -> Result<Value, Fault> {
        if let (Binary::Equal | Binary::Unequal, Kind::Binary(_, typed, _)) =
            (operator, &*expression.kind)
        {
            let equal = match typed.result {
                Type::User(kind) => self.externs.equal(kind, &one, &other),
                _ => one == other,
            };
            return Ok(Value::Boolean(equal == (operator == Binary::Equal)));
        }
        compute(operator, one, other).ok_or(Fault::DividedByZero(data))
    }

    fn assigned(&self, kind: Type, value: Value) -> Value {
        match (kind, value) {
            (Type::User(kind), value) => self.externs.assigned(kind, &value),
            (_, Value::Text(text)) => Value::Text(cut(text)),
            (_, value) => value,
        }
    }

    fn assign(&mut self, variable: VariableId, value: Value) {
        let kind = self.module.variables[variable.at()].kind;
        self.variables[variable.at()] = self.assigned(kind, value);
    }
}

impl Computes for Store<'_> {
    fn act(&mut self, data: DataId) -> Result<(), Fault> {
        let module = self.module;
        match &module.data[data.at()] {
            Data::Value(_) => unreachable!("a value by itself does nothing"),
            Data::Assign(variable, value) => {
                let value = self.evaluate(value, data)?;
                self.assign(*variable, value);
            }
            Data::Down(variable) => {
                if let Value::Integer(count @ 1..) = &mut self.variables[variable.at()] {
                    *count -= 1;
                }
            }
            Data::Begin(all) => {
                for (signal, value) in all {
                    let value = value.as_ref().map(|value| self.evaluate(value, data));
                    let value = value.transpose()?;
                    self.previous[signal.at()].clone_from(&value);
                    self.values[signal.at()] = value;
                }
            }
            Data::Call {
                procedure,
                references,
                values,
            } => {
                let values = values.iter().map(|one| self.evaluate(one, data));
                let values: Vec<Value> = values.collect::<Result<_, _>>()?;
                let given = references
                    .iter()
                    .map(|one| self.variables[one.at()].clone());
                let mut given: Vec<Value> = given.collect();
                self.externs.procedure(*procedure, &mut given, &values);
                for (variable, value) in references.iter().zip(given) {
                    self.variables[variable.at()] = value;
                }
            }
        }
        Ok(())
    }

    fn holds(&mut self, data: DataId) -> Result<bool, Fault> {
        let Data::Value(value) = &self.module.data[data.at()] else {
            unreachable!("only a value is asked");
        };
        Ok(self.evaluate(value, data)? == Value::Boolean(true))
    }

    fn emit(&mut self, signal: SignalId, value: Option<DataId>, again: bool) -> Result<(), Fault> {
        let Some(data) = value else { return Ok(()) };
        let Data::Value(value) = &self.module.data[data.at()] else {
            unreachable!("only a value is emitted");
        };
        let value = self.evaluate(value, data)?;
        self.give(signal, value, again)
    }

    fn keep(&mut self, signal: SignalId) {
        let carries = self.module.processes.signal(signal).value;
        assert!(carries != Carries::Nothing, "what is kept carries a value");
        self.previous[signal.at()] = self.values[signal.at()].clone();
    }
}

/// A text as C has room for it.
fn cut(text: String) -> String {
    match text.len() < TEXT {
        true => text,
        false => String::from_utf8_lossy(&text.as_bytes()[..TEXT - 1]).into_owned(),
    }
}

fn unary(operator: Unary, operand: Value) -> Value {
    match (operator, operand) {
        (Unary::Not, Value::Boolean(truth)) => Value::Boolean(!truth),
        (Unary::Negate, Value::Integer(number)) => Value::Integer(number.wrapping_neg()),
        (Unary::Negate, Value::Float(number)) => Value::Float(-number),
        (Unary::Negate, Value::Double(number)) => Value::Double(-number),
        (operator, operand) => unreachable!("{operator:?} of {operand:?}"),
    }
}

/// What an operator makes of two values of one type; none if it divides by zero.
fn compute(operator: Binary, one: Value, other: Value) -> Option<Value> {
    let ordered = |order: Option<Ordering>| {
        let holds = |all: &[Ordering]| Value::Boolean(order.is_some_and(|one| all.contains(&one)));
        match operator {
            Binary::Less => holds(&[Ordering::Less]),
            Binary::AtMost => holds(&[Ordering::Less, Ordering::Equal]),
            Binary::Greater => holds(&[Ordering::Greater]),
            _ => holds(&[Ordering::Greater, Ordering::Equal]),
        }
    };
    Some(match (operator, one, other) {
        (Binary::Or, Value::Boolean(one), Value::Boolean(other)) => Value::Boolean(one || other),
        (Binary::And, Value::Boolean(one), Value::Boolean(other)) => Value::Boolean(one && other),
        (Binary::Add, Value::Integer(one), Value::Integer(other)) => {
            Value::Integer(one.wrapping_add(other))
        }
        (Binary::Subtract, Value::Integer(one), Value::Integer(other)) => {
            Value::Integer(one.wrapping_sub(other))
        }
        (Binary::Multiply, Value::Integer(one), Value::Integer(other)) => {
            Value::Integer(one.wrapping_mul(other))
        }
        (Binary::Divide, Value::Integer(one), Value::Integer(other)) => {
            Value::Integer((other != 0).then(|| one.wrapping_div(other))?)
        }
        (Binary::Modulo, Value::Integer(one), Value::Integer(other)) => {
            Value::Integer((other != 0).then(|| one.wrapping_rem(other))?)
        }
        (Binary::Add, Value::Float(one), Value::Float(other)) => Value::Float(one + other),
        (Binary::Subtract, Value::Float(one), Value::Float(other)) => Value::Float(one - other),
        (Binary::Multiply, Value::Float(one), Value::Float(other)) => Value::Float(one * other),
        (Binary::Divide, Value::Float(one), Value::Float(other)) => Value::Float(one / other),
        (Binary::Add, Value::Double(one), Value::Double(other)) => Value::Double(one + other),
        (Binary::Subtract, Value::Double(one), Value::Double(other)) => Value::Double(one - other),
        (Binary::Multiply, Value::Double(one), Value::Double(other)) => Value::Double(one * other),
        (Binary::Divide, Value::Double(one), Value::Double(other)) => Value::Double(one / other),
        (_, Value::Integer(one), Value::Integer(other)) => ordered(Some(one.cmp(&other))),
        (_, Value::Float(one), Value::Float(other)) => ordered(one.partial_cmp(&other)),
        (_, Value::Double(one), Value::Double(other)) => ordered(one.partial_cmp(&other)),
        (operator, one, other) => unreachable!("{operator:?} of {one:?} and {other:?}"),
    })
}

impl fmt::Display for Value {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Boolean(truth) => write!(out, "{truth}"),
            Value::Integer(number) => write!(out, "{number}"),
            Value::Float(number) => write!(out, "{number:?}"),
            Value::Double(number) => write!(out, "{number:?}"),
            Value::Text(text) => write!(out, "\"{}\"", quoted(text)),
            // Whoever has the C of its type writes it better.
            Value::User(bytes) => write!(out, "{} bytes", bytes.len()),
        }
    }
}

/// A text between quotes, as C has it.
fn quoted(text: &str) -> String {
    let mut quoted = String::new();
    for one in text.chars() {
        match one {
            '"' => quoted += "\\\"",
            '\\' => quoted += "\\\\",
            '\n' => quoted += "\\n",
            '\t' => quoted += "\\t",
            '\r' => quoted += "\\r",
            one => quoted.push(one),
        }
    }
    quoted
}
