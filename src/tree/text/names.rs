//! Names in the text form: one for each entry of each table of a program, no two alike.

use crate::tree::{Index, Reaction};
use crate::types::program::{Event, Field, KindId, Program};
use std::collections::BTreeSet;

/// The names of all tables, by index.
pub struct Names {
    /// Entities.
    pub entities: Vec<String>,
    /// `ENTITY.KIND`.
    pub kinds: Vec<String>,
    /// Fields, by kind.
    pub fields: Vec<Vec<String>>,
    /// Keys, by kind.
    pub keys: Vec<Vec<String>>,
    /// Timers, by kind.
    pub timers: Vec<Vec<String>>,
    /// Headers.
    pub headers: Vec<String>,
    /// Fields, by header.
    pub header_fields: Vec<Vec<String>>,
    /// `OWNER.NAME`.
    pub attributes: Vec<String>,
    /// `OWNER.NAME`.
    pub notices: Vec<String>,
    /// Settings.
    pub config: Vec<String>,
    /// Functions.
    pub functions: Vec<String>,
    /// Filters.
    pub filters: Vec<String>,
    /// `OWNER.NAME`.
    pub records: Vec<String>,
    /// Fields, by record.
    pub record_fields: Vec<Vec<String>>,
    /// `OWNER.NAME`.
    pub enums: Vec<String>,
    /// `ENTITY.NAME`.
    pub reasons: Vec<String>,
    /// `ENTITY.NAME`.
    pub counts: Vec<String>,
    /// Links.
    pub links: Vec<String>,
    /// Ports.
    pub ports: Vec<String>,
}

impl Names {
    /// Those of a program.
    pub fn new(program: &Program) -> Names {
        let entity = |id: crate::types::program::EntityId| &program.entities[id.at()].name;
        let owned = |owner: &str, name: &str| format!("{owner}.{name}");
        let kinds = program.kinds.iter();
        let kinds = kinds.map(|kind| owned(entity(kind.entity), &kind.name));
        let reasons = program.reasons.iter();
        let reasons = reasons.map(|reason| owned(entity(reason.entity), &reason.name));
        let counts = program.counts.iter();
        let counts = counts.map(|count| owned(entity(count.entity), &count.name));
        let plain =
            |fields: &[Field]| unlike(fields.iter().map(|field| field.name.replace('.', "_")));
        let attributes = program.attributes.iter();
        let notices = program.notices.iter();
        let records = program.records.iter();
        let enums = program.enums.iter();
        Names {
            entities: unlike(program.entities.iter().map(|entity| entity.name.clone())),
            kinds: unlike(kinds),
            fields: program
                .kinds
                .iter()
                .map(|kind| plain(&kind.fields))
                .collect(),
            keys: program
                .kinds
                .iter()
                .map(|kind| unlike(kind.keys.iter().map(|key| key.name.clone())))
                .collect(),
            timers: program
                .kinds
                .iter()
                .map(|kind| unlike(kind.timers.iter().map(|timer| timer.replace('.', "_"))))
                .collect(),
            headers: unlike(program.headers.iter().map(|header| header.name.clone())),
            header_fields: program
                .headers
                .iter()
                .map(|header| {
                    unlike(
                        header
                            .all_fields()
                            .map(|field| field.name.replace('.', "_")),
                    )
                })
                .collect(),
            attributes: unlike(attributes.map(|one| owned(&one.owner, &one.name))),
            notices: unlike(notices.map(|one| owned(&one.owner, &one.name))),
            config: unlike(program.config.iter().map(|config| config.name.clone())),
            functions: unlike(program.functions.iter().map(|one| one.name.clone())),
            filters: unlike(program.filters.iter().map(|filter| filter.name.clone())),
            record_fields: records.clone().map(|one| plain(&one.fields)).collect(),
            records: unlike(records.map(|one| owned(&one.owner, &one.name))),
            enums: unlike(enums.map(|one| owned(&one.owner, &one.name))),
            reasons: unlike(reasons),
            counts: unlike(counts),
            links: unlike(program.links.iter().map(|link| link.name.clone())),
            ports: unlike(program.ports.iter().map(|port| port.name.clone())),
        }
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
                let entity = &self.entities[entity.at()];
                format!(
                    "arrive {entity} {joint} {} {}",
                    place(index),
                    self.event(event)
                )
            }
            Reaction::Handle { kind, index, event } => {
                let kind = self.kind(kind);
                format!("handle {kind} {} {}", place(index), self.event(event))
            }
        }
    }

    /// What happens to an instance or entity.
    pub fn event(&self, event: Event) -> String {
        match event {
            Event::Send => "send".to_string(),
            Event::Deliver => "deliver".to_string(),
            Event::Notice(id) => format!("notice {}", self.notices[id.at()]),
            Event::Timer(id) => format!("timer {}", id.0),
            Event::Start => "start".to_string(),
            Event::End => "end".to_string(),
            Event::Again => "again".to_string(),
        }
    }

    /// The name of a kind.
    pub fn kind(&self, kind: KindId) -> &str {
        &self.kinds[kind.at()]
    }
}

/// Which instance of a kind a tree is for.
pub fn place(index: Index) -> String {
    match index {
        Index::Only(only) => format!("only {only}"),
        Index::Any => "any".to_string(),
        Index::Label(label) => format!("label {label}"),
    }
}

/// The same names, those that repeat numbered by their place.
fn unlike(names: impl Iterator<Item = String>) -> Vec<String> {
    let mut taken = BTreeSet::new();
    let numbered = names
        .enumerate()
        .map(|(place, name)| match taken.insert(name.clone()) {
            true => name,
            false => format!("{name}#{place}"),
        });
    numbered.collect()
}
