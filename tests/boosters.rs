//! The signalling protocol of boosters, explored state by state (Boosters 1999, section 4.5).
//!
//! In: the two machines as tables, and a link that loses, repeats and reorders. Out: what can go
//! wrong. The paper's machines can come to rest with one end boosted and the other not; with an
//! epoch in each message they cannot.
//!
//! A **silent mismatch** is a state in which the ends differ, no message is under way and no timer
//! runs. A state is **stuck** if the ends never come to agree without another wish of a policy.

#[path = "boosters/explore.rs"]
mod explore;
#[path = "boosters/faults.rs"]
mod faults;
#[path = "boosters/machine.rs"]
mod machine;
#[path = "boosters/network.rs"]
mod network;
#[path = "boosters/trace.rs"]
mod trace;

use explore::{Explored, explore};
use faults::Fault;
use machine::{Booster, Debooster};
use network::{Link, Protocol, Refusal};

/// Reorders and repeats messages, which live for up to three swaps.
const WILD: Link = Link::Wild { lifetime: 3 };

/// The machines with 8 epochs: as good as 16, and half as many states.
const EPOCHS: Protocol = Protocol::with_epochs(8);

/// The shortest way of the paper's machines to a silent mismatch.
const MISMATCH: &str = include_str!("boosters/mismatch.txt");

/// The states of both ends in silent mismatches, each with the length of the shortest way there.
fn mismatches(explored: &Explored) -> Vec<(Booster, Debooster, usize)> {
    let mut found: Vec<(Booster, Debooster, usize)> = Vec::new();
    for state in explored.mismatches() {
        let ends = (state.booster, state.debooster);
        if !found
            .iter()
            .any(|(booster, debooster, _)| (*booster, *debooster) == ends)
        {
            found.push((state.booster, state.debooster, explored.way(&state).len()));
        }
    }
    found
}

fn is_sound(explored: &Explored) -> bool {
    explored.boosts() && explored.mismatches().is_empty() && explored.stuck() == 0
}

#[test]
fn the_papers_machines_end_in_a_silent_mismatch_after_13_steps() {
    let explored = explore(&Protocol::PAPER);
    let expected = [
        (Booster::Idle, Debooster::RunDeboost, 13),
        (Booster::RunBoostSilent, Debooster::Idle, 16),
    ];
    assert_eq!(mismatches(&explored), expected);
    let first = explored.mismatches()[0];
    let text = trace::text(&explored.way(&first));
    println!("{text}");
    assert_eq!(text, MISMATCH);
    assert_eq!((explored.count(), explored.stuck()), (1_762, 67));
}

#[test]
fn machines_with_epochs_agree_over_a_link_that_loses() {
    for (epochs, count) in [(4, 5_372), (8, 10_744), (16, 21_488)] {
        let explored = explore(&Protocol::with_epochs(epochs));
        assert!(is_sound(&explored));
        assert_eq!(explored.count(), count);
    }
}

#[test]
fn machines_with_epochs_agree_over_a_link_that_reorders_and_repeats() {
    let explored = explore(&Protocol {
        link: WILD,
        ..EPOCHS
    });
    assert!(is_sound(&explored));
    assert_eq!(explored.count(), 236_504);
}

#[test]
#[ignore = "takes ten seconds"]
fn sixteen_epochs_are_as_good_as_eight() {
    let explored = explore(&Protocol {
        link: WILD,
        ..Protocol::with_epochs(16)
    });
    assert!(is_sound(&explored));
    assert_eq!(explored.count(), 473_008);
}

/// The paper's machines and nothing but epochs: the debooster has no state for its wish, and the
/// booster does not refuse.
#[test]
fn epochs_alone_are_enough() {
    let refusal = Refusal::Never;
    let plain = |epochs, link| Protocol {
        epochs: Some(epochs),
        asks: false,
        refusal,
        link,
        fault: None,
    };
    let protocols = [plain(4, Link::Ordered), plain(8, WILD)];
    for (protocol, count) in protocols.into_iter().zip([3_696, 167_328]) {
        let explored = explore(&protocol);
        assert!(is_sound(&explored));
        assert_eq!(explored.count(), count);
    }
}

#[test]
fn a_booster_that_always_refuses_comes_to_rest() {
    let explored = explore(&Protocol {
        refusal: Refusal::Always,
        ..EPOCHS
    });
    assert!(is_sound(&explored));
}

/// The verdict of the exploration on a fault.
#[derive(Debug, PartialEq, Eq)]
enum Verdict {
    Sound,
    /// Some states are stuck.
    Stuck,
    /// Both ends are never boosted, and some states are stuck.
    NeverBoosts,
    /// Silent mismatches, the nearest after so many steps.
    Mismatch(usize),
}

fn verdict(fault: Fault, refusal: Refusal, link: Link) -> Verdict {
    let fault = Some(fault);
    let explored = explore(&Protocol {
        fault,
        refusal,
        link,
        ..EPOCHS
    });
    match explored.mismatches().first() {
        Some(state) => Verdict::Mismatch(explored.way(state).len()),
        None if !explored.boosts() => Verdict::NeverBoosts,
        None if explored.stuck() > 0 => Verdict::Stuck,
        None => Verdict::Sound,
    }
}

#[test]
fn faults_are_found() {
    // Without order, shorter lives are enough, and fewer states.
    let wild = Link::Wild { lifetime: 1 };
    for fault in Fault::ALL {
        let (refusal, link, expected) = match fault {
            Fault::AbortUnanswered => (Refusal::Sometimes, Link::Ordered, Verdict::Stuck),
            Fault::IdleNotSent => (Refusal::Sometimes, Link::Ordered, Verdict::Stuck),
            Fault::EpochNotAdvanced => (Refusal::Sometimes, Link::Ordered, Verdict::NeverBoosts),
            Fault::IdleWithoutEpoch => (Refusal::Sometimes, Link::Ordered, Verdict::Mismatch(13)),
            Fault::StartedWithoutEpoch => (Refusal::Sometimes, wild, Verdict::Mismatch(9)),
            Fault::AsksAfterRefusal => (Refusal::Always, Link::Ordered, Verdict::Stuck),
            Fault::TimerNotRestarted => (Refusal::Sometimes, Link::Ordered, Verdict::Mismatch(3)),
        };
        assert_eq!(verdict(fault, refusal, link), expected, "{fault:?}");
    }
}

/// On a link that keeps the order, a STARTED of another epoch is never first.
#[test]
fn the_epoch_of_started_matters_only_where_messages_are_reordered() {
    let found = verdict(
        Fault::StartedWithoutEpoch,
        Refusal::Sometimes,
        Link::Ordered,
    );
    assert_eq!(found, Verdict::Sound);
}
