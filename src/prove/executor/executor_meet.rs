//! Ways that meet: one condition, and values and a state that are chosen by the condition of a way.
//!
//! In: ways to a block, or ends of a function. Out: one. Ways whose conditions differ in one bit
//! are joined first: so those behind a branch become the condition before it, and what is chosen
//! hangs on its bit alone.

use super::{Executor, Way};
use crate::prove::symbolic::{State, Symbolic};
use crate::prove::terms::Term;
use std::collections::BTreeSet;

impl Executor<'_> {
    /// Returns several ways as one; none if control comes by none.
    pub(super) fn met(&mut self, mut ways: Vec<Way>) -> Option<Way> {
        ways.retain(|way| self.terms.constant(way.condition) != Some(0));
        let conditions = ways.iter().map(|way| self.terms.conjuncts(way.condition));
        let mut conditions: Vec<BTreeSet<Term>> = conditions.collect();
        let mut open: Vec<Option<Way>> = ways.into_iter().map(Some).collect();
        let mut near: BTreeSet<(usize, usize)> = BTreeSet::new();
        for at in 0..open.len() {
            self.add_near((&open, &conditions), at, &mut near);
        }
        loop {
            let mut last = (0..open.len()).rev().filter(|at| open[*at].is_some());
            let (other, one) = (last.next()?, last.next());
            let last = one.map(|one| (one, other));
            let Some((one, other)) = near.pop_first().or(last) else {
                return open.swap_remove(other);
            };
            near.retain(|(left, right)| ![one, other].iter().any(|at| at == left || at == right));
            let (Some(own), Some(than)) = (open[one].take(), open[other].take()) else {
                unreachable!("ways that meet are open");
            };
            let joined = self.joined(own, than);
            conditions[one] = self.terms.conjuncts(joined.condition);
            open[one] = Some(joined);
            self.add_near((&open, &conditions), one, &mut near);
        }
    }

    /// Adds the pairs of a way with others from which it differs in one bit.
    fn add_near(
        &mut self,
        (open, conditions): (&[Option<Way>], &[BTreeSet<Term>]),
        at: usize,
        near: &mut BTreeSet<(usize, usize)>,
    ) {
        for other in 0..open.len() {
            let is_open = other != at && open[other].is_some();
            if is_open && self.are_near(&conditions[at], &conditions[other]) {
                near.insert((at.min(other), at.max(other)));
            }
        }
    }

    fn are_near(&mut self, one: &BTreeSet<Term>, other: &BTreeSet<Term>) -> bool {
        if one.len() != other.len() {
            return false;
        }
        let (mut left, mut right) = (one.difference(other), other.difference(one));
        match (left.next(), left.next(), right.next(), right.next()) {
            (Some(own), None, Some(than), None) => self.terms.not(*own) == *than,
            _more => false,
        }
    }

    fn joined(&mut self, mut own: Way, mut other: Way) -> Way {
        self.wait_alike(&mut own.state, &mut other.state);
        let condition = self.terms.or(own.condition, other.condition);
        let shared = self.terms.conjuncts(condition);
        let rest = self.terms.conjuncts(own.condition);
        let rest = rest.difference(&shared).copied().collect();
        let first = self.terms.all(rest);
        let pairs = own.values.iter().zip(&other.values);
        let values = pairs.map(|(one, other)| one.choose(self.terms, first, other));
        let values = values.collect();
        let own = own.state;
        let state = own.choose((self.terms, self.module), first, &other.state);
        Way {
            condition,
            values,
            state,
        }
    }

    /// Returns the ends of one sort as one: their condition, values and state.
    pub fn together(
        &mut self,
        ends: Vec<(Term, Vec<Symbolic>, State)>,
    ) -> Option<(Term, Vec<Symbolic>, State)> {
        let ways = ends.into_iter().map(|(condition, values, state)| Way {
            condition,
            values,
            state,
        });
        let met = self.met(ways.collect())?;
        Some((met.condition, met.values, met.state))
    }
}
