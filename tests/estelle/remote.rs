//! The C of a specification as a program of its own, which a test runs, or whose functions
//! it calls.

use stackloom::back::c::estelle::Printed;
use stackloom::lower::estelle::{Bounds, Choices};
use stackloom::pipeline::estelle_c;
use stackloom::simulate::estelle::Chooser;
use stackloom::tool::estelle::child::{Child, HOST_CHOOSES, PIPE};
use stackloom::types::estelle::program::Program;
use std::path::PathBuf;
use std::process::Command;
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
    let host: (&str, &[&str]) = match choices {
        Choices::First => (include_str!("host.c"), &[]),
        Choices::Host => (PIPE, &[HOST_CHOOSES, "-D_POSIX_C_SOURCE=200809L"]),
    };
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
    pub fn target<'p>(&self, chooser: Rc<Chooser<'p>>) -> Child<'p> {
        let child = Child::start(&self.folder.join("program"), chooser);
        child.unwrap_or_else(|failure| panic!("{}", failure.message))
    }
}

impl Drop for Built {
    fn drop(&mut self) {
        // A folder that stays does no harm.
        let _ = fs::remove_dir_all(&self.folder);
    }
}
