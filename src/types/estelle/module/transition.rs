//! Transitions and alternatives of `initialize`: S10, S16, and the expansion of `any`.
//!
//! In: a transition with its clauses. Out: one [`Transition`] for each combination of values of
//! `any`, in ascending order, the last name fastest.

use super::super::checker::{COPIED, Checker, Within};
use super::super::pascal::{Literal, fold};
use super::super::program::MAXINT;
use super::super::program::{
    Block, BlockId, Delay, Expression, Most, PointReference, Transition, When,
};
use super::super::scope::Region;
use super::clause::{Clauses, size};
use crate::diagnostic::{Diagnostic, Id};
use crate::source::Span;
use crate::syntax::estelle::ast::{self, ClauseKind, Name};
use std::collections::BTreeMap;

/// The most transitions that one block becomes.
const OF_BLOCK: u64 = 4_096;

/// The most transitions of a body.
const OF_BODY: usize = 65_536;

/// The size of a transition without its clauses, in operators.
const TRANSITION: usize = 8;

/// A block with its name and place, the same for all values of `any`.
struct Shared {
    name: String,
    block: BlockId,
    span: Span,
}

impl Checker<'_> {
    /// Checks `initialize` and the transitions of a body.
    pub fn transitions(&mut self, body: &ast::Body) {
        self.begins_in_state(body);
        for (at, tree) in body.initialize.iter().enumerate() {
            let made = self.transition(body, tree, Within::Initialize, at);
            let own = &mut self.program.bodies[self.here.body.index()];
            own.initialize.extend(made.into_iter().map(|it| it.0));
        }
        let mut names: BTreeMap<String, Span> = BTreeMap::new();
        for (at, tree) in body.transitions.iter().enumerate() {
            if let Some(name) = &tree.name
                && let Some(earlier) = names.insert(name.key(), name.span)
            {
                self.name_taken(name, Some(earlier));
            }
            let made = self.transition(body, tree, Within::Transition, at);
            let at = self.here.body.index();
            let (own, facts) = (&mut self.program.bodies[at], &mut self.bodies[at]);
            for (transition, from) in made {
                own.transitions.push(transition);
                facts.from_spans.push(from);
            }
            if own.transitions.len() > OF_BODY {
                self.too_many(tree.block.span, OF_BODY as u64, "a body");
                return;
            }
            if self.copied > COPIED {
                return;
            }
        }
    }

    /// S10: a body with states and transitions begins in a state.
    fn begins_in_state(&mut self, body: &ast::Body) {
        let own = &self.program.bodies[self.here.body.index()];
        if own.states.is_empty() || body.transitions.is_empty() {
            return;
        }
        if body.initialize.is_empty() {
            let title = format!("`{}` has states, but does not begin in one", own.name);
            let span = own.span;
            self.begins_nowhere(title, span, "no `initialize`");
            return;
        }
        for alternative in &body.initialize {
            let kind = |id: &ast::ClauseId| body.clauses.get(id.0 as usize).map(|it| &it.kind);
            let kinds = alternative.clauses.iter().filter_map(kind);
            let mut states = kinds.filter(|kind| matches!(kind, ClauseKind::To(Some(_))));
            if states.next().is_none() {
                let title = "this alternative of `initialize` leads into no state".to_string();
                let span = body.initialize_span.unwrap_or(alternative.block.span);
                self.begins_nowhere(title, span, "no `to`");
            }
        }
    }

    fn begins_nowhere(&mut self, title: String, span: Span, label: &str) {
        let wrong = Diagnostic::error(Id::EstelleInitializeTo, title, span, label);
        let wrong = wrong.why("The transitions of a body with states begin in one of them.");
        self.report(wrong.help("write `initialize to STATE begin … end;`"));
    }

    /// Checks a transition, and expands it. Returns also the place of each `from`.
    fn transition(
        &mut self,
        body: &ast::Body,
        tree: &ast::Transition,
        within: Within,
        at: usize,
    ) -> Vec<(Transition, Span)> {
        let outer = self.scopes.mark();
        // Values of enumerations in clauses, too, belong to this transition.
        self.scopes.open(Region::Open);
        self.here.unnamed.clear();
        let frame = self.add_frame();
        self.here.frame = Some(frame);
        let clauses = self.within(Within::Clause, |checker| {
            checker.clauses(&body.clauses, &tree.clauses)
        });
        let statements = self.within(within, |checker| {
            checker.inside(Region::Open, |checker| {
                checker.block_declarations(&tree.block.declarations);
                checker.statements(&tree.block.statements)
            })
        });
        self.scopes.leave(outer);
        self.here.frame = None;
        let block = BlockId(self.program.blocks.len() as u32);
        self.program.blocks.push(Block { frame, statements });
        let last = tree.clauses.last();
        let last = last.and_then(|it| body.clauses.get(it.0 as usize));
        let first = tree.name.as_ref().map(|name: &Name| name.span);
        let first = first.or(last.map(|clause| clause.span));
        let shared = Shared {
            name: match &tree.name {
                Some(name) => name.text.clone(),
                None => format!("t{}", at + 1),
            },
            block,
            span: first.map_or(tree.block.span, |first| first.to(tree.block.span)),
        };
        match clauses.is_wrong {
            true => Vec::new(),
            false => self.expanded(&clauses, &shared),
        }
    }

    /// Makes a transition for each combination of values of `any`.
    fn expanded(&mut self, clauses: &Clauses, shared: &Shared) -> Vec<(Transition, Span)> {
        let sizes = clauses
            .any
            .iter()
            .map(|(low, high)| (high - low + 1).max(0) as u64);
        let count = sizes.fold(1, u64::saturating_mul);
        if count > OF_BLOCK {
            self.too_many(clauses.any_span.unwrap_or(shared.span), count, "a block");
            return Vec::new();
        }
        let delays = clauses.delay.iter().map(|delay| &delay.least);
        let sizes = clauses.provided.iter().chain(delays).map(size);
        let one = TRANSITION + clauses.from.len() + sizes.sum::<usize>();
        let all = one.saturating_mul(usize::try_from(count).unwrap_or(usize::MAX));
        if self.copy(all, shared.span).is_none() {
            return Vec::new();
        }
        let from = clauses.from_span.unwrap_or(shared.span);
        let mut made = Vec::new();
        let mut any: Vec<i64> = clauses.any.iter().map(|(low, _)| *low).collect();
        loop {
            match self.made(clauses, shared, &any) {
                Some(transition) => made.push((transition, from)),
                None => return made,
            }
            // The next combination, like a number whose last digit changes fastest.
            let digits = any.iter_mut().zip(&clauses.any).rev();
            let mut is_last = true;
            for (value, (low, high)) in digits {
                if *value < *high {
                    *value += 1;
                    is_last = false;
                    break;
                }
                *value = *low;
            }
            if is_last {
                return made;
            }
        }
    }

    /// Makes the transition for one combination of values.
    fn made(&mut self, clauses: &Clauses, shared: &Shared, any: &[i64]) -> Option<Transition> {
        let when = match &clauses.when {
            Some((point, interaction)) => Some(When {
                points: point.points,
                element: self.element_of(point, any)?,
                interaction: *interaction,
            }),
            None => None,
        };
        let priority = match &clauses.priority {
            Some(priority) => Some(self.priority(priority, any)?),
            None => None,
        };
        let delay = clauses.delay.as_ref().map(|delay| Delay {
            least: delay.least.clone(),
            most: match &delay.most {
                Most::Same => Most::Same,
                Most::Unbounded => Most::Unbounded,
                Most::Given(most) => Most::Given(most.clone()),
            },
        });
        Some(Transition {
            name: shared.name.clone(),
            from: clauses.from.clone(),
            to: clauses.to,
            when,
            provided: clauses.provided.clone(),
            priority,
            delay,
            block: shared.block,
            any: any.to_vec(),
            span: shared.span,
        })
    }

    /// Computes which element of an array of points a `when` names.
    fn element_of(&mut self, point: &PointReference, any: &[i64]) -> Option<u32> {
        let types = self.points(point).indices.clone();
        let mut element: u32 = 0;
        for (index, kind) in point.indices.iter().zip(types) {
            let value = self.known(index, any)?;
            let value = self.assigned(value, kind)?;
            let (low, _) = self.range(kind)?;
            let Ok(Literal::Ordinal(number)) = fold(&value, &[]) else {
                return None;
            };
            let size = u32::try_from(self.size_of(kind)).ok()?;
            let offset = u32::try_from(number - low).ok()?;
            element = element.checked_mul(size)?.checked_add(offset)?;
        }
        Some(element)
    }

    /// S16: a priority is a constant that is not negative.
    fn priority(&mut self, value: &Expression, any: &[i64]) -> Option<u64> {
        let label = match fold(value, any) {
            Ok(Literal::Ordinal(number)) => match u64::try_from(number) {
                Ok(number) => return Some(number),
                Err(_) => "negative",
            },
            Ok(Literal::Real(_) | Literal::Text(_)) | Err(_) => "no constant",
        };
        let title = "a priority is a constant that is not negative";
        let wrong = Diagnostic::error(Id::EstellePriority, title, value.span, label);
        let wrong = wrong.why(format!("Priorities are from 0, the highest, to {MAXINT}."));
        self.report(wrong.help("use 0 for the highest priority"));
        None
    }

    fn too_many(&mut self, span: Span, count: u64, of: &str) {
        let title = format!("{of} becomes too many transitions");
        let label = match count {
            u64::MAX => "too many to count".to_string(),
            _ => format!("{count} transitions"),
        };
        let id = Id::EstelleTooManyTransitions;
        let many = Diagnostic::error(id, title, span, label);
        let many = many.why(format!(
            "`any` makes a transition for each of its values: at most {OF_BLOCK} of a block, and \
             {OF_BODY} of a body."
        ));
        self.report(many.help("use a smaller subrange"));
    }
}
