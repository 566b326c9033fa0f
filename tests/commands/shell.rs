//! Runs the built `loom`: a command line comes in, what it said and how it ended go out.

use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// No command of these tests takes longer.
const PATIENCE: Duration = Duration::from_secs(180);

/// What a command said, and how it ended.
#[derive(Debug)]
pub struct Said {
    /// The exit status; none if a signal ended it.
    pub status: Option<i32>,
    /// stdout
    pub result: String,
    /// stderr
    pub note: String,
}

/// A temporary folder in which commands are run.
pub struct Shell {
    folder: tempfile::TempDir,
}

impl Shell {
    /// In a new folder.
    pub fn new() -> Shell {
        let folder = tempfile::tempdir().expect("a temporary folder");
        Shell { folder }
    }

    /// A file or folder in the folder.
    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Writes a file, and the folders around it.
    pub fn write(&self, name: &str, bytes: impl AsRef<[u8]>) {
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().expect("it is in the folder")).expect("folders");
        std::fs::write(path, bytes).expect("the file is written");
    }

    /// The text of a file.
    pub fn read(&self, name: &str) -> String {
        let path = self.path(name);
        std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
    }

    /// The command `loom`, to be changed before `finish`.
    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_loom"));
        command.args(arguments).current_dir(self.folder.path());
        // The speed of a stack does not matter here, and optimising it takes most of a test.
        command.env("CC", "cc -O0 -g0").stdin(Stdio::null());
        command
    }

    /// Runs `loom` with these arguments.
    pub fn loom(&self, arguments: &[&str]) -> Said {
        self.finish(self.command(arguments))
    }

    /// Runs a command to its end.
    pub fn finish(&self, command: Command) -> Said {
        self.start(command).end()
    }

    /// Starts a command, whose output goes to files, so that it never waits for us.
    pub fn start(&self, mut command: Command) -> Running {
        let outside = tempfile::tempdir().expect("a temporary folder");
        let file = |name: &str| File::create(outside.path().join(name)).expect("a file");
        command.stdout(file("result")).stderr(file("note"));
        let child = command.spawn().expect("the command starts");
        Running { child, outside }
    }
}

/// A command that runs.
pub struct Running {
    child: Child,
    outside: tempfile::TempDir,
}

impl Running {
    /// What it has noted so far.
    pub fn note(&self) -> String {
        read(&self.outside.path().join("note"))
    }

    /// What it has printed so far.
    pub fn result(&self) -> String {
        read(&self.outside.path().join("result"))
    }

    /// Waits until it has noted this.
    #[track_caller]
    pub fn wait_for(&self, words: &str) {
        waited(|| self.note(), words);
    }

    /// Waits until it has printed this.
    #[track_caller]
    pub fn wait_for_result(&self, words: &str) {
        waited(|| self.result(), words);
    }

    /// Types something to it, and no more.
    pub fn typed(&mut self, bytes: &[u8]) {
        let mut input = self.child.stdin.take().expect("its input is a pipe");
        input.write_all(bytes).expect("it reads");
    }

    /// Sends the signal of Ctrl-C.
    pub fn interrupt(&self) {
        let id = i32::try_from(self.child.id()).expect("ids are small");
        let id = nix::unistd::Pid::from_raw(id);
        nix::sys::signal::kill(id, nix::sys::signal::SIGINT).expect("it runs");
    }

    /// Whether it has ended by itself.
    pub fn has_ended(&mut self) -> bool {
        self.child.try_wait().expect("it is our child").is_some()
    }

    /// Waits for its end, which has to come.
    pub fn end(mut self) -> Said {
        let late = Instant::now() + PATIENCE;
        let status = loop {
            if let Some(status) = self.child.try_wait().expect("it is our child") {
                break status;
            }
            if Instant::now() > late {
                self.child.kill().expect("it runs");
                panic!("it does not end; so far it said:\n{}", self.note());
            }
            std::thread::sleep(Duration::from_millis(5));
        };
        let said = Said {
            status: status.code(),
            result: read(&self.outside.path().join("result")),
            note: self.note(),
        };
        let panicked = said.note.contains("panicked at") || said.status == Some(101);
        assert!(!panicked, "a panic is no answer:\n{}", said.note);
        said
    }
}

#[track_caller]
fn waited(said: impl Fn() -> String, words: &str) {
    let late = Instant::now() + PATIENCE;
    while !said().contains(words) {
        assert!(Instant::now() < late, "`{words}` is not in:\n{}", said());
        std::thread::sleep(Duration::from_millis(5));
    }
}

fn read(path: &Path) -> String {
    let bytes = std::fs::read(path).expect("the output of a command");
    String::from_utf8(bytes).expect("commands speak UTF-8")
}

impl Said {
    /// It succeeded: what it printed.
    #[track_caller]
    pub fn fine(self) -> String {
        assert_eq!(self.status, Some(0), "{}\n{}", self.note, self.result);
        self.result
    }

    /// It failed with this status and said why on stderr, with all these words.
    #[track_caller]
    pub fn failed(self, status: i32, words: &[&str]) -> String {
        assert_eq!(self.status, Some(status), "{}\n{}", self.note, self.result);
        for word in words {
            assert!(
                self.note.contains(word),
                "`{word}` is not in:\n{}",
                self.note
            );
        }
        assert!(
            !self.note.contains("os error"),
            "numbers say little: {}",
            self.note
        );
        self.note
    }
}

/// A `make` that is called does not say where it is, though a `make` has called the tests.
pub fn alone(command: &mut Command) {
    for name in ["MAKEFLAGS", "MAKELEVEL", "MFLAGS"] {
        command.env_remove(name);
    }
}
