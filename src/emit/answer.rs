//! Header templates of replies: each instance keeps the constant bytes of its reply on a fast path,
//! and the path copies them at once.
//!
//! In: a path that has its instance at hand, and what asks for it. Out: the same path, which copies
//! the bytes that are the same in each of its answers, since they are made of numbers, settings and
//! keys, and writes the others; and a function that writes these bytes where the path is asked for,
//! and so before it is gone.
//!
//! ```text
//! made.data -= 8                            memcpy(made.data - 8, own->expected.answer, 8)
//! store_16(made.data, own->port)            made.data -= 8
//! store_16(made.data + 2, 5)        =>      store_32(made.data + 4, own->next)
//! store_32(made.data + 4, own->next)
//! ```
//!
//! Assumes: settings and keys stay. Ensures: the same bytes. Cost: the bytes, for each instance.

use super::Stack;
use super::algebra::{holds, number, replaced};
use super::expected::{Expected, Own};
use super::guard::is_setting;
use super::keys;
use super::settled::{self, may_fail};
use super::with_all_used;
use crate::c::tree::{Expression as C, Function, Statement as S, assign, atom, binary, call};
use crate::types::program::Kind;
use std::collections::BTreeSet;
use std::iter;
use std::ops::Range;

/// Fewer writes of what stays are done as they stand.
const FEW: usize = 5;

/// What is kept of one answer.
struct Kept {
    /// How many bytes it begins with.
    bytes: i64,
    /// Where each value stands in it, in how many bytes, and the value.
    writes: Vec<(i64, u64, Value)>,
}

/// A value that is kept.
#[derive(Clone, Debug, PartialEq)]
enum Value {
    Fixed(C),
    /// The sum of bytes that are kept, where these begin.
    Sum(i64, C),
}

impl Value {
    /// The value, where the bytes that are kept stand there.
    fn at(&self, answer: &C) -> C {
        match self {
            Value::Fixed(value) => value.clone(),
            Value::Sum(begin, sum) => {
                let mut sum = sum.clone();
                if let C::Call(_, given) = &mut sum {
                    given[0] = binary("+", answer.clone(), atom(begin.to_string()));
                }
                sum
            }
        }
    }
}

/// Lets a path copy what its answers begin with; gives what writes that.
pub fn kept(
    stack: &Stack,
    expected: &mut Expected,
    functions: &mut [Function],
) -> Option<Function> {
    let own = expected.own.clone()?;
    let path = functions.iter_mut().find(|one| expected.is_path(one))?;
    let at_hand = expected.at_hand(path)?;
    let mut kinds = stack.program.kinds.iter().zip(&stack.names.kinds);
    let (kind, _) = kinds.find(|(_, name)| **name == own.kind)?;
    let keeps = Keeps {
        expected,
        at_hand: &at_hand,
        keys: keys_at_hand(kind, &at_hand),
        sums: settled::sums(stack),
    };
    let mut all = Vec::new();
    keeps.within(&mut path.body, &mut all);
    if all.is_empty() {
        return None;
    }
    expected.answers = all.iter().map(|kept| kept.bytes as u64).collect();
    let asks = functions.iter_mut().find(|one| expected.is_asks(one))?;
    let begins = S::Do(call(
        expected.begins_name(),
        vec![atom("stack"), expected.last()],
    ));
    follow(&mut asks.body, expected, &begins);
    Some(writes(stack, expected, &own, &at_hand, &all))
}

fn keys_at_hand(kind: &Kind, at_hand: &str) -> Vec<C> {
    let names = keys::members(kind).into_iter();
    let names = names.filter_map(|key| match key {
        C::Atom(name) => Some(atom(at_hand).behind(name)),
        _constant => None,
    });
    names.collect()
}

/// Lets something be done wherever a frame is noted.
fn follow(block: &mut Vec<S>, expected: &Expected, begins: &S) {
    let mut at = 0;
    while at < block.len() {
        for inner in block[at].blocks_mut() {
            follow(inner, expected, begins);
        }
        at += 1;
        if expected.is_note(&block[at - 1]) {
            block.insert(at, begins.clone());
            at += 1;
        }
    }
}

/// The function that writes what the answers of an instance begin with.
fn writes(stack: &Stack, expected: &Expected, own: &Own, at_hand: &str, all: &[Kept]) -> Function {
    let body = all.iter().enumerate().flat_map(|(which, kept)| {
        let answer = expected.at(atom(at_hand)).member(answer_name(which));
        let each = kept.writes.iter();
        each.map(move |(at, bytes, value)| {
            let (at, value) = (atom(at.to_string()), value.at(&answer));
            match bytes {
                1 => assign(answer.clone().element(at), value),
                bytes => S::Do(call(
                    format!("sl_store_big{}", 8 * bytes),
                    vec![binary("+", answer.clone(), at), value],
                )),
            }
        })
    });
    with_all_used(Function {
        comment: format!(
            "What the answers of an instance on the fast path of {} begin with.",
            expected.path
        ),
        result: "static void".to_string(),
        name: expected.begins_name(),
        parameters: vec![
            format!("const struct {} *stack", stack.names.stack),
            own.pointer() + at_hand,
        ],
        body: body.collect(),
    })
}

/// What is kept of the answer with this number.
pub fn answer_name(which: usize) -> String {
    match which {
        0 => "answer".to_string(),
        which => format!("answer_{}", which + 1),
    }
}

/// A path that copies what its answers begin with.
struct Keeps<'e> {
    expected: &'e Expected,
    at_hand: &'e str,
    keys: Vec<C>,
    /// Functions that are sums of headers.
    sums: BTreeSet<String>,
}

impl Keeps<'_> {
    fn within(&self, block: &mut Vec<S>, all: &mut Vec<Kept>) {
        let mut at = 0;
        while at < block.len() {
            for inner in block[at].blocks_mut() {
                self.within(inner, all);
            }
            let begun = made(&block[at]);
            at += 1;
            if let Some(message) = begun
                && let Some(kept) = self.answer(&message, at, block)
            {
                block.insert(at, self.copied(&message, &kept, all.len()));
                all.push(kept);
                at += 1;
            }
        }
    }

    fn copied(&self, message: &str, kept: &Kept, which: usize) -> S {
        let bytes = || atom(kept.bytes.to_string());
        let data = atom(message).member("data");
        let own = self.expected.at(atom(self.at_hand));
        S::Do(call(
            "memcpy",
            vec![
                binary("-", data, bytes()),
                own.member(answer_name(which)),
                bytes(),
            ],
        ))
    }

    /// Takes away what is written of a message that is made before this place, if it stays.
    fn answer(&self, message: &str, from: usize, block: &mut Vec<S>) -> Option<Kept> {
        let message = atom(message);
        let [data, length] = ["data", "length"].map(|part| message.clone().member(part));
        let (mut begin, mut bytes) = (0, 0);
        let mut stays: Vec<(usize, (i64, u64, Value))> = Vec::new();
        let mut others: Vec<Range<i64>> = Vec::new();
        for (at, statement) in block.iter().enumerate().skip(from) {
            if let Some((place, count, value)) = stored(statement, &data) {
                let place = begin + place;
                let end = place + count as i64;
                let fixed = self.fixed(value, &length, bytes).map(Value::Fixed);
                let summed = || {
                    let run = self.summed(value, &data, begin)?;
                    let kept = stays.iter().map(|(_, write)| run_of(write));
                    let is_kept = is_kept(&run, kept.chain(iter::once(place..end)), &others);
                    is_kept.then(|| Value::Sum(run.start, value.clone()))
                };
                let value = fixed.or_else(summed);
                match value.filter(|_| !meets(&(place..end), &others)) {
                    Some(value) => stays.push((at, (place, count, value))),
                    None => others.push(place..end),
                }
                continue;
            }
            match statement {
                S::Assign(place, "-=", size) if *place == data => match number(size) {
                    Some(size) => begin -= size as i64,
                    None => break,
                },
                S::Assign(place, "+=", size) if *place == length => match number(size) {
                    Some(size) => bytes += size,
                    None => break,
                },
                S::Assign(C::Member(of, part), "=", value)
                    if **of == message
                        && !["data", "length", "buffer"].contains(&&**part)
                        && !holds(value, &message) => {}
                S::Comment(_) => {}
                S::Assign(..) | S::Declare { .. } | S::Do(_)
                    if !statement
                        .expressions()
                        .into_iter()
                        .any(|value| holds(value, &message)) => {}
                _ => break,
            }
        }
        if stays.len() < FEW {
            return None;
        }
        let writes = stays.iter().map(|(_, write)| write.clone());
        let writes = writes.map(|(place, count, value)| match value {
            Value::Sum(run, sum) => (place - begin, count, Value::Sum(run - begin, sum)),
            fixed => (place - begin, count, fixed),
        });
        let kept = Kept {
            bytes: -begin,
            writes: writes.collect(),
        };
        for (at, _) in stays.iter().rev() {
            block.remove(*at);
        }
        Some(kept)
    }

    /// The bytes that a value is the sum of, if it hangs on nothing else that changes.
    fn summed(&self, value: &C, data: &C, begin: i64) -> Option<Range<i64>> {
        let C::Call(name, given) = value else {
            return None;
        };
        let [run, bytes, others @ ..] = &given[..] else {
            return None;
        };
        let at = match run {
            C::Binary("+", of, at) if **of == *data => number(at)?,
            run if run == data => 0,
            _ => return None,
        };
        let is_sum = self.sums.contains(name) && others.iter().all(is_setting);
        let begin = begin + at as i64;
        is_sum.then_some(begin..begin + number(bytes)? as i64)
    }

    /// A value that is the same in each answer of an instance.
    fn fixed(&self, value: &C, length: &C, bytes: u64) -> Option<C> {
        let value = replaced(value, &|part| {
            (part == length).then(|| atom(bytes.to_string()))
        });
        let keyless = replaced(&value, &|part| self.keys.contains(part).then(|| atom("0")));
        (is_setting(&keyless) && !may_fail(&value)).then_some(value)
    }
}

/// Where a value stands that is kept.
fn run_of((at, bytes, _): &(i64, u64, Value)) -> Range<i64> {
    *at..at + *bytes as i64
}

/// Whether bytes meet others.
fn meets(run: &Range<i64>, others: &[Range<i64>]) -> bool {
    let mut others = others.iter();
    others.any(|one| one.start < run.end && run.start < one.end)
}

/// Whether all bytes are kept, and none of them is among others.
fn is_kept(
    run: &Range<i64>,
    kept: impl Iterator<Item = Range<i64>>,
    others: &[Range<i64>],
) -> bool {
    let kept = Vec::from_iter(kept);
    let mut bytes = run.clone();
    bytes.all(|at| kept.iter().any(|one| one.contains(&at))) && !meets(run, others)
}

/// The message that is made where a path is left if there is no buffer for it.
pub fn made(statement: &S) -> Option<String> {
    let S::If {
        condition: C::Unary("!", condition),
        otherwise,
        ..
    } = statement
    else {
        return None;
    };
    match &**condition {
        C::Call(name, given) if name == "new_message_in_place" && otherwise.is_empty() => {
            match given.last()? {
                C::Unary("&", message) => match &**message {
                    C::Atom(name) => Some(name.clone()),
                    _ => None,
                },
                _ => None,
            }
        }
        _ => None,
    }
}

/// Where something is written behind the begin of a message, in how many bytes, and what.
pub fn stored<'s>(statement: &'s S, data: &C) -> Option<(i64, u64, &'s C)> {
    match statement {
        S::Assign(C::Element(of, at), "=", value) if **of == *data => {
            Some((number(at)? as i64, 1, value))
        }
        S::Do(C::Call(name, given)) => {
            let bits: u64 = name.strip_prefix("sl_store_big")?.parse().ok()?;
            let [place, value] = &given[..] else {
                return None;
            };
            let at = match place {
                C::Binary("+", of, at) if **of == *data => number(at)?,
                place if place == data => 0,
                _ => return None,
            };
            Some((at as i64, bits / 8, value))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    fn data() -> C {
        atom("made").member("data")
    }

    fn store(at: u64, bits: u32, value: C) -> S {
        let place = binary("+", data(), atom(at.to_string()));
        S::Do(call(format!("sl_store_big{bits}"), vec![place, value]))
    }

    /// What is left of what writes a message, and what is kept of it.
    fn kept(writes: Vec<S>) -> (Vec<S>, Option<Kept>) {
        let expected = Expected {
            path: "few".to_string(),
            mask: Vec::new(),
            found: Vec::new(),
            own: None,
            fields: BTreeMap::new(),
            latch: None,
            alike: false,
            kept: std::collections::BTreeSet::new(),
            answers: Vec::new(),
        };
        let keeps = Keeps {
            expected: &expected,
            at_hand: "own",
            keys: vec![atom("own").behind("port")],
            sums: BTreeSet::from(["sum".to_string()]),
        };
        let length = atom("made").member("length");
        let header = [
            S::Assign(data(), "-=", atom("12")),
            S::Assign(length, "+=", atom("12")),
        ];
        let mut all = [header.to_vec(), writes].concat();
        let kept = keeps.answer("made", 0, &mut all);
        (all.split_off(2), kept)
    }

    fn some() -> Vec<S> {
        let setting = atom("stack").behind("config").member("address");
        vec![
            assign(data().element(atom("0")), atom("0x45")),
            store(1, 16, atom("own").behind("port")),
            store(3, 8, atom("made").member("length").cast("uint8_t")),
            store(4, 32, setting),
            assign(data().element(atom("8")), atom("7")),
        ]
    }

    #[test]
    fn what_stays_is_kept() {
        let next = store(9, 16, atom("own").behind("next"));
        let (left, kept) = kept([some(), vec![next.clone()]].concat());
        assert_eq!(left, [next]);
        let kept = kept.expect("some of it stays");
        assert_eq!(kept.bytes, 12);
        let places = kept.writes.iter().map(|(at, bytes, _)| (*at, *bytes));
        assert_eq!(
            Vec::from_iter(places),
            [(0, 1), (1, 2), (3, 1), (4, 4), (8, 1)]
        );
        let length = atom("12").cast("uint8_t");
        assert_eq!(kept.writes[2].2, Value::Fixed(length));
    }

    #[test]
    fn sums_of_what_is_kept_are_kept() {
        let sum = |bytes: &str| call("sum", vec![data(), atom(bytes), atom("0")]);
        let (left, kept) = kept([some(), vec![store(9, 16, sum("9"))]].concat());
        assert!(left.is_empty());
        let kept = kept.expect("all of it stays");
        let answer = call("sum", vec![atom("answer"), atom("9"), atom("0")]);
        let at = kept.writes[5].2.at(&atom("answer"));
        assert_eq!(
            at,
            replaced(&answer, &|part| {
                (*part == atom("answer")).then(|| binary("+", atom("answer"), atom("0")))
            })
        );
        // Some of what is summed is written each time, or never.
        let next = store(9, 16, atom("own").behind("next"));
        let over = store(11, 8, sum("11"));
        let (left, _) = self::kept([some(), vec![next.clone(), over.clone()]].concat());
        assert_eq!(left, [next, over]);
        let beyond = store(10, 16, sum("10"));
        let (left, _) = self::kept([some(), vec![beyond.clone()]].concat());
        assert_eq!(left, [beyond]);
    }

    #[test]
    fn what_is_written_over_something_else_is_written_there() {
        let next = store(7, 16, atom("own").behind("next"));
        let (left, kept) = kept([vec![next], some()].concat());
        assert_eq!(left.len(), 6, "too little is left that could be kept");
        assert!(kept.is_none());
    }

    #[test]
    fn what_comes_behind_another_use_stays_as_it_is() {
        let sent = S::Do(call("send_frame", vec![atom("made").address()]));
        let (left, kept) = kept([vec![sent], some()].concat());
        assert_eq!(left.len(), 6);
        assert!(kept.is_none());
    }
}
