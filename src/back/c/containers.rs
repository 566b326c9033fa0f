//! Containers: in, a field of an instance; out, the members that hold it, as C mentions them.
//!
//! ```text
//! queue    struct sl_ring F;                                         T F_items[capacity];
//! window   struct sl_window F;  uint64_t F_held[words];              T F_items[capacity];
//! stream   struct sl_stream F;  uint32_t F_pieces;
//!                               struct sl_ranges F_ranges;     uint8_t F_bytes[capacity];
//! set      uint64_t F[words];
//! ```
//!
//! Only a stream into which bytes are put behind a gap has ranges. An item of one part is that
//! part, one of several a struct of `p0`, `p1`, ...; in place of a message stands the number of its
//! buffer.

use super::Stack;
use super::types;
use crate::c::tree::{Expression as C, Statement as S, assign, atom, binary, call, call_statement};
use crate::ir::op::Place;
use crate::ir::{Field, KindId, Module, Stored, Type};

/// An instance: an element of the array in the stack.
pub fn instance(stack: &Stack<'_>, kind: KindId, index: C) -> C {
    let names = &stack.names.kinds[kind.at()];
    let all = atom("stack").behind(&names.member);
    match names.is_only {
        true => all,
        false => all.element(index),
    }
}

/// The field of an instance, or the element of one that is an array.
pub fn field(stack: &Stack<'_>, place: Place, index: C, indices: &[C]) -> C {
    beside(
        stack,
        place,
        instance(stack, place.kind, index),
        indices,
        "",
    )
}

/// A member that stands beside a field.
fn beside(stack: &Stack<'_>, place: Place, instance: C, indices: &[C], suffix: &str) -> C {
    let name = &stack.names.kinds[place.kind.at()].fields[place.field.at()];
    let member = instance.member(format!("{name}{suffix}"));
    let indices = indices.iter().cloned();
    indices.fold(member, C::element)
}

/// A container of an instance. Members that its kind does not have are not to be mentioned.
pub struct Container<'m> {
    /// The content.
    pub stored: &'m Stored,
    /// The ring, the window, the stream, the words of a set, the record of a function in C.
    pub itself: C,
    /// The items of a queue or window.
    pub items: C,
    /// The words that say which slots of a window are held.
    pub held: C,
    /// The number of messages in a stream.
    pub pieces: C,
    /// A pointer to the ranges of a stream, or `NULL`.
    pub ranges: C,
    /// The bytes of a stream.
    pub bytes: C,
    /// The number of items, bytes or numbers at most.
    pub capacity: C,
    /// The largest number of a window, or position of a stream; else 0.
    pub largest: C,
    /// The type of a message that leaves it.
    message: String,
}

impl<'m> Container<'m> {
    /// The container of an instance at a place, with an index for each dimension.
    pub fn new(stack: &Stack<'m>, place: Place, instance: C, indices: &[C]) -> Container<'m> {
        let module: &'m Module = stack.module;
        let stored = &module.field(place.kind, place.field).stored;
        let beside = |suffix: &str| beside(stack, place, instance.clone(), indices, suffix);
        Container {
            stored,
            itself: beside(""),
            items: beside("_items"),
            held: beside("_held"),
            pieces: beside("_pieces"),
            ranges: match stack.gaps.contains(&place) {
                true => beside("_ranges").address(),
                false => atom("NULL"),
            },
            bytes: beside("_bytes"),
            capacity: atom(capacity(stored).to_string()),
            largest: atom(largest(stored)),
            message: format!("const struct {}_message", stack.names.stack),
        }
    }

    /// The types of the parts of an item.
    pub fn item(&self) -> &'m [Type] {
        item(self.stored)
    }

    /// A part of the item in a slot, as it is stored.
    pub fn part(&self, slot: C, part: usize) -> C {
        let item = self.items.clone().element(slot);
        match self.item().len() {
            1 => item,
            _several => item.member(format!("p{part}")),
        }
    }

    /// Arguments of calls on a window: itself, what is held, the capacity, the largest number.
    pub fn window(&self) -> Vec<C> {
        let itself = self.itself.clone().address();
        let (capacity, largest) = (self.capacity.clone(), self.largest.clone());
        vec![itself, self.held.clone(), capacity, largest]
    }

    /// The statements by which all that it holds is dropped for a reason.
    pub fn dropped(&self, reason: &C) -> Vec<S> {
        let itself = self.itself.clone().address();
        let (capacity, largest) = (self.capacity.clone(), self.largest.clone());
        let mut all = vec![atom("stack"), itself.clone()];
        match self.stored {
            Stored::Queue(item, _) if item[..] == [Type::Message] => {
                all.extend([self.items.clone(), capacity, reason.clone()]);
                vec![call_statement("drop_queue", all)]
            }
            Stored::Queue(..) => {
                let slot = call("sl_ring_pop", vec![itself, capacity]);
                let count = self.itself.clone().member("count");
                match holds_messages(self.stored) {
                    true => vec![self.dropped_while(count, slot, reason)],
                    false => vec![assign(count, atom("0"))],
                }
            }
            Stored::Window(item, ..) if item[..] == [Type::Message] => {
                all.extend([self.held.clone(), self.items.clone()]);
                all.extend([capacity, largest, reason.clone()]);
                vec![call_statement("drop_window", all)]
            }
            Stored::Window(..) => {
                let mut window = self.window();
                window.push(self.itself.clone().member("first"));
                let slot = call("sl_window_take", window);
                let span = self.itself.clone().member("span");
                vec![self.dropped_while(span, slot, reason)]
            }
            Stored::Stream(..) => {
                let pieces = self.pieces.clone().address();
                all.extend([self.ranges.clone(), pieces, largest, reason.clone()]);
                vec![call_statement("drop_stream", all)]
            }
            Stored::Value(_) | Stored::Set(_) | Stored::Foreign(_) => Vec::new(),
        }
    }

    /// Drops the messages of each item that leaves, as long as there are any.
    fn dropped_while(&self, left: C, slot: C, reason: &C) -> S {
        let parts = self.item().iter().enumerate();
        let messages = parts.filter(|(_, of)| **of == Type::Message);
        let messages: Vec<usize> = messages.map(|(at, _)| at).collect();
        let mut body = match messages.is_empty() {
            true => vec![S::Do(slot)],
            false => vec![S::Declare {
                kind: "const uint32_t".to_string(),
                name: "slot".to_string(),
                value: Some(slot),
            }],
        };
        for part in messages {
            let number = self.part(atom("slot"), part);
            let waited = call("retrieve", vec![atom("stack"), number]);
            let name = format!("message_{part}");
            let message = |member: &str| atom(&*name).member(member);
            let arguments = vec![
                atom("stack"),
                message("buffer"),
                message("came_in"),
                reason.clone(),
            ];
            body.push(S::Declare {
                kind: self.message.clone(),
                name: name.clone(),
                value: Some(waited),
            });
            body.push(call_statement("drop", arguments));
        }
        let condition = binary("!=", left, atom("0"));
        S::While { condition, body }
    }
}

/// The types of the parts of an item of a queue or window.
pub fn item(stored: &Stored) -> &[Type] {
    match stored {
        Stored::Queue(item, _) | Stored::Window(item, ..) => item,
        Stored::Value(_) | Stored::Stream(..) | Stored::Set(_) | Stored::Foreign(_) => &[],
    }
}

/// Returns true for a container of messages, or of what came in with them.
pub fn holds_messages(stored: &Stored) -> bool {
    matches!(stored, Stored::Stream(..)) || item(stored).contains(&Type::Message)
}

/// The number of items, bytes or numbers at most.
pub fn capacity(stored: &Stored) -> u32 {
    match stored {
        Stored::Queue(_, capacity)
        | Stored::Window(_, _, capacity)
        | Stored::Stream(_, capacity)
        | Stored::Set(capacity) => *capacity,
        Stored::Value(_) | Stored::Foreign(_) => 0,
    }
}

/// The largest number of a window, or position of a stream; else 0.
pub fn largest(stored: &Stored) -> String {
    match stored {
        Stored::Window(_, bits, _) | Stored::Stream(bits, _) => match bits {
            8 => "UINT8_MAX".to_string(),
            16 => "UINT16_MAX".to_string(),
            0..32 => format!("{:#x}", (1_u32 << bits) - 1),
            _ => "UINT32_MAX".to_string(),
        },
        Stored::Value(_) | Stored::Queue(..) | Stored::Set(_) | Stored::Foreign(_) => {
            "0".to_string()
        }
    }
}

/// A member of a struct, and what is said about it.
pub struct Member {
    /// The type; it may have members of its own, on lines of their own.
    pub kind: String,
    /// The name, without lengths of arrays.
    pub name: String,
    /// The lengths of the arrays in which it stands.
    pub lengths: Vec<String>,
    /// The comment.
    pub comment: &'static str,
    /// True if it is written before it is read, whatever is there before.
    pub is_buffer: bool,
}

/// The members that hold a field under a name, in order.
pub fn members(stack: &Stack<'_>, place: Place, name: &str) -> Vec<Member> {
    let field: &Field = stack.module.field(place.kind, place.field);
    let lengths = |length: Option<u32>| -> Vec<String> {
        let all = field.dimensions.iter().copied().chain(length);
        all.map(|length| length.to_string()).collect()
    };
    let member = |kind: &str, suffix: &str, length: Option<u32>, comment| Member {
        kind: kind.to_string(),
        name: format!("{name}{suffix}"),
        lengths: lengths(length),
        comment,
        is_buffer: matches!(suffix, "_items" | "_bytes"),
    };
    let words = |capacity: u32| Some(capacity.div_ceil(64));
    let items =
        |of: &[Type], capacity: u32| member(&item_type(stack, of), "_items", Some(capacity), "");
    match &field.stored {
        Stored::Value(of) => {
            let mut own = member(&types::stored(stack, *of), "", None, "");
            if let Type::Opaque(of) = of {
                let room = stack.module.opaques[of.at()].room.iter();
                own.lengths.extend(room.map(|room| room.name.clone()));
            }
            vec![own]
        }
        Stored::Queue(of, capacity) => {
            vec![member("struct sl_ring", "", None, ""), items(of, *capacity)]
        }
        Stored::Window(of, _, capacity) => vec![
            member("struct sl_window", "", None, ""),
            member("uint64_t", "_held", words(*capacity), ""),
            items(of, *capacity),
        ],
        Stored::Stream(_, capacity) => {
            let pieces = "how many messages are in it";
            let mut all = vec![
                member("struct sl_stream", "", None, ""),
                member("uint32_t", "_pieces", None, pieces),
            ];
            if stack.gaps.contains(&place) {
                let behind = "what is there behind a gap";
                all.push(member("struct sl_ranges", "_ranges", None, behind));
            }
            all.push(member("uint8_t", "_bytes", Some(*capacity), ""));
            all
        }
        Stored::Set(capacity) => vec![member("uint64_t", "", words(*capacity), "")],
        Stored::Foreign(record) => {
            let kind = format!("struct {}_{record}", stack.names.stack);
            vec![member(&kind, "", None, "")]
        }
    }
}

/// The type of an item of these parts.
pub fn item_type(stack: &Stack<'_>, parts: &[Type]) -> String {
    let stored = |of: &Type| match of {
        Type::Message => "uint32_t".to_string(),
        plain => types::stored(stack, *plain),
    };
    match parts {
        [only] => stored(only),
        several => {
            let parts = several.iter().enumerate();
            let lines = parts.map(|(at, of)| format!("        {} p{at};\n", stored(of)));
            format!("struct {{\n{}    }}", lines.collect::<String>())
        }
    }
}
