//! The small languages of a network: steps of scripts, faults of links, expectations.
//!
//! In: words. Out: what they mean, or what would be right.
//!
//! ```text
//! send 1000 of 4..64 bytes every 10 ms       a step
//! loss = 1%   rate = 10 Mbit   delay = 5 ms  faults
//! ground: delivered >= 99%                   an expectation
//! ```

use crate::simulate::network::application::{Amount, Grants, Step};
use crate::simulate::network::ledger::SHORTEST;
use crate::simulate::network::link::noise::{BitErrors, Clock, State};
use crate::simulate::network::link::{Damaged, Faults};
use crate::tool::layout::instead;
use crate::tool::written::{duration_ns, integer};
use std::ops::Range;

/// A step as it is written; what it opens is not known to fit yet.
#[derive(Clone, Debug, PartialEq)]
pub enum Phrase {
    /// `open (KEY = VALUE, …)`: what stands in the parentheses.
    Open(String),
    /// `listen (KEY = VALUE, …)`
    Listen(String),
    /// `send … with (NAME = VALUE, …)`: the step, and what stands in the parentheses.
    SendWith(Step, String),
    /// `tell NOTICE (NAME = VALUE | VALUE, …) every 50 ms`: what, and how often.
    Tell(Said, Option<u64>),
    /// `expect 2 NOTICE (NAME = VALUE, …) within 5 s`
    Expect {
        /// How many.
        count: u64,
        /// Which.
        said: Said,
        /// For how long.
        within_ns: u64,
    },
    /// Any other.
    Step(Step),
}

/// A notice as it is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Said {
    /// Its name.
    pub name: String,
    /// What stands in the parentheses.
    pub arguments: String,
}

/// From one message to the next, where a script says nothing.
const EVERY_NS: u64 = 1_000_000;
/// How long a script waits for messages, where it says nothing.
const WITHIN_NS: u64 = 10_000_000_000;
/// The longest message.
const LONGEST: usize = 65_535;
/// Bytes of the shortest and the longest message, where a script says nothing.
const SIZES: (usize, usize) = (16, 64);

const STEPS: [&str; 9] = [
    "open", "listen", "send", "stream", "tell", "wait", "expect", "echo", "close",
];

/// The port of a script, as far as its steps depend on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// Bytes of its longest message.
    pub longest: usize,
    /// True if its credit counts bytes.
    pub in_bytes: bool,
}

/// Reads a step of a script at a port.
pub fn step(words: &str, port: Place) -> Result<Phrase, String> {
    let verb_end = words
        .find(|letter: char| !letter.is_alphabetic())
        .unwrap_or(words.len());
    let (verb, rest) = words.split_at(verb_end);
    let rest = rest.trim();
    let step = match verb {
        "open" => return Ok(Phrase::Open(keys(words, rest)?)),
        "listen" => return Ok(Phrase::Listen(keys(words, rest)?)),
        "send" => return send(words, rest, port.longest),
        "stream" => stream(words, rest, port)?,
        "tell" => return tell(words, rest),
        "expect" => return expect(words, rest, port.in_bytes),
        "wait" => Step::Wait {
            time_ns: duration_ns(rest)?,
        },
        "echo" if rest.is_empty() => Step::Echo,
        "close" if rest.is_empty() => Step::Close,
        "echo" | "close" => return Err(format!("`{verb}` takes no arguments")),
        other => {
            let known = instead(other, &STEPS);
            return Err(format!("a script has no step `{other}`: {known}"));
        }
    };
    Ok(Phrase::Step(step))
}

fn keys(words: &str, rest: &str) -> Result<String, String> {
    match rest {
        "" => Ok(String::new()),
        rest => Ok(inside(words, rest, "open (port = 7)")?.to_string()),
    }
}

/// `1000 [messages] [of 4..64 bytes] [every 10 ms] [with (ttl = 3)]`
fn send(words: &str, rest: &str, longest: usize) -> Result<Phrase, String> {
    let example = "send 1000 of 4..64 bytes every 10 ms";
    let (rest, attributes) = tail(rest, "with");
    let (rest, every) = tail(rest, "every");
    let (rest, sizes) = tail(rest, "of");
    let count = count(rest, example)?;
    let every_ns = every.map_or(Ok(EVERY_NS), duration_ns)?;
    let (least, most) = match sizes {
        None => (SIZES.0.min(longest), SIZES.1.min(longest)),
        Some(sizes) => size_range(sizes.trim_end_matches("bytes").trim())?,
    };
    let step = Step::Send {
        count,
        least,
        most,
        every_ns,
        attributes: None,
    };
    Ok(match attributes {
        None => Phrase::Step(step),
        Some(rest) => {
            let example = "send 5 with (ttl = 3)";
            Phrase::SendWith(step, inside(words, rest, example)?.to_string())
        }
    })
}

/// `60 s [of 1400 bytes]`, `1_000_000 bytes [of 1400 bytes]`
fn stream(words: &str, rest: &str, port: Place) -> Result<Step, String> {
    let (rest, sizes) = tail(rest, "of");
    let most = port.longest.min(LONGEST);
    let (least, most) = match (sizes, port.in_bytes) {
        (Some(sizes), _) => size_range(sizes.trim_end_matches("bytes").trim())?,
        (None, true) => (most, most),
        (None, false) => (SIZES.0.min(most), SIZES.1.min(most)),
    };
    let amount = match rest.strip_suffix("bytes") {
        Some(number) => integer(number.trim()).map(Amount::Bytes),
        None => duration_ns(rest).map(Amount::Time),
    };
    let wrong = |_| format!("cannot read `{words}`: write stream 60 s, or stream 1000000 bytes");
    Ok(Step::Stream {
        amount: amount.map_err(wrong)?,
        least,
        most,
    })
}

/// `close`, `swap (variant = 1 | 2) every 50 ms`
fn tell(words: &str, rest: &str) -> Result<Phrase, String> {
    let (notice, every) = tail(rest, "every");
    let every_ns = every.map(duration_ns).transpose()?;
    match every_ns {
        Some(0) => Err(format!(
            "`{words}` never ends: there must be time between two notices"
        )),
        _ => Ok(Phrase::Tell(said(words, notice)?, every_ns)),
    }
}

/// `mtu`, `mtu (bytes = 1400)`
fn said(words: &str, rest: &str) -> Result<Said, String> {
    let is_word = |letter: char| letter.is_alphanumeric() || letter == '_';
    let end = rest.find(|letter| !is_word(letter)).unwrap_or(rest.len());
    let (name, rest) = rest.split_at(end);
    if name.is_empty() {
        return Err(format!("cannot read `{words}`: write it as in tell close"));
    }
    let arguments = match rest.trim() {
        "" => String::new(),
        rest => inside(words, rest, &format!("{name} (bytes = 1400)"))?.to_string(),
    };
    let name = name.to_string();
    Ok(Said { name, arguments })
}

/// What stands in parentheses.
fn inside<'w>(words: &str, rest: &'w str, example: &str) -> Result<&'w str, String> {
    let inside = rest.trim().strip_prefix('(');
    inside
        .and_then(|rest| rest.strip_suffix(')'))
        .ok_or_else(|| format!("cannot read `{words}`: write it as in {example}"))
}

/// `64`, `4..64`: bytes of the shortest and the longest message.
pub fn size_range(words: &str) -> Result<(usize, usize), String> {
    let (least, most) = words.split_once("..").unwrap_or((words, words));
    let size = |words: &str| {
        let bytes = integer(words.trim())?;
        usize::try_from(bytes).map_err(|_| format!("unexpected `{words}`"))
    };
    let (least, most) = (size(least)?, size(most)?);
    if least > most {
        return Err(format!("the range from {least} to {most} bytes is empty"));
    }
    if least < SHORTEST {
        return Err(format!(
            "a message needs at least {SHORTEST} bytes, for the number that identifies it"
        ));
    }
    match most > LONGEST {
        true => Err(format!("a message has at most {LONGEST} bytes")),
        false => Ok((least, most)),
    }
}

/// `1000 [messages] [within 5 s]`, `[2] mtu [(bytes = 1400)] [within 5 s]`; `1000 [bytes]` where
/// credit counts bytes
fn expect(words: &str, rest: &str, in_bytes: bool) -> Result<Phrase, String> {
    let (rest, within) = tail(rest, "within");
    let within_ns = within.map_or(Ok(WITHIN_NS), duration_ns)?;
    let end = rest
        .find(|letter: char| letter != '_' && !letter.is_ascii_digit())
        .unwrap_or(rest.len());
    let (number, what) = rest.split_at(end);
    let count = match number {
        "" if !what.is_empty() => 1,
        number => count(number, "expect 1000 within 5 s")?,
    };
    let unit = Grants {
        sends: None,
        in_bytes,
    };
    Ok(match what.trim() {
        what if what.is_empty() || what == unit.unit() => Phrase::Step(Step::Expect {
            count,
            heard: None,
            within_ns,
        }),
        what => Phrase::Expect {
            count,
            said: said(words, what)?,
            within_ns,
        },
    })
}

fn count(words: &str, example: &str) -> Result<u64, String> {
    let number = words.trim_end_matches("messages").trim();
    integer(number).map_err(|_| format!("`{words}` is not a number of messages: write {example}"))
}

/// What stands before and behind a word.
fn tail<'w>(words: &'w str, word: &str) -> (&'w str, Option<&'w str>) {
    let mut places = words.match_indices(word).filter(|(at, _)| {
        let (before, behind) = (&words[..*at], &words[at + word.len()..]);
        let is_letter = |letter: char| letter.is_alphanumeric();
        !before.ends_with(is_letter) && !behind.starts_with(is_letter)
    });
    match places.next() {
        Some((at, _)) => (words[..at].trim(), Some(words[at + word.len()..].trim())),
        None => (words.trim(), None),
    }
}

/// All that can be said of a way.
pub const FAULTS: [&str; 13] = [
    "delay",
    "jitter",
    "rate",
    "queue",
    "mtu",
    "loss",
    "burst",
    "reorder",
    "duplicate",
    "corrupt",
    "bit_errors",
    "damaged",
    "outage",
];

/// Sets one of [`FAULTS`] from what people write.
pub fn set_fault(faults: &mut Faults, name: &str, words: &str) -> Result<(), String> {
    match name {
        "delay" => faults.delay_ns = reasonable(words)?,
        "jitter" => faults.jitter_ns = reasonable(words)?,
        "rate" => faults.rate = Some(rate(words)?),
        "queue" => faults.queue = at_least_one(words)?,
        "mtu" => faults.mtu = Some(at_least_one(words)?),
        "loss" => faults.loss = share(words)?,
        "burst" => {
            let burst: f64 = number(words)?;
            if burst < 1.0 {
                return Err("a burst has at least one frame".to_string());
            }
            faults.burst = burst;
        }
        "reorder" => faults.reorder = share(words)?,
        "duplicate" => faults.duplicate = share(words)?,
        "corrupt" => faults.corrupt = share(words)?,
        "bit_errors" => faults.bit_errors = bit_errors(words)?,
        "damaged" => faults.damaged = damaged(words)?,
        "outage" => {
            let outages = words.split(',').map(outage);
            faults.outages_ns = outages.collect::<Result<_, _>>()?;
        }
        other => {
            let known = instead(other, &FAULTS);
            return Err(format!("a link has no property `{other}`: {known}"));
        }
    }
    Ok(())
}

/// Whether what is said of a way goes together.
pub fn fit(faults: &Faults) -> Result<(), String> {
    // A burst is followed by one good frame at least.
    let most = faults.burst / (faults.burst + 1.0);
    match faults.burst > 1.0 && faults.loss > most && faults.loss < 1.0 {
        true => Err(format!(
            "bursts of {} frames allow a loss of at most {:.0}%",
            faults.burst,
            most * 100.0
        )),
        false => Ok(()),
    }
}

/// `1e-6`, `0 for 5 s, 1e-6 for 5 s`, `1e-8 for about 9000 bits, 1e-3 for about 200 bits`
fn bit_errors(words: &str) -> Result<BitErrors, String> {
    if !words.contains([',']) && tail(words, "for").1.is_none() {
        return share(words).map(BitErrors::constant);
    }
    let states = words.split(',').map(state);
    let (states, clocks): (Vec<State>, Vec<Clock>) =
        states.collect::<Result<Vec<_>, _>>()?.into_iter().unzip();
    let clock = clocks[0];
    if clocks.iter().any(|one| *one != clock) {
        return Err(format!(
            "`{words}` has lengths in time and in bits: write all of them alike"
        ));
    }
    match states.len() {
        1 => Err(format!(
            "`{words}` has one state, which never ends: write the share alone, or a second state"
        )),
        _ => Ok(BitErrors { states, clock }),
    }
}

/// `1e-6 for 5 s`, `1e-6 for about 5 ms`, `1e-6 for 200 bits`
fn state(words: &str) -> Result<(State, Clock), String> {
    let words = words.trim();
    let wrong = || {
        format!(
            "cannot read `{words}`: write bit errors as in 1e-6, or 0 for 5 s, 1e-6 for 5 s, or \
            1e-8 for about 50 ms, 1e-3 for about 2 ms"
        )
    };
    let (rate, Some(length)) = tail(words, "for") else {
        return Err(wrong());
    };
    let (length, is_mean) = match length.strip_prefix("about ") {
        Some(mean) => (mean.trim(), true),
        None => (length, false),
    };
    let (length, clock, least) = match length.strip_suffix("bits") {
        Some(bits) => (integer(bits.trim()), Clock::Bits, 1),
        None => (reasonable(length), Clock::Time, SHORTEST_STATE_NS),
    };
    let length = length.map_err(|_| wrong())?;
    if length < least {
        return Err(format!(
            "`{words}` is too short: a state lasts 1 us or 1 bit at least"
        ));
    }
    let state = State {
        share: share(rate)?,
        length,
        is_mean,
    };
    Ok((state, clock))
}

/// The shortest time for which a link has the same share of bit errors.
const SHORTEST_STATE_NS: u64 = 1_000;

/// `deliver`, `drop`
fn damaged(words: &str) -> Result<Damaged, String> {
    match words {
        "deliver" => Ok(Damaged::Deliver),
        "drop" => Ok(Damaged::Drop),
        other => Err(format!(
            "damaged frames cannot be treated as `{other}`: {}",
            instead(other, &["deliver", "drop"])
        )),
    }
}

/// `10 s..12 s`
fn outage(words: &str) -> Result<Range<u64>, String> {
    let wrong =
        || format!("`{words}` is not a list of outages: write 10 s..12 s, or 1 s..2 s, 5 s..6 s");
    let (from, to) = words.split_once("..").ok_or_else(wrong)?;
    let outage_ns = duration_ns(from.trim())?..duration_ns(to.trim())?;
    match outage_ns.is_empty() {
        true => Err(wrong()),
        false => Ok(outage_ns),
    }
}

/// A delay of no more than a day, so that times stay small.
fn reasonable(words: &str) -> Result<u64, String> {
    let delay_ns = duration_ns(words)?;
    match delay_ns > 86_400_000_000_000 {
        true => Err(format!("`{words}` is longer than a day")),
        false => Ok(delay_ns),
    }
}

fn at_least_one(words: &str) -> Result<usize, String> {
    let plain = words.trim_end_matches("bytes").trim_end_matches("frames");
    let number = integer(plain.trim())?;
    match usize::try_from(number) {
        Ok(number) if number > 0 => Ok(number),
        Ok(_) | Err(_) => Err(format!("`{words}` is too small: the least value is 1")),
    }
}

/// `1%`, `0.01`, `1e-6`: a number from 0 to 1.
pub fn share(words: &str) -> Result<f64, String> {
    let (digits, scale) = match words.strip_suffix('%') {
        Some(digits) => (digits, 100.0),
        None => (words, 1.0),
    };
    let wrong = || format!("`{words}` is not a share: write 1%, 0.01 or 1e-6");
    let share = number(digits).map_err(|_| wrong())? / scale;
    match (0.0..=1.0).contains(&share) {
        true => Ok(share),
        false => Err(format!("`{words}` is not between 0% and 100%")),
    }
}

fn number(words: &str) -> Result<f64, String> {
    let number = words.trim().parse().ok().filter(|it: &f64| it.is_finite());
    number.ok_or_else(|| format!("`{words}` is not a number"))
}

/// `10 Mbit`, `64 kbit/s`: bits in a second.
pub fn rate(words: &str) -> Result<u64, String> {
    let wrong = || format!("`{words}` is not a rate: write 10 Mbit/s, 9600 bit or 1.5 Gbit");
    let split = words
        .find(|letter: char| letter.is_alphabetic())
        .unwrap_or(words.len());
    let (digits, unit) = words.split_at(split);
    let scale = match unit.trim().trim_end_matches("/s") {
        "bit" => 1.0,
        "kbit" => 1e3,
        "Mbit" => 1e6,
        "Gbit" => 1e9,
        _ => return Err(wrong()),
    };
    let rate = number(digits).map_err(|_| wrong())? * scale;
    match (1.0..=1e13).contains(&rate) {
        true => Ok(rate.round() as u64),
        false => Err(wrong()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A step at a port that takes any message.
    fn step(words: &str) -> Result<Phrase, String> {
        let port = Place {
            longest: LONGEST,
            in_bytes: false,
        };
        super::step(words, port)
    }

    #[test]
    fn steps_read_as_they_are_documented() {
        let of = |count, least, most, every_ns| {
            Ok(Phrase::Step(Step::Send {
                count,
                least,
                most,
                every_ns,
                attributes: None,
            }))
        };
        assert_eq!(step("send 10"), of(10, 16, 64, 1_000_000));
        let port = Place {
            longest: 40,
            in_bytes: false,
        };
        let short = super::step("send 10", port);
        assert_eq!(short, of(10, 16, 40, 1_000_000));
        let long = "send 1_000 messages of 4..64 bytes every 10 ms";
        assert_eq!(step(long), of(1_000, 4, 64, 10_000_000));
        let expect = Step::Expect {
            count: 3,
            heard: None,
            within_ns: 5_000_000_000,
        };
        assert_eq!(step("expect 3 within 5 s"), Ok(Phrase::Step(expect)));
        let stream = |amount, least, most| {
            Ok(Phrase::Step(Step::Stream {
                amount,
                least,
                most,
            }))
        };
        let bytes = Amount::Bytes(1_000);
        assert_eq!(step("stream 1_000 bytes"), stream(bytes, 16, 64));
        let time = Amount::Time(60_000_000_000);
        let long = "stream 60 s of 100..1400 bytes";
        assert_eq!(step(long), stream(time, 100, 1_400));
        let of_bytes = Place {
            longest: 9_000,
            in_bytes: true,
        };
        let whole = super::step("stream 60 s", of_bytes);
        assert_eq!(whole, stream(time, 9_000, 9_000));
        assert_eq!(step("open (a = 1)"), Ok(Phrase::Open("a = 1".to_string())));
        assert_eq!(step("listen"), Ok(Phrase::Listen(String::new())));
        assert_eq!(step("echo"), Ok(Phrase::Step(Step::Echo)));
    }

    #[test]
    fn notices_and_attributes_read_as_they_are_documented() {
        let said = |name: &str, arguments: &str| Said {
            name: name.to_string(),
            arguments: arguments.to_string(),
        };
        assert_eq!(
            step("tell close"),
            Ok(Phrase::Tell(said("close", ""), None))
        );
        let often = Ok(Phrase::Tell(said("swap", "to = 1 | 2"), Some(50_000_000)));
        assert_eq!(step("tell swap (to = 1 | 2) every 50 ms"), often);
        let grants = Ok(Phrase::Tell(said("grant_delivers", "messages = 4"), None));
        assert_eq!(step("tell grant_delivers (messages = 4)"), grants);
        let expects = |count, name, arguments| {
            Ok(Phrase::Expect {
                count,
                said: said(name, arguments),
                within_ns: 5_000_000_000,
            })
        };
        assert_eq!(step("expect mtu within 5 s"), expects(1, "mtu", ""));
        let words = "expect 2 carrier (up = false) within 5 s";
        assert_eq!(step(words), expects(2, "carrier", "up = false"));
        let Ok(Phrase::SendWith(Step::Send { count, .. }, given)) =
            step("send 7 of 9 bytes with (peer = 10.0.0.2, ttl = 3)")
        else {
            panic!("it can be read");
        };
        assert_eq!((count, &*given), (7, "peer = 10.0.0.2, ttl = 3"));
    }

    #[test]
    fn a_wrong_phrase_is_answered_with_what_would_be_right() {
        let wrong = [
            ("sent 5", "did you mean `send`?"),
            ("send", "send 1000 of 4..64 bytes every 10 ms"),
            ("send 5 of 3", "needs at least 4 bytes"),
            ("send 5 of 70000", "at most 65535 bytes"),
            ("send 5 of 9..8", "bytes is empty"),
            ("send 5 every 10", "write 5 s"),
            ("wait 5", "write 5 s"),
            ("stream", "stream 60 s"),
            ("stream 100", "stream 1000000 bytes"),
            ("stream 1 s of 2", "needs at least 4 bytes"),
            ("echo 5", "takes no arguments"),
            ("open port = 7", "open (port = 7)"),
            ("tell", "tell close"),
            ("tell close every 0 s", "time between two notices"),
            ("tell close every 5", "write 5 s"),
            ("send 5 with ttl = 3", "send 5 with (ttl = 3)"),
            ("expect mtu 5", "mtu (bytes = 1400)"),
            ("expect", "expect 1000 within 5 s"),
        ];
        for (words, advice) in wrong {
            let message = step(words).unwrap_err();
            assert!(message.contains(advice), "{words}: {message}");
        }
    }

    #[test]
    fn faults_read_as_people_write_them() {
        assert_eq!(rate("10 Mbit/s"), Ok(10_000_000));
        assert_eq!(rate("9600bit"), Ok(9_600));
        assert_eq!(rate("1.5 Gbit"), Ok(1_500_000_000));
        assert_eq!(share("1%"), Ok(0.01));
        assert_eq!(share("1e-6"), Ok(1e-6));
        for words in ["", "x", "101%", "-1", "nan", "inf", "1 %%"] {
            assert!(share(words).is_err(), "{words}");
        }
        for words in ["", "10", "0 bit", "-1 bit", "10 Mb", "inf bit"] {
            assert!(rate(words).is_err(), "{words}");
        }
        let mut faults = Faults::default();
        let message = set_fault(&mut faults, "los", "1%").unwrap_err();
        assert!(message.contains("did you mean `loss`?"), "{message}");
        assert!(set_fault(&mut faults, "queue", "0").is_err());
        set_fault(&mut faults, "outage", "1 s..2 s, 5 s..6.5 s").unwrap();
        let seconds = |from: u64, to: u64| from * 500_000_000..to * 500_000_000;
        assert_eq!(faults.outages_ns, [seconds(2, 4), seconds(10, 13)]);
        for words in ["", "1 s", "2 s..1 s", "1..2"] {
            assert!(set_fault(&mut faults, "outage", words).is_err(), "{words}");
        }
        assert!(set_fault(&mut faults, "burst", "0.5").is_err());
        set_fault(&mut faults, "bit_errors", "0 for 5 s, 1e-6 for 2 s").unwrap();
        let of = |share, length, is_mean| State {
            share,
            length,
            is_mean,
        };
        let states = vec![
            of(0.0, 5_000_000_000, false),
            of(1e-6, 2_000_000_000, false),
        ];
        let clock = Clock::Time;
        assert_eq!(faults.bit_errors, BitErrors { states, clock });
        let words = "1e-8 for about 9_000 bits, 0.1% for about 200 bits";
        set_fault(&mut faults, "bit_errors", words).unwrap();
        let states = vec![of(1e-8, 9_000, true), of(1e-3, 200, true)];
        let clock = Clock::Bits;
        assert_eq!(faults.bit_errors, BitErrors { states, clock });
        for (words, advice) in [
            ("1e-6 for 5 s", "a second state"),
            ("0 for 5 s, 1e-6", "0 for 5 s, 1e-6 for 5 s"),
            ("0 for 5 s, 1e-6 for 20 bits", "all of them alike"),
            ("0 for 5 s, 1e-6 for 5 ns", "1 us or 1 bit"),
            ("0 for 5 s, 1e-6 for 0 bits", "1 us or 1 bit"),
            ("0 for 5 s, 2 for 5 s", "between 0% and 100%"),
            ("0 for 5, 1 for 5 s", "write bit errors as in"),
        ] {
            let message = set_fault(&mut faults, "bit_errors", words).unwrap_err();
            assert!(message.contains(advice), "{words}: {message}");
        }
        faults.loss = 0.9;
        faults.burst = 2.0;
        assert!(fit(&faults).unwrap_err().contains("at most 67%"));
    }
}
