//! Two hosts, and a way between them that loses, delays, duplicates and reorders, in virtual time.

use crate::host::{Host, Says};
use crate::segment::{OURS, THEIRS};
use fastrand::Rng;
use stackloom::simulate::stack::Control;
use stackloom::types::program::Program;
use std::collections::BTreeMap;

/// What the way does to what passes.
#[derive(Clone, Copy, Debug, Default)]
pub struct Way {
    /// Of a hundred segments so many are lost.
    pub lost: u32,
    /// So many come twice.
    pub twice: u32,
    /// So many come late, behind others.
    pub late: u32,
    /// How long all of them take.
    pub delay_ns: u64,
}

/// Two hosts at the ends of a way.
pub struct Pair<'p, C> {
    /// The one that calls, and the one that is called.
    pub hosts: [Host<'p, C>; 2],
    /// Segments under way: by time and order.
    flying: BTreeMap<(u64, u64), (usize, Vec<u8>)>,
    /// How many segments went.
    pub sent: u64,
    way: Way,
    rng: Rng,
    /// The time.
    pub now_ns: u64,
    /// What each application was told.
    pub heard: [Vec<(u32, String, Vec<u64>)>; 2],
    /// What each read.
    pub text: [Vec<u8>; 2],
    /// The session of each.
    pub session: [Option<u32>; 2],
    /// How much each may send.
    pub credit: [u64; 2],
    /// Whether all is printed.
    pub talks: bool,
}

impl<'p, C: Control<'p>> Pair<'p, C> {
    /// Both run the same program.
    pub fn start(program: &'p Program, controls: [C; 2], way: Way, seed: u64) -> Pair<'p, C> {
        let [one, other] = controls;
        Pair {
            hosts: [
                Host::start(program, one, OURS),
                Host::start(program, other, THEIRS),
            ],
            flying: BTreeMap::new(),
            sent: 0,
            way,
            rng: Rng::with_seed(seed),
            now_ns: 0,
            heard: Default::default(),
            text: Default::default(),
            session: [None; 2],
            credit: [0; 2],
            talks: std::env::var("TALKS").is_ok(),
        }
    }

    /// Takes all that both say now.
    pub fn settle(&mut self) {
        for one in 0..2 {
            loop {
                let all = self.hosts[one].says();
                if all.is_empty() {
                    break;
                }
                for says in all {
                    self.said(one, says);
                }
            }
        }
    }

    fn said(&mut self, one: usize, says: Says) {
        if self.talks {
            println!("{:>12} {one} {}", self.now_ns / 1000, shown(&says));
        }
        match says {
            Says::Segment(segment) => {
                let (from, to) = if one == 0 {
                    (OURS, THEIRS)
                } else {
                    (THEIRS, OURS)
                };
                let bytes = segment.datagram(from, to);
                let copies = 1 + u32::from(self.rng.u32(0..100) < self.way.twice);
                for _ in 0..copies {
                    if self.rng.u32(0..100) < self.way.lost {
                        continue;
                    }
                    let late = self.rng.u32(0..100) < self.way.late;
                    let late_ns = if late { self.rng.u64(1..20_000_000) } else { 0 };
                    self.sent += 1;
                    let at = (self.now_ns + self.way.delay_ns + late_ns, self.sent);
                    self.flying.insert(at, (1 - one, bytes.clone()));
                }
            }
            Says::Text(session, bytes) => {
                self.text[one].extend(&bytes);
                self.hosts[one].tell(session, "grant_delivers", &[bytes.len() as u64]);
            }
            Says::Accepted(session) => self.session[one] = Some(session),
            Says::Notice(session, name, arguments) => {
                if name == "grant_sends" {
                    self.credit[one] += arguments[0];
                }
                self.heard[one].push((session, name, arguments));
            }
        }
    }

    /// Does the next thing that happens; false if nothing will.
    pub fn step(&mut self) -> bool {
        self.settle();
        let flight = self.flying.keys().next().map(|(at_ns, _)| *at_ns);
        let deadlines = self.hosts.each_ref().map(Host::deadline_ns);
        let Some(next_ns) = deadlines.into_iter().flatten().chain(flight).min() else {
            return false;
        };
        self.now_ns = self.now_ns.max(next_ns);
        for host in &mut self.hosts {
            host.now_ns = self.now_ns;
        }
        if flight == Some(next_ns) {
            let (_, (to, bytes)) = self.flying.pop_first().expect("it was just seen");
            self.hosts[to].frame(bytes);
        } else {
            let due = |host: &&mut Host<'p, C>| host.deadline_ns() == Some(next_ns);
            let host = self.hosts.iter_mut().find(due);
            host.expect("somebody wanted to be woken").expire();
        }
        self.settle();
        true
    }

    /// How often an application was told something.
    pub fn told(&self, one: usize, what: &str) -> usize {
        let heard = self.heard[one].iter();
        heard.filter(|(_, name, _)| name == what).count()
    }
}

fn shown(says: &Says) -> String {
    match says {
        Says::Segment(one) => {
            let names = ["FIN", "SYN", "RST", "PSH", "ACK", "URG"];
            let flags = (0..6).filter(|bit| one.flags >> bit & 1 == 1);
            let flags: Vec<&str> = flags.map(|bit| names[bit]).collect();
            format!(
                "{} seq {} ack {} window {} text {}",
                flags.join(","),
                one.number,
                one.acknowledgement,
                one.window,
                one.text.len()
            )
        }
        Says::Text(_, bytes) => format!("text {}", bytes.len()),
        Says::Accepted(session) => format!("accepted {session}"),
        Says::Notice(_, name, arguments) => format!("{name} {arguments:?}"),
    }
}
