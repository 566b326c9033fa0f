//! A host that spoke with a kernel: the stack, its applications, and the frames that were kept.
//!
//! In: frames of the kernel, and when each came. Out: what the host sent, and all that was called
//! in it, as a trace. Its applications do what follows from what they hear and when, timers run out
//! on time, and so the frames of `recorded.pcapng`, each at its time, are answered as they were
//! when it was made. It is made anew by
//! `cargo test --test kernel make_a_recording -- --ignored`.

use crate::content::content;
use stackloom::simulate::externs::Externs;
use stackloom::simulate::reference::Reference;
use stackloom::simulate::stack::Stack;
use stackloom::simulate::state::{Emitted, Limits};
use stackloom::simulate::trace::{Call, Driver, Step, Trace};
use stackloom::simulate::value::Datum;
use stackloom::tool::capture::{Frame, Reader};
use stackloom::types::program::{LinkId, NoticeId, PortId, Program};
use std::collections::{BTreeMap, VecDeque};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The stack, a host on a link without addresses.
pub const STACK: &str = "tests/tcp/host.loom";

/// The address of the host, and that of the kernel.
pub const ADDRESSES: [[u8; 4]; 2] = [[10, 0, 0, 2], [10, 0, 0, 1]];

/// What the host says by itself, and the kernel too.
pub const SPOKEN: usize = 8000;

/// A port of the kernel's at which somebody listens, and one at which nobody does.
pub const THEIRS: [u16; 2] = [5000, 5001];

/// What an application does in a conversation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// Sends back what it hears.
    Echo = 7,
    /// Hears, and has room for more only a while later.
    Slow = 9,
    /// Gives up as soon as it hears something.
    Abort = 13,
    /// Speaks, and says that it is done.
    Source = 19,
}

/// A conversation.
struct Talk {
    role: Role,
    /// Bytes that may be sent, and those that are to be.
    credit: usize,
    waiting: Vec<u8>,
    /// Whether the peer sends no more, and whether we do not.
    finished: bool,
    shut: bool,
}

/// What is done when it is time.
enum Deed {
    Call(u16),
    Grant(u32, usize),
}

/// The host, run by the reference.
pub struct Host<'p> {
    program: &'p Program,
    stack: Stack<'p, Reference<'p>>,
    talks: BTreeMap<u32, Talk>,
    outputs: VecDeque<Emitted>,
    /// By when, and in which order they were planned.
    deeds: BTreeMap<(u64, usize), Deed>,
    planned: usize,
    now_ns: u64,
    trace: Trace,
    /// What it sent, and when.
    pub sent: Vec<Frame>,
}

const PORT: PortId = PortId(0);

/// How long a slow application has no room.
const SLOW_NS: u64 = 1_500_000_000;

impl<'p> Host<'p> {
    /// The host listens, and plans to call.
    pub fn start(program: &'p Program) -> Host<'p> {
        let limits = Limits::default();
        let value = |name: &str| match name {
            "address" => Datum::Number(u32::from_be_bytes(ADDRESSES[0]).into()),
            "secret" => Datum::Bytes((0..16).collect()),
            other => panic!("no value for {other}"),
        };
        let config = program.config.iter().map(|one| value(&one.name));
        let config: Vec<Datum> = config.collect();
        let externs: &Externs<'_> = Box::leak(Box::new(Externs::default()));
        let reference = Reference::new(program);
        let stack = Stack::start(
            reference,
            program,
            externs,
            config.clone(),
            limits.clone(),
            0,
        );
        let mut host = Host {
            program,
            stack: stack.expect("the settings go together"),
            talks: BTreeMap::new(),
            outputs: VecDeque::new(),
            deeds: BTreeMap::new(),
            planned: 0,
            now_ns: 0,
            trace: Trace {
                config,
                limits,
                start_ns: 0,
                steps: Vec::new(),
            },
            sent: Vec::new(),
        };
        for role in [Role::Echo, Role::Slow, Role::Abort, Role::Source] {
            let keys = vec![Datum::Number(role as u64)];
            let listener = host.call(Call::Listen(PORT, keys, 4));
            listener.expect("nobody else listens there");
        }
        for port in THEIRS {
            host.plan(50_000_000, Deed::Call(port));
        }
        host.settle();
        host
    }

    /// Lets time pass: what is due before is done when it is due.
    pub fn until(&mut self, now_ns: u64) {
        loop {
            let deed = self.deeds.first_key_value().map(|((at_ns, _), _)| *at_ns);
            let due = self.stack.deadline_ns().into_iter().chain(deed).min();
            let Some(due_ns) = due.filter(|due_ns| *due_ns <= now_ns) else {
                break;
            };
            self.now_ns = self.now_ns.max(due_ns);
            match self.deeds.first_entry() {
                Some(first) if first.key().0 == due_ns => {
                    let deed = first.remove();
                    self.act(deed);
                }
                _ => drop(self.call(Call::Expire)),
            }
            self.settle();
        }
        self.now_ns = self.now_ns.max(now_ns);
    }

    /// A frame comes, at a time up to which everything was done.
    pub fn frame(&mut self, bytes: &[u8]) {
        self.call(Call::Input(LinkId(0), vec![bytes.to_vec()]));
        self.settle();
    }

    fn call(&mut self, call: Call) -> Option<u64> {
        let step = Step {
            now_ns: self.now_ns,
            call,
            takes: true,
        };
        let seen = self.stack.step(&step);
        self.trace.steps.push(step);
        self.outputs.extend(seen.outputs);
        seen.returned
    }

    fn tell(&mut self, session: u32, name: &str, argument: Option<usize>) {
        let mut down = self.program.ports[PORT.at()].down.iter();
        let named = |id: &&NoticeId| self.program.notices[id.at()].name == name;
        let notice = *down.find(named).expect("the port has the notice");
        let argument = argument.map(|number| Datum::Number(number as u64));
        self.call(Call::Notice {
            port: PORT,
            session,
            notice,
            arguments: argument.into_iter().collect(),
        });
    }

    fn plan(&mut self, after_ns: u64, deed: Deed) {
        self.planned += 1;
        self.deeds
            .insert((self.now_ns + after_ns, self.planned), deed);
    }

    fn act(&mut self, deed: Deed) {
        match deed {
            Deed::Call(port) => {
                let peer = u32::from_be_bytes(ADDRESSES[1]).into();
                let keys = [u64::from(port) + 1000, peer, port.into()].map(Datum::Number);
                let opened = self.call(Call::Open(PORT, keys.to_vec()));
                let session = opened.expect("there is a session left") as u32;
                self.talks.insert(session, Talk::new(Role::Source));
            }
            Deed::Grant(session, bytes) if self.talks.contains_key(&session) => {
                self.tell(session, "grant_delivers", Some(bytes));
            }
            Deed::Grant(..) => {}
        }
    }

    /// Its applications do what they want to, until there is nothing.
    fn settle(&mut self) {
        while let Some(output) = self.outputs.pop_front() {
            match output {
                Emitted::Frame { bytes, .. } => {
                    let time = Duration::from_nanos(self.now_ns);
                    self.sent.push(Frame { time, bytes });
                }
                Emitted::Accepted { session, keys, .. } => {
                    let roles = [Role::Echo, Role::Slow, Role::Abort, Role::Source];
                    let own = |role: &Role| keys[0].number() == *role as u64;
                    let role = roles.into_iter().find(own);
                    let role = role.expect("somebody listens there");
                    self.talks.insert(session, Talk::new(role));
                }
                Emitted::Deliver { session, bytes, .. } => self.hear(session, bytes),
                Emitted::Notice {
                    session,
                    notice,
                    arguments,
                    ..
                } => {
                    let name = &self.program.notices[notice.at()].name;
                    self.learn(session, name, &arguments);
                }
            }
        }
    }

    fn hear(&mut self, session: u32, bytes: Vec<u8>) {
        let Some(talk) = self.talks.get_mut(&session) else {
            return;
        };
        let length = bytes.len();
        match talk.role {
            Role::Abort => self.tell(session, "abort", None),
            Role::Slow => self.plan(SLOW_NS, Deed::Grant(session, length)),
            Role::Echo | Role::Source => {
                if talk.role == Role::Echo {
                    talk.waiting.extend(bytes);
                }
                self.tell(session, "grant_delivers", Some(length));
                self.speak(session);
            }
        }
    }

    fn learn(&mut self, session: u32, name: &str, arguments: &[Datum]) {
        let Some(talk) = self.talks.get_mut(&session) else {
            return;
        };
        match name {
            "grant_sends" => talk.credit += arguments[0].number() as usize,
            "finished" => talk.finished = true,
            "closed" => {
                self.talks.remove(&session);
            }
            _ => {}
        }
        self.speak(session);
    }

    /// One says what it may; and when nothing is left to say, that.
    fn speak(&mut self, session: u32) {
        let Some(talk) = self.talks.get_mut(&session) else {
            return;
        };
        let length = talk.credit.min(talk.waiting.len());
        if length > 0 {
            talk.credit -= length;
            let bytes = talk.waiting.drain(..length).collect();
            self.call(Call::Send {
                port: PORT,
                session,
                attributes: Vec::new(),
                bytes,
            });
        }
        let Some(talk) = self.talks.get_mut(&session) else {
            return;
        };
        let is_done = talk.finished || talk.role == Role::Source;
        if is_done && talk.waiting.is_empty() && !talk.shut {
            talk.shut = true;
            self.tell(session, "shutdown", None);
        }
    }
}

impl Talk {
    fn new(role: Role) -> Talk {
        let says = if role == Role::Source { SPOKEN } else { 0 };
        Talk {
            role,
            credit: 0,
            waiting: content(0, says).to_vec(),
            finished: false,
            shut: false,
        }
    }
}

/// The capture.
pub fn path() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/streams/recorded.pcapng")
}

/// What came in, and what went out, when it was made.
#[allow(dead_code)] // Who makes one reads none.
pub fn recorded() -> [Vec<Frame>; 2] {
    let mut reader = Reader::open(&path()).expect("the capture is there");
    let mut ways = [Vec::new(), Vec::new()];
    while let Some(frame) = reader.next_frame().expect("it is a capture") {
        let is_ours = frame.bytes[12..16] == ADDRESSES[0];
        ways[usize::from(is_ours)].push(frame);
    }
    ways
}

/// What is called in the host when it hears these frames, until nothing will happen any more; and
/// what it sends.
#[allow(dead_code)]
pub fn replayed(program: &Program, came: &[Frame]) -> (Trace, Vec<Frame>) {
    let mut host = Host::start(program);
    for frame in came {
        host.until(frame.time.as_nanos() as u64);
        host.frame(&frame.bytes);
    }
    host.until(host.now_ns + 600_000_000_000);
    let sent = std::mem::take(&mut host.sent);
    (host.trace, sent)
}
