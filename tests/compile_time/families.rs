//! Sources that grow by one number in one way each, and what else can be written at length.
//!
//! In: how many. Out: a source in Loom, or in Esterel. Each has a kind of statement, value,
//! declaration or mistake so many times in a row, inside each other, or doubled at each step.

mod esterel;
mod loom;

/// Sources of one form.
#[derive(Clone)]
pub struct Family {
    /// Its name: the thing whose number grows.
    pub name: &'static str,
    /// True for Esterel, false for Loom.
    pub is_esterel: bool,
    /// Returns the source with that number of things.
    pub source: fn(usize) -> String,
}

/// Each form of source.
pub fn families() -> Vec<Family> {
    let loom = |(name, source)| Family {
        name,
        is_esterel: false,
        source,
    };
    let esterel = |(name, source)| Family {
        name,
        is_esterel: true,
        source,
    };
    let all = loom::forms().into_iter().map(loom);
    all.chain(esterel::FORMS.iter().copied().map(esterel))
        .collect()
}

/// The name of the thing whose number grows, and the function from that number to a source.
type Form = (&'static str, fn(usize) -> String);

/// So many lines.
fn lines(count: usize, line: impl Fn(usize) -> String) -> String {
    (0..count).map(|at| line(at) + "\n").collect()
}

/// So many parts between which something stands.
fn joined(count: usize, between: &str, part: impl Fn(usize) -> String) -> String {
    (0..count).map(part).collect::<Vec<_>>().join(between)
}

/// Something so many times inside each other.
fn nested(count: usize, before: &str, inner: &str, after: &str) -> String {
    before.repeat(count) + inner + &after.repeat(count)
}
