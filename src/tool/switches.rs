//! How a stack is made faster: `--without`, `--only` and `--profile`, of every command that
//! compiles for people.
//!
//! In: names or letters of rewrites and names of passes of the stack IR, with commas between them;
//! files with profiles. Out: a set of rewrites, a set of passes, and what is known of the traffic.

use super::compiler::Options;
use super::failure::Failure;
use super::profile;
use crate::passes::Passes;
use crate::profile::Profile;
use crate::tree::rewrites::Rewrites;
use std::path::PathBuf;
use std::str::FromStr;

/// What the command line says of rewrites, and of what they go by.
#[derive(clap::Args, Clone, Debug, Default)]
pub struct Switches {
    /// Skips rewrites (names, letters) or passes; a wrong name lists all
    #[arg(long, value_name = "NAME,NAME", conflicts_with = "only")]
    without: Vec<Skipped>,
    /// Applies only these rewrites
    #[arg(long, value_name = "NAME,NAME")]
    only: Vec<Rewrites>,
    /// Forms at most N fast paths for each reaction, those that save most
    #[arg(long, value_name = "N")]
    fast_paths: Option<u32>,
    /// Gives up fast paths until the estimated text has no more bytes
    #[arg(long, value_name = "BYTES", value_parser = bytes, allow_negative_numbers = true)]
    text_limit: Option<u64>,
    /// Profile of `loom profile record`; counts of several files are added
    #[arg(long, value_name = "FILE")]
    profile: Vec<PathBuf>,
    /// Removes paths that the profile never took; `cut` counts their use
    #[arg(long, requires = "profile")]
    specialise: bool,
}

/// The names behind one `--without`.
#[derive(Clone, Copy, Debug)]
struct Skipped {
    rewrites: Rewrites,
    passes: Passes,
}

impl FromStr for Skipped {
    type Err = String;

    fn from_str(text: &str) -> Result<Skipped, String> {
        let none = Skipped {
            rewrites: Rewrites::NONE,
            passes: Passes::NONE,
        };
        let mut words = text.split(',').map(str::trim);
        words.try_fold(none, |all, word| all.and(word))
    }
}

impl Skipped {
    /// Adds a name: of a rewrite, or else of a pass. Behind `ir:` it is the name of a pass, since a
    /// rewrite and a pass may have the same name.
    fn and(self, word: &str) -> Result<Skipped, String> {
        let Skipped { rewrites, passes } = self;
        if let Some(pass) = word.strip_prefix("ir:") {
            let passes = passes.and(Passes::named(pass)?);
            return Ok(Skipped { rewrites, passes });
        }
        match (word.parse::<Rewrites>(), Passes::named(word)) {
            (Ok(rewrite), _) => Ok(Skipped {
                rewrites: rewrites.and(rewrite),
                passes,
            }),
            (Err(_), Ok(pass)) => Ok(Skipped {
                rewrites,
                passes: passes.and(pass),
            }),
            (Err(no_rewrite), Err(no_pass)) => Err(format!("{no_rewrite}; {no_pass}")),
        }
    }
}

/// A number of bytes, of which there is one at least.
fn bytes(text: &str) -> Result<u64, String> {
    match text.parse() {
        Ok(0) | Err(_) => Err(format!("a number of bytes from 1 to {}", u64::MAX)),
        Ok(bytes) => Ok(bytes),
    }
}

impl Switches {
    /// The rewrites that are done.
    pub fn rewrites(&self) -> Rewrites {
        let without = self.without.iter().map(|one| one.rewrites);
        match &self.only[..] {
            [] => Rewrites::ALL.without(without.fold(Rewrites::NONE, Rewrites::and)),
            only => only.iter().copied().fold(Rewrites::NONE, Rewrites::and),
        }
    }

    /// Returns the passes of the stack IR that `--without` does not skip, how many paths they form,
    /// and how much text.
    pub fn passes(&self) -> Passes {
        let without = self.without.iter().map(|one| one.passes);
        let passes = Passes::ALL.without(without.fold(Passes::NONE, Passes::and));
        let passes = passes.with_fast_paths(self.fast_paths);
        passes.with_text_limit(self.text_limit)
    }

    /// Returns how a stack is compiled then, whose layers are looked for there.
    pub fn options(&self, search: Vec<PathBuf>) -> Result<Options, Failure> {
        Ok(Options {
            search,
            rewrites: self.rewrites(),
            passes: self.passes(),
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
            (self.fast_paths.is_some(), "--fast-paths"),
            (self.text_limit.is_some(), "--text-limit"),
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
