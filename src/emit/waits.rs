//! Which ways of what frames start are followed by a look at the agenda: those alone that may have
//! put an event there.
//!
//! In: the functions of all reactions. Out: the same, where those that frames start handle what
//! they put on the agenda themselves. That is so where nothing else calls them: what an event of
//! the agenda calls would handle the others within itself.
//!
//! ```text
//! tell(stack, later);                       tell(stack, later);
//! return;                           =>      run(stack);
//!                                           return;
//! ```
//!
//! A fast path says at its end whether that may be so, for who takes its frame: that gives the
//! buffer of the frame back first.

use super::Stack;
use super::driver;
use super::external;
use super::granted::{self, GIVEN, Granted};
use super::leaves;
use super::output::Queued;
use super::parts;
use super::untaken;
use crate::c::tree::{self, atom, binary, call, call_statement, only_if};
use crate::c::tree::{Expression as C, Function, Statement as S};
use crate::c::walk;
use crate::tree::Reaction;
use crate::types::program::Event;
use std::collections::BTreeSet;

/// The functions that continue behind a fast path.
pub const GOING_ON: [&str; 3] = ["go_on", "leave_and_go_on", untaken::GOES_ON];

/// What all stacks have, and puts nothing on the agenda.
const QUIET: [&str; 7] = [
    "consume",
    "cut",
    "drop",
    "goes_on",
    "leave_now",
    "pad",
    "skip",
];

/// Whether what all stacks have puts nothing there. A frame that is sent waits, too, where its link
/// calls a function.
fn is_quiet(stack: &Stack, callee: &str) -> bool {
    QUIET.contains(&callee) || callee == "send_frame" && !leaves::calls_links(stack.program)
}

/// Lets what frames start handle what it put on the agenda; false if it stays for who calls it.
/// `others` are functions beside them that put nothing there.
pub fn look_where_needed(
    stack: &Stack,
    functions: &mut [&mut Function],
    queued: &BTreeSet<Queued>,
    others: &BTreeSet<String>,
) -> bool {
    let links = stack.program.links.iter();
    let started: Vec<Reaction> = links
        .flat_map(|link| driver::above_link(stack, link, Event::Deliver))
        .collect();
    let name = |reaction: &Reaction| stack.names.reactions[reaction].as_str();
    let names: BTreeSet<&str> = started.iter().map(name).collect();
    let mut bodies = functions.iter().map(|one| &one.body);
    let called = bodies.any(|body| is_called(body, &|callee| names.contains(callee)));
    let waits = |one: &Reaction| queued.contains(&Queued::Reaction(*one));
    if called
        || started.iter().any(waits)
        || external::calls_applications(stack.program)
        || leaves::calls_links(stack.program)
    {
        return false;
    }
    let ports = stack.names.ports.iter();
    let handed = ports.filter(|((_, event), _)| *event != Event::Start);
    let handed: BTreeSet<&str> = handed.map(|(_, name)| name.as_str()).collect();
    let reactions: BTreeSet<String> = functions.iter().map(|one| one.name.clone()).collect();
    let mut quiet: BTreeSet<String> = others.union(&reactions).cloned().collect();
    let may_put = |callee: &str, quiet: &BTreeSet<String>| {
        let of_all = callee.starts_with("sl_") || callee.starts_with("find_");
        let is_quiet = of_all && !reactions.contains(callee)
            || is_quiet(stack, callee)
            || quiet.contains(callee);
        !is_quiet && !handed.contains(callee)
    };
    loop {
        let before = quiet.len();
        for function in functions.iter() {
            let puts = is_called(&function.body, &|callee| may_put(callee, &quiet));
            if puts {
                quiet.remove(&function.name);
            }
        }
        if quiet.len() == before {
            break;
        }
    }
    let may_put = |callee: &str| may_put(callee, &quiet);
    let mut look = |all: &mut Vec<S>, at: usize, put: bool| {
        if put {
            all.insert(at, run());
        }
        at + usize::from(put)
    };
    for function in functions.iter_mut() {
        if names.contains(function.name.as_str())
            && statements(&mut function.body, false, &may_put, &mut look)
            && !tree::leaves(&function.body)
        {
            function.body.push(run());
        }
    }
    true
}

/// Lets a fast path go on where something may wait, and then return `waits` instead of `end`;
/// whether it does. It lets go of this buffer first, if it does so at all. What goes on keeps
/// nothing in registers for who calls it.
pub fn said_at_ends(
    stack: &Stack,
    path: &mut Vec<S>,
    (end, waits): (&C, &C),
    buffer: Option<&C>,
    known: &Known,
) -> bool {
    let deliver = stack.names.applications.keys();
    let deliver = deliver.map(|event| external::now(&stack.names.ports[event]));
    let mut ends = Ends {
        stack,
        granted: Granted::all(stack).collect(),
        deliver: deliver.collect(),
        sends: is_called(path, &|callee| callee == "send_frame"),
        // An application that is told something may send, and so may reactions that tell it.
        may_send: is_called(path, &|callee| known.puts(callee)),
        end: S::Return(Some(end.clone())),
        waits: S::Return(Some(waits.clone())),
        buffer,
        locals: 0,
        may_wait: false,
    };
    let mut say = |all: &mut Vec<S>, at: usize, put: bool| match put && all[at] == ends.end {
        true => ends.say(all, at),
        false => at,
    };
    statements(path, false, &|callee| known.puts(callee), &mut say);
    let Ends {
        granted,
        mut locals,
        may_wait,
        ..
    } = ends;
    let mut given = || local(&mut locals);
    for own in &granted {
        own.is_asked(path, &mut given);
    }
    may_wait
}

/// What one more local is called that holds what is given back.
fn local(locals: &mut u32) -> String {
    *locals += 1;
    match *locals {
        1 => GIVEN.to_string(),
        number => format!("{GIVEN}_{number}"),
    }
}

/// The ends of a fast path, where it says whether something may wait.
struct Ends<'e> {
    stack: &'e Stack<'e>,
    granted: Vec<Granted<'e>>,
    /// What calls applications where nothing else is under way.
    deliver: BTreeSet<String>,
    /// Whether the path sends frames, and whether one that it calls may.
    sends: bool,
    may_send: bool,
    /// What it returns at its ends, and what where something waits.
    end: S,
    waits: S,
    /// What it lets go of.
    buffer: Option<&'e C>,
    /// How many locals there are.
    locals: u32,
    /// Whether something may wait at one of them.
    may_wait: bool,
}

impl Ends<'_> {
    /// Says so at one of them, and gives where that stands then.
    fn say(&mut self, all: &mut Vec<S>, at: usize) -> usize {
        self.may_wait = true;
        // A frame that leaves behind that does so either way.
        let leaves = |one: &&S| {
            is_in(one, &|callee| callee == "leave_now") || **one == leaves::behind(false)
        };
        let leaving = all[..at].iter().rev().take_while(leaves);
        let leaving = at - leaving.count()..at;
        let goes = goes_on(&all[leaving.clone()], self.buffer);
        let last = leaving.start.checked_sub(1);
        let called = last.and_then(|last| self.called(&all[last], &goes));
        let (first, said) = match (last, called) {
            (Some(last), Some(called)) => (last, called),
            _ => {
                let waits = something_waits(self.stack, self.may_send);
                (leaving.start, vec![self.goes_on(waits, goes)])
            }
        };
        let behind_all = first + said.len() + leaving.len();
        all.splice(first..leaving.start, said);
        behind_all
    }

    fn goes_on(&self, condition: C, goes: C) -> S {
        only_if(condition, vec![S::Do(goes), self.waits.clone()])
    }

    /// The same where this calls an application; none if it does not.
    fn called(&mut self, last: &S, goes: &C) -> Option<Vec<S>> {
        if let Some(own) = self.granted.iter().find(|one| one.is_given_by(last)) {
            let then = |rest| vec![S::Do(own.first(rest, goes.clone())), self.waits.clone()];
            return Some(own.asked(last, &local(&mut self.locals), then).to_vec());
        }
        if !is_in(last, &|callee| self.deliver.contains(callee)) {
            return None;
        }
        // The path comes to an application where nothing waits.
        let [told, known] = granted::before_it_tells();
        let waits = something_waits(self.stack, self.sends);
        let has_told = binary("||", granted::has_told(), waits);
        let goes_on = self.goes_on(has_told, goes.clone());
        Some(vec![told, known, last.clone(), goes_on])
    }
}

/// Whether something waits: on the agenda, or for the function of a link, if that may be.
fn something_waits(stack: &Stack, sends: bool) -> C {
    let waiting = binary("!=", atom("stack").behind("waiting"), atom("0"));
    if !sends || !leaves::calls_links(stack.program) {
        return waiting;
    }
    let shared = |member| atom("stack").behind("shared").member(member);
    let answered = binary("!=", shared("answered"), shared("taken"));
    binary("||", waiting, answered)
}

/// Returns the call that handles the events that wait behind a fast path, after these frames leave.
fn goes_on(leaving: &[S], buffer: Option<&C>) -> C {
    let buffer = buffer.cloned().unwrap_or(atom("NULL"));
    let given = vec![atom("stack"), buffer];
    let mut leaves = leaving.iter().filter(|one| matches!(one, S::Do(_)));
    match (leaves.next(), leaves.next()) {
        (Some(S::Do(C::Call(_, leaves))), None) => {
            let frame = match &leaves[2] {
                C::Unary("&", message) => message.as_ref().clone(),
                other => C::Unary("*", Box::new(other.clone())),
            };
            let part = |part: &str| frame.clone().member(part);
            // Where it stands in its buffer is a number that the compiler knows.
            let first = part("buffer").cast("uint8_t *");
            let at = binary("-", part("data"), first).cast("size_t");
            let frame = [part("buffer"), at, part("length"), part("came_in")];
            let given = given.into_iter().chain([leaves[1].clone()]).chain(frame);
            call("leave_and_go_on", given.collect())
        }
        _ => call("go_on", given),
    }
}

/// Returns the functions that continue behind fast paths, as far as these functions call them:
/// declared before their callers, and defined after all of them.
pub fn going_on(stack: &Stack, functions: &[&Function]) -> Vec<Function> {
    let all = all_going_on(stack);
    let is_wanted = |name: &str| {
        let mut bodies = functions.iter().map(|one| &one.body);
        bodies.any(|body| is_called(body, &|callee| callee == name))
    };
    let granted = Granted::all(stack);
    let behind = granted.flat_map(|own| own.firsts(&all));
    let behind = Vec::from_iter(behind);
    let functions = behind.into_iter().chain(all);
    let functions = functions.filter(|one| is_wanted(&one.name));
    functions.collect()
}

fn all_going_on(stack: &Stack) -> [Function; 3] {
    let name = &stack.names.stack;
    let first = [
        format!("struct {name} *stack"),
        format!("struct {name}_buffer *buffer"),
    ];
    let given_back = S::If {
        condition: binary("!=", atom("buffer"), atom("NULL")),
        then: vec![external::given_back(atom("buffer"))],
        otherwise: Vec::new(),
    };
    let frame = [
        "unsigned link",
        &format!("struct {name}_buffer *own"),
        "size_t at",
        "uint32_t length",
        "bool came_in",
    ];
    let message = ["data", "length", "buffer", "came_in"];
    let values = ["(uint8_t *)own + at", "length", "own", "came_in"];
    let message = message.map(String::from).into_iter();
    let message = S::Declare {
        kind: format!("const struct {name}_message"),
        name: "message".to_string(),
        value: Some(C::Struct(
            format!("struct {name}_message"),
            message.zip(values.map(atom)).collect(),
        )),
    };
    let given = vec![atom("stack"), atom("link"), atom("message").address()];
    let leaves = S::Do(call("send_first", given));
    let has_room = leaves::may_stand(stack.program).then(|| leaves::behind(false));
    let leaves = [message].into_iter().chain(has_room).chain([leaves, run()]);
    let copied = ["stack", "link", "data", "length"].map(atom);
    let copied = S::Do(call("send_spare_first", copied.to_vec()));
    let frame_of = ["unsigned link", "const uint8_t *data", "uint32_t length"];
    let all = [
        (
            untaken::GOES_ON,
            "The same behind an answer that leaves, and stands where others are made, too.",
            [&first[..], &frame_of.map(String::from)].concat(),
            vec![given_back.clone(), copied, run()],
        ),
        (
            "go_on",
            "What a fast path has put on the agenda is handled.",
            first.to_vec(),
            vec![given_back.clone(), run()],
        ),
        (
            "leave_and_go_on",
            "The same behind a frame that leaves.",
            first.into_iter().chain(frame.map(String::from)).collect(),
            [given_back].into_iter().chain(leaves).collect(),
        ),
    ];
    all.map(|(name, comment, parameters, body)| Function {
        comment: comment.to_string(),
        result: "static void".to_string(),
        name: name.to_string(),
        parameters,
        body,
    })
}

/// Lets what handles something return whether something may wait then.
pub fn said(body: &mut Vec<S>, known: &Known) {
    let may_put = |callee: &str| known.puts(callee);
    apart(body, &may_put);
    let said = |put: bool| S::Return(Some(atom(if put { "true" } else { "false" })));
    let mut say = |all: &mut Vec<S>, at: usize, put: bool| {
        all[at] = said(put);
        at
    };
    let put = statements(body, false, &may_put, &mut say);
    if !tree::leaves(body) {
        body.push(said(put));
    }
}

/// A way that comes last, and puts something there, returns of its own.
fn apart(body: &mut [S], may_put: &dyn Fn(&str) -> bool) {
    if let Some(S::If {
        then, otherwise, ..
    }) = body.last_mut()
    {
        for way in [then, otherwise] {
            if is_called(way, may_put) && !tree::leaves(way) {
                apart(way, may_put);
                way.push(S::Return(None));
            }
        }
    }
}

/// The functions that put nothing on the agenda, and those of reactions, which may.
#[derive(Clone, Debug)]
pub struct Known<'k> {
    /// Of which stack.
    pub stack: &'k Stack<'k>,
    /// Those that put nothing there, beside what all stacks have.
    pub others: &'k BTreeSet<String>,
    /// Those of reactions, however they are called.
    pub reactions: BTreeSet<String>,
}

impl Known<'_> {
    /// Whether a function may put something on the agenda, as far as its name says.
    fn puts(&self, callee: &str) -> bool {
        let is_of_all = || {
            let begins = callee.starts_with("sl_") || callee.starts_with("find_");
            begins || parts::names(parts::OWN).any(|name| name == callee)
        };
        let is_quiet = is_quiet(self.stack, callee) || self.others.contains(callee);
        self.reactions.contains(callee) || !is_quiet && !is_of_all()
    }
}

/// What reactions call, and is defined behind all of them.
pub fn declared(stack: &Stack, functions: &[&Function]) -> String {
    let own = &stack.names.stack;
    let mut bodies = functions.iter().map(|one| &one.body);
    match bodies.any(|body| is_called(body, &|callee| callee == "run")) {
        true => format!("static inline bool run(struct {own} *stack);\n"),
        false => String::new(),
    }
}

/// Whether a function lets a frame wait until its link calls a function.
pub fn lets_wait(stack: &Stack, function: &Function) -> bool {
    let sends = is_called(&function.body, &|callee| callee == "send_frame");
    sends && leaves::calls_links(stack.program)
}

fn run() -> S {
    call_statement("run", vec![atom("stack")])
}

fn is_called(all: &[S], which: &dyn Fn(&str) -> bool) -> bool {
    let mut found = false;
    walk::each(all, &mut |one| found |= is_in(one, which));
    found
}

fn is_in(statement: &S, which: &dyn Fn(&str) -> bool) -> bool {
    let mut values = statement.expressions().into_iter();
    values.any(|value| calls(value, which))
}

fn calls(value: &C, which: &dyn Fn(&str) -> bool) -> bool {
    let this = matches!(value, C::Call(name, _) if which(name));
    this || value.parts().into_iter().any(|part| calls(part, which))
}

/// What is done where statements return, after they may have put something on the agenda or not;
/// gives where that then stands.
type Returned<'r> = dyn FnMut(&mut Vec<S>, usize, bool) -> usize + 'r;

/// Goes to where these statements return, and knows whether they may have put something on the
/// agenda, or something before them has; gives whether that is so where they go on.
fn statements(
    all: &mut Vec<S>,
    before: bool,
    may_put: &dyn Fn(&str) -> bool,
    returned: &mut Returned,
) -> bool {
    let mut put = before;
    let mut at = 0;
    while at < all.len() {
        put |= is_in(&all[at], may_put);
        match &mut all[at] {
            S::If {
                then, otherwise, ..
            } => {
                let goes_on = |way: &mut Vec<S>| {
                    statements(way, put, may_put, returned) && !tree::leaves(way)
                };
                put = [then, otherwise].map(goes_on).contains(&true) || put;
            }
            S::Switch {
                cases, otherwise, ..
            } => {
                let ways = cases.iter_mut().map(|(_, way)| way).chain(otherwise);
                // A way that does not return goes on behind the switch, or in the next turn.
                ways.for_each(|way| put |= statements(way, put, may_put, returned));
            }
            S::For { body, .. } | S::While { body, .. } => {
                // What one turn puts there is there in the next.
                put |= is_called(body, may_put);
                statements(body, put, may_put, returned);
            }
            S::Return(_) => at = returned(all, at, put),
            S::Comment(_)
            | S::Declare { .. }
            | S::Assign(..)
            | S::Do(_)
            | S::Continue
            | S::Break
            | S::Goto(_)
            | S::Label(_) => {}
        }
        at += 1;
    }
    put
}
