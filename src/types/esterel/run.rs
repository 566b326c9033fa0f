//! `run M`: a copy of another module, with signals of the place where it stands.

use super::interface::basic;
use super::operator::is_sign;
use super::scope::Scope;
use super::{Checker, Expression, ExpressionKind};
use crate::diagnostic::{Diagnostic, Id};
use crate::source::Span;
use crate::syntax::esterel::ast::{
    self, Actual, Declaration, Direction, Name, RenamingKind, SignalDeclaration,
};
use crate::types::process::{Role, SignalId, Statement, StatementId};

/// How many statements all copies together may have.
const MOST_STATEMENTS: usize = 100_000;

/// How many copies may stand in each other.
const MOST_COPIES_DEEP: usize = 100;

impl Checker<'_> {
    pub(super) fn run(
        &mut self,
        name: &Name,
        renamings: &[ast::Renaming],
        span: Span,
        scope: &Scope,
    ) -> StatementId {
        let file = self.file;
        let found = file.modules.iter().find(|one| one.name.text == name.text);
        let Some(module) = found else {
            let all: Vec<&str> = file
                .modules
                .iter()
                .map(|one| one.name.text.as_str())
                .collect();
            self.unknown("module", name, all);
            return self.add(Statement::Nothing, span);
        };
        if self.running.contains(&name.text) {
            let title = format!("`{}` runs itself", name.text);
            let refused = Diagnostic::error(Id::RecursiveFunction, title, name.span, "again");
            self.report(refused.why("The compiler replaces each `run` with a copy of the module."));
            return self.add(Statement::Nothing, span);
        }
        if let Some(title) = self.too_much() {
            self.report(Diagnostic::error(Id::NestedTooDeeply, title, span, "here"));
            return self.add(Statement::Nothing, span);
        }
        let mut inner = Scope {
            level: scope.level,
            ..Scope::default()
        };
        self.renamed_twice(renamings);
        self.renamed(module, renamings, scope, &mut inner);
        self.names_of_c(module, &mut inner);
        self.bind(module, renamings, name, scope, &mut inner);
        self.running.push(name.text.clone());
        let body = self.statement(&module.body, &inner);
        self.running.pop();
        body
    }

    /// Why there can be no further copy.
    fn too_much(&self) -> Option<String> {
        if self.running.len() > MOST_COPIES_DEEP {
            return Some(format!(
                "modules run each other more than {MOST_COPIES_DEEP} deep"
            ));
        }
        let statements = self.module.processes.statements.len();
        let more = format!("the copies of all modules have more than {MOST_STATEMENTS} statements");
        (statements > MOST_STATEMENTS).then_some(more)
    }

    /// What types, constants, functions and procedures of a copy stand for.
    fn renamed(
        &mut self,
        module: &ast::Module,
        renamings: &[ast::Renaming],
        scope: &Scope,
        inner: &mut Scope,
    ) {
        for renaming in renamings {
            let formal = &renaming.formal;
            if renaming.kind != RenamingKind::Signal && !declares(module, renaming) {
                let module = &module.name.text;
                let title = format!("`{module}` declares no such name `{}`", formal.text);
                let refused = Diagnostic::error(Id::UnknownName, title, formal.span, "unknown");
                self.report(refused);
                continue;
            }
            let actual = match &renaming.actual {
                Actual::Name(name) => name,
                Actual::Value(value) => {
                    self.constant_of(module, formal, value, scope, inner);
                    continue;
                }
            };
            let (what, known, names) = match renaming.kind {
                RenamingKind::Type => ("type", &scope.types, &mut inner.types),
                RenamingKind::Function => ("function", &scope.functions, &mut inner.functions),
                RenamingKind::Procedure => ("procedure", &scope.procedures, &mut inner.procedures),
                RenamingKind::Signal | RenamingKind::Constant | RenamingKind::Task => continue,
            };
            let own = known.get(&actual.text).unwrap_or(&actual.text).clone();
            names.insert(formal.text.clone(), own);
            let is_known = known.contains_key(&actual.text)
                || renaming.kind == RenamingKind::Type && basic(&actual.text).is_some()
                || is_sign(&actual.text);
            if !is_known {
                self.unknown(what, actual, known.keys().map(String::as_str));
            }
        }
    }

    fn constant_of(
        &mut self,
        module: &ast::Module,
        formal: &Name,
        value: &ast::Expression,
        scope: &Scope,
        inner: &mut Scope,
    ) {
        let kind = module
            .declarations
            .iter()
            .find_map(|declaration| match declaration {
                Declaration::Constant { name, kind, .. } if name.text == formal.text => Some(kind),
                _ => None,
            });
        let Some(kind) = kind else { return };
        let Some(kind) = self.kind(kind, inner) else {
            return;
        };
        let Some(value) = self.expression_of(value, kind, scope) else {
            return;
        };
        if !is_constant(&value) {
            let title = format!("`{}` is a constant", formal.text);
            let refused = Diagnostic::error(Id::NotConstant, title, formal.span, "a constant");
            self.report(refused);
            return;
        }
        inner.constants.insert(formal.text.clone(), value);
    }

    /// Which signals of the place those of a copy are.
    fn bind(
        &mut self,
        module: &ast::Module,
        renamings: &[ast::Renaming],
        run: &Name,
        scope: &Scope,
        inner: &mut Scope,
    ) {
        let signals = renamings
            .iter()
            .filter(|one| one.kind == RenamingKind::Signal);
        let signals: Vec<&ast::Renaming> = signals.collect();
        for renaming in &signals {
            let formal = &renaming.formal;
            if !interface(module).any(|(name, ..)| name.text == formal.text) {
                let title = format!("`{}` has no signal `{}`", module.name.text, formal.text);
                let refused = Diagnostic::error(Id::UnknownName, title, formal.span, "unknown");
                self.report(refused);
            }
        }
        for (formal, direction, kind) in interface(module) {
            let renaming = signals.iter().find(|one| one.formal.text == formal.text);
            let place = renaming.map_or(run.span, |one| one.formal.span);
            let named = match renaming.map(|one| &one.actual) {
                Some(Actual::Name(actual)) => actual,
                Some(Actual::Value(_)) | None => formal,
            };
            if scope.is_tick(named) {
                self.bind_tick(formal, direction, kind, place, inner);
                continue;
            }
            let actual = match renaming.map(|one| &one.actual) {
                Some(Actual::Name(actual)) => self.signal(actual, scope),
                Some(Actual::Value(_)) => None,
                None => self.by_its_name(formal, run, scope),
            };
            let Some(actual) = actual else {
                self.stands_for_unknown(formal, kind, inner);
                continue;
            };
            self.fits(formal, direction, kind, actual, place, inner);
            inner.signals.insert(formal.text.clone(), actual);
        }
    }

    /// Declares a signal in place of one that nobody knows, so that a mistake is told once.
    fn stands_for_unknown(&mut self, formal: &Name, kind: Option<&Name>, inner: &mut Scope) {
        let declared = SignalDeclaration {
            name: formal.clone(),
            initial: None,
            kind: kind.cloned(),
            combine: None,
        };
        self.declare(&declared, Role::Local, inner, &mut Vec::new());
    }

    /// A signal of a copy that is not named there: the one of this name.
    fn by_its_name(&mut self, formal: &Name, run: &Name, scope: &Scope) -> Option<SignalId> {
        let found = scope.signals.get(&formal.text).copied();
        if found.is_none() {
            let module = &run.text;
            let title = format!(
                "`{module}` has a signal `{}`, but there is no signal of this name here",
                formal.text
            );
            let refused = Diagnostic::error(Id::UnknownName, title, run.span, "not connected");
            let help = format!(
                "connect it to a signal S: `run {module} [signal S / {}]`",
                formal.text
            );
            self.report(refused.help(help));
        }
        found
    }

    /// Lets `tick` stand for a signal of a copy, which must be pure and only read.
    fn bind_tick(
        &mut self,
        formal: &Name,
        direction: Option<Direction>,
        kind: Option<&Name>,
        place: Span,
        inner: &mut Scope,
    ) {
        let reads = matches!(direction, Some(Direction::Input | Direction::Return));
        if reads && kind.is_none() {
            inner.ticks.insert(formal.text.clone());
            return;
        }
        let title = format!("`tick` cannot replace `{}`", formal.text);
        let label = "not an input without a value";
        self.report(Diagnostic::error(Id::TypeMismatch, title, place, label));
        self.stands_for_unknown(formal, kind, inner);
    }

    /// Whether a signal can stand for one of a copy.
    fn fits(
        &mut self,
        formal: &Name,
        direction: Option<Direction>,
        kind: Option<&Name>,
        actual: SignalId,
        place: Span,
        inner: &Scope,
    ) {
        let wanted = kind.and_then(|kind| self.kind(kind, inner));
        let channel = self.module.channels[actual.at()].as_ref();
        let has = channel.map(|channel| channel.kind);
        let name = self.module.processes.signal(actual).name.clone();
        if wanted != has {
            let title = format!(
                "`{name}` and `{}` carry values of different types",
                formal.text
            );
            self.report(Diagnostic::error(Id::TypeMismatch, title, place, "here"));
        }
        let emits = matches!(direction, Some(Direction::Output | Direction::InputOutput));
        if emits && self.module.processes.signal(actual).role == Role::Sensor {
            let title = format!(
                "`{name}` is a sensor, but the module emits `{}`",
                formal.text
            );
            self.report(Diagnostic::error(Id::NotAssignable, title, place, "here"));
        }
    }
}

/// The signals and sensors of a module; sensors have no direction.
fn interface(
    module: &ast::Module,
) -> impl Iterator<Item = (&Name, Option<Direction>, Option<&Name>)> {
    module
        .declarations
        .iter()
        .filter_map(|declaration| match declaration {
            Declaration::Signal(direction, signal) => {
                Some((&signal.name, Some(*direction), signal.kind.as_ref()))
            }
            Declaration::Sensor { name, kind } => Some((name, None, Some(kind))),
            _ => None,
        })
}

/// Whether a module declares what a renaming speaks of.
fn declares(module: &ast::Module, renaming: &ast::Renaming) -> bool {
    let formal = &renaming.formal.text;
    module
        .declarations
        .iter()
        .any(|declaration| match declaration {
            Declaration::Type(name) => renaming.kind == RenamingKind::Type && name.text == *formal,
            Declaration::Constant { name, .. } => {
                renaming.kind == RenamingKind::Constant && name.text == *formal
            }
            Declaration::Function { name, .. } => {
                renaming.kind == RenamingKind::Function && name.text == *formal
            }
            Declaration::Procedure { name, .. } => {
                renaming.kind == RenamingKind::Procedure && name.text == *formal
            }
            Declaration::Task(name) => renaming.kind == RenamingKind::Task && name.text == *formal,
            Declaration::Signal(..)
            | Declaration::Sensor { .. }
            | Declaration::Exclusive(_)
            | Declaration::Implies(..) => false,
        })
}

/// Whether nothing in it changes.
fn is_constant(expression: &Expression) -> bool {
    match &*expression.kind {
        ExpressionKind::Variable(_) | ExpressionKind::Value(_) | ExpressionKind::Before(_) => false,
        ExpressionKind::Boolean(_)
        | ExpressionKind::Integer(_)
        | ExpressionKind::Real(_)
        | ExpressionKind::Text(_)
        | ExpressionKind::Constant(_) => true,
        ExpressionKind::Call(..) | ExpressionKind::Unary(..) | ExpressionKind::Binary(..) => {
            expression.kind.operands().into_iter().all(is_constant)
        }
    }
}
