//! The tests of a guard, shortened. A guard may be stricter than its fast path: a frame that it
//! refuses takes the slow path, which has all tests as they were written.
//!
//! In: a path, which is left where a test does not hold. Out: the same with shorter tests.
//!
//! ```text
//! `a || b`, and `a` is asked again   it asks for `a` alone, and what was asked is known
//! it asks for a header alone          it asks where the header begins (`early`)
//! headers in a row                   are all there, or none (`lengths`)
//! fields that share bytes            are compared at once, in the order of the wire (`masked`)
//! ```
//!
//! What travels beside the message is set behind all tests, or where one of them looks at it.

use super::algebra::{
    Part, any_of, folded, holds, number_of_parts, replaced, straight, topic, topics,
};
use super::bypass::{exit, is_exit};
use super::early;
use super::lengths;
use super::masked;
use super::narrow::{ALWAYS, Mentions, Read};
use crate::c::tree::{Expression as C, Statement as S, atom, binary, leaves};
use crate::c::walk::{self, each_word};
use crate::tree::rewrites::{Rewrite, Rewrites};
use rustc_hash::FxBuildHasher;
use std::collections::{BTreeMap, BTreeSet, HashSet};

/// The path of a function with a message of that name, of which functions read what `read` says.
pub fn guarded(
    message: &str,
    read: &BTreeMap<String, Read>,
    path: Vec<S>,
    rewrites: Rewrites,
) -> Vec<S> {
    let mut changing = BTreeSet::new();
    walk::each(&path, &mut |one| {
        if let S::Assign(C::Atom(name), ..) = one {
            changing.insert(name.clone());
        }
    });
    let guard = Guard {
        message,
        read,
        changing: &changing,
        known: BTreeMap::new(),
        waiting: Vec::new(),
        facts: Facts::default(),
    };
    let path = early::hoisted(message, guard.clone().statements(&path));
    // What is asked early is known behind it.
    let mut path = guard.clone().statements(&path);
    if rewrites.has(Rewrite::Bounds) {
        lengths::unite(message, &mut path);
    }
    masked::unite(message, &mut path);
    forget_unread(&mut path);
    path
}

/// Whether a value is the same for all frames: it is nothing to leave a path for.
pub fn is_setting(value: &C) -> bool {
    match value {
        C::Behind(stack, member) if member == "config" => **stack == atom("stack"),
        C::Atom(name) => name.starts_with(|c: char| c.is_ascii_digit()),
        C::Call(..) => false,
        other => other.parts().into_iter().all(is_setting),
    }
}

/// What is known on the way.
#[derive(Clone)]
struct Guard<'a> {
    message: &'a str,
    read: &'a BTreeMap<String, Read>,
    /// Locals, and what travels beside the message: their values, where these stay.
    known: BTreeMap<String, C>,
    /// Locals that get another value later.
    changing: &'a BTreeSet<String>,
    /// What is still to be set beside the message.
    waiting: Vec<S>,
    /// What was asked, and holds.
    facts: Facts,
}

/// Conditions that hold.
#[derive(Clone, Default)]
struct Facts {
    conditions: HashSet<C, FxBuildHasher>,
    /// Their topics: most conditions are found not to be known by these alone.
    topics: HashSet<u64, FxBuildHasher>,
}

impl Facts {
    fn insert(&mut self, fact: C) {
        self.topics.insert(topic(&fact));
        self.conditions.insert(fact);
    }

    /// Says of each part of a value that is known whether it holds.
    fn decide(&self, value: &mut C) {
        if !self.conditions.is_empty() {
            self.decide_parts(value, &topics(value));
        }
    }

    fn decide_parts(&self, value: &mut C, topics: &[Part]) {
        let Some((own, mut inner)) = topics.split_first() else {
            unreachable!("a value is a part of itself");
        };
        if self.topics.contains(&own.topic) {
            if self.conditions.contains(value) {
                return *value = atom("true");
            }
            if self.conditions.contains(&value.clone().negated()) {
                return *value = atom("false");
            }
        }
        for part in value.parts_mut() {
            self.decide_parts(part, inner);
            inner = &inner[inner[0].parts..];
        }
    }
}

impl Guard<'_> {
    fn statements(&mut self, path: &[S]) -> Vec<S> {
        let mut all = Vec::new();
        for (at, statement) in path.iter().enumerate() {
            match statement {
                S::If { condition, .. } if is_exit(statement) => {
                    let asked = self.asked(condition, &path[at + 1..]);
                    if asked != atom("false") {
                        self.set_for(&asked, &mut all);
                        all.push(exit(asked));
                    }
                }
                S::If {
                    condition,
                    then,
                    otherwise,
                } if otherwise.is_empty() && leaves(then) => {
                    let condition = self.decided(&self.resolved(condition));
                    self.set_for(&condition, &mut all);
                    all.push(S::If {
                        condition,
                        then: self.clone().statements(then),
                        otherwise: Vec::new(),
                    });
                }
                S::Assign(place, operator, value) if !matches!(place, C::Element(..)) => {
                    // What has a name is not looked for again behind what is written meanwhile.
                    let is_named = matches!(value, C::Atom(_)) && !self.is_beside(place);
                    let value = match is_named {
                        true => value.clone(),
                        false => self.decided(&self.resolved(value)),
                    };
                    self.set_for(&value, &mut all);
                    self.assign(place, operator, value, &mut all);
                }
                S::Declare { kind, name, value } => {
                    let value = value.as_ref().map(|one| self.decided(&self.resolved(one)));
                    if let Some(value) = &value {
                        self.set_for(value, &mut all);
                        self.learn(name.clone(), value);
                    }
                    let (kind, name) = (kind.clone(), name.clone());
                    all.push(S::Declare { kind, name, value });
                }
                S::Do(value) if only_shortens(value) => {
                    self.set_for(value, &mut all);
                    all.push(statement.clone());
                }
                S::Comment(_) => all.push(statement.clone()),
                S::Do(_)
                | S::Assign(..)
                | S::If { .. }
                | S::Switch { .. }
                | S::For { .. }
                | S::While { .. }
                | S::Return(_)
                | S::Continue
                | S::Break
                | S::Goto(_)
                | S::Label(_) => {
                    // Here things begin to be done.
                    all.append(&mut self.waiting);
                    all.extend_from_slice(&path[at..]);
                    return all;
                }
            }
        }
        all
    }

    fn is_beside(&self, place: &C) -> bool {
        matches!(place, C::Member(of, _) if self.is_message(of))
    }

    /// A place gets a value: at once, or, beside the message, as late as may be.
    fn assign(&mut self, place: &C, operator: &'static str, value: C, all: &mut Vec<S>) {
        let beside = match place {
            C::Member(of, member) if self.is_message(of) && !ALWAYS.contains(&&**member) => member,
            _ => {
                all.push(S::Assign(place.clone(), operator, value));
                return;
            }
        };
        let name = format!("{}.{beside}", self.message);
        let set = S::Assign(place.clone(), operator, value.clone());
        if operator != "=" {
            all.append(&mut self.waiting);
            self.known.remove(&name);
            all.push(set);
            return;
        }
        let sets_it = |one: &S| matches!(one, S::Assign(own, ..) if own == place);
        self.waiting.retain(|one| !sets_it(one));
        self.learn(name, &value);
        match self.stays(&value) {
            true => self.waiting.push(set),
            false => all.push(set),
        }
    }

    /// What is looked at beside the message is set before.
    fn set_for(&mut self, value: &C, all: &mut Vec<S>) {
        let mut found = Mentions::of(self.message);
        found.statements(&[S::Do(value.clone())]);
        let by_callee = |callee: &String, member: &String| match self.read.get(callee) {
            Some(Some(read)) => read.contains(member),
            Some(None) | None => true,
        };
        let is_read = |one: &S| match one {
            S::Assign(C::Member(_, member), ..) => {
                let mut callees = found.callees.iter();
                found.whole
                    || found.members.contains(member)
                    || callees.any(|callee| by_callee(callee, member))
            }
            _ => false,
        };
        let waiting = std::mem::take(&mut self.waiting);
        let (now, later): (Vec<S>, Vec<S>) = waiting.into_iter().partition(is_read);
        all.extend(now);
        self.waiting = later;
    }

    /// Keeps a value in mind, if it stays.
    fn learn(&mut self, name: String, value: &C) {
        match self.stays(value) {
            true => self.known.insert(name, value.clone()),
            false => self.known.remove(&name),
        };
    }

    /// What is asked instead, with so much behind it: the path is left where it holds.
    fn asked(&mut self, condition: &C, behind: &[S]) -> C {
        let mut all = Vec::new();
        for one in any_of(straight(self.decided(&self.resolved(condition)))) {
            let one = match one {
                C::Binary("&&", first, _)
                    if !is_setting(&first) && self.is_asked_again(&first, behind) =>
                {
                    *first
                }
                other => other,
            };
            if one != atom("false") {
                if self.stays(&one) {
                    self.facts.insert(one.clone().negated());
                }
                all.push(one);
            }
        }
        let both = |one, other| binary("||", one, other);
        all.into_iter()
            .reduce(both)
            .unwrap_or_else(|| atom("false"))
    }

    /// Whether the path may ask for something alone: it is asked again, and the path is not left
    /// where it does not hold.
    fn is_asked_again(&self, condition: &C, behind: &[S]) -> bool {
        let (turned, own) = (condition.clone().negated(), topic(condition));
        let (mut asked, mut needed) = (false, false);
        walk::each(behind, &mut |one| {
            if needed {
                return;
            }
            for value in one.expressions() {
                let value = self.decided(&self.resolved(value));
                if topics(&value).iter().all(|part| part.topic != own) {
                    continue;
                }
                asked |= holds(&value, condition) || holds(&value, &turned);
                needed |= is_exit(one) && any_of(straight(value)).contains(&turned);
            }
        });
        asked && !needed
    }

    /// A value with what is known of its parts instead of their names.
    fn resolved(&self, value: &C) -> C {
        let known = |part: &C| match part {
            C::Atom(name) => self.known.get(name),
            C::Member(of, member) if self.is_message(of) => {
                self.known.get(&format!("{}.{member}", self.message))
            }
            _ => None,
        };
        let resolved = replaced(value, &|part| known(part).cloned());
        if number_of_parts(&resolved) <= 30 {
            return resolved;
        }
        // What is long is said by the names that it has.
        let is_said = |value: &&C| matches!(value, C::Atom(_));
        replaced(value, &|part| known(part).filter(is_said).cloned())
    }

    /// A value in which what was asked is known.
    fn decided(&self, value: &C) -> C {
        let mut value = value.clone();
        self.facts.decide(&mut value);
        folded(value)
    }

    fn is_message(&self, value: &C) -> bool {
        matches!(value, C::Atom(name) if name == self.message)
    }

    /// Whether a value is made of headers, settings and numbers alone.
    fn stays(&self, value: &C) -> bool {
        match value {
            C::Atom(name) => !self.is_message(value) && !self.changing.contains(name),
            C::Call(name, all) => {
                name.starts_with("sl_load_") && all.iter().all(|one| self.stays(one))
            }
            C::Behind(of, member) => **of == atom("stack") && member == "config",
            C::Unary("*", _) | C::Struct(..) => false,
            C::Member(..)
            | C::Element(..)
            | C::Unary(..)
            | C::Binary(..)
            | C::Conditional(..)
            | C::Cast(..) => value.parts().into_iter().all(|one| self.stays(one)),
        }
    }
}

/// Whether bytes are taken from the ends of a message, and nothing else is done.
fn only_shortens(value: &C) -> bool {
    matches!(value, C::Call(name, _) if name == "skip" || name == "cut")
}

/// Takes names away that nobody reads behind their declaration; the last ones first.
pub fn forget_unread(block: &mut Vec<S>) {
    named_after_forgetting(block, &|_| None);
}

/// Calls functions without names for what they return, where nobody reads that.
pub fn call_unread(block: &mut Vec<S>) {
    named_after_forgetting(block, &|declaration| match declaration {
        S::Declare {
            value: Some(call @ C::Call(..)),
            ..
        } => Some(S::Do(call.clone())),
        other => Some(other.clone()),
    });
}

/// Puts something else, or nothing, for names that nobody reads; returns the words that then stand
/// in the block: from its end on, so each is read once.
fn named_after_forgetting(block: &mut Vec<S>, unread: &dyn Fn(&S) -> Option<S>) -> HashSet<String> {
    let mut named = HashSet::new();
    for at in (0..block.len()).rev() {
        let is_unread = matches!(&block[at], S::Declare { name, .. } if !named.contains(name));
        if is_unread {
            match unread(&block[at]) {
                Some(instead) => block[at] = instead,
                None => {
                    block.remove(at);
                    continue;
                }
            }
        }
        for inner in block[at].blocks_mut() {
            let mut within = named_after_forgetting(inner, unread);
            // The fewer are moved: blocks may stand within each other to any depth.
            if within.len() > named.len() {
                std::mem::swap(&mut within, &mut named);
            }
            named.extend(within);
        }
        each_word(&block[at], &mut |word| {
            if !named.contains(word) {
                named.insert(word.to_string());
            }
        });
    }
    named
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::c::tree::{assign, call};

    fn message(member: &str) -> C {
        atom("message").member(member)
    }

    fn load(at: &str) -> C {
        call("sl_load_big32", vec![binary("+", atom("header"), atom(at))])
    }

    fn end() -> Vec<S> {
        let all = vec![atom("stack"), atom("message").address()];
        vec![S::Do(call("deliver", all)), S::Return(Some(atom("true")))]
    }

    fn guarded(path: Vec<Vec<S>>) -> Vec<S> {
        let read = BTreeMap::from([(
            "sum".to_string(),
            Some(BTreeSet::from(["peer".to_string()])),
        )]);
        super::guarded("message", &read, path.concat(), Rewrites::ALL)
    }

    #[test]
    fn a_length_that_is_not_looked_at_first_stays() {
        let length = || binary("*", load("8"), atom("4"));
        let rest = binary("-", length(), atom("20"));
        let short = binary("<", message("length"), atom("20"));
        let path = [
            vec![exit(binary(
                "||",
                short,
                binary("<", message("length"), length()),
            ))],
            vec![S::Assign(message("data"), "+=", rest)],
            end(),
        ];
        assert_eq!(guarded(path.to_vec()), path.concat());
    }

    #[test]
    fn what_is_asked_again_is_asked_alone() {
        let other = || binary("!=", load("16"), atom("own"));
        let everyone = || call("is_everyone", vec![load("16")]);
        let asked = || exit(binary("&&", other(), everyone().negated()));
        let again = assign(message("to_all"), other());
        let path = vec![vec![asked(), again], end()];
        let after = [
            vec![exit(other()), assign(message("to_all"), atom("false"))],
            end(),
        ];
        assert_eq!(guarded(path), after.concat());
        assert_eq!(
            guarded(vec![vec![asked()], end()]),
            [vec![asked()], end()].concat()
        );
    }

    #[test]
    fn what_a_test_looks_at_is_set_before_it_and_the_rest_behind() {
        let [ttl, peer] = ["ttl", "peer"].map(|one| assign(message(one), load("8")));
        let sum = call("sum", vec![atom("message").address()]);
        let tested = exit(binary("!=", sum, atom("0")));
        let early = exit(binary("==", message("ttl"), atom("0")));
        let path = vec![
            vec![ttl.clone(), peer.clone(), early, tested.clone()],
            end(),
        ];
        let early = exit(binary("==", load("8"), atom("0")));
        let after = [vec![early, peer, tested, ttl], end()];
        assert_eq!(guarded(path), after.concat());
    }

    #[test]
    fn what_changes_is_not_known() {
        let set = |value: &str| assign(atom("turn"), atom(value));
        let kept = assign(message("mark"), atom("turn"));
        let asked = exit(binary("==", message("mark"), atom("2")));
        let path = vec![vec![set("1"), kept, set("2"), asked], end()];
        assert_eq!(guarded(path.clone()), path.concat());
    }

    #[test]
    fn what_a_function_gives_nobody_is_called_without_a_name() {
        let declared = |name: &str| S::Declare {
            kind: "const bool".to_string(),
            name: name.to_string(),
            value: Some(call("lookup", vec![atom("user")])),
        };
        let read = S::Return(Some(atom("is_read")));
        let mut block = vec![declared("is_unread"), declared("is_read"), read.clone()];
        call_unread(&mut block);
        let called = S::Do(call("lookup", vec![atom("user")]));
        assert_eq!(block, [called, declared("is_read"), read]);
    }
}
