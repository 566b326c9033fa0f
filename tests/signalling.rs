//! The signalling of slots: the layer `spp`, and the machines that it stands for.
//!
//! In: the machines of `signalling/model.rs`. Out: all their states over a bad link, in none of
//! which both ends rest with different layers; and the same inputs to the machines and to the
//! layer, which must send the same. `SEED=n` runs one sequence of inputs alone.

#[path = "signalling/explore.rs"]
mod explore;
#[path = "signalling/layer.rs"]
mod layer;
#[path = "signalling/model.rs"]
mod model;

use explore::Protocol;
use model::{Fault, Machines};

/// The machines of one layer, and a link that repeats and reorders.
const WILD: Protocol = Protocol {
    machines: Machines {
        epochs: 8,
        fault: None,
    },
    layers: 1,
    lifetime: Some(2),
};

fn agree(protocol: Protocol, states: usize) {
    let explored = protocol.explore();
    assert_eq!(explored.mismatch(), None);
    assert_eq!(explored.stuck(), 0);
    assert_eq!(explored.count(), states);
}

#[test]
fn both_ends_agree_over_a_link_that_loses() {
    let lifetime = None;
    agree(Protocol { lifetime, ..WILD }, 319_280);
}

#[test]
#[ignore = "takes a minute"]
fn both_ends_agree_on_one_of_two_layers() {
    let ordered = Protocol {
        layers: 2,
        lifetime: None,
        ..WILD
    };
    agree(ordered, 2_824_016);
}

#[test]
fn both_ends_agree_over_a_link_that_reorders_and_repeats() {
    agree(WILD, 551_928);
}

#[test]
#[ignore = "takes a minute"]
fn messages_may_be_late_by_three_epochs() {
    let lifetime = Some(3);
    agree(Protocol { lifetime, ..WILD }, 1_538_952);
}

#[test]
fn faults_of_the_machines_are_seen() {
    for fault in [
        Fault::EndedOfAnyEpoch,
        Fault::BeginOfTheSameEpoch,
        Fault::AbortUnanswered,
        Fault::ForgetsAbort,
        Fault::EpochStays,
        Fault::RunsAhead,
    ] {
        let machines = Machines {
            fault: Some(fault),
            ..WILD.machines
        };
        let explored = Protocol { machines, ..WILD }.explore();
        let way = explored.mismatch().map(|way| way.len() - 1);
        let stuck = explored.stuck();
        println!("{fault:?}: mismatch after {way:?} steps, {stuck} states stuck");
        assert!(way.is_some() || stuck > 0, "{fault:?} is not seen");
    }
}

/// The seeds of the sequences of inputs.
fn seeds() -> std::ops::Range<u64> {
    let seed = std::env::var("SEED")
        .ok()
        .and_then(|text| text.parse().ok());
    seed.map_or(0..40, |seed: u64| seed..seed + 1)
}

#[test]
fn the_layer_does_what_the_machines_do() {
    let library = layer::library();
    for seed in seeds() {
        layer::differ(seed, &library).unwrap_or_else(|told| panic!("SEED={seed}: {told}"));
    }
}

/// Faults in the layer, each a text of it and another for it.
const FAULTS: [[&str; 2]; 5] = [
    ["if not asked { wanted = variant }", "wanted = variant"],
    ["age <= 4", "age <= 8"],
    [
        "if header.word >= boost { heard",
        "if header.word > boost { heard",
    ],
    ["ends = wanted == 0 and far > 0", "ends = false"],
    ["mine = (mine + 1) % 8", "mine = mine"],
];

#[test]
fn faults_of_the_layer_are_seen() {
    for [right, wrong] in FAULTS {
        let mut library = layer::library();
        let mut texts = library.values_mut().filter(|text| text.contains(right));
        let (text, other) = (texts.next(), texts.next());
        let text = text.expect("the layer has it");
        assert!(
            other.is_none() && text.matches(right).count() == 1,
            "{right}"
        );
        *text = text.replace(right, wrong);
        let seen = seeds().find_map(|seed| layer::differ(seed, &library).err());
        let told = seen.unwrap_or_else(|| panic!("nobody sees `{wrong}`"));
        assert!(!told.contains("Diagnostic"), "{told}");
        println!("`{wrong}`: {told}");
    }
}
