//! Does what a page says: writes its files, runs its commands, compares what they print.
//!
//! In: a page. Out: a panic with the first difference.

use crate::pages::{Block, Page};
use crate::shell::{Running, Shell};
use std::net::UdpSocket;
use std::path::Path;
use std::process::{Command, Stdio};

/// A folder in which pages are played.
pub struct Player {
    shell: Shell,
    /// Commands that go on, each with what it has to print.
    staying: Vec<(Running, String)>,
    /// Where the commands are: `cd` of one block holds in the next.
    folder: String,
    /// What a page calls ports, and ports that nobody else has.
    ports: Vec<(String, String)>,
}

impl Player {
    /// In a new folder.
    pub fn new() -> Player {
        Player {
            shell: Shell::new(),
            staying: Vec::new(),
            folder: ".".to_string(),
            ports: free_ports(),
        }
    }

    /// Does all that a page says, in its order.
    pub fn play(&mut self, page: &Page) {
        for block in &page.blocks {
            if let Some(file) = block.file() {
                self.shell
                    .write(&format!("{}/{file}", self.folder), &block.text);
            }
            if block.language == "console"
                && let Some(difference) = self.difference(block)
            {
                panic!("{}:{}: {difference}", page.name, block.line);
            }
        }
    }

    /// Ends what stays.
    pub fn end(self) {
        for (running, expected) in self.staying {
            running.interrupt();
            let said = running.end();
            let found = said.note + &said.result;
            assert!(
                fits(&expected, &found),
                "what stays prints\n{found}\nand not\n{expected}"
            );
        }
    }

    /// Runs the commands of a block; where they print something else, that.
    pub fn difference(&mut self, block: &Block) -> Option<String> {
        let mut parts = block.text.split("$ ").skip(1).peekable();
        let stays = block.marks.iter().any(|mark| mark == "stays");
        while let Some(part) = parts.next() {
            let (command, expected) = command(part);
            if let Some(folder) = command.strip_prefix("cd ") {
                self.folder = format!("{}/{folder}", self.folder);
                continue;
            }
            if stays && parts.peek().is_none() {
                let mut command = self.command(&format!("exec {command}"));
                command.stdin(Stdio::piped());
                let running = self.shell.start(command);
                running.wait_for("Ctrl-C");
                self.staying.push((running, expected.to_string()));
                return None;
            }
            let said = self.shell.finish(self.command(command));
            let found = said.note + &said.result;
            if !fits(expected, &found) {
                return Some(format!("`{command}` prints\n{found}\nand not\n{expected}"));
            }
        }
        None
    }

    fn command(&self, text: &str) -> Command {
        let mut command = Command::new("sh");
        let loom = Path::new(env!("CARGO_BIN_EXE_loom"));
        let own = loom.parent().expect("it is in a folder").display();
        let others = std::env::var("PATH").unwrap_or_default();
        command.env("PATH", format!("{own}:{others}"));
        command.env("LC_ALL", "C");
        let mut text = text.to_string();
        for (shown, own) in &self.ports {
            text = text.replace(shown, own);
        }
        command.args(["-c", &text]).stdin(Stdio::null());
        command.current_dir(self.shell.path(&self.folder));
        command
    }
}

/// For each of four ports that pages name, one that is free.
fn free_ports() -> Vec<(String, String)> {
    let sockets = [(); 4].map(|()| UdpSocket::bind("127.0.0.1:0").expect("a socket"));
    let ports = sockets.iter().zip(18_001..);
    let own = |socket: &UdpSocket| socket.local_addr().expect("it is bound").port();
    ports
        .map(|(socket, shown)| (shown.to_string(), own(socket).to_string()))
        .collect()
}

/// A command, which goes on behind a `\\` at the end of a line, and what it has to print.
fn command(part: &str) -> (&str, &str) {
    let ends = part.match_indices('\n').map(|(at, _)| at);
    let mut ends = ends.filter(|at| !part[..*at].ends_with('\\'));
    part.split_at(ends.next().unwrap_or(part.len()))
}

/// Whether lines are those that are expected, where `...` stands for any.
fn fits(expected: &str, found: &str) -> bool {
    let expected: Vec<&str> = expected.trim().lines().collect();
    let found: Vec<&str> = found.trim().lines().collect();
    fit(&expected, &found)
}

fn fit(expected: &[&str], found: &[&str]) -> bool {
    match (expected, found) {
        ([], []) => true,
        (["...", rest @ ..], _) => (0..=found.len()).any(|from| fit(rest, &found[from..])),
        ([first, expected @ ..], [other, found @ ..]) => {
            first.trim_end() == other.trim_end() && fit(expected, found)
        }
        ([], _) | (_, []) => false,
    }
}
