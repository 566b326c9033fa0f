//! Puts what happens into lines of a trace, and counts faults and lost interactions.

use super::fault::Fault;
use super::situation::Situation;
use super::stepper::{Fired, Stopped};
use super::trace::{Effect, FaultLine, Line, Start, Step};
use crate::source::Sources;
use std::collections::BTreeMap;

/// The state of a trace.
#[derive(Clone, Default, Debug)]
pub struct Recorder<'p> {
    /// The texts, for the places of faults.
    pub sources: Option<&'p Sources>,
    /// For each system: the number of its steps.
    pub steps: Vec<u64>,
    /// Counts by name.
    pub counters: BTreeMap<&'static str, u64>,
}

impl Recorder<'_> {
    /// Returns the lines of the initialisation.
    pub fn start(&mut self, situation: &Situation, fired: Fired) -> Vec<Line> {
        self.steps = vec![0; situation.systems.len()];
        self.count(&fired.effects);
        let mut lines = vec![Line::Start(Start {
            specification: fired.instance,
            to: fired.to,
            effects: fired.effects,
        })];
        lines.extend(fired.stopped.map(|stopped| self.fault(0, 0, &stopped)));
        lines
    }

    /// Returns the lines of an execution.
    pub fn step(&mut self, situation: &Situation, system: usize, fired: Fired) -> Vec<Line> {
        self.count(&fired.effects);
        let system_instance = situation.systems[system].instance;
        let step = self.steps[system];
        let mut lines = vec![Line::Step(Step {
            step,
            time: situation.time,
            system: situation.instance(system_instance).path.to_string(),
            instance: fired.instance,
            from: fired.from,
            to: fired.to,
            transition: fired.transition,
            number: fired.number,
            input: fired.input,
            effects: fired.effects,
        })];
        let time = situation.time;
        lines.extend(
            fired
                .stopped
                .map(|stopped| self.fault(step, time, &stopped)),
        );
        lines
    }

    /// Returns the line of a fault, and counts it.
    pub fn fault(&mut self, step: u64, time: u64, stopped: &Stopped) -> Line {
        let fault = &stopped.fault;
        *self.counters.entry(fault.kind.name()).or_default() += 1;
        Line::Fault(FaultLine {
            step,
            time,
            instance: stopped.instance.clone(),
            fault: fault.kind.name(),
            says: fault.says.clone(),
            place: self.place(fault),
            span: fault.span,
        })
    }

    fn place(&self, fault: &Fault) -> Option<String> {
        let sources = self.sources?;
        let position = sources.position(fault.span);
        let name = sources.name(fault.span.file);
        Some(format!("{name}:{}:{}", position.line, position.column))
    }

    fn count(&mut self, effects: &[Effect]) {
        for effect in effects {
            let (name, count) = match effect {
                Effect::Unconnected(_) => ("unconnected", 1),
                Effect::Release { lost, .. } => ("released_with", *lost),
                Effect::Terminate { lost, .. } => ("terminated_with", *lost),
                Effect::Output(_) | Effect::Init(_) | Effect::Moved { .. } => continue,
            };
            if count > 0 {
                *self.counters.entry(name).or_default() += count;
            }
        }
    }
}
