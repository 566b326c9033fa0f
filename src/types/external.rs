//! What is written in C, in a whole stack: in, its program; out, whether each name stands for one
//! function there.
//!
//! A layer that stands twice declares its functions, records and enums twice; in C they are one.

use super::compose::Composition;
use super::context::Context;
use super::program::{Function, Program, RecordId};
use super::value::Type;
use crate::diagnostic::{Diagnostic, Id};
use crate::source::Span;

impl Program {
    /// What is declared here and written in C, functions and what ports and links call, each name
    /// once.
    pub fn functions_in_c(&self) -> Vec<&str> {
        let functions = self.functions.iter().filter(|function| function.external);
        let functions = functions.map(|function| &function.name);
        let ports = self.ports.iter().filter_map(|port| port.calls.as_ref());
        let links = self.links.iter().filter_map(|link| link.calls.as_ref());
        let called = ports.chain(links);
        let mut names: Vec<&str> = functions.chain(called).map(String::as_str).collect();
        names.sort_unstable();
        names.dedup();
        names
    }
}

/// Refuses functions of one name that are not the same; each port and link calls one of its own.
pub(super) fn check(context: &mut Context, composition: &Composition) {
    let functions = context.program.functions.iter();
    let external: Vec<Function> = functions.filter(|one| one.external).cloned().collect();
    for (at, function) in external.iter().enumerate() {
        let mut before = external[..at].iter();
        let differs = |other: &&Function| {
            other.name == function.name && !same_function(context.program, other, function)
        };
        if let Some(other) = before.find(differs) {
            refuse(context, &function.name, function.span, other.span);
        }
    }
    let ports = composition.ports.iter().filter_map(|port| port.calls);
    let links = composition.links.iter().filter_map(|link| link.calls);
    let called = ports.chain(links);
    let mut known: Vec<(&str, Span)> = external
        .iter()
        .map(|function| (function.name.as_str(), function.span))
        .collect();
    for name in called {
        if let Some((_, other)) = known.iter().find(|(known, _)| name.is(known)) {
            refuse(context, &name.text, name.span, *other);
        }
        known.push((&name.text, name.span));
    }
}

fn refuse(context: &mut Context, name: &str, span: Span, other: Span) {
    let title = format!("two different functions in C have the name `{name}`");
    let refused = Diagnostic::error(Id::NameTaken, title, span, "declared here")
        .label(other, "declared differently here")
        .why(
            "All layers of a stack share one C function per name, so their declarations must be \
            equal.",
        );
    context.report(refused);
}
/// Whether two types are one in C.
fn same_in_c(program: &Program, one: &Type, other: &Type) -> bool {
    match (one, other) {
        (Type::Record(one), Type::Record(other)) => same_record(program, *one, *other),
        (Type::Enum(one), Type::Enum(other)) => {
            program.enums[one.at()].width == program.enums[other.at()].width
        }
        (Type::Optional(one), Type::Optional(other)) => same_in_c(program, one, other),
        (one, other) => one == other,
    }
}

/// Whether two records are one in C.
pub fn same_record(program: &Program, one: RecordId, other: RecordId) -> bool {
    let [one, other] = [one, other].map(|id| &program.records[id.at()]);
    let mut fields = one.fields.iter().zip(&other.fields);
    one.name == other.name
        && one.external == other.external
        && one.fields.len() == other.fields.len()
        && fields.all(|(a, b)| a.name == b.name && same_in_c(program, &a.kind, &b.kind))
}

fn same_function(program: &Program, one: &Function, other: &Function) -> bool {
    let [given, others] = [one, other].map(|it| &it.locals[..it.parameters as usize]);
    let mut both = given.iter().zip(others);
    given.len() == others.len()
        && same_in_c(program, &one.result, &other.result)
        && both.all(|(a, b)| same_in_c(program, &a.kind, &b.kind))
}
