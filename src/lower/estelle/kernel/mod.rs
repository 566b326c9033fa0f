//! The kernel with the numbers of a specification: in, `kernel.stl`; out, its checked program.

use super::Fault;
use super::memory::leaves;
use super::outside::choice::{Choice, Choices};
use super::sizes::{Bounds, Sizes};
use crate::diagnostic::Id;
use crate::source::Sources;
use crate::syntax;
use crate::types::estelle::program::{Program, Queue};
use crate::types::estelle::{Settings, check};
use std::fmt::Write;

/// The numbers by which a host orders the transitions of a step.
const ORDERS: u64 = 1 << 16;

/// Returns the kernel for a specification.
///
/// # Panics
///
/// If the kernel is no correct Pascal: that is a mistake of the compiler.
///
/// # Errors
///
/// A sentence if its tables are too large.
pub fn kernel(program: &Program, sizes: &Sizes, bounds: &Bounds) -> Result<Program, String> {
    let queues = queues(program, sizes);
    let items = u64::from(queues) * u64::from(bounds.queue);
    let constants = [
        ("last_module", u64::from(sizes.all_modules) - 1),
        ("last_point", u64::from(sizes.all_points.max(1)) - 1),
        ("last_queue", u64::from(queues.max(1)) - 1),
        ("room", bounds.queue.into()),
        ("twice_room", 2 * u64::from(bounds.queue)),
        ("last_place", u64::from(bounds.queue) - 1),
        ("all_modules", sizes.all_modules.into()),
        ("all_points", sizes.all_points.into()),
        ("last_item", items.max(1) - 1),
        ("last_slot", slots(program).max(1) - 1),
        ("delays", u64::from(has_delays(program))),
        ("host_chooses", u64::from(bounds.choices == Choices::Host)),
        ("choice_of_child", Choice::Child as u64),
        ("choice_of_order", Choice::Order as u64),
        ("orders", ORDERS),
        ("last_fault", Fault::LAST as u64),
        ("fault_queue_full", Fault::QueueFull as u64),
        ("fault_connected", Fault::Connected as u64),
        ("fault_same_point", Fault::SamePoint as u64),
        ("fault_attached", Fault::Attached as u64),
        ("fault_attached_output", Fault::AttachedOutput as u64),
    ];
    let mut text = "specification kernel;\nconst\n".to_string();
    for (name, number) in constants {
        writeln!(text, "  {name} = {number};").expect("a string takes every line");
    }
    writeln!(text, "  lowest_append = -{};", Fault::LAST as u64).expect("a string takes it");
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
    checked.ok_or_else(|| {
        let is_large = wrong.iter().all(|one| one.id == Id::EstelleTooLarge);
        assert!(is_large, "the kernel is correct: {}", said(&wrong));
        let room = bounds.queue;
        format!(
            "{queues} queues of {room} interactions with up to {} values each; set a smaller \
             `--queue N`",
            slots(program)
        )
    })
}

/// Returns true if a transition has a delay.
fn has_delays(program: &Program) -> bool {
    let mut all = program.bodies.iter().flat_map(|body| &body.transitions);
    all.any(|one| one.delay.is_some())
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
