//! What a function of an application gives back that is called with a message: how much more may
//! come up.
//!
//! In: a port whose sessions count what comes up, and the functions of a stack. Out: what tells it
//! to whoever counts, as if the application had told it last; and on common paths that have their
//! instance at hand the same for this instance, where the application has told nothing else: then
//! nothing has changed, and what the path knows still holds.
//!
//! ```text
//! bytes = arrived(.., session, ..)         steps = stack.steps
//! streams_deliver_more(session, bytes)     bytes = arrived(.., session, ..)
//!                                          if steps == stack.steps {
//!                                              tcp_grant_delivers_own(own, bytes)
//!                                          } else {
//!                                              streams_deliver_more(session, bytes)
//!                                          }
//! ```
//!
//! Assumes: what an application tells and sends is a step if it happens at once, and else waits.
//! Cost: what handles the grant stands once more in the C.

use super::Stack;
use super::algebra::replaced;
use super::expected::{Expected, Own};
use super::external::{self, Kept};
use super::layout::{c_type, given_names};
use super::output::Queued;
use super::port::{self, exists};
use crate::c::printer;
use crate::c::tree::{Expression as C, Function, Item, Statement as S, atom, binary, call};
use crate::c::walk;
use crate::tree::{Index, Reaction};
use crate::types::program::{Event, Field, PortId};

/// What the instance is called that is at hand.
const OWN: &str = "own";

/// What is given back where a port calls its application.
pub struct Granted<'s> {
    stack: &'s Stack<'s>,
    port: PortId,
    /// Who counts.
    reaction: Reaction,
    /// What it is given: a number.
    number: &'s Field,
}

impl<'s> Granted<'s> {
    /// None where nothing is given back, or nobody counts.
    pub fn of(stack: &'s Stack<'s>, id: PortId, event: Event) -> Option<Granted<'s>> {
        let port = &stack.program.ports[id.at()];
        let notice = port
            .granted(stack.program)
            .filter(|_| event == Event::Deliver)?;
        let reaction = port::below(stack, port, Event::Notice(notice))?;
        let [number] = &stack.program.notices[notice.at()].parameters[..] else {
            return None;
        };
        Some(Granted {
            stack,
            port: id,
            reaction,
            number,
        })
    }

    /// Of all ports of a stack.
    pub fn all(stack: &'s Stack<'s>) -> impl Iterator<Item = Granted<'s>> {
        let ports = (0..stack.program.ports.len() as u32).map(PortId);
        ports.filter_map(|port| Granted::of(stack, port, Event::Deliver))
    }

    /// What it is in C.
    pub fn kind(&self) -> String {
        c_type(self.stack, &self.number.kind)
    }

    /// What it is called.
    fn name(&self) -> String {
        let own = [
            "user", "stack", "session", "message", "buffer", "data", "length", "now_ns", "with",
            "steps", "own",
        ];
        let given = [(&self.number.kind, &*self.number.name)];
        let mut names = given_names(&own, &self.stack.names.taken, given);
        names.remove(0)
    }

    /// What calls the application.
    fn deliver(&self) -> &str {
        &self.stack.names.ports[&(self.port, Event::Deliver)]
    }

    /// What is done with it where nothing is known of the instance.
    pub fn told(&self) -> Kept {
        let name = self.name();
        Kept {
            kind: format!("const {}", self.kind()),
            then: vec![self.tells(&name)],
            name,
        }
    }

    fn tells(&self, name: &str) -> S {
        let given = ["stack", "session", name].map(atom).to_vec();
        S::Do(call(more(self.deliver()), given))
    }

    fn head(&self, result: &str, name: String, own: &[String]) -> Function {
        let parameters = [
            format!("struct {} *stack", self.stack.names.stack),
            "uint32_t session".to_string(),
            format!("{} {}", self.kind(), self.name()),
        ];
        Function {
            comment: String::new(),
            result: result.to_string(),
            name,
            parameters: [&parameters[..1], own, &parameters[1..]].concat(),
            body: Vec::new(),
        }
    }

    /// The declaration of what tells it.
    pub fn declared(&self) -> String {
        let head = self.head("static void", more(self.deliver()), &[]);
        printer::file(&[Item::Prototype(head)]) + "\n"
    }

    /// What tells it: within the step in which the application was called.
    pub fn function(&self) -> Function {
        let name = self.name();
        let port = &self.stack.program.ports[self.port.at()];
        let nobody = exists(self.stack, port).negated();
        let nothing = binary("==", atom(&name), atom("0"));
        let queued = Queued::Reaction(self.reaction);
        let members = queued.arguments(self.stack).into_iter();
        let members = members.map(|(member, _)| {
            let place = format!("with.{}.{member}", queued.name(self.stack));
            (place, atom(&name))
        });
        let waits = external::put(self.stack, self.reaction, "session", members.collect());
        let handled = port::called(self.stack, self.reaction, None, &[name]);
        let at_once = binary("==", atom("stack").behind("waiting"), atom("0"));
        let at_once = binary("&&", at_once, call("has_place", vec![atom("stack")]));
        let body = vec![
            S::If {
                condition: binary("||", nothing, nobody),
                then: vec![S::Return(None)],
                otherwise: Vec::new(),
            },
            S::If {
                condition: at_once,
                then: vec![S::Do(atom(handled.trim_end_matches(';')))],
                otherwise: vec![waits],
            },
            S::Do(call("run", vec![atom("stack")])),
        ];
        Function {
            comment: format!(
                "So much more may come up: what a function of {} gave back.",
                port.name
            ),
            body,
            ..self.head("static void", more(self.deliver()), &[])
        }
    }

    /// What handles it where the instance is at hand; none if it is of another kind.
    fn handler(&self, own: &Own, functions: &[&mut Function]) -> Option<Function> {
        let Reaction::Handle {
            kind,
            index: Index::Any,
            ..
        } = self.reaction
        else {
            return None;
        };
        let name = &self.stack.names.reactions[&self.reaction];
        let is_own = own.many && self.stack.names.kinds[kind.at()] == own.kind;
        let general = functions.iter().find(|one| one.name == *name && is_own)?;
        let mut handler = Function::clone(general);
        if walk::is_named(OWN, &handler.body) {
            return None;
        }
        let (_, number) = handler.parameters.get(1)?.rsplit_once(' ')?;
        let there = own.numbered(atom(number));
        let pointed = |value: &C| Own::pointed(value, &there, OWN);
        for statement in &mut handler.body {
            statement.each_value_mut(&mut |value| *value = replaced(value, &pointed));
        }
        handler.name = own_name(name);
        handler.comment += ", where it is at hand";
        handler.result = "static inline void".to_string();
        handler.parameters.insert(1, own.pointer() + OWN);
        Some(super::with_all_used(handler))
    }

    /// What calls the application from there.
    fn delivery(&self, own: &Own) -> Function {
        let name = self.name();
        let [steps, waiting] = [
            atom("stack").behind("shared").member("steps"),
            atom("stack").behind("waiting"),
        ];
        let told = binary("!=", steps.clone(), atom("steps"));
        let told = binary("||", told, binary("!=", waiting, atom("0")));
        let handler = own_name(&self.stack.names.reactions[&self.reaction]);
        let given = ["stack", OWN, "session", &name].map(atom).to_vec();
        let at_hand = S::If {
            condition: binary("!=", atom(&name), atom("0")),
            then: vec![
                S::Do(call(handler, given)),
                S::Do(call("run", vec![atom("stack")])),
            ],
            otherwise: Vec::new(),
        };
        let then = S::If {
            condition: told,
            then: vec![self.tells(&name)],
            otherwise: vec![at_hand],
        };
        let kept = Kept {
            kind: format!("const {}", self.kind()),
            name,
            then: vec![then],
        };
        let steps = S::Declare {
            kind: "const uint32_t".to_string(),
            name: "steps".to_string(),
            value: Some(steps),
        };
        let called = external::called(self.stack, self.port, Event::Deliver, Some(kept));
        let stack = &self.stack.names.stack;
        Function {
            comment: format!(
                "{}: the same from a path that has the instance at hand",
                self.stack.program.ports[self.port.at()].name
            ),
            result: "static inline void".to_string(),
            name: own_name(self.deliver()),
            parameters: vec![
                format!("struct {stack} *stack"),
                own.pointer() + OWN,
                "uint32_t session".to_string(),
                format!("const struct {stack}_message *message"),
            ],
            body: [vec![steps], called].concat(),
        }
    }

    /// Lets a path call that for its own instance; whether it does.
    fn is_called_by(&self, path: &mut Function, instance: &str, pointer: &str) -> bool {
        let general = external::now(self.deliver());
        let mut is_called = false;
        for statement in &mut path.body {
            statement.each_value_mut(&mut |value| {
                if let C::Call(name, given) = value
                    && *name == general
                    && given.get(1) == Some(&atom(instance))
                {
                    *name = own_name(self.deliver());
                    given.insert(1, atom(pointer));
                    is_called = true;
                }
            });
        }
        is_called
    }
}

/// Sees to it that a path which has its instance at hand tells it what is given back; gives the
/// functions that do so.
pub fn at_hand(
    stack: &Stack,
    expected: &Expected,
    functions: &mut [&mut Function],
) -> Vec<Function> {
    let Some(own) = &expected.own else {
        return Vec::new();
    };
    let mut made = Vec::new();
    for granted in Granted::all(stack) {
        let handler = granted.handler(own, functions);
        let path = functions.iter_mut().find(|one| expected.is_path(one));
        let at_hand = path.and_then(|path| expected.at_hand(path).map(|name| (path, name)));
        if let (Some(handler), Some((path, pointer))) = (handler, at_hand)
            && granted.is_called_by(path, &own.instance, &pointer)
        {
            made.extend([handler, granted.delivery(own)]);
        }
    }
    made
}

/// What tells what is given back by what is called so.
pub fn more(deliver: &str) -> String {
    format!("{deliver}_more")
}

/// What is called so where the instance is at hand.
fn own_name(name: &str) -> String {
    format!("{name}_own")
}
