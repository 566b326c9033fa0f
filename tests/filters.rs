//! Filters at all lengths: what becomes of the last bytes, where they are no whole word, is the
//! same in the interpreters and in the C, and what is sent through a filter and comes back through
//! its inverse is as it was.
//!
//! In: layers with a filter each way. Out: frames and messages, compared with those made here.

#[path = "c_agrees/compiled.rs"]
mod compiled;
#[path = "c_agrees/externs.rs"]
mod externs;
#[path = "c_agrees/glue.rs"]
mod glue;
#[path = "c_agrees/run.rs"]
mod run;

use compiled::Compiled;
use run::interpreted;
use stackloom::diagnostic::render;
use stackloom::pipeline::{self, Compiled as Built};
use stackloom::simulate::reference::Reference;
use stackloom::simulate::state::Emitted;
use stackloom::simulate::trace::{Call, Step, Trace};
use stackloom::simulate::trees::Trees;
use stackloom::tool::case::played::limits;
use stackloom::tool::case::run::{Run, difference};
use stackloom::types::program::{LinkId, PortId};
use std::collections::BTreeMap;
use std::fmt::Write;

const WAYS: [(&str, &str); 2] = [("gcc", "-O2"), ("clang-16", "-O0")];

const LENGTHS: std::ops::RangeInclusive<usize> = 0..=70;

/// A layer that sends through a filter, and what comes through its inverse.
struct Layer {
    name: &'static str,
    /// Both filters: their words, and what they do with each.
    filters: [&'static str; 2],
    /// Bytes of a word that has to be whole; 1 where none has.
    whole: usize,
    /// What goes out for what is sent.
    sent: fn(&[u8]) -> Vec<u8>,
}

const LAYERS: [Layer; 6] = [
    Layer {
        name: "masked",
        filters: [
            "rewrites u64 little { each word { yield word ^ 0x0102_0304_0506_0708 } }",
            "rewrites u64 little { each word { yield word ^ 0x0102_0304_0506_0708 } }",
        ],
        whole: 1,
        sent: |data| {
            let key = [8, 7, 6, 5, 4, 3, 2, 1];
            let keys = key.iter().cycle();
            data.iter().zip(keys).map(|(one, key)| one ^ key).collect()
        },
    },
    Layer {
        name: "nibbles",
        filters: [
            "rewrites u16 big { each word { yield word << 4 & 0xf0f0 | (word >> 4 & 0x0f0f) } }",
            "rewrites u16 big { each word { yield word << 4 & 0xf0f0 | (word >> 4 & 0x0f0f) } }",
        ],
        whole: 1,
        sent: |data| data.iter().map(|one| one.rotate_left(4)).collect(),
    },
    Layer {
        name: "swapped",
        filters: [
            "rewrites u32 little whole { each word { yield word << 24 | (word << 8 & 0xff_0000) | \
             (word >> 8 & 0xff00) | word >> 24 } }",
            "rewrites u32 big whole { each word { yield word << 24 | (word << 8 & 0xff_0000) | \
             (word >> 8 & 0xff00) | word >> 24 } }",
        ],
        whole: 4,
        sent: |data| {
            let words = data.chunks(4);
            words.flat_map(|word| word.iter().rev().copied()).collect()
        },
    },
    Layer {
        name: "turned",
        filters: [
            "rewrites u32 big {\n each word { yield word << 7 | word >> 25 }\n \
             tail { yield ~word }\n }",
            "rewrites u32 big {\n each word { yield word >> 7 | word << 25 }\n \
             tail { yield ~word }\n }",
        ],
        whole: 1,
        sent: |data| {
            let words = data.chunks(4);
            let turned = words.flat_map(|word| match <[u8; 4]>::try_from(word) {
                Ok(word) => u32::from_be_bytes(word)
                    .rotate_left(7)
                    .to_be_bytes()
                    .to_vec(),
                Err(_) => word.iter().map(|one| !one).collect(),
            });
            turned.collect()
        },
    },
    Layer {
        name: "added",
        filters: [
            "rewrites u64 little whole { each word { yield word + 1 } }",
            "rewrites u64 little whole { each word { yield word - 1 } }",
        ],
        whole: 8,
        sent: |data| {
            let words = data.chunks(8).map(|word| word.try_into().expect("whole"));
            let more = words.map(|word| u64::from_le_bytes(word).wrapping_add(1));
            more.flat_map(u64::to_le_bytes).collect()
        },
    },
    Layer {
        name: "doubled",
        filters: [
            "rewrites u16 big whole {\n each word {\n yield word\n yield word << 1\n }\n }",
            "rewrites u16 big whole {\n skip: bool = true\n each word {\n skip = not skip\n \
             if not skip { yield word }\n }\n }",
        ],
        whole: 2,
        sent: |data| {
            let words = data.chunks(2).map(|word| word.try_into().expect("whole"));
            let words = words.map(u16::from_be_bytes);
            let words = words.flat_map(|word| [word, word << 1]);
            words.flat_map(u16::to_be_bytes).collect()
        },
    },
];

impl Layer {
    fn text(&self) -> String {
        let name = self.name;
        let [out, back] = self.filters;
        let otherwise = if self.whole > 1 {
            " else drop message as odd"
        } else {
            ""
        };
        format!(
            "worker {name}\n\nfilter out() {out}\n\nfilter back() {back}\n\n\
             on deliver(message) {{\n    \
             message.data = message.data through back(){otherwise}\n    deliver message\n}}\n\n\
             on send(message) {{\n    message.data = message.data through out(){otherwise}\n    \
             send message\n}}\n"
        )
    }
}

fn built() -> Built {
    let (mut library, mut stack) = (BTreeMap::new(), String::new());
    for layer in &LAYERS {
        let _ = writeln!(stack, "use {}", layer.name);
        library.insert(format!("{}.loom", layer.name), layer.text());
    }
    stack += "\nstack filters {\n";
    for (at, layer) in LAYERS.iter().enumerate() {
        let _ = writeln!(
            stack,
            "    link l{at} {{ {} {{ port p{at} }} }}",
            layer.name
        );
    }
    let files = vec![("filters.loom".to_string(), stack + "}\n")];
    let mut checked = pipeline::read(files, &library);
    let built = pipeline::compile(&mut checked, "filters", "filters");
    let told = || render(&checked.diagnostics, &checked.sources, false);
    built.unwrap_or_else(|| panic!("{}", told()))
}

/// All lengths by all layers, each sent and then received as it went out; and what is to be seen:
/// frames, then messages.
fn trace(built: &Built) -> (Trace, Vec<Vec<u8>>) {
    let (mut steps, mut wanted) = (Vec::new(), Vec::new());
    for (at, layer) in LAYERS.iter().enumerate() {
        for length in LENGTHS {
            let bytes: Vec<u8> = (0..length).map(|at| (37 * at + 200) as u8).collect();
            let is_whole = length % layer.whole == 0;
            let frame = if is_whole {
                (layer.sent)(&bytes)
            } else {
                bytes.clone()
            };
            let send = Call::Send {
                port: PortId(at as u32),
                session: 0,
                attributes: Vec::new(),
                bytes: bytes.clone(),
            };
            for call in [send, Call::Input(LinkId(at as u32), vec![frame.clone()])] {
                steps.push(Step {
                    now_ns: 0,
                    call,
                    takes: true,
                });
            }
            if is_whole {
                wanted.extend([frame, bytes]);
            }
        }
    }
    let trace = Trace {
        config: Vec::new(),
        limits: limits(&built.emitted),
        start_ns: 0,
        steps,
    };
    (trace, wanted)
}

fn seen(run: &Run) -> Vec<Vec<u8>> {
    let outputs = run.seen.iter().flat_map(|seen| &seen.outputs);
    let bytes = outputs.filter_map(|output| match output {
        Emitted::Frame { bytes, .. } | Emitted::Deliver { bytes, .. } => Some(bytes.to_vec()),
        _ => None,
    });
    bytes.collect()
}

#[test]
fn the_last_bytes_are_the_same_in_all_that_runs_a_stack() {
    let mut built = built();
    let (trace, wanted) = trace(&built);
    let program = &built.program;
    let reference = interpreted(Reference::new(program), program, &trace);
    assert_eq!(seen(&reference), wanted);
    let trees = interpreted(Trees::new(program, &built.forest), program, &trace);
    assert_eq!(difference(&reference, &trees), None);
    let compiled = Compiled::new("tests/filters", program, &built.emitted, &WAYS);
    let runs = |compiled: &Compiled<'_>, way: &str| {
        let (ran, said) = compiled.run(way, std::slice::from_ref(&trace));
        (difference(&reference, &ran[0]), said)
    };
    for way in compiled.ways() {
        let (differs, said) = runs(&compiled, way);
        assert_eq!(differs, None, "{way}: {said}");
    }
    // A tail that is done as each word is found, and whole words that are not asked for.
    for (right, wrong) in [
        ("~word", "(word << 7 | word >> 25)"),
        ("& 7) != 0", "& 7) == 9"),
    ] {
        let code = &mut built.emitted;
        assert!(code.c.contains(right), "{right} stands in the C");
        let planted = code.c.replace(right, wrong);
        let c = std::mem::replace(&mut code.c, planted);
        let faulty = Compiled::new("tests/filters faulty", program, code, &WAYS[1..]);
        for way in faulty.ways() {
            assert!(runs(&faulty, way).0.is_some(), "{wrong} is not found");
        }
        built.emitted.c = c;
    }
}
