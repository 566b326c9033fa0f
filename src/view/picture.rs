//! An automaton as a picture.
//!
//! In: a [`View`]. Out: SVG. Each state has a row of its own: from its name a tree grows to the
//! right. Where a question holds, the way goes straight on; where it does not, down and then on. It
//! ends at the name of the next state.

use super::{Shown, View};
use std::fmt::Write;

/// How wide a letter is taken to be, and how high a line is.
const LETTER: f64 = 7.8;
const LINE: f64 = 18.0;
/// The width of a letter in the name of a state.
const BOLD: f64 = 9.6;
/// Around a text in its box, between boxes, between rows, around all.
const PADDING: f64 = 8.0;
const GAP: f64 = 30.0;
const ROW_GAP: f64 = 14.0;
const MARGIN: f64 = 20.0;
/// Of the circle of a state.
const RADIUS: f64 = 15.0;

const STYLE: &str = "\
<style>
text { font: 13px ui-monospace, Menlo, Consolas, monospace; fill: #222 }
.title { font: 600 15px sans-serif }
.state { font: 600 13px sans-serif; text-anchor: middle }
.place { font: 13px sans-serif; fill: #666 }
.asks { fill: #fff; stroke: #666 }
.does { fill: #e8eef7; stroke: #35507a }
.rests { fill: #f6dfb8; stroke: #8a6420 }
.fails { fill: #fbe3df; stroke: #a33a2a }
.yes, .no { fill: none; stroke: #35507a; stroke-width: 1.5 }
.no { stroke-dasharray: 5 4 }
</style>
<defs>
<marker id=\"tip\" viewBox=\"0 0 10 10\" refX=\"9\" refY=\"5\" markerWidth=\"7\" markerHeight=\"7\"
        orient=\"auto\"><path d=\"M0 0 L10 5 L0 10 z\" fill=\"#35507a\"/></marker>
</defs>
";

/// The picture of a view.
pub fn picture(view: &View) -> String {
    let legend = ["straight on: it holds; dashed: it does not".to_string()];
    let mut drawing = Drawing::of(view);
    let top = drawing.automaton(&legend, MARGIN);
    drawing.written(top)
}

/// The picture of several views, below a heading.
pub fn pictures(heading: &[String], views: &[View]) -> String {
    let nothing = View::default();
    let mut drawing = Drawing::of(&nothing);
    let mut top = drawing.heading(heading, MARGIN);
    for view in views {
        drawing.view = view;
        top = drawing.automaton(&[], top) + ROW_GAP;
    }
    drawing.written(top)
}

/// How far a row reaches above its middle: all boxes that stand straight behind this one.
fn rise(shown: &Shown) -> f64 {
    let next = match shown {
        Shown::Does { next, .. } => rise(next),
        Shown::Asks { then, .. } => rise(then),
        Shown::Offers { transitions } => {
            let first = transitions.first();
            first.map_or(0.0, |(_, first)| rise(first)).max(RADIUS)
        }
        Shown::Rests { .. } | Shown::Fails { .. } | Shown::GoesOn => 0.0,
    };
    next.max(height(shown) / 2.0)
}

/// How high the box is with which something begins.
fn height(shown: &Shown) -> f64 {
    match shown {
        Shown::Does { steps, .. } => LINE * lines(steps).len() as f64 + PADDING,
        Shown::Asks { .. } | Shown::Rests { .. } | Shown::Fails { .. } => 2.0 * RADIUS,
        Shown::Offers { .. } | Shown::GoesOn => 0.0,
    }
}

/// The lines of steps.
fn lines(steps: &[String]) -> Vec<&str> {
    steps.iter().flat_map(|step| step.lines()).collect()
}

/// The number of letters of a text.
fn letters(text: &str) -> f64 {
    text.chars().count() as f64
}

struct Drawing<'v> {
    view: &'v View,
    shapes: String,
    width: f64,
}

impl<'v> Drawing<'v> {
    fn of(view: &'v View) -> Drawing<'v> {
        Drawing {
            view,
            shapes: String::new(),
            width: 0.0,
        }
    }

    /// Draws the title of the view and lines below it; how far down that goes.
    fn heading(&mut self, lines: &[String], top: f64) -> f64 {
        let mut base = top + 4.0;
        if !self.view.title.is_empty() {
            self.says("title", MARGIN, base, &self.view.title);
            self.width = self.width.max(MARGIN + LETTER * letters(&self.view.title));
            base += LINE * 1.3;
        }
        for line in lines {
            self.says("", MARGIN, base, line);
            self.width = self.width.max(MARGIN + LETTER * letters(line));
            base += LINE;
        }
        base + LINE * 0.7 - 4.0
    }

    /// Draws the view, with lines below its title; how far down it goes.
    fn automaton(&mut self, legend: &[String], top: f64) -> f64 {
        let view = self.view;
        let mut top = self.heading(legend, top);
        for (at, state) in view.states.iter().enumerate() {
            let shown = &state.shown;
            if let Some(place) = &state.place {
                self.says("place", MARGIN, top + LINE * 0.5, place);
                self.width = self.width.max(MARGIN + LETTER * letters(place));
                top += LINE;
            }
            let middle = top + rise(shown);
            let from = self.state(MARGIN, middle, at);
            let is_empty = matches!(shown, Shown::Offers { transitions } if transitions.is_empty());
            if !is_empty {
                self.way("yes", &[(from, middle), (from + GAP, middle)]);
            }
            top = self.tree(shown, from + GAP, middle) + ROW_GAP * 2.0;
        }
        top
    }

    /// Draws transitions below each other, each with its clauses and steps; how far down they go.
    fn transitions(&mut self, all: &[(String, Shown)], left: f64, middle: f64) -> f64 {
        let first = middle;
        let mut below = middle + RADIUS;
        for (at, (clauses, transition)) in all.iter().enumerate() {
            let middle = match at {
                0 => middle,
                _ => below + ROW_GAP + rise(transition).max(RADIUS),
            };
            if at > 0 {
                let down = left - GAP / 2.0;
                self.way("yes", &[(down, first), (down, middle), (left, middle)]);
            }
            let right = self.boxed("asks", left, middle, &[clauses]);
            self.way("yes", &[(right, middle), (right + GAP, middle)]);
            below = (middle + RADIUS).max(self.tree(transition, right + GAP, middle));
        }
        below
    }

    /// A tree whose first box has its left edge there; how far down it goes.
    fn tree(&mut self, shown: &Shown, left: f64, middle: f64) -> f64 {
        let bottom = middle + height(shown) / 2.0;
        match shown {
            Shown::Rests { state } => {
                self.state(left, middle, *state);
                bottom
            }
            Shown::GoesOn => bottom,
            Shown::Offers { transitions } => self.transitions(transitions, left, middle),
            Shown::Fails { says } => {
                self.boxed("fails", left, middle, &[says]);
                bottom
            }
            Shown::Does { steps, next } => {
                let right = self.boxed("does", left, middle, &lines(steps));
                self.way("yes", &[(right, middle), (right + GAP, middle)]);
                bottom.max(self.tree(next, right + GAP, middle))
            }
            Shown::Asks {
                question,
                then,
                otherwise,
                ..
            } => {
                let right = self.boxed("asks", left, middle, &[&format!("{question} ?")]);
                self.way("yes", &[(right, middle), (right + GAP, middle)]);
                let below = bottom.max(self.tree(then, right + GAP, middle));
                let next = below + ROW_GAP + rise(otherwise);
                let (down, on) = (left + GAP / 2.0, left + GAP);
                self.way("no", &[(down, bottom), (down, next), (on, next)]);
                self.tree(otherwise, on, next)
            }
        }
    }

    /// The name of a state, in a circle as wide as it needs; where that ends on the right.
    fn state(&mut self, left: f64, y: f64, state: usize) -> f64 {
        let name = self.view.state(state);
        let width = (BOLD * letters(name) + 2.0 * PADDING).max(2.0 * RADIUS);
        let x = left + width / 2.0;
        let _ = match width > 2.0 * RADIUS {
            false => writeln!(
                self.shapes,
                "<circle class=\"rests\" cx=\"{x}\" cy=\"{y}\" r=\"{RADIUS}\"/>"
            ),
            true => writeln!(
                self.shapes,
                "<rect class=\"rests\" x=\"{left}\" y=\"{}\" width=\"{width:.1}\" \
                 height=\"{}\" rx=\"{RADIUS}\"/>",
                y - RADIUS,
                2.0 * RADIUS
            ),
        };
        self.says("state", x, y + 4.5, name);
        self.width = self.width.max(left + width);
        left + width
    }

    /// Lines in a box; where it ends on the right.
    fn boxed(&mut self, class: &str, left: f64, middle: f64, lines: &[&str]) -> f64 {
        let widest = lines.iter().map(|line| letters(line)).fold(0.0, f64::max);
        let width = LETTER * widest + 2.0 * PADDING;
        let high = match class {
            "does" => LINE * lines.len() as f64 + PADDING,
            _ => 2.0 * RADIUS,
        };
        let top = middle - high / 2.0;
        let round = if class == "asks" { RADIUS } else { 4.0 };
        let _ = writeln!(
            self.shapes,
            "<rect class=\"{class}\" x=\"{left}\" y=\"{top}\" width=\"{width:.1}\" \
             height=\"{high}\" rx=\"{round}\"/>"
        );
        let first = middle - LINE * lines.len() as f64 / 2.0;
        for (at, line) in lines.iter().enumerate() {
            let base = first + LINE * at as f64 + 13.0;
            self.says("", left + PADDING, base, line);
        }
        self.width = self.width.max(left + width);
        left + width
    }

    fn way(&mut self, class: &str, points: &[(f64, f64)]) {
        let mut path = String::new();
        for (at, (x, y)) in points.iter().enumerate() {
            let _ = write!(path, "{}{x:.1} {y:.1}", if at == 0 { "M" } else { " L" });
        }
        let _ = writeln!(
            self.shapes,
            "<path class=\"{class}\" d=\"{path}\" marker-end=\"url(#tip)\"/>"
        );
    }

    fn says(&mut self, class: &str, x: f64, y: f64, text: &str) {
        let text = text
            .replace('&', "&amp;")
            .replace('<', "&lt;")
            .replace('>', "&gt;");
        // SVG drops spaces at the beginning of a text.
        let indent = text.len() - text.trim_start().len();
        let (x, text) = (x + LETTER * indent as f64, text.trim_start());
        let class = match class {
            "" => String::new(),
            class => format!(" class=\"{class}\""),
        };
        let _ = writeln!(
            self.shapes,
            "<text{class} x=\"{x:.1}\" y=\"{y:.1}\">{text}</text>"
        );
    }

    /// The whole, so high.
    fn written(self, height: f64) -> String {
        let width = (self.width + MARGIN).ceil();
        let height = height.ceil();
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" \
             width=\"{width}\" height=\"{height}\" role=\"img\">\n{STYLE}\
             <rect width=\"{width}\" height=\"{height}\" fill=\"#fff\"/>\n{}</svg>\n",
            self.shapes
        )
    }
}
