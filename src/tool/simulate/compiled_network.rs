//! A network whose stacks are compiled once, and which then runs as often as is wanted.
//!
//! In: a network file with stacks in C, and later other files that differ in links, scripts and
//! settings alone. Out: what happened in each run.

use super::document;
use super::prepare::{self, Kind, Prepared};
use super::text::Mistake;
use crate::simulate::network::outcome::Outcome;
use crate::simulate::network::{Network, Stuck, Watch};
use crate::tool::compiler::Options;
use crate::tool::failure::Failure;
use crate::tool::stack::Program;
use std::path::{Path, PathBuf};

/// Compiled stacks of a network file.
pub struct CompiledNetwork {
    path: PathBuf,
    kinds: Vec<Kind>,
    programs: Vec<Program>,
}

impl CompiledNetwork {
    /// Compiles the stacks of a network file, which `path` names for what is relative to it.
    pub fn new(source: &str, path: &Path) -> Result<CompiledNetwork, Failure> {
        let shown = |mistake: Mistake| mistake.show(path, source);
        let scenario = document::read(source, path).map_err(shown)?;
        let kinds = prepare::kinds(&scenario, &Options::default(), &shown)?;
        let programs = kinds.iter().map(Kind::load).collect::<Result<_, _>>()?;
        Ok(CompiledNetwork {
            path: path.to_path_buf(),
            kinds,
            programs,
        })
    }

    /// Runs a network file with the same stacks.
    pub fn run(&self, source: &str, seed: u64, watch: &mut dyn Watch) -> Result<Outcome, Failure> {
        let shown = |mistake: Mistake| mistake.show(&self.path, source);
        let scenario = document::read(source, &self.path).map_err(shown)?;
        let prepared = Prepared::new(scenario, &self.kinds, source).map_err(shown)?;
        let stacks = prepared.compiled(&self.programs).map_err(shown)?;
        let mut network = Network::new(stacks, prepared.plan(seed));
        match network.run(watch) {
            Ok(()) => Ok(network.outcome()),
            Err(Stuck::Stopped) => Err(Failure::refused("interrupted")),
            Err(Stuck::Instant { now_ns }) => Err(Failure::refused(format!(
                "endless loop at {now_ns} ns of virtual time"
            ))),
        }
    }
}
