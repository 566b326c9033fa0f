//! Emission: the trees of a stack come in, files go out.

pub mod runtime;
