//! Fast functions: passes that form them, and shorten their guards.
//!
//! ```text
//! form_fast_path/  a reaction to frames has a fast function, which is tried first
//! direct_outputs.rs what they tell the host does not wait on the agenda before
//! order_guards/    guards that decide much are asked first, and nothing that follows from them
//! cache_guards.rs  what fast functions ask of a session alone is asked once
//! expect_header/   what they ask of bytes that stay the same is asked once
//! hot_path.rs      the most frequent paths of fast functions are tried first
//! rare_ways.rs     what is tried first for a frame leaves where all would be asked anew
//! read_in_place.rs frames in memory of the host are read where they stand
//! gather.rs        bytes of a stream that leave in a frame are not copied
//! ```
//!
//! `ways.rs` finds the commits of a fast function, and how often control comes to each; `choice.rs`
//! chooses the paths that are formed;
//! `session.rs` finds values that hang on a session or a header alone; `disarm.rs` disarms caches
//! behind writes to what they depend on.

pub mod cache_guards;
pub mod choice;
pub mod direct_outputs;
mod disarm;
pub mod expect_header;
pub mod form_fast_path;
pub mod gather;
pub mod hot_path;
pub mod order_guards;
pub mod rare_ways;
pub mod read_in_place;
mod session;
pub mod ways;
