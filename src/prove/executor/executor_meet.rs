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
        while ways.len() > 1 {
            let (one, other) = self.nearest(&ways);
            let other = ways.remove(other);
            let own = ways[one].clone();
            ways[one] = self.joined(own, other);
        }
        ways.pop()
    }

    /// Returns two ways that differ in one bit, if there are such, else the last two.
    fn nearest(&mut self, ways: &[Way]) -> (usize, usize) {
        let all: Vec<BTreeSet<Term>> = ways
            .iter()
            .map(|way| self.terms.conjuncts(way.condition))
            .collect();
        for one in 0..all.len() {
            for other in one + 1..all.len() {
                let mut left = all[one].difference(&all[other]);
                let mut right = all[other].difference(&all[one]);
                if let (Some(own), None, Some(than), None) =
                    (left.next(), left.next(), right.next(), right.next())
                    && self.terms.not(*own) == *than
                {
                    return (one, other);
                }
            }
        }
        (ways.len() - 2, ways.len() - 1)
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
