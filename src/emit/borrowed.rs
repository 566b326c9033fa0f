//! Which common paths let go of their frame: where they have come to their end, nothing of it is
//! kept. So it need not stand in a buffer of the stack, and is only read.
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

/// What only reads a message, or changes where it begins and ends.
const LOOKS: [&str; 2] = ["cut", "skip"];

/// Sees to it that a path gives no buffer back; false if it keeps something of its frame, and so
/// stays as it is.
pub fn lets_go(stack: &Stack, path: &mut Function) -> bool {
    let message = &*bypass::message_of(path);
    let buffer = atom(message).member("buffer");
    let given_back = external::given_back(buffer.clone());
    let came_in = atom(message).member("came_in");
    let consume = call("consume", vec![atom("stack"), buffer, came_in.clone()]);
    let consumed = S::Do(consume);
    let reads = Reads {
        message,
        calls: calls(stack),
    };
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

/// The functions that leave a message to who calls them.
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

/// What may be done with a message that is only read.
struct Reads<'m> {
    message: &'m str,
    calls: BTreeSet<String>,
}

impl Reads<'_> {
    /// Whether a statement itself does something else with it.
    fn keeps(&self, statement: &S) -> bool {
        let mut values = statement.expressions().into_iter();
        let in_head = match statement {
            S::For { start, step, .. } => [start, step]
                .iter()
                .any(|text| walk::has_word(text, self.message)),
            _ => false,
        };
        in_head || values.any(|value| self.keeps_in(value))
    }

    fn keeps_in(&self, value: &C) -> bool {
        let itself = atom(self.message);
        match value {
            C::Member(of, part) if **of == itself => part == "buffer",
            C::Atom(text) => walk::has_word(text, self.message),
            C::Call(name, given) if self.calls.contains(name) => {
                let address = itself.clone().address();
                let mut others = given
                    .iter()
                    .filter(|one| **one != address && **one != itself);
                others.any(|one| self.keeps_in(one))
            }
            _ => value.parts().into_iter().any(|part| self.keeps_in(part)),
        }
    }
}
