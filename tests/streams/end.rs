//! One end of streams: a compiled stack with TCP, and an application in each conversation.
//!
//! In: frames, and the time. Out: frames, and what became of each conversation. An application
//! sends what it is to send, as credit comes, and says that it has no more; it looks at each byte
//! that it reads, and gives credit for it.

use crate::content::content;
use stackloom::simulate::stack::Outcome;
use stackloom::simulate::value::Datum;
use stackloom::tool::c_compiler;
use stackloom::tool::compiler::{self, Options};
use stackloom::tool::host::Report;
use stackloom::tool::layout::Values;
use stackloom::tool::stack::{Event, Filled, Notice, Program, Stack};
use std::collections::{BTreeMap, VecDeque};
use std::path::Path;

/// A stack of the repository as C, by its path.
pub fn load(path: &str) -> Program {
    load_over(Path::new("layers"), path)
}

/// The same, with the layers of a folder before those of the library.
pub fn load_over(folder: &Path, path: &str) -> Program {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let options = Options {
        search: vec![root.join(folder), root.join("layers")],
        ..Options::default()
    };
    let compiled = compiler::compile(&root.join(path), &options).expect("it is right");
    c_compiler::load(&compiled.source, &compiled.header, &compiled.description).expect("it is C")
}

/// What an application does in a conversation.
#[derive(Clone, Copy, Debug, Default)]
pub struct Talk {
    /// How many bytes it sends before it says that there are no more.
    pub sends: usize,
    /// From which place of all content on.
    pub from: usize,
    /// How many it is to read,
    pub reads: usize,
    /// and from which place on.
    pub reads_from: usize,
    /// How many it reads before it has room for as many.
    pub lump: usize,
}

impl Talk {
    /// Two that talk with each other: one sends so many bytes, and so many the other.
    pub fn pair(one: usize, other: usize, lump: usize) -> [Talk; 2] {
        let talk = |sends, from, reads, reads_from| Talk {
            sends,
            from,
            reads,
            reads_from,
            lump,
        };
        [talk(one, 0, other, 40_009), talk(other, 40_009, one, 0)]
    }
}

/// What became of a conversation.
#[derive(Clone, Debug, Default)]
pub struct Conversation {
    /// What was to be done.
    pub talk: Talk,
    /// Bytes that were given to the stack.
    pub sent: usize,
    /// Bytes that came, all of them as they should be.
    pub read: usize,
    /// Whether the peer said that it sends no more.
    pub finished: bool,
    /// Why it is over.
    pub closed: Option<&'static str>,
    /// Bytes that may be sent, and bytes that were read for which no credit was given.
    credit: usize,
    owes: usize,
    opened: bool,
    /// Whether its turn to send will come, or it has said that it sends no more.
    waits: bool,
}

impl Conversation {
    /// Whether all was sent and read, and the peer said that there is no more.
    pub fn has_all(&self) -> bool {
        let Talk { sends, reads, .. } = self.talk;
        (self.sent, self.read) == (sends, reads) && self.finished
    }

    /// Whether both said so, and know that the other has heard it.
    pub fn is_whole(&self) -> bool {
        self.has_all() && self.closed == Some("finished")
    }
}

/// The reasons of `closed`, in the order of the service.
const REASONS: [&str; 4] = ["finished", "reset", "refused", "timeout"];

/// The most that an application says at once.
const PIECE: usize = 4096;

/// A started stack, and its applications.
pub struct End {
    program: &'static Program,
    stack: Stack<'static>,
    config: Values,
    /// What is said in conversations that others begin.
    answer: Talk,
    /// Those that live, by the number of their session.
    pub live: BTreeMap<u32, Conversation>,
    /// Those that are over, in the order of their ends.
    pub over: Vec<Conversation>,
    /// Sessions that may send.
    ready: VecDeque<u32>,
    /// What goes out.
    pub frames: VecDeque<Vec<u8>>,
}

/// The port of all these stacks.
const PORT: usize = 0;

impl End {
    /// Starts a stack with these settings, as `NAME=VALUE, NAME=VALUE`.
    pub fn start(program: &'static Program, settings: &str, now_ns: u64) -> End {
        let mut config = program.config();
        for setting in settings.split(", ") {
            let (name, value) = setting.split_once('=').expect("a setting");
            config.set(name, value).expect("a setting that there is");
        }
        End {
            program,
            stack: Stack::start(program, &config, now_ns).expect("it starts"),
            config,
            answer: Talk::default(),
            live: BTreeMap::new(),
            over: Vec::new(),
            ready: VecDeque::new(),
            frames: VecDeque::new(),
        }
    }

    /// Listens at a port; whoever calls is answered by this talk.
    pub fn listen(&mut self, port: u16, answer: Talk, now_ns: u64) {
        self.answer = answer;
        let mut keys = self.program.listener_keys(PORT);
        keys.set("port", &port.to_string()).expect("a port");
        let listener = self.stack.listen(PORT, &keys, 1024, now_ns);
        listener.expect("nobody else listens there");
        self.drain(now_ns);
    }

    /// Calls somebody; false if there is no session left.
    pub fn call(&mut self, peer: (&str, u16), talk: Talk, now_ns: u64) -> bool {
        let keys = keys(self.program, peer);
        let opened = self.stack.open(PORT, &keys, now_ns);
        if let Some(session) = opened {
            self.live.insert(session, Conversation::new(talk));
        }
        self.drain(now_ns);
        opened.is_some()
    }

    /// Gives up a conversation.
    pub fn abort(&mut self, session: u32, now_ns: u64) {
        self.say("abort", session, None, now_ns);
        self.drain(now_ns);
    }

    /// Takes a frame that somebody writes into a buffer; false if there is none, or no buffer.
    pub fn take(
        &mut self,
        receive: impl FnOnce(&mut [u8]) -> std::io::Result<Option<usize>>,
        now_ns: u64,
    ) -> bool {
        let filled = self.stack.fill(receive).expect("the link is there");
        if filled != Filled::Frame {
            return false;
        }
        let taken = self.stack.input(0, now_ns);
        assert_eq!(taken, 1, "a stack with nothing to do takes a frame");
        self.drain(now_ns);
        true
    }

    /// When it wants to be called.
    pub fn deadline_ns(&self) -> Option<u64> {
        self.stack.deadline()
    }

    /// Time has come.
    pub fn expire(&mut self, now_ns: u64) {
        self.stack.expire(now_ns);
        self.drain(now_ns);
    }

    /// What became of every frame.
    pub fn report(&self) -> Report {
        Report::new(&self.stack.counters())
    }

    /// How often TCP said what it must not, by what it was.
    pub fn mistakes(&self) -> Vec<String> {
        let counts = self.report().counts.into_iter();
        let mistakes = counts.filter(|(name, _)| name.starts_with("segments."));
        mistakes
            .map(|(name, count)| format!("{count} {name}"))
            .collect()
    }

    /// Takes all that can be taken, to speak with a stranger: how many buffers and sessions are
    /// missing of those that a stack has which was just started.
    pub fn missing(self, stranger: &str, now_ns: u64) -> (usize, usize) {
        let fresh = Stack::start(self.program, &self.config, now_ns).expect("it started before");
        let everything = |mut stack: Stack<'static>| {
            let buffers = stack.take_buffers();
            let mut peers = (1..).map(|port| keys(self.program, (stranger, port)));
            let sessions = peers.position(|keys| {
                let opened = stack.open(PORT, &keys, now_ns);
                while stack.next().is_some() {}
                opened.is_none()
            });
            (buffers, sessions.expect("a pool has an end"))
        };
        let (known, left) = (everything(fresh), everything(self.stack));
        (known.0 - left.0, known.1 - left.1)
    }

    fn say(&mut self, name: &str, session: u32, argument: Option<usize>, now_ns: u64) {
        let mut down = self.program.description().ports[PORT].down.iter();
        let told = down.position(|told| told.name == name);
        let told = told.expect("the port has the notice");
        let mut values = self.program.arguments(PORT, told);
        if let Some(argument) = argument {
            values.put(0, &Datum::Number(argument as u64));
        }
        self.stack.say(PORT, told, session, &values, now_ns);
    }

    /// Does what the stack and its applications want done, until they want no more.
    fn drain(&mut self, now_ns: u64) {
        while self.turn(now_ns) || self.speak(now_ns) {}
    }

    /// Takes one thing that the stack says; false if it says nothing.
    fn turn(&mut self, now_ns: u64) -> bool {
        let Some(output) = self.stack.next() else {
            return false;
        };
        let session = output.session();
        match output.event {
            Event::Frame => {
                self.frames.push_back(output.bytes().to_vec());
                return true;
            }
            Event::Deliver => {
                let live = self.live.get_mut(&session);
                live.expect("it is not over").hear(&output.bytes());
            }
            Event::Notice => {
                let Notice { told, arguments } = output.notice();
                let up = &self.program.description().ports[PORT].up;
                match (told, self.live.get_mut(&session)) {
                    (Some(told), Some(conversation)) => {
                        let first = arguments.data().first().map(Datum::number);
                        conversation.learn(&up[told].name, first.unwrap_or(0) as usize);
                    }
                    (Some(_), None) => {}
                    (None, before) => {
                        assert!(before.is_none(), "what is accepted is new");
                        let accepted = Conversation::new(self.answer);
                        self.live.insert(session, accepted);
                    }
                }
            }
        }
        drop(output);
        self.act(session, now_ns);
        true
    }

    /// Answers what a conversation has just heard.
    fn act(&mut self, session: u32, now_ns: u64) {
        let Some(conversation) = self.live.get_mut(&session) else {
            return;
        };
        if conversation.closed.is_some() {
            self.over.extend(self.live.remove(&session));
            return;
        }
        if conversation.owes > 0 && conversation.owes >= conversation.talk.lump {
            let owes = std::mem::take(&mut conversation.owes);
            return self.say("grant_delivers", session, Some(owes), now_ns);
        }
        if conversation.opened && !conversation.waits {
            conversation.waits = true;
            self.ready.push_back(session);
        }
    }

    /// Lets one say something that may; false if nobody can.
    fn speak(&mut self, now_ns: u64) -> bool {
        let Some(session) = self.ready.pop_front() else {
            return false;
        };
        let Some(conversation) = self.live.get_mut(&session) else {
            return true;
        };
        let Talk { sends, from, .. } = conversation.talk;
        let most = (sends - conversation.sent).min(PIECE);
        let length = most.min(conversation.credit);
        if length > 0 {
            let text = content(from + conversation.sent, length);
            let outcome = self.stack.send(PORT, session, None, text, now_ns);
            if outcome != Outcome::Sent {
                self.ready.push_front(session); // there is no buffer now
                return false;
            }
            conversation.sent += length;
            conversation.credit -= length;
            self.ready.push_back(session);
            return true;
        }
        conversation.waits = most == 0; // or credit will come
        if most == 0 {
            self.say("shutdown", session, None, now_ns);
        }
        true
    }
}

impl Conversation {
    fn new(talk: Talk) -> Conversation {
        Conversation {
            talk,
            ..Conversation::default()
        }
    }

    fn hear(&mut self, text: &[u8]) {
        let expected = content(self.talk.reads_from + self.read, text.len());
        assert!(
            text == expected,
            "behind {} bytes comes something else",
            self.read
        );
        assert!(!self.finished, "nothing comes behind the end");
        self.read += text.len();
        self.owes += text.len();
        assert!(self.read <= self.talk.reads, "more came than was sent");
    }

    fn learn(&mut self, name: &str, argument: usize) {
        match name {
            "opened" => self.opened = true,
            "grant_sends" => {
                self.opened = true;
                self.credit += argument;
            }
            "finished" => self.finished = true,
            "closed" => self.closed = Some(REASONS[argument]),
            other => panic!("nobody expects `{other}`"),
        }
    }
}

/// What names a conversation with this peer, from any port of our own.
fn keys(program: &Program, (peer, port): (&str, u16)) -> Values {
    let mut keys = program.keys(PORT);
    keys.set("peer", peer).expect("an address");
    keys.set("peer_port", &port.to_string()).expect("a port");
    keys
}
