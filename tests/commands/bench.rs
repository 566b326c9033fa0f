//! bench: the contract of its JSON, what it keeps, and that slowness is found.

use super::shell::Shell;
use serde_json::Value;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

const STACK: &str = include_str!("../../bench/udp.loom");
const ENDS: &str = include_str!("../../bench/udp.c");

/// Ends that send nothing, so that only what is planted is counted.
const IDLE: &str = "\
#include <stdbool.h>
#include <stdio.h>
#ifdef CALLS
#define CALLED(name) void name(void); void name(void) {}
CALLED(tcp_stack_arrived)
CALLED(tcp_stack_arrived_grant_sends)
CALLED(tcp_stack_leaves)
CALLED(udp_stack_leaves)
CALLED(udp_stack_arrived)
CALLED(udp_stack_arrived_mtu)
CALLED(udp_stack_arrived_lost)
CALLED(udp_stack_arrived_failed)
#endif
void bench_step(volatile unsigned *turns);
__attribute__((noinline)) void bench_step(volatile unsigned *turns) {
    PLANTED
    *turns = 1;
}
int main(void) {
    volatile unsigned turns = 0;
    bench_step(&turns);
    puts(\"messages 1\");
}
";

fn shell(ends: &str) -> Shell {
    let shell = Shell::new();
    shell.write("bench/udp.loom", STACK);
    shell.write("bench/udp.c", ends);
    shell
}

fn rows(report: &Value) -> &[Value] {
    report["rows"].as_array().expect("rows are a list")
}

#[test]
fn the_report_keeps_its_contract_and_its_programs_can_be_counted_again() {
    let shell = shell(ENDS);
    let said = shell.loom(&["bench", "udp", "--json", "--alone", "--keep", "kept"]);
    assert_eq!((said.status, &*said.note), (Some(0), ""), "{said:?}");
    let report: Value = serde_json::from_str(&said.result).expect("JSON");
    assert_eq!(report["bench"], "udp");
    let date = report["date"].as_str().expect("a date");
    assert!(date.len() == 10 && date.starts_with("20"), "{date}");
    assert!(
        report["machine"]
            .as_str()
            .is_some_and(|text| text.contains("Linux"))
    );
    let sums: Vec<&Value> = rows(&report).iter().map(|row| &row["checksums"]).collect();
    assert_eq!(sums, [["off", "off", "on", "on"]; 3].concat());
    let whos = rows(&report).iter().map(|row| &row["who"]);
    let called = whos.filter(|who| **who == "stackloom, called");
    assert_eq!(called.count(), 4, "{report}");
    let flags: Vec<&Value> = rows(&report).iter().map(|row| &row["flags"]).collect();
    assert_eq!(flags[4..8], flags[8..], "{report}");
    for (silent, asks) in rows(&report)[4..8].iter().zip(&rows(&report)[8..]) {
        assert_eq!(asks["who"], "stackloom, called, asks next", "{report}");
        assert!(
            asks["value"].as_f64() > silent["value"].as_f64(),
            "{report}"
        );
    }
    for row in rows(&report) {
        let value = row["value"].as_f64().expect("a number");
        assert!(
            row["who"]
                .as_str()
                .is_some_and(|who| who.starts_with("stackloom"))
                && row["unit"] == "instructions",
            "{row}"
        );
        assert!((50.0..10_000.0).contains(&value), "{row}");
        assert!(row["paper"].is_null() && row["metric"].is_string(), "{row}");
        assert!(
            row["compiler"]
                .as_str()
                .is_some_and(|text| text.starts_with("gcc ")),
            "{row}"
        );
        assert!(
            row["flags"]
                .as_str()
                .is_some_and(|text| text.starts_with("-O")),
            "{row}"
        );
        let variant = row["variant"].as_str().expect("a name");
        let program = shell.path("kept").join(format!("udp-{variant}"));
        let counted = Command::new(program)
            .arg("count")
            .output()
            .expect("it runs");
        assert!(counted.status.success());
        assert_eq!(counted.stdout, b"messages 1000\n");
    }
    let goals = report["goals"].as_array().expect("goals are a list");
    assert_eq!(goals.len(), 2);
    for goal in goals {
        let [limit, value] = ["limit", "value"].map(|name| goal[name].as_f64().expect("a number"));
        assert_eq!(goal["met"], value <= limit, "{goal}");
    }
}

#[test]
fn planted_slowness_misses_the_goals() {
    let fast = shell(&IDLE.replace("PLANTED", ""));
    let said = fast.loom(&["bench", "udp", "--alone", "--strict"]);
    assert_eq!(said.status, Some(0), "{said:?}");
    assert!(
        said.result.contains("goal met: a message, sums off"),
        "{said:?}"
    );
    let slow = shell(&IDLE.replace("PLANTED", "for (*turns = 0; *turns < 1000; *turns += 1) {}"));
    let said = slow.loom(&["bench", "udp", "--alone"]);
    assert_eq!(
        said.status,
        Some(0),
        "without --strict it only tells: {said:?}"
    );
    let said = slow.loom(&["bench", "udp", "--alone", "--strict"]);
    assert_eq!(said.status, Some(1), "{said:?}");
    assert!(
        said.note.contains("missed goals: a message, sums off"),
        "{said:?}"
    );
}

/// A stack that takes no time to compile.
const LAYER: &str = "\
use link.service
worker tcp
provides messages
requires frames
session { last: u8 = 0 }
on deliver(message) {
    if last < 255 { last += 1 }
    deliver message
}
on send(message) { send message }
";

/// A place with such a driver of TCP.
fn segments(ends: &str) -> Shell {
    let shell = Shell::new();
    let of = |name: &str, port| format!("stack {name} {{ link l {{ tcp {{ {port} }} }} }}\n");
    let stack = |name: &str| of(name, "port p");
    let calling = |name: &str| of(name, "port p calls arrived");
    let stacks = [stack("summed"), stack("offloaded")].concat();
    let stacks = stacks + &calling("called") + &calling("called_summed");
    let stacks = format!("use layer.tcp\n{stacks}");
    shell.write("bench/tcp.loom", &stacks);
    for name in ["whole", "slotted"] {
        let alone = format!("use layer.tcp\n{}", stack(name));
        shell.write(&format!("bench/{name}.loom"), &alone);
    }
    shell.write("bench/layer/tcp.loom", LAYER);
    shell.write("bench/tcp.c", ends);
    shell
}

#[test]
fn a_segment_is_told_from_an_answer_and_stacks_have_their_size() {
    let ways = "if (words[1][0] == 's') { turns = 1; }";
    let ends = IDLE
        .replace(
            "PLANTED",
            "if (*turns == 0) { for (int i = 0; i < 1000; i += 1) *turns = 2; }",
        )
        .replace(
            "int main(void) {",
            "int main(int count, char **words) {\n    (void)count;",
        )
        .replace(
            "    bench_step(&turns);",
            &format!("    {ways}\n    bench_step(&turns);"),
        );
    let shell = segments(&ends);
    let said = shell.loom(&["bench", "tcp", "--json", "--alone"]);
    assert_eq!((said.status, &*said.note), (Some(0), ""), "{said:?}");
    let report: Value = serde_json::from_str(&said.result).expect("JSON");
    let all = rows(&report);
    let value = |row: &Value| row["value"].as_f64().expect("a number");
    for three in all[..42].chunks(3) {
        let [input, output, both] = [&three[0], &three[1], &three[2]].map(value);
        assert!(input < 100.0 && output > 1000.0, "{three:?}");
        assert!((input + output / 2.0 - both).abs() < 0.001, "{three:?}");
    }
    let others = [
        ", Ethernet",
        ", Ethernet, an idle slot",
        ", 8 connections in turn",
    ];
    for other in others {
        let other = format!("stackloom{other}");
        let rows = all.iter().filter(|row| row["who"] == other);
        assert_eq!(rows.count(), 6, "{all:?}");
    }
    let papers = all[..3].iter().map(|row| row["paper"].as_f64());
    assert!(papers.eq([166.0, 168.0, 220.0].map(Some)), "{all:?}");
    let sizes = all.iter().filter(|row| row["unit"] == "bytes");
    assert_eq!(sizes.filter(|row| value(row) > 0.0).count(), 3, "{all:?}");
    assert_eq!(report["goals"].as_array().map(Vec::len), Some(4));
}

/// Ends that take 200 steps, and say of as many frames that they were given them; behind each
/// stands what they say of its answer.
fn often(answer: &str) -> String {
    let frame = format!("puts(\"frame l 0102{answer}\");");
    let script = "if (count == 2 && words[1][0] == 's' && words[1][1] == 'c')";
    let step = "    bench_step(&turns);";
    let steps = format!(
        "    {script} {{
        for (int i = 0; i < 200; i += 1) {frame}
        return 0;
    }}
    for (int i = 0; i < 200; i += 1) {step}"
    );
    let ends = IDLE.replace("PLANTED", "").replace(step, &steps);
    ends.replace("int main(void) {", "int main(int count, char **words) {")
}

#[test]
fn each_rewrite_has_its_row() {
    let shell = segments(&often(""));
    let words = [
        "bench",
        "hippco",
        "--json",
        "--alone",
        "--picture",
        "all.svg",
    ];
    let said = shell.loom(&words);
    assert_eq!((said.status, &*said.note), (Some(0), ""), "{said:?}");
    let report: Value = serde_json::from_str(&said.result).expect("JSON");
    let of = |metric: &str| {
        let all = rows(&report).iter();
        let all = all.filter(|row| {
            row["metric"]
                .as_str()
                .is_some_and(|m| m.starts_with(metric))
        });
        Vec::from_iter(all.map(|row| (&row["variant"], row["value"].as_f64().expect("a number"))))
    };
    let lines = of("lines");
    let variants: Vec<&Value> = lines.iter().map(|(variant, _)| *variant).collect();
    let ends = [variants[0], variants[variants.len() - 1]];
    assert_eq!(ends, ["interpreted", "called-specialised"]);
    assert_eq!(variants[1], "nothing");
    assert!(
        variants.iter().any(|one| *one == "pass-form-fast-path"),
        "{variants:?}"
    );
    let (interpreted, compiled) = lines.split_at(1);
    let touched = |lines: &[(&Value, f64)], range: std::ops::Range<f64>| {
        lines.iter().all(|(_, lines)| range.contains(lines))
    };
    assert!(touched(compiled, 1.0..3.0), "{lines:?}");
    assert!(touched(interpreted, 50.0..5000.0), "{lines:?}");
    for metric in ["I_c", "O_c", "IC", "L1 32K", "L1 8K"] {
        assert_eq!(of(metric).len(), variants.len(), "{metric}");
    }
    for metric in ["text", "data"] {
        assert_eq!(of(metric).len(), compiled.len(), "{metric}");
    }
    // Each step is the same, whether others are counted or not.
    let steps = [of("I_c")[0].1, of("IC")[0].1];
    assert!(
        steps[0] > 1000.0 && (steps[0] / steps[1] - 1.0).abs() < 0.02,
        "{steps:?}"
    );
    let picture = std::fs::read_to_string(shell.path("all.svg")).expect("a picture");
    assert_eq!(
        picture.matches("<rect class=\"ours\"").count(),
        compiled.len()
    );
    let idle = IDLE.replace("PLANTED", "");
    let said = segments(&idle).loom(&["bench", "hippco", "--alone"]);
    assert!(
        said.note.contains("the program runs fewer than 150 steps"),
        "{said:?}"
    );
}

/// A place with the stacks of the tables.
fn tabled() -> Shell {
    let shell = segments(&often(""));
    let more = ["restricted", "complete"]
        .map(|name| format!("stack {name} {{ link l {{ tcp {{ port p }} }} }}\n"));
    shell.write(
        "bench/hippco.loom",
        format!("use layer.tcp\n{}", more.concat()),
    );
    shell
}

#[test]
fn the_tables_of_the_paper_have_its_rows_for_both_tcps() {
    let said = tabled().loom(&["bench", "hippco", "--tables", "--json"]);
    assert_eq!((said.status, &*said.note), (Some(0), ""), "{said:?}");
    let report: Value = serde_json::from_str(&said.result).expect("JSON");
    let value = |variant: &str, metric: &str| {
        let mut all = rows(&report).iter();
        let row = all.find(|row| row["variant"] == variant && row["metric"] == metric);
        row.and_then(|row| row["value"].as_f64())
    };
    let letters = [
        "compiled", "O", "S", "I", "E", "T", "U", "P-G", "R", "others",
    ];
    let letters = letters.map(|word| ("1", word));
    let profiles = ["application", "specialised", "raw", "default"].map(|word| ("2", word));
    for tcp in ["restricted", "complete"] {
        for (table, word) in letters.iter().chain(&profiles) {
            let variant = format!("table-{table}-{tcp}-{word}");
            for metric in ["I_c", "O_c", "IC", "L1 8K", "text -O2", "text -Os", "data"] {
                assert!(value(&variant, metric).is_some(), "{variant}: {metric}");
            }
            let sizes = ["text -O2", "text -Os"].map(|metric| value(&variant, metric));
            assert!(sizes[0] > sizes[1], "{variant}: {sizes:?}");
        }
    }
    // The interpreter has no size, and no connection that is opened.
    let interpreted = value("table-2-restricted-interpreted", "IC");
    assert!(interpreted > Some(1000.0), "{interpreted:?}");
    assert_eq!(value("table-2-restricted-interpreted", "text -O2"), None);
    assert_eq!(value("table-2-complete-interpreted", "IC"), None);
    // The paper's text without and with N.
    let papers = ["text", "text, N"].map(|metric| value("table-1-printed-S", metric));
    assert_eq!(papers, [Some(30480.0), Some(16300.0)]);
}

/// A layer whose frames of one kind are asked for before those of another.
const KINDS: &str = "\
use link.service
worker kinds
provides frames
requires frames
header big { kind: u8 = 0 }
entity {
    first: u32 = 0
    second: u32 = 0
    on carrier(up) { tell above carrier(up) }
}
on deliver(message) {
    if header.kind == 1 {
        first += 1
        drop message as one
    } else if header.kind == 2 {
        second += first
        drop message as two
    } else {
        first += second
        deliver message
    }
}
on send(message) { send message }
";

/// A driver whose workloads are frames of one kind each.
const FRAMES_OF_KINDS: &str = "\
#include <stdio.h>
#include <stdlib.h>
#include \"traffic_stack.h\"
static struct traffic_stack *stack;
static unsigned char kind;
void bench_step(void);
__attribute__((noinline)) void bench_step(void) {
    size_t room;
    struct traffic_stack_frame frame = {traffic_stack_buffer(stack, &room), 2};
    frame.data[0] = kind;
    traffic_stack_input(stack, 0, &frame, 1, 1);
    struct traffic_stack_output output;
    while (traffic_stack_next(stack, &output) != TRAFFIC_STACK_IDLE) {
        traffic_stack_done(stack, &output);
    }
}
int main(int count, char **words) {
    struct traffic_stack_config config;
    traffic_stack_config_default(&config);
    const size_t size = traffic_stack_size(&config);
    stack = traffic_stack_start(malloc(size), size, &config, 0);
    kind = words[1][0] == 'b' ? 1 : words[1][0] == 's' ? 2 : 3;
    const int units = count == 3 ? atoi(words[2]) : 0;
    for (int at = 0; at < units; at += 1) {
        bench_step();
    }
    printf(\"messages %d\\n\", units);
}
";

#[test]
fn a_profile_makes_its_own_workload_shorter_and_another_longer() {
    let shell = segments(&often(""));
    shell.write("bench/layer/kinds.loom", KINDS);
    let stack = "use layer.kinds\nstack offloaded { link l { kinds { port p } } }\n";
    shell.write("bench/traffic.loom", stack);
    shell.write("bench/traffic.c", FRAMES_OF_KINDS);
    shell.write("bench/traffic/client.c", "typedef int nothing;\n");
    let words = ["bench", "hippco", "--matrix", "--workloads", "base,send,rr"];
    let words = [&words[..], &["--units", "50", "--json", "--strict"]].concat();
    let said = shell.loom(&words);
    assert_eq!((said.status, &*said.note), (Some(0), ""), "{said:?}");
    let report: Value = serde_json::from_str(&said.result).expect("JSON");
    let count = |profile: &str, workload: &str| {
        let mut all = rows(&report).iter();
        let variant = format!("matrix-{profile}");
        let row = all.find(|row| row["variant"] == *variant && row["metric"] == workload);
        row.and_then(|row| row["value"].as_f64()).expect("a figure")
    };
    assert!(count("send", "send") < count("none", "send"), "{report}");
    assert!(count("send", "base") > count("none", "base"), "{report}");
    // The layer asks for the first kind first, and so does the stack with that profile.
    for workload in ["base", "send", "rr", "text"] {
        assert_eq!(count("base", workload), count("none", workload), "{report}");
        assert!(count("all", workload) > 0.0, "{report}");
    }
    assert_eq!(report["goals"].as_array().map(Vec::len), Some(3));
    let wrong = shell.loom(&["bench", "hippco", "--matrix", "--workloads", "basis"]);
    assert_eq!(wrong.status, Some(2), "{wrong:?}");
    assert!(
        wrong.note.contains("there is no workload `basis`"),
        "{wrong:?}"
    );
}

#[test]
fn what_is_interpreted_answers_as_the_c_does() {
    let shell = segments(&often("\\nanswer 03"));
    let said = shell.loom(&["bench", "hippco", "--alone"]);
    assert_eq!(said.status, Some(2), "{said:?}");
    let says = "the interpreter and the C differ at segment 1";
    assert!(said.note.contains(says), "{said:?}");
}

const LAYERS: &str = include_str!("../../bench/layers.loom");

/// What `loom bench layers` says of none and of eight layers; with fewer it would rather say how
/// many words hold the bytes of their headers.
fn layered(layers: &str, words: &[&str]) -> (Option<i32>, Value) {
    let shell = shell(ENDS);
    shell.write("bench/layers.loom", layers);
    shell.write("bench/swap.loom", include_str!("../../bench/swap.loom"));
    shell.write("bench/swap.c", include_str!("../../bench/swap.c"));
    let words = [
        &["bench", "layers", "--alone", "--layers", "8,0", "--json"],
        words,
    ]
    .concat();
    let said = shell.loom(&words);
    let report = serde_json::from_str(&said.result).expect("JSON");
    (said.status, report)
}

#[test]
fn what_each_layer_takes_is_counted() {
    let (status, report) = layered(LAYERS, &["--strict"]);
    assert_eq!(status, Some(0), "{report}");
    let all = rows(&report);
    let of = |who: &str, metric: &str, layers: Option<u64>| {
        let mut all = all.iter();
        let row = all.find(|row| {
            let is_meant = row["who"] == who && row["metric"] == metric;
            row["flags"] == "-O2" && is_meant && row["layers"].as_u64() == layers
        });
        let row = row.expect("there is such a figure");
        row["value"].as_f64().expect("a number")
    };
    for who in ["woven", "joints as calls"] {
        let both = |layers| of(who, "down and up", layers);
        let ways = of(who, "down", Some(8)) + of(who, "up", Some(8));
        let each = (both(Some(8)) - both(Some(0))) / 8.0;
        assert!((both(Some(8)) - ways).abs() < 0.001, "{report}");
        assert!((both(None) - each).abs() < 0.001, "{report}");
        assert!(of(who, "text", None) > 0.0);
    }
    assert!(of("woven", "down and up", None) < of("joints as calls", "down and up", None));
    let number = of("woven, a checked number", "down and up", None);
    assert!(of("woven", "down and up", None) < number, "{report}");
    let swap = of("woven", "a swap", None);
    assert!((50.0..300.0).contains(&swap), "{swap}");
    assert_eq!(report["goals"].as_array().map(Vec::len), Some(1));
}

#[test]
fn a_layer_that_does_more_misses_the_goal() {
    let idle = "on deliver(message) { deliver message }";
    assert!(LAYERS.contains(idle));
    let busy = idle.replace(
        "deliver message",
        "count a\n count b\n count c\n deliver message",
    );
    let (status, report) = layered(&LAYERS.replace(idle, &busy), &["--strict"]);
    assert_eq!(status, Some(1), "{report}");
}

/// A source tree with the stacks of the Ensemble paper, whose driver has this text.
fn ensemble(driver: &str) -> Shell {
    let shell = Shell::new();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("bench/ensemble");
    for entry in std::fs::read_dir(folder).expect("a folder can be listed") {
        let path = entry.expect("a file").path();
        let name = path.file_name().expect("a file has a name");
        let text = std::fs::read_to_string(&path).expect("a text");
        shell.write(&format!("bench/ensemble/{}", name.display()), &text);
    }
    shell.write("bench/ensemble/drive.c", driver);
    shell.write("bench/figures.toml", "");
    shell
}

#[test]
fn each_form_of_an_ensemble_stack_is_counted() {
    let driver = include_str!("../../bench/ensemble/drive.c");
    let words = ["bench", "ensemble", "--quick", "--alone", "--json"];
    let said = ensemble(driver).loom(&words);
    assert_eq!((said.status, &*said.note), (Some(0), ""), "{said:?}");
    let report: Value = serde_json::from_str(&said.result).expect("JSON");
    let all = rows(&report);
    let of = |who: &str, variant: &str, metric: &str| {
        let row = all.iter().find(|row| {
            let is_meant = row["variant"] == variant && row["metric"] == metric;
            row["who"] == who && is_meant
        });
        let value = row.and_then(|row| row["value"].as_f64());
        value.unwrap_or_else(|| panic!("{who}, {variant}, {metric}: {report}"))
    };
    for (stack, forms) in [
        ("four", &["HAND", "MACH", "IMP", "FUNC"][..]),
        ("ten", &["MACH", "IMP", "FUNC"][..]),
    ] {
        let variant = format!("{stack}, all, 4");
        for who in forms {
            let parts = ["down stack", "down transport", "up transport", "up stack"];
            let parts = parts.map(|part| of(who, &variant, part));
            assert!(parts.iter().all(|part| *part > 0.0), "{report}");
            let total = of(who, &variant, "total");
            let fetches = of(who, &variant, "instruction fetches");
            assert!((parts.iter().sum::<f64>() - total).abs() < 0.01, "{report}");
            assert!((total - fetches).abs() < 1.0, "{total} and {fetches}");
            assert!(of(who, &format!("{stack}, code"), "code of the stack") > 10_000.0);
        }
        let total = |who: &str| of(who, &variant, "total");
        assert!(total("MACH") < total("FUNC") && total("FUNC") < total("IMP"));
        assert!(of("MACH", &format!("{stack}, code"), "bypass: code up") > 100.0);
    }
    assert!(of("HAND", "four, all, 4", "total") < of("FUNC", "four, all, 4", "total"));
    assert_eq!(report["goals"].as_array().map(Vec::len), Some(7));
}

#[test]
fn a_cast_that_does_not_arrive_is_not_counted() {
    let driver = include_str!("../../bench/ensemble/drive.c");
    let arrives = "(counts_up ? up_bench_step : up_uncounted)(&round);";
    assert!(driver.contains(arrives));
    let planted = driver.replace(arrives, "");
    let said = ensemble(&planted).loom(&["bench", "ensemble", "--quick", "--alone"]);
    assert_eq!(said.status, Some(2), "{said:?}");
    assert!(said.note.contains("there is no buffer for it"), "{said:?}");
}

#[test]
fn what_is_missing_is_said() {
    let shell = Shell::new();
    let said = shell.loom(&["bench", "udp"]);
    assert_eq!(said.status, Some(2));
    assert!(
        said.note.contains("in the source tree of Stackloom"),
        "{said:?}"
    );
    let said = shell.loom(&["bench", "layers", "--layers", "65"]);
    assert_eq!(said.status, Some(2));
    assert!(said.note.contains("65 is not in 0..=64"), "{said:?}");
    let said = shell.loom(&["bench", "udp", "--picture", "all.svg"]);
    assert_eq!(said.status, Some(2));
    assert!(
        said.note
            .contains("--picture applies only to `loom bench hippco` and `loom bench boosters`"),
        "{said:?}"
    );
    let said = shell.loom(&["bench", "udp", "--matrix"]);
    assert_eq!(said.status, Some(2));
    let says = "--matrix applies only to `loom bench hippco`";
    assert!(said.note.contains(says), "{said:?}");
    let said = shell.loom(&["bench", "hippco", "--matrix", "--tables"]);
    assert_eq!(said.status, Some(2));
    assert!(said.note.contains("cannot be used with"), "{said:?}");
    let said = shell.loom(&["bench", "tcpp"]);
    assert_eq!(said.status, Some(2));
    assert!(
        said.note.contains(
            "[possible values: udp, tcp, layers, hippco, bulk, traffic, size, boosters, coders, \
             law, ensemble]"
        ),
        "{said:?}"
    );
}

#[test]
fn the_theory_of_boosters_is_computed_anywhere() {
    let shell = Shell::new();
    let said = shell.loom(&["bench", "boosters", "--theory", "--json"]);
    assert_eq!((said.status, &*said.note), (Some(0), ""), "{said:?}");
    let tables: Value = serde_json::from_str(&said.result).expect("JSON");
    let tables = tables.as_array().expect("a list of tables");
    assert_eq!(tables.len(), 11);
    let length = |value: &Value| value.as_array().map(Vec::len);
    for table in tables {
        let rows = table["rows"].as_array().expect("a list of rows");
        assert!(!rows.is_empty(), "{table}");
        let is_full = |row: &Value| length(row) == length(&table["heads"]);
        assert!(rows.iter().all(is_full), "{table}");
    }
    let said = shell.loom(&["bench", "boosters", "--theory"]);
    // Figure 7: the window of the paper, by equation 3 and without drift.
    let row = ["512", "8.14e-8", "9.23e-8", "4.07e-8", "4.62e-8"];
    let mut lines = said.result.lines().map(|line| line.split_whitespace());
    assert!(lines.any(|line| line.eq(row)), "{}", said.result);
    let said = shell.loom(&["bench", "udp", "--theory"]);
    assert_eq!(said.status, Some(2));
    assert!(
        said.note
            .contains("--theory applies only to `loom bench boosters`"),
        "{said:?}"
    );
}

fn title(table: &Value) -> &str {
    table["title"].as_str().unwrap_or_default()
}

/// The number in the first table whose title begins so: by the first cells of its row, and the head
/// of its column.
fn cell(tables: &[Value], start: &str, names: &[&str], head: &str) -> f64 {
    let mut tables = tables.iter().filter(|one| title(one).starts_with(start));
    let table = tables.next().unwrap_or_else(|| panic!("no table {start}"));
    let heads = table["heads"].as_array().expect("a list of heads");
    let column = heads.iter().position(|one| one == head);
    let rows = table["rows"].as_array().expect("a list of rows");
    let is_named = |row: &&Value| {
        let mut cells = names.iter().enumerate();
        cells.all(|(at, name)| row[at] == *name)
    };
    let row = rows.iter().find(is_named);
    let row = row.unwrap_or_else(|| panic!("{start}: no row {names:?}"));
    let text = row[column.expect("the column is there")].as_str();
    let number = text.and_then(|text| text.parse().ok());
    number.expect("a number")
}

/// About 40 s, nearly all of it simulated connections and stacks that are compiled; seed 1.
#[test]
fn figures_of_boosters_are_tables_and_pictures() {
    let shell = Shell::new();
    let words = ["bench", "boosters", "--quick", "--json", "--strict"];
    let said = shell.loom(&[&words[..], &["--picture", "figures"]].concat());
    assert_eq!((said.status, &*said.note), (Some(0), ""), "{said:?}");
    let tables: Value = serde_json::from_str(&said.result).expect("JSON");
    let tables = tables.as_array().expect("a list of tables");
    // The paper's code costs nearly a third, RS(255,247) a thirtieth.
    let fixed = |rate, code| cell(tables, "Figure 3, simulated", &[rate], code);
    assert!((fixed("0", "off") - 43.9).abs() < 0.1 && fixed("1e-6", "off") < 2.0);
    assert!((fixed("1e-6", "convolutional(k = 3)") - 30.0).abs() < 0.1);
    assert!((fixed("1e-6", "reed_solomon(parity = 8)") - 42.3).abs() < 0.1);
    let ideal = cell(tables, "Figure 12, simulated", &["1e-6"], "ideal");
    assert!((ideal - 36.95).abs() < 0.1, "{ideal}");
    // The filter errs less than the counter, and the ladder beats both.
    let of = |figure, way| cell(tables, figure, &[way, "10"], "1e-6");
    let error = |way| of("Figure 13, simulated", way);
    let (counting, filter) = (error("counting, N = 25"), error("filter"));
    assert!(filter < counting && counting < 25.0, "{filter} {counting}");
    let gain = |way| of("Figure 14, simulated", way);
    assert!(gain("filter, RS ladder") > 80.0 && gain("filter") > gain("counting, N = 25"));
    assert!(of("Figure 15, simulated", "reed_solomon(parity = 8)") > 35.0);
    // The stacks of the library do as the model says: half of the time, bit errors come.
    let fixed = |rate, code| cell(tables, "Figure 3, in virtual time", &[rate], code);
    assert!(fixed("0", "off") > 19.0 && fixed("1e-3", "off") < 0.1);
    assert!(fixed("1e-3", "convolutional(k = 3)") > 9.0);
    let figure = "Figure 13, in virtual time";
    let error = |way| cell(tables, figure, &[way, "5"], "1e-3");
    assert!(error("filter") < 20.0 && error("convolutional(k = 3)") > 30.0);
    let origins = [
        "computed",
        "simulated by the model",
        "in virtual time",
        "the paper's text",
    ];
    for title in tables.iter().map(title) {
        let is_said = origins.iter().any(|origin| title.contains(origin));
        assert!(is_said || !title.starts_with("Figure"), "{title}");
    }
    for (goals, count) in tables.iter().rev().zip([3, 9]) {
        assert_eq!(
            goals["rows"].as_array().map(Vec::len),
            Some(count),
            "{goals}"
        );
    }
    pictures_have_their_curves(&shell.path("figures"));
}

/// Each curve has a line, and one in the legend: two times for each way in figures 13 to 15. The
/// book has two of the pictures.
fn pictures_have_their_curves(folder: &Path) {
    let read = |path: &Path| std::fs::read_to_string(path).expect("a picture");
    let drawn = |number: u32| read(&folder.join(format!("figure-{number}.svg")));
    let lines = [3, 7, 9, 10, 12, 13, 14, 15].into_iter();
    let lines = lines.zip([6, 8, 16, 16, 10, 16, 16, 16]);
    for (number, expected) in lines {
        let picture = drawn(number);
        assert!(picture.starts_with("<svg") && picture.ends_with("</svg>\n"));
        assert!(picture.contains(&format!(">Figure {number}")), "{number}");
        let found = picture.matches("<polyline").count();
        assert_eq!(found, expected, "figure {number}");
    }
    let book = Path::new(env!("CARGO_MANIFEST_DIR")).join("book/src/pictures");
    for number in [3, 12, 13, 14, 15] {
        let picture = read(&folder.join(format!("figure-{number}-stacks.svg")));
        assert!(picture.contains("<polyline"), "{number}");
    }
    for (number, name) in [(3, "boosters_goodput.svg"), (9, "boosters_counter.svg")] {
        let is_same = drawn(number) == read(&book.join(name));
        assert!(
            is_same,
            "`loom bench boosters --quick` draws another {name}"
        );
    }
}

#[test]
fn without_valgrind_nothing_is_counted_and_nothing_is_decided() {
    let shell = shell(ENDS);
    let tools = shell.path("tools");
    std::fs::create_dir(&tools).expect("a folder");
    for name in ["gcc", "as", "ld"] {
        symlink(Path::new("/usr/bin").join(name), tools.join(name)).expect("a link");
    }
    let mut command = shell.command(&["bench", "udp", "--json", "--alone", "--strict"]);
    command.env("PATH", &tools);
    let said = shell.finish(command);
    assert_eq!(said.status, Some(3), "{said:?}");
    assert!(said.note.contains("valgrind is not installed"), "{said:?}");
    let report: Value = serde_json::from_str(&said.result).expect("JSON");
    assert!(rows(&report).is_empty());
}

/// It takes 10 seconds, most of them to compile two stacks.
#[test]
fn bytes_go_each_way_through_a_tun() {
    let shell = Shell::new();
    shell.write("bench/bulk.loom", include_str!("../../bench/bulk.loom"));
    shell.write("bench/bulk.c", include_str!("../../bench/bulk.c"));
    let words = [
        "bench", "bulk", "--json", "--bytes", "4194304", "--keep", "kept",
    ];
    let said = shell.loom(&words);
    if said.status == Some(2) {
        println!("skipped: {}", said.note);
        assert!(said.note.contains("/dev/net/tun") || said.note.contains("namespace"));
        return;
    }
    assert_eq!((said.status, &*said.note), (Some(0), ""), "{said:?}");
    let report: Value = serde_json::from_str(&said.result).expect("JSON");
    let all = rows(&report);
    let count = |unit: &str| all.iter().filter(|row| row["unit"] == unit).count();
    assert_eq!((count("MB/s"), count("ratio")), (8, 6), "{all:?}");
    assert!(all.iter().all(|row| row["value"].as_f64() > Some(0.0)));
    for row in all {
        let value = row["value"].as_f64().expect("a number");
        let [least, greatest] = [0, 1].map(|at| row["spread"][at].as_f64().expect("a number"));
        assert!((least..=greatest).contains(&value), "{row}");
    }
    assert_eq!(report["goals"].as_array().map(Vec::len), Some(2));
    for stack in ["plain", "offloaded"] {
        let program = shell.path("kept").join(format!("bulk-stackloom-{stack}"));
        let said = Command::new(program).output().expect("it runs");
        assert_eq!(said.status.code(), Some(2), "it says how it is used");
    }
}

#[test]
fn bytes_that_are_changed_on_their_way_fail_the_bench() {
    let shell = Shell::new();
    let ends = include_str!("../../bench/bulk.c");
    let taken = "pattern + moved % PERIOD, length,";
    assert!(ends.contains(taken));
    let planted = ends.replace(taken, "pattern + moved % PERIOD + 1, length,");
    shell.write("bench/bulk.loom", include_str!("../../bench/bulk.loom"));
    shell.write("bench/bulk.c", &planted);
    let said = shell.loom(&["bench", "bulk", "--bytes", "100000"]);
    assert!(said.status != Some(0), "{said:?}");
    assert!(
        said.status == Some(2) || said.note.contains("the data is wrong"),
        "{said:?}"
    );
}

/// A stack of `bench`, compiled with the driver of segments.
fn driven(stack: &str, macros: &str) -> (Shell, PathBuf) {
    let shell = Shell::new();
    let file = stack.split(':').next().expect("a file");
    let bench = Path::new(env!("CARGO_MANIFEST_DIR")).join("bench");
    for name in [file, "tcp.c"] {
        let text = std::fs::read_to_string(bench.join(name)).expect("it can be read");
        shell.write(name, &text);
    }
    let said = shell.loom(&["build", stack, "--name", "tcp_stack", "-o", "."]);
    assert_eq!(said.status, Some(0), "{said:?}");
    let sources = ["tcp_stack.c", "tcp.c"].map(|name| shell.path(name));
    let program = shell.path("segments");
    let mut gcc = Command::new("gcc");
    gcc.args(["-std=c11", "-Wall", "-Wextra", "-Werror", macros, "-o"]);
    let compiled = gcc.arg(&program).args(sources).output();
    let compiled = compiled.expect("gcc runs");
    assert!(compiled.status.success(), "{compiled:?}");
    (shell, program)
}

fn answer(program: &Path, word: &str) -> String {
    let said = Command::new(program).arg(word).output().expect("it runs");
    String::from_utf8_lossy(&said.stdout).into_owned()
}

#[test]
fn segments_on_ethernet_go_the_common_path() {
    let (_shell, program) = driven("whole.loom", "-DETHERNET");
    // The frame that left it is one of ARP.
    let paths = "2873 taken ethernet_arrive\n1 left ethernet_arrive stack.header\n";
    assert_eq!(answer(&program, "paths"), paths);
}

#[test]
fn all_segments_reach_hosts_that_are_called_and_those_above_a_slot() {
    let called = ["tcp.loom:called", "tcp.loom:called_summed"].map(|stack| (stack, "-DCALLS"));
    for (stack, macros) in called.into_iter().chain([("slotted.loom", "-DETHERNET")]) {
        let (_shell, program) = driven(stack, macros);
        assert_eq!(answer(&program, "count"), "messages 2873\n", "{stack}");
    }
}
