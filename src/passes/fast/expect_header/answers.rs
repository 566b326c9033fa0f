//! The function that a cache of headers remembers.
//!
//! In: what hangs on a header. Out: a pure function of the words of the header. It returns whether
//! no exit of the first block leaves, the same for each other block with exits, and for each search
//! the index that it finds. If a cache of each instance remembers the function, it is given the
//! instance, and answers no search.

use super::header::{Header, Search};
use super::words::{Word, number};
use crate::ir::build::Builder;
use crate::ir::op::{Arithmetic, Compare, Op};
use crate::ir::{
    Attempt, BlockId, Edge, Function, Module, Probability, Role, Terminator, Type, Value,
};
use std::collections::BTreeMap;

/// The index that stands for no instance.
pub const NONE: u64 = u32::MAX as u64;

/// The function. For a cache of instances, its first parameter is the instance, and its first
/// result says, too, that the search `own` finds just that one.
pub fn function(
    module: &Module,
    header: &Header<'_>,
    own: Option<&Search>,
    name: &str,
) -> Function {
    let mut parameters: Vec<(Type, &str)> = Vec::new();
    parameters.extend(own.map(|search| (Type::Instance(search.kind), "own")));
    let words = header.words.iter();
    parameters.extend(words.map(|word| (Type::Int(word.width()), "word")));
    let owner = &header.function.owner;
    let mut build = Builder::new(name, owner, Role::Pure, &parameters);
    let words = header.words.iter().enumerate();
    let words = words.map(|(at, word)| (*word, build.parameter(usize::from(own.is_some()) + at)));
    let mut copies = Copies::new(module, header, Source::Words(words.collect()));
    let asked = header.asked(BlockId(0));
    let results = match own {
        None => copies.answers(&mut build, asked),
        Some(search) => {
            let found = copies.found(&mut build, search, &[])[0];
            let own = build.parameter(0);
            let index = build.value(module, Op::Index, &[own]);
            let is_own = build.value(module, Op::Compare(Compare::Eq), &[found, index]);
            let mut results = copies.answers_of(&mut build, (search, own), asked);
            let and = Op::Arithmetic(Arithmetic::And);
            results[0] = build.value(module, and, &[is_own, results[0]]);
            results
        }
    };
    let types = results.iter().map(|one| build.type_of(*one)).collect();
    build.end(Terminator::Return(results));
    build.finish(types)
}

/// The source from which numbers of a header are read.
pub enum Source {
    /// The view of the frame.
    View(Value),
    /// Words, each with its value.
    Words(Vec<(Word, Value)>),
}

/// Values that hang on the header, computed again elsewhere.
pub struct Copies<'c> {
    module: &'c Module,
    header: &'c Header<'c>,
    source: Source,
    /// By value of the fast function: the same.
    known: BTreeMap<Value, Value>,
}

impl<'c> Copies<'c> {
    /// Copies of the values of a header.
    pub fn new(module: &'c Module, header: &'c Header<'c>, source: Source) -> Copies<'c> {
        Copies {
            module,
            header,
            source,
            known: BTreeMap::new(),
        }
    }

    /// All answers: whether no exit leaves of these bits, which stand on all ways, of other blocks
    /// with exits, and what the searches find.
    pub fn answers(&mut self, build: &mut Builder, always: Vec<Value>) -> Vec<Value> {
        let header = self.header;
        let others = header.answered().map(|id| header.asked(id));
        let asked: Vec<Vec<Value>> = std::iter::once(always).chain(others).collect();
        let of_search = |bits: &[Value]| {
            let mut searches = header.searches.iter();
            searches.position(|search| header.asks_of(bits, search))
        };
        let of_search: Vec<Option<usize>> = asked.iter().map(|bits| of_search(bits)).collect();
        let mut answers: Vec<Option<Value>> = vec![None; asked.len()];
        for (at, bits) in asked.iter().enumerate() {
            if of_search[at].is_none() {
                answers[at] = Some(self.none(build, bits));
            }
        }
        let mut indices = Vec::new();
        for (at, search) in header.searches.iter().enumerate() {
            let own = (0..asked.len()).filter(|one| of_search[*one] == Some(at));
            let own: Vec<usize> = own.collect();
            let bits: Vec<&[Value]> = own.iter().map(|one| &asked[*one][..]).collect();
            let mut found = self.found(build, search, &bits).into_iter();
            indices.extend(found.next());
            own.iter()
                .zip(found)
                .for_each(|(one, bit)| answers[*one] = Some(bit));
        }
        let answers = answers
            .into_iter()
            .map(|one| one.expect("each is computed"));
        answers.chain(indices).collect()
    }

    /// The same behind the only search, which has found its instance, without its answer.
    pub fn answers_of(
        &mut self,
        build: &mut Builder,
        (search, instance): (&Search, Value),
        always: Vec<Value>,
    ) -> Vec<Value> {
        let header = self.header;
        self.known.insert(search.instance, instance);
        let others = header.answered().map(|id| header.asked(id));
        let asked = std::iter::once(always).chain(others);
        asked.map(|bits| self.none(build, &bits)).collect()
    }

    /// No exit leaves by one of some bits.
    pub fn none(&mut self, build: &mut Builder, bits: &[Value]) -> Value {
        let mut all = build.number(self.module, 1, 1);
        for bit in bits {
            let leaves = self.value(build, *bit);
            let stays = build.value(self.module, Op::Not, &[leaves]);
            let and = Op::Arithmetic(Arithmetic::And);
            all = build.value(self.module, and, &[all, stays]);
        }
        all
    }

    /// A value of the fast function.
    pub fn value(&mut self, build: &mut Builder, value: Value) -> Value {
        if let Some(known) = self.known.get(&value) {
            return *known;
        }
        let module = self.module;
        let copy = match (self.header.place(value), &self.source) {
            (Some((at, bits)), Source::Words(words)) => number(module, build, words, at, bits),
            (Some((at, bits)), Source::View(view)) => {
                let at = build.number(module, 32, at.into());
                build.value(module, Op::Read(bits), &[*view, at])
            }
            (None, _) => {
                let instruction = self.header.definitions.get(value);
                let instruction = instruction.expect("it hangs on the header");
                let operands = instruction.operands.iter();
                let operands: Vec<Value> = operands.map(|one| self.value(build, *one)).collect();
                let results = build.op(module, instruction.op.clone(), &operands);
                let at = instruction.results.iter().position(|one| *one == value);
                results[at.expect("it is a result")]
            }
        };
        self.known.insert(value, copy);
        copy
    }

    /// The index of the instance that a search finds, or [`NONE`]; then, for groups of bits that
    /// ask it, whether no exit leaves.
    fn found(&mut self, build: &mut Builder, search: &Search, groups: &[&[Value]]) -> Vec<Value> {
        let (done, failed) = self.find(build, search);
        let mut parameters = vec![(Type::WORD, "index")];
        parameters.extend(groups.iter().map(|_| (Type::BIT, "stays")));
        let join = build.block(&parameters);
        let edge = |arguments: Vec<Value>| {
            Terminator::Jump(Edge {
                block: join,
                arguments,
            })
        };
        let known = self.known.clone();
        build.go_to(done);
        let instance = build.parameter_of(done, 0);
        self.known.insert(search.instance, instance);
        let mut given = vec![build.value(self.module, Op::Index, &[instance])];
        given.extend(groups.iter().map(|bits| self.none(build, bits)));
        build.end(edge(given));
        self.known = known;
        build.go_to(failed);
        let none = build.number(self.module, 32, NONE);
        let mut given = vec![none];
        given.extend(groups.iter().map(|_| build.number(self.module, 1, 0)));
        build.end(edge(given));
        build.go_to(join);
        build.parameters_of(join)
    }

    /// Searches: the block behind, with the instance that is found, and that behind without one.
    pub fn find(&mut self, build: &mut Builder, search: &Search) -> (BlockId, BlockId) {
        let keys = search.keys.iter();
        let keys: Vec<Value> = keys.map(|key| self.value(build, *key)).collect();
        let find = Attempt::Find(search.kind);
        build.attempt(self.module, find, &keys, Probability::EVEN)
    }
}
