//! The steps of a tree, and what may fail in it, as statements.

use super::containers;
use super::function::{assign_to, filter_call};
use super::layout::c_type;
use super::tree::{Body, has_effects};
use super::wire;
use crate::c::tree::{Expression as C, Statement as S, assign, atom, binary, call};
use crate::tree::{Action, NodeId};
use crate::types::expression::{Expression, ExpressionKind as Kind, Instance, Variable};
use crate::types::header::{Ranges, Rule};
use crate::types::program::{
    AttributeId, FilterId, HeaderFieldId, HeaderId, KindId, LocalId, Target,
};
use crate::types::statement::{Attempt, Operation, Search, Source};
use crate::types::value::Type;

fn stack() -> C {
    atom("stack")
}

fn on_stack(function: &str, rest: Vec<C>) -> C {
    call(function, [vec![stack()], rest].concat())
}

/// One step.
pub fn emit(body: &mut Body, action: &Action, next: NodeId, out: &mut Vec<S>) {
    match action {
        Action::Let(local, value) => bind(body, *local, value, out),
        Action::Assign(variable, value) => out.extend(assign_to(&body.scope, variable, value)),
        Action::SetAttribute(message, attribute, value) => {
            set_attribute(body, *message, *attribute, value, out);
        }
        Action::Strip(message, header) => strip(body, *message, *header, next, out),
        Action::StripRest(message, bytes) => {
            let bytes = body.scope.stored(bytes);
            out.push(S::Assign(
                body.scope.of_message(*message, "data"),
                "+=",
                bytes.clone(),
            ));
            out.push(S::Assign(
                body.scope.of_message(*message, "length"),
                "-=",
                bytes,
            ));
        }
        Action::Push {
            message,
            header,
            values,
        } => {
            out.extend(wire::push(&mut body.scope, *message, *header, values));
        }
        Action::Sum {
            bind,
            message,
            header,
            field,
            arguments,
        } => {
            let sum = wire::sum_call(&mut body.scope, *header, *field, *message, arguments);
            let bound = body.bind_c(*bind, sum);
            out.push(bound);
        }
        Action::Scan {
            bind,
            message,
            filter,
            arguments,
        } => {
            let result = run_filter(body, *message, *filter, arguments);
            let bound = body.bind_c(*bind, result);
            out.push(bound);
        }
        Action::Do(operation) => self::operation(body, operation, out),
        Action::Drop(message, reason) => {
            let reason = atom(&body.stack.names.reasons[reason.at()]);
            let message = body.scope.message_address(*message);
            out.push(S::Do(on_stack("drop", vec![message, reason])));
        }
        Action::DropAll(variable, reason) => {
            out.push(containers::drop_all(&body.scope, variable, *reason));
        }
        Action::Consume(message) => {
            let message = body.scope.message_address(*message);
            out.push(S::Do(on_stack("consume", vec![message])));
        }
        Action::Count(count) => out.push(S::Assign(body.counter(*count), "+=", atom("1"))),
        Action::StartTimer(instance, kind, timer, after) => {
            out.push(containers::start_timer(
                &body.scope,
                (*instance, *kind, *timer),
                after,
            ));
        }
        Action::StopTimer(instance, kind, timer) => {
            out.push(containers::stop_timer(
                &body.scope,
                *instance,
                *kind,
                *timer,
            ));
        }
        Action::End(instance, kind) => {
            if body.stack.has_end(*kind) {
                out.push(of_instance(body, "end", *instance, *kind));
            }
        }
        Action::Free(instance, kind) => {
            if body.stack.pool_of(*kind) == *kind {
                out.push(of_instance(body, "free", *instance, *kind));
            }
        }
        Action::Loop(turns) => body.turns(turns, out),
        Action::Wait(outputs) => {
            outputs
                .iter()
                .rev()
                .for_each(|output| body.wait(output, out));
            body.consume_cut(outputs, out);
        }
    }
}

fn of_instance(body: &Body, what: &str, instance: Instance, kind: KindId) -> S {
    let name = format!("{what}_{}", body.stack.names.kinds[kind.at()]);
    S::Do(on_stack(&name, vec![body.index(instance)]))
}

fn bind(body: &mut Body, local: LocalId, value: &Expression, out: &mut Vec<S>) {
    let once = body.facts.bound.get(&local).is_none_or(|times| *times == 1);
    if let (Type::Message, Kind::Read(Variable::Local(other))) = (&value.result, &*value.kind)
        && once
    {
        let name = body.scope.known(*other);
        body.scope.names.insert(local, name);
        return;
    }
    if body.is_read(local) {
        let bound = body.bind(local, value);
        out.extend(bound);
    } else if has_effects(body.stack, value) {
        out.push(S::Do(body.scope.value(value)));
    }
}

fn set_attribute(
    body: &Body,
    message: LocalId,
    attribute: AttributeId,
    value: &Expression,
    out: &mut Vec<S>,
) {
    let name = &body.stack.names.attributes[attribute.at()];
    let place = body.scope.of_message(message, name);
    if let Type::Optional(_) = body.stack.program.attributes[attribute.at()].kind {
        let has = body.scope.of_message(message, &format!("has_{name}"));
        if let Type::Optional(_) = value.result {
            out.push(assign(has, body.scope.present(value)));
            out.push(assign(place, body.scope.unwrapped(value)));
        } else {
            out.push(assign(has, atom("true")));
            out.push(assign(place, body.scope.stored(value)));
        }
        return;
    }
    out.push(assign(place, body.scope.stored(value)));
}

/// Where the data of a message begins in its buffer.
fn before(body: &Body, message: LocalId) -> C {
    let data = body.scope.of_message(message, "data");
    let buffers = stack().behind("buffers").address();
    let first = call(
        "sl_buffers_at",
        vec![buffers, body.scope.of_message(message, "buffer")],
    );
    binary("-", data, first)
}

fn strip(body: &mut Body, message: LocalId, id: HeaderId, next: NodeId, out: &mut Vec<S>) {
    let header = &body.stack.program.headers[id.at()];
    let least = header.least;
    let mark = body
        .stack
        .program
        .entities
        .iter()
        .find(|one| one.header == Some(id));
    if let Some(mark) = mark.and_then(|entity| entity.mark) {
        let name = &body.stack.names.attributes[mark.at()];
        let kind = match &body.stack.program.attributes[mark.at()].kind {
            Type::Optional(inner) => {
                let has = body.scope.of_message(message, &format!("has_{name}"));
                out.push(assign(has, atom("true")));
                c_type(body.stack, inner)
            }
            other => c_type(body.stack, other),
        };
        let place = body.scope.of_message(message, name);
        out.push(assign(place, before(body, message).cast(kind)));
    }
    let data = body.scope.of_message(message, "data");
    let place = body.scope.of_message(message, "header");
    out.push(assign(place.clone(), data.clone()));
    let read = body.facts.needs[&next].contains(&super::uses::Need::Header(id));
    if read {
        let name = body.scope.taken.take(&format!("{}_header", header.name));
        body.scope.headers.insert(id, atom(&name));
        out.push(S::Declare {
            kind: "uint8_t *const".to_string(),
            name,
            value: Some(place),
        });
    }
    let bytes = atom(least.to_string());
    out.push(S::Assign(data, "+=", bytes.clone()));
    out.push(S::Assign(
        body.scope.of_message(message, "length"),
        "-=",
        bytes,
    ));
}

fn run_filter(body: &Body, message: LocalId, filter: FilterId, arguments: &[Expression]) -> C {
    let data = body.scope.of_message(message, "data");
    let length = body.scope.of_message(message, "length");
    filter_call(&body.scope, filter, data, length, arguments)
}

fn operation(body: &mut Body, operation: &Operation, out: &mut Vec<S>) {
    let stripped = |name: &str, message: LocalId, bytes: &Expression, body: &Body| {
        let bytes = body.scope.stored(bytes);
        S::Do(call(name, vec![body.scope.message_address(message), bytes]))
    };
    match operation {
        Operation::Skip(message, bytes) => out.push(stripped("skip", *message, bytes, body)),
        Operation::Cut(message, bytes) => out.push(stripped("cut", *message, bytes, body)),
        Operation::ReplaceWindow(window, number, source) => {
            let (made, message) = from_source(body, source, out);
            let replaced = S::Do(containers::by_number(
                &body.scope,
                "window_replace",
                window,
                number,
                message,
            ));
            match made {
                Some(condition) => {
                    let counted = no_buffer(body, window);
                    out.push(S::If {
                        condition,
                        then: vec![replaced],
                        otherwise: counted.into_iter().collect(),
                    });
                }
                None => out.push(replaced),
            }
        }
        Operation::Release(variable, to) => {
            out.push(containers::release(&body.scope, variable, to))
        }
        Operation::Begin(stream, at) => out.push(containers::begin(&body.scope, stream, at)),
        Operation::Clear(variable) => clear(body, variable, out),
        Operation::Xor(variable, message) => xor(body, variable, *message, out),
        Operation::Rewrite(message, filter, arguments) => {
            out.push(S::Do(run_filter(body, *message, *filter, arguments)));
        }
        Operation::Call(function, arguments) => {
            out.push(S::Do(super::function::call_of(
                &body.scope,
                *function,
                arguments,
            )));
        }
    }
}

fn clear(body: &mut Body, variable: &Variable, out: &mut Vec<S>) {
    if let Type::Set(_) = body.scope.variable_type(variable) {
        out.push(containers::clear_set(&body.scope, variable));
        return;
    }
    let Variable::Field(instance, kind, field) = variable else {
        unreachable!("only what is a field is cleared");
    };
    let own = &body.stack.program.kinds[kind.at()].fields[field.at()];
    let place = body.scope.instance(*instance, *kind);
    out.extend(super::state::initial(&body.scope, own, &place));
}

fn xor(body: &mut Body, variable: &Variable, message: LocalId, out: &mut Vec<S>) {
    let Type::Bytes(capacity) = body.scope.variable_type(variable) else {
        unreachable!("only bytes are added to");
    };
    let at = body.scope.taken.take("at");
    let length = body.scope.of_message(message, "length");
    let data = body.scope.of_message(message, "data").element(atom(&at));
    let place = body.scope.place(variable).member("at").element(atom(&at));
    let within = binary("<", atom(&at), atom(capacity.to_string()));
    out.push(S::For {
        start: format!("uint32_t {at} = 0"),
        condition: binary("&&", within, binary("<", atom(&at), length)),
        step: format!("{at}++"),
        body: vec![S::Assign(place, "^=", data)],
    });
}

/// Counts that no buffer was free for what a container was to keep.
fn no_buffer(body: &Body, container: &Variable) -> Option<S> {
    let kind = match container {
        Variable::Field(_, kind, _) => kind,
        Variable::Element(inner, _) | Variable::Part(inner, ..) => {
            return no_buffer(body, inner);
        }
        Variable::Local(_) => unreachable!("containers are fields"),
    };
    let program = body.stack.program;
    let entity = &program.entities[program.kinds[kind.at()].entity.at()];
    let counter = body.counter(entity.no_buffer?);
    Some(S::Assign(counter, "+=", atom("1")))
}

/// The condition under which a message from a source is there, if it may not be; and the message.
fn from_source(body: &mut Body, source: &Source, out: &mut Vec<S>) -> (Option<C>, LocalId) {
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
        Source::New => on_stack("new_message", vec![message()]),
        Source::NewFrom(bytes, length) => {
            let Type::Bytes(capacity) = scope.variable_type(bytes) else {
                unreachable!("a message is made from bytes");
            };
            let place = scope.place(bytes).member("at");
            let (length, all) = (scope.stored(length), atom(capacity.to_string()));
            let within = binary("<", length.clone(), all.clone());
            let length = crate::c::tree::conditional(within, length, all);
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
            Attempt::PopValue(queue) => self.pop_value(queue, kept, out),
            Attempt::Push(queue, source) => {
                let condition = self.kept(source, out, |body, message| {
                    containers::push(&body.scope, queue, message)
                });
                (condition, Vec::new())
            }
            Attempt::PushValue(queue, value) => self.push_value(queue, value, out),
            Attempt::InsertWindow(window, number, source) => {
                let condition = self.kept(source, out, |body, message| {
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
                let scope = &self.scope;
                (
                    containers::by_number(scope, "window_share", window, number, bind),
                    Vec::new(),
                )
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
            Attempt::Message(source) => {
                let bind = self.message_for(bind, out);
                (made(self, source, bind), Vec::new())
            }
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
            Search::Find(Target { kind, keys, .. }) => ("find", *kind, keys),
            Search::Create(kind, keys) => ("create", *kind, keys),
        };
        let name = format!("{what}_{}", self.stack.names.kinds[kind.at()]);
        let declared = &self.stack.program.kinds[kind.at()].keys;
        let arguments =
            keys.iter()
                .zip(declared)
                .flat_map(|(key, own)| match (&own.kind, &key.result) {
                    (Type::Optional(_), Type::Optional(_)) | (_, Type::Message) => {
                        self.scope.arguments(key)
                    }
                    (Type::Optional(_), _) => vec![atom("true"), self.scope.stored(key)],
                    _ => self.scope.arguments(key),
                });
        let found = on_stack(&name, arguments.collect());
        let found = match step {
            Search::Find(Target {
                condition: Some(condition),
                ..
            }) => {
                let condition = self.scope.value(condition);
                crate::c::tree::conditional(condition, found, atom("SL_NONE"))
            }
            Search::Find(_) | Search::Create(..) => found,
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

    /// A slot of a queue of values, in a local of its own.
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

    fn pop_value(
        &mut self,
        queue: &Variable,
        bind: Option<LocalId>,
        out: &mut Vec<S>,
    ) -> (C, Vec<S>) {
        let popped = containers::pop_value(&self.scope, queue);
        let Some(bind) = bind else {
            return (binary("!=", popped, atom("SL_NONE")), Vec::new());
        };
        let slot = self.slot(popped, out);
        let item = containers::items(&self.scope, queue).element(slot.clone());
        let bound = self.bind_c(bind, item);
        (binary("!=", slot, atom("SL_NONE")), vec![bound])
    }

    fn push_value(
        &mut self,
        queue: &Variable,
        value: &Expression,
        out: &mut Vec<S>,
    ) -> (C, Vec<S>) {
        let pushed = containers::push_value(&self.scope, queue);
        let slot = self.slot(pushed, out);
        let item = containers::items(&self.scope, queue).element(slot.clone());
        let store = assign(item, self.scope.stored(value));
        (binary("!=", slot, atom("SL_NONE")), vec![store])
    }

    /// A container takes a message; a handle that was made for it goes if it does not.
    fn kept(&mut self, source: &Source, out: &mut Vec<S>, take: impl Fn(&Body, LocalId) -> C) -> C {
        let (made, message) = from_source(self, source, out);
        let taken = take(self, message);
        let Some(made) = made else { return taken };
        let name = self.scope.taken.take("taken");
        let kind = "bool".to_string();
        out.push(S::Declare {
            kind,
            name: name.clone(),
            value: Some(made),
        });
        let gone = vec![
            S::Do(on_stack(
                "release",
                vec![self.scope.message_address(message)],
            )),
            assign(atom(&name), atom("false")),
        ];
        out.push(S::If {
            condition: binary("&&", atom(&name), taken.negated()),
            then: gone,
            otherwise: Vec::new(),
        });
        atom(name)
    }

    /// Whether a message begins with a good header.
    fn peek(
        &mut self,
        message: LocalId,
        id: HeaderId,
        bind: Option<LocalId>,
        out: &mut Vec<S>,
    ) -> C {
        let header = &self.stack.program.headers[id.at()];
        let data = self.scope.of_message(message, "data");
        let length = self.scope.of_message(message, "length");
        let place = match bind {
            Some(local) => {
                let bound = self.bind_c(local, data);
                out.push(bound);
                atom(self.scope.known(local))
            }
            None => data,
        };
        let old = self.scope.headers.insert(id, place);
        let mut all = binary(">=", length.clone(), atom(header.least.to_string()));
        let mut variable = None;
        for (at, field) in header.fields.iter().enumerate() {
            let read = || {
                let read = Kind::Header(id, HeaderFieldId(at as u32));
                self.scope.value(&Expression::new(read, field.kind.clone()))
            };
            let mut require = |condition: C| all = binary("&&", all.clone(), condition);
            match &field.rule {
                Rule::Is(value) => {
                    require(binary(
                        "==",
                        read(),
                        self.scope.constant(value, &field.kind),
                    ));
                }
                Rule::Counts { ranges, unit } => {
                    let fixed = match ranges {
                        Ranges::Between(from, to) => {
                            let last = &header.fields[to.at()];
                            (last.bit + last.width) / 8 - header.fields[from.at()].bit / 8
                        }
                        Ranges::Header => header.least,
                        Ranges::Data | Ranges::HeaderAndData => {
                            let before = match ranges {
                                Ranges::HeaderAndData => 0,
                                _ => header.least,
                            };
                            let counted = binary("*", atom(format!("{unit}U")), read());
                            let end = match before {
                                0 => counted.clone(),
                                before => binary("+", counted.clone(), atom(before.to_string())),
                            };
                            require(binary("<=", end, length.clone()));
                            if before == 0 {
                                let least = atom(header.least.to_string());
                                require(binary(">=", counted, least));
                            }
                            continue;
                        }
                    };
                    let counted = binary("*", atom(format!("{unit}U")), read());
                    require(binary(">=", counted.clone(), atom(fixed.to_string())));
                    variable = Some((counted, fixed));
                }
                Rule::Given | Rule::Default(_) | Rule::Checks { .. } => {}
            }
            if let Type::Enum(kind) = field.kind {
                let table = &self.stack.program.enums[kind.at()];
                let is = |(_, value): &(String, u64)| {
                    let value = crate::types::value::Value::Number(*value);
                    binary("==", read(), self.scope.constant(&value, &field.kind))
                };
                let named = table.names.iter().map(is);
                let named = named.reduce(|all, one| binary("||", all, one));
                if let (None, Some(named)) = (&table.other, named) {
                    require(named);
                }
            }
            if let Some(constraint) = &field.constraint {
                require(self.scope.value(constraint));
            }
        }
        if let Some((counted, fixed)) = variable {
            let rest = atom((header.least - fixed).to_string());
            let whole = binary("+", counted, rest);
            all = binary("&&", all, binary(">=", length, whole));
        }
        match old {
            Some(old) => self.scope.headers.insert(id, old),
            None => self.scope.headers.remove(&id),
        };
        all
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
