//! A frame with bytes of a stream leaves in two parts, where its link takes that: its headers, and
//! the bytes as they stand in the stream.
//!
//! In: functions that copy bytes of a stream, write headers before them, and let the frame leave.
//! Out: they read these bytes in the stream. Where anything else is done with the message its bytes
//! are copied as before.
//!
//! ```text
//! try %m = copy_bytes tcp.outgoing(%s, %at, %n)     =>    try %m = borrow_bytes tcp.outgoing(..)
//! %h = push %m, 20                                        %h = push %m, 20
//! write be16 %h, 0, %port                                 write be16 %h, 0, %port
//! output link tun(%h)                                     output link tun(%h)
//! ```
//!
//! Assumes: rules 1 to 4 of the verifier. Ensures: rule 5, no byte of the stream is written as part
//! of a message.

use crate::ir::effects::borrowed::Borrowed;
use crate::ir::{Attempt, Function, Module, Terminator};

/// Lets frames leave with bytes that stand in streams.
pub fn run(module: &mut Module) {
    if !module.links.iter().any(|link| link.gathers) {
        return;
    }
    for at in 0..module.functions.len() {
        for block in 0..module.functions[at].blocks.len() {
            let mut function = module.functions[at].clone();
            let changes = borrow(&mut function, block);
            if changes && Borrowed::of(module, &function).misused.is_empty() {
                module.functions[at] = function;
            }
        }
    }
}

/// Has the end of a block borrow the bytes that it copies; false if it copies none.
fn borrow(function: &mut Function, block: usize) -> bool {
    let Terminator::Try { attempt, .. } = &mut function.blocks[block].terminator else {
        return false;
    };
    let Attempt::CopyBytes(place) = attempt else {
        return false;
    };
    *attempt = Attempt::BorrowBytes(*place);
    true
}
