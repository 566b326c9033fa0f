//! The function that a cache of headers remembers.
//!
//! In: what hangs on a header. Out: a pure function of the words of the header. It returns whether
//! no exit of the first block leaves, the same for each other block with exits, and for each search
//! the index that it finds.

use super::header::Header;
use super::words::number;
use crate::ir::build::Builder;
use crate::ir::op::{Arithmetic, Op};
use crate::ir::{
    Attempt, BlockId, Edge, Function, Module, Probability, Role, Terminator, Type, Value,
};
use std::collections::BTreeMap;

/// The index that stands for no instance.
pub const NONE: u64 = u32::MAX as u64;

/// The function.
pub fn function(module: &Module, header: &Header<'_>, name: &str) -> Function {
    let words = header.words.iter();
    let parameters: Vec<(Type, &str)> = words
        .map(|word| (Type::Int(word.width()), "word"))
        .collect();
    let owner = &header.function.owner;
    let mut build = Builder::new(name, owner, Role::Pure, &parameters);
    let mut copies = Copies::new(module, header, None);
    let mut results = vec![copies.none(&mut build, BlockId(0))];
    results.extend(copies.answers(&mut build));
    let types = results.iter().map(|one| build.type_of(*one)).collect();
    build.end(Terminator::Return(results));
    build.finish(types)
}

/// Values that hang on the header, computed again elsewhere.
pub struct Copies<'c> {
    module: &'c Module,
    header: &'c Header<'c>,
    /// The view of the frame; without, the header is the parameters of the function.
    view: Option<Value>,
    /// By value of the fast function: the same.
    known: BTreeMap<Value, Value>,
}

impl<'c> Copies<'c> {
    /// Copies of the values of a header.
    pub fn new(module: &'c Module, header: &'c Header<'c>, view: Option<Value>) -> Copies<'c> {
        Copies {
            module,
            header,
            view,
            known: BTreeMap::new(),
        }
    }

    /// The answers behind the first: of the other blocks with exits, and of all searches.
    pub fn answers(&mut self, build: &mut Builder) -> Vec<Value> {
        let blocks = self.header.answered();
        let mut answers: Vec<Value> = blocks.map(|id| self.none(build, id)).collect();
        for search in &self.header.searches {
            let keys = search.keys.iter();
            let keys: Vec<Value> = keys.map(|key| self.value(build, *key)).collect();
            answers.push(self.found(build, Attempt::Find(search.kind), &keys));
        }
        answers
    }

    /// No exit of a block leaves.
    pub fn none(&mut self, build: &mut Builder, id: BlockId) -> Value {
        let mut all = build.number(self.module, 1, 1);
        for bit in self.header.asked(id) {
            let leaves = self.value(build, bit);
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
        let copy = match (self.header.place(value), self.view) {
            (Some((at, bits)), None) => number(module, build, &self.header.words, at, bits),
            (Some((at, bits)), Some(view)) => {
                let at = build.number(module, 32, at.into());
                build.value(module, Op::Read(bits), &[view, at])
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

    /// The index of the instance that a search finds, or [`NONE`].
    fn found(&mut self, build: &mut Builder, find: Attempt, keys: &[Value]) -> Value {
        let (done, failed) = build.attempt(self.module, find, keys, Probability::EVEN);
        let join = build.block(&[(Type::WORD, "index")]);
        let edge = |index: Value| {
            Terminator::Jump(Edge {
                block: join,
                arguments: vec![index],
            })
        };
        build.go_to(done);
        let instance = build.parameter_of(done, 0);
        let index = build.value(self.module, Op::Index, &[instance]);
        build.end(edge(index));
        build.go_to(failed);
        let none = build.number(self.module, 32, NONE);
        build.end(edge(none));
        build.go_to(join);
        build.parameter_of(join, 0)
    }
}
