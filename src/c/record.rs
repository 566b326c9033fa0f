//! C of a build that records: names of ways and links come in, the table in which ways are counted
//! and the function that writes it to a file go out. No other build has a table, or touches a file.

/// The function that notes a frame that came in.
pub const CAME: &str = "loom_frame_came";

/// The member of a stack with the length of the last frame of each link.
pub const LAST: &str = "loom_last";

/// The table of how often each way was taken.
pub const PASSED: &str = "loom_passed";

/// The table of the frames that came in by each link.
pub const FRAMES: &str = "loom_frames";

/// The additional includes of a recording build.
const INCLUDES: &str = "\n#include <stdio.h>\n#include <stdlib.h>\n";

const TEXT: &str = include_str!("record.c");

/// The profile that a recording build writes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Record {
    /// The lines before the counts.
    pub begins: String,
    /// The names of ways, by their numbers.
    pub ways: Vec<String>,
}

impl Record {
    /// Returns the part of `NAME.c` that records: that of a stack with these links.
    pub fn text<'l>(&self, stack: &str, links: impl Iterator<Item = &'l str>) -> String {
        let ways: Vec<String> = self.ways.iter().map(|way| quoted(way)).collect();
        let links = Vec::from_iter(links.map(quoted));
        format!(
            "{INCLUDES}\n\
             enum {{ LOOM_WAYS = {}, LOOM_LINKS = {} }};\n\n\
             /* The beginning of the profile, and the file for it. */\n\
             static const char loom_begin[] = {};\n\
             static const char loom_file[] = {};\n\n\
             /* The names of links. */\n\
             static const char *const loom_link[LOOM_LINKS] = {{{}}};\n\n\
             /* The names of ways. */\n\
             static const char *const loom_way[LOOM_WAYS] = {{\n    {}\n}};\n\n\
             {TEXT}",
            ways.len(),
            links.len(),
            quoted(&self.begins),
            quoted(&format!("{stack}.profile")),
            links.join(", "),
            ways.join(",\n    "),
        )
    }
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
