//! Progress bars on a terminal while something takes longer than a second, and the steps of a long
//! command.
//!
//! In: a text, perhaps a length. Out: a bar on stderr that vanishes when it is finished.

use super::terminal::note;
use indicatif::{ProgressBar, ProgressStyle};
use std::time::Duration;

/// For what has no known length.
pub fn spinner(text: &str) -> ProgressBar {
    let bar = ProgressBar::new_spinner().with_message(text.to_string());
    bar.enable_steady_tick(Duration::from_millis(100));
    bar
}

/// For a step of several, which is named even where no terminal shows a spinner.
pub fn step((number, of): (u32, u32), text: &str) -> ProgressBar {
    note(format_args!("{number} of {of}: {text}"));
    spinner(text)
}

/// For what is counted.
pub fn bar(text: &str, length: u64) -> ProgressBar {
    let style = ProgressStyle::with_template("{msg:<10} {wide_bar} {human_pos} of {human_len}");
    let style = style.expect("the template is well formed");
    ProgressBar::new(length)
        .with_message(text.to_string())
        .with_style(style)
}
