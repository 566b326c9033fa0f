//! Module headers, interaction points and module variables.

use super::super::checker::{COPIES, Checker};
use super::super::program::{Header, HeaderId, ModuleVariable, Points, Queue, TypeId};
use super::super::scope::Meaning;
use super::attribute::Holds;
use crate::diagnostic::{Diagnostic, Id};
use crate::source::Span;
use crate::syntax::estelle::ast::{self, Name};
use std::collections::BTreeMap;

impl Checker<'_> {
    /// Declares a module header.
    pub fn header(&mut self, tree: &ast::Header) {
        let parent = self.here.body;
        let attribute = tree.attribute.map(|it| it.0);
        self.attribute_below(parent, (attribute, Holds::Header), &tree.name);
        let parameters = self.parameters(&tree.parameters);
        let mut points = Vec::new();
        for group in &tree.points {
            for name in &group.names {
                points.extend(self.points_of(group, name));
            }
        }
        let exports = self.parameters(&tree.exports);
        self.distinct(tree);
        let id = HeaderId(self.program.headers.len() as u32);
        self.program.headers.push(Header {
            name: tree.name.text.clone(),
            attribute: tree.attribute.map(|it| it.0),
            parameters,
            points,
            exports,
        });
        self.header_parents.push(parent);
        self.declare(&tree.name, Meaning::Header(id));
    }

    /// Reports names of a header that are declared twice in different parts of it.
    fn distinct(&mut self, tree: &ast::Header) {
        let mut known: BTreeMap<String, Span> = BTreeMap::new();
        let parameters = tree.parameters.iter().flat_map(|it| &it.names);
        let points = tree.points.iter().flat_map(|it| &it.names);
        let exports = tree.exports.iter().flat_map(|it| &it.names);
        for name in parameters.chain(points).chain(exports) {
            if let Some(earlier) = known.insert(name.key(), name.span) {
                self.name_taken(name, Some(earlier));
            }
        }
    }

    /// Checks interaction points of one name.
    pub fn points_of(&mut self, tree: &ast::Points, name: &Name) -> Option<Points> {
        let dimensions = self.dimensions(&tree.indices, name);
        let channel = match self.resolve(&tree.channel, "a channel")? {
            Meaning::Channel(channel) => channel,
            other => {
                self.wrong_meaning(&tree.channel, &other, "a channel");
                return None;
            }
        };
        let roles = self.program.channels[channel.index()].roles.clone();
        let position = roles
            .iter()
            .position(|role| role.eq_ignore_ascii_case(&tree.role.text));
        let Some(role) = position else {
            let names: Vec<&str> = roles.iter().map(String::as_str).collect();
            let channel = self.program.channels[channel.index()].name.clone();
            self.unknown_role(&tree.role, &channel, &names);
            return None;
        };
        let queue = tree.queue.map(|it| it.0).or(self.default_queue);
        let queue = queue.unwrap_or_else(|| {
            self.queue_missing(name);
            Queue::Individual
        });
        let (indices, count) = dimensions?;
        Some(Points {
            name: name.text.clone(),
            indices,
            count,
            channel,
            role,
            queue,
        })
    }

    /// S20: an interaction point has a discipline of its queue.
    fn queue_missing(&mut self, name: &Name) {
        let title = format!("the interaction point `{}` has no queue", name.text);
        let id = Id::EstelleQueueMissing;
        let missing = Diagnostic::error(id, title, name.span, "which queue?");
        let missing = missing.why(
            "Interactions wait in a queue of the point (`individual queue`), or in one that all \
             such points of the module share (`common queue`).",
        );
        let help = "add `individual queue`, or `default individual queue;` to the specification";
        self.report(missing.help(help));
    }

    /// Checks the index types of an array, and counts its elements.
    fn dimensions(&mut self, trees: &[ast::Type], name: &Name) -> Option<(Vec<TypeId>, u32)> {
        let indices: Vec<_> = trees.iter().map(|it| self.ordinal_type(it)).collect();
        let indices = indices.into_iter().collect::<Option<Vec<_>>>()?;
        let sizes = indices.iter().map(|it| self.size_of(*it));
        let count = sizes.fold(1, u64::saturating_mul);
        if count > COPIES {
            let title = format!("the array `{}` is too large", name.text);
            let label = match count {
                u64::MAX => "too many elements to count".to_string(),
                _ => format!("{count} elements"),
            };
            let large = Diagnostic::error(Id::EstelleTooLarge, title, name.span, label);
            let large = large.why(format!("Such an array has at most {COPIES} elements."));
            self.report(large.help("use smaller subranges as index types"));
            return None;
        }
        Some((indices, count as u32))
    }

    /// Declares module variables.
    pub fn module_variables(&mut self, tree: &ast::ModuleVariables) {
        let header = self.resolve(&tree.header, "a module header");
        let header = match header {
            Some(Meaning::Header(header)) => Some(header),
            Some(other) => {
                self.wrong_meaning(&tree.header, &other, "a module header");
                None
            }
            None => None,
        };
        let body = self.here.body;
        if let Some(header) = header {
            let attribute = self.program.headers[header.index()].attribute;
            // A body with an attribute has checked its own headers where they are declared.
            let is_own = self.header_parents[header.index()] == body;
            let is_checked = is_own && self.program.bodies[body.index()].attribute.is_some();
            if !is_checked {
                self.attribute_below(body, (attribute, Holds::Variable), &tree.header);
            }
        }
        for name in &tree.names {
            let dimensions = self.dimensions(&tree.indices, name);
            let (Some(header), Some((indices, count))) = (header, dimensions) else {
                self.declare(name, Meaning::Refused);
                continue;
            };
            let variables = &mut self.program.bodies[body.index()].module_variables;
            let at = variables.len();
            variables.push(ModuleVariable {
                name: name.text.clone(),
                indices,
                count,
                header,
            });
            self.declare(name, Meaning::ModuleVariable(at));
        }
    }
}
