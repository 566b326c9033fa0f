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
use crate::simulate::estelle::run::{Choice, PACE};
use crate::simulate::estelle::trace::Ending;
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
    /// By seed: its speed.
    clock: u64,
    is_idle: bool,
    is_stopped: bool,
}

/// A run. Its items are the lines of the trace; the last one is [`CompiledLine::End`].
#[derive(Debug)]
pub struct CompiledRun<'p, T> {
    chooser: Rc<Chooser<'p>>,
    target: T,
    choice: Choice,
    systems: Vec<System>,
    turn: usize,
    now_ns: u64,
    steps: u64,
    most: Option<u64>,
    until_ns: Option<u64>,
    lines: VecDeque<CompiledLine>,
    is_over: bool,
}

impl<'p, T: Target> CompiledRun<'p, T> {
    /// Initialises a specification. The run ends behind `most` steps, and at a time.
    pub fn new(
        chooser: Rc<Chooser<'p>>,
        target: T,
        choice: Choice,
        (most, until_ns): (Option<u64>, Option<u64>),
    ) -> CompiledRun<'p, T> {
        let mut run = CompiledRun {
            chooser,
            target,
            choice,
            systems: Vec::new(),
            turn: 0,
            now_ns: 0,
            steps: 0,
            most,
            until_ns,
            lines: VecDeque::new(),
            is_over: false,
        };
        let started = run.call("start", &[]);
        if started < 0 {
            run.fault(0, 0, -started);
            run.end(Ending::Stopped);
            return run;
        }
        for number in 0..run.call("systems", &[]) {
            let module = run.call("system", &[number]);
            run.systems.push(System {
                module,
                pending: VecDeque::new(),
                steps: 0,
                clock: 0,
                is_idle: false,
                is_stopped: false,
            });
        }
        (0..run.systems.len()).for_each(|system| run.pause(system));
        run
    }

    fn call(&mut self, name: &str, arguments: &[i64]) -> i64 {
        self.target.call(name, arguments, self.now_ns)
    }

    /// The time in units of the timescale.
    fn time(&self) -> u64 {
        self.now_ns / self.chooser.program().unit_ns.max(1)
    }

    fn path(&mut self, module: i64) -> String {
        let (target, now_ns) = (&mut self.target, self.now_ns);
        let mut ask = |asked: Origin, module: i64| target.call(asked.name(), &[module], now_ns);
        self.chooser.path(module, &mut ask)
    }

    /// By first choices: lets the next system that can do a whole step do it.
    fn take_turn(&mut self) -> bool {
        let count = self.systems.len();
        for system in (self.turn..count).chain(0..self.turn) {
            if self.systems[system].is_stopped || self.is_limited() {
                continue;
            }
            let had_lines = self.lines.len();
            self.plan(system);
            while let Some(pending) = self.systems[system].pending.pop_front() {
                self.fire(system, pending);
            }
            if self.lines.len() > had_lines {
                self.turn = (system + 1) % count;
                return true;
            }
        }
        false
    }

    /// By seed: lets the system with the least clock plan a step, or fire a transition.
    fn act(&mut self) -> bool {
        let is_limited = self.is_limited();
        let ready = |system: &&System| {
            let may_plan = !system.is_idle && !is_limited;
            !system.is_stopped && (may_plan || !system.pending.is_empty())
        };
        let systems = self.systems.iter().enumerate();
        let least = systems
            .filter(|(_, system)| ready(system))
            .min_by_key(|(_, system)| system.clock);
        let Some((at, _)) = least else {
            return false;
        };
        match self.systems[at].pending.pop_front() {
            Some(pending) => {
                self.fire(at, pending);
                self.wake(self.systems[at].clock);
            }
            None => self.plan(at),
        }
        let is_between = !self.systems[at].pending.is_empty();
        if is_between || !self.systems[at].is_idle {
            self.pause(at);
        }
        true
    }

    /// Plans the next step of a system.
    fn plan(&mut self, system: usize) {
        let count = self.call("plan", &[system as i64]);
        if count < 0 {
            let module = self.systems[system].module;
            return self.stop((system, module), -count);
        }
        self.systems[system].is_idle = count == 0;
        if count == 0 {
            return;
        }
        self.steps += 1;
        self.systems[system].steps += 1;
        for at in 0..count {
            let module = self.call("planned_module", &[at]);
            let transition = self.call("planned_transition", &[at]);
            let pending = (module, transition);
            self.systems[system].pending.push_back(pending);
        }
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
            time: self.time(),
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
            time: self.time(),
            instance,
            fault: Fault::name_of(number).unwrap_or("unknown"),
            number,
        });
    }

    /// By seed: moves the clock of a system on.
    fn pause(&mut self, system: usize) {
        if let Choice::Seed(_) = self.choice {
            let path: Rc<str> = self.path(self.systems[system].module).into();
            let pause = self.chooser.draw(Source::Order, &path, PACE);
            self.systems[system].clock += 1 + pause;
        }
    }

    /// By seed: lets idle systems plan again, if they would plan anything now.
    fn wake(&mut self, clock: u64) {
        for system in 0..self.systems.len() {
            if !self.systems[system].is_idle || self.systems[system].is_stopped {
                continue;
            }
            match self.call("ready", &[system as i64]) {
                0 => {}
                ready @ 1.. => {
                    self.systems[system].clock = clock;
                    self.systems[system].is_idle = ready == 0;
                    self.pause(system);
                }
                fault => {
                    let module = self.systems[system].module;
                    self.stop((system, module), -fault);
                }
            }
        }
    }

    /// Nothing can fire: lets time pass to the end of a delay, or ends the run.
    fn wait(&mut self) {
        if self.is_limited() {
            return self.end(Ending::Steps);
        }
        let next_ns = self.target.deadline_ns(self.now_ns);
        match (next_ns, self.until_ns) {
            (Some(next_ns), Some(until_ns)) if next_ns > until_ns => {
                self.now_ns = until_ns;
                self.end(Ending::Time);
            }
            (Some(next_ns), _) => {
                self.now_ns = next_ns;
                let clocks = self.systems.iter().map(|system| system.clock);
                self.wake(clocks.max().unwrap_or(0));
            }
            (None, _) => {
                let is_stopped = self.systems.iter().any(|system| system.is_stopped);
                self.end(if is_stopped {
                    Ending::Stopped
                } else {
                    Ending::Done
                });
            }
        }
    }

    fn is_limited(&self) -> bool {
        self.most.is_some_and(|most| self.steps >= most)
    }

    fn end(&mut self, ending: Ending) {
        self.is_over = true;
        self.lines.push_back(CompiledLine::End {
            time: self.time(),
            steps: self.steps,
            ending,
        });
    }
}

impl<T: Target> Iterator for CompiledRun<'_, T> {
    type Item = CompiledLine;

    fn next(&mut self) -> Option<CompiledLine> {
        while self.lines.is_empty() && !self.is_over {
            let acted = match self.choice {
                Choice::First => self.take_turn(),
                Choice::Seed(_) => self.act(),
            };
            if !acted {
                self.wait();
            }
        }
        self.lines.pop_front()
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
