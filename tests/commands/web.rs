//! The web server of the examples, built by its Makefile: requests of every kind from sockets of
//! the kernel, and a file that is sent to one.
//!
//! It takes 20 seconds, most of them to compile the stack.

use super::building::example;
use super::devices::is_alone;
use super::shell::{Running, Shell, alone};
use stackloom::tool::host::Report;
use stackloom::tool::netlink;
use std::io::{Read, Write};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, Shutdown, TcpListener, TcpStream};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

const KERNEL: Ipv4Addr = Ipv4Addr::new(10, 0, 0, 1);
const KERNEL6: Ipv6Addr = Ipv6Addr::new(0xfd00, 0, 0, 0, 0, 0, 0, 1);
const STACK: Ipv4Addr = Ipv4Addr::new(10, 0, 0, 2);
const STACK6: Ipv6Addr = Ipv6Addr::new(0xfd00, 0, 0, 0, 0, 0, 0, 2);
const DEVICE: &str = "loom10";
const LARGE: usize = 1 << 20;

#[test]
fn the_web_server_serves_the_kernel_and_sends_to_it() {
    if !is_alone() {
        return;
    }
    let shell = Shell::new();
    build(&shell);
    let large: Vec<u8> = (0..LARGE).map(|at| (at * at / 32) as u8).collect();
    shell.write("site/large.bin", &large);
    shell.write("site/index.html", "<p>hello\n");
    shell.write("site/empty.txt", "");
    shell.write("site/a b.txt", "spaced\n");
    shell.write("site/.hidden", "secret\n");
    shell.write("secret.txt", "secret\n");
    let Some(running) = start(&shell, "web", &["site"]) else {
        return;
    };
    answers_are_as_asked_for();
    connections_are_kept_and_ended();
    many_come_at_once(&large);
    for to in [IpAddr::from(STACK), IpAddr::from(STACK6)] {
        assert!(
            body(&ask(to, "GET /large.bin HTTP/1.0\r\n\r\n")) == large,
            "{to}"
        );
    }
    adds_up(running);
    a_file_is_sent(&shell, &large);
}

/// The example, copied, and compiled by its Makefile.
fn build(shell: &Shell) {
    for file in std::fs::read_dir(example("web")).expect("the example") {
        let file = file.expect("a file of it").path();
        if file.is_file() {
            let name = file
                .file_name()
                .and_then(|name| name.to_str())
                .expect("a name");
            std::fs::copy(&file, shell.path(name)).expect("it is copied");
        }
    }
    let mut make = Command::new("make");
    make.args(["CFLAGS=-std=c11 -O0 -Wall -Wextra -Wpedantic -Werror"]);
    make.current_dir(shell.path("."))
        .env("LOOM", env!("CARGO_BIN_EXE_loom"));
    alone(&mut make);
    shell.finish(make).fine();
}

/// Starts one of the programs, and gives the kernel's end its addresses; none where there are no
/// such devices.
fn start(shell: &Shell, program: &str, words: &[&str]) -> Option<Running> {
    let mut command = Command::new(shell.path("build").join(program));
    command.args([DEVICE, "10.0.0.2", "fd00::2"]).args(words);
    command.current_dir(shell.path(".")).stdin(Stdio::null());
    let mut running = shell.start(command);
    let end = Instant::now() + Duration::from_secs(10);
    while nix::net::if_::if_nametoindex(DEVICE).is_err() {
        if running.has_ended() || Instant::now() > end {
            println!("skipped: {}", running.note());
            return None;
        }
        std::thread::sleep(Duration::from_millis(2));
    }
    netlink::bring_up(DEVICE).expect("root brings it up");
    netlink::add_address(DEVICE, KERNEL, 24).expect("root sets addresses");
    netlink::add_address(DEVICE, KERNEL6, 64).expect("root sets addresses");
    Some(running)
}

fn call(to: IpAddr) -> TcpStream {
    let stream = TcpStream::connect((to, 80)).expect("it listens");
    let patience = Some(Duration::from_secs(20));
    stream.set_read_timeout(patience).expect("a timeout");
    stream
}

/// Says all of this, and hears all of the answer, to its end.
fn ask(to: IpAddr, words: &str) -> Vec<u8> {
    let mut stream = call(to);
    stream.write_all(words.as_bytes()).expect("it is said");
    to_its_end(stream)
}

fn to_its_end(mut stream: TcpStream) -> Vec<u8> {
    let mut heard = Vec::new();
    stream.read_to_end(&mut heard).expect("it ends");
    heard
}

fn head(answer: &[u8]) -> &str {
    let end = answer.windows(4).position(|four| four == b"\r\n\r\n");
    std::str::from_utf8(&answer[..end.expect("a head")]).expect("letters")
}

fn body(answer: &[u8]) -> &[u8] {
    &answer[head(answer).len() + 4..]
}

fn answers_are_as_asked_for() {
    let to = IpAddr::from(STACK);
    let old = |what: &str| ask(to, &format!("{what} HTTP/1.0\r\n\r\n"));
    let (found, html) = (
        "HTTP/1.1 200 OK\r\n",
        "\r\nContent-Type: text/html; charset=utf-8\r\n",
    );
    let index = old("GET /");
    assert!(
        head(&index).starts_with(found) && head(&index).contains(html),
        "{}",
        head(&index)
    );
    assert_eq!(body(&index), b"<p>hello\n");
    assert_eq!(body(&old("GET /index.html?query")), b"<p>hello\n");
    assert_eq!(body(&old("GET /a%20b.txt")), b"spaced\n");
    assert_eq!(body(&old("GET http://10.0.0.2/a%20b.txt")), b"spaced\n");
    assert_eq!(body(&old("GET /empty.txt")), b"");
    let large = old("HEAD /large.bin");
    assert!(
        head(&large).contains("\r\nContent-Length: 1048576"),
        "{}",
        head(&large)
    );
    assert_eq!(body(&large), b"");
    assert!(head(&old("POST /")).contains("405 Method Not Allowed\r\n"));
    assert!(head(&old("POST /")).contains("\r\nAllow: GET, HEAD\r\n"));
    let nowhere = [
        "/none",
        "/index.html/",
        "/.hidden",
        "/../secret.txt",
        "/%2e%2e/secret.txt",
        "//etc/passwd",
        "/sub/../../secret.txt",
        "/..",
        "/.",
    ];
    for path in nowhere {
        let answer = old(&format!("GET {path}"));
        assert!(
            head(&answer).starts_with("HTTP/1.1 404 Not Found\r\n"),
            "{path}: {}",
            head(&answer)
        );
    }
    let long = format!("GET /{} HTTP/1.0\r\n", "x".repeat(9000));
    let wrong = [
        "GET /\r\n\r\n",
        "GET / HTTP/1.1\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n",
        "GET / HTTP/1.1\r\nHost : a\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: a\r\n folded\r\n\r\n",
        "GET / HTTP/2.0\r\nHost: a\r\n\r\n",
        "GET index.html HTTP/1.0\r\n\r\n",
        "GET /%zz HTTP/1.0\r\n\r\n",
        "GET /%00 HTTP/1.0\r\n\r\n",
        "GET /\0 HTTP/1.0\r\n\r\n",
        "\r\n\r\n",
        &long,
    ];
    for words in wrong {
        let answer = ask(to, words);
        assert!(
            head(&answer).starts_with("HTTP/1.1 400 Bad Request\r\n"),
            "{words:?}"
        );
    }
}

fn connections_are_kept_and_ended() {
    let mut stream = call(IpAddr::from(STACK));
    // Two at once, then one in pieces, and then one that is the last.
    let get = "GET / HTTP/1.1\r\nHost: here\r\n\r\n";
    stream
        .write_all(get.repeat(2).as_bytes())
        .expect("it is said");
    let mut heard = Vec::new();
    let mut answers = |stream: &mut TcpStream, count: usize| {
        let mut room = [0; 4096];
        while heard
            .windows(9)
            .filter(|nine| nine == b"<p>hello\n")
            .count()
            < count
        {
            let length = stream.read(&mut room).expect("it answers");
            assert!(length > 0, "it ended: {}", String::from_utf8_lossy(&heard));
            heard.extend(&room[..length]);
        }
    };
    answers(&mut stream, 2);
    for piece in get.as_bytes().chunks(7) {
        stream.write_all(piece).expect("it is said");
        std::thread::sleep(Duration::from_millis(1));
    }
    answers(&mut stream, 3);
    let last = get.replace("Host", "Connection: close\r\nHost");
    stream.write_all(last.as_bytes()).expect("it is said");
    let rest = to_its_end(stream);
    assert!(
        head(&rest).ends_with("\r\nConnection: close"),
        "{}",
        head(&rest)
    );

    // Who has closed its own half still gets the answer, and nothing where nothing was asked.
    let stream = call(IpAddr::from(STACK));
    (&stream).write_all(get.as_bytes()).expect("it is said");
    stream.shutdown(Shutdown::Write).expect("its half");
    assert!(to_its_end(stream).ends_with(b"<p>hello\n"));
    let stream = call(IpAddr::from(STACK));
    stream.shutdown(Shutdown::Write).expect("its half");
    assert!(to_its_end(stream).is_empty());
}

/// All ask at once and nobody listens, so that all wait for their windows; a few are then heard,
/// and the others given up.
fn many_come_at_once(large: &[u8]) {
    let to = IpAddr::from(STACK);
    let streams: Vec<TcpStream> = (0..100).map(|_| call(to)).collect();
    for mut stream in &streams {
        let asked = "GET /large.bin HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n";
        stream.write_all(asked.as_bytes()).expect("it is said");
    }
    for stream in streams.into_iter().rev().take(20) {
        assert!(body(&to_its_end(stream)) == large);
    }
}

/// The program is interrupted: every frame had one fate, and what streams carried was delivered.
fn adds_up(running: Running) {
    running.interrupt();
    let said = running.end().fine();
    let counters = said.lines().filter_map(|line| line.rsplit_once(' '));
    let counters: Vec<(&str, u64)> = counters
        .map(|(name, value)| (name, value.parse().expect("a number")))
        .collect();
    let report = Report::new(&counters);
    assert!(
        report.adds_up() && report.delivered > 0 && report.held == 0,
        "{said}"
    );
}

fn a_file_is_sent(shell: &Shell, large: &[u8]) {
    for peer in ["10.0.0.1", "fd00::1"] {
        let listener = TcpListener::bind((Ipv6Addr::UNSPECIFIED, 9000)).expect("a port");
        let running = start(shell, "send", &["site/large.bin", peer, "9000"]);
        let mut running = running.expect("there was a device before");
        let stream = accepted(&listener, &mut running);
        let heard = stream.map(to_its_end);
        running.end().fine();
        assert!(
            heard.expect("it calls") == large,
            "what came is something else"
        );
    }
}

/// Who calls; nobody if the program has ended, or waits for too long.
fn accepted(listener: &TcpListener, running: &mut Running) -> Option<TcpStream> {
    let patience = Duration::from_secs(20);
    let end = Instant::now() + patience;
    listener.set_nonblocking(true).expect("it need not wait");
    while !running.has_ended() && Instant::now() < end {
        if let Ok((stream, _)) = listener.accept() {
            stream.set_read_timeout(Some(patience)).expect("a timeout");
            return Some(stream);
        }
        std::thread::sleep(Duration::from_millis(2));
    }
    None
}
