//! The interpreter of automata.

use super::{Computes, Fault, Present};
use crate::tree::automaton::{Act, Automaton, Node, Question, StateId};

/// An automaton that runs.
#[derive(Clone, Debug)]
pub struct Trees<'a> {
    automaton: &'a Automaton,
    state: StateId,
}

impl<'a> Trees<'a> {
    /// Begins in the first state.
    pub fn new(automaton: &'a Automaton) -> Trees<'a> {
        let state = StateId(0);
        Trees { automaton, state }
    }

    /// One instant: what is given, and what is emitted, in order of declaration.
    pub fn instant(
        &mut self,
        given: &Present,
        computes: &mut dyn Computes,
    ) -> Result<Present, Fault> {
        let mut emitted = Present::new();
        let mut at = self.automaton.states[self.state.at()];
        loop {
            at = match self.automaton.node(at) {
                Node::Test {
                    question,
                    then,
                    otherwise,
                } => {
                    let holds = match question {
                        Question::Given(signal) => given.contains(signal),
                        Question::Data(data) => computes.holds(*data)?,
                    };
                    if holds { *then } else { *otherwise }
                }
                Node::Act { act, next } => {
                    match act {
                        Act::Do(data) => computes.act(*data)?,
                        Act::Emit {
                            signal,
                            value,
                            again,
                        } => {
                            computes.emit(*signal, *value, *again)?;
                            emitted.insert(*signal);
                        }
                        Act::Keep(signal) => computes.keep(*signal),
                    }
                    *next
                }
                Node::Leaf(state) => {
                    self.state = *state;
                    return Ok(emitted);
                }
                Node::Twice(signal) => return Err(Fault::Twice(*signal)),
            };
        }
    }
}
