//! `all`, `forone` and `exist`: names that take all values of a type, or refer to all children.

use super::super::checker::{Checker, ELEMENTS};
use super::super::program::{Domain, HeaderId, Root, StatementKind, TypeId, Variable};
use super::super::scope::{Meaning, Region};
use crate::diagnostic::{Diagnostic, Id};
use crate::source::Span;
use crate::syntax::estelle::ast::{self, Name, TypeKind};

impl Checker<'_> {
    /// Checks a domain, and gives its names their meanings in the current level.
    pub fn domain(&mut self, trees: &[ast::Variables]) -> Option<Domain> {
        if let [only] = trees
            && let Some((name, header)) = self.header_of(only)
        {
            return self.children(only, &name, header);
        }
        let frame = self.here.frame?;
        let mut locals = Vec::new();
        let mut is_right = true;
        let mut count = 1_u64;
        for tree in trees {
            let Some(kind) = self.ordinal_type(&tree.kind) else {
                is_right = false;
                for name in &tree.names {
                    self.declare(name, Meaning::Refused);
                }
                continue;
            };
            for name in &tree.names {
                count = count.saturating_mul(self.size_of(kind));
                let at = self.bound(name, kind);
                locals.extend(at.map(|at| (at, kind)));
            }
        }
        if count > ELEMENTS {
            let span = trees.first().map(|it| it.kind.span);
            self.too_many_values(span?, count);
            return None;
        }
        is_right.then_some(Domain::Ordinals(frame, locals))
    }

    fn too_many_values(&mut self, span: Span, count: u64) {
        let title = "this goes through too many values";
        let label = match count {
            u64::MAX => "too many to count".to_string(),
            _ => format!("{count} values"),
        };
        let large = Diagnostic::error(Id::EstelleTooLarge, title, span, label);
        let large = large.why(format!(
            "The names take at most {ELEMENTS} values together."
        ));
        self.report(large.help("use a smaller subrange"));
    }

    /// Adds a local that keeps its value, with its name.
    pub fn bound(&mut self, name: &Name, kind: TypeId) -> Option<usize> {
        let frame = self.here.frame?;
        let variable = Variable {
            name: name.text.clone(),
            kind,
            is_reference: false,
            span: name.span,
        };
        let at = self.add_local(frame, variable);
        self.bind(name, at, kind);
        Some(at)
    }

    /// Gives a local that keeps its value its name.
    pub fn bind(&mut self, name: &Name, at: usize, kind: TypeId) {
        let Some(frame) = self.here.frame else { return };
        let meaning = Meaning::Variable {
            root: Root::Local(frame, at),
            kind,
            is_assignable: false,
        };
        self.declare(name, meaning);
    }

    /// Returns the header that a domain names in place of a type.
    fn header_of(&self, tree: &ast::Variables) -> Option<(Name, HeaderId)> {
        let TypeKind::Named(name) = &tree.kind.kind else {
            return None;
        };
        match self.scopes.find(&name.key())?.meaning {
            Meaning::Header(header) => Some((name.clone(), header)),
            _ => None,
        }
    }

    /// S26: a name that refers to each child with a header.
    fn children(
        &mut self,
        tree: &ast::Variables,
        header_name: &Name,
        header: HeaderId,
    ) -> Option<Domain> {
        let body = &self.program.bodies[self.here.body.index()];
        let mut variables = body.module_variables.iter();
        let has_children = variables.any(|variable| variable.header == header);
        let is_pure = self.is_pure_here();
        let mut is_right = has_children && !is_pure && tree.names.len() == 1;
        if !is_right {
            self.no_children(tree, header_name, is_pure);
        }
        let frame = self.here.frame?;
        let mut domain = None;
        for name in &tree.names {
            let variable = Variable {
                name: name.text.clone(),
                kind: TypeId::INTEGER,
                is_reference: true,
                span: name.span,
            };
            let at = self.add_local(frame, variable);
            self.declare(name, Meaning::Child(frame, at, header));
            is_right &= domain.is_none();
            domain = Some(Domain::Children(frame, at, header));
        }
        domain.filter(|_| is_right)
    }

    fn no_children(&mut self, tree: &ast::Variables, header: &Name, is_pure: bool) {
        let name = &header.text;
        let (title, help) = if tree.names.len() > 1 {
            (
                "one name at a time goes through child modules".to_string(),
                format!(
                    "write `{}: {name}`, and a second statement inside",
                    tree.names[0].text
                ),
            )
        } else if is_pure {
            (
                "a function or a `pure` routine does not go through child modules".to_string(),
                "move this into the transition".to_string(),
            )
        } else {
            (
                format!("this module has no children with the header `{name}`"),
                format!("declare a module variable: `modvar m: {name}`"),
            )
        };
        let id = Id::EstelleChildren;
        let refused = Diagnostic::error(id, title, header.span, "no children");
        let refused = refused.why("A module reaches its own children only, by module variables.");
        self.report(refused.help(help));
    }

    /// Returns true if the place is in a `pure` routine.
    fn is_pure_here(&self) -> bool {
        let mut routines = self.here.routines.iter();
        routines.any(|it| self.program.routines[it.index()].is_pure)
    }

    /// Checks `all`.
    pub fn all(
        &mut self,
        domain: &[ast::Variables],
        body: &ast::Statement,
    ) -> Option<StatementKind> {
        let (domain, body) = self.inside(Region::Open, |checker| {
            (checker.domain(domain), checker.body_of(body))
        });
        Some(StatementKind::All(domain?, body))
    }

    /// Checks `forone`.
    pub fn for_one(
        &mut self,
        domain: &[ast::Variables],
        condition: &ast::Expression,
        body: &ast::Statement,
        otherwise: Option<&ast::Statement>,
    ) -> Option<StatementKind> {
        let (domain, condition, body) = self.inside(Region::Open, |checker| {
            let domain = checker.domain(domain);
            let condition = checker.such_that(condition);
            (domain, condition, checker.body_of(body))
        });
        let otherwise = otherwise.map(|otherwise| self.body_of(otherwise));
        Some(StatementKind::ForOne {
            domain: domain?,
            condition: condition?,
            body,
            otherwise: otherwise.unwrap_or_default(),
        })
    }
}
