//! The parts of the C runtime: the names that generated code mentions come in, the text of these
//! parts and of all that they need goes out, in the order of the files in `runtime/`.
//!
//! ```
//! use stackloom::c::runtime;
//! let code = "    at = sl_load_big32(frame + 12);";
//! let parts = runtime::select(&runtime::mentioned(code));
//! assert!(parts.contains("static inline uint32_t sl_load_big32(const uint8_t *at) {\n"));
//! ```
//!
//! `runtime/stackloom.h` describes the format. In short: a line `/* part NAME: needs A B */`
//! begins a part. What a part needs stands before it, so one pass from the last part to the first
//! finds everything.

use std::collections::BTreeSet;

/// The files of the runtime, in the order in which generated code needs them.
const FILES: [&str; 9] = [
    LIBRARY,
    include_str!("../../runtime/stackloom.h"),
    include_str!("../../runtime/bytes.h"),
    include_str!("../../runtime/galois.h"),
    include_str!("../../runtime/containers.h"),
    include_str!("../../runtime/stream.h"),
    include_str!("../../runtime/pool.h"),
    include_str!("../../runtime/timers.h"),
    include_str!("../../runtime/coders.h"),
];

/// Declarations of functions of C's library.
const LIBRARY: &str = include_str!("../../runtime/memory.h");

/// What a line begins with that begins a part.
const MARK: &str = "\n/* part ";

/// The text of the parts that are used and of those they need, with an empty line between two.
/// Generated code includes `<stdbool.h>`, `<stddef.h>` and `<stdint.h>` before it.
pub fn select(used: &BTreeSet<&str>) -> String {
    let mut wanted = used.clone();
    let mut texts = Vec::new();
    let mut library = BTreeSet::new();
    for part in parts().iter().rev() {
        if wanted.remove(part.name) {
            wanted.extend(&part.needs);
            if is_of_library(part) {
                library.insert(part.name);
            } else {
                texts.push(part.text.to_string());
            }
        }
    }
    assert!(
        wanted.is_empty(),
        "the runtime has no parts named {wanted:?}"
    );
    texts.extend((!library.is_empty()).then(|| string_h(&library).trim_end().to_string()));
    texts.reverse();
    texts.join("\n\n") + "\n"
}

/// The text that includes `<string.h>`, or declares these functions of it where there is none.
pub fn string_h(used: &BTreeSet<&str>) -> String {
    let parts = parts();
    let used = parts.iter().filter(|part| used.contains(part.name));
    let declared: String = used.map(|part| format!("{}\n", part.text)).collect();
    format!(
        "#ifndef __has_include\n#include <string.h>\n#elif __has_include(<string.h>)\n\
         #include <string.h>\n#else\n/* Freestanding: the compiler knows these functions. */\n\
         {declared}#endif\n"
    )
}

fn is_of_library(part: &Part) -> bool {
    LIBRARY.contains(part.text)
}

/// The names of all parts, in the order of the files.
pub fn names() -> impl Iterator<Item = &'static str> {
    parts().into_iter().map(|part| part.name)
}

/// The parts whose names stand in C code; its comments do not count.
pub fn mentioned(code: &str) -> BTreeSet<&'static str> {
    let code = without_comments(code);
    let words: BTreeSet<&str> = code
        .split(|c: char| !c.is_ascii_alphanumeric() && c != '_')
        .collect();
    names().filter(|name| words.contains(name)).collect()
}

/// A stretch of C that is copied as a whole, or not at all.
struct Part {
    /// the constant, struct or function that it holds
    name: &'static str,
    /// the parts that it mentions
    needs: Vec<&'static str>,
    /// what is copied
    text: &'static str,
}

fn parts() -> Vec<Part> {
    FILES
        .iter()
        .flat_map(|file| file.split(MARK).skip(1))
        .map(part)
        .collect()
}

fn part(source: &'static str) -> Part {
    let (line, text) = source
        .split_once(" */\n")
        .expect("a line that begins a part is a comment");
    let (name, needs) = line
        .split_once(": needs")
        .expect("a part says what it needs");
    Part {
        name,
        needs: needs.split_whitespace().collect(),
        text: text.trim_end(),
    }
}

fn without_comments(code: &str) -> String {
    let mut pieces = code.split("/*");
    let first = pieces.next().map(String::from);
    let others = pieces.map(|piece| piece.split_once("*/").map_or("", |(_, code)| code));
    first.into_iter().chain(others.map(String::from)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_comes_with_what_it_needs_and_nothing_else() {
        let text = select(&BTreeSet::from(["sl_ring_push"]));
        let found: Vec<&str> = [
            "SL_NONE = ",
            "sl_wrap(uint32_t",
            "struct sl_ring {",
            "sl_ring_push(",
        ]
        .into_iter()
        .filter(|definition| text.matches(definition).count() == 1)
        .collect();
        assert_eq!(found.len(), 4, "only {found:?} in\n{text}");
        assert_eq!(
            mentioned(&text).len(),
            4,
            "more than was asked for in\n{text}"
        );
        assert!(
            !text.contains("/* part"),
            "a line that begins a part was copied:\n{text}"
        );
    }

    #[test]
    #[should_panic(expected = "no parts named {\"sl_no_such_part\"}")]
    fn an_unknown_name_is_our_mistake() {
        select(&BTreeSet::from(["sl_no_such_part"]));
    }

    #[test]
    fn every_part_names_exactly_the_parts_that_it_mentions() {
        let mut before = BTreeSet::new();
        for part in parts() {
            let needs = BTreeSet::from_iter(part.needs.iter().copied());
            let mut mentions = mentioned(part.text);
            assert!(
                mentions.remove(part.name),
                "{} does not define its name",
                part.name
            );
            assert_eq!(
                needs, mentions,
                "what {} needs and what it mentions",
                part.name
            );
            assert!(
                needs.is_subset(&before),
                "{} stands before what it needs",
                part.name
            );
            assert!(
                part.needs.is_sorted(),
                "the needs of {} are not in order",
                part.name
            );
            assert!(before.insert(part.name), "{} stands twice", part.name);
        }
    }

    /// What the compiler has is declared under its own name.
    #[test]
    fn names_begin_so_that_they_clash_with_nobody() {
        for name in names().filter(|name| !name.starts_with("mem")) {
            assert!(name.starts_with("sl_") || name.starts_with("SL_"), "{name}");
        }
    }

    #[test]
    fn comments_mention_nothing() {
        let code = "/* as sl_wrap does */ sl_ring_pop(&ring, 3); /* SL_NONE */";
        assert_eq!(mentioned(code), BTreeSet::from(["sl_ring_pop"]));
    }
}
