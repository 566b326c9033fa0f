//! What layers of the library promise on bad links: in, stacks of them above those in `fault/` and
//! below those in `check/`; out, that each seed keeps it, and that it is broken without the layer.

use super::shell::{Said, Shell};

/// The layers that watch, around a port.
const WATCHED: &str = "once { in_order { unchanged { port messages } } }";

/// What they say if all is well.
const FINE: [&str; 6] = [
    "--expect",
    "once.came_twice = 0",
    "--expect",
    "in_order.not_in_order = 0",
    "--expect",
    "unchanged.was_changed = 0",
];

/// Runs a stack of one link with some seeds.
fn runs(used: &[&str], above: &str, words: &[&str]) -> Said {
    let mut stack = String::new();
    for layer in [used, &["check.once", "check.in_order", "check.unchanged"]].concat() {
        stack.push_str(&format!("use {layer}\n"));
    }
    stack.push_str(&format!("\nstack bad {{ link air {{ {above} }} }}\n"));
    let shell = Shell::new();
    shell.write("bad.loom", stack);
    let always = ["simulate", "bad.loom", "--interpret", "--seed", "1"];
    shell.loom(&[&always[..], &["--runs", "8"], words].concat())
}

#[test]
fn what_is_sealed_and_numbered_comes_once_in_order_and_unchanged() {
    let used = [
        "fault.lose",
        "fault.duplicate",
        "fault.reorder",
        "fault.corrupt",
        "secure.sealed",
        "order.sequencer",
    ];
    let faults = "lose { duplicate { reorder { corrupt { LAYERS } } } }";
    let stack = |layers: &str| faults.replace("LAYERS", layers);
    let both = stack(&format!("sealed(key = 7) {{ sequencer {{ {WATCHED} }} }}"));
    let sequenced = stack(&format!("sequencer {{ {WATCHED} }}"));
    let sealed = stack(&format!("sealed(key = 7) {{ {WATCHED} }}"));
    runs(&used, &both, &FINE).fine();
    runs(&used, &sequenced, &FINE).failed(1, &["unchanged.was_changed = 0: "]);
    let words = ["once.came_twice = 0: ", "in_order.not_in_order = 0: "];
    runs(&used, &sealed, &FINE).failed(1, &words);
}

#[test]
fn what_credit_sends_is_never_more_than_there_is_room_for() {
    let used = ["fault.delay", "flow.credit"];
    let stack = format!(
        "delay(least = 2 ms, most = 15 ms) {{ credit(window = 8, waiting = 8) {{ {WATCHED} }} }}"
    );
    let patient = ["--echo", "--every", "10 ms", "--messages", "300"];
    let kept = [
        "--expect",
        "no losses",
        "--expect",
        "credit.more_than_granted = 0",
    ];
    runs(&used, &stack, &[&patient[..], &kept, &FINE].concat()).fine();
    let hasty = ["--every", "1 ms", "--messages", "300"];
    runs(&used, &stack, &[&hasty[..], &kept[2..], &FINE].concat()).fine();
    let all = ["--expect", "refused = 0"];
    runs(&used, &stack, &[&hasty[..], &all].concat()).failed(1, &["refused = 0: "]);
}

#[test]
fn what_parity_repairs_is_not_lost() {
    let plain = "unchanged { port messages }";
    let repaired = format!("parity(k = 4, r = 2, longest = 80, blocks = 160) {{ {plain} }}");
    let expect = ["--expect", "delivered >= 99%", "--expect"];
    let words = ["--loss", "4%", "unchanged.was_changed = 0"];
    let words = [&words[..2], &expect, &words[2..]].concat();
    runs(&["boost.parity"], &repaired, &words).fine();
    runs(&[], plain, &words).failed(1, &["delivered >= 99%: "]);
}
