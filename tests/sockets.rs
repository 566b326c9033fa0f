//! The sockets of `examples/sockets`, as a program meets them.
//!
//! In: `libsockets.a` as its Makefile builds it, under sanitizers, and programs in C beside it.
//! Out: whether two hosts in one program do in virtual time what POSIX says of each situation, and
//! whether the kernel as a peer hears and says every byte. Debug, alone: 25 s.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

const SANITIZED: &str = "-O0 -g -Werror -fsanitize=address,undefined -fno-sanitize-recover=all";

fn run(command: &mut Command) -> String {
    let output = command.output().expect("it can be started");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let (said, wrong) = (text(&output.stdout), text(&output.stderr));
    assert!(output.status.success(), "{command:?}:\n{said}{wrong}");
    said
}

/// The folder in which a compiler has built the library.
fn library(compiler: &str, flags: &str, name: &str) -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("sockets_{name}"));
    let archive = folder.join("libsockets.a");
    let mut make = Command::new("make");
    make.current_dir(root.join("examples/sockets"));
    make.arg(format!("LOOM={}", env!("CARGO_BIN_EXE_loom")));
    make.args([format!("CC={compiler}"), format!("CFLAGS={flags}")]);
    make.arg(format!("BUILD={}", folder.display()));
    run(make.arg(archive));
    folder
}

/// That of gcc, which two tests use.
fn built_by_gcc() -> &'static Path {
    static BUILT: OnceLock<PathBuf> = OnceLock::new();
    BUILT.get_or_init(|| library("gcc", SANITIZED, "gcc"))
}

/// Files of `tests/sockets` become a program, together with the library.
fn program(compiler: &str, flags: &str, folder: &Path, files: &[&str]) -> PathBuf {
    let own = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/sockets");
    let program = folder.join(files[0]).with_extension("");
    let mut compile = Command::new(compiler);
    compile.args(["-std=c11", "-D_GNU_SOURCE", "-Wall", "-Wextra", "-Werror"]);
    compile.args(flags.split(' '));
    compile
        .current_dir(own)
        .args(["-I", "../../examples/sockets"]);
    compile.args(files).arg(folder.join("libsockets.a"));
    run(compile.arg("-o").arg(&program));
    program
}

fn situations_hold(compiler: &str, folder: &Path) {
    let files = [
        "main.c",
        "wire.c",
        "life.c",
        "room.c",
        "names.c",
        "strangers.c",
    ];
    let program = program(compiler, SANITIZED, folder, &files);
    let seed = std::env::var("SEED").unwrap_or("1".to_string());
    println!("SEED={seed}");
    println!("{}", run(Command::new(program).env("SEED", seed)));
}

#[test]
fn two_hosts_in_one_program_meet_every_situation_under_gcc() {
    situations_hold("gcc", built_by_gcc());
}

#[test]
fn two_hosts_in_one_program_meet_every_situation_under_clang() {
    if Command::new("clang-16").arg("--version").output().is_err() {
        println!("skipped: there is no clang-16");
        return;
    }
    situations_hold("clang-16", &library("clang-16", SANITIZED, "clang"));
}

/// The same with the kernel at the other end of a TUN device, where it may have one.
#[test]
fn the_kernel_calls_and_is_called() {
    let program = program("gcc", SANITIZED, built_by_gcc(), &["kernel.c"]);
    println!("{}", run(&mut Command::new(program)));
}

/// Two gigabytes go over one connection, so this is built again from the same C, to be quick.
#[test]
fn what_was_long_ago_is_not_taken_for_what_is_to_come() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("sockets_quick");
    std::fs::create_dir_all(&folder).expect("a folder of its own");
    for file in ["internet.c", "internet.h"] {
        std::fs::copy(built_by_gcc().join(file), folder.join(file)).expect("a copy");
    }
    let quick = "-O2 -Werror";
    let program = program(
        "gcc",
        quick,
        &library("gcc", quick, "quick"),
        &["far.c", "wire.c"],
    );
    println!("{}", run(&mut Command::new(program)));
}
