//! Reed-Solomon codes over bytes (Reed and Solomon, Polynomial Codes over Certain Finite Fields,
//! 1960): `parity` bytes in each codeword of at most 255 correct half as many.
//!
//! The field has the polynomial 0x11b, and 3 generates it. The roots of the generator are the
//! powers 0 to `parity - 1` of 3 (in terms of libfec: `fcr` 0, `prim` 1 in powers of 3). The bytes
//! of a codeword are its coefficients, the highest first: its data, then its parity.
//!
//! Data of n bytes consists of d = n / 255 codewords, rounded up, and ends in their parity. Byte i
//! of the data, and byte i of the parity, belong to codeword i mod d.

/// Writes the parity of all codewords to the end of the data, if there is room for it.
pub fn encoded(data: &mut [u8], parity: u8) {
    for places in codewords(data.len(), parity).unwrap_or_default() {
        let (of_data, of_parity) = places.split_at(places.len() - usize::from(parity));
        let mut word: Vec<u8> = of_data.iter().map(|at| data[*at]).collect();
        word.resize(places.len(), 0);
        let rest = remainder(&word, &generator(parity));
        of_parity
            .iter()
            .zip(rest)
            .for_each(|(at, byte)| data[*at] = byte);
    }
}

/// Corrects the codewords, and returns the number of corrected bits; none if a codeword has too
/// many errors, which then stays as it is, while the others are corrected.
pub fn decoded(data: &mut [u8], parity: u8) -> Option<u32> {
    let mut all = Some(0);
    for places in codewords(data.len(), parity)? {
        let word: Vec<u8> = places.iter().map(|at| data[*at]).collect();
        let errors = errors(&word, usize::from(parity));
        all = all
            .zip(errors.as_ref())
            .map(|(bits, errors): (u32, &Vec<u8>)| {
                bits + errors.iter().map(|byte| byte.count_ones()).sum::<u32>()
            });
        for (at, error) in places.iter().zip(errors.unwrap_or_default()) {
            data[*at] ^= error;
        }
    }
    all
}

/// The places of the bytes of each codeword; none if the data has no room for the parity.
fn codewords(length: usize, parity: u8) -> Option<Vec<Vec<usize>>> {
    let count = length.div_ceil(255);
    let of_data = length.checked_sub(count * usize::from(parity))?;
    let all = (0..count).map(|word| {
        let data = (word..of_data).step_by(count);
        data.chain((of_data + word..length).step_by(count))
            .collect()
    });
    Some(all.collect())
}

/// The errors in a codeword, as a word of its length; none if there are more than `parity / 2`.
///
/// The errors are sought by the algorithm of Euclid (Sugiyama et al., A Method for Solving Key
/// Equation for Decoding Goppa Codes, 1975): the locator has a root for each wrong byte.
fn errors(word: &[u8], parity: usize) -> Option<Vec<u8>> {
    // Polynomials begin with their highest coefficient.
    let syndromes: Vec<u8> = (0..parity)
        .rev()
        .map(|root| value(word, power(root)))
        .collect();
    if syndromes.iter().all(|one| *one == 0) {
        return Some(vec![0; word.len()]);
    }
    let mut before = [&[1][..], &vec![0; parity]].concat();
    let mut evaluator = trimmed(&syndromes);
    let (mut locator_before, mut locator) = (Vec::new(), vec![1]);
    while 2 * degree_and_one(&evaluator) > parity {
        let (quotient, rest) = divided(&before, &evaluator);
        let next = sum(&locator_before, &product(&quotient, &locator));
        (locator_before, locator) = (locator, next);
        (before, evaluator) = (evaluator, rest);
    }
    let mut errors = vec![0; word.len()];
    for (at, error) in errors.iter_mut().enumerate() {
        let place = power(word.len() - 1 - at);
        let inverse = inverse(place);
        if value(&locator, inverse) == 0 {
            let slope = value(&derivative(&locator), inverse);
            let over = times(place, value(&evaluator, inverse));
            *error = times(over, self::inverse(slope));
        }
    }
    let wrong = errors.iter().filter(|error| **error != 0).count();
    let right = sum(word, &errors);
    let is_codeword = (0..parity).all(|root| value(&right, power(root)) == 0);
    (is_codeword && 2 * wrong <= parity).then_some(errors)
}

/// The polynomial whose roots are the first powers of 3.
fn generator(parity: u8) -> Vec<u8> {
    let roots = (0..usize::from(parity)).map(power);
    roots.fold(vec![1], |all, root| product(&all, &[1, root]))
}

/// One more than the degree of a polynomial whose first coefficient is not 0.
fn degree_and_one(polynomial: &[u8]) -> usize {
    polynomial.len()
}

fn trimmed(polynomial: &[u8]) -> Vec<u8> {
    polynomial
        .iter()
        .copied()
        .skip_while(|one| *one == 0)
        .collect()
}

/// The remainder of a division by a polynomial that begins with 1, as long as its degree.
fn remainder(polynomial: &[u8], by: &[u8]) -> Vec<u8> {
    let mut rest = polynomial.to_vec();
    for at in 0..(polynomial.len() + 1).saturating_sub(by.len()) {
        let factor = rest[at];
        for (place, coefficient) in by.iter().enumerate() {
            rest[at + place] ^= times(factor, *coefficient);
        }
    }
    rest.split_off(polynomial.len() + 1 - by.len())
}

/// Quotient and remainder.
fn divided(polynomial: &[u8], by: &[u8]) -> (Vec<u8>, Vec<u8>) {
    let first = inverse(by[0]);
    let monic: Vec<u8> = by.iter().map(|one| times(*one, first)).collect();
    let mut rest = polynomial.to_vec();
    let mut quotient = Vec::new();
    for at in 0..(polynomial.len() + 1).saturating_sub(by.len()) {
        let factor = rest[at];
        quotient.push(times(factor, first));
        for (place, coefficient) in monic.iter().enumerate() {
            rest[at + place] ^= times(factor, *coefficient);
        }
    }
    (trimmed(&quotient), trimmed(&rest))
}

fn sum(one: &[u8], other: &[u8]) -> Vec<u8> {
    let length = one.len().max(other.len());
    let at = |of: &[u8], place: usize| {
        let before = length - of.len();
        if place < before {
            0
        } else {
            of[place - before]
        }
    };
    (0..length)
        .map(|place| at(one, place) ^ at(other, place))
        .collect()
}

fn product(one: &[u8], other: &[u8]) -> Vec<u8> {
    if one.is_empty() || other.is_empty() {
        return Vec::new();
    }
    let mut all = vec![0; one.len() + other.len() - 1];
    for (i, a) in one.iter().enumerate() {
        for (j, b) in other.iter().enumerate() {
            all[i + j] ^= times(*a, *b);
        }
    }
    all
}

/// The formal derivative: coefficients of odd powers, each one power lower.
fn derivative(polynomial: &[u8]) -> Vec<u8> {
    let powers = (0..polynomial.len()).rev();
    let terms = polynomial.iter().zip(powers);
    let terms = terms.map(|(one, power)| if power % 2 == 1 { *one } else { 0 });
    terms.take(polynomial.len() - 1).collect()
}

fn value(polynomial: &[u8], at: u8) -> u8 {
    polynomial.iter().fold(0, |sum, one| times(sum, at) ^ one)
}

/// A power of 3.
fn power(exponent: usize) -> u8 {
    (0..exponent).fold(1, |all, _| times(all, 3))
}

fn inverse(of: u8) -> u8 {
    (0..253).fold(of, |all, _| times(all, of))
}

/// A product in the field: bit by bit, less the polynomial of the field where a carry comes.
fn times(one: u8, other: u8) -> u8 {
    let mut product = 0;
    for bit in (0..8).rev() {
        let carry = product & 0x80 != 0;
        product <<= 1;
        product ^= if carry { 0x1b } else { 0 };
        product ^= if other >> bit & 1 == 1 { one } else { 0 };
    }
    product
}
