//! Cycles of calls: no routine calls itself, directly or through others.
//!
//! In: the calls of each routine. Out: for each group of routines that reach each other, a report
//! of a shortest cycle. Cost: linear in the calls, apart from the search of short cycles, which
//! begins at a bounded number of routines.

use super::super::checker::Checker;
use super::super::program::RoutineId;
use crate::diagnostic::{Diagnostic, Id};
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// A short cycle of a group is searched from at most so many of its routines.
const STARTS: usize = 32;

/// The longest chain of calls.
const DEPTH: usize = 1_000;

/// The most routines of a cycle that are shown.
const SHOWN: usize = 8;

impl Checker<'_> {
    /// Reports recursive routines, and chains of calls that are too long.
    pub fn recursion(&mut self) {
        let order = self.finished_order();
        let groups = self.groups(&order);
        let mut has_cycle = false;
        for group in groups {
            let first = group.first().copied();
            let calls_itself = |id: RoutineId| self.routines[id.index()].calls.contains_key(&id);
            if group.len() > 1 || first.is_some_and(calls_itself) {
                has_cycle = true;
                self.cycle(&group);
            }
        }
        if !has_cycle {
            self.long_chains(&order);
        }
    }

    /// Orders routines by the end of a depth-first search: a callee comes before its callers,
    /// unless they are on a cycle.
    fn finished_order(&self) -> Vec<RoutineId> {
        let mut order = Vec::new();
        let mut seen = vec![false; self.routines.len()];
        for start in 0..self.routines.len() {
            let mut open = vec![(RoutineId(start as u32), false)];
            while let Some((id, is_done)) = open.pop() {
                if is_done {
                    order.push(id);
                } else if !std::mem::replace(&mut seen[id.index()], true) {
                    open.push((id, true));
                    let calls = self.routines[id.index()].calls.keys();
                    open.extend(calls.map(|callee| (*callee, false)));
                }
            }
        }
        order
    }

    /// Finds the groups of routines that reach each other (Kosaraju).
    fn groups(&self, order: &[RoutineId]) -> Vec<BTreeSet<RoutineId>> {
        let mut callers = vec![Vec::new(); self.routines.len()];
        for (caller, facts) in self.routines.iter().enumerate() {
            for callee in facts.calls.keys() {
                callers[callee.index()].push(RoutineId(caller as u32));
            }
        }
        let mut seen = vec![false; self.routines.len()];
        let mut groups = Vec::new();
        for start in order.iter().rev() {
            let mut group = BTreeSet::new();
            let mut open = vec![*start];
            while let Some(id) = open.pop() {
                if !std::mem::replace(&mut seen[id.index()], true) {
                    group.insert(id);
                    open.extend(&callers[id.index()]);
                }
            }
            if !group.is_empty() {
                groups.push(group);
            }
        }
        groups
    }

    /// Reports a shortest cycle of a group.
    fn cycle(&mut self, group: &BTreeSet<RoutineId>) {
        let starts = group.iter().take(STARTS);
        let cycles = starts.filter_map(|start| self.cycle_from(*start, group));
        let Some(cycle) = cycles.min_by_key(Vec::len) else {
            return;
        };
        let name = |id: RoutineId| &self.program.routines[id.index()].name;
        let callee_of = |at: usize| cycle[(at + 1) % cycle.len()];
        let mut names: Vec<String> = cycle.iter().map(|id| format!("`{}`", name(*id))).collect();
        names.push(names[0].clone());
        let title = match cycle.len() {
            1 => format!("{} calls itself", names[0]),
            _ => format!("{} calls itself through others", names[0]),
        };
        let facts = &self.routines[cycle[0].index()];
        let span = facts.calls.get(&callee_of(0)).copied();
        let span = span.unwrap_or(facts.name_span);
        let label = format!("calls {}", names[1]);
        let mut report = Diagnostic::error(Id::EstelleRecursion, title, span, label);
        for (at, id) in cycle.iter().enumerate().take(SHOWN).skip(1) {
            let callee = callee_of(at);
            if let Some(call) = self.routines[id.index()].calls.get(&callee) {
                report = report.label(*call, format!("calls `{}`", name(callee)));
            }
        }
        if cycle.len() <= SHOWN {
            report = report.why(format!(
                "Without recursion the memory of an instance is bounded. The cycle is {}.",
                names.join(", ")
            ));
        }
        self.report(report.help("write a loop instead"));
    }

    /// Searches a shortest cycle through a routine, breadth first.
    fn cycle_from(&self, start: RoutineId, group: &BTreeSet<RoutineId>) -> Option<Vec<RoutineId>> {
        let mut before: BTreeMap<RoutineId, RoutineId> = BTreeMap::new();
        let mut open = VecDeque::from([start]);
        while let Some(id) = open.pop_front() {
            for callee in self.routines[id.index()].calls.keys() {
                if *callee == start {
                    let way = std::iter::successors(Some(id), |id| before.get(id).copied());
                    let mut cycle: Vec<_> = way.collect();
                    cycle.reverse();
                    return Some(cycle);
                }
                if group.contains(callee) && !before.contains_key(callee) {
                    before.insert(*callee, id);
                    open.push_back(*callee);
                }
            }
        }
        None
    }

    /// Reports a chain of calls that needs too deep a stack. Callees come first in `order`.
    fn long_chains(&mut self, order: &[RoutineId]) {
        let mut depths = vec![1_usize; self.routines.len()];
        for id in order {
            let calls = self.routines[id.index()].calls.keys();
            let deepest = calls.map(|callee| depths[callee.index()]).max();
            let depth = deepest.unwrap_or(0) + 1;
            depths[id.index()] = depth;
            if depth == DEPTH + 1 {
                let title = "this chain of calls is too long";
                let span = self.routines[id.index()].name_span;
                let label = format!("begins {depth} calls in each other");
                let long = Diagnostic::error(Id::NestedTooDeeply, title, span, label);
                let long = long.why(format!("Calls nest at most {DEPTH} deep."));
                self.report(long.help("put the statements of short routines in place of calls"));
            }
        }
    }
}
