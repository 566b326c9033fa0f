//! Many conversations that begin and end on a bad line, some of them broken off.
//!
//! In: a line that loses, repeats, reorders and delays. Out: nothing, if all of it holds. It takes
//! about 5 s.

use crate::end::{Conversation, End, Talk};
use crate::goodput::{SETTINGS, program};
use crate::line::{ADDRESSES, Line};
use fastrand::Rng;
use stackloom::simulate::network::link::Faults;

/// How many are there at once, besides those in TIME-WAIT.
const AT_ONCE: usize = 100;

#[test]
fn two_thousand_conversations_come_and_go() {
    come_and_go(1_000, None);
    come_and_go(1_000, Some(500));
}

/// Takes half a minute.
#[test]
#[ignore]
fn a_hundred_thousand_conversations_come_and_go() {
    come_and_go(50_000, None);
    come_and_go(50_000, Some(500));
}

/// Each of them is whole, or was reset because one end gave it up, which one does in so many steps;
/// and then nothing is left.
fn come_and_go(count: usize, gives_up: Option<u32>) {
    let seed = std::env::var("SEED")
        .ok()
        .and_then(|seed| seed.parse().ok());
    let seed = seed.unwrap_or(1);
    println!("SEED={seed}");
    let mut line = Line::start(program(), SETTINGS, &bad(), seed);
    let [ours, theirs] = Talk::pair(700, 2500, 0);
    line.ends[1].listen(7, theirs, 0);
    let mut chance = Rng::with_seed(seed);
    let (mut called, mut given_up) = (0, 0);
    loop {
        let now_ns = line.now_ns;
        while called < count
            && line.ends[0].live.len() < AT_ONCE
            && line.ends[0].call((ADDRESSES[1], 7), ours, now_ns)
        {
            called += 1;
        }
        if gives_up.is_some_and(|steps| chance.u32(0..steps) == 0) {
            given_up += abort(&mut line.ends[chance.usize(0..2)], &mut chance, now_ns);
        }
        // Whoever waits for one that gave up, and whose reset was lost, waits for ever.
        if !line.step() && (0..2).all(|end| abort(&mut line.ends[end], &mut chance, now_ns) == 0) {
            break;
        }
    }
    assert_eq!(line.ends[0].over.len(), count, "SEED={seed}");
    for end in &line.ends {
        // Whoever has all but the answer to its last word may be reset by the next one who calls.
        let resets = end.over.iter().filter(|one| !one.is_whole());
        let resets: Vec<&Conversation> = resets.collect();
        let broken = resets.iter().filter(|one| !one.has_all()).count();
        let all = resets.iter().all(|one| one.closed == Some("reset"));
        assert!(all && broken <= given_up, "SEED={seed}: {resets:?}");
    }
    line.leave();
}

/// Breaks one off, if there is one: how many it were.
fn abort(end: &mut End, chance: &mut Rng, now_ns: u64) -> usize {
    let live: Vec<u32> = end.live.keys().copied().collect();
    let Some(session) = chance.choice(&live) else {
        return 0;
    };
    end.abort(*session, now_ns);
    1
}

/// What the line does.
fn bad() -> Faults {
    Faults {
        loss: 0.03,
        duplicate: 0.03,
        reorder: 0.03,
        delay_ns: 5_000_000,
        jitter_ns: 5_000_000,
        ..Faults::default()
    }
}
