//! Queues, windows, streams, sets and timers: what is asked of them, tried with them and done to
//! them, as calls of the runtime.

use super::action::on_stack;
use super::attempt::key_arguments;
use super::layout::c_type;
use super::names::c_name;
use super::scope::Scope;
use crate::c::tree::{Expression as C, Statement as S, atom, binary, call};
use crate::types::expression::{Expression, Instance, Query, Variable};
use crate::types::fields::field_of;
use crate::types::program::{KindId, LocalId, ReasonId, TimerId};
use crate::types::value::Type;

/// The member of an instance that holds its timers.
pub const TIMERS: &str = "timers";

/// A container and what stands beside it, as the runtime takes it.
struct Container {
    kind: Type,
    itself: C,
    items: C,
    held: C,
    ranges: C,
    bytes: C,
    pieces: C,
}

impl Container {
    fn new(scope: &Scope, variable: &Variable) -> Container {
        let beside = |suffix: &str| scope.beside(variable, "", suffix);
        Container {
            kind: scope.variable_type(variable),
            itself: scope.place(variable),
            items: beside("_items"),
            held: beside("_held"),
            ranges: match has_gaps(scope, variable) {
                true => beside("_ranges").address(),
                false => atom("NULL"),
            },
            bytes: beside("_bytes"),
            pieces: beside("_pieces"),
        }
    }

    fn capacity(&self) -> C {
        match &self.kind {
            Type::Queue(_, capacity)
            | Type::Window(_, _, capacity)
            | Type::Stream(_, capacity)
            | Type::Set(capacity) => atom(capacity.to_string()),
            other => unreachable!("{other:?} is no container"),
        }
    }

    /// The largest number or position.
    fn largest(&self, scope: &Scope) -> C {
        let bits = match &self.kind {
            Type::Window(_, bits, _) => u32::from(*bits),
            Type::Stream(position, _) => super::layout::bits(scope.stack, position).unwrap_or(32),
            other => unreachable!("{other:?} has no numbers"),
        };
        atom(match bits {
            8 => "UINT8_MAX".to_string(),
            16 => "UINT16_MAX".to_string(),
            32 => "UINT32_MAX".to_string(),
            bits => format!("{:#x}", (1_u64 << bits) - 1),
        })
    }

    /// The arguments that every question to a stream begins with.
    fn stream(&self, scope: &Scope) -> Vec<C> {
        let itself = self.itself.clone().address();
        vec![itself, self.ranges.clone(), self.largest(scope)]
    }

    /// The arguments that every call on a window begins with.
    fn window(&self, scope: &Scope, items: bool) -> Vec<C> {
        let mut all = vec![self.itself.clone().address(), self.held.clone()];
        if items {
            all.push(self.items.clone());
        }
        all.extend([self.capacity(), self.largest(scope)]);
        all
    }
}

/// Whether a variable is a stream in which bytes can be held behind a gap.
fn has_gaps(scope: &Scope, variable: &Variable) -> bool {
    let program = scope.stack.program;
    field_of(variable).is_some_and(|(kind, field)| {
        let field = &program.kinds[kind.at()].fields[field.at()];
        field.has_gaps
    })
}

/// What a container or timer can tell.
pub fn query(scope: &Scope, query: &Query) -> C {
    match query {
        Query::IsEmpty(queue) => binary("==", scope.place(queue).member("count"), atom("0")),
        Query::Has(variable, number) => {
            let own = Container::new(scope, variable);
            let number = scope.stored(number);
            match own.kind {
                Type::Set(_) => call(
                    "sl_set_has",
                    vec![own.itself.clone(), own.capacity(), number],
                ),
                _ => {
                    let mut all = own.window(scope, false);
                    all.push(number);
                    call("sl_window_has", all)
                }
            }
        }
        Query::InsertSet(variable, number) => {
            let own = Container::new(scope, variable);
            call(
                "sl_set_insert",
                vec![own.itself.clone(), own.capacity(), scope.stored(number)],
            )
        }
        Query::Release(stream, to) => release(scope, stream, to),
        Query::First(_) => unreachable!("whether there is a first, and which, are two values"),
        Query::Covers(stream, at, length) => {
            let own = Container::new(scope, stream);
            let mut all = own.stream(scope);
            all.extend([scope.stored(at), scope.stored(length)]);
            call("sl_stream_covers", all)
        }
        Query::Ready(stream, at) => {
            let own = Container::new(scope, stream);
            let mut all = own.stream(scope);
            all.push(scope.stored(at));
            call("sl_stream_ready", all)
        }
        Query::Begin(stream) => position(scope, stream, scope.place(stream).member("begin")),
        Query::End(stream) => {
            let own = Container::new(scope, stream);
            let end = call("sl_stream_end", own.stream(scope));
            position(scope, stream, end)
        }
        Query::Exists(kind, keys) => {
            let name = format!("find_{}", scope.stack.names.kinds[kind.at()]);
            let found = on_stack(&name, key_arguments(scope, *kind, keys));
            binary("!=", found, atom("SL_NONE"))
        }
        Query::Running(instance, kind, timer) => {
            let timer = timer_of(scope, *instance, *kind, *timer);
            call("sl_timer_runs", vec![timer])
        }
        Query::GoesOn => on_stack("goes_on", Vec::new()),
        Query::Ended(instance, kind) => {
            let name = &scope.stack.names.kinds[scope.stack.pool_of(*kind).at()];
            let ended = atom("stack").behind(format!("{name}_ended"));
            ended.element(scope.index(*instance))
        }
    }
}

/// A position has the type that the source gives it.
fn position(scope: &Scope, stream: &Variable, c: C) -> C {
    match scope.variable_type(stream) {
        Type::Stream(own, _) if super::layout::bits(scope.stack, &own) != Some(32) => {
            c.cast(c_type(scope.stack, &own))
        }
        _ => c,
    }
}

/// A pointer to a timer of an instance.
pub fn timer_of(scope: &Scope, instance: Instance, kind: KindId, timer: TimerId) -> C {
    let name = &scope.stack.program.kinds[kind.at()].timers[timer.at()];
    let timers = scope.instance(instance, kind).member(TIMERS);
    timers.member(c_name(name)).address()
}

/// Begins the timers of an instance: they are idle, and know their ids.
pub fn begin_timers(scope: &Scope, instance: Instance, kind: KindId) -> Vec<S> {
    let timers = 0..scope.stack.program.kinds[kind.at()].timers.len() as u32;
    let begin = |timer: TimerId| {
        let id = timer_id(scope, instance, kind, timer);
        let timer = timer_of(scope, instance, kind, timer);
        S::Do(call("sl_timer_begin", vec![timer, id]))
    };
    timers.map(TimerId).map(begin).collect()
}

/// The id of a timer of an instance.
fn timer_id(scope: &Scope, instance: Instance, kind: KindId, timer: TimerId) -> C {
    let own = &scope.stack.program.kinds[kind.at()];
    let base = atom(format!(
        "{}_TIMERS",
        scope.stack.names.kinds[kind.at()].to_uppercase()
    ));
    let count = own.timers.len();
    let mut id = base;
    if own.capacity > 1 {
        let index = scope.index(instance);
        let first = match count {
            1 => index,
            count => binary("*", atom(count.to_string()), index),
        };
        id = binary("+", id, first);
    }
    match timer.at() {
        0 => id,
        at => binary("+", id, atom(at.to_string())),
    }
}

/// Starts a timer anew.
pub fn start_timer(
    scope: &Scope,
    (instance, kind, timer): (Instance, KindId, TimerId),
    after: &Expression,
) -> S {
    let deadline = binary("+", atom("stack").behind("now_ns"), scope.stored(after));
    let all = atom("stack").behind("timers").address();
    let timer = timer_of(scope, instance, kind, timer);
    S::Do(call("sl_timers_start", vec![all, timer, deadline]))
}

/// Stops a timer.
pub fn stop_timer(scope: &Scope, instance: Instance, kind: KindId, timer: TimerId) -> S {
    let timer = timer_of(scope, instance, kind, timer);
    S::Do(call("sl_timer_stop", vec![timer]))
}

fn stack() -> C {
    atom("stack")
}

/// Puts a message in a queue, if it takes it.
pub fn push(scope: &Scope, queue: &Variable, message: LocalId) -> C {
    with_message(scope, "queue_push", queue, message)
}

/// Whether a queue takes one more.
pub fn has_room(scope: &Scope, queue: &Variable) -> C {
    let own = Container::new(scope, queue);
    let capacity = own.capacity();
    binary("<", own.itself.member("count"), capacity)
}

/// Whether a window takes a number.
pub fn takes(scope: &Scope, window: &Variable, number: &Expression) -> C {
    let own = Container::new(scope, window);
    let mut all = own.window(scope, false);
    all.push(scope.stored(number));
    call("sl_window_takes", all)
}

/// Takes the oldest message out of a queue, if there is one.
pub fn pop(scope: &Scope, queue: &Variable, into: LocalId) -> C {
    with_message(scope, "queue_pop", queue, into)
}

fn with_message(scope: &Scope, function: &str, queue: &Variable, message: LocalId) -> C {
    let own = Container::new(scope, queue);
    let capacity = own.capacity();
    let message = scope.message_address(message);
    call(
        function,
        vec![stack(), own.itself.address(), own.items, capacity, message],
    )
}

/// The slot for a new value in a queue.
pub fn push_value(scope: &Scope, queue: &Variable) -> C {
    let own = Container::new(scope, queue);
    let capacity = own.capacity();
    call("sl_ring_push", vec![own.itself.address(), capacity])
}

/// The slot of the oldest value of a queue, which leaves it.
pub fn pop_value(scope: &Scope, queue: &Variable) -> C {
    let own = Container::new(scope, queue);
    let capacity = own.capacity();
    call("sl_ring_pop", vec![own.itself.address(), capacity])
}

/// The slot that this call of the runtime gives of a window, by number.
pub fn slot_by_number(scope: &Scope, function: &str, window: &Variable, number: &Expression) -> C {
    let own = Container::new(scope, window);
    let mut all = own.window(scope, false);
    all.push(scope.stored(number));
    call(function, all)
}

/// The items of a queue or window.
pub fn items(scope: &Scope, queue: &Variable) -> C {
    scope.beside(queue, "", "_items")
}

/// A call on a window that takes or gives a message by its number.
pub fn by_number(
    scope: &Scope,
    function: &str,
    window: &Variable,
    number: &Expression,
    message: LocalId,
) -> C {
    let own = Container::new(scope, window);
    let mut all = vec![stack()];
    all.extend(own.window(scope, true));
    all.extend([scope.stored(number), scope.message_address(message)]);
    call(function, all)
}

/// Merges a message into a stream at a position, or at its end.
pub fn stream_insert(
    scope: &Scope,
    stream: &Variable,
    at: Option<&Expression>,
    message: LocalId,
) -> C {
    let own = Container::new(scope, stream);
    let at = match at {
        Some(at) => scope.stored(at),
        None => call("sl_stream_end", own.stream(scope)),
    };
    let (capacity, largest) = (own.capacity(), own.largest(scope));
    let message = scope.message_address(message);
    let all = vec![
        stack(),
        own.itself.address(),
        own.ranges,
        own.bytes,
        own.pieces.address(),
        capacity,
        largest,
        at,
        message,
    ];
    call("stream_insert", all)
}

/// A new message of bytes at the start of a stream, which then leave it.
pub fn stream_take(scope: &Scope, stream: &Variable, length: &Expression, into: LocalId) -> C {
    let own = Container::new(scope, stream);
    let (capacity, largest) = (own.capacity(), own.largest(scope));
    let all = vec![
        stack(),
        own.itself.address(),
        own.ranges,
        own.bytes,
        own.pieces.address(),
        capacity,
        largest,
        scope.stored(length),
        scope.message_address(into),
    ];
    call("stream_take", all)
}

/// A new message of bytes somewhere in a stream.
pub fn stream_slice(
    scope: &Scope,
    stream: &Variable,
    at: &Expression,
    length: &Expression,
    into: LocalId,
) -> C {
    let own = Container::new(scope, stream);
    let (capacity, largest) = (own.capacity(), own.largest(scope));
    let all = vec![
        stack(),
        own.itself.address(),
        own.ranges,
        own.bytes,
        capacity,
        largest,
        scope.stored(at),
        scope.stored(length),
        scope.message_address(into),
    ];
    call("stream_slice", all)
}

/// Lets go of all before a number or position; a stream tells how many bytes that are.
pub fn release(scope: &Scope, variable: &Variable, to: &Expression) -> C {
    let own = Container::new(scope, variable);
    let mut all = vec![stack()];
    match own.kind {
        Type::Stream(..) => {
            let (capacity, largest) = (own.capacity(), own.largest(scope));
            all.extend([
                own.itself.address(),
                own.ranges,
                own.pieces.address(),
                capacity,
                largest,
            ]);
            all.push(scope.stored(to));
            call("stream_release", all)
        }
        Type::Window(item, ..) if *item != Type::Message => {
            slot_by_number(scope, "window_forget", variable, to)
        }
        _ => {
            all.extend(own.window(scope, true));
            all.push(scope.stored(to));
            call("window_release", all)
        }
    }
}

/// Gives a stream its first position.
pub fn begin(scope: &Scope, stream: &Variable, at: &Expression) -> S {
    let own = Container::new(scope, stream);
    let all = vec![
        stack(),
        own.itself.address(),
        own.ranges,
        own.pieces.address(),
        scope.stored(at),
    ];
    S::Do(call("stream_begin", all))
}

/// Empties a set.
pub fn clear_set(scope: &Scope, set: &Variable) -> S {
    let own = Container::new(scope, set);
    let capacity = own.capacity();
    S::Do(call("sl_set_clear", vec![own.itself, capacity]))
}

/// All that a container holds is gone for a reason.
pub fn drop_all(scope: &Scope, variable: &Variable, reason: ReasonId) -> S {
    let own = Container::new(scope, variable);
    let reason = atom(&scope.stack.names.reasons[reason.at()]);
    let (function, rest) = match &own.kind {
        Type::Queue(item, _) if **item == Type::Message => (
            "drop_queue",
            vec![
                own.itself.clone().address(),
                own.items.clone(),
                own.capacity(),
            ],
        ),
        Type::Queue(..) => {
            let count = own.itself.member("count");
            return crate::c::tree::assign(count, atom("0"));
        }
        Type::Stream(..) => (
            "drop_stream",
            vec![
                own.itself.clone().address(),
                own.ranges.clone(),
                own.pieces.clone().address(),
                own.largest(scope),
            ],
        ),
        _ => ("drop_window", own.window(scope, true)),
    };
    let all = [vec![stack()], rest, vec![reason]].concat();
    S::Do(call(function, all))
}
