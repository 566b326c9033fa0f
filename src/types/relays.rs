//! Notices that pass through: in, all layers with their handlers; out, a handler for each notice
//! that a layer does not handle but somebody further on does, the notices of ports and links, and
//! what is wrong with notices that carry a message.
//!
//! A worker or router relays both ways. At a multiplexor what goes down stops, and what goes up
//! goes on to every session.

use super::compose::{Above, Composition, Ground};
use super::context::Context;
use super::expression::{Expression, ExpressionKind, Variable};
use super::layers::Layer;
use super::program::{EntityId, Event, Handler, LocalId, NoticeId, Program};
use super::services::{Interface, locals};
use super::statement::{Output, Source, Statement, StatementKind, TellTarget};
use super::value::Type;
use crate::diagnostic::{Diagnostic, Id};
use crate::source::Span;
use crate::syntax::loom::ast;
use std::collections::BTreeSet;

/// Who handles which notice, before any relay is added.
pub struct Notices<'a, 'b> {
    composition: &'b Composition<'a>,
    layers: &'b [Layer<'a>],
    handled: BTreeSet<(EntityId, NoticeId)>,
    /// By entity, notices that go to those who use it by a side joint, and to nobody above.
    beside: Vec<Vec<NoticeId>>,
}

impl<'a, 'b> Notices<'a, 'b> {
    /// What all layers handle by themselves.
    pub fn new(
        program: &Program,
        composition: &'b Composition<'a>,
        layers: &'b [Layer<'a>],
    ) -> Notices<'a, 'b> {
        let mut handled = BTreeSet::new();
        for handler in &program.handlers {
            if let Event::Notice(notice) = handler.event {
                handled.insert((program.kinds[handler.kind.at()].entity, notice));
            }
        }
        for entity in composition.entities() {
            for finder in &program.entities[entity.at()].finders {
                if let Event::Notice(notice) = finder.event {
                    handled.insert((entity, notice));
                }
            }
        }
        Notices {
            composition,
            layers,
            handled,
            beside: program
                .entities
                .iter()
                .map(|entity| entity.beside.clone())
                .collect(),
        }
    }

    /// Whether an entity handles a notice itself.
    pub fn handles(&self, entity: EntityId, notice: NoticeId) -> bool {
        self.handled.contains(&(entity, notice))
    }

    /// Who counts, below an entity, what a grant from above allows; and by which joint.
    pub fn counter_below(&self, entity: EntityId, notice: NoticeId) -> Option<(u32, Span)> {
        let mut below = self.composition.node(entity).below.iter().enumerate();
        below.find_map(|(joint, lower)| match lower.ground {
            Ground::Node(below, _) if self.arriving_from_above(below).contains(&notice) => {
                let node = self.composition.node(below);
                let relays = node.layer.shape != ast::Shape::Multiplexor;
                let further = || self.counter_below(below, notice).filter(|_| relays);
                let counter = match self.handles(below, notice) {
                    true => Some(node.span),
                    false => further().map(|(_, counter)| counter),
                };
                counter.map(|counter| (joint as u32, counter))
            }
            Ground::Node(..) | Ground::Link(_) | Ground::Nothing => None,
        })
    }

    /// Who counts, above an entity, what a grant from below allows.
    pub fn counter_above(&self, entity: EntityId, notice: NoticeId) -> Option<Span> {
        let mut above = self.composition.node(entity).above.iter();
        above.find_map(|upper| match upper.place {
            Above::Port(port) => {
                let interface = self.of_port(entity);
                let hears = interface.up.values().any(|known| *known == notice);
                hears.then(|| self.composition.ports[port.at()].name.span)
            }
            Above::Node(above, _) if self.handles(above, notice) => {
                Some(self.composition.node(above).span)
            }
            Above::Node(above, _) => self.counter_above(above, notice),
        })
    }

    /// Whether an entity, or something above that it relays to, handles a notice.
    pub fn is_heard_above(&self, entity: EntityId, notice: NoticeId) -> bool {
        if self.handled.contains(&(entity, notice)) {
            return true;
        }
        let mut above = self.composition.node(entity).above.iter();
        above.any(|upper| match upper.place {
            Above::Port(_) => self
                .of_port(entity)
                .up
                .values()
                .any(|known| *known == notice),
            Above::Node(above, _) => self.is_heard_above(above, notice),
        })
    }

    /// Whether an entity, or something below that it relays to, handles a notice.
    pub fn is_heard_below(&self, entity: EntityId, notice: NoticeId) -> bool {
        if self.handled.contains(&(entity, notice)) {
            return true;
        }
        let node = self.composition.node(entity);
        let relays = node.layer.shape != ast::Shape::Multiplexor;
        relays
            && node
                .below
                .iter()
                .any(|lower| self.ground_hears(lower.ground, notice))
    }

    fn ground_hears(&self, ground: Ground, notice: NoticeId) -> bool {
        match ground {
            Ground::Node(below, _) => self.is_heard_below(below, notice),
            Ground::Link(_) | Ground::Nothing => false,
        }
    }

    /// What a port on this entity can say and hear. A layer that names no service passes on those
    /// of what it stands on.
    pub fn of_port(&self, entity: EntityId) -> Interface {
        let node = self.composition.node(entity);
        let mut interface = self.layers[entity.at()].provides.clone();
        if node.layer.provides.is_empty() && node.layer.shape != ast::Shape::Multiplexor {
            for lower in &node.below {
                if let Ground::Node(below, _) = lower.ground {
                    interface.add(&self.of_port(below));
                }
            }
        }
        interface
    }

    /// Adds a relaying handler wherever a notice would end before somebody who handles it.
    pub fn relay(&self, context: &mut Context) {
        for entity in self.composition.entities() {
            for notice in self.arriving_from_below(entity) {
                if !self.handled.contains(&(entity, notice)) && self.is_heard_above(entity, notice)
                {
                    self.relay_up(context, entity, notice);
                }
            }
            for notice in self.arriving_from_above(entity) {
                if !self.handled.contains(&(entity, notice)) && self.is_heard_below(entity, notice)
                {
                    self.relay_down(context, entity, notice);
                }
            }
        }
    }

    /// What is told or relayed by what an entity stands on.
    fn arriving_from_below(&self, entity: EntityId) -> BTreeSet<NoticeId> {
        let mut arriving = BTreeSet::new();
        let layer = &self.layers[entity.at()];
        for (lower, face) in self
            .composition
            .node(entity)
            .below
            .iter()
            .zip(&layer.requires)
        {
            arriving.extend(face.up.values());
            if let Ground::Node(below, _) = lower.ground {
                arriving.extend(self.layers[below.at()].provides.up.values());
                arriving.retain(|notice| !self.beside[below.at()].contains(notice));
                let passed = self.arriving_from_below(below);
                let relayed = |notice: &NoticeId| !self.handled.contains(&(below, *notice));
                arriving.extend(passed.into_iter().filter(relayed));
            }
        }
        arriving
    }

    /// What is told or relayed by what stands on an entity.
    fn arriving_from_above(&self, entity: EntityId) -> BTreeSet<NoticeId> {
        let mut arriving = BTreeSet::new();
        for upper in &self.composition.node(entity).above {
            match upper.place {
                Above::Port(_) => arriving.extend(self.of_port(entity).down.into_values()),
                Above::Node(above, joint) => {
                    let layer = &self.layers[above.at()];
                    arriving.extend(layer.requires[joint].down.values());
                    let shape = self.composition.node(above).layer.shape;
                    if shape != ast::Shape::Multiplexor {
                        let passed = self.arriving_from_above(above);
                        let relayed = |notice: &NoticeId| !self.handled.contains(&(above, *notice));
                        arriving.extend(passed.into_iter().filter(relayed));
                    }
                }
            }
        }
        arriving
    }

    fn relay_up(&self, context: &mut Context, entity: EntityId, notice: NoticeId) {
        let node = self.composition.node(entity);
        let is_multiplexor = node.layer.shape == ast::Shape::Multiplexor;
        if is_multiplexor && context.program.notices[notice.at()].message {
            let name = &context.program.notices[notice.at()].name;
            let title = format!("the message of `{name}` would go to all sessions");
            let help = format!(
                "add `on {name} find session(…) else …` to `{}`",
                node.layer.name
            );
            context.report(
                Diagnostic::error(
                    Id::TwoReceivers,
                    title,
                    node.span,
                    "arrives here from below",
                )
                .label(node.layer.name.span, "does not select a session")
                .why("A message has one owner at a time, but a multiplexor has many sessions.")
                .help(help),
            );
            return;
        }
        let kinds = &self.layers[entity.at()].kinds;
        // What comes from one of many sessions below is for those that stand on it.
        let for_all = is_multiplexor && context.program.stands_on(kinds[1].id).is_none();
        let kind = kinds[usize::from(!for_all)].id;
        let handler = relaying(context, kind, notice, &[TellTarget::Above], node.layer);
        context.program.handlers.push(handler);
    }

    fn relay_down(&self, context: &mut Context, entity: EntityId, notice: NoticeId) {
        let node = self.composition.node(entity);
        if node.layer.shape == ast::Shape::Multiplexor {
            return;
        }
        let below = node.below.iter().enumerate();
        let below = below.filter(|(_, lower)| self.ground_hears(lower.ground, notice));
        let targets: Vec<_> = below
            .map(|(joint, _)| TellTarget::Below(joint as u32))
            .collect();
        if targets.len() > 1 && context.program.notices[notice.at()].message {
            let name = &context.program.notices[notice.at()].name;
            let title = format!("the message of `{name}` would go through several joints");
            let help = format!(
                "add `on {name}(message, …)` to `{}`, and tell one of the joints",
                node.layer.name
            );
            context.report(
                Diagnostic::error(
                    Id::TwoReceivers,
                    title,
                    node.span,
                    "arrives here from above",
                )
                .label(node.layer.name.span, "does not select a joint")
                .why("A message has one owner at a time, but a router has several joints.")
                .help(help),
            );
            return;
        }
        let session = self.layers[entity.at()].kinds[1].id;
        let handler = relaying(context, session, notice, &targets, node.layer);
        context.program.handlers.push(handler);
    }

    /// A message in a notice has one receiver, and must have one.
    pub fn check_receivers(&self, context: &mut Context) {
        for entity in self.composition.entities() {
            let node = self.composition.node(entity);
            let beside = context.program.entities[entity.at()].beside.clone();
            for notice in carrying(context.program, &beside) {
                let users: Vec<_> = self.users_of(entity, notice).collect();
                let hears = |user: &&EntityId| self.handled.contains(&(**user, notice));
                let hearing: Vec<_> = users.iter().filter(hears).collect();
                let name = context.program.notices[notice.at()].name.clone();
                if let [first, second, ..] = hearing[..] {
                    let (first, second) = (
                        self.composition.node(*first),
                        self.composition.node(*second),
                    );
                    let title = format!("two layers would receive the message of `{name}`");
                    context.report(
                        Diagnostic::error(Id::TwoReceivers, title, node.span, "sent here")
                            .label(first.span, "received here")
                            .label(second.span, "and here")
                            .why("A message has one owner at a time.")
                            .help("connect each layer to its own entity"),
                    );
                }
                for user in users.iter().filter(|user| !hears(user)) {
                    let user = self.composition.node(*user);
                    self.report_unheard(context, &name, user.span, user.layer);
                }
            }
            let down: Vec<_> = self.layers[entity.at()]
                .provides
                .down
                .values()
                .copied()
                .collect();
            for notice in carrying(context.program, &down) {
                if !self.is_heard_below(entity, notice) {
                    let name = context.program.notices[notice.at()].name.clone();
                    self.report_unheard(context, &name, node.span, node.layer);
                }
            }
        }
    }

    /// Those who use an entity by a service that has this notice.
    fn users_of(&self, entity: EntityId, notice: NoticeId) -> impl Iterator<Item = EntityId> + '_ {
        let users = self.composition.node(entity).users.iter().copied();
        users.filter(move |user| {
            let sides = self.composition.node(*user).sides.iter();
            let mut sides = sides.zip(&self.layers[user.at()].sides);
            sides.any(|(side, face)| {
                side.entity == Some(entity) && face.up.values().any(|up| *up == notice)
            })
        })
    }

    fn report_unheard(
        &self,
        context: &mut Context,
        name: &str,
        node: crate::source::Span,
        layer: &ast::Layer,
    ) {
        let title = format!("`{}` ignores `{name}`, and loses its message", layer.name);
        context.report(
            Diagnostic::error(Id::NoReceiver, title, node, "receives the notice")
                .label(layer.name.span, "does not handle the notice")
                .why("The receiver of a notice must pass on, hold or drop its message.")
                .help(format!("add `on {name}(message, …)` to the layer")),
        );
    }
}

/// Those notices that carry a message.
fn carrying(program: &Program, notices: &[NoticeId]) -> Vec<NoticeId> {
    let notices = notices.iter().copied();
    let carries = |notice: &NoticeId| program.notices[notice.at()].message;
    notices.filter(carries).collect()
}

/// A handler that tells each target what it was told.
fn relaying(
    context: &Context,
    kind: super::program::KindId,
    notice: NoticeId,
    targets: &[TellTarget],
    layer: &ast::Layer,
) -> Handler {
    let declared = &context.program.notices[notice.at()];
    let locals = locals(declared);
    let parameters: Vec<_> = (0..locals.len() as u32).map(LocalId).collect();
    let skipped = usize::from(declared.message);
    let arguments = locals.iter().enumerate().skip(skipped);
    let arguments: Vec<_> = arguments
        .map(|(place, local)| read(LocalId(place as u32), &local.kind))
        .collect();
    let span = layer.name.span;
    let tell = |target: &TellTarget| Statement {
        kind: StatementKind::Output(Output::Tell {
            target: *target,
            event: Event::Notice(notice),
            message: declared.message.then_some(Source::Local(LocalId(0))),
            arguments: arguments.clone(),
            attributes: Vec::new(),
        }),
        span,
    };
    Handler {
        kind,
        event: Event::Notice(notice),
        body: targets.iter().map(tell).collect(),
        blocks: Vec::new(),
        places: Vec::new(),
        meets: false,
        locals,
        parameters,
        span,
    }
}

fn read(local: LocalId, kind: &Type) -> Expression {
    Expression {
        kind: Box::new(ExpressionKind::Read(Variable::Local(local))),
        result: kind.clone(),
    }
}
