//! Fields of headers that share bytes, or stand beside each other, compared with constants at once,
//! in the order of the wire.
//!
//! In: a path, which is left where a test does not hold. Out: the same, its tests of bits that
//! stand in the same bytes made one, at the place of the last; so are those of whole words, of one
//! header or of headers in a row, that make a longer word.
//!
//! ```text
//! header[0] >> 4 != 4 || (header[0] & 0xf) * 4 != 20   =>  header[0] != 0x45
//! (sl_load_big16(header + 6) & 0x1fff) != 0 ||
//!     (header[6] & 0x20) != 0                          =>  sl_differs_big16(header + 6, 0x3fff, 0)
//! header[6] >> 4 != 5 || (header[7] & 1) == 0            =>  sl_differs_big16(header + 6, 0xf001,
//!                                                             0x5001)
//! sl_load_big16(one) != 1 || sl_load_big16(two) != 2   =>  sl_load_big32(one) != 0x10002
//! ```

use super::algebra::{any_of, folded, number};
use super::bypass::{exit, is_exit};
use super::row::Rows;
use crate::c::tree::{Expression as C, Statement as S, atom, binary, call};
use std::ops::Range;

/// Bits that are to have a value: so many bytes behind a pointer, most significant first.
#[derive(Clone, Debug, PartialEq)]
pub struct Masked {
    /// Behind which they stand.
    pub pointer: C,
    /// By so many bytes.
    pub offset: u64,
    /// In so many bytes.
    pub bytes: u64,
    /// Which of these they are.
    pub mask: u64,
    value: u64,
}

/// What is asked where a path is left.
struct Asked {
    /// Where, among its statements.
    at: usize,
    /// As it was asked.
    condition: C,
    /// The bits that it is about.
    bits: Option<Masked>,
}

/// Makes one test of those that look at the same bytes of the message of that name, or make a word.
pub fn unite(message: &str, path: &mut Vec<S>) {
    unite_behind(Rows::new(&atom(message)), path);
}

/// The same, behind some headers.
fn unite_behind(mut rows: Rows, path: &mut Vec<S>) {
    let mut settled: Vec<Asked> = Vec::new();
    let mut asked: Vec<Asked> = Vec::new();
    for (at, statement) in path.iter_mut().enumerate() {
        let is_exit = is_exit(statement);
        rows.pass(statement);
        if statement.expressions().into_iter().any(may_not_be_found) {
            // What was asked before it stays before it.
            settled.append(&mut asked);
        }
        match statement {
            S::If { condition, .. } if is_exit => {
                for condition in any_of(condition.clone()) {
                    let own = Masked::of(&condition, &rows);
                    let mut bits = own.clone();
                    if let Some(bits) = &mut bits {
                        asked.retain(|one| !bits.decides(&one.condition, &rows));
                        bits.absorb_all(&mut asked);
                    }
                    let is_new = |one: &&Masked| bits != own || one.bytes > 1 && !one.is_all();
                    let condition = match bits.as_ref().filter(is_new) {
                        Some(bits) => bits.differs(&rows),
                        None => condition,
                    };
                    asked.push(Asked {
                        at,
                        condition,
                        bits,
                    });
                }
            }
            // Who goes there does not come to what is asked behind it.
            S::If { then, .. } => {
                settled.append(&mut asked);
                unite_behind(rows.clone(), then);
            }
            S::Comment(_)
            | S::Declare { .. }
            | S::Assign(..)
            | S::Do(_)
            | S::Switch { .. }
            | S::For { .. }
            | S::While { .. }
            | S::Return(_)
            | S::Continue
            | S::Break
            | S::Goto(_)
            | S::Label(_) => {}
        }
    }
    settled.append(&mut asked);
    let mut at = 0;
    path.retain_mut(|statement| {
        let here = settled.iter().filter(|one| one.at == at);
        let here = here.map(|one| one.condition.clone());
        let here = here.reduce(|one, other| binary("||", one, other));
        at += 1;
        match here {
            Some(condition) => *statement = exit(condition),
            None => return !is_exit(statement),
        }
        true
    });
}

/// Whether a value may only be found where something holds: a quotient, or what is at an index.
fn may_not_be_found(value: &C) -> bool {
    let itself = match value {
        C::Binary("/" | "%", _, by) => number(by).is_none(),
        C::Element(_, at) => number(at).is_none(),
        C::Call(name, _) => !name.starts_with("sl_load_"),
        _ => false,
    };
    itself || value.parts().into_iter().any(may_not_be_found)
}

impl Masked {
    /// The bits of which a condition says that they are others.
    fn of(condition: &C, rows: &Rows) -> Option<Masked> {
        let C::Binary(operator @ ("!=" | "=="), bits, value) = condition else {
            return None;
        };
        let value = number(value)?;
        let (mut masked, shift, times) = bits_of(bits)?;
        (masked.pointer, masked.offset) = rows.behind_first(&masked.pointer, masked.offset);
        masked.value = value.checked_div(times)? << shift;
        let is_there = value % times == 0 && masked.value & !masked.mask == 0;
        // A bit that has one value does not have the other.
        let is_bit = masked.mask.is_power_of_two();
        if *operator == "==" {
            masked.value ^= masked.mask;
        }
        (is_there && (*operator == "!=" || is_bit)).then_some(masked)
    }

    /// The bits that a condition compares at once.
    pub fn differing(condition: &C) -> Option<Masked> {
        let C::Call(name, all) = condition else {
            return None;
        };
        let bits: u64 = name.strip_prefix("sl_differs_big")?.parse().ok()?;
        let [place, mask, _] = &all[..] else {
            return None;
        };
        let (pointer, offset) = place_of(place);
        Some(Masked {
            mask: number(mask)?,
            ..loaded(pointer, offset?, bits / 8)
        })
    }

    /// Whether they are all of their bytes.
    fn is_all(&self) -> bool {
        self.mask == u64::MAX >> (64 - 8 * self.bytes)
    }

    /// Whether a condition says that bits have a value which they do not have if they have this.
    fn decides(&self, condition: &C, rows: &Rows) -> bool {
        let C::Binary("==", bits, value) = condition else {
            return false;
        };
        let other = Masked::of(&binary("!=", (**bits).clone(), (**value).clone()), rows);
        other.is_some_and(|other| {
            let same = Masked {
                value: self.value,
                ..other.clone()
            };
            same == *self && other.value != self.value
        })
    }

    /// The condition that they are others.
    fn differs(&self, rows: &Rows) -> C {
        let (pointer, offset) = rows.behind_nearest(&self.pointer, self.offset);
        let offset = atom(offset.to_string());
        let (mask, value) = (atom(format!("{:#x}", self.mask)), constant(self.value));
        let bits = 8 * self.bytes;
        let place = |offset| folded(binary("+", pointer.clone(), offset));
        match (self.bytes, self.is_all()) {
            (1, true) => binary("!=", pointer.element(offset), value),
            (1, false) => binary("!=", binary("&", pointer.element(offset), mask), value),
            (_, true) => {
                let word = call(format!("sl_load_big{bits}"), vec![place(offset)]);
                binary("!=", word, value)
            }
            (_, false) => {
                let all = vec![place(offset), mask, value];
                call(format!("sl_differs_big{bits}"), all)
            }
        }
    }

    /// Becomes a test of all that can be asked with these bits at once.
    fn absorb_all(&mut self, asked: &mut Vec<Asked>) {
        let mut absorbed = |one: &Asked| one.bits.as_ref().is_some_and(|one| self.absorb(one));
        while let Some(at) = asked.iter().rposition(&mut absorbed) {
            asked.remove(at);
        }
    }

    /// Becomes a test of these bits, too, if they are in the same bytes, or make a word with them.
    fn absorb(&mut self, other: &Masked) -> bool {
        if self.pointer != other.pointer {
            return false;
        }
        let [own, its] = [&*self, other].map(|one| one.offset..one.offset + one.bytes);
        let holds = |outer: &Range<u64>, inner: &Range<u64>| {
            outer.start <= inner.start && inner.end <= outer.end
        };
        let hull = own.start.min(its.start)..own.end.max(its.end);
        let bytes = hull.end - hull.start;
        // Words of eight bytes are compared as a whole.
        let is_whole = bytes == self.bytes + other.bytes && self.is_all() && other.is_all();
        let is_word = matches!(bytes, 2 | 4) || bytes == 8 && is_whole;
        let outer = match () {
            () if holds(&own, &its) => own,
            () if holds(&its, &own) => its,
            () if is_word => hull,
            () => return false,
        };
        let within = |one: &Masked| {
            let shift = 8 * (outer.end - one.offset - one.bytes);
            (one.mask << shift, one.value << shift)
        };
        let [(mask, value), (its_mask, its_value)] = [within(self), within(other)];
        if (value ^ its_value) & mask & its_mask != 0 {
            return false;
        }
        *self = Masked {
            pointer: other.pointer.clone(),
            offset: outer.start,
            bytes: outer.end - outer.start,
            mask: mask | its_mask,
            value: value | its_value,
        };
        true
    }
}

/// A pointer, and how many bytes behind it something stands.
fn place_of(place: &C) -> (C, Option<u64>) {
    match place {
        C::Binary("+", pointer, offset) => ((**pointer).clone(), number(offset)),
        pointer => (pointer.clone(), Some(0)),
    }
}

/// Bits of a header, how far they were shifted to the right, and by what they were multiplied.
pub fn bits_of(value: &C) -> Option<(Masked, u32, u64)> {
    match value {
        C::Element(pointer, offset) => {
            Some((loaded((**pointer).clone(), number(offset)?, 1), 0, 1))
        }
        C::Call(name, all) => {
            let bytes = match name.as_str() {
                "sl_load_big16" => 2,
                "sl_load_big32" => 4,
                _ => return None,
            };
            let (pointer, offset) = place_of(all.first()?);
            Some((loaded(pointer, offset?, bytes), 0, 1))
        }
        C::Binary("&", bits, mask) => {
            let (mut masked, shift, times) = bits_of(bits)?;
            masked.mask &= number(mask)? << shift;
            (times == 1).then_some((masked, shift, times))
        }
        C::Binary(">>", bits, by) => {
            let (mut masked, shift, times) = bits_of(bits)?;
            let shift = shift + u32::try_from(number(by)?).ok().filter(|by| *by < 32)?;
            masked.mask = masked.mask >> shift << shift;
            (times == 1).then_some((masked, shift, times))
        }
        C::Binary("*", bits, by) => {
            let (masked, shift, times) = bits_of(bits)?;
            Some((masked, shift, times.checked_mul(number(by)?)?))
        }
        C::Cast(kind, bits) => {
            let (masked, shift, times) = bits_of(bits)?;
            let greatest = (masked.mask >> shift).checked_mul(times)?;
            let room = match kind.as_str() {
                "uint8_t" => 0xff,
                "uint16_t" => 0xffff,
                "uint32_t" | "uint64_t" | "size_t" => 0xffff_ffff,
                _ => return None,
            };
            (greatest <= room).then_some((masked, shift, times))
        }
        C::Atom(_)
        | C::Member(..)
        | C::Behind(..)
        | C::Unary(..)
        | C::Binary(..)
        | C::Conditional(..)
        | C::Struct(..) => None,
    }
}

fn loaded(pointer: C, offset: u64, bytes: u64) -> Masked {
    Masked {
        pointer,
        offset,
        bytes,
        mask: u64::MAX >> (64 - 8 * bytes),
        value: 0,
    }
}

/// What differs in as many bits as a mask has is seen best in its base.
fn constant(value: u64) -> C {
    atom(match value {
        0..10 => value.to_string(),
        _ => format!("{value:#x}"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::c::tree::assign;

    fn byte(at: &str) -> C {
        atom("header").element(atom(at))
    }

    fn bits(of: C, mask: &str) -> C {
        binary("&", of, atom(mask))
    }

    fn differ(bits: C, value: &str) -> C {
        binary("!=", bits, atom(value))
    }

    fn united(asked: Vec<C>) -> Vec<C> {
        let mut path: Vec<S> = asked.into_iter().map(exit).collect();
        unite("message", &mut path);
        let conditions = path.into_iter().map(|one| match one {
            S::If { condition, .. } => condition,
            other => unreachable!("{other:?} is no exit"),
        });
        conditions.collect()
    }

    #[test]
    fn fields_of_a_byte_are_compared_at_once() {
        let version = differ(binary(">>", byte("0"), atom("4")), "4");
        let words = bits(byte("0"), "0xf").cast("uint32_t");
        let length = differ(binary("*", words, atom("4")), "20");
        assert_eq!(united(vec![version, length]), [differ(byte("0"), "0x45")]);
    }

    #[test]
    fn a_bit_is_compared_with_its_word() {
        let word = call(
            "sl_load_big16",
            vec![binary("+", atom("header"), atom("6"))],
        );
        let asked = binary(
            "||",
            differ(bits(word, "0x1fff").cast("uint16_t"), "0"),
            differ(bits(byte("6"), "0x20"), "0"),
        );
        let place = binary("+", atom("header"), atom("6"));
        let all = vec![place, atom("0x3fff"), atom("0")];
        assert_eq!(united(vec![asked]), [call("sl_differs_big16", all)]);
    }

    #[test]
    fn a_flag_that_is_to_be_set_is_compared_with_what_stands_beside_it() {
        let shifted = binary(">>", byte("12"), atom("4"));
        let length = differ(binary("*", shifted.cast("uint32_t"), atom("4")), "20");
        let is_clear = binary("==", bits(byte("13"), "0x10"), atom("0"));
        let asked = vec![length, is_clear, differ(bits(byte("13"), "7"), "0")];
        let place = binary("+", atom("header"), atom("12"));
        let all = vec![place, atom("0xf017"), atom("0x5010")];
        assert_eq!(united(asked), [call("sl_differs_big16", all)]);
    }

    #[test]
    fn what_two_bits_are_not_says_little() {
        let asked = vec![
            binary("==", bits(byte("13"), "0x30"), atom("0")),
            differ(bits(byte("13"), "7"), "0"),
        ];
        assert_eq!(united(asked.clone()), asked);
    }

    #[test]
    fn what_is_in_other_bytes_or_can_never_be_stays() {
        let asked = || {
            vec![
                differ(byte("8"), "1"),
                differ(byte("10"), "17"),
                differ(bits(byte("10"), "1"), "0"),
                differ(bits(byte("3"), "0xf"), "3"),
                differ(bits(byte("7"), "0xf"), "16"),
            ]
        };
        assert_eq!(united(asked()), asked());
    }

    #[test]
    fn words_side_by_side_make_a_longer_one() {
        let word = |at: &str| {
            let place = binary("+", atom("header"), atom(at));
            call("sl_load_big16", vec![place])
        };
        let mut asked: Vec<C> = ["6", "0", "2", "4"].map(|at| differ(word(at), at)).to_vec();
        let all = call("sl_load_big64", vec![atom("header")]);
        assert_eq!(united(asked.clone()), [differ(all, "0x200040006")]);
        asked.remove(1);
        let place = binary("+", atom("header"), atom("2"));
        let two = differ(call("sl_load_big32", vec![place]), "0x20004");
        assert_eq!(united(asked), [differ(word("6"), "6"), two]);
    }

    #[test]
    fn headers_in_a_row_are_compared_at_once() {
        let data = || atom("message").member("data");
        let header = |name: &str| {
            let place = atom("message").member("header");
            let kind = "uint8_t *const".to_string();
            let (name, value) = (name.to_string(), Some(place.clone()));
            [assign(place, data()), S::Declare { kind, name, value }]
        };
        let taken = || vec![S::Assign(data(), "+=", atom("2"))];
        let asked = |name: &str, value: &str| {
            let word = call("sl_load_big16", vec![atom(name)]);
            vec![exit(differ(word, value))]
        };
        let both = || {
            [
                header("one").to_vec(),
                taken(),
                header("two").to_vec(),
                taken(),
            ]
            .concat()
        };
        let mut path = [both(), asked("one", "1"), asked("two", "2")].concat();
        unite("message", &mut path);
        let long = call("sl_load_big32", vec![atom("one")]);
        let once = [both(), vec![exit(differ(long, "0x10002"))]].concat();
        assert_eq!(path, once);
    }

    #[test]
    fn what_is_one_thing_is_not_asked_to_be_no_other() {
        let other = binary("==", byte("9"), atom("1"));
        let asked = differ(byte("9"), "17");
        assert_eq!(united(vec![other.clone(), asked.clone()]), [asked]);
        let same = vec![binary("==", byte("9"), atom("17")), differ(byte("9"), "17")];
        assert_eq!(united(same.clone()), same);
        assert_eq!(united(vec![other.clone()]), [other]);
    }
}
