//! `loom bench coders`: the speed of the error-correcting coders of the runtime, for one frame.
//!
//! In: `bench/coders.c`, the parts of the runtime, and libfec and ISA-L if they are installed. Out:
//! gigabits of data in a second, by the clock of the process, and ratios to the others within the
//! same run. Libraries that are missing are named, and have no rows.
//!
//! ```text
//! rs(255,223)  encode  stackloom  1400  10404.0     a line of the driver: bytes, nanoseconds
//! ```

use super::{Bench, Goal, Row};
use crate::c::runtime;
use crate::tool::counting::quietly;
use crate::tool::failure::{Failure, about};
use crate::tool::terminal::note;
use std::path::Path;
use std::process::Command;

/// The flags for any processor.
const QUICK: &str = "-O2";

/// The flags for the processor of this machine.
const NATIVE: &str = "-O2 -march=native";

/// The unit of ratios.
const TIMES: &str = "times";

/// A library beside the coders: its macro, header and name, and the package that has it.
const LIBRARIES: [[&str; 4]; 2] = [
    ["WITH_FEC", "fec.h", "fec", "libfec-dev"],
    ["WITH_ISAL", "isa-l/erasure_code.h", "isal", "libisal-dev"],
];

/// The bars: a coder and its operation, the other program, the flags, and the least ratio.
const BARS: [(&str, &str, &str, f64); 9] = [
    ("convolutional, decode", "plain", QUICK, 2.0),
    ("convolutional, decode", "plain", NATIVE, 10.0),
    ("rs(255,223), encode", "libfec", NATIVE, 3.0),
    ("rs(255,223), decode, clean", "libfec", NATIVE, 20.0),
    ("rs(255,223), decode, 1 error", "libfec", NATIVE, 2.0),
    ("rs(255,223), decode, 16 errors", "libfec", NATIVE, 2.0),
    ("block code 16 + 4, encode", "isa-l", NATIVE, 1.5),
    ("block code 16 + 4, repair 4", "isa-l", NATIVE, 1.5),
    ("block code 16 + 4, repair 4", "isa-l, cold", NATIVE, 1.5),
];

/// Compiles and runs the driver, for any processor and for this one.
pub fn rows(bench: &Bench, alone: bool) -> Result<Vec<Row>, Failure> {
    let libraries = match alone {
        true => Vec::new(),
        false => installed(bench.work)?,
    };
    let driver = bench.folder.join("coders.c");
    let code = std::fs::read_to_string(&driver).map_err(about(&driver))?;
    let parts = runtime::select(&runtime::mentioned(&code));
    let headers = ["bool", "def", "int"].map(|part| format!("#include <std{part}.h>\n"));
    let clock = "#define _POSIX_C_SOURCE 200809L\n";
    let source = bench.work.join("coders.c");
    let text = format!("{clock}{}\n{parts}\n{code}", headers.concat());
    std::fs::write(&source, text).map_err(about(&source))?;
    let mut rows = Vec::new();
    for (variant, flags) in [("coders-O2", QUICK), ("coders-native", NATIVE)] {
        (bench.say)(&format!("coders, gcc {flags}"));
        let program = std::path::absolute(bench.keep.join(variant))?;
        let mut build = Command::new("gcc");
        build.args(["-std=c11", "-g"]).args(flags.split(' '));
        build.args(libraries.iter().map(|[mark, ..]| format!("-D{mark}")));
        build.arg("-o").arg(&program).arg(&source);
        quietly(build.args(libraries.iter().map(|[_, _, name, _]| format!("-l{name}"))))?;
        let done = Command::new(&program).output().map_err(about(&program))?;
        if !done.status.success() {
            let said = String::from_utf8_lossy(&done.stderr);
            return Err(Failure::refused(format!("{variant}: {}", said.trim())));
        }
        let said = String::from_utf8_lossy(&done.stdout);
        let mut found = measured(&said, variant, flags);
        if alone {
            found.retain(|row| row.who == "stackloom");
        }
        rows.extend(ratios(&found));
        rows.extend(found);
    }
    rows.sort_by_key(|row| (row.flags.len(), row.unit == TIMES));
    Ok(rows)
}

/// The libraries that a program can be linked with; the others are named.
fn installed(work: &Path) -> Result<Vec<[&'static str; 4]>, Failure> {
    let mut found = Vec::new();
    for library in LIBRARIES {
        let [_, header, name, package] = library;
        let source = work.join(format!("{name}.c"));
        let text = format!("#include <stddef.h>\n#include <{header}>\nint main(void) {{}}\n");
        std::fs::write(&source, text).map_err(about(&source))?;
        let mut build = Command::new("gcc");
        build.arg("-o").arg(source.with_extension("out"));
        match quietly(build.arg(&source).arg(format!("-l{name}"))) {
            Ok(()) => found.push(library),
            Err(_) => note(format_args!(
                "no rows for {package}, which is not installed"
            )),
        }
    }
    Ok(found)
}

/// A row for each line of the driver.
fn measured(said: &str, variant: &str, flags: &str) -> Vec<Row> {
    let row = |line: &str| {
        let cells: Vec<&str> = line.split('\t').collect();
        let [coder, operation, who, bytes, nanoseconds] = cells[..] else {
            return None;
        };
        let bits = 8.0 * bytes.parse::<f64>().ok()?;
        let metric = format!("{coder}, {operation}");
        let speed = bits / nanoseconds.parse::<f64>().ok()?;
        Some(Row::without_sums(
            [who, variant, flags],
            &metric,
            "Gbit/s",
            speed,
        ))
    };
    said.lines().filter_map(row).collect()
}

/// A row for each figure of ours that another program has too: how often as fast ours is.
fn ratios(rows: &[Row]) -> Vec<Row> {
    let others = rows.iter().filter(|row| row.who != "stackloom");
    let ratio = |other: &Row| {
        let mut all = rows.iter();
        let own = all.find(|row| row.who == "stackloom" && row.metric == other.metric)?;
        let mut row = own.clone();
        row.metric = named(&other.metric, &other.who);
        row.value = own.value / other.value;
        row.unit = TIMES.to_string();
        Some(row)
    };
    others.filter_map(ratio).collect()
}

fn named(metric: &str, other: &str) -> String {
    format!("{metric}, of {other}")
}

/// The bars whose other program was measured.
pub fn goals(rows: &[Row]) -> Vec<Option<Goal>> {
    let goal = |(metric, other, flags, limit): (&str, &str, &str, f64)| {
        let metric = named(metric, other);
        let mut all = rows.iter();
        let row = all.find(|row| row.metric == metric && row.flags == flags)?;
        Some(Goal {
            metric: format!("{metric}, gcc {flags}"),
            limit,
            value: row.value,
            met: row.value >= limit,
            bound: "at least",
        })
    };
    BARS.map(goal).to_vec()
}

#[cfg(test)]
mod tests {
    use super::{NATIVE, goals, measured, ratios};

    #[test]
    fn a_bar_needs_the_other_program() {
        let own = "rs(255,223)\tencode\tstackloom\t1400\t10000.0\n";
        let alone = measured(own, "coders-native", NATIVE);
        assert_eq!(alone[0].value, 1.12);
        assert!(ratios(&alone).is_empty());
        assert!(goals(&alone).into_iter().flatten().next().is_none());
        for (nanoseconds, met) in [("31000.0", true), ("29000.0", false)] {
            let both = format!("{own}rs(255,223)\tencode\tlibfec\t1400\t{nanoseconds}\n");
            let ratios = ratios(&measured(&both, "coders-native", NATIVE));
            let goals: Vec<_> = goals(&ratios).into_iter().flatten().collect();
            assert_eq!(goals.len(), 1);
            assert_eq!(goals[0].met, met, "{goals:?}");
        }
    }
}
