//! The clauses of transitions, and how they nest.
//!
//! The parser keeps a stack of open clauses. A clause of a kind that is open pops the stack down to
//! and including it. A block is a transition with all clauses that are open. `trans` empties the
//! stack.
//!
//! ```text
//! trans
//!   from idle
//!     to open when u.CONreq begin … end;      from idle, to open, when u.CONreq
//!     to idle when u.DISreq begin … end;      from idle, to idle, when u.DISreq
//! ```

use super::routine::LOCAL;
use super::{Parsed, Parser, Reported};
use crate::diagnostic::{Diagnostic, Id};
use crate::source::Span;
use crate::syntax::estelle::ast::{
    Body, Clause, ClauseId, ClauseKind as Kind, Most, Transition, When,
};

/// Words that begin a clause: one for each kind.
const CLAUSES: &[&str] = &["from", "to", "when", "provided", "priority", "delay", "any"];

/// Words that end a group of transitions.
const BEYOND: &[&str] = &["trans", "end", "initialize"];

/// The clauses that are open.
#[derive(Default)]
struct Open {
    /// From the outermost.
    clauses: Vec<OpenClause>,
    /// For each depth: the `provided` clauses that were opened there, with the same clauses around.
    provided: Vec<Vec<ClauseId>>,
}

struct OpenClause {
    id: ClauseId,
    /// The word with which it begins.
    word: &'static str,
    /// True if a block belongs to it.
    has_block: bool,
}

impl Parser<'_> {
    /// Reads the clauses and blocks behind `initialize` or `trans`.
    pub(super) fn group(&mut self, body: &mut Body, is_initialize: bool) {
        let base = self.lines.indentation;
        let mut open = Open::default();
        loop {
            let begin = self.at;
            let word = self.token().word;
            let is_block = word == "name" || word == "begin" || LOCAL.contains(&word);
            if is_block {
                self.lines.indentation = base + open.clauses.len() as u16;
                match self.transition(&open) {
                    Ok(transition) if is_initialize => body.initialize.push(transition),
                    Ok(transition) => body.transitions.push(transition),
                    Err(Reported) => self.skip_clause(begin),
                }
                for clause in &mut open.clauses {
                    clause.has_block = true;
                }
            } else if CLAUSES.contains(&word) {
                self.pop(&mut open, word, &body.clauses);
                self.lines.indentation = base + open.clauses.len() as u16;
                self.lines.begin(begin);
                match self.clause(&open, &body.clauses, is_initialize) {
                    Ok(clause) => self.push(&mut open, clause, word, body),
                    Err(Reported) => {
                        // Its block may be behind the mistake.
                        for clause in &mut open.clauses {
                            clause.has_block = true;
                        }
                        self.skip_clause(begin);
                    }
                }
            } else if self.is_at_end() || BEYOND.contains(&word) || self.begins_declaration() {
                break;
            } else {
                self.unexpected("a clause (`from`, `to`, `when`, …), `begin` or `end`");
                self.skip_clause(begin);
            }
        }
        self.pop_to(&mut open, 0, &body.clauses);
        self.lines.indentation = base;
    }

    /// Goes on at the next clause or block.
    fn skip_clause(&mut self, begin: usize) {
        if self.at == begin && !self.is_at_any(&["begin"]) {
            self.take();
        }
        if self.at == begin || !self.is_at("begin") {
            let mut stops: Vec<&str> = [CLAUSES, BEYOND].concat();
            stops.extend([";", "name"]);
            if self.at > begin {
                stops.push("begin");
            }
            self.skip_to(&stops);
        }
        self.accept(";");
    }

    /// Closes the open clause of a kind, and all in it.
    fn pop(&mut self, open: &mut Open, word: &str, clauses: &[Clause]) {
        if let Some(depth) = open.clauses.iter().position(|one| one.word == word) {
            self.pop_to(open, depth, clauses);
        }
    }

    /// Closes all clauses but the outer ones.
    fn pop_to(&mut self, open: &mut Open, depth: usize, clauses: &[Clause]) {
        let mut closed = open.clauses.drain(depth.min(open.clauses.len())..);
        if let Some(unused) = closed.rfind(|one| !one.has_block) {
            let span = clauses[unused.id.0 as usize].span;
            let title = format!("no block follows this `{}`", unused.word);
            let found = Diagnostic::error(Id::EstelleNoBlock, title, span, "no transition")
                .label(self.token().span, "closed here")
                .why("A clause of a kind that is open closes that clause and all in it.")
                .help("write `begin … end;` behind the clauses, or combine two clauses into one");
            self.report(found);
        }
    }

    fn push(&mut self, open: &mut Open, clause: Clause, word: &'static str, body: &mut Body) {
        let id = ClauseId(body.clauses.len() as u32);
        let depth = open.clauses.len();
        open.provided.truncate(depth + 1);
        open.provided.resize(depth + 1, Vec::new());
        if word == "provided" {
            let before = open.provided[depth].last();
            let before = before.map(|last| &body.clauses[last.0 as usize]);
            if let Some(before) = before.filter(|one| matches!(one.kind, Kind::Otherwise(_))) {
                self.report(
                    Diagnostic::error(
                        Id::EstelleOtherwise,
                        "a `provided` follows `provided otherwise`",
                        clause.span,
                        "never reached",
                    )
                    .label(before.span, "this means: none of the `provided` before")
                    .help("move `provided otherwise` behind it"),
                );
            }
            // So all lists together are no longer than the text.
            if matches!(clause.kind, Kind::Otherwise(_)) {
                open.provided[depth].clear();
            }
            open.provided[depth].push(id);
        }
        body.clauses.push(clause);
        open.clauses.push(OpenClause {
            id,
            word,
            has_block: false,
        });
    }

    fn clause(&mut self, open: &Open, all: &[Clause], is_initialize: bool) -> Parsed<Clause> {
        let start = self.take();
        let parent = open.clauses.last().map(|one| one.id);
        if is_initialize && !matches!(start.word, "to" | "provided" | "any") {
            let title = format!("`initialize` cannot have a `{}`", start.word);
            let found = Diagnostic::error(Id::EstelleInitializeClause, title, start.span, "")
                .why("An instance is initialised once, before it has a state or a queue.")
                .help("remove the clause, or write a transition behind `trans`");
            self.report(found);
        }
        let kind = match start.word {
            "from" => Kind::From(self.names("the name of a state or a set of states")?),
            "to" => match self.accept("same") {
                true => Kind::To(None),
                false => Kind::To(Some(self.name("the name of a state, or `same`")?)),
            },
            "when" => Kind::When(self.when()?),
            "provided" => match self.accept("otherwise") {
                true => Kind::Otherwise(self.siblings(open, all, start.span)),
                false => Kind::Provided(self.expression()?),
            },
            "priority" => Kind::Priority(self.constant()?),
            "delay" => self.delay()?,
            _ => {
                let domain = self.domain()?;
                self.expect("do")?;
                Kind::Any(domain)
            }
        };
        Ok(Clause {
            kind,
            span: self.since(start.span),
            parent,
        })
    }

    /// Returns the `provided` clauses of which an `otherwise` is the rest.
    fn siblings(&mut self, open: &Open, all: &[Clause], start: Span) -> Vec<ClauseId> {
        let depth = open.clauses.len();
        // Groups that are deeper, or stood here under other clauses, have ended.
        let mut before = open.provided.get(depth).cloned().unwrap_or_default();
        before.retain(|id| matches!(all[id.0 as usize].kind, Kind::Provided(_)));
        if before.is_empty() {
            let span = start.to(self.previous());
            let title = "no `provided` stands before this `provided otherwise`";
            let found = Diagnostic::error(Id::EstelleOtherwise, title, span, "the rest of nothing")
                .why("It means: none of the `provided` before it with the same clauses around.")
                .help("write it behind another `provided`, or remove it");
            self.report(found);
        }
        before
    }

    /// Reads `p[i].DATA(n, m)`.
    fn when(&mut self) -> Parsed<When> {
        let point = self.name("the name of an interaction point")?;
        let indices = self.optional_indices()?;
        self.expect(".")?;
        let interaction = self.name("the name of an interaction")?;
        if self.is_at_any(&[".", "["]) {
            let help = "a module takes interactions from its own interaction points only: \
                        `when POINT.INTERACTION`";
            return Err(self.unexpected_with("a clause or a block", Some(help.to_string())));
        }
        let parameters = match self.accept("(") {
            true => {
                let names = self.names("the name of a parameter")?;
                self.expect(")")?;
                Some(names)
            }
            false => None,
        };
        Ok(When {
            point,
            indices,
            interaction,
            parameters,
        })
    }

    /// Reads `(2)`, `(2, 5)` or `(2, *)`.
    fn delay(&mut self) -> Parsed<Kind> {
        self.expect("(")?;
        let least = self.expression()?;
        let most = match self.accept(",") {
            true if self.accept("*") => Most::Unbounded,
            true => Most::Given(self.expression()?),
            false => Most::Same,
        };
        self.expect(")")?;
        Ok(Kind::Delay { least, most })
    }

    fn transition(&mut self, open: &Open) -> Parsed<Transition> {
        let mut name = None;
        if self.is_at("name") {
            self.lines.begin(self.at);
            self.take();
            name = Some(self.name("the name of the transition")?);
            self.expect(":")?;
        }
        let block = self.block(0)?;
        self.semicolon_behind_end(block.span, "begin");
        Ok(Transition {
            clauses: open.clauses.iter().map(|one| one.id).collect(),
            name,
            block,
        })
    }
}
