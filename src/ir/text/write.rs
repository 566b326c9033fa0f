//! Module -> text.

mod function;
mod operation;
mod tables;

use super::names::{Names, name};
use crate::ir::{Function, FunctionId, Module, Role};
use crate::source::{Sources, Span};

/// Lines are broken behind a comma where they are longer.
const COLUMNS: usize = 100;

/// The text of a module, with the places in the sources as comments.
pub fn write_of(module: &Module, sources: &Sources) -> String {
    text(module, Some(sources))
}

/// The text of a module.
pub fn write(module: &Module) -> String {
    text(module, None)
}

fn text(module: &Module, sources: Option<&Sources>) -> String {
    let names = Names::new(module);
    let mut out = tables::tables(module, &names);
    for function in &module.functions {
        out.push('\n');
        out += &whole(module, &names, function, sources);
    }
    out
}

/// The text of one function.
pub fn write_function(module: &Module, id: FunctionId) -> String {
    whole(module, &Names::new(module), module.function(id), None)
}

/// The text of one function, with the places in the sources as comments.
pub fn write_function_of(module: &Module, id: FunctionId, sources: &Sources) -> String {
    let names = Names::new(module);
    whole(module, &names, module.function(id), Some(sources))
}

fn whole(module: &Module, names: &Names, function: &Function, sources: Option<&Sources>) -> String {
    let role = match function.role {
        Role::Plain => "",
        Role::Pure => "pure ",
        Role::Reaction => "event ",
        Role::Entry => "entry ",
        Role::Fast => "fast ",
    };
    let values = function::value_names(function);
    let first = function.blocks.first();
    let parameters = first.map_or(String::new(), |block| {
        function::parameters(names, function, &values, block)
    });
    let types: Vec<String> = function
        .results
        .iter()
        .map(|of| operation::type_of(names, *of))
        .collect();
    let results = match &types[..] {
        [] => String::new(),
        [only] => format!(" -> {only}"),
        several => format!(" -> ({})", several.join(", ")),
    };
    let owner = match &function.owner[..] {
        "" => String::new(),
        owner => format!(" of {}", name(owner)),
    };
    let own = name(&function.name);
    let mut out = String::new();
    let kept = if function.kept { "kept " } else { "" };
    let fast = function.fast.map_or(String::new(), |id| {
        format!(", first {}", names.functions.reference(id.0))
    });
    let head = format!("{kept}{role}fn {own}({parameters}){results}{owner}{fast} {{");
    line(&mut out, 0, &head, &place(sources, function.span));
    function::body(&mut out, module, names, &values, function, sources);
    out + "}\n"
}

/// A comment that says where something is written: `  ; udp.loom:31`.
fn place(sources: Option<&Sources>, span: Option<Span>) -> String {
    let found = sources.zip(span).map(|(sources, span)| {
        let name = sources.name(span.file);
        let line = sources.line(span.file, span.start);
        format!("  ; {name}:{line}")
    });
    found.unwrap_or_default()
}

/// Adds a line, broken where it is too long, and a comment.
fn line(out: &mut String, mut indent: usize, text: &str, comment: &str) {
    let mut rest = text;
    let broken = indent + 4;
    // A comma in quotes is no place to break.
    while indent + rest.len() > COLUMNS && !rest.contains('"') {
        let fits = rest[..COLUMNS - indent].rfind(", ");
        let Some(comma) = fits.or_else(|| rest.find(", ")) else {
            break;
        };
        *out += &" ".repeat(indent);
        *out += &rest[..=comma];
        out.push('\n');
        rest = &rest[comma + 2..];
        indent = broken;
    }
    *out += &" ".repeat(indent);
    *out += rest;
    *out += comment;
    out.push('\n');
}
