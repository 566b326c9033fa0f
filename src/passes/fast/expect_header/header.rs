//! Values that hang on the header of a frame alone.
//!
//! In: a fast function for frames. Out: the exits and searches that such values decide, and the
//! bits of the header on which they hang.
//!
//! A value hangs on the header if it is computed of constants, values set at the start and numbers
//! at constant offsets of the frame. If the function searches one instance alone by such values,
//! those of its fields hang on the header, too, that the function does not write. A number
//! *varies* if it meets a value that is no such one, as a length meets the length of the frame.
//! Bits are followed no further: a flag meets anything. A number that names an instance in a
//! search, or that an exit demands to be one settled value, does not vary, though a checksum adds
//! it to a length.

use super::words::{Mask, Word};
use crate::ir::definitions::Definitions;
use crate::ir::effects::{Effects, Resource};
use crate::ir::graph::Graph;
use crate::ir::op::{Bits, Compare};
use crate::ir::{
    Attempt, BlockId, Function, Instruction, KindId, Module, Op, Region, Terminator, Type, Value,
};
use std::collections::{BTreeMap, BTreeSet};

/// A search whose keys hang on the header.
#[derive(Clone, Debug)]
pub struct Search {
    /// The instance that is found, if one is.
    pub instance: Value,
    /// The block that ends in it.
    pub block: BlockId,
    /// The kind.
    pub kind: KindId,
    /// The keys.
    pub keys: Vec<Value>,
}

/// The exits and searches of a fast function that hang on the header of its frame.
pub struct Header<'h> {
    /// The fast function.
    pub function: &'h Function,
    /// The instruction that gives each value.
    pub definitions: Definitions<'h>,
    /// The frame.
    pub message: Value,
    /// The bytes that a frame has on each way to a commit.
    pub length: u32,
    /// By block: the exits, by the index of their instruction. Those that a length of the frame
    /// decides say so.
    pub groups: BTreeMap<BlockId, Vec<(usize, Why)>>,
    /// The searches.
    pub searches: Vec<Search>,
    /// The words with all bits that decide something.
    pub words: Vec<Word>,
    /// By value: the first that is computed alike.
    alike: Vec<Value>,
    /// The bits that are asked on each way to a commit: the first of those alike.
    always: BTreeSet<Value>,
}

/// A reason for which an exit is decided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Why {
    /// The frame is as long as the header.
    Long,
    /// The header.
    Header,
}

/// Values that are under question.
struct Question<'q> {
    module: &'q Module,
    effects: &'q [Effects],
    function: &'q Function,
    definitions: &'q Definitions<'q>,
    message: Value,
    /// The instance that is found, if a function searches one alone, and by the header.
    own: Option<Value>,
    /// Everything that the function writes.
    written: BTreeSet<Resource>,
    /// Numbers that do not vary, though they meet others.
    pinned: BTreeSet<Value>,
    /// Numbers that vary.
    varying: BTreeSet<Value>,
    /// By value: whether it hangs on the header.
    known: BTreeMap<Value, bool>,
}

impl<'h> Header<'h> {
    /// Analyses a function; none if no exit and no search depends on the header alone.
    pub fn of(module: &Module, effects: &[Effects], function: &'h Function) -> Option<Header<'h>> {
        let is_message = |value: &&Value| function.type_of(**value) == Type::Message;
        let message = *function.parameters().iter().find(is_message)?;
        let definitions = Definitions::of(function);
        let mut question = Question {
            module,
            effects,
            function,
            definitions: &definitions,
            message,
            own: None,
            written: Effects::of_body(module, function).writes,
            pinned: BTreeSet::new(),
            varying: BTreeSet::new(),
            known: BTreeMap::new(),
        };
        question.pinned = question.pins();
        while question.find_varying() {}
        let length = question.length()?;
        // Other searches may ask fields of the instance: what they find hangs on more than these.
        let searches = question.searches(length);
        question.own = match &searches[..] {
            [only] => Some(only.instance),
            _several => None,
        };
        if question.own.is_some() {
            question.varying.clear();
            while question.find_varying() {}
        }
        let groups = question.groups(length);
        let mut mask = Mask::new(length);
        let exits = groups.iter().flat_map(|(id, own)| {
            let block = function.block(*id);
            let own = own.iter().filter(|(_, why)| *why == Why::Header);
            own.map(|(at, _)| block.instructions[*at].operands[0])
        });
        let keys = searches.iter().flat_map(|search| search.keys.clone());
        let decisive: Vec<Value> = exits.chain(keys).collect();
        for (_, (at, bits)) in question.reads(&decisive) {
            mask.add(at, bits);
        }
        let words = mask.words();
        let mut header = Header {
            alike: alike(function),
            always: BTreeSet::new(),
            function,
            definitions,
            message,
            length,
            groups,
            searches,
            words,
        };
        header.always = header.always();
        (!header.words.is_empty()).then_some(header)
    }

    /// The number of exits.
    pub fn exits(&self) -> usize {
        self.groups.values().map(Vec::len).sum()
    }

    /// The blocks with an answer of their own: their exits ask what other ways do not.
    pub fn answered(&self) -> impl Iterator<Item = BlockId> {
        let groups = self.groups.keys().copied();
        groups.filter(|id| *id != BlockId(0) && !self.asked(*id).is_empty())
    }

    /// The bits by which the exits of a block leave that has an answer of its own; of the first,
    /// those of exits that stand on all ways to commits.
    pub fn asked(&self, id: BlockId) -> Vec<Value> {
        if id == BlockId(0) {
            return self.always.iter().copied().collect();
        }
        let mut own = self.bits(id);
        own.retain(|bit| !self.always.contains(bit));
        own
    }

    /// The bits of [`Header::asked`] of the first block that stand in others.
    pub fn asked_behind(&self) -> Vec<Value> {
        let first = self.bits(BlockId(0));
        let mut all = self.asked(BlockId(0));
        all.retain(|bit| !first.contains(bit));
        all
    }

    /// The only search, if it stands on all ways to commits.
    pub fn own(&self) -> Option<&Search> {
        let [only] = &self.searches[..] else {
            return None;
        };
        let graph = Graph::of(self.function).expect("the verifier passes acyclic graphs alone");
        let Terminator::Try { done, .. } = &self.function.block(only.block).terminator else {
            panic!("a search is an attempt");
        };
        let mut blocks = self.function.all_blocks();
        let is_first =
            blocks.all(|(id, block)| block.commit().is_none() || graph.dominates(done.block, id));
        is_first.then_some(only)
    }

    /// The bits of [`Header::asked`] of the first block that hang on the header without the
    /// instance that a search finds.
    pub fn asked_without(&self, search: &Search) -> Vec<Value> {
        let mut all = self.asked(BlockId(0));
        all.retain(|bit| !self.asks_of(&[*bit], search));
        all
    }

    /// The others of these bits. First come those that hang on numbers of the header, too: where
    /// the instance is the one of the last frame, these numbers have changed.
    pub fn asked_of(&self, search: &Search) -> Vec<Value> {
        let mut all = self.asked(BlockId(0));
        all.retain(|bit| self.asks_of(&[*bit], search));
        all.sort_by_key(|bit| self.reads(&[*bit]).is_empty());
        all
    }

    /// The numbers of the header on which values hang, with their places.
    fn reads(&self, values: &[Value]) -> BTreeMap<Value, (u32, Bits)> {
        reads(&self.definitions, self.message, values, |_| true)
    }

    /// The bits by which all exits of a block leave that the header decides; of bits that are
    /// computed alike, the first.
    fn bits(&self, id: BlockId) -> Vec<Value> {
        let own = self.groups.get(&id).into_iter().flatten();
        let own = own.filter(|(_, why)| *why == Why::Header);
        let block = self.function.block(id);
        own.map(|(at, _)| self.alike[block.instructions[*at].operands[0].at()])
            .collect()
    }

    /// The bits that are asked on each way to a commit.
    fn always(&self) -> BTreeSet<Value> {
        let graph = Graph::of(self.function).expect("the verifier passes acyclic graphs alone");
        let blocks = self.function.all_blocks();
        let commits = blocks.filter(|(_, block)| block.commit().is_some());
        let asked = commits.map(|(commit, _)| {
            let before = self.groups.keys().copied();
            let before = before.filter(|id| graph.dominates(*id, commit));
            before
                .flat_map(|id| self.bits(id))
                .collect::<BTreeSet<Value>>()
        });
        let met = asked.reduce(|all, one| &all & &one);
        met.unwrap_or_default()
    }

    /// Some of these bits ask fields of the instance that a search finds.
    pub fn asks_of(&self, bits: &[Value], search: &Search) -> bool {
        let mut seen = BTreeSet::new();
        let mut open = bits.to_vec();
        while let Some(value) = open.pop() {
            if value == search.instance {
                return true;
            }
            if seen.insert(value) && self.place(value).is_none() {
                let instruction = self.definitions.get(value);
                open.extend(instruction.into_iter().flat_map(|one| &one.operands));
            }
        }
        false
    }

    /// The first value that is computed as another.
    pub fn first_alike(&self, value: Value) -> Value {
        self.alike[value.at()]
    }

    /// The place of a number in the header.
    pub fn place(&self, value: Value) -> Option<(u32, Bits)> {
        self.definitions.place(self.message, value)
    }
}

/// The numbers of a message on which values hang, with their places; others are not followed.
fn reads(
    definitions: &Definitions<'_>,
    message: Value,
    values: &[Value],
    goes_on: impl Fn(Value) -> bool,
) -> BTreeMap<Value, (u32, Bits)> {
    let mut found = BTreeMap::new();
    let mut seen = BTreeSet::new();
    let mut open = values.to_vec();
    while let Some(value) = open.pop() {
        if !goes_on(value) || !seen.insert(value) {
            continue;
        }
        match definitions.place(message, value) {
            Some(place) => {
                found.insert(value, place);
            }
            None => {
                let instruction = definitions.get(value);
                open.extend(instruction.into_iter().flat_map(|one| &one.operands));
            }
        }
    }
    found
}

/// By value: the first that is computed alike. A guard changes nothing, so what it loads twice is
/// the same.
fn alike(function: &Function) -> Vec<Value> {
    let mut first: Vec<Value> = (0..function.values.len() as u32).map(Value).collect();
    let mut known: BTreeMap<(String, Vec<Value>), Value> = BTreeMap::new();
    let graph = Graph::of(function).expect("the verifier passes acyclic graphs alone");
    for id in graph.order {
        let all = function.block(id).instructions.iter();
        for instruction in all.take_while(|one| one.op != Op::Commit) {
            if let [result] = instruction.results[..] {
                let operands = instruction.operands.iter();
                let operands = operands.map(|one| first[one.at()]).collect();
                let what = (format!("{:?}", instruction.op), operands);
                first[result.at()] = *known.entry(what).or_insert(result);
            }
        }
    }
    first
}

impl Question<'_> {
    /// Finds numbers that meet values which do not hang on the header. False if all are found.
    fn find_varying(&mut self) -> bool {
        self.known.clear();
        let before = self.varying.len();
        let function = self.function;
        for instruction in function.instructions() {
            let meets = match &instruction.op {
                Op::With(_)
                | Op::Write(_)
                | Op::Store(_)
                | Op::Recompute(_)
                | Op::Exit(_)
                | Op::Queue(..)
                | Op::Output(_)
                | Op::Read(_)
                | Op::ReadBytes(_)
                | Op::ReadPart(_) => false,
                _ => !instruction.results.iter().all(|one| self.hangs(*one)),
            };
            if meets && !self.asks_length(instruction) {
                self.vary(&instruction.operands);
            }
        }
        self.varying.len() != before
    }

    fn vary(&mut self, operands: &[Value]) {
        let wide = |value: &Value| self.function.type_of(*value) != Type::BIT;
        let operands: Vec<Value> = operands.iter().copied().filter(wide).collect();
        let hang: Vec<Value> = operands
            .into_iter()
            .filter(|one| self.hangs(*one))
            .collect();
        let mut reads = self.reads_of_numbers(&hang);
        reads.retain(|read| !self.pinned.contains(read));
        self.varying.extend(reads);
    }

    /// The numbers that searches and exits pin.
    fn pins(&mut self) -> BTreeSet<Value> {
        let function = self.function;
        let mut pins = BTreeSet::new();
        for block in &function.blocks {
            if let Terminator::Try {
                attempt: Attempt::Find(_),
                operands,
                ..
            } = &block.terminator
            {
                pins.extend(operands);
            }
            let instructions = block.instructions.iter();
            for exit in instructions.filter(|one| matches!(one.op, Op::Exit(_))) {
                let asked = self.definitions.get(exit.operands[0]);
                let asked = asked.filter(|asked| asked.op == Op::Compare(Compare::Ne));
                let Some([one, other]) = asked.map(|asked| &asked.operands[..]) else {
                    continue;
                };
                let pinned = [(one, other), (other, one)].into_iter();
                pins.extend(
                    pinned
                        .filter(|(_, by)| self.is_settled(**by))
                        .map(|(one, _)| *one),
                );
            }
        }
        pins
    }

    /// A value is computed of constants and values set at the start alone.
    fn is_settled(&mut self, value: Value) -> bool {
        self.hangs(value) && self.reads(&[value]).is_empty()
    }

    /// A value hangs on the header alone.
    fn hangs(&mut self, value: Value) -> bool {
        if let Some(known) = self.known.get(&value) {
            return *known;
        }
        let found = self.is_of_header(value);
        self.known.insert(value, found);
        found
    }

    fn is_of_header(&mut self, value: Value) -> bool {
        if self.definitions.place(self.message, value).is_some() {
            return !self.varying.contains(&value);
        }
        let Some(instruction) = self.definitions.get(value) else {
            return false;
        };
        let own = self
            .own
            .filter(|own| instruction.operands.first() == Some(own));
        let (is_settled, rest) = match &instruction.op {
            Op::Load(Region::Setting(_)) => (true, &instruction.operands[..]),
            // A guard before may say that the index of an element is in range.
            Op::Load(Region::Field(..)) if instruction.operands.len() > 1 => (false, &[][..]),
            op @ (Op::Load(Region::Field(..)) | Op::Ask(..)) if own.is_some() => {
                (self.stays(op), &instruction.operands[1..])
            }
            Op::Call(id) => (
                self.effects[id.at()].only_read_settings(),
                &instruction.operands[..],
            ),
            op => (op.is_total(), &instruction.operands[..]),
        };
        is_settled && rest.iter().all(|one| self.hangs(*one))
    }

    /// The function does not write what an operation reads.
    fn stays(&self, op: &Op) -> bool {
        let effects = Effects::of(self.module, op);
        let mut reads = effects.reads.iter();
        reads.all(|one| !self.written.contains(one))
    }

    /// An instruction compares the length of the frame with a constant.
    fn asks_length(&self, instruction: &Instruction) -> bool {
        self.least_length(instruction).is_some()
    }

    /// The length with which a frame passes a comparison of its length with a constant.
    fn least_length(&self, instruction: &Instruction) -> Option<u64> {
        if instruction.op != Op::Compare(Compare::Ult) {
            return None;
        }
        let length = self.definitions.get(instruction.operands[0])?;
        let is_own = length.op == Op::Length && length.operands == [self.message];
        let least = self.definitions.constant(instruction.operands[1])?;
        is_own.then_some(least)
    }

    /// The values that are read from the header, with their places, on which others hang.
    fn reads(&self, values: &[Value]) -> BTreeMap<Value, (u32, Bits)> {
        reads(self.definitions, self.message, values, |_| true)
    }

    /// The same, but no bit is followed.
    fn reads_of_numbers(&self, values: &[Value]) -> Vec<Value> {
        let wide = |value: Value| self.function.type_of(value) != Type::BIT;
        reads(self.definitions, self.message, values, wide)
            .into_keys()
            .collect()
    }

    /// The bytes of a frame that are read at least on each way to a commit.
    fn length(&self) -> Option<u32> {
        let graph = Graph::of(self.function).expect("the verifier passes acyclic graphs alone");
        let mut at_begin: Vec<Option<u32>> = vec![None; self.function.blocks.len()];
        let mut least: Option<u32> = None;
        for id in graph.order {
            let block = self.function.block(id);
            let mut reach = at_begin[id.at()].unwrap_or(0);
            let mut commits = false;
            for instruction in &block.instructions {
                commits |= instruction.op == Op::Commit;
                if !commits {
                    reach = reach.max(self.end(instruction));
                }
            }
            if commits {
                least = Some(least.map_or(reach, |least| least.min(reach)));
            }
            for edge in block.terminator.edges() {
                let place = &mut at_begin[edge.block.at()];
                *place = Some(place.map_or(reach, |other| other.min(reach)));
            }
        }
        least.filter(|least| *least > 0)
    }

    /// The end of what an instruction reads or shows of the frame, at an offset that is constant.
    fn end(&self, instruction: &Instruction) -> u32 {
        let number = |at: usize| {
            let number = self.definitions.constant(*instruction.operands.get(at)?)?;
            u32::try_from(number).ok()
        };
        let end = match instruction.op {
            Op::Read(_) => {
                let read = self.definitions.place(self.message, instruction.results[0]);
                read.map(|(at, bits)| at + bits.bytes())
            }
            Op::SubView => {
                let whole = self.definitions.get(instruction.operands[0]);
                let is_frame =
                    whole.is_some_and(|one| one.op == Op::Look && one.operands == [self.message]);
                let end = number(1).zip(number(2)).map(|(at, length)| at + length);
                end.filter(|_| is_frame)
            }
            _ => None,
        };
        end.unwrap_or(0)
    }

    /// All numbers on which a value hangs stand within the header.
    fn is_within(&self, values: &[Value], length: u32) -> bool {
        let reads = self.reads(values);
        reads.values().all(|(at, bits)| at + bits.bytes() <= length)
    }

    fn groups(&mut self, length: u32) -> BTreeMap<BlockId, Vec<(usize, Why)>> {
        let mut groups: BTreeMap<BlockId, Vec<(usize, Why)>> = BTreeMap::new();
        let function = self.function;
        for (id, block) in function.all_blocks() {
            for (at, instruction) in block.instructions.iter().enumerate() {
                if !matches!(instruction.op, Op::Exit(_)) {
                    continue;
                }
                let bit = instruction.operands[0];
                let asked = self.definitions.get(bit);
                let least = asked.and_then(|asked| self.least_length(asked));
                let why = if least.is_some_and(|least| least <= length.into()) {
                    Why::Long
                } else if self.hangs(bit)
                    && self.definitions.constant(bit).is_none()
                    && self.is_within(&[bit], length)
                {
                    Why::Header
                } else {
                    continue;
                };
                groups.entry(id).or_default().push((at, why));
            }
        }
        groups
    }

    /// The searches of the guard whose keys hang on the header. An operation behind a commit may
    /// find an instance that was made there.
    fn searches(&mut self, length: u32) -> Vec<Search> {
        let mut found = Vec::new();
        let function = self.function;
        let commits = function.all_blocks();
        let commits = commits.filter(|(_, block)| block.commit().is_some());
        let done = commits.flat_map(|(id, _)| function.behind(id));
        let done: BTreeSet<BlockId> = done.collect();
        for (id, block) in function.all_blocks().filter(|(id, _)| !done.contains(id)) {
            if let Terminator::Try {
                attempt: Attempt::Find(kind),
                operands,
                done,
                ..
            } = &block.terminator
                && let Some(instance) = function.block(done.block).parameters.last()
                && operands.iter().all(|one| self.hangs(*one))
                && self.is_within(operands, length)
            {
                found.push(Search {
                    instance: *instance,
                    block: id,
                    kind: *kind,
                    keys: operands.clone(),
                });
            }
        }
        found
    }
}
