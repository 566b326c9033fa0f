//! Specifications of Estelle on the command line.
//!
//! In: the path of a `.stl` or `.estelle` file, and values of its constants. Out: the checked
//! specification, its canonical form or its views; or a `Failure` after the diagnostics were
//! printed. `build.rs` writes its C, `child.rs` runs that.

mod build;
pub mod child;

pub use super::library::is_estelle;
pub use build::{Decider, bounds, build};

use super::compiler::deep;
use super::esterel::text_of;
use super::failure::{Failure, about};
use super::layout::instead;
use super::terminal::{counted, show};
use crate::pipeline::{self, Specified};
use crate::source::Sources;
use crate::syntax;
use crate::types::estelle::Settings;
use crate::view::{Shape, View, view_specification};
use std::collections::BTreeSet;
use std::fs::File;
use std::io::Read;
use std::path::Path;

/// The largest size of a specification, in bytes: its tree takes about forty times as much.
const LONGEST: u64 = 4 << 20;

/// The largest number of transitions that is shown, counted in each state.
const MOST_TRANSITIONS: usize = 5_000;

/// Reads `--set NAME=VALUE` and `--externs`.
pub fn settings(set: &[String], externs: bool) -> Result<Settings, Failure> {
    let constants = set.iter().map(|one| match one.split_once('=') {
        Some((name, value)) if !name.trim().is_empty() && !value.trim().is_empty() => {
            Ok((name.trim().to_string(), value.trim().to_string()))
        }
        Some(_) | None => Err(Failure::environment(format!(
            "--set {one}: write NAME=VALUE, as in --set retries=4"
        ))),
    });
    Ok(Settings {
        constants: constants.collect::<Result<_, _>>()?,
        externs,
    })
}

/// Reads and checks a specification; mistakes and warnings are printed.
pub fn read(path: &Path, settings: &Settings) -> Result<(Sources, Specified), Failure> {
    let (text, _) = text(path)?;
    let mut sources = Sources::new();
    let named = (path.display().to_string(), text);
    let (specified, found) = deep(|| pipeline::estelle(&mut sources, named, settings));
    show(&found, &sources)?;
    let specified = specified.ok_or_else(|| Failure::refused(""))?;
    Ok((sources, specified))
}

/// The encodings of a text.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Encoding {
    Utf8,
    Latin1,
}

/// Reads a text in UTF-8, or else in Latin-1.
fn text(path: &Path) -> Result<(String, Encoding), Failure> {
    let mut bytes = Vec::new();
    let file = File::open(path).map_err(about(path))?;
    let read = file.take(LONGEST + 1).read_to_end(&mut bytes);
    read.map_err(about(path))?;
    if bytes.len() as u64 > LONGEST {
        return Err(Failure::refused(format!(
            "{}: the file is longer than the limit of {} MiB",
            path.display(),
            LONGEST >> 20
        )));
    }
    let encoding = match std::str::from_utf8(&bytes) {
        Ok(_) => Encoding::Utf8,
        Err(_) => Encoding::Latin1,
    };
    Ok((text_of(bytes), encoding))
}

/// Checks a specification, and says its size.
pub fn check(path: &Path, settings: &Settings) -> Result<String, Failure> {
    let (_, Specified { program, .. }) = read(path, settings)?;
    let bodies = &program.bodies;
    // `any` makes several transitions of one block.
    let blocks = bodies.iter().flat_map(|body| &body.transitions);
    let blocks: BTreeSet<_> = blocks.map(|transition| transition.block).collect();
    // The first body is the specification itself.
    let modules = bodies.len().saturating_sub(1);
    let modules = match modules {
        1 => "1 body".to_string(),
        _ => format!("{modules} bodies"),
    };
    let transitions = counted(blocks.len(), "transition");
    Ok(format!(
        "specification {}: {modules}, {transitions}",
        program.name
    ))
}

/// Brings a file into its canonical form, or only checks that it has this form; returns true if it
/// has another one. The file keeps its encoding.
pub fn format(path: &Path, check: bool) -> Result<bool, Failure> {
    let (text, encoding) = text(path)?;
    let mut sources = Sources::new();
    let file = sources.add(path.display().to_string(), text.as_str());
    let (tree, diagnostics) = deep(|| syntax::estelle::parse(file, &sources));
    show(&diagnostics, &sources)?;
    let tree = tree.filter(|_| !pipeline::refused(&diagnostics));
    let tree = tree.ok_or_else(|| Failure::refused(""))?;
    let formatted = deep(|| syntax::estelle::format(&tree, &text));
    let is_different = formatted != text;
    if is_different && !check {
        let bytes = match encoding {
            Encoding::Utf8 => formatted.into_bytes(),
            // Each character of the text was one byte.
            Encoding::Latin1 => formatted.chars().map(|one| one as u8).collect(),
        };
        std::fs::write(path, bytes).map_err(about(path))?;
    }
    Ok(is_different)
}

/// Views a specification: the tree of its modules and all its bodies, or one body only.
pub fn shape(path: &Path, settings: &Settings, only: Option<&str>) -> Result<Shape, Failure> {
    let (sources, specified) = read(path, settings)?;
    let shape = deep(|| view_specification(&specified.tree, &sources, MOST_TRANSITIONS));
    let mut shape = shape.ok_or_else(|| {
        Failure::refused(format!(
            "the specification is too large to show: its states have more than \
             {MOST_TRANSITIONS} transitions"
        ))
    })?;
    if let Some(only) = only {
        let known: Vec<&str> = shape.bodies.iter().map(|one| one.0.as_str()).collect();
        if !known.iter().any(|name| name.eq_ignore_ascii_case(only)) {
            let path = path.display();
            let title = format!("{path} has no body `{only}` with transitions");
            return Err(Failure::environment(match known[..] {
                [] => title,
                _ => format!("{title}: {}", instead(only, &known)),
            }));
        }
        let is_chosen = |one: &(String, View)| one.0.eq_ignore_ascii_case(only);
        shape.bodies.retain(is_chosen);
        shape.modules.clear();
    }
    Ok(shape)
}
