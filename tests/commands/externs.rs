//! A stack that calls functions in C: the example with its Makefile and host, and every command
//! that runs it.

use super::shell::{Said, Shell, alone};
use std::path::Path;

const KEY: &str = "key=000102030405060708090a0b0c0d0e0f";

/// The example in a folder of its own.
fn copied(shell: &Shell) {
    let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/tagged");
    for file in [
        "authentic.loom",
        "tagged.loom",
        "siphash.c",
        "host.c",
        "Makefile",
    ] {
        std::fs::copy(from.join(file), shell.path(file)).expect("a file of the example");
    }
    std::fs::create_dir(shell.path("cases")).expect("a folder");
    for case in std::fs::read_dir(from.join("cases")).expect("the cases") {
        let case = case.expect("a case").path();
        let name = case.file_name().expect("it has a name");
        std::fs::copy(&case, shell.path("cases").join(name)).expect("a case");
    }
}

fn typed(shell: &Shell, line: &str) -> Said {
    let mut command = std::process::Command::new("sh");
    command.args(["-c", line]).current_dir(shell.path("."));
    command.env("LOOM", env!("CARGO_BIN_EXE_loom"));
    alone(&mut command);
    shell.finish(command)
}

#[test]
fn the_example_is_built_and_run_by_its_makefile() {
    let shell = Shell::new();
    copied(&shell);
    typed(&shell, "make").fine();
    let said = typed(&shell, "printf 'hello\\nagain\\n' | ./host").fine();
    let counted = "frames_in 6\ndelivered 2\nauthentic.forged 2\nsequencer.late_or_repeated 2\n";
    assert_eq!(said, format!("hello\nagain\n{counted}"));
    assert!(
        typed(&shell, "make test")
            .fine()
            .ends_with("2 cases hold\n")
    );
}

#[test]
fn cases_of_it_are_played_to_the_c() {
    let shell = Shell::new();
    copied(&shell);
    let said = shell.loom(&["test", "cases", "--c", "siphash.c"]).fine();
    assert_eq!(said, "2 cases hold\n");
    shell
        .loom(&["test", "cases"])
        .failed(1, &["`siphash` is written in C", "loom test --c FILE"]);
    // Other C gives other tags.
    let other = std::fs::read_to_string(shell.path("siphash.c")).expect("the C");
    shell.write("other.c", other.replace("0xff", "0xee"));
    shell.loom(&["test", "cases", "--c", "other.c"]).failed(
        1,
        &[
            "a_message_goes_out_behind_its_tag.case: line",
            "0 of 2 cases hold",
        ],
    );
    let wire = "Its headers are shown.\n\n=== stack tagged.loom\n\n=== config\nkey = \
                000102030405060708090a0b0c0d0e0f\n\n=== in\nsend messages 0 : 00\n\n=== wire\n";
    shell.write("cases/wire.case", wire);
    shell
        .loom(&["test", "cases/wire.case", "--c", "siphash.c"])
        .failed(
            1,
            &["`siphash` is written in C", "remove the section `wire`"],
        );
}

#[test]
fn it_is_simulated_with_its_c() {
    let shell = Shell::new();
    copied(&shell);
    let words = [
        "simulate",
        "tagged.loom",
        "--set",
        KEY,
        "--seed",
        "7",
        "--corrupt",
        "2%",
        "--expect",
        "no damage",
        "--expect",
        "authentic.forged > 0",
    ];
    let page = shell.loom(&[&words[..], &["--c", "siphash.c"]].concat());
    assert!(page.fine().contains("passed      no damage"));
    shell.loom(&words).failed(2, &["(siphash)", "--c FILE"]);
    let interpreted = [&words[..], &["--c", "siphash.c", "--interpret"]].concat();
    shell
        .loom(&interpreted)
        .failed(2, &["`siphash` is written in C"]);
    let node = |name: &str, key: &str| {
        let c = "stack = \"tagged.loom\"\nc = \"siphash.c\"";
        format!("[node.{name}]\n{c}\nset.key = \"{key}\"\n")
    };
    let (own, other) = ("00".repeat(16), "01".repeat(16));
    let link = "[link.air]\nends = [\"a\", \"b\"]\n";
    let sends = "app.messages = \"send 5\"\n";
    let network = [
        node("a", &own),
        sends.into(),
        node("b", &other),
        link.into(),
    ]
    .concat();
    shell.write("two.toml", network);
    let other_key = [
        "simulate",
        "two.toml",
        "--expect",
        "b: authentic.forged = 5",
    ];
    shell.loom(&other_key).fine();
}
