//! How large a stack is, by the names of its functions and values.
//!
//! In: an object or a program, and which names are meant. Out: bytes of text, which is functions
//! and constants, and of data, which has a first value. What has no name is not there: strings,
//! and the tables by which a debugger unwinds.

use crate::tool::counting::{Size, quietly};
use crate::tool::failure::{Failure, about};
use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

/// All that is called so.
pub fn sized(file: &Path, is_meant: impl Fn(&str) -> bool) -> Result<Size, Failure> {
    let mut list = Command::new("nm");
    list.args(["-C", "-f", "sysv", "--defined-only"]).arg(file);
    quietly(&mut list)?;
    let listed = list.output().map_err(about(file))?;
    let listed = String::from_utf8_lossy(&listed.stdout);
    let named = listed.lines().filter_map(named);
    let meant = named.filter(|one| is_meant(one.name));
    // Equal functions may be one, with several names.
    let meant: BTreeMap<_, _> = meant
        .map(|one| (one.place, (one.kind, one.bytes)))
        .collect();
    let of_kinds = |kinds: &str| -> f64 {
        let all = meant.values().filter(|(kind, _)| kinds.contains(*kind));
        all.map(|(_, bytes)| *bytes).sum::<u64>() as f64
    };
    Ok(Size {
        text: of_kinds("TtWwRr"),
        data: of_kinds("DdVv"),
    })
}

/// Something that has a name and a size.
#[derive(Debug, PartialEq)]
struct Named<'a> {
    name: &'a str,
    kind: char,
    bytes: u64,
    /// Where it stands in which section.
    place: (&'a str, &'a str),
}

/// What a line says: its name, address, class, type, size, line and section.
fn named(line: &str) -> Option<Named<'_>> {
    let mut from_behind = line.rsplitn(7, '|').map(str::trim);
    let mut next = || from_behind.next();
    let (section, _, bytes) = (next()?, next()?, next()?);
    let (_, kind, address, name) = (next()?, next()?, next()?, next()?);
    Some(Named {
        name,
        kind: kind.chars().next()?,
        bytes: u64::from_str_radix(bytes, 16).ok()?,
        place: (section, address),
    })
}

#[cfg(test)]
mod tests {
    use super::{Named, named};

    #[test]
    fn what_has_a_size_has_a_name_and_a_kind() {
        let line = "<a::B as c::D>::e|0000000000401000|   T  |  FUNC|00000000000000ff|     |.text";
        let found = Named {
            name: "<a::B as c::D>::e",
            kind: 'T',
            bytes: 255,
            place: (".text", "0000000000401000"),
        };
        assert_eq!(named(line), Some(found));
        assert_eq!(named(&line.replace("00000000000000ff", "")), None);
        assert_eq!(named("Symbols from a.o:"), None);
    }
}
