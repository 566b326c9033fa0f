//! Rules 20, 22 and 23: names, kernels, and the other tables of a module.
//!
//! In: a module. Out: breaches. Rows name only rows and functions that exist
//! ([`rows_exist`]); then all other rules may follow them.

use super::breach::{Breach, Rule};
use crate::ir::interface::{Export, Given, Named, Notice, Numbered, Opening, Port, Shape};
use crate::ir::signature::parameters;
use crate::ir::{FunctionId, Kernel, KindId, Lives, Module, Op, Role, Stored, Type};
use std::collections::BTreeSet;

/// Checks that indices in tables are those of rows and functions, and types those of values that
/// are kept.
pub fn rows_exist(module: &Module) -> Vec<Breach> {
    let mut wrong = Vec::new();
    for kind in &module.kinds {
        let mut named = kind.keys.iter().chain(&kind.stands_on);
        let root_exists = match kind.lives {
            Lives::With(root) => module.kinds.get(root.at()).is_some_and(|root| {
                // A kind that lives with another has no others that live with it.
                !matches!(root.lives, Lives::With(_))
            }),
            Lives::Always | Lives::Created => true,
        };
        let is_reason = kind.ended.is_none_or(|one| one.at() < module.reasons.len());
        if !root_exists || !is_reason || !named.all(|field| field.at() < kind.fields.len()) {
            wrong.push(format!(
                "the kind {} names a row that is not there",
                kind.name
            ));
        }
        for field in &kind.fields {
            if !is_kept(&field.stored) {
                let (kind, field) = (&kind.name, &field.name);
                wrong.push(format!("the field {kind}.{field} holds what is not kept"));
            }
        }
    }
    let attributes = module.attributes.iter().map(|one| (&one.name, one.of));
    let settings = module.settings.iter().map(|one| (&one.name, one.of));
    for (name, of) in attributes.chain(settings) {
        if !is_plain(of) {
            wrong.push(format!("{name} holds what is not kept"));
        }
    }
    let exist = named(module)
        .iter()
        .all(|id| id.at() < module.functions.len());
    if !exist || !others_exist(module) || !opaques_exist(module) {
        wrong.push("a table names a row that is not there".to_string());
    }
    let wrong = wrong.into_iter();
    wrong
        .map(|message| Breach::of_module(Rule::Tables, message))
        .collect()
}

/// All functions that tables name.
fn named(module: &Module) -> Vec<FunctionId> {
    let mut named: Vec<FunctionId> = Vec::new();
    named.extend(module.kernels.iter().flat_map(Kernel::functions));
    named.extend(module.caches.iter().map(|cache| cache.remembers));
    named.extend(module.settings_hold.iter().chain(&module.starts));
    named.extend(module.exports.iter().map(|one| one.calls));
    for link in &module.links {
        named.push(link.arrives);
        named.extend(link.carrier);
    }
    for port in &module.ports {
        named.extend(port.sends);
        for opening in port.opens.iter().chain(&port.listens) {
            named.push(opening.opens);
            named.extend(opening.closes);
        }
        named.extend(port.down.iter().filter_map(|notice| notice.handled));
    }
    named
}

fn others_exist(module: &Module) -> bool {
    let kind = |id: KindId| id.at() < module.kinds.len();
    let field = |id: KindId, field: crate::ir::FieldId| {
        let kind = module.kinds.get(id.at());
        kind.is_some_and(|kind| field.at() < kind.fields.len())
    };
    let mut caches = module.caches.iter().filter_map(|cache| cache.kind);
    let mut ports = module.ports.iter();
    let mut listening = module.listening.iter();
    let mut watched = module.watched.iter();
    caches.all(kind)
        && watched.all(|one| field(one.kind, one.field))
        && ports.all(|port| {
            let mut parts = port.attributes.iter().flat_map(|one| &one.parts);
            let mut openings = port.opens.iter().chain(&port.listens);
            kind(port.session.kind)
                && parts.all(|part| part.at() < module.attributes.len())
                && openings.all(|opening| kind(opening.kind))
                && port.grants.is_none_or(|at| (at as usize) < port.down.len())
        })
        && listening.all(|how| {
            let mut of_session = [how.waits, how.unknown, how.made_by].into_iter();
            how.port.at() < module.ports.len()
                && field(how.listener, how.backlog)
                && field(how.listener, how.waiting)
                && of_session.all(|one| field(how.session, one))
        })
}

/// Fields and values of a host name only opaque types that are in their table.
fn opaques_exist(module: &Module) -> bool {
    let exists = |of: Type| match of {
        Type::Opaque(of) => of.at() < module.opaques.len(),
        _other => true,
    };
    let mut fields = module.kinds.iter().flat_map(|kind| &kind.fields);
    let parameters = module.foreigns.iter().flat_map(|one| &one.parameters);
    let given = parameters.filter_map(|(_, given)| match given {
        Given::Value(shape) | Given::Changed(shape) => Some(shape),
        Given::Data | Given::Rewritten | Given::State(_) => None,
    });
    let results = module.foreigns.iter().filter_map(|one| one.result.as_ref());
    let exports = module.exports.iter().flat_map(|one| {
        let parameters = one.parameters.iter().map(|named| &named.shape);
        parameters.chain(&one.result)
    });
    let mut shapes = given.chain(results).chain(exports);
    let parts_exist = |shape: &Shape| shape.parts().into_iter().all(exists);
    shapes.all(parts_exist)
        && fields.all(|field| match &field.stored {
            Stored::Value(of) => exists(*of),
            _container => true,
        })
}

/// Returns true for types of values that outlive a function.
fn is_plain(of: Type) -> bool {
    matches!(of, Type::Int(_) | Type::Bytes(_) | Type::Float(_))
}

fn is_kept(stored: &Stored) -> bool {
    match stored {
        Stored::Value(of) => is_plain(*of) || matches!(of, Type::Opaque(_)),
        Stored::Queue(item, _) | Stored::Window(item, ..) => {
            item.iter().all(|of| is_plain(*of) || *of == Type::Message)
        }
        Stored::Stream(..) | Stored::Set(_) | Stored::Foreign(_) => true,
    }
}

/// Checks names: those of a table are distinct, and none is empty.
pub fn names(module: &Module) -> Vec<Breach> {
    let mut tables: Vec<(&str, Vec<&String>)> = vec![
        (
            "functions",
            module.functions.iter().map(|one| &one.name).collect(),
        ),
        ("links", module.links.iter().map(|one| &one.name).collect()),
        ("ports", module.ports.iter().map(|one| &one.name).collect()),
        (
            "settings",
            module.settings.iter().map(|one| &one.name).collect(),
        ),
        (
            "attributes",
            module.attributes.iter().map(|one| &one.name).collect(),
        ),
        ("kinds", module.kinds.iter().map(|one| &one.name).collect()),
        ("reasons", module.reasons.iter().collect()),
        ("counters", module.counters.iter().collect()),
        (
            "kernels",
            module.kernels.iter().map(|one| &one.name).collect(),
        ),
        (
            "caches",
            module.caches.iter().map(|one| &one.name).collect(),
        ),
        (
            "functions in C",
            module.foreigns.iter().map(|one| &one.name).collect(),
        ),
        (
            "opaque types",
            module.opaques.iter().map(|one| &one.name).collect(),
        ),
        (
            "exports",
            module.exports.iter().map(|one| &one.name).collect(),
        ),
    ];
    for kind in &module.kinds {
        tables.push(("fields", kind.fields.iter().map(|one| &one.name).collect()));
        tables.push(("timers", kind.timers.iter().map(|one| &one.name).collect()));
    }
    let mut breaches = Vec::new();
    for (table, names) in tables {
        let mut seen = BTreeSet::new();
        for name in names {
            if name.is_empty() || !seen.insert(name) {
                let message = format!("`{name}` is no name of its own among the {table}");
                breaches.push(Breach::of_module(Rule::Names, message));
            }
        }
    }
    for function in &module.functions {
        let unnamed = |op: &Op| matches!(op, Op::Exit(name) if name.is_empty());
        if function.instructions().any(|one| unnamed(&one.op)) {
            let message = "an exit has a name";
            breaches.push(Breach::of_function(Rule::Names, function, message));
        }
    }
    breaches
}

/// Checks that the functions of kernels fit together.
pub fn kernels(module: &Module) -> Vec<Breach> {
    let mut breaches = Vec::new();
    for kernel in &module.kernels {
        if let Err(wrong) = kernel_fits(module, kernel) {
            let message = format!("the kernel {}: {wrong}", kernel.name);
            breaches.push(Breach::of_module(Rule::Kernels, message));
        }
    }
    breaches
}

fn kernel_fits(module: &Module, kernel: &Kernel) -> Result<(), String> {
    if ![1, 2, 4, 8].contains(&kernel.unit) {
        return Err("a word has 1, 2, 4 or 8 bytes".to_string());
    }
    let mut functions = kernel.functions().into_iter();
    if functions.any(|id| module.function(id).role != Role::Pure) {
        return Err("its functions are pure".to_string());
    }
    let state = &module.function(kernel.begins).results;
    let with = |rest: &[Type]| {
        let own = kernel.parameters.iter().chain(rest).copied();
        own.collect::<Vec<Type>>()
    };
    let word = Type::Int(8 * kernel.unit);
    let placed = [state.as_slice(), &[Type::WORD; 2]].concat();
    let stepped = [placed.as_slice(), &[Type::WORD, word]].concat();
    let fits = |id: FunctionId, given: &[Type], results: Option<&Vec<Type>>| {
        let function = module.function(id);
        parameters(function) == with(given) && results.is_none_or(|all| *all == function.results)
    };
    let mut steps = [kernel.steps].into_iter().chain(kernel.tail);
    if fits(kernel.begins, &[Type::WORD], None)
        && steps.all(|step| fits(step, &stepped, Some(state)))
        && fits(kernel.finishes, &placed, None)
    {
        return Ok(());
    }
    Err("its functions do not fit together".to_string())
}

/// Checks that the functions that a host starts have the parameters that the interface gives them.
pub fn interface(module: &Module) -> Vec<Breach> {
    let mut breaches = Vec::new();
    let reacts = [Role::Reaction];
    let started = [Role::Reaction, Role::Entry];
    let mut fits =
        |what: &str, id: FunctionId, roles: &[Role], given: &[Vec<Type>], gives: &[Type]| {
            let function = module.function(id);
            let takes = given.contains(&parameters(function));
            if !takes || function.results != gives || !roles.contains(&function.role) {
                let message = format!("{what} cannot be {}", function.name);
                breaches.push(Breach::of_module(Rule::Tables, message));
            }
        };
    if let Some(id) = module.settings_hold {
        let roles = [Role::Pure, Role::Plain, Role::Entry];
        fits("the check of settings", id, &roles, &[vec![]], &[Type::BIT]);
    }
    if let Some(id) = module.starts {
        fits("the start", id, &started, &[vec![]], &[]);
    }
    for export in &module.exports {
        let (given, gives) = called(export);
        fits("what a host calls", export.calls, &started, &given, &gives);
    }
    for link in &module.links {
        let given = [vec![Type::Message]];
        fits("what a link starts", link.arrives, &reacts, &given, &[]);
        if let Some(id) = link.carrier {
            fits("what a link tells", id, &started, &[vec![Type::BIT]], &[]);
        }
    }
    for port in &module.ports {
        if let Some(id) = port.sends {
            let given = numbered(port, vec![Type::Message]);
            fits("what a port sends to", id, &reacts, &given, &[]);
        }
        for (listens, opening) in [(false, &port.opens), (true, &port.listens)] {
            let Some(opening) = opening else { continue };
            let given = [opened(opening, listens)];
            let gives = [Type::BIT, Type::WORD];
            fits(
                "what a port opens with",
                opening.opens,
                &started,
                &given,
                &gives,
            );
            if let Some(id) = opening.closes {
                let index = [vec![Type::WORD]];
                fits("what a port closes with", id, &started, &index, &[]);
            }
        }
        for notice in &port.down {
            if let Some(id) = notice.handled {
                let given = numbered(port, told(notice));
                fits("what a port tells", id, &started, &given, &[]);
            }
        }
    }
    breaches
}

/// Arguments behind the index of a conversation, which is left out if there is but one.
fn numbered(port: &Port, rest: Vec<Type>) -> Vec<Vec<Type>> {
    let mut with = vec![Type::WORD];
    with.extend(&rest);
    match port.session.index {
        Numbered::Only(_) => vec![rest, with],
        Numbered::From(..) => vec![with],
    }
}

fn parts(named: &[Named]) -> impl Iterator<Item = Type> {
    named.iter().flat_map(|named| named.shape.parts())
}

/// The types of the parameters and results of what a host calls.
fn called(export: &Export) -> ([Vec<Type>; 1], Vec<Type>) {
    let result = export.result.iter();
    let gives = result.flat_map(|shape| shape.parts());
    ([parts(&export.parameters).collect()], gives.collect())
}

fn told(notice: &Notice) -> Vec<Type> {
    let message = notice.message.then_some(Type::Message).into_iter();
    message.chain(parts(&notice.parameters)).collect()
}

fn opened(opening: &Opening, listens: bool) -> Vec<Type> {
    let optional = opening.keys.iter().filter(|(_, left_out)| *left_out);
    let mut given: Vec<Type> = optional.map(|_| Type::BIT).collect();
    given.extend(opening.keys.iter().flat_map(|(key, _)| key.shape.parts()));
    given.extend(listens.then_some(Type::WORD));
    given
}
