//! The prediction of the next frame on a fast path: the header bytes of the last frame that passed
//! all tests, a mask of the bits that the tests read, and the session of that frame.
//!
//! In: the functions of a stack, one of which takes note of a frame (`predict`). Out: the same,
//! which forget it as soon as it may no longer hold: where an instance comes or goes that was found
//! by these bits, where one of them is no longer as it was asked to be, and where a field is
//! written with which bits were compared. The path itself writes what is then expected.
//!
//! ```text
//! session.next = next                   session.next = next                      on the path
//!                                  =>   store(session.expected.frame + 24, next)
//! session.next += 1                     session.next += 1                        elsewhere
//!                                  =>   session.expected.more = 0
//! ```
//!
//! Where a path finds one instance, each instance has what is expected of its own next frame, for
//! many connections may take turns; the stack knows whose frame was the last, and so the path has
//! its instance at hand. Where it finds several, or none of some, the last frame alone is known,
//! whosoever it was.
//!
//! Assumes: settings stay; fields are written by assignments, but for those of which an address is
//! taken, which `predict` leaves alone; of two instances with the same keys the newer one is found.
//! Cost: a write beside each of those writes.

use super::algebra::{holds, replaced};
use super::answer::answer_name;
use super::compared::LENGTH;
use super::predict::asks_name;
use super::windows::windows;
use crate::c::listed;
use crate::c::tree::{Expression as C, Function, Item, Line, Statement as S, assign, atom};
use crate::c::tree::{binary, call};
use crate::c::walk;
use std::collections::{BTreeMap, BTreeSet};

/// No frame is as long as this.
const NOTHING: &str = "SIZE_MAX / 2 + 1";

/// What is left of a frame behind its headers.
pub const LEFT: &str = "left";

/// What is expected of the next frame on a path.
#[derive(Clone, Debug)]
pub struct Expected {
    /// The name of the path.
    pub path: String,
    /// The bits of a frame that are compared, from its first byte on.
    pub mask: Vec<u8>,
    /// The instances that the path finds, and of what kind each is, as the stack names them.
    pub found: Vec<(String, String)>,
    /// Who expects it, if not the stack.
    pub own: Option<Own>,
    /// By instance and field: where it stands in the frame.
    pub fields: BTreeMap<(String, String), Stands>,
    /// The field that says of an instance that nothing else is to be asked of it.
    pub latch: Option<(String, String)>,
    /// Whether it is as long as the last one.
    pub alike: bool,
    /// The fields of its own instance of which something holds that the path keeps.
    pub kept: BTreeSet<String>,
    /// How many bytes each answer of the path begins with that an instance keeps.
    pub answers: Vec<u64>,
}

/// Each instance of a kind expects a next frame of its own.
#[derive(Clone, Debug)]
pub struct Own {
    /// What the path calls the instance.
    pub instance: String,
    /// Of what kind it is, as the stack names it.
    pub kind: String,
    /// Whether there may be several.
    pub many: bool,
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
    /// A field that stands there, of an instance that goes by the name that the path has for it:
    /// what is expected there.
    Field(Stands, C),
    /// What else holds of an instance: what is expected there.
    Instance(C),
    /// The same, of the one by the name that the path has for it, which the path keeps.
    Kept(C),
    /// Which instances there are: the one that comes or goes, or none where the stack expects.
    Which(Option<C>),
}

impl Own {
    /// The type of an instance.
    fn kind(&self) -> String {
        format!("struct {}", self.kind)
    }

    /// An instance, by its number.
    pub fn numbered(&self, number: C) -> C {
        let all = atom("stack").behind(&self.kind);
        match self.many {
            true => all.element(number),
            false => all,
        }
    }

    /// The number, which goes by that name, of one of several that is at hand.
    pub fn number(&self, name: &str, at_hand: &str) -> S {
        let first = atom("stack").behind(&self.kind);
        S::Declare {
            kind: "const uint32_t".to_string(),
            name: name.to_string(),
            value: Some(binary("-", atom(at_hand), first).cast("uint32_t")),
        }
    }

    /// A pointer to an instance.
    pub fn pointer(&self) -> String {
        format!("{} *", self.kind())
    }

    /// What goes by a pointer where the instance stands there.
    pub fn pointed(value: &C, there: &C, name: &str) -> Option<C> {
        match value {
            C::Member(of, field) if **of == *there => Some(atom(name).behind(field)),
            C::Unary("&", of) if **of == *there => Some(atom(name)),
            _ => None,
        }
    }
}

impl Expected {
    /// What the stack keeps for it.
    pub fn member(&self) -> Line {
        let (name, last) = (self.name(), self.name_of_last());
        let (text, comment) = match &self.own {
            Some(own) => (
                format!("{} *{last}", own.kind()),
                "whose frame was the last",
            ),
            None => (format!("struct {name} {name}"), "of the next frame"),
        };
        Line {
            text,
            comment: comment.to_string(),
        }
    }

    /// What an instance of a kind keeps for it.
    pub fn member_of(&self, kind: &str) -> Option<Line> {
        let own = self.own.as_ref().filter(|own| own.kind == kind);
        own.map(|_| Line {
            text: format!("struct {0} {0}", self.name()),
            comment: "of its next frame".to_string(),
        })
    }

    /// Both are such a one.
    pub fn structure(&self) -> Item {
        let line = |text: String, comment: &str| Line {
            text,
            comment: comment.to_string(),
        };
        let bytes = self.mask.len();
        let length = match self.alike {
            true => vec![
                line(
                    "size_t length".to_string(),
                    "how long it is; more than any frame: none is expected",
                ),
                line(
                    format!("uint32_t {LEFT}"),
                    "how much of that stands behind headers",
                ),
            ],
            false => vec![line(
                "size_t more".to_string(),
                "which has less than so many bytes behind these; 0: none is expected",
            )],
        };
        let whose = self.found.iter().map(|(instance, _)| {
            let text = format!("uint32_t {}", found_as(instance));
            line(text, "whose it is")
        });
        let frame = line(format!("uint8_t frame[{bytes}]"), "what it begins with");
        let answers = self.answers.iter().enumerate().map(|(which, bytes)| {
            let text = format!("uint8_t {}[{bytes}]", answer_name(which));
            line(text, "what an answer begins with")
        });
        Item::Struct {
            comment: format!(
                "What is expected of a frame on the fast path of {}.",
                self.path
            ),
            name: self.name(),
            members: length
                .into_iter()
                .chain(whose)
                .chain([frame])
                .chain(answers)
                .collect(),
        }
    }

    /// So many bytes that takes.
    pub fn bytes(&self) -> u64 {
        let numbers = 8 + 4 * (self.found.len() + usize::from(self.alike));
        let answers: u64 = self.answers.iter().sum();
        ((numbers + self.mask.len()) as u64 + answers).next_multiple_of(8)
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

    /// At the start, whose frame was the last: nobody expects one.
    pub fn at_start(&self) -> Vec<S> {
        let looks = self.own.as_ref();
        let looks = looks.map(|own| self.looks_at(own.numbered(atom("0"))));
        let forgets = self.alike.then(|| self.forget(self.kept()));
        looks.into_iter().chain(forgets).collect()
    }

    /// What is called so of it.
    pub fn name(&self) -> String {
        format!("{}_expected", self.path)
    }

    fn name_of_bits(&self) -> String {
        format!("{}_bits", self.path)
    }

    fn name_of_last(&self) -> String {
        format!("{}_last", self.path)
    }

    /// What is called so that writes what answers begin with.
    pub fn begins_name(&self) -> String {
        format!("{}_begins", self.path)
    }

    /// The instance whose frame was the last.
    pub fn last(&self) -> C {
        atom("stack").behind(self.name_of_last())
    }

    /// What is expected after the last frame.
    fn kept(&self) -> C {
        match self.own {
            Some(_) => self.last().behind(self.name()),
            None => atom("stack").behind(self.name()),
        }
    }

    /// What an instance expects.
    pub fn of(&self, instance: C) -> C {
        instance.member(self.name())
    }

    /// The same where a pointer points to that.
    pub fn at(&self, pointer: C) -> C {
        pointer.behind(self.name())
    }

    /// A part of what is expected after the last frame.
    pub fn part(&self, part: &str) -> C {
        self.kept().member(part)
    }

    /// The instance of that name whose the next frame is.
    pub fn whose(&self, instance: &str) -> C {
        self.part(&found_as(instance))
    }

    /// The last frame was that of an instance.
    pub fn looks_at(&self, instance: C) -> S {
        assign(self.last(), instance.address())
    }

    /// A frame that begins there is expected again, of which so much is left behind its headers.
    pub fn notes(&self, first: &C, bytes: usize, left: C) -> Vec<S> {
        let own = self.own.iter();
        let looks = own.map(|own| self.looks_at(own.numbered(atom(&own.instance))));
        let length = match self.alike {
            true => vec![
                assign(self.part("length"), atom(LENGTH)),
                assign(self.part(LEFT), left),
            ],
            false => {
                let most = binary("-", atom("BUFFER_SIZE"), atom("HEADROOM"));
                let less = atom((self.mask.len() - 1).to_string());
                vec![assign(self.part("more"), binary("-", most, less))]
            }
        };
        let all = vec![self.part("frame"), first.clone(), atom(bytes.to_string())];
        let copies = S::Do(call("memcpy", all));
        looks.chain(length).chain([copies]).collect()
    }

    /// The condition that a frame is as expected; `of` gives its length and its data, `part` the
    /// parts of what is expected.
    pub fn is_expected(&self, of: impl Fn(&str) -> C, part: impl Fn(&str) -> C) -> C {
        let is_as_long = match self.alike {
            true => binary("==", of("length"), part("length")),
            false => {
                let more = binary("-", of("length"), atom(self.mask.len().to_string()));
                binary("<", more, part("more"))
            }
        };
        let compared = windows(&self.mask).into_iter().map(|(at, bytes)| {
            let behind = |one: C| match at {
                0 => one,
                _ => binary("+", one, atom(at.to_string())),
            };
            let three = [of("data"), part("frame"), atom(self.name_of_bits())];
            let differs = format!("sl_differs{}", 8 * bytes);
            call(differs, three.into_iter().map(behind).collect()).negated()
        });
        compared.fold(is_as_long, |all, one| binary("&&", all, one))
    }

    /// The function that compares a frame with what is expected of it.
    pub fn function(&self, stack: &str) -> Function {
        let kept = self.own.as_ref().map(|own| S::Declare {
            kind: format!("const {}const", own.pointer()),
            name: "own".to_string(),
            value: Some(self.last()),
        });
        let part = |part: &str| match self.own {
            Some(_) => atom("own").behind(self.name()).member(part),
            None => self.part(part),
        };
        let compared = self.is_expected(|of| atom("frame").behind(of), part);
        Function {
            comment: format!("Whether a frame is as {} expects.", self.path),
            result: "static inline bool".to_string(),
            name: self.asks_of(),
            parameters: vec![
                format!("const struct {stack} *stack"),
                format!("const struct {stack}_frame *frame"),
            ],
            body: kept
                .into_iter()
                .chain([S::Return(Some(compared))])
                .collect(),
        }
    }

    /// What is called so that compares.
    fn asks_of(&self) -> String {
        is_expected_name(&self.path)
    }

    /// What a statement does to what is expected.
    fn changed(&self, statement: &S) -> Option<Changed> {
        if let S::Do(C::Call(name, given)) = statement {
            // Zeros would say that a frame without bytes is expected.
            let own = self
                .own
                .as_ref()
                .filter(|_| self.alike && name == "memset")?;
            let all = atom("stack").behind(&own.kind);
            let C::Unary("&", one) = given.first()? else {
                return None;
            };
            let is_one = match &**one {
                C::Element(of, _) => own.many && **of == all,
                one => !own.many && *one == all,
            };
            return is_one.then(|| Changed::Instance(self.of((**one).clone())));
        }
        let S::Assign(place, _, value) = statement else {
            return None;
        };
        let expecting = |instance: &C| match &self.own {
            Some(_) => self.of(instance.clone()),
            None => self.kept(),
        };
        let kinds = self.found.iter().map(|(_, kind)| kind);
        let ended = |kind: &String| atom("stack").behind(format!("{kind}_ended"));
        if let C::Element(all, number) = place
            && kinds.clone().any(|kind| **all == ended(kind))
        {
            let own = self.own.as_ref();
            return Some(Changed::Which(
                own.map(|own| own.numbered((**number).clone())),
            ));
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
            return (*value == atom("false")).then(|| Changed::Instance(expecting(of)));
        }
        let own = |(instance, of): &&(String, String)| {
            of == kind && self.fields.contains_key(&(instance.clone(), field.clone()))
        };
        // Two that are found may be one.
        match &Vec::from_iter(self.found.iter().filter(own))[..] {
            [] if self.kept.contains(field) => {
                let is_its = self.own.iter().any(|own| **at == atom(&own.instance));
                let changed = [Changed::Instance, Changed::Kept][usize::from(is_its)];
                Some(changed(expecting(of)))
            }
            [] => None,
            [(instance, _)] if **at == atom(instance) => {
                let stands = self.fields[&(instance.clone(), field.clone())];
                Some(Changed::Field(stands, expecting(of)))
            }
            _ => Some(Changed::Instance(expecting(of))),
        }
    }

    /// Nothing is expected there.
    fn forget(&self, there: C) -> S {
        match self.alike {
            true => assign(there.member("length"), atom(NOTHING)),
            false => assign(there.member("more"), atom("0")),
        }
    }

    /// Whether a statement takes note of a frame.
    pub fn is_note(&self, statement: &S) -> bool {
        matches!(statement, S::Do(C::Call(name, given))
            if name == "memcpy" && given[0] == self.part("frame"))
    }

    /// Whether a function asks for the path.
    pub fn is_asks(&self, function: &Function) -> bool {
        function.name == asks_name(&self.path)
    }

    /// Whether a function is the path.
    pub fn is_path(&self, function: &Function) -> bool {
        function.name == format!("{}_bypass", self.path)
    }

    /// Sees to it that what a function changes is no longer expected.
    pub fn keep(&self, function: &mut Function) {
        let is_path = self.is_path(function);
        self.keep_in(&mut function.body, is_path, Vec::new());
        if let Some(own) = self.own.as_ref().filter(|_| is_path) {
            self.have_at_hand(own, function);
        }
    }

    /// The path has its instance at hand, and need not compute where that stands: that whose frame
    /// was the last, as where all was asked is noted, too.
    fn have_at_hand(&self, own: &Own, function: &mut Function) {
        let mut name = "own".to_string();
        while walk::is_named(&name, &function.body) {
            name.push('_');
        }
        let (last, found) = (self.last(), own.numbered(atom(&own.instance)));
        let pointed = |value: &C| {
            let is_last = (*value == last).then(|| atom(&name));
            Own::pointed(value, &found, &name).or(is_last)
        };
        for statement in &mut function.body {
            statement.each_value_mut(&mut |value| *value = replaced(value, &pointed));
        }
        let at_hand = S::Declare {
            kind: own.pointer(),
            name,
            value: Some(last),
        };
        function.body.insert(0, at_hand);
    }

    /// What the path calls the instance that it has at hand.
    pub fn at_hand(&self, path: &Function) -> Option<String> {
        match path.body.first()? {
            S::Declare { name, value, .. } if *value == Some(self.last()) => Some(name.clone()),
            _ => None,
        }
    }

    /// The same of a block, once on each way, of which it is known where nothing is expected any
    /// more; of its own instances the path knows what is expected.
    fn keep_in(&self, block: &mut Vec<S>, is_path: bool, mut forgotten: Vec<C>) {
        let mut kept = Vec::with_capacity(block.len());
        for mut statement in std::mem::take(block) {
            if let S::Declare { name, .. } | S::Assign(C::Atom(name), ..) = &statement {
                forgotten.retain(|one| !holds(one, &atom(name)));
            }
            let is_loop = matches!(statement, S::For { .. } | S::While { .. });
            for inner in statement.blocks_mut() {
                let forgotten = if is_loop {
                    Vec::new()
                } else {
                    forgotten.clone()
                };
                self.keep_in(inner, is_path, forgotten);
            }
            let beside = match (self.changed(&statement), &statement) {
                (Some(Changed::Field(stands, there)), S::Assign(place, operator, value))
                    if is_path =>
                {
                    let is_name = *operator == "=" && matches!(value, C::Atom(_));
                    let value = if is_name { value } else { place };
                    vec![expects(there, stands, value)]
                }
                (Some(Changed::Kept(_)), _) if is_path => Vec::new(),
                (Some(Changed::Which(None)), _) => vec![self.forget(self.kept())],
                (Some(Changed::Which(Some(one))), _) => {
                    vec![self.forget(self.of(one.clone())), self.looks_at(one)]
                }
                (Some(Changed::Field(_, it) | Changed::Instance(it) | Changed::Kept(it)), _)
                    if !forgotten.contains(&it) =>
                {
                    forgotten.push(it.clone());
                    vec![self.forget(it)]
                }
                (Some(_) | None, _) => Vec::new(),
            };
            kept.push(statement);
            kept.extend(beside);
        }
        *block = kept;
    }
}

/// What is called so that compares a frame with what a path expects.
pub fn is_expected_name(path: &str) -> String {
    format!("{path}_is_expected")
}

/// What the path has of an instance of that name.
fn found_as(instance: &str) -> String {
    format!("of_{instance}")
}

/// A value is expected next, where it stands.
fn expects(there: C, stands: Stands, value: &C) -> S {
    let at = atom(stands.at.to_string());
    let frame = there.member("frame");
    match stands.bytes {
        1 => assign(frame.element(at), value.clone()),
        bytes => {
            let store = format!("sl_store_big{}", 8 * bytes);
            let place = binary("+", frame, at);
            S::Do(call(store, vec![place, value.clone()]))
        }
    }
}
