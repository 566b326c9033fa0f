//! The state of a stack: a struct for each kind of instances, and how they begin, are found, end.

use super::Stack;
use super::backlog;
use super::containers::{TIMERS, begin_timers, stop_timer};
use super::external;
use super::keys;
use super::layout::{self, named_members};
use super::listen;
use super::names::c_name;
use super::reacting::Shortcuts;
use super::scope::Scope;
use crate::c::tree::{
    Expression as C, Function, Item, Line, Statement as S, assign, atom, binary, call,
};
use crate::types::expression::{Expression, Instance};
use crate::types::lifetimes::Standing;
use crate::types::program::{Field, FieldId, Kind, KindId, Population, Role, TimerId};
use crate::types::value::{Type, Value};

/// More bytes than these are many for a field.
const LARGE: u64 = 64;

/// Bytes of a `struct sl_timer`.
const TIMER_BYTES: u64 = 40;

/// Whether instances of a kind hold anything.
pub fn has_struct(stack: &Stack, id: KindId) -> bool {
    let kind = &stack.program.kinds[id.at()];
    !kind.fields.is_empty() || !kind.timers.is_empty() || stores_keys(kind)
}

/// Keys of instances that always exist are constants, but where the instance is known only here.
fn stores_keys(kind: &Kind) -> bool {
    !kind.keys.is_empty()
        && (!matches!(kind.population, Population::Static(_)) || kind.capacity > 1)
}

fn line(text: String, comment: &str) -> Line {
    Line {
        text,
        comment: comment.to_string(),
    }
}

/// What a kind is, for people.
fn described(stack: &Stack, kind: &Kind) -> String {
    let entity = &stack.program.entities[kind.entity.at()].name;
    match kind.role {
        Role::Record => format!("{entity}: what its sessions share"),
        Role::Session => format!("{entity}: a session"),
        Role::Child => format!("{entity}: a {}", kind.name),
    }
}

/// The struct of a kind, whose instances may have something for shortcuts.
pub fn structure(stack: &Stack, id: KindId, shortcuts: &Shortcuts) -> Item {
    let kind = &stack.program.kinds[id.at()];
    let mut all = Vec::new();
    if stores_keys(kind) {
        for key in keys::stored(stack, kind) {
            all.extend(named_members(
                stack,
                &key.kind,
                &c_name(&key.name),
                "its key",
            ));
        }
    }
    let [near, far] = in_order(stack, kind, shortcuts);
    let member = |(at, field): (u32, &Field)| {
        let comment = listen::comment(stack, id, FieldId(at));
        let [own, _] = layout::instance_members(stack, field, comment);
        own
    };
    let name = &stack.names.kinds[id.at()];
    all.extend(near.into_iter().flat_map(member));
    all.extend(shortcuts.members_of(name));
    all.extend(far.into_iter().flat_map(member));
    all.extend(kind.fields.iter().flat_map(|field| {
        let [_, buffers] = layout::instance_members(stack, field, "");
        buffers
    }));
    all.extend(timers_of(kind));
    Item::Struct {
        comment: described(stack, kind),
        name: name.clone(),
        members: all,
    }
}

/// The fields of a kind in their order, each with its number: those that fast paths ask for stand
/// where an instance begins, so that they are near each other, and others behind them; what is
/// large stands behind these. What a container holds needs no first value, and stands behind all.
fn in_order<'k>(
    stack: &Stack,
    kind: &'k Kind,
    shortcuts: &Shortcuts,
) -> [Vec<(u32, &'k Field)>; 2] {
    let is_large = |field: &Field| layout::field_bytes(stack, field) > LARGE;
    let is_near = |field: &Field| shortcuts.near.contains(&c_name(&field.name));
    let all = (0..).zip(&kind.fields);
    let (far, mut near): (Vec<_>, Vec<_>) = all.partition(|(_, field)| is_large(field));
    near.sort_by_key(|(_, field)| !is_near(field));
    [near, far]
}

/// The member that holds the timers of an instance. It is the last: when the next instance begins
/// there, they may still be in the heap.
fn timers_of(kind: &Kind) -> Option<Line> {
    let each = |name: &String| format!("        struct sl_timer {};\n", c_name(name));
    let all: String = kind.timers.iter().map(each).collect();
    let text = format!("struct {{\n{all}    }} {TIMERS}");
    (!all.is_empty()).then(|| line(text, ""))
}

/// Bytes that an instance of a kind takes.
pub fn bytes(stack: &Stack, id: KindId, shortcuts: &Shortcuts) -> u64 {
    let kind = &stack.program.kinds[id.at()];
    let keys = keys::stored(stack, kind).into_iter().map(|key| &key.kind);
    let keys = keys.filter(|_| stores_keys(kind));
    let fields = in_order(stack, kind, shortcuts);
    let fields = fields.map(|some| some.into_iter().map(|(_, field)| field).collect());
    let structs = shortcuts.sizes_of(id);
    let all = layout::instance_bytes(stack, keys, fields, &structs, &kind.fields);
    match kind.timers.len() as u64 {
        0 => all,
        timers => all.next_multiple_of(8) + timers * TIMER_BYTES,
    }
}

/// Buckets for so many instances: a power of two, not less, of which there are several.
pub fn buckets(capacity: u32) -> u32 {
    capacity.next_power_of_two().max(2)
}

/// The members of the stack that hold the instances of a kind.
pub fn instances(stack: &Stack, id: KindId) -> Vec<Line> {
    let kind = &stack.program.kinds[id.at()];
    let name = &stack.names.kinds[id.at()];
    let mut all = Vec::new();
    if has_struct(stack, id) {
        let many = if kind.capacity > 1 {
            format!("[{}]", kind.capacity)
        } else {
            String::new()
        };
        all.push(line(format!("struct {name} {name}{many}"), ""));
    }
    if stack.pool_of(id) == id && !super::output::is_static(stack, id) {
        all.push(line(
            format!("struct sl_pool {name}_pool"),
            "which of them exist",
        ));
        all.push(line(format!("uint32_t {name}_next[{}]", kind.capacity), ""));
        all.push(line(format!("bool {name}_ended[{}]", kind.capacity), ""));
        if !kind.keys.is_empty() {
            let count = buckets(kind.capacity);
            all.push(line(
                format!("uint32_t {name}_buckets[{count}]"),
                "by hash of the key",
            ));
            if stack.refound.contains(&id) {
                let last = format!("uint32_t {name}_last");
                all.push(line(last, "the one that was found last, plus one; or 0"));
            }
            all.extend(keys::ways(kind).map(|ways| {
                let counts = format!("uint32_t {name}_alike[{ways}]");
                line(counts, "how many have the same of the optional keys")
            }));
        }
    }
    all
}

/// The statements that give a field of an instance its first value, where that is not all zero.
pub fn initial(scope: &mut Scope, field: &Field, place: &C) -> Vec<S> {
    let name = c_name(&field.name);
    let Some(value) = &field.initial else {
        return Vec::new();
    };
    let own = place.clone().member(&name);
    if let Type::Window(..) = field.kind {
        let edge = vec![own.address(), scope.stored(value)];
        return vec![S::Do(call("sl_window_begin", edge))];
    }
    if is_zero(&value.kind) {
        return Vec::new();
    }
    if external::gives_optional(scope.stack, value) {
        let has = place.clone().member(format!("has_{name}"));
        return external::take_optional(scope, value, has, own);
    }
    match &field.kind {
        Type::Array(_, capacity) => vec![S::For {
            start: "uint32_t at = 0".to_string(),
            condition: binary("<", atom("at"), atom(capacity.to_string())),
            step: "at++".to_string(),
            body: vec![assign(own.element(atom("at")), scope.stored(value))],
        }],
        Type::Queue(..) | Type::Window(..) | Type::Set(_) => Vec::new(),
        Type::Stream(..) => vec![assign(own.member("begin"), scope.stored(value))],
        Type::Optional(_) => vec![
            assign(
                place.clone().member(format!("has_{name}")),
                scope.present(value),
            ),
            assign(own, scope.unwrapped(value)),
        ],
        _ => vec![assign(own, scope.stored(value))],
    }
}

/// Whether a value is what memory begins as.
pub fn is_zero(kind: &crate::types::expression::ExpressionKind) -> bool {
    use crate::types::expression::ExpressionKind;
    match kind {
        ExpressionKind::Constant(Value::Bytes(bytes)) => bytes.iter().all(|byte| *byte == 0),
        kind => matches!(
            kind,
            ExpressionKind::Constant(Value::None | Value::Number(0))
        ),
    }
}

/// An instance comes into being: all zero, then what begins as something else.
fn begin(stack: &Stack, id: KindId) -> Option<Function> {
    let kind = &stack.program.kinds[id.at()];
    if !has_struct(stack, id) {
        return None;
    }
    let name = &stack.names.kinds[id.at()];
    let mut scope = Scope::new(stack, &[]);
    scope.own = Some(atom("n"));
    let place = scope.instance(Instance::Own, id);
    let mut body = Vec::new();
    let keep_keys = stores_keys(kind);
    if !super::output::is_static(stack, id) {
        body.extend(zeroed(stack, kind, name, place.clone().address()));
    }
    if keep_keys {
        for (member, given) in keys::members(kind).into_iter().zip(keys::names(kind)) {
            if let C::Atom(member) = member {
                body.push(assign(place.clone().member(member), given));
            }
        }
    }
    for field in &kind.fields {
        body.extend(initial(&mut scope, field, &place));
    }
    if body.is_empty() {
        return None;
    }
    let mut all = vec![format!("struct {} *stack", stack.names.stack)];
    if kind.capacity > 1 {
        all.push("uint32_t n".to_string());
    }
    if keep_keys {
        all.extend(keys::parameters_of(stack, kind));
    }
    Some(Function {
        comment: String::new(),
        result: "static void".to_string(),
        name: format!("begin_{name}"),
        parameters: all,
        body,
    })
}

/// Whether instances of a kind have more than timers.
pub fn holds(kind: &Kind) -> bool {
    !kind.fields.is_empty() || stores_keys(kind)
}

/// All of an instance becomes zero but what is written before it is read, and its timers.
fn zeroed(stack: &Stack, kind: &Kind, name: &str, place: C) -> Option<S> {
    let timers = (!kind.timers.is_empty()).then(|| TIMERS.to_string());
    let bytes = match layout::first_buffer(stack, &kind.fields).or(timers) {
        None => format!("sizeof(struct {name})"),
        Some(member) => format!("offsetof(struct {name}, {member})"),
    };
    holds(kind).then(|| S::Do(call("memset", vec![place, atom("0"), atom(bytes)])))
}

/// The functions of a kind: how its instances begin, are found, created, ended and freed.
pub fn functions(stack: &Stack, id: KindId) -> Vec<Function> {
    let mut all: Vec<Function> = begin(stack, id).into_iter().collect();
    if super::output::is_static(stack, id) {
        return all;
    }
    let kind = &stack.program.kinds[id.at()];
    if stack.pool_of(id) == id {
        if kind.keys.is_empty() {
            all.push(keys::find_only(stack, id));
        } else {
            all.push(keys::hash(stack, id, kind));
            all.push(keys::find(stack, id, kind));
            if stack.refound.contains(&id) {
                all.push(keys::find_again(stack, id, kind));
            }
        }
        if stack.program.stands_on(id).is_some() {
            all.push(super::standing::first(stack, id));
        }
        all.extend(super::soonest::functions(stack, id));
        all.push(create(stack, id, kind));
        let keys = (keys::parameters_of(stack, kind), keys::names(kind));
        all.extend(backlog::make(stack, id, keys));
        all.push(free(stack, id));
    }
    all.extend(end(stack, id, kind));
    all
}

/// The condition under which an instance of a dynamic kind is there.
pub fn exists(stack: &Stack, id: KindId, index: &str) -> C {
    let own = stack.pool_of(id);
    let pool = member(stack, own, "pool").address();
    let next = member(stack, own, "next");
    call("sl_pool_has", vec![pool, next, atom(index)])
}

/// A member of the stack that belongs to a kind.
pub fn member(stack: &Stack, id: KindId, suffix: &str) -> C {
    atom("stack").behind(format!("{}_{suffix}", stack.names.kinds[id.at()]))
}

/// The parameter that is the stack.
pub fn pointer(stack: &Stack, constant: bool) -> String {
    let before = if constant { "const " } else { "" };
    format!("{before}struct {} *stack", stack.names.stack)
}

fn create(stack: &Stack, id: KindId, kind: &Kind) -> Function {
    let [pool, next, ended] = ["pool", "next", "ended"].map(|suffix| member(stack, id, suffix));
    let capacity = atom(kind.capacity.to_string());
    let n = || atom("n");
    let taken = call("sl_pool_take", vec![pool.address(), next.clone(), capacity]);
    let mut body = vec![
        S::Declare {
            kind: "const uint32_t".to_string(),
            name: "n".to_string(),
            value: Some(taken),
        },
        S::If {
            condition: binary("==", n(), atom("SL_NONE")),
            then: vec![S::Return(Some(atom("SL_NONE")))],
            otherwise: Vec::new(),
        },
        assign(ended.element(n()), atom("false")),
    ];
    if !kind.keys.is_empty() {
        let bucket = keys::bucket_of(stack, id, kind);
        let link = vec![member(stack, id, "buckets"), next, bucket, n()];
        body.push(S::Do(call("sl_pool_link", link)));
        let counted = keys::alike(stack, id, kind, atom);
        body.extend(counted.map(|count| S::Assign(count, "+=", atom("1"))));
        body.extend(keys::forget_last(stack, id));
    }
    let living = stack.program.living_with(id).into_iter();
    body.extend(living.filter_map(|standing| begun(stack, standing)));
    body.push(S::Return(Some(n())));
    Function {
        comment: "A new instance; SL_NONE if there is no room for it.".to_string(),
        result: "static uint32_t".to_string(),
        name: format!("create_{}", stack.names.kinds[id.at()]),
        parameters: [
            vec![pointer(stack, false)],
            keys::parameters_of(stack, kind),
        ]
        .concat(),
        body,
    }
}

/// An instance begins that has just been made, or lives with it.
fn begun(stack: &Stack, standing: Standing) -> Option<S> {
    begin(stack, standing.kind)?;
    let own = &stack.program.kinds[standing.kind.at()];
    let mut all = vec![atom("stack")];
    if own.capacity > 1 {
        all.push(standing_on(standing, "n"));
    }
    match (&own.population, standing.label) {
        (Population::Labelled(labels), Some(label)) => {
            all.extend(constant_keys(stack, own, &labels[label as usize].keys));
            all.push(atom("n"));
        }
        _ if stores_keys(own) => all.extend(keys::names(own)),
        _ => {}
    }
    let begins = format!("begin_{}", stack.names.kinds[standing.kind.at()]);
    Some(S::Do(call(begins, all)))
}

/// The number of the instance that stands on one below.
fn standing_on(standing: Standing, below: &str) -> C {
    match standing.first {
        0 => atom(below),
        first => binary("+", atom(below), atom(first.to_string())),
    }
}

/// Keys that a stack writes, as they are handed on.
fn constant_keys(stack: &Stack, kind: &Kind, keys: &[Value]) -> Vec<C> {
    let scope = Scope::new(stack, &[]);
    let keys = kind.keys.iter().zip(keys);
    let keys = keys.map(|(key, value)| Expression::constant(value.clone(), key.kind.clone()));
    keys.flat_map(|value| scope.arguments(&value)).collect()
}

fn end(stack: &Stack, id: KindId, kind: &Kind) -> Option<Function> {
    if !stack.has_end(id) {
        return None;
    }
    let mut scope = Scope::new(stack, &[]);
    scope.own = Some(atom("n"));
    let mut body = Vec::new();
    if stack.pool_of(id) == id {
        let ended = member(stack, id, "ended").element(atom("n"));
        body.push(S::If {
            condition: ended.clone(),
            then: vec![S::Return(None)],
            otherwise: Vec::new(),
        });
        body.push(assign(ended, atom("true")));
        if !kind.keys.is_empty() {
            let place = scope.instance(Instance::Own, id);
            let stored = keys::members(kind).into_iter().map(|key| match key {
                C::Atom(name) => place.clone().member(name),
                other => other,
            });
            let name = format!("bucket_{}", stack.names.kinds[id.at()]);
            let bucket = call(name, [vec![atom("stack")], stored.collect()].concat());
            let [buckets, next] = ["buckets", "next"].map(|suffix| member(stack, id, suffix));
            body.push(S::Do(call(
                "sl_pool_unlink",
                vec![buckets, next, bucket, atom("n")],
            )));
            let counted = keys::alike(stack, id, kind, |has| place.clone().member(has));
            body.extend(counted.map(|count| S::Assign(count, "-=", atom("1"))));
            body.extend(keys::forget_last(stack, id));
        }
    }
    body.extend(listen::end(stack, id));
    body.extend(stops(stack, id, atom("n")));
    Some(super::with_all_used(Function {
        comment: "The instance is found no more.".to_string(),
        result: "static void".to_string(),
        name: format!("end_{}", stack.names.kinds[id.at()]),
        parameters: vec![pointer(stack, false), "uint32_t n".to_string()],
        body,
    }))
}

/// All timers of an instance stop.
fn stops(stack: &Stack, id: KindId, instance: C) -> impl Iterator<Item = S> {
    let mut scope = Scope::new(stack, &[]);
    scope.own = Some(instance);
    let timers = 0..stack.program.kinds[id.at()].timers.len() as u32;
    timers.map(move |timer| stop_timer(&scope, Instance::Own, id, TimerId(timer)))
}

fn free(stack: &Stack, id: KindId) -> Function {
    // What came to them since they ended may have started some.
    let living = stack.program.living_with(id).into_iter();
    let started = living.flat_map(|one| stops(stack, one.kind, standing_on(one, "n")));
    let [pool, next] = ["pool", "next"].map(|suffix| member(stack, id, suffix));
    let held = call(
        "sl_pool_has",
        vec![pool.clone().address(), next.clone(), atom("n")],
    );
    Function {
        comment: "The slot of an instance that has ended can be taken again.".to_string(),
        result: "static void".to_string(),
        name: format!("free_{}", stack.names.kinds[id.at()]),
        parameters: vec![pointer(stack, false), "uint32_t n".to_string()],
        body: Vec::from_iter(started.chain([S::If {
            condition: held,
            then: vec![S::Do(call(
                "sl_pool_give",
                vec![pool.address(), next, atom("n")],
            ))],
            otherwise: Vec::new(),
        }])),
    }
}

/// All timers begin, before anything else does.
fn timers_begin(stack: &Stack, id: KindId) -> Vec<S> {
    let mut scope = Scope::new(stack, &[]);
    scope.own = Some(atom("n"));
    let body = begin_timers(&scope, Instance::Own, id);
    match stack.program.kinds[id.at()].capacity {
        _ if body.is_empty() => Vec::new(),
        1 => body,
        capacity => vec![S::For {
            start: "uint32_t n = 0".to_string(),
            condition: binary("<", atom("n"), atom(capacity.to_string())),
            step: "n++".to_string(),
            body,
        }],
    }
}

/// Settings that are no values of their types are wrong, and behind short bytes stand zeros.
pub fn settings(stack: &Stack) -> Vec<S> {
    let mut body = Vec::new();
    for one in &stack.program.config {
        let member = |name: String| atom("stack").behind("config").member(name);
        let place = member(c_name(&one.name));
        let (inner, there) = match &one.kind {
            Type::Optional(inner) => {
                let there = member(format!("has_{}", c_name(&one.name)));
                (&**inner, Some(there))
            }
            other => (other, None),
        };
        let other = layout::is_other(inner, place.clone());
        body.extend(other.map(|other| S::If {
            condition: match there {
                Some(there) => binary("&&", there, other),
                None => other,
            },
            then: vec![S::Return(Some(atom("false")))],
            otherwise: Vec::new(),
        }));
        if let Type::BoundedBytes(_) = inner {
            body.extend(layout::held_in_place(stack, inner, place));
        }
    }
    body
}

/// What is done at the start, above all for the instances that exist from the start.
pub fn at_start(stack: &Stack) -> Vec<S> {
    let kinds = (0..stack.program.kinds.len() as u32).map(KindId);
    let mut all = Vec::from_iter(kinds.flat_map(|id| timers_begin(stack, id)));
    for (at, kind) in stack.program.kinds.iter().enumerate() {
        let id = KindId(at as u32);
        let Population::Static(instances) = &kind.population else {
            continue;
        };
        if begin(stack, id).is_none() {
            continue;
        }
        for (n, instance) in instances.iter().enumerate() {
            let mut arguments = vec![atom("stack")];
            if kind.capacity > 1 {
                arguments.push(atom(n.to_string()));
            }
            if stores_keys(kind) {
                arguments.extend(constant_keys(stack, kind, &instance.keys));
            }
            all.push(S::Do(call(
                format!("begin_{}", stack.names.kinds[at]),
                arguments,
            )));
        }
    }
    all
}

/// The kinds that have timers, with the first id of each; and how many ids there are.
pub fn timers(stack: &Stack) -> (Vec<(KindId, u32)>, u32) {
    let mut all = Vec::new();
    let mut next = 0;
    for (at, kind) in stack.program.kinds.iter().enumerate() {
        if !kind.timers.is_empty() {
            all.push((KindId(at as u32), next));
            next += kind.capacity * kind.timers.len() as u32;
        }
    }
    (all, next)
}
