//! What ends an abort, and what follows from it.

use super::outcome::{Code, Outcome};
use super::{Instant, Mode, Place};
use crate::simulate::process::Fault;
use crate::types::process::{Case, SignalId, StatementId};
use std::collections::BTreeSet;

/// What comes to end an abort.
struct Watched<'p> {
    /// Whether it is known.
    known: bool,
    /// What comes, or can come.
    comes: Vec<&'p Case>,
    /// Whether it can be that nothing comes.
    quiet: bool,
    /// What counts that are not decided yet could write, or look at.
    writes: BTreeSet<SignalId>,
}

impl<'p> Instant<'_, 'p> {
    pub(super) fn abort(
        &mut self,
        weak: bool,
        cases: &'p [Case],
        body: StatementId,
        mode: Mode,
        place: &mut Place,
    ) -> Result<Outcome, Fault> {
        let counts = cases.iter().filter_map(|case| case.delay.count);
        if !mode.resumes {
            for count in counts {
                if !mode.must || !self.act(count.begin, place)? {
                    // A count may wait for a value that a body emits which runs anyway.
                    let runs = weak || !cases.iter().any(|case| case.delay.immediate);
                    let inside = if runs { mode } else { mode.perhaps() };
                    let inner = self.evaluate(body, inside, place)?;
                    let mut watched = self.watch(cases, mode.perhaps(), place)?;
                    watched.writes.extend(self.could_write(count.begin));
                    return self.ended(weak, watched, inner, mode.perhaps(), place);
                }
            }
        }
        let watched = self.watch(cases, mode, place)?;
        let runs = weak || (watched.known && watched.quiet);
        let inside = match runs {
            true => mode,
            false => mode.perhaps(),
        };
        let inner = match weak || watched.quiet {
            true => self.evaluate(body, inside, place)?,
            false => Outcome::default(),
        };
        self.ended(weak, watched, inner, mode, place)
    }

    /// What comes to end an abort.
    fn watch(
        &mut self,
        cases: &'p [Case],
        mode: Mode,
        place: &Place,
    ) -> Result<Watched<'p>, Fault> {
        let mut watched = Watched {
            known: true,
            comes: Vec::new(),
            quiet: true,
            writes: BTreeSet::new(),
        };
        for case in cases {
            if !mode.resumes && !case.delay.immediate {
                continue;
            }
            let counts = case.delay.count;
            match (self.holds(&case.delay.test), counts) {
                (Some(false), _) => continue,
                (Some(true), None) => {
                    watched.comes.push(case);
                    watched.quiet = false;
                    break;
                }
                (Some(true), Some(count)) if mode.must && watched.known => {
                    if self.act(count.down, place)? {
                        if self.ask(count.over, place)? == Some(true) {
                            watched.comes.push(case);
                            watched.quiet = false;
                            break;
                        }
                        continue;
                    }
                    watched.known = false;
                }
                (Some(true), Some(_)) | (None, _) => watched.known = false,
            }
            if let Some(count) = counts {
                watched.writes.extend(self.could_write(count.down));
                watched.writes.extend(self.could_write(count.over));
            }
            watched.comes.push(case);
        }
        Ok(watched)
    }

    /// What follows from what comes, and from how the body completes.
    fn ended(
        &mut self,
        weak: bool,
        watched: Watched<'p>,
        mut inner: Outcome,
        mode: Mode,
        place: &mut Place,
    ) -> Result<Outcome, Fault> {
        inner.emits.extend(watched.writes);
        let decided = watched.known && mode.must;
        let aborts = match weak {
            true => {
                let ends = matches!(inner.must, Some(Code::Done | Code::Rests));
                ends && decided && !watched.quiet
            }
            false => decided && !watched.quiet,
        };
        let mut after: Option<Outcome> = None;
        for case in &watched.comes {
            let then = Mode {
                must: mode.must && aborts,
                resumes: false,
            };
            let then = self.evaluate(case.then, then, place)?;
            after = Some(match after {
                Some(after) => after.or(then),
                None => then,
            });
        }
        if aborts {
            let mut after = after.expect("something comes");
            after.emits.extend(inner.emits);
            return Ok(after);
        }
        if weak {
            let may_end = inner.can.iter().any(|code| !matches!(code, Code::Exits(_)));
            if !watched.quiet {
                inner.can.retain(|code| matches!(code, Code::Exits(_)));
            }
            if !decided {
                inner.must = None;
            }
            if let (Some(after), true) = (after, may_end) {
                let rests = inner.rests.clone();
                let scopes = inner.scopes.clone();
                let must = inner.must;
                inner = inner.or(after);
                (inner.must, inner.rests, inner.scopes) = (must, rests, scopes);
            }
            return Ok(inner);
        }
        if !decided {
            inner.must = None;
        }
        if let Some(after) = after {
            inner = inner.or(after);
        }
        Ok(inner)
    }
}
