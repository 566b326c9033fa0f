//! Pieces of C of which the files of this folder are made: in, names and statements; out, functions
//! and lines.

use crate::c::tree::{Function, Item, Line, Statement as S};

/// A function of the file that is not called from elsewhere.
pub fn own(comment: &str, name: &str, parameters: Vec<String>, body: Vec<S>) -> (String, Item) {
    let function = Function {
        comment: comment.to_string(),
        result: "static void".to_string(),
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
