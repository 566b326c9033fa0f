//! Filters at all lengths: what becomes of the last bytes, where they are no whole word, is the
//! same in the interpreters and in the C, and what is sent through a filter and comes back through
//! its inverse is as it was.
//!
//! In: layers with a filter each way, or with a hash in their header. Out: frames and messages,
//! compared with those made here.

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
use stackloom::tool::case::run::{Run, difference};
use stackloom::tool::layout::limits;
use stackloom::types::program::{LinkId, PortId};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::hash::Hasher;

const WAYS: [(&str, &str); 2] = [("gcc", "-O2"), ("clang-16", "-O0")];

const LENGTHS: std::ops::RangeInclusive<usize> = 0..=200;

/// The key of the vectors of SipHash: the bytes 0 to 15.
const KEYS: [u64; 2] = [0x0706_0504_0302_0100, 0x0f0e_0d0c_0b0a_0908];

/// What goes out for what is sent; none where that is refused.
type Sent = Box<dyn Fn(&[u8]) -> Option<Vec<u8>>>;

/// A layer that sends through a filter, and what comes through its inverse.
struct Layer {
    name: String,
    text: String,
    sent: Sent,
}

/// What becomes of an incomplete last word.
#[derive(Clone, Copy, PartialEq)]
enum End {
    /// The same as of a whole one: no byte moves.
    Same,
    /// It is refused, with all before it.
    Refused,
    /// Its bytes are turned over.
    Turned,
}

/// What is done with each word of so many bits, and its inverse, as written in Loom and here.
type Change = (&'static str, fn(u32) -> [String; 2], fn(u64, u32) -> u64);

/// The lowest bits.
fn low(bits: u32) -> u64 {
    u64::MAX >> (64 - bits)
}

fn rotated(word: u64, bits: u32, by: u32) -> u64 {
    (word << by | word >> (bits - by)) & low(bits)
}

fn rotations(bits: u32, by: u32) -> [String; 2] {
    let rest = bits - by;
    [(by, rest), (rest, by)].map(|(by, rest)| format!("word << {by} | word >> {rest}"))
}

/// A key, the bits that PES keeps, and those that it takes from the other half of a word.
const KEY: u64 = 0x0102_0304_0506_0708;
const KEPT: u64 = 0xf0f0_f0f0_f0f0_f0f0;
const TAKEN: u64 = 0x0f0f_0f0f_0f0f_0f0f;

fn encrypted(word: u64, bits: u32) -> u64 {
    let half = bits / 2;
    word & KEPT & low(bits) | (word >> half | word << half) & TAKEN & low(bits)
}

const CHANGES: [Change; 6] = [
    (
        "xor",
        |bits| [(); 2].map(|()| format!("word ^ {:#x}", KEY & low(bits))),
        |word, bits| word ^ KEY & low(bits),
    ),
    // Abbott 1993, figure 4.3: both halves of a word are one of a pair.
    (
        "pes",
        |bits| {
            let (half, kept, taken) = (bits / 2, KEPT & low(bits), TAKEN & low(bits));
            let both = format!("(word >> {half} | word << {half})");
            [(); 2].map(|()| format!("word & {kept:#x} | ({both} & {taken:#x})"))
        },
        encrypted,
    ),
    (
        "swapped",
        |bits| {
            let last = bits - 8;
            let byte = |at: u32| match at {
                0 => format!("word << {last}"),
                at if at == last => format!("word >> {last}"),
                at => format!("(word >> {at} & 0xff) << {}", last - at),
            };
            let bytes: Vec<String> = (0..bits).step_by(8).map(byte).collect();
            [(); 2].map(|()| bytes.join(" | "))
        },
        |word, bits| word.swap_bytes() >> (64 - bits),
    ),
    (
        "rotated_by_8",
        |bits| rotations(bits, 8),
        |word, bits| rotated(word, bits, 8),
    ),
    (
        "rotated_by_7",
        |bits| rotations(bits, 7),
        |word, bits| rotated(word, bits, 7),
    ),
    (
        "added",
        |_| ["word + 1", "word - 1"].map(String::from),
        |word, bits| word.wrapping_add(1) & low(bits),
    ),
];

/// The words that are changed: bits, whether the first byte is the highest, and what becomes of
/// the last one where bytes move.
const WORDS: [(u32, bool, End); 5] = [
    (8, true, End::Same),
    (16, true, End::Refused),
    (32, false, End::Turned),
    (64, true, End::Turned),
    (64, false, End::Refused),
];

fn number(bytes: &[u8], unit: usize, big: bool) -> u64 {
    let mut filled = [0; 8];
    filled[..bytes.len()].copy_from_slice(bytes);
    match big {
        true => u64::from_be_bytes(filled) >> (64 - 8 * unit),
        false => u64::from_le_bytes(filled),
    }
}

/// So many bytes of a word.
fn bytes_of(word: u64, unit: usize, big: bool, count: usize) -> Vec<u8> {
    match big {
        true => word.to_be_bytes()[8 - unit..][..count].to_vec(),
        false => word.to_le_bytes()[..count].to_vec(),
    }
}

/// Words through a function that is also given the place of each, and how many of its bytes are
/// missing.
fn by_word(
    data: &[u8],
    (unit, big): (usize, bool),
    change: impl Fn(u64, usize, usize) -> u64,
) -> Vec<u8> {
    let words = data.chunks(unit).enumerate();
    let changed = words.flat_map(|(place, word)| {
        let number = change(number(word, unit, big), place, unit - word.len());
        bytes_of(number, unit, big, word.len())
    });
    changed.collect()
}

fn order(big: bool) -> &'static str {
    if big { "big" } else { "little" }
}

/// A layer of two filters without parameters.
fn filtering(
    name: &str,
    [out, back]: [String; 2],
    may_fail: bool,
    sent: impl Fn(&[u8]) -> Option<Vec<u8>> + 'static,
) -> Layer {
    let otherwise = if may_fail {
        " else drop message as odd"
    } else {
        ""
    };
    Layer {
        name: name.to_string(),
        text: format!(
            "worker {name}\n\nfilter out() {out}\n\nfilter back() {back}\n\n\
             on deliver(message) {{\n    \
             message.data = message.data through back(){otherwise}\n    deliver message\n}}\n\n\
             on send(message) {{\n    message.data = message.data through out(){otherwise}\n    \
             send message\n}}\n"
        ),
        sent: Box::new(sent),
    }
}

fn changing((name, texts, change): &Change, (bits, big, end): (u32, bool, End)) -> Layer {
    let end = if *name == "xor" { End::Same } else { end };
    let (unit, order) = (bits as usize / 8, order(big));
    let filters = texts(bits).map(|text| {
        let whole = if end == End::Refused { " whole" } else { "" };
        let tail = match end {
            End::Turned => "\n    tail { yield ~word }",
            End::Same | End::Refused => "",
        };
        format!("rewrites u{bits} {order}{whole} {{\n    each word {{ yield {text} }}{tail}\n}}")
    });
    let (name, change) = (format!("{name}_u{bits}_{order}"), *change);
    filtering(&name, filters, end == End::Refused, move |data| {
        if end == End::Refused && !data.len().is_multiple_of(unit) {
            return None;
        }
        Some(by_word(data, (unit, big), |word, _, missing| {
            if end == End::Turned && missing > 0 {
                !word
            } else {
                change(word, bits)
            }
        }))
    })
}

/// Filters of two words for one, and of one for two; and those that read how much there is.
fn measuring() -> Vec<Layer> {
    let pairs = |data: &[u8], second: fn(u64) -> u64| {
        let words = data.chunks(2).map(|word| number(word, 2, true));
        let words = words.flat_map(|word| [word, second(word)]);
        words
            .flat_map(|word| bytes_of(word, 2, true, 2))
            .collect::<Vec<u8>>()
    };
    let doubled = [
        "rewrites u16 big whole {\n    each word {\n        yield word\n        \
         yield word << 1\n    }\n}",
        "rewrites u16 big whole {\n    each word {\n        \
         if place & 1 == 0 { yield word }\n    }\n}",
    ];
    let measured = "rewrites u32 big {\n    first: u32 = length\n\n    each word {\n        \
         yield word ^ place << 21 ^ length << 13 ^ first << 4 ^ missing\n    }\n}";
    let ended = [
        "rewrites u16 big whole {\n    each word { yield word }\n    \
         finish { yield (place * 256 + length) as u16 }\n}",
        "rewrites u16 big whole {\n    each word {\n        \
         if 2 * place + 2 < length { yield word }\n    }\n}",
    ];
    let told = "rewrites u64 little {\n    each word { yield word }\n    \
         tail { yield word ^ missing * 0x0101_0101_0101_0101 }\n}";
    let is_even = |data: &[u8]| data.len().is_multiple_of(2);
    vec![
        filtering("doubled", doubled.map(String::from), true, move |data| {
            is_even(data).then(|| pairs(data, |word| word << 1))
        }),
        filtering("measured", [(); 2].map(|()| measured.to_string()), false, {
            |data| {
                let length = data.len() as u64;
                Some(by_word(data, (4, true), |word, place, missing| {
                    word ^ (place as u64) << 21 ^ length << 13 ^ length << 4 ^ missing as u64
                }))
            }
        }),
        filtering("ended", ended.map(String::from), true, move |data| {
            let last = (data.len() / 2 * 256 + data.len()) as u16;
            is_even(data).then(|| [data, &last.to_be_bytes()].concat())
        }),
        filtering("told", [(); 2].map(|()| told.to_string()), false, {
            |data| {
                Some(by_word(data, (8, false), |word, _, missing| {
                    word ^ (missing as u64 * 0x0101_0101_0101_0101)
                }))
            }
        }),
    ]
}

/// SipHash-2-4, whose last word holds the length.
const SIPHASH: &str = "
filter siphash(first: u64, second: u64) reads u64 little {
    a: u64 = first ^ 0x736f_6d65_7073_6575
    b: u64 = second ^ 0x646f_7261_6e64_6f6d
    c: u64 = first ^ 0x6c79_6765_6e65_7261
    d: u64 = second ^ 0x7465_6462_7974_6573
    each word {
        let taken = if missing == 0 { word } else { word | (length as u64) << 56 }
        d ^= taken
        ROUNDS 2
        a ^= taken
    }
    finish {
        if length % 8 == 0 {
            let last = (length as u64) << 56
            d ^= last
            ROUNDS 2
            a ^= last
        }
        c ^= 0xff
        ROUNDS 4
    }
    result u64 { a ^ b ^ c ^ d }
}
";

const ROUND: &str = "
    a += b
    b = b << 13 | b >> 51
    b ^= a
    a = a << 32 | a >> 32
    c += d
    d = d << 16 | d >> 48
    d ^= c
    a += d
    d = d << 21 | d >> 43
    d ^= a
    c += b
    b = b << 17 | b >> 47
    b ^= c
    c = c << 32 | c >> 32
";

#[expect(
    deprecated,
    reason = "no other hash of Rust's library says which one it is"
)]
fn siphash(data: &[u8]) -> u64 {
    let mut hash = std::hash::SipHasher::new_with_keys(KEYS[0], KEYS[1]);
    hash.write(data);
    hash.finish()
}

/// A layer with a hash of these ranges in its header, and of its data among them.
fn hashing(name: &str, ranges: &str, hashed: fn(&[u8]) -> Vec<u8>) -> Layer {
    let rounds = |count: u32| format!("for round in 0..{count} {{{ROUND}}}");
    let filter = SIPHASH.replace("ROUNDS 2", &rounds(2));
    let filter = filter.replace("ROUNDS 4", &rounds(4));
    let [first, second] = KEYS;
    Layer {
        name: name.to_string(),
        text: format!(
            "worker {name}\n{filter}\nheader big {{\n    kind: u8 = 9\n    tag: u64 checks \
             {ranges} through siphash({first:#x}, {second:#x})\n}}\n\non deliver(message) {{\n    \
             deliver message\n}}\n\non send(message) {{\n    send message\n}}\n"
        ),
        sent: Box::new(move |data| {
            let tag = siphash(&hashed(data)).to_be_bytes();
            Some([&[9], &tag[..], data].concat())
        }),
    }
}

/// A layer that makes its data whole, and keeps in its header how many bytes it took for that.
fn padding() -> Layer {
    let filter = "rewrites u64 little whole {\n    each word { yield word + 1 }\n}";
    let back = filter.replace('+', "-");
    Layer {
        name: "padded".to_string(),
        text: format!(
            "worker padded\n\nheader big {{ more: u8 }}\n\nfilter out() {filter}\n\n\
             filter back() {back}\n\non deliver(message) {{\n    \
             let more = header.more as u32\n    \
             message.data = message.data through back() else drop message as odd\n    \
             require more <= message.length else drop message as short\n    \
             message.cut(message.length - more)\n    deliver message\n}}\n\n\
             on send(message) {{\n    let more = (0 - message.length) & 7\n    \
             message.pad(more) else drop message as too_long\n    \
             message.data = message.data through out()\n    \
             send message with {{ more = more as u8 }}\n}}\n"
        ),
        sent: Box::new(|data| {
            let more = data.len().next_multiple_of(8) - data.len();
            let padded = [data, &[0; 8][..more]].concat();
            let changed = by_word(&padded, (8, false), |word, _, _| word.wrapping_add(1));
            Some([&[more as u8], &changed[..]].concat())
        }),
    }
}

fn layers() -> Vec<Layer> {
    let moves_a_byte = |name: &str| ["xor", "rotated_by_7", "added"].contains(&name);
    let mut layers = Vec::new();
    for change in &CHANGES {
        let words = WORDS.into_iter();
        let words = words.filter(|(bits, ..)| *bits > 8 || moves_a_byte(change.0));
        layers.extend(words.map(|word| changing(change, word)));
    }
    layers.extend(measuring());
    layers.push(hashing("hashed", "data", <[u8]>::to_vec));
    layers.push(hashing("hashed_with_kind", "kind..kind, data", |data| {
        [&[9], data].concat()
    }));
    layers.push(padding());
    layers
}

fn built(layers: &[Layer]) -> Built {
    let (mut library, mut stack) = (BTreeMap::new(), String::new());
    for layer in layers {
        let _ = writeln!(stack, "use {}", layer.name);
        library.insert(format!("{}.loom", layer.name), layer.text.clone());
    }
    stack += "\nstack filters {\n";
    for (at, layer) in layers.iter().enumerate() {
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
fn trace(built: &Built, layers: &[Layer]) -> (Trace, Vec<Vec<u8>>) {
    let (mut steps, mut wanted) = (Vec::new(), Vec::new());
    for (at, layer) in layers.iter().enumerate() {
        for length in LENGTHS {
            let bytes: Vec<u8> = (0..length).map(|at| (37 * at + 200) as u8).collect();
            let frame = (layer.sent)(&bytes);
            let send = Call::Send {
                port: PortId(at as u32),
                session: 0,
                attributes: Vec::new(),
                bytes: bytes.clone(),
            };
            let arrives = frame.clone().unwrap_or_else(|| bytes.clone());
            for call in [send, Call::Input(LinkId(at as u32), vec![arrives])] {
                steps.push(Step {
                    now_ns: 0,
                    call,
                    takes: true,
                });
            }
            wanted.extend(frame.map(|frame| [frame, bytes]).into_iter().flatten());
        }
    }
    let trace = Trace {
        config: Vec::new(),
        limits: limits(&built.module),
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
    let layers = layers();
    let mut built = built(&layers);
    let (trace, wanted) = trace(&built, &layers);
    let program = &built.program;
    let reference = interpreted(Reference::new(program), program, &trace);
    assert_eq!(seen(&reference), wanted);
    let trees = interpreted(Trees::new(program, &built.forest), program, &trace);
    assert_eq!(difference(&reference, &trees), None);
    let compiled = Compiled::new(
        "tests/filters",
        program,
        (&built.module, &built.code),
        &WAYS,
    );
    let runs = |compiled: &Compiled<'_>, way: &str| {
        let (ran, said) = compiled.run(way, std::slice::from_ref(&trace));
        (difference(&reference, &ran[0]), said)
    };
    for way in compiled.ways() {
        let (differs, said) = runs(&compiled, way);
        assert_eq!(differs, None, "{way}: {said}");
    }
    // A tail that is done as each word is found, whole words that are not asked for, and what is
    // missing, there or passed, by one more or less; zeros that are none, and one too few.
    for (right, wrong) in [
        ("~word", "(word << 7 | word >> 25)"),
        ("& 7) != 0", "& 7) == 9"),
        ("missing = size - filled;", "missing = size - filled + 1;"),
        ("left.missing, sl_load", "left.missing + 1, sl_load"),
        ("place += 1;", "place += 2;"),
        ("message->length, 0, bytes", "message->length, 1, bytes"),
        ("message->length += bytes", "message->length += bytes - 1"),
    ] {
        let code = &mut built.code;
        assert!(code.c.contains(right), "{right} stands in the C");
        let planted = code.c.replace(right, wrong);
        let c = std::mem::replace(&mut code.c, planted);
        let faulty = Compiled::new(
            "tests/filters faulty",
            program,
            (&built.module, code),
            &WAYS[1..],
        );
        for way in faulty.ways() {
            assert!(runs(&faulty, way).0.is_some(), "{wrong} is not found");
        }
        built.code.c = c;
    }
}
