//! What may fail, operations, and where messages come from -> text.

use super::Writer;
use crate::types::expression::{Expression, Variable};
use crate::types::program::{FilterId, LocalId};
use crate::types::statement::{Attempt, Operation, Source, Term};

/// Attempts, operations, sources.
impl Writer<'_> {
    pub fn attempt(&self, attempt: &Attempt) -> String {
        let variable = |one: &Variable| self.variable(one);
        let value = |one: &Expression| self.expression(one);
        match attempt {
            Attempt::Instance(searches) => {
                let all: Vec<String> = searches.iter().map(|one| self.search(one)).collect();
                all.join(" or ")
            }
            Attempt::Value(one) => format!("value {}", value(one)),
            Attempt::Pop(queue) => format!("pop {}", variable(queue)),
            Attempt::PopValue(queue) => format!("pop_value {}", variable(queue)),
            Attempt::Push(queue, source) => {
                format!("push {} {}", variable(queue), self.source(source))
            }
            Attempt::PushValue(queue, one) => {
                format!("push_value {} {}", variable(queue), value(one))
            }
            Attempt::InsertWindow(window, number, source) => {
                let source = self.source(source);
                format!("insert {} {} {source}", variable(window), value(number))
            }
            Attempt::InsertValue(window, number, one) => {
                let number = value(number);
                format!("insert_value {} {number} {}", variable(window), value(one))
            }
            Attempt::TakeValue(window, number) => {
                format!("take_value {} {}", variable(window), value(number))
            }
            Attempt::TakeWindow(window, number) => {
                format!("take {} {}", variable(window), value(number))
            }
            Attempt::ShareWindow(window, number) => {
                format!("share {} {}", variable(window), value(number))
            }
            Attempt::InsertStream(stream, at, message) => {
                let message = self.local(*message);
                format!("merge {} {} {message}", variable(stream), value(at))
            }
            Attempt::AppendStream(stream, message) => {
                format!("append {} {}", variable(stream), self.local(*message))
            }
            Attempt::Peek(message, header) => {
                format!(
                    "peek {} {}",
                    self.local(*message),
                    self.names.headers[header.at()]
                )
            }
            Attempt::Restore(message, mark) => {
                format!(
                    "restore {} {}",
                    self.local(*message),
                    self.names.attributes[mark.at()]
                )
            }
            Attempt::Pad(message, count) => {
                format!("pad {} {}", self.local(*message), value(count))
            }
            Attempt::Rewrite(message, filter, arguments) => {
                self.rewrite(*message, *filter, arguments)
            }
            Attempt::Message(source) => format!("message {}", self.source(source)),
        }
    }

    pub fn operation(&self, operation: &Operation) -> String {
        let value = |one: &Expression| self.expression(one);
        match operation {
            Operation::Skip(message, count) => {
                format!("skip {} {}", self.local(*message), value(count))
            }
            Operation::Cut(message, count) => {
                format!("cut {} {}", self.local(*message), value(count))
            }
            Operation::ReplaceWindow(window, number, source) => {
                let source = self.source(source);
                format!(
                    "replace {} {} {source}",
                    self.variable(window),
                    value(number)
                )
            }
            Operation::ReplaceValue(window, number, one) => {
                let window = self.variable(window);
                format!("replace_value {window} {} {}", value(number), value(one))
            }
            Operation::Release(container, to) => {
                format!("release {} {}", self.variable(container), value(to))
            }
            Operation::Begin(stream, at) => {
                format!("begin {} {}", self.variable(stream), value(at))
            }
            Operation::Clear(container) => format!("clear {}", self.variable(container)),
            Operation::Add(bytes, factor, term) => {
                let (bytes, factor) = (self.variable(bytes), value(factor));
                match term {
                    Term::Data(message) => {
                        format!("add_data {bytes} {factor} {}", self.local(*message))
                    }
                    Term::Bytes(other) => format!("add {bytes} {factor} {}", self.variable(other)),
                }
            }
            Operation::Scale(bytes, factor) => {
                format!("scale {} {}", self.variable(bytes), value(factor))
            }
            Operation::Rewrite(message, filter, arguments) => {
                self.rewrite(*message, *filter, arguments)
            }
            Operation::Call(function, arguments) => {
                let function = &self.names.functions[function.at()];
                format!("call {function} {}", self.list(arguments))
            }
        }
    }

    fn rewrite(&self, message: LocalId, filter: FilterId, arguments: &[Expression]) -> String {
        let (message, arguments) = (self.local(message), self.list(arguments));
        let filter = &self.names.filters[filter.at()];
        format!("rewrite {message} {filter} {arguments}")
    }

    fn source(&self, source: &Source) -> String {
        let value = |one: &Expression| self.expression(one);
        match source {
            Source::Local(message) => format!("own {}", self.local(*message)),
            Source::New => "new".to_string(),
            Source::NewFrom(bytes, count) => {
                format!("from {} {}", self.variable(bytes), value(count))
            }
            Source::Share(message) => format!("share {}", self.local(*message)),
            Source::Piece(message, at, count) => {
                format!(
                    "piece {} {} {}",
                    self.local(*message),
                    value(at),
                    value(count)
                )
            }
            Source::TakeStream(stream, count) => {
                format!("take {} {}", self.variable(stream), value(count))
            }
            Source::SliceStream(stream, at, count) => {
                format!(
                    "slice {} {} {}",
                    self.variable(stream),
                    value(at),
                    value(count)
                )
            }
        }
    }
}
