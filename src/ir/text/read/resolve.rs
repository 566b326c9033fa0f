//! Blocks as they are written -> a function.
//!
//! Values get numbers in order of definition: an operation that stands within another comes before
//! it, so the text from left to right is the order of instructions. Names may be used before they
//! are defined. Types are inferred where they are not written.

use super::function::{BlockText, Defined, Statement};
use super::operation::{Operand, Operation};
use crate::ir::function::Definition;
use crate::ir::signature::Typed;
use crate::ir::text::canonical::uses_mut;
use crate::ir::text::expected::Known;
use crate::ir::text::infer::{Judge, Place, infer};
use crate::ir::text::lexer::{Mistake, Read, unquote};
use crate::ir::types::ones;
use crate::ir::{Block, BlockId, Function, Instruction, Module, Op, Terminator, Type, Value};
use crate::source::Position;
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;

/// Gives a function its blocks.
pub fn resolve(
    module: &Module,
    mut function: Function,
    blocks: &[BlockText<'_>],
) -> Read<Function> {
    function.values.clear();
    function.blocks.clear();
    let mut resolver = Resolver {
        function,
        value_names: FxHashMap::default(),
        block_names: FxHashMap::default(),
        late: Vec::new(),
        notes: Notes::default(),
    };
    for (at, block) in blocks.iter().enumerate() {
        if resolver
            .block_names
            .insert(block.name, BlockId(at as u32))
            .is_some()
        {
            let message = format!("there are two blocks `{}`", block.name);
            return Err(Mistake::new(block.at, message));
        }
    }
    for block in blocks {
        resolver.block(block)?;
    }
    resolver.names()?;
    let Resolver {
        mut function,
        mut notes,
        ..
    } = resolver;
    let types = infer(module, &function, &mut notes)?;
    for (definition, of) in function.values.iter_mut().zip(types) {
        definition.of = of.unwrap_or(definition.of);
    }
    for instruction in function
        .blocks
        .iter_mut()
        .flat_map(|one| &mut one.instructions)
    {
        if let (Op::Number(bits, _), [value]) = (&mut instruction.op, &instruction.results[..])
            && notes.open.contains_key(value)
            && let Type::Int(own) = function.values[value.at()].of
        {
            *bits = own;
        }
    }
    Ok(function)
}

struct Resolver<'t> {
    function: Function,
    value_names: FxHashMap<&'t str, Value>,
    block_names: FxHashMap<&'t str, BlockId>,
    /// Names that stand for operands, by the places of the operands.
    late: Vec<Late<'t>>,
    notes: Notes,
}

/// A name that is used: by an instruction of a block, or at its end.
struct Late<'t> {
    block: usize,
    instruction: Option<usize>,
    operand: usize,
    name: &'t str,
    at: Position,
}

/// The value of an operand, or its name.
enum Use<'t> {
    Value(Value),
    Name(&'t str, Position),
}

/// Everything that the text says of types, and where.
#[derive(Default)]
struct Notes {
    /// Constants whose types are not written: the number, and where it stands.
    open: BTreeMap<Value, (u64, Position)>,
    /// Results whose types are written.
    marked: BTreeMap<Place, Vec<Type>>,
    /// Places of the other operands, and the number of results with names.
    inferred: BTreeMap<Place, (usize, Position)>,
}

impl<'t> Resolver<'t> {
    fn block(&mut self, block: &BlockText<'t>) -> Read<()> {
        let at = self.function.blocks.len();
        self.function.blocks.push(Block {
            parameters: Vec::new(),
            instructions: Vec::new(),
            terminator: Terminator::Never,
            span: None,
        });
        for parameter in &block.parameters {
            let value = self.define(parameter)?;
            self.function.blocks[at].parameters.push(value);
        }
        for statement in &block.statements {
            self.statement(statement)?;
        }
        let own = block.end.operands.iter();
        let edges = block.end.edges.iter();
        let own: Vec<Use<'t>> = own.map(|one| self.operand(one)).collect();
        let mut all = own;
        let count = all.len();
        let mut terminator = block.end.terminator.clone();
        for (edge, text) in terminator.edges_mut().into_iter().zip(edges) {
            let target = self.block_names.get(text.block).copied();
            let message = format!("there is no block `{}`", text.block);
            edge.block = target.ok_or_else(|| Mistake::new(text.at, message))?;
            edge.arguments = vec![Value(0); text.arguments.len()];
            all.extend(text.arguments.iter().map(|one| self.operand(one)));
        }
        if let Terminator::Return(values)
        | Terminator::Tail(_, values)
        | Terminator::Try {
            operands: values, ..
        } = &mut terminator
        {
            values.resize(count, Value(0));
        }
        let uses = uses_mut(&mut terminator);
        debug_assert_eq!(uses.len(), all.len(), "each operand is of the terminator");
        for (operand, (place, one)) in uses.into_iter().zip(all).enumerate() {
            match one {
                Use::Value(value) => *place = value,
                Use::Name(name, position) => self.late.push(Late {
                    block: at,
                    instruction: None,
                    operand,
                    name,
                    at: position,
                }),
            }
        }
        self.function.blocks[at].terminator = terminator;
        Ok(())
    }

    fn statement(&mut self, statement: &Statement<'t>) -> Read<()> {
        let place = self.operation(&statement.operation);
        let mut results = Vec::new();
        for result in &statement.results {
            results.push(self.define(result)?);
        }
        if statement.is_marked {
            let types = statement.results.iter().filter_map(|value| value.of);
            self.notes.marked.insert(place, types.collect());
        } else {
            let own = (results.len(), statement.operation.at);
            self.notes.inferred.insert(place, own);
        }
        self.instruction(place).results = results;
        Ok(())
    }

    /// Adds an operation, behind those that stand within it.
    fn operation(&mut self, operation: &Operation<'t>) -> Place {
        let operands = operation.operands.iter();
        let operands: Vec<Use<'t>> = operands.map(|one| self.operand(one)).collect();
        let place = self.add(operation.op.clone());
        for (operand, one) in operands.into_iter().enumerate() {
            let value = match one {
                Use::Value(value) => value,
                Use::Name(name, at) => {
                    self.late.push(Late {
                        block: place.0,
                        instruction: Some(place.1),
                        operand,
                        name,
                        at,
                    });
                    Value(0)
                }
            };
            self.instruction(place).operands.push(value);
        }
        place
    }

    fn operand(&mut self, operand: &Operand<'t>) -> Use<'t> {
        match operand {
            Operand::Value(name, at) => Use::Name(name, *at),
            Operand::Number(number, bits, at) => {
                let place = self.add(Op::Number(bits.unwrap_or_default(), *number));
                let value = self.value(String::new(), Type::BIT);
                self.instruction(place).results.push(value);
                match bits {
                    Some(_) => self.notes.inferred.insert(place, (1, *at)).map(|_| ()),
                    None => self.notes.open.insert(value, (*number, *at)).map(|_| ()),
                };
                Use::Value(value)
            }
            Operand::Nested(operation) => {
                let place = self.operation(operation);
                let value = self.value(String::new(), Type::BIT);
                self.instruction(place).results.push(value);
                self.notes.inferred.insert(place, (1, operation.at));
                Use::Value(value)
            }
        }
    }

    fn add(&mut self, op: Op) -> Place {
        let block = self.function.blocks.len() - 1;
        let instructions = &mut self.function.blocks[block].instructions;
        instructions.push(Instruction {
            op,
            operands: Vec::new(),
            results: Vec::new(),
            span: None,
        });
        (block, instructions.len() - 1)
    }

    fn instruction(&mut self, (block, at): Place) -> &mut Instruction {
        &mut self.function.blocks[block].instructions[at]
    }

    fn value(&mut self, hint: String, of: Type) -> Value {
        self.function.values.push(Definition { of, hint });
        Value(self.function.values.len() as u32 - 1)
    }

    fn define(&mut self, defined: &Defined<'t>) -> Read<Value> {
        let hint = hint(defined.name).map_err(|said| Mistake::new(defined.at, said))?;
        let value = self.value(hint, defined.of.unwrap_or(Type::BIT));
        match self.value_names.insert(defined.name, value) {
            None => Ok(value),
            Some(_) => {
                let message = format!("`{}` is defined twice", defined.name);
                Err(Mistake::new(defined.at, message))
            }
        }
    }

    /// Puts values in the places of their names.
    fn names(&mut self) -> Read<()> {
        for late in std::mem::take(&mut self.late) {
            let value = self.value_names.get(late.name).copied();
            let message = format!("there is no value `{}`", late.name);
            let value = value.ok_or_else(|| Mistake::new(late.at, message))?;
            match late.instruction {
                Some(at) => self.instruction((late.block, at)).operands[late.operand] = value,
                None => {
                    let terminator = &mut self.function.blocks[late.block].terminator;
                    *uses_mut(terminator).swap_remove(late.operand) = value;
                }
            }
        }
        Ok(())
    }
}

/// The hint in the name of a value: without `%`, and without the number behind it.
fn hint(name: &str) -> Result<String, String> {
    let name = name.strip_prefix('%').unwrap_or(name);
    if let Some(end) = name.rfind('"') {
        return unquote(&name[..=end]);
    }
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|c| c.is_ascii_digit());
    let stem = name.rsplit_once('.').filter(|(_, end)| is_number(end));
    let stem = stem.map_or(name, |(stem, _)| stem);
    match is_number(stem) {
        true => Ok(String::new()),
        false => Ok(stem.to_string()),
    }
}

impl Judge for Notes {
    type Wrong = Mistake;

    fn is_open(&self, value: Value) -> bool {
        self.open.contains_key(&value)
    }

    fn literal(&mut self, value: Value, inferred: Known) -> Read<Type> {
        let (number, at) = self.open[&value];
        match inferred {
            Some(of @ Type::Int(bits @ 1..=64)) if number <= ones(bits) => Ok(of),
            Some(Type::Int(bits)) => {
                let message = format!("{number} has no room in i{bits}");
                Err(Mistake::new(at, message))
            }
            Some(_) => Err(Mistake::new(at, "no number is expected here")),
            None => {
                let message = format!("nothing says the type of {number}: write `i32 {number}`");
                Err(Mistake::new(at, message))
            }
        }
    }

    fn results(&mut self, place: Place, inferred: Typed<Vec<Type>>) -> Read<Vec<Type>> {
        if let Some(types) = self.marked.get(&place) {
            return Ok(types.clone());
        }
        let (count, at) = self.inferred[&place];
        match inferred {
            Ok(types) if types.len() == count => Ok(types),
            Ok(types) => {
                let message = format!("results: {}, but names: {count}", types.len());
                Err(Mistake::new(at, message))
            }
            Err(said) => Err(Mistake::new(at, said)),
        }
    }
}
