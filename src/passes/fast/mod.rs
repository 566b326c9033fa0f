//! Fast functions: passes that form them, and shorten their guards.
//!
//! ```text
//! form_fast_path/  a reaction to frames has a fast function, which is tried first
//! order_guards/    guards that decide much are asked first, and nothing that follows from them
//! cache_guards.rs  what fast functions ask of a session alone is asked once
//! expect_header/   what they ask of bytes that stay the same is asked once
//! read_in_place.rs frames in memory of the host are read where they stand
//! ```
//!
//! `session.rs` finds values that hang on a session or a header alone.

pub mod cache_guards;
pub mod expect_header;
pub mod form_fast_path;
pub mod order_guards;
pub mod read_in_place;
mod session;
