//! The value of a function as an expression: part of "inline along the fast path" (HIPPCO 4.4).
//!
//! In: a call. Out: what it computes, written at its place; or which fields it looks at, where it
//! is too long or has turns. A function of values writes nothing, so the order does not matter.

use crate::tree::Node;
use crate::tree::rename::Renaming;
use crate::types::expression::{Expression, ExpressionKind, Instance, Query, Variable};
use crate::types::program::{FieldId, FunctionId, KindId, LocalId, Program, TimerId};
use crate::types::statement::{Statement, StatementKind};
use crate::types::value::Type;
use rustc_hash::FxHashMap;
use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

/// An expression with more operands than this is not written where a function was called.
const LONG: usize = 60;

/// A field of an instance: which one, if that is said.
pub type Seen = (Option<Instance>, KindId, FieldId);

/// What a value depends on that may change within an instant.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Looks {
    /// Fields.
    pub fields: BTreeSet<Seen>,
    /// Timers: whether they run.
    pub timers: BTreeSet<(KindId, TimerId)>,
    /// Whether another step may be taken.
    pub goes_on: bool,
    /// Whether C is called, which counts calls.
    pub calls_c: bool,
    /// Whether finding the value changes something: it is found once.
    pub changes: bool,
}

impl Looks {
    /// What an expression looks at, also by the functions that it calls.
    pub fn of(program: &Program, expression: &Expression) -> Looks {
        let mut looks = Looks::default();
        looks.add(program, expression);
        looks
    }

    /// What a query looks at beside its operands.
    pub fn of_query(query: &Query) -> Looks {
        let mut looks = Looks::default();
        looks.query(query);
        looks
    }

    /// Whether a field is looked at, of any instance of its kind.
    pub fn at(&self, kind: KindId, field: FieldId) -> bool {
        let mut fields = self.fields.iter();
        fields.any(|(_, k, f)| (*k, *f) == (kind, field))
    }

    /// Adds what an expression looks at.
    pub fn add(&mut self, program: &Program, expression: &Expression) {
        let mut called = Called::new(program);
        self.expression(&mut called, expression);
    }

    fn expression(&mut self, called: &mut Called, expression: &Expression) {
        match &*expression.kind {
            ExpressionKind::Read(variable) => self.variable(variable),
            ExpressionKind::Query(query) => self.query(query),
            ExpressionKind::Call(function, arguments) => {
                let looks = called.looks(*function);
                self.called(called.program, looks, *function, arguments);
            }
            _of_operands_alone => {}
        }
        for part in expression.parts() {
            self.expression(called, part);
        }
    }

    /// What a function looks at: of its own instance, if the call says which that is.
    pub fn call(&mut self, program: &Program, id: FunctionId, arguments: &[Expression]) {
        let inside = Called::new(program).looks(id);
        self.called(program, inside, id, arguments);
    }

    /// The same, where it is known what its body looks at.
    fn called(
        &mut self,
        program: &Program,
        inside: Rc<Looks>,
        id: FunctionId,
        arguments: &[Expression],
    ) {
        let function = &program.functions[id.at()];
        self.calls_c |= function.calls_c;
        let own = match arguments.get(function.arguments()).map(|own| &*own.kind) {
            Some(ExpressionKind::Read(Variable::Local(own))) => Some(Instance::Local(*own)),
            Some(_computed) => None,
            // Within another function: that of who calls it.
            None => Some(Instance::Own),
        };
        let seen = inside.fields.iter().map(|(instance, kind, field)| {
            let is_own = *instance == Some(Instance::Own) && function.kind == Some(*kind);
            (own.filter(|_| is_own), *kind, *field)
        });
        self.fields.extend(seen);
        self.timers.extend(&inside.timers);
        self.calls_c |= inside.calls_c;
        self.changes |= inside.changes;
    }

    fn variable(&mut self, variable: &Variable) {
        match variable {
            Variable::Field(instance, kind, field) => {
                self.fields.insert((Some(*instance), *kind, *field));
            }
            Variable::Local(_) => {}
            Variable::Element(of, _) | Variable::Part(of, ..) => self.variable(of),
        }
    }

    fn query(&mut self, query: &Query) {
        self.changes |= matches!(query, Query::InsertSet(..) | Query::Release(..));
        match query {
            Query::IsEmpty(of)
            | Query::Has(of, _)
            | Query::First(of)
            | Query::Covers(of, ..)
            | Query::Ready(of, _)
            | Query::Begin(of)
            | Query::End(of)
            | Query::InsertSet(of, _)
            | Query::Release(of, _) => self.variable(of),
            Query::Running(_, kind, timer) => drop(self.timers.insert((*kind, *timer))),
            Query::Exists(..) | Query::Ended(..) => {}
            Query::GoesOn => self.goes_on = true,
        }
    }

    fn statement(&mut self, called: &mut Called, statement: &Statement) {
        for value in statement.values() {
            self.expression(called, value);
        }
        let inside = statement.blocks().into_iter().flatten();
        inside.for_each(|one| self.statement(called, one));
    }
}

/// What the bodies of functions look at, each found once: many may call one.
struct Called<'a> {
    program: &'a Program,
    known: FxHashMap<FunctionId, Rc<Looks>>,
}

impl<'a> Called<'a> {
    fn new(program: &'a Program) -> Called<'a> {
        Called {
            program,
            known: FxHashMap::default(),
        }
    }

    fn looks(&mut self, id: FunctionId) -> Rc<Looks> {
        if let Some(known) = self.known.get(&id) {
            return known.clone();
        }
        let mut looks = Looks::default();
        let body = self.program.functions[id.at()].body.iter().flatten();
        body.for_each(|statement| looks.statement(self, statement));
        let looks = Rc::new(looks);
        self.known.insert(id, looks.clone());
        looks
    }
}

/// What a call gives, if it can be said at its place.
pub fn inlined(program: &Program, id: FunctionId, arguments: &[Expression]) -> Option<Expression> {
    let function = &program.functions[id.at()];
    let body = function.body.as_ref().filter(|_| !function.calls_c)?;
    // What is given may stand there twice.
    let mut counts = arguments.iter();
    let is_found_once = |argument: &Expression| {
        let looks = Looks::of(program, argument);
        looks.calls_c || looks.changes
    };
    if counts.any(is_found_once) {
        return None;
    }
    let (given, own) = arguments.split_at(function.arguments().min(arguments.len()));
    let own = match own {
        [own] => match &*own.kind {
            ExpressionKind::Read(Variable::Local(local)) => Some(Instance::Local(*local)),
            ExpressionKind::Constant(_) => None,
            _computed => return None,
        },
        _not_told => None,
    };
    let locals = (0..).map(LocalId);
    let inlining = Inlining {
        program,
        kind: function.kind,
        own,
        is_lost: Cell::new(false),
        choices: Cell::new(0),
    };
    let found = inlining.block(body, locals.zip(given.iter().cloned()).collect())?;
    let is_whole = !inlining.is_lost.get() && !inlining.is_open(&found);
    (is_whole && operands(&found) <= LONG).then_some(found)
}

/// How many operands an expression has, with all of theirs, and itself.
pub fn operands(expression: &Expression) -> usize {
    1 + expression.parts().into_iter().map(operands).sum::<usize>()
}

struct Inlining<'a> {
    program: &'a Program,
    /// Of which kind the function is.
    kind: Option<KindId>,
    /// Whose it is, where that is told.
    own: Option<Instance>,
    /// Whether a message or an instance was given that no local of the caller holds.
    is_lost: Cell<bool>,
    /// How many choices were made: each is an operand of what is found, which may not be long.
    choices: Cell<usize>,
}

impl Inlining<'_> {
    /// What statements give that return on every way.
    fn block(
        &self,
        statements: &[Statement],
        mut known: BTreeMap<LocalId, Expression>,
    ) -> Option<Expression> {
        for (at, statement) in statements.iter().enumerate() {
            match &statement.kind {
                StatementKind::Let(local, value) => {
                    let value = self.given(value, &known);
                    if operands(&value) > LONG {
                        return None;
                    }
                    known.insert(*local, value);
                }
                StatementKind::Return(value) => return Some(self.given(value, &known)),
                StatementKind::If {
                    condition,
                    then,
                    otherwise,
                    ..
                } => {
                    self.choices.set(self.choices.get() + 1);
                    if self.choices.get() > LONG {
                        return None;
                    }
                    let rest = &statements[at + 1..];
                    let way = |block: &[Statement]| {
                        let all: Vec<Statement> = block.iter().chain(rest).cloned().collect();
                        self.block(&all, known.clone())
                    };
                    let (then, otherwise) = (way(then)?, way(otherwise)?);
                    let result = then.result.clone();
                    let condition = self.given(condition, &known);
                    let either = ExpressionKind::If(condition, then, otherwise);
                    return Some(Expression::new(either, result));
                }
                _has_turns_or_ways => return None,
            }
        }
        None
    }

    fn given(&self, value: &Expression, known: &BTreeMap<LocalId, Expression>) -> Expression {
        let message = |local: LocalId| match known.get(&local).map(|value| &*value.kind) {
            Some(ExpressionKind::Read(Variable::Local(given))) => *given,
            _ => {
                self.is_lost.set(true);
                local
            }
        };
        let instance = |instance| match instance {
            Instance::Own => self.own.unwrap_or(Instance::Own),
            Instance::Local(local) => Instance::Local(message(local)),
            other => other,
        };
        let replaced = |expression: &Expression| match &*expression.kind {
            ExpressionKind::Read(Variable::Local(local)) => known.get(local).cloned(),
            ExpressionKind::Call(function, arguments) => {
                let arguments = arguments.iter().map(|one| self.given(one, known));
                let call = ExpressionKind::Call(*function, self.told(*function, arguments));
                Some(Expression::new(call, expression.result.clone()))
            }
            _of_operands => None,
        };
        let renaming = Renaming {
            local: &message,
            instance: &instance,
            replaced: &replaced,
        };
        renaming.expression(value)
    }

    /// What a function is given that is called from another of the same instance.
    fn told(&self, id: FunctionId, given: impl Iterator<Item = Expression>) -> Vec<Expression> {
        let function = &self.program.functions[id.at()];
        let own = match (function.kind, self.own) {
            (Some(kind), Some(Instance::Local(own))) if self.kind == Some(kind) => {
                Some(Expression::local(own, Type::Instance(kind)))
            }
            _ => None,
        };
        given.chain(own).collect()
    }

    /// Whether it is not said whose instance something is of.
    fn is_open(&self, value: &Expression) -> bool {
        let open = Cell::new(false);
        let instance = |instance| {
            open.set(open.get() || instance == Instance::Own);
            instance
        };
        let replaced = |expression: &Expression| {
            if let ExpressionKind::Call(function, arguments) = &*expression.kind {
                let function = &self.program.functions[function.at()];
                let told = arguments.len() > function.arguments();
                open.set(open.get() || function.kind.is_some() && !told);
            }
            None
        };
        let renaming = Renaming {
            local: &|local| local,
            instance: &instance,
            replaced: &replaced,
        };
        renaming.expression(value);
        open.get()
    }
}

/// Whether a value of a type is one number, or none: what is cheap to hold.
pub fn is_plain(kind: &Type) -> bool {
    match kind {
        Type::Bool
        | Type::Unsigned(_)
        | Type::Signed(_)
        | Type::Sequence(_)
        | Type::Time
        | Type::Enum(_) => true,
        Type::Optional(inner) => is_plain(inner),
        _ => false,
    }
}

/// Returns the fields, timers and calls that the values in a node depend on.
pub fn looks(program: &Program, node: &Node) -> Looks {
    let looks = RefCell::new(Looks::default());
    let replaced = |expression: &Expression| {
        looks.borrow_mut().add(program, expression);
        None
    };
    let renaming = Renaming {
        local: &|local| local,
        instance: &|instance| instance,
        replaced: &replaced,
    };
    renaming.node(node);
    looks.into_inner()
}

/// The locals that something names.
pub fn named(of: impl Fn(&Renaming)) -> BTreeSet<LocalId> {
    let asked = RefCell::new(BTreeSet::new());
    let local = |local: LocalId| {
        asked.borrow_mut().insert(local);
        local
    };
    let instance = |instance| {
        if let Instance::Local(local) = instance {
            asked.borrow_mut().insert(local);
        }
        instance
    };
    let renaming = Renaming {
        local: &local,
        instance: &instance,
        replaced: &|_| None,
    };
    of(&renaming);
    asked.into_inner()
}
