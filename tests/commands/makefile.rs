//! The Makefile on a machine without packages: it says what it installs, before, and leaves it out.

use super::shell::{Said, Shell, alone};
use std::os::unix::fs::PermissionsExt;
use std::process::Command;

/// `make TARGET` where nothing is installed; `apt-get` only writes down how it was called.
fn make(user: u32, words: &[&str]) -> (Said, String) {
    let shell = Shell::new();
    let tell = format!("echo \"$*\" >>{}\n", shell.path("calls").display());
    let programs = [
        ("dpkg-query", "exit 1\n".to_string()),
        ("id", format!("echo {user}\n")),
        ("apt-get", tell),
        // Nothing is compiled here.
        ("cargo", "exit 0\n".to_string()),
    ];
    for (name, text) in programs {
        let path = format!("bin/{name}");
        shell.write(&path, format!("#!/bin/sh\n{text}"));
        let runs = std::fs::Permissions::from_mode(0o755);
        std::fs::set_permissions(shell.path(&path), runs).expect("ours");
    }
    shell.write("calls", "");
    let mut command = Command::new("make");
    alone(&mut command);
    command
        .arg("-C")
        .arg(env!("CARGO_MANIFEST_DIR"))
        .args(words);
    let path = std::env::var("PATH").expect("there is one");
    command.env("PATH", format!("{}:{path}", shell.path("bin").display()));
    command
        .env_remove("DEPS")
        .stdin(std::process::Stdio::null());
    let said = shell.finish(command);
    (said, shell.read("calls"))
}

#[test]
fn root_is_told_of_packages_before_they_are_installed() {
    for (target, packages, not) in [
        ("demo", "gcc libc6-dev curl", "valgrind"),
        ("deps", "gcc libc6-dev clang-16", "demo"),
    ] {
        let (said, calls) = make(0, &[target]);
        let note = said.note.clone();
        said.fine();
        assert!(
            note.contains(&format!("about to install Debian packages: {packages}")),
            "{note}"
        );
        assert!(
            note.contains(&format!("`make DEPS=no {target}` installs nothing")),
            "{note}"
        );
        assert!(!note.contains(not), "{note}");
        let install = format!("\ninstall -q -y --no-install-recommends {packages}");
        assert!(
            calls.starts_with("update") && calls.contains(&install),
            "{calls}"
        );
    }
}

#[test]
fn nothing_is_installed_where_nobody_wants_it() {
    for words in [&["DEPS=no", "demo"][..], &["deps", "DEPS=no"]] {
        let (said, calls) = make(0, words);
        assert!(
            said.note.contains("may be missed: gcc libc6-dev"),
            "{}",
            said.note
        );
        assert_eq!(calls, "");
        said.fine();
    }
}

#[test]
fn who_may_not_install_is_told_how() {
    let (said, calls) = make(1000, &["demo"]);
    let line = "\n  sudo apt-get install --no-install-recommends gcc libc6-dev curl\n";
    assert!(said.note.contains(line), "{}", said.note);
    assert_eq!(calls, "");
    said.fine();
}
