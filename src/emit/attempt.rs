//! What may fail in a tree: the condition under which it succeeds, and what is done then.

use super::action::{before, no_buffer, on_stack};
use super::containers;
use super::function::filter_call;
use super::layout::c_type;
use super::scope::Scope;
use super::soonest;
use super::tree::Body;
use crate::c::tree::{Expression as C, Statement as S, assign, atom, binary, call, conditional};
use crate::types::expression::{Expression, ExpressionKind as Kind, Variable};
use crate::types::program::{AttributeId, FilterId, KindId, LocalId, Target};
use crate::types::statement::{Attempt, Search, Source};
use crate::types::value::{Type, Value};

/// The condition under which a message from a source is there, if it may not be; and the message.
pub fn from_source(body: &mut Body, source: &Source, out: &mut Vec<S>) -> (Option<C>, LocalId) {
    if let Source::Local(local) = source {
        return (None, *local);
    }
    let local = LocalId(u32::MAX - 1);
    let name = body.scope.taken.take("copy");
    body.scope.names.insert(local, name.clone());
    let kind = c_type(body.stack, &Type::Message);
    out.push(S::Declare {
        kind,
        name,
        value: None,
    });
    (Some(made(body, source, local)), local)
}

/// Whether a new message could be made.
fn made(body: &Body, source: &Source, into: LocalId) -> C {
    let scope = &body.scope;
    let message = || scope.message_address(into);
    match source {
        Source::Local(_) => unreachable!("a message that is there is not made"),
        // Fast paths have in registers what a call would let them keep in memory.
        Source::New if body.is_bypass => on_stack("new_message_in_place", vec![message()]),
        Source::New => on_stack("new_message", vec![message()]),
        Source::NewFrom(bytes, length) => {
            let Type::Bytes(capacity) = scope.variable_type(bytes) else {
                unreachable!("a message is made from bytes");
            };
            let place = scope.place(bytes).member("at");
            let (length, all) = (scope.stored(length), atom(capacity.to_string()));
            let within = binary("<", length.clone(), all.clone());
            let length = conditional(within, length, all);
            on_stack("message_from", vec![place, length, message()])
        }
        Source::Share(of) => on_stack("share", vec![scope.message_address(*of), message()]),
        Source::Piece(of, at, length) => {
            let (at, length) = (scope.stored(at), scope.stored(length));
            on_stack(
                "piece",
                vec![scope.message_address(*of), at, length, message()],
            )
        }
        Source::TakeStream(stream, length) => containers::stream_take(scope, stream, length, into),
        Source::SliceStream(stream, at, length) => {
            containers::stream_slice(scope, stream, at, length, into)
        }
    }
}

/// What is tried, where it is all the same whether it succeeds.
pub fn tried_alone(succeeds: C) -> Option<S> {
    match succeeds {
        C::Binary("&&", first, then) => Some(S::If {
            condition: *first,
            then: tried_alone(*then).into_iter().collect(),
            otherwise: Vec::new(),
        }),
        C::Binary("!=", tried, _) => tried_alone(*tried),
        tried @ C::Call(..) => Some(S::Do(tried)),
        _ => None,
    }
}

/// Whether a value may ask something of a container.
fn asks(value: &Expression) -> bool {
    let itself = matches!(*value.kind, Kind::Query(_) | Kind::Call(..));
    itself || value.parts().into_iter().any(asks)
}

/// The keys of an instance, as arguments.
pub fn key_arguments(scope: &Scope, kind: KindId, keys: &[Expression]) -> Vec<C> {
    let declared = &scope.stack.program.kinds[kind.at()].keys;
    let arguments =
        keys.iter()
            .zip(declared)
            .flat_map(|(key, own)| match (&own.kind, &key.result) {
                (Type::Optional(_), Type::Optional(_)) | (_, Type::Message) => scope.arguments(key),
                (Type::Optional(_), _) => vec![atom("true"), scope.stored(key)],
                _ => scope.arguments(key),
            });
    arguments.collect()
}

impl Body<'_> {
    /// What is tried: the condition under which it succeeds, and what is done first where it does.
    pub fn attempt(
        &mut self,
        attempt: &Attempt,
        bind: Option<LocalId>,
        out: &mut Vec<S>,
    ) -> (C, Vec<S>) {
        let kept = bind.filter(|local| self.is_read(*local));
        match attempt {
            Attempt::Instance(steps) => (self.instance(&steps[0], kept, out), Vec::new()),
            Attempt::Value(_) => unreachable!("a value that may be none is a test"),
            Attempt::Pop(queue) => {
                let bind = self.message_for(bind, out);
                (containers::pop(&self.scope, queue, bind), Vec::new())
            }
            Attempt::PopValue(_)
            | Attempt::PushValue(..)
            | Attempt::InsertValue(..)
            | Attempt::TakeValue(..) => self.value_attempt(attempt, kept, out),
            Attempt::Push(queue, source) => {
                let fits = containers::has_room(&self.scope, queue);
                let condition = self.kept(queue, source, out, fits, |body, message| {
                    containers::push(&body.scope, queue, message)
                });
                (condition, Vec::new())
            }
            Attempt::InsertWindow(window, number, source) => {
                let fits = containers::takes(&self.scope, window, number);
                let condition = self.kept(window, source, out, fits, |body, message| {
                    let scope = &body.scope;
                    containers::by_number(scope, "window_insert", window, number, message)
                });
                (condition, Vec::new())
            }
            Attempt::TakeWindow(window, number) => {
                let bind = self.message_for(bind, out);
                let scope = &self.scope;
                (
                    containers::by_number(scope, "window_take", window, number, bind),
                    Vec::new(),
                )
            }
            Attempt::ShareWindow(window, number) => {
                let bind = self.message_for(bind, out);
                let share =
                    containers::by_number(&self.scope, "window_share", window, number, bind);
                (share, Vec::new())
            }
            Attempt::InsertStream(stream, at, message) => (
                containers::stream_insert(&self.scope, stream, Some(at), *message),
                Vec::new(),
            ),
            Attempt::AppendStream(stream, message) => (
                containers::stream_insert(&self.scope, stream, None, *message),
                Vec::new(),
            ),
            Attempt::Peek(message, header) => (self.peek(*message, *header, kept, out), Vec::new()),
            Attempt::Restore(message, mark) => self.restore(*message, *mark),
            Attempt::Pad(message, bytes) => (self.padded(*message, bytes), Vec::new()),
            Attempt::Rewrite(message, filter, arguments) => (
                self.rewritten(*message, *filter, arguments, out),
                Vec::new(),
            ),
            Attempt::Message(source) => {
                let bind = self.message_for(bind, out);
                (made(self, source, bind), Vec::new())
            }
        }
    }

    /// What is tried with a container of values.
    fn value_attempt(
        &mut self,
        attempt: &Attempt,
        kept: Option<LocalId>,
        out: &mut Vec<S>,
    ) -> (C, Vec<S>) {
        match attempt {
            Attempt::PopValue(queue) => {
                let slot = containers::pop_value(&self.scope, queue);
                self.taken_value(queue, slot, kept, out)
            }
            Attempt::PushValue(queue, value) => {
                let slot = containers::push_value(&self.scope, queue);
                self.kept_value(queue, slot, value, out)
            }
            Attempt::InsertValue(window, number, value) => {
                let insert = "sl_window_insert";
                let slot = containers::slot_by_number(&self.scope, insert, window, number);
                self.kept_value(window, slot, value, out)
            }
            Attempt::TakeValue(window, number) => {
                let take = "sl_window_take";
                let slot = containers::slot_by_number(&self.scope, take, window, number);
                self.taken_value(window, slot, kept, out)
            }
            other => unreachable!("{other:?} is about no values"),
        }
    }

    /// A message that is about to get its value.
    fn message_for(&mut self, bind: Option<LocalId>, out: &mut Vec<S>) -> LocalId {
        let bind = bind.expect("a message that is taken has a name");
        let declared = self.declare_empty(bind);
        out.extend(declared);
        bind
    }

    fn instance(&mut self, step: &Search, bind: Option<LocalId>, out: &mut Vec<S>) -> C {
        let (what, kind, keys) = match step {
            Search::Find(Target { kind, keys, .. }) => ("find", *kind, &keys[..]),
            Search::Create(kind, keys, None) => ("create", *kind, &keys[..]),
            Search::Create(kind, keys, Some(_)) => ("make", *kind, &keys[..]),
            Search::Soonest(kind, _, keys) => ("soonest", *kind, &keys[..]),
            Search::Standing(kind, _) => ("first", *kind, &[][..]),
        };
        let again = self.is_bypass && what == "find" && self.stack.refound.contains(&kind);
        let again = if again { "_again" } else { "" };
        let name = match step {
            Search::Soonest(_, timer, keys) => soonest::name(self.stack, kind, *timer, keys.len()),
            Search::Find(_) | Search::Create(..) | Search::Standing(..) => {
                format!("{what}_{}{again}", self.stack.names.kinds[kind.at()])
            }
        };
        let other = match step {
            Search::Create(_, _, Some(other)) | Search::Standing(_, other) => {
                Some(self.scope.index(*other))
            }
            Search::Create(_, _, None) | Search::Find(_) | Search::Soonest(..) => None,
        };
        let keys = key_arguments(&self.scope, kind, keys);
        let found = on_stack(&name, other.into_iter().chain(keys).collect());
        let found = match step {
            Search::Find(Target {
                condition: Some(condition),
                ..
            }) => {
                let condition = self.scope.value(condition);
                conditional(condition, found, atom("SL_NONE"))
            }
            Search::Find(_) | Search::Soonest(..) | Search::Create(..) | Search::Standing(..) => {
                found
            }
        };
        match bind {
            Some(local) => {
                let bound = self.bind_c(local, found);
                out.push(bound);
                binary("!=", atom(self.scope.known(local)), atom("SL_NONE"))
            }
            None => binary("!=", found, atom("SL_NONE")),
        }
    }

    /// A slot of a container of values, in a local of its own.
    fn slot(&mut self, value: C, out: &mut Vec<S>) -> C {
        let name = self.scope.taken.take("slot");
        let kind = "const uint32_t".to_string();
        out.push(S::Declare {
            kind,
            name: name.clone(),
            value: Some(value),
        });
        atom(name)
    }

    fn taken_value(
        &mut self,
        container: &Variable,
        taken: C,
        bind: Option<LocalId>,
        out: &mut Vec<S>,
    ) -> (C, Vec<S>) {
        let Some(bind) = bind else {
            return (binary("!=", taken, atom("SL_NONE")), Vec::new());
        };
        let slot = self.slot(taken, out);
        let item = containers::items(&self.scope, container).element(slot.clone());
        let bound = self.bind_item(bind, item);
        (binary("!=", slot, atom("SL_NONE")), bound)
    }

    /// Puts a value into a slot, if there is one.
    pub fn kept_value(
        &mut self,
        container: &Variable,
        slot: C,
        value: &Expression,
        out: &mut Vec<S>,
    ) -> (C, Vec<S>) {
        let mut parts = Vec::new();
        if let Type::Optional(inner) = &value.result {
            parts.push((Some("present"), Type::Bool, self.scope.present(value)));
            if !matches!(*value.kind, Kind::Constant(Value::None)) {
                let inner = (**inner).clone();
                parts.push((Some("value"), inner, self.scope.unwrapped(value)));
            }
        } else {
            let stored = self.scope.stored(value);
            parts.push((None, value.result.clone(), stored));
        }
        if asks(value) {
            // A container tells what it held before it made room.
            for (part, kind, stored) in &mut parts {
                let name = self.scope.taken.take(part.unwrap_or("value"));
                let value = std::mem::replace(stored, atom(&name));
                out.push(S::Declare {
                    kind: format!("const {}", c_type(self.stack, kind)),
                    name,
                    value: Some(value),
                });
            }
        }
        let slot = self.slot(slot, out);
        let item = containers::items(&self.scope, container).element(slot.clone());
        let stored = parts.into_iter().map(|(part, _, stored)| match part {
            Some(part) => assign(item.clone().member(part), stored),
            None => assign(item.clone(), stored),
        });
        let store = stored.collect();
        (binary("!=", slot, atom("SL_NONE")), store)
    }

    /// A container takes a message; one that is made for it only is made if it fits.
    fn kept(
        &mut self,
        container: &Variable,
        source: &Source,
        out: &mut Vec<S>,
        fits: C,
        take: impl Fn(&Body, LocalId) -> C,
    ) -> C {
        let (made, message) = from_source(self, source, out);
        let taken = take(self, message);
        let Some(made) = made else { return taken };
        let name = self.scope.taken.take("taken");
        out.push(S::Declare {
            kind: "bool".to_string(),
            name: name.clone(),
            value: Some(fits),
        });
        let counted = no_buffer(self, container).map(|place| S::Assign(place, "+=", atom("1")));
        let missing = counted
            .into_iter()
            .chain([assign(atom(&name), atom("false"))]);
        out.push(S::If {
            condition: binary("&&", atom(&name), made.negated()),
            then: missing.collect(),
            otherwise: Vec::new(),
        });
        out.push(S::If {
            condition: atom(&name),
            then: vec![S::Do(taken)],
            otherwise: Vec::new(),
        });
        atom(name)
    }

    /// A filter writes over what it reads in another buffer.
    fn rewritten(
        &mut self,
        message: LocalId,
        filter: FilterId,
        arguments: &[Expression],
        out: &mut Vec<S>,
    ) -> C {
        let name = self.scope.taken.take("aside");
        out.push(S::Declare {
            kind: format!("struct {}_buffer *", self.stack.names.stack),
            name: name.clone(),
            value: None,
        });
        let (scope, aside) = (&self.scope, || atom(&name));
        let own = || scope.message_address(message);
        let buffers = on_stack("set_aside", vec![own(), aside().address()]);
        let bytes = vec![
            aside().behind("bytes"),
            scope.of_message(message, "length"),
            scope.of_message(message, "data"),
            call("room_of", vec![own()]),
        ];
        let run = filter_call(scope, filter, bytes, arguments);
        let done = on_stack("rewritten", vec![own(), aside(), run]);
        binary("&&", buffers, done)
    }

    /// Zeros are put behind a message, if there is room for them.
    fn padded(&self, message: LocalId, bytes: &Expression) -> C {
        let message = self.scope.message_address(message);
        call("pad", vec![message, self.scope.stored(bytes)])
    }

    /// Gives stripped headers back, if there is a mark of where they begin.
    fn restore(&mut self, message: LocalId, mark: AttributeId) -> (C, Vec<S>) {
        let name = &self.stack.names.attributes[mark.at()];
        let place = self.scope.of_message(message, name);
        let reaches = binary("<=", place.clone(), before(self, message).cast("size_t"));
        let condition = match &self.stack.program.attributes[mark.at()].kind {
            Type::Optional(_) => {
                let has = self.scope.of_message(message, &format!("has_{name}"));
                binary("&&", has, reaches)
            }
            _ => reaches,
        };
        let back = binary("-", before(self, message).cast("uint32_t"), place);
        let restored = self.scope.taken.take("restored");
        let data = self.scope.of_message(message, "data");
        let length = self.scope.of_message(message, "length");
        let steps = vec![
            S::Declare {
                kind: "const uint32_t".to_string(),
                name: restored.clone(),
                value: Some(back),
            },
            S::Assign(data, "-=", atom(&restored)),
            S::Assign(length, "+=", atom(&restored)),
        ];
        (condition, steps)
    }
}
