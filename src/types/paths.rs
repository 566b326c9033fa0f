//! What is known along the paths of a block: in, a block and what is known before it; out, what is
//! known behind it.
//!
//! ```text
//! require a else { drop message }    known, a failed -> the `else` -> behind the block
//! deliver message                    known, a held   -> the rest   -> behind the block, joined
//! ```

use super::statement::{Statement, StatementKind};

/// What happens to what is known.
pub trait Known: Clone {
    /// A statement has been done, without its blocks; or it has failed, if it may.
    fn after(&mut self, statement: &Statement, failed: bool);
    /// Another path meets this one.
    fn join(&mut self, other: Self);
}

/// What is known behind a block.
pub fn behind<K: Known>(block: &[Statement], mut known: K) -> K {
    let mut exits = Vec::new();
    for statement in block {
        let mut failed = known.clone();
        known.after(statement, false);
        match &statement.kind {
            StatementKind::Attempt { otherwise, .. } | StatementKind::Require { otherwise, .. } => {
                failed.after(statement, true);
                exits.push(behind(otherwise, failed));
            }
            StatementKind::For { body, .. } | StatementKind::Drain { body, .. } => {
                // Not at all, once, or after itself: more turns add nothing.
                for _ in 0..2 {
                    let turned = behind(body, known.clone());
                    known.join(turned);
                }
            }
            _ => {
                let always = matches!(&statement.kind,
                    StatementKind::If { condition, .. } if condition.truth() == Some(true));
                let ways = statement.blocks().into_iter();
                let mut ways = ways.take(if always { 1 } else { usize::MAX });
                if let Some(first) = ways.next() {
                    let before = known.clone();
                    known = behind(first, before.clone());
                    ways.for_each(|way| known.join(behind(way, before.clone())));
                }
            }
        }
    }
    exits.into_iter().for_each(|exit| known.join(exit));
    known
}
