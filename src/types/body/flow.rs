//! What is known at one point of a body: which conditions hold, and where each message is.
//!
//! Paths split at tests and join again at the end of the block. What holds after a join held on
//! every path. A message that is gone on one path and kept on another is wrong whatever follows,
//! so it is remembered as such, with both places, until somebody uses it (then it may be gone) or
//! nobody does (then it leaks).

use super::super::expression::{Expression, Instance};
use super::super::program::LocalId;
use super::access::Meaning;
use super::words::{Body, Word};
use crate::diagnostic::{Diagnostic, Id};
use crate::source::Span;
use crate::syntax::loom::ast;
use std::collections::{BTreeMap, BTreeSet};

/// What is known at one point of a body.
#[derive(Clone, Default, Debug)]
pub(super) struct Flow {
    /// Conditions that hold.
    pub facts: Vec<Expression>,
    /// Where each message is that the body has owned.
    pub messages: BTreeMap<LocalId, Holding>,
    /// Second handles were made of these messages: their data is read-only.
    pub shared: BTreeMap<LocalId, Span>,
    /// Instances that may have ended, and where.
    pub ended: Vec<(Instance, Span)>,
    /// Instances and headers that were found in an earlier instant, and what has waited since.
    pub past: BTreeMap<LocalId, Span>,
    /// A test before was refused, so that facts are missing which it would have given.
    pub unsure: bool,
    /// Nothing comes here: a function has returned.
    pub dead: bool,
}

/// Where a message is.
#[derive(Clone, Debug)]
pub(super) enum Holding {
    /// The body owns it.
    Owned,
    /// It went here.
    Gone(Span),
    /// It went here on one path, and is owned on another.
    Perhaps {
        /// Where it went.
        gone: Span,
        /// The path that keeps it.
        kept: Way,
    },
    /// What was written of it was refused: nothing more is said of it.
    Unknown,
}

/// A path, as it is pointed at.
#[derive(Clone, Debug)]
pub(super) struct Way {
    /// What chooses it.
    pub span: Span,
    /// When it is taken: `when …`.
    pub text: String,
}

impl Flow {
    /// Whether the body owns this message on every path that comes here.
    pub fn owns(&self, message: LocalId) -> bool {
        matches!(self.messages.get(&message), Some(Holding::Owned))
    }

    /// What is known where two paths meet; each has a way to point at it.
    pub fn join(self, way: &Way, other: Flow, other_way: &Way) -> Flow {
        if self.dead {
            return other;
        }
        if other.dead {
            return self;
        }
        let facts = self.facts.into_iter();
        let facts = facts.filter(|fact| other.facts.contains(fact)).collect();
        let mut messages = self.messages;
        for (local, right) in other.messages {
            let joined = match messages.remove(&local) {
                None => right,
                Some(left) => join_holding(left, way, right, other_way),
            };
            messages.insert(local, joined);
        }
        let mut shared = self.shared;
        shared.extend(other.shared);
        let mut ended = self.ended;
        ended.extend(other.ended);
        let mut past = self.past;
        past.extend(other.past);
        Flow {
            facts,
            messages,
            shared,
            ended,
            past,
            unsure: self.unsure || other.unsure,
            dead: false,
        }
    }
}

fn join_holding(left: Holding, left_way: &Way, right: Holding, right_way: &Way) -> Holding {
    match (left, right) {
        (Holding::Unknown, _) | (_, Holding::Unknown) => Holding::Unknown,
        (Holding::Owned, Holding::Owned) => Holding::Owned,
        (Holding::Owned, Holding::Gone(gone)) => Holding::Perhaps {
            gone,
            kept: left_way.clone(),
        },
        (Holding::Gone(gone), Holding::Owned) => Holding::Perhaps {
            gone,
            kept: right_way.clone(),
        },
        (Holding::Gone(gone), Holding::Gone(_)) => Holding::Gone(gone),
        (perhaps @ Holding::Perhaps { .. }, _) | (_, perhaps @ Holding::Perhaps { .. }) => perhaps,
    }
}

impl Body<'_, '_> {
    /// A statement was refused, so that nobody knows what became of the messages that it names; of
    /// one that takes a message, and names none, nobody knows which it was meant to take.
    pub fn lose_sight_of(&mut self, refused: &ast::Statement) {
        let text = self.text(refused.span);
        let named: BTreeSet<&str> = text
            .split(|c: char| !c.is_alphanumeric() && c != '_')
            .collect();
        let takes = matches!(
            refused.kind,
            ast::StatementKind::Send(_)
                | ast::StatementKind::Deliver(_)
                | ast::StatementKind::Tell { .. }
                | ast::StatementKind::Drop { .. }
                | ast::StatementKind::Consume(_)
        );
        let names = |word: &Word| named.contains(word.name.as_str());
        let messages = self.words.iter();
        let messages = messages.filter(|word| self.flow.messages.contains_key(&word.local));
        let any = messages.clone().any(names);
        let lost = messages.filter(|word| names(word) || takes && !any);
        let lost: Vec<LocalId> = lost.map(|word| word.local).collect();
        for local in lost {
            self.flow.messages.insert(local, Holding::Unknown);
        }
    }

    /// Nobody knows what becomes of any message: a word for one stands for nothing.
    pub fn lose_sight_of_all(&mut self) {
        for holding in self.flow.messages.values_mut() {
            *holding = Holding::Unknown;
        }
    }

    /// The message that the event brought.
    pub fn given_message(&mut self, span: Span) -> Meaning {
        if let Some(local) = self.message_of_instant() {
            return Meaning::Message(local);
        }
        let title = "there is no message here";
        let refused = Diagnostic::error(Id::UnknownName, title, span, "no message arrived");
        let owned = self.words.iter().find(|word| self.flow.owns(word.local));
        self.report(refused.help(match owned {
            Some(word) => format!("the name of the message here is `{}`", word.name),
            None => "create one: `send new message with { … }`".to_string(),
        }));
        self.lose_sight_of_all();
        Meaning::Unknown
    }

    /// The body owns this message from here on.
    pub fn own(&mut self, local: LocalId) {
        self.flow.messages.insert(local, Holding::Owned);
    }

    /// The message goes here: what uses it up calls this.
    pub fn give_away(&mut self, local: LocalId, span: Span) {
        self.check_owned(local, span, "used up");
        let known = !matches!(self.flow.messages.get(&local), Some(Holding::Unknown));
        if known {
            self.flow.messages.insert(local, Holding::Gone(span));
        }
    }

    /// The message is used here, and stays.
    pub fn check_owned(&mut self, local: LocalId, span: Span, used: &str) {
        let name = self.local_name(local).to_string();
        let diagnostic = match self.flow.messages.get(&local) {
            Some(Holding::Owned | Holding::Unknown) => return,
            // Functions, finders and headers only look at a message that others own.
            None if used != "used up" => return,
            None => Diagnostic::error(
                Id::MessageGone,
                format!("`{name}` is not owned here"),
                span,
                "only read here",
            )
            .why("Functions and finders can read a message, but do not own it."),
            Some(Holding::Gone(gone)) => Diagnostic::error(
                Id::MessageGone,
                format!("`{name}` was already passed, held or dropped"),
                span,
                format!("{used} here"),
            )
            .label(*gone, "the message goes here")
            .why("A message is passed, held or dropped exactly once on every path.")
            .help(format!(
                "read the needed values of `{name}` with `let` before it goes, or pass `share \
                {name}` on first"
            )),
            Some(Holding::Perhaps { gone, kept }) => Diagnostic::error(
                Id::MessageGone,
                format!("`{name}` may already be passed, held or dropped"),
                span,
                format!("{used} here"),
            )
            .label(*gone, "on one path, the message goes here")
            .label(
                kept.span,
                format!("on another path, it stays {}", kept.text),
            )
            .why("A message is passed, held or dropped exactly once on every path.")
            .help(
                "move the following code into each branch in which the message stays; the `else` \
                of a statement replaces only the rest of its own block",
            ),
        };
        if let Some(Holding::Gone(gone) | Holding::Perhaps { gone, .. }) =
            self.flow.messages.insert(local, Holding::Unknown)
            && !self.told_gone.insert((local, gone))
        {
            // Another branch behind the same place: it was told once.
            return;
        }
        self.report(diagnostic);
    }

    /// The instance is used here, and so has not ended before.
    pub fn check_alive(&mut self, instance: Instance, name: &str, span: Span) {
        if let Instance::Local(local) = instance {
            self.check_found_now(local, span);
        }
        let ended = self.flow.ended.iter().find(|(other, _)| *other == instance);
        let Some((_, ended)) = ended else { return };
        let title = format!("{name} has already ended");
        let refused = Diagnostic::error(Id::InstanceEnded, title, span, "used here");
        let refused = refused.label(*ended, "ended here");
        self.report(
            refused
                .why("After `end`, an instance no longer exists, and another may use its memory.")
                .help("move `end` after the last use"),
        );
    }

    /// What was found is used here, and so in the instant in which it was found.
    fn check_found_now(&mut self, local: LocalId, span: Span) {
        let Some(waited) = self.flow.past.get(&local).copied() else {
            return;
        };
        let name = self.local_name(local);
        let title = format!("`{name}` is not valid after a wait");
        let refused = Diagnostic::error(Id::NotHere, title, span, "used here");
        let refused = refused.label(waited, "the wait");
        self.report(refused.help("find the instance again after the wait"));
    }

    /// Nobody can name these messages from here on: each must be gone.
    pub fn check_gone(&mut self, locals: impl Iterator<Item = LocalId>, end: Span) {
        for local in locals {
            let name = self.local_name(local).to_string();
            let held = self.flow.messages.remove(&local);
            let diagnostic = match held {
                None | Some(Holding::Gone(_) | Holding::Unknown) => continue,
                Some(Holding::Owned) => Diagnostic::error(
                    Id::MessageLeaked,
                    "a message is forgotten",
                    end,
                    format!("`{name}` is neither passed, held nor dropped"),
                ),
                Some(Holding::Perhaps { gone, kept }) => Diagnostic::error(
                    Id::MessageLeaked,
                    "this path forgets its message",
                    kept.span,
                    format!("`{name}` is neither passed, held nor dropped {}", kept.text),
                )
                .label(gone, "on the other path, the message goes here"),
            };
            self.report(
                diagnostic
                    .why("A handler uses its message exactly once on every path.")
                    .help(format!(
                        "add `drop {name} as REASON` or `consume {name}` here"
                    )),
            );
        }
    }
}
