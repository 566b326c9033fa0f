//! Forced inlining of the functions that a fast path calls, if the C compiler supports it: a call
//! would spill registers of the path to memory.
//!
//! In: the names of fast paths, and all functions. Out: declarations that say so.

use super::parts;
use crate::c::WIDTH;
use crate::c::printer;
use crate::c::tree::{Function, Item};
use std::collections::BTreeMap;

/// Says so of the fast paths and of what they call, of all these.
pub fn declared(paths: impl Iterator<Item = String>, all: &[Item]) -> Option<Item> {
    let functions: BTreeMap<String, (String, String)> = all.iter().filter_map(inlined).collect();
    let mut open: Vec<String> = paths.collect();
    let mut heads = BTreeMap::new();
    while let Some(name) = open.pop() {
        if let Some((head, text)) = functions.get(&name)
            && heads.insert(name, head.as_str()).is_none()
        {
            open.extend(parts::called(text).into_iter().map(String::from));
        }
    }
    let text: String = heads.into_values().map(always_inline).collect();
    (!text.is_empty()).then(|| Item::Text(format!("#ifdef __GNUC__\n{text}#endif\n")))
}

/// The declaration of a function that is put in place, on one line if there is room.
fn always_inline(head: &str) -> String {
    const SAID: &str = "__attribute__((always_inline));";
    let (before, last) = head
        .trim_end()
        .rsplit_once('\n')
        .unwrap_or(("", head.trim_end()));
    let last = last.trim_end_matches(';');
    let is_short = before.is_empty() && last.len() + 1 + SAID.len() <= WIDTH;
    let between = if is_short { " " } else { "\n    " };
    let lines = [before, last].into_iter().filter(|line| !line.is_empty());
    format!("{}{between}{SAID}\n", Vec::from_iter(lines).join("\n"))
}

/// The name of a function, how it is declared `inline`, and its text.
fn inlined(item: &Item) -> Option<(String, (String, String))> {
    let text = printer::file(std::slice::from_ref(item));
    let (name, head) = match item {
        Item::Function(function) => {
            let result = match function.result.strip_prefix("static inline ") {
                Some(_) => function.result.clone(),
                None => function.result.replace("static ", "static inline "),
            };
            let head = Item::Prototype(Function {
                result,
                ..function.clone()
            });
            (function.name.clone(), printer::file(&[head]))
        }
        Item::Text(text) => {
            let start = text.find("static inline ")?;
            let (head, _) = text[start..].split_once(" {\n")?;
            let (before, _) = head.split_once('(')?;
            let name = before.rsplit([' ', '*']).next()?;
            (name.to_string(), format!("{head};\n"))
        }
        Item::Banner(_)
        | Item::Struct { .. }
        | Item::Enum { .. }
        | Item::Prototype(_)
        | Item::Attributed(..) => {
            return None;
        }
    };
    Some((name, (head, text)))
}
