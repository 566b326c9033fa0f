//! Messages of commands: standard input as a file, diagnostics as JSON, colors.

use super::shell::{Said, Shell};
use serde_json::Value;
use std::fs::File;
use std::process::Command;

const FORGETS: &str =
    "worker forgetful\n\non deliver(message) { }\n\non send(message) { send message }\n";
const GOOD: &str = "worker plain\n\non deliver(message) { deliver message }\n\n\
                    on send(message) { send message }\n";

/// Runs `loom` with a text on stdin.
fn given(shell: &Shell, text: &str, arguments: &[&str]) -> Said {
    shell.write("stdin", text);
    let mut command = shell.command(arguments);
    command.stdin(File::open(shell.path("stdin")).expect("it is there"));
    shell.finish(command)
}

#[test]
fn check_reads_stdin() {
    let shell = Shell::new();
    let said = given(&shell, GOOD, &["check", "-"]).fine();
    assert_eq!(said, "<stdin>: no errors: layer plain\n");
    given(&shell, FORGETS, &["check", "-"])
        .failed(1, &["error[message-leaked]", "--> <stdin>:3:23"]);
    // It looks for what it uses in the current folder.
    shell.write("near.loom", GOOD.replace("plain", "near"));
    let stack = "use near\n\nstack s { link wire { near { port messages } } }\n";
    given(&shell, stack, &["check", "near.loom", "-"]).fine();
    given(&shell, GOOD, &["check", "-", "-"]).failed(2, &["`-` is given twice"]);
}

#[test]
fn fmt_writes_stdin_to_stdout() {
    let shell = Shell::new();
    let loose = GOOD.replace("{ send message }", "{send   message}");
    assert_eq!(given(&shell, &loose, &["fmt", "-"]).fine(), GOOD);
    assert_eq!(given(&shell, GOOD, &["fmt", "-", "--check"]).fine(), "");
    let said = given(&shell, &loose, &["fmt", "-", "--check"]);
    assert_eq!(said.result, "");
    said.failed(1, &["would change <stdin>"]);
    for pair in [["fmt", "-", "-"], ["fmt", "a.loom", "-"]] {
        // A file is not looked for: the command line is wrong.
        given(&shell, GOOD, &pair).failed(2, &["`-` cannot be combined with files"]);
    }
    let said = given(&shell, "worker {", &["fmt", "-"]);
    assert_eq!(said.result, "", "what cannot be read is not printed");
    said.failed(1, &["error[missing-bracket]", "<stdin>:1:8"]);
}

#[test]
fn diagnostics_as_json_stand_one_in_a_line() {
    let shell = Shell::new();
    shell.write("a/forgets.loom", FORGETS);
    let twice = FORGETS.replace("send message", "");
    shell.write("twice.loom", &twice);
    let files = ["a/forgets.loom", "twice.loom"];
    let said = shell.loom(&["check", files[0], files[1], "--message-format", "json"]);
    assert_eq!((said.status, &said.note[..]), (Some(1), ""));
    let lines = said.result.lines();
    let found: Vec<Value> = lines
        .map(|line| serde_json::from_str(line).expect("each line is JSON"))
        .collect();
    assert_eq!(found.len(), 3, "{}", said.result);
    for (one, file) in found.iter().zip([files[0], files[1], files[1]]) {
        assert_eq!(one["id"], "message-leaked");
        assert_eq!(one["severity"], "error");
        let label = &one["labels"][0];
        assert_eq!(
            (&label["file"], &label["primary"]),
            (&file.into(), &true.into())
        );
        let number = |name: &str| label[name].as_u64().expect("a number") as usize;
        // Line and column are those of the bytes.
        let text = shell.read(file);
        let line_start = text[..number("start")].rfind('\n').map_or(0, |at| at + 1);
        assert_eq!(number("line"), text[..number("start")].lines().count());
        assert_eq!(number("column"), number("start") - line_start + 1);
        assert_eq!(number("end_column"), number("end") - line_start + 1);
        assert_eq!(&text[number("start")..number("end")], "}");
    }
    let said = shell.loom(&["build", "a/forgets.loom", "--message-format", "json"]);
    assert_eq!(said.status, Some(1));
}

#[test]
fn json_leaves_stdout_to_the_diagnostics() {
    let shell = Shell::new();
    shell.loom(&["new", "beep"]).fine();
    let said = shell.loom(&["check", "beep/beep.loom", "--message-format", "json"]);
    assert_eq!(said.note, "beep/beep.loom: no errors: stack beep\n");
    assert_eq!(said.fine(), "");
    let said = shell.loom(&["build", "beep/beep.loom", "--message-format", "json"]);
    assert!(
        said.note.starts_with("wrote build/beep.c, "),
        "{}",
        said.note
    );
    assert_eq!(said.fine(), "");
    shell
        .loom(&["check", "beep/beep.loom", "--message-format", "xml"])
        .failed(2, &["human, json"]);
}

/// The note of `loom check` on a terminal, which `script` makes.
fn on_a_terminal(shell: &Shell, words: &str, environment: Option<(&str, &str)>) -> Option<String> {
    let mut command = Command::new("script");
    let line = format!("{} check forgets.loom {words}", env!("CARGO_BIN_EXE_loom"));
    command.args(["-q", "-c", &line, "typescript"]);
    command.current_dir(shell.path("."));
    command
        .env("TERM", "xterm")
        .env_remove("NO_COLOR")
        .envs(environment);
    command.stdin(std::process::Stdio::null());
    command.output().ok()?;
    Some(shell.read("typescript"))
}

#[test]
fn colors_are_for_terminals_unless_somebody_says_otherwise() {
    const ESCAPE: &str = "\u{1b}[";
    let shell = Shell::new();
    shell.write("forgets.loom", FORGETS);
    let piped = |words: &[&str], environment: Option<(&str, &str)>| {
        let mut command = shell.command(&[&["check", "forgets.loom"], words].concat());
        command.env_remove("NO_COLOR").envs(environment);
        shell.finish(command).failed(1, &["message-leaked"])
    };
    let no_color = Some(("NO_COLOR", "1"));
    assert!(!piped(&[], None).contains(ESCAPE));
    assert!(!piped(&["--color", "auto"], None).contains(ESCAPE));
    assert!(piped(&["--color", "always"], None).contains(ESCAPE));
    assert!(piped(&["--color=always"], no_color).contains(ESCAPE));
    let early = shell.loom(&["--color", "always", "check", "forgets.loom"]);
    assert!(early.note.contains(ESCAPE), "before the command, too");
    shell
        .loom(&["check", "forgets.loom", "--color", "blue"])
        .failed(2, &["'blue'", "auto, always, never"]);
    let said = shell.loom(&["--color", "always", "chekc"]);
    assert!(said.note.contains(ESCAPE), "what clap says, too");
    let Some(seen) = on_a_terminal(&shell, "", None) else {
        return println!("skipped: there is no `script` to make a terminal");
    };
    assert!(
        seen.contains("message-leaked") && seen.contains(ESCAPE),
        "{seen}"
    );
    for (words, environment) in [
        ("", no_color),
        ("--color never", None),
        ("", Some(("TERM", "dumb"))),
    ] {
        let seen = on_a_terminal(&shell, words, environment).expect("it was there");
        assert!(
            seen.contains("message-leaked") && !seen.contains(ESCAPE),
            "{seen}"
        );
    }
}

#[test]
fn each_shell_gets_its_completions() {
    let shell = Shell::new();
    for name in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = shell.loom(&["completions", name]).fine();
        assert!(
            script.contains("message-format") && script.contains("simulate"),
            "{name}"
        );
    }
    shell
        .loom(&["completions", "tcsh"])
        .failed(2, &["'tcsh'", "bash, elvish, fish"]);
    shell.loom(&["completions"]).failed(2, &["<SHELL>"]);
    shell.write("script", shell.loom(&["completions", "bash"]).fine());
    let mut bash = Command::new("bash");
    bash.args(["-n", "script"]).current_dir(shell.path("."));
    shell.finish(bash).fine();
}

#[test]
fn each_command_has_a_manual_page() {
    let shell = Shell::new();
    shell.loom(&["man", "pages/man1"]).fine();
    let help = shell.loom(&["--help"]).fine();
    let commands = help.split("Commands:\n").nth(1).expect("they are listed");
    let commands = commands.lines().take_while(|line| !line.is_empty());
    for name in commands.filter_map(|line| line.split_whitespace().next()) {
        if name != "help" {
            let page = shell.read(&format!("pages/man1/loom-{name}.1"));
            assert!(page.contains("Example"), "{name}");
        }
    }
    assert!(shell.read("pages/man1/loom.1").contains(".TH loom 1"));
    shell.write("file", "");
    shell.loom(&["man", "file/x"]).failed(2, &["file/x: "]);
    let version = format!("loom {}\n", env!("CARGO_PKG_VERSION"));
    assert_eq!(shell.loom(&["--version"]).fine(), version);
}
