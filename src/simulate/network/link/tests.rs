//! Each fault by itself, as often as it should be, and the sums that find one that is not counted.

use super::noise::{BitErrors, Clock, State};
use super::{Counts, Damaged, Faults, Flight, PATIENCE_NS, Way};

const FRAMES: u64 = 20_000;

/// Sends frames of 100 bytes every millisecond, and answers what arrives, in the order of arrival.
fn sent(faults: Faults) -> (Way, Vec<Flight>) {
    sent_every(faults, 1_000_000)
}

fn sent_every(faults: Faults, every_ns: u64) -> (Way, Vec<Flight>) {
    let mut way = Way::new(faults, 11);
    let mut flights = Vec::new();
    let mut release_ns = None;
    for number in 0..FRAMES {
        let now_ns = number * every_ns;
        if release_ns.is_some_and(|release_ns| release_ns <= now_ns) {
            way.release(now_ns, &mut flights);
        }
        let frame = [number as u8; 100];
        release_ns = way.send(&frame, now_ns, &mut flights);
    }
    way.release(u64::MAX, &mut flights);
    flights.sort_by_key(|flight| flight.at_ns);
    flights.retain(|flight| way.arrived(flight));
    assert_eq!(way.mismatch(0), None);
    (way, flights)
}

/// Whether a count is what a share should come to, within six deviations.
fn is_about(count: u64, share: f64, of: u64) -> bool {
    let mean = share * of as f64;
    (count as f64 - mean).abs() < 6.0 * (mean * (1.0 - share)).sqrt() + 1.0
}

#[test]
fn a_way_without_faults_changes_nothing() {
    let (way, flights) = sent(Faults::default());
    assert_eq!(way.counts().arrived, FRAMES);
    for (number, flight) in (0..).zip(&flights) {
        assert_eq!(flight.at_ns, number * 1_000_000);
        assert_eq!(flight.bytes, [number as u8; 100]);
    }
}

#[test]
fn as_many_frames_are_lost_as_should_be() {
    for loss in [0.01, 0.2, 1.0] {
        let (way, flights) = sent(Faults {
            loss,
            ..Faults::default()
        });
        let counts = way.counts();
        assert!(is_about(counts.lost, loss, FRAMES), "{loss}: {counts:?}");
        assert_eq!(counts.lost + flights.len() as u64, FRAMES);
    }
}

#[test]
fn bursts_are_as_long_as_they_should_be_and_as_frequent() {
    let (way, flights) = sent(Faults {
        loss: 0.1,
        burst: 4.0,
        ..Faults::default()
    });
    let lost = way.counts().lost as f64;
    let share = lost / FRAMES as f64;
    assert!((0.08..0.12).contains(&share), "{share}");
    let numbers: Vec<u64> = flights.iter().map(|flight| flight.number).collect();
    let bursts = numbers.windows(2).filter(|pair| pair[1] > pair[0] + 1);
    let mean = lost / bursts.count() as f64;
    assert!((3.4..4.6).contains(&mean), "{mean}");
}

#[test]
fn what_is_overtaken_comes_behind_the_next_and_is_not_lost() {
    let faults = Faults {
        reorder: 0.1,
        delay_ns: 5_000_000,
        ..Faults::default()
    };
    let (way, flights) = sent(faults);
    let numbers: Vec<u64> = flights.iter().map(|flight| flight.number).collect();
    let inversions = numbers.windows(2).filter(|pair| pair[0] > pair[1]).count() as u64;
    assert_eq!(inversions, way.counts().reordered);
    // A frame cannot be overtaken while another waits for that.
    assert!(is_about(inversions, 0.1 / 1.1, FRAMES), "{inversions}");
    assert_eq!(flights.len() as u64, FRAMES);
}

#[test]
fn what_nobody_overtakes_goes_on_by_itself() {
    let mut way = Way::new(
        Faults {
            reorder: 1.0,
            delay_ns: 7,
            ..Faults::default()
        },
        1,
    );
    let mut flights = Vec::new();
    let release_ns = way.send(b"alone", 10, &mut flights);
    assert_eq!(release_ns, Some(17 + PATIENCE_NS));
    way.release(16 + PATIENCE_NS, &mut flights);
    assert!(flights.is_empty(), "it is not time yet");
    assert_eq!(way.mismatch(0), None, "it is under way");
    way.release(17 + PATIENCE_NS, &mut flights);
    assert_eq!(flights.len(), 1);
    way.arrived(&flights[0]);
    assert_eq!((way.counts().reordered, way.mismatch(0)), (0, None));
}

#[test]
fn copies_follow_at_once() {
    let (way, flights) = sent(Faults {
        duplicate: 0.2,
        ..Faults::default()
    });
    assert!(is_about(way.counts().duplicated, 0.2, FRAMES));
    for pair in flights.windows(2).filter(|pair| pair[1].is_copy) {
        assert_eq!(
            (pair[0].number, pair[0].at_ns),
            (pair[1].number, pair[1].at_ns)
        );
    }
    let copies = flights.iter().filter(|flight| flight.is_copy).count() as u64;
    assert_eq!(copies, way.counts().duplicated);
}

#[test]
fn one_byte_is_corrupted_and_bits_err_as_often_as_they_should() {
    let wrong_bits = |flight: &Flight| -> u32 {
        let was = (flight.number - 1) as u8;
        flight
            .bytes
            .iter()
            .map(|byte| (byte ^ was).count_ones())
            .sum()
    };
    let (way, flights) = sent(Faults {
        corrupt: 0.3,
        ..Faults::default()
    });
    let damaged = flights
        .iter()
        .filter(|flight| wrong_bits(flight) > 0)
        .count() as u64;
    assert_eq!(damaged, way.counts().corrupted);
    assert!(is_about(damaged, 0.3, FRAMES));
    for bit_errors in [1e-5, 1e-3, 0.4] {
        let (way, flights) = sent(Faults {
            bit_errors: BitErrors::constant(bit_errors),
            ..Faults::default()
        });
        let wrong: u32 = flights.iter().map(wrong_bits).sum();
        let bits = 800 * FRAMES;
        assert!(is_about(u64::from(wrong), bit_errors, bits), "{wrong}");
        let frames = flights
            .iter()
            .filter(|flight| wrong_bits(flight) > 0)
            .count() as u64;
        assert_eq!(frames, way.counts().bit_errors);
    }
}

#[test]
fn the_rate_is_kept_and_what_waits_too_long_is_lost() {
    // 800 bits each millisecond into 400 kbit/s: every second frame has no place.
    let faults = Faults {
        rate: Some(400_000),
        queue: 8,
        ..Faults::default()
    };
    let (way, flights) = sent(faults);
    let counts = way.counts();
    assert!(
        (FRAMES / 2 - 10..FRAMES / 2 + 10).contains(&counts.queue_full),
        "{counts:?}"
    );
    for pair in flights.windows(2) {
        assert!(pair[1].at_ns - pair[0].at_ns >= 2_000_000);
    }
    let (way, flights) = sent(Faults {
        rate: Some(1_600_000),
        ..Faults::default()
    });
    assert_eq!(way.counts().arrived, FRAMES);
    assert_eq!(
        flights[5].at_ns,
        5 * 1_000_000 + 500_000,
        "its bits take half the time"
    );
}

#[test]
fn jitter_keeps_the_order() {
    let (_, flights) = sent_every(
        Faults {
            delay_ns: 1_000,
            jitter_ns: 50_000,
            ..Faults::default()
        },
        10_000,
    );
    let numbers: Vec<u64> = flights.iter().map(|flight| flight.number).collect();
    assert!(numbers.is_sorted());
    let delays = (0..)
        .zip(&flights)
        .map(|(at, flight)| flight.at_ns - at * 10_000);
    let delays: Vec<u64> = delays.collect();
    assert!(
        delays
            .iter()
            .all(|delay_ns| (1_000..=51_000).contains(delay_ns))
    );
    assert!(delays.iter().any(|delay_ns| *delay_ns < 20_000));
    assert!(delays.iter().any(|delay_ns| *delay_ns > 45_000));
}

#[test]
fn what_is_longer_than_the_link_carries_is_lost() {
    let (way, _) = sent(Faults {
        mtu: Some(99),
        ..Faults::default()
    });
    assert_eq!(way.counts().too_long, FRAMES);
    let (way, _) = sent(Faults {
        mtu: Some(100),
        ..Faults::default()
    });
    assert_eq!(way.counts().too_long, 0);
}

#[test]
fn all_that_is_sent_in_an_outage_is_lost_and_nothing_else() {
    let (way, flights) = sent(Faults {
        outages_ns: vec![5_000_000..7_000_000, 9_000_000..10_000_001],
        delay_ns: 4_000_000,
        ..Faults::default()
    });
    assert_eq!(way.counts().outage, 4);
    let first: Vec<u64> = flights.iter().take(8).map(|flight| flight.number).collect();
    assert_eq!(first, [1, 2, 3, 4, 5, 8, 9, 12]);
}

#[test]
fn a_fault_of_the_simulator_is_found() {
    let faults = Faults {
        loss: 0.1,
        reorder: 0.1,
        rate: Some(10_000_000),
        ..Faults::default()
    };
    let (mut way, flights) = sent(faults.clone());
    way.counts.lost -= 1;
    assert_eq!(way.mismatch(0), Some("a frame has no fate or two"));
    way.counts.lost += 1;
    assert_eq!(way.mismatch(1), Some("a frame has no fate or two"));

    // Frames that were to be overtaken, and were not.
    let mut in_order = flights.clone();
    in_order.sort_by_key(|flight| flight.number);
    let (mut other, _) = sent(faults.clone());
    (other.seen, other.counts.arrived) = Default::default();
    in_order.retain(|flight| other.arrived(flight));
    let wrong = "not as many frames were overtaken as it counted";
    assert_eq!(other.mismatch(0), Some(wrong));

    way.faults.rate = Some(500_000);
    let wrong = "more bits arrived than its rate carries";
    assert_eq!(way.mismatch(0), Some(wrong));
}

/// A state that lasts so long.
fn state(share: f64, length: u64, is_mean: bool) -> State {
    State {
        share,
        length,
        is_mean,
    }
}

/// The flipped bits of each frame, by the number of the frame.
fn flipped(flights: &[Flight]) -> Vec<Vec<u64>> {
    let of_frame = |flight: &Flight| {
        let sent = (flight.number - 1) as u8;
        let bits = (0..8 * flight.bytes.len() as u64)
            .filter(|at| (flight.bytes[(at / 8) as usize] ^ sent) & 0x80 >> (at % 8) != 0);
        bits.collect()
    };
    flights.iter().map(of_frame).collect()
}

#[test]
fn bit_errors_change_when_it_is_time() {
    let states = vec![
        state(0.0, 5_000_000_000, false),
        state(1e-3, 2_000_000_000, false),
    ];
    let clock = Clock::Time;
    let bit_errors = BitErrors { states, clock };
    let (_, flights) = sent(Faults {
        bit_errors,
        ..Faults::default()
    });
    let (mut good, mut bad) = (0, (0, 0));
    for (flight, flipped) in flights.iter().zip(flipped(&flights)) {
        match flight.at_ns % 7_000_000_000 < 5_000_000_000 {
            true => good += flipped.len(),
            false => bad = (bad.0 + 800, bad.1 + flipped.len() as u64),
        }
    }
    assert_eq!(good, 0);
    assert!(is_about(bad.1, 1e-3, bad.0), "{bad:?}");
}

#[test]
fn bit_errors_change_within_a_frame() {
    // At 1 Mbit/s a frame of 800 bits takes 800 us.
    let states = vec![state(0.0, 500_000, false), state(1.0, 300_000, false)];
    let clock = Clock::Time;
    let bit_errors = BitErrors { states, clock };
    let faults = Faults {
        rate: Some(1_000_000),
        bit_errors,
        ..Faults::default()
    };
    let (_, flights) = sent_every(faults, 800_000);
    let last: Vec<u64> = (500..800).collect();
    assert!(flipped(&flights).iter().all(|flipped| *flipped == last));

    let states = vec![state(0.0, 700, false), state(1.0, 300, false)];
    let clock = Clock::Bits;
    let bit_errors = BitErrors { states, clock };
    let (_, flights) = sent(Faults {
        bit_errors,
        ..Faults::default()
    });
    for (number, flipped) in (0..).zip(flipped(&flights)) {
        let bits = (0..800).filter(|at| (number * 800 + at) % 1_000 >= 700);
        assert_eq!(flipped, bits.collect::<Vec<u64>>(), "{number}");
    }
}

#[test]
fn bursts_of_bit_errors_are_as_long_and_as_frequent_as_they_should_be() {
    let states = vec![state(0.0, 90_000, true), state(1.0, 200, true)];
    let clock = Clock::Bits;
    let bit_errors = BitErrors { states, clock };
    let (_, flights) = sent(Faults {
        bit_errors,
        ..Faults::default()
    });
    let frames = (0..).zip(flipped(&flights));
    let places: Vec<u64> = frames
        .flat_map(|(number, bits)| bits.into_iter().map(move |at| number * 800 + at))
        .collect();
    let begins = places.windows(2).filter(|pair| pair[1] > pair[0] + 1);
    let bursts = 1 + begins.count();
    let expected = 800.0 * FRAMES as f64 / 90_200.0;
    assert!(
        (bursts as f64 / expected - 1.0).abs() < 0.3,
        "{bursts}, not {expected}"
    );
    let mean = places.len() as f64 / bursts as f64;
    assert!((150.0..250.0).contains(&mean), "{mean}");
    // Of exponentially distributed lengths, 22% are below a quarter of their mean.
    let mut lengths = vec![1_u64];
    for pair in places.windows(2) {
        match pair[1] == pair[0] + 1 {
            true => *lengths.last_mut().expect("the first") += 1,
            false => lengths.push(1),
        }
    }
    let short = lengths.iter().filter(|length| **length < 50).count();
    let share = short as f64 / lengths.len() as f64;
    assert!((0.12..0.33).contains(&share), "{share}");
}

#[test]
fn states_of_a_link_do_not_depend_on_its_frames() {
    let states = vec![state(0.0, 50_000_000, true), state(1.0, 5_000_000, true)];
    let clock = Clock::Time;
    let faults = Faults {
        bit_errors: BitErrors { states, clock },
        ..Faults::default()
    };
    let damaged = |every_ns| -> Vec<u64> {
        let (_, flights) = sent_every(faults.clone(), every_ns);
        let frames = flights.iter().zip(flipped(&flights));
        let damaged = frames.filter(|(_, flipped)| !flipped.is_empty());
        damaged.map(|(flight, _)| flight.at_ns).collect()
    };
    let rare = damaged(4_000_000);
    let end_ns = FRAMES * 1_000_000;
    let often = damaged(1_000_000);
    let both = often.into_iter().filter(|at_ns| at_ns % 4_000_000 == 0);
    let rare: Vec<u64> = rare.into_iter().filter(|at_ns| *at_ns < end_ns).collect();
    assert!(!rare.is_empty());
    assert_eq!(both.collect::<Vec<u64>>(), rare);
}

#[test]
fn damaged_frames_are_lost_if_it_says_so_and_all_else_stays() {
    let mut faults = Faults {
        bit_errors: BitErrors::constant(1e-4),
        corrupt: 0.05,
        duplicate: 0.1,
        reorder: 0.1,
        loss: 0.1,
        delay_ns: 5_000_000,
        ..Faults::default()
    };
    let (_, mut all) = sent(faults.clone());
    faults.damaged = Damaged::Drop;
    let (way, whole) = sent(faults);
    let came = all.len() as u64;
    all.retain(|flight| flight.bytes == [(flight.number - 1) as u8; 100]);
    assert_eq!(all, whole);
    let Counts {
        arrived, damaged, ..
    } = way.counts();
    assert_eq!(
        (arrived, damaged),
        (all.len() as u64, came - all.len() as u64)
    );
    assert!(is_about(damaged, 0.05 + 0.077, came), "{damaged} of {came}");
}

#[test]
fn a_fault_that_is_never_asked_for_takes_no_chance_from_the_others() {
    let only = Faults {
        loss: 0.1,
        ..Faults::default()
    };
    let (_, one) = sent(only.clone());
    let (_, other) = sent(Faults {
        delay_ns: 9,
        rate: Some(1_000_000_000),
        ..only
    });
    let numbers =
        |flights: &[Flight]| -> Vec<u64> { flights.iter().map(|flight| flight.number).collect() };
    assert_eq!(numbers(&one), numbers(&other));
}
