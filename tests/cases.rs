//! The one runner of all `.case` files.
//!
//! In: every case under `tests/cases`. Its first line is the fact that it shows, as a sentence;
//! then come its sections, each behind a line `=== NAME`: what goes in, and what must come out.
//! Out: the first difference of each case that does not hold. `BLESS=1` writes what comes out into
//! the cases instead, and then `git diff` says what changed. What is played to a stack is played
//! to its C, too: by clang without optimisation, and with `EVERY_WAY=1` in all ways;
//! with `INTERPRETED=1` it is played to the interpreters alone. `CASES=arp` asks only for those in
//! a folder.

#[path = "c_agrees/compiled.rs"]
mod compiled;
#[path = "fixture/cores.rs"]
mod cores;
#[path = "c_agrees/externs.rs"]
mod externs;
#[path = "c_agrees/glue.rs"]
mod glue;

use compiled::Compiled;
use cores::on_all_cores;
use stackloom::back::c::{Variant, print};
use stackloom::ir::Module;
use stackloom::ir::op::{Arithmetic, Op};
use stackloom::passes::{PASSES, Pass};
use stackloom::simulate::externs::Externs;
use stackloom::tool::case::format::Case;
use stackloom::tool::case::play::Played;
use stackloom::tool::case::run::Run;
use stackloom::tool::case::script::Line;
use stackloom::tool::case::sections::fill;
use stackloom::tool::case::{Cases, InC, Playing, Surroundings, difference};
use stackloom::types::load::Library;
use stackloom::types::program::Program;
use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// How the C is compiled, if all that is asked for is that it does the same.
const USUALLY: [(&str, &str); 1] = [("clang-16", "-O0")];

/// And when every way is asked for.
const EVERY_WAY: [(&str, &str); 4] = [
    ("gcc", "-O0"),
    ("gcc", "-O2"),
    ("clang-16", "-O0"),
    ("clang-16", "-O2"),
];

#[test]
fn every_case_holds() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases");
    let asked = root.join(std::env::var_os("CASES").unwrap_or_default());
    let repository = Repository::new();
    let mut paths = Vec::new();
    collect(&asked, &mut paths);
    assert!(!paths.is_empty(), "there are no cases");
    // Cases of one folder are mostly about one stack, which is compiled once.
    let mut folders: Vec<&[PathBuf]> = paths.chunk_by(|a, b| a.parent() == b.parent()).collect();
    folders.sort_by_key(|folder| Reverse(folder.len()));
    let failures = on_all_cores(folders, |folder| {
        let cases = Cases::new(&repository);
        let wrong = folder
            .iter()
            .filter_map(|path| failure(&root, path, &cases));
        wrong.collect::<Vec<String>>()
    });
    let mut failures: Vec<String> = failures.into_iter().flatten().collect();
    failures.sort();
    assert!(failures.is_empty(), "\n{}", failures.join("\n\n"));
}

/// What is wrong with the case of a file, which may also be blessed.
fn failure(root: &Path, path: &Path, cases: &Cases<'_>) -> Option<String> {
    let text = fs::read_to_string(path).expect("a case can be read");
    let name = path
        .strip_prefix(root)
        .expect("cases stand under their root");
    let shown = cases.blessed(name, &text);
    let name = name.display();
    match shown {
        Err(wrong) => Some(format!("{name}: {wrong}")),
        Ok(right) if right == text => None,
        Ok(right) if std::env::var_os("BLESS").is_some() => {
            fs::write(path, right).expect("a case can be written");
            None
        }
        Ok(right) => Some(format!("{name}: {}", difference(&text, &right))),
    }
}

/// What is around the cases of this repository: its files, its library, and compiled C.
struct Repository {
    library: BTreeMap<String, String>,
    /// The passes of the stack IR behind which modules are played.
    passes: Vec<Pass>,
    /// True if cases are played to the interpreters alone.
    is_interpreted: bool,
}

impl Repository {
    fn new() -> Repository {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("layers");
        let mut library = BTreeMap::new();
        let mut folders = vec![root.clone()];
        while let Some(folder) = folders.pop() {
            for file in fs::read_dir(&folder).expect("a folder of the library can be listed") {
                let file = file.expect("a folder of the library can be listed").path();
                if file.is_dir() {
                    folders.push(file);
                    continue;
                }
                let name = file.strip_prefix(&root).expect("the walk stays inside");
                let name = name.to_str().expect("paths here are plain");
                let text = fs::read_to_string(&file).expect("a layer can be read");
                library.insert(name.replace('\\', "/"), text);
            }
        }
        Repository {
            library,
            passes: PASSES.to_vec(),
            is_interpreted: std::env::var_os("INTERPRETED").is_some(),
        }
    }
}

impl Surroundings for Repository {
    /// A file of the repository, or the source in a case of it.
    fn file(&self, _case: &Path, path: &str) -> Result<(String, String), String> {
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join(path);
        let text = fs::read_to_string(file).map_err(|error| format!("{path}: {error}"))?;
        let text = match Case::read(&text) {
            Ok(case) if path.ends_with(".case") => {
                case.text("source").unwrap_or_default().to_string()
            }
            Ok(_) | Err(_) => text,
        };
        Ok((path.to_string(), text))
    }

    fn library(&self) -> &dyn Library {
        &self.library
    }

    fn externs<'p>(&self, program: &'p Program) -> Externs<'p> {
        externs::all(program, false)
    }

    /// All C that is called here has its like in `externs`.
    fn compiled(&self, _playing: &InC<'_>, _lines: Vec<Line>) -> Result<Option<Played>, String> {
        Ok(None)
    }

    fn passes(&self) -> Vec<Pass> {
        self.passes.clone()
    }

    fn others(&self, playing: &Playing<'_>) -> Vec<(String, Run)> {
        if self.is_interpreted {
            return Vec::new();
        }
        let every_way = std::env::var_os("EVERY_WAY").is_some();
        let ways = if every_way { &EVERY_WAY[..] } else { &USUALLY };
        let (stack, place) = (playing.stack, playing.place.display());
        let (program, code) = (&stack.program, stack.code(playing.sources));
        let mut runs = Vec::new();
        let mut run = |compiled: &Compiled<'_>, how: &str| {
            for way in compiled.ways() {
                let (ran, said) = compiled.run(way, std::slice::from_ref(playing.trace));
                let ran = ran.into_iter().next().expect("one trace is one run");
                runs.push((format!("{said}{how} C of {way}"), ran));
            }
        };
        let woven = format!("{place}/woven");
        let code = (stack.lowered(), code);
        run(&Compiled::new(&woven, program, code, ways), "the");
        if every_way && !playing.by_steps {
            let code = print(stack.module(), playing.sources, Variant::Plain);
            let plain = format!("{place}/plain");
            let code = (stack.module(), &code);
            run(&Compiled::new(&plain, program, code, ways), "the lowered");
        }
        runs
    }
}

fn collect(folder: &Path, paths: &mut Vec<PathBuf>) {
    let entries = fs::read_dir(folder).expect("the folder of cases can be listed");
    let mut inside: Vec<PathBuf> = entries
        .map(|entry| entry.expect("the folder of cases can be listed").path())
        .collect();
    inside.sort();
    for path in inside {
        if path.is_dir() {
            collect(&path, paths);
        } else if path.extension().is_some_and(|ending| ending == "case") {
            paths.push(path);
        }
    }
}

#[test]
fn a_case_that_expects_something_else_is_found() {
    let text =
        "A value alone does nothing.\n\n=== source\nfn f(a: u8) -> u8 {\n    a\n}\n\n=== error\n\n";
    let repository = Repository::new();
    let cases = Cases::new(&repository);
    let blessed = |text: &str| cases.blessed(Path::new("one"), text);
    let right = blessed(text).expect("the case can be read");
    assert_ne!(right, text);
    assert!(difference(text, &right).contains("not-a-statement"));
    assert_eq!(blessed(&right).expect("the case can be read"), right);
}

#[test]
fn cases_that_show_nothing_are_refused() {
    let repository = Repository::new();
    let cases = Cases::new(&repository);
    let refused = |text: &str| {
        let mut case = Case::read(text).expect("the case can be read");
        fill(Path::new("none"), &mut case, &cases).is_err()
    };
    assert!(refused("It is so.\n=== source\nconst a = 1\n"));
    assert!(refused("It is so.\n=== error\n"));
    assert!(refused("It is so.\n=== source\nconst a = 1\n=== strange\n"));
    assert!(refused("It is so.\n=== source\nuse\n"));
    assert!(!refused("It is so.\n=== source\nuse\n=== error\n"));
}

/// Plants a fault: each sum becomes a difference.
fn subtracts(module: &mut Module) {
    let blocks = module.functions.iter_mut().flat_map(|one| &mut one.blocks);
    for instruction in blocks.flat_map(|block| &mut block.instructions) {
        if instruction.op == Op::Arithmetic(Arithmetic::Add) {
            instruction.op = Op::Arithmetic(Arithmetic::Sub);
        }
    }
}

#[test]
fn a_case_names_the_first_pass_after_which_it_differs() {
    let path = Path::new("in_order/normal.case");
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases");
    let text = fs::read_to_string(file.join(path)).expect("a case can be read");
    let said = |passes: Vec<Pass>| {
        let repository = Repository {
            passes,
            is_interpreted: true,
            ..Repository::new()
        };
        Cases::new(&repository).blessed(path, &text)
    };
    assert_eq!(said(PASSES.to_vec()), Ok(text.clone()));
    for place in [0, 4, PASSES.len()] {
        let mut passes = PASSES.to_vec();
        let name = "subtracts";
        let planted = Pass {
            name,
            about: "Plants a fault",
            run: subtracts,
        };
        passes.insert(place, planted);
        let wrong = said(passes).expect_err("sums are differences");
        let first = wrong.lines().next().unwrap_or_default();
        let expected = format!("the stack IR of the woven trees differs after {name}");
        assert_eq!(first, expected, "behind {place} passes");
    }
}
