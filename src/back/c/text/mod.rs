//! C that every stack has in common, in parts: code comes in; copies of the parts that it calls go
//! out, with the names of the stack in them.
//!
//! ```text
//! numbers.c      the smaller and the larger of two
//! kernels.c      words that kernels yield
//! buffers.c      buffers that are free, taken, or lent to the host
//! messages.c     new messages, copies, and what becomes of them
//! containers.c   queues, windows and streams of messages
//! agenda.c       events that wait
//! answers.c      outputs for the host, and frames that leave
//! entries.c      what calls of the host have in common
//! public.c       calls of the host
//! ```

use crate::c::parts;
use crate::c::printer::declaration;
use crate::c::tree::Item;
use crate::c::{WIDTH, listed};

/// The parts that functions of a module call; each file may call the files before it.
const INSIDE: [&str; 7] = [
    include_str!("numbers.c"),
    include_str!("kernels.c"),
    include_str!("buffers.c"),
    include_str!("messages.c"),
    include_str!("containers.c"),
    include_str!("agenda.c"),
    include_str!("answers.c"),
];

/// The parts that calls of a host share.
const ENTRIES: &str = include_str!("entries.c");

/// Calls of a host.
const PUBLIC: &str = include_str!("public.c");

/// Reasons and other words that begin as the name of a stack does in a text, and are none.
const OWN: [&str; 3] = ["STACK_AGENDA_FULL", "STACK_NO_SESSION", "STACK_TOO_LONG"];

/// Names of all functions that these files define, so that no other gets one of them.
pub fn defined() -> impl Iterator<Item = &'static str> {
    let files = INSIDE.into_iter().chain([ENTRIES]);
    files.flat_map(parts::defined)
}

/// Copies of what functions of a module call, and of what these call.
pub fn inside(stack: &str, code: &str) -> Vec<Item> {
    let mut code = code.to_string();
    let mut chosen = Vec::new();
    for file in INSIDE.into_iter().rev() {
        let own = parts::select(file, &code);
        code += &own.concat();
        chosen.extend(own.into_iter().rev());
    }
    let chosen = chosen.into_iter().rev();
    chosen.map(|text| item(stack, text)).collect()
}

/// Copies of what calls of a host have in common; some of it calls `handle`.
pub fn entries(stack: &str, code: &str) -> Vec<Item> {
    let chosen = parts::select(ENTRIES, code).into_iter();
    chosen.map(|text| item(stack, text)).collect()
}

/// A call of a host that stacks have whose links call functions.
const NEXT_OTHER: &str = "STACK_next_other";

/// All calls of a host that are the same for every stack.
pub fn public(stack: &str, links_call: bool) -> Vec<Item> {
    let all = parts::parts(PUBLIC).into_iter();
    let all = all.filter(|(name, _)| links_call || *name != NEXT_OTHER);
    all.map(|(_, text)| item(stack, text)).collect()
}

fn item(stack: &str, text: &str) -> Item {
    Item::Text(with_heads(&named(stack, text)))
}

/// The text with the names of the stack.
fn named(stack: &str, text: &str) -> String {
    let upper = stack.to_uppercase();
    let mut named = String::new();
    let is_letter = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let end = rest.find(|letter| is_letter(letter) != is_letter(first));
        let (word, others) = rest.split_at(end.unwrap_or(rest.len()));
        let of = |name| {
            let end: Option<&str> = word.strip_prefix(name);
            end.filter(|end| end.is_empty() || end.starts_with('_'))
        };
        match (of("STACK"), of("UPPER")) {
            _ if OWN.contains(&word) => named += word,
            (Some(end), _) => named += &format!("{stack}{end}"),
            (None, Some(end)) => named += &format!("{upper}{end}"),
            (None, None) => named += word,
        }
        rest = others;
    }
    named
}

/// Heads of functions go on under their parenthesis, however long the names in them are now.
fn with_heads(text: &str) -> String {
    let mut all = String::new();
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        let is_head = line.starts_with(|first: char| first.is_ascii_alphabetic());
        let Some((before, mut parameters)) = line
            .split_once('(')
            .filter(|_| is_head)
            .map(|(before, rest)| (before, rest.to_string()))
        else {
            all += &format!("{line}\n");
            continue;
        };
        while !parameters.contains(')') {
            let more = lines.next().expect("a head has an end");
            parameters += &format!(" {}", more.trim());
        }
        let (parameters, end) = parameters.split_once(')').expect("a head has an end");
        all += &format!("{}\n", head(before, parameters, end));
    }
    all
}

fn head(before: &str, parameters: &str, end: &str) -> String {
    let parameters: Vec<String> = parameters.split(", ").map(String::from).collect();
    let before = declaration(before, "(").replacen(" (", "(", 1);
    let column = before.chars().count();
    let own = listed(&parameters, ',', column, 1 + end.len());
    debug_assert!(column < WIDTH, "a name is shorter than a line");
    format!("{before}{own}){end}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::c::printer;

    #[test]
    fn a_part_brings_what_it_calls() {
        let code = "    drop_queue(stack, &held, items, 3, LATE);";
        let text = printer::file(&inside("beep", code));
        let has = |start: &str| text.contains(start);
        assert!(has("static void drop_queue(struct beep *stack"), "{text}");
        assert!(
            has("queue_pop(struct") && has("give_buffer(struct"),
            "{text}"
        );
        assert!(!has("later("), "{text}");
    }

    #[test]
    fn a_stack_may_be_called_stack() {
        let text = named("my_stack", "UPPER_IDLE; STACK_next(STACK_TOO_LONG)");
        assert_eq!(text, "MY_STACK_IDLE; my_stack_next(STACK_TOO_LONG)");
    }

    #[test]
    fn long_heads_go_on_under_their_parenthesis() {
        let long = "static bool f(struct a_name_that_is_rather_long *stack, uint32_t number,\n\
                    \x20             struct a_name_that_is_rather_long_message *message) {\n}\n";
        let text = with_heads(long);
        assert!(text.lines().all(|line| line.len() <= WIDTH), "{text}");
        assert!(text.contains(",\n              struct a_name"), "{text}");
    }
}
