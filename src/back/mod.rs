//! Back ends: the stack IR becomes text. A back end changes nothing of what is done.
//!
//! ```text
//! c/    C11 for any host
//! ```

pub mod c;
