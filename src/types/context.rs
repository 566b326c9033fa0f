//! What every part of the checker writes to: the program as far as it is put together, and what
//! was found wrong.

use super::program::{Count, CountId, EntityId, Program, Reason, ReasonId};
use crate::diagnostic::Diagnostic;
use crate::source::Sources;

/// The program as it grows, and the mistakes found on the way.
#[derive(Debug)]
pub struct Context<'a> {
    /// What is put together.
    pub program: &'a mut Program,
    /// What was found wrong.
    pub diagnostics: &'a mut Vec<Diagnostic>,
    /// The texts.
    pub sources: &'a Sources,
}

impl Context<'_> {
    /// Collects a mistake.
    pub fn report(&mut self, diagnostic: Diagnostic) {
        self.diagnostics.push(diagnostic);
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
