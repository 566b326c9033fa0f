//! The clauses of a transition: S9, S11, S13, S15 to S17. The parser reports the breaches of S12.
//!
//! In: the clauses of one transition, outer first. Out: [`Clauses`], with names of `any` and
//! parameters of `when` as the first locals of the frame. The levels of these names stay open, for
//! the block.

use super::super::checker::{COPIED, Checker};
use super::super::pascal::{Literal, fold};
use super::super::program::{
    BinaryOperator, Delay, Expression, ExpressionKind, Most, PointReference, StateId, TypeId,
    UnaryOperator, Variable,
};
use super::super::scope::{Meaning, Region};
use super::output::TAKEN;
use crate::diagnostic::{Diagnostic, Id};
use crate::source::Span;
use crate::syntax::estelle::ast::{self, Clause, ClauseId, ClauseKind, Name};

/// The size of an `exist` without its condition, in operators.
const EXIST: usize = 8;

/// The checked clauses of a transition. Values of `any` are not yet put in.
#[derive(Default)]
pub struct Clauses {
    pub from: Vec<StateId>,
    pub from_span: Option<Span>,
    pub to: Option<StateId>,
    pub to_span: Option<Span>,
    /// The point with its indices, and the interaction.
    pub when: Option<(PointReference, usize)>,
    pub provided: Option<Expression>,
    pub priority: Option<Expression>,
    pub delay: Option<Delay>,
    /// The first and the last value of each name of `any`.
    pub any: Vec<(i64, i64)>,
    pub any_span: Option<Span>,
    /// True if a clause has a mistake; then there is no transition.
    pub is_wrong: bool,
}

/// The interaction of a `when`, found before its indices are checked.
struct Taken {
    interaction: usize,
    /// The local of the first parameter.
    first: usize,
    parameters: Vec<Variable>,
}

impl Checker<'_> {
    /// Checks the clauses of a transition. `all` are those of the body.
    pub fn clauses(&mut self, all: &[Clause], ids: &[ClauseId]) -> Clauses {
        let listed: Vec<&Clause> = ids.iter().filter_map(|it| all.get(it.0 as usize)).collect();
        let mut clauses = Clauses::default();
        clauses.is_wrong |= !self.waits_once(&listed);
        let anys = self.any_locals(&listed, &mut clauses);
        let taken = self.taken(&listed);
        let mut anys = anys.into_iter();
        for clause in listed {
            let is_right = match &clause.kind {
                ClauseKind::From(names) => self.from(names, clause, &mut clauses),
                ClauseKind::To(name) => self.to(name.as_ref(), clause, &mut clauses),
                ClauseKind::When(when) => self.when(when, taken.as_ref(), &mut clauses),
                ClauseKind::Provided(condition) => {
                    clauses.provided = self.copied_condition(condition);
                    clauses.provided.is_some()
                }
                ClauseKind::Otherwise(siblings) => {
                    clauses.provided = self.otherwise(all, siblings, clause.span);
                    clauses.provided.is_some()
                }
                ClauseKind::Priority(value) => {
                    clauses.priority = self.value_for(value, TypeId::INTEGER);
                    clauses.priority.is_some()
                }
                ClauseKind::Delay { least, most } => {
                    clauses.delay = self.delay(least, most);
                    clauses.delay.is_some()
                }
                ClauseKind::Any(domain) => {
                    self.bind_any(domain, anys.next().unwrap_or_default());
                    true
                }
            };
            clauses.is_wrong |= !is_right;
        }
        clauses
    }

    /// S13: reports `delay` together with `when`.
    fn waits_once(&mut self, clauses: &[&Clause]) -> bool {
        let find = |test: fn(&ClauseKind) -> bool| clauses.iter().find(|it| test(&it.kind));
        let delay = find(|kind| matches!(kind, ClauseKind::Delay { .. }));
        let when = find(|kind| matches!(kind, ClauseKind::When(_)));
        let (Some(delay), Some(when)) = (delay, when) else {
            return true;
        };
        let title = "a transition with `when` has no `delay`";
        let id = Id::EstelleDelayWithWhen;
        let both = Diagnostic::error(id, title, delay.span, "a delay");
        let both = both.label(when.span, "waits for an interaction");
        let both = both.why("Only spontaneous transitions, those without `when`, wait for time.");
        self.report(both.help("remove one of the two clauses"));
        false
    }

    /// Adds the locals for the names of `any`, which are the first ones of the frame. Returns for
    /// each clause the locals and types of its names.
    fn any_locals(
        &mut self,
        clauses: &[&Clause],
        found: &mut Clauses,
    ) -> Vec<Vec<Option<(usize, TypeId)>>> {
        let mut anys = Vec::new();
        for clause in clauses {
            let ClauseKind::Any(domain) = &clause.kind else {
                continue;
            };
            found.any_span = Some(clause.span);
            let mut locals = Vec::new();
            for variables in domain {
                let kind = self.ordinal_type(&variables.kind);
                found.is_wrong |= kind.is_none();
                for name in &variables.names {
                    locals.push(kind.and_then(|kind| self.any_local(name, kind, found)));
                }
            }
            anys.push(locals);
        }
        anys
    }

    fn any_local(
        &mut self,
        name: &Name,
        kind: TypeId,
        found: &mut Clauses,
    ) -> Option<(usize, TypeId)> {
        let frame = self.here.frame?;
        found.any.push(self.range(kind)?);
        let variable = Variable {
            name: name.text.clone(),
            kind,
            is_reference: false,
            span: name.span,
        };
        Some((self.add_local(frame, variable), kind))
    }

    /// Gives the names of an `any` their meanings, in a level of their own.
    fn bind_any(&mut self, domain: &[ast::Variables], locals: Vec<Option<(usize, TypeId)>>) {
        self.scopes.open(Region::Open);
        let names = domain.iter().flat_map(|variables| &variables.names);
        for (name, local) in names.zip(locals) {
            match local {
                Some((at, kind)) => self.bind(name, at, kind),
                None => self.declare(name, Meaning::Refused),
            }
        }
    }

    /// Finds the interaction of `when`, and adds locals for its parameters.
    fn taken(&mut self, clauses: &[&Clause]) -> Option<Taken> {
        let mut whens = clauses.iter().filter_map(|clause| match &clause.kind {
            ClauseKind::When(when) => Some(when),
            _ => None,
        });
        let when = whens.next_back()?;
        let points = match self.resolve(&when.point, "an interaction point")? {
            Meaning::Points(points) => points,
            other => {
                self.wrong_meaning(&when.point, &other, "an interaction point");
                return None;
            }
        };
        let points = &self.program.bodies[self.here.body.index()].points[points];
        let (channel, role) = (points.channel, points.role);
        let interaction = self.interaction(channel, role, &when.interaction, TAKEN)?;
        let channel = &self.program.channels[channel.index()];
        let parameters = channel.interactions[interaction].parameters.clone();
        let frame = self.here.frame?;
        let first = self.program.frames[frame.index()].len();
        for parameter in &parameters {
            self.add_local(frame, parameter.clone());
        }
        Some(Taken {
            interaction,
            first,
            parameters,
        })
    }

    fn when(&mut self, when: &ast::When, taken: Option<&Taken>, clauses: &mut Clauses) -> bool {
        let span = when.point.span;
        let point = self.own_point(&when.point, &when.indices, span);
        self.scopes.open(Region::Open);
        let names = when.parameters.as_deref();
        if let (None, Some(taken)) = (names, taken) {
            let unnamed = taken.parameters.iter().map(|it| it.name.to_lowercase());
            self.here.unnamed.extend(unnamed);
        }
        let is_right = taken.is_some_and(|taken| self.agrees_with_channel(when, taken));
        for (at, name) in names.unwrap_or_default().iter().enumerate() {
            let parameter = taken.and_then(|taken| Some((taken.first, taken.parameters.get(at)?)));
            let frame = self.here.frame;
            let meaning = match (parameter, frame) {
                (Some((first, parameter)), Some(frame)) => Meaning::Variable {
                    root: super::super::program::Root::Local(frame, first + at),
                    kind: parameter.kind,
                    is_assignable: true,
                },
                _ => Meaning::Refused,
            };
            self.declare(name, meaning);
        }
        clauses.when = point.zip(taken.map(|taken| taken.interaction));
        is_right && clauses.when.is_some()
    }

    /// S15: the names of `when` are those of the channel.
    fn agrees_with_channel(&mut self, when: &ast::When, taken: &Taken) -> bool {
        let Some(names) = &when.parameters else {
            return true;
        };
        let is_same = |(name, it): (&Name, &Variable)| name.text.eq_ignore_ascii_case(&it.name);
        let is_whole = names.len() == taken.parameters.len();
        if is_whole && names.iter().zip(&taken.parameters).all(is_same) {
            return true;
        }
        let interaction = &when.interaction;
        let pairs = names.iter().zip(&taken.parameters);
        let mut wrong = pairs.filter(|pair| !is_same(*pair));
        let span = wrong.next().map_or(interaction.span, |(name, _)| name.span);
        let title = format!("these are not the parameters of `{}`", interaction.text);
        let id = Id::EstelleWhenParameters;
        let label = match names.len() == taken.parameters.len() {
            true => "another name".to_string(),
            false => format!(
                "{} names, {} parameters",
                names.len(),
                taken.parameters.len()
            ),
        };
        let mut wrong = Diagnostic::error(id, title, span, label);
        if let Some(first) = taken.parameters.first() {
            wrong = wrong.label(first.span, "declared here");
        }
        let wrong = wrong.why("`when` repeats the names that the channel declares, or has none.");
        let names: Vec<_> = taken.parameters.iter().map(|it| it.name.as_str()).collect();
        let help = match names.is_empty() {
            true => format!("write `{}` without parentheses", interaction.text),
            false => format!("write `{}({})`", interaction.text, names.join(", ")),
        };
        self.report(wrong.help(help));
        false
    }

    fn from(&mut self, names: &[Name], clause: &Clause, clauses: &mut Clauses) -> bool {
        clauses.from_span = Some(clause.span);
        let has_states = !self.bodies[self.here.body.index()].states.is_empty();
        if !has_states {
            let title = "`from` stands in a body without states";
            let id = Id::EstelleFromWithoutState;
            let wrong = Diagnostic::error(id, title, clause.span, "no states");
            let wrong = wrong.why("`from` restricts a transition to some states of its body.");
            self.report(wrong.help("declare the states by `state …;`, or remove this clause"));
            return false;
        }
        let mut is_right = true;
        for name in names {
            match self.state_named(name) {
                Some((states, _)) => clauses.from.extend(states.into_iter().map(StateId)),
                None => is_right = false,
            }
        }
        clauses.from.sort_unstable();
        clauses.from.dedup();
        is_right
    }

    fn to(&mut self, name: Option<&Name>, clause: &Clause, clauses: &mut Clauses) -> bool {
        clauses.to_span = Some(clause.span);
        match name {
            Some(name) => {
                clauses.to = self.single_state(name);
                clauses.to.is_some()
            }
            None => true,
        }
    }

    /// Checks the condition of `provided`, and counts its size.
    fn copied_condition(&mut self, tree: &ast::Expression) -> Option<Expression> {
        let condition = self.condition(tree)?;
        self.copy(size(&condition), condition.span)?;
        Some(condition)
    }

    /// Counts what transitions copy of clauses that they share; too much is a mistake.
    pub fn copy(&mut self, size: usize, span: Span) -> Option<()> {
        self.copied = self.copied.saturating_add(size);
        if self.copied <= COPIED {
            return Some(());
        }
        let title = "the transitions and their clauses are too large";
        let id = Id::EstelleTooManyTransitions;
        let large = Diagnostic::error(id, title, span, "too large together with all before");
        let large = large.why(format!(
            "Each transition has its own copy of its clauses. All have at most {COPIED} states, \
             operators and operands together."
        ));
        self.report(large.help("move a long condition into a `pure` function, or shorten `any`"));
        None
    }

    /// Makes the negation of the disjunction of the clauses before `otherwise`. The parser reports
    /// one without such clauses.
    fn otherwise(
        &mut self,
        all: &[Clause],
        siblings: &[ClauseId],
        span: Span,
    ) -> Option<Expression> {
        let listed = siblings.iter().filter_map(|it| all.get(it.0 as usize));
        let conditions: Vec<&ast::Expression> = listed
            .filter_map(|clause| match &clause.kind {
                ClauseKind::Provided(condition) => Some(condition),
                _ => None,
            })
            .collect();
        let mut checked = Vec::new();
        for condition in conditions {
            checked.push(self.copied_condition(condition)?);
        }
        let disjunction = Box::new(disjunction(checked, span)?);
        Some(Expression {
            kind: ExpressionKind::Unary(UnaryOperator::Not, disjunction),
            type_id: TypeId::BOOLEAN,
            span,
        })
    }

    fn delay(&mut self, least: &ast::Expression, most: &ast::Most) -> Option<Delay> {
        let least = self.value_for(least, TypeId::INTEGER);
        let most = match most {
            ast::Most::Same => Some(Most::Same),
            ast::Most::Unbounded => Some(Most::Unbounded),
            ast::Most::Given(most) => self.value_for(most, TypeId::INTEGER).map(Most::Given),
        };
        let (least, most) = (least?, most?);
        let first = constant(&least);
        let (last, span) = match &most {
            Most::Given(most) => (constant(most), most.span),
            Most::Same | Most::Unbounded => (None, least.span),
        };
        let is_negative = first.is_some_and(|first| first < 0);
        let is_reversed = matches!((first, last), (Some(first), Some(last)) if last < first);
        if is_negative || is_reversed {
            let title = "this delay is never valid";
            let (span, label) = match is_negative {
                true => (least.span, "negative"),
                false => (span, "less than the lower bound"),
            };
            let wrong = Diagnostic::error(Id::EstelleOutOfRange, title, span, label);
            let wrong = wrong.why("A delay is not negative, and its bounds are in order.");
            self.report(wrong.help("write `delay(LEAST, MOST)` with 0 <= LEAST <= MOST"));
            return None;
        }
        self.copy(size(&least), least.span)?;
        Some(Delay { least, most })
    }
}

/// Returns the value of a constant integer.
fn constant(expression: &Expression) -> Option<i64> {
    match fold(expression, &[]) {
        Ok(Literal::Ordinal(value)) => Some(value),
        _ => None,
    }
}

/// Makes a balanced disjunction, which evaluates the conditions in their order.
fn disjunction(mut conditions: Vec<Expression>, span: Span) -> Option<Expression> {
    if conditions.len() <= 1 {
        return conditions.pop();
    }
    let right = conditions.split_off(conditions.len() / 2);
    let (left, right) = (disjunction(conditions, span)?, disjunction(right, span)?);
    Some(Expression {
        kind: ExpressionKind::Binary(BinaryOperator::Or, Box::new(left), Box::new(right)),
        type_id: TypeId::BOOLEAN,
        span,
    })
}

/// Returns the number of operators and operands of an expression, without those of arguments.
pub(super) fn size(expression: &Expression) -> usize {
    match &expression.kind {
        ExpressionKind::Ordinal(_) | ExpressionKind::Real(_) | ExpressionKind::Text(_) => 1,
        ExpressionKind::Read(place) => 1 + place.steps.len(),
        ExpressionKind::Call(_, arguments) => 1 + arguments.len(),
        ExpressionKind::Unary(_, operand)
        | ExpressionKind::ToReal(operand)
        | ExpressionKind::Predefined(_, operand) => 1 + size(operand),
        // The names of `exist` are locals of the frame of each transition.
        ExpressionKind::Exist(_, operand) => EXIST + size(operand),
        ExpressionKind::Binary(_, left, right) => 1 + size(left) + size(right),
        ExpressionKind::Set(elements) => {
            let one = |(first, last): &(Expression, Option<Expression>)| {
                size(first) + last.as_ref().map_or(0, size)
            };
            1 + elements.iter().map(one).sum::<usize>()
        }
    }
}
