//! Compiled C does what its trees say, on random traces: every output, counter and deadline
//! after every call of the host, under the sanitizers.
//!
//! That the trees do what the program says is shown by `agree.rs`.
//!
//! In: programs. Out: the first difference, with its seed and the shortest trace that shows it.
//! `AGREE_SEED` runs one seed alone, `AGREE_SEEDS` so many.

#[path = "compiled/driver.rs"]
mod driver;
#[path = "agree/random.rs"]
mod random;
#[path = "agree/traffic.rs"]
mod traffic;

use driver::{Compiled, compile};
use stackloom::emit;
use stackloom::pipeline;
use stackloom::reactive::lower;
use stackloom::simulate::stack::Stack;
use stackloom::simulate::state::Limits;
use stackloom::simulate::trace::{Difference, Driver, Shown, Trace};
use stackloom::simulate::trees::Trees;
use stackloom::tree::Forest;
use stackloom::types::program::Program;
use stackloom::weave::{self, weave};
use std::collections::BTreeMap;
use std::path::Path;

/// Calls of a trace.
const LENGTH: usize = 200;

/// All files of the library, by the path under which they are used.
fn library() -> BTreeMap<String, String> {
    let mut texts = BTreeMap::new();
    let mut folders = vec![Path::new("layers").to_path_buf()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).expect("the library is there") {
            let path = entry.expect("its entries can be read").path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|ending| ending == "loom") {
                let text = std::fs::read_to_string(&path).expect("a text");
                let name = path.strip_prefix("layers").expect("found there");
                texts.insert(name.to_string_lossy().replace('\\', "/"), text);
            }
        }
    }
    texts
}

/// The C of an example agrees with its program, woven or not.
fn example_agrees(file: &str, name: &str) {
    let text = std::fs::read_to_string(file).expect("an example");
    let mut checked = pipeline::read(vec![(file.to_string(), text)], &library());
    let (program, diagnostics) =
        stackloom::types::check_stack(&checked.sources, &checked.files, name);
    checked.diagnostics.extend(diagnostics);
    let program = program.unwrap_or_else(|| panic!("{:?}", checked.diagnostics));
    let plain = lower(&program).expect("it has trees");
    let (woven, _) = weave(&program, plain.clone(), weave::Limits::default());
    for (form, forest) in [("plain", plain), ("woven", woven)] {
        let files = emit::c(&checked.sources, &program, &forest);
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("compiled_{name}_{form}"));
        let compiled = compile(&program, &files, &folder);
        for seed in seeds() {
            agrees(&program, &forest, &compiled, seed);
        }
    }
}

fn agrees(program: &Program, forest: &Forest, compiled: &Compiled<'_>, seed: u64) {
    let mut trace = traffic::trace(program, seed, LENGTH, limits(seed));
    trace.steps.iter_mut().for_each(|step| step.takes = true);
    if let Some(difference) = differs(program, forest, compiled, &trace) {
        let short = trace.shortened(|trace| differs(program, forest, compiled, trace).is_some());
        let last = differs(program, forest, compiled, &short).unwrap_or(difference);
        panic!("seed {seed}\n{}{last}", Shown(program, &short));
    }
}

/// Where the C does something else than its trees.
fn differs(
    program: &Program,
    forest: &Forest,
    compiled: &Compiled<'_>,
    trace: &Trace,
) -> Option<Difference> {
    let trees = Trees::new(program, forest);
    let (config, limits) = (trace.config.clone(), trace.limits);
    let mut trees = Stack::start(trees, program, config, limits, trace.start_ns);
    let all = compiled.run(trace);
    for (at, (step, other)) in trace.steps.iter().zip(all).enumerate() {
        let one = trees.step(step);
        if one != other {
            return Some(Difference {
                step: at,
                one,
                other,
            });
        }
    }
    None
}

fn seeds() -> std::ops::Range<u64> {
    let number = |name: &str| {
        let value = std::env::var(name).ok();
        value.map(|value| value.parse().expect("a seed is a number"))
    };
    match number("AGREE_SEED") {
        Some(seed) => seed..seed + 1,
        None => 0..number("AGREE_SEEDS").unwrap_or(8),
    }
}

/// Sometimes there are few buffers.
fn limits(seed: u64) -> Limits {
    let few = Limits {
        buffers: 9 + seed as u32 % 8,
        ..Limits::default()
    };
    let limits = if seed % 4 == 1 {
        few
    } else {
        Limits::default()
    };
    Limits {
        agenda: usize::MAX,
        ..limits
    }
}

#[test]
fn the_c_of_ping_does_what_it_says() {
    example_agrees("examples/ping/ping.loom", "ping");
}

#[test]
fn the_c_of_the_host_does_what_it_says() {
    example_agrees("examples/host/host.loom", "host");
}

#[test]
fn the_c_of_the_radio_does_what_it_says() {
    example_agrees("examples/radio/radio.loom", "radio");
    example_agrees("examples/radio/two_ways.loom", "two_ways");
}

#[test]
fn the_c_of_telemetry_does_what_it_says() {
    example_agrees("examples/telemetry/telemetry.loom", "station");
}
