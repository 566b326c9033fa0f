//! Values as people write them: on the command line, in keys, in networks.
//!
//! In: `10.0.0.2`, `02:00:00:00:00:01`, `0x2a`, `1.5 s`. Out: the bytes of a field, or a number.

use super::layout::Kind;

/// The bytes of a field, as this machine holds them.
pub fn parse(kind: Kind, size: usize, text: &str) -> Result<Vec<u8>, String> {
    match kind {
        Kind::Unsigned(bits) => Ok(sized(i128::from(unsigned(bits, text)?), size)),
        Kind::Signed(bits) => Ok(sized(signed(bits, text)?, size)),
        Kind::Time => Ok(sized(i128::from(duration_ns(text)?), size)),
        Kind::Bool => match text {
            "true" => Ok(sized(1, size)),
            "false" => Ok(sized(0, size)),
            other => Err(format!("`{other}` is not a boolean: write true or false")),
        },
        Kind::Bounded(most) => {
            let bytes = hexadecimal(text)?;
            match bytes.len() <= most {
                true => Ok(super::layout::bounded(&bytes, most)),
                false => Err(format!(
                    "`{text}` has {} bytes, but at most {most} fit",
                    bytes.len()
                )),
            }
        }
        Kind::Bytes(length) => {
            if let (16, Ok(address)) = (length, text.parse::<std::net::Ipv6Addr>()) {
                return Ok(address.octets().to_vec());
            }
            let bytes = hexadecimal(text)?;
            if bytes.len() == length {
                return Ok(bytes);
            }
            Err(format!(
                "`{text}` has {} bytes, but {length} are needed",
                bytes.len()
            ))
        }
    }
}

fn sized(value: i128, size: usize) -> Vec<u8> {
    let mut bytes = value.to_le_bytes()[..size.min(16)].to_vec();
    if cfg!(target_endian = "big") {
        bytes.reverse();
    }
    bytes
}

/// The bytes of a field that holds this number, as this machine holds them.
pub fn number_bytes(number: u64, size: usize) -> Vec<u8> {
    sized(i128::from(number), size)
}

/// An integer, or what is one in a header: `10.0.0.2`, `02:00:00:00:00:01`.
fn unsigned(bits: u32, text: &str) -> Result<u64, String> {
    let value = if let Ok(address) = text.parse::<std::net::Ipv4Addr>() {
        if bits != 32 {
            return Err(format!(
                "`{text}` is an IPv4 address of 32 bits, but the value has {bits} bits"
            ));
        }
        u64::from(u32::from(address))
    } else if text.contains(':') {
        let bytes = hexadecimal(text)?;
        if bytes.len() != 6 {
            return Err(format!(
                "`{text}` is not a link address: write it as in 02:00:00:00:00:01"
            ));
        }
        bytes
            .iter()
            .fold(0, |value, byte| value << 8 | u64::from(*byte))
    } else {
        integer(text)?
    };
    if bits < 64 && value >> bits != 0 {
        return Err(format!("`{text}` does not fit into {bits} bits"));
    }
    Ok(value)
}

fn signed(bits: u32, text: &str) -> Result<i128, String> {
    let value = match text.strip_prefix('-') {
        Some(rest) => -i128::from(integer(rest)?),
        None => i128::from(integer(text)?),
    };
    let half = 1_i128 << (bits - 1);
    if (-half..half).contains(&value) {
        return Ok(value);
    }
    Err(format!(
        "`{text}` does not fit into a signed number of {bits} bits"
    ))
}

/// A whole number: `42`, `0x2a`, `1_000`.
pub fn integer(text: &str) -> Result<u64, String> {
    let plain = text.replace('_', "");
    let parsed = match (plain.strip_prefix("0x"), plain.strip_prefix("0b")) {
        (Some(digits), _) => u64::from_str_radix(digits, 16),
        (_, Some(digits)) => u64::from_str_radix(digits, 2),
        (None, None) => plain.parse(),
    };
    let starts_with_digit = plain.starts_with(|first: char| first.is_ascii_digit());
    parsed.ok().filter(|_| starts_with_digit).ok_or_else(|| {
        format!("`{text}` is not a number: write 42, 0x2a, 10.0.0.2 or 02:00:00:00:00:01")
    })
}

fn hexadecimal(text: &str) -> Result<Vec<u8>, String> {
    let wrong =
        || format!("`{text}` is not a sequence of bytes: write hexadecimal, such as 00ff or 00:ff");
    let parts: Vec<String> = if text.contains(':') {
        text.split(':').map(str::to_string).collect()
    } else {
        let digits: Vec<char> = text.strip_prefix("0x").unwrap_or(text).chars().collect();
        digits.chunks(2).map(|pair| pair.iter().collect()).collect()
    };
    parts
        .iter()
        .map(|part| {
            let digits = part.len() == 2 && part.chars().all(|digit| digit.is_ascii_hexdigit());
            digits
                .then(|| u8::from_str_radix(part, 16).ok())
                .flatten()
                .ok_or_else(wrong)
        })
        .collect()
}

/// Nanoseconds from a duration with its unit: `5 s`, `1.5ms`.
pub fn duration_ns(text: &str) -> Result<u64, String> {
    let wrong = || format!("`{text}` is not a duration: write 5 s, 200 ms or 1.5 h");
    let split = text
        .find(|letter: char| letter.is_alphabetic())
        .unwrap_or(text.len());
    let (number, unit) = text.split_at(split);
    let scale: u64 = match unit.trim() {
        "ns" => 1,
        "us" => 1_000,
        "ms" => 1_000_000,
        "s" => 1_000_000_000,
        "min" => 60_000_000_000,
        "h" => 3_600_000_000_000,
        "" if number.trim() == "0" => 1,
        _ => return Err(wrong()),
    };
    let number = number.trim().replace('_', "");
    let (whole, fraction) = number.split_once('.').unwrap_or((&number, ""));
    let whole: u64 = whole.parse().map_err(|_| wrong())?;
    let mut value_ns = whole.checked_mul(scale).ok_or_else(wrong)?;
    let mut digit_ns = scale;
    for digit in fraction.chars() {
        digit_ns /= 10;
        let part_ns = digit_ns * u64::from(digit.to_digit(10).ok_or_else(wrong)?);
        value_ns = value_ns.checked_add(part_ns).ok_or_else(wrong)?;
    }
    Ok(value_ns)
}
