//! Random operations on the containers in Rust, with their answers as `driver.c` prints them.

use std::fmt::{Display, Write};

use stackloom::simulate::containers::{Ring, Set, Window};
use stackloom::simulate::pool::Pool;
use stackloom::simulate::stream::Stream;
use stackloom::simulate::timers::Timers;
use stackloom::types::constant::{inverse, product};

/// The operations of one seed on one container.
pub struct Trace {
    pub kind: &'static str,
    pub seed: u64,
    pub steps: Vec<Step>,
}

/// A line that goes to the driver, and the line that must come back.
pub struct Step {
    pub operation: String,
    pub answer: String,
}

/// Tries one kind of container.
type Record = fn(&mut Recorder);

/// A trace of each kind.
pub fn all(seed: u64) -> Vec<Trace> {
    let kinds: [(&str, Record); 10] = [
        ("ring", ring),
        ("set", set),
        ("window", window),
        ("stream", |recorder| stream(recorder, 1)),
        ("appended", |recorder| stream(recorder, 2)),
        ("pieces", pieces),
        ("pool", pool),
        ("timers", timers),
        ("bytes", bytes),
        ("galois", galois),
    ];
    let trace = |(number, (kind, record)): (u64, (&'static str, Record))| {
        let mut recorder = Recorder {
            state: mix(seed << 8 | number),
            steps: Vec::new(),
        };
        record(&mut recorder);
        Trace {
            kind,
            seed,
            steps: recorder.steps,
        }
    };
    (0..).zip(kinds).map(trace).collect()
}

/// Chooses operations at random, and writes them down.
struct Recorder {
    state: u64,
    steps: Vec<Step>,
}

impl Recorder {
    /// The next number of SplitMix64.
    fn random(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        mix(self.state)
    }

    fn below(&mut self, bound: u32) -> u32 {
        (self.random() % u64::from(bound)) as u32
    }

    fn one_of<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[self.below(choices.len() as u32) as usize]
    }

    /// The first, or one time in ten one of the others.
    fn mostly<T: Copy>(&mut self, first: T, others: &[T]) -> T {
        if self.below(10) == 0 {
            self.one_of(others)
        } else {
            first
        }
    }

    /// From 0 to `longest` bytes; more often few.
    fn bytes(&mut self, longest: u32) -> Vec<u8> {
        let bound = self.below(longest + 1) + 1;
        (0..self.below(bound))
            .map(|_| self.random() as u8)
            .collect()
    }

    fn begin(&mut self, capacity: u32, largest: u32, size: u32) {
        self.step(format!("begin {capacity} {largest} {size}"), String::new());
    }

    fn step(&mut self, operation: String, answer: String) {
        self.steps.push(Step { operation, answer });
    }
}

/// The finaliser of SplitMix64.
fn mix(value: u64) -> u64 {
    let value = (value ^ value >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let value = (value ^ value >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    value ^ value >> 31
}

fn or_none<T: Display>(answer: Option<T>) -> String {
    answer.map_or("none".to_string(), |answer| answer.to_string())
}

fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().fold(".".to_string(), |mut text, byte| {
        write!(text, "{byte:02x}").expect("a string can be written");
        text
    })
}

fn ring(recorder: &mut Recorder) {
    let capacity = recorder.one_of(&[1, 2, 3, 64, 100]);
    recorder.begin(capacity, 1, 1);
    let mut ring = Ring::new(capacity as usize);
    for item in 0..400 {
        let (operation, answer) = if recorder.below(7) < 4 {
            (
                format!("ring_push {item}"),
                u8::from(ring.push(item).is_ok()).to_string(),
            )
        } else {
            ("ring_pop".to_string(), or_none(ring.pop()))
        };
        recorder.step(operation, format!("{answer} {}", ring.len()));
    }
}

fn set(recorder: &mut Recorder) {
    let capacity = recorder.one_of(&[1, 10, 63, 64, 65, 200]);
    recorder.begin(capacity, 1, 1);
    let mut set = Set::new(capacity);
    for _ in 0..400 {
        let element = recorder.below(capacity + 2);
        let (operation, answer) = match recorder.below(50) {
            0 => {
                set.clear();
                recorder.step("set_clear".to_string(), String::new());
                continue;
            }
            1..20 => ("insert", set.insert(element)),
            20..35 => ("remove", set.remove(element)),
            _ => ("has", set.has(element)),
        };
        recorder.step(
            format!("set_{operation} {element}"),
            u8::from(answer).to_string(),
        );
    }
}

fn window(recorder: &mut Recorder) {
    let largest = recorder.one_of(&[u8::MAX.into(), u16::MAX.into(), u32::MAX]);
    let capacity = recorder.one_of(&[1, 2, 3, 8, 64, 100, 128]);
    recorder.begin(capacity, largest, 1);
    let mut window = Window::new(capacity, largest);
    let mut near = recorder.random() as u32 & largest;
    let inserts = recorder.one_of(&[35, 50]); // the window stays sparse, or fills
    if recorder.below(3) == 0 {
        window.begin(near);
        recorder.step(format!("win_begin {near}"), String::new());
    }
    for item in 0..400 {
        near = window.first().unwrap_or(near);
        let around = near
            .wrapping_add(recorder.below(3 * capacity))
            .wrapping_sub(capacity);
        let anywhere = recorder.random() as u32;
        let opposite = near.wrapping_add(largest / 2 + recorder.below(2));
        let n = recorder.mostly(around, &[opposite, anywhere]) & largest;
        let (operation, answer) = match recorder.below(100) {
            percent if percent < inserts => {
                let answer = u8::from(window.insert(n, item).is_ok()).to_string();
                (format!("win_insert {n} {item}"), answer)
            }
            ..50 => {
                let held = (0..capacity).map(|ahead| n.wrapping_add(ahead) & largest);
                let n = held.rev().find(|n| window.has(*n)).unwrap_or(n);
                (format!("win_take {n}"), or_none(window.take(n)))
            }
            50..75 => (format!("win_take {n}"), or_none(window.take(n))),
            75..85 => {
                let [has, takes] = [window.has(n), window.takes(n)].map(u8::from);
                let answer = format!("{} {has} {takes}", or_none(window.get(n)));
                (format!("win_get {n}"), answer)
            }
            85..92 => (format!("win_release {n}"), or_none(window.release(n))),
            _ => (format!("win_replace {n}"), or_none(window.replace(n))),
        };
        let first = window
            .first()
            .map_or(String::new(), |first| format!(" from {first}"));
        recorder.step(operation, answer + &first);
    }
}

/// A stream. Into one whose slots are said to have two bytes nothing is inserted, but appended.
fn stream(recorder: &mut Recorder, size: u32) {
    let largest = recorder.one_of(&[u8::MAX.into(), u16::MAX.into(), u32::MAX]);
    let capacity = recorder
        .one_of(&[1, 7, 64, 100, 255, 300, 1500])
        .min(largest);
    recorder.begin(capacity, largest, size);
    let mut stream = Stream::new(capacity, largest);
    let begin = recorder.one_of(&[0, largest - capacity / 2, largest - capacity * 2 / 3]);
    stream.restart(begin);
    recorder.step(format!("str_begin {begin}"), format!(" {begin} {begin}"));
    let longest = recorder.one_of(&[4, 70, 400]).min(capacity);
    for _ in 0..400 {
        let around = stream
            .begin()
            .wrapping_add(recorder.below(capacity + 8))
            .wrapping_sub(4);
        let anywhere = recorder.random() as u32;
        let opposite = stream.begin().wrapping_add(largest / 2 + recorder.below(2));
        let last = stream.begin().wrapping_add(capacity);
        let at = recorder.mostly(around, &[opposite, last, anywhere]) & largest;
        let data = recorder.bytes(longest);
        let (operation, answer) = match recorder.below(100) {
            0 => {
                stream.restart(at);
                (format!("str_begin {at}"), String::new())
            }
            1..50 if size == 1 => {
                let answer = u8::from(stream.insert(at, &data)).to_string();
                (format!("str_insert {at} {}", hexadecimal(&data)), answer)
            }
            1..60 => {
                let answer = u8::from(stream.append(&data)).to_string();
                (format!("str_append {}", hexadecimal(&data)), answer)
            }
            60..75 => (format!("str_ready {at}"), stream.ready(at).to_string()),
            75..90 => {
                let length = recorder.below(stream.ready(at) + 2);
                let covered = stream.covers(at, length);
                let copy = covered.then(|| hexadecimal(&stream.copy(at, length)));
                (
                    format!("str_copy {at} {length}"),
                    copy.unwrap_or("gap".to_string()),
                )
            }
            _ => {
                let few = stream.begin().wrapping_add(data.len() as u32) & largest;
                let to = if recorder.below(4) == 0 { at } else { few };
                (format!("str_release {to}"), stream.release(to).to_string())
            }
        };
        recorder.step(
            operation,
            format!("{answer} {} {}", stream.begin(), stream.end()),
        );
    }
}

/// Short pieces far apart in a large stream, so that its ranges run out, and are joined again, from
/// near the end of the numbers on.
fn pieces(recorder: &mut Recorder) {
    let largest = recorder.one_of(&[u8::MAX.into(), u16::MAX.into(), u32::MAX]);
    let capacity = recorder.one_of(&[120, 255, 1500]).min(largest);
    recorder.begin(capacity, largest, 1);
    let mut stream = Stream::new(capacity, largest);
    let begin = largest - recorder.below(capacity);
    stream.restart(begin);
    recorder.step(format!("str_begin {begin}"), format!(" {begin} {begin}"));
    let places = recorder.one_of(&[20, 40, 60]);
    let most = recorder.one_of(&[2, 5]);
    for _ in 0..600 {
        let place = recorder.below(places) * (capacity / places);
        let at = stream.begin().wrapping_add(place) & largest;
        let next = at.wrapping_add(recorder.below(most)) & largest;
        let (operation, answer) = match recorder.below(100) {
            ..60 => {
                let data = recorder.bytes(capacity / places + 1);
                let answer = u8::from(stream.insert(next, &data)).to_string();
                (format!("str_insert {next} {}", hexadecimal(&data)), answer)
            }
            60..70 => (format!("str_ready {next}"), stream.ready(next).to_string()),
            70..92 => {
                let (at, length) = match recorder.below(2) {
                    0 => (next, stream.ready(next)),
                    _ => (stream.begin(), stream.ready(stream.begin())),
                };
                let covered = stream.covers(at, length);
                let copy = covered.then(|| hexadecimal(&stream.copy(at, length)));
                let answer = copy.unwrap_or("gap".to_string());
                (format!("str_copy {at} {length}"), answer)
            }
            _ => {
                let few = recorder.below(most * 8);
                let to = stream.begin().wrapping_add(few) & largest;
                (format!("str_release {to}"), stream.release(to).to_string())
            }
        };
        let edges = format!("{} {}", stream.begin(), stream.end());
        recorder.step(operation, format!("{answer} {edges}"));
    }
}

fn pool(recorder: &mut Recorder) {
    let capacity = recorder.one_of(&[1, 2, 10, 64]);
    recorder.begin(capacity, 1, 1);
    let mut pool = Pool::new(capacity);
    for _ in 0..400 {
        let (key, slot) = (recorder.below(2 * capacity), recorder.below(capacity + 2));
        let (operation, answer) = match recorder.below(100) {
            0..45 if pool.find(&key).is_none() => {
                (format!("pool_create {key}"), or_none(pool.create(key)))
            }
            45..75 if pool.has(slot) => {
                pool.end(slot);
                (format!("pool_end {slot}"), String::new())
            }
            75..85 => (
                format!("pool_has {slot}"),
                u8::from(pool.has(slot)).to_string(),
            ),
            85..95 => (format!("pool_each {slot}"), or_none(pool.each(slot))),
            _ => (format!("pool_find {key}"), or_none(pool.find(&key))),
        };
        recorder.step(operation, answer);
    }
}

fn timers(recorder: &mut Recorder) {
    let capacity = recorder.one_of(&[1, 2, 10, 100]);
    recorder.begin(capacity, 1, 1);
    let mut timers = Timers::default();
    for _ in 0..400 {
        let id = recorder.below(capacity);
        let (operation, answer) = match recorder.below(100) {
            0..50 => {
                let late = recorder.random() >> recorder.below(64);
                let deadline_ns = recorder.one_of(&[u64::from(id) % 4, late]);
                timers.start(id, deadline_ns);
                (format!("tim_start {id} {deadline_ns}"), String::new())
            }
            50..65 => {
                timers.stop(&id);
                (format!("tim_stop {id}"), String::new())
            }
            65..75 => {
                let other = recorder.below(capacity);
                match (timers.expires(&id), timers.expires(&other)) {
                    (Some(one), Some(behind)) => (
                        format!("tim_sooner {id} {other}"),
                        u8::from(one < behind).to_string(),
                    ),
                    (runs, _) => (
                        format!("tim_running {id}"),
                        u8::from(runs.is_some()).to_string(),
                    ),
                }
            }
            _ => {
                let first = timers.first().copied();
                if let Some(id) = &first {
                    timers.stop(id);
                }
                ("tim_expire".to_string(), or_none(first))
            }
        };
        // Mostly several things happen before somebody asks which is the next one.
        recorder.step(operation, answer);
        if recorder.below(3) == 0 {
            let (first, deadline) = (or_none(timers.first()), timers.deadline_ns());
            let deadline_ns = deadline.unwrap_or(u64::MAX);
            recorder.step("tim_look".to_string(), format!("{first} at {deadline_ns}"));
        }
    }
}

fn bytes(recorder: &mut Recorder) {
    for _ in 0..40 {
        let (value, seed) = (recorder.random(), recorder.random());
        let odd = recorder.random() | 1;
        let data = value.to_be_bytes();
        let big = |width: usize| {
            data[..width]
                .iter()
                .fold(0, |sum, byte| sum << 8 | *byte as u64)
        };
        let little = |width: usize| {
            data[..width]
                .iter()
                .rev()
                .fold(0, |sum, byte| sum << 8 | *byte as u64)
        };
        let mut loads: Vec<String> = [2, 3, 4, 6, 8]
            .map(|width| format!("{} {}", big(width), little(width)))
            .to_vec();
        let filled = |width: usize| big(width) << (8 * (4 - width));
        loads.extend((1..4).map(|width| format!("{} {}", filled(width), little(width))));
        // The bits under a mask are themselves, and with one of them turned they are others.
        loads.push("0 0 1 1".to_string());
        recorder.step(format!("load {}", hexadecimal(&data)), loads.join(" "));

        differ(recorder);

        let mut stored = vec![0; 2];
        for width in [2, 3, 4, 6, 8] {
            let bytes = &data[8 - width..];
            stored.extend(bytes);
            stored.extend(bytes.iter().rev());
        }
        stored.resize(50, 0);
        recorder.step(format!("store {value}"), hexadecimal(&stored));
        let some = recorder.bytes(40);
        let copied = [&[0], &some[..], &[0]].concat();
        recorder.step(format!("copy {}", hexadecimal(&some)), hexadecimal(&copied));
        let some = recorder.bytes(1500);
        let sum = some.chunks(8).fold(seed, |sum, bytes| {
            let mut word = [0; 8];
            word[..bytes.len()].copy_from_slice(bytes);
            let (sum, carried) = sum.overflowing_add(u64::from_le_bytes(word));
            sum + u64::from(carried)
        });
        recorder.step(
            format!("sum {seed} {}", hexadecimal(&some)),
            sum.to_string(),
        );
        recorder.step(
            format!("hash {odd} {seed} {value}"),
            (seed ^ value).wrapping_mul(odd).rotate_left(32).to_string(),
        );
    }
}

/// Sums and multiples of bytes in GF(256).
fn galois(recorder: &mut Recorder) {
    for _ in 0..40 {
        let factor = recorder.mostly(recorder.state as u8, &[0, 1, 2, 0x80, 0xff]);
        let sum = recorder.bytes(200);
        let other: Vec<u8> = sum.iter().map(|_| recorder.random() as u8).collect();
        let added = sum.iter().zip(&other).map(|(one, other)| one ^ other);
        let multiple = added
            .zip(&other)
            .map(|(sum, other)| sum ^ product(factor, *other));
        let scaled: Vec<u8> = multiple.map(|sum| product(factor ^ 0x35, sum)).collect();
        let given = [&sum[..], &other].concat();
        recorder.step(
            format!("galois {factor} {}", hexadecimal(&given)),
            format!("{} {}", inverse(factor), hexadecimal(&scaled)),
        );
    }
}

/// Bytes beside others that are the same under a mask, but for one bit or none.
fn differ(recorder: &mut Recorder) {
    let words =
        |recorder: &mut Recorder| [(); 4].map(|()| recorder.random().to_be_bytes()).concat();
    let [other, noise, mask, dense] = [(); 4].map(|()| words(recorder));
    let sparse = mask.iter().zip(&dense).map(|(one, other)| one & other);
    let mask: Vec<u8> = sparse.collect();
    let beside = |at: usize| other[at] ^ (noise[at] & !mask[at]);
    let mut own: Vec<u8> = (0..32).map(beside).collect();
    let bit = recorder.random() as usize % 512;
    if let Some(byte) = own.get_mut(bit / 8) {
        *byte ^= 1 << (bit % 8);
    }
    let differs = |bytes: usize| (0..bytes).any(|at| (own[at] ^ other[at]) & mask[at] != 0);
    let answers = [1, 2, 4, 8, 16, 32].map(|bytes| u8::from(differs(bytes)).to_string());
    let given = [&own[..], &other, &mask].concat();
    recorder.step(format!("differ {}", hexadecimal(&given)), answers.join(" "));
}
