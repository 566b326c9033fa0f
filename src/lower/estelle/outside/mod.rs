//! The C around a specification: functions of the host that it calls, and functions of its own for
//! bodies that C defines.
//!
//! In C the functions of the host are declared by `NAME.h`, and defined by the program. They are
//! the [`Foreign`](crate::ir::interface::Foreign) functions of a module whose home is the host.
//!
//! ```text
//! choice.rs        choices that Estelle leaves open
//! contract.rs      the names of these functions, and what each must do
//! external.rs      bodies that C defines: their select, fire and initialise
//! points.rs        queues, outputs and variables of such bodies, for the host
//! primitive.rs     calls of `primitive` routines
//! values.rs        values that cross the border
//! ```

pub mod choice;
mod contract;
mod external;
mod points;
mod primitive;
mod values;

pub use contract::Contract;
