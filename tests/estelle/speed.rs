//! Instructions of the C for each transition that fires, by callgrind: all within `NAME_step`, also
//! what modules take that are asked and fire nothing.

use crate::runs::{program, program_of};
use stackloom::lower::estelle::Bounds;
use stackloom::pipeline::estelle_c;
use stackloom::types::estelle::program::Program;
use std::process::Command;
use std::{env, fs};

/// Options of the C compiler.
const OPTIONS: [&str; 4] = ["-std=c11", "-O2", "-march=haswell", "-DNDEBUG"];

#[test]
fn a_transition_takes_few_instructions() {
    if Command::new("valgrind").arg("--version").output().is_err() {
        println!("valgrind is not installed, so instructions are not counted");
        return;
    }
    let numbers = [("v", "2"), ("h", "2"), ("requests", "500"), ("work", "0")];
    let rows = [
        ("gpi", program("gpi", &numbers), u64::MAX, 50.0),
        (
            "ring",
            program_of("ring", include_str!("ring.stl"), &[]),
            1_000,
            26.0,
        ),
    ];
    for (name, program, steps, most) in rows {
        let found = instructions(name, &program, steps.min(1 << 30));
        println!("{name}: {found:.1} instructions for each transition");
        assert!(found <= most, "{name}: {found:.1}, more than {most}");
        assert!(found > 10.0, "{name}: {found:.1} are too few to be true");
    }
}

/// Instructions of each transition of a run of so many steps at most.
fn instructions(name: &str, program: &Program, steps: u64) -> f64 {
    let bounds = Bounds {
        queue: 4096,
        ..Bounds::default()
    };
    let printed = estelle_c(&format!("{name}.stl"), program, &bounds);
    let printed = printed.expect("the specification has C");
    let folder = env::temp_dir().join(format!("estelle-speed-{}-{name}", std::process::id()));
    fs::create_dir_all(&folder).expect("a folder for the C");
    let path = |file: &str| folder.join(file);
    fs::write(path(&format!("{name}.c")), &printed.c).expect("the C is written");
    fs::write(path(&format!("{name}.h")), &printed.h).expect("the header is written");
    fs::write(path("speed.c"), include_str!("speed.c")).expect("the host is written");
    let built = Command::new("gcc")
        .args(OPTIONS)
        .arg(format!("-DNAME={name}"))
        .arg("-include")
        .args([path(&format!("{name}.h")), path(&format!("{name}.c"))])
        .args([path("speed.c"), "-o".into(), path("speed")])
        .output()
        .expect("the compiler runs");
    let said = String::from_utf8_lossy(&built.stderr);
    assert!(built.status.success(), "{name}: {said}");
    let counts = path("counts");
    let ran = Command::new("valgrind")
        .args(["-q", "--tool=callgrind", "--collect-atstart=no"])
        .arg(format!("--toggle-collect={name}_step"))
        .arg(format!("--callgrind-out-file={}", counts.display()))
        .arg(path("speed"))
        .arg(steps.to_string())
        .output()
        .expect("valgrind runs");
    assert!(ran.status.success(), "{name}: it ends as it should");
    let fired = String::from_utf8_lossy(&ran.stdout);
    let fired: f64 = fired.trim().parse().expect("it prints a number");
    let text = fs::read_to_string(&counts).expect("callgrind has written it");
    let mut lines = text.lines();
    let total = lines.find_map(|line| line.strip_prefix("totals: "));
    let total: f64 = total.and_then(|one| one.trim().parse().ok()).unwrap_or(0.0);
    fs::remove_dir_all(&folder).expect("the folder is removed");
    total / fired
}
