//! `loom bench boosters`: the theory of policies that insert and remove error correction while
//! frames flow, their simulated errors (Boosters 1999), and stacks of the library in virtual time.
//!
//! In: nothing but numbers of the paper and of measured transports, and the library. Out: tables,
//! as text or JSON, and figures as SVG. Nothing is timed here, so each run gives the same numbers.
//!
//! ```text
//! theory         computed numbers: frame error rates, goodput, chains
//! decision       the interface of policies
//! event_counter  the paper's policy, in integers
//! bayes_filter   the default policy, in integers
//! transport      the transports that are modelled
//! trial          a connection, a policy and a square wave of bit errors: figures 3 and 12 to 15
//! stacks         the same with TCP, slot and policy of the library, compiled, in virtual time
//! tables         tables, and those of transports and codes
//! figures        the figures of the paper, as tables and as SVG; the bars for the model
//! ```

mod bayes_filter;
mod decision;
mod event_counter;
mod figures;
mod stacks;
mod tables;
mod theory;
mod transport;
mod trial;

use super::{Goal, table};
use crate::tool::failure::{Failure, about};
use crate::tool::progress;
use crate::tool::terminal::result;
use figures::trials::{Model, Trials};
use figures::{Figure, chain, gains, goals, throughput, trials, windows};
use stacks::Stacks;
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
    let say = |text: &str| spinner.set_message(text.to_string());
    let (figures, simulated) = found(extent, &say)?;
    let linked = over_stacks(extent, &say)?;
    spinner.finish_and_clear();
    if let Some(folder) = pictures {
        std::fs::create_dir_all(folder).map_err(about(folder))?;
        for figure in &figures {
            let path = folder.join(format!("figure-{}.svg", figure.number));
            std::fs::write(&path, figure.plot.svg()).map_err(about(&path))?;
        }
        for figure in linked.iter().flat_map(|(found, _)| drawn(found)) {
            let path = folder.join(format!("figure-{}-stacks.svg", figure.number));
            std::fs::write(&path, figure.plot.svg()).map_err(about(&path))?;
        }
    }
    let bars = goals::goals(extent, simulated.first());
    let mut tables: Vec<Table> = figures.into_iter().flat_map(|one| one.tables).collect();
    let others = simulated.iter().skip(1);
    for trials in others.chain(linked.iter().map(|(found, _)| found)) {
        tables.extend([
            throughput::fixed_table(trials),
            throughput::ideal_table(trials),
        ]);
        tables.extend(gains::tables(trials).into_iter().map(|(_, table)| table));
    }
    tables.extend(tables::computed());
    if !bars.is_empty() {
        tables.push(goals::table("Goals, of the model: paper's set-up", &bars));
    }
    let bars_of_stacks = linked.map_or_else(Vec::new, |(_, goals)| goals);
    if !bars_of_stacks.is_empty() {
        tables.push(goals::table("Goals, of the stacks", &bars_of_stacks));
    }
    print(&tables, json)?;
    let missed = bars.iter().chain(&bars_of_stacks);
    let missed = missed.filter(|goal| !goal.met);
    let missed: Vec<&str> = missed.map(|goal| goal.metric.as_str()).collect();
    if strict && !missed.is_empty() {
        let missed = missed.join("; ");
        return Err(Failure::refused(format!("missed goals: {missed}")));
    }
    Ok(())
}

/// Returns the figures, with the paper's TCP, and the runs of each transport.
fn found(extent: Extent, say: &dyn Fn(&str)) -> Result<(Vec<Figure>, Vec<Trials>), Failure> {
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
        let say = |text: &str| say(&format!("policies, {}, {text}", transport.name));
        simulated.push(Trials::run(&Model(*transport), *plan, &say)?);
    }
    say("critical bit error rates");
    let mut figures = vec![windows::figure(windows)];
    figures.extend(theory);
    if let Some(paper) = simulated.first() {
        figures.insert(0, throughput::fixed(paper));
        figures.push(throughput::ideal(paper));
        figures.extend(gains::figures(paper));
    }
    Ok((figures, simulated))
}

/// Returns the runs over stacks, and whether they meet their goals; none if nothing is simulated.
fn over_stacks(extent: Extent, say: &dyn Fn(&str)) -> Result<Option<(Trials, Vec<Goal>)>, Failure> {
    let plan = match extent {
        Extent::Theory => return Ok(None),
        Extent::Quick => trials::QUICK_STACKS,
        Extent::Full => trials::STACKS,
    };
    let say = |text: &str| say(&format!("stacks, {text}"));
    let stacks = Stacks::new(transport::OURS)?;
    let found = Trials::run(&stacks, plan, &say)?;
    let model = Trials::run(&Model(transport::OURS), plan, &|_| {})?;
    let goals = goals::of_stacks(&found, &model, stacks.swap_round_trips()?);
    Ok(Some((found, goals)))
}

/// Returns the figures of runs over stacks.
fn drawn(trials: &Trials) -> Vec<Figure> {
    let first = [throughput::fixed(trials), throughput::ideal(trials)];
    first.into_iter().chain(gains::figures(trials)).collect()
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
