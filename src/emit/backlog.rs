//! The backlog of listeners: how many of their sessions may wait until the host takes them.
//!
//! In: a kind of sessions that a listener makes. Out: how one is made, if there is a place for it.
//! The host takes what is handed over without a word to the stack, so what it has not taken is
//! counted where the next is made.

use super::Stack;
use super::listen::field;
use crate::c::printer;
use crate::c::tree::{Expression as C, Function, Statement as S, assign, atom, binary, call};
use crate::types::opening::Listening;
use crate::types::program::{KindId, PortId};

/// A listener makes a session, if there is a place for it.
pub fn make(stack: &Stack, session: KindId, keys: (Vec<String>, Vec<C>)) -> Option<Function> {
    let (id, how) = stack.program.listening(session)?;
    if how.session != session {
        return None;
    }
    let name = &stack.names.kinds[session.at()];
    let [own, backlog] =
        [how.waiting, how.backlog].map(|one| field(stack, how.listener, "listener", one));
    let created = [vec![atom("stack")], keys.1].concat();
    let none = || atom("SL_NONE");
    let mut body = waiting(stack, (id, how));
    body.extend([
        S::If {
            condition: binary(">=", atom("waiting"), backlog),
            then: vec![S::Return(Some(none()))],
            otherwise: Vec::new(),
        },
        S::Declare {
            kind: "const uint32_t".to_string(),
            name: "n".to_string(),
            value: Some(call(format!("create_{name}"), created)),
        },
        S::If {
            condition: binary("!=", atom("n"), none()),
            then: vec![
                assign(field(stack, session, "n", how.waits), atom("true")),
                assign(field(stack, session, "n", how.unknown), atom("true")),
                assign(field(stack, session, "n", how.made_by), atom("listener")),
                S::Assign(own, "+=", atom("1")),
            ],
            otherwise: Vec::new(),
        },
        S::Return(Some(atom("n"))),
    ]);
    let parameters = vec![
        format!("struct {} *stack", stack.names.stack),
        "uint32_t listener".to_string(),
    ];
    Some(super::with_all_used(Function {
        comment: "A new instance of a listener's; SL_NONE if there is no room for it, or if too \
                  many wait."
            .to_string(),
        result: "static uint32_t".to_string(),
        name: format!("make_{name}"),
        parameters: [parameters, keys.0].concat(),
        body,
    }))
}

/// A session that waits no more gives its place at its listener back.
pub fn place_back(stack: &Stack, how: Listening, session: &str) -> S {
    let made_by = field(stack, how.session, session, how.made_by);
    let at = printer::expression(&made_by);
    let waiting = field(stack, how.listener, &at, how.waiting);
    S::If {
        condition: binary("!=", made_by, atom("SL_NONE")),
        then: vec![S::Assign(waiting, "-=", atom("1"))],
        otherwise: Vec::new(),
    }
}

/// Whether an output hands over a session of a listener.
pub fn is_accepted(stack: &Stack, id: PortId, output: &dyn Fn(&str) -> C, listener: &str) -> C {
    let accepted = atom(format!("{}_ACCEPTED", stack.names.stack.to_uppercase()));
    let name = format!("{}_accepted", stack.program.ports[id.at()].name);
    let own = output("with").member(name).member("listener");
    let tests = [
        binary("==", output("next"), accepted),
        binary("==", output("place"), atom(id.at().to_string())),
        binary("==", own, atom(listener)),
    ];
    let all = tests.into_iter().reduce(|all, one| binary("&&", all, one));
    all.expect("three tests")
}

/// How many sessions of a listener wait, and how many are handed over that the host has not taken.
fn waiting(stack: &Stack, (id, how): (PortId, Listening)) -> Vec<S> {
    let own = field(stack, how.listener, "listener", how.waiting);
    let output = format!("struct {}_output *output", stack.names.stack);
    let shared = |member: &str| atom("stack").behind("shared").member(member);
    let taken = printer::expression(&shared("taken"));
    let mine = is_accepted(
        stack,
        id,
        &|member| atom("output").behind(member),
        "listener",
    );
    vec![
        S::Declare {
            kind: "uint32_t".to_string(),
            name: "waiting".to_string(),
            value: Some(own),
        },
        S::For {
            start: format!("const {output} = {taken}"),
            condition: binary("!=", atom("output"), shared("answered")),
            step: "output++".to_string(),
            body: vec![S::Assign(atom("waiting"), "+=", mine)],
        },
    ]
}
