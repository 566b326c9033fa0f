//! States, sets of states, and transitions that no state reaches (S27).

use super::super::checker::{Checker, meant};
use super::super::program::{Body, StateId};
use crate::diagnostic::{Diagnostic, Id};
use crate::source::Span;
use crate::syntax::estelle::ast::Name;

impl Checker<'_> {
    /// Declares states.
    pub fn states(&mut self, names: &[Name]) {
        for name in names {
            let states = &mut self.program.bodies[self.here.body.index()].states;
            let number = states.len() as u32;
            states.push(name.text.clone());
            self.declare_state(name, vec![number], true);
        }
    }

    /// Declares a set of states.
    pub fn state_set(&mut self, name: &Name, states: &[Name]) {
        let mut members = Vec::new();
        for state in states {
            let found = self.state_named(state);
            members.extend(found.map(|(numbers, _)| numbers).unwrap_or_default());
        }
        members.sort_unstable();
        members.dedup();
        self.declare_state(name, members, false);
    }

    fn declare_state(&mut self, name: &Name, numbers: Vec<u32>, is_single: bool) {
        let states = &mut self.bodies[self.here.body.index()].states;
        let entry = (numbers, is_single, Some(name.span));
        if let Some((_, _, earlier)) = states.get(&name.key()) {
            let earlier = *earlier;
            self.name_taken(name, earlier);
        } else {
            states.insert(name.key(), entry);
        }
    }

    /// Finds a state or a set of states: its states, and true for a single one.
    pub fn state_named(&mut self, name: &Name) -> Option<(Vec<u32>, bool)> {
        let body = self.here.body.index();
        if let Some((numbers, is_single, _)) = self.bodies[body].states.get(&name.key()) {
            return Some((numbers.clone(), *is_single));
        }
        let names = self.program.bodies[body].states.iter().map(String::as_str);
        let near = self.near(name, names);
        let title = format!("this body has no state `{}`", name.text);
        let unknown = Diagnostic::error(Id::EstelleState, title, name.span, "unknown state");
        let unknown = unknown.why("A body has its own states, also if others have the same names.");
        let help = meant(near, format!("declare it: `state {};`", name.text));
        self.report(unknown.help(help));
        None
    }

    /// S9: finds the state of `to`.
    pub fn single_state(&mut self, name: &Name) -> Option<StateId> {
        let (numbers, is_single) = self.state_named(name)?;
        if is_single {
            return numbers.first().map(|number| StateId(*number));
        }
        let title = format!("`{}` is a set of states", name.text);
        let wrong = Diagnostic::error(Id::EstelleState, title, name.span, "more than one state");
        let wrong = wrong.why("A transition leads into one state.");
        self.report(wrong.help("name one state, or write `to same`"));
        None
    }

    /// S27: warns of transitions whose states are never reached.
    pub fn unreachable_transitions(&mut self) {
        let mut found: Vec<(Span, String)> = Vec::new();
        for (body, facts) in self.program.bodies.iter().zip(&self.bodies) {
            let reached = reached(body);
            if reached.is_empty() {
                continue;
            }
            for (transition, from) in body.transitions.iter().zip(&facts.from_spans) {
                let is_reached = |state: &StateId| reached[state.index()];
                let is_dead = !transition.from.is_empty();
                if is_dead && !transition.from.iter().any(is_reached) {
                    let name = |state: &StateId| format!("`{}`", body.states[state.index()]);
                    let names: Vec<_> = transition.from.iter().map(name).collect();
                    found.push((*from, names.join(", ")));
                }
            }
        }
        for (span, states) in found {
            let title = format!("no transition leads into {states}");
            let id = Id::EstelleNeverEnabled;
            let warning = Diagnostic::warning(id, title, span, "never holds");
            let warning = warning.why("So the transitions with this clause never fire.");
            self.report(warning.help("add a transition with `to`, or remove these"));
        }
    }
}

/// Finds the states that transitions reach from `initialize`. Empty if the body has no states, or
/// begins in none.
fn reached(body: &Body) -> Vec<bool> {
    let mut reached = vec![false; body.states.len()];
    let mut open: Vec<StateId> = body.initialize.iter().filter_map(|it| it.to).collect();
    if open.is_empty() {
        return Vec::new();
    }
    let mut by_state = vec![Vec::new(); body.states.len()];
    for transition in &body.transitions {
        match (transition.to, &transition.from[..]) {
            (Some(to), []) => open.push(to),
            (Some(to), from) => from.iter().for_each(|it| by_state[it.index()].push(to)),
            (None, _) => {}
        }
    }
    while let Some(state) = open.pop() {
        if !std::mem::replace(&mut reached[state.index()], true) {
            open.append(&mut by_state[state.index()]);
        }
    }
    reached
}
