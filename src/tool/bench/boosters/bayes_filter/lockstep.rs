//! The layer `policy.bayes`, run beside the filter with the same frames.
//!
//! In: a transport, its codes as the layer is told of them, and a seed. Out: the share of time in
//! which only one of them wishes a code. The layer computes its tables in integers, and the filter
//! in floating point; so they may differ where two codes are nearly as good as each other.

use super::BayesFilter;
use crate::pipeline;
use crate::simulate::externs::Externs;
use crate::simulate::reference::Reference;
use crate::simulate::stack::Stack;
use crate::simulate::state::{Emitted, Limits};
use crate::simulate::trace::{Call, Driver, Step};
use crate::simulate::value::Datum;
use crate::tool::bench::boosters::decision::{Damage, Decision};
use crate::tool::bench::boosters::theory::bernoulli::some_errors;
use crate::tool::bench::boosters::transport::{
    CODES, FRAME_BYTES, LADDER, Losses, OURS, PAPER, Transport,
};
use crate::types::program::{NoticeId, PortId, Program};
use fastrand::Rng;
use std::collections::BTreeMap;
use std::path::Path;

const FILES: [&str; 5] = [
    "policy/bayes/bayes.loom",
    "policy/bayes/numbers.loom",
    "policy/bayes/step.loom",
    "policy/at_once.loom",
    "policy/service.loom",
];

/// The strength of a code, as its layer tells it: symbols of a codeword, bits of a symbol, symbols
/// that it corrects.
type Strength = [u64; 3];

const OFF: Strength = [1, 1, 0];

/// Frames of a run: 5 s of the fastest transport.
const FRAMES: u64 = 20_000;

fn library() -> BTreeMap<String, String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("layers");
    let text = |file: &str| std::fs::read_to_string(root.join(file)).expect("the library has it");
    let texts = FILES.map(|file| (file.to_string(), text(file)));
    texts.into_iter().collect()
}

fn program(transport: &Transport, library: &BTreeMap<String, String>) -> Program {
    let [cost, frame] = [transport.cost_ns / 1000, transport.frame_ns[0] / 1000];
    let stack = format!(
        "use policy.at_once\nuse policy.bayes\n\
         stack filtered {{ link air {{ at_once {{\n\
         bayes(cost = {cost} us, frame = {frame} us, bytes = {FRAME_BYTES}) {{ port messages }}\n\
         }} }} }}\n"
    );
    let root = vec![("filtered.loom".to_string(), stack)];
    let mut checked = pipeline::read(root, library);
    let built = pipeline::trees(&mut checked, "filtered");
    built
        .unwrap_or_else(|| panic!("{:?}", checked.diagnostics))
        .0
}

/// The layer, which is told of frames, and what it wishes.
struct Layer<'p> {
    program: &'p Program,
    stack: Stack<'p, Reference<'p>>,
    deadline_ns: Option<u64>,
    wish: usize,
}

impl<'p> Layer<'p> {
    fn new(
        program: &'p Program,
        externs: &'p Externs<'p>,
        transport: &Transport,
        strengths: &[Strength],
    ) -> Layer<'p> {
        let reference = Reference::new(program);
        let stack = Stack::start(
            reference,
            program,
            externs,
            Vec::new(),
            Limits::default(),
            0,
        );
        let mut layer = Layer {
            program,
            stack: stack.expect("it starts"),
            deadline_ns: None,
            wish: 0,
        };
        layer.tell(0, "listed", &[strengths.len() as u64, 0]);
        for ((variant, code), strength) in (0..).zip(transport.codes).zip(strengths) {
            let [symbols, symbol_bits, corrects] = *strength;
            let length = 1000 * transport.code_ns(*code) / transport.frame_ns[0];
            let told = [variant, length, symbols, symbol_bits, corrects];
            layer.tell(0, "strength", &told);
        }
        layer
    }

    fn tell(&mut self, now_ns: u64, notice: &str, arguments: &[u64]) {
        let mut notices = self.program.notices.iter();
        let notice = notices.position(|it| it.name == notice);
        self.call(
            now_ns,
            Call::Notice {
                port: PortId(0),
                session: 0,
                notice: NoticeId(notice.expect("the service has it") as u32),
                arguments: arguments.iter().map(|it| Datum::Number(*it)).collect(),
            },
        );
    }

    /// Lets time pass until then.
    fn wait(&mut self, until_ns: u64) {
        while let Some(now_ns) = self.deadline_ns.filter(|it| *it <= until_ns) {
            self.call(now_ns, Call::Expire);
        }
    }

    fn call(&mut self, now_ns: u64, call: Call) {
        let step = Step {
            now_ns,
            call,
            takes: true,
        };
        let seen = self.stack.step(&step);
        self.deadline_ns = seen.deadline_ns;
        for output in seen.outputs {
            if let Emitted::Notice {
                notice, arguments, ..
            } = output
                && self.program.notices[notice.at()].name == "switch"
            {
                self.wish = arguments[0].number() as usize;
            }
        }
    }
}

/// Draws what the link does to a frame.
fn damage(losses: &Losses, random: &mut Rng) -> Damage {
    let luck = random.f64();
    if luck < losses.lost {
        Damage::Lost
    } else if luck < losses.damaged {
        Damage::Corrected(some_errors(losses.bit_error_rate, losses.air_bits, random))
    } else {
        Damage::None
    }
}

/// Returns the share of frames at which only one of them wishes a code, and how often both wished
/// another one.
fn differences(
    transport: &Transport,
    strengths: &[Strength],
    library: &BTreeMap<String, String>,
    seed: u64,
) -> (f64, u32) {
    let program = program(transport, library);
    let externs = Externs::default();
    let mut layer = Layer::new(&program, &externs, transport, strengths);
    let cost_s = transport.cost_ns as f64 * 1e-9;
    let variants = transport.variants();
    let mut filter = BayesFilter::new(&variants, cost_s);
    let mut random = Rng::with_seed(seed);
    let (mut now_ns, mut active, mut changes, mut differ) = (0, 0, 0, 0);
    let mut bit_error_rate = 0.0;
    for frame in 0..FRAMES {
        if frame % 2_500 == 0 {
            bit_error_rate = [0.0, 10_f64.powf(-8.0 + 6.0 * random.f64())][random.usize(0..2)];
        }
        now_ns += transport.frame_ns[0];
        layer.wait(now_ns - 1);
        if filter.timer_ns().is_some_and(|timer_ns| timer_ns < now_ns) {
            filter.expired();
        }
        let bits = variants[active].air_bits;
        let damage = damage(&transport.losses(bit_error_rate)[active], &mut random);
        filter.frame(damage, now_ns);
        if filter.timer_ns() == Some(now_ns) {
            filter.expired();
        }
        let [is_damaged, corrected] = match damage {
            Damage::None => [0, 0],
            Damage::Corrected(errors) => [1, errors.into()],
            Damage::Lost => [1, 0],
        };
        layer.tell(
            now_ns,
            "measured",
            &[1, bits as u64, is_damaged, corrected, 0],
        );
        layer.wait(now_ns);
        if filter.wish() != layer.wish {
            differ += 1;
        } else if filter.wish() != active {
            active = filter.wish();
            changes += 1;
            filter.swapped(active);
            layer.tell(now_ns, "seen", &[active as u64]);
        }
    }
    (f64::from(differ) / FRAMES as f64, changes)
}

/// The greatest share of frames at which they may differ.
const TOLERANCE: f64 = 0.02;

fn assert_same(transport: &Transport, strengths: &[Strength]) {
    let library = library();
    for seed in 1..=2 {
        let (share, changes) = differences(transport, strengths, &library, seed);
        let told = format!(
            "{}, seed {seed}: {share}, {changes} changes",
            transport.name
        );
        println!("{told}");
        assert!(changes >= 1 && share < TOLERANCE, "{told}");
    }
}

#[test]
fn the_layer_decides_as_the_filter_with_the_code_of_the_paper() {
    assert_same(&PAPER.with(CODES), &[OFF, [11, 1, 2]]);
    assert_same(&OURS.with(CODES), &[OFF, [11, 1, 2]]);
}

#[test]
fn the_layer_decides_as_the_filter_with_a_reed_solomon_code() {
    // RS(255,247) costs so little that no decision is clear. This one costs a seventh more.
    let codes = const { &[LADDER[0], LADDER[3]] };
    assert_same(&OURS.with(codes), &[OFF, [255, 8, 16]]);
}

#[test]
fn a_layer_that_decides_otherwise_is_seen() {
    let faults = [
        ("(prior(i) * hazard >> 16)", "(prior(i) * hazard >> 26)"),
        ("broken * lost_cost", "0 * lost_cost"),
        ("now - stayed >= patience", "now - stayed >= 4 * patience"),
        ("improbable += each", "improbable = each"),
    ];
    for (right, wrong) in faults {
        let mut library = library();
        let mut texts = library.values_mut();
        let text = texts.find(|text| text.contains(right));
        let text = text.unwrap_or_else(|| panic!("no file has `{right}`"));
        *text = text.replace(right, wrong);
        let transport = PAPER.with(CODES);
        let share = |seed| differences(&transport, &[OFF, [11, 1, 2]], &library, seed).0;
        let seen = (1..=4).find(|seed| share(*seed) >= TOLERANCE);
        assert!(seen.is_some(), "`{wrong}` is not seen");
    }
}
