//! Rule 5: a view is used only while the bytes that it shows are as they were.
//!
//! In: a function with a graph. Out: breaches.
//!
//! A message keeps its *buffer* through `push`, `pull`, `cut`, `with`, `rewrite`, `restore`, `pad`
//! and called functions that return it, and as the parameter of a block that all ways give the same
//! buffer. A view shows bytes of the message (`look`) or stripped bytes before it (`before`). It
//! ends
//!
//! - when the message is used up in any other way; an event, call or return that takes the message
//!   may take its views along, and an event that waits takes a view only with the message;
//! - when the message is pushed or restored;
//! - when the message is written, rewritten or padded, unless the view shows stripped bytes.
//!
//! A reaction is given views of stripped bytes alone; other functions may be given views of bytes
//! of any message that they are given. A called function pushes and restores no message that it is
//! given, and a loop captures no view of bytes of a message that it is given. Bytes that two
//! handles share are not written (rule 7, not checked yet).
//!
//! A message whose bytes are read in a stream leaves by a link that gathers, before any container
//! changes; only what is pushed before it is written (`effects/borrowed.rs`).
//!
//! A value of an opaque type that was loaded is used while its place holds what it held: on no way
//! to the use is that place written.

use super::breach::{Breach, Rule, Scope, Spot, name};
use crate::ir::effects::borrowed::Borrowed;
use crate::ir::effects::{Effects, Resource, called};
use crate::ir::op::Event;
use crate::ir::{Attempt, Edge, Instruction, Op, Region, Role, Terminator, Type, Value};
use std::collections::{BTreeMap, BTreeSet};

/// Checks that no view is used behind its end.
pub fn check(scope: &Scope<'_>) -> Vec<Breach> {
    let mut walk = Walk {
        scope,
        buffers: Buffers::new(),
        handles: BTreeMap::new(),
        views: BTreeMap::new(),
        last: 0,
        breaches: Vec::new(),
    };
    let mut at_begin: Vec<Vec<Entry>> = vec![Vec::new(); scope.function.blocks.len()];
    for id in &scope.graph.order {
        let block = scope.function.block(*id);
        let entries = std::mem::take(&mut at_begin[id.at()]);
        if entries.is_empty() {
            walk.given(&block.parameters);
        } else {
            walk.join(entries, &block.parameters);
        }
        for (at, instruction) in block.instructions.iter().enumerate() {
            walk.instruction((*id, at), instruction);
        }
        let spot = (*id, block.instructions.len());
        walk.used(spot, &block.terminator.uses());
        for (at, edge) in block.terminator.edges().into_iter().enumerate() {
            let entry = walk.entry(&block.terminator, at == 0, edge);
            at_begin[edge.block.at()].push(entry);
        }
    }
    walk.breaches.extend(opaque_values(scope));
    let borrowed = Borrowed::of(scope.module, scope.function);
    let wrong = "bytes that stand in a stream are written, kept, or do not leave";
    let misused = borrowed.misused.into_iter();
    let misused = misused.map(|spot| scope.breach(Rule::Borrows, spot, wrong.to_string()));
    walk.breaches.extend(misused);
    walk.breaches
}

/// Checks that no value of an opaque type is used behind a write to the place of which it is.
fn opaque_values(scope: &Scope<'_>) -> Vec<Breach> {
    let function = scope.function;
    let loaded = function.instructions().filter_map(|one| match &one.op {
        Op::Load(region) => Some((one.results[0], *region)),
        _other => None,
    });
    let is_opaque = |value: Value| matches!(function.type_of(value), Type::Opaque(_));
    let loaded: BTreeMap<Value, Region> = loaded.filter(|(value, _)| is_opaque(*value)).collect();
    let mut breaches = Vec::new();
    if loaded.is_empty() {
        return breaches;
    }
    // By block: values whose places are as they were, on all ways.
    let mut at_begin: Vec<Option<BTreeSet<Value>>> = vec![None; function.blocks.len()];
    for id in &scope.graph.order {
        let block = function.block(*id);
        let mut held = at_begin[id.at()].take().unwrap_or_default();
        let ends = |held: &BTreeSet<Value>, used: &[Value]| {
            let mut used = used.iter();
            used.find(|one| loaded.contains_key(one) && !held.contains(one))
                .map(|one| {
                    format!(
                        "{} is used behind a write to its place",
                        name(function, *one)
                    )
                })
        };
        for (at, instruction) in block.instructions.iter().enumerate() {
            let wrong = ends(&held, &instruction.operands);
            breaches.extend(wrong.map(|says| scope.breach(Rule::Borrows, (*id, at), says)));
            let mut effects = Effects::of(scope.module, &instruction.op);
            for id in called(scope.module, &instruction.op) {
                effects.add(&scope.effects[id.at()]);
            }
            held.retain(|one| !effects.writes.contains(&Resource::Region(loaded[one])));
            let result = instruction.results.iter();
            held.extend(result.filter(|one| loaded.contains_key(one)));
        }
        let spot = (*id, block.instructions.len());
        let wrong = ends(&held, &block.terminator.uses());
        breaches.extend(wrong.map(|says| scope.breach(Rule::Borrows, spot, says)));
        for edge in block.terminator.edges() {
            let begin = &mut at_begin[edge.block.at()];
            *begin = Some(match begin.take() {
                Some(other) => other.intersection(&held).copied().collect(),
                None => held.clone(),
            });
        }
    }
    breaches
}

/// Bytes that a view shows: those of a message in a buffer, or stripped ones before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Shown {
    buffer: u32,
    stripped: bool,
    /// The version of those bytes when the view was made.
    version: u32,
}

/// A view: all bytes that it may show.
type Borrow = Vec<Shown>;

/// The versions of the bytes of a buffer: of the message, and of what was stripped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Bytes {
    message: u32,
    stripped: u32,
}

impl Bytes {
    fn version(self, stripped: bool) -> u32 {
        if stripped {
            self.stripped
        } else {
            self.message
        }
    }
}

/// The buffers of the handles that exist.
type Buffers = BTreeMap<u32, Bytes>;

/// A way to a block: its buffers there, and the parameters of the block.
#[derive(Clone, Debug, Default)]
struct Entry {
    buffers: Buffers,
    parameters: Vec<Parameter>,
}

#[derive(Clone, Debug)]
enum Parameter {
    Handle(u32),
    View(Borrow),
    Other,
}

struct Walk<'s> {
    scope: &'s Scope<'s>,
    buffers: Buffers,
    /// By handle: its buffer.
    handles: BTreeMap<Value, u32>,
    views: BTreeMap<Value, Borrow>,
    /// The last buffer or version.
    last: u32,
    breaches: Vec<Breach>,
}

impl Walk<'_> {
    fn instruction(&mut self, spot: Spot, instruction: &Instruction) {
        let operands = &instruction.operands;
        let results = &instruction.results;
        self.used(spot, operands);
        match &instruction.op {
            Op::Look | Op::Before | Op::Around => {
                let buffer = self.handles[&operands[0]];
                let stripped = instruction.op == Op::Before;
                let bytes = self.buffers.get(&buffer);
                let view = Shown {
                    buffer,
                    stripped,
                    version: bytes.map_or(0, |bytes| bytes.version(stripped)),
                };
                self.views.insert(results[0], vec![view]);
            }
            Op::SubView => {
                let view = self.views[&operands[0]].clone();
                self.views.insert(results[0], view);
            }
            Op::With(_) | Op::Cut | Op::Pull => self.same(operands[0], results[0]),
            Op::Push => {
                if self.is_called_with(operands[0]) {
                    let message = "a called function pushes a message that it is given";
                    self.say(spot, message.to_string());
                }
                let buffer = self.handles[&operands[0]];
                self.moved(buffer);
                self.same(operands[0], results[0]);
            }
            Op::Rewrite(_) => {
                self.written(operands[0]);
                self.same(operands[0], results[0]);
            }
            Op::Write(_) | Op::WriteBytes | Op::WritePart | Op::Foreign(..) => {
                for value in operands {
                    if self.handles.contains_key(value) {
                        self.written(*value);
                    }
                }
            }
            Op::Loop(..) => {
                let captured = operands.len() - results.len();
                self.captured(spot, &operands[..captured], operands);
                self.called(operands, results);
            }
            Op::Call(_) => self.called(operands, results),
            op => self.other(spot, op, operands, results),
        }
    }

    /// A function returns messages that it is given, in order; it may have written them.
    fn called(&mut self, operands: &[Value], results: &[Value]) {
        let given = operands
            .iter()
            .filter(|one| self.handles.contains_key(*one));
        let given: Vec<Value> = given.copied().collect();
        let returned = results.iter().filter(|one| self.is(**one, Type::Message));
        let returned: Vec<Value> = returned.copied().collect();
        let kept = given.len().min(returned.len());
        for (message, result) in given.iter().zip(&returned) {
            self.written(*message);
            self.same(*message, *result);
        }
        self.used_up(&given[kept..]);
        for result in &returned[kept..] {
            let buffer = self.fresh();
            self.handles.insert(*result, buffer);
        }
        let views: Vec<&Borrow> = operands
            .iter()
            .filter_map(|one| self.views.get(one))
            .collect();
        let mut borrow = self.merged(&views);
        for message in returned {
            let buffer = self.handles[&message];
            borrow.extend(self.shown(buffer, false));
        }
        for value in results {
            if self.is(*value, Type::View) {
                self.views.insert(*value, borrow.clone());
            }
        }
    }

    fn other(&mut self, spot: Spot, op: &Op, operands: &[Value], results: &[Value]) {
        if let Op::Queue(_, events) | Op::Output(events) = op {
            self.waits(spot, events, operands);
        }
        if crate::ir::effects::moves(op) {
            self.used_up(operands);
        }
        for value in results {
            if self.is(*value, Type::Message) {
                let buffer = self.fresh();
                self.handles.insert(*value, buffer);
            }
        }
    }

    /// A loop captures no view of bytes of a message that it is given: a turn may write them.
    fn captured(&mut self, spot: Spot, captured: &[Value], operands: &[Value]) {
        let handles = operands.iter().filter_map(|one| self.handles.get(one));
        let taken: Vec<u32> = handles.copied().collect();
        let mut views = captured.iter().filter_map(|one| self.views.get(one));
        let shows = |shown: &Shown| !shown.stripped && taken.contains(&shown.buffer);
        if views.any(|view| view.iter().any(shows)) {
            let message = "a loop captures a view of a message that it takes";
            self.say(spot, message.to_string());
        }
    }

    /// A view waits only with the message whose stripped bytes it shows.
    fn waits(&mut self, spot: Spot, events: &[Event], operands: &[Value]) {
        let mut rest = operands;
        for event in events {
            let (own, others) = rest.split_at((event.arguments as usize).min(rest.len()));
            rest = others;
            self.taken_along(spot, own);
        }
    }

    fn taken_along(&mut self, spot: Spot, own: &[Value]) {
        let handles = own.iter().filter_map(|one| self.handles.get(one));
        let taken: Vec<u32> = handles.copied().collect();
        let views = own.iter().filter_map(|one| self.views.get(one));
        let stays = |view: &Borrow| {
            let waits = |shown: &Shown| shown.stripped && taken.contains(&shown.buffer);
            view.is_empty() || !view.iter().all(waits)
        };
        if views.into_iter().any(stays) {
            self.say(spot, "a view waits without its message".to_string());
        }
    }

    fn used_up(&mut self, values: &[Value]) {
        for value in values {
            if let Some(buffer) = self.handles.get(value) {
                self.buffers.remove(buffer);
            }
        }
    }

    fn same(&mut self, message: Value, result: Value) {
        let buffer = self.handles[&message];
        self.handles.insert(result, buffer);
    }

    /// The bytes of a message change; those that were stripped before it do not.
    fn written(&mut self, message: Value) {
        let next = self.next();
        let buffer = self.handles[&message];
        if let Some(bytes) = self.buffers.get_mut(&buffer) {
            bytes.message = next;
        }
    }

    /// A message begins earlier: its bytes may be those that were stripped.
    fn moved(&mut self, buffer: u32) {
        let next = self.next();
        let bytes = Bytes {
            message: next,
            stripped: next,
        };
        self.buffers.insert(buffer, bytes);
    }

    fn used(&mut self, spot: Spot, values: &[Value]) {
        for value in values {
            let Some(view) = self.views.get(value) else {
                continue;
            };
            let lives = view.iter().all(|shown| {
                let bytes = self.buffers.get(&shown.buffer);
                bytes.is_some_and(|bytes| bytes.version(shown.stripped) == shown.version)
            });
            if !lives {
                let name = name(self.scope.function, *value);
                let message = format!("the bytes that {name} shows may have changed");
                self.say(spot, message);
            }
        }
    }

    /// Returns true if a message is that of a parameter of a function that is called.
    fn is_called_with(&self, message: Value) -> bool {
        let is_called = matches!(self.scope.function.role, Role::Plain | Role::Pure);
        let mut given = self.scope.function.parameters().iter();
        let buffer = self.handles.get(&message);
        is_called && given.any(|one| self.handles.get(one) == buffer)
    }

    /// The parameters of a function. A reaction is given views of stripped bytes; the views of
    /// another may show any bytes of its messages.
    fn given(&mut self, parameters: &[Value]) {
        let mut borrow = Borrow::new();
        let is_reaction = self.scope.function.role == Role::Reaction;
        for value in parameters {
            if self.is(*value, Type::Message) {
                let buffer = self.fresh();
                self.handles.insert(*value, buffer);
                borrow.extend(self.shown(buffer, true));
                borrow.extend(self.shown(buffer, false).filter(|_| !is_reaction));
            }
        }
        for value in parameters {
            if self.is(*value, Type::View) {
                self.views.insert(*value, borrow.clone());
            }
        }
    }

    fn shown(&self, buffer: u32, stripped: bool) -> Option<Shown> {
        let bytes = self.buffers.get(&buffer)?;
        let version = bytes.version(stripped);
        Some(Shown {
            buffer,
            stripped,
            version,
        })
    }

    /// A way from the end of a block to another.
    fn entry(&mut self, terminator: &Terminator, is_first: bool, edge: &Edge) -> Entry {
        let before = self.buffers.clone();
        let mut parameters: Vec<Parameter> = Vec::new();
        for value in &edge.arguments {
            let handle = self.handles.get(value).copied().map(Parameter::Handle);
            let view = self.views.get(value).cloned().map(Parameter::View);
            parameters.push(handle.or(view).unwrap_or(Parameter::Other));
        }
        let results = self.scope.results(edge);
        if let Terminator::Try {
            attempt, operands, ..
        } = terminator
        {
            let mut same = self.outcome(attempt, is_first, operands).into_iter();
            for value in results {
                parameters.push(if self.is(*value, Type::Message) {
                    Parameter::Handle(same.next().unwrap_or_else(|| self.fresh()))
                } else {
                    Parameter::Other
                });
            }
        }
        let buffers = std::mem::replace(&mut self.buffers, before);
        Entry {
            buffers,
            parameters,
        }
    }

    /// The buffers of the handles that an attempt gives of its operands, in order.
    fn outcome(&mut self, attempt: &Attempt, done: bool, operands: &[Value]) -> Vec<u32> {
        let handles = operands.iter().filter_map(|one| self.handles.get(one));
        let handles: Vec<u32> = handles.copied().collect();
        match (attempt, done) {
            (Attempt::Share | Attempt::Copy, _) => Vec::new(),
            (Attempt::Restore, true) => {
                handles.iter().for_each(|buffer| self.moved(*buffer));
                handles
            }
            (Attempt::Pad, true) => {
                self.written(operands[0]);
                handles
            }
            // The stripped bytes stand before the new ones, too.
            (Attempt::Rewrite(_), true) => {
                self.written(operands[0]);
                handles
            }
            (_, true) => {
                self.used_up(operands);
                Vec::new()
            }
            (_, false) => handles,
        }
    }

    /// All ways to a block meet.
    fn join(&mut self, entries: Vec<Entry>, parameters: &[Value]) {
        self.buffers = self.met(&entries);
        for (at, value) in parameters.iter().enumerate() {
            let given = entries.iter().map(|entry| &entry.parameters[at]);
            let handles: Vec<u32> = given
                .filter_map(|given| match given {
                    Parameter::Handle(handle) => Some(*handle),
                    Parameter::View(_) | Parameter::Other => None,
                })
                .collect();
            if let Some(handle) = self.alike(&handles) {
                self.handles.insert(*value, handle);
            }
        }
        for (at, value) in parameters.iter().enumerate() {
            let given = entries.iter().map(|entry| &entry.parameters[at]);
            let views: Vec<&Borrow> = given
                .filter_map(|given| match given {
                    Parameter::View(view) => Some(view),
                    Parameter::Handle(_) | Parameter::Other => None,
                })
                .collect();
            if !views.is_empty() {
                let view = self.merged(&views);
                self.views.insert(*value, view);
            }
        }
    }

    /// Bytes that are the same on all ways.
    fn met(&mut self, entries: &[Entry]) -> Buffers {
        let mut met = entries[0].buffers.clone();
        for entry in &entries[1..] {
            met.retain(|buffer, _| entry.buffers.contains_key(buffer));
            for (buffer, bytes) in &mut met {
                let other = &entry.buffers[buffer];
                for (own, other) in [
                    (&mut bytes.message, other.message),
                    (&mut bytes.stripped, other.stripped),
                ] {
                    if *own != other {
                        self.last += 1;
                        *own = self.last;
                    }
                }
            }
        }
        met
    }

    /// The buffer of a handle that is one of these, depending on the way.
    fn alike(&mut self, handles: &[u32]) -> Option<u32> {
        let first = *handles.first()?;
        if handles.iter().all(|handle| *handle == first) {
            return Some(first);
        }
        for handle in handles {
            self.buffers.remove(handle);
        }
        Some(self.fresh())
    }

    /// A view that is one of these.
    fn merged(&self, views: &[&Borrow]) -> Borrow {
        let mut all: Borrow = views.iter().flat_map(|view| view.iter().copied()).collect();
        for shown in &mut all {
            // No buffer that is gone comes back, so any version of it is as good.
            let bytes = self.buffers.get(&shown.buffer);
            shown.version = bytes.map_or(shown.version, |bytes| bytes.version(shown.stripped));
        }
        all.sort_unstable();
        all.dedup();
        all
    }

    /// A buffer of its own.
    fn fresh(&mut self) -> u32 {
        let buffer = self.next();
        self.moved(buffer);
        buffer
    }

    fn next(&mut self) -> u32 {
        self.last += 1;
        self.last
    }

    fn is(&self, value: Value, of: Type) -> bool {
        self.scope.function.type_of(value) == of
    }

    fn say(&mut self, spot: Spot, message: String) {
        self.breaches
            .push(self.scope.breach(Rule::Borrows, spot, message));
    }
}
