//! The C of a specification as a program of its own, which `host.c` lets a test call.

use stackloom::back::c::estelle::Printed;
use stackloom::lower::estelle::{Bounds, Choices};
use stackloom::pipeline::estelle_c;
use stackloom::simulate::estelle::{Chooser, Target};
use stackloom::types::estelle::program::Program;
use std::cell::RefCell;
use std::io::{BufRead, BufReader, Write};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::rc::Rc;
use std::{env, fs};

/// The program, in a folder that is removed in the end.
pub struct Built {
    folder: PathBuf,
}

/// Builds the C of a specification with all sanitizers.
pub fn built(name: &str, program: &Program, (compiler, choices): (&str, Choices)) -> Built {
    let own = program.name.to_lowercase();
    let bounds = Bounds {
        choices,
        ..Bounds::default()
    };
    let printed = estelle_c(&format!("{name}.stl"), program, &bounds);
    let printed = printed.expect("the specification has C");
    let title = (format!("{name}-{choices:?}"), compiler);
    let defines: &[&str] = match choices {
        Choices::First => &[],
        Choices::Host => &["-DHOST_CHOOSES"],
    };
    let host = (include_str!("host.c"), defines);
    build((&title.0, title.1), &printed, &own, host)
}

/// Builds C and a host for it with all sanitizers.
pub fn build(
    (title, compiler): (&str, &str),
    printed: &Printed,
    own: &str,
    (host, defines): (&str, &[&str]),
) -> Built {
    let process = std::process::id();
    let folder = env::temp_dir().join(format!("estelle-{process}-{title}-{compiler}"));
    fs::create_dir_all(&folder).expect("a folder for the C");
    fs::write(folder.join(format!("{own}.c")), &printed.c).expect("the C is written");
    fs::write(folder.join(format!("{own}.h")), &printed.h).expect("the header is written");
    fs::write(folder.join("host.c"), host).expect("the host is written");
    let warnings = [
        "-std=c11",
        "-O1",
        "-Wall",
        "-Wextra",
        "-Werror",
        "-pedantic",
    ];
    let built = Command::new(compiler)
        .args(warnings)
        .args(["-fsanitize=address,undefined", "-fno-sanitize-recover=all"])
        .args(defines)
        .arg(format!("-DNAME={own}"))
        .arg("-include")
        .arg(folder.join(format!("{own}.h")))
        .arg(folder.join(format!("{own}.c")))
        .arg(folder.join("host.c"))
        .arg("-o")
        .arg(folder.join("program"))
        .output()
        .expect("the compiler runs");
    let said = String::from_utf8_lossy(&built.stderr);
    assert!(built.status.success(), "{title}, {compiler}: {said}");
    Built { folder }
}

impl Built {
    /// Runs the program to its end: the text that it prints.
    pub fn ran(&self, arguments: &[&str]) -> String {
        let mut program = Command::new(self.folder.join("program"));
        let output = program.args(arguments).output().expect("the program runs");
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{said}");
        String::from_utf8(output.stdout).expect("the program writes text")
    }

    /// Lets systems take turns, a whole step each: the time and the number of each transition that
    /// fires.
    pub fn turns(&self, steps: u64) -> String {
        self.ran(&[&steps.to_string()])
    }

    /// Starts the program; the test calls its functions.
    pub fn target<'p>(&self, chooser: Rc<Chooser<'p>>) -> Remote<'p> {
        let mut child = Command::new(self.folder.join("program"))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("the program runs");
        let asks = child.stdin.take().expect("a pipe");
        let answers = BufReader::new(child.stdout.take().expect("a pipe"));
        let pipes = RefCell::new(Pipes { asks, answers });
        Remote {
            child,
            pipes,
            chooser,
        }
    }
}

impl Drop for Built {
    fn drop(&mut self) {
        // A folder that stays does no harm.
        let _ = fs::remove_dir_all(&self.folder);
    }
}

/// A running program.
pub struct Remote<'p> {
    child: Child,
    pipes: RefCell<Pipes>,
    chooser: Rc<Chooser<'p>>,
}

struct Pipes {
    asks: ChildStdin,
    answers: BufReader<ChildStdout>,
}

impl Pipes {
    /// Writes a line, and reads the words of the answer.
    fn said(&mut self, line: &str) -> Vec<String> {
        writeln!(self.asks, "{line}").expect("the program reads");
        let mut answer = String::new();
        let read = self.answers.read_line(&mut answer);
        assert!(
            read.is_ok_and(|read| read > 0),
            "the program ended at `{line}`"
        );
        answer.split_whitespace().map(str::to_string).collect()
    }
}

impl Remote<'_> {
    /// Calls a function; answers what it asks meanwhile.
    fn asked(&self, line: &str) -> String {
        let mut words = self.pipes.borrow_mut().said(line);
        while let [sign, source, module, count] = &words[..] {
            assert_eq!(sign, "?");
            let number = |word: &String| word.parse::<i64>().expect("a number");
            let asked = (number(source) as u64, number(module), number(count) as u64);
            let mut ask = |name: &str, module: i64| {
                let line = format!("{name} {module} 0 0");
                number(&self.pipes.borrow_mut().said(&line)[0])
            };
            let chosen = self.chooser.choose(asked, &mut ask);
            words = self.pipes.borrow_mut().said(&format!("= {chosen} 0 0"));
        }
        words.remove(0)
    }
}

impl Target for Remote<'_> {
    fn call(&mut self, name: &str, arguments: &[i64], now_ns: u64) -> i64 {
        let argument = |at: usize| arguments.get(at).copied().unwrap_or(0);
        let line = format!("{name} {} {} {now_ns}", argument(0), argument(1));
        self.asked(&line).parse().expect("a number")
    }

    fn deadline_ns(&mut self, now_ns: u64) -> Option<u64> {
        let due = self.asked(&format!("deadline 0 0 {now_ns}"));
        let due_ns: u64 = due.parse().expect("a number");
        (due_ns < u64::MAX).then_some(due_ns)
    }
}

impl Drop for Remote<'_> {
    fn drop(&mut self) {
        // The program may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
