//! Text -> lines of words.
//!
//! A word is a name with its dots, a number, or a sign. How far a line is indented says what it is
//! below; empty lines say nothing.

/// Signs of two letters.
const LONG_SIGNS: [&str; 6] = ["<<", ">>", "==", "!=", "<=", ">="];

/// A line that says something.
#[derive(Clone, Debug)]
pub struct Line {
    /// Its number, counted from one.
    pub number: usize,
    /// How many levels it is indented.
    pub depth: usize,
    /// Its words.
    pub words: Vec<String>,
}

/// The lines of a text.
pub fn lines(text: &str) -> Vec<Line> {
    let numbered = text.lines().enumerate();
    let scanned = numbered.map(|(at, line)| Line {
        number: at + 1,
        depth: (line.len() - line.trim_start().len()) / 2,
        words: words(line.trim()),
    });
    scanned.filter(|line| !line.words.is_empty()).collect()
}

fn words(mut text: &str) -> Vec<String> {
    let mut words = Vec::new();
    while let Some(first) = text.chars().next() {
        let sign = LONG_SIGNS.iter().find(|sign| text.starts_with(**sign));
        let length = match sign {
            Some(sign) => sign.len(),
            None if is_letter(first) => text.find(|c| !is_letter(c)).unwrap_or(text.len()),
            None => first.len_utf8(),
        };
        let (word, rest) = text.split_at(length);
        words.push(word.to_string());
        text = rest.trim_start();
    }
    words
}

fn is_letter(c: char) -> bool {
    c.is_alphanumeric() || "_.@#".contains(c)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_names_numbers_and_signs() {
        let line = &lines("\n  set a.b[n@3].c = (1:u8 << 2:u8)")[0];
        assert_eq!((line.number, line.depth), (2, 1));
        let words = line.words.join(" ");
        assert_eq!(words, "set a.b [ n@3 ] .c = ( 1 : u8 << 2 : u8 )");
    }
}
