//! Fast functions: passes that form them, and shorten their guards.
//!
//! ```text
//! form_fast_path/  a reaction to frames has a fast function, which is tried first
//! cache_guards.rs  what fast functions ask of a session alone is asked once
//! ```

pub mod cache_guards;
pub mod form_fast_path;
