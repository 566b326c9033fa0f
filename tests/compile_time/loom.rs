//! Sources in Loom that grow by one number in one way each.
//!
//! In: how many. Out: a source, which has a kind of statement, value, declaration, layer, process
//! or mistake so many times.

use super::{Form, joined, lines, nested};

/// All of them.
pub fn forms() -> Vec<Form> {
    let all = [
        STATEMENTS,
        VALUES,
        DECLARATIONS,
        STACKS,
        PROCESSES,
        MISTAKES,
    ];
    all.concat()
}

const STACK: &str = "stack s { link wire { thing { port messages } } }\n";

/// A layer with items, fields of an entity, and statements before a message goes up.
fn layer(items: &str, fields: &str, body: &str) -> String {
    format!(
        "/// thing: counts\nworker thing\n\nheader big {{ a: u8 = 0 }}\n\nentity {{\nn: u64 = 0\n\
         {fields}}}\n\n{items}\non deliver(message) {{\n{body}deliver message\n}}\n\n\
         on send(message) {{ send message }}\n\n{STACK}"
    )
}

/// A layer with statements alone.
fn body(count: usize, line: impl Fn(usize) -> String) -> String {
    layer("", "", &lines(count, line))
}

/// A layer with items alone.
fn items(count: usize, line: impl Fn(usize) -> String) -> String {
    layer(&lines(count, line), "", "")
}

/// A layer with fields alone.
fn fields(count: usize, line: impl Fn(usize) -> String) -> String {
    layer("", &lines(count, line), "")
}

/// A layer whose session runs processes.
fn session(inside: &str, run: &str) -> String {
    format!(
        "/// thing: counts\nworker thing\n\nheader big {{ a: u8 = 0 }}\n\n\
         entity {{ n: u64 = 0 }}\n\n\
         session {{\n{inside}\n{run}\n}}\n\non deliver(message) {{ deliver message }}\n\n\
         on send(message) {{ send message }}\n\n{STACK}"
    )
}

const STATEMENTS: &[Form] = &[
    ("tests on one variable", |n| {
        body(n, |at| {
            format!(
                "if n & {} != 0 {{ n += {at} }} else {{ n -= 1 }}",
                1_u64 << (at % 60)
            )
        })
    }),
    ("tests on one variable, changed by a test before", |n| {
        body(n, |at| format!("if n > {at} {{ n = n * 3 }}"))
    }),
    ("requirements on one variable", |n| {
        body(n, |at| {
            format!(
                "require n & {} != {at} likely 99% else drop message as wrong",
                at + 1
            )
        })
    }),
    ("requirements on as many variables", |n| {
        layer(
            "",
            &lines(n, |at| format!("x{at}: u32 = 0")),
            &lines(n, |at| {
                format!("require x{at} != {at} likely 99% else drop message as wrong")
            }),
        )
    }),
    ("tests on as many variables", |n| {
        layer(
            "",
            &lines(n, |at| format!("x{at}: u32 = 0")),
            &lines(n, |at| {
                format!("if x{at} != 0 {{ x{at} += 1 }} else {{ x{at} -= 1 }}")
            }),
        )
    }),
    ("tests of which each reads what the one before wrote", |n| {
        layer(
            "",
            &lines(n + 1, |at| format!("x{at}: u32 = 0")),
            &lines(n, |at| format!("if x{at} != 0 {{ x{} += x{at} }}", at + 1)),
        )
    }),
    ("tests of a header", |n| {
        body(n, |at| format!("if header.a == {} {{ n += 1 }}", at % 256))
    }),
    ("tests inside each other", |n| {
        layer(
            "",
            "",
            &nested(
                n,
                "if n & 1 != 0 {\nn += 1\n",
                "n += 2\n",
                "} else { n -= 1 }\n",
            ),
        )
    }),
    ("tests inside each other, on both sides", |n| {
        fn tree(depth: usize) -> String {
            match depth {
                0 => "n += 1\n".to_string(),
                _ => {
                    let inner = tree(depth - 1);
                    format!(
                        "if n & {} != 0 {{\n{inner}}} else {{\n{inner}}}\n",
                        1 << depth
                    )
                }
            }
        }
        layer("", "", &tree(n.ilog2() as usize))
    }),
    ("else after each other", |n| {
        let chain = joined(n, " else ", |at| {
            format!("if n == {at} {{ n = {} }}", at + 3)
        });
        layer("", "", &format!("{chain}\n"))
    }),
    ("cases of a number", |n| {
        let cases = lines(n, |at| format!("case {at} {{ n += {at} }}"));
        layer(
            "",
            "",
            &format!("match n {{\n{cases}else {{ n = 0 }}\n}}\n"),
        )
    }),
    ("matches after each other", |n| {
        body(n, |_| {
            "match n {\ncase 0 { n = 5 }\ncase 1 { n = 7 }\nelse { n -= 1 }\n}".to_string()
        })
    }),
    ("assignments to one variable", |n| {
        body(n, |at| format!("n = n * 3 + {at}"))
    }),
    ("assignments of a variable to itself twice", |n| {
        body(n, |_| "n = n * n + n".to_string())
    }),
    ("values with names, each of two before", |n| {
        let all = lines(n, |at| format!("let x{} = x{at} + (x{at} ^ n)", at + 1));
        layer("", "", &format!("let x0 = n\n{all}n = x{n}\n"))
    }),
    ("values with names, chosen by the one before", |n| {
        let all = lines(n, |at| {
            format!(
                "let x{} = if x{at} > {at} {{ x{at} + 1 }} else {{ x{at} - n }}",
                at + 1
            )
        });
        layer("", "", &format!("let x0 = n\n{all}n = x{n}\n"))
    }),
    ("tests of values with names", |n| {
        body(n, |at| {
            format!("let x{at} = n + {at}\nif x{at} > 5 {{ n = x{at} * 2 }}")
        })
    }),
    ("loops after each other", |n| {
        body(n, |at| format!("for i{at} in 0..4 {{ n += {at} }}"))
    }),
    ("loops inside each other", |n| {
        let before: String = (0..n).map(|at| format!("for i{at} in 0..9 {{\n")).collect();
        let sum = format!(
            "fn sum() -> u64 {{\nlet sum = n\n{before}sum += 1\n{}return sum\n}}\n",
            "}\n".repeat(n)
        );
        layer(&sum, "", "n = sum()\n")
    }),
    ("counters", |n| body(n, |at| format!("count c{at}"))),
    ("reasons to drop", |n| {
        body(n, |at| {
            format!("require n != {at} else drop message as reason_{at}")
        })
    }),
    ("messages that are sent", |n| {
        body(n, |_| "send new message".to_string())
    }),
    ("messages that are sent where a test holds", |n| {
        body(n, |at| format!("if n == {at} {{ send new message }}"))
    }),
    ("parts of a message that are skipped", |n| {
        body(n, |_| {
            "message.skip(1) else drop message as short".to_string()
        })
    }),
    ("timers started", |n| {
        layer(
            "",
            &lines(n, |at| format!("timer t{at}")),
            &lines(n, |at| format!("start t{at} after {} ms", at + 1)),
        )
    }),
];

const VALUES: &[Form] = &[
    ("and", |n| {
        let all = joined(n, " and ", |at| format!("n != {at}"));
        layer("", "", &format!("if {all} {{ n += 1 }}\n"))
    }),
    ("or", |n| {
        let all = joined(n, " or ", |at| format!("n == {at}"));
        layer("", "", &format!("if {all} {{ n += 1 }}\n"))
    }),
    ("and, or in turn", |n| {
        let all = joined(n, " and ", |at| format!("(n == {at} or n & {at} != 1)"));
        layer("", "", &format!("if {all} {{ n += 1 }}\n"))
    }),
    ("or of as many variables, and once more", |n| {
        let all = joined(n, " or ", |at| format!("x{at} == n"));
        let fields = lines(n, |at| format!("x{at}: u64 = 0"));
        let body = format!("if {all} {{ n += 1 }}\nif {all} {{ n += 2 }}\n");
        layer("", &fields, &body)
    }),
    ("sums", |n| {
        let all = joined(n, " + ", |at| format!("n * {at}"));
        layer("", "", &format!("n = {all}\n"))
    }),
    ("rows of conditions with many parts", |n| {
        body(n, |at| {
            let all = joined(50, " or ", |one| format!("n == {}", at * 50 + one));
            format!("if {all} {{ n += 1 }}")
        })
    }),
    ("rows of long sums", |n| {
        body(n, |at| {
            let all = joined(50, " + ", |one| format!("n * {}", at + one));
            format!("n = {all}")
        })
    }),
    ("brackets", |n| {
        layer("", "", &format!("n = {}\n", nested(n, "(", "n", ")")))
    }),
    ("choices inside each other", |n| {
        let chosen = nested(n, "if n > 1 { n } else { ", "3", " }");
        layer("", "", &format!("n = {chosen}\n"))
    }),
    ("digits of a number", |n| {
        layer("", "", &format!("n = {}\n", "1".repeat(n)))
    }),
    ("letters of a name", |n| {
        let name = "x".repeat(n);
        layer("", &format!("{name}: u8 = 0\n"), &format!("{name} += 1\n"))
    }),
];

const DECLARATIONS: &[Form] = &[
    ("functions that call the one before", |n| {
        functions(n, |at| format!("f{at}(x) + 1"))
    }),
    ("functions that call the one before twice", |n| {
        functions(n, |at| format!("f{at}(x) + f{at}(x + 1)"))
    }),
    ("functions that give their parameter on twice", |n| {
        functions(n, |at| format!("f{at}(x * x)"))
    }),
    (
        "functions of a constant that call the one before twice",
        |n| {
            let all = lines(n, |at| {
                format!("fn f{}(x: u64) -> u64 = f{at}(x) + f{at}(x + 1)", at + 1)
            });
            layer(
                &format!("fn f0(x: u64) -> u64 = x\n{all}const c: u64 = f{n}(3)\n"),
                "",
                "n = c\n",
            )
        },
    ),
    ("conditions that call the one before twice", |n| {
        let all = lines(n, |at| {
            format!(
                "fn f{}() -> bool = f{at}() and n > {at} or f{at}() and n < {at}",
                at + 1
            )
        });
        layer(
            &format!("fn f0() -> bool = n > 3\n{all}"),
            "",
            &format!("if f{n}() {{ n += 1 }}\n"),
        )
    }),
    ("statements of a function", |n| {
        let all = lines(n, |at| format!("if x > {at} {{ x = x * 3 }}"));
        layer(
            &format!("fn f(y: u64) -> u64 {{\nlet x = y\n{all}return x\n}}\n"),
            "",
            "n = f(n)\n",
        )
    }),
    ("ways through a function that come together", |n| {
        let all = lines(n, |at| format!("if x > {at} {{ let y{at} = x }}"));
        layer(
            &format!("fn f(x: u64) -> u64 {{\n{all}return x\n}}\n"),
            "",
            "n = f(n)\n",
        )
    }),
    ("returns of a function", |n| {
        let all = lines(n, |at| format!("if x == {at} {{ return {} }}", at * 7));
        layer(
            &format!("fn f(x: u64) -> u64 {{\n{all}return x\n}}\n"),
            "",
            "n = f(n)\n",
        )
    }),
    ("functions that are called", |n| {
        let all = lines(n, |at| format!("fn f{at}(x: u64) -> u64 = x + {at}"));
        layer(&all, "", &lines(n.min(200), |at| format!("n = f{at}(n)")))
    }),
    ("constants, each of the one before twice", |n| {
        let all = lines(n, |at| format!("const c{}: u64 = c{at} + c{at}", at + 1));
        layer(
            &format!("const c0: u64 = 1\n{all}"),
            "",
            &format!("n = c{n}\n"),
        )
    }),
    ("constants, each of the one behind twice", |n| {
        let all = lines(n, |at| format!("const c{at}: u64 = c{0} + c{0}", at + 1));
        layer(&format!("{all}const c{n}: u64 = 1\n"), "", "n = c0\n")
    }),
    ("records, each of the one before twice", |n| {
        let all = lines(n, |at| {
            format!("record r{} {{ a: r{at}\nb: r{at} }}", at + 1)
        });
        layer(
            &format!("record r0 {{ a: u8 }}\n{all}"),
            &format!("r: r{n}?  = none\n"),
            "",
        )
    }),
    ("arrays of arrays", |n| {
        let kind = nested(n, "array<", "u8", ">[4000000000]");
        layer("", &format!("r: {kind}\n"), "")
    }),
    ("types", |n| {
        let all = lines(n, |at| format!("type t{} = t{at}", at + 1));
        layer(
            &format!("type t0 = u64\n{all}"),
            &format!("x: t{n} = 0\n"),
            "",
        )
    }),
    ("names of an enum", |n| {
        let names = lines(n, |at| format!("e{at} = {at}"));
        let cases = lines(n.min(200), |at| format!("case e{at} {{ n += {at} }}"));
        layer(
            &format!("enum kind: u32 {{\n{names}}}\n"),
            "kind: kind = e0\n",
            &format!("match kind {{\n{cases}else {{ n = 0 }}\n}}\n"),
        )
    }),
    ("fields", |n| fields(n, |at| format!("x{at}: u32 = {at}"))),
    ("fields with one name", |n| {
        fields(n, |_| "x: u32 = 0".to_string())
    }),
    ("timers and handlers", |n| {
        session(
            &lines(n, |at| {
                format!("timer t{at}\non t{at} {{ n += 1\nstart t{at} after 5 ms }}")
            }),
            "",
        )
    }),
    ("handlers of one event", |n| {
        items(n, |at| format!("on start {{ n += {at} }}"))
    }),
    ("handlers that start the next timer", |n| {
        session(
            &lines(n, |at| {
                format!(
                    "timer t{at}\non t{at} {{ start t{} after 5 ms }}",
                    (at + 1) % n
                )
            }),
            "on start { start t0 after 1 s }",
        )
    }),
    ("fields of a header", |n| {
        header(&lines(n, |at| {
            format!("x{at}: u{} = {}", [1, 7, 8, 16][at % 4], at % 2)
        }))
    }),
    ("required fields of a header", |n| {
        header(&lines(n, |at| format!("x{at}: u16 is {at}")))
    }),
    ("fields of a header with a condition", |n| {
        header(&lines(n, |at| {
            format!("x{at}: u16 = 0 where x{at} < {}", at + 1)
        }))
    }),
    ("parts of a header that may be absent", |n| {
        header(&format!(
            "flags: u8 = 0\n{}",
            lines(n, |at| format!(
                "x{at}: u16 = 0 if flags & {} != 0",
                1 << (at % 8)
            ))
        ))
    }),
    (
        "parts of a header, each there if the byte before says so",
        |n| {
            header(&lines(n, |at| {
                format!("f{at}: u8 = 0\nx{at}: u8 = 0 if f{at} != 0")
            }))
        },
    ),
    ("options of a header", |n| {
        let options = lines(n, |at| format!("case {at} o{at} {{ v{at}: u16 }}"));
        header(&format!(
            "length: u8 counts header in 4\noptions by u8 {{\n{options}}}\n"
        ))
    }),
    ("headers", |n| {
        items(n, |at| format!("header h{at} big {{ x: u16 = {at} }}"))
    }),
    ("children", |n| {
        items(n, |at| {
            format!("child c{at}(k: u32)[4] {{ x: u32 = 0\non start {{ x = {at} }} }}")
        })
    }),
    ("parameters", |n| {
        let parameters = joined(n, "\n", |at| format!("p{at}: u32 = {at}"));
        layer("", "", "n += p0\n")
            .replace("worker thing\n", &format!("worker thing({parameters})\n"))
    }),
    ("attributes", |n| {
        items(n, |at| format!("attribute a{at}: u32 = {at}"))
    }),
    ("external functions", |n| {
        items(n, |at| format!("extern fn f{at}(x: u32) -> u32"))
    }),
    ("filters", |n| {
        items(n, |at| {
            format!(
                "filter f{at}() reads u16 big {{\nsum: u32 = 0\n\neach word {{ sum += word }}\n\
             result u16 {{ sum as u16 }}\n}}"
            )
        })
    }),
    ("statements of a filter", |n| {
        let all = lines(n, |at| format!("if sum > {at} {{ sum = sum * 3 + word }}"));
        layer(
            &format!(
                "filter f() reads u16 big {{\nsum: u32 = 0\n\neach word {{\n{all}}}\n\
             result u16 {{ sum as u16 }}\n}}"
            ),
            "",
            "n += message.data through f()\n",
        )
    }),
    ("queues", |n| {
        fields(n, |at| format!("q{at}: queue<message>[4]"))
    }),
    ("lines of documentation", |n| {
        lines(n, |at| format!("/// line {at}")) + &layer("", "", "")
    }),
    ("comments", |n| {
        lines(n, |at| format!("// line {at}")) + &layer("", "", "")
    }),
    ("comments behind statements", |n| {
        body(n, |at| format!("n += 1 // {at}"))
    }),
    ("letters of a comment", |n| {
        format!("// {}\n{}", "x ".repeat(n / 2), layer("", "", ""))
    }),
    ("empty lines", |n| "\n".repeat(n) + &layer("", "", "")),
];

/// A layer with a header.
fn header(fields: &str) -> String {
    layer("", "", "").replace("{ a: u8 = 0 }", &format!("{{\n{fields}}}"))
}

/// A layer that passes all on.
const PASS: &str = "worker pass\non deliver(message) { deliver message }\n\
                    on send(message) { send message }\n";

/// A layer that counts and asks.
const ASKS: &str = "worker asks\nheader big { number: u32 }\nsession { next: u32 = 0 }\n\
                    on deliver(message) {\n\
                    require header.number == next likely 99% else drop message as wrong\n\
                    next += 1\ndeliver message\n}\n\
                    on send(message) {\nsend message with { number = next }\nnext += 1\n}\n";

/// A layer with as many sessions as there are keys.
const KEYED: &str = "multiplexor keyed\nheader big { key: u16 = number }\n\
                     session(number: u16)[16]\n\
                     on deliver find session(header.key) else drop message as unknown\n\
                     on deliver(message) { deliver message }\non send(message) { send message }\n";

const STACKS: &[Form] = &[
    ("layers that pass", |n| {
        format!(
            "{PASS}\nstack s {{ link wire {} }}\n",
            nested(n, "{ pass ", "{ port messages }", " }")
        )
    }),
    ("layers that ask", |n| {
        format!(
            "{ASKS}\nstack s {{ link wire {} }}\n",
            nested(n, "{ asks ", "{ port messages }", " }")
        )
    }),
    ("layers with keys", |n| {
        format!(
            "{KEYED}\nstack s {{ link wire {} }}\n",
            nested(n, "{ keyed ", "{ port messages }", " }")
        )
    }),
    ("links", |n| {
        format!(
            "{ASKS}\nstack s {{\n{}}}\n",
            lines(n, |at| format!("link w{at} {{ asks {{ port p{at} }} }}"))
        )
    }),
    ("stacks", |n| {
        format!(
            "{ASKS}\n{}",
            lines(n, |at| format!(
                "stack s{at} {{ link wire {{ asks {{ port messages }} }} }}"
            ))
        )
    }),
    ("workers", |n| {
        let layers = lines(n, |at| {
            ASKS.replace("worker asks", &format!("worker asks{at}"))
        });
        let used = joined(n, " ", |at| format!("{{ asks{at}"));
        format!(
            "{layers}\nstack s {{ link wire {used} {{ port messages }}{} }}\n",
            " }".repeat(n)
        )
    }),
    ("ports of UDP", |n| {
        let keys = lines(n, |at| {
            format!(
                "key {} whole {{ udp(errors = icmp) {{ port p{at} }} }}",
                20 + at
            )
        });
        format!(
            "use link.ethernet\nuse network.arp\nuse network.ipv4\nuse network.whole\n\
            use network.icmp\nuse transport.udp\n\nstack s {{ link tap {{\n\
            ethernet(address = config.mac) {{\n\
            key 0x0806 arp(address = config.address, mac = config.mac)\n\
            key 0x0800 ipv4(address = config.address, prefix = 24, gateway = config.gateway, \
            resolver = arp, errors = icmp) {{\nkey 1 whole as echoes {{ icmp }}\n{keys}}}\n\
             }} }} }}\n"
        )
    }),
    ("settings of a stack", |n| {
        let settings = joined(n, "\n", |at| format!("p{at} = config.c{at}"));
        let parameters = joined(n, "\n", |at| format!("p{at}: u32"));
        format!(
            "worker thing({parameters})\non deliver(message) {{ deliver message }}\n\
                 on send(message) {{ send message }}\n\
                 stack s {{ link wire {{ thing({settings}) {{ port messages }} }} }}\n"
        )
    }),
    ("uses of what is not there", |n| {
        lines(n, |at| format!("use a.b{at}")) + &layer("", "", "")
    }),
];

const PROCESSES: &[Form] = &[
    ("processes that wait, side by side", |n| {
        let all = lines(n, |at| {
            format!(
                "process p{at} {{\nx: u32 = 0\non deliver {{ x += 1 }}\n\
                 loop {{ await deliver if x > {at}\nx = 0 }}\n}}"
            )
        });
        session(
            &all,
            &format!("run {}", joined(n, " and ", |at| format!("p{at}"))),
        )
    }),
    ("processes that count, side by side", |n| {
        let all = lines(n, |at| {
            format!("process p{at} {{\nx: u32 = 0\nloop {{ await deliver\nx += {at} }}\n}}")
        });
        session(
            &all,
            &format!("run {}", joined(n, " and ", |at| format!("p{at}"))),
        )
    }),
    ("processes that have as many states", |n| {
        let all = lines(4, |at| {
            format!(
                "process p{at} {{\nx: u32 = 0\nloop {{\n{}}}\n}}",
                lines(n / 4 + at, |_| "await deliver\nx += 1".to_string())
            )
        });
        session(&all, "run p0 and p1 and p2 and p3")
    }),
    ("waits after each other", |n| {
        session(
            &format!(
                "process p {{\nx: u32 = 0\n{}}}",
                lines(n, |_| "await deliver\nx += 1".to_string())
            ),
            "run p",
        )
    }),
    ("signals of which each follows from the one before", |n| {
        let all = lines(n, |at| {
            format!(
                "process p{at} {{\nsignal s{at}\nloop {{ await {}\nemit s{at} }}\n}}",
                if at == 0 {
                    "deliver".to_string()
                } else {
                    format!("p{}.s{}", at - 1, at - 1)
                }
            )
        });
        session(
            &all,
            &format!("run {}", joined(n, " and ", |at| format!("p{at}"))),
        )
    }),
    ("tests of a process", |n| {
        let all = lines(n, |at| format!("if x > {at} {{ x = x * 3 }}"));
        session(
            &format!("process p {{\nx: u32 = 0\non deliver {{\n{all}}}\n}}"),
            "run p",
        )
    }),
    ("tests of a process that emit", |n| {
        let all = lines(n, |at| format!("if x > {at} {{ emit s{at} }}"));
        let signals = lines(n, |at| format!("signal s{at}"));
        let hears = lines(n, |at| format!("on p.s{at} {{ y += 1 }}"));
        session(
            &format!(
                "process p {{\nx: u32 = 0\n{signals}on deliver {{\n{all}}}\n}}\n\
             process q {{\ny: u32 = 0\n{hears}}}"
            ),
            "run p and q",
        )
    }),
    ("emissions of one signal", |n| {
        let all = lines(n, |at| format!("if x > {at} {{ emit s(x) }}"));
        session(
            &format!("process p {{\nx: u32 = 0\nsignal s: u32\non deliver {{\n{all}}}\n}}"),
            "run p",
        )
    }),
    ("traps inside each other", |n| {
        let before: String = (0..n)
            .map(|at| format!("trap t{at} {{\nif x > {at} {{ exit t{at} }}\n"))
            .collect();
        session(
            &format!(
                "process p {{\nx: u32 = 0\nloop {{ await deliver\n{before}x += 1\n{}}}\n}}",
                "}\n".repeat(n)
            ),
            "run p",
        )
    }),
    ("blocks side by side", |n| {
        let all = joined(n, " and ", |_| "{ await deliver }".to_string());
        session(&format!("process p {{\nrun {all}\n}}"), "run p")
    }),
    ("cases of a wait", |n| {
        let timers = lines(n, |at| format!("timer t{at}"));
        let cases = lines(n, |at| format!("case t{at} {{ x += {at} }}"));
        session(
            &format!("process p {{\nx: u32 = 0\n{timers}loop {{ await {{\n{cases}}} }}\n}}"),
            "run p",
        )
    }),
    ("times that a statement is repeated", |n| {
        session(
            &format!("process p {{\nx: u32 = 0\nrepeat {n} {{ await deliver\nx += 1 }}\n}}"),
            "run p",
        )
    }),
];

const MISTAKES: &[Form] = &[
    ("names that nobody knows", |n| {
        body(n, |at| format!("n = unknown_{at}"))
    }),
    ("names that nobody knows, beside as many that are", |n| {
        layer(
            "",
            &lines(n, |at| format!("field_{at}: u32 = 0")),
            &lines(n.min(400), |at| format!("feld_{at} = 1")),
        )
    }),
    ("long names that nobody knows", |n| {
        layer(
            "",
            &format!("{}: u8 = 0\n", "x".repeat(n)),
            &format!("{}y += 1\n", "x".repeat(n)),
        )
    }),
    ("wrong items", |n| {
        items(n, |at| format!("functoin f{at}() = 3"))
    }),
    ("open brackets", |n| "{".repeat(n)),
    ("closed brackets", |n| ")".repeat(n)),
    ("brackets of all kinds", |n| "([{".repeat(n / 3)),
    ("open blocks at the margin", |n| {
        lines(n, |at| format!("fn f{at}() -> u8 {{"))
    }),
    ("operators", |n| {
        layer("", "", &format!("n = {}\n", "-".repeat(n)))
    }),
    ("strange letters", |n| "§".repeat(n / 2)),
    ("words", |n| "on ".repeat(n / 3)),
    ("numbers", |n| "7 ".repeat(n / 2)),
    ("fields of unknown types", |n| {
        fields(n, |at| format!("x{at}: unknown{at} = 0"))
    }),
    ("functions that call each other in a ring", |n| {
        items(n, |at| format!("fn f{at}() -> u64 = f{}()", (at + 1) % n))
    }),
    ("constants in a ring", |n| {
        items(n, |at| format!("const c{at}: u64 = c{}", (at + 1) % n))
    }),
    ("signals in a ring", |n| {
        let all = lines(n, |at| {
            format!(
                "process p{at} {{\nsignal s{at}\nloop {{ await deliver\n\
                 if present p{}.s{} {{ emit s{at} }} }}\n}}",
                (at + 1) % n,
                (at + 1) % n
            )
        });
        session(
            &all,
            &format!("run {}", joined(n, " and ", |at| format!("p{at}"))),
        )
    }),
    ("lines that end nowhere", |n| {
        body(n, |_| "n = (".to_string())
    }),
    ("wrong likelihoods", |n| {
        body(n, |_| "if n > 1 likely 200% { n = 1 }".to_string())
    }),
    ("messages forgotten where a test holds", |n| {
        body(n, |at| format!("if n == {at} {{ deliver message }}"))
    }),
];

/// Functions of which each has a body that calls the one before, and a call of the last.
fn functions(count: usize, body: impl Fn(usize) -> String) -> String {
    let all = lines(count, |at| {
        format!("fn f{}(x: u64) -> u64 = {}", at + 1, body(at))
    });
    layer(
        &format!("fn f0(x: u64) -> u64 = x\n{all}"),
        "",
        &format!("n = f{count}(n)\n"),
    )
}
