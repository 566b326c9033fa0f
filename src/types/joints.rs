//! Whether what stands together fits: in, a [`Composition`]; out, nothing but what is wrong with
//! its joints, as far as services and the number of joints go.

use super::compose::{Composition, Ground, Node, Sessions, Side};
use super::instances::session_keys;
use super::load::Files;
use super::names::{nearest, suggest};
use super::program::EntityId;
use super::services::{ServiceId, Services};
use crate::diagnostic::{Diagnostic, Id};
use crate::source::Span;
use crate::syntax::loom::{ast, slot_below};

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
    let title = format!("`{}` has no layer or link below it", wanted.layer);
    Diagnostic::error(Id::Misplaced, title, wanted.layer.span, "")
        .why(
            "Each layer stands on a link or on another layer; only a router names the layers \
            below it.",
        )
        .help("move it into the braces of the link or layer below it")
}

/// A router that is in somebody's braces.
pub fn router_in_braces(wanted: &ast::LayerUse) -> Diagnostic {
    let title = format!("the router `{}` is inside braces", wanted.layer);
    Diagnostic::error(Id::Misplaced, title, wanted.layer.span, "")
        .why("A router stands on several layers, and names them in parentheses.")
        .help("move it to the end of the stack, and name the layers below it in parentheses")
}

/// The names of the joints below a layer.
pub fn lowers_of<'a>(node: &'a Node<'_>) -> impl Iterator<Item = &'a str> {
    let names = node.below.iter().filter_map(|lower| lower.name.as_ref());
    let first = names.filter(|name| name.number.is_none_or(|number| number == 0));
    first.map(|name| &*name.word)
}

/// What to say of a name that stands for no layer.
pub fn unknown_layer(files: &Files, name: &ast::Name, known: &[&str]) -> Diagnostic {
    let title = format!("there is no layer `{name}`");
    let diagnostic = Diagnostic::error(Id::UnknownLayer, title, name.span, "")
        .why("A stack consists of layers that this file, or a file that it uses, declares.");
    if files.gives_layer(&name.text) {
        return files.suggest_use(diagnostic, &name.text);
    }
    let like = files.layer_like(&name.text);
    match like.filter(|_| nearest(&name.text, known).is_none()) {
        Some((like, path)) => diagnostic.help(format!(
            "did you mean `{like}`? then add `use {path}` at the top of the file"
        )),
        None if known.is_empty() => {
            diagnostic.help(format!("add a `use` of the file that declares `{name}`"))
        }
        None => suggest(diagnostic, &name.text, known),
    }
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
        [] => format!("set `{name} = …` in its parentheses"),
        [only] => format!("set `{name} = {only}` in its parentheses"),
        _ => format!(
            "set `{name} = …` in its parentheses: it can be `{}`",
            candidates.join("` or `")
        ),
    };
    not_joined(node, &name.text)
        .label(name.span, "a side joint")
        .help(help)
}

/// A lower joint of a router that the stack gives nobody.
pub fn lower_not_joined(node: &Node, name: &str) -> Diagnostic {
    not_joined(node, name)
        .label(node.layer.name.span, "a joint below the router")
        .help(format!("set `{name} = …` in its parentheses"))
}

fn not_joined(node: &Node, name: &str) -> Diagnostic {
    let title = format!("the joint `{name}` of `{}` is not set", node.name);
    Diagnostic::error(Id::MissingParameter, title, node.span, "")
}

/// What is said of a key where none can be.
pub fn no_key_here(span: Span) -> Diagnostic {
    Diagnostic::error(Id::KeyMisplaced, "this joint cannot have a key", span, "")
        .why("Only joints above a multiplexor whose sessions have a key can have a key.")
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
                    "`{}` stands on two layers, but only a router can",
                    node.layer.name
                );
                self.report(
                    Diagnostic::error(Id::Misplaced, title, second.span, "the second")
                        .why("A worker and a multiplexor stand on one layer or link.")
                        .help("write `router` instead of `worker`, or `uses` for a side joint"),
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
            let title = format!("two layers or ports stand on the {shape} `{}`", node.name);
            self.report(
                Diagnostic::error(Id::OneAbove, title, second.span, "the second")
                    .label(node.above[0].span, "the first")
                    .why(format!("Only one layer or port can stand on a {shape}."))
                    .help("use a multiplexor, on which several can stand"),
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
            let slot = slot_below(&node.layer.name.text, &node.name);
            let (what, name) = slot.map_or(("router", &*node.name), |name| ("slot", name));
            let title = format!("the {what} `{name}` stands on a layer with many sessions");
            let given = node.arguments.iter();
            let word = argument.as_ref().map(|name| &name.word);
            let mut given = given.filter(|given| word == Some(&given.name.text));
            let joint = given.next().map_or(node.span, |given| given.span);
            self.report(
                Diagnostic::error(Id::RouterOnMany, title, joint, "this joint")
                    .label(below.span, "its sessions are created and ended at run time")
                    .why(format!(
                        "A {what} sends through one session on each joint below. If the layer \
                        below has many sessions, that session is not defined.",
                    ))
                    .help(match slot {
                        Some(_) => "put the slot at a `key` of the layer below",
                        None => {
                            "label the joint below with a `key`, or use a multiplexor instead of \
                            the router"
                        }
                    }),
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
            let title = format!("two layers or ports stand on `{}` without a key", node.name);
            self.report(
                Diagnostic::error(Id::KeyMissing, title, second.span, "the second")
                    .label(node.above[0].span, "the first")
                    .why("A multiplexor distinguishes the layers above it by keys.")
                    .help("add `key` and a value before each of them"),
            );
        }
        let bare = node.above.iter().find(|upper| upper.key.is_none());
        if let (1.., Some(bare)) = (labelled, bare) {
            let title = format!("this joint of `{}` has no key", node.name);
            self.report(
                Diagnostic::error(Id::KeyMissing, title, bare.span, "")
                    .why("If one joint above a multiplexor has a key, all need one.")
                    .help("add `key` and a value before it"),
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
                    .why("A multiplexor delivers messages to the layers above it.")
                    .help("add a layer or a `port` in braces: `{ port NAME }`"),
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
                if !self.services.is_of_links(service) && service != self.services.messages() {
                    let composition = self.composition;
                    let node = composition.node(entity);
                    let link = self.composition.links[link.at()].name;
                    let title = format!("`{}` cannot stand on a link", node.name);
                    self.report(
                        Diagnostic::error(Id::ServiceMissing, title, node.span, "")
                            .label(link.span, "a link provides `frames`")
                            .label(node.layer.name.span, format!("this requires `{name}`"))
                            .why(
                                "The layer below a layer must provide the services that the layer \
                                requires.",
                            ),
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
            "`{}` does not provide what `{}` needs",
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
            .why(
                "The layer below a layer, or at its side joint, must provide the services that \
                the layer requires or uses.",
            ),
        )
    }
}
