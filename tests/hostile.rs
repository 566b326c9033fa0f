//! Frames that nobody should send, to the compiled C of every example, under the sanitizers:
//! changed, cut, repeated, overlapping, too long, all zero, all one, random.
//!
//! In: an example. Out: after every frame each frame has one fate, and no counter goes back; when
//! all timers have expired nothing is held and all buffers are free; the reference interpreter
//! counts the same. `SEED=n` chooses the frames, `HOSTILE=n` how many thousand.

#[path = "c_agrees/compiled.rs"]
mod compiled;
#[path = "c_agrees/externs.rs"]
mod externs;
#[path = "hostile/frames.rs"]
mod frames;
#[path = "c_agrees/glue.rs"]
mod glue;
#[path = "agree/headers.rs"]
mod headers;
#[path = "agree/random.rs"]
mod random;
#[path = "c_agrees/run.rs"]
mod run;
#[path = "c_agrees/stacks.rs"]
mod stacks;
#[path = "agree/traffic.rs"]
mod traffic;

use compiled::Compiled;
use random::Random;
use run::interpreted;
use stackloom::simulate::reference::Reference;
use stackloom::simulate::state::Limits;
use stackloom::simulate::trace::{Call, Seen, Step, Trace};
use stackloom::simulate::value::Datum;
use stackloom::tool::case::run::{Run, difference};
use stackloom::tool::case::script;
use stackloom::tool::layout::limits;
use stackloom::types::program::{NoticeId, PortId, Program};

/// Steps of an hour in which every timer expires.
const QUIET: u64 = 3600;

/// How many calls open conversations, or listen, before the frames come.
const OPENED: usize = 20;

const SECOND_NS: u64 = 1_000_000_000;

#[test]
fn ping_withstands_hostile_frames() {
    withstands("examples/ping/ping.loom");
}

#[test]
fn the_host_withstands_hostile_frames() {
    withstands("examples/host/host.loom");
}

#[test]
fn the_radio_withstands_hostile_frames() {
    withstands("examples/radio/radio.loom");
}

#[test]
fn two_ways_withstand_hostile_frames() {
    withstands("examples/radio/two_ways.loom");
}

#[test]
fn telemetry_withstands_hostile_frames() {
    withstands("examples/telemetry/telemetry.loom");
}

#[test]
fn stop_and_wait_withstands_hostile_frames() {
    withstands("examples/stop_and_wait/stop_and_wait.loom");
}

#[test]
fn listeners_withstand_hostile_frames() {
    withstands("tests/c_agrees/stacks/callers.loom");
    withstands("tests/c_agrees/stacks/letters.loom");
}

#[test]
fn repairing_layers_withstand_hostile_frames() {
    withstands("tests/c_agrees/stacks/repairing.loom");
}

#[test]
fn slots_withstand_hostile_frames() {
    withstands("tests/c_agrees/stacks/swapping.loom");
}

#[test]
fn options_withstand_hostile_frames() {
    withstands("tests/c_agrees/stacks/options.loom");
    withstands("tests/c_agrees/stacks/segments.loom");
    withstands("tests/c_agrees/stacks/coders.loom");
    withstands("tests/c_agrees/stacks/missing.loom");
}

#[test]
fn conversations_come_and_go_by_the_thousand() {
    let [built, _] = stacks::built("examples/host/host.loom");
    let program = &built.program;
    let ways = [("clang-16", "-O0")];
    let compiled = Compiled::new("thousands", program, (&built.module, &built.code), &ways);
    let mut random = Random(number("SEED").unwrap_or(1));
    let mut trace = traffic::trace(program, 1, 0, limits(&built.module));
    let port = PortId(0);
    let close = close(program, port).expect("a conversation can be closed");
    for at in 0..4_000 {
        let peer = [0x0a00_0001, 53].map(|number| Datum::some(Datum::Number(number)));
        let call = match random.percent(60) {
            true => Call::Open(port, [&[Datum::Absent][..], &peer].concat()),
            false => Call::Notice {
                port,
                session: random.below(256) as u32,
                notice: close,
                arguments: Vec::new(),
            },
        };
        trace.steps.push(Step {
            now_ns: trace.start_ns + at,
            call,
            takes: true,
        });
    }
    let (runs, said) = compiled.run(
        compiled.ways().next().expect("clang is there"),
        &[trace.clone()],
    );
    let expected = interpreted(Reference::new(program), program, &trace);
    assert_eq!(difference(&expected, &runs[0]), None, "{said}");
    let calls = trace.steps.iter().zip(&expected.seen);
    let opens = calls.filter(|(step, _)| matches!(step.call, Call::Open(..)));
    let (opened, refused): (Vec<_>, Vec<_>) = opens.partition(|(_, seen)| seen.returned.is_some());
    assert!(
        opened.len() > 1_500 && refused.len() > 100,
        "all 256 are in use now and then"
    );
}

fn withstands(path: &str) {
    let [built, _] = stacks::built(path);
    let program = &built.program;
    let compiled = Compiled::new(
        &format!("{path}/woven"),
        program,
        (&built.module, &built.code),
        &[("clang-16", "-O0")],
    );
    let seed = number("SEED").unwrap_or(1);
    let thousands = number("HOSTILE").unwrap_or(2);
    println!("SEED={seed}, {thousands} thousand frames");
    let usual = limits(&built.module);
    let trace = hostile(program, usual, seed, 1_000 * thousands as usize);
    let way = compiled.ways().next().expect("clang is there").to_string();
    let (runs, said) = compiled.run(&way, std::slice::from_ref(&trace));
    let run = &runs[0];
    let mut before: Option<&Seen> = None;
    for (at, seen) in run.seen.iter().enumerate() {
        if let Some(wrong) = wrong(before, seen) {
            panic!(
                "{path}, SEED={seed}: {wrong} after\n{}",
                shown(program, &trace, at)
            );
        }
        before = Some(seen);
    }
    let last = run.seen.len();
    assert!(
        last == trace.steps.len(),
        "{path}, SEED={seed}: it broke after\n{}\n{said}",
        shown(program, &trace, last.min(trace.steps.len() - 1))
    );
    at_rest(program, &trace, run);
    println!("{}", counted(&run.seen[last - 1]));
    let expected = interpreted(Reference::new(program), program, &trace);
    if let Some(difference) = difference(&expected, run) {
        panic!("{path}, SEED={seed}: {difference}");
    }
}

/// Opened conversations, hostile frames, and when all are closed an hour of silence.
fn hostile(program: &Program, usual: Limits, seed: u64, count: usize) -> Trace {
    let mut random = Random(seed);
    let mut trace = traffic::trace(program, seed, 300, usual.clone());
    let captured = trace.steps.iter().filter_map(|step| match &step.call {
        Call::Input(link, frames) => Some(frames.iter().map(|frame| (*link, frame.clone()))),
        _ => None,
    });
    let captured = captured.flatten().collect();
    let room = usual.room;
    let opened =
        |step: &Step| matches!(step.call, Call::Open(..) | Call::Listen(..) | Call::Expire);
    trace.steps.retain(opened);
    trace.steps.truncate(OPENED);
    trace.steps.iter_mut().for_each(|step| step.takes = true);
    let mut now_ns = trace
        .steps
        .last()
        .map_or(trace.start_ns, |step| step.now_ns);
    let mut step = |now_ns, call| {
        trace.steps.push(Step {
            now_ns,
            call,
            takes: true,
        });
    };
    for (link, frame) in frames::hostile(captured, &mut random, room).take(count) {
        now_ns += random.next() % 200_000;
        step(now_ns, Call::Input(link, vec![frame]));
        if random.percent(2) {
            now_ns += random.next() % SECOND_NS;
            step(now_ns, Call::Expire);
        }
    }
    for port in (0..program.ports.len() as u32).map(PortId) {
        let Some(notice) = close(program, port) else {
            continue;
        };
        for session in 0..OPENED as u32 {
            let arguments = Vec::new();
            let closed = Call::Notice {
                port,
                session,
                notice,
                arguments,
            };
            step(now_ns, closed);
        }
    }
    for _ in 0..QUIET {
        now_ns += SECOND_NS;
        step(now_ns, Call::Expire);
    }
    trace
}

/// How an application ends a conversation, where it can: what keeps beating keeps buffers.
fn close(program: &Program, port: PortId) -> Option<NoticeId> {
    let mut down = program.ports[port.at()].down.iter().copied();
    down.find(|notice| program.notices[notice.at()].name == "close")
}

/// What is wrong with the counters, if anything is.
fn wrong(before: Option<&Seen>, seen: &Seen) -> Option<String> {
    let value = |name: &str| {
        let mut all = seen.counters.iter();
        all.find(|(of, _)| **of == *name)
            .map_or(0, |(_, value)| *value)
    };
    let is_drop = |name: &str| name.contains('.') && !name.contains(' ');
    let drops = seen.counters.iter().filter(|(name, _)| is_drop(name));
    let dropped: u64 = drops.map(|(_, value)| value).sum();
    let fates = ["delivered", "consumed", "merged", "held"].map(value);
    let all = fates.iter().sum::<u64>() + dropped;
    if all != value("frames_in") {
        return Some(format!(
            "{} frames came in and have {all} fates",
            value("frames_in")
        ));
    }
    let before = &before?.counters;
    let mut pairs = before.iter().zip(&seen.counters);
    let (name, value) = pairs
        .find(|((name, before), (_, now))| **name != *"held" && now < before)
        .map(|((name, _), (_, now))| (name, now))?;
    Some(format!("{name} went back to {value}"))
}

/// What the frames met: the counters that are not zero.
fn counted(seen: &Seen) -> String {
    let all = seen.counters.iter().filter(|(_, value)| *value > 0);
    let all: Vec<String> = all.map(|(name, value)| format!("{name} {value}")).collect();
    all.join(", ")
}

/// When all is quiet, nothing is held and nothing is lost.
fn at_rest(program: &Program, trace: &Trace, run: &Run) {
    let last = run.seen.last().expect("there are steps");
    let held = last.counters.iter().find(|(name, _)| **name == *"held");
    assert_eq!(held, Some(&("held".into(), 0)), "{}", program.name);
    let limits = &trace.limits;
    let free = u64::from(limits.buffers - limits.reserve);
    assert_eq!(run.free_buffers, free, "{}: buffers are lost", program.name);
}

/// The last calls up to this one, as a case.
fn shown(program: &Program, trace: &Trace, at: usize) -> String {
    let mut short = trace.clone();
    short.steps.truncate(at + 1);
    short.steps.drain(..at.saturating_sub(5));
    script::written(program, &short, &trace.limits)
}

fn number(name: &str) -> Option<u64> {
    let value = std::env::var(name).ok();
    value.map(|value| value.parse().expect("it is a number"))
}
