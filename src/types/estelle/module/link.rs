//! S18, S19: `connect`, `attach`, `disconnect` and `detach`.

use super::super::checker::Checker;
use super::super::program::{Expression, ExpressionKind, PointReference, StatementKind};
use super::super::scope::Meaning;
use crate::diagnostic::{Diagnostic, Id};
use crate::source::Span;
use crate::syntax::estelle::ast;

/// A module or a point, which `disconnect` and `detach` both take.
enum Target {
    Module(ast::ModuleReference),
    Point,
}

impl Checker<'_> {
    /// Checks `connect`.
    pub fn connect(
        &mut self,
        one: &ast::PointReference,
        other: &ast::PointReference,
        span: Span,
    ) -> Option<StatementKind> {
        let one = self.point_reference(one);
        let other = self.point_reference(other);
        let (one, other) = (one?, other?);
        for point in [&one, &other] {
            self.static_point(point, span);
            if self.is_own_external(point) {
                let title = "`connect` does not take an external point of this module";
                self.wrong_link(
                    Id::EstelleConnect,
                    title.to_string(),
                    (point.span, "external".to_string()),
                    None,
                    "use an internal point (`ip` in the body), or `attach`",
                );
                return None;
            }
        }
        self.same_channel(Id::EstelleConnect, &one, &other)?;
        let roles = [self.points(&one).role, self.points(&other).role];
        if roles[0] == roles[1] {
            let role = self.role_of(&one);
            let title = "`connect` joins two points of the same role";
            self.wrong_link(
                Id::EstelleConnect,
                title.to_string(),
                (other.span, role.clone()),
                Some((one.span, role)),
                "give one of the two points the other role of the channel",
            );
            return None;
        }
        Some(StatementKind::Connect(one, other))
    }

    /// Checks `attach`.
    pub fn attach(
        &mut self,
        own: &ast::PointReference,
        inner: &ast::PointReference,
        span: Span,
    ) -> Option<StatementKind> {
        let own = self.point_reference(own);
        let inner = self.point_reference(inner);
        let (own, inner) = (own?, inner?);
        self.static_point(&inner, span);
        if !self.is_own_external(&own) {
            let label = match own.module {
                Some(_) => "a point of a child",
                None => "internal",
            };
            self.wrong_link(
                Id::EstelleAttach,
                "`attach` begins with an external point of this module".to_string(),
                (own.span, label.to_string()),
                None,
                "name a point of the header first, or use `connect`",
            );
            return None;
        }
        if inner.module.is_none() {
            self.wrong_link(
                Id::EstelleAttach,
                "`attach` ends with an external point of a child".to_string(),
                (inner.span, "a point of this module".to_string()),
                None,
                "write `attach p to m.q`",
            );
            return None;
        }
        self.same_channel(Id::EstelleAttach, &own, &inner)?;
        if self.points(&own).role != self.points(&inner).role {
            let roles = (self.role_of(&own), self.role_of(&inner));
            self.wrong_link(
                Id::EstelleAttach,
                "`attach` needs two points of the same role".to_string(),
                (inner.span, roles.1),
                Some((own.span, roles.0)),
                "give the point of the child the role of the own point",
            );
            return None;
        }
        Some(StatementKind::Attach(own, inner))
    }

    /// Checks `disconnect` of a point or of a module.
    pub fn disconnect(&mut self, tree: &ast::PointReference, span: Span) -> Option<StatementKind> {
        if let Target::Module(module) = self.target(tree) {
            let module = self.module_reference(&module)?;
            self.static_structure(module.header, span);
            return Some(StatementKind::DisconnectModule(module));
        }
        let point = self.point_reference(tree)?;
        self.static_point(&point, span);
        if self.is_own_external(&point) {
            self.wrong_link(
                Id::EstelleConnect,
                "`disconnect` does not take an external point of this module".to_string(),
                (point.span, "external".to_string()),
                None,
                "only the parent of this module connects and disconnects this point",
            );
            return None;
        }
        Some(StatementKind::DisconnectPoint(point))
    }

    /// Checks `detach` of a point or of a module.
    pub fn detach(&mut self, tree: &ast::PointReference, span: Span) -> Option<StatementKind> {
        if let Target::Module(module) = self.target(tree) {
            let module = self.module_reference(&module)?;
            self.static_structure(module.header, span);
            return Some(StatementKind::DetachModule(module));
        }
        let point = self.point_reference(tree)?;
        self.static_point(&point, span);
        if point.module.is_none() && !self.is_own_external(&point) {
            self.wrong_link(
                Id::EstelleAttach,
                "`detach` does not take an internal point".to_string(),
                (point.span, "internal".to_string()),
                None,
                "use `disconnect`: internal points are connected, never attached",
            );
            return None;
        }
        Some(StatementKind::DetachPoint(point))
    }

    /// Finds out if a reference names a module; the grammar does not tell.
    fn target(&self, tree: &ast::PointReference) -> Target {
        let meaning = self.scopes.find(&tree.name.key()).map(|it| it.meaning);
        let is_module = matches!(
            meaning,
            Some(Meaning::ModuleVariable(_) | Meaning::Child(..))
        );
        match tree.module.is_none() && is_module {
            true => Target::Module(ast::ModuleReference {
                name: tree.name.clone(),
                indices: tree.indices.clone(),
                span: tree.span,
            }),
            false => Target::Point,
        }
    }

    /// S7 for the module of a point.
    fn static_point(&mut self, point: &PointReference, span: Span) {
        if let Some(module) = &point.module {
            self.static_structure(module.header, span);
        }
    }

    /// Checks that two points are different points of one channel.
    fn same_channel(&mut self, id: Id, one: &PointReference, other: &PointReference) -> Option<()> {
        let channels = [self.points(one).channel, self.points(other).channel];
        if channels[0] != channels[1] {
            let name = |at: usize| {
                let channel = &self.program.channels[channels[at].index()];
                format!("channel `{}`", channel.name)
            };
            let labels = (name(0), name(1));
            self.wrong_link(
                id,
                "these points are of different channels".to_string(),
                (other.span, labels.1),
                Some((one.span, labels.0)),
                "name two points of one channel",
            );
            return None;
        }
        if one.module.is_none() && other.module.is_none() && are_same(one, other) {
            self.wrong_link(
                id,
                "these are one and the same point".to_string(),
                (other.span, "again".to_string()),
                Some((one.span, "the same point".to_string())),
                "name two different points",
            );
            return None;
        }
        Some(())
    }

    fn role_of(&self, point: &PointReference) -> String {
        let points = self.points(point);
        let channel = &self.program.channels[points.channel.index()];
        format!("role `{}`", channel.roles[points.role])
    }

    fn wrong_link(
        &mut self,
        id: Id,
        title: String,
        (span, label): (Span, String),
        second: Option<(Span, String)>,
        help: &str,
    ) {
        let mut wrong = Diagnostic::error(id, title, span, label);
        if let Some((span, label)) = second {
            wrong = wrong.label(span, label);
        }
        let why = match id {
            Id::EstelleAttach => {
                "`attach` gives an external point of this module to a point of a child with the \
                 same channel and role."
            }
            _ => {
                "`connect` joins internal points of this module and points of its children, of \
                 one channel and opposite roles."
            }
        };
        self.report(wrong.why(why).help(help));
    }
}

/// Returns true if two points of this module are the same by constant indices.
fn are_same(one: &PointReference, other: &PointReference) -> bool {
    let constants = |point: &PointReference| -> Option<Vec<i64>> {
        point.indices.iter().map(constant).collect()
    };
    let (first, second) = (constants(one), constants(other));
    one.points == other.points && first.is_some() && first == second
}

fn constant(index: &Expression) -> Option<i64> {
    match index.kind {
        ExpressionKind::Ordinal(value) => Some(value),
        _ => None,
    }
}
