//! The time that the compiler takes itself: it grows with a source, and has a bound.
//!
//! In: [`families`] of sources, each of which has so many of something. Out: a table of
//! instructions by callgrind; whatever takes more than its bound, ends by a signal or panics.
//!
//! ```text
//! make test   some sources with so many and with twice as many are counted where they are built;
//!             those with 1,000 get some seconds each
//! make soak   more are counted, where they are built, formatted, or built by a profile; all
//!             sources up to 256 KiB are built, those in Loom explained and formatted, too
//! ```

#[path = "fixture/cores.rs"]
mod cores;
#[path = "compile_time/families.rs"]
mod families;

use cores::on_all_cores;
use families::{Family, families};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// With twice as many of something, so many times the instructions may be taken.
const TWICE: f64 = 2.5;

/// How a source is taken.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Taken {
    Built,
    Formatted,
    /// Built by the profile of a run that took each way.
    Profiled,
}

use Taken::{Built, Formatted, Profiled};

/// Sources of these families are counted, with so many and with twice as many: each of them took
/// the square or the cube once, or twice as long for each one more.
const COUNTED: &[(&str, Taken, usize)] = &[
    ("tests on one variable", Built, 64),
    ("tests on as many variables", Built, 16),
    ("tests of a header", Built, 64),
    ("tests of values with names", Built, 64),
    ("else after each other", Built, 64),
    ("assignments to one variable", Built, 64),
    ("functions that call the one before twice", Built, 64),
    ("handlers of one event", Built, 64),
    ("emissions of one signal", Built, 32),
    ("links", Built, 16),
    ("headers", Built, 256),
    ("ports of UDP", Built, 128),
    ("tests on one variable", Formatted, 128),
    ("comments behind statements", Formatted, 256),
    ("tests of a header", Profiled, 32),
    ("Esterel: branches that wait", Built, 64),
    ("Esterel: values of one signal", Built, 32),
    ("Esterel: signals in a ring", Built, 128),
];

/// Families that `make test` counts: they took three times as long for twice as many, before
/// versions of regions and words of scopes were shared.
const COUNTED_SOON: &[(&str, Taken, usize)] = &[
    ("headers", Built, 256),
    ("Esterel: branches that wait", Built, 128),
];

/// No source up to so many bytes takes longer than its bound.
const LARGEST: usize = 256 * 1024;

/// Seconds of a processor for 20 thousand million instructions, at the least that is usual; and the
/// memory, in KiB.
const SECONDS: usize = if cfg!(debug_assertions) { 30 } else { 15 };
const MEMORY_KIB: usize = 6 << 20;

#[test]
#[ignore = "takes minutes: `make soak` runs it"]
fn twice_as_much_takes_at_most_two_and_a_half_times_as_long() {
    twice_as_much(COUNTED);
}

#[test]
fn twice_as_much_of_some_takes_at_most_two_and_a_half_times_as_long() {
    twice_as_much(COUNTED_SOON);
}

/// Counts each of these with so many and with twice as many.
fn twice_as_much(counted: &[(&'static str, Taken, usize)]) {
    if Command::new("valgrind").arg("--version").output().is_err() {
        println!(
            "valgrind is not installed, so instructions are not counted: apt-get install valgrind"
        );
        return;
    }
    let rows = on_all_cores(counted.to_vec(), |(name, taken, few)| {
        let counts = [few, 2 * few].map(|size| instructions(&family(name), taken, size));
        (name, taken, few, counts)
    });
    println!("{:>5} {:>12} {:>12}  ratio  of", "many", "so many", "twice");
    let mut slow = Vec::new();
    for (name, taken, size) in counted {
        let mut rows = rows.iter();
        let row = rows.find(|row| (row.0, row.1, row.2) == (*name, *taken, *size));
        let (.., [few, many]) = row.expect("each is counted");
        let ratio = *many as f64 / *few as f64;
        println!("{size:5} {few:12} {many:12} {ratio:6.2}  {name}, {taken:?}");
        if ratio > TWICE {
            slow.push(format!("{name}: {ratio:.2} times"));
        }
    }
    assert!(
        slow.is_empty(),
        "more than {TWICE} times for twice as many: {slow:?}"
    );
}

/// The family of this name.
fn family(name: &str) -> Family {
    let mut all = families().into_iter();
    let found = all.find(|one| one.name == name);
    found.unwrap_or_else(|| panic!("no family is `{name}`"))
}

/// The branches of TCP cannot be explored apart then, and all of it together is too much.
#[test]
fn an_emission_in_tcp_that_is_written_twice_is_refused_soon() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let library = tempfile::tempdir().expect("there is room for a folder");
    let tcp = library.path().join("transport/tcp");
    std::fs::create_dir_all(&tcp).expect("there is room for a folder");
    let files = std::fs::read_dir(root.join("layers/transport/tcp")).expect("it is there");
    for file in files {
        let file = file.expect("it can be read").path();
        let text = std::fs::read_to_string(&file).expect("it can be read");
        let emission = "            emit valid(in_sequence())\n";
        let text = text.replacen(emission, &emission.repeat(2), 1);
        let name = file.file_name().expect("a file has a name");
        std::fs::write(tcp.join(name), text).expect("there is room for it");
    }
    let path = root.join("examples/web/web.loom");
    let source = Source {
        folder: library,
        path,
    };
    let folder = source.folder.path().display().to_string();
    let done = source.run(&["check", "--path", &folder], &[]);
    let said = String::from_utf8_lossy(&done.stderr).into_owned();
    assert_eq!(done.status.code(), Some(1), "{said}");
    assert!(
        said.contains("`scan.valid` may be emitted twice in one instant"),
        "{said}"
    );
}

#[test]
fn a_thousand_of_anything_are_compiled_or_refused_soon() {
    let each = families().into_iter().map(|family| (family, 1_000));
    bounded(each.collect(), &["build"]);
}

#[test]
#[ignore = "takes minutes: `make soak` runs it"]
fn whatever_fits_into_256_kib_is_compiled_or_refused_soon() {
    let mut each = Vec::new();
    for family in families() {
        let fits = |size: &usize| (family.source)(*size).len() <= LARGEST;
        let sizes = (6..18).flat_map(|power| [1 << power, 3 << (power - 1)]);
        let sizes: Vec<usize> = sizes.take_while(fits).collect();
        each.extend(sizes.into_iter().map(|size| (family.clone(), size)));
    }
    bounded(each, &["build", "explain", "fmt"]);
}

/// Lets the compiler do this and that with sources; none may take longer than its bound.
fn bounded(sources: Vec<(Family, usize)>, verbs: &[&str]) {
    let wrong = on_all_cores(sources, |(family, size)| {
        let verbs = verbs
            .iter()
            .filter(|verb| **verb == "build" || !family.is_esterel);
        let wrong = verbs.filter_map(|verb| {
            let source = Source::new(&family, size);
            let done = source.run(&[verb], &[]);
            let said = String::from_utf8_lossy(&done.stderr).into_owned();
            let ends = matches!(done.status.code(), Some(0..=2)) && !said.contains("panicked");
            let last = said.lines().last().unwrap_or_default().to_string();
            (!ends).then(|| format!("{verb}, {size} {}: {} {last}", family.name, done.status))
        });
        wrong.collect::<Vec<String>>()
    });
    let wrong: Vec<String> = wrong.into_iter().flatten().collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// What callgrind counts while a source is taken so.
fn instructions(family: &Family, taken: Taken, size: usize) -> u64 {
    let source = Source::new(family, size);
    let counts = source.folder.path().join("counts");
    let file = format!("--callgrind-out-file={}", counts.display());
    let before = ["valgrind", "-q", "--tool=callgrind", &file];
    let done = match taken {
        Built => source.run(&["build"], &before),
        Formatted => source.run(&["fmt"], &before),
        Profiled => source.run(&["build", "--profile", &source.profile()], &before),
    };
    let said = String::from_utf8_lossy(&done.stderr).into_owned();
    let is_done = matches!(done.status.code(), Some(0..=2)) && !said.contains("profile");
    assert!(is_done, "{}: {said}", family.name);
    let text = std::fs::read_to_string(&counts).expect("callgrind has written it");
    let totals = text.lines().find_map(|line| line.strip_prefix("totals: "));
    let total = totals.and_then(|total| total.trim().parse().ok());
    total.expect("callgrind says how many there were")
}

/// A source in a folder of its own.
struct Source {
    folder: tempfile::TempDir,
    path: PathBuf,
}

impl Source {
    fn new(family: &Family, size: usize) -> Source {
        let folder = tempfile::tempdir().expect("there is room for a folder");
        let ending = if family.is_esterel { "strl" } else { "loom" };
        let path = folder.path().join(format!("source.{ending}"));
        std::fs::write(&path, (family.source)(size)).expect("there is room for a source");
        Source { folder, path }
    }

    /// Writes the profile of a run that took each way as often, and returns its path. The C of a
    /// build that records says what stands in one.
    fn profile(&self) -> String {
        let done = self.run(&["build", "--record"], &[]);
        assert!(done.status.success(), "{done:?}");
        let c = std::fs::read_to_string(self.folder.path().join("s.c")).expect("it is written");
        let (_, first) = c
            .split_once("\"stackloom profile 1\\n")
            .expect("it writes a profile");
        let (first, _) = first.split_once("\"").expect("a text has an end");
        let first = first.replace("\\n", "\n");
        let mut text = format!("stackloom profile 1\n{first}frames wire 9 alike 9 elsewhere 9\n");
        let (_, ways) = c
            .split_once("loom_way[")
            .expect("it says what its ways are");
        let ways = ways.lines().skip(1).take_while(|line| *line != "};");
        for way in ways {
            text += &format!("{:>10}  {}\n", 9, way.trim_matches([' ', ',', '"']));
        }
        let path = self.folder.path().join("s.profile");
        std::fs::write(&path, text).expect("there is room for it");
        path.display().to_string()
    }

    /// Runs the compiler, in front of which may stand another program, within its bounds.
    fn run(&self, words: &[&str], before: &[&str]) -> Output {
        // A shell need not take two limits at once: dash sets neither then.
        let limits = format!("ulimit -t {SECONDS} && ulimit -v {MEMORY_KIB} && exec \"$@\"");
        let mut command = Command::new("sh");
        match before {
            [] => command.args(["-c", &limits, "sh"]),
            [program, ..] => command.args(["-c", "exec \"$@\"", program]).args(before),
        };
        command
            .arg(env!("CARGO_BIN_EXE_loom"))
            .args(words)
            .arg(&self.path);
        if words[0] == "build" {
            command.arg("-o").arg(self.folder.path());
        }
        command.current_dir(self.folder.path());
        let done = command.output();
        done.unwrap_or_else(|error| panic!("{}: {error}", Path::new("sh").display()))
    }
}
