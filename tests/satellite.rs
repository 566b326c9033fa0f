//! `examples/satellite`, as its README says: built by its Makefile, and run for some seconds.
//!
//! Linux fetches a file over a radio whose bit errors come and go, with a policy, without a code,
//! and always coded. What arrives with the policy must be near the better one of the other two,
//! where the link without a code stalls. The example needs root, for TUN devices; without it,
//! nothing is tested but that it says so.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};
use tempfile::TempDir;

/// Seconds of a run, and of each half period.
const SECONDS: u32 = 15;
const HALF_S: u32 = 3;

/// The share of the ideal, in percent, that arrives at least with the policy, and at most without a
/// code. On an idle machine these are 85 to 105, and 50.
const LEAST: f64 = 65.0;
const MOST: f64 = 75.0;

/// The example in a folder of its own, built.
fn build() -> TempDir {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let example = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/satellite");
    for file in fs::read_dir(example).expect("the example is there") {
        let path = file.expect("a file").path();
        if path.is_file() {
            let name = path.file_name().expect("a file has a name");
            fs::copy(&path, folder.path().join(name)).expect("a copy");
        }
    }
    for compiler in ["gcc", "clang-16"] {
        let made = Command::new("make")
            .args(["--always-make", "--silent"])
            .arg(format!("CC={compiler}"))
            .arg(concat!("LOOM=", env!("CARGO_BIN_EXE_loom")))
            .current_dir(&folder)
            .output();
        let made = made.expect("make runs");
        assert!(made.status.success(), "{compiler}: {}", said(&made));
    }
    folder
}

fn said(output: &Output) -> String {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    text(&output.stdout) + &text(&output.stderr)
}

/// Runs the example at a bit error rate; returns the shares of the ideal that arrived: with the
/// policy, never coded, and always coded. None if it may not create networks.
fn shares(folder: &TempDir, bit_error_rate: &str) -> Option<[f64; 3]> {
    let run = Command::new(folder.path().join("build/satellite"))
        .args([
            SECONDS.to_string().as_str(),
            bit_error_rate,
            HALF_S.to_string().as_str(),
        ])
        .output();
    let run = run.expect("it runs");
    let said = said(&run);
    println!("{said}");
    if said.contains("(root may)") {
        assert!(!run.status.success());
        return None;
    }
    assert!(run.status.success(), "{said}");
    let share = |name: &str| {
        let mut lines = said.lines().skip_while(|line| !line.contains("of ideal"));
        let line = lines.find(|line| line.starts_with(name));
        let line = line.unwrap_or_else(|| panic!("no line of {name}"));
        let number = line.split_whitespace().rev().nth(1);
        let number = number.unwrap_or_else(|| panic!("no share in {line}"));
        number
            .parse()
            .unwrap_or_else(|_| panic!("no number in {line}"))
    };
    Some(["policy", "never coded", "always coded"].map(share))
}

#[test]
fn a_policy_keeps_linux_going_where_it_stalls_without() {
    let folder = build();
    for bit_error_rate in ["1e-4", "1e-3"] {
        let Some([policy, never, always]) = shares(&folder, bit_error_rate) else {
            return;
        };
        let told =
            format!("{bit_error_rate}: policy {policy} %, never {never} %, always {always} %");
        assert!(policy >= LEAST && policy > 0.5 * always, "{told}");
        assert!(never <= MOST, "{told}");
    }
}

#[test]
fn wrong_arguments_are_refused() {
    let folder = build();
    for arguments in [
        ["0", "1e-4", "3"],
        ["x", "1e-4", "3"],
        ["1", "2", "3"],
        ["1", "0", "-1"],
    ] {
        let run = Command::new(folder.path().join("build/satellite"))
            .args(arguments)
            .output();
        let run = run.expect("it runs");
        assert_eq!(run.status.code(), Some(2), "{arguments:?}");
        assert!(said(&run).starts_with("usage: "), "{arguments:?}");
    }
}
