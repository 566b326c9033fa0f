//! The theory of error correction that is inserted and removed: numbers, computed without chance.
//!
//! In: bit error rates, codes, and what a lost frame costs. Out: frame error rates, goodput, and
//! when a policy inserts a code.
//!
//! ```text
//! bernoulli   bit error rate -> frame error rate, and the number of errors
//! codes       frame error rates behind decoders
//! goodput     goodput by the cost of a lost frame; the errors of equations 5 and 7
//! ladder      the best code for each bit error rate
//! markov      Markov chains, solved without subtractions
//! counter     the paper's event counter as a Markov chain: figures 8, 9 and 10
//! critical    where a booster begins to pay, and a counter begins to rise: figure 7
//! ```

pub mod bernoulli;
pub mod codes;
pub mod counter;
pub mod critical;
pub mod goodput;
pub mod ladder;
pub mod markov;
