//! In which control states instants begin, and in which nothing is ever found.

use super::{Explained, LEAST, line, percent};

/// What is said of control states; of `all`, also of those that are rare.
pub fn states(of: &Explained, all: bool, text: &mut String) {
    let (words, analysed) = (&of.words, of.analysed);
    if !analysed.states.is_empty() {
        line(text, "\ncontrol states at the start of an instant:");
    }
    for register in &analysed.states {
        let shares = register.shares.iter().copied();
        let mut shares: Vec<(f64, u64)> = shares.zip(register.values.iter().copied()).collect();
        shares.retain(|(share, _)| all || *share >= LEAST);
        shares.sort_by(|one, other| other.0.total_cmp(&one.0).then(one.1.cmp(&other.1)));
        let (kind, field) = (register.kind, register.field);
        let shares: Vec<String> = shares
            .into_iter()
            .map(|(share, value)| {
                let value = words.value(kind, field, value);
                format!("{value} {}", percent(share))
            })
            .collect();
        let name = words.field(kind, field);
        line(text, &format!("  {name}: {}", shares.join(", ")));
    }
    never(of, all, text);
}

/// States to which nothing leads.
fn never(of: &Explained, all: bool, text: &mut String) {
    let never = &of.analysed.never;
    if never.is_empty() {
        return;
    }
    let nodes: usize = never.iter().map(|one| one.nodes).sum();
    let count = match never.len() {
        1 => "1 control state is unreachable".to_string(),
        count => format!("{count} control states are unreachable"),
    };
    let hint = if all { "" } else { " (`--all` lists them)" };
    let says = format!("{count}: {nodes} nodes exist only for them{hint}");
    line(text, &format!("\n{says}"));
    for one in never.iter().filter(|_| all) {
        let name = of.words.field(one.kind, one.field);
        let value = of.words.value(one.kind, one.field, one.value);
        line(text, &format!("{:>8}  {name} {value}", one.nodes));
    }
}
