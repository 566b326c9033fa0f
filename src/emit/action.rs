//! The steps of a tree, and what may fail in it, as statements.

use super::code::{assign_optional, assign_to};
use super::containers;
use super::expression::exact;
use super::function::filter_call;
use super::layout::c_type;
use super::once::reads_several_attributes;
use super::push;
use super::record;
use super::tree::Body;
use super::uses::Need;
use super::walk::has_effects;
use crate::c::tree::{Expression as C, Statement as S, assign, atom, binary, call};
use crate::tree::{Action, NodeId};
use crate::types::expression::{Expression, ExpressionKind as Kind, Instance, Variable};
use crate::types::program::{AttributeId, FilterId, HeaderId, KindId, LocalId};
use crate::types::statement::{Operation, Term};
use crate::types::value::{Type, Value};

fn stack() -> C {
    atom("stack")
}

pub fn on_stack(function: &str, rest: Vec<C>) -> C {
    call(function, [vec![stack()], rest].concat())
}

/// One step.
pub fn emit(body: &mut Body, action: &Action, next: NodeId, out: &mut Vec<S>) {
    match action {
        Action::Let(local, value) => bind(body, (*local, value), next, out),
        Action::Assign(variable, value) => out.extend(assign_to(&mut body.scope, variable, value)),
        Action::SetAttribute(message, attribute, value) => {
            set_attribute(body, *message, *attribute, value, out);
        }
        Action::Strip(message, header) => strip(body, *message, *header, next, out),
        Action::StripRest(message, bytes) => {
            let bytes = body.scope.stored(bytes);
            let part = |part| body.scope.of_message(*message, part);
            out.push(S::Assign(part("data"), "+=", bytes.clone()));
            out.push(S::Assign(part("length"), "-=", bytes));
        }
        Action::Push { .. } | Action::Sum { .. } | Action::Scan { .. } => {
            on_bytes(body, action, next, out);
        }
        Action::Do(operation) => self::operation(body, operation, out),
        Action::Drop(message, reason) => {
            let reason = atom(&body.stack.names.reasons[reason.at()]);
            let mut all = body.scope.fate_of(*message);
            all.push(reason);
            out.push(S::Do(on_stack("drop", all)));
        }
        Action::DropAll(variable, reason) => {
            out.push(containers::drop_all(&body.scope, variable, *reason));
        }
        Action::Consume(message) => {
            let message = body.scope.fate_of(*message);
            out.push(S::Do(on_stack("consume", message)));
        }
        Action::Count(count) => out.push(S::Assign(body.counter(*count), "+=", atom("1"))),
        Action::Pass(way) => {
            let passed = atom(record::PASSED).element(atom(way.to_string()));
            out.push(S::Assign(passed, "+=", atom("1")));
        }
        Action::StartTimer(instance, kind, timer, after) => {
            let timer = (*instance, *kind, *timer);
            out.push(containers::start_timer(&body.scope, timer, after));
        }
        Action::StopTimer(instance, kind, timer) => {
            let scope = &body.scope;
            out.push(containers::stop_timer(scope, *instance, *kind, *timer));
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
        Action::Wait(outputs) => body.wait_all(outputs, out),
        Action::Answer(outputs) => body.answer(outputs, out),
        Action::Begin
        | Action::Put(_)
        | Action::AtOnce
        | Action::Mark(_)
        | Action::Precede(..)
        | Action::Turn => on_agenda(body, action, next, out),
    }
}

/// A step on what waits on the agenda.
fn on_agenda(body: &mut Body, action: &Action, next: NodeId, out: &mut Vec<S>) {
    let is_asked = |mark: &LocalId| body.facts.needs[&next].contains(&Need::Local(*mark));
    match action {
        Action::Begin => out.push(assign(
            atom("stack").behind("since"),
            atom("stack").behind("waiting"),
        )),
        Action::Put(outputs) => body.put(outputs, out),
        Action::AtOnce => out.push(S::Do(on_stack("at_once", Vec::new()))),
        Action::Mark(mark) if !is_asked(mark) => {}
        Action::Mark(mark) => {
            let waiting = atom("stack").behind("waiting");
            out.push(body.bind_c(*mark, waiting));
        }
        Action::Precede(first, mark) => {
            let marks = [first, mark].map(|mark| atom(body.scope.known(*mark)));
            let behind = on_stack("precede", marks.to_vec());
            out.push(match is_asked(first) {
                true => body.bind_c(*first, behind),
                false => S::Do(behind),
            });
        }
        Action::Turn => {
            let since = atom("stack").behind("since");
            out.push(S::Do(call("reverse", vec![atom("stack"), since])));
        }
        other => unreachable!("{other:?} puts nothing on the agenda"),
    }
}

/// A step on the bytes of a message.
fn on_bytes(body: &mut Body, action: &Action, next: NodeId, out: &mut Vec<S>) {
    match action {
        Action::Push {
            message,
            header,
            values,
            below,
        } => {
            let below = below.as_ref();
            body.scope.below = below.map(|below| body.scope.value(below));
            out.extend(push::push(&mut body.scope, *message, *header, values));
        }
        Action::Sum {
            bind,
            message,
            header,
            field,
            arguments,
        } => {
            let sum = super::sums::sum_call(&mut body.scope, *header, *field, *message, arguments);
            known(body, *bind, sum, next, out);
        }
        Action::Scan {
            bind,
            message,
            filter,
            arguments,
        } => {
            let result = run_filter(body, *message, *filter, arguments);
            known(body, *bind, result, next, out);
        }
        other => unreachable!("{other:?} touches no bytes"),
    }
}

/// What a filter gives, under a name where it is not read at once.
fn known(body: &mut Body, bind: LocalId, value: C, next: NodeId, out: &mut Vec<S>) {
    if body.stands_in(bind, next) {
        body.scope.values.insert(bind, exact(value));
    } else {
        let bound = body.bind_c(bind, value);
        out.push(bound);
    }
}

fn of_instance(body: &Body, what: &str, instance: Instance, kind: KindId) -> S {
    let name = format!("{what}_{}", body.stack.names.kinds[kind.at()]);
    S::Do(on_stack(&name, vec![body.index(instance)]))
}

fn bind(body: &mut Body, (local, value): (LocalId, &Expression), next: NodeId, out: &mut Vec<S>) {
    let once = body.facts.bound.get(&local).is_none_or(|times| *times == 1);
    if let (Type::Message, Kind::Read(Variable::Local(other))) = (&value.result, &*value.kind)
        && once
    {
        let name = body.scope.known(*other);
        body.scope.names.insert(local, name);
        return;
    }
    if super::external::gives_optional(body.stack, value) {
        let (known, once) = (body.shows(local), once);
        out.extend(super::external::bind_optional(
            &mut body.scope,
            local,
            value,
            (known, once),
        ));
        return;
    }
    let may_stand_in = !has_effects(body.stack, value) && !reads_several_attributes(value);
    if may_stand_in && body.stands_in(local, next) {
        let value = body.scope.typed(value);
        body.scope.values.insert(local, value);
    } else if body.facts.needs[&next].contains(&Need::Local(local)) {
        let bound = body.bind(local, value);
        out.extend(bound);
    } else if has_effects(body.stack, value) {
        out.push(S::Do(body.scope.value(value)));
    }
}

fn set_attribute(
    body: &mut Body,
    message: LocalId,
    attribute: AttributeId,
    value: &Expression,
    out: &mut Vec<S>,
) {
    let name = &body.stack.names.attributes[attribute.at()];
    let place = body.scope.of_message(message, name);
    let own = &body.stack.program.attributes[attribute.at()].kind;
    if !matches!(own, Type::Optional(_)) {
        return out.push(assign(place, body.scope.stored(value)));
    }
    let has = body.scope.of_message(message, &format!("has_{name}"));
    let value = match value.result {
        Type::Optional(_) => value.clone(),
        _ => Expression::new(Kind::Some(value.clone()), own.clone()),
    };
    out.extend(assign_optional(&mut body.scope, (has, place), &value));
}

/// Where the data of a message begins in its buffer.
pub fn before(body: &Body, message: LocalId) -> C {
    behind_first(body, message, body.scope.of_message(message, "data"))
}

/// How far a place is behind the first byte of a message's buffer.
fn behind_first(body: &Body, message: LocalId, place: C) -> C {
    let buffer = body.scope.of_message(message, "buffer");
    binary("-", place, buffer.behind("bytes"))
}

fn strip(body: &mut Body, message: LocalId, id: HeaderId, next: NodeId, out: &mut Vec<S>) {
    let header = &body.stack.program.headers[id.at()];
    let least = header.least;
    let data = body.scope.of_message(message, "data");
    let place = body.scope.of_message(message, "header");
    out.push(assign(place.clone(), data.clone()));
    let mut first = data.clone();
    if let Some(known) = body.scope.headers.get(&id)
        && body.parted.contains(&id)
    {
        first = known.clone();
        out.push(assign(first.clone(), place));
    } else if body.facts.needs[&next].contains(&super::uses::Need::Header(id)) {
        let name = body.scope.taken.take(&format!("{}_header", header.name));
        first = atom(&name);
        body.scope.headers.insert(id, first.clone());
        out.push(S::Declare {
            kind: "uint8_t *const".to_string(),
            name,
            value: Some(place),
        });
    }
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
        out.push(assign(place, behind_first(body, message, first).cast(kind)));
    }
    let bytes = atom(least.to_string());
    out.push(S::Assign(data, "+=", bytes.clone()));
    out.push(S::Assign(
        body.scope.of_message(message, "length"),
        "-=",
        bytes,
    ));
}

/// Keeps so many bytes of a message: just these, where it has been seen that it has them.
fn cut(body: &Body, message: LocalId, bytes: &Expression, out: &mut Vec<S>) {
    let kept = body.scope.stored(bytes);
    let length = body.scope.of_message(message, "length");
    let missing = binary(">", kept.clone(), length.clone());
    let is_there = out.last().is_some_and(|before| {
        matches!(before, S::If { condition, then, .. }
            if *condition == missing && matches!(then.last(), Some(S::Return(_))))
    });
    out.push(match is_there {
        true => assign(length, kept),
        false => S::Do(call("cut", vec![body.scope.message_address(message), kept])),
    });
}

fn run_filter(body: &Body, message: LocalId, filter: FilterId, arguments: &[Expression]) -> C {
    let data = body.scope.of_message(message, "data");
    let length = body.scope.of_message(message, "length");
    filter_call(&body.scope, filter, vec![data, length], arguments)
}

fn operation(body: &mut Body, operation: &Operation, out: &mut Vec<S>) {
    let stripped = |name: &str, message: LocalId, bytes: &Expression, body: &Body| {
        let bytes = body.scope.stored(bytes);
        S::Do(call(name, vec![body.scope.message_address(message), bytes]))
    };
    match operation {
        Operation::Skip(message, bytes) => out.push(stripped("skip", *message, bytes, body)),
        Operation::Cut(message, bytes) => cut(body, *message, bytes, out),
        Operation::ReplaceWindow(window, number, source) => {
            let (made, message) = super::attempt::from_source(body, source, out);
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
                    let counted = counted.map(|place| S::Assign(place, "+=", atom("1")));
                    out.push(S::If {
                        condition,
                        then: vec![replaced],
                        otherwise: counted.into_iter().collect(),
                    });
                }
                None => out.push(replaced),
            }
        }
        Operation::ReplaceValue(window, number, value) => {
            let room = "window_make_room";
            let slot = containers::slot_by_number(&body.scope, room, window, number);
            let (condition, then) = body.kept_value(window, slot, value, out);
            out.push(S::If {
                condition,
                then,
                otherwise: Vec::new(),
            });
        }
        Operation::Release(variable, to) => {
            out.push(S::Do(containers::release(&body.scope, variable, to)));
        }
        Operation::Begin(stream, at) => out.push(containers::begin(&body.scope, stream, at)),
        Operation::Clear(variable) => clear(body, variable, out),
        Operation::Add(variable, factor, term) => out.push(add(body, variable, factor, term)),
        Operation::Scale(variable, factor) => {
            let (at, capacity) = bytes_of(body, variable);
            let all = vec![at, capacity, body.scope.stored(factor)];
            out.push(S::Do(call("sl_scale", all)));
        }
        Operation::Rewrite(message, filter, arguments) => {
            let run = run_filter(body, *message, *filter, arguments);
            out.push(match body.stack.program.filters[filter.at()].keeps_length {
                true => S::Do(run),
                false => {
                    let length = body.scope.of_message(*message, "length");
                    S::Assign(length, "=", run.cast("uint32_t"))
                }
            });
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
    let whole = place.clone().member(super::names::c_name(&own.name));
    let size = format!("sizeof {}", crate::c::printer::expression(&whole));
    out.push(S::Do(call("memset", vec![whole, atom("0"), atom(size)])));
    out.extend(super::state::initial(&mut body.scope, own, &place));
}

fn add(body: &Body, variable: &Variable, factor: &Expression, term: &Term) -> S {
    let (at, capacity) = bytes_of(body, variable);
    let (other, length) = match term {
        Term::Data(message) => (
            body.scope.of_message(*message, "data"),
            body.scope.of_message(*message, "length"),
        ),
        Term::Bytes(other) => bytes_of(body, other),
    };
    let both = call("smaller32", vec![capacity, length]);
    match &*factor.kind {
        Kind::Constant(Value::Number(1)) => S::Do(call("sl_add", vec![at, other, both])),
        _ => {
            let factor = body.scope.stored(factor);
            S::Do(call("sl_add_multiple", vec![at, other, both, factor]))
        }
    }
}

/// Returns the address of bytes and their number.
fn bytes_of(body: &Body, variable: &Variable) -> (C, C) {
    let Type::Bytes(capacity) = body.scope.variable_type(variable) else {
        unreachable!("only bytes are added and multiplied");
    };
    let at = body.scope.place(variable).member("at");
    (at, atom(capacity.to_string()))
}

/// The counter of what a container was to keep and no buffer was free for.
pub fn no_buffer(body: &Body, container: &Variable) -> Option<C> {
    let kind = match container {
        Variable::Field(_, kind, _) => kind,
        Variable::Element(inner, _) | Variable::Part(inner, ..) => {
            return no_buffer(body, inner);
        }
        Variable::Local(_) => unreachable!("containers are fields"),
    };
    let program = body.stack.program;
    let entity = &program.entities[program.kinds[kind.at()].entity.at()];
    Some(body.counter(entity.no_buffer?))
}
