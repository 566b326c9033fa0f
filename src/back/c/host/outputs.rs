//! The way out: in, events of ports; out, functions that tell the host of them, or call the
//! application.
//!
//! ```text
//! X(stack, ..)         the application is called, or the host is told
//! tell_X(stack, ..)    the host is told, in any case
//! call_X(stack, ..)    the application is called; then its message is gone
//! hot_X(stack, ..)     the same on the hot path, where a grant of the application finds room
//! last_X(stack, ..)    X comes last on the agenda, and has waited then
//! ```
//!
//! The last three take the struct of a message itself: so a compiler sees that it is used no more.
//! An application is called when nothing else is under way; else X comes last, within this step.

use super::build::{expanded, inline, told_to_all};
use super::goals::{arguments, by_value, carried, listened, names, parameters, with_names};
use super::{grants, listening};
use crate::back::c::header::ports::attributes;
use crate::back::c::names::identifier;
use crate::back::c::{Stack, shapes};
use crate::c::tree::{
    Expression as C, Item, Statement as S, assign, atom, binary, call, call_statement, only_if,
};
use crate::ir::interface::Port;
use crate::ir::op::{Target, Told};
use crate::ir::{LinkId, PortId, Type};

/// The functions that take events up at all ports, or out by all links, by name.
pub fn functions(stack: &Stack<'_>) -> Vec<(String, Item)> {
    let mut all: Vec<_> = (0..stack.module.links.len() as u32)
        .map(|at| leaves(stack, LinkId(at)))
        .collect();
    for (at, port) in stack.module.ports.iter().enumerate() {
        let id = PortId(at as u32);
        let notices = (0..port.up.len() as u32).map(Told::Notice);
        let listens = listened(stack.module, id).map(|_| Told::Started);
        let told = [Told::Message].into_iter().chain(notices).chain(listens);
        for told in told {
            let up = Up::new(stack, id, told);
            all.extend(up.functions());
        }
    }
    all
}

/// `tell_LINK`: a frame leaves.
fn leaves(stack: &Stack<'_>, id: LinkId) -> (String, Item) {
    let target = Target::Link(id);
    let name = format!("tell_{}", stack.names.target(stack.module, target));
    let link = &stack.names.links[id.at()].constant;
    let parts = ["data", "length", "buffer", "came_in"];
    let parts = parts.map(|part| atom("message").behind(part));
    let given = ["stack", link].map(atom).into_iter().chain(parts);
    let body = vec![call_statement("send_frame", given.collect())];
    let parameters = parameters(stack, &arguments(stack, target));
    inline("", &name, parameters, body)
}

/// An event of a port that comes up.
struct Up<'s, 'm> {
    stack: &'s Stack<'m>,
    port: PortId,
    told: Told,
    name: String,
    arguments: Vec<(String, Type)>,
}

impl<'s, 'm> Up<'s, 'm> {
    fn new(stack: &'s Stack<'m>, port: PortId, told: Told) -> Up<'s, 'm> {
        let target = Target::Port(port, told);
        Up {
            stack,
            port,
            told,
            name: stack.names.target(stack.module, target),
            arguments: arguments(stack, target),
        }
    }

    fn table(&self) -> &'m Port {
        &self.stack.module.ports[self.port.at()]
    }

    fn target(&self) -> Target {
        Target::Port(self.port, self.told)
    }

    fn carries(&self) -> bool {
        carried(self.stack.module, self.port, self.told).0
    }

    fn function(&self, comment: &str, name: &str, body: Vec<S>) -> (String, Item) {
        let parameters = parameters(self.stack, &self.arguments);
        inline(comment, name, parameters, body)
    }

    fn functions(&self) -> Vec<(String, Item)> {
        let tell = format!("tell_{}", self.name);
        let comment = format!("Port {}: the host is told.", self.table().name);
        let instead = self.instead();
        let tells = match self.told {
            Told::Started => Some(self.started()),
            Told::Message | Told::Notice(_)
                if self.stack.module.calls_application(self.target()) =>
            {
                None
            }
            Told::Message | Told::Notice(_) => Some(self.tells()),
        };
        let mut all = Vec::new();
        if let Some(tells) = tells {
            all.extend(self.by_value(&comment, &tell, [instead, tells].concat()));
            let body = vec![self.with_value(&tell)];
            all.push(self.function("", &self.name, body));
            return all;
        }
        all.extend(
            self.is_granted()
                .then(|| grants::head(self.stack, self.port))
                .flatten(),
        );
        all.push(self.last());
        all.extend(self.called("call", grants::at_last(self.stack, self.port)));
        let ahead = grants::ahead(self.stack, self.port);
        let ahead = ahead.filter(|_| self.is_granted()).into_iter();
        all.extend(ahead.flat_map(|grants| self.called("hot", grants)));
        all.push(self.surface(instead));
        all
    }

    /// Returns the statements that replace an output: a session that a listener made is accepted
    /// first, and an application that has not accepted a session hears nothing of it.
    fn instead(&self) -> Vec<S> {
        let module = self.stack.module;
        let mut all = Vec::new();
        let how = listening::listens(module, self.port);
        let opened = how.and_then(|how| how.opened).map(Told::Notice);
        if let Some(how) = how.filter(|_| Some(self.told) == opened) {
            let mut then = listening::accepted(self.stack, how);
            then.push(S::Return(None));
            all.push(only_if(listening::waits(self.stack, how), then));
        }
        let heard = listened(module, self.port);
        if let Some(how) = heard.filter(|_| !self.carries() && self.told != Told::Started) {
            let unknown = listening::is_unknown(self.stack, how);
            all.push(only_if(unknown, vec![S::Return(None)]));
        }
        all
    }

    /// A session that a listener made is handed over, if it waits for that.
    fn started(&self) -> Vec<S> {
        let Some(how) = listening::listens(self.stack.module, self.port) else {
            // Another port listens.
            return ["stack", "session"]
                .map(|name| S::Do(atom(name).cast("void")))
                .to_vec();
        };
        let accepted = listening::accepted(self.stack, how);
        vec![only_if(listening::waits(self.stack, how), accepted)]
    }

    /// An output for the host.
    fn tells(&self) -> Vec<S> {
        let port = self.table();
        let names = &self.stack.names.ports[self.port.at()];
        let next = match self.told {
            Told::Notice(notice) => names.next[notice as usize].clone(),
            Told::Message | Told::Started => format!("{}_DELIVER", self.stack.names.upper),
        };
        let mut all = Vec::new();
        all.extend(self.carries().then(delivered));
        all.push(S::Declare {
            kind: format!("struct {}_output *const", self.stack.names.stack),
            name: "output".to_string(),
            value: Some(call("answer", vec![atom("stack"), atom(next)])),
        });
        all.extend(told_to_all(&names.constant, self.carries()));
        let with = |of: String| atom("output").behind("with").member(of);
        match self.told {
            Told::Message | Told::Started => {
                let with = with(identifier(&port.name));
                let values = self.attributes().into_iter();
                all.extend(values.map(|(name, value)| assign(with.clone().member(name), value)));
            }
            Told::Notice(notice) => {
                let own = &port.up[notice as usize].name;
                let with = with(format!("{}_{own}", port.name));
                let values = self.values(|name| identifier(&name)).into_iter();
                all.extend(values.map(|(name, value)| assign(with.clone().member(name), value)));
            }
        }
        all
    }

    /// The attributes of the message: the members of their struct, and their values.
    fn attributes(&self) -> Vec<(String, C)> {
        let port = self.table();
        let all = attributes(port).into_iter().flat_map(|(name, one)| {
            let parts = one.parts.iter().map(|part| {
                let member = &self.stack.names.attributes[part.at()];
                atom("message").member(member)
            });
            let mut parts = parts.collect::<Vec<C>>().into_iter();
            shapes::told(self.stack, &one.named.shape, &name, &mut parts)
        });
        all.collect()
    }

    /// The values of a notice, under their names.
    fn values(&self, name: impl Fn(String) -> String) -> Vec<(String, C)> {
        let (_, parameters) = carried(self.stack.module, self.port, self.told);
        let skipped = 1 + usize::from(self.carries());
        let parts = self.arguments[skipped..].iter();
        let parts: Vec<C> = parts.map(|(name, _)| atom(name)).collect();
        let mut parts = parts.into_iter();
        let all = parameters.iter().flat_map(|one| {
            let name = name(one.name.clone());
            shapes::told(self.stack, &one.shape, &name, &mut parts)
        });
        all.collect()
    }

    /// The application is called, by a function with this verb.
    fn called(&self, verb: &str, grants: S) -> Vec<(String, Item)> {
        let port = self.table();
        let names = &self.stack.names.ports[self.port.at()];
        let mut given = vec![user(), atom("stack"), atom("session")];
        let mut all = Vec::new();
        all.extend(self.carries().then(delivered));
        let function = match self.told {
            Told::Notice(notice) => {
                given.extend(self.values(|name| name).into_iter().map(|(_, value)| value));
                &names.told[notice as usize]
            }
            Told::Message | Told::Started => {
                let kind = format!("struct {}_{}_attributes", self.stack.names.stack, port.name);
                let values = self.attributes();
                if !values.is_empty() {
                    all.push(S::Declare {
                        kind: format!("const {kind}"),
                        name: "with".to_string(),
                        value: Some(C::Struct(kind, values)),
                    });
                    given.push(atom("with").address());
                }
                &names.calls
            }
        };
        if self.carries() {
            given.extend(["data", "length"].map(|part| atom("message").member(part)));
        }
        given.push(atom("stack").behind("now_ns"));
        let function = function.as_ref().expect("the port calls an application");
        let calling = |is: &str| assign(calling(), atom(is));
        all.push(calling("true"));
        let called = call(function, given);
        all.extend(match self.is_granted() {
            true => grants::given_back(self.stack, self.table(), called, grants),
            false => vec![S::Do(called)],
        });
        all.push(calling("false"));
        if self.carries() {
            let buffer = atom("message").member("buffer");
            all.push(call_statement("give_buffer", vec![atom("stack"), buffer]));
        }
        let comment = format!("Port {}: the application is called.", port.name);
        self.by_value(&comment, &format!("{verb}_{}", self.name), all)
    }

    /// A function with the parameters of X, but that it takes the struct of a message itself.
    /// Compilers put one with a message from the network at each of its calls.
    fn by_value(&self, comment: &str, name: &str, body: Vec<S>) -> Vec<(String, Item)> {
        let by_value = by_value(self.stack, &self.arguments);
        match self.told {
            Told::Message => expanded(comment, name, by_value, body).to_vec(),
            Told::Notice(_) | Told::Started => vec![inline(comment, name, by_value, body)],
        }
    }

    /// The function of the application returns what it grants.
    fn is_granted(&self) -> bool {
        self.told == Told::Message && grants::grant(self.table()).is_some()
    }

    /// X comes last on the agenda.
    fn last(&self) -> (String, Item) {
        let later = with_names(&format!("later_{}", self.name), &self.arguments);
        let body = vec![
            S::Declare {
                kind: "const uint32_t".to_string(),
                name: "others".to_string(),
                value: Some(atom("stack").behind("waiting")),
            },
            later,
            call_statement("let_others_go", vec![atom("stack"), atom("others")]),
        ];
        self.function("", &format!("last_{}", self.name), body)
    }

    /// A call of a function that takes the struct of a message itself, with the arguments of X.
    fn with_value(&self, function: &str) -> S {
        let given = self.arguments.iter().flat_map(|(name, of)| match of {
            Type::Message => vec![C::Unary("*", Box::new(atom(name)))],
            _other => names(name, *of).into_iter().map(atom).collect(),
        });
        let all = std::iter::once(atom("stack")).chain(given).collect();
        call_statement(function, all)
    }

    /// The application is called when nothing else is under way.
    fn surface(&self, instead: Vec<S>) -> (String, Item) {
        let waits = binary("!=", atom("stack").behind("waiting"), atom("0"));
        let is_under_way = binary("||", calling(), waits);
        let steps = atom("stack").behind("shared").member("steps");
        let mut body = instead;
        body.push(S::If {
            condition: is_under_way,
            then: vec![
                S::Assign(steps, "-=", atom("1")),
                with_names(&format!("last_{}", self.name), &self.arguments),
            ],
            otherwise: vec![self.with_value(&format!("call_{}", self.name))],
        });
        self.function("", &self.name, body)
    }
}

fn delivered() -> S {
    let counters = atom("stack").behind("counters");
    let came_in = atom("message").member("came_in");
    S::Assign(counters.element(atom("DELIVERED")), "+=", came_in)
}

/// The pointer that a host has set.
pub fn user() -> C {
    atom("stack").behind("config").member("user")
}

fn calling() -> C {
    atom("stack").behind("shared").member("calling")
}
