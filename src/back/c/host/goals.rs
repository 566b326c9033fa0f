//! Events: in, the target of one; out, what it carries, the names of its arguments in C, and
//! whether a place on the agenda is kept for it.

use crate::back::c::names::part_suffixes;
use crate::back::c::{Stack, types};
use crate::c::tree::{Statement as S, atom, call};
use crate::ir::interface::{Listening, Named};
use crate::ir::op::{Target, Told};
use crate::ir::{Module, PortId, Type};

/// An event of a port carries a message, and these values.
pub fn carried(module: &Module, port: PortId, told: Told) -> (bool, &[Named]) {
    match told {
        Told::Message => (true, &[]),
        Told::Started => (false, &[]),
        Told::Notice(notice) => {
            let notice = &module.ports[port.at()].up[notice as usize];
            (notice.message, &notice.parameters)
        }
    }
}

/// A place is kept for an event: it needs none of those for all.
pub fn is_kept(module: &Module, target: Target) -> bool {
    match target {
        Target::Function(function) => module.function(function).kept,
        Target::Port(_, Told::Started) => true,
        Target::Port(port, Told::Notice(notice)) => is_opened(module, port, notice),
        Target::Port(_, Told::Message) | Target::Link(_) => false,
    }
}

/// Finds the table of waiting sessions of a port, which listens itself, or shares its sessions with
/// one that does.
pub fn listened(module: &Module, port: PortId) -> Option<Listening> {
    let opens = module.ports[port.at()].opens.as_ref()?;
    let mut all = module.listening.iter();
    let how = all.find(|how| how.listener == opens.kind || how.session == opens.kind);
    how.copied()
}

/// A notice is the one in whose place sessions of a port are accepted.
fn is_opened(module: &Module, port: PortId, notice: u32) -> bool {
    let how = listened(module, port);
    let opened = how.and_then(|how| Some((how.port, how.opened?)));
    opened.is_some_and(|(by, opened)| {
        let name = |port: PortId, at: u32| &module.ports[port.at()].up[at as usize].name;
        name(by, opened) == name(port, notice)
    })
}

/// The arguments of an event: their names and types, in order.
pub fn arguments(stack: &Stack<'_>, target: Target) -> Vec<(String, Type)> {
    let mut taken = stack.names.inside.clone();
    let own = [
        "event", "granted", "message", "others", "output", "place", "with",
    ];
    own.iter().for_each(|name| taken.reserve(name));
    let message = || ("message".to_string(), Type::Message);
    match target {
        Target::Link(_) => vec![message()],
        Target::Function(id) => {
            let function = stack.module.function(id);
            let parameters = function.parameters().iter();
            let named = parameters.map(|value| {
                let definition = &function.values[value.at()];
                let hint = match definition.hint.as_str() {
                    _ if definition.of == Type::Message => return message(),
                    "" => "given",
                    hint => hint,
                };
                (taken.take(hint), definition.of)
            });
            named.collect()
        }
        Target::Port(port, told) => {
            taken.reserve("session");
            let mut all = vec![("session".to_string(), Type::WORD)];
            let (carries, parameters) = carried(stack.module, port, told);
            all.extend(carries.then(message));
            for named in parameters {
                let parts = part_suffixes(&named.shape).into_iter();
                let parts = parts.zip(named.shape.parts());
                let all_parts = parts.map(|(suffix, of)| {
                    let name = taken.take(&format!("{}{suffix}", named.name));
                    (name, of)
                });
                all.extend(all_parts);
            }
            all
        }
    }
}

/// The parameters of a function that takes an event, the stack first.
pub fn parameters(stack: &Stack<'_>, arguments: &[(String, Type)]) -> Vec<String> {
    let mut all = vec![format!("struct {} *stack", stack.names.stack)];
    for (name, of) in arguments {
        all.extend(types::parameters(stack, *of, name));
    }
    all
}

/// The same of a function that takes the struct of a message itself.
pub fn by_value(stack: &Stack<'_>, arguments: &[(String, Type)]) -> Vec<String> {
    let mut all = vec![format!("struct {} *stack", stack.names.stack)];
    for (name, of) in arguments {
        all.extend(match of {
            Type::Message => vec![format!("{} {name}", types::local(stack, *of))],
            other => types::parameters(stack, *other, name),
        });
    }
    all
}

/// The names under which an argument is handed on: those of a view are two.
pub fn names(name: &str, of: Type) -> Vec<String> {
    let length = (of == Type::View).then(|| format!("{name}_length"));
    std::iter::once(name.to_string()).chain(length).collect()
}

/// A call of a function of the file with an event under the names of its arguments.
pub fn with_names(function: &str, arguments: &[(String, Type)]) -> S {
    let given = arguments.iter().flat_map(|(name, of)| names(name, *of));
    let given = given.map(atom);
    let all = std::iter::once(atom("stack")).chain(given).collect();
    S::Do(call(function, all))
}
