//! The fast function that asks the cache of headers.
//!
//! In: a fast function, and what of it hangs on the header. Out: the same, without exits and
//! searches that hang on the header; a cache answers them. Its first block compares the header with
//! the one that is held, and goes to what was the first block; or else all is asked anew before.

use super::answers::{Copies, NONE};
use super::header::{Header, Why};
use crate::ir::build::Builder;
use crate::ir::op::{Arithmetic, Compare, Op};
use crate::ir::{
    BlockId, CacheId, Edge, Function, Instruction, Module, Probability, Region, Terminator, Type,
    Value,
};

/// The name of the exit for frames that are shorter than the header.
const SHORT: &str = "stack.header";

/// The fast function.
pub fn function(module: &Module, header: &Header<'_>, cache: CacheId) -> Function {
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
    compare(module, &mut build, header, (cache, rest));
    let first = header.words.len() + 1 + answered.len();
    for (at, search) in header.searches.iter().enumerate() {
        let block = match search.block {
            BlockId(0) => rest,
            other => other,
        };
        let held = Region::Cached(cache, (first + at) as u32);
        answer_search(module, &mut build, block, held);
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
    (cache, rest): (CacheId, BlockId),
) {
    build.set_span(header.function.span);
    let length = build.value(module, Op::Length, &[header.message]);
    let least = build.number(module, 32, header.length.into());
    let is_short = build.value(module, Op::Compare(Compare::Ult), &[length, least]);
    build.op(module, Op::Exit(SHORT.to_string()), &[is_short]);
    let view = build.value(module, Op::Look, &[header.message]);
    let mut same = build.value(module, Op::Load(Region::Valid(cache)), &[]);
    let mut words = Vec::new();
    for (at, word) in header.words.iter().enumerate() {
        let place = build.number(module, 32, word.at.into());
        let whole = build.value(module, word.read(), &[view, place]);
        let mask = build.number(module, word.width(), word.mask);
        let and = Op::Arithmetic(Arithmetic::And);
        let own = build.value(module, and.clone(), &[whole, mask]);
        let held = Op::Load(Region::Cached(cache, at as u32));
        let held = build.value(module, held, &[]);
        let is_same = build.value(module, Op::Compare(Compare::Eq), &[own, held]);
        same = build.value(module, and, &[same, is_same]);
        words.push(own);
    }
    let anew = build.block(&[]);
    build.end(Terminator::Branch {
        condition: same,
        likely: Probability(990_000),
        then: Edge::to(rest),
        otherwise: Edge::to(anew),
    });
    build.go_to(anew);
    let mut copies = Copies::new(module, header, Some(view));
    let first = header.function.block(BlockId(0));
    for (at, why) in header.groups.get(&BlockId(0)).into_iter().flatten() {
        let exit = &first.instructions[*at];
        if *why == Why::Header {
            build.set_span(exit.span);
            let leaves = copies.value(build, exit.operands[0]);
            build.op(module, exit.op.clone(), &[leaves]);
        }
    }
    let behind = header.asked_behind();
    let is_asked = !behind.is_empty();
    let mut answers = copies.answers(build, behind);
    if is_asked {
        let leaves = build.value(module, Op::Not, &[answers[0]]);
        let exit = format!("{}.expected", header.function.owner);
        build.op(module, Op::Exit(exit), &[leaves]);
    }
    answers[0] = build.number(module, 1, 1);
    let held = [words, answers].concat();
    build.op(module, Op::Recompute(cache), &held);
    build.end(Terminator::Jump(Edge::to(rest)));
}

/// In the place of a search, the cache says what was found.
fn answer_search(module: &Module, build: &mut Builder, id: BlockId, held: Region) {
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
    let crate::ir::Attempt::Find(kind) = attempt else {
        panic!("a search finds an instance");
    };
    done.arguments
        .push(build.value(module, Op::At(kind), &[index]));
    build.end(Terminator::Jump(done));
}
