//! Programs that are compiled to be counted, and their instructions.
//!
//! In: C and flags, or a program. Out: a static executable; what callgrind counts of it, and how
//! much memory a command took at its peak.

use super::bench::Row;
use super::compiler::{self, Options, Report};
use super::failure::{Failure, about, plain};
use super::terminal::note;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{SystemTime, UNIX_EPOCH};

/// What the compiler's own work is counted of.
pub const DEMO: &str = "build examples/host/host.loom";

/// Lets memset of glibc store vectors. A stack clears all its memory when it starts, with an
/// instruction that valgrind follows byte by byte otherwise: that would take most of its time.
pub const STORES: [(&str, &str); 1] = [(
    "GLIBC_TUNABLES",
    "glibc.cpu.x86_rep_stosb_threshold=4294967296",
)];

/// A program whose mode `count` does all that is counted within `bench_step`.
pub struct Counted {
    /// Where it is.
    pub program: PathBuf,
    /// What it is given before the mode.
    pub given: Vec<OsString>,
}

impl Counted {
    /// One that is given a mode alone.
    pub fn alone(program: PathBuf) -> Counted {
        let given = Vec::new();
        Counted { program, given }
    }

    /// What callgrind finds within the steps of a mode.
    pub fn collected(&self, options: &[&str], mode: &str) -> Result<Collected, Failure> {
        let within = [
            "--collect-atstart=no",
            "--toggle-collect=*bench_step",
            "--toggle-collect=*bench_wire",
            "--zero-before=*bench_begin",
        ];
        let words = self.given.iter().map(OsString::as_os_str);
        let words: Vec<&OsStr> = words.chain([OsStr::new(mode)]).collect();
        callgrind(&[&within, options].concat(), &self.program, &words, &STORES)
    }

    /// Instructions of one message, in a mode.
    pub fn instructions(&self, mode: &str) -> Result<f64, Failure> {
        let found = self.collected(&[], mode)?;
        let mut lines = found.said.lines();
        let messages = lines.find_map(|line| line.strip_prefix("messages "));
        let messages: Option<f64> = messages.and_then(|number| number.parse().ok());
        let messages = messages.filter(|number| *number > 0.0).ok_or_else(|| {
            let program = self.program.display();
            Failure::refused(format!(
                "{program}: the program did not print its number of messages"
            ))
        })?;
        Ok(found.totals[0] / messages)
    }

    /// Of a segment of TCP: one that arrives, the answer, and one with half an answer.
    pub fn of_segments(&self) -> Result<[f64; 3], Failure> {
        let (input, both) = (self.instructions("silent")?, self.instructions("count")?);
        Ok([input, 2.0 * (both - input), both])
    }
}

impl Counted {
    /// How many messages went which path, by the names of these paths; none if it does not know.
    pub fn paths(&self) -> Result<Vec<(String, f64)>, Failure> {
        let said = Command::new(&self.program).arg("paths").output()?;
        let said = String::from_utf8_lossy(&said.stdout).into_owned();
        let path = |line: &str| {
            let (count, name) = line.split_once(' ')?;
            Some((name.to_string(), count.parse().ok()?))
        };
        Ok(said.lines().filter_map(path).collect())
    }
}

/// Whether instructions can be counted; if not, that is said.
pub fn can_count() -> bool {
    let found = is_installed("valgrind");
    if !found {
        note(
            "valgrind is not installed, so instructions are not counted: apt-get install valgrind",
        );
    }
    found
}

/// Compiles a stack of `bench/NAME.loom` and what sends through it.
pub fn compile_stack(
    folder: &Path,
    name: &str,
    stack: &str,
    flags: &[&str],
    work: &Path,
    output: &Path,
) -> Result<(), Failure> {
    let source = folder.join(format!("{name}.loom:{stack}"));
    let (source, _) = written(&source, name, Options::default(), work)?;
    compile_driven(&source, &folder.join(format!("{name}.c")), flags, output)
}

/// Compiles the C of a stack and what sends through it.
pub fn compile_driven(
    source: &Path,
    driver: &Path,
    flags: &[&str],
    output: &Path,
) -> Result<(), Failure> {
    let header = source.parent().unwrap_or(Path::new("."));
    let mut build = Command::new("gcc");
    build.args(["-std=c11", "-g", "-static"]).args(flags);
    build.arg("-I").arg(header).arg(source).arg(driver);
    quietly(build.arg("-o").arg(output))
}

/// The C of a stack as `NAME_stack`, and how it was compiled.
pub fn written(
    source: &Path,
    name: &str,
    options: Options,
    work: &Path,
) -> Result<(PathBuf, Report), Failure> {
    let options = Options {
        name: Some(format!("{name}_stack")),
        ..options
    };
    let compiled = compiler::compile(source, &options)?;
    let path = work.join(format!("{name}_stack.c"));
    std::fs::write(&path, &compiled.source).map_err(about(&path))?;
    let header = path.with_extension("h");
    std::fs::write(&header, &compiled.header).map_err(about(&header))?;
    Ok((path, compiled.report))
}

/// Bytes of instructions of a whole stack of TCP, and of one of its sessions.
pub fn sizes(folder: &Path, work: &Path) -> Result<Vec<Row>, Failure> {
    let source = folder.join("tcp.loom:summed");
    let (source, report) = written(&source, "tcp", Options::default(), work)?;
    let row = |metric: &str, flags: &str, value: f64| Row {
        who: "stackloom".to_string(),
        variant: "stackloom-on-size".to_string(),
        compiler: version("gcc", "-dumpfullversion"),
        flags: flags.to_string(),
        checksums: "on".to_string(),
        metric: metric.to_string(),
        value,
        unit: "bytes".to_string(),
        paper: None,
        spread: None,
        layers: None,
    };
    let session = report.session_bytes.get("tcp").copied();
    let session = session.expect("the stack has sessions of TCP") as f64;
    let mut rows = vec![row("an idle session, with both windows", "", session)];
    for flags in ["-O2", "-Os"] {
        let size = size_of(&source, &[flags])?;
        rows.extend(size.map(|size| row("text: IPv4, ICMP and TCP", flags, size.text)));
    }
    Ok(rows)
}

/// Bytes of an object.
pub struct Size {
    /// Instructions, and what nobody writes.
    pub text: f64,
    /// What has a first value.
    pub data: f64,
}

/// C that is compiled by itself. gcc is given no path of a folder, so that ccache finds equal C in
/// another folder.
pub fn object_of(source: &Path, flags: &[&str]) -> Result<PathBuf, Failure> {
    let object = source.with_extension("o");
    let folder = source.parent().expect("a file is in a folder");
    let [input, output] = [source, &object].map(|path| path.file_name().unwrap_or_default());
    let mut build = Command::new("gcc");
    build.current_dir(folder).arg("-std=c11").args(flags);
    build.args(["-fno-lto", "-c"]).arg(input);
    quietly(build.arg("-o").arg(output))?;
    Ok(object)
}

/// How large C is then, with all that is in its sections; if that cannot be had, it is said.
pub fn size_of(source: &Path, flags: &[&str]) -> Result<Option<Size>, Failure> {
    let object = object_of(source, flags)?;
    let said = Command::new("size").arg(&object).output().ok();
    let said = said.map(|done| String::from_utf8_lossy(&done.stdout).into_owned());
    let size = said.and_then(|said| {
        let mut sizes = said.lines().nth(1)?.split_whitespace();
        let mut next = || sizes.next()?.parse().ok();
        let (text, data) = (next()?, next()?);
        Some(Size { text, data })
    });
    if size.is_none() {
        note("`size` does not print the size of the text: apt-get install binutils");
    }
    Ok(size)
}

/// Instructions and memory that `loom build` takes for the stack of the demo.
pub fn own_work(counts: bool) -> Vec<Row> {
    let row =
        |metric: &str, unit: &str, value: f64| own_row(&format!("{DEMO}: {metric}"), unit, value);
    let found = || -> Result<Vec<Row>, Failure> {
        let program = std::env::current_exe()?;
        let output = tempfile::tempdir()?;
        let to = output.path().to_string_lossy().into_owned();
        let words: Vec<&str> = DEMO.split(' ').chain(["-o", &to]).collect();
        quietly(Command::new(&program).args(&words))?;
        let mut rows = vec![row("peak memory", "bytes", peak_of_children()?)];
        if counts {
            let found = callgrind(&[], &program, &words, &[])?;
            rows.push(row("work", "instructions", found.totals[0]));
        }
        Ok(rows)
    };
    found().unwrap_or_else(|failure| {
        note(format_args!(
            "no rows for the compiler itself: {}",
            failure.message
        ));
        Vec::new()
    })
}

/// Instructions that `loom build` takes for a stack.
pub fn work_for(source: &Path) -> Result<Row, Failure> {
    let output = tempfile::tempdir()?;
    let words = [source, Path::new("-o"), output.path()].map(|word| word.to_string_lossy());
    let words = ["build", &words[0], &words[1], &words[2]];
    let found = callgrind(&[], &std::env::current_exe()?, &words, &[])?;
    Ok(own_row("loom build", "instructions", found.totals[0]))
}

/// A figure of the compiler itself.
pub fn own_row(metric: &str, unit: &str, value: f64) -> Row {
    let variant = match cfg!(debug_assertions) {
        true => "debug",
        false => "release",
    };
    Row {
        who: "loom".to_string(),
        variant: variant.to_string(),
        compiler: version("rustc", "--version"),
        flags: String::new(),
        checksums: String::new(),
        metric: metric.to_string(),
        value,
        unit: unit.to_string(),
        paper: None,
        spread: None,
        layers: None,
    }
}

/// The most memory that a command had which has ended by now: the first one is the largest only if
/// it is asked for at once.
fn peak_of_children() -> Result<f64, Failure> {
    use nix::sys::resource::{UsageWho, getrusage};
    let usage = getrusage(UsageWho::RUSAGE_CHILDREN);
    let usage = usage.map_err(|error| Failure::environment(plain(&error)))?;
    Ok(usage.max_rss() as f64 * 1024.0)
}

/// What callgrind found.
pub struct Collected {
    /// Instructions; with a cache what they read and wrote, then what of each was not there.
    pub totals: Vec<f64>,
    /// All that it wrote down.
    pub text: String,
    /// What the program said.
    pub said: String,
}

/// Lets callgrind watch a program, which finds these variables.
fn callgrind(
    options: &[&str],
    program: &Path,
    words: &[impl AsRef<OsStr>],
    variables: &[(&str, &str)],
) -> Result<Collected, Failure> {
    let folder = tempfile::tempdir()?;
    let out = folder.path().join("callgrind.out");
    let mut command = Command::new("valgrind");
    command.args(["-q", "--tool=callgrind"]).args(options);
    command.arg(format!("--callgrind-out-file={}", out.display()));
    command.envs(variables.iter().copied());
    let done = command.arg(program).args(words).output()?;
    if !done.status.success() {
        return Err(refused(&command, &done.stderr));
    }
    let text = std::fs::read_to_string(&out).map_err(about(&out))?;
    let mut lines = text.lines().rev();
    let totals = lines.find_map(|line| line.strip_prefix("totals: "));
    let totals = totals.unwrap_or_default().split_whitespace();
    let totals: Vec<f64> = totals.filter_map(|total| total.parse().ok()).collect();
    if totals.first().is_none_or(|total| *total == 0.0) {
        let program = program.display();
        return Err(Failure::refused(format!(
            "{program}: no instructions were counted"
        )));
    }
    let said = String::from_utf8_lossy(&done.stdout).into_owned();
    Ok(Collected { totals, text, said })
}

/// Runs a command, of which only a failure is of interest.
pub fn quietly(command: &mut Command) -> Result<(), Failure> {
    let program = command.get_program().to_string_lossy().into_owned();
    let done = command.output().map_err(|error| {
        Failure::environment(format!("cannot run {program}: {}", plain(&error)))
    })?;
    match done.status.success() {
        true => Ok(()),
        false => Err(refused(command, &done.stderr)),
    }
}

/// The last that a command said before it failed.
fn refused(command: &Command, stderr: &[u8]) -> Failure {
    let said = String::from_utf8_lossy(stderr);
    let mut lines = said.lines().filter(|line| !line.trim().is_empty());
    let last = lines
        .next_back()
        .unwrap_or("the program failed without a message");
    let words = [command.get_program()]
        .into_iter()
        .chain(command.get_args());
    let words: Vec<_> = words.take(2).map(|word| word.to_string_lossy()).collect();
    Failure::environment(format!("{}: {last}", words.join(" ")))
}

/// `gcc 12.2.0`, or just the name where it is not installed.
pub fn version(program: &str, asked: &str) -> String {
    let said = Command::new(program).arg(asked).output();
    let said = said.ok().filter(|done| done.status.success());
    let said = said.map(|done| String::from_utf8_lossy(&done.stdout).trim().to_string());
    match said {
        Some(text) if text.starts_with(program) => text
            .split_whitespace()
            .take(2)
            .collect::<Vec<_>>()
            .join(" "),
        Some(text) => format!("{program} {text}"),
        None => program.to_string(),
    }
}

fn is_installed(program: &str) -> bool {
    let search = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&search).any(|folder| folder.join(program).is_file())
}

/// The processor and the system.
pub fn machine() -> String {
    let processors = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = processors.lines().find_map(|line| {
        let (name, model) = line.split_once(':')?;
        (name.trim() == "model name").then(|| model.trim().to_string())
    });
    let model = model.unwrap_or_else(|| "an unknown processor".to_string());
    let release = std::fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    let system = format!("Linux {}", release.trim());
    format!("{model}, {}, {system}", std::env::consts::ARCH)
}

/// The day, as `2026-11-21`.
pub fn date() -> String {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    let days = since.map_or(0, |since| since.as_secs() / 86_400);
    let (year, month, day) = civil(days);
    format!("{year:04}-{month:02}-{day:02}")
}

/// Year, month and day of a day since 1970 began, in years that begin in March.
fn civil(days: u64) -> (u64, u64, u64) {
    let days = days + 719_468;
    let (era, of_era) = (days / 146_097, days % 146_097);
    let year = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * month + 2) / 5 + 1;
    let (month, next) = if month < 10 {
        (month + 3, 0)
    } else {
        (month - 9, 1)
    };
    (year + era * 400 + next, month, day)
}

#[cfg(test)]
mod tests {
    use super::civil;

    #[test]
    fn days_have_their_dates() {
        let dates = [0, 59, 11_016, 20_778].map(civil);
        let known = [(1970, 1, 1), (1970, 3, 1), (2000, 2, 29), (2026, 11, 21)];
        assert_eq!(dates, known);
    }
}
