//! The figures of the paper: each as tables, and as a picture.
//!
//! In: the models of `boosters`, and how much is simulated. Out: figures 3, 7, 9, 10 and 12 to 15.
//! The title of each table says whether it is computed, simulated by the model, or taken from the
//! paper's text.
//!
//! ```text
//! plot        curves as SVG
//! way         static codes and policies
//! trials      all runs of a transport: static codes at each bit error rate, policies at each wave
//! windows     figure 7: critical bit error rates of a window
//! chain       figures 9 and 10: the counter as a Markov chain
//! throughput  figures 3 and 12: goodput of static codes, and of an ideal policy
//! gains       figures 13 to 15: errors and gains of policies
//! goals       bars that the models must meet
//! ```

pub mod chain;
pub mod gains;
pub mod goals;
pub mod plot;
pub mod throughput;
pub mod trials;
pub mod way;
pub mod windows;

use super::tables::Table;
use plot::Plot;

/// A figure of the paper.
#[derive(Clone, Debug)]
pub struct Figure {
    /// Its number.
    pub number: u32,
    /// Its tables.
    pub tables: Vec<Table>,
    /// Its picture.
    pub plot: Plot,
}

/// A sentence of the paper, and the model's numbers for it.
#[derive(Clone, Debug)]
pub struct Statement {
    /// The sentence, shortened.
    pub paper: &'static str,
    /// The section that has it.
    pub section: &'static str,
    /// The numbers.
    pub model: String,
}

/// Returns the table of what the paper's text says about a figure.
pub fn statements(number: u32, all: &[Statement]) -> Table {
    let title = format!("Figure {number}, the paper's text beside the model's numbers");
    let mut table = Table::new(&title, ["the paper's text", "section", "model"]);
    for statement in all {
        let words = [statement.paper, statement.section, &statement.model];
        table.rows.push(words.map(str::to_string).to_vec());
    }
    table
}
