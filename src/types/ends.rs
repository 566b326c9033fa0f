//! The ends of a stack: in, a composition whose layers are checked; out, what is below each
//! entity, the links, the ports, and the marks of headers that somebody restores.

use super::compose::{Composition, Ground, Sessions};
use super::context::Context;
use super::instances::{place_above, place_below};
use super::layers::Layer;
use super::load::Files;
use super::program::{Below, EntityId, KindId, Link, LinkId, Place, Port};
use super::relays::Notices;
use super::services::Services;

/// Keeps the marks of headers that somebody restores, and gives words for them.
pub fn marks(
    context: &mut Context,
    files: &Files,
    composition: &Composition,
    services: &mut Services,
    layers: &mut [Layer],
) {
    for layer in &mut *layers {
        let node = composition.node(layer.entity);
        for name in restored(context, files, node) {
            if let Some(service) = services.find(node.unit, &name) {
                let mark = services.mark(context, service);
                layer.scope.marks.insert(name, mark);
            }
        }
    }
    for (service, mark) in services.marks().collect::<Vec<_>>() {
        for entity in composition.entities() {
            // Whoever provides more than this service stands on who provides it.
            let provides = composition.node(entity).provides.contains(&service);
            let entity = &mut context.program.entities[entity.at()];
            if provides && entity.header.is_some() {
                entity.mark = Some(mark);
            }
        }
    }
}

/// The services that a layer's text restores. It is the text that is searched: a mention in a
/// comment costs four bytes a message, a tree walk would cost more to read.
fn restored(context: &Context, files: &Files, node: &super::compose::Node) -> Vec<String> {
    let mut names = Vec::new();
    let texts = files.unit(node.unit).files.iter();
    for text in texts.map(|file| context.sources.text(*file)) {
        for rest in text.split(".restore(").skip(1) {
            let name: String = rest
                .chars()
                .take_while(|letter| letter.is_alphanumeric() || *letter == '_')
                .collect();
            if !name.is_empty() && !names.contains(&name) {
                names.push(name);
            }
        }
    }
    names
}

/// What each entity stands on.
pub fn below(context: &mut Context, composition: &Composition) {
    for entity in composition.entities() {
        let lowers = composition.node(entity).below.iter();
        let below = lowers.map(|lower| Below {
            name: lower.name.clone(),
            place: place_below(composition, lower.ground).unwrap_or(Place::Link(LinkId(0))),
        });
        context.program.entities[entity.at()].below = below.collect();
    }
}

/// Links and ports.
pub fn ends(context: &mut Context, composition: &Composition, layers: &[Layer], notices: &Notices) {
    for (place, name) in composition.links.iter().enumerate() {
        let link = LinkId(place as u32);
        let standing = composition.entities().find_map(|entity| {
            let mut lowers = composition.node(entity).below.iter();
            let joint = lowers.position(|lower| lower.ground == Ground::Link(link))?;
            Some((entity, joint))
        });
        let Some((entity, joint)) = standing else {
            continue;
        };
        let carrier = layers[entity.at()].requires[joint].up.get("carrier");
        let carrier = carrier.filter(|notice| notices.is_heard_above(entity, **notice));
        context.program.links.push(Link {
            name: name.text.clone(),
            above: place_above(composition, super::compose::Above::Node(entity, joint)),
            carrier: carrier.copied(),
        });
    }
    for (name, ground) in &composition.ports {
        let (Ground::Node(below, _), Some(place)) = (*ground, place_below(composition, *ground))
        else {
            continue;
        };
        let interface = notices.of_port(below);
        let mut attributes: Vec<_> = interface.attributes.into_values().collect();
        attributes.sort_unstable();
        attributes.dedup();
        let heard = interface.down.into_values();
        let heard = heard.filter(|notice| notices.is_heard_below(below, *notice));
        let mut down: Vec<_> = heard.collect();
        down.sort_unstable();
        let mut up: Vec<_> = interface.up.into_values().collect();
        up.sort_unstable();
        context.program.ports.push(Port {
            name: name.text.clone(),
            below: place,
            opens: opened(context, composition, below),
            attributes,
            up,
            down,
        });
    }
}

/// The kind of sessions with keys on which an entity's sessions stand, if they come and go.
fn opened(context: &Context, composition: &Composition, entity: EntityId) -> Option<KindId> {
    match composition.sessions(entity) {
        Sessions::Static(_) => None,
        Sessions::Keyed => Some(context.program.entities[entity.at()].session),
        Sessions::Same(below) => opened(context, composition, below),
    }
}
