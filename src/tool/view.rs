//! `loom view`: the automaton of a module, for people.
//!
//! In: a program of Esterel. Out: its states and what can happen in each, as text or as a picture.

use super::esterel::{Choice, is_esterel, read};
use super::failure::{Failure, about};
use super::terminal::result;
use crate::emit::view::{picture, text, view};
use crate::pipeline::Reactive;
use std::path::PathBuf;

/// How many ways through its instants an automaton may have that is shown.
const MOST_WAYS: usize = 5_000;

/// Shows the automaton of an Esterel module
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:
  loom view examples/esterel/timer_handler.strl
  loom view examples/esterel/timer_handler.strl --svg timer.svg")]
pub struct Arguments {
    /// File with the Esterel module (.strl)
    program: PathBuf,
    /// Module to show [default: the module that no other module runs]
    #[arg(long, value_name = "MODULE")]
    main: Option<String>,
    /// Size limit of the automaton, in nodes [default: 250000]
    #[arg(long, value_name = "NODES")]
    budget: Option<usize>,
    /// Draws the automaton into this SVG file instead of printing text
    #[arg(long, value_name = "FILE")]
    svg: Option<PathBuf>,
}

/// Shows it.
pub fn run(arguments: &Arguments) -> Result<(), Failure> {
    let path = &arguments.program;
    if !is_esterel(path) {
        let path = path.display();
        let says = format!("{path}: `loom view` shows only Esterel modules, in .strl files");
        return Err(Failure::environment(says));
    }
    let choice = Choice {
        main: arguments.main.as_deref(),
        budget: arguments.budget,
    };
    let Reactive { module, automaton } = read(path, choice)?;
    let Some(view) = view(&module, &automaton, MOST_WAYS) else {
        let states = automaton.states.len();
        let says = format!(
            "the automaton is too large to show: {states} states with more than {MOST_WAYS} paths"
        );
        return Err(Failure::refused(says));
    };
    let Some(file) = &arguments.svg else {
        return result(text(&view));
    };
    let drawn = picture(&view);
    std::fs::write(file, &drawn).map_err(about(file))?;
    result(format_args!(
        "wrote {}, {} bytes\n",
        file.display(),
        drawn.len()
    ))
}
