//! What a field counts or sums: in, the ranges that are written behind `counts` and `checks`; out,
//! runs of bytes, in order of writing. Ranges that stand behind one another become one run.

use super::super::context::Context;
use super::super::header::{Ranges, Run};
use super::super::program::HeaderFieldId;
use super::RulesOf;
use crate::diagnostic::{Diagnostic, Id};
use crate::source::Span;
use crate::syntax::loom::ast;

impl RulesOf<'_, '_> {
    pub(super) fn ranges(
        &self,
        context: &mut Context,
        sources: &[ast::HeaderRange],
        span: Span,
    ) -> Ranges {
        let fields = self.fields(context.program).len();
        let mut runs: Vec<Run> = Vec::new();
        for source in sources {
            let Some(run) = self.run(context, source, span) else {
                continue;
            };
            if runs.iter().any(|other| overlap(*other, run, fields)) {
                let title = "some bytes are counted or checked twice";
                let refused = Diagnostic::error(Id::BadHeader, title, span, "");
                context.report(refused.help("name each part of the header once"));
                continue;
            }
            match runs.last().and_then(|last| joined(*last, run, fields)) {
                Some(joined) => *runs.last_mut().expect("it was joined") = joined,
                None => runs.push(run),
            }
        }
        if runs.is_empty() {
            runs.push(Run::Header);
        }
        Ranges(runs)
    }

    fn run(&self, context: &mut Context, source: &ast::HeaderRange, span: Span) -> Option<Run> {
        let (title, help) = match source {
            ast::HeaderRange::Header(_) => return Some(Run::Header),
            ast::HeaderRange::Data(_) => return Some(Run::Data),
            ast::HeaderRange::Option(_) => (
                "`option` can only be counted inside `options by`",
                "write `header`, `data`, or `first..last`",
            ),
            ast::HeaderRange::Fields { first, last } => {
                let (first, last) = (self.named(context, first), self.named(context, last));
                let (first, last) = (first?, last?);
                let fields = self.fields(context.program);
                let end = &fields[last.at()];
                let odd = [fields[first.at()].bit, end.bit + end.width];
                if first > last {
                    ("this range ends before it begins", "swap its two fields")
                } else if odd.iter().any(|bit| !bit.is_multiple_of(8)) {
                    (
                        "this range does not begin and end at whole bytes",
                        "choose fields at whole bytes",
                    )
                } else {
                    return Some(Run::Between(first, last));
                }
            }
        };
        context.report(Diagnostic::error(Id::BadHeader, title, span, "").help(help));
        None
    }

    fn named(&self, context: &mut Context, name: &ast::Name) -> Option<HeaderFieldId> {
        let fields = self.fields(context.program);
        let found = fields.iter().position(|field| field.name == name.text);
        if found.is_none() {
            let known: Vec<_> = fields.iter().map(|field| &*field.name).collect();
            let title = format!("this header has no field `{name}`");
            let diagnostic = Diagnostic::error(Id::BadHeader, title, name.span, "");
            let diagnostic = super::super::names::suggest(diagnostic, &name.text, &known);
            context.report(diagnostic);
        }
        found.map(|place| HeaderFieldId(place as u32))
    }
}

/// Whether some bytes stand in both of two runs of a header of so many fields.
fn overlap(one: Run, other: Run, fields: usize) -> bool {
    let both = |place| one.covers(place) && other.covers(place);
    one.has_data() && other.has_data() || (0..fields).any(both)
}

/// Two runs that stand behind one another, as one.
fn joined(one: Run, next: Run, fields: usize) -> Option<Run> {
    match (one, next) {
        (Run::Header, Run::Data) => Some(Run::HeaderAndData),
        (Run::Between(from, to), Run::Data) if to.at() + 1 == fields => Some(match from.at() {
            0 => Run::HeaderAndData,
            _ => Run::From(from),
        }),
        (Run::Between(from, to), Run::Between(next, end)) if to.at() + 1 == next.at() => {
            Some(Run::Between(from, end))
        }
        (Run::Between(from, to), Run::From(next)) if to.at() + 1 == next.at() => {
            Some(match from.at() {
                0 => Run::HeaderAndData,
                _ => Run::From(from),
            })
        }
        (
            Run::Header | Run::Data | Run::HeaderAndData | Run::Between(..) | Run::From(_),
            Run::Header | Run::Data | Run::HeaderAndData | Run::Between(..) | Run::From(_),
        ) => None,
    }
}
