//! S1 to S8: the attributes of modules, by the modules that hold them.
//!
//! In: the attribute of each header, the body that declares it, and the bodies that hold module
//! variables of it. Out: reports. Exactly one system is on each path from the specification to a
//! module with an attribute. A header of a process may be declared outside of systems, for several
//! of them: only its module variables say which modules are inside which. \[d\]

use super::super::checker::Checker;
use super::super::program::{Attribute, BodyId, Program};
use crate::diagnostic::{Diagnostic, Id};
use crate::source::Span;
use crate::syntax::estelle::ast::Name;

/// A rule that is broken. In the title `@` stands for the name of the module.
struct Breach {
    id: Id,
    title: &'static str,
    label: &'static str,
    why: &'static str,
    help: &'static str,
}

/// The ways in which a body holds a module.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Holds {
    /// It declares the header.
    Header,
    /// It has a module variable.
    Variable,
}

impl Checker<'_> {
    /// S2 to S5 and S8: checks that a body may hold modules with an attribute.
    pub fn attribute_below(
        &mut self,
        parent: BodyId,
        (inner, holds): (Option<Attribute>, Holds),
        name: &Name,
    ) {
        let outer = self.program.bodies[parent.index()].attribute;
        if inner.is_some_and(is_system) {
            self.holds_system(parent);
        }
        // A header of a process may stand outside of the systems that hold its modules.
        let is_open = outer.is_none() && holds == Holds::Header;
        let Some(breach) = breach(outer, inner, parent).filter(|_| !is_open) else {
            return;
        };
        let title = breach.title.replace('@', &name.text);
        let mut report = Diagnostic::error(breach.id, title, name.span, breach.label);
        if let Some(span) = self.bodies[parent.index()].name_span {
            let text = match outer {
                Some(attribute) => format!("`{}`", word(attribute)),
                None => "no attribute".to_string(),
            };
            report = report.label(span, text);
        }
        self.report(report.why(breach.why).help(breach.help));
    }

    /// Notes that a body, and so the bodies around it, hold a system module.
    fn holds_system(&mut self, parent: BodyId) {
        let mut body = Some(parent);
        while let Some(id) = body {
            let facts = &mut self.bodies[id.index()];
            if std::mem::replace(&mut facts.holds_system, true) {
                return;
            }
            body = self.program.bodies[id.index()].parent;
        }
    }

    /// S1 and S6: checks that each body with transitions has an attribute.
    pub fn active_bodies(&mut self) {
        for at in 0..self.bodies.len() {
            let body = &self.program.bodies[at];
            let facts = &self.bodies[at];
            let (Some(first), None) = (facts.first_transition, body.attribute) else {
                continue;
            };
            let name = body.name.clone();
            match facts.holds_system {
                true => self.inactive(&name, first, facts.name_span),
                false => self.attribute_missing(&name, first, facts.name_span),
            }
        }
    }

    fn attribute_missing(&mut self, name: &str, first: Span, place: Option<Span>) {
        let title = format!("`{name}` has transitions, but no attribute");
        let id = Id::EstelleAttributeMissing;
        // The transitions of a body that C code defines have no place of their own.
        let is_external = place == Some(first);
        let label = if is_external {
            "no attribute"
        } else {
            "a transition"
        };
        let mut missing = Diagnostic::error(id, title, first, label);
        if let Some(place) = place.filter(|_| !is_external) {
            missing = missing.label(place, "no attribute");
        }
        let missing = missing.why("The attribute says how a module runs together with others.");
        self.report(missing.help("write `systemprocess` or `systemactivity` behind its header"));
    }

    fn inactive(&mut self, name: &str, first: Span, place: Option<Span>) {
        let title = format!("`{name}` holds system modules, but has transitions");
        let id = Id::EstelleInactiveHasTransitions;
        let mut inactive = Diagnostic::error(id, title, first, "a transition");
        if let Some(place) = place {
            inactive = inactive.label(place, "holds a system module");
        }
        let inactive = inactive.why("Such a module starts its systems in `initialize`, and rests.");
        self.report(inactive.help("move the transitions into a system module of their own"));
    }
}

/// Returns true if an attribute makes a module a system.
pub(super) fn is_system(attribute: Attribute) -> bool {
    match attribute {
        Attribute::SystemProcess | Attribute::SystemActivity => true,
        Attribute::Process | Attribute::Activity => false,
    }
}

/// Returns an attribute as it is written.
fn word(attribute: Attribute) -> &'static str {
    match attribute {
        Attribute::SystemProcess => "systemprocess",
        Attribute::SystemActivity => "systemactivity",
        Attribute::Process => "process",
        Attribute::Activity => "activity",
    }
}

/// Finds the rule that a module breaks inside of a body.
fn breach(outer: Option<Attribute>, inner: Option<Attribute>, parent: BodyId) -> Option<Breach> {
    use Attribute::{Activity, Process, SystemActivity, SystemProcess};
    Some(match (outer, inner) {
        (Some(_), Some(SystemProcess | SystemActivity)) if parent == Program::ROOT => Breach {
            id: Id::EstelleSpecificationAttribute,
            title: "the specification is a system and holds the system `@`",
            label: "a system inside",
            why: "A specification with an attribute is itself the only system.",
            help: "write `process` or `activity`, or remove the attribute of the specification",
        },
        (Some(_), Some(SystemProcess | SystemActivity)) => Breach {
            id: Id::EstelleSystemInAttributed,
            title: "the system `@` is inside a module with an attribute",
            label: "a system inside",
            why: "Systems run independently, so none is a part of another.",
            help: "write `process` or `activity` here",
        },
        (Some(SystemActivity | Activity), None | Some(Process)) => Breach {
            id: Id::EstelleActivityHoldsProcess,
            title: "`@` is inside an activity, but is no activity",
            label: "not an `activity`",
            why: "One module of an activity runs in a step, so all modules inside are activities.",
            help: "write `activity` here, or `process` for the module around",
        },
        (Some(SystemProcess | Process), None) => Breach {
            id: Id::EstelleProcessChildren,
            title: "`@` is inside a process, but has no attribute",
            label: "no attribute",
            why: "All children of a process run in its step, as processes or activities.",
            help: "write `process` or `activity` behind the name of the header",
        },
        (None, Some(Process | Activity)) => Breach {
            id: Id::EstelleNoSystemAbove,
            title: "modules of `@` are not inside a system module",
            label: "no system around",
            why: "The system around a process or an activity gives the steps in which it runs.",
            help: "make the header a system, or give the module around an attribute",
        },
        (None, None | Some(SystemProcess | SystemActivity))
        | (Some(_), Some(Activity))
        | (Some(SystemProcess | Process), Some(Process)) => return None,
    })
}
