//! Fields of headers at all places: each width at each bit of a byte, in both byte orders, with a
//! sign and without, is read and written by the interpreters and by the C as this file says it
//! stands on the wire. So are headers without a byte in which a field ends, parts behind others of
//! no fixed length, options, and sums that share their bytes.
//!
//! In: layers that keep what each field holds, and send one more. Out: frames, compared with those
//! that are made here bit by bit.

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

const WAYS: [(&str, &str); 2] = [("gcc", "-O0"), ("clang-16", "-O2")];

/// Frames that come to a layer, each of which it answers by one of its own.
const FRAMES: usize = 3;

/// A field, where it follows the one before.
struct Field {
    width: u32,
    is_signed: bool,
    /// What it always holds when it is written; none if that is one more than what came.
    constant: Option<u64>,
}

/// A layer: its fields stand behind what its header begins with, and before what it ends with.
struct Layer {
    big: bool,
    before: Shape,
    fields: Vec<Field>,
}

/// What stands around the fields of a header.
#[derive(Clone, Copy, PartialEq)]
enum Shape {
    /// Nothing.
    Alone,
    /// Three bytes of no fixed length before them.
    Behind,
    /// They are an option.
    Option,
}

/// A generator of numbers, which gives the same ones each time: an xorshift by G. Marsaglia.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, limit: u64) -> u64 {
        (self.next() >> 11) % limit
    }
}

fn mask(width: u32) -> u64 {
    u64::MAX >> (64 - width)
}

impl Layer {
    /// All widths at this bit of a byte, with something else before and behind.
    fn at(offset: u32, big: bool, is_signed: bool) -> Layer {
        let mut fields = Vec::new();
        for width in 1 + 7 * u32::from(is_signed)..=64 {
            let pad = |width, value| Field {
                width,
                is_signed: false,
                constant: Some(value & mask(width)),
            };
            if offset > 0 {
                fields.push(pad(offset, 0x55));
            }
            fields.push(Field {
                width,
                is_signed,
                constant: None,
            });
            let rest = 8 - (offset + width) % 8;
            if rest < 8 {
                fields.push(pad(rest, 0xa6));
            }
        }
        Layer {
            big,
            before: Shape::Alone,
            fields,
        }
    }

    /// Fields of any width, one behind the other.
    fn dense(big: bool, before: Shape, random: &mut Random) -> Layer {
        let (mut fields, mut bits) = (Vec::new(), 0);
        while bits < 600 {
            let width = 1 + random.below(64) as u32;
            let is_signed = width > 7 && random.below(10) < 3;
            bits += width;
            let constant = random.below(10) < 2 && !is_signed;
            fields.push(Field {
                width,
                is_signed,
                constant: constant.then(|| (random.below(1 << 31) * 0x1_0001) & mask(width)),
            });
        }
        if bits % 8 != 0 {
            fields.push(Field {
                width: 8 - bits % 8,
                is_signed: false,
                constant: None,
            });
        }
        Layer {
            big,
            before,
            fields,
        }
    }

    /// Its text, as a layer of this name.
    fn text(&self, name: &str) -> String {
        let order = if self.big { "big" } else { "little" };
        let (mut header, mut kept, mut reads, mut writes) =
            (String::new(), String::new(), String::new(), String::new());
        let indent = if self.before == Shape::Option {
            "        "
        } else {
            "    "
        };
        let of = if self.before == Shape::Option {
            "wide."
        } else {
            ""
        };
        for (at, field) in self.fields.iter().enumerate() {
            let kind = format!("{}{}", if field.is_signed { 'i' } else { 'u' }, field.width);
            match field.constant {
                Some(value) => _ = writeln!(header, "{indent}    f{at}: {kind} = {value}"),
                None => {
                    let _ = writeln!(header, "{indent}    f{at}: {kind}");
                    let _ = writeln!(kept, "    k{at}: {kind} = 0");
                    let _ = writeln!(reads, "    k{at} = header.{of}f{at} + 1");
                    let _ = writeln!(writes, "        f{at} = k{at}");
                }
            }
        }
        let header = match self.before {
            Shape::Alone => header,
            Shape::Behind => {
                format!("    n: u8 counts token\n    token: bytes\n{header}")
            }
            Shape::Option => format!(
                "    n: u16 counts header\n    options by u8 {{\n        \
                 case 3 wide {{\n            length: u8 counts option\n{header}        }}\n    }}\n"
            ),
        };
        let is_option = self.before == Shape::Option;
        let (reads, writes) = match is_option {
            true => (
                format!(
                    "    if present header.wide {{\n{reads}        deliver message\n    \
                     }} else {{\n        drop message as nothing\n    }}\n"
                ),
                format!("        wide = {{\n{writes}        }}\n"),
            ),
            false => (format!("{reads}    deliver message\n"), writes),
        };
        format!(
            "worker {name}\n\nheader {order} {{\n{header}}}\n\nsession {{\n{kept}}}\n\n\
             on deliver(message) {{\n{reads}}}\n\n\
             on send(message) {{\n    send message with {{\n{writes}    }}\n}}\n"
        )
    }

    /// The bytes before its fields: in what comes, and in what it sends.
    fn begins(&self, comes: bool) -> Vec<u8> {
        let bits: u32 = self.fields.iter().map(|field| field.width).sum();
        let length = bits / 8 + 4;
        let [low, high] = (length as u16).to_le_bytes();
        match (self.before, comes) {
            (Shape::Alone, _) => Vec::new(),
            (Shape::Behind, true) => vec![3, 0x71, 0x72, 0x73],
            (Shape::Behind, false) => vec![0],
            (Shape::Option, _) if self.big => vec![high, low, 3, (bits / 8 + 2) as u8],
            (Shape::Option, _) => vec![low, high, 3, (bits / 8 + 2) as u8],
        }
    }

    /// A frame in which the fields hold these values.
    fn frame(&self, values: &[u64], comes: bool) -> Vec<u8> {
        let bits: u32 = self.fields.iter().map(|field| field.width).sum();
        let mut bytes = vec![0_u8; bits as usize / 8];
        let mut first = 0;
        for (field, value) in self.fields.iter().zip(values) {
            for place in 0..field.width {
                // In a big header the most significant bit comes first, in a little one last.
                let (at, within) = match self.big {
                    true => {
                        let bit = first + field.width - 1 - place;
                        (bit / 8, 7 - bit % 8)
                    }
                    false => ((first + place) / 8, (first + place) % 8),
                };
                bytes[at as usize] |= ((value >> place & 1) as u8) << within;
            }
            first += field.width;
        }
        let data = *b"data";
        [&self.begins(comes)[..], &bytes, &data].concat()
    }

    /// What comes, and what is to go out for it.
    fn frames(&self, random: &mut Random) -> (Vec<u8>, Vec<u8>) {
        let any = |random: &mut Random, width| match random.below(8) {
            0 => mask(width),
            1 => 0,
            _ => random.next() & mask(width),
        };
        let values: Vec<u64> = self
            .fields
            .iter()
            .map(|field| any(random, field.width))
            .collect();
        let sent = self.fields.iter().zip(&values).map(|(field, value)| {
            let more = value.wrapping_add(1) & mask(field.width);
            field.constant.unwrap_or(more)
        });
        let sent: Vec<u64> = sent.collect();
        (self.frame(&values, true), self.frame(&sent, false))
    }
}

fn layers() -> Vec<Layer> {
    let mut all = Vec::new();
    let mut random = Random(11);
    for big in [true, false] {
        for offset in 0..8 {
            all.extend([false, true].map(|is_signed| Layer::at(offset, big, is_signed)));
        }
        for before in [Shape::Alone, Shape::Behind, Shape::Option] {
            all.extend([(); 2].map(|()| Layer::dense(big, before, &mut random)));
        }
    }
    all
}

/// A stack in which each layer has a link and a port of its own.
fn built(layers: &[Layer]) -> Built {
    let mut library = BTreeMap::new();
    let mut stack = String::new();
    for (at, layer) in layers.iter().enumerate() {
        let name = format!("layer{at}");
        let _ = writeln!(stack, "use {name}");
        library.insert(format!("{name}.loom"), layer.text(&name));
    }
    stack += "\nstack fields {\n";
    for at in 0..layers.len() {
        let _ = writeln!(stack, "    link l{at} {{ layer{at} {{ port p{at} }} }}");
    }
    let files = vec![("fields.loom".to_string(), stack + "}\n")];
    let mut checked = pipeline::read(files, &library);
    let built = pipeline::compile(&mut checked, "fields", "fields");
    let told = || render(&checked.diagnostics, &checked.sources, false);
    built.unwrap_or_else(|| panic!("{}", told()))
}

fn sent(run: &Run) -> Vec<&[u8]> {
    let outputs = run.seen.iter().flat_map(|seen| &seen.outputs);
    let frames = outputs.filter_map(|output| match output {
        Emitted::Frame { bytes, .. } => Some(&bytes[..]),
        _ => None,
    });
    frames.collect()
}

/// A trace, and the frames that are to go out in it.
fn trace(built: &Built, layers: &[Layer]) -> (Trace, Vec<Vec<u8>>) {
    let mut random = Random(3);
    let (mut steps, mut wanted) = (Vec::new(), Vec::new());
    for (at, layer) in layers.iter().enumerate() {
        for _ in 0..FRAMES {
            let (comes, goes) = layer.frames(&mut random);
            let send = Call::Send {
                port: PortId(at as u32),
                session: 0,
                attributes: Vec::new(),
                bytes: b"data".to_vec(),
            };
            for call in [Call::Input(LinkId(at as u32), vec![comes]), send] {
                steps.push(Step {
                    now_ns: 0,
                    call,
                    takes: true,
                });
            }
            wanted.push(goes);
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

#[test]
fn fields_at_all_places_are_read_and_written() {
    let layers = layers();
    let built = built(&layers);
    let (trace, wanted) = trace(&built, &layers);
    let program = &built.program;
    let reference = interpreted(Reference::new(program), program, &trace);
    for (at, (sent, wanted)) in sent(&reference).iter().zip(&wanted).enumerate() {
        let layer = layers[at / FRAMES].text("layer");
        assert_eq!(sent, wanted, "frame {at}, of\n{layer}");
    }
    assert_eq!(sent(&reference).len(), wanted.len());
    let trees = interpreted(Trees::new(program, &built.forest), program, &trace);
    assert_eq!(difference(&reference, &trees), None);
    let compiled = Compiled::new("tests/fields", program, (&built.module, &built.code), &WAYS);
    for way in compiled.ways() {
        let (ran, said) = compiled.run(way, std::slice::from_ref(&trace));
        assert_eq!(difference(&reference, &ran[0]), None, "{way}: {said}");
    }
}
