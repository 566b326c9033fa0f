//! A compiled stack in a network.
//!
//! In: a loaded program, its settings, the words of the scripts at its ports. Out: something
//! [`Driven`].

use super::words::Words;
use crate::simulate::network::driven::{Address, Driven, Intake, Output, Told};
use crate::simulate::stack::Outcome;
use crate::tool::failure::Failure;
use crate::tool::layout::Values;
use crate::tool::stack::{Event, Filled, Program, Stack};
use std::convert::Infallible;

/// A stack, started.
pub struct Compiled<'program> {
    stack: Stack<'program>,
    /// How many buffers a stack has that was just started.
    buffers: usize,
    /// What its scripts say, as C reads it.
    words: Words,
    /// Where the message came from that was delivered last.
    last: Option<(usize, u32, Option<Values>)>,
}

/// How many sessions of a listener may wait; the network takes what it is given at once.
const BACKLOG: u32 = 128;

impl<'program> Compiled<'program> {
    /// Starts it, if the settings go together.
    pub fn start(
        program: &'program Program,
        config: &Values,
        words: &Words,
    ) -> Result<Compiled<'program>, Failure> {
        // Buffers that are taken do not come back, so they are counted in another one.
        let buffers = Stack::start(program, config, 0)?.take_buffers();
        Ok(Compiled {
            stack: Stack::start(program, config, 0)?,
            buffers,
            words: words.laid_out(program),
            last: None,
        })
    }
}

impl Driven for Compiled<'_> {
    fn input(&mut self, link: usize, frame: &[u8], now_ns: u64) -> Intake {
        let mut intake = Intake::Taken;
        let filled = self.stack.fill(|room| {
            let length = frame.len().min(room.len());
            room[..length].copy_from_slice(&frame[..length]);
            if length < frame.len() {
                intake = Intake::Cut;
            }
            Ok::<_, Infallible>(Some(length))
        });
        match filled {
            Ok(Filled::Frame) => {
                let taken = self.stack.input(link, now_ns);
                assert_eq!(taken, 1, "a stack with nothing to do takes a frame");
                intake
            }
            Ok(Filled::Nothing | Filled::NoBuffer) | Err(_) => Intake::Refused,
        }
    }

    fn next(&mut self) -> Option<Output> {
        let output = self.stack.next()?;
        let place = output.place();
        Some(match output.event {
            Event::Frame => Output::Frame {
                link: place,
                bytes: output.bytes().to_vec(),
            },
            Event::Deliver => {
                let (session, bytes) = (output.session(), output.bytes().to_vec());
                let attributes = output.attributes();
                drop(output);
                self.last = Some((place, session, attributes));
                Output::Deliver {
                    port: place,
                    session,
                    bytes,
                }
            }
            Event::Notice => {
                let notice = output.notice();
                Output::Notice {
                    port: place,
                    session: output.session(),
                    told: notice.told.map_or(Told::Accepted, Told::Notice),
                    arguments: notice.arguments.data(),
                }
            }
        })
    }

    fn deadline_ns(&self) -> Option<u64> {
        self.stack.deadline()
    }

    fn expire(&mut self, now_ns: u64) {
        self.stack.expire(now_ns);
    }

    fn open(&mut self, conversation: usize, now_ns: u64) -> Option<u32> {
        let (port, _, keys) = &self.words.conversations[conversation];
        self.stack.open(*port, keys, now_ns)
    }

    fn listen(&mut self, conversation: usize, now_ns: u64) -> bool {
        let (port, _, keys) = &self.words.conversations[conversation];
        self.stack.listen(*port, keys, BACKLOG, now_ns).is_some()
    }

    fn close(&mut self, port: usize, session: u32, now_ns: u64) {
        let program = self.stack.program();
        if let Some(told) = program.description().ports[port].says("close", &[]) {
            let nothing = program.arguments(port, told);
            self.stack.say(port, told, session, &nothing, now_ns);
        }
    }

    fn tell(&mut self, notice: usize, session: u32, now_ns: u64) {
        let (port, told, given) = &self.words.notices[notice];
        self.stack.say(*port, *told, session, given, now_ns);
    }

    fn hears_carrier(&self) -> bool {
        self.stack.program().description().hears_carrier
    }

    fn carrier(&mut self, link: usize, up: bool, now_ns: u64) {
        self.stack.carrier(link, up, now_ns);
    }

    fn send(&mut self, to: Address, bytes: &[u8], now_ns: u64) -> bool {
        let given = to.attributes.map(|at| &self.words.attributes[at].1);
        let outcome = self.stack.send(to.port, to.session, given, bytes, now_ns);
        outcome == Outcome::Sent
    }

    fn answer(&mut self, bytes: &[u8], now_ns: u64) -> bool {
        let Some((port, session, attributes)) = &self.last else {
            return false;
        };
        let outcome = self
            .stack
            .send(*port, *session, attributes.as_ref(), bytes, now_ns);
        outcome == Outcome::Sent
    }

    fn read(&mut self, port: usize, session: u32, length: usize, now_ns: u64) {
        self.stack.grant_read(port, session, length, now_ns);
    }

    fn counters(&self) -> Vec<(String, u64)> {
        let counters = self.stack.counters().into_iter();
        counters
            .map(|(name, value)| (name.to_string(), value))
            .collect()
    }

    fn buffers(&self) -> usize {
        self.buffers
    }

    fn take_buffers(&mut self) -> usize {
        self.stack.take_buffers()
    }
}
