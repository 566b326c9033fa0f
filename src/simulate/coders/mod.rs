//! Error-correcting codes, as the interpreters have them: in, data; out, the same data encoded or
//! corrected, in place.
//!
//! Each code is written from its definition and without tables, to be compared with the C in
//! `runtime/coders.h`, which is written for speed. [`SHIPPED`] lists the functions.
//!
//! ```
//! use stackloom::simulate::coders::hamming;
//! let mut data = [0xf0, 0xf0, 0x00, 0xf0, 0, 0, 0];   // four quarters, and room for the parity
//! hamming::encoded(&mut data);
//! data[2] ^= 0x40;
//! assert_eq!(hamming::decoded(&mut data), 1);
//! assert_eq!(data[..4], [0xf0, 0xf0, 0x00, 0xf0]);
//! ```

pub mod convolutional;
pub mod hamming;
pub mod reed_solomon;

use super::value::Datum;
#[cfg(doc)]
use crate::types::external::SHIPPED;

/// Calls a function of the runtime: its data comes first, and is overwritten.
pub fn called(name: &str, given: &mut [Datum]) -> Datum {
    let [Datum::Bytes(data), numbers @ ..] = given else {
        panic!("the checker has seen that a function of the runtime is given data");
    };
    let numbers: Vec<u64> = numbers.iter().map(Datum::number).collect();
    run(name, data, &numbers)
}

fn run(name: &str, data: &mut [u8], numbers: &[u64]) -> Datum {
    let number = |found: u32| Datum::Number(u64::from(found));
    let perhaps = |found: Option<u32>| Datum::Optional(found.map(|it| Box::new(number(it))));
    match (name, numbers) {
        ("hamming_encoded", []) => hamming::encoded(data),
        ("hamming_decoded", []) => return number(hamming::decoded(data)),
        ("convolutional_encoded", []) => convolutional::encoded(data),
        ("convolutional_decoded", []) => return perhaps(convolutional::decoded(data)),
        ("reed_solomon_encoded", [parity]) => reed_solomon::encoded(data, *parity as u8),
        ("reed_solomon_decoded", [parity]) => {
            return perhaps(reed_solomon::decoded(data, *parity as u8));
        }
        _ => panic!("the checker has seen that the runtime has `{name}`"),
    }
    Datum::Absent
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::c::runtime;
    use crate::types::external::SHIPPED;

    #[test]
    fn every_function_of_the_runtime_has_its_c_and_its_twin() {
        for shipped in SHIPPED {
            let part = format!("sl_{}", shipped.name);
            assert!(runtime::names().any(|name| name == part), "{part}");
            let numbers = vec![1; shipped.numbers.len()];
            let _answer = run(shipped.name, &mut [0; 48], &numbers);
        }
    }
}
