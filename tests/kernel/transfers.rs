//! Streams between a compiled stack and the kernel, in all roles, over cables of all kinds.
//!
//! In: scenes. Out: nothing, if they hold. All tests but the ignored one take about 40 s together,
//! of which 15 s go into the compiling of three stacks; each says its seeds where it fails.

use super::scene::{Cable, Scene, Stage};
use stackloom::simulate::network::link::Faults;
use std::collections::BTreeSet;
use std::io::ErrorKind;
use std::sync::atomic::{AtomicUsize, Ordering};

#[test]
fn streams_of_all_lengths_pass_a_clean_cable_both_ways() {
    let sizes = [0, 1, 1459, 1460, 1461, 65_535, 65_536, 1 << 20, 16 << 20];
    let scenes = sizes.into_iter().flat_map(|size| {
        [[size, 0], [0, size], [size, size]].map(|bytes| Scene {
            bytes,
            we_call: size % 2 == 0,
            ..Scene::default()
        })
    });
    play_all(&scenes.collect::<Vec<_>>());
}

#[test]
fn streams_pass_bad_cables_in_all_roles() {
    play_all(&scenes(&pairwise(&CHOICES), 4 << 20));
}

#[test]
fn two_hundred_conversations_go_on_at_once() {
    for we_call in [true, false] {
        let scene = Scene {
            bytes: [20_000, 20_000],
            conversations: 200,
            we_call,
            ..Scene::default()
        };
        scene.play();
    }
}

/// A conversation that is to be broken off.
fn broken(we_call: bool) -> Scene {
    Scene {
        bytes: [4 << 20, 4 << 20],
        we_call,
        ..Scene::default()
    }
}

#[test]
fn who_gives_up_is_heard_by_the_other() {
    for we_call in [true, false] {
        let scene = broken(we_call);
        let Some(mut stage) = Stage::new(&scene) else {
            return;
        };
        stage.begin(&scene);
        stage.until(&scene, "the first text", |stage| {
            stage.sockets.iter().any(|one| one.read > 0)
        });
        stage.abort();
        stage.until(&scene, "a reset", |stage| stage.sockets[0].failed.is_some());
        assert_eq!(stage.sockets[0].failed, Some(ErrorKind::ConnectionReset));
        assert_eq!(stage.end.over[0].closed, Some("reset"));
        stage.leave(&scene);
    }
}

#[test]
fn the_kernel_gives_up_and_we_hear_it() {
    for we_call in [true, false] {
        let scene = broken(we_call);
        let Some(mut stage) = Stage::new(&scene) else {
            return;
        };
        stage.begin(&scene);
        let some_came = |stage: &Stage| stage.end.live.values().any(|one| one.read > 0);
        stage.until(&scene, "the first text", some_came);
        stage.sockets.pop().expect("it is connected").abort();
        stage.until(&scene, "a reset", |stage| !stage.end.over.is_empty());
        assert_eq!(stage.end.over[0].closed, Some("reset"));
        stage.leave(&scene);
    }
}

#[test]
fn where_nobody_listens_a_call_is_refused() {
    for we_call in [true, false] {
        let scene = Scene {
            is_answered: false,
            ..broken(we_call)
        };
        let Some(mut stage) = Stage::new(&scene) else {
            return;
        };
        stage.begin(&scene);
        if we_call {
            stage.until(&scene, "a refusal", |stage| !stage.end.over.is_empty());
            assert_eq!(stage.end.over[0].closed, Some("refused"));
        } else {
            stage.until(&scene, "a refusal", |stage| {
                stage.sockets[0].failed.is_some()
            });
            assert_eq!(stage.sockets[0].failed, Some(ErrorKind::ConnectionRefused));
        }
        stage.leave(&scene);
    }
}

/// The whole of it, which takes ten minutes.
#[test]
#[ignore]
fn all_of_it_at_length() {
    for bytes in [[100 << 20, 0], [0, 100 << 20], [16 << 20, 16 << 20]] {
        let scene = Scene {
            bytes,
            ..Scene::default()
        };
        scene.play();
    }
    play_all(&scenes(&product(&CHOICES), 4 << 20));
}

/// How many choices there are of each kind: cables, callers, directions, faults, lengths of
/// frames, and how an application reads.
const CHOICES: [usize; 6] = [3, 2, 3, 6, 4, 2];

/// What can happen to frames, each alone, and then some of all.
fn faults(choice: usize) -> Faults {
    let mut faults = Faults::default();
    match choice {
        0 => {}
        1 => faults.loss = 0.02,
        2 => faults.duplicate = 0.1,
        3 => faults.reorder = 0.05,
        4 => (faults.delay_ns, faults.jitter_ns) = (10_000_000, 5_000_000),
        _ => {
            (faults.loss, faults.duplicate, faults.reorder) = (0.01, 0.02, 0.02);
            (faults.delay_ns, faults.jitter_ns) = (2_000_000, 1_000_000);
        }
    }
    faults
}

fn scenes(rows: &[Vec<usize>], bytes: usize) -> Vec<Scene> {
    let first = std::env::var("SEED")
        .ok()
        .and_then(|seed| seed.parse().ok());
    let scene = |(at, row): (usize, &Vec<usize>)| {
        let cable = [Cable::Tap, Cable::Tun, Cable::Tap6][row[0]];
        // IPv6 has no shorter frames.
        let least = if cable == Cable::Tap6 { 1280 } else { 576 };
        Scene {
            cable,
            we_call: row[1] == 0,
            bytes: [[bytes, 0], [0, bytes], [bytes, bytes]][row[2]],
            faults: faults(row[3]),
            carried: [least, 1500, 4096, 9000][row[4]],
            lump: [0, 50_000][row[5]],
            seed: first.unwrap_or(1) + at as u64,
            ..Scene::default()
        }
    };
    rows.iter().enumerate().map(scene).collect()
}

/// Plays them, some at a time: most of them wait most of the time.
fn play_all(scenes: &[Scene]) {
    let next = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                while let Some(scene) = scenes.get(next.fetch_add(1, Ordering::Relaxed)) {
                    scene.play();
                }
            });
        }
    });
}

/// Every choice with every other.
fn product(choices: &[usize]) -> Vec<Vec<usize>> {
    choices.iter().fold(vec![Vec::new()], |rows, count| {
        let longer =
            |row: Vec<usize>| (0..*count).map(move |choice| [&row[..], &[choice]].concat());
        rows.into_iter().flat_map(longer).collect()
    })
}

/// So many of them that any two choices of different kinds meet in one.
fn pairwise(choices: &[usize]) -> Vec<Vec<usize>> {
    let all = product(choices);
    let mut left: BTreeSet<_> = all.iter().flat_map(|row| pairs(row)).collect();
    let mut chosen = Vec::new();
    while !left.is_empty() {
        let met = |row: &&Vec<usize>| pairs(row).filter(|pair| left.contains(pair)).count();
        // Of several that are as good, the last.
        let best = all.iter().max_by_key(met).expect("there are some");
        left = &left - &pairs(best).collect();
        chosen.push(best.clone());
    }
    chosen
}

/// Any two choices of a row, each with its kind.
fn pairs(row: &[usize]) -> impl Iterator<Item = [(usize, usize); 2]> {
    let kinds = 0..row.len();
    kinds.flat_map(move |one| {
        let later = one + 1..row.len();
        later.map(move |other| [(one, row[one]), (other, row[other])])
    })
}
