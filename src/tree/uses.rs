//! What expressions, attempts and operations name: locals, messages, instances, headers.
//!
//! In: any part of a tree. Out: all that it reads, in the order of writing. The checker asks
//! whether each of them is there.

use super::{Action, Node, Range};
use crate::types::expression::{Expression, ExpressionKind as Kind, Instance, Query, Variable};
use crate::types::program::{HeaderId, KindId, LocalId, Target};
use crate::types::statement::{Attempt, Operation, Search, Source, Term};
use crate::types::value::Type;

/// What is named.
#[derive(Clone, Debug, Default)]
pub struct Uses {
    /// Locals whose value is read.
    pub locals: Vec<LocalId>,
    /// Messages that are read, and stay where they are.
    pub messages: Vec<LocalId>,
    /// Messages that move away.
    pub moved: Vec<LocalId>,
    /// Instances, and of which kind.
    pub instances: Vec<(Instance, KindId)>,
    /// Headers that were stripped.
    pub headers: Vec<HeaderId>,
}

impl Uses {
    /// What an expression names.
    pub fn of(expression: &Expression) -> Uses {
        let mut uses = Uses::default();
        uses.expression(expression);
        uses
    }

    /// Adds what an expression names.
    pub fn expression(&mut self, expression: &Expression) {
        match &*expression.kind {
            Kind::Constant(_)
            | Kind::Config(_)
            | Kind::WholeLength
            | Kind::Below
            | Kind::Now
            | Kind::Signal(_) => {}
            Kind::Read(Variable::Local(local)) if expression.result == Type::Message => {
                self.messages.push(*local);
            }
            Kind::Read(variable) => self.variable(variable),
            Kind::Key(instance, kind, _) => self.instance(*instance, *kind),
            Kind::Header(header, _)
            | Kind::HeaderPresent(header, _)
            | Kind::OptionsHold(header) => self.headers.push(*header),
            Kind::Peeked(local, ..) | Kind::PeekedPresent(local, ..) => self.locals.push(*local),
            Kind::Attribute(message, _) | Kind::Length(message) => self.messages.push(*message),
            Kind::Unary(_, a)
            | Kind::Some(a)
            | Kind::Unwrap(a)
            | Kind::Present(a)
            | Kind::Cast(a)
            | Kind::BytesLength(a)
            | Kind::Bounded(a) => self.expression(a),
            Kind::Binary(_, a, b)
            | Kind::ByteAt(a, b)
            | Kind::Else(a, b)
            | Kind::Least(a, b)
            | Kind::Greatest(a, b) => {
                self.expression(a);
                self.expression(b);
            }
            Kind::If(a, b, c) => [a, b, c].into_iter().for_each(|part| self.expression(part)),
            Kind::Call(_, arguments) => self.expressions(arguments),
            Kind::Query(query) => self.query(query),
            Kind::Through(_, arguments, message) => {
                self.expressions(arguments);
                self.messages.push(*message);
            }
        }
    }

    /// Adds what expressions name.
    pub fn expressions(&mut self, expressions: &[Expression]) {
        expressions.iter().for_each(|part| self.expression(part));
    }

    /// Adds what a variable names.
    pub fn variable(&mut self, variable: &Variable) {
        match variable {
            Variable::Field(instance, kind, _) => self.instance(*instance, *kind),
            Variable::Local(local) => self.locals.push(*local),
            Variable::Element(array, index) => {
                self.variable(array);
                self.expression(index);
            }
            Variable::Part(record, ..) => self.variable(record),
        }
    }

    /// Adds what an attempt names; what it moves, it moves only if it succeeds.
    pub fn attempt(&mut self, attempt: &Attempt) {
        match attempt {
            Attempt::Instance(searches) => {
                searches.iter().for_each(|search| self.search(search));
            }
            Attempt::Value(value) => self.expression(value),
            Attempt::Pop(queue) | Attempt::PopValue(queue) => self.variable(queue),
            Attempt::Push(queue, source) => {
                self.variable(queue);
                self.source(source);
            }
            Attempt::PushValue(container, value)
            | Attempt::TakeWindow(container, value)
            | Attempt::ShareWindow(container, value) => {
                self.variable(container);
                self.expression(value);
            }
            Attempt::TakeValue(window, number) => {
                self.variable(window);
                self.expression(number);
            }
            Attempt::InsertValue(window, number, value) => {
                self.variable(window);
                self.expression(number);
                self.expression(value);
            }
            Attempt::InsertWindow(window, number, source) => {
                self.variable(window);
                self.expression(number);
                self.source(source);
            }
            Attempt::InsertStream(stream, at, message) => {
                self.variable(stream);
                self.expression(at);
                self.moved.push(*message);
            }
            Attempt::AppendStream(stream, message) => {
                self.variable(stream);
                self.moved.push(*message);
            }
            Attempt::Peek(message, _) | Attempt::Restore(message, _) => {
                self.messages.push(*message);
            }
            Attempt::Pad(message, count) => {
                self.messages.push(*message);
                self.expression(count);
            }
            Attempt::Rewrite(message, _, arguments) => {
                self.messages.push(*message);
                self.expressions(arguments);
            }
            Attempt::Message(source) => self.source(source),
        }
    }

    /// Adds what an operation names.
    pub fn operation(&mut self, operation: &Operation) {
        match operation {
            Operation::Skip(message, count) | Operation::Cut(message, count) => {
                self.messages.push(*message);
                self.expression(count);
            }
            Operation::ReplaceValue(window, number, value) => {
                self.variable(window);
                self.expression(number);
                self.expression(value);
            }
            Operation::ReplaceWindow(window, number, source) => {
                self.variable(window);
                self.expression(number);
                self.source(source);
            }
            Operation::Release(container, to) | Operation::Begin(container, to) => {
                self.variable(container);
                self.expression(to);
            }
            Operation::Clear(container) => self.variable(container),
            Operation::Add(bytes, factor, term) => {
                self.variable(bytes);
                self.expression(factor);
                match term {
                    Term::Data(message) => self.messages.push(*message),
                    Term::Bytes(other) => self.variable(other),
                }
            }
            Operation::Scale(bytes, factor) => {
                self.variable(bytes);
                self.expression(factor);
            }
            Operation::Rewrite(message, _, arguments) => {
                self.messages.push(*message);
                self.expressions(arguments);
            }
            Operation::Call(_, arguments) => self.expressions(arguments),
        }
    }

    /// Adds an instance.
    pub fn instance(&mut self, instance: Instance, kind: KindId) {
        self.instances.push((instance, kind));
    }

    fn source(&mut self, source: &Source) {
        match source {
            Source::Local(message) => self.moved.push(*message),
            Source::New => {}
            Source::NewFrom(variable, count) | Source::TakeStream(variable, count) => {
                self.variable(variable);
                self.expression(count);
            }
            Source::Share(message) => self.messages.push(*message),
            Source::Piece(message, at, count) => {
                self.messages.push(*message);
                self.expression(at);
                self.expression(count);
            }
            Source::SliceStream(stream, at, count) => {
                self.variable(stream);
                self.expression(at);
                self.expression(count);
            }
        }
    }

    fn search(&mut self, search: &Search) {
        match search {
            Search::Find(Target {
                keys, condition, ..
            }) => {
                self.expressions(keys);
                condition.iter().for_each(|part| self.expression(part));
            }
            Search::Standing(_, Instance::Local(on)) => self.locals.push(*on),
            Search::Standing(..) => {}
            Search::Create(_, keys, _) | Search::Soonest(_, _, keys) => self.expressions(keys),
        }
    }

    fn query(&mut self, query: &Query) {
        match query {
            Query::IsEmpty(container)
            | Query::First(container)
            | Query::Begin(container)
            | Query::End(container) => self.variable(container),
            Query::Has(container, at)
            | Query::Ready(container, at)
            | Query::InsertSet(container, at)
            | Query::Release(container, at) => {
                self.variable(container);
                self.expression(at);
            }
            Query::Covers(container, at, count) => {
                self.variable(container);
                self.expression(at);
                self.expression(count);
            }
            Query::Exists(_, keys) => self.expressions(keys),
            Query::GoesOn => {}
            Query::Running(instance, kind, _) | Query::Ended(instance, kind) => {
                self.instance(*instance, *kind);
            }
        }
    }
}

/// The places that a node may write, beside what finding its values changes.
pub fn written(node: &Node) -> Vec<&Variable> {
    match node {
        Node::Act { action, .. } => match action {
            Action::Assign(place, _) | Action::DropAll(place, _) => vec![place],
            Action::Do(operation) => written_by(operation),
            Action::Loop(turns) => match &turns.range {
                Range::Queue(queue, _) => vec![queue],
                Range::Numbers { .. } => Vec::new(),
            },
            Action::Let(..)
            | Action::SetAttribute(..)
            | Action::Strip(..)
            | Action::StripRest(..)
            | Action::Push { .. }
            | Action::Sum { .. }
            | Action::Scan { .. }
            | Action::Drop(..)
            | Action::Consume(_)
            | Action::Count(_)
            | Action::Pass(_)
            | Action::StartTimer(..)
            | Action::StopTimer(..)
            | Action::End(..)
            | Action::Free(..)
            | Action::Wait(_)
            | Action::Begin
            | Action::Put(_)
            | Action::Answer(_)
            | Action::Mark(_)
            | Action::Precede(..)
            | Action::Turn
            | Action::AtOnce => Vec::new(),
        },
        Node::Try { attempt, .. } => match attempt {
            Attempt::Pop(place)
            | Attempt::PopValue(place)
            | Attempt::PushValue(place, _)
            | Attempt::InsertValue(place, ..)
            | Attempt::TakeValue(place, _)
            | Attempt::TakeWindow(place, _)
            | Attempt::ShareWindow(place, _)
            | Attempt::InsertStream(place, ..)
            | Attempt::AppendStream(place, _) => vec![place],
            Attempt::Push(place, source) | Attempt::InsertWindow(place, _, source) => {
                [place].into_iter().chain(taken(source)).collect()
            }
            Attempt::Message(source) => taken(source).into_iter().collect(),
            Attempt::Instance(_)
            | Attempt::Value(_)
            | Attempt::Peek(..)
            | Attempt::Restore(..)
            | Attempt::Pad(..)
            | Attempt::Rewrite(..) => Vec::new(),
        },
        Node::Test { .. } | Node::Case { .. } | Node::Leaf { .. } => Vec::new(),
    }
}

fn written_by(operation: &Operation) -> Vec<&Variable> {
    match operation {
        Operation::ReplaceValue(place, ..)
        | Operation::Release(place, _)
        | Operation::Begin(place, _)
        | Operation::Clear(place)
        | Operation::Add(place, ..)
        | Operation::Scale(place, _) => vec![place],
        Operation::ReplaceWindow(place, _, source) => {
            [place].into_iter().chain(taken(source)).collect()
        }
        Operation::Skip(..) | Operation::Cut(..) | Operation::Rewrite(..) | Operation::Call(..) => {
            Vec::new()
        }
    }
}

/// What a message is taken from.
fn taken(source: &Source) -> Option<&Variable> {
    match source {
        Source::TakeStream(stream, _) => Some(stream),
        Source::Local(_)
        | Source::New
        | Source::NewFrom(..)
        | Source::Share(_)
        | Source::Piece(..)
        | Source::SliceStream(..) => None,
    }
}

/// The marks that an action reads.
pub fn marks(action: &Action) -> Vec<LocalId> {
    match action {
        Action::Precede(first, mark) => vec![*first, *mark],
        _of_none => Vec::new(),
    }
}
