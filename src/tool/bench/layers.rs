//! `loom bench layers`: the cost of an additional layer, and of a swap between layers of a slot.
//!
//! In: `bench/layers.loom`, and how many of its layers stand below the others; `bench/swap.loom`.
//! Out: instructions of a message on each way, woven and with each joint as a call; bytes of text;
//! instructions of the compiler. Of each figure, too, by how much it grows with a layer. Then
//! instructions of a swap.
//!
//! ```text
//! link tun { tunnel ..                                              none
//! link tun { tagged(number = 1) { tagged(number = 2) { tunnel ..    two, each with a constant
//! link tun { numbered { numbered { tunnel ..                        two, each checks a number
//! link tun { tunnel { slot slot1 { off, off as other1 } { ..        an idle slot
//! ```

use super::programs::{QUICK, WHOLE};
use super::{Bench, Row};
use crate::tool::compiler::Options;
use crate::tool::counting::{self, Counted};
use crate::tool::failure::{Failure, about};
use crate::tree::rewrites::{Rewrite, Rewrites};
use std::collections::BTreeSet;
use std::path::Path;

/// How many layers, if nothing else is said, and at most.
pub const COUNTS: [u32; 7] = [0, 1, 2, 4, 8, 16, 32];
pub const MOST: i64 = 64;

/// Whose figures are to be small, and which.
pub const WOVEN: &str = "woven";
pub const BOTH: &str = "down and up";

/// Layers, and how they are joined.
#[derive(Clone, Copy)]
struct Form {
    who: &'static str,
    rewrites: Rewrites,
    /// The text behind which they are written: the layer or link on which they stand.
    below: &'static str,
    /// Writes one layer of this number.
    layer: fn(u32) -> String,
    /// The most of them.
    most: u32,
}

fn tagged(number: u32) -> String {
    format!(" tagged(number = {number}) {{")
}

fn numbered(_: u32) -> String {
    " numbered {".to_string()
}

fn slot(number: u32) -> String {
    format!(" slot slot{number} {{ off, off as other{number} }} {{")
}

fn slot_of_one(number: u32) -> String {
    format!(" slot slot{number} {{ off }} {{")
}

const LINK: &str = "link tun {";
/// Slots hand on what a layer for networks needs, and not what a link gives.
const TUNNEL: &str = "tunnel {";

/// A header with a constant, which costs next to nothing, stands beside one with a number that is
/// kept and checked, and beside slots of which no layer is ever swapped.
const FORMS: [Form; 5] = [
    Form {
        who: WOVEN,
        rewrites: Rewrites::ALL,
        below: LINK,
        layer: tagged,
        most: MOST as u32,
    },
    Form {
        who: "woven, a checked number",
        rewrites: Rewrites::ALL,
        below: LINK,
        layer: numbered,
        most: MOST as u32,
    },
    Form {
        who: "joints as calls",
        rewrites: Rewrites::ALL.without(Rewrites::only(Rewrite::Inline)),
        below: LINK,
        layer: tagged,
        most: MOST as u32,
    },
    Form {
        who: "woven, an idle slot",
        rewrites: Rewrites::ALL,
        below: TUNNEL,
        layer: slot,
        most: 2,
    },
    Form {
        who: "woven, a slot of off",
        rewrites: Rewrites::ALL,
        below: TUNNEL,
        layer: slot_of_one,
        most: 2,
    },
];

/// The figures of stacks with so many layers more; of the compiler, too, if not of us alone.
pub fn rows(bench: &Bench, layers: &[u32], alone: bool) -> Result<Vec<Row>, Failure> {
    let base = bench.folder.join("layers.loom");
    let text = std::fs::read_to_string(&base).map_err(about(&base))?;
    let layers: BTreeSet<u32> = layers.iter().copied().collect();
    let mut rows = Vec::new();
    for &count in &layers {
        let source = bench.work.join(format!("layers-{count}.loom"));
        let mut own = Vec::new();
        for one in FORMS.iter().filter(|one| count <= one.most) {
            (bench.say)(&format!("{count} layers, {}", one.who));
            std::fs::write(&source, stacked(&text, count, one)).map_err(about(&source))?;
            own.extend(form(bench, &source, count, *one)?);
        }
        if bench.counts && !alone {
            (bench.say)(&format!("loom build, {count} layers"));
            own.push(counting::work_for(&source)?);
        }
        rows.extend(own.into_iter().map(|row| Row {
            layers: Some(count),
            ..row
        }));
    }
    let each = each(&rows);
    rows.extend(each);
    if bench.counts {
        (bench.say)("a swap");
        rows.extend(swap(bench)?);
    }
    Ok(rows)
}

/// Instructions of a swap, from the wish of an application to the notice that it is done.
fn swap(bench: &Bench) -> Result<Vec<Row>, Failure> {
    let stack = bench.folder.join("swap.loom");
    let (source, _) = counting::written(&stack, "swap", Options::default(), bench.work)?;
    let driver = bench.folder.join("swap.c");
    let mut rows = Vec::new();
    for (way, flags) in [("O2", QUICK), ("O3-lto", WHOLE)] {
        let variant = format!("swap-{way}");
        let program = std::path::absolute(bench.keep.join(format!("layers-{variant}")))?;
        let all: Vec<&str> = flags.split_whitespace().collect();
        counting::compile_driven(&source, &driver, &all, &program)?;
        let value = Counted::alone(program).instructions("count")?;
        let who = [WOVEN, &variant, flags];
        rows.push(Row::without_sums(who, "a swap", "instructions", value));
    }
    Ok(rows)
}

fn form(bench: &Bench, source: &Path, count: u32, one: Form) -> Result<Vec<Row>, Failure> {
    let Form { who, rewrites, .. } = one;
    let options = Options {
        rewrites,
        ..Options::default()
    };
    let (source, _) = counting::written(source, "udp", options, bench.work)?;
    let mut rows = Vec::new();
    for (way, flags) in [("O2", QUICK), ("O3-lto", WHOLE)] {
        let variant = format!("{}-{count}-{way}", who.replace(", ", "-").replace(' ', "-"));
        let row = |metric: &str, unit: &str, value: f64| {
            Row::without_sums([who, &variant, flags], metric, unit, value)
        };
        let flags: Vec<&str> = flags.split_whitespace().collect();
        let program = std::path::absolute(bench.keep.join(format!("layers-{variant}")))?;
        counting::compile_driven(&source, &bench.folder.join("udp.c"), &flags, &program)?;
        if bench.counts {
            let counted = Counted::alone(program);
            let both = counted.instructions("count")?;
            let down = counted.instructions("down")?;
            let figures = [("down", down), ("up", both - down), (BOTH, both)];
            rows.extend(figures.map(|(metric, value)| row(metric, "instructions", value)));
        }
        let size = counting::size_of(&source, &flags)?;
        rows.extend(size.map(|size| row("text", "bytes", size.text)));
    }
    Ok(rows)
}

/// The text of a stack with so many layers more.
fn stacked(text: &str, count: u32, form: &Form) -> String {
    let layers: Vec<String> = (1..=count).map(form.layer).collect();
    let ends = "}".repeat(layers.len());
    let link = format!("{}{}", form.below, layers.concat());
    format!("{}{ends}\n", text.replacen(form.below, &link, 1).trim_end())
}

/// By how much each figure grows with a layer, from the fewest layers to the most.
fn each(rows: &[Row]) -> Vec<Row> {
    let Some(fewest) = rows.iter().filter_map(|row| row.layers).min() else {
        return Vec::new();
    };
    let first = rows.iter().filter(|row| row.layers == Some(fewest));
    let grown = first.filter_map(|first| {
        let same = |row: &&Row| {
            let own = (&first.who, &first.flags, &first.metric);
            own == (&row.who, &row.flags, &row.metric)
        };
        let last = rows.iter().filter(same).max_by_key(|row| row.layers)?;
        let most = last.layers.filter(|most| *most > fewest)?;
        Some(Row {
            value: (last.value - first.value) / f64::from(most - fewest),
            layers: None,
            ..last.clone()
        })
    });
    grown.collect()
}

#[cfg(test)]
mod tests {
    use super::{FORMS, stacked};

    #[test]
    fn layers_stand_on_the_link() {
        let text = "stack s { link tun { port p } }\n";
        let [tags, numbers, ..] = &FORMS;
        assert_eq!(stacked(text, 0, tags), text);
        assert_eq!(
            stacked(text, 2, tags),
            "stack s { link tun { tagged(number = 1) { tagged(number = 2) { port p } }}}\n"
        );
        let numbers = stacked(text, 2, numbers);
        assert_eq!(
            numbers,
            "stack s { link tun { numbered { numbered { port p } }}}\n"
        );
    }
}
