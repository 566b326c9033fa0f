//! What is written in C by whoever uses a stack: how it is declared, and how it is called.
//!
//! ```text
//! extern fn f(a: u16, b: u8?) -> u32     uint32_t S_f(void *user, uint16_t a, bool has_b, ..)
//! extern fn f(data: bytes) -> u32        uint32_t S_f(.., const uint8_t *data, size_t data_length)
//! extern fn f(data: bytes) -> bytes      void S_f(.., uint8_t *data, size_t data_length)
//! extern fn f(data: rewritten bytes) -> u8   uint8_t S_f(.., uint8_t *data, size_t data_length)
//! extern fn f(..) in runtime              sl_f of runtime/, without `user`
//! extern fn f(key: u32) -> u16?          bool S_f(.., uint32_t key, uint16_t *found)
//! extern type t   extern fn f(x: t)      struct S_t of S_extern.h    void S_f(.., struct S_t *x)
//! port p calls f                         void S_f(.., struct S *stack, uint32_t session, ..)
//! port p calls f, with grant_delivers    uint32_t S_f(.., struct S *stack, uint32_t session, ..)
//! ```

use super::Stack;
use super::granted::Granted;
use super::layout::{c_type, given_names, held, held_in_place, member_names, names_of, parameters};
use super::leaves;
use super::listen;
use super::names::Taken;
use super::output::Queued;
use super::port::{attributes, below, wrapped};
use super::scope::Scope;
use super::upward::attribute_values;
use crate::c::printer::{self, declaration};
use crate::c::tree::{Expression as C, Function, Item, Statement as S, assign, atom, binary, call};
use crate::tree::walk::reachable;
use crate::tree::{Goal, Node, Output, Reaction};
use crate::types::expression::{Expression, ExpressionKind, Variable};
use crate::types::program::{Event, Field, FunctionId, LocalId, Port, PortId, Program};
use crate::types::value::Type;
use std::collections::BTreeSet;

/// Whether a stack calls anything that is written in C.
pub fn calls_anything(program: &Program) -> bool {
    program
        .functions
        .iter()
        .any(|one| one.external && !one.in_runtime)
        || calls_applications(program)
        || leaves::calls_links(program)
}

/// Whether a port of a stack calls an application.
pub fn calls_applications(program: &Program) -> bool {
    program.ports.iter().any(|port| port.calls.is_some())
}

/// Whether an output calls an application.
pub fn is_call(stack: &Stack, output: &Output) -> bool {
    match output {
        Output::One { goal, .. } => is_call_to(stack, *goal),
        Output::Many(_) | Output::Every { .. } => false,
    }
}

/// Whether an application is called there.
pub fn is_call_to(stack: &Stack, goal: Goal) -> bool {
    match goal {
        Goal::Port(port, _, event) => calls_to(stack, port, event),
        Goal::Frame(_) | Goal::Reaction(..) | Goal::Otherwise => false,
    }
}

/// Whether a port calls its application with this.
pub fn calls_to(stack: &Stack, port: PortId, event: Event) -> bool {
    event != Event::Start && stack.program.ports[port.at()].calls.is_some()
}

/// Whether a reaction itself comes to a port that calls an application, which may tell something.
pub fn is_called_by(stack: &Stack, reaction: Reaction) -> bool {
    let tree = stack.tree(reaction);
    let nodes = tree.map(|tree| reachable(stack.forest, tree.root));
    let mut nodes = nodes.into_iter().flatten();
    nodes.any(|node| match stack.forest.arena.node(node) {
        Node::Leaf { outputs } => outputs.iter().any(|output| is_call(stack, output)),
        Node::Act { .. } | Node::Test { .. } | Node::Case { .. } | Node::Try { .. } => false,
    })
}

/// The functions that handle what applications send while they are called.
pub fn sent(stack: &Stack) -> Vec<String> {
    if !calls_applications(stack.program) {
        return Vec::new();
    }
    let ports = stack.program.ports.iter().filter(|port| port.passes);
    let sent = ports.filter_map(|port| below(stack, port, Event::Send));
    sent.map(|reaction| stack.names.reactions[&reaction].clone())
        .collect()
}

/// What comes up to applications that are called, and may have to wait.
pub fn queued(stack: &Stack) -> Vec<Queued> {
    let ports = stack.names.applications.keys();
    ports
        .map(|(port, event)| Queued::Port(*port, *event))
        .collect()
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
    let event = C::Struct(format!("struct {}_event", stack.names.stack), fields).address();
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
        let is_users = function.external && !function.in_runtime;
        if is_users && declared.insert(&stack.names.functions[at]) {
            items.push(Item::Prototype(prototype(stack, FunctionId(at as u32))));
        }
    }
    for (at, port) in stack.program.ports.iter().enumerate() {
        let events = port.up.iter().map(|notice| Event::Notice(*notice));
        for event in std::iter::once(Event::Deliver).chain(events) {
            items.extend(application(stack, PortId(at as u32), event));
        }
    }
    items.extend(leaves::prototypes(stack));
    items
}

/// A call of a function in C.
pub fn call_of(scope: &Scope, id: FunctionId, arguments: &[Expression]) -> C {
    let function = &scope.stack.program.functions[id.at()];
    let mut all = Vec::from_iter((!function.in_runtime).then(user));
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
    let result = &function.result;
    let called = call(&scope.stack.names.functions[id.at()], all);
    match result {
        Type::Optional(_) => called,
        _ => held(scope.stack, result, called),
    }
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
            all.extend(held_in_place(scope.stack, inner, atom(&name)));
        }
    }
    all
}
/// The same, in two places that there are.
pub fn take_optional(scope: &mut Scope, value: &Expression, has: C, place: C) -> Vec<S> {
    let (mut all, there, found) = optional_parts(scope, value, place.clone());
    all.push(assign(has, there));
    all.extend(match found {
        Some(found) => Some(assign(place, found)),
        None => held_in_place(scope.stack, &value.result, place),
    });
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

/// The functions through which an application is called: the first where nothing else is under way,
/// as at the end of a path of frames, whose message stays with who calls it; the other, which has
/// the name that stands on the agenda, lets all go before it that is, and gives its buffer back.
pub fn upward(stack: &Stack, id: PortId, event: Event, function: &str) -> Item {
    let port = &stack.program.ports[id.at()];
    let name = &stack.names.stack;
    let own = &stack.names.ports[&(id, event)];
    let mut all = vec![
        format!("struct {name} *stack"),
        "uint32_t session".to_string(),
    ];
    let mut given = vec!["stack".to_string(), "session".to_string()];
    let carries = carries(stack, event);
    if carries {
        all.push(format!("const struct {name}_message *message"));
        given.push("message".to_string());
    }
    if let Event::Notice(notice) = event {
        let told = &stack.program.notices[notice.at()].parameters;
        for (one, name) in told.iter().zip(told_names(stack, told)) {
            all.extend(parameters(stack, &one.kind, &name));
            given.extend(names_of(&one.kind, &name));
        }
    }
    let head = |own: &str| wrapped(&format!("static inline void {own}({})", all.join(", ")));
    let took = Granted::of(stack, id, event).map(|granted| granted.told());
    let at_once = printer::block(&called(stack, id, event, took), 1);
    let mut calls = vec![S::Do(call(now(own), given.into_iter().map(atom).collect()))];
    calls.extend(carries.then(|| given_back(atom("message").behind("buffer"))));
    let either = S::If {
        condition: binary(
            "||",
            atom("stack").behind("shared").member("calling"),
            binary("!=", atom("stack").behind("waiting"), atom("0")),
        ),
        then: waits(stack, id, event, carries).to_vec(),
        otherwise: calls,
    };
    Item::Text(format!(
        "/* {}: calls {function} */\n{} {{\n{at_once}}}\n\n\
         /* The same when nothing else is under way. */\n{} {{\n{}{}}}\n",
        port.name,
        head(&now(own)),
        head(own),
        listen::in_place_of(stack, id, event),
        printer::block(&[either], 1)
    ))
}

/// The buffer of what an application was given is free again.
pub fn given_back(buffer: C) -> S {
    S::Do(call("give_buffer", vec![atom("stack"), buffer]))
}

/// What an application that is called gives back: what kind it is, what it is called, and what is
/// done with it.
pub struct Kept {
    pub kind: String,
    pub name: String,
    pub then: Vec<S>,
}

/// An application is called: what is done with what it gives back, if it does.
pub fn called(stack: &Stack, id: PortId, event: Event, took: Option<Kept>) -> Vec<S> {
    let port = &stack.program.ports[id.at()];
    let name = &stack.names.stack;
    let mut given = vec![user(), atom("stack"), atom("session")];
    let mut all = Vec::new();
    let carries = carries(stack, event);
    if carries {
        let came_in = atom("message").behind("came_in");
        all.push(S::Assign(delivered(), "+=", came_in));
    }
    if let Event::Notice(notice) = event {
        let told = &stack.program.notices[notice.at()].parameters;
        let names = told_names(stack, told).into_iter();
        let told = told.iter().zip(names);
        given.extend(
            told.flat_map(|(one, name)| names_of(&one.kind, &name))
                .map(atom),
        );
    } else if !attributes(stack, port).is_empty() {
        let kind = format!("struct {name}_{}_attributes", port.name);
        let values = attribute_values(stack, port).into_iter();
        let values = values.map(|(own, value)| (own, atom(value))).collect();
        all.push(S::Declare {
            kind: format!("const {kind}"),
            name: "with".to_string(),
            value: Some(C::Struct(kind, values)),
        });
        given.push(atom("with").address());
    }
    if carries {
        given.extend(["data", "length"].map(|part| atom("message").behind(part)));
    }
    given.push(atom("stack").behind("now_ns"));
    let function = stack.names.applications[&(id, event)].clone();
    let called = call(function, given);
    all.push(calling(true));
    match took {
        Some(Kept { kind, name, then }) => {
            all.push(S::Declare {
                kind,
                name,
                value: Some(called),
            });
            all.extend(then);
        }
        None => all.push(S::Do(called)),
    }
    all.push(calling(false));
    all
}

/// Where is counted what came in and went to an application.
pub fn delivered() -> C {
    let counters = atom("stack").behind("counters");
    counters.element(atom("DELIVERED"))
}

/// From here on a function of an application is being called, or no more.
pub fn calling(is: bool) -> S {
    let calling = atom("stack").behind("shared").member("calling");
    assign(calling, atom(if is { "true" } else { "false" }))
}

/// Whether a message comes with an event.
fn carries(stack: &Stack, event: Event) -> bool {
    match event {
        Event::Notice(notice) => stack.program.notices[notice.at()].message,
        _ => true,
    }
}

/// What comes up while something else is under way lets that be next, within this step.
fn waits(stack: &Stack, id: PortId, event: Event, carries: bool) -> [S; 2] {
    let port = &stack.program.ports[id.at()];
    let own = &stack.names.ports[&(id, event)];
    let mut fields = vec![
        ("work".to_string(), Queued::Port(id, event).work(stack)),
        ("instance".to_string(), atom("session")),
    ];
    if carries {
        fields.extend(handed_on(stack, port, event));
    }
    if let Event::Notice(notice) = event {
        let told = &stack.program.notices[notice.at()].parameters;
        for (one, name) in told.iter().zip(told_names(stack, told)) {
            let members = member_names(&one.kind, &one.name).into_iter();
            let places = members.map(|member| format!("with.{own}.{member}"));
            fields.extend(places.zip(names_of(&one.kind, &name).into_iter().map(atom)));
        }
    }
    let listened = stack.program.listened(id).and_then(|how| how.opened);
    let put = match listened.map(Event::Notice) == Some(event) {
        true => "opened_last",
        false => "let_others_go",
    };
    let event = C::Struct(format!("struct {}_event", stack.names.stack), fields).address();
    let steps = atom("stack").behind("shared").member("steps");
    [
        S::Do(call(put, vec![atom("stack"), event])),
        S::Assign(steps, "-=", atom("1")),
    ]
}

/// What the function is called that waits for nothing, beside the one with this name.
pub fn now(name: &str) -> String {
    format!("{name}_now")
}

/// What an application is given of a message, for one that waits.
fn handed_on(stack: &Stack, port: &Port, event: Event) -> Vec<(String, C)> {
    let mut members: BTreeSet<String> = ["data", "length", "buffer", "came_in"]
        .map(String::from)
        .into();
    if event == Event::Deliver {
        let values = attribute_values(stack, port).into_iter();
        let named = values.map(|(_, value)| value.replace("message->", ""));
        members.extend(named);
    }
    let members = members.into_iter();
    let given = |member: String| {
        let place = format!("message.{member}");
        (place, atom("message").behind(member))
    };
    members.map(given).collect()
}

/// What the values of a notice are called where an application is called with them.
fn told_names(stack: &Stack, told: &[Field]) -> Vec<String> {
    let own = [
        "user", "stack", "session", "message", "buffer", "data", "length", "now_ns",
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
    let rewrites = function.rewrites;
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
    let granted = Granted::of(stack, id, event);
    Some(Item::Prototype(Function {
        comment: String::new(),
        result: granted.map_or("void".to_string(), |granted| granted.kind()),
        name: stack.names.applications[&(id, event)].clone(),
        parameters: all,
        body: Vec::new(),
    }))
}
