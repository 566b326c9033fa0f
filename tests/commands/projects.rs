//! new, test; and what a new project runs on: lines, and captures of a socket.

use super::frames::frames;
use super::shell::{Shell, alone};
use std::io::Write;
use std::net::UdpSocket;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// A new project, in which commands are run.
fn project(shell: &Shell) {
    shell.loom(&["new", "beep"]).fine();
}

#[test]
fn a_new_project_builds_and_its_cases_hold() {
    let shell = Shell::new();
    let said = shell.loom(&["new", "radio"]).fine();
    for step in ["loom test", "loom run radio.loom"] {
        assert!(said.contains(step), "{said}");
    }
    let checked = shell.loom(&["check", "radio/radio.loom"]);
    assert_eq!(checked.note, "");
    let fine = "radio/radio.loom: no errors: stack radio\n";
    assert_eq!(checked.fine(), fine);
    shell.loom(&["fmt", "--check", "radio"]).fine();
    assert_eq!(shell.loom(&["test", "radio"]).fine(), "3 cases hold\n");
    shell
        .loom(&["test", "radio/cases/what_is_damaged.case"])
        .fine();
    shell
        .loom(&["build", "radio/radio.loom", "-o", "out"])
        .fine();
    assert!(shell.path("out/radio.c").exists());
    assert!(shell.path("out/radio.h").exists());
    assert_eq!(shell.read("radio/.gitignore"), "/build\n/host\n");
    for file in ["README.md", "radio.loom", "cases/what_comes_twice.case"] {
        let text = shell.read(&format!("radio/{file}"));
        assert!(text.contains("radio") && !text.contains("NAME"), "{text}");
    }
    assert!(shell.read("radio/README.md").lines().count() <= 30);
}

#[test]
fn its_host_is_compiled_wherever_it_is_and_whatever_it_is_called() {
    let shell = Shell::new();
    for name in ["string", "layer", "host"] {
        let folder = format!("a folder with 'blanks' of {name}");
        std::fs::create_dir(shell.path(&folder)).expect("a folder");
        let mut new = shell.command(&["new", name]);
        new.current_dir(shell.path(&folder));
        shell.finish(new).fine();
        let within = shell.path(&folder).join(name);
        let typed = |line: &str| {
            let mut command = std::process::Command::new("sh");
            command.args(["-c", line]).current_dir(&within);
            command.env("LOOM", env!("CARGO_BIN_EXE_loom"));
            command.env("CFLAGS", "-std=gnu11 -Wall -Wextra -Wpedantic -Werror");
            alone(&mut command);
            shell.finish(command).fine()
        };
        typed("make");
        assert!(typed("make test").ends_with("3 cases hold\n"));
        assert!(typed("make").contains("up to date"), "nothing has changed");
        assert_eq!(typed("./host 0 9 </dev/null"), "", "nothing was said");
        let run = format!("\"$LOOM\" run {name}.loom --link wire=udp:127.0.0.1:0,127.0.0.1:9");
        typed(&format!("{run} --for 10ms"));
    }
}

#[test]
fn its_host_says_each_line_though_none_follows() {
    let shell = Shell::new();
    project(&shell);
    let mut make = Command::new("make");
    make.current_dir(shell.path("beep"));
    make.env("LOOM", env!("CARGO_BIN_EXE_loom"));
    shell.finish(make).fine();
    let [far, own] = [0; 2].map(|_| UdpSocket::bind("127.0.0.1:0").expect("a socket"));
    let [to, from] = [&far, &own].map(|socket| socket.local_addr().expect("bound").port());
    drop(own);
    let patience = Some(Duration::from_secs(10));
    far.set_read_timeout(patience).expect("a socket has one");
    let mut host = Command::new(shell.path("beep/host"));
    host.args([from, to].map(|port| port.to_string()));
    host.stdin(Stdio::piped()).stdout(Stdio::null());
    let mut host = host.spawn().expect("it was built");
    let mut typed = host.stdin.take().expect("its input is a pipe");
    typed.write_all(b"one\ntwo\n").expect("it reads");
    for line in [b"one", b"two"] {
        let mut frame = [0; 100];
        let length = far.recv(&mut frame);
        let length = length.expect("a line goes out while more may come");
        assert!(frame[..length].ends_with(line), "{frame:?}");
    }
    drop(typed);
    assert!(host.wait().expect("it ends").success());
}

#[test]
fn a_new_project_never_writes_over_another() {
    let shell = Shell::new();
    shell.write("radio/radio.loom", "mine");
    shell
        .loom(&["new", "radio"])
        .failed(2, &["radio: ", "exists"]);
    assert_eq!(shell.read("radio/radio.loom"), "mine");
    for name in [
        "Radio", "9", "", "a-b", "a/b", "../a", "è", "worker", "header", "int", "main",
    ] {
        let note = shell
            .loom(&["new", name])
            .failed(2, &["cannot be the name of a stack"]);
        assert!(note.lines().count() == 1, "{note}");
    }
    assert_eq!(std::fs::read_dir(shell.path(".")).unwrap().count(), 1);
}

#[test]
fn a_case_that_does_not_hold_is_shown_and_blessed() {
    let shell = Shell::new();
    project(&shell);
    let path = "beep/cases/what_comes_twice.case";
    let text = shell.read(path);
    let other = text.replace("delivered 2", "delivered 3");
    shell.write(path, &other);
    let words = [
        "beep/cases/what_comes_twice.case: line",
        "expected delivered 3",
        "actual   delivered 2",
        "2 of 3 cases hold",
    ];
    shell.loom(&["test", "beep"]).failed(1, &words);
    assert_eq!(
        shell.read(path),
        other,
        "nothing is changed without --bless"
    );
    let said = shell.loom(&["test", "beep", "--bless"]).fine();
    assert_eq!(said, format!("changed {path}\n3 cases hold\n"));
    assert_eq!(shell.read(path), text);
}

#[test]
fn a_fault_in_a_layer_is_found_by_its_cases() {
    let shell = Shell::new();
    project(&shell);
    let path = "beep/layers/numbered.loom";
    let text = shell.read(path);
    let faulty = text.replace("header.number > last", "header.number >= last");
    assert_ne!(text, faulty);
    shell.write(path, faulty);
    let words = ["what_comes_twice.case: line 15", "2 of 3 cases hold"];
    shell.loom(&["test", "beep"]).failed(1, &words);
}

#[test]
fn what_is_no_case_is_refused() {
    let shell = Shell::new();
    shell.write("a/a.txt", "");
    shell
        .loom(&["test", "a"])
        .failed(2, &["no .case file was found"]);
    shell.loom(&["test", "b"]).failed(2, &["b: No such file"]);
    shell.write("a/a.case", "no fact\n");
    shell
        .loom(&["test", "a"])
        .failed(1, &["a/a.case: ", "fact"]);
    shell.write("a/a.case", "A fact.\n\n=== stack x.loom\n\n=== out\n");
    shell.loom(&["test", "a"]).failed(1, &["x.loom"]);
}

#[test]
fn two_ends_talk_line_by_line_and_what_they_say_is_recorded() {
    let shell = Shell::new();
    project(&shell);
    let ports = [0; 2].map(|_| {
        let socket = UdpSocket::bind("127.0.0.1:0").expect("a socket");
        socket.local_addr().expect("it is bound").port()
    });
    let link = |own: usize| {
        let other = 1 - own;
        format!(
            "wire=udp:127.0.0.1:{},127.0.0.1:{}",
            ports[own], ports[other]
        )
    };
    let end = |own: usize, application: &str, more: &[&str]| {
        let link = link(own);
        let arguments = [
            "run",
            "beep/beep.loom",
            "--link",
            &link,
            "--app",
            application,
        ];
        let mut command = shell.command(&[&arguments[..], more].concat());
        command.stdin(Stdio::piped());
        command
    };
    let far = shell.start(end(0, "messages=echo", &[]));
    far.wait_for("running beep");
    let recorded = ["--record", "wire=beep.pcapng", "--json"];
    let mut near = shell.start(end(1, "messages=lines", &recorded));
    near.wait_for("running beep");
    near.typed(b"hello\nto you");
    near.wait_for_result("to you");
    near.interrupt();
    far.interrupt();
    let said = near.end().fine();
    assert!(said.starts_with("hello\nto you\n{"), "{said}");
    assert!(said.contains("\"delivered\":2"), "{said}");
    far.end().fine();
    let frames = frames(&shell, "beep.pcapng");
    let ports_of = |frame: &[u8]| {
        let port = |at: usize| u16::from(frame[at]) << 8 | u16::from(frame[at + 1]);
        [port(20), port(22)]
    };
    let ways: Vec<_> = frames.iter().map(|(_, frame)| ports_of(frame)).collect();
    let [out, back] = [[ports[1], ports[0]], ports];
    assert_eq!(ways.iter().filter(|way| **way == out).count(), 2);
    assert_eq!(ways.iter().filter(|way| **way == back).count(), 2);
    assert!(frames[0].1.ends_with(b"\0\0\0\x01hello"), "{frames:?}");
}

/// The links of both ends of the template.
fn links() -> [String; 2] {
    let ports = [0; 2].map(|_| {
        let socket = UdpSocket::bind("127.0.0.1:0").expect("a socket");
        socket.local_addr().expect("it is bound").port()
    });
    [[0, 1], [1, 0]].map(|[own, other]: [usize; 2]| {
        let [own, other] = [ports[own], ports[other]];
        format!("wire=udp:127.0.0.1:{own},127.0.0.1:{other}")
    })
}

/// An end to which somebody types.
fn end(shell: &Shell, link: &str) -> Command {
    let words = [
        "run",
        "beep/beep.loom",
        "--link",
        link,
        "--app",
        "messages=lines",
    ];
    let mut command = shell.command(&words);
    command.stdin(Stdio::piped());
    command
}

#[test]
fn a_run_ends_at_the_end_of_its_input() {
    let shell = Shell::new();
    project(&shell);
    let [near, mut far] = links().map(|link| end(&shell, &link));
    far.args(["--for", "1 min"]).stdin(Stdio::null());
    let far = shell.start(far);
    far.wait_for("running beep");
    let mut near = shell.start(near);
    near.typed(b"hello\nthe last line has no end");
    let began = Instant::now();
    let said = near.end();
    assert!(said.note.contains("end of stdin"), "{}", said.note);
    assert!(said.fine().contains("0 in, 2 out"));
    assert!(began.elapsed() < Duration::from_secs(20));
    far.wait_for_result("the last line has no end");
    assert!(
        !far.note().contains("end of stdin"),
        "`--for` says when it ends"
    );
    far.interrupt();
    far.end().fine();
}

#[test]
fn an_end_that_is_started_anew_is_explained_at_the_other() {
    let shell = Shell::new();
    project(&shell);
    let [near, far] = links();
    let far = shell.start(end(&shell, &far));
    far.wait_for("running beep");
    for (time, numbers) in [(1, b"one\ntwo\n"), (2, b"new\nold\n")] {
        let mut running = shell.start(end(&shell, &near));
        running.typed(numbers);
        if time == 1 {
            far.wait_for_result("two");
            assert!(!far.note().contains("dropped"), "{}", far.note());
        }
        running.end().fine();
    }
    // The second time its numbers begin with 1 again.
    far.wait_for("numbered.late_or_repeated; look for `late_or_repeated` in the layer `numbered`");
    far.interrupt();
    let said = far.end().fine();
    assert!(said.starts_with("one\ntwo\nframes     4 in"), "{said}");
}

#[test]
fn there_is_one_stdin_and_links_have_names() {
    let shell = Shell::new();
    project(&shell);
    let run = |more: &[&str]| {
        let link = "wire=udp:127.0.0.1:0";
        let arguments = ["run", "beep/beep.loom", "--link", link, "--for", "1 ms"];
        shell.loom(&[&arguments[..], more].concat())
    };
    run(&["--record", "wires=a.pcapng"]).failed(2, &["no link `wires`"]);
    run(&["--record", "wire=none/a.pcapng"]).failed(2, &["none/a.pcapng"]);
    run(&["--app", "messages=tape"]).failed(2, &["the applications are echo, lines and sink"]);
}
