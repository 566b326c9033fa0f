//! The specification, module bodies and their declarations.
//!
//! In: the tree. Out: [`Program::bodies`]. The content of a nested body is checked after the body
//! around it, whose declarations it sees then.
//!
//! [`Program::bodies`]: super::super::program::Program::bodies

use super::super::checker::{BodyFacts, Checker, Queued, Within};
use super::super::program::{Body, BodyId, HeaderId, Root, Variable};
use super::super::scope::{Meaning, Region};
use crate::diagnostic::{Diagnostic, Id};
use crate::syntax::estelle::ast::{self, Declaration, Name, Specification, Timescale};

impl<'a> Checker<'a> {
    /// Checks a whole specification.
    pub fn specification(&mut self, tree: &'a Specification) {
        self.default_queue = tree.default_queue.map(|it| it.0);
        self.program.unit_ns = tree.timescale.map_or(1_000_000_000, |it| unit_ns(it.0));
        let root = self.add_body(&tree.name, None, None);
        self.program.bodies[root.index()].attribute = tree.attribute.map(|it| it.0);
        self.bodies[root.index()].is_initialised = true;
        self.queued
            .push_back((root, &tree.body, self.scopes.current()));
        while let Some(queued) = self.queued.pop_front() {
            self.content(queued);
        }
        self.active_bodies();
    }

    /// Adds a body without content.
    fn add_body(
        &mut self,
        name: &Name,
        header: Option<HeaderId>,
        parent: Option<BodyId>,
    ) -> BodyId {
        let id = BodyId(self.program.bodies.len() as u32);
        let attribute = header.and_then(|it| self.program.headers[it.index()].attribute);
        let points = header.map(|it| self.program.headers[it.index()].points.clone());
        self.program.bodies.push(Body {
            name: name.text.clone(),
            header,
            attribute,
            parent,
            is_external: false,
            states: Vec::new(),
            variables: Vec::new(),
            points: points.unwrap_or_default(),
            module_variables: Vec::new(),
            initialize: Vec::new(),
            transitions: Vec::new(),
            span: name.span,
        });
        self.bodies.push(BodyFacts {
            name_span: Some(name.span),
            ..BodyFacts::default()
        });
        id
    }

    /// Checks the content of a body.
    fn content(&mut self, (id, tree, outer): Queued<'a>) {
        self.scopes.enter(outer);
        self.here.body = id;
        self.here.within = Within::Declarations;
        self.bodies[id.index()].first_transition = tree.transitions.first().map(|it| it.block.span);
        // This level stays, for the bodies inside.
        self.scopes.open(Region::Body);
        self.outside_of(id);
        self.declarations(tree);
        self.transitions(tree);
    }

    /// Gives the names of the header their meanings in a body, and adds its variables.
    fn outside_of(&mut self, id: BodyId) {
        let Some(header) = self.program.bodies[id.index()].header else {
            return;
        };
        let header = self.program.headers[header.index()].clone();
        for variable in header.parameters.into_iter().chain(header.exports) {
            self.own_variable(variable);
        }
        for (at, points) in header.points.iter().enumerate() {
            // Names of one header that are equal are refused there.
            let _ = self.scopes.declare(&points.name, Meaning::Points(at), None);
        }
    }

    /// Adds a variable of the current body, with its name.
    fn own_variable(&mut self, variable: Variable) {
        let name = Name {
            text: variable.name.clone(),
            span: variable.span,
        };
        let kind = variable.kind;
        let at = self.add_variable(self.here.body, variable);
        let meaning = Meaning::Variable {
            root: Root::Module(at),
            kind,
            is_assignable: true,
        };
        self.declare(&name, meaning);
    }

    fn declarations(&mut self, tree: &'a ast::Body) {
        let first = self.program.routines.len();
        for declaration in &tree.declarations {
            match declaration {
                Declaration::Constant(constant) => self.constant_declaration(constant),
                Declaration::Type(kind) => self.type_declaration(kind),
                Declaration::Variable(variables) => self.variables(variables),
                Declaration::States(names) => self.states(names),
                Declaration::StateSet(name, states) => self.state_set(name, states),
                Declaration::Channel(channel) => self.channel(channel),
                Declaration::Header(header) => self.header(header),
                Declaration::Body(body) => self.module_body(body),
                Declaration::ModuleVariable(variables) => self.module_variables(variables),
                Declaration::Points(points) => self.internal_points(points),
                Declaration::Routine(routine) => self.routine(routine),
            }
        }
        self.missing_blocks(first);
    }

    fn variables(&mut self, tree: &ast::Variables) {
        let kind = self.type_of(&tree.kind);
        for name in &tree.names {
            match kind {
                Some(kind) => self.own_variable(Variable {
                    name: name.text.clone(),
                    kind,
                    is_reference: false,
                    span: name.span,
                }),
                None => self.declare(name, Meaning::Refused),
            }
        }
    }

    fn internal_points(&mut self, tree: &ast::Points) {
        for name in &tree.names {
            let Some(points) = self.points_of(tree, name) else {
                self.declare(name, Meaning::Refused);
                continue;
            };
            let all = &mut self.program.bodies[self.here.body.index()].points;
            let at = all.len();
            all.push(points);
            self.declare(name, Meaning::Points(at));
        }
    }

    /// Declares a module body, whose content is checked later.
    fn module_body(&mut self, tree: &'a ast::ModuleBody) {
        let header = match self.resolve(&tree.header, "a module header") {
            Some(Meaning::Header(header)) => header,
            Some(other) => {
                self.wrong_meaning(&tree.header, &other, "a module header");
                self.declare(&tree.name, Meaning::Refused);
                return;
            }
            None => {
                self.declare(&tree.name, Meaning::Refused);
                return;
            }
        };
        let parent = self.here.body;
        if self.header_parents[header.index()] != parent {
            self.foreign_header(tree, header);
        }
        let id = self.add_body(&tree.name, Some(header), Some(parent));
        self.declare(&tree.name, Meaning::Body(id));
        match &tree.content {
            Some(content) => self.queued.push_back((id, content, self.scopes.current())),
            None => self.external(id, header),
        }
    }

    /// A body that C code defines has the variables of its header only.
    fn external(&mut self, id: BodyId, header: HeaderId) {
        let header = self.program.headers[header.index()].clone();
        for variable in header.parameters.into_iter().chain(header.exports) {
            self.add_variable(id, variable);
        }
        let body = &mut self.program.bodies[id.index()];
        body.is_external = true;
        // C code fires its transitions.
        self.bodies[id.index()].first_transition = Some(body.span);
    }

    /// Reports a body that is not declared beside its header.
    fn foreign_header(&mut self, tree: &ast::ModuleBody, header: HeaderId) {
        let name = &self.program.headers[header.index()].name;
        let title = format!("the header `{name}` is declared in a body around this one");
        let id = Id::EstelleWrongMeaning;
        let foreign = Diagnostic::error(id, title, tree.header.span, "not a header of this body");
        let foreign = foreign.why("A module body stands in the same declarations as its header.");
        self.report(foreign.help("declare the body where its header is declared"));
    }
}

/// Returns the length of a unit of delays.
fn unit_ns(unit: Timescale) -> u64 {
    match unit {
        Timescale::Hours => 3_600_000_000_000,
        Timescale::Minutes => 60_000_000_000,
        Timescale::Seconds => 1_000_000_000,
        Timescale::Milliseconds => 1_000_000,
        Timescale::Microseconds => 1_000,
    }
}
