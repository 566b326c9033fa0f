//! A build that records: the names of its ways come in, the table in which they are counted and
//! what writes it to a file go out. No other build has a table, or touches a file.

use super::Stack;

/// What takes note of a frame that comes in.
pub const CAME: &str = "loom_frame_came";

/// The member of a stack that has the lengths of the last ones, by link.
pub const LAST: &str = "loom_last";

/// The table of how often each way was taken.
pub const PASSED: &str = "loom_passed";

/// Where it is known that a frame stood in no buffer of the stack, and what takes note of that.
const STOOD: &str = "    STOOD_ELSEWHERE\n";
const ELSEWHERE: &str = "    loom_frames[LINK_NUMBER].elsewhere += 1;\n";

/// A text in which that is noted, if it is.
pub fn noted(stack: &Stack, text: &str) -> String {
    let note = stack.record.map_or("", |_| ELSEWHERE);
    text.replace(STOOD, note)
}

/// What such a build includes besides.
const INCLUDES: &str = "\n#include <stdio.h>\n#include <stdlib.h>\n";

const TEXT: &str = include_str!("text/record.c");

/// What a build that records writes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Record {
    /// The lines before the counts.
    pub begins: String,
    /// What each way is called.
    pub ways: Vec<String>,
}

/// The part of `NAME.c` that records; nothing, if nothing is recorded.
pub fn text(stack: &Stack) -> String {
    let Some(record) = stack.record else {
        return String::new();
    };
    let named: Vec<String> = record.ways.iter().map(|way| quoted(way)).collect();
    let links = stack.program.links.iter();
    let links = Vec::from_iter(links.map(|link| quoted(&link.name)));
    let text = TEXT
        .replace("LINK_NAMES", &links.join(", "))
        .replace("LINKS", &links.len().to_string())
        .replace("WAYS", &record.ways.len().to_string())
        .replace("STACK", &stack.names.stack)
        .replace("BEGINS", &quoted(&record.begins))
        .replace("NAMED", &named.join(",\n    "));
    format!("{INCLUDES}\n{text}")
}

/// A text as C writes it.
fn quoted(text: &str) -> String {
    let mut quoted = String::from("\"");
    for byte in text.bytes() {
        match byte {
            b'\n' => quoted += "\\n",
            b'"' | b'\\' | b'?' => quoted.extend(['\\', char::from(byte)]),
            b' '..=b'~' => quoted.push(char::from(byte)),
            _ => quoted += &format!("\\{byte:03o}"),
        }
    }
    quoted.push('"');
    quoted
}

#[cfg(test)]
mod tests {
    use super::quoted;

    #[test]
    fn a_text_is_the_same_in_c() {
        let text = "\"a\\b\"\nü ??=";
        assert_eq!(quoted(text), r#""\"a\\b\"\n\303\274 \?\?=""#);
    }
}
