//! Fields that are written `once`: in, the checked handlers of all kinds; out, what is wrong with
//! their writes, and writes of which only the first counts.
//!
//! The start handler of an instance runs once, so what is written there alone is written once. A
//! write elsewhere settles the field if nothing has before; else it is counted, and changes
//! nothing. A path that writes twice, or again what the start has written for certain, is refused.
//!
//! ```text
//! largest = header.size              if largest_settled { count largest_settled_already }
//!                                    else { largest = header.size   largest_settled = true }
//! ```

use super::context::Context;
use super::expression::{Expression, ExpressionKind, Instance, Variable};
use super::paths::{Known, behind};
use super::program::{CountId, Event, Field, FieldId, Handler, KindId, Program};
use super::statement::{Block, Statement, StatementKind};
use super::value::Type;
use crate::diagnostic::{Diagnostic, Id};
use crate::source::Span;
use std::collections::BTreeMap;

/// A `once` field of a kind.
type Settled = (KindId, FieldId);

/// Checks all writes of `once` fields in the handlers of a layer, which are those from this one on,
/// and lets only the first count.
pub fn once(context: &mut Context, first: usize) {
    let mut handlers = context.program.handlers.split_off(first);
    let mut started: BTreeMap<Settled, Write> = BTreeMap::new();
    let mut elsewhere: Vec<(Settled, Span)> = Vec::new();
    for handler in &handlers {
        let Written { writes, twice, .. } = written(context.program, handler);
        for (second, first) in twice {
            report(context, second, first, "may be the second write");
        }
        for ((instance, kind, field), write) in writes {
            match handler.event == Event::Start && instance == Instance::Own {
                true => drop(started.insert((kind, field), write)),
                false => elsewhere.push(((kind, field), write.span)),
            }
        }
    }
    let mut marks = BTreeMap::new();
    for (settled, span) in elsewhere {
        match started.get(&settled) {
            Some(first) if first.always => {
                report(context, span, first.span, "already written at the start");
            }
            _ => {
                let mark = || Mark::new(context, settled);
                marks.entry(settled).or_insert_with(mark);
            }
        }
    }
    for handler in &mut handlers {
        guard(&mut handler.body, &marks);
    }
    context.program.handlers.append(&mut handlers);
}

fn report(context: &mut Context, span: Span, first: Span, label: &str) {
    let title = "a `once` field is written twice";
    let refused = Diagnostic::error(Id::WrittenTwice, title, span, label);
    context.report(
        refused
            .label(first, "first written here")
            .why("A `once` field keeps its first value for the life of its instance.")
            .help("write it only once on each path, or remove `once`"),
    );
}

/// What tells whether a field is settled, and counts what comes too late.
#[derive(Clone, Copy)]
struct Mark {
    field: FieldId,
    late: CountId,
}

impl Mark {
    fn new(context: &mut Context, (kind, field): Settled) -> Mark {
        let of = &mut context.program.kinds[kind.at()];
        let name = of.fields[field.at()].name.clone();
        let mut mark = format!("{name}_settled");
        while of.fields.iter().any(|field| field.name == mark) {
            mark.push('_');
        }
        of.fields.push(Field {
            name: mark,
            kind: Type::Bool,
            initial: None,
            once: false,
            has_gaps: false,
        });
        let (place, entity) = (of.fields.len() as u32 - 1, of.entity);
        Mark {
            field: FieldId(place),
            late: context.count(entity, &format!("{name}_settled_already")),
        }
    }

    /// A write that counts if it is the first; else it is counted.
    fn guarded(self, instance: Instance, kind: KindId, write: Statement) -> Statement {
        let span = write.span;
        let mark = Variable::Field(instance, kind, self.field);
        let is_settled = Expression::new(ExpressionKind::Read(mark.clone()), Type::Bool);
        let settle = StatementKind::Assign(mark, Expression::number(1, Type::Bool));
        let late = StatementKind::Count(self.late);
        let kind = StatementKind::If {
            condition: is_settled,
            likely: None,
            then: vec![Statement { kind: late, span }],
            otherwise: vec![write, Statement { kind: settle, span }],
        };
        Statement { kind, span }
    }
}

/// Lets only the first write of each of these fields count.
fn guard(block: &mut Block, marks: &BTreeMap<Settled, Mark>) {
    for statement in block {
        statement
            .blocks_mut()
            .into_iter()
            .for_each(|block| guard(block, marks));
        let StatementKind::Assign(Variable::Field(instance, kind, field), _) = &statement.kind
        else {
            continue;
        };
        if let Some(mark) = marks.get(&(*kind, *field)) {
            *statement = mark.guarded(*instance, *kind, statement.clone());
        }
    }
}

/// Where a field was written.
#[derive(Clone, Copy)]
struct Write {
    span: Span,
    /// On every path.
    always: bool,
}

/// What has been written along the paths of a handler.
#[derive(Clone)]
struct Written<'p> {
    program: &'p Program,
    writes: BTreeMap<(Instance, KindId, FieldId), Write>,
    /// A second write, and the first.
    twice: Vec<(Span, Span)>,
}

impl Known for Written<'_> {
    fn after(&mut self, statement: &Statement, _failed: bool) {
        if let StatementKind::Attempt {
            bind: Some(local), ..
        } = &statement.kind
        {
            // Another instance has this name in the next turn of a loop.
            let own = |written: &(Instance, KindId, FieldId)| written.0 != Instance::Local(*local);
            self.writes.retain(|written, _| own(written));
        }
        let Some(written) = once_field(self.program, statement) else {
            return;
        };
        let span = statement.span;
        if let Some(first) = self.writes.get(&written) {
            self.twice.push((span, first.span));
        }
        let always = true;
        self.writes.entry(written).or_insert(Write { span, always });
    }

    fn join(&mut self, other: Self) {
        for (place, write) in &mut self.writes {
            write.always &= other.writes.get(place).is_some_and(|write| write.always);
        }
        for (place, write) in other.writes {
            let always = false;
            let span = write.span;
            self.writes.entry(place).or_insert(Write { span, always });
        }
        for pair in other.twice {
            if !self.twice.contains(&pair) {
                self.twice.push(pair);
            }
        }
    }
}

fn written<'p>(program: &'p Program, handler: &Handler) -> Written<'p> {
    let known = Written {
        program,
        writes: BTreeMap::new(),
        twice: Vec::new(),
    };
    behind(&handler.body, known)
}

/// The `once` field that a statement writes.
fn once_field(program: &Program, statement: &Statement) -> Option<(Instance, KindId, FieldId)> {
    let StatementKind::Assign(Variable::Field(instance, kind, field), _) = &statement.kind else {
        return None;
    };
    let once = program.kinds[kind.at()].fields[field.at()].once;
    once.then_some((*instance, *kind, *field))
}
