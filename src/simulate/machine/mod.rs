//! The interpreter of the stack IR: a module runs here, in virtual time, without a C compiler.
//!
//! In: a [`Module`], and the calls of a host. Out: frames, messages and notices, a deadline,
//! counters: the same as from the interpreters of programs and trees, to the last counter.
//!
//! ```text
//! driver          calls of a host by the program's ids ──► the machine's, values as parts
//! machine_call    input, send, open, expire: an event is put on the agenda, and then
//!                 the work loop takes the last event, and handles it until it ends
//! machine_answer  what leaves the stack: outputs, functions of applications and links, listeners
//! machine_run     functions: blocks, edges, calls, loops, kernels
//! machine_operate, machine_attempt, compute    operations, one by one
//! agenda, memory, containers, messages, values what they change, and what they compute with
//! shapes          values of a host as parts, and back
//! ```
//!
//! A trap (an index out of range, a handle that is used twice) is a mistake of the compiler: the
//! machine panics, and names the function, the block and the operation.

pub mod agenda;
mod compute;
mod containers;
pub mod driver;
mod machine_answer;
mod machine_attempt;
mod machine_call;
mod machine_operate;
mod machine_run;
mod memory;
pub mod messages;
pub mod shapes;
#[cfg(test)]
mod tests;
pub mod values;

use crate::ir::interface::Foreign;
use crate::ir::{KindId, LinkId, Module, PortId, Region};
use crate::simulate::state::Limits;
use crate::simulate::value::Datum;
use agenda::Agenda;
use memory::Memory;
use messages::Messages;
use std::collections::{BTreeMap, VecDeque};
use std::fmt;
use std::rc::Rc;
use values::Held;

/// An output for the host; values are parts.
#[derive(Clone, Debug, PartialEq)]
pub enum Output {
    /// A frame that leaves by a link.
    Frame {
        /// The link.
        link: LinkId,
        /// Its bytes.
        bytes: Vec<u8>,
    },
    /// A message for an application.
    Message {
        /// The port.
        port: PortId,
        /// The conversation.
        session: u32,
        /// Its bytes.
        bytes: Vec<u8>,
        /// All its attributes.
        attributes: Vec<Held>,
    },
    /// A session that a listener made is an application's from now on.
    Accepted {
        /// The port.
        port: PortId,
        /// The conversation.
        session: u32,
        /// Its listener; none if that has ended.
        listener: Option<u32>,
        /// Its keys.
        keys: Vec<Held>,
    },
    /// A notice for an application.
    Notice {
        /// The port.
        port: PortId,
        /// The conversation.
        session: u32,
        /// The notice, among those of the port that come up.
        notice: u32,
        /// Its arguments.
        arguments: Vec<Held>,
        /// The message that it carries, if it does.
        bytes: Option<Vec<u8>>,
    },
}

/// The functions outside of the stack that it calls.
pub trait Host {
    /// A function in C that layers call.
    fn function(&self, machine: &Machine<'_>, foreign: &Foreign, given: &mut [Datum]) -> Datum;

    /// The function of an application, called with what came up; how much more may come.
    fn application(&self, machine: &mut Machine<'_>, function: &str, output: &Output) -> u64;

    /// The function of a link, called with a frame that leaves.
    fn leaving(&self, machine: &mut Machine<'_>, function: &str, frame: &Output);
}

/// A running stack.
#[derive(Clone)]
pub struct Machine<'m> {
    module: &'m Module,
    host: Rc<dyn Host + 'm>,
    limits: Limits,
    memory: Memory<'m>,
    messages: Messages,
    agenda: Agenda<'m>,
    /// Outputs that the host has not taken yet.
    outputs: VecDeque<Output>,
    /// Outputs with which functions of applications and links were called, since this was asked.
    called: Vec<Output>,
    /// Counts of the ways that were taken, of a build that counts them.
    passed: BTreeMap<u32, u64>,
    /// The time of the instant.
    now_ns: u64,
    /// Steps that this call has taken.
    steps: u32,
    /// An application's function is being called.
    calling: bool,
    /// Words that running kernels have yielded, those of the innermost last.
    yields: Vec<machine_run::Yields>,
}

impl<'m> Machine<'m> {
    /// Starts a stack, if its settings go together and its limits are enough. `settings` has the
    /// parts of all.
    pub fn start(
        module: &'m Module,
        host: Rc<dyn Host + 'm>,
        settings: Vec<Held>,
        limits: Limits,
        now_ns: u64,
    ) -> Option<Machine<'m>> {
        let mut machine = Machine {
            module,
            host,
            memory: Memory::new(module, settings),
            messages: Messages::new(module, &limits),
            agenda: Agenda::new(module, limits.events),
            limits,
            outputs: VecDeque::new(),
            called: Vec::new(),
            passed: BTreeMap::new(),
            now_ns,
            steps: 0,
            calling: false,
            yields: Vec::new(),
        };
        if let Some(holds) = module.settings_hold {
            let holds = machine.call(holds, Vec::new());
            if holds == [Held::bit(false)] {
                return None;
            }
        }
        if let Some(starts) = module.starts {
            machine.call(starts, Vec::new());
        }
        machine.can_work().then_some(machine)
    }

    /// The stack can work within its limits, with the events that wait at the start. Behind a
    /// callback two frames may leave, besides the output of its step.
    fn can_work(&self) -> bool {
        let (limits, module) = (&self.limits, self.module);
        let calls = module.ports.iter().any(|port| port.calls.is_some())
            || module.links.iter().any(|link| link.calls.is_some());
        let fates = &self.messages.fates;
        limits.buffers > limits.reserve
            && limits.outputs >= if calls { 3 } else { 1 }
            && limits.events > 0
            && fates.agenda_full + fates.agenda_full_unsent == 0
            && limits.budget > 0
    }

    /// Returns the outputs with which functions of applications and links were called, since this
    /// was asked.
    pub fn called(&mut self) -> Vec<Output> {
        std::mem::take(&mut self.called)
    }

    /// Calls the function that the module exports under a name: its results.
    ///
    /// # Panics
    ///
    /// If the module exports none of this name.
    pub fn export(&mut self, name: &str, arguments: Vec<Held>) -> Vec<Held> {
        let export = self.module.exports.iter().find(|one| one.name == name);
        let export = export.unwrap_or_else(|| panic!("the module exports {name}"));
        self.call(export.calls, arguments)
    }

    /// Sets the time of the calls that follow, in nanoseconds.
    pub fn set_now(&mut self, now_ns: u64) {
        self.now_ns = now_ns;
    }

    /// Returns the content of a field of the first instance of a kind.
    ///
    /// # Panics
    ///
    /// If there is no such field.
    pub fn load(&self, field: Region) -> Held {
        let held = self.memory.load(field, &[0], self.now_ns);
        held.expect("the host's side knows what it looks for")
    }

    /// Returns the instances of a kind that have a state.
    pub fn live(&self, kind: KindId) -> Vec<u32> {
        self.memory.live(kind).collect()
    }

    /// Returns the content of an element of a field; none if it is no value, or the instance has
    /// no state.
    pub fn element(&self, field: Region, place: &[u32]) -> Option<Held> {
        self.memory.load(field, place, self.now_ns).ok()
    }

    /// Returns the settings, by their parts.
    pub fn settings(&self) -> &[Held] {
        &self.memory.settings
    }

    /// A field of the first instance of a kind holds this from now on.
    ///
    /// # Panics
    ///
    /// If there is no such field.
    pub fn store(&mut self, field: Region, held: Held) {
        let stored = self.memory.store(field, &[0], held);
        stored.expect("the host's side knows what it changes");
    }

    /// When [`Machine::expire`] is to be called; never if none. At once, if events wait.
    pub fn deadline_ns(&self) -> Option<u64> {
        match self.agenda.waiting.is_empty() {
            true => self.memory.timers.deadline_ns(),
            false => Some(self.now_ns),
        }
    }

    /// The values of all counters, in the order of the program's.
    pub fn counters(&self) -> Vec<u64> {
        let fates = &self.messages.fates;
        let frames = [
            fates.frames_in,
            fates.frames_out,
            fates.delivered,
            fates.consumed,
            fates.merged,
            self.held(),
        ];
        let dropped = [0, 0, fates.agenda_full];
        let unsent = [fates.too_long, fates.no_session, fates.agenda_full_unsent];
        let in_order: [&[u64]; 6] = [
            &frames,
            &fates.dropped,
            &dropped,
            &fates.unsent,
            &unsent,
            &fates.counts,
        ];
        in_order.concat()
    }

    /// Every frame that came in has exactly one fate.
    pub fn adds_up(&self) -> bool {
        let fates = &self.messages.fates;
        let dropped: u64 = fates.dropped.iter().sum::<u64>() + fates.agenda_full;
        let gone = fates.delivered + fates.consumed + fates.merged + dropped;
        fates.frames_in == gone + self.held()
    }

    /// Returns the number of buffers that the host could take.
    pub fn free_buffers(&self) -> u64 {
        self.messages.clone().lend_buffers(usize::MAX) as u64
    }

    /// Counts of the ways that were taken, of a build that counts them.
    pub fn passed(&self) -> &BTreeMap<u32, u64> {
        &self.passed
    }

    fn held(&self) -> u64 {
        self.memory.held() + self.agenda.held()
    }
}

impl fmt::Debug for Machine<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut out = out.debug_struct("Machine");
        out.field("module", &self.module.name);
        out.field("memory", &self.memory);
        out.field("agenda", &self.agenda.waiting);
        out.field("outputs", &self.outputs);
        out.finish_non_exhaustive()
    }
}
