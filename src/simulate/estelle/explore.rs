//! All runs of a specification at once: its global situations, breadth first.
//!
//! In: a specification and a bound. Out: deadlocks and faults, each with a shortest trace, and
//! transitions that never fire. Moves are those of the step rule: a system selects, one selected
//! transition executes, or time passes if no system can select anything. Each move is tried with
//! each list of choices. Situations with equal canonical bytes are one situation.
//!
//! The time within a narrow delay is chosen exactly, in whole units. Within a wide one or one
//! without an upper bound, the transition may fire whenever the system selects: at times at which
//! something else happens or a bound is met, not at all times. (our decision) The report says so.

use super::choice::{Choices, Script};
use super::machine::Limits;
use super::recorder::Recorder;
use super::run::quiescent;
use super::situation::{Pending, Situation};
use super::situation_encode::Fingerprint;
use super::stepper::{Fired, Refusal, Stepper, Stopped};
use super::trace::{End, Ending, Line};
use crate::source::{Sources, Span};
use crate::types::estelle::program::Program;
use serde::Serialize;
use std::collections::{BTreeSet, HashSet, VecDeque};
use std::fmt;

/// The most deadlocks that are shown with a trace.
const SHOWN: usize = 10;

/// The most scalar parts of all situations that wait: about 1 GB.
const SIZE: u64 = 1 << 25;

/// The bounds of an exploration.
#[derive(Clone, Copy, Debug)]
pub struct Bounds {
    /// The most situations.
    pub situations: usize,
    /// The bounds of each firing.
    pub limits: Limits,
}

/// The result of an exploration.
#[derive(Clone, PartialEq, Serialize, Debug)]
pub struct Report {
    /// The number of situations.
    pub situations: usize,
    /// The longest of the shortest ways to a situation, in moves.
    pub depth: usize,
    /// True if all situations were found, false if the bound was met before.
    pub is_complete: bool,
    /// True if a wide delay was not explored at all times.
    pub is_sampled: bool,
    /// The number of situations at which a run ends with empty queues.
    pub done: usize,
    /// The number of deadlocks.
    pub deadlocks: usize,
    /// The number of faults, by kind and place.
    pub faults: usize,
    /// The first deadlocks and all faults by place, each with a shortest trace.
    pub findings: Vec<Finding>,
    /// Transitions that never fire: `BODY "NAME"`.
    pub unreached: Vec<String>,
    /// The number of transitions in the source.
    pub transitions: usize,
}

/// A deadlock or a fault.
#[derive(Clone, PartialEq, Serialize, Debug)]
pub struct Finding {
    /// A shortest trace; its last line is the deadlock or the fault.
    pub trace: Vec<Line>,
}

/// A move from one situation to the next, with the choices that it took.
#[derive(Clone, Debug)]
enum Move {
    Start(Vec<u32>),
    Select(usize, Vec<u32>),
    Execute(usize, usize, Vec<u32>),
    Wait,
}

/// A situation that was found: where it comes from.
#[derive(Debug)]
struct Node {
    parent: u32,
    depth: u32,
    made_by: Move,
}

/// The state of an exploration.
struct Explorer<'p> {
    stepper: Stepper<'p>,
    sources: Option<&'p Sources>,
    bounds: Bounds,
    nodes: Vec<Node>,
    known: HashSet<Fingerprint>,
    open: VecDeque<(u32, Situation, u64)>,
    /// The size of all situations in `open`, without what they share.
    size: u64,
    fired: BTreeSet<(u32, usize)>,
    faults: BTreeSet<(&'static str, Span)>,
    findings: Vec<Finding>,
    done: usize,
    deadlocks: usize,
    is_complete: bool,
    is_sampled: bool,
}

/// Explores all situations of a specification. `progress` gets the number of situations found and
/// of those that wait; the exploration stops if it returns false.
pub fn explore(
    program: &Program,
    sources: Option<&Sources>,
    bounds: Bounds,
    progress: &mut dyn FnMut(usize, usize) -> bool,
) -> Result<Report, Refusal> {
    let mut explorer = Explorer {
        stepper: Stepper::new(program, bounds.limits)?,
        sources,
        bounds,
        nodes: Vec::new(),
        known: HashSet::new(),
        open: VecDeque::new(),
        size: 0,
        fired: BTreeSet::new(),
        faults: BTreeSet::new(),
        findings: Vec::new(),
        done: 0,
        deadlocks: 0,
        is_complete: true,
        is_sampled: false,
    };
    explorer.start();
    while let Some((number, situation, size)) = explorer.open.pop_front() {
        explorer.size -= size;
        if !progress(explorer.nodes.len(), explorer.open.len()) {
            explorer.is_complete = false;
            break;
        }
        explorer.expand(number, &situation);
    }
    Ok(explorer.report())
}

impl Explorer<'_> {
    fn start(&mut self) {
        let stepper = &self.stepper;
        let mut started = Vec::new();
        each_script(|choices| started.push(stepper.start(choices, false)))
            .into_iter()
            .zip(started)
            .for_each(|(script, (situation, fired))| {
                let made_by = Move::Start(script);
                self.add(0, made_by, situation, fired.stopped);
            });
    }

    /// Adds all situations that follow one.
    fn expand(&mut self, number: u32, situation: &Situation) {
        self.is_sampled |= situation.has_window();
        let (mut moves, mut may_wait) = (0, true);
        for system in 0..situation.systems.len() {
            let of = &situation.systems[system];
            if of.is_stopped {
                continue;
            }
            if of.pending.is_empty() {
                let (selections, is_idle) = self.expand_selection(number, situation, system);
                moves += selections;
                may_wait &= is_idle;
            } else {
                for at in 0..of.pending.len() {
                    self.expand_execution(number, situation, (system, at));
                }
                moves += of.pending.len();
                may_wait = false;
            }
        }
        let next = self.stepper.next_time(situation).filter(|_| may_wait);
        if let Some(next) = next {
            let mut later = situation.clone();
            later.time = next;
            self.add(number, Move::Wait, later, None);
        } else if moves == 0 {
            self.finish(number, situation);
        }
    }

    /// Adds the situations behind the selections of a system. Returns their number, and whether
    /// the system may select nothing.
    fn expand_selection(
        &mut self,
        number: u32,
        situation: &Situation,
        system: usize,
    ) -> (usize, bool) {
        let stepper = &self.stepper;
        let mut tried = Vec::new();
        let scripts = each_script(|choices| {
            let mut next = situation.clone();
            let selected = stepper.select(&mut next, choices, system);
            tried.push((next, selected));
        });
        let (mut moves, mut is_idle) = (0, false);
        for (script, (mut next, selected)) in scripts.into_iter().zip(tried) {
            let stopped = match selected {
                Ok(selected) if selected.is_empty() => {
                    is_idle = true;
                    continue;
                }
                Ok(selected) => {
                    next.systems[system].pending = selected;
                    None
                }
                Err(stopped) => Some(*stopped),
            };
            moves += 1;
            self.add(number, Move::Select(system, script), next, stopped);
        }
        (moves, is_idle)
    }

    /// Adds the situations behind the execution of one of the selected transitions.
    fn expand_execution(
        &mut self,
        number: u32,
        situation: &Situation,
        (system, at): (usize, usize),
    ) {
        let pending: Pending = situation.systems[system].pending[at];
        let body = situation.instance(pending.instance).body;
        self.fired.insert((body.0, pending.transition));
        let stepper = &self.stepper;
        let mut tried: Vec<(Situation, Fired)> = Vec::new();
        let scripts = each_script(|choices| {
            let mut next = situation.clone();
            let fired = stepper.execute(&mut next, choices, (system, pending), false);
            tried.push((next, fired));
        });
        for (script, (next, fired)) in scripts.into_iter().zip(tried) {
            let made_by = Move::Execute(system, at, script);
            self.add(number, made_by, next, fired.stopped);
        }
    }

    /// Adds a situation, if it is a new one.
    fn add(&mut self, parent: u32, made_by: Move, situation: Situation, stopped: Option<Stopped>) {
        let is_start = matches!(made_by, Move::Start(_));
        let is_known = !self.known.insert(situation.fingerprint());
        let is_full = self.nodes.len() >= self.bounds.situations || self.size > SIZE;
        self.is_complete &= is_known || !is_full;
        let is_fault = stopped.is_some();
        if (is_known || is_full) && !is_fault {
            return;
        }
        let number = self.nodes.len() as u32;
        let depth = match is_start {
            true => 0,
            false => self.nodes[parent as usize].depth + 1,
        };
        self.nodes.push(Node {
            parent,
            depth,
            made_by,
        });
        if let Some(stopped) = &stopped
            && self
                .faults
                .insert((stopped.fault.kind.name(), stopped.fault.span))
        {
            let trace = self.trace(number, None);
            self.findings.push(Finding { trace });
        }
        if is_known || is_full {
            self.nodes.pop();
            return;
        }
        // A fault of the specification itself leaves no systems.
        if !(is_start && is_fault) {
            let size = situation.own_size(self.stepper.layouts());
            self.size += size;
            self.open.push_back((number, situation, size));
        }
    }

    /// Counts a situation in which nothing can fire any more.
    fn finish(&mut self, number: u32, situation: &Situation) {
        match quiescent(situation) {
            Ending::Deadlock => {
                self.deadlocks += 1;
                if self.deadlocks <= SHOWN {
                    let trace = self.trace(number, Some(situation));
                    self.findings.push(Finding { trace });
                }
            }
            Ending::Done | Ending::Stopped | Ending::Steps | Ending::Time => self.done += 1,
        }
    }

    /// Repeats the moves that lead to a situation, and returns their lines; those of a deadlock
    /// end with a line for it.
    fn trace(&self, number: u32, deadlock: Option<&Situation>) -> Vec<Line> {
        let mut way = Vec::new();
        let mut at = number;
        loop {
            let node = &self.nodes[at as usize];
            way.push(&node.made_by);
            if node.depth == 0 {
                break;
            }
            at = node.parent;
        }
        let mut recorder = Recorder {
            sources: self.sources,
            ..Recorder::default()
        };
        let (mut situation, mut lines) = (Situation::empty(), Vec::new());
        for step in way.into_iter().rev() {
            self.repeat(step, &mut situation, &mut recorder, &mut lines);
        }
        lines.extend(deadlock.map(|deadlock| {
            Line::End(End {
                ending: Ending::Deadlock,
                time: situation.time,
                steps: recorder.steps.iter().sum(),
                queued: self.stepper.queued(deadlock),
                counters: recorder.counters,
            })
        }));
        lines
    }

    fn repeat(
        &self,
        step: &Move,
        situation: &mut Situation,
        recorder: &mut Recorder<'_>,
        lines: &mut Vec<Line>,
    ) {
        let script = |chosen: &[u32]| Choices::Scripted(Script::repeating(chosen.to_vec()));
        match step {
            Move::Start(chosen) => {
                let (started, fired) = self.stepper.start(&mut script(chosen), true);
                *situation = started;
                lines.extend(recorder.start(situation, fired));
            }
            Move::Select(system, chosen) => {
                recorder.steps[*system] += 1;
                match self.stepper.select(situation, &mut script(chosen), *system) {
                    Ok(selected) => situation.systems[*system].pending = selected,
                    Err(stopped) => {
                        let step = recorder.steps[*system];
                        lines.push(recorder.fault(step, situation.time, &stopped));
                    }
                }
            }
            Move::Execute(system, at, chosen) => {
                let chosen = &mut script(chosen);
                let pending = (*system, situation.systems[*system].pending[*at]);
                let fired = self.stepper.execute(situation, chosen, pending, true);
                lines.extend(recorder.step(situation, *system, fired));
            }
            Move::Wait => {
                if let Some(next) = self.stepper.next_time(situation) {
                    situation.time = next;
                }
            }
        }
    }

    fn report(self) -> Report {
        let program = self.stepper.program;
        let (mut unreached, mut transitions) = (Vec::new(), 0);
        for (number, body) in program.bodies.iter().enumerate() {
            // Transitions that `any` expands are one transition of the source.
            let mut sources: Vec<(Span, bool, &str)> = Vec::new();
            for (at, transition) in body.transitions.iter().enumerate() {
                let has_fired = self.fired.contains(&(number as u32, at));
                match sources.last_mut() {
                    Some((span, fired, _)) if *span == transition.span => *fired |= has_fired,
                    _ => sources.push((transition.span, has_fired, &transition.name)),
                }
            }
            transitions += sources.len();
            let missing = sources.iter().filter(|(_, has_fired, _)| !has_fired);
            unreached.extend(missing.map(|(_, _, name)| format!("{} \"{name}\"", body.name)));
        }
        Report {
            situations: self.nodes.len(),
            depth: self.nodes.iter().map(|node| node.depth).max().unwrap_or(0) as usize,
            is_complete: self.is_complete,
            is_sampled: self.is_sampled,
            done: self.done,
            deadlocks: self.deadlocks,
            faults: self.faults.len(),
            findings: self.findings,
            unreached,
            transitions,
        }
    }
}

/// Tries a move with each list of choices, and returns the lists.
fn each_script(mut try_move: impl FnMut(&mut Choices)) -> Vec<Vec<u32>> {
    let mut choices = Choices::Scripted(Script::default());
    let mut scripts = Vec::new();
    loop {
        try_move(&mut choices);
        let Choices::Scripted(script) = &mut choices else {
            return scripts;
        };
        scripts.push(script.taken().to_vec());
        if !script.advance() {
            return scripts;
        }
    }
}

impl fmt::Display for Report {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        for finding in &self.findings {
            for line in &finding.trace {
                writeln!(out, "{line}")?;
            }
            writeln!(out)?;
        }
        let found = match self.is_complete {
            true => "all",
            false => "the bound was met; not all",
        };
        writeln!(
            out,
            "situations: {} ({found}), depth {}",
            self.situations, self.depth
        )?;
        if self.is_sampled {
            writeln!(out, "wide delays: not explored at all times")?;
        }
        writeln!(
            out,
            "runs end: {} done, {} deadlocks",
            self.done, self.deadlocks
        )?;
        let fired = self.transitions - self.unreached.len();
        writeln!(out, "transitions: {fired} of {} fire", self.transitions)?;
        for name in &self.unreached {
            writeln!(out, "never fires: {name}")?;
        }
        Ok(())
    }
}
