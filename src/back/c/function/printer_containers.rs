//! Queues, windows, streams and sets: questions, changes and attempts.
//!
//! A container is a struct of the runtime, and its items or bytes are an array beside it. Functions
//! of the runtime give the slot of an item; messages stand there by the number of their buffer.

use super::super::containers::Container;
use super::super::types;
use super::Printer;
use super::number::Number;
use super::printer_attempts::Attempted;
use super::value::{Given, Variable, constant};
use crate::c::tree::{
    Expression as C, Statement as S, assign, atom, binary, call, call_statement, conditional,
    only_if,
};
use crate::ir::op::{Attempt, Change, Place, Question};
use crate::ir::{Stored, Type, Value};

/// The first arguments of a call on a queue: it, its items if these are messages, its capacity.
fn queue(own: &Container<'_>) -> Vec<C> {
    vec![address(own), own.capacity.clone()]
}

/// The first arguments of a call on a window of messages.
fn messages(own: &Container<'_>) -> Vec<C> {
    let mut all = vec![address(own), own.held.clone(), own.items.clone()];
    all.extend([own.capacity.clone(), own.largest.clone()]);
    all
}

/// The first arguments of a question to a stream.
fn stream(own: &Container<'_>) -> Vec<C> {
    vec![address(own), own.ranges.clone(), own.largest.clone()]
}

fn address(own: &Container<'_>) -> C {
    own.itself.clone().address()
}

/// The first arguments of a call by which messages become bytes of a stream, or bytes messages.
fn merging(own: &Container<'_>) -> Vec<C> {
    let mut all = vec![address(own), own.ranges.clone(), own.bytes.clone()];
    all.push(own.pieces.clone().address());
    all.extend([own.capacity.clone(), own.largest.clone()]);
    all
}

fn holds_messages(own: &Container<'_>) -> bool {
    own.item().contains(&Type::Message)
}

fn with_stack(rest: Vec<C>) -> Vec<C> {
    let mut all = vec![atom("stack")];
    all.extend(rest);
    all
}

fn and(mut all: Vec<C>, more: impl IntoIterator<Item = C>) -> Vec<C> {
    all.extend(more);
    all
}

impl<'p> Printer<'p> {
    fn container(&mut self, place: Place, operands: &[Value], out: &mut Vec<S>) -> Container<'p> {
        let field = self.stack.module.field(place.kind, place.field);
        let instance = self.instance_of(place.kind, operands[0], out);
        let indices = operands[1..1 + field.dimensions.len()].iter();
        let indices = indices.map(|index| self.settled(*index, "at", out).code);
        let indices: Vec<C> = indices.collect();
        Container::new(self.stack, place, instance, &indices)
    }

    /// The operands behind those of a place.
    fn rest<'v>(&self, place: Place, operands: &'v [Value]) -> &'v [Value] {
        let field = self.stack.module.field(place.kind, place.field);
        &operands[1 + field.dimensions.len()..]
    }

    /// Asks a container.
    pub fn asked(
        &mut self,
        question: Question,
        place: Place,
        operands: &[Value],
        out: &mut Vec<S>,
    ) -> Given {
        let own = self.container(place, operands, out);
        let rest = self.rest(place, operands).to_vec();
        let numbers: Vec<C> = rest.iter().map(|one| self.code(*one, out)).collect();
        let itself = own.itself.clone();
        Given::Number(match (question, own.stored) {
            (Question::IsEmpty, _) => Number::bit(binary("==", itself.member("count"), atom("0"))),
            (Question::Takes, Stored::Queue(..)) => {
                Number::bit(binary("<", itself.member("count"), own.capacity.clone()))
            }
            (Question::Takes, _) => {
                Number::bit(call("sl_window_takes", and(own.window(), numbers)))
            }
            (Question::Has, Stored::Set(_)) => {
                let given = and(vec![itself, own.capacity.clone()], numbers);
                Number::bit(call("sl_set_has", given))
            }
            (Question::Has, _) => Number::bit(call("sl_window_has", and(own.window(), numbers))),
            (Question::Covers, _) => {
                Number::bit(call("sl_stream_covers", and(stream(&own), numbers)))
            }
            (Question::Ready, _) => {
                Number::word(call("sl_stream_ready", and(stream(&own), numbers)))
            }
            (Question::Begin, _) => Number::word(itself.member("begin")),
            (Question::End, _) => Number::word(call("sl_stream_end", stream(&own))),
            (Question::First, _) => unreachable!("it gives two values"),
        })
    }

    /// The first number of a window, if it holds something; else 0.
    pub fn first_of_window(
        &mut self,
        place: Place,
        (operands, results): (&[Value], &[Value]),
        out: &mut Vec<S>,
    ) {
        let own = self.container(place, operands, out);
        let holds = binary("!=", own.itself.clone().member("span"), atom("0"));
        let number = conditional(holds.clone(), own.itself.member("first"), atom("0"));
        self.bind(results[0], Given::Number(Number::bit(holds)), "holds", out);
        self.bind(
            results[1],
            Given::Number(Number::word(number)),
            "first",
            out,
        );
    }

    /// Changes a container.
    pub fn change(
        &mut self,
        how: Change,
        place: Place,
        (operands, results): (&[Value], &[Value]),
        out: &mut Vec<S>,
    ) {
        let own = self.container(place, operands, out);
        let rest = self.rest(place, operands).to_vec();
        let is_stream = matches!(own.stored, Stored::Stream(..));
        let place_and_rest = (&own, &rest[..]);
        match how {
            Change::Empty => {
                if is_stream && self.stack.gathers() {
                    out.push(call_statement("settle", vec![atom("stack")]));
                }
                emptied(&own, out);
            }
            Change::Restart if is_stream => {
                let at = self.code(rest[0], out);
                let given = vec![
                    address(&own),
                    own.ranges.clone(),
                    own.pieces.clone().address(),
                    at,
                ];
                out.push(call_statement("stream_begin", with_stack(given)));
            }
            Change::Restart => {
                let at = self.code(rest[0], out);
                out.push(call_statement("sl_window_begin", vec![address(&own), at]));
            }
            Change::Add => self.added_number(place_and_rest, results[0], out),
            Change::Clear => {
                let given = vec![own.itself.clone(), own.capacity.clone()];
                out.push(call_statement("sl_set_clear", given));
            }
            Change::Release => {
                let to = self.code(rest[0], out);
                out.push(match holds_messages(&own) {
                    true => {
                        let given = with_stack(and(messages(&own), [to]));
                        call_statement("window_release", given)
                    }
                    false => call_statement("window_forget", and(own.window(), [to])),
                });
            }
            Change::ReleaseBytes => self.released_bytes(place_and_rest, results[0], out),
            Change::Replace => self.replaced(&own, &rest, out),
            Change::DropAll(reason) => {
                let reason = atom(self.stack.names.reasons[reason.at()].clone());
                out.extend(own.dropped(&reason));
            }
        }
    }

    /// A number goes into a set.
    fn added_number(
        &mut self,
        (own, rest): (&Container<'_>, &[Value]),
        result: Value,
        out: &mut Vec<S>,
    ) {
        let number = self.code(rest[0], out);
        let given = vec![own.itself.clone(), own.capacity.clone(), number];
        let added = call("sl_set_insert", given);
        match self.plan.is_used(result) {
            true => {
                let added = Given::Number(Number::bit(added));
                self.bind(result, added, "is_new", out);
            }
            false => out.push(S::Do(added)),
        }
    }

    /// Bytes leave a stream.
    fn released_bytes(
        &mut self,
        (own, rest): (&Container<'_>, &[Value]),
        result: Value,
        out: &mut Vec<S>,
    ) {
        let to = self.code(rest[0], out);
        let mut given = vec![
            address(own),
            own.ranges.clone(),
            own.pieces.clone().address(),
        ];
        given.extend([own.capacity.clone(), own.largest.clone(), to]);
        let freed = call("stream_release", with_stack(given));
        match self.plan.is_used(result) {
            true => {
                let freed = Given::Number(Number::word(freed));
                self.bind(result, freed, "freed", out);
            }
            false => out.push(S::Do(freed)),
        }
    }

    fn replaced(&mut self, own: &Container<'_>, rest: &[Value], out: &mut Vec<S>) {
        let number = self.code(rest[0], out);
        if holds_messages(own) {
            let message = self.message(rest[1]).address();
            let given = with_stack(and(messages(own), [number, message]));
            out.push(call_statement("window_replace", given));
            return;
        }
        let parts = self.settled_parts(&rest[1..], out);
        let given = and(own.window(), [number]);
        let slot = self.keep("slot", "uint32_t", call("window_make_room", given), out);
        let stored = self.put(own, &slot, parts);
        out.push(only_if(binary("!=", slot, atom("SL_NONE")), stored));
    }

    /// The parts of an item, each computed before the container changes.
    fn settled_parts(&mut self, parts: &[Value], out: &mut Vec<S>) -> Vec<Given> {
        let settle = |part: &Value| match self.function.type_of(*part) {
            Type::Int(_) => Given::Number(self.settled(*part, "part", out)),
            _other => self.value(*part, out),
        };
        parts.iter().map(settle).collect()
    }

    /// The statements that put an item in a slot.
    fn put(&self, own: &Container<'_>, slot: &C, parts: Vec<Given>) -> Vec<S> {
        let item = own.item().to_vec();
        let stored = parts
            .into_iter()
            .zip(item)
            .enumerate()
            .map(|(at, (part, of))| {
                let code = match part {
                    Given::Message(message) => call("hold", vec![atom("stack"), message.address()]),
                    part => part.stored(of),
                };
                assign(own.part(slot.clone(), at), code)
            });
        stored.collect()
    }

    /// Takes the parts of an item out of a slot: the statements, and what holds them.
    fn taken(&mut self, own: &Container<'_>, slot: &C, results: &[Value]) -> (Vec<S>, Vec<Given>) {
        let mut first = Vec::new();
        let mut given = Vec::new();
        for (at, (of, result)) in own.item().iter().copied().zip(results).enumerate() {
            let place = own.part(slot.clone(), at);
            let kind = types::local(self.stack, of);
            let is_used = self.plan.is_used(*result);
            given.push(match of {
                Type::Message => {
                    let name = self.name(*result, "taken");
                    first.push(S::Declare {
                        kind,
                        name: name.clone(),
                        value: Some(call("retrieve", vec![atom("stack"), place])),
                    });
                    Given::Message(Variable::own(&name))
                }
                Type::Int(bits) if is_used => {
                    let name = self.name(*result, "taken");
                    first.push(constant(&kind, &name, place));
                    Given::Number(Number::local(bits, atom(name)))
                }
                Type::Int(bits) => Given::Number(Number::local(bits, place)),
                _bytes if is_used => {
                    let name = self.name(*result, "taken");
                    first.push(constant(&kind, &name, place));
                    Given::Plain(atom(name))
                }
                _bytes => Given::Plain(place),
            });
        }
        (first, given)
    }

    /// The messages that come back where an item is not taken.
    fn refused(&mut self, parts: &[Value]) -> Vec<Given> {
        let function = self.function;
        let is_message = |part: &&Value| function.type_of(**part) == Type::Message;
        let messages = parts.iter().filter(is_message);
        messages
            .map(|part| Given::Message(self.message(*part)))
            .collect()
    }

    /// An item leaves a queue or window, if it is there.
    fn item_taken(
        &mut self,
        attempt: &Attempt,
        (own, rest): (&Container<'_>, &[Value]),
        results: &[Value],
        out: &mut Vec<S>,
    ) -> Attempted {
        let found = match attempt {
            Attempt::Pop(_) => call("sl_ring_pop", queue(own)),
            _take => {
                let number = self.code(rest[0], out);
                call("sl_window_take", and(own.window(), [number]))
            }
        };
        let slot = self.keep("slot", "uint32_t", found, out);
        let mut tried = Attempted::new(is_there(&slot));
        (tried.first, tried.results) = self.taken(own, &slot, results);
        tried
    }

    /// An item goes into a queue or window, if there is a place.
    fn item_put(
        &mut self,
        attempt: &Attempt,
        (own, rest): (&Container<'_>, &[Value]),
        out: &mut Vec<S>,
    ) -> Attempted {
        let (found, item) = match attempt {
            Attempt::PushItem(_) => ("sl_ring_push", rest),
            _insert => ("sl_window_insert", &rest[1..]),
        };
        let parts = self.settled_parts(item, out);
        let given = match attempt {
            Attempt::PushItem(_) => queue(own),
            _insert => and(own.window(), [self.code(rest[0], out)]),
        };
        let slot = self.keep("slot", "uint32_t", call(found, given), out);
        let mut tried = Attempted::new(is_there(&slot));
        tried.first = self.put(own, &slot, parts);
        tried.back = self.refused(item);
        tried
    }

    /// Tries something with a container.
    pub fn attempt_in_place(
        &mut self,
        attempt: &Attempt,
        place: Place,
        operands: &[Value],
        (results, _back): (&[Value], &[Value]),
        out: &mut Vec<S>,
    ) -> Attempted {
        let own = self.container(place, operands, out);
        let rest = self.rest(place, operands).to_vec();
        match attempt {
            Attempt::Pop(_) | Attempt::Take(_) => {
                self.item_taken(attempt, (&own, &rest), results, out)
            }
            Attempt::PushItem(_) | Attempt::Insert(_) => self.item_put(attempt, (&own, &rest), out),
            Attempt::ShareItem(_) => {
                let number = self.code(rest[0], out);
                let given = and(messages(&own), [number]);
                self.made("window_share", given, results[0], out)
            }
            Attempt::InsertBytes(_) | Attempt::AppendBytes(_) => {
                let (merge, at, message) = match attempt {
                    Attempt::InsertBytes(_) => {
                        ("stream_insert", Some(self.code(rest[0], out)), rest[1])
                    }
                    _append => ("stream_append", None, rest[0]),
                };
                let message = self.message(message);
                let mut given = merging(&own);
                given.extend(at);
                given.push(message.address());
                let mut tried = Attempted::new(call(merge, with_stack(given)));
                tried.back = vec![Given::Message(message)];
                tried
            }
            Attempt::TakeBytes(_) => {
                let count = self.code(rest[0], out);
                let mut given = merging(&own);
                given.push(count);
                self.made("stream_take", given, results[0], out)
            }
            Attempt::CopyBytes(_) | Attempt::BorrowBytes(_) => {
                let at = self.code(rest[0], out);
                let count = self.code(rest[1], out);
                let mut given = vec![address(&own), own.ranges.clone(), own.bytes.clone()];
                given.extend([own.capacity.clone(), own.largest.clone(), at, count]);
                let made = match attempt {
                    Attempt::BorrowBytes(_) => "stream_borrow",
                    _copy => "stream_slice",
                };
                self.made(made, given, results[0], out)
            }
            elsewhere => unreachable!("{elsewhere:?} is about no container"),
        }
    }
}

/// A slot was found.
fn is_there(slot: &C) -> C {
    binary("!=", slot.clone(), atom("SL_NONE"))
}

/// A container holds nothing, and begins at 0.
fn emptied(own: &Container<'_>, out: &mut Vec<S>) {
    let empty = |kind: &str| atom(format!("({kind}){{0}}"));
    match own.stored {
        Stored::Queue(..) => out.push(assign(own.itself.clone(), empty("struct sl_ring"))),
        Stored::Window(..) => {
            out.push(assign(own.itself.clone(), empty("struct sl_window")));
            let held = own.held.clone();
            out.push(call_statement(
                "sl_set_clear",
                vec![held, own.capacity.clone()],
            ));
        }
        Stored::Stream(..) => {
            out.push(assign(own.itself.clone(), empty("struct sl_stream")));
            out.push(assign(own.pieces.clone(), atom("0")));
            if let C::Unary("&", ranges) = &own.ranges {
                out.push(assign(ranges.clone().member("count"), atom("0")));
            }
        }
        Stored::Set(_) => {
            let given = vec![own.itself.clone(), own.capacity.clone()];
            out.push(call_statement("sl_set_clear", given));
        }
        Stored::Foreign(_) => {
            let itself = crate::c::printer::expression(&own.itself);
            let given = vec![address(own), atom("0"), atom(format!("sizeof {itself}"))];
            out.push(call_statement("memset", given));
        }
        Stored::Value(_) => unreachable!("a value is not emptied"),
    }
}
