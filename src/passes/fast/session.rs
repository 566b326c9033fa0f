//! Values of a fast function that hang on the instance alone that it finds, or on the header alone.
//!
//! In: a fast function. Out: the place where it finds an instance, and whether a value is computed
//! of the fields and keys of that instance and of values set at the start. A key of the instance
//! stands for the part of a frame by which the instance is found. Fields that fast functions write
//! themselves do not count: they change with each frame.

use crate::ir::definitions::Definitions;
use crate::ir::effects::{Effects, Resource};
use crate::ir::graph::Graph;
use crate::ir::op::{Bits, Op};
use crate::ir::{Attempt, BlockId, Function, KindId, Module, Region, Role, Terminator, Value};
use std::collections::{BTreeMap, BTreeSet};

/// A value that is used again and again is followed to so many operations at most.
const LARGEST: usize = 200;

/// Everything that fast functions write behind their commits.
pub fn written(module: &Module) -> BTreeSet<Resource> {
    let fast = module.functions.iter();
    let fast = fast.filter(|function| function.role == Role::Fast);
    let effects = fast.map(|function| Effects::of_body(module, function));
    effects.flat_map(|effects| effects.writes).collect()
}

/// The place where a function finds an instance.
#[derive(Clone)]
pub struct Found {
    /// The block that ends in the search.
    pub block: BlockId,
    /// The block behind it, with the instance as its last parameter.
    pub done: BlockId,
    /// The function leaves where no instance is found: exits before the search are as good behind
    /// it.
    pub only_found: bool,
    /// The instance.
    pub instance: Value,
    /// Its kind.
    pub kind: KindId,
    /// By the value by which it was found: its key.
    pub keys: BTreeMap<Value, Op>,
}

fn found(module: &Module, function: &Function) -> Option<Found> {
    let mut blocks = function.all_blocks();
    blocks.find_map(|(id, block)| match &block.terminator {
        Terminator::Try {
            attempt: Attempt::Find(kind),
            operands,
            done,
            failed,
            ..
        } => {
            let failed = &function.block(failed.block).terminator;
            let keys = &module.kinds[kind.at()].keys;
            let keys = operands.iter().zip(keys);
            let keys = keys.map(|(value, key)| (*value, Op::Load(Region::Field(*kind, *key))));
            Some(Found {
                block: id,
                done: done.block,
                only_found: matches!(failed, Terminator::Never),
                instance: *function.block(done.block).parameters.last()?,
                kind: *kind,
                keys: keys.collect(),
            })
        }
        _ => None,
    })
}

/// A fast function with the instance that it finds.
pub struct Session<'s> {
    /// The module.
    pub module: &'s Module,
    /// The fast function.
    pub function: &'s Function,
    /// The instruction that gives each value.
    pub definitions: Definitions<'s>,
    /// The place where it finds the instance.
    pub found: Found,
    /// The bytes of the frame that are there at the end of the block behind the search.
    header: u32,
    written: &'s BTreeSet<Resource>,
}

impl<'s> Session<'s> {
    /// Analyses a function; none if it finds no instance.
    pub fn of(
        module: &'s Module,
        function: &'s Function,
        written: &'s BTreeSet<Resource>,
    ) -> Option<Session<'s>> {
        let mut session = Session {
            module,
            function,
            definitions: Definitions::of(function),
            found: found(module, function)?,
            header: 0,
            written,
        };
        session.header = session.length();
        Some(session)
    }

    /// The bytes of the frame that are read before the end of the block behind the search.
    fn length(&self) -> u32 {
        let graph = Graph::of(self.function).expect("the verifier passes acyclic graphs alone");
        let above = self.function.all_blocks();
        let above = above.filter(|(id, _)| graph.dominates(*id, self.found.done));
        let read = above.flat_map(|(_, block)| &block.instructions);
        let ends = read.filter_map(|one| {
            let (at, bits) = self.frame(*one.results.first()?)?;
            Some(at + bits.bytes())
        });
        ends.max().unwrap_or(0)
    }

    /// The place of a number in the frame.
    fn frame(&self, value: Value) -> Option<(u32, Bits)> {
        let mut parameters = self.function.parameters().iter();
        parameters.find_map(|message| self.definitions.place(*message, value))
    }

    /// A value hangs on the header of the frame and values set at the start alone.
    pub fn is_of_header(&self, value: Value) -> bool {
        if let Some((at, bits)) = self.frame(value) {
            return at + bits.bytes() <= self.header;
        }
        let Some(instruction) = self.definitions.get(value) else {
            return false;
        };
        let is_settled = match &instruction.op {
            Op::Load(Region::Setting(_)) => true,
            Op::Call(id) => Effects::of_function(self.module, *id).only_read_settings(),
            op => op.is_total(),
        };
        is_settled
            && instruction
                .operands
                .iter()
                .all(|one| self.is_of_header(*one))
    }

    /// A text for what a value is: values with the same text are the same.
    pub fn what(&self, value: Value) -> String {
        if value == self.found.instance {
            return "own".to_string();
        }
        if let Some(key) = self.found.keys.get(&value) {
            return format!("{key:?}");
        }
        let Some(instruction) = self.definitions.get(value) else {
            return format!("{value:?}");
        };
        let at = instruction.results.iter().position(|one| *one == value);
        let operands = instruction.operands.iter().map(|one| self.what(*one));
        let operands: Vec<String> = operands.collect();
        format!("{:?}.{at:?}({})", instruction.op, operands.join(","))
    }

    /// A value hangs on the instance, its keys and values set at the start alone.
    pub fn is_of_instance(&self, value: Value) -> bool {
        self.hangs(value, &mut 0)
    }

    /// `seen` bounds the work for values that are used again and again.
    fn hangs(&self, value: Value, seen: &mut usize) -> bool {
        *seen += 1;
        if *seen > LARGEST {
            return false;
        }
        if self.found.keys.contains_key(&value) {
            return true;
        }
        let Some(instruction) = self.definitions.get(value) else {
            return false;
        };
        let op = &instruction.op;
        let operands = &instruction.operands;
        match op {
            Op::Load(Region::Field(kind, _)) => {
                *kind == self.found.kind && operands[..] == [self.found.instance] && self.stays(op)
            }
            Op::Ask(_, place) => {
                let is_own = place.kind == self.found.kind;
                let mut operands = operands.iter().skip(1);
                is_own
                    && instruction.operands[0] == self.found.instance
                    && operands.all(|one| self.hangs(*one, seen))
                    && self.stays(op)
            }
            Op::Load(Region::Setting(_)) => true,
            Op::Call(id) => {
                Effects::of_function(self.module, *id).only_read_settings()
                    && operands.iter().all(|one| self.hangs(*one, seen))
            }
            op => op.is_total() && operands.iter().all(|one| self.hangs(*one, seen)),
        }
    }

    /// Fast functions do not write what an operation reads.
    fn stays(&self, op: &Op) -> bool {
        let effects = Effects::of(self.module, op);
        let mut reads = effects.reads.iter();
        reads.all(|one| !self.written.contains(one))
    }

    /// A value is the same for the instance for all its life: it hangs on keys and values set at
    /// the start alone.
    pub fn is_fixed(&self, value: Value) -> bool {
        if self.found.keys.contains_key(&value) {
            return true;
        }
        self.definitions.get(value).is_some_and(|one| {
            let fixed = match &one.op {
                Op::Load(Region::Field(kind, field)) => {
                    return self.module.kinds[kind.at()].keys.contains(field);
                }
                Op::Ask(..) => false,
                _ => true,
            };
            fixed && one.operands.iter().all(|one| self.is_fixed(*one))
        })
    }
}
