//! Plays a script of a host's calls to a stack.
//!
//! In: a script, and something that runs the stack. Out: what the stack gave its host, and when,
//! and all counters that are not zero; and the trace, to be done again with whatever else runs it.

use super::script::{Line, argument_words, key_words, moment, rows, word};
use crate::simulate::stack::Outcome;
use crate::simulate::state::Emitted;
use crate::simulate::trace::{Call, Driver, Seen, Step};
use crate::types::program::{Attribute, Program};
use std::fmt::Write;

/// What came of a script.
pub struct Played {
    /// To be read.
    pub text: String,
    /// What the host called, with the times.
    pub steps: Vec<Step>,
    /// What it saw each time.
    pub seen: Vec<Seen>,
    /// When the script was at its end.
    pub end_ns: u64,
}

/// Plays a script to a stack that was started at this time.
pub fn play(program: &Program, driver: &mut dyn Driver, start_ns: u64, lines: Vec<Line>) -> Played {
    let mut player = Player {
        program,
        driver,
        now_ns: start_ns,
        deadline_ns: None,
        played: Played {
            text: String::new(),
            steps: Vec::new(),
            seen: Vec::new(),
            end_ns: start_ns,
        },
    };
    for line in lines {
        match line {
            Line::Call(call) => {
                player.call(call);
                player.expire_until(player.now_ns);
            }
            Line::Wait(duration_ns) => player.expire_until(player.now_ns + duration_ns),
            Line::Exact(step) => {
                player.now_ns = step.now_ns;
                player.step(step);
            }
        }
    }
    player.finish()
}

struct Player<'a> {
    program: &'a Program,
    driver: &'a mut dyn Driver,
    now_ns: u64,
    deadline_ns: Option<u64>,
    played: Played,
}

impl Player<'_> {
    /// Time passes, from deadline to deadline.
    fn expire_until(&mut self, until_ns: u64) {
        while let Some(deadline_ns) = self.deadline_ns
            && deadline_ns <= until_ns
        {
            self.now_ns = self.now_ns.max(deadline_ns);
            self.call(Call::Expire);
        }
        self.now_ns = until_ns;
    }

    fn call(&mut self, call: Call) {
        self.step(Step {
            now_ns: self.now_ns,
            call,
            takes: true,
        });
    }

    fn step(&mut self, step: Step) {
        let seen = self.driver.step(&step);
        self.deadline_ns = seen.deadline_ns;
        self.tell_of_call(&step.call, seen.returned);
        for output in &seen.outputs {
            self.tell_of(output);
        }
        self.played.steps.push(step);
        self.played.seen.push(seen);
    }

    /// What a call returned, where a reader would not expect it.
    fn tell_of_call(&mut self, call: &Call, returned: Option<u64>) {
        match (call, returned) {
            (Call::Open(..), Some(session)) => self.say(&format!("opened {session}")),
            (Call::Open(..), None) => self.say("refused to open"),
            (Call::Input(_, frames), Some(taken)) if taken < frames.len() as u64 => {
                match frames.len() {
                    1 => self.say("the frame is not taken"),
                    all => self.say(&format!("{taken} of {all} frames are taken")),
                }
            }
            (Call::Send { .. }, Some(outcome)) if outcome == Outcome::Later as u64 => {
                self.say("to be sent later");
            }
            (Call::Send { .. }, Some(outcome)) if outcome == Outcome::Refused as u64 => {
                self.say("refused to send");
            }
            (Call::Listen(..), Some(listener)) => self.say(&format!("listens {listener}")),
            (Call::Listen(..), None) => self.say("refused to listen"),
            (
                Call::Input(..)
                | Call::Send { .. }
                | Call::Unlisten(..)
                | Call::Notice { .. }
                | Call::Carrier(..)
                | Call::Expire,
                _,
            ) => {}
        }
    }

    fn tell_of(&mut self, output: &Emitted) {
        let program = self.program;
        match output {
            Emitted::Frame { link, bytes } => {
                self.say(&format!("frame {}", program.links[link.at()].name));
                self.played.text.push_str(&rows(bytes));
            }
            Emitted::Deliver {
                port,
                session,
                bytes,
                attributes,
            } => {
                let mut line = format!("deliver {} {session}", program.ports[port.at()].name);
                for (id, value) in attributes {
                    let Attribute { name, kind, .. } = &program.attributes[id.at()];
                    let _ = write!(line, " {name}={}", word(program, kind, value));
                }
                self.say(&line);
                self.played.text.push_str(&rows(bytes));
            }
            Emitted::Accepted {
                port,
                session,
                listener,
                keys,
            } => {
                let port = &program.ports[port.at()];
                let keys = key_words(program, port.opens, keys);
                let port = &port.name;
                let by = listener.map_or("nobody".to_string(), |by| by.to_string());
                self.say(&format!("accepted {port} {session}{keys}, by {by}"));
            }
            Emitted::Notice {
                port,
                session,
                notice,
                arguments,
                bytes,
            } => {
                let notice = &program.notices[notice.at()];
                let port = &program.ports[port.at()].name;
                let arguments = argument_words(program, notice, arguments);
                self.say(&format!("tell {port} {session} {}{arguments}", notice.name));
                let carried: String = bytes.iter().map(|bytes| rows(bytes)).collect();
                self.played.text.push_str(&carried);
            }
        }
    }

    fn say(&mut self, line: &str) {
        let _ = writeln!(self.played.text, "{} {line}", moment(self.now_ns));
    }

    /// The counters, at the end.
    fn finish(mut self) -> Played {
        self.played.end_ns = self.now_ns;
        let last = self.played.seen.last();
        for (name, value) in last.iter().flat_map(|seen| &seen.counters) {
            if *value > 0 {
                let _ = writeln!(self.played.text, "{name} {value}");
            }
        }
        self.played
    }
}
