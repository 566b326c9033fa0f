//! Statements of Esterel -> statements of [`Processes`].

use super::scope::{Scope, Way};
use super::tick::tick;
use super::{Checker, Data, Expression, ExpressionKind, Type, Variable, VariableId};
use crate::diagnostic::{Diagnostic, Id};
use crate::source::Span;
use crate::syntax::esterel::ast::{
    self, Binary, Name, SignalDeclaration, StatementKind as Kind, VariableDeclaration,
};
use crate::types::process::{
    Count, DataId, Presence, Processes, Role, SignalId, Statement, StatementId,
};

impl Checker<'_> {
    pub(super) fn processes(&mut self) -> &mut Processes {
        &mut self.module.processes
    }

    pub(super) fn add(&mut self, statement: Statement, span: Span) -> StatementId {
        self.module.processes.add(statement, span)
    }

    pub(super) fn nothing(&mut self, span: Span) -> StatementId {
        self.add(Statement::Nothing, span)
    }

    /// A statement, and all in it.
    pub(super) fn statement(&mut self, written: &ast::Statement, scope: &Scope) -> StatementId {
        let span = written.span;
        match &*written.kind {
            Kind::Nothing => self.nothing(span),
            Kind::Pause => self.add(Statement::Pause, span),
            Kind::Halt => self.processes().halt(span),
            Kind::Emit(signal, value) => self.emit(signal, value.as_ref(), span, scope),
            Kind::Sustain(signal, value) => self.sustain(signal, value.as_ref(), span, scope),
            Kind::Present { cases, otherwise } => {
                self.present(cases, otherwise.as_ref(), span, scope)
            }
            Kind::If { cases, otherwise } => self.condition(cases, otherwise.as_ref(), span, scope),
            Kind::Sequence(all) => {
                let all = all.iter().map(|one| self.statement(one, scope)).collect();
                self.add(Statement::Sequence(all), span)
            }
            Kind::Parallel(branches) => self.parallel(branches, span, scope),
            Kind::Loop(body) => {
                let body = self.statement(body, scope);
                self.add(Statement::Loop(body), span)
            }
            Kind::LoopEach(body, delay) => self.loop_each(body, delay, span, scope),
            Kind::Every(delay, body) => self.every(delay, body, span, scope),
            Kind::Repeat {
                positive,
                count,
                body,
            } => self.repeat(*positive, count, body, span, scope),
            Kind::Await(cases) => self.wait(cases, span, scope),
            Kind::Abort { weak, body, cases } => self.abort(*weak, body, cases, span, scope),
            Kind::Upto(body, delay) => self.upto(body, delay, span, scope),
            Kind::Watching(body, case) => {
                self.abort(false, body, std::slice::from_ref(case), span, scope)
            }
            Kind::Suspend(body, delay) => {
                let test = self.presence(&delay.test, scope);
                let immediate = delay.immediate;
                let body = self.statement(body, scope);
                self.add(
                    Statement::Suspend {
                        test,
                        immediate,
                        body,
                    },
                    span,
                )
            }
            Kind::Trap {
                ways,
                body,
                handlers,
            } => self.trap(ways, body, handlers, span, scope),
            Kind::Exit(trap, value) => self.exit(trap, value.as_ref(), span, scope),
            Kind::Signal(signals, body) => self.local_signals(signals, body, span, scope),
            Kind::Variable(variables, body) => self.local_variables(variables, body, span, scope),
            Kind::Assign(name, value) => self.assign(name, value, span, scope),
            Kind::Call {
                procedure,
                references,
                values,
            } => self.call(procedure, references, values, span, scope),
            Kind::Run { module, renamings } => self.run(module, renamings, span, scope),
            Kind::Exec(task) => self.exec(task, span),
        }
    }

    /// A statement that may have been left out.
    pub(super) fn optional(
        &mut self,
        written: Option<&ast::Statement>,
        span: Span,
        scope: &Scope,
    ) -> StatementId {
        match written {
            Some(written) => self.statement(written, scope),
            None => self.nothing(span),
        }
    }

    // Signals.

    /// The value that goes with an emission or exit.
    fn value_of(
        &mut self,
        signal: SignalId,
        name: &Name,
        value: Option<&ast::Expression>,
        scope: &Scope,
    ) -> Option<DataId> {
        let kind = self.module.channels[signal.at()]
            .as_ref()
            .map(|one| one.kind);
        match (kind, value) {
            (None, None) => None,
            (Some(kind), Some(value)) => {
                let span = value.span;
                let value = self.expression_of(value, kind, scope)?;
                Some(self.data(Data::Value(value), span))
            }
            (None, Some(value)) => {
                let title = format!("`{}` carries no value", name.text);
                self.report(Diagnostic::error(
                    Id::NotAValue,
                    title,
                    value.span,
                    "the value",
                ));
                None
            }
            (Some(kind), None) => {
                let written = kind.name(&self.module.types).to_string();
                let title = format!("`{}` carries a value", name.text);
                let refused = Diagnostic::error(Id::NotAValue, title, name.span, "no value");
                self.report(
                    refused.help(format!("add a value of type `{written}` in parentheses")),
                );
                None
            }
        }
    }

    fn emit(
        &mut self,
        name: &Name,
        value: Option<&ast::Expression>,
        span: Span,
        scope: &Scope,
    ) -> StatementId {
        if scope.is_tick(name) {
            let title = format!("`{}` is always present, and cannot be emitted", name.text);
            let label = "emitted here";
            self.report(Diagnostic::error(
                Id::NotAssignable,
                title,
                name.span,
                label,
            ));
            return self.nothing(span);
        }
        let Some(signal) = self.signal(name, scope) else {
            return self.nothing(span);
        };
        match self.module.processes.signal(signal).role {
            // It is present inside, and nobody outside is told.
            Role::Input => {
                self.processes().signals[signal.at()].role = Role::InputEmitted;
            }
            Role::Sensor => {
                let title = format!("`{}` is a sensor, and cannot be emitted", name.text);
                let refused = Diagnostic::error(Id::NotAssignable, title, name.span, "a sensor");
                self.report(refused.help("emit an output or a local signal"));
                return self.nothing(span);
            }
            Role::InputEmitted
            | Role::InputOutput
            | Role::Output
            | Role::Local
            | Role::Exit
            | Role::Field
            | Role::Look => {}
        }
        let value = self.value_of(signal, name, value, scope);
        self.add(Statement::Emit(signal, value), span)
    }

    /// `sustain S(e)`: `loop emit S(e); pause end`.
    fn sustain(
        &mut self,
        name: &Name,
        value: Option<&ast::Expression>,
        span: Span,
        scope: &Scope,
    ) -> StatementId {
        let emit = self.emit(name, value, span, scope);
        let pause = self.add(Statement::Pause, span);
        let body = self.add(Statement::Sequence(vec![emit, pause]), span);
        self.add(Statement::Loop(body), span)
    }

    fn exec(&mut self, task: &Name, span: Span) -> StatementId {
        let title = format!(
            "`{}` is a task, and this compiler does not support tasks",
            task.text
        );
        self.report(Diagnostic::error(Id::NotYet, title, span, "a task"));
        self.nothing(span)
    }

    fn present(
        &mut self,
        cases: &[(ast::Presence, Span, Option<ast::Statement>)],
        otherwise: Option<&ast::Statement>,
        span: Span,
        scope: &Scope,
    ) -> StatementId {
        let mut rest = self.optional(otherwise, span, scope);
        for (test, place, then) in cases.iter().rev() {
            let test = self.presence(test, scope);
            let then = self.optional(then.as_ref(), span, scope);
            let present = Statement::Present {
                test,
                then,
                otherwise: rest,
            };
            rest = self.add(present, *place);
        }
        rest
    }

    /// What is asked of signals.
    pub(super) fn presence(&mut self, test: &ast::Presence, scope: &Scope) -> Presence {
        match test {
            ast::Presence::Now(name) => self
                .asked(name, scope)
                .map_or(Presence::Always, Presence::Now),
            ast::Presence::Before(name) if scope.is_tick(name) => {
                Presence::Before(tick(self, name.span))
            }
            ast::Presence::Before(name) => match self.asked(name, scope) {
                Some(signal) => {
                    self.processes().signals[signal.at()].previous = true;
                    Presence::Before(signal)
                }
                None => Presence::Always,
            },
            ast::Presence::Not(inner) => Presence::Not(Box::new(self.presence(inner, scope))),
            ast::Presence::And(one, other) => {
                let one = Box::new(self.presence(one, scope));
                Presence::And(one, Box::new(self.presence(other, scope)))
            }
            ast::Presence::Or(one, other) => {
                let one = Box::new(self.presence(one, scope));
                Presence::Or(one, Box::new(self.presence(other, scope)))
            }
        }
    }

    /// A signal whose status is asked; none for `tick`.
    fn asked(&mut self, name: &Name, scope: &Scope) -> Option<SignalId> {
        if scope.is_tick(name) {
            return None;
        }
        let signal = self.signal(name, scope)?;
        if self.module.processes.signal(signal).role == Role::Sensor {
            let title = format!(
                "`{}` is a sensor, which has a value but no presence",
                name.text
            );
            let refused = Diagnostic::error(Id::NotAValue, title, name.span, "a sensor");
            self.report(refused.help(format!("write `?{}` for its value", name.text)));
            return None;
        }
        Some(signal)
    }

    fn local_signals(
        &mut self,
        declared: &[SignalDeclaration],
        body: &ast::Statement,
        span: Span,
        scope: &Scope,
    ) -> StatementId {
        self.each_once("signal", declared.iter().map(|one| &one.name));
        let mut inner = scope.inside();
        let mut begin = Vec::new();
        // Values at the beginning are read outside of the scope.
        let mut outside = scope.inside();
        let signals: Vec<SignalId> = declared
            .iter()
            .map(|one| {
                let signal = self.declare(one, Role::Local, &mut outside, &mut begin);
                outside.signals.clone_from(&scope.signals);
                inner.signals.insert(one.name.text.clone(), signal);
                signal
            })
            .collect();
        let begin = self.begin(begin, span);
        let body = self.statement(body, &inner);
        let local = Statement::Local {
            signals,
            begin,
            body,
        };
        self.add(local, span)
    }

    // Traps.

    fn trap(
        &mut self,
        declared: &[SignalDeclaration],
        body: &ast::Statement,
        handlers: &[(ast::Presence, ast::Statement)],
        span: Span,
        scope: &Scope,
    ) -> StatementId {
        self.each_once("trap", declared.iter().map(|one| &one.name));
        let mut inner = scope.inside();
        let level = scope.level;
        inner.level += 1;
        let mut begin = Vec::new();
        let mut outside = scope.inside();
        let mut after = scope.inside();
        let mut ways = Vec::new();
        for one in declared {
            let signal = self.declare(one, Role::Exit, &mut outside, &mut begin);
            let way = Way { signal, level };
            inner.traps.insert(one.name.text.clone(), way);
            inner.exited.insert(one.name.text.clone(), way);
            after.exited.insert(one.name.text.clone(), way);
            ways.push((&one.name, signal));
        }
        let body = self.statement(body, &inner);
        let handlers = self.handlers(&ways, handlers, &after);
        let trap = Statement::Trap {
            level,
            handlers,
            body,
        };
        let trap = self.add(trap, span);
        match self.begin(begin, span) {
            Some(begin) => {
                let begin = self.add(Statement::Do(begin), span);
                self.add(Statement::Sequence(vec![begin, trap]), span)
            }
            None => trap,
        }
    }

    fn exit(
        &mut self,
        name: &Name,
        value: Option<&ast::Expression>,
        span: Span,
        scope: &Scope,
    ) -> StatementId {
        let Some(way) = scope.traps.get(&name.text).copied() else {
            let all = scope.traps.keys().map(String::as_str);
            self.unknown("trap", name, all.collect::<Vec<_>>());
            return self.nothing(span);
        };
        let value = self.value_of(way.signal, name, value, scope);
        let exit = Statement::Exit {
            level: way.level,
            way: way.signal,
            value,
        };
        self.add(exit, span)
    }

    // Values.

    fn condition(
        &mut self,
        cases: &[(ast::Expression, Option<ast::Statement>)],
        otherwise: Option<&ast::Statement>,
        span: Span,
        scope: &Scope,
    ) -> StatementId {
        let mut rest = self.optional(otherwise, span, scope);
        for (condition, then) in cases.iter().rev() {
            let written = condition.span;
            let condition = self.expression_of(condition, Type::Boolean, scope);
            let then = self.optional(then.as_ref(), span, scope);
            let Some(condition) = condition else { continue };
            rest = self.choice(condition, then, rest, written);
        }
        rest
    }

    pub(super) fn choice(
        &mut self,
        condition: Expression,
        then: StatementId,
        otherwise: StatementId,
        span: Span,
    ) -> StatementId {
        let condition = self.data(Data::Value(condition), span);
        let choice = Statement::If {
            condition,
            then,
            otherwise,
        };
        self.add(choice, span)
    }

    /// A variable that nobody can name.
    pub(super) fn counter(&mut self) -> VariableId {
        self.variable("count", Type::Integer)
    }

    fn variable(&mut self, name: &str, kind: Type) -> VariableId {
        self.module.variables.push(Variable {
            name: name.to_string(),
            kind,
        });
        VariableId(self.module.variables.len() as u32 - 1)
    }

    /// A count of so many.
    pub(super) fn count(&mut self, times: Expression, span: Span) -> Count {
        let counter = self.counter();
        let begin = self.data(Data::Assign(counter, times), span);
        let down = self.data(Data::Down(counter), span);
        let over = self.counted(Binary::AtMost, counter);
        let over = self.data(Data::Value(over), span);
        Count { begin, down, over }
    }

    /// How a count compares with zero.
    pub(super) fn counted(&self, operator: Binary, counter: VariableId) -> Expression {
        let counter = Expression::new(ExpressionKind::Variable(counter), Type::Integer);
        let zero = Expression::new(ExpressionKind::Integer(0), Type::Integer);
        let compared = ExpressionKind::Binary(operator, counter, zero);
        Expression::new(compared, Type::Boolean)
    }

    fn local_variables(
        &mut self,
        declared: &[VariableDeclaration],
        body: &ast::Statement,
        span: Span,
        scope: &Scope,
    ) -> StatementId {
        self.each_once("variable", declared.iter().map(|one| &one.name));
        let mut inner = scope.inside();
        let mut all = Vec::new();
        for one in declared {
            let Some(kind) = self.kind(&one.kind, scope) else {
                continue;
            };
            let variable = self.variable(&one.name.text, kind);
            if let Some(initial) = &one.initial {
                let written = initial.span;
                // Those before it can be read already.
                if let Some(initial) = self.expression_of(initial, kind, &inner) {
                    let data = self.data(Data::Assign(variable, initial), written);
                    all.push(self.add(Statement::Do(data), written));
                }
            }
            inner.variables.insert(one.name.text.clone(), variable);
        }
        all.push(self.statement(body, &inner));
        match all.len() {
            1 => all[0],
            _ => self.add(Statement::Sequence(all), span),
        }
    }

    /// A variable that is written.
    fn written(&mut self, name: &Name, scope: &Scope) -> Option<VariableId> {
        let found = scope.variables.get(&name.text).copied();
        if found.is_none() {
            let all: Vec<&str> = scope.variables.keys().map(String::as_str).collect();
            self.unknown("variable", name, all);
        }
        found
    }

    fn assign(
        &mut self,
        name: &Name,
        value: &ast::Expression,
        span: Span,
        scope: &Scope,
    ) -> StatementId {
        let Some(variable) = self.written(name, scope) else {
            return self.nothing(span);
        };
        let kind = self.module.variables[variable.at()].kind;
        let Some(value) = self.expression_of(value, kind, scope) else {
            return self.nothing(span);
        };
        let data = self.data(Data::Assign(variable, value), span);
        self.add(Statement::Do(data), span)
    }

    fn call(
        &mut self,
        name: &Name,
        references: &[Name],
        values: &[ast::Expression],
        span: Span,
        scope: &Scope,
    ) -> StatementId {
        let own = scope.procedures.get(&name.text);
        let found = own.and_then(|own| {
            let mut all = self.module.procedures.iter();
            all.position(|procedure| procedure.name == *own)
        });
        let Some(procedure) = found else {
            let all: Vec<&str> = scope.procedures.keys().map(String::as_str).collect();
            self.unknown("procedure", name, all);
            return self.nothing(span);
        };
        let table = self.module.procedures[procedure].clone();
        if references.len() != table.references.len() {
            self.wrong_number(name, references.len(), table.references.len());
            return self.nothing(span);
        }
        let mut variables = Vec::new();
        for (reference, kind) in references.iter().zip(&table.references) {
            let Some(variable) = self.written(reference, scope) else {
                return self.nothing(span);
            };
            if self.module.variables[variable.at()].kind != *kind {
                let wanted = kind.name(&self.module.types).to_string();
                let title = format!("`{}` is not of type `{wanted}`", reference.text);
                let refused = Diagnostic::error(Id::TypeMismatch, title, reference.span, "here");
                self.report(refused);
                return self.nothing(span);
            }
            variables.push(variable);
        }
        let Some(values) = self.arguments(name, values, &table.values, scope) else {
            return self.nothing(span);
        };
        let called = Data::Call {
            procedure: procedure as u32,
            references: variables,
            values,
        };
        let data = self.data(called, span);
        self.add(Statement::Do(data), span)
    }
}
