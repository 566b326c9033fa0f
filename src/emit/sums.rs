//! Sums of headers: the function that computes each, and how it is called; those whose words stand
//! one by one are of [`super::straight`].
//!
//! In: the `checks` fields of all headers. Out: their functions, which read the field itself as
//! zero, or as it stands where their filter says what that gives, and the calls of them.

use super::Stack;
use super::constant::number_text;
use super::function;
use super::layout::c_type;
use super::names::c_name;
use super::scope::Scope;
use super::straight;
use super::wire::{add_bits, clear_bits, fills_bytes, length_of, less, load, start, store};
use crate::c::tree::{
    Expression as C, Function, Statement, assign, atom, binary, call, conditional,
};
use crate::types::expression::Expression;
use crate::types::header::{Header, HeaderField, Ranges, Rule, Run};
use crate::types::program::{Filter, HeaderFieldId, HeaderId, LocalId};
use crate::types::value::Type;

/// The name of the function that computes a sum.
pub fn sum_name(stack: &Stack, id: HeaderId, field: usize) -> String {
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
        Run::Between(_, to) => header.fields[to.at()].kind == Type::UnboundedBytes,
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
        .filter(|_| last.kind == Type::UnboundedBytes)
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
                let known = straight::function_of(stack, id, at);
                functions.push(known.unwrap_or_else(|| match ranges.0[..] {
                    [run] => sum_function(stack, (header, id, at), run),
                    _ => sum_of_runs(stack, (header, id, at)),
                }));
            }
        }
    }
    functions
}

/// Gives a sum, or what stands for it.
pub fn returned(
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
        &mut scope,
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
    summing(&mut scope, place, (bytes, first), inside, (name, given))
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
    scope: &mut Scope,
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
        let at = start(scope, id, field, &place);
        let written = |scope: &mut Scope, value: &str| {
            store(scope, header, at.clone(), &[(field, atom(value))])
        };
        let (cleared, restored) = match fills_bytes(field) {
            true => (written(scope, "0"), written(scope, "was")),
            false => (
                clear_bits(header.big, field, &at),
                add_bits(header.big, field, &at, &atom("was")),
            ),
        };
        body.push(declare("was", was));
        body.extend(cleared);
        body.push(declare("sum", sum));
        body.extend(restored);
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

pub fn comment(stack: &Stack, header: &Header, at: usize, unless: Option<u64>) -> String {
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
