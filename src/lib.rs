//! Stackloom, a protocol compiler: layers written in Loom become portable sans-IO C.
//!
//! The folders stand in the order in which a program flows through them; each uses only those
//! above it (`tests/tidy.rs` holds them to that):
//!
//! ```text
//! source text
//!   syntax/    text -> tree of one file
//!   types/     trees of all files -> the checked program: names, types, layout, linear messages
//!   tree/      the state-tree IR: arena, checker, text form
//!   reactive/  handlers of one entity -> state trees
//!   view/      the automata of processes and of Esterel modules, for people
//!   weave/     trees of the entities -> trees of the stack
//!   profile/   how often what is done: visit counts, the fast path
//!   optimise/  trees that do the same, faster: one file for each rewrite
//!   ir/        the stack IR: typed functions, between trees and C
//!   lower/     trees of the stack -> the stack IR
//!   c/         C as a tree, its printer, and the runtime that generated code copies
//!   back/      the stack IR -> C
//!   prove/     functions before and behind a pass, compared by a solver
//!   simulate/  interpreters of the program, its trees and its IR; the network in virtual time
//!   tool/      commands, devices, files
//! ```

pub mod source;

pub mod ir;

pub mod diagnostic;

pub mod syntax;

pub mod types;

pub mod tree;

pub mod reactive;

pub mod view;

pub mod weave;

pub mod profile;

pub mod optimise;

pub mod lower;

pub mod c;

pub mod passes;

pub mod back;

pub mod prove;

pub mod simulate;

pub mod pipeline;

pub mod tool;
