//! An automaton for people: as text, and as a picture.
//!
//! In: a module of Esterel, or a process of a layer, and its automaton; or a specification of
//! Estelle. Out: its states, each with all that can happen in it. A part of the automaton to which
//! several ways lead is shown on each of them, or, in the text of a process, where they meet.
//!
//! ```text
//! state 1                        words      names and expressions of Esterel
//!     if A: emit O -> 2          process    waits and statements of a layer
//!     else -> 1                  text       lines
//!                                picture    SVG
//! explore    one process of a layer, by itself
//! estelle    the modules of an Estelle specification, and the transitions of its bodies
//! ```

mod estelle;
mod explore;
mod picture;
mod process;
mod text;
mod words;

pub use estelle::{Shape, view_specification};
pub use explore::{Unseen, view_process};
pub use picture::{picture, pictures};
pub use process::{Selected, processes};
pub use text::text;

use crate::tree::automaton::{Act, Automaton, Node, NodeId, Question, StateId};
use crate::types::esterel::Module;
use crate::types::process::SignalId;
use process::ProcessWords;
use std::cell::Cell;
use words::ModuleWords;

/// The words for an automaton, in the language of its source.
pub trait Words {
    /// The name of a signal.
    fn signal(&self, signal: SignalId) -> &str;

    /// The text of a question that a state asks.
    fn question(&self, state: StateId, question: Question) -> String;

    /// The text of an event and the condition of its wait, where the source writes them together.
    fn joined(&self, _state: StateId, _event: Question, _guard: Question) -> Option<String> {
        None
    }

    /// Returns true if two questions never both hold.
    fn excludes(&self, _one: Question, _other: Question) -> bool {
        false
    }

    /// The steps of an act, with the act before it; a step may have several lines.
    fn step(&self, before: Option<Act>, act: Act) -> Vec<String>;

    /// The name of a state, and where it rests.
    fn state(&self, state: StateId) -> (String, Option<String>) {
        (state.at().to_string(), None)
    }
}

/// An automaton, to be shown.
#[derive(Clone, Default, Debug)]
pub struct View {
    /// The name of the module or process, and its size.
    title: String,
    /// Its states.
    states: Vec<State>,
}

/// A state.
#[derive(Clone, Debug)]
struct State {
    /// Its number, or its name in the source.
    name: String,
    /// The place in the source where it rests, if its name does not say it.
    place: Option<String>,
    /// The tree of its transitions.
    shown: Shown,
}

/// What can happen.
#[derive(Clone, Debug)]
enum Shown {
    /// Two ways; both go on with `next`, if it is there.
    Asks {
        question: String,
        then: Box<Shown>,
        otherwise: Box<Shown>,
        next: Option<Box<Shown>>,
    },
    /// Steps, one after the other.
    Does {
        steps: Vec<String>,
        next: Box<Shown>,
    },
    /// The instant is over.
    Rests { state: usize },
    /// Transitions: their clauses, and their steps. Any that is enabled may fire.
    Offers { transitions: Vec<(String, Shown)> },
    /// It goes on where two ways meet.
    GoesOn,
    /// The instant ends with an error.
    Fails { says: String },
}

/// Returns the view of a module of Esterel; none if it has more than so many questions.
pub fn view(module: &Module, automaton: &Automaton, most_questions: usize) -> Option<View> {
    let words = ModuleWords::new(module);
    view_with(&module.name, &words, automaton, (most_questions, false))
}

/// Returns the view of an automaton with a name and words; none if it has more than so many
/// questions. Two ways that meet before the end of the instant are shown as one from there on, if
/// `meets` is true.
pub fn view_with(
    name: &str,
    words: &impl Words,
    automaton: &Automaton,
    (most_questions, meets): (usize, bool),
) -> Option<View> {
    let showing = Showing {
        words,
        automaton,
        meets: match meets {
            true => meeting_points(automaton),
            false => vec![None; automaton.nodes.len()],
        },
        left: Cell::new(most_questions),
    };
    let states = automaton.states.iter().enumerate();
    let states = states.map(|(at, root)| {
        let state = StateId(at as u32);
        let (name, place) = words.state(state);
        let shown = showing.shown(state, *root, None)?;
        Some(State { name, place, shown })
    });
    let states = states.collect::<Option<Vec<State>>>()?;
    // Nodes that are shared are counted once.
    let nodes = counted(automaton.nodes.len(), "node");
    Some(View {
        title: format!("{name}: {}, {nodes}", counted(states.len(), "state")),
        states,
    })
}

/// Returns, for each node, the first node that all ways from it reach: its immediate
/// post-dominator. None where they meet only at the end of the instant.
fn meeting_points(automaton: &Automaton) -> Vec<Option<NodeId>> {
    let mut points: Vec<Option<NodeId>> = Vec::with_capacity(automaton.nodes.len());
    let mut depths: Vec<usize> = Vec::with_capacity(automaton.nodes.len());
    for node in &automaton.nodes {
        let depth = |node: Option<NodeId>| node.map_or(0, |node| depths[node.at()]);
        let point = match node {
            Node::Leaf(_) | Node::Twice(_) => None,
            Node::Act { next, .. } => Some(*next),
            Node::Test {
                then, otherwise, ..
            } => {
                let (mut one, mut other) = (Some(*then), Some(*otherwise));
                while one != other {
                    let deeper = match depth(one) >= depth(other) {
                        true => &mut one,
                        false => &mut other,
                    };
                    *deeper = deeper.and_then(|node| points[node.at()]);
                }
                one
            }
        };
        let below = depth(point) + 1;
        points.push(point);
        depths.push(below);
    }
    points
}

/// Shows what can happen.
struct Showing<'a, W> {
    words: &'a W,
    automaton: &'a Automaton,
    /// The node where the ways from a node meet.
    meets: Vec<Option<NodeId>>,
    /// The number of questions that may still be shown.
    left: Cell<usize>,
}

impl<W: Words> Showing<'_, W> {
    /// Shows what can happen from a node to the end, or to a node where ways meet.
    fn shown(&self, state: StateId, mut at: NodeId, until: Option<NodeId>) -> Option<Shown> {
        let mut steps = Vec::new();
        let mut before = None;
        let end = loop {
            if Some(at) == until {
                break Shown::GoesOn;
            }
            match self.automaton.node(at) {
                Node::Act { act, next } => {
                    steps.extend(self.words.step(before, *act));
                    before = Some(*act);
                    at = *next;
                }
                Node::Test { .. } => break self.asks(state, at, until)?,
                Node::Leaf(state) => break Shown::Rests { state: state.at() },
                Node::Twice(signal) => {
                    let says = format!("{} twice", self.words.signal(*signal));
                    break Shown::Fails { says };
                }
            }
        };
        Some(match steps.is_empty() {
            true => end,
            false => {
                let next = Box::new(end);
                Shown::Does { steps, next }
            }
        })
    }

    /// Two ways. An event and the condition of its wait are one question if the event alone
    /// changes nothing.
    fn asks(&self, state: StateId, test: NodeId, until: Option<NodeId>) -> Option<Shown> {
        self.left.set(self.left.get().checked_sub(1)?);
        let Node::Test {
            question,
            then,
            otherwise,
        } = self.automaton.node(test)
        else {
            unreachable!("only a test asks");
        };
        let mut asks = self.words.question(state, *question);
        let mut holds = *then;
        // Before a guard stand steps that a count needs, but no condition.
        let mut guarded = *then;
        while let Node::Act { act, next } = self.automaton.node(guarded)
            && self.words.step(None, *act).is_empty()
        {
            guarded = *next;
        }
        if let Node::Test {
            question: guard,
            then,
            otherwise: fails,
        } = self.automaton.node(guarded)
            && let Some(joined) = self.words.joined(state, *question, *guard)
            && self.is_alike(*question, *fails, *otherwise)
        {
            (asks, holds) = (joined, *then);
        }
        let is_leaf = |node: &NodeId| matches!(self.automaton.node(*node), Node::Leaf(_));
        let meets = self.meets[test.at()].filter(|node| !is_leaf(node));
        let end = meets.or(until);
        let next = match meets.filter(|node| Some(*node) != until) {
            Some(node) => Some(Box::new(self.shown(state, node, until)?)),
            None => None,
        };
        Some(Shown::Asks {
            question: asks,
            then: Box::new(self.shown(state, holds, end)?),
            otherwise: Box::new(self.shown(state, *otherwise, end)?),
            next,
        })
    }

    /// Returns true if `other` does what `node` does in an instant of an event.
    fn is_alike(&self, event: Question, node: NodeId, mut other: NodeId) -> bool {
        while node != other {
            match self.automaton.node(other) {
                Node::Test {
                    question,
                    otherwise,
                    ..
                } if self.words.excludes(event, *question) => other = *otherwise,
                Node::Test { .. } | Node::Act { .. } | Node::Leaf(_) | Node::Twice(_) => {
                    return false;
                }
            }
        }
        true
    }
}

impl View {
    /// The name of a state.
    fn state(&self, state: usize) -> &str {
        &self.states[state].name
    }
}

/// Writes a number of things: `1 state`, `2 states`.
fn counted(count: usize, what: &str) -> String {
    let several = if count == 1 { "" } else { "s" };
    format!("{count} {what}{several}")
}
