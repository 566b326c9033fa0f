//! What the fuzz targets call: the same that the tests call with the seeds.

pub mod targets;

// `STACKS`, which feed records to the stacks of `stacks.rs`, in that order.
include!(concat!(env!("OUT_DIR"), "/stacks.rs"));

/// Frames into one of the stacks.
pub fn frames(bytes: &[u8]) {
    let Some((chosen, records)) = bytes.split_first() else {
        return;
    };
    let fuzz = STACKS[*chosen as usize % STACKS.len()];
    // SAFETY: the harness only reads the bytes that it is given.
    unsafe { fuzz(records.as_ptr(), records.len()) }
}
