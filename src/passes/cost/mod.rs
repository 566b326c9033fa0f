//! Estimates of machine code: the instructions and the bytes that gcc -Os makes of the stack IR on
//! x86-64.
//!
//! In: a module, a function or some of its blocks. Out: instructions, and bytes of text.
//!
//! The weights were fitted by least squares over 2,665 functions: those of the stacks of
//! `examples/` and of six of `bench/`, with all fast paths and with none. For each stack, `objdump
//! -d` gave the instructions of its object, and `addr2line -i` the function of the stack IR to
//! which each belongs, also where gcc expands one function in another. Each row is a function: by
//! kind of operation how many it has, and its instructions and bytes. An error counts the less the
//! larger the function is, by the fourth root of its bytes. The results are rounded. Text that
//! belongs to no function of the IR is the host's side and the runtime; its size was fitted over
//! the same stacks, by `around`.
//!
//! The text of each of these stacks that has more than 7,000 bytes was estimated within 12 %, and
//! that of the largest within 6 %. `tests/commands/building.rs` checks some stacks for 15 %. A
//! single function may be off by a third.

pub mod way;

use crate::ir::op::{Arithmetic, Attempt, Change, Question, Region, Target};
use crate::ir::{Block, Function, Instruction, Module, Op, Role, Terminator};
use std::collections::{BTreeSet, HashSet};
use std::mem::{Discriminant, discriminant};
use std::ops::{Add, AddAssign, Mul};

/// The size of machine code.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Cost {
    /// Instructions.
    pub instructions: f64,
    /// Bytes of text.
    pub bytes: f64,
}

const fn cost(instructions: f64, bytes: f64) -> Cost {
    Cost {
        instructions,
        bytes,
    }
}

/// The begin and end of a function.
const FUNCTION: Cost = cost(3.5, 5.0);
/// Sums, comparisons, and numbers that become wider.
const PLAIN: Cost = cost(1.0, 3.0);
/// Quotients, shifts, and a choice of two values.
const COSTLY: Cost = cost(2.5, 9.0);
/// A load of a field; a cache is disarmed.
const LOAD: Cost = cost(2.5, 10.0);
/// A store to a field.
const STORE: Cost = cost(0.5, 3.0);
/// A load or store of an element of an array.
const INDEXED: Cost = cost(4.0, 17.0);
/// Bytes of a message that are read or written as one number.
const MEMORY: Cost = cost(0.5, 2.0);
/// Bytes as one value.
const BYTES: Cost = cost(5.0, 21.0);
/// A message whose begin, length or attribute changes.
const MESSAGE: Cost = cost(2.0, 8.0);
/// A branch, an exit, a case of a switch.
const BRANCH: Cost = cost(1.0, 6.0);
/// A value that an edge gives.
const MOVE: Cost = cost(0.5, 1.5);
/// A call.
const CALL: Cost = cost(2.0, 8.0);
/// A value that a call, an event or an attempt is given.
const ARGUMENT: Cost = cost(1.0, 2.5);
/// An event.
const EVENT: Cost = cost(2.0, 6.0);
/// A question to a container, or a change.
const CONTAINER: Cost = cost(16.0, 65.0);
/// An instance that is looked up or made.
const LOOKUP: Cost = cost(8.0, 28.0);
/// Anything else that may fail.
const ATTEMPT: Cost = cost(10.0, 42.0);
/// A timer, a counter, the end of a message or of an instance.
const SERVICE: Cost = cost(2.0, 7.0);
/// A constant: part of the instruction that uses it.
const NOTHING: Cost = cost(0.0, 0.0);

/// Bytes around the functions of any stack.
const ANY: f64 = 1270.0;
/// Bytes around the functions of a stack that has a fast path.
const FAST: f64 = 750.0;
/// Bytes around the functions of a stack for each reaction.
const REACTION: f64 = 60.0;
/// Bytes of each operation of the runtime that a stack uses.
const RUNTIME: f64 = 260.0;

impl Add for Cost {
    type Output = Cost;

    fn add(self, other: Cost) -> Cost {
        cost(
            self.instructions + other.instructions,
            self.bytes + other.bytes,
        )
    }
}

impl AddAssign for Cost {
    fn add_assign(&mut self, other: Cost) {
        *self = *self + other;
    }
}

impl Mul<usize> for Cost {
    type Output = Cost;

    fn mul(self, times: usize) -> Cost {
        cost(self.instructions * times as f64, self.bytes * times as f64)
    }
}

/// The bytes of text of a stack: its functions, and what stands around them.
pub fn text(module: &Module) -> u64 {
    let called = called(module);
    let remembered: BTreeSet<usize> = module
        .caches
        .iter()
        .map(|cache| cache.remembers.at())
        .filter(|at| !called.contains(at))
        .collect();
    let functions = module.functions.iter().enumerate();
    let functions = functions.filter(|(at, _)| !remembered.contains(at));
    let bytes: f64 = functions.map(|(_, one)| of_function(one).bytes).sum();
    (bytes + around(module)).round() as u64
}

/// The functions that others call.
fn called(module: &Module) -> BTreeSet<usize> {
    let all = module.functions.iter().flat_map(Function::instructions);
    let called = all.filter_map(|one| match &one.op {
        Op::Call(id) | Op::Loop(id, _) => Some(id.at()),
        _other => None,
    });
    called.collect()
}

/// The bytes of text around the functions of a stack.
fn around(module: &Module) -> f64 {
    let has = |role: Role| module.functions.iter().filter(move |one| one.role == role);
    let fast = match has(Role::Fast).next() {
        Some(_) => FAST,
        None => 0.0,
    };
    ANY + fast + REACTION * has(Role::Reaction).count() as f64 + RUNTIME * used(module) as f64
}

/// The number of operations of the runtime that a stack uses.
fn used(module: &Module) -> usize {
    let mut asked: HashSet<Discriminant<Question>> = HashSet::new();
    let mut changed: HashSet<Discriminant<Change>> = HashSet::new();
    let mut tried: HashSet<Discriminant<Attempt>> = HashSet::new();
    for block in module.functions.iter().flat_map(|one| &one.blocks) {
        for one in &block.instructions {
            if let Op::Ask(question, _) = &one.op {
                asked.insert(discriminant(question));
            }
            if let Op::Change(change, _) = &one.op {
                changed.insert(discriminant(change));
            }
        }
        if let Terminator::Try { attempt, .. } = &block.terminator {
            tried.insert(discriminant(attempt));
        }
    }
    asked.len() + changed.len() + tried.len()
}

/// The size of a function.
pub fn of_function(function: &Function) -> Cost {
    let blocks = function.blocks.iter().map(of_block);
    blocks.fold(FUNCTION, Cost::add)
}

/// The size of a block.
pub fn of_block(block: &Block) -> Cost {
    let own = block.instructions.iter().map(of_instruction);
    own.fold(of_end(&block.terminator), Cost::add)
}

/// The size of an instruction.
pub fn of_instruction(one: &Instruction) -> Cost {
    let given = ARGUMENT * (one.operands.len() + one.results.len());
    match &one.op {
        Op::Number(..) | Op::Text(..) | Op::Real(..) | Op::Instance(..) | Op::Index => NOTHING,
        Op::Yield | Op::Pass(_) | Op::Commit => NOTHING,
        Op::Arithmetic(how) => of_arithmetic(*how),
        Op::Compare(_) | Op::Float(_) | Op::Not => PLAIN,
        Op::ZeroExtend(_) | Op::SignExtend(_) | Op::Truncate(_) | Op::Concat => PLAIN,
        Op::Select => COSTLY,
        Op::Bytes(_) | Op::Get(_) | Op::Put(_) | Op::PutBytes | Op::Resize(_) => BYTES,
        Op::Inverse | Op::AddScaled | Op::Scale => BYTES,
        Op::ReadBytes(_) | Op::ReadPart(_) | Op::WriteBytes | Op::WritePart => BYTES,
        Op::Load(Region::Field(..)) if one.operands.len() > 1 => INDEXED,
        Op::Store(Region::Field(..)) if one.operands.len() > 2 => INDEXED,
        Op::Load(_) | Op::Disarm(_) | Op::Recompute(_) => LOAD,
        Op::Store(_) => STORE,
        Op::Read(_) | Op::Write(_) => MEMORY,
        Op::Length | Op::Start | Op::InBuffer | Op::Attribute(_) | Op::With(_) => MESSAGE,
        Op::Look | Op::Before | Op::Around | Op::SubView => MESSAGE,
        Op::Push | Op::Pull | Op::Cut => MESSAGE,
        Op::Run(..) | Op::Call(_) | Op::Loop(..) | Op::Foreign(..) => CALL + given,
        Op::Rewrite(_) => CALL,
        Op::HasBuffer | Op::Drop(_) | Op::Consume | Op::At(_) | Op::Ended(_) => SERVICE,
        Op::Begin(_) | Op::End(_) | Op::Free(_) => SERVICE,
        Op::StartTimer(..) | Op::StopTimer(..) | Op::TimerRuns(..) => SERVICE,
        Op::Step | Op::Waiting | Op::Precede | Op::Turn | Op::GoesOn(_) => SERVICE,
        Op::Count(_) | Op::CountBy(_) => SERVICE,
        Op::Ask(..) | Op::Change(..) => CONTAINER,
        Op::Queue(_, events) | Op::Output(events) => EVENT * events.len() + given,
        Op::Exit(_) => BRANCH,
    }
}

fn of_arithmetic(how: Arithmetic) -> Cost {
    match how {
        Arithmetic::Add | Arithmetic::Sub | Arithmetic::Mul => PLAIN,
        Arithmetic::And | Arithmetic::Or | Arithmetic::Xor => PLAIN,
        Arithmetic::Udiv | Arithmetic::Urem | Arithmetic::Sdiv | Arithmetic::Srem => COSTLY,
        Arithmetic::Shl | Arithmetic::Lshr | Arithmetic::Ashr => COSTLY,
        Arithmetic::Umin | Arithmetic::Umax | Arithmetic::Smin | Arithmetic::Smax => COSTLY,
    }
}

/// The size of the end of a block.
pub fn of_end(end: &Terminator) -> Cost {
    let edges = end.edges().into_iter();
    let moved = MOVE * edges.map(|edge| edge.arguments.len()).sum::<usize>();
    moved
        + match end {
            Terminator::Jump(_) | Terminator::Return(_) | Terminator::Take(_) => NOTHING,
            Terminator::Never => NOTHING,
            Terminator::Branch { .. } => BRANCH,
            Terminator::Switch { cases, .. } => BRANCH * (cases.len() + 1),
            Terminator::Try {
                attempt, operands, ..
            } => of_attempt(attempt) + ARGUMENT * operands.len(),
            Terminator::Tail(event, operands) => {
                let goes = match event.target {
                    Target::Function(_) => CALL,
                    Target::Link(_) | Target::Port(..) => EVENT,
                };
                goes + ARGUMENT * operands.len()
            }
        }
}

fn of_attempt(attempt: &Attempt) -> Cost {
    match attempt {
        Attempt::Live(_) => BRANCH,
        Attempt::Find(_) | Attempt::Soonest(..) | Attempt::Standing(_) => LOOKUP,
        Attempt::Recall(_) | Attempt::Create(_) => LOOKUP,
        Attempt::New | Attempt::NewOf | Attempt::Share | Attempt::Copy => ATTEMPT,
        Attempt::Restore | Attempt::Pad | Attempt::Rewrite(_) => ATTEMPT,
        Attempt::Pop(_) | Attempt::PushItem(_) | Attempt::Insert(_) => ATTEMPT,
        Attempt::Take(_) | Attempt::ShareItem(_) | Attempt::InsertBytes(_) => ATTEMPT,
        Attempt::AppendBytes(_) | Attempt::TakeBytes(_) => ATTEMPT,
        Attempt::CopyBytes(_) | Attempt::BorrowBytes(_) => ATTEMPT,
    }
}
