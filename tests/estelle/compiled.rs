//! Estelle specifications as stack IR and as C fire what the reference interpreter fires: for the
//! first choices, the same transitions at the same times, and the same states behind them.

use crate::runs::{EXAMPLES, program, root, run};
use stackloom::ir::Module;
use stackloom::ir::interface::Foreign;
use stackloom::lower::estelle::{Bounds, lower};
use stackloom::pipeline::{estelle_c, estelle_ir};
use stackloom::simulate::estelle::{Choice, Line};
use stackloom::simulate::machine::values::Held;
use stackloom::simulate::machine::{Host, Machine, Output};
use stackloom::simulate::state::Limits;
use stackloom::simulate::value::Datum;
use stackloom::types::estelle::program::Program;
use std::fmt::Write;
use std::path::Path;
use std::process::Command;
use std::rc::Rc;
use std::{env, fs};

/// The most steps of a run.
const STEPS: u64 = 100_000;

#[test]
fn ir_and_c_fire_what_the_reference_fires() {
    let mut differing = Vec::new();
    for example in &EXAMPLES {
        let program = program(example.name, example.constants);
        let expected = reference(&program);
        assert!(expected.lines().count() > 3, "{expected}");
        let bounds = Bounds::default();
        for (form, module) in [
            ("lowered", lower(&program, &bounds)),
            ("behind the passes", estelle_ir(&program, &bounds)),
        ] {
            let shown = interpreted(&module.expect("the specification has C"));
            if shown != expected {
                differing.push(difference(example.name, form, &shown, &expected));
            }
        }
        for compiler in ["gcc", "clang"] {
            let shown = compiled(example.name, &program, compiler);
            if shown != expected {
                differing.push(difference(example.name, compiler, &shown, &expected));
            }
        }
    }
    assert!(differing.is_empty(), "{}", differing.join("\n"));
}

#[test]
fn a_planted_fault_in_the_c_is_found() {
    let program = program("alternating", &[]);
    let mut other = program.clone();
    let mut transitions = other
        .bodies
        .iter_mut()
        .flat_map(|body| &mut body.transitions);
    let changed = transitions.find(|one| one.to.is_some() && one.when.is_some());
    changed.expect("a transition goes to a state").to = None;
    assert_ne!(compiled("planted", &other, "gcc"), reference(&program));
}

/// The first line that differs.
fn difference(name: &str, compiler: &str, shown: &str, expected: &str) -> String {
    let mut both = shown.lines().zip(expected.lines()).enumerate();
    match both.find(|(_, (shown, expected))| shown != expected) {
        Some((at, (shown, expected))) => {
            format!("{name}, {compiler}, line {at}:\n  C:         {shown}\n  reference: {expected}")
        }
        None => format!("{name}, {compiler}: one of the runs is longer"),
    }
}

/// One line for each transition of the reference: the time, the transition's number, and the
/// number of the state behind it.
fn reference(program: &Program) -> String {
    let mut text = String::new();
    for line in run(program, Choice::First, STEPS).lines {
        match line {
            Line::Step(step) => {
                let bodies = program.bodies.iter();
                let fits = bodies.filter(|body| {
                    let transition = body.transitions.get(step.number);
                    transition.is_some_and(|one| one.name == step.transition)
                });
                let states = fits.map(|body| body.states.iter().position(|one| *one == step.to));
                let state = states.flatten().next();
                let state = state.map_or(-1, |state| state as i64);
                let time = step.time * program.unit_ns;
                writeln!(text, "{time} {} {state}", step.number).expect("a string takes it");
            }
            Line::Fault(fault) => writeln!(text, "fault {:?}", fault).expect("a string takes it"),
            _other => {}
        }
    }
    text
}

/// Nothing is outside of a specification.
struct Alone;

impl Host for Alone {
    fn function(&self, _: &Machine<'_>, _: &Foreign, _: &mut [Datum]) -> Datum {
        unreachable!("the specification has no primitives")
    }

    fn application(&self, _: &mut Machine<'_>, _: &str, _: &Output) -> u64 {
        unreachable!("a specification has no ports")
    }

    fn leaving(&self, _: &mut Machine<'_>, _: &str, _: &Output) {
        unreachable!("a specification has no links")
    }
}

/// Runs the stack IR of a specification as `host.c` runs its C; its transitions in the same form.
fn interpreted(module: &Module) -> String {
    let machine = Machine::start(module, Rc::new(Alone), Vec::new(), Limits::default(), 0);
    let mut machine = machine.expect("a specification always starts");
    let mut call = |name: &str, arguments: &[i64], now: u64| {
        machine.set_now(now);
        let arguments = arguments.iter().map(|one| Held::Number(*one as u32 as u64));
        let name = format!("{}_{name}", module.name);
        match machine.export(&name, arguments.collect())[..] {
            [Held::Number(number)] => number,
            ref other => panic!("{other:?} is no number"),
        }
    };
    let number = |held: u64| i64::from(held as u32 as i32);
    let mut text = String::new();
    let started = number(call("start", &[], 0));
    if started < 0 {
        return format!("fault {}\n", -started);
    }
    let systems = number(call("systems", &[], 0));
    let (mut turn, mut now, mut left) = (0, 0, STEPS);
    while left > 0 {
        let mut fired = 0;
        for system in (0..systems).map(|tried| (turn + tried) % systems) {
            fired = number(call("step", &[system], now));
            if fired != 0 {
                turn = (system + 1) % systems;
                left -= 1;
                break;
            }
        }
        if fired < 0 {
            return text + &format!("fault {}\n", -fired);
        }
        for at in 0..fired {
            let fired = number(call("fired_module", &[at], now));
            let transition = number(call("fired_transition", &[at], now));
            let state = number(call("state", &[fired], now));
            writeln!(text, "{now} {transition} {state}").expect("a string takes it");
        }
        if fired == 0 {
            now = call("deadline", &[], now);
            if now == u64::MAX {
                break;
            }
        }
    }
    text
}

/// Builds and runs the C of a specification with all sanitizers; its transitions in the same form.
fn compiled(name: &str, program: &Program, compiler: &str) -> String {
    let own = program.name.to_lowercase();
    let printed = estelle_c(&format!("{name}.stl"), program, &Bounds::default());
    let printed = printed.expect("the specification has C");
    let folder = env::temp_dir().join(format!("estelle-{}-{name}-{compiler}", std::process::id()));
    fs::create_dir_all(&folder).expect("a folder for the C");
    fs::write(folder.join(format!("{own}.c")), printed.c).expect("the C is written");
    fs::write(folder.join(format!("{own}.h")), printed.h).expect("the header is written");
    let host = Path::new(&root()).join("tests/estelle/host.c");
    let program = folder.join("program");
    let built = Command::new(compiler)
        .args([
            "-std=c11",
            "-O1",
            "-Wall",
            "-Wextra",
            "-Werror",
            "-pedantic",
        ])
        .args(["-fsanitize=address,undefined", "-fno-sanitize-recover=all"])
        .arg(format!("-DNAME={own}"))
        .arg("-include")
        .arg(folder.join(format!("{own}.h")))
        .arg(folder.join(format!("{own}.c")))
        .arg(host)
        .arg("-o")
        .arg(&program)
        .output()
        .expect("the compiler runs");
    let said = String::from_utf8_lossy(&built.stderr);
    assert!(built.status.success(), "{name}, {compiler}: {said}");
    let output = Command::new(&program)
        .arg(STEPS.to_string())
        .output()
        .expect("the program runs");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{name}, {compiler}: {said}");
    fs::remove_dir_all(&folder).expect("the folder is removed");
    String::from_utf8(output.stdout).expect("the program writes text")
}
