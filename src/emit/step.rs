//! What a filter does with each word, where that is so simple that words need not be taken one by
//! one: its checked body comes in, the step goes out.

use super::scope::Scope;
use crate::c::tree::{Expression as C, Statement as S, atom, call};
use crate::types::expression::{Binary, Expression, ExpressionKind as Kind, Variable};
use crate::types::program::{Filter, LocalId};
use crate::types::statement::{Statement, StatementKind};
use crate::types::value::Type;

/// What a filter does with each word, where that is no more than this.
pub enum Step {
    /// `state operator= word`
    Plain(LocalId, &'static str),
    /// `state += word`, then `state += (state < word) as u64`: the carry comes round.
    Round(LocalId),
}

impl Step {
    /// What is done with a word.
    pub fn of(&self, scope: &Scope, word: C) -> S {
        match self {
            Step::Plain(state, sign) => S::Assign(atom(scope.known(*state)), sign, word),
            Step::Round(state) => {
                let state = atom(scope.known(*state));
                let sum = call("sl_add_round", vec![state.clone(), word]);
                S::Assign(state, "=", sum)
            }
        }
    }
}

/// Returns the [`Step`] that a filter performs on each word. Returns `None` if the body is none, or
/// reads `place`: words that are added in lanes have no order.
pub fn step(filter: &Filter) -> Option<Step> {
    if filter.measures.place.is_some() {
        return None;
    }
    match &filter.each[..] {
        [added] => {
            let (state, sign) = added_word(filter, added)?;
            Some(Step::Plain(state, sign))
        }
        [added, carried] => {
            let (state, _) = added_word(filter, added).filter(|(_, sign)| *sign == "+=")?;
            let whole = filter.unit == 8 && !filter.big;
            (whole && is_carry(filter, state, carried)).then_some(Step::Round(state))
        }
        _ => None,
    }
}

/// Whether a value is that of a local: what is narrowed is another.
fn reads(expression: &Expression, local: LocalId) -> bool {
    let inner = match &*expression.kind {
        Kind::Cast(inner) if is_narrower(&expression.result, &inner.result) => return false,
        Kind::Cast(inner) => inner,
        _ => expression,
    };
    matches!(&*inner.kind, Kind::Read(Variable::Local(read)) if *read == local)
}

fn is_narrower(one: &Type, other: &Type) -> bool {
    match (one, other) {
        (Type::Unsigned(one), Type::Unsigned(other)) => one < other,
        _ => true,
    }
}

/// `state operator= word`
fn added_word(filter: &Filter, statement: &Statement) -> Option<(LocalId, &'static str)> {
    let StatementKind::Let(state, value) = &statement.kind else {
        return None;
    };
    let Kind::Binary(operator, a, b) = &*value.kind else {
        return None;
    };
    let wide = matches!(value.result, Type::Unsigned(32 | 64));
    let sign = match operator {
        Binary::Add => "+=",
        Binary::BitXor => "^=",
        _ => return None,
    };
    (wide && reads(a, *state) && reads(b, filter.word)).then_some((*state, sign))
}

/// `state += (state < word) as u64`
fn is_carry(filter: &Filter, state: LocalId, statement: &Statement) -> bool {
    let StatementKind::Let(to, value) = &statement.kind else {
        return false;
    };
    let Kind::Binary(Binary::Add, a, b) = &*value.kind else {
        return false;
    };
    let Kind::Cast(carried) = &*b.kind else {
        return false;
    };
    let Kind::Binary(Binary::Less, sum, word) = &*carried.kind else {
        return false;
    };
    let wide = value.result == Type::Unsigned(64);
    let sums = reads(a, state) && reads(sum, state) && reads(word, filter.word);
    wide && *to == state && sums
}
