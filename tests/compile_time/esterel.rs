//! Sources in Esterel that grow by one number in one way each.
//!
//! In: how many. Out: a source, which has a kind of statement, signal or module so many times.

use super::{Form, joined, lines, nested};

/// All of them.
pub const FORMS: &[Form] = &[
    ("Esterel: branches that wait", |n| {
        module(
            &outputs(n),
            &joined(n, "\n||\n", |at| format!("await I; emit O{at}")),
        )
    }),
    ("Esterel: branches that wait for one input each", |n| {
        module(
            &format!(
                "input {};\n{}",
                joined(n, ", ", |at| format!("I{at}")),
                outputs(n)
            ),
            &joined(n, "\n||\n", |at| format!("await I{at}; emit O{at}")),
        )
    }),
    ("Esterel: branches that wait, again at each R", |n| {
        module(
            &format!(
                "input {};\noutput O;",
                joined(n, ", ", |at| format!("I{at}"))
            ),
            &format!(
                "loop\n[{}];\nemit O;\nhalt\neach R",
                joined(n, " || ", |at| format!("await I{at}"))
            ),
        )
    }),
    ("Esterel: statements after each other", |n| {
        module(
            &outputs(n),
            &joined(n, ";\n", |at| format!("emit O{at}; pause")),
        )
    }),
    ("Esterel: tests after each other", |n| {
        module(
            &outputs(n),
            &format!(
                "loop\n{};\npause\nend loop",
                joined(n, ";\n", |at| {
                    format!("present I then emit O{at} else nothing end present")
                })
            ),
        )
    }),
    ("Esterel: tests of one input each", |n| {
        tests_of_inputs(n, "nothing")
    }),
    (
        "Esterel: tests of one input each, with a wait in one branch",
        |n| tests_of_inputs(n, "pause"),
    ),
    (
        "Esterel: signals of which each follows from the one before",
        |n| {
            module(
                "output O;",
                &format!(
                    "signal {} in\nemit S0\n||\n{}\nend signal",
                    joined(n + 1, ", ", |at| format!("S{at}")),
                    joined(n, "\n||\n", |at| format!(
                        "present S{at} then emit S{} end present",
                        at + 1
                    ))
                ),
            )
        },
    ),
    (
        "Esterel: signals of which each follows from the one behind",
        |n| {
            module(
                "output O;",
                &format!(
                    "signal {} in\n{}\n||\nemit S{n}\nend signal",
                    joined(n + 1, ", ", |at| format!("S{at}")),
                    joined(n, "\n||\n", |at| format!(
                        "present S{} then emit S{at} end present",
                        at + 1
                    ))
                ),
            )
        },
    ),
    ("Esterel: signals in a ring", |n| {
        module(
            "output O;",
            &format!(
                "signal {} in\n{}\nend signal",
                joined(n, ", ", |at| format!("S{at}")),
                joined(n, "\n||\n", |at| format!(
                    "present S{} then emit S{at} end present",
                    (at + 1) % n
                ))
            ),
        )
    }),
    ("Esterel: traps", |n| {
        let before: String = (0..n)
            .map(|at| format!("trap T{at} in\npresent I then exit T{at} end present;\n"))
            .collect();
        module(
            "output O;",
            &format!("{before}pause{}", "\nend trap".repeat(n)),
        )
    }),
    ("Esterel: aborts inside each other", |n| aborts("abort", n)),
    ("Esterel: loops inside each other", |n| {
        module(
            "output O;",
            &nested(n, "loop\n", "pause", ";\npause\nend loop"),
        )
    }),
    ("Esterel: repetitions inside each other", |n| {
        module(
            "output O;",
            &nested(n, "repeat 9 times\n", "pause", "\nend repeat"),
        )
    }),
    ("Esterel: counts", |n| {
        module("output O;", &format!("await {n} I; emit O"))
    }),
    ("Esterel: modules, each of the one before twice", |n| {
        let first = "module M0:\ninput I;\noutput O;\nawait I; emit O\nend module\n";
        let all = lines(n, |at| {
            format!(
                "module M{}:\ninput I;\noutput O;\nrun M{at}; run M{at}\nend module",
                at + 1
            )
        });
        format!("{first}{all}")
    }),
    (
        "Esterel: modules, each of the one before beside itself",
        |n| {
            let first = "module M0:\ninput I;\noutput O;\nawait I; emit O\nend module\n";
            let all = lines(n, |at| {
                format!(
                    "module M{}:\ninput I;\noutput O;\nrun M{at} || run M{at}\nend module",
                    at + 1
                )
            });
            format!("{first}{all}")
        },
    ),
    ("Esterel: modules", |n| {
        lines(n, |at| {
            format!("module M{at}:\ninput I;\noutput O;\nawait I; emit O\nend module")
        })
    }),
    ("Esterel: cases of a wait", |n| {
        let inputs = format!(
            "input {};\noutput O;",
            joined(n, ", ", |at| format!("I{at}"))
        );
        module(
            &inputs,
            &format!(
                "loop\nawait\n{}\nend await\nend loop",
                joined(n, "\n", |at| format!("case I{at} do emit O"))
            ),
        )
    }),
    ("Esterel: variables", |n| {
        let all = joined(n, ", ", |at| format!("V{at} := {at}"));
        let sums = joined(n, ";\n", |at| format!("V{at} := V{} + 1", (at + 1) % n));
        module(
            "output O(integer);",
            &format!(
                "var {all} : integer in\nloop\n{sums};\nemit O(V0);\npause\nend loop\nend var"
            ),
        )
    }),
    ("Esterel: tests of a variable", |n| {
        let tests = joined(n, ";\n", |at| format!("if V > {at} then V := V * 3 end if"));
        module(
            "output O(integer);",
            &format!(
                "var V := 1 : integer in\nloop\n{tests};\nemit O(V);\npause\nend loop\nend var"
            ),
        )
    }),
    ("Esterel: sums", |n| {
        module(
            "output O(integer);",
            &format!("emit O({})", joined(n, " + ", |at| format!("{at}"))),
        )
    }),
    ("Esterel: brackets", |n| {
        module(
            "output O(integer);",
            &format!("emit O({})", nested(n, "(", "1", ")")),
        )
    }),
    ("Esterel: conditions of signals", |n| {
        let inputs = format!(
            "input {};\noutput O;",
            joined(n, ", ", |at| format!("I{at}"))
        );
        module(
            &inputs,
            &format!(
                "loop\npresent {} then emit O end present;\npause\nend loop",
                joined(n, " or ", |at| format!("I{at} and not R"))
            ),
        )
    }),
    ("Esterel: relations", |n| {
        let inputs = format!(
            "input {};\noutput O;\nrelation {};",
            joined(n, ", ", |at| format!("I{at}")),
            joined(n, " # ", |at| format!("I{at}"))
        );
        module(&inputs, "await I0; emit O")
    }),
    ("Esterel: suspensions inside each other", |n| {
        let inputs = format!(
            "input {};\noutput O;",
            joined(n, ", ", |at| format!("I{at}"))
        );
        let after: String = (0..n).map(|at| format!("\nwhen I{at}")).collect();
        module(
            &inputs,
            &format!(
                "{}loop emit O; pause end loop{after}",
                "suspend\n".repeat(n)
            ),
        )
    }),
    ("Esterel: signals declared inside each other", |n| {
        let before: String = (0..n)
            .map(|at| format!("signal S{at} in\nemit S{at};\n"))
            .collect();
        module(
            "output O;",
            &format!("{before}pause{}", "\nend signal".repeat(n)),
        )
    }),
    ("Esterel: values of one signal", |n| {
        module(
            "output O : combine integer with +;",
            &joined(n, "\n||\n", |at| format!("await I; emit O({at})")),
        )
    }),
    ("Esterel: branches that sustain", |n| {
        module(
            &outputs(n),
            &joined(n, "\n||\n", |at| format!("sustain O{at}")),
        )
    }),
    ("Esterel: weak aborts inside each other", |n| {
        aborts("weak abort", n)
    }),
    ("Esterel: tests of a variable inside each other", |n| {
        let before: String = (0..n).map(|at| format!("if V > {at} then\n")).collect();
        let tests = format!("{before}nothing{}", "\nelse V := V * 3 end if".repeat(n));
        module(
            "output O(integer);",
            &format!(
                "var V := 1 : integer in\nloop\n{tests};\nemit O(V);\npause\nend loop\nend var"
            ),
        )
    }),
    ("Esterel: functions and constants", |n| {
        let all = lines(n, |at| {
            format!("constant C{at} : integer;\nfunction F{at}(integer) : integer;")
        });
        module(
            &format!("{all}output O(integer);"),
            &format!("emit O({})", joined(n, " + ", |at| format!("F{at}(C{at})"))),
        )
    }),
    ("Esterel: comments", |n| {
        lines(n, |at| format!("% line {at}")) + &module("output O;", "await I; emit O")
    }),
    ("Esterel: parallel branches that count", |n| {
        module(
            &format!(
                "output {};",
                joined(n, ", ", |at| format!("O{at}(integer)"))
            ),
            &joined(n, "\n||\n", |at| {
                format!(
                    "var V := 0 : integer in every I do V := V + 1; emit O{at}(V) end every end var"
                )
            }),
        )
    }),
];

/// A module with so many aborts of a kind inside each other, each with an input of its own.
fn aborts(kind: &str, n: usize) -> String {
    let inputs = format!(
        "input {};\noutput O;",
        joined(n, ", ", |at| format!("I{at}"))
    );
    let after = joined(n, "", |at| format!("\nwhen I{at} do emit O end {kind}"));
    let before = format!("{kind}\n").repeat(n);
    module(&inputs, &format!("{before}halt{after}"))
}

/// A module of Esterel.
fn module(interface: &str, body: &str) -> String {
    format!("module M:\ninput I, R;\n{interface}\n{body}\nend module\n")
}

/// Outputs.
fn outputs(count: usize) -> String {
    format!("output {};", joined(count, ", ", |at| format!("O{at}")))
}

/// Tests of as many inputs, each with this statement in its `else`.
fn tests_of_inputs(count: usize, otherwise: &str) -> String {
    module(
        &format!(
            "input {};\n{}",
            joined(count, ", ", |at| format!("I{at}")),
            outputs(count)
        ),
        &format!(
            "loop\n{};\npause\nend loop",
            joined(count, ";\n", |at| {
                format!("present I{at} then emit O{at} else {otherwise} end present")
            })
        ),
    )
}
