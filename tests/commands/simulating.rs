//! simulate: two copies of a stack, and networks in files.

use super::building::example;
use super::frames::frames;
use super::shell::{Said, Shell};
use serde_json::Value;

/// All that a link can do.
const FAULTS: [&str; 22] = [
    "--delay",
    "20 ms",
    "--jitter",
    "1 ms",
    "--rate",
    "1 Mbit/s",
    "--loss",
    "5%",
    "--burst",
    "2",
    "--reorder",
    "2%",
    "--duplicate",
    "2%",
    "--corrupt",
    "1%",
    "--bit-errors",
    "1e-5",
    "--queue",
    "20",
    "--mtu",
    "60",
];

fn radio(shell: &Shell, words: &[&str]) -> Said {
    let stack = example("radio/radio.loom");
    shell.loom(&[&["simulate", &stack], words].concat())
}

fn report(said: Said) -> Value {
    let text = said.fine();
    assert_eq!(text.lines().count(), 1, "{text}");
    serde_json::from_str(&text).expect("JSON")
}

fn number(value: &Value) -> u64 {
    value.as_u64().expect("a number")
}

#[test]
fn two_copies_of_a_stack_talk_over_a_link_without_faults() {
    let shell = Shell::new();
    shell.loom(&["new", "beep"]).fine();
    let page = shell.loom(&["simulate", "beep/beep.loom", "--echo"]).fine();
    assert!(page.starts_with("simulated   beep/beep.loom: "), "{page}");
    assert!(page.contains(" 2,000 frames, seed "), "{page}");
    let row = |name: &str| {
        let mut lines = page.lines().map(str::trim);
        let row = lines.find(|line| line.starts_with(name)).expect("a row");
        row.split_whitespace().map(String::from).collect::<Vec<_>>()
    };
    assert_eq!(row("left.messages")[1..4], ["1,000", "0", "1,000"]);
    assert_eq!(row("right.messages")[1..4], ["0", "1,000", "0"]);
    let json = report(radio(&shell, &["--messages", "7", "--size", "4", "--json"]));
    assert_eq!(json["frames"], 7);
    assert_eq!(json["applications"][1]["delivered"], 7);
    assert_eq!(json["nodes"][1]["delivered"], 7);
}

#[test]
fn the_same_seed_gives_the_same_bytes_compiled_or_interpreted() {
    let shell = Shell::new();
    let run = |seed: &str, file: &str, more: &[&str]| {
        let seed = ["--seed", seed, "--pcapng", file, "--json", "--echo"];
        let said = radio(&shell, &[&FAULTS[..], &seed, more].concat());
        let json = report(said);
        let bytes = std::fs::read(shell.path(file)).expect("a capture");
        (json["applications"].clone(), bytes)
    };
    let first = run("5", "first.pcapng", &[]);
    assert_eq!(first, run("5", "again.pcapng", &[]));
    assert_eq!(first, run("5", "read.pcapng", &["--interpret"]));
    assert_ne!(first.1, run("6", "other.pcapng", &[]).1);
    let passed = frames(&shell, "first.pcapng");
    assert!(passed.len() > 1_000, "{}", passed.len());
}

#[test]
fn an_application_that_reads_gives_its_credit_back() {
    let shell = Shell::new();
    let stack = "use order.sequencer\nuse flow.credit\nstack cable {\n    link cable {\n        \
                 sequencer { credit(window = 8) { port messages } }\n    }\n}\n";
    shell.write("cable.loom", stack);
    let run = |file: &str, more: &[&str]| {
        let words = ["simulate", "cable.loom", "--delay", "3 ms", "--seed", "1"];
        let expect = ["--expect", "delivered = sent", "--pcapng", file];
        shell.loom(&[&words[..], &expect, more].concat()).fine();
        std::fs::read(shell.path(file)).expect("a capture")
    };
    assert_eq!(run("c.pcapng", &[]), run("read.pcapng", &["--interpret"]));
}

#[test]
fn every_frame_of_every_way_has_a_fate() {
    let shell = Shell::new();
    let words = ["--json", "--echo", "--seed", "3", "--messages", "3000"];
    let json = report(radio(&shell, &[&FAULTS[..], &words].concat()));
    for way in json["ways"].as_array().expect("ways") {
        let counts = &way["counts"];
        let sum = |names: &[&str]| -> u64 { names.iter().map(|name| number(&counts[*name])).sum() };
        let gone = sum(&["too_long", "queue_full", "lost", "arrived"]);
        let under_way = number(&way["under_way"]);
        assert_eq!(sum(&["sent", "duplicated"]), gone + under_way, "{way}");
        for fault in ["lost", "duplicated", "reordered", "corrupted", "bit_errors"] {
            assert!(number(&counts[fault]) > 0, "{fault}: {way}");
        }
    }
    assert!(number(&json["ways"][0]["counts"]["too_long"]) > 0, "{json}");
    let sender = &json["applications"][0];
    assert!(number(&sender["missing"]) > 0, "{sender}");
}

#[test]
fn a_run_that_fails_says_how_to_repeat_it() {
    let shell = Shell::new();
    let words = [
        "--loss",
        "5%",
        "--expect",
        "no losses",
        "--expect",
        "in order",
    ];
    let said = radio(&shell, &words);
    let page = said.result.clone();
    assert!(page.contains("\nfailed      no losses: "), "{page}");
    assert!(page.contains("\npassed      in order\n"), "{page}");
    let note = said.failed(
        1,
        &["the run failed:", "no losses: ", "This command repeats it:"],
    );
    let again = note.lines().last().expect("a command").trim();
    let again = again.strip_prefix("loom ").expect("ours");
    let mut command = std::process::Command::new("sh");
    let line = format!("exec '{}' {again}", env!("CARGO_BIN_EXE_loom"));
    command.args(["-c", &line]).current_dir(shell.path("."));
    let repeated = shell.finish(command);
    assert_eq!(repeated.result, page);
    let repeated = repeated.failed(1, &["no losses"]);
    assert_eq!(repeated.lines().last(), note.lines().last());
}

#[test]
fn the_networks_of_the_examples_keep_what_they_promise() {
    let shell = Shell::new();
    let networks = [
        "radio/radio.toml",
        "radio/repaired.toml",
        "stop_and_wait/stop_and_wait.toml",
        "telemetry/telemetry.toml",
    ];
    for network in networks {
        let path = example(network);
        let said = shell.loom(&["simulate", &path, "--seed", "1", "--runs", "10"]);
        let page = said.fine();
        assert!(
            page.ends_with("\n10 of 10 runs met all expectations\n"),
            "{page}"
        );
    }
    let path = example("radio/radio.toml");
    let said = shell.loom(&["simulate", &path, "--loss", "50%", "--burst", "1"]);
    said.failed(1, &["ground: delivered >= 85%: "]);
}

#[test]
fn expectations_of_scripts_and_of_counters_are_judged() {
    let shell = Shell::new();
    let words = [
        "--interpret",
        "--app",
        "right.messages=expect 5 within 1 ms",
    ];
    radio(&shell, &words).failed(1, &["right.messages: expected 5 messages, but 1 arrived"]);
    for (fact, seen) in [
        ("delivered = 999", ": 1,000"),
        ("right: delivered < 100%", ": 1,000"),
        ("answered > 0", ": 0"),
        ("latency < 5 ms", ": 5 ms"),
        ("round trip < 1 s", ": no message arrived"),
        ("left: throughput > 1 kbit/s", ": 0 bit/s"),
        ("right: sequencer.late_or_repeated > 0", ": 0"),
        ("sent < delivered", ": 1,000"),
    ] {
        let words = ["--interpret", "--delay", "5 ms", "--expect", fact];
        radio(&shell, &words).failed(1, &[&format!("{fact}{seen}")]);
    }
    let kept = [
        "right.messages: delivered = 1000",
        "right: delivered = 100%",
        "median latency <= 5 ms",
        "left: sent = 1_000",
        "throughput > 100 kbit/s",
        "buffers back",
        "refused = missing",
    ];
    let words = kept.iter().flat_map(|fact| ["--expect", *fact]);
    let words: Vec<&str> = ["--delay", "5 ms"].into_iter().chain(words).collect();
    let page = radio(&shell, &words).fine();
    assert_eq!(page.matches("\npassed  ").count(), kept.len(), "{page}");
}

#[test]
fn a_run_ends_when_it_is_told() {
    let shell = Shell::new();
    let words = ["--for", "99500 us", "--delay", "10 ms", "--json"];
    let json = report(radio(&shell, &words));
    assert_eq!(json["ways"][0]["counts"]["sent"], 100);
    assert_eq!(json["ways"][0]["under_way"], 10);
}

#[test]
fn many_runs_find_the_seeds_that_fail() {
    let shell = Shell::new();
    let words = ["--seed", "100", "--runs", "12", "--messages", "100"];
    let faults = ["--interpret", "--loss", "1%", "--expect", "no losses"];
    let said = radio(&shell, &[&words[..], &faults].concat());
    let page = said.result.clone();
    let lines: Vec<&str> = page.lines().collect();
    assert_eq!(lines.len(), 13, "{page}");
    let kept = lines
        .iter()
        .filter(|line| line.ends_with(": passed"))
        .count();
    assert!(kept > 0 && kept < 12, "{page}");
    assert_eq!(lines[12], format!("{kept} of 12 runs met all expectations"));
    let failed = lines
        .iter()
        .find(|line| line.contains("missing"))
        .expect("one that failed");
    let seed = failed.split([' ', ':']).nth(1).expect("its seed");
    let note = said.failed(1, &["no losses: "]);
    let again = note.lines().last().expect("a command");
    assert!(
        again.ends_with(&format!(" --seed {seed}")) && !again.contains("--runs"),
        "{again}"
    );
    let words = [
        "--runs",
        "2",
        "--messages",
        "10",
        "--interpret",
        "--expect",
        "no losses",
    ];
    let page = radio(&shell, &words).fine();
    assert!(
        page.ends_with("\n2 of 2 runs met all expectations\n"),
        "{page}"
    );
}

#[test]
fn all_is_lost_in_an_outage() {
    let shell = Shell::new();
    let words = [
        "--outage",
        "100 ms..150 ms, 0.5 s..0.51 s",
        "--json",
        "--interpret",
    ];
    let json = report(radio(&shell, &words));
    assert_eq!(json["ways"][0]["counts"]["outage"], 60);
    assert_eq!(json["applications"][0]["missing"], 60);
}

#[test]
fn a_hundred_thousand_messages_take_seconds() {
    let shell = Shell::new();
    let words = [
        "--messages",
        "100000",
        "--every",
        "10 us",
        "--loss",
        "1%",
        "--json",
    ];
    let json = report(radio(&shell, &words));
    assert_eq!(json["frames"], 100_000);
}

#[test]
fn who_interrupts_it_sees_how_far_it_came() {
    let shell = Shell::new();
    let stack = example("radio/radio.loom");
    let words = [
        "simulate",
        &stack,
        "--messages",
        "1000000000",
        "--pcapng",
        "long.pcapng",
    ];
    let running = shell.start(shell.command(&words));
    let late = std::time::Instant::now() + std::time::Duration::from_secs(50);
    let has_begun = || std::fs::metadata(shell.path("long.pcapng")).is_ok_and(|it| it.len() > 0);
    while !has_begun() && std::time::Instant::now() < late {
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    running.interrupt();
    let said = running.end();
    assert!(said.result.starts_with("simulated   "), "{}", said.result);
    said.failed(1, &["interrupted"]);
}

const NETWORK: &str = "\
[node.one]
stack = \"beep.loom\"
app.messages = \"send 10\"

[node.other]
stack = \"beep.loom\"

[link.wire]
ends = [\"one\", \"other\"]
loss = \"5%\"
";

/// What stands in a network, what is written instead, in which line that is, and what is said.
const WRONG: &[(&str, &str, u32, &str)] = &[
    ("[node.one]", "[node.one", 1, "not valid TOML"),
    ("[node.one]", "[nodes.one]", 1, "did you mean `node`?"),
    (
        "beep.loom\"\napp",
        "bep.loom\"\napp",
        2,
        "bep.loom: No such file",
    ),
    ("app.messages", "app.message", 3, "did you mean `messages`?"),
    ("app.messages", "ap.messages", 3, "did you mean `app`?"),
    ("send 10", "sent 10", 3, "did you mean `send`?"),
    ("send 10", "send 10 of 3", 3, "needs at least 4 bytes"),
    (
        "send 10",
        "wait 1 s; send ten",
        3,
        "not a number of messages",
    ),
    (
        "send 10",
        "open (port = 7); send 10",
        3,
        "port `messages` has no sessions that are opened",
    ),
    (
        "stack = \"beep.loom\"\n\n",
        "\n\n",
        5,
        "stack = \"FILE.loom\"",
    ),
    ("[\"one\", \"other\"]", "[\"one\"]", 8, "two ends"),
    (
        "[\"one\", \"other\"]",
        "[\"one\", \"othr\"]",
        9,
        "did you mean `other`?",
    ),
    (
        "[\"one\", \"other\"]",
        "[\"one\", \"one\"]",
        9,
        "is an end of two links",
    ),
    (
        "\"one\", \"other\"",
        "\"one.wre\", \"other\"",
        9,
        "did you mean `wire`?",
    ),
    (
        "loss = \"5%\"",
        "bit_errors = \"0 for 5 s, 1e-6\"",
        10,
        "0 for 5 s, 1e-6 for 5 s",
    ),
    (
        "loss = \"5%\"",
        "damaged = \"dropp\"",
        10,
        "did you mean `drop`?",
    ),
    ("loss", "los", 10, "did you mean `loss`?"),
    ("5%", "5x", 10, "is not a share"),
    ("5%", "105%", 10, "is not between 0% and 100%"),
    ("\"5%\"", "[]", 10, "one string or number"),
    ("loss = \"5%\"", "rate = 10", 10, "10 Mbit/s"),
    ("loss = \"5%\"", "delay = \"2 d\"", 10, "not a duration"),
    (
        "loss = \"5%\"",
        "from.two.loss = 1",
        10,
        "not an end of this link",
    ),
    (
        "[node.one]\n",
        "[node.one]\nset.speed = 5\n",
        2,
        "there is no setting `speed`",
    ),
    (
        "[node.one]\n",
        "[node.one]\nset.buffers = \"x\"\n",
        2,
        "is not a number",
    ),
    (
        "[node.one]",
        "expect = \"in oder\"\n[node.one]",
        1,
        "not an expectation",
    ),
    (
        "[node.one]",
        "expect = \"two: in order\"\n[node.one]",
        1,
        "the name `two`",
    ),
    (
        "[node.one]",
        "expect = \"deliverd = 1\"\n[node.one]",
        1,
        "did you mean `delivered`?",
    ),
    (
        "[node.one]",
        "expect = \"beep.lost = 1\"\n[node.one]",
        1,
        "no counter `beep.lost`",
    ),
    ("[node.one]", "for = 5\n[node.one]", 1, "not a duration"),
    ("[node.one]", "seed = \"x\"\n[node.one]", 1, "not a number"),
    (
        "[link.wire]",
        "[node.third]\nstack = \"beep.loom\"\n[link.wire]",
        8,
        "is not connected",
    ),
];

#[test]
fn a_network_that_is_wrong_is_shown_where_it_is() {
    let shell = Shell::new();
    shell.loom(&["new", "beep"]).fine();
    let write = |network: String| shell.write("beep/network.toml", network);
    write(NETWORK.to_string());
    shell.loom(&["simulate", "beep/network.toml"]).fine();
    for (was, becomes, line, words) in WRONG {
        write(NETWORK.replacen(was, becomes, 1));
        let said = shell.loom(&["simulate", "beep/network.toml"]);
        let note = said.failed(1, &[words]);
        let place = format!("beep/network.toml:{line}:");
        assert!(note.contains(&place), "{place} is not in:\n{note}");
    }
    shell.write("empty.toml", "");
    let said = shell.loom(&["simulate", "empty.toml"]);
    said.failed(1, &["a network needs nodes", "empty.toml:1:"]);
    shell.write("latin.toml", [b'#', 0xe9]);
    let said = shell.loom(&["simulate", "latin.toml"]);
    said.failed(1, &["latin.toml: byte 1 is not UTF-8"]);
}

#[test]
fn a_command_line_that_is_wrong_is_answered_with_what_would_be_right() {
    let shell = Shell::new();
    let wrong: [(&[&str], &str); 18] = [
        (&["--loss", "5x"], "--loss"),
        (&["--rate", "fast"], "10 Mbit/s"),
        (&["--bit-errors", "2"], "between 0% and 100%"),
        (&["--burst", "0"], "a burst has at least one frame"),
        (&["--loss", "90%", "--burst", "3"], "at most 75%"),
        (&["--size", "3"], "needs at least 4 bytes"),
        (&["--every", "5"], "5 s"),
        (&["--for", "5"], "5 s"),
        (&["--app", "left"], "left.messages="),
        (&["--app", "lft.messages=echo"], "did you mean `left`?"),
        (&["--app", "left.message=echo"], "did you mean `messages`?"),
        (&["--set", "speed=5"], "there is no setting `speed`"),
        (&["--set", "third.buffers=5"], "there is no node `third`"),
        (&["--expect", "everything"], "not an expectation"),
        (&["--pcapng", "no/where"], "no/where: No such file"),
        (&["--outage", "2 s..1 s"], "10 s..12 s"),
        (&["--runs", "0"], "--runs"),
        (&["--runs", "2", "--pcapng", "x"], "--pcapng"),
    ];
    for (words, advice) in wrong {
        radio(&shell, words).failed(2, &[advice]);
    }
    let network = example("radio/radio.toml");
    let said = shell.loom(&["simulate", &network, "--messages", "5"]);
    said.failed(2, &["--messages", "a stack of which two copies run"]);
    radio(&shell, &["--compiled"]).failed(2, &["--compiled applies only to Esterel programs"]);
    shell.write("a.strl", "module A: input I; end module");
    let said = shell.loom(&["simulate", "a.strl", "--loss", "5%"]);
    said.failed(2, &["an option of links applies only to stacks"]);
    let note =
        radio(&shell, &["--expect", "speed.most = 0"]).failed(2, &["choose one of frames_in"]);
    assert_eq!(note.matches(" frames_out,").count(), 1, "{note}");
    let said = shell.loom(&["simulate", "none.toml"]);
    said.failed(2, &["none.toml: No such file"]);
    let host = example("host/host.loom");
    let said = shell.loom(&["simulate", &host]);
    said.failed(2, &["port `datagrams`", "left.datagrams=open ("]);
}

#[test]
fn hosts_with_addresses_and_sessions_talk_by_scripts() {
    let shell = Shell::new();
    let host = example("host/host.loom");
    let set = [
        "left.address=10.0.0.1",
        "left.mac=02:00:00:00:00:01",
        "right.address=10.0.0.2",
        "right.mac=02:00:00:00:00:02",
        "prefix=24",
    ];
    let set = set.iter().flat_map(|setting| ["--set", *setting]);
    let words = [
        "--app",
        "left.datagrams=open (port = 9, peer = 10.0.0.2, peer_port = 7); send 1; wait 1 s; send \
         200 of 4..4000 bytes; expect 201 within 5 s; close",
        "--app",
        "right.datagrams=open (port = 7); echo",
        "--delay",
        "3 ms",
        "--expect",
        "answered = sent",
    ];
    let words: Vec<&str> = set.chain(words).collect();
    for more in [&[][..], &["--interpret"]] {
        let words = [
            &["simulate", &host, "--seed", "1", "--json"],
            &words[..],
            more,
        ]
        .concat();
        let json = report(shell.loom(&words));
        assert_eq!(json["applications"][0]["answered"], 201);
        assert!(number(&json["frames"]) > 700, "{json}");
    }
}

/// Two ends of TCP, small enough to be interpreted.
const LINE: &str = "\
use link.tunnel
use network.icmp
use network.ipv4
use network.whole
use transport.tcp

stack line {
    link wire {
        tunnel {
            ipv4(address = config.address, prefix = 24, resolver = tunnel, errors = icmp) {
                key 1 whole as echoes { icmp }
                key 6 whole {
                    tcp(sessions = 1, secret = config.secret, buffer = 3000) { port streams }
                }
            }
        }
    }
}
";

/// Runs two ends of TCP with a script for each.
fn line(shell: &Shell, [left, right]: [&str; 2], more: &[&str]) -> Said {
    shell.write("line.loom", LINE);
    let (left, right) = (
        format!("left.streams=open (port = 7000, peer = 10.0.0.2, peer_port = 80); {left}"),
        format!("right.streams=listen (port = 80); {right}"),
    );
    let words = [
        "simulate",
        "line.loom",
        "--set",
        "left.address=10.0.0.1",
        "--set",
        "right.address=10.0.0.2",
        "--set",
        "secret=000102030405060708090a0b0c0d0e0f",
        "--delay",
        "10 ms",
        "--seed",
        "1",
        "--app",
        &left,
        "--app",
        &right,
    ];
    shell.loom(&[&words[..], more].concat())
}

#[test]
fn a_stream_is_as_long_as_it_says_however_its_bytes_are_cut() {
    let shell = Shell::new();
    let scripts = [
        "send 3 of 1000 bytes every 5 ms; stream 6_000 bytes; close",
        "expect 9000 bytes within 5 s",
    ];
    let promises = [
        "--expect",
        "no losses",
        "--expect",
        "no damage",
        "--expect",
        "right: delivered = 100%",
    ];
    let reports = [&[][..], &["--interpret"]].map(|more| {
        let said = line(
            &shell,
            scripts,
            &[&["--json", "--loss", "2%"], more, &promises[..]].concat(),
        );
        let json = report(said);
        (json["frames"].clone(), json["applications"].clone())
    });
    assert_eq!(reports[0], reports[1]);
    let [left, right] = [&reports[0].1[0], &reports[0].1[1]];
    assert_eq!(
        (&right["unit"], number(&left["sent"])),
        (&Value::from("bytes"), 9_000)
    );
    assert_eq!(
        (number(&right["bytes"]), number(&left["refused"])),
        (9_000, 0)
    );
    let throughput =
        u128::from(number(&right["bytes"])) * 8_000_000_000 / u128::from(number(&right["took_ns"]));
    assert_eq!(u128::from(number(&right["throughput"])), throughput);
}

#[test]
fn a_stream_lasts_as_long_as_it_says_as_fast_as_its_port_grants() {
    let shell = Shell::new();
    let page = line(&shell, ["stream 1 s", "echo"], &["--expect", "no losses"]).fine();
    // A window of 3,000 bytes in each round trip of 20 ms is 150,000 bytes in a second.
    let row = page
        .lines()
        .find(|line| line.starts_with("  right.streams"));
    let row: Vec<&str> = row.expect("a row").split_whitespace().collect();
    let bytes: u64 = row[2].replace(',', "").parse().expect("a number");
    assert!((130_000..=156_000).contains(&bytes), "{page}");
    assert!(page.contains("\nbytes  "), "{page}");
    assert!(row.contains(&"Mbit/s"), "{page}");
}

#[test]
fn a_stream_needs_a_port_that_grants() {
    let shell = Shell::new();
    let said = radio(
        &shell,
        &["--interpret", "--app", "left.messages=stream 100 bytes"],
    );
    said.failed(1, &["100 were left", "its port never told `grant_sends`"]);
    let said = radio(
        &shell,
        &["--interpret", "--app", "left.messages=stream 1 s"],
    );
    said.failed(
        1,
        &["it streamed nothing: its port never told `grant_sends`"],
    );
    let network = example("host/host.loom");
    let words = [
        "simulate",
        &network,
        "--set",
        "prefix=24",
        "--set",
        "address=10.0.0.1",
        "--set",
        "mac=02:00:00:00:00:01",
        "--app",
        "datagrams=open (port = 7, peer = 10.0.0.2, peer_port = 7); stream 1 s",
    ];
    shell
        .loom(&words)
        .failed(2, &["`stream` needs a port that tells `grant_sends`"]);
    let said = line(&shell, ["stream 1 s", "stream 1 s"], &[]);
    said.failed(2, &["`stream` needs a session of its own"]);
    shell.write(
        "counted.loom",
        "use order.sequencer\nuse flow.credit\n\nstack counted {\n    link cable { sequencer { \
        credit { port messages } } }\n}\n",
    );
    let words = [
        "simulate",
        "counted.loom",
        "--interpret",
        "--delay",
        "1 ms",
        "--expect",
        "delivered = 100%",
        "--expect",
        // 32 messages in each round trip of 2 ms, of which 16 are granted at once.
        "sent >= 1600",
        "--app",
        "left.messages=stream 100 ms",
    ];
    shell.loom(&words).fine();
}

/// A layer that counts what it is told.
const SLOT: &str = "\
service slots {
    notice swap(variant: u8) down
}

/// slot: counts what it is told
worker slot
provides slots

on swap(variant) {
    if variant == 1 { count one }
    if variant == 2 { count two }
    if variant == 3 { count three }
}

on send(message) { send message }

on deliver(message) { deliver message }

stack slotted { link wire { slot { port messages } } }
";

#[test]
fn a_notice_is_told_again_and_again_with_values_at_random() {
    let shell = Shell::new();
    shell.write("slot.loom", SLOT);
    let run = |steps: &str, more: &[&str]| {
        let script = format!("left.messages={steps}");
        let words = ["simulate", "slot.loom", "--seed", "1", "--app", &script];
        shell.loom(&[&words, more].concat())
    };
    // At 0 s, 50 ms, and so on up to 1 s.
    let steps = "tell swap (variant = 1 | 2) every 50 ms; send 10 every 100 ms";
    let told = [&[][..], &["--interpret"]].map(|more| {
        let json = report(run(steps, &[&["--json", "--for", "1 s"], more].concat()));
        assert_eq!(json["applications"][0]["sent"], 10);
        let counts = &json["nodes"][0]["counts"];
        (number(&counts["slot.one"]), number(&counts["slot.two"]))
    });
    assert_eq!(told[0], told[1]);
    let (one, two) = told[0];
    assert!(one > 3 && two > 3 && one + two == 21, "{one} and {two}");
    let steps = "tell swap (variant = 3) every 10 ms; wait 95 ms; close; wait 1 s";
    let promise = ["--interpret", "--expect", "left: slot.three = 10"];
    run(steps, &promise).fine();
    // It keeps no run going.
    let page = run("tell swap (variant = 3) every 10 ms", &["--interpret"]).fine();
    assert!(page.starts_with("simulated   slot.loom: 10 s, "), "{page}");
    let wrong = run("tell swap (variant = 1 | x) every 10 ms", &[]);
    wrong.failed(2, &["`x`"]);
}

#[test]
fn a_series_says_what_happened_in_each_interval() {
    let shell = Shell::new();
    let run = |more: &[&str]| {
        let words = ["--json", "--seed", "3", "--size", "20", "--messages", "250"];
        let faults = ["--duplicate", "10%", "--loss", "5%"];
        let text = radio(&shell, &[&words[..], &faults, more].concat()).fine();
        let lines = text
            .lines()
            .map(|line| serde_json::from_str(line).expect("JSON"));
        lines.collect::<Vec<Value>>()
    };
    let lines = run(&["--series"]);
    let interpreted = run(&["--series=100 ms", "--interpret"]);
    let (last, samples) = lines.split_last().expect("lines");
    assert_eq!(samples, &interpreted[..interpreted.len() - 1]);
    assert_eq!(last["frames"], 250);
    let times = samples
        .iter()
        .map(|line| (number(&line["from_ns"]), number(&line["to_ns"])));
    let end_ns = number(&last["time_ns"]);
    let wanted = [
        (0, 100_000_000),
        (100_000_000, 200_000_000),
        (200_000_000, end_ns),
    ];
    assert_eq!(times.collect::<Vec<_>>(), wanted);
    let sum = |of: &dyn Fn(&Value) -> &Value| -> u64 {
        samples
            .iter()
            .map(|line| of(line).as_u64().unwrap_or(0))
            .sum()
    };
    let right = &last["applications"][1];
    let delivered = |name| sum(&|line: &Value| &line["delivered"]["right.messages"][name]);
    assert_eq!(delivered("messages"), number(&right["delivered"]));
    assert_eq!(delivered("bytes"), 20 * number(&right["delivered"]));
    let late = sum(&|line| &line["counters"]["right"]["sequencer.late_or_repeated"]);
    let dropped = &last["nodes"][1]["dropped"]["sequencer.late_or_repeated"];
    assert!(late > 0 && late == number(dropped), "{late}");
    // At 100 ms the interval before has ended.
    let sent = number(&samples[0]["counters"]["left"]["frames_out"]);
    assert_eq!(sent, 100);
    radio(&shell, &["--series"]).failed(2, &["--json"]);
    radio(&shell, &["--json", "--series=0 s"]).failed(2, &["an interval has a length"]);
}

#[test]
fn the_readme_shows_what_is_printed() {
    let readme = include_str!("../../README.md");
    let shown = readme
        .split("$ loom simulate ")
        .nth(1)
        .expect("it shows it");
    let shown = shown.split("```").next().expect("a block ends");
    let (command, page) = shown.split_once("\nsimulated").expect("a page");
    let root = env!("CARGO_MANIFEST_DIR");
    let mut shell = std::process::Command::new("sh");
    let line = format!("exec '{}' simulate {command}", env!("CARGO_BIN_EXE_loom"));
    shell.args(["-c", &line]).current_dir(root);
    let said = Shell::new().finish(shell).fine();
    assert_eq!(said, format!("simulated{page}"));
}
