//! Statements of functions and filters -> C, one block after the other.
//!
//! A local that is bound once is a constant where it is bound; one that several blocks bind is
//! declared at the top.

use super::external;
use super::function::call_of;
use super::layout::c_type;
use super::parts;
use super::scope::Scope;
use super::walk;
use crate::c::printer;
use crate::c::tree::{Expression as C, Statement as S, assign, atom, binary, call, leaves};
use crate::types::expression::{Binary, Expression, ExpressionKind as Kind, Variable};
use crate::types::program::LocalId;
use crate::types::statement::{Attempt, Operation, Statement, StatementKind};
use crate::types::value::{Type, Value};
use std::collections::BTreeMap;

/// The declarations of a local: two for what is optional.
pub fn declare(
    scope: &mut Scope,
    local: LocalId,
    value: Option<&Expression>,
    constant: bool,
) -> Vec<S> {
    let kind = scope.kind(local).clone();
    let values = match (&kind, value) {
        (Type::Optional(_), Some(value)) => {
            vec![Some(scope.present(value)), Some(scope.unwrapped(value))]
        }
        (Type::Optional(inner), None) => vec![Some(atom("false")), Some(scope.zero(inner))],
        (_, Some(value)) => vec![Some(scope.stored(value))],
        (
            Type::Bytes(_)
            | Type::BoundedBytes(_)
            | Type::Record(_)
            | Type::Message
            | Type::Array(..),
            None,
        ) => vec![None],
        (other, None) => vec![Some(scope.zero(other))],
    };
    let name = scope.name(local);
    let inner = match &kind {
        Type::Optional(inner) => (**inner).clone(),
        other => other.clone(),
    };
    let before = if constant { "const " } else { "" };
    let own = c_type(scope.stack, &inner);
    let own = if own.ends_with('*') {
        own
    } else {
        format!("{before}{own}")
    };
    let mut names = vec![(own, name.clone())];
    if matches!(kind, Type::Optional(_)) {
        names.insert(0, (format!("{before}bool"), format!("has_{name}")));
    }
    let pairs = names.into_iter().zip(values);
    pairs
        .map(|((kind, name), value)| S::Declare { kind, name, value })
        .collect()
}

/// The statements that give a variable a value.
pub fn assign_to(scope: &mut Scope, variable: &Variable, value: &Expression) -> Vec<S> {
    let place = scope.place(variable);
    match (scope.variable_type(variable), &*value.kind) {
        (Type::Optional(_), _) => {
            let has = scope.beside(variable, "has_", "");
            assign_optional(scope, (has, place), value)
        }
        (own, Kind::Binary(operator, a, b))
            if matches!(&*a.kind, Kind::Read(same) if same == variable)
                && whole(scope, &own, &scope.stored(b)) =>
        {
            let sign = match operator {
                Binary::Add => "+=",
                Binary::Subtract => "-=",
                Binary::BitXor => "^=",
                Binary::BitOr => "|=",
                Binary::BitAnd => "&=",
                _ => return vec![assign(place, scope.stored(value))],
            };
            vec![S::Assign(place, sign, scope.stored(b))]
        }
        _ => vec![assign(place, scope.stored(value))],
    }
}

/// Whether an optional item of an array is there.
const PRESENT: &str = "present";

/// An optional, which is two values, gets its value: of what it was, all is read before it is
/// written, and which item of an array it is, too.
pub fn assign_optional(scope: &mut Scope, (has, place): (C, C), value: &Expression) -> Vec<S> {
    let is_none = matches!(*value.kind, Kind::Constant(Value::None));
    if let C::Member(item, part) = &has
        && part == PRESENT
        && !is_none
    {
        let both = match *value.kind {
            Kind::Call(..) => scope.typed(value).c,
            _ => {
                let parts = [
                    (PRESENT, scope.present(value)),
                    ("value", scope.unwrapped(value)),
                ];
                let parts = parts.map(|(part, value)| (part.to_string(), value));
                C::Struct(c_type(scope.stack, &value.result), parts.to_vec())
            }
        };
        return vec![assign((**item).clone(), both)];
    }
    if is_none {
        return vec![assign(has, atom("false"))];
    }
    let (mut all, parts) = found_before(scope, has, place);
    all.extend(assign_parts(scope, parts, value));
    all
}

/// Which item of an array two parts of a record are in is found before one of them is written that
/// it hangs on.
fn found_before(scope: &mut Scope, mut has: C, mut place: C) -> (Vec<S>, (C, C)) {
    let mut all = Vec::new();
    let written = [&has, &place].map(|part| match part {
        C::Member(_, name) => name.clone(),
        _ => String::new(),
    });
    for index in indices(&has) {
        let text = printer::expression(&index);
        let words = parts::words(&text);
        if !written.iter().any(|name| words.contains(name.as_str())) {
            continue;
        }
        let name = scope.taken.take("at");
        [has, place] = [has, place].map(|part| with_index(part, &index, &atom(&name)));
        let kind = "uint32_t";
        all.push(S::Declare {
            kind: format!("const {kind}"),
            name,
            value: Some(index.cast(kind)),
        });
    }
    (all, (has, place))
}

/// What says which items of arrays a place is in.
fn indices(place: &C) -> Vec<C> {
    match place {
        C::Member(of, _) | C::Behind(of, _) => indices(of),
        C::Element(of, index) => [indices(of), vec![(**index).clone()]].concat(),
        _ => Vec::new(),
    }
}

/// The place with something else where it says which item.
fn with_index(place: C, index: &C, known: &C) -> C {
    match place {
        C::Member(of, name) => with_index(*of, index, known).member(name),
        C::Behind(of, name) => with_index(*of, index, known).behind(name),
        C::Element(of, at) => {
            let at = if *at == *index { known.clone() } else { *at };
            with_index(*of, index, known).element(at)
        }
        other => other,
    }
}

/// The same, of what stands in two places that are known.
fn assign_parts(scope: &mut Scope, (has, place): (C, C), value: &Expression) -> Vec<S> {
    if let Kind::Call(..) = *value.kind {
        return external::take_optional(scope, value, has, place);
    }
    let there = scope.present(value);
    let found = scope.unwrapped(value);
    let is_read = may_read(value, &found, &has);
    let found = assign(place, found);
    match there {
        there if !is_read => vec![assign(has, there), found],
        C::Atom(_) => vec![found, assign(has, there)],
        there => {
            let name = scope.taken.take("is_there");
            let known = S::Declare {
                kind: "const bool".to_string(),
                name: name.clone(),
                value: Some(there),
            };
            vec![known, found, assign(has, atom(name))]
        }
    }
}

/// Whether a value as it is found may read a flag: that of another instance has the same name, and
/// may be the same; and functions may read it.
fn may_read(value: &Expression, found: &C, flag: &C) -> bool {
    let (C::Member(_, name) | C::Behind(_, name) | C::Atom(name)) = flag else {
        return true;
    };
    let mut calls = false;
    walk::each(value, &mut |part| {
        calls |= matches!(*part.kind, Kind::Call(..))
    });
    calls || parts::words(&printer::expression(found)).contains(name.as_str())
}

/// Whether C's own arithmetic on a type, and what is added to it, is just that of the source. What
/// is narrower than `int` takes only what is seen to be as narrow: compilers look through a cast.
fn whole(scope: &Scope, kind: &Type, other: &C) -> bool {
    let inner = match other {
        C::Cast(_, inner) => inner,
        _ => other,
    };
    let computed = matches!(inner, C::Binary(..) | C::Unary(..) | C::Conditional(..));
    match super::layout::bits(scope.stack, kind) {
        _ if matches!(kind, Type::Signed(_)) => false,
        Some(8 | 16) => !computed,
        width => matches!(width, Some(32 | 64)),
    }
}

const YIELDS: &str = "only a filter that rewrites yields";

/// How a filter that rewrites puts a word where `out` stands.
#[derive(Clone)]
pub struct Yield {
    /// Bytes of a word.
    pub unit: u32,
    /// Whether the first is the most significant.
    pub big: bool,
    /// Whether there may be no room for it: then the filter gives no length that there is.
    pub grows: bool,
    /// Of the last word, of which bytes are missing: where it stands, and how many are there.
    pub last: Option<(String, String)>,
}

/// Statements of a body, one block after the other.
pub struct Code<'a, 'b> {
    scope: &'b mut Scope<'a>,
    /// How often each local is bound.
    bound: BTreeMap<LocalId, u32>,
    /// Those that have been declared.
    declared: Vec<LocalId>,
    /// What the function gives.
    pub result: Option<&'a Type>,
    /// How a word comes out.
    pub yields: Option<Yield>,
    /// How many of the next words of this block have room for certain.
    roomy: usize,
    depth: u32,
}

impl<'a, 'b> Code<'a, 'b> {
    /// The body of a function with so many parameters.
    pub fn new(scope: &'b mut Scope<'a>, body: &[Statement], parameters: u32) -> Code<'a, 'b> {
        let mut bound: BTreeMap<LocalId, u32> = (0..parameters).map(|n| (LocalId(n), 2)).collect();
        count_bindings(body, &mut bound);
        let declared = scope.names.keys().copied().collect();
        Code {
            scope,
            bound,
            declared,
            result: None,
            yields: None,
            roomy: 0,
            depth: 0,
        }
    }

    /// One block; locals that inner ones share are declared at the top of the outermost.
    pub fn block(&mut self, body: &[Statement]) -> Vec<S> {
        let mut all = Vec::new();
        if self.depth == 0 {
            let mut inner = Vec::new();
            nested_bindings(body, false, &mut inner);
            inner.retain(|local| self.bound[local] > 1 && !self.declared.contains(local));
            inner.sort();
            inner.dedup();
            let top: Vec<LocalId> = body.iter().filter_map(bound_by).collect();
            for local in inner.into_iter().filter(|local| !top.contains(local)) {
                all.extend(declare(self.scope, local, None, false));
                self.declared.push(local);
            }
        }
        self.depth += 1;
        let around = std::mem::take(&mut self.roomy);
        for (at, statement) in body.iter().enumerate() {
            match &statement.kind {
                StatementKind::Yield(value) => {
                    all.extend(self.room_for(&body[at..]));
                    all.extend(self.yielded(value));
                }
                StatementKind::Require {
                    condition,
                    otherwise,
                    ..
                } => {
                    let failed = self.scope.value(condition).negated();
                    return self.guarded(all, failed, otherwise, &body[at + 1..], Vec::new());
                }
                StatementKind::Attempt {
                    attempt: Attempt::Value(value),
                    bind,
                    otherwise,
                    ..
                } => {
                    let failed = self.scope.present(value).negated();
                    let binding = bind.map(|local| {
                        let found = Expression {
                            kind: Box::new(Kind::Unwrap(value.clone())),
                            result: self.scope.kind(local).clone(),
                        };
                        declare(self.scope, local, Some(&found), true)
                    });
                    let binding = binding.unwrap_or_default();
                    return self.guarded(all, failed, otherwise, &body[at + 1..], binding);
                }
                _ => all.extend(self.statement(statement)),
            }
        }
        self.roomy = around;
        self.depth -= 1;
        all
    }

    /// Where something fails, `otherwise` takes the place of the rest.
    fn guarded(
        &mut self,
        mut all: Vec<S>,
        failed: C,
        otherwise: &[Statement],
        rest: &[Statement],
        binding: Vec<S>,
    ) -> Vec<S> {
        let other = self.block(otherwise);
        let mut going_on = binding;
        going_on.extend(self.block(rest));
        self.depth -= 1;
        if leaves(&other) {
            all.push(S::If {
                condition: failed,
                then: other,
                otherwise: Vec::new(),
            });
            all.extend(going_on);
        } else if other.is_empty() {
            all.push(S::If {
                condition: failed.negated(),
                then: going_on,
                otherwise: Vec::new(),
            });
        } else {
            all.push(S::If {
                condition: failed,
                then: other,
                otherwise: going_on,
            });
        }
        all
    }

    fn statement(&mut self, statement: &Statement) -> Vec<S> {
        match &statement.kind {
            StatementKind::Let(local, value) => self.bind(*local, value),
            StatementKind::Assign(variable, value) => assign_to(self.scope, variable, value),
            StatementKind::If {
                condition,
                then,
                otherwise,
                ..
            } => {
                let condition = self.scope.value(condition);
                let then = self.block(then);
                let otherwise = self.block(otherwise);
                vec![S::If {
                    condition,
                    then,
                    otherwise,
                }]
            }
            StatementKind::Match {
                value,
                cases,
                otherwise,
            } => {
                let kind = value.result.clone();
                let label =
                    |scope: &Scope, number: u64| scope.constant(&Value::Number(number), &kind);
                let asked = self.scope.value(value);
                let cases = cases
                    .iter()
                    .map(|(number, _, body)| (vec![label(self.scope, *number)], self.block(body)))
                    .collect();
                let otherwise = walk::default_of(value, self.block(otherwise));
                vec![S::Switch {
                    value: asked,
                    cases,
                    otherwise,
                }]
            }
            StatementKind::For {
                local,
                from,
                to,
                at_most,
                body,
                ..
            } => self.turns(*local, from, to, *at_most, body),
            StatementKind::Do(Operation::Call(function, arguments)) => {
                vec![S::Do(call_of(self.scope, *function, arguments))]
            }
            StatementKind::Return(value) => vec![S::Return(Some(self.returned(value)))],
            StatementKind::Yield(_)
            | StatementKind::Attempt { .. }
            | StatementKind::Require { .. }
            | StatementKind::Drain { .. }
            | StatementKind::Do(_)
            | StatementKind::Output(_)
            | StatementKind::Drop(..)
            | StatementKind::Consume(_)
            | StatementKind::Count(_)
            | StatementKind::StartTimer(..)
            | StatementKind::StopTimer(..)
            | StatementKind::End(..)
            | StatementKind::React(_)
            | StatementKind::Ordered(_) => unreachable!("a function only computes"),
        }
    }

    fn bind(&mut self, local: LocalId, value: &Expression) -> Vec<S> {
        let declared = self.declared.contains(&local);
        let once = self.bound.get(&local).is_none_or(|times| *times == 1);
        if !once && !declared {
            self.declared.push(local);
        }
        if external::gives_optional(self.scope.stack, value) {
            return external::bind_optional(self.scope, local, value, (declared, once));
        }
        if declared {
            return assign_to(self.scope, &Variable::Local(local), value);
        }
        declare(self.scope, local, Some(value), once)
    }

    fn returned(&self, value: &Expression) -> C {
        match (self.result, &*value.kind) {
            (Some(Type::Optional(_)), Kind::Call(id, arguments)) => {
                super::function::call_of(self.scope, *id, arguments)
            }
            (Some(kind @ Type::Optional(_)), _) => C::Struct(
                c_type(self.scope.stack, kind),
                vec![
                    ("present".to_string(), self.scope.present(value)),
                    ("value".to_string(), self.scope.unwrapped(value)),
                ],
            ),
            _ => self.scope.stored(value),
        }
    }

    /// Without room for all words that are sure to come of the rest of a block, the filter ends:
    /// what it has written so far is for nobody.
    fn room_for(&mut self, rest: &[Statement]) -> Vec<S> {
        let how = self.yields.as_ref().expect(YIELDS);
        if self.roomy > 0 || !how.grows {
            return Vec::new();
        }
        let kinds = rest.iter().map(|statement| &statement.kind);
        let sure = kinds.take_while(|kind| {
            !matches!(
                kind,
                StatementKind::Require { .. } | StatementKind::Attempt { .. }
            )
        });
        self.roomy = sure
            .filter(|kind| matches!(kind, StatementKind::Yield(_)))
            .count();
        let bytes = match (&how.last, self.roomy) {
            (None, words) => atom((words as u32 * how.unit).to_string()),
            (Some((_, length)), 1) => atom(length),
            (Some((_, length)), words) => binary("*", atom(words.to_string()), atom(length)),
        };
        vec![
            S::If {
                condition: binary("<", atom("room"), bytes.clone()),
                then: vec![S::Return(Some(atom("SIZE_MAX")))],
                otherwise: Vec::new(),
            },
            S::Assign(atom("room"), "-=", bytes),
        ]
    }

    fn yielded(&mut self, value: &Expression) -> Vec<S> {
        self.roomy = self.roomy.saturating_sub(1);
        let how = self.yields.clone();
        let Yield {
            unit, big, last, ..
        } = how.expect(YIELDS);
        let value = self.scope.stored(value);
        let order = if big { "big" } else { "little" };
        let store = |at: C| match unit {
            1 => assign(at.element(atom("0")), value),
            unit => S::Do(call(
                format!("sl_store_{order}{}", 8 * unit),
                vec![at, value],
            )),
        };
        let out = || atom("out");
        let (bytes, stored) = match last {
            None => (atom(unit.to_string()), vec![store(out())]),
            Some((word, length)) => {
                let copied = call("memcpy", vec![out(), atom(&word), atom(&length)]);
                (atom(length), vec![store(atom(word)), S::Do(copied)])
            }
        };
        let mut all = stored;
        all.push(S::Assign(out(), "+=", bytes));
        all
    }

    fn turns(
        &mut self,
        local: LocalId,
        from: &Expression,
        to: &Expression,
        at_most: u32,
        body: &[Statement],
    ) -> Vec<S> {
        if super::state::is_zero(&to.kind) {
            return Vec::new();
        }
        let kind = c_type(self.scope.stack, self.scope.kind(local));
        let from_text = crate::c::printer::expression(&self.scope.stored(from));
        let name = self.scope.name(local);
        let mut condition = binary("<", atom(&name), self.scope.value(to));
        if !matches!(&*to.kind, Kind::Constant(_)) && at_most != u32::MAX {
            let passed = binary("-", atom(&name), self.scope.value(from));
            let within = binary("<", passed, atom(at_most.to_string()));
            condition = binary("&&", condition, within);
        }
        self.declared.push(local);
        vec![S::For {
            start: format!("{kind} {name} = {from_text}"),
            condition,
            step: format!("{name}++"),
            body: self.block(body),
        }]
    }
}

fn bound_by(statement: &Statement) -> Option<LocalId> {
    match &statement.kind {
        StatementKind::Let(local, _) => Some(*local),
        StatementKind::Attempt { bind, .. } => *bind,
        _ => None,
    }
}

fn count_bindings(body: &[Statement], bound: &mut BTreeMap<LocalId, u32>) {
    for statement in body {
        if let Some(local) = bound_by(statement) {
            *bound.entry(local).or_default() += 1;
        }
        let assigned = match &statement.kind {
            StatementKind::Assign(variable, _) => Some(walk::base(variable)),
            _ => None,
        };
        if let Some(Variable::Local(local)) = assigned {
            *bound.entry(*local).or_default() += 1;
        }
        for block in statement.blocks() {
            count_bindings(block, bound);
        }
    }
}

/// Locals that are bound in blocks within this one.
fn nested_bindings(body: &[Statement], nested: bool, found: &mut Vec<LocalId>) {
    for statement in body {
        if nested {
            found.extend(bound_by(statement));
        }
        for block in statement.blocks() {
            nested_bindings(block, true, found);
        }
    }
}
