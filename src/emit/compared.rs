//! The bits of a frame that a fast path compares first, and the tests that follow from these bits.
//!
//! In: a path, statement by statement. Out: the bits that are to be as the source says, or as
//! fields are of an instance which the path finds by other bits; where all that ends; and whether a
//! test hangs on nothing else.

use super::Stack;
use super::algebra::{any_of, number, replaced, straight};
use super::driver::above_link;
use super::exits::Path;
use super::guard::is_setting;
use super::layout;
use super::masked::{Masked, bits_of};
use super::names::c_name;
use super::output::is_static;
use super::row::Rows;
use crate::c::tree::{Expression as C, Function, Statement as S, atom, binary, call, leaves};
use crate::c::walk;
use crate::types::program::{Event, Kind, KindId};
use crate::types::value::Type;
use std::collections::{BTreeMap, BTreeSet};

/// What the length of a frame is called where it is asked.
pub const LENGTH: &str = "frame_length";

/// Some bits of a frame.
#[derive(Clone, Debug, PartialEq)]
pub struct Bits {
    /// So many bytes behind its begin.
    pub at: u64,
    /// In so many bytes.
    pub bytes: u64,
    /// Which of these they are, the first byte first.
    mask: u64,
}

impl Bits {
    fn is_all(&self) -> bool {
        self.mask == all(self.bytes)
    }

    /// Whether others stand in one of their bytes.
    fn meet(&self, other: &Bits) -> bool {
        self.at < other.at + other.bytes && other.at < self.at + self.bytes
    }

    /// Where each byte stands, and its bits.
    fn each(&self) -> impl Iterator<Item = (usize, u8)> {
        let (at, bytes, mask) = (self.at, self.bytes, self.mask);
        (0..bytes).map(move |byte| {
            let shift = 8 * (bytes - 1 - byte);
            ((at + byte) as usize, (mask >> shift) as u8)
        })
    }
}

/// An instance that the path finds.
pub struct Found {
    /// What the path calls it.
    pub instance: String,
    /// What it is one of.
    pub kind: KindId,
    /// By which keys, as the path has them.
    pub keys: Vec<C>,
    /// By which statement.
    pub at: usize,
}

/// A field of an instance: what the path calls that, and the field.
pub type Place = (String, String);

/// What a path asks before anything is done.
pub struct Compared<'a> {
    /// The stack that it is a path of.
    pub stack: &'a Stack<'a>,
    /// The path.
    pub path: &'a Path,
    /// What is asked about.
    pub message: C,
    /// Its headers.
    pub rows: Rows,
    /// The bits that are to be as they were, by byte.
    pub mask: Vec<u8>,
    /// So many bytes are there of any frame that goes the path, if some part before all is asked.
    pub parted: Option<usize>,
    /// The bits by which instances are found.
    keys: Vec<Bits>,
    /// The instances that are found by such bits.
    pub found: Vec<Found>,
    /// By field: the bits that are its value.
    pub fields: BTreeMap<Place, Bits>,
    /// The field that says of an instance that nothing else is to be asked of it, and where it is
    /// asked for.
    pub latch: Option<(Place, usize)>,
    /// How many statements ask.
    pub end: usize,
    /// Whether a frame is to be as long as the last one, too.
    pub alike: bool,
    /// The fields that others write than assignments.
    pub addressed: &'a BTreeSet<String>,
    /// The fields that the path writes.
    written: BTreeSet<String>,
}

impl<'a> Compared<'a> {
    /// What a path asks with these statements.
    pub fn of(
        stack: &'a Stack<'a>,
        path: &'a Path,
        statements: &[S],
        addressed: &'a BTreeSet<String>,
    ) -> Compared<'a> {
        let links = stack.program.links.iter();
        let mut own = links.filter(|link| {
            let above = above_link(stack, link, Event::Deliver);
            above.contains(&path.reaction)
        });
        let alike = own.all(|link| link.alike) && !walk::is_named(LENGTH, statements);
        let compared = Compared::read_as(stack, path, statements, (addressed, alike));
        // Of a frame that parts not all is asked, nor what it is as long as.
        match alike && (!compared.alike || compared.parted.is_some()) {
            true => Compared::read_as(stack, path, statements, (addressed, false)),
            false => compared,
        }
    }

    fn read_as(
        stack: &'a Stack<'a>,
        path: &'a Path,
        statements: &[S],
        (addressed, alike): (&'a BTreeSet<String>, bool),
    ) -> Compared<'a> {
        let message = atom("message");
        let mut written = BTreeSet::new();
        walk::each(statements, &mut |one| {
            if let S::Assign(C::Member(_, member), ..) = one {
                written.insert(member.clone());
            }
        });
        let mut compared = Compared {
            stack,
            path,
            rows: Rows::new(&message),
            message,
            mask: Vec::new(),
            parted: None,
            keys: Vec::new(),
            found: Vec::new(),
            fields: BTreeMap::new(),
            latch: None,
            end: 0,
            alike,
            addressed,
            written,
        };
        compared.read(statements);
        compared
    }

    /// Takes note of what is asked, up to where something else begins.
    fn read(&mut self, path: &[S]) {
        for (at, statement) in path.iter().enumerate() {
            self.end = at;
            let goes_on = match statement {
                S::Comment(_) => true,
                S::If { condition, .. } if self.is_exit(statement) => {
                    for one in any_of(straight(condition.clone())) {
                        self.learn(&one);
                    }
                    is_pure(condition)
                }
                S::If { .. } if self.is_parting(statement) => {
                    self.parted.get_or_insert(self.mask.len());
                    true
                }
                S::If { .. } => {
                    if let Some(place) = self.latched(statement) {
                        self.latch = Some((place, at));
                        self.end = at + 1;
                    }
                    false
                }
                S::Declare {
                    name,
                    value: Some(C::Call(finds, keys)),
                    ..
                } if finds.starts_with("find_") => self.learn_keys(finds, keys, name, at),
                S::Declare { value, .. } => value.iter().all(is_pure),
                S::Assign(place @ C::Member(of, _), _, value) => {
                    if *place == self.length() {
                        self.learn_length(value);
                    }
                    **of == self.message && is_pure(value)
                }
                _ => false,
            };
            if !goes_on {
                return;
            }
            self.rows.pass(statement);
        }
    }

    /// Whether a statement asks whether an instance was found, and goes its own way if so, or if
    /// not.
    pub fn is_parting(&self, statement: &S) -> bool {
        let S::If {
            condition: C::Binary("==" | "!=", one, other),
            then,
            otherwise,
        } = statement
        else {
            return false;
        };
        let mut found = self.found.iter();
        let is_found = found.any(|found| **one == atom(&found.instance));
        is_found && **other == atom("SL_NONE") && leaves(then) && otherwise.is_empty()
    }

    /// The field that says of an instance that all is as it is to be, if a statement asks for it.
    fn latched(&self, statement: &S) -> Option<Place> {
        let S::If {
            condition: C::Unary("!", place),
            otherwise,
            ..
        } = statement
        else {
            return None;
        };
        let (instance, field) = self.field(place)?;
        let kind = self.kind_of(&instance)?;
        let mut latches = kind.latches.iter().map(|latch| &kind.fields[latch.at()]);
        let is_latch = latches.any(|latch| c_name(&latch.name) == field);
        (is_latch && otherwise.is_empty()).then_some((instance, field))
    }

    /// The instance, and the field of it, that a place is, if the path finds that instance.
    fn field(&self, place: &C) -> Option<Place> {
        let C::Member(of, field) = place else {
            return None;
        };
        let mut found = self.found.iter();
        let one = found.find(|one| {
            let name = &self.stack.names.kinds[one.kind.at()];
            **of == atom("stack").behind(name).element(atom(&one.instance))
        })?;
        Some((one.instance.clone(), field.clone()))
    }

    /// An instance is found by what stands in the frame, and what is always the same.
    fn learn_keys(&mut self, finds: &str, keys: &[C], instance: &str, at: usize) -> bool {
        let named = finds.strip_prefix("find_").expect("it finds");
        let named = named.strip_suffix("_again").unwrap_or(named);
        let mut kinds = (0..self.stack.program.kinds.len() as u32).map(KindId);
        let kind = kinds.find(|kind| self.stack.names.kinds[kind.at()] == named);
        let comes_and_goes =
            |kind: &KindId| !is_static(self.stack, *kind) && self.stack.pool_of(*kind) == *kind;
        let Some(kind) = kind.filter(comes_and_goes) else {
            return false;
        };
        let given = keys.iter().skip(1);
        let asked = given.clone().filter(|key| !is_constant(key));
        let bits = |key| Some(self.bits(key)?.0);
        let Some(all) = asked.map(bits).collect::<Option<Vec<Bits>>>() else {
            return false;
        };
        if all.iter().any(|bits| self.is_written(bits)) {
            return false;
        }
        all.iter().for_each(|bits| self.fix(bits));
        self.keys.extend(all);
        self.found.push(Found {
            instance: instance.to_string(),
            kind,
            keys: given.cloned().collect(),
            at,
        });
        true
    }

    /// The bits of the frame that a value is, shifted to the right by so many, and so many times.
    fn bits(&self, value: &C) -> Option<(Bits, u32, u64)> {
        if let Some((bits, shift, times)) = bits_of(value) {
            return Some((self.placed(&bits)?, shift, times));
        }
        let (pointer, offset, bytes) = loaded(value)?;
        let at = self.rows.behind_begin(&pointer, offset)?;
        let mask = all(bytes);
        Some((Bits { at, bytes, mask }, 0, 1))
    }

    /// Bits of headers, or a setting, as it is found before any of these headers has a name.
    pub fn at_begin(&self, value: &C) -> Option<C> {
        let data = || self.message.clone().member("data");
        let behind =
            |pointer: &C, offset| Some(atom(self.rows.behind_begin(pointer, offset)?.to_string()));
        let is_found = is_constant(value) || self.bits(value).is_some();
        is_found.then(|| {
            replaced(value, &|part| match part {
                C::Element(pointer, at) => Some(data().element(behind(pointer, number(at)?)?)),
                part => {
                    let (pointer, offset, bytes) = loaded(part)?;
                    let from = binary("+", data(), behind(&pointer, offset)?);
                    Some(call(format!("sl_load_big{}", 8 * bytes), vec![from]))
                }
            })
        })
    }

    fn placed(&self, bits: &Masked) -> Option<Bits> {
        Some(Bits {
            at: self.rows.behind_begin(&bits.pointer, bits.offset)?,
            bytes: bits.bytes,
            mask: bits.mask,
        })
    }

    /// The path is left where something holds.
    fn learn(&mut self, condition: &C) {
        match condition {
            C::Binary("&&", ..) => {
                // It is not known which of them does not hold, but which bits say so.
                let bits = self.looked_at(condition).unwrap_or_default();
                bits.iter().for_each(|bits| self.fix(bits));
            }
            C::Binary("!=", one, other) if !self.learn_one(one, other) => {
                self.learn_one(other, one);
            }
            C::Call(_, all) => {
                let bits = Masked::differing(condition).and_then(|bits| self.placed(&bits));
                if let (Some(bits), Some(_)) = (bits, all.get(2).and_then(number)) {
                    self.fix(&bits);
                }
            }
            other if self.alike => {
                let bits = self.looked_at(other).unwrap_or_default();
                bits.iter().for_each(|bits| self.fix(bits));
            }
            _ => {}
        }
    }

    /// The length of what is left of the frame.
    pub fn length(&self) -> C {
        self.message.clone().member("length")
    }

    /// A frame that is as long as the last, and in what this value is made of, has as much left.
    fn learn_length(&mut self, value: &C) {
        match self.looked_at(value).filter(|_| self.alike) {
            Some(bits) => bits.iter().for_each(|bits| self.fix(bits)),
            None => self.alike = false,
        }
    }

    /// The bits that a value is made of, if it is made of these and settings alone.
    fn looked_at(&self, value: &C) -> Option<Vec<Bits>> {
        if let Some((bits, ..)) = self.bits(value) {
            return Some(vec![bits]);
        }
        match value {
            C::Unary(..) | C::Binary(..) | C::Cast(..) => {
                let parts = value.parts().into_iter();
                let all: Option<Vec<_>> = parts.map(|one| self.looked_at(one)).collect();
                Some(all?.concat())
            }
            other => (is_setting(other) || self.is_length(other)).then(Vec::new),
        }
    }

    /// Whether a value is the length of a frame that is to be as long as the last.
    fn is_length(&self, value: &C) -> bool {
        self.alike && *value == self.length()
    }

    /// Bits are to be what a value is, if it is one that is known.
    fn learn_one(&mut self, bits: &C, value: &C) -> bool {
        let Some((bits, shift, times)) = self.bits(bits) else {
            return false;
        };
        match (number(value), self.field(value)) {
            (Some(value), _) if value % times == 0 => self.fix(&bits),
            (None, Some(field)) if (shift, times) == (0, 1) && self.is_known_by(&field, &bits) => {
                self.fix(&bits);
                self.fields.insert(field, bits);
            }
            (None, None) if is_setting(value) => self.fix(&bits),
            _ => return false,
        }
        true
    }

    /// Whether a field is what these bits are as long as they are expected: only assignments write
    /// it, and if the path does, then it is a number of just these bits.
    fn is_known_by(&self, place: &Place, bits: &Bits) -> bool {
        let (instance, field) = place;
        let is_written = self.written.contains(field);
        let others = self.fields.iter().filter(|(one, _)| *one != place);
        let mut others = others.map(|(_, bits)| bits).chain(&self.keys);
        if self.is_written(bits) || is_written && others.any(|other| other.meet(bits)) {
            return false;
        }
        let is_whole = matches!(bits.bytes, 1 | 2 | 4) && bits.is_all();
        let is_as_wide = is_whole && self.width(instance, field) == Some(8 * bits.bytes);
        !self.addressed.contains(field) && (is_as_wide || !is_written)
    }

    /// How many bits a field of an instance has, if it is a number.
    fn width(&self, instance: &str, field: &str) -> Option<u64> {
        let kind = self.kind_of(instance)?;
        let own = kind.fields.iter().find(|one| c_name(&one.name) == field)?;
        match &own.kind {
            number @ (Type::Unsigned(_) | Type::Sequence(_)) => {
                layout::bits(self.stack, number).map(u64::from)
            }
            _ => None,
        }
    }

    fn kind_of(&self, instance: &str) -> Option<&Kind> {
        let found = self.found.iter().find(|one| one.instance == instance)?;
        Some(&self.stack.program.kinds[found.kind.at()])
    }

    fn fix(&mut self, bits: &Bits) {
        for (at, own) in bits.each() {
            if self.mask.len() <= at {
                self.mask.resize(at + 1, 0);
            }
            self.mask[at] |= own;
        }
    }

    /// Whether a statement does nothing but leave the path where something holds.
    pub fn is_exit(&self, statement: &S) -> bool {
        matches!(statement, S::If { then, otherwise, .. }
            if otherwise.is_empty() && matches!(&then[..], [S::Return(Some(value))]
                if *value != atom(&self.path.constant)))
    }

    /// How much of what a statement asks is known of a frame that is as expected.
    pub fn known(&self, statement: &S) -> usize {
        match statement {
            S::If { condition, .. } if self.is_exit(statement) => {
                let parts = any_of(straight(condition.clone())).into_iter();
                parts.filter(|one| self.is_known(one)).count()
            }
            _ => 0,
        }
    }

    /// Whether it is known that a test, at which a path is left, does not hold.
    pub fn is_known(&self, condition: &C) -> bool {
        let is_field = |one: &C, other: &C| {
            let field = self.field(one).and_then(|field| self.fields.get(&field));
            let bits = self
                .bits(other)
                .filter(|(_, shift, times)| (*shift, *times) == (0, 1));
            field.is_some() && field == bits.map(|(bits, ..)| bits).as_ref()
        };
        let is_found = |one: &C, other: &C| {
            let mut found = self.found.iter();
            *other == atom("SL_NONE") && found.any(|found| *one == atom(&found.instance))
        };
        match condition {
            C::Binary("!=", one, other) if is_field(one, other) || is_field(other, one) => true,
            C::Binary("==", one, other) if is_found(one, other) => true,
            other => self.looks(other) && self.stays(other),
        }
    }

    /// Whether a value looks at the frame.
    fn looks(&self, value: &C) -> bool {
        let itself = self.bits(value).is_some() || Masked::differing(value).is_some();
        itself || self.is_length(value) || value.parts().into_iter().any(|one| self.looks(one))
    }

    /// Whether a value is made of settings, and of bits that are as expected and stay.
    fn stays(&self, value: &C) -> bool {
        let bits = match Masked::differing(value) {
            Some(bits) => self.placed(&bits),
            None => self.bits(value).map(|(bits, ..)| bits),
        };
        if let Some(bits) = bits {
            let is_compared =
                |(at, own): (usize, u8)| self.mask.get(at).is_some_and(|mask| own & !mask == 0);
            return bits.each().all(is_compared) && !self.is_written(&bits);
        }
        match value {
            C::Unary(..) | C::Binary(..) | C::Conditional(..) | C::Cast(..) => {
                value.parts().into_iter().all(|one| self.stays(one))
            }
            other => is_setting(other) || self.is_length(other),
        }
    }

    /// Whether the path writes a field that stands there.
    fn is_written(&self, there: &Bits) -> bool {
        let mut fields = self.fields.iter();
        fields.any(|((_, field), bits)| self.written.contains(field) && bits.meet(there))
    }
}

fn all(bytes: u64) -> u64 {
    u64::MAX >> (64 - 8 * bytes)
}

/// The members of which functions take the address.
pub fn addressed<'f>(functions: impl Iterator<Item = &'f Function>) -> BTreeSet<String> {
    fn within(value: &C, all: &mut BTreeSet<String>) {
        if let C::Unary("&", of) = value
            && let C::Member(_, member) = &**of
        {
            all.insert(member.clone());
        }
        value.parts().into_iter().for_each(|one| within(one, all));
    }
    let mut all = BTreeSet::new();
    for function in functions {
        walk::each(&function.body, &mut |one| {
            let values = one.expressions().into_iter();
            values.for_each(|one| within(one, &mut all));
        });
    }
    all
}

/// A load of whole bytes, of any width: where, so many bytes behind that, and how many.
pub fn loaded(value: &C) -> Option<(C, u64, u64)> {
    let C::Call(name, all) = value else {
        return None;
    };
    let bits: u64 = name.strip_prefix("sl_load_big")?.parse().ok()?;
    let (pointer, offset) = match all.first()? {
        C::Binary("+", pointer, offset) => ((**pointer).clone(), number(offset)?),
        pointer => (pointer.clone(), 0),
    };
    Some((pointer, offset, bits / 8))
}

/// Whether a value is always the same.
fn is_constant(value: &C) -> bool {
    [atom("true"), atom("false")].contains(value) || is_setting(value)
}

/// Whether finding a value does nothing else, and asks nothing of the stack.
pub fn is_pure(value: &C) -> bool {
    let itself = match value {
        C::Call(_, all) => all.iter().all(|one| *one != atom("stack")),
        _ => true,
    };
    itself && value.parts().into_iter().all(is_pure)
}
