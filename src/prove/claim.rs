//! Claims about two functions: that others see the same of both, or that a fast function that is
//! not left does what the other does.
//!
//! In: two functions. Out: a verdict. Parts of the outcomes that are the same term are equal; of
//! the others a solver is asked whether they can differ (translation validation; Pnueli, Siegel and
//! Singerman, 1998).

use super::counterexample::{Counterexample, Differing, described};
use super::naming::{Naming, Shown, constant};
use super::outcome::{Outcome, Part, outcome};
use super::reachable::{self, Reachable};
use super::script::{Answer, Search, answer, script};
use super::symbolic::{Cell, Symbolic, defaults, initial, unknown};
use super::terms::{Term, Terms};
use crate::ir::op::Compare;
use crate::ir::{FunctionId, Module};
use std::collections::{BTreeMap, BTreeSet};

/// A solver: the answer to a script of SMT-LIB, or the reason why there is none.
pub type Solver<'s> = dyn FnMut(&str) -> Result<String, String> + 's;

/// A message is shorter than this, and begins before.
const MOST_BYTES: u64 = 1 << 24;

/// A verdict about a function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Both do the same: the same terms.
    SameTerms,
    /// Both do the same: the solver finds no difference.
    Solved,
    /// They differ, for some inputs.
    Differs(Box<Counterexample>),
    /// Not known, for this reason.
    Undecided(String),
}

/// A function of a module.
#[derive(Clone, Copy)]
pub struct Side<'s> {
    /// The module.
    pub module: &'s Module,
    /// Names that both modules share.
    pub naming: &'s Naming,
    /// The function.
    pub id: FunctionId,
}

/// How two functions are compared.
pub struct How<'h> {
    /// Reactions that are executed where an event is handed on to them.
    pub followed: BTreeSet<String>,
    /// Parts that nobody sees.
    pub ignored: BTreeSet<Part>,
    /// True if a message has the attributes of one that nobody gave any.
    pub arrives: bool,
    /// Milliseconds for the solver.
    pub timeout_ms: u64,
    /// States in which a counterexample is searched first.
    pub states: &'h [Reachable],
}

/// Judges whether a function does what another does, unless a guard leaves it.
pub fn judge(before: Side<'_>, after: Side<'_>, how: &How<'_>, solver: &mut Solver<'_>) -> Verdict {
    let found = claim(before, after, how, solver);
    found.unwrap_or_else(Verdict::Undecided)
}

fn claim(
    before: Side<'_>,
    after: Side<'_>,
    how: &How<'_>,
    solver: &mut Solver<'_>,
) -> Result<Verdict, String> {
    let mut terms = Terms::default();
    let inputs = inputs(&mut terms, before, after, how.arrives)?;
    let [one, other] = [(before, &inputs.0), (after, &inputs.1)].map(|(side, given)| {
        let known = (side.module, side.naming);
        outcome(&mut terms, known, (side.id, given.clone()), &how.followed)
    });
    let (one, other) = (one?, other?);
    let pairs = pairs(&mut terms, before.module, (&one, &other), &how.ignored)?;
    let mut differs: BTreeMap<Part, Term> = BTreeMap::new();
    let mut wrong = one.left;
    for (part, (own, than)) in &pairs {
        let bit = terms.is_not(*own, *than);
        wrong = terms.or(wrong, bit);
        differs.insert(*part, bit);
    }
    for never in &other.never {
        let comes = terms.not(*never);
        wrong = terms.or(wrong, comes);
    }
    let stays = terms.not(other.left);
    wrong = terms.and(stays, wrong);
    wrong = terms.or(wrong, other.left_changed);
    if terms.constant(wrong) == Some(0) {
        return Ok(Verdict::SameTerms);
    }
    let assumed = one.assumed.iter().chain(&one.never).chain(&other.assumed);
    let mut bits: Vec<Term> = assumed.copied().collect();
    bits.extend(in_memory(&mut terms, &inputs.0));
    bits.push(wrong);
    let now = reachable::now(&mut terms, before.module);
    let given = (&inputs.0[..], now);
    let differing = Differing::new(&terms, &pairs, &differs, [&one, &other], given);
    let mut question = Question {
        terms,
        module: after.module,
        differing,
        bits,
        timeout_ms: how.timeout_ms,
    };
    let Some(found) = question.asked(solver)? else {
        return Ok(Verdict::Solved);
    };
    let found = question.in_states((found, &inputs.0), how.states, solver);
    let ordered = |part: &Part| {
        let is_ordered = matches!(
            part,
            Part::Next | Part::Cell(Cell::Resource(_) | Cell::Steps)
        );
        is_ordered && !is_field(*part)
    };
    // If the functions hand on different events, fields may differ for that reason alone.
    let is_doubtful = found.parts.contains(&Part::Next) || found.parts.iter().all(ordered);
    let mut doubts = one.doubts.iter().chain(&other.doubts);
    match doubts.next() {
        Some(doubt) if is_doubtful => Err(format!("{doubt} is not modelled")),
        _sure => Ok(Verdict::Differs(Box::new(found))),
    }
}

/// Bits that are 1 at once if two functions differ.
struct Question<'q> {
    terms: Terms,
    module: &'q Module,
    differing: Differing,
    bits: Vec<Term>,
    timeout_ms: u64,
}

impl Question<'_> {
    /// Asks the solver: a counterexample, or none if there is none.
    fn asked(&self, solver: &mut Solver<'_>) -> Result<Option<Counterexample>, String> {
        let first = self.ask((&[], Search::Plain), solver)?;
        let last = match first {
            Answer::Unknown(_) => self.ask((&[], Search::Contexts), solver)?,
            known => known,
        };
        match last {
            Answer::Never => Ok(None),
            Answer::Unknown(why) => Err(why),
            Answer::Found(found) => Ok(Some(self.described(&found))),
        }
    }

    /// Returns a counterexample in a state that is reached, if the solver finds one in time; else
    /// one with messages that a host can give; else the one that is known.
    fn in_states(
        &mut self,
        (known, given): (Counterexample, &[Symbolic]),
        states: &[Reachable],
        solver: &mut Solver<'_>,
    ) -> Counterexample {
        if states.is_empty() {
            return known;
        }
        let short = reachable::of_messages(&mut self.terms, self.module, given);
        for (at, state) in states.iter().enumerate() {
            let roots = self.bits.clone();
            let mut more = reachable::facts(&mut self.terms, self.module, state, &roots);
            more.extend(&short);
            if let Ok(Answer::Found(found)) = self.ask((&more, Search::Plain), solver) {
                return Counterexample {
                    state: Some(at),
                    ..self.described(&found)
                };
            }
        }
        match self.ask((&short, Search::Plain), solver) {
            Ok(Answer::Found(found)) => self.described(&found),
            Ok(Answer::Never | Answer::Unknown(_)) | Err(_) => known,
        }
    }

    fn ask(
        &self,
        (more, search): (&[Term], Search),
        solver: &mut Solver<'_>,
    ) -> Result<Answer, String> {
        let bits: Vec<Term> = self.bits.iter().chain(more).copied().collect();
        let asked = (&bits[..], &self.differing.asked[..]);
        let text = script(&self.terms, asked, search, self.timeout_ms);
        Ok(answer(&solver(&text)?))
    }

    fn described(&self, found: &[Option<u64>]) -> Counterexample {
        described(&self.terms, self.module, &self.differing, found)
    }
}

/// Returns true for a field of instances.
pub fn is_field(part: Part) -> bool {
    use crate::ir::Region;
    use crate::ir::effects::Resource;
    let Part::Cell(Cell::Resource(resource)) = part else {
        return false;
    };
    matches!(resource, Resource::Region(Region::Field(..)))
}

/// The terms for the parameters of two functions, by their arguments that count.
type Inputs = (Vec<Symbolic>, Vec<Symbolic>);

fn inputs(
    terms: &mut Terms,
    before: Side<'_>,
    after: Side<'_>,
    arrives: bool,
) -> Result<Inputs, String> {
    let shown = |side: Side<'_>| {
        let function = side.module.function(side.id);
        let known = side.naming.parameters.get(&function.name).cloned();
        let all = 0..function.parameters().len();
        known.unwrap_or_else(|| all.map(Shown::Given).collect())
    };
    let (one, other) = (shown(before), shown(after));
    if one.len() != other.len() {
        return Err("its parameters have changed".to_string());
    }
    let mut given: [BTreeMap<usize, Symbolic>; 2] = [BTreeMap::new(), BTreeMap::new()];
    let sides = [before, after];
    for (at, pair) in one.into_iter().zip(other).enumerate() {
        let pair = [pair.0, pair.1];
        let constants = pair.iter().find_map(|one| match one {
            Shown::Constant(op) => Some(op.clone()),
            Shown::Given(_) => None,
        });
        let known = constants.map(|op| Symbolic::Plain(constant(terms, &op)));
        for (number, shown) in pair.iter().enumerate() {
            if let Shown::Given(place) = shown {
                let named = (sides[0], at as u64);
                let value = parameter(terms, (sides[number], *place), named, arrives);
                given[number].insert(*place, known.clone().unwrap_or(value));
            }
        }
    }
    let all = [0, 1].map(|number| {
        let function = sides[number].module.function(sides[number].id);
        let places = 0..function.parameters().len();
        let values = places.map(|place| {
            let known = given[number].get(&place).cloned();
            let named = (sides[number], 100 + place as u64);
            let free = parameter(terms, (sides[number], place), named, arrives);
            known.unwrap_or(free)
        });
        values.collect::<Vec<Symbolic>>()
    });
    let [one, other] = all;
    Ok((one, other))
}

/// Returns a value that may be anything, by the name that the first function has for it.
fn parameter(
    terms: &mut Terms,
    (side, place): (Side<'_>, usize),
    (_, number): (Side<'_>, u64),
    arrives: bool,
) -> Symbolic {
    let function = side.module.function(side.id);
    let value = function.parameters()[place];
    let name = format!("argument {number}");
    let of = function.type_of(value);
    let found = unknown(terms, side.module, (&name, of), number);
    match found {
        Symbolic::Message(mut message) if arrives => {
            message.attributes = defaults(terms, side.module);
            Symbolic::Message(message)
        }
        other => other,
    }
}

/// Returns facts about messages and views that a function is given: they stand in memory, so no
/// sum of a start and a length wraps.
fn in_memory(terms: &mut Terms, given: &[Symbolic]) -> Vec<Term> {
    let most = terms.number(32, MOST_BYTES);
    let parts = given.iter().flat_map(|value| match value {
        Symbolic::Plain(_) => Vec::new(),
        Symbolic::Message(message) => vec![message.start, message.length],
        Symbolic::View(_, base, length) => vec![*base, *length],
    });
    let facts = parts.map(|part| terms.compare(Compare::Ult, part, most));
    facts.collect()
}

/// Returns the parts of two outcomes that are not the same term.
fn pairs(
    terms: &mut Terms,
    module: &Module,
    (one, other): (&Outcome, &Outcome),
    ignored: &BTreeSet<Part>,
) -> Result<BTreeMap<Part, (Term, Term)>, String> {
    let all: BTreeSet<Part> = one
        .parts
        .keys()
        .chain(other.parts.keys())
        .copied()
        .collect();
    let mut found = BTreeMap::new();
    for part in all.difference(ignored) {
        let mut of = |outcome: &Outcome| match (outcome.parts.get(part), part) {
            (Some(term), _) => *term,
            (None, Part::Cell(cell)) => initial(terms, module, *cell),
            (None, Part::Result(_) | Part::Next) => {
                terms.applied("nothing", &[], super::terms::Sort::Token)
            }
        };
        let pair = (of(one), of(other));
        if terms.sort(pair.0) != terms.sort(pair.1) {
            return Err("its results have changed".to_string());
        }
        if pair.0 != pair.1 {
            found.insert(*part, pair);
        }
    }
    Ok(found)
}
