//! Whether something waits, and what holds where it does.

use crate::diagnostic::{Diagnostic, Id};
use crate::source::Span;
use crate::syntax::loom::ast;
use crate::types::body::flow::Holding;
use crate::types::body::words::Body;
use crate::types::program::LocalId;
use crate::types::scope::Named;
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
            let title = format!("`{name}` is not used up before this wait");
            let mistake = Diagnostic::error(Id::MessageLeaked, title, span, "waits")
                .why("A preemption during the wait would lose the message.")
                .help(format!(
                    "push it into a container, or pass `{name}` on or drop it before the wait"
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
            | ast::StatementKind::Repeat { .. }
            | ast::StatementKind::Pause => return true,
            ast::StatementKind::Run {
                parallel,
                unless,
                until,
                ..
            } => {
                let mut branches = parallel.branches.iter();
                let runs_what_waits = branches.any(|branch| match branch {
                    ast::ParallelBranch::Process { name, .. } => self.process_waits(name, around),
                    ast::ParallelBranch::Block(_) => false,
                });
                if runs_what_waits || !until.is_empty() || unless.is_some() {
                    return true;
                }
            }
            _of_one_instant => {}
        }
        let mut blocks = source.kind.blocks().into_iter();
        blocks.any(|block| self.block_waits(block, around))
    }

    fn process_waits(&self, name: &ast::Path, around: &mut Vec<usize>) -> bool {
        let Some(reacts) = &self.reacts else {
            return false;
        };
        // What a process runs is named in its own scope.
        let scope = match around.last() {
            Some(at) => &reacts.doings.scopes[*at],
            None => self.scope,
        };
        let Some(Named::Process(at)) = scope.path(name) else {
            return false;
        };
        let at = at as usize;
        if around.contains(&at) {
            return false;
        }
        around.push(at);
        let waits = self.block_waits(&reacts.doings.processes[at].source.body, around);
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
