//! `loom bench boosters`: the theory of policies that insert and remove error correction while
//! frames flow, and their simulated errors (Boosters 1999).
//!
//! In: nothing but numbers of the paper and of measured transports. Out: tables, as text or JSON,
//! and figures as SVG. Nothing is measured here, so each run gives the same numbers.
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
//! tables         tables, and those of transports and codes
//! figures        the figures of the paper, as tables and as SVG; the bars for the model
//! ```

mod bayes_filter;
mod bernoulli;
mod codes;
mod counter;
mod critical;
mod decision;
mod event_counter;
mod figures;
mod goodput;
mod ladder;
mod markov;
mod tables;
mod transport;
mod trial;

use super::table;
use crate::tool::failure::{Failure, about};
use crate::tool::progress;
use crate::tool::terminal::result;
use figures::{Figure, chain, gains, goals, throughput, trials, windows};
use std::fmt::Write as _;
use std::path::Path;
use tables::Table;

/// The extent of the simulations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extent {
    /// None: computed numbers alone.
    Theory,
    /// Three bit error rates and two times between changes.
    Quick,
    /// All bit error rates, times and transports.
    Full,
}

/// Prints the tables, draws the figures into a folder, and fails if `strict` and a bar is missed.
pub fn run(
    extent: Extent,
    json: bool,
    pictures: Option<&Path>,
    strict: bool,
) -> Result<(), Failure> {
    let spinner = progress::spinner("bench");
    spinner.set_message("theory of policies");
    let (figures, simulated) = found(extent, &|text| spinner.set_message(text.to_string()));
    spinner.finish_and_clear();
    if let Some(folder) = pictures {
        std::fs::create_dir_all(folder).map_err(about(folder))?;
        for figure in &figures {
            let path = folder.join(format!("figure-{}.svg", figure.number));
            std::fs::write(&path, figure.plot.svg()).map_err(about(&path))?;
        }
    }
    let bars = goals::goals(extent, simulated.first());
    let mut tables: Vec<Table> = figures.into_iter().flat_map(|one| one.tables).collect();
    for trials in simulated.iter().skip(1) {
        tables.extend([
            throughput::fixed_table(trials),
            throughput::ideal_table(trials),
        ]);
        tables.extend(gains::tables(trials).into_iter().map(|(_, table)| table));
    }
    tables.extend(tables::computed());
    if !bars.is_empty() {
        tables.push(goals::table(&bars));
    }
    print(&tables, json)?;
    let missed = bars.iter().filter(|goal| !goal.met);
    let missed: Vec<&str> = missed.map(|goal| goal.metric.as_str()).collect();
    if strict && !missed.is_empty() {
        let missed = missed.join("; ");
        return Err(Failure::refused(format!("missed goals: {missed}")));
    }
    Ok(())
}

/// Returns the figures, with the paper's TCP, and the runs of each transport.
fn found(extent: Extent, say: &dyn Fn(&str)) -> (Vec<Figure>, Vec<trials::Trials>) {
    let maxima = match extent {
        Extent::Quick => &chain::MAXIMA[..3],
        Extent::Theory | Extent::Full => &chain::MAXIMA[..],
    };
    let theory = [chain::stationary(maxima), chain::transition(maxima)];
    let (windows, plan, transports) = match extent {
        Extent::Theory => (&windows::NONE, &trials::QUICK, &[][..]),
        Extent::Quick => (&windows::QUICK, &trials::QUICK, &[transport::PAPER][..]),
        Extent::Full => {
            let all = &[transport::PAPER, transport::OURS, transport::LINUX];
            (&windows::FULL, &trials::FULL, &all[..])
        }
    };
    let mut simulated = Vec::new();
    for transport in transports {
        say(&format!("policies, {}", transport.name));
        simulated.push(trials::Trials::run(*transport, *plan));
    }
    say("critical bit error rates");
    let mut figures = vec![windows::figure(windows)];
    figures.extend(theory);
    if let Some(paper) = simulated.first() {
        figures.insert(0, throughput::fixed(paper));
        figures.push(throughput::ideal(paper));
        figures.extend(gains::figures(paper));
    }
    (figures, simulated)
}

fn print(tables: &[Table], json: bool) -> Result<(), Failure> {
    if json {
        let text = serde_json::to_string(&tables).expect("words can be written as JSON");
        return result(format_args!("{text}\n"));
    }
    let mut text = String::new();
    for table in tables {
        let lines = table::figures(&table.heads, &table.rows);
        writeln!(text, "{}\n{lines}", table.title).expect("a string takes every line");
    }
    result(text)
}
