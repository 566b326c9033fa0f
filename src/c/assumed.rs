//! The assumptions of a specialised stack: a paragraph for the heads of both its files.

/// The assumptions of a specialised stack.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Assumed {
    /// The names of the profiles by which it was cut.
    pub profiles: Vec<String>,
    /// How many ways were taken when these were recorded, and how many there were.
    pub extent: (usize, usize),
    /// How many were cut: what is behind a cut is none any more.
    pub cut: usize,
    /// True if all frames stood in memory of the host: the stack gives the host no buffers.
    pub elsewhere: bool,
}

impl Assumed {
    /// Returns a paragraph by which a reader of the C of a stack learns what it does not do.
    pub fn paragraph(&self, stack: &str) -> String {
        let Assumed {
            profiles,
            extent: (taken, all),
            cut,
            elsewhere,
        } = self;
        let recorded = match &profiles[..] {
            [] => "a profile".to_string(),
            profiles => profiles.join(" and "),
        };
        let ways = if *cut == 1 { "way is" } else { "ways are" };
        let buffers = match elsewhere {
            true => format!(
                " No frame stood in a buffer of it: {stack}_buffer gives none, and that is counted."
            ),
            false => String::new(),
        };
        format!(
            "Specialised: it is assumed to do nothing but what it did when {recorded} was \
             recorded, which is {taken} of {all} ways. All else is gone: {cut} {ways} cut where \
             they begin. What meets a cut is counted by the counter of {stack}_counter_name that \
             has `.cut_` and its place in its name; its message is dropped for the reason `cut`, \
             and the session that it belongs to ends.{buffers}"
        )
    }
}
