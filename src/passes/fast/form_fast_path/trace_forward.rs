//! Events that a path puts on the agenda, and whose reactions only hand a message on.
//!
//! A reply is queued for the layer below, which adds its header and hands it to the next, until it
//! leaves by a link. Between such an event and its handling only applications and links are told
//! something, so its reaction would find what the path leaves behind. The path traces it at once,
//! and queues the frame that leaves in its place.

use super::path::{Key, Owed, Path};
use super::reaction;
use super::trace::Trace;
use crate::ir::effects::Resource;
use crate::ir::op::{Event, Op, Order};
use crate::ir::{BlockId, FunctionId, Terminator};

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
        let mut operands = operands.into_iter();
        let mut handed = Vec::new();
        let mut is_first = true;
        for event in events {
            let own: Vec<Key> = operands.by_ref().take(event.arguments as usize).collect();
            let traced = match reaction(event.target) {
                Some(id) if is_first => self.handed(path, id, own.clone()),
                Some(_) | None => None,
            };
            let (event, own) = traced.unwrap_or((event, own));
            // Behind an event for a reaction anything may have changed.
            is_first &= reaction(event.target).is_none();
            owed.operands.extend(own);
            handed.push(event);
        }
        owed.op = Op::Queue(Order::Front, handed);
        path.owed.extend(behind);
        path.owed.push(Owed::Operation(owed));
    }

    /// The event that a reaction hands on, if it changes nothing but its message before.
    fn handed(
        &mut self,
        path: &mut Path,
        id: FunctionId,
        arguments: Vec<Key>,
    ) -> Option<(Event, Vec<Key>)> {
        let mut traced = path.clone();
        let (mut id, mut arguments) = (id, arguments);
        for _layer in 0..LAYERS {
            let function = self.module.function(id);
            if function.kept || !self.only_hands_on(id) {
                return None;
            }
            traced.enter(id, function.parameters(), &arguments);
            let (event, given) = self.through(&mut traced)?;
            match reaction(event.target) {
                Some(next) => (id, arguments) = (next, given),
                None => {
                    (traced.function, traced.frame) = (path.function, path.frame);
                    *path = traced;
                    return Some((event, given));
                }
            }
        }
        None
    }

    /// Traces a function along its likely edges to the event that it hands on.
    fn through(&mut self, path: &mut Path) -> Option<(Event, Vec<Key>)> {
        let function = self.module.function(path.function);
        let mut at = BlockId(0);
        loop {
            let block = function.block(at);
            for instruction in &block.instructions {
                self.instruction(path, instruction);
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
        writes.all(|one| {
            matches!(
                one,
                Resource::Bytes
                    | Resource::Buffers
                    | Resource::Counters
                    | Resource::Agenda
                    | Resource::Outputs
            )
        })
    }
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
