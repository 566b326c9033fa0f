//! Layers at their places: in, a [`Composition`]; out, for each entity a [`Layer`] with all words
//! that its bodies can use, and the tables of the program that those words name.
//!
//! ```text
//! parameters, constants, types     from the links up: a layer may name types of the one below
//! interfaces                       attributes and notices of each joint
//! kinds                            keys, fields, timers
//! headers                          where each field stands
//! functions, filters               which may read all of the above
//! ```
//!
//! What follows (rules of headers, finders, handlers) only reads what stands here.

use super::body::check_value_type;
use super::compose::{Composition, Ground, Lower};
use super::context::Context;
use super::expression::Instance;
use super::functions::functions;
use super::headers::layout;
use super::instances::{KindSource, describe, initials, kinds, notices};
use super::items::{Words, declare_types};
use super::load::Files;
use super::names::refuse_repeated;
use super::parameters::parameters;
use super::process::SignalId;
use super::processes::{self, Process, declare, processes_of};
use super::program::{
    AttributeId, Entity, EntityId, FieldId, FunctionId, KeyId, Kind, KindId, Population, Program,
    Role, Shape, TimerId,
};
use super::scope::{LowerJoint, Named, Scope};
use super::services::{Interface, ServiceId, Services, declare_attribute};
use super::value::Type;
use crate::diagnostic::{Diagnostic, Id};
use crate::syntax::loom::ast;
use std::collections::BTreeMap;

/// A layer at its place, as far as it is known.
pub struct Layer<'a> {
    /// Its place in the program.
    pub entity: EntityId,
    /// What it is made of.
    pub items: Vec<&'a ast::Item>,
    /// Its record, its sessions, its children.
    pub kinds: Vec<KindSource<'a>>,
    /// The open types of the services that it provides.
    pub bound: BTreeMap<String, Type>,
    /// What it gives.
    pub provides: Interface,
    /// The attributes and notices of the services that it hands on, given or not.
    pub hands_on: Interface,
    /// What it needs, joint by joint.
    pub requires: Vec<Interface>,
    /// What it uses beside the path.
    pub sides: Vec<Interface>,
    /// What all its bodies can name.
    pub scope: Scope,
    /// Functions that its services promise, made for those who stand on one of its sessions.
    pub promised: Vec<(usize, FunctionId)>,
    /// Functions that one kind declares for itself.
    pub functions: Vec<(KindId, String, FunctionId)>,
    /// Its processes, each behind the one in which it is declared.
    pub processes: Vec<Process<'a>>,
    /// Signals that one kind declares for itself.
    pub signals: Vec<(KindId, String, SignalId)>,
}

/// Everything around a layer that it is made from.
pub struct Around<'a, 'b> {
    /// What was read.
    pub files: &'a Files,
    /// Words of files without layers.
    pub words: &'b Words,
    /// Who stands where.
    pub composition: &'b Composition<'a>,
}

/// All layers of a composition, from the links up, and the words of the files around them.
pub fn layers<'a>(
    context: &mut Context,
    files: &'a Files,
    composition: &Composition<'a>,
    services: &mut Services<'a>,
) -> (Vec<Layer<'a>>, Words) {
    let mut layers = reserve(context, composition);
    let words = Words::collect(context, files);
    let around = &Around {
        files,
        words: &words,
        composition,
    };
    for entity in around.composition.entities() {
        types(context, around, services, &mut layers, entity);
    }
    for entity in around.composition.entities() {
        sides(context, around, services, &mut layers, entity);
        let composition = around.composition;
        let layer = &mut layers[entity.at()];
        let scope = layer.scope.clone();
        describe(context, composition, entity, layer, &scope);
        declare(context, layer, &scope);
        notices(context, composition, layer, &scope);
    }
    for entity in around.composition.entities() {
        layout(context, &mut layers[entity.at()]);
    }
    for entity in around.composition.entities() {
        functions(context, around, services, &mut layers, entity);
        initials(context, &layers[entity.at()]);
        processes::initials(context, &layers[entity.at()]);
    }
    (layers, words)
}

/// Checks files without layers. What is said of entities is said of one that stands in for all
/// who use them.
pub fn items_alone(context: &mut Context, files: &Files) {
    let root = files.unit(files.root());
    let span = context.sources.span(root.files[0]).before();
    for role in [Role::Record, Role::Session] {
        let kind = empty_kind(EntityId(0), role);
        context.program.kinds.push(kind);
    }
    context.program.entities.push(Entity {
        name: "anyone".to_string(),
        layer: "anyone".to_string(),
        docs: Vec::new(),
        shape: Shape::Worker,
        header: None,
        record: KindId(0),
        session: KindId(1),
        children: Vec::new(),
        below: Vec::new(),
        users: Vec::new(),
        beside: Vec::new(),
        finders: Vec::new(),
        refused: Vec::new(),
        mark: None,
        no_buffer: None,
        span,
    });
    Words::collect(context, files);
}

/// Gives entities and kinds their numbers.
fn reserve<'a>(context: &mut Context, composition: &Composition<'a>) -> Vec<Layer<'a>> {
    let mut layers = Vec::new();
    for entity in composition.entities() {
        let node = composition.node(entity);
        let items: Vec<_> = node.layer.items.iter().collect();
        let first = context.program.kinds.len() as u32;
        let kinds = kinds(context, &items, first);
        let mut processes = Vec::new();
        for kind in &kinds {
            processes_of(&items, kind, &mut processes);
        }
        for kind in &kinds {
            context.program.kinds.push(empty_kind(entity, kind.role));
        }
        context.program.entities.push(Entity {
            name: node.name.clone(),
            layer: node.layer.name.text.clone(),
            docs: node.layer.notes.documentation.clone(),
            shape: match node.layer.shape {
                ast::Shape::Worker => Shape::Worker,
                ast::Shape::Multiplexor => Shape::Multiplexor,
                ast::Shape::Router => Shape::Router,
            },
            header: None,
            record: kinds[0].id,
            session: kinds[1].id,
            children: kinds[2..].iter().map(|kind| kind.id).collect(),
            below: Vec::new(),
            users: node.users.clone(),
            beside: Vec::new(),
            finders: Vec::new(),
            refused: Vec::new(),
            mark: None,
            no_buffer: None,
            span: node.span,
        });
        let scope = Scope {
            alone: composition.alone,
            ..Scope::new(entity, kinds[1].id)
        };
        layers.push(Layer {
            entity,
            items,
            kinds,
            bound: BTreeMap::new(),
            provides: Interface::default(),
            hands_on: Interface::default(),
            requires: Vec::new(),
            sides: Vec::new(),
            scope,
            promised: Vec::new(),
            functions: Vec::new(),
            processes,
            signals: Vec::new(),
        });
    }
    layers
}

fn empty_kind(entity: EntityId, role: Role) -> Kind {
    Kind {
        name: String::new(),
        entity,
        role,
        keys: Vec::new(),
        capacity: 1,
        fields: Vec::new(),
        timers: Vec::new(),
        population: Population::Dynamic { above: None },
        reactive: None,
    }
}

/// Parameters, types and constants of a layer, and the interfaces of its joints above and below.
fn types<'a>(
    context: &mut Context,
    around: &Around<'a, '_>,
    services: &mut Services<'a>,
    layers: &mut [Layer<'a>],
    entity: EntityId,
) {
    let Around {
        files,
        words,
        composition,
    } = around;
    let node = composition.node(entity);
    let (below, rest) = layers.split_at_mut(entity.at());
    let layer = &mut rest[0];
    let known = words.of_unit(node.unit);
    layer.scope.names = known.names;
    layer.scope.types = known.types;
    layer.scope.addresses = known.addresses;
    for lower in &node.below {
        let bound = bound_below(composition, below, lower, services);
        for service in &lower.services {
            let types = services.types(context, words, *service, &bound);
            layer.scope.types.extend(types);
        }
    }
    let enums_of = node.provides.iter().copied();
    let enums_of = enums_of.chain(node.sides.iter().filter_map(|side| side.service));
    for service in enums_of.collect::<Vec<_>>() {
        let bound = layer.scope.types.clone();
        for (name, of) in services.types(context, words, service, &bound) {
            if matches!(of, Type::Enum(_)) {
                layer.scope.types.entry(name).or_insert(of);
            }
        }
    }
    parameters(context, files, words, composition, entity, &mut layer.scope);
    refuse_repeated(layer_names(node.layer), context.diagnostics);
    let required = layer.scope.types.clone();
    declare_types(context, &mut layer.scope, &layer.items, &node.name);
    check_required_types(context, layer, &required);
    bind(context, services, &node.provides, layer);
    for service in &node.provides {
        let interface = services.interface(context, words, *service, &layer.bound);
        layer.provides.add(&interface);
    }
    for service in &node.hands_on {
        let interface = services.interface(context, words, *service, &layer.scope.types);
        layer.hands_on.add(&interface);
    }
    for lower in &node.below {
        let bound = match composition.alone {
            true => layer.scope.types.clone(),
            false => bound_below(composition, below, lower, services),
        };
        let mut interface = Interface::default();
        for service in lower.services.iter().chain(&lower.optional) {
            interface.add(&services.interface(context, words, *service, &bound));
        }
        layer.requires.push(interface);
    }
    let own = own_attributes(context, layer, &node.name);
    fill_scope(composition, layer, own);
}

/// The open types of what is below a joint.
fn bound_below(
    composition: &Composition,
    below: &[Layer],
    lower: &Lower,
    services: &Services,
) -> BTreeMap<String, Type> {
    match lower.ground {
        Ground::Node(entity, _) if entity.at() < below.len() => below[entity.at()].bound.clone(),
        Ground::Node(..) | Ground::Link(_) => BTreeMap::new(),
        Ground::Nothing if !composition.alone => BTreeMap::new(),
        Ground::Nothing => {
            let services_below = lower.services.iter();
            let open = services_below.flat_map(|service| services.open_types(*service));
            open.map(|name| (name.text.clone(), Type::Abstract(name.text.clone())))
                .collect()
        }
    }
}

/// A layer may say what it needs a type of the service below to be.
fn check_required_types(context: &mut Context, layer: &Layer, required: &BTreeMap<String, Type>) {
    for item in &layer.items {
        let ast::Item::Type(source) = item else {
            continue;
        };
        let name = &source.name.text;
        let (Some(below), Some(here)) = (required.get(name), layer.scope.types.get(name)) else {
            continue;
        };
        if below != here && !matches!(below, Type::Abstract(_) | Type::Nothing) {
            let title = format!("the layer below defines the type `{name}` differently");
            context.report(
                Diagnostic::error(Id::ServiceMissing, title, source.span, "").why(
                    "A layer that defines a type of the service below must define it as the layer \
                    below does.",
                ),
            );
        }
    }
}

/// Finds what the open types of the provided services are: what the layer says, or else what they
/// are below.
fn bind(context: &mut Context, services: &Services, provides: &[ServiceId], layer: &mut Layer) {
    for service in provides {
        for open in services.open_types(*service) {
            if layer.bound.contains_key(&open.text) {
                continue;
            }
            let known = layer.scope.types.get(&open.text).cloned();
            if known.is_none() && !layer.scope.alone {
                let entity = &context.program.entities[layer.entity.at()];
                let name = services.name(*service);
                let title = format!("`{}` does not define the type `{open}`", entity.layer);
                context.diagnostics.push(
                    Diagnostic::error(Id::ServiceMissing, title, entity.span, "")
                        .label(
                            open.span,
                            format!("the service `{name}` leaves the type to its provider"),
                        )
                        .help(format!("add `type {open} = …` to the layer")),
                );
            }
            let unknown = Type::Abstract(open.text.clone());
            let of = known.unwrap_or(unknown);
            layer.scope.types.insert(open.text.clone(), of.clone());
            layer.bound.insert(open.text.clone(), of);
        }
    }
}

/// Names that a layer declares at its top.
fn layer_names(layer: &ast::Layer) -> Vec<&ast::Name> {
    let parameters = layer.parameters.iter().map(|parameter| &parameter.name);
    let items = layer.items.iter().filter_map(|item| match item {
        ast::Item::Constant(item) => Some(&item.name),
        ast::Item::Filter(item) => Some(&item.name),
        ast::Item::Function(item) => Some(&item.name),
        ast::Item::Process(item) => Some(&item.name),
        ast::Item::Header(item) => item.name.as_ref(),
        ast::Item::Type(_)
        | ast::Item::Enum(_)
        | ast::Item::Record(_)
        | ast::Item::Attribute(_)
        | ast::Item::Instance(_)
        | ast::Item::Finder(_)
        | ast::Item::Handler(_) => None,
    });
    parameters.chain(items).collect()
}

fn own_attributes(
    context: &mut Context,
    layer: &Layer,
    owner: &str,
) -> BTreeMap<String, AttributeId> {
    let mut own = BTreeMap::new();
    for item in &layer.items {
        if let ast::Item::Attribute(source) = item {
            let kind = check_value_type(context, &layer.scope, &source.of);
            let id = declare_attribute(context, &layer.scope, owner, source, kind);
            own.insert(source.name.text.clone(), id);
        }
    }
    own
}

/// Words for what the joints above and below give.
fn fill_scope(composition: &Composition, layer: &mut Layer, own: BTreeMap<String, AttributeId>) {
    let node = composition.node(layer.entity);
    let mut seen = Interface {
        attributes: own,
        ..Interface::default()
    };
    for lower in &layer.requires {
        seen.add(lower);
    }
    let below = std::mem::take(&mut seen.down);
    seen.add(&layer.provides);
    let scope = &mut layer.scope;
    scope.attributes = seen.attributes;
    let mut told = layer.provides.clone();
    told.add(&layer.hands_on);
    scope.above = told.up;
    scope.below = below;
    let lowers = node.below.iter().zip(&layer.requires);
    let joints = lowers.map(|(lower, interface)| LowerJoint {
        name: lower.name.clone(),
        notices: interface.down.clone(),
    });
    scope.joints = joints.collect();
    scope.has_above = composition.alone || !node.above.is_empty();
    for kind in &layer.kinds {
        if kind.role != Role::Record {
            let name = kind.name.to_string();
            scope.names.insert(name, Named::Kind(kind.id));
        }
    }
}

/// The interfaces of a layer's side joints, whose far ends may stand above it.
fn sides<'a>(
    context: &mut Context,
    around: &Around<'a, '_>,
    services: &mut Services<'a>,
    layers: &mut [Layer<'a>],
    entity: EntityId,
) {
    for side in &around.composition.node(entity).sides {
        let Some(service) = side.service else {
            layers[entity.at()].sides.push(Interface::default());
            continue;
        };
        let bound = match side.entity {
            Some(provider) => layers[provider.at()].bound.clone(),
            None => {
                let open = services.open_types(service).into_iter();
                let here = &layers[entity.at()].scope.types;
                open.map(|name| {
                    let unknown = || Type::Abstract(name.text.clone());
                    let of = here.get(&name.text).cloned().unwrap_or_else(unknown);
                    (name.text.clone(), of)
                })
                .collect()
            }
        };
        let interface = services.interface(context, around.words, service, &bound);
        let provider = side.entity.unwrap_or(entity);
        let layer = &mut layers[entity.at()];
        let name = side.name.text.clone();
        layer
            .scope
            .sides
            .insert(name, (provider, interface.down.clone()));
        for (name, attribute) in &interface.attributes {
            let attributes = &mut layer.scope.attributes;
            attributes.entry(name.clone()).or_insert(*attribute);
        }
        layer.sides.push(interface.clone());
        let beside = &mut context.program.entities[provider.at()].beside;
        if side.entity.is_some() {
            for notice in interface.up.values() {
                if !beside.contains(notice) {
                    beside.push(*notice);
                }
            }
        }
    }
}

/// What the bodies of one kind can name: its own keys, fields and timers first, then those of the
/// entity, then what the whole layer can.
pub fn kind_scope(program: &Program, layer: &Layer, kind: KindId) -> Scope {
    let mut scope = layer.scope.clone();
    scope.kind = kind;
    let record = layer.kinds[0].id;
    if kind != record {
        add_instance(program, &mut scope, record, Instance::Entity);
    }
    add_instance(program, &mut scope, kind, Instance::Own);
    for (owner, name, function) in &layer.functions {
        if *owner == kind {
            scope.names.insert(name.clone(), Named::Function(*function));
        }
    }
    for (owner, name, signal) in &layer.signals {
        if *owner == kind {
            scope.names.insert(name.clone(), Named::Signal(*signal));
        }
    }
    for (at, process) in layer.processes.iter().enumerate() {
        scope.processes.push(process.names.clone());
        if process.kind == kind && process.parent.is_none() {
            let named = Named::Process(at as u32);
            scope.names.insert(process.path.clone(), named);
        }
    }
    scope
}

fn add_instance(program: &Program, scope: &mut Scope, id: KindId, instance: Instance) {
    let kind = &program.kinds[id.at()];
    let keys = kind.keys.iter().enumerate();
    let keys = keys.filter(|(_, key)| !matches!(key.kind, Type::Instance(_)));
    let keys = keys.map(|(place, key)| {
        let named = Named::Key(instance, id, KeyId(place as u32));
        (key.name.clone(), named)
    });
    let fields = kind.fields.iter().enumerate().map(|(place, field)| {
        let named = Named::Field(instance, id, FieldId(place as u32));
        (field.name.clone(), named)
    });
    let timers = kind.timers.iter().enumerate().map(|(place, timer)| {
        let named = Named::Timer(instance, id, TimerId(place as u32));
        (timer.clone(), named)
    });
    scope.names.extend(keys.chain(fields).chain(timers));
}
