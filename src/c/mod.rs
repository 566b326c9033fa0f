//! C as a tree, and the one printer of it.
//!
//! In: what `emit` builds. Out: C11 as a careful person would lay it out, in 100 columns.

pub mod assumed;
mod layout;
pub mod line;
pub mod literal;
pub mod parts;
pub mod printer;
pub mod record;
pub mod runtime;
pub mod size;
pub mod tree;
pub mod walk;
pub mod words;

pub use layout::{WIDTH, listed};
