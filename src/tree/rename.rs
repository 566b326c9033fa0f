//! Renaming: the same expression, step or attempt with other locals and instances.
//!
//! Lowering uses it to put a handler's code into the tree of one reaction; weaving to put one tree
//! into the leaf of another.

use super::{Action, Goal, Loop, Node, Output, Range};
use crate::types::expression::{Expression, ExpressionKind as Kind, Instance, Query, Variable};
use crate::types::program::{LocalId, Target};
use crate::types::statement::{Attempt, Operation, Search, Source, Term};

/// What changes; all else stays as it is.
pub struct Renaming<'a> {
    /// The new name of a local.
    pub local: &'a dyn Fn(LocalId) -> LocalId,
    /// The instance that takes the place of another.
    pub instance: &'a dyn Fn(Instance) -> Instance,
    /// What takes the place of a whole expression, if anything does; it is not renamed again.
    pub replaced: &'a dyn Fn(&Expression) -> Option<Expression>,
}

impl Renaming<'_> {
    /// An expression.
    pub fn expression(&self, expression: &Expression) -> Expression {
        if let Some(other) = (self.replaced)(expression) {
            return other;
        }
        let one = |e: &Expression| self.expression(e);
        let many = |list: &[Expression]| list.iter().map(one).collect::<Vec<_>>();
        let kind = match &*expression.kind {
            Kind::Constant(_)
            | Kind::Config(_)
            | Kind::Header(..)
            | Kind::HeaderPresent(..)
            | Kind::OptionsHold(_)
            | Kind::WholeLength
            | Kind::Below
            | Kind::Now
            | Kind::Signal(_) => return expression.clone(),
            Kind::Read(variable) => Kind::Read(self.variable(variable)),
            Kind::Key(instance, kind, key) => Kind::Key((self.instance)(*instance), *kind, *key),
            Kind::Peeked(local, header, field) => {
                Kind::Peeked((self.local)(*local), *header, *field)
            }
            Kind::PeekedPresent(local, header, field) => {
                Kind::PeekedPresent((self.local)(*local), *header, *field)
            }
            Kind::Attribute(message, attribute) => {
                Kind::Attribute((self.local)(*message), *attribute)
            }
            Kind::Length(message) => Kind::Length((self.local)(*message)),
            Kind::Unary(operator, a) => Kind::Unary(*operator, one(a)),
            Kind::Binary(operator, a, b) => Kind::Binary(*operator, one(a), one(b)),
            Kind::If(a, b, c) => Kind::If(one(a), one(b), one(c)),
            Kind::Some(a) => Kind::Some(one(a)),
            Kind::Unwrap(a) => Kind::Unwrap(one(a)),
            Kind::Present(a) => Kind::Present(one(a)),
            Kind::Else(a, b) => Kind::Else(one(a), one(b)),
            Kind::Cast(a) => Kind::Cast(one(a)),
            Kind::BytesLength(a) => Kind::BytesLength(one(a)),
            Kind::ByteAt(a, b) => Kind::ByteAt(one(a), one(b)),
            Kind::Bounded(a) => Kind::Bounded(one(a)),
            Kind::Call(function, arguments) => Kind::Call(*function, many(arguments)),
            Kind::Least(a, b) => Kind::Least(one(a), one(b)),
            Kind::Greatest(a, b) => Kind::Greatest(one(a), one(b)),
            Kind::Query(query) => Kind::Query(self.query(query)),
            Kind::Through(filter, arguments, message) => {
                Kind::Through(*filter, many(arguments), (self.local)(*message))
            }
        };
        Expression {
            kind: Box::new(kind),
            result: expression.result.clone(),
        }
    }

    /// A variable.
    pub fn variable(&self, variable: &Variable) -> Variable {
        match variable {
            Variable::Field(instance, kind, field) => {
                Variable::Field((self.instance)(*instance), *kind, *field)
            }
            Variable::Local(local) => Variable::Local((self.local)(*local)),
            Variable::Element(array, index) => Variable::Element(
                Box::new(self.variable(array)),
                Box::new(self.expression(index)),
            ),
            Variable::Part(record, of, field) => {
                Variable::Part(Box::new(self.variable(record)), *of, *field)
            }
        }
    }

    /// Something that may fail.
    pub fn attempt(&self, attempt: &Attempt) -> Attempt {
        let variable = |v: &Variable| self.variable(v);
        let expression = |e: &Expression| self.expression(e);
        let local = |l: &LocalId| (self.local)(*l);
        match attempt {
            Attempt::Instance(steps) => {
                Attempt::Instance(steps.iter().map(|step| self.search(step)).collect())
            }
            Attempt::Value(e) => Attempt::Value(expression(e)),
            Attempt::Pop(v) => Attempt::Pop(variable(v)),
            Attempt::PopValue(v) => Attempt::PopValue(variable(v)),
            Attempt::Push(v, source) => Attempt::Push(variable(v), self.source(source)),
            Attempt::PushValue(v, e) => Attempt::PushValue(variable(v), expression(e)),
            Attempt::InsertWindow(v, e, source) => {
                Attempt::InsertWindow(variable(v), expression(e), self.source(source))
            }
            Attempt::InsertValue(v, number, value) => {
                Attempt::InsertValue(variable(v), expression(number), expression(value))
            }
            Attempt::TakeValue(v, e) => Attempt::TakeValue(variable(v), expression(e)),
            Attempt::TakeWindow(v, e) => Attempt::TakeWindow(variable(v), expression(e)),
            Attempt::ShareWindow(v, e) => Attempt::ShareWindow(variable(v), expression(e)),
            Attempt::InsertStream(v, e, l) => {
                Attempt::InsertStream(variable(v), expression(e), local(l))
            }
            Attempt::AppendStream(v, l) => Attempt::AppendStream(variable(v), local(l)),
            Attempt::Peek(l, header) => Attempt::Peek(local(l), *header),
            Attempt::Restore(l, attribute) => Attempt::Restore(local(l), *attribute),
            Attempt::Pad(l, e) => Attempt::Pad(local(l), expression(e)),
            Attempt::Rewrite(l, filter, list) => {
                Attempt::Rewrite(local(l), *filter, list.iter().map(expression).collect())
            }
            Attempt::Message(source) => Attempt::Message(self.source(source)),
        }
    }

    /// An operation.
    pub fn operation(&self, operation: &Operation) -> Operation {
        let variable = |v: &Variable| self.variable(v);
        let expression = |e: &Expression| self.expression(e);
        let many = |list: &[Expression]| list.iter().map(expression).collect::<Vec<_>>();
        match operation {
            Operation::Skip(l, e) => Operation::Skip((self.local)(*l), expression(e)),
            Operation::Cut(l, e) => Operation::Cut((self.local)(*l), expression(e)),
            Operation::ReplaceWindow(v, e, source) => {
                Operation::ReplaceWindow(variable(v), expression(e), self.source(source))
            }
            Operation::ReplaceValue(v, number, value) => {
                Operation::ReplaceValue(variable(v), expression(number), expression(value))
            }
            Operation::Release(v, e) => Operation::Release(variable(v), expression(e)),
            Operation::Begin(v, e) => Operation::Begin(variable(v), expression(e)),
            Operation::Clear(v) => Operation::Clear(variable(v)),
            Operation::Add(v, e, term) => {
                let term = match term {
                    Term::Data(l) => Term::Data((self.local)(*l)),
                    Term::Bytes(other) => Term::Bytes(variable(other)),
                };
                Operation::Add(variable(v), expression(e), term)
            }
            Operation::Scale(v, e) => Operation::Scale(variable(v), expression(e)),
            Operation::Rewrite(l, filter, list) => {
                Operation::Rewrite((self.local)(*l), *filter, many(list))
            }
            Operation::Call(function, list) => Operation::Call(*function, many(list)),
        }
    }

    /// Where a message comes from.
    pub fn source(&self, source: &Source) -> Source {
        let expression = |e: &Expression| self.expression(e);
        match source {
            Source::Local(l) => Source::Local((self.local)(*l)),
            Source::New => Source::New,
            Source::NewFrom(v, e) => Source::NewFrom(self.variable(v), expression(e)),
            Source::Share(l) => Source::Share((self.local)(*l)),
            Source::Piece(l, at, length) => {
                Source::Piece((self.local)(*l), expression(at), expression(length))
            }
            Source::TakeStream(v, e) => Source::TakeStream(self.variable(v), expression(e)),
            Source::SliceStream(v, at, length) => {
                Source::SliceStream(self.variable(v), expression(at), expression(length))
            }
        }
    }

    /// A node; its children stay as they are.
    pub fn node(&self, node: &Node) -> Node {
        match node {
            Node::Test {
                condition,
                likely,
                then,
                otherwise,
            } => Node::Test {
                condition: self.expression(condition),
                likely: *likely,
                then: *then,
                otherwise: *otherwise,
            },
            Node::Case {
                value,
                cases,
                otherwise,
            } => Node::Case {
                value: self.expression(value),
                cases: cases.clone(),
                otherwise: *otherwise,
            },
            Node::Try {
                attempt,
                bind,
                likely,
                done,
                failed,
            } => Node::Try {
                attempt: self.attempt(attempt),
                bind: bind.map(|local| (self.local)(local)),
                likely: *likely,
                done: *done,
                failed: *failed,
            },
            Node::Act { action, next } => Node::Act {
                action: self.action(action),
                next: *next,
            },
            Node::Leaf { outputs } => Node::Leaf {
                outputs: self.outputs(outputs),
            },
        }
    }

    /// A step.
    pub fn action(&self, action: &Action) -> Action {
        let local = |l: &LocalId| (self.local)(*l);
        let expression = |e: &Expression| self.expression(e);
        let many = |list: &[Expression]| list.iter().map(expression).collect::<Vec<_>>();
        match action {
            Action::Let(l, e) => Action::Let(local(l), expression(e)),
            Action::Assign(v, e) => Action::Assign(self.variable(v), expression(e)),
            Action::SetAttribute(m, attribute, e) => {
                Action::SetAttribute(local(m), *attribute, expression(e))
            }
            Action::Strip(m, header) => Action::Strip(local(m), *header),
            Action::StripRest(m, e) => Action::StripRest(local(m), expression(e)),
            Action::Push {
                message,
                header,
                values,
                below,
            } => Action::Push {
                message: local(message),
                header: *header,
                values: values.iter().map(|(id, e)| (*id, expression(e))).collect(),
                below: below.as_ref().map(expression),
            },
            Action::Sum {
                bind,
                message,
                header,
                field,
                arguments,
            } => Action::Sum {
                bind: local(bind),
                message: local(message),
                header: *header,
                field: *field,
                arguments: many(arguments),
            },
            Action::Scan {
                bind,
                message,
                filter,
                arguments,
            } => Action::Scan {
                bind: local(bind),
                message: local(message),
                filter: *filter,
                arguments: many(arguments),
            },
            Action::Do(operation) => Action::Do(self.operation(operation)),
            Action::Drop(m, reason) => Action::Drop(local(m), *reason),
            Action::DropAll(v, reason) => Action::DropAll(self.variable(v), *reason),
            Action::Consume(m) => Action::Consume(local(m)),
            Action::Count(_) | Action::Pass(_) | Action::Begin | Action::Turn | Action::AtOnce => {
                action.clone()
            }
            Action::StartTimer(instance, kind, timer, e) => {
                Action::StartTimer((self.instance)(*instance), *kind, *timer, expression(e))
            }
            Action::StopTimer(instance, kind, timer) => {
                Action::StopTimer((self.instance)(*instance), *kind, *timer)
            }
            Action::End(instance, kind) => Action::End((self.instance)(*instance), *kind),
            Action::Free(instance, kind) => Action::Free((self.instance)(*instance), *kind),
            Action::Loop(turns) => Action::Loop(self.turns(turns)),
            Action::Wait(outputs) => Action::Wait(self.outputs(outputs)),
            Action::Put(outputs) => Action::Put(self.outputs(outputs)),
            Action::Answer(outputs) => Action::Answer(self.outputs(outputs)),
            Action::Mark(mark) => Action::Mark(local(mark)),
            Action::Precede(first, mark) => Action::Precede(local(first), local(mark)),
        }
    }

    fn outputs(&self, outputs: &[Output]) -> Vec<Output> {
        let many = |list: &[Expression]| list.iter().map(|e| self.expression(e)).collect();
        let renamed = outputs.iter().map(|output| match output {
            Output::One {
                goal,
                message,
                arguments,
            } => Output::One {
                goal: self.goal(*goal),
                message: message.map(|local| (self.local)(local)),
                arguments: many(arguments),
            },
            Output::Many(turns) => Output::Many(self.turns(turns)),
            Output::Every {
                kind,
                on,
                local,
                goal,
                arguments,
            } => Output::Every {
                kind: *kind,
                on: on.map(|on| (self.instance)(on)),
                local: (self.local)(*local),
                goal: self.goal(*goal),
                arguments: many(arguments),
            },
        });
        renamed.collect()
    }

    fn goal(&self, goal: Goal) -> Goal {
        match goal {
            Goal::Frame(_) => goal,
            Goal::Port(port, instance, event) => Goal::Port(port, (self.instance)(instance), event),
            Goal::Reaction(reaction, instance) => {
                Goal::Reaction(reaction, instance.map(|i| (self.instance)(i)))
            }
        }
    }

    fn turns(&self, turns: &Loop) -> Loop {
        let range = match &turns.range {
            Range::Numbers {
                from,
                to,
                at_most,
                clamped,
            } => Range::Numbers {
                from: self.expression(from),
                to: self.expression(to),
                at_most: *at_most,
                clamped: *clamped,
            },
            Range::Queue(queue, at_most) => Range::Queue(self.variable(queue), *at_most),
        };
        Loop {
            range,
            local: (self.local)(turns.local),
            body: turns.body,
        }
    }

    fn search(&self, step: &Search) -> Search {
        let many = |list: &[Expression]| list.iter().map(|e| self.expression(e)).collect();
        match step {
            Search::Find(target) => Search::Find(Target {
                kind: target.kind,
                keys: many(&target.keys),
                condition: target.condition.as_ref().map(|e| self.expression(e)),
            }),
            Search::Soonest(kind, timer, keys) => Search::Soonest(*kind, *timer, many(keys)),
            Search::Standing(kind, on) => Search::Standing(*kind, (self.instance)(*on)),
            Search::Create(kind, keys, listener) => {
                let listener = listener.map(|one| (self.instance)(one));
                Search::Create(*kind, many(keys), listener)
            }
        }
    }

    fn query(&self, query: &Query) -> Query {
        let variable = |v: &Variable| self.variable(v);
        let expression = |e: &Expression| self.expression(e);
        match query {
            Query::IsEmpty(v) => Query::IsEmpty(variable(v)),
            Query::Has(v, e) => Query::Has(variable(v), expression(e)),
            Query::First(v) => Query::First(variable(v)),
            Query::Covers(v, at, length) => {
                Query::Covers(variable(v), expression(at), expression(length))
            }
            Query::Ready(v, e) => Query::Ready(variable(v), expression(e)),
            Query::Begin(v) => Query::Begin(variable(v)),
            Query::End(v) => Query::End(variable(v)),
            Query::Running(instance, kind, timer) => {
                Query::Running((self.instance)(*instance), *kind, *timer)
            }
            Query::Exists(kind, keys) => {
                Query::Exists(*kind, keys.iter().map(expression).collect())
            }
            Query::GoesOn => Query::GoesOn,
            Query::Ended(instance, kind) => Query::Ended((self.instance)(*instance), *kind),
            Query::InsertSet(v, e) => Query::InsertSet(variable(v), expression(e)),
            Query::Release(v, e) => Query::Release(variable(v), expression(e)),
        }
    }
}
