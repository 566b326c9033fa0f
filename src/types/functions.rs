//! Functions and filters of layers, and functions that a service promises: in, a layer whose state
//! is known; out, functions in the program and words for them.
//!
//! What a service promises (`pseudo_sum`) is computed by the nearest layer below that writes it;
//! layers between only pass the service on. It is made anew for each session that is asked, with
//! the keys of that session as constants.

use super::body::{check_functions, check_key_default, declare_function};
use super::compose::{Composition, Ground, Sessions};
use super::context::Context;
use super::expression::{Expression, ExpressionKind, Instance};
use super::items::{constant_expression, declare, declare_filters, declare_functions};
use super::layers::{Around, Layer, kind_scope};
use super::opening::{KeyDefault, LISTENER};
use super::processes;
use super::program::{
    EntityId, Function, FunctionId, KeyId, KindId, Local, LocalId, Population, Program, Role,
};
use super::scope::{Named, Scope};
use super::services::{ServiceId, Services};
use super::statement::{Statement, StatementKind};
use super::value::Type;
use crate::diagnostic::{Diagnostic, Id};
use crate::syntax::loom::ast;
use std::collections::{BTreeMap, BTreeSet};

/// Declares and checks the functions and filters of a layer.
pub fn functions<'a>(
    context: &mut Context,
    around: &Around<'a, '_>,
    services: &mut Services<'a>,
    layers: &mut [Layer<'a>],
    entity: EntityId,
) {
    promised(context, around, services, layers, entity);
    let layer = &mut layers[entity.at()];
    let session = layer.kinds[1].id;
    layer.scope.kind = session;
    let items = layer.items.clone();
    let declared = declare_functions(context, &mut layer.scope, &items);
    let mut members: Vec<(FunctionId, KindId, &ast::Function)> = Vec::new();
    for function in declared {
        members.push((function.id, session, function.source));
    }
    for kind in &layer.kinds {
        for member in kind.members() {
            if let ast::Member::Function(source) = member {
                let mut scope = kind_scope(context.program, layer, kind.id);
                let id = declare(context, &mut scope, source);
                let name = source.name.text.clone();
                layer.functions.push((kind.id, name, id));
                members.push((id, kind.id, source));
            }
        }
    }
    let of_processes = processes::declare_functions(context, layer);
    // All functions of one kind, and of one process, see the same.
    let kinds: BTreeSet<KindId> = members.iter().map(|(_, kind, _)| *kind).collect();
    let kinds = kinds.into_iter();
    let kinds: BTreeMap<KindId, Scope> = kinds
        .map(|kind| (kind, kind_scope(context.program, layer, kind)))
        .collect();
    let places: BTreeSet<usize> = of_processes.iter().map(|(_, at, _)| *at).collect();
    let of_process = |at: usize| {
        let kind = layer.processes[at].kind;
        let scope = processes::process_scope(context, layer, kind, Some(at));
        (at, scope)
    };
    let processes: BTreeMap<usize, Scope> = places.into_iter().map(of_process).collect();
    let seen = members
        .iter()
        .map(|(id, kind, source)| (*id, &kinds[kind], *source));
    let of_processes = of_processes.iter();
    let seen: Vec<_> = seen
        .chain(of_processes.map(|(id, at, source)| (*id, &processes[at], *source)))
        .collect();
    check_functions(context, &seen);
    key_defaults(context, layer);
    declare_filters(context, &mut layer.scope, &items);
}

/// What gives the keys that a port may leave out, of sessions and of listeners.
fn key_defaults(context: &mut Context, layer: &Layer) {
    let scope = kind_scope(context.program, layer, layer.kinds[0].id);
    for kind in &layer.kinds {
        let sources: Vec<_> = kind.blocks.iter().flat_map(|block| &block.keys).collect();
        for (at, source) in sources.iter().enumerate() {
            if let Some(condition) = &source.condition {
                let title = format!("the key `{}` has a condition", source.name);
                context.report(
                    Diagnostic::error(Id::KeyMisplaced, title, condition.span, "")
                        .why("A key may have any value, so it has no `where`.")
                        .help("test the value before you create the instance"),
                );
            }
            if source.default.is_none() {
                continue;
            }
            let keys = &context.program.kinds[kind.id.at()].keys;
            let own = keys[at].kind.clone();
            let opened = kind.role == Role::Session || kind.name == LISTENER;
            if let Some(refused) = misplaced(source, opened, &own) {
                context.report(refused);
                continue;
            }
            let seen = |other: &usize| *other < at || sources[*other].default.is_none();
            let given: Vec<usize> = (0..sources.len())
                .filter(|other| *other != at)
                .filter(seen)
                .collect();
            let words = given
                .iter()
                .map(|at| (&sources[*at].name, keys[*at].kind.clone()));
            let words: Vec<_> = words.collect();
            let function = check_key_default(context, &scope, source, &own, &words);
            let Some(mut function) = function else {
                continue;
            };
            function.name = format!("{}_{}", kind.name, function.name);
            let id = FunctionId(context.program.functions.len() as u32);
            context.program.functions.push(function);
            context.program.kinds[kind.id.at()].keys[at].default = Some(KeyDefault {
                function: id,
                given: given.into_iter().map(|at| KeyId(at as u32)).collect(),
            });
        }
    }
}

/// Where nobody can leave a key out.
fn misplaced(source: &ast::Parameter, opened: bool, kind: &Type) -> Option<Diagnostic> {
    let title = match kind {
        _ if !opened => format!(
            "the key `{}` cannot have a default: no port opens this kind of instance",
            source.name
        ),
        Type::Optional(_) => format!(
            "the optional key `{}` cannot have a default: it is `none` if it is left out",
            source.name
        ),
        _ => return None,
    };
    Some(
        Diagnostic::error(Id::KeyMisplaced, title, source.span, "")
            .why("Only the keys of sessions and listeners that a port opens can have a default.")
            .help("remove the `=` and the value"),
    )
}

/// Binds what the services below promise.
fn promised<'a>(
    context: &mut Context,
    around: &Around<'a, '_>,
    services: &mut Services<'a>,
    layers: &mut [Layer<'a>],
    entity: EntityId,
) {
    let node = around.composition.node(entity);
    for lower in &node.below {
        for service in &lower.services {
            for function in services.functions(*service) {
                let alone = around.composition.alone;
                let id = (!alone)
                    .then(|| bound(context, around, layers, entity, lower.ground, function))
                    .flatten();
                let id = id.unwrap_or_else(|| {
                    unbound(
                        context, services, around, layers, entity, *service, function,
                    )
                });
                let name = function.name.text.clone();
                let names = &mut layers[entity.at()].scope.names;
                names.insert(name, Named::Function(id));
            }
        }
    }
}

/// A layer alone knows no more than what the service says; nor does one that was refused.
fn unbound<'a>(
    context: &mut Context,
    services: &mut Services<'a>,
    around: &Around<'a, '_>,
    layers: &[Layer<'a>],
    entity: EntityId,
    service: ServiceId,
    function: &ast::Function,
) -> FunctionId {
    let mut scope = layers[entity.at()].scope.clone();
    scope.types = services.types(context, around.words, service, &scope.types);
    let declared = declare_function(context, &scope, function);
    context.program.functions.push(declared);
    FunctionId(context.program.functions.len() as u32 - 1)
}

/// Finds who writes a promised function, and makes it for the session that is asked.
fn bound(
    context: &mut Context,
    around: &Around,
    layers: &mut [Layer],
    entity: EntityId,
    ground: Ground,
    promised: &ast::Function,
) -> Option<FunctionId> {
    let composition = around.composition;
    let Some((provider, upper, source)) = writer(composition, ground, &promised.name.text) else {
        let node = composition.node(entity);
        let title = format!(
            "no layer below `{}` defines the function `{}`",
            node.name, promised.name
        );
        context.report(
            Diagnostic::error(Id::ServiceMissing, title, node.span, "")
                .label(promised.span, "declared by the service")
                .why(
                    "A layer that provides a service, or a layer below it, defines the functions \
                    of the service.",
                ),
        );
        return None;
    };
    let same = source.parameters.len() == promised.parameters.len();
    if !same {
        let title = format!("`{}` has other parameters in the service", source.name);
        context.report(
            Diagnostic::error(Id::ServiceMissing, title, source.span, "")
                .label(promised.span, "declared by the service"),
        );
        return None;
    }
    let in_c = source.is_in_c();
    let always = in_c || matches!(composition.sessions(provider), Sessions::Static(_));
    let Ground::Node(lower, _) = ground else {
        return None;
    };
    let session = |entity: EntityId| context.program.entities[entity.at()].session;
    let root = |entity| context.program.lives_with(session(entity));
    let through = root(lower);
    if !always && root(provider) != through {
        let through = context.program.kinds[through.at()].entity;
        let ground = composition.node(through).below.first()?.ground;
        if let Some(known) = known(context, &layers[through.at()], 0, source) {
            return Some(known);
        }
        let asked = bound(context, around, layers, through, ground, promised)?;
        let id = handed_on(context.program, through, asked);
        layers[through.at()].promised.push((0, id));
        return Some(id);
    }
    if let Some(known) = known(context, &layers[provider.at()], upper, source) {
        return Some(known);
    }
    let id = made(context, &layers[provider.at()], upper, source, always);
    layers[provider.at()].promised.push((upper, id));
    Some(id)
}

/// The function of a layer that was made before for the same session.
fn known(
    context: &Context,
    layer: &Layer,
    upper: usize,
    source: &ast::Function,
) -> Option<FunctionId> {
    let mut made = layer.promised.iter();
    let same = |(session, of): &&(usize, FunctionId)| {
        let name = &context.program.functions[of.at()].name;
        *session == upper && source.name.is(name)
    };
    made.find(same).map(|(_, id)| *id)
}

/// A session of a multiplexor is asked for what the one computes on which it stands.
fn handed_on(program: &mut Program, through: EntityId, asked: FunctionId) -> FunctionId {
    let of = &program.functions[asked.at()];
    let session = program.entities[through.at()].session;
    let own = LocalId(of.parameters - 1);
    let last = KeyId(program.kinds[session.at()].keys.len() as u32 - 1);
    let mut locals = of.locals[..of.arguments()].to_vec();
    let given = locals.iter().enumerate().map(|(at, local)| {
        let at = LocalId(at as u32);
        match at == own {
            true => {
                let below = ExpressionKind::Key(Instance::Local(own), session, last);
                Expression::new(below, local.kind.clone())
            }
            false => Expression::local(at, local.kind.clone()),
        }
    });
    let call = ExpressionKind::Call(asked, given.collect());
    let call = Expression::new(call, of.result.clone());
    locals[own.at()].kind = Type::Instance(session);
    let body = vec![Statement {
        kind: StatementKind::Return(call),
        span: of.span,
    }];
    let made = Function {
        entity: Some(through),
        kind: None,
        locals,
        body: Some(body),
        ..of.clone()
    };
    program.functions.push(made);
    FunctionId(program.functions.len() as u32 - 1)
}

/// What a layer computes for one of its sessions: for one that comes and goes, it is asked of any.
fn made(
    context: &mut Context,
    layer: &Layer,
    upper: usize,
    source: &ast::Function,
    always: bool,
) -> FunctionId {
    let mut scope = session_scope(context.program, layer, upper);
    let id = declare(context, &mut scope, source);
    let sessions = &context.program.kinds[scope.kind.at()].population;
    if !always && let Population::Labelled(_) = sessions {
        // Its keys are those of its label; it is known by the session below.
        let below = context.program.stands_on(scope.kind);
        let below = below.expect("labelled sessions stand on others");
        ask(&mut context.program.functions[id.at()], below);
    } else if !always {
        ask(&mut context.program.functions[id.at()], scope.kind);
        let session = Instance::Local(LocalId(source.parameters.len() as u32));
        let keys = context.program.kinds[scope.kind.at()].keys.iter();
        let keys = keys.filter(|key| !matches!(key.kind, Type::Instance(_)));
        for (at, key) in keys.enumerate() {
            let named = Named::Key(session, scope.kind, KeyId(at as u32));
            scope.names.insert(key.name.clone(), named);
        }
    }
    check_functions(context, &[(id, &scope, source)]);
    id
}

/// A session that comes and goes is asked as the last parameter of its function.
fn ask(function: &mut Function, kind: KindId) {
    let session = Local {
        name: "session".to_string(),
        kind: Type::Instance(kind),
    };
    function
        .locals
        .insert(function.parameters as usize, session);
    function.defaults.push(None);
    function.parameters += 1;
    function.message = function.message.map(|_| LocalId(function.parameters));
}

/// The nearest layer below that writes a function, and which of its sessions is stood on.
fn writer<'a>(
    composition: &Composition<'a>,
    ground: Ground,
    name: &str,
) -> Option<(EntityId, usize, &'a ast::Function)> {
    let mut ground = ground;
    // Each step goes to an entity further down, so there are no more steps than entities.
    for _ in 0..composition.nodes.len() {
        let Ground::Node(below, upper) = ground else {
            return None;
        };
        let node = composition.node(below);
        for item in &node.layer.items {
            if let ast::Item::Function(function) = item
                && function.name.is(name)
            {
                return Some((below, upper, function));
            }
        }
        ground = node.below.first()?.ground;
    }
    None
}

/// What the functions of one session can name, seen from outside: its keys are constants, and its
/// state is not to be seen.
fn session_scope(program: &Program, layer: &Layer, session: usize) -> Scope {
    let kind = layer.kinds[1].id;
    let mut scope = kind_scope(program, layer, layer.kinds[0].id);
    let described = &program.kinds[kind.at()];
    let record = layer.kinds[0].id;
    scope.names.for_each(|named| {
        // The record is not the asker's own.
        match named {
            Named::Field(instance, of, _) if *of == record => {
                *instance = Instance::Entity;
            }
            Named::Timer(instance, of, _) if *of == record => {
                *instance = Instance::Entity;
            }
            Named::Field(..)
            | Named::Timer(..)
            | Named::Value(_)
            | Named::Key(..)
            | Named::Kind(_)
            | Named::Function(_)
            | Named::Filter(_)
            | Named::Header(_)
            | Named::Signal(_)
            | Named::Process(_) => {}
        }
    });
    scope.kind = kind;
    if let Population::Static(instances) | Population::Labelled(instances) = &described.population
        && let Some(instance) = instances.get(session)
    {
        for (key, value) in described.keys.iter().zip(&instance.keys) {
            let value = constant_expression(value.clone(), key.kind.clone());
            scope.names.insert(key.name.clone(), Named::Value(value));
        }
    }
    scope
}
