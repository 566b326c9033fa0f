//! The commands of whoever writes layers: new, fmt, check, build, explain.
//!
//! In: paths from the command line. Out: files, and a few lines about them.

use super::compiler::{self, Options};
use super::failure::{Failure, about};
use std::fmt::Write;
use std::path::{Path, PathBuf};

/// A layer to begin with; `NAME` stands for its name.
const TEMPLATE: &str = "\
/// NAME: refuses what comes late or twice
///   above     messages, in the order in which they were sent, perhaps with gaps
///   below     any link
///   adds      4 bytes
worker NAME

header big {
    number: seq32
}

entity { next: seq32 = 1 }

session { last: seq32 = 0 }

on deliver(message) {
    require header.number > last likely 99% else drop message as late_or_repeated
    last = header.number
    deliver message
}

on send(message) {
    send message with { number = next }
    next += 1
}

stack NAME_alone {
    link wire {
        NAME { port messages }
    }
}
";

/// `loom new`: a file with a layer and a stack around it.
pub fn new(name: &str) -> Result<(), Failure> {
    let mut letters = name.chars();
    let starts_well = letters
        .next()
        .is_some_and(|first| first.is_ascii_lowercase());
    let goes_well = |letter: char| matches!(letter, 'a'..='z' | '0'..='9' | '_');
    if !starts_well || !letters.all(goes_well) {
        let advice = "lower case letters, digits and _, a letter first";
        return Err(Failure::environment(format!(
            "`{name}` cannot name a layer: {advice}"
        )));
    }
    let path = PathBuf::from(format!("{name}.loom"));
    let file = std::fs::OpenOptions::new()
        .write(true)
        .create_new(true)
        .open(&path);
    let mut file = file.map_err(about(&path))?;
    let text = TEMPLATE.replace("NAME", name);
    std::io::Write::write_all(&mut file, text.as_bytes()).map_err(about(&path))?;
    println!("wrote {}: try `loom check {0}`", path.display());
    Ok(())
}

/// `loom fmt`: every file in its canonical form, in place.
pub fn fmt(paths: &[PathBuf], check: bool) -> Result<(), Failure> {
    let mut files = Vec::new();
    for path in paths {
        collect(path, &mut files)?;
    }
    let mut different = Vec::new();
    for file in &files {
        let text = std::fs::read_to_string(file).map_err(about(file))?;
        let formatted = compiler::format(file, &text)?;
        if formatted != text {
            different.push(file);
            if !check {
                std::fs::write(file, formatted).map_err(about(file))?;
            }
        }
    }
    let verb = if check { "would change" } else { "changed" };
    different
        .iter()
        .for_each(|file| println!("{verb} {}", file.display()));
    eprintln!("{} files read, {} {verb}", files.len(), different.len());
    match check && !different.is_empty() {
        true => Err(Failure::refused("")),
        false => Ok(()),
    }
}

/// The Loom files that a path stands for: itself, or all below it in the order of their names.
fn collect(path: &Path, files: &mut Vec<PathBuf>) -> Result<(), Failure> {
    if !path.is_dir() {
        files.push(path.to_path_buf());
        return Ok(());
    }
    let entries = std::fs::read_dir(path).map_err(about(path))?;
    let entries: Result<Vec<_>, _> = entries.collect();
    let mut inside: Vec<PathBuf> = entries
        .map_err(about(path))?
        .into_iter()
        .map(|entry| entry.path())
        .collect();
    inside.sort();
    inside.retain(|entry| entry.is_dir() || entry.extension().is_some_and(|end| end == "loom"));
    inside.iter().try_for_each(|entry| collect(entry, files))
}

/// `loom check`: all files, so that one run tells all that is wrong.
pub fn check(files: &[PathBuf], options: &Options) -> Result<(), Failure> {
    let mut last = Ok(());
    for file in files {
        match compiler::check(file, options) {
            Ok(found) => println!("{}: {found}", file.display()),
            Err(failure) => {
                if let Err(earlier) = last {
                    Failure::report(&earlier);
                }
                last = Err(failure);
            }
        }
    }
    last
}

/// `loom build`: writes `NAME.c` and `NAME.h`.
pub fn build(stack: &Path, folder: &Path, json: bool, options: &Options) -> Result<(), Failure> {
    let compiled = compiler::compile(stack, options)?;
    std::fs::create_dir_all(folder).map_err(about(folder))?;
    let name = &compiled.description.name;
    let files = [
        (format!("{name}.c"), &compiled.source),
        (format!("{name}.h"), &compiled.header),
    ];
    let mut said = String::new();
    for (file, text) in files {
        let path = folder.join(file);
        std::fs::write(&path, text).map_err(about(&path))?;
        writeln!(said, "wrote {}, {} bytes", path.display(), text.len())
            .expect("a string takes every line");
    }
    if json {
        eprint!("{said}");
        let report = serde_json::to_string(&compiled.report);
        println!(
            "{}",
            report.expect("numbers and names can be written as JSON")
        );
    } else {
        print!("{said}");
    }
    Ok(())
}

/// `loom explain`: what a diagnostic means.
pub fn explain(id: &str) -> Result<(), Failure> {
    println!("{}", compiler::explain(id)?);
    Ok(())
}
