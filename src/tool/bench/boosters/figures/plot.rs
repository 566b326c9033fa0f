//! Curves over two axes, as a picture.
//!
//! In: panels, each with its axes and curves. Out: SVG, with the panels side by side and a legend
//! below each. The background is white, so that the picture is legible on any page.

use std::fmt::Write as _;

/// The size of the area of a panel in which its curves are.
const WIDTH: f64 = 340.0;
const HEIGHT: f64 = 240.0;
/// The room left of an area for numbers and a label, right of it, above it and below it.
const LEFT: f64 = 62.0;
const RIGHT: f64 = 18.0;
const ABOVE: f64 = 26.0;
const BELOW: f64 = 46.0;
/// The height of the title of all panels, and of a line of a legend.
const TITLE: f64 = 34.0;
const LINE: f64 = 17.0;
/// The width of a letter of a title, at most.
const LETTER: f64 = 9.0;
/// The radius of a mark.
const RADIUS: f64 = 3.0;

/// Colours that people with any colour vision can tell apart (Okabe and Ito).
const COLOURS: [&str; 7] = [
    "#0072b2", "#d55e00", "#009e73", "#cc79a7", "#b07d00", "#56b4e9", "#222222",
];

const STYLE: &str = "\
<style>
text { font: 12px sans-serif; fill: #222 }
.title { font: 600 14px sans-serif }
.panel { font: 600 12px sans-serif; text-anchor: middle }
.across { text-anchor: middle }
.up { text-anchor: end }
.frame { fill: none; stroke: #444 }
.grid { stroke: #ddd }
.curve { fill: none; stroke-width: 1.8 }
.dashed { stroke-dasharray: 6 4 }
</style>
";

/// An axis.
#[derive(Clone, Debug)]
pub struct Axis {
    /// Its quantity and its unit.
    pub label: &'static str,
    /// Its ends.
    pub ends: [f64; 2],
    /// The scale.
    pub scale: Scale,
}

/// The scale of an axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scale {
    /// Equal distances are equal differences.
    Linear,
    /// Equal distances are equal ratios.
    Logarithmic,
}

/// The look of a curve.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Look {
    /// A line through its points.
    Line,
    /// A dashed line through its points.
    Dashed,
    /// A mark at each point, and no line.
    Marks,
}

/// A curve.
#[derive(Clone, Debug)]
pub struct Curve {
    /// Its name in the legend.
    pub name: String,
    /// Its points, in order.
    pub points: Vec<[f64; 2]>,
    /// Its look.
    pub look: Look,
    /// The number of its colour.
    pub colour: usize,
}

/// Axes with curves.
#[derive(Clone, Debug)]
pub struct Panel {
    /// A sentence above it.
    pub title: String,
    /// The axis below.
    pub across: Axis,
    /// The axis at the left.
    pub up: Axis,
    /// Its curves.
    pub curves: Vec<Curve>,
}

/// A picture.
#[derive(Clone, Debug)]
pub struct Plot {
    /// A sentence above all panels.
    pub title: String,
    /// The panels, from left to right.
    pub panels: Vec<Panel>,
}

impl Axis {
    /// The bit error rate, between two powers of ten.
    pub fn bit_error_rate(ends: [f64; 2]) -> Axis {
        Axis::logarithmic("bit error rate", ends)
    }

    /// An axis of equal ratios.
    pub fn logarithmic(label: &'static str, ends: [f64; 2]) -> Axis {
        let scale = Scale::Logarithmic;
        Axis { label, ends, scale }
    }

    /// An axis from zero on.
    pub fn linear(label: &'static str, end: f64) -> Axis {
        let (ends, scale) = ([0.0, end], Scale::Linear);
        Axis { label, ends, scale }
    }

    /// Returns the place of a value: 0 at the first end, 1 at the last.
    fn place(&self, value: f64) -> f64 {
        let [first, last] = self.ends;
        match self.scale {
            Scale::Linear => (value - first) / (last - first),
            Scale::Logarithmic => (value.max(f64::MIN_POSITIVE) / first).ln() / (last / first).ln(),
        }
    }

    /// Returns the values with a number at the axis.
    fn ticks(&self) -> Vec<(f64, String)> {
        let [first, last] = self.ends;
        if self.scale == Scale::Logarithmic {
            let powers = [first, last].map(|end| end.log10().round() as i32);
            let is_short = powers[1] - powers[0] < 2;
            let factors: &[i32] = if is_short { &[1, 2, 5] } else { &[1] };
            let each = |power: i32| factors.iter().map(move |&factor| (factor, power));
            let all = (powers[0] - 1..=powers[1]).flat_map(each);
            let tick = |(factor, power): (i32, i32)| {
                let value = f64::from(factor) * 10_f64.powi(power);
                let number = match (0..4).contains(&power) {
                    true => format!("{value}"),
                    false => format!("{factor}e{power}"),
                };
                (value, number)
            };
            let inside = |tick: &(f64, String)| {
                (first * (1.0 - 1e-9)..=last * (1.0 + 1e-9)).contains(&tick.0)
            };
            return all.map(tick).filter(inside).collect();
        }
        let rough = (last - first) / 5.0;
        let power = 10_f64.powf(rough.log10().floor());
        let factors = [1.0, 2.0, 5.0, 10.0];
        let factor = factors.into_iter().find(|factor| factor * power >= rough);
        let step = factor.unwrap_or(10.0) * power;
        let numbers = (first / step).ceil() as i32..=(last / step + 1e-9).floor() as i32;
        numbers
            .map(|number| f64::from(number) * step)
            .map(|value| (value, format!("{}", (value * 1e6).round() / 1e6)))
            .collect()
    }
}

impl Plot {
    /// Returns the picture.
    pub fn svg(&self) -> String {
        let legend = self.panels.iter().map(|panel| panel.curves.len()).max();
        let panels = (LEFT + WIDTH + RIGHT) * self.panels.len() as f64;
        let width = panels.max(LETTER * self.title.len() as f64);
        let height = TITLE + ABOVE + HEIGHT + BELOW + LINE * legend.unwrap_or(0) as f64 + 8.0;
        let mut shapes = String::new();
        says(&mut shapes, "title", [14.0, 22.0], &self.title);
        for (number, panel) in self.panels.iter().enumerate() {
            let left = (LEFT + WIDTH + RIGHT) * number as f64 + LEFT;
            panel.draw(&mut shapes, [left, TITLE + ABOVE]);
        }
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" \
             width=\"{width}\" height=\"{height}\" role=\"img\">\n{STYLE}\
             <rect width=\"{width}\" height=\"{height}\" fill=\"#fff\"/>\n{shapes}</svg>\n"
        )
    }
}

impl Panel {
    /// Draws the panel; its area begins at a corner.
    fn draw(&self, shapes: &mut String, [left, top]: [f64; 2]) {
        let bottom = top + HEIGHT;
        let middle = left + WIDTH / 2.0;
        says(shapes, "panel", [middle, top - 9.0], &self.title);
        for (value, number) in self.across.ticks() {
            let x = left + WIDTH * self.across.place(value);
            line(shapes, "grid", [x, top], [x, bottom]);
            says(shapes, "across", [x, bottom + 16.0], &number);
        }
        for (value, number) in self.up.ticks() {
            let y = bottom - HEIGHT * self.up.place(value);
            line(shapes, "grid", [left, y], [left + WIDTH, y]);
            says(shapes, "up", [left - 6.0, y + 4.0], &number);
        }
        says(shapes, "across", [middle, bottom + 35.0], self.across.label);
        upward(shapes, [left - 44.0, top + HEIGHT / 2.0], self.up.label);
        let _ = writeln!(
            shapes,
            "<rect class=\"frame\" x=\"{left}\" y=\"{top}\" width=\"{WIDTH}\" \
             height=\"{HEIGHT}\"/>"
        );
        for (number, curve) in self.curves.iter().enumerate() {
            let place = |[x, y]: [f64; 2]| [self.across.place(x), self.up.place(y)];
            let points: Vec<[f64; 2]> = curve.points.iter().map(|&point| place(point)).collect();
            curve.draw(shapes, [left, bottom], &points);
            let y = bottom + BELOW + LINE * (number as f64 + 0.5);
            let key = [[0.0, y], [30.0, y]].map(|[x, y]| [x / WIDTH, (bottom - y) / HEIGHT]);
            match curve.look {
                Look::Line | Look::Dashed => curve.line(shapes, [left, bottom], &key),
                Look::Marks => curve.marks(shapes, [left + 15.0, bottom], &key[..1]),
            }
            says(shapes, "", [left + 38.0, y + 4.0], &curve.name);
        }
    }
}

impl Curve {
    /// Draws the points that are inside an area, and lines between them up to its edges.
    fn draw(&self, shapes: &mut String, corner: [f64; 2], points: &[[f64; 2]]) {
        match self.look {
            Look::Marks => {
                let inside = points.iter().copied().filter(|&point| is_inside(point));
                self.marks(shapes, corner, &inside.collect::<Vec<[f64; 2]>>());
            }
            Look::Line | Look::Dashed => {
                let mut part: Vec<[f64; 2]> = Vec::new();
                for pair in points.windows(2) {
                    let Some([from, to]) = clipped([pair[0], pair[1]]) else {
                        self.line(shapes, corner, &std::mem::take(&mut part));
                        continue;
                    };
                    if part.last().is_some_and(|last| *last != from) {
                        self.line(shapes, corner, &std::mem::take(&mut part));
                    }
                    if part.is_empty() {
                        part.push(from);
                    }
                    part.push(to);
                }
                self.line(shapes, corner, &part);
            }
        }
    }

    fn line(&self, shapes: &mut String, corner: [f64; 2], points: &[[f64; 2]]) {
        if points.len() < 2 {
            return;
        }
        let class = match self.look {
            Look::Dashed => "curve dashed",
            Look::Line | Look::Marks => "curve",
        };
        let places = points.iter().map(|&point| {
            let [x, y] = on_page(corner, point);
            format!("{x:.1},{y:.1}")
        });
        let places = places.collect::<Vec<String>>().join(" ");
        let colour = COLOURS[self.colour % COLOURS.len()];
        let _ = writeln!(
            shapes,
            "<polyline class=\"{class}\" stroke=\"{colour}\" points=\"{places}\"/>"
        );
    }

    fn marks(&self, shapes: &mut String, corner: [f64; 2], points: &[[f64; 2]]) {
        let colour = COLOURS[self.colour % COLOURS.len()];
        for &point in points {
            let [x, y] = on_page(corner, point);
            let _ = writeln!(
                shapes,
                "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"{RADIUS}\" fill=\"{colour}\"/>"
            );
        }
    }
}

fn on_page([left, bottom]: [f64; 2], [across, up]: [f64; 2]) -> [f64; 2] {
    [left + WIDTH * across, bottom - HEIGHT * up]
}

fn is_inside([across, up]: [f64; 2]) -> bool {
    let whole = -1e-9..=1.0 + 1e-9;
    whole.contains(&across) && whole.contains(&up)
}

/// Returns the part of a line between two points that is inside the area, if any is: the lines are
/// cut at one edge after the other (Liang and Barsky).
fn clipped([from, to]: [[f64; 2]; 2]) -> Option<[[f64; 2]; 2]> {
    let (mut first, mut last) = (0.0_f64, 1.0_f64);
    for axis in [0, 1] {
        let (start, step) = (from[axis], to[axis] - from[axis]);
        for (edge, is_lower) in [(0.0, true), (1.0, false)] {
            let is_outside = if is_lower { start < edge } else { start > edge };
            if step == 0.0 {
                if is_outside {
                    return None;
                }
                continue;
            }
            let at = (edge - start) / step;
            if (step > 0.0) == is_lower {
                first = first.max(at);
            } else {
                last = last.min(at);
            }
        }
    }
    let at = |share: f64| [0, 1].map(|axis| from[axis] + share * (to[axis] - from[axis]));
    let ends = [(first, from), (last, to)];
    let exact = ends.map(|(share, end)| {
        if share == 0.0 || share == 1.0 {
            end
        } else {
            at(share)
        }
    });
    (first <= last).then_some(exact)
}

fn line(shapes: &mut String, class: &str, from: [f64; 2], to: [f64; 2]) {
    let [[x1, y1], [x2, y2]] = [from, to];
    let _ = writeln!(
        shapes,
        "<line class=\"{class}\" x1=\"{x1:.1}\" y1=\"{y1:.1}\" x2=\"{x2:.1}\" y2=\"{y2:.1}\"/>"
    );
}

/// Writes a text that is read from below.
fn upward(shapes: &mut String, [x, y]: [f64; 2], text: &str) {
    let _ = writeln!(
        shapes,
        "<text class=\"across\" transform=\"translate({x:.1} {y:.1}) rotate(-90)\">{text}</text>"
    );
}

fn says(shapes: &mut String, class: &str, [x, y]: [f64; 2], text: &str) {
    let text = text.replace('&', "&amp;").replace('<', "&lt;");
    let _ = writeln!(
        shapes,
        "<text class=\"{class}\" x=\"{x:.1}\" y=\"{y:.1}\">{text}</text>"
    );
}

#[cfg(test)]
mod tests {
    use super::{Axis, Curve, Look, Panel, Plot, clipped};

    #[test]
    fn lines_end_at_the_edges_of_their_area() {
        assert_eq!(
            clipped([[0.0, 0.5], [1.0, 1.5]]),
            Some([[0.0, 0.5], [0.5, 1.0]])
        );
        assert_eq!(clipped([[0.0, 1.5], [1.0, 1.2]]), None);
        assert_eq!(
            clipped([[0.2, 0.2], [0.8, 0.8]]),
            Some([[0.2, 0.2], [0.8, 0.8]])
        );
    }

    #[test]
    fn axes_have_round_numbers() {
        let numbers = |axis: Axis| axis.ticks().into_iter().map(|tick| tick.1);
        let powers = numbers(Axis::bit_error_rate([1e-6, 1e-3]));
        assert_eq!(Vec::from_iter(powers), ["1e-6", "1e-5", "1e-4", "1e-3"]);
        let tens = numbers(Axis::linear("percent", 60.0));
        assert_eq!(Vec::from_iter(tens), ["0", "20", "40", "60"]);
    }

    /// A curve that leaves the area and comes back is two lines, and its name is in the legend.
    #[test]
    fn a_curve_is_drawn_inside_its_area_only() {
        let curve = Curve {
            name: "a < b".to_string(),
            points: vec![[0.0, 5.0], [1.0, 15.0], [2.0, 15.0], [3.0, 5.0]],
            look: Look::Line,
            colour: 0,
        };
        let panel = Panel {
            title: "panel".to_string(),
            across: Axis::linear("time, s", 3.0),
            up: Axis::linear("errors", 10.0),
            curves: vec![curve],
        };
        let (title, panels) = ("title".to_string(), vec![panel]);
        let svg = Plot { title, panels }.svg();
        assert_eq!(svg.matches("<polyline").count(), 3, "{svg}");
        assert!(svg.contains(">a &lt; b</text>") && svg.contains(">time, s</text>"));
    }
}
