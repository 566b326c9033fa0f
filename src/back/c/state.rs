//! Constants and structs at the top of `NAME.c`: in, the tables of a module, and the code that
//! mentions them; out, items in order.

use super::function::kernel;
use super::host::{self, Items};
use super::{Stack, message, records};
use crate::c::parts::words;
use crate::c::printer;
use crate::c::size::Sizes;
use crate::c::tree::Item;
use std::collections::BTreeSet;

/// Constants and structs; `named` are the words of the code around them.
pub fn items(
    stack: &Stack<'_>,
    items: &Items,
    (named, code): (&BTreeSet<String>, &str),
    header: &str,
) -> Vec<Item> {
    let name = &stack.names.stack;
    let mut members = host::members(stack);
    members.extend(records::members(stack));
    let whole = Item::Struct {
        comment: "The whole stack. A member that starts as zero is empty.".to_string(),
        name: name.clone(),
        members,
    };
    let results = records::results(stack).into_iter();
    let results = results.filter(|(name, _)| named.contains(name));
    let mut rest = items.constants.clone();
    rest.extend([message::structure(stack), records::settings(stack)]);
    rest.extend(items.structs.iter().cloned());
    rest.extend(results.map(|(_, item)| item));
    rest.extend(kernel::words(stack));
    rest.extend(records::caches(stack));
    rest.extend(records::structs(stack));
    rest.push(whole);
    let text = printer::file(&rest) + code;
    let mentioned = words(&text);
    let lengths = records::byte_lengths(stack.module).into_iter();
    let own = lengths.filter(|length| {
        let name = format!("{name}_bytes{length}");
        mentioned.contains(&*name) && !header.contains(&format!("struct {name} {{"))
    });
    let mut all: Vec<Item> = own.map(|length| records::bytes(stack, length)).collect();
    all.extend(rest);
    all
}

/// By kind: the bytes of the record of an instance, where pointers have 64 bits; 0 if its size is
/// unknown. `text` has all structs.
pub fn kind_bytes(stack: &Stack<'_>, text: &str) -> Vec<u64> {
    let sizes = Sizes::of(text, 8);
    let kinds = stack.names.kinds.iter();
    let bytes = kinds.map(|kind| sizes.bytes(&kind.name).unwrap_or(0));
    bytes.collect()
}
