//! An automaton for people: as text, and as a picture.
//!
//! In: a module of Esterel and its automaton. Out: its states, each with all that can happen in it.
//! What several ways have in common, and is there once in the automaton, is shown on each of them.
//!
//! ```text
//! state 1                        words      names and expressions as they are written
//!     if A: emit O -> 2          text       lines
//!     else -> 1                  picture    SVG
//! ```

mod picture;
mod text;
mod words;

pub use picture::picture;
pub use text::text;

use crate::tree::automaton::{Automaton, Node, NodeId};
use crate::types::esterel::Module;
use words::Words;

/// An automaton, to be shown.
#[derive(Clone, Debug)]
pub struct View {
    /// The name of the module.
    name: String,
    /// How many nodes it has, those that are shared counted once.
    nodes: usize,
    /// What can happen in each state.
    states: Vec<Shown>,
}

/// What can happen.
#[derive(Clone, Debug)]
enum Shown {
    /// Two ways.
    Asks {
        question: String,
        then: Box<Shown>,
        otherwise: Box<Shown>,
    },
    /// Steps, one after the other.
    Does {
        steps: Vec<String>,
        next: Box<Shown>,
    },
    /// The instant is over.
    Rests { state: usize },
    /// The instant ends with an error.
    Fails { says: String },
}

/// The view of an automaton; none if there are more than so many ways through its instants.
pub fn view(module: &Module, automaton: &Automaton, most_ways: usize) -> Option<View> {
    let words = Words::new(module);
    let mut ways: Vec<usize> = Vec::with_capacity(automaton.nodes.len());
    for node in &automaton.nodes {
        ways.push(match node {
            Node::Test {
                then, otherwise, ..
            } => ways[then.at()].saturating_add(ways[otherwise.at()]),
            Node::Act { next, .. } => ways[next.at()],
            Node::Leaf(_) | Node::Twice(_) => 1,
        });
    }
    let roots = automaton.states.iter();
    let all = roots.fold(0_usize, |all, root| all.saturating_add(ways[root.at()]));
    let states = automaton.states.iter();
    (all <= most_ways).then(|| View {
        name: module.name.clone(),
        nodes: automaton.nodes.len(),
        states: states.map(|root| shown(&words, automaton, *root)).collect(),
    })
}

fn shown(words: &Words, automaton: &Automaton, mut at: NodeId) -> Shown {
    let mut steps = Vec::new();
    let end = loop {
        match automaton.node(at) {
            Node::Act { act, next } => {
                steps.extend(words.step(*act));
                at = *next;
            }
            Node::Test {
                question,
                then,
                otherwise,
            } => {
                break Shown::Asks {
                    question: words.question(*question),
                    then: Box::new(shown(words, automaton, *then)),
                    otherwise: Box::new(shown(words, automaton, *otherwise)),
                };
            }
            Node::Leaf(state) => break Shown::Rests { state: state.at() },
            Node::Twice(signal) => {
                let says = format!("{} twice", words.signal(*signal));
                break Shown::Fails { says };
            }
        }
    };
    match steps.is_empty() {
        true => end,
        false => {
            let next = Box::new(end);
            Shown::Does { steps, next }
        }
    }
}

impl View {
    /// `ABRO: 5 states, 12 nodes`
    fn title(&self) -> String {
        let counted = |count: usize, what: &str| {
            let several = if count == 1 { "" } else { "s" };
            format!("{count} {what}{several}")
        };
        let states = counted(self.states.len(), "state");
        format!("{}: {states}, {}", self.name, counted(self.nodes, "node"))
    }
}
