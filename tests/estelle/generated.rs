//! Random specifications fire the same transitions in the reference interpreter, as stack IR,
//! behind the passes, and as C; and so does their canonical form.
//!
//! In: seeds. Out: the first difference of each. `SEED=n` tries one alone and prints it; with
//! `SPECIFICATIONS=m` it tries `m` of them from there on, where else it tries those of 1 to 50.
//! `C=n` compiles the C of each nth one, in place of each tenth.

use crate::cores::on_all_cores;
use crate::random::{Specification, specification};
use crate::remote::build;
use stackloom::diagnostic::{Severity, render};
use stackloom::ir::Module;
use stackloom::lower::estelle::{Bounds, Choices, lower};
use stackloom::pipeline::{estelle_c, estelle_ir};
use stackloom::simulate::estelle::{
    Choice, Chooser, CompiledLine, CompiledRun, Course, Effect, IrTarget, Line, Options, Run,
    Target,
};
use stackloom::source::Sources;
use stackloom::syntax::estelle::{format, parse};
use stackloom::tool::estelle::child::{HOST_CHOOSES, PIPE};
use stackloom::types::estelle::program::{Program, Queue};
use stackloom::types::estelle::{Settings, check};
use std::env;
use std::fmt::Write;
use std::ops::Range;
use std::rc::Rc;

/// The most steps of a run.
const STEPS: u64 = 300;

/// The places of queues, if none gets full and there is memory for them.
const FIRST_QUEUE: u32 = 100;

/// The shortest queues that are tried.
const LEAST_QUEUE: u32 = 8;

/// The choices by which each specification runs.
const CHOICES: [Choice; 3] = [Choice::First, Choice::Seed(1), Choice::Seed(2)];

/// Returns the number that an environment variable gives.
fn given(name: &str) -> Option<u64> {
    let text = env::var(name).ok()?;
    Some(text.parse().expect("a number"))
}

/// The seeds of specifications that a test tries.
fn seeds() -> Range<u64> {
    let seed = given("SEED");
    let first = seed.unwrap_or(1);
    let count = given("SPECIFICATIONS").unwrap_or(if seed.is_some() { 1 } else { 50 });
    first..first.saturating_add(count)
}

#[test]
fn generated_specifications_fire_the_same_everywhere() {
    let seeds = seeds();
    println!(
        "SEED={} SPECIFICATIONS={}",
        seeds.start,
        seeds.end - seeds.start
    );
    let is_alone = seeds.end - seeds.start == 1;
    let compiled = given("C").unwrap_or(10);
    let differing = on_all_cores(seeds, |seed| {
        let generated = Generated::of(seed);
        if is_alone {
            println!("{}", generated.canonical);
            let lines = reference(&generated.program, Choice::First).1;
            lines.iter().for_each(|line| println!("{line}"));
        }
        // The compiler takes longer than all else.
        let in_c = (is_alone || seed % compiled == 0).then(|| generated.c_differs());
        let all = [generated.canonical_differs(), generated.ir_differs()];
        let all: Vec<String> = all.into_iter().chain(in_c).flatten().collect();
        // A long run says at once what it finds.
        all.iter().for_each(|difference| println!("{difference}"));
        all
    });
    let differing: Vec<String> = differing.into_iter().flatten().collect();
    assert!(differing.is_empty(), "{}", differing.join("\n"));
}

/// A mistake of a compiler, made by hand.
type Plant = fn(&mut Program);

/// Mistakes, with their names.
const PLANTED: [(&str, Plant); 3] = [
    ("priorities do not count", |program| {
        let bodies = program.bodies.iter_mut();
        let all = bodies.flat_map(|body| &mut body.transitions);
        all.for_each(|one| one.priority = None);
    }),
    ("points with a common queue have their own", |program| {
        let bodies = program.bodies.iter_mut();
        let all = bodies.flat_map(|body| &mut body.points);
        all.for_each(|one| one.queue = Queue::Individual);
    }),
    ("the last condition of a body always holds", |program| {
        for body in &mut program.bodies {
            let mut all = body.transitions.iter_mut().rev();
            if let Some(last) = all.find(|one| one.provided.is_some()) {
                last.provided = None;
            }
        }
    }),
];

#[test]
fn planted_faults_are_found() {
    for (title, plant) in PLANTED {
        let is_found = (1..=50).any(|seed| {
            let mut generated = Generated::of(seed);
            let expected = reference(&generated.program, Choice::First).0;
            plant(&mut generated.program);
            let module = lower(&generated.program, &generated.bounds);
            let module = module.expect("the specification has C");
            interpreted(&generated.program, &module, Choice::First) != expected
        });
        assert!(is_found, "{title}");
    }
}

/// Words of the language that stand for the constructs that the generator writes.
const CONSTRUCTS: [&str; 66] = [
    " systemprocess",
    " systemactivity",
    " process",
    " activity",
    "default individual queue",
    "default common queue",
    ") individual queue",
    ") common queue",
    ": array [",
    "timescale",
    "stateset",
    "export",
    "modvar",
    "pure function",
    "procedure",
    "(var ",
    "; var ",
    "record",
    " set of ",
    "packed array",
    ": real",
    ": char",
    "case tag",
    "initialize",
    "from s",
    "from set",
    "to s",
    "to same",
    "when ip",
    "provided (",
    "provided otherwise",
    "priority ",
    "delay(",
    ", *)",
    "any n",
    "output ip",
    "init m",
    "release m",
    "release h",
    "terminate m",
    "terminate h",
    "connect ip",
    "connect m",
    "attach ip",
    "detach ip",
    "detach m",
    "disconnect ip",
    "disconnect m",
    "all v",
    "all h",
    "forone v",
    "forone h",
    "suchthat",
    " otherwise",
    "(exist z",
    "(exist h",
    "if ",
    "else",
    "case ",
    "while ",
    "repeat",
    "downto",
    "with ",
    " in ",
    "chr(",
    "sqr(",
];

#[test]
fn generated_specifications_have_all_constructs_and_much_to_do() {
    let mut missing = CONSTRUCTS.to_vec();
    let (mut fired, mut faults) = (0, 0);
    let mut effects = [0; 6];
    for seed in 1..=100 {
        let generated = Generated::of(seed);
        missing.retain(|word| !generated.canonical.contains(word));
        for line in reference(&generated.program, Choice::First).1 {
            match line {
                Line::Step(step) => {
                    fired += 1;
                    for effect in step.effects {
                        effects[match effect {
                            Effect::Output(_) => 0,
                            Effect::Unconnected(_) => 1,
                            Effect::Init(_) => 2,
                            Effect::Release { .. } => 3,
                            Effect::Terminate { .. } => 4,
                            Effect::Moved { .. } => 5,
                        }] += 1;
                    }
                }
                Line::Fault(_) => faults += 1,
                Line::Start(_) | Line::Situation(_) | Line::End(_) => {}
            }
        }
    }
    println!("{fired} transitions, {faults} faults, {effects:?}");
    assert!(missing.is_empty(), "{missing:?}");
    assert!(fired > 100 * 20, "{fired} transitions");
    assert!((1..50).contains(&faults), "{faults} faults");
    // Queues that hold something are seldom moved.
    assert!(effects.iter().all(|count| *count > 4), "{effects:?}");
}

/// A specification that a seed gives, or a text.
pub struct Generated {
    seed: u64,
    /// The checked specification.
    pub program: Program,
    canonical: String,
    bounds: Bounds,
}

impl Generated {
    fn of(seed: u64) -> Generated {
        let name = format!("g{seed}");
        let written = specification(seed, &name);
        let (program, canonical) = read(&name, &written.text);
        let bounds = bounds(&program, &written);
        Generated {
            seed,
            program,
            canonical,
            bounds,
        }
    }

    /// A specification with a text and the usual bounds.
    pub fn of_text(name: &str, text: &str) -> Generated {
        let (program, canonical) = read(name, text);
        Generated {
            seed: 0,
            program,
            canonical,
            bounds: Bounds::default(),
        }
    }

    /// The canonical form is its own one, and runs in the same way.
    fn canonical_differs(&self) -> Option<String> {
        let (again, twice) = read(&self.program.name, &self.canonical);
        let title = ("formatted again", &twice[..]);
        let differs = difference(self.seed, title, &self.canonical);
        let expected = reference(&self.program, Choice::First).0;
        let shown = reference(&again, Choice::First).0;
        differs.or_else(|| difference(self.seed, ("formatted", &shown), &expected))
    }

    /// By first choices and by seeds, the stack IR does what the reference does.
    pub fn ir_differs(&self) -> Option<String> {
        for (choices, all) in [
            (Choices::First, &CHOICES[..1]),
            (Choices::Host, &CHOICES[..]),
        ] {
            let bounds = Bounds {
                choices,
                ..self.bounds.clone()
            };
            for (form, module) in [
                ("lowered", lower(&self.program, &bounds)),
                ("behind the passes", estelle_ir(&self.program, &bounds)),
            ] {
                let module = module.unwrap_or_else(|says| panic!("SEED={}: {says}", self.seed));
                for choice in all {
                    let shown = interpreted(&self.program, &module, *choice);
                    let expected = reference(&self.program, *choice).0;
                    let title = format!("{form}, {choices:?}, {choice:?}");
                    let differs = difference(self.seed, (&title, &shown), &expected);
                    if differs.is_some() {
                        return differs;
                    }
                }
            }
        }
        None
    }

    /// By first choices and by seeds, the C does what the reference does.
    pub fn c_differs(&self) -> Option<String> {
        let name = self.program.name.to_lowercase();
        let bounds = Bounds {
            choices: Choices::Host,
            ..self.bounds.clone()
        };
        let printed = estelle_c(&format!("{name}.stl"), &self.program, &bounds);
        let printed = printed.expect("the specification has C");
        let compiler = ["gcc", "clang"][self.seed as usize % 2];
        // The last level of optimisation counts. Comparisons of a subrange with a number beyond it
        // are those of the specification.
        let host = (
            PIPE,
            &[
                HOST_CHOOSES,
                "-D_POSIX_C_SOURCE=200809L",
                "-O0",
                "-Wno-type-limits",
            ][..],
        );
        let built = build((&name, compiler), &printed, &name, host);
        CHOICES.iter().find_map(|choice| {
            let chooser = Rc::new(Chooser::new(&self.program, *choice));
            let target = built.target(Rc::clone(&chooser));
            let shown = fired(chooser, target, *choice);
            let expected = reference(&self.program, *choice).0;
            let title = format!("{compiler}, {choice:?}");
            difference(self.seed, (&title, &shown), &expected)
        })
    }
}

/// Returns the program of a text, and its canonical form.
fn read(name: &str, text: &str) -> (Program, String) {
    let mut sources = Sources::new();
    let file = sources.add(format!("{name}.stl"), text.to_string());
    let (tree, found) = parse(file, &sources);
    assert!(found.is_empty(), "{}", render(&found, &sources, false));
    let tree = tree.expect("a text without mistakes has a tree");
    let (program, found) = check(&tree, &Settings::default(), tree.name.span);
    let found: Vec<_> = found
        .into_iter()
        .filter(|one| one.severity == Severity::Error)
        .collect();
    let says = || format!("{text}\n{}", render(&found, &sources, false));
    let program = program.unwrap_or_else(|| panic!("{}", says()));
    (program, format(&tree, text))
}

/// Bounds within which the runs of a specification stay, as far as there is memory. The reference
/// has no bounds.
fn bounds(program: &Program, written: &Specification) -> Bounds {
    let mut bounds = Bounds {
        choices: Choices::Host,
        queue: FIRST_QUEUE,
        ..Bounds::default()
    };
    if written.abandons {
        let names = program
            .bodies
            .iter()
            .skip(1)
            .map(|body| body.name.to_lowercase());
        bounds.instances = names.map(|name| (name, 20)).collect();
    }
    let mut bounds = fitting(program, bounds).expect("there is memory for short queues");
    loop {
        let mut larger = bounds.clone();
        // The reference has all that it needs.
        let fits = match what_is_full(program, &bounds) {
            Some("queue_full") => {
                larger.queue *= 2;
                lower(program, &larger).is_ok().then_some(larger)
            }
            Some("pool_full") if written.abandons => {
                larger.instances.values_mut().for_each(|count| *count *= 2);
                fitting(program, larger)
            }
            _other => None,
        };
        match fits {
            Some(fits) => bounds = fits,
            None => return bounds,
        }
    }
}

/// The same bounds, or shorter queues where many instances with many points need the memory.
fn fitting(program: &Program, mut bounds: Bounds) -> Option<Bounds> {
    while lower(program, &bounds).is_err() {
        if bounds.queue <= LEAST_QUEUE {
            return None;
        }
        bounds.queue /= 2;
    }
    Some(bounds)
}

/// The fault of a run of the stack IR that lacks memory, if one does.
fn what_is_full(program: &Program, bounds: &Bounds) -> Option<&'static str> {
    let module = lower(program, bounds).ok()?;
    let shown = CHOICES.map(|choice| interpreted(program, &module, choice));
    let mut full = ["queue_full", "pool_full"].into_iter();
    full.find(|fault| shown.concat().contains(fault))
}

/// The first line that differs, if any does.
fn difference(seed: u64, (form, shown): (&str, &str), expected: &str) -> Option<String> {
    if shown == expected {
        return None;
    }
    let mut both = shown.lines().zip(expected.lines()).enumerate();
    let found = both.find(|(_, (shown, expected))| shown != expected);
    Some(match found {
        Some((at, (shown, expected))) => {
            format!("SEED={seed}, {form}, line {at}: {shown}, expected {expected}")
        }
        None => format!("SEED={seed}, {form}: one is longer"),
    })
}

/// The lines of a run of the reference.
pub fn reference(program: &Program, choice: Choice) -> (String, Vec<Line>) {
    let options = Options {
        choice,
        course: Course::of_steps(STEPS),
        ..Options::default()
    };
    let run = Run::new(program, None, options).expect("no part of it is in C");
    let lines: Vec<Line> = run.collect();
    let mut text = String::new();
    for line in &lines {
        match line {
            Line::Step(step) => {
                let time = step.time;
                let (instance, number, to) = (&step.instance, step.number, &step.to);
                writeln!(text, "{time} {instance} {number}:{to}")
            }
            Line::Fault(fault) => writeln!(text, "fault {}", fault.fault),
            // The clock of a system with a fault runs on in one and not in the other.
            Line::End(_) => writeln!(text, "end"),
            Line::Start(_) | Line::Situation(_) => Ok(()),
        }
        .expect("a string takes it");
    }
    (text, lines)
}

/// The same of stack IR.
fn interpreted(program: &Program, module: &Module, choice: Choice) -> String {
    let chooser = Rc::new(Chooser::new(program, choice));
    let target = IrTarget::new(module, Rc::clone(&chooser));
    fired(chooser, target, choice)
}

/// The same of a compiled specification.
fn fired<'p, T: Target>(chooser: Rc<Chooser<'p>>, target: T, choice: Choice) -> String {
    let mut text = String::new();
    for line in CompiledRun::new(chooser, target, choice, Course::of_steps(STEPS)) {
        match line {
            CompiledLine::Step(step) => {
                let (time, instance) = (step.time, &step.instance);
                let (number, to) = (step.number, &step.to);
                writeln!(text, "{time} {instance} {number}:{to}")
            }
            CompiledLine::Fault { fault, .. } => writeln!(text, "fault {fault}"),
            CompiledLine::End { .. } => writeln!(text, "end"),
        }
        .expect("a string takes it");
    }
    text
}

/// Specifications with what once differed, as small as they can be.
const SMALL: [(&str, &str); 8] = [
    (
        "arguments are computed in order, and before a module is there",
        "type Pair = array [1..2] of integer;
        channel C(x, y); by x: M(given: Pair; n: integer);
        module Inner process (pair: Pair; change, others: integer); ip p: C(y); end;
        body InnerBody for Inner;
          state first, other;
          initialize
            provided (pair[1] = 1) and (change = 2) and (others = 0) to first begin end;
            provided otherwise to other begin end;
          trans from first when p.M(given, n) provided given[1] = 1 name as_it_was:
            begin end;
          trans when p.M name changed: begin end;
        end;
        modvar m: Inner;
        ip q: C(x);
        var own: Pair; left, noted: integer;
        function change: integer;
        begin own[1] := own[1] + 1; change := own[1] end;
        pure function bump(var pair: Pair): integer;
        begin pair[1] := pair[1] + 1; bump := pair[1] end;
        procedure note(pair: Pair; n: integer);
        begin noted := pair[1] * 10 + n end;
        initialize begin
          left := 2;
          own[1] := 1;
          own[2] := 1;
          init m with InnerBody(own, change, ord(exist h: Inner suchthat true));
          connect q to m.p
        end;
        trans provided left = 2 name sends: begin
          left := 1; own[1] := 1; output q.M(own, change)
        end;
        trans provided left = 1 name notes: begin
          left := 0; own[1] := 1; note(own, change)
        end;
        trans provided (left = 0) and (noted = 12) name again: begin
          left := -1; own[1] := 2; note(own, bump(own))
        end;
        trans provided (left = -1) and (noted = 23) name right: begin left := -2 end;",
    ),
    (
        "a point of a child is detached from the point above it",
        "channel C(x, y); by x: M; by y: N;
        module Inner process; ip p: C(y); end;
        body InnerBody for Inner;
          ip q: C(x);
          trans when p.M name takes: begin output p.N end;
        end;
        module Outer process; ip p: C(y); end;
        body OuterBody for Outer;
          modvar m: Inner;
          state a, b, c, d;
          initialize to a begin init m with InnerBody; attach p to m.p end;
          trans from a to b when p.M name never: begin end;
          trans from a to b delay(1) name detaches: begin detach m.p end;
          trans from b to c when p.M name own: begin output p.N end;
        end;
        modvar o: Outer; ip q: C(x);
        state a, b;
        initialize to a begin init o with OuterBody; connect q to o.p; output q.M end;
        trans from a to b delay(2) name asks: begin output q.M end;
        trans when q.N name answered: begin end;",
    ),
    (
        "a range without members may have ends beyond those of sets",
        "var s: set of 0..7; n: integer; state a, b, c, d;
    initialize to a begin n := 900; s := [3] end;
    trans from a to b begin s := s + [n..2]; n := -5 end;
    trans from b to c provided s = [3] begin s := s + [4..n] end;
    trans from c to d provided s = [3] begin s := s + [n..4] end;",
    ),
    (
        "a child without connections keeps those of its internal points",
        "channel C(x, y); by x: M; by y: N;
        module Inner process; ip p: C(x); end;
        body InnerBody for Inner;
          ip q: C(x); r: C(y);
          state a, b;
          initialize to a begin connect q to r; output q.M end;
          trans when r.M name takes: begin output p.M end;
          trans from a to b delay(2) name asks: begin output q.M end;
        end;
        modvar m: Inner; ip s: C(y);
        state a, b;
        initialize to a begin init m with InnerBody; connect s to m.p end;
        trans when s.M name gets: begin end;
        trans from a to b delay(1) name cuts: begin disconnect m end;",
    ),
    (
        "a copy has parts that were never set",
        "type
          kind = record case tag: boolean of false: (v: boolean); true: (w: 3..5) end;
          kinds = array [1..3] of kind;
        var s: kinds; n: integer; state a, b, c, d;
        procedure sets(others: kinds; var one: kind);
        var own, other: kind; list: array [5..6] of 7..9;
        begin own.tag := false; own.v := true; other := own; one := other; others[3] := one end;
        initialize to a begin n := 2 end;
        trans from a to b begin sets(s, s[n]); s[1] := s[2] end;
        trans from b to c provided s[1].v begin s[3] := s[1] end;
        trans from c to d provided s[3].v begin end;",
    ),
    (
        "names repeat in other scopes",
        "const two = 2; type kind = 0..9;
        channel C(x, y); by x: M(k: kind); by y: N;
        module H process; ip p: C(x); export e: kind; end;
        body modules for H;
          const two = 3; type kind = 5..7;
          channel C(x, y); by x: M(k: kind); by y: N;
          module H process; ip p: C(x); export e: kind; end;
          body modules for H;
            state s, t; var k: integer;
            procedure select; procedure select; begin k := k + 2 end; begin select end;
            initialize to s begin k := 0; e := 6 end;
            trans from s to t name a: begin select; output p.M(5) end;
          end;
          body scratch for H; end;
          modvar m, n: H; ip q: C(y);
          state s, t; var k: integer;
          procedure select; procedure select; begin k := k + two end; begin select; select end;
          initialize to s begin k := 0; e := 3; init m with modules; init n with scratch;
            connect q to m.p end;
          trans when q.M provided k + m.e = 6 from s to t name a: begin select; output p.M(8) end;
        end;
        body locals for H; end;
        modvar m, n: H; ip p: C(y);
        state s, t; var k: integer;
        procedure select; procedure select; begin k := k + two end; begin select end;
        initialize to s begin k := 0; init m with modules; init n with locals; connect p to m.p end;
        trans when p.M provided k + m.e = 3 from s to t name a: begin select end;
        trans from t to s provided k = 2 name select: begin end;",
    ),
    (
        "a set has members above its base",
        "var s: set of 0..2; n: 0..9; state a, b, c, d;
        initialize to a begin n := 2; s := [] end;
        trans from a to b begin s := s + [0..n] end;
        trans from b to c provided s = [0..2] begin n := 3 end;
        trans from c to d begin s := [n] end;",
    ),
    (
        "a set has members below its base",
        "var s: set of 2..5; n: 0..9; state a, b, c, d;
        initialize to a begin n := 2; s := [] end;
        trans from a to b begin s := s + [n..4] end;
        trans from b to c provided s = [2..4] begin n := 1 end;
        trans from c to d begin s := s * [2..4] + [n] end;",
    ),
];

#[test]
fn small_specifications_fire_the_same_everywhere() {
    for (title, text) in SMALL {
        let text = format!("specification s systemprocess; default individual queue; {text} end.");
        let small = Generated::of_text("s", &text);
        assert!(
            reference(&small.program, Choice::First).0.lines().count() > 3,
            "{title}"
        );
        assert_eq!(small.ir_differs(), None, "{title}");
        assert_eq!(small.c_differs(), None, "{title}");
    }
}
