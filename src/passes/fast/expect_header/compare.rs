//! The fast function that asks the cache of headers.
//!
//! In: a fast function, and what of it hangs on the header. Out: the same, without exits and
//! searches that hang on the header; a cache answers them. Its first block compares the header with
//! the one that is held, or recalls the instance whose cache holds it, and goes to what was the
//! first block; or else all is asked anew before.

use super::answers::{Copies, NONE, Source};
use super::header::{Header, Search, Why};
use super::words::Word;
use crate::ir::build::Builder;
use crate::ir::op::{Arithmetic, Compare, Op};
use crate::ir::{
    Attempt, BlockId, CacheId, Edge, Function, Instruction, Module, Probability, Region,
    Terminator, Type, Value,
};

/// The name of the exit for frames that are shorter than the header.
const SHORT: &str = "stack.header";

/// The cache of a fast function.
#[derive(Clone, Copy)]
pub struct Held<'h> {
    /// The cache: of headers, and what came of them.
    pub cache: CacheId,
    /// The search for the instance, if each has a cache of its own.
    pub own: Option<&'h Search>,
}

/// The fast function.
pub fn function(module: &Module, header: &Header<'_>, held: Held<'_>) -> Function {
    let mut function = header.function.clone();
    let rest = BlockId(function.blocks.len() as u32);
    let first = function.blocks[0].clone();
    let kind = held.own.map(|search| Type::Instance(search.kind));
    let instance = kind.map(|kind| function.define(kind));
    let holder: Vec<Value> = instance.into_iter().collect();
    function.blocks.push(crate::ir::Block {
        parameters: holder.clone(),
        ..first
    });
    let place = |id: BlockId| if id == BlockId(0) { rest } else { id };
    let answered: Vec<BlockId> = header.answered().collect();
    for id in header.groups.keys() {
        let answer = answered.iter().position(|one| one == id);
        let answer = answer.map(|at| (header.words.len() + 1 + at) as u32);
        let region = answer.map(|at| Region::Cached(held.cache, at));
        let answer = region.map(|region| (region, &holder[..]));
        answer_exits(&mut function, header, (*id, place(*id)), answer);
    }
    function.blocks[0].instructions.clear();
    let mut build = Builder::of(function);
    build.reopen(BlockId(0));
    compare(module, &mut build, header, (held, rest));
    let first = header.words.len() + 1 + answered.len();
    for (at, search) in header.searches.iter().enumerate() {
        let region = Region::Cached(held.cache, (first + at) as u32);
        let answer = instance.ok_or(region);
        answer_search(module, &mut build, place(search.block), answer);
    }
    let results = header.function.results.clone();
    build.finish(results)
}

/// The exits of a block go that hang on the header. In the place of the first, the cache says
/// whether one of them leaves, if it has an answer for the block.
fn answer_exits(
    function: &mut Function,
    header: &Header<'_>,
    (id, place): (BlockId, BlockId),
    held: Option<(Region, &[Value])>,
) {
    let own = &header.groups[&id];
    let asked = header.asked(id);
    let mut held = held;
    let mut all = Vec::new();
    let instructions = std::mem::take(&mut function.blocks[place.at()].instructions);
    for (at, mut instruction) in instructions.into_iter().enumerate() {
        let why = own.iter().find(|(exit, _)| *exit == at);
        match why.map(|(_, why)| *why) {
            None => all.push(instruction),
            Some(Why::Long) => {}
            Some(Why::Header) => {
                if !asked.contains(&header.first_alike(instruction.operands[0])) {
                    continue;
                }
                let Some((held, holder)) = held.take() else {
                    continue;
                };
                let [stays, leaves] = [Type::BIT; 2].map(|of| function.define(of));
                let step = |op: Op, operands: &[Value], result: Value| Instruction {
                    op,
                    operands: operands.to_vec(),
                    results: vec![result],
                    span: instruction.span,
                };
                all.push(step(Op::Load(held), holder, stays));
                all.push(step(Op::Not, &[stays], leaves));
                instruction.operands = vec![leaves];
                all.push(instruction);
            }
        }
    }
    function.blocks[place.at()].instructions = all;
}

/// The first block: a frame with the header that is held goes on; any other is asked before.
fn compare(
    module: &Module,
    build: &mut Builder,
    header: &Header<'_>,
    (held, rest): (Held<'_>, BlockId),
) {
    build.set_span(header.function.span);
    let length = build.value(module, Op::Length, &[header.message]);
    let least = build.number(module, 32, header.length.into());
    let is_short = build.value(module, Op::Compare(Compare::Ult), &[length, least]);
    build.op(module, Op::Exit(SHORT.to_string()), &[is_short]);
    let view = build.value(module, Op::Look, &[header.message]);
    let words = words(module, build, (view, &header.words));
    let anew = build.block(&[]);
    let (then, otherwise) = (Edge::to(rest), Edge::to(anew));
    let likely = Probability(990_000);
    match held.own {
        Some(_) => build.end(Terminator::Try {
            attempt: Attempt::Recall(held.cache),
            operands: words.clone(),
            likely,
            done: then,
            failed: otherwise,
        }),
        None => {
            let condition = is_same(module, build, &words, held.cache);
            build.end(Terminator::Branch {
                condition,
                likely,
                then,
                otherwise,
            });
        }
    }
    build.go_to(anew);
    let mut copies = Copies::new(module, header, Source::View(view));
    ask_first(module, build, header, &mut copies);
    let (holder, mut answers) = match held.own {
        Some(search) => {
            let instance = found(module, build, (header, search), &mut copies);
            let asked = header.asked_of(search);
            let answers = copies.answers_of(build, (search, instance), asked);
            demand(module, build, header, answers[0]);
            (vec![instance], answers)
        }
        None => {
            let behind = header.asked_behind();
            let is_asked = !behind.is_empty();
            let answers = copies.answers(build, behind);
            if is_asked {
                demand(module, build, header, answers[0]);
            }
            (Vec::new(), answers)
        }
    };
    answers[0] = build.number(module, 1, 1);
    let all = [holder.clone(), words, answers].concat();
    build.op(module, Op::Recompute(held.cache), &all);
    build.end(Terminator::Jump(Edge {
        block: rest,
        arguments: holder,
    }));
}

/// The words of a frame that count.
fn words(module: &Module, build: &mut Builder, (view, words): (Value, &[Word])) -> Vec<Value> {
    let all = words.iter().map(|word| {
        let place = build.number(module, 32, word.at.into());
        let whole = build.value(module, word.read(), &[view, place]);
        let mask = build.number(module, word.width(), word.mask);
        build.value(module, Op::Arithmetic(Arithmetic::And), &[whole, mask])
    });
    all.collect()
}

/// The bit that says if a cache holds these words.
fn is_same(module: &Module, build: &mut Builder, words: &[Value], cache: CacheId) -> Value {
    let mut same = build.value(module, Op::Load(Region::Valid(cache)), &[]);
    for (at, own) in words.iter().enumerate() {
        let held = Op::Load(Region::Cached(cache, at as u32));
        let held = build.value(module, held, &[]);
        let is_same = build.value(module, Op::Compare(Compare::Eq), &[*own, held]);
        same = build.value(module, Op::Arithmetic(Arithmetic::And), &[same, is_same]);
    }
    same
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

/// The instance that the only search finds, behind all exits that hang on the header without it.
fn found(
    module: &Module,
    build: &mut Builder,
    (header, search): (&Header<'_>, &Search),
    copies: &mut Copies<'_>,
) -> Value {
    let asked = header.asked_without(search);
    let mut behind = header.asked_behind();
    behind.retain(|bit| asked.contains(bit));
    if !behind.is_empty() {
        let stays = copies.none(build, &behind);
        demand(module, build, header, stays);
    }
    let (done, failed) = copies.find(build, search);
    build.go_to(failed);
    let none = build.number(module, 1, 0);
    demand(module, build, header, none);
    build.end(Terminator::Never);
    build.go_to(done);
    build.parameter_of(done, 0)
}

/// In the place of a search, the instance is there, or else the cache says what was found.
fn answer_search(module: &Module, build: &mut Builder, id: BlockId, answer: Result<Value, Region>) {
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
    let instance = answer.unwrap_or_else(|held| {
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
        let Attempt::Find(kind) = attempt else {
            panic!("a search finds an instance");
        };
        build.value(module, Op::At(kind), &[index])
    });
    done.arguments.push(instance);
    build.end(Terminator::Jump(done));
}
