//! Whether something waits, and what holds where it does.

use crate::diagnostic::{Diagnostic, Id};
use crate::source::Span;
use crate::syntax::loom::ast;
use crate::types::body::flow::Holding;
use crate::types::body::words::Body;
use crate::types::program::LocalId;
use crate::types::value::Type;

impl<'a> Body<'a, '_> {
    /// What is known does not hold any more in a later instant, and no message is held across.
    pub(super) fn waits_here(&mut self, span: Span) {
        self.no_message_held(span);
        self.flow.facts.clear();
        self.forget_what_was_found(span);
    }

    /// Behind a wait, what was found may be another, or none.
    pub(super) fn forget_what_was_found(&mut self, span: Span) {
        let locals = (0..).map(LocalId).zip(&self.locals);
        let found = locals.filter(|(_, local)| match &local.kind {
            Type::Instance(_) | Type::Header(_) => true,
            _that_lasts => false,
        });
        for (local, _) in found {
            self.flow.past.entry(local).or_insert(span);
        }
    }

    pub(super) fn no_message_held(&mut self, span: Span) {
        let held = self.flow.messages.iter();
        let held =
            held.filter(|(_, holding)| matches!(holding, Holding::Owned | Holding::Perhaps { .. }));
        let held: Vec<LocalId> = held.map(|(local, _)| *local).collect();
        for local in held {
            let name = self.local_name(local).to_string();
            let title = format!("`{name}` is held while this waits");
            let mistake = Diagnostic::error(Id::MessageLeaked, title, span, "waits")
                .why("What is preempted here would forget its message.")
                .help(format!(
                    "keep it in a field, or pass or drop `{name}` before"
                ));
            self.report(mistake);
            self.flow.messages.insert(local, Holding::Unknown);
        }
    }

    /// Whether a statement may take more than an instant.
    pub(in crate::types::body) fn waits(&self, source: &ast::Statement) -> bool {
        self.waits_in(source, &mut Vec::new())
    }

    pub(super) fn block_waits(&self, block: &ast::Block, around: &mut Vec<usize>) -> bool {
        let mut statements = block.statements.iter();
        statements.any(|one| self.waits_in(one, around))
    }

    pub(super) fn waits_in(&self, source: &ast::Statement, around: &mut Vec<usize>) -> bool {
        match &source.kind {
            ast::StatementKind::Await(_)
            | ast::StatementKind::Every { .. }
            | ast::StatementKind::Loop(_)
            | ast::StatementKind::Repeat { .. } => true,
            ast::StatementKind::Pause => true,
            ast::StatementKind::Run {
                parallel,
                unless,
                until,
                ..
            } => {
                !until.is_empty()
                    || unless.is_some()
                    || parallel.branches.iter().any(|branch| match branch {
                        ast::ParallelBranch::Block(inner) => self.block_waits(inner, around),
                        ast::ParallelBranch::Process { name, .. } => {
                            self.process_waits(name, around)
                        }
                    })
            }
            ast::StatementKind::Trap { body, .. } => self.block_waits(body, around),
            ast::StatementKind::If {
                branches,
                otherwise,
            } => {
                branches
                    .iter()
                    .any(|branch| self.block_waits(&branch.body, around))
                    || otherwise
                        .as_ref()
                        .is_some_and(|one| self.block_waits(one, around))
            }
            ast::StatementKind::Match {
                cases, otherwise, ..
            } => {
                cases
                    .iter()
                    .any(|case| self.block_waits(&case.body, around))
                    || otherwise
                        .as_ref()
                        .is_some_and(|one| self.block_waits(one, around))
            }
            ast::StatementKind::Let { otherwise, .. }
            | ast::StatementKind::Assign { otherwise, .. }
            | ast::StatementKind::Call { otherwise, .. } => otherwise
                .as_ref()
                .is_some_and(|one| self.block_waits(one, around)),
            ast::StatementKind::Require { otherwise, .. } => self.block_waits(otherwise, around),
            ast::StatementKind::For { body, .. } => self.block_waits(body, around),
            ast::StatementKind::Send(_)
            | ast::StatementKind::Deliver(_)
            | ast::StatementKind::Tell { .. }
            | ast::StatementKind::Drop { .. }
            | ast::StatementKind::Consume(_)
            | ast::StatementKind::Count(_)
            | ast::StatementKind::Again
            | ast::StatementKind::End(_)
            | ast::StatementKind::Start { .. }
            | ast::StatementKind::Stop(_)
            | ast::StatementKind::Emit { .. }
            | ast::StatementKind::Exit(_)
            | ast::StatementKind::Return(_)
            | ast::StatementKind::Yield(_) => false,
        }
    }

    pub(super) fn process_waits(&self, name: &ast::Path, around: &mut Vec<usize>) -> bool {
        let Some(reacts) = &self.reacts else {
            return false;
        };
        let Some(last) = name.names.last() else {
            return false;
        };
        let mut all = reacts.doings.processes.iter().enumerate();
        let found = all.find(|(_, process)| process.source.name.text == last.text);
        let Some((at, process)) = found.filter(|(at, _)| !around.contains(at)) else {
            return false;
        };
        around.push(at);
        let mut statements = process.source.body.statements.iter();
        let waits = statements.any(|one| self.waits_in(one, around));
        around.pop();
        waits
    }

    /// Says whether something waits behind the statement that is checked next.
    pub(in crate::types::body) fn note_waits_behind(&mut self, rest: &[ast::Statement]) -> bool {
        let waits = self.reacts.is_some() && rest.iter().any(|one| self.waits(one));
        if let Some(reacts) = &mut self.reacts {
            reacts.waits_behind = waits;
        }
        waits
    }
}
