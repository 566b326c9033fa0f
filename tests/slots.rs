//! Slots whose layers swap again and again while messages flow over a link with faults.
//!
//! In: stacks at random, of one to three slots in each other, with two to five layers each, and a
//! policy that swaps without reason. Out: what comes up at the other end. In each fourth stack both
//! interpreters run each end, and must agree. `SEED=n` runs one alone, `SEEDS=n` so many.
//!
//! ```text
//! clean link      all messages come, each once, unchanged, and in order
//! sparse losses   all messages come, each once: each lost frame is repaired, also over a swap
//! faults          what comes was sent; twice only if the link or a layer repeats or reorders;
//!                 what is missing was in a frame that the link lost
//! resequencer     in each fifth stack: what comes is in order, and comes once
//! ```

use fastrand::Rng;
use stackloom::pipeline;
use stackloom::simulate::externs::Externs;
use stackloom::simulate::network::link::{Faults, Flight, Way};
use stackloom::simulate::reference::Reference;
use stackloom::simulate::stack::Stack;
use stackloom::simulate::state::{Emitted, Limits};
use stackloom::simulate::trace::{Call, Driver, Step};
use stackloom::simulate::trees::Trees;
use stackloom::tree::Forest;
use stackloom::tree::rewrites::Rewrites;
use stackloom::types::program::{LinkId, PortId, Program};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};
use std::path::Path;

/// Messages of each end.
const MESSAGES: u32 = 40;

/// How long they are sent, and swaps go on.
const BUSY_NS: u64 = 100_000_000;

/// When all that waits for a timer has happened; a resequencer waits for each gap in turn.
const END_NS: u64 = 2_000_000_000;
const END_OF_GAPS_NS: u64 = 20_000_000_000;

/// The layers that slots have, beside `off`. A code watches as many blocks as there are, until what
/// an `arq` below sends again has come.
const LAYERS: [&str; 9] = [
    "arq",
    "flip",
    "halves(longest = 26)",
    "owing",
    "sequencer",
    "parity(k = 2, r = 1, longest = 64, blocks = 99, patience = 20 s)",
    "block_code(k = 3, r = 2, longest = 64, blocks = 99, patience = 20 s)",
    "run_lengths(longest = 128)",
    "delay(least = 1 ms, most = 3 ms)",
];

/// Layers that repair one loss in each of their blocks, which have at most `SPARSE - 1` frames.
const REPAIRING: [&str; 4] = [
    "parity(k = 2, r = 1, longest = 64) as pairs",
    "parity(k = 5, r = 1, longest = 64) as fives",
    "parity(k = 4, r = 2, longest = 64) as fours",
    "block_code(k = 3, r = 3, longest = 64) as threes",
];

/// Of so many frames, the link loses one in a scene with sparse losses.
const SPARSE: u64 = 7;

/// Layers of this test, and its policy.
const OWN: &str = concat!(
    "\
use boost.service
use policy.service
use policy.spp

// flip: turns all bits over
worker flip

filter turned() rewrites u8 { each word { yield ~word } }

on deliver(message) {
    message.data = message.data through turned()
    deliver message
}

on send(message) {
    message.data = message.data through turned()
    send message
}

// owing: sends a message when the next one comes, or when it is to close
worker owing provides messages, booster

session { owed: queue<message>[1] }

on closing {
    let last = owed.pop() else {}
    send last
}

on deliver(message) { deliver message }

on send(message) {
    let before = owed.pop() else { owed.push(message) else drop message as no_room }
    owed.push(message) else {
        send before
        drop message as no_room
    }
    send before
}

",
    include_str!("fixture/wander.loom"),
    "
// what this end sends is swapped without a word
policy alone(seed: u32, layers: u8, period: time, last: u8) {
    decision wander(seed = seed, layers = layers, period = period, last = last)
}

// the other end is asked to swap what it sends
policy signalled(seed: u32, layers: u8, period: time, last: u8) {
    decision wander(seed = seed, layers = layers, period = period, last = last)
    signal spp(again_after = 5 ms, at_most = 40 ms)
}
"
);

/// A stack, and the link between its two ends.
struct Scene {
    seed: u64,
    text: String,
    faults: Faults,
    /// Whether no layer lets messages overtake each other.
    keeps_order: bool,
    /// The layer of the highest slot that its policy wishes at last.
    last: u64,
    /// True if the link loses one frame of `SPARSE`, and no other.
    is_sparse: bool,
    /// True if a layer above all slots puts messages back into order.
    is_ordered: bool,
}

impl Scene {
    fn new(seed: u64) -> Scene {
        let mut random = Rng::with_seed(seed);
        // Of messages that overtake each other, a sequencer drops those that come late.
        let keeps_order = random.bool();
        let without = if keeps_order { "delay" } else { "sequencer" };
        let is_ordered = seed % 5 == 1;
        let mut nodes = match is_ordered {
            true => "resequencer(patience = 400 ms) { port messages }".to_string(),
            false => "port messages".to_string(),
        };
        let mut last = None;
        let slots = random.u64(1..=3);
        for at in 0..slots {
            let mut layers = Vec::from(LAYERS);
            // Two parts of a message must not overtake each other either.
            let fits = |layer: &str| keeps_order || !layer.starts_with("halves");
            layers.retain(|layer| !layer.starts_with(without) && fits(layer));
            random.shuffle(&mut layers);
            layers.truncate(random.usize(1..=4));
            let first = random.usize(0..=layers.len());
            layers.insert(first, "off");
            let policy = if random.bool() { "alone" } else { "signalled" };
            last.get_or_insert(first as u64);
            let policy = format!(
                "{policy}(seed = {}, layers = {}, period = {} us, last = {first})",
                random.u32(1..),
                layers.len(),
                random.u32(500..20_000),
            );
            let layers = layers.join(", ");
            let protected = (seed + at) % 2 == 1;
            // The frames of the first layer of the outermost slot have another key, and no byte.
            let is_keyed = at + 1 == slots && seed % 4 == 2;
            let key = if is_keyed { "key = 2, " } else { "" };
            nodes = format!(
                "slot slot{at}({key}protected = {protected}) by {policy} \
                 {{ {layers} }} {{ {nodes} }}"
            );
            if is_keyed {
                nodes = format!("first_come {{ key 1 {nodes} }}");
            }
        }
        let text = format!(
            "use boost.arq\nuse boost.block_code\nuse boost.halves\nuse boost.parity\n\
             use boost.run_lengths\nuse fault.delay\nuse order.first_come\nuse order.resequencer\n\
             use order.sequencer\nuse layers\n\
             stack chaos {{ link air(mtu = 200) {{ {nodes} }} }}\n"
        );
        let mut faults = Faults {
            delay_ns: random.u64(0..5_000_000),
            ..Faults::default()
        };
        if !seed.is_multiple_of(3) {
            faults.loss = random.f64() * 0.3;
            faults.burst = 1.0 + random.f64() * 3.0;
        }
        if seed % 3 == 2 {
            faults.duplicate = 0.05;
            faults.reorder = 0.05;
        }
        Scene {
            seed,
            text,
            faults,
            keeps_order,
            last: last.expect("a scene has a slot"),
            is_sparse: false,
            is_ordered,
        }
    }

    /// A slot whose layers all repair what the link loses.
    fn sparse(seed: u64) -> Scene {
        let mut random = Rng::with_seed(seed);
        let mut layers = Vec::from(REPAIRING);
        random.shuffle(&mut layers);
        layers.truncate(random.usize(2..=layers.len()));
        let text = format!(
            "use boost.block_code\nuse boost.parity\nuse layers\n\
             stack chaos {{ link air(mtu = 200) {{\n\
             slot slot0 by alone(seed = {}, layers = {}, period = {} us, last = 0) {{ {} }} {{\n\
             port messages }} }} }}\n",
            random.u32(1..),
            layers.len(),
            random.u32(500..20_000),
            layers.join(", "),
        );
        Scene {
            seed,
            text,
            faults: Faults {
                delay_ns: random.u64(0..5_000_000),
                ..Faults::default()
            },
            keeps_order: true,
            last: 0,
            is_sparse: true,
            is_ordered: false,
        }
    }

    fn is_clean(&self) -> bool {
        self.faults.loss == 0.0 && !self.is_sparse
    }
}

/// What happens at a time.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum What {
    Arrives(usize, Vec<u8>),
    Sends(usize, u32),
    Released(usize),
    Expires(usize),
}

/// One end, perhaps run by both interpreters.
struct End<'p> {
    reference: Stack<'p, Reference<'p>>,
    trees: Option<Stack<'p, Trees<'p>>>,
    sent: Vec<Vec<u8>>,
    came: Vec<Vec<u8>>,
    /// The layer of the highest slot that is active.
    active: u64,
    way: Way,
    frames: u64,
}

struct Run<'p> {
    program: &'p Program,
    is_sparse: bool,
    end_ns: u64,
    ends: Vec<End<'p>>,
    events: BinaryHeap<Reverse<(u64, u64, What)>>,
    scheduled: u64,
}

impl<'p> Run<'p> {
    fn new(
        scene: &Scene,
        program: &'p Program,
        forest: Option<&'p Forest>,
        externs: &'p Externs<'p>,
    ) -> Run<'p> {
        let limits = Limits::default();
        let end = |seed: u64| End {
            reference: Stack::start(
                Reference::new(program),
                program,
                externs,
                Vec::new(),
                limits.clone(),
                0,
            )
            .expect("it starts"),
            trees: forest.map(|forest| {
                let trees = Trees::new(program, forest);
                let started = Stack::start(trees, program, externs, Vec::new(), limits.clone(), 0);
                started.expect("it starts")
            }),
            sent: Vec::new(),
            came: Vec::new(),
            active: 0,
            way: Way::new(scene.faults.clone(), seed),
            frames: seed,
        };
        let mut run = Run {
            program,
            is_sparse: scene.is_sparse,
            end_ns: if scene.is_ordered {
                END_OF_GAPS_NS
            } else {
                END_NS
            },
            ends: vec![end(2 * scene.seed), end(2 * scene.seed + 1)],
            events: BinaryHeap::new(),
            scheduled: 0,
        };
        let mut random = Rng::with_seed(!scene.seed);
        for end in 0..2 {
            run.at(0, What::Expires(end));
            for number in 0..MESSAGES {
                run.at(random.u64(0..BUSY_NS), What::Sends(end, number));
            }
        }
        run
    }

    fn at(&mut self, at_ns: u64, what: What) {
        self.scheduled += 1;
        self.events.push(Reverse((at_ns, self.scheduled, what)));
    }

    fn goes_on(&mut self) -> bool {
        let Some(Reverse((now_ns, _, what))) = self.events.pop() else {
            return false;
        };
        if now_ns > self.end_ns {
            return false;
        }
        let (end, call) = match what {
            What::Arrives(end, frame) => (end, Call::Input(LinkId(0), vec![frame])),
            What::Expires(end) => (end, Call::Expire),
            What::Sends(end, _) => {
                let sent = &mut self.ends[end].sent;
                let number = sent.len() as u32;
                let mut bytes = number.to_be_bytes().to_vec();
                bytes.resize(4 + number as usize % 24, number as u8);
                sent.push(bytes.clone());
                let call = Call::Send {
                    port: PortId(0),
                    session: 0,
                    attributes: Vec::new(),
                    bytes,
                };
                (end, call)
            }
            What::Released(end) => {
                let mut flights = Vec::new();
                self.ends[end].way.release(now_ns, &mut flights);
                self.fly(end, flights);
                return true;
            }
        };
        self.does(end, call, now_ns);
        true
    }

    fn does(&mut self, end: usize, call: Call, now_ns: u64) {
        let step = Step {
            now_ns,
            call,
            takes: true,
        };
        let own = &mut self.ends[end];
        let seen = own.reference.step(&step);
        if let Some(trees) = &mut own.trees {
            assert_eq!(trees.step(&step), seen, "the trees do what the layers say");
        }
        let mut flights = Vec::new();
        let mut late = Vec::new();
        for output in seen.outputs {
            match output {
                Emitted::Frame { bytes, .. } => {
                    own.frames += 1;
                    if self.is_sparse && own.frames.is_multiple_of(SPARSE) {
                        continue;
                    }
                    late.extend(own.way.send(&bytes, now_ns, &mut flights));
                }
                Emitted::Deliver { bytes, .. } => own.came.push(bytes),
                Emitted::Notice {
                    notice, arguments, ..
                } if self.program.notices[notice.at()].name == "swapped" => {
                    own.active = arguments[0].number();
                }
                Emitted::Notice { .. } | Emitted::Accepted { .. } => {}
            }
        }
        for at_ns in late {
            self.at(at_ns, What::Released(end));
        }
        self.fly(end, flights);
        if let Some(at_ns) = seen.deadline_ns {
            self.at(at_ns.max(now_ns), What::Expires(end));
        }
    }

    fn fly(&mut self, from: usize, flights: Vec<Flight>) {
        for flight in flights {
            self.at(flight.at_ns, What::Arrives(1 - from, flight.bytes));
        }
    }
}

/// Runs a scene with the layers of this library; says what is wrong.
fn run(scene: &Scene, library: &BTreeMap<String, String>) -> Result<(), String> {
    let root = vec![("chaos.loom".to_string(), scene.text.clone())];
    let mut checked = pipeline::read(root, library);
    let Some((mut program, plain)) = pipeline::trees(&mut checked, "chaos") else {
        return Err(format!("{:?}", checked.diagnostics));
    };
    let is_fourth = scene.seed.is_multiple_of(4);
    let forest = is_fourth.then(|| pipeline::woven(&mut program, plain, Rewrites::ALL));
    let externs = Externs::default();
    let mut run = Run::new(scene, &program, forest.as_ref(), &externs);
    while run.goes_on() {}
    let [one, other] = &run.ends[..] else {
        panic!("there are two ends");
    };
    compared(scene, one, other)?;
    compared(scene, other, one)
}

/// What came from one end to the other.
fn compared(scene: &Scene, from: &End, to: &End) -> Result<(), String> {
    let counts = from.way.counts();
    let mut missing = from.sent.clone();
    let mut repeated = 0;
    for message in &to.came {
        match missing.iter().position(|sent| sent == message) {
            Some(at) => drop(missing.remove(at)),
            None if from.sent.contains(message) => repeated += 1,
            None => return Err(format!("nobody sent {message:02x?}")),
        }
    }
    let faults = &scene.faults;
    if repeated > 0 && faults.duplicate == 0.0 && faults.reorder == 0.0 && scene.keeps_order {
        return Err(format!("{repeated} messages came twice"));
    }
    let came: Vec<_> = to.came.iter().map(|message| &message[..4]).collect();
    if scene.is_ordered && !came.is_sorted_by(|one, other| one < other) {
        return Err("messages came up in another order, or twice".to_string());
    }
    if scene.is_sparse && !missing.is_empty() {
        return Err(format!("{} messages were not repaired", missing.len()));
    }
    if faults.reorder == 0.0 && missing.len() as u64 > counts.lost {
        return Err(format!(
            "{} messages are missing, and {} frames were lost",
            missing.len(),
            counts.lost
        ));
    }
    // A layer that holds signals back makes them later than the signalling allows.
    let is_late = scene.text.contains("arq") || scene.text.contains("delay(");
    if from.active != scene.last && !is_late {
        let (active, last) = (from.active, scene.last);
        return Err(format!(
            "layer {active} is active, and {last} was wished last"
        ));
    }
    if scene.is_clean() && scene.keeps_order && to.came != from.sent {
        return Err("messages came in another order".to_string());
    }
    Ok(())
}

/// The standard library, and the layers of this test.
fn library() -> BTreeMap<String, String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut all = BTreeMap::new();
    let folders = [
        "boost",
        "boost/block_code",
        "boost/parity",
        "check",
        "fault",
        "link",
        "order",
        "policy",
        "policy/spp",
    ];
    for folder in folders {
        for file in std::fs::read_dir(root.join("layers").join(folder)).expect("layers") {
            let path = file.expect("it can be listed").path();
            let name = path.file_name().and_then(|name| name.to_str());
            let name = format!("{folder}/{}", name.expect("a layer has a name"));
            if path.is_file() {
                let text = std::fs::read_to_string(&path).expect("it can be read");
                all.insert(name, text);
            }
        }
    }
    all.insert("layers.loom".to_string(), OWN.to_string());
    all
}

fn seeds(usual: u64) -> std::ops::Range<u64> {
    let number = |name: &str| std::env::var(name).ok().and_then(|text| text.parse().ok());
    match (number("SEED"), number("SEEDS")) {
        (Some(seed), _) => seed..seed + 1,
        (None, Some(seeds)) => 0..seeds,
        (None, None) => 0..usual,
    }
}

#[test]
fn nothing_is_lost_while_slots_swap() {
    all_succeed(seeds(200).map(Scene::new));
}

#[test]
fn sparse_losses_are_repaired_while_slots_swap() {
    all_succeed(seeds(100).map(Scene::sparse));
}

/// Runs all scenes, and then says which of them went wrong.
fn all_succeed(scenes: impl Iterator<Item = Scene>) {
    let library = library();
    let mut failed = Vec::new();
    for (before, scene) in scenes.enumerate() {
        if before > 0 && before.is_multiple_of(500) {
            println!("{before} seeds, {} failed", failed.len());
        }
        if let Err(wrong) = run(&scene, &library) {
            let (seed, faults) = (scene.seed, &scene.faults);
            failed.push(format!("SEED={seed}: {wrong}\n{faults:?}\n{}", scene.text));
        }
    }
    assert!(failed.is_empty(), "{}", failed.join("\n"));
}

/// A file of the library, what stands there, and what instead.
const FAULTS: [(&str, &str, &str); 9] = [
    // an encoder does not send what it owes
    (
        "layers.loom",
        "    send last\n",
        "    drop last as forgotten\n",
    ),
    // a frame names the layer that is active, and not the one that made it
    (
        "boost/slot_frames.loom",
        "{ variant << 4 | ours }",
        "{ active << 4 | ours }",
    ),
    // a frame goes to the layer that is active at this end
    (
        "boost/slot_frames.loom",
        "find session(made_by() else 255)",
        "find session(active)",
    ),
    // the new layer must send what the old one owes
    (
        "boost/slot_ways.loom",
        "tell ways[old] closing",
        "tell ways[to] closing",
    ),
    // the parity of a part block does not go at a swap
    (
        "boost/parity/parity.loom",
        "on again or waiting or closing {",
        "on again or waiting {",
    ),
    // the parity of a part block does not say how many messages the block has
    ("boost/parity/parity.loom", "size = place", "size = k"),
    // the first message that waits behind a gap is forgotten
    (
        "order/resequencer.loom",
        "expected = early.first else expected",
        "expected = (early.first else expected) + 1",
    ),
    // the second part of a message does not say that it is one
    (
        "boost/halves.loom",
        "with { part = second,",
        "with { part = first,",
    ),
    // what is lost is not divided by its coefficient
    (
        "boost/block_code/repair.loom",
        "equations[own].sum.scale(pivot)",
        "equations[own].sum.scale(1)",
    ),
];

#[test]
fn faults_in_slots_are_seen() {
    for (file, right, wrong) in FAULTS {
        let mut library = library();
        let text = library.get_mut(file).expect("the library has it");
        assert_eq!(text.matches(right).count(), 1, "{right}");
        *text = text.replace(right, wrong);
        let mut scenes = seeds(200).flat_map(|seed| [Scene::new(seed), Scene::sparse(seed)]);
        let seen = scenes.find_map(|scene| run(&scene, &library).err().map(|told| (scene, told)));
        let (scene, told) = seen.unwrap_or_else(|| panic!("nobody sees `{wrong}`"));
        println!("`{wrong}`: SEED={}: {told}", scene.seed);
    }
}
