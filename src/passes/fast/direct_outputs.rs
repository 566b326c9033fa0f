//! Direct outputs: events of a fast function that leave the stack do not wait on the agenda.
//!
//! In: fast functions that put events on the agenda where they make them, and take the first of
//! them in the end. Out: events that leave the stack do so where they are made, as long as none
//! before them waits. Each is an output; a step begins before each but the first, as before each
//! event that comes off the agenda. The guard also asks whether so many steps may be taken.
//!
//! ```text
//! commit                              exit stack.steps (not (goes_on 2))
//! %w = waiting                        commit
//! queue.made port notice freed(%i)    output port notice freed(%i)
//! queue.made link wire(%m)        =>  step 1
//! turn %w                             output link wire(%m)
//! take %w                             return
//! ```
//!
//! An event for a reaction still waits, and so does all behind it: the first of them is taken in
//! the end, in a step of its own. If something was made on some of the ways that meet before an
//! event, a parameter says how many steps begin. A function stays as it is if it is not known
//! whether something waits before an event, or if its events are not turned and taken once, all of
//! them since one mark.
//!
//! Assumes: rules 1 to 5, 10 and 13 of the verifier. Ensures: the same outputs and events in the
//! same order, and as many steps. An output needs no place on the agenda, so where that is full it
//! is not dropped.

use crate::ir::effects::in_place::Spot;
use crate::ir::effects::{Effects, Resource};
use crate::ir::graph::Graph;
use crate::ir::op::{Event, Op, Order, Target, Told};
use crate::ir::{BlockId, Function, Instruction, Module, Region, Role, Terminator, Type, Value};
use std::collections::{BTreeMap, BTreeSet};

/// The exit where budget or room for the outputs is exhausted.
const EXIT: &str = "stack.steps";

/// Turns events of all fast functions into outputs.
pub fn run(module: &mut Module) {
    let effects = Effects::of_functions(module);
    for at in 0..module.functions.len() {
        let function = &module.functions[at];
        if function.role == Role::Fast
            && let Some(direct) = direct(module, &effects, function)
        {
            module.functions[at] = direct;
        }
    }
}

/// Knowledge of whether a path has made an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Any {
    No,
    Yes,
    /// An event was made if this number is 1.
    Perhaps(Value),
}

/// Events of a path behind the commit, so far.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Made {
    /// An event was made.
    any: Any,
    /// Events that became outputs, at most.
    outputs: u32,
    /// An event waits on the agenda; none if one does on some ways alone.
    waits: Option<bool>,
    /// The events stand in the order in which they come: no other may follow.
    turned: bool,
}

impl Made {
    /// At the commit.
    const NOTHING: Made = Made {
        any: Any::No,
        outputs: 0,
        waits: Some(false),
        turned: false,
    };
}

/// The function with direct outputs; none if it has none, or if they might come in another order.
fn direct(module: &Module, effects: &[Effects], function: &Function) -> Option<Function> {
    let graph = Graph::of(function).expect("the verifier passes acyclic graphs alone");
    let mut rewriting = Rewriting {
        module,
        effects,
        most: 0,
        marks: BTreeSet::new(),
    };
    let mut ends: Vec<Option<Made>> = vec![None; function.blocks.len()];
    let mut direct = function.clone();
    let mut outputs = Vec::new();
    for id in &graph.order {
        let made = met(&mut direct, *id, &graph.before[id.at()], &ends);
        let end = rewriting.block(&mut direct, *id, made)?;
        ends[id.at()] = end;
        if end.is_some_and(|made| made.outputs > 0) {
            outputs.push(*id);
        }
    }
    let most = rewriting.most;
    let commits = direct.all_blocks();
    let commits = commits.filter_map(|(id, block)| Some((id, block.commit()?)));
    let leads = |id: BlockId| {
        let behind = function.behind(id);
        outputs.iter().any(|one| *one == id || behind.contains(one))
    };
    let commits: Vec<Spot> = commits.filter(|(id, _)| leads(*id)).collect();
    for spot in &commits {
        ask(&mut direct, *spot, most);
    }
    (!commits.is_empty()).then_some(direct)
}

/// Joins what the edges to a block have made; none in a guard.
fn met(
    direct: &mut Function,
    join: BlockId,
    before: &[BlockId],
    ends: &[Option<Made>],
) -> Option<Made> {
    let made: Vec<(BlockId, Made)> = before
        .iter()
        .filter_map(|id| Some((*id, ends[id.at()]?)))
        .collect();
    let (_, first) = *made.first()?;
    let any = match made.iter().all(|(_, one)| one.any == first.any) {
        true => first.any,
        false => Any::Perhaps(steps_of_edges(direct, join, &made)),
    };
    let waits = made.iter().all(|(_, one)| one.waits == first.waits);
    let turned = made.iter().any(|(_, one)| one.turned);
    let outputs = made.iter().map(|(_, one)| one.outputs).max();
    Some(Made {
        any,
        outputs: outputs.unwrap_or(0),
        waits: first.waits.filter(|_| waits),
        turned,
    })
}

/// A parameter of a join, to which each edge gives how many steps begin before the next event.
fn steps_of_edges(direct: &mut Function, join: BlockId, made: &[(BlockId, Made)]) -> Value {
    let steps = direct.define(Type::WORD);
    direct.blocks[join.at()].parameters.insert(0, steps);
    let made: BTreeMap<BlockId, Made> = made.iter().copied().collect();
    for (id, made) in made {
        let given = match made.any {
            Any::No => number(direct, id, 0),
            Any::Yes => number(direct, id, 1),
            Any::Perhaps(steps) => steps,
        };
        for edge in direct.blocks[id.at()].terminator.edges_mut() {
            if edge.block == join {
                edge.arguments.insert(0, given);
            }
        }
    }
    steps
}

/// A constant at the end of a block.
fn number(function: &mut Function, id: BlockId, number: u64) -> Value {
    let value = function.define(Type::WORD);
    let behind = &mut function.blocks[id.at()].instructions;
    behind.push(Instruction::new(Op::Number(32, number), &[], &[value]));
    value
}

/// A guard leaves before its commit, unless so many steps may be taken.
fn ask(function: &mut Function, (id, at): Spot, steps: u32) {
    let goes_on = function.define(Type::BIT);
    let not = function.define(Type::BIT);
    let asks = [
        Instruction::new(Op::GoesOn(steps), &[], &[goes_on]),
        Instruction::new(Op::Not, &[goes_on], &[not]),
        Instruction::new(Op::Exit(EXIT.to_string()), &[not], &[]),
    ];
    let block = &mut function.blocks[id.at()].instructions;
    block.splice(at..at, asks);
}

struct Rewriting<'r> {
    module: &'r Module,
    effects: &'r [Effects],
    /// Outputs of a path, at most.
    most: u32,
    /// Marks before which no event was made.
    marks: BTreeSet<Value>,
}

impl Rewriting<'_> {
    /// Gives a block direct outputs. Returns what has been made at its end; in a guard, nothing is.
    /// None if other events might come between.
    fn block(
        &mut self,
        direct: &mut Function,
        id: BlockId,
        made: Option<Made>,
    ) -> Option<Option<Made>> {
        let mut made = made;
        let all = std::mem::take(&mut direct.blocks[id.at()].instructions);
        let mut new = Vec::new();
        for instruction in all {
            match (&instruction.op, &mut made) {
                (Op::Commit, _) => made = Some(Made::NOTHING),
                (Op::Waiting, made) => {
                    if made.is_none_or(|made| made.any == Any::No) {
                        self.marks.extend(&instruction.results);
                    }
                }
                (Op::Queue(..), Some(made)) if made.turned => return None,
                (Op::Turn, Some(_)) if !self.marks.contains(&instruction.operands[0]) => {
                    return None;
                }
                (Op::Queue(Order::Made, events), Some(made)) => {
                    new.extend(self.events(direct, &instruction, events, made)?);
                    continue;
                }
                (Op::Turn, Some(made)) => {
                    made.turned = true;
                    if made.waits == Some(false) {
                        continue;
                    }
                }
                (Op::Step, Some(_)) | (_, None) => {}
                (op, Some(made)) => {
                    let effects = Effects::with_called(self.module, self.effects, op);
                    self.happens(made, &effects)?;
                }
            }
            new.push(instruction);
        }
        let block = &mut direct.blocks[id.at()];
        block.instructions = new;
        match (&block.terminator, &mut made) {
            (Terminator::Take(mark), Some(made))
                if self.marks.contains(mark) && made.turned && made.waits == Some(false) =>
            {
                block.terminator = Terminator::Return(Vec::new());
            }
            (Terminator::Take(mark), Some(made)) if self.marks.contains(mark) && made.turned => {}
            (Terminator::Take(_) | Terminator::Tail(..) | Terminator::Return(_), Some(made))
                if made.outputs > 0 =>
            {
                return None;
            }
            (Terminator::Try { attempt, .. }, Some(made)) => {
                let effects = Effects::of_attempt_with_called(self.module, self.effects, attempt);
                self.happens(made, &effects)?;
            }
            _ => {}
        }
        Some(made)
    }

    /// Notes the effects of another operation. None if they change what an earlier output asks.
    fn happens(&self, made: &mut Made, effects: &Effects) -> Option<()> {
        let mut writes = effects.writes.iter();
        if made.outputs > 0 && writes.clone().any(|one| self.disturbs(*one)) {
            return None;
        }
        if writes.any(|one| matches!(one, Resource::Agenda | Resource::Outputs)) {
            made.waits = Some(true);
        }
        Some(())
    }

    /// Events that are made, as outputs as far as none waits before them.
    fn events(
        &mut self,
        direct: &mut Function,
        instruction: &Instruction,
        events: &[Event],
        made: &mut Made,
    ) -> Option<Vec<Instruction>> {
        let mut all = Vec::new();
        let mut operands = &instruction.operands[..];
        let mut rest = events;
        while let Some((event, behind)) = rest.split_first() {
            if made.waits? {
                break;
            }
            match made.any {
                Any::No => {}
                Any::Yes => {
                    let one = direct.define(Type::WORD);
                    all.push(Instruction::new(Op::Number(32, 1), &[], &[one]));
                    all.push(Instruction::new(Op::Step, &[one], &[]));
                }
                Any::Perhaps(steps) => all.push(Instruction::new(Op::Step, &[steps], &[])),
            }
            made.any = Any::Yes;
            if !self.leaves(event.target) {
                made.waits = Some(true);
                break;
            }
            let (own, others) = operands.split_at(event.arguments as usize);
            all.push(Instruction {
                op: Op::Output(vec![*event]),
                operands: own.to_vec(),
                ..instruction.clone()
            });
            made.outputs += 1;
            self.most = self.most.max(made.outputs);
            (operands, rest) = (others, behind);
        }
        if !rest.is_empty() {
            all.push(Instruction {
                op: Op::Queue(Order::Made, rest.to_vec()),
                operands: operands.to_vec(),
                ..instruction.clone()
            });
        }
        Some(all)
    }

    /// Returns true if an event changes nothing but outputs: a frame leaves, or an application that
    /// asks for what it is told is told something. Sessions that are to be accepted wait for the
    /// application.
    fn leaves(&self, target: Target) -> bool {
        match target {
            Target::Link(_) => true,
            Target::Port(port, told) => {
                let mut listening = self.module.listening.iter();
                let opens = listening
                    .any(|one| one.port == port && one.opened.map(Told::Notice) == Some(told));
                told != Told::Started && !opens && !self.module.calls_application(target)
            }
            Target::Function(_) => false,
        }
    }

    /// Returns true if a write changes what an earlier output asks, the lives of instances and the
    /// sessions of which an application has heard, or if other events leave or wait.
    fn disturbs(&self, written: Resource) -> bool {
        match written {
            Resource::Agenda | Resource::Outputs | Resource::Instances(_) => true,
            Resource::Region(Region::Field(kind, field)) => {
                let mut listening = self.module.listening.iter();
                listening
                    .any(|one| one.session == kind && [one.waits, one.unknown].contains(&field))
            }
            _other => false,
        }
    }
}
