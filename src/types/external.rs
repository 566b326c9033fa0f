//! What is written in C, in a whole stack: in, its program; out, whether each name stands for one
//! function there.
//!
//! A layer that stands twice declares its functions, records and enums twice; in C they are one.

use super::compose::Composition;
use super::context::Context;
use super::program::{Function, Program, RecordId};
use super::value::Type;
use crate::diagnostic::{Diagnostic, Id, closest};
use crate::source::Span;
use crate::syntax::loom::ast;

/// A function of the runtime, whose C is the part `sl_NAME` of a file in `runtime/`. All of them
/// overwrite the data that they are given, which comes first, and keep its length.
#[derive(Debug)]
pub struct Shipped {
    /// Its name in Loom.
    pub name: &'static str,
    /// The bits of each unsigned number that follows the data.
    pub numbers: &'static [u8],
    /// The type of its result.
    pub result: Returned,
}

/// The result type of a function of the runtime.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Returned {
    /// Nothing.
    Nothing,
    /// A `u32`.
    Number,
    /// A `u32?`.
    Perhaps,
}

/// All functions of the runtime that a layer may declare with `in runtime`. The interpreters call
/// `simulate::coders` instead of the C.
pub const SHIPPED: [Shipped; 6] = [
    shipped("hamming_encoded", &[], Returned::Nothing),
    shipped("hamming_decoded", &[], Returned::Number),
    shipped("convolutional_encoded", &[], Returned::Nothing),
    shipped("convolutional_decoded", &[], Returned::Perhaps),
    shipped("reed_solomon_encoded", &[8], Returned::Nothing),
    shipped("reed_solomon_decoded", &[8], Returned::Perhaps),
];

const fn shipped(name: &'static str, numbers: &'static [u8], result: Returned) -> Shipped {
    Shipped {
        name,
        numbers,
        result,
    }
}

impl Shipped {
    /// Returns the declaration, as a layer writes it.
    pub fn declaration(&self) -> String {
        let numbers = self.numbers.iter().zip(["first", "second"]);
        let numbers = numbers.map(|(bits, name)| format!(", {name}: u{bits}"));
        let result = match self.result {
            Returned::Nothing => "",
            Returned::Number => " -> u32",
            Returned::Perhaps => " -> u32?",
        };
        let numbers: String = numbers.collect();
        let name = self.name;
        format!("extern fn {name}(data: rewritten bytes{numbers}){result} in runtime")
    }

    fn is_declared_by(&self, function: &Function) -> bool {
        let given = &function.locals[..function.parameters as usize];
        let numbers = self.numbers.iter().map(|bits| Type::Unsigned(*bits));
        let wanted = [Type::Message].into_iter().chain(numbers);
        let result = match self.result {
            Returned::Nothing => Type::Nothing,
            Returned::Number => Type::Unsigned(32),
            Returned::Perhaps => Type::Optional(Box::new(Type::Unsigned(32))),
        };
        function.rewrites
            && function.result == result
            && given.iter().map(|one| one.kind.clone()).eq(wanted)
    }
}

/// Refuses a function that the runtime does not have, or has with other types.
pub(super) fn check_runtime(context: &mut Context, function: &Function, source: &ast::Function) {
    let name = &function.name;
    let Some(shipped) = SHIPPED.iter().find(|one| one.name == name) else {
        let title = format!("the runtime has no function `{name}`");
        let span = source.name.span;
        let refused = Diagnostic::error(Id::UnknownName, title, span, "not in the runtime");
        let known: Vec<&str> = SHIPPED.iter().map(|one| one.name).collect();
        let help = match closest(name, known.iter().copied()) {
            Some(near) => format!("did you mean `{near}`?"),
            None => "a function of your own has no `in runtime`".to_string(),
        };
        context.report(refused.help(help));
        return;
    };
    if !shipped.is_declared_by(function) {
        let title = format!("the runtime has `{name}` with other types");
        let label = "declared differently here";
        let refused = Diagnostic::error(Id::TypeMismatch, title, source.span, label);
        context.report(refused.help(format!("write `{}`", shipped.declaration())));
    }
}

impl Program {
    /// What the user of a stack writes in C, functions and what ports and links call, each name
    /// once. Functions of the runtime come with the compiler.
    pub fn functions_in_c(&self) -> Vec<&str> {
        let functions = self
            .functions
            .iter()
            .filter(|one| one.external && !one.in_runtime);
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
    let external: Vec<Function> = functions
        .filter(|one| one.external && !one.in_runtime)
        .cloned()
        .collect();
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
        && one.rewrites == other.rewrites
        && same_in_c(program, &one.result, &other.result)
        && both.all(|(a, b)| same_in_c(program, &a.kind, &b.kind))
}
