//! Statements: Pascal's here, those of Estelle in [`module`].
//!
//! [`module`]: super::super::module

use super::super::checker::{Checker, Within};
use super::super::program::{Place, Root, Statement, StatementKind, Type, Variable};
use super::super::scope::Meaning;
use super::place::same_variable;
use crate::diagnostic::{Diagnostic, Id};
use crate::source::Span;
use crate::syntax::estelle::ast::{self, ExpressionKind, Name, StatementKind as Tree};
use std::collections::BTreeSet;

/// The most records that are open at a place.
const RECORDS: usize = 100;

impl Checker<'_> {
    /// Checks a list of statements, and dissolves compound and empty ones.
    pub fn statements(&mut self, trees: &[ast::Statement]) -> Vec<Statement> {
        let mut statements = Vec::new();
        for tree in trees {
            self.statement(tree, &mut statements);
        }
        statements
    }

    /// Checks one statement as a list.
    pub fn body_of(&mut self, tree: &ast::Statement) -> Vec<Statement> {
        let mut statements = Vec::new();
        self.statement(tree, &mut statements);
        statements
    }

    fn statement(&mut self, tree: &ast::Statement, statements: &mut Vec<Statement>) {
        if let Tree::Compound(inner) = &tree.kind {
            inner.iter().for_each(|it| self.statement(it, statements));
            return;
        }
        let span = tree.span;
        if let Some(kind) = self.statement_kind(tree) {
            statements.push(Statement { kind, span });
        }
    }

    fn statement_kind(&mut self, tree: &ast::Statement) -> Option<StatementKind> {
        match &tree.kind {
            Tree::Empty | Tree::Compound(_) => None,
            Tree::Assign(target, value) => self.assignment(target, value),
            Tree::Call(name, arguments) => {
                let (id, arguments) = self.procedure(name, arguments, tree.span)?;
                Some(StatementKind::Call(id, arguments))
            }
            Tree::If(condition, yes, no) => {
                let condition = self.condition(condition);
                let yes = self.body_of(yes);
                let no = no.as_ref().map(|no| self.body_of(no));
                Some(StatementKind::If(condition?, yes, no.unwrap_or_default()))
            }
            Tree::Case(selector, cases) => self.case(selector, cases),
            Tree::While(condition, body) => {
                let condition = self.condition(condition);
                let body = self.body_of(body);
                Some(StatementKind::While(condition?, body))
            }
            Tree::Repeat(body, condition) => {
                let body = self.statements(body);
                let condition = self.condition(condition)?;
                Some(StatementKind::Repeat(body, condition))
            }
            Tree::For {
                variable,
                from,
                to,
                is_down,
                body,
            } => self.counted(variable, [from, to], *is_down, body),
            Tree::With(records, body) => self.with(records, body, tree.span),
            Tree::Init(..)
            | Tree::Release(_)
            | Tree::Terminate(_)
            | Tree::Connect(..)
            | Tree::Disconnect(_)
            | Tree::Attach(..)
            | Tree::Detach(_)
            | Tree::Output(..)
            | Tree::All(..)
            | Tree::ForOne { .. } => {
                let is_allowed = self.is_allowed_here(tree);
                let kind = self.estelle_statement(tree);
                kind.filter(|_| is_allowed)
            }
        }
    }

    fn assignment(
        &mut self,
        target: &ast::Expression,
        value: &ast::Expression,
    ) -> Option<StatementKind> {
        let place = match self.result_place(target) {
            Some(result) => result,
            None => self.written_place(target),
        };
        let value = self.expression(value);
        let place = place?;
        let value = self.assigned(value?, place.type_id)?;
        Some(StatementKind::Assign(place, value))
    }

    /// Returns the result of a function if its name is assigned. None if it is no function; none
    /// inside if it is one that has no result here.
    fn result_place(&mut self, target: &ast::Expression) -> Option<Option<Place>> {
        let ExpressionKind::Name(name) = &target.kind else {
            return None;
        };
        let Some(Meaning::Routine(id)) = self.scopes.find(&name.key()).map(|it| it.meaning) else {
            return None;
        };
        let routine = &self.program.routines[id.index()];
        let type_id = routine.result?;
        let (frame, result) = (routine.frame, routine.parameters);
        if !self.here.routines.contains(&id) {
            let title = format!("`{}` is a function, and this is outside of it", name.text);
            let id = Id::EstelleNotAssignable;
            let wrong = Diagnostic::error(id, title, name.span, "not assignable here");
            let wrong = wrong.why("Only the block of a function assigns its result.");
            self.report(wrong.help("use a variable of your own"));
            return Some(None);
        }
        self.routines[id.index()].has_result = true;
        Some(Some(Place {
            root: Root::Local(frame, result),
            steps: Vec::new(),
            type_id,
            span: name.span,
        }))
    }

    fn case(
        &mut self,
        selector: &ast::Expression,
        cases: &[(Vec<ast::Expression>, ast::Statement)],
    ) -> Option<StatementKind> {
        let selector = self.expression(selector);
        let kind = selector.as_ref().map(|selector| selector.type_id);
        let ordinal = kind.filter(|kind| self.range(*kind).is_some());
        if let Some(selector) = &selector
            && ordinal.is_none()
        {
            self.expected(selector, "a value of an ordinal type");
        }
        let mut seen = BTreeSet::new();
        let mut checked = Vec::new();
        for (labels, body) in cases {
            let values = ordinal.and_then(|kind| {
                let host = self.host(kind);
                self.labels(labels, host, &mut seen)
            });
            let body = self.body_of(body);
            checked.push(values.map(|values| (values, body)));
        }
        ordinal?;
        let checked = checked.into_iter().collect::<Option<_>>()?;
        Some(StatementKind::Case(selector?, checked))
    }

    fn counted(
        &mut self,
        name: &Name,
        [from, to]: [&ast::Expression; 2],
        is_down: bool,
        body: &ast::Statement,
    ) -> Option<StatementKind> {
        let variable = self.control_variable(name);
        // Bounds beyond the range of the variable do no harm if the loop is not executed.
        let host = variable.as_ref().map(|it| self.host(it.type_id));
        let bound = |checker: &mut Self, tree| match host {
            Some(host) => checker.value_for(tree, host),
            None => checker.expression(tree),
        };
        let from = bound(self, from);
        let to = bound(self, to);
        let root = variable.as_ref().map(|variable| variable.root.clone());
        let is_running = root.is_some();
        self.here.controls.extend(root);
        let body = self.body_of(body);
        if is_running {
            self.here.controls.pop();
        }
        Some(StatementKind::For {
            variable: variable?,
            from: from?,
            to: to?,
            is_down,
            body,
        })
    }

    /// Checks the control variable of a `for`.
    fn control_variable(&mut self, name: &Name) -> Option<Place> {
        let meaning = self.resolve(name, "a variable")?;
        let span = name.span;
        let Meaning::Variable {
            root,
            kind,
            is_assignable,
        } = meaning
        else {
            self.wrong_meaning(name, &meaning, "a variable");
            return None;
        };
        let is_own = match &root {
            Root::Local(frame, at) => {
                let locals = &self.program.frames[frame.index()];
                let is_reference = locals.get(*at).is_some_and(|it| it.is_reference);
                Some(*frame) == self.here.frame && is_assignable && !is_reference
            }
            Root::Module(_) => !self.is_in_routine(),
            Root::Exported(..) => false,
        };
        let is_ordinal = self.range(kind).is_some();
        let mut controls = self.here.controls.iter();
        let label = if !is_ordinal {
            format!("{} is not ordinal", self.name_of(kind))
        } else if controls.any(|control| same_variable(control, &root)) {
            "controls a `for` around already".to_string()
        } else if !is_own {
            "not a variable of this block".to_string()
        } else {
            return Some(Place {
                root,
                steps: Vec::new(),
                type_id: kind,
                span,
            });
        };
        let title = format!("`{}` cannot control this `for`", name.text);
        let wrong = Diagnostic::error(Id::EstelleForVariable, title, span, label);
        let wrong = wrong.why("Nothing else may change the control variable while the loop runs.");
        let help = format!(
            "declare `var {}: …` of an ordinal type in this block",
            name.text
        );
        self.report(wrong.help(help));
        None
    }

    fn with(
        &mut self,
        records: &[ast::Expression],
        body: &ast::Statement,
        span: Span,
    ) -> Option<StatementKind> {
        if self.here.records + records.len() > RECORDS {
            let title = "this opens too many records";
            let deep = Diagnostic::error(Id::NestedTooDeeply, title, span, "too deep");
            let deep = deep.why(format!(
                "`with` opens at most {RECORDS} records at a place."
            ));
            self.report(deep.help("name the records in front of their fields"));
            return None;
        }
        let outer = self.scopes.mark();
        let mut opened = Vec::new();
        for record in records {
            opened.push(self.with_record(record));
        }
        self.here.records += records.len();
        let mut inner = self.body_of(body);
        self.here.records -= records.len();
        self.scopes.leave(outer);
        let mut result = None;
        for reference in opened.into_iter().rev() {
            let (local, place) = reference?;
            let frame = self.here.frame?;
            if let Some(kind) = result.take() {
                inner = vec![Statement { kind, span }];
            }
            let statements = std::mem::take(&mut inner);
            result = Some(StatementKind::With(frame, local, place, statements));
        }
        result
    }

    /// Opens the level of the fields of a record, and adds the reference to it.
    fn with_record(&mut self, tree: &ast::Expression) -> Option<(usize, Place)> {
        let place = self.place(tree)?;
        if !matches!(self.kind(place.type_id), Type::Record { .. }) {
            let has = self.name_of(place.type_id);
            let title = format!("`with` needs a record, but this is {has}");
            let wrong = Diagnostic::error(Id::EstelleTypeMismatch, title, tree.span, has);
            let wrong = wrong.misfit().why("`with` opens the fields of a record.");
            self.report(wrong.help("name a record here"));
            return None;
        }
        let frame = self.here.frame?;
        let reference = Variable {
            name: "with".to_string(),
            kind: place.type_id,
            is_reference: true,
            span: tree.span,
        };
        let local = self.add_local(frame, reference);
        let fields = self.types[place.type_id.index()].fields.clone();
        let reference = (frame, local);
        self.scopes.open_record(reference, fields, tree.span);
        Some((local, place))
    }

    /// Reports an Estelle statement in a routine that must not have it.
    fn is_allowed_here(&mut self, tree: &ast::Statement) -> bool {
        let is_structure = !matches!(
            tree.kind,
            Tree::Output(..) | Tree::All(..) | Tree::ForOne { .. }
        );
        let (title, help) = match self.here.within {
            Within::Function => (
                "an Estelle statement stands in a function or in a `pure` routine",
                "move the statement into the transition, or into a procedure",
            ),
            Within::Procedure if is_structure => (
                "a procedure changes the structure of modules",
                "move the statement into the transition or into `initialize`",
            ),
            Within::Procedure
            | Within::Declarations
            | Within::Initialize
            | Within::Transition
            | Within::Clause => return true,
        };
        let id = Id::EstelleStatementInRoutine;
        let refused = Diagnostic::error(id, title, tree.span, "not in this routine");
        let refused = refused.why(
            "Functions only compute. Procedures may send interactions, but only transitions and \
             `initialize` change the structure of modules.",
        );
        self.report(refused.help(help));
        false
    }
}
