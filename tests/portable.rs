//! `NAME.h` and `NAME.c` as compilers of other people meet them: with more warnings, in C++, beside
//! another stack, on a small machine, and on machines with another processor.
//!
//! In: examples, and the project of `loom new beep`, compiled to C. Out: what compilers say, the
//! bytes that stacks take, and what `portable/small.c` prints.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// What the C passes under gcc and clang.
const WARNINGS: [&str; 6] = [
    "-std=c11",
    "-Wall",
    "-Wextra",
    "-Wpedantic",
    "-Wconversion",
    "-Werror",
];

/// Stacks of all sorts: with a callback, streams, two links, state in C.
const EXAMPLES: [&str; 6] = [
    "ping/ping.loom",
    "radio/radio.loom",
    "host/host.loom",
    "stop_and_wait/stop_and_wait.loom",
    "telemetry/telemetry.loom",
    "web/web.loom",
];

/// A stack in C.
struct Built {
    name: String,
    folder: PathBuf,
}

impl Built {
    /// Compiles a stack to C in a folder of its own.
    fn new(test: &str, loom: &Path) -> Built {
        let stem = loom.file_stem().and_then(|stem| stem.to_str());
        let folder = scratch(test).join(stem.expect("a file has a name"));
        let _ = fs::remove_dir_all(&folder);
        said(loom_command().arg("build").arg(loom).arg("-o").arg(&folder));
        let files = fs::read_dir(&folder).expect("the C was written");
        let mut names = files.filter_map(|file| {
            let path = file.expect("it can be listed").path();
            let is_c = path.extension().is_some_and(|end| end == "c");
            is_c.then(|| path.file_stem()?.to_str().map(String::from))?
        });
        let name = names.next().expect("a stack has a name");
        Built { name, folder }
    }

    fn example(test: &str, path: &str) -> Built {
        Built::new(test, &Path::new("examples").join(path))
    }

    fn source(&self) -> PathBuf {
        self.folder.join(format!("{}.c", self.name))
    }

    fn header(&self) -> PathBuf {
        self.folder.join(format!("{}.h", self.name))
    }
}

fn loom_command() -> Command {
    Command::new(env!("CARGO_BIN_EXE_loom"))
}

fn scratch(test: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"))
        .join("portable")
        .join(test);
    fs::create_dir_all(&folder).expect("a folder to compile in");
    folder
}

/// Runs a command that must succeed; returns its output.
fn said(command: &mut Command) -> String {
    let output = ran(command);
    let [out, err] =
        [output.stdout, output.stderr].map(|text| String::from_utf8_lossy(&text).into());
    let both: String = format!("{out}{err}");
    assert!(output.status.success(), "{command:?}:\n{both}");
    out
}

fn ran(command: &mut Command) -> Output {
    let output = command.output();
    output.unwrap_or_else(|error| panic!("{command:?}: {error}"))
}

/// The stack of a new project.
fn beep(test: &str) -> Built {
    let folder = scratch(test).join("new");
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).expect("a folder for the project");
    said(loom_command().args(["new", "beep"]).current_dir(&folder));
    Built::new(test, &folder.join("beep/beep.loom"))
}

#[test]
fn compilers_with_more_warnings_have_nothing_to_say() {
    for example in EXAMPLES {
        let built = Built::example("warnings", example);
        for compiler in ["gcc", "clang-16"] {
            let mut command = Command::new(compiler);
            command
                .args(WARNINGS)
                .args(["-Wredundant-decls", "-fsyntax-only"]);
            said(command.arg(built.source()));
        }
    }
}

#[test]
fn a_second_declaration_is_seen() {
    let built = Built::example("seen", "ping/ping.loom");
    let text = fs::read_to_string(built.header()).expect("it was written");
    let twice = text.replace(
        "\nsize_t ping_size(",
        "\nsize_t ping_size(const struct ping_config *);\nsize_t ping_size(",
    );
    assert_ne!(text, twice);
    fs::write(built.header(), twice).expect("written");
    let mut gcc = Command::new("gcc");
    gcc.args(WARNINGS)
        .args(["-Wredundant-decls", "-fsyntax-only"]);
    assert!(!ran(gcc.arg(built.source())).status.success());
}

/// The strings of a stack are the names of its counters.
#[test]
fn a_macro_leaves_the_names_of_counters_out() {
    for example in EXAMPLES {
        let built = Built::example("names", example);
        for compiler in ["gcc", "clang-16"] {
            let object = built.folder.join("stack.o");
            let leave_out = format!("-D{}_WITHOUT_NAMES", built.name.to_uppercase());
            for (flags, has_names) in [(&[][..], true), (&[leave_out], false)] {
                let mut command = Command::new(compiler);
                command.args(WARNINGS).args(flags).args(["-Os", "-c", "-o"]);
                said(command.arg(&object).arg(built.source()));
                let symbols = said(Command::new("nm").arg(&object));
                assert_eq!(symbols.contains("_counter_name"), has_names, "{example}");
                let strings = said(Command::new("strings").arg(&object));
                assert_eq!(strings.contains("frames_in"), has_names, "{example}");
            }
        }
    }
}

#[test]
fn the_analyzer_of_gcc_finds_nothing() {
    for example in &EXAMPLES[..4] {
        let built = Built::example("analyzed", example);
        let mut gcc = Command::new("gcc");
        gcc.args(WARNINGS)
            .args(["-fanalyzer", "-O1", "-c", "-o/dev/null"]);
        said(gcc.arg(built.source()));
    }
}

/// A host of two stacks, as one file in C and in C++.
#[test]
fn two_stacks_are_hosted_by_one_file() {
    let stacks = ["ping/ping.loom", "host/host.loom", "web/web.loom"];
    let built = stacks.map(|stack| Built::example("two", stack));
    let mut text = String::new();
    for one in &built {
        text += &format!("#include \"{}\"\n", one.header().display());
    }
    // The functions that the headers define are asked for, too.
    text += "size_t both(struct ping *one, struct host *other);\n\
             size_t both(struct ping *one, struct host *other) {\n    size_t rooms[2];\n    \
             (void)ping_buffer(one, &rooms[0]);\n    (void)host_buffer(other, &rooms[1]);\n    \
             return rooms[0] + rooms[1] + PING_LINK_TUN + HOST_LINK_TAP + WEB_COUNTERS;\n}\n";
    for (compiler, file, standard) in [
        ("gcc", "both.c", "-std=c11"),
        ("clang-16", "both.c", "-std=c11"),
        ("clang++-16", "both.cc", "-std=c++17"),
    ] {
        let host = scratch("two").join(file);
        fs::write(&host, &text).expect("written");
        let mut command = Command::new(compiler);
        command.args([standard, "-Wall", "-Wextra", "-Wredundant-decls", "-Werror"]);
        said(command.args(["-nostdinc++", "-fsyntax-only"]).arg(host));
    }
}

/// A Cortex-M0 has neither an operating system nor a library, and 8 KiB of memory are many.
#[test]
fn a_small_stack_fits_a_small_machine() {
    let built = beep("small");
    let object = built.folder.join("beep.o");
    let bound = scratch("small").join("bound.c");
    let asks = "#include \"beep/beep.h\"\n\
                _Static_assert(BEEP_MEMORY_FOR(2, 2, 2) <= BOUND, \"it takes more\");\n";
    fs::write(&bound, asks).expect("written");
    let clang = |input: &Path, more: &[&str]| {
        let mut clang = Command::new("clang-16");
        clang.args(["--target=thumbv6m-none-eabi", "-mcpu=cortex-m0", "-Os"]);
        clang.args(WARNINGS).args(more).arg(input);
        clang
    };
    said(&mut clang(&bound, &["-fsyntax-only", "-DBOUND=1024"]));
    let fits = ran(&mut clang(&bound, &["-fsyntax-only", "-DBOUND=400"]));
    assert!(!fits.status.success(), "it takes more than 400 bytes");
    let output = format!("-o{}", object.display());
    said(&mut clang(&built.source(), &["-c", &output]));
    let sizes = said(Command::new("size").arg(&object));
    println!("{sizes}");
    let row = sizes.lines().nth(1).expect("a row of numbers");
    let columns = row.split_whitespace().map(|column| column.parse::<u32>());
    let columns: Vec<u32> = columns.map_while(Result::ok).collect();
    let [text, data, bss, ..] = columns[..] else {
        panic!("{sizes}");
    };
    assert!(text < 5000, "{text} bytes of text");
    assert_eq!([data, bss], [0, 0], "the stack has memory of its own");
}

#[test]
fn a_stack_with_few_buffers_works_or_is_refused() {
    let built = beep("few");
    for compiler in ["gcc", "clang-16"] {
        let program = built.folder.join(format!("small-{compiler}"));
        let mut command = Command::new(compiler);
        command
            .args(WARNINGS)
            .args(["-g", "-fsanitize=address,undefined"]);
        said(compiled(&mut command, &built, &program));
        assert!(said(&mut Command::new(&program)).ends_with("all is right\n"));
    }
}

/// Adds the host and the stack.
fn compiled<'c>(command: &'c mut Command, built: &Built, program: &Path) -> &'c mut Command {
    command.arg(format!("-I{}", built.folder.display()));
    command.args([Path::new("tests/portable/small.c"), &built.source()]);
    command.arg("-o").arg(program)
}

/// Bytes that stacks take, and at most: with these settings, or by default.
#[test]
fn stacks_take_no_more_memory_than_promised() {
    let test = "memory";
    let host = fs::read_to_string("examples/host/host.loom").expect("it is there");
    let host = host.replace("fragment(", "fragment(joins = 1, longest = 2048, ");
    let web = fs::read_to_string("examples/web/web.loom").expect("it is there");
    let web = web.replace("sessions = 256", "sessions = 8");
    let written = |name: &str, text: &str| {
        let path = scratch(test).join(name);
        fs::write(&path, text).expect("written");
        path
    };
    let few = "config.buffers = 6; config.reserve = 2; config.outputs = 8; config.events = 8;";
    for (built, settings, most) in [
        (
            beep(test),
            "config.buffers = config.outputs = config.events = 2;",
            1024,
        ),
        (Built::example(test, "ping/ping.loom"), "", 16 << 10),
        (
            Built::new(test, &written("host.loom", &host)),
            few,
            72 << 10,
        ),
        (Built::new(test, &written("web.loom", &web)), "", 4_000_000),
    ] {
        let name = &built.name;
        let text = format!(
            "#include \"{name}.h\"\n#include <stdio.h>\nint main(void) {{\n    \
             struct {name}_config config;\n    {name}_config_default(&config);\n    \
             {settings}\n    \
             printf(\"%zu\", {name}_size(&config));\n    \
             return {name}_check(&config, SIZE_MAX - 1) == {}_LITTLE_MEMORY;\n}}\n",
            name.to_uppercase()
        );
        let main = built.folder.join("main.c");
        fs::write(&main, text).expect("written");
        let program = built.folder.join("main");
        let mut gcc = Command::new("gcc");
        gcc.args(["-std=c11", "-Wall", "-Wextra"]).arg(&main);
        said(gcc.arg(built.source()).arg("-o").arg(&program));
        let size = said(&mut Command::new(&program));
        println!("{name}: {size} bytes, at most {most}");
        let size: u64 = size.parse().expect("a number of bytes");
        assert!(size <= most, "{name} takes {size} bytes");
    }
}

#[test]
fn what_a_stack_does_not_use_is_not_in_its_c() {
    let source = |built: &Built| fs::read_to_string(built.source()).expect("it was written");
    let small = source(&beep("unused"));
    let large = source(&Built::example("unused", "web/web.loom"));
    // Timers, streams.
    for part in ["sl_timer", "sl_stream"] {
        assert!(!small.contains(part), "{part}");
        assert!(large.contains(part), "{part}");
    }
}

/// Needs the compilers of Debian for these machines, and `qemu-user`: `make soak` installs them.
#[test]
#[ignore = "in `make soak`"]
fn other_machines_do_the_same() {
    let built = beep("machines");
    let run = |compiler: &str, emulator: Option<&str>| {
        let program = built.folder.join(format!("small-{compiler}"));
        let mut command = Command::new(compiler);
        command.args(WARNINGS).args(["-O2", "-static"]);
        said(compiled(&mut command, &built, &program));
        match emulator {
            Some(emulator) => said(Command::new(emulator).arg(&program)),
            None => said(&mut Command::new(&program)),
        }
    };
    let here = run("gcc", None);
    assert_eq!(run("arm-linux-gnueabihf-gcc", Some("qemu-arm")), here);
    assert_eq!(run("aarch64-linux-gnu-gcc", Some("qemu-aarch64")), here);
}
