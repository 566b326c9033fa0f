//! `loom view`: the automaton of an Esterel module, of a process of a layer, or of the bodies of an
//! Estelle specification, for people.
//!
//! In: a program of Esterel, a file with a layer, or a specification. Out: its states and what can
//! happen in each, as text or as a picture.

use super::compiler::{Options, deep, read};
use super::estelle;
use super::esterel::{self, Choice, is_esterel};
use super::failure::{Failure, about};
use super::layout::instead;
use super::library::is_estelle;
use super::terminal::{result, show};
use crate::pipeline::{self, Checked, Reactive};
use crate::view::{
    Selected, Shape, Unseen, View, picture, pictures, processes, text, view, view_process,
};
use std::path::{Path, PathBuf};

/// The largest number of questions of an automaton that is shown.
const MOST_QUESTIONS: usize = 5_000;

/// Shows the automaton of an Esterel module or of a process, or an Estelle specification
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:
  loom view examples/esterel/timer_handler.strl
  loom view examples/esterel/timer_handler.strl --svg timer.svg
  loom view layers/policy/spp --process booster
  loom view examples/estelle/abracadabra.stl --set losses=3
  loom view examples/estelle/pingpong.stl --body PingBody --svg ping.svg")]
pub struct Arguments {
    /// Esterel module (.strl), Estelle specification (.stl, .estelle), or file with the layer
    program: PathBuf,
    /// Module to show [default: the module that no other module runs]
    #[arg(long, value_name = "MODULE", conflicts_with_all = ["process", "layer", "stack"])]
    main: Option<String>,
    /// Process to show [default: the only process]
    #[arg(long, value_name = "PROCESS")]
    process: Option<String>,
    /// Layer of the process [default: the layer that has it]
    #[arg(long, value_name = "LAYER")]
    layer: Option<String>,
    /// Stack of the file that gives values to the parameters of the layer
    #[arg(long, value_name = "STACK")]
    stack: Option<String>,
    /// Size limit of the automaton, in nodes [default: 250000]
    #[arg(long, value_name = "NODES")]
    budget: Option<usize>,
    /// Draws the automaton into this SVG file instead of printing text
    #[arg(long, value_name = "FILE")]
    svg: Option<PathBuf>,
    /// Estelle only: body to show [default: the tree of modules, and all bodies]
    #[arg(long, value_name = "BODY")]
    body: Option<String>,
    /// Estelle only: value of a constant `NAME = any TYPE`; repeatable
    #[arg(long = "set", value_name = "NAME=VALUE")]
    set: Vec<String>,
    /// Estelle only: accepts types that C code defines (`type T = ..`)
    #[arg(long)]
    externs: bool,
}

/// Prints or draws it.
pub fn run(arguments: &Arguments) -> Result<(), Failure> {
    if is_estelle(&arguments.program) {
        let Shape { modules, bodies } = specification(arguments)?;
        let views: Vec<View> = bodies.into_iter().map(|(_, view)| view).collect();
        return shown(
            arguments,
            || {
                let lines = modules.iter().map(|line| format!("{line}\n"));
                let tree = Some(lines.collect::<String>()).filter(|tree| !tree.is_empty());
                let parts: Vec<String> = tree.into_iter().chain(views.iter().map(text)).collect();
                parts.join("\n")
            },
            || pictures(&modules, &views),
        );
    }
    if arguments.body.is_some() || !arguments.set.is_empty() || arguments.externs {
        let says = "--body, --set and --externs apply only to Estelle specifications";
        return Err(Failure::environment(says));
    }
    let view = match is_esterel(&arguments.program) {
        true => module(arguments),
        false => deep(|| process(arguments)),
    }?;
    shown(arguments, || text(&view), || picture(&view))
}

/// Prints a text, or writes a picture.
fn shown(
    arguments: &Arguments,
    text: impl Fn() -> String,
    picture: impl Fn() -> String,
) -> Result<(), Failure> {
    let Some(file) = &arguments.svg else {
        return result(text());
    };
    let drawn = picture();
    std::fs::write(file, &drawn).map_err(about(file))?;
    result(format_args!(
        "wrote {}, {} bytes\n",
        file.display(),
        drawn.len()
    ))
}

/// Views a specification of Estelle.
fn specification(arguments: &Arguments) -> Result<Shape, Failure> {
    let given = [
        (arguments.main.is_some(), "--main"),
        (arguments.process.is_some(), "--process"),
        (arguments.layer.is_some(), "--layer"),
        (arguments.stack.is_some(), "--stack"),
        (arguments.budget.is_some(), "--budget"),
    ];
    if let Some((_, option)) = given.iter().find(|(is_given, _)| *is_given) {
        return Err(Failure::environment(format!(
            "{option} does not apply to an Estelle specification; choose a body with --body"
        )));
    }
    let settings = estelle::settings(&arguments.set, arguments.externs)?;
    estelle::shape(&arguments.program, &settings, arguments.body.as_deref())
}

/// Views the automaton of an Esterel module.
fn module(arguments: &Arguments) -> Result<View, Failure> {
    let path = arguments.program.display();
    if arguments.process.is_some() || arguments.layer.is_some() || arguments.stack.is_some() {
        let says = format!("{path} is an Esterel file: choose a module of it with --main");
        return Err(Failure::environment(says));
    }
    let choice = Choice {
        main: arguments.main.as_deref(),
        budget: arguments.budget,
    };
    let Reactive { module, automaton } = esterel::read(&arguments.program, choice)?;
    let view = view(&module, &automaton, MOST_QUESTIONS);
    view.ok_or_else(|| too_large(automaton.states.len()))
}

/// Views the automaton of a process of a layer.
fn process(arguments: &Arguments) -> Result<View, Failure> {
    let path = &arguments.program;
    if arguments.main.is_some() {
        let says = "--main chooses an Esterel module; choose a process of a layer with --process";
        return Err(Failure::environment(says));
    }
    let options = Options {
        budget: arguments.budget,
        ..Options::default()
    };
    let mut checked = read(path, &options)?;
    pipeline::check(&mut checked);
    show(&checked.diagnostics, &checked.sources)?;
    if pipeline::refused(&checked.diagnostics) {
        return Err(Failure::refused(""));
    }
    let stack = arguments.stack.as_deref();
    let stacks = pipeline::stacks(&checked);
    if let Some(stack) = stack.filter(|stack| !stacks.iter().any(|one| one == stack)) {
        let known: Vec<&str> = stacks.iter().map(String::as_str).collect();
        return Err(none(path, "stack", stack, &known));
    }
    let selected = selected(arguments, &checked)?;
    let budget = checked.budget.nodes;
    // In a picture, ways do not meet again.
    let shown = (MOST_QUESTIONS, arguments.svg.is_none());
    let programs = pipeline::programs(&checked, stack);
    let view = view_process(&checked.sources, &programs, selected, budget, shown);
    view.map_err(|unseen| match unseen {
        Unseen::TooManyQuestions { states } => too_large(states),
        Unseen::Refused(diagnostic) => match show(&[*diagnostic], &checked.sources) {
            Ok(()) => Failure::refused(""),
            Err(failure) => failure,
        },
        Unseen::NeverRun => {
            let name = &selected.process.name;
            Failure::refused(format!(
                "the process `{name}` never runs: add it to a `run`"
            ))
        }
    })
}

/// The process that is shown.
fn selected<'c>(arguments: &Arguments, checked: &'c Checked) -> Result<Selected<'c>, Failure> {
    let path = &arguments.program;
    let files = &checked.files;
    let mut layers: Vec<_> = match arguments.stack {
        None => files.unit(files.root()).layers.iter().collect(),
        Some(_) => {
            let units = files.in_order_of_use();
            units.flat_map(|unit| &files.unit(unit).layers).collect()
        }
    };
    if let Some(wanted) = &arguments.layer {
        let known: Vec<&str> = layers
            .iter()
            .map(|layer| layer.name.text.as_str())
            .collect();
        if !known.contains(&wanted.as_str()) {
            return Err(none(path, "layer", wanted, &known));
        }
        layers.retain(|layer| layer.name.is(wanted));
    }
    let all: Vec<Selected> = layers
        .into_iter()
        .flat_map(|layer| {
            processes(layer)
                .into_iter()
                .map(move |process| (layer, process))
        })
        .map(|(layer, process)| Selected { layer, process })
        .collect();
    let names: Vec<&str> = all
        .iter()
        .map(|one| one.process.name.text.as_str())
        .collect();
    let wanted = arguments.process.as_deref();
    let mut found = all
        .iter()
        .filter(|one| wanted.is_none_or(|name| one.process.name.is(name)));
    match (found.next(), found.next(), wanted) {
        (Some(only), None, _) => Ok(*only),
        (None, ..) if all.is_empty() => Err(Failure::refused(format!(
            "{} declares no process, and only a process has an automaton",
            path.display()
        ))),
        (None, _, wanted) => Err(none(path, "process", wanted.unwrap_or_default(), &names)),
        (Some(_), Some(_), None) => Err(Failure::environment(format!(
            "{} declares the processes {}; choose one, as in --process {}",
            path.display(),
            names.join(", "),
            names[0]
        ))),
        (Some(one), Some(other), Some(wanted)) => Err(Failure::environment(format!(
            "the layers `{}` and `{}` have a process `{wanted}`; choose one with --layer",
            one.layer.name, other.layer.name
        ))),
    }
}

/// The failure for a name that the file does not declare.
fn none(path: &Path, what: &str, wanted: &str, known: &[&str]) -> Failure {
    let path = path.display();
    Failure::environment(match known {
        [] => format!("{path} declares no {what}"),
        _ => format!(
            "{path} declares no {what} `{wanted}`: {}",
            instead(wanted, known)
        ),
    })
}

/// The failure for an automaton with too many questions.
fn too_large(states: usize) -> Failure {
    Failure::refused(format!(
        "the automaton is too large to show: {states} states, more than {MOST_QUESTIONS} questions"
    ))
}
