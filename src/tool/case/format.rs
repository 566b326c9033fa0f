//! The text form of a case.
//!
//! ```text
//! A drop names its reason.
//!
//! === source
//! worker w
//! on deliver(message) { drop message }
//!
//! === error
//! error[missing-reason]: this drop has no reason
//! ```

use std::fmt;

const MARK: &str = "=== ";

/// A fact, and what shows it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Case {
    /// The sentence, and what else stands before the first section.
    pub fact: String,
    /// In the order of writing.
    pub sections: Vec<Section>,
}

/// What goes in or comes out.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Section {
    /// What it is: the first word of its line.
    pub kind: String,
    /// The rest of its line: the name of a file.
    pub name: String,
    /// Without empty lines around it; with an end of line, if it is not empty.
    pub text: String,
}

impl Case {
    /// Reads a case.
    pub fn read(text: &str) -> Result<Case, String> {
        let mut fact = String::new();
        let mut sections: Vec<Section> = Vec::new();
        for line in text.lines() {
            if let Some(title) = line.strip_prefix(MARK) {
                let (kind, name) = title.split_once(' ').unwrap_or((title, ""));
                let (kind, name) = (kind.to_string(), name.to_string());
                let text = String::new();
                sections.push(Section { kind, name, text });
                continue;
            }
            let place = match sections.last_mut() {
                Some(section) => &mut section.text,
                None => &mut fact,
            };
            place.push_str(line);
            place.push('\n');
        }
        let sentence = fact.lines().next().unwrap_or_default();
        if !sentence.starts_with(|c: char| c.is_uppercase()) || !sentence.ends_with('.') {
            return Err("the first line of a case states the fact, as a sentence".to_string());
        }
        fact = around(&fact);
        for section in &mut sections {
            section.text = around(&section.text);
        }
        Ok(Case { fact, sections })
    }

    /// The text of the only section of this kind, if there is one.
    pub fn text(&self, kind: &str) -> Option<&str> {
        let mut of_kind = self.sections.iter().filter(|section| section.kind == kind);
        of_kind.next().map(|section| section.text.as_str())
    }
}

/// A text without empty lines before and behind it.
pub fn around(text: &str) -> String {
    let lines: Vec<&str> = text.lines().map(str::trim_end).collect();
    let first = lines.iter().position(|line| !line.is_empty());
    let last = lines.iter().rposition(|line| !line.is_empty());
    match (first, last) {
        (Some(first), Some(last)) => lines[first..=last].join("\n") + "\n",
        (None, _) | (_, None) => String::new(),
    }
}

impl fmt::Display for Case {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        formatter.write_str(&self.fact)?;
        for Section { kind, name, text } in &self.sections {
            let gap = if name.is_empty() { "" } else { " " };
            write!(formatter, "\n{MARK}{kind}{gap}{name}\n{text}")?;
        }
        Ok(())
    }
}

#[test]
fn a_case_is_read_and_written_as_it_is() {
    let text = "It is so.\nWhy?\n\n=== source a.loom\nx\n\n  y\n\n=== error\n";
    let case = Case::read(text).expect("the case can be read");
    assert_eq!(case.sections[0].name, "a.loom");
    assert_eq!(case.text("source"), Some("x\n\n  y\n"));
    assert_eq!(case.to_string(), text);
}

#[test]
fn a_case_without_a_fact_is_refused() {
    assert!(Case::read("=== source\nx\n").is_err());
    assert!(Case::read("something\n=== source\nx\n").is_err());
}
