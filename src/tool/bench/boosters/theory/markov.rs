//! Markov chains with finitely many states, solved without subtractions.
//!
//! In: transition probabilities. Out: the stationary distribution, the mean number of steps until a
//! state is first reached, and the distribution of that number.
//!
//! Elimination after Grassmann, Taksar and Heyman (1985): the diagonal is never read, since one
//! minus its entry is the sum of all others. Each result is a sum of products of positive numbers,
//! so it has almost all digits, also where states differ in probability by many powers of ten. A
//! general solver of linear equations has lost them: it gave shares that fall where they must rise.

use std::collections::VecDeque;

/// A chain: the probability of each transition in one step.
#[derive(Clone, Debug)]
pub struct Chain {
    size: usize,
    /// Row by row: from, to.
    probabilities: Vec<f64>,
}

impl Chain {
    /// Makes a chain of so many states, without any transition.
    pub fn new(size: usize) -> Chain {
        let probabilities = vec![0.0; size * size];
        Chain {
            size,
            probabilities,
        }
    }

    /// Adds to the probability of a transition.
    pub fn add(&mut self, from: usize, to: usize, probability: f64) {
        self.probabilities[from * self.size + to] += probability;
    }

    /// Returns the probability of a transition.
    pub fn at(&self, from: usize, to: usize) -> f64 {
        self.probabilities[from * self.size + to]
    }

    /// Returns the stationary distribution: the share of time spent in each state.
    ///
    /// Assumes that the chain has one recurrent class. If rounding cuts a chain in two, as where a
    /// probability is too small for a number, the upper states keep the chain.
    pub fn stationary(&self) -> Vec<f64> {
        let mut reduced = self.clone();
        let mut first = 0;
        for last in (1..self.size).rev() {
            let leaves: f64 = (0..last).map(|to| reduced.at(last, to)).sum();
            if leaves == 0.0 {
                first = last;
                break;
            }
            for from in 0..last {
                let share = reduced.at(from, last) / leaves;
                reduced.probabilities[from * self.size + last] = share;
                for to in 0..last {
                    reduced.add(from, to, share * reduced.at(last, to));
                }
            }
        }
        let mut visits = vec![0.0; self.size];
        visits[first] = 1.0;
        for state in first + 1..self.size {
            visits[state] = (first..state)
                .map(|from| visits[from] * reduced.at(from, state))
                .sum();
        }
        let all: f64 = visits.iter().sum();
        visits.iter().map(|visit| visit / all).collect()
    }

    /// Returns the mean number of steps from a state until another is first reached.
    pub fn mean_steps(&self, start: usize, target: usize) -> f64 {
        let states = self.reachable(start, target);
        let size = states.len();
        let mut reduced = Chain::new(size);
        for (from, &state) in states.iter().enumerate() {
            for (to, &next) in states.iter().enumerate() {
                reduced.add(from, to, self.at(state, next));
            }
        }
        let mut arrives: Vec<f64> = states.iter().map(|&from| self.at(from, target)).collect();
        let mut steps = vec![1.0; size];
        for last in (1..size).rev() {
            let stays: f64 = (0..last).map(|to| reduced.at(last, to)).sum();
            let leaves = arrives[last] + stays;
            if leaves == 0.0 {
                return f64::INFINITY;
            }
            for from in 0..last {
                let share = reduced.at(from, last) / leaves;
                arrives[from] += share * arrives[last];
                steps[from] += share * steps[last];
                for to in 0..last {
                    reduced.add(from, to, share * reduced.at(last, to));
                }
            }
        }
        steps[0] / arrives[0]
    }

    /// Returns the distribution after a step from a distribution.
    pub fn step(&self, weights: &[f64]) -> Vec<f64> {
        let mut next = vec![0.0; self.size];
        for (from, &weight) in weights
            .iter()
            .enumerate()
            .filter(|(_, weight)| **weight > 0.0)
        {
            for (to, sum) in next.iter_mut().enumerate() {
                *sum += weight * self.at(from, to);
            }
        }
        next
    }

    /// Returns the number of steps after which a state was reached with a probability of at least
    /// `share`, if that takes at most `limit` steps.
    pub fn steps_until(&self, [start, target]: [usize; 2], share: f64, limit: u32) -> Option<u32> {
        let mut weights = vec![0.0; self.size];
        weights[start] = 1.0;
        (1..=limit).find(|_| {
            let mut next = vec![0.0; self.size];
            next[target] = weights[target];
            for from in (0..self.size).filter(|&from| from != target) {
                for (to, weight) in next.iter_mut().enumerate() {
                    *weight += weights[from] * self.at(from, to);
                }
            }
            weights = next;
            weights[target] >= share
        })
    }

    /// Returns the states that can be passed on the way to a target, the start first.
    fn reachable(&self, start: usize, target: usize) -> Vec<usize> {
        let mut found = vec![start];
        let mut waiting = VecDeque::from([start]);
        while let Some(from) = waiting.pop_front() {
            for to in (0..self.size).filter(|&to| to != target && self.at(from, to) > 0.0) {
                if !found.contains(&to) {
                    found.push(to);
                    waiting.push_back(to);
                }
            }
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::Chain;

    /// A walk on 0 to 4 that goes up with probability `up`, else down, and stays at its ends.
    fn walk(up: f64) -> Chain {
        let mut chain = Chain::new(5);
        for state in 0..5_usize {
            chain.add(state, (state + 1).min(4), up);
            chain.add(state, state.saturating_sub(1), 1.0 - up);
        }
        chain
    }

    #[test]
    fn shares_of_a_walk_form_a_geometric_series() {
        for up in [0.3, 1e-40] {
            let shares = walk(up).stationary();
            for pair in shares.windows(2) {
                let ratio = pair[1] / pair[0] / (up / (1.0 - up));
                assert!((ratio - 1.0).abs() < 1e-12, "{shares:?}");
            }
        }
    }

    #[test]
    fn a_chain_that_cannot_come_down_stays_up() {
        assert_eq!(walk(1.0).stationary(), [0.0, 0.0, 0.0, 0.0, 1.0]);
    }

    #[test]
    fn steps_to_an_end_are_those_of_the_ruin_of_a_gambler() {
        // A fair walk that is thrown back at 0: n (n + 1) steps.
        assert!((walk(0.5).mean_steps(0, 4) - 20.0).abs() < 1e-12);
        assert_eq!(walk(1.0).mean_steps(0, 4), 4.0);
        assert_eq!(walk(0.0).mean_steps(0, 4), f64::INFINITY);
    }

    #[test]
    fn a_step_moves_the_shares_along_the_transitions() {
        let after = walk(0.25).step(&[0.5, 0.5, 0.0, 0.0, 0.0]);
        assert_eq!(after, [0.75, 0.125, 0.125, 0.0, 0.0]);
    }

    #[test]
    fn most_walks_have_ended_after_some_steps() {
        assert_eq!(walk(1.0).steps_until([0, 4], 0.5, 10), Some(4));
        assert_eq!(walk(0.5).steps_until([0, 1], 0.75, 10), Some(2));
        assert_eq!(walk(0.0).steps_until([0, 4], 0.5, 10), None);
    }
}
