//! C that every stack has in common, in parts: code comes in; copies of the parts that it calls go
//! out, with the names of the stack in them. Lines between `WHERE x` and `END` are only for stacks
//! that have `x`, and those behind `WITHOUT x` for all others.
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

use super::Stack;
use super::host::{agenda, links};
use crate::c::listed;
use crate::c::parts;
use crate::c::printer::declaration;
use crate::c::tree::Item;

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
const OWN: [&str; 4] = [
    "STACK_AGENDA_FULL",
    "STACK_CUT_BUFFER",
    "STACK_NO_SESSION",
    "STACK_TOO_LONG",
];

/// Names of all functions that these files define, so that no other gets one of them.
pub fn defined() -> impl Iterator<Item = &'static str> {
    let files = INSIDE.into_iter().chain([ENTRIES]);
    files.flat_map(parts::defined)
}

/// The text of a stack.
pub struct Text<'s> {
    stack: &'s str,
    has: Vec<&'static str>,
}

impl<'s> Text<'s> {
    /// The text of this stack.
    pub fn of(stack: &'s Stack<'_>) -> Text<'s> {
        let listens = !stack.module.listening.is_empty();
        let all = [
            ("other outputs", links::calls(stack) || listens),
            ("listening", listens),
            ("agenda", agenda::has_agenda(stack)),
            ("calling links", links::calls(stack)),
            ("gathering links", stack.gathers()),
            ("reading in place", links::reads_in_place(stack)),
            ("fast paths", links::tries_fast(stack)),
            ("records", stack.record().is_some()),
        ];
        let present = all.into_iter().filter(|(_, is_there)| *is_there);
        Text {
            stack: &stack.names.stack,
            has: present.map(|(name, _)| name).collect(),
        }
    }

    /// Copies of what functions of a module call, and of what these call.
    pub fn inside(&self, code: &str) -> Vec<Item> {
        let mut code = code.to_string();
        let mut chosen = Vec::new();
        for file in INSIDE.into_iter().rev() {
            let own = self.selected(file, &code);
            code += &own.concat();
            chosen.extend(own.into_iter().rev());
        }
        let chosen = chosen.iter().rev();
        chosen.map(|text| self.item(text)).collect()
    }

    /// Copies of what calls of a host have in common; some of it calls `handle`.
    pub fn entries(&self, code: &str) -> Vec<Item> {
        let chosen = self.selected(ENTRIES, code);
        chosen.iter().map(|text| self.item(text)).collect()
    }

    /// All calls of a host that are the same for every stack.
    pub fn public(&self) -> Vec<Item> {
        let file = parts::where_has(PUBLIC, &self.has);
        let texts = parts::parts(&file).into_iter().map(|(_, text)| text);
        let texts = texts.filter(|text| !text.is_empty());
        texts.map(|text| self.item(text)).collect()
    }

    /// The parts of a file that code calls, and those that these call.
    fn selected(&self, file: &str, code: &str) -> Vec<String> {
        let file = parts::where_has(file, &self.has);
        let chosen = parts::select(&file, code).into_iter();
        let chosen = chosen.filter(|text| !text.is_empty());
        chosen.map(String::from).collect()
    }

    fn item(&self, text: &str) -> Item {
        Item::Text(with_heads(&named(self.stack, text)))
    }
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
    format!("{before}{own}){end}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::c::{WIDTH, printer};

    #[test]
    fn a_name_that_is_longer_than_a_line_keeps_its_parameters() {
        let name = format!("static void {}", "long".repeat(40));
        let head = head(&name, "int one, int other", ";");
        let words: Vec<&str> = head.split_whitespace().collect();
        let words = words.join(" ");
        assert!(words.ends_with("int one, int other);"), "{head}");
    }

    #[test]
    fn a_part_brings_what_it_calls() {
        let code = "    drop_queue(stack, &held, items, 3, LATE);";
        let text = Text {
            stack: "beep",
            has: Vec::new(),
        };
        let text = printer::file(&text.inside(code));
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
