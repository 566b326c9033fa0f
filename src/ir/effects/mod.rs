//! Effects: which resources an operation reads and writes, and which handles it uses up.
//!
//! In: an operation. Out: its row. This is the only table of effects; the effects of a function are
//! those of its body and of all that it calls (`Effects::of_function`). `in_place.rs` says where a
//! fast function writes or keeps its message, `borrowed.rs` where a message whose bytes stand in a
//! stream is used as it may not be.

pub mod borrowed;
pub mod in_place;

use crate::ir::function::{Instruction, Terminator};
use crate::ir::ids::{FieldId, FunctionId, KindId};
use crate::ir::interface::{Given, Home};
use crate::ir::op::{Attempt, Change, Op, Place, Region};
use crate::ir::types::Type;
use crate::ir::{Function, Kernel, Module};
use std::borrow::Cow;
use std::collections::BTreeSet;

/// Something that changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Resource {
    /// A region that is loaded and stored.
    Region(Region),
    /// A container, or what only C knows.
    Container(Place),
    /// The live instances of a kind, and their keys.
    Instances(KindId),
    /// Bytes of messages.
    Bytes,
    /// Free buffers.
    Buffers,
    /// All timers.
    Timers,
    /// The agenda.
    Agenda,
    /// Steps that were taken, and what the host has not taken yet.
    Outputs,
    /// All counters, and what became of messages.
    Counters,
    /// The memory of functions in C.
    Foreign,
    /// Words that a kernel yields.
    Yielded,
    /// Control: a fast function may be left.
    Control,
}

use Resource::{
    Agenda, Buffers, Bytes, Container, Control, Counters, Foreign, Instances, Outputs, Timers,
    Yielded,
};

/// Resources that are read and written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Effects {
    /// Read.
    pub reads: BTreeSet<Resource>,
    /// Written.
    pub writes: BTreeSet<Resource>,
}

impl Effects {
    /// Returns true if nothing is written, and no control changes.
    pub fn are_none(&self) -> bool {
        self.writes.is_empty()
    }

    /// Returns true if nothing is written, and values set at the start alone are read.
    pub fn only_read_settings(&self) -> bool {
        let is_setting = |one: &Resource| matches!(one, Resource::Region(Region::Setting(_)));
        self.are_none() && self.reads.iter().all(is_setting)
    }

    /// Adds those of another.
    pub fn add(&mut self, other: &Effects) {
        add_all(&mut self.reads, &other.reads);
        add_all(&mut self.writes, &other.writes);
    }

    /// Returns the effects of an operation; of one that calls a function, without those of the
    /// function.
    pub fn of(module: &Module, op: &Op) -> Effects {
        let mut effects = Effects::default();
        effects.operation(module, op);
        effects
    }

    /// Returns the effects of an operation and of all that it calls, given those of all functions.
    pub fn with_called<'e>(module: &Module, effects: &'e [Effects], op: &Op) -> Cow<'e, Effects> {
        if let Op::Call(id) | Op::Loop(id, _) = op {
            return Cow::Borrowed(&effects[id.at()]);
        }
        let mut own = Effects::of(module, op);
        for function in called(module, op) {
            own.add(&effects[function.at()]);
        }
        Cow::Owned(own)
    }

    /// Returns the effects of an operation that may fail, and of all that it calls.
    pub fn of_attempt_with_called(
        module: &Module,
        effects: &[Effects],
        attempt: &Attempt,
    ) -> Effects {
        let mut own = Effects::of_attempt(module, attempt);
        for function in called_by_attempt(module, attempt) {
            own.add(&effects[function.at()]);
        }
        own
    }

    /// Returns the effects of an operation that may fail.
    pub fn of_attempt(module: &Module, attempt: &Attempt) -> Effects {
        let mut effects = Effects::default();
        effects.attempt(module, attempt);
        effects
    }

    /// Returns the effects of the operations and terminators of a function, without those of the
    /// functions that it calls.
    pub fn of_body(module: &Module, function: &Function) -> Effects {
        let mut effects = Effects::default();
        for block in &function.blocks {
            for instruction in &block.instructions {
                effects.operation(module, &instruction.op);
            }
            effects.terminator(module, &block.terminator);
        }
        effects
    }

    /// Returns the effects of a function and of all that it calls.
    pub fn of_function(module: &Module, id: FunctionId) -> Effects {
        Effects::of_function_up_to(module, id, &mut |_| false)
    }

    /// Returns the effects of a function and of all that it calls, without functions that are
    /// known already and what these call.
    pub fn of_function_up_to(
        module: &Module,
        id: FunctionId,
        is_known: &mut dyn FnMut(FunctionId) -> bool,
    ) -> Effects {
        let mut effects = Effects::default();
        let mut found = BTreeSet::from([id]);
        let mut open = vec![id];
        while let Some(id) = open.pop() {
            let function = module.function(id);
            effects.add(&Effects::of_body(module, function));
            for instruction in function.instructions() {
                let called = called(module, &instruction.op).into_iter();
                open.extend(called.filter(|id| found.insert(*id) && !is_known(*id)));
            }
        }
        effects
    }

    /// Returns the effects of each function and of all that it calls: a function calls only those
    /// before it.
    /// Words that a kernel yields go to the message over which it runs.
    pub fn of_functions(module: &Module) -> Vec<Effects> {
        let mut all: Vec<Effects> = Vec::new();
        for function in &module.functions {
            let mut effects = Effects::default();
            let mut run = Effects::default();
            let mut added: BTreeSet<(FunctionId, bool)> = BTreeSet::new();
            for block in &function.blocks {
                for Instruction { op, .. } in &block.instructions {
                    effects.operation(module, op);
                    let runs = matches!(op, Op::Run(..) | Op::Rewrite(_));
                    let into = if runs { &mut run } else { &mut effects };
                    for called in called(module, op) {
                        if added.insert((called, runs)) {
                            into.add(&all[called.at()]);
                        }
                    }
                }
                effects.terminator(module, &block.terminator);
                if let Terminator::Try { attempt, .. } = &block.terminator {
                    for called in called_by_attempt(module, attempt) {
                        run.add(&all[called.at()]);
                    }
                }
            }
            run.writes.remove(&Resource::Yielded);
            effects.add(&run);
            all.push(effects);
        }
        all
    }

    fn terminator(&mut self, module: &Module, terminator: &Terminator) {
        match terminator {
            Terminator::Try { attempt, .. } => self.attempt(module, attempt),
            Terminator::Tail(..) | Terminator::Take(_) => {
                self.write(&[Resource::Agenda, Resource::Outputs, Resource::Buffers]);
            }
            Terminator::Jump(_)
            | Terminator::Branch { .. }
            | Terminator::Switch { .. }
            | Terminator::Return(_)
            | Terminator::Never => {}
        }
    }

    /// Any field of the module may be read and written.
    fn fields(&mut self, module: &Module) {
        for (kind, declared) in module.kinds.iter().enumerate() {
            for field in 0..declared.fields.len() {
                let region = Region::Field(KindId(kind as u32), FieldId(field as u32));
                self.read(&[Resource::Region(region)]);
                self.write(&[Resource::Region(region)]);
            }
        }
    }

    fn read(&mut self, all: &[Resource]) {
        self.reads.extend(all);
    }

    fn write(&mut self, all: &[Resource]) {
        self.writes.extend(all);
    }

    fn operation(&mut self, module: &Module, op: &Op) {
        match op {
            Op::Number(..)
            | Op::Bytes(_)
            | Op::Real(..)
            | Op::Text(..)
            | Op::Float(_)
            | Op::Instance(..)
            | Op::Arithmetic(_)
            | Op::Compare(_)
            | Op::Not
            | Op::Select
            | Op::ZeroExtend(_)
            | Op::SignExtend(_)
            | Op::Truncate(_)
            | Op::Concat
            | Op::Get(_)
            | Op::Put(_)
            | Op::PutBytes
            | Op::Resize(_)
            | Op::Inverse
            | Op::Scale
            | Op::Length
            | Op::Start
            | Op::InBuffer
            | Op::Attribute(_)
            | Op::With(_)
            | Op::Look
            | Op::Before
            | Op::Around
            | Op::SubView
            | Op::Push
            | Op::Pull
            | Op::Cut
            | Op::At(_)
            | Op::Index
            | Op::Call(_)
            | Op::Loop(..) => {}
            Op::Load(region) => self.read(&[Resource::Region(*region)]),
            Op::Store(region) => self.write(&[Resource::Region(*region)]),
            Op::AddScaled | Op::Read(_) | Op::ReadBytes(_) | Op::ReadPart(_) | Op::Run(..) => {
                self.read(&[Bytes]);
            }
            Op::Write(_) | Op::WriteBytes | Op::WritePart => self.write(&[Bytes]),
            Op::Rewrite(_) => {
                self.read(&[Bytes]);
                self.write(&[Bytes]);
            }
            Op::Yield => self.write(&[Yielded]),
            Op::HasBuffer => self.read(&[Buffers]),
            Op::Drop(_) | Op::Consume => self.write(&[Buffers, Counters]),
            Op::Ended(kind) => self.read(&[Instances(*kind)]),
            Op::Begin(kind) => {
                self.write(&[Instances(*kind)]);
                self.keys(module, *kind);
            }
            Op::End(kind) => {
                self.write(&[Instances(*kind), Timers, Outputs]);
                self.listening(module, *kind);
            }
            Op::Free(kind) => {
                self.write(&[Instances(*kind), Timers, Buffers, Counters]);
                self.containers(module, *kind);
            }
            Op::StartTimer(..) | Op::StopTimer(..) => self.write(&[Timers]),
            Op::TimerRuns(..) => self.read(&[Timers]),
            Op::Ask(_, place) => self.read(&[Container(*place)]),
            Op::Change(how, place) => {
                self.write(&[Container(*place)]);
                if !matches!(how, Change::Empty | Change::Add | Change::Clear) {
                    self.write(&[Buffers, Counters]);
                }
            }
            Op::Queue(..) => self.write(&[Agenda, Buffers, Counters]),
            Op::Output(_) => self.write(&[Agenda, Outputs, Buffers, Counters]),
            Op::Waiting => self.read(&[Agenda]),
            Op::Precede | Op::Turn => self.write(&[Agenda]),
            Op::Step => self.write(&[Outputs]),
            Op::GoesOn(_) => self.read(&[Agenda, Outputs]),
            Op::Foreign(id, places) => {
                self.read(&[Bytes]);
                self.write(&[Foreign]);
                for place in places {
                    let held = Region::Field(place.kind, place.field);
                    self.read(&[Resource::Region(held)]);
                    self.write(&[Container(*place), Resource::Region(held)]);
                }
                let function = module.foreigns.get(id.0 as usize);
                if function.is_some_and(|one| one.home == Home::Reentrant) {
                    self.fields(module);
                }
                let mut parameters = function.into_iter().flat_map(|one| &one.parameters);
                if parameters.any(|(_, given)| *given == Given::Rewritten) {
                    self.write(&[Bytes]);
                }
            }
            Op::Count(_) | Op::CountBy(_) | Op::Pass(_) => self.write(&[Counters]),
            Op::Exit(_) | Op::Commit => self.write(&[Control]),
            Op::Recompute(id) => {
                self.write(&[Resource::Region(Region::Valid(*id))]);
                for at in 0..module.cached(*id).len() {
                    let part = Region::Cached(*id, at as u32);
                    self.write(&[Resource::Region(part)]);
                }
            }
            Op::Disarm(id) => self.write(&[Resource::Region(Region::Valid(*id))]),
        }
    }

    fn attempt(&mut self, module: &Module, attempt: &Attempt) {
        match attempt {
            Attempt::New => self.write(&[Buffers]),
            Attempt::NewOf | Attempt::Share | Attempt::Copy | Attempt::Rewrite(_) => {
                self.read(&[Bytes]);
                self.write(&[Buffers, Bytes]);
            }
            Attempt::Restore => {}
            Attempt::Pad => self.write(&[Bytes]),
            Attempt::Live(kind) | Attempt::Find(kind) | Attempt::Standing(kind) => {
                self.read(&[Instances(*kind)]);
            }
            Attempt::Recall(id) => {
                self.read(&[Resource::Region(Region::Valid(*id))]);
                for at in 0..module.cached_arguments(*id).len() {
                    self.read(&[Resource::Region(Region::Cached(*id, at as u32))]);
                }
            }
            Attempt::Soonest(kind, _) => self.read(&[Instances(*kind), Timers]),
            Attempt::Create(kind) => {
                self.write(&[Instances(*kind)]);
                self.keys(module, *kind);
            }
            Attempt::Pop(place)
            | Attempt::PushItem(place)
            | Attempt::Insert(place)
            | Attempt::Take(place) => self.write(&[Container(*place)]),
            Attempt::ShareItem(place) | Attempt::CopyBytes(place) | Attempt::BorrowBytes(place) => {
                self.read(&[Container(*place)]);
                self.write(&[Buffers, Bytes]);
            }
            Attempt::InsertBytes(place) | Attempt::AppendBytes(place) => {
                self.read(&[Bytes]);
                self.write(&[Container(*place), Buffers]);
            }
            Attempt::TakeBytes(place) => {
                self.write(&[Container(*place), Buffers, Bytes, Counters]);
            }
        }
    }

    fn keys(&mut self, module: &Module, kind: KindId) {
        for key in module
            .kinds
            .get(kind.at())
            .iter()
            .flat_map(|kind| &kind.keys)
        {
            self.write(&[Resource::Region(Region::Field(kind, *key))]);
        }
    }

    fn containers(&mut self, module: &Module, kind: KindId) {
        let fields = module
            .kinds
            .get(kind.at())
            .map_or(0, |kind| kind.fields.len());
        for field in (0..fields as u32).map(crate::ir::FieldId) {
            self.write(&[Resource::Container(Place { kind, field })]);
        }
    }

    fn listening(&mut self, module: &Module, kind: KindId) {
        let mut how = module.listening.iter();
        let how = how.find(|how| [how.session, how.listener].contains(&kind));
        if let Some(how) = how {
            let listener = [how.backlog, how.waiting].map(|field| (how.listener, field));
            let session = [how.waits, how.made_by].map(|field| (how.session, field));
            for (kind, field) in listener.into_iter().chain(session) {
                self.write(&[Resource::Region(Region::Field(kind, field))]);
            }
        }
    }
}

/// Adds resources to others: the smaller set to the larger, since a whole set is copied quickly.
fn add_all(to: &mut BTreeSet<Resource>, all: &BTreeSet<Resource>) {
    if to.len() < all.len() {
        let few = std::mem::replace(to, all.clone());
        to.extend(few);
    } else {
        to.extend(all);
    }
}

/// The functions that an operation calls.
pub fn called(module: &Module, op: &Op) -> Vec<FunctionId> {
    match op {
        Op::Call(function) | Op::Loop(function, _) => vec![*function],
        Op::Run(kernel, _) | Op::Rewrite(kernel) => {
            let kernel = module.kernels.get(kernel.at());
            kernel.map(Kernel::functions).unwrap_or_default()
        }
        _ => Vec::new(),
    }
}

/// The functions that an operation calls that may fail.
pub fn called_by_attempt(module: &Module, attempt: &Attempt) -> Vec<FunctionId> {
    match attempt {
        Attempt::Rewrite(kernel) => called(module, &Op::Rewrite(*kernel)),
        _ => Vec::new(),
    }
}

/// Returns true if an operation uses up its operands that are handles; others borrow them.
pub fn moves(op: &Op) -> bool {
    !matches!(
        op,
        Op::Length
            | Op::Start
            | Op::InBuffer
            | Op::Attribute(_)
            | Op::Look
            | Op::Before
            | Op::Around
            | Op::Write(_)
            | Op::WriteBytes
            | Op::WritePart
            | Op::Foreign(..)
    )
}

/// Returns true if an operation that may fail uses up its operands that are handles.
pub fn attempt_moves(attempt: &Attempt) -> bool {
    !matches!(attempt, Attempt::Share | Attempt::Copy)
}

/// Returns true if an operation needs a fact that excludes a trap: an index, a range or a divisor.
pub fn may_trap(op: &Op) -> bool {
    use crate::ir::op::Arithmetic::{Sdiv, Srem, Udiv, Urem};
    matches!(
        op,
        Op::Arithmetic(Udiv | Urem | Sdiv | Srem)
            | Op::Get(_)
            | Op::Put(_)
            | Op::PutBytes
            | Op::Read(_)
            | Op::ReadBytes(_)
            | Op::ReadPart(_)
            | Op::Write(_)
            | Op::WriteBytes
            | Op::WritePart
            | Op::Before
            | Op::Around
            | Op::SubView
            | Op::Push
            | Op::Pull
            | Op::Cut
            | Op::At(_)
            | Op::Run(..)
    )
}

/// Returns true if the values of a type may be computed again, or not at all.
pub fn is_plain(of: Type) -> bool {
    !of.is_linear()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::Role;
    use crate::ir::build::Builder;

    /// Calls are followed without recursion: a chain may be longer than the stack is deep, and what
    /// is called twice counts once.
    #[test]
    fn a_long_chain_of_calls_has_the_effects_of_its_end() {
        let mut module = Module::default();
        for at in 0..100_000_u32 {
            let mut build = Builder::new(&format!("f{at}"), "small", Role::Plain, &[]);
            match at.checked_sub(1) {
                None => drop(build.op(&module, Op::Commit, &[])),
                Some(before) => {
                    for _twice in 0..2 {
                        build.op(&module, Op::Call(FunctionId(before)), &[]);
                    }
                }
            }
            build.end(Terminator::Return(Vec::new()));
            module.functions.push(build.finish(Vec::new()));
        }
        let effects = Effects::of_function(&module, FunctionId(99_999));
        assert_eq!(effects.writes, BTreeSet::from([Control]));
        assert_eq!(Effects::of_functions(&module)[99_999], effects);
    }
}
