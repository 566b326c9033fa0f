//! build: the two files of C, and the report.

use super::shell::Shell;
use std::path::Path;
use std::process::Command;

const FLAGS: &str = "-std=c11 -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Werror";

/// A stack with state of every kind, in an order that leaves gaps.
const STATE: &str = "\
record row { sum: bytes[5] = 0, length: u16 = 0, missing: u8 = 5, last: u40? = none }

multiplexor all

header big { to: u8 }

session(to: u8)[3] {
    small: bool = false
    wide: u48 = 0
    signed: i8 = 0
    number: seq16 = 0
    word: bytes[7] = 0
    perhaps: u16? = none
    later: time = 0 ns
    seen: set[70]
    held: queue<message>[3]
    early: window<message>[65]
    parts: stream<u32>[13]
    rows: array<row>[3]
    names: array<u16>[5]
    last: bool = false
}
";

/// The path of an example.
pub fn example(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("examples")
        .join(name);
    path.to_str().expect("a path of letters").to_string()
}

fn compilers() -> Vec<&'static str> {
    let there = |name: &&str| Command::new(name).arg("--version").output().is_ok();
    ["gcc", "clang-16"].into_iter().filter(there).collect()
}

/// Compiles a file of C without a word.
pub fn compile(folder: &Path, file: &str, flags: &str) {
    for compiler in compilers() {
        let output = Command::new(compiler)
            .args(flags.split(' '))
            .args(["-c", file, "-o", "/dev/null"])
            .current_dir(folder)
            .output()
            .expect("a C compiler");
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(
            output.status.success() && said.is_empty(),
            "{compiler}: {said}"
        );
    }
}

#[test]
fn a_new_project_becomes_c_that_needs_nothing_else() {
    let shell = Shell::new();
    shell.loom(&["new", "radio"]).fine();
    shell
        .loom(&["build", "radio/radio.loom", "-o", "out", "--name", "mine"])
        .fine();
    let mut names: Vec<_> = std::fs::read_dir(shell.path("out"))
        .expect("the folder was made")
        .map(|entry| entry.expect("an entry").file_name())
        .collect();
    names.sort();
    assert_eq!(names, ["mine.c", "mine.h"]);
    for line in (shell.read("out/mine.c") + &shell.read("out/mine.h")).lines() {
        let free = [
            "<limits.h>",
            "<stdbool.h>",
            "<stddef.h>",
            "<stdint.h>",
            "<string.h>",
        ];
        let included = line.strip_prefix("#include ");
        let known = |name: &str| name == "\"mine.h\"" || free.contains(&name);
        assert!(included.is_none_or(known), "{line}");
    }
    compile(&shell.path("out"), "mine.c", FLAGS);
}

#[test]
fn names_of_c_are_no_names_for_c() {
    let shell = Shell::new();
    shell.loom(&["new", "radio"]).fine();
    for name in [
        "int", "void", "main", "stack", "sl", "9a", "a b", "", "../x", "è", "while", "output_",
        "take", "has", "give", "HEADROOM", "UPPER_X", "do_it",
    ] {
        let build = ["build", "radio/radio.loom", "-o", "out", "--name", name];
        shell
            .loom(&build)
            .failed(2, &["cannot be the name of the generated C"]);
    }
    assert!(!shell.path("out").exists());
    for name in [
        "host",
        "radio",
        "sequencer",
        "message",
        "wire",
        "run",
        "uint8",
        "_x",
    ] {
        let build = ["build", "radio/radio.loom", "-o", "out", "--name", name];
        if name.starts_with('_') {
            shell
                .loom(&build)
                .failed(2, &["cannot be the name of the generated C"]);
            continue;
        }
        shell.loom(&build).fine();
        compile(&shell.path("out"), &format!("{name}.c"), FLAGS);
    }
    shell.write(
        "radio/while.loom",
        shell
            .read("radio/radio.loom")
            .replace("stack radio", "stack int"),
    );
    shell.loom(&["build", "radio/while.loom"]).failed(
        2,
        &["`int` cannot be the name of the generated C", "--name"],
    );
    shell
        .loom(&["build", "radio/while.loom", "--name", "fine"])
        .fine();
}

#[test]
fn names_that_begin_as_words_of_the_code_around_are_names() {
    let shell = Shell::new();
    let stacks = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/c_agrees/stacks/");
    for stack in ["called_apart", "leaving_granted"] {
        for name in ["stackloom", "stack_one", "stacks", "upper", "upper_layer"] {
            let path = format!("{stacks}{stack}.loom");
            let build = ["build", &path, "-o", "out", "--name", name];
            shell.loom(&build).fine();
            compile(&shell.path("out"), &format!("{name}.c"), FLAGS);
        }
    }
}

#[test]
fn the_same_source_gives_the_same_bytes_from_wherever_it_is_read() {
    let shell = Shell::new();
    let text = std::fs::read_to_string(example("host/host.loom")).expect("an example");
    shell.write("here/host.loom", text);
    let absolute = shell.path("here/host.loom");
    let absolute = absolute.to_str().expect("letters");
    let ways = [
        (".", "here/host.loom"),
        (".", absolute),
        ("here", "host.loom"),
        ("here", "./host.loom"),
        ("here", "../here/host.loom"),
        ("here", "host.loom:host"),
    ];
    let mut built: Option<[String; 2]> = None;
    for (number, (folder, path)) in ways.into_iter().enumerate() {
        let out = shell.path(&format!("out{number}"));
        let out = out.to_str().expect("letters");
        let mut command = shell.command(&["build", path, "-o", out]);
        command.current_dir(shell.path(folder));
        shell.finish(command).fine();
        let files = ["c", "h"].map(|end| shell.read(&format!("out{number}/host.{end}")));
        for file in &files {
            assert!(
                !file.contains("/tmp") && !file.contains("here/"),
                "a path leaks"
            );
        }
        assert!(
            built.get_or_insert_with(|| files.clone()) == &files,
            "{path}"
        );
    }
}

#[test]
fn one_of_several_stacks_is_chosen_by_its_name() {
    let shell = Shell::new();
    let text = "use order.sequencer\n\
                stack near { link air { sequencer { port messages } } }\n\
                stack far { link sky { sequencer { port messages } } }\n";
    shell.write("both.loom", text);
    shell
        .loom(&["build", "both.loom"])
        .failed(2, &["near, far", "both.loom:near"]);
    shell
        .loom(&["build", "both.loom:farr"])
        .failed(2, &["did you mean `far`?"]);
    shell.loom(&["build", "both.loom:far", "-o", "out"]).fine();
    assert!(shell.path("out/far.c").exists());
    shell
        .loom(&["build", "gone.loom:far"])
        .failed(2, &["gone.loom: No such file"]);
    shell.write(
        "layer.loom",
        "worker pass\non send(message) { send message }\n\
                 on deliver(message) { deliver message }\n",
    );
    shell
        .loom(&["build", "layer.loom"])
        .failed(1, &["declares no stack"]);
}

#[test]
fn the_report_says_what_a_session_takes_as_c_sees_it() {
    let shell = Shell::new();
    shell.loom(&["new", "radio"]).fine();
    let state = format!(
        "{STATE}\n\
         on deliver find session(header.to) else {{ drop message as unknown }}\n\
         on deliver(message) {{\n    consume message\n    names[0] = 1\n}}\n\
         on send(message) {{ send message with {{ to = to }} }}\n\
         stack whole {{ link air {{ all {{ port messages }} }} }}\n"
    );
    shell.write("state.loom", state);
    let mut counted = 0;
    for file in [
        "radio/radio.loom".to_string(),
        "state.loom".to_string(),
        example("host/host.loom"),
        example("ping/ping.loom"),
        example("telemetry/telemetry.loom"),
        example("radio/two_ways.loom"),
    ] {
        let build = ["build", &file, "-o", "out", "--report", "json"];
        let report = shell.loom(&build).fine();
        counted += sizes_hold(&shell, &report);
        if file == "radio/radio.loom" {
            // The sessions of both layers are all that handles anything.
            assert!(report.contains("\"states\":2,"), "{report}");
        }
    }
    assert!(counted > 8, "only {counted} records were measured");
}

/// A layer with settings of all types of which C's own type has further values, and of some others.
const SETTINGS: &str = "\
worker set(
    nibble: u4
    wide: u40
    signed: i12
    word: i24 = 3
    gate: u4? = none
    key: bytes[at most 5]
    size: u16 where size > 2
    whole: u8
)

header big { nibble: u4, signed: i12, word: i24, wide: u40, gate: u8, length: u8 }

on deliver(message) { deliver message }

on send(message) {
    let rest = size as u8 ^ whole
    send message with {
        nibble = nibble
        signed = signed
        word = word
        wide = wide
        gate = gate else 0
        length = key.length as u8 ^ rest
    }
}

stack settings {
    link air {
        set(
            nibble = config.nibble, wide = config.wide, signed = config.signed, word = config.word,
            gate = config.gate, key = config.key, size = config.size, whole = config.whole
        ) { port messages }
    }
}
";

/// A host that starts the stack with one setting changed at a time.
const STARTS: &str = "\
#include \"settings.h\"
#include <stdio.h>

static uint64_t memory[1 << 16];

static struct settings_config usual(void) {
    struct settings_config config;
    settings_config_default(&config);
    config.buffers = 4;
    config.nibble = 15;
    config.wide = (UINT64_C(1) << 40) - 1;
    config.signed_ = -2048;
    config.key.length = 5;
    config.size = 3;
    config.whole = 255;
    return config;
}

static int wrong;

static void check(struct settings_config config, bool starts, const char *what) {
    if ((settings_start(memory, sizeof memory, &config, 0) != NULL) != starts) {
        printf(\"%s\\n\", what);
        wrong = 1;
    }
}

#define CHECK(starts, change) \\
    do { \\
        struct settings_config config = usual(); \\
        change; \\
        check(config, starts, #change); \\
    } while (0)

int main(void) {
    CHECK(true, (void)config);
    CHECK(true, config.nibble = 0);
    CHECK(false, config.nibble = 16);
    CHECK(false, config.nibble = 255);
    CHECK(false, config.wide = UINT64_C(1) << 40);
    CHECK(false, config.wide = UINT64_MAX);
    CHECK(true, config.signed_ = 2047);
    CHECK(false, config.signed_ = 2048);
    CHECK(false, config.signed_ = -2049);
    CHECK(true, config.word = -8388608);
    CHECK(false, config.word = -8388609);
    CHECK(false, config.word = INT32_MAX);
    CHECK(true, config.gate = 200);
    CHECK(true, (config.has_gate = true, config.gate = 15));
    CHECK(false, (config.has_gate = true, config.gate = 16));
    CHECK(true, config.key.length = 0);
    CHECK(false, config.key.length = 6);
    CHECK(false, config.key.length = 255);
    CHECK(false, config.size = 2);
    CHECK(true, config.size = UINT16_MAX);
    return wrong;
}
";

#[test]
fn a_setting_that_is_no_value_of_its_type_is_refused_at_the_start() {
    let shell = Shell::new();
    shell.write("settings.loom", SETTINGS);
    shell.loom(&["build", "settings.loom", "-o", "out"]).fine();
    shell.write("out/starts.c", STARTS);
    compile(&shell.path("out"), "settings.c", FLAGS);
    for compiler in compilers() {
        let mut command = Command::new(compiler);
        let flags = "-std=c11 -g1 -fsanitize=address,undefined -fno-sanitize-recover=all";
        command.args(flags.split(' '));
        command.args(["starts.c", "settings.c", "-o", "starts"]);
        let built = command.current_dir(shell.path("out")).output();
        let built = built.expect("a C compiler");
        let said = String::from_utf8_lossy(&built.stderr);
        assert!(built.status.success(), "{compiler}: {said}");
        let ran = Command::new(shell.path("out/starts")).output();
        let ran = ran.expect("the host runs");
        let said = String::from_utf8_lossy(&ran.stdout) + String::from_utf8_lossy(&ran.stderr);
        assert!(
            ran.status.success(),
            "{compiler} is answered otherwise at {said}"
        );
    }
}

/// Lets the C compilers look at every size of a report; how many there are.
fn sizes_hold(shell: &Shell, report: &str) -> usize {
    assert_eq!(report.lines().count(), 1, "{report}");
    let report: serde_json::Value = serde_json::from_str(report).expect("JSON");
    let object = report.as_object().expect("one object");
    let keys: Vec<&str> = object.keys().map(String::as_str).collect();
    let mut expected = [
        "name",
        "form",
        "states",
        "nodes",
        "c_bytes",
        "session_bytes",
    ];
    expected.sort_unstable();
    let mut sorted = keys.clone();
    sorted.sort_unstable();
    assert_eq!(sorted, expected);
    let name = report["name"].as_str().expect("a name");
    let c = shell.read(&format!("out/{name}.c"));
    assert_eq!(report["c_bytes"], c.len());
    assert!(report["nodes"].as_u64() > Some(0) && report["states"].as_u64() > Some(0));
    let mut asserts = format!("#include \"{name}.c\"\n");
    let mut count = 0;
    for (layer, bytes) in report["session_bytes"].as_object().expect("sizes") {
        let bytes = bytes.as_u64().expect("a number");
        let mark = format!("/* {layer}: a session */\nstruct ");
        let found = c
            .split_once(&mark)
            .and_then(|(_, rest)| rest.split_once(" {"));
        let Some((tag, _)) = found else {
            assert_eq!(bytes, 0, "{layer} has no record");
            continue;
        };
        asserts += &format!("_Static_assert(sizeof(struct {tag}) == {bytes}, \"{layer}\");\n");
        count += 1;
    }
    shell.write("out/sizes.c", asserts);
    compile(&shell.path("out"), "sizes.c", "-std=c11");
    count
}

#[test]
fn rewrites_are_chosen_by_name() {
    let shell = Shell::new();
    let radio = example("radio/radio.loom");
    let build = |options: &[&str]| {
        shell.loom(&[&["build", &radio], options].concat()).fine();
        shell.read("build/radio.c")
    };
    let all = build(&[]);
    assert_eq!(build(&["--only", "all"]), all);
    let none = build(&["--without", "all"]);
    assert_eq!(
        build(&["--without", "I,extend", "--without", "G,P,frequent-first"]),
        none
    );
    let unknown = shell.loom(&["build", &radio, "--only", "faster"]);
    unknown.failed(
        2,
        &["there is no rewrite `faster`, but all, prune-states, extend, "],
    );
    let both = shell.loom(&["build", &radio, "--only", "I", "--without", "E"]);
    both.failed(2, &["cannot be used with"]);
    shell.write(
        "a.strl",
        "module a: input I; output O; await I; emit O end module\n",
    );
    let esterel = shell.loom(&["build", "a.strl", "--without", "I"]);
    esterel.failed(2, &["--without applies to stacks only"]);
}

#[test]
fn passes_are_skipped_by_name() {
    let shell = Shell::new();
    let stack = example("telemetry/telemetry.loom");
    let build = |options: &[&str]| {
        let command = [&["build", &stack], options].concat();
        shell.loom(&command).fine();
        shell.read("build/station.c")
    };
    let all = build(&[]);
    let none = build(&["--without", "ir:all"]);
    let some = build(&["--without", "form-fast-path"]);
    assert!(all.contains("ethernet_arrive_fast") && !some.contains("ethernet_arrive_fast"));
    assert_ne!(some, none);
    // A rewrite has this name, too, and a letter; the pass has it behind `ir:` alone.
    let rewrite = build(&["--without", "inline"]);
    assert_eq!(build(&["--without", "I"]), rewrite);
    let pass = build(&["--without", "ir:inline"]);
    assert!(![&all, &rewrite].contains(&&pass));
    let both = build(&["--without", "inline, form-fast-path,ir:inline"]);
    assert_eq!(
        build(&["--without", "I", "--without", "ir:inline,form-fast-path"]),
        both
    );
    let passes = "there is no pass `faster`; the passes are `share-sides`, `test-liveness-once`, ";
    let rewrites = "there is no rewrite `faster`, but all, prune-states, ";
    let build = |without: &str| shell.loom(&["build", &stack, "--without", without]);
    build("ir:faster").failed(2, &[passes]);
    build("sink,faster").failed(2, &[rewrites, passes]);
}

#[test]
fn functions_belong_to_the_lines_of_their_handlers() {
    let shell = Shell::new();
    shell.loom(&["new", "beep"]).fine();
    shell
        .loom(&["build", "beep/beep.loom", "--line", "-o", "out"])
        .fine();
    let folder = shell.path("out");
    compile(&folder, "beep.c", FLAGS);
    let status = Command::new("gcc")
        .args(["-std=c11", "-g", "-S", "beep.c"])
        .current_dir(&folder)
        .status();
    assert!(status.expect("gcc runs").success());
    let assembly = shell.read("out/beep.s");
    let number_of = |file: &str| {
        let ending = format!(" \"{file}\"");
        let mut files = assembly
            .lines()
            .filter_map(|line| line.trim().strip_prefix(".file "));
        let number = files.find_map(|line| {
            let number = line.strip_suffix(&ending)?;
            number.parse::<u32>().ok()
        });
        number.unwrap_or_else(|| panic!("{file} is no source of the assembly"))
    };
    let layer = shell.read("beep/layers/numbered.loom");
    let handler = layer.lines().position(|line| line.contains("on deliver"));
    let handler = handler.expect("the layer delivers") + 1;
    let location = format!(".loc {} {handler} ", number_of("numbered.loom"));
    assert!(assembly.contains(&location), "{location}");

    // What is not from a layer keeps its lines in the C.
    let c = shell.read("out/beep.c");
    let size = c
        .lines()
        .position(|line| line.starts_with("size_t beep_size("));
    let size = size.expect("the interface is there") + 1;
    let location = format!(".loc {} {size} ", number_of("beep.c"));
    assert!(assembly.contains(&location), "{location}");

    shell
        .loom(&["build", &example("esterel/timer_handler.strl"), "--line"])
        .failed(2, &["--line applies to stacks only"]);
}

/// The number of bytes that `--text-limit` says.
fn estimated(note: &str) -> u64 {
    let said = note.split("text of about ").nth(1);
    let said = said.and_then(|said| said.split(' ').next());
    let said = said.unwrap_or_else(|| panic!("no estimate in: {note}"));
    said.replace(',', "").parse().expect("it is a number")
}

/// The bytes of text that gcc -Os makes of a file of C.
fn text_of(folder: &Path) -> u64 {
    let run = |program: &str, words: &[&str]| {
        let done = Command::new(program)
            .args(words)
            .current_dir(folder)
            .output();
        let done = done.expect("gcc and binutils are there");
        assert!(done.status.success(), "{program} {words:?}");
        String::from_utf8(done.stdout).expect("it says letters")
    };
    run("gcc", &["-std=c11", "-Os", "-c", "s.c", "-o", "s.o"]);
    let sections = run("size", &["-A", "s.o"]);
    let text = sections.lines().filter(|line| line.starts_with(".text"));
    let bytes = text.map(|line| line.split_whitespace().nth(1).expect("each has a size"));
    bytes
        .map(|bytes| bytes.parse::<u64>().expect("a number"))
        .sum()
}

/// An estimate is within 15 % of what it estimates.
fn is_near(estimated: u64, bytes: u64) -> bool {
    estimated.abs_diff(bytes) * 100 <= 15 * bytes
}

#[test]
fn the_estimated_text_keeps_within_a_limit_and_is_near_that_of_gcc() {
    if !cfg!(target_arch = "x86_64") {
        println!("skipped: the estimate is for x86-64");
        return;
    }
    let shell = Shell::new();
    let bench = |name: &str| format!("{}/bench/{name}", env!("CARGO_MANIFEST_DIR"));
    let tcp = bench("tcp.loom:summed");
    let built = |stack: &str, limit: u64| {
        let limit_text = limit.to_string();
        let command = ["build", stack, "--name", "s", "--text-limit", &limit_text];
        let said = shell.loom(&command);
        let (about, note) = (estimated(&said.note), said.note.clone());
        said.fine();
        let bytes = text_of(&shell.path("build"));
        println!("{stack} {limit}: about {about}, in fact {bytes}");
        assert!(about <= limit, "{note}");
        assert!(is_near(about, bytes), "{stack} {limit}: {about}, {bytes}");
        (about, note)
    };
    let plenty = 1_000_000;
    for stack in [
        "dual/dual.loom",
        "telemetry/telemetry.loom",
        "host/host.loom",
    ] {
        built(&example(stack), plenty);
    }
    for stack in ["udp.loom:summed", "traffic.loom:called", "whole.loom"] {
        built(&bench(stack), plenty);
    }
    let (whole, note) = built(&tcp, plenty);
    assert!(note.contains("gave up no path"), "{note}");
    let mut before = whole;
    for limit in [40_000, 36_000, 32_000] {
        let (about, note) = built(&tcp, limit);
        assert!(note.contains(" paths of t"), "{note}");
        assert!(about < before, "{about}, {before}");
        before = about;
    }
    // The judge tells stacks apart of which one has no fast path.
    assert!(!is_near(whole, text_of(&shell.path("build"))));
    let never = shell.loom(&["build", &tcp, "--text-limit", "20000"]);
    never.failed(
        1,
        &["--text-limit 20000: the stack has about ", "even without"],
    );
    let few = shell.loom(&["build", &tcp, "--text-limit", "100000", "--fast-paths", "0"]);
    assert!(estimated(&few.note) < 36_000, "{}", few.note);
    few.fine();
    for wrong in ["0", "-1", "x", "18446744073709551616"] {
        let said = shell.loom(&["build", &tcp, "--text-limit", wrong]);
        said.failed(
            2,
            &[
                &format!("invalid value '{wrong}'"),
                "a number of bytes from 1 to ",
            ],
        );
    }
}
