//! Esterel: what the automaton of a program does, the reference does too.

#[path = "esterel/compiled.rs"]
mod compiled;
#[path = "esterel/lowered.rs"]
mod lowered;
#[path = "esterel/random.rs"]
mod random;
#[path = "esterel/search.rs"]
mod search;

use stackloom::diagnostic::{Id, render};
use stackloom::ir::text::write;
use stackloom::lower;
use stackloom::pipeline;
use stackloom::simulate::process::esterel::Nothing;
use stackloom::simulate::process::machine::Machine;
use stackloom::source::Sources;
use stackloom::tool::case::esterel;
use stackloom::tool::case::format::Case;
use stackloom::view;
use std::path::Path;
use std::{env, fs};

/// How many programs are tried, from the first seed on.
fn seeds() -> std::ops::Range<u64> {
    let number = |name: &str| env::var(name).ok().and_then(|text| text.parse().ok());
    let first = number("SEED").unwrap_or(1);
    first..first + number("COUNT").unwrap_or(400)
}

/// What a machine says of each instant, up to a fault.
fn played(machine: &mut Machine<'_>, instants: &[String]) -> Vec<String> {
    let mut said = Vec::new();
    for text in instants {
        match machine.instant(text) {
            Ok(line) => said.push(line),
            Err(fault) => {
                said.push(fault);
                break;
            }
        }
    }
    said
}

#[test]
fn automata_and_the_reference_agree() {
    let mut run = 0;
    let mut refused = Vec::new();
    for seed in seeds() {
        let program = random::program(seed);
        let mut sources = Sources::new();
        let text = ("random.strl".to_string(), program.text.clone());
        let (compiled, found) = pipeline::esterel(&mut sources, text, None, 20_000);
        let Some(compiled) = compiled else {
            refused.push((seed, found, sources));
            continue;
        };
        run += 1;
        let module = &compiled.module;
        let mut trees = Machine::of_trees(module, &compiled.automaton, &Nothing);
        let by_trees = played(&mut trees, &program.instants);
        let mut reference = Machine::of_statements(module, &Nothing);
        let by_reference = played(&mut reference, &program.instants);
        assert_eq!(
            by_trees, by_reference,
            "SEED={seed}\n{}\n{:?}",
            program.text, program.instants
        );
        let plain = lower::esterel::lower(module, &compiled.automaton);
        for lowered in [plain, pipeline::esterel_ir(module, &compiled.automaton)] {
            lowered::is_read_as_it_is_written(&lowered.module);
            let runs = Box::new(lowered::InIr::new(module, &lowered));
            let by_ir = played(&mut Machine::of(module, &Nothing, runs), &program.instants);
            assert_eq!(
                by_trees,
                by_ir,
                "SEED={seed}\n{}\n{:?}\n{}",
                program.text,
                program.instants,
                write(&lowered.module)
            );
        }
    }
    println!("{run} run, {} refused", refused.len());
    assert!(run > refused.len() / 4, "most programs are refused");
    for (seed, found, sources) in refused {
        let text = || format!("SEED={seed}\n{}", render(&found, &sources, false));
        match found.last().expect("what is refused has a reason").id {
            Id::SharedVariable | Id::AutomatonTooLarge | Id::NeverSet | Id::MultipleEmission => {}
            Id::CausalityCycle | Id::InstantaneousLoop => {
                assert_ne!(search::comes_to_a_fault(seed), Some(false), "{}", text());
            }
            _ => panic!("{}", text()),
        }
    }
}

/// So many programs become C together.
const TOGETHER: usize = 50;

/// One of so many programs becomes C, since that takes its time.
const RARELY: usize = 10;

#[test]
fn c_and_automata_agree() {
    let programs = seeds().step_by(RARELY).filter_map(|seed| {
        let program = random::program(seed);
        let text = ("random.strl".to_string(), program.text.clone());
        let (compiled, _) = pipeline::esterel(&mut Sources::new(), text, None, 5_000);
        let mut compiled = compiled?;
        compiled.module.name = format!("RANDOM_{seed}");
        Some((program, compiled))
    });
    let programs: Vec<_> = programs.collect();
    for some in programs.chunks(TOGETHER) {
        let all: Vec<_> = some.iter().map(|(_, compiled)| compiled).collect();
        for way in compiled::WAYS {
            let Some(built) = compiled::built("random", way, &all) else {
                continue;
            };
            for (number, (program, compiled)) in some.iter().enumerate() {
                let module = &compiled.module;
                let mut trees = Machine::of_trees(module, &compiled.automaton, &Nothing);
                let by_trees = played(&mut trees, &program.instants);
                let by_c = compiled::played(&built, number, compiled, &program.instants);
                let (name, text) = (&module.name, &program.text);
                assert_eq!(
                    by_trees, by_c,
                    "{way:?} {name}\n{text}\n{:?}",
                    program.instants
                );
            }
        }
    }
}

#[test]
fn cases_are_the_same_in_c() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases/esterel");
    let mut paths: Vec<_> = fs::read_dir(folder)
        .expect("the cases")
        .map(|entry| entry.expect("a case").path())
        .collect();
    paths.sort();
    let cases = paths.iter().enumerate().filter_map(|(number, path)| {
        let text = fs::read_to_string(path).expect("a case");
        let case = Case::read(&text).expect("a case");
        // What needs C is run in C where all cases are.
        let (given, None) = (case.text("in")?, case.text("externs")) else {
            return None;
        };
        let named = ("case.strl".to_string(), case.text("esterel")?.to_string());
        let (compiled, _) = pipeline::esterel(&mut Sources::new(), named, None, 100_000);
        let mut compiled = compiled?;
        compiled.module.name = format!("CASE_{number}");
        let given = given
            .lines()
            .map(|line| line.trim_end_matches(';').to_string());
        Some((path, given.collect::<Vec<_>>(), compiled))
    });
    let cases: Vec<_> = cases.collect();
    let all: Vec<_> = cases.iter().map(|(_, _, compiled)| compiled).collect();
    assert!(all.len() > 40, "only {} cases", all.len());
    for way in compiled::WAYS {
        let Some(built) = compiled::built("cases", way, &all) else {
            continue;
        };
        for (number, (path, given, compiled)) in cases.iter().enumerate() {
            let module = &compiled.module;
            let mut trees = Machine::of_trees(module, &compiled.automaton, &Nothing);
            let by_trees = played(&mut trees, given);
            let by_c = compiled::played(&built, number, compiled, given);
            assert_eq!(by_trees, by_c, "{way:?} {}", path.display());
        }
    }
}

#[test]
fn broken_programs_are_told_what_is_wrong() {
    let mut wrong = 0;
    for seed in seeds() {
        let mut rng = fastrand::Rng::with_seed(seed);
        let text = random::program(seed).text;
        let mut words: Vec<&str> = text.split_inclusive([' ', '\n']).collect();
        for _ in 0..rng.usize(1..4) {
            let at = rng.usize(..words.len());
            match rng.u8(..4) {
                0 => drop(words.remove(at)),
                1 => words.swap(at, rng.usize(..at.max(1))),
                2 => words.insert(at, words[rng.usize(..words.len())]),
                _ => {
                    words[at] =
                        ["end", "[", ")", "? ", "%{", "\"", "é", "immediate "][rng.usize(..8)]
                }
            }
        }
        let mut sources = Sources::new();
        let named = ("broken.strl".to_string(), words.concat());
        let (compiled, found) = pipeline::esterel(&mut sources, named, None, 2_000);
        assert!(compiled.is_some() || !found.is_empty(), "SEED={seed}");
        wrong += usize::from(compiled.is_none());
        let _ = render(&found, &sources, false);
    }
    assert!(wrong > 0, "nothing is broken");
}

#[test]
fn an_instant_of_many_questions_is_refused_and_does_not_exhaust_the_stack() {
    let questions = |count: usize| {
        let all = (0..count).map(|at| format!("if X > {at} then X := X + 1 end;\n"));
        let all: String = all.collect();
        format!("module LONG:\noutput O;\nvar X := 0 : integer in\n{all}emit O end\nend module\n")
    };
    for (count, is_refused) in [(500, false), (20_000, true)] {
        let mut sources = Sources::new();
        let named = ("long.strl".to_string(), questions(count));
        let (compiled, _) = pipeline::esterel(&mut sources, named, None, 1_000_000);
        assert_eq!(compiled.is_none(), is_refused);
    }
}

#[test]
fn what_is_too_deep_is_refused_and_what_is_not_does_not_exhaust_the_stack() {
    let module = |body: &str| format!("module M:\ninput A, B;\noutput O;\n{body}\nend module\n");
    let sum = |count: usize| format!("if 0 < {} then emit O end", vec!["1"; count].join(" + "));
    let any = |count: usize| format!("present {} then emit O end", vec!["A"; count].join(" or "));
    let cases = |count: usize| {
        let names: String = (0..count).map(|at| format!("S{at}, ")).collect();
        let cases: String = (0..count)
            .map(|at| format!("case S{at} do emit O "))
            .collect();
        format!("signal {names} Z in present {cases} end || await A; emit Z end")
    };
    let copied = |count: usize, twice: bool| {
        let all = (0..count).map(|at| match at.checked_sub(1) {
            None => "module M0:\noutput O;\npause; emit O\nend module\n".to_string(),
            Some(below) => {
                let run = format!("run M{below}");
                let run = if twice { format!("{run}; {run}") } else { run };
                format!("module M{at}:\noutput O;\n{run}\nend module\n")
            }
        });
        all.collect::<String>()
    };
    for (text, is_refused) in [
        (module(&sum(500)), false),
        (module(&sum(20_000)), true),
        (module(&any(500)), false),
        (module(&any(20_000)), true),
        (module(&cases(900)), false),
        (module(&cases(20_000)), true),
        (copied(90, false), false),
        (copied(3_000, false), true),
        (copied(8, true), false),
        (copied(40, true), true),
    ] {
        let mut sources = Sources::new();
        let named = ("deep.strl".to_string(), text);
        let (compiled, found) = pipeline::esterel(&mut sources, named, None, 1_000_000);
        let says = render(&found, &sources, false);
        let says: String = says.chars().take(300).collect();
        assert_eq!(compiled.is_none(), is_refused, "{says}");
    }
}

#[test]
fn thousands_of_branches_are_explored() {
    let branches = |count: usize, one: &dyn Fn(usize) -> String| {
        let all: Vec<String> = (0..count).map(one).collect();
        all.join("\n||\n")
    };
    let together = branches(3_000, &|_| "loop await A; pause; emit O end".to_string());
    let chained = branches(500, &|at| {
        format!("present S{} then emit S{at} end", at + 1)
    });
    let names: String = (0..=500).map(|at| format!("S{at}, ")).collect();
    let chained = format!("signal {names} Z in {chained} || await A; emit S500 end");
    for body in [together, chained] {
        let mut sources = Sources::new();
        let text = format!("module M:\ninput A;\noutput O;\n{body}\nend module\n");
        let named = ("wide.strl".to_string(), text);
        let (compiled, found) = pipeline::esterel(&mut sources, named, None, 10_000);
        assert!(compiled.is_some(), "{}", render(&found, &sources, false));
    }
}

#[test]
fn the_timer_of_the_paper_keeps_its_time() {
    let instants = [
        ("Rxt_Cur(6) T_Srtt(24) T_Rttvar(4) ;", ""),
        ("N_S(100) ;", " SET_ALARM(6)"),
        ("N_A(90) ;", ""),
        ("N_S(200) ;", ""),
        ("N_A(100) ;", " SET_ALARM(6)"),
        ("N_A(200) ;", " SET_ALARM(-1)"),
        ("ALARM(0) ;", ""),
        ("N_S(300) ;", " SET_ALARM(6)"),
        ("ALARM(0) ;", " Retrans_Phase(1) Slow_Start"),
        ("N_A(300) ;", ""),
        ("N_S(300) ;", " SET_ALARM(14)"),
        ("ALARM(0) N_A(300) ;", " SET_ALARM(-1)"),
    ];
    let given: String = instants.map(|(given, _)| format!("{given}\n")).concat();
    let out: String = instants
        .map(|(given, emitted)| format!("{given}{emitted}\n"))
        .concat();
    let text = format!(
        "It is a case.\n=== esterel\n{}=== externs\n{}=== in\n{given}=== out\n",
        include_str!("../examples/esterel/timer_handler.strl"),
        include_str!("../examples/esterel/timer_handler.c"),
    );
    let mut case = Case::read(&text).expect("it is a case");
    esterel::fill(&mut case).expect("all agree");
    assert_eq!(case.text("out").map(str::trim), Some(out.trim()));
}

#[test]
fn the_picture_in_the_book_is_the_one_that_is_drawn() {
    let text = include_str!("../examples/esterel/timer_handler.strl");
    let named = ("timer_handler.strl".to_string(), text.to_string());
    let (compiled, _) = pipeline::esterel(&mut Sources::new(), named, None, 1_000);
    let compiled = compiled.expect("it is right");
    let view = view::view(&compiled.module, &compiled.automaton, 1_000).expect("it is small");
    let drawn = view::picture(&view);
    let path = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/book/src/pictures/timer_handler.svg"
    );
    if env::var_os("BLESS").is_some() {
        std::fs::write(path, &drawn).expect("the book can be written");
    }
    let shown = std::fs::read_to_string(path).expect("the book has the picture");
    assert!(drawn == shown, "BLESS=1 draws it anew");
}

#[test]
fn a_module_that_c_cannot_have_is_refused() {
    for (name, declared, reason) in [
        (
            "P",
            "constant P_states : integer, P_own_value : integer;",
            None,
        ),
        ("P", "type char; procedure P_begin()();", None),
        ("P", "constant stack : integer;", None),
        ("P", "function P() : integer;", Some("`P` is yours")),
        ("P", "procedure P_reset()();", Some("`P_reset` is yours")),
        ("P", "type P_I_A;", Some("`P_I_A` is yours")),
        ("P", "constant P_O_O : integer;", Some("`P_O_O` is yours")),
        (
            "P",
            "function sizeof() : integer;",
            Some("`sizeof` is a word of C"),
        ),
        (
            "P",
            "constant char : integer;",
            Some("`char` is a word of C"),
        ),
        ("integer", "", Some("`integer` means something to C")),
        ("errno", "", Some("`errno` means something to C")),
        ("printf", "", Some("`printf` means something to C")),
    ] {
        let body = "input A; output O; await A; emit O";
        let text = format!("module {name}:\n{declared}\n{body}\nend module\n");
        let named = ("names.strl".to_string(), text);
        let (compiled, _) = pipeline::esterel(&mut Sources::new(), named, None, 1_000);
        let compiled = compiled.expect("the program is right");
        let refused = stackloom::back::c::esterel::refused(&compiled.module);
        let says = refused.unwrap_or_default();
        assert!(
            says.starts_with(reason.unwrap_or("")),
            "{name} {declared}: {says}"
        );
        assert_eq!(
            says.is_empty(),
            reason.is_none(),
            "{name} {declared}: {says}"
        );
    }
}
