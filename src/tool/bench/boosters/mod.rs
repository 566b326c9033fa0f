//! `loom bench boosters`: the theory of policies that insert and remove error correction while
//! frames flow (Boosters 1999).
//!
//! In: nothing but numbers of the paper. Out: tables, as text or JSON. Nothing is measured here, so
//! each run gives the same figures.
//!
//! ```text
//! bernoulli      bit error rate -> frame error rate, and the number of errors
//! markov         Markov chains, solved without subtractions
//! counter        the paper's event counter as a Markov chain: figures 8, 9 and 10
//! critical       where a counter begins to rise: figure 7
//! goodput        goodput by the cost of a lost frame
//! codes          frame error rates behind decoders
//! ladder         the best code for each bit error rate
//! tables         all of that as tables
//! ```

mod bernoulli;
mod codes;
mod counter;
mod critical;
mod goodput;
mod ladder;
mod markov;
mod tables;

use super::table;
use crate::tool::failure::Failure;
use crate::tool::terminal::result;
use std::fmt::Write as _;

/// Prints the tables.
pub fn run(json: bool) -> Result<(), Failure> {
    let tables = tables::computed();
    if json {
        let text = serde_json::to_string(&tables).expect("words can be written as JSON");
        return result(format_args!("{text}\n"));
    }
    let mut text = String::new();
    for table in &tables {
        let lines = table::figures(&table.heads, &table.rows);
        writeln!(text, "{}\n{lines}", table.title).expect("a string takes every line");
    }
    result(text)
}
