//! profile: a program that records, the text it writes, and stacks that are built by it.

use super::building::{compile, example};
use super::frames::{arp, capture, ethernet, ipv4, ping, udp};
use super::shell::{Said, Shell};

const GATES: &str = "\
/// gate: lets small kinds through, and counts threes
worker gate

header big { kind: u8 = 1 }

on deliver(message) {
    require header.kind < 8 else drop message as too_large
    if header.kind == 3 { count threes }
    deliver message
}

on send(message) { send message }

stack gates { link wire { gate { port talk } } }
";
const DRIVE: &str = include_str!("gates.c");

/// What is recorded where five frames come.
const COUNTS: &str = "\
         5  arrive gate 0 only 0 deliver
         5  gates.loom:4 yes
         0  gates.loom:4 no
         3  gates.loom:7 yes
         2  gates.loom:7 no
         1  gates.loom:8 yes
         2  gates.loom:8 no
         0  handle gate.session only 0 send
";

fn gates() -> Shell {
    let shell = Shell::new();
    shell.write("gates.loom", GATES);
    shell.write("drive.c", DRIVE);
    shell
}

fn record(shell: &Shell, kinds: &[&str]) -> String {
    let record = ["profile", "record", "gates.loom", "--c", "drive.c", "--"];
    shell.loom(&[&record[..], kinds].concat()).fine()
}

#[test]
fn each_way_is_counted_and_the_program_says_what_it_always_says() {
    let shell = gates();
    let said = record(&shell, &["1", "3", "1", "9", "9"]);
    let counted = "frames_in 5\ndelivered 3\ngate.too_large 2\ncount gate.threes 1\n";
    assert_eq!(said, format!("2 bytes\n2 bytes\n2 bytes\n{counted}"));
    let profile = shell.read("gates.profile");
    let mut lines = profile.lines();
    assert_eq!(lines.next(), Some("stackloom profile 1"));
    assert_eq!(lines.next(), Some("stack gates"));
    assert!(profile.ends_with(COUNTS), "{profile}");
    // All five are of two bytes; none came before the first.
    assert!(
        profile.contains("\nframes wire 5 alike 4 elsewhere 0\n"),
        "{profile}"
    );
    let explain = ["explain", "gates.loom", "--profile", "gates.profile"];
    let said = shell.loom(&explain).fine();
    assert!(
        said.contains("the most frequent paths: 3 paths carry 100.0 %\n"),
        "{said}"
    );
}

/// Records what `examples/host` does with `in.pcapng`; it echoes on port 7.
fn of_capture(shell: &Shell, more: &[&str]) -> Said {
    let stack = example("host/host.loom");
    let mut arguments = vec!["profile", "record", &stack];
    for setting in ["address=10.0.0.2", "prefix=24", "mac=02:00:00:00:00:02"] {
        arguments.extend(["--set", setting]);
    }
    arguments.extend(["--app", "datagrams(port=7)=echo"]);
    arguments.extend(["--link", "tap=pcap:in.pcapng"]);
    arguments.extend(more);
    shell.loom(&arguments)
}

#[test]
fn a_capture_is_recorded_and_built_by() {
    let shell = Shell::new();
    let datagram = |number, port| ipv4(17, number, 0, &udp(port, b"hello"));
    let echoed = (1..=4).map(|number| (u64::from(number), datagram(number, 7)));
    let others = [(0, arp(1)), (5, datagram(5, 9)), (6, ping(6, b"hello"))];
    let frames: Vec<_> = others.into_iter().chain(echoed).collect();
    capture(&shell, "in.pcapng", &frames);
    let said = of_capture(&shell, &[]).fine();
    assert!(said.starts_with("frames     7 in, "), "{said}");
    let profile = shell.read("host.profile");
    let counted = |way: &str| {
        let mut lines = profile.lines();
        let line = lines.find(|line| line.trim_start().ends_with(way));
        let line = line.unwrap_or_else(|| panic!("no {way}: {profile}"));
        line.split_whitespace().next().map(str::to_string)
    };
    let all = counted("arrive ethernet 0 any deliver");
    let echoed = counted("udp.session any send");
    assert_eq!([all.as_deref(), echoed.as_deref()], [Some("7"), Some("4")]);
    let stack = example("host/host.loom");
    let build = ["build", &stack, "-o", "out"];
    shell.loom(&build).fine();
    let guessed = shell.read("out/host.c");
    shell
        .loom(&[&build[..], &["--profile", "host.profile"]].concat())
        .fine();
    assert_ne!(shell.read("out/host.c"), guessed, "it goes by the profile");
    of_capture(&shell, &["--name", "other", "-o", "others"]).fine();
    assert_eq!(
        shell.read("others"),
        profile,
        "it is of the stack, however called"
    );
}

#[test]
fn a_capture_that_says_nothing_of_the_stack_is_refused() {
    let shell = Shell::new();
    of_capture(&shell, &[]).failed(2, &["in.pcapng: No such file"]);
    shell.write("in.pcapng", "no capture");
    of_capture(&shell, &[]).failed(2, &["in.pcapng: not a pcap or pcapng capture"]);
    capture(&shell, "in.pcapng", &[]);
    of_capture(&shell, &[]).failed(1, &["no frame came in: no profile is written"]);
    capture(
        &shell,
        "in.pcapng",
        &[(0, ethernet(0x88b5, &[0; 50])), (1, vec![1])],
    );
    of_capture(&shell, &[]).failed(1, &["every frame was dropped: no profile is written"]);
    capture(&shell, "in.pcapng", &[(0, arp(1)), (1, arp(1))]);
    let bytes = std::fs::read(shell.path("in.pcapng")).expect("a capture");
    shell.write("in.pcapng", &bytes[..bytes.len() - 9]);
    of_capture(&shell, &[]).failed(2, &["in.pcapng: frame 2: the file ends too early"]);
    assert!(!shell.path("host.profile").exists(), "nothing was recorded");
}

#[test]
fn a_profile_is_recorded_of_one_thing() {
    let shell = gates();
    let record = |more: &[&str]| {
        let record = ["profile", "record", "gates.loom"];
        shell.loom(&[&record[..], more].concat())
    };
    record(&[]).failed(2, &["--c <FILE>"]);
    let live = ["--link", "wire=tap:tap0"];
    record(&live).failed(2, &["link `wire`", "a profile is recorded from a capture"]);
    let around = ["--c", "drive.c", "--set", "x=1"];
    record(&around).failed(2, &["--set and --app need --link"]);
    let given = ["--link", "wire=pcap:in", "--", "3"];
    record(&given).failed(2, &["cannot be used with"]);
    record(&["--link", "wires=pcap:in"]).failed(2, &["the stack has no link `wires`"]);
}

#[test]
fn several_runs_add_up() {
    let shell = gates();
    for (file, kinds) in [("one", "3"), ("other", "9")] {
        record(&shell, &[kinds]);
        shell.write(file, shell.read("gates.profile"));
    }
    record(&shell, &["3", "9"]);
    let built = |profiles: &[&str]| {
        let build = ["build", "gates.loom", "-o", "out"];
        shell.loom(&[&build[..], profiles].concat()).fine();
        shell.read("out/gates.c")
    };
    let both = built(&["--profile", "one", "--profile", "other"]);
    assert_eq!(both, built(&["--profile", "gates.profile"]));
    let explained = |profiles: &[&str]| {
        let explain = [&["explain", "gates.loom"], profiles].concat();
        shell.loom(&explain).fine()
    };
    let both = explained(&["--profile", "gates.profile"]);
    let one = explained(&["--profile", "one"]);
    assert_ne!(both, one, "it goes by the profile");
}

#[test]
fn whoever_has_a_makefile_records_too() {
    let shell = gates();
    shell
        .loom(&["build", "gates.loom", "-o", ".", "--record"])
        .fine();
    let flags = "-std=c11 -O2 -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Werror";
    compile(&shell.path("."), "gates.c", flags);
    let program = "cc gates.c drive.c -o drive && ./drive 1 3 1 9 9";
    let mut command = std::process::Command::new("sh");
    command.args(["-c", program]).current_dir(shell.path("."));
    shell.finish(command).fine();
    assert!(shell.read("gates.profile").ends_with(COUNTS));
    let normal = ["build", "gates.loom", "-o", "."];
    shell.loom(&normal).fine();
    assert!(
        !shell.read("gates.c").contains("stdio.h"),
        "no other touches a file"
    );
}

#[test]
fn what_is_no_profile_of_this_stack_is_refused() {
    let shell = gates();
    record(&shell, &["1"]);
    let good = shell.read("gates.profile");
    let refused = |text: &str, says: &str| {
        shell.write("bad", text);
        let build = ["build", "gates.loom", "--profile", "bad", "-o", "out"];
        shell.loom(&build).failed(1, &[says]);
        let explain = ["explain", "gates.loom", "--profile", "bad"];
        shell.loom(&explain).failed(1, &[says]);
    };
    refused("", "the first line is not `stackloom profile 1`");
    refused(
        "\u{0}\u{fffd}",
        "the first line is not `stackloom profile 1`",
    );
    refused("stackloom profile 10\n", "not a profile");
    refused("stackloom profile 1\n", "line 2 does not name the stack");
    refused(
        "stackloom profile 1\nstack gates\ntrees x\n",
        "line 3 has no",
    );
    refused(
        &good.replace("stack gates", "stack other"),
        "recorded from `other`",
    );
    refused(&good.replace("trees ", "trees 1"), "line 3 has no");
    let (before, digit) = good.split_at(good.find("trees ").expect("a sum") + 6);
    let other = if digit.starts_with('1') { "2" } else { "1" };
    let planted = format!("{before}{other}{}", &digit[1..]);
    refused(
        &planted,
        "`gates` has changed since the profile was recorded",
    );
    let cut = good.trim_end().rsplit_once('\n').expect("lines").0;
    refused(cut, "the profile has 7 counts, but `gates` has 8 paths");
    refused(
        &(good.clone() + "1 more\n"),
        "the profile has 9 counts, but `gates` has 8 paths",
    );
    refused(
        &good.replace(" 1  arrive", "-1  arrive"),
        "line 5 has no count",
    );
    refused(
        &good.replace(" alike ", " unlike "),
        "line 4 has no count of frames",
    );
    refused(&(good.clone() + "\n\n"), "line 13 has no count");
    shell.write("gates.loom", GATES.replace("< 8", "< 9"));
    refused(
        &good,
        "`gates` has changed since the profile was recorded: record a new one",
    );
    let two = [
        "build",
        "gates.loom",
        "--profile",
        "gates.profile",
        "--profile",
        "bad",
    ];
    shell.write("bad", good.replace("stack gates", "stack other"));
    shell
        .loom(&two)
        .failed(1, &["bad: the profile was recorded from another stack"]);
    let none = ["build", "gates.loom", "--profile", "none"];
    shell.loom(&none).failed(2, &["none: No such file"]);
}

#[test]
fn a_program_that_fails_or_is_none_is_said() {
    let shell = gates();
    shell.write("fails.c", "int main(void) { return 3; }\n");
    shell.write("wrong.c", "int main(void) { return nothing; }\n");
    shell.write(
        "quick.c",
        "#include <stdlib.h>\nint main(void) { _Exit(0); }\n",
    );
    let record = |file: &str| shell.loom(&["profile", "record", "gates.loom", "--c", file]);
    record("fails.c").failed(1, &["the program failed: exit status: 3"]);
    record("wrong.c").failed(1, &["cannot compile the C sources"]);
    record("quick.c").failed(1, &["the program wrote no profile"]);
    record("none.c").failed(2, &["none.c: No such file"]);
    let both = ["build", "gates.loom", "--record", "--only", "inline"];
    shell.loom(&both).failed(2, &["cannot be used with"]);
}

/// What the program says of these frames with the stack of a folder.
fn driven(shell: &Shell, folder: &str, kinds: &str) -> String {
    let flags = "-fsanitize=address,undefined -fno-sanitize-recover=all";
    let program = format!("cc {flags} -I {folder} {folder}/gates.c drive.c -o {folder}/drive");
    let line = format!("{program} && {folder}/drive {kinds}");
    let mut command = std::process::Command::new("sh");
    command.args(["-c", &line]).current_dir(shell.path("."));
    shell.finish(command).fine()
}

#[test]
fn what_was_never_seen_is_cut_and_meeting_it_is_counted_by_its_line() {
    let shell = gates();
    record(&shell, &["1", "1"]);
    let run = |folder: &str, kinds: &str| driven(&shell, folder, kinds);
    let build = ["build", "gates.loom", "--profile", "gates.profile"];
    shell.loom(&[&build[..], &["-o", "whole"]].concat()).fine();
    let special = [&build[..], &["--specialise", "-o", "special"]].concat();
    let said = shell.loom(&special).fine();
    let cut = "removed 4 paths that the profile never took\n";
    assert!(said.ends_with(cut), "{said}");
    for file in ["special/gates.c", "special/gates.h"] {
        let text = shell.read(file).replace("\n *", "");
        let says = "what it did when gates.profile was recorded, which is 4 of 8 ways.";
        assert!(text.contains(says), "{file}: {text}");
        assert!(text.contains("4 ways are cut"), "{file}: {text}");
    }
    let whole = shell.read("whole/gates.c");
    assert!(!whole.contains("Specialised:"), "nothing is cut of it");
    let flags = "-std=c11 -O2 -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Werror";
    compile(&shell.path("special"), "gates.c", flags);
    assert_eq!(run("whole", "1 1 1"), run("special", "1 1 1"));
    let threes = "count gate.cut_gates_loom_8_yes 1\n";
    let large = "count gate.cut_gates_loom_7_no 2\n";
    let others = "2 bytes\nframes_in 4\ndelivered 1\ngate.cut 3\n";
    assert_eq!(
        run("special", "3 1 9 9"),
        format!("{others}{large}{threes}")
    );
    assert!(
        !shell.read("special/gates.c").contains("GATE_TOO_LARGE)"),
        "it is gone"
    );
}

#[test]
fn where_no_frame_stood_in_a_buffer_none_is_given_and_that_is_counted() {
    let shell = gates();
    let elsewhere = format!("#define ELSEWHERE\n{DRIVE}");
    let special = ["build", "gates.loom", "--profile", "gates.profile"];
    let special = [&special[..], &["--specialise", "-o", "special"]].concat();
    let build = || shell.loom(&special).fine();
    shell.write("drive.c", &elsewhere);
    record(&shell, &["1", "1"]);
    let profile = shell.read("gates.profile");
    let frames = "\nframes wire 2 alike 1 elsewhere 2\n";
    assert!(profile.contains(frames), "{profile}");
    let said = build();
    let cut = "that the profile never took; also removed buffers for frames, which no path needs\n";
    assert!(said.ends_with(cut), "{said}");
    let header = shell.read("special/gates.h").replace("\n *", "");
    let says = "No frame stood in a buffer of it: gates_buffer gives none, and that is counted.";
    assert!(header.contains(says), "{header}");
    let fine = "2 bytes\n2 bytes\nframes_in 2\ndelivered 2\n";
    assert_eq!(driven(&shell, "special", "1 1"), fine);
    shell.write("drive.c", DRIVE);
    let counted = "count stack.cut_buffer 2\n";
    assert_eq!(driven(&shell, "special", "1 1"), counted);
    // One that asks is enough.
    shell.write(
        "gates.profile",
        profile.replace("elsewhere 2", "elsewhere 1"),
    );
    assert!(build().ends_with("that the profile never took\n"));
    assert_eq!(driven(&shell, "special", "1 1"), fine);
    shell.write(
        "gates.profile",
        profile.replace("elsewhere 2", "elsewhere 3"),
    );
    let why = ["line 4 has no count of frames"];
    shell.loom(&special).failed(1, &why);
    shell.write(
        "gates.profile",
        profile.replace("frames wire", "frames other"),
    );
    let why = ["the profile counts frames of `other`, but `gates` has no such link"];
    shell.loom(&special).failed(1, &why);
}

#[test]
fn only_what_was_recorded_can_be_specialised() {
    let shell = gates();
    let without = ["build", "gates.loom", "--specialise"];
    shell.loom(&without).failed(2, &["--profile"]);
    record(&shell, &["1"]);
    shell.write("gates.loom", GATES.replace("< 8", "< 9"));
    let build = [
        "build",
        "gates.loom",
        "--profile",
        "gates.profile",
        "--specialise",
    ];
    shell.loom(&build).failed(1, &["record a new one"]);
}
