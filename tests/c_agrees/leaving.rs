//! Stacks whose links call their hosts, and whose ports may, too: of others, with `calls` put in.

use super::agrees;
use std::path::Path;

/// Stacks that are tried with a link that calls.
const LEAVING: [&str; 11] = [
    "answered",
    "answers_kept",
    "begun",
    "called",
    "callers",
    "granted_later",
    "letters",
    "links",
    "predicted",
    "replied",
    "streams",
];

#[test]
fn the_c_of_links_that_call_does_what_it_says() {
    for name in LEAVING {
        agrees(&leaving(name));
    }
}

#[test]
fn the_c_of_links_and_ports_that_call_does_what_it_says() {
    for name in ["segments", "several", "words"] {
        agrees(&calling(name));
    }
    agrees("tests/c_agrees/stacks/leaving_granted.loom");
}

/// A stack whose first link and whose ports call functions.
pub fn calling(name: &str) -> String {
    let file = leaving(name);
    let text = std::fs::read_to_string(&file).expect("it is there");
    let mut pieces = text.split("{ port ");
    let mut all = pieces.next().unwrap_or_default().to_string();
    for (at, piece) in pieces.enumerate() {
        let (port, rest) = piece.split_once(' ').expect("a port has a name");
        all += &format!("{{ port {port} calls arrived_{at} {rest}");
    }
    let file = file.replace("_leaving.loom", "_calling.loom");
    std::fs::write(&file, all).expect("there is room");
    file
}

/// A stack whose first link calls a function.
pub fn leaving(name: &str) -> String {
    let file = format!("tests/c_agrees/stacks/{name}.loom");
    let text = std::fs::read_to_string(file).expect("it is there");
    let (layers, stack) = text.rsplit_once("\nstack ").expect("it has a stack");
    let (before, stack) = stack.split_once(" link ").expect("it has a link");
    let (link, above) = stack.split_once(" {").expect("something stands on it");
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}_leaving.loom"));
    let text = format!("{layers}\nstack {before} link {link} calls leaves {{{above}");
    std::fs::write(&path, text).expect("there is room");
    path.to_str().expect("it has a name").to_string()
}
