//! The turns of systems: in, systems that select and execute; out, which of them acts next.
//!
//! Systems are independent. By first choices they take turns in order of creation, a whole step
//! each. (our decision) By seed each system has a clock of its own, which each selection and each
//! execution moves on by a random amount (N3), and the system whose clock is least acts next. Where
//! nothing can fire, time passes to the next end of a delay. If steps take time, a system selects
//! again when its last step has taken that long; meanwhile the others go on.

use super::choice::Choices;
use super::trace::Ending;

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

/// The result of a selection.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Selection {
    /// Transitions, which wait for their execution.
    Some,
    /// No transition.
    None,
    /// A fault has stopped the system.
    Stopped,
}

/// The systems of a specification, by their numbers from 0, and their time.
pub trait Systems {
    /// The number of systems.
    fn count(&self) -> usize;

    /// Returns true for a system that a fault has stopped.
    fn is_stopped(&self, system: usize) -> bool;

    /// Returns true for a system with transitions that were selected and have not fired.
    fn is_within_step(&self, system: usize) -> bool;

    /// Selects the transitions of the next step of a system.
    fn select(&mut self, system: usize) -> Selection;

    /// Executes the next transition that was selected.
    fn execute(&mut self, system: usize);

    /// Returns true if a system would select a transition. A fault stops it.
    fn yields(&mut self, system: usize) -> bool;

    /// Draws a number below [`PACE`] for a system.
    fn pace(&mut self, system: usize) -> u64;

    /// The time.
    fn time(&self) -> u64;

    /// The next time at which a delay ends; none if no delay runs.
    fn next_time(&mut self) -> Option<u64>;

    /// Lets time pass.
    fn wait_until(&mut self, time: u64);

    /// The ending, where nothing can fire any more.
    fn quiescent(&self) -> Ending;
}

/// The length of a run and of its steps. Times are in the unit of the systems.
#[derive(Clone, Copy, Default, Debug)]
pub struct Course {
    /// The most steps of all systems together.
    pub steps: Option<u64>,
    /// The last time.
    pub until: Option<u64>,
    /// The time that a step of a system takes.
    pub step_time: u64,
}

impl Course {
    /// The course of a run that ends behind so many steps of all systems together.
    pub const fn of_steps(most: u64) -> Course {
        Course {
            steps: Some(most),
            until: None,
            step_time: 0,
        }
    }
}

/// The turns of one run.
#[derive(Debug)]
pub struct Turns {
    choice: Choice,
    course: Course,
    paces: Vec<Pace>,
    /// By first choices: the system whose turn is next.
    turn: usize,
    steps: u64,
}

/// The speed of a system, by seed.
#[derive(Clone, Copy, Default, Debug)]
struct Pace {
    /// Its clock, which has nothing to do with the time of the specification.
    clock: u64,
    /// True if it has nothing to select.
    is_idle: bool,
    /// The time at which its last step is over.
    free_at: u64,
}

impl Turns {
    /// Returns the turns of a run.
    pub fn new(choice: Choice, course: Course, systems: &mut impl Systems) -> Turns {
        let mut turns = Turns {
            choice,
            course,
            paces: vec![Pace::default(); systems.count()],
            turn: 0,
            steps: 0,
        };
        (0..turns.paces.len()).for_each(|system| turns.pause(systems, system));
        turns
    }

    /// The steps of all systems.
    pub fn steps(&self) -> u64 {
        self.steps
    }

    /// Lets one system act, or time pass. Returns the ending of the run, if it is over.
    pub fn advance(&mut self, systems: &mut impl Systems) -> Option<Ending> {
        let has_acted = match self.choice {
            Choice::First => self.take_turn(systems),
            Choice::Seed(_) => self.act(systems),
        };
        match has_acted {
            true => None,
            false => self.wait(systems),
        }
    }

    /// By first choices: lets the next system that can do a whole step do it.
    fn take_turn(&mut self, systems: &mut impl Systems) -> bool {
        let count = self.paces.len();
        for system in (self.turn..count).chain(0..self.turn) {
            if systems.is_stopped(system) || self.is_busy(systems, system) || self.is_limited() {
                continue;
            }
            let selected = self.select(systems, system);
            while systems.is_within_step(system) {
                systems.execute(system);
            }
            if selected != Selection::None {
                self.turn = (system + 1) % count;
                return true;
            }
        }
        false
    }

    /// By seed: lets the system with the least clock select or execute.
    fn act(&mut self, systems: &mut impl Systems) -> bool {
        let is_limited = self.is_limited();
        let ready = |system: &usize| {
            let is_free = !self.paces[*system].is_idle && !self.is_busy(systems, *system);
            let may_select = is_free && !is_limited;
            !systems.is_stopped(*system) && (may_select || systems.is_within_step(*system))
        };
        let least = (0..self.paces.len())
            .filter(ready)
            .min_by_key(|system| self.paces[*system].clock);
        let Some(system) = least else {
            return false;
        };
        match systems.is_within_step(system) {
            true => {
                systems.execute(system);
                self.wake(systems, self.paces[system].clock);
            }
            false => {
                self.select(systems, system);
            }
        }
        // The next selection is tried at once, so that an idle system draws nothing.
        if systems.is_within_step(system) || !self.paces[system].is_idle {
            self.pause(systems, system);
        }
        true
    }

    fn select(&mut self, systems: &mut impl Systems, system: usize) -> Selection {
        let selected = systems.select(system);
        match selected {
            Selection::Some => {
                self.paces[system].is_idle = false;
                let end = systems.time().saturating_add(self.course.step_time);
                self.paces[system].free_at = end;
                self.steps += 1;
            }
            Selection::None => self.paces[system].is_idle = true,
            Selection::Stopped => {}
        }
        selected
    }

    /// By seed: moves the clock of a system on.
    fn pause(&mut self, systems: &mut impl Systems, system: usize) {
        if let Choice::Seed(_) = self.choice {
            self.paces[system].clock += 1 + systems.pace(system);
        }
    }

    /// By seed: lets idle systems select again, if they would select anything now.
    fn wake(&mut self, systems: &mut impl Systems, clock: u64) {
        for system in 0..self.paces.len() {
            let is_idle = self.paces[system].is_idle && !systems.is_stopped(system);
            if is_idle && systems.yields(system) {
                self.paces[system].clock = clock;
                self.paces[system].is_idle = false;
                self.pause(systems, system);
            }
        }
    }

    /// Nothing can fire: lets time pass to the end of a delay or a step, or ends the run.
    fn wait(&mut self, systems: &mut impl Systems) -> Option<Ending> {
        if self.is_limited() {
            return Some(Ending::Steps);
        }
        let over = self.ends_of_steps(systems).min();
        let next = systems.next_time().into_iter().chain(over).min();
        match (next, self.course.until) {
            (Some(next), Some(until)) if next > until => {
                systems.wait_until(until);
                Some(Ending::Time)
            }
            (Some(next), _) => {
                systems.wait_until(next);
                let clocks = self.paces.iter().map(|pace| pace.clock);
                self.wake(systems, clocks.max().unwrap_or(0));
                None
            }
            (None, _) => Some(systems.quiescent()),
        }
    }

    fn is_limited(&self) -> bool {
        self.course.steps.is_some_and(|most| self.steps >= most)
    }

    /// Returns true for a system whose last step is not over.
    fn is_busy(&self, systems: &impl Systems, system: usize) -> bool {
        self.paces[system].free_at > systems.time()
    }

    /// The times at which steps of busy systems are over.
    fn ends_of_steps(&self, systems: &impl Systems) -> impl Iterator<Item = u64> {
        let all = 0..self.paces.len();
        let busy = all.filter(|at| self.is_busy(systems, *at) && !systems.is_stopped(*at));
        busy.map(|at| self.paces[at].free_at)
    }
}
