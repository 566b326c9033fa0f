//! Declarations of user C: opaque types, functions, procedures, constants, sensors and outputs.
//!
//! In: a module. Out: rows of the tables of the IR, each added when it is first used. Texts are
//! the first opaque type, those of the user follow in order.

use crate::ir::interface::{Foreign, Given, Home, Opaque, Room, Shape};
use crate::ir::{self, ForeignId, OpaqueId, Type};
use crate::types::esterel::{Module, TEXT, Type as Source};
use std::collections::BTreeMap;

/// The type of a value.
pub fn type_of(of: Source) -> Type {
    match of {
        Source::Boolean => Type::BIT,
        Source::Integer => Type::WORD,
        Source::Float => Type::Float(32),
        Source::Double => Type::Float(64),
        Source::Text => Type::Opaque(OpaqueId(0)),
        Source::User(at) => Type::Opaque(OpaqueId(at + 1)),
    }
}

/// A value as C has it.
pub fn shape(of: Source) -> Shape {
    match of {
        Source::Boolean => Shape::Bool,
        Source::Integer => NUMBER,
        Source::Float => Shape::Float(32),
        Source::Double => Shape::Float(64),
        Source::Text => Shape::Opaque(OpaqueId(0)),
        Source::User(at) => Shape::Opaque(OpaqueId(at + 1)),
    }
}

/// An integer.
pub const NUMBER: Shape = Shape::Number {
    bits: 32,
    signed: true,
};

/// The user C that a module uses, by name.
#[derive(Debug, Default)]
pub struct Outside(BTreeMap<String, ForeignId>);

impl Outside {
    /// Nothing is used yet; all opaque types are declared.
    pub fn new(source: &Module, module: &mut ir::Module) -> Outside {
        let text = Opaque {
            name: "string".to_string(),
            room: Some(Room {
                name: "STRLEN".to_string(),
                bytes: TEXT as u32,
            }),
        };
        let users = source.types.iter().map(|name| Opaque {
            name: name.clone(),
            room: None,
        });
        module.opaques = [text].into_iter().chain(users).collect();
        Outside::default()
    }

    /// Something in C, which is the same wherever it is called.
    fn of(&mut self, module: &mut ir::Module, foreign: Foreign) -> ForeignId {
        let next = ForeignId(module.foreigns.len() as u32);
        let known = *self.0.entry(foreign.name.clone()).or_insert(next);
        if known == next {
            module.foreigns.push(foreign);
        }
        known
    }

    /// A constant.
    pub fn constant(&mut self, module: &mut ir::Module, name: &str, of: Source) -> ForeignId {
        let foreign = Foreign {
            name: name.to_string(),
            home: Home::Constant,
            parameters: Vec::new(),
            result: Some(shape(of)),
        };
        self.of(module, foreign)
    }

    /// A function.
    pub fn function(
        &mut self,
        module: &mut ir::Module,
        name: &str,
        parameters: &[Source],
        result: Option<Source>,
    ) -> ForeignId {
        let parameters = parameters.iter().map(|of| Given::Value(shape(*of)));
        let foreign = Foreign {
            name: name.to_string(),
            home: Home::Program,
            parameters: numbered(parameters),
            result: result.map(shape),
        };
        self.of(module, foreign)
    }

    /// A procedure: variables that it may change, and values. It changes what only C knows where
    /// that stands; a boolean is an integer there.
    pub fn procedure(
        &mut self,
        module: &mut ir::Module,
        name: &str,
        references: &[Source],
        values: &[Source],
    ) -> ForeignId {
        let references = references.iter().map(|of| match (of, shape(*of)) {
            (Source::Boolean, _) => Given::Changed(NUMBER),
            (_, Shape::Opaque(of)) => Given::State(module.opaques[of.at()].name.clone()),
            (_, shape) => Given::Changed(shape),
        });
        let values = values.iter().map(|of| Given::Value(shape(*of)));
        let foreign = Foreign {
            name: name.to_string(),
            home: Home::Program,
            parameters: numbered(references.chain(values)),
            result: None,
        };
        self.of(module, foreign)
    }
}

fn numbered(all: impl Iterator<Item = Given>) -> Vec<(String, Given)> {
    let numbered = (1..).zip(all);
    numbered
        .map(|(at, given)| (format!("p{at}"), given))
        .collect()
}
