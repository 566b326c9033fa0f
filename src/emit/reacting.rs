//! The functions of all reactions, and what is done with the fast paths among them when all are
//! there.
//!
//! In: the functions of each tree. Out: the same, where fast paths have guards; then they have
//! names, say where they are left, compare a frame with what is expected, let go of it, and say at
//! their ends whether something may wait. What one of these ensures the next may build on.

use super::Stack;
use super::again;
use super::answer;
use super::apart;
use super::begun::{self, Begun};
use super::borrowed;
use super::bypass;
use super::compared;
use super::derived;
use super::exits::{self, Path};
use super::expected::Expected;
use super::granted;
use super::leaves;
use super::lengths;
use super::meet;
use super::narrow;
use super::output::Queued;
use super::predict;
use super::untaken;
use super::waits;
use crate::c::tree::{Expression as C, Function, Item, Line, atom};
use crate::c::walk;
use crate::tree::{Reaction, Tree};
use crate::types::program::KindId;
use std::collections::BTreeSet;

/// The functions of one tree, and what they put on the agenda.
#[derive(Clone, Debug)]
pub struct Reacting {
    /// Of which it is the tree.
    pub reaction: Reaction,
    /// The functions.
    pub functions: Vec<Function>,
    /// What they put there.
    pub queued: BTreeSet<Queued>,
}

impl Reacting {
    /// Emits a tree.
    pub fn new(stack: &Stack, tree: &Tree) -> Reacting {
        let mut queued = BTreeSet::new();
        Reacting {
            reaction: tree.reaction,
            functions: apart::functions(stack, tree, &mut queued),
            queued,
        }
    }
}

/// Gives the bypasses of reactions their guards. Beside them stands `beside`.
pub fn guard_bypasses(stack: &Stack, all: &mut [Reacting], beside: &str) {
    let read = narrow::read_beside(stack, beside);
    for one in all {
        let mut functions = one.functions.iter_mut();
        if let Some(path) = functions.find(|function| bypass::is_bypass(function)) {
            bypass::guarded(path, &read, stack.rewrites);
        }
    }
}

/// What is mostly done, and shorter for it.
#[derive(Clone, Debug)]
pub struct Shortcuts {
    /// The fast paths of what frames start.
    pub paths: Vec<Path>,
    /// What is expected of the next frame on these.
    pub expected: Vec<Expected>,
    /// What is kept for what sessions send.
    pub begun: Vec<Begun>,
    /// Fields that always hold the same, and that.
    pub held: Vec<String>,
    /// The names of the fields that fast paths ask for.
    pub near: BTreeSet<String>,
}

impl Shortcuts {
    /// Where an answer is kept that leaves from there, and how many bytes it has.
    pub fn stands(&self) -> Option<&(String, u64)> {
        self.paths.iter().find_map(|path| path.stands.as_ref())
    }

    /// Sees to it that what functions change is no longer expected, nor kept.
    pub fn keep(&self, items: &mut [Item]) {
        for item in items {
            if let Item::Function(function) = item {
                self.expected.iter().for_each(|one| one.keep(function));
                self.begun.iter().for_each(|one| one.keep(function));
            }
        }
    }

    /// What an instance of a kind, as the stack names it, has for it.
    pub fn members_of(&self, kind: &str) -> Vec<Line> {
        let expected = self.expected.iter().filter_map(|one| one.member_of(kind));
        let begun = self.begun.iter().filter_map(|one| one.member_of(kind));
        expected.chain(begun).collect()
    }

    /// The bytes that each of these takes, and of how many it is to be a multiple.
    pub fn sizes_of(&self, kind: KindId) -> Vec<[u64; 2]> {
        let predicted = self.paths.iter().filter_map(|path| path.predicted?.kept);
        let predicted = predicted.map(|(of, bytes)| (of, [bytes, 8]));
        let begun = self.begun.iter().map(|one| (one.kind, [one.size(), 4]));
        let own = predicted.chain(begun).filter(|(of, _)| *of == kind);
        own.map(|(_, size)| size).collect()
    }
}

/// The fast paths, and what they expect. `values` are functions that give a value, and no more,
/// `others` all that put nothing on the agenda.
pub fn common_paths(
    stack: &Stack,
    all: &mut [Reacting],
    values: &BTreeSet<String>,
    others: &BTreeSet<String>,
) -> Shortcuts {
    let functions = all.iter().flat_map(|one| &one.functions);
    let known = waits::Known {
        stack,
        others,
        reactions: functions.map(|one| one.name.clone()).collect(),
    };
    let mut paths = named(stack, all);
    let expected = predicted(stack, &mut paths, all, &known);
    let_go(stack, &mut paths, all, values);
    say_at_ends(stack, &mut paths, all, &known);
    // One is enough: the stack knows where it stands.
    for path in &mut paths {
        let own = all.iter_mut().find(|one| one.reaction == path.reaction);
        let expected = expected.iter().find(|one| one.path == path.name);
        if let (Some(own), Some(expected)) = (own, expected) {
            path.stands = untaken::let_stand(stack, expected, &mut own.functions);
        }
        if path.stands.is_some() {
            break;
        }
    }
    if let [path] = &mut paths[..] {
        let own = all.iter_mut().find(|one| one.reaction == path.reaction);
        let functions = own.map(|own| &mut own.functions[..]);
        path.delivers = derived::delivers(stack, path, functions.unwrap_or_default());
    }
    Shortcuts {
        paths,
        expected,
        begun: Vec::new(),
        held: Vec::new(),
        near: near(stack, all),
    }
}

/// The names of the fields that fast paths ask for, and what stands in them.
fn near(stack: &Stack, all: &[Reacting]) -> BTreeSet<String> {
    let granted = Vec::from_iter(granted::names(stack));
    let functions = all.iter().flat_map(|one| &one.functions);
    let own = functions.filter(|one| bypass::is_bypass(one) || granted.contains(&one.name));
    let mut fields = BTreeSet::new();
    for function in own {
        walk::each(&function.body, &mut |one| {
            for value in one.expressions() {
                asked(value, &mut fields);
            }
        });
    }
    fields
}

fn asked(value: &C, fields: &mut BTreeSet<String>) {
    if let C::Member(_, name) | C::Behind(_, name) = value {
        fields.insert(name.clone());
    }
    value.parts().into_iter().for_each(|one| asked(one, fields));
}

impl Shortcuts {
    /// Keeps what messages begin with that sessions send; these are the functions of `values`.
    pub fn begin(&mut self, stack: &Stack, all: &mut [Reacting], values: &[Function]) {
        let own = all.iter_mut().map(|one| (one.reaction, &mut one.functions));
        self.begun = begun::kept(stack, &mut Vec::from_iter(own), values);
        for function in all.iter_mut().flat_map(|one| &mut one.functions) {
            self.begun.iter().for_each(|one| one.keep(function));
        }
    }
}

/// The fast paths as they are when all is known of them.
fn named(stack: &Stack, all: &mut [Reacting]) -> Vec<Path> {
    let named = all.iter_mut().filter_map(|one| {
        let mut functions = one.functions.iter_mut();
        let path = functions.find(|function| bypass::is_bypass(function))?;
        Some(exits::named(stack, one.reaction, path))
    });
    named.collect()
}

/// The fast paths say at their ends whether something may wait on the agenda.
fn say_at_ends(stack: &Stack, paths: &mut [Path], all: &mut [Reacting], known: &waits::Known) {
    let waits = atom(super::paths::count(stack));
    for path in paths {
        let own = all.iter_mut().find(|one| one.reaction == path.reaction);
        let functions = own.into_iter().flat_map(|own| &mut own.functions);
        let mut ways = functions.filter(|one| bypass::is_bypass(one));
        let way = ways.find(|one| one.name == format!("{}_bypass", path.name));
        let way = way.expect("a path has a function");
        let ends = (&atom(&path.constant), &waits);
        let message = atom(bypass::message_of(way));
        let buffer = path.lets_go.then(|| message.member("buffer"));
        leaves::at_ends(stack, &mut way.body);
        path.may_wait = waits::said_at_ends(stack, &mut way.body, ends, buffer.as_ref(), known);
    }
}

/// The fast paths let go of their frames, if all may.
fn let_go(stack: &Stack, paths: &mut [Path], all: &mut [Reacting], values: &BTreeSet<String>) {
    let functions = all.iter_mut().flat_map(|one| &mut one.functions);
    let bypasses = functions.filter(|one| bypass::is_bypass(one));
    let mut changed: Vec<(&mut Function, Function)> = bypasses
        .map(|one| {
            let path = one.clone();
            (one, path)
        })
        .collect();
    let mut ways = changed.iter_mut();
    if ways.all(|(_, path)| borrowed::lets_go(stack, path, values)) {
        changed.into_iter().for_each(|(own, path)| *own = path);
        paths.iter_mut().for_each(|path| path.lets_go = true);
    }
}

/// Adds header prediction to fast paths: a test for the expected next frame, which comes first.
fn predicted(
    stack: &Stack,
    paths: &mut [Path],
    all: &mut [Reacting],
    known: &waits::Known,
) -> Vec<Expected> {
    let functions = all.iter().flat_map(|one| &one.functions);
    let addressed = compared::addressed(functions);
    let mut expected: Vec<Expected> = Vec::new();
    for path in paths.iter_mut() {
        let own = all.iter_mut().find(|one| one.reaction == path.reaction);
        let own = &mut own.expect("a path is one of these").functions;
        let at = own.iter().position(bypass::is_bypass);
        let at = at.expect("it has a path");
        if let Some((one, asks)) = predict::split(stack, path, &mut own[at], &addressed) {
            let compares = one.function(&stack.names.stack);
            own.splice(at..at, [asks, compares]);
            expected.push(one);
        }
    }
    for function in all.iter_mut().flat_map(|one| &mut one.functions) {
        expected.iter().for_each(|one| one.keep(function));
    }
    for one in &expected {
        let mut functions = Vec::from_iter(all.iter_mut().flat_map(|one| &mut one.functions));
        let made = granted::at_hand(stack, one, &mut functions, known);
        let mut all = all.iter_mut().map(|one| &mut one.functions);
        let own = all.find_map(|own| {
            let at = own.iter().position(|function| one.is_path(function))?;
            Some((own, at))
        });
        let (own, at) = own.expect("a path is one of these");
        own.splice(at..at, made);
    }
    for function in all.iter_mut().flat_map(|one| &mut one.functions) {
        if bypass::is_bypass(function) {
            if let Some(one) = expected.iter().find(|one| one.is_path(function)) {
                let message = bypass::message_of(function);
                lengths::count(&message, one.mask.len() as u64, &mut function.body);
            }
            meet::meet(&mut function.body);
            again::named(&mut function.body);
            bypass::forget_unread(function);
        }
    }
    for one in &mut expected {
        for own in all.iter_mut().map(|one| &mut one.functions) {
            if let Some(begins) = answer::kept(stack, one, own) {
                own.insert(0, begins);
            }
        }
        let mut paths = paths.iter_mut().filter(|path| path.name == one.path);
        let predicted = paths.find_map(|path| path.predicted.as_mut());
        if let Some((_, bytes)) = predicted.and_then(|one| one.kept.as_mut()) {
            *bytes = one.bytes();
        }
    }
    expected
}
