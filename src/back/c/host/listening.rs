//! Sessions that wait to be accepted: in, the tables of a module; out, what hands them over, and
//! what gives a listener its places back.
//!
//! ```text
//! made by a listener      it waits at its listener, which has a place less
//! handed over             the output has the place
//! the output is taken     the place is free      or the session ends before: the place is free
//! the listener ends       what waits at it waits at nobody, and is accepted all the same
//! ```
//!
//! A host takes most outputs without a call of the stack: functions of the header do that. An
//! output that hands over a session is taken by `STACK_next_other`, which calls `hand_over`.

use super::build::{own, told_to_all};
use crate::back::c::Stack;
use crate::back::c::names::identifier;
use crate::back::c::shapes;
use crate::c::tree::{Expression as C, Item, Statement as S, assign, atom, binary, call, only_if};
use crate::ir::interface::{Listening, Numbered, Opening, Port};
use crate::ir::{FieldId, KindId, Module, PortId};

/// Finds the table of waiting sessions of a port that listens by itself.
pub fn listens(module: &Module, port: PortId) -> Option<Listening> {
    let mut all = module.listening.iter();
    all.find(|how| how.port == port).copied()
}

/// `stack->KIND[index].field`
pub fn field(stack: &Stack<'_>, kind: KindId, index: C, field: FieldId) -> C {
    let names = &stack.names.kinds[kind.at()];
    let instance = atom("stack").behind(&names.name).element(index);
    instance.member(&names.fields[field.at()])
}

/// The instance below a port for `session`.
pub fn index(port: &Port) -> C {
    match port.session.index {
        Numbered::Only(only) => atom(only.to_string()),
        Numbered::From(0, _) => atom("session"),
        Numbered::From(more, _) => binary("+", atom("session"), atom(more.to_string())),
    }
}

/// `live_KIND(stack, index)`
pub fn live(stack: &Stack<'_>, kind: KindId, index: C) -> C {
    let name = stack.names.kind(kind);
    call(format!("live_{name}"), vec![atom("stack"), index])
}

/// A session waits to be accepted.
pub fn waits(stack: &Stack<'_>, how: Listening) -> C {
    field(stack, how.session, atom("session"), how.waits)
}

/// The application has not heard of a session.
pub fn is_unknown(stack: &Stack<'_>, how: Listening) -> C {
    let lives = live(stack, how.session, atom("session"));
    let unknown = field(stack, how.session, atom("session"), how.unknown);
    binary("&&", lives, unknown)
}

/// A session is handed over.
pub fn accepted(stack: &Stack<'_>, how: Listening) -> Vec<S> {
    let own = |one| field(stack, how.session, atom("session"), one);
    let accepted = atom("output").behind("with").member(tag(stack, how.port));
    let place = &stack.names.ports[how.port.at()].constant;
    let mut all = vec![
        assign(own(how.waits), atom("false")),
        assign(own(how.unknown), atom("false")),
        S::Declare {
            kind: format!("struct {}_output *const", stack.names.stack),
            name: "output".to_string(),
            value: Some(call(
                "answer",
                vec![atom("stack"), accepted_constant(stack)],
            )),
        },
    ];
    all.extend(told_to_all(place, false));
    all.push(assign(
        accepted.clone().member("listener"),
        own(how.made_by),
    ));
    let opens = stack.module.ports[how.port.at()].opens.as_ref();
    let keys = accepted.member("keys");
    all.extend(opens.into_iter().flat_map(|opening| {
        copied(stack, opening, atom("session"), &|name| {
            keys.clone().member(name)
        })
    }));
    all
}

/// The keys of a session are copied to a struct of the host.
pub fn copied(stack: &Stack<'_>, opening: &Opening, session: C, to: &dyn Fn(&str) -> C) -> Vec<S> {
    let fields = &stack.module.kinds[opening.kind.at()].keys;
    let parts = fields
        .iter()
        .map(|key| field(stack, opening.kind, session.clone(), *key));
    let mut parts = parts.collect::<Vec<C>>().into_iter();
    let mut all = Vec::new();
    for (named, may_lack) in &opening.keys {
        let name = identifier(&named.name);
        all.extend(may_lack.then(|| assign(to(&format!("has_{name}")), atom("true"))));
        let values = shapes::told(stack, &named.shape, &name, &mut parts).into_iter();
        all.extend(values.map(|(member, value)| assign(to(&member), value)));
    }
    all
}

fn accepted_constant(stack: &Stack<'_>) -> C {
    atom(format!("{}_ACCEPTED", stack.names.upper))
}

fn tag(stack: &Stack<'_>, port: PortId) -> String {
    format!("{}_accepted", stack.module.ports[port.at()].name)
}

/// An output hands over a session of a port.
fn hands_over(stack: &Stack<'_>, how: Listening) -> C {
    let output = |member: &str| atom("output").behind(member);
    let next = binary("==", output("next"), accepted_constant(stack));
    let place = atom(&stack.names.ports[how.port.at()].constant);
    binary("&&", next, binary("==", output("place"), place))
}

fn listener_of(stack: &Stack<'_>, how: Listening) -> C {
    let with = atom("output").behind("with");
    with.member(tag(stack, how.port)).member("listener")
}

/// A listener, unless it has ended, has a place more.
fn gives_place(stack: &Stack<'_>, how: Listening, listener: C) -> S {
    let waiting = field(stack, how.listener, listener.clone(), how.waiting);
    let is_there = binary("!=", listener, atom("SL_NONE"));
    only_if(is_there, vec![S::Assign(waiting, "-=", atom("1"))])
}

/// Functions beside the instances, by name: `hand_over`, and `waits_no_more_KIND` for each kind of
/// listeners and of their sessions.
pub fn functions(stack: &Stack<'_>) -> Vec<(String, Item)> {
    let mut all = vec![hand_over(stack)];
    for how in &stack.module.listening {
        let n = || {
            vec![
                format!("struct {} *stack", stack.names.stack),
                "uint32_t n".to_string(),
            ]
        };
        let of = |kind: KindId| format!("waits_no_more_{}", stack.names.kind(kind));
        let comment = "A session ends: if it waits to be accepted, its listener has a place more.";
        all.push(own(
            comment,
            &of(how.session),
            n(),
            session_ends(stack, *how),
        ));
        let comment = "A listener ends: it makes no more sessions, and nobody waits at it.";
        all.push(own(
            comment,
            &of(how.listener),
            n(),
            listener_ends(stack, *how),
        ));
    }
    all
}

fn hand_over(stack: &Stack<'_>) -> (String, Item) {
    let places = stack.module.listening.iter().map(|how| {
        let place = gives_place(stack, *how, listener_of(stack, *how));
        only_if(hands_over(stack, *how), vec![place])
    });
    let name = &stack.names.stack;
    let parameters = vec![
        format!("struct {name} *stack"),
        format!("const struct {name}_output *output"),
    ];
    let comment = "The host takes an output: a session that it is handed gives its place back.";
    own(comment, "hand_over", parameters, places.collect())
}

fn session_ends(stack: &Stack<'_>, how: Listening) -> Vec<S> {
    let own = |one| field(stack, how.session, atom("n"), one);
    let place = gives_place(stack, how, own(how.made_by));
    vec![only_if(
        own(how.waits),
        vec![place, assign(own(how.waits), atom("false"))],
    )]
}

fn listener_ends(stack: &Stack<'_>, how: Listening) -> Vec<S> {
    let capacity = stack.module.kinds[how.session.at()].capacity;
    let made_by = field(stack, how.session, atom("session"), how.made_by);
    let is_own = |listener: C| binary("==", listener, atom("n"));
    let nobody = |place: C| vec![assign(place, atom("SL_NONE"))];
    let listener = listener_of(stack, how);
    let shared = |member: &str| format!("stack->shared.{member}");
    let handed = binary("&&", hands_over(stack, how), is_own(listener.clone()));
    vec![
        assign(
            field(stack, how.listener, atom("n"), how.backlog),
            atom("0"),
        ),
        S::For {
            start: "uint32_t session = 0".to_string(),
            condition: binary("<", atom("session"), atom(capacity.to_string())),
            step: "session += 1".to_string(),
            body: vec![only_if(is_own(made_by.clone()), nobody(made_by))],
        },
        S::For {
            start: format!(
                "struct {}_output *output = {}",
                stack.names.stack,
                shared("taken")
            ),
            condition: binary("!=", atom("output"), atom(shared("answered"))),
            step: "output += 1".to_string(),
            body: vec![only_if(handed, nobody(listener))],
        },
    ]
}
