//! Calls of applications at ports: in, the ports of a module; out, the functions by which an
//! application opens and listens, sends, and tells something.

use super::build::{attributed, own, public};
use super::grants::grant;
use super::listening::{copied, index, listens, live};
use crate::back::c::names::identifier;
use crate::back::c::prototype::{Reach, called, result};
use crate::back::c::{Stack, header, shapes, with_all_used};
use crate::c::tree::{
    Expression as C, Item, Statement as S, assign, atom, binary, call, call_statement, only_if,
};
use crate::ir::interface::{Named, Notice, Numbered, Opening, Port};
use crate::ir::op::Target;
use crate::ir::{FunctionId, Lives, PortId, Terminator};

/// All functions of all ports.
pub fn items(stack: &Stack<'_>) -> Vec<Item> {
    let ports = stack.module.ports.iter().enumerate();
    let all = ports.flat_map(|(at, port)| {
        let id = PortId(at as u32);
        let at_port = AtPort { stack, id, port };
        let mut all = Vec::new();
        if let Some(opening) = &port.opens {
            all.push(at_port.opens(opening, false));
            all.extend((!opening.keys.is_empty()).then(|| at_port.keys_of(opening)));
        }
        if let Some(opening) = &port.listens {
            all.push(at_port.opens(opening, true));
            all.push(at_port.unlisten(id, opening));
        }
        if let Some(sends) = port.sends {
            all.extend(at_port.sends(sends));
        }
        let waits = &stack.names.ports[id.at()].waits;
        let told = port.down.iter().zip(waits);
        for (notice, waits) in told.filter(|(notice, _)| is_told_by_name(port, notice)) {
            all.extend(at_port.tells(notice, waits));
        }
        all
    });
    all.collect()
}

/// An application has a function for a notice: for all but the one that opening tells.
pub fn is_told_by_name(port: &Port, notice: &Notice) -> bool {
    port.opens.is_none() || notice.name != OPEN
}

/// The notice that a session is told when its port opens it.
const OPEN: &str = "open";

/// A port, and the stack.
struct AtPort<'s, 'm> {
    stack: &'s Stack<'m>,
    id: PortId,
    port: &'m Port,
}

impl<'s, 'm> AtPort<'s, 'm> {
    fn public(&self, result: &str, what: &str, parameters: Vec<String>, body: Vec<S>) -> Item {
        let name = format!("{}_{}_{what}", self.stack.names.stack, self.port.name);
        public(result.to_string(), name, parameters, body)
    }

    fn pointer(&self) -> String {
        format!("struct {} *stack", self.stack.names.stack)
    }

    /// Opens a session, or a listener.
    fn opens(&self, opening: &Opening, listens: bool) -> Item {
        let (verb, tag) = match listens {
            true => ("listen", "listener_keys"),
            false => ("open", "keys"),
        };
        let name = &self.stack.names.stack;
        let mut parameters = vec![self.pointer()];
        if !opening.keys.is_empty() {
            let keys = format!("const struct {name}_{}_{tag} *keys", self.port.name);
            parameters.push(keys);
        }
        parameters.extend(listens.then(|| "unsigned backlog".to_string()));
        parameters.push("uint64_t now_ns".to_string());
        let mut given = self.given_keys(opening);
        given.extend(listens.then(|| atom("backlog")));
        let takes = vec![atom("stack"), atom(opening.events.to_string())];
        let takes = call("takes", takes).negated();
        let made = |part: &str| atom("made").member(part);
        let none = || vec![S::Return(Some(atom("SL_NONE")))];
        let body = vec![
            begin_call(),
            only_if(takes, none()),
            S::Declare {
                kind: format!("const {}", result(self.stack, opening.opens)),
                name: "made".to_string(),
                value: Some(called(self.stack, Reach::Stack, opening.opens, given)),
            },
            only_if(made("r0").negated(), none()),
            run(),
            S::Return(Some(made("r1"))),
        ];
        self.public("uint32_t", verb, parameters, body)
    }

    /// A bit for each key that may be left out, then the parts of all.
    fn given_keys(&self, opening: &Opening) -> Vec<C> {
        let place = |member: &str| atom("keys").behind(member);
        let mut bits = Vec::new();
        let mut parts = Vec::new();
        for (named, may_lack) in &opening.keys {
            let name = identifier(&named.name);
            let whole = header::ports::given(named, *may_lack);
            let mut own = shapes::given(self.stack, &whole, &name, &place);
            bits.extend(may_lack.then(|| own.remove(0)));
            parts.extend(own);
        }
        bits.into_iter().chain(parts).collect()
    }

    fn keys_of(&self, opening: &Opening) -> Item {
        let name = &self.stack.names.stack;
        let parameters = vec![
            format!("const struct {name} *stack"),
            "uint32_t session".to_string(),
            format!("struct {name}_{}_keys *keys", self.port.name),
        ];
        let lives = live(self.stack, opening.kind, atom("session"));
        let mut body = vec![only_if(
            lives.negated(),
            vec![S::Return(Some(atom("false")))],
        )];
        let to = |member: &str| atom("keys").behind(member);
        body.extend(copied(self.stack, opening, atom("session"), &to));
        body.push(S::Return(Some(atom("true"))));
        self.public("bool", "keys_of", parameters, body)
    }

    fn unlisten(&self, port: PortId, opening: &Opening) -> Item {
        let parameters = vec![
            self.pointer(),
            "uint32_t listener".to_string(),
            "uint64_t now_ns".to_string(),
        ];
        let how = listens(self.stack.module, port).zip(opening.closes);
        let ends = how.map(|(how, closes)| {
            let ends = called(self.stack, Reach::Stack, closes, vec![atom("listener")]);
            let lives = live(self.stack, how.listener, atom("listener"));
            only_if(lives, vec![S::Do(ends), run()])
        });
        let body = std::iter::once(begin_call()).chain(ends).collect();
        self.public("void", "unlisten", parameters, body)
    }

    fn index(&self) -> C {
        index(self.port)
    }

    /// An application may speak to `session`; none if it always may.
    fn is_open(&self) -> Option<C> {
        let module = self.stack.module;
        let kind = self.port.session.kind;
        let is_always = matches!(module.kinds[module.root(kind).at()].lives, Lives::Always);
        let first = self.port.opens.is_none();
        let first = first.then(|| binary("==", atom("session"), atom("0")));
        let below = match self.port.session.index {
            Numbered::From(more, below) if more != 0 || is_always => {
                Some(binary("<", atom("session"), atom(below.to_string())))
            }
            Numbered::From(..) | Numbered::Only(_) => None,
        };
        let lives = (!is_always).then(|| live(self.stack, kind, self.index()));
        let tests = [first, below, lives].into_iter().flatten();
        tests.reduce(|all, one| binary("&&", all, one))
    }

    /// A reaction itself does nothing for a session that an application may not speak to.
    fn is_tested_by(&self, id: FunctionId) -> bool {
        let function = self.stack.module.function(id);
        let kind = self.port.session.kind;
        let is_only_live =
            self.port.opens.is_some() && matches!(self.port.session.index, Numbered::From(0, _));
        let is_nothing = match &function.blocks[0].terminator {
            Terminator::Try { failed, .. } => {
                let failed = function.block(failed.block);
                let returns = matches!(&failed.terminator, Terminator::Return(_));
                returns && failed.instructions.is_empty()
            }
            _ => false,
        };
        is_only_live && is_nothing && function.tests_live() == Some(kind)
    }

    fn if_closed(&self, then: Vec<S>) -> Option<S> {
        let is_open = self.is_open()?;
        Some(only_if(is_open.negated(), then))
    }

    /// A notice of an application comes behind all that waits. For one that a called function gives
    /// back there is a function of its own, which that call shares.
    fn tells(&self, notice: &Notice, waits: &str) -> Vec<Item> {
        let names = header::ports::told_names(self.stack, &notice.parameters);
        let named: Vec<(&Named, &String)> = notice.parameters.iter().zip(&names).collect();
        let mut parameters = vec![self.pointer(), "uint32_t session".to_string()];
        for (one, name) in &named {
            parameters.extend(header::values::parameters(self.stack, &one.shape, name));
        }
        let place = |member: &str| atom(member);
        let parts = named
            .iter()
            .flat_map(|(one, name)| shapes::given(self.stack, &one.shape, name, &place));
        let parts: Vec<C> = parts.collect();
        let is_granted = grant(self.port).is_some_and(|(granted, _)| granted == notice.name);
        let given = parameters.iter().map(|parameter| {
            let name = parameter.rsplit([' ', '*']).next();
            atom(name.expect("a declaration has a name"))
        });
        let given: Vec<C> = given.collect();
        let mut before = Vec::new();
        let body = match notice.handled {
            Some(handled) => {
                let parameters = parameters.clone();
                before.extend(self.wait((handled, waits), parts.clone(), parameters.clone()));
                let mut happens = self.tells_at_once((handled, waits), parts, given.clone());
                if is_granted {
                    let granted = self.stack.names.ports[self.id.at()].granted.clone();
                    happens.push(call_statement("follow_up", vec![atom("stack")]));
                    before.push(own("", &granted, parameters, happens).1);
                    happens = vec![call_statement(granted, given)];
                }
                [happens, vec![run()]].concat()
            }
            None => {
                let unused = given.into_iter().skip(1);
                unused.map(|name| S::Do(name.cast("void"))).collect()
            }
        };
        parameters.push("uint64_t now_ns".to_string());
        let body = [vec![begin_call()], body].concat();
        before.push(self.public("void", &notice.name, parameters, body));
        before
    }

    /// An event is handled at once, or else waits.
    fn tells_at_once(
        &self,
        (handled, waits): (FunctionId, &str),
        parts: Vec<C>,
        given: Vec<C>,
    ) -> Vec<S> {
        let arguments = [vec![self.index()], parts].concat();
        let now = called(self.stack, Reach::Stack, handled, arguments);
        let closed = self.if_closed(vec![S::Return(None)]);
        let closed = closed.filter(|_| !self.is_tested_by(handled));
        let happens = S::Declare {
            kind: "const bool".to_string(),
            name: "happens_now".to_string(),
            value: Some(call("at_once", vec![atom("stack")])),
        };
        let either = S::If {
            condition: atom("happens_now"),
            then: vec![S::Do(now)],
            otherwise: vec![call_statement(waits, given)],
        };
        let all = std::iter::once(happens).chain(closed);
        all.chain([either]).collect()
    }

    /// An event waits behind all others.
    fn wait(
        &self,
        (handled, own_name): (FunctionId, &str),
        parts: Vec<C>,
        parameters: Vec<String>,
    ) -> [Item; 2] {
        let target = Target::Function(handled);
        let name = self.stack.names.target(self.stack.module, target);
        let given = [vec![atom("stack"), self.index()], parts].concat();
        let waits = behind_all(call_statement(format!("later_{name}"), given));
        let closed = self.if_closed(vec![S::Return(None)]);
        let closed = closed.filter(|_| self.is_tested_by(handled));
        let body = closed.into_iter().chain(waits).collect();
        let (_, function) = own("", own_name, parameters, body);
        let function = match function {
            Item::Function(function) => Item::Function(with_all_used(function)),
            other => other,
        };
        let declared = attributed("noinline", std::slice::from_ref(&function));
        [declared, function]
    }

    /// `send_from`, `send_later`, and the copy of `send` for those who do not see the header's.
    fn sends(&self, sends: FunctionId) -> Vec<Item> {
        let name = &self.stack.names.stack;
        let with = match self.port.attributes.is_empty() {
            true => "const void *with".to_string(),
            false => format!("const struct {name}_{}_attributes *with", self.port.name),
        };
        let before = vec![self.pointer(), "uint32_t session".to_string(), with];
        let data = "const uint8_t *data".to_string();
        let behind = vec!["size_t length".to_string(), "uint64_t now_ns".to_string()];
        let whole = [before.clone(), vec![data.clone()], behind.clone()].concat();
        let from = match self.port.is_copied {
            true => whole.clone(),
            false => [before, behind].concat(),
        };
        let result = format!("enum {name}_send");
        let inline = format!("extern inline {result}");
        vec![
            self.public(&result, "send_from", from, self.sends_from(sends)),
            self.public(
                &result,
                "send_later",
                whole.clone(),
                self.sends_later(sends),
            ),
            Item::Prototype(crate::c::tree::Function {
                comment: String::new(),
                result: inline,
                name: format!("{name}_{}_send", self.port.name),
                parameters: whole,
                body: Vec::new(),
            }),
        ]
    }

    fn constant(&self, name: &str) -> C {
        atom(format!("{}_{name}", self.stack.names.upper))
    }

    fn refused(&self, reason: &str) -> Vec<S> {
        let refused = call("refuse", vec![atom("stack"), atom(reason)]);
        vec![S::Return(Some(refused))]
    }

    /// A message of an application, in a buffer that is taken, with what goes with it.
    fn message(&self, takes: &str) -> Vec<S> {
        let mut all = vec![
            S::Declare {
                kind: format!("struct {}_message", self.stack.names.stack),
                name: "message".to_string(),
                value: Some(call("blank", vec![call(takes, vec![atom("stack")])])),
            },
            assign(
                atom("message").member("length"),
                atom("length").cast("uint32_t"),
            ),
        ];
        let mut given = Vec::new();
        let place = |member: &str| atom("with").behind(member);
        for (name, one) in header::ports::attributes(self.port) {
            let parts = shapes::given(self.stack, &one.named.shape, &name, &place);
            for (attribute, part) in one.parts.iter().zip(parts) {
                let of = self.stack.module.attributes[attribute.at()].of;
                let member = &self.stack.names.attributes[attribute.at()];
                let place = atom("message").member(member);
                given.push(assign(place, shapes::stored(of, part)));
            }
        }
        all.push(match given.is_empty() {
            true => S::Do(atom("with").cast("void")),
            false => only_if(binary("!=", atom("with"), atom("NULL")), given),
        });
        all
    }

    /// A message sets out; it may be dropped on its way. Functions of the host that are called
    /// meanwhile may send something else.
    fn sends_from(&self, sends: FunctionId) -> Vec<S> {
        let shared = |member: &str| atom("stack").behind("shared").member(member);
        let mut all = Vec::from_iter(self.if_closed(self.refused("STACK_NO_SESSION")));
        all.push(assign(atom("stack").behind("now_ns"), atom("now_ns")));
        let name = &self.stack.names.stack;
        all.push(S::Declare {
            kind: format!("struct {name}_buffer *const"),
            name: "outer".to_string(),
            value: Some(shared("sent")),
        });
        all.extend(self.message("take_sent"));
        if self.port.is_copied {
            let read = atom("data").cast("uintptr_t").cast("uint8_t *");
            all.push(S::Comment("It is only read.".to_string()));
            all.push(only_if(
                binary("!=", atom("length"), atom("0")),
                vec![assign(atom("message").member("data"), read)],
            ));
        }
        let given = vec![self.index(), atom("message").address()];
        all.push(S::Do(called(self.stack, Reach::Stack, sends, given)));
        all.push(run());
        all.push(S::Declare {
            kind: format!("const enum {name}_send"),
            name: "became".to_string(),
            value: Some(call("outcome", vec![atom("stack")])),
        });
        all.push(assign(shared("sent"), atom("outer")));
        all.push(S::Return(Some(atom("became"))));
        if self.is_open().is_none() && matches!(self.port.session.index, Numbered::Only(_)) {
            all.insert(0, S::Do(atom("session").cast("void")));
        }
        all
    }

    /// Refuses a message that can never be sent; otherwise asks whether the stack is ready for it.
    fn sends_later(&self, sends: FunctionId) -> Vec<S> {
        let asks = |function: &str| call(function, vec![atom("stack")]);
        let calls = self
            .stack
            .module
            .ports
            .iter()
            .any(|port| port.calls.is_some());
        let name = &self.stack.names.stack;
        let longest = atom(self.port.longest.to_string());
        let takes = call("takes", vec![atom("stack"), atom("1")]);
        let has_buffer = asks(&format!("{name}_has_buffer"));
        let is_full = asks("has_room").negated();
        let is_full = match calls {
            true => binary("&&", asks("is_calling").negated(), is_full),
            false => is_full,
        };
        let tests = [takes.negated(), is_full, has_buffer.negated()].into_iter();
        let not_now = tests.reduce(|all, one| binary("||", all, one));
        let not_now = not_now.expect("there are three tests");
        let mut all = vec![begin_call()];
        all.extend(self.if_closed(self.refused("STACK_NO_SESSION")));
        all.extend([
            only_if(
                binary(">", atom("length"), longest),
                self.refused("STACK_TOO_LONG"),
            ),
            only_if(not_now, vec![S::Return(Some(self.constant("LATER")))]),
        ]);
        let copies = ["stack", "data", "length"].map(atom).to_vec();
        let copies = call_statement("fill_buffer", copies);
        if !self.port.is_copied {
            all.push(copies.clone());
        }
        let steps = atom("stack").behind("shared").member("steps");
        let counts = S::Assign(steps, "+=", atom("1"));
        if calls {
            let mut waits = Vec::from_iter(self.port.is_copied.then_some(copies));
            waits.extend(self.message("take_buffer"));
            let given = vec![atom("stack"), self.index(), atom("message").address()];
            let target = Target::Function(sends);
            let name = self.stack.names.target(self.stack.module, target);
            waits.extend(behind_all(call_statement(format!("later_{name}"), given)));
            waits.push(S::Return(Some(self.constant("SENT"))));
            let is_to_wait = asks("at_once").negated();
            all.push(S::If {
                condition: asks("is_calling").negated(),
                then: vec![counts],
                otherwise: vec![only_if(is_to_wait, waits)],
            });
        } else {
            all.push(counts);
        }
        let mut given: Vec<C> = ["stack", "session", "with"].map(atom).to_vec();
        given.extend(self.port.is_copied.then(|| atom("data")));
        given.extend([atom("length"), atom("stack").behind("now_ns")]);
        let from = format!("{name}_{}_send_from", self.port.name);
        all.push(S::Return(Some(call(from, given))));
        all
    }
}

fn begin_call() -> S {
    call_statement("begin_call", vec![atom("stack"), atom("now_ns")])
}

fn run() -> S {
    call_statement("run", vec![atom("stack")])
}

/// Moves the event that `later` puts on the agenda behind all others.
fn behind_all(later: S) -> Vec<S> {
    vec![
        S::Declare {
            kind: "const uint32_t".to_string(),
            name: "others".to_string(),
            value: Some(atom("stack").behind("waiting")),
        },
        later,
        call_statement("sink", vec![atom("stack"), atom("others")]),
    ]
}
