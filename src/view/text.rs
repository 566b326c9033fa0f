//! An automaton in lines.
//!
//! In: a [`View`]. Out: a block for each state. A way that asks nothing more is one line.

use super::{Shown, View};

/// How much may be done in one line.
pub const WIDEST: usize = 72;

/// The greatest length of the line of a transition, in characters.
const LONGEST: usize = 100;

/// The lines of a view.
pub fn text(view: &View) -> String {
    let mut text = format!("{}\n", view.title);
    for state in &view.states {
        text += &match &state.place {
            Some(place) => format!("\nstate {}, {place}\n", state.name),
            None => format!("\nstate {}\n", state.name),
        };
        lines(view, &state.shown, 1, &mut text);
    }
    text
}

fn lines(view: &View, shown: &Shown, depth: usize, text: &mut String) {
    if let Some(rest) = one_line(view, shown) {
        line(&rest, depth, text);
        return;
    }
    match shown {
        Shown::Asks {
            question,
            then,
            otherwise,
            next,
        } => {
            branch(view, &format!("if {question}"), then, depth, text);
            let mut rest = otherwise;
            while let Shown::Asks {
                question,
                then,
                otherwise,
                next: None,
            } = &**rest
            {
                branch(view, &format!("else if {question}"), then, depth, text);
                rest = otherwise;
            }
            if !matches!(**rest, Shown::GoesOn) {
                branch(view, "else", rest, depth, text);
            }
            if let Some(next) = next {
                lines(view, next, depth, text);
            }
        }
        Shown::Does { steps, next } => {
            for step in steps.iter().flat_map(|step| step.lines()) {
                line(step, depth, text);
            }
            lines(view, next, depth, text);
        }
        Shown::Offers { transitions } => {
            for (clauses, transition) in transitions {
                offer(view, clauses, transition, depth, text);
            }
        }
        Shown::GoesOn => {}
        Shown::Rests { .. } | Shown::Fails { .. } => unreachable!("this is one line"),
    }
}

/// Writes a transition: on one line if that is not too long.
fn offer(view: &View, clauses: &str, shown: &Shown, depth: usize, text: &mut String) {
    let rest = one_line(view, shown);
    let length = rest.map(|rest| 4 * depth + clauses.chars().count() + rest.chars().count() + 2);
    match length.is_some_and(|length| length <= LONGEST) {
        true => branch(view, clauses, shown, depth, text),
        false => {
            line(clauses, depth, text);
            lines(view, shown, depth + 1, text);
        }
    }
}

fn branch(view: &View, head: &str, shown: &Shown, depth: usize, text: &mut String) {
    match one_line(view, shown) {
        Some(rest) if rest.starts_with("->") => line(&format!("{head} {rest}"), depth, text),
        Some(rest) => line(&format!("{head}: {rest}"), depth, text),
        None if matches!(shown, Shown::GoesOn) => {
            line(&format!("{head}: nothing"), depth, text);
        }
        None => {
            line(head, depth, text);
            lines(view, shown, depth + 1, text);
        }
    }
}

/// What asks nothing more.
fn one_line(view: &View, shown: &Shown) -> Option<String> {
    match shown {
        Shown::Asks { .. } | Shown::Offers { .. } | Shown::GoesOn => None,
        Shown::Does { steps, next } => {
            let line = match (&**next, one_line(view, next)) {
                (Shown::GoesOn, _) => steps.join("; "),
                (_, rest) => {
                    let rest = rest?;
                    let between = if rest.starts_with("->") { " " } else { "; " };
                    format!("{}{between}{rest}", steps.join("; "))
                }
            };
            let is_short = line.len() <= WIDEST || steps.len() == 1;
            (is_short && line.lines().count() == 1).then_some(line)
        }
        Shown::Rests { state } => Some(format!("-> {}", view.state(*state))),
        Shown::Fails { says } => Some(format!("error: {says}")),
    }
}

fn line(what: &str, depth: usize, text: &mut String) {
    *text += &"    ".repeat(depth);
    *text += what;
    text.push('\n');
}
