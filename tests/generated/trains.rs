//! Traffic along the fast path: frames that follow each other as those of a busy peer do, and now
//! and then one that is like them in all but one bit.
//!
//! In: a trace. Out: the same, in which many a frame that came through is followed by a train of
//! others: the next of its conversation, or of another one that takes turns with it, each as its
//! instances want it just then; a frame with another bit, or of another length; and what an
//! application does between them, or the end of the conversation.

use crate::random::Random;
use crate::run::supplied;
use crate::wanted::{Picks, Wanted};
use stackloom::simulate::reference::Reference;
use stackloom::simulate::stack::Stack;
use stackloom::simulate::state::Emitted;
use stackloom::simulate::trace::{Call, Driver, Seen, Step, Trace};
use stackloom::simulate::value::Datum;
use stackloom::types::program::{LinkId, PortId, Program};

/// So many conversations are remembered.
const TALKS: usize = 4;

/// A trace in which frames follow each other.
pub fn with_trains(program: &Program, mut trace: Trace, random: &mut Random) -> Trace {
    let (config, limits) = (trace.config.clone(), trace.limits.clone());
    let externs = supplied(program, false);
    let reference = Reference::new(program);
    let Some(stack) = Stack::start(reference, program, externs, config, limits, trace.start_ns)
    else {
        return trace;
    };
    let mut trains = Trains {
        program,
        stack,
        now_ns: trace.start_ns,
        takes: true,
        steps: Vec::new(),
        talks: Vec::new(),
    };
    let mut late_ns = 0;
    for step in std::mem::take(&mut trace.steps) {
        trains.now_ns = step.now_ns + late_ns;
        trains.takes = step.takes;
        trains.does(step.call.clone());
        let Call::Input(link, frames) = step.call else {
            continue;
        };
        let Some(frame) = frames.into_iter().last() else {
            continue;
        };
        if random.percent(60) {
            trains.begin(Talk::new(link, frame), random);
        }
        late_ns = trains.now_ns - step.now_ns;
    }
    trace.steps = trains.steps;
    trace
}

/// Whether what came in went through.
fn went(seen: &Seen) -> bool {
    delivered(seen).is_some()
}

/// Where an application was given something.
fn delivered(seen: &Seen) -> Option<(PortId, u32)> {
    seen.outputs.iter().rev().find_map(|output| match output {
        Emitted::Deliver { port, session, .. } => Some((*port, *session)),
        Emitted::Frame { .. } | Emitted::Accepted { .. } | Emitted::Notice { .. } => None,
    })
}

struct Trains<'p> {
    program: &'p Program,
    stack: Stack<'p, Reference<'p>>,
    now_ns: u64,
    takes: bool,
    steps: Vec<Step>,
    /// Those that have spoken of late, the last one behind all others.
    talks: Vec<Talk>,
}

/// A conversation, as its frames tell it.
#[derive(Clone, Debug)]
struct Talk {
    link: LinkId,
    /// The last frame.
    frame: Vec<u8>,
    /// Which of several values its fields have.
    picks: Picks,
    /// Where an application was given what it says.
    session: Option<(PortId, u32)>,
}

impl Talk {
    fn new(link: LinkId, frame: Vec<u8>) -> Talk {
        Talk {
            link,
            frame,
            picks: Picks::new(),
            session: None,
        }
    }
}

impl Trains<'_> {
    /// Somebody calls, and it is noted.
    fn does(&mut self, call: Call) -> Seen {
        let step = self.step(call);
        let seen = self.stack.step(&step);
        self.steps.push(step);
        seen
    }

    fn step(&self, call: Call) -> Step {
        let (now_ns, takes) = (self.now_ns, self.takes);
        Step {
            now_ns,
            call,
            takes,
        }
    }

    /// What would come of a frame.
    fn tried(&self, link: LinkId, frame: &[u8]) -> Seen {
        let mut stack = self.stack.clone();
        stack.step(&Step {
            takes: true,
            ..self.step(Call::Input(link, vec![frame.to_vec()]))
        })
    }

    /// A conversation speaks, if a frame of it goes through, or else one that spoke before; perhaps
    /// another one takes turns with it.
    fn begin(&mut self, talk: Talk, random: &mut Random) {
        let other = Talk {
            frame: self.wanted(&talk).of_another(random),
            ..talk.clone()
        };
        let is_found = self.found(&talk, random).is_some();
        if (!is_found || random.percent(40)) && self.found(&other, random).is_some() {
            self.talks.push(other);
        }
        self.talks.extend(Some(talk).filter(|_| is_found));
        let old = self.talks.len().saturating_sub(TALKS);
        self.talks.drain(..old);
        if !self.talks.is_empty() {
            self.train(random);
        }
    }

    fn wanted(&self, talk: &Talk) -> Wanted<'_> {
        Wanted::new(self.program, self.stack.state(), talk.link, &talk.frame)
    }

    /// The conversation that speaks.
    fn talk(&self) -> &Talk {
        self.talks.last().expect("somebody speaks")
    }

    /// Frames follow each other, as long as some that goes through is found.
    fn train(&mut self, random: &mut Random) {
        let turns = random.percent(40);
        let mut lost = 0;
        for at in 0..6 + random.below(20) {
            if turns && at % 2 == 1 && self.talks.len() > 1 {
                let other = self.talks.remove(self.talks.len() - 2);
                self.talks.push(other);
            }
            lost += usize::from(!self.goes_on(random));
            if lost > 2 {
                return;
            }
            match random.below(30) {
                0 | 1 => self.disturbed(random),
                2 => self.longer(random),
                3 => self.ended(),
                4 => self.between(random),
                5 | 6 => self.stranger(random),
                _ => self.next(random),
            }
            if random.percent(20) {
                self.now_ns += random.below(3) as u64;
            }
        }
    }

    /// The next frames of a conversation.
    fn next(&mut self, random: &mut Random) {
        let before = self.stack.clone();
        let link = self.talk().link;
        let mut frames = vec![self.talk().frame.clone()];
        while frames.len() < 4 && random.percent(20) {
            let last = frames.iter().last().cloned();
            let step = self.step(Call::Input(link, Vec::from_iter(last)));
            self.stack.step(&step);
            self.goes_on(random);
            frames.push(self.talk().frame.clone());
        }
        self.stack = before;
        let seen = self.does(Call::Input(link, frames));
        if let (Some(session), Some(talk)) = (delivered(&seen), self.talks.last_mut()) {
            talk.session = Some(session);
        }
    }

    /// Whether a next frame of the conversation is found that goes through.
    fn goes_on(&mut self, random: &mut Random) -> bool {
        let found = self.found(self.talk(), random);
        let is_found = found.is_some();
        if let (Some(found), Some(talk)) = (found, self.talks.last_mut()) {
            *talk = found;
        }
        is_found
    }

    /// A conversation with its next frame, if one is found that goes through.
    fn found(&self, talk: &Talk, random: &mut Random) -> Option<Talk> {
        (0..6).find_map(|tries| {
            let mut talk = talk.clone();
            let mut wanted = self.wanted(&talk);
            if tries == 0 && random.percent(40) {
                wanted.vary(random);
            }
            talk.frame = wanted.frame(&mut talk.picks, random);
            went(&self.tried(talk.link, &talk.frame)).then_some(talk)
        })
    }

    /// The next frame, but for one bit: of its bytes, or of a field, and then its sums are right.
    fn disturbed(&mut self, random: &mut Random) {
        let Talk {
            link, mut frame, ..
        } = self.talk().clone();
        match random.percent(50) {
            true => {
                let wanted = self.wanted(self.talk());
                frame = wanted.with_other_bit(random).unwrap_or(frame);
            }
            false if !frame.is_empty() => {
                let at = random.below(frame.len().min(40));
                frame[at] ^= 1 << random.below(8);
            }
            false => {}
        }
        self.does(Call::Input(link, vec![frame]));
    }

    /// A frame of another conversation, or of one that is to come.
    fn stranger(&mut self, random: &mut Random) {
        let frame = self.wanted(self.talk()).of_another(random);
        self.does(Call::Input(self.talk().link, vec![frame]));
    }

    /// The next frame, with more behind it, or less of it.
    fn longer(&mut self, random: &mut Random) {
        let Talk {
            link, mut frame, ..
        } = self.talk().clone();
        match random.percent(50) {
            true => frame.extend(random.bytes()),
            false => frame.truncate(random.below(frame.len() + 1)),
        }
        self.does(Call::Input(link, vec![frame]));
    }

    /// The application ends the conversation, if it can; then the same frame comes again.
    fn ended(&mut self) {
        let Talk {
            link,
            frame,
            session,
            ..
        } = self.talk().clone();
        if let Some((port, session)) = session {
            let mut down = self.program.ports[port.at()].down.iter();
            let close = down.find(|id| self.program.notices[id.at()].name == "close");
            if let Some(notice) = close.copied() {
                let arguments = Vec::new();
                self.does(Call::Notice {
                    port,
                    session,
                    notice,
                    arguments,
                });
            }
        }
        self.does(Call::Input(link, vec![frame]));
    }

    /// The application says something, or time goes by.
    fn between(&mut self, random: &mut Random) {
        let Some((port, session)) = self.talk().session else {
            return;
        };
        let down = &self.program.ports[port.at()].down;
        match random.below(3) {
            0 if !down.is_empty() => {
                let notice = *random.one(down);
                let parameters = self.program.notices[notice.at()].parameters.iter();
                let arguments = parameters.map(|_| Datum::Number(random.below(3) as u64));
                let arguments = arguments.collect();
                self.does(Call::Notice {
                    port,
                    session,
                    notice,
                    arguments,
                });
            }
            1 if self.program.ports[port.at()].passes => {
                let (attributes, bytes) = (Vec::new(), random.bytes());
                self.does(Call::Send {
                    port,
                    session,
                    attributes,
                    bytes,
                });
            }
            _ => {
                self.now_ns += 1_000 * random.below(100) as u64;
                self.does(Call::Expire);
            }
        }
    }
}
