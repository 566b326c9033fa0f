//! What a specialised stack takes for granted comes in, a paragraph for the heads of both its files
//! goes out.

use super::Stack;
use super::header_file::filled;
pub use crate::c::assumed::Assumed;

/// Whether no frame stands in a buffer that the host was given.
pub fn stand_elsewhere(stack: &Stack) -> bool {
    stack.assumed.is_some_and(|assumed| assumed.elsewhere)
}

/// Lines by which who reads the C learns what it does not do; none, if it does everything.
pub fn lines(stack: &Stack) -> Vec<String> {
    let said = |assumed: &Assumed| filled(&assumed.paragraph(&stack.names.stack));
    let lines = stack.assumed.map(said);
    lines.map_or(Vec::new(), |lines| [vec![String::new()], lines].concat())
}
