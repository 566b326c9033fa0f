//! check, fmt, view and simulate of Estelle.

use super::building;
use super::shell::Shell;

/// A specification with two bodies, one of which has a constant that is left open.
const LAMP: &str = "\
specification lamp;
default individual queue;
const most = any integer;
channel Switch(hand, bulb); by hand: ON; OFF;
module Bulb systemprocess; ip s: Switch(bulb); end;
body BulbBody for Bulb;
state dark, bright; var times: integer;
initialize to dark begin times := 0 end;
trans from dark to bright when s.ON provided times < most name lit: begin times := times + 1 end;
provided otherwise begin end;
from bright to dark when s.OFF begin end;
end;
module Hand systemprocess; ip s: Switch(hand); end;
body HandBody for Hand;
trans delay(1, 2) begin output s.ON; output s.OFF end;
end;
modvar b: Bulb; h: Hand;
initialize begin init b with BulbBody; init h with HandBody; connect b.s to h.s end;
end.
";

#[test]
fn a_specification_is_checked() {
    let shell = Shell::new();
    shell.write("lamp.stl", LAMP);
    shell.write("lamp.estelle", LAMP);
    let checked = shell
        .loom(&["check", "lamp.stl", "lamp.estelle", "--set", "most=3"])
        .fine();
    let expected = "\
lamp.stl: specification lamp: 2 bodies, 4 transitions
lamp.estelle: specification lamp: 2 bodies, 4 transitions
";
    assert_eq!(checked, expected);
    shell
        .loom(&["check", "lamp.stl"])
        .failed(1, &["error[estelle-constant-unset]"]);
    shell
        .loom(&["check", "lamp.stl", "--set", "most"])
        .failed(2, &["write NAME=VALUE"]);
    shell.write("wrong.stl", LAMP.replace("from dark to", "from to"));
    shell
        .loom(&["check", "wrong.stl"])
        .failed(1, &["--> wrong.stl:9:12"]);
}

#[test]
fn a_specification_is_formatted_in_its_encoding() {
    let shell = Shell::new();
    shell.write("lamp.stl", LAMP);
    let listed = shell.loom(&["fmt", "--check", "."]);
    assert_eq!(listed.status, Some(1));
    assert_eq!(listed.result, "would change ./lamp.stl\n");
    shell.loom(&["fmt", "lamp.stl"]).fine();
    let formatted = shell.read("lamp.stl");
    assert!(formatted.contains("\n    from dark\n      to bright\n        when s.ON\n"));
    assert_eq!(shell.loom(&["fmt", "--check", "lamp.stl"]).fine(), "");
    let latin = b"specification s; { caf\xe9 }  end.";
    shell.write("latin.stl", latin);
    shell.loom(&["fmt", "latin.stl"]).fine();
    let formatted = std::fs::read(shell.path("latin.stl")).unwrap();
    assert_eq!(formatted, b"specification s; { caf\xe9 }\nend.\n");
}

#[test]
fn a_specification_is_shown_and_drawn() {
    let shell = Shell::new();
    shell.write("lamp.stl", LAMP);
    let shown = shell.loom(&["view", "lamp.stl", "--set", "most=3"]).fine();
    let expected = "\
specification lamp
    b: Bulb with BulbBody, systemprocess
    h: Hand with HandBody, systemprocess

body BulbBody for Bulb, systemprocess: 2 states, 3 transitions

state start
    initialize: times := 0 -> dark

state dark
    when s.ON, provided times < most \"lit\": times := times + 1 -> bright
    when s.ON, provided otherwise -> bright

state bright
    when s.OFF -> dark

body HandBody for Hand, systemprocess: no states, 1 transition

state any
    delay(1, 2): output s.ON; output s.OFF -> any
";
    assert_eq!(shown, expected);
    let one = ["view", "lamp.stl", "--set", "most=3", "--body", "handbody"];
    let shown = shell.loom(&one).fine();
    assert!(shown.starts_with("body HandBody for Hand"), "{shown}");
    let drawn = ["view", "lamp.stl", "--set", "most=3", "--svg", "lamp.svg"];
    shell.loom(&drawn).fine();
    let drawn = shell.read("lamp.svg");
    assert!(drawn.starts_with("<svg ") && drawn.ends_with("</svg>\n"));
    assert!(drawn.contains(">times := times + 1</text>"));
    let none = ["view", "lamp.stl", "--set", "most=3", "--body", "BulbBodi"];
    shell.loom(&none).failed(2, &["did you mean `BulbBody`?"]);
}

#[test]
fn a_specification_becomes_c() {
    let shell = Shell::new();
    shell.write("lamp.stl", LAMP);
    let build = ["build", "lamp.stl", "--set", "most=3", "-o", "c"];
    let built = shell.loom(&build).fine();
    assert!(built.starts_with("wrote c/lamp.c, "), "{built}");
    assert!(shell.read("c/lamp.h").contains("int32_t lamp_step("));
    building::compile(&shell.path("c"), "lamp.c", "-std=c11 -Wall -Wextra -Werror");
    let named = [
        &build[..],
        &["--name", "light", "--instances", "bulbbody=2"],
    ]
    .concat();
    shell.loom(&named).fine();
    assert!(shell.read("c/light.h").contains("int32_t light_step("));
    let fails = |more: &[&str], says: &str| {
        let words = [&build[..], more].concat();
        shell.loom(&words).failed(2, &[says]);
    };
    fails(&["--queue", "0"], "0 is not in 1..=65536");
    fails(&["--instances", "BulbBody"], "write BODY=N");
    fails(&["--instances", "BulbBodi=2"], "did you mean `bulbbody`?");
    fails(
        &["--main", "x"],
        "--main does not apply to Estelle specifications",
    );
    fails(&["--name", "int"], "cannot be the name of the generated C");
    let many = [&build[..], &["--instances", "BulbBody=65536"]].concat();
    shell.loom(&many).failed(1, &["has no C: 65538 modules"]);
    let shines = "pure function shines(lit: row): boolean; primitive;";
    let sets = LAMP
        .replace("provided times < most", "provided shines([1])")
        .replace(
            "state dark",
            &format!("type row = set of 0..9; {shines} state dark"),
        );
    shell.write("sets.stl", sets);
    let refused = ["build", "sets.stl", "--set", "most=3"];
    let says = "sets.stl has no C: the parameter `lit` of the primitive routine `shines`";
    shell.loom(&refused).failed(1, &[says]);
}

#[test]
fn commands_for_stacks_refuse_a_specification() {
    let shell = Shell::new();
    shell.write("lamp.stl", LAMP);
    shell.write("abro.strl", "module A:\nhalt\n.\n");
    for command in ["explain", "prove"] {
        shell
            .loom(&[command, "lamp.stl"])
            .failed(1, &["lamp.stl is an Estelle specification: use"]);
    }
    let plays = "`loom test` plays .case files";
    shell.loom(&["test", "lamp.stl"]).failed(2, &[plays]);
    for option in ["--main", "--process", "--layer"] {
        shell
            .loom(&["view", "lamp.stl", option, "x"])
            .failed(2, &["does not apply to an Estelle specification"]);
    }
    shell
        .loom(&["view", "abro.strl", "--set", "x=1"])
        .failed(2, &["apply only to Estelle specifications"]);
    shell
        .loom(&["check", "abro.strl", "--set", "x=1"])
        .failed(2, &["apply only to Estelle specifications"]);
}

#[test]
fn a_specification_is_simulated() {
    let shell = Shell::new();
    shell.write("lamp.stl", LAMP);
    let simulate = |more: &[&str]| {
        let words = ["simulate", "lamp.stl", "--set", "most=1"];
        shell.loom(&[&words, more].concat())
    };
    let expected = "\
start t=0 lamp: init b init h
step 1 t=1 h: ->- \"t1\" in=- out=s.ON out=s.OFF
step 1 t=1 b: dark>bright \"lit\" in=s.ON
step 2 t=1 b: bright>dark \"t3\" in=s.OFF
time t=1 steps=3
";
    assert_eq!(simulate(&["--for", "1s"]).fine(), expected);
    let lines = simulate(&["--steps", "2", "--json"]).fine();
    let last = lines.lines().last().unwrap_or_default();
    let expected = concat!(
        r#"{"kind":"end","ending":"steps","time":1,"steps":2,"#,
        r#""queued":[["b.s",1]],"counters":{}}"#,
    );
    assert_eq!(last, expected);
    let dumped = simulate(&["--steps", "1", "--json", "--dump"]).fine();
    assert!(dumped.contains(r#"{"kind":"situation","time":1,"system":"h","tree":"#));
    let seeded = simulate(&["--seed", "4", "--steps", "50"]).fine();
    assert_eq!(simulate(&["--seed", "4", "--steps", "50"]).fine(), seeded);
    assert_ne!(simulate(&["--seed", "5", "--steps", "50"]).fine(), seeded);
    let drawn = simulate(&["--choice", "seed", "--steps", "1"]);
    assert!(drawn.note.starts_with("seed "), "{}", drawn.note);
}

#[test]
fn the_c_of_a_specification_is_simulated() {
    let shell = Shell::new();
    shell.write("lamp.stl", LAMP);
    let simulate = |more: &[&str]| {
        let words = ["simulate", "lamp.stl", "--set", "most=1"];
        shell.loom(&[&words, more].concat())
    };
    let expected = "\
step 1 t=1 h: ->- \"t1\"
step 1 t=1 b: dark>bright \"lit\"
step 2 t=1 b: bright>dark \"t3\"
time t=1 steps=3
";
    assert_eq!(simulate(&["--for", "1s", "--compiled"]).fine(), expected);
    let seeded = ["--seed", "4", "--steps", "50"];
    let of_c = simulate(&[&seeded[..], &["--compiled"]].concat()).fine();
    let interpreted = simulate(&seeded).fine();
    let mut interpreted = interpreted
        .lines()
        .filter(|line| !line.starts_with("start"));
    for line in of_c.lines().filter(|line| line.starts_with("step")) {
        let known = interpreted.next().unwrap_or_default();
        assert!(known.starts_with(line), "{line}\n{known}");
    }
    let lines = simulate(&["--steps", "2", "--json", "--compiled"]).fine();
    let last = lines.lines().last().unwrap_or_default();
    assert_eq!(
        last,
        r#"{"kind":"end","time":1,"steps":2,"ending":"steps"}"#
    );
    let build = ["build", "lamp.stl", "--set", "most=3", "-o", "c"];
    shell
        .loom(&[&build[..], &["--choice", "host"]].concat())
        .fine();
    assert!(shell.read("c/lamp.h").contains("uint32_t lamp_choose("));
}

#[test]
fn all_runs_of_a_specification_are_explored() {
    let shell = Shell::new();
    let bounded = LAMP.replace(
        "trans delay(1, 2) begin",
        "state a, z; initialize to a begin end; trans from a to z delay(1, 2) begin",
    );
    shell.write("lamp.stl", &bounded);
    let all = ["simulate", "lamp.stl", "--set", "most=1", "--choice", "all"];
    let found = shell.loom(&all).fine();
    let expected = "\
runs end: 1 done, 0 deadlocks
transitions: 3 of 4 fire
never fires: BulbBody \"t2\"
";
    assert!(found.ends_with(expected), "{found}");
    // A bulb that takes no OFF leaves it in the queue.
    shell.write("lamp.stl", bounded.replace("when s.OFF", "when s.ON"));
    let says = "found 1 deadlock and 0 faults";
    let found = shell.loom(&all);
    assert!(
        found
            .result
            .contains("\ndeadlock t=1 steps=2 queued: b.s 1\n"),
        "{found:?}"
    );
    found.failed(1, &[says]);
    shell
        .loom(&[&all[..], &["--situations", "2"]].concat())
        .failed(3, &["the limit of --situations was reached"]);
}

#[test]
fn options_that_do_not_fit_a_simulation_are_refused() {
    let shell = Shell::new();
    shell.write("lamp.stl", LAMP);
    shell.write("abro.strl", "module A:\nhalt\n.\n");
    let of_specifications = [
        (
            "--choice all --seed 1",
            "--seed applies only to `--choice seed`",
        ),
        (
            "--choice all --for 1s",
            "--for applies only to `--choice first`",
        ),
        ("--choice all --steps 1", "--steps applies only to"),
        (
            "--choice all --compiled",
            "--compiled applies only to `--choice first`",
        ),
        (
            "--compiled --loop-limit 5",
            "--loop-limit applies only to the interpreter",
        ),
        (
            "--c lamp.c",
            "--c applies only to specifications with --compiled",
        ),
        (
            "--situations 1",
            "--situations applies only to `--choice all`",
        ),
        ("--messages 1", "--messages applies only to stacks"),
        (
            "--interpret",
            "--interpret applies only to stacks and Esterel programs",
        ),
        ("--main x", "--main applies only to Esterel programs"),
    ];
    for (options, says) in of_specifications {
        let words = format!("simulate lamp.stl --set most=1 {options}");
        let words: Vec<&str> = words.split(' ').collect();
        shell.loom(&words).failed(2, &[says]);
    }
    for option in ["--choice all", "--steps 1"] {
        let words = format!("simulate abro.strl {option}");
        let words: Vec<&str> = words.split(' ').collect();
        let says = "applies only to Estelle specifications";
        shell.loom(&words).failed(2, &[says]);
    }
}

#[test]
fn faults_and_parts_in_c_end_a_simulation() {
    let shell = Shell::new();
    let faulty = LAMP
        .replace("times: integer", "times: 0..1")
        .replace("times < most", "true");
    shell.write("lamp.stl", faulty);
    let run = ["simulate", "lamp.stl", "--set", "most=1", "--steps", "9"];
    let said = shell.loom(&run);
    let line = "fault step 3 t=2 b: range: 2 is not in 0..1 (lamp.stl:9:";
    assert!(said.result.contains(line), "{}", said.result);
    let said = shell.loom(&[&run[..], &["--compiled"]].concat());
    let line = "\nfault step 3 t=2 b: range (1)\n";
    assert!(said.result.contains(line), "{}", said.result);
    let in_c = LAMP.replace("state dark", "procedure shine; primitive; state dark");
    shell.write("lamp.stl", &in_c);
    shell.loom(&run).failed(
        1,
        &["`shine` is `primitive`: the interpreter runs no C code"],
    );
    let compiled = [&run[..], &["--compiled"]].concat();
    shell.write(
        "int.stl",
        LAMP.replace("specification lamp", "specification Int"),
    );
    let named = ["simulate", "int.stl", "--set", "most=1", "--compiled"];
    let says = "`int` cannot be the name of the generated C: C or the runtime reserves it; rename \
                the specification";
    shell.loom(&named).failed(2, &[says]);
    let says = "`shine` is written in C: add its source with --c FILE";
    shell.loom(&compiled).failed(1, &[says]);
    let shines = "times := times + 1;\n shine";
    let in_c = in_c.replace("times := times + 1", shines);
    shell.write("lamp.stl", in_c);
    let shine = "#include <stdio.h>\nvoid lamp_shine(void *user) {\n    (void)user;\n    \
                 puts(\"light\");\n}\n";
    shell.write("shine.c", shine);
    let shone = shell.loom(&[&compiled[..], &["--c", "shine.c"]].concat());
    assert!(shone.note.contains("light"), "{shone:?}");
}
