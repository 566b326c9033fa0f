//! The ends of a stack: in, a composition whose layers are checked; out, what is below each
//! entity, the links, the ports, and the marks of headers that somebody restores.

use super::compose::{Composition, Ground, Sessions};
use super::context::Context;
use super::instances::{place_above, place_below, place_under};
use super::layers::Layer;
use super::opening::listens;
use super::parameters::mtu;
use super::program::{Below, EntityId, KindId, Link, LinkId, NoticeId, Place, Port};
use super::relays::Notices;
use super::scope::{JointName, Scope};
use super::services::Services;
use crate::syntax::loom::ast;
use std::collections::BTreeMap;

/// A link.
pub struct Bottom<'a> {
    /// Its name.
    pub name: &'a ast::Name,
    /// What its parentheses say.
    pub arguments: &'a [ast::Argument],
    /// The function in C that is called with what leaves by it.
    pub calls: Option<&'a ast::Name>,
    /// True if the host takes a frame in two parts.
    pub gathers: bool,
}

/// A port.
pub struct Top<'a> {
    /// What it is called.
    pub name: &'a ast::Name,
    /// What is below.
    pub ground: Ground,
    /// The function in C that is called with what comes up.
    pub calls: Option<&'a ast::Name>,
}

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
            name: lower.name.as_ref().map(JointName::plain),
            place: place_under(composition, entity, lower.ground).unwrap_or(Place::Link(LinkId(0))),
        });
        context.program.entities[entity.at()].below = below.collect();
    }
}

/// Links and ports; what a link is given means what it does in the file of the stack.
pub fn ends(
    context: &mut Context,
    around: &Scope,
    composition: &Composition,
    layers: &[Layer],
    notices: &Notices,
) {
    for (place, bottom) in composition.links.iter().enumerate() {
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
        let mtu = mtu(context, around, bottom.name, bottom.arguments);
        context.program.links.push(Link {
            name: bottom.name.text.clone(),
            mtu,
            above: place_above(composition, super::compose::Above::Node(entity, joint)),
            carrier: carrier.copied(),
            calls: bottom.calls.map(|function| function.text.clone()),
            gathers: bottom.gathers,
        });
    }
    self::ports(context, composition, notices);
    grounds(context, composition, notices);
}

fn ports(context: &mut Context, composition: &Composition, notices: &Notices) {
    for top in &composition.ports {
        let (Ground::Node(below, _), Some(place)) =
            (top.ground, place_below(composition, top.ground))
        else {
            continue;
        };
        let interface = notices.of_port(below);
        let mut attributes: Vec<_> = interface.attributes.into_values().collect();
        attributes.sort_unstable();
        attributes.dedup();
        let down = told_below(context, notices, below, interface.down);
        let opens = opened(context, composition, below);
        let mut up: Vec<_> = interface.up.into_values().collect();
        up.sort_unstable();
        // Of several ports of the same sessions the first listens.
        let opener = opens.filter(|session| context.program.listening(*session).is_none());
        let listens = opener.and_then(|session| listens(context.program, session, &up));
        context.program.ports.push(Port {
            name: top.name.text.clone(),
            below: place,
            passes: true,
            opens,
            listens,
            attributes,
            up,
            down,
            calls: top.calls.map(|function| function.text.clone()),
        });
    }
}

/// The notices that an application may tell: those that somebody below hears, and that carry no
/// message.
fn told_below(
    context: &Context,
    notices: &Notices,
    below: EntityId,
    down: BTreeMap<String, NoticeId>,
) -> Vec<NoticeId> {
    let heard = down.into_values();
    let heard = heard.filter(|notice| notices.is_heard_below(below, *notice));
    let carries = |notice: &NoticeId| context.program.notices[notice.at()].message;
    let mut told: Vec<_> = heard.filter(|notice| !carries(notice)).collect();
    told.sort_unstable();
    told
}

/// Where an application opens the sessions on which a multiplexor stands.
fn grounds(context: &mut Context, composition: &Composition, notices: &Notices) {
    for upper in composition.entities() {
        let lowers = &composition.node(upper).below;
        let (Sessions::Keyed, Some(below), [lower]) = (
            composition.sessions(upper),
            composition.below_that_comes_and_goes(upper),
            &lowers[..],
        ) else {
            continue;
        };
        let Some(place) = place_below(composition, lower.ground) else {
            continue;
        };
        let down = told_below(context, notices, below, notices.of_port(below).down);
        let own = &context.program.entities[below.at()].name;
        let taken = |name: &String| context.program.ports.iter().any(|port| port.name == *name);
        let numbered = (2..).map(|number| format!("{own}{number}"));
        let mut names = std::iter::once(own.clone()).chain(numbered);
        let free = names.find(|name| !taken(name));
        context.program.ports.push(Port {
            name: free.expect("there are more numbers than names"),
            below: place,
            passes: false,
            opens: opened(context, composition, below),
            listens: None,
            attributes: Vec::new(),
            up: Vec::new(),
            down,
            calls: None,
        });
    }
}

/// The kind of sessions with keys on which an entity's sessions stand, if they come and go.
fn opened(context: &Context, composition: &Composition, entity: EntityId) -> Option<KindId> {
    match composition.sessions(entity) {
        Sessions::Static(_) => None,
        Sessions::Keyed => Some(context.program.entities[entity.at()].session),
        Sessions::Same(below) | Sessions::Labelled(below, _) => opened(context, composition, below),
    }
}
