//! What travels beside a message is set where it is read, or not at all.
//!
//! In: a function that has a message, and what others read of one. Out: the same, each member of
//! the message set as late as may be: right before the first that reads it; or, if that is done on
//! rare ways alone, on these. So what leaves early does not pay for what nobody reads.
//!
//! ```text
//! message.ttl = header[8];                  if (header[9] != 17) {
//! if (header[9] != 17) {                        message.ttl = header[8];
//!     refuse(stack, message);         =>        refuse(stack, message);
//!     return;                                   return;
//! }                                         }
//! take(stack, header[16]);                  take(stack, header[16]);
//! ```

use super::narrow::{ALWAYS, Mentions, Read};
use super::parts;
use crate::c::printer;
use crate::c::tree::{Expression as C, Statement as S, leaves};
use std::collections::{BTreeMap, BTreeSet};

/// What is set of a message, and the ways of a function on which it is read.
pub struct Late<'a> {
    /// The name of the message.
    pub message: &'a str,
    /// The members of a message that each function reads.
    pub read: &'a BTreeMap<String, Read>,
    /// Functions of values, which write nothing.
    pub values: &'a BTreeSet<String>,
}

impl Late<'_> {
    /// All of a function.
    pub fn function(&self, body: &mut Vec<S>) {
        let mut gone = BTreeSet::new();
        self.statements(body, &mut gone);
        while let Some(name) = gone.pop_first() {
            forget(&name, body, &mut gone);
        }
    }

    /// Statements with which a function ends; `gone` is what is no more read there.
    fn statements(&self, all: &mut Vec<S>, gone: &mut BTreeSet<String>) {
        for at in (0..all.len()).rev() {
            if let Some(member) = self.set(&all[at]) {
                let member = member.to_string();
                self.set_late(&member, at, all, gone);
            }
        }
        for statement in all {
            match statement {
                S::If {
                    then, otherwise, ..
                } => [then, otherwise]
                    .into_iter()
                    .filter(|body| returns(body))
                    .for_each(|body| self.statements(body, gone)),
                S::Switch { cases, .. } => {
                    let bodies = cases.iter_mut().map(|(_, body)| body);
                    bodies
                        .filter(|body| returns(body))
                        .for_each(|body| self.statements(body, gone));
                }
                S::Comment(_)
                | S::Declare { .. }
                | S::Assign(..)
                | S::Do(_)
                | S::For { .. }
                | S::While { .. }
                | S::Return(_)
                | S::Continue
                | S::Break
                | S::Goto(_)
                | S::Label(_) => {}
            }
        }
    }

    /// The member that a statement sets to what stays as it is.
    fn set<'s>(&self, statement: &'s S) -> Option<&'s str> {
        let S::Assign(C::Member(of, member), "=", value) = statement else {
            return None;
        };
        let travels = !ALWAYS.contains(&member.as_str());
        (self.is_message(of) && travels && self.stays(value)).then_some(member)
    }

    fn set_late(&self, member: &str, at: usize, all: &mut Vec<S>, gone: &mut BTreeSet<String>) {
        let value = match &all[at] {
            S::Assign(_, _, value) => value.clone(),
            other => unreachable!("{other:?} sets nothing"),
        };
        let mut rare = Vec::new();
        let mut to = at + 1;
        while let Some(statement) = all.get(to) {
            if self.is_way_of_its_own(statement, member) {
                if self.reads(&statement.blocks().concat(), member) {
                    rare.push(to);
                }
            } else if !self.passes(statement, member, &value)
                || self.reads(std::slice::from_ref(statement), member)
            {
                break;
            }
            to += 1;
        }
        if self.reads(&all[to..], member) {
            to = rare.first().copied().unwrap_or(to);
            let goes_on = |one: &S| matches!(one, S::Comment(_)) || self.set(one).is_some();
            while to > at + 1 && goes_on(&all[to - 1]) {
                to -= 1;
            }
            all[at..to].rotate_left(1);
            return;
        }
        for way in rare {
            if let S::If { then, .. } = &mut all[way] {
                let set = C::Member(
                    Box::new(C::Atom(self.message.to_string())),
                    member.to_string(),
                );
                then.insert(0, S::Assign(set, "=", value.clone()));
            }
        }
        all.remove(at);
        names(&value, gone);
    }

    /// Whether a statement is a test that does not ask for a member, and of which one way leaves.
    fn is_way_of_its_own(&self, statement: &S, member: &str) -> bool {
        let S::If {
            condition,
            then,
            otherwise,
        } = statement
        else {
            return false;
        };
        let asks = self.reads(&[S::Do(condition.clone())], member);
        otherwise.is_empty() && returns(then) && self.spares(condition) && !asks
    }

    /// Whether a member may be set behind a statement just as well.
    fn passes(&self, statement: &S, member: &str, value: &C) -> bool {
        match statement {
            S::Comment(_) => true,
            S::Declare { value, .. } => value.as_ref().is_none_or(|value| self.spares(value)),
            S::Assign(place, _, other) => {
                let kept = match place {
                    C::Member(of, other) if self.is_message(of) => {
                        other != member && other != "buffer"
                    }
                    C::Atom(name) => !mentions(value, name),
                    _ => false,
                };
                kept && self.spares(other)
            }
            // What is read of a message may end elsewhere, but stays as it is.
            S::Do(C::Call(name, _)) => name == "cut" || name == "skip",
            S::Do(_)
            | S::If { .. }
            | S::Switch { .. }
            | S::For { .. }
            | S::While { .. }
            | S::Return(_)
            | S::Continue
            | S::Break
            | S::Goto(_)
            | S::Label(_) => false,
        }
    }

    fn reads(&self, statements: &[S], member: &str) -> bool {
        let mut found = Mentions::of(self.message);
        found.statements(statements);
        let by_callee = |callee: &String| match self.read.get(callee) {
            Some(Some(read)) => read.contains(member),
            Some(None) | None => true,
        };
        found.whole || found.members.contains(member) || found.callees.iter().any(by_callee)
    }

    fn is_message(&self, value: &C) -> bool {
        matches!(value, C::Atom(name) if name == self.message)
    }

    /// Whether a value is the same as long as nobody writes into the message: it comes from
    /// headers, settings, and locals.
    fn stays(&self, value: &C) -> bool {
        match value {
            C::Atom(_) => !self.is_message(value),
            C::Call(name, all) => {
                name.starts_with("sl_load_") && all.iter().all(|one| self.stays(one))
            }
            C::Member(of, member) => match self.is_message(of) {
                true => member == "buffer",
                false => self.stays(of),
            },
            C::Behind(of, member) => {
                let is_stack = matches!(&**of, C::Atom(name) if name == "stack");
                is_stack && member == "config" || member == "bytes" && self.stays(of)
            }
            C::Unary(operator, _) if *operator == "*" => false,
            C::Element(..)
            | C::Unary(..)
            | C::Binary(..)
            | C::Conditional(..)
            | C::Cast(..)
            | C::Struct(..) => value.parts().into_iter().all(|one| self.stays(one)),
        }
    }

    /// Whether a value can be found without a write into the message.
    fn spares(&self, value: &C) -> bool {
        match value {
            C::Call(name, all) if !name.starts_with("sl_load_") => {
                let is_bytes = |one: &C| match one {
                    C::Unary("&", of) => self.is_message(of) && !self.values.contains(name),
                    C::Member(of, member) => self.is_message(of) && member == "data",
                    other => self.is_message(other),
                };
                !all.iter().any(is_bytes) && all.iter().all(|one| self.spares(one))
            }
            other => other.parts().into_iter().all(|one| self.spares(one)),
        }
    }
}

/// Takes a local away that nobody reads, and adds what it was made of.
fn forget(name: &str, all: &mut Vec<S>, gone: &mut BTreeSet<String>) {
    for at in 0..all.len() {
        if let S::Declare {
            name: own,
            value: Some(value),
            ..
        } = &all[at]
            && own == name
            && !finds(value)
        {
            let rest = printer::block(&all[at + 1..], 0);
            if !parts::words(&rest).contains(name) {
                names(value, gone);
                all.remove(at);
            }
            return;
        }
        match &mut all[at] {
            S::If {
                then, otherwise, ..
            } => {
                forget(name, then, gone);
                forget(name, otherwise, gone);
            }
            S::Switch { cases, .. } => {
                cases
                    .iter_mut()
                    .for_each(|(_, body)| forget(name, body, gone));
            }
            S::Comment(_)
            | S::Declare { .. }
            | S::Assign(..)
            | S::Do(_)
            | S::For { .. }
            | S::While { .. }
            | S::Return(_)
            | S::Continue
            | S::Break
            | S::Goto(_)
            | S::Label(_) => {}
        }
    }
}

/// Whether a value takes more than to load it.
fn finds(value: &C) -> bool {
    match value {
        C::Call(name, _) if !name.starts_with("sl_load_") => true,
        other => other.parts().into_iter().any(finds),
    }
}

fn names(value: &C, found: &mut BTreeSet<String>) {
    match value {
        C::Atom(name) => {
            found.insert(name.clone());
        }
        other => other.parts().into_iter().for_each(|one| names(one, found)),
    }
}

/// Whether nothing behind these statements is ever done.
fn returns(statements: &[S]) -> bool {
    leaves(statements) && !matches!(statements.last(), Some(S::Continue | S::Break))
}

fn mentions(value: &C, name: &str) -> bool {
    match value {
        C::Atom(own) => own == name,
        other => other.parts().into_iter().any(|one| mentions(one, name)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::c::tree::{assign, atom, binary, call};

    fn message(member: &str) -> C {
        atom("message").member(member)
    }

    fn load(at: &str) -> C {
        atom("header").element(atom(at))
    }

    fn handed(to: &str) -> Vec<S> {
        let all = vec![atom("stack"), atom("message")];
        vec![S::Do(call(to, all)), S::Return(None)]
    }

    fn tested(condition: C, then: Vec<S>) -> S {
        S::If {
            condition,
            then,
            otherwise: Vec::new(),
        }
    }

    fn late(mut all: Vec<S>) -> Vec<S> {
        let read = |members: &[&str]| Some(members.iter().map(|one| (*one).to_string()).collect());
        let read = BTreeMap::from([
            ("refuse".to_string(), read(&["ttl"])),
            ("take".to_string(), read(&["peer"])),
        ]);
        Late {
            message: "message",
            read: &read,
            values: &BTreeSet::new(),
        }
        .function(&mut all);
        all
    }

    #[test]
    fn what_a_rare_way_reads_is_set_there_and_what_nobody_reads_nowhere() {
        let other = || binary("!=", load("9"), atom("17"));
        let [ttl, peer, ecn] = ["ttl", "peer", "ecn"].map(|name| assign(message(name), load(name)));
        let before = [
            vec![ttl.clone(), ecn, peer.clone()],
            vec![tested(other(), handed("refuse"))],
            handed("take"),
        ];
        let refused = [vec![ttl], handed("refuse")].concat();
        let after = [vec![tested(other(), refused), peer], handed("take")];
        assert_eq!(late(before.concat()), after.concat());
    }

    #[test]
    fn nothing_is_set_behind_a_write_into_the_message() {
        let written = assign(message("data").element(atom("0")), atom("1"));
        let before = [
            vec![assign(message("peer"), load("3")), written],
            handed("take"),
        ];
        assert_eq!(late(before.concat()), before.concat());
    }

    #[test]
    fn a_test_may_ask_for_it() {
        let asked = tested(binary("==", message("ttl"), atom("0")), handed("take"));
        let before = [
            vec![assign(message("ttl"), load("8")), asked],
            handed("take"),
        ];
        assert_eq!(late(before.concat()), before.concat());
    }
}
