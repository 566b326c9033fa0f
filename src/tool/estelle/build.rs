//! `loom build` for Estelle: in, a specification and bounds; out, its C in a folder.

use super::read;
use crate::back::c::estelle::Printed;
use crate::lower::estelle::{Bounds, Choices};
use crate::pipeline::{self, Specified};
use crate::tool::compiler::{NAME_OPTION, deep, refuse_name};
use crate::tool::failure::{Failure, about};
use crate::tool::layout::instead;
use crate::tool::terminal::style::is_json;
use crate::tool::terminal::{note, result};
use crate::types::estelle::Settings;
use crate::types::estelle::program::Program;
use std::fmt::Write;
use std::path::Path;

/// The most instances of a body that `--instances` gives.
const MOST_INSTANCES: u32 = 65_536;

/// The one who chooses where Estelle leaves a choice.
#[derive(clap::ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub enum Decider {
    /// The first possibility: order of declaration, order of creation, earliest time
    First,
    /// The function NAME_choose of the program
    Host,
}

/// Reads `--queue N`, `--instances BODY=N` and `--choice`.
pub fn bounds(
    queue: Option<u32>,
    instances: &[String],
    decider: Option<Decider>,
) -> Result<Bounds, Failure> {
    let mut bounds = Bounds::default();
    bounds.queue = queue.unwrap_or(bounds.queue);
    bounds.choices = match decider {
        Some(Decider::Host) => Choices::Host,
        Some(Decider::First) | None => Choices::First,
    };
    for one in instances {
        let split = one.split_once('=');
        let read = split.and_then(|(body, count)| Some((body, count.trim().parse().ok()?)));
        let Some((body, count @ 1..=MOST_INSTANCES)) = read else {
            return Err(Failure::environment(format!(
                "--instances {one}: write BODY=N with N from 1 to {MOST_INSTANCES}"
            )));
        };
        bounds.instances.insert(body.trim().to_lowercase(), count);
    }
    Ok(bounds)
}

/// `loom build`: writes `NAME.c` and `NAME.h`; the name is the specification's, unless another is
/// given.
pub fn build(
    path: &Path,
    folder: &Path,
    name: Option<&str>,
    (settings, bounds): (&Settings, &Bounds),
) -> Result<(), Failure> {
    let (_, Specified { mut program, .. }) = read(path, settings)?;
    if let Some(unknown) = bounds
        .instances
        .keys()
        .find(|name| !has_body(&program, name))
    {
        let known = program.bodies.iter().map(|one| one.name.to_lowercase());
        let known: Vec<String> = known.collect();
        let known: Vec<&str> = known.iter().map(String::as_str).collect();
        let title = format!("--instances: {} has no body `{unknown}`", path.display());
        return Err(Failure::environment(format!(
            "{title}: {}",
            instead(unknown, &known)
        )));
    }
    if let Some(name) = name {
        program.name = name.to_string();
    }
    let own = program.name.to_lowercase();
    refuse_name(&own, NAME_OPTION)?;
    let printed = c_of(path, &program, bounds)?;
    std::fs::create_dir_all(folder).map_err(about(folder))?;
    let mut said = String::new();
    for (ending, text) in [("c", printed.c), ("h", printed.h)] {
        let path = folder.join(format!("{own}.{ending}"));
        std::fs::write(&path, &text).map_err(about(&path))?;
        writeln!(said, "wrote {}, {} bytes", path.display(), text.len())
            .expect("a string takes every line");
    }
    match is_json() {
        true => note(said.trim_end()),
        false => result(said)?,
    }
    Ok(())
}

/// Compiles a specification to C.
pub fn c_of(path: &Path, program: &Program, bounds: &Bounds) -> Result<Printed, Failure> {
    let file = path.file_name().unwrap_or_default().to_string_lossy();
    let printed = deep(|| pipeline::estelle_c(&file, program, bounds));
    printed.map_err(|reason| {
        let path = path.display();
        Failure::refused(format!("{path} has no C: {reason}"))
    })
}

/// Returns true if a specification has a body of this name, in lower case.
fn has_body(program: &Program, name: &str) -> bool {
    let mut bodies = program.bodies.iter();
    bodies.any(|body| body.name.to_lowercase() == name)
}
