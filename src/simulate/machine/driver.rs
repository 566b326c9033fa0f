//! A module as a host of the program sees it: in, calls by the ids of the program; out, what the
//! host sees, to be compared with the interpreters of programs and trees.
//!
//! Links and ports have the same order in both, notices that of their port, attributes that of the
//! port that lists them. This is the only file of the machine that knows a program.

use super::machine_call::Key;
use super::shapes;
use super::values::Held;
use super::{Host, Machine, Output};
use crate::ir;
use crate::ir::Module;
use crate::ir::interface::{Foreign, Home, Named, Opening};
use crate::simulate::coders;
use crate::simulate::externs::Externs;
use crate::simulate::state::{Emitted, Limits};
use crate::simulate::trace::{Call, Driver, Seen, Step};
use crate::simulate::value::Datum;
use crate::types::program::{AttributeId, LinkId, NoticeId, PortId, Program};
use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;

/// The surroundings of a machine.
#[derive(Clone, Copy, Debug)]
struct Outside<'m> {
    module: &'m Module,
    program: &'m Program,
    externs: &'m Externs<'m>,
}

/// A module that runs, driven as a program is.
#[derive(Clone, Debug)]
pub struct Driven<'m> {
    machine: Machine<'m>,
    outside: Outside<'m>,
    /// The names of all counters, in the order of [`Program::counters`].
    counters: Vec<Arc<str>>,
}

impl<'m> Driven<'m> {
    /// Starts a stack, if its settings go together. `config` has a value for each entry of
    /// [`Program::config`], `externs` all that the program calls in C.
    pub fn start(
        module: &'m Module,
        program: &'m Program,
        externs: &'m Externs<'m>,
        config: &[Datum],
        limits: Limits,
        now_ns: u64,
    ) -> Option<Driven<'m>> {
        assert_eq!(
            externs.missing(program),
            Vec::<&str>::new(),
            "what is written in C is supplied by whoever starts a stack"
        );
        let outside = Outside {
            module,
            program,
            externs,
        };
        let given = module.given.iter().zip(config);
        let settings = given.flat_map(|(one, datum)| shapes::parts(&one.named.shape, datum));
        let settings = settings.collect();
        let machine = Machine::start(module, Rc::new(outside), settings, limits, now_ns)?;
        let counters = program.counters().into_iter();
        let counters = counters.map(|(what, name)| format!("{}{name}", what.prefix()).into());
        Some(Driven {
            machine,
            outside,
            counters: counters.collect(),
        })
    }

    /// Returns the machine in which it runs.
    pub fn machine(&self) -> &Machine<'m> {
        &self.machine
    }

    /// All counters by name.
    pub fn counters(&self) -> Vec<(Arc<str>, u64)> {
        let values = self.machine.counters();
        assert_eq!(values.len(), self.counters.len(), "each counter has a name");
        self.counters.iter().cloned().zip(values).collect()
    }

    /// Returns the number of buffers that the host could take.
    pub fn free_buffers(&self) -> u64 {
        self.machine.free_buffers()
    }

    /// Counts of the ways that were taken, of a build that counts them.
    pub fn passed(&self) -> &BTreeMap<u32, u64> {
        self.machine.passed()
    }
}

impl Driver for Driven<'_> {
    fn step(&mut self, step: &Step) -> Seen {
        let returned = self
            .outside
            .call(&mut self.machine, &step.call, step.now_ns);
        let called = self.machine.called();
        let mut outputs: Vec<Emitted> = called
            .iter()
            .map(|output| self.outside.emitted(output))
            .collect();
        while step.takes
            && let Some(output) = self.machine.next_output()
        {
            outputs.push(self.outside.emitted(&output));
        }
        assert!(
            self.machine.adds_up(),
            "every frame that came in has one fate"
        );
        Seen {
            returned,
            outputs,
            deadline_ns: self.machine.deadline_ns(),
            counters: self.counters(),
        }
    }
}

impl Host for Outside<'_> {
    fn function(&self, _: &Machine<'_>, foreign: &Foreign, given: &mut [Datum]) -> Datum {
        if foreign.home == Home::Runtime {
            return coders::called(&foreign.name, given);
        }
        let does = self.externs.in_c(&foreign.name);
        does.expect("a stack is started with its functions in C")(given)
    }

    fn application(&self, machine: &mut Machine<'_>, function: &str, output: &Output) -> u64 {
        let does = self.externs.application(function);
        let does = does.expect("a stack is started with what its ports call");
        let now_ns = machine.now_ns;
        does(&self.emitted(output), &mut |call| {
            self.call(machine, call, now_ns)
        })
    }

    fn leaving(&self, machine: &mut Machine<'_>, function: &str, frame: &Output) {
        let does = self.externs.leaving(function);
        let does = does.expect("a stack is started with what its links call");
        let now_ns = machine.now_ns;
        does(&self.emitted(frame), &mut |call| {
            self.call(machine, call, now_ns)
        });
    }
}

impl Outside<'_> {
    /// Any call of the host, and what the C returns.
    fn call(&self, machine: &mut Machine<'_>, call: &Call, now_ns: u64) -> Option<u64> {
        match call {
            Call::Input(link, frames) => {
                let taken = machine.input(ir::LinkId(link.0), frames, now_ns);
                Some(taken as u64)
            }
            Call::Send {
                port,
                session,
                attributes,
                bytes,
            } => {
                let attributes = attributes.iter();
                let parts = attributes.flat_map(|(id, value)| self.attribute(*port, *id, value));
                let at = (ir::PortId(port.0), *session);
                let outcome = machine.send(at, parts.collect(), bytes, now_ns);
                Some(outcome as u64)
            }
            Call::Open(port, keys) => {
                let keys = given(self.module.ports[port.at()].opens.as_ref(), keys);
                let opened = machine.open(ir::PortId(port.0), &keys, now_ns);
                opened.map(u64::from)
            }
            Call::Listen(port, keys, backlog) => {
                let keys = given(self.module.ports[port.at()].listens.as_ref(), keys);
                let made = machine.listen(ir::PortId(port.0), &keys, *backlog, now_ns);
                made.map(u64::from)
            }
            Call::Unlisten(port, listener) => {
                machine.unlisten(ir::PortId(port.0), *listener, now_ns);
                None
            }
            Call::Notice {
                port,
                session,
                notice,
                arguments,
            } => {
                let down = &self.program.ports[port.at()].down;
                let at = down.iter().position(|known| known == notice);
                let at = at.expect("an application tells what its port lists");
                let named = &self.module.ports[port.at()].down[at].parameters;
                let arguments = all_parts(named, arguments);
                let told = (ir::PortId(port.0), *session);
                machine.notice(told, at as u32, arguments, now_ns);
                None
            }
            Call::Carrier(link, up) => {
                machine.carrier(ir::LinkId(link.0), *up, now_ns);
                None
            }
            Call::Expire => {
                machine.expire(now_ns);
                None
            }
        }
    }

    /// The parts of an attribute that an application gives: by the port that lists it, which may be
    /// another one.
    fn attribute(
        &self,
        port: PortId,
        id: AttributeId,
        value: &Datum,
    ) -> Vec<(ir::AttributeId, Held)> {
        let all = 0..self.program.ports.len();
        let mut ports = std::iter::once(port.at()).chain(all);
        let found = ports.find_map(|port| {
            let mut listed = self.program.ports[port].attributes.iter();
            let at = listed.position(|known| *known == id)?;
            Some(&self.module.ports[port].attributes[at])
        });
        let found = found.expect("an application gives attributes that a port lists");
        let values = shapes::parts(&found.named.shape, value);
        found.parts.iter().copied().zip(values).collect()
    }

    /// An output by the ids of the program.
    fn emitted(&self, output: &Output) -> Emitted {
        match output {
            Output::Frame { link, bytes } => Emitted::Frame {
                link: LinkId(link.0),
                bytes: bytes.clone(),
            },
            Output::Message {
                port,
                session,
                bytes,
                attributes,
            } => {
                let listed = self.program.ports[port.at()].attributes.iter();
                let of_host = &self.module.ports[port.at()].attributes;
                let all = listed.zip(of_host).map(|(id, attribute)| {
                    let parts = attribute.parts.iter();
                    let parts: Vec<Held> =
                        parts.map(|part| attributes[part.at()].clone()).collect();
                    (*id, shapes::datum(&attribute.named.shape, &parts))
                });
                Emitted::Deliver {
                    port: PortId(port.0),
                    session: *session,
                    bytes: bytes.clone(),
                    attributes: all.collect(),
                }
            }
            Output::Accepted {
                port,
                session,
                listener,
                keys,
            } => {
                let opens = self.module.ports[port.at()].opens.as_ref();
                let named = opens.into_iter().flat_map(|opening| &opening.keys);
                let shapes = named.map(|(named, _)| &named.shape);
                Emitted::Accepted {
                    port: PortId(port.0),
                    session: *session,
                    listener: *listener,
                    keys: shapes::data(shapes, keys),
                }
            }
            Output::Notice {
                port,
                session,
                notice,
                arguments,
                bytes,
            } => {
                let at = *notice as usize;
                let named = &self.module.ports[port.at()].up[at].parameters;
                let shapes = named.iter().map(|named| &named.shape);
                Emitted::Notice {
                    port: PortId(port.0),
                    session: *session,
                    notice: self.notice(*port, at),
                    arguments: shapes::data(shapes, arguments),
                    bytes: bytes.clone(),
                }
            }
        }
    }

    fn notice(&self, port: ir::PortId, at: usize) -> NoticeId {
        self.program.ports[port.at()].up[at]
    }
}

/// The parts of keys; none of those that are left out.
fn given(opening: Option<&Opening>, keys: &[Datum]) -> Vec<Key> {
    let named = opening.into_iter().flat_map(|opening| &opening.keys);
    let both = named.zip(keys);
    let parts = both.map(|((named, _), key)| match key {
        Datum::Absent => None,
        key => Some(shapes::parts(&named.shape, key)),
    });
    parts.collect()
}

fn all_parts(named: &[Named], data: &[Datum]) -> Vec<Held> {
    let both = named.iter().zip(data);
    both.flat_map(|(named, datum)| shapes::parts(&named.shape, datum))
        .collect()
}
