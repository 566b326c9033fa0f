//! Variables, and their elements and fields.
//!
//! In: `a[i].f`, `m.x`. Out: a [`Place`]: a root, and the steps from it.

use super::super::checker::{Checker, meant};
use super::super::program::{ModuleReference, Place, Root, Step, Type, TypeId};
use super::super::scope::Meaning;
use crate::diagnostic::{Diagnostic, Id};
use crate::source::Span;
use crate::syntax::estelle::ast::{self, ExpressionKind as Tree, Name};

impl Checker<'_> {
    /// Checks a variable that is read.
    pub fn place(&mut self, tree: &ast::Expression) -> Option<Place> {
        match &tree.kind {
            Tree::Name(name) => self.variable(name),
            Tree::Index(array, indices) => {
                let mut place = self.place(array);
                for index in indices {
                    place = self.index(place, index, tree.span);
                }
                place
            }
            Tree::Field(record, name) => match self.child_before(record) {
                Some(child) => self.exported(child?, name, tree.span),
                None => {
                    let place = self.place(record)?;
                    self.field_of(place, name, tree.span)
                }
            },
            Tree::Integer(_)
            | Tree::Real(_)
            | Tree::Text(_)
            | Tree::Call(..)
            | Tree::Unary(..)
            | Tree::Binary(..)
            | Tree::Set(_)
            | Tree::Exist(..) => {
                let title = "this is a value, not a variable";
                let id = Id::EstelleNotAssignable;
                let refused = Diagnostic::error(id, title, tree.span, "no variable");
                let refused = refused.why("A place that a value can have is needed here.");
                self.report(refused.help("assign the value to a variable first"));
                None
            }
        }
    }

    fn variable(&mut self, name: &Name) -> Option<Place> {
        let span = name.span;
        match self.resolve(name, "a variable")? {
            Meaning::Variable { root, kind, .. } => Some(Place {
                root,
                steps: Vec::new(),
                type_id: kind,
                span,
            }),
            Meaning::Field {
                frame,
                local,
                field,
                kind,
            } => Some(Place {
                root: Root::Local(frame, local),
                steps: vec![Step::Field(field)],
                type_id: kind,
                span,
            }),
            other => {
                self.wrong_meaning(name, &other, "a variable");
                None
            }
        }
    }

    fn index(
        &mut self,
        place: Option<Place>,
        index: &ast::Expression,
        span: Span,
    ) -> Option<Place> {
        let array = place.as_ref().map(|place| self.kind(place.type_id).clone());
        let (index_type, element) = match array {
            Some(Type::Array { index, element, .. }) => (index, element),
            Some(_) => {
                let place = place?;
                let has = self.name_of(place.type_id);
                let title = format!("only arrays have elements, but this is {has}");
                let id = Id::EstelleTypeMismatch;
                let wrong = Diagnostic::error(id, title, place.span, has).misfit();
                let wrong = wrong.why("An index selects an element of an array.");
                self.report(wrong.help("remove the index"));
                return None;
            }
            None => {
                // The mistakes of the index are reported, too.
                self.expression(index);
                return None;
            }
        };
        let index = self.value_for(index, index_type)?;
        let mut place = place?;
        place.steps.push(Step::Index(index));
        place.type_id = element;
        place.span = span;
        Some(place)
    }

    fn field_of(&mut self, mut place: Place, name: &Name, span: Span) -> Option<Place> {
        if !matches!(self.kind(place.type_id), Type::Record { .. }) {
            let has = self.name_of(place.type_id);
            let title = format!("only records have fields, but this is {has}");
            let wrong = Diagnostic::error(Id::EstelleTypeMismatch, title, place.span, has);
            let wrong = wrong.misfit().why("A field is a part of a record.");
            self.report(wrong.help(format!("remove `.{}`", name.text)));
            return None;
        }
        let fields = &self.types[place.type_id.index()].fields;
        let Some(field) = fields.get(&name.key()) else {
            let near = self.near(name, fields.values().map(|it| it.text.as_str()));
            let record = self.name_of(place.type_id);
            let title = format!("the record {record} has no field `{}`", name.text);
            let id = Id::EstelleUnknownName;
            let unknown = Diagnostic::error(id, title, name.span, "unknown field");
            let unknown = unknown.why("A record has the fields that its type declares.");
            let help = meant(near, "use a field that the type declares".to_string());
            self.report(unknown.help(help));
            return None;
        };
        let at = field.field;
        place.type_id = field.kind;
        place.steps.push(Step::Field(at));
        place.span = span;
        Some(place)
    }

    /// Checks a module in front of an exported variable. None if it is no module; none inside if
    /// it is one with a mistake.
    fn child_before(&mut self, tree: &ast::Expression) -> Option<Option<ModuleReference>> {
        let (name, indices) = match &tree.kind {
            Tree::Name(name) => (name, &[][..]),
            Tree::Index(array, indices) => match &array.kind {
                Tree::Name(name) => (name, &indices[..]),
                _ => return None,
            },
            _ => return None,
        };
        let found = self.scopes.find(&name.key())?.meaning;
        let is_module = matches!(found, Meaning::ModuleVariable(_) | Meaning::Child(..));
        is_module.then(|| self.module_named(name, indices, tree.span))
    }

    fn exported(&mut self, child: ModuleReference, name: &Name, span: Span) -> Option<Place> {
        let header = &self.program.headers[child.header.index()];
        let exports = &header.exports;
        let position = exports
            .iter()
            .position(|export| export.name.eq_ignore_ascii_case(&name.text));
        if let Some(at) = position {
            return Some(Place {
                type_id: exports[at].kind,
                root: Root::Exported(child, at),
                steps: Vec::new(),
                span,
            });
        }
        let near = self.near(name, exports.iter().map(|it| it.name.as_str()));
        let title = format!("the module `{}` exports no `{}`", header.name, name.text);
        let otherwise = format!(
            "add `export {}: …` to the header `{}`",
            name.text, header.name
        );
        let help = meant(near, otherwise);
        let id = Id::EstelleNotExported;
        let refused = Diagnostic::error(id, title, name.span, "not exported");
        let refused = refused.why("A parent uses only the variables that the header exports.");
        self.report(refused.help(help));
        None
    }

    /// Checks a variable that is written: neither bound by a statement or clause around, nor the
    /// control variable of a running `for`.
    pub fn written_place(&mut self, tree: &ast::Expression) -> Option<Place> {
        let place = self.place(tree)?;
        if let Some(name) = root_name(tree)
            && let Some(found) = self.scopes.find(&name.key())
            && let Meaning::Variable {
                is_assignable: false,
                ..
            } = found.meaning
        {
            let title = format!("`{}` keeps its value here", name.text);
            self.not_assignable(title, tree.span, found.span, "bound here");
            return None;
        }
        let is_control = |control: &Root| same_variable(control, &place.root);
        if place.steps.is_empty() && self.here.controls.iter().any(is_control) {
            let title = "this is the control variable of a `for` around";
            self.not_assignable(title.to_string(), tree.span, None, "");
            return None;
        }
        Some(place)
    }

    fn not_assignable(&mut self, title: String, span: Span, cause: Option<Span>, label: &str) {
        let mut refused =
            Diagnostic::error(Id::EstelleNotAssignable, title, span, "not assignable");
        if let Some(cause) = cause {
            refused = refused.label(cause, label);
        }
        let refused = refused.why("The statement or clause that binds the name gives its values.");
        self.report(refused.help("use a variable of your own"));
    }

    /// Checks a variable for a `var` parameter of a type.
    pub fn referenced_place(&mut self, tree: &ast::Expression, kind: TypeId) -> Option<Place> {
        let place = self.written_place(tree)?;
        let title = if self.host(place.type_id) != self.host(kind) || place.type_id != kind {
            let (needs, has) = (self.name_of(kind), self.name_of(place.type_id));
            format!("a `var` parameter of {needs} does not take a variable of {has}")
        } else if self.is_packed_part(&place) {
            "a `var` parameter does not take an element of a packed array".to_string()
        } else if self.is_tag(&place) {
            "a `var` parameter does not take the tag of a record".to_string()
        } else {
            return Some(place);
        };
        let refused = Diagnostic::error(Id::EstelleArguments, title, tree.span, "wrong variable");
        let refused = refused.why("The routine works on the variable itself, without conversion.");
        self.report(refused.help("give a variable that is declared with exactly this type"));
        None
    }

    /// Returns true if a place is an element of a packed array.
    fn is_packed_part(&self, place: &Place) -> bool {
        let mut is_packed = false;
        self.types_on_the_way(place, |kind, step| {
            is_packed |= matches!(
                (kind, step),
                (
                    Type::Array {
                        is_packed: true,
                        ..
                    },
                    _
                )
            );
        });
        is_packed
    }

    /// Returns true if a place is the tag of a record.
    fn is_tag(&self, place: &Place) -> bool {
        let mut is_tag = false;
        self.types_on_the_way(place, |kind, step| {
            is_tag = match (kind, step) {
                (Type::Record { fields }, Step::Field(at)) => {
                    let mut variants = fields.iter().filter_map(|field| field.variant.as_ref());
                    variants.any(|(tag, _)| tag == at)
                }
                _ => false,
            };
        });
        is_tag
    }

    /// Visits each structured type on the way to a part, with the step into it.
    fn types_on_the_way(&self, place: &Place, mut visit: impl FnMut(&Type, &Step)) {
        let root = match &place.root {
            Root::Module(at) => {
                let body = &self.program.bodies[self.here.body.index()];
                body.variables.get(*at).map(|it| it.kind)
            }
            Root::Local(frame, at) => {
                let frame = &self.program.frames[frame.index()];
                frame.get(*at).map(|it| it.kind)
            }
            Root::Exported(module, at) => {
                let header = &self.program.headers[module.header.index()];
                header.exports.get(*at).map(|it| it.kind)
            }
        };
        let Some(mut kind) = root else { return };
        for step in &place.steps {
            visit(self.kind(kind), step);
            kind = match (self.kind(kind), step) {
                (Type::Array { element, .. }, Step::Index(_)) => *element,
                (Type::Record { fields }, Step::Field(at)) => fields[*at].kind,
                _ => return,
            };
        }
    }
}

/// Returns the name at the root of a variable.
fn root_name(tree: &ast::Expression) -> Option<&Name> {
    match &tree.kind {
        Tree::Name(name) => Some(name),
        Tree::Index(inner, _) | Tree::Field(inner, _) => root_name(inner),
        _ => None,
    }
}

/// Returns true if two roots are one variable of this instance.
pub(super) fn same_variable(one: &Root, other: &Root) -> bool {
    match (one, other) {
        (Root::Module(one), Root::Module(other)) => one == other,
        (Root::Local(frame, one), Root::Local(other_frame, other)) => {
            frame == other_frame && one == other
        }
        (Root::Module(_) | Root::Local(..) | Root::Exported(..), _) => false,
    }
}
