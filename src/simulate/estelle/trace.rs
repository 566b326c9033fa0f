//! The lines of a trace, as text and as JSON.
//!
//! ```text
//! start t=0 inres: init R init M
//! step 12 t=5 R.ini[1]: sending>sending "resend" in=- out=med.MDATreq(DT,1)
//! step 3 t=0 server: idle>idle "accept" in=lower.CONind(2) init c[2] moved user[2]->c[2].u: 2
//! fault step 4 t=7 R.ini[1]: range: 9 is not in 0..7 (inres.stl:40:12)
//! deadlock t=20 steps=31 queued: R.med.up 2; unconnected=1
//! ```
//!
//! The number behind `step` counts the steps of the system to which the instance belongs: equal
//! numbers of one system are one step. `t` is the time in units of the timescale: a whole number,
//! since time passes in whole units. (our decision) The path of an instance begins with the name
//! of the specification only if that is a system. A module variable that is initialised again
//! names its second instance `c[2]#2`. Points and modules are named as the instance that fires
//! sees them.

use super::value::Shown;
use crate::source::Span;
use serde::Serialize;
use std::collections::BTreeMap;
use std::fmt;

/// A line of a trace.
#[derive(Clone, PartialEq, Serialize, Debug)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum Line {
    /// The specification is initialised.
    Start(Start),
    /// A transition fires.
    Step(Step),
    /// A fault stops a system.
    Fault(FaultLine),
    /// A system is about to select transitions.
    Situation(Dump),
    /// The run ends.
    End(End),
}

/// The initialisation of the specification.
#[derive(Clone, PartialEq, Serialize, Debug)]
pub struct Start {
    /// The name of the specification.
    pub specification: String,
    /// Its state: `-` of none.
    pub to: String,
    /// Its effects.
    pub effects: Vec<Effect>,
}

/// A transition that fires.
#[derive(Clone, PartialEq, Serialize, Debug)]
pub struct Step {
    /// The number of the step of the system.
    pub step: u64,
    /// The time, in units of the timescale.
    pub time: u64,
    /// The path of the system.
    pub system: String,
    /// The path of the instance.
    pub instance: String,
    /// The state before: `-` of none.
    pub from: String,
    /// The state behind.
    pub to: String,
    /// The name of the transition.
    pub transition: String,
    /// The number of the transition in its body, from 0.
    pub number: usize,
    /// The interaction that it takes.
    #[serde(rename = "in")]
    pub input: Option<Message>,
    /// Its effects, in order.
    pub effects: Vec<Effect>,
}

/// An interaction at a point.
#[derive(Clone, PartialEq, Serialize, Debug)]
pub struct Message {
    /// The point.
    pub point: String,
    /// The name of the interaction.
    pub interaction: String,
    /// The values of its parameters.
    pub values: Vec<Shown>,
}

/// An effect of a statement.
#[derive(Clone, PartialEq, Serialize, Debug)]
#[serde(rename_all = "lowercase")]
pub enum Effect {
    /// An interaction that was queued at the other side.
    #[serde(rename = "out")]
    Output(Message),
    /// An interaction that was lost, because no connection is on the way.
    Unconnected(Message),
    /// A module that came into being.
    Init(String),
    /// A module that was released.
    Release {
        /// The module.
        module: String,
        /// Queued interactions that no point of the parent took back.
        lost: u64,
    },
    /// A module that was terminated.
    Terminate {
        /// The module.
        module: String,
        /// Queued interactions that were lost.
        lost: u64,
    },
    /// Interactions that went from the queue of one point to that of another.
    Moved {
        /// The point before.
        from: String,
        /// The point behind.
        to: String,
        /// Their number.
        count: u64,
    },
}

/// A fault.
#[derive(Clone, PartialEq, Serialize, Debug)]
pub struct FaultLine {
    /// The number of the step of the system; 0 at the start.
    pub step: u64,
    /// The time, in units of the timescale.
    pub time: u64,
    /// The instance.
    pub instance: String,
    /// The name of the kind.
    pub fault: &'static str,
    /// The mistake, with the values.
    pub says: String,
    /// The place: `FILE:LINE:COLUMN`, if the texts are known.
    pub place: Option<String>,
    /// The place in bytes.
    #[serde(skip)]
    pub span: Span,
}

/// A global situation before a system selects, and what it selects.
#[derive(Clone, PartialEq, Serialize, Debug)]
pub struct Dump {
    /// The time, in units of the timescale.
    pub time: u64,
    /// The path of the system.
    pub system: String,
    /// The instance of the system, and all below it.
    pub tree: Node,
    /// The selection.
    pub selected: Vec<Selected>,
}

/// An instance in a [`Dump`].
#[derive(Clone, PartialEq, Serialize, Debug)]
pub struct Node {
    /// Its path.
    pub instance: String,
    /// `systemprocess`, `systemactivity`, `process` or `activity`.
    pub attribute: Option<&'static str>,
    /// The number of its body in the program.
    pub body: u32,
    /// Its control state: `-` of none.
    pub state: String,
    /// The first interaction of each queue that holds any: the declaration of its point, the place
    /// of the point in an array, and the interaction, each by its number.
    pub heads: Vec<[usize; 3]>,
    /// The transitions that it may offer, by number in their body.
    pub offered: Vec<usize>,
    /// Its children, in order of creation.
    pub children: Vec<Node>,
}

/// A selected transition.
#[derive(Clone, PartialEq, Serialize, Debug)]
pub struct Selected {
    /// The path of the instance.
    pub instance: String,
    /// The number of the transition in its body.
    pub number: usize,
}

/// The reason why a run ends.
#[derive(Clone, Copy, PartialEq, Eq, Serialize, Debug)]
#[serde(rename_all = "lowercase")]
pub enum Ending {
    /// No transition can ever fire again, and all queues are empty.
    Done,
    /// No transition can ever fire again, but queues hold interactions.
    Deadlock,
    /// No transition can ever fire again, because faults have stopped systems.
    Stopped,
    /// The number of steps is reached.
    Steps,
    /// The time is reached.
    Time,
}

/// The end of a run.
#[derive(Clone, PartialEq, Serialize, Debug)]
pub struct End {
    /// The reason.
    pub ending: Ending,
    /// The time, in units of the timescale.
    pub time: u64,
    /// The number of steps of all systems.
    pub steps: u64,
    /// The points whose queues hold interactions, and how many.
    pub queued: Vec<(String, u64)>,
    /// Counts of faults and lost interactions, by name.
    pub counters: BTreeMap<&'static str, u64>,
}

impl fmt::Display for Line {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Line::Start(start) => start.fmt(out),
            Line::Step(step) => step.fmt(out),
            Line::Fault(fault) => fault.fmt(out),
            Line::Situation(dump) => dump.fmt(out),
            Line::End(end) => end.fmt(out),
        }
    }
}

impl fmt::Display for Start {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "start t=0 {}:", self.specification)?;
        write_effects(out, &self.effects)
    }
}

impl fmt::Display for Step {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Step {
            step,
            time,
            instance,
            from,
            to,
            transition,
            ..
        } = self;
        write!(
            out,
            "step {step} t={time} {instance}: {from}>{to} \"{transition}\" in="
        )?;
        match &self.input {
            None => write!(out, "-")?,
            Some(message) => write!(out, "{message}")?,
        }
        write_effects(out, &self.effects)
    }
}

fn write_effects(out: &mut fmt::Formatter<'_>, effects: &[Effect]) -> fmt::Result {
    for effect in effects {
        write!(out, " {effect}")?;
    }
    Ok(())
}

impl fmt::Display for Message {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}.{}", self.point, self.interaction)?;
        if !self.values.is_empty() {
            let values: Vec<&str> = self.values.iter().map(|it| it.text.as_str()).collect();
            write!(out, "({})", values.join(","))?;
        }
        Ok(())
    }
}

impl fmt::Display for Effect {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let removed = |out: &mut fmt::Formatter<'_>, word, module, lost: &u64| match lost {
            0 => write!(out, "{word} {module}"),
            _ => write!(out, "{word} {module} lost: {lost}"),
        };
        match self {
            Effect::Output(message) => write!(out, "out={message}"),
            Effect::Unconnected(message) => write!(out, "unconnected={message}"),
            Effect::Init(module) => write!(out, "init {module}"),
            Effect::Release { module, lost } => removed(out, "release", module, lost),
            Effect::Terminate { module, lost } => removed(out, "terminate", module, lost),
            Effect::Moved { from, to, count } => write!(out, "moved {from}->{to}: {count}"),
        }
    }
}

impl fmt::Display for FaultLine {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            out,
            "fault step {} t={} {}: {}: {}",
            self.step, self.time, self.instance, self.fault, self.says
        )?;
        match &self.place {
            Some(place) => write!(out, " ({place})"),
            None => Ok(()),
        }
    }
}

impl fmt::Display for Dump {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let selected = self.selected.iter();
        let selected = selected.map(|it| format!(" {}.{}", it.instance, it.number));
        let selected = selected.collect::<String>();
        write!(out, "select t={} {}:{selected}", self.time, self.system)
    }
}

impl Ending {
    /// Returns the word that begins the last line.
    pub fn word(self) -> &'static str {
        match self {
            Ending::Done => "done",
            Ending::Deadlock => "deadlock",
            Ending::Stopped => "stopped",
            Ending::Steps => "steps",
            Ending::Time => "time",
        }
    }
}

impl fmt::Display for End {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            out,
            "{} t={} steps={}",
            self.ending.word(),
            self.time,
            self.steps
        )?;
        if !self.queued.is_empty() {
            let queued = self.queued.iter();
            let queued = queued.map(|(point, count)| format!("{point} {count}"));
            write!(out, " queued: {}", queued.collect::<Vec<_>>().join(", "))?;
        }
        if !self.counters.is_empty() {
            let counters = self.counters.iter();
            let counters = counters.map(|(name, count)| format!("{name}={count}"));
            write!(out, "; {}", counters.collect::<Vec<_>>().join(" "))?;
        }
        Ok(())
    }
}
