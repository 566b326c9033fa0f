//! What leaves by a link: it waits for the host, or a function of the host is called.
//!
//! ```text
//! link l calls f      void S_f(.., struct S *stack, const uint8_t *data, size_t length, ..)
//! ```
//!
//! It is called when nothing else is under way, behind the applications that a call of the host
//! came to: what leaves before that waits among what the host asks for (`let_leave`). Where a frame
//! is the last that is done of an event it need not wait (`leave_last`), nor on a fast path,
//! which begins where nothing waits and lets its frame leave behind all else (`at_ends`). The frame
//! has given its buffer back by then: the function may call the stack as a host may, and has read
//! the frame before.

use super::Stack;
use super::external::{self, calls_applications};
use super::granted;
use super::output::Queued;
use super::parts;
use super::port::below;
use super::reacting::Reacting;
use crate::c::printer;
use crate::c::tree::{Expression as C, Function, Item, Statement as S};
use crate::c::tree::{assign, atom, binary, call};
use crate::c::walk;
use crate::tree::walk::reachable;
use crate::tree::{Goal, Node, Output, Reaction};
use crate::types::program::{Event, LinkId, Program};
use std::collections::BTreeSet;

/// Stands where an application may change what an answer hangs on that was made in no buffer.
pub const TAKES_SPARE: &str = "    TAKES_SPARE\n";

/// Whether a link of a stack calls a function.
pub fn calls_links(program: &Program) -> bool {
    program.links.iter().any(|link| link.calls.is_some())
}

/// Whether an application may be called while an answer stands that leaves behind that.
pub fn may_stand(program: &Program) -> bool {
    calls_applications(program) && calls_links(program)
}

/// From here on an answer leaves behind the application that is called, or no more: it is to have
/// room then.
pub fn behind(is: bool) -> S {
    let leaves = atom("stack").behind("shared").member("leaves");
    assign(leaves, atom(if is { "true" } else { "false" }))
}

/// A text that leaves room for such an answer, if there may be one; it may wait in a spare buffer.
pub fn with_room(program: &Program, stands: bool, text: &str) -> String {
    let less = match may_stand(program) {
        true => " - behind(stack)",
        false => "",
    };
    let spare = match stands {
        true => " + (stack->spare != NULL ? 1U : 0U)",
        false => "",
    };
    text.replace(" LESS_BEHIND", less)
        .replace(" OR_SPARE", spare)
}

/// The functions that whoever uses a stack writes for its links.
pub fn prototypes(stack: &Stack) -> impl Iterator<Item = Item> {
    let name = &stack.names.stack;
    stack.names.leaving.iter().flatten().map(move |function| {
        Item::Prototype(Function {
            comment: String::new(),
            result: "void".to_string(),
            name: function.clone(),
            parameters: vec![
                "void *user".to_string(),
                format!("struct {name} *stack"),
                "const uint8_t *data".to_string(),
                "size_t length".to_string(),
                "uint64_t now_ns".to_string(),
            ],
            body: Vec::new(),
        })
    })
}

/// The function through which a frame leaves that is the last that is done of an event.
pub fn last(stack: &Stack, link: LinkId) -> &'static str {
    match stack.names.leaving[link.at()] {
        Some(_) => "leave_last",
        None => "send_frame",
    }
}

/// Whether what an application sends lets its frame leave alone, so that there are two of its
/// function: one that knows so.
pub fn leaves_alone(stack: &Stack, quiet: &BTreeSet<Reaction>, reaction: Reaction) -> bool {
    let leaves = |output: &Output| match output {
        Output::One { goal, .. } => match goal {
            Goal::Frame(link) => stack.names.leaving[link.at()].is_some(),
            Goal::Port(..) | Goal::Reaction(..) | Goal::Otherwise => false,
        },
        Output::Many(_) | Output::Every { .. } => false,
    };
    let mut ports = stack.program.ports.iter();
    let is_sent =
        ports.any(|port| port.passes && below(stack, port, Event::Send) == Some(reaction));
    let nodes = stack
        .tree(reaction)
        .map(|tree| reachable(stack.forest, tree.root));
    let mut nodes = nodes.into_iter().flatten();
    let is_free = || !stack.names.taken.has(&alone_name(stack, reaction));
    is_sent
        && quiet.contains(&reaction)
        && is_free()
        && nodes.any(|node| match stack.forest.arena.node(node) {
            Node::Leaf { outputs } => outputs.iter().any(leaves),
            Node::Act { .. } | Node::Test { .. } | Node::Case { .. } | Node::Try { .. } => false,
        })
}

/// What the function is called that knows that nothing else is under way.
pub fn alone_name(stack: &Stack, reaction: Reaction) -> String {
    format!("{}_alone", stack.names.reactions[&reaction])
}

/// Those functions, beside the others where these are still called.
pub fn let_leave_alone(
    stack: &Stack,
    quiet: &BTreeSet<Reaction>,
    queued: &BTreeSet<Queued>,
    all: &mut [Reacting],
) {
    let mut called = BTreeSet::new();
    for function in all.iter().flat_map(|one| &one.functions) {
        walk::each(&function.body, &mut |one| {
            if let S::Do(C::Call(name, _)) = one {
                called.insert(name.clone());
            }
        });
    }
    for one in all {
        let name = &stack.names.reactions[&one.reaction];
        let at = one.functions.iter().position(|own| own.name == *name);
        let Some(at) = at.filter(|_| leaves_alone(stack, quiet, one.reaction)) else {
            continue;
        };
        let mut alone = one.functions[at].clone();
        alone.name = alone_name(stack, one.reaction);
        alone.comment += ", where nothing else is under way";
        walk::each_mut(&mut alone.body, &mut |statement| {
            if let S::Do(C::Call(name, _)) = statement
                && name == "leave_last"
            {
                *name = "leave_now".to_string();
            }
        });
        let is_called = calls_applications(stack.program)
            || queued.contains(&Queued::Reaction(one.reaction))
            || called.contains(name);
        match is_called {
            true => one.functions.insert(at, alone),
            false => one.functions[at] = alone,
        }
    }
}

/// On a fast path, which begins where nothing waits, frames leave at its ends behind all else.
/// Before an application that is called there, one has room where it would have left.
pub fn at_ends(stack: &Stack, path: &mut Vec<S>) {
    let applications = stack.names.applications.keys();
    let applications = applications.flat_map(|event| {
        let name = &stack.names.ports[event];
        [name.clone(), external::now(name), granted::own_name(name)]
    });
    let applications = match may_stand(stack.program) {
        true => applications.collect(),
        false => BTreeSet::new(),
    };
    moved_to_ends(stack, path, &applications);
}

fn moved_to_ends(stack: &Stack, path: &mut Vec<S>, applications: &BTreeSet<String>) {
    let of_link = |statement: &S| {
        let S::Do(C::Call(name, given)) = statement else {
            return false;
        };
        let mut calling = stack.names.leaving.iter().enumerate();
        ["send_frame", "leave_last"].contains(&name.as_str())
            && calling.any(|(at, one)| one.is_some() && given[1] == atom(at.to_string()))
    };
    let is_end = |statement: &S| matches!(statement, S::Do(_) | S::Assign(..) | S::Return(_));
    for statement in path.iter_mut() {
        let blocks = statement.blocks_mut().into_iter();
        blocks.for_each(|block| moved_to_ends(stack, block, applications));
    }
    let ends = matches!(path.last(), Some(S::Return(_)));
    let mut leaving = path.iter().enumerate().filter(|(_, one)| of_link(one));
    if let (true, Some((at, _)), None) = (ends, leaving.next(), leaving.next())
        && path[at..].iter().all(is_end)
    {
        let S::Do(C::Call(_, given)) = path.remove(at) else {
            unreachable!("it lets a frame leave");
        };
        let is_called =
            |one: &S| matches!(one, S::Do(C::Call(name, _)) if applications.contains(name));
        let end = path.len() - 1;
        let calls = path[at..end].iter().any(is_called);
        let leaves = S::Do(call("leave_now", given));
        let leaves = calls.then(|| behind(false)).into_iter().chain([leaves]);
        path.splice(end..end, leaves);
        path.splice(at..at, calls.then(|| behind(true)));
    }
}

/// The parts about what leaves that code calls.
pub fn selected(stack: &Stack, code: &str, stands: Option<&(String, u64)>) -> Vec<String> {
    let texts = parts::select(parts::LEAVES, code).into_iter();
    let texts = texts.map(|text| filled(stack, text));
    let placed = |text: String| match stands {
        Some((place, bytes)) => text
            .replace("KEPT_PLACE", place)
            .replace("KEPT_BYTES", &bytes.to_string()),
        None => text,
    };
    texts.map(placed).collect()
}

/// A text that says what is called by each link, and when.
pub fn filled(stack: &Stack, text: &str) -> String {
    let mut text = text.to_string();
    for depth in 1..=2 {
        let place = format!("\n{}BY_LINK\n", "    ".repeat(depth));
        if text.contains(&place) {
            let called = printer::block(&by_link(stack), depth);
            text = text.replace(&place, &format!("\n{called}"));
        }
    }
    let calling = match calls_applications(stack.program) {
        true => " && !stack->shared.calling",
        false => "",
    };
    text.replace(
        "IS_OTHER",
        &printer::expression(&is_called(stack).negated()),
    )
    .replace(" IS_CALLING", calling)
}

/// Whether a link calls a function with an answer of the stack.
fn is_called(stack: &Stack) -> C {
    let one = |member: &str| atom("one").behind(member);
    // The text that this stands in gets the names of the stack behind it.
    let is_frame = binary("==", one("next"), atom("UPPER_FRAME"));
    if stack.names.leaving.iter().all(Option::is_some) {
        return is_frame;
    }
    let calling = calling(stack).map(|(at, _)| binary("==", one("place"), atom(at.to_string())));
    match calling.reduce(|one, other| binary("||", one, other)) {
        Some(by_link) => binary("&&", is_frame, by_link),
        None => atom("false"),
    }
}

/// The links that call a function.
fn calling<'s>(stack: &'s Stack) -> impl Iterator<Item = (usize, &'s String)> {
    let links = stack.names.leaving.iter().enumerate();
    links.filter_map(|(at, function)| Some((at, function.as_ref()?)))
}

/// The call of the function of a link.
fn by_link(stack: &Stack) -> Vec<S> {
    let user = atom("stack").behind("config").member("user");
    let now_ns = atom("stack").behind("now_ns");
    let given = [user, atom("stack"), atom("data"), atom("length"), now_ns];
    let called = |function: &String| S::Do(call(function, given.to_vec()));
    match &stack.names.leaving[..] {
        [Some(function)] => vec![S::Do(atom("(void)link")), called(function)],
        _several => {
            let cases = calling(stack)
                .map(|(at, function)| (vec![atom(at.to_string())], vec![called(function)]));
            vec![S::Switch {
                value: atom("link"),
                cases: cases.collect(),
                otherwise: None,
            }]
        }
    }
}
