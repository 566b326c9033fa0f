//! S14: `output`, and the interactions of a channel.

use super::super::checker::{Checker, meant};
use super::super::program::{ChannelId, StatementKind};
use crate::diagnostic::{Diagnostic, Id};
use crate::source::Span;
use crate::syntax::estelle::ast::{self, Name};

/// The directions of an interaction, as an index of [`Checker::interactions`].
pub(super) const SENT: usize = 0;
pub(super) const TAKEN: usize = 1;

impl Checker<'_> {
    /// Checks `output`.
    pub fn output(
        &mut self,
        tree: &ast::PointReference,
        interaction: &Name,
        arguments: &[ast::Expression],
        span: Span,
    ) -> Option<StatementKind> {
        let point = self.point_reference(tree)?;
        if point.module.is_some() {
            self.not_own(&tree.name, point.span);
            return None;
        }
        let points = self.points(&point);
        let (channel, role) = (points.channel, points.role);
        let at = self.interaction(channel, role, interaction, SENT)?;
        let parameters = self.program.channels[channel.index()].interactions[at]
            .parameters
            .clone();
        let checked = self.arguments(interaction, &parameters, arguments, span)?;
        Some(StatementKind::Output(point, at, checked))
    }

    fn not_own(&mut self, name: &Name, span: Span) {
        let title = format!("`{}` is an interaction point of a child", name.text);
        let refused = Diagnostic::error(Id::EstelleOwnPoint, title, span, "not an own point");
        let refused = refused.why("A module sends at its own interaction points only.");
        let help = "declare an internal point (`ip`), connect it with this one, and send there";
        self.report(refused.help(help));
    }

    /// Finds an interaction of a channel that a module of a role sends or takes, and notes that
    /// it does so.
    pub fn interaction(
        &mut self,
        channel: ChannelId,
        role: usize,
        name: &Name,
        direction: usize,
    ) -> Option<usize> {
        let declared = &self.program.channels[channel.index()];
        let interactions = &declared.interactions;
        let position = interactions
            .iter()
            .position(|it| it.name.eq_ignore_ascii_case(&name.text));
        let Some(at) = position else {
            let near = self.near(name, interactions.iter().map(|it| it.name.as_str()));
            let title = format!(
                "the channel `{}` has no interaction `{}`",
                declared.name, name.text
            );
            let otherwise = format!("declare it in the channel `{}`", declared.name);
            let help = meant(near, otherwise);
            let id = Id::EstelleUnknownName;
            let unknown = Diagnostic::error(id, title, name.span, "unknown interaction");
            let unknown = unknown.why("Each point carries the interactions of its channel.");
            self.report(unknown.help(help));
            return None;
        };
        let sender = if direction == SENT { role } else { 1 - role };
        if !interactions[at].sent_by[sender] {
            self.wrong_direction(channel, role, name, direction, at);
            return None;
        }
        self.interactions[channel.index()][at].1[direction] = true;
        Some(at)
    }

    fn wrong_direction(
        &mut self,
        channel: ChannelId,
        role: usize,
        name: &Name,
        direction: usize,
        at: usize,
    ) {
        let roles = &self.program.channels[channel.index()].roles;
        let (own, other) = (&roles[role], &roles[1 - role]);
        let (title, help) = match direction == SENT {
            true => (
                format!("the role `{own}` does not send `{}`", name.text),
                format!(
                    "add `by {own}: {};` to the channel, or change the role",
                    name.text
                ),
            ),
            false => (
                format!(
                    "the role `{other}` does not send `{}` to this module",
                    name.text
                ),
                format!(
                    "add `by {other}: {};` to the channel, or change the role",
                    name.text
                ),
            ),
        };
        let why = format!("This module has the role `{own}` at this point, its peer `{other}`.");
        let declared = self.interactions[channel.index()][at].0;
        let wrong = Diagnostic::error(Id::EstelleDirection, title, name.span, "wrong direction");
        let wrong = wrong.label(declared, "declared here");
        self.report(wrong.why(why).help(help));
    }
}
