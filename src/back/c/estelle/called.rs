//! The functions of a module that a program needs: those that it calls, and those that they call.

use crate::back::c::{Stack, function, prototype};
use crate::c::parts::words;
use crate::c::printer;
use crate::c::tree::{Function, Item};
use crate::ir::{FunctionId, Op};
use std::collections::{BTreeMap, BTreeSet};

/// The functions that entries call, those that are called above those that call. The printer
/// leaves out calls of functions that do nothing.
pub fn functions(stack: &Stack<'_>, entries: &[Item]) -> Vec<Item> {
    let mut called: BTreeSet<String> = BTreeSet::new();
    let note = |called: &mut BTreeSet<String>, item: &Item| {
        let text = printer::file(std::slice::from_ref(item));
        called.extend(words(&text).into_iter().map(str::to_string));
    };
    entries.iter().for_each(|item| note(&mut called, item));
    let mut chosen = Vec::new();
    for id in (0..stack.module.functions.len() as u32).rev() {
        let function = function::print(stack, FunctionId(id));
        if called.contains(&function.name) {
            let item = Item::Function(function);
            note(&mut called, &item);
            chosen.push(item);
        }
    }
    chosen.reverse();
    chosen
}

/// Declares the functions that stand at one place alone: turns of loops, and what they call. A C
/// compiler would rather expand the loop at several places than its turn.
pub fn expanded(stack: &Stack<'_>, printed: &[Item]) -> Vec<Item> {
    let mut sites = vec![0; stack.module.functions.len()];
    let functions = stack.module.functions.iter();
    for instruction in functions.flat_map(|one| one.instructions()) {
        if let Op::Call(id) | Op::Loop(id, _) = instruction.op {
            sites[id.at()] += 1;
        }
    }
    let once = (0..sites.len()).filter(|at| sites[*at] == 1);
    let ids = once.map(|at| (stack.names.functions[at].as_str(), FunctionId(at as u32)));
    let ids: BTreeMap<&str, FunctionId> = ids.collect();
    let declared = printed.iter().filter_map(|item| match item {
        Item::Function(function) => ids.get(function.name.as_str()).map(|id| Function {
            result: format!("static inline {}", prototype::result(stack, *id)),
            ..function.clone()
        }),
        _other => None,
    });
    let declared: Vec<Function> = declared.collect();
    match declared.is_empty() {
        true => Vec::new(),
        false => vec![Item::Attributed("always_inline", declared)],
    }
}
