//! The codes of `runtime/coders.h` against their twins in Rust: both get the same words with errors
//! and must give the same data and the same number of corrected bits. Published words check both,
//! and every error within the radius of a code must be corrected. The C is compiled by gcc and
//! clang with the sanitizers, optimised and not.
//!
//! `SEED=n` begins with another seed, `SEEDS=n` tries so many. The first difference is printed with
//! its seed.

#[path = "agree/random.rs"]
mod random;

use random::Random;
use stackloom::c::runtime;
use stackloom::simulate::coders::{convolutional, hamming, reed_solomon};
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;

const WARNINGS: [&str; 8] = [
    "-std=c11",
    "-Wall",
    "-Wextra",
    "-Wpedantic",
    "-Wconversion",
    "-Wsign-conversion",
    "-Wshadow",
    "-Werror",
];

/// The compilers and options for the C: blocks of GF(256) are words at `-O2`, and vectors where the
/// processor of this machine has an instruction that looks up bytes.
const WAYS: [(&str, &str); 6] = [
    ("gcc", "-O2"),
    ("clang-16", "-O2"),
    ("gcc", "-O2 -march=native"),
    ("clang-16", "-O2 -march=native"),
    ("gcc", "-O0"),
    ("clang-16", "-O0"),
];

/// Seeds of one run.
const SEEDS: u64 = 30;

/// A function of `coders.h`, what it is given, and what the twin makes of that.
struct Operation {
    seed: u64,
    function: &'static str,
    number: u8,
    data: Vec<u8>,
    expected: (Option<u32>, Vec<u8>),
}

#[test]
fn c_and_rust_agree_on_words_with_errors() {
    let number = |name: &str| std::env::var(name).ok()?.parse().ok();
    let first: u64 = number("SEED").unwrap_or(1);
    let seeds = number("SEEDS").unwrap_or(SEEDS);
    println!("seeds {first} to {}", first + seeds - 1);
    let mut operations = Vec::new();
    for seed in first..first + seeds {
        let mut random = Random(seed);
        hamming_words(seed, &mut random, &mut operations);
        convolutional_words(seed, &mut random, &mut operations);
        reed_solomon_words(seed, &mut random, &mut operations);
        if seed % 10 == 1 {
            long_frame(seed, &mut random, &mut operations);
        }
        any_bytes(seed, &mut random, &mut operations);
    }
    let corrects = operations.iter().filter(|one| one.expected.0 > Some(0));
    let fails = operations.iter().filter(|one| one.expected.0.is_none());
    let (corrects, fails) = (corrects.count(), fails.count());
    println!(
        "{} operations, {corrects} correct bits, {fails} fail",
        operations.len()
    );
    assert!(corrects > 100 && fails > 10, "too few words with errors");
    compare(&operations);
}

/// The words are those of the definitions, so that a change of both sides is found.
#[test]
fn words_are_as_they_are_published() {
    // Hamming 1950: the data 1011 has the codeword 0110011.
    let mut one = [0x80, 0, 0x80, 0x80, 0, 0, 0];
    hamming::encoded(&mut one);
    let positions = [4, 5, 0, 6, 1, 2, 3].map(|run: usize| one[run] >> 7);
    assert_eq!(positions, [0, 1, 1, 0, 0, 1, 1]);

    // Lin and Costello, Error Control Coding: by (7, 5) the bits 1011, and 00 to end in state 0,
    // become 11 10 00 01 01 11.
    let mut one = [0; 48];
    one[3] = 0b1011_0000;
    convolutional::encoded(&mut one);
    assert_eq!([one[3], one[19]], [0b1110_0001, 0b0111_0000]);
    assert_eq!(one[35], 0);

    // (x + 1)(x + 3) = x^2 + 2 x + 3 over 0x11b: the first root is 3^0 = 1, the second 3.
    let mut one = [1, 0, 0];
    reed_solomon::encoded(&mut one, 2);
    assert_eq!(one, [1, 2, 3]);
    // The sum of a codeword is 0, as 1 is a root.
    let mut one = *b"any message\0\0\0\0";
    reed_solomon::encoded(&mut one, 4);
    assert_eq!(one.iter().fold(0, |sum, byte| sum ^ byte), 0);
}

/// Each codeword of a Hamming word gets 0 to 2 wrong bits.
fn hamming_words(seed: u64, random: &mut Random, operations: &mut Vec<Operation>) {
    for run in [0, 1, 1 + random.below(60), 7 + random.below(3)] {
        let plain = content(random, 7 * run);
        let word = added(seed, "hamming_encoded", 0, &plain, operations).1;
        let at_most = random.below(3);
        let mut damaged = word.clone();
        let mut wrong = 0;
        for codeword in 0..8 * run {
            for _ in 0..random.below(at_most + 1) {
                let which = random.below(7);
                damaged[which * run + codeword / 8] ^= 0x80 >> (codeword % 8);
                wrong += 1;
            }
        }
        let (found, right) = added(seed, "hamming_decoded", 0, &damaged, operations);
        if at_most <= 1 {
            assert_eq!(
                (found, right),
                (Some(wrong), word),
                "seed {seed}, run {run}"
            );
        }
    }
}

/// Lanes get up to two wrong bits, which the free distance of 5 corrects; or all get many, also
/// in bursts of up to all bits. A burst of ones is farther from all codewords than a byte counts.
fn convolutional_words(seed: u64, random: &mut Random, operations: &mut Vec<Operation>) {
    for rows in [0, 1, 1 + random.below(20), 96, 97] {
        let plain = content(random, 16 * (2 * rows + 1));
        let word = added(seed, "convolutional_encoded", 0, &plain, operations).1;
        let mut damaged = word.clone();
        let few = random.percent(50);
        if few {
            for _ in 0..2 {
                let (at, lane) = (random.below(16 * rows + 4), random.below(16));
                damaged[at / 8 * 16 + lane] ^= 0x80 >> (at % 8);
            }
        } else {
            let often = random.below(256) as u64;
            let burst = random.below(damaged.len() + 1);
            for (at, byte) in damaged.iter_mut().enumerate() {
                for bit in 0..8 {
                    let flips = random.next() % 512 < often || at < burst && random.percent(90);
                    *byte ^= u8::from(flips) << bit;
                }
            }
        }
        let ones = vec![0xff; damaged.len()];
        added(seed, "convolutional_decoded", 0, &ones, operations);
        let (_, right) = added(seed, "convolutional_decoded", 0, &damaged, operations);
        if few && rows <= 96 {
            assert_eq!(
                right[..16 * rows],
                plain[..16 * rows],
                "seed {seed}, {rows} rows"
            );
        }
    }
}

/// Each codeword gets 0 to t + 2 wrong bytes, of which t are corrected.
fn reed_solomon_words(seed: u64, random: &mut Random, operations: &mut Vec<Operation>) {
    let lengths = [0, 1, 254, 255, 256, 1 + random.below(600)];
    for length in lengths {
        let parity: u8 = *random.one(&[1, 2, 3, 4, 7, 8, 8, 16, 32, 64]);
        let codewords = usize::div_ceil(length, 255 - usize::from(parity));
        let all = length + codewords * usize::from(parity);
        let word = added(
            seed,
            "reed_solomon_encoded",
            parity,
            &content(random, all),
            operations,
        )
        .1;
        let radius = usize::from(parity / 2);
        let mut damaged = word.clone();
        let at_most = random.below(radius + 3);
        for codeword in 0..codewords {
            for _ in 0..at_most {
                let of_data = (length - codeword).div_ceil(codewords);
                let place = random.below(of_data + usize::from(parity));
                let at = match place < of_data {
                    true => place * codewords + codeword,
                    false => length + (place - of_data) * codewords + codeword,
                };
                damaged[at] ^= 1 + random.below(255) as u8;
            }
        }
        let wrong = word.iter().zip(&damaged).map(|(a, b)| (a ^ b).count_ones());
        let wrong = wrong.sum();
        let found = added(seed, "reed_solomon_decoded", parity, &damaged, operations);
        if at_most <= radius {
            assert_eq!(
                found,
                (Some(wrong), word),
                "seed {seed}, {length} bytes, {parity}"
            );
        }
    }
}

/// A frame with more codewords than the coders process at once, each with a wrong byte.
fn long_frame(seed: u64, random: &mut Random, operations: &mut Vec<Operation>) {
    let codewords = 65;
    let plain = content(random, 255 * codewords - 7);
    let word = added(seed, "reed_solomon_encoded", 4, &plain, operations).1;
    let mut damaged = word.clone();
    for codeword in 0..codewords {
        damaged[codewords * random.below(200) + codeword] ^= 1 + random.below(255) as u8;
    }
    let (_, right) = added(seed, "reed_solomon_decoded", 4, &damaged, operations);
    assert_eq!(right, word, "seed {seed}");
}

/// Any function is given any bytes, and any number.
fn any_bytes(seed: u64, random: &mut Random, operations: &mut Vec<Operation>) {
    for function in [
        "hamming_encoded",
        "hamming_decoded",
        "convolutional_encoded",
        "convolutional_decoded",
        "reed_solomon_encoded",
        "reed_solomon_decoded",
    ] {
        let mut data = random.bytes();
        data.truncate(700);
        let number = *random.one(&[0, 1, 5, 128, 254, 255]);
        added(seed, function, number, &data, operations);
    }
}

/// Bytes: random, or all zero, or all one.
fn content(random: &mut Random, length: usize) -> Vec<u8> {
    match random.below(6) {
        0 => vec![0; length],
        1 => vec![0xff; length],
        _ => (0..length).map(|_| random.next() as u8).collect(),
    }
}

/// Adds an operation; returns what the twin makes of it.
fn added(
    seed: u64,
    function: &'static str,
    number: u8,
    data: &[u8],
    operations: &mut Vec<Operation>,
) -> (Option<u32>, Vec<u8>) {
    let mut left = data.to_vec();
    let found = match function {
        "hamming_decoded" => Some(hamming::decoded(&mut left)),
        "convolutional_decoded" => convolutional::decoded(&mut left),
        "reed_solomon_decoded" => reed_solomon::decoded(&mut left, number),
        _encoder => {
            match function {
                "hamming_encoded" => hamming::encoded(&mut left),
                "convolutional_encoded" => convolutional::encoded(&mut left),
                _reed_solomon => reed_solomon::encoded(&mut left, number),
            }
            Some(0)
        }
    };
    let expected = (found, left);
    operations.push(Operation {
        seed,
        function,
        number,
        data: data.to_vec(),
        expected: expected.clone(),
    });
    expected
}

/// Fails with the first operation that the C does differently.
fn compare(operations: &[Operation]) {
    let input: String = operations
        .iter()
        .map(|it| format!("{} {} .{}\n", it.function, it.number, hexadecimal(&it.data)))
        .collect();
    let source = write_driver();
    let mut tried = 0;
    for (compiler, level) in WAYS {
        if Command::new(compiler).arg("--version").output().is_err() {
            println!("{compiler} is not installed: skipped");
            continue;
        }
        tried += 1;
        let answers = answers(&compiled(compiler, level, &source), &input);
        let mut answers = answers.lines();
        for operation in operations {
            let (found, left) = &operation.expected;
            let found = found.map_or("-".to_string(), |found| found.to_string());
            let expected = format!("{found} .{}", hexadecimal(left));
            let answer = answers.next().unwrap_or("nothing: the driver was stopped");
            assert_eq!(
                answer,
                expected,
                "{compiler} {level}, SEED={}: {} {} .{}",
                operation.seed,
                operation.function,
                operation.number,
                hexadecimal(&operation.data)
            );
        }
        assert_eq!(
            answers.next(),
            None,
            "{compiler} answers more than it was asked"
        );
    }
    assert!(tried > 0, "gcc or clang must be installed");
}

fn hexadecimal(data: &[u8]) -> String {
    data.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Writes the driver as a generated file would be: headers, parts, code.
fn write_driver() -> PathBuf {
    let code = include_str!("coders/driver.c");
    let parts = runtime::select(&runtime::mentioned(code));
    let headers = ["bool", "def", "int"].map(|part| format!("#include <std{part}.h>\n"));
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join("coders.c");
    let text = format!("{}\n{parts}\n{code}", headers.concat());
    fs::write(&path, text).expect("the build directory can be written");
    path
}

fn compiled(compiler: &str, level: &str, source: &Path) -> PathBuf {
    let program = source.with_file_name(format!("coders-{compiler}{}", level.replace(' ', "")));
    let result = Command::new(compiler)
        .args(WARNINGS)
        .args(level.split(' '))
        .args([
            "-g",
            "-fsanitize=address,undefined",
            "-fno-sanitize-recover=all",
        ])
        .arg("-o")
        .args([&program, source])
        .output()
        .expect("the compiler runs");
    let said = String::from_utf8_lossy(&result.stderr);
    assert!(
        result.status.success(),
        "{compiler} {level} refuses the codes:\n{said}"
    );
    program
}

/// The answers of the driver, a line for each operation.
fn answers(program: &Path, input: &str) -> String {
    let mut driver = Command::new(program)
        .env("ASAN_OPTIONS", "detect_leaks=0")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("the driver runs");
    let mut pipe = driver.stdin.take().expect("the input is a pipe");
    let text = input.to_string();
    // A driver that a sanitizer stops reads no further: that is seen in its answers.
    let writer = thread::spawn(move || pipe.write_all(text.as_bytes()).is_ok());
    let output = driver.wait_with_output().expect("the driver ends");
    writer.join().expect("the writer ends with the pipe");
    String::from_utf8(output.stdout).expect("the driver prints text")
}
