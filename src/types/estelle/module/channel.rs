//! Channels: two roles, and the interactions that each sends.

use super::super::checker::{Checker, meant};
use super::super::program::{Channel, ChannelId, Interaction, TypeId, Variable};
use super::super::scope::Meaning;
use crate::diagnostic::{Diagnostic, Id};
use crate::source::Span;
use crate::syntax::estelle::ast::{self, Name};
use std::collections::BTreeMap;

impl Checker<'_> {
    /// Declares a channel.
    pub fn channel(&mut self, tree: &ast::Channel) {
        let [one, other] = &tree.roles;
        if one.key() == other.key() {
            self.name_taken(other, Some(one.span));
        }
        let mut interactions: Vec<Interaction> = Vec::new();
        let mut places = Vec::new();
        let mut known: BTreeMap<String, Span> = BTreeMap::new();
        for group in &tree.groups {
            let sent_by = self.senders(tree, &group.roles);
            for interaction in &group.interactions {
                let name = &interaction.name;
                if let Some(earlier) = known.insert(name.key(), name.span) {
                    self.name_taken(name, Some(earlier));
                    continue;
                }
                places.push((name.span, [false, false]));
                let parameters = self.parameters(&interaction.parameters);
                interactions.push(Interaction {
                    name: name.text.clone(),
                    parameters,
                    sent_by,
                });
            }
        }
        let id = ChannelId(self.program.channels.len() as u32);
        self.program.channels.push(Channel {
            name: tree.name.text.clone(),
            roles: [one.text.clone(), other.text.clone()],
            interactions,
        });
        self.interactions.push(places);
        self.declare(&tree.name, Meaning::Channel(id));
    }

    /// Checks the roles of `by`.
    fn senders(&mut self, tree: &ast::Channel, roles: &[Name]) -> [bool; 2] {
        let mut sent_by = [false, false];
        let names: Vec<&str> = tree.roles.iter().map(|role| role.text.as_str()).collect();
        for role in roles {
            match tree.roles.iter().position(|it| it.key() == role.key()) {
                Some(at) if sent_by[at] => self.name_taken(role, None),
                Some(at) => sent_by[at] = true,
                None => self.unknown_role(role, &tree.name.text, &names),
            }
        }
        sent_by
    }

    /// Reports a role that a channel does not have.
    pub fn unknown_role(&mut self, role: &Name, channel: &str, roles: &[&str]) {
        let title = format!("the channel `{channel}` has no role `{}`", role.text);
        let id = Id::EstelleUnknownName;
        let unknown = Diagnostic::error(id, title, role.span, "no role of this channel");
        let unknown = unknown.why("A module plays one of the two roles of a channel.");
        let near = self.near(role, roles.iter().copied());
        let help = meant(near, format!("its roles are `{}`", roles.join("` and `")));
        self.report(unknown.help(help));
    }

    /// Checks parameters: each has its own name.
    pub fn parameters(&mut self, trees: &[ast::Variables]) -> Vec<Variable> {
        let mut parameters = Vec::new();
        let mut known: BTreeMap<String, Span> = BTreeMap::new();
        for tree in trees {
            let kind = self.type_of(&tree.kind);
            for name in &tree.names {
                if let Some(earlier) = known.insert(name.key(), name.span) {
                    self.name_taken(name, Some(earlier));
                }
                parameters.push(Variable {
                    name: name.text.clone(),
                    // A refused type stops the build; until then any other one stands for it.
                    kind: kind.unwrap_or(TypeId::INTEGER),
                    is_reference: false,
                    span: name.span,
                });
            }
        }
        parameters
    }
}
