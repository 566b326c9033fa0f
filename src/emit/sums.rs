//! Sums of headers: the function that computes each, and how it is called.
//!
//! In: the `checks` fields of all headers. Out: their functions, which read the field itself as
//! zero, and the calls of them.

use super::Stack;
use super::bits::advanced;
use super::expression::number_text;
use super::function;
use super::layout::c_type;
use super::names::c_name;
use super::scope::Scope;
use super::wire::{load, store};
use crate::c::tree::{Expression as C, Function, Statement, atom, binary, call, conditional};
use crate::types::expression::Expression;
use crate::types::header::{Header, HeaderField, Ranges, Rule};
use crate::types::program::{HeaderFieldId, HeaderId, LocalId};

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
    let bytes = match ranges {
        Ranges::HeaderAndData => whole.clone(),
        Ranges::Header if pushed => atom(header.least.to_string()),
        Ranges::Header => binary("-", data, base.clone()).cast("size_t"),
        Ranges::Data if pushed => binary("-", length, atom(header.least.to_string())),
        Ranges::Data => length,
        Ranges::Between(from, to) => {
            let (from, to) = (&header.fields[from.at()], &header.fields[to.at()]);
            atom(((to.bit + to.width) / 8 - from.bit / 8).to_string())
        }
    };
    scope.whole_length = Some(whole);
    scope.message = Some(message);
    let mut all = vec![base, bytes];
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
                let own = stack.program.filters[filter.at()].clone();
                let place = (header, HeaderId(id as u32), at);
                functions.push(sum_function(stack, place, (*ranges, *unless), &own));
            }
        }
    }
    functions
}

fn sum_function(
    stack: &Stack,
    (header, id, at): (&Header, HeaderId, usize),
    (ranges, unless): (Ranges, Option<u64>),
    filter: &crate::types::program::Filter,
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
    let from = match ranges {
        Ranges::Between(from, _) => header.fields[from.at()].bit / 8,
        Ranges::Data => header.least,
        Ranges::Header | Ranges::HeaderAndData => 0,
    };
    let inside = (from * 8..).contains(&field.bit) && !matches!(ranges, Ranges::Data);
    names.extend([advanced(&atom("header"), from), atom("length")]);
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
    let scope = Scope::new(stack, &[]);
    let place = atom("header");
    let sum = call(function::filter_name(stack, filter), names);
    let declare = |name: &str, value| Statement::Declare {
        kind: format!("const {kind}"),
        name: name.to_string(),
        value: Some(value),
    };
    let given = match unless {
        Some(unless) => turned(field, unless),
        None => atom("sum"),
    };
    let body = if inside {
        let was = load(&scope, id, HeaderFieldId(at as u32), &place).c;
        let written = |value: &str| store(&scope, id, &place, &[(field, atom(value))]);
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
    let comment = comment(header, field, unless);
    Function {
        comment,
        result: format!("static {kind}"),
        name: sum_name(stack, id, at),
        parameters,
        body,
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
fn turned(field: &HeaderField, unless: u64) -> C {
    let ones = u64::MAX >> (64 - field.width);
    conditional(
        binary("==", atom("sum"), atom(number_text(unless))),
        atom(number_text(!unless & ones)),
        atom("sum"),
    )
}
