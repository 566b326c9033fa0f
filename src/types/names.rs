//! What is said of names that stand for nothing, for two things, or for what is not known yet.

use super::value::Type;
use crate::diagnostic::{Diagnostic, Id};
use crate::source::Span;
use crate::syntax::loom::ast;
use std::collections::BTreeMap;

/// Adds the known name that is most like the one that was written, or all if they are few.
pub fn suggest(diagnostic: Diagnostic, written: &str, known: &[&str]) -> Diagnostic {
    if let Some(near) = nearest(written, known) {
        return diagnostic.help(format!("did you mean `{near}`?"));
    }
    let mut known = known.to_vec();
    known.sort_unstable();
    known.dedup();
    if known.is_empty() || known.len() > 8 {
        return diagnostic;
    }
    if let [only] = known[..] {
        return diagnostic.help(format!("the only one is `{only}`"));
    }
    let quoted: Vec<_> = known.iter().map(|name| format!("`{name}`")).collect();
    diagnostic.help(format!("choose one of {}", quoted.join(", ")))
}

/// The word that is most like this one, if one is like it at all.
pub fn nearest<'w>(word: &str, known: &[&'w str]) -> Option<&'w str> {
    // Words whose lengths differ by more letters than the best so far are not compared.
    let mut best: Option<(usize, &str)> = None;
    for other in known {
        let least = word.chars().count().abs_diff(other.chars().count());
        if best.is_none_or(|(best, _)| least <= best) {
            let own = (distance(word, other), *other);
            best = Some(best.map_or(own, |best| best.min(own)));
        }
    }
    let (least, other) = best?;
    let longest = word.len().max(other.len());
    (least * 3 <= longest).then_some(other)
}

/// How many letters are added, left out or changed from one word to the other.
fn distance(left: &str, right: &str) -> usize {
    let right: Vec<char> = right.chars().collect();
    let mut row: Vec<usize> = (0..=right.len()).collect();
    for (at, letter) in left.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = at + 1;
        for (place, other) in right.iter().enumerate() {
            let changed = diagonal + usize::from(letter != *other);
            diagonal = row[place + 1];
            row[place + 1] = changed.min(diagonal + 1).min(row[place] + 1);
        }
    }
    row[right.len()]
}

/// Two things of one name.
pub fn taken(name: &str, span: Span, first: Option<Span>) -> Diagnostic {
    let title = format!("`{name}` is already declared");
    let diagnostic = Diagnostic::error(Id::NameTaken, title, span, "declared again")
        .why("Two declarations of one scope cannot have the same name.");
    match first {
        Some(first) => diagnostic.label(first, "the first"),
        None => diagnostic,
    }
}

/// Refuses the names of what stands beside others in C.
pub fn refuse_beside<'a>(
    names: impl Iterator<Item = (&'a ast::Name, &'a Type)> + Clone,
    diagnostics: &mut Vec<Diagnostic>,
) {
    for (name, kind) in names.clone() {
        let (beside, says) = match kind {
            Type::Optional(_) => (vec![format!("has_{name}")], "the presence of"),
            Type::Queue(..) => (vec![format!("{name}_items")], "the contents of"),
            Type::Window(..) => (
                ["items", "held"].map(|of| format!("{name}_{of}")).into(),
                "the contents of",
            ),
            Type::Stream(..) => {
                let parts = ["ranges", "pieces", "bytes"];
                (
                    parts.map(|of| format!("{name}_{of}")).into(),
                    "the contents of",
                )
            }
            _ => continue,
        };
        for (other, _) in names
            .clone()
            .filter(|(other, _)| beside.contains(&other.text))
        {
            let title = format!("the generated C uses `{other}` for {says} `{name}`");
            let label = "choose another name";
            let refused = Diagnostic::error(Id::NameTaken, title, other.span, label);
            diagnostics.push(refused.label(name.span, "the other declaration"));
        }
    }
}

/// Reports every name that was written before in the same list.
pub fn refuse_repeated<'a>(
    names: impl IntoIterator<Item = &'a ast::Name>,
    diagnostics: &mut Vec<Diagnostic>,
) {
    let mut seen: BTreeMap<&str, Span> = BTreeMap::new();
    for name in names {
        match seen.get(name.text.as_str()) {
            Some(first) => diagnostics.push(taken(&name.text, name.span, Some(*first))),
            None => drop(seen.insert(&name.text, name.span)),
        }
    }
}

/// A value that must be known when the stack is compiled.
pub fn not_constant(span: Span, what: &str) -> Diagnostic {
    let title = format!("{what} is not constant");
    Diagnostic::error(Id::NotConstant, title, span, "known only at run time").why(
        "The compiler lays out memory and labels joints, so it needs constants here, or parameters \
        whose value is a constant; `config` values are known only at run time.",
    )
}

/// What the language has, and this compiler does not yet.
pub fn not_yet(span: Span, what: &str) -> Diagnostic {
    let title = format!("{what} cannot be compiled yet");
    Diagnostic::error(Id::NotYet, title, span, "")
        .why("The language includes this, but this version of the compiler does not support it.")
}
