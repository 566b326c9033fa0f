//! Events on the agenda: a module comes in; the structs in which they wait, the functions that put
//! them there, and the one that handles what comes off goes out.
//!
//! ```text
//! later_X(stack, ..)    waits before all that does, if there is a place; else it is lost
//! next_X(stack, ..)     the same, and is handled within this step; its place is always free
//! handle(stack, ..)     calls X with what has waited
//! ```
//!
//! An event with a reserved place has only an index, which the place holds. The arguments of all
//! other events stand in a `struct STACK_event`.

use super::build::{line, own};
use super::goals::{arguments, is_kept, names, parameters};
use crate::back::c::names::Taken;
use crate::back::c::prototype::{Reach, called};
use crate::back::c::{Stack, shapes, types};
use crate::c::printer::declaration;
use crate::c::tree::{
    Expression as C, Item, Line, Statement as S, assign, atom, binary, call, call_statement,
    only_if,
};
use crate::ir::op::{Op, Target, Told};
use crate::ir::{PortId, Type};
use std::collections::{BTreeMap, BTreeSet};

/// All events that may wait on the agenda.
pub fn queued(stack: &Stack<'_>) -> BTreeSet<Target> {
    let module = stack.module;
    let mut all = BTreeSet::new();
    for function in &module.functions {
        for one in function.instructions() {
            match &one.op {
                Op::Queue(_, events) => all.extend(events.iter().map(|event| event.target)),
                Op::Output(events) => {
                    let targets = events.iter().map(|event| event.target);
                    all.extend(targets.filter(|target| module.calls_application(*target)));
                }
                _ => {}
            }
        }
    }
    all.extend(stack.rounds.iter().map(|(_, to)| Target::Function(*to)));
    let is_any_called = module.ports.iter().any(|port| port.calls.is_some());
    for (at, port) in module.ports.iter().enumerate() {
        let told = port.down.iter().filter_map(|notice| notice.handled);
        let sent = port.sends.filter(|_| is_any_called);
        all.extend(told.chain(sent).map(Target::Function));
        let up = (0..port.up.len() as u32).map(Told::Notice);
        let up = up.chain([Told::Message]);
        let up = up.map(|told| Target::Port(PortId(at as u32), told));
        all.extend(up.filter(|target| module.calls_application(*target)));
    }
    all
}

/// Returns true if events may wait on the agenda: if not, the stack has none.
pub fn has_agenda(stack: &Stack<'_>) -> bool {
    !queued(stack).is_empty()
}

/// Events that may wait, and the constants of their work.
pub struct Agenda<'s, 'm> {
    stack: &'s Stack<'m>,
    work: BTreeMap<Target, String>,
}

impl<'s, 'm> Agenda<'s, 'm> {
    /// An agenda for these events.
    pub fn new(stack: &'s Stack<'m>, queued: &BTreeSet<Target>) -> Agenda<'s, 'm> {
        let mut taken = Taken::default();
        let work = queued.iter().map(|target| {
            let name = stack.names.target(stack.module, *target);
            let constant = format!("DO_{name}").to_uppercase();
            (*target, taken.take(&constant))
        });
        let work = work.collect();
        Agenda { stack, work }
    }

    fn name(&self, target: Target) -> String {
        self.stack.names.target(self.stack.module, target)
    }

    /// The enum of work, the event, and the place on the agenda; none where no event waits.
    pub fn structs(&self) -> Vec<Item> {
        if self.work.is_empty() {
            return Vec::new();
        }
        let name = &self.stack.names.stack;
        let values = self.work.values().map(|work| line(work, ""));
        let mut all = vec![Item::Enum {
            comment: "Events that can wait on the agenda.".to_string(),
            name: "work".to_string(),
            values: values.collect(),
        }];
        let mut members = vec![
            line(
                "uint32_t next",
                "while its place is free, the free one behind it",
            ),
            line(
                &format!("struct {name}_message message"),
                "its message; without one, `came_in` is false",
            ),
        ];
        members.extend(self.union());
        all.push(Item::Struct {
            comment: "An event that waits, but for what is to be done.".to_string(),
            name: format!("{name}_event"),
            members,
        });
        all.push(Item::Struct {
            comment: "A place on the agenda.".to_string(),
            name: format!("{name}_place"),
            members: vec![
                line("uint32_t work", "what is to be done"),
                line("uint32_t instance", "by which instance, if it is no event"),
                line("uint32_t event", "the event, or 0 if there is none"),
                line(
                    "bool waited",
                    "whether it has let all go before it that was under way",
                ),
            ],
        });
        all
    }

    /// The arguments of all events that have some.
    fn union(&self) -> Option<Line> {
        let mut with = String::new();
        for target in self.work.keys() {
            let values = self.values(*target);
            if values.is_empty() || is_kept(self.stack.module, *target) {
                continue;
            }
            with += "        struct {\n";
            for (name, of) in values {
                for member in self.members(of, &name) {
                    with += &format!("            {member};\n");
                }
            }
            with += &format!("        }} {};\n", self.name(*target));
        }
        (!with.is_empty()).then(|| line(&format!("union {{\n{with}    }} with"), ""))
    }

    /// The members that hold an argument. A view is one of the message that waits.
    fn members(&self, of: Type, name: &str) -> Vec<String> {
        match of {
            Type::View | Type::Instance(_) => types::parameters(self.stack, of, name),
            Type::Int(_) | Type::Bytes(_) | Type::Message | Type::Float(_) | Type::Opaque(_) => {
                vec![declaration(&types::stored(self.stack, of), name)]
            }
        }
    }

    /// The arguments of an event, without its message.
    fn values(&self, target: Target) -> Vec<(String, Type)> {
        let mut all = arguments(self.stack, target);
        all.retain(|(_, of)| *of != Type::Message);
        all
    }

    /// The functions that put events on the agenda, by name.
    pub fn functions(&self) -> Vec<(String, Item)> {
        let mut all = Vec::new();
        for target in self.work.keys() {
            let name = self.name(*target);
            let arguments = arguments(self.stack, *target);
            let put = |verb: &str, how: [&str; 2]| {
                let parameters = parameters(self.stack, &arguments);
                let body = self.put(*target, how);
                own("", &format!("{verb}_{name}"), parameters, body)
            };
            all.push(put("later", ["later", "kept"]));
            if matches!(target, Target::Function(_)) {
                all.push(put("next", ["next_step", "next_kept"]));
            }
        }
        all
    }

    /// Puts an event on the agenda, with all that it has or with its index alone.
    fn put(&self, target: Target, [usual, kept]: [&str; 2]) -> Vec<S> {
        let work = atom(&self.work[&target]);
        let values = self.values(target);
        if is_kept(self.stack.module, target) {
            let index = values.first().map_or("0", |(name, _)| name);
            return vec![call_statement(kept, vec![atom("stack"), work, atom(index)])];
        }
        let name = self.name(target);
        let has_message = arguments(self.stack, target).len() > values.len();
        let message = atom(if has_message { "message" } else { "NULL" });
        let called = call(usual, vec![atom("stack"), work, message]);
        let event = atom("event");
        let values = values.into_iter().flat_map(|(value, of)| {
            let members = names(&value, of).into_iter();
            let with = || event.clone().behind("with").member(&name);
            let all = members.map(|one| (with().member(&one), shapes::stored(of, atom(&one))));
            all.map(|(place, value)| assign(place, value))
                .collect::<Vec<_>>()
        });
        let values: Vec<S> = values.collect();
        if values.is_empty() {
            return vec![S::Do(called.cast("void"))];
        }
        let event_type = format!("struct {}_event *const", self.stack.names.stack);
        let declared = S::Declare {
            kind: event_type,
            name: "event".to_string(),
            value: Some(called),
        };
        let there = binary("!=", event, atom("NULL"));
        match usual {
            "later" => vec![declared, only_if(there, values)],
            _always => [vec![declared], values].concat(),
        }
    }

    /// `handle`: what comes off the agenda is done; none where no event waits.
    pub fn handle(&self) -> Option<Item> {
        if self.work.is_empty() {
            return None;
        }
        let cases = self.work.iter().map(|(target, work)| {
            let mut body = self.handled(*target);
            body.push(S::Break);
            (vec![atom(work)], body)
        });
        let name = &self.stack.names.stack;
        let module = self.stack.module;
        let mut targets = self.work.keys();
        let uses_event = targets
            .any(|target| !is_kept(module, *target) && !arguments(self.stack, *target).is_empty());
        let switch = S::Switch {
            value: atom("place").behind("work"),
            cases: cases.collect(),
            otherwise: None,
        };
        let body = match uses_event {
            true => vec![switch],
            false => vec![S::Do(atom("event").cast("void")), switch],
        };
        let parameters = vec![
            format!("struct {name} *stack"),
            format!("const struct {name}_place *place"),
            format!("struct {name}_event *event"),
        ];
        let comment = "Handles an event that comes off the agenda.";
        Some(own(comment, "handle", parameters, body).1)
    }

    fn handled(&self, target: Target) -> Vec<S> {
        let given = self.given(target);
        let name = self.name(target);
        match target {
            Target::Function(id) => vec![S::Do(called(self.stack, Reach::Stack, id, given))],
            Target::Link(_) => {
                let given = [vec![atom("stack")], given].concat();
                vec![call_statement(format!("tell_{name}"), given)]
            }
            Target::Port(..) => {
                let given = [vec![atom("stack")], given].concat();
                let message = atom("event").behind("message");
                let by_value = given
                    .iter()
                    .map(|one| match *one == message.clone().address() {
                        true => message.clone(),
                        false => one.clone(),
                    });
                let by_value = by_value.collect();
                let surfaces = call_statement(&name, given.clone());
                match self.stack.module.calls_application(target) {
                    true => vec![S::If {
                        condition: atom("place").behind("waited"),
                        then: vec![call_statement(format!("call_{name}"), by_value)],
                        otherwise: vec![surfaces],
                    }],
                    false => vec![surfaces],
                }
            }
        }
    }

    /// The arguments of an event where it is handled.
    fn given(&self, target: Target) -> Vec<C> {
        let kept = is_kept(self.stack.module, target);
        let name = self.name(target);
        let all = arguments(self.stack, target).into_iter();
        let with = || atom("event").behind("with").member(&name);
        let all = all.flat_map(|(value, of)| match of {
            Type::Message => vec![atom("event").behind("message").address()],
            _index if kept => vec![atom("place").behind("instance")],
            _ => {
                let members = names(&value, of).into_iter();
                members.map(|one| with().member(one)).collect()
            }
        });
        all.collect()
    }
}
