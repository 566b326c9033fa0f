//! The Pascal of an Estelle specification (ISO 7185, level 0).
//!
//! ```text
//! fold        values of constant expressions      constant    declarations of constants
//! types       types of declarations               assign      values for variables of a type
//! operator    types of operands and results       expression  expressions
//! place       variables and parts of them         call        calls and their arguments
//! statement   statements                          routine     functions and procedures
//! recursion   cycles of calls
//! ```

mod assign;
mod call;
mod constant;
mod expression;
mod fold;
mod operator;
mod place;
mod recursion;
mod routine;
mod statement;
mod types;

pub(super) use fold::{Literal, fold};
