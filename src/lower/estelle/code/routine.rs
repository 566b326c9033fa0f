//! Functions and procedures: in, a call; out, the call of a function that was lowered for it.
//!
//! A `var` parameter has no pointer. The routine is lowered once for each form of variable that
//! calls give it: the field, and locals that hold the indices. Estelle has no recursion here, so
//! this ends, and each local variable has one place.

use super::super::memory::{Scalar, bounds};
use super::super::{Key, Which};
use super::argument::{Passed, argument_has_effects};
use super::evaluate::{Computed, Members};
use super::{Called, Code, Environment};
use crate::ir::op::{Arithmetic, Compare};
use crate::ir::{Op, Type as Plain, Value};
use crate::types::estelle::program::{Argument, BodyId, FrameId, RoutineId, Type};

impl Code<'_, '_> {
    /// Calls a routine of the source; the parts of its result.
    pub fn routine(&mut self, id: RoutineId, arguments: &[Argument]) -> Vec<Value> {
        let routine = &self.program().routines[id.index()];
        if routine.statements.is_none() && self.which == Which::Specification {
            return self.primitive(id, arguments);
        }
        let mut environment = self.environment.clone();
        let mut passed = Vec::new();
        for (at, argument) in arguments.iter().enumerate() {
            match argument {
                Argument::Reference(place) => {
                    let bound = self.reference(place);
                    environment.insert((self.which, routine.frame, at), bound);
                }
                Argument::Value(value) => {
                    let mut later = arguments[at + 1..].iter();
                    let may_change = later.any(|one| argument_has_effects(self.program(), one));
                    let of = self.program().frames[routine.frame.index()][at].kind;
                    passed.push((at, self.pass(value, of, may_change)));
                }
            }
        }
        // Only now, as an argument may call the same routine.
        let mut operands = Vec::new();
        for (at, value) in passed {
            match value {
                Passed::Computed(Computed::Set(members)) => operands.extend(members.words),
                Passed::Computed(value) => operands.push(self.plain(value)),
                whole => {
                    let storage = self.local(routine.frame, at);
                    let to = self.local_place(storage);
                    self.keep(&to, whole);
                }
            }
        }
        let called = match &routine.statements {
            None => self.lower.hook(&routine.name),
            Some(_) => self.lowered(id, environment),
        };
        self.call(&called, &operands)
    }

    /// The function of a routine for these references.
    fn lowered(&mut self, id: RoutineId, environment: Environment) -> Called {
        let key = Key {
            which: self.which,
            body: self.body,
            routine: id,
            environment,
        };
        if let Some(known) = self.lower.routines.get(&key) {
            return known.clone();
        }
        let called = self.lower.lower_routine(&key);
        self.lower.routines.insert(key, called.clone());
        called
    }

    /// Calls a function of the kernel.
    pub fn kernel(&mut self, name: &str, arguments: &[Value]) -> Vec<Value> {
        let called = self.lower.kernel_routine(name);
        self.call(&called, arguments)
    }

    /// Calls a function of a body for a module; its results without the number of a fault.
    pub fn call_of(&mut self, body: BodyId, called: &Called, module: Value) -> Vec<Value> {
        let mut operands = Vec::new();
        if called.takes_instance {
            let first = self.lower.sizes.first_module[body.index()];
            let first = self.word(first.into());
            let index = self.arithmetic(Arithmetic::Sub, module, first);
            let kind = self.lower.body_kind(Which::Specification, body);
            operands.push(self.op(Op::At(kind), &[index]));
        }
        let mut results = self.all(Op::Call(called.function), &operands);
        if called.fails {
            let number = results.remove(0);
            self.fails_with(number);
        }
        results
    }

    /// A constant of the kernel.
    pub fn kernel_number(&mut self, name: &str) -> Value {
        let number = self.lower.kernel_number(name);
        self.word(number)
    }

    /// The bit that says if a value is a constant of the kernel.
    pub fn is_kernel_number(&mut self, value: Value, name: &str) -> Value {
        let number = self.kernel_number(name);
        self.compare(Compare::Eq, value, number)
    }

    /// Loads a variable of the kernel as a number of 32 bits.
    pub fn kernel_load(&mut self, name: &str, indices: &[Value]) -> Value {
        let (region, scalar) = self.lower.kernel_variable(name);
        let only = self.only(self.lower.body_kind(Which::Kernel, super::super::KERNEL));
        let operands: Vec<Value> = std::iter::once(only)
            .chain(indices.iter().copied())
            .collect();
        let value = self.op(Op::Load(region), &operands);
        match (self.build.type_of(value), scalar) {
            (Plain::WORD | Plain::Float(_), _) => value,
            (_, Scalar::Ordinal(low, _)) if low < 0 => self.op(Op::SignExtend(32), &[value]),
            (_, _) => self.op(Op::ZeroExtend(32), &[value]),
        }
    }

    /// Stores a number of 32 bits to a variable of the kernel.
    pub fn kernel_store(&mut self, name: &str, indices: &[Value], number: Value) {
        let (region, scalar) = self.lower.kernel_variable(name);
        let only = self.only(self.lower.body_kind(Which::Kernel, super::super::KERNEL));
        let stored = match scalar.stored() {
            Plain::Int(32) | Plain::Float(_) => number,
            Plain::Int(bits) => self.op(Op::Truncate(bits), &[number]),
            other => unreachable!("{other:?} is no variable of the kernel"),
        };
        let mut operands = vec![only];
        operands.extend(indices);
        operands.push(stored);
        self.all(Op::Store(region), &operands);
    }

    /// Keeps a parameter of a function in its local variable; the next parameter.
    pub fn keep_parameter(&mut self, (frame, at): (FrameId, usize), first: usize) -> usize {
        let of = self.program().frames[frame.index()][at].kind;
        let count = self.lower.parts(self.which, of).len();
        let parts: Vec<Value> = (first..first + count)
            .map(|at| self.parameter(at))
            .collect();
        let value = match &self.program().types[of.index()] {
            Type::Set(element) => Computed::Set(Members {
                words: parts,
                bounds: bounds(self.program(), *element),
            }),
            _other => match self.build.type_of(parts[0]) {
                Plain::Float(_) => Computed::Real(parts[0]),
                Plain::BIT => Computed::Bit(parts[0]),
                _number => {
                    let (low, high) = bounds(self.program(), of);
                    Computed::Ordinal(parts[0], low, high)
                }
            },
        };
        let storage = self.local(frame, at);
        let to = self.local_place(storage);
        self.store(&to, value);
        first + count
    }

    /// The parts of the value of a local variable.
    pub fn local_parts(&mut self, frame: FrameId, at: usize) -> Vec<Value> {
        let storage = self.local(frame, at);
        let from = self.local_place(storage);
        match self.load(&from) {
            Computed::Set(members) => members.words,
            value => vec![self.plain(value)],
        }
    }
}
