//! `loom bench boosters`: the theory of policies that insert and remove error correction while
//! frames flow, and their simulated errors (Boosters 1999).
//!
//! In: nothing but numbers of the paper and of measured transports. Out: tables, as text or JSON.
//! Nothing is measured here, so each run gives the same figures.
//!
//! ```text
//! bernoulli      bit error rate -> frame error rate, and the number of errors
//! markov         Markov chains, solved without subtractions
//! counter        the paper's event counter as a Markov chain: figures 8, 9 and 10
//! critical       where a booster begins to pay, and a counter begins to rise: figure 7
//! goodput        goodput by the cost of a lost frame; the errors of equations 5 and 7
//! codes          frame error rates behind decoders
//! ladder         the best code for each bit error rate
//! decision       the interface of policies
//! event_counter  the paper's policy, in integers
//! bayes_filter   the default policy, in integers
//! transport      the transports that are modelled
//! trial          a connection, a policy and a square wave of bit errors: figures 3 and 12 to 15
//! tables         all of that as tables
//! ```

mod bayes_filter;
mod bernoulli;
mod codes;
mod counter;
mod critical;
mod decision;
mod event_counter;
mod goodput;
mod ladder;
mod markov;
mod tables;
mod transport;
mod trial;

use super::table;
use crate::tool::failure::Failure;
use crate::tool::progress;
use crate::tool::terminal::result;
use std::fmt::Write as _;

/// Prints the tables: the computed ones, and the simulated ones unless only `theory` is asked for.
pub fn run(theory: bool, json: bool) -> Result<(), Failure> {
    let mut tables = tables::computed();
    if !theory {
        let spinner = progress::spinner("bench");
        for transport in [transport::PAPER, transport::OURS, transport::LINUX] {
            spinner.set_message(format!("policies, {}", transport.name));
            tables.extend(tables::simulated(&transport));
        }
        spinner.finish_and_clear();
    }
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
