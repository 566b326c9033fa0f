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
//! S_streams_grant_delivers(.., bytes)      bytes = arrived(.., session, ..)
//!                                          if steps == stack.steps {
//!                                              tcp_grant_delivers_own(own, bytes)
//!                                          } else {
//!                                              S_streams_grant_delivers(.., bytes)
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
use super::port;
use crate::c::tree::{Expression as C, Function, Statement as S, atom, binary, call};
use crate::c::walk;
use crate::tree::{Index, Reaction};
use crate::types::program::{Event, Field, Notice, PortId};

/// What the instance is called that is at hand.
const OWN: &str = "own";

/// What is given back where a port calls its application.
pub struct Granted<'s> {
    stack: &'s Stack<'s>,
    port: PortId,
    /// Who counts.
    reaction: Reaction,
    /// What is told: a number.
    notice: &'s Notice,
}

impl<'s> Granted<'s> {
    /// None where nothing is given back, or nobody counts.
    pub fn of(stack: &'s Stack<'s>, id: PortId, event: Event) -> Option<Granted<'s>> {
        let port = &stack.program.ports[id.at()];
        let notice = port
            .granted(stack.program)
            .filter(|_| event == Event::Deliver)?;
        let reaction = port::below(stack, port, Event::Notice(notice))?;
        Some(Granted {
            stack,
            port: id,
            reaction,
            notice: &stack.program.notices[notice.at()],
        })
    }

    /// Of all ports of a stack.
    pub fn all(stack: &'s Stack<'s>) -> impl Iterator<Item = Granted<'s>> {
        let ports = (0..stack.program.ports.len() as u32).map(PortId);
        ports.filter_map(|port| Granted::of(stack, port, Event::Deliver))
    }

    fn number(&self) -> &'s Field {
        &self.notice.parameters[0]
    }

    /// What it is in C.
    pub fn kind(&self) -> String {
        c_type(self.stack, &self.number().kind)
    }

    /// What it is called.
    fn name(&self) -> String {
        let own = [
            "user", "stack", "session", "message", "buffer", "data", "length", "now_ns", "with",
            "steps", "own",
        ];
        let number = self.number();
        let given = [(&number.kind, &*number.name)];
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
        let tells = self.tells(&name);
        self.kept(name, tells)
    }

    /// What is done with it, if it is not 0.
    fn kept(&self, name: String, then: S) -> Kept {
        let granted = S::If {
            condition: binary("!=", atom(&name), atom("0")),
            then: vec![then],
            otherwise: Vec::new(),
        };
        Kept {
            kind: format!("const {}", self.kind()),
            name,
            then: vec![granted],
        }
    }

    /// It is told as if the application had told it last.
    fn tells(&self, name: &str) -> S {
        let port = &self.stack.program.ports[self.port.at()];
        let tell = format!(
            "{}_{}_{}",
            self.stack.names.stack, port.name, self.notice.name
        );
        let now = atom("stack").behind("now_ns");
        let given = ["stack", "session", name].map(atom).into_iter();
        S::Do(call(tell, given.chain([now]).collect()))
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
        let names = [own_name(name), own_name(self.deliver())];
        let is_free = !names.iter().any(|name| self.stack.names.taken.has(name));
        let general = functions.iter().find(|one| one.name == *name)?;
        if !is_own || !is_free {
            return None;
        }
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

    /// What calls the application from there: if that has told nothing, a step may be taken, and
    /// there is a place for what the host is to do, since there was one for the path.
    fn delivery(&self, own: &Own) -> Function {
        let name = self.name();
        let told = binary("!=", steps(), atom("steps"));
        let waits = binary("!=", atom("stack").behind("waiting"), atom("0"));
        let budget = atom("stack").behind("config").member("budget");
        let is_last = binary(">=", steps(), budget);
        let handler = own_name(&self.stack.names.reactions[&self.reaction]);
        let given = ["stack", OWN, "session", &name].map(atom).to_vec();
        let then = S::If {
            condition: binary("||", binary("||", told, waits), is_last),
            then: vec![self.tells(&name)],
            otherwise: vec![
                S::Assign(steps(), "+=", atom("1")),
                S::Do(call(handler, given)),
                S::Do(call("run", vec![atom("stack")])),
            ],
        };
        let kept = self.kept(name, then);
        let steps = S::Declare {
            kind: "const uint32_t".to_string(),
            name: "steps".to_string(),
            value: Some(steps()),
        };
        let called = external::called(self.stack, self.port, Event::Deliver, Some(kept));
        let stack = &self.stack.names.stack;
        // The path comes here where nothing waits.
        let nothing_waits = binary("==", atom("stack").behind("waiting"), atom("0"));
        let known = call("sl_known", vec![nothing_waits]);
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
            body: [vec![steps, S::Do(known)], called].concat(),
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

/// The names of all functions that do so.
pub fn names(stack: &Stack) -> impl Iterator<Item = String> {
    Granted::all(stack).flat_map(|granted| {
        let handler = &stack.names.reactions[&granted.reaction];
        [own_name(handler), own_name(granted.deliver())]
    })
}

/// How many steps were taken in a call of the host.
fn steps() -> C {
    atom("stack").behind("shared").member("steps")
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
    let mut made: Vec<Function> = Vec::new();
    for granted in Granted::all(stack) {
        let handler = granted.handler(own, functions);
        let path = functions.iter_mut().find(|one| expected.is_path(one));
        let at_hand = path.and_then(|path| expected.at_hand(path).map(|name| (path, name)));
        if let (Some(handler), Some((path, pointer))) = (handler, at_hand)
            && granted.is_called_by(path, &own.instance, &pointer)
            && functions.iter().all(|one| one.name != handler.name)
        {
            made.extend([handler, granted.delivery(own)]);
        }
    }
    made
}

/// What is called so where the instance is at hand.
pub fn own_name(name: &str) -> String {
    format!("{name}_own")
}
