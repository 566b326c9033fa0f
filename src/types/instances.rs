//! Kinds of instances: in, the blocks `entity`, `session` and `child` of a layer; out, tables of
//! keys, fields and timers, how many instances there are, and which exist from the start.

use super::body::{check_computed, check_expression, check_field_type, check_value_type};
use super::compose::{Above, Composition, Ground, Node, Sessions};
use super::constant::{fold, fold_number};
use super::context::Context;
use super::expression::Expression;
use super::items::{beginning, fields};
use super::layers::{Layer, kind_scope};
use super::names::{not_constant, refuse_repeated, taken};
use super::program::{
    EntityId, FieldId, Key, Kind, KindId, NoticeId, Place, Population, RecordId, Role,
    SessionIndex, StaticInstance,
};
use super::scope::Scope;
use super::services::notice;
use super::value::{Type, Value};
use crate::diagnostic::{Diagnostic, Id};
use crate::syntax::loom::ast;

/// A kind of a layer, with the blocks that describe it.
pub struct KindSource<'a> {
    /// Its place in the program.
    pub id: KindId,
    /// What it is to its entity.
    pub role: Role,
    /// Its name in the source: `entity`, `session`, or the child's.
    pub name: &'a str,
    /// `entity { … }` may be written several times, in the files of a folder.
    pub blocks: Vec<&'a ast::Instance>,
}

impl<'a> KindSource<'a> {
    /// All that the blocks declare.
    pub fn members(&self) -> impl Iterator<Item = &'a ast::Member> + '_ {
        self.blocks.iter().flat_map(|block| &block.members)
    }

    /// All its fields.
    pub fn fields(&self) -> Vec<&'a ast::Field> {
        let members = self.members();
        members
            .filter_map(|member| match member {
                ast::Member::Field(field) => Some(field),
                ast::Member::Timer(_)
                | ast::Member::Signal(_)
                | ast::Member::Notice(_)
                | ast::Member::Process(_)
                | ast::Member::Handler(_)
                | ast::Member::Function(_) => None,
            })
            .collect()
    }
}

/// The keys of a layer's sessions.
pub fn session_keys(layer: &ast::Layer) -> &[ast::Parameter] {
    let sessions = layer.items.iter().filter_map(|item| match item {
        ast::Item::Instance(instance) if instance.kind == ast::InstanceKind::Session => {
            Some(&*instance.keys)
        }
        ast::Item::Instance(_)
        | ast::Item::Constant(_)
        | ast::Item::Type(_)
        | ast::Item::Enum(_)
        | ast::Item::Record(_)
        | ast::Item::Attribute(_)
        | ast::Item::Header(_)
        | ast::Item::Filter(_)
        | ast::Item::Function(_)
        | ast::Item::Process(_)
        | ast::Item::Finder(_)
        | ast::Item::Handler(_) => None,
    });
    sessions.max_by_key(|keys| keys.len()).unwrap_or(&[])
}

/// The kinds of a layer, numbered from `first`: its record, its sessions, its children.
pub fn kinds<'a>(
    context: &mut Context,
    items: &[&'a ast::Item],
    first: u32,
) -> Vec<KindSource<'a>> {
    let kind = |place: usize, role, name| KindSource {
        id: KindId(first + place as u32),
        role,
        name,
        blocks: Vec::new(),
    };
    let mut kinds = vec![
        kind(0, Role::Record, "entity"),
        kind(1, Role::Session, "session"),
    ];
    for item in items {
        let ast::Item::Instance(instance) = item else {
            continue;
        };
        match &instance.kind {
            ast::InstanceKind::Entity => kinds[0].blocks.push(instance),
            ast::InstanceKind::Session => kinds[1].blocks.push(instance),
            ast::InstanceKind::Child(name) => {
                let mut known = kinds.iter().skip(2);
                if let Some(first) = known.find(|other| name.is(other.name)) {
                    let first = first.blocks[0].span;
                    context.report(taken(&name.text, name.span, Some(first)));
                    continue;
                }
                let mut child = kind(kinds.len(), Role::Child, &name.text);
                child.blocks.push(instance);
                kinds.push(child);
            }
        }
    }
    kinds
}

/// Fills the tables of a layer's kinds, but for what fields begin as.
pub fn describe(
    context: &mut Context,
    composition: &Composition,
    entity: EntityId,
    layer: &Layer,
    scope: &Scope,
) {
    for kind in &layer.kinds {
        let described = describe_kind(context, composition, entity, kind, scope);
        context.program.kinds[kind.id.at()] = described;
    }
}

fn describe_kind(
    context: &mut Context,
    composition: &Composition,
    entity: EntityId,
    kind: &KindSource,
    scope: &Scope,
) -> Kind {
    refuse_repeated(member_names(kind), context.diagnostics);
    refuse_members(context, kind);
    let keys = kind.blocks.iter().flat_map(|block| &block.keys);
    let mut keys: Vec<_> = keys
        .map(|key| Key {
            name: key.name.text.clone(),
            kind: check_value_type(context, scope, &key.of),
            default: None,
        })
        .collect();
    keys.extend(key_below(context, composition, entity, kind));
    let sources: Vec<ast::Field> = kind.fields().into_iter().cloned().collect();
    let fields = fields(context, scope, &sources, check_field_type);
    for (source, field) in sources.iter().zip(&fields) {
        check_once(context, source, &field.kind);
    }
    let timers = kind.members().filter_map(|member| match member {
        ast::Member::Timer(timer) => Some(timer.name.text.clone()),
        ast::Member::Field(_)
        | ast::Member::Signal(_)
        | ast::Member::Notice(_)
        | ast::Member::Process(_)
        | ast::Member::Handler(_)
        | ast::Member::Function(_) => None,
    });
    let timers = timers.collect();
    let population = match kind.role {
        Role::Record => Population::Static(vec![StaticInstance {
            keys: Vec::new(),
            above: None,
        }]),
        Role::Session => sessions(context, composition, entity, &keys),
        Role::Child => Population::Dynamic { above: None },
    };
    check_room(context, kind, scope, &population);
    let capacity = match (&population, composition.sessions(entity)) {
        (Population::Static(instances), _) => instances.len() as u32,
        (Population::Labelled(all), Sessions::Labelled(below, _)) => {
            room_below(context, composition, below).saturating_mul(all.len() as u32)
        }
        (Population::Dynamic { .. }, Sessions::Same(below)) if kind.role == Role::Session => {
            room_below(context, composition, below)
        }
        (Population::Dynamic { .. } | Population::Labelled(_), _) => capacity(context, kind, scope),
    };
    let name = match kind.role {
        Role::Record => composition.node(entity).name.clone(),
        Role::Session | Role::Child => kind.name.to_string(),
    };
    Kind {
        name,
        entity,
        role: kind.role,
        keys,
        capacity,
        fields,
        timers,
        population,
        reactive: None,
    }
}

/// How many sessions there may be on which one entity stands: those of one label, if they have any.
fn room_below(context: &Context, composition: &Composition, below: EntityId) -> u32 {
    let sessions = context.program.entities[below.at()].session;
    let all = context.program.kinds[sessions.at()].capacity;
    match composition.sessions(below) {
        Sessions::Labelled(_, labels) => all / labels as u32,
        Sessions::Static(_) | Sessions::Keyed | Sessions::Same(_) => all,
    }
}

/// A session of a multiplexor on sessions that come and go belongs to one of them: its last key,
/// which no source names. That of one on labelled sessions is the one on which those stand.
fn key_below(
    context: &Context,
    composition: &Composition,
    entity: EntityId,
    kind: &KindSource,
) -> Option<Key> {
    let below = composition.below_that_comes_and_goes(entity)?;
    let node = composition.node(entity);
    if kind.role != Role::Session || node.layer.shape != ast::Shape::Multiplexor {
        return None;
    }
    let own: Vec<_> = member_names(kind).iter().map(|name| &*name.text).collect();
    let numbered = (2..).map(|number| format!("below_{number}"));
    let mut names = std::iter::once("below".to_string()).chain(numbered);
    let free = names.find(|name| !own.contains(&&**name));
    let session = context.program.entities[below.at()].session;
    let session = match composition.sessions(below) {
        Sessions::Labelled(..) => context.program.stands_on(session).unwrap_or(session),
        Sessions::Static(_) | Sessions::Keyed | Sessions::Same(_) => session,
    };
    Some(Key {
        name: free.expect("there are more numbers than names"),
        kind: Type::Instance(session),
        default: None,
    })
}

/// All names that an instance of a kind has of its own.
fn member_names<'a>(kind: &KindSource<'a>) -> Vec<&'a ast::Name> {
    let keys = kind.blocks.iter().flat_map(|block| &block.keys);
    let members = kind.members().filter_map(|member| match member {
        ast::Member::Field(field) => Some(&field.name),
        ast::Member::Timer(timer) => Some(&timer.name),
        ast::Member::Signal(signal) => Some(&signal.name),
        ast::Member::Function(function) => Some(&function.name),
        ast::Member::Notice(notice) => Some(&notice.name),
        ast::Member::Process(process) => Some(&process.name),
        ast::Member::Handler(_) => None,
    });
    keys.map(|key| &key.name).chain(members).collect()
}

/// What a block cannot have.
fn refuse_members(context: &mut Context, kind: &KindSource) {
    if kind.role == Role::Record {
        for block in &kind.blocks {
            let capacity = block.capacity.as_ref().map(|capacity| capacity.span);
            let key = block.keys.first().map(|key| key.span);
            if let Some(span) = key.or(capacity) {
                let title = "an entity has no keys and no capacity";
                context.report(
                    Diagnostic::error(Id::BadCapacity, title, span, "")
                        .why("Each layer has one entity at each place in a stack."),
                );
            }
        }
    }
}

/// `once` is for values.
fn check_once(context: &mut Context, source: &ast::Field, kind: &Type) {
    let is_container = matches!(
        kind,
        Type::Queue(..) | Type::Window(..) | Type::Stream(..) | Type::Array(..) | Type::Set(_)
    );
    if source.once && is_container {
        let title = format!("`{}` is a container, which cannot be `once`", source.name);
        context.report(
            Diagnostic::error(Id::BadCapacity, title, source.span, "")
                .why("A `once` field is written only once, but a container is never assigned."),
        );
    }
}

/// How many instances there may be.
fn capacity(context: &mut Context, kind: &KindSource, scope: &Scope) -> u32 {
    let Some(block) = kind.blocks.first() else {
        return 1;
    };
    let Some(source) = kind.blocks.iter().find_map(|block| block.capacity.as_ref()) else {
        let title = format!("`{}` has no capacity", kind.name);
        context.report(
            Diagnostic::error(Id::BadCapacity, title, block.span, "")
                .why("There is no heap, so the compiler reserves the memory of all instances.")
                .help(format!(
                    "add a capacity after the keys: `{}(…)[64]`",
                    kind.name
                )),
        );
        return 1;
    };
    let value = check_expression(context, scope, source, None);
    match fold_number(context.program, &value) {
        Some(number @ 1..=0xff_ffff) => number as u32,
        Some(number) => {
            let title = format!("the capacity {number} of `{}` is out of range", kind.name);
            context.report(
                Diagnostic::error(Id::BadCapacity, title, source.span, "")
                    .why("A capacity is between 1 and 16,777,215."),
            );
            1
        }
        None => {
            if value.result != Type::Nothing && !scope.alone {
                context.report(not_constant(source.span, "a capacity"));
            }
            1
        }
    }
}

/// Which sessions there are, and what stands on each.
fn sessions(
    context: &mut Context,
    composition: &Composition,
    entity: EntityId,
    keys: &[Key],
) -> Population {
    let node = composition.node(entity);
    if node.layer.shape != ast::Shape::Multiplexor
        && let Some(key) = session_keys(node.layer).first()
    {
        let title = format!("a session of `{}` has a key", node.layer.name);
        context.report(
            Diagnostic::error(Id::KeyMisplaced, title, key.span, "")
                .why("Only a multiplexor has many sessions, which it distinguishes by keys."),
        );
    }
    let (count, keys) = match composition.sessions(entity) {
        Sessions::Static(count) => (count, keys),
        Sessions::Labelled(_, count) => (count, &keys[..keys.len() - 1]),
        Sessions::Keyed | Sessions::Same(_) => {
            let above = node.above.first();
            return Population::Dynamic {
                above: above.map(|upper| place_above(composition, upper.place)),
            };
        }
    };
    if node.above.iter().any(|upper| upper.key.is_some()) {
        check_unlabelled_keys(context, node, keys);
    }
    let mut instances: Vec<StaticInstance> = Vec::new();
    for place in 0..count {
        let upper = node.above.get(place);
        let label = upper.and_then(|upper| upper.key).zip(keys.first());
        let label = label.and_then(|(key, of)| label_value(context, key, of));
        if let Some(value) = &label
            && let Some(first) = instances
                .iter()
                .position(|other| other.keys.first() == Some(value))
            && let Some(upper) = upper
        {
            context.report(key_clash(&node.name, upper.span, node.above[first].span));
        }
        let others = keys.iter().skip(1).map(|_| Value::None);
        instances.push(StaticInstance {
            keys: match label {
                Some(label) => std::iter::once(label).chain(others).collect(),
                None => Vec::new(),
            },
            above: upper.map(|upper| place_above(composition, upper.place)),
        });
    }
    match composition.sessions(entity) {
        Sessions::Labelled(..) => Population::Labelled(instances),
        Sessions::Static(_) | Sessions::Keyed | Sessions::Same(_) => Population::Static(instances),
    }
}

/// A label gives the first key. The others are none in its session, and so must be optional.
fn check_unlabelled_keys(context: &mut Context, node: &Node, keys: &[Key]) {
    let sources = session_keys(node.layer).iter().zip(keys).skip(1);
    for (source, key) in sources {
        if matches!(key.kind, Type::Optional(_) | Type::Nothing) {
            continue;
        }
        let label = node.above.iter().find_map(|upper| upper.key);
        let title = format!("a label does not set the key `{}`", source.name);
        let mistake =
            Diagnostic::error(Id::KeyMissing, title, source.span, "this key has no value")
                .why(
                    "A label sets the first key of its session; all other keys are `none`, so \
                    they must be optional.",
                )
                .help(format!("make the key optional: `{}: …?`", source.name));
        context.report(match label {
            Some(label) => mistake.label(label.span, "the label"),
            None => mistake,
        });
    }
}

fn label_value(context: &mut Context, source: &ast::Expression, of: &Key) -> Option<Value> {
    let around = super::services::bare_scope();
    let value = check_expression(context, &around, source, Some(&of.kind));
    let folded = fold(context.program, &value);
    if folded.is_none() && value.result != Type::Nothing {
        context.report(not_constant(source.span, "a key"));
    }
    folded
}

/// A capacity that is written for sessions which a stack lists is a promise to check.
fn check_room(context: &mut Context, kind: &KindSource, scope: &Scope, listed: &Population) {
    let joints = match listed {
        Population::Static(all) | Population::Labelled(all) if kind.role == Role::Session => {
            all.len()
        }
        Population::Static(_) | Population::Labelled(_) | Population::Dynamic { .. } => return,
    };
    let written = kind.blocks.iter().find_map(|block| block.capacity.as_ref());
    let Some(source) = written.filter(|_| !scope.alone) else {
        return;
    };
    let room = capacity(context, kind, scope);
    if joints <= room as usize {
        return;
    }
    let title = format!("{joints} joints stand on a layer with a capacity of {room}");
    let refused = Diagnostic::error(Id::BadCapacity, title, source.span, "")
        .why("Each joint with a label needs one session.");
    context.report(match &source.kind {
        ast::ExpressionKind::Name(name) => refused.help(format!(
            "set `{name} = {joints}` in the parentheses of the layer in the stack"
        )),
        _literal => refused,
    });
}

fn key_clash(name: &str, second: crate::source::Span, first: crate::source::Span) -> Diagnostic {
    let title = format!("two joints on `{name}` have the same key");
    Diagnostic::error(Id::KeyClash, title, second, "the second")
        .label(first, "the first")
        .why("A key selects the joint that receives a message.")
}

/// Where a message goes that is delivered through a joint.
pub fn place_above(composition: &Composition, above: Above) -> Place {
    match above {
        Above::Port(port) => Place::Port(port),
        Above::Node(entity, joint) => Place::Entity {
            entity,
            index: index_above(composition, entity),
            joint: joint as u32,
        },
    }
}

fn index_above(composition: &Composition, entity: EntityId) -> SessionIndex {
    match composition.sessions(entity) {
        Sessions::Same(_) => SessionIndex::Same,
        Sessions::Static(_) | Sessions::Keyed | Sessions::Labelled(..) => SessionIndex::Only(0),
    }
}

/// Where a message goes that an entity sends through a joint.
pub fn place_under(composition: &Composition, entity: EntityId, ground: Ground) -> Option<Place> {
    let keyed = match composition.sessions(entity) {
        Sessions::Keyed | Sessions::Labelled(..) => true,
        Sessions::Static(_) | Sessions::Same(_) => false,
    };
    match place_below(composition, ground)? {
        Place::Entity {
            entity,
            index: SessionIndex::Same,
            joint,
        } if keyed => Some(Place::Entity {
            entity,
            index: SessionIndex::Keyed,
            joint,
        }),
        place => Some(place),
    }
}

/// Where a message goes that is sent through a joint, from sessions like those below it.
pub fn place_below(composition: &Composition, ground: Ground) -> Option<Place> {
    match ground {
        Ground::Link(link) => Some(Place::Link(link)),
        Ground::Nothing => None,
        Ground::Node(entity, upper) => Some(Place::Entity {
            entity,
            index: match composition.sessions(entity) {
                Sessions::Static(_) => SessionIndex::Only(upper as u32),
                Sessions::Keyed | Sessions::Same(_) => SessionIndex::Same,
                Sessions::Labelled(..) => SessionIndex::Label(upper as u32),
            },
            joint: 0,
        }),
    }
}

/// Notices that the instances of a layer declare for themselves.
pub fn notices(context: &mut Context, composition: &Composition, layer: &Layer, scope: &Scope) {
    for kind in &layer.kinds {
        let owner = format!("{}.{}", composition.node(layer.entity).name, kind.name);
        for member in kind.members() {
            if let ast::Member::Notice(source) = member {
                let made = notice(context, scope, &owner, source);
                context.program.notices.push(made);
            }
        }
    }
}

/// The notice that a kind declares for itself.
pub fn own_notice(
    context: &Context,
    composition: &Composition,
    layer: &Layer,
    kind: &KindSource,
    name: &str,
) -> Option<NoticeId> {
    let owner = format!("{}.{}", composition.node(layer.entity).name, kind.name);
    let mut notices = context.program.notices.iter();
    let found = notices.position(|notice| notice.owner == owner && notice.name == name);
    found.map(|place| NoticeId(place as u32))
}

/// The record that a field is, or that its elements are.
fn record_of(of: &Type) -> Option<(RecordId, Type)> {
    match of {
        Type::Record(record) => Some((*record, of.clone())),
        Type::Array(element, _) => record_of(element),
        _ => None,
    }
}

/// What fields begin as; functions are known by now.
pub fn initials(context: &mut Context, layer: &Layer) {
    for kind in &layer.kinds {
        let scope = kind_scope(context.program, layer, kind.id);
        for (place, source) in kind.fields().into_iter().enumerate() {
            initial(context, &scope, source, (kind.id, FieldId(place as u32)));
        }
    }
}

/// What one field begins as.
pub fn initial(
    context: &mut Context,
    scope: &Scope,
    source: &ast::Field,
    (kind, field): (KindId, FieldId),
) {
    let of = &context.program.kinds[kind.at()].fields[field.at()].kind;
    let (start, of) = match (&source.of.kind, of.clone()) {
        (ast::TypeKind::Container { start, .. }, Type::Stream(position, _))
            if !start.is_empty() =>
        {
            (start.first(), *position)
        }
        (ast::TypeKind::Container { start, .. }, Type::Window(_, width, _))
            if !start.is_empty() =>
        {
            (start.first(), Type::Sequence(width))
        }
        (_, of) => (source.start.as_ref(), of),
    };
    let value = match (start, record_of(&of)) {
        (Some(start), _) => check_computed(context, scope, &source.name.text, start, &of),
        (None, Some((record, of))) => match beginning(context.program, record) {
            Some(begins) => Expression::constant(begins, of),
            None => return,
        },
        (None, None) => return,
    };
    context.program.kinds[kind.at()].fields[field.at()].initial = Some(value);
}
