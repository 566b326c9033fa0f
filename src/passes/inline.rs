//! Inlining: a call of a small function, or of one that is called once, becomes the body of the
//! function.
//!
//! In: a module. Out: blocks of the called function stand between the two halves of the block that
//! called it; its returns lead to the second half. A function that nobody calls any more is gone. A
//! function calls only those before it, so one walk in order of the module finds each function in
//! its final form before the first call of it (Scheifler, "An analysis of inline substitution for a
//! structured programming language", 1977).
//!
//! ```text
//! b0:                                  b0: jump b1(%a)
//!   %r = call least(%a)                b1(%x): branch (ult %x, 4), b2(%x), b2(4)
//!   return (add %r, 1)                 b2(%r): return (add %r, 1)
//! ```
//!
//! Bodies of loops and functions of kernels are called turn by turn and stay; so do calls within
//! the body of a loop, which mostly runs several times for each time that it is entered.
//!
//! Assumes: rules 1 to 5 of the verifier. Cost: linear in the instructions behind the pass.

use crate::ir::edit::{change_operands, compact};
use crate::ir::function::Definition;
use crate::ir::op::Op;
use crate::ir::rename::{named_in_tables, remove_unnamed};
use crate::ir::{Block, BlockId, Edge, Function, FunctionId, Module, Role, Terminator, Value};
use std::collections::BTreeSet;

/// A function of at most so many instructions, without constants, is expanded at each call. With 4
/// the stacks of `bench` and `examples` have as many instructions behind all passes as with 0; with
/// 6 TCP has 1% more, and with 10 2%.
const SMALL: usize = 4;

/// A function into which others are expanded has at most so many instructions. The C compilers
/// stop to inline at this size, too (`large-function-insns` of gcc is 2,700), and a reader has to
/// follow what is printed.
const LARGE: usize = 2_000;

/// Expands calls in all functions of a module.
pub fn run(module: &mut Module) {
    let tables = named_in_tables(module);
    let bodies: BTreeSet<FunctionId> = module
        .functions
        .iter()
        .flat_map(Function::instructions)
        .filter_map(|one| match one.op {
            Op::Loop(body, _) => Some(body),
            _ => None,
        })
        .collect();
    let mut calls = vec![0; module.functions.len()];
    for function in &module.functions {
        calls_of(function).for_each(|id| calls[id.at()] += 1);
    }
    let (mut sizes, mut changed) = (Vec::new(), Vec::new());
    for at in 0..module.functions.len() {
        let id = FunctionId(at as u32);
        if bodies.contains(&id) {
            sizes.push(size(&module.functions[at]));
            continue;
        }
        let (before, rest) = module.functions.split_at_mut(at);
        let mut expanding = Expanding {
            before,
            sizes: &mut sizes,
            is_named: &|id| tables.contains(&id) || bodies.contains(&id),
            calls: &mut calls,
        };
        if expanding.all(&mut rest[0]) {
            changed.push(at);
        }
    }
    // Most bodies are part of another by now.
    for at in changed {
        compact(&mut module.functions[at]);
    }
    remove_unnamed(module);
}

fn calls_of(function: &Function) -> impl Iterator<Item = FunctionId> {
    function.instructions().filter_map(|one| match one.op {
        Op::Call(id) => Some(id),
        _ => None,
    })
}

/// The number of instructions of a function, without constants.
fn size(function: &Function) -> usize {
    let all = function.instructions();
    all.filter(|one| !one.op.is_constant()).count()
}

/// The functions before one, into which they are expanded.
struct Expanding<'m> {
    before: &'m mut [Function],
    /// Their sizes.
    sizes: &'m mut Vec<usize>,
    /// A function is also named elsewhere than in calls.
    is_named: &'m dyn Fn(FunctionId) -> bool,
    /// By function: the number of its calls.
    calls: &'m mut [usize],
}

impl Expanding<'_> {
    /// Expands all calls of a function for which this is worth it; true if there are some.
    fn all(&mut self, function: &mut Function) -> bool {
        let mut total = size(function);
        let mut changed = false;
        let mut open: Vec<BlockId> = function.all_blocks().map(|(id, _)| id).collect();
        while let Some(id) = open.pop() {
            let instructions = function.block(id).instructions.iter().enumerate();
            let found = instructions.filter_map(|(at, one)| match one.op {
                Op::Call(called) => Some((at, called)),
                _ => None,
            });
            let mut found = found.filter(|(_, called)| self.is_worth_it(*called, total));
            let Some((at, called)) = found.next() else {
                continue;
            };
            let body = &mut self.before[called.at()];
            total += self.sizes[called.at()];
            self.calls[called.at()] -= 1;
            // Nobody calls it any more, so its body need not stay.
            let is_last = self.calls[called.at()] == 0 && !(self.is_named)(called);
            let body = match is_last {
                true => Body {
                    values: std::mem::take(&mut body.values),
                    blocks: std::mem::replace(&mut body.blocks, vec![gone()]),
                },
                false => {
                    calls_of(body).for_each(|id| self.calls[id.at()] += 1);
                    Body {
                        values: body.values.clone(),
                        blocks: body.blocks.clone(),
                    }
                }
            };
            open.push(expand(function, (id, at), body));
            changed = true;
        }
        self.sizes.push(size(function));
        changed
    }

    fn is_worth_it(&self, id: FunctionId, total: usize) -> bool {
        let body = &self.before[id.at()];
        let size = self.sizes[id.at()];
        let is_only = self.calls[id.at()] == 1 && !(self.is_named)(id);
        matches!(body.role, Role::Plain | Role::Pure)
            && (size <= SMALL || is_only)
            && total + size <= LARGE
    }
}

/// The body that takes the place of a call: its values and blocks.
struct Body {
    values: Vec<Definition>,
    blocks: Vec<Block>,
}

/// The only block of a function that nobody calls.
fn gone() -> Block {
    Block {
        parameters: Vec::new(),
        instructions: Vec::new(),
        terminator: Terminator::Never,
        span: None,
    }
}

/// Puts the body of a function in the place of a call: the block behind it.
fn expand(function: &mut Function, (id, at): (BlockId, usize), body: Body) -> BlockId {
    let first = function.blocks.len() as u32;
    let values = function.values.len() as u32;
    let behind = BlockId(first + body.blocks.len() as u32);
    function.values.extend(body.values);
    for block in body.blocks {
        function
            .blocks
            .push(renumbered(block, (first, values), behind));
    }
    let own = &mut function.blocks[id.at()];
    let rest = own.instructions.split_off(at + 1);
    let call = own.instructions.pop().expect("the call is the last");
    let edge = Edge {
        block: BlockId(first),
        arguments: call.operands,
    };
    let terminator = std::mem::replace(&mut own.terminator, Terminator::Jump(edge));
    let span = std::mem::replace(&mut own.span, call.span);
    function.blocks.push(Block {
        parameters: call.results,
        instructions: rest,
        terminator,
        span,
    });
    behind
}

/// A block whose blocks and values begin at other numbers, and whose return leads to a block.
fn renumbered(mut block: Block, (blocks, values): (u32, u32), behind: BlockId) -> Block {
    let change = |value: &mut Value| value.0 += values;
    block.parameters.iter_mut().for_each(change);
    for instruction in &mut block.instructions {
        let operands = instruction.operands.iter_mut();
        operands.chain(&mut instruction.results).for_each(change);
    }
    change_operands(&mut block.terminator, &mut { change });
    for edge in block.terminator.edges_mut() {
        edge.block.0 += blocks;
    }
    if let Terminator::Return(arguments) = block.terminator {
        block.terminator = Terminator::Jump(Edge {
            block: behind,
            arguments,
        });
    }
    block
}
