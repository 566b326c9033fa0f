//! Frames in memory of the host are not copied, where a fast function only reads them.
//!
//! In: the fast functions of links. Out: they are given frames where they stand. A way that writes
//! its frame or keeps it first asks whether it stands in a buffer; a function all of whose ways do
//! asks this first of all. An application that is called
//! hears of a message when nothing else is under way, so the frame that leaves in the same reaction
//! leaves before.
//!
//! ```text
//!   output port echo message(%n, %m)          output link wire(%reply)
//!   tail link wire(%reply)              =>    step 1
//!                                             tail port echo message(%n, %m)
//! ```
//!
//! Assumes: rules 1 to 5, 10 and 13 of the verifier. Ensures: as rule 14 says, a frame that stands
//! elsewhere is neither written nor kept.

use crate::ir::effects::in_place::{Spot, kept};
use crate::ir::effects::{Effects, Resource};
use crate::ir::op::Target;
use crate::ir::{
    Block, BlockId, Function, FunctionId, Instruction, Module, Op, Terminator, Type, Value,
};

/// The name of the exit for frames that stand elsewhere.
const EXIT: &str = "stack.in_place";

/// Has frames of all links read in place, as far as fast functions do.
pub fn run(module: &mut Module) {
    for at in 0..module.links.len() {
        let arrives = module.links[at].arrives;
        if module.links[at].in_place || module.function(arrives).fast.is_none() {
            continue;
        }
        // Each has some ways of the one before which it is tried.
        let all = module.tried(arrives);
        let in_place = all.iter().map(|id| in_place(module, *id));
        let Some(functions) = in_place.collect::<Option<Vec<(Function, bool)>>>() else {
            continue;
        };
        if functions.iter().any(|(_, reads)| *reads) {
            module.links[at].in_place = true;
            let all = all.into_iter().zip(functions);
            all.for_each(|(id, (function, _))| module.functions[id.at()] = function);
        }
    }
}

/// A fast function whose ways that write or keep their frame leave for one that stands elsewhere,
/// and whether it has others. None if its guard does so.
fn in_place(module: &Module, fast: FunctionId) -> Option<(Function, bool)> {
    let mut function = module.function(fast).clone();
    for at in 0..function.blocks.len() {
        if tell_last(module, &mut function.blocks[at]) {
            let one = function.define(Type::WORD);
            let behind = &mut function.blocks[at].instructions;
            behind.push(Instruction::new(Op::Number(32, 1), &[], &[one]));
            behind.push(Instruction::new(Op::Step, &[one], &[]));
        }
    }
    let commits = commits(&function);
    let spots = kept(module, &function);
    let keeping = commits.iter().map(|(id, _)| *id);
    let keeping = keeping.filter(|id| keeps(&function, &spots, *id));
    let keeping: Vec<BlockId> = keeping.collect();
    let in_guard = spots
        .iter()
        .any(|spot| is_in_guard(&function, &commits, *spot));
    if in_guard {
        return None;
    }
    let reads = keeping.len() < commits.len();
    match reads {
        true => commits
            .iter()
            .filter(|(id, _)| keeping.contains(id))
            .for_each(|spot| ask(&mut function, *spot)),
        false => ask(&mut function, (BlockId(0), 0)),
    }
    Some((function, reads))
}

/// Tells an application that is called behind the frame that leaves in the end. The frame then
/// needs a step of its own: returns true.
fn tell_last(module: &Module, block: &mut Block) -> bool {
    let Terminator::Tail(last, frame) = &block.terminator else {
        return false;
    };
    let is_output = |one: &Instruction| matches!(one.op, Op::Output(_));
    let Some(at) = block.instructions.iter().rposition(is_output) else {
        return false;
    };
    let Op::Output(events) = &block.instructions[at].op else {
        return false;
    };
    let [told] = events[..] else { return false };
    if !module.calls_application(told.target) || !matches!(last.target, Target::Link(_)) {
        return false;
    }
    let waits = |one: &Instruction| {
        let writes = Effects::of(module, &one.op).writes;
        writes.contains(&Resource::Agenda) || writes.contains(&Resource::Outputs)
    };
    if block.instructions[at + 1..].iter().any(waits) {
        return false;
    }
    let (last, frame) = (*last, frame.clone());
    let output = block.instructions.remove(at);
    block.terminator = Terminator::Tail(told, output.operands);
    block.instructions.push(Instruction {
        op: Op::Output(vec![last]),
        operands: frame,
        ..output
    });
    true
}

/// The spots of the commits.
fn commits(function: &Function) -> Vec<Spot> {
    let blocks = function.all_blocks();
    blocks
        .filter_map(|(id, block)| Some((id, block.commit()?)))
        .collect()
}

/// A frame is written or kept behind the commit of a block.
fn keeps(function: &Function, spots: &[Spot], commit: BlockId) -> bool {
    let behind = function.behind(commit);
    spots.iter().any(|(id, _)| behind.contains(id))
}

/// A spot stands before all commits.
fn is_in_guard(function: &Function, commits: &[Spot], (id, at): Spot) -> bool {
    let mut commits = commits.iter();
    !commits.any(|commit| match commit.0 == id {
        true => commit.1 < at,
        false => function.behind(commit.0).contains(&id),
    })
}

/// Leaves at a spot, if the frame stands elsewhere.
fn ask(function: &mut Function, (id, at): Spot) {
    let is_message = |value: &&Value| function.type_of(**value) == Type::Message;
    let message = function.parameters().iter().find(is_message).copied();
    let message = message.expect("a reaction to frames is given one");
    let [is_in_buffer, is_elsewhere] = [Type::BIT; 2].map(|of| function.define(of));
    let asked = [
        (Op::InBuffer, message, Some(is_in_buffer)),
        (Op::Not, is_in_buffer, Some(is_elsewhere)),
        (Op::Exit(EXIT.to_string()), is_elsewhere, None),
    ];
    let instructions = &mut function.blocks[id.at()].instructions;
    let span = instructions.get(at).and_then(|one| one.span);
    let asked = asked.map(|(op, operand, result)| Instruction {
        op,
        operands: vec![operand],
        results: result.into_iter().collect(),
        span,
    });
    instructions.splice(at..at, asked);
}
