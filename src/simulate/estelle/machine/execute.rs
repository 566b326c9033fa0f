//! The statements of Pascal, and `all` and `forone`.

use super::evaluate::Bindings;
use super::{Machine, Slot};
use crate::simulate::estelle::choice::Source;
use crate::simulate::estelle::fault::{Fault, FaultKind, Faulty};
use crate::simulate::estelle::value::{Value, ordinal_text};
use crate::source::Span;
use crate::types::estelle::program::{Domain, Expression, Place, Statement, StatementKind};
use std::rc::Rc;

/// The parts of a `for` statement.
struct Counting<'p> {
    variable: &'p Place,
    from: &'p Expression,
    to: &'p Expression,
    is_down: bool,
    body: &'p [Statement],
}

/// The parts of a `forone` statement.
struct Choosing<'p> {
    domain: &'p Domain,
    condition: &'p Expression,
    body: &'p [Statement],
    otherwise: &'p [Statement],
}

impl<'p> Machine<'p, '_> {
    /// Executes statements in order.
    pub(super) fn run(&mut self, statements: &'p [Statement]) -> Faulty<()> {
        for statement in statements {
            self.spend(statement.span)?;
            self.sink(statement.span)?;
            self.execute(statement)?;
            self.rise();
        }
        Ok(())
    }

    fn execute(&mut self, statement: &'p Statement) -> Faulty<()> {
        let span = statement.span;
        match &statement.kind {
            StatementKind::Assign(place, value) => self.assign(place, value),
            StatementKind::Call(routine, arguments) => {
                self.call(*routine, arguments, span).map(|_| ())
            }
            StatementKind::If(condition, then, otherwise) => match self.holds(condition)? {
                true => self.run(then),
                false => self.run(otherwise),
            },
            StatementKind::Case(selector, cases) => self.case(selector, cases),
            StatementKind::While(condition, body) => self.repeat(Some(condition), body, None, span),
            StatementKind::Repeat(body, until) => self.repeat(None, body, Some(until), span),
            StatementKind::For {
                variable,
                from,
                to,
                is_down,
                body,
            } => self.count(&Counting {
                variable,
                from,
                to,
                is_down: *is_down,
                body,
            }),
            StatementKind::With(frame, local, record, body) => {
                let location = self.locate(record)?;
                self.bind(*frame, *local, Slot::Reference(location));
                self.run(body)
            }
            StatementKind::All(domain, body) => self.all(domain, body, span),
            StatementKind::ForOne {
                domain,
                condition,
                body,
                otherwise,
            } => self.for_one(&Choosing {
                domain,
                condition,
                body,
                otherwise,
            }),
            StatementKind::Init(..)
            | StatementKind::Release(_)
            | StatementKind::Terminate(_)
            | StatementKind::Connect(..)
            | StatementKind::DisconnectPoint(_)
            | StatementKind::DisconnectModule(_)
            | StatementKind::Attach(..)
            | StatementKind::DetachPoint(_)
            | StatementKind::DetachModule(_)
            | StatementKind::Output(..) => self.change_links(statement),
        }
    }

    /// The place is evaluated before the value. (our decision)
    fn assign(&mut self, place: &'p Place, value: &'p Expression) -> Faulty<()> {
        let location = self.locate(place)?;
        let fitting = self.evaluate(value)?;
        let fitting = self.fit(fitting, place.type_id, value.span)?;
        self.store(&location, fitting);
        Ok(())
    }

    fn case(
        &mut self,
        selector: &'p Expression,
        cases: &'p [(Vec<i64>, Vec<Statement>)],
    ) -> Faulty<()> {
        let number = self.ordinal(selector)?;
        match cases.iter().find(|(numbers, _)| numbers.contains(&number)) {
            Some((_, statements)) => self.run(statements),
            None => {
                let text = ordinal_text(self.fixed.program, selector.type_id, number);
                let says = format!("no case for {text}");
                Fault::err(FaultKind::NoCase, says, selector.span)
            }
        }
    }

    /// `while … do body`, or `repeat body until …`
    fn repeat(
        &mut self,
        condition: Option<&'p Expression>,
        body: &'p [Statement],
        until: Option<&'p Expression>,
        span: Span,
    ) -> Faulty<()> {
        let most = self.fixed.limits.loop_turns;
        for _ in 0..most {
            if let Some(condition) = condition
                && !self.holds(condition)?
            {
                return Ok(());
            }
            self.spend(span)?;
            self.run(body)?;
            if let Some(until) = until
                && self.holds(until)?
            {
                return Ok(());
            }
        }
        if let Some(condition) = condition
            && !self.holds(condition)?
        {
            return Ok(());
        }
        let says = format!("a loop takes more than {most} turns");
        Fault::err(FaultKind::LoopLimit, says, span)
    }

    /// Behind the loop its variable has no value, as ISO 7185 (6.8.3.9) has it.
    fn count(&mut self, counting: &Counting<'p>) -> Faulty<()> {
        let Counting {
            variable,
            from,
            to,
            is_down,
            body,
        } = counting;
        let (mut at, last) = (self.ordinal(from)?, self.ordinal(to)?);
        let location = self.locate(variable)?;
        let is_over = |at: i64| if *is_down { at < last } else { at > last };
        if is_over(at) {
            return Ok(());
        }
        self.in_range(last, variable.type_id, to.span)?;
        self.in_range(at, variable.type_id, from.span)?;
        while !is_over(at) {
            self.spend(variable.span)?;
            self.store(&location, Value::Ordinal(at));
            self.run(body)?;
            at += if *is_down { -1 } else { 1 };
        }
        self.store(&location, Value::Undefined);
        Ok(())
    }

    /// Modules that the statement itself releases are not visited any more. (our decision)
    fn all(&mut self, domain: &'p Domain, body: &'p [Statement], span: Span) -> Faulty<()> {
        let bindings = self.bindings(domain);
        for number in 0..bindings.count() {
            self.spend(span)?;
            if self.bind_names(domain, &bindings, number) {
                self.run(body)?;
            }
        }
        Ok(())
    }

    fn for_one(&mut self, choosing: &Choosing<'p>) -> Faulty<()> {
        let Choosing {
            domain,
            condition,
            body,
            otherwise,
        } = choosing;
        let bindings = self.bindings(domain);
        let mut count = 0;
        for number in 0..bindings.count() {
            count += u64::from(self.fits(domain, &bindings, number, condition)?);
        }
        if count == 0 {
            return self.run(otherwise);
        }
        let path = Rc::clone(&self.situation.instance(self.current()).path);
        let mut before = self.choices.choose(Source::Element, &path, count);
        for number in 0..bindings.count() {
            if self.fits(domain, &bindings, number, condition)? {
                if before == 0 {
                    return self.run(body);
                }
                before -= 1;
            }
        }
        Ok(())
    }

    /// Binds names in one way, and tells whether a condition holds then.
    fn fits(
        &mut self,
        domain: &'p Domain,
        bindings: &Bindings,
        number: u64,
        condition: &'p Expression,
    ) -> Faulty<bool> {
        self.spend(condition.span)?;
        self.bind_names(domain, bindings, number);
        self.holds(condition)
    }
}
