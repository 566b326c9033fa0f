//! Bytes that a filter moves: a dependency analysis of what it yields, bit by bit.
//!
//! In: a filter that rewrites. Out: the first `yield` of which a byte may depend on a byte of the
//! data that stands at another place of its word, or on an earlier word but not on its own. Such a
//! filter destroys a last word of which bytes are missing, since no more bytes of what it yields
//! for that are kept than were there.
//!
//! ```text
//! yield word ^ key                 each byte depends on its own
//! yield word << 8 | word >> 24     each byte depends on its neighbour
//! yield word + 1                   each byte depends on all lower ones, by the carry
//! ```
//!
//! Each bit of a value is mapped to the bytes that it may depend on. What is not computed bit by
//! bit, and what a test decides, depends on all that is read for it.

use super::constant::{fold_number, width};
use super::expression::{Binary, Expression, ExpressionKind as Kind, Unary, Variable};
use super::program::{Filter, LocalId, Program};
use super::statement::{Attempt, Block, Statement, StatementKind};
use super::value::Type;
use crate::source::Span;
use std::collections::BTreeMap;

/// Bytes that a bit may depend on: one bit for each place in the word at hand.
type Bytes = u16;

/// The bit of [`Bytes`] that stands for all words before the one at hand.
const EARLIER: Bytes = 1 << 8;

/// What each bit of a value may depend on, the lowest bit first.
type Bits = [Bytes; 64];

/// Returns the first `yield` of a filter by which bytes move, unless no word can be incomplete.
pub fn moved(program: &Program, filter: &Filter) -> Option<Span> {
    if !filter.rewrites || filter.unit == 1 || filter.whole {
        return None;
    }
    let mut state: Locals = BTreeMap::new();
    loop {
        let begin = state.clone();
        let mut turn = Turn::new(program, filter, begin.clone());
        turn.block(&filter.each);
        for (local, _) in &filter.state {
            let after = turn.local(*local).map(earlier);
            let own = state.entry(*local).or_insert([0; 64]);
            *own = both(own, &after);
        }
        if state != begin {
            continue;
        }
        let Some(tail) = &filter.tail else {
            return turn.moved;
        };
        let mut last = Turn::new(program, filter, state);
        last.block(tail);
        return last.moved;
    }
}

type Locals = BTreeMap<LocalId, Bits>;

/// What was read in one turn comes from an earlier word in the next.
fn earlier(bytes: Bytes) -> Bytes {
    if bytes == 0 { 0 } else { EARLIER }
}

fn both(one: &Bits, other: &Bits) -> Bits {
    std::array::from_fn(|at| one[at] | other[at])
}

fn all(bits: &Bits) -> Bytes {
    bits.iter().fold(0, |all, one| all | one)
}

/// What a sum or a product depends on: a bit, and all lower ones.
fn carried(bits: &Bits) -> Bits {
    std::array::from_fn(|at| all_below(bits, at + 1))
}

fn all_below(bits: &Bits, end: usize) -> Bytes {
    bits[..end].iter().fold(0, |all, one| all | one)
}

/// What is done for one word.
struct Turn<'p> {
    program: &'p Program,
    /// Bytes a word.
    unit: usize,
    locals: Locals,
    /// What decides whether the statements at hand are reached.
    decides: Bytes,
    moved: Option<Span>,
}

impl<'p> Turn<'p> {
    fn new(program: &'p Program, filter: &Filter, mut locals: Locals) -> Turn<'p> {
        locals.insert(filter.word, std::array::from_fn(|bit| 1 << (bit / 8)));
        Turn {
            program,
            unit: filter.unit as usize,
            locals,
            decides: 0,
            moved: None,
        }
    }

    fn local(&self, local: LocalId) -> Bits {
        self.locals.get(&local).copied().unwrap_or([0; 64])
    }

    fn block(&mut self, block: &Block) {
        let decides = self.decides;
        let mut left = Vec::new();
        for statement in block {
            self.statement(statement, &mut left);
        }
        for locals in left {
            self.merge(&locals);
        }
        self.decides = decides;
    }

    /// Does a statement; where the rest of its block may be left out, notes what holds behind it.
    fn statement(&mut self, statement: &Statement, left: &mut Vec<Locals>) {
        match &statement.kind {
            StatementKind::Let(local, value) => {
                let value = self.decided(value);
                self.locals.insert(*local, value);
            }
            StatementKind::Assign(variable, value) => self.assign(variable, value),
            StatementKind::Yield(value) => {
                let value = self.value(value);
                if self.moves(&value) {
                    self.moved = self.moved.or(Some(statement.span));
                }
            }
            StatementKind::Require {
                condition,
                otherwise,
                ..
            } => self.instead(condition, otherwise, left),
            StatementKind::Attempt {
                attempt: Attempt::Value(value),
                bind,
                otherwise,
                ..
            } => {
                self.instead(value, otherwise, left);
                if let Some(local) = bind {
                    let value = self.decided(value);
                    self.locals.insert(*local, value);
                }
            }
            StatementKind::Attempt { .. } => unreachable!("filters try nothing but optionals"),
            StatementKind::If {
                condition,
                then,
                otherwise,
                ..
            } => self.branches(condition, [then, otherwise].into_iter()),
            StatementKind::Match {
                value,
                cases,
                otherwise,
            } => {
                let cases = cases.iter().map(|(_, _, block)| block);
                self.branches(value, cases.chain([otherwise]));
            }
            StatementKind::For {
                local,
                from,
                to,
                body,
                ..
            } => self.turns(*local, (from, to), body),
            StatementKind::Drain { .. }
            | StatementKind::Do(_)
            | StatementKind::Output(_)
            | StatementKind::Drop(..)
            | StatementKind::Consume(_)
            | StatementKind::Count(_)
            | StatementKind::StartTimer(..)
            | StatementKind::StopTimer(..)
            | StatementKind::End(..)
            | StatementKind::Return(_)
            | StatementKind::React(_)
            | StatementKind::Ordered(_) => {}
        }
    }

    /// A part of a local is written: which one, and what the others were, is not asked.
    fn assign(&mut self, variable: &Variable, value: &Expression) {
        if let Some(local) = base(variable) {
            let value = all(&self.decided(value));
            let own = self.local(local);
            self.locals.insert(local, own.map(|one| one | value));
        }
    }

    /// Whether a byte of this may depend on a byte at another place.
    fn moves(&self, value: &Bits) -> bool {
        (0..8 * self.unit).any(|bit| {
            let own = 1 << (bit / 8);
            let others = (value[bit] | self.decides) & !own & !EARLIER;
            others != 0 || value[bit] & (EARLIER | own) == EARLIER
        })
    }

    fn instead(&mut self, condition: &Expression, otherwise: &Block, left: &mut Vec<Locals>) {
        self.decides |= all(&self.value(condition));
        let before = self.locals.clone();
        self.block(otherwise);
        left.push(std::mem::replace(&mut self.locals, before));
    }

    fn branches<'b>(&mut self, value: &Expression, blocks: impl Iterator<Item = &'b Block>) {
        let decides = self.decides;
        self.decides |= all(&self.value(value));
        let before = self.locals.clone();
        let mut after = Vec::new();
        for block in blocks {
            self.locals = before.clone();
            self.block(block);
            after.push(std::mem::take(&mut self.locals));
        }
        after.iter().for_each(|locals| self.merge(locals));
        self.decides = decides;
    }

    fn turns(&mut self, local: LocalId, range: (&Expression, &Expression), body: &Block) {
        let decides = self.decides;
        let bounds = all(&self.value(range.0)) | all(&self.value(range.1));
        self.decides |= bounds;
        self.locals.insert(local, [bounds; 64]);
        loop {
            let before = self.locals.clone();
            self.block(body);
            self.merge(&before);
            if self.locals == before {
                break;
            }
        }
        self.decides = decides;
    }

    /// What locals depend on if they may also be these.
    fn merge(&mut self, others: &Locals) {
        for (local, other) in others {
            let own = self.local(*local);
            self.locals.insert(*local, both(&own, other));
        }
    }

    /// A value that is written here, or not, as something decides.
    fn decided(&self, value: &Expression) -> Bits {
        self.value(value).map(|one| one | self.decides)
    }

    fn value(&self, expression: &Expression) -> Bits {
        let bits = match &*expression.kind {
            Kind::Constant(_) => [0; 64],
            Kind::Read(Variable::Local(local)) => self.local(*local),
            Kind::Read(variable) => {
                let own = base(variable).map(|local| all(&self.local(local)));
                [own.unwrap_or_default() | self.parts(expression); 64]
            }
            Kind::Binary(operator, left, right) => self.binary(*operator, left, right),
            Kind::Unary(Unary::Complement, inner) => self.value(inner),
            Kind::Unary(Unary::Negate, inner) => carried(&self.value(inner)),
            Kind::Unary(Unary::Inverse, inner) => [all(&self.value(inner)); 64],
            Kind::If(condition, then, otherwise) => {
                let decides = all(&self.value(condition));
                both(&self.value(then), &self.value(otherwise)).map(|one| one | decides)
            }
            Kind::Cast(inner) => self.widened(inner),
            _computed_as_a_whole => [self.parts(expression); 64],
        };
        let width = width(self.program, &expression.result).map_or(64, usize::from);
        std::array::from_fn(|at| if at < width { bits[at] } else { 0 })
    }

    /// All that the parts of an expression depend on.
    fn parts(&self, expression: &Expression) -> Bytes {
        let parts = expression.parts().into_iter();
        parts.fold(0, |known, part| known | all(&self.value(part)))
    }

    /// A number as one of more bits: those above repeat its sign.
    fn widened(&self, inner: &Expression) -> Bits {
        let bits = self.value(inner);
        match inner.result {
            Type::Signed(width) => {
                let sign = usize::from(width) - 1;
                std::array::from_fn(|at| bits[at.min(sign)])
            }
            _ => bits,
        }
    }

    fn binary(&self, operator: Binary, left: &Expression, right: &Expression) -> Bits {
        let (one, other) = (self.value(left), self.value(right));
        let known = || {
            let of = |side, value| Some((side, fold_number(self.program, value)?));
            of(&other, left).or(of(&one, right))
        };
        // A bit that is zero decides `&`, one that is set decides `|`.
        let masked = |decided: u64| match known() {
            Some((bits, number)) => std::array::from_fn(|at| {
                let is_decided = (number ^ decided) >> at & 1 == 1;
                if is_decided { 0 } else { bits[at] }
            }),
            None => both(&one, &other),
        };
        match operator {
            Binary::BitAnd => masked(u64::MAX),
            Binary::BitOr => masked(0),
            Binary::BitXor => both(&one, &other),
            Binary::Add | Binary::Subtract | Binary::Multiply => carried(&both(&one, &other)),
            Binary::ShiftLeft | Binary::ShiftRight => {
                let Some(by) = fold_number(self.program, right).map(|by| by as usize) else {
                    return [all(&one) | all(&other); 64];
                };
                let signed = matches!(left.result, Type::Signed(_));
                std::array::from_fn(|at| match operator {
                    Binary::ShiftLeft => at.checked_sub(by).map_or(0, |from| one[from]),
                    _ if signed => [all(&one); 64][at],
                    _ => one.get(at.saturating_add(by)).copied().unwrap_or(0),
                })
            }
            Binary::Or
            | Binary::And
            | Binary::Equal
            | Binary::Unequal
            | Binary::Less
            | Binary::AtMost
            | Binary::Greater
            | Binary::AtLeast
            | Binary::Divide
            | Binary::Remainder => [all(&one) | all(&other); 64],
        }
    }
}

/// The local that a variable is a part of.
fn base(variable: &Variable) -> Option<LocalId> {
    match variable {
        Variable::Local(local) => Some(*local),
        Variable::Element(inner, _) | Variable::Part(inner, ..) => base(inner),
        Variable::Field(..) => None,
    }
}
