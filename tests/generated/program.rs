//! A random program: a service, layers, and a stack of them, some of it in a slot.
//!
//! In: a seed. Out: the text of a file. The same seed makes the same text on every machine.

use crate::layer::{self, Shape};
use crate::random::Random;
use crate::scope::Way;
use crate::statement::Writer;

/// What all layers give and take.
const SERVICE: &str = "\
use check.internet_checksum
use link.service

service talks {
    attribute mark: u8 = 2
    attribute note: u16? = none

    notice skip down
    notice tune(by: u8) down
    notice close down
    notice grant_delivers(messages: u8) down
    notice happened up
    notice became(by: u8) up
}

";

/// The layers above each other, from the link on: a worker, one of many conversations, or labels,
/// behind which three more stacks stand.
const STACKS: [&str; 20] = [
    "w", "ww", "m", "m", "m", "m", "m", "m", "mw", "mw", "mw", "mw", "wm", "wm", "wmw", "mww",
    "mm", "l", "wl", "lw",
];

/// Those of programs whose traffic is busy: frames find conversations that come and go.
const BUSY: [&str; 12] = [
    "m", "m", "m", "mw", "mw", "wm", "mww", "wmw", "mm", "mm", "wmm", "mmw",
];

/// The files with the layers of slots.
const USED: &str = "use boost.run_lengths\nuse order.sequencer\nuse policy.service\n";

/// A layer that makes frames of what a slot gives, and a decision that swaps without reason.
const RESTLESS: &str = concat!(
    "\
worker brought provides frames requires messages

on grant_sends(messages) { count granted }

on deliver(message) { deliver message }

on send(message) { send message }

",
    include_str!("../fixture/wander.loom"),
    "
policy restless(seed: u32, layers: u8, period: time) {
    decision wander(seed = seed, layers = layers, period = period, ends = 1000 s)
}

"
);

/// A program of this seed.
pub fn program(seed: u64) -> String {
    let mut random = Random(seed ^ 0x6c6f_6f6d);
    let mut calling = Random(seed ^ 0x6c69_6e6b);
    let mut slots = Random(seed ^ 0x736c_6f74);
    let is_slotted = slots.percent(10);
    let mut text = SERVICE.to_string();
    // Where applications answer, what comes up causes what goes down.
    let turns = match random.percent(20) {
        true => Way::Down,
        false => Way::Up,
    };
    let (mut layers, mut ports) = (0, 0);
    let links: &[&str] = match random.percent(20) {
        true => &["wire", "air"],
        false => &["wire"],
    };
    let mut stack = String::new();
    // Much of what is woven, and much of its C, is for traffic such as this.
    let is_busy = random.percent(65);
    for link in links {
        let shapes = match is_busy {
            true => *random.one(&BUSY),
            false => *random.one(&STACKS),
        };
        let calls = match calling.percent(30) {
            true => format!(" calls leaves_by_{link}"),
            false => String::new(),
        };
        let above = node(
            &mut random,
            shapes,
            (&[], turns, is_busy),
            (&mut text, &mut layers, &mut ports),
        );
        let above = match is_slotted {
            true => format!(
                "{} {{ brought as over_{link} {{ {above} }} }}",
                slot(&mut slots, link)
            ),
            false => above,
        };
        stack += &format!("    link {link}{calls} {{ {above} }}\n");
    }
    if is_slotted {
        return format!("{USED}{text}{RESTLESS}stack generated {{\n{stack}}}\n");
    }
    text + &format!("stack generated {{\n{stack}}}\n")
}

/// A slot, up to the layers that stand on it.
fn slot(random: &mut Random, link: &str) -> String {
    let other = format!("off as other_{link}");
    let mut all = vec!["off", &other, "run_lengths(longest = 200)", "sequencer"];
    let layers = 1 + random.below(all.len());
    while all.len() > layers {
        all.remove(random.below(all.len()));
    }
    format!(
        "slot slot_{link}(protected = {}) \
         by restless(seed = {}, layers = {layers}, period = {} us) {{ {} }}",
        random.percent(50),
        1 + random.below(1000),
        500 + random.below(20_000),
        all.join(", ")
    )
}

/// Layers and what stands on them, as a stack names them.
fn node(
    random: &mut Random,
    shapes: &str,
    (below, turns, is_busy): (&[Shape], Way, bool),
    known: (&mut String, &mut usize, &mut usize),
) -> String {
    let (text, layers, ports) = known;
    let Some(first) = shapes.chars().next() else {
        *ports += 1;
        let calls = match turns == Way::Up && random.percent(40) {
            true => format!(" calls application_{ports}"),
            false => String::new(),
        };
        return format!("port port_{ports}{calls}");
    };
    let shape = match first {
        'w' => Shape::Worker,
        'm' => Shape::Many,
        _ => Shape::Labelled,
    };
    let name = format!("layer_{layers}");
    *layers += 1;
    let mut it = Writer::new(random);
    let is_highest = shapes.len() == 1 && shape != Shape::Labelled;
    layer::write(&mut it, &name, shape, (below, turns), (is_busy, is_highest));
    let own = std::mem::take(&mut it.text);
    text.push_str(&own);
    let own = [below, &[shape]].concat();
    let mut above = |random: &mut Random, shapes: &str| {
        node(
            random,
            shapes,
            (&own, turns, is_busy),
            (&mut *text, &mut *layers, &mut *ports),
        )
    };
    let above = match shape {
        Shape::Worker | Shape::Many => above(random, &shapes[1..]),
        Shape::Labelled => {
            let all = (0..3).map(|label| {
                let shapes = *random.one(&["", "w", "m"]);
                format!("key {label} {}", above(random, shapes))
            });
            let all = Vec::from_iter(all).join("\n        ");
            format!("\n        {all}\n    ")
        }
    };
    let limit = match random.percent(50) {
        true => "(limit = config.limit)",
        false => "",
    };
    format!("{name}{limit} {{ {above} }}")
}
