//! Which layer stands where: in, a `stack` as it is written; out, a [`Composition`]: a node for
//! each entity, with what is below, above and beside it.
//!
//! Joints are checked as far as names and services go. What needs constants (keys) follows in
//! `instances`.
//!
//! ```text
//! link tap { ethernet(..) { key 0x0806 arp(..)  key 0x0800 ipv4(resolver = arp, ..) {..} } }
//!   node 0 ethernet   below: link 0               above: [0x0806 node 1, 0x0800 node 2]
//!   node 1 arp        below: node 0, upper 0      above: []       users: [node 2]
//!   node 2 ipv4       below: node 0, upper 1      sides: [node 1, ..]
//! ```

use super::ends::{Bottom, Top};
use super::instances::session_keys;
use super::joints::{
    check_joints, keep_first_place, lower_not_joined, lowers_of, no_key_here, router_in_braces,
    side_not_joined, stands_on_nothing, unknown_layer,
};
use super::load::{Files, UnitId};
use super::names::{refuse_repeated, suggest};
use super::program::{EntityId, LinkId, PortId};
use super::scope::JointName;
use super::services::{ServiceId, Services};
use crate::diagnostic::{Diagnostic, Id};
use crate::source::Span;
use crate::syntax::loom::{ast, is_part_of_slots};
use rustc_hash::{FxHashMap, FxHashSet};

/// All entities of a stack, and how they are joined.
pub struct Composition<'a> {
    /// By [`EntityId`].
    pub nodes: Vec<Node<'a>>,
    /// By [`LinkId`].
    pub links: Vec<Bottom<'a>>,
    /// By [`PortId`].
    pub ports: Vec<Top<'a>>,
    /// Whether it is one layer, checked by itself.
    pub alone: bool,
}

/// A layer at its place.
pub struct Node<'a> {
    /// Where the layer was written.
    pub unit: UnitId,
    /// As it was written.
    pub layer: &'a ast::Layer,
    /// Its name after `as` in the stack.
    pub alias: Option<&'a ast::Name>,
    /// Unique in the stack.
    pub name: String,
    /// Where it stands in the stack.
    pub span: Span,
    /// Parameters and side joints.
    pub arguments: &'a [ast::Argument],
    /// What it gives.
    pub provides: Vec<ServiceId>,
    /// The services that it gives if the layers below give them.
    pub hands_on: Vec<ServiceId>,
    /// Its joints below.
    pub below: Vec<Lower>,
    /// Its joints above, in the order of writing.
    pub above: Vec<Upper<'a>>,
    /// Its side joints.
    pub sides: Vec<Side<'a>>,
    /// Who reaches it by a side joint, in the order of the stack.
    pub users: Vec<EntityId>,
}

/// A joint below.
pub struct Lower {
    /// `requires NAME: …`
    pub name: Option<JointName>,
    /// What is needed.
    pub services: Vec<ServiceId>,
    /// Services that are used if they are there.
    pub optional: Vec<ServiceId>,
    /// What is there.
    pub ground: Ground,
}

/// What a joint stands on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Ground {
    /// A link.
    Link(LinkId),
    /// One of the upper joints of an entity.
    Node(EntityId, usize),
    /// Not known: the layer is checked alone, or the mistake was reported.
    Nothing,
}

/// A joint above.
pub struct Upper<'a> {
    /// What it is labelled with.
    pub key: Option<&'a ast::Expression>,
    /// What is there.
    pub place: Above,
    /// Where it is written.
    pub span: Span,
}

/// What stands on a joint.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Above {
    /// An entity, which calls this one of its lower joints.
    Node(EntityId, usize),
    /// An application.
    Port(PortId),
}

/// A joint beside the path.
pub struct Side<'a> {
    /// `uses NAME: …`
    pub name: &'a ast::Name,
    /// What is needed.
    pub service: Option<ServiceId>,
    /// Who gives it; none while the layer is checked alone, or if a mistake was reported.
    pub entity: Option<EntityId>,
}

/// Where the sessions of an entity come from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Sessions {
    /// So many exist from the start.
    Static(usize),
    /// They are found by keys of their own, and come and go.
    Keyed,
    /// One on each session of the entity below, which comes and goes with it.
    Same(EntityId),
    /// So many on each session of the entity below, which come and go with it.
    Labelled(EntityId, usize),
}

/// Puts the nodes of a stack in their places.
pub fn compose<'a>(
    files: &'a Files,
    services: &Services<'a>,
    stack: &'a ast::Stack,
    diagnostics: &mut Vec<Diagnostic>,
) -> Composition<'a> {
    let mut composer = Composer {
        files,
        services,
        diagnostics: &mut *diagnostics,
        misnamed: Vec::new(),
        composition: Composition {
            nodes: Vec::new(),
            links: Vec::new(),
            ports: Vec::new(),
            alone: false,
        },
    };
    for node in &stack.nodes {
        composer.place(node, None);
    }
    if composer.composition.nodes.is_empty() && composer.diagnostics.is_empty() {
        composer.diagnostics.push(empty_stack(stack));
    }
    composer.name_nodes(stack);
    composer.join_sides();
    let mut composition = composer.composition;
    composition.hand_on(services);
    check_joints(&composition, services, diagnostics);
    keep_first_place(diagnostics);
    composition
}

/// One layer alone, with nothing known around it.
pub fn compose_alone<'a>(
    services: &Services<'a>,
    unit: UnitId,
    layer: &'a ast::Layer,
    diagnostics: &mut Vec<Diagnostic>,
) -> Composition<'a> {
    let mut node = node(services, unit, layer, layer.name.span, &[], diagnostics);
    node.provides.extend(&node.hands_on);
    Composition {
        nodes: vec![node],
        links: Vec::new(),
        ports: Vec::new(),
        alone: true,
    }
}

impl<'a> Composition<'a> {
    /// One of them.
    pub fn node(&self, entity: EntityId) -> &Node<'a> {
        &self.nodes[entity.at()]
    }

    /// All entities, from the links up.
    pub fn entities(&self) -> impl Iterator<Item = EntityId> + use<> {
        (0..self.nodes.len() as u32).map(EntityId)
    }

    /// Where the sessions of an entity come from. An entity stands only on those before it.
    pub fn sessions(&self, entity: EntityId) -> Sessions {
        let node = self.node(entity);
        let lower = self.below_that_comes_and_goes(entity);
        if node.layer.shape == ast::Shape::Multiplexor {
            let labelled = node.above.iter().any(|upper| upper.key.is_some());
            let listed = labelled || session_keys(node.layer).is_empty();
            return match lower {
                None if listed => Sessions::Static(node.above.len()),
                Some(below) if labelled => Sessions::Labelled(below, node.above.len()),
                None | Some(_) => Sessions::Keyed,
            };
        }
        lower.map_or(Sessions::Static(1), Sessions::Same)
    }

    /// What an entity stands on, if the sessions there come and go. An entity stands only on those
    /// before it.
    pub fn below_that_comes_and_goes(&self, entity: EntityId) -> Option<EntityId> {
        let lower = self
            .node(entity)
            .below
            .iter()
            .find_map(|lower| match lower.ground {
                Ground::Node(below, _) if below < entity => Some(below),
                Ground::Node(..) | Ground::Link(_) | Ground::Nothing => None,
            });
        lower.filter(|below| match self.sessions(*below) {
            Sessions::Keyed | Sessions::Same(_) | Sessions::Labelled(..) => true,
            Sessions::Static(_) => false,
        })
    }

    /// Gives each layer the services that it hands on: those that all joints give which may have
    /// them. What a joint gives comes first in its list, so that its words are meant where another
    /// service has the same.
    fn hand_on(&mut self, services: &Services) {
        for entity in self.entities() {
            for joint in 0..self.node(entity).below.len() {
                let lower = &self.node(entity).below[joint];
                let (ground, mut optional) = (lower.ground, lower.optional.clone());
                optional.sort_by_key(|service| !self.gives(ground, *service, services));
                self.nodes[entity.at()].below[joint].optional = optional;
            }
            let node = self.node(entity);
            let is_given = |service: &ServiceId| {
                let lowers = node.below.iter();
                let mut lowers = lowers.filter(|lower| lower.optional.contains(service));
                lowers.all(|lower| self.gives(lower.ground, *service, services))
            };
            let given = node.hands_on.iter().copied().filter(is_given);
            let given: Vec<_> = given.collect();
            self.nodes[entity.at()].provides.extend(given);
        }
    }

    fn gives(&self, ground: Ground, service: ServiceId, services: &Services) -> bool {
        match ground {
            Ground::Node(below, _) => {
                let mut given = self.node(below).provides.iter();
                given.any(|given| services.gives(*given, service))
            }
            Ground::Link(_) => services.is_of_links(service),
            Ground::Nothing => true,
        }
    }
}

struct Composer<'a, 'b> {
    files: &'a Files,
    services: &'b Services<'a>,
    diagnostics: &'b mut Vec<Diagnostic>,
    /// Who is given what has no meaning.
    misnamed: Vec<EntityId>,
    composition: Composition<'a>,
}

impl<'a> Composer<'a, '_> {
    /// Puts a node on its ground, and all that stands on it on the node.
    fn place(&mut self, node: &'a ast::Node, ground: Option<Ground>) {
        if let Some(Ground::Link(_)) | None = ground
            && let Some(key) = &node.key
        {
            self.diagnostics.push(no_key_here(key.span));
        }
        match &node.kind {
            ast::NodeKind::Link {
                name,
                arguments,
                calls,
                gathers,
            } => {
                let bottom = Bottom {
                    name,
                    arguments,
                    calls: calls.as_ref(),
                    gathers: *gathers,
                };
                self.link(node, bottom, ground);
            }
            ast::NodeKind::Port { name, calls } => self.port(node, (name, calls), ground),
            ast::NodeKind::Layer(wanted) => self.layer(node, wanted, ground),
            ast::NodeKind::Slot(_) => panic!("slots were replaced by layers when they were read"),
        }
    }

    fn link(&mut self, node: &'a ast::Node, bottom: Bottom<'a>, ground: Option<Ground>) {
        let name = bottom.name;
        if ground.is_some() {
            let title = format!("the link `{name}` stands on a layer");
            self.diagnostics
                .push(Diagnostic::error(Id::Misplaced, title, name.span, "").why(
                    "A link is at the bottom of a stack, so it cannot be in the braces of a layer.",
                ));
        }
        let link = LinkId(self.composition.links.len() as u32);
        self.composition.links.push(bottom);
        if node.above.len() != 1 {
            let many = node.above.get(1).map(|second| second.span);
            let (title, help) = match many {
                Some(_) => ("several layers stand on", "put a multiplexor between them"),
                None => ("nothing stands on", "put a layer into its braces"),
            };
            let title = format!("{title} the link `{name}`");
            self.diagnostics.push(
                Diagnostic::error(Id::OneAbove, title, many.unwrap_or(name.span), "").help(help),
            );
        }
        let above = node.above.iter();
        above.for_each(|above| self.place(above, Some(Ground::Link(link))));
    }

    fn port(
        &mut self,
        node: &'a ast::Node,
        (name, calls): (&'a ast::Name, &'a Option<ast::Name>),
        ground: Option<Ground>,
    ) {
        if let Some(above) = node.above.first() {
            let title = format!("a layer stands on the port `{name}`");
            self.diagnostics.push(
                Diagnostic::error(Id::Misplaced, title, above.span, "")
                    .why("A port is at the top of a stack, and connects an application."),
            );
        }
        let Some(Ground::Node(below, _)) = ground else {
            let title = format!("the port `{name}` stands on no layer");
            self.diagnostics.push(
                Diagnostic::error(Id::Misplaced, title, name.span, "")
                    .why("A port stands on a layer, which passes messages to it."),
            );
            return;
        };
        let port = PortId(self.composition.ports.len() as u32);
        let upper = self.add_upper(below, node, Above::Port(port));
        self.composition.ports.push(Top {
            name,
            ground: Ground::Node(below, upper),
            calls: calls.as_ref(),
        });
    }

    fn layer(&mut self, node: &'a ast::Node, wanted: &'a ast::LayerUse, ground: Option<Ground>) {
        let Some((unit, layer)) = self.find(&wanted.layer) else {
            return;
        };
        let span = wanted.alias.as_ref().unwrap_or(&wanted.layer).span;
        let arguments = &wanted.arguments;
        let mut made = self::node(
            self.services,
            unit,
            layer,
            span,
            arguments,
            self.diagnostics,
        );
        made.alias = wanted.alias.as_ref();
        let entity = EntityId(self.composition.nodes.len() as u32);
        if layer.shape == ast::Shape::Router {
            if ground.is_some() {
                self.diagnostics.push(router_in_braces(wanted));
            }
        } else {
            made.below[0].ground = match ground {
                Some(Ground::Node(below, _)) => {
                    let upper = self.add_upper(below, node, Above::Node(entity, 0));
                    Ground::Node(below, upper)
                }
                Some(ground) => ground,
                None => {
                    self.diagnostics.push(stands_on_nothing(wanted));
                    Ground::Nothing
                }
            };
        }
        self.composition.nodes.push(made);
        for above in &node.above {
            self.place(above, Some(Ground::Node(entity, 0)));
        }
    }

    fn add_upper(&mut self, below: EntityId, node: &'a ast::Node, place: Above) -> usize {
        let above = &mut self.composition.nodes[below.at()].above;
        above.push(Upper {
            key: node.key.as_ref(),
            place,
            span: node.span,
        });
        above.len() - 1
    }

    fn find(&mut self, name: &ast::Name) -> Option<(UnitId, &'a ast::Layer)> {
        let visible = self.files.visible(self.files.root());
        let layers = visible.iter().flat_map(|unit| {
            let layers = self.files.unit(*unit).layers.iter();
            layers.map(|layer| (*unit, layer))
        });
        let found = layers
            .clone()
            .find(|(_, layer)| layer.name.text == name.text);
        if found.is_none() {
            let known = layers.map(|(_, layer)| &*layer.name.text);
            let known: Vec<_> = known.filter(|name| !is_part_of_slots(name)).collect();
            self.diagnostics
                .push(unknown_layer(self.files, name, &known));
        }
        found
    }

    /// Gives each node a name of its own: what repeats without `as` is numbered.
    fn name_nodes(&mut self, stack: &'a ast::Stack) {
        let mut aliases = Vec::new();
        collect_aliases(&stack.nodes, &mut aliases);
        let ends = self.composition.links.iter().map(|link| link.name);
        let ends = ends.chain(self.composition.ports.iter().map(|port| port.name));
        refuse_repeated(ends.chain(aliases.iter().copied()), self.diagnostics);
        let mut names: FxHashSet<String> = aliases.iter().map(|alias| alias.text.clone()).collect();
        // Names are never given back: the next one of a layer has no lower number.
        let mut numbers: FxHashMap<&str, usize> = FxHashMap::default();
        for node in &mut self.composition.nodes {
            if let Some(alias) = node.alias {
                node.name = alias.text.clone();
                continue;
            }
            let layer = &*node.layer.name.text;
            let number = numbers.entry(layer).or_insert(1);
            node.name = loop {
                let name = match *number {
                    1 => layer.to_string(),
                    number => format!("{layer}{number}"),
                };
                *number += 1;
                if names.insert(name.clone()) {
                    break name;
                }
            };
        }
    }

    /// Finds what each argument is: the far end of a side joint, what a router stands on, or the
    /// value of a parameter.
    fn join_sides(&mut self) {
        for entity in self.composition.entities() {
            let arguments = self.composition.node(entity).arguments;
            refuse_repeated(
                arguments.iter().map(|argument| &argument.name),
                self.diagnostics,
            );
            for argument in arguments {
                self.join_argument(entity, argument);
            }
            if !self.misnamed.contains(&entity) {
                self.check_all_joined(entity);
            }
        }
        for entity in self.composition.entities() {
            for place in 0..self.composition.node(entity).sides.len() {
                if let Some(side) = self.composition.node(entity).sides[place].entity {
                    let users = &mut self.composition.nodes[side.at()].users;
                    if !users.contains(&entity) {
                        users.push(entity);
                    }
                }
            }
        }
    }

    fn join_argument(&mut self, entity: EntityId, argument: &'a ast::Argument) {
        let node = self.composition.node(entity);
        let name = &argument.name;
        let side = node
            .sides
            .iter()
            .position(|side| side.name.text == name.text);
        let is_router = node.layer.shape == ast::Shape::Router;
        let is_named = |lower: &Lower| lower.name.as_ref().is_some_and(|it| it.word == name.text);
        let lower = node.below.iter().position(|it| is_router && is_named(it));
        if let Some(side) = side {
            let found = self.named(&argument.value);
            self.composition.nodes[entity.at()].sides[side].entity = found;
        } else if let Some(lower) = lower {
            for (place, joint) in self.joints_given(entity, lower, argument) {
                self.join_router(entity, place, joint);
            }
        } else if !node
            .layer
            .parameters
            .iter()
            .any(|other| other.name.text == name.text)
        {
            let title = format!("`{}` has no parameter `{name}`", node.layer.name);
            let parameters = node.layer.parameters.iter().map(|other| &*other.name.text);
            let sides = node.sides.iter().map(|side| &*side.name.text);
            let known: Vec<_> = parameters.chain(sides).chain(lowers_of(node)).collect();
            let diagnostic = Diagnostic::error(Id::UnknownParameter, title, name.span, "")
                .label(node.layer.name.span, "the layer");
            // What seems to be missing is perhaps what this name was meant to be.
            self.misnamed.push(entity);
            let diagnostic = suggest(diagnostic, &name.text, &known);
            self.diagnostics.push(diagnostic);
        }
    }

    /// Returns the layer that an argument gives each joint of a router: one layer, or a list.
    fn joints_given(
        &mut self,
        entity: EntityId,
        first: usize,
        argument: &'a ast::Argument,
    ) -> Vec<(usize, &'a ast::Expression)> {
        let name = self.composition.node(entity).below[first].name.as_ref();
        let is_list = name.is_some_and(|name| name.number.is_some());
        match &argument.value.kind {
            ast::ExpressionKind::List(joints) if is_list && !joints.is_empty() => {
                (first..).zip(joints).collect()
            }
            ast::ExpressionKind::List(_) => {
                let (title, help) = match is_list {
                    true => ("the list of joints is empty", "write at least one layer"),
                    false => (
                        "this joint stands on one layer, not on a list",
                        "write the name of a layer, without brackets",
                    ),
                };
                let span = argument.value.span;
                self.diagnostics
                    .push(Diagnostic::error(Id::UnknownEntity, title, span, "").help(help));
                Vec::new()
            }
            _ if is_list => {
                let title = format!("`{}` is a list of joints", argument.name);
                let span = argument.value.span;
                let help = format!("write `{} = [FIRST, SECOND]`", argument.name);
                self.diagnostics
                    .push(Diagnostic::error(Id::UnknownEntity, title, span, "").help(help));
                Vec::new()
            }
            _ => vec![(first, &argument.value)],
        }
    }

    fn join_router(&mut self, entity: EntityId, lower: usize, joint: &'a ast::Expression) {
        let Some(below) = self.named(joint) else {
            return;
        };
        if below >= entity {
            let title = "a router comes before a layer below it";
            self.diagnostics.push(
                Diagnostic::error(Id::Misplaced, title, joint.span, "")
                    .label(self.composition.node(below).span, "declared later")
                    .why("A stack lists its layers from the links up.")
                    .help("move the router after this layer"),
            );
            return;
        }
        let above = &mut self.composition.nodes[below.at()].above;
        above.push(Upper {
            key: None,
            place: Above::Node(entity, lower),
            span: joint.span,
        });
        let upper = above.len() - 1;
        let lower = &mut self.composition.nodes[entity.at()].below[lower];
        lower.ground = Ground::Node(below, upper);
    }

    /// The node that an argument names.
    fn named(&mut self, value: &ast::Expression) -> Option<EntityId> {
        let ast::ExpressionKind::Name(name) = &value.kind else {
            let title = "the value of a joint must be the name of a layer of the stack";
            self.diagnostics
                .push(Diagnostic::error(Id::UnknownEntity, title, value.span, ""));
            return None;
        };
        let nodes = &self.composition.nodes;
        let found = nodes.iter().position(|node| node.name == name.text);
        let mut told = self.diagnostics.iter();
        if found.is_none() && !told.any(|it| it.id == Id::UnknownLayer) {
            let title = format!("this stack has no layer `{name}`");
            let known: Vec<_> = nodes.iter().map(|node| &*node.name).collect();
            let diagnostic = Diagnostic::error(Id::UnknownEntity, title, name.span, "").why(
                "A joint names a layer of the stack, by its `as` name or else by its own name.",
            );
            self.diagnostics
                .push(suggest(diagnostic, &name.text, &known));
        }
        found.map(|place| EntityId(place as u32))
    }

    fn check_all_joined(&mut self, entity: EntityId) {
        let node = self.composition.node(entity);
        let given = |name: &str| node.arguments.iter().any(|argument| argument.name.is(name));
        for side in node.sides.iter().filter(|side| !given(&side.name.text)) {
            let nodes = self.composition.nodes.iter();
            let gives = |node: &&Node| {
                let mut provided = node.provides.iter();
                provided.any(|it| side.service.is_some_and(|of| self.services.gives(*it, of)))
            };
            let candidates = nodes.filter(gives).map(|node| &*node.name).collect();
            let diagnostic = side_not_joined(node, side, candidates);
            self.diagnostics.push(diagnostic);
        }
        if node.layer.shape == ast::Shape::Router {
            for name in lowers_of(node).filter(|name| !given(name)) {
                self.diagnostics.push(lower_not_joined(node, name));
            }
        }
    }
}

/// A node with its services found, and nothing joined.
fn node<'a>(
    services: &Services<'a>,
    unit: UnitId,
    layer: &'a ast::Layer,
    span: Span,
    arguments: &'a [ast::Argument],
    diagnostics: &mut Vec<Diagnostic>,
) -> Node<'a> {
    let mut find = |name: &ast::Name| {
        let found = services.find(unit, &name.text);
        if found.is_none() {
            diagnostics.push(services.unknown(unit, name));
        }
        found
    };
    let mut provides: Vec<_> = layer.provides.iter().filter_map(&mut find).collect();
    let hands_on = layer.hands_on.iter().filter_map(&mut find).collect();
    if layer.provides.is_empty() {
        provides.push(services.messages());
    }
    let below = lowers(services, layer, arguments, &mut find);
    let sides = layer.uses.iter().map(|side| Side {
        name: &side.name,
        service: find(&side.service),
        entity: None,
    });
    let sides = sides.collect();
    Node {
        unit,
        layer,
        alias: None,
        name: layer.name.text.clone(),
        span,
        arguments,
        provides,
        hands_on,
        below,
        above: Vec::new(),
        sides,
        users: Vec::new(),
    }
}

/// The lower joints of a layer, with nothing joined.
fn lowers(
    services: &Services,
    layer: &ast::Layer,
    arguments: &[ast::Argument],
    find: &mut impl FnMut(&ast::Name) -> Option<ServiceId>,
) -> Vec<Lower> {
    let mut below: Vec<Lower> = Vec::new();
    for required in &layer.requires {
        let found: Vec<_> = required.services.iter().filter_map(&mut *find).collect();
        let optional: Vec<_> = required.optional.iter().filter_map(&mut *find).collect();
        let lower = |name: Option<JointName>| Lower {
            name,
            services: found.clone(),
            optional: optional.clone(),
            ground: Ground::Nothing,
        };
        let Some(joint) = &required.joint else {
            match below.last_mut() {
                Some(last) if last.name.is_none() => {
                    last.services.extend(found);
                    last.optional.extend(optional);
                }
                Some(_) | None => below.push(lower(None)),
            }
            continue;
        };
        let named = |number| {
            let word = joint.text.clone();
            lower(Some(JointName { word, number }))
        };
        match required.is_list {
            true => below.extend((0..listed(arguments, joint)).map(|it| named(Some(it)))),
            false => below.push(named(None)),
        }
    }
    if below.is_empty() {
        below.push(Lower {
            name: None,
            services: vec![services.messages()],
            optional: Vec::new(),
            ground: Ground::Nothing,
        });
    }
    below
}

/// Returns the number of joints that the stack gives a list; two if the layer is checked alone.
fn listed(arguments: &[ast::Argument], joint: &ast::Name) -> u32 {
    let mut given = arguments.iter().filter(|it| it.name.is(&joint.text));
    match given.next().map(|argument| &argument.value.kind) {
        Some(ast::ExpressionKind::List(joints)) => joints.len().max(1) as u32,
        Some(_) | None => 2,
    }
}

fn collect_aliases<'a>(nodes: &'a [ast::Node], aliases: &mut Vec<&'a ast::Name>) {
    for node in nodes {
        if let ast::NodeKind::Layer(wanted) = &node.kind {
            aliases.extend(&wanted.alias);
        }
        collect_aliases(&node.above, aliases);
    }
}

fn empty_stack(stack: &ast::Stack) -> Diagnostic {
    let title = format!("the stack `{}` has no layer", stack.name);
    Diagnostic::error(Id::Misplaced, title, stack.name.span, "")
        .why("A stack has at least one layer, on a link.")
        .help("add `link NAME { … }` with a layer in its braces")
}
