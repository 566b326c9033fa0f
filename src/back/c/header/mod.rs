//! `NAME.h`: the contract, then what a host may say.
//!
//! In: the tables of a module. Out: the text of its header, and the heads of all functions that it
//! declares, so that `NAME.c` defines just these.
//!
//! ```text
//! contract.rs       the comment at the top
//! values.rs         types, members and parameters of values of a host
//! configuration.rs  settings, and the answers to wrong ones
//! numbers.rs        outputs, buffers, the numbers of links, ports and counters
//! ports.rs          keys, attributes, notices; the functions of applications
//! inline.rs         functions that the header defines
//! silent.rs         what sends and puts nothing on the agenda
//! callbacks.rs      functions that whoever uses the stack writes
//! macros.rs         bytes of memory, as macros
//! tables.rs         tables of the names of counters
//! head.rs           heads of functions as text
//! ```

pub mod callbacks;
pub mod configuration;
mod contract;
pub mod head;
pub mod inline;
pub mod macros;
mod numbers;
pub mod ports;
pub mod silent;
pub mod tables;
pub mod values;

use super::Stack;
use super::host::paths;
use crate::c::printer;
use crate::c::runtime;
use crate::c::tree::Item;
use std::collections::BTreeSet;

/// The last line of a header.
pub const END: &str = "#endif\n";

/// The whole header but the macros of its memory and [`END`].
pub fn text(stack: &Stack<'_>) -> String {
    let (name, upper) = (&stack.names.stack, &stack.names.upper);
    let body = printer::file(&public(stack));
    let mut before = values::structs(stack, &body);
    before.extend(enums(stack));
    let called = runtime::mentioned(&body);
    let string_h = match called.is_empty() {
        true => String::new(),
        false => runtime::string_h(&called) + "\n",
    };
    let mut top = printer::file(&before);
    if !top.is_empty() {
        top.push('\n');
    }
    format!(
        "{}\n#ifndef {upper}_H\n#define {upper}_H\n\n#include <stdbool.h>\n#include <stddef.h>\n\
         #include <stdint.h>\n\n{string_h}#ifdef __cplusplus\nextern \"C\" {{\n#endif\n\n\
         struct {name};\n\n{top}{body}\n#ifdef __cplusplus\n}}\n#endif\n\n",
        contract::contract(stack),
    )
}

/// The comment at the top of `NAME.c`.
pub fn comment_of_file(stack: &Stack<'_>) -> String {
    contract::of_file(stack)
}

/// The lengths of fixed bytes whose structs the header declares: those of all other lengths stand
/// in the file.
pub fn fixed_bytes(stack: &Stack<'_>) -> BTreeSet<u32> {
    values::fixed_bytes(stack, &printer::file(&public(stack)))
}

/// Enums of values that a host gives or is told. C has no constant of an enum beyond `int`.
pub fn enums(stack: &Stack<'_>) -> Vec<Item> {
    let all = stack.module.enums.iter().zip(&stack.names.enums);
    let all = all.map(|(one, names)| {
        let values = one.values.iter().zip(&names.values);
        let fitting = values.filter(|(value, _)| value.number <= i32::MAX as u64);
        let values = fitting.map(|(value, name)| {
            let number = match value.digits {
                0 => value.number.to_string(),
                digits => format!("{:#0width$x}", value.number, width = digits as usize + 2),
            };
            values::line(format!("{name} = {number}"), "")
        });
        Item::Enum {
            comment: String::new(),
            name: names.name.clone(),
            values: values.collect(),
        }
    });
    all.collect()
}

/// The end of the header, and the assertions of `NAME.c` about it; `text` has all structs.
pub fn end(stack: &Stack<'_>, text: &str) -> (String, String) {
    let (macros, asserted) = macros::macros(stack, text).unwrap_or_default();
    (macros + END, asserted)
}

/// All structs and functions of the interface.
fn public(stack: &Stack<'_>) -> Vec<Item> {
    let mut items = vec![configuration::config(stack), numbers::frame(stack)];
    for port in &stack.module.ports {
        items.extend(ports::structs(stack, port));
    }
    items.extend([configuration::refusal(stack), numbers::next(stack)]);
    items.extend(numbers::sending(stack));
    items.extend(numbers::numbers(stack));
    items.extend(paths::numbers(stack));
    items.extend([
        numbers::buffer(stack),
        numbers::output(stack),
        numbers::shared(stack),
    ]);
    items.push(Item::Text(functions(stack)));
    for port in &stack.module.ports {
        let mut text = String::new();
        for (offered, head) in ports::heads(stack, port) {
            let inline = match offered {
                ports::Offered::Send => inline::send(stack, port),
                _other_functions => None,
            };
            text += &match inline {
                Some(defined) => format!("{}{defined}\n", head::comment_text(&head.comment)),
                None => head.declared(),
            };
        }
        items.push(Item::Text(text));
    }
    items.extend(callbacks::declared(stack));
    items
}

/// The functions that each stack has.
fn functions(stack: &Stack<'_>) -> String {
    let (name, upper) = (&stack.names.stack, &stack.names.upper);
    let [config_default, size, check, start] = starts(stack).map(|head| declared(&head));
    let [deadline, expire, counters] = runs(stack).map(|head| declared(&head));
    let carrier = carrier(stack).map(|head| {
        format!(
            "/* Reports that a link went down or came up; at the start all are up. Handles waiting \
             events\n * first. */\n{}\n",
            declared(&head)
        )
    });
    format!(
        "/* Sets all settings to their defaults. */\n{config_default}\n\
         /* Returns the bytes of memory that a stack with these settings needs. */\n{size}\n\
         /* Returns {upper}_FITS if a stack with these settings can start in `size` bytes, or why \
         not. */\n{check}\n\
         /* Starts a stack in `size` bytes of memory, which then belong to it, at any alignment. \
         Returns NULL\n * if {name}_check refuses. The stack ends when the host stops calling it. \
         */\n{start}\n\
         /* Returns a buffer for a frame and its size in `room`, or NULL if none is free. It \
         belongs to the\n * host until {name}_input takes it. */\n{}\n\
         /* Passes frames that arrived on a link to the stack; returns how many it took. */\n{}\n\
         /* Writes the next output and returns what to do with it. */\n{}\n\
         /* Gives an output back when it is done. */\n{}\n\
         /* Returns when to call {name}_expire, or UINT64_MAX if no timer runs. */\n{deadline}\n\
         /* Handles the timers that have expired. */\n{expire}\n\
         {}/* Writes the values of at most `capacity` counters, in the order of enum \
         {name}_counter;\n * returns how many counters there are. */\n{counters}\n\
         /* The names of the counters in the order of enum {name}_counter, and then NULL. */\n\
         {}{}",
        inline::buffer(stack),
        inline::input(stack),
        inline::next(stack),
        inline::done(stack),
        carrier.unwrap_or_default(),
        tables::declared(stack, "counter_name"),
        paths::declared(stack),
    )
}

fn declared(head: &head::Head) -> String {
    printer::file(&[head.prototype()])
}

fn own(stack: &Stack<'_>, result: &str, end: &str, parameters: &[String]) -> head::Head {
    head::Head {
        comment: String::new(),
        result: result.to_string(),
        name: format!("{}_{end}", stack.names.stack),
        parameters: parameters.to_vec(),
    }
}

/// The heads of `NAME_config_default`, `NAME_size`, `NAME_check` and `NAME_start`.
pub fn starts(stack: &Stack<'_>) -> [head::Head; 4] {
    let name = &stack.names.stack;
    let config = format!("const struct {name}_config *config");
    let size = "size_t size".to_string();
    let changed = [format!("struct {name}_config *config")];
    let start = [
        "void *memory".to_string(),
        size.clone(),
        config.clone(),
        "uint64_t now_ns".to_string(),
    ];
    let check = format!("enum {name}_refusal");
    [
        own(stack, "void", "config_default", &changed),
        own(stack, "size_t", "size", std::slice::from_ref(&config)),
        own(stack, &check, "check", &[config, size]),
        own(stack, &format!("struct {name} *"), "start", &start),
    ]
}

/// The heads of `NAME_deadline`, `NAME_expire` and `NAME_counters`.
pub fn runs(stack: &Stack<'_>) -> [head::Head; 3] {
    let of_stack = format!("struct {} *stack", stack.names.stack);
    let expire = [of_stack.clone(), "uint64_t now_ns".to_string()];
    let counters = [
        format!("const {of_stack}"),
        "uint64_t *values".to_string(),
        "size_t capacity".to_string(),
    ];
    [
        own(stack, "uint64_t", "deadline", &[of_stack]),
        own(stack, "void", "expire", &expire),
        own(stack, "size_t", "counters", &counters),
    ]
}

/// The head of `NAME_carrier`; none where no layer handles changes of a link.
pub fn carrier(stack: &Stack<'_>) -> Option<head::Head> {
    let mut links = stack.module.links.iter();
    let parameters = [
        format!("struct {} *stack", stack.names.stack),
        "unsigned link".to_string(),
        "bool up".to_string(),
        "uint64_t now_ns".to_string(),
    ];
    links
        .any(|link| link.carrier.is_some())
        .then(|| own(stack, "void", "carrier", &parameters))
}
