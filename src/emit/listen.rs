//! Sessions and listeners from above: what opening and listening are given, the sessions that wait
//! to be accepted, and what an application learns of them.
//!
//! The structs and calls of a port come from here to `port`; what instances do when a session is
//! made or ends, to `state`.

use super::Stack;
use super::backlog;
use super::external;
use super::keys::parameter_name;
use super::layout::{c_type, held, member_names, named_members};
use super::leaves::TAKES_SPARE;
use super::names::c_name;
use super::port::condition;
use super::scope::Scope;
use super::state;
use crate::c::printer;
use crate::c::tree::{
    Expression as C, Function, Item, Line, Statement as S, assign, atom, binary, call,
};
use crate::tree::{Index, Reaction};
use crate::types::expression::{Instance, Variable};
use crate::types::opening::Listening;
use crate::types::program::{Event, FieldId, Key, KindId, Port, PortId};
use crate::types::value::Type;

/// A key as it is given: one that may be left out is optional.
pub fn given(key: &Key) -> Type {
    match key.default {
        Some(_) => Type::Optional(Box::new(key.kind.clone())),
        None => key.kind.clone(),
    }
}

/// The names of the C members of the keys of a kind.
pub fn key_members(stack: &Stack, kind: KindId) -> Vec<String> {
    let keys = stack.program.kinds[kind.at()].keys.iter();
    keys.flat_map(|key| member_names(&given(key), &key.name))
        .collect()
}

/// What a session or listener is found by, and what an application is told that accepts one.
pub fn structs(stack: &Stack, port: &Port) -> Vec<Item> {
    let name = format!("{}_{}", stack.names.stack, port.name);
    let listener = port.listens.map(|how| how.listener);
    let of = [
        (port.opens, "session", "keys"),
        (listener, "listener", "listener_keys"),
    ];
    let mut all = Vec::new();
    for (kind, what, tag) in of {
        let keys = kind.map(|kind| &stack.program.kinds[kind.at()].keys);
        let Some(keys) = keys.filter(|keys| !keys.is_empty()) else {
            continue;
        };
        let left_out: Vec<_> = keys.iter().filter(|key| key.default.is_some()).collect();
        let names: Vec<&str> = left_out.iter().map(|key| key.name.as_str()).collect();
        let found = match names.is_empty() {
            true => String::new(),
            false => format!(" The stack chooses what is left out: {}.", names.join(", ")),
        };
        all.push(Item::Struct {
            comment: format!("The keys that identify a {what} of {}.{found}", port.name),
            name: format!("{name}_{tag}"),
            members: keys
                .iter()
                .flat_map(|key| named_members(stack, &given(key), &c_name(&key.name), ""))
                .collect(),
        });
    }
    if port.listens.is_some() {
        let line = |text: String, comment: &str| Line {
            text,
            comment: comment.to_string(),
        };
        all.push(Item::Struct {
            comment: format!("A session that a listener of {} made.", port.name),
            name: format!("{name}_accepted"),
            members: vec![
                line(
                    "uint32_t listener".to_string(),
                    "the listener; UINT32_MAX if it has ended",
                ),
                line(
                    format!("struct {name}_keys keys"),
                    "the keys of the session",
                ),
            ],
        });
    }
    all
}

/// The heads of the functions of sessions and listeners, and what they do.
pub fn functions(stack: &Stack, port: &Port) -> Vec<[String; 3]> {
    let name = &stack.names.stack;
    let own = &port.name;
    let Some(session) = port.opens else {
        return Vec::new();
    };
    let keys = |kind: KindId, tag: &str| match stack.program.kinds[kind.at()].keys.is_empty() {
        true => String::new(),
        false => format!("const struct {name}_{own}_{tag} *keys, "),
    };
    let with = keys(session, "keys");
    let mut all = vec![[
        format!(
            "Opens a session of {own} and returns its number, or UINT32_MAX if there is no room \
             or already a session with these keys."
        ),
        format!("uint32_t {name}_{own}_open(struct {name} *stack, {with}uint64_t now_ns)"),
        open_body(stack, port, session),
    ]];
    if !with.is_empty() {
        all.push([
            format!(
                "Copies the keys of a session of {own}. Returns false if there is no such session."
            ),
            format!(
                "bool {name}_{own}_keys_of(const struct {name} *stack, uint32_t session, \
                 struct {name}_{own}_keys *keys)"
            ),
            keys_of_body(stack, session),
        ]);
    }
    if let Some(how) = port.listens {
        let with = keys(how.listener, "listener_keys");
        all.push([
            format!(
                "Opens a listener of {own}, at which at most `backlog` sessions wait to be \
                 accepted. Returns its number, or UINT32_MAX if there is no room or already a \
                 listener with these keys."
            ),
            format!(
                "uint32_t {name}_{own}_listen(struct {name} *stack, {with}unsigned backlog, \
                 uint64_t now_ns)"
            ),
            listen_body(stack, how),
        ]);
        all.push([
            format!(
                "Ends a listener of {own}. Its sessions stay; those that wait are still \
                 accepted."
            ),
            format!(
                "void {name}_{own}_unlisten(struct {name} *stack, uint32_t listener, \
                 uint64_t now_ns)"
            ),
            unlisten_body(stack, how),
        ]);
    }
    all
}

/// What those functions put on the agenda.
pub fn queued(stack: &Stack, port: &Port) -> Vec<Reaction> {
    let opened = port.opens.map(|kind| starts(stack, port, kind));
    let listening = port.listens.map(|how| {
        let [start, end] = [Event::Start, Event::End].map(|event| any(how.listener, event));
        [start, end]
    });
    let all = opened.into_iter().flatten();
    let mut all: Vec<Reaction> = all.chain(listening.into_iter().flatten()).collect();
    all.retain(|reaction| stack.tree(*reaction).is_some());
    all
}

fn any(kind: KindId, event: Event) -> Reaction {
    let index = Index::Any;
    Reaction::Handle { kind, index, event }
}

/// What happens to a session that was opened, and to those that stand on it.
fn starts(stack: &Stack, port: &Port, kind: KindId) -> Vec<Reaction> {
    let living = stack.program.living_with(kind).into_iter();
    let starts = living.map(|standing| Reaction::Handle {
        kind: standing.kind,
        index: standing.label.map_or(Index::Any, Index::Label),
        event: Event::Start,
    });
    let mut events: Vec<Reaction> = starts.collect();
    let mut down = port.down.iter();
    let opened = down.find(|id| stack.program.notices[id.at()].name == "open");
    events.extend(opened.and_then(|id| super::port::below(stack, port, Event::Notice(*id))));
    events.retain(|reaction| stack.tree(*reaction).is_some());
    events
}

fn open_body(stack: &Stack, port: &Port, kind: KindId) -> String {
    let mut text = TAKES_SPARE.to_string() + &created(stack, kind, "session");
    for reaction in starts(stack, port, kind) {
        text += &later(stack, reaction, "session");
    }
    text + "    run(stack);\n    return session;\n"
}

fn listen_body(stack: &Stack, how: Listening) -> String {
    let mut text = TAKES_SPARE.to_string() + &created(stack, how.listener, "listener");
    let backlog = assign(
        field(stack, how.listener, "listener", how.backlog),
        atom("backlog"),
    );
    text += &printer::block(&[backlog], 1);
    let start = any(how.listener, Event::Start);
    if stack.tree(start).is_some() {
        text += &later(stack, start, "listener");
    }
    text + "    run(stack);\n    return listener;\n"
}

fn unlisten_body(stack: &Stack, how: Listening) -> String {
    let name = &stack.names.kinds[how.listener.at()];
    let lives = state::exists(stack, how.listener, "listener");
    let end = any(how.listener, Event::End);
    let body = [
        S::Do(call("begin_call", vec![atom("stack"), atom("now_ns")])),
        S::If {
            condition: lives.negated(),
            then: vec![S::Return(None)],
            otherwise: Vec::new(),
        },
        S::Do(call(
            format!("end_{name}"),
            vec![atom("stack"), atom("listener")],
        )),
    ];
    TAKES_SPARE.to_string()
        + &printer::block(&body, 1)
        + &later(stack, end, "listener")
        + "    run(stack);\n"
}

fn keys_of_body(stack: &Stack, kind: KindId) -> String {
    let exists = state::exists(stack, kind, "session");
    let mut text = condition(exists.negated(), "return false;");
    text += &printer::block(&copied(stack, kind, &|name| atom("keys").behind(name)), 1);
    text + "    return true;\n"
}

/// The keys of a session, written to a struct of keys.
fn copied(stack: &Stack, kind: KindId, to: &dyn Fn(&str) -> C) -> Vec<S> {
    let place = instance(stack, kind, "session");
    let mut all = Vec::new();
    for key in &stack.program.kinds[kind.at()].keys {
        let name = c_name(&key.name);
        let has = format!("has_{name}");
        let there = match (&key.default, &key.kind) {
            (Some(_), _) => Some(atom("true")),
            (None, Type::Optional(_)) => Some(place.clone().member(&has)),
            (None, _) => None,
        };
        all.extend(there.map(|there| assign(to(&has), there)));
        all.push(assign(to(&name), place.clone().member(&name)));
    }
    all
}

/// A call of the host that makes an instance: the keys that it was not given are found, and no
/// other has these keys.
fn created(stack: &Stack, kind: KindId, local: &str) -> String {
    let own = &stack.program.kinds[kind.at()];
    let name = &stack.names.kinds[kind.at()];
    let keys: Vec<C> = own
        .keys
        .iter()
        .flat_map(|key| handed_on(stack, key))
        .collect();
    let keys = [vec![atom("stack")], keys].concat();
    let none = || atom("SL_NONE");
    let refused = |condition: C| S::If {
        condition,
        then: vec![S::Return(Some(none()))],
        otherwise: Vec::new(),
    };
    // A start for each kind that stands on it, and the notice that it is open.
    let standing = stack.program.living_with(kind).len();
    let waits = external::refused(stack, standing + 1);
    let find = call(format!("find_{name}"), keys.clone());
    let known = (!own.keys.is_empty()).then(|| binary("!=", find, none()));
    let below = stack.program.stands_on(kind).zip(own.keys.last());
    let gone = below.map(|(below, key)| {
        let index = format!("keys->{}", c_name(&key.name));
        state::exists(stack, below, &index).negated()
    });
    let any = |one, other| binary("||", one, other);
    let known = known.into_iter().chain(gone).reduce(any);
    let mut body = vec![S::Do(call(
        "begin_call",
        vec![atom("stack"), atom("now_ns")],
    ))];
    if own.keys.iter().any(|key| key.default.is_some()) {
        body.push(refused(waits));
        body.extend((0..own.keys.len()).flat_map(|at| found(stack, kind, at)));
        body.extend(known.map(refused));
    } else {
        body.push(refused(match known {
            Some(known) => any(waits, known),
            None => waits,
        }));
    }
    body.push(S::Declare {
        kind: "const uint32_t".to_string(),
        name: local.to_string(),
        value: Some(call(format!("create_{name}"), keys)),
    });
    body.push(refused(binary("==", atom(local), none())));
    printer::block(&body, 1)
}

/// A key as instances are found and made with it: as it was given, or as it was found.
fn handed_on(stack: &Stack, key: &Key) -> Vec<C> {
    if key.default.is_some() {
        return vec![atom(parameter_name(&key.name))];
    }
    let members = member_names(&key.kind, &key.name).into_iter();
    let mut all: Vec<C> = members.map(|member| atom("keys").behind(member)).collect();
    let value = all.pop().expect("a key has a value");
    all.push(held(stack, &key.kind, value));
    all
}

/// A key that may be left out, in a local of its own.
fn found(stack: &Stack, kind: KindId, at: usize) -> Vec<S> {
    let keys = &stack.program.kinds[kind.at()].keys;
    let key = &keys[at];
    let Some(default) = &key.default else {
        return Vec::new();
    };
    let given = default.given.iter();
    let given = given.flat_map(|key| handed_on(stack, &keys[key.at()]));
    let called = super::function::call_with(stack, default.function, given.collect());
    let result = &stack.program.functions[default.function.at()].result;
    let (name, own) = (parameter_name(&key.name), c_name(&key.name));
    let given = |member: &str| atom("keys").behind(member);
    let then = match result {
        Type::Optional(_) => vec![
            S::Declare {
                kind: format!("const {}", c_type(stack, result)),
                name: "found".to_string(),
                value: Some(called),
            },
            S::If {
                condition: atom("found").member("present").negated(),
                then: vec![S::Return(Some(atom("SL_NONE")))],
                otherwise: Vec::new(),
            },
            assign(atom(&name), atom("found").member("value")),
        ],
        _ => vec![assign(atom(&name), called)],
    };
    vec![
        S::Declare {
            kind: c_type(stack, &key.kind),
            name: name.clone(),
            value: Some(held(stack, &key.kind, given(&own))),
        },
        S::If {
            condition: given(&format!("has_{own}")).negated(),
            then,
            otherwise: Vec::new(),
        },
    ]
}

fn later(stack: &Stack, reaction: Reaction, instance: &str) -> String {
    printer::block(&[external::put(stack, reaction, instance, Vec::new())], 1)
}

/// Hands a session that waits to the application.
pub fn upward(stack: &Stack, id: PortId) -> Item {
    let how = stack.program.ports[id.at()].listens;
    let how = how.expect("what is accepted was made by a listener");
    let waits = field(stack, how.session, "session", how.waits);
    let mut body = vec![S::If {
        condition: waits.negated(),
        then: vec![S::Return(None)],
        otherwise: Vec::new(),
    }];
    body.extend(answered(stack, id, how));
    let port = &stack.program.ports[id.at()].name;
    Item::Function(Function {
        comment: format!("{port}: a session that a listener made"),
        result: "static void".to_string(),
        name: stack.names.ports[&(id, Event::Start)].clone(),
        parameters: vec![
            format!("struct {} *stack", stack.names.stack),
            "uint32_t session".to_string(),
        ],
        body,
    })
}

/// Where a notice is told in whose place a session is accepted.
pub fn in_place_of(stack: &Stack, id: PortId, event: Event) -> String {
    let (Event::Notice(notice), Some(how)) = (event, stack.program.listened(id)) else {
        return String::new();
    };
    let listens = stack.program.ports[id.at()].listens.is_some();
    if how.opened != Some(notice) || !listens {
        return match stack.program.notices[notice.at()].message {
            true => String::new(),
            false => unheard(stack, how),
        };
    }
    let mut then = answered(stack, id, how);
    then.push(S::Return(None));
    let accepted = S::If {
        condition: field(stack, how.session, "session", how.waits),
        then,
        otherwise: Vec::new(),
    };
    printer::block(&[accepted], 1) + &unheard(stack, how)
}

/// Nothing is told of a session that the application has not heard of.
fn unheard(stack: &Stack, how: Listening) -> String {
    let unknown = field(stack, how.session, "session", how.unknown);
    condition(unknown, "return;")
}

fn answered(stack: &Stack, id: PortId, how: Listening) -> Vec<S> {
    let stack_name = &stack.names.stack;
    let own = |one| field(stack, how.session, "session", one);
    let output = |member: &str| atom("output").behind(member);
    let name = format!("{}_accepted", stack.program.ports[id.at()].name);
    let accepted = output("with").member(name);
    let keys = accepted.clone().member("keys");
    let next = atom(format!("{}_ACCEPTED", stack_name.to_uppercase()));
    let mut all = vec![
        backlog::place_back(stack, how, "session"),
        assign(own(how.waits), atom("false")),
        assign(own(how.unknown), atom("false")),
        S::Declare {
            kind: format!("struct {stack_name}_output *const"),
            name: "output".to_string(),
            value: Some(call("answer", vec![atom("stack"), next])),
        },
        assign(output("place"), atom(id.at().to_string())),
        assign(output("session"), atom("session")),
        assign(output("data"), atom("NULL")),
        assign(output("length"), atom("0")),
        assign(output("buffer"), atom("NULL")),
        assign(accepted.member("listener"), own(how.made_by)),
    ];
    all.extend(copied(stack, how.session, &|name| {
        keys.clone().member(name)
    }));
    all
}

/// What else happens when an instance ends: a session that waits gives its place back, and what
/// waits at a listener waits at nobody.
pub fn end(stack: &Stack, kind: KindId) -> Vec<S> {
    let Some((id, how)) = stack.program.listening(kind) else {
        return Vec::new();
    };
    if kind == how.session {
        let waits = field(stack, kind, "n", how.waits);
        let given_back = S::If {
            condition: waits.clone(),
            then: vec![backlog::place_back(stack, how, "n")],
            otherwise: Vec::new(),
        };
        return vec![given_back, assign(waits, atom("false"))];
    }
    let every = |local: &str, count: C, condition: C, then: S| S::For {
        start: format!("uint32_t {local} = 0"),
        condition: binary("<", atom(local), count),
        step: format!("{local}++"),
        body: vec![S::If {
            condition,
            then: vec![then],
            otherwise: Vec::new(),
        }],
    };
    let n = || atom("n");
    let made_by = field(stack, how.session, "session", how.made_by);
    let capacity = stack.program.kinds[how.session.at()].capacity;
    let output = atom("stack").behind("answers").element(atom("at"));
    let name = format!("{}_accepted", stack.program.ports[id.at()].name);
    let listener = output
        .clone()
        .member("with")
        .member(name)
        .member("listener");
    let same = backlog::is_accepted(stack, id, &|member| output.clone().member(member), "n");
    vec![
        assign(field(stack, kind, "n", how.backlog), atom("0")),
        every(
            "session",
            atom(capacity.to_string()),
            binary("==", made_by.clone(), n()),
            assign(made_by, atom("SL_NONE")),
        ),
        every(
            "at",
            atom("stack").behind("config").member("outputs"),
            same,
            assign(listener, atom("SL_NONE")),
        ),
    ]
}

/// What a field is for that the compiler added.
pub fn comment(stack: &Stack, kind: KindId, field: FieldId) -> &'static str {
    let Some((_, how)) = stack.program.listening(kind) else {
        return "";
    };
    match kind == how.session {
        true if field == how.waits => "whether it waits to be accepted",
        true if field == how.unknown => "whether the application hears nothing of it",
        true if field == how.made_by => "the listener that made it",
        false if field == how.backlog => "how many of its sessions may wait",
        false if field == how.waiting => "how many do that are not handed over",
        _ => "",
    }
}

/// A field of an instance.
pub fn field(stack: &Stack, kind: KindId, index: &str, field: FieldId) -> C {
    let mut scope = Scope::new(stack, &[]);
    scope.own = Some(atom(index));
    scope.place(&Variable::Field(Instance::Own, kind, field))
}

fn instance(stack: &Stack, kind: KindId, index: &str) -> C {
    let mut scope = Scope::new(stack, &[]);
    scope.own = Some(atom(index));
    scope.instance(Instance::Own, kind)
}
