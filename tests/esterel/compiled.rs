//! Modules of Esterel as C, many in one program.
//!
//! In: modules that were compiled, and what is given to them. Out: what the C says of each instant.

use stackloom::pipeline::Reactive;
use stackloom::simulate::process::machine::Machine;
use stackloom::tool::esterel::child::{Child, InC, files};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Every compiler has to be content with these.
const WARNINGS: [&str; 8] = [
    "-std=c11",
    "-Wall",
    "-Wextra",
    "-Wpedantic",
    "-Wconversion",
    "-Wshadow",
    "-Werror",
    "-O1",
];

const SANITIZERS: [&str; 4] = [
    "-std=gnu11",
    "-g1",
    "-fsanitize=address,undefined",
    "-fno-sanitize-recover=all",
];

/// The compilers that are tried, each with the optimisation that it is tried with.
pub const WAYS: [(&str, &str); 2] = [("gcc", "-O0"), ("clang-16", "-O2")];

/// Modules that were compiled by one compiler; none if it is not installed.
pub fn built(folder: &str, (compiler, level): (&str, &str), all: &[&Reactive]) -> Option<PathBuf> {
    if Command::new(compiler).arg("--version").output().is_err() {
        println!("{compiler} is not installed: skipped");
        return None;
    }
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"))
        .join("esterel")
        .join(format!("{folder}-{compiler}"));
    fs::create_dir_all(&folder).expect("a folder to compile in");
    for (name, text) in files(all) {
        fs::write(folder.join(name), text).expect("written");
    }
    let own: String = all
        .iter()
        .map(|one| format!("#include \"{}.c\"\n", one.module.name))
        .collect();
    fs::write(folder.join("all.c"), own).expect("written");
    is_formatted(all, &folder);
    let strict = [&WARNINGS[..], &["-c", "all.c", "-o", "all.o"]].concat();
    compile(compiler, &strict, &folder);
    let whole = ["companion.c", "pipe.c", "-o", "program", level];
    compile(compiler, &[&SANITIZERS[..], &whole].concat(), &folder);
    Some(folder.join("program"))
}

/// The C is as clang-format would have it.
fn is_formatted(all: &[&Reactive], folder: &Path) {
    let formatter = "clang-format-16";
    if Command::new(formatter).arg("--version").output().is_err() {
        println!("{formatter} is not installed: skipped");
        return;
    }
    let style = Path::new(env!("CARGO_MANIFEST_DIR")).join(".clang-format");
    let style = format!("--style=file:{}", style.display());
    let own = |one: &&Reactive| ["c", "h"].map(|ending| format!("{}.{ending}", one.module.name));
    let files: Vec<String> = all.iter().flat_map(own).collect();
    let files = files.iter().map(String::as_str);
    let arguments: Vec<&str> = ["--dry-run", "--Werror", &style]
        .into_iter()
        .chain(files)
        .collect();
    compile(formatter, &arguments, folder);
}

fn compile(compiler: &str, arguments: &[&str], folder: &Path) {
    let output = Command::new(compiler)
        .args(arguments)
        .current_dir(folder)
        .output()
        .expect("the compiler runs");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{compiler} {arguments:?}\n{said}");
}

/// What the module with a number says of each instant, up to a fault.
pub fn played(program: &Path, number: usize, reactive: &Reactive, given: &[String]) -> Vec<String> {
    let module = &reactive.module;
    let child = Child::start(program, module, number as u32).expect("it begins");
    let mut machine = Machine::of(module, &child, Box::new(InC(&child)));
    let said = super::played(&mut machine, given);
    assert_eq!(child.wrong(), None, "{}", module.name);
    said
}
