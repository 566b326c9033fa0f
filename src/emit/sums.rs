//! Sums of headers: the function that computes each, and how it is called.
//!
//! In: the `checks` fields of all headers. Out: their functions, which read the field itself as
//! zero, or as it stands where their filter says what that gives, and the calls of them.

use super::Stack;
use super::bits::{advanced, load_bytes};
use super::code::declare;
use super::constant::number_text;
use super::function;
use super::layout::c_type;
use super::names::c_name;
use super::scope::Scope;
use super::step::{Step, step};
use super::wire::{length_of, less, load, start, store};
use crate::c::tree::{
    Expression as C, Function, Statement, assign, atom, binary, call, conditional,
};
use crate::types::expression::Expression;
use crate::types::header::{Header, HeaderField, Ranges, Rule, Run};
use crate::types::program::{Filter, HeaderFieldId, HeaderId, LocalId};
use crate::types::value::Type;

/// The name of the function that computes a sum.
fn sum_name(stack: &Stack, id: HeaderId, field: usize) -> String {
    stack.names.sums[&(id, HeaderFieldId(field as u32))].clone()
}

/// Computes the sum of a `checks` field of a header that begins at `scope.headers[id]` and whose
/// message is what lies behind it.
pub fn sum_call(
    scope: &mut Scope,
    id: HeaderId,
    field: HeaderFieldId,
    message: LocalId,
    arguments: &[Expression],
) -> C {
    let stack = scope.stack;
    let header = &stack.program.headers[id.at()];
    let Rule::Checks { ranges, filter, .. } = &header.fields[field.at()].rule else {
        unreachable!("only sums are summed");
    };
    let base = scope
        .headers
        .get(&id)
        .expect("the header of a sum is there")
        .clone();
    let data = scope.of_message(message, "data");
    let length = scope.of_message(message, "length");
    let pushed = base == data;
    let whole = if pushed {
        length.clone()
    } else {
        let behind = binary("-", data.clone(), base.clone()).cast("uint32_t");
        binary("+", behind, length.clone())
    };
    let size = match pushed {
        true => scope.header_size.clone().expect("its size is known"),
        false => binary("-", data.clone(), base.clone()).cast("size_t"),
    };
    let of_data = match pushed {
        true => binary("-", length, size.clone()),
        false => length,
    };
    let mut all = match ranges.0[..] {
        [run] => {
            let all = (whole.clone(), size, of_data.clone());
            of_one_run(scope, id, run, (base, data, pushed), all)
        }
        _ => {
            let needed = [
                (needs_size(header, ranges), size),
                (ranges.has_data(), of_data.clone()),
            ];
            let needed = needed.into_iter().filter(|(needed, _)| *needed);
            let sizes = needed.map(|(_, size)| size);
            std::iter::once(base).chain(sizes).collect()
        }
    };
    scope.lengths = Some((whole, of_data));
    scope.message = Some(message);
    let filter = &stack.program.filters[filter.at()];
    if function::filter_needs_stack(stack, filter) {
        all.insert(0, atom("stack"));
    }
    all.extend(
        arguments
            .iter()
            .flat_map(|argument| scope.arguments(argument)),
    );
    scope.lengths = None;
    call(sum_name(stack, id, field.at()), all)
}

/// Where a single run is looked for, and how many bytes it has.
fn of_one_run(
    scope: &Scope,
    id: HeaderId,
    run: Run,
    (base, data, pushed): (C, C, bool),
    (whole, size, of_data): (C, C, C),
) -> Vec<C> {
    match run {
        Run::HeaderAndData => vec![base, whole],
        Run::Header => vec![base, size],
        Run::Data if pushed => vec![binary("+", data, size), of_data],
        Run::Data => vec![data, of_data],
        Run::Between(from, to) => {
            let bytes = between(scope, id, (from, to), &base);
            vec![base, bytes]
        }
        Run::From(from) => {
            let bytes = less(whole, before(scope, id, from, &base));
            vec![base, bytes]
        }
    }
}

/// Whether where a run of some ranges is depends on how long the header is.
fn needs_size(header: &Header, ranges: &Ranges) -> bool {
    ranges.0.iter().any(|run| match run {
        Run::Header | Run::Data | Run::HeaderAndData | Run::From(_) => true,
        Run::Between(_, to) => header.fields[to.at()].kind == Type::Nothing,
    })
}

/// Bytes of a header before one of its fields.
fn before(scope: &Scope, id: HeaderId, field: HeaderFieldId, base: &C) -> C {
    let field = &scope.stack.program.headers[id.at()].fields[field.at()];
    match field.behind.is_empty() {
        true => atom((field.bit / 8).to_string()),
        false => binary("-", start(scope, id, field, base), base.clone()).cast("size_t"),
    }
}

/// Bytes from one field of a header to another.
fn between(scope: &Scope, id: HeaderId, (from, to): (HeaderFieldId, HeaderFieldId), base: &C) -> C {
    let header = &scope.stack.program.headers[id.at()];
    let (first, last) = (&header.fields[from.at()], &header.fields[to.at()]);
    let loose = length_of(scope, id, to);
    if let Some(size) = scope
        .header_size
        .clone()
        .filter(|_| last.kind == Type::Nothing)
    {
        let end = match header.options {
            Some(_) => binary("+", base.clone(), size),
            None => start(scope, id, last, base),
        };
        return binary("-", end, start(scope, id, first, base)).cast("size_t");
    }
    if last.behind.is_empty() && loose.is_none() {
        return atom(((last.bit + last.width) / 8 - first.bit / 8).to_string());
    }
    let length = loose.unwrap_or_else(|| atom((last.width / 8).to_string()));
    let end = binary("+", start(scope, id, last, base), length);
    binary("-", end, start(scope, id, first, base)).cast("size_t")
}

/// The functions that compute the sums of all headers.
pub fn sum_functions(stack: &Stack) -> Vec<Function> {
    let mut functions = Vec::new();
    for (id, header) in stack.program.headers.iter().enumerate() {
        for (at, field) in header.fields.iter().enumerate() {
            if let Rule::Checks { ranges, .. } = &field.rule {
                let id = HeaderId(id as u32);
                let known = straight_sum(stack, id, at).or_else(|| short_sum(stack, id, at));
                functions.push(known.unwrap_or_else(|| match ranges.0[..] {
                    [run] => sum_function(stack, (header, id, at), run),
                    _ => sum_of_runs(stack, (header, id, at)),
                }));
            }
        }
    }
    functions
}

/// Words of a header that are summed one by one; longer headers have a loop.
const STRAIGHT_WORDS: u32 = 16;

/// Whether a sum is computed word by word, so that its own field need not be written before.
pub fn is_straight(stack: &Stack, id: HeaderId, at: usize) -> bool {
    straight_sum(stack, id, at).is_some()
}

/// The words of a header that are always there stand one by one, without the field itself; a loop
/// follows for all others, if there are any.
fn straight_sum(stack: &Stack, id: HeaderId, at: usize) -> Option<Function> {
    let header = &stack.program.headers[id.at()];
    let field = &header.fields[at];
    let Rule::Checks {
        ranges,
        filter,
        unless,
        ..
    } = &field.rule
    else {
        return None;
    };
    let own = &stack.program.filters[filter.at()];
    let step = step(own)?;
    let (from, bytes) = always_there(header, ranges)?;
    let (words, unit) = (bytes / own.unit, own.unit);
    let left_out = header.over_itself(at, own).is_none() && is_left_out(field, from + words * unit);
    if !left_out || words > STRAIGHT_WORDS {
        return None;
    }
    let mut scope = Scope::new(stack, &own.locals);
    let [place, length] = ["header", "length"].map(|name| scope.taken.take(name));
    let mut all = vec![
        format!("const uint8_t *{place}"),
        format!("size_t {length}"),
    ];
    let mut on = Vec::new();
    if function::filter_needs_stack(stack, own) {
        all.insert(0, format!("const struct {} *stack", stack.names.stack));
        on.push(atom("stack"));
    }
    for local in (0..own.parameters).map(LocalId) {
        let name = scope.name(local);
        all.extend(super::layout::parameters(stack, scope.kind(local), &name));
    }
    let mut body = Vec::new();
    for (local, value) in &own.state {
        body.extend(declare(&mut scope, *local, Some(value), false));
    }
    for first in (0..words).map(|word| from + word * unit) {
        let (load, _) = load_bytes(own.big, advanced(&atom(&place), first), unit);
        let word = match kept(own, field, first) {
            0 => continue,
            mask if mask == mask_of(8 * unit) => load,
            mask => binary("&", load, atom(format!("{mask:#x}"))),
        };
        body.push(step.of(&scope, word));
    }
    let plain = ranges.0 == [Run::Header] && unless.is_none();
    let fixed = || atom((words * unit).to_string());
    let short = plain.then(|| alone(&scope, own, binary("==", atom(&length), fixed())));
    body.extend(short.flatten());
    on.push(advanced(&atom(&place), from + words * unit));
    on.push(binary("-", atom(&length), fixed()));
    let given = function::read_later(own).into_iter();
    let given = given.chain(own.state.iter().map(|(local, _)| *local));
    on.extend(given.map(|local| atom(scope.known(local))));
    let name = stack.names.filters_on[filter.at()].clone();
    let (sum, kind) = (call(name, on), c_type(stack, &field.kind));
    body.extend(returned(&mut scope, field, (sum, &kind), *unless));
    Some(Function {
        comment: comment(stack, header, at, *unless),
        result: format!("static inline {kind}"),
        name: sum_name(stack, id, at),
        parameters: all,
        body,
    })
}

/// A sum over the field itself, as it stands. Of a header without more than is always there the
/// words stand one by one.
fn short_sum(stack: &Stack, id: HeaderId, at: usize) -> Option<Function> {
    let header = &stack.program.headers[id.at()];
    let field = &header.fields[at];
    let Rule::Checks {
        ranges,
        filter,
        unless,
        ..
    } = &field.rule
    else {
        return None;
    };
    let own = &stack.program.filters[filter.at()];
    header.over_itself(at, own)?;
    let whole = matches!(ranges.0[..], [Run::Header | Run::HeaderAndData]);
    if !whole {
        return None;
    }
    let mut scope = Scope::new(stack, &own.locals);
    let [place, length] = ["header", "length"].map(|name| scope.taken.take(name));
    let mut all = vec![
        format!("const uint8_t *{place}"),
        format!("size_t {length}"),
    ];
    let mut given = vec![atom(&place), atom(&length)];
    if function::filter_needs_stack(stack, own) {
        all.insert(0, format!("const struct {} *stack", stack.names.stack));
        given.insert(0, atom("stack"));
    }
    for local in (0..own.parameters).map(LocalId) {
        let name = scope.name(local);
        all.extend(super::layout::parameters(stack, scope.kind(local), &name));
        given.push(atom(name));
    }
    let name = function::filter_name(stack, own);
    let (sum, kind) = (call(name, given), c_type(stack, &field.kind));
    let short = straight_words(&mut scope, own, (&place, header.least));
    let mut body = Vec::new();
    if let Some(then) = short.filter(|_| unless.is_none()) {
        let condition = binary("==", atom(&length), atom(header.least.to_string()));
        let otherwise = Vec::new();
        body.push(Statement::If {
            condition,
            then,
            otherwise,
        });
    }
    body.extend(returned(&mut scope, field, (sum, &kind), *unless));
    Some(Function {
        comment: comment(stack, header, at, *unless),
        result: format!("static inline {kind}"),
        name: sum_name(stack, id, at),
        parameters: all,
        body,
    })
}

/// The words of so many bytes, summed one by one.
fn straight_words(
    scope: &mut Scope,
    filter: &Filter,
    (place, bytes): (&str, u32),
) -> Option<Vec<Statement>> {
    let step = step(filter).filter(|step| matches!(step, Step::Round(_)))?;
    let result = filter
        .result
        .as_ref()
        .filter(|_| filter.finish.is_empty())?;
    if bytes.div_ceil(filter.unit) > STRAIGHT_WORDS {
        return None;
    }
    let mut body = Vec::new();
    for (local, value) in &filter.state {
        body.extend(declare(scope, *local, Some(value), false));
    }
    for first in (0..bytes).step_by(filter.unit as usize) {
        let there = filter.unit.min(bytes - first);
        let (load, _) = load_bytes(filter.big, advanced(&atom(place), first), there);
        body.push(step.of(scope, load));
    }
    body.push(Statement::Return(Some(scope.stored(result))));
    Some(body)
}

/// A header without more than is always there needs no loop.
fn alone(scope: &Scope, filter: &Filter, is_alone: C) -> Option<Statement> {
    let result = filter
        .result
        .as_ref()
        .filter(|_| filter.finish.is_empty())?;
    Some(Statement::If {
        condition: is_alone,
        then: vec![Statement::Return(Some(scope.stored(result)))],
        otherwise: Vec::new(),
    })
}

/// Gives a sum, or what stands for it.
fn returned(
    scope: &mut Scope,
    field: &HeaderField,
    (sum, kind): (C, &str),
    unless: Option<u64>,
) -> Vec<Statement> {
    let Some(unless) = unless else {
        return vec![Statement::Return(Some(sum))];
    };
    let name = scope.taken.take(&field.name);
    let given = turned(&name, field, unless);
    let declare = Statement::Declare {
        kind: format!("const {kind}"),
        name,
        value: Some(sum),
    };
    vec![declare, Statement::Return(Some(given))]
}

/// Whether a field has whole bytes, always at one place, before the last of these bytes.
fn is_left_out(field: &HeaderField, bytes: u32) -> bool {
    let always = field.present.is_none() && field.behind.is_empty();
    let whole = field.bit.is_multiple_of(8) && field.width.is_multiple_of(8);
    always && whole && field.bit + field.width <= 8 * bytes
}

/// Where what is summed begins, and how many of its bytes are always there, in the header itself.
fn always_there(header: &Header, ranges: &Ranges) -> Option<(u32, u32)> {
    let [run] = ranges.0[..] else {
        return None;
    };
    match run {
        Run::Between(from, to) => {
            let (from, to) = (&header.fields[from.at()], &header.fields[to.at()]);
            let bytes = (to.bit + to.width) / 8 - from.bit / 8;
            from.behind.is_empty().then_some((from.bit / 8, bytes))
        }
        Run::From(from) => {
            let from = &header.fields[from.at()];
            let first = from.bit / 8;
            from.behind
                .is_empty()
                .then_some((first, header.least - first))
        }
        Run::Header | Run::HeaderAndData => Some((0, header.least)),
        Run::Data => None,
    }
}

fn mask_of(bits: u32) -> u64 {
    u64::MAX >> (64 - bits)
}

/// Which bits of the word that begins at a byte are not of a field.
fn kept(filter: &Filter, field: &HeaderField, first: u32) -> u64 {
    let bytes = (0..filter.unit).filter(|byte| {
        let bit = 8 * (first + byte);
        !(field.bit..field.bit + field.width).contains(&bit)
    });
    let moved = bytes.map(|byte| match filter.big {
        true => 0xff << (8 * (filter.unit - 1 - byte)),
        false => 0xff << (8 * byte),
    });
    moved.fold(0, |all, byte: u64| all | byte)
}

fn sum_function(stack: &Stack, place: (&Header, HeaderId, usize), run: Run) -> Function {
    let (header, id, at) = place;
    let mut scope = Scope::new(stack, &[]);
    scope.headers.insert(id, atom("header"));
    let (from, inside) = summed(&scope, (id, at), run);
    let bytes = ["uint8_t *header", "size_t length"].map(str::to_string);
    let given = vec![from, atom("length")];
    let filter = filter_of(stack, &header.fields[at]);
    let name = function::filter_name(stack, filter);
    summing(
        &scope,
        place,
        (bytes.to_vec(), Vec::new()),
        inside,
        (name, given),
    )
}

/// A sum over several runs, which a filter reads as one.
fn sum_of_runs(stack: &Stack, place: (&Header, HeaderId, usize)) -> Function {
    let (header, id, at) = place;
    let Rule::Checks { ranges, filter, .. } = &header.fields[at].rule else {
        unreachable!("only sums are summed");
    };
    let mut scope = Scope::new(stack, &[]);
    scope.headers.insert(id, atom("header"));
    scope.header_size = Some(atom("size"));
    let base = atom("header");
    let mut bytes = vec!["uint8_t *header".to_string()];
    let sizes = [
        (needs_size(header, ranges), "size_t size"),
        (ranges.has_data(), "size_t length"),
    ];
    let needed = sizes.iter().filter(|(needed, _)| *needed);
    bytes.extend(needed.map(|(_, size)| size.to_string()));
    let count = ranges.0.len();
    let mut first = vec![Statement::Declare {
        kind: "struct sl_run".to_string(),
        name: format!("runs[{count}]"),
        value: None,
    }];
    for (place, run) in ranges.0.iter().enumerate() {
        let (size, length) = (|| atom("size"), || atom("length"));
        let (data, length) = match *run {
            Run::Header => (base.clone(), size()),
            Run::Data => (binary("+", base.clone(), size()), length()),
            Run::HeaderAndData => (base.clone(), binary("+", size(), length())),
            Run::Between(from, to) => (
                start(&scope, id, &header.fields[from.at()], &base),
                between(&scope, id, (from, to), &base),
            ),
            Run::From(from) => {
                let rest = less(size(), before(&scope, id, from, &base));
                let from = start(&scope, id, &header.fields[from.at()], &base);
                (from, binary("+", rest, length()))
            }
        };
        let run = vec![("data".to_string(), data), ("length".to_string(), length)];
        let place = atom("runs").element(atom(place.to_string()));
        first.push(assign(place, C::Struct("struct sl_run".to_string(), run)));
    }
    let given = vec![atom("runs"), atom(count.to_string())];
    let name = stack.names.filters_over[filter.at()].clone();
    let inside = ranges.covers(at);
    summing(&scope, place, (bytes, first), inside, (name, given))
}

fn filter_of<'a>(stack: &Stack<'a>, field: &HeaderField) -> &'a Filter {
    let Rule::Checks { filter, .. } = &field.rule else {
        unreachable!("only sums are summed");
    };
    &stack.program.filters[filter.at()]
}

/// A function that gives a sum: of these parameters, with these first statements, by a function of
/// these bytes; `inside` if its own field is among them, which is zero meanwhile.
fn summing(
    scope: &Scope,
    (header, id, at): (&Header, HeaderId, usize),
    (mut parameters, mut body): (Vec<String>, Vec<Statement>),
    inside: bool,
    (name, mut given): (String, Vec<C>),
) -> Function {
    let stack = scope.stack;
    let field = &header.fields[at];
    let filter = filter_of(stack, field);
    let unless = match field.rule {
        Rule::Checks { unless, .. } => unless,
        Rule::Given | Rule::Default(_) | Rule::Is(_) | Rule::Counts { .. } => None,
    };
    let kind = c_type(stack, &field.kind);
    if function::filter_needs_stack(stack, filter) {
        parameters.insert(0, format!("const struct {} *stack", stack.names.stack));
        given.insert(0, atom("stack"));
    }
    for local in &filter.locals[..filter.parameters as usize] {
        let name = c_name(&local.name);
        let name = match name.as_str() {
            "header" | "length" | "size" | "runs" | "was" | "sum" => format!("{name}_"),
            _ => name,
        };
        parameters.extend(super::layout::parameters(stack, &local.kind, &name));
        given.push(atom(name));
    }
    let declare = |name: &str, value| Statement::Declare {
        kind: format!("const {kind}"),
        name: name.to_string(),
        value: Some(value),
    };
    let sum = call(name, given);
    let result = match unless {
        Some(unless) => turned("sum", field, unless),
        None => atom("sum"),
    };
    if inside {
        let place = atom("header");
        let was = load(scope, id, HeaderFieldId(at as u32), &place).c;
        let written = |value: &str| {
            let at = start(scope, id, field, &place);
            store(scope, header, at, &[(field, atom(value))])
        };
        body.push(declare("was", was));
        body.extend(written("0"));
        body.push(declare("sum", sum));
        body.extend(written("was"));
        body.push(Statement::Return(Some(result)));
    } else if unless.is_some() {
        body.extend([declare("sum", sum), Statement::Return(Some(result))]);
    } else {
        body.push(Statement::Return(Some(sum)));
    }
    Function {
        comment: comment(stack, header, at, unless),
        result: format!("static {kind}"),
        name: sum_name(stack, id, at),
        parameters,
        body,
    }
}

/// Where a sum begins, and whether its own field is in it.
fn summed(scope: &Scope, (id, at): (HeaderId, usize), run: Run) -> (C, bool) {
    let base = atom("header");
    let first = match run {
        Run::Between(from, _) | Run::From(from) => {
            let first = &scope.stack.program.headers[id.at()].fields[from.at()];
            start(scope, id, first, &base)
        }
        Run::Header | Run::HeaderAndData | Run::Data => base,
    };
    let header = &scope.stack.program.headers[id.at()];
    let filter = filter_of(scope.stack, &header.fields[at]);
    let stands = header.over_itself(at, filter).is_some();
    (first, run.covers(at) && !stands)
}

fn comment(stack: &Stack, header: &Header, at: usize, unless: Option<u64>) -> String {
    let field = &header.fields[at];
    let sum = format!("The {} of a header of {}", field.name, header.name);
    let read = match header.over_itself(at, filter_of(stack, field)) {
        Some(is) => format!("{sum}: {} over a right one", number_text(is)),
        None => format!("{sum}, itself read as zero"),
    };
    match unless {
        Some(unless) => format!("{read}; {} says that there is none.", number_text(unless)),
        None => format!("{read}."),
    }
}

/// A sum that would say that nothing was summed is turned into its complement.
fn turned(sum: &str, field: &HeaderField, unless: u64) -> C {
    let ones = u64::MAX >> (64 - field.width);
    conditional(
        binary("==", atom(sum), atom(number_text(unless))),
        atom(number_text(!unless & ones)),
        atom(sum),
    )
}
