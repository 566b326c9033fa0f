//! The fast function that asks the cache of headers.
//!
//! In: a fast function, and what of it hangs on the header. Out: the same, without exits and
//! searches that hang on the header; a cache answers them. Its first block compares the header with
//! the one that is held, and goes to what was the first block; or else all is asked anew before.

use super::answers::{Copies, NONE};
use super::header::{Header, Search, Why};
use super::words::Word;
use crate::ir::build::Builder;
use crate::ir::op::{Arithmetic, Compare, Op};
use crate::ir::{
    BlockId, CacheId, Edge, Function, Instruction, Module, Probability, Region, Terminator, Type,
    Value,
};

/// The name of the exit for frames that are shorter than the header.
const SHORT: &str = "stack.header";

/// The caches of a fast function.
#[derive(Clone, Copy)]
pub struct Caches {
    /// It holds a header, and what came of it.
    pub header: CacheId,
    /// It holds the words by which an instance is found, if exits ask fields of it.
    pub instance: Option<CacheId>,
}

/// The fast function.
pub fn function(module: &Module, header: &Header<'_>, caches: Caches) -> Function {
    let cache = caches.header;
    let mut function = header.function.clone();
    let answered: Vec<BlockId> = header.answered().collect();
    for id in header.groups.keys() {
        let answer = answered.iter().position(|one| one == id);
        let answer = answer.map(|at| (header.words.len() + 1 + at) as u32);
        let held = answer.map(|at| Region::Cached(cache, at));
        answer_exits(&mut function, header, *id, held);
    }
    let rest = BlockId(function.blocks.len() as u32);
    let first = function.blocks[0].clone();
    function.blocks.push(crate::ir::Block {
        parameters: Vec::new(),
        ..first
    });
    function.blocks[0].instructions.clear();
    let mut build = Builder::of(function);
    build.reopen(BlockId(0));
    compare(module, &mut build, header, (caches, rest));
    let first = header.words.len() + 1 + answered.len();
    for (at, search) in header.searches.iter().enumerate() {
        let block = match search.block {
            BlockId(0) => rest,
            other => other,
        };
        let held = Region::Cached(cache, (first + at) as u32);
        // The only search has found its instance, or else no header is held.
        let is_sure = caches.instance.is_some();
        answer_search(module, &mut build, block, (held, is_sure));
    }
    let results = header.function.results.clone();
    build.finish(results)
}

/// The exits of a block go that hang on the header. In the place of the first, the cache says
/// whether one of them leaves, if it has an answer for the block.
fn answer_exits(function: &mut Function, header: &Header<'_>, id: BlockId, held: Option<Region>) {
    let own = &header.groups[&id];
    let asked = header.asked(id);
    let mut held = held;
    let mut all = Vec::new();
    let instructions = std::mem::take(&mut function.blocks[id.at()].instructions);
    for (at, mut instruction) in instructions.into_iter().enumerate() {
        let why = own.iter().find(|(exit, _)| *exit == at);
        match why.map(|(_, why)| *why) {
            None => all.push(instruction),
            Some(Why::Long) => {}
            Some(Why::Header) => {
                if !asked.contains(&header.first_alike(instruction.operands[0])) {
                    continue;
                }
                let Some(held) = held.take() else { continue };
                let [stays, leaves] = [Type::BIT; 2].map(|of| function.define(of));
                let step = |op: Op, operands: &[Value], result: Value| Instruction {
                    op,
                    operands: operands.to_vec(),
                    results: vec![result],
                    span: instruction.span,
                };
                all.push(step(Op::Load(held), &[], stays));
                all.push(step(Op::Not, &[stays], leaves));
                instruction.operands = vec![leaves];
                all.push(instruction);
            }
        }
    }
    function.blocks[id.at()].instructions = all;
}

/// The first block: a frame with the header that is held goes on; any other is asked before.
fn compare(
    module: &Module,
    build: &mut Builder,
    header: &Header<'_>,
    (caches, rest): (Caches, BlockId),
) {
    build.set_span(header.function.span);
    let length = build.value(module, Op::Length, &[header.message]);
    let least = build.number(module, 32, header.length.into());
    let is_short = build.value(module, Op::Compare(Compare::Ult), &[length, least]);
    build.op(module, Op::Exit(SHORT.to_string()), &[is_short]);
    let view = build.value(module, Op::Look, &[header.message]);
    let (same, words) = is_same(module, build, (view, &header.words), caches.header);
    let anew = build.block(&[]);
    build.end(Terminator::Branch {
        condition: same,
        likely: Probability(990_000),
        then: Edge::to(rest),
        otherwise: Edge::to(anew),
    });
    build.go_to(anew);
    let mut copies = Copies::new(module, header, Some(view));
    let mut answers = match (header.own(), caches.instance) {
        (Some(search), Some(cache)) => {
            let instance = instance(module, build, (header, search), (view, cache));
            let asked = header.asked_of(search);
            let answers = copies.answers_of(build, (search, instance), asked);
            demand(module, build, header, answers[0]);
            answers
        }
        _alone => {
            ask_first(module, build, header, &mut copies);
            let behind = header.asked_behind();
            let is_asked = !behind.is_empty();
            let answers = copies.answers(build, behind);
            if is_asked {
                demand(module, build, header, answers[0]);
            }
            answers
        }
    };
    answers[0] = build.number(module, 1, 1);
    let held = [words, answers].concat();
    build.op(module, Op::Recompute(caches.header), &held);
    build.end(Terminator::Jump(Edge::to(rest)));
}

/// Compares the words of a frame with those of a cache: the bit that says if they are equal, and
/// the words.
fn is_same(
    module: &Module,
    build: &mut Builder,
    (view, words): (Value, &[Word]),
    cache: CacheId,
) -> (Value, Vec<Value>) {
    let mut same = build.value(module, Op::Load(Region::Valid(cache)), &[]);
    let mut all = Vec::new();
    for (at, word) in words.iter().enumerate() {
        let place = build.number(module, 32, word.at.into());
        let whole = build.value(module, word.read(), &[view, place]);
        let mask = build.number(module, word.width(), word.mask);
        let and = Op::Arithmetic(Arithmetic::And);
        let own = build.value(module, and.clone(), &[whole, mask]);
        let held = Op::Load(Region::Cached(cache, at as u32));
        let held = build.value(module, held, &[]);
        let is_same = build.value(module, Op::Compare(Compare::Eq), &[own, held]);
        same = build.value(module, and, &[same, is_same]);
        all.push(own);
    }
    (same, all)
}

/// The exits of the first block that the header decides.
fn ask_first(module: &Module, build: &mut Builder, header: &Header<'_>, copies: &mut Copies<'_>) {
    let first = header.function.block(BlockId(0));
    for (at, why) in header.groups.get(&BlockId(0)).into_iter().flatten() {
        let exit = &first.instructions[*at];
        if *why == Why::Header {
            build.set_span(exit.span);
            let leaves = copies.value(build, exit.operands[0]);
            build.op(module, exit.op.clone(), &[leaves]);
        }
    }
}

/// Leaves unless a bit is 1.
fn demand(module: &Module, build: &mut Builder, header: &Header<'_>, bit: Value) {
    let leaves = build.value(module, Op::Not, &[bit]);
    let exit = format!("{}.expected", header.function.owner);
    build.op(module, Op::Exit(exit), &[leaves]);
}

/// The instance that the only search finds. A cache of its own holds the words by which it is
/// found, for frames that differ from the one that is held in others alone.
fn instance(
    module: &Module,
    build: &mut Builder,
    (header, search): (&Header<'_>, &Search),
    (view, cache): (Value, CacheId),
) -> Value {
    let asked = header.asked_without(search);
    let words = header.words_of(asked.clone(), search);
    let (same, words) = is_same(module, build, (view, &words), cache);
    let (known, anew) = build.branch(same, Probability(900_000));
    let found = build.block(&[(Type::Instance(search.kind), "found")]);
    let give = |build: &mut Builder, instance: Value| {
        build.end(Terminator::Jump(Edge {
            block: found,
            arguments: vec![instance],
        }));
    };
    build.go_to(known);
    let held = Region::Cached(cache, words.len() as u32 + 1);
    let index = build.value(module, Op::Load(held), &[]);
    let instance = build.value(module, Op::At(search.kind), &[index]);
    give(build, instance);
    build.go_to(anew);
    let mut copies = Copies::new(module, header, Some(view));
    ask_first(module, build, header, &mut copies);
    let mut behind = header.asked_behind();
    behind.retain(|bit| asked.contains(bit));
    if !behind.is_empty() {
        let stays = copies.none(build, &behind);
        demand(module, build, header, stays);
    }
    let (done, failed) = copies.find(build, search);
    build.go_to(done);
    let instance = build.parameter_of(done, 0);
    let index = build.value(module, Op::Index, &[instance]);
    let one = build.number(module, 1, 1);
    let held = [words, vec![one, index]].concat();
    build.op(module, Op::Recompute(cache), &held);
    give(build, instance);
    build.go_to(failed);
    let none = build.number(module, 1, 0);
    demand(module, build, header, none);
    build.end(Terminator::Never);
    build.go_to(found);
    build.parameter_of(found, 0)
}

/// In the place of a search, the cache says what was found; `is_sure`: it holds an instance.
fn answer_search(
    module: &Module,
    build: &mut Builder,
    id: BlockId,
    (held, is_sure): (Region, bool),
) {
    let Terminator::Try {
        attempt,
        likely,
        mut done,
        failed,
        ..
    } = build.reopen(id)
    else {
        panic!("a search is an attempt");
    };
    let index = build.value(module, Op::Load(held), &[]);
    if !is_sure {
        let none = build.number(module, 32, NONE);
        let is_there = build.value(module, Op::Compare(Compare::Ne), &[index, none]);
        let found = build.block(&[]);
        build.end(Terminator::Branch {
            condition: is_there,
            likely,
            then: Edge::to(found),
            otherwise: failed,
        });
        build.go_to(found);
    }
    let crate::ir::Attempt::Find(kind) = attempt else {
        panic!("a search finds an instance");
    };
    done.arguments
        .push(build.value(module, Op::At(kind), &[index]));
    build.end(Terminator::Jump(done));
}
