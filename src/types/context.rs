//! What every part of the checker writes to: the program as far as it is put together, and what
//! was found wrong.

use super::load::Files;
use super::program::{Attribute, AttributeId, Count, CountId, EntityId, Program, Reason, ReasonId};
use super::value::{Type, Value};
use crate::diagnostic::Diagnostic;
use crate::source::{Sources, Span};

/// The program as it grows, and the mistakes found on the way.
#[derive(Debug)]
pub struct Context<'a> {
    /// What is put together.
    pub program: &'a mut Program,
    /// What was found wrong.
    pub diagnostics: &'a mut Vec<Diagnostic>,
    /// The texts.
    pub sources: &'a Sources,
    /// The files, which know what others would give; none where there is no library.
    pub files: Option<&'a Files>,
    /// Words that services of the files declare, each with the name of its service.
    pub offered: Vec<(String, String)>,
    /// Headers of which was said that they have no whole bytes.
    pub uneven: Vec<Span>,
    /// The services that somebody restores, and the attribute that says where their provider's
    /// header begins.
    pub marks: Vec<(String, AttributeId)>,
}

impl<'a> Context<'a> {
    /// A context in which nothing is restored yet.
    pub fn new(
        program: &'a mut Program,
        diagnostics: &'a mut Vec<Diagnostic>,
        sources: &'a Sources,
    ) -> Context<'a> {
        Context {
            program,
            diagnostics,
            sources,
            files: None,
            offered: Vec::new(),
            uneven: Vec::new(),
            marks: Vec::new(),
        }
    }

    /// The attribute that says where the header of a service's provider begins.
    pub fn mark(&mut self, service: &str) -> AttributeId {
        if let Some((_, mark)) = self.marks.iter().find(|(known, _)| known == service) {
            return *mark;
        }
        let mark = AttributeId(self.program.attributes.len() as u32);
        self.program.attributes.push(Attribute {
            name: "mark".to_string(),
            owner: service.to_string(),
            kind: Type::Optional(Box::new(Type::Unsigned(32))),
            default: Some(Value::None),
        });
        self.marks.push((service.to_string(), mark));
        mark
    }

    /// Collects a mistake.
    pub fn report(&mut self, diagnostic: Diagnostic) {
        self.diagnostics.push(diagnostic);
    }

    /// Says of a name that stands for nothing which service would give it. All that one layer lacks
    /// for want of a service is one mistake.
    pub fn offer(&self, unknown: Diagnostic, name: &str) -> Diagnostic {
        let mut offered = self.offered.iter();
        let Some((_, service)) = offered.find(|(word, _)| word == name) else {
            return match self.files {
                Some(files) => files.suggest_use(unknown, name),
                None => unknown,
            };
        };
        let help = format!(
            "the service `{service}` declares `{name}`: add `requires {service}` or `provides \
            {service}` after the name of the layer"
        );
        Diagnostic {
            help: Some(help),
            ..unknown.cause("service")
        }
    }

    /// Says of the mistakes since there were so many from which declarations they may follow.
    pub fn blame(&mut self, told: usize, causes: impl Iterator<Item = String>) {
        let causes: Vec<String> = causes.collect();
        for diagnostic in &mut self.diagnostics[told..] {
            if diagnostic.causes.is_empty() && diagnostic.is_misfit {
                diagnostic.causes.clone_from(&causes);
            }
        }
    }

    /// Says of the mistakes of types since there were so many that they may follow from this
    /// declaration, too.
    pub fn blame_too(&mut self, told: usize, cause: &str) {
        for diagnostic in &mut self.diagnostics[told..] {
            if diagnostic.is_misfit {
                diagnostic.causes.push(cause.to_string());
            }
        }
    }

    /// The counter of an entity's drop reason; the same for the same name.
    pub fn reason(&mut self, entity: EntityId, name: &str) -> ReasonId {
        let reasons = &mut self.program.reasons;
        let place = reasons
            .iter()
            .position(|reason| reason.entity == entity && reason.name == name);
        let place = place.unwrap_or_else(|| {
            let name = name.to_string();
            reasons.push(Reason { entity, name });
            reasons.len() - 1
        });
        ReasonId(place as u32)
    }

    /// A plain counter of an entity; the same for the same name.
    pub fn count(&mut self, entity: EntityId, name: &str) -> CountId {
        let counts = &mut self.program.counts;
        let place = counts
            .iter()
            .position(|count| count.entity == entity && count.name == name);
        let place = place.unwrap_or_else(|| {
            let name = name.to_string();
            counts.push(Count { entity, name });
            counts.len() - 1
        });
        CountId(place as u32)
    }
}
