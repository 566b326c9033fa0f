//! Queues, windows, streams and sets: questions, changes and attempts.
//!
//! A container is a struct of the runtime, and its items or bytes are an array beside it. Functions
//! of the runtime give the slot of an item; messages stand there by the number of their buffer.

use super::super::types;
use super::Printer;
use super::attempt::Attempted;
use super::number::Number;
use super::value::{Given, Variable, constant};
use crate::c::tree::{
    Expression as C, Statement as S, assign, atom, binary, call, call_statement, conditional,
    only_if,
};
use crate::ir::op::{Attempt, Change, Place, Question};
use crate::ir::{Stored, Type, Value};

/// A container in C.
struct Container {
    /// The struct, or the words of a set.
    itself: C,
    /// The members of the instance that stand beside it: their base, name and indices.
    base: C,
    name: String,
    indices: Vec<C>,
    stored: Stored,
    /// A stream in which no gaps can be has no ranges.
    has_ranges: bool,
}

impl Container {
    fn beside(&self, end: &str) -> C {
        let member = self.base.clone().member(format!("{}_{end}", self.name));
        self.indices
            .iter()
            .fold(member, |all, index| all.element(index.clone()))
    }

    fn capacity(&self) -> C {
        atom(match &self.stored {
            Stored::Queue(_, capacity)
            | Stored::Window(_, _, capacity)
            | Stored::Stream(_, capacity)
            | Stored::Set(capacity) => capacity.to_string(),
            Stored::Value(_) | Stored::Foreign(_) => unreachable!("it is no container"),
        })
    }

    fn largest(&self) -> C {
        match &self.stored {
            Stored::Window(_, bits, _) | Stored::Stream(bits, _) => {
                atom(format!("UINT{}_MAX", types::stored_bits(*bits).min(32)))
            }
            _ => unreachable!("only windows and streams have numbers"),
        }
    }

    fn item(&self) -> Vec<Type> {
        match &self.stored {
            Stored::Queue(item, _) | Stored::Window(item, ..) => item.clone(),
            _ => Vec::new(),
        }
    }

    fn holds_messages(&self) -> bool {
        self.item().contains(&Type::Message)
    }

    fn ranges(&self) -> C {
        match self.has_ranges {
            true => self.beside("ranges").address(),
            false => atom("NULL"),
        }
    }

    fn address(&self) -> C {
        self.itself.clone().address()
    }

    /// The arguments about a queue: it, its items if these are messages, its capacity.
    fn queue(&self, items: bool) -> Vec<C> {
        let mut all = vec![self.address()];
        all.extend(items.then(|| self.beside("items")));
        all.push(self.capacity());
        all
    }

    /// The arguments about a window.
    fn window(&self, items: bool) -> Vec<C> {
        let mut all = vec![self.address(), self.beside("held")];
        all.extend(items.then(|| self.beside("items")));
        all.extend([self.capacity(), self.largest()]);
        all
    }

    /// The arguments of a question to a stream.
    fn stream(&self) -> Vec<C> {
        vec![self.address(), self.ranges(), self.largest()]
    }

    /// The place of a part of the item in a slot.
    fn part(&self, slot: &C, at: usize) -> C {
        let place = self.beside("items").element(slot.clone());
        match self.item().len() {
            1 => place,
            _ => place.member(format!("p{at}")),
        }
    }
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

impl Printer<'_> {
    fn container(&mut self, place: Place, operands: &[Value], out: &mut Vec<S>) -> Container {
        let stack = self.stack;
        let field = stack.module.field(place.kind, place.field);
        let name = stack.names.kinds[place.kind.at()].fields[place.field.at()].clone();
        let index = self.settled_index(operands[0], out);
        let base = atom("stack")
            .behind(stack.names.kind(place.kind))
            .element(index);
        let indices: Vec<C> = operands[1..1 + field.dimensions.len()]
            .iter()
            .map(|index| self.settled(*index, "at", out).code)
            .collect();
        let itself = indices
            .iter()
            .fold(base.clone().member(&name), |all, index| {
                all.element(index.clone())
            });
        Container {
            itself,
            base,
            name,
            indices,
            stored: field.stored.clone(),
            has_ranges: stack.has_ranges(place),
        }
    }

    /// The index of an instance, which may stand in an expression several times.
    fn settled_index(&mut self, instance: Value, out: &mut Vec<S>) -> C {
        let code = self.instance(instance, out);
        match code {
            C::Atom(_) => code,
            code => self.keep("index", "uint32_t", code, out),
        }
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
        Given::Number(match (question, &own.stored) {
            (Question::IsEmpty, _) => Number::bit(binary("==", itself.member("count"), atom("0"))),
            (Question::Takes, Stored::Queue(..)) => {
                Number::bit(binary("<", itself.member("count"), own.capacity()))
            }
            (Question::Takes, _) => {
                Number::bit(call("sl_window_takes", and(own.window(false), numbers)))
            }
            (Question::Has, Stored::Set(_)) => {
                let given = and(vec![itself, own.capacity()], numbers);
                Number::bit(call("sl_set_has", given))
            }
            (Question::Has, _) => {
                Number::bit(call("sl_window_has", and(own.window(false), numbers)))
            }
            (Question::Covers, _) => {
                Number::bit(call("sl_stream_covers", and(own.stream(), numbers)))
            }
            (Question::Ready, _) => {
                Number::word(call("sl_stream_ready", and(own.stream(), numbers)))
            }
            (Question::Begin, _) => Number::word(itself.member("begin")),
            (Question::End, _) => Number::word(call("sl_stream_end", own.stream())),
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
        match how {
            Change::Empty => emptied(&own, out),
            Change::Restart if is_stream => {
                let at = self.code(rest[0], out);
                let given = vec![
                    own.address(),
                    own.ranges(),
                    own.beside("pieces").address(),
                    at,
                ];
                out.push(call_statement("stream_begin", with_stack(given)));
            }
            Change::Restart => {
                let at = self.code(rest[0], out);
                out.push(call_statement("sl_window_begin", vec![own.address(), at]));
            }
            Change::Add => {
                let number = self.code(rest[0], out);
                let given = vec![own.itself.clone(), own.capacity(), number];
                let added = call("sl_set_insert", given);
                match self.plan.is_used(results[0]) {
                    true => {
                        let added = Given::Number(Number::bit(added));
                        self.bind(results[0], added, "is_new", out);
                    }
                    false => out.push(S::Do(added)),
                }
            }
            Change::Clear => {
                let given = vec![own.itself.clone(), own.capacity()];
                out.push(call_statement("sl_set_clear", given));
            }
            Change::Release => {
                let to = self.code(rest[0], out);
                out.push(match own.holds_messages() {
                    true => {
                        let given = with_stack(and(own.window(true), [to]));
                        call_statement("window_release", given)
                    }
                    false => call_statement("window_forget", and(own.window(false), [to])),
                });
            }
            Change::ReleaseBytes => {
                let to = self.code(rest[0], out);
                let mut given = vec![own.address(), own.ranges(), own.beside("pieces").address()];
                given.extend([own.capacity(), own.largest(), to]);
                let freed = call("stream_release", with_stack(given));
                match self.plan.is_used(results[0]) {
                    true => {
                        let freed = Given::Number(Number::word(freed));
                        self.bind(results[0], freed, "freed", out);
                    }
                    false => out.push(S::Do(freed)),
                }
            }
            Change::Replace => self.replaced(&own, &rest, out),
            Change::DropAll(reason) => {
                let reason = atom(self.stack.names.reasons[reason.at()].clone());
                dropped(&own, reason, out);
            }
        }
    }

    fn replaced(&mut self, own: &Container, rest: &[Value], out: &mut Vec<S>) {
        let number = self.code(rest[0], out);
        if own.holds_messages() {
            let message = self.message(rest[1]).address();
            let given = with_stack(and(own.window(true), [number, message]));
            out.push(call_statement("window_replace", given));
            return;
        }
        let parts = self.settled_parts(&rest[1..], out);
        let given = and(own.window(false), [number]);
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
    fn put(&self, own: &Container, slot: &C, parts: Vec<Given>) -> Vec<S> {
        let item = own.item();
        let stored = parts
            .into_iter()
            .zip(item)
            .enumerate()
            .map(|(at, (part, of))| {
                let code = match part {
                    Given::Message(message) => call("hold", vec![atom("stack"), message.address()]),
                    part => part.stored(of),
                };
                assign(own.part(slot, at), code)
            });
        stored.collect()
    }

    /// Takes the parts of an item out of a slot: the statements, and what holds them.
    fn taken(&mut self, own: &Container, slot: &C, results: &[Value]) -> (Vec<S>, Vec<Given>) {
        let mut first = Vec::new();
        let mut given = Vec::new();
        for (at, (of, result)) in own.item().into_iter().zip(results).enumerate() {
            let place = own.part(slot, at);
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
                    Given::Bytes(atom(name))
                }
                _bytes => Given::Bytes(place),
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
        let is_there = |slot: &C| binary("!=", slot.clone(), atom("SL_NONE"));
        match attempt {
            Attempt::Pop(_) | Attempt::Take(_) => {
                let found = match attempt {
                    Attempt::Pop(_) => call("sl_ring_pop", own.queue(false)),
                    _take => {
                        let number = self.code(rest[0], out);
                        call("sl_window_take", and(own.window(false), [number]))
                    }
                };
                let slot = self.keep("slot", "uint32_t", found, out);
                let mut tried = Attempted::new(is_there(&slot));
                (tried.first, tried.results) = self.taken(&own, &slot, results);
                tried
            }
            Attempt::PushItem(_) | Attempt::Insert(_) => {
                let (found, item) = match attempt {
                    Attempt::PushItem(_) => ("sl_ring_push", &rest[..]),
                    _insert => ("sl_window_insert", &rest[1..]),
                };
                let parts = self.settled_parts(item, out);
                let given = match attempt {
                    Attempt::PushItem(_) => own.queue(false),
                    _insert => and(own.window(false), [self.code(rest[0], out)]),
                };
                let slot = self.keep("slot", "uint32_t", call(found, given), out);
                let mut tried = Attempted::new(is_there(&slot));
                tried.first = self.put(&own, &slot, parts);
                tried.back = self.refused(item);
                tried
            }
            Attempt::ShareItem(_) => {
                let number = self.code(rest[0], out);
                let given = and(own.window(true), [number]);
                self.made("window_share", given, results[0], out)
            }
            Attempt::InsertBytes(_) | Attempt::AppendBytes(_) => {
                let (at, message) = match attempt {
                    Attempt::InsertBytes(_) => (self.code(rest[0], out), rest[1]),
                    _append => (call("sl_stream_end", own.stream()), rest[0]),
                };
                let message = self.message(message);
                let mut given = vec![own.address(), own.ranges(), own.beside("bytes")];
                given.extend([
                    own.beside("pieces").address(),
                    own.capacity(),
                    own.largest(),
                ]);
                given.extend([at, message.address()]);
                let mut tried = Attempted::new(call("stream_insert", with_stack(given)));
                tried.back = vec![Given::Message(message)];
                tried
            }
            Attempt::TakeBytes(_) => {
                let count = self.code(rest[0], out);
                let mut given = vec![own.address(), own.ranges(), own.beside("bytes")];
                given.extend([
                    own.beside("pieces").address(),
                    own.capacity(),
                    own.largest(),
                ]);
                given.push(count);
                self.made("stream_take", given, results[0], out)
            }
            Attempt::CopyBytes(_) => {
                let at = self.code(rest[0], out);
                let count = self.code(rest[1], out);
                let mut given = vec![own.address(), own.ranges(), own.beside("bytes")];
                given.extend([own.capacity(), own.largest(), at, count]);
                self.made("stream_slice", given, results[0], out)
            }
            elsewhere => unreachable!("{elsewhere:?} is about no container"),
        }
    }
}

/// A container holds nothing, and begins at 0.
fn emptied(own: &Container, out: &mut Vec<S>) {
    let empty = |kind: &str| atom(format!("({kind}){{0}}"));
    match &own.stored {
        Stored::Queue(..) => out.push(assign(own.itself.clone(), empty("struct sl_ring"))),
        Stored::Window(..) => {
            out.push(assign(own.itself.clone(), empty("struct sl_window")));
            let held = own.beside("held");
            out.push(call_statement("sl_set_clear", vec![held, own.capacity()]));
        }
        Stored::Stream(..) => {
            out.push(assign(own.itself.clone(), empty("struct sl_stream")));
            out.push(assign(own.beside("pieces"), atom("0")));
            if own.has_ranges {
                out.push(assign(own.beside("ranges").member("count"), atom("0")));
            }
        }
        Stored::Set(_) => {
            let given = vec![own.itself.clone(), own.capacity()];
            out.push(call_statement("sl_set_clear", given));
        }
        Stored::Value(_) | Stored::Foreign(_) => unreachable!("it is no container"),
    }
}

/// All that a container holds is dropped for a reason.
fn dropped(own: &Container, reason: C, out: &mut Vec<S>) {
    let messages = own.holds_messages();
    match &own.stored {
        Stored::Queue(..) if messages => {
            let given = with_stack(and(own.queue(true), [reason]));
            out.push(call_statement("drop_queue", given));
        }
        Stored::Queue(..) => out.push(assign(own.itself.clone().member("count"), atom("0"))),
        Stored::Window(..) if messages => {
            let given = with_stack(and(own.window(true), [reason]));
            out.push(call_statement("drop_window", given));
        }
        Stored::Window(..) => {
            let first = own.itself.clone().member("first");
            let taken = call("sl_window_take", and(own.window(false), [first]));
            out.push(S::While {
                condition: binary("!=", own.itself.clone().member("span"), atom("0")),
                body: vec![S::Do(taken)],
            });
        }
        Stored::Stream(..) => {
            let mut given = vec![own.address(), own.ranges(), own.beside("pieces").address()];
            given.extend([own.largest(), reason]);
            out.push(call_statement("drop_stream", with_stack(given)));
        }
        Stored::Set(_) | Stored::Value(_) | Stored::Foreign(_) => {}
    }
}
