//! The ends of a stack: in, a composition whose layers are checked; out, what is below each
//! entity, the links, the ports, and the marks of headers that somebody restores.

use super::compose::{Composition, Ground, Sessions};
use super::context::Context;
use super::instances::{place_above, place_below};
use super::layers::Layer;
use super::opening::listens;
use super::program::{Below, EntityId, KindId, Link, LinkId, Place, Port};
use super::relays::Notices;
use super::services::Services;

/// Who provides a service that somebody restores marks where its header begins; who provides more
/// than this service stands on who provides it.
pub fn marks(context: &mut Context, composition: &Composition, services: &Services) {
    for (name, mark) in context.marks.clone() {
        for entity in composition.entities() {
            let mut provided = composition.node(entity).provides.iter();
            let provides = provided.any(|service| services.name(*service) == name);
            let entity = &mut context.program.entities[entity.at()];
            if provides && entity.header.is_some() {
                entity.mark = Some(mark);
            }
        }
    }
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
        let opens = opened(context, composition, below);
        let mut up: Vec<_> = interface.up.into_values().collect();
        up.sort_unstable();
        let listens = opens.and_then(|session| listens(context.program, session, &up));
        context.program.ports.push(Port {
            name: name.text.clone(),
            below: place,
            opens,
            listens,
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
