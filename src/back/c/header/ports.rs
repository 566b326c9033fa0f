//! Ports in a header: the structs of keys, attributes and notices, and the functions by which an
//! application opens, listens, sends and tells.

use super::head::Head;
use super::values::{beside, distinct, line, members, named_members, parameters};
use crate::back::c::Stack;
use crate::back::c::names::identifier;
use crate::c::tree::{Item, Line};
use crate::ir::interface::{AttributeOfHost, Named, Notice, Opening, Port, Shape};

/// The notice that is told by opening a session.
const OPEN: &str = "open";

/// A function of a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Offered {
    /// `NAME_PORT_open`
    Open,
    /// `NAME_PORT_keys_of`
    KeysOf,
    /// `NAME_PORT_listen`
    Listen,
    /// `NAME_PORT_unlisten`
    Unlisten,
    /// `NAME_PORT_send`
    Send,
    /// `NAME_PORT_x`: a notice among [`Port::down`].
    Tell(u32),
}

/// The attributes of a port with their names in C.
pub fn attributes(port: &Port) -> Vec<(String, &AttributeOfHost)> {
    let all = &port.attributes;
    let named = all.iter().map(|one| {
        let repeats = all
            .iter()
            .filter(|other| other.named.name == one.named.name);
        let name = match repeats.count() {
            1 => one.named.name.clone(),
            _several => format!("{}_{}", one.owner, one.named.name),
        };
        (identifier(&name), one)
    });
    named.collect()
}

/// A key as it is given: one that may be left out is optional.
pub fn given(named: &Named, may_be_left_out: bool) -> Shape {
    match may_be_left_out {
        true => Shape::Optional(Box::new(named.shape.clone())),
        false => named.shape.clone(),
    }
}

/// The names of the values of a notice where an application tells it.
pub fn told_names(stack: &Stack<'_>, told: &[Named]) -> Vec<String> {
    let own = ["stack", "session", "now_ns"];
    let told = told.iter();
    let wanted = told.map(|one| (one.name.as_str(), beside(&one.shape)));
    distinct(&own, &stack.names.taken, wanted)
}

/// The structs of a port: its keys, its attributes, the values of its notices.
pub fn structs(stack: &Stack<'_>, port: &Port) -> Vec<Item> {
    let name = format!("{}_{}", stack.names.stack, port.name);
    let mut all = key_structs(stack, port);
    let members = attributes(port).into_iter().flat_map(|(own, attribute)| {
        let comment = format!("of {}", attribute.owner);
        members(stack, &attribute.named.shape, &own, &comment)
    });
    let members: Vec<Line> = members.collect();
    if !members.is_empty() {
        all.push(Item::Struct {
            comment: format!("The attributes of a message at {}.", port.name),
            name: format!("{name}_attributes"),
            members,
        });
    }
    let asked = port.up.iter().filter(|_| port.calls.is_none());
    for notice in asked.filter(|notice| !notice.parameters.is_empty()) {
        all.push(Item::Struct {
            comment: format!("The values of the notice {} to {}.", notice.name, port.name),
            name: format!("{name}_{}", notice.name),
            members: named_members(stack, &notice.parameters),
        });
    }
    all
}

/// The keys of sessions and listeners, and what an application is told of a session that it
/// accepts.
fn key_structs(stack: &Stack<'_>, port: &Port) -> Vec<Item> {
    let name = format!("{}_{}", stack.names.stack, port.name);
    let of = [
        (&port.opens, "session", "keys"),
        (&port.listens, "listener", "listener_keys"),
    ];
    let mut all = Vec::new();
    for (opening, what, tag) in of {
        let Some(opening) = opening.as_ref().filter(|opening| !opening.keys.is_empty()) else {
            continue;
        };
        let left_out = opening.keys.iter().filter(|(_, left_out)| *left_out);
        let names: Vec<&str> = left_out.map(|(named, _)| named.name.as_str()).collect();
        let found = match names.is_empty() {
            true => String::new(),
            false => format!(" The stack chooses what is left out: {}.", names.join(", ")),
        };
        let keys = opening.keys.iter().flat_map(|(named, left_out)| {
            let shape = given(named, *left_out);
            members(stack, &shape, &identifier(&named.name), "")
        });
        all.push(Item::Struct {
            comment: format!("The keys that identify a {what} of {}.{found}", port.name),
            name: format!("{name}_{tag}"),
            members: keys.collect(),
        });
    }
    if port.listens.is_some() {
        let listener = "the listener; UINT32_MAX if it has ended";
        let keys = format!("struct {name}_keys keys");
        all.push(Item::Struct {
            comment: format!("A session that a listener of {} made.", port.name),
            name: format!("{name}_accepted"),
            members: vec![
                line("uint32_t listener", listener),
                line(keys, "the keys of the session"),
            ],
        });
    }
    all
}

/// The members of the union `with` of an output.
pub fn with_members(stack: &Stack<'_>) -> Vec<Line> {
    let mut all = Vec::new();
    let mut add = |tag: String, member: String, comment: &str| {
        let text = format!("struct {}_{tag} {member}", stack.names.stack);
        all.push(line(text, comment));
    };
    for port in &stack.module.ports {
        let asks = port.calls.is_none();
        if asks && !port.attributes.is_empty() {
            add(
                format!("{}_attributes", port.name),
                identifier(&port.name),
                "the attributes of a delivered message",
            );
        }
        if port.listens.is_some() {
            let member = format!("{}_accepted", port.name);
            add(member.clone(), member, "the accepted session");
        }
        for notice in port.up.iter().filter(|_| asks) {
            if !notice.parameters.is_empty() {
                let member = format!("{}_{}", port.name, notice.name);
                add(member.clone(), member, "the values of the notice");
            }
        }
    }
    all
}

/// The heads of the functions that an application calls at a port, in the order of the header.
pub fn heads(stack: &Stack<'_>, port: &Port) -> Vec<(Offered, Head)> {
    let mut all = opening_heads(stack, port);
    if port.sends.is_some() {
        all.push((Offered::Send, send_head(stack, port)));
    }
    for (at, notice) in port.down.iter().enumerate() {
        if port.opens.is_none() || notice.name != OPEN {
            all.push((Offered::Tell(at as u32), tell_head(stack, port, notice)));
        }
    }
    all
}

fn opening_heads(stack: &Stack<'_>, port: &Port) -> Vec<(Offered, Head)> {
    let Some(opens) = &port.opens else {
        return Vec::new();
    };
    let (name, own) = (&stack.names.stack, &port.name);
    let head = |end: &str, result: &str, constant: &str, given: Vec<String>, comment: String| {
        let of_stack = format!("{constant}struct {name} *stack");
        Head {
            comment,
            result: result.to_string(),
            name: format!("{name}_{own}_{end}"),
            parameters: [vec![of_stack], given].concat(),
        }
    };
    let keys = |opening: &Opening, tag: &str| {
        let keys = (!opening.keys.is_empty()).then_some(tag);
        Vec::from_iter(keys.map(|tag| format!("const struct {name}_{own}_{tag} *keys")))
    };
    let now = || vec!["uint64_t now_ns".to_string()];
    let mut all = vec![(
        Offered::Open,
        head(
            "open",
            "uint32_t",
            "",
            [keys(opens, "keys"), now()].concat(),
            format!(
                "Opens a session of {own} and returns its number, or UINT32_MAX if there is no \
                 room or already a session with these keys."
            ),
        ),
    )];
    if !opens.keys.is_empty() {
        let given = vec![
            "uint32_t session".to_string(),
            format!("struct {name}_{own}_keys *keys"),
        ];
        let comment = format!(
            "Copies the keys of a session of {own}. Returns false if there is no such session."
        );
        let head = head("keys_of", "bool", "const ", given, comment);
        all.push((Offered::KeysOf, head));
    }
    if let Some(listens) = &port.listens {
        let backlog = vec!["unsigned backlog".to_string()];
        let given = [keys(listens, "listener_keys"), backlog, now()].concat();
        let comment = format!(
            "Opens a listener of {own}, at which at most `backlog` sessions wait to be accepted. \
             Returns its number, or UINT32_MAX if there is no room or already a listener with \
             these keys."
        );
        all.push((
            Offered::Listen,
            head("listen", "uint32_t", "", given, comment),
        ));
        let given = [vec!["uint32_t listener".to_string()], now()].concat();
        let comment = format!(
            "Ends a listener of {own}. Its sessions stay; those that wait are still accepted."
        );
        all.push((
            Offered::Unlisten,
            head("unlisten", "void", "", given, comment),
        ));
    }
    all
}

fn send_head(stack: &Stack<'_>, port: &Port) -> Head {
    let (name, own) = (&stack.names.stack, &port.name);
    let with = match port.attributes.is_empty() {
        true => "const void *with".to_string(),
        false => format!("const struct {name}_{own}_attributes *with"),
    };
    Head {
        comment: "Sends a message. Its bytes are copied. Without attributes (NULL), each has its \
                  default."
            .to_string(),
        result: format!("enum {name}_send"),
        name: format!("{name}_{own}_send"),
        parameters: vec![
            format!("struct {name} *stack"),
            "uint32_t session".to_string(),
            with,
            "const uint8_t *data".to_string(),
            "size_t length".to_string(),
            "uint64_t now_ns".to_string(),
        ],
    }
}

fn tell_head(stack: &Stack<'_>, port: &Port, notice: &Notice) -> Head {
    let (name, own) = (&stack.names.stack, &port.name);
    let told = &notice.parameters;
    let arguments = told.iter().zip(told_names(stack, told));
    let arguments = arguments.flat_map(|(one, name)| parameters(stack, &one.shape, &name));
    let mut all = vec![
        format!("struct {name} *stack"),
        "uint32_t session".to_string(),
    ];
    all.extend(arguments);
    all.push("uint64_t now_ns".to_string());
    Head {
        comment: format!("Gives the notice {} to a session of {own}.", notice.name),
        result: "void".to_string(),
        name: format!("{name}_{own}_{}", notice.name),
        parameters: all,
    }
}
