//! One run of a specification, by the first choices or by a seed: an iterator of lines.

use super::choice::{Choices, Source};
use super::machine::Limits;
use super::recorder::Recorder;
use super::situation::{Pending, Situation};
use super::stepper::{Refusal, Stepper, Stopped};
use super::trace::{End, Ending, Line};
use super::turns::{Choice, Course, PACE, Selection, Systems, Turns};
use crate::source::Sources;
use crate::types::estelle::program::Program;
use std::collections::VecDeque;
use std::rc::Rc;

/// The options of a run.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// The way in which it chooses.
    pub choice: Choice,
    /// The length of the run and of its steps; times are in units of the timescale.
    pub course: Course,
    /// True to write down the situation before each selection.
    pub dumps: bool,
    /// The bounds.
    pub limits: Limits,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            choice: Choice::First,
            course: Course::default(),
            dumps: false,
            limits: Limits::default(),
        }
    }
}

/// A run. Its items are the lines of the trace; the last one is [`Line::End`].
#[derive(Debug)]
pub struct Run<'p> {
    turns: Turns,
    systems: Interpreted<'p>,
    is_over: bool,
}

/// The systems, and the lines that were not handed out yet.
#[derive(Debug)]
struct Interpreted<'p> {
    stepper: Stepper<'p>,
    options: Options,
    choices: Choices,
    situation: Situation,
    recorder: Recorder<'p>,
    lines: VecDeque<Line>,
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
        let mut systems = Interpreted {
            stepper,
            options,
            choices,
            situation,
            recorder,
            lines: lines.into(),
        };
        let mut run = Run {
            turns: Turns::new(options.choice, options.course, &mut systems),
            systems,
            is_over: false,
        };
        if is_stopped {
            run.end(Ending::Stopped);
        }
        Ok(run)
    }

    fn end(&mut self, ending: Ending) {
        self.is_over = true;
        let systems = &mut self.systems;
        systems.lines.push_back(Line::End(End {
            ending,
            time: systems.situation.time,
            steps: self.turns.steps(),
            queued: systems.stepper.queued(&systems.situation),
            counters: systems.recorder.counters.clone(),
        }));
    }
}

impl Interpreted<'_> {
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

    fn stop(&mut self, system: usize, stopped: &Stopped) {
        let step = self.recorder.steps[system] + 1;
        let line = self.recorder.fault(step, self.situation.time, stopped);
        self.lines.push_back(line);
    }
}

impl Systems for Interpreted<'_> {
    fn count(&self) -> usize {
        self.situation.systems.len()
    }

    fn is_stopped(&self, system: usize) -> bool {
        self.situation.systems[system].is_stopped
    }

    fn is_within_step(&self, system: usize) -> bool {
        !self.situation.systems[system].pending.is_empty()
    }

    fn select(&mut self, system: usize) -> Selection {
        let before = self.options.dumps.then(|| self.situation.clone());
        let selected = self
            .stepper
            .select(&mut self.situation, &mut self.choices, system);
        let mut selected = match selected {
            Ok(selected) if selected.is_empty() => return Selection::None,
            Ok(selected) => selected,
            Err(stopped) => {
                self.stop(system, &stopped);
                return Selection::Stopped;
            }
        };
        if let Some(mut before) = before {
            let dump = self.stepper.dump(&mut before, system, &selected);
            self.lines.push_back(Line::Situation(dump));
        }
        self.recorder.steps[system] += 1;
        if let Choice::Seed(_) = self.options.choice {
            selected = self.in_order(selected);
        }
        self.situation.systems[system].pending = selected;
        Selection::Some
    }

    fn execute(&mut self, system: usize) {
        let chosen = (system, self.situation.systems[system].pending[0]);
        let fired = self
            .stepper
            .execute(&mut self.situation, &mut self.choices, chosen, true);
        let lines = self.recorder.step(&self.situation, system, fired);
        self.lines.extend(lines);
    }

    fn yields(&mut self, system: usize) -> bool {
        let yields = self
            .stepper
            .yields(&mut self.situation, &mut self.choices, system);
        yields.unwrap_or_else(|stopped| {
            self.stop(system, &stopped);
            false
        })
    }

    fn pace(&mut self, system: usize) -> u64 {
        let instance = self.situation.systems[system].instance;
        let path = Rc::clone(&self.situation.instance(instance).path);
        self.choices.choose(Source::Order, &path, PACE)
    }

    fn time(&self) -> u64 {
        self.situation.time
    }

    fn next_time(&mut self) -> Option<u64> {
        self.stepper.next_time(&self.situation)
    }

    fn wait_until(&mut self, time: u64) {
        self.situation.time = time;
    }

    fn quiescent(&self) -> Ending {
        quiescent(&self.situation)
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
        while self.systems.lines.is_empty() && !self.is_over {
            if let Some(ending) = self.turns.advance(&mut self.systems) {
                self.end(ending);
            }
        }
        self.systems.lines.pop_front()
    }
}
