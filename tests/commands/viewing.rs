//! view.

use super::shell::Shell;

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

#[test]
fn what_cannot_be_shown_is_told() {
    let shell = Shell::new();
    shell.write("switch.strl", SWITCH);
    shell.write(
        "wrong.strl",
        "module M:\noutput O;\npresent O else emit O end\n.\n",
    );
    let branches: Vec<String> = (0..8).map(|at| format!("await I{at}")).collect();
    let inputs: Vec<String> = (0..8).map(|at| format!("I{at}")).collect();
    let (inputs, branches) = (inputs.join(", "), branches.join(" || "));
    let large = format!("module M:\ninput {inputs};\noutput O;\n[{branches}]; emit O\n.\n");
    shell.write("large.strl", large);
    for (arguments, status, says) in [
        (&["view", "wrong.strl"][..], 1, "error[causality-cycle]"),
        (&["view", "large.strl"], 1, "too large to show"),
        (
            &["view", "switch.strl", "--budget", "2"],
            1,
            "error[automaton-too-large]",
        ),
        (
            &["view", "switch.strl", "--main", "M"],
            1,
            "error[unknown-name]",
        ),
        (&["view", "none.strl"], 2, "none.strl"),
        (&["view", "switch.loom"], 2, "shows only Esterel modules"),
        (
            &["view", "switch.strl", "--svg", "no/where.svg"],
            2,
            "no/where.svg",
        ),
    ] {
        let said = shell.loom(arguments);
        assert_eq!(said.status, Some(status), "{arguments:?} {}", said.note);
        assert_eq!(said.result, "", "{arguments:?}");
        assert!(said.note.contains(says), "{arguments:?} {}", said.note);
    }
}
