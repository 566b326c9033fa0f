//! Programs in Esterel: simulated in every form, and built; with C of others, and without.

use super::shell::{Said, Shell, alone};
use std::fs::File;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Command, Stdio};

const ABRO: &str = "module ABRO:\ninput A, B, R;\noutput O;\n\
    loop\n    [ await A || await B ];\n    emit O\neach R\nend module\n";

const FORMS: [&[&str]; 3] = [&[], &["--interpret"], &["--compiled"]];

fn simulated(shell: &Shell, arguments: &[&str], given: &str) -> Said {
    shell.write("events", given);
    let mut command = shell.command(&[&["simulate"], arguments].concat());
    command.stdin(File::open(shell.path("events")).expect("the events"));
    shell.finish(command)
}

/// The machine that sells tickets, in a folder of its own.
fn machine(shell: &Shell) {
    let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/esterel");
    for file in [
        "machine.strl",
        "MACHINE_data.h",
        "money.c",
        "main.c",
        "Makefile",
    ] {
        std::fs::copy(from.join(file), shell.path(file)).expect("a file of the example");
    }
}

#[test]
fn the_example_is_built_and_run_by_its_makefile() {
    let shell = Shell::new();
    machine(&shell);
    let mut command = Command::new("sh");
    let line = "make >&2 && printf '100\\n100 100\\n100\\ncancel\\n' | ./machine";
    command.args(["-c", line]).current_dir(shell.path("."));
    command.env("LOOM", env!("CARGO_BIN_EXE_loom"));
    alone(&mut command);
    let said = shell.finish(command).fine();
    let expected = "paid: 1.00\npaid: 3.00\na ticket\nback: 0.50\npaid: 1.00\nback: 1.00\n";
    assert_eq!(said, expected);
}

#[test]
fn all_forms_call_the_same_c() {
    let shell = Shell::new();
    machine(&shell);
    let given = "; COIN(1.00); COIN(2.00); COIN(0.05) ; CANCEL;";
    for form in FORMS {
        let arguments = [&["machine.strl", "--c", "money.c"], form].concat();
        let said = simulated(&shell, &arguments, given).fine();
        assert_eq!(
            said,
            "\nSHOW(1.00)\nSHOW(3.00) TICKET BACK(0.50)\nSHOW(0.05)\nBACK(0.05)\n"
        );
    }
    simulated(&shell, &["machine.strl"], given).failed(1, &["`MONEY`", "--c FILE"]);
}

#[test]
fn an_instant_is_answered_before_the_next_is_given() {
    let shell = Shell::new();
    shell.write("abro.strl", ABRO);
    for form in FORMS {
        let mut command = shell.command(&[&["simulate", "abro.strl"], form].concat());
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().expect("it starts");
        let mut input = child.stdin.take().expect("a pipe");
        let mut lines = BufReader::new(child.stdout.take().expect("a pipe")).lines();
        for (given, emitted) in [("A;", ""), (" A B ;", "O"), ("\n;", "")] {
            input.write_all(given.as_bytes()).expect("it reads");
            let line = lines.next().expect("it answers").expect("a line");
            assert_eq!(line, emitted, "{form:?} {given}");
        }
        drop(input);
        assert!(child.wait().expect("it ends").success());
    }
}

#[test]
fn what_goes_wrong_is_told_alike() {
    let shell = Shell::new();
    let program = "module WRONG:\ninput A, B, V : integer;\nrelation A # B;\n\
        output N : integer, O : integer;\n\
        every immediate A do emit N(6 / ?V) end\n||\nevery immediate B do emit O(1) end\n||\n\
        every immediate V do if ?V > 8 then emit O(2) end end\nend module\n";
    shell.write("wrong.strl", program);
    let wrong = [
        (
            "A V(2); A V(0); A V(1);",
            "N(3)\n",
            "instant 2: a number is divided by zero",
        ),
        ("A;", "", "instant 1: `V` has no value yet, and it is read"),
        ("; B V(9);", "\n", "instant 2: `O` is emitted twice"),
        (
            "B; A B;",
            "O(1)\n",
            "instant 2: `A` and `B` exclude each other",
        ),
        ("B; C;", "O(1)\n", "instant 2: `C` is no input"),
        ("B; V;", "O(1)\n", "instant 2: `V` needs a value"),
        ("B; V(x);", "O(1)\n", "instant 2: `x` is no integer"),
        ("B; A", "O(1)\n", "does not end with `;`"),
    ];
    for (given, before, says) in wrong {
        for form in FORMS {
            let said = simulated(&shell, &[&["wrong.strl"], form].concat(), given);
            assert_eq!(said.result, before, "{form:?} {given}");
            said.failed(1, &[says]);
        }
    }
}

/// A sensor that is kept for `pre` is not read by that; one that nobody has given a value yet is
/// refused where it is read, now or an instant later.
#[test]
fn a_sensor_without_a_value_is_told_alike() {
    let shell = Shell::new();
    let program = "module SENSE:\ninput NOW, BEFORE;\nsensor S : integer;\n\
        output O : integer, P : integer;\nevery immediate NOW do emit O(?S) end\n||\n\
        every immediate BEFORE do emit P(pre(?S)) end\nend module\n";
    shell.write("sense.strl", program);
    let unset = "`S` has no value yet, and it is read";
    let cases = [
        (
            "; S(3); BEFORE S(4); NOW BEFORE;",
            "\n\nP(3)\nO(4) P(4)\n",
            None,
        ),
        ("S(1) NOW; BEFORE;", "O(1)\nP(1)\n", None),
        ("; NOW;", "\n", Some("instant 2")),
        ("; BEFORE;", "\n", Some("instant 2")),
        (";; S(3) BEFORE;", "\n\n", Some("instant 3")),
    ];
    for (given, prints, wrong) in cases {
        for form in FORMS {
            let said = simulated(&shell, &[&["sense.strl"], form].concat(), given);
            assert_eq!(said.result, prints, "{form:?} {given}");
            match wrong {
                Some(instant) => said.failed(1, &[&format!("{instant}: {unset}")]),
                None => said.fine(),
            };
        }
    }
}

#[test]
fn c_that_ends_itself_or_cannot_be_compiled_is_told() {
    let shell = Shell::new();
    let program = "module HALF:\nfunction F(integer) : integer;\ninput A : integer;\n\
        output B : integer;\nevery immediate A do emit B(F(?A)) end\nend module\n";
    shell.write("half.strl", program);
    shell.write(
        "ends.c",
        "#include <stdlib.h>\nint F(int n) { if (n > 1) abort(); return n; }\n",
    );
    shell.write("broken.c", "int F(int n) { return m; }\n");
    shell.write("other.c", "int G(int n) { return n; }\n");
    for form in FORMS {
        let run = |externs: &str| {
            let arguments = [&["half.strl", "--c", externs], form].concat();
            simulated(&shell, &arguments, "A(1); A(2); A(3);")
        };
        let said = run("ends.c");
        assert_eq!(said.result, "B(1)\n");
        said.failed(1, &["killed by signal 6"]);
        run("broken.c").failed(1, &["cannot compile the C sources", "broken.c:1"]);
        run("other.c").failed(1, &["cannot compile the C sources", "F"]);
        run("missing.c").failed(2, &["missing.c: No such file"]);
    }
    let mut command = shell.command(&["simulate", "half.strl", "--c", "ends.c"]);
    command.env("CC", "no_compiler");
    shell.finish(command).failed(2, &["no_compiler"]);
}

#[test]
fn a_type_that_is_an_array_in_c_is_told() {
    let shell = Shell::new();
    let program = "module HOLD:\ntype T;\nfunction F(integer) : T;\nfunction G(T) : integer;\n\
        input A : integer;\noutput B : integer;\nvar V : T in\n\
        every immediate A do V := F(?A); emit B(G(V)) end\nend\nend module\n";
    shell.write("hold.strl", program);
    let functions = "#include <string.h>\n#define _T(to, from) memcpy(to, from, sizeof *(to))\n\
        static T one;\n";
    shell.write(
        "array.c",
        format!(
            "typedef int T[4];\n{functions}int *F(int n) {{ one[0] = n; return one; }}\n\
             int G(T of) {{ return of[0]; }}\n"
        ),
    );
    shell.write(
        "held.c",
        format!(
            "typedef struct {{ int all[4]; }} T;\n{}\
             T F(int n) {{ one.all[0] = n; return one; }}\nint G(T of) {{ return of.all[0]; }}\n",
            functions.replace("memcpy(to, from, sizeof *(to))", "(*(to) = (from))")
        ),
    );
    for form in FORMS {
        let run = |externs: &str| {
            let arguments = [&["hold.strl", "--c", externs], form].concat();
            simulated(&shell, &arguments, "A(1); A(2);")
        };
        assert_eq!(run("held.c").fine(), "B(1)\nB(2)\n");
        run("array.c").failed(
            1,
            &[
                "cannot compile the C sources",
                "`T` is an array: put it into a struct",
            ],
        );
    }
}

#[test]
fn functions_are_linked_to_what_is_built() {
    let shell = Shell::new();
    let program = "module HALF:\nconstant LEAST : integer;\nfunction F(integer) : integer;\n\
        procedure P(integer, string)();\nsensor S : integer;\ninput A : integer;\n\
        output B : integer, T : string;\nvar N : integer, TEXT := \"x\" : string in\n\
        every immediate A do N := F(?A) + LEAST + ?S; call P(N, TEXT)(); emit B(N); emit T(TEXT)\n\
        end end\nend module\n";
    shell.write("half.strl", program);
    let main = "#include \"HALF.h\"\n#include <stdio.h>\nint LEAST = 10;\n\
        int F(int n) { return n / 2; }\n\
        void P(int *n, char *text) { *n += 1; text[0]++; }\n\
        int HALF_S_S(void) { return 1000; }\n\
        void HALF_O_B(int n) { printf(\"%d \", n); }\nvoid HALF_O_T(char *t) { puts(t); }\n\
        int main(void) { for (int n = 0; n < 3; n++) { HALF_I_A(n * 4); HALF(); }\n\
        HALF_reset(); HALF_I_A(8); return HALF() < 0; }\n";
    shell.write("main.c", main);
    shell.loom(&["build", "half.strl", "-o", "."]).fine();
    let mut command = Command::new("sh");
    let line = "cc -std=c11 -Wall -Wextra -Werror main.c HALF.c -o half && ./half";
    command.args(["-c", line]).current_dir(shell.path("."));
    assert_eq!(
        shell.finish(command).fine(),
        "1011 y\n1013 z\n1015 {\n1015 y\n"
    );
}

#[test]
fn a_module_that_is_called_as_a_function_of_c_is_run_and_named_anew() {
    let shell = Shell::new();
    for name in ["main", "write"] {
        shell.write("own.strl", ABRO.replace("ABRO", name));
        let said = simulated(&shell, &["own.strl", "--compiled"], ";A B;;");
        assert_eq!(said.fine(), "\nO\n\n");
    }
    shell.write("own.strl", ABRO.replace("ABRO", "main"));
    shell.loom(&["build", "own.strl"]).failed(
        2,
        &["`main` cannot be the name of the generated C", "--name"],
    );
    shell
        .loom(&["build", "own.strl", "--name", "own", "-o", "."])
        .fine();
    assert!(shell.read("own.h").contains("void own_I_A(void);"));
    let arguments = ["build", "own.strl", "--name", "own", "--report", "json"];
    let said = shell.loom(&arguments).fine();
    assert!(said.starts_with("{\"name\":\"own\",\"form\":\"automaton\",\"states\":5,"));
}

#[test]
fn what_is_for_stacks_says_so() {
    let shell = Shell::new();
    shell.write("abro.strl", ABRO);
    assert_eq!(
        shell.loom(&["check", "abro.strl"]).fine(),
        "abro.strl: module ABRO, 5 states\n"
    );
    let says = &["abro.strl is an Esterel file", "`loom simulate`"];
    shell.loom(&["fmt", "abro.strl"]).failed(1, says);
    shell.loom(&["run", "abro.strl"]).failed(1, says);
}
