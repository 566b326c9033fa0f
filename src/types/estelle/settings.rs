//! Settings of the command line that change the meaning of a specification.

/// Settings of the command line.
#[derive(Clone, Default, Debug)]
pub struct Settings {
    /// `--set NAME=VALUE`: values of the constants that are declared by `= any TYPE`.
    pub constants: Vec<(String, String)>,
    /// `--externs`: C code may define types (`type T = ..`).
    pub externs: bool,
}
