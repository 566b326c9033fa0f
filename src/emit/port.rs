//! Ports: what an application opens, sends, tells, and what comes up to it.

use super::Stack;
use super::begun::Begun;
use super::external;
use super::layout::{
    given_names, held, held_in_place, member_names, named_members, names_of, parameters,
};
use super::listen;
use super::names::c_name;
use super::output::Queued;
use super::scope::Scope;
use super::send;
use super::state;
use crate::c::printer;
use crate::c::tree::{Expression as C, Item, Line, Statement, atom, binary, call, conditional};
use crate::tree::{Index, Reaction};
use crate::types::program::{Event, Field, NoticeId, Place, Port, SessionIndex};
use crate::types::value::Type;
use std::collections::BTreeSet;

/// An attribute as an application knows it: its name there, its member of a message, its type.
pub fn attributes<'a>(stack: &'a Stack, port: &Port) -> Vec<(String, &'a str, &'a Type)> {
    let own: Vec<_> = port
        .attributes
        .iter()
        .map(|id| &stack.program.attributes[id.at()])
        .collect();
    let named = port.attributes.iter().zip(&own).map(|(id, attribute)| {
        let repeats = own
            .iter()
            .filter(|other| other.name == attribute.name)
            .count()
            > 1;
        let member = stack.names.attributes[id.at()].as_str();
        let name = if repeats {
            member.to_string()
        } else {
            c_name(&attribute.name)
        };
        (name, member, &attribute.kind)
    });
    named.collect()
}

/// The structs of the header whose members depend on the program.
pub fn layouts(stack: &Stack) -> Vec<(String, Vec<String>)> {
    let name = &stack.names.stack;
    let config = stack.program.config.iter();
    let config = config.flat_map(|one| member_names(&one.kind, &one.name));
    let own = [
        "buffers",
        "reserve",
        "outputs",
        "events",
        "budget",
        "hash_seed",
    ]
    .map(String::from);
    let mut all = vec![(format!("{name}_config"), config.chain(own).collect())];
    for port in &stack.program.ports {
        let listener = port.listens.map(|how| how.listener);
        for (kind, tag) in [(port.opens, "keys"), (listener, "listener_keys")] {
            if let Some(kind) = kind {
                let tag = format!("{name}_{}_{tag}", port.name);
                all.push((tag, listen::key_members(stack, kind)));
            }
        }
        let attributes = attributes(stack, port);
        let members = attributes
            .iter()
            .flat_map(|(name, _, kind)| names_of(kind, name));
        let members: Vec<String> = members.collect();
        if !members.is_empty() {
            all.push((format!("{name}_{}_attributes", port.name), members));
        }
    }
    all
}

/// The structs of a port: its keys, its attributes, the arguments of its notices.
pub fn structs(stack: &Stack, port: &Port) -> Vec<Item> {
    let name = format!("{}_{}", stack.names.stack, port.name);
    let item = |comment: String, name: String, members: Vec<Line>| Item::Struct {
        comment,
        name,
        members,
    };
    let mut all = listen::structs(stack, port);
    let members: Vec<Line> = attributes(stack, port)
        .into_iter()
        .flat_map(|(name, member, kind)| {
            let at = stack.names.attributes.iter().position(|one| one == member);
            let owner = at.map(|at| stack.program.attributes[at].owner.as_str());
            let comment = format!("of {}", owner.unwrap_or_default());
            named_members(stack, kind, &name, &comment)
        })
        .collect();
    if !members.is_empty() {
        let comment = format!("The attributes of a message at {}.", port.name);
        all.push(item(comment, format!("{name}_attributes"), members));
    }
    let asked = port.up.iter().filter(|_| port.calls.is_none());
    for notice in asked {
        let own = &stack.program.notices[notice.at()];
        let members: Vec<Line> = own
            .parameters
            .iter()
            .flat_map(|one| named_members(stack, &one.kind, &c_name(&one.name), ""))
            .collect();
        if !members.is_empty() {
            let comment = format!("The values of the notice {} to {}.", own.name, port.name);
            all.push(item(comment, format!("{name}_{}", own.name), members));
        }
    }
    all
}

/// The members of the union that goes with an output.
pub fn with_members(stack: &Stack) -> Vec<Line> {
    let mut all = Vec::new();
    let mut add = |tag: String, member: String, comment: &str| {
        let text = format!("struct {}_{tag} {member}", stack.names.stack);
        all.push(Line {
            text,
            comment: comment.to_string(),
        });
    };
    for port in &stack.program.ports {
        let asks = port.calls.is_none();
        if asks && !port.attributes.is_empty() {
            add(
                format!("{}_attributes", port.name),
                c_name(&port.name),
                "the attributes of a delivered message",
            );
        }
        if port.listens.is_some() {
            let member = format!("{}_accepted", port.name);
            add(member.clone(), member, "the accepted session");
        }
        for notice in port.up.iter().filter(|_| asks) {
            let own = &stack.program.notices[notice.at()];
            if !own.parameters.is_empty() {
                let member = format!("{}_{}", port.name, own.name);
                add(member.clone(), member, "the values of the notice");
            }
        }
    }
    all
}

/// The heads of the functions that applications call on a port.
pub fn heads(stack: &Stack, port: &Port) -> Vec<(String, String)> {
    let name = &stack.names.stack;
    let own = &port.name;
    let of_keys = listen::functions(stack, port).into_iter();
    let mut all: Vec<_> = of_keys.map(|[comment, head, _]| (comment, head)).collect();
    if port.passes {
        all.push(send_head(stack, port));
    }
    for notice in told_by_name(stack, port) {
        let told = &stack.program.notices[notice.at()];
        let arguments: String = told
            .parameters
            .iter()
            .zip(told_names(stack, &told.parameters))
            .flat_map(|(one, name)| parameters(stack, &one.kind, &name))
            .map(|one| format!("{one}, "))
            .collect();
        all.push((
            format!("Gives the notice {} to a session of {own}.", told.name),
            format!(
                "void {name}_{own}_{}(struct {name} *stack, uint32_t session, {arguments}\
                 uint64_t now_ns)",
                told.name
            ),
        ));
    }
    all
}

/// What the values of a notice are called where an application gives it.
fn told_names(stack: &Stack, told: &[Field]) -> Vec<String> {
    let own = ["stack", "session", "now_ns"];
    given_names(
        &own,
        &stack.names.taken,
        told.iter().map(|one| (&one.kind, &*one.name)),
    )
}

pub fn send_head(stack: &Stack, port: &Port) -> (String, String) {
    let (name, own) = (&stack.names.stack, &port.name);
    let with = match port.attributes.is_empty() {
        true => "const void *with".to_string(),
        false => format!("const struct {name}_{own}_attributes *with"),
    };
    (
        "Sends a message. Its bytes are copied. Without attributes (NULL), each has its default."
            .to_string(),
        format!(
            "enum {name}_send {name}_{own}_send(struct {name} *stack, uint32_t session, {with}, \
             const uint8_t *data, size_t length, uint64_t now_ns)"
        ),
    )
}

/// Which reaction a session below a port has to an event, and whether its index goes with it.
pub fn below(stack: &Stack, port: &Port, event: Event) -> Option<Reaction> {
    let Place::Entity { entity, index, .. } = port.below else {
        return None;
    };
    let entity = &stack.program.entities[entity.at()];
    let record = Reaction::Handle {
        kind: entity.record,
        index: Index::Only(0),
        event,
    };
    let index = match index {
        SessionIndex::Only(only) => Index::Only(only),
        SessionIndex::Same | SessionIndex::Keyed => Index::Any,
        SessionIndex::Label(label) => Index::Label(label),
    };
    let session = Reaction::Handle {
        kind: entity.session,
        index,
        event,
    };
    let notice = matches!(event, Event::Notice(_));
    [notice.then_some(record), Some(session)]
        .into_iter()
        .flatten()
        .find(|reaction| stack.tree(*reaction).is_some())
}

/// A call of a reaction from the host: its instance, message and arguments as far as it has them.
pub fn called(
    stack: &Stack,
    reaction: Reaction,
    message: Option<&str>,
    arguments: &[String],
) -> String {
    let tree = stack.tree(reaction).expect("what is called has a tree");
    let mut all = vec!["stack".to_string()];
    all.extend(tree.parameters.instance.map(|_| "session".to_string()));
    all.extend(message.map(String::from));
    all.extend(arguments.iter().cloned());
    format!("{}({});", stack.names.reactions[&reaction], all.join(", "))
}

/// The condition under which a session is there.
pub fn exists(stack: &Stack, port: &Port) -> C {
    match port.opens {
        Some(kind) => state::exists(stack, kind, "session"),
        None => binary("==", atom("session"), atom("0")),
    }
}

/// The notices for which an application has a function: all but the one that opening tells.
fn told_by_name(stack: &Stack, port: &Port) -> impl Iterator<Item = NoticeId> {
    let opens = port.opens.is_some();
    let notices = port.down.iter().copied();
    notices.filter(move |id| !opens || stack.program.notices[id.at()].name != "open")
}

/// The C of a port that applications call; reactions that are `quiet` put nothing on the agenda.
pub fn functions(
    stack: &Stack,
    port: &Port,
    quiet: &BTreeSet<Reaction>,
    begun: &[Begun],
) -> Vec<Item> {
    let mut heads = heads(stack, port);
    let sending = heads
        .iter()
        .position(|(_, head)| port.passes && *head == send_head(stack, port).1);
    sending.map(|at| heads.remove(at));
    let of_keys = listen::functions(stack, port).into_iter();
    let of_keys: Vec<String> = of_keys.map(|[_, _, body]| body).collect();
    let of_notices = heads.split_off(of_keys.len()).into_iter();
    let of_keys = heads.into_iter().zip(of_keys);
    let mut all: Vec<Item> = of_keys
        .map(|((_, head), body)| with_body(&head, &body))
        .collect();
    for ((_, head), notice) in of_notices.zip(told_by_name(stack, port)) {
        all.extend(tell(stack, port, notice, &head));
    }
    if port.passes {
        let head = send_head(stack, port).1;
        all.extend(
            send::functions(stack, port, &head, (quiet, begun))
                .into_iter()
                .map(Item::Text),
        );
    }
    all
}

/// A head that is too long for a line goes on under its parenthesis.
pub fn wrapped(head: &str) -> String {
    let (left, parameters) = head.split_once('(').expect("a head has parameters");
    let (kind, name) = left.rsplit_once(' ').expect("a head has a result");
    let parameters = parameters.trim_end_matches(')');
    let function = crate::c::tree::Function {
        comment: String::new(),
        result: kind.to_string(),
        name: name.to_string(),
        parameters: parameters.split(", ").map(String::from).collect(),
        body: Vec::new(),
    };
    let text = printer::file(&[Item::Prototype(function)]);
    text.trim_end().trim_end_matches(';').to_string()
}

/// What opening, listening and sending put on the agenda.
pub fn queued(stack: &Stack) -> Vec<Queued> {
    let ports = stack.program.ports.iter();
    let all = ports.flat_map(|port| {
        let sent = external::calls_applications(stack.program);
        let sent = sent.then(|| below(stack, port, Event::Send)).flatten();
        listen::queued(stack, port).into_iter().chain(sent)
    });
    all.map(Queued::Reaction).collect()
}

/// An `if` around one statement; the condition may take several lines.
pub fn condition(condition: C, then: &str) -> String {
    let whole = Statement::If {
        condition,
        then: vec![Statement::Do(atom(then.trim_end_matches(';')))],
        otherwise: Vec::new(),
    };
    printer::block(&[whole], 1)
}

fn with_body(head: &str, body: &str) -> Item {
    Item::Text(format!("{} {{\n{body}}}\n", wrapped(head)))
}

/// The function by which an application tells something, and before it a cold one for what is to
/// wait.
fn tell(stack: &Stack, port: &Port, notice: NoticeId, head: &str) -> Vec<Item> {
    let own = &stack.program.notices[notice.at()];
    let arguments: Vec<String> = own
        .parameters
        .iter()
        .zip(told_names(stack, &own.parameters))
        .flat_map(|(one, name)| names_of(&one.kind, &name))
        .collect();
    let Some(reaction) = below(stack, port, Event::Notice(notice)) else {
        let unused = ["stack", "session", "now_ns"].map(String::from);
        let all = unused.iter().chain(&arguments);
        let body: String = all.map(|name| format!("    (void){name};\n")).collect();
        return vec![with_body(head, &body)];
    };
    let queued = Queued::Reaction(reaction);
    let name = queued.name(stack);
    let values = queued
        .arguments(stack)
        .iter()
        .flat_map(|(name, kind)| names_of(kind, name))
        .zip(&arguments)
        .map(|(member, value)| (format!("with.{name}.{member}"), atom(value)))
        .collect();
    let refused = condition(exists(stack, port).negated(), "return;");
    let put = external::put(stack, reaction, "session", values);
    let body = |begun: &str, handled: Statement| {
        let handled = printer::block(&[handled], 1);
        format!("{begun}{refused}{handled}    run(stack);\n")
    };
    let handled = called(stack, reaction, None, &arguments);
    let handled = Statement::Do(atom(handled.trim_end_matches(';')));
    let either = Statement::If {
        condition: atom("at_once"),
        then: vec![handled.clone()],
        otherwise: vec![put],
    };
    let (name, _) = head.split_once('(').expect("a head has parameters");
    let waiting = head
        .replacen(name, &format!("static {name}_later"), 1)
        .replace(", uint64_t now_ns)", ")");
    let cold = format!(
        "#ifdef __GNUC__\n{}\n    __attribute__((cold, noinline));\n#endif\n\n\
         /* The same where something waits, or the answers have no room. */\n",
        wrapped(&waiting)
    );
    let given = [vec!["stack".to_string(), "session".to_string()], arguments].concat();
    let (_, name) = name.rsplit_once(' ').expect("a head has a result");
    let [begun, at_once] = begun(stack, &format!("{name}_later({})", given.join(", ")));
    let waits = format!(
        "{cold}{} {{\n{}}}\n",
        wrapped(&waiting),
        body(&at_once, either)
    );
    let mut all = vec![Item::Text(waits)];
    if external::calls_applications(stack.program) {
        // GCC that sees what an application does while it is called goes on to what that tells.
        let inline = wrapped(&format!("extern inline {head}"));
        all.push(Item::Text(format!(
            "#if defined __GNUC__ && !defined __clang__\n{inline};\n#endif\n"
        )));
    }
    all.push(with_body(
        head,
        &body(&(held_of(stack, &own.parameters) + &begun), handled),
    ));
    all
}

/// Returns the C expression of an attribute that an application passes to `NAME_PORT_send`, limited
/// to the values of its type.
pub fn said(stack: &Stack, kind: &Type, own: &str) -> C {
    held(stack, kind, atom("with").behind(own))
}

/// Returns C statements that limit the parameters of a notice to the values of their types. A
/// parameter needs none if its C type has no other values.
fn held_of(stack: &Stack, told: &[Field]) -> String {
    let given = told.iter().zip(told_names(stack, told));
    let held = given.filter_map(|(one, name)| held_in_place(stack, &one.kind, atom(name)));
    printer::block(&held.collect::<Vec<_>>(), 1)
}

/// What begins where an application tells something, from a call or while it is called; and where
/// that is to wait, which is then asked once more.
fn begun(stack: &Stack, later: &str) -> [String; 2] {
    let inside_or = |inside: &str, outside: C| match external::calls_applications(stack.program) {
        true => {
            let calling = atom("stack").behind("shared").member("calling");
            conditional(calling, call(inside, vec![atom("stack")]), outside)
        }
        false => outside,
    };
    let begins = call("begin_step", ["stack", "now_ns"].map(atom).to_vec());
    let later = Statement::If {
        condition: inside_or("begin_inside", begins).negated(),
        then: vec![Statement::Do(atom(later)), Statement::Return(None)],
        otherwise: Vec::new(),
    };
    let begins = call("begin_later", vec![atom("stack")]);
    let at_once = Statement::Declare {
        kind: "const bool".to_string(),
        name: "at_once".to_string(),
        value: Some(inside_or("begins_inside", begins)),
    };
    [later, at_once].map(|one| printer::block(&[one], 1))
}

/// What the notices of applications put on the agenda.
pub fn told(stack: &Stack) -> Vec<Queued> {
    let ports = stack.program.ports.iter();
    let told = ports.flat_map(|port| {
        port.down
            .iter()
            .filter_map(|id| below(stack, port, Event::Notice(*id)))
    });
    told.map(Queued::Reaction).collect()
}

/// A scope that knows no locals, for what stands outside of trees.
pub fn outside<'a>(stack: &'a Stack<'a>) -> Scope<'a> {
    Scope::new(stack, &[])
}
