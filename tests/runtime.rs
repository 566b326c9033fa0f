//! The C runtime against its twin in Rust: the same random operations on both must get the same
//! answers. The C side is `tests/runtime/driver.c` behind the parts that it mentions, compiled by
//! gcc and clang with the sanitizers, unoptimised and optimised. `SEED=n cargo test --test
//! runtime` begins with another seed.

#[path = "runtime/traces.rs"]
mod traces;

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;

use stackloom::c::runtime;
use traces::Trace;

const COMPILERS: [&str; 2] = ["gcc", "clang-16"];

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

/// How a compiler is told which lanes the machine has.
#[cfg(target_arch = "x86_64")]
const LANES: [&str; 2] = ["-msse2", "-mavx2"];
#[cfg(not(target_arch = "x86_64"))]
const LANES: [&str; 1] = ["-Wall"];

/// The instructions that multiply 64 bytes at once in GF(256).
const WIDEST: [&str; 3] = ["-O2", "-mgfni", "-mavx512bw"];

/// How many traces there are of each kind of container.
const SEEDS: u64 = 50;

#[test]
fn c_and_rust_give_the_same_answers() {
    let first: u64 = match std::env::var("SEED") {
        Ok(seed) => seed.parse().expect("SEED is a number"),
        Err(_) => 1,
    };
    println!("seeds {first} to {}", first + SEEDS - 1);
    let traces: Vec<Trace> = (first..first + SEEDS).flat_map(traces::all).collect();
    let source = write_driver("compared.c");
    for compiler in present_compilers() {
        for options in [&["-O0"][..], &["-O2"], &["-O2", "-mavx2"], &WIDEST] {
            if !runs_here(options) {
                println!("{options:?} does not run here: skipped");
                continue;
            }
            let level = options.concat();
            let program = source.with_file_name(format!("compared-{compiler}{level}"));
            let sanitizers = [
                "-g",
                "-fsanitize=address,undefined",
                "-fno-sanitize-recover=all",
            ];
            let output = program.to_str().expect("paths of the build are text");
            compile(
                compiler,
                &source,
                &[options, &["-o", output], &sanitizers].concat(),
            );
            compare(
                &format!("{compiler} {level}"),
                &answers(&program, &traces),
                &traces,
            );
        }
    }
}

#[test]
fn the_parts_compile_without_a_warning_at_every_level() {
    let source = write_driver("warned.c");
    for compiler in present_compilers() {
        for level in ["-O0", "-O1", "-O2", "-O3", "-Os"] {
            for lanes in LANES {
                let object = source.with_file_name(format!("warned-{compiler}{level}{lanes}.o"));
                let output = object.to_str().expect("paths of the build are text");
                compile(compiler, &source, &[level, lanes, "-c", "-o", output]);
            }
        }
    }
}

#[test]
fn the_driver_tries_every_part() {
    // The codes are compared by tests/coders.rs.
    let drivers = concat!(
        include_str!("runtime/driver.c"),
        include_str!("coders/driver.c")
    );
    let parts = runtime::select(&runtime::mentioned(drivers));
    let tried = runtime::mentioned(&parts);
    let missing: Vec<&str> = runtime::names()
        .filter(|name| !tried.contains(name) && !name.starts_with("mem"))
        .collect();
    assert!(
        missing.is_empty(),
        "neither tests/runtime/driver.c nor tests/coders/driver.c tries {missing:?}"
    );
}

/// Whether this machine carries out what is compiled so.
fn runs_here(options: &[&str]) -> bool {
    #[cfg(target_arch = "x86_64")]
    let has = |option: &str| match option {
        "-mavx2" => std::is_x86_feature_detected!("avx2"),
        "-mavx512bw" => std::is_x86_feature_detected!("avx512bw"),
        "-mgfni" => std::is_x86_feature_detected!("gfni"),
        _optimises => true,
    };
    #[cfg(not(target_arch = "x86_64"))]
    let has = |option: &str| !option.starts_with("-m");
    options.iter().all(|option| has(option))
}

fn present_compilers() -> Vec<&'static str> {
    let (present, missing): (Vec<&str>, Vec<&str>) = COMPILERS
        .into_iter()
        .partition(|compiler| Command::new(compiler).arg("--version").output().is_ok());
    for compiler in missing {
        println!("{compiler} is not installed: skipped");
    }
    assert!(
        !present.is_empty(),
        "one of {COMPILERS:?} must be installed"
    );
    present
}

/// Writes the driver as a generated file would be: headers, parts, code.
fn write_driver(name: &str) -> PathBuf {
    let code = include_str!("runtime/driver.c");
    let headers = ["bool", "def", "int"]
        .map(|part| format!("#include <std{part}.h>\n"))
        .concat();
    let parts = runtime::select(&runtime::mentioned(code));
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    fs::write(&path, format!("{headers}\n{parts}\n{code}"))
        .expect("the build directory can be written");
    path
}

fn compile(compiler: &str, source: &Path, arguments: &[&str]) {
    let result = Command::new(compiler)
        .args(WARNINGS)
        .args(arguments)
        .arg(source)
        .output()
        .expect("the compiler runs");
    let said = String::from_utf8_lossy(&result.stderr);
    assert!(
        result.status.success(),
        "{compiler} {arguments:?} refuses the parts:\n{said}"
    );
}

/// What the driver answers to all traces, a line for each operation.
fn answers(program: &Path, traces: &[Trace]) -> String {
    let operations: Vec<&str> = traces
        .iter()
        .flat_map(|trace| &trace.steps)
        .map(|step| step.operation.as_str())
        .collect();
    let mut driver = Command::new(program)
        .env("ASAN_OPTIONS", "detect_leaks=0")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("the driver runs");
    let mut input = driver.stdin.take().expect("the input is a pipe");
    let text = operations.join("\n") + "\n";
    // A driver that a sanitizer stops reads no further: that is seen in its answers.
    let writer = thread::spawn(move || input.write_all(text.as_bytes()).is_ok());
    let output = driver.wait_with_output().expect("the driver ends");
    writer.join().expect("the writer ends with the pipe");
    String::from_utf8(output.stdout).expect("the driver prints text")
}

/// Fails with the first difference.
fn compare(who: &str, answers: &str, traces: &[Trace]) {
    let mut answers = answers.lines();
    for trace in traces {
        for (at, step) in trace.steps.iter().enumerate() {
            let answer = answers.next().unwrap_or("nothing: the driver was stopped");
            if answer != step.answer {
                let before: Vec<&str> = trace.steps[..=at]
                    .iter()
                    .map(|step| step.operation.as_str())
                    .collect();
                panic!(
                    "{who}, {} of SEED={}, step {at}:\n{}\nC answers    {answer}\nRust answers {}",
                    trace.kind,
                    trace.seed,
                    before.join("\n"),
                    step.answer,
                );
            }
        }
    }
    assert_eq!(answers.next(), None, "{who} answers more than it was asked");
}
