//! Grants, which carry flow control: in, all layers with their handlers; out, the credit of each
//! message that ends on its way, told to whoever counts it, and what is wrong with layers that
//! stand between one who grants and one who counts, and do not say what becomes of credit.
//!
//! `grant_delivers(n)` goes down, and lets so many more messages (or bytes: the name of the
//! parameter says which) come up; `grant_sends(n)` goes up. Who handles one counts what goes
//! against it. So each message that a `deliver` brought up to a layer *owes* its credit: it goes on
//! with the message, and comes back where the message ends.
//!
//! ```text
//! drop message as late_or_repeated     tell below grant_delivers(1)
//!                                      drop message as late_or_repeated
//! ```
//!
//! What a layer keeps in a queue or window owes its credit until it is taken out. A layer that
//! tells a grant at other events than that grant accounts for all credit, and nothing is added.

mod owed;

use super::compose::{Composition, Ground};
use super::context::Context;
use super::expression::{Expression, ExpressionKind};
use super::program::{EntityId, Event, Handler, LocalId, NoticeId, Program};
use super::relays::Notices;
use super::statement::{Block, Dropped, Output, Source, Statement, StatementKind, TellTarget};
use super::value::Type;
use crate::diagnostic::{Diagnostic, Id};
use crate::source::Span;
use crate::syntax::loom::ast;
use owed::{Account, Debt, Known, Locals, Trouble};

/// Which way messages go that are counted.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Way {
    /// `deliver`: who counts stands below, and is told `grant_delivers`.
    Up,
    /// `send`: who counts stands above, and is told `grant_sends`.
    Down,
}

/// A grant that a layer passes on, or gives back.
struct Grant {
    notice: NoticeId,
    way: Way,
    /// Where it is told.
    target: TellTarget,
    /// What is counted is bytes, and not messages.
    bytes: bool,
    /// The type of its number.
    number: Type,
    /// Who counts.
    counter: Span,
}

/// Gives credit back where messages end, and refuses layers of which nobody can say what they do
/// to it.
pub fn grants(context: &mut Context, composition: &Composition, notices: &Notices) {
    for entity in composition.entities() {
        for grant in grants_of(context.program, composition, notices, entity) {
            let said = Said::of(context.program, entity, grant.notice, grant.way);
            if said.elsewhere {
                continue;
            }
            let relays = !notices.handles(entity, grant.notice);
            let trouble = match relays {
                true => unfit(composition, entity),
                false => None,
            };
            let account = Account::new(context.program, entity, grant.way, grant.bytes);
            match trouble.or_else(|| account.trouble(relays, said.passing)) {
                Some(trouble) => report(context, composition, entity, &grant, trouble),
                None => {
                    let known = account.known();
                    give_back(context.program, entity, &grant, &known);
                }
            }
        }
    }
}

/// The grants whose credit goes through an entity.
fn grants_of(
    program: &Program,
    composition: &Composition,
    notices: &Notices,
    entity: EntityId,
) -> Vec<Grant> {
    let mut grants = Vec::new();
    for (place, notice) in program.notices.iter().enumerate() {
        let id = NoticeId(place as u32);
        let way = match &*notice.name {
            "grant_delivers" => Way::Up,
            "grant_sends" => Way::Down,
            _another => continue,
        };
        let [counted] = &notice.parameters[..] else {
            continue;
        };
        let counter = match way {
            Way::Up => notices
                .counter_below(entity, id)
                .map(|(joint, counter)| (TellTarget::Below(joint), counter)),
            Way::Down => notices
                .counter_above(entity, id)
                .filter(|_| granted_below(program, composition, notices, entity, id))
                .map(|counter| (TellTarget::Above, counter)),
        };
        let Some((target, counter)) = counter else {
            continue;
        };
        grants.push(Grant {
            notice: id,
            way,
            target,
            bytes: counted.name == "bytes",
            number: counted.kind.clone(),
            counter,
        });
    }
    grants
}

/// Whether somebody below grants what may be sent, and those between pass it on.
fn granted_below(
    program: &Program,
    composition: &Composition,
    notices: &Notices,
    entity: EntityId,
    notice: NoticeId,
) -> bool {
    let mut below = composition.node(entity).below.iter();
    below.any(|lower| match lower.ground {
        Ground::Node(below, _) => {
            let passes = !notices.handles(below, notice)
                && composition.node(below).layer.shape != ast::Shape::Multiplexor;
            let said = Said::of(program, below, notice, Way::Down);
            said.passing
                || said.elsewhere
                || passes && granted_below(program, composition, notices, below, notice)
        }
        Ground::Link(_) | Ground::Nothing => false,
    })
}

/// Where a layer tells a grant itself.
struct Said {
    /// When it is told of it.
    passing: bool,
    /// At another event: then it accounts for all credit.
    elsewhere: bool,
}

impl Said {
    fn of(program: &Program, entity: EntityId, notice: NoticeId, way: Way) -> Said {
        let mut said = Said {
            passing: false,
            elsewhere: false,
        };
        let ours = |handler: &&Handler| program.kinds[handler.kind.at()].entity == entity;
        for handler in program.handlers.iter().filter(ours) {
            let tells = tells_in(&handler.body, notice, way);
            match handler.event == Event::Notice(notice) {
                true => said.passing |= tells,
                false => said.elsewhere |= tells,
            }
        }
        let mut finders = program.entities[entity.at()].finders.iter();
        said.elsewhere |= finders.any(|finder| tells_in(&finder.otherwise, notice, way));
        said
    }
}

fn tells_in(block: &Block, notice: NoticeId, way: Way) -> bool {
    block.iter().any(|statement| {
        let itself = match &statement.kind {
            StatementKind::Output(Output::Tell { target, event, .. }) => {
                let goes = match way {
                    Way::Up => matches!(target, TellTarget::Below(_)),
                    Way::Down => *target == TellTarget::Above,
                };
                goes && *event == Event::Notice(notice)
            }
            _ => false,
        };
        let mut blocks = statement.blocks().into_iter();
        itself || blocks.any(|block| tells_in(block, notice, way))
    })
}

/// A shape that relates several conversations cannot pass on what counts one.
fn unfit(composition: &Composition, entity: EntityId) -> Option<Trouble> {
    let node = composition.node(entity);
    let what = match node.layer.shape {
        ast::Shape::Worker => return None,
        ast::Shape::Router if node.below.len() == 1 => return None,
        ast::Shape::Router => "a router has several joints, and each has its own credit",
        ast::Shape::Multiplexor => "a multiplexor joins many sessions, and each has its own credit",
    };
    Some(Trouble {
        span: node.layer.name.span,
        what,
        may_pass: true,
    })
}

fn report(
    context: &mut Context,
    composition: &Composition,
    entity: EntityId,
    grant: &Grant,
    trouble: Trouble,
) {
    let node = composition.node(entity);
    let notice = &context.program.notices[grant.notice.at()];
    let (name, unit) = (notice.name.clone(), notice.parameters[0].name.clone());
    let (place, from) = match grant.way {
        Way::Up => ("below", "come up"),
        Way::Down => ("above", "go down"),
    };
    let title = format!("`{}` does not pass on credit", node.layer.name);
    let diagnostic = Diagnostic::error(Id::CreditUnknown, title, trouble.span, trouble.what)
        .label(grant.counter, format!("this counts the {unit} that {from}"))
        .why(
            "A grant passes through a layer only if the layer passes on or ends each counted \
            message and adds none. Any other layer must send its own grants.",
        )
        .help(match trouble.may_pass {
            true => format!(
                "if each message that `{}` passes on corresponds to a counted one, add `on \
                {name}({unit}) {{ tell {place} {name}({unit}) }}` to it",
                node.layer.name
            ),
            false => format!(
                "write `tell {place} {name}(…)` where credit is due; the layer is then responsible \
                for all credit"
            ),
        });
    context.report(diagnostic);
}

/// Tells of the credit of each message that ends in a layer.
fn give_back(program: &mut Program, entity: EntityId, grant: &Grant, known: &Known) {
    let kinds = &program.kinds;
    for handler in &mut program.handlers {
        if kinds[handler.kind.at()].entity == entity
            && let Some(debts) = known.of_handler(handler.kind, handler.event)
        {
            let mut ends = Ends { grant, debts };
            ends.block(&mut handler.body, &mut handler.locals);
        }
    }
    let event = match grant.way {
        Way::Up => Event::Deliver,
        Way::Down => return,
    };
    let table = &mut program.entities[entity.at()];
    for finder in table
        .finders
        .iter_mut()
        .filter(|finder| finder.event == event)
    {
        let debts = &known.finder;
        let mut ends = Ends { grant, debts };
        ends.block(&mut finder.otherwise, &mut finder.locals);
    }
    if table.header.is_some() {
        let one = Expression::number(1, grant.number.clone());
        table.refused.push(grant.told(one, table.span));
    }
}

impl Grant {
    fn told(&self, count: Expression, span: Span) -> Statement {
        let kind = StatementKind::Output(Output::Tell {
            target: self.target,
            event: Event::Notice(self.notice),
            message: None,
            arguments: vec![count],
            attributes: Vec::new(),
        });
        Statement { kind, span }
    }

    /// What a message was counted as.
    fn of(&self, message: LocalId, span: Span) -> Statement {
        let count = match self.bytes {
            true => {
                let length = Type::Unsigned(32);
                let length = Expression::new(ExpressionKind::Length(message), length);
                match self.number == length.result {
                    true => length,
                    false => Expression::new(ExpressionKind::Cast(length), self.number.clone()),
                }
            }
            false => Expression::number(1, self.number.clone()),
        };
        self.told(count, span)
    }
}

/// Where messages end in one body.
struct Ends<'a> {
    grant: &'a Grant,
    debts: &'a Locals,
}

impl Ends<'_> {
    fn block(&mut self, block: &mut Block, locals: &mut Vec<super::program::Local>) {
        for mut statement in std::mem::take(block) {
            for inner in statement.blocks_mut() {
                self.block(inner, locals);
            }
            let span = statement.span;
            if let Some(message) = self.ended(&statement) {
                block.push(self.grant.of(message, span));
            } else if let StatementKind::Drop(Dropped::Container(queue), reason) = &statement.kind
                && self.debts.is_owed_queue(queue)
            {
                let local = LocalId(locals.len() as u32);
                locals.push(super::services::message_local());
                let drop = StatementKind::Drop(Dropped::Message(local), *reason);
                let body = vec![self.grant.of(local, span), Statement { kind: drop, span }];
                let queue = queue.clone();
                statement.kind = StatementKind::Drain { local, queue, body };
            }
            block.push(statement);
        }
    }

    /// The message that ends with a statement, and owes its credit.
    fn ended(&self, statement: &Statement) -> Option<LocalId> {
        let message = match &statement.kind {
            StatementKind::Drop(Dropped::Message(message), _) | StatementKind::Consume(message) => {
                *message
            }
            StatementKind::Output(output) => match (output, self.grant.way) {
                (Output::Send { message, .. }, Way::Up)
                | (Output::Deliver { message, .. }, Way::Down) => match message {
                    Source::Local(message) => *message,
                    _ => return None,
                },
                _ => return None,
            },
            _ => return None,
        };
        (self.debts.of(message) == Debt::Owed).then_some(message)
    }
}
