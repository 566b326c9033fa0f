//! Sums of headers: the function that computes each, and how it is called.
//!
//! In: the `checks` fields of all headers. Out: their functions, which read the field itself as
//! zero, and the calls of them.

use super::Stack;
use super::bits::{advanced, load_bytes};
use super::code::declare;
use super::constant::number_text;
use super::function;
use super::layout::c_type;
use super::names::c_name;
use super::scope::Scope;
use super::wire::{length_of, load, start, store};
use crate::c::tree::{Expression as C, Function, Statement, atom, binary, call, conditional};
use crate::types::expression::Expression;
use crate::types::header::{Header, HeaderField, Ranges, Rule};
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
    let size = || scope.header_size.clone().expect("its size is known");
    let bytes = match ranges {
        Ranges::FromOn(0) => whole.clone(),
        Ranges::FromOn(before) => binary("-", whole.clone(), atom(before.to_string())),
        Ranges::Header if pushed => size(),
        Ranges::Header => binary("-", data.clone(), base.clone()).cast("size_t"),
        Ranges::Data if pushed => binary("-", length, size()),
        Ranges::Data => length,
        Ranges::Between(from, to) => between(scope, id, (*from, *to), &base),
    };
    let first = match ranges {
        Ranges::Data if pushed => binary("+", data, size()),
        Ranges::Data => data,
        Ranges::Header | Ranges::FromOn(_) | Ranges::Between(..) => base,
    };
    scope.whole_length = Some(whole);
    scope.message = Some(message);
    let mut all = vec![first, bytes];
    let filter = &stack.program.filters[filter.at()];
    if function::filter_needs_stack(stack, filter) {
        all.insert(0, atom("stack"));
    }
    all.extend(
        arguments
            .iter()
            .flat_map(|argument| scope.arguments(argument)),
    );
    scope.whole_length = None;
    call(sum_name(stack, id, field.at()), all)
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
            if let Rule::Checks {
                ranges,
                filter,
                unless,
                ..
            } = &field.rule
            {
                let own = &stack.program.filters[filter.at()];
                let straight = straight_sum(stack, HeaderId(id as u32), at);
                let place = (header, HeaderId(id as u32), at);
                functions.push(
                    straight.unwrap_or_else(|| sum_function(stack, place, (*ranges, *unless), own)),
                );
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
    let (state, sign) = function::step(own)?;
    let (from, bytes) = always_there(header, *ranges)?;
    let (words, unit) = (bytes / own.unit, own.unit);
    if !is_left_out(field, from + words * unit) || words > STRAIGHT_WORDS {
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
        body.push(Statement::Assign(atom(scope.known(state)), sign, word));
    }
    let plain = *ranges == Ranges::Header && unless.is_none();
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
        comment: comment(header, field, *unless),
        result: format!("static inline {kind}"),
        name: sum_name(stack, id, at),
        parameters: all,
        body,
    })
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
fn always_there(header: &Header, ranges: Ranges) -> Option<(u32, u32)> {
    match ranges {
        Ranges::Between(from, to) => {
            let (from, to) = (&header.fields[from.at()], &header.fields[to.at()]);
            let bytes = (to.bit + to.width) / 8 - from.bit / 8;
            from.behind.is_empty().then_some((from.bit / 8, bytes))
        }
        Ranges::Header => Some((0, header.least)),
        Ranges::FromOn(before) => Some((before, header.least - before)),
        Ranges::Data => None,
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

fn sum_function(
    stack: &Stack,
    (header, id, at): (&Header, HeaderId, usize),
    (ranges, unless): (Ranges, Option<u64>),
    filter: &Filter,
) -> Function {
    let field = &header.fields[at];
    let kind = c_type(stack, &field.kind);
    let mut parameters = vec!["uint8_t *header".to_string(), "size_t length".to_string()];
    let mut names: Vec<C> = Vec::new();
    let needs_stack = function::filter_needs_stack(stack, filter);
    if needs_stack {
        parameters.insert(0, format!("const struct {} *stack", stack.names.stack));
        names.push(atom("stack"));
    }
    let mut scope = Scope::new(stack, &[]);
    scope.headers.insert(id, atom("header"));
    let (from, inside) = summed(&scope, (id, at), ranges);
    names.extend([from, atom("length")]);
    for local in &filter.locals[..filter.parameters as usize] {
        let name = c_name(&local.name);
        let name = if name == "header" || name == "length" {
            format!("{name}_")
        } else {
            name
        };
        parameters.extend(super::layout::parameters(stack, &local.kind, &name));
        names.push(atom(name));
    }
    let place = atom("header");
    let sum = call(function::filter_name(stack, filter), names);
    let declare = |name: &str, value| Statement::Declare {
        kind: format!("const {kind}"),
        name: name.to_string(),
        value: Some(value),
    };
    let given = match unless {
        Some(unless) => turned("sum", field, unless),
        None => atom("sum"),
    };
    let body = if inside {
        let was = load(&scope, id, HeaderFieldId(at as u32), &place).c;
        let written = |value: &str| {
            let at = start(&scope, id, field, &place);
            store(&scope, header, at, &[(field, atom(value))])
        };
        [
            vec![declare("was", was)],
            written("0"),
            vec![declare("sum", sum)],
            written("was"),
            vec![Statement::Return(Some(given))],
        ]
        .concat()
    } else if unless.is_some() {
        vec![declare("sum", sum), Statement::Return(Some(given))]
    } else {
        vec![Statement::Return(Some(sum))]
    };
    Function {
        comment: comment(header, field, unless),
        result: format!("static {kind}"),
        name: sum_name(stack, id, at),
        parameters,
        body,
    }
}

/// Where a sum begins, and whether its own field is in it.
fn summed(scope: &Scope, (id, at): (HeaderId, usize), ranges: Ranges) -> (C, bool) {
    let base = atom("header");
    match ranges {
        Ranges::Between(from, to) => {
            let first = &scope.stack.program.headers[id.at()].fields[from.at()];
            let inside = (from.at()..=to.at()).contains(&at);
            (start(scope, id, first, &base), inside)
        }
        Ranges::Data => (base, false),
        Ranges::Header => (base, true),
        Ranges::FromOn(before) => {
            let inside = scope.stack.program.headers[id.at()].fields[at].bit >= 8 * before;
            (advanced(&base, before), inside)
        }
    }
}

fn comment(header: &Header, field: &HeaderField, unless: Option<u64>) -> String {
    let sum = format!("The {} of a header of {}", field.name, header.name);
    match unless {
        Some(unless) => format!(
            "{sum}, itself read as zero; {} says that there is none.",
            number_text(unless)
        ),
        None => format!("{sum}, itself read as zero."),
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
