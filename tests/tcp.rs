//! TCP by the interpreters: two hosts with each other, and one with segments of all kinds; and as
//! C, on lines that are long and bad.

#[path = "streams/content.rs"]
mod content;
#[path = "tcp/crowd.rs"]
mod crowd;
#[path = "streams/end.rs"]
mod end;
#[path = "c_agrees/externs.rs"]
#[allow(dead_code)]
mod externs;
#[path = "agree/fault.rs"]
mod fault;
#[path = "tcp/faulty.rs"]
mod faulty;
#[path = "tcp/goodput.rs"]
mod goodput;
#[path = "tcp/host.rs"]
mod host;
#[path = "tcp/known.rs"]
mod known;
#[path = "streams/lane.rs"]
mod lane;
#[path = "streams/line.rs"]
mod line;
#[path = "tcp/pair.rs"]
mod pair;
#[path = "agree/profiles.rs"]
#[allow(dead_code)]
mod profiles;
#[path = "streams/recorded.rs"]
mod recorded;
#[path = "tcp/replayed.rs"]
mod replayed;
#[path = "c_agrees/run.rs"]
#[allow(dead_code)]
mod run;
#[path = "tcp/segment.rs"]
mod segment;
#[path = "agree/stacks.rs"]
mod stacks;
#[path = "tcp/states.rs"]
mod states;
#[path = "tcp/table.rs"]
mod table;

use known::built;
use pair::{Pair, Way};
use segment::THEIRS;
use stackloom::simulate::reference::Reference;
use stackloom::simulate::stack::{Control, Outcome};
use stackloom::simulate::trees::Trees;
use stackloom::types::program::Program;
use states::{Connection, segments};
use table::{Reply, STATES};

/// Both send so many bytes, and close. Gives how many segments went.
fn exchange<'p, C: Control<'p>>(
    program: &'p Program,
    controls: [C; 2],
    way: (Way, u64),
    bytes: usize,
) -> u64 {
    let (_, seed) = way;
    let mut pair = exchanged(program, controls, way, bytes);
    for one in 0..2 {
        assert!(
            pair.text[one] == text(bytes),
            "SEED={seed}: {one} read {}",
            pair.text[one].len()
        );
        assert_eq!(pair.told(one, "finished"), 1);
        assert_eq!(pair.told(one, "closed"), 1, "{:?}", pair.heard[one]);
        assert_eq!(pair.hosts[one].held(), (0, false, 0), "nothing is left");
    }
    pair.sent
}

/// What both send.
fn text(bytes: usize) -> Vec<u8> {
    (0..bytes).map(|at| (at * 7 + at / 251) as u8).collect()
}

/// Both send so many bytes, and close, as far as that can be done.
fn exchanged<'p, C: Control<'p>>(
    program: &'p Program,
    controls: [C; 2],
    (way, seed): (Way, u64),
    bytes: usize,
) -> Pair<'p, C> {
    let mut pair = Pair::start(program, controls, way, seed);
    pair.settle();
    pair.hosts[1].listen(7);
    let session = pair.hosts[0].open(4000, THEIRS, 7);
    pair.session[0] = Some(session);
    let text = text(bytes);
    let mut sent = [0, 0];
    let mut closed = [false; 2];
    for turn in 0.. {
        assert!(turn < 1_000_000, "SEED={seed} does not end");
        for one in 0..2 {
            let Some(session) = pair.session[one] else {
                continue;
            };
            while pair.credit[one] > 0 && sent[one] < bytes && pair.told(one, "closed") == 0 {
                let most = (bytes - sent[one]).min(pair.credit[one] as usize).min(3000);
                let outcome = pair.hosts[one].send(session, &text[sent[one]..sent[one] + most]);
                assert_eq!(outcome, Outcome::Sent);
                sent[one] += most;
                pair.credit[one] -= most as u64;
            }
            if sent[one] == bytes && pair.told(one, "grant_sends") > 0 && !closed[one] {
                closed[one] = true;
                pair.hosts[one].tell(session, "shutdown", &[]);
            }
        }
        if !pair.step() {
            break;
        }
    }
    pair
}

/// A way that loses one of ten.
fn bad_way(seed: u64) -> (Way, u64) {
    let way = Way {
        lost: 10,
        twice: seed as u32 % 5 * 5,
        late: 20 - seed as u32 % 5 * 5,
        delay_ns: 5_000_000,
    };
    (way, seed)
}

/// So many seeds: `SEED=n` is one alone, `SEEDS=n` so many, both together so many from there on.
fn seeds(usual: u64) -> std::ops::Range<u64> {
    let set = |name: &str| std::env::var(name).ok()?.parse::<u64>().ok();
    match (set("SEED"), set("SEEDS")) {
        (Some(seed), count) => seed..seed + count.unwrap_or(1),
        (None, count) => 0..count.unwrap_or(usual),
    }
}

#[test]
fn all_comes_over_a_clean_way() {
    let (program, forest) = built();
    let way = Way {
        delay_ns: 1_000_000,
        ..Way::default()
    };
    for bytes in [1, 100_000] {
        let trees = [(); 2].map(|()| Trees::new(&program, &forest));
        exchange(&program, trees, (way, 1), bytes);
    }
}

#[test]
fn all_comes_over_bad_ways() {
    let (program, forest) = built();
    for seed in seeds(10) {
        let trees = [(); 2].map(|()| Trees::new(&program, &forest));
        exchange(&program, trees, bad_way(seed), 20_000);
    }
}

#[test]
fn the_reference_sends_what_the_trees_send() {
    let (program, forest) = built();
    for seed in seeds(2) {
        let trees = [(); 2].map(|()| Trees::new(&program, &forest));
        let references = [(); 2].map(|()| Reference::new(&program));
        let sent = exchange(&program, trees, bad_way(seed), 5_000);
        assert_eq!(sent, exchange(&program, references, bad_way(seed), 5_000));
    }
}

#[test]
fn a_specialised_host_does_the_same_over_a_clean_way() {
    let (program, forest) = known::specialised();
    let trees = [(); 2].map(|()| Trees::new(&program, &forest));
    let sent = exchange(&program, trees, known::CLEAN, 100_000);
    let (program, forest) = built();
    let trees = [(); 2].map(|()| Trees::new(&program, &forest));
    assert_eq!(sent, exchange(&program, trees, known::CLEAN, 100_000));
}

#[test]
fn a_connection_that_meets_what_was_cut_is_reset() {
    let (program, forest) = known::specialised();
    let (mut met, seeds) = (0, seeds(10));
    let few = (seeds.end - seeds.start) / 3;
    for seed in seeds {
        let trees = [(); 2].map(|()| Trees::new(&program, &forest));
        let mut pair = exchanged(&program, trees, bad_way(seed), 20_000);
        for one in 0..2 {
            let cut = pair.hosts[one].counted("count tcp.cut_");
            if cut == 0 {
                continue;
            }
            met += 1;
            let closed = pair.heard[one].iter();
            let closed = closed.filter(|(_, name, _)| name == "closed");
            let why: Vec<&[u64]> = closed.map(|(.., why)| &why[..]).collect();
            let known = pair.session[one].is_some();
            assert!(
                !known || why.len() == 1,
                "SEED={seed}: {:?}",
                pair.heard[one]
            );
            let gone = pair.hosts[one].held();
            assert_eq!(gone, (0, false, 0), "SEED={seed}: nothing is left");
        }
    }
    assert!(met >= few, "bad ways meet cuts: {met}");
}

/// How many of all segments are tried in each state; `ALL=1`: every one.
const STEP: usize = 7;

#[test]
fn every_segment_in_every_state_is_met_as_the_table_says() {
    let (program, forest) = built();
    let trees = || Trees::new(&program, &forest);
    let step = if std::env::var("ALL").is_ok() {
        1
    } else {
        STEP
    };
    let mut wrong = Vec::new();
    for (at, state) in STATES.iter().copied().enumerate() {
        let known = Connection::new(&program, trees(), state);
        let all = segments(&known.known, &known.blank());
        for segment in all.into_iter().skip(at).step_by(step) {
            let mut connection = Connection::new(&program, trees(), state);
            let expected = table::reaction(state, &connection.known, &segment);
            let mut found = connection.react(&segment);
            if let Ok(found) = &mut found {
                let is_open = matches!(found.reply, Reply::Silence | Reply::Acknowledgement);
                if expected.reply == Reply::Perhaps && is_open {
                    found.reply = Reply::Perhaps;
                }
            }
            if found.as_ref() != Ok(&expected) {
                wrong.push(format!(
                    "{state:?}: {segment:?}\n  known {:?}\n  table {expected:?}\n  found {found:?}",
                    known.known
                ));
            }
        }
    }
    assert!(
        wrong.is_empty(),
        "{} differ:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}
