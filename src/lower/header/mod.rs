//! Headers: read, judged, pushed and summed, as operations on views and messages.
//!
//! In: a header's layout, and the view that begins with it, or the values of its fields. Out:
//! operations. Each file adds methods to [`crate::lower::code::Code`].
//!
//! ```text
//! distance.rs    numbers of bytes, as far as they are known
//! read.rs        fields, wherever they stand; lengths of parts
//! rules.rs       the rules that the value of a field keeps
//! options.rs     options of a header: judged and found
//! peek.rs        the test that a message begins with a header in order
//! push.rs        a header before a message: its values, its layout, its counts
//! push_write.rs  the bytes of a header that is pushed
//! push_sums.rs   its sums
//! sums.rs        sums of headers and the data behind them
//! ```

mod distance;
mod options;
mod peek;
mod push;
mod push_sums;
mod push_write;
mod read;
mod rules;
mod sums;
