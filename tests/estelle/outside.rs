//! The C of a specification and the C around it: functions that the host defines.

use crate::compiled::{difference, fired, forms, interpreted, reference};
use crate::remote::{build, built};
use crate::runs::{program, program_of, run};
use stackloom::back::c::estelle::print;
use stackloom::ir::function::Definition;
use stackloom::ir::interface::{Foreign, Given, Home, Shape};
use stackloom::ir::{ForeignId, Instruction, Module, Op, Terminator, Type, Value};
use stackloom::lower::estelle::{Bounds, Choices, lower};
use stackloom::pipeline::{estelle_c, estelle_ir};
use stackloom::simulate::estelle::{Choice, Chooser, CompiledRun, Course, Line};
use stackloom::simulate::machine::values::Held;
use stackloom::simulate::machine::{Host, Machine, Output};
use stackloom::simulate::state::Limits;
use stackloom::simulate::value::Datum;
use stackloom::types::estelle::program::Program;
use std::cell::RefCell;
use std::fmt::Write;
use std::rc::Rc;

/// A number of a host.
const NUMBER: Shape = Shape::Number {
    bits: 32,
    signed: true,
};

/// A module in which a function of the host says how many systems there are.
fn asking(mut module: Module) -> Module {
    module.foreigns.push(Foreign {
        name: "choose".to_string(),
        home: Home::Host,
        parameters: vec![("count".to_string(), Given::Value(NUMBER))],
        result: Some(NUMBER),
    });
    let mut exports = module.exports.iter();
    let systems = exports.find(|one| one.name.ends_with("_systems"));
    let systems = systems.expect("a program asks for the systems").calls;
    let function = &mut module.functions[systems.at()];
    let [count, answer] = [0, 1].map(|next| Value(function.values.len() as u32 + next));
    let word = Definition {
        of: Type::WORD,
        hint: String::new(),
    };
    function.values.extend([word.clone(), word]);
    let asks = Op::Foreign(ForeignId(0), Vec::new());
    let block = &mut function.blocks[0];
    block.instructions = vec![
        Instruction::new(Op::Number(32, 5), &[], &[count]),
        Instruction::new(asks, &[count], &[answer]),
    ];
    block.terminator = Terminator::Return(vec![answer]);
    module
}

#[test]
fn the_host_is_called_with_its_pointer() {
    let program = program("pingpong", &[]);
    let module = estelle_ir(&program, &Bounds::default()).expect("pingpong has C");
    let printed = print("pingpong.stl", &program, &asking(module));
    let host = "
#include <stdio.h>
#include <stdlib.h>
int32_t pingpong_choose(void *user, int32_t count) { return *(int32_t *)user + count; }
int main(void) {
    struct pingpong *stack = calloc(1, pingpong_size());
    int32_t own = 37;
    if (stack != NULL) {
        pingpong_set_user(stack, &own);
        pingpong_start(stack, 0);
        printf(\"%d\\n\", (int)pingpong_systems(stack));
        free(stack);
    }
    return 0;
}
";
    for compiler in ["gcc", "clang"] {
        let built = build(("asking", compiler), &printed, "pingpong", (host, &[]));
        let text = built.ran(&[]);
        assert_eq!(text, "42\n", "{}", printed.h);
    }
}

/// The primitive routines of `outside/primitives.c`, in Rust.
#[derive(Default)]
struct Primitives {
    /// The text that they print.
    said: RefCell<String>,
}

impl Primitives {
    fn say(&self, text: &str) {
        writeln!(self.said.borrow_mut(), "call {text}").expect("a string takes it");
    }
}

/// The number of a value.
fn number(datum: &Datum) -> i64 {
    match datum {
        Datum::Number(number) => i64::from(*number as u32 as i32),
        other => panic!("{other:?} is no number"),
    }
}

/// The real number of a value.
fn real(datum: &Datum) -> f64 {
    match datum {
        Datum::Number(bits) => f64::from_bits(*bits),
        other => panic!("{other:?} is no number"),
    }
}

impl Host for Primitives {
    fn function(&self, _: &Machine<'_>, foreign: &Foreign, given: &mut [Datum]) -> Datum {
        let numbers: Vec<i64> = given.iter().map(number).collect();
        let result = match (foreign.name.as_str(), &numbers[..]) {
            ("mixed", [seed, on, letter, tint]) => {
                self.say(&format!("mixed {seed} {on} {letter} {tint}"));
                (seed * 3 + on * 100 + letter + tint) as u64
            }
            ("bump", [level, on, _, by]) => {
                let ratio = real(&given[2]);
                self.say(&format!("bump {level} {on} {ratio:.3} {by}"));
                given[0] = Datum::Number((level + by) as u64);
                given[1] = Datum::Number(u64::from(*on == 0));
                given[2] = Datum::Number((ratio + 0.25).to_bits());
                0
            }
            ("half", _) => {
                self.say(&format!("half {:.3}", real(&given[0])));
                (real(&given[0]) / 2.0).to_bits()
            }
            ("following", [tint]) => {
                self.say(&format!("following {tint}"));
                (tint + 1) as u64
            }
            ("may", [level]) => {
                self.say(&format!("may {level}"));
                u64::from(*level < 9)
            }
            ("note", []) => {
                self.say("note");
                0
            }
            ("below", [level]) => u64::from(*level < 9),
            (other, given) => panic!("no primitive `{other}` takes {given:?}"),
        };
        Datum::Number(result)
    }

    fn application(&self, _: &mut Machine<'_>, _: &str, _: &Output) -> u64 {
        unreachable!("a specification has no ports")
    }

    fn leaving(&self, _: &mut Machine<'_>, _: &str, _: &Output) {
        unreachable!("a specification has no links")
    }
}

/// The calls of primitives, and then what fired, in the stack IR.
fn of_ir(module: &Module) -> String {
    let host = Rc::new(Primitives::default());
    let fired = turned(module, host.clone());
    host.said.take() + &fired
}

/// The same of the C.
fn of_c(program: &Program, (name, compiler): (&str, &str)) -> String {
    let printed = estelle_c("primitives.stl", program, &Bounds::default()).expect("it has C");
    let host = concat!(
        include_str!("outside/turns.c"),
        include_str!("outside/primitives.c")
    );
    let text = build((name, compiler), &printed, "primitives", (host, &[])).ran(&[]);
    let (calls, fired): (Vec<&str>, Vec<&str>) =
        text.lines().partition(|line| line.starts_with("call "));
    let lines = calls.into_iter().chain(fired);
    lines.map(|line| format!("{line}\n")).collect()
}

/// The primitives behave alike in all forms of a specification.
fn called(rise: &str) -> String {
    let text = include_str!("outside/primitives.stl");
    let program = program_of("primitives", text, &[("rise", rise)]);
    let bounds = Bounds::default();
    let lowered = lower(&program, &bounds).expect("all primitives have C");
    let shown = of_ir(&lowered);
    let module = estelle_ir(&program, &bounds).expect("all primitives have C");
    assert_eq!(of_ir(&module), shown, "the passes keep calls");
    for compiler in ["gcc", "clang"] {
        let name = format!("primitives-{rise}");
        assert_eq!(of_c(&program, (&name, compiler)), shown, "{compiler}");
    }
    shown
}

#[test]
fn primitive_routines_are_functions_of_the_host() {
    assert_eq!(
        called("3"),
        "call bump 3 0 0.500 3
call bump 6 1 0.750 -3
call mixed -7 0 120 0
call half 1.000
call may 6
call following 0
call bump 6 0 1.500 3
call bump 9 1 1.750 -3
call mixed 95 0 120 1
call half 2.000
call may 9
call note
0 0 0
0 0 0
0 1 1
unconnected 0 terminated_with 0
"
    );
}

#[test]
fn a_value_of_c_beyond_its_subrange_is_a_fault() {
    assert_eq!(
        called("7"),
        "call bump 3 0 0.500 7\nfault 1\nunconnected 0 terminated_with 0\n"
    );
}

#[test]
fn the_header_declares_primitive_routines() {
    let text = include_str!("outside/primitives.stl");
    let program = program_of("primitives", text, &[("rise", "1")]);
    let printed = estelle_c("primitives.stl", &program, &Bounds::default()).expect("it has C");
    for line in [
        "/* function mixed(seed: integer; on: boolean; letter: char; tint: (red, green, blue)): \
         integer */",
        "void primitives_bump(void *user, int32_t *level, bool *on, double *ratio, int32_t rise);",
        "void primitives_set_user(struct primitives *stack, void *user);",
    ] {
        assert!(printed.h.contains(line), "{}", printed.h);
    }
}

/// Runs the stack IR of a specification as `turns.c` runs its C; its transitions in the same form.
fn turned<'m>(module: &'m Module, host: Rc<dyn Host + 'm>) -> String {
    let machine = Machine::start(module, host, Vec::new(), Limits::default(), 0);
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
    let mut fault = number(call("start", &[], 0));
    let systems = number(call("systems", &[], 0));
    let (mut turn, mut now) = (0, 0);
    while fault == 0 && now != u64::MAX {
        let mut fired = 0;
        for system in (0..systems).map(|tried| (turn + tried) % systems) {
            fired = number(call("step", &[system], now));
            if fired != 0 {
                turn = (system + 1) % systems;
                break;
            }
        }
        fault = fired.min(0);
        for at in 0..fired {
            let fired = number(call("planned_module", &[at], now));
            let transition = number(call("planned_transition", &[at], now));
            let state = number(call("state", &[fired], now));
            writeln!(text, "{now} {transition} {state}").expect("a string takes it");
        }
        if fired == 0 {
            now = call("deadline", &[], now);
        }
    }
    if fault < 0 {
        writeln!(text, "fault {}", -fault).expect("a string takes it");
    }
    for counter in ["unconnected", "terminated_with"] {
        let count = number(call(counter, &[], 0));
        let gap = if counter == "unconnected" { " " } else { "\n" };
        write!(text, "{counter} {count}{gap}").expect("a string takes it");
    }
    text
}

#[test]
fn c_defines_the_body_of_the_environment() {
    let text = include_str!("outside/doorbell.stl");
    let program = program_of("doorbell", text, &[]);
    let printed = estelle_c("doorbell.stl", &program, &Bounds::default()).expect("it has C");
    let host = include_str!("outside/doorbell.c");
    for compiler in ["gcc", "clang"] {
        let built = build(("doorbell", compiler), &printed, "doorbell", (host, &[]));
        let shown = [&[][..], &["-7"], &["-700"]].map(|given| built.ran(given));
        assert_eq!(
            shown[0],
            "0 people 7
0 door 2: light 0
0 door 1: light 1
2000000000 door 1: open
2000000000 door 2: light 1
4000000000 door 1: open
misuse -1 -1 -1 -1 -1 0
full: 64 fault 10
"
        );
        assert_eq!(shown[1], "0 people 7\nfault 7\n", "a fault of the host");
        assert_eq!(
            shown[2], "0 people 7\nfault 1\n",
            "no fault has this number"
        );
    }
}

/// All forms of a specification fire what the reference fires, by first choices: that.
fn agreed(name: &str, program: &Program, compiler: &str) -> String {
    let (first, most) = (Choice::First, 500);
    let course = Course::of_steps(most);
    let expected = reference(program, first, course);
    let mut differing = Vec::new();
    for (form, module) in forms(program, Choices::First) {
        let shown = interpreted(program, &module, first, course);
        differing.extend(difference((name, form), &shown, &expected));
    }
    let c = built(name, program, (compiler, Choices::Host));
    let chooser = Rc::new(Chooser::new(program, first));
    let target = c.target(Rc::clone(&chooser));
    let shown = fired(CompiledRun::new(chooser, target, first, course));
    differing.extend(difference((name, compiler), &shown, &expected));
    assert!(differing.is_empty(), "{}", differing.join("\n"));
    expected
}

#[test]
fn real_numbers_become_integers_as_in_the_reference() {
    let text = include_str!("outside/edges.stl");
    let ends = [
        ("2147483647.9", 13, Some("overflow"), "gcc"),
        ("-2147483648.0", 13, Some("overflow"), "clang"),
        ("1.0e300", 13, Some("overflow"), "gcc"),
        ("-1.0e9", 14, None, "clang"),
    ];
    for (last, count, fault, compiler) in ends {
        let program = program_of("edges", text, &[("last", last)]);
        let fired = agreed(&format!("edges-{last}"), &program, compiler);
        let all: Vec<&str> = fired.lines().collect();
        let faults = all.iter().find_map(|line| line.strip_prefix("fault "));
        assert_eq!(
            faults.map(|line| line.trim_end_matches(" -")),
            fault,
            "{fired}"
        );
        assert_eq!(all.len() - usize::from(fault.is_some()), count, "{fired}");
        let states = ["both", "whole", "near"];
        let reached = states.map(|state| fired.contains(&format!(":{state}\n")));
        assert_eq!(reached, [true; 3], "{fired}");
    }
}

#[test]
fn interactions_carry_real_numbers() {
    let text = include_str!("outside/reals.stl");
    for (start, count, end, compiler) in [
        ("0.75", 81, "done", "gcc"),
        ("-1.5", 81, "done", "clang"),
        ("2.5", 46, "fault overflow -", "gcc"),
    ] {
        let program = program_of("reals", text, &[("start", start)]);
        let fired = agreed(&format!("reals-{start}"), &program, compiler);
        let last = fired.lines().last().expect("something fires");
        assert!(last.ends_with(end), "{start}: {fired}");
        assert_eq!(fired.lines().count(), count, "{start}: {fired}");
    }
}

#[test]
fn lost_interactions_are_counted() {
    let program = program_of("lost", include_str!("outside/lost.stl"), &[]);
    let lines = run(&program, Choice::First, Course::of_steps(100)).lines;
    let Some(Line::End(end)) = lines.last() else {
        panic!("a run ends");
    };
    let [unconnected, terminated_with] =
        ["unconnected", "terminated_with"].map(|name| end.counters[name]);
    let expected = format!("unconnected {unconnected} terminated_with {terminated_with}");
    assert_eq!(expected, "unconnected 3 terminated_with 5");
    for (form, module) in forms(&program, Choices::First) {
        let shown = turned(&module, Rc::new(Primitives::default()));
        assert_eq!(shown.lines().last(), Some(expected.as_str()), "{form}");
    }
    let printed = estelle_c("lost.stl", &program, &Bounds::default()).expect("it has C");
    let host = include_str!("outside/turns.c");
    let shown = build(("lost", "gcc"), &printed, "lost", (host, &[])).ran(&[]);
    assert_eq!(shown.lines().last(), Some(expected.as_str()));
}
