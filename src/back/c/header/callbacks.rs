//! Functions that whoever uses a stack writes in C: their declarations, and what is said of them.

use super::configuration::calls_applications;
use super::head::{Head, comment_text};
use super::ports::attributes;
use super::values::{Beside, beside, c_type, distinct, foreign_record, parameters};
use crate::back::c::Stack;
use crate::back::c::names::Taken;
use crate::c::printer::declaration;
use crate::c::tree::Item;
use crate::ir::interface::{Foreign, Given, Home, Named, Port, Shape};

/// All declarations; none if nobody writes anything.
pub fn declared(stack: &Stack<'_>) -> Vec<Item> {
    let module = stack.module;
    let records = stack.names.foreign_records.values();
    let mut items: Vec<Item> = records
        .map(|name| Item::Text(format!("struct {name};\n")))
        .collect();
    let foreigns = module.foreigns.iter().zip(&stack.names.foreigns);
    let foreigns = foreigns.filter(|(foreign, _)| foreign.home.is_host());
    items.extend(foreigns.map(|(foreign, name)| of_layers(stack, foreign, name).prototype()));
    for at in 0..module.ports.len() {
        items.extend(of_port(stack, at).iter().map(Head::prototype));
    }
    let links = (0..module.links.len()).filter_map(|at| of_link(stack, at));
    items.extend(links.map(|head| head.prototype()));
    if !items.is_empty() {
        items.insert(0, Item::Text(comment_text(&comment(stack))));
    }
    items
}

fn comment(stack: &Stack<'_>) -> String {
    let name = &stack.names.stack;
    let mut text = "Functions that you write. `user` is the pointer of the settings.".to_string();
    if calls_applications(stack) {
        text += " The stack calls these callbacks when no other event is being handled. A callback \
                 may send and tell at ports of the stack: the first takes effect at once. Its \
                 consequences, sessions that it opens and whatever it does behind it wait until \
                 the callback has returned. Frames and timers wait for the host. Pointers are \
                 valid until the callback returns.";
        if stack
            .module
            .ports
            .iter()
            .any(|port| granted(port).is_some())
        {
            text += " The result is a grant: how much more the stack may deliver.";
        }
    }
    let links = stack.names.links.iter();
    let leaving: Vec<&str> = links.filter_map(|link| link.calls.as_deref()).collect();
    if !leaving.is_empty() {
        text += &format!(
            " {} transmits a frame, behind everything that led to it; the frame is valid until it \
             returns, or calls the stack.",
            leaving.join(" or ")
        );
    }
    let gathering = stack.module.links.iter().zip(&stack.names.links);
    let gathering = gathering.filter(|(link, _)| link.gathers);
    let gathering: Vec<&str> = gathering
        .filter_map(|(_, names)| names.calls.as_deref())
        .collect();
    if !gathering.is_empty() {
        text += &format!(
            " A frame of {} is `data` with `body` behind it, which may be empty.",
            gathering.join(" or ")
        );
    }
    if !stack.names.foreign_records.is_empty() {
        text += &format!(
            " {name}_extern.h defines the structs, which start as all zero bytes; {name}.c \
             includes it."
        );
    }
    text
}

/// A function that layers call.
pub fn of_layers(stack: &Stack<'_>, foreign: &Foreign, name: &str) -> Head {
    let mut all = vec!["void *user".to_string()];
    let found = match &foreign.result {
        Some(Shape::Optional(found)) => Some(&**found),
        _other_results => None,
    };
    let is_given_stack = foreign.home == Home::Reentrant;
    if is_given_stack {
        all.push(format!("struct {} *stack", stack.names.stack));
    }
    let mut own = vec!["user"];
    own.extend(is_given_stack.then_some("stack"));
    own.extend(found.is_some().then_some("found"));
    let wanted = foreign.parameters.iter().map(|(name, given)| {
        let beside = match given {
            Given::Data | Given::Rewritten => Some(Beside::Length),
            Given::Value(shape) => beside(shape),
            Given::State(_) | Given::Changed(_) => None,
        };
        (name.as_str(), beside)
    });
    let names = distinct(&own, &Taken::default(), wanted);
    for ((_, given), name) in foreign.parameters.iter().zip(names) {
        let length = format!("size_t {name}_length");
        match given {
            Given::Data => all.extend([format!("const uint8_t *{name}"), length]),
            Given::Rewritten => all.extend([format!("uint8_t *{name}"), length]),
            Given::State(record) => {
                all.push(format!("{} *{name}", foreign_record(stack, record)));
            }
            Given::Value(shape) => all.extend(parameters(stack, shape, &name)),
            Given::Changed(shape) => all.push(format!("{} *{name}", c_type(stack, shape))),
        }
    }
    let result = match (&foreign.result, found) {
        (_, Some(found)) => {
            let place = format!("{} *", c_type(stack, found));
            all.push(declaration(&place, "found"));
            "bool".to_string()
        }
        (Some(shape), None) => c_type(stack, shape),
        (None, None) => "void".to_string(),
    };
    Head {
        comment: String::new(),
        result,
        name: name.to_string(),
        parameters: all,
    }
}

/// The function that a link calls with each frame that leaves.
pub fn of_link(stack: &Stack<'_>, at: usize) -> Option<Head> {
    let name = stack.names.links[at].calls.as_ref()?;
    let parts: &[&str] = match stack.module.links[at].gathers {
        true => &[
            "const uint8_t *data",
            "size_t length",
            "const uint8_t *body",
            "size_t body_length",
        ],
        false => &["const uint8_t *data", "size_t length"],
    };
    let mut parameters = vec![
        "void *user".to_string(),
        format!("struct {} *stack", stack.names.stack),
    ];
    parameters.extend(parts.iter().copied().map(String::from));
    parameters.push("uint64_t now_ns".to_string());
    Some(Head {
        comment: String::new(),
        result: "void".to_string(),
        name: name.clone(),
        parameters,
    })
}

/// The functions that a port calls: with messages, and with each notice that comes up.
pub fn of_port(stack: &Stack<'_>, at: usize) -> Vec<Head> {
    let (port, names) = (&stack.module.ports[at], &stack.names.ports[at]);
    let Some(calls) = &names.calls else {
        return Vec::new();
    };
    let name = &stack.names.stack;
    let head = |result: String, name: &str, given: Vec<String>, carries: bool| {
        let mut parameters = vec![
            "void *user".to_string(),
            format!("struct {} *stack", stack.names.stack),
            "uint32_t session".to_string(),
        ];
        parameters.extend(given);
        if carries {
            parameters.extend(["const uint8_t *data", "size_t length"].map(String::from));
        }
        parameters.push("uint64_t now_ns".to_string());
        Head {
            comment: String::new(),
            result,
            name: name.to_string(),
            parameters,
        }
    };
    let with = (!attributes(port).is_empty())
        .then(|| format!("const struct {name}_{}_attributes *with", port.name));
    let result = granted(port).map_or("void".to_string(), |one| c_type(stack, &one.shape));
    let mut all = vec![head(result, calls, Vec::from_iter(with), true)];
    for (notice, function) in port.up.iter().zip(&names.told) {
        let function = function
            .as_ref()
            .expect("a port that calls is called with notices");
        let told = &notice.parameters;
        let given = told.iter().zip(told_names(stack, told));
        let given = given.flat_map(|(one, name)| parameters(stack, &one.shape, &name));
        let given = given.collect();
        all.push(head("void".to_string(), function, given, notice.message));
    }
    all
}

/// The value of a notice that the function of a port gives back; none if nobody hears the notice.
pub fn granted(port: &Port) -> Option<&Named> {
    let notice = &port.down[port.grants? as usize];
    notice.handled.and(notice.parameters.first())
}

/// The names of the values of a notice where an application is called with them.
pub fn told_names(stack: &Stack<'_>, told: &[Named]) -> Vec<String> {
    let own = [
        "user", "stack", "session", "message", "buffer", "data", "length", "now_ns",
    ];
    let told = told.iter();
    let wanted = told.map(|one| (one.name.as_str(), beside(&one.shape)));
    distinct(&own, &stack.names.taken, wanted)
}
