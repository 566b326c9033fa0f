//! The type that an expression has by its parts, so that the text need not say it.

use crate::types::expression::{
    Binary, Expression, ExpressionKind as Kind, Query, Unary, Variable,
};
use crate::types::program::{Local, Program};
use crate::types::value::Type;

/// What the types of expressions are told from.
#[derive(Clone, Copy)]
pub struct Tables<'a> {
    /// The program.
    pub program: &'a Program,
    /// The locals of the forest.
    pub locals: &'a [Local],
}

impl Tables<'_> {
    /// The type of an expression, if its parts say it.
    pub fn natural(&self, kind: &Kind) -> Option<Type> {
        let program = self.program;
        let bytes = Type::Unsigned(32);
        Some(match kind {
            Kind::Constant(_) | Kind::Cast(_) | Kind::Bounded(_) => return None,
            Kind::Config(id) => program.config[id.at()].kind.clone(),
            Kind::Read(variable) => return self.variable(variable),
            Kind::Key(_, kind, key) => program.kinds[kind.at()].keys[key.at()].kind.clone(),
            Kind::Header(header, field) | Kind::Peeked(_, header, field) => {
                program.headers[header.at()].field(*field).kind.clone()
            }
            Kind::HeaderPresent(..)
            | Kind::PeekedPresent(..)
            | Kind::OptionsHold(_)
            | Kind::Present(_) => Type::Bool,
            Kind::Attribute(_, id) => program.attributes[id.at()].kind.clone(),
            Kind::Length(_) | Kind::WholeLength => bytes,
            Kind::BytesLength(_) | Kind::ByteAt(..) => Type::Unsigned(8),
            Kind::Below => return None,
            Kind::Now => Type::Time,
            Kind::Signal(_) => Type::Bool,
            Kind::Unary(Unary::Not, _) => Type::Bool,
            Kind::Unary(Unary::Negate | Unary::Complement | Unary::Inverse, operand) => {
                operand.result.clone()
            }
            Kind::Binary(operator, left, _) => match is_truth(*operator) {
                true => Type::Bool,
                false => left.result.clone(),
            },
            Kind::If(_, then, _) => then.result.clone(),
            Kind::Some(inner) => Type::Optional(Box::new(inner.result.clone())),
            Kind::Unwrap(inner) => match &inner.result {
                Type::Optional(inner) => (**inner).clone(),
                _ => return None,
            },
            Kind::Else(_, other) => other.result.clone(),
            Kind::Call(function, _) => program.functions[function.at()].result.clone(),
            Kind::Least(left, _) | Kind::Greatest(left, _) => left.result.clone(),
            Kind::Query(query) => return self.query(query),
            Kind::Through(filter, ..) => {
                let result = program.filters[filter.at()].result.as_ref();
                return result.map(|result: &Expression| result.result.clone());
            }
        })
    }

    /// The type of a variable.
    pub fn variable(&self, variable: &Variable) -> Option<Type> {
        match variable {
            Variable::Field(_, kind, field) => {
                let fields = &self.program.kinds[kind.at()].fields;
                fields.get(field.at()).map(|field| field.kind.clone())
            }
            Variable::Local(local) => {
                let local = self.locals.get(local.at());
                local.map(|local| local.kind.clone())
            }
            Variable::Element(array, _) => match self.variable(array)? {
                Type::Array(item, _) => Some(*item),
                Type::Bytes(_) => Some(Type::Unsigned(8)),
                _ => None,
            },
            Variable::Part(_, record, field) => {
                let fields = &self.program.records[record.at()].fields;
                fields.get(field.at()).map(|field| field.kind.clone())
            }
        }
    }

    fn query(&self, query: &Query) -> Option<Type> {
        match query {
            Query::IsEmpty(_)
            | Query::Has(..)
            | Query::Covers(..)
            | Query::Running(..)
            | Query::Exists(..)
            | Query::Ended(..)
            | Query::GoesOn
            | Query::InsertSet(..) => Some(Type::Bool),
            Query::First(window) => match self.variable(window)? {
                Type::Window(_, width, _) => Some(Type::Optional(Box::new(Type::Sequence(width)))),
                _ => None,
            },
            Query::Ready(..) | Query::Release(..) => Some(Type::Unsigned(32)),
            Query::Begin(stream) | Query::End(stream) => match self.variable(stream)? {
                Type::Stream(position, _) => Some(*position),
                _ => None,
            },
        }
    }
}

fn is_truth(operator: Binary) -> bool {
    match operator {
        Binary::Or
        | Binary::And
        | Binary::Equal
        | Binary::Unequal
        | Binary::Less
        | Binary::AtMost
        | Binary::Greater
        | Binary::AtLeast => true,
        Binary::BitOr
        | Binary::BitXor
        | Binary::BitAnd
        | Binary::ShiftLeft
        | Binary::ShiftRight
        | Binary::Add
        | Binary::Subtract
        | Binary::Multiply
        | Binary::Divide
        | Binary::Remainder => false,
    }
}
