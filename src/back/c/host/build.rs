//! Pieces of C of which the files of this folder are made: in, names and statements; out, functions
//! and lines.

use crate::c::tree::{Function, Item, Line, Statement as S, assign, atom};

/// A function of the file that is not called from elsewhere.
pub fn own(comment: &str, name: &str, parameters: Vec<String>, body: Vec<S>) -> (String, Item) {
    private("static void", comment, name, parameters, body)
}

/// The same for a short function that common reactions call: compilers put it there.
pub fn inline(comment: &str, name: &str, parameters: Vec<String>, body: Vec<S>) -> (String, Item) {
    private("static inline void", comment, name, parameters, body)
}

/// The same, and compilers put it at each of its calls.
pub fn expanded(
    comment: &str,
    name: &str,
    parameters: Vec<String>,
    body: Vec<S>,
) -> [(String, Item); 2] {
    let (name, function) = inline(comment, name, parameters, body);
    let declared = always_inline(std::slice::from_ref(&function));
    [(name.clone(), declared), (name, function)]
}

/// Declares that compilers put functions at each of their calls.
pub fn always_inline(items: &[Item]) -> Item {
    attributed("always_inline", items)
}

/// Declares functions with an attribute.
pub fn attributed(attribute: &'static str, items: &[Item]) -> Item {
    let functions = items.iter().filter_map(|item| match item {
        Item::Function(function) => Some(Function {
            comment: String::new(),
            ..function.clone()
        }),
        _other => None,
    });
    Item::Attributed(attribute, functions.collect())
}

fn private(
    result: &str,
    comment: &str,
    name: &str,
    parameters: Vec<String>,
    body: Vec<S>,
) -> (String, Item) {
    let function = Function {
        comment: comment.to_string(),
        result: result.to_string(),
        name: name.to_string(),
        parameters,
        body,
    };
    (name.to_string(), Item::Function(function))
}

/// A function that hosts call, or that functions of the header call.
pub fn public(result: String, name: String, parameters: Vec<String>, body: Vec<S>) -> Item {
    Item::Function(Function {
        comment: String::new(),
        result,
        name,
        parameters,
        body,
    })
}

/// A member or value, with what is said of it.
pub fn line(text: &str, comment: &str) -> Line {
    Line {
        text: text.to_string(),
        comment: comment.to_string(),
    }
}

/// The members that each output of a port has: the port, the session, and the bytes of a message,
/// or none.
pub fn told_to_all(port: &str, carries: bool) -> Vec<S> {
    let output = |member: &str| atom("output").behind(member);
    let parts = [("data", "NULL"), ("length", "0"), ("buffer", "NULL")];
    let parts = parts.map(|(part, none)| match carries {
        true => assign(output(part), atom("message").member(part)),
        false => assign(output(part), atom(none)),
    });
    let mut all = vec![
        assign(output("place"), atom(port)),
        assign(output("session"), atom("session")),
    ];
    all.extend(parts);
    all
}
