//! The lengths of messages that layers make: trees come in, a bound of each length goes out.
//!
//! ```text
//! let filled = min(text.ready(next), 1460)
//! deliver text.take(filled)                   1460
//! deliver pieces.take(length)                 the capacity of `pieces`
//! let quote = new message(first, quoted)      the bytes of `first`
//! ```
//!
//! A slice of a stream is no longer than its link carries, and is refused where no buffer has room.

use crate::tree::walk::reachable;
use crate::tree::{Action, Forest, Node};
use crate::types::constant::fold_number;
use crate::types::expression::{Expression, ExpressionKind as Kind, Variable};
use crate::types::program::{LocalId, Program};
use crate::types::statement::{Attempt, Source};
use crate::types::value::Type;
use rustc_hash::FxHashMap;

/// How far the meaning of a local is followed.
const DEPTH: u32 = 4;

/// Returns the greatest length of each message that a layer takes from a stream, or makes of bytes.
pub fn lengths(program: &Program, forest: &Forest) -> Vec<u32> {
    let nodes = forest
        .trees
        .iter()
        .flat_map(|tree| reachable(forest, tree.root));
    let nodes: Vec<&Node> = nodes.map(|id| forest.arena.node(id)).collect();
    let bounds = Bounds::of(program, forest, &nodes);
    let made = nodes.iter().filter_map(|node| match node {
        Node::Try {
            attempt:
                Attempt::Message(source)
                | Attempt::Push(_, source)
                | Attempt::InsertWindow(_, _, source),
            ..
        } => bounds.made(source),
        _other_nodes => None,
    });
    made.collect()
}

/// What bounds the numbers of a stack.
struct Bounds<'a> {
    program: &'a Program,
    forest: &'a Forest,
    /// By local: all that it is bound to.
    bound: FxHashMap<LocalId, Vec<&'a Expression>>,
}

impl<'a> Bounds<'a> {
    fn of(program: &'a Program, forest: &'a Forest, nodes: &[&'a Node]) -> Bounds<'a> {
        let mut bound: FxHashMap<LocalId, Vec<&Expression>> = FxHashMap::default();
        for node in nodes {
            if let Node::Act {
                action: Action::Let(local, value),
                ..
            } = node
            {
                bound.entry(*local).or_default().push(value);
            }
        }
        Bounds {
            program,
            forest,
            bound,
        }
    }

    /// Returns the greatest length of what a source makes, if it makes a message of bytes.
    fn made(&self, source: &Source) -> Option<u32> {
        let (of, length) = match source {
            Source::NewFrom(of, length) | Source::TakeStream(of, length) => (of, length),
            Source::Local(_)
            | Source::New
            | Source::Share(_)
            | Source::Piece(..)
            | Source::SliceStream(..) => return None,
        };
        let capacity = self.capacity(of);
        let length = self.most(length, DEPTH);
        Some(length.map_or(capacity, |length| length.min(u64::from(capacity)) as u32))
    }

    /// Returns how many bytes a variable holds at most.
    fn capacity(&self, variable: &Variable) -> u32 {
        match self.type_of(variable) {
            Type::Stream(_, capacity) | Type::Bytes(capacity) | Type::BoundedBytes(capacity) => {
                *capacity
            }
            other => unreachable!("no message is made of {other:?}"),
        }
    }

    fn type_of(&self, variable: &Variable) -> &Type {
        let program = self.program;
        match variable {
            Variable::Field(_, kind, field) => &program.kinds[kind.at()].fields[field.at()].kind,
            Variable::Local(local) => &self.forest.locals[local.at()].kind,
            Variable::Part(_, record, field) => {
                &program.records[record.at()].fields[field.at()].kind
            }
            Variable::Element(array, _) => match self.type_of(array) {
                Type::Array(item, _) => item,
                _other_types => &Type::Unsigned(8),
            },
        }
    }

    /// Returns the greatest value of a number, if it has a bound that can be seen.
    fn most(&self, value: &Expression, depth: u32) -> Option<u64> {
        let most = |one| self.most(one, depth.checked_sub(1)?);
        if let Some(number) = fold_number(self.program, value) {
            return Some(number);
        }
        match &*value.kind {
            Kind::Least(one, other) => match (most(one), most(other)) {
                (Some(one), Some(other)) => Some(one.min(other)),
                (one, other) => one.or(other),
            },
            Kind::Greatest(one, other) => Some(most(one)?.max(most(other)?)),
            Kind::If(_, one, other) => Some(most(one)?.max(most(other)?)),
            Kind::Cast(inner) => most(inner),
            Kind::Read(Variable::Local(local)) => {
                let values = self.bound.get(local)?.iter();
                let all: Option<Vec<u64>> = values.map(|value| most(value)).collect();
                all?.into_iter().max()
            }
            _other_kinds => None,
        }
    }
}
