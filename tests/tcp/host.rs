//! One host with TCP, run by an interpreter: calls of an application and segments of a
//! peer come in, what it says to both goes out.

use crate::segment::{OURS, Segment, THEIRS};
use stackloom::simulate::externs::Externs;
use stackloom::simulate::stack::{Control, Outcome, Stack};
use stackloom::simulate::state::{Emitted, Limits};
use stackloom::simulate::value::Datum;
use stackloom::types::program::{LinkId, NoticeId, PortId, Program};
use std::collections::BTreeMap;

/// What a host says.
#[derive(Clone, Debug, PartialEq)]
pub enum Says {
    /// To the peer.
    Segment(Segment),
    /// To the application: bytes that came.
    Text(u32, Vec<u8>),
    /// A connection that a listener made.
    Accepted(u32),
    /// A notice, and its arguments.
    Notice(u32, String, Vec<u64>),
}

/// A host that runs.
pub struct Host<'p, C> {
    program: &'p Program,
    stack: Stack<'p, C>,
    /// The time.
    pub now_ns: u64,
    address: u32,
}

const PORT: PortId = PortId(0);

impl<'p, C: Control<'p>> Host<'p, C> {
    /// A host with this address.
    pub fn start(program: &'p Program, control: C, address: u32) -> Host<'p, C> {
        let externs: &Externs<'_> = Box::leak(Box::new(Externs::default()));
        let value = |name: &str| match name {
            "address" => Datum::Number(u64::from(address)),
            "secret" => Datum::Bytes((0..16).collect()),
            other => panic!("no value for {other}"),
        };
        let config = program.config.iter().map(|one| value(&one.name)).collect();
        let limits = Limits::default();
        let stack = Stack::start(control, program, externs, config, limits, 0);
        Host {
            program,
            stack: stack.expect("the settings go together"),
            now_ns: 0,
            address,
        }
    }

    fn notice(&self, name: &str) -> NoticeId {
        let mut down = self.program.ports[PORT.at()].down.iter();
        let named = |id: &&NoticeId| self.program.notices[id.at()].name == name;
        *down.find(named).expect("the port has the notice")
    }

    /// The application listens.
    pub fn listen(&mut self, port: u16) {
        let keys = vec![Datum::Number(u64::from(port))];
        let listener = self.stack.listen(PORT, keys, 8, self.now_ns);
        listener.expect("nobody else listens there");
    }

    /// The application opens a connection.
    pub fn open(&mut self, port: u16, peer: u32, peer_port: u16) -> u32 {
        let keys = [u64::from(port), u64::from(peer), u64::from(peer_port)];
        let keys = keys.map(Datum::Number).to_vec();
        self.stack
            .open(PORT, keys, self.now_ns)
            .expect("a free session")
    }

    /// The application says something.
    pub fn tell(&mut self, session: u32, name: &str, arguments: &[u64]) {
        let arguments = arguments.iter().map(|one| Datum::Number(*one)).collect();
        let notice = self.notice(name);
        self.stack
            .notice((PORT, session), notice, arguments, self.now_ns);
    }

    /// The application sends.
    pub fn send(&mut self, session: u32, bytes: &[u8]) -> Outcome {
        self.stack.send((PORT, session), &[], bytes, self.now_ns)
    }

    /// A frame comes in.
    pub fn frame(&mut self, bytes: Vec<u8>) {
        assert_eq!(self.stack.input(LinkId(0), &[bytes], self.now_ns), 1);
    }

    /// A segment of the peer comes in.
    pub fn segment(&mut self, segment: &Segment) {
        let from = if self.address == OURS { THEIRS } else { OURS };
        self.frame(segment.datagram(from, self.address));
    }

    /// Time has come.
    pub fn expire(&mut self) {
        self.stack.expire(self.now_ns);
    }

    /// When it wants to be woken.
    pub fn deadline_ns(&self) -> Option<u64> {
        self.stack.deadline_ns()
    }

    /// All that it says now.
    pub fn says(&mut self) -> Vec<Says> {
        let mut all = Vec::new();
        while let Some(output) = self.stack.next_output() {
            all.push(match output {
                Emitted::Frame { bytes, .. } => Says::Segment(Segment::of(&bytes)),
                Emitted::Deliver { session, bytes, .. } => Says::Text(session, bytes),
                Emitted::Accepted { session, .. } => Says::Accepted(session),
                Emitted::Notice {
                    session,
                    notice,
                    arguments,
                    ..
                } => Says::Notice(
                    session,
                    self.program.notices[notice.at()].name.clone(),
                    arguments.iter().map(Datum::number).collect(),
                ),
            });
        }
        assert!(self.stack.adds_up(), "every frame has one fate");
        all
    }

    /// How often ways were taken, of trees that count them.
    pub fn passed(&self) -> &BTreeMap<u32, u64> {
        &self.stack.state().passed
    }

    /// All counters together whose name begins so.
    pub fn counted(&self, begins: &str) -> u64 {
        let counters = self.stack.counters().into_iter();
        let counters = counters.filter(|(name, _)| name.starts_with(begins));
        counters.map(|(_, count)| count).sum()
    }

    /// Sessions that live, timers that run, buffers that are held.
    pub fn held(&mut self) -> (usize, bool, usize) {
        let live = (0..64).filter(|one| self.stack.keys(PORT, *one).is_some());
        let free = self.stack.state().clone().lend_buffers(usize::MAX);
        (live.count(), self.stack.deadline_ns().is_some(), 248 - free)
    }
}
