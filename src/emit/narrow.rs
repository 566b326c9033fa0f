//! What goes with a message where one function hands it to another: as much as that one reads.
//!
//! In: the functions of all reactions, in which a message is handed on whole, and the text of those
//! that they call. Out: the same, with a message of just those members that the callee reads, or
//! hands on, where it does not need all. So a reaction keeps what nobody reads behind it out of
//! memory: its C compiler has the message in registers.
//!
//! ```text
//! tunnel_send(stack, message)   =>   tunnel_send(stack, part_of(&message))
//! ```

use super::Stack;
use super::late::Late;
use super::parts;
use crate::c::tree::{Expression as C, Function, Statement as S, atom, call};
use crate::c::walk;
use std::collections::{BTreeMap, BTreeSet};

/// What each message has: its bytes, and what its counters need when it is gone.
pub const ALWAYS: [&str; 4] = ["data", "length", "buffer", "came_in"];

/// The members of a message that a function reads, by its name; none: all of them.
pub type Read = Option<BTreeSet<String>>;

/// Narrows the messages that `reactions` hand to each other; `others` is the text of what else
/// they call, `values` are those of them that only find values. Gives the functions that take what
/// is read of a message.
pub fn narrow(
    stack: &Stack,
    reactions: Vec<&mut Function>,
    others: &str,
    values: &BTreeSet<String>,
) -> Vec<Function> {
    let kind = format!("struct {}_message", stack.names.stack);
    let members = super::message::members(stack);
    let mut read = read_in_text(&kind, others);
    read.extend(read_by_all(&kind, &reactions, &read));
    let mut called = BTreeSet::new();
    let mut reactions = reactions;
    for function in &mut reactions {
        if let Some((_, message)) = message_of(&kind, function) {
            let message = message.to_string();
            let late = Late {
                message: &message,
                read: &read,
                values,
            };
            late.function(&mut function.body);
            **function = super::with_all_used(function.clone());
        }
    }
    for function in &mut reactions {
        each_call(&mut function.body, &mut |callee, _| {
            called.insert(callee.clone());
        });
    }
    let mut parts: Vec<Part> = Vec::new();
    let mut handed: BTreeMap<String, (usize, String)> = BTreeMap::new();
    for function in reactions.iter().filter(|one| called.contains(&one.name)) {
        let name = &function.name;
        let (Some((at, _)), Some(Some(read))) = (message_of(&kind, function), read.get(name))
        else {
            continue;
        };
        let needed = |one: &&String| ALWAYS.contains(&one.as_str()) || read.contains(one.as_str());
        let needed: Vec<&String> = members.iter().filter(needed).collect();
        if needed.len() < members.len() {
            handed.insert(
                name.clone(),
                (at, part_read(stack, &mut parts, needed, name)),
            );
        }
    }
    for function in reactions {
        each_call(&mut function.body, &mut |callee, arguments| {
            if let Some((at, part)) = handed.get(callee)
                && let C::Atom(_) = &arguments[*at]
            {
                let whole = arguments[*at].clone();
                arguments[*at] = call(part, vec![whole.address()]);
            }
        });
    }
    parts.iter().map(|part| part.function(&kind)).collect()
}

/// What functions read of a message, of a text in which they are given a pointer to it.
pub fn read_beside(stack: &Stack, text: &str) -> BTreeMap<String, Read> {
    read_in_text(&format!("struct {}_message", stack.names.stack), text)
}

/// Members of a message that some functions read.
struct Part<'a> {
    name: String,
    members: Vec<&'a String>,
    readers: Vec<String>,
}

/// The name of the function that takes these members of a message, which `reader` reads.
fn part_read<'a>(
    stack: &Stack,
    parts: &mut Vec<Part<'a>>,
    members: Vec<&'a String>,
    reader: &str,
) -> String {
    if let Some(known) = parts.iter_mut().find(|part| part.members == members) {
        known.readers.push(reader.to_string());
        return known.name.clone();
    }
    let is_free =
        |name: &String| !stack.names.taken.has(name) && parts.iter().all(|part| part.name != *name);
    let plain = std::iter::once("part_of".to_string());
    let name = plain
        .chain((2..).map(|n| format!("part_of_{n}")))
        .find(is_free);
    let name = name.expect("there are more numbers than names");
    parts.push(Part {
        name: name.clone(),
        members,
        readers: vec![reader.to_string()],
    });
    name
}

impl Part<'_> {
    fn function(&self, kind: &str) -> Function {
        let value = |member: &String| atom("message").behind(member);
        let fields = self.members.iter();
        let fields = fields.map(|member| ((*member).clone(), value(member)));
        Function {
            comment: format!("What is read of a message in {}.", self.readers.join(", ")),
            result: format!("static inline {kind}"),
            name: self.name.clone(),
            parameters: vec![format!("const {kind} *message")],
            body: vec![S::Return(Some(C::Struct(
                kind.to_string(),
                fields.collect(),
            )))],
        }
    }
}

/// The place and the name of a function's message, among its parameters.
fn message_of<'a>(kind: &str, function: &'a Function) -> Option<(usize, &'a str)> {
    let named = |parameter: &'a String| parameter.strip_prefix(kind)?.strip_prefix(' ');
    let mut parameters = function.parameters.iter().enumerate();
    parameters.find_map(|(at, parameter)| Some((at, named(parameter)?)))
}

/// What each reaction reads, and those behind it: more is found until no more is.
fn read_by_all(
    kind: &str,
    reactions: &[&mut Function],
    others: &BTreeMap<String, Read>,
) -> BTreeMap<String, Read> {
    let with_message = |one: &&&mut Function| message_of(kind, one).is_some();
    let nothing = |one: &&mut Function| (one.name.clone(), Some(BTreeSet::new()));
    let mut read: BTreeMap<String, Read> =
        reactions.iter().filter(with_message).map(nothing).collect();
    let own: Vec<(&str, Mentions)> = reactions
        .iter()
        .filter_map(|one| {
            let mut mentions = Mentions::of(message_of(kind, one)?.1);
            mentions.statements(&one.body);
            Some((one.name.as_str(), mentions))
        })
        .collect();
    loop {
        let before = read.clone();
        for (name, mentions) in &own {
            let mut all = mentions.members.clone();
            let mut is_whole = mentions.whole;
            for callee in &mentions.callees {
                match read.get(callee).or_else(|| others.get(callee)) {
                    Some(Some(more)) => all.extend(more.iter().cloned()),
                    Some(None) | None => is_whole = true,
                }
            }
            read.insert((*name).to_string(), (!is_whole).then_some(all));
        }
        if read == before {
            return read;
        }
    }
}

/// What functions read that are given a pointer to a message.
fn read_in_text(kind: &str, text: &str) -> BTreeMap<String, Read> {
    let text = parts::without_comments(text);
    let mut all = BTreeMap::new();
    for function in text.split("\nstatic ").skip(1) {
        let Some((head, body)) = function.split_once(" {\n") else {
            continue;
        };
        let Some((before, parameters)) = head.split_once('(') else {
            continue;
        };
        let name = before.rsplit([' ', '*']).next().unwrap_or(before);
        let messages = parameters.matches(&format!("{kind} *message")).count();
        if messages == 1 && parameters.matches(kind).count() == 1 {
            let body = body.split("\n}\n").next().unwrap_or(body);
            all.insert(name.to_string(), members_read(body));
        }
    }
    all
}

/// The members in `message->member`; none if the message is mentioned in any other way.
fn members_read(body: &str) -> Read {
    let letters = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let mut read = BTreeSet::new();
    for (at, found) in body.match_indices("message") {
        let behind = &body[at + found.len()..];
        let is_other = |before: char| letters(before) || before == '.';
        if body[..at].ends_with(is_other) || behind.starts_with(letters) {
            continue;
        }
        let member = behind.strip_prefix("->")?;
        let end = member.find(|c| !letters(c)).unwrap_or(member.len());
        read.insert(member[..end].to_string());
    }
    Some(read)
}

/// How a function mentions its message.
pub struct Mentions<'a> {
    message: &'a str,
    /// Members that it reads.
    pub members: BTreeSet<String>,
    /// Functions to which it hands the message.
    pub callees: BTreeSet<String>,
    /// Whether it does anything else with the message as a whole.
    pub whole: bool,
}

impl<'a> Mentions<'a> {
    /// Nothing is known yet.
    pub fn of(message: &'a str) -> Mentions<'a> {
        Mentions {
            message,
            members: BTreeSet::new(),
            callees: BTreeSet::new(),
            whole: false,
        }
    }

    fn is_message(&self, value: &C) -> bool {
        matches!(value, C::Atom(name) if name == self.message)
    }

    /// Finds what statements mention.
    pub fn statements(&mut self, statements: &[S]) {
        for statement in statements {
            if let S::Assign(C::Member(of, _), "=", value) = statement
                && self.is_message(of)
            {
                self.expression(value);
                continue;
            }
            for value in statement.expressions() {
                self.expression(value);
            }
            for block in statement.blocks() {
                self.statements(block);
            }
        }
    }

    fn expression(&mut self, value: &C) {
        match value {
            C::Atom(text) => self.whole |= parts::words(text).contains(self.message),
            C::Member(of, member) if self.is_message(of) => {
                self.members.insert(member.clone());
            }
            C::Call(callee, arguments) => {
                for argument in arguments {
                    let pointed = match argument {
                        C::Unary("&", inner) => inner,
                        other => other,
                    };
                    if self.is_message(pointed) {
                        self.callees.insert(callee.clone());
                    } else {
                        self.expression(argument);
                    }
                }
            }
            other => (other.parts().into_iter()).for_each(|part| self.expression(part)),
        }
    }
}

/// Does something with each call that is a statement.
fn each_call(statements: &mut [S], change: &mut impl FnMut(&String, &mut Vec<C>)) {
    walk::each_mut(statements, &mut |statement| {
        if let S::Do(C::Call(callee, arguments)) = statement {
            change(callee, arguments);
        }
    });
}

#[cfg(test)]
mod tests {
    use super::{members_read, read_in_text};
    use std::collections::BTreeSet;

    #[test]
    fn what_is_handed_on_is_read_as_a_whole() {
        let read = |members: &[&str]| Some(members.iter().map(|one| (*one).to_string()).collect());
        assert_eq!(
            members_read("a = message->ttl + message->peer;"),
            read(&["peer", "ttl"])
        );
        assert_eq!(members_read("push(stack, message);"), None);
        assert_eq!(
            members_read("message_2 = of_message;"),
            Some(BTreeSet::new())
        );
    }

    #[test]
    fn functions_are_known_by_their_message() {
        let text = "\n/* all of message */\nstatic void f(const struct s_message *message) {\n    \
                    g(message->ttl);\n}\n\nstatic void h(struct s_message *into, const struct \
                    s_message *message) {\n    *into = *message;\n}\n";
        let found = read_in_text("struct s_message", text);
        let members = Some(BTreeSet::from(["ttl".to_string()]));
        assert_eq!(
            found.into_iter().collect::<Vec<_>>(),
            [("f".to_string(), members)]
        );
    }
}
