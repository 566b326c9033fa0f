//! Statements: blocks, tests, loops and assignments.
//!
//! `else` takes the place of the rest of its block. So each block collects what is known at the
//! ends of its `else`s, and joins it with what is known at its own end.

use super::super::expression::{Binary, Expression, ExpressionKind, Instance, Variable};
use super::super::program::{EnumId, LocalId, Role};
use super::super::statement::{
    Block, Dropped, Likely, Operation, Output, Statement, StatementKind,
};
use super::super::value::{Type, Value};
use super::access::Meaning;
use super::flow::{Flow, Holding, Way};
use super::operator::{Operand, checked_operator, is_literal};
use super::words::{Body, Place, listed, make};
use crate::diagnostic::{Diagnostic, Id};
use crate::source::Span;
use crate::syntax::loom::ast;

/// What is known at the end of an `else`, and the ways that part there.
pub(super) struct Exit {
    flow: Flow,
    failed: Way,
    went_on: Way,
}

/// How often the body of a `for` runs at most, where nothing else is said.
const TURNS: u64 = 4096;

/// How often, in percent.
pub(super) fn percent(likely: Option<&ast::Likely>) -> Likely {
    likely.map(|likely| f64::from(likely.millionths) / 10_000.0)
}

impl Body<'_, '_> {
    /// Statements one after the other; what they introduce ends with them.
    pub fn block(&mut self, source: &ast::Block) -> Block {
        let words = self.words.len();
        let mut exits = Vec::new();
        let mut block = Vec::new();
        for statement in &source.statements {
            if let Some(kind) = self.statement(statement, &mut exits) {
                let span = statement.span;
                block.push(Statement { kind, span });
            }
        }
        for exit in exits {
            let flow = std::mem::take(&mut self.flow);
            self.flow = flow.join(&exit.went_on, exit.flow, &exit.failed);
        }
        let introduced = self.words[words..].iter().map(|word| word.local);
        let introduced: Vec<LocalId> = introduced.collect();
        let end = Span {
            start: source.span.end.saturating_sub(1).max(source.span.start),
            ..source.span
        };
        self.check_gone(introduced.into_iter(), end);
        self.leave_words(words);
        block
    }

    /// What takes the place of the rest of the block, from what is known when it does.
    pub fn exit(
        &mut self,
        otherwise: &ast::Block,
        failing: Flow,
        ways: (Way, Way),
        exits: &mut Vec<Exit>,
    ) -> Block {
        let success = std::mem::replace(&mut self.flow, failing);
        let block = self.block(otherwise);
        let flow = std::mem::replace(&mut self.flow, success);
        let (failed, went_on) = ways;
        exits.push(Exit {
            flow,
            failed,
            went_on,
        });
        block
    }

    /// The two ways that part at a test.
    pub fn ways(&self, condition: Span) -> (Way, Way) {
        let text = self.text(condition);
        let short = text.len() <= 48 && !text.contains('\n');
        let way = |shown: String, long: &str| Way {
            span: condition,
            text: if short { shown } else { long.to_string() },
        };
        (
            way(format!("when `{text}`"), "when this holds"),
            way(format!("unless `{text}`"), "unless this holds"),
        )
    }

    fn statement(
        &mut self,
        source: &ast::Statement,
        exits: &mut Vec<Exit>,
    ) -> Option<StatementKind> {
        let span = source.span;
        match &source.kind {
            ast::StatementKind::Let {
                name,
                value,
                otherwise,
            } => self.let_statement(name, value, otherwise.as_ref(), span, exits),
            ast::StatementKind::Require {
                condition,
                likely,
                otherwise,
            } => self.require(condition, likely.as_ref(), otherwise, exits),
            ast::StatementKind::Assign {
                place,
                operator,
                value,
            } => self.assign(place, *operator, value, span),
            ast::StatementKind::Call { call, otherwise } => {
                self.call_statement(call, otherwise.as_ref(), span, exits)
            }
            ast::StatementKind::If {
                branches,
                otherwise,
            } => Some(self.if_statement(branches, otherwise.as_ref())),
            ast::StatementKind::Match {
                subject,
                cases,
                otherwise,
            } => self.match_statement(subject, cases, otherwise.as_ref(), span),
            ast::StatementKind::For { name, over, body } => self.for_statement(name, over, body),
            ast::StatementKind::Return(value) => self.return_statement(value, span),
            ast::StatementKind::Yield(value) => self.yield_statement(value, span),
            ast::StatementKind::Emit { .. }
            | ast::StatementKind::Await(_)
            | ast::StatementKind::Run { .. }
            | ast::StatementKind::Every { .. }
            | ast::StatementKind::Loop(_)
            | ast::StatementKind::Repeat { .. }
            | ast::StatementKind::Trap { .. }
            | ast::StatementKind::Exit(_) => {
                self.not_yet("what belongs to processes", span);
                None
            }
            _ if !matches!(self.place, Place::Handler(_)) => {
                let title = "this is done by handlers alone";
                let label = "changes what is outside";
                let refused = Diagnostic::error(Id::NotHere, title, span, label);
                self.report(refused.why("Functions and filters compute, and nothing else."));
                None
            }
            ast::StatementKind::Send(output) => self.send(output, span),
            ast::StatementKind::Deliver(output) => self.deliver(output, span),
            ast::StatementKind::Tell {
                target,
                event,
                arguments,
                with,
            } => self.tell(target, event, arguments, with, span),
            ast::StatementKind::Drop { what, reason } => self.drop_statement(what, reason, span),
            ast::StatementKind::Consume(name) => {
                let message = self.owned_message(name)?;
                self.give_away(message, span);
                Some(StatementKind::Consume(message))
            }
            ast::StatementKind::Count(name) => {
                let count = self.context.count(self.scope.entity, &name.text);
                Some(StatementKind::Count(count))
            }
            ast::StatementKind::Again => Some(StatementKind::Output(Output::Again)),
            ast::StatementKind::End(name) => self.end_statement(name.as_ref(), span),
            ast::StatementKind::Start { timer, after } => {
                let after = self.expect(after, &Type::Time);
                let (instance, kind, timer) = self.timer(timer)?;
                Some(StatementKind::StartTimer(instance, kind, timer, after))
            }
            ast::StatementKind::Stop(timer) => {
                let (instance, kind, timer) = self.timer(timer)?;
                Some(StatementKind::StopTimer(instance, kind, timer))
            }
        }
    }

    fn require(
        &mut self,
        condition: &ast::Expression,
        likely: Option<&ast::Likely>,
        otherwise: &ast::Block,
        exits: &mut Vec<Exit>,
    ) -> Option<StatementKind> {
        let (holds, fails) = self.ways(condition.span);
        let condition = self.condition(condition);
        let before = self.flow.clone();
        self.assume(&condition, false);
        let failing = std::mem::replace(&mut self.flow, before);
        self.assume(&condition, true);
        let otherwise = self.exit(otherwise, failing, (fails, holds), exits);
        Some(StatementKind::Require {
            condition,
            likely: percent(likely),
            otherwise,
        })
    }

    fn if_statement(
        &mut self,
        branches: &[ast::IfBranch],
        otherwise: Option<&ast::Block>,
    ) -> StatementKind {
        let (first, rest) = branches.split_first().expect("an `if` has a branch");
        let (holds, fails) = self.ways(first.condition.span);
        let condition = self.condition(&first.condition);
        let before = self.flow.clone();
        self.assume(&condition, true);
        let then = self.block(&first.body);
        let then_flow = std::mem::replace(&mut self.flow, before);
        self.assume(&condition, false);
        let otherwise = match (rest.first(), otherwise) {
            (Some(next), _) => vec![Statement {
                kind: self.if_statement(rest, otherwise),
                span: next.span,
            }],
            (None, Some(block)) => self.block(block),
            (None, None) => Block::new(),
        };
        let else_flow = std::mem::take(&mut self.flow);
        self.flow = then_flow.join(&holds, else_flow, &fails);
        StatementKind::If {
            condition,
            likely: percent(first.likely.as_ref()),
            then,
            otherwise,
        }
    }

    fn match_statement(
        &mut self,
        subject: &ast::Expression,
        cases: &[ast::MatchCase],
        otherwise: Option<&ast::Block>,
        span: Span,
    ) -> Option<StatementKind> {
        let value = self.check(subject, None);
        match value.result {
            Type::Nothing => return None,
            Type::Enum(_) | Type::Unsigned(_) => {}
            _ => {
                let title = format!("{} cannot be matched", self.describe(&value.result));
                let label = "an enum or a number is expected";
                self.report(Diagnostic::error(
                    Id::TypeMismatch,
                    title,
                    subject.span,
                    label,
                ));
                return None;
            }
        }
        let before = self.flow.clone();
        let mut ends: Vec<(Flow, Way)> = Vec::new();
        let mut blocks = Vec::new();
        let mut other = None;
        for case in cases {
            self.flow = before.clone();
            let constant = self.case_value(case, &value);
            let block = self.block(&case.body);
            let way = Way {
                span: case.value.span,
                text: "in this case".to_string(),
            };
            ends.push((std::mem::take(&mut self.flow), way));
            match constant {
                CaseValue::Number(constant) => {
                    blocks.push((constant, percent(case.likely.as_ref()), block));
                }
                CaseValue::Other => other = Some(block),
                CaseValue::Unknown => {}
            }
        }
        self.refuse_repeated(cases, &blocks);
        self.flow = before;
        if let Some(block) = otherwise {
            other = Some(self.block(block));
            let way = Way {
                span: block.span,
                text: "in all other cases".to_string(),
            };
            ends.push((std::mem::take(&mut self.flow), way));
        }
        let mut ends = ends.into_iter();
        if let Some((mut flow, mut way)) = ends.next() {
            for (next, next_way) in ends {
                flow = flow.join(&way, next, &next_way);
                way = next_way;
            }
            self.flow = flow;
        }
        let known: Vec<u64> = blocks.iter().map(|(value, ..)| *value).collect();
        let otherwise = match other {
            Some(other) => other,
            None => {
                self.check_all_cases(&value.result, &known, subject, span)?;
                without_last(&mut blocks)
            }
        };
        Some(StatementKind::Match {
            value,
            cases: blocks,
            otherwise,
        })
    }

    fn case_value(&mut self, case: &ast::MatchCase, value: &Expression) -> CaseValue {
        if let (Type::Enum(id), ast::ExpressionKind::Name(name)) = (&value.result, &case.value.kind)
            && self.context.program.enums[id.at()].other.as_deref() == Some(&name.text)
        {
            return CaseValue::Other;
        }
        let constant = self.expect(&case.value, &value.result);
        match &*constant.kind {
            _ if constant.result == Type::Nothing => CaseValue::Unknown,
            ExpressionKind::Constant(Value::Number(found)) => {
                let found = *found;
                let kind = ExpressionKind::Binary(Binary::Equal, value.clone(), constant);
                let equal = make(kind, Type::Bool);
                self.assume(&equal, true);
                CaseValue::Number(found)
            }
            _ => {
                let title = "a case is a constant";
                let refused =
                    Diagnostic::error(Id::NotConstant, title, case.value.span, "not a constant");
                self.report(refused.help("compare with `if` instead"));
                CaseValue::Unknown
            }
        }
    }

    fn refuse_repeated(&mut self, cases: &[ast::MatchCase], blocks: &[(u64, Likely, Block)]) {
        if blocks.len() != cases.len() {
            return;
        }
        for (at, (value, ..)) in blocks.iter().enumerate() {
            if let Some(first) = blocks[..at].iter().position(|(other, ..)| other == value) {
                let title = "this case stands here already";
                let span = cases[at].value.span;
                let refused = Diagnostic::error(Id::WrittenTwice, title, span, "never taken");
                self.report(refused.label(cases[first].value.span, "this one is"));
            }
        }
    }

    fn check_all_cases(
        &mut self,
        of: &Type,
        known: &[u64],
        subject: &ast::Expression,
        span: Span,
    ) -> Option<()> {
        let missing = match of {
            Type::Enum(id) => self.missing_names(*id, known),
            _ => vec!["all other numbers".to_string()],
        };
        if missing.is_empty() {
            return Some(());
        }
        let missing: Vec<&str> = missing.iter().map(String::as_str).collect();
        let text = self.text(subject.span);
        let label = match of {
            Type::Enum(_) => format!("it may be {}", listed(&missing)),
            _ => "it may be another number".to_string(),
        };
        let title = format!("not all that `{text}` can be has a case");
        let refused = Diagnostic::error(Id::MissingCase, title, subject.span, label);
        self.report(
            refused
                .label(span.before(), "in this `match`")
                .help("add the cases, or `else { … }` behind the last"),
        );
        None
    }

    fn missing_names(&self, id: EnumId, known: &[u64]) -> Vec<String> {
        let definition = &self.context.program.enums[id.at()];
        let names = definition.names.iter();
        let names = names.filter(|(_, value)| !known.contains(value));
        let names = names.map(|(name, _)| name.clone());
        names.chain(definition.other.clone()).collect()
    }

    fn for_statement(
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
            let title = format!("a `for` does not count in {}", self.describe(&kind));
            let label = "numbers are expected";
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
                _ if self.scope.alone => TURNS,
                _ => return self.refuse_unbounded(span),
            },
        };
        let clamped = match turns {
            Some(turns) if turns <= at_most => None,
            _ => Some(self.context.count(self.scope.entity, "clamped")),
        };
        let before = self.enter_loop();
        let words = self.words.len();
        let local = self.declare(name, kind);
        let read = self.read_local(local);
        for (operator, bound) in [(Binary::AtLeast, &from), (Binary::Less, &to)] {
            let kind = ExpressionKind::Binary(operator, read.clone(), bound.clone());
            self.flow.facts.push(make(kind, Type::Bool));
        }
        let block = self.block(body);
        self.words.truncate(words);
        self.leave_loop(before, body.span);
        Some(StatementKind::For {
            local,
            from,
            to,
            at_most: at_most as u32,
            clamped,
            body: block,
        })
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
        match *most.kind {
            ExpressionKind::Constant(Value::Number(most)) => Some(most),
            _ if self.scope.alone => Some(TURNS),
            _ => {
                let title = "what a loop runs at most is fixed before the stack starts";
                self.report(Diagnostic::error(
                    Id::NotConstant,
                    title,
                    span,
                    "not a constant",
                ));
                None
            }
        }
    }

    fn refuse_unbounded(&mut self, span: Span) -> Option<StatementKind> {
        let title = "nobody knows how often this runs";
        let label = format!("perhaps more than {TURNS} times");
        let refused = Diagnostic::error(Id::UnboundedLoop, title, span, label);
        let text = self.text(span);
        self.report(
            refused
                .why("Each instant ends, and its cost has a bound.")
                .help(format!("say how often at most: `{text} at most 64`")),
        );
        None
    }

    fn for_elements(
        &mut self,
        name: &ast::Name,
        elements: &ast::Expression,
        body: &ast::Block,
    ) -> Option<StatementKind> {
        let queue = match &elements.kind {
            ast::ExpressionKind::Call {
                function,
                arguments,
            } if arguments.is_empty() => match &function.kind {
                ast::ExpressionKind::Field { of, name } if name.is("drain") => Some(of),
                _ => None,
            },
            _ => None,
        };
        let value = queue.map(|queue| self.check(queue, None));
        let Some((Type::Queue(element, _), ExpressionKind::Read(queue))) =
            value.map(|value| (value.result, *value.kind))
        else {
            let title = "a `for` runs over numbers, or over what a queue held";
            let label = "neither of them";
            let refused = Diagnostic::error(Id::TypeMismatch, title, elements.span, label);
            self.report(refused.help("write `for i in 0..n`, or `for message in held.drain()`"));
            return None;
        };
        let before = self.enter_loop();
        let words = self.words.len();
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
        self.words.truncate(words);
        self.leave_loop(before, body.span);
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

    /// A loop may write any field, in any turn.
    fn enter_loop(&mut self) -> Flow {
        let locals: Vec<LocalId> = self.assignable.clone();
        self.forget_fields(&locals);
        self.flow.clone()
    }

    /// What was owned outside of the loop is still owned behind it.
    fn leave_loop(&mut self, before: Flow, span: Span) {
        for (local, holding) in &before.messages {
            let gone = match (holding, self.flow.messages.get(local)) {
                (Holding::Owned, Some(Holding::Gone(gone) | Holding::Perhaps { gone, .. })) => {
                    *gone
                }
                _ => continue,
            };
            let name = self.local_name(*local).to_string();
            let title = format!("`{name}` can go only once, and this may run again");
            let refused = Diagnostic::error(Id::MessageGone, title, gone, "it goes here");
            self.report(
                refused
                    .label(span.before(), "in this loop")
                    .why("A message is passed, held or dropped exactly once on every path.")
                    .help(format!("pass on `share {name}`, or `{name}.piece(at, n)`")),
            );
        }
        let after = std::mem::take(&mut self.flow);
        let facts = before.facts.into_iter();
        self.flow = Flow {
            facts: facts.filter(|fact| after.facts.contains(fact)).collect(),
            messages: before.messages,
            shared: after.shared,
            dead: before.dead,
        };
    }

    fn assign(
        &mut self,
        place: &ast::Expression,
        operator: Option<ast::BinaryOperator>,
        value: &ast::Expression,
        span: Span,
    ) -> Option<StatementKind> {
        let target = match self.meaning(place, None) {
            Some(Meaning::Data(message)) if operator.is_none() => {
                return self.assign_data(message, value, span);
            }
            Some(Meaning::Value(target)) => target,
            Some(Meaning::Unknown) => {
                self.check(value, None);
                return None;
            }
            Some(_) | None => return self.refuse_assignment(place, "is no place for a value"),
        };
        let ExpressionKind::Read(variable) = &*target.kind else {
            let why = match &*target.kind {
                ExpressionKind::Key(..) => "is a key: what an instance is found by never changes",
                ExpressionKind::Header(..) | ExpressionKind::Peeked(..) => {
                    "came in, and never changes; outgoing fields stand behind `with`"
                }
                ExpressionKind::Attribute(..) => {
                    "travels with the message; it is set behind `with`"
                }
                ExpressionKind::Constant(_) | ExpressionKind::Config(_) => {
                    "is a parameter or a constant"
                }
                _ if target.result == Type::Nothing => return None,
                _ => "is computed",
            };
            return self.refuse_assignment(place, why);
        };
        let variable = variable.clone();
        if let Some(why) = self.unassignable(&variable, &target.result) {
            return self.refuse_assignment(place, why);
        }
        let kind = target.result.clone();
        let value = match operator {
            None => self.expect(value, &kind),
            Some(operator) => self.combined_value(target.clone(), place, operator, value, span),
        };
        self.forget(&variable);
        if value.result != Type::Nothing && operator.is_none() {
            self.assume_value(target, &value);
        }
        Some(match variable {
            Variable::Local(local) => StatementKind::Let(local, value),
            variable => StatementKind::Assign(variable, value),
        })
    }

    /// `next += 1`: computed in the type of the place.
    fn combined_value(
        &mut self,
        target: Expression,
        place: &ast::Expression,
        operator: ast::BinaryOperator,
        source: &ast::Expression,
        span: Span,
    ) -> Expression {
        let kind = target.result.clone();
        let left = Operand {
            value: self.settle(target),
            literal: false,
            span: place.span,
        };
        let operator = checked_operator(operator);
        let shift = matches!(operator, Binary::ShiftLeft | Binary::ShiftRight);
        let hint = matches!(kind, Type::Unsigned(_) | Type::Signed(_)).then_some(&kind);
        let mut right = self.operand(source, hint.filter(|_| !shift));
        if !shift && let Some(kind) = hint {
            right.value = self.coerce(right.value, kind, right.span);
        }
        right.literal = is_literal(source);
        let value = self.operate(operator, left, right, hint, span);
        self.coerce(value, &kind, span)
    }

    fn unassignable(&self, variable: &Variable, of: &Type) -> Option<&'static str> {
        match of {
            Type::Queue(..) | Type::Window(..) | Type::Stream(..) | Type::Set(_) => {
                return Some("holds things, and is changed by its operations");
            }
            _ => {}
        }
        match variable {
            Variable::Local(local) if self.assignable.contains(local) => None,
            Variable::Local(_) => match self.place {
                Place::Handler(_) => Some("is a name for a value; what changes is a field"),
                _ => Some("does not change"),
            },
            Variable::Field(..) => match self.place {
                Place::Handler(_) => None,
                _ => Some("is written by handlers alone"),
            },
            Variable::Element(inner, _) | Variable::Part(inner, ..) => {
                self.unassignable(inner, &Type::Nothing)
            }
        }
    }

    fn refuse_assignment(&mut self, place: &ast::Expression, why: &str) -> Option<StatementKind> {
        let text = self.text(place.span);
        let title = format!("`{text}` cannot be assigned to");
        let label = format!("`{text}` {why}");
        self.report(Diagnostic::error(
            Id::NotAssignable,
            title,
            place.span,
            label,
        ));
        None
    }

    /// `message.data = message.data through xor_stream(key)`
    fn assign_data(
        &mut self,
        message: LocalId,
        value: &ast::Expression,
        span: Span,
    ) -> Option<StatementKind> {
        let ast::ExpressionKind::Through { data, filter } = &value.kind else {
            let title = "the data of a message is rewritten by a filter";
            let refused = Diagnostic::error(Id::TypeMismatch, title, value.span, "no filter");
            self.report(refused.help("write `message.data = message.data through …`"));
            return None;
        };
        let (source, filter, arguments) = self.filtered(data, filter)?;
        self.check_owned(message, span, "rewritten");
        if source != message {
            self.not_yet("data of one message as that of another", data.span);
            return None;
        }
        if !self.context.program.filters[filter.at()].rewrites {
            let name = self.context.program.filters[filter.at()].name.clone();
            let title = format!("`{name}` only reads");
            let refused =
                Diagnostic::error(Id::TypeMismatch, title, value.span, "rewrites nothing");
            self.report(refused.help("keep its result: `let sum = message.data through …`"));
            return None;
        }
        if let Some(shared) = self.flow.shared.get(&message) {
            let title = "data with two owners is read-only";
            let refused = Diagnostic::error(Id::MessageGone, title, span, "rewritten here");
            self.report(refused.label(*shared, "shared here"));
        }
        self.forget_length(message);
        Some(StatementKind::Do(Operation::Rewrite(
            message, filter, arguments,
        )))
    }

    fn drop_statement(
        &mut self,
        what: &ast::Expression,
        reason: &ast::Name,
        span: Span,
    ) -> Option<StatementKind> {
        let dropped = match self.meaning(what, None) {
            Some(Meaning::Message(message)) => {
                self.give_away(message, span);
                Some(Dropped::Message(message))
            }
            Some(Meaning::Value(value)) => match (*value.kind, value.result) {
                (ExpressionKind::Read(place), Type::Queue(element, _))
                    if *element == Type::Message =>
                {
                    self.forget(&place);
                    Some(Dropped::Container(place))
                }
                (ExpressionKind::Read(place), Type::Window(..) | Type::Stream(..)) => {
                    self.forget(&place);
                    Some(Dropped::Container(place))
                }
                _ => None,
            },
            Some(Meaning::Unknown) => return None,
            _ => None,
        };
        let Some(dropped) = dropped else {
            let title = "only messages, and what holds them, are dropped";
            let label = "not a message";
            self.report(Diagnostic::error(Id::TypeMismatch, title, what.span, label));
            return None;
        };
        let reason = self.context.reason(self.scope.entity, &reason.text);
        Some(StatementKind::Drop(dropped, reason))
    }

    /// The message of this name.
    pub fn owned_message(&mut self, name: &ast::Name) -> Option<LocalId> {
        let source = ast::Expression {
            kind: ast::ExpressionKind::Name(name.clone()),
            span: name.span,
        };
        match self.meaning(&source, None)? {
            Meaning::Message(message) => Some(message),
            Meaning::Unknown => None,
            _ => {
                let title = format!("`{name}` is no message");
                let label = "a message is expected";
                self.report(Diagnostic::error(Id::TypeMismatch, title, name.span, label));
                None
            }
        }
    }

    fn end_statement(&mut self, name: Option<&ast::Name>, span: Span) -> Option<StatementKind> {
        let (instance, kind) = match name {
            None => (Instance::Own, self.scope.kind),
            Some(name) => {
                let local = self.local(&name.text);
                match local.map(|local| (local, self.local_kind(local).clone())) {
                    Some((local, Type::Instance(kind))) => (Instance::Local(local), kind),
                    Some((_, Type::Nothing)) => return None,
                    _ => {
                        self.unknown("instance called", name, &[]);
                        return None;
                    }
                }
            }
        };
        if self.context.program.kinds[kind.at()].role == Role::Record {
            let title = "an entity lives as long as its stack";
            let refused = Diagnostic::error(Id::NotHere, title, span, "cannot end");
            self.report(refused.why("Children and sessions end; a layer does not."));
            return None;
        }
        Some(StatementKind::End(instance, kind))
    }

    fn return_statement(&mut self, value: &ast::Expression, span: Span) -> Option<StatementKind> {
        if self.place != Place::Function {
            let title = "there is no `return` here";
            let refused = Diagnostic::error(Id::NotHere, title, span, "not in a function");
            self.report(refused.help(
                "a handler reads straight down: `require … else {}` leaves out the rest of its \
                 block",
            ));
            return None;
        }
        let result = self.result.clone();
        let value = self.expect(value, &result);
        self.flow.dead = true;
        Some(StatementKind::Return(value))
    }

    fn yield_statement(&mut self, value: &ast::Expression, span: Span) -> Option<StatementKind> {
        if self.place != Place::Filter || self.result == Type::Nothing {
            let title = "there is no `yield` here";
            let label = "not in a filter that rewrites";
            self.report(Diagnostic::error(Id::NotHere, title, span, label));
            return None;
        }
        let result = self.result.clone();
        Some(StatementKind::Yield(self.expect(value, &result)))
    }
}

enum CaseValue {
    Number(u64),
    Other,
    Unknown,
}

/// Where every value has a case, the last needs no test; what it says of its share, the others
/// are given to match.
fn without_last(blocks: &mut Vec<(u64, Likely, Block)>) -> Block {
    let Some((_, likely, block)) = blocks.pop() else {
        return Block::new();
    };
    if let Some(likely) = likely {
        let said: f64 = blocks.iter().filter_map(|(_, likely, _)| *likely).sum();
        let silent = blocks.iter().filter(|(_, likely, _)| likely.is_none());
        let share = (100.0 - likely - said).max(0.0) / silent.count().max(1) as f64;
        for (_, likely, _) in blocks {
            likely.get_or_insert(share);
        }
    }
    block
}
