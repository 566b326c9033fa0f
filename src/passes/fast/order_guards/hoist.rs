//! Hoists guards: what a fast function asks of its session alone is asked where the session is
//! found (code motion of anticipated expressions; Morel and Renvoise, 1979).
//!
//! In: fast functions. Out: exits whose conditions hang on the instance that a fast function finds,
//! or on the header alone (`session.rs`), stand in the block behind the search, if all ways ask
//! them. An exit that never changes in the life of the instance is asked there even if some ways do
//! not ask it, and of a flag and something else the flag alone is asked: flags are seldom set.
//!
//! ```text
//! %i = try find s(%k)                     %i = try find s(%k)
//! %n = read.be32 %v, 4                    exit a (ne (load s.state %i), 4)
//! exit a (ne (load s.state %i), 4)   =>   exit b (load s.closing %i)
//! exit b (and (load s.closing %i), %x)    %n = read.be32 %v, 4
//! ```

use crate::ir::effects::{Resource, may_trap};
use crate::ir::graph::Graph;
use crate::ir::op::Op;
use crate::ir::{BlockId, Function, Instruction, Module, Region, Terminator, Value};
use crate::passes::fast::session::Session;
use std::collections::{BTreeMap, BTreeSet};

/// Hoists the guards of a function; none if there is none to hoist.
pub fn hoisted(
    module: &Module,
    written: &BTreeSet<Resource>,
    function: &Function,
) -> Option<Function> {
    let hoist = Hoist(Session::of(module, function, written)?);
    let exits = hoist.exits();
    let first = exits.values().map(|exit| (exit.places[0], exit));
    let first: BTreeMap<Place, &Exit> = first.collect();
    if first.is_empty() {
        return None;
    }
    let mut new = function.clone();
    let removed = exits.values().flat_map(|exit| &exit.places);
    let removed: BTreeSet<Place> = removed.copied().collect();
    for (at, block) in new.blocks.iter_mut().enumerate() {
        let mut places = (0..).map(|place| (BlockId(at as u32), place));
        block
            .instructions
            .retain(|_| !removed.contains(&places.next().expect("there is always a next place")));
    }
    let done = hoist.0.found.done;
    // The bytes of the header that are read in that block are there at its end.
    let (of_instance, of_header): (Vec<_>, Vec<_>) = first
        .into_iter()
        .partition(|(_, exit)| hoist.0.is_of_instance(exit.bit));
    let of_instance = hoist.instructions(&mut new, &of_instance);
    let of_header = hoist.instructions(&mut new, &of_header);
    let own = &mut new.blocks[done.at()].instructions;
    own.splice(0..0, of_instance);
    own.extend(of_header);
    Some(new)
}

/// The block of an instruction, and its index there.
type Place = (BlockId, usize);

/// An exit that is hoisted.
struct Exit {
    /// The places where it stands.
    places: Vec<Place>,
    /// The bit that leaves.
    bit: Value,
}

/// A fast function whose guards are hoisted.
struct Hoist<'h>(Session<'h>);

impl Hoist<'_> {
    /// By what they ask: the exits that hang on the instance alone, and that stand on all ways to
    /// the search or behind it, or whose outcome never changes.
    fn exits(&self) -> BTreeMap<String, Exit> {
        let Session {
            function, found, ..
        } = &self.0;
        let graph = Graph::of(function);
        let graph = graph.expect("the verifier passes acyclic graphs alone");
        let mut all: BTreeMap<String, Exit> = BTreeMap::new();
        // By block: what is asked there or on all ways behind it; none of a block that only leaves.
        let mut asked: Vec<Option<BTreeSet<String>>> = vec![None; function.blocks.len()];
        for id in graph.order.iter().rev() {
            let block = function.block(*id);
            let is_before = graph.dominates(*id, found.block);
            if !is_before && !graph.dominates(found.done, *id) {
                continue;
            }
            let edges = block.terminator.edges().into_iter();
            let behind = edges.filter_map(|edge| asked[edge.block.at()].clone());
            let met = behind.reduce(|one, other| one.intersection(&other).cloned().collect());
            let ends = block.terminator.edges().is_empty();
            let leaves = matches!(block.terminator, Terminator::Never);
            let mut own = met.or((ends && !leaves).then(BTreeSet::new));
            for (at, instruction) in block.instructions.iter().enumerate() {
                let bit = matches!(instruction.op, Op::Exit(_)).then(|| instruction.operands[0]);
                let bit = bit.and_then(|bit| self.part(bit));
                let stays = |bit: &Value| match self.0.is_of_instance(*bit) {
                    true => is_before && (!found.only_found || self.protects(*bit, &graph)),
                    false => is_before || *id == found.done,
                };
                let Some(bit) = bit.filter(|bit| !stays(bit)) else {
                    continue;
                };
                let what = self.0.what(bit);
                let exit = all.entry(what.clone()).or_insert(Exit {
                    places: Vec::new(),
                    bit,
                });
                exit.places.push((*id, at));
                own.get_or_insert_with(BTreeSet::new).insert(what);
            }
            asked[id.at()] = own;
        }
        let anticipated = asked[found.done.at()].take().unwrap_or_default();
        all.retain(|what, exit| {
            let mut places = exit.places.iter();
            let is_before = places.any(|(id, _)| graph.dominates(*id, found.block));
            is_before || anticipated.contains(what) || self.0.is_fixed(exit.bit)
        });
        for exit in all.values_mut() {
            exit.places.sort_unstable();
        }
        all
    }

    /// The part of a condition that hangs on the instance alone: all of it, or a flag that has to
    /// be set for it.
    fn part(&self, bit: Value) -> Option<Value> {
        if self.0.definitions.constant(bit).is_some() {
            return None;
        }
        if self.0.is_of_instance(bit) || self.0.is_of_header(bit) {
            return Some(bit);
        }
        let bits = self.0.definitions.implied(bit, true).into_iter();
        let flags = bits.filter(|(bit, holds)| {
            let load = self.0.definitions.get(*bit);
            let is_load = load.is_some_and(|one| matches!(one.op, Op::Load(Region::Field(..))));
            *holds && is_load && self.0.is_of_instance(*bit)
        });
        flags.map(|(bit, _)| bit).next()
    }

    /// An exit before the search keeps an operation before it from a trap, such as a division by 0:
    /// it stays there.
    fn protects(&self, bit: Value, graph: &Graph) -> bool {
        let asked = self.parts(bit);
        let before = self.0.function.all_blocks();
        let mut before = before.filter(|(id, _)| graph.dominates(*id, self.0.found.block));
        before.any(|(_, block)| {
            let mut trapping = block.instructions.iter().filter(|one| may_trap(&one.op));
            trapping.any(|one| {
                let mut operands = one.operands.iter();
                operands.any(|operand| !self.parts(*operand).is_disjoint(&asked))
            })
        })
    }

    /// The keys, loads and answers on which a value hangs.
    fn parts(&self, value: Value) -> BTreeSet<Value> {
        let mut parts = BTreeSet::new();
        let mut seen = BTreeSet::new();
        let mut open = vec![value];
        while let Some(value) = open.pop() {
            if !seen.insert(value) {
                continue;
            }
            match self.0.definitions.get(value) {
                _ if self.0.found.keys.contains_key(&value) => {
                    parts.insert(value);
                }
                Some(one) if matches!(one.op, Op::Load(_) | Op::Ask(..)) => {
                    parts.insert(value);
                }
                Some(one) => open.extend(&one.operands),
                None => {}
            }
        }
        parts
    }

    /// Exits with all that they ask, computed anew.
    fn instructions(&self, new: &mut Function, exits: &[(Place, &Exit)]) -> Vec<Instruction> {
        let mut all = Vec::new();
        let mut known = BTreeMap::new();
        for ((id, at), exit) in exits {
            let mut instruction = self.0.function.block(*id).instructions[*at].clone();
            let leaves = self.copied(new, &mut known, &mut all, exit.bit);
            instruction.operands = vec![leaves];
            all.push(instruction);
        }
        all
    }

    /// A value behind the search, computed of the instance and what stands before.
    fn copied(
        &self,
        new: &mut Function,
        known: &mut BTreeMap<Value, Value>,
        all: &mut Vec<Instruction>,
        value: Value,
    ) -> Value {
        let found = &self.0.found;
        if value == found.instance || found.keys.contains_key(&value) {
            return value;
        }
        if let Some(known) = known.get(&value) {
            return *known;
        }
        let Some(instruction) = self.0.definitions.get(value) else {
            return value;
        };
        let mut copy = instruction.clone();
        for operand in &mut copy.operands {
            *operand = self.copied(new, known, all, *operand);
        }
        for result in &mut copy.results {
            let definition = new.values[result.at()].clone();
            new.values.push(definition);
            let own = Value(new.values.len() as u32 - 1);
            known.insert(std::mem::replace(result, own), own);
        }
        all.push(copy);
        known[&value]
    }
}
