//! The kernel with the numbers of a specification: in, `kernel.stl`; out, its checked program.

mod fixed;

pub use fixed::{Asked, Fixed, Selects};

use super::Fault;
use super::memory::{Scalar, leaves};
use super::outside::choice::{Choice, Choices};
use super::sizes::{Bounds, Sizes};
use crate::source::Sources;
use crate::syntax;
use crate::types::estelle::program::{Attribute, Body, Program, Queue};
use crate::types::estelle::{Settings, check};
use std::collections::BTreeMap;
use std::fmt::Write;

/// The numbers by which a host orders the transitions of a step.
const ORDERS: u64 = 1 << 16;

/// All tables together have at most so many elements, as those of a body.
const MOST_ELEMENTS: u64 = 1_000_000;

/// The interactions that a queue holds are counted at least so far: by 32 bits, with which C
/// computes in fewer instructions than with 16.
const LEAST_COUNT: u64 = 1 << 16;

/// Numbers that are the same for all specifications.
const CONSTANTS: [(&str, u64); 10] = [
    ("choice_of_child", Choice::Child as u64),
    ("choice_of_order", Choice::Order as u64),
    ("orders", ORDERS),
    ("last_fault", Fault::LAST as u64),
    ("fault_range", Fault::Range as u64),
    ("fault_queue_full", Fault::QueueFull as u64),
    ("fault_connected", Fault::Connected as u64),
    ("fault_same_point", Fault::SamePoint as u64),
    ("fault_attached", Fault::Attached as u64),
    ("fault_attached_output", Fault::AttachedOutput as u64),
];

/// The numbers of a kernel, by their names.
pub type Numbers = BTreeMap<&'static str, u64>;

/// Returns the numbers of the kernel for a specification.
///
/// # Errors
///
/// A sentence if modules and queues need too much memory.
pub fn numbers(
    program: &Program,
    sizes: &Sizes,
    (bounds, fixed): (&Bounds, &Fixed),
) -> Result<Numbers, String> {
    let queues = u64::from(queues(program, sizes).max(1));
    let modules = u64::from(sizes.all_modules);
    let points = u64::from(sizes.all_points.max(1));
    let slots = slots(program).max(1);
    let others = 32 * (modules + 1) + 8 * points + u64::from(sizes.all_transitions);
    let fits = |places: u64| {
        let items = queues.saturating_mul(places);
        items.saturating_mul(slots + 2).saturating_add(others) <= MOST_ELEMENTS
    };
    // A power of two wraps in one instruction, if there is memory for it.
    let room = u64::from(bounds.queue).max(1);
    let places = Some(room.next_power_of_two()).filter(|places| fits(*places));
    let places = places.unwrap_or(room);
    let items = queues.saturating_mul(places);
    if !fits(places) {
        let room = bounds.queue;
        return Err(format!(
            "{queues} queues of {room} interactions with up to {slots} values each; set a smaller \
             `--queue N`"
        ));
    }
    let transitions = u64::from(sizes.all_transitions.max(1));
    let interactions = program.channels.iter().map(|one| one.interactions.len());
    let interactions = interactions.max().unwrap_or(0).max(1) as u64;
    let mut declared = program.bodies.iter().flat_map(|body| &body.points);
    let shares = declared.any(|one| one.queue == Queue::Common);
    let reals = u64::from(has_real_parameters(program));
    let exports = program.headers.iter().any(|one| !one.exports.is_empty());
    let nested = program.bodies.iter().any(is_nested);
    let is_fixed = sizes.are_few && !fixed.systems.is_empty();
    let mut numbers = BTreeMap::from([
        ("last_module", modules - 1),
        ("no_module", modules),
        ("firing_places", modules + 1),
        ("last_body", program.bodies.len() as u64 - 1),
        ("last_point", points - 1),
        ("no_point", points),
        ("last_queue", queues - 1),
        ("all_queues", queues),
        ("common_queues", u64::from(shares)),
        ("room", bounds.queue.into()),
        ("last_count", u64::from(bounds.queue).max(LEAST_COUNT)),
        ("places", places),
        ("last_place", places - 1),
        ("last_item", items - 1),
        ("no_item", items),
        ("last_slot", slots - 1),
        ("last_real_item", reals * (items - 1)),
        ("last_real_slot", reals * (slots - 1)),
        ("last_interaction", interactions - 1),
        ("last_transition", transitions - 1),
        ("no_transition", transitions),
        ("reals", reals),
        ("delays", u64::from(program.bodies.iter().any(has_delays))),
        ("exports", u64::from(exports)),
        ("nested", u64::from(nested)),
        ("is_fixed", is_fixed.into()),
        ("are_few", u64::from(sizes.are_few)),
        ("host_chooses", u64::from(bounds.choices == Choices::Host)),
    ]);
    numbers.extend(CONSTANTS);
    Ok(numbers)
}

/// Returns the kernel with these numbers.
///
/// # Panics
///
/// If the kernel is no correct Pascal: that is a mistake of the compiler.
pub fn kernel(numbers: &Numbers) -> Program {
    let mut text = "specification kernel;\nconst\n".to_string();
    for (name, number) in numbers {
        writeln!(text, "  {name} = {number};").expect("a string takes every line");
    }
    text.push_str(include_str!("kernel.stl"));
    text.push_str("end.\n");
    let mut sources = Sources::new();
    let file = sources.add("kernel.stl", text);
    let (tree, wrong) = syntax::estelle::parse(file, &sources);
    let said = |wrong: &[crate::diagnostic::Diagnostic]| {
        wrong
            .iter()
            .map(|one| format!("{}: {}", one.title, sources.slice(one.primary.span)))
            .collect::<Vec<_>>()
            .join("\n")
    };
    assert!(wrong.is_empty(), "the kernel parses: {}", said(&wrong));
    let tree = tree.expect("a text without mistakes has a tree");
    let settings = Settings::default();
    let (checked, wrong) = check(&tree, &settings, sources.span(file));
    checked.unwrap_or_else(|| panic!("the kernel is correct: {}", said(&wrong)))
}

/// Returns true if an interaction has a real parameter, or one with a real part.
fn has_real_parameters(program: &Program) -> bool {
    let interactions = program.channels.iter().flat_map(|one| &one.interactions);
    let mut parameters = interactions.flat_map(|one| &one.parameters);
    parameters.any(|one| {
        let leaves = leaves(program, one.kind);
        leaves
            .iter()
            .any(|leaf| matches!(leaf.scalar, Scalar::Real))
    })
}

/// Returns true if other modules may not be asked in a step in which a module of a body fires, or
/// one below it.
fn is_nested(body: &Body) -> bool {
    let fires_one = matches!(
        body.attribute,
        Some(Attribute::Activity | Attribute::SystemActivity)
    );
    !body.module_variables.is_empty() && (fires_one || !body.transitions.is_empty())
}

/// Returns true if a transition of a body has a delay.
pub fn has_delays(body: &Body) -> bool {
    body.transitions.iter().any(|one| one.delay.is_some())
}

/// The number of queues: one for each point with a queue of its own, and one for all others of an
/// instance.
fn queues(program: &Program, sizes: &Sizes) -> u32 {
    let bodies = (0..program.bodies.len()).map(|at| sizes.instances[at] * each(program, at));
    bodies.sum()
}

/// The number of queues of an instance of a body.
pub fn each(program: &Program, body: usize) -> u32 {
    let points = &program.bodies[body].points;
    let own = points.iter().filter(|one| one.queue == Queue::Individual);
    let own: u32 = own.map(|one| one.count).sum();
    let shares = points.iter().any(|one| one.queue == Queue::Common);
    own + u32::from(shares)
}

/// The most slots that an interaction needs for its parameters.
fn slots(program: &Program) -> u64 {
    let interactions = program.channels.iter().flat_map(|one| &one.interactions);
    let needed = interactions.map(|one| {
        let leaves = one
            .parameters
            .iter()
            .flat_map(|parameter| leaves(program, parameter.kind));
        leaves
            .map(|leaf| {
                leaf.dimensions
                    .iter()
                    .map(|one| u64::from(*one))
                    .product::<u64>()
            })
            .sum()
    });
    needed.max().unwrap_or(0)
}
