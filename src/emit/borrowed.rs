//! Fast paths that do not keep their frame: at their end no part of it is stored, so the frame is
//! only read, and needs no buffer of the stack.
//!
//! In: the function of a path. Out: the same, which gives no buffer back: whoever takes the frame
//! does, if it stands in one.
//!
//! ```text
//! streams_deliver_now(stack, session, &message)      streams_deliver_now(stack, session, &message)
//! give_buffer(stack, message.buffer)            =>
//!
//! consume(stack, message.buffer, message.came_in) => stack.counters[CONSUMED] += message.came_in
//! ```

use super::Stack;
use super::bypass;
use super::external;
use super::granted;
use super::predict;
use crate::c::tree::{Expression as C, Function, Statement as S, atom, call};
use crate::c::walk;
use crate::types::program::Event;
use std::collections::BTreeSet;

/// What reads where its arguments point begins so.
const READS: [&str; 4] = ["memcmp", "sl_differs", "sl_load_", "sl_sum_"];

/// What only reads a message, or changes where it begins and ends.
const LOOKS: [&str; 2] = ["cut", "skip"];

/// Sees to it that a path, or what asks for it, gives no buffer back; false if it keeps something
/// of its frame, and so stays as it is. `values` are functions that give a value, and no more.
pub fn lets_go(stack: &Stack, path: &mut Function, values: &BTreeSet<String>) -> bool {
    let message = &*bypass::message_of(path);
    let buffer = atom(message).member("buffer");
    let given_back = external::given_back(buffer.clone());
    let came_in = atom(message).member("came_in");
    let consume = call("consume", vec![atom("stack"), buffer, came_in.clone()]);
    let consumed = S::Do(consume);
    let mut reads = Reads {
        message,
        calls: calls(stack).union(values).cloned().collect(),
        readers: readers(stack),
        within: BTreeSet::new(),
    };
    walk::each(&path.body, &mut |one| reads.learn(one));
    let mut keeps = false;
    walk::each(&path.body, &mut |one| {
        let lets_go = *one == given_back || *one == consumed;
        keeps |= !lets_go && reads.keeps(one);
    });
    if keeps {
        return false;
    }
    let counted = atom("stack").behind("counters").element(atom("CONSUMED"));
    walk::each_mut(&mut path.body, &mut |one| {
        if *one == consumed {
            *one = S::Assign(counted.clone(), "+=", came_in.clone());
        }
    });
    without(&mut path.body, &given_back);
    true
}

/// Takes a statement away wherever it stands.
fn without(block: &mut Vec<S>, which: &S) {
    block.retain(|one| one != which);
    for one in block {
        for inner in one.blocks_mut() {
            without(inner, which);
        }
    }
}

/// The functions that leave a message to who calls them, although they are given all of it.
fn calls(stack: &Stack) -> BTreeSet<String> {
    let ports = stack.names.ports.iter();
    let called = ports.filter(|((port, event), _)| {
        *event == Event::Deliver && external::calls_to(stack, *port, *event)
    });
    let names = called.flat_map(|(_, name)| [external::now(name), granted::own_name(name)]);
    let bypasses = stack.forest.bypasses.iter();
    let asks = bypasses.map(|tree| predict::asks_name(&stack.names.reactions[&tree.reaction]));
    names.chain(asks).chain(LOOKS.map(String::from)).collect()
}

/// The functions in C that do not write over the data that they are given.
fn readers(stack: &Stack) -> BTreeSet<String> {
    let all = stack.program.functions.iter().zip(&stack.names.functions);
    let readers = all.filter(|(one, _)| one.external && !one.rewrites);
    readers.map(|(_, name)| name.clone()).collect()
}

/// What may be done with a message that is only read.
struct Reads<'m> {
    message: &'m str,
    /// The functions that leave it to who calls them.
    calls: BTreeSet<String>,
    /// Those that only read its bytes.
    readers: BTreeSet<String>,
    /// Pointers to these.
    within: BTreeSet<String>,
}

impl Reads<'_> {
    /// A statement may declare a pointer to its bytes.
    fn learn(&mut self, statement: &S) {
        if let S::Declare {
            kind,
            name,
            value: Some(value),
        } = statement
            && kind.contains('*')
            && self.points(value)
        {
            self.within.insert(name.clone());
        }
    }

    /// Whether a value is a pointer to its bytes.
    fn points(&self, value: &C) -> bool {
        match value {
            C::Atom(text) => self.names_one(text),
            C::Member(of, part) => {
                **of == atom(self.message) && ["data", "header"].contains(&&**part)
            }
            C::Unary("&", of) => match &**of {
                C::Element(all, _) => self.points(all),
                _ => false,
            },
            C::Conditional(_, one, other) | C::Binary(_, one, other) => {
                self.points(one) || self.points(other)
            }
            C::Cast(_, of) => self.points(of),
            C::Call(..) | C::Struct(..) | C::Behind(..) | C::Element(..) | C::Unary(..) => false,
        }
    }

    /// Whether a pointer to its bytes stands in a text.
    fn names_one(&self, text: &str) -> bool {
        self.within.iter().any(|name| walk::has_word(text, name))
    }

    /// Whether a place is where such a pointer points.
    fn is_written(&self, place: &C) -> bool {
        match place {
            C::Element(of, _) | C::Behind(of, _) | C::Unary(_, of) => self.points(of),
            C::Member(of, _) => self.is_written(of),
            _ => false,
        }
    }

    /// Whether a function only reads where its arguments point.
    fn reads(&self, name: &str) -> bool {
        let known = [&self.readers, &self.calls];
        known.iter().any(|all| all.contains(name)) || READS.iter().any(|one| name.starts_with(one))
    }

    /// Whether a statement itself does something else with it.
    fn keeps(&self, statement: &S) -> bool {
        let writes = match statement {
            S::For { start, step, .. } => [start, step]
                .iter()
                .any(|text| walk::has_word(text, self.message) || self.names_one(text)),
            S::Assign(place, ..) if self.is_written(place) => true,
            S::Assign(place, _, value) => self.points(value) && !self.is_part(place),
            _ => false,
        };
        let mut values = statement.expressions().into_iter();
        writes || values.any(|value| self.keeps_in(value))
    }

    /// Whether a place is part of the message itself.
    fn is_part(&self, place: &C) -> bool {
        matches!(place, C::Member(of, _) if **of == atom(self.message))
    }

    fn keeps_in(&self, value: &C) -> bool {
        let itself = atom(self.message);
        match value {
            C::Member(of, part) if **of == itself => part == "buffer",
            C::Atom(text) => walk::has_word(text, self.message),
            C::Call(name, given) => {
                let written = match &**name {
                    "memcpy" => &given[..1],
                    _ if self.reads(name) => &[],
                    _ => &given[..],
                };
                let address = itself.clone().address();
                let is_left =
                    |one: &C| self.calls.contains(name) && (*one == itself || *one == address);
                let mut rest = given.iter().filter(|one| !is_left(one));
                written.iter().any(|one| self.points(one)) || rest.any(|one| self.keeps_in(one))
            }
            C::Struct(_, fields) if fields.iter().any(|(_, one)| self.points(one)) => true,
            _ => value.parts().into_iter().any(|part| self.keeps_in(part)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::c::tree::assign;

    fn keeps(all: &[S]) -> bool {
        let calls = BTreeSet::from(["deliver_now".to_string()]);
        let mut reads = Reads {
            message: "message",
            calls,
            readers: BTreeSet::from(["weighs".to_string()]),
            within: BTreeSet::new(),
        };
        all.iter().for_each(|one| reads.learn(one));
        all.iter().any(|one| reads.keeps(one))
    }

    fn part(name: &str) -> C {
        atom("message").member(name)
    }

    fn header() -> S {
        S::Declare {
            kind: "uint8_t *const".to_string(),
            name: "header".to_string(),
            value: Some(part("header")),
        }
    }

    fn does(name: &str, given: &[C]) -> S {
        S::Do(call(name, given.to_vec()))
    }

    #[test]
    fn what_is_read_is_not_kept() {
        let to = atom("own").behind("frame");
        for one in [
            assign(part("data"), part("header")),
            assign(
                atom("sum"),
                call("weighs", vec![part("data"), part("length")]),
            ),
            assign(atom("kind"), call("sl_load_big16", vec![atom("header")])),
            assign(
                to.clone().element(atom("0")),
                atom("header").element(atom("2")),
            ),
            does("memcpy", &[to, atom("header"), atom("4")]),
            does("deliver_now", &[atom("stack"), atom("message").address()]),
        ] {
            assert!(!keeps(&[header(), one.clone()]), "{one:?}");
        }
    }

    #[test]
    fn what_is_written_or_handed_on_is_kept() {
        for one in [
            assign(atom("made").member("data"), part("data")),
            assign(atom("header").element(atom("1")), atom("0")),
            assign(C::Unary("*", Box::new(atom("header"))), atom("0")),
            assign(atom("header + 2").behind("number"), atom("0")),
            S::For {
                start: "uint8_t *at = header".to_string(),
                condition: atom("true"),
                step: "at += 1".to_string(),
                body: Vec::new(),
            },
            assign(atom("made"), atom("message")),
            assign(atom("buffer"), part("buffer")),
            assign(
                atom("one"),
                C::Struct(
                    "struct one".to_string(),
                    vec![("at".to_string(), part("data"))],
                ),
            ),
            does("seals", &[part("data"), part("length")]),
            does("sl_store_big16", &[atom("header"), atom("1")]),
            does("memcpy", &[part("data"), atom("own"), atom("4")]),
            does("send_frame", &[atom("stack"), atom("message").address()]),
        ] {
            assert!(keeps(&[header(), one.clone()]), "{one:?}");
        }
    }
}
