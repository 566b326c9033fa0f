//! A chain of states -> how often each is visited, by linear equations (HIPPCO 3.2).
//!
//! In: where a chain begins, and how often one state follows another. Out: for each state its visit
//! count V, with `V[j] = begin[j] + sum over k of V[k] * P[k, j]`; each chain that is begun ends.

use rsparse::data::Trpl;
use std::collections::BTreeMap;

/// How a chain goes on: from one state to another, so often for each visit of the first.
pub type Flow = (usize, usize, f64);

/// What nobody says comes to an end does so once in so many steps.
const STEPS: f64 = 10_000.0;

/// Shares that are tried where more follows from each visit than comes to an end.
const HALVES: u32 = 20;

/// The order of the equations. The library's own orders fail on a few small systems, and states
/// follow one another mostly in the order in which they were found.
const AS_THEY_ARE: i8 = -1;

/// How much smaller than others a factor on the diagonal may be to divide by it.
const PIVOT: f64 = 1e-9;

/// The visit counts of as many states as there are beginnings.
pub fn visits(begin: &[f64], flow: &[Flow]) -> Vec<f64> {
    let mut share = 1.0 - 1.0 / STEPS;
    for _ in 0..HALVES {
        if let Some(visits) = solved(begin, flow, share) {
            return visits;
        }
        share /= 2.0;
    }
    begin.to_vec()
}

/// The same where only this share of what follows does; none if there is no end to it.
fn solved(begin: &[f64], flow: &[Flow], share: f64) -> Option<Vec<f64>> {
    let mut factors = BTreeMap::new();
    for state in 0..begin.len() {
        factors.insert((state, state), 1.0);
    }
    for (from, to, often) in flow {
        *factors.entry((*to, *from)).or_insert(0.0) -= often * share;
    }
    let mut equations = Trpl::new();
    for ((to, from), factor) in factors {
        equations.append(to, from, factor);
    }
    let mut visits = begin.to_vec();
    rsparse::lusol(&equations.to_sprs(), &mut visits, AS_THEY_ARE, PIVOT).ok()?;
    let tolerance = 1e-9 * visits.iter().copied().fold(1.0, f64::max);
    let counts = visits
        .iter()
        .all(|count| count.is_finite() && *count >= -tolerance);
    counts.then(|| visits.into_iter().map(|count| count.max(0.0)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn near(found: &[f64], expected: &[f64]) {
        assert_eq!(found.len(), expected.len());
        for (one, other) in found.iter().zip(expected) {
            assert!((one - other).abs() <= 5e-3 * other.max(1.0), "{found:?}");
        }
    }

    #[test]
    fn a_state_that_is_kept_nine_times_of_ten_is_visited_ten_times() {
        near(&visits(&[1.0], &[(0, 0, 0.9)]), &[10.0]);
    }

    #[test]
    fn a_call_is_short_and_the_connection_long() {
        let flow = [(0, 1, 1.0), (1, 2, 0.5), (1, 1, 0.25), (2, 2, 0.99)];
        near(&visits(&[1.0, 0.0, 0.0], &flow), &[1.0, 4.0 / 3.0, 66.25]);
    }

    #[test]
    fn what_never_ends_does_so_some_time() {
        let found = visits(&[1.0, 0.0], &[(0, 1, 1.0), (1, 0, 0.1), (1, 1, 0.9)]);
        assert!((found[1] / found[0] - 10.0).abs() < 0.1, "{found:?}");
    }

    #[test]
    fn what_grows_without_end_is_cut() {
        let found = visits(&[1.0, 0.0], &[(0, 1, 3.0), (1, 1, 1.5)]);
        assert!(found.iter().all(|count| count.is_finite() && *count > 0.0));
    }

    #[test]
    fn two_ways_to_one_state_add_up() {
        near(
            &visits(&[1.0, 0.0], &[(0, 1, 0.25), (0, 1, 0.5)]),
            &[1.0, 0.75],
        );
    }

    #[test]
    fn equations_say_what_chains_do_that_are_followed() {
        for seed in 0..300 {
            let mut random = fastrand::Rng::with_seed(seed);
            let states = 1 + random.usize(..40);
            let mut flow = Vec::new();
            for from in 0..states {
                let mut left = 0.9;
                for _ in 0..random.usize(..6) {
                    let often = left * random.f64();
                    left -= often;
                    flow.push((from, random.usize(..states), often));
                }
            }
            let begin: Vec<f64> = (0..states).map(|_| random.f64()).collect();
            let mut followed = begin.clone();
            let mut here = begin.clone();
            for _ in 0..400 {
                let mut next = vec![0.0; states];
                for (from, to, often) in &flow {
                    next[*to] += here[*from] * often;
                }
                for (sum, more) in followed.iter_mut().zip(&next) {
                    *sum += more;
                }
                here = next;
            }
            println!("seed {seed}");
            near(&visits(&begin, &flow), &followed);
        }
    }
}
