//! A compiled stack and the kernel on one cable, which talk in streams.
//!
//! In: a scene: what carries frames and what happens to them, who calls whom, and what each says.
//! Out: nothing, if all of it arrived, once and in order, and nothing is left of it; else what
//! differs.

use super::end::{End, Talk, load};
use super::namespace::Namespace;
use super::peer::Socket;
use super::relay::Relay;
use nix::sys::socket::Backlog;
use stackloom::simulate::network::link::Faults;
use stackloom::tool::device::Device;
use stackloom::tool::host::Clock;
use stackloom::tool::stack::Program;
use std::net::{SocketAddr, TcpListener};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

/// What carries frames.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cable {
    /// Ethernet and ARP below IPv4.
    Tap,
    /// Bare IPv4.
    Tun,
    /// Ethernet below IPv6.
    Tap6,
}

/// All about a conversation, or several.
#[derive(Clone, Debug)]
pub struct Scene {
    pub cable: Cable,
    /// How many bytes a frame carries.
    pub carried: u32,
    pub faults: Faults,
    /// Whether we call the kernel, or it calls us.
    pub we_call: bool,
    /// Whether anybody listens there.
    pub is_answered: bool,
    /// How many bytes we send, and how many the kernel.
    pub bytes: [usize; 2],
    /// How many conversations there are at once.
    pub conversations: usize,
    /// How much an application reads before it has room for more.
    pub lump: usize,
    pub seed: u64,
}

impl Default for Scene {
    fn default() -> Scene {
        Scene {
            cable: Cable::Tun,
            carried: 1500,
            faults: Faults::default(),
            we_call: true,
            is_answered: true,
            bytes: [0, 0],
            conversations: 1,
            lump: 0,
            seed: 1,
        }
    }
}

/// How long TIME-WAIT takes, which is twice the setting, and a little more.
const TIME_WAIT: Duration = Duration::from_millis(600);

/// The port at which either side is called.
const CALLED: u16 = 7;

impl Scene {
    /// Plays it. None: there is no network to play in.
    #[track_caller]
    pub fn play(&self) {
        if let Some(mut stage) = Stage::new(self) {
            stage.begin(self);
            stage.until_over(self);
            stage.leave(self);
        }
    }

    fn addresses(&self) -> [&'static str; 2] {
        match self.cable {
            Cable::Tap | Cable::Tun => ["10.0.0.2", "10.0.0.1"],
            Cable::Tap6 => ["fd00::2", "fd00::1"],
        }
    }

    /// How long it may take: more than it ever did.
    fn patience(&self) -> Duration {
        let bytes = self.bytes[0].max(self.bytes[1]) * self.conversations;
        Duration::from_secs(60 + bytes as u64 / 200_000)
    }
}

/// Both ends, and the cable.
pub struct Stage {
    namespace: Namespace,
    pub end: End,
    relay: Relay,
    clock: Clock,
    listener: Option<TcpListener>,
    pub sockets: Vec<Socket>,
    /// What each side says.
    talks: [Talk; 2],
    /// When the last frame came.
    heard: Instant,
}

impl Stage {
    /// Everything is there, and nothing has been said; none where there are no namespaces.
    pub fn new(scene: &Scene) -> Option<Stage> {
        let namespace = Namespace::new()?;
        // What else the kernel could take lives in modules, which are not there everywhere.
        namespace.set("ipv4/tcp_congestion_control", "reno");
        let device = device(&namespace, scene)?;
        let clock = Clock::real();
        let settings = settings(scene);
        let end = End::start(program(scene.cable), &settings, clock.now_ns());
        Some(Stage {
            namespace,
            end,
            relay: Relay::new(device, &scene.faults, scene.seed),
            clock,
            listener: None,
            sockets: Vec::new(),
            talks: Talk::pair(scene.bytes[0], scene.bytes[1], scene.lump),
            heard: Instant::now(),
        })
    }

    /// Whoever calls has called.
    pub fn begin(&mut self, scene: &Scene) {
        let [ours, theirs] = self.talks;
        let [us, them] = scene.addresses();
        let now_ns = self.clock.now_ns();
        if scene.we_call {
            if scene.is_answered {
                self.listen(them);
            }
            for _ in 0..scene.conversations {
                assert!(
                    self.end.call((them, CALLED), ours, now_ns),
                    "a session is free"
                );
            }
        } else {
            if scene.is_answered {
                self.end.listen(CALLED, ours, now_ns);
            }
            let to = SocketAddr::new(us.parse().expect("an address"), CALLED);
            for _ in 0..scene.conversations {
                self.sockets.push(Socket::call(&self.namespace, to, theirs));
            }
        }
    }

    fn listen(&mut self, address: &str) {
        let at = SocketAddr::new(address.parse().expect("an address"), CALLED);
        let listener = self.namespace.run(move || TcpListener::bind(at));
        let listener = listener.expect("nobody else listens there");
        let all = Backlog::new(1024).expect("a small number");
        nix::sys::socket::listen(&listener, all).expect("it listens already");
        listener.set_nonblocking(true).expect("it need not wait");
        self.listener = Some(listener);
    }

    /// We give up all conversations.
    pub fn abort(&mut self) {
        let live: Vec<u32> = self.end.live.keys().copied().collect();
        for session in live {
            self.end.abort(session, self.clock.now_ns());
        }
    }

    /// Does what there is to do now; whether there was anything.
    fn turn(&mut self) -> bool {
        let mut busy = false;
        if let Some(listener) = &self.listener {
            let accepted = Socket::accept(listener, self.talks[1]);
            busy |= accepted.is_some();
            self.sockets.extend(accepted);
        }
        for socket in &mut self.sockets {
            busy |= socket.turn();
        }
        let now_ns = self.clock.now_ns();
        if self
            .end
            .deadline_ns()
            .is_some_and(|due_ns| due_ns <= now_ns)
        {
            self.end.expire(now_ns);
        }
        let Stage { end, relay, .. } = self;
        for _ in 0..64 {
            let took = end.take(|room| relay.receive(room, now_ns), now_ns);
            if took {
                busy = true;
                self.heard = Instant::now();
            }
            while let Some(frame) = end.frames.pop_front() {
                relay.send(&frame, now_ns).expect("the device is there");
            }
            if !took {
                break;
            }
        }
        busy
    }

    /// Lets both go on until something is so, which has to be soon.
    #[track_caller]
    pub fn until(&mut self, scene: &Scene, what: &str, is_so: impl Fn(&Stage) -> bool) {
        let end = Instant::now() + scene.patience();
        while !is_so(self) {
            let busy = self.turn();
            assert!(
                Instant::now() < end,
                "{what} did not come: {scene:?}\n{self}"
            );
            if !busy {
                std::thread::sleep(Duration::from_micros(200));
            }
        }
    }

    /// All conversations come to their end, and nothing was lost on the way.
    #[track_caller]
    fn until_over(&mut self, scene: &Scene) {
        self.until(scene, "the end", |stage| {
            let sockets = stage.sockets.iter().filter(|one| one.is_over());
            let ends = [stage.end.over.len(), sockets.count()];
            ends == [scene.conversations; 2] || stage.sockets.iter().any(|one| one.failed.is_some())
        });
        let all = self.end.over.iter().all(|one| one.is_whole());
        let theirs = self.sockets.iter().all(Socket::is_whole);
        assert!(all && theirs, "{scene:?}\n{self}");
    }

    /// Behind TIME-WAIT nothing is left.
    #[track_caller]
    pub fn leave(mut self, scene: &Scene) {
        self.until(scene, "the end of all timers", |stage| match scene.cable {
            Cable::Tun => stage.end.deadline_ns().is_none(),
            // Neighbours are remembered for longer; and a FIN that came again begins it anew.
            Cable::Tap | Cable::Tap6 => stage.heard.elapsed() > TIME_WAIT,
        });
        let mismatch = self.relay.mismatch();
        assert_eq!(mismatch, None, "the relay: {scene:?}\n{self}");
        let mistakes = self.end.mistakes();
        assert_eq!(mistakes, [""; 0], "what TCP says: {scene:?}");
        assert!(self.end.report().adds_up(), "{scene:?}\n{self}");
        let stranger = scene.addresses()[1];
        let missing = self.end.missing(stranger, self.clock.now_ns());
        assert_eq!(missing, (0, 0), "buffers and sessions: {scene:?}");
    }
}

impl std::fmt::Display for Stage {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        for conversation in self.end.over.iter().chain(self.end.live.values()) {
            writeln!(out, "{conversation:?}")?;
        }
        for socket in &self.sockets {
            writeln!(out, "{socket}")?;
        }
        write!(out, "{}", self.end.report())
    }
}

fn program(cable: Cable) -> &'static Program {
    static PROGRAMS: [OnceLock<Program>; 3] = [const { OnceLock::new() }; 3];
    let (at, name) = match cable {
        Cable::Tap => (0, "tap"),
        Cable::Tun => (1, "tun"),
        Cable::Tap6 => (2, "tap6"),
    };
    PROGRAMS[at].get_or_init(|| load(&format!("tests/kernel/streams.loom:{name}")))
}

fn settings(scene: &Scene) -> String {
    let [us, _] = scene.addresses();
    let carried = scene.carried;
    let link = match scene.cable {
        Cable::Tap => "mac=2, ",
        Cable::Tun => "",
        Cable::Tap6 => "mac=2, gateway=::, ",
    };
    let secret = "000102030405060708090a0b0c0d0e0f";
    format!("{link}address={us}, carried={carried}, secret={secret}, lifetime=250 ms")
}

/// The kernel's end of the cable, with its address.
fn device(namespace: &Namespace, scene: &Scene) -> Option<Box<dyn Device + Send>> {
    let device = match scene.cable {
        Cable::Tap | Cable::Tap6 => namespace.wire("loom0", scene.carried),
        Cable::Tun => namespace.tunnel("loom0", scene.carried)?,
    };
    let address = match scene.cable {
        Cable::Tap | Cable::Tun => "10.0.0.1/24",
        Cable::Tap6 => "fd00::1/64",
    };
    namespace.add_addresses("loom0", &[address]);
    Some(device)
}
