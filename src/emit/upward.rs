//! What comes up to applications: it waits for the host, or a function of theirs is called.

use super::Stack;
use super::external;
use super::layout::{given_names, member_names, names_of, parameters};
use super::listen;
use super::names::{c_name, event_name};
use super::port::{attributes, wrapped};
use crate::c::tree::Item;
use crate::types::program::{Event, Field, NoticeId, Port, PortId};
use crate::types::value::Type;

/// The function that hands messages or a notice to applications.
pub fn upward(stack: &Stack, id: PortId, event: Event) -> Item {
    if event == Event::Start {
        return listen::upward(stack, id);
    }
    let port = &stack.program.ports[id.at()];
    if let Some(function) = &port.calls {
        return external::upward(stack, id, event, function);
    }
    let stack_name = &stack.names.stack;
    let name = &stack.names.ports[&(id, event)];
    let mut all = vec![
        format!("struct {stack_name} *stack"),
        "uint32_t session".to_string(),
    ];
    let (next, carries) = match event {
        Event::Notice(notice) => {
            let carries = stack.program.notices[notice.at()].message;
            (stack.names.notices[notice.at()].clone(), carries)
        }
        _ => (format!("{}_DELIVER", stack_name.to_uppercase()), true),
    };
    let mut given = vec![
        format!("place = {}", id.at()),
        "session = session".to_string(),
    ];
    if carries {
        all.push(format!("const struct {stack_name}_message *message"));
        let parts = ["data", "length", "buffer"];
        given.extend(parts.map(|part| format!("{part} = message->{part}")));
    } else {
        let nothing = ["data = NULL", "length = 0", "buffer = NULL"];
        given.extend(nothing.map(String::from));
    }
    match event {
        Event::Notice(notice) => {
            let own = &stack.program.notices[notice.at()];
            for (one, name) in own
                .parameters
                .iter()
                .zip(told_names(stack, &own.parameters))
            {
                all.extend(parameters(stack, &one.kind, &name));
            }
            given.extend(notice_fields(stack, port, notice));
        }
        _ => given.extend(attribute_fields(stack, port)),
    }
    let delivered = match carries {
        true => "    stack->counters[DELIVERED] += message->came_in;\n",
        false => "",
    };
    let head = wrapped(&format!("static inline void {name}({})", all.join(", ")));
    let what = event_name(stack.program, None, event);
    let given: String = given
        .iter()
        .map(|one| format!("    output->{one};\n"))
        .collect();
    let accepted = listen::in_place_of(stack, id, event);
    Item::Text(format!(
        "/* {}: {what} */\n{head} {{\n{accepted}{delivered}    \
         struct {stack_name}_output *const output = answer(stack, {next});\n{given}}}\n",
        port.name
    ))
}

/// The arguments of a notice, as they are given to members of an output.
fn notice_fields(stack: &Stack, port: &Port, notice: NoticeId) -> Vec<String> {
    let own = &stack.program.notices[notice.at()];
    let union = format!("{}_{}", port.name, own.name);
    let told = own
        .parameters
        .iter()
        .zip(told_names(stack, &own.parameters));
    told.flat_map(|(one, name)| {
        let members = member_names(&one.kind, &one.name).into_iter();
        let values = names_of(&one.kind, &name);
        members
            .zip(values)
            .map(|(member, value)| format!("with.{union}.{member} = {value}"))
    })
    .collect()
}

/// What the values of a notice are called where they wait for the host.
fn told_names(stack: &Stack, told: &[Field]) -> Vec<String> {
    let own = ["stack", "session", "message", "output"];
    given_names(
        &own,
        &stack.names.taken,
        told.iter().map(|one| (&one.kind, &*one.name)),
    )
}

/// The attributes of a message, in the same way.
fn attribute_fields(stack: &Stack, port: &Port) -> Vec<String> {
    let union = c_name(&port.name);
    attribute_values(stack, port)
        .into_iter()
        .map(|(own, value)| format!("with.{union}.{own} = {value}"))
        .collect()
}

/// The members of the attributes of a port, and their values for a message.
pub fn attribute_values(stack: &Stack, port: &Port) -> Vec<(String, String)> {
    let mut values = Vec::new();
    for (own, member, kind) in attributes(stack, port) {
        let flags = matches!(kind, Type::Optional(_)).then_some("has_");
        for before in flags.into_iter().chain([""]) {
            values.push((
                format!("{before}{own}"),
                format!("message->{before}{member}"),
            ));
        }
    }
    values
}
