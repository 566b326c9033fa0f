//! The C that every stack has in common: the names that generated code mentions come in, the parts
//! that it needs go out, with the names of the stack in them.

use super::port::wrapped;
pub use crate::c::parts::*;

/// What works on messages and containers.
pub const OWN: &str = include_str!("text/own.c");

/// What works on the agenda, and tells the host.
pub const AGENDA: &str = include_str!("text/agenda.c");

/// What a host calls.
pub const INTERFACE: &str = include_str!("text/interface.c");

/// What begins where it tells something.
pub const TELLS: &str = include_str!("text/tells.c");

/// What it calls so often that the header defines it.
pub const INLINE: &str = include_str!("text/inline.c");

/// What a host calls, as far as it is otherwise where ports call applications.
pub const CALLS: &str = include_str!("text/calls.c");

/// What lets frames leave where links call.
pub const LEAVES: &str = include_str!("text/leaves.c");

/// What a host calls, as far as it is otherwise where links call.
pub const LEFT: &str = include_str!("text/left.c");

/// What a host calls, as far as it is otherwise where what frames start has a bypass.
pub const BYPASS: &str = include_str!("text/bypass.c");

/// What a host calls, as far as it is otherwise where these let go of their frames.
pub const BORROWED: &str = include_str!("text/borrowed.c");

/// What they call where no frame stands in a buffer of the stack.
pub const ELSEWHERE: &str = include_str!("text/elsewhere.c");

/// And where fast paths let go of such frames.
pub const ONLY_READ: &str = include_str!("text/only_read.c");

/// What a host calls; some of it as other files say, where what is new stands before what follows
/// it there, and what is empty is gone.
pub fn interface(instead: impl Iterator<Item = &'static str>) -> Vec<&'static str> {
    let mut all = parts(INTERFACE);
    for file in instead {
        let mut behind = all.len();
        for (name, text) in parts(file).into_iter().rev() {
            match all.iter().position(|(known, _)| *known == name) {
                Some(at) => (all[at].1, behind) = (text, at),
                None => all.insert(behind, (name, text)),
            }
        }
    }
    let texts = all.into_iter().map(|(_, text)| text);
    texts.filter(|text| !text.is_empty()).collect()
}

/// The text with the names of the stack, and what a new message begins with.
pub fn named(text: &str, stack: &str, blank: &str) -> String {
    let mut named = String::new();
    let letters = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let end = rest.find(|c| letters(c) != letters(first));
        let (word, others) = rest.split_at(end.unwrap_or(rest.len()));
        let own = [
            "STACK_AGENDA_FULL",
            "STACK_CUT_BUFFER",
            "STACK_TOO_LONG",
            "STACK_NO_SESSION",
        ]
        .contains(&word);
        let of_stack = |name| {
            let end = word.strip_prefix(name);
            end.filter(|end| end.is_empty() || end.starts_with('_'))
        };
        match (of_stack("STACK"), of_stack("UPPER")) {
            _ if own => named += word,
            (Some(end), _) => named += &format!("{stack}{end}"),
            (None, Some(end)) => named += &format!("{}{end}", stack.to_uppercase()),
            (None, None) if word == "BLANK" => named += blank,
            (None, None) => named += word,
        }
        rest = others;
    }
    with_heads(&named)
}

/// Heads of functions go on under their parenthesis, however long the names in them are now.
fn with_heads(text: &str) -> String {
    let mut all = String::new();
    let mut lines = text.split_inclusive('\n');
    while let Some(line) = lines.next() {
        if !line.starts_with(|first: char| first.is_ascii_alphabetic()) || !line.contains('(') {
            all += line;
            continue;
        }
        let mut head = line.trim_end().to_string();
        while !head.contains(')') {
            let more = lines.next().expect("a head has an end");
            head += &format!(" {}", more.trim());
        }
        let (head, end) = head.split_once(')').expect("a head has an end");
        all += &format!("{}{end}\n", wrapped(head));
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_brings_what_it_mentions() {
        let texts = select(OWN, "    drop_queue(stack, &held, items, 3, LATE);");
        let has = |start: &str| texts.iter().any(|text| text.contains(start));
        assert!(has("static void drop_queue(") && has("queue_pop(struct") && has("drop(struct"));
        assert!(!has("static void later("));
    }

    #[test]
    fn a_stack_may_be_called_stack() {
        let text = named("UPPER_IDLE; STACK_next(STACK_TOO_LONG)", "my_stack", "");
        assert_eq!(text, "MY_STACK_IDLE; my_stack_next(STACK_TOO_LONG)\n");
    }
}
