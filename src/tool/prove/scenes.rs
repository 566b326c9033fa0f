//! Scenes: states that a stack reaches by a few calls of its host.
//!
//! In: a program and its module. Out: the calls that lead to each scene, and its state, as far as
//! the prover can use it: a counterexample in this state is one that a case can show.
//!
//! ```text
//! the start | all ports opened | a message sent by each | and all timers expired once
//! ```

use crate::ir::{FieldId, KindId, Module, Op, Region, SettingId, Stored, Type};
use crate::prove::{MOST_ELEMENTS, Reachable};
use crate::simulate::externs::Externs;
use crate::simulate::machine::driver::Driven;
use crate::simulate::machine::values::Held;
use crate::simulate::trace::{Call, Driver, Step, Trace};
use crate::simulate::value::Datum;
use crate::tool::layout::limits;
use crate::types::program::{KindId as ProgramKind, PortId, Program};

/// Instances of a kind whose fields are read, at most.
const MOST_INSTANCES: usize = 16;

/// Sessions that may wait to be accepted.
const BACKLOG: u32 = 2;

/// Scenes of a stack.
#[derive(Default)]
pub struct Scenes {
    /// The calls that lead to each, from the start of the stack on.
    pub traces: Vec<Trace>,
    /// Their states.
    pub states: Vec<Reachable>,
}

impl Scenes {
    /// Returns those of a module; none if it calls functions in C, which no interpreter has.
    pub fn of(program: &Program, module: &Module) -> Scenes {
        let externs = Externs::default();
        if !externs.missing(program).is_empty() {
            return Scenes::default();
        }
        let Some(start) = start(program, module) else {
            return Scenes::default();
        };
        let mut scenes = Scenes::default();
        let mut trace = start;
        for calls in [Vec::new(), opened(program), sent(program)] {
            for call in calls {
                trace.steps.push(step(0, call));
            }
            scenes.add((program, module, &externs), &trace);
        }
        let deadline_ns = scenes.deadline_ns((program, module, &externs), &trace);
        if let Some(deadline_ns) = deadline_ns {
            trace.steps.push(step(deadline_ns, Call::Expire));
            scenes.add((program, module, &externs), &trace);
        }
        scenes
    }

    fn add(&mut self, (program, module, externs): Stack<'_>, trace: &Trace) {
        if self.traces.contains(trace) {
            return;
        }
        if let Some(driven) = driven((program, module, externs), trace) {
            self.states.push(state(module, &driven, end_ns(trace)));
            self.traces.push(trace.clone());
        }
    }

    fn deadline_ns(&self, stack: Stack<'_>, trace: &Trace) -> Option<u64> {
        driven(stack, trace)?.machine().deadline_ns()
    }
}

/// A program with its module and what it calls in C.
type Stack<'s> = (&'s Program, &'s Module, &'s Externs<'s>);

/// Returns a call of a host that then takes all outputs.
pub fn step(now_ns: u64, call: Call) -> Step {
    let takes = true;
    Step {
        now_ns,
        call,
        takes,
    }
}

/// Returns the time of the last call.
pub fn end_ns(trace: &Trace) -> u64 {
    trace
        .steps
        .last()
        .map_or(trace.start_ns, |step| step.now_ns)
}

/// Returns the start of a stack: settings without a default are zero, or one if it needs that.
fn start(program: &Program, module: &Module) -> Option<Trace> {
    let externs = Externs::default();
    let traces = [0, 1].map(|number| Trace {
        config: settings(program, number),
        limits: limits(module),
        start_ns: 0,
        steps: Vec::new(),
    });
    let mut traces = traces.into_iter();
    traces.find(|trace| driven((program, module, &externs), trace).is_some())
}

/// Returns a trace without calls whose settings are at their defaults, or else zero.
pub fn unplayed(program: &Program, module: &Module) -> Trace {
    Trace {
        config: settings(program, 0),
        limits: limits(module),
        start_ns: 0,
        steps: Vec::new(),
    }
}

fn settings(program: &Program, number: u64) -> Vec<Datum> {
    let all = program.config.iter().map(|config| {
        let empty = || match Datum::empty(program, &config.kind) {
            Datum::Number(_) => Datum::Number(number),
            other => other,
        };
        let default = config.default.as_ref();
        default.map_or_else(empty, |value| Datum::of(program, value, &config.kind))
    });
    all.collect()
}

/// Runs a trace.
fn driven<'s>((program, module, externs): Stack<'s>, trace: &Trace) -> Option<Driven<'s>> {
    let (config, limits) = (&trace.config, trace.limits.clone());
    let start_ns = trace.start_ns;
    let mut driven = Driven::start(module, program, externs, config, limits, start_ns)?;
    for step in &trace.steps {
        driven.step(step);
    }
    Some(driven)
}

/// Returns the calls that open a session at each port, or a listener.
fn opened(program: &Program) -> Vec<Call> {
    let keys = |kind: ProgramKind| {
        let keys = program.kinds[kind.at()].keys.iter();
        let keys = keys.map(|key| Datum::empty(program, &key.kind));
        keys.collect::<Vec<Datum>>()
    };
    let mut calls = Vec::new();
    for (port, one) in (0..).map(PortId).zip(&program.ports) {
        if let Some(listens) = &one.listens {
            calls.push(Call::Listen(port, keys(listens.listener), BACKLOG));
        }
        calls.extend(one.opens.map(|kind| Call::Open(port, keys(kind))));
    }
    calls
}

/// Returns the calls that send a message of one byte by each port.
fn sent(program: &Program) -> Vec<Call> {
    let ports = (0..).map(PortId).zip(&program.ports);
    let ports = ports.filter(|(_, port)| port.passes);
    let calls = ports.map(|(port, _)| Call::Send {
        port,
        session: 0,
        attributes: Vec::new(),
        bytes: vec![0],
    });
    calls.collect()
}

/// Returns the state of a stack.
fn state(module: &Module, driven: &Driven<'_>, now_ns: u64) -> Reachable {
    let machine = driven.machine();
    let mut state = Reachable {
        now_ns,
        ..Reachable::default()
    };
    for (kind, table) in (0..).map(KindId).zip(&module.kinds) {
        let live = machine.live(kind);
        if live.len() > MOST_INSTANCES {
            continue;
        }
        for (field, one) in (0..).map(FieldId).zip(&table.fields) {
            let Stored::Value(of) = one.stored else {
                continue;
            };
            let places = places(&live, &one.dimensions);
            if places.len() > MOST_ELEMENTS {
                continue;
            }
            let held = places.into_iter().filter_map(|place| {
                let held = machine.element(Region::Field(kind, field), &place)?;
                Some((place, constant(of, &held)?))
            });
            state.fields.insert((kind, field), held.collect());
        }
        state.live.insert(kind, live.into_iter().collect());
    }
    for (at, held) in machine.settings().iter().enumerate() {
        let of = module.settings[at].of;
        let setting = SettingId(at as u32);
        state
            .settings
            .extend(constant(of, held).map(|one| (setting, one)));
    }
    state
}

/// Returns the places of all elements of a field, of some instances.
fn places(live: &[u32], dimensions: &[u32]) -> Vec<Vec<u32>> {
    let mut places: Vec<Vec<u32>> = live.iter().map(|index| vec![*index]).collect();
    for length in dimensions {
        if places.len() * *length as usize > MOST_ELEMENTS {
            return vec![Vec::new(); MOST_ELEMENTS + 1];
        }
        let longer = places.iter().flat_map(|place| {
            let all = (0..*length).map(|at| [&place[..], &[at]].concat());
            all.collect::<Vec<Vec<u32>>>()
        });
        places = longer.collect();
    }
    places
}

/// Returns a value as a constant of the IR.
fn constant(of: Type, held: &Held) -> Option<Op> {
    match (of, held) {
        (Type::Int(bits), Held::Number(number)) => Some(Op::Number(bits, *number)),
        (Type::Instance(kind), Held::Number(number)) => {
            Some(Op::Instance(kind, u32::try_from(*number).ok()?))
        }
        (Type::Bytes(_), Held::Bytes(bytes)) => Some(Op::Bytes(bytes.to_vec())),
        _other => None,
    }
}
