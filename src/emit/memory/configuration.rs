//! Settings: a stack comes in; what its host can set, the defaults, and the settings with which it
//! cannot start go out.
//!
//! ```text
//! struct NAME_config          the parameters of the stack in Loom, then its memory
//! NAME_config_default         sets each to its default
//! enum NAME_refusal           why NAME_check refuses a configuration
//! settings_hold               the part of NAME_check that depends on the parameters in Loom
//! ```

use crate::c::tree::{Expression as C, Function, Item, Line, Statement as S, assign, atom, call};
use crate::emit::Stack;
use crate::emit::external;
use crate::emit::layout::members;
use crate::emit::leaves;
use crate::emit::names::c_name;
use crate::emit::port;
use crate::emit::scope::Scope;
use crate::emit::state;
use crate::types::expression::Expression;
use crate::types::program::Field;
use crate::types::value::Type;

/// Events that one call handles at most unless its host says otherwise.
const BUDGET: u32 = 4096;

/// Returns `struct NAME_config`.
pub fn config(stack: &Stack) -> Item {
    let mut all = Vec::new();
    for one in &stack.program.config {
        let field = Field {
            name: one.name.clone(),
            kind: one.kind.clone(),
            initial: None,
            once: true,
            has_gaps: false,
        };
        let comment = match one.kind {
            Type::Time => "in nanoseconds",
            _ => "",
        };
        all.extend(members(stack, &field, comment));
    }
    if external::calls_anything(stack.program) {
        all.push(line("void *user", "passed to each callback"));
    }
    all.extend(own(stack).map(|(name, default, comment)| {
        let comment = format!("{comment}; default {default}");
        line(&format!("uint32_t {name}"), &comment)
    }));
    all.push(line(
        "uint64_t hash_seed",
        "a random number, so that peers cannot choose keys that collide",
    ));
    Item::Struct {
        comment: "Settings of a stack.".to_string(),
        name: format!("{}_config", stack.names.stack),
        members: all,
    }
}

/// The settings of memory and time that every stack has: name, default, meaning.
fn own(stack: &Stack) -> [(&'static str, u32, &'static str); 5] {
    let memory = stack.memory();
    [
        ("buffers", memory.buffers, "message buffers"),
        (
            "reserve",
            memory.reserve,
            "buffers that only the stack itself may take",
        ),
        ("outputs", memory.outputs, "places in the output queue"),
        ("events", memory.events, "places in the event queue"),
        ("budget", BUDGET, "most events that one call handles"),
    ]
}

/// Returns `enum NAME_refusal`.
pub fn refusal(stack: &Stack) -> Item {
    let name = &stack.names.stack;
    let upper = name.to_uppercase();
    let [outputs, events] = least(stack);
    let values = [
        ("FITS", "the stack can start".to_string()),
        (
            "FEW_BUFFERS",
            "`buffers` must be greater than `reserve`".to_string(),
        ),
        (
            "FEW_OUTPUTS",
            format!("`outputs` must be at least {outputs}"),
        ),
        ("FEW_EVENTS", format!("`events` must be at least {events}")),
        ("NO_BUDGET", "`budget` must not be zero".to_string()),
        (
            "WRONG_SETTING",
            "a setting is out of the range of its type, or a layer refuses it".to_string(),
        ),
        (
            "LITTLE_MEMORY",
            format!("the memory is smaller than {name}_size says"),
        ),
    ];
    let values = values.map(|(value, comment)| line(&format!("{upper}_{value}"), &comment));
    Item::Enum {
        comment: format!("Answers of {name}_check."),
        name: format!("{name}_refusal"),
        values: values.to_vec(),
    }
}

/// Returns the constants that the text of `NAME_check` mentions, with their values.
pub fn fewest(stack: &Stack) -> [(&'static str, String); 2] {
    let [outputs, events] = least(stack);
    [
        ("FEWEST_OUTPUTS", outputs.to_string()),
        ("FEWEST_EVENTS", events.to_string()),
    ]
}

/// Returns the fewest outputs and events with which a stack can work. Behind an application that is
/// called two replies may leave, besides the output of the step.
fn least(stack: &Stack) -> [u32; 2] {
    let program = stack.program;
    let calls = external::calls_applications(program) || leaves::calls_links(program);
    [if calls { 3 } else { 1 }, stack.memory().least_events]
}

/// Returns `settings_hold`.
pub fn hold(stack: &Stack) -> Function {
    let scope = Scope::new(stack, &[]);
    let constraints = stack.program.config.iter().flat_map(|one| &one.constraints);
    let mut body = state::settings(stack);
    body.extend(constraints.map(|constraint| S::If {
        condition: scope.value(constraint).negated(),
        then: vec![S::Return(Some(atom("false")))],
        otherwise: Vec::new(),
    }));
    let setting = atom("stack").behind("config");
    for statement in &mut body {
        statement.each_value_mut(&mut |value| of_config(value, &setting));
    }
    body.push(S::Return(Some(atom("true"))));
    Function {
        comment: "False if a setting is no value of its type, or is refused by the `where` of a \
                  parameter."
            .to_string(),
        result: "static bool".to_string(),
        name: "settings_hold".to_string(),
        parameters: vec![format!("struct {}_config *config", stack.names.stack)],
        body,
    }
}

/// A setting is read of `config`, and not of the stack.
fn of_config(value: &mut C, setting: &C) {
    if let C::Member(of, name) = value
        && **of == *setting
    {
        *value = atom("config").behind(name.clone());
    }
    let parts = value.parts_mut().into_iter();
    parts.for_each(|part| of_config(part, setting));
}

/// Returns `NAME_config_default`.
pub fn default(stack: &Stack) -> Function {
    let config = || atom("config");
    let scope = port::outside(stack);
    let whole = vec![config(), atom("0"), atom("sizeof *config")];
    let mut body = vec![S::Do(call("memset", whole))];
    for one in &stack.program.config {
        let Some(value) = &one.default else { continue };
        let value = Expression::constant(value.clone(), one.kind.clone());
        let name = c_name(&one.name);
        if let Type::Optional(_) = one.kind {
            body.push(assign(
                config().behind(format!("has_{name}")),
                scope.present(&value),
            ));
            body.push(assign(config().behind(name), scope.unwrapped(&value)));
        } else {
            body.push(assign(config().behind(name), scope.stored(&value)));
        }
    }
    body.extend(
        own(stack).map(|(name, value, _)| assign(config().behind(name), atom(value.to_string()))),
    );
    Function {
        comment: String::new(),
        result: "void".to_string(),
        name: format!("{}_config_default", stack.names.stack),
        parameters: vec![format!("struct {}_config *config", stack.names.stack)],
        body,
    }
}

fn line(text: &str, comment: &str) -> Line {
    Line {
        text: text.to_string(),
        comment: comment.to_string(),
    }
}
