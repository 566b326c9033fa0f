//! Interpretation: programs and trees run here, in virtual time, without a C compiler.
//!
//! ```text
//! checked program ──► reference.rs  statements as they stand: what a program means
//! trees of a stack ─► trees.rs      nodes, as the generated C runs them
//!                      │ both are a `Control` of
//!                      ▼
//!                   stack.rs        the host's calls, the agenda, the outputs
//! ```
//!
//! `network/` puts stacks on links with faults, whoever runs them.
//!
//! The control of the two interpreters is apart: statements and nodes, parsing, who is reached
//! through a joint. What they have in common is the state of a stack and what is done to it, and
//! the value of an expression.

mod agenda;
mod answers;
mod bits;
mod called;
pub mod coders;
pub mod containers;
pub mod estelle;
pub mod expression;
pub mod externs;
pub mod function;
pub mod header;
pub mod joints;
mod layers;
mod links;
pub mod listening;
pub mod machine;
pub mod message;
pub mod network;
pub mod operation;
mod options;
mod outputs;
mod parts;
pub mod pool;
pub mod process;
pub mod reference;
pub mod stack;
pub mod state;
pub mod stream;
pub mod timers;
pub mod trace;
pub mod trees;
pub mod value;
