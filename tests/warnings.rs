//! The C of every example, and of stacks with other forms of the language, compiles without a
//! word.

use stackloom::back::c::Printed;
use stackloom::pipeline::{self, Passes, Variant};
use stackloom::reactive::lower;
use stackloom::source::Sources;
use stackloom::tool::library::Folders;
use stackloom::tree::rewrites::Rewrites;
use stackloom::types::check_stack;
use stackloom::types::load::load;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Every compiler has to be content with these.
const FLAGS: [&str; 7] = [
    "-std=c11",
    "-Wall",
    "-Wextra",
    "-Wpedantic",
    "-Wconversion",
    "-Wshadow",
    "-Werror",
];

const STACKS: [(&str, &str); 8] = [
    ("examples/ping/ping.loom", "ping"),
    ("examples/dual/dual.loom", "dual"),
    ("examples/host/host.loom", "host"),
    ("examples/radio/radio.loom", "radio"),
    ("examples/radio/two_ways.loom", "two_ways"),
    ("examples/telemetry/telemetry.loom", "station"),
    ("tests/warnings/layers.loom", "layers"),
    ("tests/warnings/forms.loom", "forms_stack"),
];

/// The C of a stack, behind all rewrites and passes or as it was lowered.
fn printed(file: &str, text: &str, name: &str, all: bool) -> Printed {
    let mut sources = Sources::new();
    let root = vec![(file.to_string(), text.to_string())];
    let library = Folders {
        search: vec![PathBuf::from("layers")],
    };
    let (files, _) = load(&mut sources, root, &library);
    let (program, diagnostics) = check_stack(&sources, &files, name);
    let mut program = program.unwrap_or_else(|| panic!("{file} is right: {diagnostics:?}"));
    let forest = lower(&program).expect("it has trees");
    let (rewrites, passes) = match all {
        true => (Rewrites::ALL, Passes::ALL),
        false => (Rewrites::NONE, Passes::NONE),
    };
    let forest = pipeline::unwoven(&mut program, forest, rewrites);
    let stack = (&sources, &program, &forest);
    pipeline::printed(stack, Variant::Plain, (rewrites, passes)).1
}

/// A folder of its own for each test.
fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::create_dir_all(&folder).expect("a folder to compile in");
    folder
}

fn run(program: &str, arguments: &[&str], folder: &Path) -> Result<String, String> {
    let output = Command::new(program)
        .args(arguments)
        .current_dir(folder)
        .output()
        .map_err(|error| format!("{program}: {error}"))?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let errors = String::from_utf8_lossy(&output.stderr);
    if output.status.success() {
        return Ok(text);
    }
    Err(format!("{program} {arguments:?}:\n{text}{errors}"))
}

fn write(folder: &Path, name: &str, code: &Printed) {
    std::fs::write(folder.join(format!("{name}.c")), &code.c).expect("written");
    std::fs::write(folder.join(format!("{name}.h")), &code.h).expect("written");
}

/// `gcc`, and `clang-16` where there is one.
fn compilers() -> Vec<&'static str> {
    let there = |name: &&str| Command::new(name).arg("--version").output().is_ok();
    let mut all = vec!["gcc"];
    all.extend(Some("clang-16").filter(there));
    all
}

#[test]
fn every_stack_compiles_without_a_word() {
    for woven in [false, true] {
        for (file, name) in STACKS {
            let text = std::fs::read_to_string(file).expect("an example");
            let code = printed(file, &text, name, woven);
            let folder = folder(&format!("example_{name}_{woven}"));
            write(&folder, name, &code);
            let levels: &[&str] = match (name, woven) {
                ("host", true) => &["-O0", "-O2", "-O3"],
                _ => &["-O2"],
            };
            for compiler in compilers() {
                for level in levels {
                    let source = format!("{name}.c");
                    let last = [level, "-c", &source, "-o", "out.o"];
                    let arguments = [&FLAGS[..], &last].concat();
                    run(compiler, &arguments, &folder).unwrap_or_else(|error| panic!("{error}"));
                }
            }
        }
    }
}

#[test]
fn the_same_program_gives_the_same_bytes() {
    let (file, name) = STACKS[1];
    let text = std::fs::read_to_string(file).expect("an example");
    let [one, other] = [true, true].map(|woven| printed(file, &text, name, woven));
    assert_eq!(one.c, other.c);
    assert_eq!(one.h, other.h);
}

#[test]
fn clang_format_leaves_it_as_it_is() {
    let formatter = "clang-format-16";
    if Command::new(formatter).arg("--version").output().is_err() {
        println!("{formatter} is not there");
        return;
    }
    let folder = folder("formatted");
    let mut files = Vec::new();
    for (at, (file, name)) in STACKS.into_iter().enumerate() {
        let text = std::fs::read_to_string(file).expect("an example");
        write(&folder, name, &printed(file, &text, name, at % 2 == 0));
        files.extend([format!("{name}.c"), format!("{name}.h")]);
    }
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    for header in std::fs::read_dir(root.join("runtime")).expect("the runtime is there") {
        let path = header.expect("it can be read").path();
        files.push(path.to_string_lossy().into_owned());
    }
    let style = format!("--style=file:{}", root.join(".clang-format").display());
    let mut arguments = vec!["--dry-run", "--Werror", &style];
    arguments.extend(files.iter().map(String::as_str));
    run(formatter, &arguments, &folder).unwrap_or_else(|error| panic!("{error}"));
}
