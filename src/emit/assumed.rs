//! What a specialised stack takes for granted comes in, a paragraph for the heads of both its files
//! goes out.

use super::Stack;
use super::header_file::filled;

/// What a specialised stack takes for granted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Assumed {
    /// The names of the profiles by which it was cut.
    pub profiles: Vec<String>,
    /// How many ways were taken when these were recorded, and how many there were.
    pub extent: (usize, usize),
    /// How many were cut: what is behind a cut is none any more.
    pub cut: usize,
    /// Whether all frames stood elsewhere than in buffers of the stack, which then gives none.
    pub elsewhere: bool,
}

/// Whether no frame stands in a buffer that the host was given.
pub fn stand_elsewhere(stack: &Stack) -> bool {
    stack.assumed.is_some_and(|assumed| assumed.elsewhere)
}

/// Lines by which who reads the C learns what it does not do; none, if it does everything.
pub fn lines(stack: &Stack) -> Vec<String> {
    let Some(Assumed {
        profiles,
        extent: (taken, all),
        cut,
        elsewhere,
    }) = stack.assumed
    else {
        return Vec::new();
    };
    let name = &stack.names.stack;
    let recorded = match &profiles[..] {
        [] => "a profile".to_string(),
        profiles => profiles.join(" and "),
    };
    let ways = if *cut == 1 { "way is" } else { "ways are" };
    let says = format!(
        "Specialised: it is assumed to do nothing but what it did when {recorded} was recorded, \
         which is {taken} of {all} ways. All else is gone: {cut} {ways} cut where they begin. What \
         meets a cut is counted by the counter of {name}_counter_name that has `.cut_` and its \
         place in its name; its message is dropped for the reason `cut`, and the session that it \
         belongs to ends.{}",
        match elsewhere {
            true => format!(
                " No frame stood in a buffer of it: {name}_buffer gives none, and that is counted."
            ),
            false => String::new(),
        }
    );
    [vec![String::new()], filled(&says)].concat()
}
