//! Interpretation: programs and trees run here, in virtual time, without a C compiler.

pub mod containers;
pub mod pool;
pub mod stream;
pub mod timers;
