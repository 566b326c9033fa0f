//! `for`: over numbers, a known number of times; over all that a queue holds.

use super::super::expression::{Binary, Expression, ExpressionKind, Instance};
use super::super::program::LocalId;
use super::super::statement::StatementKind;
use super::super::value::Type;
use super::flow::{Flow, Holding};
use super::words::{Body, constant_number, make, number};
use crate::diagnostic::{Diagnostic, Id};
use crate::source::Span;
use crate::syntax::loom::ast;

/// How often the body of a `for` runs at most, where nothing else is said.
const TURNS: u64 = 4096;

impl Body<'_, '_> {
    pub fn for_statement(
        &mut self,
        name: &ast::Name,
        over: &ast::ForRange,
        body: &ast::Block,
    ) -> Option<StatementKind> {
        match over {
            ast::ForRange::Numbers { from, to, at_most } => {
                self.for_numbers(name, from, to, at_most.as_ref(), body)
            }
            ast::ForRange::Elements(elements) => self.for_elements(name, elements, body),
        }
    }

    fn for_numbers(
        &mut self,
        name: &ast::Name,
        from: &ast::Expression,
        to: &ast::Expression,
        at_most: Option<&ast::Expression>,
        body: &ast::Block,
    ) -> Option<StatementKind> {
        let span = from.span.to(to.span);
        let from_value = self.check(from, None);
        let to_value = self.check(to, Some(&from_value.result));
        let bounds = self.of_one_type(vec![(from_value, from), (to_value, to)], None)?;
        let [from, to] = <[Expression; 2]>::try_from(bounds).expect("two in, two out");
        let kind = from.result.clone();
        if !matches!(kind, Type::Unsigned(_) | Type::Sequence(_)) {
            let title = format!("a `for` cannot run over `{}`", self.describe(&kind));
            let label = "expected numbers";
            self.report(Diagnostic::error(Id::TypeMismatch, title, span, label));
            return None;
        }
        let turns = self.turns(&from, &to);
        let at_most = match at_most {
            Some(source) => {
                let most = self.expect(source, &Type::Unsigned(32));
                self.constant_turns(&most, source.span)?
            }
            None => match turns {
                Some(turns) if turns <= TURNS => turns,
                _ if self.is_open(&from) || self.is_open(&to) => TURNS,
                _ => return self.refuse_unbounded(span),
            },
        };
        let clamped = match turns {
            Some(turns) if turns <= at_most => None,
            _ => Some(self.context.count(self.scope.entity, "clamped")),
        };
        let bounds = self.constant_bounds(&from, &to);
        let before = self.enter_loop();
        let (words, locals) = (self.words.len(), self.locals.len());
        let local = self.declare(name, kind);
        let steady = [(Binary::AtLeast, from.clone()), (Binary::Less, to.clone())];
        let steady = steady
            .into_iter()
            .filter(|(_, bound)| self.is_steady(bound));
        let bounds: Vec<_> = bounds.into_iter().chain(steady).collect();
        let read = self.read_local(local);
        for (operator, bound) in bounds {
            let kind = ExpressionKind::Binary(operator, read.clone(), bound);
            self.flow.facts.push(make(kind, Type::Bool));
        }
        let block = self.block(body);
        self.leave_loop(before, locals, body.span);
        self.words.truncate(words);
        Some(StatementKind::For {
            local,
            from,
            to,
            at_most: at_most as u32,
            clamped,
            body: block,
        })
    }

    /// What is known of the numbers of a loop when it begins; its bounds are computed then.
    fn constant_bounds(&self, from: &Expression, to: &Expression) -> Vec<(Binary, Expression)> {
        let (Type::Unsigned(_), Some(least), Some(most)) =
            (&from.result, self.range(from), self.range(to))
        else {
            return Vec::new();
        };
        let bound = |value| number(value, from.result.clone());
        vec![
            (Binary::AtLeast, bound(least.low)),
            (Binary::AtMost, bound(most.high.saturating_sub(1))),
        ]
    }

    /// How often a loop runs at most; none if nobody knows.
    fn turns(&self, from: &Expression, to: &Expression) -> Option<u64> {
        if let Type::Sequence(_) = from.result {
            return None;
        }
        let (from, to) = (self.range(from)?, self.range(to)?);
        Some(to.high.saturating_sub(from.low))
    }

    fn constant_turns(&mut self, most: &Expression, span: Span) -> Option<u64> {
        if let Some(most) = constant_number(most) {
            return Some(most);
        }
        if self.scope.alone {
            return Some(TURNS);
        }
        let title = "the bound of a loop must be constant";
        self.report(Diagnostic::error(
            Id::NotConstant,
            title,
            span,
            "not a constant",
        ));
        None
    }

    fn refuse_unbounded(&mut self, span: Span) -> Option<StatementKind> {
        let title = "this loop has no known bound";
        let label = format!("may run more than {TURNS} times");
        let refused = Diagnostic::error(Id::UnboundedLoop, title, span, label);
        let text = self.text(span);
        self.report(
            refused
                .why("The time of a handler is bounded, so each loop has a constant bound.")
                .help(format!("add a bound: `{text} at most 64`")),
        );
        None
    }

    fn for_elements(
        &mut self,
        name: &ast::Name,
        elements: &ast::Expression,
        body: &ast::Block,
    ) -> Option<StatementKind> {
        let queue = drained(elements);
        let value = queue.map(|queue| self.check(queue, None));
        if value
            .as_ref()
            .is_some_and(|value| value.result == Type::Nothing)
        {
            return None;
        }
        let Some((Type::Queue(element, _), ExpressionKind::Read(queue))) =
            value.map(|value| (value.result, *value.kind))
        else {
            let title = "a `for` runs over a range, or over the elements of a queue";
            let label = "neither a range nor `drain()`";
            let refused = Diagnostic::error(Id::TypeMismatch, title, elements.span, label);
            self.report(refused.help("write `for i in 0..n`, or `for message in held.drain()`"));
            return None;
        };
        let before = self.enter_loop();
        let (words, locals) = (self.words.len(), self.locals.len());
        let is_message = *element == Type::Message;
        let local = match (is_message, self.local_of_event(name)) {
            // The message of the event may have the same name; it is another.
            (true, true) => {
                let local = self.add_local(&name.text, Type::Message);
                self.bind(name, local);
                local
            }
            _ => self.declare(name, *element),
        };
        if is_message {
            self.own(local);
        }
        let block = self.block(body);
        self.check_gone(is_message.then_some(local).into_iter(), name.span);
        self.leave_loop(before, locals, body.span);
        self.words.truncate(words);
        self.forget(&queue);
        Some(StatementKind::Drain {
            local,
            queue,
            body: block,
        })
    }

    fn local_of_event(&self, name: &ast::Name) -> bool {
        let word = self.words.iter().rev().find(|word| word.name == name.text);
        word.is_some_and(|word| {
            matches!(self.flow.messages.get(&word.local), Some(Holding::Gone(_)))
        })
    }

    /// A loop may write any field, and change the length of any message, in any turn.
    fn enter_loop(&mut self) -> Flow {
        let locals: Vec<LocalId> = self.assignable.clone();
        self.forget_fields(&locals);
        let messages: Vec<LocalId> = self.flow.messages.keys().copied().collect();
        for message in messages {
            self.forget_length(message);
        }
        self.flow.clone()
    }

    /// What was owned outside of the loop is still owned behind it.
    fn leave_loop(&mut self, mut before: Flow, locals: usize, span: Span) {
        for (local, holding) in &mut before.messages {
            let gone = match (&*holding, self.flow.messages.get(local)) {
                (Holding::Owned, Some(Holding::Gone(gone) | Holding::Perhaps { gone, .. })) => {
                    *gone
                }
                _ => continue,
            };
            // Behind the loop nobody misses it.
            *holding = Holding::Unknown;
            let name = self.local_name(*local).to_string();
            let title = format!("`{name}` is used up in a loop that may run again");
            let refused = Diagnostic::error(Id::MessageGone, title, gone, "used up here");
            self.report(
                refused
                    .label(span.before(), "in this loop")
                    .why("A message is passed, held or dropped exactly once on every path.")
                    .help(format!(
                        "send `share {name}` or `{name}.piece(at, n)` in the loop, and `consume \
                        {name}` after it; to drop it, decide before the loop, with a `fn`"
                    )),
            );
        }
        for (instance, ended) in self.flow.ended.split_off(before.ended.len()) {
            if is_outside(instance, locals) {
                self.flow.ended.push((instance, ended));
                self.check_alive(instance, "what may end in every turn", ended);
            }
        }
        let after = std::mem::take(&mut self.flow);
        let facts = before.facts.into_iter();
        self.flow = Flow {
            unsure: before.unsure,
            facts: facts.filter(|fact| after.facts.contains(fact)).collect(),
            messages: before.messages,
            shared: after.shared,
            ended: after.ended,
            past: after.past,
            dead: before.dead,
        };
    }
}

/// Whether an instance was there before the loop introduced its locals.
fn is_outside(instance: Instance, locals: usize) -> bool {
    match instance {
        Instance::Local(local) => local.at() < locals,
        Instance::Own | Instance::Entity | Instance::Only(_) => true,
    }
}

/// The queue of `held.drain()`.
fn drained(elements: &ast::Expression) -> Option<&ast::Expression> {
    if let ast::ExpressionKind::Call {
        function,
        arguments,
    } = &elements.kind
        && arguments.is_empty()
        && let ast::ExpressionKind::Field { of, name } = &function.kind
        && name.is("drain")
    {
        return Some(of);
    }
    None
}
