//! demo: with the kernel as root and as nobody, and simulated.

use super::frames::frames;
use super::shell::{Said, Shell};
use nix::unistd::{Uid, geteuid};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::process::Command;

const FEW: [&str; 9] = [
    "demo",
    "--bytes",
    "0",
    "--pings",
    "20",
    "--datagrams",
    "100",
    "--capture",
    "out/demo.pcapng",
];

/// Everything came back, and what passed was recorded, a little of each frame.
fn holds(shell: &Shell, said: Said, peer: &str) {
    let page = said.fine();
    assert!(page.contains(peer), "{page}");
    assert!(
        page.contains("\npings       20 sent, 20 came back byte for byte\n"),
        "{page}"
    );
    assert!(
        page.contains("\ndatagrams   100 sent, 100 came back byte for byte\n"),
        "{page}"
    );
    assert!(page.contains("\nlosses      none\n"), "{page}");
    assert!(
        page.ends_with("out/demo.pcapng, the first 300 bytes of each\n"),
        "{page}"
    );
    let recorded = frames(shell, "out/demo.pcapng");
    assert!(recorded.len() > 240, "{} frames", recorded.len());
    let longest = recorded.iter().map(|(_, frame)| frame.len()).max();
    assert_eq!(longest, Some(300));
}

#[test]
fn a_simulated_neighbour_sends_the_same_every_time() {
    let shell = Shell::new();
    let mut captures = Vec::new();
    for _ in 0..2 {
        let said = shell.loom(&[&FEW[..], &["--simulated", "--seed", "5"]].concat());
        holds(&shell, said, "a simulated neighbour");
        captures.push(std::fs::read(shell.path("out/demo.pcapng")).expect("a capture"));
    }
    assert!(
        captures[0] == captures[1],
        "the same seed gives the same traffic"
    );
}

#[test]
fn root_lets_the_kernel_talk_over_a_tap() {
    if !geteuid().is_root() {
        println!("skipped: this is not root");
        return;
    }
    let shell = Shell::new();
    let said = shell.loom(&FEW);
    if said.note.contains("simulated") {
        println!("skipped: {}", said.note);
        return;
    }
    holds(&shell, said, "the Linux kernel");
}

#[test]
fn nobody_lets_the_kernel_talk_over_a_veth() {
    let shell = Shell::new();
    let mut command = shell.command(&FEW);
    if geteuid().is_root() {
        // Nobody may enter neither the folder of the build nor that of the test as they are.
        let open = std::fs::Permissions::from_mode(0o777);
        let copy = shell.path("loom");
        std::fs::copy(env!("CARGO_BIN_EXE_loom"), &copy).expect("a copy");
        std::fs::set_permissions(&copy, open.clone()).expect("ours");
        std::fs::set_permissions(shell.path("."), open).expect("ours");
        let nobody = Uid::from_raw(65_534).as_raw();
        command = Command::new(copy);
        command
            .args(FEW)
            .current_dir(shell.path("."))
            .uid(nobody)
            .gid(nobody);
        command.env("HOME", "/nonexistent");
    }
    let said = shell.finish(command);
    if said.note.contains("cannot create a private network") {
        println!("skipped: {}", said.note);
        let rest = "a simulated neighbour";
        return holds(&shell, said, rest);
    }
    holds(&shell, said, "the Linux kernel");
}

/// It takes 25 seconds, most of them to compile the web server.
#[test]
fn the_web_server_carries_a_file_each_way() {
    let shell = Shell::new();
    let words = [&FEW[..1], &["--bytes", "300000"], &FEW[3..]].concat();
    let said = shell.loom(&words);
    let simulated = said.note.contains("simulated");
    let page = said.fine();
    if simulated {
        assert!(
            page.ends_with("\n\nweb         skipped: the kernel is simulated\n"),
            "{page}"
        );
        return;
    }
    for line in [
        "\nfetched     300,000 bytes by curl, ",
        "\nsent back   300,000 bytes to a ",
    ] {
        assert!(page.contains(line), "{page}");
    }
    assert_eq!(page.matches("bit/s on IPv4").count(), 2, "{page}");
}

#[test]
fn a_demo_that_cannot_be_says_why() {
    let shell = Shell::new();
    shell.write("file", "");
    let to = [
        "demo",
        "--bytes",
        "0",
        "--simulated",
        "--pings",
        "1",
        "--datagrams",
        "1",
        "--capture",
    ];
    shell
        .loom(&[&to[..], &["file/x"]].concat())
        .failed(2, &["file: "]);
    shell
        .loom(&[&to[..], &["."]].concat())
        .failed(2, &["loom: .: Is a directory"]);
    shell
        .loom(&["demo", "none.loom"])
        .failed(2, &["none.loom: No such file"]);
    shell.loom(&["new", "radio"]).fine();
    let said = shell.loom(&["demo", "radio/radio.loom", "--simulated"]);
    said.failed(2, &["no port `datagrams`", "messages"]);
}
