//! `init`, `release` and `terminate`, and the statements that change the structure of modules.

use super::super::checker::{Checker, Within};
use super::super::program::{BodyId, HeaderId, ModuleReference, ReferenceVariable, StatementKind};
use super::super::scope::Meaning;
use super::attribute::is_system;
use crate::diagnostic::{Diagnostic, Id};
use crate::source::Span;
use crate::syntax::estelle::ast::{self, Name, StatementKind as Tree};

impl Checker<'_> {
    /// Checks a statement of Estelle.
    pub fn estelle_statement(&mut self, tree: &ast::Statement) -> Option<StatementKind> {
        let span = tree.span;
        match &tree.kind {
            Tree::Init(module, body, arguments) => self.init(module, body, arguments, span),
            Tree::Release(module) => {
                let module = self.ended(module, span)?;
                Some(StatementKind::Release(module))
            }
            Tree::Terminate(module) => {
                let module = self.ended(module, span)?;
                Some(StatementKind::Terminate(module))
            }
            Tree::Connect(one, other) => self.connect(one, other, span),
            Tree::Attach(own, inner) => self.attach(own, inner, span),
            Tree::Disconnect(point) => self.disconnect(point, span),
            Tree::Detach(point) => self.detach(point, span),
            Tree::Output(point, interaction, arguments) => {
                self.output(point, interaction, arguments, span)
            }
            Tree::All(domain, body) => self.all(domain, body),
            Tree::ForOne {
                domain,
                condition,
                body,
                otherwise,
            } => self.for_one(domain, condition, body, otherwise.as_deref()),
            // Statements of Pascal.
            Tree::Empty
            | Tree::Compound(_)
            | Tree::Assign(..)
            | Tree::Call(..)
            | Tree::If(..)
            | Tree::Case(..)
            | Tree::While(..)
            | Tree::Repeat(..)
            | Tree::For { .. }
            | Tree::With(..) => None,
        }
    }

    fn init(
        &mut self,
        module: &ast::ModuleReference,
        body: &Name,
        arguments: &[ast::Expression],
        span: Span,
    ) -> Option<StatementKind> {
        let module = self.module_reference(module);
        let found = self.body_named(body);
        let (module, found) = (module?, found?);
        if let ReferenceVariable::Bound(..) = module.variable {
            let title = "`init` needs a module variable";
            let id = Id::EstelleInitBody;
            let wrong = Diagnostic::error(id, title, module.span, "bound by a statement around");
            let wrong = wrong.why("`init` makes a module variable refer to the new module.");
            self.report(wrong.help("declare a module variable: `modvar m: …`"));
            return None;
        }
        self.static_structure(module.header, span);
        let header = self.program.bodies[found.index()].header;
        if header != Some(module.header) {
            self.wrong_body(&module, body, found);
            return None;
        }
        self.bodies[found.index()].is_initialised = true;
        let parameters = self.program.headers[module.header.index()]
            .parameters
            .clone();
        let checked = self.arguments(body, &parameters, arguments, span)?;
        Some(StatementKind::Init(module, found, checked))
    }

    fn body_named(&mut self, name: &Name) -> Option<BodyId> {
        match self.resolve(name, "a module body")? {
            Meaning::Body(body) => Some(body),
            other => {
                self.wrong_meaning(name, &other, "a module body");
                None
            }
        }
    }

    /// S21: the body of `init` belongs to the header of the module variable.
    fn wrong_body(&mut self, module: &ModuleReference, name: &Name, body: BodyId) {
        let needs = &self.program.headers[module.header.index()].name;
        let has = self.program.bodies[body.index()].header;
        let has = has.map_or("", |it| &self.program.headers[it.index()].name);
        let title = format!("the body `{}` is for `{has}`, not for `{needs}`", name.text);
        let id = Id::EstelleInitBody;
        let label = format!("a body for `{has}`");
        let bodies = self.program.bodies.iter();
        let mut fitting = bodies.filter(|it| it.header == Some(module.header));
        let help = match fitting.next() {
            Some(body) => format!("write a body for `{needs}`, such as `{}`", body.name),
            None => format!("declare a body for `{needs}`"),
        };
        let wrong = Diagnostic::error(id, title, name.span, label);
        let wrong = wrong.label(module.span, format!("refers to modules of `{needs}`"));
        let wrong = wrong.why("The header of a module variable says which bodies fit.");
        self.report(wrong.help(help));
    }

    fn ended(&mut self, tree: &ast::ModuleReference, span: Span) -> Option<ModuleReference> {
        let module = self.module_reference(tree)?;
        self.static_structure(module.header, span);
        Some(module)
    }

    /// S7: the structure of systems, and of modules without an attribute, changes in `initialize`
    /// only.
    pub fn static_structure(&mut self, header: HeaderId, span: Span) {
        let attribute = self.program.headers[header.index()].attribute;
        let is_static = attribute.is_none_or(is_system);
        if !is_static || self.here.within == Within::Initialize {
            return;
        }
        let name = &self.program.headers[header.index()].name;
        let what = match attribute {
            Some(_) => "a system",
            None => "a module without an attribute",
        };
        let title = format!("a transition changes the structure of `{name}`, {what}");
        let id = Id::EstelleDynamicSystem;
        let refused = Diagnostic::error(id, title, span, "not in a transition");
        let refused = refused.why("The structure of systems is fixed after `initialize`.");
        self.report(refused.help("move the statement into `initialize`"));
    }
}
