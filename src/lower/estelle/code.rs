//! A function that is being built: operations, faults, calls and loops.
//!
//! A function whose statements may fault has the number of the fault as its first result, 0 if none
//! happened. A loop is a function for each turn, which carries this number.
//!
//! ```text
//! code/place.rs        variables and parts of them
//! code/evaluate.rs     expressions
//! code/set.rs          sets
//! code/real.rs         real numbers
//! code/statement.rs    statements of Pascal
//! code/structure.rs    statements of Estelle
//! code/argument.rs     arguments of calls, outputs and initialisations
//! code/routine.rs      calls of functions and procedures
//! code/transition.rs   the transitions that a body offers and fires
//! code/delay.rs        clocks of transitions with a delay
//! outside/             calls of the host, and functions for it
//! ```

pub mod argument;
pub mod delay;
pub mod evaluate;
pub mod place;
mod real;
mod routine;
mod set;
mod statement;
pub mod structure;
mod transition;

use super::memory::Storage;
use super::{Fault, Lower, Which};
use crate::ir::build::Builder;
use crate::ir::edit::compact;
use crate::ir::op::{Arithmetic, Compare};
use crate::ir::{
    BlockId, Edge, FieldId, FunctionId, KindId, Op, Probability, Region, Role, Terminator, Type,
    Value,
};
use crate::source::Span;
use crate::types::estelle::program::{BodyId, FrameId, Program};
use std::collections::BTreeMap;

/// A function that can be called.
#[derive(Clone, Debug)]
pub struct Called {
    /// The function.
    pub function: FunctionId,
    /// True if its first result is the number of a fault.
    pub fails: bool,
    /// True if its first parameter is the instance.
    pub takes_instance: bool,
}

/// The instance in whose fields a variable stands.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Holder {
    /// The instance whose code runs.
    Own,
    /// The only instance of its kind.
    Only,
    /// The instance of this number, which a field of locals holds.
    Held(FieldId),
}

/// A variable for which a `var` parameter or `with` stands.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Bound {
    /// The instance.
    pub holder: Holder,
    /// The kind.
    pub kind: KindId,
    /// By leaf: its field.
    pub fields: Vec<FieldId>,
    /// Fields of locals that hold the indices of the arrays on the way.
    pub indices: Vec<FieldId>,
}

/// References by frame and local.
pub type Environment = BTreeMap<(Which, FrameId, usize), Bound>;

/// The end of a function.
#[derive(Clone, Debug)]
enum Shape {
    /// A function with results of these types, without that of a fault.
    Function(Vec<Type>),
    /// A turn of a loop.
    Turn,
}

/// A function, and the module to which it will belong.
pub struct Code<'c, 'a> {
    /// The module.
    pub lower: &'c mut Lower<'a>,
    /// The specification or the kernel.
    pub which: Which,
    /// The body whose instance runs it.
    pub body: BodyId,
    /// References.
    pub environment: Environment,
    /// The function.
    pub build: Builder,
    /// The instance, if it is a parameter.
    instance: Option<Value>,
    /// The number of the instance among those of the body, if the function is for it alone.
    pub only: Option<u32>,
    /// By frame and local: the values of names of `any`.
    pub fixed: BTreeMap<(FrameId, usize), i64>,
    shape: Shape,
    fails: bool,
}

impl<'c, 'a> Code<'c, 'a> {
    /// The specification to which the code belongs.
    pub fn program(&self) -> &'a Program {
        self.lower.program(self.which)
    }

    /// Begins a function. Its first parameter is the instance, unless there is but one.
    pub fn new(
        lower: &'c mut Lower<'a>,
        (which, body): (Which, BodyId),
        name: &str,
        parameters: &[(Type, &str)],
        results: Vec<Type>,
    ) -> Code<'c, 'a> {
        Code::of_instance(lower, (which, body, None), name, parameters, results)
    }

    /// Begins a function, perhaps for one instance alone.
    pub fn of_instance(
        lower: &'c mut Lower<'a>,
        (which, body, only): (Which, BodyId, Option<u32>),
        name: &str,
        parameters: &[(Type, &str)],
        results: Vec<Type>,
    ) -> Code<'c, 'a> {
        let own = lower.instance_type(which, body).filter(|_| only.is_none());
        let mut all: Vec<(Type, &str)> = own.map(|of| (of, "self")).into_iter().collect();
        all.extend(parameters);
        let name = lower.free_name(name);
        let build = Builder::new(&name, "", Role::Plain, &all);
        Code {
            instance: own.map(|_| build.parameter(0)),
            only,
            fixed: BTreeMap::new(),
            lower,
            which,
            body,
            environment: Environment::new(),
            build,
            shape: Shape::Function(results),
            fails: false,
        }
    }

    /// A parameter of the function, without the instance.
    pub fn parameter(&self, at: usize) -> Value {
        self.build
            .parameter(at + usize::from(self.instance.is_some()))
    }

    /// The function becomes part of the module. A function that never faults has no number of a
    /// fault among its results.
    pub fn finish(self) -> Called {
        let Shape::Function(results) = self.shape else {
            unreachable!("a turn is finished by its loop");
        };
        let mut types = vec![Type::WORD];
        types.extend(results);
        let mut function = self.build.finish(types);
        compact(&mut function);
        if !self.fails {
            function.results.remove(0);
            for block in &mut function.blocks {
                if let Terminator::Return(values) = &mut block.terminator {
                    values.remove(0);
                }
            }
        }
        self.lower.module.functions.push(function);
        Called {
            function: FunctionId(self.lower.module.functions.len() as u32 - 1),
            fails: self.fails,
            takes_instance: self.instance.is_some(),
        }
    }

    /// Returns from the function with these results.
    pub fn answer(&mut self, results: &[Value]) {
        let mut all = vec![self.word(0)];
        all.extend(results);
        self.build.end(Terminator::Return(all));
    }

    /// Adds an operation; its results.
    pub fn all(&mut self, op: Op, operands: &[Value]) -> Vec<Value> {
        self.build.op(&self.lower.module, op, operands)
    }

    /// Adds an operation with one result.
    pub fn op(&mut self, op: Op, operands: &[Value]) -> Value {
        self.build.value(&self.lower.module, op, operands)
    }

    /// A constant of 32 bits.
    pub fn word(&mut self, number: i64) -> Value {
        self.op(Op::Number(32, u64::from(number as u32)), &[])
    }

    /// A bit.
    pub fn bit(&mut self, bit: bool) -> Value {
        self.op(Op::Number(1, u64::from(bit)), &[])
    }

    /// A comparison.
    pub fn compare(&mut self, how: Compare, one: Value, other: Value) -> Value {
        self.op(Op::Compare(how), &[one, other])
    }

    /// A sum, difference, or another operation on two numbers.
    pub fn arithmetic(&mut self, how: Arithmetic, one: Value, other: Value) -> Value {
        self.op(Op::Arithmetic(how), &[one, other])
    }

    /// The instance that holds the fields of its own body.
    pub fn own(&mut self) -> Value {
        let kind = self.lower.body_kind(self.which, self.body);
        match (self.instance, self.only) {
            (Some(instance), _) => instance,
            (None, Some(only)) => {
                let index = self.word(only.into());
                self.op(Op::At(kind), &[index])
            }
            (None, None) => self.op(Op::Instance(kind, 0), &[]),
        }
    }

    /// The module number of the instance.
    pub fn own_number(&mut self) -> Value {
        let own = self.own();
        let index = self.op(Op::Index, &[own]);
        let first = self.lower.sizes.first_module[self.body.index()];
        let first = self.word(first.into());
        self.arithmetic(Arithmetic::Add, index, first)
    }

    /// The only instance of a kind.
    pub fn only(&mut self, kind: KindId) -> Value {
        self.op(Op::Instance(kind, 0), &[])
    }

    /// Loads a field of the locals.
    pub fn load_local(&mut self, field: FieldId) -> Value {
        let kind = self.lower.locals(self.which);
        let only = self.only(kind);
        self.op(Op::Load(Region::Field(kind, field)), &[only])
    }

    /// Stores to a field of the locals.
    pub fn store_local(&mut self, field: FieldId, value: Value) {
        let kind = self.lower.locals(self.which);
        let only = self.only(kind);
        self.all(Op::Store(Region::Field(kind, field)), &[only, value]);
    }

    /// Ends the block with a jump.
    pub fn jump(&mut self, to: BlockId) {
        self.build.end(Terminator::Jump(Edge::to(to)));
    }

    /// Runs one of two parts, by a bit, and then goes on.
    pub fn either(
        &mut self,
        condition: Value,
        then: impl FnOnce(&mut Self),
        otherwise: impl FnOnce(&mut Self),
    ) {
        let (yes, no) = self.build.branch(condition, Probability::EVEN);
        let behind = self.build.block(&[]);
        self.build.go_to(yes);
        then(self);
        self.jump(behind);
        self.build.go_to(no);
        otherwise(self);
        self.jump(behind);
        self.build.go_to(behind);
    }

    /// Runs a part for each case of a number, which ends the function, and goes on for all others.
    pub fn switch(
        &mut self,
        value: Value,
        all: &[(u64, usize)],
        mut case: impl FnMut(&mut Self, usize),
    ) {
        let here = self.build.here();
        let mut cases = Vec::new();
        for (number, at) in all {
            let block = self.build.block(&[]);
            cases.push((*number, Probability(0), Edge::to(block)));
            self.build.go_to(block);
            case(self, *at);
        }
        let otherwise = Edge::to(self.build.block(&[]));
        let behind = otherwise.block;
        self.build.go_to(here);
        self.build.end(Terminator::Switch {
            value,
            cases,
            otherwise,
        });
        self.build.go_to(behind);
    }

    /// Computes one of two values of one type, by a bit.
    pub fn choice(
        &mut self,
        (condition, of): (Value, Type),
        then: impl FnOnce(&mut Self) -> Value,
        otherwise: impl FnOnce(&mut Self) -> Value,
    ) -> Value {
        let (yes, no) = self.build.branch(condition, Probability::EVEN);
        let behind = self.build.block(&[(of, "")]);
        self.build.go_to(yes);
        let value = then(self);
        self.give(behind, value);
        self.build.go_to(no);
        let value = otherwise(self);
        self.give(behind, value);
        self.build.go_to(behind);
        self.build.parameter_of(behind, 0)
    }

    /// Ends the block with a jump that hands on a value.
    pub fn give(&mut self, to: BlockId, value: Value) {
        self.build.end(Terminator::Jump(Edge {
            block: to,
            arguments: vec![value],
        }));
    }

    /// Ends the function with a fault where a bit is 1.
    pub fn fails_if(&mut self, condition: Value, fault: Fault) {
        let number = self.word(fault.number());
        self.stops_if(condition, number);
    }

    /// Ends the function with the number of a fault, unless that is 0.
    pub fn fails_with(&mut self, number: Value) {
        let zero = self.word(0);
        let is_fault = self.compare(Compare::Ne, number, zero);
        self.stops_if(is_fault, number);
    }

    /// Ends the function with the number of a fault where a bit is 1.
    fn stops_if(&mut self, condition: Value, number: Value) {
        let (yes, no) = self.build.branch(condition, Probability(0));
        self.build.go_to(yes);
        self.stops(number);
        self.build.go_to(no);
    }

    /// Ends the function, or the loop of this turn, with a number.
    pub fn stops(&mut self, number: Value) {
        self.fails = true;
        let values = match self.shape.clone() {
            Shape::Turn => vec![self.bit(false), number],
            Shape::Function(results) => {
                let zeros = results.iter().map(|of| {
                    let zero = Op::zero(*of).expect("results are numbers");
                    self.op(zero, &[])
                });
                std::iter::once(number).chain(zeros).collect()
            }
        };
        self.build.end(Terminator::Return(values));
    }

    /// Calls a function; its results without the number of a fault, which is handed on.
    pub fn call(&mut self, called: &Called, arguments: &[Value]) -> Vec<Value> {
        let mut operands = Vec::new();
        if called.takes_instance {
            operands.push(self.own());
        }
        operands.extend(arguments);
        let mut results = self.all(Op::Call(called.function), &operands);
        if called.fails {
            let number = results.remove(0);
            self.fails_with(number);
        }
        results
    }

    /// Runs a loop of `count` turns, but at most `most`. The body is given the turn and the
    /// captured values. The result is the number with which a turn stopped the loop, or else
    /// `rest`; none if no turn stops it.
    pub fn turns(
        &mut self,
        (count, most): (Value, u32),
        rest: i64,
        captured: &[Value],
        body: impl FnOnce(&mut Code<'_, 'a>, Value, &[Value]),
    ) -> Option<Value> {
        let own = self.instance;
        let mut parameters: Vec<(Type, &str)> = vec![(Type::WORD, "turn")];
        let hands_on: Vec<Value> = own.into_iter().chain(captured.iter().copied()).collect();
        parameters.extend(hands_on.iter().map(|one| (self.build.type_of(*one), "")));
        parameters.push((Type::WORD, "stop"));
        let name = format!("{}.turn", self.build.function_name());
        let name = self.lower.free_name(&name);
        let build = Builder::new(&name, "", Role::Plain, &parameters);
        let mut inner = Code {
            instance: own.map(|_| build.parameter(1)),
            only: self.only,
            fixed: self.fixed.clone(),
            which: self.which,
            body: self.body,
            environment: self.environment.clone(),
            shape: Shape::Turn,
            fails: false,
            build,
            lower: &mut *self.lower,
        };
        let first = 1 + usize::from(own.is_some());
        let own_captured: Vec<Value> = (0..captured.len())
            .map(|at| inner.build.parameter(first + at))
            .collect();
        let turn = inner.build.parameter(0);
        body(&mut inner, turn, &own_captured);
        let goes_on = inner.bit(true);
        let number = inner.word(rest);
        inner.build.end(Terminator::Return(vec![goes_on, number]));
        let stops = inner.fails;
        let mut function = inner.build.finish(vec![Type::BIT, Type::WORD]);
        compact(&mut function);
        self.lower.module.functions.push(function);
        let function = FunctionId(self.lower.module.functions.len() as u32 - 1);
        let initial = self.word(rest);
        let count = match self.build.type_of(count) {
            Type::WORD => self.op(Op::ZeroExtend(64), &[count]),
            _wide => count,
        };
        let mut operands = vec![count];
        operands.extend(hands_on);
        operands.push(initial);
        let number = self.op(Op::Loop(function, most.max(1)), &operands);
        stops.then_some(number)
    }

    /// Ends the function with the fault by which a turn stopped a loop, if one did.
    pub fn hand_on(&mut self, stopped: Option<Value>) {
        if let Some(number) = stopped {
            self.fails_with(number);
        }
    }

    /// Sets the place in the source of what follows.
    pub fn at(&mut self, span: Span) {
        if self.which == Which::Specification {
            self.build.set_span(Some(span));
        }
    }

    /// The storage of a local variable.
    pub fn local(&mut self, frame: FrameId, at: usize) -> Storage {
        self.lower.local(self.which, frame, at)
    }
}
