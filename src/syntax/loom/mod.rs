//! Loom: the language in which layers and stacks are written.

pub mod ast;
