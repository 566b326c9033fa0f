//! Enabled, time-enabled and fireable transitions, and their clocks (A.4 of the design).
//!
//! Enabled: the state is one of `from`, the head of the queue is the interaction of `when` and came
//! through its point, `provided` holds. Time-enabled: also its clock, if it has a delay, has run
//! long enough. Fireable: time-enabled, and of the highest priority among those.
//!
//! A clock starts when its transition becomes enabled, and again when it fires. It stops when the
//! transition is disabled. It goes on while other transitions of the instance fire. (our decision)

use super::Machine;
use crate::simulate::estelle::choice::{Choices, Source};
use crate::simulate::estelle::fault::{Fault, FaultKind, Faulty};
use crate::simulate::estelle::situation::{Clock, InstanceId, Pending};
use crate::simulate::estelle::value::Value;
use crate::types::estelle::program::{Attribute, Delay, Most, Transition};
use std::rc::Rc;

/// A delay with at most so many whole units between its bounds is explored exactly.
const EXACT_WINDOW: u64 = 8;

/// By seed, `delay(E1,*)` ends at most this long, or another E1, after E1. (our decision)
const LEAST_PATIENCE: u64 = 10;

impl<'p> Machine<'p, '_> {
    /// `select(M)`: an instance that offers a transition runs alone, without its children. Else all
    /// children of a process run, or one child of an activity.
    pub fn select(&mut self, id: InstanceId) -> Faulty<Vec<Pending>> {
        let fireable = self.fireable(id)?;
        if !fireable.is_empty() {
            let path = Rc::clone(&self.situation.instance(id).path);
            let count = fireable.len() as u64;
            let chosen = self.choices.choose(Source::Offer, &path, count);
            return Ok(vec![Pending {
                instance: id,
                transition: fireable[chosen as usize],
            }]);
        }
        let children = self.situation.instance(id).children.clone();
        match self.attribute(id) {
            Some(Attribute::SystemProcess | Attribute::Process) => {
                let mut selected = Vec::new();
                for child in children {
                    selected.extend(self.select(child)?);
                }
                Ok(selected)
            }
            Some(Attribute::SystemActivity | Attribute::Activity) => {
                let mut yielding = Vec::new();
                for child in children {
                    if self.yields(child)? {
                        yielding.push(child);
                    }
                }
                if yielding.is_empty() {
                    return Ok(Vec::new());
                }
                let path = Rc::clone(&self.situation.instance(id).path);
                let count = yielding.len() as u64;
                let chosen = self.choices.choose(Source::Child, &path, count);
                self.select(yielding[chosen as usize])
            }
            None => Ok(Vec::new()),
        }
    }

    /// Returns true if `select` yields a transition. It draws no choices.
    pub fn yields(&mut self, id: InstanceId) -> Faulty<bool> {
        if !self.fireable(id)?.is_empty() {
            return Ok(true);
        }
        if self.attribute(id).is_none() {
            return Ok(false);
        }
        for child in self.situation.instance(id).children.clone() {
            if self.yields(child)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Returns the fireable transitions of an instance, in order of declaration.
    pub fn fireable(&mut self, id: InstanceId) -> Faulty<Vec<usize>> {
        self.within(id, |machine| {
            let body = machine.body();
            let mut enabled = Vec::new();
            for (number, transition) in body.transitions.iter().enumerate() {
                if machine.is_timely(number, transition) && machine.is_enabled(transition)? {
                    enabled.push((number, rank(transition)));
                }
            }
            let best = enabled.iter().map(|(_, rank)| *rank).min();
            let best = enabled.iter().filter(|(_, rank)| Some(*rank) == best);
            Ok(best.map(|(number, _)| *number).collect())
        })
    }

    /// Starts and stops the clocks of an instance, after a firing of its own, of its parent or of
    /// one of its children. `fired` is its transition that has just fired: its clock starts anew.
    pub fn update_clocks(&mut self, id: InstanceId, fired: Option<usize>) -> Faulty<()> {
        self.within(id, |machine| {
            let body = machine.body();
            for (number, transition) in body.transitions.iter().enumerate() {
                let Some(delay) = &transition.delay else {
                    continue;
                };
                let running = machine.situation.instance(id).clocks[number];
                let running = running.filter(|_| fired != Some(number));
                let clock = match machine.is_enabled(transition)? {
                    true if running.is_some() => running,
                    true => Some(machine.start_clock(transition, delay)?),
                    false => None,
                };
                if machine.situation.instance(id).clocks[number] != clock {
                    machine.situation.change(id).clocks[number] = clock;
                }
            }
            Ok(())
        })
    }

    /// Tells whether a transition has no delay, or one that has passed.
    fn is_timely(&mut self, number: usize, transition: &Transition) -> bool {
        if transition.delay.is_none() {
            return true;
        }
        let (id, now) = (self.current(), self.situation.time);
        match self.situation.instance(id).clocks[number] {
            None => false,
            Some(clock) if now < clock.from => false,
            Some(Clock { until, .. }) if until.is_some_and(|until| now >= until) => true,
            Some(_) => self.uses_window(id, number),
        }
    }

    /// Chooses whether a transition between the bounds of its delay may fire now. The answer is the
    /// same in the whole selection.
    fn uses_window(&mut self, id: InstanceId, number: usize) -> bool {
        let mut known = self.windows.iter();
        if let Some((_, answer)) = known.find(|(key, _)| *key == (id, number)) {
            return *answer;
        }
        let path = Rc::clone(&self.situation.instance(id).path);
        let answer = self.choices.choose(Source::Time, &path, 2) == 0;
        self.windows.push(((id, number), answer));
        answer
    }

    /// Tells whether a transition of the current instance is enabled, without its delay.
    fn is_enabled(&mut self, transition: &'p Transition) -> Faulty<bool> {
        let instance = self.situation.instance(self.current());
        let is_here = transition.from.is_empty()
            || instance
                .state
                .is_some_and(|state| transition.from.contains(&state));
        if !is_here {
            return Ok(false);
        }
        let mut values: Vec<Value> = Vec::new();
        if let Some(when) = transition.when {
            let point = self.own_point(when.points, when.element).point;
            let queue = self.fixed.layouts[instance.body.index()].points[point].queue;
            let Some(head) = instance.queues[queue].front() else {
                return Ok(false);
            };
            if head.point != point || head.interaction != when.interaction {
                return Ok(false);
            }
            if transition.provided.is_some() {
                values.clone_from(&head.values);
            }
        }
        let Some(condition) = &transition.provided else {
            return Ok(true);
        };
        self.enter(transition, &values);
        let holds = self.holds(condition)?;
        self.leave();
        Ok(holds)
    }

    /// Evaluates the bounds of a delay and starts its clock.
    fn start_clock(&mut self, transition: &'p Transition, delay: &'p Delay) -> Faulty<Clock> {
        self.enter(transition, &[]);
        let least = self.ordinal(&delay.least)?;
        let most = match &delay.most {
            Most::Same => Some(least),
            Most::Unbounded => None,
            Most::Given(most) => Some(self.ordinal(most)?),
        };
        self.leave();
        if least < 0 || most.is_some_and(|most| most < least) {
            let most = most.map_or_else(|| "*".to_string(), |most| most.to_string());
            let says = format!("a delay from {least} to {most}");
            return Fault::err(FaultKind::DelayOrder, says, delay.least.span);
        }
        let start = self.situation.time + least as u64;
        let window = most.map(|most| (most - least) as u64);
        let path = Rc::clone(&self.situation.instance(self.current()).path);
        let is_open = matches!(self.choices, Choices::Scripted(_))
            && window.is_none_or(|window| window > EXACT_WINDOW);
        if is_open {
            return Ok(Clock {
                from: start,
                until: window.map(|window| start + window),
            });
        }
        let window = window.unwrap_or((least as u64).max(LEAST_PATIENCE));
        let from = start + self.choices.choose(Source::Time, &path, window + 1);
        Ok(Clock {
            from,
            until: Some(from),
        })
    }

    fn attribute(&self, id: InstanceId) -> Option<Attribute> {
        let body = self.situation.instance(id).body;
        self.fixed.program.bodies[body.index()].attribute
    }
}

/// The priority of a transition for comparisons: none is lower than all.
fn rank(transition: &Transition) -> (bool, u64) {
    (
        transition.priority.is_none(),
        transition.priority.unwrap_or(0),
    )
}
