//! The words of a line -> expressions, variables, values, types.

use super::{Read, Words};
use crate::types::expression::{
    Binary, Expression, ExpressionKind as Kind, Query, Unary, Variable,
};
use crate::types::program::{ConfigId, EnumId, FieldId, HeaderId, KeyId, RecordId};
use crate::types::value::{Type, Value};

/// All operators of two operands.
const OPERATORS: [Binary; 18] = [
    Binary::Or,
    Binary::And,
    Binary::Equal,
    Binary::Unequal,
    Binary::Less,
    Binary::AtMost,
    Binary::Greater,
    Binary::AtLeast,
    Binary::BitOr,
    Binary::BitXor,
    Binary::BitAnd,
    Binary::ShiftLeft,
    Binary::ShiftRight,
    Binary::Add,
    Binary::Subtract,
    Binary::Multiply,
    Binary::Divide,
    Binary::Remainder,
];

impl Words<'_> {
    /// An expression, and its type.
    pub fn expression(&mut self) -> Read<Expression> {
        if self.takes("true") {
            return Ok(Expression::number(1, Type::Bool));
        }
        if self.takes("false") {
            return Ok(Expression::number(0, Type::Bool));
        }
        let kind = self.untyped()?;
        let result = match self.takes(":") {
            true => Some(self.type_of()?),
            false => self.tables.natural(&kind),
        };
        let mistake = self.mistake("the type of this is not known");
        Ok(Expression::new(kind, result.ok_or(mistake)?))
    }

    /// Expressions in brackets.
    pub fn list(&mut self) -> Read<Vec<Expression>> {
        self.expect("(")?;
        let mut all = Vec::new();
        while !self.takes(")") {
            all.push(self.expression()?);
            self.takes(",");
        }
        Ok(all)
    }

    fn untyped(&mut self) -> Read<Kind> {
        if self.takes("(") {
            let left = self.expression()?;
            let word = self.word()?;
            let operator = OPERATORS.into_iter().find(|one| one.sign() == word);
            let mistake = self.mistake(&format!("`{word}` is no operator"));
            let operator = operator.ok_or(mistake)?;
            let right = self.expression()?;
            self.expect(")")?;
            return Ok(Kind::Binary(operator, left, right));
        }
        let first = self.peek();
        let is_constant = first.starts_with(|c: char| c.is_ascii_digit()) && !first.contains('@');
        if is_constant || ["none", "hex", "{"].contains(&first) {
            return Ok(Kind::Constant(self.value()?));
        }
        let followed = self.line.words.get(self.at + 1);
        if followed.is_none_or(|word| word != "(") {
            return Ok(match first {
                "now" | "whole_length" => {
                    self.word()?;
                    if first == "now" {
                        Kind::Now
                    } else {
                        Kind::WholeLength
                    }
                }
                _ => Kind::Read(self.variable()?),
            });
        }
        self.word()?;
        self.expect("(")?;
        let kind = self.called(first)?;
        self.expect(")")?;
        Ok(kind)
    }

    /// What stands as `NAME(…)`.
    fn called(&mut self, name: &str) -> Read<Kind> {
        Ok(match name {
            "config" => {
                let config = self.word()?;
                Kind::Config(ConfigId(self.place(&self.names.config, config)?))
            }
            "key" => {
                let (instance, kind) = self.instance()?;
                let key = self.word()?.trim_start_matches('.');
                let key = self.place(&self.names.keys[kind.at()], key)?;
                Kind::Key(instance, kind, KeyId(key))
            }
            "header" => {
                let (header, field) = self.header_field()?;
                Kind::Header(header, field)
            }
            "peeked" => {
                let local = self.local()?;
                self.expect(",")?;
                let (header, field) = self.header_field()?;
                Kind::Peeked(local, header, field)
            }
            "in_header" => {
                let (header, field) = self.header_field()?;
                Kind::HeaderPresent(header, field)
            }
            "in_peeked" => {
                let local = self.local()?;
                self.expect(",")?;
                let (header, field) = self.header_field()?;
                Kind::PeekedPresent(local, header, field)
            }
            "options" => Kind::OptionsHold(self.header()?),
            "attribute" => {
                let message = self.local()?;
                self.expect(",")?;
                Kind::Attribute(message, self.attribute()?)
            }
            "length" => Kind::Length(self.local()?),
            "not" => Kind::Unary(Unary::Not, self.expression()?),
            "negate" => Kind::Unary(Unary::Negate, self.expression()?),
            "complement" => Kind::Unary(Unary::Complement, self.expression()?),
            "inverse" => Kind::Unary(Unary::Inverse, self.expression()?),
            "if" => Kind::If(self.expression()?, self.further()?, self.further()?),
            "some" => Kind::Some(self.expression()?),
            "unwrap" => Kind::Unwrap(self.expression()?),
            "present" => Kind::Present(self.expression()?),
            "else" => Kind::Else(self.expression()?, self.further()?),
            "cast" => Kind::Cast(self.expression()?),
            "bytes_length" => Kind::BytesLength(self.expression()?),
            "byte" => Kind::ByteAt(self.expression()?, self.further()?),
            "bounded" => Kind::Bounded(self.expression()?),
            "call" => {
                let function = self.function()?;
                self.expect(",")?;
                Kind::Call(function, self.list()?)
            }
            "min" => Kind::Least(self.expression()?, self.further()?),
            "max" => Kind::Greatest(self.expression()?, self.further()?),
            "through" => {
                let message = self.local()?;
                self.expect(",")?;
                let filter = self.filter()?;
                self.expect(",")?;
                Kind::Through(filter, self.list()?, message)
            }
            other => Kind::Query(self.query(other)?),
        })
    }

    fn query(&mut self, name: &str) -> Read<Query> {
        Ok(match name {
            "is_empty" => Query::IsEmpty(self.variable()?),
            "has" => Query::Has(self.variable()?, self.further()?),
            "first" => Query::First(self.variable()?),
            "covers" => Query::Covers(self.variable()?, self.further()?, self.further()?),
            "ready" => Query::Ready(self.variable()?, self.further()?),
            "begin" => Query::Begin(self.variable()?),
            "end" => Query::End(self.variable()?),
            "running" => {
                let (instance, kind, timer) = self.timer()?;
                Query::Running(instance, kind, timer)
            }
            "exists" => {
                let kind = self.kind()?;
                self.expect(",")?;
                Query::Exists(kind, self.list()?)
            }
            "ended" => {
                let (instance, kind) = self.instance()?;
                Query::Ended(instance, kind)
            }
            "goes_on" => Query::GoesOn,
            "insert" => Query::InsertSet(self.variable()?, self.further()?),
            "release" => Query::Release(self.variable()?, self.further()?),
            other => return Err(self.mistake(&format!("nothing is called `{other}` here"))),
        })
    }

    /// A further expression, behind a comma.
    fn further(&mut self) -> Read<Expression> {
        self.expect(",")?;
        self.expression()
    }

    /// A variable: a field of an instance or a local, then its parts.
    pub fn variable(&mut self) -> Read<Variable> {
        let word = self.peek();
        let (mut variable, mut parts) = if word.contains('@') {
            self.word()?;
            let dot = word
                .find('@')
                .and_then(|at| word[at..].find('.').map(|dot| at + dot));
            let (local, parts) = word.split_at(dot.unwrap_or(word.len()));
            (Variable::Local(self.local_of(local)?), parts)
        } else {
            let (instance, kind) = self.instance()?;
            let path = self.word()?.trim_start_matches('.');
            let (field, parts) = path.split_at(path.find('.').unwrap_or(path.len()));
            let field = self.place(&self.names.fields[kind.at()], field)?;
            (Variable::Field(instance, kind, FieldId(field)), parts)
        };
        loop {
            for part in parts.split('.').filter(|part| !part.is_empty()) {
                variable = self.part(variable, part)?;
            }
            parts = "";
            if self.takes("[") {
                let index = self.expression()?;
                self.expect("]")?;
                variable = Variable::Element(Box::new(variable), Box::new(index));
            } else if self.peek().starts_with('.') {
                parts = self.word()?;
            } else {
                return Ok(variable);
            }
        }
    }

    fn part(&self, inner: Variable, name: &str) -> Read<Variable> {
        let Some(Type::Record(record)) = self.tables.variable(&inner) else {
            return Err(self.mistake(&format!("`{name}` is no part of this")));
        };
        let field = self.place(&self.names.record_fields[record.at()], name)?;
        Ok(Variable::Part(Box::new(inner), record, FieldId(field)))
    }

    fn value(&mut self) -> Read<Value> {
        match self.peek() {
            "none" => {
                self.word()?;
                Ok(Value::None)
            }
            "hex" => {
                self.word()?;
                self.expect("(")?;
                let digits = if self.peek() == ")" { "" } else { self.word()? };
                self.expect(")")?;
                let pairs = digits.as_bytes().chunks(2);
                let byte = |pair: &[u8]| {
                    let pair = std::str::from_utf8(pair).ok()?;
                    u8::from_str_radix(pair, 16).ok()
                };
                let bytes: Option<Vec<u8>> = pairs.map(byte).collect();
                let mistake = self.mistake(&format!("`{digits}` are no bytes"));
                bytes.map(Value::Bytes).ok_or(mistake)
            }
            "{" => {
                self.word()?;
                let mut values = Vec::new();
                while !self.takes("}") {
                    values.push(self.value()?);
                    self.takes(",");
                }
                Ok(Value::Record(values))
            }
            _ => self.number().map(Value::Number),
        }
    }

    /// A type.
    pub fn type_of(&mut self) -> Read<Type> {
        let word = self.word()?;
        let mut kind = match word {
            "bool" => Type::Bool,
            "time" => Type::Time,
            "message" => Type::Message,
            "nothing" => Type::Nothing,
            "bytes" => Type::Bytes(self.capacity()?),
            "bounded" => Type::BoundedBytes(self.capacity()?),
            "unbounded" => Type::UnboundedBytes,
            "set" => Type::Set(self.capacity()?),
            "queue" => {
                let item = self.inside(Words::type_of)?;
                Type::Queue(Box::new(item), self.capacity()?)
            }
            "window" => {
                let item = Box::new(self.inside(Words::type_of)?);
                let capacity = self.capacity()?;
                self.expect("by")?;
                Type::Window(item, self.number()? as u8, capacity)
            }
            "stream" => {
                let position = self.inside(Words::type_of)?;
                Type::Stream(Box::new(position), self.capacity()?)
            }
            "array" => {
                let item = self.inside(Words::type_of)?;
                Type::Array(Box::new(item), self.capacity()?)
            }
            "instance" => Type::Instance(self.inside(Words::kind)?),
            "abstract" => Type::Abstract(self.inside(Words::word)?.to_string()),
            "enum" => {
                let name = self.inside(Words::word)?;
                Type::Enum(EnumId(self.place(&self.names.enums, name)?))
            }
            "record" => {
                let name = self.inside(Words::word)?;
                Type::Record(RecordId(self.place(&self.names.records, name)?))
            }
            "header" => {
                let name = self.inside(Words::word)?;
                Type::Header(HeaderId(self.place(&self.names.headers, name)?))
            }
            _ => self.number_type(word)?,
        };
        while self.takes("?") {
            kind = Type::Optional(Box::new(kind));
        }
        Ok(kind)
    }

    fn number_type(&self, word: &str) -> Read<Type> {
        let digits = word
            .find(|c: char| c.is_ascii_digit())
            .unwrap_or(word.len());
        let (name, width) = word.split_at(digits);
        let kind = width.parse().ok().and_then(|width| match name {
            "u" => Some(Type::Unsigned(width)),
            "i" => Some(Type::Signed(width)),
            "seq" => Some(Type::Sequence(width)),
            _ => None,
        });
        kind.ok_or_else(|| self.mistake(&format!("`{word}` is no type")))
    }

    fn capacity(&mut self) -> Read<u32> {
        self.expect("[")?;
        let capacity = self.number()?;
        self.expect("]")?;
        Ok(capacity as u32)
    }

    fn inside<T>(&mut self, read: fn(&mut Self) -> Read<T>) -> Read<T> {
        self.expect("<")?;
        let inner = read(self)?;
        self.expect(">")?;
        Ok(inner)
    }
}
