//! The structs of a compiled stack that depend on its program: config, keys, attributes.
//!
//! In: a `Description` (what the program says) and the offsets that `companion` took from the C
//! compiler. Out: a `Layout` of each struct, and `Values`: a struct filled by field names from what
//! people write on a command line.
//!
//! ```text
//! config { address: u32 }  +  "address" at 0, 4 bytes  +  --set address=10.0.0.2
//!     =  02 00 00 0a
//! ```

use super::written::{number_bytes, parse};
use crate::back::c::names::identifier;
use crate::ir::Module;
pub use crate::simulate::state::Limits;
use crate::simulate::value::Datum;
use crate::types::names::nearest;
use std::sync::Arc;

/// What the compiler says about a stack: all that cannot be read from its shared object.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Description {
    /// The stack's name, with which every exported name begins.
    pub name: String,
    /// The links in the order of their numbers.
    pub links: Vec<String>,
    /// The ports in the order of their numbers.
    pub ports: Vec<Port>,
    /// The fields of `struct NAME_config`.
    pub config: Vec<Member>,
    /// The functions that somebody has to write in C.
    pub functions_in_c: Vec<String>,
    /// The layer that stands on each link.
    pub lowest: Vec<String>,
    /// True if frames of some link leave in two parts.
    pub gathers: bool,
    /// Whether anything in it can hold messages for long.
    pub holds_messages: bool,
    /// Whether it wants to know when a link goes down: there is `NAME_carrier`.
    pub hears_carrier: bool,
    /// The lengths of its buffers and messages, and the settings that it starts with.
    pub limits: Limits,
}

impl Description {
    /// Whether anything stands beside messages that wait for an application.
    pub fn has_attributes(&self) -> bool {
        let mut ports = self.ports.iter();
        ports.any(|port| !port.attributes.is_empty())
    }
}

/// Returns what a stack may use unless its host says otherwise: the defaults of its C.
pub fn limits(module: &Module) -> Limits {
    let memory = module.memory;
    Limits {
        buffers: memory.buffers,
        reserve: memory.reserve,
        room: memory.room as usize,
        longest: module
            .ports
            .iter()
            .map(|port| port.longest as usize)
            .collect(),
        events: memory.events as usize,
        outputs: memory.outputs as usize,
        ..Limits::default()
    }
}

/// One port of a stack.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Port {
    /// Its name in the program.
    pub name: String,
    /// The fields of `struct NAME_PORT_keys`.
    pub keys: Vec<Member>,
    /// The fields of `struct NAME_PORT_listener_keys`; none if it cannot listen.
    pub listener_keys: Option<Vec<Member>>,
    /// The fields of `struct NAME_PORT_attributes`.
    pub attributes: Vec<Member>,
    /// Whether messages pass here, so that an application may sit here.
    pub passes: bool,
    /// Whether its sessions are opened, even if they have no keys.
    pub opens: bool,
    /// What those attributes are that somebody leaves out: name and value.
    pub attribute_defaults: Vec<(String, String)>,
    /// What its application may say: the functions `NAME_PORT_NOTICE`.
    pub down: Vec<Told>,
    /// What its application is told by `NAME_next`.
    pub up: Vec<Told>,
    /// The keys of a session that is accepted; none if nobody can listen here.
    pub accepted: Option<Vec<Member>>,
}

/// A notice at a port.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Told {
    /// Its name in the program.
    pub name: String,
    /// What is said with it.
    pub members: Vec<Member>,
}

impl Told {
    /// Returns true if it has this name, and arguments of these kinds.
    fn is(&self, name: &str, kinds: &[Kind]) -> bool {
        let own = self.members.iter().map(|member| member.kind);
        self.name == name && own.eq(kinds.iter().copied())
    }

    /// Returns true if it is a grant of this name.
    pub fn grants(&self, name: &str) -> bool {
        self.is(name, &[Kind::Unsigned(32)])
    }

    /// Returns true if it counts bytes: its only argument has that name.
    pub fn counts_bytes(&self) -> bool {
        self.members.iter().all(|member| member.name == "bytes")
    }
}

impl Port {
    /// The place of what an application may say by this name, with arguments of these kinds.
    pub fn says(&self, name: &str, kinds: &[Kind]) -> Option<usize> {
        self.down.iter().position(|told| told.is(name, kinds))
    }
}

/// One field of a struct, as the program declares it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Member {
    /// Its name in the program and in C.
    pub name: String,
    /// What it holds.
    pub kind: Kind,
    /// Whether `bool has_NAME` stands beside it.
    pub optional: bool,
    /// Whether somebody has to say what it is.
    pub needed: bool,
    /// The names of its values, if it is an enum.
    pub names: Vec<(String, u64)>,
}

/// What a field holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// `u1`..`u64`, `seq8`..`seq32`, enums: so many bits.
    Unsigned(u32),
    /// `i8`..`i64`: so many bits.
    Signed(u32),
    /// `bool`
    Bool,
    /// `time`, in nanoseconds.
    Time,
    /// `bytes[N]`
    Bytes(usize),
    /// `bytes[at most N]`: the length in one byte, and the bytes.
    Bounded(usize),
}

/// Where the fields of a struct are.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Layout {
    /// The struct's size in bytes.
    pub size: usize,
    /// Its fields, in the order of the program.
    pub fields: Arc<[Field]>,
}

/// One field of a struct, and where it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Field {
    /// What the program says about it.
    pub member: Member,
    /// Bytes from the struct's start.
    pub offset: usize,
    /// Its size in bytes.
    pub size: usize,
    /// Where its `has_NAME` is, if it is optional.
    pub present_at: Option<usize>,
}

/// The C names of a struct's fields in the order in which the companion lists them: an optional
/// field is preceded by its flag.
pub fn c_fields(members: &[Member]) -> Vec<String> {
    let mut names = Vec::new();
    for member in members {
        if member.optional {
            names.push(format!("has_{}", member.name));
        }
        names.push(identifier(&member.name));
    }
    names
}

impl Member {
    /// A value of it, whose bytes begin with the least.
    fn datum(&self, bytes: Vec<u8>) -> Datum {
        let bits = match self.kind {
            Kind::Bytes(_) => return Datum::Bytes(bytes),
            Kind::Bounded(most) => {
                let length = usize::from(bytes[0]).min(most);
                return Datum::Bytes(bytes[1..=length].to_vec());
            }
            Kind::Signed(bits) => bits,
            Kind::Unsigned(_) | Kind::Bool | Kind::Time => 64,
        };
        let number = |number, byte: &u8| number << 8 | u64::from(*byte);
        let number: u64 = bytes.iter().rev().fold(0, number);
        let above = 64 - bits;
        Datum::Number(((number << above) as i64 >> above) as u64)
    }
}

/// Bounded bytes as C has them: their length, they, and zeros.
pub fn bounded(bytes: &[u8], most: usize) -> Vec<u8> {
    let mut all = vec![bytes.len() as u8];
    all.extend_from_slice(bytes);
    all.resize(most + 1, 0);
    all
}

/// Room enough for each of `c_fields`.
fn c_sizes(members: &[Member]) -> Vec<usize> {
    let mut sizes = Vec::new();
    for member in members {
        if member.optional {
            sizes.push(1);
        }
        sizes.push(match member.kind {
            Kind::Unsigned(_) | Kind::Signed(_) | Kind::Time => 8,
            Kind::Bool => 1,
            Kind::Bytes(length) => length,
            Kind::Bounded(most) => most + 1,
        });
    }
    sizes
}

impl Layout {
    /// A layout of our own, for checking what people wrote before there is any C.
    pub fn assumed(members: &[Member]) -> Layout {
        let mut size = 0;
        let places: Vec<(usize, usize)> = c_sizes(members)
            .into_iter()
            .map(|needed| {
                size += needed;
                (size - needed, needed)
            })
            .collect();
        Layout::new(size, members, &places)
    }

    /// Puts together what the program says and the (offset, size) of each of `c_fields`.
    pub fn new(size: usize, members: &[Member], places: &[(usize, usize)]) -> Layout {
        let mut places = places.iter();
        let mut place = || *places.next().expect("the companion lists every field");
        let fields = members
            .iter()
            .map(|member| {
                let present_at = member.optional.then(|| place().0);
                let (offset, size) = place();
                Field {
                    member: member.clone(),
                    offset,
                    size,
                    present_at,
                }
            })
            .collect();
        Layout { size, fields }
    }
}

impl Field {
    /// The bytes of what people write for it: of an enum a name, or else a number.
    fn parse(&self, text: &str) -> Result<Vec<u8>, String> {
        let Member { kind, names, .. } = &self.member;
        if let Some((_, value)) = names.iter().find(|(name, _)| name == text) {
            return Ok(number_bytes(*value, self.size));
        }
        parse(*kind, self.size, text).map_err(|reason| {
            let known: Vec<&str> = names.iter().map(|(name, _)| name.as_str()).collect();
            match known.is_empty() || text.starts_with(|first: char| first.is_ascii_digit()) {
                true => reason,
                false => format!(
                    "`{text}` is not one of its values: {}",
                    instead(text, &known)
                ),
            }
        })
    }
}

/// Memory for a struct, aligned for whatever C may put there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C, align(64))]
pub struct Block(pub [u8; 64]);

/// So many zeroed blocks that `size` bytes have room; one at least.
pub fn blocks(size: usize) -> Vec<Block> {
    vec![Block([0; 64]); size.div_ceil(64).max(1)]
}

/// A struct of a compiled stack, filled by name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Values {
    /// What the struct is, for messages: "setting", "key".
    what: &'static str,
    layout: Layout,
    memory: Vec<Block>,
    named: Vec<bool>,
}

impl Values {
    /// A struct of zeros: what is optional is absent.
    pub fn new(what: &'static str, layout: &Layout) -> Values {
        let (memory, named) = (blocks(layout.size), vec![false; layout.fields.len()]);
        Values {
            what,
            layout: layout.clone(),
            memory,
            named,
        }
    }

    /// A struct that C has filled.
    pub fn filled(what: &'static str, layout: &Layout, memory: Vec<Block>) -> Values {
        Values {
            what,
            layout: layout.clone(),
            memory,
            named: vec![true; layout.fields.len()],
        }
    }

    /// The same in a struct of another layout.
    pub fn laid_out(&self, layout: &Layout) -> Values {
        let mut values = Values::new(self.what, layout);
        for at in 0..layout.fields.len() {
            values.put(at, &self.datum(at));
        }
        values
    }

    /// All fields as interpreters have them.
    pub fn data(&self) -> Vec<Datum> {
        let places = 0..self.layout.fields.len();
        places.map(|at| self.datum(at)).collect()
    }

    /// How it is laid out.
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    /// Whether this is a struct of that layout.
    pub fn has(&self, layout: &Layout) -> bool {
        self.layout == *layout
    }

    /// The struct as C sees it.
    pub fn as_ptr(&self) -> *const Block {
        self.memory.as_ptr()
    }

    /// The struct for C to fill.
    pub fn as_mut_ptr(&mut self) -> *mut Block {
        self.memory.as_mut_ptr()
    }

    /// Sets a field by its name from what people write: `address`, `10.0.0.2`.
    pub fn set(&mut self, name: &str, text: &str) -> Result<(), String> {
        let Some(index) = self
            .layout
            .fields
            .iter()
            .position(|field| field.member.name == name)
        else {
            return Err(self.unknown(name));
        };
        let field = self.layout.fields[index].clone();
        self.named[index] = true;
        let bytes = match (text, field.present_at) {
            ("none", Some(flag)) => {
                self.write(flag, &[0]);
                return Ok(());
            }
            (_, flag) => {
                let bytes = field
                    .parse(text)
                    .map_err(|reason| format!("{} `{name}`: {reason}", self.what))?;
                flag.into_iter().for_each(|flag| self.write(flag, &[1]));
                bytes
            }
        };
        self.write(field.offset, &bytes);
        Ok(())
    }

    /// The fields that must be set and were not.
    pub fn missing(&self) -> Vec<&str> {
        let fields = self.layout.fields.iter().zip(&self.named);
        fields
            .filter(|(field, named)| !**named && field.member.needed)
            .map(|(field, _)| field.member.name.as_str())
            .collect()
    }

    /// Whether somebody set a field, by its place.
    pub fn is_set(&self, at: usize) -> bool {
        self.named[at]
    }

    /// The bytes of a field, from the least on, by its place; none if nobody set it, or to `none`.
    pub fn given(&self, at: usize) -> Option<Vec<u8>> {
        let field = &self.layout.fields[at];
        let byte = |at: usize| self.memory[at / 64].0[at % 64];
        let is_there = self.named[at] && field.present_at.is_none_or(|flag| byte(flag) != 0);
        let bytes = (field.offset..field.offset + field.size).map(byte);
        let from_top = cfg!(target_endian = "big")
            && !matches!(field.member.kind, Kind::Bytes(_) | Kind::Bounded(_));
        is_there.then(|| match from_top {
            true => bytes.rev().collect(),
            false => bytes.collect(),
        })
    }

    /// A field as interpreters have it, by its place; absent if nobody set it.
    pub fn datum(&self, at: usize) -> Datum {
        let member = &self.layout.fields[at].member;
        let plain = self.given(at).map(|bytes| member.datum(bytes));
        match (member.optional, plain) {
            (true, plain) => Datum::Optional(plain.map(Box::new)),
            (false, plain) => plain.unwrap_or(Datum::Absent),
        }
    }

    /// Sets a field, by its place, to what interpreters have; what is absent stays so.
    pub fn put(&mut self, at: usize, value: &Datum) {
        let field = self.layout.fields[at].clone();
        let bytes = match value {
            Datum::Optional(None) | Datum::Absent => return,
            Datum::Optional(Some(value)) => return self.put(at, value),
            Datum::Bytes(bytes) => match field.member.kind {
                Kind::Bounded(most) => bounded(bytes, most),
                Kind::Unsigned(_) | Kind::Signed(_) | Kind::Bool | Kind::Time | Kind::Bytes(_) => {
                    bytes.clone()
                }
            },
            value => number_bytes(value.number(), field.size),
        };
        self.named[at] = true;
        let flag = field.present_at.into_iter();
        flag.for_each(|flag| self.write(flag, &[1]));
        self.write(field.offset, &bytes);
    }

    /// What a number was set to by its name, if it was.
    pub fn number(&self, name: &str) -> Option<u64> {
        let mut fields = self.layout.fields.iter();
        let bytes = self.given(fields.position(|field| field.member.name == name)?)?;
        let number = |number, byte: &u8| number << 8 | u64::from(*byte);
        Some(bytes.iter().rev().fold(0, number))
    }

    /// Sets a field unless somebody has set it or there is none of this name.
    pub fn set_unless_named(&mut self, name: &str, text: &str) -> Result<(), String> {
        let mut fields = self.layout.fields.iter().zip(&self.named);
        match fields.any(|(field, named)| field.member.name == name && !named) {
            true => self.set(name, text),
            false => Ok(()),
        }
    }

    fn unknown(&self, name: &str) -> String {
        let known: Vec<&str> = self
            .layout
            .fields
            .iter()
            .map(|field| field.member.name.as_str())
            .collect();
        format!(
            "there is no {} `{name}`: {}",
            self.what,
            instead(name, &known)
        )
    }

    fn write(&mut self, offset: usize, bytes: &[u8]) {
        for (at, byte) in (offset..).zip(bytes) {
            self.memory[at / 64].0[at % 64] = *byte;
        }
    }
}

/// What to say of a name that is unknown: the one that was meant, or all that there are.
pub fn instead(name: &str, known: &[&str]) -> String {
    match (nearest(name, known), known) {
        (Some(near), _) => format!("did you mean `{near}`?"),
        (None, []) => "there are none".to_string(),
        (None, [only]) => format!("the only one is {only}"),
        (None, several) => format!("choose one of {}", several.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn member(name: &str, kind: Kind, optional: bool) -> Member {
        Member {
            name: name.to_string(),
            kind,
            optional,
            needed: !optional,
            names: Vec::new(),
        }
    }

    fn sample() -> Layout {
        let members = [
            member("address", Kind::Unsigned(32), false),
            member("mac", Kind::Unsigned(48), true),
            member("offset", Kind::Signed(16), false),
            member("key", Kind::Bytes(3), false),
            member("rest", Kind::Time, false),
            Member {
                names: vec![("calm".to_string(), 1), ("wild".to_string(), 4)],
                ..member("mood", Kind::Unsigned(8), true)
            },
        ];
        let places = [
            (0, 4),
            (4, 1),
            (8, 8),
            (16, 2),
            (18, 3),
            (24, 8),
            (32, 1),
            (33, 1),
        ];
        Layout::new(40, &members, &places)
    }

    #[test]
    fn values_stand_where_c_expects_them() {
        let mut values = Values::new("setting", &sample());
        let settings = [
            ("address", "10.0.0.2"),
            ("mac", "02:00:00:00:00:01"),
            ("offset", "-2"),
            ("key", "0a0b0c"),
            ("rest", "1.5 s"),
        ];
        for (name, text) in settings {
            values.set(name, text).unwrap();
        }
        let bytes = values.memory[0].0;
        assert_eq!(
            u32::from_ne_bytes(bytes[0..4].try_into().unwrap()),
            0x0a00_0002
        );
        assert_eq!(bytes[4], 1);
        assert_eq!(
            u64::from_ne_bytes(bytes[8..16].try_into().unwrap()),
            0x0200_0000_0001
        );
        assert_eq!(i16::from_ne_bytes(bytes[16..18].try_into().unwrap()), -2);
        assert_eq!(bytes[18..21], [10, 11, 12]);
        assert_eq!(
            u64::from_ne_bytes(bytes[24..32].try_into().unwrap()),
            1_500_000_000
        );
        values.set("mac", "none").unwrap();
        assert_eq!(values.memory[0].0[4], 0);
    }

    #[test]
    fn a_wrong_value_is_answered_with_what_would_be_right() {
        let mut values = Values::new("setting", &sample());
        let unknown = values.set("adress", "1").unwrap_err();
        assert_eq!(
            unknown,
            "there is no setting `adress`: did you mean `address`?"
        );
        let unknown = values.set("color", "1").unwrap_err();
        assert_eq!(
            unknown,
            "there is no setting `color`: choose one of address, mac, offset, key, rest, mood"
        );
        let wrong = [
            ("address", "10.0.0", "is not a number"),
            ("address", "0x1_0000_0000", "does not fit into 32 bits"),
            ("mac", "02:00", "is not a link address"),
            ("mac", "zz:00:00:00:00:00", "hexadecimal"),
            (
                "offset",
                "32768",
                "does not fit into a signed number of 16 bits",
            ),
            ("key", "0a0b", "has 2 bytes, but 3 are needed"),
            ("key", "0", "hexadecimal"),
            ("rest", "5", "is not a duration"),
            ("rest", "99999999999 h", "is not a duration"),
            ("address", "", "is not a number"),
            ("address", "+1", "is not a number"),
            ("address", "02:00:00:00:00:01", "does not fit into 32 bits"),
            ("mac", "10.0.0.2", "is an IPv4 address of 32 bits"),
            ("mood", "wld", "did you mean `wild`?"),
            ("mood", "x", "choose one of calm, wild"),
            ("mood", "999", "does not fit into 8 bits"),
        ];
        for (name, text, reason) in wrong {
            let message = values.set(name, text).unwrap_err();
            assert!(message.contains(reason), "{name}={text}: {message}");
        }
    }

    #[test]
    fn a_value_of_an_enum_has_a_name_or_a_number() {
        let mut values = Values::new("setting", &sample());
        for (text, value) in [("wild", 4), ("calm", 1), ("4", 4), ("9", 9)] {
            values.set("mood", text).unwrap();
            assert_eq!(values.number("mood"), Some(value), "{text}");
        }
    }

    #[test]
    fn what_has_no_value_yet_is_named() {
        let mut values = Values::new("key", &sample());
        values.set("address", "1_000").unwrap();
        assert_eq!(values.missing(), ["offset", "key", "rest"]);
    }
}
