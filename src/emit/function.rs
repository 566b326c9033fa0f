//! Functions and filters: their checked bodies come in, C functions go out.

use super::Stack;
use super::code::{Code, Yield, declare};
use super::external::is_external;
use super::layout::{c_type, parameters};
use super::scope::Scope;
use super::step::{Step, step};
use super::walk;
use crate::c::tree::{Expression as C, Function as CFunction, Statement as S, atom, binary, call};
use crate::c::walk::is_named;
use crate::types::expression::{Expression, ExpressionKind as Kind, Instance, Query, Variable};
use crate::types::program::{Filter, FilterId, FunctionId, HeaderId, KindId, LocalId};
use crate::types::statement::{Block, Operation, Statement, StatementKind};
use crate::types::value::Type;

/// The fewest bytes that `sl_sum_round` adds in lanes of vectors.
const WIDE: u32 = 516;

/// A call of a function: the stack and the instance where it reads them, then what it is given.
pub fn call_of(scope: &Scope, id: FunctionId, arguments: &[Expression]) -> C {
    let stack = scope.stack;
    let function = &stack.program.functions[id.at()];
    if function.external {
        return super::external::call_of(scope, id, arguments);
    }
    let mut all = Vec::new();
    let reads = reads(stack, id);
    if reads.stack {
        all.push(atom("stack"));
    }
    let (arguments, own) = arguments.split_at(function.arguments().min(arguments.len()));
    if reads.own {
        let known = own.first().map(|own| scope.value(own));
        all.push(known.or(scope.own.clone()).unwrap_or_else(|| atom("0")));
    }
    if let Some(header) = reads.header {
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

/// A call of a function from outside of any instance, with what it is given.
pub fn call_with(stack: &Stack, id: FunctionId, given: Vec<C>) -> C {
    let before = reads(stack, id).stack.then(|| atom("stack"));
    let all = before.into_iter().chain(given).collect();
    call(&stack.names.functions[id.at()], all)
}

/// A filter run over bytes: where they begin and how many they are; of one that grows, where the
/// others go, and how many may.
pub fn filter_call(scope: &Scope, id: FilterId, bytes: Vec<C>, arguments: &[Expression]) -> C {
    let filter = &scope.stack.program.filters[id.at()];
    let mut all = bytes;
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
            StatementKind::Do(Operation::Call(function, list)) => {
                let called = Kind::Call(*function, list.clone());
                walk::each(&Expression::new(called, Type::Nothing), visit);
            }
            _ => (statement.values().into_iter()).for_each(|value| walk::each(value, visit)),
        }
        for inner in statement.blocks() {
            expressions(inner, visit);
        }
    }
}

/// Whether an expression reads what the stack holds, its parts left out.
fn reads_stack(stack: &Stack, part: &Expression) -> bool {
    match &*part.kind {
        Kind::Config(_)
        | Kind::Now
        | Kind::Signal(_)
        | Kind::Query(Query::Running(..) | Query::Exists(..))
        | Kind::Query(Query::Ended(..) | Query::GoesOn) => true,
        Kind::Key(instance, kind, key) => {
            let scope = Scope::new(stack, &[]);
            scope
                .constant_key(*instance, *kind, key.at(), &part.result)
                .is_none()
        }
        Kind::Call(id, _) => reads(stack, *id).stack,
        Kind::Through(id, ..) => filter_needs_stack(stack, &stack.program.filters[id.at()]),
        _ => walk::variable(part).is_some_and(|v| matches!(walk::base(v), Variable::Field(..))),
    }
}

/// Whether an expression, or a part of it, reads what the stack holds.
fn has_read_of_stack(stack: &Stack, expression: &Expression) -> bool {
    let mut found = false;
    walk::each(expression, &mut |part| found |= reads_stack(stack, part));
    found
}

fn any(block: Option<&Block>, holds: &dyn Fn(&Expression) -> bool) -> bool {
    let mut found = false;
    if let Some(block) = block {
        expressions(block, &mut |expression| found |= holds(expression));
    }
    found
}

/// What a function, or a function that it calls, reads beside its arguments. A function is called
/// by only those that stand behind it, but perhaps by many: so this is found once for each.
#[derive(Clone, Copy, Debug, Default)]
pub struct Reads {
    /// Whether it reads the stack, and is given it.
    stack: bool,
    /// Whether it hands a value that only C knows to a function of C, which may change it.
    changes_stack: bool,
    /// Whether it reads its instance, and is given its index.
    pub own: bool,
    /// The header that it reads.
    pub header: Option<HeaderId>,
}

/// What a function reads.
pub fn reads(stack: &Stack, id: FunctionId) -> Reads {
    *stack.function_reads[id.at()].get_or_init(|| {
        let function = &stack.program.functions[id.at()];
        let mut found = Reads {
            // C is given the application's own pointer, which the stack holds.
            stack: function.external && !function.in_runtime,
            ..Reads::default()
        };
        let owner = function.kind.filter(|kind| is_several(stack, *kind));
        if let Some(body) = &function.body {
            expressions(body, &mut |part| found.add(stack, owner.is_some(), part));
        }
        found
    })
}

impl Reads {
    /// Adds what an expression reads, its parts left out.
    fn add(&mut self, stack: &Stack, has_index: bool, part: &Expression) {
        self.stack |= reads_stack(stack, part);
        let is_own = |of: &Instance, kind: &KindId| {
            *of == Instance::Own && has_index && is_several(stack, *kind)
        };
        match &*part.kind {
            Kind::Header(header, _)
            | Kind::HeaderPresent(header, _)
            | Kind::OptionsHold(header) => self.header = Some(*header),
            Kind::Key(of, kind, _) | Kind::Query(Query::Running(of, kind, _)) => {
                self.own |= is_own(of, kind);
            }
            Kind::Call(id, arguments) => {
                let called = reads(stack, *id);
                let mut arguments = arguments.iter();
                self.changes_stack |=
                    called.changes_stack || arguments.any(|one| is_external(stack, &one.result));
                self.own |= has_index && called.own;
                self.header = self.header.or(called.header);
            }
            _ => {
                let base = walk::variable(part).map(walk::base);
                if let Some(Variable::Field(of, kind, _)) = base {
                    self.own |= is_own(of, kind);
                }
            }
        }
    }
}

fn is_several(stack: &Stack, kind: KindId) -> bool {
    stack.program.kinds[kind.at()].capacity > 1
}

/// Whether a filter reads what the stack holds.
pub fn filter_needs_stack(stack: &Stack, filter: &Filter) -> bool {
    let part = |part: &Expression| reads_stack(stack, part);
    let holds = |expression: &Expression| has_read_of_stack(stack, expression);
    any(Some(&filter.each), &part)
        || any(filter.tail.as_ref(), &part)
        || any(Some(&filter.finish), &part)
        || filter.result.as_ref().is_some_and(holds)
        || filter.state.iter().any(|(_, value)| holds(value))
}

/// A function of the source as one of C.
pub fn function(stack: &Stack, id: FunctionId) -> CFunction {
    let function = &stack.program.functions[id.at()];
    let mut scope = Scope::new(stack, &function.locals);
    scope.pointers = true;
    let mut all = Vec::new();
    let reads = reads(stack, id);
    if reads.stack {
        let kind = match reads.changes_stack {
            true => "struct",
            false => "const struct",
        };
        all.push(format!("{kind} {} *stack", stack.names.stack));
    }
    if reads.own {
        let name = scope.taken.take("self");
        all.push(format!("uint32_t {name}"));
        scope.own = Some(atom(name));
    }
    if let Some(header) = reads.header {
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
        code.block(body)
    });
    CFunction {
        comment: stack.line_of(function.span),
        result: format!("static {}", c_type(stack, &function.result)),
        name: stack.names.functions[id.at()].clone(),
        parameters: all,
        body: body.unwrap_or_default(),
    }
}

/// A filter as a C function over bytes.
pub fn filter(stack: &Stack, at: usize) -> CFunction {
    let filter = &stack.program.filters[at];
    let mut scope = Scope::new(stack, &filter.locals);
    let left = filter.measures.length.map_or("length", |_| "left");
    let [data, length] = ["data", left].map(|name| scope.taken.take(name));
    if filter.rewrites {
        for name in ["begin", "out", "room"] {
            scope.taken.take(name);
        }
    }
    let mut parameters = bytes_of(stack, filter, &data, &length);
    for local in 0..filter.parameters {
        parameters.extend(parameter(&mut scope, LocalId(local)));
    }
    let mut body = begun(&mut scope, filter, atom(&length));
    let pointer = |kind: &str, name: &str, to: &str| S::Declare {
        kind: kind.to_string(),
        name: name.to_string(),
        value: Some(atom(to)),
    };
    if filter.grows {
        body.push(pointer("const uint8_t *const", "begin", "out"));
    } else if filter.rewrites {
        if !filter.keeps_length {
            body.push(pointer("const uint8_t *const", "begin", &data));
        }
        body.push(pointer("uint8_t *", "out", &data));
    }
    body.extend(to_the_end(&mut scope, filter, &data, &length));
    CFunction {
        comment: stack.line_of(filter.span),
        result: format!("static {}", result_of(stack, filter)),
        name: stack.names.filters[at].clone(),
        parameters,
        body,
    }
}

/// The same from some state on: what is given is that state, behind the parameters that are read
/// later than at the beginning.
pub fn filter_on(stack: &Stack, at: usize) -> CFunction {
    let filter = &stack.program.filters[at];
    let mut scope = Scope::new(stack, &filter.locals);
    let [data, length] = ["data", "length"].map(|name| scope.taken.take(name));
    let mut all = bytes_of(stack, filter, &data, &length);
    for local in read_later(filter) {
        all.extend(parameter(&mut scope, local));
    }
    for (local, _) in &filter.state {
        all.extend(parameter(&mut scope, *local));
    }
    let body = match filter.rewrites || filter.measures.length.is_some() {
        true => Vec::new(),
        false => to_the_end(&mut scope, filter, &data, &length),
    };
    CFunction {
        comment: "The same, from a state on.".to_string(),
        result: format!("static inline {}", result_of(stack, filter)),
        name: stack.names.filters_on[at].clone(),
        parameters: all,
        body,
    }
}

/// The same over runs of bytes, which are read as one.
pub fn filter_over(stack: &Stack, at: usize) -> CFunction {
    let filter = &stack.program.filters[at];
    let mut scope = Scope::new(stack, &filter.locals);
    let [runs, count, left, place] =
        ["runs", "run_count", "left", "at"].map(|name| scope.taken.take(name));
    let mut all = vec![
        format!("const struct sl_run *{runs}"),
        format!("size_t {count}"),
    ];
    if filter_needs_stack(stack, filter) {
        all.insert(0, format!("const struct {} *stack", stack.names.stack));
    }
    for local in 0..filter.parameters {
        all.extend(parameter(&mut scope, LocalId(local)));
    }
    let begin = [("next", &runs), ("count", &count)];
    let begin = begin.map(|(name, value)| (name.to_string(), atom(value)));
    let mut body = vec![S::Declare {
        kind: "struct sl_runs".to_string(),
        name: left.clone(),
        value: Some(C::Struct("struct sl_runs".to_string(), begin.to_vec())),
    }];
    let length = call("sl_runs_length", vec![atom(&runs), atom(&count)]);
    body.extend(begun(&mut scope, filter, length));
    body.extend(no_words(&mut scope, filter));
    let word = scope.name(filter.word);
    let missing = atom(&left).member("missing").cast("uint32_t");
    let next = format!("{place} = sl_runs_word(&{left}, {})", filter.unit);
    body.push(S::For {
        start: format!("const uint8_t *{next}"),
        condition: binary("!=", atom(&place), atom("NULL")),
        step: next,
        body: turn(
            &mut scope,
            filter,
            &word,
            (loaded(filter, &place), missing, None),
        ),
    });
    body.extend(behind(&mut scope, filter));
    CFunction {
        comment: "The same over runs of bytes, which are read as one.".to_string(),
        result: format!("static {}", result_of(stack, filter)),
        name: stack.names.filters_over[at].clone(),
        parameters: all,
        body: if filter.rewrites { Vec::new() } else { body },
    }
}

/// Returns the declarations of a filter's `length`, if the filter reads it, and of its state.
fn begun(scope: &mut Scope, filter: &Filter, length: C) -> Vec<S> {
    let read = filter.measures.length;
    let read = read.map(|local| S::Declare {
        kind: "const uint32_t".to_string(),
        name: scope.name(local),
        value: Some(length.cast("uint32_t")),
    });
    let mut body = Vec::from_iter(read);
    for (local, value) in &filter.state {
        body.extend(declare(scope, *local, Some(value), false));
    }
    body
}

/// Returns the declaration of a filter's `place`, which starts at 0, if the filter reads it.
fn no_words(scope: &mut Scope, filter: &Filter) -> Option<S> {
    filter.measures.place.map(|local| S::Declare {
        kind: "uint32_t".to_string(),
        name: scope.name(local),
        value: Some(atom("0")),
    })
}

fn bytes_of(stack: &Stack, filter: &Filter, data: &str, length: &str) -> Vec<String> {
    let byte = if filter.rewrites && !filter.grows {
        "uint8_t *"
    } else {
        "const uint8_t *"
    };
    let bytes = [format!("{byte}{data}"), format!("size_t {length}")];
    let own = filter_needs_stack(stack, filter);
    let own = own.then(|| format!("const struct {} *stack", stack.names.stack));
    let mut all: Vec<String> = own.into_iter().chain(bytes).collect();
    if filter.grows {
        all.extend(["uint8_t *out".to_string(), "size_t room".to_string()]);
    }
    all
}

fn parameter(scope: &mut Scope, local: LocalId) -> Vec<String> {
    let name = scope.name(local);
    parameters(scope.stack, scope.kind(local), &name)
}

fn result_of(stack: &Stack, filter: &Filter) -> String {
    match &filter.result {
        Some(value) => c_type(stack, &value.result),
        None if filter.keeps_length => "void".to_string(),
        None => "size_t".to_string(),
    }
}

/// The parameters of a filter that are read after its beginning.
pub fn read_later(filter: &Filter) -> Vec<LocalId> {
    let parameters = (0..filter.parameters).map(LocalId);
    parameters
        .filter(|local| reads_local(filter, *local))
        .collect()
}

/// Returns true if any part of a filter behind its initial state reads a local.
fn reads_local(filter: &Filter, local: LocalId) -> bool {
    let reads = |expression: &Expression| {
        let base = walk::variable(expression).map(walk::base);
        matches!(base, Some(Variable::Local(read)) if *read == local)
    };
    let mut result = false;
    if let Some(value) = &filter.result {
        walk::each(value, &mut |part| result |= reads(part));
    }
    let tail = filter.tail.as_ref();
    result
        || any(Some(&filter.each), &reads)
        || any(tail, &reads)
        || any(Some(&filter.finish), &reads)
}

/// What is done with all words, and behind them.
fn to_the_end(scope: &mut Scope, filter: &Filter, data: &str, length: &str) -> Vec<S> {
    let mut body = turns(scope, filter, data, length);
    body.extend(behind(scope, filter));
    if !reads_local(filter, filter.word) {
        // Clang does not count `data += n` as a use of the parameter `data`.
        body.insert(0, S::Do(atom(data).cast("void")));
    }
    body
}

/// What is done behind all words.
fn behind(scope: &mut Scope, filter: &Filter) -> Vec<S> {
    let mut code = Code::new(scope, &filter.finish, filter.parameters);
    code.yields = yields(filter, None);
    let mut body = code.block(&filter.finish);
    if let Some(value) = &filter.result {
        body.push(S::Return(Some(scope.stored(value))));
    } else if !filter.keeps_length {
        let bytes = binary("-", atom("out"), atom("begin"));
        body.push(S::Return(Some(bytes.cast("size_t"))));
    }
    body
}

/// How a filter yields its words.
fn yields(filter: &Filter, last: Option<(String, String)>) -> Option<Yield> {
    filter.rewrites.then_some(Yield {
        unit: filter.unit,
        big: filter.big,
        grows: filter.grows,
        last,
    })
}

/// The loop over whole words, and the last one, which zeros fill up, where it may be incomplete.
fn turns(scope: &mut Scope, filter: &Filter, data: &str, length: &str) -> Vec<S> {
    if let Some(Step::Round(state)) = step(filter) {
        let state = atom(scope.known(state));
        let given = vec![atom(data), atom(length), state.clone()];
        let sum = match scope.stack.memory().buffer() < WIDE {
            true => "sl_sum_words",
            false => "sl_sum_round",
        };
        return vec![S::Assign(state, "=", call(sum, given))];
    }
    let unit = filter.unit;
    let word = scope.name(filter.word);
    let bytes = || atom(unit.to_string());
    let mut all = Vec::from_iter(no_words(scope, filter));
    let mut whole = turn(
        scope,
        filter,
        &word,
        (loaded(filter, data), atom("0"), None),
    );
    whole.push(S::Assign(atom(data), "+=", bytes()));
    whole.push(S::Assign(atom(length), "-=", bytes()));
    all.push(S::While {
        condition: binary(">=", atom(length), bytes()),
        body: whole,
    });
    let missing = binary("-", bytes(), atom(length).cast("uint32_t"));
    if unit > 1 && !filter.rewrites {
        let mut given = vec![atom(data), atom(length)];
        given.extend(filter.big.then(bytes));
        let filled = call(format!("sl_last_{}", order(filter)), given);
        let filled = match unit {
            8 => filled,
            _ => filled.cast(c_type(scope.stack, scope.kind(filter.word))),
        };
        all.push(S::If {
            condition: binary("!=", atom(length), atom("0")),
            then: turn(scope, filter, &word, (filled, missing, None)),
            otherwise: Vec::new(),
        });
    } else if unit > 1 && !filter.whole {
        let last = scope.taken.take("last");
        let mut rest = vec![
            S::Declare {
                kind: "uint8_t".to_string(),
                name: format!("{last}[{unit}]"),
                value: Some(atom("{0}")),
            },
            S::Do(call("memcpy", vec![atom(&last), atom(data), atom(length)])),
        ];
        let given = Some((last.clone(), length.to_string()));
        let found = (loaded(filter, &last), missing, given);
        rest.extend(turn(scope, filter, &word, found));
        all.push(S::If {
            condition: binary("!=", atom(length), atom("0")),
            then: rest,
            otherwise: Vec::new(),
        });
    }
    all
}

fn order(filter: &Filter) -> &'static str {
    if filter.big { "big" } else { "little" }
}

/// The word that stands at a place.
fn loaded(filter: &Filter, at: &str) -> C {
    match filter.unit {
        1 => atom(at).element(atom("0")),
        unit => call(
            format!("sl_load_{}{}", order(filter), 8 * unit),
            vec![atom(at)],
        ),
    }
}

/// Returns the C statements that process one word of a filter. `loaded` is the value of the word,
/// and `missing` how many of its bytes are absent. For an incomplete word that the filter yields,
/// `last` is where its bytes go, and how many there are.
fn turn(
    scope: &mut Scope,
    filter: &Filter,
    word: &str,
    (loaded, missing, last): (C, C, Option<(String, String)>),
) -> Vec<S> {
    // The statements of each word are a C block of their own, so names are free again behind it.
    let around = (scope.names.clone(), scope.taken.clone());
    let kind = c_type(scope.stack, scope.kind(filter.word));
    let mut known = Vec::from_iter(filter.measures.missing.map(|local| {
        let name = scope.name(local);
        ("uint32_t".to_string(), name, missing)
    }));
    known.push((kind, word.to_string(), loaded));
    let tail = filter.tail.as_ref().filter(|_| last.is_some());
    let done = tail.unwrap_or(&filter.each);
    let mut code = Code::new(scope, done, filter.parameters);
    code.yields = yields(filter, last);
    let mut body = code.block(done);
    for (kind, name, value) in known {
        if is_named(&name, &body) {
            let declare = S::Declare {
                kind: format!("const {kind}"),
                name,
                value: Some(value),
            };
            body.insert(0, declare);
        }
    }
    if let Some(place) = filter.measures.place {
        body.push(S::Assign(atom(scope.known(place)), "+=", atom("1")));
    }
    (scope.names, scope.taken) = around;
    body
}
