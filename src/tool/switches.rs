//! How a stack is made faster: `--without`, `--only` and `--profile`, of every command that
//! compiles for people.
//!
//! In: names or letters of rewrites, with commas between them; files with profiles. Out: a set of
//! rewrites, and what is known of the traffic.

use super::compiler::Options;
use super::failure::Failure;
use super::profile;
use crate::profile::Profile;
use crate::tree::rewrites::Rewrites;
use std::path::PathBuf;

/// What the command line says of rewrites, and of what they go by.
#[derive(clap::Args, Clone, Debug, Default)]
pub struct Switches {
    /// Skips these rewrites (names or letters); an unknown name lists all
    #[arg(long, value_name = "NAME,NAME", conflicts_with = "only")]
    without: Vec<Rewrites>,
    /// Applies only these rewrites
    #[arg(long, value_name = "NAME,NAME")]
    only: Vec<Rewrites>,
    /// Profile of `loom profile record`; counts of several files are added
    #[arg(long, value_name = "FILE")]
    profile: Vec<PathBuf>,
    /// Removes paths that the profile never took; `cut` counts their use
    #[arg(long, requires = "profile")]
    specialise: bool,
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
    pub fn options(&self, search: Vec<PathBuf>) -> Result<Options, Failure> {
        Ok(Options {
            search,
            rewrites: self.rewrites(),
            profile: self.profile()?,
            specialised: self.specialise,
            ..Options::default()
        })
    }

    /// What is known of the traffic: what all these files say, or the sources.
    fn profile(&self) -> Result<Profile, Failure> {
        let Some((first, others)) = self.profile.split_first() else {
            return Ok(Profile::Default);
        };
        let first = profile::read(first)?;
        let all = others.iter().try_fold(first, |all, path| {
            let all = all.and(&profile::read(path)?);
            all.map_err(|why| Failure::refused(format!("{}: {why}", path.display())))
        })?;
        Ok(Profile::Recorded(all))
    }

    /// Which option was given.
    pub fn given(&self) -> Option<&'static str> {
        let given = [
            (!self.without.is_empty(), "--without"),
            (!self.only.is_empty(), "--only"),
            (!self.profile.is_empty(), "--profile"),
        ];
        given.iter().find(|(is, _)| *is).map(|(_, option)| *option)
    }

    /// Refuses what would do nothing: Esterel has an automaton, which nobody weaves.
    pub fn of_stacks(&self) -> Result<(), Failure> {
        match self.given() {
            Some(option) => {
                let says =
                    format!("{option} applies to stacks only; an Esterel program has no layers");
                Err(Failure::environment(says))
            }
            None => Ok(()),
        }
    }
}
