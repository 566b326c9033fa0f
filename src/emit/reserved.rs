//! Words that no name of the source becomes as it is: those of C and of its library, and those of
//! the text that stacks have anyway.

use super::parts;
use crate::c::words;
use crate::types::program::Program;
use std::collections::BTreeSet;

/// Names of structs and constants in the text that every stack has.
const OWN: &str = "add arrived begin count expire frame_arrives handle has_room leave reason went \
    work go_on leave_and_go_on leave_copy_and_go_on FRAMES_IN FRAMES_OUT DELIVERED CONSUMED MERGED \
    HELD DROPPED UNSENT COUNTED COUNTERS REASONS COUNTS HEADROOM BUFFER_SIZE KEPT AHEAD \
    memory_layout settings_hold STACK_AGENDA_FULL STACK_CUT_BUFFER STACK_NO_SESSION STACK_TOO_LONG";

/// Members of the struct of a stack, where the instances of layers are members, too.
const MEMBERS: &str = "shared config now_ns hash_odd counters paths timers timer_heap \
    buffers reserve reserved spare size last messages agenda events free_event crowd waiting since \
    told answers end open";

/// What stands behind the name of the stack in its own types and functions.
const INTERFACE: &str = "_message _event _place _config _refusal _check _config_default _output \
    _frame _next _shared _start _size _buffer _has_buffer _input _input_all _take _next_other \
    _done _deadline _expire _send _carrier _counters _counter_name _path _paths _path_name";

/// And the constants that a host is given, besides those of notices and of enums.
const CONSTANTS: &str = "_IDLE _FRAME _DELIVER _ACCEPTED _SENT _LATER _REFUSED _COUNTERS _PATHS \
    _PATH_NONE _FITS _FEW_BUFFERS _FEW_OUTPUTS _FEW_EVENTS _NO_BUDGET _WRONG_SETTING \
    _LITTLE_MEMORY _MEMORY _MEMORY_FOR";

/// Whether the header of each stack has a constant of this name behind that of the stack: a notice
/// that is called so has a constant with `_` behind it.
pub fn is_constant(name: &str) -> bool {
    let mut constants = CONSTANTS.split_whitespace();
    constants.any(|one| one.strip_prefix('_') == Some(name))
}

/// The text that any stack may have.
const COPIED: [&str; 9] = [
    parts::OWN,
    parts::AGENDA,
    parts::INTERFACE,
    parts::TELLS,
    parts::BYPASS,
    parts::BORROWED,
    parts::CALLS,
    parts::LEAVES,
    parts::LEFT,
];

/// Whether no function of the text of stacks is called as one that a stack of this name offers, and
/// none of its constants begins as the name does in capitals.
pub fn is_free(stack: &str) -> bool {
    if stack.to_lowercase().starts_with("do_") || is_placeholder(stack) {
        return false;
    }
    let mut all = COPIED.into_iter().flat_map(parts::defined);
    all.all(|name| match name.strip_prefix(stack) {
        Some(suffix) => INTERFACE.split_whitespace().all(|one| one != suffix),
        None => true,
    })
}

/// Whether the text of stacks has this word in capitals, for a constant or what is to stand there.
fn is_placeholder(name: &str) -> bool {
    let is_capital = !name.contains(|letter: char| letter.is_ascii_lowercase());
    let mut texts = COPIED.into_iter().chain([parts::INLINE]);
    is_capital && texts.any(|text| parts::words(text).contains(name))
        || ["STACK_", "UPPER_"].iter().any(|of| name.starts_with(of))
}

/// Whether the struct of a stack has a member of this name that no layer is.
pub fn is_member(name: &str) -> bool {
    MEMBERS.split_whitespace().any(|member| member == name)
}

/// The names at the top of a file that every stack has.
pub fn by_all(program: &Program) -> BTreeSet<String> {
    let stack = &program.name;
    let words = words::all().chain(OWN.split_whitespace());
    let words = words.chain(COPIED.into_iter().flat_map(parts::defined));
    let offered = [""].into_iter().chain(INTERFACE.split_whitespace());
    let offered = offered.map(|suffix| format!("{stack}{suffix}"));
    let constants = CONSTANTS.split_whitespace();
    let constants = constants.map(|suffix| format!("{}{suffix}", stack.to_uppercase()));
    let words = words.map(String::from).chain(offered).chain(constants);
    words.collect()
}
