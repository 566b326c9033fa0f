//! An automaton in lines.
//!
//! In: a [`View`]. Out: a block for each state. A way that asks nothing more is one line.

use super::{Shown, View};

/// How much may be done in one line.
const WIDEST: usize = 72;

/// The lines of a view.
pub fn text(view: &View) -> String {
    let mut text = format!("{}\n", view.title());
    for (state, shown) in view.states.iter().enumerate() {
        text += &format!("\nstate {state}\n");
        lines(shown, 1, &mut text);
    }
    text
}

fn lines(shown: &Shown, depth: usize, text: &mut String) {
    if let Some(rest) = one_line(shown) {
        line(&rest, depth, text);
        return;
    }
    match shown {
        Shown::Asks {
            question,
            then,
            otherwise,
        } => {
            branch(&format!("if {question}"), then, depth, text);
            let mut rest = otherwise;
            while let Shown::Asks {
                question,
                then,
                otherwise,
            } = &**rest
            {
                branch(&format!("else if {question}"), then, depth, text);
                rest = otherwise;
            }
            branch("else", rest, depth, text);
        }
        Shown::Does { steps, next } => {
            for step in steps {
                line(step, depth, text);
            }
            lines(next, depth, text);
        }
        Shown::Rests { .. } | Shown::Fails { .. } => unreachable!("this is one line"),
    }
}

fn branch(head: &str, shown: &Shown, depth: usize, text: &mut String) {
    match one_line(shown) {
        Some(rest) if rest.starts_with("->") => line(&format!("{head} {rest}"), depth, text),
        Some(rest) => line(&format!("{head}: {rest}"), depth, text),
        None => {
            line(head, depth, text);
            lines(shown, depth + 1, text);
        }
    }
}

/// What asks nothing more.
fn one_line(shown: &Shown) -> Option<String> {
    match shown {
        Shown::Asks { .. } => None,
        Shown::Does { steps, next } => {
            let rest = one_line(next)?;
            let between = if rest.starts_with("->") { " " } else { "; " };
            let line = format!("{}{between}{rest}", steps.join("; "));
            (line.len() <= WIDEST || steps.len() == 1).then_some(line)
        }
        Shown::Rests { state } => Some(format!("-> {state}")),
        Shown::Fails { says } => Some(format!("error: {says}")),
    }
}

fn line(what: &str, depth: usize, text: &mut String) {
    *text += &"    ".repeat(depth);
    *text += what;
    text.push('\n');
}
