//! States that a stack is known to reach: counterexamples are searched in them first, so that a
//! host can show the difference.
//!
//! In: such a state, and terms. Out: bits that are 1 in this state. Fields, settings and the
//! existence of instances are given; containers, timers and the agenda may be anything.

use super::symbolic::{Cell, Symbolic, initial};
use super::terms::{Node, Operator, Term, Terms};
use crate::ir::effects::Resource;
use crate::ir::op::Compare;
use crate::ir::{FieldId, KindId, Module, Op, Region, SettingId, Stored};
use crate::prove::counterexample::MOST_LENGTH;
use crate::prove::naming::constant;
use std::collections::{BTreeMap, BTreeSet};

/// Elements of a field that are given, at most: of a longer one nothing is said.
pub const MOST_ELEMENTS: usize = 64;

/// A counterexample is searched within this time after the state was state.
const SOON_NS: u64 = 1 << 40;

/// An element of a field: its place, that is the index of the instance and those of arrays, and
/// what it holds, a number or bytes.
pub type Element = (Vec<u32>, Op);

/// A state.
#[derive(Clone, Debug, Default)]
pub struct Reachable {
    /// By kind, the instances that have a state; a kind that is not listed may have any.
    pub live: BTreeMap<KindId, BTreeSet<u32>>,
    /// By field, elements.
    pub fields: BTreeMap<(KindId, FieldId), Vec<Element>>,
    /// Settings, as numbers or bytes.
    pub settings: BTreeMap<SettingId, Op>,
    /// The time, in nanoseconds.
    pub now_ns: u64,
}

/// Returns the bits that are 1 in a state, as far as some terms depend on it.
pub fn facts(terms: &mut Terms, module: &Module, state: &Reachable, roots: &[Term]) -> Vec<Term> {
    let (mut fields, mut lives) = (BTreeMap::new(), BTreeMap::new());
    for (kind, table) in (0..).map(KindId).zip(&module.kinds) {
        lives.insert(initial(terms, module, Cell::Live(kind)), kind);
        for (field, one) in (0..).map(FieldId).zip(&table.fields) {
            if matches!(one.stored, Stored::Value(_)) {
                let region = Resource::Region(Region::Field(kind, field));
                let array = initial(terms, module, Cell::Resource(region));
                fields.insert(array, (kind, field));
            }
        }
    }
    let mut bits = Vec::new();
    for term in terms.below(roots) {
        let Node::Built(Operator::Select, operands) = terms.node(term) else {
            continue;
        };
        let (array, index) = (operands[0], operands[1]);
        let known = fields.get(&array).and_then(|one| state.fields.get(one));
        for (place, held) in known.into_iter().flatten() {
            bits.push(element(terms, (term, index), place, held));
        }
        if let Some(live) = lives.get(&array).and_then(|kind| state.live.get(kind)) {
            bits.push(existence(terms, (term, index), live));
        }
    }
    for (setting, held) in &state.settings {
        let region = Resource::Region(Region::Setting(*setting));
        let own = initial(terms, module, Cell::Resource(region));
        let held = constant(terms, held);
        if terms.sort(own) == terms.sort(held) {
            bits.push(terms.equal(own, held));
        }
    }
    let now = now(terms, module);
    let first = terms.number(64, state.now_ns);
    let last = terms.number(64, state.now_ns.saturating_add(SOON_NS));
    bits.push(terms.compare(Compare::Ule, first, now));
    bits.push(terms.compare(Compare::Ule, now, last));
    bits
}

/// Returns the time as it is at the start of a function.
pub fn now(terms: &mut Terms, module: &Module) -> Term {
    let region = Resource::Region(Region::Now);
    initial(terms, module, Cell::Resource(region))
}

/// Returns the bit that an element holds this, if it is at this place.
fn element(terms: &mut Terms, (own, index): (Term, Term), place: &[u32], held: &Op) -> Term {
    let place: Vec<Term> = place
        .iter()
        .map(|at| terms.number(32, (*at).into()))
        .collect();
    let place = terms.concat(&place);
    let held = constant(terms, held);
    if terms.sort(own) != terms.sort(held) || terms.sort(index) != terms.sort(place) {
        return terms.bit(true);
    }
    let is_there = terms.equal(index, place);
    let is_held = terms.equal(own, held);
    terms.implies(is_there, is_held)
}

/// Returns the bit that an instance has a state exactly if it is one of these.
fn existence(terms: &mut Terms, (own, index): (Term, Term), live: &BTreeSet<u32>) -> Term {
    let mut any = terms.bit(false);
    for one in live {
        let one = terms.number(32, (*one).into());
        let same = terms.equal(index, one);
        any = terms.or(any, same);
    }
    terms.equal(own, any)
}

/// Returns facts about messages that a host can give: they are short, and stand behind the room
/// for headers.
pub fn of_messages(terms: &mut Terms, module: &Module, given: &[Symbolic]) -> Vec<Term> {
    let most = terms.number(32, MOST_LENGTH.min(module.memory.room.into()));
    let headroom = terms.number(32, module.headroom.into());
    let mut bits = Vec::new();
    for value in given {
        if let Symbolic::Message(message) = value {
            bits.push(terms.compare(Compare::Ule, message.length, most));
            bits.push(terms.equal(message.start, headroom));
        }
    }
    bits
}
