//! What an expression reads of messages: in, an expression of the checked program; out, its
//! operands, and the attributes that it surely reads.
//!
//! What stands behind an `else` is not sure to be read: a layer writes it there because it may be
//! missing. But it is read where a label leaves out the key before it, and nothing is there to be
//! read if nobody in the stack sets it.

use super::expression::{Expression, ExpressionKind, Variable};
use super::program::{AttributeId, FunctionId, LocalId, Population, Program};
use super::statement::{Block, Output, StatementKind};
use super::value::Value;
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

/// An attribute of the message that a local holds.
pub type Read = (LocalId, AttributeId);

/// Finds what is read in a program. What holds for all of it is found once.
pub struct Reading<'p> {
    program: &'p Program,
    /// What an application, or any layer, gives messages.
    given: BTreeSet<AttributeId>,
    /// The attributes of its message that a function reads.
    needed: RefCell<BTreeMap<FunctionId, Vec<AttributeId>>>,
}

impl<'p> Reading<'p> {
    /// Nothing is found yet but what is given.
    pub fn new(program: &'p Program) -> Reading<'p> {
        Reading {
            program,
            given: given(program),
            needed: RefCell::new(BTreeMap::new()),
        }
    }

    /// What an expression surely reads, and what the functions that it calls do.
    pub fn reads(&self, expression: &Expression, found: &mut Vec<Read>) {
        match expression.kind.as_ref() {
            ExpressionKind::Attribute(local, attribute) => found.push((*local, *attribute)),
            ExpressionKind::Else(value, other) => {
                self.reads(value, found);
                let mut behind = Vec::new();
                self.reads(other, &mut behind);
                let is_left_out = is_left_out(self.program, value);
                behind.retain(|(_, attribute)| is_left_out || !self.given.contains(attribute));
                found.extend(behind);
            }
            ExpressionKind::Call(function, arguments) => {
                let message = arguments.last().and_then(held_message);
                if let Some(local) = message {
                    let needed = self.needs(*function).into_iter();
                    found.extend(needed.map(|attribute| (local, attribute)));
                }
                for argument in arguments {
                    self.reads(argument, found);
                }
            }
            _ => {
                for part in expression.parts() {
                    self.reads(part, found);
                }
            }
        }
    }

    /// The attributes of its message that a function reads. Functions are not recursive.
    fn needs(&self, id: FunctionId) -> Vec<AttributeId> {
        if let Some(known) = self.needed.borrow().get(&id) {
            return known.clone();
        }
        let function = &self.program.functions[id.at()];
        let (Some(message), Some(body)) = (function.message, &function.body) else {
            return Vec::new();
        };
        let mut found = Vec::new();
        self.block(body, &mut found);
        let of_message = found.into_iter().filter(|(local, _)| *local == message);
        let mut needed: Vec<_> = of_message.map(|(_, attribute)| attribute).collect();
        needed.sort_unstable();
        needed.dedup();
        self.needed.borrow_mut().insert(id, needed.clone());
        needed
    }

    /// What the statements of a function read.
    fn block(&self, block: &Block, found: &mut Vec<Read>) {
        for statement in block {
            for expression in statement.values() {
                self.reads(expression, found);
            }
            for block in statement.blocks() {
                self.block(block, found);
            }
        }
    }
}

/// Whether the joints above a layer leave out a key of some session that is always there.
fn is_left_out(program: &Program, value: &Expression) -> bool {
    let ExpressionKind::Key(_, kind, key) = value.kind.as_ref() else {
        return false;
    };
    match &program.kinds[kind.at()].population {
        Population::Static(all) | Population::Labelled(all) => {
            let mut keys = all.iter().filter_map(|one| one.keys.get(key.at()));
            keys.any(|value| *value == Value::None)
        }
        Population::Dynamic { .. } => false,
    }
}

/// The attributes that an application, or any layer, gives messages.
fn given(program: &Program) -> BTreeSet<AttributeId> {
    let ports = program.ports.iter().flat_map(|port| &port.attributes);
    let marks = program.entities.iter().filter_map(|entity| entity.mark);
    let mut all: BTreeSet<AttributeId> = ports.copied().chain(marks).collect();
    let handlers = program.handlers.iter().map(|handler| &handler.body);
    let finders = program.entities.iter().flat_map(|entity| &entity.finders);
    let blocks = handlers.chain(finders.map(|finder| &finder.otherwise));
    blocks.for_each(|block| gives(block, &mut all));
    all
}

fn gives(block: &Block, all: &mut BTreeSet<AttributeId>) {
    for statement in block {
        if let StatementKind::Output(
            Output::Send { attributes, .. }
            | Output::Deliver { attributes, .. }
            | Output::Tell { attributes, .. },
        ) = &statement.kind
        {
            all.extend(attributes.iter().map(|(given, _)| *given));
        }
        let blocks = statement.blocks().into_iter();
        blocks.for_each(|block| gives(block, all));
    }
}

/// The local whose message an argument hands over.
fn held_message(argument: &Expression) -> Option<LocalId> {
    let is_message = argument.result == super::value::Type::Message;
    if let ExpressionKind::Read(Variable::Local(local)) = argument.kind.as_ref() {
        return is_message.then_some(*local);
    }
    None
}
