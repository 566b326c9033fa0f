//! Where a `use` is looked for: beside the file, in the folders of `--path`, in the binary.
//!
//! In: the path that a `use` names. Out: the file of that name, or all files of that folder, with
//! their texts; or the places that were tried.

use super::failure::{Failure, about};
use crate::types::load::{Library, Missing};
use include_dir::{Dir, include_dir};
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// The standard library, as it was when the binary was built.
static STANDARD: Dir<'static> = include_dir!("$CARGO_MANIFEST_DIR/layers");

/// The name of standard input in diagnostics.
const STDIN: &str = "<stdin>";

/// How many bytes of a file are looked at: fifty times what a layer has.
const LONGEST: u64 = 256 << 10;

/// The folders of one command.
pub struct Folders {
    /// `--path`, in order.
    pub search: Vec<PathBuf>,
}

impl Library for Folders {
    fn find(&self, user: &str, path: &str) -> Result<Vec<(String, String)>, Missing> {
        let beside = Path::new(user).parent().map(Path::to_path_buf);
        let mut tried = Vec::new();
        for folder in beside.into_iter().chain(self.search.iter().cloned()) {
            let place = folder.join(path);
            let file = place.with_extension("loom");
            let found = match file.is_file() {
                true => read(&file),
                false if has_loom_files(&place) => read(&place),
                false => {
                    tried.push(file.display().to_string());
                    continue;
                }
            };
            return found.map_err(|failure| Missing::Unreadable(failure.message));
        }
        let found = in_binary(path);
        if found.is_empty() {
            tried.push(format!("layers/{path}.loom of the standard library"));
            return Err(Missing::Nowhere(tried));
        }
        Ok(found)
    }

    fn all(&self) -> Vec<(String, Vec<(String, String)>)> {
        standard().all()
    }
}

/// The texts of a file, or of a folder that is one layer.
pub fn read(path: &Path) -> Result<Vec<(String, String)>, Failure> {
    let files = if path.is_dir() {
        loom_files(path).map_err(about(path))?
    } else {
        vec![path.to_path_buf()]
    };
    if files.is_empty() {
        let folder = path.display();
        return Err(Failure::environment(format!(
            "{folder}: the folder contains no .loom file"
        )));
    }
    files
        .iter()
        .map(|file| Ok((name_of(file), text_of(file)?)))
        .collect()
}

/// Returns true if a file is a specification of Estelle.
pub fn is_estelle(path: &Path) -> bool {
    let ending = path.extension();
    ending.is_some_and(|ending| ending == "stl" || ending == "estelle")
}

/// Returns true if a path stands for standard input.
pub fn is_stdin(path: &Path) -> bool {
    path.as_os_str() == "-"
}

/// The name of a file in messages.
pub fn display_name(path: &Path) -> String {
    match is_stdin(path) {
        true => STDIN.to_string(),
        false => path.display().to_string(),
    }
}

/// The text of standard input, with the name that diagnostics give it.
pub fn stdin() -> Result<(String, String), Failure> {
    let name = Path::new(STDIN);
    let text = text_from(name, io::stdin().lock())?;
    Ok((STDIN.to_string(), text))
}

/// The text of one file, if it is UTF-8 and not absurdly long.
pub fn text_of(file: &Path) -> Result<String, Failure> {
    text_from(file, File::open(file).map_err(about(file))?)
}

fn text_from(file: &Path, source: impl Read) -> Result<String, Failure> {
    let mut bytes = Vec::new();
    let read = source.take(LONGEST + 1).read_to_end(&mut bytes);
    read.map_err(about(file))?;
    if bytes.len() as u64 > LONGEST {
        let (file, most) = (file.display(), LONGEST >> 10);
        return Err(Failure::refused(format!(
            "{file}: the file is longer than the limit of {most} KiB"
        )));
    }
    String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        Failure::refused(format!("{}: byte {at} is not UTF-8", file.display()))
    })
}

/// Whether a `use` of this folder finds something, or something that cannot be read.
fn has_loom_files(folder: &Path) -> bool {
    match loom_files(folder) {
        Ok(files) => !files.is_empty(),
        Err(_) => folder.is_dir(),
    }
}

fn loom_files(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let entries: io::Result<Vec<_>> = std::fs::read_dir(folder)?.collect();
    let paths = entries?.into_iter().map(|entry| entry.path());
    let is_loom = |path: &PathBuf| path.extension().is_some_and(|ending| ending == "loom");
    let mut files: Vec<PathBuf> = paths.filter(is_loom).collect();
    files.sort();
    Ok(files)
}

/// All files of the library in the binary, by their path in it.
pub fn standard() -> BTreeMap<String, String> {
    let mut texts = BTreeMap::new();
    let mut folders = vec![&STANDARD];
    while let Some(folder) = folders.pop() {
        folders.extend(folder.dirs());
        texts.extend(folder.files().filter_map(|file| {
            let text = file.contents_utf8()?;
            Some((file.path().display().to_string(), text.to_string()))
        }));
    }
    texts
}

fn in_binary(path: &str) -> Vec<(String, String)> {
    let named = |file: &include_dir::File<'_>| {
        let name = format!("layers/{}", file.path().display());
        Some((name, file.contents_utf8()?.to_string()))
    };
    if let Some(file) = STANDARD.get_file(format!("{path}.loom")) {
        return named(file).into_iter().collect();
    }
    let mut files: Vec<_> = match STANDARD.get_dir(path) {
        Some(folder) => folder.files().filter_map(named).collect(),
        None => Vec::new(),
    };
    files.sort();
    files
}

/// How diagnostics and generated code call a file: with forward slashes, without a leading `./`.
fn name_of(file: &Path) -> String {
    let name = file.display().to_string();
    name.strip_prefix("./").unwrap_or(&name).to_string()
}
