//! Wrong command lines and hostile surroundings: always a sentence that helps, never a panic.

use super::building::example;
use super::frames::{capture, ping};
use super::shell::{Said, Shell};
use std::fs::{File, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::process::Command;
use std::time::{Duration, Instant};

/// The host of the examples with these words behind.
fn host(shell: &Shell, words: &[&str]) -> Said {
    let stack = example("host/host.loom");
    shell.loom(&[&["run", &stack], words].concat())
}

const SET: [&str; 6] = [
    "--set",
    "address=10.0.0.2",
    "--set",
    "prefix=24",
    "--set",
    "mac=2",
];

#[test]
fn wrong_command_lines_end_with_2_and_what_would_be_right() {
    let shell = Shell::new();
    shell
        .loom(&[])
        .failed(2, &["Usage: loom [OPTIONS] <COMMAND>"]);
    shell.loom(&["biuld"]).failed(2, &["build"]);
    shell.loom(&["build"]).failed(2, &["<STACK>"]);
    shell.loom(&["fmt"]).failed(2, &["<PATHS>"]);
    shell
        .loom(&["check", "a.loom", "--fats"])
        .failed(2, &["--fats"]);
    shell
        .loom(&["build", "a.loom", "--report", "yaml"])
        .failed(2, &["json"]);
    for link in [
        "tap",
        "tap=",
        "=tap:x",
        "tap=tap",
        "tap=tape:x",
        "tap=udp:7000",
        "tap=pcap:",
    ] {
        let note = host(&shell, &["--link", link]).failed(2, &["--link"]);
        assert!(
            note.contains("tap:") || note.contains("127.0.0.1:7000"),
            "{note}"
        );
    }
    let long = "tap=tap:far_too_long_for_it";
    host(&shell, &["--link", long]).failed(2, &["is not the name of an interface"]);
    host(&shell, &["--app", "datagrams=ech"])
        .failed(2, &["the applications are echo, lines and sink"]);
    host(&shell, &["--for", "5"]).failed(2, &["5 s"]);
    host(&shell, &["--set", "address"]).failed(2, &["address=10.0.0.2"]);
}

#[test]
fn a_renamed_option_is_refused_with_its_name_of_today() {
    let shell = Shell::new();
    for (command, former) in [
        ("run", "--externs"),
        ("simulate", "--externs"),
        ("test", "--with"),
    ] {
        let said = shell.loom(&[command, "a.loom", former, "a.c"]);
        said.failed(2, &[&format!("`{former}` was renamed: use `--c`")]);
    }
    let said = shell.loom(&["build", "a.loom", "--externs", "a.c"]);
    assert!(
        !said.note.contains("was renamed"),
        "build has no --c: {}",
        said.note
    );
}

#[test]
fn names_that_a_stack_does_not_have_are_guessed() {
    let shell = Shell::new();
    capture(&shell, "in.pcapng", &[(0, ping(1, b""))]);
    let with = |more: &[&str]| host(&shell, &[&SET, more].concat());
    with(&["--set", "adress=1"]).failed(2, &["did you mean `address`?"]);
    with(&["--set", "colour=1"]).failed(2, &["choose one of mac, address"]);
    with(&["--set", "address=10.0.0"]).failed(2, &["`address`", "is not a number"]);
    with(&["--set", "mac=1:2"]).failed(2, &["`mac`"]);
    with(&["--set", "prefix=300"]).failed(2, &["`prefix`", "does not fit"]);
    let start = [
        "--virtual",
        "--link",
        "tap=pcap:in.pcapng",
        "--set",
        "prefix=33",
    ];
    with(&start).failed(1, &["does not start with this configuration"]);
    with(&[]).failed(2, &["link `tap` has no device", "--link tap=tap:tap0"]);
    with(&["--link", "tip=pcap:in.pcapng"]).failed(2, &["no link `tip`", "`tap`"]);
    let twice = [
        "--link",
        "tap=pcap:in.pcapng",
        "--link",
        "tap=pcap:in.pcapng",
    ];
    with(&twice).failed(2, &["is given two devices"]);
    with(&["--app", "datagram=echo"]).failed(2, &["did you mean `datagrams`?"]);
    with(&["--app", "datagrams(prt=7)=echo"]).failed(2, &["did you mean `port`?"]);
    let two = [
        "--app",
        "datagrams(port=7)=echo",
        "--app",
        "datagrams(port=7)=echo",
    ];
    let link = ["--virtual", "--link", "tap=pcap:in.pcapng"];
    with(&[&link[..], &two].concat()).failed(1, &["refuses this session"]);
}

#[test]
fn what_nobody_set_is_asked_for_before_anything_is_opened() {
    let shell = Shell::new();
    capture(&shell, "in.pcapng", &[(0, ping(1, b""))]);
    let link = ["--virtual", "--link", "tap=pcap:in.pcapng,out.pcapng"];
    let note = host(&shell, &link).failed(2, &["--set address=", "--set prefix=", "--set mac="]);
    assert!(
        !note.contains("gateway") && !note.contains("buffers"),
        "{note}"
    );
    assert!(!shell.path("out.pcapng").exists());
}

#[test]
fn a_command_line_is_checked_before_the_c_is_compiled() {
    let shell = Shell::new();
    let wrong = [
        &["--set", "adress=1"][..],
        &["--set", "prefix=300"],
        &["--link", "tip=tap:x"],
        &["--app", "datagrams()=echo"],
        &["--virtual", "--link", "tap=tap:x"],
    ];
    for words in wrong {
        let stack = example("host/host.loom");
        let mut command = shell.command(&[&["run", &stack], &SET[..], words].concat());
        command.env("CC", "no-such-compiler");
        let note = shell.finish(command).failed(2, &[]);
        assert!(!note.contains("no-such-compiler"), "{words:?}: {note}");
    }
}

#[test]
fn folders_that_do_not_exist_are_named_once() {
    let shell = Shell::new();
    shell.write("pass.loom", "worker pass\n");
    let check = shell.loom(&["check", "pass.loom", "--path", "nowhere"]);
    check.failed(2, &["--path nowhere: the folder does not exist"]);
    let radio = example("radio/radio.loom");
    let capture = ["simulate", &radio, "--interpret", "--pcapng", "nowhere/a"];
    let said = shell.loom(&capture).failed(2, &[]);
    assert_eq!(said, "loom: nowhere/a: No such file or directory\n");
}

#[test]
fn devices_that_do_not_exist_are_named() {
    let shell = Shell::new();
    shell.write("garbage", [7; 5000]);
    shell.write("empty", "");
    capture(
        &shell,
        "in.pcapng",
        &[(0, ping(1, b"")), (1, ping(2, &[5; 900]))],
    );
    let whole = std::fs::read(shell.path("in.pcapng")).expect("a capture");
    shell.write("cut.pcapng", &whole[..whole.len() - 100]);
    shell.write("head.pcapng", &whole[..20]);
    let with = |link: &str| {
        let words = ["--virtual", "--json", "--link", link];
        host(&shell, &[&SET[..], &words].concat())
    };
    with("tap=pcap:none.pcap").failed(2, &["none.pcap: No such file"]);
    with("tap=pcap:garbage").failed(2, &["garbage: not a pcap or pcapng capture"]);
    with("tap=pcap:empty").failed(2, &["empty: not a pcap or pcapng capture"]);
    with("tap=pcap:.").failed(2, &["Is a directory"]);
    with("tap=pcap:cut.pcapng").failed(2, &["cut.pcapng: frame 2: the file ends too early"]);
    with("tap=pcap:head.pcapng").failed(2, &["head.pcapng: the header of the capture"]);
    with("tap=pcap:in.pcapng,no/where/out").failed(2, &["no/where/out: No such file"]);
    with("tap=pcap:in.pcapng,./in.pcapng")
        .failed(2, &["a capture cannot be both input and output"]);
    assert_eq!(
        std::fs::read(shell.path("in.pcapng")).expect("untouched"),
        whole
    );
    with("tap=udp:127.0.0.1:7").failed(2, &["--virtual is for captures"]);
    let words = ["--link", "tap=packet:nowhere0"];
    let said = host(&shell, &[&SET[..], &words].concat());
    said.failed(2, &["packet:nowhere0: "]);
    let words = ["--link", "tap=udp:192.0.2.1:7"];
    host(&shell, &[&SET[..], &words].concat()).failed(2, &["udp:192.0.2.1:7: "]);
}

#[test]
fn sources_that_are_none_are_refused() {
    let shell = Shell::new();
    shell.write("latin.loom", b"worker caf\xe9\n");
    shell.write("empty.loom", "");
    shell.write("folder/readme.txt", "");
    shell.write("nul.loom", [0; 100]);
    shell
        .loom(&["check", "latin.loom"])
        .failed(1, &["latin.loom: byte 10 is not UTF-8"]);
    shell
        .loom(&["build", "latin.loom"])
        .failed(1, &["latin.loom: byte 10 is not UTF-8"]);
    shell
        .loom(&["build", "empty.loom"])
        .failed(1, &["declares no stack"]);
    shell
        .loom(&["check", "folder"])
        .failed(2, &["folder: the folder contains no .loom file"]);
    shell
        .loom(&["check", "none.loom"])
        .failed(2, &["none.loom: No such file or directory"]);
    shell.loom(&["check", "nul.loom"]).failed(1, &["error["]);
    shell
        .loom(&["build", "empty.loom/x.loom"])
        .failed(2, &["Not a directory"]);
    shell.write(
        "uses.loom",
        "use gone.away\nstack s { link l { away { port p } } }\n",
    );
    shell
        .loom(&["check", "uses.loom"])
        .failed(1, &["use-not-found", "gone/away"]);
    shell.write("part/latin.loom", b"worker caf\xe9\n");
    shell.write("using.loom", "use part.latin\n");
    let words = ["`part.latin` cannot be read", "byte 10 is not UTF-8"];
    shell.loom(&["check", "using.loom"]).failed(1, &words);
    let said = shell.loom(&["fmt", "latin.loom"]);
    said.failed(1, &["latin.loom: byte 10", "0 files read"]);
}

#[test]
fn garbage_of_any_size_is_refused_at_once() {
    let shell = Shell::new();
    let mut random = fastrand::Rng::with_seed(7);
    let mut letters =
        |count: usize| -> Vec<u8> { (0..count).map(|_| random.u8(b' '..=b'~')).collect() };
    shell.write("line.loom", letters(1_000_000));
    shell.write("wide.loom", letters(200_000));
    let lines: Vec<u8> = (0..5_000)
        .flat_map(|_| [letters(49), vec![b'\n']].concat())
        .collect();
    shell.write("lines.loom", lines);
    shell.write("open.loom", "{".repeat(300_000));
    shell.write("deep.loom", format!("const x = {}1", "(\n".repeat(20_000)));
    shell.write("words.loom", "when in rome do\n".repeat(10_000));
    let file = File::create(shell.path("huge.loom")).expect("a file");
    file.set_len(100 << 20).expect("a file of 100 MB");
    for name in ["line", "wide", "lines", "open", "deep", "words", "huge"] {
        for verb in ["check", "fmt", "build"] {
            let file = format!("{name}.loom");
            // No more memory than this, and no more seconds of the processor.
            let mut command = Command::new("sh");
            let limited = "ulimit -v 1000000; ulimit -t 10; exec \"$0\" \"$@\"";
            command.args(["-c", limited, env!("CARGO_BIN_EXE_loom"), verb, &file]);
            command.current_dir(shell.path("."));
            let said = shell.finish(command);
            let length = said.note.len();
            assert!(
                length < 200_000,
                "{verb} {name}: {length} bytes of diagnostics"
            );
            said.failed(1, &[name]);
        }
    }
}

/// A stack of so many layers in one line, as programs write it; one of them by another name.
fn tower(layers: usize, wrong: Option<usize>) -> String {
    let one = |at| match wrong == Some(at) {
        true => format!("sequencr as a_name_of_the_layer_at_{at} {{ "),
        false => format!("sequencer as a_name_of_the_layer_at_{at} {{ "),
    };
    let all: String = (0..layers).map(one).collect();
    let ends = "} ".repeat(layers);
    format!("use order.sequencer\n\nstack tower {{ link wire {{ {all}port messages {ends}}} }}\n")
}

#[test]
fn a_line_may_be_as_long_as_its_file() {
    let shell = Shell::new();
    shell.write("tower.loom", tower(64, None));
    shell.loom(&["build", "tower.loom", "-o", "out"]).fine();
    shell.write("wrong.loom", tower(64, Some(40)));
    let said = shell.loom(&["check", "wrong.loom"]).failed(
        1,
        &[
            "unknown-layer",
            "wrong.loom:3:",
            "did you mean `sequencer`?",
        ],
    );
    // What is shown of the line is what stands around the mistake.
    let shown = said.lines().find(|line| line.contains("{ sequencr as"));
    let shown = shown.expect("the mistake is shown");
    assert!(shown.chars().count() < 160, "{shown}");
    let values = (0..4_000).map(|at| format!("a_value_with_a_name_that_is_long_{at} = {at}"));
    let values = Vec::from_iter(values).join(", ");
    let pass = "on deliver(message) { deliver message }\n\non send(message) { send message }\n";
    shell.write(
        "values.loom",
        format!("worker wide\n\nenum big: u16 {{ {values} }}\n\n{pass}"),
    );
    let mut command = Command::new("sh");
    // No more seconds of the processor than these.
    let limited = "ulimit -t 10; exec \"$0\" check values.loom";
    command.args(["-c", limited, env!("CARGO_BIN_EXE_loom")]);
    command.current_dir(shell.path("."));
    shell.finish(command).fine();
}

#[test]
fn a_reader_that_goes_away_is_no_reason_to_panic() {
    let shell = Shell::new();
    shell.loom(&["new", "radio"]).fine();
    shell.write("broken.loom", "worker\n");
    let gone = || std::io::pipe().expect("a pipe").1;
    for arguments in [
        &["explain"][..],
        &["check", "radio/radio.loom"],
        &["build", "radio/radio.loom", "--report", "json"],
        &["--help"],
    ] {
        let mut command = shell.command(arguments);
        command.stdout(gone()).stderr(gone());
        let status = command.status().expect("it runs");
        assert!(matches!(status.code(), Some(0)), "{arguments:?}: {status}");
    }
    for arguments in [
        &["check", "broken.loom"][..],
        &["fmt", "broken.loom"],
        &["explain", "x"],
    ] {
        let mut command = shell.command(arguments);
        command.stdout(gone()).stderr(gone());
        let status = command.status().expect("it runs");
        assert!(
            matches!(status.code(), Some(1 | 2)),
            "{arguments:?}: {status}"
        );
    }
    let Ok(full) = File::options().write(true).open("/dev/full") else {
        println!("skipped: there is no /dev/full here");
        return;
    };
    let mut command = shell.command(&["explain"]);
    command.stdout(full);
    let output = command
        .stderr(std::process::Stdio::piped())
        .spawn()
        .expect("it runs");
    let output = output.wait_with_output().expect("it ends");
    assert_eq!(output.status.code(), Some(2));
    let note = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(note.contains("stdout: No space left on device"), "{note}");
}

#[test]
fn folders_and_compilers_that_do_not_do_are_named() {
    let shell = Shell::new();
    shell.loom(&["new", "radio"]).fine();
    shell.write("file", "");
    let build = ["build", "radio/radio.loom", "-o", "file/out"];
    shell.loom(&build).failed(2, &["file/out: Not a directory"]);
    shell
        .loom(&["build", "radio/radio.loom", "-o", "/proc/out"])
        .failed(2, &["/proc/out: "]);
    std::fs::create_dir_all(shell.path("out/radio.c")).expect("a folder");
    let build = ["build", "radio/radio.loom", "-o", "out"];
    shell
        .loom(&build)
        .failed(2, &["out/radio.c: Is a directory"]);
    capture(&shell, "in.pcapng", &[]);
    let run = [
        "run",
        "radio/radio.loom",
        "--virtual",
        "--link",
        "wire=pcap:in.pcapng",
    ];
    for (name, value, status, words) in [
        (
            "CC",
            "no-such-compiler",
            2,
            "no-such-compiler: No such file",
        ),
        ("CC", "false", 1, "`false` cannot compile the generated C"),
        ("TMPDIR", "/no/where", 2, "cannot create a temporary folder"),
        ("PATH", "/no/where", 2, "no C compiler was found"),
    ] {
        let mut command = shell.command(&run);
        command.env_remove("CC").env(name, value);
        shell.finish(command).failed(status, &[words]);
    }
}

#[test]
fn who_interrupts_the_c_compiler_leaves_nothing_behind() {
    let shell = Shell::new();
    shell.loom(&["new", "radio"]).fine();
    shell.write("slow", "#!/bin/sh\ntouch begun\nsleep 1\nexec cc \"$@\"\n");
    let slow = shell.path("slow");
    std::fs::set_permissions(&slow, Permissions::from_mode(0o755)).expect("it is ours");
    std::fs::create_dir(shell.path("temporary")).expect("a folder");
    let link = ["--link", "wire=udp:127.0.0.1:0"];
    let mut command = shell.command(&[&["run", "radio/radio.loom"], &link[..]].concat());
    command
        .env("CC", &slow)
        .env("TMPDIR", shell.path("temporary"));
    let running = shell.start(command);
    let has_begun = |entry: &std::fs::DirEntry| entry.path().join("begun").exists();
    let folders = || std::fs::read_dir(shell.path("temporary")).expect("a folder");
    let late = Instant::now() + Duration::from_secs(30);
    while !folders().flatten().any(|entry| has_begun(&entry)) && Instant::now() < late {
        std::thread::sleep(Duration::from_millis(5));
    }
    running.interrupt();
    running.end().failed(1, &["interrupted"]);
    assert_eq!(folders().count(), 0);
}
