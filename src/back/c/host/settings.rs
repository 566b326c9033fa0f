//! Settings: in, those of a module; out, their defaults, what reads their parts of what a host
//! gives, and what begins at the start.

use super::build::{own, public};
use super::constant::first_timer;
use crate::back::c::header::configuration::BUDGET;
use crate::back::c::names::identifier;
use crate::back::c::prototype::{Reach, called};
use crate::back::c::{Stack, shapes};
use crate::c::tree::{
    Expression as C, Function, Item, Statement as S, assign, atom, binary, call, call_statement,
    only_if,
};
use crate::ir::interface::SettingOfHost;

/// `STACK_config_default`.
pub fn defaults(stack: &Stack<'_>) -> Item {
    let config = || atom("config");
    let memory = &stack.module.memory;
    let whole = vec![config(), atom("0"), atom("sizeof *config")];
    let mut body = vec![call_statement("memset", whole)];
    for SettingOfHost { named, default } in &stack.module.given {
        if default.is_empty() {
            continue;
        }
        let parts = default.iter().map(|op| shapes::constant(stack, op));
        let mut parts = parts.collect::<Vec<C>>().into_iter();
        let name = identifier(&named.name);
        let values = shapes::told(stack, &named.shape, &name, &mut parts).into_iter();
        body.extend(values.map(|(member, value)| assign(config().behind(member), value)));
    }
    let own = [
        ("buffers", memory.buffers),
        ("reserve", memory.reserve),
        ("outputs", memory.outputs),
        ("events", memory.events),
        ("budget", BUDGET),
    ];
    let own = own.map(|(name, value)| assign(config().behind(name), atom(value.to_string())));
    body.extend(own);
    let name = &stack.names.stack;
    public(
        "void".to_string(),
        format!("{name}_config_default"),
        vec![format!("struct {name}_config *config")],
        body,
    )
}

/// `read_settings` and `settings_fit`: a host's settings are values of their types, and go
/// together.
pub fn reads(stack: &Stack<'_>) -> Vec<Item> {
    let name = &stack.names.stack;
    let mut fits = Vec::new();
    let mut all = Vec::new();
    all.push(read(stack));
    fits.push(S::Declare {
        kind: format!("struct {name}_settings"),
        name: "own".to_string(),
        value: None,
    });
    let given = vec![atom("config"), atom("own").address()];
    let is_none = call("read_settings", given).negated();
    fits.push(only_if(is_none, vec![S::Return(Some(atom("false")))]));
    if let Some(judge) = stack.module.settings_hold {
        fits.push(S::Declare {
            kind: format!("const struct {name}_settings *const"),
            name: "settings".to_string(),
            value: Some(atom("own").address()),
        });
        let holds = called(stack, Reach::Settings, judge, Vec::new());
        fits.push(S::Return(Some(holds)));
    } else {
        fits.push(S::Return(Some(atom("true"))));
    }
    let comment = "Whether a host's settings are values of their types, and go together.";
    all.push(asked(comment, "settings_fit", vec![config(stack)], fits));
    all
}

fn config(stack: &Stack<'_>) -> String {
    format!("const struct {}_config *config", stack.names.stack)
}

fn asked(comment: &str, name: &str, parameters: Vec<String>, body: Vec<S>) -> Item {
    Item::Function(Function {
        comment: comment.to_string(),
        result: "static bool".to_string(),
        name: name.to_string(),
        parameters,
        body,
    })
}

fn read(stack: &Stack<'_>) -> Item {
    let place = |member: &str| atom("config").behind(member);
    let mut body = Vec::new();
    let mut parts = Vec::new();
    for SettingOfHost { named, .. } in &stack.module.given {
        let name = identifier(&named.name);
        let other = shapes::is_other(&named.shape, &name, &place);
        body.extend(other.map(|other| only_if(other, vec![S::Return(Some(atom("false")))])));
        parts.extend(shapes::given(stack, &named.shape, &name, &place));
    }
    let settings = stack.module.settings.iter().zip(&stack.names.settings);
    for ((setting, name), part) in settings.zip(parts) {
        let value = shapes::stored(setting.of, part);
        body.push(assign(atom("settings").behind(name), value));
    }
    if stack.module.settings.is_empty() {
        // C knows no struct without members.
        body.push(S::Do(atom("config").cast("void")));
        body.push(assign(atom("settings").behind("none"), atom("true")));
    }
    body.push(S::Return(Some(atom("true"))));
    let settings = format!("struct {}_settings *settings", stack.names.stack);
    let comment = "Reads a host's settings by their parts; false if one is no value of its type.";
    asked(
        comment,
        "read_settings",
        vec![config(stack), settings],
        body,
    )
}

/// `begin`: what exists from the start is made.
pub fn begin(stack: &Stack<'_>) -> Item {
    let mut body = Vec::new();
    let config = atom("stack").behind("config").address();
    let settings = atom("stack").behind("settings").address();
    body.push(call_statement("read_settings", vec![config, settings]));
    let timers = timers(stack);
    if !timers.is_empty() {
        let heap = atom("stack").behind("timers").member("heap");
        body.push(assign(heap, atom("stack").behind("timer_heap")));
        body.extend(timers);
    }
    let starts = stack.module.starts;
    body.extend(starts.map(|starts| S::Do(called(stack, Reach::Stack, starts, Vec::new()))));
    let parameters = vec![format!("struct {} *stack", stack.names.stack)];
    own(
        "Makes what exists from the start.",
        "begin",
        parameters,
        body,
    )
    .1
}

/// Each timer gets its number.
fn timers(stack: &Stack<'_>) -> Vec<S> {
    let kinds = stack.module.kinds.iter().zip(&stack.names.kinds);
    let kinds = kinds.filter(|(kind, _)| !kind.timers.is_empty());
    let loops = kinds.map(|(kind, names)| {
        let count = names.timers.len();
        let first = atom(first_timer(&names.name));
        let body = names.timers.iter().enumerate().map(|(at, timer)| {
            let own = match count {
                1 => atom("n"),
                _ => binary("*", atom("n"), atom(count.to_string())),
            };
            let id = binary("+", first.clone(), own);
            let id = match at {
                0 => id,
                _ => binary("+", id, atom(at.to_string())),
            };
            let instance = atom("stack").behind(&names.name).element(atom("n"));
            let timer = instance.member("timers").member(timer);
            call_statement("sl_timer_begin", vec![timer.address(), id])
        });
        S::For {
            start: "uint32_t n = 0".to_string(),
            condition: binary("<", atom("n"), atom(kind.capacity.to_string())),
            step: "n += 1".to_string(),
            body: body.collect(),
        }
    });
    loops.collect()
}
