//! The rows of `loom bench hippco` as a picture.
//!
//! In: rows. Out: SVG, with a bar for the instructions of a segment in each: first ours and those
//! that were counted beside them, then the paper's, all by one measure. Beside what is interpreted
//! all other bars would be too short to be told apart, so it has none.

use super::Row;
use super::goals::METRICS;
use super::interpreted::INTERPRETED;
use std::fmt::Write as _;

/// How high a line is, and where bars begin.
const LINE: f64 = 22.0;
const LEFT: f64 = 210.0;
/// Of the longest bar, and of what stands behind it.
const WIDEST: f64 = 420.0;
const FIGURE: f64 = 70.0;
/// Around all, and between groups.
const MARGIN: f64 = 20.0;

const STYLE: &str = "\
<style>
text { font: 13px sans-serif; fill: #222 }
.title { font: 600 15px sans-serif }
.who { text-anchor: end }
.ours { fill: #35507a }
.others { fill: #a8b6cc }
.printed { fill: #e0b060 }
</style>
";

/// The picture of these rows.
pub fn picture(rows: &[Row]) -> String {
    let is_drawn = |row: &&Row| row.metric == METRICS[2] && row.variant != INTERPRETED;
    let rows: Vec<&Row> = rows.iter().filter(is_drawn).collect();
    let most = rows.iter().map(|row| row.value).fold(1.0, f64::max);
    let is_printed = |row: &&&Row| class(row) == "printed";
    let mut shapes = String::new();
    let mut top = MARGIN;
    let groups = [
        ("Instructions for a segment of TCP, counted here", false),
        ("The paper's, on an Alpha of 1997", true),
    ];
    for (title, printed) in groups {
        let group = rows.iter().filter(|row| is_printed(row) == printed);
        let group: Vec<&&Row> = group.collect();
        if group.is_empty() {
            continue;
        }
        says(&mut shapes, "title", LEFT, top + LINE * 0.7, title);
        top += LINE * 1.2;
        for row in group {
            let middle = top + LINE * 0.7;
            let width = WIDEST * row.value / most;
            says(&mut shapes, "who", LEFT - 8.0, middle, &row.who);
            let _ = writeln!(
                shapes,
                "<rect class=\"{}\" x=\"{LEFT}\" y=\"{:.1}\" width=\"{width:.1}\" height=\"16\"/>",
                class(row),
                top + 3.0
            );
            let figure = super::table::spaced(row.value.round());
            says(&mut shapes, "", LEFT + width + 6.0, middle, &figure);
            top += LINE;
        }
        top += MARGIN;
    }
    let width = LEFT + WIDEST + FIGURE;
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {top:.0}\" \
         width=\"{width}\" height=\"{top:.0}\" role=\"img\">\n{STYLE}\
         <rect width=\"{width}\" height=\"{top:.0}\" fill=\"#fff\"/>\n{shapes}</svg>\n"
    )
}

/// Whose a row is.
fn class(row: &Row) -> &'static str {
    match (&*row.variant, &*row.who) {
        ("printed", _) => "printed",
        (_, "floor" | "lwip" | "smoltcp") => "others",
        _of_us => "ours",
    }
}

fn says(shapes: &mut String, class: &str, x: f64, y: f64, text: &str) {
    let text = text.replace('&', "&amp;").replace('<', "&lt;");
    let class = match class {
        "" => String::new(),
        class => format!(" class=\"{class}\""),
    };
    let _ = writeln!(
        shapes,
        "<text{class} x=\"{x:.1}\" y=\"{y:.1}\">{text}</text>"
    );
}
