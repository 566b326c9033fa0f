//! Values in C: the expressions and variables that hold them.

use super::super::types;
use super::number::Number;
use crate::c::tree::{Expression as C, Statement as S, atom};
use crate::ir::Type;

/// A variable that holds a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Variable {
    name: String,
    is_pointer: bool,
}

impl Variable {
    /// A struct of the function's own.
    pub fn own(name: &str) -> Variable {
        Variable {
            name: name.to_string(),
            is_pointer: false,
        }
    }

    /// A struct of whoever called.
    pub fn pointer(name: &str) -> Variable {
        Variable {
            name: name.to_string(),
            is_pointer: true,
        }
    }

    /// A member.
    pub fn member(&self, member: &str) -> C {
        match self.is_pointer {
            true => atom(&self.name).behind(member),
            false => atom(&self.name).member(member),
        }
    }

    /// Its address.
    pub fn address(&self) -> C {
        match self.is_pointer {
            true => atom(&self.name),
            false => atom(&self.name).address(),
        }
    }

    /// The struct itself.
    pub fn whole(&self) -> C {
        match self.is_pointer {
            true => atom(&self.name).dereferenced(),
            false => atom(&self.name),
        }
    }
}

/// The C that stands for a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Given {
    /// A number, or the index of an instance.
    Number(Number),
    /// A struct of bytes, a number with a fraction, or a value of an opaque type.
    Plain(C),
    /// Bytes, and how many.
    View {
        /// A pointer to the first.
        data: C,
        /// A `uint32_t`.
        length: C,
    },
    /// A message.
    Message(Variable),
}

impl Given {
    /// The expression that is stored in a place of the type.
    pub fn stored(self, of: Type) -> C {
        match (self, of) {
            (Given::Number(number), Type::Int(bits)) => number.narrow(types::stored_bits(bits)),
            (Given::Number(number), _) => number.code,
            (Given::Plain(code), _) => code,
            (Given::Message(variable), _) => variable.whole(),
            (Given::View { data, .. }, _) => data,
        }
    }

    /// The arguments that hand it to a function.
    pub fn arguments(self) -> Vec<C> {
        match self {
            Given::Number(number) => vec![number.code],
            Given::Plain(code) => vec![code],
            Given::View { data, length } => vec![data, length],
            Given::Message(variable) => vec![variable.address()],
        }
    }
}

/// `const kind name = value;`
pub fn constant(kind: &str, name: &str, value: C) -> S {
    S::Declare {
        kind: format!("const {kind}"),
        name: name.to_string(),
        value: Some(value),
    }
}
