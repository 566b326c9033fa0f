//! A compiled stack as one more thing that traces are played to, where interpreters cannot: what
//! it calls is written in C.
//!
//! In: a loaded stack, and its checked program, which gives ids to what C knows by its place. Out:
//! a [`Driver`].

use super::failure::Failure;
use super::layout::Values;
use super::stack::{self, Event, Filled, Stack};
use crate::simulate::state::{Emitted, Limits};
use crate::simulate::trace::{Call, Driver, Seen, Step};
use crate::simulate::value::Datum;
use crate::types::program::{AttributeId, LinkId, NoticeId, PortId, Program};
use std::convert::Infallible;
use std::sync::Arc;

/// A stack, started.
pub struct Traced<'p> {
    program: &'p Program,
    stack: Stack<'p>,
}

impl<'p> Traced<'p> {
    /// Starts it, if the settings go together.
    pub fn start(
        program: &'p Program,
        loaded: &'p stack::Program,
        config: &[Datum],
        limits: &Limits,
        now_ns: u64,
    ) -> Result<Traced<'p>, Failure> {
        let mut values = loaded.config();
        put_all(&mut values, config);
        let own = [
            ("buffers", limits.buffers),
            ("reserve", limits.reserve),
            ("outputs", limits.outputs as u32),
            ("events", limits.events as u32),
            ("budget", limits.budget),
        ];
        for (name, limit) in own {
            let set = values.set(name, &limit.to_string());
            set.map_err(Failure::refused)?;
        }
        let stack = Stack::start(loaded, &values, now_ns)?;
        Ok(Traced { program, stack })
    }

    /// What a host calls, and what the C returns.
    fn call(&mut self, call: &Call, now_ns: u64) -> Option<u64> {
        let loaded = self.stack.program();
        match call {
            Call::Input(link, frames) => return Some(self.input(link.at(), frames, now_ns)),
            Call::Send {
                port,
                session,
                attributes,
                bytes,
            } => {
                let given = (!attributes.is_empty()).then(|| self.attributes(*port, attributes));
                let port = port.at();
                let outcome = self
                    .stack
                    .send(port, *session, given.as_ref(), bytes, now_ns);
                return Some(outcome as u64);
            }
            Call::Open(port, keys) => {
                let mut values = loaded.keys(port.at());
                put_all(&mut values, keys);
                return self.stack.open(port.at(), &values, now_ns).map(u64::from);
            }
            Call::Listen(port, keys, backlog) => {
                let mut values = loaded.listener_keys(port.at());
                put_all(&mut values, keys);
                let listener = self.stack.listen(port.at(), &values, *backlog, now_ns);
                return listener.map(u64::from);
            }
            Call::Unlisten(port, listener) => self.stack.unlisten(port.at(), *listener, now_ns),
            Call::Notice {
                port,
                session,
                notice,
                arguments,
            } => {
                if let Some(told) = self.told(*port, *notice) {
                    let mut values = loaded.arguments(port.at(), told);
                    put_all(&mut values, arguments);
                    self.stack.say(port.at(), told, *session, &values, now_ns);
                }
            }
            Call::Carrier(link, up) => self.stack.carrier(link.at(), *up, now_ns),
            Call::Expire => self.stack.expire(now_ns),
        }
        None
    }

    /// Frames come in: how many of them were taken.
    fn input(&mut self, link: usize, frames: &[Vec<u8>], now_ns: u64) -> u64 {
        for frame in frames {
            let filled = self.stack.fill(|room| {
                let length = frame.len().min(room.len());
                room[..length].copy_from_slice(&frame[..length]);
                Ok::<_, Infallible>(Some(length))
            });
            if filled == Ok(Filled::NoBuffer) {
                break;
            }
        }
        self.stack.input(link, now_ns) as u64
    }

    /// What stands beside a message: what nobody gives is as the layers have it.
    fn attributes(&self, port: PortId, given: &[(AttributeId, Datum)]) -> Values {
        let loaded = self.stack.program();
        let mut values = loaded.attributes(port.at());
        for (at, id) in self.program.ports[port.at()].attributes.iter().enumerate() {
            let attribute = &self.program.attributes[id.at()];
            let default = attribute.default.as_ref();
            let default = default.map(|value| Datum::of(self.program, value, &attribute.kind));
            let own = given.iter().find(|(given, _)| given == id);
            if let Some(value) = own.map(|(_, value)| value.clone()).or(default) {
                values.put(at, &value);
            }
        }
        values
    }

    /// The place of a notice among those that an application says to C.
    fn told(&self, port: PortId, notice: NoticeId) -> Option<usize> {
        let name = &self.program.notices[notice.at()].name;
        let port = &self.stack.program().description().ports[port.at()];
        port.down.iter().position(|told| told.name == *name)
    }

    fn next(&mut self) -> Option<Emitted> {
        let program = self.program;
        let output = self.stack.next()?;
        let place = output.place();
        let port = PortId(place as u32);
        Some(match output.event {
            Event::Frame => Emitted::Frame {
                link: LinkId(place as u32),
                bytes: output.bytes().to_vec(),
            },
            Event::Deliver => {
                let values = output.attributes().map_or(Vec::new(), |given| given.data());
                let ids = program.ports[place].attributes.iter().copied();
                Emitted::Deliver {
                    port,
                    session: output.session(),
                    bytes: output.bytes().to_vec(),
                    attributes: ids.zip(values).collect(),
                }
            }
            Event::Notice => {
                let (session, notice) = (output.session(), output.notice());
                let mut arguments = notice.arguments.data();
                match notice.told {
                    Some(told) => {
                        let notice = program.ports[place].up[told];
                        let carries = program.notices[notice.at()].message;
                        Emitted::Notice {
                            port,
                            session,
                            notice,
                            arguments,
                            bytes: carries.then(|| output.bytes().to_vec()),
                        }
                    }
                    None => {
                        let listener = arguments.remove(0).number() as u32;
                        Emitted::Accepted {
                            port,
                            session,
                            listener: (listener != u32::MAX).then_some(listener),
                            keys: arguments,
                        }
                    }
                }
            }
        })
    }
}

fn put_all(values: &mut Values, given: &[Datum]) {
    for (at, value) in given.iter().enumerate() {
        values.put(at, value);
    }
}

impl Driver for Traced<'_> {
    fn step(&mut self, step: &Step) -> Seen {
        let returned = self.call(&step.call, step.now_ns);
        let mut outputs = Vec::new();
        while step.takes
            && let Some(output) = self.next()
        {
            outputs.push(output);
        }
        let counters = self.stack.counters().into_iter();
        Seen {
            returned,
            outputs,
            deadline_ns: self.stack.deadline(),
            counters: counters
                .map(|(name, value)| (Arc::from(name), value))
                .collect(),
        }
    }
}
