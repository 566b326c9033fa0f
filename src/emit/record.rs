//! A build that records: a stack comes in, the part of `NAME.c` that records goes out.

use super::Stack;
pub use crate::c::record::{CAME, LAST, PASSED, Record};

/// Where it is known that a frame stood in no buffer of the stack, and what takes note of that.
const STOOD: &str = "    STOOD_ELSEWHERE\n";
const ELSEWHERE: &str = "    loom_frames[LINK_NUMBER].elsewhere += 1;\n";

/// A text in which that is noted, if it is.
pub fn noted(stack: &Stack, text: &str) -> String {
    let note = stack.record.map_or("", |_| ELSEWHERE);
    text.replace(STOOD, note)
}

/// The part of `NAME.c` that records; nothing, if nothing is recorded.
pub fn text(stack: &Stack) -> String {
    let links = stack.program.links.iter().map(|link| link.name.as_str());
    let text = |record: &Record| record.text(&stack.names.stack, links);
    stack.record.map_or(String::new(), text)
}
