//! The pages of the book, and the blocks in them.
//!
//! In: Markdown. Out: its blocks with their marks, and what it links to.

use std::fs;
use std::path::{Path, PathBuf};

/// A page.
pub struct Page {
    /// Its path in `book/src`.
    pub name: String,
    /// What stands outside of fences.
    prose: String,
    /// What stands in it between fences.
    pub blocks: Vec<Block>,
}

/// Code, or what a terminal shows.
#[derive(Default)]
pub struct Block {
    /// The line of its fence, from one.
    pub line: usize,
    /// The first word behind the fence.
    pub language: String,
    /// The others.
    pub marks: Vec<String>,
    /// What a comment before it puts around it.
    pub around: Option<String>,
    /// The text.
    pub text: String,
}

impl Block {
    /// The file that it is, if it is one.
    pub fn file(&self) -> Option<&str> {
        let mut marks = self.marks.iter();
        marks.find_map(|mark| mark.strip_prefix("file="))
    }
}

impl Page {
    /// Reads a page.
    pub fn read(name: &str, text: &str) -> Page {
        let mut blocks: Vec<Block> = Vec::new();
        let (mut within, mut prose) = (false, String::new());
        let mut around: Option<(bool, String)> = None;
        let mut margin = 0;
        for (at, line) in text.lines().enumerate() {
            let own = line.len() - line.trim_start().len();
            if let Some(marks) = line.trim_start().strip_prefix("```") {
                margin = own;
                within = !within;
                if within {
                    let mut marks = marks.split(',').map(str::to_string);
                    blocks.push(Block {
                        line: at + 1,
                        language: marks.next().unwrap_or_default(),
                        marks: marks.collect(),
                        around: around.take().map(|(_, text)| text),
                        text: String::new(),
                    });
                }
                continue;
            }
            if within {
                let block = blocks.last_mut().expect("a fence began it");
                block.text += &line[margin.min(own)..];
                block.text += "\n";
                continue;
            }
            prose += line;
            prose += "\n";
            if let Some(begun) = line.strip_prefix("<!-- around: ") {
                around = Some(comment(begun));
            } else if let Some((false, text)) = &mut around {
                let (ended, more) = comment(line);
                let text = format!("{text}\n{more}");
                around = Some((ended, text));
            }
        }
        assert!(!within, "{name}: a block does not end");
        let name = name.to_string();
        Page {
            name,
            prose,
            blocks,
        }
    }

    /// What it links to in the book, from the root of the book.
    pub fn links(&self) -> Vec<String> {
        // What stands between backticks is no link.
        let prose: String = self.prose.split('`').step_by(2).collect();
        let parts = prose.split("](").skip(1);
        let targets = parts.filter_map(|part| part.split(')').next());
        let folder = Path::new(&self.name).parent().expect("a page has a name");
        let inside = targets.filter(|target| !target.contains("://") && !target.starts_with('#'));
        inside
            .map(|target| {
                let target = target.split('#').next().expect("a first part");
                plain(&folder.join(target))
            })
            .collect()
    }
}

/// A line of a comment, and whether it is its last.
fn comment(line: &str) -> (bool, String) {
    match line.strip_suffix("-->") {
        Some(text) => (true, text.trim_end().to_string()),
        None => (false, line.to_string()),
    }
}

/// A path without `..`.
fn plain(path: &Path) -> String {
    let mut parts: Vec<&str> = Vec::new();
    for part in path.to_str().expect("paths here are plain").split('/') {
        match part {
            ".." if !parts.is_empty() => drop(parts.pop()),
            part => parts.push(part),
        }
    }
    parts.join("/")
}

/// The folder of the pages.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("book/src")
}

/// One page.
pub fn page(name: &str) -> Page {
    let text = fs::read_to_string(root().join(name));
    Page::read(
        name,
        &text.unwrap_or_else(|error| panic!("{name}: {error}")),
    )
}

/// All pages, in order of path.
pub fn all() -> Vec<Page> {
    let mut names = Vec::new();
    collect(&root(), "", &mut names);
    names.iter().map(|name| page(name)).collect()
}

fn collect(folder: &Path, before: &str, names: &mut Vec<String>) {
    let entries = fs::read_dir(folder).expect("the book can be listed");
    let mut inside: Vec<PathBuf> = entries
        .map(|entry| entry.expect("an entry").path())
        .collect();
    inside.sort();
    for path in inside {
        let last = path.file_name().and_then(|name| name.to_str());
        let name = format!("{before}{}", last.expect("names here are plain"));
        if path.is_dir() {
            collect(&path, &format!("{name}/"), names);
        } else if name.ends_with(".md") {
            names.push(name);
        }
    }
}
