//! The outcome of a function: all of what others can see of it, as terms.
//!
//! In: a function, and terms for its parameters. Out: its results or the event that comes next, the
//! state behind it, and the condition under which a guard leaves it. What a cache holds is no part
//! of it: a load of one gives what its function gives.

use super::executor::{End, Ending, Executor, Modelled};
use super::naming::Naming;
use super::symbolic::{Cell, State, Symbolic, named};
use super::terms::{Sort, Term, Terms};
use crate::ir::effects::Resource;
use crate::ir::{CacheId, FunctionId, Module, Region, Role};
use std::collections::{BTreeMap, BTreeSet};

/// A part of an outcome.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Part {
    /// A term of its results.
    Result(usize),
    /// The event that is handled next.
    Next,
    /// A part of the state.
    Cell(Cell),
}

/// An end, for people: its condition, a word, and what is given.
pub type Way = (Term, String, Vec<Term>);

/// An outcome.
pub struct Outcome {
    /// The condition under which a guard leaves the function.
    pub left: Term,
    /// The condition under which a guard leaves it, and something has been done.
    pub left_changed: Term,
    /// Parts, without cells that are as they were.
    pub parts: BTreeMap<Part, Term>,
    /// Its ends.
    pub ways: Vec<Way>,
    /// Bits that are 1 whatever happens.
    pub assumed: Vec<Term>,
    /// Bits that are 1 unless control comes to where it never comes.
    pub never: Vec<Term>,
    /// Contents of caches: the cache, the index of the part, the condition under which it was
    /// computed, and its value.
    pub recomputed: Vec<(CacheId, u32, Term, Term)>,
    /// Operations whose order is not modelled.
    pub doubts: BTreeSet<&'static str>,
}

impl Part {
    /// Returns its name.
    pub fn name(self, module: &Module) -> String {
        match self {
            Part::Result(at) => format!("result {at}"),
            Part::Next => "the event that comes next".to_string(),
            Part::Cell(Cell::Counter(at)) => {
                format!("counter {}", module.counters[at as usize])
            }
            Part::Cell(Cell::Steps) => "steps".to_string(),
            Part::Cell(Cell::Live(kind)) => format!("live {}", module.kinds[kind.at()].name),
            Part::Cell(Cell::Resource(resource)) => named(module, resource),
        }
    }
}

/// Executes a function, and follows events to some reactions.
pub fn outcome(
    terms: &mut Terms,
    (module, naming): (&Module, &Naming),
    (id, arguments): (FunctionId, Vec<Symbolic>),
    followed: &BTreeSet<String>,
) -> Modelled<Outcome> {
    let mut executor = Executor::new(terms, module, naming);
    executor.followed.clone_from(followed);
    let ends = executor.run(id, arguments, State::default())?;
    let (mut left, mut left_changed) = (executor.terms.bit(false), executor.terms.bit(false));
    let (mut others, mut ways) = (Vec::new(), Vec::new());
    let only_returns = !matches!(module.function(id).role, Role::Reaction | Role::Fast);
    for mut end in ends {
        executor.wait_in_state(&mut end.state);
        if matches!(end.ending, Ending::Left) {
            left = executor.terms.or(left, end.condition);
            if is_changed(executor.terms, module, &end.state) {
                left_changed = executor.terms.or(left_changed, end.condition);
            }
            continue;
        }
        let (word, given) = ending(&mut executor, &end.ending);
        let values = match (&end.ending, only_returns) {
            (Ending::Returns(values), true) => values.clone(),
            _event => {
                let next = executor.terms.applied(&word, &given, Sort::Token);
                vec![Symbolic::Plain(next)]
            }
        };
        ways.push(way((&end, word), &given));
        others.push((end.condition, values, end.state));
    }
    let mut parts = BTreeMap::new();
    if let Some((_, values, state)) = executor.together(others) {
        let all = values.iter().flat_map(Symbolic::terms).enumerate();
        for (at, term) in all {
            let part = if only_returns {
                Part::Result(at)
            } else {
                Part::Next
            };
            parts.insert(part, term);
        }
        let seen = state.cells.into_iter().filter(|(cell, _)| is_seen(*cell));
        parts.extend(seen.map(|(cell, term)| (Part::Cell(cell), term)));
    }
    let Executor {
        assumed,
        never,
        recomputed,
        doubts,
        ..
    } = executor;
    Ok(Outcome {
        left,
        left_changed,
        parts,
        ways,
        assumed,
        never,
        recomputed,
        doubts,
    })
}

/// Returns an end for people: with the outputs before it.
fn way((end, word): (&End, String), given: &[Term]) -> Way {
    let left = &end.state.left;
    let mut words: Vec<String> = left.iter().map(|(name, _)| name.clone()).collect();
    words.push(word);
    let before = left.iter().flat_map(|(_, given)| given);
    let all: Vec<Term> = before.chain(given).copied().collect();
    (end.condition, words.join(", "), all)
}

/// Returns the word and the terms of an end.
fn ending(executor: &mut Executor<'_>, ending: &Ending) -> (String, Vec<Term>) {
    match ending {
        Ending::Returns(values) => {
            let given = values.iter().flat_map(Symbolic::terms).collect();
            ("returns".to_string(), given)
        }
        Ending::Tail(event, given) => {
            let (naming, module) = (executor.naming, executor.module);
            let word = format!("tail {}", naming.target(module, event.target));
            let known = (&mut *executor.terms, module);
            (word, naming.arguments(known, *event, given))
        }
        Ending::Take(mark) => ("take".to_string(), vec![*mark]),
        Ending::Left => ("left".to_string(), Vec::new()),
    }
}

/// Returns true if something has been done, but for caches and buffers that are given back.
fn is_changed(terms: &mut Terms, module: &Module, state: &State) -> bool {
    let buffers = Cell::Resource(Resource::Buffers);
    let mut cells = state.cells.iter();
    cells.any(|(cell, term)| {
        let before = super::symbolic::initial(terms, module, *cell);
        is_seen(*cell) && *cell != buffers && *term != before
    })
}

/// Returns true if others can see a part of the state.
fn is_seen(cell: Cell) -> bool {
    !matches!(
        cell,
        Cell::Resource(Resource::Region(Region::Valid(_) | Region::Cached(..)) | Resource::Control)
    )
}
