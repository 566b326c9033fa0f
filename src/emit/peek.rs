//! Headers that are peeked at: whether a message begins with one that is in order, as a condition.

use super::options;
use super::scope::Scope;
use super::tree::Body;
use super::wire::{counted, covered, length_of, less, literal, optional, part};
use crate::c::tree::{Expression as C, Statement as S, atom, binary};
use crate::types::expression::{Expression, ExpressionKind as Kind};
use crate::types::header::{Header, HeaderField, Ranges, Rule};
use crate::types::program::{HeaderFieldId, HeaderId, LocalId};
use crate::types::value::{Type, Value};

impl Body<'_> {
    /// Whether a message begins with a good header.
    pub fn peek(
        &mut self,
        message: LocalId,
        id: HeaderId,
        bind: Option<LocalId>,
        out: &mut Vec<S>,
    ) -> C {
        let data = self.scope.of_message(message, "data");
        let length = self.scope.of_message(message, "length");
        let place = match bind {
            Some(local) => {
                let bound = self.bind_c(local, data);
                out.push(bound);
                atom(self.scope.known(local))
            }
            None => data,
        };
        let old = self.scope.headers.insert(id, place.clone());
        let all = in_order(&self.scope, id, &place, &length);
        match old {
            Some(old) => self.scope.headers.insert(id, old),
            None => self.scope.headers.remove(&id),
        };
        let all = all.into_iter().reduce(|all, one| binary("&&", all, one));
        all.expect("a header has a least length")
    }
}

/// All that a header requires that begins at a place, in order of the wire.
fn in_order(scope: &Scope, id: HeaderId, place: &C, length: &C) -> Vec<C> {
    let header = &scope.stack.program.headers[id.at()];
    let settled = header.settled_at();
    let mut all = vec![binary(">=", length.clone(), number(header.least))];
    let mut size = number(header.least);
    let mut cuts: Vec<(HeaderFieldId, &Ranges)> = Vec::new();
    for (at, field) in header.fields.iter().enumerate() {
        if let Some(most) = field.bound() {
            all.extend(bounded(scope, id, HeaderFieldId(at as u32), most));
        }
        let behind = settled.is_none_or(|settled| settled.at() <= at);
        if field.is_loose() && settled.is_some_and(|settled| at <= settled.at()) {
            size = optional(scope, id, header.least, &|other| other <= at).cast("uint32_t");
            all.push(binary(">=", length.clone(), size.clone()));
        }
        all.extend(required(scope, id, HeaderFieldId(at as u32)));
        if let Rule::Counts { ranges, .. } = &field.rule
            && !header.is_counter(at)
        {
            cuts.push((HeaderFieldId(at as u32), ranges));
        }
        if settled.is_some_and(|settled| settled.at() == at) {
            size = settle(scope, id, length, size, &mut all);
        }
        if behind {
            for (field, ranges) in cuts.drain(..) {
                all.push(right_count(scope, (id, field), ranges, &size, length));
            }
        }
    }
    if header.options.is_some() {
        all.push(options::hold(scope, id, place));
    }
    all
}

/// A part with a bound is as long as is counted, and no longer than its bound.
fn bounded(scope: &Scope, id: HeaderId, at: HeaderFieldId, most: u32) -> Vec<C> {
    let header = &scope.stack.program.headers[id.at()];
    let (counted, rest) = part(scope, id, at);
    let mut all = Vec::new();
    if let Some(rest) = rest {
        let rest = match rest {
            known @ C::Atom(_) => known,
            rest => rest.cast("size_t"),
        };
        all.push(binary(">=", counted, rest));
    }
    let counter = header.part_counter(at.at());
    let counter = counter.expect("a part with a bound is counted");
    let width = header.field(counter.field).width;
    let largest = (u64::MAX >> (64 - width)).saturating_mul(u64::from(counter.unit));
    if largest > u64::from(most) {
        let length = length_of(scope, id, at).expect("its length is counted");
        all.push(binary("<=", length, number(most)));
    }
    all
}

/// A header that counts itself is as long as it says.
fn settle(scope: &Scope, id: HeaderId, length: &C, size: C, all: &mut Vec<C>) -> C {
    let header = &scope.stack.program.headers[id.at()];
    let Some(counter) = header.counter() else {
        return size;
    };
    let says = counted(scope, id, counter.field, counter.unit);
    let fixed = header.fixed_outside(&counter);
    let says = match optional(scope, id, fixed, &|at| !counter.covers(at)) {
        C::Atom(none) if none == "0" => says,
        some @ C::Atom(_) => binary("+", says, some),
        outside => binary("+", says, outside.cast("size_t")),
    };
    let known = optional(scope, id, header.least, &|_| true);
    let known = match known {
        C::Atom(_) => known,
        other => other.cast("size_t"),
    };
    if header
        .fields
        .iter()
        .any(|field| field.kind == Type::UnboundedBytes)
    {
        all.push(binary(">=", says.clone(), known));
        all.push(binary("<=", says.clone(), length.clone()));
        says
    } else {
        all.push(binary("==", says, known));
        size
    }
}

/// What a field must be, where it is there.
fn required(scope: &Scope, id: HeaderId, at: HeaderFieldId) -> Option<C> {
    let header: &Header = &scope.stack.program.headers[id.at()];
    let field = header.field(at);
    if field.kind == Type::UnboundedBytes {
        return None;
    }
    let read = Expression::new(Kind::Header(id, at), field.kind.clone());
    let all = requirements(scope, field, &scope.value(&read));
    let all = all.into_iter().reduce(|all, one| binary("&&", all, one))?;
    Some(match &field.present {
        Some(present) => binary("||", scope.value(present).negated(), all),
        None => all,
    })
}

/// What the value of a field must be: one of its names, its constant, what its `where` says.
pub fn requirements(scope: &Scope, field: &HeaderField, read: &C) -> Vec<C> {
    let mut all = Vec::new();
    let is = |value: &Value| binary("==", read.clone(), scope.constant(value, &field.kind));
    if let Type::Enum(kind) = field.kind {
        let table = &scope.stack.program.enums[kind.at()];
        let known = table
            .names
            .iter()
            .map(|(_, value)| is(&Value::Number(*value)));
        let known = known.reduce(|all, one| binary("||", all, one));
        all.extend(known.filter(|_| table.other.is_none()));
    }
    if let Rule::Is(value) = &field.rule {
        all.push(is(value));
    }
    all.extend(field.constraint.iter().map(|rule| scope.value(rule)));
    all
}

fn number(number: u32) -> C {
    atom(number.to_string())
}

/// What is counted is there.
fn right_count(
    scope: &Scope,
    (id, at): (HeaderId, HeaderFieldId),
    ranges: &Ranges,
    size: &C,
    length: &C,
) -> C {
    let field = scope.stack.program.headers[id.at()].field(at);
    let Rule::Counts { unit, .. } = field.rule else {
        unreachable!("only what counts is counted");
    };
    let says = counted(scope, id, at, unit);
    let covered = covered(scope, id, ranges, size.clone());
    let right = if !ranges.has_data() {
        binary("==", says, covered)
    } else {
        let there = match less(size.clone(), covered.clone()) {
            all if literal(&all) == Some(0) => says.clone(),
            rest => binary("+", says.clone(), rest),
        };
        let there = binary("<=", there, length.clone());
        match literal(&covered) {
            Some(0) => there,
            _ => binary("&&", binary(">=", says, covered), there),
        }
    };
    match &field.present {
        Some(present) => binary("||", scope.value(present).negated(), right),
        None => right,
    }
}
