//! What a handler's code reads and writes, as far as lowering has to know.

use crate::types::expression::{Expression, ExpressionKind};
use crate::types::fields::field_of;
use crate::types::program::{FieldId, Function, KindId, LocalId, Program};
use crate::types::statement::{
    Attempt, Block, Operation, Ordered, Output, Search, Statement, StatementKind, TellTarget,
};

/// The fields that a block writes, containers included.
pub fn written(block: &[Statement]) -> Vec<(KindId, FieldId)> {
    let mut fields = Vec::new();
    for statement in block {
        for field in statement.changes().into_iter().filter_map(field_of) {
            if !fields.contains(&field) {
                fields.push(field);
            }
        }
        for inner in statement.blocks() {
            fields.extend(written(inner));
        }
    }
    fields
}

/// Whether a block lets anything happen outside its instance.
pub fn has_outputs(block: &[Statement]) -> bool {
    block.iter().any(|statement| {
        let itself = match &statement.kind {
            StatementKind::Output(_) | StatementKind::End(..) => true,
            StatementKind::Attempt { attempt, .. } => creates(attempt),
            _ => false,
        };
        itself || statement.blocks().into_iter().any(|b| has_outputs(b))
    })
}

/// Whether instances begin or end in a block.
pub fn begins_or_ends(block: &[Statement]) -> bool {
    block.iter().any(|statement| {
        let itself = match &statement.kind {
            StatementKind::End(..) => true,
            StatementKind::Attempt { attempt, .. } => creates(attempt),
            _ => false,
        };
        itself || statement.blocks().into_iter().any(|b| begins_or_ends(b))
    })
}

fn creates(attempt: &Attempt) -> bool {
    match attempt {
        Attempt::Instance(steps) => steps.iter().any(|s| matches!(s, Search::Create(..))),
        _ => false,
    }
}

/// Whether something goes down through a joint.
pub fn goes_below(block: &[Statement]) -> bool {
    block.iter().any(|statement| {
        let itself = match &statement.kind {
            StatementKind::Output(Output::Send { .. }) => true,
            StatementKind::Output(Output::Tell { target, .. }) => {
                matches!(target, TellTarget::Below(_))
            }
            _ => false,
        };
        itself || statement.blocks().into_iter().any(|b| goes_below(b))
    })
}

/// Header fields that are read where the bytes of the header may be gone: in what is sent, since a
/// new header may be written over the old one, and after a message has been given away.
pub fn late_header_reads(body: &[Statement], blocks: &[Block]) -> Vec<Expression> {
    let mut late = Late {
        gone: vec![false; blocks.len()],
        ..Late::default()
    };
    late.block(body, false);
    // Each block leads on only to those before it.
    for (at, block) in blocks.iter().enumerate().rev() {
        let gone = late.gone[at];
        late.block(block, gone);
    }
    late.found
}

/// The same of a header that was peeked at, in what follows that, innermost last. It is a part of
/// the data, so that its bytes are gone as well where the data is rewritten.
pub fn late_peeked_reads(
    program: &Program,
    rests: &[&[Statement]],
    peeked: LocalId,
) -> Vec<Expression> {
    let mut late = Late {
        peeked: Some(peeked),
        functions: &program.functions,
        ..Late::default()
    };
    let mut gone = false;
    for rest in rests.iter().rev() {
        gone = late.block(rest, gone);
    }
    late.found
}

/// Reads of one header where its bytes may be gone.
#[derive(Default)]
struct Late<'p> {
    /// The header that was peeked at; else the one that was stripped.
    peeked: Option<LocalId>,
    /// Functions that may overwrite the data of which it is a part.
    functions: &'p [Function],
    /// Whether the bytes may be gone where each of the handler's blocks begins.
    gone: Vec<bool>,
    found: Vec<Expression>,
}

impl Late<'_> {
    /// Whether the bytes may be gone behind the block. What takes the place of the rest of a block
    /// says nothing about that rest, only about what is behind the block.
    fn block(&mut self, block: &[Statement], mut gone: bool) -> bool {
        let mut gone_outside = false;
        for statement in block {
            let sends = matches!(
                &statement.kind,
                StatementKind::Output(Output::Send { .. }) | StatementKind::For { .. }
            );
            if gone || sends {
                for expression in itself(statement) {
                    self.reads(expression);
                }
            }
            if let StatementKind::Ordered(Ordered::Go(block)) = statement.kind {
                self.gone[block.0 as usize] |= gone;
            }
            gone |= gives_away(statement) || self.peeked.is_some() && self.rewrites(statement);
            let mut behind = false;
            for inner in statement.blocks() {
                behind |= self.block(inner, gone);
            }
            match &statement.kind {
                StatementKind::Attempt { .. } | StatementKind::Require { .. } => {
                    gone_outside |= behind;
                }
                _ => gone |= behind,
            }
        }
        gone || gone_outside
    }

    fn reads(&mut self, expression: &Expression) {
        let of_header = match &*expression.kind {
            ExpressionKind::Header(..)
            | ExpressionKind::HeaderPresent(..)
            | ExpressionKind::OptionsHold(_) => self.peeked.is_none(),
            ExpressionKind::Peeked(local, ..) | ExpressionKind::PeekedPresent(local, ..) => {
                self.peeked == Some(*local)
            }
            _ => false,
        };
        if of_header && !self.found.contains(expression) {
            self.found.push(expression.clone());
        }
        for part in expression.parts() {
            self.reads(part);
        }
    }

    /// Returns true if a filter or a function in C rewrites the data.
    fn rewrites(&self, statement: &Statement) -> bool {
        let itself_rewrites = match &statement.kind {
            StatementKind::Do(operation) => {
                matches!(operation, Operation::Rewrite(..) | Operation::Call(..))
            }
            StatementKind::Attempt { attempt, .. } => matches!(attempt, Attempt::Rewrite(..)),
            _ => false,
        };
        let called = |part: &Expression| match &*part.kind {
            ExpressionKind::Call(id, _) => self.functions[id.at()].rewrites,
            _ => false,
        };
        itself_rewrites
            || itself(statement)
                .into_iter()
                .any(|value| any(value, &called))
    }
}

fn gives_away(statement: &Statement) -> bool {
    match &statement.kind {
        StatementKind::Drop(..) | StatementKind::Consume(_) => true,
        StatementKind::Output(output) => output.message().is_some(),
        StatementKind::Attempt { attempt, .. } => matches!(
            attempt,
            Attempt::Push(..)
                | Attempt::InsertWindow(..)
                | Attempt::InsertStream(..)
                | Attempt::AppendStream(..)
                | Attempt::Message(_)
                | Attempt::ShareWindow(..)
                | Attempt::Restore(..)
        ),
        StatementKind::Do(operation) => matches!(operation, Operation::ReplaceWindow(..)),
        _ => false,
    }
}

/// Whether an expression, or a part of it, is so.
pub fn any(expression: &Expression, holds: &dyn Fn(&Expression) -> bool) -> bool {
    holds(expression) || expression.parts().into_iter().any(|part| any(part, holds))
}

/// The expressions that stand in a statement itself, not in its blocks.
fn itself(statement: &Statement) -> Vec<&Expression> {
    match &statement.kind {
        StatementKind::Output(output) => output.values(),
        _ => statement.values(),
    }
}
