//! What applications send: where it is copied, and how it sets out on its way down.
//!
//! In: a port. Out: a function of the header, so that the compiler of an application knows how much
//! it copies and what goes with it, and two that it calls:
//!
//! ```text
//! S_p_send    copies to the next buffer, if that can be at once; then    S_p_send_from
//!                                                             or else S_p_send_later
//! ```
//!
//! What an application sends while it is called goes to S_p_send_later, too. What only becomes part
//! of a stream is copied there at once, and not to a buffer before.

use super::Stack;
use super::begun::Begun;
use super::external;
use super::inline::{declaring, sized};
use super::leaves;
use super::parts;
use super::port::{attributes, below, called, exists, said, wrapped};
use crate::c::printer;
use crate::c::tree::{
    Expression as C, Statement as S, assign, atom, binary, call, conditional, only_if,
};
use crate::tree::Reaction;
use crate::types::program::{Event, Port};
use crate::types::value::Type;
use std::collections::BTreeSet;

/// Where a step is counted, unless nothing asks how many there were; a link that calls may have let
/// another call of the host begin, which asks when this one is through.
const COUNTED: &str = "    shared->steps = 1;\n";

/// Where what is sent is copied to a buffer, unless it only becomes part of a stream.
const COPIED: &str = "    struct STACK_buffer *const next = shared->free;\n    \
     if (length != 0) {\n        memcpy(next->bytes + HEADROOM, data, length);\n    }\n";

/// The name of `NAME_PORT_send_from` in the text that the header has.
const FROM: &str = "from";

/// Returns the function of the header that sends.
pub fn inline(
    stack: &Stack,
    port: &Port,
    head: &str,
    quiet: &BTreeSet<Reaction>,
) -> Option<String> {
    let reaction = sent_at_once(stack, port)?;
    let own = format!("{}_{}_send", stack.names.stack, port.name);
    if !head.starts_with(&format!("{}{own}(", result(stack))) {
        return None;
    }
    let is_appended = stack.only_appends(reaction);
    let [from, later] = heads(stack, port, head, is_appended);
    let sets_out = sets_out(stack, port, is_appended, atom("now_ns"));
    let sent = printer::block(&[S::Return(Some(sets_out))], 1);
    let text = parts::part(parts::INLINE, "STACK_PORT_send")
        .replace("HEAD {", &format!("inline {} {{", wrapped(head)))
        .replace("    SENT\n", &sent)
        .replace(
            "length > ROOM",
            &format!("length > {}", stack.longest(port)),
        )
        .replace(COPIED, if is_appended { "" } else { COPIED })
        .replace("STACK_PORT", &format!("STACK_{}", port.name))
        .replace(
            COUNTED,
            if quiet.contains(&reaction) && !leaves::calls_links(stack.program) {
                ""
            } else {
                COUNTED
            },
        );
    let text = declaring(stack, &text, |name| match name {
        FROM => from.clone(),
        _later => later.clone(),
    });
    Some(parts::named(&sized(stack, &text), &stack.names.stack, ""))
}

/// What the file has of it.
pub fn functions(
    stack: &Stack,
    port: &Port,
    head: &str,
    (quiet, begun): (&BTreeSet<Reaction>, &[Begun]),
) -> Vec<String> {
    let with_body = |head: &str, body: String| format!("{} {{\n{body}}}\n", wrapped(head));
    let Some(reaction) = sent_at_once(stack, port) else {
        let unused = ["session", "with", "data", "length", "now_ns"];
        let unused = unused.map(|name| format!("    (void){name};\n"));
        let refused = printer::block(&refused(stack, "STACK_NO_SESSION"), 1);
        return vec![with_body(head, unused.concat() + &refused)];
    };
    let is_appended = stack.only_appends(reaction);
    let [from, later] = heads(stack, port, head, is_appended);
    let begun = begun.iter().find(|one| one.reaction == reaction);
    let anew = from_body(stack, port, reaction, (quiet, begun));
    let mut all = match begun {
        Some(begun) => {
            let (_, given) = from.split_once('(').expect("it is given something");
            let own = format!("static {}{}({given}", result(stack), begun.anew_name());
            let again = goes_again(stack, quiet, begun, is_appended);
            vec![
                format!(
                    "#ifdef __GNUC__\n{}\n    __attribute__((noinline));\n#endif\n\n\
                     /* The same where a message does not go as the last one did. */\n{}",
                    wrapped(&own),
                    with_body(&own, anew)
                ),
                with_body(&from, again),
            ]
        }
        None => vec![with_body(&from, anew)],
    };
    all.extend([
        with_body(&later, later_body(stack, port, reaction, quiet)),
        format!("{};\n", wrapped(&format!("extern inline {head}"))),
    ]);
    all
}

/// The reaction to what is sent.
fn sent_at_once(stack: &Stack, port: &Port) -> Option<Reaction> {
    below(stack, port, Event::Send).filter(|_| port.passes)
}

/// The call by which a message sets out from the buffer that is taken next, or, if it only becomes
/// part of a stream, from where the application has it.
fn sets_out(stack: &Stack, port: &Port, is_appended: bool, now_ns: C) -> C {
    let own = format!("{}_{}_send_from", stack.names.stack, port.name);
    call(own, given(is_appended, now_ns))
}

/// The arguments of that call.
fn given(is_appended: bool, now_ns: C) -> Vec<C> {
    let data = is_appended.then_some("data").into_iter();
    let all = ["stack", "session", "with"].into_iter().chain(data);
    let all = all.chain(["length"]).map(atom);
    all.chain([now_ns]).collect()
}

/// The heads of what sends at once, and behind what waits.
fn heads(stack: &Stack, port: &Port, head: &str, is_appended: bool) -> [String; 2] {
    let own = format!("{}_{}_send", stack.names.stack, port.name);
    let data = "const uint8_t *data, ";
    let from = head
        .replace(&format!(" {own}("), &format!(" {own}_from("))
        .replace(data, if is_appended { data } else { "" });
    let later = head.replace(&format!(" {own}("), &format!(" {own}_later("));
    [from, later]
}

fn from_body(
    stack: &Stack,
    port: &Port,
    reaction: Reaction,
    (quiet, begun): (&BTreeSet<Reaction>, Option<&Begun>),
) -> String {
    // Nothing is done, and no step is taken.
    let mut unsent = vec![assign(shared("steps"), atom("0"))];
    unsent.extend(refused(stack, "STACK_NO_SESSION"));
    let unsent = only_if(exists(stack, port).negated(), unsent);
    let mut text = printer::block(&[unsent], 1);
    if let Some(begun) = begun {
        let begins = begun.begins_name();
        let begins = S::Do(call(begins, vec![atom("stack"), atom("session")]));
        text += &printer::block(&[only_if(has_nothing_beside(), vec![begins])], 1);
    }
    text += "    stack->now_ns = now_ns;\n";
    text += &printer::block(&watched(stack), 1);
    text += &new_message(stack, "take_sent");
    if stack.only_appends(reaction) {
        text += "    if (length != 0) {\n        /* It is only read. */\n        \
                 message.data = (uint8_t *)(uintptr_t)data;\n    }\n";
    }
    text += match begun.is_none() && attributes(stack, port).is_empty() {
        true => "    (void)with;\n",
        false => "",
    };
    text += &set_if_given(stack, port);
    let mut sent = called(stack, reaction, Some("message"), &[]);
    if leaves::leaves_alone(stack, quiet, reaction) {
        let name = &stack.names.reactions[&reaction];
        sent = sent.replacen(name, &leaves::alone_name(stack, reaction), 1);
    }
    text += &match quiet.contains(&reaction) {
        true => format!("    {sent}\n"),
        false => format!("    {sent}\n    run(stack);\n"),
    };
    text + &printer::block(&answered(stack), 1)
}

fn later_body(
    stack: &Stack,
    port: &Port,
    reaction: Reaction,
    quiet: &BTreeSet<Reaction>,
) -> String {
    let begun = call("begin_call", vec![atom("stack"), atom("now_ns")]);
    let mut takes = binary("&&", begun, call("may_go_on", vec![atom("stack")]));
    let mut begins = "    stack->shared.steps += 1;\n".to_string();
    let mut now_ns = atom("now_ns");
    let is_called = external::calls_applications(stack.program);
    if is_called {
        takes = conditional(
            shared("calling"),
            external::refused(stack, 1).negated(),
            takes,
        );
        begins = format!(
            "    if (!stack->shared.calling) {{\n    {begins}    }} else if \
             (!begins_inside(stack)) {{\n{}    }}\n",
            waits(stack, port, reaction)
        );
        // What is sent while an application is called has the time of the call that goes on.
        now_ns = atom("stack").behind("now_ns");
    }
    let is_appended = stack.only_appends(reaction);
    let sets_out = S::Return(Some(sets_out(stack, port, is_appended, now_ns)));
    let mut inside = String::new();
    let sent = match is_called && leaves::leaves_alone(stack, quiet, reaction) {
        true => {
            inside = printer::block(&watched(stack), 1);
            inside += &(new_message(stack, "take_sent") + &set_if_given(stack, port));
            inside += &format!("    {}\n", called(stack, reaction, Some("message"), &[]));
            inside += &printer::block(&answered(stack), 1);
            only_if(shared("calling").negated(), vec![sets_out])
        }
        false => sets_out,
    };
    let copied = match is_appended && !is_called {
        true => "",
        false => "    sl_copy(stack->shared.free->bytes + HEADROOM, data, length);\n",
    };
    printer::block(&asked(stack, port, takes), 1)
        + leaves::TAKES_SPARE
        + &printer::block(&[has_buffer(stack)], 1)
        + copied
        + &begins
        + &printer::block(&[sent], 1)
        + &inside
}

/// What an application sends while it is called, and something waits, waits behind that.
fn waits(stack: &Stack, port: &Port, reaction: Reaction) -> String {
    let message = vec![("message".to_string(), atom("message"))];
    let put = external::put(stack, reaction, "session", message);
    // It is nothing that this call could still refuse.
    let text = new_message(stack, "take_buffer")
        + &set_if_given(stack, port)
        + &printer::block(&[put, S::Return(Some(constant(stack, "SENT")))], 1);
    text.lines().map(|line| format!("    {line}\n")).collect()
}

/// What can never be taken is refused; for what can, the stack must be ready.
fn asked(stack: &Stack, port: &Port, takes: C) -> [S; 4] {
    let longest = atom(stack.longest(port).to_string());
    let is_too_long = binary(">", atom("length"), longest);
    [
        S::Declare {
            kind: "const bool".to_string(),
            name: "takes_more".to_string(),
            value: Some(takes),
        },
        only_if(
            exists(stack, port).negated(),
            refused(stack, "STACK_NO_SESSION"),
        ),
        only_if(is_too_long, refused(stack, "STACK_TOO_LONG")),
        only_if(
            atom("takes_more").negated(),
            vec![S::Return(Some(constant(stack, "LATER")))],
        ),
    ]
}

/// And there must be a buffer.
fn has_buffer(stack: &Stack) -> S {
    let has_buffer = format!("{}_has_buffer", stack.names.stack);
    only_if(
        call(has_buffer, vec![atom("stack")]).negated(),
        vec![S::Return(Some(constant(stack, "LATER")))],
    )
}

/// The message is refused for a reason of the stack's own, which is counted.
fn refused(stack: &Stack, reason: &str) -> Vec<S> {
    let counted = binary("+", atom("UNSENT"), atom(reason));
    let counter = atom("stack").behind("counters").element(counted);
    vec![
        S::Assign(counter, "+=", atom("1")),
        S::Return(Some(constant(stack, "REFUSED"))),
    ]
}

/// From here on a drop of what is sent next is noticed. Where functions of the host are called, it
/// may send something else before this is through.
fn watched(stack: &Stack) -> Vec<S> {
    let outer = S::Declare {
        kind: format!("struct {}_buffer *const", stack.names.stack),
        name: "outer".to_string(),
        value: Some(shared("sent")),
    };
    let outer = nests(stack).then_some(outer);
    let watched = assign(shared("sent"), shared("free"));
    outer.into_iter().chain([watched]).collect()
}

/// What has become of it.
fn answered(stack: &Stack) -> Vec<S> {
    let outcome = call("outcome", vec![atom("stack")]);
    if !nests(stack) {
        return vec![S::Return(Some(outcome))];
    }
    let kept = S::Declare {
        kind: format!("const enum {}_send", stack.names.stack),
        name: "became".to_string(),
        value: Some(outcome),
    };
    vec![
        kept,
        assign(shared("sent"), atom("outer")),
        S::Return(Some(atom("became"))),
    ]
}

/// Whether functions of the host are called, which may send while something is sent.
fn nests(stack: &Stack) -> bool {
    external::calls_applications(stack.program) || leaves::calls_links(stack.program)
}

/// What the functions of this file return, before their names.
fn result(stack: &Stack) -> String {
    format!("enum {}_send ", stack.names.stack)
}

/// One of its values.
fn constant(stack: &Stack, name: &str) -> C {
    atom(format!("{}_{name}", stack.names.stack.to_uppercase()))
}

fn shared(member: &str) -> C {
    atom("stack").behind("shared").member(member)
}

/// The same message as before, but for its bytes and how many they are, goes as that did. Where
/// nothing of it waits, and it ends in no call that drops, nothing can drop it.
fn goes_again(
    stack: &Stack,
    quiet: &BTreeSet<Reaction>,
    begun: &Begun,
    is_appended: bool,
) -> String {
    let again = ["stack", "session", "length"].map(atom).to_vec();
    let again = call(begun.again_name(), again);
    let is_as_before = binary("&&", has_nothing_beside(), begun.is_as_before("session"));
    let mut goes = vec![assign(atom("stack").behind("now_ns"), atom("now_ns"))];
    let is_quiet = quiet.contains(&begun.reaction);
    if is_quiet && !begun.may_drop {
        let sent = vec![S::Return(Some(constant(stack, "SENT")))];
        goes.push(only_if(again, sent));
    } else {
        goes.extend(watched(stack));
        let runs = (!is_quiet).then(|| S::Do(call("run", vec![atom("stack")])));
        let done = runs.into_iter().chain(answered(stack));
        goes.push(only_if(again, done.collect()));
        goes.extend(nests(stack).then(|| assign(shared("sent"), atom("outer"))));
    }
    let anew = call(begun.anew_name(), given(is_appended, atom("now_ns")));
    let all = [only_if(is_as_before, goes), S::Return(Some(anew))];
    printer::block(&all, 1)
}

/// Whether an application says nothing of what goes with a message.
fn has_nothing_beside() -> C {
    binary("==", atom("with"), atom("NULL"))
}

/// What goes with a message, as far as the application says.
fn set_if_given(stack: &Stack, port: &Port) -> String {
    match attributes(stack, port).is_empty() {
        true => String::new(),
        false => format!("    if (with != NULL) {{\n{}    }}\n", set(stack, port, 2)),
    }
}

/// A new message, in the next buffer, which is taken by this function.
fn new_message(stack: &Stack, takes: &str) -> String {
    format!(
        "    struct {}_message message = blank({takes}(stack));\n    \
         message.length = (uint32_t)length;\n",
        stack.names.stack
    )
}

/// What goes with a message is what the application says.
fn set(stack: &Stack, port: &Port, depth: usize) -> String {
    let indent = "    ".repeat(depth);
    let mut text = String::new();
    for (own, member, kind) in attributes(stack, port) {
        if let Type::Optional(_) = kind {
            text += &format!("{indent}message.has_{member} = with->has_{own};\n");
        }
        let given = said(stack, kind, &own);
        text += &printer::block(&[assign(atom("message").member(member), given)], depth);
    }
    text
}
