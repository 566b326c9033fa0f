//! Fields of a header that share bytes, compared with constants at once, in the order of the wire.
//!
//! In: a path, which is left where a test does not hold. Out: the same, its tests of bits that
//! stand in the same bytes made one, at the place of the last.
//!
//! ```text
//! header[0] >> 4 != 4 || (header[0] & 0xf) * 4 != 20   =>  header[0] != 0x45
//! (sl_load_big16(header + 6) & 0x1fff) != 0 ||
//!     (header[6] & 0x20) != 0                          =>  sl_differs_big16(header + 6, 0x3fff, 0)
//! ```

use super::algebra::{any_of, number};
use super::bypass::{exit, is_exit};

use crate::c::tree::{Expression as C, Statement as S, atom, binary, call};

/// Bits that are to have a value: so many bytes behind a pointer, most significant first.
#[derive(Clone, Debug, PartialEq)]
struct Masked {
    pointer: C,
    offset: u64,
    bytes: u64,
    mask: u64,
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

/// Makes one test of those that look at the same bytes.
pub fn unite(path: &mut Vec<S>) {
    let mut settled: Vec<Asked> = Vec::new();
    let mut asked: Vec<Asked> = Vec::new();
    for (at, statement) in path.iter_mut().enumerate() {
        let is_exit = is_exit(statement);
        if statement.expressions().into_iter().any(may_not_be_found) {
            // What was asked before it stays before it.
            settled.append(&mut asked);
        }
        match statement {
            S::If { condition, .. } if is_exit => {
                for condition in any_of(condition.clone()) {
                    let own = Masked::of(&condition);
                    let mut bits = own.clone();
                    if let Some(bits) = &mut bits {
                        asked.retain(|one| !bits.decides(&one.condition));
                        asked.retain(|one| !one.bits.as_ref().is_some_and(|one| bits.absorb(one)));
                    }
                    let is_new = |one: &&Masked| bits != own || one.bytes > 1 && !one.is_all();
                    let condition = match bits.as_ref().filter(is_new) {
                        Some(bits) => bits.differs(),
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
                unite(then);
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
            | S::Break => {}
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
    fn of(condition: &C) -> Option<Masked> {
        let C::Binary("!=", bits, value) = condition else {
            return None;
        };
        let value = number(value)?;
        let (mut masked, shift, times) = bits_of(bits)?;
        masked.value = value.checked_div(times)? << shift;
        let is_there = value % times == 0 && masked.value & !masked.mask == 0;
        is_there.then_some(masked)
    }

    /// Whether they are all of their bytes.
    fn is_all(&self) -> bool {
        self.mask == u64::MAX >> (64 - 8 * self.bytes)
    }

    /// Whether a condition says that bits have a value which they do not have if they have this.
    fn decides(&self, condition: &C) -> bool {
        let C::Binary("==", bits, value) = condition else {
            return false;
        };
        let other = Masked::of(&binary("!=", (**bits).clone(), (**value).clone()));
        other.is_some_and(|other| {
            let same = Masked {
                value: self.value,
                ..other.clone()
            };
            same == *self && other.value != self.value
        })
    }

    /// The condition that they are others.
    fn differs(&self) -> C {
        let (mask, value) = (self.mask, self.value);
        let place = |offset: u64| match offset {
            0 => self.pointer.clone(),
            offset => binary("+", self.pointer.clone(), atom(offset.to_string())),
        };
        let all = [
            place(self.offset),
            atom(format!("{mask:#x}")),
            constant(value),
        ];
        match self.bytes {
            1 => {
                let byte = self.pointer.clone().element(atom(self.offset.to_string()));
                let bits = match mask {
                    0xff => byte,
                    mask => binary("&", byte, atom(format!("{mask:#x}"))),
                };
                binary("!=", bits, constant(value))
            }
            bytes => call(format!("sl_differs_big{}", 8 * bytes), all.to_vec()),
        }
    }

    /// Becomes a test of these bits, too, if there are some in the same bytes.
    fn absorb(&mut self, other: &Masked) -> bool {
        if self.pointer != other.pointer {
            return false;
        }
        let [own, its] = [&*self, other].map(|one| one.offset..one.offset + one.bytes);
        let (outer, inner) = match self.bytes >= other.bytes {
            true => (own, its),
            false => (its, own),
        };
        if inner.start < outer.start || inner.end > outer.end {
            return false;
        }
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

/// Bits of a header, how far they were shifted to the right, and by what they were multiplied.
fn bits_of(value: &C) -> Option<(Masked, u32, u64)> {
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
            let place = match all.first()? {
                C::Binary("+", pointer, offset) => ((**pointer).clone(), number(offset)?),
                pointer => (pointer.clone(), 0),
            };
            Some((loaded(place.0, place.1, bytes), 0, 1))
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
        unite(&mut path);
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
    fn what_is_in_other_bytes_or_can_never_be_stays() {
        let asked = || {
            vec![
                differ(byte("8"), "1"),
                differ(byte("9"), "17"),
                differ(bits(byte("9"), "1"), "0"),
                differ(bits(byte("7"), "0xf"), "16"),
            ]
        };
        assert_eq!(united(asked()), asked());
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
