//! Names that C of every stack has: in, the name of a stack or of a notice; out, whether it would
//! be one of these.

use super::names::{CONSTANTS, INTERFACE, OWN, identifier};
use super::text;

/// Returns the reason why a name cannot stand before all names of generated C; none if it can.
pub fn no_name(name: &str) -> Option<&'static str> {
    const TAKEN: [&str; 2] = ["sl", "main"];
    if !is_word(name) {
        return Some("a name consists of letters, digits and `_`, and starts with a letter");
    }
    if identifier(name) != name || TAKEN.contains(&name) || !is_free(name) {
        return Some("C or the runtime reserves it");
    }
    (name.len() > 60).then_some("a name has at most 60 letters")
}

/// Returns true for a letter followed by letters, digits and `_`.
pub fn is_word(name: &str) -> bool {
    let mut letters = name.chars();
    let first = letters.next();
    first.is_some_and(|letter| letter.is_ascii_alphabetic())
        && letters.all(|letter| letter.is_ascii_alphanumeric() || letter == '_')
}

/// Returns true if the C of a stack of this name has no function or constant of two meanings: one
/// that every stack has, and one that this stack offers.
fn is_free(stack: &str) -> bool {
    let begins_alike = |word: &&str| stack.starts_with(*word);
    let is_work = ["do_"]
        .iter()
        .any(|word| stack.to_lowercase().starts_with(*word));
    if is_work || ["STACK_", "UPPER_"].iter().any(begins_alike) {
        return false;
    }
    let offered = |name: &str| match name.strip_prefix(stack) {
        Some(suffix) => INTERFACE.split_whitespace().any(|one| one == suffix),
        None => false,
    };
    let is_capital = !stack.contains(|letter: char| letter.is_ascii_lowercase());
    let is_constant = is_capital && OWN.split_whitespace().any(|word| word == stack);
    let is_placeholder = ["STACK", "UPPER"].contains(&stack);
    let mut all = OWN.split_whitespace().chain(text::defined());
    !is_constant && !is_placeholder && !all.any(offered)
}

/// Returns true if the header of each stack has a constant of this name behind that of the stack: a
/// notice of this name has a constant with `_` behind it.
pub fn is_constant(name: &str) -> bool {
    let mut constants = CONSTANTS.split_whitespace();
    constants.any(|one| one.strip_prefix('_') == Some(name))
}
