//! Trees of all files -> the checked program: names, types, wire layout, linear messages, shapes.

pub mod body;
pub mod constant;
pub mod context;
pub mod expression;
pub mod header;
pub mod program;
pub mod scope;
pub mod statement;
pub mod value;
