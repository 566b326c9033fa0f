//! Diagnostics as JSON, for editors and other programs.

use super::{Diagnostic, Label, Severity};
use crate::source::Sources;
use serde::Serialize;

/// One diagnostic, as other programs read it.
#[derive(Serialize)]
struct Object<'a> {
    id: &'static str,
    severity: &'static str,
    title: &'a str,
    labels: Vec<Place<'a>>,
    why: Option<&'a str>,
    help: Option<&'a str>,
}

/// A stretch of a file: lines and columns count from one, columns count characters, `start` and
/// `end` count bytes from zero; each end is one past the last.
#[derive(Serialize)]
struct Place<'a> {
    primary: bool,
    file: &'a str,
    line: u32,
    column: u32,
    end_line: u32,
    end_column: u32,
    start: u32,
    end: u32,
    text: &'a str,
}

/// Prints each diagnostic as one line:
///
/// ```text
/// {"id":"missing-reason","severity":"error","title":"this drop has no reason","labels":[{...}]}
/// ```
///
/// The first label is the primary one.
pub fn json(diagnostics: &[Diagnostic], sources: &Sources) -> String {
    let line = |diagnostic: &Diagnostic| {
        let others = diagnostic.labels.iter().map(|label| (false, label));
        let labels = std::iter::once((true, &diagnostic.primary)).chain(others);
        let object = Object {
            id: diagnostic.id.name(),
            severity: match diagnostic.severity {
                Severity::Error => "error",
                Severity::Warning => "warning",
            },
            title: &diagnostic.title,
            labels: labels.map(|label| place(label, sources)).collect(),
            why: diagnostic.why.as_deref(),
            help: diagnostic.help.as_deref(),
        };
        let line = serde_json::to_string(&object);
        line.expect("texts and numbers can be written as JSON") + "\n"
    };
    diagnostics.iter().map(line).collect()
}

fn place<'a>((primary, label): (bool, &'a Label), sources: &'a Sources) -> Place<'a> {
    let (begin, end) = (
        sources.position(label.span),
        sources.position(label.span.after()),
    );
    Place {
        primary,
        file: sources.name(label.span.file),
        line: begin.line,
        column: begin.column,
        end_line: end.line,
        end_column: end.column,
        start: label.span.start,
        end: label.span.end,
        text: &label.text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diagnostic::Id;
    use crate::source::Span;

    #[test]
    fn a_place_has_lines_columns_and_bytes() {
        let mut sources = Sources::new();
        let file = sources.add("a.loom", "über\nx \"y\"\n");
        let (one, other) = (Span::new(file, 0, 5), Span::new(file, 8, 9));
        let found = Diagnostic::warning(Id::MissingReason, "a \"b\"", one, "here");
        let line = json(&[found.label(other, "there")], &sources);
        let value: serde_json::Value = serde_json::from_str(&line).expect("it is JSON");
        assert_eq!(value["severity"], "warning");
        assert_eq!(value["title"], "a \"b\"");
        assert_eq!(value["help"], serde_json::Value::Null);
        let numbers = |at: usize| {
            let label = &value["labels"][at];
            let names = ["line", "column", "end_line", "end_column", "start", "end"];
            names.map(|name| label[name].as_u64().expect("a number"))
        };
        assert_eq!(numbers(0), [1, 1, 1, 5, 0, 5]);
        assert_eq!(numbers(1), [2, 3, 2, 4, 8, 9]);
    }
}
