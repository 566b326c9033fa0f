//! Numbers and the bytes that they stand in: loaded, stored, with a sign or without.
//!
//! In: C for a place in a message, or for a number. Out: C for the number, or the statements that
//! store it there.

use super::constant::number_text;
use super::layout::{c_bits, mask};
use crate::c::tree::{Expression as C, Statement, assign, atom, binary, call, call_statement};

/// Bytes of the widest number that C has here.
pub const WIDEST: u32 = 8;

/// The number that ends `below` bits before the end of nine bytes: the end where the least
/// significant bit stands. Bits above the number are not yet masked off.
pub fn load_nine_bytes(big: bool, at: C, below: u32) -> C {
    let last = binary("+", at.clone(), atom(WIDEST.to_string()));
    let (first, _) = load_bytes(big, at, WIDEST);
    let last = element(last);
    let bits = |number: u32| atom(number.to_string());
    let (high, low) = match big {
        true => (
            binary("<<", first, bits(8 - below)),
            binary(">>", last, bits(below)).cast("uint64_t"),
        ),
        false => (
            binary("<<", last.cast("uint64_t"), bits(8 * WIDEST - below)),
            binary(">>", first, bits(below)),
        ),
    };
    binary("|", high, low)
}

/// So many bytes at a place, and the bits of the C type that they come in.
pub fn load_bytes(big: bool, at: C, bytes: u32) -> (C, u32) {
    let order = if big { "big" } else { "little" };
    match bytes {
        1 => (element(at), 8),
        2 | 3 | 4 | 6 | 8 => (
            call(format!("sl_load_{order}{}", 8 * bytes), vec![at]),
            c_bits(8 * bytes),
        ),
        _ => {
            let (low, rest) = (4, bytes - 4);
            let behind = |n: u32| binary("+", at.clone(), atom(n.to_string()));
            let (high_at, low_at) = if big {
                (at.clone(), behind(rest))
            } else {
                (behind(low), at.clone())
            };
            let (high, _) = load_bytes(big, high_at, rest);
            let (low, _) = load_bytes(big, low_at, low);
            (
                binary("|", binary("<<", high.cast("uint64_t"), atom("32")), low),
                64,
            )
        }
    }
}

/// So many bytes at a place become those of a number.
pub fn store_bytes(big: bool, at: C, bytes: u32, value: C) -> Vec<Statement> {
    let order = if big { "big" } else { "little" };
    match bytes {
        1 => vec![assign(element(at), value)],
        2 | 3 | 4 | 6 | 8 => {
            let name = format!("sl_store_{order}{}", 8 * bytes);
            vec![call_statement(name, vec![at, value])]
        }
        _ => {
            assert!(bytes < WIDEST, "longer numbers are stored in parts");
            let behind = |n: u32| binary("+", at.clone(), atom(n.to_string()));
            let (high_at, low_at) = match big {
                true => (at.clone(), behind(bytes - 4)),
                false => (behind(4), at.clone()),
            };
            let own = format!("uint{}_t", c_bits(8 * (bytes - 4)));
            let high = binary(">>", value.clone().cast("uint64_t"), atom("32")).cast(own);
            let mut all = store_bytes(big, high_at, bytes - 4, high);
            all.extend(store_bytes(big, low_at, 4, value.cast("uint32_t")));
            all
        }
    }
}

/// A number of so many bits, the first of which is its sign.
pub fn with_sign(number: C, width: u32) -> C {
    let own = c_bits(width);
    if width == own {
        return number.cast(format!("int{own}_t"));
    }
    let sign = || atom(number_text(1 << (width - 1)));
    let extended = binary("-", binary("^", number, sign()), sign());
    extended.cast(format!("int{own}_t"))
}

/// The low bits of a number that has a sign.
pub fn without_sign(number: C, width: u32) -> C {
    let own = c_bits(width);
    let bits = number.cast(format!("uint{own}_t"));
    match width == own {
        true => bits,
        false => binary("&", bits, atom(mask(width))),
    }
}

/// `base[offset]` instead of `*(base + offset)`.
fn element(at: C) -> C {
    match at {
        C::Binary("+", base, offset) => base.element(*offset),
        other => other.element(atom("0")),
    }
}

/// `base + offset`
pub fn advanced(base: &C, offset: u32) -> C {
    if offset == 0 {
        base.clone()
    } else {
        binary("+", base.clone(), atom(offset.to_string()))
    }
}
