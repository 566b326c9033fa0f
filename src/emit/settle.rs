//! What is seen only when the functions of all reactions are there: which of them are equal, which
//! values never change, and which functions are called before they are defined.
//!
//! In: functions as they were made, tree by tree. Out: the same, each thing written once, each
//! value that stays marked as `const`.

use super::apart::is_rare;
use super::parts;
use crate::c::printer;
use crate::c::tree::{Expression as C, Function, Item, Statement as S, atom};
use crate::c::walk;
use std::collections::{BTreeSet, HashMap};
use std::rc::Rc;

/// Functions that do the same are written once. By reaction: its function, then its parts. A part
/// goes, and who calls it calls the other; a reaction stays for who calls it, and calls the other.
pub fn unite(reactions: &mut [&mut Vec<Function>]) {
    let mut texts = HashMap::new();
    while let Some((other, one)) = equal(reactions, &mut texts) {
        let mut firsts = reactions.iter().filter_map(|functions| functions.first());
        let stays = firsts.any(|first| first.name == other);
        for functions in reactions.iter_mut() {
            let at = functions.iter().position(|function| function.name == other);
            match at {
                Some(0) => functions[0].body = vec![call_of(&functions[0], &one)],
                Some(part) => drop(functions.remove(part)),
                None => {}
            }
            for function in functions.iter_mut().filter(|_| !stays) {
                if rename_calls(function, &other, &one) {
                    texts.remove(&function.name);
                }
            }
        }
    }
}

/// Two functions that do the same, first the one that can go; `texts` are those of functions, by
/// name, as far as they have been asked for.
fn equal(
    reactions: &[&mut Vec<Function>],
    texts: &mut HashMap<String, Rc<str>>,
) -> Option<(String, String)> {
    let mut known: HashMap<Rc<str>, (bool, &Function)> = HashMap::new();
    for functions in reactions {
        for (at, function) in functions.iter().enumerate() {
            if is_call(function) {
                continue;
            }
            let text = match texts.get(&function.name) {
                Some(text) => text.clone(),
                None => {
                    let text: Rc<str> = text_of(function).into();
                    texts.insert(function.name.clone(), text.clone());
                    text
                }
            };
            let here = (at != 0, function);
            if let Some(there) = known.insert(text, here) {
                let mut both = [there, here];
                // What stays is a reaction rather than a part, and where the code belongs.
                both.sort_by_key(|(is_part, one)| (*is_part, is_rare(one), one.name.len()));
                return Some((both[1].1.name.clone(), both[0].1.name.clone()));
            }
        }
    }
    None
}

/// What a function does, whatever it is called.
fn text_of(function: &Function) -> String {
    let unnamed = Function {
        comment: String::new(),
        name: String::new(),
        ..function.clone()
    };
    printer::file(&[Item::Function(unnamed)])
}

/// Whether a function does nothing but one thing.
fn is_call(function: &Function) -> bool {
    match &function.body[..] {
        [] => true,
        [one] => one.blocks().is_empty(),
        _ => false,
    }
}

fn call_of(function: &Function, other: &str) -> S {
    let arguments = function.parameters.iter().map(|one| atom(name_of(one)));
    S::Do(C::Call(other.to_string(), arguments.collect()))
}

/// The name of a parameter.
pub fn name_of(parameter: &str) -> &str {
    let start = parameter.rfind([' ', '*']).map_or(0, |at| at + 1);
    &parameter[start..]
}

/// Calls of one function become those of another; gives whether there were any.
fn rename_calls(function: &mut Function, other: &str, one: &str) -> bool {
    let mut has_changed = false;
    walk::each_mut(&mut function.body, &mut |statement| {
        if let S::Do(C::Call(callee, _)) = statement
            && callee == other
        {
            *callee = one.to_string();
            has_changed = true;
        }
    });
    has_changed
}

/// Marks as `const` what is given a value where it is declared, and never again.
pub fn mark_constants(function: &mut Function) {
    let mut changed = BTreeSet::new();
    walk::each(&function.body, &mut |statement| {
        if let S::Assign(place, ..) = statement {
            changed.extend(base(place));
        }
        if let S::For { start, step, .. } = statement {
            let words = parts::words(start).into_iter().chain(parts::words(step));
            changed.extend(words.map(String::from));
        }
        for value in statement.expressions() {
            pointed_at(value, &mut changed);
        }
    });
    walk::each_mut(&mut function.body, &mut |statement| {
        if let S::Declare {
            kind,
            name,
            value: Some(_),
        } = statement
            && !changed.contains(name.as_str())
            && !name.ends_with(']')
        {
            if kind.ends_with('*') {
                kind.push_str("const");
            } else if !kind.starts_with("const ") && !kind.ends_with("const") {
                kind.insert_str(0, "const ");
            }
        }
    });
}

/// The name of what changes with a place.
fn base(place: &C) -> Option<String> {
    match place {
        C::Atom(name) => Some(name.clone()),
        C::Member(of, _) | C::Element(of, _) => base(of),
        C::Behind(..)
        | C::Call(..)
        | C::Unary(..)
        | C::Binary(..)
        | C::Conditional(..)
        | C::Cast(..)
        | C::Struct(..) => None,
    }
}

/// What others are told the place of, and may change.
fn pointed_at(value: &C, changed: &mut BTreeSet<String>) {
    if let C::Unary("&", of) = value {
        changed.extend(base(of));
    }
    for part in value.parts() {
        pointed_at(part, changed);
    }
}

/// The functions that one of those before them calls: they are declared first.
pub fn called_early(functions: &[&Function]) -> BTreeSet<String> {
    let mut defined = BTreeSet::new();
    let mut early = BTreeSet::new();
    for function in functions {
        defined.insert(function.name.as_str());
        let text = printer::file(&[Item::Function((*function).clone())]);
        let called = parts::called(&text).into_iter();
        early.extend(
            called
                .filter(|name| !defined.contains(name))
                .map(String::from),
        );
    }
    early
}

#[cfg(test)]
mod tests {
    use super::*;

    fn function(name: &str, body: Vec<S>) -> Function {
        Function {
            comment: String::new(),
            result: "static void".to_string(),
            name: name.to_string(),
            parameters: vec!["struct host *stack".to_string()],
            body,
        }
    }

    fn call(callee: &str) -> S {
        S::Do(C::Call(callee.to_string(), vec![atom("stack")]))
    }

    #[test]
    fn what_is_equal_is_written_once() {
        let both = || vec![call("look"), call("leap")];
        let mut one = vec![
            function("send", vec![call("send_rare")]),
            function("send_rare", both()),
        ];
        let mut other = vec![function("start", both())];
        unite(&mut [&mut one, &mut other]);
        assert_eq!(one, [function("send", vec![call("start")])]);
        let mut again = vec![function("question", both())];
        unite(&mut [&mut other, &mut again]);
        assert_eq!(again, [function("question", vec![call("start")])]);
    }

    #[test]
    fn what_changes_is_no_constant() {
        let declare = |name: &str| S::Declare {
            kind: "uint32_t".to_string(),
            name: name.to_string(),
            value: Some(atom("0")),
        };
        let body = vec![
            declare("still"),
            declare("set"),
            declare("told"),
            S::Assign(atom("set"), "=", atom("still")),
            S::Do(C::Call("tell".to_string(), vec![atom("told").address()])),
        ];
        let mut whole = function("send", body);
        mark_constants(&mut whole);
        let kinds: Vec<&str> = whole
            .body
            .iter()
            .filter_map(|one| match one {
                S::Declare { kind, .. } => Some(kind.as_str()),
                _ => None,
            })
            .collect();
        assert_eq!(kinds, ["const uint32_t", "uint32_t", "uint32_t"]);
    }

    #[test]
    fn what_is_called_before_it_is_defined_is_declared() {
        let one = function("send", vec![call("later"), call("earlier")]);
        let other = function("earlier", vec![call("send")]);
        assert!(called_early(&[&one, &other]).contains("earlier"));
        assert!(!called_early(&[&one, &other]).contains("send"));
    }
}
