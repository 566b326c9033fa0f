//! A host in each state of a connection, and segments of all classes.

use crate::host::{Host, Says};
use crate::segment::{ACK, FIN, PSH, RST, SYN, Segment, THEIRS, URG};
use crate::table::{Known, Reaction, Reply, State};
use stackloom::simulate::stack::Control;
use stackloom::types::program::Program;

/// The peer's first number.
const FIRST: u32 = 0xffff_fffa;

/// A host with one connection.
pub struct Connection<'p, C> {
    /// The host.
    pub host: Host<'p, C>,
    /// What it knows.
    pub known: Known,
    session: u32,
    ours: u16,
    theirs: u16,
}

impl<'p, C: Control<'p>> Connection<'p, C> {
    /// A connection in a state.
    pub fn new(program: &'p Program, control: C, state: State) -> Connection<'p, C> {
        let mut one = Connection {
            host: Host::start(program, control, crate::segment::OURS),
            known: Known {
                unacknowledged: 0,
                next: 0,
                expected: 0,
                window: 8192,
            },
            session: 0,
            ours: 7,
            theirs: 4000,
        };
        one.host.says();
        one.lead(state);
        one
    }

    fn lead(&mut self, state: State) {
        match state {
            State::Closed => {}
            State::Listen => self.host.listen(7),
            State::SynSent => self.open(),
            State::Called => {
                self.lead(State::Listen);
                self.peer(SYN, 0, FIRST);
                self.known.expected = FIRST.wrapping_add(1);
            }
            State::Crossed => {
                self.open();
                self.peer(SYN, 0, FIRST);
                self.known.expected = FIRST.wrapping_add(1);
            }
            State::CrossedShut => {
                self.lead(State::Crossed);
                self.shut();
            }
            State::Established => {
                self.open();
                self.known.expected = FIRST.wrapping_add(1);
                self.peer(SYN | ACK, self.known.next, FIRST);
                self.known.unacknowledged = self.known.next;
                self.host.send(self.session, b"hello");
                self.listen();
            }
            State::FinWait1 => {
                self.lead(State::Established);
                self.answer(ACK, 0);
                self.shut();
            }
            State::FinWait2 => {
                self.lead(State::FinWait1);
                self.answer(ACK, 0);
            }
            State::CloseWait => {
                self.lead(State::Established);
                self.answer(ACK | FIN, 1);
            }
            State::Closing => {
                self.lead(State::FinWait1);
                self.peer(ACK | FIN, self.known.unacknowledged, self.known.expected);
                self.known.expected = self.known.expected.wrapping_add(1);
            }
            State::LastAck => {
                self.lead(State::CloseWait);
                self.shut();
            }
            State::TimeWait => {
                self.lead(State::FinWait2);
                self.answer(ACK | FIN, 1);
                // The next connection would have numbers behind those of this one.
                self.host.listen(self.ours);
                self.host.now_ns += 1_000_000_000;
            }
        }
    }

    fn open(&mut self) {
        (self.ours, self.theirs) = (4000, 7000);
        self.session = self.host.open(self.ours, THEIRS, self.theirs);
        self.host.tell(self.session, "open", &[]);
        self.listen();
    }

    fn shut(&mut self) {
        self.host.tell(self.session, "shutdown", &[]);
        self.listen();
    }

    /// The peer acknowledges all, and goes on by so many numbers.
    fn answer(&mut self, flags: u8, numbers: u32) {
        self.peer(flags, self.known.next, self.known.expected);
        self.known.unacknowledged = self.known.next;
        self.known.expected = self.known.expected.wrapping_add(numbers);
    }

    fn peer(&mut self, flags: u8, acknowledgement: u32, number: u32) {
        let segment = Segment {
            flags,
            number,
            acknowledgement,
            ..self.blank()
        };
        self.host.segment(&segment);
        self.listen();
    }

    /// A segment to this connection that says nothing yet.
    pub fn blank(&self) -> Segment {
        Segment {
            source: self.theirs,
            destination: self.ours,
            window: 1000,
            ..Segment::default()
        }
    }

    /// Hears what the host says on its way to a state.
    fn listen(&mut self) {
        for says in self.host.says() {
            if let Says::Segment(segment) = says {
                let flags = u32::from(segment.flags & (SYN | FIN)).count_ones();
                let length = segment.text.len() as u32 + flags;
                if segment.has(SYN) {
                    self.known.unacknowledged = segment.number;
                }
                self.known.next = segment.number.wrapping_add(length);
            }
        }
    }

    /// Gives it a segment: what happens, in the words of the table.
    pub fn react(&mut self, segment: &Segment) -> Result<Reaction, String> {
        self.host.segment(segment);
        let said = self.host.says();
        let mut reaction = Reaction {
            reply: Reply::Silence,
            told: Vec::new(),
            text: 0,
            lives: is_left(self.host.held()),
        };
        for says in said {
            match says {
                Says::Segment(one) => {
                    if reaction.reply != Reply::Silence {
                        return Err(format!("two segments, the second {one:?}"));
                    }
                    reaction.reply = self.reply(segment, &one)?;
                    self.known.expected = one.acknowledgement;
                }
                Says::Text(_, bytes) => reaction.text += bytes.len() as u32,
                Says::Accepted(_) => reaction.told.push("accepted"),
                Says::Notice(_, name, arguments) => match (name.as_str(), &arguments[..]) {
                    ("opened", _) => reaction.told.push("opened"),
                    ("finished", _) => reaction.told.push("finished"),
                    ("urgent", _) => reaction.told.push("urgent"),
                    ("closed", [0]) => reaction.told.push("closed finished"),
                    ("closed", [1]) => reaction.told.push("closed reset"),
                    ("closed", [2]) => reaction.told.push("closed refused"),
                    ("grant_sends", _) => {}
                    other => return Err(format!("{other:?}")),
                },
            }
        }
        Ok(reaction)
    }

    /// What kind of answer a segment is.
    fn reply(&self, to: &Segment, one: &Segment) -> Result<Reply, String> {
        let flags = u32::from(to.flags & (SYN | FIN)).count_ones();
        let behind = to.number.wrapping_add(to.text.len() as u32 + flags);
        let is_ours = one.source == self.ours && one.destination == self.theirs;
        let wrong = || Err(format!("{one:?}"));
        if !is_ours || !one.text.is_empty() {
            return wrong();
        }
        match one.flags {
            ACK if one.number == self.known.next => Ok(Reply::Acknowledgement),
            RST if one.number == to.acknowledgement => Ok(Reply::Reset),
            flags if flags == RST | ACK && one.number == 0 && one.acknowledgement == behind => {
                Ok(Reply::ResetOfNothing)
            }
            flags if flags == SYN | ACK && one.acknowledgement == to.number.wrapping_add(1) => {
                Ok(Reply::Synchronises)
            }
            _other => wrong(),
        }
    }
}

/// Segments of all classes for a connection: each combination of flags, before, at, behind and
/// beyond what is expected, with and without text, with acknowledgements of all kinds.
pub fn segments(known: &Known, blank: &Segment) -> Vec<Segment> {
    let mut all = Vec::new();
    let acknowledgements = [
        known.unacknowledged,
        known.next,
        known.next.wrapping_add(1),
        known.unacknowledged.wrapping_sub(70_000),
    ];
    for flags in 0..64_u8 {
        // What is pushed is taken like all else: half of them shall do.
        if (flags & PSH == 0) != (flags & (RST | FIN) == 0) {
            continue;
        }
        for ahead in [-3, 0, 2, known.window as i32] {
            for length in [0, 5] {
                for acknowledgement in acknowledgements {
                    if flags & ACK == 0 && acknowledgement != known.next {
                        continue;
                    }
                    all.push(Segment {
                        flags,
                        number: known.expected.wrapping_add(ahead as u32),
                        acknowledgement,
                        urgent: if flags & URG == 0 { 0 } else { 4 },
                        text: vec![b'x'; length],
                        ..blank.clone()
                    });
                }
            }
        }
    }
    all
}

/// Returns whether a session is left of a connection, or its TIME-WAIT, which is a timer.
fn is_left((sessions, has_deadline, _): (usize, bool, usize)) -> bool {
    sessions > 0 || has_deadline
}
