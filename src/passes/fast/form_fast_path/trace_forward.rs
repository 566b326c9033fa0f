//! Events that a path puts on the agenda, and whose reactions only hand a message on.
//!
//! A reply is queued for the layer below, which adds its header and hands it to the next, until it
//! leaves by a link. Between such an event and its handling only applications and links are told
//! something, so its reaction would find what the path leaves behind. The path traces it at once,
//! and queues the frame that leaves in its place: at its end or, if the reaction reads nothing that
//! the path writes, where the event is made.

use super::path::{Key, Owed, Path};
use super::reaction;
use super::trace::Trace;
use crate::ir::effects::Resource;
use crate::ir::op::{Event, Op, Order};
use crate::ir::{BlockId, FunctionId, Instruction, Terminator};

/// Reactions that hand a message on to each other are traced so far.
const LAYERS: usize = 8;

impl Trace<'_> {
    /// Queues, in the place of events for reactions, what they hand on in the end.
    pub fn forward(&mut self, path: &mut Path, at: BlockId) {
        let function = self.module.function(path.function);
        let ends = match &function.block(at).terminator {
            Terminator::Return(_) => true,
            Terminator::Tail(event, _) => reaction(event.target).is_none(),
            _ => false,
        };
        let hands_on = |owed: &Owed| matches!(owed, Owed::Operation(one) if hands_on(&one.op));
        let queue = path.owed.iter().rposition(|owed| !hands_on(owed));
        let Some(queue) = queue.filter(|_| ends) else {
            return;
        };
        let Owed::Operation(owed) = &path.owed[queue] else {
            return;
        };
        let Op::Queue(Order::Front, events) = owed.op.clone() else {
            return;
        };
        let mut owed = owed.clone();
        // Deferred effects of the reactions come before the event that they hand on.
        let behind = path.owed.split_off(queue + 1);
        path.owed.pop();
        let operands = std::mem::take(&mut owed.operands);
        let (handed, operands) = self.handed_all(path, events, operands, None);
        owed.op = Op::Queue(Order::Front, handed);
        owed.operands = operands;
        path.owed.extend(behind);
        path.owed.push(Owed::Operation(owed));
    }

    /// Queues events as they are made, and in the place of those for reactions what they hand on.
    pub fn queue_made(&mut self, path: &mut Path, instruction: &Instruction, events: &[Event]) {
        let waits = |owed: &Owed| match owed {
            Owed::Operation(one) => match &one.op {
                Op::Queue(_, events) => events.iter().any(|one| reaction(one.target).is_some()),
                op => self.puts_events(op),
            },
            Owed::Infallible(_) | Owed::Diamond(_) => false,
        };
        let waits = path.owed.iter().flat_map(Owed::each).any(waits);
        if waits || !events.iter().any(|event| reaction(event.target).is_some()) {
            return self.owe(path, instruction);
        }
        let operands = instruction.operands.iter().map(|one| path.key(*one));
        let operands = operands.collect();
        let own = Some(path.function);
        let (handed, operands) = self.handed_all(path, events.to_vec(), operands, own);
        path.hands_on |= handed[..] != *events;
        self.owe(path, instruction);
        let Some(Owed::Operation(owed)) = path.owed.last_mut() else {
            unreachable!("it was owed a moment before");
        };
        owed.op = Op::Queue(Order::Made, handed);
        owed.operands = operands;
    }

    /// Returns true if an operation puts events on the agenda, or lets them leave.
    fn puts_events(&self, op: &Op) -> bool {
        let effects = self.effects_of(op);
        let mut writes = effects.writes.iter();
        writes.any(|one| matches!(one, Resource::Agenda | Resource::Outputs))
    }

    /// Returns true if a reaction reads no state that a function writes. It has its message, and
    /// buffers, for itself.
    fn reads_nothing_of(&self, function: FunctionId, reaction: FunctionId) -> bool {
        let writes = &self.effects[function.at()].writes;
        let mut reads = self.effects[reaction.at()].reads.iter();
        reads.all(|one| is_of_messages(*one) || !writes.contains(one))
    }

    /// Events, with what they are given; in the place of the first for a reaction what that hands
    /// on. That reads nothing that a function writes, if one is given.
    fn handed_all(
        &mut self,
        path: &mut Path,
        events: Vec<Event>,
        operands: Vec<Key>,
        written_by: Option<FunctionId>,
    ) -> (Vec<Event>, Vec<Key>) {
        let mut operands = operands.into_iter();
        let (mut handed, mut given) = (Vec::new(), Vec::new());
        let mut is_first = true;
        for event in events {
            let own: Vec<Key> = operands.by_ref().take(event.arguments as usize).collect();
            let traced = match reaction(event.target) {
                Some(id) if is_first => self.handed(path, id, own.clone(), written_by),
                Some(_) | None => None,
            };
            let (event, own) = traced.unwrap_or((event, own));
            // Behind an event for a reaction anything may have changed.
            is_first &= reaction(event.target).is_none();
            given.extend(own);
            handed.push(event);
        }
        (handed, given)
    }

    /// The event that a reaction hands on, if it changes nothing but its message before.
    fn handed(
        &mut self,
        path: &mut Path,
        id: FunctionId,
        arguments: Vec<Key>,
        written_by: Option<FunctionId>,
    ) -> Option<(Event, Vec<Key>)> {
        let before = self.mark();
        let mut traced = path.clone();
        let (mut id, mut arguments) = (id, arguments);
        for _layer in 0..LAYERS {
            let function = self.module.function(id);
            let is_settled = written_by.is_none_or(|other| self.reads_nothing_of(other, id));
            let may_go_on = is_settled && !function.kept && self.only_hands_on(id);
            let passed = may_go_on
                .then(|| {
                    traced.enter(id, function.parameters(), &arguments);
                    self.through(&mut traced)
                })
                .flatten();
            let Some((event, given)) = passed else {
                self.rewind(before);
                return None;
            };
            match reaction(event.target) {
                Some(next) => (id, arguments) = (next, given),
                None => {
                    (traced.function, traced.frame) = (path.function, path.frame);
                    *path = traced;
                    return Some((event, given));
                }
            }
        }
        self.rewind(before);
        None
    }

    /// Traces a function along its likely edges to the event that it hands on.
    fn through(&mut self, path: &mut Path) -> Option<(Event, Vec<Key>)> {
        let function = self.module.function(path.function);
        let mut at = BlockId(0);
        loop {
            let block = function.block(at);
            for instruction in &block.instructions {
                if self.puts_events(&instruction.op) {
                    return None;
                }
                match instruction.op {
                    // It may be evaluated on a side. In a reaction that is traced itself that would
                    // make two ways of a branch of which one is rare.
                    Op::Call(id) if self.is_total(id) => {
                        self.build.set_span(instruction.span);
                        self.other(path, instruction);
                    }
                    _ => self.instruction(path, instruction),
                }
            }
            match &block.terminator {
                Terminator::Jump(edge) => at = self.follow(path, edge, &[]),
                Terminator::Branch { .. } => at = self.likelier(path, at)?,
                Terminator::Tail(event, values) => {
                    let given = values.iter().map(|one| path.key(*one)).collect();
                    return Some((*event, given));
                }
                Terminator::Switch { .. }
                | Terminator::Try { .. }
                | Terminator::Return(_)
                | Terminator::Take(_)
                | Terminator::Never => return None,
            }
        }
    }

    /// A function changes nothing but messages, and drops or hands them on.
    fn only_hands_on(&self, id: FunctionId) -> bool {
        let mut writes = self.effects[id.at()].writes.iter();
        writes.all(|one| is_of_messages(*one))
    }
}

/// Returns true for messages, their ways and their fates.
fn is_of_messages(resource: Resource) -> bool {
    matches!(
        resource,
        Resource::Bytes
            | Resource::Buffers
            | Resource::Counters
            | Resource::Agenda
            | Resource::Outputs
    )
}

/// An operation on a message, or on values alone, which nobody sees.
fn hands_on(op: &Op) -> bool {
    matches!(
        op,
        Op::With(_)
            | Op::Push
            | Op::Pull
            | Op::Cut
            | Op::Look
            | Op::Before
            | Op::Around
            | Op::SubView
            | Op::Length
            | Op::Start
            | Op::Attribute(_)
            | Op::Write(_)
            | Op::WriteBytes
            | Op::WritePart
    )
}
