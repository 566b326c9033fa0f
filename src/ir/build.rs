//! Builds a function, instruction by instruction.
//!
//! ```
//! use stackloom::ir::build::Builder;
//! use stackloom::ir::op::{Arithmetic, Op};
//! use stackloom::ir::{Module, Role, Terminator, Type};
//!
//! let module = Module::default();
//! let mut build = Builder::new("twice", "", Role::Pure, &[(Type::WORD, "number")]);
//! let number = build.parameter(0);
//! let sum = build.value(&module, Op::Arithmetic(Arithmetic::Add), &[number, number]);
//! build.end(Terminator::Return(vec![sum]));
//! let function = build.finish(vec![Type::WORD]);
//! assert_eq!(function.blocks[0].instructions.len(), 1);
//! ```

use super::function::{Block, Definition, Edge, Function, Instruction, Role, Terminator};
use super::ids::{BlockId, Value};
use super::op::{Attempt, Op};
use super::signature::{outcomes, results};
use super::types::Type;
use super::{Module, Probability};
use crate::source::Span;

/// A function that is being built; instructions go to the end of one of its blocks.
#[derive(Clone, Debug)]
pub struct Builder {
    function: Function,
    at: BlockId,
    /// Blocks that have no end yet.
    open: Vec<bool>,
    span: Option<Span>,
}

/// A place in a function that is being built.
#[derive(Clone, Debug)]
pub struct Mark {
    /// The number of values.
    pub values: usize,
    blocks: usize,
    instructions: usize,
}

impl Builder {
    /// A function with these parameters, by their types and names.
    pub fn new(name: &str, owner: &str, role: Role, parameters: &[(Type, &str)]) -> Builder {
        let mut builder = Builder {
            function: Function {
                name: name.to_string(),
                owner: owner.to_string(),
                role,
                kept: false,
                fast: None,
                results: Vec::new(),
                values: Vec::new(),
                blocks: Vec::new(),
                span: None,
            },
            at: BlockId(0),
            open: Vec::new(),
            span: None,
        };
        builder.block(parameters);
        builder
    }

    /// A function that goes on: new blocks are added to it.
    pub fn of(function: Function) -> Builder {
        Builder {
            at: BlockId(0),
            open: vec![false; function.blocks.len()],
            span: None,
            function,
        }
    }

    /// Goes on at the end of a block that had ended, and returns its end.
    pub fn reopen(&mut self, block: BlockId) -> Terminator {
        self.open[block.at()] = true;
        self.at = block;
        let end = &mut self.function.blocks[block.at()].terminator;
        std::mem::replace(end, Terminator::Never)
    }

    /// Marks the end of the current block.
    pub fn mark(&self) -> Mark {
        Mark {
            values: self.function.values.len(),
            blocks: self.function.blocks.len(),
            instructions: self.function.blocks[self.at.at()].instructions.len(),
        }
    }

    /// Removes all instructions that were built in the block since a mark.
    ///
    /// # Panics
    ///
    /// If the block has ended since, or another was made.
    pub fn rewind(&mut self, mark: &Mark) {
        let blocks = &mut self.function.blocks;
        assert!(
            self.open[self.at.at()] && blocks.len() == mark.blocks,
            "building goes on in the same block"
        );
        blocks[self.at.at()]
            .instructions
            .truncate(mark.instructions);
        self.function.values.truncate(mark.values);
    }

    /// A parameter of the function.
    pub fn parameter(&self, at: usize) -> Value {
        self.function.blocks[0].parameters[at]
    }

    /// A new block with these parameters. Building goes on where it was.
    pub fn block(&mut self, parameters: &[(Type, &str)]) -> BlockId {
        let parameters = parameters.iter();
        let parameters = parameters
            .map(|(of, hint)| self.define(*of, hint))
            .collect();
        self.function.blocks.push(Block {
            parameters,
            instructions: Vec::new(),
            terminator: Terminator::Never,
            span: None,
        });
        self.open.push(true);
        BlockId(self.function.blocks.len() as u32 - 1)
    }

    /// A new last parameter of a block.
    pub fn add_parameter(&mut self, block: BlockId, of: Type, hint: &str) -> Value {
        let value = self.define(of, hint);
        self.function.blocks[block.at()].parameters.push(value);
        value
    }

    /// A parameter of a block.
    pub fn parameter_of(&self, block: BlockId, at: usize) -> Value {
        self.function.blocks[block.at()].parameters[at]
    }

    /// All parameters of a block.
    pub fn parameters_of(&self, block: BlockId) -> Vec<Value> {
        self.function.blocks[block.at()].parameters.clone()
    }

    /// Building goes on in this block, which has no end yet.
    pub fn go_to(&mut self, block: BlockId) {
        assert!(self.open[block.at()], "a block ends once");
        self.at = block;
    }

    /// The block in which building goes on.
    pub fn here(&self) -> BlockId {
        self.at
    }

    /// Sets the place in the sources of all that follows.
    pub fn set_span(&mut self, span: Option<Span>) {
        self.span = span;
    }

    /// Sets the place of the whole function in the sources, and of what is built next.
    pub fn set_function_span(&mut self, span: Option<Span>) {
        self.function.span = span;
        self.span = span;
    }

    /// An event for this function always has a place on the agenda.
    pub fn keep(&mut self) {
        self.function.kept = true;
    }

    /// The type of a value.
    pub fn type_of(&self, value: Value) -> Type {
        self.function.type_of(value)
    }

    /// Names a value that has no name yet.
    pub fn name(&mut self, value: Value, hint: &str) {
        let definition = &mut self.function.values[value.at()];
        if definition.hint.is_empty() {
            definition.hint = hint.to_string();
        }
    }

    /// The function, as far as it is built.
    pub fn function(&self) -> &Function {
        &self.function
    }

    /// The name of the function.
    pub fn function_name(&self) -> String {
        self.function.name.clone()
    }

    /// The layer for which the function stands.
    pub fn owner(&self) -> String {
        self.function.owner.clone()
    }

    /// The hint for the name of a value.
    pub fn hint(&self, value: Value) -> String {
        self.function.values[value.at()].hint.clone()
    }

    /// Adds an operation; its results.
    ///
    /// # Panics
    ///
    /// If the operands have the wrong types: that is a mistake of the compiler.
    pub fn op(&mut self, module: &Module, op: Op, operands: &[Value]) -> Vec<Value> {
        let types: Vec<Type> = operands.iter().map(|value| self.type_of(*value)).collect();
        let results = match results(module, &op, &types) {
            Ok(results) => results,
            Err(wrong) => panic!("{} of {}: {op:?}: {wrong}", self.at.0, self.function.name),
        };
        let results: Vec<Value> = results.iter().map(|of| self.define(*of, "")).collect();
        assert!(
            self.open[self.at.at()],
            "a block that has ended gets no instruction"
        );
        self.function.blocks[self.at.at()]
            .instructions
            .push(Instruction {
                op,
                operands: operands.to_vec(),
                results: results.clone(),
                span: self.span,
            });
        results
    }

    /// Adds an operation that has one result.
    pub fn value(&mut self, module: &Module, op: Op, operands: &[Value]) -> Value {
        let results = self.op(module, op, operands);
        assert_eq!(results.len(), 1, "an operation that gives one value");
        results[0]
    }

    /// Adds a constant of a number's type.
    pub fn number(&mut self, module: &Module, bits: u8, number: u64) -> Value {
        self.value(module, Op::Number(bits, number), &[])
    }

    /// Ends the block.
    pub fn end(&mut self, terminator: Terminator) {
        assert!(self.open[self.at.at()], "a block ends once");
        let block = &mut self.function.blocks[self.at.at()];
        block.terminator = terminator;
        block.span = self.span;
        self.open[self.at.at()] = false;
    }

    /// Ends the block with two ways to new blocks, which it returns.
    pub fn branch(&mut self, condition: Value, likely: Probability) -> (BlockId, BlockId) {
        let (then, otherwise) = (self.block(&[]), self.block(&[]));
        self.end(Terminator::Branch {
            condition,
            likely,
            then: Edge::to(then),
            otherwise: Edge::to(otherwise),
        });
        (then, otherwise)
    }

    /// Ends the block with something that may fail, and two ways to new blocks whose parameters are
    /// the results.
    ///
    /// # Panics
    ///
    /// If the operands have the wrong types.
    pub fn attempt(
        &mut self,
        module: &Module,
        attempt: Attempt,
        operands: &[Value],
        likely: Probability,
    ) -> (BlockId, BlockId) {
        let types: Vec<Type> = operands.iter().map(|value| self.type_of(*value)).collect();
        let (done, failed) = match outcomes(module, &attempt, &types) {
            Ok(outcomes) => outcomes,
            Err(wrong) => panic!(
                "{} of {}: {attempt:?}: {wrong}",
                self.at.0, self.function.name
            ),
        };
        let unnamed = |types: Vec<Type>| -> Vec<(Type, &str)> {
            types.into_iter().map(|of| (of, "")).collect()
        };
        let done = self.block(&unnamed(done));
        let failed = self.block(&unnamed(failed));
        self.end(Terminator::Try {
            attempt,
            operands: operands.to_vec(),
            likely,
            done: Edge::to(done),
            failed: Edge::to(failed),
        });
        (done, failed)
    }

    /// The function, all of whose blocks have ended.
    pub fn finish(mut self, results: Vec<Type>) -> Function {
        let unfinished = self.open.iter().position(|open| *open);
        assert_eq!(
            unfinished, None,
            "each block of {} ends",
            self.function.name
        );
        self.function.results = results;
        self.function
    }

    fn define(&mut self, of: Type, hint: &str) -> Value {
        self.function.values.push(Definition {
            of,
            hint: hint.to_string(),
        });
        Value(self.function.values.len() as u32 - 1)
    }
}
