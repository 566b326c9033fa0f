//! simulate: what scripts say besides messages, and what they are told; compiled and interpreted.

use super::building::example;
use super::shell::{Said, Shell};
use stackloom::tool::capture::{LinkType, Reader};

/// A stack whose links tell how they are, a network of two, and the scripts of one node.
fn links(shell: &Shell, words: &[&str]) -> Said {
    let root = env!("CARGO_MANIFEST_DIR");
    let network = format!(
        "[node.a]\nstack = \"{root}/tests/c_agrees/stacks/links.loom\"\n\
         [node.b]\nstack = \"{root}/tests/c_agrees/stacks/links.loom\"\n\
         [link.cable]\nends = [\"a.cable\", \"b.cable\"]\noutage = \"2 s..5 s\"\n\
         [link.serial]\nends = [\"a.serial\", \"b.serial\"]\ndelay = \"1 ms\"\n"
    );
    shell.write("links.toml", &network);
    shell.loom(&[&["simulate", "links.toml", "--seed", "1"], words].concat())
}

/// What a run says must be the same whatever runs the stacks, and so must its frames.
fn agreed(shell: &Shell, words: &[&str]) -> Said {
    let run = |file: &str, more: &[&str]| {
        let said = links(shell, &[words, &["--pcapng", file], more].concat());
        (said, std::fs::read(shell.path(file)).expect("a capture"))
    };
    let (compiled, frames) = run("compiled.pcapng", &[]);
    let (interpreted, others) = run("interpreted.pcapng", &["--interpret"]);
    assert_eq!(compiled.result, interpreted.result);
    assert!(frames == others, "the frames differ");
    compiled
}

#[test]
fn a_script_hears_that_a_link_is_out_and_ends_its_conversation() {
    let shell = Shell::new();
    let script = "a.talks=open (id = 1); wait 1 s; expect carrier (up = false) within 2 s; \
                  expect carrier (up = true) within 4 s; expect mtu within 1 s; send 1 of 4 bytes; \
                  tell quit; wait 1 s; send 1 of 4 bytes";
    let listens = "b.talks=open (id = 1); expect 1 within 10 s";
    let said = agreed(&shell, &["--app", script, "--app", listens]);
    let page = said.fine();
    let row = page.lines().find(|line| line.contains("a.talks"));
    let row: Vec<&str> = row.expect("a row").split_whitespace().collect();
    // The second message has no conversation any more.
    assert_eq!(row[..3], ["a.talks", "1", "1"], "{page}");
}

#[test]
fn what_is_not_told_in_time_is_a_failure() {
    let shell = Shell::new();
    let script = "a.talks=open (id = 1); expect 2 carrier (up = false) within 10 s";
    let said = agreed(&shell, &["--app", script]);
    said.failed(1, &["a.talks: expected 2 carrier, but 1 arrived in time"]);
}

#[test]
fn what_a_script_says_has_to_be_something_that_its_port_knows() {
    let shell = Shell::new();
    let wrong = [
        ("expect carier", "did you mean `carrier`?"),
        ("expect carrier (on = true)", "the only one is up"),
        ("tell quid", "did you mean `quit`?"),
        ("tell quit", "open a session of `talks` first"),
        (
            "open (id = 1); send 1 with (latte = true)",
            "did you mean `late`?",
        ),
        ("open (id = 1); send 1 with (late = 5)", "is not a boolean"),
    ];
    for (script, advice) in wrong {
        let script = format!("b.talks={script}");
        links(&shell, &["--app", &script]).failed(2, &[advice]);
    }
}

#[test]
fn attributes_say_where_a_message_goes() {
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
    let sends = "left.datagrams=open (port = 9); send 3 every 1 s with (peer = 10.0.0.2, peer_port \
                 = 7, ttl = 2); expect 3 within 1 s";
    let refused = "left.datagrams=open (port = 10, peer = 10.0.0.2, peer_port = 8); send 1; \
                   expect failed within 1 s";
    let echoes = "right.datagrams=open (port = 7); echo";
    let scripts = [sends, refused, echoes].map(|script| ["--app", script]);
    let words: Vec<&str> = set.chain(scripts.concat()).collect();
    let run = |file: &str, more: &[&str]| {
        let fixed = ["simulate", &host, "--seed", "1", "--pcapng", file];
        let page = shell.loom(&[&fixed, &words[..], more].concat()).fine();
        (page, std::fs::read(shell.path(file)).expect("a capture"))
    };
    let compiled = run("compiled.pcapng", &[]);
    assert!(
        compiled == run("interpreted.pcapng", &["--interpret"]),
        "they differ"
    );
    // The time to live is that of the script; what nobody gave is as the layers have it.
    let ipv4 = [0x45, 0, 0];
    let mut packets = compiled
        .1
        .windows(10)
        .filter(|bytes| bytes.starts_with(&ipv4));
    assert!(
        packets.any(|packet| packet[8..] == [2, 17]),
        "a time to live of 2"
    );
}

#[test]
fn frames_of_any_protocol_open_in_wireshark() {
    let shell = Shell::new();
    let radio = example("radio/radio.loom");
    let words = [
        "simulate",
        &radio,
        "--messages",
        "2",
        "--seed",
        "1",
        "--pcapng",
        "a.pcapng",
    ];
    shell.loom(&words).fine();
    let mut reader = Reader::open(&shell.path("a.pcapng")).expect("a capture");
    for at in 0..4 {
        let frame = reader
            .next_frame()
            .expect("whole")
            .expect("each is sent and arrives");
        assert_eq!(reader.link_type(), LinkType::Ip);
        let bytes = &frame.bytes;
        assert_eq!((bytes[0], bytes[9]), (0x45, 17), "UDP on IPv4");
        assert_eq!(bytes[12..20], [127, 0, 0, 1, 127, 0, 0, 2]);
        assert_eq!(bytes[20..24], [0x46, 0x51, 0x46, 0x51], "port 18001");
        // Below the datagram stands the frame: `number`, little.
        assert_eq!(bytes[28..32], [1 + at / 2, 0, 0, 0]);
    }
    assert!(reader.next_frame().expect("whole").is_none());
}
