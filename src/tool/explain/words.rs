//! Reactions and states in the words of the sources.
//!
//! ```text
//! handle tcp.session any again          tcp.session: again
//! arrive ipv4 0 only 0 deliver          ipv4: on deliver
//! handle arp.neighbour any timer 0      arp.neighbour: on retry
//! ```

use crate::tree::{Index, Reaction};
use crate::types::program::{Event, FieldId, KindId, Program, Role};
use crate::types::value::Type;

/// What things are called in the sources of a program.
pub struct Words<'a> {
    program: &'a Program,
}

impl Words<'_> {
    /// Of a program.
    pub fn new(program: &Program) -> Words<'_> {
        Words { program }
    }

    /// What starts a tree.
    pub fn reaction(&self, reaction: Reaction) -> String {
        match reaction {
            Reaction::Arrive {
                entity,
                joint,
                index,
                event,
            } => {
                let own = &self.program.entities[entity.at()];
                let event = self.event(own.session, event);
                // Only where there are several does it say where it comes from.
                let joint = match joint {
                    0 => String::new(),
                    other => format!(", by joint {other}"),
                };
                format!("{}{}: {event}{joint}", own.name, which(index))
            }
            Reaction::Handle { kind, index, event } => {
                let event = self.event(kind, event);
                format!("{}{}: {event}", self.kind(kind), which(index))
            }
        }
    }

    /// An entity, or what is called so in one.
    fn kind(&self, kind: KindId) -> String {
        let own = &self.program.kinds[kind.at()];
        let entity = &self.program.entities[own.entity.at()].name;
        match own.role {
            Role::Record => entity.clone(),
            _ => format!("{entity}.{}", own.name),
        }
    }

    fn event(&self, kind: KindId, event: Event) -> String {
        match event {
            Event::Send => "on send".to_string(),
            Event::Deliver => "on deliver".to_string(),
            Event::Notice(id) => format!("on {}", self.program.notices[id.at()].name),
            Event::Timer(id) => format!("on {}", self.program.kinds[kind.at()].timers[id.at()]),
            Event::Start => "start".to_string(),
            Event::End => "end".to_string(),
            Event::Again => "again".to_string(),
        }
    }

    /// A field of a kind.
    pub fn field(&self, kind: KindId, field: FieldId) -> String {
        let own = &self.program.kinds[kind.at()].fields[field.at()];
        format!("{}.{}", self.kind(kind), own.name)
    }

    /// What a field holds.
    pub fn value(&self, kind: KindId, field: FieldId, value: u64) -> String {
        let names = match &self.program.kinds[kind.at()].fields[field.at()].kind {
            Type::Enum(id) => Some(&self.program.enums[id.at()].names),
            _numbered => None,
        };
        let known = names.into_iter().flatten();
        let mut known = known.filter(|(_, other)| *other == value);
        known
            .next()
            .map_or(value.to_string(), |(name, _)| name.clone())
    }
}

/// Which of several instances.
fn which(index: Index) -> String {
    match index {
        Index::Only(0) | Index::Any => String::new(),
        Index::Only(other) => format!(" {other}"),
        Index::Label(label) => format!(" of label {label}"),
    }
}
