//! Symbolic execution of a function: control.
//!
//! In: a function, terms for its parameters, and a state. Out: its ends, each with the condition
//! under which control comes there, and the state behind it. A block is executed once: where ways
//! meet, values and state are chosen by the conditions of the ways. Called functions are executed
//! at their calls. `executor_agenda.rs` has the order of events; `executor_operate.rs`,
//! `executor_messages.rs`, `executor_streams.rs` and `executor_attempt.rs` have the meaning of
//! operations.

mod executor_abstract;
mod executor_agenda;
mod executor_attempt;
mod executor_compute;
mod executor_meet;
mod executor_messages;
mod executor_operate;
mod executor_streams;

use crate::ir::graph::Graph;
use crate::ir::op::{Attempt, Event, Op, Target};
use crate::ir::{
    CacheId, Edge, Function, FunctionId, Module, Probability, Role, Terminator, Type, Value,
};
use crate::prove::naming::Naming;
use crate::prove::symbolic::{Pending, State, Symbolic};
use crate::prove::terms::{Term, Terms};
use std::collections::BTreeSet;

/// A result, or the reason why there is none.
pub type Modelled<T> = Result<T, String>;

/// With more terms than this a function is too large.
const MOST_TERMS: usize = 400_000;

/// The end of a function.
#[derive(Clone, Debug)]
pub enum Ending {
    /// It returns values.
    Returns(Vec<Symbolic>),
    /// An event is handled next.
    Tail(Event, Vec<Symbolic>),
    /// The first event that was queued since a mark is handled next.
    Take(Term),
    /// A guard leaves it.
    Left,
}

/// An end of a function.
#[derive(Clone, Debug)]
pub struct End {
    /// The condition under which control comes there.
    pub condition: Term,
    /// The end itself.
    pub ending: Ending,
    /// The state.
    pub state: State,
}

/// A way to a block.
#[derive(Clone)]
pub(super) struct Way {
    pub(super) condition: Term,
    pub(super) values: Vec<Symbolic>,
    pub(super) state: State,
}

/// A function that is executed.
pub(super) struct Frame<'f> {
    pub(super) function: &'f Function,
    pub(super) values: Vec<Option<Symbolic>>,
    pub(super) condition: Term,
    pub(super) state: State,
}

impl Frame<'_> {
    /// Returns a value.
    pub(super) fn value(&self, value: Value) -> Symbolic {
        let known = self.values[value.at()].clone();
        known.expect("a value is defined before it is used")
    }

    /// Returns a value that is one term.
    pub(super) fn plain(&self, value: Value) -> Term {
        match self.value(value) {
            Symbolic::Plain(term) => term,
            other => panic!("{other:?} is not one term"),
        }
    }
}

/// Executes the functions of a module.
pub struct Executor<'e> {
    /// All terms, those of other modules as well.
    pub terms: &'e mut Terms,
    /// The module.
    pub module: &'e Module,
    /// Names that are the same in both modules.
    pub naming: &'e Naming,
    /// Reactions that are executed where an event is handed on to them.
    pub followed: BTreeSet<String>,
    /// Bits that are 1 whatever happens.
    pub assumed: Vec<Term>,
    /// Bits that are 1 unless control comes to where it never comes.
    pub never: Vec<Term>,
    /// Contents of caches: the cache, the index of the part, the condition under which it was
    /// computed, and its value.
    pub recomputed: Vec<(CacheId, u32, Term, Term)>,
    /// Reactions that are executed, the last within the others.
    active: Vec<FunctionId>,
    /// Operations whose order is not modelled.
    pub doubts: BTreeSet<&'static str>,
    /// The condition under which the function that is executed runs.
    pub(super) path: Term,
}

impl<'e> Executor<'e> {
    /// Returns an executor that has assumed nothing.
    pub fn new(terms: &'e mut Terms, module: &'e Module, naming: &'e Naming) -> Executor<'e> {
        let path = terms.bit(true);
        Executor {
            terms,
            module,
            naming,
            followed: BTreeSet::new(),
            assumed: Vec::new(),
            never: Vec::new(),
            recomputed: Vec::new(),
            active: Vec::new(),
            doubts: BTreeSet::new(),
            path,
        }
    }

    /// Executes a function: its ends.
    pub fn run(
        &mut self,
        id: FunctionId,
        arguments: Vec<Symbolic>,
        state: State,
    ) -> Modelled<Vec<End>> {
        let module = self.module;
        let function = module.function(id);
        let graph = Graph::of(function).map_err(|_| "its graph has a circle".to_string())?;
        let mut ways: Vec<Vec<Way>> = vec![Vec::new(); function.blocks.len()];
        let condition = self.terms.bit(true);
        ways[0].push(Way {
            condition,
            values: arguments,
            state: state.clone(),
        });
        let mut frame = Frame {
            function,
            values: vec![None; function.values.len()],
            condition,
            state,
        };
        let mut ends = Vec::new();
        for block in graph.order {
            let before = std::mem::take(&mut ways[block.at()]);
            let Some(way) = self.met(before) else {
                continue;
            };
            frame.condition = way.condition;
            frame.state = way.state;
            let block = function.block(block);
            for (parameter, value) in block.parameters.iter().zip(way.values) {
                frame.values[parameter.at()] = Some(value);
            }
            for instruction in &block.instructions {
                if self.terms.count() > MOST_TERMS {
                    return Err("it is too large".to_string());
                }
                match &instruction.op {
                    Op::Exit(_) => self.exit(&mut frame, instruction.operands[0], &mut ends),
                    _op => self.operate(&mut frame, instruction)?,
                }
            }
            self.leave(&mut frame, &block.terminator, &mut ways, &mut ends)?;
        }
        Ok(ends)
    }

    fn exit(&mut self, frame: &mut Frame<'_>, bit: Value, ends: &mut Vec<End>) {
        let bit = frame.plain(bit);
        let condition = self.terms.and(frame.condition, bit);
        if self.terms.constant(condition) != Some(0) {
            ends.push(End {
                condition,
                ending: Ending::Left,
                state: frame.state.clone(),
            });
        }
        let not = self.terms.not(bit);
        frame.condition = self.terms.and(frame.condition, not);
    }

    fn go(&mut self, frame: &Frame<'_>, bit: Term, edge: &Edge, ways: &mut [Vec<Way>]) {
        self.go_with(frame, bit, (edge, Vec::new()), ways);
    }

    /// Goes along an edge, with results of an attempt.
    pub(super) fn go_with(
        &mut self,
        frame: &Frame<'_>,
        bit: Term,
        (edge, results): (&Edge, Vec<Symbolic>),
        ways: &mut [Vec<Way>],
    ) {
        let condition = self.terms.and(frame.condition, bit);
        let values = edge.arguments.iter().map(|value| frame.value(*value));
        let values = values.chain(results).collect();
        ways[edge.block.at()].push(Way {
            condition,
            values,
            state: frame.state.clone(),
        });
    }

    fn leave(
        &mut self,
        frame: &mut Frame<'_>,
        end: &Terminator,
        ways: &mut [Vec<Way>],
        ends: &mut Vec<End>,
    ) -> Modelled<()> {
        let always = self.terms.bit(true);
        match end {
            Terminator::Jump(edge) => {
                self.go(frame, always, edge, ways);
            }
            Terminator::Branch {
                condition,
                then,
                otherwise,
                ..
            } => {
                let bit = frame.plain(*condition);
                self.go(frame, bit, then, ways);
                let not = self.terms.not(bit);
                self.go(frame, not, otherwise, ways);
            }
            Terminator::Switch {
                value,
                cases,
                otherwise,
            } => {
                let value = frame.plain(*value);
                self.switch(frame, value, (cases, otherwise), ways);
            }
            Terminator::Try {
                attempt,
                operands,
                done,
                failed,
                ..
            } => return self.attempt(frame, (attempt, operands), (done, failed), ways),
            Terminator::Never => {
                let here = self.terms.and(self.path, frame.condition);
                let not = self.terms.not(here);
                self.never.push(not);
            }
            Terminator::Return(_) | Terminator::Tail(..) | Terminator::Take(_) => {
                return self.end(frame, end, ends);
            }
        }
        Ok(())
    }

    /// A function ends. Behind a reaction comes the next event.
    fn end(
        &mut self,
        frame: &mut Frame<'_>,
        end: &Terminator,
        ends: &mut Vec<End>,
    ) -> Modelled<()> {
        let all = |values: &[Value]| values.iter().map(|one| frame.value(*one)).collect();
        let reacts = matches!(frame.function.role, Role::Reaction | Role::Fast);
        let (condition, mut state) = (frame.condition, frame.state.clone());
        let ending = match end {
            Terminator::Return(_) if reacts => return self.next((condition, state), None, ends),
            Terminator::Return(values) => Ending::Returns(all(values)),
            Terminator::Tail(event, values) => {
                let (event, values) = (*event, all(values));
                let event = Pending { event, values };
                return self.next((condition, state), Some(event), ends);
            }
            Terminator::Take(mark) => {
                let mark = frame.plain(*mark);
                if let Some(place) = self.place_of_mark(&state, mark) {
                    let is_there = state.waiting.len() > place;
                    let taken = state.waiting.pop_if(|_| is_there);
                    return self.next((condition, state), taken, ends);
                }
                self.wait_unordered(&mut state);
                Ending::Take(mark)
            }
            other => unreachable!("{other:?} ends no function"),
        };
        ends.push(End {
            condition,
            ending,
            state,
        });
        Ok(())
    }

    fn switch(
        &mut self,
        frame: &Frame<'_>,
        value: Term,
        (cases, otherwise): (&[(u64, Probability, Edge)], &Edge),
        ways: &mut [Vec<Way>],
    ) {
        let bits = self.terms.bits(value);
        let mut rest = self.terms.bit(true);
        for (case, _, edge) in cases {
            let case = self.terms.number(bits, *case);
            let bit = self.terms.equal(value, case);
            let taken = self.terms.and(rest, bit);
            self.go(frame, taken, edge, ways);
            let not = self.terms.not(bit);
            rest = self.terms.and(rest, not);
        }
        self.go(frame, rest, otherwise, ways);
    }

    /// Executes the reaction to an event, if that is followed; false if it is not.
    fn is_followed(
        &mut self,
        (condition, state): (Term, &State),
        event: &Pending,
        ends: &mut Vec<End>,
    ) -> Modelled<bool> {
        let Target::Function(id) = event.event.target else {
            return Ok(false);
        };
        let name = &self.module.function(id).name;
        if !self.followed.contains(name) || self.active.contains(&id) {
            return Ok(false);
        }
        self.active.push(id);
        let found = self.nested((condition, state), id, event.values.clone())?;
        self.active.pop();
        for mut end in found {
            end.condition = self.terms.and(condition, end.condition);
            ends.push(end);
        }
        Ok(true)
    }

    /// Executes a function from within another one.
    fn nested(
        &mut self,
        (condition, state): (Term, &State),
        id: FunctionId,
        arguments: Vec<Symbolic>,
    ) -> Modelled<Vec<End>> {
        let outer = self.path;
        self.path = self.terms.and(outer, condition);
        let found = self.run(id, arguments, state.clone());
        self.path = outer;
        found
    }

    /// Calls a function: its results.
    pub(super) fn call(
        &mut self,
        frame: &mut Frame<'_>,
        id: FunctionId,
        arguments: Vec<Symbolic>,
    ) -> Modelled<Vec<Symbolic>> {
        let ends = self.nested((frame.condition, &frame.state), id, arguments)?;
        let ways = ends.into_iter().filter_map(|end| match end.ending {
            Ending::Returns(values) => Some(Way {
                condition: end.condition,
                values,
                state: end.state,
            }),
            Ending::Tail(..) | Ending::Take(_) | Ending::Left => None,
        });
        let ways = ways.collect();
        let function = self.module.function(id);
        match self.met(ways) {
            Some(way) => {
                frame.state = way.state;
                Ok(way.values)
            }
            None => Err(format!("{} never returns", function.name)),
        }
    }

    /// Returns the types of the results of an attempt that succeeds, or fails.
    pub(super) fn outcomes(frame: &Frame<'_>, edge: &Edge) -> Vec<Type> {
        let parameters = &frame.function.block(edge.block).parameters;
        let given = parameters[edge.arguments.len()..].iter();
        given.map(|value| frame.function.type_of(*value)).collect()
    }

    /// Returns the name of an attempt that is the same in both modules.
    pub(super) fn name_of_attempt(&self, attempt: &Attempt) -> String {
        match attempt {
            Attempt::Rewrite(kernel) => {
                format!("rewrite {}", self.module.kernels[kernel.at()].name)
            }
            other => format!("{other:?}"),
        }
    }
}
