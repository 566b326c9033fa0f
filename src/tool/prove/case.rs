//! Cases of counterexamples: `differs` writes one, which `loom test` plays.
//!
//! In: a counterexample, and the module before and behind the pass. Out: a case. Its calls come
//! from the arguments of the counterexample; both modules play them, and if a host can tell them
//! apart, the case is cut to the calls that matter. Otherwise the case says so, and names what no
//! call of it sets up.

use super::call::call;
use super::case_text::{Shown, Subject, file_name, text};
use super::scenes::{Scenes, end_ns, step, unplayed};
use crate::ir::Module;
use crate::prove::{Asked, Counterexample, Judged, Solver, from_outside};
use crate::simulate::externs::Externs;
use crate::simulate::trace::{Call, Trace};
use crate::tool::case::run::{Run, difference, played};
use std::fmt::Write;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// A frame is repeated so often where once shows nothing: caches remember the one before.
const REPEATED: usize = 3;

/// A timer that a counterexample starts has expired behind this time.
const LATER_NS: u64 = 3_600_000_000_000;

/// Makes the case of a counterexample.
pub fn shown(
    subject: &Subject<'_>,
    (pass, judged, found): (&str, &Judged, &Counterexample),
    (scenes, timeout_ms): (&Scenes, u64),
    solver: &mut Solver<'_>,
) -> Shown {
    let trace = first(subject, (&judged.reaction, found), scenes);
    let is_inside = called(subject, &judged.reaction, found).is_none();
    let trace = trace.or_else(|| {
        let states = &scenes.states[..];
        let asked = Asked { timeout_ms, states };
        let entries = entries(subject.modules[0]);
        let mut entries = entries.iter().filter(|_| is_inside);
        entries.find_map(|entry| {
            let [before, after] = subject.modules;
            let found = from_outside(before, after, entry, asked, solver)?;
            first(subject, (entry, &found), scenes)
        })
    });
    let differs = trace.is_some();
    let trace = match trace {
        Some(trace) => trace.shortened(|trace| is_seen(subject, trace)),
        None => attempt(subject, (&judged.reaction, found), scenes),
    };
    let fact = match differs {
        true => format!("Pass {pass} changes {}.\n", judged.function),
        false => unshown(subject, (pass, judged, found)),
    };
    Shown {
        name: file_name(&subject.modules[0].name, pass, &judged.function),
        text: text(subject, &fact, &trace),
        differs,
    }
}

/// Returns the names of reactions to frames, and to messages of applications.
fn entries(module: &Module) -> Vec<String> {
    let links = module.links.iter().map(|link| link.arrives);
    let ports = module.ports.iter().filter_map(|port| port.sends);
    let all = links.chain(ports);
    all.map(|id| module.function(id).name.clone()).collect()
}

/// Says what a case does not set up.
fn unshown(
    subject: &Subject<'_>,
    (pass, judged, found): (&str, &Judged, &Counterexample),
) -> String {
    let function = &judged.function;
    let mut fact = format!("This case does not show that pass {pass} changes {function}.\n\n");
    let why = if !Externs::default().missing(subject.program).is_empty() {
        "The stack calls functions in C, so nothing was played."
    } else if called(subject, &judged.reaction, found).is_none() {
        "No call of a host is its event alone, and no frame or message was found that leads there."
    } else {
        "Before and behind the pass, a host sees the same of these calls."
    };
    let _ = writeln!(fact, "{why}");
    let _ = writeln!(
        fact,
        "The calls below do not set up this state of the counterexample:"
    );
    for line in &found.lines {
        let _ = writeln!(fact, "    {line}");
    }
    fact
}

/// Returns the first trace of which a host sees another outcome behind the pass.
fn first(
    subject: &Subject<'_>,
    (reaction, found): (&str, &Counterexample),
    scenes: &Scenes,
) -> Option<Trace> {
    let mut order: Vec<usize> = (0..scenes.traces.len()).collect();
    order.sort_by_key(|at| Some(*at) != found.state);
    for at in order {
        let scene = &scenes.traces[at];
        let once = with_call(subject, (reaction, found), (scene, 1));
        let often = with_call(subject, (reaction, found), (scene, REPEATED));
        for trace in once.into_iter().chain(often).chain([scene.clone()]) {
            let mut later = trace.clone();
            later
                .steps
                .push(step(end_ns(&trace).saturating_add(LATER_NS), Call::Expire));
            let mut both = [trace, later].into_iter();
            if let Some(trace) = both.find(|trace| is_seen(subject, trace)) {
                return Some(trace);
            }
        }
    }
    None
}

/// Returns the trace that comes nearest to a counterexample.
fn attempt(
    subject: &Subject<'_>,
    (reaction, found): (&str, &Counterexample),
    scenes: &Scenes,
) -> Trace {
    let scene = scenes.traces.get(found.state.unwrap_or(0)).cloned();
    let [before, _] = subject.modules;
    let scene = scene.unwrap_or_else(|| unplayed(subject.program, before));
    let trace = with_call(subject, (reaction, found), (&scene, 1));
    trace.unwrap_or(scene)
}

/// Returns a scene, and behind it the call of a counterexample.
fn with_call(
    subject: &Subject<'_>,
    (reaction, found): (&str, &Counterexample),
    (scene, times): (&Trace, usize),
) -> Option<Trace> {
    let call = called(subject, reaction, found)?;
    let mut trace = scene.clone();
    let end_ns = end_ns(scene);
    let now_ns = found.now_ns.unwrap_or(0);
    let is_soon = now_ns >= end_ns && now_ns - end_ns < LATER_NS;
    let now_ns = if is_soon { now_ns } else { end_ns };
    let calls = std::iter::repeat_n(step(now_ns, call), times);
    trace.steps.extend(calls);
    Some(trace)
}

/// Returns the call that starts a reaction with the arguments of a counterexample.
fn called(subject: &Subject<'_>, reaction: &str, found: &Counterexample) -> Option<Call> {
    let known = (subject.program, subject.modules[0]);
    call(known, reaction, &found.arguments)
}

/// Returns true if a host sees another outcome behind the pass than before. A trap behind it
/// is one.
fn is_seen(subject: &Subject<'_>, trace: &Trace) -> bool {
    let externs = Externs::default();
    let [before, after] = subject.modules;
    let expected = played(before, subject.program, &externs, trace);
    let found = catch_unwind(AssertUnwindSafe(|| {
        played(after, subject.program, &externs, trace)
    }));
    found.map_or(true, |run: Run| difference(&expected, &run).is_some())
}
