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
use super::layout::{c_type, member_names, parameters};
use super::listen;
use super::names::{Taken, given_names};
use super::output::Queued;
use super::port::{attributes, wrapped};
use super::scope::Scope;
use super::upward::attribute_values;
use crate::c::printer::declaration;
use crate::c::tree::{Expression as C, Function, Item, Statement as S, assign, atom, binary, call};
use crate::tree::Reaction;
use crate::types::expression::{Expression, ExpressionKind, Variable};
use crate::types::program::{Event, Field, FunctionId, LocalId, PortId, Program};
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

/// Puts an event of an application on the agenda, behind what waits there.
pub fn put(stack: &Stack, reaction: Reaction, instance: &str, values: Vec<(String, C)>) -> S {
    let put = match reaction {
        Reaction::Handle {
            event: Event::Start | Event::End,
            ..
        } => "kept_last",
        Reaction::Handle { .. } | Reaction::Arrive { .. } => "behind_all",
    };
    let mut fields = vec![
        ("work".to_string(), Queued::Reaction(reaction).work(stack)),
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
    for (at, port) in stack.program.ports.iter().enumerate() {
        let events = port.up.iter().map(|notice| Event::Notice(*notice));
        for event in std::iter::once(Event::Deliver).chain(events) {
            items.extend(application(stack, PortId(at as u32), event));
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

/// Whether this calls a function that gives something or nothing, and each call counts.
pub fn gives_optional(stack: &Stack, value: &Expression) -> bool {
    match &*value.kind {
        ExpressionKind::Call(id, _) => {
            stack.program.functions[id.at()].calls_c && matches!(value.result, Type::Optional(_))
        }
        _ => false,
    }
}

/// The optional that such a call gives, in a local.
pub fn bind_optional(
    scope: &mut Scope,
    local: LocalId,
    value: &Expression,
    (declared, once): (bool, bool),
) -> Vec<S> {
    let name = scope.name(local);
    let flag = format!("has_{name}");
    if declared {
        return take_optional(scope, value, atom(flag), atom(name));
    }
    let Type::Optional(inner) = &value.result else {
        unreachable!("such a call gives an optional");
    };
    let kind = c_type(scope.stack, inner);
    let before = if once { "const " } else { "" };
    let declare = |kind: String, name: &str, value: C| S::Declare {
        kind,
        name: name.to_string(),
        value: Some(value),
    };
    let (mut all, there, found) = optional_parts(scope, value, atom(&name));
    match found {
        Some(found) => {
            all.push(declare(format!("{before}bool"), &flag, there));
            all.push(declare(format!("{before}{kind}"), &name, found));
        }
        None => {
            all.push(declare(kind, &name, scope.zero(inner)));
            all.push(declare(format!("{before}bool"), &flag, there));
        }
    }
    all
}
/// The same, in two places that there are.
pub fn take_optional(scope: &mut Scope, value: &Expression, has: C, place: C) -> Vec<S> {
    let (mut all, there, found) = optional_parts(scope, value, place.clone());
    all.push(assign(has, there));
    all.extend(found.map(|found| assign(place, found)));
    all
}

/// Calls the function; then whether it gives something, and what: one in C has left that in its
/// place.
fn optional_parts(scope: &mut Scope, value: &Expression, place: C) -> (Vec<S>, C, Option<C>) {
    let ExpressionKind::Call(id, arguments) = &*value.kind else {
        unreachable!("such a call gives an optional");
    };
    let C::Call(function, mut given) = super::function::call_of(scope, *id, arguments) else {
        unreachable!("a call of a function is a call");
    };
    if scope.stack.program.functions[id.at()].external {
        given.push(place.address());
        return (Vec::new(), call(function, given), None);
    }
    let name = scope.taken.take("given");
    let kept = S::Declare {
        kind: format!("const {}", c_type(scope.stack, &value.result)),
        name: name.clone(),
        value: Some(call(function, given)),
    };
    let [there, found] = ["present", "value"].map(|part| atom(&name).member(part));
    (vec![kept], there, Some(found))
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
        let told = &stack.program.notices[notice.at()].parameters;
        for (one, name) in told.iter().zip(told_names(stack, told)) {
            all.extend(parameters(stack, &one.kind, &name));
            given.extend(member_names(&one.kind, &name));
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
        stack.names.applications[&(id, event)].clone(),
        given.into_iter().map(atom).collect(),
    );
    let called = crate::c::printer::block(&[S::Do(called)], 1);
    let after = if carries {
        "    give_buffer(stack, message->buffer);\n"
    } else {
        ""
    };
    Item::Text(format!(
        "/* {}: calls {function} */\n{head} {{\n{before}    stack->calling = true;\n{called}    \
         stack->calling = false;\n{after}}}\n",
        port.name
    ))
}

/// What the values of a notice are called where an application is called with them.
fn told_names(stack: &Stack, told: &[Field]) -> Vec<String> {
    let own = [
        "user", "stack", "session", "message", "data", "length", "now_ns",
    ];
    given_names(
        &own,
        &stack.names.taken,
        told.iter().map(|one| (&one.kind, &*one.name)),
    )
}

fn user() -> C {
    atom("stack").behind("config").member("user")
}

/// Whether only C knows what a value of this type is.
pub fn is_external(stack: &Stack, of: &Type) -> bool {
    matches!(of, Type::Record(id) if stack.program.records[id.at()].external)
}

fn prototype(stack: &Stack, id: FunctionId) -> Function {
    let function = &stack.program.functions[id.at()];
    let rewrites = function.result == Type::Message;
    let mut all = vec!["void *user".to_string()];
    let optional = matches!(function.result, Type::Optional(_));
    let own = &["user", "found"][..1 + usize::from(optional)];
    let given = &function.locals[..function.parameters as usize];
    let names = given_names(
        own,
        &Taken::default(),
        given.iter().map(|one| (&one.kind, &*one.name)),
    );
    for (local, name) in given.iter().zip(names) {
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

/// How the function of an application is declared.
fn application(stack: &Stack, id: PortId, event: Event) -> Option<Item> {
    let port = &stack.program.ports[id.at()];
    port.calls.as_ref()?;
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
        for (one, name) in notice
            .parameters
            .iter()
            .zip(told_names(stack, &notice.parameters))
        {
            all.extend(parameters(stack, &one.kind, &name));
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
        name: stack.names.applications[&(id, event)].clone(),
        parameters: all,
        body: Vec::new(),
    }))
}
