//! `cargo +nightly fuzz run frames fuzz/seeds/frames`
//!
//! The first byte chooses the stack; the others are records of `frames.c`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| stackloom_fuzz::frames(bytes));
