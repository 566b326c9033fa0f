//! Modules and interaction points that statements name.

use super::super::checker::{Checker, meant};
use super::super::program::{
    Expression, HeaderId, ModuleReference, PointReference, Points, ReferenceVariable, TypeId,
};
use super::super::scope::Meaning;
use crate::diagnostic::{Diagnostic, Id};
use crate::source::Span;
use crate::syntax::estelle::ast::{self, Name};

impl Checker<'_> {
    /// Checks a reference to a child module.
    pub fn module_reference(&mut self, tree: &ast::ModuleReference) -> Option<ModuleReference> {
        self.module_named(&tree.name, &tree.indices, tree.span)
    }

    /// Checks a reference to a child module by its name and indices.
    pub fn module_named(
        &mut self,
        name: &Name,
        indices: &[ast::Expression],
        span: Span,
    ) -> Option<ModuleReference> {
        match self.resolve(name, "a module variable")? {
            Meaning::ModuleVariable(at) => {
                let body = &self.program.bodies[self.here.body.index()];
                let variable = &body.module_variables[at];
                let header = variable.header;
                let types = variable.indices.clone();
                let indices = self.indices(name, &types, indices, span)?;
                Some(ModuleReference {
                    variable: ReferenceVariable::Variable(at, indices),
                    header,
                    span,
                })
            }
            Meaning::Child(frame, local, header) => {
                self.indices(name, &[], indices, span)?;
                Some(ModuleReference {
                    variable: ReferenceVariable::Bound(frame, local),
                    header,
                    span,
                })
            }
            other => {
                self.wrong_meaning(name, &other, "a module variable");
                None
            }
        }
    }

    /// Checks the indices of an array of points or of module variables.
    fn indices(
        &mut self,
        name: &Name,
        types: &[TypeId],
        trees: &[ast::Expression],
        span: Span,
    ) -> Option<Vec<Expression>> {
        if types.len() != trees.len() {
            let count = |number: usize| match number {
                0 => "no index".to_string(),
                1 => "one index".to_string(),
                _ => format!("{number} indices"),
            };
            let (needs, has) = (count(types.len()), count(trees.len()));
            let title = format!("`{}` needs {needs}, but this gives {has}", name.text);
            let wrong = Diagnostic::error(Id::EstelleArguments, title, span, has);
            let wrong = wrong.why("A statement names one element of an array.");
            let names: Vec<_> = types.iter().map(|it| self.name_of(*it)).collect();
            let help = match names.is_empty() {
                true => format!("write `{}` alone", name.text),
                false => format!("give one index of each of the types {}", names.join(", ")),
            };
            self.report(wrong.help(help));
            return None;
        }
        let pairs = trees.iter().zip(types);
        let checked: Vec<_> = pairs
            .map(|(tree, kind)| self.value_for(tree, *kind))
            .collect();
        checked.into_iter().collect()
    }

    /// Checks a reference to an interaction point of this module or of a child.
    pub fn point_reference(&mut self, tree: &ast::PointReference) -> Option<PointReference> {
        let Some(module) = &tree.module else {
            return self.own_point(&tree.name, &tree.indices, tree.span);
        };
        let module = self.module_reference(module)?;
        let points = self.point_of_header(module.header, &tree.name)?;
        let header = &self.program.headers[module.header.index()];
        let types = header.points[points].indices.clone();
        let indices = self.indices(&tree.name, &types, &tree.indices, tree.span)?;
        Some(PointReference {
            module: Some(module),
            points,
            indices,
            span: tree.span,
        })
    }

    /// Checks a reference to an interaction point of this module.
    pub fn own_point(
        &mut self,
        name: &Name,
        indices: &[ast::Expression],
        span: Span,
    ) -> Option<PointReference> {
        let points = match self.resolve(name, "an interaction point")? {
            Meaning::Points(points) => points,
            other => {
                self.wrong_meaning(name, &other, "an interaction point");
                return None;
            }
        };
        let body = &self.program.bodies[self.here.body.index()];
        let types = body.points[points].indices.clone();
        let indices = self.indices(name, &types, indices, span)?;
        Some(PointReference {
            module: None,
            points,
            indices,
            span,
        })
    }

    fn point_of_header(&mut self, header: HeaderId, name: &Name) -> Option<usize> {
        let header = &self.program.headers[header.index()];
        let points = &header.points;
        let position = points
            .iter()
            .position(|point| point.name.eq_ignore_ascii_case(&name.text));
        if position.is_none() {
            let near = self.near(name, points.iter().map(|it| it.name.as_str()));
            let title = format!(
                "the module `{}` has no external interaction point `{}`",
                header.name, name.text
            );
            let help = meant(near, format!("declare it in the header `{}`", header.name));
            let id = Id::EstelleUnknownName;
            let unknown = Diagnostic::error(id, title, name.span, "unknown interaction point");
            let unknown = unknown.why("A parent names the points of the header of a child.");
            self.report(unknown.help(help));
        }
        position
    }

    /// Returns the declaration of the points of a reference.
    pub fn points(&self, reference: &PointReference) -> &Points {
        match &reference.module {
            Some(module) => &self.program.headers[module.header.index()].points[reference.points],
            None => &self.program.bodies[self.here.body.index()].points[reference.points],
        }
    }

    /// Returns true if a point is an external one of this module.
    pub fn is_own_external(&self, reference: &PointReference) -> bool {
        let header = self.own_header();
        let externals = header.map_or(0, |it| self.program.headers[it.index()].points.len());
        reference.module.is_none() && reference.points < externals
    }
}
