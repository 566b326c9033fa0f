//! What a path has put off: fields that are still to be written, counters and timers.
//!
//! In: what is put off, and a part of a tree that comes before it is done. Out: the same part,
//! which asks for what will be written instead of the fields; or none, if that cannot be said.

use super::bypass::named;
use super::made::Made;
use super::value::{Looks, inlined, operands};
use crate::tree::rename::Renaming;
use crate::tree::{Action, Goal, Output};
use crate::types::expression::{Expression, ExpressionKind, Variable};
use crate::types::program::{LocalId, Program};
use std::cell::Cell;

/// Functions of at most so many operands are written where they are called.
const SHORT: usize = 16;

/// What a path still has to do.
#[derive(Clone)]
pub struct Owed {
    /// What fields are to hold: constants, or what a local holds.
    pub fields: Vec<(Variable, Expression)>,
    /// Counters, timers, answers, and messages that are gone, in order.
    pub others: Vec<Action>,
    /// A message that is made before all that, when all tests have been passed.
    pub made: Option<Made>,
    /// What holds the message that came.
    pub message: LocalId,
    /// Whether there is no way back any more.
    pub is_bound: bool,
    /// Whether what was owed has been done: what comes next is done where it stands.
    pub is_done: bool,
}

impl Owed {
    /// Nothing, where a message has come.
    pub fn of(message: LocalId) -> Owed {
        Owed {
            fields: Vec::new(),
            others: Vec::new(),
            made: None,
            message,
            is_bound: false,
            is_done: false,
        }
    }

    /// All that is owed, in order; then nothing is.
    pub fn take(&mut self) -> Vec<Action> {
        let fields = std::mem::take(&mut self.fields).into_iter();
        let fields = fields.map(|(place, value)| Action::Assign(place, value));
        fields.chain(std::mem::take(&mut self.others)).collect()
    }

    /// Where an application lets an answer to the host go before it, that is told first: then it is
    /// the next.
    pub fn call_last(&mut self, program: &Program, outputs: Vec<Output>) -> Vec<Output> {
        let calls = |output: &Output| match output {
            Output::One { goal, .. } => match goal {
                Goal::Frame(_) => Some(false),
                Goal::Port(port, ..) => Some(program.ports[port.at()].calls.is_some()),
                Goal::Reaction(..) | Goal::Otherwise => None,
            },
            Output::Many(_) | Output::Every { .. } => None,
        };
        let lets_go = |action: &Action| match action {
            Action::Answer(outputs) => outputs.iter().any(|one| calls(one) == Some(true)),
            _lets_none_go => false,
        };
        let is_answer = matches!(&outputs[..], [only] if calls(only) == Some(false));
        match self.others.iter().position(lets_go) {
            Some(at) if is_answer => match &mut self.others[at] {
                Action::Answer(called) => std::mem::replace(called, outputs),
                _is_told => outputs,
            },
            Some(_) | None => outputs,
        }
    }

    /// Whether something that is owed is looked at.
    fn is_asked(&self, looks: &Looks) -> bool {
        let field = self.fields.iter().any(|(place, _)| match place {
            Variable::Field(_, kind, field) => looks.at(*kind, *field),
            Variable::Local(_) | Variable::Element(..) | Variable::Part(..) => false,
        });
        let timer = self.others.iter().any(|action| match action {
            Action::StartTimer(_, kind, timer, _) | Action::StopTimer(_, kind, timer) => {
                looks.timers.contains(&(*kind, *timer))
            }
            _counts => false,
        });
        field || timer || looks.goes_on && self.answers()
    }

    /// Whether the host is told something among what is owed.
    fn answers(&self) -> bool {
        let mut others = self.others.iter();
        others.any(|action| matches!(action, Action::Answer(_)))
    }

    /// Whether an expression asks for the message that is still to be made: itself, or as what a
    /// function is given.
    fn asks_made(&self, expression: &Expression) -> bool {
        let Some(made) = &self.made else {
            return false;
        };
        let is_given = |given: &&Expression| {
            let is_it = |local: LocalId| local == made.local;
            named(|all| drop(all.expression(given)))
                .into_iter()
                .any(is_it)
        };
        made.is_asked(expression)
            || matches!(*expression.kind, ExpressionKind::Call(..))
                && expression.parts().iter().any(is_given)
    }

    /// What an expression will give that asks for the message that is still to be made.
    fn of_made(&self, program: &Program, expression: &Expression) -> Replaced {
        let value = match &*expression.kind {
            ExpressionKind::Call(function, arguments) => inlined(program, *function, arguments)
                .and_then(|value| self.before(program, |all| all.expression(&value))),
            _itself => {
                let made = self.made.as_ref();
                made.and_then(|made| made.value(program, expression))
            }
        };
        value.map_or(Replaced::Never, Replaced::By)
    }

    /// What a field will hold, if that is known: two locals may mean one instance.
    fn value_of(&self, place: &Variable) -> Option<Expression> {
        let Variable::Field(_, kind, field) = place else {
            return None;
        };
        let of = |other: &Variable| match other {
            Variable::Field(_, k, f) => (k, f) == (kind, field),
            Variable::Local(_) | Variable::Element(..) | Variable::Part(..) => false,
        };
        let mut same = self.fields.iter().filter(|(other, _)| of(other));
        let (one, value) = same.next()?;
        (same.next().is_none() && one == place).then(|| value.clone())
    }

    /// What `rename` makes where the fields of expressions stand for what they will hold; none if
    /// something else is looked at that is owed.
    pub fn before<T>(&self, program: &Program, rename: impl Fn(&Renaming<'_>) -> T) -> Option<T> {
        let fails = Cell::new(false);
        let replaced = |expression: &Expression| {
            if fails.get() {
                return None;
            }
            let replaced = if self.asks_made(expression) {
                self.of_made(program, expression)
            } else if self.is_asked(&Looks::of(program, expression)) {
                self.replaced(program, expression)
            } else {
                return short(program, expression);
            };
            match replaced {
                Replaced::By(other) => Some(other),
                Replaced::ByOperands => None,
                Replaced::Never => {
                    fails.set(true);
                    None
                }
            }
        };
        let made = rename(&Renaming {
            local: &|local| local,
            instance: &|instance| instance,
            replaced: &replaced,
        });
        (!fails.get()).then_some(made)
    }

    /// What stands for an expression that looks at something that is owed.
    fn replaced(&self, program: &Program, expression: &Expression) -> Replaced {
        let by = |value: Option<Expression>| value.map_or(Replaced::Never, Replaced::By);
        match &*expression.kind {
            ExpressionKind::Read(place) => by(self.value_of(place)),
            ExpressionKind::Query(query) if self.is_asked(&Looks::of_query(query)) => {
                Replaced::Never
            }
            ExpressionKind::Call(function, arguments) => {
                let alone = ExpressionKind::Call(*function, Vec::new());
                let alone = Expression::new(alone, expression.result.clone());
                if !self.is_asked(&Looks::of(program, &alone)) {
                    return Replaced::ByOperands;
                }
                let value = inlined(program, *function, arguments);
                by(value.and_then(|value| self.before(program, |all| all.expression(&value))))
            }
            _of_operands => Replaced::ByOperands,
        }
    }
}

/// What a short function gives stands where it is called: then what is known of it is seen.
fn short(program: &Program, expression: &Expression) -> Option<Expression> {
    let ExpressionKind::Call(function, arguments) = &*expression.kind else {
        return None;
    };
    inlined(program, *function, arguments).filter(|value| operands(value) <= SHORT)
}

/// What becomes of an expression.
enum Replaced {
    /// It is another.
    By(Expression),
    /// Its operands are others.
    ByOperands,
    /// Nothing says what it will be.
    Never,
}
