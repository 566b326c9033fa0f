//! Functions, procedures, and the blocks of routines and transitions.

use super::{Parsed, Parser, Reported};
use crate::diagnostic::{Diagnostic, Id};
use crate::syntax::estelle::ast::{
    Block, Declaration, Parameters, Routine, RoutineBody, TypeKind, Variables,
};

/// Words that begin a declaration in a block.
pub(super) const LOCAL: &[&str] = &[
    "const",
    "type",
    "var",
    "procedure",
    "function",
    "pure",
    "label",
];

impl Parser<'_> {
    /// Reads the declarations of a block.
    fn local_declarations(&mut self) -> Vec<Declaration> {
        let mut declarations = Vec::new();
        while self.is_at_any(LOCAL) {
            self.declaration(&mut declarations);
        }
        declarations
    }

    /// Reads declarations, and statements between `begin` and `end`.
    pub(super) fn block(&mut self, indent: u16) -> Parsed<Block> {
        self.lines.indentation += indent;
        let declarations = self.local_declarations();
        self.lines.indentation -= indent;
        let start = self.token().span;
        if !self.is_at("begin") {
            let help = match declarations.is_empty() {
                true => None,
                false => Some(
                    "these declarations belong to a block; those of a body stand in front of \
                     `initialize` and `trans`",
                ),
            };
            return Err(self.unexpected_with("`begin`", help.map(str::to_string)));
        }
        self.lines.begin(self.at);
        self.take();
        let statements = self.compound(start)?;
        let span = self.since(start);
        Ok(Block {
            declarations,
            statements,
            span,
        })
    }

    /// Reads a function or a procedure.
    pub(super) fn routine(&mut self) -> Parsed<Routine> {
        self.nested(Self::routine_inside)
    }

    fn routine_inside(&mut self) -> Parsed<Routine> {
        let is_pure = self.accept("pure");
        let is_function = self.is_at("function");
        if !is_function && !self.is_at("procedure") {
            return Err(self.unexpected("`function` or `procedure`"));
        }
        self.take();
        let name = self.name("the name of the routine")?;
        self.routines.insert(name.key());
        let parameters = match self.parameters() {
            Ok(parameters) => parameters,
            Err(Reported) => {
                self.skip_to(&[";", "begin", "end", "trans", "initialize"]);
                Vec::new()
            }
        };
        let result = match is_function && self.accept(":") {
            true => Some(self.name("the type of the result")?),
            false => None,
        };
        self.semicolon()?;
        let body = self.routine_body()?;
        self.semicolon()?;
        Ok(Routine {
            name,
            is_pure,
            is_function,
            parameters,
            result,
            body,
        })
    }

    fn routine_body(&mut self) -> Parsed<RoutineBody> {
        if self.accept("primitive") {
            return Ok(RoutineBody::Primitive);
        }
        let token = self.token();
        if token.text.eq_ignore_ascii_case("forward") && self.next().word == ";" {
            self.take();
            return Ok(RoutineBody::Forward);
        }
        if !self.is_at("begin") && !self.is_at_any(LOCAL) {
            return Err(self.unexpected("a block, `primitive` or `forward`"));
        }
        self.block(1).map(RoutineBody::Block)
    }

    /// Reads `(a, b: T; var c: U)`, or nothing.
    fn parameters(&mut self) -> Parsed<Vec<Parameters>> {
        let mut all = Vec::new();
        if !self.accept("(") {
            return Ok(all);
        }
        loop {
            if self.is_at_any(&["function", "procedure"]) {
                return Err(self.refuse_routine_parameter());
            }
            let is_reference = self.accept("var");
            let names = self.names("the name of a parameter")?;
            self.expect(":")?;
            let start = self.token();
            let kind = match start.word {
                "array" | "packed" => return Err(self.refuse_array_parameter()),
                _ => self.a_type()?,
            };
            if !matches!(kind.kind, TypeKind::Named(_)) {
                let title = "the type of a parameter has no name";
                let found = Diagnostic::error(Id::UnexpectedWord, title, kind.span, "no name")
                    .help("declare the type before: `type T = …`, and write its name here");
                self.report(found);
            }
            let variables = Variables { names, kind };
            all.push(Parameters {
                is_reference,
                variables,
            });
            if !self.accept(";") {
                self.expect(")")?;
                return Ok(all);
            }
        }
    }

    fn refuse_routine_parameter(&mut self) -> Reported {
        let token = self.token();
        let title = format!("a {} cannot be a parameter", token.word);
        let id = Id::EstelleProceduralParameter;
        let found = Diagnostic::error(id, title, token.span, "not available")
            .why("All calls are known before the start, so that no routine calls itself.")
            .help("pass a value of an enumeration, and call the routine that it stands for");
        self.report(found)
    }

    fn refuse_array_parameter(&mut self) -> Reported {
        let span = self.token().span;
        let title = "the type of a parameter is an array without a name";
        let id = Id::EstelleConformantArray;
        let found = Diagnostic::error(id, title, span, "not available")
            .why("Conformant arrays, whose bounds the call gives, belong to level 1 of ISO 7185.")
            .help("declare the type before: `type T = array […] of …`, and write its name here");
        self.report(found)
    }
}
