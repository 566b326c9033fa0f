//! Symbolic execution of an operation of which only its effects are known.
//!
//! In: an operation, its operands and the state. Out: results and another state, as functions of
//! the operands and of the parts of the state that the table of effects names. So two operations
//! are the same if they are given the same; nothing else is known of them.

use super::{Executor, Frame};
use crate::ir::effects::{Effects, Resource, called, called_by_attempt};
use crate::ir::op::{Event, Op, Piece, Region};
use crate::ir::{FunctionId, Instruction, Module, Terminator, Type};
use crate::prove::naming::{Shown, constant};
use crate::prove::symbolic::{Cell, Message, State, Symbolic, named, sort, sort_of};
use crate::prove::terms::{Sort, Term};
use std::collections::BTreeSet;

use Symbolic::Plain;

impl Executor<'_> {
    /// Returns the name of an operation that is the same in both modules.
    fn name(&self, op: &Op) -> String {
        let events = |events: &[Event]| {
            let all = events.iter();
            let all = all.map(|one| self.naming.target(self.module, one.target));
            all.collect::<Vec<String>>().join(", ")
        };
        match op {
            Op::Queue(order, all) => format!("queue {order:?} {}", events(all)),
            Op::Output(all) => format!("output {}", events(all)),
            Op::GoesOn(steps) => format!("goes on {steps}"),
            Op::Loop(id, most) => {
                let name = self.naming.function(&self.module.function(*id).name);
                format!("loop {name} at most {most}")
            }
            Op::Run(id, pieces) => {
                let name = &self.module.kernels[id.at()].name;
                format!("run {name} {pieces:?}")
            }
            Op::Rewrite(id) => format!("rewrite {}", self.module.kernels[id.at()].name),
            other => format!("{other:?}"),
        }
    }

    /// Returns the terms on which the result of an operation depends, without the state.
    fn given(&mut self, frame: &Frame<'_>, instruction: &Instruction) -> Vec<Term> {
        let given: Vec<Symbolic> = instruction
            .operands
            .iter()
            .map(|one| frame.value(*one))
            .collect();
        match &instruction.op {
            Op::Queue(_, events) | Op::Output(events) => {
                let mut rest = &given[..];
                let mut all = Vec::new();
                for event in events {
                    let (own, others) = rest.split_at(event.arguments as usize);
                    rest = others;
                    let known = (&mut *self.terms, self.module);
                    all.extend(self.naming.arguments(known, *event, own));
                }
                all
            }
            Op::Loop(id, _) => {
                let name = &self.module.function(*id).name;
                let each: Vec<Shown> = (0..given.len()).map(Shown::Given).collect();
                let shown = self.naming.parameters.get(name).unwrap_or(&each);
                let terms = &mut *self.terms;
                let all = shown.iter().flat_map(|one| match one {
                    Shown::Given(at) => given[*at].terms(),
                    Shown::Constant(op) => vec![constant(terms, op)],
                });
                all.collect()
            }
            Op::Run(id, pieces) => {
                let count = self.module.kernels[id.at()].parameters.len();
                let mut all: Vec<Term> = given[..count].iter().flat_map(Symbolic::terms).collect();
                let mut rest = given[count..].iter();
                for piece in pieces {
                    match piece {
                        Piece::Zeros(_) => {}
                        Piece::Byte => {
                            all.extend(rest.next().map(Symbolic::terms).unwrap_or_default())
                        }
                        Piece::Bytes => {
                            let parts: Vec<Symbolic> = rest.by_ref().take(3).cloned().collect();
                            all.extend(self.piece(&frame.state, &parts));
                        }
                    }
                }
                all
            }
            op => {
                let reads = Effects::of(self.module, op)
                    .reads
                    .contains(&Resource::Bytes);
                let mut all = Vec::new();
                for value in &given {
                    all.extend(self.naming.kept(value));
                    if reads && let Some(content) = self.content_of(&frame.state, value) {
                        all.push(content);
                    }
                }
                all
            }
        }
    }

    /// Returns the bytes of a message or view.
    pub(super) fn content_of(&mut self, state: &State, value: &Symbolic) -> Option<Term> {
        let buffer = match value {
            Symbolic::Message(message) => message.buffer,
            Symbolic::View(buffer, ..) => *buffer,
            Plain(_) => return None,
        };
        let bytes = self.cell(state, Resource::Bytes);
        Some(self.terms.select(bytes, buffer))
    }

    /// Returns a piece of what a kernel runs over: bytes of a buffer from one place to another.
    fn piece(&mut self, state: &State, parts: &[Symbolic]) -> Vec<Term> {
        let [view @ Symbolic::View(_, base, _), Plain(from), Plain(to)] = parts else {
            panic!("a piece is a view and two numbers");
        };
        let content = self.content_of(state, view).expect("a view has bytes");
        let ends = [from, to].map(|at| self.terms.add(*base, *at));
        vec![content, ends[0], ends[1]]
    }

    /// Executes an operation of which only its effects are known.
    pub(super) fn abstracted(
        &mut self,
        frame: &mut Frame<'_>,
        instruction: &Instruction,
    ) -> Vec<Symbolic> {
        let name = self.name(&instruction.op);
        let given = self.given(frame, instruction);
        let mut effects = Effects::of(self.module, &instruction.op);
        effects.reads.remove(&Resource::Bytes);
        let changed = effects.writes.remove(&Resource::Bytes);
        for id in called(self.module, &instruction.op) {
            let called = self.naming.function(&self.module.function(id).name);
            if let Some(more) = self.naming.effects.get(&called) {
                effects.add(more);
            }
        }
        if matches!(instruction.op, Op::Run(..) | Op::Rewrite(_)) {
            effects.reads.remove(&Resource::Bytes);
            effects.writes.remove(&Resource::Yielded);
        }
        let types: Vec<Type> = instruction
            .results
            .iter()
            .map(|result| frame.function.type_of(*result))
            .collect();
        let stored = match &instruction.op {
            Op::Loop(id, _) => only_stored(self.module, *id, &effects),
            _other => BTreeSet::new(),
        };
        let known = (&name[..], given.clone());
        let results = self.applied_to(&mut frame.state, known, (&effects, &stored), &types);
        if changed {
            for operand in &instruction.operands {
                if let Symbolic::Message(message) = frame.value(*operand) {
                    let rewritten = format!("{name} bytes");
                    let content = self.terms.applied(&rewritten, &given, Sort::CONTENT);
                    self.put_content(&mut frame.state, message.buffer, content);
                }
            }
        }
        results
    }

    /// Gives a buffer other bytes.
    pub(super) fn put_content(&mut self, state: &mut State, buffer: Term, content: Term) {
        let bytes = self.cell(state, Resource::Bytes);
        let bytes = self.terms.store(bytes, buffer, content);
        state.cells.insert(Cell::Resource(Resource::Bytes), bytes);
    }

    /// Applies a function of which nothing is known: to terms and what it reads and writes.
    pub(super) fn applied(
        &mut self,
        state: &mut State,
        known: (&str, Vec<Term>),
        effects: &Effects,
        types: &[Type],
    ) -> Vec<Symbolic> {
        self.applied_to(state, known, (effects, &BTreeSet::new()), types)
    }

    /// Does the same; on the content of fields that are only stored nothing else depends.
    fn applied_to(
        &mut self,
        state: &mut State,
        (name, mut given): (&str, Vec<Term>),
        (effects, only_stored): (&Effects, &BTreeSet<Resource>),
        types: &[Type],
    ) -> Vec<Symbolic> {
        let is_cache =
            |one: &Resource| matches!(one, Resource::Region(Region::Valid(_) | Region::Cached(..)));
        if effects
            .reads
            .union(&effects.writes)
            .any(|one| *one == Resource::Agenda)
        {
            self.wait_unordered(state);
        }
        let before = state.clone();
        for resource in effects.reads.union(&effects.writes) {
            let is_read = effects.reads.contains(resource) || !only_stored.contains(resource);
            if !is_cache(resource) && is_read {
                given.push(self.cell(&before, *resource));
            }
        }
        for resource in &effects.writes {
            let of = sort(self.module, *resource);
            let written = format!("{name} > {}", named(self.module, *resource));
            let mut given = given.clone();
            if only_stored.contains(resource) {
                given.push(self.cell(&before, *resource));
            }
            let term = self.terms.applied(&written, &given, of);
            state.cells.insert(Cell::Resource(*resource), term);
        }
        let numbered = types.iter().enumerate();
        let results = numbered.map(|(at, of)| {
            let name = format!("{name} #{at}");
            self.result(&name, &given, *of)
        });
        results.collect()
    }

    /// Returns a result of a function of which nothing is known.
    fn result(&mut self, name: &str, given: &[Term], of: Type) -> Symbolic {
        let Type::Message = of else {
            return Plain(self.terms.applied(name, given, sort_of(of)));
        };
        let part = |executor: &mut Self, part: &str, of: Sort| {
            let name = format!("{part} of {name}");
            executor.terms.applied(&name, given, of)
        };
        let slot = part(self, "buffer", Sort::Bits(31));
        let buffer = self.made(slot);
        let start = part(self, "start", Sort::Bits(32));
        let length = part(self, "length", Sort::Bits(32));
        let all = self.module.attributes.iter();
        let attributes = all.map(|one| part(self, &one.name, sort_of(one.of)));
        let attributes = attributes.collect();
        Symbolic::Message(Message {
            buffer,
            start,
            length,
            attributes,
        })
    }

    /// Returns the buffer of a message that was made: none of those of parameters.
    pub(super) fn made(&mut self, number: Term) -> Term {
        let one = self.terms.bit(true);
        self.terms.concat(&[one, number])
    }
}

/// Returns the fields among effects of a loop on which its function does not depend, nor those
/// that it calls: they store it, or have no part in it.
fn only_stored(module: &Module, id: FunctionId, effects: &Effects) -> BTreeSet<Resource> {
    let mut used: BTreeSet<Resource> = BTreeSet::new();
    let mut found = BTreeSet::from([id]);
    let mut open = vec![id];
    while let Some(id) = open.pop() {
        let function = module.function(id);
        for instruction in function.instructions() {
            if !matches!(instruction.op, Op::Store(Region::Field(..))) {
                let effects = Effects::of(module, &instruction.op);
                used.extend(effects.writes.union(&effects.reads));
            }
            let called = called(module, &instruction.op).into_iter();
            open.extend(called.filter(|id| found.insert(*id)));
        }
        for block in &function.blocks {
            if let Terminator::Try { attempt, .. } = &block.terminator {
                let effects = Effects::of_attempt(module, attempt);
                used.extend(effects.writes.union(&effects.reads));
                let called = called_by_attempt(module, attempt).into_iter();
                open.extend(called.filter(|id| found.insert(*id)));
            }
        }
    }
    let is_field = |one: &&Resource| matches!(one, Resource::Region(Region::Field(..)));
    let fields = effects.writes.iter().filter(is_field).copied();
    fields.filter(|field| !used.contains(field)).collect()
}
