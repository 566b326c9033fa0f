//! Expressions, calls, and the names that `all`, `forone` and `exist` bind.

use super::{Machine, Slot};
use crate::simulate::estelle::fault::{Fault, FaultKind, Faulty};
use crate::simulate::estelle::situation::InstanceId;
use crate::simulate::estelle::value::Value;
use crate::source::Span;
use crate::types::estelle::program::{
    Argument, BinaryOperator, Domain, Expression, ExpressionKind, RoutineId,
};

/// All ways to bind the names of a domain, by number from 0.
pub(super) enum Bindings {
    /// Values of ordinal types: the number of combinations.
    Ordinals(u64),
    /// Modules.
    Modules(Vec<InstanceId>),
}

impl Bindings {
    /// Returns the number of ways.
    pub(super) fn count(&self) -> u64 {
        match self {
            Bindings::Ordinals(count) => *count,
            Bindings::Modules(modules) => modules.len() as u64,
        }
    }
}

impl<'p> Machine<'p, '_> {
    /// Evaluates an expression. Operands are evaluated from left to right. (our decision)
    pub(super) fn evaluate(&mut self, expression: &'p Expression) -> Faulty<Value> {
        self.sink(expression.span)?;
        let value = match &expression.kind {
            ExpressionKind::Ordinal(number) => Value::Ordinal(*number),
            ExpressionKind::Real(number) => Value::Real(*number),
            ExpressionKind::Text(bytes) => Value::text(bytes),
            ExpressionKind::Read(place) => self.read(place)?,
            ExpressionKind::Unary(operator, operand) => {
                let operand = self.evaluate(operand)?;
                self.unary(*operator, operand, expression)?
            }
            ExpressionKind::Binary(operator, left, right) => {
                self.binary(*operator, (left, right), expression)?
            }
            ExpressionKind::ToReal(operand) => Value::Real(self.ordinal(operand)? as f64),
            ExpressionKind::Call(routine, arguments) => {
                self.call(*routine, arguments, expression.span)?
            }
            ExpressionKind::Predefined(function, operand) => {
                let operand = self.evaluate(operand)?;
                self.predefined(*function, operand, expression)?
            }
            ExpressionKind::Set(items) => self.set(items)?,
            ExpressionKind::Exist(domain, condition) => self.exist(domain, condition)?,
        };
        self.rise();
        Ok(value)
    }

    /// Evaluates an expression of an ordinal type.
    pub(super) fn ordinal(&mut self, expression: &'p Expression) -> Faulty<i64> {
        match self.evaluate(expression)? {
            Value::Ordinal(number) => Ok(number),
            Value::Undefined
            | Value::Real(_)
            | Value::Array(_)
            | Value::Record(_)
            | Value::Set(_) => {
                let says = "an ordinal value is needed here";
                Fault::err(FaultKind::Uninitialised, says, expression.span)
            }
        }
    }

    /// Evaluates a condition.
    pub(super) fn holds(&mut self, condition: &'p Expression) -> Faulty<bool> {
        Ok(self.ordinal(condition)? != 0)
    }

    /// `and` and `or` evaluate the right operand only if needed. (our decision)
    fn binary(
        &mut self,
        operator: BinaryOperator,
        (left, right): (&'p Expression, &'p Expression),
        whole: &'p Expression,
    ) -> Faulty<Value> {
        if operator == BinaryOperator::And {
            let holds = self.holds(left)? && self.holds(right)?;
            return Ok(Value::boolean(holds));
        }
        if operator == BinaryOperator::Or {
            let holds = self.holds(left)? || self.holds(right)?;
            return Ok(Value::boolean(holds));
        }
        let (left, right) = (self.evaluate(left)?, self.evaluate(right)?);
        self.operate(operator, left, right, whole)
    }

    /// Calls a routine. Returns the result of a function.
    pub(super) fn call(
        &mut self,
        id: RoutineId,
        arguments: &'p [Argument],
        span: Span,
    ) -> Faulty<Value> {
        self.spend(span)?;
        self.sink(span)?;
        let routine = &self.fixed.program.routines[id.index()];
        let mut slots = self.new_frame(routine.frame);
        let variables = &self.fixed.program.frames[routine.frame.index()];
        for (at, argument) in arguments.iter().enumerate() {
            slots[at] = match argument {
                Argument::Value(expression) => {
                    let value = self.evaluate(expression)?;
                    Slot::Value(self.fit(value, variables[at].kind, expression.span)?)
                }
                Argument::Reference(place) => Slot::Reference(self.locate(place)?),
            };
        }
        self.active_mut().frames.push((routine.frame, slots));
        if let Some(statements) = &routine.statements {
            self.run(statements)?;
        }
        let mut slots = self.leave();
        self.rise();
        if routine.result.is_none() {
            return Ok(Value::Undefined);
        }
        match slots.swap_remove(routine.parameters) {
            Slot::Value(value) if value != Value::Undefined => Ok(value),
            _ => {
                let says = format!("`{}` returns without a result", routine.name);
                Fault::err(FaultKind::Uninitialised, says, span)
            }
        }
    }

    fn set(&mut self, items: &'p [(Expression, Option<Expression>)]) -> Faulty<Value> {
        let mut set = [0; 4];
        for (first, last) in items {
            let low = self.ordinal(first)?;
            let high = match last {
                Some(last) => self.ordinal(last)?,
                None => low,
            };
            if low <= high && (low < 0 || high > 255) {
                let says = format!("{low}..{high} is not in 0..255, the members of sets");
                return Fault::err(FaultKind::Range, says, first.span);
            }
            for at in low..=high {
                set[(at / 64) as usize] |= 1 << (at % 64);
            }
        }
        Ok(Value::Set(Box::new(set)))
    }

    fn exist(&mut self, domain: &'p Domain, condition: &'p Expression) -> Faulty<Value> {
        let bindings = self.bindings(domain);
        for number in 0..bindings.count() {
            self.spend(condition.span)?;
            self.bind_names(domain, &bindings, number);
            if self.holds(condition)? {
                return Ok(Value::boolean(true));
            }
        }
        Ok(Value::boolean(false))
    }

    /// Returns all ways to bind the names of a domain, as they are now.
    pub(super) fn bindings(&self, domain: &Domain) -> Bindings {
        let program = self.fixed.program;
        match domain {
            Domain::Ordinals(_, names) => {
                let sizes = names.iter().map(|(_, type_id)| {
                    let (low, high) = program.bounds(*type_id).unwrap_or((1, 0));
                    u64::try_from(high - low + 1).unwrap_or(0)
                });
                Bindings::Ordinals(sizes.fold(1, u64::saturating_mul))
            }
            Domain::Children(_, _, header) => {
                let current = self.current();
                Bindings::Modules(self.situation.children(program, current, *header))
            }
        }
    }

    /// Binds the names of a domain in one way. The last one varies fastest. Returns false if the
    /// module was released meanwhile.
    pub(super) fn bind_names(
        &mut self,
        domain: &Domain,
        bindings: &Bindings,
        mut number: u64,
    ) -> bool {
        match (domain, bindings) {
            (Domain::Ordinals(frame, names), Bindings::Ordinals(_)) => {
                for (local, type_id) in names.iter().rev() {
                    let (low, high) = self.fixed.program.bounds(*type_id).unwrap_or((0, 0));
                    let size = u64::try_from(high - low + 1).unwrap_or(1).max(1);
                    let value = Value::Ordinal(low + (number % size) as i64);
                    number /= size;
                    self.bind(*frame, *local, Slot::Value(value));
                }
                true
            }
            (Domain::Children(frame, local, _), Bindings::Modules(modules)) => {
                let module = modules[number as usize];
                self.bind(*frame, *local, Slot::Module(module));
                self.situation.get(module).is_some()
            }
            (Domain::Ordinals(..), Bindings::Modules(_))
            | (Domain::Children(..), Bindings::Ordinals(_)) => false,
        }
    }
}
