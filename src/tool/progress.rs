//! What a terminal shows while something takes longer than a second; elsewhere nothing.
//!
//! In: a text, perhaps a length. Out: a bar on stderr that vanishes when it is finished.

use indicatif::{ProgressBar, ProgressStyle};
use std::time::Duration;

/// For what has no known length.
pub fn spinner(text: &str) -> ProgressBar {
    let bar = ProgressBar::new_spinner().with_message(text.to_string());
    bar.enable_steady_tick(Duration::from_millis(100));
    bar
}

/// For what is counted.
pub fn bar(text: &str, length: u64) -> ProgressBar {
    let style = ProgressStyle::with_template("{msg:<10} {wide_bar} {human_pos} of {human_len}");
    let style = style.expect("the template is well formed");
    ProgressBar::new(length)
        .with_message(text.to_string())
        .with_style(style)
}
