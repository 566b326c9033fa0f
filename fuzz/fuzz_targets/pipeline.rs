//! `cargo +nightly fuzz run pipeline fuzz/seeds/pipeline`
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| stackloom_fuzz::targets::pipeline(bytes));
