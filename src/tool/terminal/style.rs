//! The style in which this process speaks: with colors or without, diagnostics as text or as JSON.
//!
//! In: `--color`, `--message-format`, the environment. Out: the answer, the same for all who print.

use clap::ColorChoice;
use std::io::{self, IsTerminal};
use std::sync::OnceLock;

/// `--color`
#[derive(clap::ValueEnum, Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Color {
    /// On a terminal, unless NO_COLOR is set
    #[value(help = None::<&str>)]
    #[default]
    Auto,
    /// Into files and pipes, too
    #[value(help = None::<&str>)]
    Always,
    /// Nowhere
    #[value(help = None::<&str>)]
    Never,
}

/// `--message-format`
#[derive(clap::ValueEnum, Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MessageFormat {
    /// Text with the source line, on stderr
    #[default]
    Human,
    /// One JSON object per line, on stdout
    Json,
}

static COLOR: OnceLock<Color> = OnceLock::new();
static MESSAGES: OnceLock<MessageFormat> = OnceLock::new();

/// Settles `--color`; the first call counts.
pub fn set_color(color: Color) {
    COLOR.get_or_init(|| color);
}

/// Settles `--message-format`; the first call counts.
pub fn set_messages(format: MessageFormat) {
    MESSAGES.get_or_init(|| format);
}

/// Returns true if stderr takes colors.
pub fn is_colored() -> bool {
    match COLOR.get().copied().unwrap_or_default() {
        Color::Always => true,
        Color::Never => false,
        Color::Auto => io::stderr().is_terminal() && !refuses_color(),
    }
}

/// Returns true if diagnostics are printed as JSON.
pub fn is_json() -> bool {
    MESSAGES.get() == Some(&MessageFormat::Json)
}

/// Finds `--color` before the command line is parsed, for the errors of the parser itself.
pub fn of_parser(arguments: impl Iterator<Item = String>) -> ColorChoice {
    let mut is_value = false;
    let mut choice = ColorChoice::Auto;
    for argument in arguments {
        let value = match argument.strip_prefix("--color=") {
            Some(value) => value,
            None if is_value => &argument,
            None => "",
        };
        match value {
            "always" => choice = ColorChoice::Always,
            "never" => choice = ColorChoice::Never,
            _ => {}
        }
        is_value = argument == "--color";
    }
    choice
}

/// Returns true if the environment asks for no colors: <https://no-color.org>.
fn refuses_color() -> bool {
    let is_set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    is_set("NO_COLOR") || std::env::var_os("TERM").is_some_and(|terminal| terminal == "dumb")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_parser_finds_its_color_in_both_forms() {
        let found = |line: &str| of_parser(line.split(' ').map(String::from));
        assert_eq!(found("loom --color never biuld"), ColorChoice::Never);
        assert_eq!(found("loom biuld --color=always"), ColorChoice::Always);
        assert_eq!(found("loom check never --color"), ColorChoice::Auto);
    }
}
