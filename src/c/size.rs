//! Sizes: the text of a C file comes in; how many bytes each of its structs takes goes out.
//!
//! ```text
//! struct pair { uint8_t *data; uint32_t at[3]; bool is_last; };
//!                                   24 bytes where a pointer has 8, 20 where it has 4
//! ```
//!
//! No machine needs more: a `uint64_t` is aligned to 8 bytes, and an enum has 4. Generated C
//! asserts the sizes when it is compiled. A struct with a member of unknown type has no size.

use rustc_hash::FxHashMap;

/// Bytes, and the alignment that they ask for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Size {
    bytes: u64,
    alignment: u64,
}

impl Size {
    fn of(bytes: u64) -> Size {
        Size {
            bytes,
            alignment: bytes,
        }
    }
}

/// The sizes of the structs of a text, where a pointer has so many bytes.
#[derive(Debug)]
pub struct Sizes {
    pointer: u64,
    structs: FxHashMap<String, Size>,
    /// The values of enums, which are the lengths of arrays.
    constants: FxHashMap<String, u64>,
}

impl Sizes {
    /// Reads the structs and enums of a text, each behind those that it mentions.
    pub fn of(text: &str, pointer: u64) -> Sizes {
        let mut sizes = Sizes {
            pointer,
            structs: FxHashMap::default(),
            constants: FxHashMap::default(),
        };
        let words = words(text);
        for at in 0..words.len() {
            match words[at..] {
                ["struct", name, "{", ..] => {
                    let size = sizes.members(&mut &words[at + 3..], false);
                    sizes
                        .structs
                        .extend(size.map(|size| (name.to_string(), size)));
                }
                ["enum", "{", ..] => sizes.values(&words[at + 2..]),
                ["enum", _, "{", ..] => sizes.values(&words[at + 3..]),
                _ => {}
            }
        }
        sizes
    }

    /// Returns the bytes of a struct; none if the text does not show it, or one of its members.
    pub fn bytes(&self, name: &str) -> Option<u64> {
        self.structs.get(name).map(|size| size.bytes)
    }

    /// Reads the values of an enum.
    fn values(&mut self, mut rest: &[&str]) {
        let mut next = Some(0);
        while let [name, ..] = rest
            && *name != "}"
        {
            rest = &rest[1..];
            if let Some(("=", behind)) = rest.split_first().map(|(word, behind)| (*word, behind)) {
                let end = behind.iter().position(|word| [",", "}"].contains(word));
                let (value, behind) = behind.split_at(end.unwrap_or(behind.len()));
                next = self.sum(value);
                rest = behind;
            }
            self.constants
                .extend(next.map(|value| (name.to_string(), value)));
            next = next.map(|value| value + 1);
            rest = rest.strip_prefix(&[","][..]).unwrap_or(rest);
        }
    }

    /// Returns the value of numbers and constants that are added up.
    fn sum(&self, words: &[&str]) -> Option<u64> {
        let value = |word: &&str| {
            let number = word.trim_end_matches(['U', 'L']).parse().ok();
            number.or_else(|| self.constants.get(*word).copied())
        };
        words
            .split(|word| *word == "+")
            .map(|one| value(one.first()?))
            .sum()
    }

    /// Reads members up to the brace that ends them, one behind the other or all in one place.
    fn members(&self, rest: &mut &[&str], in_one_place: bool) -> Option<Size> {
        let mut all = Size {
            bytes: 0,
            alignment: 1,
        };
        while *rest.first()? != "}" {
            let one = self.member(rest)?;
            let start = match in_one_place {
                true => 0,
                false => all.bytes.next_multiple_of(one.alignment),
            };
            all.bytes = all.bytes.max(start + one.bytes);
            all.alignment = all.alignment.max(one.alignment);
        }
        *rest = &rest[1..];
        all.bytes = all.bytes.next_multiple_of(all.alignment);
        Some(all)
    }

    /// Reads one member with its semicolon.
    fn member(&self, rest: &mut &[&str]) -> Option<Size> {
        let own = self.kind(rest)?;
        let end = rest.iter().position(|word| *word == ";")?;
        let (declared, behind) = rest.split_at(end);
        *rest = &behind[1..];
        let own = match declared.contains(&"*") {
            true => Size::of(self.pointer),
            false => own?,
        };
        let mut many = 1;
        for (at, _) in declared
            .iter()
            .enumerate()
            .filter(|(_, word)| **word == "[")
        {
            let length = &declared[at + 1..];
            let end = length.iter().position(|word| *word == "]")?;
            many *= self.sum(&length[..end])?;
        }
        Some(Size {
            bytes: own.bytes * many,
            alignment: own.alignment,
        })
    }

    /// Reads the type of a member: none inside if it is known to pointers alone.
    fn kind(&self, rest: &mut &[&str]) -> Option<Option<Size>> {
        let (word, behind) = rest.split_first()?;
        *rest = behind;
        match *word {
            "const" => self.kind(rest),
            "union" | "struct" if *rest.first()? == "{" => {
                *rest = &rest[1..];
                self.members(rest, *word == "union").map(Some)
            }
            "struct" => {
                let (name, behind) = rest.split_first()?;
                *rest = behind;
                Some(self.structs.get(*name).copied())
            }
            "enum" => {
                *rest = &rest[1..];
                Some(Some(Size::of(4)))
            }
            simple => Some(self.simple(simple)),
        }
    }

    /// Returns the size of a type of one word.
    fn simple(&self, name: &str) -> Option<Size> {
        let bytes = match name {
            "bool" | "char" | "uint8_t" | "int8_t" => 1,
            "uint16_t" | "int16_t" => 2,
            "unsigned" | "int" | "uint32_t" | "int32_t" => 4,
            "uint64_t" | "int64_t" => 8,
            "size_t" | "uintptr_t" | "intptr_t" => self.pointer,
            _ => return None,
        };
        Some(Size::of(bytes))
    }
}

/// The words and marks of C code, without comments and lines for the preprocessor.
fn words(text: &str) -> Vec<&str> {
    let mut code = Vec::new();
    let mut rest = text;
    while let Some((before, comment)) = rest.split_once("/*") {
        code.push(before);
        rest = comment.split_once("*/").map_or("", |(_, behind)| behind);
    }
    code.push(rest);
    let lines = code.into_iter().flat_map(str::lines);
    let lines = lines.filter(|line| !line.trim_start().starts_with('#'));
    lines.flat_map(words_of_line).collect()
}

fn words_of_line(line: &str) -> Vec<&str> {
    let is_of_word = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
    let mut words = Vec::new();
    let mut rest = line.trim_start();
    while let Some(first) = rest.chars().next() {
        let end = match is_of_word(first) {
            true => rest.find(|letter| !is_of_word(letter)),
            false => Some(first.len_utf8()),
        };
        let (word, behind) = rest.split_at(end.unwrap_or(rest.len()));
        words.push(word);
        rest = behind.trim_start();
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "
/* struct commented { char at[9]; }; */
enum { FIRST = 3, SECOND, THIRD = SECOND + 2 };
struct pair {
    uint8_t *data;       /* a pointer; */
    uint32_t at[FIRST];
    bool is_last;
};
struct outer {
    uint8_t kind;
    union {
        struct pair pair;
        uint64_t numbers[2][SECOND];
    } with;
    enum next next;
    const struct unknown *other;
};
struct open {
    struct unknown inside;
};
";

    #[test]
    fn structs_take_what_a_compiler_gives_them() {
        let on = |pointer| {
            let sizes = Sizes::of(TEXT, pointer);
            ["pair", "outer"].map(|name| sizes.bytes(name).expect("it is whole"))
        };
        assert_eq!(on(8), [24, 8 + 64 + 8 + 8]);
        assert_eq!(on(4), [20, 8 + 64 + 4 + 4]);
    }

    #[test]
    fn a_struct_that_is_not_whole_has_no_size() {
        let sizes = Sizes::of(TEXT, 8);
        assert_eq!(sizes.bytes("open"), None);
        assert_eq!(sizes.bytes("commented"), None);
        assert_eq!(sizes.constants["THIRD"], 6);
    }
}
