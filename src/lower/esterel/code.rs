//! A function that is being built: operations on what lasts, calls, and ends.
//!
//! ```text
//! code_act.rs        acts
//! code_evaluate.rs   expressions
//! code_entries.rs    the frame of an instant
//! ```

use super::Lower;
use super::memory::Record;
use crate::ir::build::Builder;
use crate::ir::op::{Compare, Place};
use crate::ir::{BlockId, FunctionId, Op, Probability, Region, Role, Terminator, Type, Value};
use crate::tree::automaton::NodeId;
use crate::types::process::{DataId, Fault, SignalId};

/// A function, and the module to which it will belong.
pub struct Code<'c, 'a> {
    /// The module.
    pub lower: &'c mut Lower<'a>,
    /// The function.
    pub build: Builder,
    /// At which node; none before all of them.
    pub node: Option<NodeId>,
    /// The expression.
    pub data: DataId,
    /// Sensors that are known to be read, each since a block.
    pub sensed: Vec<(BlockId, SignalId)>,
}

impl<'c, 'a> Code<'c, 'a> {
    /// A function that is empty yet.
    pub fn new(
        lower: &'c mut Lower<'a>,
        name: &str,
        role: Role,
        parameters: &[(Type, &str)],
    ) -> Code<'c, 'a> {
        let name = lower.named(name);
        Code {
            lower,
            build: Builder::new(&name, "", role, parameters),
            node: None,
            data: DataId(0),
            sensed: Vec::new(),
        }
    }

    /// The function is part of the module.
    pub fn finish(self, results: Vec<Type>) -> FunctionId {
        self.lower.module.functions.push(self.build.finish(results));
        FunctionId(self.lower.module.functions.len() as u32 - 1)
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
    pub fn word(&mut self, number: u64) -> Value {
        self.op(Op::Number(32, number), &[])
    }

    /// A bit.
    pub fn bit(&mut self, bit: bool) -> Value {
        self.op(Op::Number(1, u64::from(bit)), &[])
    }

    /// A comparison.
    pub fn compare(&mut self, how: Compare, one: Value, other: Value) -> Value {
        self.op(Op::Compare(how), &[one, other])
    }

    /// A field of a signal or variable.
    pub fn region(&mut self, record: Record, at: u32) -> Region {
        let lower = &mut *self.lower;
        lower.memory.field(&mut lower.module, record, at)
    }

    /// Loads a field.
    pub fn load(&mut self, region: Region) -> Value {
        let instance = self.instance(region);
        self.op(Op::Load(region), &[instance])
    }

    /// From here on a field holds this.
    pub fn store(&mut self, region: Region, value: Value) {
        let instance = self.instance(region);
        self.all(Op::Store(region), &[instance, value]);
    }

    /// From here on a field holds this bit.
    pub fn set(&mut self, region: Region, bit: bool) {
        let bit = self.bit(bit);
        self.store(region, bit);
    }

    /// The instance that a field belongs to, which is the only one.
    pub fn instance(&mut self, region: Region) -> Value {
        let Region::Field(kind, _) = region else {
            unreachable!("all that lasts is in fields");
        };
        self.op(Op::Instance(kind, 0), &[])
    }

    /// A field as a place.
    pub fn place(region: Region) -> Place {
        match region {
            Region::Field(kind, field) => Place { kind, field },
            other => unreachable!("{other:?} is no field"),
        }
    }

    /// Branches by a bit, and goes on where it is 1; where it is not.
    pub fn when(&mut self, condition: Value) -> BlockId {
        let (then, otherwise) = self.build.branch(condition, Probability::EVEN);
        self.build.go_to(then);
        otherwise
    }

    /// Branches by a bit; where it is 1 this is done, and in any case what follows.
    pub fn only_if(&mut self, condition: Value, does: impl FnOnce(&mut Self)) {
        let behind = self.when(condition);
        does(self);
        self.jump(behind);
        self.build.go_to(behind);
    }

    /// Control goes to a block without parameters.
    pub fn jump(&mut self, to: BlockId) {
        self.build.end(Terminator::Jump(crate::ir::Edge::to(to)));
    }

    /// The function returns a number.
    pub fn answer(&mut self, number: u64) {
        let number = self.word(number);
        self.build.end(Terminator::Return(vec![number]));
    }

    /// The instant ends with a fault.
    pub fn fails(&mut self, fault: &Fault) {
        let says = fault.says(&self.lower.source.processes);
        let reason = self.lower.reason(says);
        let lower = &mut *self.lower;
        let region = lower.memory.reason(&mut lower.module);
        let reason = self.word(reason);
        self.store(region, reason);
        self.answer(u64::from(u32::MAX));
    }

    /// The instant ends with a fault where a bit is 1.
    pub fn fails_if(&mut self, condition: Value, fault: &Fault) {
        let behind = self.when(condition);
        self.fails(fault);
        self.build.go_to(behind);
    }
}
