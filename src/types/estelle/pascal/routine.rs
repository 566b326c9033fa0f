//! Functions and procedures, and the declarations of blocks.

use super::super::checker::{Checker, RoutineFacts, Within};
use super::super::program::{FrameId, Root, Routine, RoutineId, Type, TypeId, Variable};
use super::super::scope::{Meaning, Region};
use crate::diagnostic::{Diagnostic, Id};
use crate::source::Span;
use crate::syntax::estelle::ast::{self, Declaration, Name, RoutineBody};
use std::collections::BTreeMap;

impl Checker<'_> {
    /// Checks the declarations of a block: constants, types, variables and routines.
    pub fn block_declarations(&mut self, declarations: &[Declaration]) {
        let first = self.program.routines.len();
        for declaration in declarations {
            match declaration {
                Declaration::Constant(constant) => self.constant_declaration(constant),
                Declaration::Type(kind) => self.type_declaration(kind),
                Declaration::Variable(variables) => self.local_variables(variables),
                Declaration::Routine(routine) => self.routine(routine),
                // The grammar has none of these in a block.
                Declaration::States(_)
                | Declaration::StateSet(..)
                | Declaration::Channel(_)
                | Declaration::Header(_)
                | Declaration::Body(_)
                | Declaration::ModuleVariable(_)
                | Declaration::Points(_) => {}
            }
        }
        self.missing_blocks(first);
    }

    fn local_variables(&mut self, variables: &ast::Variables) {
        let kind = self.type_of(&variables.kind);
        for name in &variables.names {
            match (kind, self.here.frame) {
                (Some(kind), Some(frame)) => {
                    self.local(frame, name, kind, false);
                }
                _ => self.declare(name, Meaning::Refused),
            }
        }
    }

    /// Adds a local variable with a name.
    pub fn local(
        &mut self,
        frame: FrameId,
        name: &Name,
        kind: TypeId,
        is_reference: bool,
    ) -> usize {
        let at = self.add_local(
            frame,
            Variable {
                name: name.text.clone(),
                kind,
                is_reference,
                span: name.span,
            },
        );
        let meaning = Meaning::Variable {
            root: Root::Local(frame, at),
            kind,
            is_assignable: true,
        };
        self.declare(name, meaning);
        at
    }

    /// Reports routines, from a number on, whose block should follow a `forward`.
    pub fn missing_blocks(&mut self, first: usize) {
        for at in first..self.routines.len() {
            if self.routines[at].is_forward {
                self.routines[at].is_forward = false;
                let name = &self.program.routines[at].name;
                let title = format!("the block of `{name}` is missing");
                let span = self.routines[at].name_span;
                let missing = Diagnostic::error(Id::EstelleForward, title, span, "`forward`");
                let missing = missing.why("A `forward` announces a block that follows.");
                self.report(missing.help("write the block behind, or remove the declaration"));
            }
        }
    }

    /// Declares a routine, and checks its block.
    pub fn routine(&mut self, tree: &ast::Routine) {
        let known = match self.scopes.find_here(&tree.name.key()) {
            Some(Meaning::Routine(id)) if self.routines[id.index()].is_forward => Some(*id),
            _ => None,
        };
        let id = match known {
            Some(id) => {
                self.agrees_with_forward(id, tree);
                Some(id)
            }
            None => self.heading(tree),
        };
        let Some(id) = id else { return };
        match &tree.body {
            RoutineBody::Primitive => {}
            RoutineBody::Forward => {
                if known.is_some() {
                    self.name_taken(&tree.name, Some(self.routines[id.index()].name_span));
                }
                self.routines[id.index()].is_forward = true;
            }
            RoutineBody::Block(block) => self.routine_block(id, tree, block),
        }
    }

    /// Checks that the second heading of a `forward` routine repeats nothing.
    fn agrees_with_forward(&mut self, id: RoutineId, tree: &ast::Routine) {
        let facts = &mut self.routines[id.index()];
        facts.is_forward = matches!(tree.body, RoutineBody::Forward);
        let first = facts.name_span;
        let routine = &mut self.program.routines[id.index()];
        routine.is_pure |= tree.is_pure;
        let is_function = routine.result.is_some();
        let repeats = !tree.parameters.is_empty() || tree.result.is_some();
        if !repeats && tree.is_function == is_function {
            return;
        }
        let title = format!("the heading of `{}` is written twice", tree.name.text);
        let twice = Diagnostic::error(Id::EstelleForward, title, tree.name.span, "second heading");
        let twice = twice.label(first, "announced by `forward` here");
        let twice = twice.why("The heading in front of `forward` gives parameters and result.");
        let word = if is_function { "function" } else { "procedure" };
        self.report(twice.help(format!("write `{word} {};` only", tree.name.text)));
    }

    /// Declares the heading of a routine.
    fn heading(&mut self, tree: &ast::Routine) -> Option<RoutineId> {
        let frame = self.add_frame();
        let mut is_right = true;
        let mut count = 0;
        for parameters in &tree.parameters {
            let kind = self.type_of(&parameters.variables.kind);
            is_right &= kind.is_some();
            for name in &parameters.variables.names {
                let variable = Variable {
                    name: name.text.clone(),
                    kind: kind.unwrap_or(TypeId::INTEGER),
                    is_reference: parameters.is_reference,
                    span: name.span,
                };
                self.add_local(frame, variable);
                count += 1;
            }
        }
        let result = self.result_type(tree);
        if let Some(Some(kind)) = result {
            let variable = Variable {
                name: tree.name.text.clone(),
                kind,
                is_reference: false,
                span: tree.name.span,
            };
            self.add_local(frame, variable);
        }
        if !is_right || result.is_none() {
            self.declare(&tree.name, Meaning::Refused);
            return None;
        }
        let id = RoutineId(self.program.routines.len() as u32);
        self.program.routines.push(Routine {
            name: tree.name.text.clone(),
            body: self.here.body,
            is_pure: tree.is_pure,
            parameters: count,
            result: result.flatten(),
            frame,
            statements: None,
            span: tree.name.span,
        });
        self.routines.push(RoutineFacts {
            name_span: tree.name.span,
            calls: BTreeMap::new(),
            is_forward: false,
            has_result: false,
        });
        self.declare(&tree.name, Meaning::Routine(id));
        Some(id)
    }

    /// Checks the type of a result: none inside for a procedure, none for a mistake.
    fn result_type(&mut self, tree: &ast::Routine) -> Option<Option<TypeId>> {
        if !tree.is_function {
            return Some(None);
        }
        let Some(name) = &tree.result else {
            let title = format!(
                "the function `{}` has no type of its result",
                tree.name.text
            );
            let id = Id::EstelleFunctionResult;
            let wrong = Diagnostic::error(id, title, tree.name.span, "no type");
            let wrong = wrong.why("Only the block of a `forward` function leaves out the type.");
            self.report(wrong.help(format!("write `function {}(…): integer;`", tree.name.text)));
            return None;
        };
        let kind = self.named_type(name)?;
        match self.kind(kind) {
            Type::Array { .. } | Type::Record { .. } | Type::Set(_) => {
                let title = format!("a function does not return {}", self.name_of(kind));
                let id = Id::EstelleFunctionResult;
                let wrong = Diagnostic::error(id, title, name.span, "not a simple type");
                let wrong = wrong.why("The result of a function has an ordinal type or `real`.");
                self.report(wrong.help("use a procedure with a `var` parameter"));
                None
            }
            Type::Integer
            | Type::Real
            | Type::Boolean
            | Type::Char
            | Type::Enumeration { .. }
            | Type::Subrange { .. }
            | Type::External(_) => Some(Some(kind)),
        }
    }

    fn routine_block(&mut self, id: RoutineId, tree: &ast::Routine, block: &ast::Block) {
        let routine = &self.program.routines[id.index()];
        let (frame, is_pure) = (routine.frame, routine.is_pure);
        let is_function = routine.result.is_some();
        let parameters = self.program.frames[frame.index()][..routine.parameters].to_vec();
        let region = if is_pure { Region::Pure } else { Region::Open };
        let within = match is_pure || is_function || self.here.within == Within::Function {
            true => Within::Function,
            false => Within::Procedure,
        };
        let outer_frame = self.here.frame.replace(frame);
        let outer_controls = std::mem::take(&mut self.here.controls);
        self.here.routines.push(id);
        let statements = self.within(within, |checker| {
            checker.inside(region, |checker| {
                checker.declare_parameters(frame, &parameters);
                checker.block_declarations(&block.declarations);
                checker.statements(&block.statements)
            })
        });
        self.here.routines.pop();
        self.here.controls = outer_controls;
        self.here.frame = outer_frame;
        self.program.routines[id.index()].statements = Some(statements);
        if is_function && !self.routines[id.index()].has_result {
            self.no_result(&tree.name, block.span);
        }
    }

    /// Gives the parameters of a routine their names.
    fn declare_parameters(&mut self, frame: FrameId, parameters: &[Variable]) {
        for (at, parameter) in parameters.iter().enumerate() {
            let meaning = Meaning::Variable {
                root: Root::Local(frame, at),
                kind: parameter.kind,
                is_assignable: true,
            };
            let name = Name {
                text: parameter.name.clone(),
                span: parameter.span,
            };
            self.declare(&name, meaning);
        }
    }

    fn no_result(&mut self, name: &Name, block: Span) {
        let title = format!("the function `{}` never gets a result", name.text);
        let wrong = Diagnostic::error(Id::EstelleFunctionResult, title, name.span, "no result");
        let wrong = wrong.label(block, "its block assigns nothing to it");
        let wrong = wrong.why("A function returns the value that it assigns to its own name.");
        self.report(wrong.help(format!("write `{} := …` in the block", name.text)));
    }
}
