//! Which rewrites are done: `--without` and `--only`, of every command that compiles for people.
//!
//! In: names or letters, with commas between them. Out: a set of rewrites.

use super::compiler::Options;
use super::failure::Failure;
use crate::tree::rewrites::Rewrites;
use std::path::PathBuf;

/// What the command line says of rewrites.
#[derive(clap::Args, Clone, Debug, Default)]
pub struct Switches {
    /// Leaves rewrites out, by name or letter; a wrong one lists them
    #[arg(long, value_name = "NAME,NAME", conflicts_with = "only")]
    without: Vec<Rewrites>,
    /// Does no rewrites but these
    #[arg(long, value_name = "NAME,NAME")]
    only: Vec<Rewrites>,
}

impl Switches {
    /// The rewrites that are done.
    pub fn rewrites(&self) -> Rewrites {
        let all = |sets: &[Rewrites]| sets.iter().copied().fold(Rewrites::NONE, Rewrites::and);
        match &self.only[..] {
            [] => Rewrites::ALL.without(all(&self.without)),
            only => all(only),
        }
    }

    /// How a stack is compiled then, whose layers are looked for there.
    pub fn options(&self, search: Vec<PathBuf>) -> Options {
        Options {
            search,
            rewrites: self.rewrites(),
            ..Options::default()
        }
    }

    /// Which option was given.
    pub fn given(&self) -> Option<&'static str> {
        match (&self.without[..], &self.only[..]) {
            ([], []) => None,
            ([], _) => Some("--only"),
            _ => Some("--without"),
        }
    }

    /// Refuses what would do nothing: Esterel has an automaton, which nobody weaves.
    pub fn of_stacks(&self) -> Result<(), Failure> {
        match self.given() {
            Some(option) => {
                let says = format!("{option} is for stacks; a program in Esterel has no layers");
                Err(Failure::environment(says))
            }
            None => Ok(()),
        }
    }
}
