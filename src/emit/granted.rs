//! What a function of an application gives back that is called with a message: how much more may
//! come up.
//!
//! In: a port whose sessions count what comes up, and the functions of a stack. Out: what tells it
//! to whoever counts, as if the application had told it last; and on fast paths that have their
//! instance at hand the same for this instance, where the application has told nothing else: then
//! nothing has changed, and what the path knows still holds.
//!
//! ```text
//! bytes = arrived(.., session, ..)         told = stack.told
//! S_streams_grant_delivers(.., bytes)      bytes = arrived(.., session, ..)
//!                                          if told != stack.told { return true }
//!                                          return tcp_grant_delivers_own(own, bytes)
//! ```
//!
//! Where the application has told more, or what it gives back comes to more than a few fields,
//! nothing is done there: the answer is true, and what goes on behind the path tells it first.
//!
//! Assumes: what an application tells and sends is a step if it happens at once, and else waits.
//! Cost: what handles the grant stands once more in the C.

use super::Stack;
use super::algebra::replaced;
use super::expected::{Expected, Own};
use super::external::{self, Kept};
use super::layout::{c_type, given_names};
use super::leaves;
use super::port;
use super::postponed;
use super::untaken;
use super::waits;
use crate::c::tree::{Expression as C, Function, Statement as S};
use crate::c::tree::{atom, binary, call, conditional, only_if};
use crate::c::walk;
use crate::tree::{Index, Reaction};
use crate::types::program::{Event, Field, Notice, PortId};

/// What the instance is called that is at hand.
const OWN: &str = "own";

/// The same of whether an answer stands that leaves behind it.
const STANDS: &str = "stands";

/// The same behind the path.
const WHOSE: &str = "whose";

/// What is called so that an application gives back.
pub const GIVEN: &str = "given_back";

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
            "told", OWN, GIVEN, STANDS,
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
        let is_given = binary("!=", atom(&name), atom("0"));
        Kept {
            kind: format!("const {}", self.kind()),
            then: vec![only_if(is_given, vec![self.tells(&name)])],
            name,
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
    fn handler(
        &self,
        own: &Own,
        functions: &[&mut Function],
        known: &waits::Known,
    ) -> Option<Function> {
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
        let behind = waits::GOING_ON.map(|what| self.first_name(what));
        let names = [
            own_name(name),
            own_name(self.deliver()),
            self.first_name(REST),
        ];
        let names = names.iter().chain(&behind);
        let is_free = !names
            .into_iter()
            .any(|name| self.stack.names.taken.has(name));
        let general = functions.iter().find(|one| one.name == *name)?;
        if !is_own || !is_free {
            return None;
        }
        let mut handler = Function::clone(general);
        let is_named = |name: &str| walk::is_named(name, &handler.body);
        if is_named(OWN) || is_named(GIVEN) {
            return None;
        }
        let (_, number) = handler.parameters.get(1)?.rsplit_once(' ')?;
        let number = number.to_string();
        let there = own.numbered(atom(&number));
        let pointed = |value: &C| Own::pointed(value, &there, OWN);
        for statement in &mut handler.body {
            statement.each_value_mut(&mut |value| *value = replaced(value, &pointed));
        }
        handler.name = own_name(name);
        waits::said(&mut handler.body, known);
        let fields = &self.stack.program.kinds[kind.at()].fields;
        handler.body = postponed::writes(self.stack, fields, OWN, &handler.body)?;
        handler.comment += ", where it is at hand; whether nothing was done, for more is to be";
        handler.result = "static inline bool".to_string();
        handler.parameters[1] = own.pointer() + OWN;
        if walk::is_named(&number, &handler.body) {
            handler.body.insert(0, own.number(&number, OWN));
        }
        Some(super::with_all_used(handler))
    }

    /// What calls the application from there: if that has told nothing, a step may be taken, of
    /// those that the path has ahead.
    fn delivery(&self, own: &Own) -> Function {
        let name = self.name();
        let waits = binary("!=", atom("stack").behind("waiting"), atom("0"));
        let handler = own_name(&self.stack.names.reactions[&self.reaction]);
        let given = ["stack", OWN, &name].map(atom).to_vec();
        let steps = atom("stack").behind("shared").member("steps");
        let returned = |value: &str| S::Return(Some(atom(value)));
        let is_more = binary("||", has_told(), waits);
        let gives = S::Assign(atom(format!("*{GIVEN}")), "=", atom(&name));
        let kept = Kept {
            then: vec![gives, only_if(is_more, vec![returned("true")])],
            ..self.told()
        };
        let mut called = external::called(self.stack, self.port, Event::Deliver, Some(kept));
        called.pop();
        let is_called = external::calling(true);
        let begins = called.iter().position(|one| *one == is_called);
        let begins = begins.expect("it is being called") + 1;
        let may_stand = leaves::may_stand(self.stack.program);
        let stands = |is| may_stand.then(|| only_if(atom(STANDS), vec![untaken::stands(is)]));
        called.splice(begins..begins, stands(true));
        let ended = [external::calling(false)].into_iter().chain(stands(false));
        let counts = |number| S::Assign(steps.clone(), "+=", number);
        let answered = may_stand.then(|| counts(atom(STANDS)));
        let nothing = answered.into_iter().chain([returned("false")]).collect();
        let both = match may_stand {
            true => conditional(atom(STANDS), atom("2"), atom("1")),
            false => atom("1"),
        };
        // What is called knows no more of it on any way: a compiler that sees what the application
        // does need not say so before.
        let handled = ended.chain([
            only_if(binary("==", atom(&name), atom("0")), nothing),
            only_if(call(handler, given), vec![returned("true")]),
            counts(both),
            returned("false"),
        ]);
        let handled = Vec::from_iter(handled);
        let stack = &self.stack.names.stack;
        Function {
            comment: format!(
                "{}: the same from a path that has the instance at hand; whether more is to be \
                 done, with what is given back",
                self.stack.program.ports[self.port.at()].name
            ),
            result: "static inline bool".to_string(),
            name: own_name(self.deliver()),
            parameters: vec![
                format!("struct {stack} *stack"),
                own.pointer() + OWN,
                "uint32_t session".to_string(),
                format!("const struct {stack}_message *message"),
                format!("{} *{GIVEN}", self.kind()),
            ]
            .into_iter()
            .chain(may_stand.then(|| format!("bool {STANDS}")))
            .collect(),
            // The path comes here where nothing waits.
            body: [before_it_tells().to_vec(), called, handled].concat(),
        }
    }

    /// Whether a statement is the call of that.
    pub fn is_given_by(&self, statement: &S) -> bool {
        matches!(statement, S::Do(C::Call(name, _)) if *name == own_name(self.deliver()))
    }

    /// The same call, which leaves in a local what was given back, and what is done where it says
    /// that more is to be; `then` has that of the instance and what was given back.
    pub fn asked(&self, statement: &S, local: &str, then: impl Fn([C; 2]) -> Vec<S>) -> [S; 2] {
        let S::Do(C::Call(name, given)) = statement else {
            unreachable!("it is a call");
        };
        let declared = S::Declare {
            kind: self.kind(),
            name: local.to_string(),
            value: None,
        };
        let rest = [given[1].clone(), atom(local)];
        let stands = leaves::may_stand(self.stack.program).then(|| atom("false"));
        let told = [atom(local).address()].into_iter().chain(stands);
        let given = given.iter().cloned().chain(told).collect();
        [declared, only_if(call(name, given), then(rest))]
    }

    /// Lets such a call know that an answer has been made for which no buffer was taken, and no
    /// step counted; whether it is one. None if nothing lets that leave where more is to be done.
    pub fn has_answered(statement: &mut S, stack: &Stack) -> Option<bool> {
        let S::If {
            condition: C::Call(name, given),
            then,
            ..
        } = statement
        else {
            return Some(false);
        };
        let mut all = Granted::all(stack);
        let Some(own) = all.find(|one| *name == own_name(one.deliver())) else {
            return Some(false);
        };
        given.pop();
        given.push(atom("true"));
        let leaves = own.first_name(untaken::GOES_ON);
        let leaves = |one: &S| matches!(one, S::Do(C::Call(name, _)) if *name == leaves);
        then.iter().any(leaves).then_some(true)
    }

    /// Sees to it that all of these calls in a block are asked.
    pub fn is_asked(&self, block: &mut Vec<S>, local: &mut dyn FnMut() -> String) {
        for mut statement in std::mem::take(block) {
            for inner in statement.blocks_mut() {
                self.is_asked(inner, local);
            }
            if self.is_given_by(&statement) {
                let does = call(REST, vec![atom("stack")]);
                let then = |rest| vec![S::Do(self.first(rest, does.clone()))];
                block.extend(self.asked(&statement, &local(), then));
            } else {
                block.push(statement);
            }
        }
    }

    /// What does the rest for this instance and what it gave back, and then what goes on.
    pub fn first(&self, rest: [C; 2], goes_on: C) -> C {
        let C::Call(what, given) = goes_on else {
            unreachable!("it is a call");
        };
        call(self.first_name(&what), [&given[..], &rest].concat())
    }

    fn first_name(&self, what: &str) -> String {
        format!("{}_{what}", self.deliver())
    }

    /// The functions that do the rest first, and that alone.
    pub fn firsts(&self, going_on: &[Function]) -> Vec<Function> {
        let Reaction::Handle { kind, .. } = self.reaction else {
            return Vec::new();
        };
        let own = Own {
            instance: WHOSE.to_string(),
            kind: self.stack.names.kinds[kind.at()].clone(),
            many: true,
        };
        let is_given = binary("!=", atom(GIVEN), atom("0"));
        let tells = only_if(is_given, vec![self.tells(GIVEN)]);
        let is_over = atom("stack").behind("shared").member("calling").negated();
        // It is told as if the application were being called still.
        let rest = |stands: bool| {
            let again = stands.then(|| untaken::stands(true)).into_iter();
            let again = again.chain([external::calling(true)]).collect();
            let spare = stands.then(|| S::Do(call("take_spare", vec![atom("stack")])));
            let before = [
                own.number("session", WHOSE),
                only_if(is_over.clone(), again),
            ];
            let behind = [tells.clone(), external::calling(false)];
            Vec::from_iter(before.into_iter().chain(spare).chain(behind))
        };
        let alone = Function {
            comment: String::new(),
            result: "static void".to_string(),
            name: REST.to_string(),
            parameters: vec![format!("struct {} *stack", self.stack.names.stack)],
            body: Vec::new(),
        };
        let parameters = [
            format!("const {}{WHOSE}", own.pointer()),
            format!("{} {GIVEN}", self.kind()),
        ];
        let port = &self.stack.program.ports[self.port.at()].name;
        let all = going_on.iter().chain([&alone]);
        all.map(|one| Function {
            comment: format!(
                "{port}: what was given back is told where more came of a message. {}",
                one.comment
            )
            .trim_end()
            .to_string(),
            name: self.first_name(&one.name),
            parameters: [&one.parameters[..], &parameters].concat(),
            body: [&rest(one.name == untaken::GOES_ON)[..], &one.body].concat(),
            ..one.clone()
        })
        .collect()
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

/// What the rest of it is called.
const REST: &str = "rest";

/// The names of all functions that do so.
pub fn names(stack: &Stack) -> impl Iterator<Item = String> {
    Granted::all(stack).flat_map(|granted| {
        let handler = &stack.names.reactions[&granted.reaction];
        [own_name(handler), own_name(granted.deliver())]
    })
}

/// How often applications have told something that happened at once while they were called.
fn told() -> C {
    atom("stack").behind("told")
}

/// What stands before an application is called where nothing waits.
pub fn before_it_tells() -> [S; 2] {
    let nothing_waits = binary("==", atom("stack").behind("waiting"), atom("0"));
    let before = S::Declare {
        kind: "const uint32_t".to_string(),
        name: "told".to_string(),
        value: Some(told()),
    };
    [before, S::Do(call("sl_known", vec![nothing_waits]))]
}

/// Whether an application has told something since then.
pub fn has_told() -> C {
    binary("!=", told(), atom("told"))
}

/// Sees to it that a path which has its instance at hand tells it what is given back; gives the
/// functions that do so.
pub fn at_hand(
    stack: &Stack,
    expected: &Expected,
    functions: &mut [&mut Function],
    known: &waits::Known,
) -> Vec<Function> {
    let Some(own) = &expected.own else {
        return Vec::new();
    };
    let mut made: Vec<Function> = Vec::new();
    for granted in Granted::all(stack) {
        let handler = granted.handler(own, functions, known);
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
