//! run, on captures in virtual time and on UDP sockets.

use super::building::example;
use super::frames::{arp, capture, ethernet, frames, ipv4, ping, udp};
use super::shell::{Said, Shell};
use serde_json::{Value, json};
use std::net::UdpSocket;
use std::time::{Duration, Instant};

const SETTINGS: [&str; 3] = ["address=10.0.0.2", "prefix=24", "mac=02:00:00:00:00:02"];

/// Feeds `in.pcapng` to `examples/host`, which echoes on port 7.
fn host(shell: &Shell, more: &[&str]) -> Said {
    let stack = example("host/host.loom");
    let mut arguments = vec!["run", &stack, "--virtual", "--json"];
    arguments.extend(["--link", "tap=pcap:in.pcapng,out.pcapng"]);
    SETTINGS
        .iter()
        .for_each(|setting| arguments.extend(["--set", setting]));
    arguments.extend(["--app", "datagrams(port=7)=echo"]);
    arguments.extend(more);
    shell.loom(&arguments)
}

fn report(said: Said) -> Value {
    let text = said.fine();
    assert_eq!(text.lines().count(), 1, "{text}");
    let report: Value = serde_json::from_str(&text).expect("JSON");
    let number = |name: &str| report[name].as_u64().expect("a number");
    let dropped = report["dropped"].as_object().expect("reasons").values();
    let dropped: u64 = dropped.map(|count| count.as_u64().expect("a number")).sum();
    let fates = ["delivered", "consumed", "merged", "held"].map(number);
    assert_eq!(
        number("frames_in"),
        fates.iter().sum::<u64>() + dropped,
        "{text}"
    );
    report
}

/// Of every fate at least one, and what has to come of it.
fn traffic() -> Vec<(u64, Vec<u8>)> {
    let mut bad_sum = ping(3, b"damaged");
    bad_sum[24] ^= 1;
    let whole = udp(7, &[9; 100]);
    let more = 0x2000;
    vec![
        (0, arp(1)),
        (10, ping(1, b"hello")),
        (20, arp(2)),
        (30, ping(2, b"again")),
        (40, ipv4(17, 4, 0, &udp(7, b"echo me"))),
        (50, ipv4(17, 5, 0, &udp(9, b"nobody"))),
        (60, bad_sum),
        (70, vec![1, 2, 3]),
        (80, ethernet(0x88b5, &[0; 50])),
        (90, ipv4(17, 6, 8, &whole[64..])),
        (100, ipv4(17, 6, more, &whole[..64])),
        (110, ipv4(17, 7, more, &[0; 64])),
    ]
}

#[test]
fn every_frame_of_a_capture_has_one_fate() {
    let shell = Shell::new();
    capture(&shell, "in.pcapng", &traffic());
    let report = report(host(&shell, &[]));
    let dropped = json!({
        "ethernet.too_short": 1,
        "ethernet.unknown_type": 1,
        "fragment.incomplete": 1,
        "ipv4.bad_checksum": 1,
    });
    assert_eq!(report["dropped"], dropped, "{report}");
    assert_eq!(report["frames_in"], 12, "{report}");
    assert_eq!(
        [&report["delivered"], &report["merged"]],
        [2, 1],
        "{report}"
    );
    assert_eq!([&report["consumed"], &report["held"]], [5, 0], "{report}");
    let out = frames(&shell, "out.pcapng");
    assert_eq!(report["frames_out"], out.len());
    let replies = out
        .iter()
        .filter(|(_, frame)| frame[12..14] == [8, 0] && frame[23] == 1);
    let pings: Vec<_> = replies.filter(|(_, frame)| frame[34] == 0).collect();
    assert_eq!(pings.len(), 2);
    assert_eq!(
        (pings[0].0, &pings[0].1[42..47]),
        (10, &b"hello"[..]),
        "who asked for us is known"
    );
    assert_eq!((pings[1].0, &pings[1].1[42..47]), (30, &b"again"[..]));
    let echoes: Vec<_> = out.iter().filter(|(_, frame)| frame[23] == 17).collect();
    assert_eq!(echoes.len(), 2);
    assert_eq!(echoes[0].1[34..38], [0, 7, 0x13, 0x88]);
    assert_eq!(&echoes[0].1[42..49], b"echo me");
    assert_eq!(echoes[1].1[42..142], [9; 100]);
}

#[test]
fn a_run_that_is_stopped_early_still_holds_what_it_holds() {
    let shell = Shell::new();
    capture(&shell, "in.pcapng", &traffic());
    let report = report(host(&shell, &["--for", "150 ms"]));
    assert_eq!([&report["held"], &report["frames_in"]], [1, 12], "{report}");
    let people = {
        let mut arguments = vec![
            "run".to_string(),
            example("host/host.loom"),
            "--virtual".into(),
        ];
        arguments.extend(["--link".into(), "tap=pcap:in.pcapng".into()]);
        SETTINGS
            .iter()
            .for_each(|it| arguments.extend(["--set".into(), it.to_string()]));
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        shell.loom(&arguments).fine()
    };
    assert!(people.starts_with("frames     12 in, "), "{people}");
    assert!(
        people.contains("\ndropped    1 ethernet.too_short\n"),
        "{people}"
    );
    assert!(people.ends_with('\n'), "{people}");
}

#[test]
fn the_same_capture_gives_the_same_answers() {
    let shell = Shell::new();
    capture(&shell, "in.pcapng", &traffic());
    let mut all = Vec::new();
    for _ in 0..2 {
        let said = host(&shell, &[]).fine();
        all.push((said, std::fs::read(shell.path("out.pcapng")).unwrap()));
    }
    assert_eq!(all[0], all[1]);
}

#[test]
fn an_empty_capture_is_a_short_run() {
    let shell = Shell::new();
    capture(&shell, "in.pcapng", &[]);
    let report = report(host(&shell, &[]));
    assert_eq!(report["frames_in"], 0);
    assert_eq!(frames(&shell, "out.pcapng"), []);
}

/// A stack whose timer is started again whenever it expires.
fn clock(shell: &Shell, after: &str) -> Said {
    let text = format!(
        "worker clock\n\
         session {{\n    timer tick\n    on start {{ start tick after {after} }}\n}}\n\
         on tick {{ start tick after {after} }}\n\
         on deliver(message) {{ deliver message }}\n\
         on send(message) {{ send message }}\n\
         stack clocks {{ link air {{ clock {{ port messages }} }} }}\n"
    );
    shell.write("clock.loom", text);
    capture(shell, "in.pcapng", &[(0, vec![1; 60])]);
    shell.loom(&[
        "run",
        "clock.loom",
        "--virtual",
        "--json",
        "--link",
        "air=pcap:in.pcapng",
    ])
}

#[test]
fn timers_that_never_rest_do_not_keep_a_virtual_run_alive() {
    let shell = Shell::new();
    let report = report(clock(&shell, "20 ms"));
    assert_eq!(report["delivered"], 1);
    clock(&shell, "1 ns").failed(1, &["more than a million times", "would not end"]);
    clock(&shell, "0 ns").failed(1, &["more than a million times", "would not end"]);
}

#[test]
fn a_new_project_runs_at_once_and_echoes() {
    let shell = Shell::new();
    shell.loom(&["new", "radio"]).fine();
    let other = UdpSocket::bind("127.0.0.1:0").expect("a socket");
    other
        .set_read_timeout(Some(Duration::from_millis(100)))
        .expect("a timeout");
    let free = UdpSocket::bind("127.0.0.1:0").expect("a socket");
    let here = free.local_addr().expect("its address").to_string();
    drop(free);
    let link = format!("wire=udp:{here}");
    let run = [
        "run",
        "radio/radio.loom",
        "--link",
        &link,
        "--app",
        "messages=echo",
    ];
    let mut running = shell.start(shell.command(&run));
    let end = Instant::now() + Duration::from_secs(30);
    let mut room = [0; 64];
    let answer = loop {
        assert!(
            Instant::now() < end && !running.has_ended(),
            "{}",
            running.note()
        );
        // Until it listens, the kernel refuses what is sent to it.
        let sent = other.send_to(b"\xbc\x2b\0\0\0\x02hello", &here);
        if let (Ok(_), Ok((length, _))) = (sent, other.recv_from(&mut room)) {
            break &room[..length];
        }
    };
    assert_eq!(answer, b"\xbc\x2c\0\0\0\x01hello");
    running.interrupt();
    let said = running.end();
    assert!(
        said.note.contains("running radio; Ctrl-C ends it"),
        "{}",
        said.note
    );
    let result = said.fine();
    assert!(
        result.contains("1 delivered") && result.ends_with('\n'),
        "{result}"
    );
}

/// A worker whose session asks a function in C what a number weighs.
const WEIGHED: &str = "\
extern fn weight(number: u32) -> u32

worker scale

header big { number: u32 }

on deliver(message) {
    require weight(header.number) > 9 else drop message as light
    deliver message
}

on send(message) { send message with { number = 0 } }

stack scaled { link wire { scale { port messages } } }
";

#[test]
fn a_port_listens_with_the_keys_of_a_listener_and_opens_with_others() {
    let shell = Shell::new();
    let stack = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/tests/c_agrees/stacks/callers.loom"
    );
    // Who has number 1 calls number 3, agrees, and talks.
    let heard = [&[0x0d][..], &[0x2d], b"\x3dhi"];
    let heard: Vec<_> = (0..).zip(heard.map(<[u8]>::to_vec)).collect();
    capture(&shell, "in.pcapng", &heard);
    let run = ["run", stack, "--virtual", "--json"];
    let run = [
        &run[..],
        &["--link", "wire=pcap:in.pcapng,out.pcapng", "--app"],
    ]
    .concat();
    let said = shell.loom(&[&run[..], &["calls(number=3)=echo"]].concat());
    assert_eq!(report(said)["delivered"], 1);
    let out = frames(&shell, "out.pcapng");
    assert_eq!(out[..2], [(0, vec![0x17]), (2, b"\x37hi".to_vec())]);
    let opened = shell.loom(&[&run[..], &["calls(peer=2)=sink"]].concat());
    assert_eq!(report(opened)["dropped"]["dial.nobody"], 3);
    let out = frames(&shell, "out.pcapng");
    assert_eq!(out[0], (0, vec![0x09]), "number 1 calls number 2");
    let unknown = shell.loom(&[&run[..], &["calls(peer=2,when=3)=sink"]].concat());
    unknown.failed(2, &["when"]);
}

#[test]
fn functions_in_c_are_given_by_the_user() {
    let shell = Shell::new();
    shell.write("scale.loom", WEIGHED);
    capture(
        &shell,
        "in.pcapng",
        &[(0, vec![0, 0, 0, 2]), (1, vec![0, 0, 0, 7])],
    );
    let run = ["run", "scale.loom", "--virtual", "--json"];
    let run = [&run[..], &["--link", "wire=pcap:in.pcapng"]].concat();
    let words = ["written in C (weight)", "--c FILE"];
    shell.loom(&run).failed(2, &words);
    let with = |file| shell.loom(&[&run[..], &["--c", file]].concat());
    with("none.c").failed(2, &["none.c: No such file"]);
    shell.write("other.c", "int other;\n");
    with("other.c").failed(1, &["undefined", "scaled_weight"]);
    let weight =
        "uint32_t scaled_weight(void *user, uint32_t number) { (void)user; return 2 * number; }";
    shell.write("weight.c", format!("#include \"scaled.h\"\n{weight}\n"));
    let report: Value = serde_json::from_str(&with("weight.c").fine()).expect("JSON");
    assert_eq!(report["delivered"], 1);
    assert_eq!(report["dropped"], json!({ "scale.light": 1 }));
}
