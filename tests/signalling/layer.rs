//! The layer `spp`, run beside the machines with the same inputs.
//!
//! In: a seed. Out: the first difference, if there is one: messages that only one of them sends, or
//! another layer that is active.

use crate::model::{Booster, Debooster, Machines, Message, Word};
use fastrand::Rng;
use stackloom::pipeline;
use stackloom::simulate::externs::Externs;
use stackloom::simulate::reference::Reference;
use stackloom::simulate::stack::Stack;
use stackloom::simulate::state::{Emitted, Limits};
use stackloom::simulate::trace::{Call, Driver, Step};
use stackloom::simulate::value::Datum;
use stackloom::types::program::{LinkId, NoticeId, PortId, Program};
use std::collections::BTreeMap;
use std::path::Path;

const STACK: &str = "use policy.spp\nstack signalled { link air { spp { port messages } } }\n";

/// Layers of the slot: none, and these.
const LAYERS: u8 = 3;
const DIGEST: u32 = 0x1234_5678;
const LIFE: u32 = 7;
const MACHINES: Machines = Machines {
    epochs: 8,
    fault: None,
};

/// The words of the layer that the machines do not have.
const HELLO: u8 = 0;
const WELCOME: u8 = 1;

/// The files that the stack uses.
pub fn library() -> BTreeMap<String, String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("layers");
    let files = [
        "policy/spp/booster.loom",
        "policy/spp/debooster.loom",
        "policy/spp/greeter.loom",
        "policy/spp/input.loom",
        "policy/spp/spp.loom",
        "policy/service.loom",
        "check/internet_checksum.loom",
    ];
    let text = |file: &str| std::fs::read_to_string(root.join(file)).expect("the library has it");
    let texts = files.map(|file| (file.to_string(), text(file)));
    texts.into_iter().collect()
}

/// Runs the layer of a library beside the machines; says how they differ.
pub fn differ(seed: u64, library: &BTreeMap<String, String>) -> Result<(), String> {
    let root = vec![("signalled.loom".to_string(), STACK.to_string())];
    let mut checked = pipeline::read(root, library);
    let Some((program, _)) = pipeline::trees(&mut checked, "signalled") else {
        return Err(format!("{:?}", checked.diagnostics));
    };
    let externs = Externs::default();
    let mut pair = Pair::new(&program, &externs);
    let mut random = Rng::with_seed(seed);
    for step in 0..200 {
        let input = pair.input(&mut random);
        let told = format!(
            "step {step}, {input:?}, {:?}, {:?}",
            pair.booster, pair.debooster
        );
        let (sent, expected, active) = pair.does(input);
        if sent != expected {
            return Err(format!("{told}: sends {sent:?}, and not {expected:?}"));
        }
        if active != pair.booster.layer {
            return Err(format!("{told}: layer {active} is active"));
        }
    }
    Ok(())
}

/// An input of both.
#[derive(Clone, Copy, Debug)]
enum Input {
    Swap(u8),
    Wish(u8),
    Expires,
    Comes(Message),
}

/// The layer and the machines.
struct Pair<'p> {
    program: &'p Program,
    layer: Stack<'p, Reference<'p>>,
    booster: Booster,
    debooster: Debooster,
    active: u8,
    now_ns: u64,
    deadline_ns: Option<u64>,
}

impl<'p> Pair<'p> {
    /// Both, after the two ends have met.
    fn new(program: &'p Program, externs: &'p Externs<'p>) -> Pair<'p> {
        let reference = Reference::new(program);
        let layer = Stack::start(
            reference,
            program,
            externs,
            Vec::new(),
            Limits::default(),
            0,
        );
        let mut pair = Pair {
            program,
            layer: layer.expect("it starts"),
            booster: Booster::default(),
            debooster: Debooster::default(),
            active: 0,
            now_ns: 0,
            deadline_ns: None,
        };
        pair.tell("listed", &[LAYERS.into(), DIGEST.into()]);
        pair.call(frame(WELCOME, 0, 0));
        pair
    }

    /// Anything that may happen now, and often what is likely to change something.
    fn input(&self, random: &mut Rng) -> Input {
        let epoch =
            |own: u8, random: &mut Rng| (own + [0, 0, 0, 1, 1, 7, 4, 5][random.usize(..8)]) % 8;
        match random.u8(..10) {
            0 => Input::Swap(random.u8(..LAYERS)),
            1 | 2 => Input::Wish(random.u8(..LAYERS)),
            3 if self.deadline_ns.is_some() => Input::Expires,
            4..=6 => Input::Comes(Message {
                word: [Word::Boost, Word::Started, Word::Abort, Word::Idle][random.usize(..4)],
                epoch: epoch(self.booster.epoch, random),
                layer: random.u8(1..LAYERS),
            }),
            _ => Input::Comes(Message {
                word: [Word::Begin, Word::Ending, Word::Ended][random.usize(..3)],
                epoch: epoch(self.debooster.epoch, random),
                layer: random.u8(1..LAYERS),
            }),
        }
    }

    /// Gives both an input: what the layer sends, what the machines send, and the layer that is
    /// active.
    fn does(&mut self, input: Input) -> (Vec<Message>, Vec<Message>, u8) {
        let (booster, debooster) = (&mut self.booster, &mut self.debooster);
        let mut expected = match input {
            Input::Swap(layer) => MACHINES.swap(booster, layer),
            Input::Wish(layer) => MACHINES.wish(debooster, layer),
            Input::Expires => Vec::new(),
            Input::Comes(message) => {
                let mut sent = MACHINES.to_booster(booster, message);
                sent.extend(MACHINES.to_debooster(debooster, message));
                sent
            }
        };
        let mut sent = match input {
            Input::Swap(layer) => self.tell("swap", &[layer.into()]),
            Input::Wish(layer) => self.tell("wish", &[layer.into()]),
            Input::Expires => {
                self.now_ns = self.deadline_ns.expect("a timer runs");
                self.call(Call::Expire)
            }
            Input::Comes(message) => {
                self.call(frame(message.word as u8, message.epoch, message.layer))
            }
        };
        if matches!(input, Input::Expires) {
            // It is one of the timers: the machines do not say which one.
            let repeated = [self.booster.repeated(), self.debooster.repeated()];
            expected = repeated.into_iter().flatten().collect();
            expected.retain(|message| sent.contains(message));
        }
        sent.sort();
        expected.sort();
        (sent, expected, self.active)
    }

    fn tell(&mut self, notice: &str, arguments: &[u64]) -> Vec<Message> {
        let mut notices = self.program.notices.iter();
        let notice = notices.position(|it| it.name == notice);
        self.call(Call::Notice {
            port: PortId(0),
            session: 0,
            notice: NoticeId(notice.expect("the service has it") as u32),
            arguments: arguments.iter().map(|it| Datum::Number(*it)).collect(),
        })
    }

    /// Returns the messages that the layer sends.
    fn call(&mut self, call: Call) -> Vec<Message> {
        let step = Step {
            now_ns: self.now_ns,
            call,
            takes: true,
        };
        let seen = self.layer.step(&step);
        self.deadline_ns = seen.deadline_ns;
        let mut sent = Vec::new();
        for output in seen.outputs {
            match output {
                Emitted::Frame { bytes, .. } => sent.extend(message(&bytes)),
                Emitted::Notice {
                    notice, arguments, ..
                } if self.program.notices[notice.at()].name == "switch" => {
                    self.active = arguments[0].number() as u8;
                }
                Emitted::Notice { .. } | Emitted::Deliver { .. } | Emitted::Accepted { .. } => {}
            }
        }
        sent
    }
}

/// A frame that comes.
fn frame(word: u8, epoch: u8, layer: u8) -> Call {
    let mut bytes = vec![word, epoch, layer, 0];
    bytes.extend(LIFE.to_be_bytes());
    bytes.extend(DIGEST.to_be_bytes());
    let words = bytes
        .chunks(2)
        .map(|two| u32::from(two[0]) << 8 | u32::from(two[1]));
    let sum: u32 = words.sum();
    let sum = (sum & 0xffff) + (sum >> 16);
    bytes.extend((!(sum as u16)).to_be_bytes());
    Call::Input(LinkId(0), vec![bytes])
}

/// Parses a frame of the layer, if it is of the machines. That no layer is active goes without
/// a number.
fn message(bytes: &[u8]) -> Option<Message> {
    let word = match bytes[0] {
        2 => Word::Begin,
        3 => Word::Ending,
        4 => Word::Ended,
        6 => Word::Boost,
        7 => Word::Started,
        8 => Word::Abort,
        9 => Word::Idle,
        HELLO | WELCOME => return None,
        other => panic!("the layer says {other}"),
    };
    let (epoch, layer) = (bytes[1], bytes[2]);
    Some(Message { word, epoch, layer })
}
