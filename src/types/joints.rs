//! Whether what stands together fits: in, a [`Composition`]; out, nothing but what is wrong with
//! its joints, as far as services and the number of joints go.

use super::compose::{Composition, Ground, Node, Sessions, Side};
use super::instances::session_keys;
use super::load::Files;
use super::names::suggest;
use super::program::EntityId;
use super::services::{ServiceId, Services};
use crate::diagnostic::{Diagnostic, Id};
use crate::source::Span;
use crate::syntax::loom::ast;

/// Reports what cannot stand together.
pub fn check_joints(
    composition: &Composition,
    services: &Services,
    diagnostics: &mut Vec<Diagnostic>,
) {
    let mut joints = Joints {
        composition,
        services,
        diagnostics,
    };
    joints.check();
}

/// A layer that is not a router, in nobody's braces.
pub fn stands_on_nothing(wanted: &ast::LayerUse) -> Diagnostic {
    let title = format!("`{}` stands on nothing", wanted.layer);
    Diagnostic::error(Id::Misplaced, title, wanted.layer.span, "")
        .why("Each layer stands on a link or on another layer; only routers name theirs.")
        .help("write it in the braces of what it stands on")
}

/// A router that is in somebody's braces.
pub fn router_in_braces(wanted: &ast::LayerUse) -> Diagnostic {
    let title = format!("the router `{}` stands in braces", wanted.layer);
    Diagnostic::error(Id::Misplaced, title, wanted.layer.span, "")
        .why("A router stands on several layers at once, and names them.")
        .help("move it to the end of the stack, and name there what it stands on")
}

/// The names of the joints below a layer.
pub fn lowers_of<'a>(node: &'a Node<'_>) -> impl Iterator<Item = &'a str> {
    node.below.iter().filter_map(|lower| lower.name.as_deref())
}

/// What to say of a name that stands for no layer.
pub fn unknown_layer(files: &Files, name: &ast::Name, known: &[&str]) -> Diagnostic {
    let title = format!("there is no layer `{name}`");
    let diagnostic = Diagnostic::error(Id::UnknownLayer, title, name.span, "")
        .why("A stack is made of layers that this file, or one that it uses, declares.");
    let diagnostic = match known.is_empty() {
        true => diagnostic.help(format!("write a `use` of the file that declares `{name}`")),
        false => suggest(diagnostic, &name.text, known),
    };
    files.suggest_use(diagnostic, &name.text)
}

/// Keeps one mistake of where nodes stand: behind a node at a wrong place, or a layer that there is
/// not, all others seem to stand at wrong places.
pub fn keep_first_place(diagnostics: &mut Vec<Diagnostic>) {
    let told = |id| diagnostics.iter().any(|it| it.id == id);
    let (mut unknown, misplaced) = (told(Id::UnknownLayer), told(Id::Misplaced));
    if !unknown && !misplaced {
        return;
    }
    diagnostics.retain(|it| match it.id {
        Id::Misplaced | Id::OneAbove | Id::NothingAbove | Id::ServiceMissing => {
            !std::mem::replace(&mut unknown, true)
        }
        _another_mistake => true,
    });
}

/// A joint beside the path that the stack gives nobody; these provide what it needs.
pub fn side_not_joined(node: &Node, side: &Side, candidates: Vec<&str>) -> Diagnostic {
    let name = side.name;
    let help = match candidates[..] {
        [] => format!("write `{name} = …` in its parentheses"),
        [only] => format!("write `{name} = {only}` in its parentheses"),
        _ => format!(
            "write `{name} = …` in its parentheses: it can be `{}`",
            candidates.join("` or `")
        ),
    };
    not_joined(node, &name.text)
        .label(name.span, "a joint beside the path")
        .help(help)
}

/// A lower joint of a router that the stack gives nobody.
pub fn lower_not_joined(node: &Node, name: &str) -> Diagnostic {
    not_joined(node, name)
        .label(node.layer.name.span, "the layer says what it stands on")
        .help(format!("write `{name} = …` in its parentheses"))
}

fn not_joined(node: &Node, name: &str) -> Diagnostic {
    let title = format!("`{}` is not told what its `{name}` is", node.name);
    Diagnostic::error(Id::MissingParameter, title, node.span, "")
}

/// What is said of a key where none can be.
pub fn no_key_here(span: Span) -> Diagnostic {
    Diagnostic::error(Id::KeyMisplaced, "this joint takes no key", span, "")
        .why("Keys label the joints above a multiplexor whose sessions have a key.")
}

struct Joints<'c, 'a, 'b> {
    composition: &'c Composition<'a>,
    services: &'b Services<'a>,
    diagnostics: &'b mut Vec<Diagnostic>,
}

impl Joints<'_, '_, '_> {
    fn report(&mut self, diagnostic: Diagnostic) {
        self.diagnostics.push(diagnostic);
    }

    /// Whether what stands on each other fits.
    fn check(&mut self) {
        self.check_lowers();
        for entity in self.composition.entities() {
            let composition = self.composition;
            let node = composition.node(entity);
            if node.layer.shape != ast::Shape::Multiplexor {
                self.check_single(entity);
            } else {
                self.check_labels(entity);
            }
            let composition = self.composition;
            let node = composition.node(entity);
            for lower in &node.below {
                for service in &lower.services {
                    self.check_fit(entity, lower.ground, *service);
                }
            }
            for side in &node.sides {
                if let (Some(service), Some(provider)) = (side.service, side.entity)
                    && let Some(mistake) = self.misfit(entity, provider, service)
                {
                    self.report(mistake);
                }
            }
        }
    }

    /// Only a router stands on several joints, and only there do they need names.
    fn check_lowers(&mut self) {
        let composition = self.composition;
        for node in &composition.nodes {
            let Some(second) = node
                .layer
                .requires
                .iter()
                .filter(|it| it.joint.is_some())
                .nth(1)
            else {
                continue;
            };
            if node.layer.shape != ast::Shape::Router {
                let title = format!(
                    "`{}` stands on two joints, and is no router",
                    node.layer.name
                );
                self.report(
                    Diagnostic::error(Id::Misplaced, title, second.span, "the second")
                        .why("A worker and a multiplexor stand on one thing.")
                        .help("write `router` for `worker`, or `uses` for what is beside the path"),
                );
            }
        }
    }

    /// A worker or router: one above, no label.
    fn check_single(&mut self, entity: EntityId) {
        let composition = self.composition;
        let node = composition.node(entity);
        let shape = match node.layer.shape {
            ast::Shape::Worker => "worker",
            ast::Shape::Router => "router",
            ast::Shape::Multiplexor => "multiplexor",
        };
        if let Some(second) = node.above.get(1) {
            let title = format!("two things stand on the {shape} `{}`", node.name);
            self.report(
                Diagnostic::error(Id::OneAbove, title, second.span, "the second")
                    .label(node.above[0].span, "the first")
                    .why(format!("A {shape} has one session above."))
                    .help("a multiplexor has many"),
            );
        }
        for key in node.above.iter().filter_map(|upper| upper.key) {
            self.report(no_key_here(key.span));
        }
        if node.layer.shape == ast::Shape::Router {
            self.check_router(entity);
        }
    }

    /// A router has one session, always; so has each of its joints.
    fn check_router(&mut self, entity: EntityId) {
        let composition = self.composition;
        let node = composition.node(entity);
        for (lower, argument) in node.below.iter().filter_map(|lower| match lower.ground {
            Ground::Node(below, _) if below < entity => Some((below, &lower.name)),
            Ground::Node(..) | Ground::Link(_) | Ground::Nothing => None,
        }) {
            if let Sessions::Static(_) = composition.sessions(lower) {
                continue;
            }
            let below = composition.node(lower);
            let title = format!("the router `{}` stands on many sessions", node.name);
            let given = node.arguments.iter();
            let mut given = given.filter(|given| argument.as_deref() == Some(&given.name.text));
            let joint = given.next().map_or(node.span, |given| given.span);
            self.report(
                Diagnostic::error(Id::RouterOnMany, title, joint, "this joint")
                    .label(below.span, "its sessions come and go")
                    .why(
                        "A router has one session above, which is always there, and sends by one \
                        session through each joint below. Which of many it would be, nothing says.",
                    )
                    .help("label the joint below with a `key`, or let a multiplexor stand there"),
            );
        }
    }

    /// A multiplexor: all its upper joints have labels, or one stands for all sessions.
    fn check_labels(&mut self, entity: EntityId) {
        let composition = self.composition;
        let node = composition.node(entity);
        let keys = session_keys(node.layer).len();
        let labelled = node
            .above
            .iter()
            .filter(|upper| upper.key.is_some())
            .count();
        if let (0, Some(second)) = (labelled, node.above.get(1)) {
            let title = format!("two things stand on `{}` without a key", node.name);
            self.report(
                Diagnostic::error(Id::KeyMissing, title, second.span, "the second")
                    .label(node.above[0].span, "the first")
                    .why("A multiplexor tells what stands on it apart by keys.")
                    .help("write `key` and a value before each"),
            );
        }
        let bare = node.above.iter().find(|upper| upper.key.is_none());
        if let (1.., Some(bare)) = (labelled, bare) {
            let title = format!("this joint of `{}` has no key", node.name);
            self.report(
                Diagnostic::error(Id::KeyMissing, title, bare.span, "")
                    .why("Where one joint above a multiplexor has a key, all have.")
                    .help("write `key` and a value before it"),
            );
        }
        let first = node.above.iter().find_map(|upper| upper.key);
        if let Some(key) = first.filter(|_| keys == 0) {
            self.report(no_key_here(key.span));
        }
        if node.above.is_empty() && node.users.is_empty() {
            let title = format!("nothing stands on the multiplexor `{}`", node.name);
            self.report(
                Diagnostic::error(Id::NothingAbove, title, node.span, "")
                    .why("A multiplexor delivers to what stands on it.")
                    .help("put a layer or a `port` in braces behind it"),
            );
        }
    }

    fn check_fit(&mut self, entity: EntityId, ground: Ground, service: ServiceId) {
        match ground {
            Ground::Node(below, _) => {
                if let Some(mistake) = self.misfit(entity, below, service) {
                    self.report(mistake);
                }
            }
            Ground::Link(link) => {
                let name = self.services.name(service);
                if name != "frames" && service != self.services.messages() {
                    let composition = self.composition;
                    let node = composition.node(entity);
                    let link = self.composition.links[link.at()].name;
                    let title = format!("`{}` cannot stand on a link", node.name);
                    self.report(
                        Diagnostic::error(Id::ServiceMissing, title, node.span, "")
                            .label(link.span, "a link gives `frames`")
                            .label(node.layer.name.span, format!("this requires `{name}`"))
                            .why("A layer stands on one that provides what it requires."),
                    );
                }
            }
            Ground::Nothing => {}
        }
    }

    fn misfit(
        &self,
        entity: EntityId,
        provider: EntityId,
        service: ServiceId,
    ) -> Option<Diagnostic> {
        let given = &self.composition.node(provider).provides;
        if given
            .iter()
            .any(|given| self.services.gives(*given, service))
        {
            return None;
        }
        let composition = self.composition;
        let node = composition.node(entity);
        let below = self.composition.node(provider);
        let name = self.services.name(service);
        let given: Vec<_> = given
            .iter()
            .map(|given| self.services.name(*given))
            .collect();
        let given = given.join("`, `");
        let title = format!(
            "`{}` does not give `{}` what it needs",
            below.name, node.name
        );
        Some(
            Diagnostic::error(
                Id::ServiceMissing,
                title,
                node.span,
                format!("needs `{name}`"),
            )
            .label(below.span, format!("provides `{given}`"))
            .why("A layer stands on one that provides what it requires, and so beside it."),
        )
    }
}
