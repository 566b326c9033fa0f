//! Tables of the names of counters: in, a stack, the suffix of the table's name, and what stands in
//! it; out, its declaration and its definition, which a host can leave out by a macro.

use crate::back::c::Stack;

/// Declares the table in the header.
pub fn declared(stack: &Stack<'_>, table: &str) -> String {
    let name = &stack.names.stack;
    unless_left_out(
        stack,
        &format!("extern const char *const {name}_{table}[];\n"),
    )
}

/// Defines it in the file; NULL is its end.
pub fn defined(stack: &Stack<'_>, table: &str, all: impl Iterator<Item = String>) -> String {
    let lines: String = all.map(|one| format!("    \"{one}\",\n")).collect();
    let name = &stack.names.stack;
    unless_left_out(
        stack,
        &format!("const char *const {name}_{table}[] = {{\n{lines}    NULL,\n}};\n"),
    )
}

fn unless_left_out(stack: &Stack<'_>, text: &str) -> String {
    let upper = &stack.names.upper;
    format!("#ifndef {upper}_WITHOUT_NAMES\n{text}#endif\n")
}
