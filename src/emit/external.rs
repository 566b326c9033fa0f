//! What is written in C by whoever uses a stack: how it is declared, and how it is called.
//!
//! ```text
//! extern fn f(a: u16, b: u8?) -> u32     uint32_t S_f(void *user, uint16_t a, bool has_b, ..)
//! extern fn f(data: bytes) -> u32        uint32_t S_f(.., const uint8_t *data, size_t data_length)
//! extern fn f(data: bytes) -> bytes      void S_f(.., uint8_t *data, size_t data_length)
//! extern fn f(key: u32) -> u16?          bool S_f(.., uint32_t key, uint16_t *found)
//! extern type t   extern fn f(x: t)      struct S_t of S_extern.h    void S_f(.., struct S_t *x)
//! port p calls f                         void S_f(.., struct S *stack, uint32_t session, ..)
//! ```

use super::Stack;
use super::layout::{c_type, parameters};
use super::listen;
use super::names::c_name;
use super::output::Queued;
use super::port::{attributes, wrapped};
use super::scope::Scope;
use super::upward::attribute_values;
use crate::c::printer::declaration;
use crate::c::tree::{Expression as C, Function, Item, Statement as S, assign, atom, binary, call};
use crate::types::expression::{Expression, ExpressionKind, Variable};
use crate::types::program::{Event, FunctionId, LocalId, Port, PortId, Program};
use crate::types::value::Type;
use std::collections::BTreeSet;

/// Whether a stack calls anything that is written in C.
pub fn calls_anything(program: &Program) -> bool {
    program.functions.iter().any(|one| one.external) || calls_applications(program)
}

/// Whether a port of a stack calls an application.
pub fn calls_applications(program: &Program) -> bool {
    program.ports.iter().any(|port| port.calls.is_some())
}

/// Whether a stack has state that only C knows, and so includes `NAME_extern.h`.
pub fn has_types(program: &Program) -> bool {
    program.records.iter().any(|record| record.external)
}

/// Puts an event of an application on the agenda: before what waits there, or behind it where it
/// may come from a function that is being called.
pub fn put(stack: &Stack, queued: &Queued, instance: &str, values: Vec<(String, C)>) -> S {
    let put = match calls_applications(stack.program) {
        true => "last",
        false => "later",
    };
    let mut fields = vec![
        ("work".to_string(), queued.work(stack)),
        ("instance".to_string(), atom(instance)),
    ];
    fields.extend(values);
    let event = C::Struct(format!("struct {}_event", stack.names.stack), fields);
    S::Do(call(put, vec![atom("stack"), event]))
}

/// When so many events of an application are not taken.
pub fn refused(stack: &Stack, events: usize) -> C {
    match calls_applications(stack.program) {
        true => call("takes", vec![atom("stack"), atom(events.to_string())]).negated(),
        false => binary("!=", atom("stack").behind("waiting"), atom("0")),
    }
}

/// The declarations of all that whoever uses a stack writes.
pub fn prototypes(stack: &Stack) -> Vec<Item> {
    let mut items = Vec::new();
    let types = stack.program.records.iter().enumerate();
    let names = types.filter(|(_, one)| one.external);
    let names: BTreeSet<&String> = names.map(|(at, _)| &stack.names.records[at]).collect();
    for name in names {
        items.push(Item::Text(format!("struct {name};\n")));
    }
    let mut declared = BTreeSet::new();
    for (at, function) in stack.program.functions.iter().enumerate() {
        if function.external && declared.insert(&stack.names.functions[at]) {
            items.push(Item::Prototype(prototype(stack, FunctionId(at as u32))));
        }
    }
    for port in &stack.program.ports {
        let events = port.up.iter().map(|notice| Event::Notice(*notice));
        for event in std::iter::once(Event::Deliver).chain(events) {
            items.extend(application(stack, port, event));
        }
    }
    items
}

/// A call of a function in C.
pub fn call_of(scope: &Scope, id: FunctionId, arguments: &[Expression]) -> C {
    let mut all = vec![user()];
    for argument in arguments {
        match (&argument.result, &*argument.kind) {
            (Type::Message, ExpressionKind::Read(Variable::Local(message))) => {
                all.extend(["data", "length"].map(|part| scope.of_message(*message, part)));
            }
            (of, ExpressionKind::Read(variable)) if is_external(scope.stack, of) => {
                all.push(scope.place(variable).address());
            }
            _ => all.extend(scope.arguments(argument)),
        }
    }
    call(&scope.stack.names.functions[id.at()], all)
}

/// Whether this calls a function in C that gives something or nothing.
pub fn gives_optional(stack: &Stack, value: &Expression) -> bool {
    match &*value.kind {
        ExpressionKind::Call(id, _) => {
            stack.program.functions[id.at()].external && matches!(value.result, Type::Optional(_))
        }
        _ => false,
    }
}

/// The optional that such a call gives: it says whether there is one, and leaves it in its place.
pub fn bind_optional(
    scope: &mut Scope,
    local: LocalId,
    value: &Expression,
    (declared, once): (bool, bool),
) -> Vec<S> {
    let (ExpressionKind::Call(id, arguments), Type::Optional(inner)) =
        (&*value.kind, &value.result)
    else {
        unreachable!("such a call gives an optional");
    };
    let name = scope.name(local);
    let C::Call(function, mut given) = call_of(scope, *id, arguments) else {
        unreachable!("a call of a function is a call");
    };
    given.push(atom(&name).address());
    let (flag, called) = (format!("has_{name}"), call(function, given));
    if declared {
        return vec![assign(atom(flag), called)];
    }
    let place = S::Declare {
        kind: c_type(scope.stack, inner),
        name,
        value: Some(scope.zero(inner)),
    };
    let kind = if once { "const bool" } else { "bool" };
    let there = S::Declare {
        kind: kind.to_string(),
        name: flag,
        value: Some(called),
    };
    vec![place, there]
}

/// The function through which an application is called: it has the name that stands on the agenda.
pub fn upward(stack: &Stack, id: PortId, event: Event, function: &str) -> Item {
    let port = &stack.program.ports[id.at()];
    let name = &stack.names.stack;
    let mut all = vec![
        format!("struct {name} *stack"),
        "uint32_t session".to_string(),
    ];
    let mut given = ["stack->config.user", "stack", "session"]
        .map(String::from)
        .to_vec();
    let mut before = listen::in_place_of(stack, id, event);
    let carries = match event {
        Event::Notice(notice) => stack.program.notices[notice.at()].message,
        _ => true,
    };
    if carries {
        all.push(format!("const struct {name}_message *message"));
        before += "    stack->counters[DELIVERED] += message->came_in;\n";
    }
    if let Event::Notice(notice) = event {
        for one in &stack.program.notices[notice.at()].parameters {
            all.extend(parameters(stack, &one.kind, &c_name(&one.name)));
            given.extend(super::layout::member_names(&one.kind, &one.name));
        }
    } else if !attributes(stack, port).is_empty() {
        let values = attribute_values(stack, port).into_iter();
        let values: Vec<String> = values
            .map(|(own, value)| format!("        .{own} = {value},\n"))
            .collect();
        let values = values.concat();
        before += &format!(
            "    const struct {name}_{}_attributes with = {{\n{values}    }};\n",
            port.name
        );
        given.push("&with".to_string());
    }
    if carries {
        given.extend(["message->data", "message->length"].map(String::from));
    }
    given.push("stack->now_ns".to_string());
    let head = wrapped(&format!(
        "static void {}({})",
        stack.names.ports[&(id, event)],
        all.join(", ")
    ));
    let called = call(
        application_name(stack, function, event),
        given.into_iter().map(atom).collect(),
    );
    let called = crate::c::printer::block(&[S::Do(called)], 1);
    let after = if carries {
        "    sl_buffers_give(&stack->buffers, message->buffer);\n"
    } else {
        ""
    };
    Item::Text(format!(
        "/* {}: calls {function} */\n{head} {{\n{before}    stack->calling = true;\n{called}    \
         stack->calling = false;\n{after}}}\n",
        port.name
    ))
}

fn user() -> C {
    atom("stack").behind("config").member("user")
}

fn is_external(stack: &Stack, of: &Type) -> bool {
    matches!(of, Type::Record(id) if stack.program.records[id.at()].external)
}

fn prototype(stack: &Stack, id: FunctionId) -> Function {
    let function = &stack.program.functions[id.at()];
    let rewrites = function.result == Type::Message;
    let mut all = vec!["void *user".to_string()];
    for local in &function.locals[..function.parameters as usize] {
        let name = c_name(&local.name);
        match &local.kind {
            Type::Message => {
                let constant = if rewrites { "" } else { "const " };
                all.push(format!("{constant}uint8_t *{name}"));
                all.push(format!("size_t {name}_length"));
            }
            of if is_external(stack, of) => all.push(format!("{} *{name}", c_type(stack, of))),
            of => all.extend(parameters(stack, of, &name)),
        }
    }
    let result = match &function.result {
        Type::Message | Type::Nothing => "void".to_string(),
        Type::Optional(inner) => {
            all.push(declaration(&format!("{} *", c_type(stack, inner)), "found"));
            "bool".to_string()
        }
        of => c_type(stack, of),
    };
    Function {
        comment: String::new(),
        result,
        name: stack.names.functions[id.at()].clone(),
        parameters: all,
        body: Vec::new(),
    }
}

fn application_name(stack: &Stack, function: &str, event: Event) -> String {
    let name = &stack.names.stack;
    match event {
        Event::Notice(notice) => {
            let notice = &stack.program.notices[notice.at()].name;
            format!("{name}_{function}_{notice}")
        }
        _ => format!("{name}_{function}"),
    }
}

/// How the function of an application is declared.
fn application(stack: &Stack, port: &Port, event: Event) -> Option<Item> {
    let function = port.calls.as_ref()?;
    let name = &stack.names.stack;
    let mut all = vec![
        "void *user".to_string(),
        format!("struct {name} *stack"),
        "uint32_t session".to_string(),
    ];
    let mut carries = true;
    if let Event::Notice(notice) = event {
        let notice = &stack.program.notices[notice.at()];
        carries = notice.message;
        for one in &notice.parameters {
            all.extend(parameters(stack, &one.kind, &c_name(&one.name)));
        }
    } else if !attributes(stack, port).is_empty() {
        all.push(format!(
            "const struct {name}_{}_attributes *with",
            port.name
        ));
    }
    if carries {
        all.extend(["const uint8_t *data", "size_t length"].map(String::from));
    }
    all.push("uint64_t now_ns".to_string());
    Some(Item::Prototype(Function {
        comment: String::new(),
        result: "void".to_string(),
        name: application_name(stack, function, event),
        parameters: all,
        body: Vec::new(),
    }))
}
