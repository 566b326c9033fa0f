//! Diagnostics as text for a terminal.

use annotate_snippets::{AnnotationKind, Group, Level, Renderer, Snippet};

use super::{Diagnostic, Severity};
use crate::source::{Sources, Span};

/// Prints diagnostics as
///
/// ```text
/// error[missing-reason]: this drop has no reason
///   --> layers/order/fifo.loom:41:27
///    |
/// 41 |         if full { drop message }
///    |                               ^ expected `as` and a name
///    |
///    = Every drop is counted under a name, so that no message is lost unseen.
///    = help: write `drop message as too_long`, with a reason of your own
/// ```
///
/// with an empty line behind each.
pub fn render(diagnostics: &[Diagnostic], sources: &Sources, color: bool) -> String {
    let renderer = if color {
        Renderer::styled()
    } else {
        Renderer::plain()
    };
    diagnostics
        .iter()
        .map(|it| renderer.render(&[group(it, sources)]) + "\n\n")
        .collect()
}

fn group<'a>(diagnostic: &'a Diagnostic, sources: &'a Sources) -> Group<'a> {
    let level = match diagnostic.severity {
        Severity::Error => Level::ERROR,
        Severity::Warning => Level::WARNING,
    };
    let mut group = level
        .primary_title(diagnostic.title.as_str())
        .id(diagnostic.id.name())
        .elements(snippets(diagnostic, sources));
    if let Some(why) = &diagnostic.why {
        group = group.element(Level::NOTE.no_name().message(why.as_str()));
    }
    if let Some(help) = &diagnostic.help {
        group = group.element(Level::HELP.message(help.as_str()));
    }
    group
}

/// One snippet for each file with a label in it; the file of the primary one comes first.
fn snippets<'a>(
    diagnostic: &'a Diagnostic,
    sources: &'a Sources,
) -> Vec<Snippet<'a, annotate_snippets::Annotation<'a>>> {
    let mut files = vec![diagnostic.primary.span.file];
    for label in &diagnostic.labels {
        if !files.contains(&label.span.file) {
            files.push(label.span.file);
        }
    }
    let primary = std::iter::once((AnnotationKind::Primary, &diagnostic.primary));
    let labels = diagnostic
        .labels
        .iter()
        .map(|label| (AnnotationKind::Context, label));
    let labels: Vec<_> = primary.chain(labels).collect();
    let snippet = |file| {
        let here = labels
            .iter()
            .filter(move |(_, label)| label.span.file == file);
        // Of a long file only the lines with labels are handed over.
        let spans = here.clone().map(|(_, label)| label.span);
        let stretch = spans
            .reduce(Span::to)
            .expect("a file is shown for a label in it");
        let text = sources.text(file);
        let start = text[..stretch.start as usize]
            .rfind('\n')
            .map_or(0, |newline| newline + 1);
        let rest = &text[stretch.end as usize..];
        let end = rest
            .find('\n')
            .map_or(text.len(), |length| stretch.end as usize + length);
        let annotations = here.map(|(kind, label)| {
            let label_text = (!label.text.is_empty()).then_some(label.text.as_str());
            let span = label.span.start as usize - start..label.span.end as usize - start;
            kind.span(span).label(label_text)
        });
        Snippet::source(&text[start..end])
            .line_start(sources.position(stretch).line as usize)
            .path(sources.name(file))
            .annotations(annotations)
    };
    files.into_iter().map(snippet).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diagnostic::Id;

    #[test]
    fn a_diagnostic_shows_its_line_its_reason_and_what_to_do() {
        let mut sources = Sources::new();
        let file = sources.add(
            "order/fifo.loom",
            "on deliver(message) {\n    drop message\n}\n",
        );
        let other = sources.add("order/service.loom", "service order {}\n");
        let place = Span::new(file, 38, 38);
        let diagnostic = Diagnostic::error(
            Id::MissingReason,
            "this drop has no reason",
            place,
            "expected `as` and a name",
        );
        let diagnostic = diagnostic
            .label(Span::new(other, 8, 13), "counted here")
            .why("Every drop is counted.")
            .help("write `drop message as full`");
        let expected = "\
error[missing-reason]: this drop has no reason
 --> order/fifo.loom:2:17
  |
2 |     drop message
  |                 ^ expected `as` and a name
  |
 ::: order/service.loom:1:9
  |
1 | service order {}
  |         ----- counted here
  |
  = Every drop is counted.
  = help: write `drop message as full`

";
        assert_eq!(render(&[diagnostic], &sources, false), expected);
    }
}
