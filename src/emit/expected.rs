//! What is expected of the next frame on a common path: the bytes of the last one for which all was
//! asked, of which those bits are compared that were looked at, and whose it was.
//!
//! In: the functions of a stack, one of which takes note of a frame (`predict`). Out: the same,
//! which forget it as soon as it may no longer hold: where an instance comes or goes that was found
//! by these bits, where one of them is no longer as it was asked to be, and where a field is
//! written with which bits were compared. The path itself writes what is then expected.
//!
//! ```text
//! session.next = next                   session.next = next
//!                                  =>   store(stack->path_expected + 24, next)      on the path
//! session.next += 1                     session.next += 1
//!                                  =>   stack->path_expected[0] = 0                 elsewhere
//! ```
//!
//! Assumes: settings stay; fields are written by assignments, but for those of which an address is
//! taken, which `predict` leaves alone. Cost: a write beside each of those writes.

use crate::c::listed;
use crate::c::tree::{Expression as C, Function, Item, Line, Statement as S, assign, atom};
use crate::c::tree::{binary, call};
use crate::c::walk;
use std::collections::{BTreeMap, BTreeSet};

/// What is expected of the next frame on a path.
#[derive(Clone, Debug)]
pub struct Expected {
    /// The name of the path.
    pub path: String,
    /// The bits of a frame that are compared, from its first byte on.
    pub mask: Vec<u8>,
    /// A byte of which some of these bits are never all zero.
    pub never_zero: usize,
    /// The instances that the path finds, and of what kind each is, as the stack names them.
    pub found: Vec<(String, String)>,
    /// By instance and field: where it stands in the frame.
    pub fields: BTreeMap<(String, String), Stands>,
    /// The field that says of an instance that nothing else is to be asked of it.
    pub latch: Option<(String, String)>,
}

/// Where something stands: so many bytes behind the begin of a frame, in so many.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stands {
    /// Behind the begin.
    pub at: u64,
    /// How many.
    pub bytes: u64,
}

/// What is no longer as it was expected.
enum Changed {
    /// A field that stands there, of an instance that goes by the name that the path has for it.
    Field(Stands),
    /// What else holds of an instance, or which there are.
    Other,
}

impl Expected {
    /// What the stack keeps for it.
    pub fn members(&self) -> Vec<Line> {
        let line = |text: String, comment: &str| Line {
            text,
            comment: comment.to_string(),
        };
        let bytes = self.mask.len();
        let frame = line(
            format!("uint8_t {}_expected[{bytes}]", self.path),
            "what the next frame begins with",
        );
        let whose = self.found.iter().map(|(instance, _)| {
            let text = format!("uint32_t {}_expected_{instance}", self.path);
            line(text, "and whose it is")
        });
        [frame].into_iter().chain(whose).collect()
    }

    /// Which bits are compared.
    pub fn bits(&self) -> Item {
        let bytes = self.mask.iter().map(|byte| match byte {
            0..10 => byte.to_string(),
            _ => format!("{byte:#x}"),
        });
        let begin = format!("static const uint8_t {}[] = {{", self.name_of_bits());
        let all = listed(&Vec::from_iter(bytes), ',', 4, 0);
        Item::Text(format!("{begin}\n    {all}}};\n"))
    }

    fn name_of_bits(&self) -> String {
        format!("{}_bits", self.path)
    }

    /// The bytes that are expected.
    pub fn expected(&self) -> C {
        atom("stack").behind(format!("{}_expected", self.path))
    }

    /// The instance of that name whose the next frame is.
    pub fn whose(&self, instance: &str) -> C {
        atom("stack").behind(format!("{}_expected_{instance}", self.path))
    }

    /// The condition that a message begins otherwise.
    pub fn differs(&self, message: &C) -> C {
        let length = atom(self.mask.len().to_string());
        let mut all = binary("<", message.clone().member("length"), length);
        let mut at = 0;
        while at < self.mask.len() {
            let room = self.mask.len() - at;
            let fitting = [32, 8, 4, 2, 1].into_iter().find(|bytes| *bytes <= room);
            let bytes = fitting.expect("one byte fits");
            if self.mask[at..at + bytes].iter().any(|byte| *byte != 0) {
                let behind = |of: C| match at {
                    0 => of,
                    _ => binary("+", of, atom(at.to_string())),
                };
                let three = [
                    message.clone().member("data"),
                    self.expected(),
                    atom(self.name_of_bits()),
                ];
                let differs = format!("sl_differs{}", 8 * bytes);
                let differs = call(differs, three.into_iter().map(behind).collect());
                all = binary("||", all, differs);
            }
            at += bytes;
        }
        all
    }

    /// What a statement does to what is expected.
    fn changed(&self, statement: &S) -> Option<Changed> {
        let S::Assign(place, _, value) = statement else {
            return None;
        };
        let kinds = self.found.iter().map(|(_, kind)| kind);
        let ended = |kind: &String| atom("stack").behind(format!("{kind}_ended"));
        if let C::Element(all, _) = place
            && kinds.clone().any(|kind| **all == ended(kind))
        {
            return Some(Changed::Other);
        }
        let C::Member(of, field) = place else {
            return None;
        };
        let C::Element(all, at) = &**of else {
            return None;
        };
        let kind = kinds
            .clone()
            .find(|kind| **all == atom("stack").behind(*kind))?;
        if self.latch == Some((kind.clone(), field.clone())) {
            return (*value == atom("false")).then_some(Changed::Other);
        }
        let own = |(instance, of): &&(String, String)| {
            of == kind && self.fields.contains_key(&(instance.clone(), field.clone()))
        };
        // Two that are found may be one.
        match &Vec::from_iter(self.found.iter().filter(own))[..] {
            [] => None,
            [(instance, _)] if **at == atom(instance) => {
                let stands = self.fields[&(instance.clone(), field.clone())];
                Some(Changed::Field(stands))
            }
            _ => Some(Changed::Other),
        }
    }

    /// Sees to it that what a function changes is no longer expected.
    pub fn keep(&self, function: &mut Function) {
        let is_path = function.name == format!("{}_bypass", self.path);
        self.keep_in(&mut function.body, is_path, false);
    }

    /// The same of a block, once on each way; of its own instances the path knows what is expected.
    fn keep_in(&self, block: &mut Vec<S>, is_path: bool, is_forgotten: bool) {
        let mut is_forgotten = is_forgotten;
        let mut kept = Vec::with_capacity(block.len());
        for mut statement in std::mem::take(block) {
            for inner in statement.blocks_mut() {
                self.keep_in(inner, is_path, is_forgotten);
            }
            let beside = match (self.changed(&statement), &statement) {
                (Some(Changed::Field(stands)), S::Assign(place, operator, value)) if is_path => {
                    let is_name = *operator == "=" && matches!(value, C::Atom(_));
                    Some(self.expects(stands, if is_name { value } else { place }))
                }
                (Some(_), _) if !is_forgotten => {
                    is_forgotten = true;
                    let byte = self.expected().element(atom(self.never_zero.to_string()));
                    Some(assign(byte, atom("0")))
                }
                (Some(_) | None, _) => None,
            };
            kept.push(statement);
            kept.extend(beside);
        }
        *block = kept;
    }

    /// A value is expected next.
    fn expects(&self, stands: Stands, value: &C) -> S {
        let at = atom(stands.at.to_string());
        match stands.bytes {
            1 => assign(self.expected().element(at), value.clone()),
            bytes => {
                let place = binary("+", self.expected(), at);
                let store = format!("sl_store_big{}", 8 * bytes);
                S::Do(call(store, vec![place, value.clone()]))
            }
        }
    }
}

/// Sees to it that what functions change is no longer expected.
pub fn keep(all: &[Expected], items: &mut [Item]) {
    for item in items {
        if let Item::Function(function) = item {
            all.iter().for_each(|one| one.keep(function));
        }
    }
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
