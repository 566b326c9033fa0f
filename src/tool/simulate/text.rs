//! What people wrote, with where it stands, and mistakes in it.
//!
//! In: words of a network file or of the command line. Out: a [`Mistake`] that shows the line and
//! a caret, where there is a file.

use crate::tool::failure::Failure;
use crate::tool::terminal::note;
use crate::tool::terminal::style::is_colored;
use annotate_snippets::{AnnotationKind, Level, Renderer, Snippet};
use std::ops::Range;
use std::path::Path;

/// Words, and where they stand in the file; nowhere if they come from the command line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Text {
    /// What is written.
    pub words: String,
    /// Where.
    pub at: Option<Range<usize>>,
}

/// What is wrong, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mistake {
    /// In the user's words.
    pub message: String,
    /// Where; nowhere if it is on the command line.
    pub at: Option<Range<usize>>,
}

impl Text {
    /// Words of the command line.
    pub fn given(words: impl Into<String>) -> Text {
        Text {
            words: words.into(),
            at: None,
        }
    }

    /// A mistake in these words.
    pub fn mistake(&self, message: impl Into<String>) -> Mistake {
        Mistake {
            message: message.into(),
            at: self.at.clone(),
        }
    }

    /// The parts between separators outside of parentheses, without space around them; empty ones
    /// are left out. Each knows its place, as far as the file writes it so.
    pub fn parts(&self, separators: &[char], source: &str) -> Vec<Text> {
        let mut parts = Vec::new();
        let mut from = self.at.as_ref().map_or(0, |at| at.start);
        let (mut depth, mut begin) = (0_usize, 0);
        let ends = self.words.char_indices().chain([(self.words.len(), '\0')]);
        for (at, letter) in ends {
            match letter {
                '(' => depth += 1,
                ')' => depth = depth.saturating_sub(1),
                _ => {}
            }
            let is_end = at == self.words.len();
            if !is_end && (depth > 0 || !separators.contains(&letter)) {
                continue;
            }
            let words = self.words[begin..at].trim();
            begin = if is_end { at } else { at + letter.len_utf8() };
            if words.is_empty() {
                continue;
            }
            let place = self.at.as_ref().map(|whole| {
                let found = source
                    .get(from..whole.end)
                    .and_then(|rest| rest.find(words));
                let place = found.map(|found| from + found..from + found + words.len());
                from = place.as_ref().map_or(from, |place| place.end);
                place.unwrap_or(whole.clone())
            });
            parts.push(Text {
                words: words.to_string(),
                at: place,
            });
        }
        parts
    }
}

impl Mistake {
    /// Shows it, and says how the command ends: a network file is refused as a program is.
    pub fn show(&self, path: &Path, source: &str) -> Failure {
        let Some(at) = &self.at else {
            return Failure::environment(self.message.clone());
        };
        let renderer = match is_colored() {
            true => Renderer::styled(),
            false => Renderer::plain(),
        };
        let end = at.end.min(source.len());
        let annotation = AnnotationKind::Primary.span(at.start.min(end)..end);
        let name = path.display().to_string();
        let snippet = Snippet::source(source).path(name).annotation(annotation);
        let title = Level::ERROR.primary_title(self.message.as_str());
        note(renderer.render(&[title.element(snippet)]));
        Failure::refused("")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_know_where_they_stand() {
        let source = "x = \"open (a = 1, b = 2); send 3\n echo\"";
        let text = Text {
            words: "open (a = 1, b = 2); send 3\n echo".to_string(),
            at: Some(4..source.len()),
        };
        let parts = text.parts(&[';', '\n'], source);
        let words: Vec<&str> = parts.iter().map(|part| part.words.as_str()).collect();
        assert_eq!(words, ["open (a = 1, b = 2)", "send 3", "echo"]);
        for part in &parts {
            let at = part.at.clone().expect("it stands in the file");
            assert_eq!(source[at], part.words);
        }
        let given = Text::given(" a ;; b").parts(&[';'], "");
        assert_eq!(given, [Text::given("a"), Text::given("b")]);
    }
}
