//! Expressions, variables, values and types -> text.

use super::Writer;
use crate::types::expression::{Expression, ExpressionKind as Kind, Query, Unary, Variable};
use crate::types::statement::Search;
use crate::types::value::{Type, Value};

/// Expressions, variables, values, types.
impl Writer<'_> {
    pub fn expression(&self, expression: &Expression) -> String {
        if let (Kind::Constant(Value::Number(number @ (0 | 1))), Type::Bool) =
            (&*expression.kind, &expression.result)
        {
            return if *number == 1 { "true" } else { "false" }.to_string();
        }
        let text = self.untyped(&expression.kind);
        match self.tables.natural(&expression.kind) {
            Some(natural) if natural == expression.result => text,
            Some(_) | None => format!("{text}:{}", self.kind(&expression.result)),
        }
    }

    fn untyped(&self, kind: &Kind) -> String {
        let value = |one: &Expression| self.expression(one);
        match kind {
            Kind::Constant(one) => constant(one),
            Kind::Config(_)
            | Kind::Key(..)
            | Kind::Header(..)
            | Kind::Peeked(..)
            | Kind::HeaderPresent(..)
            | Kind::PeekedPresent(..)
            | Kind::OptionsHold(_)
            | Kind::Attribute(..)
            | Kind::Read(_)
            | Kind::Length(_) => self.named(kind),
            Kind::WholeLength => "whole_length".to_string(),
            Kind::Below => unreachable!("a tree names the session below"),
            Kind::Now => "now".to_string(),
            Kind::Signal(_) => unreachable!("signals are settled before there are trees"),
            Kind::Unary(..) | Kind::Binary(..) => self.operation_of(kind),
            Kind::If(condition, then, other) => {
                format!(
                    "if({}, {}, {})",
                    value(condition),
                    value(then),
                    value(other)
                )
            }
            Kind::Some(one) => format!("some({})", value(one)),
            Kind::Unwrap(one) => format!("unwrap({})", value(one)),
            Kind::Present(one) => format!("present({})", value(one)),
            Kind::Else(one, other) => format!("else({}, {})", value(one), value(other)),
            Kind::Cast(one) => format!("cast({})", value(one)),
            Kind::BytesLength(one) => format!("bytes_length({})", value(one)),
            Kind::ByteAt(one, index) => format!("byte({}, {})", value(one), value(index)),
            Kind::Bounded(one) => format!("bounded({})", value(one)),
            Kind::Call(id, arguments) => {
                format!(
                    "call({}, {})",
                    self.names.functions[id.at()],
                    self.list(arguments)
                )
            }
            Kind::Least(one, other) => format!("min({}, {})", value(one), value(other)),
            Kind::Greatest(one, other) => format!("max({}, {})", value(one), value(other)),
            Kind::Query(query) => self.query(query),
            Kind::Through(id, arguments, message) => {
                let (name, list) = (&self.names.filters[id.at()], self.list(arguments));
                format!("through({}, {name}, {list})", self.local(*message))
            }
        }
    }

    /// What a name stands for.
    fn named(&self, kind: &Kind) -> String {
        match kind {
            Kind::Config(id) => format!("config({})", self.names.config[id.at()]),
            Kind::Read(variable) => self.variable(variable),
            Kind::Key(instance, kind, key) => {
                let key = &self.names.keys[kind.at()][key.at()];
                format!("key({}.{key})", self.instance(*instance, *kind))
            }
            Kind::Header(header, field) => format!("header({})", self.field(*header, *field)),
            Kind::Peeked(local, header, field) => {
                format!(
                    "peeked({}, {})",
                    self.local(*local),
                    self.field(*header, *field)
                )
            }
            Kind::HeaderPresent(header, field) => {
                format!("in_header({})", self.field(*header, *field))
            }
            Kind::PeekedPresent(local, header, field) => {
                format!(
                    "in_peeked({}, {})",
                    self.local(*local),
                    self.field(*header, *field)
                )
            }
            Kind::OptionsHold(header) => {
                format!("options({})", self.names.headers[header.at()])
            }
            Kind::Attribute(message, id) => {
                format!(
                    "attribute({}, {})",
                    self.local(*message),
                    self.names.attributes[id.at()]
                )
            }
            Kind::Length(message) => format!("length({})", self.local(*message)),
            other => unreachable!("{other:?} is no name"),
        }
    }

    fn operation_of(&self, kind: &Kind) -> String {
        let value = |one: &Expression| self.expression(one);
        match kind {
            Kind::Unary(operator, one) => {
                let name = match operator {
                    Unary::Not => "not",
                    Unary::Negate => "negate",
                    Unary::Complement => "complement",
                    Unary::Inverse => "inverse",
                };
                format!("{name}({})", value(one))
            }
            Kind::Binary(operator, left, right) => {
                format!("({} {} {})", value(left), operator.sign(), value(right))
            }
            other => unreachable!("{other:?} is no operation"),
        }
    }

    fn query(&self, query: &Query) -> String {
        let variable = |one: &Variable| self.variable(one);
        let value = |one: &Expression| self.expression(one);
        match query {
            Query::IsEmpty(queue) => format!("is_empty({})", variable(queue)),
            Query::Has(container, number) => {
                format!("has({}, {})", variable(container), value(number))
            }
            Query::First(window) => format!("first({})", variable(window)),
            Query::Covers(stream, at, count) => {
                format!(
                    "covers({}, {}, {})",
                    variable(stream),
                    value(at),
                    value(count)
                )
            }
            Query::Ready(stream, at) => format!("ready({}, {})", variable(stream), value(at)),
            Query::Begin(stream) => format!("begin({})", variable(stream)),
            Query::End(stream) => format!("end({})", variable(stream)),
            Query::Running(instance, kind, timer) => {
                format!("running({})", self.timer(*instance, *kind, *timer))
            }
            Query::Exists(kind, keys) => {
                format!("exists({}, {})", self.names.kind(*kind), self.list(keys))
            }
            Query::GoesOn => "goes_on()".to_string(),
            Query::Ended(instance, kind) => format!("ended({})", self.instance(*instance, *kind)),
            Query::InsertSet(set, number) => {
                format!("insert({}, {})", variable(set), value(number))
            }
            Query::Release(stream, to) => format!("release({}, {})", variable(stream), value(to)),
        }
    }

    pub fn search(&self, search: &Search) -> String {
        match search {
            Search::Find(target) => {
                let condition = target.condition.as_ref();
                let condition = condition.map(|one| format!(" if {}", self.expression(one)));
                let condition = condition.unwrap_or_default();
                let keys = self.list(&target.keys);
                format!("find {} {keys}{condition}", self.names.kind(target.kind))
            }
            Search::Soonest(kind, timer, keys) => {
                let timer = &self.names.timers[kind.at()][timer.at()];
                let keys = self.list(keys);
                format!("soonest {} {timer} {keys}", self.names.kind(*kind))
            }
            Search::Standing(kind, on) => {
                format!(
                    "standing {} on [{}]",
                    self.names.kind(*kind),
                    self.which(*on)
                )
            }
            Search::Create(kind, keys, listener) => {
                let listening = listener.and_then(|by| {
                    let (_, how) = self.tables.program.listening(*kind)?;
                    Some(format!(" for {}", self.instance(by, how.listener)))
                });
                let keys = self.list(keys);
                let listening = listening.unwrap_or_default();
                format!("create {} {keys}{listening}", self.names.kind(*kind))
            }
        }
    }

    pub fn variable(&self, variable: &Variable) -> String {
        match variable {
            Variable::Field(instance, kind, field) => {
                let field = &self.names.fields[kind.at()][field.at()];
                format!("{}.{field}", self.instance(*instance, *kind))
            }
            Variable::Local(local) => self.local(*local),
            Variable::Element(array, index) => {
                format!("{}[{}]", self.variable(array), self.expression(index))
            }
            Variable::Part(inner, record, field) => {
                let field = &self.names.record_fields[record.at()][field.at()];
                format!("{}.{field}", self.variable(inner))
            }
        }
    }

    pub fn kind(&self, kind: &Type) -> String {
        match kind {
            Type::Unsigned(width) => format!("u{width}"),
            Type::Signed(width) => format!("i{width}"),
            Type::Bool => "bool".to_string(),
            Type::Sequence(width) => format!("seq{width}"),
            Type::Time => "time".to_string(),
            Type::Bytes(length) => format!("bytes[{length}]"),
            Type::BoundedBytes(most) => format!("bounded[{most}]"),
            Type::UnboundedBytes => "unbounded".to_string(),
            Type::Enum(id) => format!("enum<{}>", self.names.enums[id.at()]),
            Type::Record(id) => format!("record<{}>", self.names.records[id.at()]),
            Type::Optional(inner) => format!("{}?", self.kind(inner)),
            Type::Message => "message".to_string(),
            Type::Queue(item, capacity) => format!("queue<{}>[{capacity}]", self.kind(item)),
            Type::Window(item, width, capacity) => {
                format!("window<{}>[{capacity}] by {width}", self.kind(item))
            }
            Type::Stream(position, capacity) => {
                format!("stream<{}>[{capacity}]", self.kind(position))
            }
            Type::Array(item, length) => format!("array<{}>[{length}]", self.kind(item)),
            Type::Set(capacity) => format!("set[{capacity}]"),
            Type::Instance(kind) => format!("instance<{}>", self.names.kind(*kind)),
            Type::Header(id) => format!("header<{}>", self.names.headers[id.at()]),
            Type::Abstract(name) => format!("abstract<{name}>"),
            Type::Nothing => "nothing".to_string(),
        }
    }
}

fn constant(value: &Value) -> String {
    match value {
        Value::Number(number) => number.to_string(),
        Value::Bytes(bytes) => {
            let digits: Vec<String> = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
            format!("hex({})", digits.concat())
        }
        Value::None => "none".to_string(),
        Value::Record(values) => {
            let all: Vec<String> = values.iter().map(constant).collect();
            format!("{{{}}}", all.join(", "))
        }
    }
}
