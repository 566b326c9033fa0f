//! The report of `loom bench ensemble` as text: in, its rows; out, tables like those of the paper.

use super::forms::{Form, STACKS};
use super::printed::{WAYS, found, printed, sum};
use super::{
    BYPASS, DOWN, FETCHES, LINES, MISSES, PARTS, REFERENCES, SIZES, UP, WHOLE, variant,
    variant_to_one,
};
use crate::tool::bench::Row;
use crate::tool::bench::table::{figures, spaced};
use std::collections::BTreeSet;

/// The separator between the name of a layer and the name of a figure, in the title of a row.
const OF: &str = ": ";

/// Describes the figures.
const ABOUT: &str = "\
HAND: FUNC and a bypass in C; MACH: what loom build makes; IMP: a scheduler takes each event off
the agenda; FUNC: reactions call each other, and gcc inlines none of them
transport is buffers, outputs, the bytes of headers and the driver, told apart by source lines;
stack is all else; the member of rank 0 is the sequencer, so `ten` also delivers its cast to itself
the paper's figures are microseconds on an UltraSPARC with 300 MHz, of stacks with other layers
";

/// All tables.
pub fn text(rows: &[Row]) -> String {
    let mut text = String::new();
    for (stack, layers) in STACKS {
        text += &parts(rows, stack, layers);
    }
    for table in [by_size(rows), fetched(rows), code(rows), layers(rows)] {
        text += &table;
    }
    text + ABOUT
}

fn cell(value: Option<f64>) -> String {
    value.map_or("-".to_string(), spaced)
}

/// A table with a title in its first head.
fn titled(title: &str, heads: Vec<String>, rows: &[Vec<String>]) -> String {
    let heads: Vec<String> = [title.to_string()].into_iter().chain(heads).collect();
    format!("{}\n", figures(&heads, rows))
}

/// Table 1 of a stack: parts of a cast of 4 bytes, beside the paper's.
fn parts(rows: &[Row], stack: &str, layers: u32) -> String {
    let forms: Vec<Form> = Form::ALL
        .into_iter()
        .filter(|one| one.is_of(stack))
        .collect();
    let names = |before: &str| {
        let names = forms.iter().map(|form| format!("{before}{}", form.name()));
        names.collect::<Vec<String>>()
    };
    let lines = PARTS.iter().map(|part| {
        let ours = forms
            .iter()
            .map(|form| cell(found(rows, *form, &variant(stack, SIZES[0]), part)));
        let paper = forms
            .iter()
            .map(|form| cell(printed(rows, *form, layers, part)));
        let first = [part.to_string()].into_iter();
        first.chain(ours).chain(paper).collect::<Vec<String>>()
    });
    let lines: Vec<Vec<String>> = lines.collect();
    let heads = [names(""), names("paper ")].concat();
    titled(&format!("{stack} layers, 4 bytes"), heads, &lines)
}

/// Instructions by size, as in figure 6.
fn by_size(rows: &[Row]) -> String {
    let heads = ["down", "up"].iter().flat_map(|way| {
        let sizes = SIZES.iter().map(move |size| format!("{way} {size}"));
        sizes.chain([format!("{way}, to one")])
    });
    let lines = all_forms().map(|(stack, form)| {
        let cells = WAYS.iter().flat_map(|way| {
            let variants = SIZES.iter().map(|size| variant(stack, *size));
            let variants = variants.chain([variant_to_one(stack)]);
            variants.map(|variant| cell(sum(rows, form, &variant, *way)))
        });
        named(stack, form).into_iter().chain(cells).collect()
    });
    let lines: Vec<Vec<String>> = lines.collect();
    titled("instructions by bytes", heads.collect(), &lines)
}

/// Table 2a.
fn fetched(rows: &[Row]) -> String {
    let metrics = [FETCHES, REFERENCES, MISSES, LINES];
    let heads = ["fetches", "data references", "fetches missed", "lines"];
    let lines = all_forms().map(|(stack, form)| {
        let variant = variant(stack, SIZES[0]);
        let cells = metrics
            .iter()
            .map(|metric| cell(found(rows, form, &variant, metric)));
        let whole = found(rows, form, &format!("{stack}, code"), WHOLE);
        named(stack, form)
            .into_iter()
            .chain(cells)
            .chain([cell(whole)])
            .collect()
    });
    let lines: Vec<Vec<String>> = lines.collect();
    let heads = heads.iter().chain(&["bytes of code"]);
    let heads = heads.map(|head| head.to_string()).collect();
    titled("a cast, down and up", heads, &lines)
}

/// Table 2b of our stack of ten layers: each layer, the sum, and the bypass.
fn code(rows: &[Row]) -> String {
    let (stack, _) = STACKS[1];
    let variant = format!("{stack}, code");
    let of = |form: Form, what: &str| {
        let metrics = [DOWN, UP].map(|way| format!("{what}: {way}"));
        metrics.map(|metric| found(rows, form, &variant, &metric))
    };
    let own = rows.iter().filter(|row| row.variant == variant);
    let names: BTreeSet<&str> = own
        .filter(|row| row.who == Form::Func.name())
        .filter_map(|row| Some(row.metric.split_once(OF)?.0))
        .collect();
    let mut lines: Vec<Vec<String>> = Vec::new();
    let mut sums = [0.0; 2];
    for name in names {
        let bytes = of(Form::Func, name);
        sums = [0, 1].map(|at| sums[at] + bytes[at].unwrap_or_default());
        lines.push(line(name, bytes));
    }
    lines.push(line("sum", sums.map(Some)));
    lines.push(line(BYPASS, of(Form::Mach, BYPASS)));
    let heads = ["down", "up"].map(str::to_string).to_vec();
    titled("ten layers, bytes of code", heads, &lines)
}

/// Table 2b as it is printed in the paper.
fn layers(rows: &[Row]) -> String {
    let paper = rows.iter().filter(|row| row.paper.is_some());
    let mut lines: Vec<(String, [Option<f64>; 2])> = Vec::new();
    for row in paper {
        let Some((name, way)) = row.metric.split_once(OF) else {
            continue;
        };
        let at = usize::from(way == UP);
        match lines.iter_mut().find(|(known, _)| known == name) {
            Some((_, bytes)) => bytes[at] = Some(row.value),
            None => {
                let mut bytes = [None, None];
                bytes[at] = Some(row.value);
                lines.push((name.to_string(), bytes));
            }
        }
    }
    if lines.is_empty() {
        return String::new();
    }
    let lines: Vec<Vec<String>> = lines
        .iter()
        .map(|(name, bytes)| line(name, *bytes))
        .collect();
    let heads = ["down", "up"].map(str::to_string).to_vec();
    titled("the paper's, bytes of code", heads, &lines)
}

fn line(name: &str, figures: [Option<f64>; 2]) -> Vec<String> {
    let figures = figures.map(cell);
    [name.to_string()].into_iter().chain(figures).collect()
}

fn all_forms() -> impl Iterator<Item = (&'static str, Form)> {
    let forms = |(stack, _): (&'static str, u32)| {
        let forms = Form::ALL.into_iter().filter(|form| form.is_of(stack));
        forms.map(move |form| (stack, form))
    };
    STACKS.into_iter().flat_map(forms)
}

fn named(stack: &str, form: Form) -> [String; 1] {
    [format!("{stack}, {}", form.name())]
}
