//! A stack in a network that is interpreted as it is written.
//!
//! In: a checked program, its settings, the words of the scripts at its ports. Out:
//! something [`Driven`], which does what the compiled stack does.

use super::words::Words;
use crate::simulate::externs::Externs;
use crate::simulate::network::driven::{Address, Driven, Intake, Output, Told};
use crate::simulate::reference::Reference;
use crate::simulate::stack::{Outcome, Stack};
use crate::simulate::state::{Emitted, Limits};
use crate::simulate::value::{Datum, fit};
use crate::tool::layout::Values;
use crate::types::program::{AttributeId, LinkId, NoticeId, PortId, Program};
use crate::types::value::Type;

/// A stack, started.
pub struct Interpreted<'p> {
    program: &'p Program,
    stack: Stack<'p, Reference<'p>>,
    buffers: usize,
    room: usize,
    conversations: Vec<(PortId, Vec<Datum>)>,
    /// What stands beside messages that scripts send.
    attributes: Vec<Attributes>,
    /// What scripts tell, without the session.
    notices: Vec<(PortId, NoticeId, Vec<Datum>)>,
    /// Where the message came from that was delivered last, and what stood beside it.
    last: Option<(PortId, u32, Attributes)>,
}

/// What stands beside a message.
type Attributes = Vec<(AttributeId, Datum)>;

/// How many sessions of a listener may wait.
const BACKLOG: u32 = 128;

impl<'p> Interpreted<'p> {
    /// Starts it; none if the settings do not go together.
    pub fn start(
        program: &'p Program,
        externs: &'p Externs<'p>,
        config: &Values,
        usual: &Limits,
        words: &Words,
    ) -> Option<Interpreted<'p>> {
        let own = program.config.iter().map(|one| &one.kind);
        let mut settings = Vec::new();
        for (at, kind) in own.enumerate() {
            let given = given(config, at, kind);
            let default = program.config[at].default.as_ref();
            settings.push(match (given, default) {
                (Datum::Absent, Some(value)) => Datum::of(program, value, kind),
                (given, _) => given,
            });
        }
        let set = |name: &str, usual: u32| {
            let number = config.number(name).unwrap_or(u64::from(usual));
            u32::try_from(number).unwrap_or(u32::MAX)
        };
        let limits = Limits {
            buffers: set("buffers", usual.buffers),
            reserve: set("reserve", usual.reserve),
            outputs: set("outputs", usual.outputs as u32) as usize,
            events: set("events", usual.events as u32) as usize,
            budget: set("budget", usual.budget),
            ..usual.clone()
        };
        let room = limits.room;
        let control = Reference::new(program);
        let stack = Stack::start(control, program, externs, settings, limits, 0)?;
        let buffers = stack.state().clone().lend_buffers(usize::MAX);
        Some(Interpreted {
            program,
            stack,
            buffers,
            room,
            conversations: conversations(program, words),
            attributes: attributes(program, words),
            notices: notices(program, words),
            last: None,
        })
    }

    /// A notice of this name that an application may send.
    fn tells(&self, port: usize, name: &str) -> Option<NoticeId> {
        let mut down = self.program.ports[port].down.iter();
        let found = down.find(|id| self.program.notices[id.at()].name == name);
        found.copied()
    }
}

/// The keys of what scripts open, and listen for.
fn conversations(program: &Program, words: &Words) -> Vec<(PortId, Vec<Datum>)> {
    let conversations = words.conversations.iter().map(|(port, listens, values)| {
        let of_port = &program.ports[*port];
        let kind = match listens {
            true => of_port.listens.map(|how| how.listener),
            false => of_port.opens,
        };
        let keys = kind.map_or(&[][..], |kind| &program.kinds[kind.at()].keys);
        let keys = keys.iter().enumerate();
        let keys = keys.map(|(at, key)| given(values, at, &key.kind));
        (PortId(*port as u32), keys.collect())
    });
    conversations.collect()
}

/// What scripts set beside messages; all else has its default.
fn attributes(program: &Program, words: &Words) -> Vec<Attributes> {
    let all = words.attributes.iter().map(|(port, values)| {
        let ids = program.ports[*port].attributes.iter().enumerate();
        let set = ids.filter(|(at, _)| values.is_set(*at));
        let set = set.map(|(at, id)| {
            let kind = &program.attributes[id.at()].kind;
            (*id, given(values, at, kind))
        });
        set.collect()
    });
    all.collect()
}

/// What scripts tell.
fn notices(program: &Program, words: &Words) -> Vec<(PortId, NoticeId, Vec<Datum>)> {
    let all = words.notices.iter().map(|(port, told, values)| {
        let down = program.ports[*port].down.iter();
        let mut said = down.filter(|id| {
            let by_opening = program.ports[*port].opens.is_some();
            !by_opening || program.notices[id.at()].name != "open"
        });
        let id = said.nth(*told).expect("scripts say what there is");
        let parameters = program.notices[id.at()].parameters.iter().enumerate();
        let arguments = parameters.map(|(at, one)| given(values, at, &one.kind));
        (PortId(*port as u32), *id, arguments.collect())
    });
    all.collect()
}

/// What was written for a field; absent if nothing was.
fn given(values: &Values, at: usize, kind: &Type) -> Datum {
    let Some(bytes) = values.given(at) else {
        return match kind {
            Type::Optional(_) => Datum::Optional(None),
            _ => Datum::Absent,
        };
    };
    match kind {
        Type::Optional(inner) => Datum::some(datum(&bytes, inner)),
        kind => datum(&bytes, kind),
    }
}

fn datum(bytes: &[u8], kind: &Type) -> Datum {
    if let Type::Bytes(_) = kind {
        return Datum::Bytes(bytes.to_vec());
    }
    if let Type::BoundedBytes(_) = kind {
        let length = usize::from(bytes[0]);
        return Datum::Bytes(bytes[1..=length].to_vec());
    }
    let number = bytes
        .iter()
        .rev()
        .fold(0, |number, byte| number << 8 | u64::from(*byte));
    Datum::Number(fit(kind, number))
}

impl Driven for Interpreted<'_> {
    fn input(&mut self, link: usize, frame: &[u8], now_ns: u64) -> Intake {
        let length = frame.len().min(self.room);
        let frames = [frame[..length].to_vec()];
        match self.stack.input(LinkId(link as u32), &frames, now_ns) {
            0 => Intake::Refused,
            _ if length < frame.len() => Intake::Cut,
            _ => Intake::Taken,
        }
    }

    fn next(&mut self) -> Option<Output> {
        Some(match self.stack.next_output()? {
            Emitted::Frame { link, bytes } => Output::Frame {
                link: link.at(),
                bytes,
            },
            Emitted::Deliver {
                port,
                session,
                bytes,
                attributes,
            } => {
                self.last = Some((port, session, attributes));
                Output::Deliver {
                    port: port.at(),
                    session,
                    bytes,
                }
            }
            Emitted::Accepted {
                port,
                session,
                listener,
                keys,
            } => {
                let listener = listener.unwrap_or(u32::MAX);
                Output::Notice {
                    port: port.at(),
                    session,
                    told: Told::Accepted,
                    arguments: [&[Datum::Number(u64::from(listener))], &keys[..]].concat(),
                }
            }
            Emitted::Notice {
                port,
                session,
                notice,
                arguments,
                ..
            } => {
                let mut up = self.program.ports[port.at()].up.iter();
                let told = up.position(|id| *id == notice);
                Output::Notice {
                    port: port.at(),
                    session,
                    told: Told::Notice(told.expect("a port tells what it lists")),
                    arguments,
                }
            }
        })
    }

    fn deadline_ns(&self) -> Option<u64> {
        self.stack.deadline_ns()
    }

    fn expire(&mut self, now_ns: u64) {
        self.stack.expire(now_ns);
    }

    fn open(&mut self, conversation: usize, now_ns: u64) -> Option<u32> {
        let (port, keys) = &self.conversations[conversation];
        self.stack.open(*port, keys.clone(), now_ns)
    }

    fn listen(&mut self, conversation: usize, now_ns: u64) -> bool {
        let (port, keys) = &self.conversations[conversation];
        self.stack
            .listen(*port, keys.clone(), BACKLOG, now_ns)
            .is_some()
    }

    fn close(&mut self, port: usize, session: u32, now_ns: u64) {
        if let Some(notice) = self.tells(port, "close") {
            let place = (PortId(port as u32), session);
            self.stack.notice(place, notice, Vec::new(), now_ns);
        }
    }

    fn tell(&mut self, notice: usize, session: u32, now_ns: u64) {
        let (port, notice, arguments) = &self.notices[notice];
        let place = (*port, session);
        self.stack.notice(place, *notice, arguments.clone(), now_ns);
    }

    fn hears_carrier(&self) -> bool {
        self.program.links.iter().any(|link| link.carrier.is_some())
    }

    fn carrier(&mut self, link: usize, up: bool, now_ns: u64) {
        self.stack.carrier(LinkId(link as u32), up, now_ns);
    }

    fn send(&mut self, to: Address, bytes: &[u8], now_ns: u64) -> bool {
        let place = (PortId(to.port as u32), to.session);
        let given = to.attributes.map_or(&[][..], |at| &self.attributes[at]);
        self.stack.send(place, given, bytes, now_ns) == Outcome::Sent
    }

    fn answer(&mut self, bytes: &[u8], now_ns: u64) -> bool {
        let Some((port, session, attributes)) = &self.last else {
            return false;
        };
        let place = (*port, *session);
        self.stack.send(place, attributes, bytes, now_ns) == Outcome::Sent
    }

    fn read(&mut self, port: usize, session: u32, length: usize, now_ns: u64) {
        if let Some(notice) = self.tells(port, "grant_delivers") {
            let parameters = &self.program.notices[notice.at()].parameters;
            let in_bytes = parameters.iter().all(|one| one.name == "bytes");
            let read = if in_bytes { length as u64 } else { 1 };
            let place = (PortId(port as u32), session);
            self.stack
                .notice(place, notice, vec![Datum::Number(read)], now_ns);
        }
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
        self.stack.state().clone().lend_buffers(usize::MAX)
    }
}
