//! `cargo +nightly fuzz run parser fuzz/seeds/parser`
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| stackloom_fuzz::targets::parser(bytes));
