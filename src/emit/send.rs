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
//! What an application sends while it is called goes to S_p_send_later, too.

use super::Stack;
use super::begun::Begun;
use super::external;
use super::inline::sized;
use super::leaves;
use super::parts;
use super::port::{attributes, below, called, condition, either, exists, wrapped};
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

/// What the header has of a function that sends: what it needs, and itself.
pub fn inline(
    stack: &Stack,
    port: &Port,
    head: &str,
    quiet: &BTreeSet<Reaction>,
) -> Option<(String, String)> {
    let reaction = sent_at_once(stack, port)?;
    let own = format!("{}_{}_send", stack.names.stack, port.name);
    if !head.starts_with(&format!("size_t {own}(")) {
        return None;
    }
    let mut before = "/* For the next function alone. */\n".to_string();
    let heads = heads(stack, port, head).map(|head| wrapped(&head));
    for head in &heads {
        before += &format!("{head};\n");
    }
    let [from, later] = heads;
    // What an application sends while it is called goes by the other one, and is not rare.
    let kept_apart = match external::calls_applications(stack.program) {
        true => "noinline",
        false => "cold",
    };
    before += &format!(
        "\n#ifdef __GNUC__\n{from}\n    __attribute__((noinline));\n{later}\n    \
         __attribute__(({kept_apart}));\n#endif\n"
    );
    let sets_out = sets_out(stack, port, atom("now_ns"));
    let sent = conditional(sets_out, atom("length"), atom("0"));
    let sent = printer::block(&[S::Return(Some(sent))], 1);
    let text = parts::part(parts::INLINE, "STACK_PORT_send")
        .replace("HEAD {", &format!("inline {} {{", wrapped(head)))
        .replace("    SENT\n", &sent)
        .replace("STACK_PORT", &format!("STACK_{}", port.name))
        .replace(
            COUNTED,
            if quiet.contains(&reaction) && !leaves::calls_links(stack.program) {
                ""
            } else {
                COUNTED
            },
        );
    let text = parts::named(&sized(stack, &text), &stack.names.stack, "");
    Some((before, text))
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
        let unused = ["stack", "session", "with", "data", "length", "now_ns"];
        let unused = unused.map(|name| format!("    (void){name};\n"));
        return vec![with_body(head, unused.concat() + "    return 0;\n")];
    };
    let [from, later] = heads(stack, port, head);
    let begun = begun.iter().find(|one| one.reaction == reaction);
    let anew = from_body(stack, port, reaction, (quiet, begun));
    let mut all = match begun {
        Some(begun) => {
            let (_, given) = from.split_once('(').expect("it is given something");
            let own = format!("static bool {}({given}", begun.anew_name());
            let again = goes_again(quiet, begun);
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

/// The call by which a message sets out from the buffer that is taken next.
fn sets_out(stack: &Stack, port: &Port, now_ns: C) -> C {
    let own = format!("{}_{}_send_from", stack.names.stack, port.name);
    call(own, given(now_ns))
}

/// What it is given.
fn given(now_ns: C) -> Vec<C> {
    let all = ["stack", "session", "with", "length"].map(atom).into_iter();
    all.chain([now_ns]).collect()
}

/// The heads of what sends from the buffer that is taken next, and behind what waits.
fn heads(stack: &Stack, port: &Port, head: &str) -> [String; 2] {
    let own = format!("{}_{}_send", stack.names.stack, port.name);
    let from = head
        .replace(&format!("size_t {own}("), &format!("bool {own}_from("))
        .replace("const uint8_t *data, ", "");
    let later = head.replace(&format!("{own}("), &format!("{own}_later("));
    [from, later]
}

fn from_body(
    stack: &Stack,
    port: &Port,
    reaction: Reaction,
    (quiet, begun): (&BTreeSet<Reaction>, Option<&Begun>),
) -> String {
    // Nothing is done, and no step is taken.
    let unsent = [
        assign(atom("stack").behind("shared").member("steps"), atom("0")),
        S::Return(Some(atom("false"))),
    ];
    let unsent = only_if(exists(stack, port).negated(), unsent.to_vec());
    let mut text = printer::block(&[unsent], 1);
    if let Some(begun) = begun {
        let begins = begun.begins_name();
        let begins = S::Do(call(begins, vec![atom("stack"), atom("session")]));
        text += &printer::block(&[only_if(has_nothing_beside(), vec![begins])], 1);
    }
    text += "    stack->now_ns = now_ns;\n";
    text += &new_message(stack);
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
    text + "    return true;\n"
}

fn later_body(
    stack: &Stack,
    port: &Port,
    reaction: Reaction,
    quiet: &BTreeSet<Reaction>,
) -> String {
    let begun = call("begin_call", vec![atom("stack"), atom("now_ns")]);
    let goes_on = call("may_go_on", vec![atom("stack")]);
    let mut refused = either(begun.negated(), goes_on.negated());
    let mut begins = "    stack->shared.steps += 1;\n".to_string();
    let mut now_ns = atom("now_ns");
    if external::calls_applications(stack.program) {
        let calling = atom("stack").behind("shared").member("calling");
        refused = conditional(calling, external::refused(stack, 1), refused);
        begins = format!(
            "    if (!stack->shared.calling) {{\n    {begins}    }} else if \
             (!begins_inside(stack)) {{\n{}    }}\n",
            waits(stack, port, reaction)
        );
        // What is sent while an application is called has the time of the call that goes on.
        now_ns = atom("stack").behind("now_ns");
    }
    let sets_out = S::Do(sets_out(stack, port, now_ns));
    let returned = S::Return(Some(atom("length")));
    let mut inside = String::new();
    let is_called = external::calls_applications(stack.program);
    let sent = match is_called && leaves::leaves_alone(stack, quiet, reaction) {
        true => {
            inside = new_message(stack) + &set_if_given(stack, port);
            let sent = called(stack, reaction, Some("message"), &[]);
            inside += &format!("    {sent}\n    return length;\n");
            vec![S::If {
                condition: atom("stack").behind("shared").member("calling").negated(),
                then: vec![sets_out, returned],
                otherwise: Vec::new(),
            }]
        }
        false => vec![sets_out, returned],
    };
    condition(either(refused, exists(stack, port).negated()), "return 0;")
        + leaves::TAKES_SPARE
        + &asked(stack)
        + "    sl_copy(stack->shared.free->bytes + HEADROOM, data, length);\n"
        + &begins
        + &printer::block(&sent, 1)
        + &inside
}

/// What an application sends while it is called, and something waits, waits behind that.
fn waits(stack: &Stack, port: &Port, reaction: Reaction) -> String {
    let message = vec![("message".to_string(), atom("message"))];
    let put = external::put(stack, reaction, "session", message);
    let text = new_message(stack)
        + &set_if_given(stack, port)
        + &printer::block(&[put, S::Return(Some(atom("length")))], 1);
    text.lines().map(|line| format!("    {line}\n")).collect()
}

/// There must be a buffer, and it must be large enough.
fn asked(stack: &Stack) -> String {
    let name = &stack.names.stack;
    format!(
        "    if (length > BUFFER_SIZE - HEADROOM) {{\n        \
         stack->counters[UNSENT + STACK_NO_BUFFER] += 1;\n        return length;\n    }}\n    \
         if (!{name}_has_buffer(stack)) {{\n        return 0;\n    }}\n",
    )
}

/// The same message as before, but for its bytes and how many they are, goes as that did.
fn goes_again(quiet: &BTreeSet<Reaction>, begun: &Begun) -> String {
    let again = ["stack", "session", "length"].map(atom).to_vec();
    let again = call(begun.again_name(), again);
    let is_as_before = binary("&&", has_nothing_beside(), begun.is_as_before("session"));
    let runs = S::Do(call("run", vec![atom("stack")]));
    let runs = (!quiet.contains(&begun.reaction)).then_some(runs);
    let done = runs.into_iter().chain([S::Return(Some(atom("true")))]);
    let goes = only_if(again, done.collect());
    let now = assign(atom("stack").behind("now_ns"), atom("now_ns"));
    let anew = call(begun.anew_name(), given(atom("now_ns")));
    let all = [
        only_if(is_as_before, vec![now, goes]),
        S::Return(Some(anew)),
    ];
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

/// A new message, in the next buffer.
fn new_message(stack: &Stack) -> String {
    format!(
        "    struct {}_message message = blank(take_buffer(stack));\n    \
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
        text += &format!("{indent}message.{member} = with->{own};\n");
    }
    text
}
