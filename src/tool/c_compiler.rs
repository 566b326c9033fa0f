//! From generated C to a stack that can be run: calls the machine's C compiler.
//!
//! In: a stack's C, header and description, and the C of others that it calls. Out: the loaded
//! `Program`. The shared object lives in a temporary directory that is gone once it is loaded.

use super::companion::companion;
use super::failure::{Failure, about, plain};
use super::layout::Description;
use super::stack::Program;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

/// Compiles `NAME.c` and `NAME.h` together with their companion, and loads the result.
pub fn load(source: &str, header: &str, description: &Description) -> Result<Program, Failure> {
    load_with(source, header, description, &[])
}

/// The same, with files of C that hold the functions which the stack declares as `extern`.
pub fn load_with(
    source: &str,
    header: &str,
    description: &Description,
    functions: &[PathBuf],
) -> Result<Program, Failure> {
    let name = &description.name;
    if let (false, []) = (description.functions_in_c.is_empty(), functions) {
        let missing = description.functions_in_c.join(", ");
        return Err(Failure::environment(format!(
            "`{name}` calls functions that are written in C ({missing}): add their source with --c \
            FILE"
        )));
    }
    let functions: Vec<PathBuf> = functions
        .iter()
        .map(|path| path.canonicalize().map_err(about(path)))
        .collect::<Result<_, _>>()?;
    let directory = tempfile::tempdir().map_err(|error| {
        Failure::environment(format!(
            "cannot create a temporary folder: {}",
            plain(&error)
        ))
    })?;
    let companion_name = format!("{name}_loom_companion.c");
    let (source_name, header_name) = (format!("{name}.c"), format!("{name}.h"));
    let files = [
        (&source_name, source),
        (&header_name, header),
        (&companion_name, &companion(description)),
    ];
    for (file, text) in files {
        let path = directory.path().join(file);
        std::fs::write(&path, text).map_err(about(&path))?;
    }
    let object = directory.path().join(format!("{name}.so"));
    let mut sources: Vec<&Path> = vec![Path::new(&source_name), Path::new(&companion_name)];
    sources.extend(functions.iter().map(PathBuf::as_path));
    compile(directory.path(), &sources, &object)?;
    Program::load(&object, description.clone())
}

fn compile(directory: &Path, sources: &[&Path], object: &Path) -> Result<(), Failure> {
    let flags = [
        "-std=c11",
        "-O2",
        "-g",
        "-fPIC",
        "-shared",
        "-Wl,-Bsymbolic",
        "-Wl,-z,defs",
    ];
    run(directory, &flags, sources, object, "the generated C")
}

/// Compiles files in a folder to a program, more leniently: they may hold the C of others.
pub fn executable(
    directory: &Path,
    sources: &[&Path],
    program: &Path,
    flags: &[&str],
) -> Result<(), Failure> {
    let flags = [&["-std=gnu11", "-ffp-contract=off"], flags].concat();
    run(directory, &flags, sources, program, "the C sources")
}

/// Starts a program that was compiled, and returns it with its standard input and output.
pub fn started(program: &Path) -> Result<(Child, ChildStdin, ChildStdout), Failure> {
    let mut process = Command::new(program)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .map_err(about(program))?;
    let requests = process.stdin.take().expect("it was asked for");
    let answers = process.stdout.take().expect("it was asked for");
    Ok((process, requests, answers))
}

fn run(
    directory: &Path,
    flags: &[&str],
    sources: &[&Path],
    result: &Path,
    what: &str,
) -> Result<(), Failure> {
    let words = compiler()?;
    let output = Command::new(&words[0])
        .args(flags)
        // Behind the flags, so that they prevail.
        .args(&words[1..])
        // Not `-I`: a stack may be called as a header of the C library is.
        .args(["-iquote", ".", "-o"])
        .arg(result)
        .args(sources)
        .arg("-lm")
        .current_dir(directory)
        .output()
        .map_err(|error| Failure::environment(format!("{}: {}", words[0], plain(&error))))?;
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    let compiler = words.join(" ");
    Err(Failure::refused(format!(
        "`{compiler}` cannot compile {what}:\n{}",
        said.trim_end()
    )))
}

/// The compiler's command: `CC` of the environment, or the first that is installed.
fn compiler() -> Result<Vec<String>, Failure> {
    if let Ok(chosen) = std::env::var("CC") {
        let words: Vec<String> = chosen.split_whitespace().map(str::to_string).collect();
        if !words.is_empty() {
            return Ok(words);
        }
    }
    let search = std::env::var_os("PATH").unwrap_or_default();
    let folders: Vec<_> = std::env::split_paths(&search).collect();
    ["cc", "gcc", "clang", "clang-16"]
        .into_iter()
        .find(|name| folders.iter().any(|folder| folder.join(name).is_file()))
        .map(|name| vec![name.to_string()])
        .ok_or_else(|| {
            let advice = "install gcc or clang, or name a compiler with CC=... loom run ...";
            Failure::environment(format!("no C compiler was found: {advice}"))
        })
}
