//! How long lines, functions, files and layers may be.

use crate::{Complaint, code};

const LINE: usize = 100;
const FUNCTION: usize = 70;
/// A file holds one technique and is as long as that needs: from so many lines on, unit tests left
/// out, the test says so; it fails at the second number.
const LONG_FILE: usize = 800;
const FILE: usize = 1200;
const LAYER: usize = 150;

/// Where a line begins a function: the line that ends it.
type Closing = fn(&str) -> Option<String>;

/// What is longer cannot be read at a glance.
pub fn lines_files_and_functions_are_short(path: &str, text: &str) -> Vec<Complaint> {
    let ending = path.rsplit('.').next().unwrap_or(path);
    let (file, closing): (usize, Option<Closing>) = match ending {
        "rs" => (FILE, Some(end_of_rust_function)),
        "c" | "h" => (FILE, Some(end_of_c_function)),
        "loom" => (LAYER, None),
        "md" | "toml" => (usize::MAX, None),
        _ => return Vec::new(),
    };
    let mut complaints = Vec::new();
    for (at, line) in text.lines().enumerate() {
        let cannot_break = line.contains("https://") || line.starts_with('|');
        if line.chars().count() > LINE && !cannot_break {
            complaints.push((at + 1, format!("longer than {LINE} columns")));
        }
    }
    let length = code::before_tests(text).lines().count();
    if file == FILE && length > LONG_FILE {
        println!("{path} has {length} lines: is it one technique?");
    }
    if length > file {
        complaints.push((file + 1, format!("the file is longer than {file} lines")));
    }
    if let Some(closing) = closing {
        complaints.extend(long_functions(text, closing));
    }
    complaints
}

/// In formatted code, a function ends at the first line that is its closing brace alone.
fn long_functions(text: &str, closing: Closing) -> Vec<Complaint> {
    let lines: Vec<&str> = text.lines().collect();
    let mut complaints = Vec::new();
    for (at, line) in lines.iter().enumerate() {
        let Some(end) = closing(line) else { continue };
        let length = lines[at..].iter().position(|line| **line == end);
        let length = length.unwrap_or(0);
        if length >= FUNCTION && !is_one_match(&lines[at..=at + length]) {
            complaints.push((
                at + 1,
                format!("the function is longer than {FUNCTION} lines"),
            ));
        }
    }
    complaints
}

/// Returns true if the body of a Rust function is a single `match`, or `Ok` of one: people read it
/// case by case.
fn is_one_match(function: &[&str]) -> bool {
    let depth = |line: &str| line.len() - line.trim_start().len();
    let own = depth(function[0]);
    let body = function.iter().skip_while(|line| !line.ends_with('{'));
    let body: Vec<&&str> = body.skip(1).filter(|line| depth(line) == own + 4).collect();
    match body[..] {
        [first, last] => {
            let first = first.trim_start();
            first.starts_with("match ") && last.trim() == "}"
                || first.starts_with("Ok(match ") && last.trim() == "})"
        }
        _ => false,
    }
}

/// Rust functions stand at any depth.
fn end_of_rust_function(line: &str) -> Option<String> {
    let code = line.trim_start();
    let mut words = code.split(' ').skip_while(|word| {
        ["const", "async", "unsafe", "extern", "\"C\""].contains(word) || word.starts_with("pub")
    });
    let begins = words.next() == Some("fn") && !line.ends_with([';', '}']);
    begins.then(|| " ".repeat(line.len() - code.len()) + "}")
}

/// C functions stand at the margin.
fn end_of_c_function(line: &str) -> Option<String> {
    let begins = line.starts_with(|c: char| c.is_ascii_alphabetic())
        && line.contains('(')
        && !line.ends_with([';', '}']);
    begins.then(|| "}".to_string())
}

#[test]
fn a_long_line_and_a_long_layer_are_found() {
    let text = format!("{}\n", "x".repeat(LINE + 1));
    assert_eq!(lines_files_and_functions_are_short("a.md", &text).len(), 1);
    let text = "x\n".repeat(LAYER + 1);
    let found = lines_files_and_functions_are_short("layers/a/b.loom", &text);
    assert_eq!(found[0].0, LAYER + 1);
}

#[test]
fn a_long_function_is_found_by_its_first_line() {
    let body = "        f();\n".repeat(FUNCTION - 1);
    let text = format!("impl T {{\n    pub(crate) fn f(\n        a: u8) {{\n{body}    }}\n}}\n");
    let found = lines_files_and_functions_are_short("src/a.rs", &text);
    assert_eq!(found[0].0, 2);
    let text = format!("static int f(int a,\n             int b) {{\n{body}}}\n");
    let found = lines_files_and_functions_are_short("runtime/a.h", &text);
    assert_eq!(found[0].0, 1);
}

#[test]
fn short_functions_are_left_alone() {
    let text = "fn f() {}\nfn g(&self) -> u8;\n".to_string() + &"// x\n".repeat(FUNCTION) + "}\n";
    assert_eq!(lines_files_and_functions_are_short("src/a.rs", &text), []);
}

#[test]
fn a_function_that_is_one_match_may_be_long() {
    let cases = "        A => f(),\n".repeat(FUNCTION);
    let text = format!("fn f(\n    a: A,\n) -> u8 {{\n    match a {{\n{cases}    }}\n}}\n");
    assert_eq!(lines_files_and_functions_are_short("src/a.rs", &text), []);
    let more = text.replace("    match", "    g();\n    match");
    assert_eq!(
        lines_files_and_functions_are_short("src/a.rs", &more).len(),
        1
    );
}
