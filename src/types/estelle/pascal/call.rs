//! Calls of functions and procedures, and their arguments.

use super::super::checker::{Checker, Within};
use super::super::program::{
    Argument, Expression, ExpressionKind, Predefined, RoutineId, TypeId, Variable,
};
use super::super::scope::Meaning;
use crate::diagnostic::{Diagnostic, Id};
use crate::source::Span;
use crate::syntax::estelle::ast::{self, Name};

/// Predefined routines of ISO 7185 that are left out: the id, and what to do.
const OMITTED: &[(&[&str], Id, &str)] = &[
    (
        &["new", "dispose"],
        Id::EstellePointer,
        "use an array and an index, or a type that C code defines",
    ),
    (
        &[
            "read", "readln", "write", "writeln", "get", "put", "reset", "rewrite", "page", "eof",
            "eoln", "input",
        ],
        Id::EstelleFiles,
        "send an interaction to the environment instead",
    ),
    (
        &["sin", "cos", "exp", "ln", "sqrt", "arctan"],
        Id::EstelleOmitted,
        "declare it as a `primitive` function, which C code defines",
    ),
    (
        &["pack", "unpack"],
        Id::EstelleOmitted,
        "copy the elements by a `for`",
    ),
];

impl Checker<'_> {
    /// Checks a call of a function.
    pub fn called(
        &mut self,
        name: &Name,
        arguments: &[ast::Expression],
        span: Span,
    ) -> Option<Expression> {
        if self.is_omitted(name) {
            return None;
        }
        match self.resolve(name, "a function")? {
            Meaning::Routine(id) => {
                let result = self.program.routines[id.index()].result;
                let Some(type_id) = result else {
                    let title = format!("the procedure `{}` has no value", name.text);
                    let id = Id::EstelleWrongMeaning;
                    let wrong = Diagnostic::error(id, title, name.span, "a procedure");
                    let wrong = wrong.why("An expression needs a value, so it calls functions.");
                    self.report(wrong.help("make it a function, or call it as a statement"));
                    return None;
                };
                let arguments = self.routine_arguments(id, name, arguments, span)?;
                Some(Expression {
                    kind: ExpressionKind::Call(id, arguments),
                    type_id,
                    span,
                })
            }
            Meaning::Predefined(function) => self.predefined(function, name, arguments, span),
            other => {
                self.wrong_meaning(name, &other, "a function");
                None
            }
        }
    }

    /// Reports a predefined routine that is left out, unless the specification declares the name.
    pub fn is_omitted(&mut self, name: &Name) -> bool {
        let key = name.key();
        let mut all = OMITTED.iter();
        let found = all.find(|(names, ..)| names.contains(&key.as_str()));
        let Some((_, id, advice)) = found.filter(|_| self.scopes.find(&key).is_none()) else {
            return false;
        };
        self.omitted(name, *id, advice);
        true
    }

    /// Checks the arguments of a call of a routine, and notes the call.
    pub fn routine_arguments(
        &mut self,
        id: RoutineId,
        name: &Name,
        arguments: &[ast::Expression],
        span: Span,
    ) -> Option<Vec<Argument>> {
        if let Some(caller) = self.here.routines.last() {
            let calls = &mut self.routines[caller.index()].calls;
            calls.entry(id).or_insert(name.span);
        }
        let routine = &self.program.routines[id.index()];
        let locals = &self.program.frames[routine.frame.index()];
        let parameters = locals[..routine.parameters.min(locals.len())].to_vec();
        let is_written = parameters.iter().any(|it| it.is_reference);
        if self.is_in_clause() && (!routine.is_pure || is_written) {
            self.clause_not_pure(id, name, is_written);
            return None;
        }
        if !self.counts_agree(name, &parameters, arguments, span) {
            return None;
        }
        let mut checked = Vec::new();
        for (parameter, argument) in parameters.iter().zip(arguments) {
            checked.push(match parameter.is_reference {
                true => {
                    let place = self.referenced_place(argument, parameter.kind);
                    place.map(Argument::Reference)
                }
                false => {
                    let value = self.value_for(argument, parameter.kind);
                    value.map(Argument::Value)
                }
            });
        }
        checked.into_iter().collect()
    }

    fn clause_not_pure(&mut self, id: RoutineId, name: &Name, is_written: bool) {
        let declared = self.routines[id.index()].name_span;
        let (title, help) = match is_written {
            true => (
                format!("a clause calls `{}`, which writes a variable", name.text),
                "give it value parameters only",
            ),
            false => (
                format!("a clause calls `{}`, which is not `pure`", name.text),
                "declare the function as `pure`",
            ),
        };
        let refused = Diagnostic::error(
            Id::EstelleClauseNotPure,
            title,
            name.span,
            "called in a clause",
        );
        let refused = refused.label(declared, "declared here");
        let refused = refused.why(
            "Clauses are evaluated in an open order and number, so they have no side effects.",
        );
        self.report(refused.help(help));
    }

    /// Checks the values for parameters of interactions and modules.
    pub fn arguments(
        &mut self,
        name: &Name,
        parameters: &[Variable],
        arguments: &[ast::Expression],
        span: Span,
    ) -> Option<Vec<Expression>> {
        if !self.counts_agree(name, parameters, arguments, span) {
            return None;
        }
        let pairs = arguments.iter().zip(parameters);
        let checked: Vec<_> = pairs
            .map(|(tree, it)| self.value_for(tree, it.kind))
            .collect();
        checked.into_iter().collect()
    }

    /// Reports a wrong number of arguments.
    fn counts_agree(
        &mut self,
        name: &Name,
        parameters: &[Variable],
        arguments: &[ast::Expression],
        span: Span,
    ) -> bool {
        if parameters.len() == arguments.len() {
            return true;
        }
        let count = |number: usize| match number {
            0 => "no arguments".to_string(),
            1 => "one argument".to_string(),
            _ => format!("{number} arguments"),
        };
        let (needs, has) = (count(parameters.len()), count(arguments.len()));
        let title = format!("`{}` takes {needs}, but this gives {has}", name.text);
        let mut wrong = Diagnostic::error(Id::EstelleArguments, title, span, has);
        if let Some(first) = parameters.first() {
            wrong = wrong.label(first.span, "its parameters begin here");
        }
        let names: Vec<_> = parameters
            .iter()
            .map(|it| format!("{}: {}", it.name, self.name_of(it.kind).replace('`', "")))
            .collect();
        let help = match names.is_empty() {
            true => format!("write `{}` alone", name.text),
            false => format!("its parameters are `{}`", names.join("; ")),
        };
        let wrong = wrong.why("There is one argument for each parameter, in their order.");
        self.report(wrong.help(help));
        for argument in arguments {
            self.expression(argument);
        }
        false
    }

    fn predefined(
        &mut self,
        function: Predefined,
        name: &Name,
        arguments: &[ast::Expression],
        span: Span,
    ) -> Option<Expression> {
        let [argument] = arguments else {
            let title = format!("`{}` takes one argument", name.text);
            let wrong = Diagnostic::error(Id::EstelleArguments, title, span, "not one argument");
            let wrong = wrong.why("A predefined function has one parameter.");
            self.report(wrong.help(format!("write `{}(…)`", name.text)));
            return None;
        };
        let argument = self.expression(argument)?;
        let host = self.host(argument.type_id);
        let is_integer = host == TypeId::INTEGER;
        let is_ordinal = self.range(host).is_some();
        let is_real = host == TypeId::REAL;
        let (is_right, wanted, type_id) = match function {
            Predefined::Ord => (is_ordinal, "a value of an ordinal type", TypeId::INTEGER),
            Predefined::Chr => (is_integer, "an integer", TypeId::CHAR),
            Predefined::Succ | Predefined::Pred => (is_ordinal, "a value of an ordinal type", host),
            Predefined::Abs | Predefined::Sqr => (is_integer || is_real, "a number", host),
            Predefined::Odd => (is_integer, "an integer", TypeId::BOOLEAN),
            Predefined::Trunc | Predefined::Round => {
                (is_real || is_integer, "a real number", TypeId::INTEGER)
            }
        };
        if !is_right {
            self.expected(&argument, wanted);
            return None;
        }
        let argument = match function {
            Predefined::Trunc | Predefined::Round => self.assigned(argument, TypeId::REAL)?,
            _ => argument,
        };
        let kind = ExpressionKind::Predefined(function, Box::new(argument));
        Some(Expression {
            kind,
            type_id,
            span,
        })
    }

    /// Checks a call of a procedure, as a statement.
    pub fn procedure(
        &mut self,
        name: &Name,
        arguments: &[ast::Expression],
        span: Span,
    ) -> Option<(RoutineId, Vec<Argument>)> {
        if self.is_omitted(name) {
            return None;
        }
        match self.resolve(name, "a procedure")? {
            Meaning::Routine(id) if self.program.routines[id.index()].result.is_none() => {
                let arguments = self.routine_arguments(id, name, arguments, span)?;
                Some((id, arguments))
            }
            Meaning::Routine(_) | Meaning::Predefined(_) => {
                let title = format!("`{}` is a function, not a procedure", name.text);
                let id = Id::EstelleWrongMeaning;
                let wrong = Diagnostic::error(id, title, name.span, "a function");
                let wrong = wrong.why("The value of a function is used in an expression.");
                self.report(wrong.help(format!("assign its value: `x := {}`", name.text)));
                None
            }
            other => {
                self.wrong_meaning(name, &other, "a procedure");
                None
            }
        }
    }

    /// Returns true if statements stand in a routine.
    pub fn is_in_routine(&self) -> bool {
        matches!(self.here.within, Within::Procedure | Within::Function)
    }
}
