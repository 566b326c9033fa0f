//! The host's side of a stack.
//!
//! In: links, ports and instances of the checked program. Out: their tables in the module, and the
//! entries that a host calls.
//!
//! ```text
//! ports.rs      links, ports, timers: their tables, and the functions that they name
//! entries.rs    conversations that are opened, links that go up and down, events by index
//! instances.rs  instances that begin
//! ```

mod entries;
mod instances;
mod ports;
