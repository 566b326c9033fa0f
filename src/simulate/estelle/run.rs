//! One run of a specification, by the first choices or by a seed: an iterator of lines.
//!
//! Systems are independent. By first choices they take turns in order of creation, a whole step
//! each. (our decision) By seed each system has a clock of its own, which each selection and each
//! execution moves on by a random amount (N3), and the system whose clock is least acts next.

use super::choice::{Choices, Source};
use super::machine::Limits;
use super::recorder::Recorder;
use super::situation::{Pending, Situation};
use super::stepper::{Refusal, Stepper, Stopped};
use super::trace::{End, Ending, Line};
use crate::source::Sources;
use crate::types::estelle::program::Program;
use std::collections::VecDeque;
use std::rc::Rc;

/// The range from which the order of executions in a step is drawn, and the pace of systems.
pub const PACE: u64 = 1 << 16;

/// The way in which a run chooses.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Choice {
    /// The first possibility.
    First,
    /// By a seed.
    Seed(u64),
}

impl Choice {
    /// Returns the choices with which a run begins.
    pub fn choices(self) -> Choices {
        match self {
            Choice::First => Choices::First,
            Choice::Seed(seed) => Choices::seeded(seed),
        }
    }
}

/// The options of a run.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// The way in which it chooses.
    pub choice: Choice,
    /// The most steps of all systems together.
    pub steps: Option<u64>,
    /// The last time, in units of the timescale.
    pub until: Option<u64>,
    /// True to write down the situation before each selection.
    pub dumps: bool,
    /// The bounds.
    pub limits: Limits,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            choice: Choice::First,
            steps: None,
            until: None,
            dumps: false,
            limits: Limits::default(),
        }
    }
}

/// A run. Its items are the lines of the trace; the last one is [`Line::End`].
#[derive(Debug)]
pub struct Run<'p> {
    stepper: Stepper<'p>,
    options: Options,
    choices: Choices,
    situation: Situation,
    recorder: Recorder<'p>,
    paces: Vec<Pace>,
    /// By first choices: the system whose turn is next.
    turn: usize,
    steps: u64,
    lines: VecDeque<Line>,
    is_over: bool,
}

/// The speed of a system, by seed.
#[derive(Clone, Copy, Default, Debug)]
struct Pace {
    /// Its clock, which has nothing to do with the time of the specification.
    clock: u64,
    /// True if it has nothing to select.
    is_idle: bool,
}

impl<'p> Run<'p> {
    /// Initialises a specification. One with parts in C is refused.
    pub fn new(
        program: &'p Program,
        sources: Option<&'p Sources>,
        options: Options,
    ) -> Result<Run<'p>, Refusal> {
        let stepper = Stepper::new(program, options.limits)?;
        let mut choices = options.choice.choices();
        let (situation, fired) = stepper.start(&mut choices, true);
        let mut recorder = Recorder {
            sources,
            ..Recorder::default()
        };
        let is_stopped = fired.stopped.is_some();
        let lines = recorder.start(&situation, fired);
        let mut run = Run {
            paces: vec![Pace::default(); situation.systems.len()],
            stepper,
            options,
            choices,
            situation,
            recorder,
            turn: 0,
            steps: 0,
            lines: lines.into(),
            is_over: false,
        };
        match is_stopped {
            true => run.end(Ending::Stopped),
            false => (0..run.paces.len()).for_each(|system| run.pause(system)),
        }
        Ok(run)
    }

    /// Does something that adds a line, or ends the run.
    fn advance(&mut self) {
        let acted = match self.options.choice {
            Choice::First => self.take_turn(),
            Choice::Seed(_) => self.act(),
        };
        if !acted {
            self.wait();
        }
    }

    /// By first choices: lets the next system that can do a whole step do it.
    fn take_turn(&mut self) -> bool {
        let count = self.situation.systems.len();
        for system in (self.turn..count).chain(0..self.turn) {
            if self.situation.systems[system].is_stopped || self.is_limited() {
                continue;
            }
            let had_lines = self.lines.len();
            self.select(system);
            while let Some(pending) = self.situation.systems[system].pending.first().copied() {
                self.execute(system, pending);
            }
            if self.lines.len() > had_lines {
                self.turn = (system + 1) % count;
                return true;
            }
        }
        false
    }

    /// By seed: lets the system with the least clock select or execute.
    fn act(&mut self) -> bool {
        let is_limited = self.is_limited();
        let ready = |system: &usize| {
            let of = &self.situation.systems[*system];
            let may_select = !self.paces[*system].is_idle && !is_limited;
            !of.is_stopped && (may_select || !of.pending.is_empty())
        };
        let systems = 0..self.situation.systems.len();
        let least = systems
            .filter(ready)
            .min_by_key(|system| self.paces[*system].clock);
        let Some(system) = least else {
            return false;
        };
        match self.situation.systems[system].pending.first().copied() {
            Some(pending) => {
                self.execute(system, pending);
                self.wake(self.paces[system].clock);
            }
            None => self.select(system),
        }
        match self.situation.systems[system].pending.is_empty() {
            // The next selection is tried at once, so that an idle system draws nothing.
            true if self.paces[system].is_idle => {}
            _ => self.pause(system),
        }
        true
    }

    /// Selects the transitions of the next step of a system.
    fn select(&mut self, system: usize) {
        let before = self.options.dumps.then(|| self.situation.clone());
        let selected = self
            .stepper
            .select(&mut self.situation, &mut self.choices, system);
        let mut selected = match selected {
            Ok(selected) => selected,
            Err(stopped) => return self.stop(system, &stopped),
        };
        self.paces[system].is_idle = selected.is_empty();
        if let Some(mut before) = before
            && !selected.is_empty()
        {
            let dump = self.stepper.dump(&mut before, system, &selected);
            self.lines.push_back(Line::Situation(dump));
        }
        if selected.is_empty() {
            return;
        }
        self.steps += 1;
        self.recorder.steps[system] += 1;
        if let Choice::Seed(_) = self.options.choice {
            selected = self.in_order(selected);
        }
        self.situation.systems[system].pending = selected;
    }

    /// The order of executions: each instance draws a number, and the least comes first. (N3)
    fn in_order(&mut self, selected: Vec<Pending>) -> Vec<Pending> {
        let mut drawn = Vec::new();
        for pending in selected {
            let path = Rc::clone(&self.situation.instance(pending.instance).path);
            drawn.push((self.choices.choose(Source::Order, &path, PACE), pending));
        }
        drawn.sort_by_key(|(number, _)| *number);
        drawn.into_iter().map(|(_, pending)| pending).collect()
    }

    fn execute(&mut self, system: usize, pending: Pending) {
        let chosen = (system, pending);
        let fired = self
            .stepper
            .execute(&mut self.situation, &mut self.choices, chosen, true);
        let lines = self.recorder.step(&self.situation, system, fired);
        self.lines.extend(lines);
    }

    fn stop(&mut self, system: usize, stopped: &Stopped) {
        let step = self.recorder.steps[system] + 1;
        let line = self.recorder.fault(step, self.situation.time, stopped);
        self.lines.push_back(line);
    }

    /// By seed: moves the clock of a system on.
    fn pause(&mut self, system: usize) {
        if let Choice::Seed(_) = self.options.choice {
            let instance = self.situation.systems[system].instance;
            let path = Rc::clone(&self.situation.instance(instance).path);
            self.paces[system].clock += 1 + self.choices.choose(Source::Order, &path, PACE);
        }
    }

    /// By seed: lets idle systems select again, if they would select anything now.
    fn wake(&mut self, clock: u64) {
        for system in 0..self.paces.len() {
            if !self.paces[system].is_idle || self.situation.systems[system].is_stopped {
                continue;
            }
            let yields = self
                .stepper
                .yields(&mut self.situation, &mut self.choices, system);
            match yields {
                Ok(false) => {}
                Ok(true) => {
                    self.paces[system] = Pace {
                        clock,
                        is_idle: false,
                    };
                    self.pause(system);
                }
                Err(stopped) => self.stop(system, &stopped),
            }
        }
    }

    /// Nothing can fire: lets time pass to the next clock, or ends the run.
    fn wait(&mut self) {
        if self.is_limited() {
            return self.end(Ending::Steps);
        }
        match (self.stepper.next_time(&self.situation), self.options.until) {
            (Some(next), Some(until)) if next > until => {
                self.situation.time = until;
                self.end(Ending::Time);
            }
            (Some(next), _) => {
                self.situation.time = next;
                let clocks = self.paces.iter().map(|pace| pace.clock);
                self.wake(clocks.max().unwrap_or(0));
            }
            (None, _) => self.end(quiescent(&self.situation)),
        }
    }

    fn is_limited(&self) -> bool {
        self.options.steps.is_some_and(|most| self.steps >= most)
    }

    fn end(&mut self, ending: Ending) {
        self.is_over = true;
        self.lines.push_back(Line::End(End {
            ending,
            time: self.situation.time,
            steps: self.steps,
            queued: self.stepper.queued(&self.situation),
            counters: self.recorder.counters.clone(),
        }));
    }
}

/// Returns the ending of a situation in which nothing can fire any more.
pub fn quiescent(situation: &Situation) -> Ending {
    if situation.systems.iter().any(|system| system.is_stopped) {
        return Ending::Stopped;
    }
    match situation.queued {
        0 => Ending::Done,
        _ => Ending::Deadlock,
    }
}

impl Iterator for Run<'_> {
    type Item = Line;

    fn next(&mut self) -> Option<Line> {
        while self.lines.is_empty() && !self.is_over {
            self.advance();
        }
        self.lines.pop_front()
    }
}
