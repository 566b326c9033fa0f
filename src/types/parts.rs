//! What expressions and statements are directly made of, for whoever walks through them.

use super::expression::{Expression, ExpressionKind, Query, Variable};
use super::statement::{
    Attempt, Block, Operation, Output, React, Search, Source, Statement, StatementKind,
};

impl Expression {
    /// Its operands, in the order of writing.
    pub fn parts(&self) -> Vec<&Expression> {
        match &*self.kind {
            ExpressionKind::Constant(_)
            | ExpressionKind::Config(_)
            | ExpressionKind::Key(..)
            | ExpressionKind::Header(..)
            | ExpressionKind::Peeked(..)
            | ExpressionKind::HeaderPresent(..)
            | ExpressionKind::PeekedPresent(..)
            | ExpressionKind::OptionsHold(_)
            | ExpressionKind::Attribute(..)
            | ExpressionKind::Length(_)
            | ExpressionKind::WholeLength
            | ExpressionKind::Below
            | ExpressionKind::Now
            | ExpressionKind::Signal(_) => Vec::new(),
            ExpressionKind::Read(variable) => variable.indices(),
            ExpressionKind::Unary(_, a)
            | ExpressionKind::Some(a)
            | ExpressionKind::Unwrap(a)
            | ExpressionKind::Present(a)
            | ExpressionKind::Cast(a)
            | ExpressionKind::BytesLength(a)
            | ExpressionKind::Bounded(a) => vec![a],
            ExpressionKind::Binary(_, a, b)
            | ExpressionKind::Else(a, b)
            | ExpressionKind::ByteAt(a, b)
            | ExpressionKind::Least(a, b)
            | ExpressionKind::Greatest(a, b) => vec![a, b],
            ExpressionKind::If(a, b, c) => vec![a, b, c],
            ExpressionKind::Call(_, list) | ExpressionKind::Through(_, list, _) => {
                list.iter().collect()
            }
            ExpressionKind::Query(query) => query.parts(),
        }
    }
}

impl Query {
    fn parts(&self) -> Vec<&Expression> {
        match self {
            Query::Has(of, a)
            | Query::Ready(of, a)
            | Query::InsertSet(of, a)
            | Query::Release(of, a) => [of.indices(), vec![a]].concat(),
            Query::Covers(of, a, b) => [of.indices(), vec![a, b]].concat(),
            Query::IsEmpty(of) | Query::First(of) | Query::Begin(of) | Query::End(of) => {
                of.indices()
            }
            Query::Running(..) | Query::Ended(..) | Query::GoesOn => Vec::new(),
            Query::Exists(_, keys) => keys.iter().collect(),
        }
    }
}

impl Variable {
    /// The indices that say which element it is.
    pub fn indices(&self) -> Vec<&Expression> {
        match self {
            Variable::Field(..) | Variable::Local(_) => Vec::new(),
            Variable::Element(of, index) => [of.indices(), vec![&**index]].concat(),
            Variable::Part(of, ..) => of.indices(),
        }
    }
}

impl Statement {
    /// The values that stand in the statement itself, but for those of an output.
    pub fn values(&self) -> Vec<&Expression> {
        match &self.kind {
            StatementKind::Let(_, value)
            | StatementKind::Require {
                condition: value, ..
            }
            | StatementKind::If {
                condition: value, ..
            }
            | StatementKind::Match { value, .. }
            | StatementKind::StartTimer(_, _, _, value)
            | StatementKind::Return(value)
            | StatementKind::Yield(value) => vec![value],
            StatementKind::Assign(variable, value) => [variable.indices(), vec![value]].concat(),
            StatementKind::For { from, to, .. } => vec![from, to],
            StatementKind::Attempt { attempt, .. } => attempt.values(),
            StatementKind::Do(operation) => operation.values(),
            StatementKind::Drain { .. }
            | StatementKind::Output(_)
            | StatementKind::Drop(..)
            | StatementKind::Consume(_)
            | StatementKind::Count(_)
            | StatementKind::StopTimer(..)
            | StatementKind::End(..)
            | StatementKind::Ordered(_) => Vec::new(),
            StatementKind::React(react) => react.values(),
        }
    }

    /// The blocks within the statement.
    pub fn blocks(&self) -> Vec<&Block> {
        match &self.kind {
            StatementKind::Attempt { otherwise, .. } | StatementKind::Require { otherwise, .. } => {
                vec![otherwise]
            }
            StatementKind::If {
                then, otherwise, ..
            } => vec![then, otherwise],
            StatementKind::Match {
                cases, otherwise, ..
            } => {
                let cases = cases.iter().map(|(_, _, block)| block);
                cases.chain([otherwise]).collect()
            }
            StatementKind::For { body, .. } | StatementKind::Drain { body, .. } => vec![body],
            StatementKind::Let(..)
            | StatementKind::Assign(..)
            | StatementKind::Do(_)
            | StatementKind::Output(_)
            | StatementKind::Drop(..)
            | StatementKind::Consume(_)
            | StatementKind::Count(_)
            | StatementKind::StartTimer(..)
            | StatementKind::StopTimer(..)
            | StatementKind::End(..)
            | StatementKind::Return(_)
            | StatementKind::Yield(_)
            | StatementKind::Ordered(_) => Vec::new(),
            StatementKind::React(react) => react.blocks(),
        }
    }
}

impl Statement {
    /// The blocks within the statement, to be changed.
    pub fn blocks_mut(&mut self) -> Vec<&mut Block> {
        match &mut self.kind {
            StatementKind::Attempt { otherwise, .. } | StatementKind::Require { otherwise, .. } => {
                vec![otherwise]
            }
            StatementKind::If {
                then, otherwise, ..
            } => vec![then, otherwise],
            StatementKind::Match {
                cases, otherwise, ..
            } => {
                let cases = cases.iter_mut().map(|(_, _, block)| block);
                cases.chain([otherwise]).collect()
            }
            StatementKind::For { body, .. } | StatementKind::Drain { body, .. } => vec![body],
            StatementKind::Let(..)
            | StatementKind::Assign(..)
            | StatementKind::Do(_)
            | StatementKind::Output(_)
            | StatementKind::Drop(..)
            | StatementKind::Consume(_)
            | StatementKind::Count(_)
            | StatementKind::StartTimer(..)
            | StatementKind::StopTimer(..)
            | StatementKind::End(..)
            | StatementKind::Return(_)
            | StatementKind::Yield(_)
            | StatementKind::Ordered(_) => Vec::new(),
            StatementKind::React(react) => react.blocks_mut(),
        }
    }
}

impl React {
    fn values(&self) -> Vec<&Expression> {
        match self {
            React::Emit(_, value) => value.iter().collect(),
            React::Abort { cases, .. } => {
                let guards = cases.iter().filter_map(|case| case.guard.as_ref());
                let times = cases.iter().filter_map(|case| case.times.as_ref());
                guards.chain(times.map(|(times, _)| times)).collect()
            }
            React::Pause
            | React::Loop(_)
            | React::Parallel(_)
            | React::Trap { .. }
            | React::Suspend { .. }
            | React::Exit(_)
            | React::Take(_) => Vec::new(),
        }
    }

    fn blocks(&self) -> Vec<&Block> {
        match self {
            React::Loop(body) | React::Trap { body, .. } | React::Suspend { body, .. } => {
                vec![body]
            }
            React::Parallel(branches) => branches.iter().collect(),
            React::Abort { cases, body, .. } => {
                let then = cases.iter().map(|case| &case.then);
                body.iter().chain(then).collect()
            }
            React::Emit(..) | React::Pause | React::Exit(_) | React::Take(_) => Vec::new(),
        }
    }

    fn blocks_mut(&mut self) -> Vec<&mut Block> {
        match self {
            React::Loop(body) | React::Trap { body, .. } | React::Suspend { body, .. } => {
                vec![body]
            }
            React::Parallel(branches) => branches.iter_mut().collect(),
            React::Abort { cases, body, .. } => {
                let then = cases.iter_mut().map(|case| &mut case.then);
                body.iter_mut().chain(then).collect()
            }
            React::Emit(..) | React::Pause | React::Exit(_) | React::Take(_) => Vec::new(),
        }
    }
}

impl Attempt {
    /// The expressions that it evaluates.
    pub fn values(&self) -> Vec<&Expression> {
        match self {
            Attempt::Instance(steps) => {
                let keys = steps.iter().flat_map(|step| match step {
                    Search::Find(target) => target.keys.iter().chain(&target.condition),
                    Search::Create(_, keys, _) | Search::Soonest(_, _, keys) => {
                        keys.iter().chain(&None)
                    }
                    Search::Standing(..) => [].iter().chain(&None),
                });
                keys.collect()
            }
            Attempt::Value(value)
            | Attempt::PushValue(_, value)
            | Attempt::TakeWindow(_, value)
            | Attempt::TakeValue(_, value)
            | Attempt::ShareWindow(_, value)
            | Attempt::InsertStream(_, value, _)
            | Attempt::Pad(_, value) => vec![value],
            Attempt::InsertValue(_, number, value) => vec![number, value],
            Attempt::InsertWindow(_, value, source) => [vec![value], source.values()].concat(),
            Attempt::Push(_, source) | Attempt::Message(source) => source.values(),
            Attempt::Rewrite(_, _, list) => list.iter().collect(),
            Attempt::Pop(_)
            | Attempt::PopValue(_)
            | Attempt::AppendStream(..)
            | Attempt::Peek(..)
            | Attempt::Restore(..) => Vec::new(),
        }
    }
}

impl Operation {
    fn values(&self) -> Vec<&Expression> {
        match self {
            Operation::Skip(_, value)
            | Operation::Cut(_, value)
            | Operation::Release(_, value)
            | Operation::Begin(_, value)
            | Operation::Add(_, value, _)
            | Operation::Scale(_, value) => vec![value],
            Operation::ReplaceValue(_, number, value) => vec![number, value],
            Operation::ReplaceWindow(_, value, source) => [vec![value], source.values()].concat(),
            Operation::Rewrite(_, _, list) | Operation::Call(_, list) => list.iter().collect(),
            Operation::Clear(_) => Vec::new(),
        }
    }
}

impl Source {
    fn values(&self) -> Vec<&Expression> {
        match self {
            Source::NewFrom(_, value) | Source::TakeStream(_, value) => vec![value],
            Source::Piece(_, at, length) | Source::SliceStream(_, at, length) => vec![at, length],
            Source::Local(_) | Source::New | Source::Share(_) => Vec::new(),
        }
    }
}

impl Output {
    /// The message that goes with it.
    pub fn message(&self) -> Option<&Source> {
        match self {
            Output::Send { message, .. } | Output::Deliver { message, .. } => Some(message),
            Output::Tell { message, .. } => message.as_ref(),
            Output::Again => None,
        }
    }

    /// The values that stand in it, in the order of writing.
    pub fn values(&self) -> Vec<&Expression> {
        let mut values = self.message().map(Source::values).unwrap_or_default();
        match self {
            Output::Send {
                header, attributes, ..
            } => {
                values.extend(header.iter().map(|(_, value)| value));
                values.extend(attributes.iter().map(|(_, value)| value));
            }
            Output::Deliver { attributes, .. } => {
                values.extend(attributes.iter().map(|(_, value)| value));
            }
            Output::Tell {
                arguments,
                attributes,
                ..
            } => {
                values.extend(arguments);
                values.extend(attributes.iter().map(|(_, value)| value));
            }
            Output::Again => {}
        }
        values
    }
}
