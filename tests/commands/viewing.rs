//! view.

use super::shell::Shell;
use std::env;
use std::path::Path;

const SWITCH: &str = "module SWITCH:\ninput A;\noutput O;\nloop await A; emit O; await A end\n.\n";

#[test]
fn an_automaton_is_shown_and_drawn() {
    let shell = Shell::new();
    shell.write("switch.strl", SWITCH);
    let shown = shell.loom(&["view", "switch.strl"]).fine();
    assert!(shown.starts_with("SWITCH: 3 states, "), "{shown}");
    assert!(shown.contains("if A: emit O -> 2\n"), "{shown}");
    let said = shell
        .loom(&["view", "switch.strl", "--svg", "switch.svg"])
        .fine();
    assert!(said.starts_with("wrote switch.svg, "), "{said}");
    let drawn = shell.read("switch.svg");
    assert!(drawn.starts_with("<svg ") && drawn.ends_with("</svg>\n"));
    assert!(drawn.contains(">emit O</text>"));
}

const BLINKS: &str = "\
worker blinks

session {
    signal light
    run lamp and other
}

process lamp {
    timer off
    loop {
        await light                       // DARK
        start off after 1 s
        await off                         // BRIGHT
    }
}

process other {
    on deliver(message) if message.length > 0 { emit light }
}

on deliver(message) { deliver message }

on send(message) { send message }

stack blinking { link air { blinks { port messages } } }
";

#[test]
fn a_process_of_a_layer_is_shown_and_drawn() {
    let shell = Shell::new();
    shell.write("blinks.loom", BLINKS);
    let shown = shell
        .loom(&["view", "blinks.loom", "--process", "lamp"])
        .fine();
    let expected = "\
blinks.lamp: 3 states, 5 nodes

state 0, the start
    -> DARK

state DARK
    if light: start off after 1 s -> BRIGHT
    else -> DARK

state BRIGHT
    if off -> DARK
    else -> BRIGHT
";
    assert_eq!(shown, expected);
    let same = ["--layer", "blinks", "--stack", "blinking"];
    let arguments = [&["view", "blinks.loom", "--process", "lamp"][..], &same[..]].concat();
    assert_eq!(shell.loom(&arguments).fine(), expected);
    let other = shell
        .loom(&["view", "blinks.loom", "--process", "other"])
        .fine();
    let condition = "    if deliver(message) if message.length > 0: emit light -> 1\n";
    assert!(other.contains(condition), "{other}");
    // A condition without signals is a step.
    shell.write("plain.loom", BLINKS.replace("emit light", "count long"));
    let arguments = ["view", "plain.loom", "--process", "other"];
    let other = shell.loom(&arguments).fine();
    let step = "    if deliver(message): if message.length > 0 { count long } -> 1\n";
    assert!(other.contains(step), "{other}");
    let drawn = ["--process", "lamp", "--svg", "lamp.svg"];
    let arguments = [&["view", "blinks.loom"][..], &drawn[..]].concat();
    let said = shell.loom(&arguments).fine();
    assert!(said.starts_with("wrote lamp.svg, "), "{said}");
    let drawn = shell.read("lamp.svg");
    assert!(drawn.contains(">BRIGHT</text>") && drawn.contains(">start off after 1 s</text>"));
}

#[test]
fn the_processes_of_signalling_are_those_of_the_figures() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let layer = root.join("layers/policy/spp");
    let layer = layer.to_str().expect("the path is text");
    let shell = Shell::new();
    for process in ["booster", "debooster"] {
        let arguments = ["view", layer, "--process", process];
        let shown = shell.loom(&arguments).fine();
        is_golden(&root.join(format!("tests/commands/{process}.txt")), &shown);
    }
    let drawn = ["--process", "booster", "--svg", "booster.svg"];
    let arguments = [&["view", layer][..], &drawn[..]].concat();
    shell.loom(&arguments).fine();
    let picture = root.join("book/src/pictures/booster.svg");
    is_golden(&picture, &shell.read("booster.svg"));
}

/// Compares a text with the one in the repository.
fn is_golden(path: &Path, text: &str) {
    if env::var_os("BLESS").is_some() {
        std::fs::write(path, text).expect("the repository can be written");
    }
    let known = std::fs::read_to_string(path).unwrap_or_default();
    assert!(
        text == known,
        "BLESS=1 writes {} anew:\n{text}",
        path.display()
    );
}

#[test]
fn a_module_that_cannot_be_shown_is_told() {
    let shell = Shell::new();
    shell.write("switch.strl", SWITCH);
    let wrong = "module M:\noutput O;\npresent O else emit O end\n.\n";
    shell.write("wrong.strl", wrong);
    let branches: Vec<String> = (0..8).map(|at| format!("await I{at}")).collect();
    let inputs: Vec<String> = (0..8).map(|at| format!("I{at}")).collect();
    let (inputs, branches) = (inputs.join(", "), branches.join(" || "));
    let large = format!("module M:\ninput {inputs};\noutput O;\n[{branches}]; emit O\n.\n");
    shell.write("large.strl", large);
    for (arguments, status, says) in [
        ("wrong.strl", 1, "error[causality-cycle]"),
        ("large.strl", 1, "too large to show"),
        ("switch.strl --budget 2", 1, "error[automaton-too-large]"),
        ("switch.strl --main M", 1, "error[unknown-name]"),
        ("nowhere.strl", 2, "nowhere.strl"),
        (
            "switch.strl --process lamp",
            2,
            "choose a module of it with --main",
        ),
        ("switch.strl --svg no/where.svg", 2, "no/where.svg"),
    ] {
        is_refused(&shell, arguments, status, says);
    }
}

#[test]
fn a_process_that_cannot_be_shown_is_told() {
    let shell = Shell::new();
    shell.write("blinks.loom", BLINKS);
    shell.write(
        "none.loom",
        "worker plain\n\non deliver(message) { deliver message }\n",
    );
    shell.write("bad.loom", BLINKS.replace("emit light", "emit lamp.light"));
    let never = BLINKS.replace("run lamp and other", "run other");
    shell.write("never.loom", never);
    let several = "declares the processes lamp, other; choose one, as in --process lamp";
    let near = "declares no process `lamb`: did you mean `lamp`?";
    for (arguments, status, says) in [
        ("nowhere.loom", 2, "nowhere.loom"),
        ("none.loom", 1, "none.loom declares no process"),
        ("bad.loom", 1, "error[unknown-event]"),
        (
            "never.loom --process lamp",
            1,
            "the process `lamp` never runs",
        ),
        ("blinks.loom", 2, several),
        ("blinks.loom --process lamb", 2, near),
        ("blinks.loom --layer blink", 2, "declares no layer `blink`"),
        ("blinks.loom --stack blink", 2, "declares no stack `blink`"),
        (
            "blinks.loom --process lamp --budget 2",
            1,
            "error[automaton-too-large]",
        ),
        ("blinks.loom --main lamp", 2, "--process"),
    ] {
        is_refused(&shell, arguments, status, says);
    }
}

#[track_caller]
fn is_refused(shell: &Shell, arguments: &str, status: i32, says: &str) {
    let words: Vec<&str> = ["view"].into_iter().chain(arguments.split(' ')).collect();
    let said = shell.loom(&words);
    assert_eq!(said.status, Some(status), "{arguments} {}", said.note);
    assert_eq!(said.result, "", "{arguments}");
    assert!(said.note.contains(says), "{arguments} {}", said.note);
}
