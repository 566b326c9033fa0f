//! S23: bodies that no `init` creates, and interactions that nobody sends or takes.

use super::super::checker::Checker;
use super::super::program::ChannelId;
use super::output::{SENT, TAKEN};
use crate::diagnostic::{Diagnostic, Id};
use crate::source::Span;
use std::collections::BTreeSet;

impl Checker<'_> {
    /// Warns of whatever is never used.
    pub fn warnings(&mut self) {
        self.unused_bodies();
        self.unused_interactions();
        self.unreachable_transitions();
    }

    fn unused_bodies(&mut self) {
        for at in 0..self.bodies.len() {
            if self.bodies[at].is_initialised {
                continue;
            }
            let body = &self.program.bodies[at];
            let title = format!("nothing creates an instance of the body `{}`", body.name);
            let id = Id::EstelleNeverInitialised;
            let warning = Diagnostic::warning(id, title, body.span, "never initialised");
            let warning = warning.why("A body runs only as an instance that `init` creates.");
            let help = format!("write `init … with {}`, or remove the body", body.name);
            self.report(warning.help(help));
        }
    }

    fn unused_interactions(&mut self) {
        let open = self.open_channels();
        let mut found: Vec<(Id, Span, String)> = Vec::new();
        for (at, channel) in self.program.channels.iter().enumerate() {
            if open.contains(&ChannelId(at as u32)) {
                continue;
            }
            for (interaction, (span, used)) in
                channel.interactions.iter().zip(&self.interactions[at])
            {
                let id = match (used[SENT], used[TAKEN]) {
                    (true, true) => continue,
                    (true, false) => Id::EstelleNeverReceived,
                    (false, _) => Id::EstelleNeverSent,
                };
                found.push((id, *span, interaction.name.clone()));
            }
        }
        for (id, span, name) in found {
            let (title, label, why, help) = match id {
                Id::EstelleNeverSent => (
                    format!("no module sends `{name}`"),
                    "never sent",
                    "A transition that takes it never fires.",
                    "add an `output`, or remove the interaction",
                ),
                _ => (
                    format!("no transition takes `{name}`"),
                    "never taken",
                    "It stays in its queue, in front of all behind it.",
                    "add a transition with `when`, or remove the interaction",
                ),
            };
            let warning = Diagnostic::warning(id, title, span, label);
            self.report(warning.why(why).help(help));
        }
    }

    /// Finds the channels of bodies that C code defines: it may send and take all.
    fn open_channels(&self) -> BTreeSet<ChannelId> {
        let bodies = self.program.bodies.iter();
        let points = bodies.filter(|it| it.is_external).flat_map(|it| &it.points);
        points.map(|points| points.channel).collect()
    }
}
