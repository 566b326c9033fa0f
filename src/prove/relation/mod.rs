//! Functions of two modules that are compared, and verdicts about all that a pass has changed.
//!
//! In: a module before and behind a pass. Out: a verdict for each function that others than calls
//! start, if its text has changed or that of one that it executes. A fast function is compared with
//! the one before it, or with the slow function for which it stands. If two functions differ, they
//! are compared once more without what nobody reads: fields (`observed.rs`) and attributes.
//!
//! ```text
//! caches.rs        results that caches always hold
//! functions.rs     functions that have changed, and those that execute them
//! parameters.rs    parameters that a pass has removed
//! observed.rs      fields and attributes that somebody reads
//! ```

mod caches;
mod functions;
mod observed;
mod parameters;

use super::claim::{How, Side, Solver, Verdict, judge};
use super::counterexample::Counterexample;
use super::naming::Naming;
use super::outcome::Part;
use super::reachable::Reachable;
use crate::ir::text::write_function;
use crate::ir::{FunctionId, Module, Role};
use functions::Functions;
use observed::Observed;
use std::collections::BTreeSet;

/// A function, and the verdict about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Judged {
    /// Its name.
    pub function: String,
    /// The reaction before which it is tried, if it is a fast function; else its name before.
    pub reaction: String,
    /// The verdict.
    pub verdict: Verdict,
}

/// Two modules that are compared.
struct Relation<'r> {
    modules: [&'r Module; 2],
    functions: Functions,
    namings: [Naming; 2],
    observed: Option<Observed>,
    asked: Asked<'r>,
}

/// Questions to the solver.
#[derive(Clone, Copy, Debug)]
pub struct Asked<'a> {
    /// Milliseconds for each.
    pub timeout_ms: u64,
    /// States in which a counterexample is searched first.
    pub states: &'a [Reachable],
}

/// Compares all functions that a pass has changed. Tells the name of each before, and leaves it
/// undecided if the answer is false: no time is left.
pub fn prove(
    before: &Module,
    after: &Module,
    asked: Asked<'_>,
    solver: &mut Solver<'_>,
    goes_on: &mut dyn FnMut(&str) -> bool,
) -> Vec<Judged> {
    if let Some(why) = functions::tables_differ(before, after) {
        let function = "its tables".to_string();
        return vec![Judged {
            reaction: function.clone(),
            function,
            verdict: Verdict::Undecided(why),
        }];
    }
    let mut relation = Relation::new(before, after, asked);
    let mut judged = Vec::new();
    for id in (0..after.functions.len() as u32).map(FunctionId) {
        let function = after.function(id);
        if !relation.functions.are_judged.contains(&function.name) {
            continue;
        }
        let verdict = match before.named(&function.name) {
            _ if !goes_on(&function.name) => Some(no_time()),
            Some(own) if function.role == Role::Fast => relation.fast(Some(own), id, solver),
            Some(own) => Some(relation.same(own, id, solver)),
            None if function.role == Role::Fast => relation.fast(None, id, solver),
            None => None,
        };
        let reaction = slow(after, id).unwrap_or(id);
        judged.extend(verdict.map(|verdict| Judged {
            function: function.name.clone(),
            reaction: after.function(reaction).name.clone(),
            verdict,
        }));
    }
    judged.extend(relation.folded(solver, goes_on));
    judged
}

/// Searches a counterexample for a reaction, by its name, with all reactions that it leads to: a
/// difference in one of those may show from there.
pub fn from_outside(
    before: &Module,
    after: &Module,
    name: &str,
    asked: Asked<'_>,
    solver: &mut Solver<'_>,
) -> Option<Counterexample> {
    let (own, id) = (before.named(name)?, after.named(name)?);
    let mut relation = Relation::new(before, after, asked);
    let reactions = [before, after].into_iter().flat_map(|one| &one.functions);
    let reactions = reactions.filter(|one| one.role == Role::Reaction);
    relation.functions.followed = reactions.map(|one| one.name.clone()).collect();
    match relation.same(own, id, solver) {
        Verdict::Differs(found) => Some(*found),
        Verdict::SameTerms | Verdict::Solved | Verdict::Undecided(_) => None,
    }
}

impl<'r> Relation<'r> {
    fn new(before: &'r Module, after: &'r Module, asked: Asked<'r>) -> Relation<'r> {
        let mut relation = Relation {
            namings: parameters::namings(before, after),
            functions: Functions::of(before, after),
            modules: [before, after],
            observed: None,
            asked,
        };
        for (naming, module) in relation.namings.iter_mut().zip(relation.modules) {
            naming.always = caches::always(module, naming);
        }
        relation
    }

    fn how(&self, id: FunctionId, followed: BTreeSet<String>) -> How<'r> {
        let name = &self.modules[1].function(id).name;
        How {
            followed,
            ignored: BTreeSet::new(),
            arrives: self.functions.arrive.contains(name),
            timeout_ms: self.asked.timeout_ms,
            states: self.asked.states,
        }
    }

    /// Compares a function with the one of the same name before.
    fn same(&mut self, own: FunctionId, id: FunctionId, solver: &mut Solver<'_>) -> Verdict {
        let how = self.how(id, self.functions.followed.clone());
        self.compared(([0, 1], own), id, how, solver)
    }

    /// Compares a fast function with the one before the pass, or with the one from which the pass
    /// has taken its ways; or else with the slow one.
    fn fast(
        &mut self,
        own: Option<FunctionId>,
        id: FunctionId,
        solver: &mut Solver<'_>,
    ) -> Option<Verdict> {
        let whole = || {
            let mut all = self.modules[1].functions.iter();
            let next = all.find(|one| one.fast == Some(id) && one.role == Role::Fast)?;
            self.modules[0].named(&next.name)
        };
        let own = own.or_else(whole);
        let found = own.map(|own| self.same(own, id, solver));
        if matches!(found, Some(Verdict::SameTerms | Verdict::Solved)) {
            return found;
        }
        let after = self.modules[1];
        let slow = slow(after, id)?;
        let reactions = after.functions.iter();
        let reactions = reactions.filter(|one| one.role == Role::Reaction);
        let followed = reactions.map(|one| one.name.clone()).collect();
        let how = self.how(id, followed);
        let other = self.compared(([1, 1], slow), id, how, solver);
        Some(match (found, other) {
            (_, proved @ (Verdict::SameTerms | Verdict::Solved)) => proved,
            (Some(found), _) => found,
            (None, other) => other,
        })
    }

    /// Compares two functions; if they differ, once more without what nobody reads.
    fn compared(
        &mut self,
        (sides, own): ([usize; 2], FunctionId),
        id: FunctionId,
        mut how: How<'_>,
        solver: &mut Solver<'_>,
    ) -> Verdict {
        let found = self.judged((sides, own), id, &how, solver);
        if !matches!(found, Verdict::Differs(..)) {
            return found;
        }
        let observed = self.observed.take();
        let observed = observed.unwrap_or_else(|| Observed::of(self.modules[1], &self.namings[1]));
        how.ignored.clone_from(&observed.hidden);
        for naming in &mut self.namings {
            naming.attributes.clone_from(&observed.attributes);
        }
        self.observed = Some(observed);
        let again = self.judged((sides, own), id, &how, solver);
        let differs = matches!(again, Verdict::Differs(..));
        let without = differs.then(|| self.without_attributes((sides, own), id, &how, solver));
        for naming in &mut self.namings {
            naming.attributes.clear();
        }
        match (again, without) {
            (Verdict::Differs(..), Some(Verdict::SameTerms | Verdict::Solved)) => {
                let why = "attributes of messages that wait are not modelled";
                Verdict::Undecided(why.to_string())
            }
            (Verdict::SameTerms, _) => Verdict::Solved,
            (other, _) => other,
        }
    }

    /// Compares two functions without the attributes of messages that they pass on or keep.
    fn without_attributes(
        &mut self,
        (sides, own): ([usize; 2], FunctionId),
        id: FunctionId,
        how: &How<'_>,
        solver: &mut Solver<'_>,
    ) -> Verdict {
        for naming in &mut self.namings {
            naming.with_attributes = false;
            naming.attributes.clear();
        }
        let found = self.judged((sides, own), id, how, solver);
        for naming in &mut self.namings {
            naming.with_attributes = true;
        }
        found
    }

    fn judged(
        &self,
        (sides, own): ([usize; 2], FunctionId),
        id: FunctionId,
        how: &How<'_>,
        solver: &mut Solver<'_>,
    ) -> Verdict {
        let side = |at: usize, id: FunctionId| Side {
            module: self.modules[at],
            naming: &self.namings[at],
            id,
        };
        judge(side(sides[0], own), side(sides[1], id), how, solver)
    }

    /// Judges functions that are gone: another one stands for each.
    fn folded(
        &mut self,
        solver: &mut Solver<'_>,
        goes_on: &mut dyn FnMut(&str) -> bool,
    ) -> Vec<Judged> {
        let [before, after] = self.modules;
        let mut judged = Vec::new();
        for (at, function) in before.functions.iter().enumerate() {
            let name = &function.name;
            let other = self.namings[0].names.get(name).cloned();
            let Some(other) = other.filter(|_| after.named(name).is_none()) else {
                continue;
            };
            let id = after.named(&other).expect("it stands for another");
            let verdict = match goes_on(name) {
                true => self.same(FunctionId(at as u32), id, solver),
                false => no_time(),
            };
            let function = format!("{name}, as {other}");
            let reaction = name.clone();
            judged.push(Judged {
                function,
                reaction,
                verdict,
            });
        }
        judged
    }
}

fn no_time() -> Verdict {
    Verdict::Undecided("no time was left".to_string())
}

/// Returns the reaction before which a fast function is tried, perhaps by way of another one.
fn slow(module: &Module, id: FunctionId) -> Option<FunctionId> {
    let mut all = module.functions.iter();
    let next = FunctionId(all.position(|one| one.fast == Some(id))? as u32);
    match module.function(next).role {
        Role::Fast => slow(module, next),
        Role::Plain | Role::Pure | Role::Reaction | Role::Entry => Some(next),
    }
}

/// Returns the text of a function by its name, if there is one.
fn text(module: &Module, name: &str) -> Option<String> {
    Some(write_function(module, module.named(name)?))
}

/// Returns all parts that are fields of a module.
fn fields(module: &Module) -> BTreeSet<Part> {
    use super::symbolic::Cell;
    use crate::ir::effects::Resource;
    use crate::ir::{FieldId, KindId, Region, Stored};
    let mut all = BTreeSet::new();
    for (kind, table) in (0..).map(KindId).zip(&module.kinds) {
        for (field, one) in (0..).map(FieldId).zip(&table.fields) {
            if matches!(one.stored, Stored::Value(_)) {
                let region = Resource::Region(Region::Field(kind, field));
                all.insert(Part::Cell(Cell::Resource(region)));
            }
        }
    }
    all
}
