//! A field that nobody reads later is written where it is read, or not at all.
//!
//! In: trees. Out: the same, without steps that write a field which nothing behind them reads, nor
//! any tree before it has written it; where some ways alone read it, it is written on these. What
//! turns of a loop write stays where it is, for the next turn may read it.
//!
//! ```text
//! pre.next = next                         length = length + 1
//! length = length + 1                     if length > 9 {
//! if length > 9 {                 =>          pre.next = next
//!     tell(pre.next)                          tell(pre.next)
//! }                                       }
//! ```
//!
//! Assumes: a field is read by trees, and where instances are made. Ensures: the same outputs, and
//! the same state but for what nobody will read. Cost: a write may stand in two places.

use super::fleeting::{Place, Readings, fleeting, read_from, written_by};
use super::states::is_found_at_will;
use super::unasked::turns;
use super::value::looks;
use super::value::{Looks, is_plain};
use crate::tree::walk::remade;
use crate::tree::{Action, Arena, Forest, Node, NodeId};
use crate::types::expression::{Expression, ExpressionKind, Variable};
use crate::types::program::Program;

/// Trees without writes that nobody reads.
pub fn forget(program: &Program, forest: &Forest) -> Forest {
    let mut fleeting = fleeting(program, forest);
    turns(forest, |node| {
        if let Some((_, kind, field)) = written_by(node) {
            fleeting.remove(&(kind, field));
        }
    });
    let mut read = Readings::default();
    remade(forest, |arena, node| {
        let mut late = Late {
            program,
            arena,
            read: &mut read,
        };
        match &node {
            Node::Act {
                action: action @ Action::Assign(Variable::Field(_, kind, field), value),
                next,
            } if fleeting.contains(&(*kind, *field))
                && is_plain(&program.kinds[kind.at()].fields[field.at()].kind)
                && is_found_at_will(program, value)
                && !names_local(value) =>
            {
                late.write(action, value, (*kind, *field), *next)
            }
            _ => late.add(node),
        }
    })
}

/// Whether a value is made of a local, which might be read nowhere else.
fn names_local(value: &Expression) -> bool {
    let itself = matches!(&*value.kind, ExpressionKind::Read(Variable::Local(_)));
    itself || value.parts().into_iter().any(names_local)
}

/// Trees that are made anew, and what they read.
struct Late<'a> {
    program: &'a Program,
    arena: &'a mut Arena,
    read: &'a mut Readings,
}

impl Late<'_> {
    fn add(&mut self, node: Node) -> NodeId {
        let first = read_from(self.program, &node, self.read);
        let id = self.arena.add(node);
        self.read.insert(id, first);
        id
    }

    /// A field is written on those ways from a node on that read it.
    fn write(&mut self, write: &Action, value: &Expression, place: Place, at: NodeId) -> NodeId {
        if !self.reads(at, place) {
            return at;
        }
        if self.parts(at, place) && self.passes(at, value, place) {
            match self.arena.node(at).clone() {
                Node::Test {
                    condition,
                    likely,
                    then,
                    otherwise,
                } => {
                    let [then, otherwise] =
                        [then, otherwise].map(|way| self.write(write, value, place, way));
                    return self.add(Node::Test {
                        condition,
                        likely,
                        then,
                        otherwise,
                    });
                }
                Node::Act { action, next } => {
                    let next = self.write(write, value, place, next);
                    return self.add(Node::Act { action, next });
                }
                Node::Case { .. } | Node::Try { .. } | Node::Leaf { .. } => {}
            }
        }
        self.add(Node::Act {
            action: write.clone(),
            next: at,
        })
    }

    /// Whether a field is read on some way from a node on.
    fn reads(&self, at: NodeId, place: Place) -> bool {
        let mut all = self.read[&at].iter();
        all.any(|((_, kind, field), _)| (*kind, *field) == place)
    }

    /// Whether a test, behind steps that write or name something, parts ways that read a field from
    /// those that do not.
    fn parts(&self, at: NodeId, place: Place) -> bool {
        match self.arena.node(at) {
            Node::Act {
                action: Action::Assign(Variable::Field(..), _) | Action::Let(..),
                next,
            } => self.parts(*next, place),
            Node::Test {
                then, otherwise, ..
            } => self.reads(*then, place) != self.reads(*otherwise, place),
            _ => false,
        }
    }

    /// Whether a value is the same behind a node, which does not look at a field.
    fn passes(&self, at: NodeId, value: &Expression, (kind, field): Place) -> bool {
        let node = self.arena.node(at);
        let given = Looks::of(self.program, value);
        let stays = match node {
            Node::Act { action, .. } => match action {
                Action::Assign(Variable::Field(_, kind, field), own) => {
                    !given.at(*kind, *field) && is_found_at_will(self.program, own)
                }
                Action::Let(_, own) => is_found_at_will(self.program, own),
                _changes => false,
            },
            Node::Test { condition, .. } => is_found_at_will(self.program, condition),
            Node::Case { .. } | Node::Try { .. } | Node::Leaf { .. } => false,
        };
        stays && !looks(self.program, node).at(kind, field)
    }
}
