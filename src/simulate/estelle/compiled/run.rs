//! One run of a compiled specification, by the first choices or by a seed.
//!
//! In: a specification, and a [`Target`] that runs what it is compiled to. Out: a line for each
//! transition that fires. Systems take turns as in a run of the reference interpreter, and by seed
//! the choices come from the same generators, so both runs fire the same transitions. Which
//! transitions fire, and what they do, the target alone decides.

use super::Target;
use super::chooser::{Chooser, Origin};
use crate::lower::estelle::Fault;
use crate::simulate::estelle::choice::Source;
use crate::simulate::estelle::trace::Ending;
use crate::simulate::estelle::turns::{Choice, Course, PACE, Selection, Systems, Turns};
use serde::Serialize;
use std::collections::VecDeque;
use std::fmt;
use std::rc::Rc;

/// A transition that has fired, or a fault.
#[derive(Clone, PartialEq, Serialize, Debug)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum CompiledLine {
    /// A transition.
    Step(CompiledStep),
    /// A fault; it stops the system.
    Fault {
        /// The number of the step of the system; 0 at the start.
        step: u64,
        /// The time, in units of the timescale.
        time: u64,
        /// The path of the module that fired, or of the system that selected.
        instance: String,
        /// The name.
        fault: &'static str,
        /// The number in the C.
        number: i64,
    },
    /// The end.
    End {
        /// The time, in units of the timescale.
        time: u64,
        /// The steps of all systems.
        steps: u64,
        /// The reason: [`Ending::Done`] also where queues hold interactions.
        ending: Ending,
    },
}

/// A transition that has fired.
#[derive(Clone, PartialEq, Serialize, Debug)]
pub struct CompiledStep {
    /// The number of the step of its system.
    pub step: u64,
    /// The time, in units of the timescale.
    pub time: u64,
    /// The path of the module.
    pub instance: String,
    /// The state before; `-` of none.
    pub from: String,
    /// The state behind.
    pub to: String,
    /// The name of the transition.
    pub transition: String,
    /// Its number in the body.
    pub number: usize,
}

/// A system, as the run sees it.
#[derive(Debug)]
struct System {
    module: i64,
    /// The transitions of its step that have not fired yet.
    pending: VecDeque<(i64, i64)>,
    steps: u64,
    is_stopped: bool,
}

/// A run. Its items are the lines of the trace; the last one is [`CompiledLine::End`].
#[derive(Debug)]
pub struct CompiledRun<'p, T> {
    turns: Turns,
    systems: Driven<'p, T>,
    is_over: bool,
}

/// The systems of a target, and the lines that were not handed out yet.
#[derive(Debug)]
struct Driven<'p, T> {
    chooser: Rc<Chooser<'p>>,
    target: T,
    systems: Vec<System>,
    now_ns: u64,
    lines: VecDeque<CompiledLine>,
}

impl<'p, T: Target> CompiledRun<'p, T> {
    /// Initialises a specification. The times of the run are in nanoseconds.
    pub fn new(
        chooser: Rc<Chooser<'p>>,
        target: T,
        choice: Choice,
        course: Course,
    ) -> CompiledRun<'p, T> {
        let mut systems = Driven {
            chooser,
            target,
            systems: Vec::new(),
            now_ns: 0,
            lines: VecDeque::new(),
        };
        let has_started = systems.start();
        let mut run = CompiledRun {
            turns: Turns::new(choice, course, &mut systems),
            systems,
            is_over: false,
        };
        if !has_started {
            run.end(Ending::Stopped);
        }
        run
    }

    fn end(&mut self, ending: Ending) {
        self.is_over = true;
        self.systems.lines.push_back(CompiledLine::End {
            time: self.systems.units(),
            steps: self.turns.steps(),
            ending,
        });
    }
}

impl<T: Target> Driven<'_, T> {
    /// Initialises the specification. Returns false after a fault.
    fn start(&mut self) -> bool {
        let started = self.call("start", &[]);
        if started < 0 {
            self.fault(0, 0, -started);
            return false;
        }
        for number in 0..self.call("systems", &[]) {
            let module = self.call("system", &[number]);
            self.systems.push(System {
                module,
                pending: VecDeque::new(),
                steps: 0,
                is_stopped: false,
            });
        }
        true
    }

    fn call(&mut self, name: &str, arguments: &[i64]) -> i64 {
        self.target.call(name, arguments, self.now_ns)
    }

    /// The time in units of the timescale.
    fn units(&self) -> u64 {
        self.now_ns / self.chooser.program().unit_ns.max(1)
    }

    fn path(&mut self, module: i64) -> String {
        let (target, now_ns) = (&mut self.target, self.now_ns);
        let mut ask = |asked: Origin, module: i64| target.call(asked.name(), &[module], now_ns);
        self.chooser.path(module, &mut ask)
    }

    /// Lets a transition of a step fire.
    fn fire(&mut self, system: usize, (module, transition): (i64, i64)) {
        let body = self.call("body", &[module]) as usize;
        let instance = self.path(module);
        let from = self.call("state", &[module]);
        let fired = self.call("fire", &[module, transition]);
        let to = self.call("state", &[module]);
        let body = &self.chooser.program().bodies[body];
        let named = |state: i64| {
            let name = usize::try_from(state)
                .ok()
                .and_then(|at| body.states.get(at));
            name.map_or("-", String::as_str).to_string()
        };
        let step = CompiledStep {
            step: self.systems[system].steps,
            time: self.units(),
            instance,
            from: named(from),
            to: named(to),
            // Transitions of a body that C defines have no names.
            transition: body
                .transitions
                .get(transition as usize)
                .map_or_else(String::new, |one| one.name.clone()),
            number: transition as usize,
        };
        self.lines.push_back(CompiledLine::Step(step));
        if fired < 0 {
            self.stop((system, module), -fired);
        }
    }

    /// Stops a system for a fault of one of its modules.
    fn stop(&mut self, (system, module): (usize, i64), number: i64) {
        self.systems[system].is_stopped = true;
        self.systems[system].pending.clear();
        self.fault(self.systems[system].steps, module, number);
    }

    fn fault(&mut self, step: u64, module: i64, number: i64) {
        let instance = self.path(module);
        self.lines.push_back(CompiledLine::Fault {
            step,
            time: self.units(),
            instance,
            fault: Fault::name_of(number).unwrap_or("unknown"),
            number,
        });
    }
}

impl<T: Target> Systems for Driven<'_, T> {
    fn count(&self) -> usize {
        self.systems.len()
    }

    fn is_stopped(&self, system: usize) -> bool {
        self.systems[system].is_stopped
    }

    fn is_within_step(&self, system: usize) -> bool {
        !self.systems[system].pending.is_empty()
    }

    fn select(&mut self, system: usize) -> Selection {
        let count = self.call("plan", &[system as i64]);
        match count {
            0 => return Selection::None,
            1.. => {}
            fault => {
                let module = self.systems[system].module;
                self.stop((system, module), -fault);
                return Selection::Stopped;
            }
        }
        self.systems[system].steps += 1;
        for at in 0..count {
            let module = self.call("planned_module", &[at]);
            let transition = self.call("planned_transition", &[at]);
            let pending = (module, transition);
            self.systems[system].pending.push_back(pending);
        }
        Selection::Some
    }

    fn execute(&mut self, system: usize) {
        if let Some(pending) = self.systems[system].pending.pop_front() {
            self.fire(system, pending);
        }
    }

    fn yields(&mut self, system: usize) -> bool {
        let ready = self.call("ready", &[system as i64]);
        if ready < 0 {
            let module = self.systems[system].module;
            self.stop((system, module), -ready);
        }
        ready > 0
    }

    fn pace(&mut self, system: usize) -> u64 {
        let path: Rc<str> = self.path(self.systems[system].module).into();
        self.chooser.draw(Source::Order, &path, PACE)
    }

    fn time(&self) -> u64 {
        self.now_ns
    }

    fn next_time(&mut self) -> Option<u64> {
        self.target.deadline_ns(self.now_ns)
    }

    fn wait_until(&mut self, time_ns: u64) {
        self.now_ns = time_ns;
    }

    fn quiescent(&self) -> Ending {
        match self.systems.iter().any(|system| system.is_stopped) {
            true => Ending::Stopped,
            false => Ending::Done,
        }
    }
}

impl<T: Target> Iterator for CompiledRun<'_, T> {
    type Item = CompiledLine;

    fn next(&mut self) -> Option<CompiledLine> {
        while self.systems.lines.is_empty() && !self.is_over {
            if let Some(ending) = self.turns.advance(&mut self.systems) {
                self.end(ending);
            }
        }
        self.systems.lines.pop_front()
    }
}

impl fmt::Display for CompiledLine {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CompiledLine::Step(step) => {
                let CompiledStep {
                    step: at,
                    time,
                    instance,
                    ..
                } = step;
                let CompiledStep {
                    from,
                    to,
                    transition,
                    ..
                } = step;
                write!(
                    out,
                    "step {at} t={time} {instance}: {from}>{to} \"{transition}\""
                )
            }
            CompiledLine::Fault {
                step,
                time,
                instance,
                fault,
                number,
            } => write!(
                out,
                "fault step {step} t={time} {instance}: {fault} ({number})"
            ),
            CompiledLine::End {
                time,
                steps,
                ending,
            } => {
                write!(out, "{} t={time} steps={steps}", ending.word())
            }
        }
    }
}
