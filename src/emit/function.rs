//! Functions and filters: their checked bodies come in, C functions go out.

use super::Stack;
use super::layout::{c_type, parameters};
use super::scope::Scope;
use super::walk;
use crate::c::tree::{
    Expression as C, Function as CFunction, Statement as S, assign, atom, binary, call,
};
use crate::types::expression::{Expression, ExpressionKind as Kind, Instance, Query, Variable};
use crate::types::program::{Filter, Function, FunctionId, LocalId};
use crate::types::statement::{Attempt, Block, Operation, Statement, StatementKind};
use crate::types::value::Type;
use std::collections::BTreeMap;

/// A call of a function: the stack and the instance where it reads them, then what it is given.
pub fn call_of(scope: &Scope, id: FunctionId, arguments: &[Expression]) -> C {
    let stack = scope.stack;
    let function = &stack.program.functions[id.at()];
    let mut all = Vec::new();
    if needs_stack(stack, function) {
        all.push(atom("stack"));
    }
    if needs_own(stack, function) {
        all.push(scope.own.clone().unwrap_or_else(|| atom("0")));
    }
    if let Some(header) = header_read(stack, function) {
        all.push(
            scope
                .headers
                .get(&header)
                .expect("its header is there")
                .clone(),
        );
    }
    all.extend(
        arguments
            .iter()
            .flat_map(|argument| scope.arguments(argument)),
    );
    call(&stack.names.functions[id.at()], all)
}

/// A filter run over bytes.
pub fn filter_call(
    scope: &Scope,
    id: crate::types::program::FilterId,
    data: C,
    length: C,
    arguments: &[Expression],
) -> C {
    let filter = &scope.stack.program.filters[id.at()];
    let mut all = vec![data, length];
    if filter_needs_stack(scope.stack, filter) {
        all.insert(0, atom("stack"));
    }
    all.extend(
        arguments
            .iter()
            .flat_map(|argument| scope.arguments(argument)),
    );
    call(&scope.stack.names.filters[id.at()], all)
}

/// The name of a filter's function.
pub fn filter_name(stack: &Stack, filter: &Filter) -> String {
    let same = |one: &Filter| one.name == filter.name && one.span == filter.span;
    let at = stack.program.filters.iter().position(same);
    stack.names.filters[at.expect("a filter is one of the stack's")].clone()
}

/// All expressions of a block.
fn expressions(block: &[Statement], visit: &mut dyn FnMut(&Expression)) {
    for statement in block {
        match &statement.kind {
            StatementKind::Let(_, e) | StatementKind::Return(e) | StatementKind::Yield(e) => {
                walk::each(e, visit);
            }
            StatementKind::Require {
                condition,
                otherwise,
                ..
            } => {
                walk::each(condition, visit);
                expressions(otherwise, visit);
            }
            StatementKind::Attempt {
                attempt: Attempt::Value(e),
                otherwise,
                ..
            } => {
                walk::each(e, visit);
                expressions(otherwise, visit);
            }
            StatementKind::Assign(variable, e) => {
                walk::indices(variable, visit);
                walk::each(e, visit);
            }
            StatementKind::If {
                condition,
                then,
                otherwise,
                ..
            } => {
                walk::each(condition, visit);
                expressions(then, visit);
                expressions(otherwise, visit);
            }
            StatementKind::Match {
                value,
                cases,
                otherwise,
            } => {
                walk::each(value, visit);
                cases
                    .iter()
                    .for_each(|(_, _, body)| expressions(body, visit));
                expressions(otherwise, visit);
            }
            StatementKind::For { from, to, body, .. } => {
                walk::each(from, visit);
                walk::each(to, visit);
                expressions(body, visit);
            }
            StatementKind::Do(Operation::Call(_, list)) => {
                list.iter().for_each(|e| walk::each(e, visit));
            }
            StatementKind::Attempt { .. }
            | StatementKind::Drain { .. }
            | StatementKind::Do(_)
            | StatementKind::Output(_)
            | StatementKind::Drop(..)
            | StatementKind::Consume(_)
            | StatementKind::Count(_)
            | StatementKind::StartTimer(..)
            | StatementKind::StopTimer(..)
            | StatementKind::End(..) => unreachable!("{NO_FUNCTION}"),
        }
    }
}

const NO_FUNCTION: &str = "a function only computes";

/// Whether an expression reads what the stack holds.
pub fn reads_stack(stack: &Stack, expression: &Expression) -> bool {
    let mut reads = false;
    walk::each(expression, &mut |part| {
        reads |= match &*part.kind {
            Kind::Config(_) | Kind::Now | Kind::Query(Query::Running(..)) => true,
            Kind::Key(instance, kind, key) => {
                let scope = Scope::new(stack, &[]);
                scope
                    .constant_key(*instance, *kind, key.at(), &part.result)
                    .is_none()
            }
            Kind::Call(id, _) => needs_stack(stack, &stack.program.functions[id.at()]),
            Kind::Through(id, ..) => filter_needs_stack(stack, &stack.program.filters[id.at()]),
            _ => walk::variable(part).is_some_and(|v| matches!(walk::base(v), Variable::Field(..))),
        };
    });
    reads
}

fn any(block: Option<&Block>, holds: &dyn Fn(&Expression) -> bool) -> bool {
    let mut found = false;
    if let Some(block) = block {
        expressions(block, &mut |expression| found |= holds(expression));
    }
    found
}

fn needs_stack(stack: &Stack, function: &Function) -> bool {
    any(function.body.as_ref(), &|expression| {
        reads_stack(stack, expression)
    })
}

pub fn needs_own(stack: &Stack, function: &Function) -> bool {
    let several = |kind: crate::types::program::KindId| stack.program.kinds[kind.at()].capacity > 1;
    function.kind.is_some_and(several)
        && any(
            function.body.as_ref(),
            &|expression| match &*expression.kind {
                Kind::Key(Instance::Own, kind, _) => several(*kind),
                Kind::Query(Query::Running(Instance::Own, kind, _)) => several(*kind),
                Kind::Call(id, _) => needs_own(stack, &stack.program.functions[id.at()]),
                _ => matches!(
                    walk::variable(expression).map(walk::base),
                    Some(Variable::Field(Instance::Own, kind, _)) if several(*kind)
                ),
            },
        )
}

/// The header that a function reads, itself or by what it calls.
pub fn header_read(stack: &Stack, function: &Function) -> Option<crate::types::program::HeaderId> {
    let mut found = None;
    if let Some(body) = &function.body {
        expressions(body, &mut |expression| match &*expression.kind {
            Kind::Header(header, _) | Kind::HeaderPresent(header, _) => found = Some(*header),
            Kind::Call(id, _) => {
                let called = header_read(stack, &stack.program.functions[id.at()]);
                found = found.or(called);
            }
            _ => {}
        });
    }
    found
}

/// Whether a filter reads what the stack holds.
pub fn filter_needs_stack(stack: &Stack, filter: &Filter) -> bool {
    let holds = |expression: &Expression| reads_stack(stack, expression);
    any(Some(&filter.each), &holds)
        || any(Some(&filter.finish), &holds)
        || filter.result.as_ref().is_some_and(holds)
        || filter.state.iter().any(|(_, value)| holds(value))
}

/// A function of the source as one of C; of an `extern` one only what a header declares.
pub fn function(stack: &Stack, id: FunctionId) -> CFunction {
    let function = &stack.program.functions[id.at()];
    let mut scope = Scope::new(stack, &function.locals);
    scope.pointers = true;
    let mut all = Vec::new();
    if needs_stack(stack, function) {
        all.push(format!("const struct {} *stack", stack.names.stack));
    }
    if needs_own(stack, function) {
        let name = scope.taken.take("self");
        all.push(format!("uint32_t {name}"));
        scope.own = Some(atom(name));
    }
    if let Some(header) = header_read(stack, function) {
        let name = scope.taken.take("header");
        all.push(format!("const uint8_t *{name}"));
        scope.headers.insert(header, atom(name));
    }
    for local in 0..function.parameters {
        let name = scope.name(LocalId(local));
        all.extend(parameters(stack, scope.kind(LocalId(local)), &name));
    }
    if let Some(message) = function.message {
        let name = scope.name(message);
        all.push(format!(
            "const struct {}_message *{name}",
            stack.names.stack
        ));
        scope.message = Some(message);
    }
    let body = function.body.as_ref().map(|body| {
        let mut code = Code::new(&mut scope, body, function.parameters);
        code.result = Some(&function.result);
        code.whole(body)
    });
    let storage = if body.is_some() { "static " } else { "extern " };
    CFunction {
        comment: stack.line_of(function.span),
        result: format!("{storage}{}", c_type(stack, &function.result)),
        name: stack.names.functions[id.at()].clone(),
        parameters: all,
        body: body.unwrap_or_default(),
    }
}

/// A filter as a C function over bytes.
pub fn filter(stack: &Stack, at: usize) -> CFunction {
    let filter = &stack.program.filters[at];
    let mut scope = Scope::new(stack, &filter.locals);
    let [data, length] = ["data", "length"].map(|name| scope.taken.take(name));
    let byte = if filter.rewrites {
        "uint8_t *"
    } else {
        "const uint8_t *"
    };
    let mut all = vec![format!("{byte}{data}"), format!("size_t {length}")];
    if filter_needs_stack(stack, filter) {
        all.insert(0, format!("const struct {} *stack", stack.names.stack));
    }
    for local in 0..filter.parameters {
        let name = scope.name(LocalId(local));
        all.extend(parameters(stack, scope.kind(LocalId(local)), &name));
    }
    let mut body = Vec::new();
    for (local, value) in &filter.state {
        body.extend(declare(&mut scope, *local, Some(value), false));
    }
    if filter.rewrites {
        body.push(S::Declare {
            kind: "uint8_t *".to_string(),
            name: "out".to_string(),
            value: Some(atom(&data)),
        });
    }
    body.extend(turns(&mut scope, filter, &data, &length));
    let mut code = Code::new(&mut scope, &filter.finish, filter.parameters);
    code.yields = filter.rewrites.then_some((filter.unit, filter.big));
    body.extend(code.block(&filter.finish));
    let result = match &filter.result {
        Some(value) => {
            body.push(S::Return(Some(scope.stored(value))));
            c_type(stack, &value.result)
        }
        None => "void".to_string(),
    };
    CFunction {
        comment: stack.line_of(filter.span),
        result: format!("static {result}"),
        name: stack.names.filters[at].clone(),
        parameters: all,
        body,
    }
}

/// The loop over whole words, and the last one, which zeros fill up.
fn turns(scope: &mut Scope, filter: &Filter, data: &str, length: &str) -> Vec<S> {
    let unit = filter.unit;
    let order = if filter.big { "big" } else { "little" };
    let word = scope.name(filter.word);
    let load = |at: &str| match unit {
        1 => atom(at).element(atom("0")),
        unit => call(format!("sl_load_{order}{}", 8 * unit), vec![atom(at)]),
    };
    let kind = format!("const {}", c_type(scope.stack, scope.kind(filter.word)));
    let turn = |scope: &mut Scope, at: &str| {
        let mut body = vec![S::Declare {
            kind: kind.clone(),
            name: word.clone(),
            value: Some(load(at)),
        }];
        let mut code = Code::new(scope, &filter.each, filter.parameters);
        code.yields = filter.rewrites.then_some((unit, filter.big));
        body.extend(code.block(&filter.each));
        body
    };
    let bytes = || atom(unit.to_string());
    let mut whole = turn(scope, data);
    whole.push(S::Assign(atom(data), "+=", bytes()));
    whole.push(S::Assign(atom(length), "-=", bytes()));
    let mut all = vec![S::While {
        condition: binary(">=", atom(length), bytes()),
        body: whole,
    }];
    if unit > 1 {
        let last = scope.taken.take("last");
        let mut rest = vec![
            S::Declare {
                kind: "uint8_t".to_string(),
                name: format!("{last}[{unit}]"),
                value: Some(atom("{0}")),
            },
            S::Do(call("memcpy", vec![atom(&last), atom(data), atom(length)])),
        ];
        rest.extend(turn(scope, &last));
        all.push(S::If {
            condition: binary("!=", atom(length), atom("0")),
            then: rest,
            otherwise: Vec::new(),
        });
    }
    all
}

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
        (Type::Bytes(_) | Type::Record(_) | Type::Message | Type::Array(..), None) => vec![None],
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
pub fn assign_to(scope: &Scope, variable: &Variable, value: &Expression) -> Vec<S> {
    let place = scope.place(variable);
    match (scope.variable_type(variable), &*value.kind) {
        (Type::Optional(_), kind) => {
            let has = scope.beside(variable, "has_", "");
            let flag = assign(has, scope.present(value));
            match kind {
                Kind::Constant(crate::types::value::Value::None) => vec![flag],
                _ => vec![flag, assign(place, scope.unwrapped(value))],
            }
        }
        (own, Kind::Binary(operator, a, b))
            if matches!(&*a.kind, Kind::Read(same) if same == variable) && whole(scope, &own) =>
        {
            use crate::types::expression::Binary;
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

/// Whether C's own arithmetic on a type is just that of the source.
fn whole(scope: &Scope, kind: &Type) -> bool {
    let width = super::layout::bits(scope.stack, kind);
    !matches!(kind, Type::Signed(_)) && matches!(width, Some(32 | 64))
}

/// Statements of a body, one block after the other.
struct Code<'a, 'b> {
    scope: &'b mut Scope<'a>,
    /// How often each local is bound.
    bound: BTreeMap<LocalId, u32>,
    /// Those that have been declared.
    declared: Vec<LocalId>,
    result: Option<&'a Type>,
    yields: Option<(u32, bool)>,
    depth: u32,
}

impl<'a, 'b> Code<'a, 'b> {
    fn new(scope: &'b mut Scope<'a>, body: &[Statement], parameters: u32) -> Code<'a, 'b> {
        let mut bound: BTreeMap<LocalId, u32> = (0..parameters).map(|n| (LocalId(n), 2)).collect();
        count_bindings(body, &mut bound);
        let declared = scope.names.keys().copied().collect();
        Code {
            scope,
            bound,
            declared,
            result: None,
            yields: None,
            depth: 0,
        }
    }

    /// A whole body; locals that several blocks bind are declared at its top.
    fn whole(&mut self, body: &'a [Statement]) -> Vec<S> {
        self.block(body)
    }

    fn block(&mut self, body: &[Statement]) -> Vec<S> {
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
        for (at, statement) in body.iter().enumerate() {
            match &statement.kind {
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
        if crate::c::tree::leaves(&other) {
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
                let label = |scope: &Scope, number: u64| {
                    scope.constant(&crate::types::value::Value::Number(number), &kind)
                };
                let value = self.scope.value(value);
                let cases = cases
                    .iter()
                    .map(|(number, _, body)| (vec![label(self.scope, *number)], self.block(body)))
                    .collect();
                let otherwise = self.block(otherwise);
                let otherwise = (!otherwise.is_empty()).then_some(otherwise);
                vec![S::Switch {
                    value,
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
            StatementKind::Yield(value) => self.yielded(value),
            StatementKind::Attempt { .. }
            | StatementKind::Require { .. }
            | StatementKind::Drain { .. }
            | StatementKind::Do(_)
            | StatementKind::Output(_)
            | StatementKind::Drop(..)
            | StatementKind::Consume(_)
            | StatementKind::Count(_)
            | StatementKind::StartTimer(..)
            | StatementKind::StopTimer(..)
            | StatementKind::End(..) => unreachable!("{NO_FUNCTION}"),
        }
    }

    fn bind(&mut self, local: LocalId, value: &Expression) -> Vec<S> {
        if self.declared.contains(&local) {
            return assign_to(self.scope, &Variable::Local(local), value);
        }
        let once = self.bound.get(&local).is_none_or(|times| *times == 1);
        if !once {
            self.declared.push(local);
        }
        declare(self.scope, local, Some(value), once)
    }

    fn returned(&self, value: &Expression) -> C {
        match self.result {
            Some(kind @ Type::Optional(_)) => C::Struct(
                c_type(self.scope.stack, kind),
                vec![
                    ("present".to_string(), self.scope.present(value)),
                    ("value".to_string(), self.scope.unwrapped(value)),
                ],
            ),
            _ => self.scope.stored(value),
        }
    }

    fn yielded(&mut self, value: &Expression) -> Vec<S> {
        let (unit, big) = self.yields.expect("only a filter that rewrites yields");
        let out = atom("out");
        let value = self.scope.stored(value);
        let order = if big { "big" } else { "little" };
        let store = match unit {
            1 => assign(out.clone().element(atom("0")), value),
            unit => S::Do(call(
                format!("sl_store_{order}{}", 8 * unit),
                vec![out.clone(), value],
            )),
        };
        vec![store, S::Assign(out, "+=", atom(unit.to_string()))]
    }

    fn turns(
        &mut self,
        local: LocalId,
        from: &Expression,
        to: &Expression,
        at_most: u32,
        body: &[Statement],
    ) -> Vec<S> {
        let kind = c_type(self.scope.stack, self.scope.kind(local));
        let from_text = crate::c::printer::expression(&self.scope.stored(from));
        let mut condition = {
            let end = self.scope.value(to);
            let name = self.scope.name(local);
            binary("<", atom(name), end)
        };
        let name = self.scope.name(local);
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

fn inner_blocks(statement: &Statement) -> Vec<&Block> {
    match &statement.kind {
        StatementKind::Require { otherwise, .. } | StatementKind::Attempt { otherwise, .. } => {
            vec![otherwise]
        }
        StatementKind::If {
            then, otherwise, ..
        } => vec![then, otherwise],
        StatementKind::Match {
            cases, otherwise, ..
        } => cases
            .iter()
            .map(|(_, _, body)| body)
            .chain([otherwise])
            .collect(),
        StatementKind::For { body, .. } => vec![body],
        _ => Vec::new(),
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
        inner_blocks(statement)
            .into_iter()
            .for_each(|block| count_bindings(block, bound));
    }
}

/// Locals that are bound in blocks within this one.
fn nested_bindings(body: &[Statement], nested: bool, found: &mut Vec<LocalId>) {
    for statement in body {
        if nested {
            found.extend(bound_by(statement));
        }
        for block in inner_blocks(statement) {
            nested_bindings(block, true, found);
        }
    }
}
