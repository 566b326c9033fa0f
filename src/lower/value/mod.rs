//! Values: in, expressions of the checked program; out, operations, and the parts of the values.
//!
//! ```text
//! expression.rs  every kind of expression
//! operator.rs    operators of numbers, comparisons
//! lazy.rs        expressions that are evaluated only if they are needed
//! place.rs       variables: fields, elements, parts of records, locals
//! needs.rs       what functions read beside their parameters
//! functions.rs   functions of values
//! statement.rs   the statements of functions and kernels
//! kernels.rs     filters that run over bytes
//! ```

pub mod expression;
pub mod functions;
pub mod kernels;
pub mod lazy;
pub mod needs;
pub mod operator;
pub mod place;
pub mod statement;
